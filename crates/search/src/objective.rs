//! Objectives: the kinds of failure, their scores, and their references.

mod measure;
pub(crate) mod role;

use indexmap::IndexMap;
use penstock_scenario::model::Scenario;
use penstock_scenario::summary::Summary;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::space::{self, Space, SpaceError, Variation};
pub(crate) use measure::{
    AFTER, CHANGED, LATE, QUIET, SECOND_HALF, bottleneck, last_change, last_start, outage, round,
};
pub use role::{Role, role};

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Capacity stays unused.
    Underuse,
    /// Of flows that are alike one gets much less.
    Starve,
    /// Flows of the law and flows of another one do not share.
    Coexist,
    /// A queue that never drains.
    Queue,
    /// The sum of the rates swings.
    Oscillate,
    /// Many packets are lost.
    Loss,
    /// The last or the first flow gets much less than its share.
    Latecomer,
    /// A flow delivers nothing for a long time.
    Stall,
    /// It takes long until the line is used again after a change.
    Recover,
    /// Flows of another law lose more than one more of their own kind would cost them.
    Harm,
    /// Short transfers take long.
    Fct,
    /// The law sends little after an outage.
    Timid,
    /// The law goes on sending in an outage.
    Unsafe,
}

/// The laws whose losses enter the score of `loss`: of controllers, and of AQMs.
const LOSES_LITTLE: [&str; 2] = ["newreno", "droptail"];

/// A measure of an objective, or why there is none.
pub type Measure = Result<f64, String>;

