//! A Linux machine as the emulated path, the laws in the kernel and runs of scenarios need it.
//!
//! The path and the laws in the kernel do not know each other. Their common parts stand here: the clock of a run ([`clock`]),
//! capabilities of this process ([`capability`]), the scheduling of its threads ([`scheduling`]), time that a
//! hypervisor took ([`stolen`]), programs of the system ([`program`]), network namespaces ([`namespace`]), [`Missing`], for
//! features that a machine lacks, and [`Failed`], for failed system calls. System calls that only one crate makes are in that
//! crate.

pub mod capability;
pub mod clock;
pub mod namespace;
pub mod program;
pub mod scheduling;
pub mod stolen;
mod syscall;

use std::io;

pub use syscall::request_about_device;

/// A missing feature, and its remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {remedy}")]
pub struct Missing {
    /// The missing feature, in a sentence.
    pub what: String,
    /// The remedy: how to get it.
    pub remedy: String,
}

impl Missing {
    /// Of a missing feature, and how to get it.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}

/// Something that the system was expected to do, and did not.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what}: {source}")]
pub struct Failed {
    /// The attempted work.
    pub what: String,
    /// Why.
    pub source: io::Error,
}

/// For `map_err`: names the attempted work.
pub fn while_trying(what: impl Into<String>) -> impl FnOnce(io::Error) -> Failed {
    let what = what.into();
    move |source| Failed { what, source }
}

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
