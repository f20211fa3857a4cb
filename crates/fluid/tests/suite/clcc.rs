//! The outer loop of CLCC in the analysis, against the reference's tables; the step is the law's own.

use crate::scenarios::{aqm, cc, dumbbell, group};
use penstock_fluid::Verdict;
use penstock_fluid::outer::{OuterLoop, loops};
use penstock_law::quantity::Rate;
use penstock_scenario::model::{Class, Group, Scenario};

/// 100 Mbit/s, one class of UDP that is to have a share and one of TCP.
fn scenario(share: f64, set: &[(&str, f64)]) -> Scenario {
    let of = |class: &str, group: Group| Group { class: Some(class.to_owned()), ..group };
    let groups =
        vec![of("udp", group(1, 0.002, cc("cbr", &[("rate", 90e6)]))), of("tcp", group(100, 0.1, cc("newreno", &[])))];
    let mut scenario = dumbbell(100e6, 1500, &aqm("clcc", set), groups);
    let class = |share| Class { share, floor: Rate(0), ceiling: None };
    scenario.classes.insert("udp".to_owned(), class(Some(share)));
    scenario.classes.insert("tcp".to_owned(), class(None));
    scenario
}

fn only(share: f64, set: &[(&str, f64)]) -> OuterLoop {
    let mut found = loops(&scenario(share, set)).unwrap();
    assert_eq!(found.len(), 1);
    found.remove(0)
}

fn one_gain(beta: f64) -> OuterLoop {
    only(0.3, &[("beta_near", beta), ("beta_between", beta), ("beta_far", beta)])
}

/// Table 2g, read as exponents: a gain that is the bound for an exponent has that exponent as its own bound. Printed to
/// three decimals; -1 is outside what the law takes.
#[test]
fn exponents_up_to_which_a_gain_is_stable() {
    for (gamma, stable, late) in [
        (0.5, -4.0, -2.0),
        (0.85, -2.353, -1.176),
        (1.0, -2.0, -1.0),
        (1.43, -1.399, -0.699),
        (2.5, -0.8, -0.4),
        (10.0, -0.2, -0.1),
    ] {
        // beta = -0.4 scales both bounds: gamma_max(beta) = gamma beta_max(gamma) / beta.
        for beta in [-0.1, -0.4, -0.9] {
            let found = one_gain(beta);
            let (no_lag, with_lag) = (found.largest_gamma.unwrap(), found.largest_gamma_late.unwrap());
            assert!((no_lag * beta / gamma - stable).abs() < 6e-4, "{beta} {gamma}: {no_lag}");
            assert!((with_lag * beta / gamma - late).abs() < 6e-4, "{beta} {gamma}: {with_lag}");
        }
    }
}

/// Section 3 of the reference: the multiplier is `1 + beta gamma`, whatever the reference ratio.
#[test]
fn the_multiplier_is_one_plus_beta_gamma() {
    for share in [0.130_434_78, 0.3, 0.9] {
        for beta in [-0.05, -0.1, -0.5, -0.9] {
            let found = only(share, &[("beta_near", beta)]);
            assert!((found.reference_ratio - share / (1.0 - share)).abs() < 1e-12);
            assert!((found.gain - beta).abs() < 1e-12, "{found:?}");
            for plant in &found.plants {
                assert!((plant.multiplier - (1.0 + beta * plant.gamma)).abs() < 1e-9, "{plant:?}");
            }
            assert!((found.plants[1].gamma - 1.0 / (1.0 - share)).abs() < 1e-12);
            assert_eq!(found.verdict, Verdict::Stable);
        }
    }
}

/// Late by a period: both roots of `z^2 - z - beta gamma` where they are real and where they are not.
#[test]
fn a_late_answer_has_the_roots_of_the_quadratic() {
    for beta in [-0.1, -0.2, -0.25, -0.4, -0.9] {
        let found = one_gain(beta);
        let plant = &found.plants[0];
        let disc: f64 = 1.0 + 4.0 * beta;
        let expected = if disc >= 0.0 { f64::midpoint(1.0, disc.sqrt()) } else { (-beta).sqrt() };
        // At -1/4 the root is double, and the eigenvalue is known to half of the digits.
        assert!((plant.late_modulus - expected).abs() < 1e-6, "{beta}: {plant:?}");
    }
}

/// Tables 2f and 2h: steps until it stays within 5 %, from a tenth with one gain, and from four starts with the three.
#[test]
fn steps_from_far() {
    for (beta, steps) in [(-0.1, 28), (-0.25, 11), (-0.5, 5)] {
        let found = one_gain(beta);
        assert_eq!((found.arrivals[0].start, found.arrivals[0].periods), (0.1, Some(steps)), "{beta}");
    }
    let three = only(0.3, &[]);
    let periods: Vec<Option<u32>> = three.arrivals.iter().map(|a| a.periods).collect();
    assert_eq!(periods, [10, 10, 13, 17].map(Some));
    assert!((three.gain + 0.1).abs() < 1e-12 && (three.steepest_gain + 0.5).abs() < 1e-9, "{three:?}");
}

/// A proportional part, which the paper tries: `z^3 - (1 + b0 gamma) z^2 - b1 gamma z - b2 gamma`, whose roots are inside
/// the circle for what Fig. 8 has and outside for a large weight of the error before.
#[test]
fn errors_before_count() {
    let figure_8 = only(0.3, &[("beta_near", -0.2), ("b1", 0.1)]);
    // z^2 - (1 - 0.2) z - 0.1.
    let root = f64::midpoint(0.8, (0.64_f64 + 0.4).sqrt());
    assert!((figure_8.plants[0].multiplier - root).abs() < 1e-9, "{figure_8:?}");
    assert_eq!(figure_8.verdict, Verdict::Stable);
    let unstable = only(0.3, &[("beta_near", -0.1), ("b1", 0.2)]);
    assert_eq!(unstable.verdict, Verdict::Unstable, "an integral part of +0.1 runs away");
}

#[test]
fn no_loop_where_no_law_has_one() {
    let mut other = scenario(0.3, &[]);
    for link in other.links.values_mut() {
        link.aqm = aqm("bat", &[]);
    }
    assert!(loops(&other).unwrap().is_empty() && !penstock_fluid::outer::has_any(&other));
}
