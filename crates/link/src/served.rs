//! A queue, or several, in front of a line, that holds its packets and chooses one whenever the line is free.
//!
//! For laws that decide at the head of a queue, for schedulers, and for whatever else leaves it open at arrival when a
//! packet will depart. The host offers arrivals, and calls [`Served::next`] whenever the line is free and something
//! waits; [`Served::free_at`] gives that time. The packet in transmission has left the queue, as at a
//! [`Port`](crate::Port), and one queue with drop-tail gives the same departures to the picosecond. Where an arrival
//! and the end of a transmission coincide, the buffer depends on the host's order of the two calls.

mod books;
mod ear;
pub(crate) mod order;
mod reading;
mod store;

use std::fmt;

use penstock_law::aqm::{self, Aqm, Decides, Event, Serve};
use penstock_law::conditioner::Colour;
use penstock_law::law::Instances;
use penstock_law::quantity::{Bytes, Rate, Time};

use crate::account::Account;
use crate::port::Reason;
use crate::service::{Curve, Service};
use crate::verdict::{Verdict, judge, toss};
use books::Books;
use ear::Ear;
use order::{CLASSIC, LOW_LATENCY, Order, Queue};
use store::{Held, Store};

pub use books::{QUEUE_COLUMNS, QueueBook, QueueBooks, QueueCounters};

/// Configuration of a [`Served`].
pub struct ServedConfig {
    /// Capacity of the line.
    pub service: Service,
    /// Packets that may wait, in all queues together.
    pub most_packets: u64,
    /// Bytes that may wait, in all queues together.
    pub most_bytes: u64,
    /// The mean packet of the law.
    pub packet: Bytes,
    /// The law, with no instance added yet.
    pub law: Box<dyn Instances<f64, Aqm>>,
    /// Which queue goes next, where the law leaves it to a scheduler.
    pub scheduler: Scheduler,
    /// Number of classes, at least one, where the law has an instance for each.
    pub classes: u32,
    /// Decides which flows share a queue where the law requires queues that flows are hashed to.
    pub hash_seed: u64,
    /// Which queues have books of their own.
    pub books: QueueBooks,
}

/// Which queue goes next, where the law leaves it to a scheduler ([`Serve::Scheduler`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduler {
    /// There is one queue: first come, first served.
    Fifo,
    /// Deficit round robin (Shreedhar and Varghese, 1995) over queues that [`Arrival::queue_key`] numbers, each with an
    /// instance of the law. A full buffer drops the head of the longest queue.
    Drr {
        /// Bytes that a queue may send a turn, above zero. The work a packet is constant where no packet is larger.
        quantum: Bytes,
    },
}

/// A packet that arrives.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<P> {
    /// The packet, given back when it departs or is dropped.
    pub packet: P,
    /// Its size on the wire [B].
    pub bytes: u32,
    /// Whether it may be marked.
    pub markable: bool,
    /// Whether it requests low latency: ECT(1) or CE (RFC 9331).
    pub low_latency: bool,
    /// Its drop precedence (RFC 2597); green where no conditioner has coloured it.
    pub colour: Colour,
    /// Key of its queue: the number of its flow or of its class. Numbers of queues are dense: each is an index in
    /// memory.
    pub queue_key: u32,
    /// Key of its queue's books, where that is not the number of the queue.
    pub book_key: u32,
}

/// The fate of a packet that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    /// It was refused.
    Refused(Reason),
    /// It waits. Where the line is free, the host calls [`Served::next`] at once.
    Queued,
}

/// A packet that starts transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departing<P> {
    /// The packet.
    pub packet: P,
    /// When its last bit leaves.
    pub departure: Time,
    /// Whether it was marked here, on arrival or now.
    pub marked: bool,
}

