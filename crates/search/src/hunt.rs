//! The search: where to look, how much to spend, and which candidates to keep.

use std::collections::{BTreeMap, BTreeSet};

use penstock_law::quantity::Time;
use penstock_scenario::seed::Seed;
use serde::Serialize;

use crate::draft::Draft;
use crate::gene::Genome;
use crate::sampler::{Evolution, Genetic, Hypercube, Sampler, cautious};
use crate::space::Space;
use crate::trial::{Court, Runner};

/// The rungs of a candidate: seeds, and the length of the scored part. The cost of one evaluation is that of the first.
const RUNGS: [(usize, u64); 3] = [(1, 20), (3, 60), (5, 180)];
/// The most points that the plain sampler has at first.
const PLAIN: usize = 200;
/// Of the budget, the part for the phases up to the genetic search, and that for those up to the evolution of numbers.
const SHARES: [f64; 2] = [0.65, 0.85];
/// The number of points that evolution starts from, and of evaluations that each has.
const EVOLUTIONS: (usize, usize) = (3, 150);
/// Of the evaluations spent, the part for challengers: scenarios below the threshold that seem worse than all with three seeds.
const CHALLENGES: f64 = 0.3;
/// Of the budget that the last phase has, the part for candidates that have one seed so far, at the second rung. The last rung has
/// the rest.
const HALVING: f64 = 0.5;
/// The number of candidates of one shape that go on to the last rung.
const ALIKE: usize = 3;
/// Proposals without an admissible one, after which a sampler is given up.
const BARREN: usize = 20;

/// The extent of a search, and its seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Evaluations: one is a scenario with one seed and a scored part of 20 s. Longer parts and more seeds count as several.
    pub budget: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// True if only the plain sampler is used, a Latin hypercube.
    pub plain: bool,
    /// True if the search ends with the first candidate that reaches the threshold at the last rung too.
    pub first: bool,
}

/// The results of a phase of the search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// The evaluations that it spent.
    pub evaluations: usize,
    /// Scenarios that it proposed and that were outside the limits, or no scenarios.
    pub refused: usize,
    /// The best fitness at its end.
    pub best: f64,
}

/// A candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its genome.
    pub genome: Genome,
    /// Its scenario with the length of the second rung, without a law under test.
    pub draft: Draft,
    /// The same with the length of the last rung, if it has been there.
    pub long: Option<Draft>,
    /// Its mean fitness less two standard errors, at the last rung that it reached.
    pub fitness: f64,
}

/// The results of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Hunted {
    /// Candidates, the worst for the law first.
    pub candidates: Vec<Candidate>,
    /// The phases.
    pub phases: Vec<Phase>,
    /// The evaluations that were spent when the first scenario reached the threshold at the second rung; none if none did. If the
    /// search ends with the first, only a scenario that does so at the last rung too counts.
    pub first_candidate: Option<usize>,
}

/// A search under way.
struct Hunt<'a, R> {
    space: &'a Space,
    court: &'a Court<'a>,
    runner: &'a mut R,
    /// The fitness of each genome, at the last rung that it reached.
    known: BTreeMap<Genome, f64>,
    /// The phase that proposed each genome first, and the text of its scenario at the first rung.
    proposed: BTreeMap<Genome, (usize, String)>,
    /// The fitness of each scenario: genes of absent elements have no effect.
    scenarios: BTreeMap<String, f64>,
    /// The scenarios that have run at the second rung.
    promoted: BTreeSet<String>,
    phases: Vec<Phase>,
    /// True if challengers have three seeds too, the evaluations spent on them, and the best fitness of all that have.
    challenges: bool,
    challenged: usize,
    second: f64,
    /// The budget, its part before the last rung, and the evaluations spent.
    budget: usize,
    before_last: usize,
    spent: usize,
    refused: usize,
    best: f64,
    first_candidate: Option<usize>,
    /// If the search ends with the first candidate: the scenarios that have been at the last rung, and the one that holds there.
    first: bool,
    asked: BTreeSet<String>,
    held: Option<Candidate>,
}

