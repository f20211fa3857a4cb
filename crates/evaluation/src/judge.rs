//! From numbers of runs to the verdict of a criterion.

use indexmap::{IndexMap, IndexSet};
use penstock_papers::Cell;
use penstock_report::number::unit_of;

use crate::criterion::{Bound, Criterion, Measure, Part, Scale};
use crate::extent::{self, Extent};
use crate::outcome::{Against, CellOutcome, Measured, Numbers, Outcome};
use crate::statistics::{self, Interval, Limit, Spread, Verdict};

/// Labels of a cell.
type Labels = Vec<(String, String)>;
/// A number for each seed.
type Seeded = IndexMap<String, f64>;

/// What was run for a part of a criterion.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a> {
    /// The cells, of all laws, with the labels `law` and `seed`.
    pub cells: &'a [Cell],
    /// Why the law under test cannot run it.
    pub refused: Option<&'a str>,
}

/// Who is judged, and beside whom.
#[derive(Debug, Clone, Copy)]
pub struct Judging<'a> {
    /// The law under test, by its label.
    pub law: &'a str,
    /// The baselines, by their labels.
    pub baselines: &'a [String],
    /// How much was run.
    pub extent: Extent,
}

/// An outcome without numbers.
pub fn unmeasured(criterion: &Criterion, verdict: Verdict, why: &str) -> Outcome {
    Outcome {
        id: criterion.id.get_ref().clone(),
        title: criterion.title.clone(),
        battery: criterion.battery,
        document: criterion.document.clone(),
        section: criterion.section.clone(),
        level: criterion.level.clone(),
        asks: criterion.asks.clone(),
        notes: criterion.notes.clone(),
        verdict,
        why: Some(why.to_owned()).filter(|why| !why.is_empty()),
        scenarios: Vec::new(),
        measures: Vec::new(),
        figure: None,
    }
}

/// Judges a criterion by its runs; `runs` gives those of each part.
pub fn judge<'a>(criterion: &Criterion, judging: Judging<'_>, runs: impl Fn(&Part) -> Runs<'a>) -> Outcome {
    let mut measures = Vec::new();
    let mut refusals: IndexSet<&str> = IndexSet::new();
    for measure in &criterion.measures {
        if !measure.laws.is_empty() && measure.laws.iter().all(|law| law != judging.law) {
            continue;
        }
        let Some(part) = criterion.part_of(measure) else { continue };
        let Runs { cells, refused } = runs(part);
        refusals.extend(refused);
        measures.extend(measured(part, measure, judging, cells));
    }
    let verdict = over_all(measures.iter().map(|measured| measured.verdict));
    let (verdict, why) = match verdict {
        None => (Verdict::NotEvaluated, refusals.into_iter().collect::<Vec<_>>().join("; ")),
        Some(verdict) => (verdict, String::new()),
    };
    let why =
        if verdict == Verdict::NotEvaluated && why.is_empty() { "no run has its numbers".to_owned() } else { why };
    let mut scenarios: Vec<String> = criterion.parts.iter().map(|part| part.scenario.get_ref().clone()).collect();
    scenarios.dedup();
    let figure = criterion.figure.as_ref().map(|figure| (figure.x.clone(), figure.measure.clone()));
    Outcome { scenarios, measures, figure, ..unmeasured(criterion, verdict, &why) }
}

/// The cells of a criterion that are undecided and get more seeds: the number of seeds, the part and the labels.
pub fn wants_more<'a>(
    criterion: &'a Criterion,
    outcome: &'a Outcome,
    extent: Extent,
) -> impl Iterator<Item = (usize, &'a Part, &'a [(String, String)])> {
    let measure = |measured: &Measured| criterion.measures.iter().find(|m| *m.name.get_ref() == measured.name);
    outcome
        .measures
        .iter()
        .filter_map(move |measured| Some((measured, criterion.part_of(measure(measured)?)?)))
        .flat_map(move |(measured, part)| {
            measured.cells.iter().filter_map(move |cell| {
                let seeds = extent.looks().next(cell.law.seeds.len(), cell.verdict)?;
                Some((seeds, part, cell.labels.as_slice()))
            })
        })
}

