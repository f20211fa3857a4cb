//! A queue in front of a line.
//!
//! The line serves first in, first out, so the moment a packet departs is known when it arrives: there is no event for
//! a departure. What waits is a list of the moments at which transmissions start, emptied as time passes them. The
//! packet in transmission has left the queue, as in ns-2 and ns-3.

use std::collections::VecDeque;
use std::fmt;

use penstock_law::aqm::{Chance, Decides, Event, Needs, Port as Seen, Queue, Serve};
use penstock_law::law::Instances;
use penstock_law::number::Number;
use penstock_law::quantity::{Bytes, Rate, Time};

use crate::account::{Account, Counters};
use crate::histogram::Histogram;
use crate::ring::Ring;
use crate::service::{Curve, Service};
use crate::verdict::{Verdict, judge, toss};

/// What a port is made of.
pub struct Config {
    /// What the line carries.
    pub service: Service,
    /// Packets that may wait.
    pub most_packets: u64,
    /// Bytes that may wait.
    pub most_bytes: u64,
    /// The mean packet of the law.
    pub packet: Bytes,
    /// The law, with its one instance not yet added.
    pub law: Box<dyn Instances<f64, Queue>>,
    /// How long ago a departure may be when its mark is asked for: the longest line behind the port.
    pub memory: Time,
}

/// What became of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// It was refused.
    Refused(Reason),
    /// It will leave the line's near end at `departure`.
    Accepted {
        /// When its last bit leaves.
        departure: Time,
        /// Whether it was marked on arrival.
        marked: bool,
    },
}

/// Why a packet was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The buffer was full.
    Full,
    /// The law wanted to mark it and it could not be marked.
    Early,
}

#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    start: Time,
    bytes: u32,
    /// From its arrival to its start. Single precision fills what would be padding, and is right within 1e-7 of it: of
    /// what never starts, within two seconds.
    wait_ns: f32,
}

// See the packets world's packet: it has 16 bytes left for this.
const _: () = assert!(size_of::<Waiting>() <= 16);

/// A queue in front of a line.
pub struct Port {
    curve: Curve,
    /// Where the rate is always the same, in mean packets [1/s].
    capacity: f64,
    most_packets: u64,
    most_bytes: u64,
    per_byte: f64,
    packet: Bytes,
    /// Where the rate is always the same.
    mean_service: Time,
    law: Box<dyn Instances<f64, Queue>>,
    needs: Needs,
    /// Departures less than this before an arrival are told after it; zero where the law wants no arrivals first [ps].
    same_moment: u64,
    /// What the law was last told of on an arrival; what it is not told then stays zero.
    seen: Seen<f64>,
    /// When the line has sent all that was accepted.
    free: Time,
    waiting: Ring<Waiting>,
    waiting_bytes: u64,
    /// Size of the packet that started last.
    in_service: u32,
    /// Kept only where the law decides on arrival.
    last_arrival: Time,
    accepted_bytes: u64,
    account: Account,
    arrived_since_tick: u64,
    /// Where the law decides at departure: what it said at each tick, newest last, and the number of the oldest kept.
    said: VecDeque<Chance<f64>>,
    first_tick: u64,
    period: Time,
    memory: Time,
}

impl fmt::Debug for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").field("rate", &self.rate()).field("waiting", &self.waiting.len()).finish_non_exhaustive()
    }
}

impl Port {
    /// Whether a port can host a law: one that decides nothing at the head of the queue, leaves the order of service
    /// alone, and does not go by colours or treat classes apart. Others need a [`Served`](crate::Served).
    pub fn suits(needs: &Needs) -> bool {
        needs.decides != Decides::AtHead && needs.serve == Serve::Scheduler && !needs.colours && !needs.classes
    }

