//! Where a scenario is cut into parts that run side by side: at lines whose delay lets one part be ahead of the other.
//!
//! A part has links with their queues, and the ends of flows. A sender is where the first link of its data is, and a receiver
//! where the first link of its acknowledgements is, or with its sender: between them there is no delay.

use penstock_law::quantity::Time;
use penstock_scenario::model::{Group, Link, Scenario, StopRule};

use crate::engine::Engine;
use crate::flow::NONE;
use crate::lineage::LATEST;

/// Which part everything is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Partition {
    /// Number of parts, two at least.
    pub(crate) parts: usize,
    /// A packet takes so long to reach another part, at least [ps]; less where that would be a long time of work.
    pub(crate) lookahead: u64,
    /// Two packets of one time were scheduled so long before, or nearly, and so were those before them [ps].
    pub(crate) memory: u64,
    /// Of each link.
    pub(crate) links: Vec<u32>,
    /// Of the ends of the flows of each group.
    pub(crate) senders: Vec<u32>,
    pub(crate) receivers: Vec<u32>,
}

/// A line that a group's packets go along: from a link to the next, or to the place of an end.
#[derive(Debug, Clone, Copy)]
struct Step {
    from: usize,
    to: usize,
    /// The least delay [ps].
    delay: u64,
    /// How much goes that way.
    packets: f64,
}

/// Packets of a span at the most, over all links: a few hundredths of a second of work.
const PACKETS: f64 = (1 << 17) as f64;

/// A packet at both ends of its flow takes so many times as much as at a link.
const ENDS: f64 = 2.0;

impl Partition {
    /// The cut of a scenario into `parts`, or fewer where it has no more; why there is none. `engine` is that of the scenario,
    /// perhaps with fewer flows.
    pub(crate) fn of(scenario: &Scenario, engine: &Engine, parts: usize) -> Result<Self, String> {
        if scenario.stop == Some(StopRule::TransfersComplete) {
            return Err("it ends when all transfers are complete, which no part of it knows".to_owned());
        }
        if scenario.duration.0 >= LATEST {
            return Err("it is longer than 20 hours".to_owned());
        }
        if scenario.links.len() < 2 {
            return Err("it has one link".to_owned());
        }
        let ends = ends(scenario).ok_or("a group of flows crosses no link")?;
        let (steps, loads) = steps(scenario, &ends);
        let mut together = Together::new(scenario.links.len());
        bind(scenario, engine, &ends, &mut together);
        for step in &steps {
            // Where marks are drawn at the far end of a line, its elements know when a packet left.
            let link = &engine.links[step.from];
            if link.station.marks_at_departure() && link.losses.elements.is_some() || step.delay == 0 {
                together.join(step.from, step.to);
            }
        }
        let mut delays: Vec<u64> = steps.iter().map(|step| step.delay).filter(|delay| *delay > 0).collect();
        delays.sort_unstable();
        delays.dedup();
        // The longest lookahead whose largest part is not much larger than that of the best cut.
        let mut cuts = Vec::new();
        for least in delays.into_iter().rev() {
            let mut together = together.clone();
            steps.iter().filter(|step| step.delay < least).for_each(|step| together.join(step.from, step.to));
            cuts.extend(cut(&mut together, &steps, &loads, parts));
        }
        let best = cuts.iter().map(|(largest, _)| *largest).fold(f64::INFINITY, f64::min);
        let links = cuts.into_iter().find(|(largest, _)| *largest <= 1.1 * best).map(|(_, links)| links);
        let links = links.ok_or("no line with a delay divides its links and the ends of its flows")?;
        let crosses = |step: &&Step| links[step.from] != links[step.to];
        let least = steps.iter().filter(crosses).map(|step| step.delay).min().unwrap_or(u64::MAX);
        let per_s: f64 = scenario.links.values().map(|link| link.rate.packets_per_s(scenario.packet.wire)).sum();
        Ok(Self {
            parts: links.iter().max().map_or(0, |last| *last as usize + 1),
            lookahead: least.min(Time::from_seconds(PACKETS / per_s.max(1.0)).0.max(1)),
            memory: memory(scenario, engine),
            senders: ends.iter().map(|(sender, _)| links[*sender]).collect(),
            receivers: ends.iter().map(|(_, receiver)| links[*receiver]).collect(),
            links,
        })
    }
}

