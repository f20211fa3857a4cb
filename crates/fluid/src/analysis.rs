//! From a scenario to its analysis.

pub(crate) mod bench;
mod models;
mod remarks;

use std::collections::BTreeMap;

use penstock_law::quantity::Time;
use penstock_scenario::model::{Link, Scenario};
use serde::Serialize;

use crate::bottleneck::Bottleneck;
use crate::complex::Complex;
use crate::disturbance::{Disturbance, responses};
use crate::equilibrium::{Equilibrium, LinkEquilibrium, Other, find};
use crate::error::AnalysisError;
use crate::loop_model::LoopModel;
use crate::margin::{Margins, Verdict};
use crate::phase::NyquistPoint;
use crate::program::{self, Program};
use crate::response::{Hop, Loop, Member};
use crate::source::{Clocking, Signal, Source};
use bench::{Bench, Class, bench, check_buffer, classes};
pub(crate) use models::around;
use models::{decided, models};
use remarks::{assumptions, starts_over_a_queue, warnings};

/// Roots of each model that are kept.
pub(crate) const ROOTS: usize = 6;

/// Points of each Nyquist plot.
const POINTS: u32 = 400;

/// Options of an analysis.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Only flows active then: started, and not stopped. None takes all.
    pub at: Option<Time>,
    /// Clocking of a group's packets, by its name; others by their law's gap and window.
    pub clocking: BTreeMap<String, Clocking>,
    /// Whether to compute the response to cross traffic too ([`Analysis::disturbance`]).
    pub disturbance: bool,
}

/// A number of a law's state at equilibrium.
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
    /// Distance to the nearest kink of its law, in the units of that comparison; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_kink: Option<f64>,
}

/// A class of flows at equilibrium: those of a group with the same round trip. A group is one class or several. A group with more than
/// 32 round trips is at most 32 classes, each of neighbours. It is no traffic class, which the scenario declares for queues.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassPoint {
    /// Its name: the group's, with an index where the group has several round trips.
    pub name: String,
    /// Its group.
    pub group: String,
    /// Its law.
    pub cc: &'static str,
    /// Number of flows.
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
    /// The price in its law's observation [s]; absent where it requires none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_s: Option<f64>,
    /// Probability that a packet of it is marked.
    pub mark_probability: f64,
    /// Probability that its queue drops a packet of it.
    pub drop_probability: f64,
    /// Clocking of its packets.
    pub clocking: Clocking,
    /// Its law's state.
    pub state: Vec<StateNumber>,
    /// Distance to the nearest kink of its law, in the units of that comparison; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_kink: Option<f64>,
}

/// Where a scenario could settle instead.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OtherEquilibrium {
    /// The link with another output, or the class whose law would settle elsewhere.
    pub place: String,
    /// Time in the queue [s].
    pub queueing_delay_s: f64,
    /// Probability of a mark, or of a drop.
    pub probability: f64,
    /// Of a class, the rate of one flow [packets/s].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_packets_per_s: Option<f64>,
}

/// A root of the characteristic equation: disturbances grow as `exp(re t)` and swing at `im`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Root {
    /// Real part [1/s].
    pub re_per_s: f64,
    /// Imaginary part [rad/s].
    pub im_rad_per_s: f64,
}

/// One model of the loop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoopResult {
    /// Parts of the loop that are included.
    pub model: LoopModel,
    /// Margins and verdict.
    #[serde(flatten)]
    pub margins: Margins,
    /// The class whose own loop, if all flows were like it, is nearest to -1 where the gain crosses the negative real
    /// axis. Absent where nothing responds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limiting_class: Option<String>,
    /// The rightmost roots of the characteristic equation that were found, one of each pair, the rightmost first.
    pub roots: Vec<Root>,
    /// The Nyquist plot: of one bottleneck the loop gain, of several each eigenlocus.
    pub nyquist: Vec<Vec<NyquistPoint>>,
}

/// Analysis of a scenario by the fluid world.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    /// The scenario's title.
    pub title: String,
    /// The time whose active flows were taken [s]; absent where all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_s: Option<f64>,
    /// The verdict of the model that counts most.
    pub verdict: Verdict,
    /// The class that limits it, by the same model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limiting_class: Option<String>,
    /// The links that carry data, in the order of the scenario.
    pub links: Vec<LinkPoint>,
    /// The classes of flows, in the order of the scenario's groups: each group is one class, or one for each round trip.
    pub classes: Vec<ClassPoint>,
    /// Other equilibria, of which nothing else here speaks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherEquilibrium>,
    /// The loop in each model, from the least to the most that is counted.
    pub models: Vec<LoopResult>,
    /// The response of each bottleneck and its flows to cross traffic, where [`Options::disturbance`] is set and the loop is
    /// stable.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disturbance: Vec<Disturbance>,
    /// The convex program of the same sources and links, where their utilities are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// Assumptions of the analysis.
    pub assumptions: Vec<String>,
    /// Reasons for a reader to be careful.
    pub warnings: Vec<String>,
}