    /// An empty port at time zero.
    pub fn new(config: Config) -> Self {
        let Config { service, most_packets, most_bytes, packet, mut law, memory } = config;
        law.add();
        let needs = law.needs();
        assert!(Self::suits(&needs), "this law needs its packets held");
        let start = law.says(0, &Seen::NOTHING);
        let curve = Curve::new(service);
        let rate = curve.rate();
        Self {
            curve,
            capacity: rate.packets_per_s(packet),
            most_packets,
            most_bytes,
            per_byte: 1.0 / packet.0 as f64,
            packet,
            mean_service: rate.time_for(packet),
            same_moment: if needs.arrivals_first { SAME_MOMENT } else { 0 },
            needs,
            law,
            seen: Seen { capacity: rate.packets_per_s(packet), ..Seen::NOTHING },
            free: Time::ZERO,
            waiting: Ring::new(),
            waiting_bytes: 0,
            in_service: 0,
            last_arrival: Time::ZERO,
            accepted_bytes: 0,
            account: Account::default(),
            arrived_since_tick: 0,
            said: VecDeque::from([start]),
            first_tick: 0,
            period: needs.tick_s.map_or(Time::NEVER, Time::from_seconds),
            memory,
        }
    }

    /// What the law asks of its host. The host calls [`Port::tick`] at every multiple of the period from one period on.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// A packet arrives. `markable` says whether it may be marked; `coin` draws uniformly from [0, 1).
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet, with arguments that are at hand")]
    #[inline(always)]
    pub fn offer(&mut self, now: Time, bytes: u32, markable: bool, coin: impl FnOnce() -> f64) -> Offer {
        // To a law that wants arrivals first, what starts at this moment still waits.
        self.settle(Time(now.0.saturating_sub(self.same_moment)));
        self.seen.queue = self.queue();
        if self.same_moment > 0 {
            self.settle(now);
        }
        self.account.counters.arrivals += 1;
        self.arrived_since_tick += u64::from(bytes);
        let mut marked = false;
        if self.needs.decides == Decides::OnArrival {
            self.seen.now_s = now.seconds();
            if !self.curve.constant() {
                self.seen.capacity = self.curve.rate_for_laws(now).packets_per_s(self.packet);
            }
            let idle = self.idle(now);
            self.last_arrival = now;
            let event = Event::Arrival { bytes, idle };
            match judge(&mut *self.law, 0, event, &self.seen, markable, coin) {
                Verdict::Pass => {}
                Verdict::Mark => marked = true,
                Verdict::Drop => {
                    self.account.counters.drops += 1;
                    return Offer::Refused(Reason::Early);
                }
            }
        }
        let start = if self.free <= now {
            self.curve.restart(now);
            self.in_service = bytes;
            self.account.counters.started += 1;
            self.account.did_not_wait();
            now
        } else {
            if self.waiting.len() as u64 >= self.most_packets || self.waiting_bytes + u64::from(bytes) > self.most_bytes
            {
                self.account.counters.drops += 1;
                if self.needs.decides == Decides::OnArrival {
                    let seen = self.seen(now);
                    self.law.on(0, Event::Hit, &seen);
                }
                return Offer::Refused(Reason::Full);
            }
            self.account.integrate(now, self.waiting.len() as u64);
            let wait = self.free - now;
            self.waiting.push(Waiting { start: self.free, bytes, wait_ns: (wait.0 / 1000) as i64 as f32 });
            self.waiting_bytes += u64::from(bytes);
            self.account.grown_to(self.waiting.len() as u64);
            if self.free != Time::NEVER {
                self.account.waited(wait);
            }
            self.free
        };
        self.free = self.curve.finish(start, bytes);
        self.accepted_bytes += u64::from(bytes);
        self.account.counters.marks += u64::from(marked);
        Offer::Accepted { departure: self.free, marked }
    }

    /// Where the law decides at departure: whether a packet that left at `departure` was marked then. To be asked once
    /// a packet, not later than the port's memory after the departure.
    #[inline]
    pub fn marks(&mut self, departure: Time, coin: impl FnOnce() -> f64) -> bool {
        let tick = departure.0 / self.period.0;
        let at = (tick.max(self.first_tick) - self.first_tick) as usize;
        let chance = self.said[at.min(self.said.len() - 1)];
        let marked = toss(&chance, true, coin) == Verdict::Mark;
        self.account.counters.marks += u64::from(marked);
        marked
    }

    /// The line's rate at the start; the mean of a trace.
    pub fn rate(&self) -> Rate {
        self.curve.rate()
    }

    /// The line's rate at a moment; of a trace, over the 100 ms before.
    pub fn rate_at(&self, time: Time) -> Rate {
        self.curve.rate_at(time)
    }

