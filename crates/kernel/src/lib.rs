//! Kernel implementations of the laws, and laws attached to the running kernel.
//!
//! A law that runs in the kernel has a kernel implementation in C (`bpf/law/*.h`). [`kernel_laws`] lists them, [`vectors`] reads the
//! results that every implementation must compute (`vectors/*.txt`), [`generators`] write them, and [`replay`] compares Rust, C on this
//! processor and C inside the running kernel with them, bit for bit. [`attach`] makes controllers of TCP and programs at devices of them,
//! and reports the missing parts of this machine.
//!
//! Nothing is loaded before it is used.

pub mod attach;
pub mod generators;
pub mod kernel_laws;
mod native;
mod packed;
pub mod replay;
mod requirements;
mod syscall;
pub mod vectors;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
