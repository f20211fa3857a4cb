//! Flows of one group, of one round trip and of about one start, as one fluid.

use std::collections::VecDeque;

use penstock_law::Instances;
use penstock_law::cc::{Event, Marks, Needs, Path, Sender, Site};
use penstock_law::estimate::{MarkEstimate, buffer_level};
use penstock_law::law::Linearises;
use penstock_law::quantity::Time;
use penstock_scenario::model::{Group, Pacing, Scenario, Size};

use super::Method;
use super::edge::{Edge, GREEN, Shares};
use super::estimates::{Estimated, Register};
use super::packets::{State, drive, put, state_of};
use super::queue::Queue;
use crate::source::Clocking;

/// A link on the way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hop {
    pub(super) link: usize,
    pub(super) delay_s: f64,
}

/// A cohort. Counts are of one flow [packets].
pub(super) struct Cohort {
    pub(super) group: usize,
    /// Where its customer enters, in the network's order; none without a contract.
    pub(super) edge: Option<usize>,
    estimated: Option<Estimated>,
    /// The flows' places in their group.
    pub(super) members: Vec<u32>,
    pub(super) base_rtt_s: f64,
    start_s: f64,
    stop_s: f64,
    limit: f64,
    hops: Vec<Hop>,
    /// Propagation from the sender to each link's queue [s].
    offsets: Vec<f64>,
    law: Box<dyn Instances<f64, Sender>>,
    needs: Needs,
    marked: bool,
    packets_per_ack: u32,
    receive_window: f64,
    clocking: Option<Clocking>,
    frozen: bool,
    estimators: bool,
    /// What was sent by each of the last steps; the newest at the end.
    sent: VecDeque<f64>,
    keep: usize,
    /// The step that `sent` ends with.
    last: u64,
    step: f64,
    /// When the packet left that is acknowledged now [s].
    left_s: f64,
    /// When the packet left that arrives at each link now, and how many have arrived [packets].
    arrivals: Vec<(f64, f64)>,
    acked: f64,
    round_ends: f64,
    ticks: u64,
    /// What its law's gap allowed at the end of the last stretch [packets/s].
    pace: f64,
    signal: Signal,
    average_rtt_s: f64,
    least_rtt_s: f64,
    register: Register,
    /// What the register says of the price [s].
    price_s: f64,
    /// Counted since the start.
    pub(super) total: Counted,
}

/// What a cohort has counted: of one flow [packets], and integrals over time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    pub(super) sent: f64,
    pub(super) acked: f64,
    pub(super) lost: f64,
    pub(super) marked: f64,
    /// Integral of the window [packets s], and of its square.
    pub(super) window: f64,
    pub(super) window_squared: f64,
    /// Sum of round-trip times over packets acknowledged [s].
    pub(super) rtt: f64,
    /// Time since the start [s].
    pub(super) active: f64,
}

/// What the path says at a moment.
#[derive(Debug, Clone, Copy, Default)]
struct Signal {
    rtt_s: f64,
    marked: f64,
    lost: f64,
}

