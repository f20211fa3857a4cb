//! Trials: drafts are run with the law under test, and with references where that matters, seed by seed.

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
    /// Those of the references, where they were run.
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

impl Outcome {
    /// The fitness of each seed; none where the scenario was not run.
    pub fn fitness(&self) -> Option<Vec<f64>> {
        match self {
            Self::Run(judged) => Some(judged.iter().map(|one| one.fitness).collect()),
            Self::Not(_) => None,
        }
    }
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
}

impl Court<'_> {
    /// Judges drafts on these seeds. References run only if the law under test scores at least the threshold, or if a score has
    /// no meaning without them.
    ///
    /// # Errors
    /// Names the reason why the search cannot go on.
    pub fn judge<R: Runner>(&self, drafts: &[Draft], seeds: &[u64], runner: &mut R) -> Result<Vec<Outcome>, R::Error> {
        let kind = self.bench.kind();
        let mut outcomes: Vec<Option<Outcome>> = vec![None; drafts.len()];
        let mut cases = Vec::new();
        for (at, draft) in drafts.iter().enumerate() {
            match self.admitted(draft, seeds) {
                Ok(scenarios) => cases.extend(scenarios.into_iter().map(|scenario| (at, scenario))),
                Err(why) => outcomes[at] = Some(Outcome::Not(why)),
            }
        }
        let scenarios: Vec<Scenario> = cases.iter().map(|(_, scenario)| scenario.clone()).collect();
        let mut measured: Vec<Vec<Measure>> = vec![Vec::new(); drafts.len()];
        for ((at, _), found) in cases.iter().zip(runner.measure(kind, &scenarios)?) {
            measured[*at].push(found);
        }
        // References, for the seeds on which they matter.
        let mut asked: Vec<(usize, usize)> = Vec::new();
        let mut scenarios = Vec::new();
        for (at, found) in measured.iter().enumerate() {
            let matters = |m: &f64| kind.is_relative() || kind.score(*m, &[]) >= self.threshold;
            for (n, _) in found.iter().enumerate().filter(|(_, m)| m.as_ref().is_ok_and(matters)) {
                for law in self.bench.references(&drafts[at]) {
                    if let Ok(scenario) = self.bench.scenario(&self.bench.with(&drafts[at], &law), seeds[n]) {
                        asked.push((at, n));
                        scenarios.push(scenario);
                    }
                }
            }
        }
        let mut references: Vec<Vec<Vec<f64>>> = measured.iter().map(|found| vec![Vec::new(); found.len()]).collect();
        for ((at, n), found) in asked.iter().zip(runner.measure(kind, &scenarios)?) {
            references[*at][*n].extend(found.ok());
        }
        let run = measured.into_iter().zip(references).map(|(found, references)| {
            let found: Result<Vec<f64>, String> = found.into_iter().collect();
            match found {
                Ok(found) => Outcome::Run(found.into_iter().zip(references).map(|(m, r)| self.one(m, r)).collect()),
                Err(why) => Outcome::Not(why),
            }
        });
        Ok(outcomes.into_iter().zip(run).map(|(refused, run)| refused.unwrap_or(run)).collect())
    }

    /// The law under test and the references for a draft.
    pub fn contenders(&self, draft: &Draft) -> Vec<Contender> {
        [self.law.clone()].into_iter().chain(self.bench.references(draft)).collect()
    }

    fn one(&self, measured: f64, references: Vec<f64>) -> Judged {
        let fitness = self.bench.kind().fitness(measured, &references, self.threshold);
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