/// Searches a space.
///
/// # Errors
/// Those of the runner.
pub fn hunt<R: Runner>(space: &Space, court: &Court<'_>, effort: Effort, runner: &mut R) -> Result<Hunted, R::Error> {
    let mut stream = Seed(effort.seed).stream("search");
    let genes = space.genes();
    let mut hunt = Hunt {
        space,
        court,
        runner,
        known: BTreeMap::new(),
        proposed: BTreeMap::new(),
        scenarios: BTreeMap::new(),
        promoted: BTreeSet::new(),
        phases: Vec::new(),
        challenges: !effort.plain,
        challenged: 0,
        second: f64::NEG_INFINITY,
        budget: effort.budget,
        before_last: before_last(effort.budget),
        spent: 0,
        refused: 0,
        best: f64::NEG_INFINITY,
        first_candidate: None,
        first: effort.first,
        asked: BTreeSet::new(),
        held: None,
    };
    let until = |share: f64| libm::floor(share * effort.budget as f64) as usize;
    if effort.plain {
        let mut plain = Hypercube::new(genes.clone(), until(SHARES[1]));
        hunt.follow(&mut plain, &mut stream, until(SHARES[1]))?;
        hunt.end_phase("Latin hypercube");
    } else {
        let corpus = space.corpus();
        hunt.try_all(&corpus)?;
        hunt.hold_first(&corpus)?;
        hunt.end_phase("corpus");
        let points = PLAIN.min(until(SHARES[0]) / 2);
        let mut plain = Hypercube::new(genes.clone(), points);
        let here = hunt.spent + points;
        hunt.follow(&mut plain, &mut stream, here)?;
        hunt.end_phase("Latin hypercube");
        let starts: Vec<Genome> = hunt.ranked().into_iter().take(20).map(|(genome, _)| genome).collect();
        let mut genetic = Genetic::new(genes.clone(), starts);
        hunt.follow(&mut genetic, &mut stream, until(SHARES[0]))?;
        hunt.end_phase("genetic");
        for (start, _) in hunt.ranked().into_iter().take(EVOLUTIONS.0) {
            let mut numbers = Evolution::new(&genes, start, EVOLUTIONS.1);
            hunt.follow(&mut numbers, &mut stream, until(SHARES[1]))?;
        }
        hunt.end_phase("CMA-ES");
    }
    if let Some(held) = hunt.held.take() {
        hunt.end_phase("last rung");
        return Ok(Hunted { candidates: vec![held], phases: hunt.phases, first_candidate: hunt.first_candidate });
    }
    let halved = hunt.halve()?;
    let best = hunt.shapes(halved);
    let mut candidates = hunt.last_rung(&best)?;
    hunt.end_phase("last rung");
    // What had no last rung goes behind what had one.
    let have: BTreeSet<Genome> = candidates.iter().map(|candidate| candidate.genome.clone()).collect();
    candidates.extend(best.into_iter().filter(|candidate| !have.contains(&candidate.genome)));
    Ok(Hunted { candidates, phases: hunt.phases, first_candidate: hunt.first_candidate })
}

