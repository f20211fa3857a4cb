//! From numbers of runs to the verdict of a criterion.

use indexmap::{IndexMap, IndexSet};
use penstock_papers::Cell;

use crate::bound::Bound;
use crate::criterion::{Criterion, Measure, Part, Scale};
use crate::decision::{Decision, MARGIN, Tested, against, decided, drawn, exact, few, plain, tested, without};
use crate::extent::{self, Scope};
use crate::numbers::{Groups, Labels, Seeded};
use crate::outcome::{CellOutcome, Measured, Numbers, Outcome, PartNotRun};
use crate::statistics::{self, Interval, Looks, Spread, Verdict};
use crate::value::{number, seed_of, unit};

/// The windows of each run that have the first and the second half of the measured span.
pub const HALVES: [&str; 2] = ["first-half", "second-half"];

/// The runs for a part of a criterion.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a> {
    /// The cells, of all laws, with the labels `law` and `seed`.
    pub cells: &'a [Cell],
    /// The reason why the law under test does not run it, without places in files.
    pub refused: Option<&'a str>,
}

/// The law under test, and its baselines.
#[derive(Debug, Clone, Copy)]
pub struct Judging<'a> {
    /// The law under test, by its label.
    pub law: &'a str,
    /// Its name in the registry, by which criteria name it.
    pub name: &'a str,
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
        not_run: Vec::new(),
        figure: None,
        heat_maps: None,
    }
}

/// Judges a criterion by its runs; `runs` gives those of each part.
pub fn judge<'a>(criterion: &Criterion, judging: Judging<'_>, runs: impl Fn(&Part) -> Runs<'a>) -> Outcome {
    let (mut measures, mut last_looks) = (Vec::new(), Vec::new());
    let mut refusals: IndexMap<&str, &str> = IndexMap::new();
    for measure in &criterion.measures {
        if !measure.laws.is_empty() && measure.laws.iter().all(|law| law != judging.name) {
            continue;
        }
        let Some(part) = criterion.part_of(measure) else { continue };
        let Runs { cells, refused } = runs(part);
        refusals.extend(refused.map(|why| (part.name.as_str(), why)));
        if let Some((measured, last)) = measured(part, measure, judging, cells) {
            measures.push(measured);
            last_looks.push(last);
        }
    }
    conclude(&mut measures);
    // A measure that fails gets no more seeds: this was the last look at its cells.
    for (measured, last) in
        measures.iter_mut().zip(last_looks).filter(|(measured, _)| measured.verdict == Verdict::Fails)
    {
        for (cell, last) in measured.cells.iter_mut().zip(last) {
            settle(cell, last);
        }
    }
    conclude(&mut measures);
    let verdict = over_all(measures.iter().map(|measured| measured.verdict));
    let reasons: IndexSet<&str> = refusals.values().copied().collect();
    let parts = refusals.iter().map(|(part, why)| PartNotRun { part: (*part).to_owned(), why: (*why).to_owned() });
    let (verdict, why, not_run) = match verdict {
        None => (Verdict::NotEvaluated, reasons.into_iter().collect::<Vec<_>>().join("; "), Vec::new()),
        Some(verdict) => (verdict, String::new(), parts.collect()),
    };
    let why =
        if verdict == Verdict::NotEvaluated && why.is_empty() { "no run has its numbers".to_owned() } else { why };
    let mut scenarios: Vec<String> = criterion.parts.iter().map(|part| part.scenario.get_ref().clone()).collect();
    scenarios.dedup();
    let figure = criterion.figure.as_ref().map(|figure| (figure.x.clone(), figure.measure.clone()));
    let maps = criterion.heat_maps.as_ref();
    let heat_maps = maps.map(|maps| (maps.x.clone(), maps.y.clone(), maps.measures.clone()));
    Outcome { scenarios, measures, not_run, figure, heat_maps, ..unmeasured(criterion, verdict, &why) }
}