impl Analysis {
    /// The first link that limits anyone.
    pub fn bottleneck(&self) -> &LinkPoint {
        self.links.iter().find(|l| l.binding).expect("an equilibrium has a bottleneck")
    }

    /// One model of the loop.
    pub fn model(&self, model: LoopModel) -> &LoopResult {
        self.models.iter().find(|r| r.model == model).expect("every model is there")
    }
}

/// The current work of an analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// The equilibrium: demands evaluated so far.
    Equilibrium(u64),
    /// A model of the loop: frequencies at which it was taken so far.
    Loop(LoopModel, u64),
    /// The response to cross traffic: frequencies at which the loop was taken so far.
    Disturbance(u64),
}

/// Analyses a scenario: equilibrium, loop gain with exact delays, margins, verdict.
///
/// # Errors
/// The scenario has no equilibrium, or a law cannot be linearised.
pub fn analyze(scenario: &Scenario, options: &Options) -> Result<Analysis, AnalysisError> {
    analyze_watched(scenario, options, &|_| ())
}

/// [`analyze`], with a report now and then of its current work: with thousands of classes it takes minutes.
///
/// # Errors
/// As [`analyze`].
pub fn analyze_watched(
    scenario: &Scenario,
    options: &Options,
    watch: &dyn Fn(Busy),
) -> Result<Analysis, AnalysisError> {
    let Solved { classes, bench, equilibrium, binding, program, closed } = solved(scenario, options, watch, true)?;
    let Bench { names, links, routes, mut sources } = bench;
    let misled = starts_over_a_queue(scenario, &classes, &routes, &mut sources, &equilibrium);
    let names_of: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    let models = models(&closed, &names_of, watch);
    let last = &models[models.len() - 1];
    let bottlenecks: Vec<&str> = binding.iter().map(|l| names[*l]).collect();
    let (disturbance, unanswered) = match (options.disturbance, last.margins.verdict) {
        (false, _) => (Vec::new(), None),
        (true, Verdict::Stable) => {
            let watch = |taken| watch(Busy::Disturbance(taken));
            let roots: Vec<Complex> = last.roots.iter().map(|r| Complex::new(r.re_per_s, r.im_rad_per_s)).collect();
            (responses(&closed, (&bottlenecks, &names_of), &roots, &watch), None)
        }
        (true, _) => (Vec::new(), Some("no response to cross traffic: the loop is not known to be stable".to_owned())),
    };
    let link_points = (0..links.len())
        .map(|l| {
            let kink = binding.iter().position(|b| *b == l).and_then(|at| closed.links[at].nearest_kink);
            link_point(&scenario.links[names[l]], &links[l], &equilibrium.links[l], kink)
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
            .map(|(i, c)| class_point(c, &sources[i], &equilibrium, i, &closed, scenario))
            .collect(),
        others: equilibrium
            .others
            .iter()
            .map(|other| other_equilibrium(other, &names, &classes, &equilibrium))
            .collect(),
        program,
        assumptions: assumptions(&names, &binding, &classes, &sources, &equilibrium),
        warnings: [
            misled,
            warnings(scenario, &names, &binding, &classes, &sources, &equilibrium, &closed),
            unanswered.into_iter().collect(),
        ]
        .concat(),
        disturbance,
        models,
    })
}

/// The loop that [`analyze`] takes its models of, and the names of its links: a row and a column a link that limits anyone, in
/// the scenario's order. `watch` is called as of [`analyze_watched`].
///
/// # Errors
/// As [`analyze`].
pub fn closed_loop(
    scenario: &Scenario,
    options: &Options,
    watch: &dyn Fn(Busy),
) -> Result<(Loop, Vec<String>), AnalysisError> {
    let solved = solved(scenario, options, watch, false)?;
    let names = solved.binding.iter().map(|l| solved.bench.names[*l].to_owned()).collect();
    Ok((solved.closed, names))
}

/// The margins and the verdict of [`analyze`], those of its last model, without the rest of it.
///
/// # Errors
/// As [`analyze`].
pub(crate) fn margins(scenario: &Scenario, options: &Options, watch: &dyn Fn(Busy)) -> Result<Margins, AnalysisError> {
    Ok(decided(&solved(scenario, options, watch, false)?.closed, watch))
}