    /// What the line could have carried after `from` and up to `to` [bit].
    pub fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        self.curve.capacity_bits(from, to)
    }

    /// Whether the law has a price.
    pub fn has_price(&self) -> bool {
        self.law.names().iter().any(|(name, _)| *name == "price")
    }

    /// The law's period; never where it has none.
    pub fn period(&self) -> Time {
        self.period
    }

    /// A packet that was accepted is lost on the line.
    pub fn lose(&mut self) {
        self.account.counters.lost += 1;
    }

    /// The law's period went by.
    pub fn tick(&mut self, now: Time) {
        self.settle(now);
        let sojourn_s = self.waiting.front().map_or(0.0, |oldest| {
            // It arrived a wait before its start, which is yet to come.
            Number::max(f64::from(oldest.wait_ns) * 1e-9 - (oldest.start - now).seconds(), 0.0)
        });
        let arrived = self.arrived_since_tick as f64 * self.per_byte;
        let seen = Seen { arrived, sojourn_s, ..self.seen(now) };
        self.arrived_since_tick = 0;
        self.account.counters.price += self.says().price_s * self.period.seconds();
        let says = self.law.on(0, Event::Tick, &seen);
        if self.needs.decides != Decides::OnDeparture {
            return;
        }
        self.said.push_back(says);
        while (self.first_tick + 1) * self.period.0 + self.memory.0 < now.0 {
            self.said.pop_front();
            self.first_tick += 1;
        }
    }

    /// What the law said last.
    pub fn says(&self) -> Chance<f64> {
        if self.needs.decides == Decides::OnDeparture {
            self.said[self.said.len() - 1]
        } else {
            self.law.says(0, &Seen::NOTHING)
        }
    }

    /// Names and units of the law's observables, and their values now.
    pub fn observables(&mut self) -> Vec<(&'static str, &'static str, f64)> {
        let mut values = Vec::new();
        self.law.each(0, &mut |x| values.push(*x));
        self.law.names().iter().zip(values).map(|((name, unit), value)| (*name, *unit, value)).collect()
    }

    /// Packets waiting at `now`.
    pub fn waiting(&mut self, now: Time) -> u64 {
        self.settle(now);
        self.waiting.len() as u64
    }

    /// Counters up to `now`.
    pub fn read(&mut self, now: Time) -> Counters {
        self.settle(now);
        self.account.integrate(now, self.waiting.len() as u64);
        let in_service = self.free > now;
        let mut c = self.account.counters;
        c.at = now;
        c.departures = c.started - u64::from(in_service);
        c.departed_bytes =
            self.accepted_bytes - self.waiting_bytes - if in_service { u64::from(self.in_service) } else { 0 };
        if self.needs.tick_s.is_some() {
            // The price in force since the last tick has not been added yet.
            c.price += self.says().price_s * Time(now.0 % self.period.0).seconds();
        }
        c
    }

    /// Time by packets waiting [ps], and packets by waiting time [ns], from the start of the run to the last reading.
    pub fn histograms(&self) -> (&Histogram, &Histogram) {
        (&self.account.by_waiting, &self.account.by_wait)
    }

    /// Most packets that waited since this was last asked.
    pub fn most_waiting(&mut self) -> u64 {
        self.account.most_waiting(self.waiting.len() as u64)
    }

    /// Arrivals not accounted for by departures, drops, the queue and the line: zero, or the port is broken.
    pub fn unaccounted(&mut self, now: Time) -> i64 {
        let c = self.read(now);
        let in_service = i64::from(self.free > now);
        c.arrivals as i64 - c.departures as i64 - c.drops as i64 - self.waiting.len() as i64 - in_service
    }

    /// What waits, in packets, as the law counts.
    #[inline]
    fn queue(&self) -> f64 {
        if self.needs.bytes {
            self.waiting_bytes as i64 as f64 * self.per_byte
        } else {
            self.waiting.len() as i64 as f64
        }
    }

    #[inline]
    fn seen(&self, now: Time) -> Seen<f64> {
        let capacity = if self.curve.constant() {
            self.capacity
        } else {
            self.curve.rate_for_laws(now).packets_per_s(self.packet)
        };
        Seen { queue: self.queue(), capacity, now_s: now.seconds(), ..Seen::NOTHING }
    }

    /// Mean packets that would have fitted into the idle time up to `now`.
    fn idle(&self, now: Time) -> u32 {
        // An arrival that was refused has been told of the idle time before it; it is not told again.
        let since = self.free.max(self.last_arrival);
        let fitted = self.curve.fits(since, now, self.mean_service, self.packet);
        let ended = self.free <= now && self.free > self.last_arrival;
        fitted.saturating_add(u32::from(self.needs.idle_from_start && ended))
    }

    /// Lets go of what started by `now`.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    fn settle(&mut self, now: Time) {
        while let Some(first) = self.waiting.front() {
            if first.start > now {
                break;
            }
            let Waiting { start, bytes, .. } = *first;
            self.account.integrate(start, self.waiting.len() as u64);
            self.waiting.pop();
            self.waiting_bytes -= u64::from(bytes);
            self.in_service = bytes;
            self.account.counters.started += 1;
        }
    }
}

