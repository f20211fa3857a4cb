//! The equilibrium: the signals of the links at which the rate of the sources equals that of the links.
//!
//! Two kinds of queue laws require two searches, and the law determines the kind. One that settles wherever queue and
//! load leave it (RED; drop-tail, without output) turns the queue into a signal: search the queue. One that
//! integrates (price, PI) settles at any signal, but only at the load or queue that it wants: search the signal. In both
//! the sources' demand falls as the signal rises, so that one crossing is between any two of its sides.
//!
//! Of several links each is searched in turn with the others as they are, which for laws with a utility is descent along
//! the coordinates of the dual program; Newton's method on all signals at once ends it. A link that is not full whatever
//! its signal is no bottleneck, and is silent.

mod others;

use crate::bottleneck::{Bottleneck, BottleneckEquilibrium, Free};
use crate::eigen;
use crate::error::AnalysisError;
use crate::matrix::solve;
use crate::source::{Demand, Signal, Source, SourceEquilibrium};

/// Everything at equilibrium.
#[derive(Debug, Clone, PartialEq)]
pub struct Equilibrium {
    /// The links, in the order given.
    pub links: Vec<LinkEquilibrium>,
    /// The classes, in the order given.
    pub sources: Vec<SourceEquilibrium>,
    /// The signals that each class observes.
    pub signals: Vec<Signal>,
    /// Where else all this could settle, as far as was looked; none where it was not.
    pub others: Vec<Other>,
}

/// Another equilibrium.
#[derive(Debug, Clone, PartialEq)]
pub enum Other {
    /// A link at another signal, with the other links as they are.
    Link(usize, Signal),
    /// A class at the same signal, at another rate [packets/s].
    Class(usize, f64),
}

/// A link at equilibrium, by its index.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkEquilibrium {
    /// The link.
    pub equilibrium: BottleneckEquilibrium,
    /// The signals that those who cross it observe.
    pub signal: Signal,
    /// Whether it limits anyone: its signal is not zero.
    pub binding: bool,
}

/// Rate of the sources at a link, all classes together.
struct Offered {
    /// Arrivals at the queue [packets/s].
    load: f64,
    /// The part that enters the line: without drops by the queue's law [packets/s].
    served: f64,
}

/// Demands beyond this multiple of the capacity count as unbounded.
const BEYOND: f64 = 1e3;

/// The longest queueing delay that is tried [s], and the longest queue [packets]: beyond, one packet more in a window is
/// below the last digit of the window.
const LONGEST_S: f64 = 100.0;
const LONGEST_PACKETS: f64 = 3e7;

/// An excess of this share of a capacity, where a search has ended, is a jump of the demand and no equilibrium; or so many times
/// the uncertainty of a rate by rounding, where that is more, up to a share that leaves nothing worth calling an equilibrium.
const JUMP: f64 = 1e-6;
const OPEN: f64 = 8.0;
const ROUGHEST: f64 = 1e-3;

/// Rounds of all links before the search is given up.
const ROUNDS: usize = 400;

/// A point of the search: the link at some signal and the rate of the sources then.
struct Trial {
    link: BottleneckEquilibrium,
    signal: Signal,
    /// Rate of the sources beyond that of the link [packets/s]; infinite where they are unbounded.
    excess: f64,
}

/// The outcome of the search of one link.
enum Searched {
    /// It is a bottleneck.
    Binds(Trial),
    /// It is not: its flows send so much of its capacity with an empty queue and no mark.
    Unfilled(f64),
}

/// Between a point of positive and one of negative excess, by secants and halves of the logarithm in turn (the halved
/// ordinates after Illinois): a dozen trials where halving alone takes sixty, and each trial evaluates every class.
fn between(
    low: f64,
    high: f64,
    trial: &mut dyn FnMut(f64) -> Result<Trial, AnalysisError>,
) -> Result<Trial, AnalysisError> {
    let (mut a, mut b) = (libm::log(low), libm::log(high));
    let mut best = trial(high)?;
    let (mut above, mut below) = (trial(low)?.excess, best.excess);
    let (mut last, mut side) = (b, 0);
    for k in 0..300 {
        let middle = f64::midpoint(a, b);
        let secant = b - below * (b - a) / (below - above);
        let x = if k % 3 == 2 || !above.is_finite() || !(a < secant && secant < b) { middle } else { secant };
        if b - a < 4.0 * f64::EPSILON * f64::max(1.0, b.abs()) || (x - last).abs() < f64::EPSILON {
            break;
        }
        let next = trial(libm::exp(x))?;
        last = x;
        let excess = next.excess;
        if excess > 0.0 {
            (a, above) = (x, excess);
            below *= if side == 1 { 0.5 } else { 1.0 };
            side = 1;
        } else {
            (b, below) = (x, excess);
            above *= if side == -1 { 0.5 } else { 1.0 };
            side = -1;
        }
        // Of two that are as good the later one, so that a search which ends at a jump ends there.
        if excess.abs() <= best.excess.abs() * (1.0 + 1e-9) {
            best = next;
        }
        if excess == 0.0 {
            break;
        }
    }
    Ok(best)
}

