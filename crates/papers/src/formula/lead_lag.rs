//! The loop of fast-aqm in one dimension: (14), the curves of figure 2, Proposition 3, and the marking law.

use core::f64::consts::{FRAC_PI_2, PI};

use penstock_fluid::margin::{Span, margins_and_locus};
use penstock_fluid::phase::along;
use penstock_fluid::theory::{eta_max, lead_lag, worst_crossing};
use penstock_fluid::{Complex, Verdict};
use serde_json::{Map, Value, json};

use super::{Answer, Formula, Given};
use crate::computed::Curve;

/// lambda(s) of (14): its margins, and how far it is from the static loop, its part of high frequencies.
pub(super) const LOOP: Formula =
    Formula { name: "lead-lag loop", keys: &["alpha", "zero", "tau", "nu over kappa"], compute: lead_lag_loop };

/// NABLA and `NABLA_eta` of the proof of Proposition 3, where they cross the negative real axis and how near -1 they come.
/// `share of eta` is eta as a share of the largest one at this alpha.
pub(super) const SPIRAL: Formula =
    Formula { name: "rotated spiral", keys: &["alpha", "share of eta"], compute: rotated_spiral };

/// The largest eta of Proposition 3.
pub(super) const LARGEST_ETA: Formula = Formula { name: "largest eta", keys: &["alpha"], compute: largest_eta };

/// The marking law `1 - phi^-p` with phi = 1000.
pub(super) const MARKING: Formula =
    Formula { name: "marking probability", keys: &["phi", "price"], compute: marking_probability };

/// The window at and below which an estimate from the last `marks` packets makes the static law (6) unstable: with the lag
/// of (19), `marks tau/(2 w)`, and with the average over as many packets that has this lag; of senders whose rate is
/// w/tau and of those whose packets in flight are w.
pub(super) const CRITICAL_WINDOW: Formula =
    Formula { name: "critical window", keys: &["alpha", "marks"], compute: critical_window };

/// The static loop `alpha exp(-s tau)/(s tau)`: at `s tau = j theta` the curve NABLA.
fn nabla(s: Complex, tau_s: f64, alpha: f64) -> Complex {
    (-s * tau_s).exp() / (s * tau_s) * alpha
}

/// Margins of a loop as numbers; a margin that does not exist is absent.
fn margins_of(gain: &dyn Fn(Complex) -> Complex, tau_s: f64) -> (Map<String, Value>, Vec<(f64, Complex)>) {
    let (margins, locus) = margins_and_locus(gain, Span { slowest_s: tau_s, fastest_s: tau_s });
    let mut numbers = match serde_json::to_value(&margins) {
        Ok(Value::Object(numbers)) => numbers,
        _ => Map::new(),
    };
    match margins.verdict {
        Verdict::Undecided => {}
        decided => drop(numbers.insert("stable".into(), u8::from(decided == Verdict::Stable).into())),
    }
    if let Some(gain) = margins.gain_margin {
        numbers.insert("crossing".into(), json!(1.0 / gain));
    }
    (numbers, locus)
}

fn lead_lag_loop(given: &Given<'_>) -> Result<Answer, String> {
    let (alpha, zero) = (given.number("alpha")?, given.number("zero")?);
    let (tau_s, ratio) = (given.number("tau")?, given.number("nu over kappa")?);
    let gain = |s: Complex| lead_lag(s, tau_s, ratio, zero, alpha);
    let (mut numbers, locus) = margins_of(&gain, tau_s);
    let apart = |theta: f64| {
        let s = Complex::axis(theta / tau_s);
        let of_static = nabla(s, tau_s, alpha);
        (gain(s) - of_static).abs() / of_static.abs()
    };
    numbers.insert("off_static".into(), json!({ "low": apart(0.1), "middle": apart(1.0), "high": apart(100.0) }));
    // The spiral's further turns are within the first.
    let points: Vec<_> = locus.into_iter().filter(|(w, l)| w * tau_s < 15.0 && l.abs() < 100.0).collect();
    Ok(Answer {
        numbers: Value::Object(numbers),
        curves: vec![Curve { name: String::new(), comparison: false, points: along(&points) }],
    })
}

