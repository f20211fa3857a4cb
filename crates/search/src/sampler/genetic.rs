//! A genetic algorithm on islands, for genes that repeat in time above all.
//!
//! Sources: Holland, "Adaptation in Natural and Artificial Systems", 1975; tournaments: Goldberg and Deb 1991; islands:
//! Tanese 1989. A sampler that has scores of few seeds keeps the best genome of an island with the score that it had.

use std::collections::BTreeSet;

use penstock_scenario::seed::Stream;

use super::Sampler;
use super::draw::below;
use super::proposal::{Proposal, Scored};
use super::variation::{admits, cross, mutate, random};
use crate::gene::{Gene, Genome};

/// The number of islands. Each has a population of its own.
const ISLANDS: usize = 4;

/// The number of children in each generation of an island that are random genomes, and have no parents. Where the best genomes of
/// a space stand alone, children of others do not find them. Source: Grefenstette, "Genetic algorithms for changing environments",
/// 1992, with half of a population. Differs: a third.
const STRANGERS: usize = 3;

/// The number of genomes of an island.
const INHABITANTS: usize = 10;

/// The number of inhabitants, drawn with repetition, that a parent is the best of.
const TOURNAMENT: usize = 3;

/// After so many generations, the best of each island also goes to the next island.
const EXCHANGE: usize = 10;

/// The number of children, and then of random genomes, that are drawn until one was not proposed before.
const ATTEMPTS: usize = 20;

/// Proposes a generation at a time, and no genome twice. It ends when it finds no new genome for any inhabitant.
#[derive(Debug, Clone)]
pub struct Genetic {
    genes: Vec<Gene>,
    corpus: Vec<Genome>,
    /// Of each island, the best first.
    islands: [Vec<Scored>; ISLANDS],
    /// Islands of the genomes that wait for their scores.
    places: Vec<usize>,
    /// All genomes proposed so far.
    known: BTreeSet<Genome>,
    /// The number of generations that have their scores.
    generations: usize,
    proposal: Proposal,
}

impl Genetic {
    /// Starts from these genomes, which may be none: the first generation has them, and neighbours of them up to a
    /// population of 40. Without any, the first generation is random. Genomes that the genes do not admit are left out.
    pub fn new(genes: Vec<Gene>, mut corpus: Vec<Genome>) -> Self {
        corpus.retain(|genome| admits(&genes, genome));
        Self {
            genes,
            corpus,
            islands: [const { Vec::new() }; ISLANDS],
            places: Vec::new(),
            known: BTreeSet::new(),
            generations: 0,
            proposal: Proposal::NONE,
        }
    }

    /// The genomes of the next generation, each with its island.
    fn next(&mut self, stream: &mut Stream) -> Vec<(usize, Genome)> {
        if self.generations == 0 {
            return self.first(stream);
        }
        let Self { genes, islands, known, .. } = self;
        let mut children = Vec::new();
        for (at, island) in islands.iter().enumerate() {
            // The best inhabitant stays: it needs no place.
            for place in 1..INHABITANTS {
                let child = unknown(genes, known, stream, |stream| {
                    let parents = (place > STRANGERS).then(|| (parent(island, stream), parent(island, stream)));
                    match parents {
                        Some((Some(one), Some(other))) => mutate(genes, &cross(genes, one, other, stream), stream),
                        _ => random(genes, stream),
                    }
                });
                children.extend(child.map(|child| (at, child)));
            }
        }
        children
    }

    /// The first generation: genomes are dealt to the islands in turn.
    fn first(&mut self, stream: &mut Stream) -> Vec<(usize, Genome)> {
        let Self { genes, corpus, known, .. } = self;
        let mut first: Vec<Genome> = corpus.iter().filter(|genome| known.insert((*genome).clone())).cloned().collect();
        for place in first.len()..ISLANDS * INHABITANTS {
            let near = if corpus.is_empty() { None } else { corpus.get(place % corpus.len()) };
            first.extend(unknown(genes, known, stream, |stream| match near {
                Some(near) => mutate(genes, near, stream),
                None => random(genes, stream),
            }));
        }
        first.into_iter().enumerate().map(|(at, genome)| (at % ISLANDS, genome)).collect()
    }

