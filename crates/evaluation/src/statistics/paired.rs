//! Comparisons seed by seed.

use serde::Serialize;

use super::test::test;

/// The differences `a` - `b` of runs with the same seed; none where their numbers differ, and for one that is not finite.
pub fn differences(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    paired(a, b, |a, b| a - b)
}

/// The natural logarithms of the ratios `a` / `b` of runs with the same seed.
///
/// The interval of their mean, with [`super::Interval::exp`], is that of the ratio. None where the numbers of values
/// differ, and for a value that is not finite or not above zero.
pub fn log_ratios(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    paired(a, b, |a, b| libm::log(a) - libm::log(b))
}

fn paired(a: &[f64], b: &[f64], of: impl Fn(f64, f64) -> f64) -> Option<Vec<f64>> {
    if a.len() != b.len() {
        return None;
    }
    a.iter().zip(b).map(|(a, b)| Some(of(*a, *b)).filter(|x| x.is_finite())).collect()
}

/// The agreement of the first and the second half of the measured part of the runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stationarity {
    /// The probability of halves so far apart, if both had the same mean.
    pub p: f64,
    /// True if the test at 1 % does not refuse that.
    pub stationary: bool,
}

/// Tests the halves of runs, one number of each run in either list, by Student's paired test at 1 %.
///
/// Source: the rule of draft-irtf-iccrg-tcpeval-01 for the length of a warm-up. None where the numbers of values differ,
/// for fewer than two, and for one that is not finite.
pub fn stationary(first_halves: &[f64], second_halves: &[f64]) -> Option<Stationarity> {
    let p = test(&differences(first_halves, second_halves)?, 0.0)?.p;
    Some(Stationarity { p, stationary: p >= 0.01 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::interval;

    #[test]
    fn pairs_are_those_of_one_seed() {
        assert_eq!(differences(&[3.0, 5.0], &[1.0, 7.0]), Some(vec![2.0, -2.0]));
        assert_eq!(differences(&[], &[]), Some(vec![]));
        // 2, 8 and 4 times as much: the geometric mean is 4.
        let logs = log_ratios(&[2.0, 8.0, 4.0], &[1.0; 3]).unwrap();
        assert!((interval(&logs, 0.95).unwrap().exp().estimate - 4.0).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_partner_is_not_compared() {
        assert_eq!(differences(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(differences(&[1.0], &[f64::NAN]), None);
        assert_eq!(differences(&[f64::MAX], &[f64::MIN]), None);
        for (a, b) in [(0.0, 1.0), (1.0, 0.0), (-1.0, -1.0), (f64::NAN, 1.0), (f64::INFINITY, 1.0)] {
            assert_eq!(log_ratios(&[a], &[b]), None, "{a} {b}");
        }
        assert_eq!(log_ratios(&[1.0, 2.0], &[1.0]), None);
    }

    /// Three seeds: differences 1, 2, 3 have t = 2 / (1 / sqrt 3) = 3.464 on two degrees of freedom, p = 0.0742 by the
    /// closed form 1 - t / sqrt(2 + t^2).
    #[test]
    fn halves_that_differ_by_chance_are_stationary() {
        let found = stationary(&[2.0, 4.0, 6.0], &[1.0, 2.0, 3.0]).unwrap();
        assert!((found.p - 0.074_180).abs() < 1e-6 && found.stationary, "{found:?}");
    }

    /// The test is at 1 %: differences 10, 11, 12 have t = 19.05, p = 0.00274.
    #[test]
    fn halves_that_differ_for_sure_are_not() {
        let found = stationary(&[11.0, 13.0, 15.0], &[1.0, 2.0, 3.0]).unwrap();
        assert!((found.p - 0.002_743).abs() < 1e-5 && !found.stationary, "{found:?}");
        // Between 1 % and 5 %: differences 4, 5, 6, t = 8.66, p = 0.01307.
        let found = stationary(&[5.0, 7.0, 9.0], &[1.0, 2.0, 3.0]).unwrap();
        assert!((0.01..0.05).contains(&found.p) && found.stationary, "{found:?}");
        assert_eq!(stationary(&[1.0], &[1.0]), None);
    }
}