impl Kind {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Underuse,
        Self::Starve,
        Self::Coexist,
        Self::Queue,
        Self::Oscillate,
        Self::Loss,
        Self::Latecomer,
        Self::Stall,
        Self::Recover,
        Self::Harm,
        Self::Fct,
        Self::Timid,
        Self::Unsafe,
    ];

    /// Its name on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Underuse => "underuse",
            Self::Starve => "starve",
            Self::Coexist => "coexist",
            Self::Queue => "queue",
            Self::Oscillate => "oscillate",
            Self::Loss => "loss",
            Self::Latecomer => "latecomer",
            Self::Stall => "stall",
            Self::Recover => "recover",
            Self::Harm => "harm",
            Self::Fct => "fct",
            Self::Timid => "timid",
            Self::Unsafe => "unsafe",
        }
    }

    /// The objective of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == name)
    }

    /// Its measure, and the unit behind a number.
    pub const fn measure(self) -> (&'static str, &'static str) {
        match self {
            Self::Underuse | Self::Timid => ("share of the capacity used", ""),
            Self::Starve => ("mean rate of the others over the lowest rate", ""),
            Self::Coexist => ("rate of one kind of flows over that of the other", ""),
            Self::Queue => ("standing queue over its limit", ""),
            Self::Oscillate => ("coefficient of variation of the rate over ten round trips, or of the queue", ""),
            Self::Loss => ("share of the packets lost", ""),
            Self::Latecomer => ("fair share over the share of the first or last flow", ""),
            Self::Stall => ("longest time without a delivery", "s"),
            Self::Recover => ("round trips until 80 % of the capacity is used", ""),
            Self::Harm => ("rate of a flow of another law", "bit/s"),
            Self::Fct => ("99th percentile of the completion time", "s"),
            Self::Unsafe => ("packets sent from 15 s into an outage to its end", ""),
        }
    }

    /// True if its scores have no meaning without references.
    pub const fn is_relative(self) -> bool {
        matches!(self, Self::Loss | Self::Harm | Self::Fct)
    }

    /// True if a law fails only where a reference does well.
    pub(crate) const fn is_conditional(self) -> bool {
        !matches!(self, Self::Queue | Self::Loss | Self::Harm | Self::Fct | Self::Unsafe)
    }

    /// True if it is about the time after a start or a change, so that nothing is left out as warm-up.
    pub(crate) const fn is_transient(self) -> bool {
        matches!(self, Self::Latecomer | Self::Recover | Self::Fct | Self::Timid | Self::Unsafe)
    }

    /// True if its measure needs numbers over time, which not every world has.
    pub(crate) const fn needs_dynamics(self) -> bool {
        matches!(self, Self::Queue | Self::Oscillate | Self::Stall | Self::Recover)
    }

    /// True if a smaller measure is worse.
    pub const fn is_worse_below(self) -> bool {
        matches!(self, Self::Underuse | Self::Timid | Self::Harm)
    }

    /// True if references are flows of the incumbents' own law, instead of those under test.
    pub const fn goes_by_incumbents(self) -> bool {
        matches!(self, Self::Coexist | Self::Harm)
    }

    /// The score from which on a law has failed.
    pub const fn threshold(self) -> f64 {
        match self {
            Self::Starve | Self::Coexist | Self::Queue => 0.9,
            Self::Loss => 0.8,
            Self::Latecomer => 0.75,
            Self::Unsafe => 0.01,
            _ => 0.5,
        }
    }

    /// The measure of a run.
    ///
    /// # Errors
    /// The run has no such measure.
    pub fn measured(self, scenario: &Scenario, summary: &Summary) -> Measure {
        let found = measure::measure(self, scenario, summary).filter(|x| x.is_finite());
        found.ok_or_else(|| "the run has no number for the objective".to_owned())
    }

    /// The score of a measure beside the measures of references, by their names: from 0 to 1, which is worst. None for a relative
    /// objective without the reference that it goes by.
    pub fn score(self, measured: f64, references: &[(&str, f64)]) -> Option<f64> {
        let by = match self {
            Self::Loss => {
                let by = references.iter().find(|(name, _)| LOSES_LITTLE.contains(name));
                Some(by?.1)
            }
            Self::Harm => Some(highest(references)?),
            Self::Fct => Some(lowest(references)?),
            _ => None,
        };
        Some(self.score_by(measured, by))
    }

    /// The largest score that a measure can have, whatever the references do.
    pub fn score_at_most(self, measured: f64) -> f64 {
        self.score_by(measured, None)
    }

    /// The names of the references that a score goes by, whichever law is under test.
    pub const fn goes_by(self) -> &'static [&'static str] {
        if matches!(self, Self::Loss) { &LOSES_LITTLE } else { &[] }
    }

    /// The score of a measure by that of the reference that enters it.
    fn score_by(self, measured: f64, by: Option<f64>) -> f64 {
        let score = match self {
            Self::Underuse | Self::Timid => 1.0 - measured,
            Self::Starve | Self::Coexist | Self::Latecomer => 1.0 - 1.0 / measured.max(1.0),
            Self::Queue => measured,
            Self::Oscillate => measured / (1.0 + measured),
            // What the reference loses counts twice.
            Self::Loss => measured / (measured + 2.0 * by.unwrap_or(0.0) + 1e-3),
            Self::Stall => measured / 10.0,
            Self::Recover => measured / 100.0,
            Self::Harm => by.map_or(1.0, |reference| 1.0 - measured / reference.max(1.0)),
            Self::Fct => by.map_or(1.0, |reference| libm::log2(measured / reference.max(1e-9)) / 4.0),
            // Two packets are what a sender may send whose timeout doubles.
            Self::Unsafe => 1.0 - 2.0 / measured.max(2.0),
        };
        score.clamp(0.0, 1.0)
    }

    /// The shortfall of the references from a better use of the path; none if they show that the path would allow it, or if the objective
    /// does not ask for that. Without a number of any reference it is infinite: nothing shows what the path allows.
    pub fn shortfall(self, references: &[(&str, f64)]) -> Option<f64> {
        if !self.is_conditional() {
            return None;
        }
        let (Some(lowest), Some(highest)) = (lowest(references), highest(references)) else {
            return Some(f64::INFINITY);
        };
        let short = match self {
            Self::Underuse | Self::Timid => 0.8 - highest,
            Self::Starve | Self::Coexist => lowest / 3.0 - 1.0,
            Self::Latecomer => lowest / 2.0 - 1.0,
            Self::Stall => lowest - 1.0,
            Self::Recover => lowest / 25.0 - 1.0,
            Self::Oscillate => lowest / 0.5 - 1.0,
            // Not conditional.
            Self::Queue | Self::Loss | Self::Harm | Self::Fct | Self::Unsafe => 0.0,
        };
        (short > 0.0).then_some(short)
    }

    /// The number that a search maximises: the score, if the path would allow better, and otherwise less the further it is from that.
    /// Without a score it is 0: what nothing is compared with is no failure.
    pub fn fitness(self, measured: f64, references: &[(&str, f64)], threshold: f64) -> f64 {
        let Some(score) = self.score(measured, references) else { return 0.0 };
        match self.shortfall(references) {
            Some(short) if score >= threshold => threshold * (0.5 + 0.5 / (1.0 + short)),
            _ => score,
        }
    }
}

/// The smallest measure of references.
fn lowest(references: &[(&str, f64)]) -> Option<f64> {
    references.iter().map(|(_, measured)| *measured).min_by(f64::total_cmp)
}

/// The largest.
fn highest(references: &[(&str, f64)]) -> Option<f64> {
    references.iter().map(|(_, measured)| *measured).max_by(f64::total_cmp)
}