impl<R: Runner> Hunt<'_, R> {
    /// Lets a sampler propose until so much is spent. Candidates beyond the budget are not run: a sampler learns nothing of them.
    fn follow(
        &mut self,
        sampler: &mut impl Sampler,
        stream: &mut penstock_scenario::seed::Stream,
        until: usize,
    ) -> Result<(), R::Error> {
        let mut barren = 0;
        while self.spent < until && barren < BARREN && self.held.is_none() {
            let mut genomes = sampler.ask(stream);
            genomes.truncate(until.saturating_sub(self.spent));
            if genomes.is_empty() {
                break;
            }
            let before = self.spent;
            let scores = self.try_all(&genomes)?;
            sampler.learn(&scores);
            self.hold_first(&genomes)?;
            barren = if self.spent == before { barren + 1 } else { 0 };
        }
        Ok(())
    }

    /// The fitness of genomes at the first rung; known ones are not run again.
    fn try_all(&mut self, genomes: &[Genome]) -> Result<Vec<f64>, R::Error> {
        // The corpus may be larger than the budget.
        let genomes = &genomes[..genomes.len().min(self.before_last.saturating_sub(self.spent))];
        let mut new: BTreeMap<String, Draft> = BTreeMap::new();
        let mut texts: Vec<Option<String>> = Vec::with_capacity(genomes.len());
        for genome in genomes {
            let draft = if self.known.contains_key(genome) { None } else { self.draft(genome, 0) };
            let text = draft.as_ref().map(Draft::text);
            if let (Some(draft), Some(text)) = (draft, &text)
                && !self.scenarios.contains_key(text)
            {
                new.insert(text.clone(), draft);
            }
            texts.push(text);
        }
        let drafts: Vec<Draft> = new.values().cloned().collect();
        let found = self.court.fitness(&drafts, &seeds(0), f64::NEG_INFINITY, self.runner)?;
        for (text, scores) in new.into_keys().zip(found) {
            let fitness = scores.map_or(f64::NEG_INFINITY, |scores| scores[0]);
            if fitness.is_finite() {
                self.spent += 1;
            } else {
                self.refused += 1;
            }
            self.scenarios.insert(text, fitness);
        }
        self.promote(genomes, &texts)?;
        for (genome, text) in genomes.iter().zip(texts) {
            let fitness = text.as_ref().and_then(|text| self.scenarios.get(text).copied());
            self.known.entry(genome.clone()).or_insert(fitness.unwrap_or(f64::NEG_INFINITY));
            if let Some(text) = text {
                self.proposed.entry(genome.clone()).or_insert((self.phases.len(), text));
            }
        }
        Ok(genomes.iter().map(|genome| self.known.get(genome).copied().unwrap_or(f64::NEG_INFINITY)).collect())
    }

    /// If the search ends with the first candidate: runs those of `genomes` that have reached the threshold at the second rung at
    /// the last one, and holds the first that does so there too.
    fn hold_first(&mut self, genomes: &[Genome]) -> Result<(), R::Error> {
        if !self.first {
            return Ok(());
        }
        for genome in genomes {
            let Some((_, text)) = self.proposed.get(genome).cloned() else { continue };
            let fitness = self.scenarios[&text];
            let seems = self.promoted.contains(&text) && fitness >= self.court.threshold;
            let room = self.spent + cost(RUNGS.len() - 1) <= self.budget;
            if self.held.is_some() || !seems || !room || !self.asked.insert(text.clone()) {
                continue;
            }
            let Some(draft) = self.draft(genome, 1) else { continue };
            let (at, best) = (self.spent, self.best);
            let candidate = Candidate { genome: genome.clone(), draft, long: None, fitness };
            match self.last_rung(&[candidate])?.pop() {
                Some(held) if held.fitness >= self.court.threshold => {
                    self.first_candidate = Some(at);
                    self.held = Some(held);
                }
                // What the last rung refutes is worth what it has there.
                other => {
                    let fitness = other.map_or(f64::NEG_INFINITY, |candidate| candidate.fitness);
                    self.known.insert(genome.clone(), fitness);
                    self.scenarios.insert(text, fitness);
                    self.best = best;
                }
            }
        }
        Ok(())
    }

    /// Runs those of `genomes` that seem to be failures at the second rung, once each, while there is budget: a short run with one
    /// seed deceives.
    fn promote(&mut self, genomes: &[Genome], texts: &[Option<String>]) -> Result<(), R::Error> {
        let mut chosen: BTreeMap<String, Draft> = BTreeMap::new();
        for (genome, text) in genomes.iter().zip(texts) {
            let Some(text) = text.clone().filter(|text| self.scenarios[text] >= self.court.threshold) else { continue };
            if self.promoted.contains(&text) || self.spent + (chosen.len() + 1) * cost(1) > self.before_last {
                continue;
            }
            if let Some(draft) = self.draft(genome, 1) {
                chosen.insert(text, draft);
            }
        }
        self.run_second(chosen)?;
        self.challenge(genomes, texts)?;
        let there = texts.iter().flatten().map(|text| self.scenarios[text]);
        self.best = there.fold(self.best, f64::max);
        Ok(())
    }

    /// Runs those of `genomes` at the second rung, the best first, that seem worse for the law than all that have been there. The
    /// guided phases go after the noise of one seed otherwise.
    fn challenge(&mut self, genomes: &[Genome], texts: &[Option<String>]) -> Result<(), R::Error> {
        let mut best: Vec<(f64, &Genome, &String)> = Vec::new();
        for (genome, text) in genomes.iter().zip(texts).filter_map(|(genome, text)| Some((genome, text.as_ref()?))) {
            best.push((self.scenarios[text], genome, text));
        }
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        for (fitness, genome, text) in best {
            let spent = (self.challenged + cost(1)) as f64;
            let is_open =
                self.challenges && fitness.is_finite() && fitness > self.second && !self.promoted.contains(text);
            let room = self.spent + cost(1) <= self.before_last && spent <= CHALLENGES * self.spent as f64;
            if let (true, true, Some(draft)) = (is_open, room, self.draft(genome, 1)) {
                self.challenged += cost(1);
                self.run_second(BTreeMap::from([(text.clone(), draft)]))?;
            }
        }
        Ok(())
    }

    /// Runs the best of each phase that have one seed so far at the second rung. One seed deceives, and the guided phases go after
    /// what deceives: so the plain sampler's best have their turn beside theirs.
    /// False if there is no budget for that.
    fn halve(&mut self) -> Result<bool, R::Error> {
        let rest = self.budget.saturating_sub(self.spent);
        // One scenario has its last rung, where there is budget for it.
        let share = libm::floor(HALVING * rest as f64) as usize;
        let room = share.min(rest.saturating_sub(cost(RUNGS.len() - 1))) / cost(1);
        let phases = self.proposed.values().map(|(phase, _)| phase + 1).max().unwrap_or(1);
        let mut left = vec![room / phases; phases];
        let mut chosen: BTreeMap<String, Draft> = BTreeMap::new();
        for (genome, _) in self.ranked() {
            let Some((phase, text)) = self.proposed.get(&genome).cloned() else { continue };
            if left[phase] == 0 || self.promoted.contains(&text) || chosen.contains_key(&text) {
                continue;
            }
            if let Some(draft) = self.draft(&genome, 1) {
                left[phase] -= 1;
                chosen.insert(text, draft);
            }
        }
        self.run_second(chosen)?;
        // What a genome is worth is what its scenario is worth.
        for (genome, (_, text)) in &self.proposed {
            if self.promoted.contains(text) {
                self.known.insert(genome.clone(), self.scenarios[text]);
            }
        }
        Ok(room > 0)
    }

    /// Runs drafts at the second rung, by the texts of their scenarios at the first.
    fn run_second(&mut self, chosen: BTreeMap<String, Draft>) -> Result<(), R::Error> {
        let drafts: Vec<Draft> = chosen.values().cloned().collect();
        let found = self.court.fitness(&drafts, &seeds(1), f64::NEG_INFINITY, self.runner)?;
        for (text, scores) in chosen.into_keys().zip(found) {
            self.spent += cost(1);
            self.promoted.insert(text.clone());
            let fitness = scores.map_or(f64::NEG_INFINITY, |scores| cautious(&scores));
            self.second = self.second.max(fitness);
            // If the search ends with the first candidate, the last rung decides which that is.
            if fitness >= self.court.threshold && !self.first {
                self.first_candidate.get_or_insert(self.spent);
            }
            self.scenarios.insert(text, fitness);
        }
        Ok(())
    }

    /// The draft of a genome with the length of a rung; none if it is no scenario.
    fn draft(&self, genome: &Genome, rung: usize) -> Option<Draft> {
        let length = Time(RUNGS[rung].1 * Time::PER_SECOND);
        // Steps go on for as long as any run: what is behind the end has no effect.
        let longest = Time(2 * RUNGS[rung].1 * Time::PER_SECOND);
        self.court.bench.timed(&self.space.draft(genome, longest), length).ok()
    }

    /// The candidates that ran, the best first; equal ones in the order of genomes.
    fn ranked(&self) -> Vec<(Genome, f64)> {
        let run = self.known.iter().filter(|(_, fitness)| fitness.is_finite());
        let mut ranked: Vec<(Genome, f64)> = run.map(|(genome, fitness)| (genome.clone(), *fitness)).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        ranked
    }

    /// The best, not too many of one shape: of the same things that are there. Scenarios with three seeds go before those with one,
    /// if the best with one seed have had theirs.
    fn shapes(&self, halved: bool) -> Vec<Candidate> {
        let mut seen: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        let mut texts: BTreeSet<String> = BTreeSet::new();
        let mut candidates = Vec::new();
        let is_behind = |genome: &Genome| {
            halved && !self.proposed.get(genome).is_some_and(|(_, text)| self.promoted.contains(text))
        };
        let (behind, ahead): (Vec<_>, Vec<_>) = self.ranked().into_iter().partition(|(genome, _)| is_behind(genome));
        for (genome, fitness) in ahead.into_iter().chain(behind) {
            // As long as the second rung: what lasts 20 s only is no failure.
            let Some(draft) = self.draft(&genome, 1) else { continue };
            if !texts.insert(draft.text()) {
                continue;
            }
            let count = seen.entry(draft.elements()).or_insert(0);
            *count += 1;
            if *count <= ALIKE {
                candidates.push(Candidate { genome, draft, long: None, fitness });
            }
        }
        candidates
    }

    /// The best of `candidates` at the last rung, as many as there is budget for, ranked anew.
    fn last_rung(&mut self, candidates: &[Candidate]) -> Result<Vec<Candidate>, R::Error> {
        let last = RUNGS.len() - 1;
        let many = self.budget.saturating_sub(self.spent) / cost(last);
        let chosen: Vec<(&Candidate, Draft)> = candidates
            .iter()
            .take(many)
            .filter_map(|candidate| Some((candidate, self.draft(&candidate.genome, last)?)))
            .collect();
        let drafts: Vec<Draft> = chosen.iter().map(|(_, draft)| draft.clone()).collect();
        let found = self.court.fitness(&drafts, &seeds(last), f64::NEG_INFINITY, self.runner)?;
        let mut ranked = Vec::new();
        for ((candidate, long), scores) in chosen.into_iter().zip(found) {
            let Some(scores) = scores else {
                self.refused += 1;
                continue;
            };
            self.spent += cost(last);
            ranked.push(Candidate { long: Some(long), fitness: cautious(&scores), ..candidate.clone() });
        }
        ranked.sort_by(|a, b| b.fitness.total_cmp(&a.fitness).then_with(|| a.genome.cmp(&b.genome)));
        self.best = ranked.first().map_or(self.best, |candidate| candidate.fitness);
        Ok(ranked)
    }

    fn end_phase(&mut self, name: &str) {
        let before: usize = self.phases.iter().map(|phase| phase.evaluations).sum();
        self.phases.push(Phase {
            name: name.to_owned(),
            evaluations: self.spent - before,
            refused: std::mem::take(&mut self.refused),
            best: self.best,
        });
    }
}

/// The budget before the last rung: a budget for two candidates there has one at least, and a smaller one none.
fn before_last(budget: usize) -> usize {
    let one = cost(RUNGS.len() - 1);
    let share = libm::floor(SHARES[1] * budget as f64) as usize;
    if budget < 2 * one { budget } else { share.min(budget - one) }
}

/// The cost of a candidate at a rung, in evaluations.
const fn cost(rung: usize) -> usize {
    let (seeds, length) = RUNGS[rung];
    seeds * (length / RUNGS[0].1) as usize
}

/// The seeds of a rung.
fn seeds(rung: usize) -> Vec<u64> {
    (1..=RUNGS[rung].0 as u64).collect()
}

#[cfg(test)]
mod tests;
