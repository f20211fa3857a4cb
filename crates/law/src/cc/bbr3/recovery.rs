//! The sender's response to losses, and the state that returns if they were spurious.
//!
//! Source: draft-ietf-ccwg-bbr, section "Updating the Model Upon Detecting a Spurious Loss Recovery".

use super::phase::Phase;

/// An episode of recovery.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Recovery {
    /// Losses are being repaired, in fast recovery or after a timeout.
    pub(super) goes_on: bool,
    /// Deliveries when fast recovery began; none outside of it.
    pub(super) fast_from: Option<u64>,
    /// Saved when the episode began.
    undo: Option<Undo>,
}

/// The state that returns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Undo {
    /// The phase that losses ended: BBR.undo_state.
    pub(super) phase: Option<Phase>,
    /// Bounds: bandwidth and packets in flight of the short-term model, and packets in flight of the long-term one.
    pub(super) bounds: [f64; 3],
}

impl Recovery {
    /// Saves the bounds, once in an episode.
    pub(super) fn save(&mut self, bounds: [f64; 3]) {
        self.undo.get_or_insert(Undo { phase: None, bounds });
    }

    /// Losses end this phase.
    pub(super) fn ends(&mut self, phase: Phase) {
        if let Some(undo) = &mut self.undo {
            undo.phase = Some(phase);
        }
    }

    /// The episode is over; returns the state that it would bring back.
    pub(super) fn leave(&mut self) -> Option<Undo> {
        core::mem::take(self).undo
    }
}
