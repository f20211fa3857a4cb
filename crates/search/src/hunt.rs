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
/// Of the budget, the part for the points that the plain sampler has at first.
const PLAIN: f64 = 0.2;
/// Of the budget, the part for the phases up to the genetic search, and that for those up to the evolution of numbers.
const SHARES: [f64; 2] = [0.65, 0.85];
/// The number of points that evolution starts from, and of evaluations that each has.
const EVOLUTIONS: (usize, usize) = (3, 150);
/// Of the evaluations spent, the parts for challengers: scenarios below the threshold that seem worse than all that have been at
/// the next rung. The first is for the second rung, the other for the last.
const CHALLENGES: [f64; 2] = [0.3, 0.2];
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
    /// The best fitness at its end; at the end of the last rung that of its candidates, if it had one.
    pub best: f64,
    /// The seeds that this fitness is of: one at the first rung, three at the second, and five at the last. None without a fitness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_seeds: Option<usize>,
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
    /// The scenarios that have run at the second rung, and a genome of each.
    promoted: BTreeMap<String, Genome>,
    phases: Vec<Phase>,
    /// True if challengers go on to the next rung.
    challenges: bool,
    /// The evaluations spent on challengers, at the second rung and at the last.
    challenged: [usize; 2],
    /// The scenarios that have been at the last rung, with their length there.
    settled: BTreeMap<String, Draft>,
    /// The budget, its part before the last rung, and the evaluations spent.
    budget: usize,
    before_last: usize,
    spent: usize,
    refused: usize,
    first_candidate: Option<usize>,
    /// If the search ends with the first candidate that holds at the last rung: that one.
    first: bool,
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
        promoted: BTreeMap::new(),
        phases: Vec::new(),
        challenges: !effort.plain,
        challenged: [0; 2],
        settled: BTreeMap::new(),
        budget: effort.budget,
        before_last: before_last(effort.budget),
        spent: 0,
        refused: 0,
        first_candidate: None,
        first: effort.first,
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
        let points = until(PLAIN);
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
        hunt.counts_at_last(held.fitness);
        return Ok(Hunted { candidates: vec![held], phases: hunt.phases, first_candidate: hunt.first_candidate });
    }
    let halved = hunt.halve()?;
    let best = hunt.shapes(halved);
    let mut candidates = hunt.last_rung(&best)?;
    hunt.end_phase("last rung");
    if let Some(first) = candidates.first() {
        hunt.counts_at_last(first.fitness);
    }
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
            let seems = self.promoted.contains_key(&text) && self.scenarios[&text] >= self.court.threshold;
            let room = self.spent + cost(RUNGS.len() - 1) <= self.budget;
            if self.held.is_some() || !seems || !room || self.settled.contains_key(&text) {
                continue;
            }
            let at = self.spent;
            self.settle(&[(genome, &text)])?;
            // What the last rung refutes is worth what it has there.
            let fitness = self.scenarios[&text];
            self.known.insert(genome.clone(), fitness);
            if fitness >= self.court.threshold {
                self.first_candidate = Some(at);
                self.held = self.settled_candidate(genome, &text);
            }
        }
        Ok(())
    }

    /// Runs those of `genomes` that seem to be failures at the second rung, once each, while there is budget: a short run with one
    /// seed deceives.
    fn promote(&mut self, genomes: &[Genome], texts: &[Option<String>]) -> Result<(), R::Error> {
        let mut chosen: BTreeMap<String, (Genome, Draft)> = BTreeMap::new();
        for (genome, text) in genomes.iter().zip(texts) {
            let Some(text) = text.clone().filter(|text| self.scenarios[text] >= self.court.threshold) else { continue };
            if self.promoted.contains_key(&text) || self.spent + (chosen.len() + 1) * cost(1) > self.before_last {
                continue;
            }
            if let Some(draft) = self.draft(genome, 1) {
                chosen.insert(text, (genome.clone(), draft));
            }
        }
        self.run_second(chosen)?;
        self.challenge(genomes, texts)?;
        self.challenge_last()
    }

    /// Runs those of `genomes` at the second rung, the best first, that seem worse for the law than all that have been there. The
    /// guided phases go after the noise of one seed otherwise.
    fn challenge(&mut self, genomes: &[Genome], texts: &[Option<String>]) -> Result<(), R::Error> {
        for (genome, text) in self.best_first(genomes, texts) {
            let best = self.best_of(self.promoted.keys());
            let fitness = self.scenarios[text];
            let is_open = self.challenges && fitness.is_finite() && fitness > best && !self.promoted.contains_key(text);
            if let (true, true, Some(draft)) = (is_open, self.has_room(0), self.draft(genome, 1)) {
                self.challenged[0] += cost(1);
                self.run_second(BTreeMap::from([(text.clone(), (genome.clone(), draft))]))?;
            }
        }
        Ok(())
    }

    /// The same from the second rung to the last, for all that have been at the second: failures of a minute deceive too. Scenarios
    /// that reach the threshold wait for the end.
    fn challenge_last(&mut self) -> Result<(), R::Error> {
        while self.challenges && self.has_room(1) {
            let best = self.best_of(self.settled.keys());
            let worth = |text: &String| self.scenarios[text];
            let is_open = |text: &String| {
                !self.settled.contains_key(text) && worth(text) > best && worth(text) < self.court.threshold
            };
            let open = self.promoted.iter().filter(|(text, _)| is_open(text));
            let first = open.max_by(|a, b| worth(a.0).total_cmp(&worth(b.0)).then_with(|| b.1.cmp(a.1)));
            let Some((text, genome)) = first.map(|(text, genome)| (text.clone(), genome.clone())) else { break };
            self.challenged[1] += cost(2);
            self.settle(&[(&genome, &text)])?;
        }
        Ok(())
    }

    /// Genomes with the texts of their scenarios, the best first.
    fn best_first<'g>(&self, genomes: &'g [Genome], texts: &'g [Option<String>]) -> Vec<(&'g Genome, &'g String)> {
        let all = genomes.iter().zip(texts).filter_map(|(genome, text)| Some((genome, text.as_ref()?)));
        let mut sorted: Vec<(&Genome, &String)> = all.collect();
        sorted.sort_by(|a, b| self.scenarios[b.1].total_cmp(&self.scenarios[a.1]).then_with(|| a.0.cmp(b.0)));
        sorted
    }

    /// The best fitness of these scenarios.
    fn best_of<'t>(&self, texts: impl Iterator<Item = &'t String>) -> f64 {
        texts.filter_map(|text| self.scenarios.get(text).copied()).fold(f64::NEG_INFINITY, f64::max)
    }

    /// True if there is budget for one more challenger, at the second rung or at the last.
    fn has_room(&self, at: usize) -> bool {
        let rung = at + 1;
        let spent = (self.challenged[at] + cost(rung)) as f64;
        self.spent + cost(rung) <= self.before_last && spent <= CHALLENGES[at] * self.spent as f64
    }

    /// Runs scenarios at the last rung: each is worth what it has there.
    fn settle(&mut self, chosen: &[(&Genome, &String)]) -> Result<(), R::Error> {
        let last = RUNGS.len() - 1;
        let found = chosen.iter().filter_map(|(genome, text)| Some((self.draft(genome, last)?, (*text).clone())));
        let (drafts, texts): (Vec<Draft>, Vec<String>) = found.unzip();
        let found = self.court.fitness(&drafts, &seeds(last), f64::NEG_INFINITY, self.runner)?;
        for ((draft, text), scores) in drafts.into_iter().zip(texts).zip(found) {
            let fitness = scores.map_or(f64::NEG_INFINITY, |scores| cautious(&scores));
            if fitness.is_finite() {
                self.spent += cost(last);
            } else {
                self.refused += 1;
            }
            self.scenarios.insert(text.clone(), fitness);
            self.settled.insert(text, draft);
        }
        Ok(())
    }

    /// The candidate of a scenario that has been at the last rung, if it could be run there.
    fn settled_candidate(&self, genome: &Genome, text: &str) -> Option<Candidate> {
        let long = self.settled.get(text)?.clone();
        let fitness = self.scenarios[text];
        let draft = self.draft(genome, 1)?;
        fitness.is_finite().then(|| Candidate { genome: genome.clone(), draft, long: Some(long), fitness })
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
        let mut chosen: BTreeMap<String, (Genome, Draft)> = BTreeMap::new();
        for (genome, _) in self.ranked() {
            let Some((phase, text)) = self.proposed.get(&genome).cloned() else { continue };
            if left[phase] == 0 || self.promoted.contains_key(&text) || chosen.contains_key(&text) {
                continue;
            }
            if let Some(draft) = self.draft(&genome, 1) {
                left[phase] -= 1;
                chosen.insert(text, (genome, draft));
            }
        }
        self.run_second(chosen)?;
        // What a genome is worth is what its scenario is worth.
        for (genome, (_, text)) in &self.proposed {
            if self.promoted.contains_key(text) {
                self.known.insert(genome.clone(), self.scenarios[text]);
            }
        }
        Ok(room > 0)
    }

    /// Runs drafts at the second rung, by the texts of their scenarios at the first.
    fn run_second(&mut self, chosen: BTreeMap<String, (Genome, Draft)>) -> Result<(), R::Error> {
        let drafts: Vec<Draft> = chosen.values().map(|(_, draft)| draft.clone()).collect();
        let found = self.court.fitness(&drafts, &seeds(1), f64::NEG_INFINITY, self.runner)?;
        for ((text, (genome, _)), scores) in chosen.into_iter().zip(found) {
            self.spent += cost(1);
            self.promoted.insert(text.clone(), genome);
            let fitness = scores.map_or(f64::NEG_INFINITY, |scores| cautious(&scores));
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
            halved && !self.proposed.get(genome).is_some_and(|(_, text)| self.promoted.contains_key(text))
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

    /// The best of `candidates` at the last rung, as many as there is budget for, and those that have been there, ranked anew.
    fn last_rung(&mut self, candidates: &[Candidate]) -> Result<Vec<Candidate>, R::Error> {
        let many = self.budget.saturating_sub(self.spent) / cost(RUNGS.len() - 1);
        let with_text = |candidate: &Candidate| {
            let (_, text) = self.proposed.get(&candidate.genome)?;
            Some((candidate.genome.clone(), text.clone()))
        };
        let all: Vec<(Genome, String)> = candidates.iter().filter_map(with_text).collect();
        let new = all.iter().filter(|(_, text)| !self.settled.contains_key(text)).take(many);
        let chosen: Vec<(&Genome, &String)> = new.map(|(genome, text)| (genome, text)).collect();
        self.settle(&chosen)?;
        let mut ranked: Vec<Candidate> =
            all.iter().filter_map(|(genome, text)| self.settled_candidate(genome, text)).collect();
        ranked.sort_by(|a, b| b.fitness.total_cmp(&a.fitness).then_with(|| a.genome.cmp(&b.genome)));
        Ok(ranked)
    }

    fn end_phase(&mut self, name: &str) {
        let before: usize = self.phases.iter().map(|phase| phase.evaluations).sum();
        let best = self.scenarios.iter().filter(|(_, fitness)| fitness.is_finite()).max_by(|a, b| a.1.total_cmp(b.1));
        let rung = |text: &String| match (self.settled.contains_key(text), self.promoted.contains_key(text)) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        };
        let phase = Phase {
            name: name.to_owned(),
            evaluations: self.spent - before,
            refused: self.refused,
            best: best.map_or(f64::NEG_INFINITY, |(_, fitness)| *fitness),
            best_seeds: best.map(|(text, _)| RUNGS[rung(text)].0),
        };
        self.refused = 0;
        self.phases.push(phase);
    }

    /// At the end of the last rung, what it says counts.
    fn counts_at_last(&mut self, fitness: f64) {
        if let Some(phase) = self.phases.last_mut() {
            (phase.best, phase.best_seeds) = (fitness, Some(RUNGS[RUNGS.len() - 1].0));
        }
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
