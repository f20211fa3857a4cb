//! Laws as controllers of quinn.
#![allow(clippy::disallowed_types, reason = "quinn takes the time as it is in std; here it is simulated")]

mod laboratory;
mod refused;
mod sequences;
mod shares;
mod vectors;
