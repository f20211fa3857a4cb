//! Trials: drafts are run with the law under test, and with references where that matters, seed by seed.

use penstock_evaluation::statistics::mean;
use penstock_scenario::model::Scenario;
use penstock_scenario::world::Run;

use crate::case::{Bench, Contender};
use crate::draft::Draft;
use crate::limits::Limits;
use crate::objective::{Kind, Measure};

/// Runs scenarios.
pub trait Runner {
    /// The reason why a search cannot go on, such as a disk that is full.
    type Error;

    /// Runs them, in any order, and gives the measure of the objective for each, in their order; or why there is none.
    ///
    /// # Errors
    /// Names the reason why the search cannot go on.
    fn measure(&mut self, kind: Kind, scenarios: &[Scenario]) -> Result<Vec<Measure>, Self::Error>;

    /// Runs one, and gives all that it leaves; or why it cannot be run.
    ///
    /// # Errors
    /// Names the reason why the search cannot go on.
    fn observe(&mut self, scenario: &Scenario) -> Result<Result<Run, String>, Self::Error>;
}

/// The result of one seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The measure of the law under test.
    pub measured: f64,
    /// Those of the references, in their order, where they were run; not a number for one that cannot be run.
    pub references: Vec<f64>,
    /// The number that the search maximises: the score, unless the references show that the path allows nothing better.
    pub fitness: f64,
}

/// The result of a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// One for each seed.
    Run(Vec<Judged>),
    /// The scenario was not run, or has no measure of the objective, with the reason.
    Not(String),
}

/// Judges drafts.
#[derive(Debug, Clone)]
pub struct Court<'a> {
    /// Makes the scenarios.
    pub bench: &'a Bench,
    /// The law under test.
    pub law: &'a Contender,
    /// The limits of an adversary.
    pub limits: &'a Limits,
    /// The score from which on the law has failed.
    pub threshold: f64,
    /// The keys that the search changes: the decisive number of a failure is one of them, if it can be.
    pub varied: &'a [String],
}