/// The cells of a criterion that get more seeds: the number of seeds, the part and the labels. They are undecided, and the last look
/// would decide them if mean and variance stayed. A measure that fails already gets none: they could not change its verdict. Cells that
/// are compared along an axis get them together.
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
        .filter_map(move |measured| Some((measured, measure(measured)?, criterion.part_of(measure(measured)?)?)))
        .flat_map(move |(measured, measure, part)| {
            let axis = measure.bound.as_ref().and_then(|bound| bound.along.as_deref());
            let due = move |cell: &'a CellOutcome| {
                let looks = scope.looks();
                let within_reach = |needed: &u64| looks.seeds().last().is_some_and(|last| *needed <= *last as u64);
                cell.needed.filter(within_reach)?;
                let seeds = looks.next(cell.law.seeds.len() + cell.unlimited, cell.verdict)?;
                let beside = move |other: &&CellOutcome| match axis {
                    Some(axis) => without(axis, &other.labels) == without(axis, &cell.labels),
                    None => other.labels == cell.labels,
                };
                Some(measured.cells.iter().filter(beside).map(move |cell| (seeds, part, cell.labels.as_slice())))
            };
            measured.cells.iter().filter_map(due).flatten()
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

/// A measure in all cells of its part that the law under test ran, without its verdict; none where no law has its number and no bound
/// asks for it. Beside it the decision on each cell if it gets no more seeds.
fn measured(part: &Part, measure: &Measure, judging: Judging<'_>, cells: &[Cell]) -> Option<(Measured, Vec<Decision>)> {
    let Judging { law, name, baselines, scope } = judging;
    let mut groups = Groups::new();
    let mut drifting: IndexSet<Labels> = IndexSet::new();
    let mut halves: IndexMap<Labels, Vec<[f64; 2]>> = IndexMap::new();
    let mut absent: IndexMap<Labels, usize> = IndexMap::new();
    for cell in cells {
        let labels: Labels = cell.labels.iter().filter(|(key, _)| key != "law" && key != "seed").cloned().collect();
        if !scope.has(part, &labels) || !extent::has(&measure.cells, &labels) {
            continue;
        }
        let who = cell.label("law").unwrap_or_default();
        // A law that never has the number has the cell nevertheless.
        let own = groups.entry(labels.clone()).or_default().entry(who.to_owned()).or_default();
        // A number that does not apply to a run is absent from it: a queue that never settles has no time of settling.
        let Some(value) = number(measure, cell) else {
            *absent.entry(labels).or_default() += usize::from(who == law);
            continue;
        };
        own.insert(seed_of(cell), value);
        if who == law {
            if cell.found("warmup-short") {
                drifting.insert(labels.clone());
            }
            if let Some(both) = in_halves(measure, cell) {
                halves.entry(labels).or_default().push(both);
            }
        }
    }
    if let Some(harm) = &measure.harm {
        let found = harm.of(&groups);
        for (labels, harms) in &found {
            // Without a run in which others are alone, or without their number there, no seed has its harm.
            let lost = groups[labels].get(law).filter(|_| harms.get(law).is_some_and(IndexMap::is_empty));
            *absent.entry(labels.clone()).or_default() += lost.map_or(0, IndexMap::len);
        }
        groups = found;
    }
    groups.retain(|_, by_law| by_law.contains_key(law));
    let bound = measure.bound.as_ref().filter(|bound| bound.binds(name));
    let nowhere = groups.values().flat_map(IndexMap::values).all(IndexMap::is_empty);
    if groups.is_empty() || (nowhere && bound.is_none()) {
        return None;
    }
    let mut outcomes: Vec<CellOutcome> = Vec::with_capacity(groups.len());
    for (labels, by_law) in &groups {
        let others =
            || baselines.iter().filter_map(|name| Some((name, by_law.get(name).filter(|own| !own.is_empty())?)));
        outcomes.push(CellOutcome {
            drifts: moves(halves.get(labels)).unwrap_or_else(|| drifting.contains(labels)),
            absent: absent.get(labels).copied().unwrap_or_default(),
            unlimited: by_law[law].values().filter(|value| value.is_infinite()).count(),
            law: numbers(&by_law[law], measure),
            baselines: others().map(|(name, own)| (name.clone(), numbers(own, measure))).collect(),
            against: others()
                .filter_map(|(name, own)| {
                    Some((name.clone(), against(measure.scale, measure.is_skewed(), &by_law[law], own)?))
                })
                .collect(),
            verdict: Verdict::Reported,
            p: None,
            survives: false,
            needed: None,
            run: None,
            control_breaks: false,
            labels: labels.clone(),
        });
    }
    let mut last = vec![Decision::plain(Verdict::Reported); outcomes.len()];
    if let Some(bound) = bound {
        for ((outcome, labels), last) in outcomes.iter_mut().zip(groups.keys()).zip(&mut last) {
            outcome.control_breaks = control_breaks(bound, law, labels, outcome);
            if outcome.control_breaks {
                continue;
            }
            let at = |looks: &Looks| decision(bound, outcome, part, measure, (law, looks), (labels, &groups));
            let now = at(&scope.looks());
            *last = if now.verdict == Verdict::Undecided { at(&Looks::once(0)) } else { now };
            settle(outcome, now);
        }
    }
    let measured = Measured {
        name: measure.name.get_ref().clone(),
        title: measure.title.clone(),
        part: measure.part.clone().unwrap_or_default(),
        scenario: part.scenario.get_ref().clone(),
        unit: measure.unit.clone().unwrap_or_else(|| unit(measure)),
        scale: measure.scale,
        bound: bound.map(Bound::words),
        source: bound.map(|bound| bound.source.clone()),
        absent: measure.absent.clone().filter(|_| outcomes.iter().any(|cell| cell.absent > 0)),
        verdict: Verdict::Reported,
        worst: measure.worst,
        worst_cell: 0,
        cells: outcomes,
    };
    Some((measured, last))
}

/// Gives a cell the verdict of a decision.
const fn settle(cell: &mut CellOutcome, found: Decision) {
    (cell.verdict, cell.p, cell.needed) = (found.verdict, found.p, found.needed);
}

/// True if the control of a cell breaks the bound, by its mean: the incumbents' own law in the place of `law`.
fn control_breaks(bound: &Bound, law: &str, labels: &Labels, outcome: &CellOutcome) -> bool {
    let incumbent = bound.control.as_ref().and_then(|axis| labels.iter().find(|(key, _)| key == axis));
    let Some((_, incumbent)) = incumbent else { return false };
    let control = if incumbent == law { Some(&outcome.law) } else { outcome.baselines.get(incumbent) };
    let limit = bound.asked().ok().and_then(plain);
    control.zip(limit).is_some_and(|(control, limit)| {
        let mean = Tested::plain(vec![control.mean], limit, Scale::Difference);
        control.mean.is_finite() && exact(&mean).verdict == Verdict::Fails
    })
}

/// The decision of a bound on a cell.
fn decision(
    bound: &Bound,
    outcome: &CellOutcome,
    part: &Part,
    measure: &Measure,
    (law, looks): (&str, &Looks),
    (labels, groups): (&Labels, &Groups),
) -> Decision {
    let Some(tested) = tested(bound, measure, law, labels, groups) else { return Decision::plain(Verdict::Reported) };
    if outcome.absent > 0 {
        Decision::plain(Verdict::Undecided)
    } else if part.analysis {
        exact(&tested)
    } else {
        let stream = format!("{}/{}", measure.name.get_ref(), outcome.words());
        decided(&tested, looks, !outcome.law.bimodal, &stream)
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
            exponent: measure.exponent.as_ref().map(|paths| paths.each_ref().map(within)),
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

/// Gives the measures of a criterion their verdicts and worst cells. Of many cells one fails by chance, so a failure counts if it survives
/// Holm's correction over all judged cells of the criterion.
fn conclude(measures: &mut [Measured]) {
    let all = measures.iter_mut().flat_map(|measured| &mut measured.cells);
    let mut judged: Vec<&mut CellOutcome> = all.filter(|cell| cell.verdict != Verdict::Reported).collect();
    // What is computed fails for certain.
    let p = |cell: &CellOutcome| cell.p.unwrap_or_else(|| f64::from(cell.verdict != Verdict::Fails));
    let adjusted = statistics::holm(&judged.iter().map(|cell| p(cell)).collect::<Vec<f64>>()).unwrap_or_default();
    for (cell, holm) in judged.iter_mut().zip(adjusted) {
        cell.survives = cell.verdict == Verdict::Fails && holm.survives;
    }
    for measured in measures {
        measured.verdict = joined(&measured.cells);
        // The worst of the cells that decide.
        let decides = |cell: &CellOutcome| match measured.verdict {
            Verdict::Fails => cell.survives,
            Verdict::Undecided => matches!(cell.verdict, Verdict::Fails | Verdict::Undecided),
            Verdict::Meets => cell.verdict == Verdict::Meets,
            _ => true,
        };
        let order = |a: &(usize, &CellOutcome), b: &(usize, &CellOutcome)| measured.worse(a.1, b.1).then(b.0.cmp(&a.0));
        let worst = measured.cells.iter().enumerate().filter(|(_, cell)| decides(cell)).max_by(order);
        measured.worst_cell = worst.map_or(0, |(at, _)| at);
    }
}

/// The verdict of a measure by those of its cells.
fn joined(cells: &[CellOutcome]) -> Verdict {
    let judged = || cells.iter().filter(|cell| cell.verdict != Verdict::Reported);
    if judged().next().is_none() {
        Verdict::Reported
    } else if judged().any(|cell| cell.survives) {
        Verdict::Fails
    } else if judged().all(|cell| cell.verdict == Verdict::Meets) {
        Verdict::Meets
    } else {
        Verdict::Undecided
    }
}

/// A number over seeds. On a scale of ratios its mean and intervals are those of the logarithms, if all seeds have them. Of what is
/// infinite for some seed, or zero on a scale of ratios, there is no interval.
pub(crate) fn numbers(own: &Seeded, measure: &Measure) -> Numbers {
    let scale = measure.scale;
    let finite = own.iter().filter(|(_, value)| value.is_finite());
    let (seed_numbers, seeds): (Vec<u64>, Vec<f64>) = finite.map(|(seed, value)| (*seed, *value)).unzip();
    let spread = statistics::spread(&seeds);
    // About zero a standard deviation above the mean is no sign of two groups.
    // Groups that are closer than the margin of equality are one for a reader.
    let apart = statistics::mean(&seeds)
        .zip(statistics::standard_deviation(&seeds))
        .is_some_and(|(mean, sd)| sd >= MARGIN * mean.abs());
    let bimodal = spread == Some(Spread::Bimodal) && apart && !(measure.is_signed() && statistics::one_mode(&seeds));
    let logarithms = scale == Scale::Ratio && seeds.iter().all(|value| *value > 0.0);
    let back = |x: f64| if logarithms { libm::exp(x) } else { x };
    let values: Vec<f64> = seeds.iter().map(|x| if logarithms { libm::log(*x) } else { *x }).collect();
    let endless = seeds.len() < own.len() || (scale == Scale::Ratio && seeds.contains(&0.0));
    let between = |interval: Interval| (back(interval.low), back(interval.high));
    let student = || statistics::interval(&values, 0.95).filter(|_| spread != Some(Spread::Deterministic));
    let resampled = || {
        let asked = bimodal || few(&values) || measure.is_skewed();
        asked.then(|| drawn(&values)).flatten()
    };
    let ends = seeds.iter().copied().reduce(f64::min).zip(seeds.iter().copied().reduce(f64::max));
    // Rounding of logarithms must not put the mean of equal values outside of them.
    let mean = statistics::mean(&values).zip(ends).map(|(mean, (least, most))| back(mean).clamp(least, most));
    Numbers {
        bootstrap: (!endless).then(resampled).flatten().map(between),
        mean: mean.unwrap_or(f64::NAN),
        interval: (!endless).then(student).flatten().map(between),
        bimodal,
        seeds,
        seed_numbers,
    }
}

#[cfg(test)]
mod tests;
