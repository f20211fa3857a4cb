//! The loop's gain with exact delays.
//!
//! `L(s) = Rf(s) K(s) Rb(s)^T C(s)` of fast-aqm (12), for one bottleneck a number: the sum over classes of what one
//! packet a second more at the link comes back as, one round trip later. No delay is approximated. Positive gain with
//! negative feedback: the critical point is -1.
//!
//! Figures through a law's own update differ a little from those of its paper's formulas. For Fig. 8 of fast-aqm, laws
//! alone: the difference equations (20), (21) have `1 + (z + z kappa/nu) T/2` times the high-frequency gain of (13), 0.3
//! to 0.6 % at a period of 10 ms (gain margin 5.29 for 5.31 in the last stage). With estimators: a register of N marks
//! is an average, which attenuates besides its delay of N/2 packets (19) (3.93 for 3.89). Sampled: a window follows its
//! target with the next acknowledgement, half a packet's time later on average (3.68; 3.71 without).

use serde::Serialize;

use crate::bottleneck::BottleneckResponse;
use crate::complex::Complex;
use crate::source::SourceResponse;

/// What of the loop is counted. Each reading adds to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// The laws with the path's delays; periodic laws by their step map at `z = exp(sT)`, without holds.
    Laws,
    /// And the filters that estimators declare: the register of marks, the average round-trip time.
    Estimators,
    /// And sampling: the holds of periodic and per-round laws, and the packets their windows take to follow.
    Sampled,
}

impl Reading {
    /// All, from the least to the most that is counted.
    pub const ALL: [Self; 3] = [Self::Laws, Self::Estimators, Self::Sampled];

    /// Whether estimators' filters count.
    pub fn counts_estimators(self) -> bool {
        self >= Self::Estimators
    }

    /// Whether sampling and holds count.
    pub fn counts_sampling(self) -> bool {
        self >= Self::Sampled
    }
}

/// A class in a loop.
#[derive(Debug, Clone)]
pub struct Member {
    /// How many flows.
    pub count: f64,
    /// Their share of the link's load.
    pub share: f64,
    /// What of a packet enters the line: one, or less where the queue's law drops this class's packets.
    pub kept: f64,
    /// Round-trip time [s].
    pub rtt_s: f64,
    /// How one of them answers.
    pub response: SourceResponse,
}

/// One bottleneck with its classes, opened at the link's arrivals.
#[derive(Debug, Clone)]
pub struct Loop {
    /// The link.
    pub bottleneck: BottleneckResponse,
    /// The classes.
    pub members: Vec<Member>,
}

impl Loop {
    /// What each class adds to the loop gain at `s` [1/s].
    pub fn parts(&self, s: Complex, reading: Reading) -> Vec<Complex> {
        let (delay, probability) = self.bottleneck.at(s, reading);
        self.members.iter().map(|m| self.part(m, s, reading, delay, probability)).collect()
    }

    /// The loop gain at `s` [1/s].
    pub fn gain(&self, s: Complex, reading: Reading) -> Complex {
        let (delay, probability) = self.bottleneck.at(s, reading);
        self.members.iter().map(|m| self.part(m, s, reading, delay, probability)).sum()
    }

    /// `lambda_i(s)` of fast-aqm (14): the loop gain if every flow were of this class. The gain is their mean, weighed
    /// by shares of the load.
    pub fn lambda(&self, class: usize, s: Complex, reading: Reading) -> Complex {
        let (delay, probability) = self.bottleneck.at(s, reading);
        let m = &self.members[class];
        self.part(m, s, reading, delay, probability) * (1.0 / m.share)
    }

    // From the link back to the sender and forth to the link takes one round trip, whatever part is which: fast-aqm (3).
    fn part(&self, m: &Member, s: Complex, reading: Reading, delay: Complex, probability: Complex) -> Complex {
        let (of_delay, of_probability) = m.response.at(s, reading);
        let trip = (-s * m.rtt_s).exp();
        let marks = (s * self.bottleneck.mark_skips_s).exp();
        -(of_delay * delay + of_probability * probability * marks) * trip * (m.count * m.kept)
    }

    /// The longest and the shortest round trip of classes that answer at all [s].
    pub fn span(&self) -> (f64, f64) {
        let trips = self.members.iter().map(|m| m.rtt_s);
        (trips.clone().fold(0.0, f64::max), trips.fold(f64::INFINITY, f64::min))
    }
}