impl Cohort {
    #[allow(clippy::too_many_arguments, reason = "a constructor: what a cohort is made of, and where it is")]
    pub(super) fn new(
        at: usize,
        scenario: &Scenario,
        name: &str,
        group: &Group,
        flows: &[(Time, Time, u32)],
        hops: Vec<Hop>,
        queues: &[Queue],
        method: &Method,
    ) -> Result<Self, String> {
        let entry = group.cc.law;
        if let Linearises::No(reason) = entry.linearises {
            return Err(format!("the group `{name}` has `{}`, which fluid does not know: {reason}", entry.name));
        }
        let site = Site {
            packet: scenario.packet.wire,
            initial_window: group.sender.initial_window,
            initial_ssthresh: group.sender.initial_ssthresh,
        };
        let estimated = Estimated::of(name, group, &site, &hops, queues)?;
        // Such a law keeps a bit for slow start, which a mean over packets does not move.
        let site = if estimated.is_some() { Site { initial_ssthresh: 0.0, ..site } } else { site };
        let mut law = (entry.real)(&group.cc.values, &site).map_err(|e| format!("`{}`: {e}", entry.name))?;
        law.add();
        law.add();
        let needs = law.needs();
        if needs.now {
            return Err(format!(
                "the group `{name}` has `{}`, a law of the time of day, which fluid does not know",
                entry.name
            ));
        }
        let mean =
            |f: fn(&(Time, Time, u32)) -> Time| flows.iter().map(|x| f(x).seconds()).sum::<f64>() / flows.len() as f64;
        let mut offsets = Vec::with_capacity(hops.len());
        let mut offset = 0.0;
        for hop in &hops {
            offsets.push(offset);
            offset += hop.delay_s;
        }
        let bytes = match group.size {
            None => None,
            Some(Size::Each(bytes)) => Some(bytes.0),
            Some(Size::Pareto { .. }) => {
                return Err(format!("the group `{name}` has sizes that are drawn, which fluid does not know"));
            }
        };
        let base_rtt_s = mean(|f| f.0);
        let marking = hops.iter().any(|h| queues[h.link].marks());
        Ok(Self {
            group: at,
            edge: None,
            estimated,
            members: flows.iter().map(|f| f.2).collect(),
            base_rtt_s,
            start_s: mean(|f| f.1),
            stop_s: group.stop.unwrap_or(Time::NEVER).seconds(),
            limit: bytes.map_or(f64::INFINITY, |b| b as f64 / scenario.packet.payload.0 as f64),
            arrivals: vec![(f64::NEG_INFINITY, 0.0); hops.len()],
            hops,
            offsets,
            marked: needs.marks != Marks::Ignored && marking,
            needs,
            law,
            packets_per_ack: group.sender.delayed_ack.max(1),
            receive_window: group.sender.receive_window,
            clocking: method.clocking.or((group.sender.pacing == Pacing::Off).then_some(Clocking::Ack)),
            frozen: method.frozen_delays,
            estimators: method.estimators,
            sent: VecDeque::new(),
            keep: 0,
            last: 0,
            step: 0.0,
            left_s: -base_rtt_s,
            acked: 0.0,
            round_ends: 0.0,
            ticks: 0,
            pace: 0.0,
            signal: Signal { rtt_s: base_rtt_s, ..Signal::default() },
            average_rtt_s: base_rtt_s,
            least_rtt_s: f64::INFINITY,
            register: Register::new(),
            price_s: 0.0,
            total: Counted::default(),
        })
    }

    /// Propagation from the last link's queue back to the sender [s].
    pub(super) fn shortest_way_back_s(&self) -> f64 {
        self.base_rtt_s - self.offsets.last().copied().unwrap_or(0.0)
    }

    pub(super) fn window(&mut self) -> f64 {
        let seen = self.seen(self.signal);
        self.law.says(0, &seen).window
    }

    pub(super) fn has_begun(&self) -> bool {
        self.total.active > 0.0
    }

    /// From when to when its flows have something to send.
    pub(super) fn life(&self) -> (Time, Time) {
        (Time::from_seconds(self.start_s), Time::from_seconds(self.stop_s))
    }

    pub(super) fn is_reliable(&self) -> bool {
        self.needs.reliable
    }

    pub(super) fn flows(&self) -> f64 {
        self.members.len() as f64
    }

    pub(super) fn begin(&mut self, step: f64) {
        self.step = step;
        self.keep = (self.base_rtt_s / step) as usize + 4;
        self.sent.push_back(0.0);
    }

    /// What one flow had sent at `t`.
    fn sent_at(&self, t: f64) -> f64 {
        let x = t / self.step;
        let oldest = self.last + 1 - self.sent.len() as u64;
        if x <= oldest as f64 {
            return if x < 0.0 { 0.0 } else { self.sent[0] };
        }
        let k = (x as u64).min(self.last);
        let a = self.sent[(k - oldest) as usize];
        let b = self.sent[((k + 1).min(self.last) - oldest) as usize];
        a + (x - k as f64).min(1.0) * (b - a)
    }

