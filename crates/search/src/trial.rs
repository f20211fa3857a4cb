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
        let references = self.references(drafts, seeds, &measured, |_| true, true, runner)?;
        let judged = measured.into_iter().zip(references).map(|(found, references)| match found {
            Ok(found) => Outcome::Run(found.into_iter().zip(references).map(|(m, r)| self.one(m, r)).collect()),
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
        // Without references a score is the largest that it can be.
        let scores = |found: &[f64]| found.iter().map(|m| kind.score(*m, &[])).collect::<Vec<_>>();
        let may_do = |found: &[f64]| mean(&scores(found)).is_some_and(|score| score >= enough);
        let references = self.references(drafts, seeds, &measured, may_do, false, runner)?;
        let fitness = measured.into_iter().zip(references).map(|(found, references)| {
            let found = found.ok()?;
            if !may_do(&found) {
                return Some(scores(&found));
            }
            Some(found.into_iter().zip(references).map(|(m, r)| self.one(m, r).fitness).collect())
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

    /// The measures of references for each draft and seed, where a score needs them. With `all`, those of all references, in
    /// their order; without, of an objective that asks only whether one does well enough, no more than it takes to know.
    fn references<R: Runner>(
        &self,
        drafts: &[Draft],
        seeds: &[u64],
        measured: &[Result<Vec<f64>, String>],
        may_do: impl Fn(&[f64]) -> bool,
        all: bool,
        runner: &mut R,
    ) -> Result<Vec<Vec<Vec<f64>>>, R::Error> {
        let kind = self.bench.kind();
        let laws: Vec<Vec<Contender>> = drafts.iter().map(|draft| self.bench.references(draft)).collect();
        let none = |found: &Result<Vec<f64>, String>| vec![Vec::new(); found.as_ref().map_or(0, Vec::len)];
        let mut references: Vec<Vec<Vec<f64>>> = measured.iter().map(none).collect();
        let mut open = Vec::new();
        for (at, found) in measured.iter().enumerate() {
            let Some(found) = found.as_ref().ok().filter(|found| may_do(found)) else { continue };
            let matters = |m: f64| kind.is_relative() || kind.score(m, &[]) >= self.threshold;
            open.extend(found.iter().enumerate().filter(|(_, m)| matters(**m)).map(|(n, _)| (at, n)));
        }
        let one_will_do = !all && !kind.is_relative();
        let rounds = match one_will_do {
            true if kind.is_conditional() => laws.iter().map(Vec::len).max().unwrap_or(0),
            true => 0,
            false => 1,
        };
        for round in 0..rounds {
            let mut asked = Vec::new();
            let mut scenarios = Vec::new();
            for &(at, n) in &open {
                // With all of them each has its place, whether it can be run or not.
                if !one_will_do {
                    references[at][n] = vec![f64::NAN; laws[at].len()];
                }
                // The last of them is the one that most often does well enough.
                let those = if one_will_do {
                    laws[at].len().checked_sub(round + 1).map_or(&laws[at][..0], |last| &laws[at][last..=last])
                } else {
                    &laws[at][..]
                };
                for (who, law) in those.iter().enumerate() {
                    if let Ok(scenario) = self.bench.scenario(&self.bench.with(&drafts[at], law), seeds[n]) {
                        asked.push((at, n, who));
                        scenarios.push(scenario);
                    }
                }
            }
            for ((at, n, who), found) in asked.into_iter().zip(runner.measure(kind, &scenarios)?) {
                match found {
                    Ok(found) if one_will_do => references[at][n].push(found),
                    Ok(found) => references[at][n][who] = found,
                    Err(_) => {}
                }
            }
            open.retain(|&(at, n)| references[at][n].is_empty() || kind.shortfall(&references[at][n]).is_some());
        }
        Ok(references)
    }

    /// The law under test and the references for a draft.
    pub fn contenders(&self, draft: &Draft) -> Vec<Contender> {
        [self.law.clone()].into_iter().chain(self.bench.references(draft)).collect()
    }

    fn one(&self, measured: f64, references: Vec<f64>) -> Judged {
        let ran: Vec<f64> = references.iter().copied().filter(|x| x.is_finite()).collect();
        let fitness = self.bench.kind().fitness(measured, &ran, self.threshold);
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
        assert_eq!((beside.fitness, &beside.references[..]), (kind.score(30.0, &[]), &[50.0, 40.0, 2.0][..]));
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
