//! The test that a law is no worse than a baseline: two one-sided tests.

use serde::Serialize;

use super::ALPHA;
use super::test::test;

/// Two one-sided tests of a mean difference against a margin on either side; probabilities from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Equivalence {
    /// The margin, in the unit of the differences.
    pub margin: f64,
    /// The probability of the differences if the true mean were -margin or less.
    pub p_below: f64,
    /// The probability of the differences if the true mean were margin or more.
    pub p_above: f64,
}

impl Equivalence {
    /// True if the true mean lies within the margin on both sides, at 5 %.
    ///
    /// `false` means only that the runs do not show it: a difference within the margin may still be there.
    pub fn equivalent(&self) -> bool {
        self.not_less() && self.not_more()
    }

    /// True if the true mean is above -margin, at 5 %: not worse, if more is better.
    pub fn not_less(&self) -> bool {
        self.p_below <= ALPHA
    }

    /// True if the true mean is below the margin, at 5 %: not worse, if less is better.
    pub fn not_more(&self) -> bool {
        self.p_above <= ALPHA
    }
}

/// Tests whether the mean of `differences` lies within `margin`, above zero, on both sides.
///
/// The margin of log-ratios is a logarithm too: `ln 1.05` for 5 %. It has to be fixed before the runs.
/// Source: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987).
///
/// None for fewer than two differences, for one that is not finite, and for another margin.
pub fn equivalence(differences: &[f64], margin: f64) -> Option<Equivalence> {
    if !margin.is_finite() || margin <= 0.0 {
        return None;
    }
    let p_below = test(differences, -margin)?.p_above;
    let p_above = test(differences, margin)?.p_below;
    Some(Equivalence { margin, p_below, p_above })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::interval;

    /// Two one-sided tests at 5 % agree with a 90 % interval inside the margin (Schuirmann 1987).
    #[test]
    fn the_tests_agree_with_the_ninety_percent_interval() {
        let differences = [0.02, -0.01, 0.03, 0.04, -0.02, 0.01];
        let inside = interval(&differences, 0.90).unwrap();
        for (margin, equivalent) in [(inside.high + 1e-6, true), (inside.high - 1e-6, false)] {
            let found = equivalence(&differences, margin).unwrap();
            assert_eq!(found.equivalent(), equivalent, "{found:?} {inside:?}");
        }
        let at_end = equivalence(&differences, inside.high).unwrap();
        assert!((at_end.p_above - 0.05).abs() < 1e-9, "{at_end:?}");
    }

    #[test]
    fn more_may_be_better() {
        let found = equivalence(&[1.0, 1.1, 0.9, 1.05], 0.1).unwrap();
        assert!(found.not_less() && !found.not_more() && !found.equivalent());
        let found = equivalence(&[-1.0, -1.1, -0.9], 0.1).unwrap();
        assert!(!found.not_less() && found.not_more());
    }

    /// A wide scatter shows neither a difference nor its absence.
    #[test]
    fn a_wide_interval_is_not_equivalence() {
        let found = equivalence(&[-5.0, 5.0, 4.0, -4.0], 0.1).unwrap();
        assert!(!found.not_less() && !found.not_more());
    }

    #[test]
    fn equal_differences_are_certain() {
        assert!(equivalence(&[0.0; 3], 0.1).unwrap().equivalent());
        assert!(!equivalence(&[0.1; 3], 0.1).unwrap().equivalent());
        assert_eq!(equivalence(&[0.0], 0.1), None);
        for margin in [0.0, -0.1, f64::NAN, f64::INFINITY] {
            assert_eq!(equivalence(&[0.0; 3], margin), None);
        }
    }
}