    /// Gives the next island the best of each, for its worst.
    fn exchange(&mut self) {
        let best: Vec<Option<Scored>> = self.islands.iter().map(|island| island.first().cloned()).collect();
        for (at, best) in best.into_iter().enumerate() {
            let to = &mut self.islands[(at + 1) % ISLANDS];
            if let Some(best) = best.filter(|best| !to.contains(best)) {
                to.truncate(INHABITANTS - 1);
                to.push(best);
                to.sort_by(Scored::order);
            }
        }
    }
}

impl Sampler for Genetic {
    fn ask(&mut self, stream: &mut Stream) -> Vec<Genome> {
        let mut proposal = std::mem::replace(&mut self.proposal, Proposal::NONE);
        let asked = proposal.again_or(|| {
            let (places, genomes) = self.next(stream).into_iter().unzip();
            self.places = places;
            genomes
        });
        self.proposal = proposal;
        asked
    }

    fn learn(&mut self, scores: &[f64]) {
        let scored = self.proposal.learn(scores);
        if scored.is_empty() {
            return;
        }
        let mut children = [const { Vec::new() }; ISLANDS];
        for (scored, place) in scored.into_iter().zip(self.places.drain(..)) {
            children[place].push(scored);
        }
        for (island, children) in self.islands.iter_mut().zip(children) {
            // The best stays, and others where there were too few new genomes.
            island.truncate(INHABITANTS.saturating_sub(children.len()).max(1));
            island.extend(children);
            island.sort_by(Scored::order);
        }
        self.generations += 1;
        if self.generations.is_multiple_of(EXCHANGE) {
            self.exchange();
        }
    }
}

/// The first draw that was not proposed before: some of `draw`, then as many random genomes. It is known from then on.
fn unknown(
    genes: &[Gene],
    known: &mut BTreeSet<Genome>,
    stream: &mut Stream,
    draw: impl Fn(&mut Stream) -> Genome,
) -> Option<Genome> {
    (0..2 * ATTEMPTS)
        .map(|attempt| if attempt < ATTEMPTS { draw(stream) } else { random(genes, stream) })
        .find(|genome| known.insert(genome.clone()))
}

/// The best of a tournament.
fn parent<'a>(island: &'a [Scored], stream: &mut Stream) -> Option<&'a Genome> {
    // The best are first.
    let winner = (0..TOURNAMENT).map(|_| below(stream, island.len())).min()?;
    island.get(winner).map(|scored| &scored.genome)
}

#[cfg(test)]
mod tests {
    use penstock_scenario::seed::Seed;

    use super::*;
    use crate::gene::{Allele, Domain, ordered};

    const POPULATION: usize = ISLANDS * INHABITANTS;

    /// Steps of 64 lengths, from a first to a 64th unit. The landmarks are 20, 40 and 60 of them.
    fn pulses() -> Vec<Gene> {
        let domain = Domain::Steps { lengths: 64, landmarks: vec![19, 39, 59], values: 20, fewest: 2, most: 8 };
        vec![Gene { domain, optional: false }, ordered(30)]
    }

    /// A planted resonance: it needs a pause, within one unit of `k` x 20 units, after a pulse. The score is the higher
    /// the shorter the pulse and the larger its contrast, and zero with any other pause.
    fn resonance(genome: &Genome) -> f64 {
        let Allele::Steps(steps) = &genome.0[0] else { return f64::NEG_INFINITY };
        let pairs = steps.windows(2).map(|pair| {
            let ((pulse, high), (pause, low)) = (pair[0], pair[1]);
            let resonates = [19, 39, 59].iter().any(|landmark| pause.abs_diff(*landmark) <= 1);
            let contrast = high.saturating_sub(low) as f64 / 19.0;
            if resonates { contrast * (1.0 - pulse as f64 / 63.0) } else { 0.0 }
        });
        pairs.fold(0.0, f64::max)
    }

