//! The measure of each objective in one run, in its natural unit.

use penstock_law::quantity::Time;
use penstock_scenario::model::{Scenario, Start};
use penstock_scenario::summary::{FlowSummary, LinkSummary, Measured, Summary};

use super::Kind;
use super::role::{Role, role};
use crate::limits::{mean, rates};

/// A queue is short if its 99th percentile is below this.
const SHORT_QUEUE_PACKETS: f64 = 10.0;
/// The second half of the scored part.
pub(crate) const SECOND_HALF: &str = "second-half";
/// From 20 s to 40 s after the last flow under test began.
pub(crate) const LATE: &str = "late";
/// From the last change of a link on.
pub(crate) const CHANGED: &str = "changed";
/// From 15 s after an outage began to its end.
pub(crate) const QUIET: &str = "quiet";
/// As long as the outage, and after it.
pub(crate) const AFTER: &str = "after";

/// The largest round-trip time without queues of the flows under test.
pub(crate) fn round(scenario: &Scenario) -> Time {
    let tested = scenario.groups.iter().filter(|(name, _)| role(name) == Role::Test);
    let rtts = tested.flat_map(|(name, group)| group.rtts(name, scenario.seed));
    rtts.max().filter(|rtt| rtt.0 > 0).unwrap_or(Time(Time::PER_SECOND / 10))
}

/// The link with the lowest mean rate of those that flows under test cross.
pub(crate) fn bottleneck(scenario: &Scenario) -> Option<&str> {
    let tested = scenario.groups.iter().filter(|(name, _)| role(name) == Role::Test);
    let links = tested.flat_map(|(_, group)| &group.forward);
    let rate = |name: &String| scenario.links.get(name).map_or(f64::INFINITY, |link| mean(link, scenario.duration));
    links.min_by(|a, b| rate(a).total_cmp(&rate(b))).map(String::as_str)
}

/// The time of the last start of a flow under test.
pub(crate) fn last_start(scenario: &Scenario) -> Time {
    let tested = scenario.groups.iter().filter(|(name, _)| role(name) == Role::Test);
    let last = |start: &Start, count: u32| match *start {
        Start::At(at) => at,
        Start::Uniform(_, most) => most,
        Start::Every(from, every) => Time(from.0 + every.0 * u64::from(count.saturating_sub(1))),
    };
    tested.map(|(_, group)| last(&group.start, group.count)).max().unwrap_or_default()
}

/// The time of the last change of a link.
pub(crate) fn last_change(scenario: &Scenario) -> Time {
    let changes = |link: &penstock_scenario::model::Link| {
        let rates = link.service.changes().iter().map(|(at, _)| *at);
        rates.chain(link.delays.iter().map(|(at, _)| *at)).filter(|at| *at < scenario.duration).max()
    };
    scenario.links.values().filter_map(changes).max().unwrap_or_default()
}

/// The first outage of the bottleneck: from when, until when.
pub(crate) fn outage(scenario: &Scenario) -> Option<(Time, Time)> {
    let link = scenario.links.get(bottleneck(scenario)?)?;
    let out = rates(link, scenario.duration).into_iter().find(|(_, _, rate)| *rate <= 0.0);
    out.map(|(from, to, _)| (from, to))
}

/// Flows of a role in a span.
fn flows(span: &Measured, of: Role) -> Vec<&FlowSummary> {
    span.flows.iter().filter(|flow| role(&flow.group) == of).collect()
}

/// The mean goodput of flows [bit/s].
fn goodput(flows: &[&FlowSummary]) -> Option<f64> {
    let sum: f64 = flows.iter().map(|flow| flow.goodput_bit_per_s).sum();
    (!flows.is_empty()).then(|| sum / flows.len() as f64)
}

/// The larger over the smaller of two rates; a rate below a packet in the span counts as one.
fn ratio(a: f64, b: f64, scenario: &Scenario, span: &Measured) -> f64 {
    let least = scenario.packet.payload.bits() / span.measured_s;
    a.max(b).max(least) / a.min(b).max(least)
}

