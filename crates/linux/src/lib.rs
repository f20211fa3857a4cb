//! The Linux world: twins of the laws, natively and inside the kernel.
//!
//! A law that runs in the kernel has a twin in C (`bpf/law/*.h`). [`twins`] lists them, [`vectors`] reads what every
//! implementation must compute (`vectors/*.txt`), and [`replay`] holds Rust, C on this processor and C inside the
//! running kernel against it, bit for bit. [`machine`] says what this machine lacks, and how to get it.
//!
//! Nothing is loaded until it is asked for.

pub mod clock;
pub mod machine;
mod native;
pub mod path;
pub mod replay;
pub mod run;
mod syscall;
pub mod twins;
pub mod vectors;
