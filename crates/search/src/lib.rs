//! Search for scenarios in which a law fails.

mod gene;
mod sampler;

pub use gene::{Allele, Domain, Gene, Genome};
pub use sampler::Sampler;
