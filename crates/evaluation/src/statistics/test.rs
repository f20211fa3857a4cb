//! Student's test of a mean.

use serde::Serialize;

use super::interval::{mean, standard_deviation};
use penstock_scenario::student::student_tail;

/// Student's test of the mean of a sample against a number; probabilities from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Test {
    /// The mean of the sample.
    pub mean: f64,
    /// The probability of a mean so far from the number, up or down, if it were the true mean.
    pub p: f64,
    /// The probability of such a mean or a larger one: small, where the true mean is above the number.
    pub p_above: f64,
    /// The probability of such a mean or a smaller one: small, where the true mean is below the number.
    pub p_below: f64,
}

/// Tests the mean of `values` against the number `against`, on n - 1 degrees of freedom.
///
/// Equal values decide with certainty: a probability is 0 or 1. None for fewer than two values, and for one that is not
/// finite.
pub fn test(values: &[f64], against: f64) -> Option<Test> {
    let (mean, sd) = (mean(values)?, standard_deviation(values)?);
    let off = mean - against;
    if !off.is_finite() {
        return None;
    }
    if sd == 0.0 {
        let (above, below) = (f64::from(off <= 0.0), f64::from(off >= 0.0));
        return Some(Test { mean, p: f64::from(off == 0.0), p_above: above, p_below: below });
    }
    let n = values.len() as f64;
    let t = off / (sd / n.sqrt());
    let tail = |t: f64| student_tail(t, n - 1.0);
    Some(Test { mean, p: (2.0 * tail(t.abs())?).min(1.0), p_above: tail(t)?, p_below: tail(-t)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: `with(sleep, t.test(extra[group == 2], extra[group == 1], paired = TRUE))` prints t = 4.0621, p = 0.002833.
    #[test]
    fn students_sleep_data_have_the_known_probability() {
        let hours = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let found = test(&hours, 0.0).unwrap();
        assert!((found.p - 0.002_833).abs() < 5e-7, "{found:?}");
        assert!((found.p_above - 0.5 * found.p).abs() < 1e-12 && (found.p_above + found.p_below - 1.0).abs() < 1e-12);
        let mirrored = test(&hours, 2.0 * 1.58).unwrap();
        assert!((mirrored.p - found.p).abs() < 1e-9 && (mirrored.p_below - found.p_above).abs() < 1e-9);
    }

    #[test]
    fn equal_values_decide_with_certainty() {
        let found = |against| test(&[2.0; 3], against).map(|t| (t.p, t.p_above, t.p_below)).unwrap();
        assert_eq!((found(1.0), found(2.0), found(3.0)), ((0.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.0, 1.0, 0.0)));
    }

    #[test]
    fn too_little_is_not_tested() {
        for values in [&[][..], &[1.0], &[1.0, f64::NAN], &[f64::NEG_INFINITY, 1.0]] {
            assert_eq!(test(values, 0.0), None, "{values:?}");
        }
        assert_eq!((test(&[1.0, 2.0], f64::NAN), test(&[1.0, 2.0], f64::INFINITY)), (None, None));
        // A spread below what its square can hold.
        assert!(test(&[1e-200, 2e-200], 0.0).is_some());
    }
}
