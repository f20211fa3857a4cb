//! Controllers of QUIC stacks: commands that do not send over QUIC refuse those that their world does not run.

use penstock_law::Values;
use penstock_scenario::model::{Chosen, Group, Profile, Scenario};
use penstock_scenario::read::Cell;

use crate::arguments::WorldName;
use crate::failure::Failure;
use crate::{program, registry};

/// The groups that have such a controller, and its name.
pub(crate) fn groups(scenario: &Scenario) -> impl Iterator<Item = (&str, &'static str)> {
    let groups = scenario.groups.iter().map(|(name, group)| (name.as_str(), group.cc.law.name));
    groups.filter(|(_, law)| registry::stack(law).is_some())
}

/// Whether a scenario asks for QUIC: by such a controller, or by the host of a flow.
pub(crate) fn is_meant(scenario: &Scenario) -> bool {
    let host = |group: &Group| group.cc.law.name != "cbr" && group.sender.profile == Profile::Quic;
    groups(scenario).next().is_some() || scenario.groups.values().any(host)
}

/// Whether a world leaves a law to its stack: all but the packets world do with each of its controllers.
pub(crate) fn leaves(world: WorldName, law: &str) -> bool {
    registry::stack(law).is_some() && !(world == WorldName::Packets && registry::is_simulated(law))
}

/// The scenario with NewReno, which every world has, in the place of such controllers. A world knows nothing of
/// stacks: this way it says what else it does not run.
pub(crate) fn replaced(scenario: &Scenario, world: WorldName) -> Scenario {
    let mut scenario = scenario.clone();
    let Some(law) = registry::laws().controller("newreno") else { return scenario };
    for group in scenario.groups.values_mut().filter(|group| leaves(world, group.cc.law.name)) {
        group.cc = Chosen { law, values: Values::defaults(law.parameters) };
    }
    scenario
}

/// Who has such a controller.
pub(crate) fn whose(law: &str) -> String {
    let stack = registry::stack(law).unwrap_or_default();
    if registry::is_simulated(law) {
        format!("only the packets world and the QUIC library {stack} have the law `{law}`")
    } else {
        format!("only the QUIC library {stack} has the law `{law}`")
    }
}

/// Refuses such a controller; `whose` is the key or the command that has it.
pub(crate) fn refuse(whose: &str, law: &str, world: WorldName) -> Result<(), Failure> {
    if !leaves(world, law) {
        return Ok(());
    }
    let run = format!("{} run FILE --world linux --generator quic", program::name());
    Err(Failure::Machine(format!("{whose}: {}: use `{run}`", self::whose(law))))
}

/// The same for the groups of cells.
pub(crate) fn refuse_cells(cells: &[Cell], worlds: &[WorldName]) -> Result<(), Failure> {
    let mut all = cells.iter().flat_map(|cell| groups(&cell.scenario));
    all.try_for_each(|(name, law)| worlds.iter().try_for_each(|world| refuse(&format!("flows.{name}.cc"), law, *world)))
}
