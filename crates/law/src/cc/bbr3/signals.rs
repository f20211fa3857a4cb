//! The delivery of the last round trip, and the short-term model: the bounds that losses set from it outside of probing.
//!
//! Source: draft-ietf-ccwg-bbr, section "When not Probing for Bandwidth".

use crate::cc::{Delivery, RateSample};
use crate::number::Number;

/// A rate sample, with the draft's names where they differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// The delivery rate [packets/s].
    pub(super) rate: f64,
    /// Packets delivered in its interval.
    pub(super) delivered: f64,
    /// Packets delivered before its newest packet was sent: RS.prior_delivered.
    pub(super) before: u64,
    /// Packets in flight after that packet was sent: RS.tx_in_flight.
    pub(super) in_flight: f64,
    /// Packets lost since then: RS.lost.
    pub(super) lost: f64,
    /// The flow was short of data then.
    pub(super) limited: bool,
}

impl Sample {
    pub(super) fn of(rate: &RateSample, d: &Delivery, held: bool) -> Self {
        let then = rate.then;
        Self {
            rate: rate.packets_per_s(),
            delivered: rate.delivered as f64,
            before: then.delivered,
            in_flight: then.in_flight as f64,
            lost: d.lost.saturating_sub(then.lost) as f64,
            limited: then.app_limited || held,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Signals {
    /// The most of this round trip: BBR.bw_latest and BBR.inflight_latest.
    rate: f64,
    pub(super) delivered: f64,
    /// The round trip ends after so many deliveries, and this acknowledgement ends one.
    until: u64,
    pub(super) round_over: bool,
    /// Something was lost in it.
    lost: bool,
    /// BBR.bw_shortterm and BBR.inflight_shortterm, infinite where there is none.
    pub(super) bandwidth: f64,
    pub(super) in_flight: f64,
}

impl Default for Signals {
    fn default() -> Self {
        let none = f64::INFINITY;
        Self { rate: 0.0, delivered: 0.0, until: 0, round_over: false, lost: false, bandwidth: none, in_flight: none }
    }
}

impl Signals {
    /// Near the start of an acknowledgement: UpdateLatestDeliverySignals. So much is delivered in all.
    pub(super) fn take(&mut self, sample: Option<&Sample>, delivered: u64) {
        self.round_over = false;
        let Some(sample) = sample else { return };
        self.rate = Number::max(self.rate, sample.rate);
        self.delivered = Number::max(self.delivered, sample.delivered);
        if sample.before >= self.until {
            (self.until, self.round_over) = (delivered, true);
        }
    }

    /// Near its end: AdvanceLatestDeliverySignals.
    pub(super) fn advance(&mut self, sample: Option<&Sample>) {
        if let Some(sample) = sample.filter(|_| self.round_over) {
            (self.rate, self.delivered) = (sample.rate, sample.delivered);
        }
    }

    /// ResetCongestionSignals.
    pub(super) fn forget(&mut self) {
        (self.rate, self.delivered, self.lost) = (0.0, 0.0, false);
    }

    /// A packet is lost. The first of a round trip begins another, so that it is judged by a whole one.
    pub(super) fn lose(&mut self, delivered: u64) {
        if !self.lost {
            self.until = delivered;
        }
        self.lost = true;
    }

    /// Losses of this round trip were none.
    pub(super) fn not_lost(&mut self) {
        self.lost = false;
    }

    /// Once a round trip: the bounds come down to the delivery of the round, but by no more than to `beta` of their values.
    /// While the flow probes they stay.
    pub(super) fn adapt(&mut self, probing: bool, bandwidth: f64, window: f64, beta: f64) {
        if !self.round_over {
            return;
        }
        if self.lost && !probing {
            if self.bandwidth.is_infinite() {
                self.bandwidth = bandwidth;
            }
            if self.in_flight.is_infinite() {
                self.in_flight = window;
            }
            self.bandwidth = self.rate.max(beta * self.bandwidth);
            self.in_flight = self.delivered.max(beta * self.in_flight);
        }
        self.lost = false;
    }

    /// ResetShortTermModel.
    pub(super) fn unbound(&mut self) {
        (self.bandwidth, self.in_flight) = (f64::INFINITY, f64::INFINITY);
    }
}
