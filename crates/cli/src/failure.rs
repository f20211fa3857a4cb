//! Exit status of the command.

use std::error::Error;
use std::fmt;

use penstock_scenario::read::ReadErrors;
use penstock_scenario::world::RunError;

use crate::excerpt;
use crate::program;

/// The outcome of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    /// Everything requested.
    Well,
    /// That too, but a claim's verdict differs from the recorded one.
    Differs,
    /// That too, but a run is outside of its own stated error.
    Beyond,
    /// A part of the request; it has printed why the other part is not possible.
    Partly,
    /// Ran a program, which ended with this status.
    Ended(u8),
}

/// Why it did not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Wrong input: the text, its position, and the remedy.
    Input(String),
    /// A scenario has errors.
    Scenario(ReadErrors),
    /// This version or machine cannot do it: the missing feature and how to get it.
    Machine(String),
    /// The output of a law from outside Penstock is no valid number.
    Law(String),
    /// The user stopped it.
    Stopped,
    /// It broke one of its own rules.
    Bug(String),
    /// Nobody reads its output any longer.
    Closed,
}

impl Done {
    /// The exit status.
    pub(crate) const fn status(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::Differs => 1,
            Self::Partly => 3,
            Self::Beyond => 4,
            Self::Ended(status) => status,
        }
    }
}

impl Failure {
    /// The exit status.
    pub(crate) const fn status(&self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::Input(_) | Self::Scenario(_) => 2,
            Self::Machine(_) | Self::Law(_) => 3,
            Self::Bug(_) => 70,
            // What a shell reports for a process that SIGINT ended.
            Self::Stopped => 130,
        }
    }

    /// Bad input.
    pub(crate) fn input(what: impl fmt::Display) -> Self {
        Self::Input(what.to_string())
    }
}

/// The error, and below it its causes: each that its error does not name itself.
pub(crate) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(cause) = below {
        // A parser's message has lines of its own, with an excerpt.
        let why = cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.contains(&why) {
            text = format!("{text}: {why}");
        }
        below = cause.source();
    }
    text
}

impl From<ReadErrors> for Failure {
    fn from(errors: ReadErrors) -> Self {
        Self::Scenario(errors)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Input(what) => Self::Input(what),
            // Each thing that is refused has a line of its own.
            RunError::Refused { .. } => {
                Self::Machine(error.to_string().replace('\n', &format!("\n{}: ", program::name())))
            }
            RunError::Stopped => Self::Stopped,
            RunError::Law { law, .. } if crate::registry::laws().is_added(law) => Self::Law(error.to_string()),
            RunError::Law { .. } => Self::Bug(error.to_string()),
            RunError::Broken(what) => Self::Bug(what),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = program::name();
        match self {
            Self::Input(what) | Self::Machine(what) => write!(f, "{program}: {what}"),
            Self::Scenario(errors) => write!(f, "{}", excerpt::rendered(errors, false)),
            Self::Law(what) => write!(f, "{program}: {what}; the error is in this law, which is not one of Penstock's"),
            Self::Stopped => write!(f, "{program}: stopped; results that are complete are kept"),
            Self::Bug(what) => {
                let own = if crate::registry::has_own() { " or in a law of this program" } else { "" };
                write!(
                    f,
                    "{program}: this is a bug in penstock {}{own}: {what}\nplease report it with the command line and its \
                     files",
                    crate::VERSION
                )
            }
            Self::Closed => Ok(()),
        }
    }
}