fn rotated_spiral(given: &Given<'_>) -> Result<Answer, String> {
    let alpha = given.number("alpha")?;
    let eta = given.number("share of eta")? * eta_max(alpha);
    // The spiral as a loop of one second's delay; rotated by the constant phase of a compensator.
    let turned = (Complex::ONE - Complex::axis(eta)) * alpha;
    let spiral = |s: Complex| nabla(s, 1.0, alpha);
    let rotated = |s: Complex| nabla(s, 1.0, 1.0) * turned;
    let (first, _) = margins_of(&spiral, 1.0);
    let curve = |gain: &dyn Fn(Complex) -> Complex| {
        let frequencies = (0..400).map(|k| 0.1 * libm::pow(1.0125, f64::from(k)));
        along(&frequencies.map(|w| (w, gain(Complex::axis(w)))).collect::<Vec<_>>())
    };
    // A constant phase makes no rational loop, so the rotated curve is searched along the frequency.
    let (crossing, nearest) = (crossing(&rotated), nearest(&rotated));
    Ok(Answer {
        numbers: json!({
            "eta": eta,
            "nabla": first,
            "rotated": { "crossing": crossing, "closed_form": worst_crossing(alpha, eta), "least_distance": nearest },
        }),
        curves: vec![
            Curve { name: "nabla".into(), comparison: false, points: curve(&spiral) },
            Curve { name: "nabla, rotated".into(), comparison: true, points: curve(&rotated) },
        ],
    })
}

/// The modulus at the first crossing of the negative real axis, by bisection of the phase, which falls along the spiral.
fn crossing(gain: &dyn Fn(Complex) -> Complex) -> f64 {
    let at = |w: f64| gain(Complex::axis(w));
    // From -90 degrees, less what it was rotated by, to beyond -180 at theta = pi/2: the imaginary part changes sign.
    let (mut low, mut high) = (1e-6, FRAC_PI_2 + 1e-9);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if at(middle).im < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    at(high).abs()
}

/// The least distance from -1 along the first turn.
fn nearest(gain: &dyn Fn(Complex) -> Complex) -> f64 {
    let distance = |k: u32| (gain(Complex::axis(1e-4 * f64::from(k))) + Complex::ONE).abs();
    (1..=62_832).map(distance).fold(f64::INFINITY, f64::min)
}

fn largest_eta(given: &Given<'_>) -> Result<Answer, String> {
    let alpha = given.number("alpha")?;
    let eta = eta_max(alpha);
    Ok(Answer::of(json!({ "eta": eta, "crossing": worst_crossing(alpha, eta) })))
}

fn marking_probability(given: &Given<'_>) -> Result<Answer, String> {
    let (phi, price_s) = (given.number("phi")?, given.number("price")?);
    Ok(Answer::of(json!({ "probability": -libm::expm1(-price_s * libm::log(phi)) })))
}

/// Counts of a loop with an estimator.
#[derive(Debug, Clone, Copy)]
struct Counted {
    /// The estimate is an average: it attenuates as well as lags.
    average: bool,
    /// Packets in flight are the window: `x = s w/(1 - exp(-s tau))`, not w/tau.
    in_flight: bool,
}

impl Counted {
    /// `w tau` where the static loop, with an estimate from the packets of `trips` round trips, first has a phase of -180
    /// degrees, and its modulus there.
    fn crossing(self, alpha: f64, trips: f64) -> (f64, f64) {
        let (theta, modulus) = if self.in_flight {
            // alpha exp(-j theta)/(1 - exp(-j theta)) has the phase -(pi + theta)/2.
            let theta = PI / (1.0 + trips);
            (theta, 0.5 * alpha / libm::sin(0.5 * theta))
        } else {
            let theta = FRAC_PI_2 / (1.0 + 0.5 * trips);
            (theta, alpha / theta)
        };
        let lag = 0.5 * theta * trips;
        (theta, if self.average { modulus * libm::sin(lag) / lag } else { modulus })
    }

