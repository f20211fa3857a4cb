//! Figures and claims of papers: their lists, their measurements, and their verdicts.
//!
//! [`Paper`] reads `papers/<key>/paper.toml`: every figure and table of the paper, and every claim with its bound.
//! An item of the theory is analysed ([`analyze`]) or computed ([`compute`]) here; the caller runs the others. Either way
//! an item has [`Cell`]s. [`figure`] turns them into lines and [`judge`] into a [`JudgedClaim`] for each claim. [`Verdicts`]
//! compares these with the recorded ones of the repository.
//! Everything here is a function of texts and numbers: files, threads and terminals belong to the command.

mod analysis;
mod axis;
mod cell;
mod certainty;
mod check;
mod computed;
mod extent;
mod figure;
mod formula;
mod judge;
mod numbers;
mod paper;
mod tested;
mod verdict;
mod verdicts;

pub use analysis::{analyze, analyze_scenario};
pub use axis::position;
pub use cell::Cell;
pub use check::line;
pub use computed::{Computed, Curve};
pub use extent::Extent;
pub use figure::{Figure, Line, Point, Row, Undrawable, UnknownColumn, also, drawable, figure, rows};
pub use formula::compute;
pub use judge::{JudgeError, bound, judge};
pub use paper::{
    Axis, Bounds, Claim, Column, Falls, Item, LoopPlot, Other, Paper, PaperError, Path, Reason, Reference, Scale,
    Seeds, Table, Test, Values,
};
pub use verdict::{JudgedClaim, Measured, Verdict};
pub use verdicts::{Comparison, Recorded, Verdicts};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
