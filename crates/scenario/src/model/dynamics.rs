//! Numbers of behaviour over time.

use penstock_law::quantity::Time;

/// Sampling of behaviour over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dynamics {
    /// The round: links and flows are sampled at its multiples, and windows of means are whole rounds. Above zero.
    pub round: Time,
}
