//! The delivery rate under a policer, which drops packets above its rate: BBR would take the rate of a burst for the bandwidth.
//!
//! Source: Linux, `net/ipv4/tcp_bbr.c`, long-term bandwidth sampling.

use crate::cc::Delivery;
use crate::quantity::Time;

/// Least and most round trips of an interval between losses (Linux: bbr_lt_intvl_min_rtts, and four times that).
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 16;
/// Share of losses in the deliveries of an interval (bbr_lt_loss_thresh).
const LOSS: f64 = 50.0 / 256.0;
/// Two intervals agree within this share of the rate (bbr_lt_bw_ratio), or within this difference [bit/s] (bbr_lt_bw_diff).
const RATIO: f64 = 0.125;
const DIFFERENCE: f64 = 4000.0;
/// The rate holds for so many round trips (bbr_lt_bw_max_rtts).
const HOLDS: u32 = 48;
/// No interval is shorter [s].
const LEAST_S: f64 = 1e-3;

/// Two intervals in a row that begin and end with a loss, have many, and agree on the rate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Policer {
    /// The rate of the last interval [packets/s]; zero before there is one.
    pub(super) rate: f64,
    /// Two agreed, so that this is the bandwidth.
    pub(super) holds: bool,
    samples: bool,
    began: Time,
    delivered: u64,
    lost: u64,
    rounds: u32,
}

impl Policer {
    /// A round trip began while the rate holds: whether it has held long enough.
    pub(super) fn is_old(&mut self) -> bool {
        self.rounds += 1;
        self.rounds >= HOLDS
    }

    /// Nothing is known, and the next interval begins.
    pub(super) fn forget(&mut self, d: &Delivery) {
        *self = Self::default();
        self.begin(d);
    }

    fn begin(&mut self, d: &Delivery) {
        (self.began, self.delivered, self.lost, self.rounds) = (d.now, d.delivered, d.lost, 0);
    }

    /// An acknowledgement came, `losses` packets are lost since the last one, and the flow may have been `limited` by its data;
    /// a packet has so many bits.
    pub(super) fn take(&mut self, d: &Delivery, losses: u32, limited: bool, round_start: bool, bits: f64) {
        if !self.samples {
            if losses == 0 {
                return;
            }
            self.begin(d);
            self.samples = true;
        }
        if limited {
            return self.forget(d);
        }
        self.rounds += u32::from(round_start);
        if self.rounds < LEAST_ROUNDS {
            return;
        }
        if self.rounds > MOST_ROUNDS {
            return self.forget(d);
        }
        let delivered = d.delivered.saturating_sub(self.delivered) as f64;
        let lost = d.lost.saturating_sub(self.lost) as f64;
        let took_s = d.now.since(self.began).seconds();
        if losses == 0 || delivered == 0.0 || lost < LOSS * delivered || took_s < LEAST_S {
            return;
        }
        let (rate, before) = (delivered / took_s, self.rate);
        let apart = libm::fabs(rate - before);
        if before > 0.0 && (apart <= RATIO * before || apart * bits <= DIFFERENCE) {
            (self.rate, self.holds, self.rounds) = (rate.midpoint(before), true, 0);
        } else {
            self.rate = rate;
            self.begin(d);
        }
    }
}
