//! The budget of a search, its rungs, and its end with the first candidate.

use std::sync::Arc;

use penstock_evaluation::SubjectRole;
use penstock_law::Registry;
use penstock_scenario::model::Scenario;
use penstock_scenario::world::Run;

use super::*;
use crate::case::{Bench, Contender};
use crate::limits::Limits;
use crate::objective::{Kind, Measure};

const SPACE: &str = r#"
format = 1
title  = "one flow"
[scenario]
format   = 1
duration = "60 s"
[scenario.links.bottleneck]
from   = "a"
to     = "b"
rate   = "10 Mbit/s"
delay  = "1 ms"
buffer = "10 bdp"
duplex = true
[scenario.flows.test]
from   = "a"
to     = "b"
rtt    = "40 ms"
cc     = { law = "cubic" }
[genes]
"flows.test.rtt"         = { from = "20 ms", to = "80 ms", per_decade = 96 }
"links.bottleneck.rate"  = { from = "1 Mbit/s", to = "100 Mbit/s", per_decade = 96 }
[[corpus]]
"flows.test.rtt" = "40 ms"
"#;

/// Vegas uses nothing in runs of up to `shows_for_s`, and all else everything: each scenario is a failure, so that each is
/// promoted.
struct Lopsided {
    shows_for_s: f64,
    /// The share that Vegas uses there.
    used: f64,
    /// Runs of the law under test, by the seconds that count.
    lengths: BTreeMap<u64, usize>,
    /// Seconds that count of runs of the law under test.
    scored_s: f64,
    /// True if a run of the first rung came after one of the last.
    went_on: bool,
}

impl Lopsided {
    fn new(shows_for_s: f64, used: f64) -> Self {
        Self { shows_for_s, used, lengths: BTreeMap::new(), scored_s: 0.0, went_on: false }
    }
}

impl Runner for Lopsided {
    type Error = ();

    fn measure(&mut self, _: Kind, scenarios: &[Scenario]) -> Result<Vec<Measure>, ()> {
        let measure = |scenario: &Scenario| {
            let is_tested = scenario.groups["test"].cc.law.name == "vegas";
            let scored_s = (scenario.duration - scenario.warmup).seconds();
            if is_tested {
                self.scored_s += scored_s;
                self.went_on |= scored_s < 21.0 && self.lengths.contains_key(&180);
                *self.lengths.entry(scored_s as u64).or_default() += 1;
            }
            Ok(if is_tested && scored_s <= self.shows_for_s { self.used } else { 1.0 })
        };
        Ok(scenarios.iter().map(measure).collect())
    }

    fn observe(&mut self, _: &Scenario) -> Result<Result<Run, String>, ()> {
        Ok(Err("no world".to_owned()))
    }
}

/// Searches [`SPACE`] for failures of Vegas, and returns the evaluations spent too.
fn searched(effort: Effort, runner: &mut Lopsided) -> (Hunted, usize) {
    let space = Space::parse(SPACE, "one.toml").unwrap();
    let bench = Bench::new(Arc::new(Registry::standard()), Kind::Underuse, SubjectRole::Controller);
    let law = Contender { name: "vegas".into(), setting: "{ law = \"vegas\" }".into() };
    let court = Court { bench: &bench, law: &law, limits: &Limits::default(), threshold: 0.5, varied: &[] };
    let hunted = hunt(&space, &court, effort, runner).unwrap();
    let spent = hunted.phases.iter().map(|phase| phase.evaluations).sum();
    (hunted, spent)
}

/// The charge is the cost of the runs, and never more than the budget: a scenario at the second rung costs nine once.
#[test]
fn a_budget_is_charged_once_and_not_exceeded() {
    for (budget, plain) in [(1, false), (7, false), (60, false), (60, true), (400, false), (400, true)] {
        let mut runner = Lopsided::new(f64::INFINITY, 0.0);
        let (_, spent) = searched(Effort { budget, seed: 1, plain, first: false }, &mut runner);
        assert!(spent <= budget, "{spent} of {budget}");
        assert_eq!(spent as f64, runner.scored_s / 20.0, "budget {budget}");
        assert!(budget < 60 || spent * 2 > budget, "{spent} of {budget}");
    }
}

/// A search that ends with the first candidate ends with one that the last rung does not refute.
#[test]
fn a_search_may_end_with_the_first_candidate() {
    let ended = |shows_for_s: f64, first: bool| {
        let mut runner = Lopsided::new(shows_for_s, 0.0);
        let (hunted, spent) = searched(Effort { budget: 400, seed: 1, plain: false, first }, &mut runner);
        assert_eq!(spent as f64, runner.scored_s / 20.0);
        (hunted, spent)
    };
    let (hunted, spent) = ended(f64::INFINITY, true);
    // One scenario to begin with: the corpus has no other.
    assert_eq!((spent, hunted.first_candidate, hunted.candidates.len()), (1 + 9 + 45, Some(10), 1));
    assert!(hunted.candidates[0].long.is_some());
    let (hunted, spent) = ended(60.0, true);
    assert_eq!(hunted.first_candidate, None);
    assert!(
        spent > 200 && hunted.candidates.iter().all(|candidate| candidate.long.is_none() || candidate.fitness < 0.5)
    );
    let (hunted, spent) = ended(60.0, false);
    assert_eq!(hunted.first_candidate, Some(10));
    assert!(spent > 200);
}

/// The best score says of how many seeds it is: a small budget has no last rung, and none at all not even a second.
#[test]
fn a_best_score_has_the_number_of_its_seeds() {
    for (budget, first, seeds) in [(5, false, 1), (60, false, 3), (400, false, 5), (400, true, 5)] {
        let mut runner = Lopsided::new(f64::INFINITY, 0.0);
        let (hunted, _) = searched(Effort { budget, seed: 1, plain: false, first }, &mut runner);
        let last = hunted.phases.last().unwrap();
        assert_eq!((last.best, last.best_seeds), (1.0, Some(seeds)), "budget {budget}");
    }
}

/// Below the threshold too, more seeds and longer runs decide what is best: half of what the last phase has for each.
#[test]
fn the_best_of_one_seed_are_not_trusted() {
    for plain in [false, true] {
        let mut runner = Lopsided::new(f64::INFINITY, 0.6);
        let (hunted, _) = searched(Effort { budget: 1000, seed: 1, plain, first: false }, &mut runner);
        let (second, last) = (runner.lengths[&60] / RUNGS[1].0, runner.lengths[&180] / RUNGS[2].0);
        let rest = 1000 - runner.lengths[&20];
        assert!(second >= 4 && 2 * 9 * second <= rest, "{second} of {rest}, plain {plain}");
        assert!(last >= 1 && 45 * last <= rest - 9 * second, "{last} of {rest}, plain {plain}");
        assert_eq!((hunted.first_candidate, hunted.phases.last().unwrap().best), (None, 0.4));
    }
}

/// Runs of a minute deceive too: challengers go on to the last rung while the search is under way, and have what they are worth
/// there.
#[test]
fn the_best_of_a_minute_are_not_trusted() {
    for plain in [false, true] {
        let mut runner = Lopsided::new(60.0, 0.6);
        let (hunted, _) = searched(Effort { budget: 3000, seed: 1, plain, first: false }, &mut runner);
        assert_eq!((runner.went_on, hunted.phases.last().unwrap().best), (!plain, 0.0));
    }
}
