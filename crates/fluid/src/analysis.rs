//! From a scenario to its analysis.

use std::collections::BTreeMap;

use penstock_law::aqm;
use penstock_law::cc;
use penstock_law::law::Linearises;
use penstock_law::quantity::Time;
use penstock_scenario::model::{Buffer, EcnEcho, Group, Link, Pacing, Scenario, Scheduler, Service};
use serde::Serialize;

use crate::bottleneck::Bottleneck;
use crate::complex::Complex;
use crate::equilibrium::{Equilibrium, find};
use crate::error::AnalysisError;
use crate::margin::{Margins, Span, Verdict, margins};
use crate::response::{Loop, Member, Reading};
use crate::source::{Clocking, Flows, Queue, Source};

/// Round-trip times of one group beyond which neighbours are taken together.
const CLASSES_OF_A_GROUP: usize = 32;

/// What to analyse.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only flows active then: started, and not stopped. None takes all.
    pub at: Option<Time>,
    /// How a group's packets are timed, by its name; others as their law's gap and window say.
    pub clocking: BTreeMap<String, Clocking>,
    /// Points of each Nyquist plot.
    pub nyquist_points: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { at: None, clocking: BTreeMap::new(), nyquist_points: 400 }
    }
}

/// A number of a law's state at rest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateNumber {
    /// Its name in the law.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Its value.
    pub value: f64,
}

/// The bottleneck at equilibrium.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkPoint {
    /// Its name.
    pub name: String,
    /// Its queue's law.
    pub aqm: &'static str,
    /// The capacity in force [bit/s].
    pub capacity_bit_per_s: f64,
    /// The same in data packets [packets/s].
    pub capacity_packets_per_s: f64,
    /// Arrivals [packets/s].
    pub load_packets_per_s: f64,
    /// Arrivals over capacity.
    pub utilization: f64,
    /// Packets waiting.
    pub queue_packets: f64,
    /// Time in the queue [s].
    pub queueing_delay_s: f64,
    /// Probability of a mark, or of a drop where packets are not marked.
    pub mark_probability: f64,
    /// Its price [s]; absent where its law has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_s: Option<f64>,
    /// Its law's state.
    pub state: Vec<StateNumber>,
    /// How near the nearest kink of its law is, in the units of that comparison; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_kink: Option<f64>,
}

/// A class of flows at equilibrium: those of a group with the same round trip.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassPoint {
    /// Its name: the group's, with an index where the group has several round trips.
    pub name: String,
    /// Its group.
    pub group: String,
    /// Its law.
    pub cc: &'static str,
    /// How many flows.
    pub count: u32,
    /// Two-way propagation delay [s].
    pub base_rtt_s: f64,
    /// Round-trip time, the queue included [s].
    pub rtt_s: f64,
    /// Rate of one flow [packets/s].
    pub rate_packets_per_s: f64,
    /// Rate of one flow [bit/s], headers included.
    pub rate_bit_per_s: f64,
    /// Window of one flow [packets].
    pub window_packets: f64,
    /// The class's share of the link's load.
    pub share: f64,
    /// The price its law sees [s]; absent where it asks for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_s: Option<f64>,
    /// Probability that a packet of it is marked.
    pub mark_probability: f64,
    /// Probability that its queue drops a packet of it.
    pub drop_probability: f64,
    /// How its packets are timed.
    pub clocking: Clocking,
    /// Its law's state.
    pub state: Vec<StateNumber>,
    /// How near the nearest kink of its law is, in the units of that comparison; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_kink: Option<f64>,
}

/// A point of the loop gain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NyquistPoint {
    /// Frequency [rad/s].
    pub frequency_rad_per_s: f64,
    /// Real part of L.
    pub re: f64,
    /// Imaginary part of L.
    pub im: f64,
}

/// One reading of the loop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoopReading {
    /// What is counted.
    pub reading: Reading,
    /// Margins and verdict.
    #[serde(flatten)]
    pub margins: Margins,
    /// The class whose own loop, if all flows were like it, is nearest to -1 where the gain crosses the negative real
    /// axis. Absent where nothing answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limiting_class: Option<String>,
    /// The Nyquist plot.
    pub nyquist: Vec<NyquistPoint>,
}

