//! The limits of an adversary: a scenario outside these limits is not run.

use penstock_law::quantity::{Rate, Time};
use penstock_scenario::model::{Group, Link, Scenario, Service, Span};
use penstock_scenario::quantity;
use serde::{Deserialize, Deserializer};

use crate::objective::role::{Role, role};

/// The limits of an adversary.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The largest delay that is not one of congestion: jitter, late acknowledgements.
    #[serde(deserialize_with = "duration")]
    pub jitter: Time,
    /// The longest time for which a link gathers packets; where it is shorter than the jitter, that.
    #[serde(deserialize_with = "duration")]
    pub aggregation: Time,
    /// The largest difference between propagation delays of one link.
    #[serde(deserialize_with = "duration")]
    pub delay: Time,
    /// The largest share of packets that a line loses.
    pub loss: f64,
    /// The largest factor between a rate and the one before it.
    pub swing: f64,
    /// The longest time without capacity.
    #[serde(deserialize_with = "duration")]
    pub outage: Time,
    /// The lowest mean capacity of a link.
    #[serde(deserialize_with = "speed")]
    pub capacity: Rate,
    /// The smallest buffer [packets].
    pub buffer: u64,
    /// The largest share of a link that sources without congestion control may take on average.
    pub cross: f64,
    /// The most data packets of a run, about: rate times duration.
    pub packets: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            jitter: Time(0),
            aggregation: Time(0),
            delay: Time(0),
            loss: 0.0,
            swing: 10.0,
            outage: Time(10 * Time::PER_SECOND),
            capacity: Rate(100_000),
            buffer: 4,
            cross: 0.5,
            packets: 5e6,
        }
    }
}

fn duration<'a, D: Deserializer<'a>>(from: D) -> Result<Time, D::Error> {
    let text = String::deserialize(from)?;
    quantity::time(&text).map_err(serde::de::Error::custom)
}

fn speed<'a, D: Deserializer<'a>>(from: D) -> Result<Rate, D::Error> {
    let text = String::deserialize(from)?;
    quantity::rate(&text).map_err(serde::de::Error::custom)
}

impl Limits {
    /// The reason why a scenario is outside the limits; none if it is within.
    pub fn broken(&self, scenario: &Scenario) -> Option<String> {
        let links = scenario
            .links
            .iter()
            .find_map(|(name, link)| self.of_link(scenario, name, link).map(|why| format!("links.{name}: {why}")));
        links.or_else(|| {
            let mut groups = scenario.groups.iter();
            groups.find_map(|(name, group)| self.of_group(group).map(|why| format!("flows.{name}: {why}")))
        })
    }

    fn of_link(&self, scenario: &Scenario, name: &str, link: &Link) -> Option<String> {
        let mean = mean(link, scenario.duration);
        if mean < self.capacity.bit_per_s() {
            return Some(format!("its mean rate is {mean} bit/s, below {} bit/s", self.capacity.bit_per_s()));
        }
        let outage = outage(link, scenario.duration);
        if outage > self.outage {
            return Some(format!("it has no capacity for {} s, above {} s", outage.seconds(), self.outage.seconds()));
        }
        let mut before = link.rate.bit_per_s();
        for (_, rate) in link.service.changes() {
            let (low, high) = (rate.bit_per_s().min(before), rate.bit_per_s().max(before));
            if low > 0.0 && high / low > self.swing * (1.0 + 1e-9) {
                return Some(format!("its rate changes by a factor of {}, above {}", high / low, self.swing));
            }
            before = rate.bit_per_s();
        }
        let delays = || link.delays.iter().map(|(_, delay)| *delay).chain([link.delay]);
        let range = delays().max().unwrap_or_default().0 - delays().min().unwrap_or_default().0;
        if range > self.delay.0.max(self.jitter.0) {
            return Some(format!("its delay changes by {} s", Time(range).seconds()));
        }
        let gathers = self.aggregation.max(self.jitter);
        if link.aggregation.is_some_and(|gathered| gathered.time > gathers) {
            return Some(format!("it gathers packets for longer than {} s", gathers.seconds()));
        }
        if link.loss > self.loss {
            return Some(format!("it loses {} of its packets, above {}", link.loss, self.loss));
        }
        let (packets, bytes) = link.buffer.limits();
        if packets < self.buffer || bytes < self.buffer.saturating_mul(scenario.packet.wire.0) {
            return Some(format!("its buffer is below {} packets", self.buffer));
        }
        let crossing = scenario.groups.iter().filter(|(_, group)| group.forward.iter().any(|link| link == name));
        let unresponsive =
            crossing.clone().filter(|(name, _)| role(name) == Role::Cross).map(|(_, g)| offered(g)).sum::<f64>();
        if unresponsive > self.cross * mean {
            return Some(format!(
                "sources without congestion control send at {} times the rate of this link",
                unresponsive / mean
            ));
        }
        let packets = mean * scenario.duration.seconds() / scenario.packet.wire.bits();
        let slowest = scenario.links.values().map(|other| self::mean(other, scenario.duration)).fold(mean, f64::min);
        let crossed = crossing.count() > 0 && mean <= slowest;
        if crossed && packets > self.packets {
            return Some(format!("a run has about {packets} packets, above {}", self.packets));
        }
        None
    }

