//! The results of an evaluation: the content of `evaluation.json`.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::criterion::{Battery, Scale, Worst};
use crate::extent::{Extent, Scope};
use crate::statistics::Verdict;

/// An evaluation of one law.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Version of the file format: 1.
    pub format: u32,
    /// The law.
    pub law: String,
    /// The law with its parameters, as a scenario has it.
    pub setting: String,
    /// The source of the law: a paper or an RFC.
    pub source: String,
    /// Those that it is compared with, in the same cells and with the same seeds.
    pub baselines: Vec<String>,
    /// The amount of runs.
    pub extent: Extent,
    /// The number of seeds that each cell has at first, and the numbers for cells that are then undecided. They count from 1.
    #[serde(default)]
    pub seeds: Vec<usize>,
    /// The world of the runs.
    pub world: String,
    /// The number of runs, those of baselines included.
    pub runs: usize,
    /// The number of cells that are analysed and not run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub analyses: usize,
    /// The version of Penstock.
    #[serde(default)]
    pub version: String,
    /// The code that computed them, as in `record.toml`.
    pub code: String,
    /// Every criterion of the battery, in order.
    pub criteria: Vec<Outcome>,
    /// Runs of the Linux world beside these, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
}

/// Numbers of a second world beside those of the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// The second world.
    pub world: String,
    /// The number of its runs.
    pub runs: usize,
    /// The runs outside the error bounds of their path, a sentence each: their numbers are less certain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<String>,
    /// A row for each measure, cell and law that both worlds have.
    pub rows: Vec<BesideRow>,
    /// The parts that were not run or not measured in the second world, with the reasons.
    pub not_run: Vec<NotRun>,
}

/// A measure of a law in a cell, in two worlds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BesideRow {
    /// The criterion.
    pub id: String,
    /// The name of the measure.
    pub measure: String,
    /// The title of the measure.
    pub title: String,
    /// Its unit.
    pub unit: String,
    /// The cell, without law and seed.
    pub labels: Vec<(String, String)>,
    /// The law.
    pub law: String,
    /// In the first world, over the seeds that both have.
    pub first: Numbers,
    /// In the second.
    pub second: Numbers,
    /// The difference of the second from the first, as a share of the first; absent where that is zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// The ends of its 95 % confidence interval over the seeds; absent where a number is not above zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
}

/// A part that a world did not run or measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRun {
    /// The criterion.
    pub id: String,
    /// The names of the measures; empty for all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<String>,
    /// The reason.
    pub why: String,
}

/// A part of a criterion that did not run, although others did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartNotRun {
    /// Its name.
    pub part: String,
    /// The reason, without places in files.
    pub why: String,
}

/// The result of one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its name, such as `EV-04`.
    pub id: String,
    /// A few words.
    pub title: String,
    /// The battery it belongs to.
    pub battery: Battery,
    /// The document.
    pub document: String,
    /// The section of the document.
    pub section: String,
    /// The document's word for its weight.
    pub level: String,
    /// The requirement of the document. Older outcomes have it as `asks`.
    #[serde(alias = "asks")]
    pub requirement: String,
    /// Known results, and the parts that the runs leave out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason why it was not evaluated, or is not applicable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Files of `evaluation/scenarios` that were run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<String>,
    /// Its numbers, the main one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<Measured>,
    /// The parts without runs of the law under test; empty if none ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<PartNotRun>,
    /// The figure: an axis, and the name of a measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<(String, String)>,
    /// The heat maps: the axes of their columns and rows, and the names of measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat_maps: Option<(String, String, Vec<String>)>,
}

/// A number of a criterion, in every cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The part of the criterion that it belongs to; empty where there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// The scenario of its cells: a file of `evaluation/scenarios`, without `.toml`.
    #[serde(default)]
    pub scenario: String,
    /// Its unit; empty for plain numbers.
    pub unit: String,
    /// The scale of its mean: of ratios the geometric one.
    #[serde(default)]
    pub scale: Scale,
    /// The bound in words; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// The document of the bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Why runs lack it; absent where none does, or the criterion gives no reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// The verdict over all cells.
    pub verdict: Verdict,
    /// Which cell is the worst.
    pub worst: Worst,
    /// The worst of the cells that decide the verdict, by its index in `cells`.
    pub worst_cell: usize,
    /// Every cell.
    pub cells: Vec<CellOutcome>,
}

