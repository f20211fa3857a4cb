//! Scenarios in, runs out.

use penstock_packets::Packets;
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Document;
use penstock_scenario::world::{Run, World};

/// The one scenario of a text.
pub(crate) fn scenario(text: &str) -> Scenario {
    let cells = Document::parse(text, "test.toml").and_then(|d| d.cells()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(cells.len(), 1);
    cells.into_iter().next().unwrap().scenario
}

/// Its run.
pub(crate) fn run(text: &str) -> Run {
    Packets.run(&scenario(text), &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}
