//! The fluid world: the equilibrium of a scenario, and its stability.
//!
//! [`analyze`] takes a resolved scenario and gives its equilibrium, its loop gain with exact delays, margins, a verdict and
//! the class that limits it. It runs the code of each law on dual numbers and knows no law by name, so that a new
//! law needs no code here.
//!
//! | module | content |
//! | --- | --- |
//! | [`source`] | a class of flows: the equilibrium of its law at a signal, and its response to a small change |
//! | [`bottleneck`] | a link: the queue as an integrator, the law of its queue |
//! | [`equilibrium`] | the signal at which the rate of the sources equals that of the link |
//! | [`response`] | the loop gain `L(jw)`, in three models |
//! | [`margin`] | margins and the Nyquist criterion, of any loop gain |
//! | [`disturbance`] | the response of the closed loop to cross traffic |
//! | [`analysis`] | from a scenario to all of it |
//! | [`conditioner`] | a conditioner: its bucket as an integrator, its colours |
//! | [`contracts`] | from a scenario with customers to the loop that each one's conditioner closes |
//! | [`outer`] | loops that a law closes around something else, period by period |
//! | [`sessions`] | how many sessions of a kind are stable together |
//! | [`dde`] | delay differential equations by the method of steps |
//! | [`program`] | the same equilibrium by convex optimisation |
//! | [`retarded`] | linear delay equations and their rightmost roots |
//! | [`roots`] | rightmost roots of any loop |
//! | [`run`] | the world: scenarios over time |
//! | [`theory`] | the papers' formulas |
//!
//! It **does not** count acknowledgements as load, or the packets of a flow one by one.

pub mod analysis;
mod answer;
pub mod bottleneck;
pub mod complex;
pub mod conditioner;
pub mod contracts;
pub mod dde;
pub mod disturbance;
mod eigen;
pub mod equilibrium;
mod error;
mod linear;
mod loop_model;
mod machine;
pub mod margin;
mod matrix;
pub mod outer;
pub mod phase;
pub mod program;
pub mod response;
pub mod retarded;
pub mod roots;
pub mod run;
pub mod sessions;
mod settle;
pub mod source;
pub mod theory;

pub use analysis::{Analysis, Busy, Options, analyze, analyze_watched};
pub use answer::Answer;
pub use complex::Complex;
pub use error::AnalysisError;
pub use loop_model::LoopModel;
pub use margin::{Margins, Verdict};

pub use run::{Crew, Fluid, Method, Part};
pub use source::Clocking;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
