//! A Linux machine as the emulated path, the laws in the kernel and runs of scenarios need it.
//!
//! The path and the laws in the kernel do not know each other. What both need stands here: the clock of a run ([`clock`]),
//! what this process may do ([`capability`]), how its threads are scheduled ([`scheduling`]), programs of the system
//! ([`program`]), network namespaces ([`namespace`]), [`Missing`], by which they say what a machine lacks, and [`Failed`],
//! by which they say what the system did not do. System calls that only one crate makes are in that crate.

pub mod capability;
pub mod clock;
pub mod namespace;
pub mod program;
pub mod scheduling;
mod syscall;

use std::io;

pub use syscall::request_about_device;

/// Something that is not there, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {remedy}")]
pub struct Missing {
    /// What is missing, in a sentence.
    pub what: String,
    /// How to get it.
    pub remedy: String,
}

impl Missing {
    /// Of what is missing, and how to get it.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}

/// Something that the system was expected to do, and did not.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what}: {source}")]
pub struct Failed {
    /// What.
    pub what: String,
    /// Why.
    pub source: io::Error,
}

/// For `map_err`: says what was being done.
pub fn while_trying(what: impl Into<String>) -> impl FnOnce(io::Error) -> Failed {
    let what = what.into();
    move |source| Failed { what, source }
}

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
