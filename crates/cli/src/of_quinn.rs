//! Controllers that only quinn has: commands that do not send by quinn refuse them.

use penstock_scenario::read::Cell;

use crate::failure::Failure;
use crate::{program, registry};

/// Refuses a controller of quinn in a command that does not send by quinn; `whose` is the key that has it.
pub(crate) fn refuse(whose: &str, law: &str) -> Result<(), Failure> {
    if !registry::is_of_quinn(law) {
        return Ok(());
    }
    let run = format!("{} run FILE --world linux --generator quic", program::name());
    Err(Failure::Machine(format!("{whose}: only quinn has `{law}`: use `{run}`")))
}

/// The same for the groups of cells.
pub(crate) fn refuse_cells(cells: &[Cell]) -> Result<(), Failure> {
    let mut groups = cells.iter().flat_map(|cell| &cell.scenario.groups);
    groups.try_for_each(|(name, group)| refuse(&format!("flows.{name}.cc"), group.cc.law.name))
}
