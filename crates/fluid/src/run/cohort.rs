//! Flows of one group, of one round trip and of about one start, as one fluid.

use penstock_law::cc::{self, Acknowledged, Event, Marks};
use penstock_law::estimate::buffer_level;
use penstock_law::quantity::Time;
use penstock_scenario::model::{Group, Scenario, Size};

use super::arithmetic::{larger, smaller};
use super::conditioner::Conditioner;
use super::estimates::{Estimated, Register};
use super::host::Host;
use super::queue::Queue;
use super::way::{Signals, Way, Ways};
use crate::source::Clocking;

/// A cohort. Counts are of one flow [packets].
pub(super) struct Cohort {
    /// The place of its group, which has one host, and the instance of the law there.
    pub(super) group: usize,
    pub(super) instance: usize,
    pub(super) way: Way,
    start_s: f64,
    stop_s: f64,
    limit: f64,
    /// When the packet left that is acknowledged now [s].
    left_s: f64,
    acked: f64,
    round_ends: f64,
    ticks: u64,
    /// When the next one is due [s].
    next_tick_s: f64,
    /// The rate by its law's gap at the end of the last stretch [packets/s], and its window [packets].
    pace: f64,
    window: f64,
    signal: Signal,
    average_rtt_s: f64,
    least_rtt_s: f64,
    /// The least round trip that its law observes [s].
    base_rtt_s: f64,
    /// Value of the price register [s].
    price_s: f64,
    register: Register,
    estimated: Option<Box<Estimated>>,
    /// Counted since the start.
    pub(super) total: Counted,
    /// The flows' indices in their group.
    pub(super) members: Vec<u32>,
    /// Time of the law's first fault [s], and the fault.
    pub(super) fault: Option<Box<(f64, Fault)>>,
}

/// An output or a number of the state that is not a number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    /// Its output, on which no host can act.
    Output(cc::Output<f64>),
    /// The number of its state with this name.
    State(&'static str),
}

/// Counters of a cohort: of one flow [packets], and integrals over time.
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

/// The signal of the path at a moment.
#[derive(Debug, Clone, Copy, Default)]
struct Signal {
    rtt_s: f64,
    marked: f64,
    lost: f64,
}

/// The signal of the path from one moment to another, straight between.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    from: Signal,
    to: Signal,
}

impl Stretch {
    /// After a share of it.
    fn at(&self, share: f64) -> Signal {
        let line = |a: f64, b: f64| a + share * (b - a);
        Signal {
            rtt_s: line(self.from.rtt_s, self.to.rtt_s),
            marked: line(self.from.marked, self.to.marked),
            lost: line(self.from.lost, self.to.lost),
        }
    }
}

impl Cohort {
    /// A cohort of `flows`, each with its round trip, its start, and its index in the group; `at` is the group's place.
    pub(super) fn new(
        at: usize,
        scenario: &Scenario,
        (name, group): (&str, &Group),
        flows: &[(Time, Time, u32)],
        links: &[(usize, f64)],
        queues: &[Queue],
        (host, ways): (&mut Host, &mut Ways),
    ) -> Result<Self, String> {
        let estimated = Estimated::of(name, group, host.needs.bottleneck, links, queues)?.map(Box::new);
        if let Some(refusal) = host.refusal(name) {
            return Err(refusal);
        }
        let mean =
            |f: fn(&(Time, Time, u32)) -> Time| flows.iter().map(|x| f(x).seconds()).sum::<f64>() / flows.len() as f64;
        let bytes = match &group.size {
            None => None,
            Some(Size::Each(bytes)) => Some(bytes.0),
            Some(Size::Pareto { .. } | Size::Measured(_)) => {
                return Err(format!("the group `{name}` has sizes that are drawn, which fluid does not support"));
            }
        };
        let (base_rtt_s, start_s) = (mean(|f| f.0), mean(|f| f.1));
        let mut way = Way::new(links, base_rtt_s, flows.len() as f64, ways);
        way.marked = host.marked;
        Ok(Self {
            group: at,
            instance: host.add(),
            way,
            start_s,
            stop_s: group.stop.unwrap_or(Time::NEVER).seconds(),
            limit: bytes.map_or(f64::INFINITY, |b| b as f64 / scenario.packet.payload.0 as f64),
            left_s: -base_rtt_s,
            acked: 0.0,
            round_ends: 0.0,
            ticks: 0,
            next_tick_s: host.needs.tick_s.map_or(f64::INFINITY, |period| start_s + period),
            pace: 0.0,
            window: 0.0,
            signal: Signal { rtt_s: base_rtt_s, ..Signal::default() },
            average_rtt_s: base_rtt_s,
            least_rtt_s: f64::INFINITY,
            base_rtt_s,
            price_s: 0.0,
            register: Register::new(),
            estimated,
            total: Counted::default(),
            members: flows.iter().map(|f| f.2).collect(),
            fault: None,
        })
    }

