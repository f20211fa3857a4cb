//! Search for scenarios in which a law fails.

mod case;
mod confirm;
mod draft;
mod gene;
mod hint;
mod limits;
mod objective;
mod sampler;
mod shrink;
mod space;
mod trial;

pub use case::{Bench, Contender, Length};
pub use confirm::{Confirmation, Confirmed, FRESH_SEEDS, conclude};
pub use draft::Draft;
pub use gene::{Allele, Domain, Gene, Genome};
pub use hint::{Hint, hints};
pub use limits::Limits;
pub use objective::{Kind, Objective, Role, role};
pub use sampler::Sampler;
pub use shrink::shrink;
pub use space::{Grid, Space, SpaceError, Variation};
pub use trial::{Court, Judged, Measure, Outcome, Runner, measured};