impl Court<'_> {
    /// Judges drafts on these seeds. References run only if the law under test scores at least the threshold, or if a score has
    /// no meaning without them; then all of them run.
    ///
    /// # Errors
    /// Names the reason why the search cannot go on.
    pub fn judge<R: Runner>(&self, drafts: &[Draft], seeds: &[u64], runner: &mut R) -> Result<Vec<Outcome>, R::Error> {
        let measured = self.measured(drafts, seeds, runner)?;
        let references = self.measured_references(drafts, seeds, &measured, |_| true, true, runner)?;
        let judged = drafts.iter().zip(measured).zip(references).map(|((draft, found), references)| match found {
            Ok(found) => {
                let laws = self.references(draft);
                Outcome::Run(found.into_iter().zip(references).map(|(m, r)| self.one(&laws, m, r)).collect())
            }
            Err(why) => Outcome::Not(why),
        });
        Ok(judged.collect())
    }

    /// The fitness of drafts on these seeds, with as few runs of references as it takes: the same numbers as those of
    /// [`Self::judge`], but for drafts whose mean fitness is below `enough`. Those have their scores, whose mean is below it too.
    ///
    /// # Errors
    /// Names the reason why the search cannot go on.
    pub fn fitness<R: Runner>(
        &self,
        drafts: &[Draft],
        seeds: &[u64],
        enough: f64,
        runner: &mut R,
    ) -> Result<Vec<Option<Vec<f64>>>, R::Error> {
        let kind = self.bench.kind();
        let measured = self.measured(drafts, seeds, runner)?;
        let scores = |found: &[f64]| found.iter().map(|m| kind.score_at_most(*m)).collect::<Vec<_>>();
        let may_do = |found: &[f64]| mean(&scores(found)).is_some_and(|score| score >= enough);
        let references = self.measured_references(drafts, seeds, &measured, may_do, false, runner)?;
        let fitness = drafts.iter().zip(measured).zip(references).map(|((draft, found), references)| {
            let found = found.ok()?;
            if !may_do(&found) {
                return Some(scores(&found));
            }
            let laws = self.references(draft);
            Some(found.into_iter().zip(references).map(|(m, r)| self.one(&laws, m, r).fitness).collect())
        });
        Ok(fitness.collect())
    }

    /// The measures of the law under test for each draft, one for each seed.
    fn measured<R: Runner>(
        &self,
        drafts: &[Draft],
        seeds: &[u64],
        runner: &mut R,
    ) -> Result<Vec<Result<Vec<f64>, String>>, R::Error> {
        let admitted: Vec<_> = drafts.iter().map(|draft| self.admitted(draft, seeds)).collect();
        let scenarios: Vec<Scenario> = admitted.iter().flatten().flatten().cloned().collect();
        let mut found = runner.measure(self.bench.kind(), &scenarios)?.into_iter();
        let mut of = |scenarios: Vec<Scenario>| found.by_ref().take(scenarios.len()).collect::<Vec<Measure>>();
        let measures: Vec<_> = admitted.into_iter().map(|scenarios| scenarios.map(&mut of)).collect();
        Ok(measures.into_iter().map(|found| found?.into_iter().collect()).collect())
    }

    /// The measures of references for each draft and seed, where a score needs them, in their order; not a number for one that was not
    /// run. With `all`, those of all references; without, of an objective that asks only whether one does well enough, no more than it takes
    /// to know.
    fn measured_references<R: Runner>(
        &self,
        drafts: &[Draft],
        seeds: &[u64],
        measured: &[Result<Vec<f64>, String>],
        may_do: impl Fn(&[f64]) -> bool,
        all: bool,
        runner: &mut R,
    ) -> Result<Vec<Vec<Vec<f64>>>, R::Error> {
        let kind = self.bench.kind();
        let laws: Vec<Vec<Contender>> = drafts.iter().map(|draft| self.references(draft)).collect();
        let none = |found: &Result<Vec<f64>, String>| vec![Vec::new(); found.as_ref().map_or(0, Vec::len)];
        let mut references: Vec<Vec<Vec<f64>>> = measured.iter().map(none).collect();
        let mut open = Vec::new();
        for (at, found) in measured.iter().enumerate() {
            let Some(found) = found.as_ref().ok().filter(|found| may_do(found)) else { continue };
            let matters = |m: f64| kind.is_relative() || kind.score_at_most(m) >= self.threshold;
            open.extend(found.iter().enumerate().filter(|(_, m)| matters(**m)).map(|(n, _)| (at, n)));
        }
        let one_will_do = !all && !kind.is_relative();
        let rounds = match one_will_do {
            true if kind.is_conditional() => laws.iter().map(Vec::len).max().unwrap_or(0),
            true => 0,
            false => 1,
        };
        // Each has its place, whether it can be run or not.
        for &(at, n) in open.iter().filter(|_| rounds > 0) {
            references[at][n] = vec![f64::NAN; laws[at].len()];
        }
        for round in 0..rounds {
            let mut asked = Vec::new();
            let mut scenarios = Vec::new();
            for &(at, n) in &open {
                // The last of them is the one that most often does well enough.
                let those = if one_will_do {
                    laws[at].len().checked_sub(round + 1).map_or(0..0, |last| last..last + 1)
                } else {
                    0..laws[at].len()
                };
                for (who, law) in those.clone().zip(&laws[at][those]) {
                    if let Ok(scenario) = self.bench.scenario(&self.bench.with(&drafts[at], law), seeds[n]) {
                        asked.push((at, n, who));
                        scenarios.push(scenario);
                    }
                }
            }
            for ((at, n, who), found) in asked.into_iter().zip(runner.measure(kind, &scenarios)?) {
                if let Ok(found) = found {
                    references[at][n][who] = found;
                }
            }
            open.retain(|&(at, n)| kind.shortfall(&ran(&laws[at], &references[at][n])).is_some());
        }
        Ok(references)
    }

    /// The law under test and the references for a draft.
    pub fn contenders(&self, draft: &Draft) -> Vec<Contender> {
        [self.law.clone()].into_iter().chain(self.references(draft)).collect()
    }

    /// The references for a draft: the law under test is none of its own.
    pub fn references(&self, draft: &Draft) -> Vec<Contender> {
        self.bench.references_of(self.law, draft)
    }

    /// The references with a number that a score goes by, in the order of their laws.
    pub(crate) fn beside<'n>(&self, laws: &'n [Contender], measured: f64, references: &[f64]) -> Vec<(&'n str, f64)> {
        // What a score goes by may be the law under test.
        let itself = self.bench.goes_by_itself(self.law).map(|name| (name, measured));
        ran(laws, references).into_iter().chain(itself).collect()
    }

    fn one(&self, laws: &[Contender], measured: f64, references: Vec<f64>) -> Judged {
        let beside = self.beside(laws, measured, &references);
        let fitness = self.bench.kind().fitness(measured, &beside, self.threshold);
        Judged { measured, references, fitness }
    }

    /// The scenarios of a draft with the law under test, one for each seed, if it is within the limits.
    fn admitted(&self, draft: &Draft, seeds: &[u64]) -> Result<Vec<Scenario>, String> {
        let draft = self.bench.with(draft, self.law);
        let mut scenarios = Vec::with_capacity(seeds.len());
        for seed in seeds {
            let scenario = self.bench.scenario(&draft, *seed)?;
            if let Some(why) = self.limits.broken(&scenario) {
                return Err(why);
            }
            scenarios.push(scenario);
        }
        Ok(scenarios)
    }
}

