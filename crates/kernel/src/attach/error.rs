//! Why a law was not attached, told of or detached.

use penstock_machine::{Failed, Missing};

/// Why something was not attached, told of or detached.
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
        /// What it did not do.
        what: String,
        /// Why.
        source: libbpf_rs::Error,
        /// What its verifier said, with the lines of our source; empty where it was not asked.
        verifier: String,
    },
    /// The kernel was expected to do something, and did not.
    #[error(transparent)]
    System(#[from] Failed),
}

fn said(verifier: &str) -> String {
    if verifier.is_empty() { String::new() } else { format!("\nthe verifier:\n{verifier}") }
}
