//! Data that queue elsewhere than at the slowest link.

use indexmap::IndexMap;
use penstock_law::quantity::Rate;

use super::crossing::{Crossing, Flows};
use super::kind::Kind;
use crate::model::{Scenario, Service};
use crate::quantity::print_rate;
use crate::summary::{Finding, Measured};

pub(super) const KIND: Kind = Kind {
    id: "another-bottleneck",
    meaning: "the slowest link of a route is not its bottleneck: another link is full while the slowest is not, or the \
              interfaces of the flows together are slower than the link",
};

/// A link is full from this utilization on.
const FULL: f64 = 0.99;
/// A link is not full below this.
const FREE: f64 = 0.9;

/// A link that the interfaces of all its flows together cannot fill.
pub(super) fn interfaces(crossing: &Crossing<'_>, link: &str) -> Option<Finding> {
    let scenario = crossing.scenario;
    let line = &scenario.links[link];
    if line.service != Service::Constant {
        return None;
    }
    let slowest_here = |forward: &[String]| forward.iter().all(|name| scenario.links[name].rate >= line.rate);
    let mut sum = 0_u128;
    for Flows { group, needs, .. } in crossing.over(link) {
        // A source that sends less than its interface carries has no queue there.
        let bulk = needs.is_some_and(|needs| needs.reliable);
        if !slowest_here(&group.forward) || !bulk || group.transfers() || group.on_off.is_some() {
            return None;
        }
        sum += u128::from(group.access?.rate.0) * u128::from(group.count);
    }
    let first = crossing.over(link).next()?.name;
    if sum >= u128::from(line.rate.0) {
        return None;
    }
    let text = format!(
        "the interfaces of all flows over links.{link} have {} together, and the link has {}: packets queue at the \
         interfaces, and the buffer and the AQM of the link see no queue; use faster interfaces, more flows, or a slower \
         link",
        print_rate(Rate(u64::try_from(sum).unwrap_or(u64::MAX))),
        print_rate(line.rate)
    );
    Some(KIND.found(format!("flows.{first}.access"), text))
}

/// Full links of routes whose slowest link is not full, the route of acknowledgements included.
pub(super) fn links(scenario: &Scenario, measured: &Measured) -> Vec<Finding> {
    let mut found: IndexMap<&String, (&String, &String)> = IndexMap::new();
    for (name, group) in &scenario.groups {
        let route = || group.forward.iter().chain(&group.backward);
        if route().any(|link| scenario.links[link].service != Service::Constant) {
            continue;
        }
        let Some(slowest) = group.forward.iter().min_by_key(|link| scenario.links[*link].rate) else { continue };
        let utilization = |link: &String| measured.links.get(link).map_or(0.0, |link| link.utilization);
        if utilization(slowest) >= FREE {
            continue;
        }
        let faster = |link: &&String| scenario.links[*link].rate > scenario.links[slowest].rate;
        if let Some(full) = route().filter(faster).find(|link| utilization(link) >= FULL) {
            found.entry(full).or_insert((slowest, name));
        }
    }
    let finding = |(full, (slowest, group)): (&String, (&String, &String))| {
        let share = |link: &String| measured.links[link].utilization * 100.0;
        let text = format!(
            "the link is {:.0} % utilised, and links.{slowest}, the slowest on the route of flows.{group}, only {:.0} %: \
             the bottleneck is here; look at the queue of this link, give it a higher rate, or remove load from it",
            share(full),
            share(slowest)
        );
        KIND.found(format!("links.{full}"), text)
    };
    found.into_iter().map(finding).collect()
}
