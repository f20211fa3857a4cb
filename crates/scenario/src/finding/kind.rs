//! A kind of finding: its id and its meaning.

use crate::summary::Finding;

/// A kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its id, which is also its heading in `docs/findings.md`.
    pub id: &'static str,
    /// The meaning, as a sentence.
    pub meaning: &'static str,
}

impl Kind {
    /// One of this kind; `subject` is the key of the scenario that it is about.
    pub(super) fn found(self, subject: String, text: String) -> Finding {
        Finding { id: self.id.to_owned(), subject, text }
    }
}