    /// When a packet that leaves at `t` reaches the queue of hop `until`, or, past the last, is acknowledged.
    fn reaches(&self, t: f64, until: usize, queues: &[Queue]) -> f64 {
        let mut at = t;
        for hop in self.hops.iter().take(until) {
            let wait = if self.frozen { 0.0 } else { queues[hop.link].wait_s(at) };
            at += wait + hop.delay_s;
        }
        if until >= self.hops.len() {
            let links: f64 = self.hops.iter().map(|h| h.delay_s).sum();
            at += self.base_rtt_s - links;
        }
        at
    }

    /// When the packet left that does so at `t`, not before `since`.
    fn left(&self, t: f64, since: f64, until: usize, queues: &[Queue]) -> f64 {
        let propagation = if until >= self.hops.len() { self.base_rtt_s } else { self.offsets[until] };
        let latest = t - propagation;
        if self.frozen || latest <= 0.0 {
            return latest;
        }
        let miss = |a: f64| self.reaches(a, until, queues) - t;
        let (mut low, mut high) = (f64::max(since, 0.0).min(latest), latest);
        let mut above = miss(high);
        if above <= 0.0 {
            return high;
        }
        let mut below = miss(low);
        if below >= 0.0 {
            return low;
        }
        // Regula falsi after Illinois: the curve is straight in pieces.
        let mut side = 0;
        for _ in 0..60 {
            let middle = high - above * (high - low) / (above - below);
            let m = miss(middle);
            if m.abs() < 1e-12 * t || high - low < 1e-13 * t {
                return middle;
            }
            if m > 0.0 {
                (high, above) = (middle, m);
                if side == 1 {
                    below *= 0.5;
                }
                side = 1;
            } else {
                (low, below) = (middle, m);
                if side == -1 {
                    above *= 0.5;
                }
                side = -1;
            }
        }
        0.5 * (low + high)
    }

    /// What became of that which left at `t`.
    fn shares_at(&self, t: f64, edges: &[Edge]) -> Shares {
        self.edge.map_or(GREEN, |edge| edges[edge].shares_at(t))
    }

    /// What the path says to the packet that left at `left` and is acknowledged at `t`.
    fn told(&self, left: f64, t: f64, queues: &[Queue], edges: &[Edge]) -> Signal {
        let (mut passed, mut unmarked) = (self.shares_at(left, edges), 1.0);
        for (i, hop) in self.hops.iter().enumerate() {
            let queue = &queues[hop.link];
            let at = if self.frozen { left + self.offsets[i] } else { self.reaches(left, i, queues) };
            let (chance, lost) = queue.chances(at);
            let marks = self.marked && queue.marks();
            if marks {
                unmarked *= 1.0 - chance;
            }
            let dropped = if marks { [0.0; 3] } else { queue.chances_of_colours(chance, at) };
            for (passed, chance) in passed.iter_mut().zip(dropped) {
                *passed *= (1.0 - lost) * (1.0 - chance);
            }
        }
        let passed: f64 = passed.iter().sum();
        // A frozen path still tells how long its queues are.
        let waits: f64 = if self.frozen {
            self.hops.iter().zip(&self.offsets).map(|(h, o)| queues[h.link].wait_s(left + o)).sum()
        } else {
            0.0
        };
        Signal { rtt_s: t - left + waits, marked: 1.0 - unmarked, lost: 1.0 - passed }
    }

