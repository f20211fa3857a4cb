//! The packets world: a discrete-event engine built for congestion control.
//!
//! Time is integer picoseconds. Every packet is 32 bytes by value in the ring of a delay line, of which only the head is
//! scheduled; ties are broken by a stamp given when scheduled, so that a run is the same bits on every machine. Nothing
//! is allocated per packet once the rings have grown. See [`Packets`] for the door, [`Simulation`] for a run in
//! steps, and `engine` for the loop.

mod accecn;
mod agenda;
mod ahead;
mod clients;
mod conditioners;
mod detail;
mod dynamics;
mod elements;
mod ends;
mod engine;
mod entry;
mod feedback;
mod flow;
mod gate;
mod handshake;
mod kind;
mod line;
mod lineage;
mod loss;
mod measure;
mod options;
mod packet;
mod partition;
mod parts;
mod plan;
mod receiver;
mod receiving;
mod report;
mod sender;
mod sight;
mod simulation;
mod station;
mod traffic;

use penstock_scenario::model::Scenario;
use penstock_scenario::world::{Run, RunError, Watcher, World, with_one_flow_each};

pub use parts::Parts;
pub use simulation::{Counters, Simulation};

/// The packets world.
#[derive(Debug, Clone, Copy, Default)]
pub struct Packets;

impl World for Packets {
    fn name(&self) -> &'static str {
        "packets"
    }

    fn run(&self, scenario: &Scenario, watcher: &mut dyn Watcher) -> Result<Run, RunError> {
        let mut engine = plan::build(scenario)?;
        let taken = engine.run(watcher)?;
        report::report(scenario, &engine, taken)
    }

    fn refusals(&self, scenario: &Scenario) -> Vec<String> {
        plan::build(&with_one_flow_each(scenario)).map_or_else(RunError::reasons, |_| Vec::new())
    }
}

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