/// Links, sources, and the links that each source crosses.
struct Net<'a> {
    links: &'a mut [Bottleneck],
    sources: &'a mut [Source],
    routes: &'a [Vec<usize>],
    /// Classes evaluated so far, and the callback for progress.
    asked: u64,
    watch: &'a dyn Fn(u64),
}

impl Net<'_> {
    /// The signals of a path: delays add up, and a packet is marked that is marked by any.
    fn path(&self, source: usize, signals: &[Signal]) -> Signal {
        let route = &self.routes[source];
        let kept: f64 = route.iter().map(|l| 1.0 - signals[*l].probability).product();
        let one = |l: &usize| signals[*l].probability;
        let probability = if route.len() == 1 { one(&route[0]) } else { 1.0 - kept };
        Signal { queueing_delay_s: route.iter().map(|l| signals[*l].queueing_delay_s).sum(), probability }
    }

    /// Arrivals at `link` at these signals; none where a class is unbounded.
    fn offered(&mut self, link: usize, signals: &[Signal]) -> Result<Option<Offered>, AnalysisError> {
        let (mut load, mut served) = (0.0, 0.0);
        for i in 0..self.sources.len() {
            let Some(hop) = self.routes[i].iter().position(|l| *l == link) else { continue };
            let signal = self.path(i, signals);
            let most = BEYOND * self.routes[i].iter().map(|l| self.links[*l].capacity).fold(0.0, f64::max);
            self.asked += 1;
            (self.watch)(self.asked);
            let source = &mut self.sources[i];
            let Demand::Equilibrium(equilibrium) = source.demand(signal, most)? else { return Ok(None) };
            let mut rate = f64::from(source.count) * equilibrium.rate;
            if !source.is_marked() {
                // What is dropped before does not arrive.
                rate *= self.routes[i][..hop].iter().map(|l| 1.0 - signals[*l].probability).product::<f64>();
            }
            load += rate;
            served += rate * if source.is_marked() { 1.0 } else { 1.0 - signals[link].probability };
        }
        Ok(Some(Offered { load, served }))
    }

    /// Excess of the rate of the sources at a link at equilibrium, over its capacity.
    fn excess(
        &mut self,
        link: usize,
        equilibrium: &BottleneckEquilibrium,
        signals: &[Signal],
    ) -> Result<f64, AnalysisError> {
        let capacity = self.links[link].capacity;
        Ok(match self.offered(link, signals)? {
            Some(o) if equilibrium.load >= capacity => o.served / capacity - 1.0,
            Some(o) => (o.load - equilibrium.load) / capacity,
            None => f64::INFINITY,
        })
    }

    /// Uncertainty by rounding of the rate of its sources, as a share.
    fn open(&mut self, link: usize, signals: &[Signal]) -> Result<f64, AnalysisError> {
        let mut open = 0.0;
        for i in (0..self.sources.len()).filter(|i| self.routes[*i].contains(&link)) {
            let signal = self.path(i, signals);
            open = f64::max(open, self.sources[i].open(signal)?);
        }
        Ok(open)
    }

    /// One link at the number that its search goes along, everything else as it is.
    fn at(
        &mut self,
        link: usize,
        kind: Kind,
        x: f64,
    ) -> Result<Option<(BottleneckEquilibrium, Signal)>, AnalysisError> {
        let l = &mut self.links[link];
        let capacity = l.capacity;
        let equilibrium = match kind {
            Kind::Queue => l.equilibrium(libm::exp(x), capacity)?,
            Kind::Load => l.equilibrium(0.0, libm::exp(x))?,
            Kind::Probability(free) => {
                let Some(equilibrium) = l.equilibrium_saying(-libm::expm1(-libm::exp(x)), free) else {
                    return Ok(None);
                };
                equilibrium
            }
        };
        let signal = Signal { queueing_delay_s: equilibrium.queue / capacity, probability: equilibrium.probability };
        Ok(Some((equilibrium, signal)))
    }

    /// Newton's method on all binding links at once, along the logarithm of each search's variable. Whether it ended
    /// at the equilibrium of all.
    fn polish(&mut self, state: &mut [Option<LinkEquilibrium>], kinds: &[Kind]) -> Result<bool, AnalysisError> {
        let binding: Vec<usize> = (0..state.len()).filter(|&l| state[l].as_ref().is_some_and(|r| r.binding)).collect();
        let mut x: Vec<f64> =
            binding.iter().map(|&l| state[l].as_ref().map_or(0.0, |r| kinds[l].coordinate(&r.equilibrium))).collect();
        let mut signals = signals_of(state);
        let mut evaluate = |x: &[f64], signals: &mut Vec<Signal>| -> Result<Option<Evaluated>, AnalysisError> {
            let mut equilibria = Vec::with_capacity(binding.len());
            for (&l, x) in binding.iter().zip(x) {
                let Some((equilibrium, signal)) = self.at(l, kinds[l], *x)? else { return Ok(None) };
                signals[l] = signal;
                equilibria.push(equilibrium);
            }
            let excess: Result<Vec<f64>, _> =
                binding.iter().zip(&equilibria).map(|(&l, equilibrium)| self.excess(l, equilibrium, signals)).collect();
            let excess = excess?;
            Ok(excess.iter().all(|e| e.is_finite()).then_some((equilibria, excess)))
        };
        let size = |v: &[f64]| v.iter().fold(0.0, |m, e| f64::max(m, e.abs()));
        let Some((mut equilibria, mut excess)) = evaluate(&x, &mut signals)? else { return Ok(false) };
        for _ in 0..30 {
            if size(&excess) < 1e-13 {
                break;
            }
            let mut slopes = vec![vec![0.0; x.len()]; x.len()];
            for j in 0..x.len() {
                let mut beside = x.clone();
                beside[j] += 1e-6;
                let Some((_, moved)) = evaluate(&beside, &mut signals)? else { return Ok(false) };
                for (row, (m, e)) in slopes.iter_mut().zip(moved.iter().zip(&excess)) {
                    row[j] = (m - e) / 1e-6;
                }
            }
            let Some(step) = solve(slopes, excess.iter().map(|e| vec![-e]).collect()) else { return Ok(false) };
            let longest = step.iter().fold(0.0, |m, s| f64::max(m, s[0].abs()));
            let mut share = f64::min(1.0, 1.0 / longest);
            loop {
                let next: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x + share * s[0]).collect();
                match evaluate(&next, &mut signals)? {
                    Some((r, e)) if size(&e) < size(&excess) => {
                        (x, equilibria, excess) = (next, r, e);
                        break;
                    }
                    _ if share > 1e-3 => share *= 0.5,
                    _ if size(&excess) < 1e-10 => {
                        // The bottom of the arithmetic.
                        share = 0.0;
                        break;
                    }
                    _ => return Ok(false),
                }
            }
            if share == 0.0 {
                break;
            }
        }
        if size(&excess) > 1e-10 {
            return Ok(false);
        }
        for (&l, equilibrium) in binding.iter().zip(equilibria) {
            let signal = Signal {
                queueing_delay_s: equilibrium.queue / self.links[l].capacity,
                probability: equilibrium.probability,
            };
            state[l] = Some(LinkEquilibrium { equilibrium, signal, binding: true });
        }
        Ok(true)
    }
}