    /// The window at which that modulus is one [packets].
    fn critical_window(self, alpha: f64, marks: f64) -> f64 {
        let (mut low, mut high) = (1e-6 * marks, 1e6 * marks);
        for _ in 0..200 {
            let middle = libm::sqrt(low * high);
            if self.crossing(alpha, marks / middle).1 > 1.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

fn critical_window(given: &Given<'_>) -> Result<Answer, String> {
    let (alpha, marks) = (given.number("alpha")?, given.number("marks")?);
    if !(0.0 < alpha && alpha < FRAC_PI_2 && marks > 0.0) {
        return Err(format!("alpha = {alpha}, marks = {marks}: alpha is above 0 and below pi/2, marks above 0"));
    }
    let window = |average, in_flight| Counted { average, in_flight }.critical_window(alpha, marks);
    Ok(Answer::of(json!({
        "window_packets": window(false, false),
        "averaged_packets": window(true, false),
        "in_flight": { "window_packets": window(false, true), "averaged_packets": window(true, true) },
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    /// The curve's own crossing is the closed form of the proof, and at the largest eta it is -1 for alpha above sin(1).
    #[test]
    fn the_rotated_spiral_crosses_where_the_proof_has_it() {
        for (alpha, share) in [("0.37", "1"), ("1", "0.5"), ("1", "1"), ("1.5", "1.2")] {
            let labels = given(&[("alpha", alpha), ("share of eta", share)]);
            let numbers = rotated_spiral(&Given(&labels)).unwrap().numbers;
            let rotated = |name: &str| numbers["rotated"][name].as_f64().unwrap();
            assert!((rotated("crossing") - rotated("closed_form")).abs() < 1e-9, "{alpha} {share}: {numbers}");
            assert_eq!((rotated("crossing") - 1.0).abs() < 1e-9, (alpha, share) == ("1", "1"), "{numbers}");
        }
    }

    /// (19) as a lag: `alpha (1 + N/(2 w)) = pi/2`. For the paper's alpha and N that is 4.776 packets.
    #[test]
    fn the_critical_window_of_a_lag_has_a_closed_form() {
        for (alpha, marks) in [(0.37, 31.0), (1.0, 31.0), (1.5, 8.0)] {
            let window = Counted { average: false, in_flight: false }.critical_window(alpha, marks);
            let closed = alpha * marks / (2.0 * (FRAC_PI_2 - alpha));
            assert!((window / closed - 1.0).abs() < 1e-9, "{alpha} {marks}: {window}, not {closed}");
        }
        let labels = given(&[("alpha", "0.37"), ("marks", "31")]);
        let numbers = critical_window(&Given(&labels)).unwrap().numbers;
        assert!((numbers["window_packets"].as_f64().unwrap() - 4.776).abs() < 5e-4, "{numbers}");
    }

    /// At the critical window the loop itself, put together of its parts, passes through -1.
    #[test]
    fn at_its_critical_window_each_loop_passes_through_minus_one() {
        for (average, in_flight) in [(false, false), (true, false), (false, true), (true, true)] {
            let counted = Counted { average, in_flight };
            for (alpha, marks) in [(0.37, 31.0), (1.2, 31.0)] {
                let trips = marks / counted.critical_window(alpha, marks);
                let s = Complex::axis(counted.crossing(alpha, trips).0);
                let rate = if in_flight { s / (Complex::ONE - (-s).exp()) } else { Complex::ONE };
                let estimate = if average {
                    (Complex::ONE - (-s * trips).exp()) / (s * trips)
                } else {
                    (-s * (0.5 * trips)).exp()
                };
                let gain = nabla(s, 1.0, alpha) * rate * estimate;
                assert!((gain + Complex::ONE).abs() < 1e-6, "{counted:?} {alpha}: {gain:?}");
            }
        }
    }

    /// Equation (14) with nu = kappa is the static loop at every frequency.
    #[test]
    fn equal_gains_leave_the_static_loop() {
        let labels = given(&[("alpha", "1"), ("zero", "0.2"), ("tau", "100 ms"), ("nu over kappa", "1")]);
        let numbers = lead_lag_loop(&Given(&labels)).unwrap().numbers;
        assert!(numbers["off_static"]["low"].as_f64().unwrap() < 1e-12, "{numbers}");
        assert!((numbers["gain_margin"].as_f64().unwrap() - FRAC_PI_2).abs() < 1e-9, "{numbers}");
    }
}
