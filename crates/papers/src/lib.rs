//! Figures and claims of papers: what is listed, what was measured, and whether it holds.
//!
//! [`Paper`] reads `papers/<key>/paper.toml`: every figure and table of the paper, and every claim with its bound.
//! Whoever runs an item's scenario, analyses it or computes its formula hands the [`Cell`]s back with their summaries; [`figure`] turns them into lines,
//! [`judge`] into a [`Finding`] a claim, and [`Verdicts`] compares these with what the repository has on record.
//! Everything here is a function of texts and numbers: files, threads and terminals belong to the command.

mod axis;
mod cell;
mod check;
mod figure;
mod judge;
mod paper;
mod verdicts;

pub use axis::position;
pub use cell::Cell;
pub use figure::{Figure, Line, Point, Row, also, figure, rows};
pub use judge::{Finding, JudgeError, Measured, Verdict, bound, judge};
pub use paper::{
    Axis, Bounds, Claim, Column, Falls, Item, LoopPlot, Other, Paper, PaperError, Path, Reason, Reference, Scale,
    Seeds, Table, Test, Values,
};
pub use verdicts::{Comparison, Extent, Recorded, Verdicts};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
