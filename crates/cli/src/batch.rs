//! A scenario file whose cells run together.

use std::path::PathBuf;

use penstock_scenario::read::Cell;

/// A scenario file, read.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) file: PathBuf,
    pub(crate) stem: String,
    pub(crate) title: String,
    /// Differences from the scenario's file, and those changed for this run, `KEY=VALUE`. They are the same but for
    /// the record of a changed run, run again.
    pub(crate) changes: Vec<String>,
    pub(crate) changed_now: Vec<String>,
    /// The file's text, and the command that runs it again.
    pub(crate) text: String,
    pub(crate) command: String,
    pub(crate) cells: Vec<Cell>,
    /// Whether its records go into a directory of their own, with a summary of the sweep.
    pub(crate) swept: bool,
}