/// A number in one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellOutcome {
    /// The axes of the sweep and the cell's values on them, without law and seed.
    pub labels: Vec<(String, String)>,
    /// Of the law under test.
    pub law: Numbers,
    /// Of each baseline.
    pub baselines: IndexMap<String, Numbers>,
    /// The law against each baseline, seed by seed.
    pub against: IndexMap<String, Against>,
    /// The verdict of this cell.
    pub verdict: Verdict,
    /// The probability of such a distance from the bound if the mean were on it, by a one-sided t test, or by the sign test of the
    /// median; absent where the bound is not missed, or the number is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// True if this cell fails, and still does after Holm's correction over the cells of the criterion.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub survives: bool,
    /// The identity of the law's run with the first seed, as in its record; absent where nothing ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The number of seeds that would decide an undecided cell, if the mean and the variance stayed as they are; absent if the
    /// mean is on the bound, or some runs lack the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<u64>,
    /// The number of runs of the law that lack the number, as a queue that never settles has no time of settling. The other
    /// numbers are of the runs that have it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub absent: usize,
    /// The number of runs of the law with an infinite number: a share beside something that has nothing. The mean and the seeds are
    /// of the runs where it is finite.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlimited: usize,
    /// True if the incumbents among themselves break the bound in this cell, so that it does not judge the law.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control_breaks: bool,
    /// True if the measured span is not stationary: its halves differ by a paired test over the seeds at 1 %. If the seeds cannot
    /// decide, it is the finding `warmup-short` of some seed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drifts: bool,
}

fn number_or_null<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A number over seeds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Numbers {
    /// The mean, on a scale of ratios the geometric one if all are above zero; not a number, and null in JSON, where no run has a
    /// finite one.
    #[serde(deserialize_with = "number_or_null")]
    pub mean: f64,
    /// The ends of its 95 % confidence interval (Student); absent with one seed, where all seeds agree, and
    /// where one is infinite, or zero on a scale of ratios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The ends of its 95 % interval by the bootstrap: with fewer than ten seeds, of quantiles, of the largest rate over the smallest,
    /// and where the seeds fall into two groups. Absent where all seeds agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<(f64, f64)>,
    /// Each seed's number, in the order of the seeds.
    pub seeds: Vec<f64>,
    /// The seed of each of these numbers.
    #[serde(default)]
    pub seed_numbers: Vec<u64>,
    /// True if the seeds fall into two groups, so that the mean describes neither.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bimodal: bool,
}

/// The law against a baseline, over the seeds that both have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// The scale of their comparison; of ratios the mean is the geometric one.
    pub scale: Scale,
    /// The mean.
    pub mean: f64,
    /// The ends of its 95 % confidence interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The ends of its 95 % interval by the bootstrap: with fewer than ten seeds, of quantiles, and of the largest rate over the
    /// smallest. Absent where all seeds agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<(f64, f64)>,
    /// True if it lies within 5 % of the baseline, by two one-sided tests at 5 %.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub equivalent: bool,
}

impl Evaluation {
    /// Which cells ran, and how often.
    pub fn scope(&self) -> Scope {
        Scope { extent: self.extent, linux: self.world == "linux" }
    }

    /// The number of criteria with each verdict: `2 meets, 8 fails`.
    pub(crate) fn counted(&self) -> String {
        let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
        for outcome in &self.criteria {
            *counts.entry(outcome.verdict).or_default() += 1;
        }
        counts.iter().map(|(verdict, n)| format!("{n} {verdict}")).collect::<Vec<_>>().join(", ")
    }

    /// The criteria that a document makes a MUST and whose bound the law does not keep.
    pub fn failed_musts(&self) -> impl Iterator<Item = &Outcome> {
        self.criteria.iter().filter(|outcome| outcome.verdict == Verdict::Fails && outcome.level.contains("MUST"))
    }
}