    fn of_group(&self, group: &Group) -> Option<String> {
        if group.loss > self.loss {
            return Some(format!("it loses {} of its packets, above {}", group.loss, self.loss));
        }
        let late = [group.jitter.map(|(_, most)| most), group.ack_jitter.map(|late| late.between.1)];
        let late = late.into_iter().flatten().max()?;
        (late > self.jitter)
            .then(|| format!("its packets wait for up to {} s, above {} s", late.seconds(), self.jitter.seconds()))
    }
}

/// The rates of a link in the first `span` of a run: from when, until when, how fast [bit/s].
pub(crate) fn rates(link: &Link, span: Time) -> Vec<(Time, Time, f64)> {
    let changes = link.service.changes();
    let starts = [(Time(0), link.rate)].into_iter().chain(changes.iter().copied());
    let ends = changes.iter().map(|(at, _)| *at).chain([span]);
    let pieces = starts.zip(ends).filter(|((from, _), _)| *from < span);
    pieces.map(|((from, rate), to)| (from, to.min(span), rate.bit_per_s())).collect()
}

/// The mean rate of a link in the first `span` of a run [bit/s].
pub(crate) fn mean(link: &Link, span: Time) -> f64 {
    if matches!(link.service, Service::Trace(_)) || span.0 == 0 {
        return link.rate.bit_per_s();
    }
    rates(link, span).iter().map(|(from, to, rate)| rate * (*to - *from).seconds()).sum::<f64>() / span.seconds()
}

/// The longest time without capacity.
fn outage(link: &Link, span: Time) -> Time {
    let (mut longest, mut now) = (Time(0), Time(0));
    for (from, to, rate) in rates(link, span) {
        now = if rate > 0.0 { Time(0) } else { now + (to - from) };
        longest = longest.max(now);
    }
    longest
}

/// The average rate of a group of sources without congestion control [bit/s]; of other groups zero.
fn offered(group: &Group) -> f64 {
    if group.cc.law.name != "cbr" {
        return 0.0;
    }
    let rates = [&group.cc.values].into_iter().chain(group.steps.iter().map(|(_, values)| values));
    let rate = rates.map(|values| values.number("rate")).fold(0.0, f64::max) * f64::from(group.count);
    match &group.on_off {
        Some((on, off)) => rate * mean_span(on) / (mean_span(on) + mean_span(off)),
        None => rate,
    }
}

/// The mean of a span [s].
fn mean_span(span: &Span) -> f64 {
    match *span {
        Span::Fixed(t) | Span::Exponential(t) | Span::Pareto { mean: t, .. } => t.seconds(),
        Span::Uniform(a, b) => f64::midpoint(a.seconds(), b.seconds()),
    }
}