    fn seen(&self, signal: Signal) -> Path<f64> {
        let price_s = match self.needs.marks {
            Marks::Price(by) if self.marked && !self.estimators => price_of(by, signal.marked),
            _ => self.price_s,
        };
        let rtt_s = if self.estimators && self.needs.average_rtt.is_some() { self.average_rtt_s } else { signal.rtt_s };
        let base_rtt_s = if self.least_rtt_s.is_finite() { self.least_rtt_s } else { self.base_rtt_s };
        let path = Path { rtt_s, base_rtt_s, price_s, ..Path::unknown() };
        let Some(estimated) = &self.estimated else { return path };
        let (earlier_s, earlier) = estimated.earlier();
        Path {
            buffer: estimated.buffer,
            level: buffer_level(estimated.capacity, rtt_s, base_rtt_s),
            in_flight: self.sent.back().map_or(0.0, |sent| sent - self.acked),
            earlier,
            earlier_s,
            ..path
        }
    }

    /// What a law of its own packets is told of a round trip ago, for the step that ends at `to`.
    fn look_back(&mut self, to: f64) {
        let seen = self.seen(self.signal);
        let window = self.law.says(0, &seen).window;
        if let Some(estimated) = &mut self.estimated {
            let committed = seen.level + f64::max(seen.in_flight, window);
            estimated.look_back(to, seen.rtt_s, (self.acked > 0.0).then_some(committed));
        }
    }

    /// One step of all that happens at the sender.
    pub(super) fn advance(&mut self, from: f64, to: f64, step: f64, queues: &[Queue], edges: &[Edge]) {
        let sent_before = self.sent.back().copied().unwrap_or(0.0);
        let mut sent = sent_before;
        if to > self.start_s {
            let left = self.left(to, self.left_s, self.hops.len(), queues);
            let before = self.signal;
            let acked = self.sent_at(left).max(self.acked);
            let now = self.told(left, to, queues, edges);
            if acked > 0.0 {
                self.least_rtt_s = f64::min(self.least_rtt_s, now.rtt_s);
            }
            if self.estimated.is_some() {
                self.look_back(from);
            }
            let begin = f64::max((self.start_s - from) / step, 0.0);
            sent = self.events(from, step, begin, (self.acked, acked), (before, now), sent);
            self.left_s = left;
            self.signal = now;
            let window = self.window();
            let active = to - f64::max(from, self.start_s);
            self.total.active += active;
            self.total.window += active * window;
            self.total.window_squared += active * window * window;
        }
        self.total.sent = sent;
        self.sent.push_back(sent);
        self.last += 1;
        // Waits make the way longer than it was: keep what is not acknowledged yet.
        let oldest_needed = f64::max(self.left_s, 0.0) / step;
        while self.sent.len() > self.keep && ((self.last + 2 - self.sent.len() as u64) as f64) < oldest_needed - 1.0 {
            self.sent.pop_front();
        }
    }

    /// The law through a step: acknowledgements as a mean, periods and rounds at their times, and what is sent meanwhile.
    fn events(
        &mut self,
        from: f64,
        step: f64,
        begin: f64,
        (acked, until): (f64, f64),
        (before, now): (Signal, Signal),
        mut sent: f64,
    ) -> f64 {
        let between = |share: f64| Signal {
            rtt_s: before.rtt_s + share * (now.rtt_s - before.rtt_s),
            marked: before.marked + share * (now.marked - before.marked),
            lost: before.lost + share * (now.lost - before.lost),
        };
        let mut done = begin;
        if begin > 0.0 || self.pace == 0.0 {
            // The first pace is the law's own from its first moment.
            sent = self.send(0.0, from + begin * step, between(begin), sent);
        }
        loop {
            let tick = self.needs.tick_s.map(|period| {
                let at = self.start_s + (self.ticks + 1) as f64 * period;
                (at - from) / step
            });
            let round = (until > acked && self.round_ends <= until && self.needs.reliable && self.round_ends > 0.0)
                .then(|| ((self.round_ends - acked) / (until - acked)).max(done));
            let next_tick = tick.filter(|t| *t <= 1.0);
            let next = [next_tick, round].into_iter().flatten().fold(1.0, f64::min).max(done);
            let packets = (until - acked) * (next - done);
            self.acknowledge(packets, &|share| between(done + share * (next - done)));
            sent = self.send((next - done) * step, from + next * step, between(next), sent);
            done = next;
            if next_tick.is_some_and(|t| t <= next) {
                // Before the first acknowledgement nothing is known that a period could use.
                if self.acked > 0.0 {
                    let seen = self.seen(between(done));
                    self.law.on(0, Event::Tick, &seen);
                    sent = self.send(0.0, from + done * step, between(done), sent);
                }
                self.ticks += 1;
                continue;
            }
            if round.is_some_and(|r| r <= next) {
                let seen = self.seen(between(done));
                self.law.on(0, Event::Round, &seen);
                sent = self.send(0.0, from + done * step, between(done), sent);
                self.round_ends = f64::max(sent, self.acked + 1e-9);
                continue;
            }
            break;
        }
        if self.round_ends == 0.0 && sent > 0.0 {
            self.round_ends = sent;
        }
        sent
    }

