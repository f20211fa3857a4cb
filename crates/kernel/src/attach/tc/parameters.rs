//! The settings of a tc program, and its parameters: the words between the list of programs and the laws.

use penstock_scenario::model::Scenario;

/// The settings of the command line.
#[derive(Debug)]
pub(super) struct Settings {
    /// Of the law and the line.
    pub(super) scenario: Scenario,
    /// Of packets that a law which marks has chosen, and that cannot carry a mark, where it is given.
    pub(super) not_ect: Option<NotEct>,
}

/// The treatment of a packet that is chosen for a mark, and whose sender does not use ECN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum NotEct {
    /// It is dropped, where another would be marked (RFC 3168, section 7).
    #[default]
    Drop,
    /// It goes on. Then only ECN traffic is held.
    Pass,
}

impl NotEct {
    pub(super) const KEY: &str = "not_ect";
    const ALL: [Self; 2] = [Self::Drop, Self::Pass];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Pass => "pass",
        }
    }

    pub(super) fn read(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|one| one.name() == text.trim_matches('"'));
        found.ok_or_else(|| format!("`{}` is `drop` or `pass`, not `{text}`", Self::KEY))
    }
}

/// The object that a law requires which an entry brings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    /// Arrivals or hits change the law.
    pub(super) arrives: bool,
    /// Its host calls it at ticks only.
    pub(super) at_ticks_only: bool,
    /// The law has a period.
    pub(super) ticks: bool,
    /// Words of its parameters.
    pub(super) words: u64,
    /// Numbers of its state.
    pub(super) numbers: u64,
}

/// The parameters in the form that a program takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProgramParameters {
    /// The words behind the text in its `struct settings`: the constants of the device, and the law's parameters.
    pub(super) words: Vec<i64>,
    /// The words that its state begins with before the first packet; the rest is zero.
    pub(super) start: Vec<i64>,
    /// Names and values as a scenario writes them.
    pub(super) parameters: Vec<(String, String)>,
    /// The object that a law requires which an entry brings.
    pub(super) fit: Option<Fit>,
}