/// How long packets may be at a link and on its line, twice over [ps].
fn memory(scenario: &Scenario, engine: &Engine) -> u64 {
    let queue = |link: &Link| {
        let (packets, bytes) = link.buffer.limits();
        let bytes = bytes.min(packets.saturating_mul(scenario.packet.wire.0));
        bytes as f64 * 8.0 / link.rate.bit_per_s()
    };
    let longest = scenario.links.values().map(queue).fold(0.0, f64::max);
    let line = engine.lines.iter().map(|line| line.delay).max().unwrap_or_default();
    Time::from_seconds(longest.min(1e6)).0.saturating_add(line).saturating_mul(2)
}

/// The links at which the senders and the receivers of each group are; none where a group crosses no link.
fn ends(scenario: &Scenario) -> Option<Vec<(usize, usize)>> {
    let place = |name: &String| scenario.links.get_index_of(name);
    let of = |group: &Group| {
        let sender = group.forward.first().and_then(place)?;
        Some((sender, group.backward.first().and_then(place).unwrap_or(sender)))
    };
    scenario.groups.values().map(of).collect()
}

/// The least delay of a link over the run [ps].
fn least_delay(link: &Link) -> u64 {
    link.delays.iter().map(|(_, delay)| *delay).fold(link.delay, Time::min).0
}

/// The steps of all packets, and how much there is to do at each link.
fn steps(scenario: &Scenario, ends: &[(usize, usize)]) -> (Vec<Step>, Vec<f64>) {
    let place = |name: &String| scenario.links.get_index_of(name).unwrap_or_default();
    let mut flows = vec![0.0; scenario.links.len()];
    for group in scenario.groups.values() {
        group.forward.iter().for_each(|link| flows[place(link)] += f64::from(group.count));
    }
    let mut loads = vec![0.0; scenario.links.len()];
    let mut steps = Vec::new();
    for ((name, group), (sender, receiver)) in scenario.groups.iter().zip(ends) {
        // As if each link were full, and shared alike.
        let share = |link: &String| {
            scenario.links[link].rate.packets_per_s(scenario.packet.wire) * f64::from(group.count) / flows[place(link)]
        };
        let packets = group.forward.iter().map(share).fold(f64::INFINITY, f64::min);
        let delays = || group.forward.iter().chain(&group.backward).map(|link| scenario.links[link].delay.0);
        let shortest = group.rtts(name, scenario.seed).into_iter().min().unwrap_or_default();
        let private = shortest.0.saturating_sub(delays().sum());
        for (links, end, beyond) in [(&group.forward, *receiver, private), (&group.backward, *sender, 0)] {
            for (at, link) in links.iter().enumerate() {
                let next = links.get(at + 1).map(place);
                let delay = least_delay(&scenario.links[link]) + if next.is_none() { beyond } else { 0 };
                steps.push(Step { from: place(link), to: next.unwrap_or(end), delay, packets });
                loads[place(link)] += packets;
            }
        }
        loads[*sender] += ENDS * packets;
    }
    (steps, loads)
}

/// Joins what shares more than packets.
fn bind(scenario: &Scenario, engine: &Engine, ends: &[(usize, usize)], together: &mut Together) {
    for (group, (sender, receiver)) in engine.groups.iter().zip(ends) {
        let Some(flow) = engine.flows.get(group.flows.0 as usize) else { continue };
        // Options wait at the receiver for their acknowledgement, a new connection is new at both ends, and the timer of
        // RFC 9002 counts the delays of acknowledgements.
        if group.options || group.handshake || flow.source != NONE || flow.timer.probes() {
            together.join(*sender, *receiver);
        }
    }
    // A customer has one conditioner.
    for customer in scenario.customers.values().filter(|customer| customer.conditioner.is_some()) {
        let mut of = customer.flows.iter().filter_map(|name| scenario.groups.get_index_of(name)).map(|at| ends[at].0);
        if let Some(first) = of.next() {
            of.for_each(|other| together.join(first, other));
        }
    }
}

