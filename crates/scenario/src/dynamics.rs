//! Behaviour over time: numbers that follow from samples of links and flows, one a round. Each has one definition, here.
//!
//! A world that carries `[dynamics]` samples at each multiple of the round and calls these functions for each span; `docs/record.md`
//! lists the results. A function without enough samples returns `None`.

pub mod ellipse;
pub mod link;
pub mod loss;
mod rounds;
pub mod share;

pub use rounds::{FlowRound, LinkRound, WINDOW, rounds_within, windows};
