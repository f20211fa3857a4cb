//! Findings: settings and outcomes that mislead a reader who takes the numbers as they stand.
//!
//! A finding is no error: the run does as its scenario states, and the statement is seldom the intended one. Each kind has an
//! id, listed in [`KINDS`], and a heading in `docs/findings.md`. A false alarm is worse than a miss, so each rule requires
//! more than it needs.

mod another_bottleneck;
mod classic_queue;
mod crossing;
mod drops_for_marks;
mod kind;
mod load_above_capacity;
mod locked_in_phase;
mod queue_beyond_buffer;
mod receiver_limited;
mod samples;
#[cfg(test)]
mod scene;
mod transfers_wait;
mod warmup_short;

use crate::model::Scenario;
use crate::summary::{Finding, Measured};
use crate::world::Table;
use crossing::Crossing;

pub use kind::Kind;

/// Every kind of finding, in the order of the alphabet.
pub const KINDS: [Kind; 9] = [
    another_bottleneck::KIND,
    classic_queue::KIND,
    drops_for_marks::KIND,
    load_above_capacity::KIND,
    locked_in_phase::KIND,
    queue_beyond_buffer::KIND,
    receiver_limited::KIND,
    transfers_wait::KIND,
    warmup_short::KIND,
];

/// The findings of the scenario alone, before any run.
pub fn of_scenario(scenario: &Scenario) -> Vec<Finding> {
    let crossing = Crossing::of(scenario);
    let mut findings = classic_queue::find(&crossing);
    for name in scenario.links.keys() {
        findings.extend(drops_for_marks::find(&crossing, name));
        findings.extend(load_above_capacity::find(&crossing, name));
        findings.extend(queue_beyond_buffer::find(&crossing, name));
        findings.extend(another_bottleneck::interfaces(&crossing, name));
    }
    findings
}

/// The findings of the scenario and its run: the numbers, and the series of links and groups.
pub fn of_run(scenario: &Scenario, world: &str, measured: &Measured, series: &[Table]) -> Vec<Finding> {
    let mut findings = of_scenario(scenario);
    for (name, group) in &measured.groups {
        findings.extend(group.transfers.as_ref().and_then(|it| transfers_wait::find(name, group.count, it)));
        findings.extend(receiver_limited::find(name, &scenario.groups[name], group));
        // Only a simulation repeats itself to the picosecond.
        if world == "packets" {
            findings.extend(locked_in_phase::find(scenario, name, group, measured.measured_s, series));
        }
    }
    findings.extend(another_bottleneck::links(scenario, measured));
    findings.extend(warmup_short::find(scenario, measured.measured_s, series));
    findings
}
