//! Inputs of the search of an equilibrium: the links and the classes of flows of a scenario, and its parts that cannot be counted.

use penstock_law::aqm;
use penstock_law::cc;
use penstock_law::quantity::Time;
use penstock_scenario::model::{
    Buffer, EcnOnLine, Group, KnownBottleneck, Limit, Link, LossSpacing, Pacing, Scenario, Scheduler, Service,
};

use super::Options;
use crate::bottleneck::{Bottleneck, BottleneckEquilibrium};
use crate::error::AnalysisError;
use crate::source::{Clocking, Flows, Queue, Source};

/// Round-trip times of one group beyond which neighbours are taken together.
pub(super) const CLASSES_OF_A_GROUP: usize = 32;

/// Flows of one group with the same round trip, or with neighbouring ones where a group has many.
pub(crate) struct Class<'a> {
    pub(crate) name: String,
    pub(crate) group_name: &'a str,
    pub(crate) group: &'a Group,
    pub(crate) rtt_s: f64,
    pub(crate) count: u32,
    pub(super) merged: bool,
}

pub(crate) fn classes<'a>(scenario: &'a Scenario, options: &Options) -> Vec<Class<'a>> {
    let mut all = Vec::new();
    for (group_name, group) in &scenario.groups {
        let rtts = group.rtts(group_name, scenario.seed);
        let starts = group.starts(group_name, scenario.seed);
        let stop = group.stop.unwrap_or(Time::NEVER);
        let active = |start: &Time| options.at.is_none_or(|t| *start <= t && t < stop);
        let mut rtts: Vec<Time> = rtts.into_iter().zip(&starts).filter(|(_, s)| active(s)).map(|(r, _)| r).collect();
        rtts.sort_unstable();
        let mut distinct = rtts.clone();
        distinct.dedup();
        let merged = distinct.len() > CLASSES_OF_A_GROUP;
        let size = if merged { rtts.len().div_ceil(CLASSES_OF_A_GROUP) } else { rtts.len() };
        let parts: Vec<&[Time]> =
            if merged { rtts.chunks(size).collect() } else { rtts.chunk_by(|a, b| a == b).collect() };
        let several = parts.len() > 1;
        for (i, part) in parts.into_iter().enumerate() {
            let rtt_s = part.iter().map(|t| t.seconds()).sum::<f64>() / part.len() as f64;
            let name = if several { format!("{group_name}[{i}]") } else { group_name.clone() };
            all.push(Class { name, group_name, group, rtt_s, count: part.len() as u32, merged });
        }
    }
    all
}

/// Inputs of the search of an equilibrium.
pub(super) struct Bench<'a> {
    /// The links that carry data.
    pub(super) names: Vec<&'a str>,
    pub(super) links: Vec<Bottleneck>,
    /// For each class the links it crosses, in order, as indices of `names`.
    pub(super) routes: Vec<Vec<usize>>,
    pub(super) sources: Vec<Source>,
}

