//! A class of flows near its equilibrium, as a frequency response: its law's, its estimators', and its host's clock.

use penstock_law::estimate::MarkEstimate;

use super::Clocking;
use crate::complex::Complex;
use crate::linear::{Answer, Linear};
use crate::loop_model::LoopModel;

/// A class of flows near its equilibrium, as a frequency response.
#[derive(Debug, Clone)]
pub struct SourceResponse {
    pub(super) linear: Linear,
    pub(super) clocking: Clocking,
    pub(super) rate: f64,
    pub(super) rtt_s: f64,
    /// d price / d probability [s].
    pub(super) price_slope: f64,
    pub(super) register: Option<MarkEstimate>,
    /// Weight of a sample in the average round-trip time, one sample an acknowledgement.
    pub(super) rtt_weight: Option<f64>,
    /// Capacity as the law knows it, where the law looks back to packets committed a round trip ago [packets/s].
    pub(super) looks_back: Option<f64>,
    pub(super) acks_per_s: f64,
    /// Distance to the nearest kink of the law, in the units of that comparison; none where it has none.
    pub nearest_kink: Option<f64>,
    /// Whether the law alone, at a constant signal, would run away.
    pub runs_away: bool,
}

/// Response of the rate of one flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts {
    /// Its law, to the queueing delay [packets/s per s].
    pub of_delay: Complex,
    /// The clock of its acknowledgements with a constant window, to the same; zero for a paced sender.
    pub clock: Complex,
    /// Its law, to the mark probability [packets/s].
    pub of_probability: Complex,
}

impl SourceResponse {
    /// Whether acknowledgements time its packets, so that its response changes with the round trip.
    pub fn is_ack_clocked(&self) -> bool {
        self.clocking == Clocking::Ack
    }

    /// Whether an estimator with a filter stands between the path and the law.
    pub(crate) fn has_estimators(&self) -> bool {
        self.register.is_some() || self.rtt_weight.is_some()
    }

    /// Whether the law acts on a period or once a round.
    pub(crate) fn is_sampled(&self) -> bool {
        self.linear.is_sampled()
    }

    /// The response of one flow's rate at `s`, to signals as they arrive at the sender.
    pub fn parts(&self, s: Complex, model: LoopModel) -> Parts {
        let mut h = self.linear.response(s, model.counts_sampling());
        if let Some(capacity) = self.looks_back {
            self.close(&mut h, s, capacity);
        }
        let (mut of_rtt, mut of_price) = (h[0], h[2] * self.price_slope);
        if model.counts_estimators() {
            // A register of N marks is their average over the time of N packets, twice the lag it declares.
            if let Some(by) = self.register {
                of_price = of_price * (s * (2.0 * by.lag_s(self.rate))).hold();
            }
            // One step of an exponential average an acknowledgement.
            if let Some(weight) = self.rtt_weight {
                let corner = self.acks_per_s * weight;
                of_rtt = of_rtt * corner / (s + Complex::real(corner));
            }
        }
        let of_chance = h[1] + of_price;
        match self.clocking {
            Clocking::Paced => Parts { of_delay: of_rtt, clock: Complex::ZERO, of_probability: of_chance },
            Clocking::Ack => {
                // What is in flight is the window: w(t) is the integral of x over one round trip.
                let release = Complex::ONE / ((s * self.rtt_s).hold() * self.rtt_s);
                Parts { of_delay: release * of_rtt, clock: release * -self.rate, of_probability: release * of_chance }
            }
        }
    }

    /// The response of one flow's rate at `s` to the queueing delay [packets/s per s] and to the mark probability
    /// [packets/s], both as they arrive at the sender.
    pub fn at(&self, s: Complex, model: LoopModel) -> (Complex, Complex) {
        let parts = self.parts(s, model);
        (parts.of_delay + parts.clock, parts.of_probability)
    }

    /// The packets committed, the queue's `capacity r` and the window, come back to the law a round trip later, as the last
    /// of its signals: closes that loop inside the law.
    fn close(&self, h: &mut Answer, s: Complex, capacity: f64) {
        let [_, _, _, of_earlier] = *h;
        let back = of_earlier * (-s * self.rtt_s).exp();
        // What the law says is the window, or, paced, the window over the round trip.
        let (window_of_said, window_of_rtt) = match self.clocking {
            Clocking::Ack => (1.0, 0.0),
            Clocking::Paced => (self.rtt_s, self.rate),
        };
        let open = Complex::ONE - back * window_of_said;
        h[0] = h[0] + back * (capacity + window_of_rtt);
        for x in h {
            *x = *x / open;
        }
    }

    /// The response of one flow's rate to the path price at `s` [packets/s^2], as (13) of fast-aqm has it: `dx/dq`.
    pub fn of_price(&self, s: Complex, model: LoopModel) -> Complex {
        self.at(s, model).1 * (1.0 / self.price_slope)
    }
}
