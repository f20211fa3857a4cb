//! Measurements by the parts of a run.

use penstock_law::quantity::Time;
use penstock_path::error::Bound;
use penstock_path::router::Outcome;
use penstock_scenario::model::{Group, Scenario};

use super::plan::{FlowPlan, Plan};
use super::sender::Sent;

/// Measurements of a run, by each of its parts.
pub(super) struct Measured {
    pub(super) plan: Plan,
    pub(super) outcome: Outcome,
    pub(super) bound: Bound,
    pub(super) sent: Sent,
    /// Time that the receiving end waited for a processor, where it is of this process and of QUIC.
    pub(super) receiver_late: Time,
    /// Delay of sources of datagrams at the end.
    pub(super) behind: Time,
    /// Cost of the laws that were registered for it.
    pub(super) costs: Vec<String>,
}

/// Flows that `is` picks by their groups.
pub(super) fn picked<'a>(
    scenario: &'a Scenario,
    run: &'a Measured,
    is: impl Fn(&str, &Group) -> bool + 'a,
) -> impl Iterator<Item = usize> + 'a {
    let of = move |plan: &FlowPlan| scenario.groups.get_index(plan.group).is_some_and(|(name, group)| is(name, group));
    run.plan.flows.iter().enumerate().filter(move |(_, plan)| of(plan)).map(|(at, _)| at)
}

/// Whether a group sends in that class.
pub(super) fn is_of_class(group: &Group, class: &str) -> bool {
    group.class.as_deref() == Some(class)
}