pub(super) fn bench<'a>(
    scenario: &'a Scenario,
    options: &Options,
    classes: &[Class<'a>],
) -> Result<Bench<'a>, AnalysisError> {
    let carries = |name: &String| classes.iter().any(|c| c.group.forward.contains(name));
    let loaded: Vec<(&str, &Link)> =
        scenario.links.iter().filter(|(name, _)| carries(name)).map(|(name, link)| (name.as_str(), link)).collect();
    if loaded.is_empty() {
        return Err(AnalysisError::NoLink);
    }
    let mut links = Vec::with_capacity(loaded.len());
    for (name, link) in &loaded {
        let site =
            aqm::Context { rate: link.rate, delay: link.delay, packet: scenario.packet.wire, classes: Vec::new() };
        link_counted(name, link, &site)?;
        links.push(Bottleneck::new(name, &link.aqm, &site)?);
    }
    for name in classes.iter().flat_map(|class| &class.group.backward) {
        way_back_counted(name, &scenario.links[name])?;
    }
    groups_counted(classes)?;
    check_contracts(scenario)?;
    let names: Vec<&str> = loaded.iter().map(|(name, _)| *name).collect();
    let mut crowds = vec![0.0; names.len()];
    for class in classes {
        for l in class.group.forward.iter().filter_map(|name| names.iter().position(|n| n == name)) {
            crowds[l] += f64::from(class.count);
        }
    }
    let (mut routes, mut sources) = (Vec::new(), Vec::new());
    for class in classes {
        let route: Vec<usize> =
            class.group.forward.iter().filter_map(|name| names.iter().position(|n| n == name)).collect();
        if route.is_empty() {
            return Err(AnalysisError::NoLink);
        }
        let clocking = match (options.clocking.get(class.group_name), class.group.sender.pacing) {
            (Some(chosen), _) => Some(*chosen),
            (None, Pacing::Off) => Some(Clocking::Ack),
            (None, Pacing::Law | Pacing::Window) => None,
        };
        // A fair share of the narrowest link.
        let share = route.iter().map(|l| links[*l].capacity / crowds[*l]).fold(f64::INFINITY, f64::min);
        let speaks: Vec<usize> = route.iter().copied().filter(|l| !links[*l].is_silent()).collect();
        let marking = speaks.iter().find(|l| links[**l].marks());
        let dropping = speaks.iter().find(|l| !links[**l].marks());
        let mut source = Source::new(&Flows {
            name: class.name.clone(),
            count: class.count,
            base_rtt_s: class.rtt_s,
            cc: &class.group.cc,
            // An equilibrium knows no start: begin near a fair share and past slow start.
            site: cc::Context {
                packet: scenario.packet.wire,
                initial_window: f64::max(share * class.rtt_s, 2.0),
                initial_ssthresh: 1.0,
            },
            packets_per_ack: class.group.sender.delayed_ack.max(1),
            queue_marks: marking.is_some(),
            loss: 1.0 - class.group.forward.iter().map(|name| 1.0 - scenario.links[name].loss).product::<f64>(),
            clocking,
            queue: queue_of(scenario, &names, &links, &route)
                .map(|queue| observed(queue, class.group.sender.bottleneck)),
        })?;
        if let (Some(marks), Some(drops), true) = (marking, dropping, source.is_marked()) {
            return Err(AnalysisError::MarksAndDrops {
                class: class.name.clone(),
                marks: names[*marks].to_owned(),
                drops: names[*drops].to_owned(),
            });
        }
        if options.clocking.contains_key(class.group_name) && !source.has_window() {
            return Err(AnalysisError::NoWindow { class: class.group_name.to_owned(), law: source.law() });
        }
        source.name.clone_from(&class.name);
        routes.push(route);
        sources.push(source);
    }
    Ok(Bench { names, links, routes, sources })
}

/// Refuses parts for which an equilibrium or a loop gain would be that of another scenario.
fn link_counted(name: &str, link: &Link, site: &aqm::Context) -> Result<(), AnalysisError> {
    // A law that cannot be compiled says so itself, later.
    let needs = (link.aqm.law.real)(&link.aqm.values, site).map(|law| law.requirements()).ok();
    let needs = |what: fn(&aqm::Requirements) -> bool| needs.as_ref().is_some_and(what);
    let of_link = [
        (link.service != Service::Constant, "a rate that changes", "write one rate"),
        (!link.delays.is_empty(), "a delay that changes", "write one delay"),
        (link.lose_transmission.is_some(), "a transmission that is lost", "leave `lose_transmission` out"),
        (
            link.loss_spacing != LossSpacing::Random,
            "losses that are evenly spaced",
            "write `loss_spacing = \"random\"`",
        ),
        (link.loss_burst.is_some(), "losses in bursts", "leave `loss_burst` out"),
        (link.reorder.is_some(), "packets that come late", "leave `reorder` out"),
        (link.policer.is_some(), "a policer", "leave `policer` out"),
        (link.aggregation.is_some(), "packets that go together", "leave `aggregation` out"),
        (link.duplicate > 0.0, "packets that arrive twice", "leave `duplicate` out"),
        (link.ecn != EcnOnLine::Keep, "a line that changes the ECN field", "leave `ecn` out"),
        (link.scheduler != Scheduler::Fifo, "a scheduler", "write `scheduler = { law = \"fifo\" }`"),
        (needs(|n| n.serve != aqm::Serve::Scheduler), "an AQM with queues of its own", "choose an AQM of one queue"),
        (needs(|n| n.classes), "an AQM that separates classes", "choose one that does not"),
        (needs(|n| n.colours), "an AQM that uses colours", "choose one that does not"),
    ];
    refuse(|| format!("the link `{name}`"), &of_link)
}

