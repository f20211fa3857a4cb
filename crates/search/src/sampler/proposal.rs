//! The proposals of a sampler that wait for their scores.

use std::cmp::Ordering;

use crate::gene::Genome;

/// A genome and its score.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scored {
    pub(super) genome: Genome,
    /// [`f64::NEG_INFINITY`] if it is not admissible.
    pub(super) score: f64,
}

impl Scored {
    /// The better first; of equal scores the genome that is first in the order of genomes.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.genome.cmp(&other.genome))
    }
}

/// The last genomes that were proposed. They stay until their scores are there.
#[derive(Debug, Clone)]
pub(super) struct Proposal(Vec<Genome>);

impl Proposal {
    /// Nothing waits.
    pub(super) const NONE: Self = Self(Vec::new());

    /// Proposes again the genomes that wait for their scores; if none does, those of `next`.
    pub(super) fn again_or(&mut self, next: impl FnOnce() -> Vec<Genome>) -> Vec<Genome> {
        if self.0.is_empty() {
            self.0 = next();
        }
        self.0.clone()
    }

    /// Takes the genomes with their scores. A missing score and one that is not a number are those of a genome that is not
    /// admissible; scores without a genome are ignored.
    pub(super) fn learn(&mut self, scores: &[f64]) -> Vec<Scored> {
        let genomes = std::mem::take(&mut self.0).into_iter().enumerate();
        let score = |at: usize| scores.get(at).copied().filter(|score| !score.is_nan()).unwrap_or(f64::NEG_INFINITY);
        genomes.map(|(at, genome)| Scored { genome, score: score(at) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gene::Allele;

    #[test]
    fn genomes_wait_for_their_scores() {
        let genome = |at| Genome(vec![Allele::At(at)]);
        let mut proposal = Proposal::NONE;
        assert_eq!(proposal.learn(&[1.0]), []);
        assert_eq!(proposal.again_or(|| (0..3).map(genome).collect()).len(), 3);
        assert_eq!(proposal.again_or(|| vec![genome(7)]).len(), 3, "they still wait");
        let mut scored = proposal.learn(&[1.0, f64::NAN]);
        assert_eq!(scored.iter().map(|s| s.score).collect::<Vec<_>>(), [1.0, f64::NEG_INFINITY, f64::NEG_INFINITY]);
        scored.reverse();
        scored.sort_by(Scored::order);
        assert_eq!(scored.iter().map(|s| s.genome.clone()).collect::<Vec<_>>(), [genome(0), genome(1), genome(2)]);
        assert_eq!(proposal.again_or(|| vec![genome(7)]), [genome(7)]);
    }
}
