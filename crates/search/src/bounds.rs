//! The bounds beside a scenario: the numbers that its runs shall show, for a replay.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::hint::Hint;
use crate::objective::Kind;
use crate::space::{SpaceError, read};

/// The default number of seeds of a replay.
const SEEDS: usize = 5;
/// The largest: each seed is a run for each law.
const MOST_SEEDS: usize = 1000;
/// By how much the worst of the fresh seeds is loosened to become a bound.
const LOOSENED: f64 = 0.1;

/// The bounds of a scenario: of an objective, or of numbers of its summary, or both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The version of the format: 1.
    pub format: u64,
    /// A name, such as that of a known result.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The law that fails.
    pub law: String,
    /// The failure, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The source of an expected number.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// True if its runs take long, so that it is replayed only by request.
    #[serde(default, skip_serializing_if = "is_false")]
    pub long: bool,
    /// The world in which it runs, where it is not `packets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
    /// The objective that the law fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Kind>,
    /// The score from which on the law has failed, where it is not the objective's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// The number of seeds, from 1 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<usize>,
    /// The hints at the mechanism when it was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
    /// The median of the measure of the objective over the seeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<Band>,
    /// The medians of references, by their names.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub references: IndexMap<String, Band>,
    /// Numbers of the summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound: Vec<Bound>,
}

/// A number then, and its bounds now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// The number when the bounds were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is: Option<f64>,
    /// The least that it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The most that it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// A number of the summary, and its bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// Labels of the cells that it is about; all without any.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub cell: IndexMap<String, String>,
    /// The path of the number, as in `links.bottleneck.utilization`.
    pub path: String,
    /// The number that counts of several cells: each, or their mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Of>,
    /// The world that it is about, where it is not `packets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
    /// Another number that divides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The value by a formula or a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// The least that it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The most that it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The number when the bounds were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// True if it kept the bound then.
    #[serde(default = "yes")]
    pub holds: bool,
    /// The reason why it did not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// The number that counts of several cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// Their mean; of a ratio the ratio of the means.
    Mean,
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl Bounds {
    /// Reads bounds; `file` is its name in messages.
    ///
    /// # Errors
    /// Names the error, and its line.
    pub fn parse(text: &str, file: &str) -> Result<Self, SpaceError> {
        let bounds: Self = read(text, file)?;
        let wrong = |what: &str| Err(SpaceError(format!("{file}: {what}")));
        if bounds.format != 1 {
            return Err(SpaceError(format!("{file}: format is {}; this version reads 1", bounds.format)));
        }
        if bounds.objective.is_some() != bounds.measure.is_some() {
            return wrong("`objective` and `[measure]` go together");
        }
        if bounds.bound.is_empty() && bounds.measure.is_none() {
            return wrong("there is no bound; write `[[bound]]`, or `objective` and `[measure]`");
        }
        if let Some(seeds) = bounds.seeds.filter(|seeds| !(1..=MOST_SEEDS).contains(seeds)) {
            return wrong(&format!("seeds is {seeds}; write a number from 1 to {MOST_SEEDS}"));
        }
        if let Some(threshold) = bounds.threshold.filter(|threshold| !(0.0..=1.0).contains(threshold)) {
            return wrong(&format!("threshold is {threshold}; write a score from 0 to 1"));
        }
        let open = |limits: Band| limits.at_least.is_none() && limits.at_most.is_none();
        if bounds.measure.is_some_and(open) || bounds.bound.iter().any(|bound| open(bound.limits())) {
            return wrong("a bound needs `at_least`, `at_most` or both");
        }
        Ok(bounds)
    }

    /// The bounds of a failure: the results of its fresh seeds, loosened by a tenth, and of the references the number that makes the path
    /// no excuse.
    pub fn of(failure: &Failure, law: &str) -> Self {
        let (confirmed, kind) = (&failure.confirmed, failure.kind);
        let [least, most] = confirmed.range;
        let measure = if kind.is_worse_below() {
            Band { is: Some(short(confirmed.measured)), at_most: Some(short(most * (1.0 + LOOSENED))), at_least: None }
        } else {
            Band { is: Some(short(confirmed.measured)), at_least: Some(short(least * (1.0 - LOOSENED))), at_most: None }
        };
        let reference = |median: f64| {
            // Half-way, by ratio, between what the law and the reference have.
            let between = short(libm::sqrt(median.max(1e-12) * confirmed.measured.max(1e-12)));
            if kind.is_worse_below() {
                Band { is: Some(short(median)), at_least: Some(between), at_most: None }
            } else {
                Band { is: Some(short(median)), at_most: Some(between), at_least: None }
            }
        };
        // References that have the failure too bound nothing.
        let better =
            |median: f64| if kind.is_worse_below() { median > confirmed.measured } else { median < confirmed.measured };
        let references = failure.references.iter().zip(&confirmed.references).filter(|(_, median)| better(**median));
        Self {
            format: 1,
            id: String::new(),
            law: law.to_owned(),
            about: String::new(),
            source: String::new(),
            long: false,
            world: None,
            objective: Some(kind),
            threshold: None,
            seeds: Some(SEEDS),
            hints: failure.hints.clone(),
            measure: Some(measure),
            references: references.map(|(name, median)| (name.clone(), reference(*median))).collect(),
            bound: Vec::new(),
        }
    }

    /// The text of the file.
    ///
    /// # Errors
    /// Names the value that TOML cannot write.
    pub fn text(&self) -> Result<String, String> {
        toml::to_string(self).map_err(|e| e.to_string())
    }

    /// The number of seeds that a replay of its objective runs.
    pub fn seeds(&self) -> usize {
        self.seeds.unwrap_or(SEEDS)
    }
}

