//! Packets that acknowledgements bring beyond the bandwidth when a link or a receiver holds them up: the window grows by so
//! many.
//!
//! Source: Linux, `net/ipv4/tcp_bbr.c`, bbr_update_ack_aggregation.

use crate::quantity::Time;

/// An epoch ends after so many packets (Linux: bbr_ack_epoch_acked_reset_thresh).
const EPOCH: f64 = 1_048_576.0;

/// The most beyond the bandwidth, of this span of round trips and of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Aggregation {
    epoch: Time,
    acked: f64,
    extra: [f64; 2],
    rounds: u32,
}

impl Aggregation {
    /// The flow was idle: the count starts anew.
    pub(super) fn restart(&mut self, now: Time) {
        (self.epoch, self.acked) = (now, 0.0);
    }

    /// A round trip began; a span has so many of them.
    pub(super) fn round(&mut self, span: u32) {
        self.rounds += 1;
        if self.rounds >= span {
            self.rounds = 0;
            self.extra = [0.0, self.extra[0]];
        }
    }

    /// An acknowledgement brought `packets` under a bandwidth [packets/s]; no more than the window counts.
    pub(super) fn take(&mut self, now: Time, packets: f64, bandwidth: f64, window: f64) {
        let mut expected = bandwidth * now.since(self.epoch).seconds();
        if self.acked <= expected || self.acked + packets >= EPOCH {
            self.restart(now);
            expected = 0.0;
        }
        self.acked += packets;
        self.extra[0] = self.extra[0].max((self.acked - expected).min(window));
    }

    /// The most of both spans [packets].
    pub(super) fn most(&self) -> f64 {
        self.extra[0].max(self.extra[1])
    }
}