/// Refuses parts that change the round trip by way of acknowledgements.
fn way_back_counted(name: &str, link: &Link) -> Result<(), AnalysisError> {
    let found = [
        (!link.delays.is_empty(), "a delay that changes", "write one delay"),
        (link.reorder.is_some(), "packets that come late", "leave `reorder` out"),
        (link.policer.is_some(), "a policer", "leave `policer` out"),
        (link.aggregation.is_some(), "packets that go together", "leave `aggregation` out"),
        (link.duplicate > 0.0, "packets that arrive twice", "leave `duplicate` out"),
    ];
    refuse(|| format!("the link `{name}`, which acknowledgements cross"), &found)
}

fn groups_counted(classes: &[Class<'_>]) -> Result<(), AnalysisError> {
    for Class { group, group_name, .. } in classes {
        let of_group = [
            (!group.steps.is_empty(), "parameters that change over time", "write one value for each"),
            (group.packet.is_some(), "packets of another size", "leave `packet` out"),
            (group.application.is_some(), "pages or video", "leave `page` and `video` out"),
            (group.repeats.is_some(), "repeated transfers", "leave `arrivals` and `idle` out"),
            (group.on_off.is_some(), "on-off periods", "leave `on_off` out"),
            (group.access.is_some(), "access links", "leave `access` out"),
            (group.jitter.is_some(), "jitter", "leave `jitter` out"),
            (group.ack_jitter.is_some(), "jitter of acknowledgements", "leave `ack_jitter` out"),
            (group.loss > 0.0, "losses of its own", "leave `loss` out"),
            (group.sender.rtt_noise.is_some(), "errors of round-trip samples", "leave `rtt_noise` out"),
            (group.sender.tick.is_some(), "coarse clocks", "leave `tick` out"),
            (group.sender.limit == Limit::Pace, "a sender without a window", "leave `limit` out"),
        ];
        refuse(|| format!("the group `{group_name}`"), &of_group)?;
    }
    Ok(())
}

/// Contracts change the drops of a queue, by colours that no law of this analysis observes.
fn check_contracts(scenario: &Scenario) -> Result<(), AnalysisError> {
    let Some((name, _)) = scenario.customers.iter().find(|(_, customer)| customer.conditioner.is_some()) else {
        return Ok(());
    };
    Err(AnalysisError::NotCounted {
        place: format!("the customer `{name}`"),
        what: "a conditioner",
        remedy: "leave `conditioner` out, or run it packet by packet",
    })
}

/// The queue of the narrowest link of a route, where its buffer has a limit.
fn queue_of(scenario: &Scenario, names: &[&str], links: &[Bottleneck], route: &[usize]) -> Option<Queue> {
    let narrowest = route.iter().copied().min_by(|a, b| links[*a].capacity.total_cmp(&links[*b].capacity))?;
    let capacity = links[narrowest].capacity;
    buffer_packets(&scenario.links[names[narrowest]], scenario).map(|buffer| Queue { capacity, buffer })
}

/// A queue as observed by a law that has multiples of the true values instead of estimates.
fn observed(queue: Queue, known: Option<KnownBottleneck>) -> Queue {
    let Some(KnownBottleneck { capacity, buffer }) = known else { return queue };
    Queue { capacity: queue.capacity * capacity, buffer: queue.buffer * buffer }
}

/// Size of a link's buffer in data packets, if it has a limit.
fn buffer_packets(link: &Link, scenario: &Scenario) -> Option<f64> {
    match link.buffer {
        Buffer::Unlimited => None,
        Buffer::Packets(packets) => Some(packets as f64),
        Buffer::Bytes(bytes) => Some(bytes.bits() / scenario.packet.wire.bits()),
    }
}

/// The first part found, as a refusal: whether it is there, its name, and the remedy.
pub(crate) fn refuse(
    place: impl Fn() -> String,
    found: &[(bool, &'static str, &'static str)],
) -> Result<(), AnalysisError> {
    match found.iter().find(|f| f.0) {
        Some(&(_, what, remedy)) => Err(AnalysisError::NotCounted { place: place(), what, remedy }),
        None => Ok(()),
    }
}

pub(super) fn check_buffer(
    name: &str,
    link: &Link,
    scenario: &Scenario,
    equilibrium: &BottleneckEquilibrium,
) -> Result<(), AnalysisError> {
    let Some(buffer) = buffer_packets(link, scenario) else { return Ok(()) };
    if equilibrium.queue <= buffer {
        return Ok(());
    }
    let queue_packets = equilibrium.queue;
    Err(AnalysisError::BufferTooSmall { link: name.to_owned(), queue_packets, buffer_packets: buffer })
}