/// Queues in front of a line.
pub struct Served<P> {
    curve: Curve,
    most_packets: u64,
    most_bytes: u64,
    packet: Bytes,
    per_byte: f64,
    /// Where the rate is always the same: in mean packets [1/s], and the time of one.
    capacity: f64,
    mean_service: Time,
    law: Box<dyn Instances<f64, Aqm>>,
    needs: aqm::Requirements,
    period: Time,
    store: Store<P>,
    queues: Vec<Queue>,
    order: Order,
    /// One for each instance of the law: each queue's, or one for all.
    ears: Vec<Ear>,
    shared: bool,
    /// Whether there is one for each class, over one queue.
    by_class: bool,
    /// Number of queues that flows are hashed to, and the seed.
    hashed: Option<(u32, u64)>,
    waiting: u64,
    waiting_bytes: u64,
    /// Time at which the line is free.
    free: Time,
    /// Whether the backlog found the line free.
    fresh: bool,
    in_service: u32,
    started_bytes: u64,
    account: Account,
    books: Books,
}

impl<P> fmt::Debug for Served<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served")
            .field("rate", &self.curve.rate())
            .field("order", &self.order)
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}

impl<P: Copy> Served<P> {
    /// Empty queues at time zero.
    pub fn new(config: ServedConfig) -> Self {
        let ServedConfig { service, most_packets, most_bytes, packet, law, scheduler, classes, hash_seed, books } =
            config;
        let needs = law.requirements();
        assert!(!needs.classes || scheduler == Scheduler::Fifo, "classes that a law treats apart share one queue");
        let (order, queues, shared, hashed) = match (needs.serve, scheduler) {
            (Serve::PerFlow { queues, quantum }, _) => {
                assert!(queues > 0, "flows are hashed to one queue or more");
                (Order::drr_plus(quantum), queues, false, Some((queues, hash_seed)))
            }
            (Serve::Coupled { classic }, _) => (Order::weighted(classic), 2, true, None),
            (Serve::Scheduler, Scheduler::Drr { quantum }) => (Order::drr(quantum), 0, false, None),
            (Serve::Scheduler, Scheduler::Fifo) => (Order::Fifo, 1, true, None),
        };
        let curve = Curve::new(service);
        let rate = curve.rate();
        let mut served = Self {
            curve,
            most_packets,
            most_bytes,
            packet,
            per_byte: 1.0 / packet.0 as f64,
            capacity: rate.packets_per_s(packet),
            mean_service: rate.time_for(packet),
            law,
            needs,
            period: needs.tick_s.map_or(Time::NEVER, Time::from_seconds),
            store: Store::new(),
            queues: Vec::new(),
            order,
            ears: Vec::new(),
            shared,
            by_class: needs.classes,
            hashed,
            waiting: 0,
            waiting_bytes: 0,
            free: Time::ZERO,
            fresh: false,
            in_service: 0,
            started_bytes: 0,
            account: Account::default(),
            books: Books::new(books),
        };
        served.grow(queues.max(1));
        if served.by_class {
            served.hear(classes.max(1));
        }
        served
    }

    /// The law's requirements on its host. The host calls [`Served::tick`] at every multiple of the period from one period
    /// on.
    pub fn requirements(&self) -> aqm::Requirements {
        self.needs
    }

