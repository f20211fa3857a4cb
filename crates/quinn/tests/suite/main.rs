//! Laws as controllers of quinn.
#![allow(clippy::disallowed_types, reason = "quinn takes the time as it is in std; here it is simulated")]

mod conformance;
mod counts;
mod laboratory;
mod paths;
mod reactions;
mod refused;
mod rules;
mod sequences;
mod shares;
mod vectors;
mod waits;
mod want;
mod window;
