//! Criteria of documents of the IETF (RFC 9743, RFC 7928, RFC 9331) as data, their statistics and verdicts.
//!
//! [`Criterion`] reads `evaluation/EV-04.toml` and the others: what a document asks, the scenario that measures it, the
//! numbers and their bounds.
//! Everything here is a function of texts and numbers: files, threads and terminals belong to the command.

mod criterion;
mod extent;
mod judge;
pub mod markdown;
mod outcome;
pub mod page;
pub mod statistics;
mod subject;
mod table;

pub use criterion::{Applies, Battery, Bound, Cells, Criterion, CriterionError, Figure, Measure, Part, Scale, Worst};
pub use extent::Extent;
pub use judge::{Judging, Runs, judge, unmeasured, wants_more};
pub use outcome::{Against, CellOutcome, Evaluation, Measured, Numbers, Outcome, Recorded, RecordedOutcome};
pub use subject::{Place, Subject};
pub use table::table;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
