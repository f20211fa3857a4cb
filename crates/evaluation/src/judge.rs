//! From numbers of runs to the verdict of a criterion.

use indexmap::{IndexMap, IndexSet};
use penstock_papers::Cell;

use crate::bound::Bound;
use crate::criterion::{Criterion, Measure, Part, Scale};
use crate::decision::{Decision, MARGIN, against, decided, drawn, exact, few, plain, tested, without};
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
    let mut measures = Vec::new();
    let mut refusals: IndexMap<&str, &str> = IndexMap::new();
    for measure in &criterion.measures {
        if !measure.laws.is_empty() && measure.laws.iter().all(|law| law != judging.name) {
            continue;
        }
        let Some(part) = criterion.part_of(measure) else { continue };
        let Runs { cells, refused } = runs(part);
        refusals.extend(refused.map(|why| (part.name.as_str(), why)));
        measures.extend(measured(part, measure, judging, &judging.scope.looks(), cells));
    }
    conclude(&mut measures);
    // A measure that fails gets no more seeds: this was the last look at its cells.
    for measured in measures.iter_mut().filter(|measured| measured.verdict == Verdict::Fails) {
        let Some(measure) = criterion.measures.iter().find(|measure| *measure.name.get_ref() == measured.name) else {
            continue;
        };
        let Some(part) = criterion.part_of(measure) else { continue };
        let last = self::measured(part, measure, judging, &Looks::once(0), runs(part).cells);
        for (cell, last) in measured.cells.iter_mut().zip(last.into_iter().flat_map(|measured| measured.cells)) {
            if cell.verdict == Verdict::Undecided {
                *cell = last;
            }
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
/// asks for it. `looks` has the level of intervals.
fn measured(part: &Part, measure: &Measure, judging: Judging<'_>, looks: &Looks, cells: &[Cell]) -> Option<Measured> {
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
    if let Some(bound) = bound {
        for (outcome, labels) in outcomes.iter_mut().zip(groups.keys()) {
            if control_breaks(bound, law, labels, outcome) {
                outcome.control_breaks = true;
                continue;
            }
            let found = decision(bound, outcome, part, measure, (law, looks), (labels, &groups));
            (outcome.verdict, outcome.p, outcome.needed) = (found.verdict, found.p, found.needed);
        }
    }
    Some(Measured {
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
    })
}

/// True if the control of a cell breaks the bound, by its mean: the incumbents' own law in the place of `law`.
fn control_breaks(bound: &Bound, law: &str, labels: &Labels, outcome: &CellOutcome) -> bool {
    let incumbent = bound.control.as_ref().and_then(|axis| labels.iter().find(|(key, _)| key == axis));
    let Some((_, incumbent)) = incumbent else { return false };
    let control = if incumbent == law { Some(&outcome.law) } else { outcome.baselines.get(incumbent) };
    let Some(limit) = bound.asked().ok().and_then(plain) else { return false };
    control.is_some_and(|control| {
        let mean = Interval { estimate: control.mean, low: control.mean, high: control.mean, n: 1, level: 1.0 };
        control.mean.is_finite() && statistics::decide(Some(&mean), limit) == Verdict::Fails
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
mod tests {
    use super::*;
    use crate::Extent;
    use crate::criterion::tests::GOOD;
    use serde_json::json;

    const STANDARD: Scope = Scope { extent: Extent::Standard, linux: false };

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

    /// The outcome of these cells at the standard extent, with a bound of 1.
    fn at_most_one(cells: &[Cell]) -> (Criterion, Outcome) {
        let text = GOOD.replace("dynamics.standing_queue_s", "delay_s");
        let text = text.replace("at_most_times = 2.0, of = \"newreno\"", "at_most = 1.0");
        let criterion = Criterion::parse(&text, "EV-04.toml").unwrap();
        let judging = Judging { law: "fast", name: "fast", baselines: &[], scope: STANDARD };
        let outcome = judge(&criterion, judging, |_| Runs { cells, refused: None });
        (criterion, outcome)
    }

    /// The numbers of seeds that cells get, and the verdict.
    fn more(cells: &[Cell]) -> (Vec<usize>, Verdict) {
        let (criterion, outcome) = at_most_one(cells);
        (wants_more(&criterion, &outcome, STANDARD).map(|(seeds, ..)| seeds).collect(), outcome.verdict)
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

    /// A measure that fails gets no more seeds. Its other cells are judged as at the last look: at 95 %, and no longer at 99.9 %.
    #[test]
    fn cells_beside_a_failure_are_judged_at_the_last_level() {
        // Student's t is 2.5 here, between the quantiles of 95 % and 99.9 %.
        let near = seeds("1 bdp", 0.9, 0.12);
        let failing = seeds("8 bdp", 2.0, 0.1);
        let verdicts = |cells: &[Cell]| {
            let (_, outcome) = at_most_one(cells);
            outcome.measures[0].cells.iter().map(|cell| cell.verdict).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(&near), [Verdict::Undecided]);
        assert_eq!(verdicts(&[near, failing].concat()), [Verdict::Meets, Verdict::Fails]);
    }

    /// Where the incumbents among themselves break a bound, a cell does not judge the law. With the incumbents' law under test neither.
    #[test]
    fn a_cell_whose_control_breaks_the_bound_is_not_judged() {
        let text = GOOD
            .replace("dynamics.standing_queue_s", "delay_s")
            .replace("at_most_times = 2.0, of = \"newreno\"", "at_most = 1.0, control = \"other\"");
        let criterion = Criterion::parse(&text, "EV-04.toml").unwrap();
        let scope = Scope { extent: Extent::Quick, linux: false };
        let run = |law: &str, other: &str, seed: &str, delay: f64| {
            let labels = [
                ("law", law),
                ("links.bottleneck.buffer", "1 bdp"),
                ("path", "P-dsl"),
                ("other", other),
                ("seed", seed),
            ];
            let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
            Cell::of_json(labels, json!({ "links": { "bottleneck": { "delay_s": delay } } }))
        };
        let three = |law: &str, other: &str, delay: f64| {
            ["1", "2", "3"].map(|seed| run(law, other, seed, delay + 0.001 * seed.parse::<f64>().unwrap()))
        };
        let of = |law: &str, baselines: &[String], cells: &[Cell]| {
            let judging = Judging { law, name: law, baselines, scope };
            let outcome = judge(&criterion, judging, |_| Runs { cells, refused: None });
            let cell = |cell: &CellOutcome| (cell.verdict, cell.control_breaks);
            (outcome.verdict, outcome.measures[0].cells.iter().map(cell).collect::<Vec<_>>())
        };
        let both = ["newreno", "cubic"].map(str::to_owned);
        let cells = [
            three("fast", "newreno", 2.0),
            three("newreno", "newreno", 3.0),
            three("cubic", "newreno", 0.5),
            three("fast", "cubic", 0.5),
            three("newreno", "cubic", 3.0),
            three("cubic", "cubic", 0.5),
        ]
        .concat();
        let judged = [(Verdict::Reported, true), (Verdict::Meets, false)];
        assert_eq!(of("fast", &both, &cells), (Verdict::Meets, judged.to_vec()));
        let judged = [(Verdict::Reported, true), (Verdict::Fails, false)];
        assert_eq!(of("newreno", &both[1..], &cells), (Verdict::Fails, judged.to_vec()));
    }

    /// A run of a law in a buffer; without a delay it lacks the number.
    fn run(law: &str, buffer: &str, seed: u64, delay_s: Option<f64>) -> Cell {
        let labels =
            [("law", law), ("links.bottleneck.buffer", buffer), ("path", "P-dsl"), ("seed", &seed.to_string())]
                .map(|(key, value)| (key.to_owned(), value.to_owned()));
        let link = delay_s.map_or(json!({}), |delay| json!({ "delay_s": delay }));
        Cell::of_json(labels.to_vec(), json!({ "links": { "bottleneck": link } }))
    }

    /// The outcome of three seeds of each law and buffer.
    fn outcome(bound: &str, runs: &[(&str, &str, [Option<f64>; 3])]) -> Outcome {
        judged(&GOOD.replace("at_most_times = 2.0, of = \"newreno\"", bound), runs)
    }

    fn judged(text: &str, runs: &[(&str, &str, [Option<f64>; 3])]) -> Outcome {
        let text = text.replace("dynamics.standing_queue_s", "delay_s");
        let criterion = Criterion::parse(&text, "EV-04.toml").unwrap();
        let baselines = ["newreno".to_owned(), "cubic".to_owned()];
        let scope = Scope { extent: Extent::Quick, linux: false };
        let judging = Judging { law: "fast", name: "fast", baselines: &baselines, scope };
        let cells: Vec<Cell> = runs
            .iter()
            .flat_map(|(law, buffer, seeds)| (1..).zip(seeds).map(|(seed, delay)| run(law, buffer, seed, *delay)))
            .collect();
        judge(&criterion, judging, |_| Runs { cells: &cells, refused: None })
    }

    const NEVER: [Option<f64>; 3] = [None; 3];

    fn about(delay_s: f64) -> [Option<f64>; 3] {
        [0.99, 1.0, 1.01].map(|by| Some(by * delay_s))
    }

    /// A law that never has the number in one cell does not meet the bound by its other cells: that cell is undecided, and the worst.
    #[test]
    fn a_number_that_no_run_has_decides_nothing() {
        let all = |never| [("fast", "1 bdp", about(0.1)), ("fast", "8 bdp", never), ("newreno", "8 bdp", about(0.1))];
        assert_eq!(outcome("at_most = 1.0", &all(about(0.1))).verdict, Verdict::Meets);
        let found = outcome("at_most = 1.0", &all(NEVER));
        let measured = &found.measures[0];
        let cell = &measured.cells[measured.worst_cell];
        assert_eq!((found.verdict, measured.cells.len(), cell.absent), (Verdict::Undecided, 2, 3));
        assert_eq!((cell.words().contains("8 bdp"), cell.verdict, cell.needed), (true, Verdict::Undecided, None));
        assert_eq!(cell.within([0.0, 9.0], measured.scale), Verdict::Undecided);
        // Nobody has it anywhere: the bound is there, and undecided.
        assert_eq!(outcome("at_most = 1.0", &[("fast", "1 bdp", NEVER)]).verdict, Verdict::Undecided);
        assert_eq!(
            outcome("at_most = 1.0, except = [\"fast\"]", &[("fast", "1 bdp", NEVER)]).verdict,
            Verdict::NotEvaluated
        );
        // A baseline without the number is no reason to pass.
        let beside = |theirs| [("fast", "1 bdp", about(0.1)), ("newreno", "1 bdp", theirs)];
        let times = "at_most_times = 2.0, of = \"newreno\"";
        assert_eq!(outcome(times, &beside(about(0.1))).verdict, Verdict::Meets);
        assert_eq!(outcome(times, &beside(NEVER)).verdict, Verdict::Undecided);
    }

    /// The cell in which others are alone is none of harm, and CUBIC's harm is that of another flow of CUBIC. Without such a cell no run
    /// has its harm.
    #[test]
    fn harm_has_its_own_cells() {
        let harm = "harm = { alone = { \"links.bottleneck.buffer\" = \"8 bdp\" }, better = \"less\" }";
        let text = GOOD.replace("bound = { at_most_times = 2.0, of = \"newreno\", source = \"ours\" }", harm);
        let beside = [("fast", "1 bdp", about(0.4)), ("cubic", "1 bdp", about(0.2))];
        let alone = [("fast", "8 bdp", about(0.1)), ("cubic", "8 bdp", about(0.1))];
        let measured = &judged(&text, &[beside, alone].concat()).measures[0];
        let [cell] = &measured.cells[..] else { panic!("{measured:?}") };
        assert!((cell.law.mean - 0.75).abs() < 1e-12 && (cell.baselines["cubic"].mean - 0.5).abs() < 1e-12, "{cell:?}");
        assert_eq!((measured.unit.as_str(), cell.absent, measured.verdict), ("", 0, Verdict::Reported));
        let measured = &judged(&text, &[&beside[..], &alone[1..]].concat()).measures[0];
        assert_eq!((measured.cells[0].absent, measured.cells[0].law.seeds.len()), (3, 0));
    }

    /// Rates of 8 and 2 at round trips of 160 ms and 40 ms go as 1/R, and rates of 16 and 1 as 1/R^2. Without a rate the exponent is
    /// infinite, and beside equal round trips there is none.
    #[test]
    fn an_exponent_is_a_slope_of_logarithms() {
        let paths = "path = \"near\"\nover = \"far\"\nexponent = [\"far_rtt\", \"near_rtt\"]";
        let text = GOOD.replace("path = \"links.bottleneck.dynamics.standing_queue_s\"", paths);
        let measure = &Criterion::parse(&text, "EV-04.toml").unwrap().measures[0];
        let of = |near: f64, far: f64, near_rtt: f64| {
            let summary = json!({ "near": near, "far": far, "far_rtt": 0.16, "near_rtt": near_rtt });
            number(measure, &Cell::of_json(Vec::new(), summary))
        };
        assert!(of(8.0, 2.0, 0.04).is_some_and(|b| (b - 1.0).abs() < 1e-12));
        assert!(of(16.0, 1.0, 0.04).is_some_and(|b| (b - 2.0).abs() < 1e-12));
        assert!(of(1.0, 1.0, 0.04).is_some_and(|b| b.abs() < 1e-12));
        assert_eq!((of(8.0, 0.0, 0.04), of(8.0, 8.0, 0.16)), (Some(f64::INFINITY), None));
        assert_eq!(unit(measure), "");
    }

    /// The reason why runs lack the number stands where some do.
    #[test]
    fn a_number_that_runs_lack_has_its_reason() {
        let text =
            GOOD.replace("title = \"standing queue\"", "title = \"standing queue\"\nabsent = \"the queue is short\"");
        let reason = |seeds| judged(&text, &[("fast", "1 bdp", seeds)]).measures[0].absent.clone();
        assert_eq!(reason([Some(0.1), None, Some(0.3)]).as_deref(), Some("the queue is short"));
        assert_eq!(reason(about(0.1)), None);
    }

    /// The seeds keep their numbers if one of them lacks the measured number.
    #[test]
    fn seeds_keep_their_numbers() {
        let found = outcome("at_most = 1.0", &[("fast", "1 bdp", [Some(0.1), None, Some(0.3)])]);
        let law = &found.measures[0].cells[0].law;
        assert_eq!((&law.seed_numbers[..], &law.seeds[..]), (&[1, 3][..], &[0.1, 0.3][..]));
    }

    /// The worst cell is one of those that decide: of a bound on a ratio to a baseline it is not that with the largest number.
    #[test]
    fn the_headline_is_of_a_cell_that_decides() {
        let runs = [
            ("fast", "1 bdp", about(0.3)),
            ("newreno", "1 bdp", about(0.1)),
            ("fast", "8 bdp", about(0.9)),
            ("newreno", "8 bdp", about(0.9)),
        ];
        let found = outcome("at_most_times = 2.0, of = \"newreno\"", &runs);
        let (measured, cell) = found.headline().unwrap();
        assert_eq!((found.verdict, measured.verdict), (Verdict::Fails, Verdict::Fails));
        assert!(cell.words().contains("1 bdp") && cell.survives, "{cell:?}");
    }

    /// Holm's correction counts the cells of all measures: p of 0.03 stands alone, and not beside another measure.
    #[test]
    fn the_correction_is_over_the_criterion() {
        let found = outcome("at_most = 1.0", &[("fast", "1 bdp", about(0.1))]);
        let mut measures = vec![found.measures[0].clone(), found.measures[0].clone()];
        let cell = &mut measures[0].cells[0];
        (cell.verdict, cell.p) = (Verdict::Fails, Some(0.03));
        conclude(&mut measures[..1]);
        assert!(measures[0].verdict == Verdict::Fails && measures[0].cells[0].survives);
        conclude(&mut measures);
        assert!(measures[0].verdict == Verdict::Undecided && !measures[0].cells[0].survives);
        assert_eq!(measures[1].verdict, Verdict::Meets);
    }

    /// Few seeds have the interval of the bootstrap, which lies between their ends, and so have quantiles and the largest rate over the
    /// smallest. Many seeds of a mean, and seeds that agree, have none.
    #[test]
    fn few_seeds_have_an_interval_of_the_bootstrap() {
        let criterion = Criterion::parse(GOOD, "EV-04.toml").unwrap();
        let of = |path: &str, seeds: u64, by: f64| {
            let seeded = (1..=seeds).map(|seed| (seed, 1.0 + by * seed as f64)).collect();
            numbers(&seeded, &Measure { path: path.to_owned(), ..criterion.measures[0].clone() }).bootstrap
        };
        let mean = "links.bottleneck.queueing_delay_mean_s";
        assert!(of(mean, 3, 0.1).is_some_and(|(low, high)| 1.1 <= low && low < high && high <= 1.3 + 1e-12));
        assert!(of(mean, 9, 0.1).is_some());
        assert_eq!((of(mean, 10, 0.1), of(mean, 3, 0.0)), (None, None));
        for skewed in
            ["groups.test.transfers.slowdown.p50", "links.b.queueing_delay_p99_s", "groups.test.dynamics.starvation"]
        {
            assert!(of(skewed, 10, 0.1).is_some(), "{skewed}");
        }
    }

    /// Of ratios the mean is the geometric one, and no interval is below zero; beside a zero or an infinite one there is none.
    #[test]
    fn numbers_of_ratios_are_geometric() {
        let criterion = Criterion::parse(GOOD, "EV-04.toml").unwrap();
        let of = |values: [f64; 3], scale| {
            numbers(&(1..).zip(values).collect(), &Measure { scale, ..criterion.measures[0].clone() })
        };
        let found = of([1.0, 0.125, 1.0 / 64.0], Scale::Ratio);
        assert!((found.mean - 0.125).abs() < 1e-12 && found.interval.is_some_and(|(low, _)| low > 0.0), "{found:?}");
        assert!(of([1.0, 0.125, 1.0 / 64.0], Scale::Difference).interval.is_some_and(|(low, _)| low < 0.0));
        assert_eq!(of([0.1; 3], Scale::Ratio).mean, 0.1);
        for endless in [0.0, f64::INFINITY] {
            assert_eq!(of([1.0, 2.0, endless], Scale::Ratio).interval, None);
        }
    }
}
