//! Equal flows that share unequally because nothing is random.

use penstock_law::quantity::Time;

use super::kind::Kind;
use super::samples;
use crate::model::{Group, LossSpacing, Rtt, Scenario, Scheduler, Service, Size, Start};
use crate::quantity::print_time;
use crate::summary::{Finding, GroupSummary};
use crate::world::Table;

pub(super) const KIND: Kind = Kind {
    id: "locked-in-phase",
    meaning: "flows that differ in nothing but their start share a drop-tail queue unequally over many losses, and nothing in \
              the scenario is random: losses may fall on the same flows again and again",
};

/// Shares are unequal below this index of Jain. Of independent losses, twenty a flow leave an index above 0.97.
const UNEQUAL: f64 = 0.9;
/// Congestion events, and packets sent again for each flow: after fewer, flows may not have come to equal shares yet.
const EVENTS: f64 = 20.0;
/// Above this share of timeouts among the packets sent again, windows are too small to speak of a phase.
const TIMEOUTS: f64 = 0.05;

/// Flows of one group with one round trip, all there for the whole span, and nothing random on the way of any packet.
pub(super) fn find(
    scenario: &Scenario,
    name: &str,
    measured: &GroupSummary,
    measured_s: f64,
    series: &[Table],
) -> Option<Finding> {
    let group = &scenario.groups[name];
    let jain = measured.jain.filter(|jain| *jain < UNEQUAL)?;
    let rtt_s = measured.rtt_mean_s?;
    let flows = f64::from(group.count);
    let many = measured.retransmits as f64 >= EVENTS * flows;
    let few_timeouts = measured.timeouts as f64 <= TIMEOUTS * measured.retransmits as f64;
    let whole = group.stop.is_none() && latest(group) <= scenario.warmup.seconds();
    if !many || !few_timeouts || !whole || !alike(group) || is_random(scenario) {
        return None;
    }
    let slowest = group.forward.iter().min_by_key(|link| scenario.links[*link].rate)?;
    let from = scenario.warmup.seconds();
    let losses = samples::of(series, ("groups", "group"), name, "losses_per_s", (from, from + measured_s));
    // Losses within two round trips are one event.
    let (mut events, mut last) = (0.0, f64::NEG_INFINITY);
    for (at, _) in losses.into_iter().filter(|(_, losses)| *losses > 0.0) {
        if at - last > 2.0 * rtt_s {
            (events, last) = (events + 1.0, at);
        }
    }
    if events < EVENTS {
        return None;
    }
    let Rtt::Each(rtt) = group.rtt else { return None };
    let text = format!(
        "these {} flows differ in their start only, and their shares have Jain's index {jain:.2} after {events} times of loss \
         at links.{slowest}: nothing in the scenario is random, so a full buffer may meet the same flows each time; set \
         `jitter = {{ uniform = [\"0 s\", \"{}\"] }}`, a tenth of the round trip, and look if the shares stay",
        group.count,
        print_time(Time(rtt.0 / 10))
    );
    Some(KIND.found(format!("flows.{name}"), text))
}

/// When the last flow may start [s].
fn latest(group: &Group) -> f64 {
    match group.start {
        Start::At(at) | Start::Uniform(_, at) => at.seconds(),
        Start::Every(first, gap) => first.seconds() + gap.seconds() * f64::from(group.count - 1),
    }
}

/// Two flows or more that are bound to nothing but the law and the network.
fn alike(group: &Group) -> bool {
    group.count > 1 && !group.transfers() && group.on_off.is_none() && matches!(group.rtt, Rtt::Each(_))
}

/// Whether a draw, a rate or delay that changes, an AQM, a scheduler or a policer can break a pattern.
fn is_random(scenario: &Scenario) -> bool {
    let link = scenario.links.values().any(|link| {
        let random_loss = link.loss > 0.0 && link.loss_spacing == LossSpacing::Random;
        let changes = link.service != Service::Constant || !link.delays.is_empty();
        let policed = link.policer.is_some() || link.scheduler != Scheduler::Fifo;
        let draws = random_loss || link.reorder.is_some() || link.duplicate > 0.0;
        link.aqm.law.name != "droptail" || draws || changes || policed
    });
    let group = scenario.groups.values().any(|group| {
        let drawn = matches!(group.size, Some(Size::Pareto { .. } | Size::Measured(_)))
            || group.repeats.is_some()
            || group.on_off.is_some();
        let late = group.jitter.is_some() || group.ack_jitter.is_some() || group.spacing_jitter > 0.0;
        drawn || late || !group.steps.is_empty() || group.sender.rtt_noise.is_some()
    });
    // A conditioner may draw a colour.
    link || group || !scenario.customers.is_empty()
}
