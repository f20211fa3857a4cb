//! Theorems of the papers as formulas: what the analysis of the laws themselves is checked against, and rules to tune by.

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
