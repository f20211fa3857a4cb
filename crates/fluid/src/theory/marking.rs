//! The loop of "Random Early Marking: Improving TCP Performance in DiffServ Assured Forwarding" (Tartarelli and Banchs):
//! equations (4) to (11), as printed and with the terms that the print has lost.

use core::f64::consts::PI;

use penstock_law::conditioner::early_marking::Aggregate;

use crate::complex::Complex;
use crate::margin::{Margins, Span, margins};

/// An aggregate of TCP flows behind a token bucket, and a PI controller `K (s/z + 1)/s` of the bucket's level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarkingLoop {
    /// Flows N, round trip R and committed rate C.
    pub aggregate: Aggregate,
    /// K [1/(packet s)].
    pub gain: f64,
    /// z [rad/s].
    pub zero: f64,
}

impl MarkingLoop {
    /// The probability of marking out at which the aggregate sends the committed rate, (4): `W0^2 p0 = 2`. From a window
    /// of `sqrt(2)` packets down it is one or more, and the model has no operating point.
    pub fn operating_probability(&self) -> f64 {
        2.0 / (self.aggregate.window() * self.aggregate.window())
    }

    /// The loop as (8) prints it: `exp(-jwR) C^2 K/(2N) (jw/z + 1) / (jw (jw + a))`, without the integrator that the bucket
    /// is, and so in 1/s.
    pub fn printed(&self, s: Complex) -> Complex {
        let Aggregate { packets_per_s: c, flows: n, rtt_s } = self.aggregate;
        let lead = s * (1.0 / self.zero) + Complex::ONE;
        let poles = s * (s + Complex::real(self.aggregate.pole()));
        (-s * rtt_s).exp() * lead / poles * (c * c * self.gain / (2.0 * n))
    }

    /// The loop with it: the product of the controller (7) and of the plant, `C^2/(2N) exp(-sR) / (s (s + a))`, which
    /// (5) and (6) give.
    pub fn with_bucket(&self, s: Complex) -> Complex {
        self.printed(s) / s
    }

    /// The phase of the latter at `w` [rad/s], not taken to within a turn [degrees].
    pub fn phase_deg(&self, w: f64) -> f64 {
        let turn = libm::atan(w / self.zero) - libm::atan(w / self.aggregate.pole()) - w * self.aggregate.rtt_s;
        turn * 180.0 / PI - 180.0
    }

    /// Margins of the loop with the bucket.
    pub fn margins(&self) -> Margins {
        let rtt_s = self.aggregate.rtt_s;
        margins(&|s| self.with_bucket(s), Span { slowest_s: rtt_s, fastest_s: rtt_s })
    }

    /// The quantity that (11) bounds: the phase at `w_g` where that is the zero, a tenth of the pole, for a window of W0 packets
    /// [degrees]: `-180 + 45 - atan(0.1)` and a delay of `0.2/W0` radians, -140.7 - 11.46/W0. The paper has -146 for all
    /// W0 above 2; it is so from 2.17 on.
    pub fn phase_of_rule_deg(window: f64) -> f64 {
        -135.0 - (libm::atan(0.1) + 0.2 / window) * 180.0 / PI
    }
}
