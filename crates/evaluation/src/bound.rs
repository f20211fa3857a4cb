//! Bounds on numbers.

use serde::Deserialize;

/// A bound on a number; exactly one test.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// It is this or less.
    pub at_most: Option<f64>,
    /// It is this or more.
    pub at_least: Option<f64>,
    /// It lies between these.
    pub between: Option<[f64; 2]>,
    /// It is at most so many times that of a baseline.
    pub at_most_times: Option<f64>,
    /// It is at least so many times that of a baseline.
    pub at_least_times: Option<f64>,
    /// It exceeds that of a baseline by this at most.
    pub at_most_more: Option<f64>,
    /// It falls short of that of a baseline by this at most.
    pub at_least_less: Option<f64>,
    /// Its last value along `along` is at least this share of the largest one.
    pub at_least_of_largest: Option<f64>,
    /// The baseline, by its name.
    pub of: Option<String>,
    /// The axis of `at_least_of_largest`.
    pub along: Option<String>,
    /// The axis whose value is the law of the incumbents. With that law in the place of the law under test, a cell is its control: where
    /// the control breaks the bound, the cell says nothing about the law, and its number is reported.
    pub control: Option<String>,
    /// Laws that it does not bind: their number is reported.
    #[serde(default)]
    pub except: Vec<String>,
    /// The source of the bound.
    pub source: String,
}

/// The one test of a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Asked<'a> {
    AtMost(f64),
    AtLeast(f64),
    Between(f64, f64),
    /// So many times the number of a baseline.
    AtMostTimes(f64, &'a str),
    AtLeastTimes(f64, &'a str),
    /// As good as a baseline, but for a margin.
    AtMostMore(f64, &'a str),
    AtLeastLess(f64, &'a str),
    /// The share of the largest number along an axis.
    OfLargest(f64, &'a str),
}

impl Bound {
    /// Its test, or the error in it.
    pub(crate) fn asked(&self) -> Result<Asked<'_>, String> {
        let of = self.of.as_deref().unwrap_or_default();
        let along = self.along.as_deref().unwrap_or_default();
        let written = [
            self.at_most.map(Asked::AtMost),
            self.at_least.map(Asked::AtLeast),
            self.between.map(|[least, most]| Asked::Between(least, most)),
            self.at_most_times.map(|times| Asked::AtMostTimes(times, of)),
            self.at_least_times.map(|times| Asked::AtLeastTimes(times, of)),
            self.at_most_more.map(|more| Asked::AtMostMore(more, of)),
            self.at_least_less.map(|less| Asked::AtLeastLess(less, of)),
            self.at_least_of_largest.map(|share| Asked::OfLargest(share, along)),
        ];
        let mut written = written.into_iter().flatten();
        let (Some(asked), None) = (written.next(), written.next()) else {
            return Err("a bound has one test: `at_most`, `at_least`, `between`, `at_most_times`, `at_least_times`, \
                        `at_most_more`, `at_least_less` or `at_least_of_largest`"
                .into());
        };
        let (first, last, baseline, axis) = match asked {
            Asked::AtMost(number) | Asked::AtLeast(number) => (number, number, false, false),
            Asked::Between(least, most) => (least, most, false, false),
            Asked::AtMostTimes(number, _)
            | Asked::AtLeastTimes(number, _)
            | Asked::AtMostMore(number, _)
            | Asked::AtLeastLess(number, _) => (number, number, true, false),
            Asked::OfLargest(share, _) => (share, share, false, true),
        };
        if !first.is_finite() || !last.is_finite() || first > last {
            return Err("a bound is a number, and `between` has the smaller one first".into());
        }
        if self.of.is_some() != baseline {
            return Err("`of` names the baseline of a bound that compares with one".into());
        }
        if self.control.is_some() && (baseline || axis) {
            return Err("`control` is for `at_most`, `at_least` and `between`: other bounds compare already".into());
        }
        if self.along.is_some() != axis {
            return Err("`along` names the axis of `at_least_of_largest`".into());
        }
        Ok(asked)
    }

    /// Names the error in it.
    pub(crate) fn sound(&self) -> Result<(), String> {
        self.asked()?;
        if self.source.trim().is_empty() {
            return Err("needs `source`: where its bound comes from".into());
        }
        Ok(())
    }

    /// True if it binds the law of that name.
    pub(crate) fn binds(&self, law: &str) -> bool {
        self.except.iter().all(|other| other != law)
    }

    /// The bound in words, with numbers in SI units: `at most 0.01`, `at most 2 times that of newreno`.
    pub fn words(&self) -> String {
        let control = if self.control.is_some() { ", where the incumbents among themselves keep it" } else { "" };
        let test = match self.asked() {
            Ok(Asked::AtMost(most)) => format!("at most {most}"),
            Ok(Asked::AtLeast(least)) => format!("at least {least}"),
            Ok(Asked::Between(least, most)) => format!("between {least} and {most}"),
            Ok(Asked::AtMostTimes(times, of)) => format!("at most {times} times that of {of}"),
            Ok(Asked::AtLeastTimes(times, of)) => format!("at least {times} times that of {of}"),
            Ok(Asked::AtMostMore(more, of)) => format!("at most {more} more than {of}"),
            Ok(Asked::AtLeastLess(less, of)) => format!("at most {less} less than {of}"),
            Ok(Asked::OfLargest(share, along)) => format!("at least {share} of the largest along {along}"),
            Err(what) => what,
        };
        format!("{test}{control}")
    }
}