    fn search(sampler: &mut impl Sampler, seed: u64, evaluations: usize, score: fn(&Genome) -> f64) -> f64 {
        let mut stream = Seed(seed).stream("search");
        let (mut left, mut best) = (evaluations, f64::NEG_INFINITY);
        while left > 0 {
            let mut genomes = sampler.ask(&mut stream);
            genomes.truncate(left);
            if genomes.is_empty() {
                break;
            }
            let scores: Vec<f64> = genomes.iter().map(score).collect();
            best = scores.iter().copied().fold(best, f64::max);
            left -= genomes.len();
            sampler.learn(&scores);
        }
        best
    }

    /// If two samplers are equally good, one finds it seven times more often than the other in 20 with a probability below
    /// 0.03: the difference of two binomial numbers has a standard deviation of 3.2 at most.
    #[test]
    fn a_planted_resonance_is_found_more_often_than_by_random_draws() {
        let genes = pulses();
        let found = |best: f64| usize::from(best >= 0.9);
        let (mut by_genetic, mut by_random) = (0, 0);
        for seed in 0..20 {
            by_genetic += found(search(&mut Genetic::new(genes.clone(), vec![]), seed, 1_000, resonance));
            let mut stream = Seed(seed).stream("random");
            by_random += usize::from((0..1_000).any(|_| resonance(&random(&genes, &mut stream)) >= 0.9));
        }
        assert!(by_genetic >= by_random + 7, "{by_genetic} against {by_random} of 20");
    }

    /// No genome twice: a space of 24 genomes is proposed whole, and then the sampler ends.
    #[test]
    fn a_small_space_is_exhausted() {
        let genes = vec![ordered(6), ordered(4)];
        for seed in 0..20 {
            let mut sampler = Genetic::new(genes.clone(), vec![]);
            let mut stream = Seed(seed).stream("small");
            let mut all = Vec::new();
            for _ in 0..30 {
                let genomes = sampler.ask(&mut stream);
                sampler.learn(&vec![0.0; genomes.len()]);
                all.extend(genomes);
            }
            assert_eq!(sampler.ask(&mut stream), []);
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!((count, all.len()), (24, 24));
        }
    }

    #[test]
    fn the_first_generation_is_the_corpus_and_its_neighbours() {
        let genes = vec![ordered(1_000); 10];
        let genome = |at| Genome(vec![Allele::At(at); 10]);
        let wrong = Genome(vec![Allele::At(1_000); 10]);
        let mut sampler = Genetic::new(genes, vec![genome(100), genome(900), wrong, genome(100), Genome(vec![])]);
        let first = sampler.ask(&mut Seed(1).stream("corpus"));
        assert_eq!((&first[..2], first.len()), (&[genome(100), genome(900)][..], POPULATION));
        // A gene changes with p = 0.2, so that a neighbour with five of ten unchanged is all but certain.
        for neighbour in &first {
            let same = |of: usize| neighbour.0.iter().filter(|allele| **allele == Allele::At(of)).count();
            assert!(same(100).max(same(900)) >= 4, "{neighbour:?}");
        }
    }

    /// The best inhabitant never gets worse, and reaches the next island. Two genes do not count, so that islands that do
    /// not exchange have different best genomes.
    #[test]
    fn the_best_stays_and_spreads() {
        let genes = vec![ordered(100_000); 3];
        let mut sampler = Genetic::new(genes, vec![]);
        let mut stream = Seed(4).stream("islands");
        let mut best_of = [f64::NEG_INFINITY; ISLANDS];
        for generation in 1..=EXCHANGE * 4 {
            let genomes = sampler.ask(&mut stream);
            // Of each pair of generations, nothing in the second is admissible.
            let score = |genome: &Genome| match genome.0[0] {
                Allele::At(at) if generation % 2 == 1 => at as f64,
                _ => f64::NEG_INFINITY,
            };
            sampler.learn(&genomes.iter().map(score).collect::<Vec<_>>());
            for (island, best) in sampler.islands.iter().zip(&mut best_of) {
                assert!(island.len() == INHABITANTS && island[0].score >= *best);
                *best = island[0].score;
            }
            if generation % EXCHANGE == 0 {
                let best: BTreeSet<&Genome> = sampler.islands.iter().map(|island| &island[0].genome).collect();
                assert!(best.len() < ISLANDS, "{best:?}");
            }
        }
    }
}
