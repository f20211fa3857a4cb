//! The equilibrium of one bottleneck: the signal at which the sources send what the link takes.
//!
//! Two kinds of queue laws ask for two searches, and which it is, is asked of the law. One that rests wherever queue and
//! load leave it (RED; drop-tail, which says nothing) turns the queue into a signal: search the queue. One that
//! integrates (price, PI) rests at any signal, but only at the load or queue that it wants: search the signal. In both
//! the sources' demand falls as the signal rises, so a bisection is sure.

use crate::bottleneck::{Bottleneck, BottleneckRest, Free};
use crate::error::AnalysisError;
use crate::source::{Demand, Signal, Source, SourceRest};

/// Everything at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Equilibrium {
    /// The link.
    pub bottleneck: BottleneckRest,
    /// The classes, in the order given.
    pub sources: Vec<SourceRest>,
    /// What the path tells the sources.
    pub signal: Signal,
}

/// What the sources send, all classes together.
struct Total {
    /// Arrivals at the queue [packets/s].
    load: f64,
    /// What of it enters the line: without what the queue's law drops [packets/s].
    served: f64,
    rests: Vec<SourceRest>,
}

/// Demands beyond this multiple of the capacity count as unbounded.
const BEYOND: f64 = 1e3;

/// The longest queueing delay that is tried [s], and the longest queue [packets]: beyond, one packet more in a window is
/// below the last digit of the window.
const LONGEST_S: f64 = 100.0;
const LONGEST_PACKETS: f64 = 3e7;

fn total(sources: &mut [Source], signal: Signal, capacity: f64) -> Result<Option<Total>, AnalysisError> {
    let (mut load, mut served, mut rests) = (0.0, 0.0, Vec::with_capacity(sources.len()));
    for source in sources {
        let Demand::Rest(rest) = source.demand(signal, BEYOND * capacity)? else { return Ok(None) };
        let rate = f64::from(source.count) * rest.rate;
        load += rate;
        served += rate * if source.is_marked() { 1.0 } else { 1.0 - signal.probability };
        rests.push(rest);
    }
    Ok(Some(Total { load, served, rests }))
}

/// A point of the search: the link at some signal and what the sources would send then.
struct Trial {
    link: BottleneckRest,
    signal: Signal,
    /// What the sources would send beyond what the link takes [packets/s]; infinite where they know no bound.
    excess: f64,
    rests: Vec<SourceRest>,
}

