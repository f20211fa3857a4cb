//! Samplers: the choice of the next genomes. They propose genomes and learn the scores of those that were run.

mod cautious;
mod draw;
mod eigen;
mod evolution;
mod genetic;
mod hypercube;
mod proposal;
mod variation;

use penstock_scenario::seed::Stream;

pub(crate) use self::cautious::cautious;
pub use self::evolution::Evolution;
pub use self::genetic::Genetic;
pub use self::hypercube::Hypercube;
use crate::gene::Genome;

/// Proposes genomes.
pub trait Sampler {
    /// The next genomes, which may be known already; none once the sampler has no more to propose.
    ///
    /// Until it has learnt their scores, a sampler that is called again proposes the same genomes and draws nothing.
    ///
    /// All random numbers come from `stream`. So equal seeds give equal genomes, on however many processors these are run.
    fn ask(&mut self, stream: &mut Stream) -> Vec<Genome>;

    /// The scores of the genomes of the last [`Sampler::ask`], in their order: higher is worse for the law, and more
    /// interesting. A genome that was not admissible has the score [`f64::NEG_INFINITY`].
    fn learn(&mut self, scores: &[f64]);
}

#[cfg(test)]
mod tests;