/// The verdicts of an evaluation and its main numbers, for the record and for later comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Version of the file format: 1.
    pub format: u32,
    /// The law with its parameters, as a scenario has it.
    pub setting: String,
    /// The amount of runs.
    pub extent: Extent,
    /// The world of the runs.
    pub world: String,
    /// Each criterion by its id.
    pub criteria: IndexMap<String, RecordedOutcome>,
}

/// A criterion on record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedOutcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The first measure with that verdict, its unit in brackets where it has one; absent where nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// The cell where it is worst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// Its mean there: of the law under its name, and of each baseline.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub means: IndexMap<String, f64>,
    /// The number of runs of the law there that lack the number.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub absent: usize,
    /// The number of runs of the law there with an infinite number.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlimited: usize,
}

impl Evaluation {
    /// The verdicts for the record.
    pub fn recorded(&self) -> Recorded {
        let criterion = |outcome: &Outcome| {
            let (main, worst) = outcome.headline().unzip();
            let mut means: IndexMap<String, f64> = IndexMap::new();
            if let Some(cell) = worst {
                means.insert(self.law.clone(), cell.law.mean);
                means.extend(cell.baselines.iter().map(|(name, numbers)| (name.clone(), numbers.mean)));
            }
            let named = |measured: &Measured| match measured.unit.as_str() {
                "" => measured.title.clone(),
                unit => format!("{} [{unit}]", measured.title),
            };
            means.retain(|_, mean| mean.is_finite());
            let measure = main.map(named);
            let cell = worst.map(CellOutcome::words);
            let (absent, unlimited) = worst.map_or((0, 0), |cell| (cell.absent, cell.unlimited));
            let verdict = outcome.verdict;
            (outcome.id.clone(), RecordedOutcome { verdict, measure, cell, means, absent, unlimited })
        };
        Recorded {
            format: 1,
            setting: self.setting.clone(),
            extent: self.extent,
            world: self.world.clone(),
            criteria: self.criteria.iter().map(criterion).collect(),
        }
    }
}

impl Recorded {
    /// The verdicts of `now` that differ from these or are not among these, a sentence each. Criteria of these that `now` lacks are left
    /// out.
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let differs = |(id, now): (&String, &RecordedOutcome)| {
            let measure = now.measure.as_ref().map(|measure| format!(" ({measure})")).unwrap_or_default();
            match self.criteria.get(id) {
                None => Some(format!("{id}{measure}: the verdict is `{}`, and none is on record", now.verdict)),
                Some(before) if before.verdict != now.verdict => Some(format!(
                    "{id}{measure}: the verdict is `{}`, but `{}` is on record",
                    now.verdict, before.verdict
                )),
                Some(_) => None,
            }
        };
        now.criteria.iter().filter_map(differs).collect()
    }
}

impl Outcome {
    /// The number that decides: the first measure that has the verdict of the criterion, and its worst cell.
    pub fn headline(&self) -> Option<(&Measured, &CellOutcome)> {
        let measured = self.measures.iter().find(|measured| measured.verdict == self.verdict)?;
        Some((measured, measured.cells.get(measured.worst_cell)?))
    }

    /// `RFC 9743, 5.1.2`.
    pub fn place(&self) -> String {
        if self.section.is_empty() { self.document.clone() } else { format!("{}, {}", self.document, self.section) }
    }

    /// The same with the document's word: `RFC 9743, 5.1.2 (MUST consider)`.
    pub(crate) fn weight(&self) -> String {
        if self.level == "none" { self.place() } else { format!("{} ({})", self.place(), self.level) }
    }
}

impl Measured {
    /// Which of two cells is worse. The worst is one where no run has the number.
    pub(crate) fn worse(&self, a: &CellOutcome, b: &CellOutcome) -> Ordering {
        let never = |cell: &CellOutcome| cell.law.seeds.is_empty() && cell.unlimited == 0;
        let number = |cell: &CellOutcome| if cell.unlimited > 0 { f64::INFINITY } else { cell.law.mean };
        let bad = |cell: &CellOutcome| self.worst.badness(number(cell));
        never(a).cmp(&never(b)).then(bad(a).total_cmp(&bad(b)))
    }
}

impl CellOutcome {
    /// The number of runs of the law.
    pub(crate) const fn runs(&self) -> usize {
        self.law.seeds.len() + self.absent + self.unlimited
    }

