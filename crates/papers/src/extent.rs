//! The extent of a paper's runs.

use serde::Serialize;

/// Which cells were run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// All of them.
    Full,
    /// Those of the cheap check; its verdicts are on record apart.
    Short,
}