    /// So many packets acknowledged.
    fn acknowledge(&mut self, packets: f64, between: &dyn Fn(f64) -> Signal) {
        if packets <= 0.0 {
            return;
        }
        let middle = between(0.5);
        self.acked += packets;
        self.total.acked += packets * (1.0 - middle.lost);
        self.total.lost += packets * middle.lost;
        self.total.marked += packets * (1.0 - middle.lost) * middle.marked;
        self.total.rtt += packets * middle.rtt_s;
        if let Marks::Price(by) = self.needs.marks {
            let n = f64::from(by.packets);
            self.register.take(self.acked, packets * middle.marked, n);
            if self.marked {
                self.price_s = price_of(by, self.register.share(n));
            }
        }
        if !self.needs.reliable {
            return;
        }
        if let Some(by) = self.needs.average_rtt {
            let weight = f64::min(by.over_window / self.window(), by.most);
            self.average_rtt_s += (1.0 - libm::pow(1.0 - weight, packets)) * (middle.rtt_s - self.average_rtt_s);
        }
        let mut state = state_of(self.law.as_mut(), 0);
        if state.is_empty() {
            return;
        }
        let seen = [0.0, 1.0].map(|share| self.seen(between(share)));
        let (law, each, marks) = (&mut self.law, self.packets_per_ack, self.needs.marks);
        let marked = self.marked;
        let mut change = |s: &[f64], share: f64, sum: &mut [f64]| {
            let signal = between(share);
            let line = |a: f64, b: f64| a + share * (b - a);
            let seen = Path {
                rtt_s: line(seen[0].rtt_s, seen[1].rtt_s),
                base_rtt_s: line(seen[0].base_rtt_s, seen[1].base_rtt_s),
                price_s: line(seen[0].price_s, seen[1].price_s),
                level: line(seen[0].level, seen[1].level),
                ..seen[1]
            };
            let mut add = |chance: f64, event: Event| {
                if chance == 0.0 {
                    return;
                }
                law.restart(1);
                put(law.as_mut(), 1, s);
                law.on(1, event, &seen);
                let after = state_of(law.as_mut(), 1);
                for ((sum, after), before) in sum.iter_mut().zip(after.iter()).zip(s) {
                    *sum += chance * (after - before);
                }
            };
            let p = if marked { signal.marked } else { 0.0 };
            let kept = (1.0 - signal.lost) / f64::from(each);
            let mut ways = 1.0;
            for hits in 0..=each {
                let mut chance = kept * ways;
                for k in 0..each {
                    chance *= if k < hits { p } else { 1.0 - p };
                }
                add(chance, Event::Ack { packets: each, marked: hits });
                ways *= f64::from(each - hits) / f64::from(hits + 1);
            }
            let cut = if marks == Marks::Cut { p } else { 0.0 };
            add(cut + signal.lost, Event::Cut);
        };
        drive(&mut state, packets, &mut change);
        put(self.law.as_mut(), 0, &state);
    }

