//! Records and verdicts to one self-contained HTML file, and to plain tables for a terminal.
//!
//! A [`Figure`] is a small spec plus data, drawn by [`svg::draw`]; a [`Page`] is a title and sections of figures, tables,
//! claims and code, written by [`html::write`]; [`assemble`] makes pages from runs, sweeps, analyses and papers. All of
//! it is values in, text out: no files, no threads, no clock, and the same text for the same values.
//!
//! ```
//! use penstock_report::{Axis, Figure, Line, svg};
//!
//! let mut figure = Figure::new("Queue at the bottleneck", Axis::new("Time", "s"), Axis::new("Queue", "packets"));
//! figure.lines.push(Line::new("FAST", vec![(0.0, 0.0), (1.0, 40.0), (2.0, 50.0)]).coloured("#0b6e99"));
//! assert!(svg::draw(&figure).starts_with("<svg"));
//! ```

pub mod assemble;
mod brief;
mod distinct;
pub mod figure;
pub mod heat;
pub mod html;
pub mod number;
pub mod page;
pub mod palette;
mod scale;
mod straight;
pub mod svg;
#[cfg(not(target_family = "wasm"))]
pub mod text;
mod trace;
mod viewer;

pub use figure::{Axis, Figure, Line, Mark, Scale, Spread, Style, Tick};
pub use heat::{HeatAxis, HeatMap};
pub use page::{Align, ClaimView, Code, Column, Page, Section, TableView, Verdict};
pub use viewer::Viewer;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
