//! A queue in front of a line.
//!
//! The line serves first in, first out, so the moment a packet departs is known when it arrives: there is no event for
//! a departure. The backlog is a list of the moments at which transmissions start, emptied as time passes them. The
//! packet in transmission has left the queue, as in ns-2 and ns-3.

use std::collections::VecDeque;
use std::fmt;

use penstock_law::aqm::{self, Aqm, Decides, Event, Serve};
use penstock_law::law::Instances;
use penstock_law::number::Number;
use penstock_law::quantity::{Bytes, Rate, Time};

use crate::account::{Account, Counters, Glance};
use crate::histogram::{Extent, Histogram};
use crate::ring::Ring;
use crate::service::{Curve, Service};
use crate::verdict::{Verdict, judge, toss};

/// Configuration of a port.
pub struct Config {
    /// Capacity of the line.
    pub service: Service,
    /// Packets that may wait.
    pub most_packets: u64,
    /// Bytes that may wait.
    pub most_bytes: u64,
    /// The mean packet of the law.
    pub packet: Bytes,
    /// The law, with its one instance not yet added.
    pub law: Box<dyn Instances<f64, Aqm>>,
    /// Longest time from a departure to the query of its mark: the longest line behind the port.
    pub memory: Time,
}

/// The fate of a packet.
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
    /// From its arrival to its start. Single precision fills padding, and is right within 1e-7 of it: of
    /// packets that never start, within two seconds.
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
    law: Box<dyn Instances<f64, Aqm>>,
    needs: aqm::Requirements,
    /// Departures less than this before an arrival are reported after it; zero where the law wants no arrivals first [ps].
    same_moment: u64,
    /// The law's last observation on an arrival; fields that it does not observe then stay zero.
    seen: aqm::Observation<f64>,
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
    /// Where the law decides at departure: its output at each tick, newest last, and the number of the oldest kept.
    said: VecDeque<aqm::Output<f64>>,
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
    pub fn suits(needs: &aqm::Requirements) -> bool {
        needs.decides != Decides::AtHead && needs.serve == Serve::Scheduler && !needs.colours && !needs.classes
    }

    /// An empty port at time zero.
    pub fn new(config: Config) -> Self {
        let Config { service, most_packets, most_bytes, packet, mut law, memory } = config;
        law.add();
        let needs = law.requirements();
        assert!(Self::suits(&needs), "this law needs its packets held");
        let start = law.output(0, &aqm::Observation::ZERO);
        let curve = Curve::new(service);
        let rate = curve.rate();
        let mut account = Account::default();
        if !start.is_sound() {
            account.unsound(Time::ZERO);
        }
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
            seen: aqm::Observation { capacity: rate.packets_per_s(packet), ..aqm::Observation::ZERO },
            free: Time::ZERO,
            waiting: Ring::new(),
            waiting_bytes: 0,
            in_service: 0,
            last_arrival: Time::ZERO,
            accepted_bytes: 0,
            account,
            arrived_since_tick: 0,
            said: VecDeque::from([start]),
            first_tick: 0,
            period: needs.tick_s.map_or(Time::NEVER, Time::from_seconds),
            memory,
        }
    }

    /// The law's requirements on its host. The host calls [`Port::tick`] at every multiple of the period from one period on.
    pub fn requirements(&self) -> aqm::Requirements {
        self.needs
    }

    /// A packet arrives. `markable` is whether it may be marked; `coin` draws uniformly from [0, 1).
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
                Verdict::Unsound => self.account.unsound(now),
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
                    self.law.on_event(0, Event::Hit, &seen);
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

    /// Where the law decides at departure: whether a packet that left at `departure` was marked then. To be called once
    /// a packet, not later than the port's memory after the departure.
    #[inline]
    pub fn marks(&mut self, departure: Time, coin: impl FnOnce() -> f64) -> bool {
        let marked = self.will_mark(departure, coin);
        self.account.counters.marks += u64::from(marked);
        marked
    }

    /// The same before the packet is at the far end of the line, but not before its departure. Such a mark is not counted, but by
    /// [`Port::count_mark`].
    #[inline]
    pub fn will_mark(&self, departure: Time, coin: impl FnOnce() -> f64) -> bool {
        let tick = departure.0 / self.period.0;
        let at = (tick.max(self.first_tick) - self.first_tick) as usize;
        let chance = self.said[at.min(self.said.len() - 1)];
        toss(&chance, true, coin) == Verdict::Mark
    }

    /// A packet that [`Port::will_mark`] has marked is at the far end of the line.
    pub fn count_mark(&mut self) {
        self.account.counters.marks += 1;
    }

    /// The line's rate at the start; the mean of a trace.
    pub fn rate(&self) -> Rate {
        self.curve.rate()
    }

    /// The line's rate at a moment; of a trace, over the 100 ms before.
    pub fn rate_at(&self, time: Time) -> Rate {
        self.curve.rate_at(time)
    }

    /// Capacity of the line after `from` and up to `to` [bit].
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

    /// So many packets arrive twice.
    pub fn duplicate(&mut self, packets: u64) {
        self.account.counters.duplicated += packets;
    }

    /// The law's period went by.
    pub fn tick(&mut self, now: Time) {
        self.settle(now);
        let sojourn_s = self.waiting.front().map_or(0.0, |oldest| {
            // It arrived a wait before its start, which is yet to come.
            Number::max(f64::from(oldest.wait_ns) * 1e-9 - (oldest.start - now).seconds(), 0.0)
        });
        let arrived = self.arrived_since_tick as f64 * self.per_byte;
        let seen = aqm::Observation { arrived, sojourn_s, ..self.seen(now) };
        self.arrived_since_tick = 0;
        self.account.counters.price += self.output().price_s * self.period.seconds();
        let says = self.law.on_event(0, Event::Tick, &seen);
        if !says.is_sound() {
            self.account.unsound(now);
        }
        if self.needs.decides != Decides::OnDeparture {
            return;
        }
        self.said.push_back(says);
        while ((self.first_tick + 1) * self.period.0).saturating_add(self.memory.0) < now.0 {
            self.said.pop_front();
            self.first_tick += 1;
        }
    }

    /// The law's last output.
    pub fn output(&self) -> aqm::Output<f64> {
        if self.needs.decides == Decides::OnDeparture {
            self.said[self.said.len() - 1]
        } else {
            self.law.output(0, &aqm::Observation::ZERO)
        }
    }

    /// Time of the law's first probability or price that is no number, if there was one: such a run has no result.
    pub fn unsound(&self) -> Option<Time> {
        self.account.unsound_at()
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
            c.price += self.output().price_s * Time(now.0 % self.period.0).seconds();
        }
        c
    }

    /// Time by packets waiting [ps], and packets by waiting time [ns], from the start of the run to the last snapshot.
    pub fn histograms(&self) -> (&Histogram, &Histogram) {
        (&self.account.by_waiting, &self.account.by_wait)
    }

    /// From now on [`Port::glance`] returns waiting times.
    pub(crate) fn watch(&mut self) {
        self.account.by_wait.watch();
    }

    /// Counters up to `now`, and the waiting times since the last call. It lets go of nothing, so that the observation of a law
    /// is the same with and without this call.
    pub(crate) fn glance(&mut self, now: Time) -> (Glance, Extent) {
        let started = self.waiting.iter().take_while(|waiting| waiting.start <= now);
        let (started_bytes, last) =
            started.fold((0, self.in_service), |(sum, _), waiting| (sum + u64::from(waiting.bytes), waiting.bytes));
        let in_service = if self.free > now { u64::from(last) } else { 0 };
        let glance = Glance {
            arrivals: self.account.counters.arrivals,
            drops: self.account.counters.drops + self.account.counters.lost,
            departed_bytes: self.accepted_bytes - self.waiting_bytes + started_bytes - in_service,
            delay: if self.free == Time::NEVER { None } else { Some(self.free.since(now)) },
        };
        (glance, self.account.by_wait.extent())
    }

    /// Packets that arrived, including those refused.
    pub fn arrivals(&self) -> u64 {
        self.account.counters.arrivals
    }

    /// Most packets that waited since the last call.
    pub fn most_waiting(&mut self) -> u64 {
        self.account.most_waiting(self.waiting.len() as u64)
    }

    /// Arrivals not accounted for by departures, drops, the queue and the line: zero, or the port is broken.
    pub fn unaccounted(&mut self, now: Time) -> i64 {
        let c = self.read(now);
        let in_service = i64::from(self.free > now);
        c.arrivals as i64 - c.departures as i64 - c.drops as i64 - self.waiting.len() as i64 - in_service
    }

    /// The backlog, in packets, as the law counts.
    #[inline]
    fn queue(&self) -> f64 {
        if self.needs.bytes {
            self.waiting_bytes as i64 as f64 * self.per_byte
        } else {
            self.waiting.len() as i64 as f64
        }
    }

    #[inline]
    fn seen(&self, now: Time) -> aqm::Observation<f64> {
        let capacity = if self.curve.constant() {
            self.capacity
        } else {
            self.curve.rate_for_laws(now).packets_per_s(self.packet)
        };
        aqm::Observation { queue: self.queue(), capacity, now_s: now.seconds(), ..aqm::Observation::ZERO }
    }

    /// Mean packets that would have fitted into the idle time up to `now`.
    #[inline]
    fn idle(&self, now: Time) -> u32 {
        if self.free > now {
            return 0;
        }
        self.idle_until(now)
    }

    #[inline(never)]
    fn idle_until(&self, now: Time) -> u32 {
        // An arrival that was refused has been told of the idle time before it; it is not told again.
        let since = self.free.max(self.last_arrival);
        let fitted = self.curve.fits(since, now, self.mean_service, self.packet);
        let ended = self.free <= now && self.free > self.last_arrival;
        fitted.saturating_add(u32::from(self.needs.idle_from_start && ended))
    }

    /// Lets go of packets that started by `now`.
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
mod tests;