/// Links at equilibrium, and the excess of the rate of their flows.
type Evaluated = (Vec<BottleneckEquilibrium>, Vec<f64>);

/// The variable of the search of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// The queue of a law that settles anywhere.
    Queue,
    /// The load of such a law, where the line is not full.
    Load,
    /// The signal of a law that integrates; its free variable.
    Probability(Free),
}

impl Kind {
    fn coordinate(self, equilibrium: &BottleneckEquilibrium) -> f64 {
        libm::log(match self {
            Self::Queue => equilibrium.queue,
            Self::Load => equilibrium.load,
            Self::Probability(_) => -libm::log1p(-equilibrium.probability),
        })
    }
}

fn signals_of(state: &[Option<LinkEquilibrium>]) -> Vec<Signal> {
    state.iter().map(|r| r.as_ref().map_or(Signal::NONE, |r| r.signal)).collect()
}

/// Finds the equilibrium of `sources` on `links`; `routes` has the links that each source crosses, in order. Other
/// equilibria are looked for only where they are `wanted`. `watch` is called with the number of demands computed.
///
/// # Errors
/// There is none, or its prices are not determined, and why; or a law did not settle.
pub fn find(
    links: &mut [Bottleneck],
    sources: &mut [Source],
    routes: &[Vec<usize>],
    wanted: bool,
    watch: &dyn Fn(u64),
) -> Result<Equilibrium, AnalysisError> {
    let begins: Vec<Option<f64>> = links.iter_mut().map(Bottleneck::integrates).collect();
    let several = links.len() > 1;
    let mut net = Net { links, sources, routes, asked: 0, watch };
    let n = net.links.len();
    let mut state: Vec<Option<LinkEquilibrium>> = vec![None; n];
    let mut settled = false;
    for round in 0..ROUNDS {
        let mut moved = 0.0_f64;
        for l in 0..n {
            let mut signals = signals_of(&state);
            let begin = begins[l].map(|begin| match &state[l] {
                Some(r) if r.signal.probability > 0.0 => r.signal.probability,
                _ => begin,
            });
            let searched = search(&mut net, l, begin, &mut signals)?;
            let next = match searched {
                Searched::Binds(trial) => {
                    LinkEquilibrium { equilibrium: trial.link, signal: trial.signal, binding: true }
                }
                Searched::Unfilled(utilization) if !several => {
                    return Err(AnalysisError::NotFilled { link: net.links[l].name.clone(), utilization });
                }
                Searched::Unfilled(utilization) => LinkEquilibrium {
                    equilibrium: net.links[l].silent(utilization),
                    signal: Signal::NONE,
                    binding: false,
                },
            };
            let before = state[l].as_ref().map_or(Signal::NONE, |r| r.signal);
            moved = f64::max(moved, difference(before, next.signal));
            state[l] = Some(next);
        }
        if !several || moved < 1e-13 {
            settled = true;
            break;
        }
        if moved < 0.2 || round % 20 == 19 {
            let kinds: Vec<Kind> =
                (0..n).map(|l| kind(begins[l].is_some(), state[l].as_ref(), net.links[l].capacity)).collect();
            let mut polished = state.clone();
            // A link that was silent may bind beside those that were moved.
            if net.polish(&mut polished, &kinds)? && silent_stay_silent(&mut net, &polished)? {
                state = polished;
                settled = true;
                break;
            }
        }
    }
    let state: Vec<LinkEquilibrium> = state.into_iter().flatten().collect();
    let tight: Vec<usize> =
        (0..n).filter(|&l| state[l].binding || full(&mut net, l, &state).unwrap_or(false)).collect();
    if tight.is_empty() {
        let fullest =
            (0..n).max_by(|&a, &b| state[a].equilibrium.load.total_cmp(&state[b].equilibrium.load)).unwrap_or(0);
        let utilization = state[fullest].equilibrium.load / net.links[fullest].capacity;
        return Err(AnalysisError::NotFilled { link: net.links[fullest].name.clone(), utilization });
    }
    let routing: Vec<Vec<f64>> =
        tight.iter().map(|l| routes.iter().map(|route| if route.contains(l) { 1.0 } else { 0.0 }).collect()).collect();
    let rank = eigen::rank(&routing);
    if rank < tight.len() {
        let names = tight.iter().map(|l| net.links[*l].name.clone()).collect();
        return Err(AnalysisError::RankDeficient { links: names, rank });
    }
    if !settled {
        let names: Vec<String> = tight.iter().map(|l| net.links[*l].name.clone()).collect();
        return Err(AnalysisError::NotFound { links: names });
    }
    let signals: Vec<Signal> = state.iter().map(|r| r.signal).collect();
    let (mut equilibria, mut told) = (Vec::new(), Vec::new());
    for i in 0..net.sources.len() {
        let signal = net.path(i, &signals);
        equilibria.push(net.sources[i].equilibrium(signal)?);
        told.push(signal);
    }
    let mut state = state;
    for (l, at) in state.iter_mut().enumerate() {
        if let Some(offered) = net.offered(l, &signals)? {
            at.equilibrium.load = offered.load;
        }
    }
    let others = if wanted { others::beside(&mut net, &begins, &state, &equilibria, &told) } else { Vec::new() };
    Ok(Equilibrium { links: state, sources: equilibria, signals: told, others })
}

