//! Measurements of a connection, which each stack has by another way.

use std::time::Duration;

/// Measurements of a connection by its stack.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measured {
    /// [bytes]
    pub(super) window: u64,
    pub(super) smoothed_rtt: Duration,
    pub(super) least_rtt: Duration,
    /// Packets.
    pub(super) lost: u64,
}
