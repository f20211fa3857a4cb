//! Requests of the page.

use serde::Deserialize;

/// One request.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Request {
    /// Version and content of this module.
    About,
    /// The content of a text.
    Read(Text),
    /// A run of one cell.
    Run(Ran),
    /// The analysis of one cell.
    Theory(Chosen),
    /// The files of a run's record.
    Record(Ran),
    /// The scenario of a record.
    Open {
        /// The content of `record.toml`.
        text: String,
    },
}

/// A scenario's text.
#[derive(Debug, Deserialize)]
pub(crate) struct Text {
    /// Its name in errors.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
}

/// One cell of a scenario.
#[derive(Debug, Deserialize)]
pub(crate) struct Chosen {
    #[serde(flatten)]
    pub(crate) of: Text,
    /// Which, counted from zero.
    pub(crate) cell: usize,
}

/// One cell in a world.
#[derive(Debug, Deserialize)]
pub(crate) struct Ran {
    #[serde(flatten)]
    pub(crate) chosen: Chosen,
    /// Where it runs.
    pub(crate) world: WorldName,
}

/// The worlds that a browser has.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WorldName {
    /// Packet by packet.
    Packets,
    /// Differential equations.
    Fluid,
}