/// One verdict of many: a failure outweighs what is undecided, that what is met, that what is only reported; none of none.
fn over_all(verdicts: impl Iterator<Item = Verdict>) -> Option<Verdict> {
    let weight = |verdict: &Verdict| match verdict {
        Verdict::Fails => 4,
        Verdict::Undecided => 3,
        Verdict::Meets => 2,
        Verdict::Reported => 1,
        Verdict::NotEvaluated | Verdict::NotApplicable => 0,
    };
    verdicts.max_by_key(weight)
}

/// A measure in all cells of its part; none where the law under test has its number in no cell.
fn measured(part: &Part, measure: &Measure, judging: Judging<'_>, cells: &[Cell]) -> Option<Measured> {
    let Judging { law, baselines, extent } = judging;
    let mut groups: IndexMap<Labels, IndexMap<String, Seeded>> = IndexMap::new();
    let mut drifting: IndexSet<Labels> = IndexSet::new();
    let (mut absent, mut unlimited) = (IndexMap::<Labels, usize>::new(), IndexMap::<Labels, usize>::new());
    for cell in cells {
        let labels: Labels = cell.labels.iter().filter(|(key, _)| key != "law" && key != "seed").cloned().collect();
        if !part.has(&labels, extent) || !extent::has(&measure.cells, &labels) {
            continue;
        }
        let who = cell.label("law").unwrap_or_default().to_owned();
        // A number that does not apply to a run is absent from it: a queue that never settles has no time of settling.
        let Some(value) = number(measure, cell) else {
            *absent.entry(labels).or_default() += usize::from(who == law);
            continue;
        };
        // Of a share beside what has nothing there is no mean. The bound knows what to do with it.
        if value.is_infinite() {
            *unlimited.entry(labels.clone()).or_default() += usize::from(who == law);
        }
        if who == law && cell.found("warmup-short") {
            drifting.insert(labels.clone());
        }
        let seed = cell.label("seed").unwrap_or_default().to_owned();
        let by_law = groups.entry(labels).or_default().entry(who).or_default();
        if value.is_finite() {
            by_law.insert(seed, value);
        }
    }
    groups
        .retain(|labels, by_law| by_law.get(law).is_some_and(|own| !own.is_empty() || unlimited.contains_key(labels)));
    if groups.is_empty() {
        return None;
    }
    let mut outcomes: Vec<CellOutcome> = Vec::with_capacity(groups.len());
    for (labels, by_law) in &groups {
        let others = || baselines.iter().filter_map(|name| Some((name, by_law.get(name)?)));
        outcomes.push(CellOutcome {
            drifts: drifting.contains(labels),
            absent: absent.get(labels).copied().unwrap_or_default(),
            unlimited: unlimited.get(labels).copied().unwrap_or_default(),
            law: numbers(by_law[law].values().copied()),
            baselines: others().map(|(name, own)| (name.clone(), numbers(own.values().copied()))).collect(),
            against: others()
                .filter_map(|(name, own)| Some((name.clone(), against(measure.scale, &by_law[law], own)?)))
                .collect(),
            verdict: Verdict::Reported,
            p: None,
            labels: labels.clone(),
        });
    }
    if let Some(bound) = &measure.bound {
        for (outcome, labels) in outcomes.iter_mut().zip(groups.keys()) {
            (outcome.verdict, outcome.p) = match tested(bound, law, labels, &groups) {
                Some((_, Limit::AtMost(_) | Limit::Between(..))) if outcome.unlimited > 0 => (Verdict::Fails, None),
                Some(_) if outcome.absent > 0 => (Verdict::Undecided, None),
                Some((values, limit)) if part.analysis => (exact(&values, limit), None),
                Some((values, limit)) => decided(&values, limit, extent),
                None => (Verdict::Reported, None),
            };
        }
    }
    let bad = |at: &usize| measure.worst.badness(outcomes[*at].law.mean);
    let worst_cell = (0..outcomes.len()).max_by(|a, b| bad(a).total_cmp(&bad(b)).then(b.cmp(a)));
    Some(Measured {
        name: measure.name.get_ref().clone(),
        title: measure.title.clone(),
        part: measure.part.clone().unwrap_or_default(),
        unit: measure.unit.clone().unwrap_or_else(|| unit(measure)),
        bound: measure.bound.as_ref().map(Bound::words),
        source: measure.bound.as_ref().map(|bound| bound.source.clone()),
        verdict: joined(&outcomes),
        worst: measure.worst,
        worst_cell: worst_cell.unwrap_or(0),
        cells: outcomes,
    })
}

