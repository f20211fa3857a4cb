//! Phases of BBR, version 3, and what goes with them: gains, round trips, probes.
//!
//! Source: draft-ietf-ccwg-bbr, section "Summary of Control Behavior in the State Machine".

use crate::cc::{Delivery, Transmission};
use crate::quantity::Time;

use super::parameters::Constants;

/// BBR.state. The numbers are those of the observable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Phase {
    #[default]
    Startup = 0,
    Drain = 1,
    Down = 2,
    Cruise = 3,
    Refill = 4,
    Up = 5,
    ProbeRtt = 6,
}

impl Phase {
    pub(super) fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// IsProbingBW: losses are expected, and bound nothing for the short term.
    pub(super) fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    /// Gains of pacing and window.
    pub(super) fn gains(self, c: &Constants) -> (f64, f64) {
        match self {
            Self::Startup => (c.startup_gain, c.window_gain),
            Self::Drain => (c.drain_gain, c.window_gain),
            Self::Down => (c.down_gain, c.window_gain),
            Self::Cruise | Self::Refill => (1.0, c.window_gain),
            Self::Up => (c.up_gain, c.up_window_gain),
            Self::ProbeRtt => (1.0, c.probe_rtt_gain),
        }
    }
}

/// Round trips, which begin with a packet sent and end with its acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Rounds {
    /// BBR.round_count, and whether this acknowledgement begins one.
    pub(super) count: u64,
    pub(super) start: bool,
    /// BBR.next_round_delivered.
    until: u64,
    /// The window held a packet back in this round trip, and in the one before: C.is_cwnd_limited.
    limited: [bool; 2],
}

impl Rounds {
    /// StartRound: it lasts until a packet sent from now on is acknowledged.
    pub(super) fn begin(&mut self, delivered: u64) {
        self.until = delivered;
    }

    /// UpdateRound. `before` packets were delivered when the newest packet was sent, if that is known.
    pub(super) fn take(&mut self, before: Option<u64>, d: &Delivery) {
        self.limited[0] |= d.window_limited;
        self.start = before.is_some_and(|before| before >= self.until);
        if self.start {
            self.begin(d.delivered);
            self.count += 1;
            self.limited = [false, self.limited[0]];
        }
    }

    pub(super) fn window_limited(&self) -> bool {
        self.limited[0] || self.limited[1]
    }
}

/// The result of the last probe for bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Probe {
    /// It is over, and its packets are being acknowledged: ACKS_PROBE_STOPPING.
    pub(super) stopping: bool,
    /// BBR.is_bw_probe_sample, BBR.prev_probe_too_high and BBR.prev_probe_precautionary.
    pub(super) sample: bool,
    pub(super) too_high: bool,
    pub(super) precautionary: bool,
}

/// ProbeRTT. It keeps the flow short of data, so that its samples do not measure the bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Dip {
    /// The time at which it may end, and true once a round trip has passed in it.
    until: Option<Time>,
    round: bool,
    /// Packets sent from then on are held back, until so many are delivered.
    held_since: Option<Time>,
    held_until: u64,
}

impl Dip {
    pub(super) fn begin(&mut self, now: Time) {
        (self.until, self.held_since) = (None, Some(now));
    }

    /// HandleProbeRTT, with no more than `window` packets in flight wanted: true if its end may have come.
    pub(super) fn take(&mut self, d: &Delivery, rounds: &mut Rounds, window: f64, time: Time) -> bool {
        self.held_until = (d.delivered + d.in_flight).max(1);
        if self.until.is_some() {
            self.round |= rounds.start;
            return self.round;
        }
        if d.in_flight as f64 <= window {
            (self.until, self.round) = (Some(d.now + time), false);
            rounds.begin(d.delivered);
        }
        false
    }

    pub(super) fn is_over(&self, now: Time) -> bool {
        self.until.is_some_and(|until| now > until)
    }

    /// True if a packet was held back.
    pub(super) fn held(&self, then: &Transmission) -> bool {
        self.held_since.is_some_and(|since| then.sent >= since && then.delivered <= self.held_until)
    }
}