/// An objective as data: its additions to a space.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objective {
    format: u64,
    /// The kind of failure.
    pub objective: Kind,
    /// One line for people.
    pub title: String,
    /// The failure in a sentence for the page.
    pub about: String,
    #[serde(default)]
    scenario: Table,
    #[serde(default)]
    genes: IndexMap<String, Variation>,
    #[serde(default)]
    corpus: Vec<Table>,
}

impl Objective {
    /// Reads an objective; `file` is its name in messages.
    ///
    /// # Errors
    /// Names the error, and its line.
    pub fn parse(text: &str, file: &str) -> Result<Self, SpaceError> {
        let objective: Self = space::read(text, file)?;
        if objective.format != 1 {
            return Err(SpaceError(format!("{file}: format is {}; this version reads 1", objective.format)));
        }
        Ok(objective)
    }

    /// Adds the needs of the objective to a space.
    ///
    /// # Errors
    /// Names the part that does not fit.
    pub fn prepare(&self, space: &mut Space) -> Result<(), SpaceError> {
        let added = space.extend(&self.scenario, &self.genes, &self.corpus);
        added.map_err(|what| SpaceError(format!("objective {}: {what}", self.objective.word())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_command_line() {
        for kind in Kind::ALL {
            assert_eq!(Kind::named(kind.word()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
        }
        assert_eq!(Kind::named("none"), None);
    }

    #[test]
    fn scores_are_those_of_their_definitions() {
        let score = |kind: Kind, measured: f64, references: &[(&str, f64)]| kind.score(measured, references).unwrap();
        assert!((score(Kind::Starve, 10.0, &[]) - 0.9).abs() < 1e-12);
        assert!((score(Kind::Underuse, 0.3, &[]) - 0.7).abs() < 1e-12);
        assert!((score(Kind::Fct, 4.0, &[("newreno", 2.0), ("cubic", 1.0)]) - 0.5).abs() < 1e-12);
        assert!((score(Kind::Harm, 2e6, &[("cubic", 4e6)]) - 0.5).abs() < 1e-12);
        assert!((score(Kind::Oscillate, 1.0, &[]) - 0.5).abs() < 1e-12);
        let of = [(Kind::Queue, 3.0), (Kind::Stall, 20.0), (Kind::Unsafe, 2.0)].map(|(kind, m)| score(kind, m, &[]));
        assert_eq!(of, [1.0, 1.0, 0.0]);
    }

    /// The losses of NewReno enter, or of drop-tail, wherever they stand.
    #[test]
    fn the_score_of_loss_goes_by_the_law_of_that_name() {
        for name in ["newreno", "droptail"] {
            let score = Kind::Loss.score(0.1, &[("cubic", 0.3), (name, 0.02), ("copa", 0.0)]).unwrap();
            assert!((score - 0.1 / 0.141).abs() < 1e-12, "{name}: {score}");
        }
    }

    /// Where no reference has a number there is nothing to compare with, and so no failure.
    #[test]
    fn without_a_number_of_a_reference_nothing_has_failed() {
        let worst = |kind: Kind| if kind.is_worse_below() { 0.0 } else { 1e9 };
        for kind in Kind::ALL {
            let fitness = kind.fitness(worst(kind), &[], kind.threshold());
            assert_eq!(fitness >= kind.threshold(), matches!(kind, Kind::Queue | Kind::Unsafe), "{kind:?}: {fitness}");
            assert_eq!(kind.score(worst(kind), &[]).is_none(), kind.is_relative(), "{kind:?}");
            assert!(kind.score_at_most(worst(kind)) >= kind.threshold(), "{kind:?}");
        }
        assert_eq!(Kind::Loss.score(0.5, &[("cubic", 0.0)]), None);
    }

    /// A path on which no reference does well is no failure of the law.
    #[test]
    fn what_references_fail_too_counts_less_than_a_failure() {
        let (kind, threshold) = (Kind::Underuse, Kind::Underuse.threshold());
        let fitness = |references: &[f64]| {
            kind.fitness(0.1, &references.iter().map(|m| ("cubic", *m)).collect::<Vec<_>>(), threshold)
        };
        assert_eq!(Some(fitness(&[0.9, 0.2])), kind.score(0.1, &[]));
        let (near, far, nothing) = (fitness(&[0.7]), fitness(&[0.1]), fitness(&[]));
        assert!(nothing < far && far < near && near < threshold, "{nothing} {far} {near}");
        assert_eq!(Kind::Starve.shortfall(&[("newreno", 5.0), ("cubic", 2.0)]), None);
        assert!(Kind::Starve.shortfall(&[("newreno", 5.0), ("cubic", 4.0)]).is_some());
    }
}