    /// A packet arrives. `coin` draws uniformly from [0, 1); `dropped` is given packets that make space for it.
    pub fn offer(
        &mut self,
        now: Time,
        arrival: Arrival<P>,
        coin: impl FnOnce() -> f64,
        mut dropped: impl FnMut(P),
    ) -> Offered {
        let Arrival { packet, bytes, markable, low_latency, colour, queue_key, book_key } = arrival;
        let at = self.queue_of(queue_key, low_latency);
        let instance = self.instance(at, queue_key);
        self.account.counters.arrivals += 1;
        if let Some(book) = self.books.of(at, book_key) {
            book.counters.arrivals += 1;
        }
        self.ears[instance].arrived += u64::from(bytes);
        let mut marked = false;
        let on_arrival = self.needs.decides == Decides::OnArrival;
        if on_arrival {
            let seen = aqm::Observation { colour, ..self.seen(now, at) };
            let idle = self.idle(now, at, instance);
            self.ears[instance].last_arrival = now;
            let event = Event::Arrival { bytes, idle };
            match judge(&mut *self.law, instance, event, &seen, markable, coin) {
                Verdict::Pass => {}
                Verdict::Mark => marked = true,
                Verdict::Unsound => self.account.unsound(now),
                Verdict::Drop => {
                    self.refused(at, book_key);
                    return Offered::Refused(Reason::Early);
                }
            }
        }
        if self.free <= now && self.waiting == 0 {
            self.fresh = true;
        } else {
            while self.waiting >= self.most_packets || self.waiting_bytes + u64::from(bytes) > self.most_bytes {
                let Some(longest) = self.longest(at, bytes) else {
                    self.refused(at, book_key);
                    if on_arrival {
                        let seen = aqm::Observation { colour, ..self.seen(now, at) };
                        self.law.on_event(instance, Event::Hit, &seen);
                    }
                    self.overflowed(now, at, queue_key);
                    return Offered::Refused(Reason::Full);
                };
                let displaced = self.take(longest, now);
                self.drop_late(&displaced, longest, now);
                self.overflowed(now, longest, displaced.key);
                dropped(displaced.packet);
            }
            self.account.grown_to(self.waiting + 1);
        }
        self.account.integrate(now, self.waiting);
        self.account.counters.marks += u64::from(marked);
        if let Some(book) = self.books.of(at, book_key) {
            book.counters.marks += u64::from(marked);
        }
        self.waiting += 1;
        self.waiting_bytes += u64::from(bytes);
        let key = queue_key;
        let held = Held { packet, arrival: now, bytes, markable, marked, low_latency, colour, key, book_key };
        self.store.push(&mut self.queues[at as usize].list, held);
        self.order.added(&mut self.queues, at);
        Offered::Queued
    }

