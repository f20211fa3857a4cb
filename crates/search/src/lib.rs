//! Search for scenarios in which a law fails, and for the smallest of them.
//!
//! A [`Space`] is a scenario with genes on grids and [`Limits`] of what an adversary may do; an [`Objective`] defines a failure.
//! [`hunt`] proposes scenarios, [`failures`] confirms the worst on fresh seeds and shrinks them, and [`page`] shows them.
//! Everything here is a function of texts and numbers: a [`Runner`] of the caller's runs the scenarios.

mod bounds;
mod case;
mod confirm;
mod draft;
mod failure;
mod gene;
mod hint;
mod hunt;
mod limits;
mod margin;
mod objective;
pub mod page;
mod sampler;
mod shrink;
mod space;
mod trial;

pub use bounds::{Band, Bound, Bounds, Of};
pub use case::{Bench, Contender, PLAIN_PATH};
pub use confirm::{Confirmation, Confirmed, FRESH_SEEDS, conclude};
pub use draft::Draft;
pub use failure::{Failure, as_it_stands, failures};
pub use gene::{Allele, Domain, Gene, Genome};
pub use hint::{Hint, hints};
pub use hunt::{Candidate, Effort, Hunted, Phase, hunt};
pub use limits::Limits;
pub use margin::Margin;
pub use objective::{Kind, Measure, Objective, Role, role};
pub use sampler::{Evolution, Genetic, Hypercube, Sampler};
pub use shrink::shrink;
pub use space::{Grid, Space, SpaceError, Variation};
pub use trial::{Court, Judged, Outcome, Runner};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