    /// The cell in words, as `path P-bb, links.bottleneck.buffer 1 bdp`.
    pub fn words(&self) -> String {
        cell_words(&self.labels)
    }
}

/// A cell in words.
pub(crate) fn cell_words(labels: &[(String, String)]) -> String {
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let words = labels.iter().map(|(key, value)| format!("{} {value}", last(key)));
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criterion::tests::GOOD;
    use crate::judge::{Judging, Runs, judge};
    use crate::{Criterion, Part, markdown, page};
    use penstock_papers::Cell;
    use serde_json::json;

    /// A part that the law does not run has its name and the reason in the outcome, once, and on both pages. Without any number the
    /// reason is that of the criterion.
    #[test]
    fn a_part_that_does_not_run_has_its_reason() {
        let part = |name: &str| format!("[[part]]\nname = \"{name}\"\nscenario = \"long-flows\"\n\n");
        let measure = |name: &str| {
            format!(
                "[[measure]]\nname = \"{name}\"\ntitle = \"{name}\"\npart = \"marks\"\npath = \"links.bottleneck.delay_s\"\n"
            )
        };
        let text = GOOD.replace("scenario = \"long-flows\"\n", "").replace("dynamics.standing_queue_s", "delay_s");
        let text = text.replace("at_most_times = 2.0, of = \"newreno\"", "at_most = 1.0");
        let text = text.replace("[cells]", &format!("{}[part.cells]", part("drops")));
        let text = text.replace("title = \"standing queue\"", "title = \"standing queue\"\npart = \"drops\"");
        let text = format!("{text}\n{}{}{}", part("marks"), measure("marks"), measure("more-marks"));
        let criterion = Criterion::parse(&text, "EV-04.toml").unwrap();
        let cells = ["1", "2", "3"].map(|seed| {
            let labels = [("law", "fast"), ("links.bottleneck.buffer", "1 bdp"), ("path", "P-dsl"), ("seed", seed)];
            let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
            Cell::of_json(labels, json!({ "links": { "bottleneck": { "delay_s": 0.1 } } }))
        });
        let all = Runs { cells: &cells, refused: None };
        let none = Runs { cells: &[], refused: Some("`fast` does not use ECN") };
        let scope = Scope { extent: Extent::Quick, linux: false };
        let judging = Judging { law: "fast", name: "fast", baselines: &[], scope };
        let found = judge(&criterion, judging, |part: &Part| if part.name == "marks" { none } else { all });
        let [missing] = &found.not_run[..] else { panic!("{:?}", found.not_run) };
        assert_eq!((missing.part.as_str(), missing.why.as_str()), ("marks", "`fast` does not use ECN"));
        assert_eq!((found.measures.len(), &found.why), (1, &None));
        let evaluation = Evaluation { law: "fast".into(), criteria: vec![found], ..Evaluation::default() };
        let words = "The part `marks` did not run: `fast` does not use ECN.";
        assert!(markdown::write(&evaluation, "penstock evaluate fast").contains(words));
        let page = page::of(&evaluation, "penstock evaluate fast", &[], &BTreeMap::new());
        let section = page.sections.iter().find(|section| section.label == "EV-04").unwrap();
        assert!(section.prose.contains(words), "{}", section.prose);
        let found = judge(&criterion, judging, |_: &Part| none);
        assert!(found.verdict == Verdict::NotEvaluated && found.not_run.is_empty(), "{found:?}");
        assert_eq!(found.why.as_deref(), Some("`fast` does not use ECN"));
    }

    /// An outcome with the key `asks`, as earlier versions wrote it, is read, and written with `requirement`.
    #[test]
    fn an_older_outcome_is_read() {
        let older = r#"{ "id": "EV-04", "title": "Bufferbloat", "battery": "sender", "document": "RFC 9743",
            "section": "5.1.2", "level": "MUST consider", "asks": "Short queues.", "verdict": "meets" }"#;
        let outcome: Outcome = serde_json::from_str(older).unwrap();
        assert_eq!(outcome.requirement, "Short queues.");
        let newer = serde_json::to_value(&outcome).unwrap();
        assert_eq!((&newer["requirement"], newer.get("asks")), (&"Short queues.".into(), None));
    }
}
