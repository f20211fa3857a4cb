//! Criteria of documents of the IETF (RFC 9743, RFC 7928, RFC 9331) as data, their statistics and verdicts.
//!
//! [`Criterion`] reads `evaluation/EV-04.toml` and the others: a requirement of a document, the scenario that measures it, the
//! numbers and their bounds.
//! Everything here is a function of texts and numbers: files, threads and terminals belong to the command.

mod bound;
mod criterion;
mod decision;
mod extent;
mod fits;
mod harm;
mod judge;
pub mod markdown;
mod numbers;
mod outcome;
pub mod page;
pub mod statistics;
mod subject;
mod table;
mod value;
mod worlds;

pub use bound::Bound;
pub use criterion::{
    Applies, Battery, Cells, Criterion, CriterionError, Figure, HeatMaps, Measure, Part, Scale, Worst,
};
pub use extent::{Extent, Scope};
pub use fits::Known;
pub use harm::{Better, Harm};
pub use judge::{HALVES, Judging, Runs, judge, unmeasured, wants_more};
pub use markdown::WORST_CELLS;
pub use outcome::{
    Against, Beside, BesideRow, CellOutcome, Evaluation, Measured, NotRun, Numbers, Outcome, PartNotRun, Recorded,
    RecordedOutcome,
};
pub use subject::{Subject, SubjectRole};
pub use table::table;
pub use worlds::compare;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
