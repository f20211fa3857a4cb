//! Control laws, pure: state and observation in, new state and decision out.
//!
//! A law has no clock, no random source and does no I/O. It is written once over an arithmetic [`Number`] and used as
//! `f64` (simulation), as a dual number (exact derivatives for the stability analysis) and as fixed point (the
//! kernel's results bit for bit). [`law`] has the traits. [`cc`], [`aqm`] and [`conditioner`] have the laws, a file
//! each. [`registry`] is the list that a program knows.
#![no_std]

extern crate alloc;

pub mod aqm;
pub mod cc;
pub mod conditioner;
pub mod estimate;
pub mod law;
pub mod mean;
pub mod number;
pub mod parameter;
pub mod quantity;
pub mod registry;

pub use law::{Entry, Fields, Instances, KernelProgram, Law, Observable, Observables, Role};
pub use number::{Dual, Fix, Number};
pub use parameter::{Parameter, Values};
pub use registry::Registry;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
