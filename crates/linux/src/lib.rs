//! The Linux world: scenarios on this machine's own TCP, and kernel implementations of the laws.
//!
//! [`run::Linux`] runs a scenario: real sockets in two network namespaces, and between them the links of the scenario, with
//! the queues that the packets world has and real drops and marks ([`path`]). It states how far it was off. [`tool`] runs any
//! program's traffic over such a path.
//!
//! A law that runs in the kernel has a kernel implementation in C (`bpf/law/*.h`). [`kernel_laws`] lists them, [`vectors`] reads what every
//! implementation must compute (`vectors/*.txt`), and [`replay`] holds Rust, C on this processor and C inside the
//! running kernel against it, bit for bit. [`machine`] says what this machine lacks, and how to get it.
//!
//! Nothing is loaded until it is asked for.

pub mod account;
pub mod attach;
pub mod kernel_laws;
pub mod machine;
mod native;
pub mod replay;
pub mod run;
mod syscall;
pub mod tool;
pub mod vectors;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
