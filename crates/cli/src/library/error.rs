//! Why something was not done, for a program in another language.

use std::fmt;

use penstock_scenario::read::ReadErrors;

use crate::failure::Failure;

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A scenario has errors.
    Scenario(ReadErrors),
    /// Other wrong input: its fault and the remedy.
    Input(String),
    /// This machine cannot do it: the missing feature.
    Machine(String),
    /// The output of a law from outside Penstock is no valid number.
    Law(String),
    /// A rule of Penstock's own was broken: a bug.
    Bug(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(errors) => write!(f, "{errors}"),
            Self::Input(what) | Self::Machine(what) | Self::Law(what) | Self::Bug(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Scenario(errors) => Self::Scenario(errors),
            Failure::Input(what) => Self::Input(what),
            Failure::Machine(what) => Self::Machine(what),
            Failure::Law(what) => Self::Law(what),
            Failure::Bug(what) => Self::Bug(what),
            Failure::Stopped | Failure::Closed => Self::Bug(failure.to_string()),
        }
    }
}