/// Distance of two signals, relative to the larger.
fn difference(a: Signal, b: Signal) -> f64 {
    let relative = |x: f64, y: f64| if x == y { 0.0 } else { (x - y).abs() / f64::max(x.abs(), y.abs()) };
    f64::max(relative(a.queueing_delay_s, b.queueing_delay_s), relative(a.probability, b.probability))
}

fn kind(integrates: bool, at: Option<&LinkEquilibrium>, capacity: f64) -> Kind {
    match at {
        Some(r) if integrates => {
            Kind::Probability(if r.equilibrium.load < capacity { Free::Load } else { Free::Queue })
        }
        Some(r) if r.equilibrium.queue == 0.0 => Kind::Load,
        _ => Kind::Queue,
    }
}

fn search(net: &mut Net<'_>, l: usize, begin: Option<f64>, signals: &mut [Signal]) -> Result<Searched, AnalysisError> {
    // The link is asked apart from the net, whose sources it is asked with.
    let mut demand = |net: &mut Net<'_>, signal: Signal| {
        signals[l] = signal;
        net.offered(l, signals)
    };
    let searched = match begin {
        Some(begin) => by_probability(net, l, begin, &mut demand),
        None => by_queue(net, l, &mut demand),
    }?;
    if let Searched::Binds(found) = &searched {
        signals[l] = found.signal;
        let capacity = net.links[l].capacity;
        let excess = found.excess.abs() / capacity;
        if excess > JUMP && (begin.is_some() || found.link.load >= capacity) {
            let open = net.open(l, signals)?;
            if excess > f64::min(OPEN * open, ROUGHEST) {
                let place = match begin {
                    Some(_) => format!("a probability of {:.6}", found.link.probability),
                    None => format!("a queue of {:.3} packets", found.link.queue),
                };
                let what = if OPEN * open < ROUGHEST {
                    "jumps past its capacity".to_owned()
                } else {
                    format!(
                        "has a relative uncertainty of {open:.1e} from rounding of windows, and differs from its \
                         capacity"
                    )
                };
                let cause = if OPEN * open < ROUGHEST {
                    ": a law switches between formulas there, or any window satisfies it"
                } else {
                    ""
                };
                let why = format!("at {place} the rate of its flows {what} ({:+.1} packets/s){cause}", found.excess);
                let (link, aqm) = (net.links[l].name.clone(), net.links[l].law());
                return Err(AnalysisError::NoEquilibrium { link, aqm, why });
            }
        }
    }
    Ok(searched)
}