/// The references that have a number, by their names.
fn ran<'n>(laws: &'n [Contender], references: &[f64]) -> Vec<(&'n str, f64)> {
    let all = laws.iter().zip(references).map(|(law, measured)| (law.name.as_str(), *measured));
    all.filter(|(_, measured)| measured.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use penstock_evaluation::SubjectRole;
    use penstock_law::Registry;

    use super::*;

    const DRAFT: &str = r#"
format = 1
duration = "60 s"
links.bottleneck = { from = "a", to = "b", rate = "10 Mbit/s", delay = "10 ms", buffer = "20 packets", duplex = true }
flows.test = { from = "a", to = "b", count = 2, rtt = "40 ms", start = "0 s", cc = { law = "cubic" } }
"#;

    /// Each law has the measure that stands here, and each run leaves the name of its law.
    struct Given {
        measures: Vec<(&'static str, f64)>,
        ran: Vec<String>,
    }

    impl Runner for Given {
        type Error = ();

        fn measure(&mut self, _: Kind, scenarios: &[Scenario]) -> Result<Vec<Measure>, ()> {
            let law = |scenario: &Scenario| scenario.groups["test"].cc.law.name.to_string();
            self.ran.extend(scenarios.iter().map(law));
            let of = |name: String| self.measures.iter().find(|(law, _)| *law == name);
            let found =
                scenarios.iter().map(|scenario| of(law(scenario)).map(|(_, m)| *m).ok_or_else(|| "none".into()));
            Ok(found.collect())
        }

        fn observe(&mut self, _: &Scenario) -> Result<Result<Run, String>, ()> {
            Ok(Err("no world".to_owned()))
        }
    }

    /// Where the references of the objective starve too, one that was asked for shows that the path allows better. It is run first.
    #[test]
    fn a_reference_that_was_asked_for_shows_what_a_path_allows() {
        let drafts = [Draft::parse(DRAFT).unwrap()];
        let of = |name: &str| Contender { name: name.into(), setting: format!("{{ law = \"{name}\" }}") };
        let vegas = of("vegas");
        let (kind, registry) = (Kind::Starve, Arc::new(Registry::standard()));
        let threshold = kind.threshold();
        let found = |more: Vec<Contender>| {
            let bench = Bench::new(Arc::clone(&registry), kind, SubjectRole::Controller).beside(more);
            let court = Court { bench: &bench, law: &vegas, limits: &Limits::default(), threshold, varied: &[] };
            let measures = vec![("vegas", 30.0), ("newreno", 50.0), ("cubic", 40.0), ("copa", 2.0)];
            let mut runner = Given { measures, ran: Vec::new() };
            let fitness = court.fitness(&drafts, &[1], f64::NEG_INFINITY, &mut runner).unwrap();
            let few = std::mem::take(&mut runner.ran);
            let Outcome::Run(judged) = court.judge(&drafts, &[1], &mut runner).unwrap().remove(0) else { panic!() };
            assert_eq!(fitness[0].as_deref(), Some(&[judged[0].fitness][..]));
            (judged[0].clone(), few)
        };
        let (alone, ran) = found(Vec::new());
        assert!(alone.fitness < threshold && alone.references == [50.0, 40.0], "{alone:?}");
        assert_eq!(ran, ["vegas", "cubic", "newreno"]);
        let (beside, ran) = found(vec![of("copa")]);
        assert_eq!((beside.fitness, &beside.references[..]), (kind.score_at_most(30.0), &[50.0, 40.0, 2.0][..]));
        assert_eq!(ran, ["vegas", "copa"]);
        // One that cannot be run keeps its place: the numbers behind it are not its own.
        let (with_a_gap, _) = found(vec![of("bbr"), of("copa")]);
        assert_eq!((with_a_gap.fitness, with_a_gap.references[3]), (beside.fitness, 2.0));
        assert!(with_a_gap.references[2].is_nan());
    }

    /// Where the best reference cannot be run, what is left shows nothing better: no number is not a good number.
    #[test]
    fn a_reference_that_cannot_be_run_excuses_nothing() {
        let (kind, drafts) = (Kind::Underuse, [Draft::parse(DRAFT).unwrap()]);
        let bench = Bench::new(Arc::new(Registry::standard()), kind, SubjectRole::Controller);
        let vegas = Contender { name: "vegas".into(), setting: "{ law = \"vegas\" }".into() };
        let threshold = kind.threshold();
        let court = Court { bench: &bench, law: &vegas, limits: &Limits::default(), threshold, varied: &[] };
        let mut runner = Given { measures: vec![("vegas", 0.1), ("newreno", 0.2), ("cubic", 0.3)], ran: Vec::new() };
        let Outcome::Run(judged) = court.judge(&drafts, &[1], &mut runner).unwrap().remove(0) else { panic!() };
        assert!(judged[0].references[2..].iter().all(|measured| measured.is_nan()), "{judged:?}");
        assert!(judged[0].fitness < threshold, "{judged:?}");
    }

    /// A path on which no reference gives a number is no failure: all of them are run, and none shows what the path allows.
    #[test]
    fn where_no_reference_has_a_number_nothing_has_failed() {
        let drafts = [Draft::parse(DRAFT).unwrap()];
        let vegas = Contender { name: "vegas".into(), setting: "{ law = \"vegas\" }".into() };
        for kind in [Kind::Starve, Kind::Recover, Kind::Loss, Kind::Fct] {
            let bench = Bench::new(Arc::new(Registry::standard()), kind, SubjectRole::Controller);
            let threshold = kind.threshold();
            let court = Court { bench: &bench, law: &vegas, limits: &Limits::default(), threshold, varied: &[] };
            let mut runner = Given { measures: vec![("vegas", 90.0)], ran: Vec::new() };
            let fitness = court.fitness(&drafts, &[1], f64::NEG_INFINITY, &mut runner).unwrap();
            assert_eq!(runner.ran.len(), 3, "{kind:?}: {:?}", runner.ran);
            let Outcome::Run(judged) = court.judge(&drafts, &[1], &mut runner).unwrap().remove(0) else { panic!() };
            assert!(judged[0].fitness < threshold, "{kind:?}: {judged:?}");
            assert_eq!(fitness[0].as_deref(), Some(&[judged[0].fitness][..]));
        }
    }

    /// A law beside itself does no better. With a low threshold its own ratio would show that the path allows better.
    #[test]
    fn a_law_is_no_reference_of_its_own() {
        let drafts = [Draft::parse(DRAFT).unwrap()];
        let judged = |kind: Kind, setting: &str, measures: Vec<(&'static str, f64)>| {
            let law = Contender { name: "newreno".into(), setting: setting.into() };
            let bench = Bench::new(Arc::new(Registry::standard()), kind, SubjectRole::Controller);
            let court = Court { bench: &bench, law: &law, limits: &Limits::default(), threshold: 0.2, varied: &[] };
            let mut runner = Given { measures, ran: Vec::new() };
            let Outcome::Run(judged) = court.judge(&drafts, &[1], &mut runner).unwrap().remove(0) else { panic!() };
            let names: Vec<String> = court.references(&drafts[0]).into_iter().map(|law| law.name).collect();
            (judged[0].clone(), names)
        };
        // A parameter with its default is the same law.
        for setting in ["{ law = \"newreno\" }", "{ ecn = false, law = \"newreno\" }"] {
            let (starved, names) = judged(Kind::Starve, setting, vec![("newreno", 2.5), ("cubic", 9.0)]);
            assert_eq!((names, starved.references), (vec!["cubic".to_owned()], vec![9.0]));
            assert!(starved.fitness < 0.2, "{}", starved.fitness);
            // The score of `loss` goes by NewReno all the same.
            let (lost, _) = judged(Kind::Loss, setting, vec![("newreno", 0.5), ("cubic", 0.0)]);
            assert!((lost.fitness - 0.5 / 1.501).abs() < 1e-12, "{}", lost.fitness);
        }
        let (_, names) = judged(Kind::Starve, "{ ecn = true, law = \"newreno\" }", vec![("newreno", 2.5)]);
        assert_eq!(names, ["newreno", "cubic"]);
    }

    /// The fitness by a few runs is that by all runs, whatever the references do, and `enough` only saves runs.
    #[test]
    fn few_references_give_the_same_fitness_as_all() {
        let draft = Draft::parse(DRAFT).unwrap();
        let law = Contender { name: "vegas".into(), setting: "{ law = \"vegas\" }".into() };
        let mut saved = 0;
        for kind in Kind::ALL {
            let bench = Bench::new(Arc::new(Registry::standard()), kind, SubjectRole::Controller);
            let court = Court {
                bench: &bench,
                law: &law,
                limits: &Limits::default(),
                threshold: kind.threshold(),
                varied: &[],
            };
            for measures in [
                [0.02, 0.9, 0.9],
                [30.0, 1.1, 0.3],
                [30.0, 50.0, 1.2],
                [30.0, 1.2, 50.0],
                [90.0, 80.0, 70.0],
                [1.0, 1.0, 1.0],
            ] {
                let mut runner = Given {
                    measures: ["vegas", "newreno", "cubic"].into_iter().zip(measures).collect(),
                    ran: Vec::new(),
                };
                let drafts = std::slice::from_ref(&draft);
                let judged = court.judge(drafts, &[1, 2], &mut runner).unwrap();
                let all = std::mem::take(&mut runner.ran).len();
                let Outcome::Run(judged) = &judged[0] else { panic!("{judged:?}") };
                let expected: Vec<f64> = judged.iter().map(|one| one.fitness).collect();
                let fitness = court.fitness(drafts, &[1, 2], f64::NEG_INFINITY, &mut runner).unwrap();
                assert_eq!(fitness, [Some(expected.clone())], "{kind:?} {measures:?}");
                let few = std::mem::take(&mut runner.ran).len();
                assert!(few <= all, "{kind:?}: {few} runs, {all} with all references");
                saved += all - few;
                // Where it is enough the numbers are the same, and otherwise both are below.
                let found = court.fitness(drafts, &[1, 2], 0.95, &mut runner).unwrap();
                let scores = found[0].clone().unwrap();
                if scores[0] >= 0.95 || expected[0] >= 0.95 {
                    assert_eq!(scores, expected, "{kind:?} {measures:?}");
                }
                assert!(runner.ran.len() <= few, "{kind:?}: {:?}", runner.ran);
            }
        }
        assert!(saved > 0);
    }
}