/// The verdict on the mean of what seeds gave, and the probability of such a mean beyond the limit if it were on the limit.
fn decided(values: &[f64], limit: Limit, extent: Extent) -> (Verdict, Option<f64>) {
    let level = extent.looks().level(values.len());
    let verdict = statistics::decide(statistics::interval(values, level).as_ref(), limit);
    let above = |most: f64| statistics::test(values, most).map(|test| test.p_above);
    let below = |least: f64| statistics::test(values, least).map(|test| test.p_below);
    let p = match limit {
        Limit::AtMost(most) => above(most),
        Limit::AtLeast(least) => below(least),
        // One of the two ends is beyond reach.
        Limit::Between(least, most) => above(most).zip(below(least)).map(|(above, below)| above.min(below)),
    };
    (verdict, p.filter(|_| verdict == Verdict::Fails))
}

/// The verdict on a number that is computed, not drawn.
fn exact(values: &[f64], limit: Limit) -> Verdict {
    let value = values.first().copied();
    let without_width = |value| Interval { estimate: value, low: value, high: value, n: 1, level: 1.0 };
    statistics::decide(value.map(without_width).as_ref(), limit)
}

/// The verdict of a measure by those of its cells. Of many cells one fails by chance, so a failure counts if it survives
/// Holm's correction.
fn joined(cells: &[CellOutcome]) -> Verdict {
    let judged: Vec<&CellOutcome> = cells.iter().filter(|cell| cell.verdict != Verdict::Reported).collect();
    if judged.is_empty() {
        return Verdict::Reported;
    }
    let p: Vec<f64> = judged.iter().map(|cell| cell.p.unwrap_or(1.0)).collect();
    let certain = judged.iter().any(|cell| cell.verdict == Verdict::Fails && cell.p.is_none());
    if certain || statistics::holm(&p).is_some_and(|adjusted| adjusted.iter().any(|holm| holm.survives)) {
        Verdict::Fails
    } else if judged.iter().all(|cell| cell.verdict == Verdict::Meets) {
        Verdict::Meets
    } else {
        Verdict::Undecided
    }
}

/// The number of a measure in one cell; none where the run has none, or zero would be divided by zero. Infinite beside nothing.
fn number(measure: &Measure, cell: &Cell) -> Option<f64> {
    let other = |path: &Option<String>, none: f64| path.as_ref().map_or(Some(none), |path| cell.number(path).ok());
    let value = (cell.number(&measure.path).ok()? - other(&measure.minus, 0.0)?) / other(&measure.over, 1.0)?;
    Some(value * measure.times.unwrap_or(1.0)).filter(|value| !value.is_nan())
}

/// The unit of a measure: that of its path, unless it is divided.
fn unit(measure: &Measure) -> String {
    let of = |path: &str| unit_of(path.rsplit('.').next().unwrap_or(path)).1.to_owned();
    match &measure.over {
        Some(over) if of(over) == of(&measure.path) => String::new(),
        Some(over) => format!("{}/{}", of(&measure.path), of(over)).trim_end_matches('/').to_owned(),
        None => of(&measure.path),
    }
}

/// A number over seeds.
fn numbers(values: impl Iterator<Item = f64>) -> Numbers {
    let seeds: Vec<f64> = values.collect();
    let spread = statistics::spread(&seeds);
    let interval = statistics::interval(&seeds, 0.95).filter(|_| spread != Some(Spread::Deterministic));
    Numbers {
        mean: statistics::mean(&seeds).unwrap_or(f64::NAN),
        interval: interval.map(|interval| (interval.low, interval.high)),
        bimodal: spread == Some(Spread::Bimodal),
        seeds,
    }
}