/// Departures less than this before an arrival are of the same moment [ps]. Rounding to picoseconds takes two clocks that
/// run at the line's rate up to a hundred apart in minutes; a bit lasts a thousand at 1 Gbit/s.
const SAME_MOMENT: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listener::listener;
    use penstock_law::{Values, aqm, law};

    const MS: u64 = 1_000_000_000;

    fn port(name: &str, settings: &[(&str, f64)], rate: u64, most_packets: u64, most_bytes: u64) -> Port {
        let entry = law::find(aqm::AQMS, name).unwrap();
        let mut values = Values::defaults(entry.parameters);
        for (key, value) in settings {
            values.set(entry.parameters.iter().find(|p| p.name == *key).unwrap(), *value).unwrap();
        }
        let packet = Bytes(1000);
        let site = aqm::Site { rate: Rate(rate), delay: Time::ZERO, packet, classes: Vec::new() };
        let law = (entry.real)(&values, &site).unwrap();
        Port::new(Config {
            service: Service::Constant(Rate(rate)),
            most_packets,
            most_bytes,
            packet,
            law,
            memory: Time(100 * MS),
        })
    }
    fn departure(offer: Offer) -> Time {
        if let Offer::Accepted { departure, .. } = offer { departure } else { panic!("{offer:?}") }
    }

    /// A million packets at a rate that no whole number of picoseconds a packet gives leave at the rate, not a
    /// millionth off.
    #[test]
    fn departures_keep_the_rate_without_drift() {
        let mut port = port("droptail", &[], 155_000_000, u64::MAX, u64::MAX);
        let mut last = Time::ZERO;
        for _ in 0..1_000_000 {
            last = departure(port.offer(Time::ZERO, 1000, false, || 0.0));
        }
        assert!((last.seconds() * 155e6 / 8e9 - 1.0).abs() < 1e-10, "{}", last.seconds());
    }

    /// The packet in transmission has left the queue: a buffer of two holds two besides it.
    #[test]
    fn a_full_buffer_refuses() {
        let mut in_packets = port("droptail", &[], 8_000_000, 2, u64::MAX);
        let mut in_bytes = port("droptail", &[], 8_000_000, u64::MAX, 2000);
        for port in [&mut in_packets, &mut in_bytes] {
            let offers: Vec<bool> =
                (0..5).map(|_| matches!(port.offer(Time(0), 1000, false, || 0.0), Offer::Accepted { .. })).collect();
            assert_eq!(offers, [true, true, true, false, false]);
            assert_eq!(departure(port.offer(Time(MS), 1000, false, || 0.0)), Time(4 * MS), "one started at 1 ms");
            assert_eq!(port.offer(Time(MS), 1000, false, || 0.0), Offer::Refused(Reason::Full));
            let c = port.read(Time(3 * MS));
            assert_eq!((c.arrivals, c.departures, c.drops), (7, 3, 3));
            assert_eq!(
                (c.waiting, c.waits),
                (u128::from(5 * MS), u128::from(5 * MS)),
                "2, 2 and 1 waited; 1, 2 and 2 ms"
            );
            assert_eq!(port.unaccounted(Time(3 * MS)), 0);
        }
        assert_eq!(
            in_packets.offer(Time(10 * MS), 1000, false, || 0.0),
            Offer::Accepted { departure: Time(11 * MS), marked: false }
        );
    }

    /// A mark drawn at the far end uses the probability of the moment of departure, however long the line.
    #[test]
    fn marks_use_the_probability_at_departure() {
        let mut port = port("price", &[("target", 0.5)], 8_000_000, u64::MAX, u64::MAX);
        let chance = |port: &mut Port, at: u64| {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..40 {
                let middle = f64::midpoint(low, high);
                if port.marks(Time(at), || middle) { low = middle } else { high = middle }
            }
            low
        };
        // Twice the virtual capacity for 5 ms raises the price by 5 ms; then nothing arrives and it falls again.
        for _ in 0..5 {
            port.offer(Time(0), 1000, true, || 0.0);
        }
        for tick in 1..=18 {
            port.tick(Time(tick * 5 * MS));
        }
        let raised = 1.0 - libm::pow(1000.0, -0.005);
        for (at, expected) in [(4, 0.0), (5, raised), (9, raised), (10, 0.0), (89, 0.0)] {
            assert!((chance(&mut port, at * MS) - expected).abs() < 1e-9, "{at} ms");
        }
        for tick in 19..=100 {
            port.tick(Time(tick * 5 * MS));
        }
        assert!(port.said.len() < 25, "what is beyond the memory is forgotten");
    }

    fn hosting(service: Service, needs: Needs) -> Port {
        let law = listener(needs, |_, _| 0.0);
        let packet = Bytes(1000);
        Port::new(Config { service, most_packets: 100, most_bytes: u64::MAX, packet, law, memory: Time::ZERO })
    }
    fn observable(port: &mut Port, name: &str) -> f64 {
        port.observables().into_iter().find(|(n, ..)| *n == name).unwrap().2
    }

    /// A packet half sent when an outage begins is sent to its end after it, and those behind it wait.
    #[test]
    fn an_outage_stops_the_packet_in_transmission() {
        let fast = Rate(8_000_000);
        let outage = Service::Schedule(vec![(Time(0), fast), (Time(2 * MS), Rate(0)), (Time(5 * MS), fast)]);
        let mut port = hosting(outage, Needs::LEAST);
        let half = MS / 2;
        assert_eq!(departure(port.offer(Time(3 * half), 1000, false, || 0.0)), Time(5 * MS + half));
        assert_eq!(departure(port.offer(Time(3 * MS), 1000, false, || 0.0)), Time(6 * MS + half));
        let c = port.read(Time(5 * MS));
        assert_eq!((c.departures, c.started, port.waiting(Time(5 * MS))), (0, 1, 1));
        assert_eq!(port.capacity_bits(Time(MS), Time(6 * MS)), 16_000.0, "two of five milliseconds");
        assert_eq!((port.rate(), port.rate_at(Time(3 * MS)), port.rate_at(Time(5 * MS))), (fast, Rate(0), fast));
    }

    /// What follows an outage without end never departs; it waits, and is no part of the mean wait.
    #[test]
    fn a_line_that_stays_out_keeps_its_packets() {
        let mut port =
            hosting(Service::Schedule(vec![(Time(0), Rate(8_000_000)), (Time(MS / 2), Rate(0))]), Needs::LEAST);
        for _ in 0..3 {
            assert_eq!(departure(port.offer(Time(0), 1000, false, || 0.0)), Time::NEVER);
        }
        let c = port.read(Time(100 * MS));
        assert_eq!((c.started, c.departures, c.waits), (1, 0, 0));
        assert_eq!((port.waiting(Time(100 * MS)), port.unaccounted(Time(100 * MS))), (2, 0));
    }

    /// At a tick a law hears how long the oldest packet waiting has waited, the rate of the moment, and the time.
    #[test]
    fn a_law_hears_the_wait_of_the_oldest_and_the_rate_of_the_moment() {
        let rates = vec![(Time(0), Rate(8_000_000)), (Time(10 * MS), Rate(4_000_000)), (Time(20 * MS), Rate(0))];
        let needs = Needs { tick_s: Some(1e-3), decides: Decides::OnArrival, ..Needs::LEAST };
        let mut port = hosting(Service::Schedule(rates), needs);
        for sent in 0..4 {
            port.offer(Time(sent * MS / 4), 1000, false, || 0.0);
        }
        // They start at 0, 1, 2 and 3 ms; the one that waits at 2.5 ms arrived at 0.75 ms.
        for (now, sojourn_s, capacity, queue) in
            [(MS / 2 * 5, 1.75e-3, 1000.0, 1.0), (12 * MS, 0.0, 500.0, 0.0), (25 * MS, 0.0, 500.0, 0.0)]
        {
            port.tick(Time(now));
            assert!((observable(&mut port, "sojourn_s") - sojourn_s).abs() < 1e-9);
            assert_eq!(observable(&mut port, "capacity"), capacity, "in an outage, that of before");
            assert_eq!((observable(&mut port, "queue"), observable(&mut port, "now_s")), (queue, now as f64 * 1e-12));
        }
        assert!(port.said.len() <= 1, "a history is kept only where marks are decided at departure");
        port.offer(Time(30 * MS), 1000, false, || 0.0);
        assert_eq!(observable(&mut port, "now_s"), 0.03, "also on arrival");
    }

    /// Two packets at once: the second starts at 1 ms. What the one that arrives then finds is a choice; later it is not.
    #[test]
    fn what_waits_at_the_moment_of_a_departure_is_a_choice() {
        for (first, at, found) in [(0.0, MS, 0.0), (1.0, MS, 1.0), (1.0, MS + 50, 1.0), (1.0, MS + 2000, 0.0)] {
            let settings = [("weight", 1.0), ("bytes", 0.0), ("arrivals_first", first)];
            let mut port = port("red", &settings, 8_000_000, u64::MAX, u64::MAX);
            for _ in 0..2 {
                port.offer(Time(0), 1000, false, || 1.0);
            }
            assert_eq!(departure(port.offer(Time(at), 1000, false, || 1.0)), Time(3 * MS));
            let average = port.observables().iter().find(|(name, ..)| *name == "average").map(|o| o.2);
            assert_eq!(average, Some(found), "{first} {at}");
            assert_eq!(port.waiting(Time(at)), 1, "the queue itself does not depend on it");
        }
    }

    /// Four packets at once leave an average above zero and a line that is idle from 4 ms on. Each mean packet that fits
    /// into the idle time halves it, as the next packet does; where idle time begins with the last transmission, one more.
    #[test]
    fn idle_time_begins_with_the_end_or_the_start_of_the_last_transmission() {
        for (from_start, at, left) in
            [(0.0, 9 * MS / 2, 0.5), (1.0, 9 * MS / 2, 0.25), (0.0, 11 * MS / 2, 0.25), (1.0, 11 * MS / 2, 0.125)]
        {
            let settings = [("weight", 0.5), ("bytes", 0.0), ("idle_from_start", from_start)];
            let mut port = port("red", &settings, 8_000_000, u64::MAX, u64::MAX);
            let average = |port: &mut Port| port.observables().iter().find(|o| o.0 == "average").map(|o| o.2).unwrap();
            for _ in 0..4 {
                port.offer(Time(0), 1000, false, || 1.0);
            }
            let before = average(&mut port);
            port.offer(Time(at), 1000, false, || 1.0);
            let after = average(&mut port);
            assert!((after / before - left).abs() < 1e-9, "{from_start} {at}: {after} of {before}");
            // The one that arrives while that one is sent finds no idle time.
            port.offer(Time(at + MS / 2), 1000, false, || 1.0);
            assert!((average(&mut port) / after - 0.5).abs() < 1e-9);
        }
    }

    /// What cannot be marked is dropped instead, and only then.
    #[test]
    fn a_law_that_marks_drops_what_cannot_be_marked() {
        let settings = [("ecn", 1.0), ("min_threshold", 1.0), ("max_threshold", 2.0), ("weight", 1.0), ("wait", 0.0)];
        let mut port = port("red", &settings, 8_000_000, u64::MAX, u64::MAX);
        for _ in 0..10 {
            port.offer(Time(0), 1000, true, || 1.0);
        }
        assert!(matches!(port.offer(Time(0), 1000, true, || 0.0), Offer::Accepted { marked: true, .. }));
        assert_eq!(port.offer(Time(0), 1000, false, || 0.0), Offer::Refused(Reason::Early));
    }
}