impl Bound {
    /// Its limits.
    pub const fn limits(&self) -> Band {
        Band { is: self.measured, at_least: self.at_least, at_most: self.at_most }
    }
}

impl Band {
    /// True if a number is within.
    pub fn keeps(&self, number: f64) -> bool {
        self.at_least.is_none_or(|least| number >= least) && self.at_most.is_none_or(|most| number <= most)
    }

    /// The number that is farthest beyond the limits, or else nearest to them.
    pub fn worst(&self, numbers: &[f64]) -> Option<f64> {
        let margin = |number: f64| {
            let above = self.at_least.map_or(f64::INFINITY, |least| number - least);
            above.min(self.at_most.map_or(f64::INFINITY, |most| most - number))
        };
        numbers.iter().copied().min_by(|a, b| margin(*a).total_cmp(&margin(*b)))
    }

    /// The limits in words.
    pub fn words(&self) -> String {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => format!("from {least} to {most}"),
            (Some(least), None) => format!("at least {least}"),
            (None, Some(most)) => format!("at most {most}"),
            (None, None) => "anything".to_owned(),
        }
    }
}

/// Three significant digits.
fn short(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_and_written() {
        let text = "format = 1\nlaw = \"fast\"\nobjective = \"starve\"\nseeds = 5\nhints = [\"jitter-read-as-queue\"]\n\n\
                    [measure]\nis = 3.3\nat_least = 2.5\n\n[references.cubic]\nat_most = 2.0\n";
        let bounds = Bounds::parse(text, "x.toml").unwrap();
        assert_eq!(bounds.text().unwrap(), text);
        let measure = bounds.measure.unwrap();
        assert!(measure.keeps(2.5) && !measure.keeps(2.4) && measure.words() == "at least 2.5");
    }

    #[test]
    fn what_bounds_nothing_is_refused() {
        let refused = |text: &str| Bounds::parse(&format!("law = \"fast\"\n{text}"), "x.toml").unwrap_err().to_string();
        assert!(refused("format = 2").contains("reads 1"));
        assert!(refused("format = 1").contains("there is no bound"));
        assert!(refused("format = 1\nobjective = \"starve\"").contains("go together"));
        assert!(refused("format = 1\n[[bound]]\npath = \"x\"").contains("at_least"));
        assert!(refused("format = 1\nobjective = \"none\"").contains("x.toml:3"));
        let with =
            |line: &str| refused(&format!("format = 1\nobjective = \"starve\"\n{line}\n[measure]\nat_least = 1.0"));
        assert!(with("seeds = 300000000").contains("from 1 to 1000") && with("seeds = 0").contains("seeds is 0"));
        assert!(with("threshold = 1.5").contains("threshold is 1.5"));
    }
}
