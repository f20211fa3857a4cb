//! The Linux world: scenarios on this machine's own TCP.
//!
//! [`run::Linux`] runs a scenario: real sockets in two network namespaces, and between them the links of the scenario, with
//! the queues that the packets world has and real drops and marks (`penstock-path`). It states how far it was off. Laws of
//! this project are registered as controllers for a run (`penstock-kernel`). [`tool`] runs any program's traffic over such a
//! path, as an [`account`] without rights.

pub mod account;
#[cfg(feature = "quic")]
pub mod quinn;
pub mod run;
#[cfg(feature = "quic")]
pub mod s2n;
mod syscall;
pub mod tool;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