    /// What the law's gap, or its window over a round trip, allows [packets/s]; none where acknowledgements alone time
    /// its packets.
    fn pace(&self, gap_s: f64, window: f64, rtt_s: f64) -> Option<f64> {
        match self.clocking {
            Some(Clocking::Ack) if self.needs.reliable => None,
            _ if gap_s > 0.0 => Some(1.0 / gap_s),
            Some(Clocking::Paced) => Some(window / rtt_s),
            _ => None,
        }
    }

    /// What has been sent after `dt` [s] more, with the pace straight from what it was.
    fn send(&mut self, dt: f64, now: f64, signal: Signal, sent: f64) -> f64 {
        let seen = self.seen(signal);
        let said = self.law.says(0, &seen);
        let pace = self.pace(said.gap_s, said.window, seen.rtt_s);
        let before = core::mem::replace(&mut self.pace, pace.unwrap_or(0.0));
        if now > self.stop_s {
            return sent;
        }
        let limited = self.needs.reliable && self.clocking != Some(Clocking::Paced);
        let allowed = if limited { self.acked + f64::min(said.window, self.receive_window) } else { f64::INFINITY };
        let next = pace.map_or(f64::INFINITY, |pace| sent + 0.5 * dt * (before + pace));
        f64::max(f64::min(next, allowed), sent).min(self.limit)
    }

    /// Adds what was sent in the last step to where its customer enters.
    pub(super) fn enter(&self, edges: &mut [Edge]) {
        if let (Some(edge), Some(last)) = (self.edge, self.sent.len().checked_sub(2)) {
            edges[edge].incoming += self.flows() * (self.sent[last + 1] - self.sent[last]);
        }
    }

    /// Adds what arrived at each queue in the step that ends at `to`.
    pub(super) fn arrive(&mut self, to: f64, queues: &mut [Queue], edges: &[Edge]) {
        let flows = self.flows();
        let mut through = [1.0; 3];
        for i in 0..self.hops.len() {
            let (left_before, arrived_before) = self.arrivals[i];
            let left = if i == 0 { to } else { self.left(to, left_before, i, queues) };
            let arrived = self.sent_at(left).max(arrived_before);
            self.arrivals[i] = (left, arrived);
            let coloured = self.shares_at(left, edges);
            let sent = flows * (arrived - arrived_before);
            let by_colour: Shares = core::array::from_fn(|c| sent * coloured[c] * through[c]);
            let packets: f64 = by_colour.iter().sum();
            let queue = &mut queues[self.hops[i].link];
            queue.incoming += packets;
            for (incoming, packets) in queue.incoming_by.iter_mut().zip(by_colour) {
                *incoming += packets;
            }
            if !self.marked || !queue.marks() {
                queue.droppable += packets;
            }
            // What is dropped or lost here does not arrive at the next.
            if i + 1 < self.hops.len() {
                let (chance, lost) = queue.chances(to - self.step);
                let marks = self.marked && queue.marks();
                let dropped = if marks { [0.0; 3] } else { queue.chances_of_colours(chance, to - self.step) };
                for (through, chance) in through.iter_mut().zip(dropped) {
                    *through *= (1.0 - lost) * (1.0 - chance);
                }
            }
        }
    }

    /// The law's state, to be shown.
    pub(super) fn state(&mut self) -> (State, &'static [(&'static str, &'static str)]) {
        (state_of(self.law.as_mut(), 0), self.law.names())
    }

    /// The latest round-trip time [s].
    pub(super) fn rtt_s(&self) -> f64 {
        self.signal.rtt_s
    }

    /// The least round-trip time so far [s]; none before the first acknowledgement.
    pub(super) fn least_rtt_s(&self) -> Option<f64> {
        Some(self.least_rtt_s).filter(|least| least.is_finite())
    }
}

/// The price that a share of marks tells [s].
fn price_of(by: MarkEstimate, share: f64) -> f64 {
    -libm::log1p(-f64::min(share, 1.0 - 0.5 / f64::from(by.packets))) / libm::log(by.phi)
}
