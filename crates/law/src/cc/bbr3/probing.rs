//! The times and sizes of probes for bandwidth: the wait between probes and the long-term bound of the flight.
//!
//! Source: draft-ietf-ccwg-bbr, sections "Time Scale for Bandwidth Probing" and "ProbeBW Algorithm Details".

use crate::number::Number;
use crate::quantity::Time;

use super::parameters::Constants;

/// The wait until the next probe.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Wait {
    /// BBR.rounds_since_probe_up, BBR.bw_probe_wait [s] and BBR.cycle_stamp.
    pub(super) rounds: u64,
    pub(super) most_s: f64,
    since: Time,
}

impl Wait {
    /// PickProbeWait. One draw serves both: its first bit is the count of rounds, and the others are the share of the spread.
    pub(super) fn pick(&mut self, now: Time, uniform: f64, [base, spread]: [f64; 2]) {
        let twice = 2.0 * uniform;
        self.rounds = u64::from(twice >= 1.0);
        self.most_s = base + spread * (twice - self.rounds as f64);
        self.since = now;
    }

    /// True if the time is over, or as many rounds as an idealised Reno flow would need.
    pub(super) fn is_over(&self, now: Time, rounds: f64) -> bool {
        now.since(self.since).seconds() > self.most_s || self.rounds as f64 >= rounds
    }
}

/// BBR.inflight_longterm, and how it grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LongTerm {
    /// Infinite as long as no loss was too high [packets].
    pub(super) bound: f64,
    /// BBR.bw_probe_up_acked, BBR.probe_up_acked_per_inc and BBR.bw_probe_up_rounds.
    acked: f64,
    per_packet: f64,
    pub(super) rounds: u32,
}

impl Default for LongTerm {
    fn default() -> Self {
        Self { bound: f64::INFINITY, acked: 0.0, per_packet: f64::INFINITY, rounds: 0 }
    }
}

impl LongTerm {
    /// The largest exponent of the growth within a round.
    const MOST_ROUNDS: u32 = 30;

    /// It grows no more.
    pub(super) fn stop(&mut self) {
        self.per_packet = f64::INFINITY;
    }

    /// The next probe begins slowly.
    pub(super) fn begin(&mut self) {
        (self.rounds, self.acked) = (0, 0.0);
    }

    /// RaiseInflightLongtermSlope: twice as many packets a round trip as in the round before, of one in the first.
    pub(super) fn steepen(&mut self, window: f64) {
        let growth = f64::from(1_u32 << self.rounds);
        self.rounds = (self.rounds + 1).min(Self::MOST_ROUNDS);
        self.per_packet = (window / growth).max(1.0);
    }

    /// ProbeInflightLongtermUpward, if the window is at the bound and limits the flow.
    pub(super) fn grow(&mut self, acked: f64, window: f64, round_start: bool) {
        self.acked += acked;
        if self.acked >= self.per_packet {
            let more = libm::floor(self.acked / self.per_packet);
            self.acked -= more * self.per_packet;
            self.bound += more;
        }
        if round_start {
            self.steepen(window);
        }
    }

    /// InflightWithHeadroom: leaves a share of the bound, and a packet at least, to others.
    pub(super) fn with_headroom(&self, c: &Constants) -> f64 {
        if self.bound.is_infinite() {
            return self.bound;
        }
        Number::max(self.bound - Number::max(c.headroom * self.bound, 1.0), c.min_window)
    }
}

/// InflightAtLoss: how many packets were in flight when losses crossed the threshold. A packet is lost that was the last of
/// `in_flight`, of which `lost` are lost. The draft solves for a prefix of a burst; here a burst is a packet.
pub(super) fn in_flight_at_loss(in_flight: f64, lost: f64, threshold: f64) -> f64 {
    let (before, lost_before) = (in_flight - 1.0, lost - 1.0);
    before + ((threshold * before - lost_before) / (1.0 - threshold)).max(0.0)
}
