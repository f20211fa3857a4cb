//! From numbers of runs to the verdict of a criterion.

use indexmap::{IndexMap, IndexSet};
use penstock_papers::Cell;
use penstock_report::number::unit_of;

use crate::bound::Bound;
use crate::criterion::{Criterion, Measure, Part};
use crate::decision::{Decision, Groups, Labels, against, decided, exact, tested};
use crate::extent::{self, Scope};
use crate::outcome::{CellOutcome, Measured, Numbers, Outcome};
use crate::statistics::{self, Limit, Spread, Verdict};

/// The windows of each run that have the first and the second half of the measured span.
pub const HALVES: [&str; 2] = ["first-half", "second-half"];

/// The runs for a part of a criterion.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a> {
    /// The cells, of all laws, with the labels `law` and `seed`.
    pub cells: &'a [Cell],
    /// The reason why the law under test cannot run it.
    pub refused: Option<&'a str>,
}

/// The law under test, and its baselines.
#[derive(Debug, Clone, Copy)]
pub struct Judging<'a> {
    /// The law under test, by its label.
    pub law: &'a str,
    /// The baselines, by their labels.
    pub baselines: &'a [String],
    /// The amount of runs.
    pub scope: Scope,
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
        requirement: criterion.requirement.clone(),
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

/// The cells of a criterion that get more seeds: the number of seeds, the part and the labels. They are undecided, and the last look
/// would decide them if mean and variance stayed. A measure that fails already gets none: they could not change its verdict.
pub fn wants_more<'a>(
    criterion: &'a Criterion,
    outcome: &'a Outcome,
    scope: Scope,
) -> impl Iterator<Item = (usize, &'a Part, &'a [(String, String)])> {
    let measure = |measured: &Measured| criterion.measures.iter().find(|m| *m.name.get_ref() == measured.name);
    outcome
        .measures
        .iter()
        .filter(|measured| measured.verdict != Verdict::Fails)
        .filter_map(move |measured| Some((measured, criterion.part_of(measure(measured)?)?)))
        .flat_map(move |(measured, part)| {
            measured.cells.iter().filter_map(move |cell| {
                let looks = scope.looks();
                let within_reach = |needed: &u64| looks.seeds().last().is_some_and(|last| *needed <= *last as u64);
                cell.needed.filter(within_reach)?;
                let seeds = looks.next(cell.law.seeds.len(), cell.verdict)?;
                Some((seeds, part, cell.labels.as_slice()))
            })
        })
}

/// One verdict of many: `fails` outweighs `undecided`, that `meets`, that `reported`; none of none.
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
    let Judging { law, baselines, scope } = judging;
    let mut groups = Groups::new();
    let mut drifting: IndexSet<Labels> = IndexSet::new();
    let mut halves: IndexMap<Labels, Vec<[f64; 2]>> = IndexMap::new();
    let (mut absent, mut unlimited) = (IndexMap::<Labels, usize>::new(), IndexMap::<Labels, usize>::new());
    for cell in cells {
        let labels: Labels = cell.labels.iter().filter(|(key, _)| key != "law" && key != "seed").cloned().collect();
        if !scope.has(part, &labels) || !extent::has(&measure.cells, &labels) {
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
        if who == law {
            if cell.found("warmup-short") {
                drifting.insert(labels.clone());
            }
            if let Some(both) = in_halves(measure, cell) {
                halves.entry(labels.clone()).or_default().push(both);
            }
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
            drifts: moves(halves.get(labels)).unwrap_or_else(|| drifting.contains(labels)),
            absent: absent.get(labels).copied().unwrap_or_default(),
            unlimited: unlimited.get(labels).copied().unwrap_or_default(),
            law: numbers(by_law[law].values().copied()),
            baselines: others().map(|(name, own)| (name.clone(), numbers(own.values().copied()))).collect(),
            against: others()
                .filter_map(|(name, own)| Some((name.clone(), against(measure.scale, &by_law[law], own)?)))
                .collect(),
            verdict: Verdict::Reported,
            p: None,
            needed: None,
            labels: labels.clone(),
        });
    }
    let bound = measure.bound.as_ref().filter(|bound| bound.binds(law));
    if let Some(bound) = bound {
        for (outcome, labels) in outcomes.iter_mut().zip(groups.keys()) {
            let found = decision(bound, outcome, part, measure, (law, scope), (labels, &groups));
            (outcome.verdict, outcome.p, outcome.needed) = (found.verdict, found.p, found.needed);
        }
    }
    let bad = |at: &usize| measure.worst.badness(outcomes[*at].law.mean);
    let worst_cell = (0..outcomes.len()).max_by(|a, b| bad(a).total_cmp(&bad(b)).then(b.cmp(a)));
    Some(Measured {
        name: measure.name.get_ref().clone(),
        title: measure.title.clone(),
        part: measure.part.clone().unwrap_or_default(),
        unit: measure.unit.clone().unwrap_or_else(|| unit(measure)),
        bound: bound.map(Bound::words),
        source: bound.map(|bound| bound.source.clone()),
        verdict: joined(&outcomes),
        worst: measure.worst,
        worst_cell: worst_cell.unwrap_or(0),
        cells: outcomes,
    })
}