/// What the fluid world says of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    /// The scenario's title.
    pub title: String,
    /// The time whose active flows were taken [s]; absent where all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_s: Option<f64>,
    /// The verdict of the reading that counts most.
    pub verdict: Verdict,
    /// The class that limits it, by the same reading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limiting_class: Option<String>,
    /// The link that limits the flows.
    pub bottleneck: LinkPoint,
    /// The classes of flows, in the order of the scenario.
    pub classes: Vec<ClassPoint>,
    /// The loop in each reading, from the least to the most that is counted.
    pub readings: Vec<LoopReading>,
    /// What was taken for granted.
    pub assumptions: Vec<String>,
    /// What should make a reader careful.
    pub warnings: Vec<String>,
}

impl Analysis {
    /// One reading of the loop.
    pub fn reading(&self, reading: Reading) -> &LoopReading {
        self.readings.iter().find(|r| r.reading == reading).expect("every reading is there")
    }
}

/// Analyses a scenario: equilibrium, loop gain with exact delays, margins, verdict.
///
/// # Errors
/// The scenario has no equilibrium, a law cannot be linearised, or more than one link carries data.
pub fn analyze(scenario: &Scenario, options: &Options) -> Result<Analysis, AnalysisError> {
    let classes = classes(scenario, options);
    if classes.is_empty() {
        return Err(AnalysisError::NoFlows { at_s: options.at.map(Time::seconds) });
    }
    let (name, link) = loaded_link(scenario, &classes)?;
    let site = aqm::Site { rate: link.rate, delay: link.delay, packet: scenario.packet.wire, classes: Vec::new() };
    counted(name, link, &site, &classes)?;
    check_contracts(scenario)?;
    let mut bottleneck = Bottleneck::new(name, &link.aqm, &site)?;
    let total: u32 = classes.iter().map(|c| c.count).sum();
    let mut sources = Vec::with_capacity(classes.len());
    for class in &classes {
        let clocking = match (options.clocking.get(class.group_name), class.group.sender.pacing) {
            (Some(chosen), _) => Some(*chosen),
            (None, Pacing::Off) => Some(Clocking::Ack),
            (None, Pacing::Law) => None,
        };
        let fair_window = bottleneck.capacity * class.rtt_s / f64::from(total);
        sources.push(Source::new(&Flows {
            name: class.name.clone(),
            count: class.count,
            base_rtt_s: class.rtt_s,
            cc: &class.group.cc,
            // An equilibrium knows no start: begin near a fair share and past slow start.
            site: cc::Site {
                packet: scenario.packet.wire,
                initial_window: f64::max(fair_window, 2.0),
                initial_ssthresh: 1.0,
            },
            packets_per_ack: class.group.sender.delayed_ack.max(1),
            queue_marks: bottleneck.marks(),
            loss: link.loss,
            clocking,
            queue: buffer_packets(link, scenario).map(|buffer| Queue { capacity: bottleneck.capacity, buffer }),
        })?);
    }
    let rest = find(&mut bottleneck, &mut sources)?;
    check_buffer(name, link, scenario, &rest)?;

    let mut members = Vec::with_capacity(sources.len());
    for (source, at) in sources.iter_mut().zip(&rest.sources) {
        members.push(Member {
            count: f64::from(source.count),
            share: f64::from(source.count) * at.rate / rest.bottleneck.load,
            kept: if source.is_marked() { 1.0 } else { 1.0 - rest.signal.probability },
            rtt_s: at.rtt_s,
            response: source.linearise(at, rest.signal)?,
        });
    }
    let closed = Loop { bottleneck: bottleneck.linearise(&rest.bottleneck), members };
    let readings: Vec<LoopReading> =
        Reading::ALL.into_iter().map(|r| read(&closed, r, &sources, options.nyquist_points)).collect();
    let last = &readings[readings.len() - 1];
    Ok(Analysis {
        title: scenario.title.clone(),
        at_s: options.at.map(Time::seconds),
        verdict: last.margins.verdict,
        limiting_class: last.limiting_class.clone(),
        bottleneck: link_point(link, &bottleneck, &rest, &closed),
        classes: classes
            .iter()
            .enumerate()
            .map(|(i, c)| class_point(c, &sources[i], &rest, i, &closed, scenario))
            .collect(),
        assumptions: assumptions(name, &classes, &sources, &rest),
        warnings: warnings(name, link, &classes, &sources, &rest, &closed),
        readings,
    })
}

