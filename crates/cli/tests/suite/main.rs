//! The command as a user has it, and the house.

mod bad_inputs;
#[path = "../bench/mod.rs"]
mod bench;
mod check;
mod dataset;
mod disturbance;
mod evaluate;
mod evaluate_known;
mod findings;
mod fluid;
mod house;
mod identity;
mod not_run;
mod notices;
mod of_quinn;
mod paper;
mod play;
mod records;
mod refused;
mod run;
mod search;
mod search_theory;
mod setup;
mod show;
mod site;
mod sweep;
mod terminal;
mod theory;
mod typed;
mod worlds;

/// The argument for the version.
pub(crate) const VERSION: &str = "";
