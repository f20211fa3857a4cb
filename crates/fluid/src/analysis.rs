//! From a scenario to its analysis.

use std::collections::BTreeMap;

use penstock_law::aqm;
use penstock_law::cc;
use penstock_law::law::Linearises;
use penstock_law::quantity::Time;
use penstock_scenario::model::{Buffer, EcnEcho, Group, Link, Pacing, Scenario, Scheduler, Service};
use serde::Serialize;

use crate::bottleneck::{Bottleneck, BottleneckRest};
use crate::complex::Complex;
use crate::equilibrium::{Equilibrium, LinkRest, find};
use crate::error::AnalysisError;
use crate::margin::{Margins, Span, Verdict, margins_and_locus, matrix_margins};
use crate::program::{self, Program};
use crate::response::{Hop, Loop, Member, Reading};
use crate::roots::rightmost;
use crate::source::{Clocking, Flows, Queue, Source};

/// Round-trip times of one group beyond which neighbours are taken together.
const CLASSES_OF_A_GROUP: usize = 32;

/// Roots of each reading that are kept.
const ROOTS: usize = 6;

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

/// A link at equilibrium.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkPoint {
    /// Its name.
    pub name: String,
    /// Its queue's law.
    pub aqm: &'static str,
    /// Whether it limits anyone.
    pub binding: bool,
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
    /// The class's share of the load of the first bottleneck it crosses; absent where it crosses none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
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

/// A root of the characteristic equation: disturbances grow as `exp(re t)` and swing at `im`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Root {
    /// Real part [1/s].
    pub re_per_s: f64,
    /// Imaginary part [rad/s].
    pub im_rad_per_s: f64,
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
    /// The rightmost roots of the characteristic equation that were found, one of each pair, the rightmost first.
    pub roots: Vec<Root>,
    /// The Nyquist plot: of one bottleneck the loop gain, of several each eigenlocus.
    pub nyquist: Vec<Vec<NyquistPoint>>,
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
    /// The links that carry data, in the order of the scenario.
    pub links: Vec<LinkPoint>,
    /// The classes of flows, in the order of the scenario.
    pub classes: Vec<ClassPoint>,
    /// The loop in each reading, from the least to the most that is counted.
    pub readings: Vec<LoopReading>,
    /// The convex program of the same sources and links, where their utilities are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// What was taken for granted.
    pub assumptions: Vec<String>,
    /// What should make a reader careful.
    pub warnings: Vec<String>,
}

impl Analysis {
    /// The first link that limits anyone.
    pub fn bottleneck(&self) -> &LinkPoint {
        self.links.iter().find(|l| l.binding).expect("an equilibrium has a bottleneck")
    }

    /// One reading of the loop.
    pub fn reading(&self, reading: Reading) -> &LoopReading {
        self.readings.iter().find(|r| r.reading == reading).expect("every reading is there")
    }
}