/// The law against a baseline, over the seeds that both have.
fn against(scale: Scale, law: &Seeded, baseline: &Seeded) -> Option<Against> {
    let pairs: Vec<(f64, f64)> = law.iter().filter_map(|(seed, value)| Some((*value, *baseline.get(seed)?))).collect();
    let (ours, theirs): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let (values, back): (Vec<f64>, fn(f64) -> f64) = match scale {
        Scale::Difference => (statistics::differences(&ours, &theirs)?, |x| x),
        Scale::Ratio => (statistics::log_ratios(&ours, &theirs)?, libm::exp),
    };
    let interval = statistics::interval(&values, 0.95);
    Some(Against {
        scale,
        mean: back(statistics::mean(&values)?),
        interval: interval.map(|interval| (back(interval.low), back(interval.high))),
    })
}

/// What a bound tests in a cell, and within which limits; none where there is nothing to compare with.
fn tested(
    bound: &Bound,
    law: &str,
    labels: &Labels,
    groups: &IndexMap<Labels, IndexMap<String, Seeded>>,
) -> Option<(Vec<f64>, Limit)> {
    let own = &groups[labels][law];
    let plain = || own.values().copied().collect();
    if let Some(most) = bound.at_most {
        return Some((plain(), Limit::AtMost(most)));
    }
    if let Some(least) = bound.at_least {
        return Some((plain(), Limit::AtLeast(least)));
    }
    if let Some([least, most]) = bound.between {
        return Some((plain(), Limit::Between(least, most)));
    }
    if let (Some(share), Some(axis)) = (bound.at_least_of_largest, &bound.along) {
        return of_largest(share, axis, law, labels, groups).map(|values| (values, Limit::AtLeast(0.0)));
    }
    let baseline = groups[labels].get(bound.of.as_deref()?)?;
    let paired = |times: f64| -> Vec<f64> {
        own.iter().filter_map(|(seed, value)| Some(value - times * baseline.get(seed)?)).collect()
    };
    if let Some(times) = bound.at_most_times {
        return Some((paired(times), Limit::AtMost(0.0)));
    }
    if let Some(times) = bound.at_least_times {
        return Some((paired(times), Limit::AtLeast(0.0)));
    }
    if let Some(more) = bound.at_most_more {
        return Some((paired(1.0), Limit::AtMost(more)));
    }
    bound.at_least_less.map(|less| (paired(1.0), Limit::AtLeast(-less)))
}

/// In the last cell along an axis, by how much each seed's number exceeds a share of the largest along it.
fn of_largest(
    share: f64,
    axis: &str,
    law: &str,
    labels: &Labels,
    groups: &IndexMap<Labels, IndexMap<String, Seeded>>,
) -> Option<Vec<f64>> {
    let without = |labels: &Labels| labels.iter().filter(|(key, _)| key != axis).cloned().collect::<Labels>();
    let wanted = without(labels);
    let along: Vec<&Labels> = groups.keys().filter(|other| without(other) == wanted).collect();
    if along.last() != Some(&labels) || along.len() < 2 {
        return None;
    }
    let value = |(seed, last): (&String, &f64)| {
        let all = along.iter().filter_map(|at| groups[*at].get(law)?.get(seed));
        last - share * all.copied().fold(f64::NEG_INFINITY, f64::max)
    };
    Some(groups[labels][law].iter().map(value).collect())
}

impl Bound {
    /// The bound in words, with numbers in SI units: `at most 0.01`, `at most 2 times newreno's`.
    pub fn words(&self) -> String {
        let of = self.of.as_deref().unwrap_or_default();
        if let Some(most) = self.at_most {
            format!("at most {most}")
        } else if let Some(least) = self.at_least {
            format!("at least {least}")
        } else if let Some([least, most]) = self.between {
            format!("between {least} and {most}")
        } else if let Some(times) = self.at_most_times {
            format!("at most {times} times that of {of}")
        } else if let Some(times) = self.at_least_times {
            format!("at least {times} times that of {of}")
        } else if let Some(more) = self.at_most_more {
            format!("at most {more} more than {of}")
        } else if let Some(less) = self.at_least_less {
            format!("at most {less} less than {of}")
        } else {
            let share = self.at_least_of_largest.unwrap_or_default();
            format!("at least {share} of the largest along {}", self.along.as_deref().unwrap_or_default())
        }
    }
}
