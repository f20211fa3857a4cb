//! The simulator against theorems, laws of nature, other simulators and itself.

mod bbr;
mod ccpd;
mod classes;
mod contracts;
mod crowd;
mod detail;
mod disciplines;
mod elements;
mod extremes;
mod fast_start;
mod feedback;
mod fidelity;
mod findings;
mod hosts;
mod laboratory;
mod laws_of_nature;
mod lead_lag;
mod packet_sizes;
mod paths;
mod response;
mod same_bits;
mod sender;
mod spans;
mod theorems;
mod traffic;
mod wired;
