//! Measurements by a path of the programs that ran at its ends, under the names of the other worlds.

use indexmap::IndexMap;
use penstock_law::quantity::Time;
use penstock_path::ends::Habits;
use penstock_path::error::Bound;
use penstock_path::router::Outcome;
use penstock_scenario::model::Scenario;
use penstock_scenario::world::{Run, RunError};

use super::measured::Measured;
use super::plan::{FlowPlan, Plan, Source};
use super::report;
use super::sender::{Reading, Sent, Told};

/// The result of a path that carried programs' traffic from its beginning to its end, with further facts about it.
pub(crate) fn of_programs(
    scenario: &Scenario,
    habits: Habits,
    outcome: Outcome,
    bound: Bound,
    mut findings: Vec<String>,
) -> Result<Run, RunError> {
    let flows = |group: usize, count: u32| {
        let flow = FlowPlan { group, start: Time::ZERO, stop: Time::NEVER, bytes: None, source: Source::Programs };
        std::iter::repeat_n(flow, count as usize)
    };
    let groups = scenario.groups.values().enumerate();
    let flows: Vec<FlowPlan> = groups.flat_map(|(at, group)| flows(at, group.count)).collect();
    findings.push("goodput counts packets with data from the sending end, headers included".to_owned());
    // The ends are others'; what is read of them is when.
    let reading = |at| Reading { at, flows: vec![Told::default(); flows.len()] };
    let sent = Sent {
        boundaries: outcome.boundaries.iter().map(|boundary| reading(boundary.at)).collect(),
        samples: outcome.samples.iter().map(|sample| reading(sample.at)).collect(),
        ..Sent::default()
    };
    let whole = Scenario { warmup: Time::ZERO, duration: outcome.end, windows: IndexMap::new(), ..scenario.clone() };
    let plan = Plan { habits, flows, laws: Vec::new(), findings };
    let measured =
        Measured { plan, outcome, bound, sent, receiver_late: Time::ZERO, behind: Time::ZERO, costs: Vec::new() };
    report::report(&whole, &measured)
}