/// A scenario at equilibrium, and its loop there.
struct Solved<'a> {
    classes: Vec<Class<'a>>,
    bench: Bench<'a>,
    equilibrium: Equilibrium,
    /// The links that limit anyone.
    binding: Vec<usize>,
    program: Option<Program>,
    closed: Loop,
}

/// With `whole`, other equilibria are looked for, and this one is computed a second time, as a convex program.
fn solved<'a>(
    scenario: &'a Scenario,
    options: &Options,
    watch: &dyn Fn(Busy),
    whole: bool,
) -> Result<Solved<'a>, AnalysisError> {
    let classes = classes(scenario, options);
    if classes.is_empty() {
        return Err(AnalysisError::NoFlows { at_s: options.at.map(Time::seconds) });
    }
    let mut bench = bench(scenario, options, &classes)?;
    let Bench { names, links, routes, sources } = &mut bench;
    let equilibrium = find(links, sources, routes, whole, &|asked| watch(Busy::Equilibrium(asked)))?;
    for (l, name) in names.iter().enumerate() {
        check_buffer(name, &scenario.links[*name], scenario, &equilibrium.links[l].equilibrium)?;
    }
    let binding: Vec<usize> = (0..links.len()).filter(|l| equilibrium.links[*l].binding).collect();
    let capacities: Vec<f64> = links.iter().map(|l| l.capacity).collect();
    let wanted: Vec<f64> = links.iter().map(Bottleneck::wanted).collect();
    let program = if whole { program::check(sources, routes, &equilibrium, &capacities, &wanted) } else { None };
    let mut members = Vec::with_capacity(sources.len());
    for (i, source) in sources.iter_mut().enumerate() {
        let at = &equilibrium.sources[i];
        members.push(Member {
            count: f64::from(source.count),
            rtt_s: at.rtt_s,
            response: source.linearise(at, equilibrium.signals[i])?,
            hops: hops(scenario, names, &routes[i], &equilibrium, source, at.rate, &binding),
        });
    }
    let responses = binding.iter().map(|l| links[*l].linearise(&equilibrium.links[*l].equilibrium)).collect();
    let closed = Loop { links: responses, members };
    Ok(Solved { classes, bench, equilibrium, binding, program, closed })
}

/// The bottlenecks on a class's path, with the delays to each.
fn hops(
    scenario: &Scenario,
    names: &[&str],
    route: &[usize],
    equilibrium: &Equilibrium,
    source: &Source,
    rate: f64,
    binding: &[usize],
) -> Vec<Hop> {
    let all: f64 = route.iter().map(|l| 1.0 - equilibrium.links[*l].signal.probability).product();
    let (mut forward_s, mut arriving) = (0.0, 1.0);
    let mut hops = Vec::new();
    for &l in route {
        let LinkEquilibrium { equilibrium: at, signal, .. } = &equilibrium.links[l];
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

fn named(names: &'static [(&'static str, &'static str)], values: &[f64]) -> Vec<StateNumber> {
    names.iter().zip(values).map(|(&(name, unit), &value)| StateNumber { name, unit, value }).collect()
}

fn link_point(
    link: &Link,
    bottleneck: &Bottleneck,
    equilibrium: &LinkEquilibrium,
    nearest_kink: Option<f64>,
) -> LinkPoint {
    let at = &equilibrium.equilibrium;
    LinkPoint {
        name: bottleneck.name.clone(),
        aqm: bottleneck.law(),
        binding: equilibrium.binding,
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

fn other_equilibrium(
    other: &Other,
    names: &[&str],
    classes: &[Class<'_>],
    equilibrium: &Equilibrium,
) -> OtherEquilibrium {
    let (place, Signal { queueing_delay_s, probability }, rate_packets_per_s) = match *other {
        Other::Link(l, signal) => (names[l].to_owned(), signal, None),
        Other::Class(i, rate) => (classes[i].name.clone(), equilibrium.signals[i], Some(rate)),
    };
    OtherEquilibrium { place, queueing_delay_s, probability, rate_packets_per_s }
}

fn class_point(
    class: &Class<'_>,
    source: &Source,
    equilibrium: &Equilibrium,
    index: usize,
    closed: &Loop,
    scenario: &Scenario,
) -> ClassPoint {
    let at = &equilibrium.sources[index];
    let (marked, p) = (source.is_marked(), equilibrium.signals[index].probability);
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