    pub(super) fn window(&self, host: &Host) -> f64 {
        let seen = self.seen(self.signal, host);
        host.output(self.instance, &seen).window
    }

    pub(super) fn has_begun(&self) -> bool {
        self.total.active > 0.0
    }

    /// From when to when its flows have something to send.
    pub(super) fn life(&self) -> (Time, Time) {
        (Time::from_seconds(self.start_s), Time::from_seconds(self.stop_s))
    }

    pub(super) fn flows(&self) -> f64 {
        self.members.len() as f64
    }

    fn seen(&self, signal: Signal, host: &Host) -> cc::Observation<f64> {
        let price_s = host.knows_price.map_or(self.price_s, |by| host.price_of(by, signal.marked));
        let rtt_s = if host.averages { self.average_rtt_s } else { signal.rtt_s };
        let base_rtt_s = self.base_rtt_s;
        let path = cc::Observation { rtt_s, base_rtt_s, price_s, ..cc::Observation::zero() };
        let Some(estimated) = &self.estimated else { return path };
        let (earlier_s, earlier) = estimated.earlier();
        cc::Observation {
            buffer: estimated.buffer,
            level: buffer_level(estimated.capacity, rtt_s, base_rtt_s),
            in_flight: self.total.sent - self.acked,
            earlier,
            earlier_s,
            ..path
        }
    }

    /// The observation of a law of its own packets, of a round trip ago, for the step that ends at `to`.
    fn look_back(&mut self, to: f64, host: &Host) {
        let seen = self.seen(self.signal, host);
        let window = host.output(self.instance, &seen).window;
        if let Some(estimated) = &mut self.estimated {
            let committed = seen.level + f64::max(seen.in_flight, window);
            estimated.look_back(to, seen.rtt_s, (self.acked > 0.0).then_some(committed));
        }
    }

    /// The steps of the sender between these times, each as long as `step`.
    pub(super) fn advance(
        &mut self,
        times: &[f64],
        step: f64,
        (host, ways): (&mut Host, &mut Ways),
        queues: &[Queue],
        conditioners: &[Conditioner],
        signals: &mut Signals,
    ) {
        let begun = times[1..].partition_point(|to| *to <= self.start_s);
        for _ in 0..begun {
            self.way.send(self.total.sent, self.left_s, ways);
        }
        self.way.tell(&times[begun + 1..], self.left_s, ways, queues, conditioners, signals);
        for (k, span) in times[begun..].windows(2).enumerate() {
            let (from, to, left) = (span[0], span[1], signals.left_s[k]);
            let now = Signal { rtt_s: signals.rtt_s[k], marked: signals.marked[k], lost: signals.lost[k] };
            let (before, acked) = (self.signal, larger(signals.acked[k], self.acked));
            if acked > 0.0 {
                self.least_rtt_s = smaller(now.rtt_s, self.least_rtt_s);
                if host.estimators && self.least_rtt_s.is_finite() {
                    self.base_rtt_s = self.least_rtt_s;
                }
            }
            if self.estimated.is_some() {
                self.look_back(from, host);
            }
            let begin = larger((self.start_s - from) / step, 0.0);
            let sent = self.events(from, step, begin, (self.acked, acked), Stretch { from: before, to: now }, host);
            self.left_s = left;
            self.signal = now;
            let active = to - larger(from, self.start_s);
            self.total.active += active;
            self.total.window += active * self.window;
            self.total.window_squared += active * self.window * self.window;
            self.total.sent = sent;
            self.way.send(sent, self.left_s, ways);
        }
    }