/// Analyses a scenario: equilibrium, loop gain with exact delays, margins, verdict.
///
/// # Errors
/// The scenario has no equilibrium or not one alone, or a law cannot be linearised.
pub fn analyze(scenario: &Scenario, options: &Options) -> Result<Analysis, AnalysisError> {
    let classes = classes(scenario, options);
    if classes.is_empty() {
        return Err(AnalysisError::NoFlows { at_s: options.at.map(Time::seconds) });
    }
    let Bench { names, mut links, routes, mut sources } = bench(scenario, options, &classes)?;
    let rest = find(&mut links, &mut sources, &routes)?;
    for (l, name) in names.iter().enumerate() {
        check_buffer(name, &scenario.links[*name], scenario, &rest.links[l].rest)?;
    }
    let binding: Vec<usize> = (0..links.len()).filter(|l| rest.links[*l].binding).collect();
    let capacities: Vec<f64> = links.iter().map(|l| l.capacity).collect();
    let wanted: Vec<f64> = links.iter().map(Bottleneck::wanted).collect();
    let program = program::check(&mut sources, &routes, &rest, &capacities, &wanted);
    let mut members = Vec::with_capacity(sources.len());
    for (i, source) in sources.iter_mut().enumerate() {
        let at = &rest.sources[i];
        members.push(Member {
            count: f64::from(source.count),
            rtt_s: at.rtt_s,
            response: source.linearise(at, rest.signals[i])?,
            hops: hops(scenario, &names, &routes[i], &rest, source, at.rate, &binding),
        });
    }
    let responses = binding.iter().map(|l| links[*l].linearise(&rest.links[*l].rest)).collect();
    let closed = Loop { links: responses, members };
    let readings: Vec<LoopReading> =
        Reading::ALL.into_iter().map(|r| read(&closed, r, &sources, options.nyquist_points)).collect();
    let last = &readings[readings.len() - 1];
    let link_points = (0..links.len())
        .map(|l| {
            let kink = binding.iter().position(|b| *b == l).and_then(|at| closed.links[at].nearest_kink);
            link_point(&scenario.links[names[l]], &links[l], &rest.links[l], kink)
        })
        .collect();
    Ok(Analysis {
        title: scenario.title.clone(),
        at_s: options.at.map(Time::seconds),
        verdict: last.margins.verdict,
        limiting_class: last.limiting_class.clone(),
        links: link_points,
        classes: classes
            .iter()
            .enumerate()
            .map(|(i, c)| class_point(c, &sources[i], &rest, i, &closed, scenario))
            .collect(),
        program,
        assumptions: assumptions(&names, &binding, &classes, &sources, &rest),
        warnings: warnings(scenario, &names, &binding, &classes, &sources, &rest, &closed),
        readings,
    })
}

/// What an equilibrium is searched with.
struct Bench<'a> {
    /// The links that carry data.
    names: Vec<&'a str>,
    links: Vec<Bottleneck>,
    /// For each class the links it crosses, in order, as places in `names`.
    routes: Vec<Vec<usize>>,
    sources: Vec<Source>,
}

fn bench<'a>(scenario: &'a Scenario, options: &Options, classes: &[Class<'a>]) -> Result<Bench<'a>, AnalysisError> {
    let carries = |name: &String| classes.iter().any(|c| c.group.forward.contains(name));
    let loaded: Vec<(&str, &Link)> =
        scenario.links.iter().filter(|(name, _)| carries(name)).map(|(name, link)| (name.as_str(), link)).collect();
    if loaded.is_empty() {
        return Err(AnalysisError::NoLink);
    }
    let mut links = Vec::with_capacity(loaded.len());
    for (name, link) in &loaded {
        let site = aqm::Site { rate: link.rate, delay: link.delay, packet: scenario.packet.wire, classes: Vec::new() };
        link_counted(name, link, &site)?;
        links.push(Bottleneck::new(name, &link.aqm, &site)?);
    }
    groups_counted(classes)?;
    check_contracts(scenario)?;
    let names: Vec<&str> = loaded.iter().map(|(name, _)| *name).collect();
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
            (None, Pacing::Law) => None,
        };
        // A fair share of the narrowest link.
        let crowd = |l: usize| -> u32 {
            classes.iter().filter(|c| c.group.forward.iter().any(|n| n == names[l])).map(|c| c.count).sum()
        };
        let share = route.iter().map(|l| links[*l].capacity / f64::from(crowd(*l))).fold(f64::INFINITY, f64::min);
        let speaks: Vec<usize> = route.iter().copied().filter(|l| !links[*l].is_silent()).collect();
        let marking = speaks.iter().find(|l| links[**l].marks());
        let dropping = speaks.iter().find(|l| !links[**l].marks());
        let mut source = Source::new(&Flows {
            name: class.name.clone(),
            count: class.count,
            base_rtt_s: class.rtt_s,
            cc: &class.group.cc,
            // An equilibrium knows no start: begin near a fair share and past slow start.
            site: cc::Site {
                packet: scenario.packet.wire,
                initial_window: f64::max(share * class.rtt_s, 2.0),
                initial_ssthresh: 1.0,
            },
            packets_per_ack: class.group.sender.delayed_ack.max(1),
            queue_marks: marking.is_some(),
            loss: 1.0 - class.group.forward.iter().map(|name| 1.0 - scenario.links[name].loss).product::<f64>(),
            clocking,
            queue: queue_of(scenario, &names, &links, &route),
        })?;
        if let (Some(marks), Some(drops), true) = (marking, dropping, source.is_marked()) {
            return Err(AnalysisError::MarksAndDrops {
                class: class.name.clone(),
                marks: names[*marks].to_owned(),
                drops: names[*drops].to_owned(),
            });
        }
        source.name.clone_from(&class.name);
        routes.push(route);
        sources.push(source);
    }
    Ok(Bench { names, links, routes, sources })
}

