//! Verdicts by constructed runs.

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
        let labels =
            [("law", law), ("links.bottleneck.buffer", "1 bdp"), ("path", "P-dsl"), ("other", other), ("seed", seed)];
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
    let labels = [("law", law), ("links.bottleneck.buffer", buffer), ("path", "P-dsl"), ("seed", &seed.to_string())]
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