/// The measure of the objective in a run; none if the run does not have it.
pub(crate) fn measure(kind: Kind, scenario: &Scenario, summary: &Summary) -> Option<f64> {
    let whole = &summary.whole;
    // What lasts shows in the second half too: the milder of the two counts.
    let half = summary.windows.get(SECOND_HALF);
    let both = |of: &dyn Fn(&Measured) -> Option<f64>, milder: fn(f64, f64) -> f64| {
        let all = of(whole)?;
        Some(half.and_then(of).map_or(all, |late| milder(all, late)))
    };
    let link = bottleneck(scenario)?;
    match kind {
        Kind::Underuse => both(&|span| used(scenario, span), f64::max),
        Kind::Starve => both(&|span| worst_ratio(scenario, span), f64::min),
        Kind::Coexist => both(
            &|span| {
                let (test, other) = (goodput(&flows(span, Role::Test))?, goodput(&flows(span, Role::Incumbent))?);
                Some(ratio(test, other, scenario, span))
            },
            f64::min,
        ),
        Kind::Queue => {
            let standing = whole.links.get(link)?.dynamics.as_ref()?.standing_queue_s?;
            Some(standing / queue_limit(scenario, link)?)
        }
        Kind::Oscillate => {
            let groups = whole.groups.iter().filter(|(name, _)| role(name) == Role::Test);
            let ellipse = groups.filter_map(|(_, group)| group.dynamics.as_ref()?.ellipse);
            let varied = ellipse.filter(|e| e.goodput_p50_bit_per_s > 0.0);
            let rates = varied.map(|e| e.goodput_sd_bit_per_s / e.goodput_p50_bit_per_s);
            rates.chain(queue_variation(scenario, link, whole)).max_by(f64::total_cmp)
        }
        Kind::Loss => lost(whole.links.get(link)?),
        Kind::Latecomer => {
            // Flows that begin together have no latecomer.
            let span = summary.windows.get(LATE).filter(|_| last_start(scenario).seconds() >= 1.0)?;
            let rates: Vec<f64> = flows(span, Role::Test).iter().map(|flow| flow.goodput_bit_per_s).collect();
            let fair = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
            let outer = rates.first()?.min(*rates.last()?);
            (rates.len() > 1).then(|| ratio(fair, outer.min(fair), scenario, span))
        }
        Kind::Stall => {
            let groups = whole.groups.iter().filter(|(name, _)| role(name) == Role::Test);
            groups.filter_map(|(_, group)| group.dynamics.as_ref()?.longest_silence_s).max_by(f64::total_cmp)
        }
        Kind::Recover => {
            let span = summary.windows.get(CHANGED)?;
            let settled = span.links.get(link)?.dynamics.as_ref()?.settling_80_s.unwrap_or(span.measured_s);
            Some(settled / round(scenario).seconds())
        }
        Kind::Harm => both(&|span| goodput(&flows(span, Role::Incumbent)), f64::max),
        Kind::Fct => {
            let groups = whole.groups.iter().filter(|(name, _)| role(name) == Role::Test);
            let transfers = groups.filter_map(|(_, group)| group.transfers.as_ref());
            // Where none has finished, each has taken as long as the span.
            transfers.map(|t| t.completion_p99_s.unwrap_or(whole.measured_s)).max_by(f64::total_cmp)
        }
        Kind::Unsafe => {
            let senders: u32 =
                scenario.groups.iter().filter(|(name, _)| role(name) == Role::Test).map(|(_, g)| g.count).sum();
            Some(summary.windows.get(QUIET)?.links.get(link)?.arrivals as f64 / f64::from(senders.max(1)))
        }
        Kind::Timid => used(scenario, summary.windows.get(AFTER)?),
    }
}

/// The share of flows under test in the capacity that cross traffic and incumbents leave, between 0 and 1.
fn used(scenario: &Scenario, span: &Measured) -> Option<f64> {
    let name = bottleneck(scenario)?;
    let link = span.links.get(name)?;
    // Where nothing could leave, nothing is known.
    let capacity = if link.utilization > 0.0 {
        link.throughput_bit_per_s / link.utilization
    } else {
        mean(scenario.links.get(name)?, scenario.duration)
    };
    let wire = |of: &dyn Fn(Role) -> bool| -> f64 {
        let groups = span.groups.iter().filter(|(name, _)| of(role(name)));
        groups.map(|(_, group)| group.throughput_packets_per_s * scenario.packet.wire.bits()).sum()
    };
    let left = (0.98 * capacity - wire(&|role| role != Role::Test)).max(0.01 * capacity);
    let goodput: f64 = flows_of_test(span) * scenario.packet.wire.bits() / scenario.packet.payload.bits();
    Some((goodput / left).clamp(0.0, 1.0))
}

fn flows_of_test(span: &Measured) -> f64 {
    span.groups.iter().filter(|(name, _)| role(name) == Role::Test).map(|(_, group)| group.goodput_bit_per_s).sum()
}

/// The mean goodput of the others over that of the flow with the least.
fn worst_ratio(scenario: &Scenario, span: &Measured) -> Option<f64> {
    let mut rates: Vec<f64> = flows(span, Role::Test).iter().map(|flow| flow.goodput_bit_per_s).collect();
    rates.sort_unstable_by(f64::total_cmp);
    let (least, others) = rates.split_first()?;
    let mean = others.iter().sum::<f64>() / others.len().max(1) as f64;
    (!others.is_empty()).then(|| ratio(mean, *least, scenario, span))
}

/// The share of arrivals that the link lost.
fn lost(link: &LinkSummary) -> Option<f64> {
    (link.arrivals > 0).then(|| link.drops as f64 / link.arrivals as f64)
}

/// The standard deviation of the queue over its mean. None of a path that varies, or that others use too: there a queue varies
/// whatever the law does. None of a queue that is always short: a few packets that come together are no oscillation.
fn queue_variation(scenario: &Scenario, name: &str, span: &Measured) -> Option<f64> {
    let varies = scenario.links.values().any(|link| !link.service.changes().is_empty() || !link.delays.is_empty());
    let is_shared = scenario.groups.keys().any(|group| role(group) != Role::Test);
    let link = span.links.get(name)?;
    let is_short = link.queue_p99_packets < SHORT_QUEUE_PACKETS;
    (!varies && !is_shared && !is_short).then(|| link.queue_sd_packets / link.queue_mean_packets)
}

/// The standing queue from which on the score is 1 [s]: the buffer, at most two round trips or 50 ms.
fn queue_limit(scenario: &Scenario, name: &str) -> Option<f64> {
    let link = scenario.links.get(name)?;
    let (packets, bytes) = link.buffer.limits();
    let bits = (packets as f64 * scenario.packet.wire.bits()).min(bytes as f64 * 8.0);
    let buffer = bits / mean(link, scenario.duration);
    Some(buffer.min((2.0 * round(scenario).seconds()).max(0.05)))
}