    /// When the line is free for the next packet; in the past where it is idle.
    pub fn free_at(&self) -> Time {
        self.free
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// The line is free: starts the transmission of the next packet. Packets that the law drops on the way there are
    /// given to `dropped`; `coin` draws uniformly from [0, 1) for a packet.
    pub fn next(
        &mut self,
        now: Time,
        mut coin: impl FnMut(&P) -> f64,
        mut dropped: impl FnMut(P),
    ) -> Option<Departing<P>> {
        debug_assert!(self.free <= now, "the line is in use");
        loop {
            let store = &self.store;
            let at = self.order.next(&mut self.queues, |list| store.head(list).map_or(0, |held| held.bytes))?;
            let held = self.take(at, now);
            let verdict = self.at_head(now, at, &held, &mut coin);
            if verdict == Verdict::Unsound {
                self.account.unsound(now);
            }
            if verdict == Verdict::Drop {
                self.drop_late(&held, at, now);
                dropped(held.packet);
                continue;
            }
            self.order.sent(&mut self.queues, at, held.bytes);
            let newly_marked = u64::from(verdict == Verdict::Mark && !held.marked);
            self.account.counters.marks += newly_marked;
            if let Some(book) = self.books.of(at, held.book_key) {
                book.counters.marks += newly_marked;
                book.waited(now - held.arrival, held.bytes);
            }
            self.account.counters.started += 1;
            self.account.waited(now - held.arrival);
            self.started_bytes += u64::from(held.bytes);
            self.in_service = held.bytes;
            if self.fresh || self.free < now {
                self.curve.restart(now);
                self.fresh = false;
            }
            self.free = self.curve.finish(now, held.bytes);
            let instance = self.instance(at, held.key);
            self.ears[instance].free = self.free;
            self.ears[instance].departed += u64::from(held.bytes);
            let marked = held.marked || verdict == Verdict::Mark;
            return Some(Departing { packet: held.packet, departure: self.free, marked });
        }
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

    /// Whether the law has a price, one for all queues.
    pub fn has_price(&self) -> bool {
        self.shared && self.law.names().iter().any(|(name, _)| *name == "price")
    }

    /// The law's period; never where it has none.
    pub fn period(&self) -> Time {
        self.period
    }

    /// A packet that departed is lost on the line.
    pub fn lose(&mut self) {
        self.account.counters.lost += 1;
    }

    /// A packet arrived and was dropped before the queues.
    pub(crate) fn refuse(&mut self) {
        self.account.counters.arrivals += 1;
        self.account.counters.drops += 1;
    }

    /// So many packets arrive twice.
    pub fn duplicate(&mut self, packets: u64) {
        self.account.counters.duplicated += packets;
    }

    /// The law's period went by.
    pub fn tick(&mut self, now: Time) {
        self.account.counters.price += self.output().price_s * self.period.seconds();
        let all = if self.by_class { ear::of_all(&self.ears, &*self.law, self.per_byte) } else { [0.0; 3] };
        for instance in 0..self.ears.len() {
            let arrived = std::mem::take(&mut self.ears[instance].arrived) as f64 * self.per_byte;
            let departed = std::mem::take(&mut self.ears[instance].departed) as f64 * self.per_byte;
            let (own, waiting, waiting_bytes) = if self.shared {
                (0..self.queues.len(), self.waiting, self.waiting_bytes)
            } else {
                let list = &self.queues[instance].list;
                (instance..instance + 1, u64::from(list.packets), list.bytes)
            };
            let oldest = self.queues[own].iter().filter_map(|queue| self.store.head(&queue.list)).map(|h| h.arrival);
            let sojourn_s = oldest.min().map_or(0.0, |arrival| (now - arrival).seconds());
            let mut seen = aqm::Observation { arrived, sojourn_s, ..self.seen_with(now, waiting, waiting_bytes) };
            if self.by_class {
                seen.departed = departed;
                [seen.all_arrived, seen.all_departed, seen.all_let_in] = all;
            }
            if !self.law.on_event(instance, Event::Tick, &seen).is_sound() {
                self.account.unsound(now);
            }
        }
    }

    /// The law's output now; where each queue has an instance, the first one's.
    pub fn output(&self) -> aqm::Output<f64> {
        self.law.output(0, &aqm::Observation::zero())
    }

    /// Packets that wait, in no order of service.
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.queues.iter().flat_map(|queue| self.store.iter(&queue.list))
    }

    /// Adds queues up to a number, each with an instance of the law where it has one of its own.
    fn grow(&mut self, queues: u32) {
        self.queues.resize_with(queues as usize, || Queue::EMPTY);
        self.hear(if self.shared { 1 } else { queues });
    }

    /// Adds instances of the law up to a number.
    fn hear(&mut self, instances: u32) {
        while self.ears.len() < instances as usize {
            self.law.add();
            self.ears.push(Ear { arrived: 0, departed: 0, free: Time::ZERO, last_arrival: Time::ZERO });
        }
    }

    fn queue_of(&mut self, key: u32, low_latency: bool) -> u32 {
        if let Some((queues, seed)) = self.hashed {
            return hash(key, seed, queues);
        }
        match self.order {
            Order::Fifo => 0,
            Order::Weighted(_) => {
                if low_latency {
                    LOW_LATENCY
                } else {
                    CLASSIC
                }
            }
            Order::Drr(_) | Order::DrrPlus(_) => {
                if key as usize >= self.queues.len() {
                    self.grow(key + 1);
                }
                key
            }
        }
    }

    /// The instance of the law for a packet of that key in that queue.
    fn instance(&self, queue: u32, key: u32) -> usize {
        match (self.by_class, self.shared) {
            (true, _) => key as usize,
            (false, true) => 0,
            (false, false) => queue as usize,
        }
    }

    /// The queue whose head makes space for a packet of `bytes` in queue `at`; none where the packet itself pays. It
    /// counts as part of its queue, since RFC 8290, section 4.1, adds it first and then drops.
    fn longest(&self, at: u32, bytes: u32) -> Option<u32> {
        let longest = self.order.longest(&self.queues)?;
        let own = &self.queues[at as usize].list;
        let payer = if self.queues[longest as usize].list.bytes > own.bytes + u64::from(bytes) { longest } else { at };
        (!self.queues[payer as usize].list.is_empty()).then_some(payer)
    }

    /// Takes the head of a queue, which is not empty.
    fn take(&mut self, at: u32, now: Time) -> Held<P> {
        self.account.integrate(now, self.waiting);
        let held = self.store.pop(&mut self.queues[at as usize].list).expect("a packet waits there");
        self.waiting -= 1;
        self.waiting_bytes -= u64::from(held.bytes);
        held
    }

    /// A full buffer took a packet of that queue.
    fn overflowed(&mut self, now: Time, at: u32, key: u32) {
        if self.needs.full {
            let (instance, seen) = (self.instance(at, key), self.seen(now, at));
            self.law.on_event(instance, Event::Full, &seen);
        }
    }

    /// A packet for that queue is not let in.
    fn refused(&mut self, at: u32, book_key: u32) {
        self.account.counters.drops += 1;
        if let Some(book) = self.books.of(at, book_key) {
            book.counters.drops += 1;
        }
    }

    /// A packet is dropped after it has waited.
    fn drop_late(&mut self, held: &Held<P>, at: u32, now: Time) {
        if let Some(book) = self.books.of(at, held.book_key) {
            book.counters.drops += 1;
        }
        let c = &mut self.account.counters;
        c.drops += 1;
        c.waits_in_vain += u128::from((now - held.arrival).0);
    }

    /// The law's output for a packet that has left its queue for the line.
    fn at_head(&mut self, now: Time, at: u32, held: &Held<P>, coin: &mut impl FnMut(&P) -> f64) -> Verdict {
        let instance = self.instance(at, held.key);
        match self.needs.decides {
            Decides::AtHead => {
                let sojourn_s = (now - held.arrival).seconds();
                let seen = aqm::Observation { sojourn_s, colour: held.colour, ..self.seen(now, at) };
                let event = Event::Departure { low_latency: held.low_latency };
                judge(&mut *self.law, instance, event, &seen, held.markable, || coin(&held.packet))
            }
            // Such a law marks, and spares what cannot be marked.
            Decides::OnDeparture if held.markable => {
                toss(&self.law.output(instance, &aqm::Observation::zero()), true, || coin(&held.packet))
            }
            Decides::Never | Decides::OnArrival | Decides::OnDeparture => Verdict::Pass,
        }
    }

    /// A law's observation of one queue.
    fn seen(&self, now: Time, at: u32) -> aqm::Observation<f64> {
        let list = &self.queues[at as usize].list;
        let seen = self.seen_with(now, u64::from(list.packets), list.bytes);
        if !self.needs.colours {
            return seen;
        }
        let [green, yellow] = list.green_and_yellow.map(f64::from);
        aqm::Observation { green, yellow, ..seen }
    }

    fn seen_with(&self, now: Time, packets: u64, bytes: u64) -> aqm::Observation<f64> {
        let capacity = if self.curve.constant() {
            self.capacity
        } else {
            self.curve.rate_for_laws(now).packets_per_s(self.packet)
        };
        aqm::Observation {
            queue: if self.needs.bytes { bytes as f64 * self.per_byte } else { packets as f64 },
            capacity,
            now_s: now.seconds(),
            ..aqm::Observation::ZERO
        }
    }

    /// Mean packets that would have fitted into the time for which the law's queue has had none. A queue of its own is
    /// idle whatever the others send.
    fn idle(&self, now: Time, at: u32, instance: usize) -> u32 {
        if !self.queues[at as usize].list.is_empty() {
            return 0;
        }
        let ear = &self.ears[instance];
        let free = if self.by_class { self.free } else { ear.free };
        let fitted = self.curve.fits(free.max(ear.last_arrival), now, self.mean_service, self.packet);
        let ended = free <= now && free > ear.last_arrival;
        fitted.saturating_add(u32::from(self.needs.idle_from_start && ended))
    }
}

/// Which of so many queues a flow belongs to.
fn hash(key: u32, seed: u64, queues: u32) -> u32 {
    // SplitMix64's finaliser: each bit of the key moves each bit of the result.
    let mut x = (u64::from(key) ^ seed).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    (((x >> 32) * u64::from(queues)) >> 32) as u32
}

#[cfg(test)]
mod tests;