/// The bottlenecks on a class's path, with the delays to each.
fn hops(
    scenario: &Scenario,
    names: &[&str],
    route: &[usize],
    rest: &Equilibrium,
    source: &Source,
    rate: f64,
    binding: &[usize],
) -> Vec<Hop> {
    let all: f64 = route.iter().map(|l| 1.0 - rest.links[*l].signal.probability).product();
    let (mut forward_s, mut arriving) = (0.0, 1.0);
    let mut hops = Vec::new();
    for &l in route {
        let LinkRest { rest: at, signal, .. } = &rest.links[l];
        let passes = 1.0 - signal.probability;
        let dropped = !source.is_marked();
        if let Some(link) = binding.iter().position(|b| *b == l) {
            hops.push(Hop {
                link,
                forward_s,
                share: f64::from(source.count) * rate * arriving / at.load,
                kept: if dropped { arriving * passes } else { 1.0 },
                heard: if route.len() == 1 { 1.0 } else { all / passes },
            });
        }
        forward_s += scenario.links[names[l]].delay.seconds() + signal.queueing_delay_s;
        arriving *= if dropped { passes } else { 1.0 };
    }
    hops
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

/// Refuses what would make an equilibrium or a loop gain the answer to another question.
fn link_counted(name: &str, link: &Link, site: &aqm::Site) -> Result<(), AnalysisError> {
    // A law that cannot be compiled says so itself, later.
    let needs = (link.aqm.law.real)(&link.aqm.values, site).map(|law| law.needs()).ok();
    let needs = |what: fn(&aqm::Needs) -> bool| needs.as_ref().is_some_and(what);
    let of_link = [
        (link.service != Service::Constant, "a rate that changes", "write one rate"),
        (link.scheduler != Scheduler::Fifo, "a scheduler", "write `scheduler = { law = \"fifo\" }`"),
        (needs(|n| n.serve != aqm::Serve::Scheduler), "an AQM with queues of its own", "choose an AQM of one queue"),
        (needs(|n| n.classes), "an AQM that treats classes apart", "choose one that does not"),
        (needs(|n| n.colours), "an AQM that goes by colours", "choose one that does not"),
    ];
    refuse(|| format!("the link `{name}`"), &of_link)
}

fn groups_counted(classes: &[Class<'_>]) -> Result<(), AnalysisError> {
    for Class { group, group_name, .. } in classes {
        let of_group = [
            (!group.steps.is_empty(), "parameters that change", "write one value for each"),
            (group.repeats.is_some(), "transfers that come and go", "leave `arrivals` and `idle` out"),
            (group.on_off.is_some(), "times of silence", "leave `on_off` out"),
            (group.access.is_some(), "interfaces with queues of their own", "leave `access` out"),
            (group.jitter.is_some(), "jitter", "leave `jitter` out"),
            (group.ack_jitter.is_some(), "acknowledgements that come late", "leave `ack_jitter` out"),
        ];
        refuse(|| format!("the group `{group_name}`"), &of_group)?;
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

/// The queue of the narrowest link of a route, where its buffer has a limit.
fn queue_of(scenario: &Scenario, names: &[&str], links: &[Bottleneck], route: &[usize]) -> Option<Queue> {
    let narrowest = route.iter().copied().min_by(|a, b| links[*a].capacity.total_cmp(&links[*b].capacity))?;
    let capacity = links[narrowest].capacity;
    buffer_packets(&scenario.links[names[narrowest]], scenario).map(|buffer| Queue { capacity, buffer })
}

/// Size of a link's buffer in data packets, if it has a limit.
fn buffer_packets(link: &Link, scenario: &Scenario) -> Option<f64> {
    match link.buffer {
        Buffer::Unlimited => None,
        Buffer::Packets(packets) => Some(packets as f64),
        Buffer::Bytes(bytes) => Some(bytes.bits() / scenario.packet.wire.bits()),
    }
}

/// The first of what was found, as a refusal: whether it is there, what it is, and what would do.
fn refuse(place: impl Fn() -> String, found: &[(bool, &'static str, &'static str)]) -> Result<(), AnalysisError> {
    match found.iter().find(|f| f.0) {
        Some(&(_, what, remedy)) => Err(AnalysisError::NotCounted { place: place(), what, remedy }),
        None => Ok(()),
    }
}

fn check_buffer(name: &str, link: &Link, scenario: &Scenario, rest: &BottleneckRest) -> Result<(), AnalysisError> {
    let Some(buffer) = buffer_packets(link, scenario) else { return Ok(()) };
    if rest.queue <= buffer {
        return Ok(());
    }
    let queue_packets = rest.queue;
    Err(AnalysisError::BufferTooSmall { link: name.to_owned(), queue_packets, buffer_packets: buffer })
}

fn read(closed: &Loop, reading: Reading, sources: &[Source], points: u32) -> LoopReading {
    let (slowest_s, fastest_s) = closed.span();
    let span = Span { slowest_s, fastest_s };
    let gain = |s: Complex| closed.gain(s, reading);
    let matrix = |s: Complex| closed.matrix(s, reading);
    let (mut margins, loci) = if closed.links.len() == 1 {
        let (margins, locus) = margins_and_locus(&gain, span);
        (margins, vec![locus])
    } else {
        matrix_margins(&matrix, span)
    };
    let root = |s: Complex| Root { re_per_s: s.re, im_rad_per_s: s.im };
    let roots = rightmost(&matrix, &loci, slowest_s, ROOTS).into_iter().map(root).collect();
    if closed.links.iter().any(|l| l.runs_away) || closed.members.iter().any(|m| m.response.runs_away) {
        // The count of encirclements supposes that each law alone is stable or at the border.
        margins.verdict = Verdict::Undecided;
    }
    if closed.members.iter().any(|m| m.response.is_ack_clocked()) {
        margins.delay_margin_s = None;
    }
    let critical = margins.phase_crossover_rad_per_s.unwrap_or(margins.least_distance_rad_per_s);
    let s = Complex::axis(critical);
    let own: Vec<Complex> = (0..sources.len()).map(|i| closed.lambda(i, s, reading)).collect();
    let distance = |i: usize| (own[i] + Complex::ONE).abs();
    let limiting = (0..own.len())
        .filter(|&i| own[i].abs() > 0.0)
        .min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
        .map(|i| sources[i].name.clone());
    let middle = margins.gain_crossover_rad_per_s.or(margins.phase_crossover_rad_per_s).unwrap_or(1.0 / slowest_s);
    let (lowest, highest) = (middle / 100.0, middle * 100.0);
    let point = |w: f64, l: Complex| NyquistPoint { frequency_rad_per_s: w, re: l.re, im: l.im };
    let nyquist = if closed.links.len() == 1 {
        let step = libm::pow(1e4, 1.0 / f64::from(points.max(2) - 1));
        let mut w = lowest;
        let mut plot = Vec::with_capacity(points as usize);
        for _ in 0..points {
            let l = gain(Complex::axis(w));
            if l.is_finite() {
                plot.push(point(w, l));
            }
            w *= step;
        }
        vec![plot]
    } else {
        let thin = |locus: &Vec<(f64, Complex)>| {
            let within: Vec<_> = locus.iter().filter(|(w, _)| (lowest..=highest).contains(w)).collect();
            let every = within.len().div_ceil(points.max(2) as usize).max(1);
            within.into_iter().step_by(every).map(|(w, l)| point(*w, *l)).collect()
        };
        loci.iter().map(thin).collect()
    };
    LoopReading { reading, margins, limiting_class: limiting, roots, nyquist }
}

fn named(names: &'static [(&'static str, &'static str)], values: &[f64]) -> Vec<StateNumber> {
    names.iter().zip(values).map(|(&(name, unit), &value)| StateNumber { name, unit, value }).collect()
}

fn link_point(link: &Link, bottleneck: &Bottleneck, rest: &LinkRest, nearest_kink: Option<f64>) -> LinkPoint {
    let at = &rest.rest;
    LinkPoint {
        name: bottleneck.name.clone(),
        aqm: bottleneck.law(),
        binding: rest.binding,
        capacity_bit_per_s: link.rate.bit_per_s(),
        capacity_packets_per_s: bottleneck.capacity,
        load_packets_per_s: at.load,
        utilization: at.load / bottleneck.capacity,
        queue_packets: at.queue,
        queueing_delay_s: at.queue / bottleneck.capacity,
        mark_probability: at.probability,
        price_s: (at.price_s != 0.0).then_some(at.price_s),
        state: named(bottleneck.names(), &at.state),
        nearest_kink,
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
    let (marked, p) = (source.is_marked(), rest.signals[index].probability);
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
        share: closed.members[index].hops.first().map(|hop| hop.share),
        price_s: (at.price_s != 0.0).then_some(at.price_s),
        mark_probability: if marked { p } else { 0.0 },
        drop_probability: if marked { 0.0 } else { p },
        clocking: at.clocking,
        state: named(source.names(), &at.state),
        nearest_kink: closed.members[index].response.nearest_kink,
    }
}

fn assumptions(
    names: &[&str],
    binding: &[usize],
    classes: &[Class<'_>],
    sources: &[Source],
    rest: &Equilibrium,
) -> Vec<String> {
    let list = |links: &[usize]| links.iter().map(|l| format!("`{}`", names[*l])).collect::<Vec<_>>().join(", ");
    let frozen =
        "round-trip minima are frozen at the propagation delay, and state of a law that is not a number at its start";
    let mut said = Vec::new();
    let silent: Vec<usize> = (0..names.len()).filter(|l| !binding.contains(l)).collect();
    if names.len() == 1 {
        said.push(format!("{} is the only link with a queue, since no other carries data; {frozen}", list(binding)));
    } else {
        let silent = if silent.is_empty() { String::new() } else { format!("; {} limit nobody", list(&silent)) };
        said.push(format!("the links with a signal are {}{silent}; {frozen}", list(binding)));
    }
    let waits: Vec<usize> = binding.iter().copied().filter(|l| rest.links[*l].rest.queue > 0.0).collect();
    if waits.len() > 1 {
        said.push(format!(
            "what arrives at a link is what its senders sent, as (1) of fast-aqm has it: that a full queue before it \
             ({}) evens out the sum of what it passes on is not counted",
            list(&waits)
        ));
    }
    for &l in binding {
        let name = names[l];
        let back = classes.iter().any(|c| c.group.backward.iter().any(|n| n == name));
        said.push(if back {
            format!("acknowledgements cross `{name}` too, and their load on it is ignored")
        } else {
            format!("no acknowledgement crosses `{name}`, so they are no part of its load")
        });
    }
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
    scenario: &Scenario,
    names: &[&str],
    binding: &[usize],
    classes: &[Class<'_>],
    sources: &[Source],
    rest: &Equilibrium,
    closed: &Loop,
) -> Vec<String> {
    let mut said = Vec::new();
    for (&l, response) in binding.iter().zip(&closed.links) {
        let law = scenario.links[names[l]].aqm.law;
        if response.runs_away {
            said.push(format!("`{}` of `{}` alone runs away at a constant load: no verdict", law.name, names[l]));
        }
        if let Linearises::Declared(what) = law.linearises {
            said.push(format!("`{}` declares {what}", law.name));
        }
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
        if source.is_cut() && at.window * rest.signals[i].probability > 0.5 {
            said.push(format!(
                "`{}` has {} marks or losses a round: more than one a round is cut once only, which is ignored",
                class.name,
                at.window * rest.signals[i].probability
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
