//! Scenarios for tests of findings.

use crate::model::Scenario;
use crate::read::Document;

pub(super) fn scenario(text: &str) -> Scenario {
    let head = "format = 1\nduration = \"10 s\"\npacket = \"1500 B\"\n";
    let cells = Document::parse(&format!("{head}{text}"), "test.toml").and_then(|d| d.cells());
    cells.unwrap_or_else(|e| panic!("{e}")).remove(0).scenario
}

/// Findings of the scenario alone: id, subject and text of each.
pub(super) fn found(text: &str) -> Vec<(String, String, String)> {
    super::of_scenario(&scenario(text)).into_iter().map(|f| (f.id, f.subject, f.text)).collect()
}

pub(super) fn link(more: &str) -> String {
    format!("links.b = {{ from = \"l\", to = \"r\", rate = \"100 Mbit/s\", delay = \"1 ms\", {more} }}\n")
}

pub(super) fn flows(name: &str, more: &str) -> String {
    format!("flows.{name} = {{ from = \"l\", to = \"r\", rtt = \"20 ms\", {more} }}\n")
}
