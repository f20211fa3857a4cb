//! The emulated path: real packets between two ends on this machine, and between them the links of a scenario.
//!
//! Each end is a network namespace without a name, held by this process alone, so that nothing is left of it however the
//! process ends. All that an end sends goes into a TUN device, whose other side a [`router`] reads: it takes
//! super-packets apart ([`burst`]), passes each packet through the queues, lines, losses and marks of the scenario
//! ([`emulation`], over the queues of `penstock-link` that the packets world has), and hands over what is due. It keeps
//! books of how late it was ([`error`]).

pub mod burst;
pub mod emulation;
pub mod error;
mod station;
pub mod wire;

/// What this path does not carry, and what would do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {instead}")]
pub struct Refused {
    /// What it does not carry.
    pub what: String,
    /// What to do instead.
    pub instead: String,
}

impl Refused {
    pub(crate) fn new(what: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { what: what.into(), instead: instead.into() }
    }
}