/// Cuts what is not together into `parts` or fewer: the largest one's load, and the part of each link. None if it is one.
fn cut(together: &mut Together, steps: &[Step], loads: &[f64], parts: usize) -> Option<(f64, Vec<u32>)> {
    let lumps = together.lumps();
    let count = lumps.iter().max().map_or(0, |last| last + 1);
    let parts = parts.min(count);
    if parts < 2 {
        return None;
    }
    let mut load = vec![0.0; count];
    lumps.iter().zip(loads).for_each(|(lump, own)| load[*lump] += own);
    let order = chain(&lumps, steps, count);
    let ordered: Vec<f64> = order.iter().map(|lump| load[*lump]).collect();
    let (largest, lengths) = divide(&ordered, parts);
    let mut of_lump = vec![0; count];
    let mut from = 0;
    for (part, length) in (0..).zip(lengths) {
        order[from..from + length].iter().for_each(|lump| of_lump[*lump] = part);
        from += length;
    }
    Some((largest, lumps.iter().map(|lump| of_lump[*lump]).collect()))
}

/// An order in which neighbours exchange much: next is what exchanges most with the last one, or the first one left.
fn chain(lumps: &[usize], steps: &[Step], count: usize) -> Vec<usize> {
    let mut left: Vec<bool> = vec![true; count];
    let mut order = Vec::new();
    let mut last = 0;
    while order.len() < count {
        left[last] = false;
        order.push(last);
        let mut exchanged = vec![0.0; count];
        for step in steps {
            let (a, b) = (lumps[step.from], lumps[step.to]);
            if a == last {
                exchanged[b] += step.packets;
            } else if b == last {
                exchanged[a] += step.packets;
            }
        }
        let mut next: Option<usize> = None;
        for at in (0..count).filter(|at| left[*at]) {
            if next.is_none_or(|best| exchanged[at] > exchanged[best]) {
                next = Some(at);
            }
        }
        last = next.unwrap_or_default();
    }
    order
}

/// Divides a row into so many pieces, none of them empty, so that the largest sum is least: that sum, and the lengths.
fn divide(row: &[f64], pieces: usize) -> (f64, Vec<usize>) {
    let mut sums = vec![0.0];
    for x in row {
        sums.push(sums[sums.len() - 1] + x);
    }
    // The least largest sum of the first so many in so many pieces, and the length of the last piece.
    let mut best = vec![vec![(f64::INFINITY, 0); row.len() + 1]; pieces + 1];
    best[0][0] = (0.0, 0);
    for piece in 1..=pieces {
        for end in piece..=row.len() {
            for from in piece - 1..end {
                let largest = best[piece - 1][from].0.max(sums[end] - sums[from]);
                if largest < best[piece][end].0 {
                    best[piece][end] = (largest, end - from);
                }
            }
        }
    }
    let (mut end, mut lengths) = (row.len(), Vec::new());
    for piece in (1..=pieces).rev() {
        let length = best[piece][end].1;
        lengths.push(length);
        end -= length;
    }
    lengths.reverse();
    (best[pieces][row.len()].0, lengths)
}

/// Sets that are joined.
#[derive(Debug, Clone)]
struct Together(Vec<usize>);

impl Together {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        // The first one stays what a set is called by.
        self.0[a.max(b)] = a.min(b);
    }

    /// The number of the set of each, in the order of their first ones.
    fn lumps(&mut self) -> Vec<usize> {
        let roots: Vec<usize> = (0..self.0.len()).map(|at| self.root(at)).collect();
        let firsts: Vec<usize> = (0..roots.len()).filter(|at| roots[*at] == *at).collect();
        roots.iter().map(|root| firsts.partition_point(|first| first < root)).collect()
    }
}
