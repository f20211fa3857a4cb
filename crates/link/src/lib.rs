//! Hosts of queue laws: departure times, drops, marks, idle time. Time and coins are arguments.
//!
//! A [`Port`] is a queue in front of a line. The packets world and the emulated path of the Linux world drive the same
//! one, so that the simulated and the emulated queue are one implementation.

mod histogram;
mod port;

pub use histogram::Histogram;
pub use port::{Config, Counters, Offer, Port, Reason};
