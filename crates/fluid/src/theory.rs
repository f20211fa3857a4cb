//! Theorems of the papers as formulas: checks of the analysis of the laws themselves, and rules to tune by.

pub mod marking;
pub mod network;

use core::f64::consts::{FRAC_PI_2, PI};

use crate::complex::Complex;

/// The largest `eta` for which Proposition 3 of fast-aqm holds at a gain of `alpha`, zero from `pi/2` on.
///
/// Above 1/taubar the rotated spiral must pass below -1: `alpha sqrt(1 + eta^2) < pi/2 - arctan(eta)`, which with
/// `eta = cot(phi)` is `phi sin(phi) = alpha`. Below 1/taubar the phase must stay above -pi: `eta < cot(1)`, the binding
/// one up to `alpha = sin(1)`.
pub fn eta_max(alpha: f64) -> f64 {
    if alpha >= FRAC_PI_2 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    while high - low > 1e-16 {
        let middle = f64::midpoint(low, high);
        if middle == low || middle == high {
            break;
        }
        if middle * libm::sin(middle) < alpha {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::min(1.0 / libm::tan(high), 1.0 / libm::tan(1.0))
}

/// `lambda(s)` of fast-aqm (14): `alpha exp(-tau s)/(tau s) (s + z)/(s + z kappa/nu)`, for a round trip of `tau_s` [s], a
/// ratio `nu/kappa`, a zero at `zero` [1/s] and a gain `alpha`.
pub fn lead_lag(s: Complex, tau_s: f64, nu_over_kappa: f64, zero: f64, alpha: f64) -> Complex {
    let compensator = (s + Complex::real(zero)) / (s + Complex::real(zero / nu_over_kappa));
    (-s * tau_s).exp() / (s * tau_s) * compensator * alpha
}

/// The largest gain of the static law (6) of fast-aqm on one bottleneck: `pi/2` for paced senders (Theorem 2), 2 for
/// ACK-clocked ones, where `L(jw) = alpha/(exp(jw tau) - 1)` has the real part `-alpha/2` at all frequencies.
pub fn static_limit(clocking: crate::source::Clocking) -> f64 {
    match clocking {
        crate::source::Clocking::Paced => PI / 2.0,
        crate::source::Clocking::Ack => 2.0,
    }
}

/// TCP under a marking queue near its equilibrium, as Misra, Gong and Towsley have it and Hollot, Misra, Towsley and Gong
/// linearise it ("On Designing Improved Controllers for AQM Routers", 2001, section II): from probability to queue,
/// `-C^2/(2N) exp(-s R) / ((s + 2N/(R^2 C)) (s + 1/R))`; here its negative, for a loop of positive gain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TcpPlant {
    /// Flows N.
    pub flows: f64,
    /// Capacity C [packets/s].
    pub capacity: f64,
    /// Round trip R at equilibrium, the queue included [s].
    pub rtt_s: f64,
}

impl TcpPlant {
    /// The window's corner, `2N/(R^2 C)` [rad/s].
    pub fn window_corner(&self) -> f64 {
        2.0 * self.flows / (self.rtt_s * self.rtt_s * self.capacity)
    }

    /// The response at `s` [packets].
    pub fn at(&self, s: Complex) -> Complex {
        let gain = self.capacity * self.capacity / (2.0 * self.flows);
        let poles = (s + Complex::real(self.window_corner())) * (s + Complex::real(1.0 / self.rtt_s));
        (-s * self.rtt_s).exp() / poles * gain
    }
}

/// A PI controller `K (s/z + 1)/s` of a queue, and its difference equation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PiRule {
    /// Integral gain K [1/(packet s)].
    pub gain: f64,
    /// Zero z [rad/s].
    pub zero: f64,
    /// Where the loop it was made for has a gain of one [rad/s].
    pub crossover: f64,
}

impl PiRule {
    /// The rule of the same paper, section IV: the zero on the window's corner of the least load (the fewest flows, the
    /// longest round trip), and a gain of one at `crossover` [rad/s], by default at that corner. More flows and shorter
    /// round trips only lower the gain.
    pub fn of(worst: TcpPlant, crossover: Option<f64>) -> Self {
        let zero = worst.window_corner();
        let crossover = crossover.unwrap_or(zero);
        let with_one = |s: Complex| (s * (1.0 / zero) + Complex::ONE) / s * worst.at(s);
        Self { gain: 1.0 / with_one(Complex::axis(crossover)).abs(), zero, crossover }
    }

    /// The controller at `s` [1/packet].
    pub fn at(&self, s: Complex) -> Complex {
        (s * (1.0 / self.zero) + Complex::ONE) / s * self.gain
    }

    /// `a` and `b` of `p += a (q - q_ref) - b (q_before - q_ref)` every `period_s` [s], by the trapezoidal rule
    /// [1/packet].
    pub fn difference(&self, period_s: f64) -> (f64, f64) {
        let (now, half) = (self.gain / self.zero, 0.5 * self.gain * period_s);
        (now + half, now - half)
    }
}

/// The modulus at which the rotated spiral of Proposition 3 of fast-aqm crosses the negative real axis: its inverse is a
/// gain margin that every network has which keeps to `alpha`, `eta` and `taubar`.
pub fn worst_crossing(alpha: f64, eta: f64) -> f64 {
    alpha * libm::sqrt(1.0 + eta * eta) / (FRAC_PI_2 - libm::atan(eta))
}
