//! The loop of fast-aqm in one dimension: (14), the curves of figure 2, Proposition 3, and the marking law.

use core::f64::consts::FRAC_PI_2;

use penstock_fluid::margin::{Span, margins_and_locus};
use penstock_fluid::theory::{eta_max, lead_lag, worst_crossing};
use penstock_fluid::{Complex, Verdict};
use serde_json::{Map, Value, json};

use super::{Answer, Curve, Formula, Given};

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

/// The static loop `alpha exp(-s tau)/(s tau)`: at `s tau = j theta` the curve NABLA.
fn nabla(s: Complex, tau_s: f64, alpha: f64) -> Complex {
    (-s * tau_s).exp() / (s * tau_s) * alpha
}

/// Margins of a loop as numbers; what does not exist is absent.
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
    let points = locus.into_iter().filter(|(w, l)| w * tau_s < 15.0 && l.abs() < 100.0).collect();
    Ok(Answer {
        numbers: Value::Object(numbers),
        curves: vec![Curve { name: String::new(), comparison: false, points }],
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
    let along = |gain: &dyn Fn(Complex) -> Complex| -> Vec<(f64, Complex)> {
        (0..400).map(|k| 0.1 * libm::pow(1.0125, f64::from(k))).map(|w| (w, gain(Complex::axis(w)))).collect()
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
            Curve { name: "nabla".into(), comparison: false, points: along(&spiral) },
            Curve { name: "nabla, rotated".into(), comparison: true, points: along(&rotated) },
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

    /// Equation (14) with nu = kappa is the static loop at every frequency.
    #[test]
    fn equal_gains_leave_the_static_loop() {
        let labels = given(&[("alpha", "1"), ("zero", "0.2"), ("tau", "100 ms"), ("nu over kappa", "1")]);
        let numbers = lead_lag_loop(&Given(&labels)).unwrap().numbers;
        assert!(numbers["off_static"]["low"].as_f64().unwrap() < 1e-12, "{numbers}");
        assert!((numbers["gain_margin"].as_f64().unwrap() - FRAC_PI_2).abs() < 1e-9, "{numbers}");
    }
}