type Ask<'a> = &'a mut dyn FnMut(&mut Net<'_>, Signal) -> Result<Option<Offered>, AnalysisError>;

/// Whether a silent link carries all that it would take before its signal rises.
fn full(net: &mut Net<'_>, l: usize, state: &[LinkEquilibrium]) -> Result<bool, AnalysisError> {
    let signals: Vec<Signal> = state.iter().map(|r| r.signal).collect();
    let wanted = net.links[l].wanted();
    Ok(net.offered(l, &signals)?.is_none_or(|o| o.load > wanted * (1.0 - 1e-9)))
}

fn silent_stay_silent(net: &mut Net<'_>, state: &[Option<LinkEquilibrium>]) -> Result<bool, AnalysisError> {
    let signals = signals_of(state);
    for l in (0..state.len()).filter(|&l| state[l].as_ref().is_some_and(|r| !r.binding)) {
        let wanted = net.links[l].wanted();
        if net.offered(l, &signals)?.is_none_or(|o| o.load > wanted * (1.0 + 1e-9)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The queue's law settles wherever queue and load leave it.
fn by_queue(net: &mut Net<'_>, l: usize, demand: Ask<'_>) -> Result<Searched, AnalysisError> {
    let bottleneck = &net.links[l];
    let capacity = bottleneck.capacity;
    let (link, aqm, reason) = (bottleneck.name.clone(), bottleneck.law(), bottleneck.reason());
    let mut at = |queue: f64, load: f64| -> Result<Trial, AnalysisError> {
        let link = net.links[l].equilibrium(queue, load)?;
        let signal = Signal { queueing_delay_s: queue / capacity, probability: link.probability };
        let excess = match demand(net, signal)? {
            // A full line takes what it can carry; one that is not full takes what comes.
            Some(o) if load >= capacity => o.served - capacity,
            Some(o) => o.load - load,
            None => f64::INFINITY,
        };
        Ok(Trial { link, signal, excess })
    };
    if at(0.0, capacity)?.excess < 0.0 {
        // The line is not full; a law that watches the load may still mark.
        let found = between(1e-12 * capacity, capacity, &mut |load| at(0.0, load))?;
        if found.signal.probability == 0.0 {
            return Ok(Searched::Unfilled(found.link.load / capacity));
        }
        return Ok(Searched::Binds(found));
    }
    let mut high = 1.0;
    while at(high, capacity)?.excess >= 0.0 {
        high *= 2.0;
        if high > f64::min(LONGEST_S * capacity, LONGEST_PACKETS) {
            let why = match reason {
                Some(reason) => format!("its flows exceed its capacity at any queue, and {aqm}: {reason}"),
                None => "its flows exceed its capacity at any queue".to_owned(),
            };
            return Err(AnalysisError::NoEquilibrium { link, aqm, why });
        }
    }
    let found = between(1e-9, high, &mut |queue| at(queue, capacity))?;
    Ok(Searched::Binds(found))
}

/// The queue's law integrates: any mark probability, but only at the load or queue it wants.
fn by_probability(net: &mut Net<'_>, l: usize, begin: f64, demand: Ask<'_>) -> Result<Searched, AnalysisError> {
    let capacity = net.links[l].capacity;
    let (name, aqm) = (net.links[l].name.clone(), net.links[l].law());
    let no = |why: String| AnalysisError::NoEquilibrium { link: name.clone(), aqm, why };
    // Along -ln(1 - P), the logarithm of which resolves both ends of a probability.
    let mut maybe = |v: f64| -> Result<Option<Trial>, AnalysisError> {
        let probability = -libm::expm1(-v);
        let bottleneck = &mut net.links[l];
        let empty =
            bottleneck.equilibrium_saying(probability, Free::Load).filter(|r| 0.0 < r.load && r.load <= capacity);
        let full = || bottleneck.equilibrium_saying(probability, Free::Queue).filter(|r| r.queue >= 0.0);
        let Some(link) = empty.or_else(full) else { return Ok(None) };
        let signal = Signal { queueing_delay_s: link.queue / capacity, probability };
        let excess = match demand(net, signal)? {
            Some(o) if link.load >= capacity => o.served - capacity,
            Some(o) => o.load - link.load,
            None => f64::INFINITY,
        };
        Ok(Some(Trial { link, signal, excess }))
    };
    let nowhere = |v: f64| no(format!("the AQM has no equilibrium at a probability of {}", -libm::expm1(-v)));
    // From where the law was found, in steps small enough that the next state is near the last.
    let begin = (-libm::log1p(-begin)).clamp(1e-6, 5.0);
    let mut trial = maybe(begin)?.ok_or_else(|| nowhere(begin))?;
    let rises = trial.excess > 0.0;
    let mut low = begin;
    let mut high = begin;
    loop {
        let v = if rises { high / 0.7 } else { low * 0.7 };
        trial = match maybe(v)? {
            Some(found) => found,
            // So near to silence the law's limit at zero is in the way; the demand hardly changes any more.
            None if v < 1e-6 => return Ok(Searched::Unfilled((trial.excess + trial.link.load) / capacity)),
            None => return Err(nowhere(v)),
        };
        (low, high) = if rises { (high, v) } else { (v, low) };
        if (trial.excess > 0.0) != rises {
            let mut at = |v: f64| maybe(v)?.ok_or_else(|| nowhere(v));
            let found = between(low, high, &mut at)?;
            return Ok(Searched::Binds(found));
        }
        if v < 1e-12 {
            return Ok(Searched::Unfilled((trial.excess + trial.link.load) / capacity));
        }
        if v > 20.0 {
            let excess = trial.excess;
            return Err(no(format!(
                "even with every packet marked, the flows of this link send {excess} packets/s more than its capacity"
            )));
        }
    }
}
