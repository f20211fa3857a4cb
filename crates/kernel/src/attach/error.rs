//! Errors of attaching, reporting or detaching a law.

use penstock_machine::{Failed, Missing};

/// The error of attaching, reporting or detaching.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name, a device or a parameter that is not there, or does not fit. Nothing has changed.
    #[error("{0}")]
    Input(String),
    /// The machine or the build lacks something.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The kernel refused a program.
    #[error("{what}: {source}{}", said(.verifier))]
    Kernel {
        /// The step that failed.
        what: String,
        /// The cause.
        source: libbpf_rs::Error,
        /// The verifier's log, with the lines of our source; empty if there is none.
        verifier: String,
    },
    /// The kernel was expected to do something, and did not.
    #[error(transparent)]
    System(#[from] Failed),
}

fn said(verifier: &str) -> String {
    if verifier.is_empty() { String::new() } else { format!("\nthe verifier:\n{verifier}") }
}