/// Flows of one group with the same round trip.
struct Class<'a> {
    name: String,
    group_name: &'a str,
    group: &'a Group,
    rtt_s: f64,
    count: u32,
    merged: bool,
}

fn classes<'a>(scenario: &'a Scenario, options: &Options) -> Vec<Class<'a>> {
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

fn loaded_link<'a>(scenario: &'a Scenario, classes: &[Class<'a>]) -> Result<(&'a str, &'a Link), AnalysisError> {
    let carries = |name: &String| classes.iter().any(|c| c.group.forward.contains(name));
    let loaded: Vec<(&String, &Link)> = scenario.links.iter().filter(|(name, _)| carries(name)).collect();
    match loaded.as_slice() {
        [] => Err(AnalysisError::NoLink),
        [(name, link)] => Ok((name, link)),
        several => {
            Err(AnalysisError::SeveralLinks { links: several.iter().map(|(name, _)| (*name).clone()).collect() })
        }
    }
}

/// Refuses what would make an equilibrium or a loop gain the answer to another question.
fn counted(name: &str, link: &Link, site: &aqm::Site, classes: &[Class<'_>]) -> Result<(), AnalysisError> {
    // A law that cannot be compiled says so itself, later.
    let own_order =
        (link.aqm.law.real)(&link.aqm.values, site).is_ok_and(|law| law.needs().serve != aqm::Serve::Scheduler);
    let of_link = [
        (link.service != Service::Constant, "a rate that changes", "write one rate"),
        (link.scheduler != Scheduler::Fifo, "a scheduler", "write `scheduler = { law = \"fifo\" }`"),
        (own_order, "an AQM with queues of its own", "choose an AQM of one queue"),
    ];
    let refuse = |place: String, found: &[(bool, &'static str, &'static str)]| match found.iter().find(|f| f.0) {
        Some(&(_, what, remedy)) => Err(AnalysisError::NotCounted { place, what, remedy }),
        None => Ok(()),
    };
    refuse(format!("the link `{name}`"), &of_link)?;
    for Class { group, group_name, .. } in classes {
        let of_group = [
            (!group.steps.is_empty(), "parameters that change", "write one value for each"),
            (group.repeats.is_some(), "transfers that come and go", "leave `arrivals` and `idle` out"),
            (group.on_off.is_some(), "times of silence", "leave `on_off` out"),
            (group.access.is_some(), "interfaces with queues of their own", "leave `access` out"),
            (group.jitter.is_some(), "jitter", "leave `jitter` out"),
            (group.ack_jitter.is_some(), "acknowledgements that come late", "leave `ack_jitter` out"),
        ];
        refuse(format!("the group `{group_name}`"), &of_group)?;
    }
    Ok(())
}

/// Contracts change what a queue drops, by colours that no law of this analysis sees.
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

/// Size of a link's buffer in data packets, if it has a limit.
fn buffer_packets(link: &Link, scenario: &Scenario) -> Option<f64> {
    match link.buffer {
        Buffer::Unlimited => None,
        Buffer::Packets(packets) => Some(packets as f64),
        Buffer::Bytes(bytes) => Some(bytes.bits() / scenario.packet.wire.bits()),
    }
}

fn check_buffer(name: &str, link: &Link, scenario: &Scenario, rest: &Equilibrium) -> Result<(), AnalysisError> {
    let Some(buffer) = buffer_packets(link, scenario) else { return Ok(()) };
    if rest.bottleneck.queue <= buffer {
        return Ok(());
    }
    let queue_packets = rest.bottleneck.queue;
    Err(AnalysisError::BufferTooSmall { link: name.to_owned(), queue_packets, buffer_packets: buffer })
}

fn read(closed: &Loop, reading: Reading, sources: &[Source], points: u32) -> LoopReading {
    let (slowest_s, fastest_s) = closed.span();
    let gain = |s: Complex| closed.gain(s, reading);
    let mut margins = margins(&gain, Span { slowest_s, fastest_s });
    if closed.bottleneck.runs_away || closed.members.iter().any(|m| m.response.runs_away) {
        // The count of encirclements supposes that each law alone is stable or at the border.
        margins.verdict = Verdict::Undecided;
    }
    if closed.members.iter().any(|m| m.response.is_ack_clocked()) {
        margins.delay_margin_s = None;
    }
    let critical = margins.phase_crossover_rad_per_s.unwrap_or(margins.least_distance_rad_per_s);
    let s = Complex::axis(critical);
    let parts = closed.parts(s, reading);
    let distance = |i: usize| (closed.lambda(i, s, reading) + Complex::ONE).abs();
    let limiting = (0..parts.len())
        .filter(|&i| parts[i].abs() > 0.0)
        .min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
        .map(|i| sources[i].name.clone());
    let middle = margins.gain_crossover_rad_per_s.or(margins.phase_crossover_rad_per_s).unwrap_or(1.0 / slowest_s);
    let step = libm::pow(1e4, 1.0 / f64::from(points.max(2) - 1));
    let mut w = middle / 100.0;
    let mut nyquist = Vec::with_capacity(points as usize);
    for _ in 0..points {
        let l = gain(Complex::axis(w));
        if l.is_finite() {
            nyquist.push(NyquistPoint { frequency_rad_per_s: w, re: l.re, im: l.im });
        }
        w *= step;
    }
    LoopReading { reading, margins, limiting_class: limiting, nyquist }
}

fn named(names: &'static [(&'static str, &'static str)], values: &[f64]) -> Vec<StateNumber> {
    names.iter().zip(values).map(|(&(name, unit), &value)| StateNumber { name, unit, value }).collect()
}

fn link_point(link: &Link, bottleneck: &Bottleneck, rest: &Equilibrium, closed: &Loop) -> LinkPoint {
    let at = &rest.bottleneck;
    LinkPoint {
        name: bottleneck.name.clone(),
        aqm: bottleneck.law(),
        capacity_bit_per_s: link.rate.bit_per_s(),
        capacity_packets_per_s: bottleneck.capacity,
        load_packets_per_s: at.load,
        utilization: at.load / bottleneck.capacity,
        queue_packets: at.queue,
        queueing_delay_s: at.queue / bottleneck.capacity,
        mark_probability: at.probability,
        price_s: (at.price_s != 0.0).then_some(at.price_s),
        state: named(bottleneck.names(), &at.state),
        nearest_kink: closed.bottleneck.nearest_kink,
    }
}

fn class_point(
    class: &Class<'_>,
    source: &Source,
    rest: &Equilibrium,
    index: usize,
    closed: &Loop,
    scenario: &Scenario,
) -> ClassPoint {
    let at = &rest.sources[index];
    let (marked, p) = (source.is_marked(), rest.signal.probability);
    ClassPoint {
        name: class.name.clone(),
        group: class.group_name.to_owned(),
        cc: source.law(),
        count: class.count,
        base_rtt_s: class.rtt_s,
        rtt_s: at.rtt_s,
        rate_packets_per_s: at.rate,
        rate_bit_per_s: at.rate * scenario.packet.wire.bits(),
        window_packets: at.window,
        share: closed.members[index].share,
        price_s: (at.price_s != 0.0).then_some(at.price_s),
        mark_probability: if marked { p } else { 0.0 },
        drop_probability: if marked { 0.0 } else { p },
        clocking: at.clocking,
        state: named(source.names(), &at.state),
        nearest_kink: closed.members[index].response.nearest_kink,
    }
}

fn assumptions(name: &str, classes: &[Class<'_>], sources: &[Source], rest: &Equilibrium) -> Vec<String> {
    let mut said = vec![format!(
        "`{name}` is the only link with a queue, since no other carries data; round-trip minima are frozen at \
                 the propagation delay, and state of a law that is not a number at its start"
    )];
    let back = classes.iter().any(|c| c.group.backward.iter().any(|l| l == name));
    said.push(if back {
        format!("acknowledgements cross `{name}` too, and their load on it is ignored")
    } else {
        format!("no acknowledgement crosses `{name}`, so they are no part of its load")
    });
    if sources.iter().any(Source::is_cut) {
        said.push(
            "every mark or loss counts as one cut (a rate of cuts of rate times probability); hosts let one through in \
             a round trip"
                .to_owned(),
        );
    }
    for (class, at) in classes.iter().zip(&rest.sources).filter(|(_, at)| at.both_bind) {
        let (this, other) = match at.clocking {
            Clocking::Ack => ("by acknowledgements", "paced"),
            Clocking::Paced => ("by its gap", "ACK-clocked"),
        };
        said.push(format!(
            "gap and window of `{}` allow the same rate; its packets are taken as timed {this}, and the {other} form of \
             the loop may differ",
            class.name
        ));
    }
    let sized: Vec<&str> = classes.iter().filter(|c| c.group.size.is_some()).map(|c| c.name.as_str()).collect();
    if !sized.is_empty() {
        said.push(format!("transfers of {} are taken as without end", sized.join(", ")));
    }
    let spaced = classes.iter().filter(|c| c.group.spacing_jitter > 0.0);
    said.extend(spaced.map(|c| format!("the gaps of `{}` are taken as even", c.name)));
    let bursts = classes.iter().filter(|c| c.group.sender.burst > 1);
    said.extend(bursts.map(|c| format!("the packets of `{}` are taken one by one, not in bursts", c.name)));
    for class in classes {
        if let Linearises::Declared(what) = class.group.cc.law.linearises {
            said.push(format!("`{}` declares {what}", class.group.cc.law.name));
        }
    }
    said.dedup();
    said
}

fn warnings(
    name: &str,
    link: &Link,
    classes: &[Class<'_>],
    sources: &[Source],
    rest: &Equilibrium,
    closed: &Loop,
) -> Vec<String> {
    let mut said = Vec::new();
    if closed.bottleneck.runs_away {
        said.push(format!("`{}` of `{name}` alone runs away at a constant load: no verdict", link.aqm.law.name));
    }
    if let Linearises::Declared(what) = link.aqm.law.linearises {
        said.push(format!("`{}` declares {what}", link.aqm.law.name));
    }
    let mut merged: Vec<&str> = classes.iter().filter(|c| c.merged).map(|c| c.group_name).collect();
    merged.dedup();
    for group in merged {
        said.push(format!("`{group}` has more round trips than {CLASSES_OF_A_GROUP}: neighbours were averaged"));
    }
    for (i, (class, source)) in classes.iter().zip(sources).enumerate() {
        let (at, options) = (&rest.sources[i], &class.group.sender);
        if at.window > options.receive_window {
            said.push(format!(
                "the receive window of `{}` ({} packets) is below its equilibrium window ({} packets) and was ignored",
                class.name, options.receive_window, at.window
            ));
        }
        if source.is_cut() && at.window * rest.signal.probability > 0.5 {
            said.push(format!(
                "`{}` has {} marks or losses a round: more than one a round is cut once only, which is ignored",
                class.name,
                at.window * rest.signal.probability
            ));
        }
        if at.price_s > 0.0 && options.ecn_echo == EcnEcho::Classic {
            said.push(format!(
                "`{}` makes a price of a classic echo, which repeats marks; an echo per packet was assumed",
                class.name
            ));
        }
        if closed.members[i].response.runs_away {
            said.push(format!(
                "`{}` of `{}` alone runs away at a constant signal: no verdict",
                source.law(),
                class.name
            ));
        }
    }
    said
}
