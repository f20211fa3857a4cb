//! Controllers that only quinn has: commands that do not send by quinn refuse them.

use penstock_law::Values;
use penstock_scenario::model::{Chosen, Scenario};
use penstock_scenario::read::Cell;

use crate::failure::Failure;
use crate::{program, registry};

/// The groups that have such a controller, and its name.
pub(crate) fn groups(scenario: &Scenario) -> impl Iterator<Item = (&str, &'static str)> {
    let groups = scenario.groups.iter().map(|(name, group)| (name.as_str(), group.cc.law.name));
    groups.filter(|(_, law)| registry::is_of_quinn(law))
}

/// The scenario with NewReno, which every world has, in the place of such controllers. A world knows nothing of quinn: this way it
/// says what else it does not run.
pub(crate) fn replaced(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    let Some(law) = registry::laws().controller("newreno") else { return scenario };
    for group in scenario.groups.values_mut().filter(|group| registry::is_of_quinn(group.cc.law.name)) {
        group.cc = Chosen { law, values: Values::defaults(law.parameters) };
    }
    scenario
}

/// Refuses such a controller; `whose` is the key or the command that has it.
pub(crate) fn refuse(whose: &str, law: &str) -> Result<(), Failure> {
    if !registry::is_of_quinn(law) {
        return Ok(());
    }
    let run = format!("{} run FILE --world linux --generator quic", program::name());
    Err(Failure::Machine(format!("{whose}: only the QUIC library quinn has the law `{law}`: use `{run}`")))
}

/// The same for the groups of cells.
pub(crate) fn refuse_cells(cells: &[Cell]) -> Result<(), Failure> {
    let mut all = cells.iter().flat_map(|cell| groups(&cell.scenario));
    all.try_for_each(|(name, law)| refuse(&format!("flows.{name}.cc"), law))
}
