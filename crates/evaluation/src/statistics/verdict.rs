//! The verdict on a number and its bound.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::interval::Interval;

/// The verdict on a criterion, or on one number of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval is within the bound.
    Meets,
    /// The whole interval is outside of it.
    Fails,
    /// The interval has parts on both sides, or there is none.
    Undecided,
    /// There is a number and no bound.
    Reported,
    /// Penstock does not measure it.
    NotEvaluated,
    /// It is not about this law.
    NotApplicable,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Meets => "meets",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
            Self::Reported => "reported",
            Self::NotEvaluated => "not-evaluated",
            Self::NotApplicable => "not-applicable",
        })
    }
}

/// The limit of a number; an equal number keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// It is this or more.
    AtLeast(f64),
    /// It is this or less.
    AtMost(f64),
    /// It lies between these, the smaller one first.
    Between(f64, f64),
}

/// The verdict on a number with an interval: `meets` or `fails` if the whole interval does, else `undecided`.
///
/// Without an interval, and with a limit or an interval that is not of numbers in order, it is `undecided`.
pub fn decide(interval: Option<&Interval>, limit: Limit) -> Verdict {
    let Some(&Interval { low, high, .. }) = interval else { return Verdict::Undecided };
    let (least, most) = match limit {
        Limit::AtLeast(least) => (least, f64::INFINITY),
        Limit::AtMost(most) => (f64::NEG_INFINITY, most),
        Limit::Between(least, most) => (least, most),
    };
    let in_order = |a: f64, b: f64| a <= b;
    if !in_order(low, high) || !in_order(least, most) {
        Verdict::Undecided
    } else if least <= low && high <= most {
        Verdict::Meets
    } else if high < least || most < low {
        Verdict::Fails
    } else {
        Verdict::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(low: f64, high: f64) -> Interval {
        Interval { estimate: 0.5 * (low + high), low, high, n: 10, level: 0.95 }
    }

    #[test]
    fn the_whole_interval_decides() {
        use Verdict::{Fails, Meets, Undecided};
        for (low, high, at_most_2, at_least_2, within) in [
            (0.0, 1.0, Meets, Fails, Undecided),
            (1.0, 2.0, Meets, Undecided, Meets),
            (1.5, 2.5, Undecided, Undecided, Meets),
            (2.0, 2.0, Meets, Meets, Meets),
            (2.0, 3.5, Undecided, Meets, Undecided),
            (3.5, 4.0, Fails, Meets, Fails),
            (-1.0, 0.5, Meets, Fails, Fails),
            (-1.0, 9.0, Undecided, Undecided, Undecided),
        ] {
            let interval = between(low, high);
            let found =
                [Limit::AtMost(2.0), Limit::AtLeast(2.0), Limit::Between(1.0, 3.0)].map(|l| decide(Some(&interval), l));
            assert_eq!(found, [at_most_2, at_least_2, within], "{low} {high}");
        }
    }

    #[test]
    fn what_is_no_number_is_undecided() {
        assert_eq!(decide(None, Limit::AtMost(1.0)), Verdict::Undecided);
        let good = between(0.0, 1.0);
        for limit in [Limit::AtMost(f64::NAN), Limit::AtLeast(f64::NAN), Limit::Between(3.0, 2.0)] {
            assert_eq!(decide(Some(&good), limit), Verdict::Undecided, "{limit:?}");
        }
        for bad in [between(f64::NAN, 1.0), between(2.0, 1.0)] {
            assert_eq!(decide(Some(&bad), Limit::AtMost(5.0)), Verdict::Undecided);
        }
    }

    #[test]
    fn words_are_those_of_the_page() {
        use Verdict::{Fails, Meets, NotApplicable, NotEvaluated, Reported, Undecided};
        let words: Vec<String> = [Meets, Fails, Undecided, Reported, NotEvaluated, NotApplicable]
            .iter()
            .map(|verdict| {
                let word = serde_json::to_value(verdict).unwrap();
                assert_eq!(word, verdict.to_string(), "file and page");
                assert_eq!(serde_json::from_value::<Verdict>(word).unwrap(), *verdict);
                verdict.to_string()
            })
            .collect();
        assert_eq!(words.join(" "), "meets fails undecided reported not-evaluated not-applicable");
        assert_eq!(format!("{Meets:>10}|"), "     meets|");
    }
}