    /// The law through a step: acknowledgements as a mean, periods and rounds at their times. The packets sent by its end.
    fn events(
        &mut self,
        from: f64,
        step: f64,
        begin: f64,
        (acked, until): (f64, f64),
        path: Stretch,
        host: &mut Host,
    ) -> f64 {
        let (mut done, mut here, mut first, mut sent) = (begin, path.at(begin), true, self.total.sent);
        if begin > 0.0 || self.pace == 0.0 {
            // The first pace is the law's own from its first moment.
            sent = self.say(0.0, from + begin * step, here, sent, host);
        }
        loop {
            let tick = (self.next_tick_s - from) / step;
            let rounds = until > acked && self.round_ends <= until && host.needs.reliable && self.round_ends > 0.0;
            let round = if rounds { larger((self.round_ends - acked) / (until - acked), done) } else { f64::INFINITY };
            let next = larger(smaller(smaller(1.0, tick), round), done);
            // What happens as the last event did finds no packet since.
            if next > done || first {
                let packets = (until - acked) * (next - done);
                let stretch = Stretch { from: here, to: path.at(next) };
                self.acknowledge(packets, &stretch, from + next * step, host);
                sent = self.say((next - done) * step, from + next * step, stretch.to, sent, host);
                (here, first) = (stretch.to, false);
            }
            done = next;
            let event = if tick <= next {
                self.ticks += 1;
                self.next_tick_s = self.tick_s(host);
                // Before the first acknowledgement nothing is known that a period could use.
                (self.acked > 0.0).then_some(Event::Tick)
            } else if round <= next {
                Some(Event::Round)
            } else {
                break;
            };
            if let Some(event) = event {
                let seen = self.seen(here, host);
                let said = host.on_event(self.instance, event, &seen);
                sent = self.send(0.0, from + done * step, seen.rtt_s, said, sent, host);
                if event == Event::Round {
                    self.round_ends = larger(sent, self.acked + 1e-9);
                }
            }
        }
        if self.round_ends == 0.0 && sent > 0.0 {
            self.round_ends = sent;
        }
        sent
    }

    /// So many packets acknowledged by `now` [s].
    fn acknowledge(&mut self, packets: f64, path: &Stretch, now: f64, host: &mut Host) {
        if packets <= 0.0 {
            return;
        }
        let middle = path.at(0.5);
        self.acked += packets;
        self.total.acked += packets * (1.0 - middle.lost);
        self.total.lost += packets * middle.lost;
        self.total.marked += packets * (1.0 - middle.lost) * middle.marked;
        self.total.rtt += packets * middle.rtt_s;
        if let Marks::Price(by) = host.needs.marks {
            let n = f64::from(by.packets);
            self.register.take(self.acked, packets * middle.marked, n);
            if host.marked {
                self.price_s = host.price_of(by, self.register.share(n));
            }
        }
        if !host.needs.reliable {
            return;
        }
        if let Some(by) = host.needs.average_rtt {
            let weight = f64::min(by.over_window / self.window(host), by.most);
            self.average_rtt_s += (1.0 - libm::pow(1.0 - weight, packets)) * (middle.rtt_s - self.average_rtt_s);
        }
        let takes_marks = |signal: Signal| if host.marked { signal.marked } else { 0.0 };
        let first = self.seen(path.from, host);
        // Of what such a law observes, only the round trip moves within a stretch.
        let moves = host.averages || host.knows_price.is_some() || self.estimated.is_some();
        let last = if moves { self.seen(path.to, host) } else { cc::Observation { rtt_s: path.to.rtt_s, ..first } };
        let acknowledged = Acknowledged {
            observations: [first, last],
            marked: [takes_marks(path.from), takes_marks(path.to)],
            lost: [path.from.lost, path.to.lost],
            packets_per_ack: host.packets_per_ack,
            marks_are_congestion: host.needs.marks == Marks::Congestion,
            deaf: if host.one_cut_a_round { self.window } else { 0.0 },
        };
        if let Some(number) = host.along(self.instance, packets, &acknowledged) {
            self.fault.get_or_insert_with(|| Box::new((now, Fault::State(number))));
        }
    }

    /// When the next period ends [s]; never, where the law has none.
    fn tick_s(&self, host: &Host) -> f64 {
        host.needs.tick_s.map_or(f64::INFINITY, |period| self.start_s + (self.ticks + 1) as f64 * period)
    }

    /// Packets sent after `dt` [s] more, by the law's output at that signal.
    fn say(&mut self, dt: f64, now: f64, signal: Signal, sent: f64, host: &Host) -> f64 {
        let seen = self.seen(signal, host);
        let said = host.output(self.instance, &seen);
        self.send(dt, now, seen.rtt_s, said, sent, host)
    }

    /// Packets sent after `dt` [s] more, with the pace straight from its last value to that of this output.
    fn send(&mut self, dt: f64, now: f64, rtt_s: f64, said: cc::Output<f64>, sent: f64, host: &Host) -> f64 {
        if !said.is_sound() {
            self.fault.get_or_insert_with(|| Box::new((now, Fault::Output(said))));
        }
        self.window = said.window;
        let pace = host.pace(said.gap_s, said.window, rtt_s);
        let before = core::mem::replace(&mut self.pace, pace.unwrap_or(0.0));
        if now > self.stop_s {
            return sent;
        }
        let limited = host.needs.reliable && host.clocking != Some(Clocking::Paced);
        let allowed = if limited { self.acked + smaller(said.window, host.receive_window) } else { f64::INFINITY };
        let next = pace.map_or(f64::INFINITY, |pace| sent + 0.5 * dt * (before + pace));
        smaller(larger(smaller(next, allowed), sent), self.limit)
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

#[cfg(test)]
mod tests;