/// Bisects in the logarithm between a point of positive and one of negative excess.
fn bisect(
    mut low: f64,
    mut high: f64,
    trial: &mut dyn FnMut(f64) -> Result<Trial, AnalysisError>,
) -> Result<Trial, AnalysisError> {
    loop {
        let middle = libm::sqrt(low) * libm::sqrt(high);
        if middle <= low || middle >= high || high / low < 1.0 + 1e-15 {
            return trial(high);
        }
        if trial(middle)?.excess > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// Finds the equilibrium of `sources` on `bottleneck`.
///
/// # Errors
/// There is none, and why; or a law did not come to rest.
pub fn find(bottleneck: &mut Bottleneck, sources: &mut [Source]) -> Result<Equilibrium, AnalysisError> {
    let trial = match bottleneck.integrates() {
        Some(probability) => by_probability(bottleneck, sources, probability)?,
        None => by_queue(bottleneck, sources)?,
    };
    let load = sources.iter().zip(&trial.rests).map(|(s, r)| f64::from(s.count) * r.rate).sum();
    let link = BottleneckRest { load, ..trial.link };
    Ok(Equilibrium { bottleneck: link, sources: trial.rests, signal: trial.signal })
}

/// The queue's law rests wherever queue and load leave it.
fn by_queue(bottleneck: &mut Bottleneck, sources: &mut [Source]) -> Result<Trial, AnalysisError> {
    let capacity = bottleneck.capacity;
    let (link, aqm, reason) = (bottleneck.name.clone(), bottleneck.law(), bottleneck.reason());
    let mut at = |queue: f64, load: f64| -> Result<Trial, AnalysisError> {
        let link = bottleneck.rest(queue, load)?;
        let signal = Signal { queueing_delay_s: queue / capacity, probability: link.probability };
        let (excess, rests) = match total(sources, signal, capacity)? {
            // A full line takes what it can carry; one that is not full takes what comes.
            Some(t) if load >= capacity => (t.served - capacity, t.rests),
            Some(t) => (t.load - load, t.rests),
            None => (f64::INFINITY, Vec::new()),
        };
        Ok(Trial { link, signal, excess, rests })
    };
    if at(0.0, capacity)?.excess < 0.0 {
        // The line is not full; a law that watches the load may still mark.
        let found = bisect(1e-12 * capacity, capacity, &mut |load| at(0.0, load))?;
        if found.signal.probability == 0.0 {
            return Err(AnalysisError::NotFilled { link, utilization: found.link.load / capacity });
        }
        return Ok(found);
    }
    let mut high = 1.0;
    while at(high, capacity)?.excess >= 0.0 {
        high *= 2.0;
        if high > f64::min(LONGEST_S * capacity, LONGEST_PACKETS) {
            let why = match reason {
                Some(reason) => format!("its flows ask for more than it carries at any queue, and {aqm}: {reason}"),
                None => "its flows ask for more than it carries at any queue".to_owned(),
            };
            return Err(AnalysisError::NoEquilibrium { link, aqm, why });
        }
    }
    bisect(1e-9, high, &mut |queue| at(queue, capacity))
}

/// The queue's law integrates: any mark probability, but only at the load or queue it wants.
fn by_probability(bottleneck: &mut Bottleneck, sources: &mut [Source], begin: f64) -> Result<Trial, AnalysisError> {
    let capacity = bottleneck.capacity;
    let (name, aqm) = (bottleneck.name.clone(), bottleneck.law());
    let no = |why: String| AnalysisError::NoEquilibrium { link: name.clone(), aqm, why };
    // Along -ln(1 - P), the logarithm of which resolves both ends of a probability.
    let mut at = |v: f64| -> Result<Trial, AnalysisError> {
        let probability = -libm::expm1(-v);
        let empty = bottleneck.rest_saying(probability, Free::Load).filter(|r| 0.0 < r.load && r.load <= capacity);
        let link = match empty {
            Some(rest) => rest,
            None => bottleneck
                .rest_saying(probability, Free::Queue)
                .filter(|r| r.queue >= 0.0)
                .ok_or_else(|| no(format!("its law does not stay at a probability of {probability}")))?,
        };
        let signal = Signal { queueing_delay_s: link.queue / capacity, probability };
        let (excess, rests) = match total(sources, signal, capacity)? {
            Some(t) if link.load >= capacity => (t.served - capacity, t.rests),
            Some(t) => (t.load - link.load, t.rests),
            None => (f64::INFINITY, Vec::new()),
        };
        Ok(Trial { link, signal, excess, rests })
    };
    // From where the law was found, in steps small enough that the next state is near the last.
    let begin = (-libm::log1p(-begin)).clamp(1e-6, 5.0);
    let rises = at(begin)?.excess > 0.0;
    let mut low = begin;
    let mut high = begin;
    loop {
        let v = if rises { high / 0.7 } else { low * 0.7 };
        let trial = at(v)?;
        (low, high) = if rises { (high, v) } else { (v, low) };
        if (trial.excess > 0.0) != rises {
            return bisect(low, high, &mut at);
        }
        if v < 1e-12 {
            let utilization = (trial.excess + trial.link.load) / capacity;
            return Err(AnalysisError::NotFilled { link: name, utilization });
        }
        if v > 20.0 {
            let excess = trial.excess;
            return Err(no(format!("with every packet marked its flows would still send {excess} packets/s too much")));
        }
    }
}