/// The decision of a bound on a cell.
fn decision(
    bound: &Bound,
    outcome: &CellOutcome,
    part: &Part,
    measure: &Measure,
    (law, scope): (&str, Scope),
    (labels, groups): (&Labels, &Groups),
) -> Decision {
    let Some(tested) = tested(bound, law, labels, groups) else { return Decision::plain(Verdict::Reported) };
    if matches!(tested.limit, Limit::AtMost(_) | Limit::Between(..)) && outcome.unlimited > 0 {
        Decision::plain(Verdict::Fails)
    } else if outcome.absent > 0 {
        Decision::plain(Verdict::Undecided)
    } else if part.analysis {
        exact(&tested)
    } else {
        let stream = format!("{}/{}", measure.name.get_ref(), outcome.words());
        decided(&tested, &scope.looks(), !outcome.law.bimodal, &stream)
    }
}

/// The number in the first and in the second half of the measured span; none of a window or of the whole run.
fn in_halves(measure: &Measure, cell: &Cell) -> Option<[f64; 2]> {
    let of = |half: &str| {
        let within = |path: &String| format!("windows.{half}.{path}");
        let measure = Measure {
            path: within(&measure.path),
            minus: measure.minus.as_ref().map(within),
            over: measure.over.as_ref().map(within),
            ..measure.clone()
        };
        number(&measure, cell).filter(|x| x.is_finite())
    };
    Some([of(HALVES[0])?, of(HALVES[1])?])
}

/// True if the two halves differ, by a paired test at 1 %; none if the seeds cannot decide: too few of them, or all with the same
/// difference.
fn moves(halves: Option<&Vec<[f64; 2]>>) -> Option<bool> {
    let (first, second): (Vec<f64>, Vec<f64>) = halves?.iter().map(|[first, second]| (*first, *second)).unzip();
    let differences = statistics::differences(&first, &second)?;
    if statistics::standard_deviation(&differences)? == 0.0 {
        return None;
    }
    statistics::stationary(&first, &second).map(|found| !found.stationary)
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
pub(crate) fn number(measure: &Measure, cell: &Cell) -> Option<f64> {
    let other = |path: &Option<String>, none: f64| path.as_ref().map_or(Some(none), |path| cell.number(path).ok());
    let value = (cell.number(&measure.path).ok()? - other(&measure.minus, 0.0)?) / other(&measure.over, 1.0)?;
    Some(value * measure.times.unwrap_or(1.0)).filter(|value| !value.is_nan())
}

/// The unit of a measure: that of its path, unless it is divided.
pub(crate) fn unit(measure: &Measure) -> String {
    let of = |path: &str| unit_of(path.rsplit('.').next().unwrap_or(path)).1.to_owned();
    match &measure.over {
        Some(over) if of(over) == of(&measure.path) => String::new(),
        Some(over) => format!("{}/{}", of(&measure.path), of(over)).trim_end_matches('/').to_owned(),
        None => of(&measure.path),
    }
}

/// A number over seeds.
pub(crate) fn numbers(values: impl Iterator<Item = f64>) -> Numbers {
    let seeds: Vec<f64> = values.collect();
    let spread = statistics::spread(&seeds);
    let interval = statistics::interval(&seeds, 0.95).filter(|_| spread != Some(Spread::Deterministic));
    let bimodal = spread == Some(Spread::Bimodal);
    let drawn = || statistics::bootstrap(&seeds, statistics::mean, 0.95, "mean");
    Numbers {
        bootstrap: bimodal.then(drawn).flatten().map(|interval| (interval.low, interval.high)),
        mean: statistics::mean(&seeds).unwrap_or(f64::NAN),
        interval: interval.map(|interval| (interval.low, interval.high)),
        bimodal,
        seeds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Extent;
    use crate::criterion::tests::GOOD;
    use serde_json::json;

    /// Ten seeds of each buffer, half of them `by` above `mean` and half below.
    fn seeds(buffer: &str, mean: f64, by: f64) -> Vec<Cell> {
        let one = |seed: u32| {
            let labels =
                [("law", "fast"), ("links.bottleneck.buffer", buffer), ("path", "P-dsl"), ("seed", &seed.to_string())]
                    .map(|(key, value)| (key.to_owned(), value.to_owned()));
            let delay = if seed.is_multiple_of(2) { mean + by } else { mean - by };
            Cell::of_json(labels.to_vec(), json!({ "links": { "bottleneck": { "delay_s": delay } } }))
        };
        (1..=10).map(one).collect()
    }

    /// The numbers of seeds that cells get, and the verdict.
    fn more(cells: &[Cell]) -> (Vec<usize>, Verdict) {
        let text = GOOD.replace("dynamics.standing_queue_s", "delay_s");
        let text = text.replace("at_most_times = 2.0, of = \"newreno\"", "at_most = 1.0");
        let criterion = Criterion::parse(&text, "EV-04.toml").unwrap();
        let scope = Scope { extent: Extent::Standard, linux: false };
        let judging = Judging { law: "fast", baselines: &[], scope };
        let outcome = judge(&criterion, judging, |_| Runs { cells, refused: None });
        (wants_more(&criterion, &outcome, scope).map(|(seeds, ..)| seeds).collect(), outcome.verdict)
    }

    /// A mean one standard error below its bound takes about forty seeds at 95 %: within reach. One a tenth of that below takes
    /// thousands. Beside a cell that fails for sure, none could change the verdict.
    #[test]
    fn only_cells_within_reach_get_more_seeds() {
        let near = seeds("1 bdp", 0.9, 0.3);
        let far = seeds("2 bdp", 0.99, 0.3);
        let failing = seeds("8 bdp", 2.0, 0.1);
        assert_eq!(more(&near), (vec![30], Verdict::Undecided));
        assert_eq!(more(&far), (vec![], Verdict::Undecided));
        assert_eq!(more(&[near.clone(), far].concat()), (vec![30], Verdict::Undecided));
        assert_eq!(more(&[near, failing].concat()), (vec![], Verdict::Fails));
    }
}
