//! The simulator against theorems, laws of nature, other simulators and itself.

mod ccpd;
mod classes;
mod contracts;
mod crowd;
mod disciplines;
mod elements;
mod extremes;
mod fast_start;
mod fidelity;
mod laboratory;
mod laws_of_nature;
mod lead_lag;
mod paths;
mod response;
mod same_bits;
mod sender;
mod spans;
mod theorems;
mod traffic;
mod wired;
