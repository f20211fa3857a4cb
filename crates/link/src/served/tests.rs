mod disciplines;
mod glance;

use super::*;
use crate::listener::listener;
use crate::port::{Config, Offer, Port};
use penstock_law::conditioner::Colour;
use penstock_law::{Values, aqm, law};

const MS: u64 = 1_000_000_000;
const MBIT: u64 = 1_000_000;

/// A packet that remembers what it was: its number, when it came, its queue's key and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sent {
    number: u32,
    at: u64,
    key: u32,
    bytes: u32,
}

/// A host as the engine is one: it starts a transmission whenever the line is free, and writes down the events.
struct Host {
    served: Served<Sent>,
    offered: u32,
    /// When the oldest of what may wait found the queues empty.
    empty_until: u64,
    refused: u64,
    dropped: Vec<Sent>,
    /// With the start and the end of its transmission.
    departed: Vec<(Sent, u64, Departing<Sent>)>,
    coins: Draw,
}

/// Uniform draws, the same ones for each who begins alike.
#[derive(Debug, Clone)]
struct Draw(u64);

impl Draw {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }
    fn unit(&mut self) -> f64 {
        self.bits() as f64 / (1u64 << 31) as f64
    }
}

impl Host {
    fn new(config: ServedConfig) -> Self {
        let (dropped, departed) = (Vec::new(), Vec::new());
        Self { served: Served::new(config), offered: 0, empty_until: 0, refused: 0, dropped, departed, coins: Draw(99) }
    }

    /// Starts what can be started up to `now`.
    fn run(&mut self, now: u64) {
        while !self.served.is_empty() && self.served.free_at().0 <= now {
            let at = Time(self.served.free_at().0.max(self.empty_until));
            let Self { served, coins, dropped, departed, .. } = self;
            if let Some(departing) = served.next(at, |_| coins.unit(), |packet| dropped.push(packet)) {
                departed.push((departing.packet, at.0, departing));
            }
        }
    }

    fn offer(&mut self, now: u64, key: u32, bytes: u32) -> Offered {
        self.send(now, key, bytes, true, false)
    }

    fn send(&mut self, now: u64, queue_key: u32, bytes: u32, markable: bool, low_latency: bool) -> Offered {
        self.run(now);
        if self.served.is_empty() {
            self.empty_until = now;
        }
        let packet = Sent { number: self.offered, at: now, key: queue_key, bytes };
        self.offered += 1;
        let Self { served, coins, dropped, .. } = self;
        let arrival = Arrival { packet, bytes, markable, low_latency, colour: Colour::Green, queue_key, book_key: 0 };
        let offered = served.offer(Time(now), arrival, || coins.unit(), |packet| dropped.push(packet));
        self.refused += u64::from(offered != Offered::Queued);
        self.run(now);
        offered
    }

    /// Bytes that the packets of a key have sent [B].
    fn sent(&self, key: u32) -> u64 {
        self.departed.iter().filter(|(p, ..)| p.key == key).map(|(p, ..)| u64::from(p.bytes)).sum()
    }

    /// Every packet was refused, dropped, departed or waits, and none twice; and the integral of the queue is the sum
    /// of the waits, as the packets themselves tell them.
    fn check(&mut self, now: u64) {
        self.run(now);
        let mut numbers: Vec<u32> = self.dropped.iter().map(|p| p.number).collect();
        numbers.extend(self.departed.iter().map(|(p, ..)| p.number));
        numbers.extend(self.served.iter().map(|p| p.number));
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count, "a packet went two ways");
        assert_eq!(count as u64 + self.refused, u64::from(self.offered));
        assert_eq!(self.served.unaccounted(Time(now)), 0);
        let c = self.served.read(Time(now));
        assert_eq!(c.drops, self.refused + self.dropped.len() as u64);
        assert_eq!(c.started, self.departed.len() as u64);
        assert_eq!(self.served.waiting(), self.served.iter().count() as u64);
        let waits: u128 = self.departed.iter().map(|(p, start, _)| u128::from(start - p.at)).sum();
        assert_eq!(c.waits, waits);
        let still: u128 = self.served.iter().map(|p| u128::from(now - p.at)).sum();
        assert_eq!(c.waiting, c.waits + c.waits_in_vain + still, "Little's law, to the picosecond");
        assert!(self.departed.windows(2).all(|w| w[0].2.departure.0 <= w[1].1), "one transmission at a time");
    }
}

fn config(rate: u64, law: Box<dyn Instances<f64, aqm::Aqm>>) -> ServedConfig {
    ServedConfig {
        service: Rate(rate).into(),
        most_packets: u64::MAX,
        most_bytes: u64::MAX,
        packet: Bytes(1000),
        law,
        scheduler: Scheduler::Fifo,
        classes: 1,
        hash_seed: 1,
        books: QueueBooks::default(),
    }
}

fn registered(name: &str, settings: &[(&str, f64)], rate: u64) -> Box<dyn Instances<f64, aqm::Aqm>> {
    let entry = law::find(aqm::AQMS, name).unwrap();
    let mut values = Values::defaults(entry.parameters);
    for (key, value) in settings {
        values.set(entry.parameters.iter().find(|p| p.name == *key).unwrap(), *value).unwrap();
    }
    (entry.real)(
        &values,
        &aqm::Context { rate: Rate(rate), delay: Time::ZERO, packet: Bytes(1000), classes: Vec::new() },
    )
    .unwrap()
}

fn droptail(rate: u64) -> ServedConfig {
    config(rate, registered("droptail", &[], rate))
}

fn listening(rate: u64, needs: aqm::Requirements, answer: crate::listener::Answer) -> ServedConfig {
    config(rate, listener(needs, answer))
}

const PER_FLOW: aqm::Requirements =
    aqm::Requirements { serve: Serve::PerFlow { queues: 1024, quantum: Bytes(1514) }, ..aqm::Requirements::LEAST };
const COUPLED: aqm::Requirements =
    aqm::Requirements { serve: Serve::Coupled { classic: 0.1 }, ..aqm::Requirements::LEAST };
const AT_HEAD: aqm::Requirements = aqm::Requirements { decides: Decides::AtHead, ..aqm::Requirements::LEAST };

/// One queue does what a port does: departures, marks, drops and counters, packet by packet, for drop-tail and for a
/// law on arrival that observes queue and idle time, over any line.
#[test]
fn one_queue_is_a_port() {
    let red = [("ecn", 1.0), ("min_threshold", 1.0), ("max_threshold", 10.0), ("weight", 0.05), ("max_p", 0.5)];
    let schedule = Service::Schedule(vec![
        (Time(0), Rate(7_777_777)),
        (Time(300 * MS), Rate(0)),
        (Time(350 * MS), Rate(100_000_001)),
        (Time(900 * MS), Rate(3 * MBIT)),
    ]);
    let moments: Vec<Time> = [0, 1, 1, 2, 5, 9, 9, 9, 14].iter().map(|t| Time(t * MS)).collect();
    let trace = Service::Trace { opportunities: moments.into(), period: Time(15 * MS) };
    let mut dropped = [0; 2];
    for service in [Rate(7_777_777).into(), schedule, trace] {
        for (which, (name, settings)) in [("droptail", &[][..]), ("red", &red[..])].into_iter().enumerate() {
            let rate = 7_777_777;
            let mut port = Port::new(Config {
                service: service.clone(),
                most_packets: 12,
                most_bytes: 9000,
                packet: Bytes(1000),
                law: registered(name, settings, rate),
                memory: Time::ZERO,
            });
            let mut host = Host::new(ServedConfig {
                service: service.clone(),
                most_packets: 12,
                most_bytes: 9000,
                ..config(rate, registered(name, settings, rate))
            });
            let (mut draw, mut coins) = (Draw(5), host.coins.clone());
            let (mut now, mut expected) = (0, Vec::new());
            for n in 0..3000 {
                let most = if draw.below(50) == 0 { 40 * MS } else { 2 * MS };
                now += draw.below(most);
                if draw.below(10) == 0 {
                    // At the very moment at which the line becomes free.
                    now = now.max(host.served.free_at().0);
                }
                let (bytes, markable) = (40 + draw.below(1461) as u32, draw.below(2) == 0);
                let offered = host.send(now, 0, bytes, markable, false);
                match port.offer(Time(now), bytes, markable, || coins.unit()) {
                    Offer::Refused(reason) => assert_eq!(offered, Offered::Refused(reason)),
                    Offer::Accepted { departure, marked } => {
                        assert_eq!(offered, Offered::Queued);
                        expected.push((departure, marked));
                    }
                }
                if n % 100 == 0 {
                    let (a, mut b) = (port.read(Time(now)), host.served.read(Time(now)));
                    // The port counts waits when it accepts.
                    b.waits = a.waits;
                    assert_eq!(a, b);
                    assert_eq!(port.waiting(Time(now)), host.served.waiting());
                    assert_eq!(port.most_waiting(), host.served.most_waiting());
                }
            }
            now += 1000 * MS;
            host.check(now);
            let departed: Vec<(Time, bool)> = host.departed.iter().map(|(.., d)| (d.departure, d.marked)).collect();
            assert_eq!(departed, expected);
            assert_eq!(port.read(Time(now)), host.served.read(Time(now)));
            assert_eq!(port.histograms(), host.served.histograms());
            assert_eq!(port.observables(), host.served.observables());
            dropped[which] += host.refused;
        }
    }
    assert!(dropped.iter().all(|d| *d > 100), "the test saw drops: {dropped:?}");
    assert!(Port::suits(&aqm::Requirements::LEAST));
    assert!(![AT_HEAD, PER_FLOW, COUPLED].iter().any(Port::suits), "these need their packets held");
}

/// Shreedhar and Varghese, theorem on fairness: among queues that always have packets, what two have sent differs at
/// any moment by less than a quantum and the largest packet, whatever their packets' sizes.
#[test]
fn deficit_round_robin_shares_alike_among_unlike_packets() {
    for quantum in [100, 700, 1500, 4000] {
        let scheduler = Scheduler::Drr { quantum: Bytes(quantum) };
        let mut host = Host::new(ServedConfig { scheduler, ..droptail(8 * MBIT) });
        let sizes = [1500, 500, 101, 999];
        for _ in 0..600 {
            for (key, bytes) in sizes.into_iter().enumerate() {
                for _ in 0..1500u32.div_ceil(bytes) {
                    host.offer(0, key as u32, bytes);
                }
            }
        }
        host.run(3000 * MS);
        let mut sent = [0u64; 4];
        // The first left when no other waited.
        for (packet, ..) in &host.departed[1..] {
            sent[packet.key as usize] += u64::from(packet.bytes);
            let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
            assert!(most - least < quantum + 1500, "{sent:?}");
        }
        assert!(sent[0] > 700_000, "{sent:?}");
        host.check(3000 * MS);
    }
}

/// A queue that was empty has no claim on what it did not send, and the others share its part.
#[test]
fn an_idle_queue_saves_nothing_up() {
    let mut host = Host::new(ServedConfig { scheduler: Scheduler::Drr { quantum: Bytes(1500) }, ..droptail(8 * MBIT) });
    for _ in 0..1000 {
        host.offer(0, 0, 1000);
        host.offer(0, 1, 1000);
    }
    host.run(500 * MS);
    for _ in 0..1000 {
        host.offer(500 * MS, 2, 1000);
    }
    host.run(800 * MS);
    let (a, b, late) = (host.sent(0), host.sent(1), host.sent(2));
    assert!(a.abs_diff(b) <= 2500 && late.abs_diff(100_000) <= 2500, "{a} {b} {late}");

    // Nor does it go on with its turn if it becomes empty and is filled again: number 3 comes after number 1.
    let mut host = Host::new(ServedConfig { scheduler: Scheduler::Drr { quantum: Bytes(1500) }, ..droptail(8 * MBIT) });
    for (at, key, bytes) in [(0, 0, 700), (0, 1, 1000), (0, 1, 1000), (MS / 2, 0, 700)] {
        host.offer(at, key, bytes);
    }
    host.run(10 * MS);
    assert_eq!(host.departed.iter().map(|(p, ..)| p.number).collect::<Vec<_>>(), [0, 1, 3, 2]);
}

/// Shreedhar and Varghese: a queue that becomes empty forgoes its deficit. Number 0 leaves 800 of 1500 bytes unused; when
/// its queue has packets again these are worth one packet of 1000 bytes in the first turn, not two.
#[test]
fn a_queue_that_was_empty_begins_without_a_deficit() {
    let mut host = Host::new(ServedConfig { scheduler: Scheduler::Drr { quantum: Bytes(1500) }, ..droptail(8 * MBIT) });
    host.offer(0, 0, 700);
    for _ in 0..4 {
        host.offer(0, 1, 1000);
    }
    for _ in 0..2 {
        host.offer(MS / 2, 0, 1000);
    }
    host.run(20 * MS);
    assert_eq!(host.departed.iter().map(|(p, ..)| p.number).collect::<Vec<_>>(), [0, 1, 5, 2, 3, 6, 4]);
}

/// A probability or a price of NaN is remembered from its first moment on, wherever the law says it; nothing is dropped or
/// marked for it.
#[test]
fn what_is_no_number_is_remembered() {
    let at_head = aqm::Requirements { decides: Decides::AtHead, ..aqm::Requirements::LEAST };
    let at_arrival = aqm::Requirements { decides: Decides::OnArrival, colours: true, ..aqm::Requirements::LEAST };
    let at_ticks = aqm::Requirements { tick_s: Some(0.001), ..at_head };
    let odd: crate::listener::Answer = |_, seen| if seen.now_s > 0.0025 { f64::NAN } else { 0.0 };
    let none: crate::listener::Answer = |_, _| 0.0;
    for (needs, answer, unsound) in [
        (at_head, odd, Some(Time(3 * MS))),
        (at_arrival, odd, Some(Time(3 * MS))),
        (at_ticks, odd, Some(Time(3 * MS))),
        (at_head, none, None),
    ] {
        let mut host = Host::new(listening(8 * MBIT, needs, answer));
        for k in 0..6 {
            if needs.tick_s.is_some() {
                host.served.tick(Time(k * MS));
            } else {
                host.offer(k * MS, 0, 1000);
            }
        }
        assert_eq!(host.served.unsound(), unsound, "{needs:?}");
        assert!(host.dropped.is_empty() && host.refused == 0);
    }
}

/// Each queue of a scheduler has an instance of the law, which observes its own queue.
#[test]
fn each_queue_has_a_law_of_its_own() {
    let needs = aqm::Requirements { tick_s: Some(0.01), bytes: true, ..AT_HEAD };
    let config = listening(8 * MBIT, needs, |event, seen| {
        // Drops at the head while more than two packets are left behind.
        f64::from(u8::from(matches!(event, Event::Departure { .. }) && seen.queue > 2.0))
    });
    let mut host = Host::new(ServedConfig { scheduler: Scheduler::Drr { quantum: Bytes(1000) }, ..config });
    host.offer(0, 0, 1000);
    host.offer(0, 0, 1000);
    for _ in 0..10 {
        host.offer(0, 1, 500);
    }
    host.served.tick(Time(MS / 2));
    let heard = |host: &mut Host, instance: usize| {
        let mut values = Vec::new();
        host.served.law.each(instance, &mut |x| values.push(*x));
        values
    };
    let (first, second) = (heard(&mut host, 0), heard(&mut host, 1));
    assert_eq!((first[0], first[1], first[3]), (1.0, 2.0, 0.5e-3), "queue, arrivals and the wait of the oldest");
    assert_eq!((second[0], second[1], second[3]), (5.0, 5.0, 0.5e-3));
    assert_eq!(host.served.observables()[0].2, 3.0, "the mean of the queues");
    host.run(100 * MS);
    assert!(host.dropped.iter().all(|p| p.key == 1), "only the long queue lost packets");
    assert_eq!(host.dropped.len(), 5, "until four, two packets of 1000 B, were left behind");
    assert_eq!((heard(&mut host, 0)[6], heard(&mut host, 1)[6]), (0.0, 5.0), "each hit is told");
    host.check(100 * MS);
}

/// A law at the head that drops what has waited 5 ms lets nothing depart that has, and the packet behind goes at once.
#[test]
fn a_law_at_the_head_drops_until_one_may_go() {
    let mut host = Host::new(listening(8 * MBIT, AT_HEAD, |_, seen| f64::from(u8::from(seen.sojourn_s > 5e-3))));
    let mut draw = Draw(3);
    let mut now = 0;
    for _ in 0..5000 {
        now += draw.below(3 * MS / 2);
        host.offer(now, 0, 1000);
    }
    host.check(now + 1000 * MS);
    assert!(host.dropped.len() > 500 && host.departed.len() > 3000);
    assert!(host.departed.iter().all(|(p, start, _)| start - p.at <= 5 * MS));
    let gaps = host.departed.windows(2).filter(|w| w[1].1 > w[0].2.departure.0 && w[1].0.at < w[0].2.departure.0);
    assert_eq!(gaps.count(), 0, "a drop costs the line no time");
}

/// A law that marks at the head marks what it can, drops the rest, and its marks are counted.
#[test]
fn at_the_head_what_can_be_marked_is_marked() {
    let needs = aqm::Requirements { marks: true, ..AT_HEAD };
    let mut host = Host::new(listening(8 * MBIT, needs, |_, _| 0.5));
    for n in 0..4000 {
        host.send(n * 2 * MS, 0, 1000, n % 2 == 0, false);
    }
    host.check(9000 * MS);
    let marks = host.departed.iter().filter(|(.., d)| d.marked).count();
    assert_eq!(marks as u64, host.served.read(Time(9000 * MS)).marks);
    assert!(host.dropped.iter().all(|p| p.number % 2 == 1));
    assert!(marks.abs_diff(1000) < 100 && host.dropped.len().abs_diff(1000) < 100, "{marks} {}", host.dropped.len());
}

/// A law that decides at departure marks as transmission starts, drops nothing, and has a price over time.
#[test]
fn a_law_at_departure_is_asked_as_transmission_starts() {
    let needs = aqm::Requirements {
        tick_s: Some(0.01),
        decides: Decides::OnDeparture,
        marks: true,
        ..aqm::Requirements::LEAST
    };
    let mut host = Host::new(listening(8 * MBIT, needs, |_, seen| f64::from(u8::from(seen.now_s > 0.015))));
    assert!(host.served.has_price());
    for n in 0..30 {
        host.send(0, 0, 1000, n % 2 == 0, false);
    }
    for tick in 1..=3 {
        host.run(tick * 10 * MS - 1);
        host.served.tick(Time(tick * 10 * MS));
        host.run((tick * 10 + 5) * MS);
        let halfway = host.served.read(Time((tick * 10 + 5) * MS)).price;
        assert!(
            (halfway - if tick == 1 { 0.15 } else { 0.3 }).abs() < 1e-9,
            "a price counts from its tick on: {halfway}"
        );
    }
    host.check(35 * MS);
    for (packet, start, departing) in &host.departed {
        assert_eq!(departing.marked, packet.number % 2 == 0 && *start >= 20 * MS, "{packet:?} {start}");
    }
    assert!(host.dropped.is_empty());
    assert_eq!(host.served.read(Time(35 * MS)).price, 30.0 * 0.01, "30 packets in the first period, then none");
}

/// Whatever the order, the law, the line and the buffer: no packet is lost sight of, and Little's law is exact.
#[test]
fn nothing_is_lost_sight_of() {
    let outages = Service::Schedule(
        (0..40).map(|n| (Time(n * 50 * MS), Rate(if n % 4 == 3 { 0 } else { (n + 1) * MBIT }))).collect(),
    );
    let coin: crate::listener::Answer = |_, _| 0.2;
    let mut displaced = 0;
    for serve in [Serve::Scheduler, PER_FLOW.serve, COUPLED.serve] {
        for scheduler in [Scheduler::Fifo, Scheduler::Drr { quantum: Bytes(300) }] {
            for decides in [Decides::Never, Decides::AtHead, Decides::OnArrival, Decides::OnDeparture] {
                let needs =
                    aqm::Requirements { decides, serve, marks: true, tick_s: Some(0.01), ..aqm::Requirements::LEAST };
                let mut host = Host::new(ServedConfig {
                    service: outages.clone(),
                    scheduler,
                    most_packets: 30,
                    most_bytes: 20_000,
                    ..listening(MBIT, needs, coin)
                });
                let mut draw = Draw(7);
                let (mut now, mut tick) = (0, 10 * MS);
                for n in 0..3000 {
                    now += draw.below(MS);
                    while tick <= now {
                        host.run(tick);
                        host.served.tick(Time(tick));
                        tick += 10 * MS;
                    }
                    let (key, bytes) = (draw.below(6) as u32, 40 + draw.below(1461) as u32);
                    host.send(now, key, bytes, draw.below(2) == 0, draw.below(3) == 0);
                    if n % 50 == 0 {
                        host.check(now);
                    }
                }
                host.check(now);
                assert!(host.served.read(Time(now)).drops > 0 && host.departed.len() > 500);
                if decides == Decides::Never {
                    displaced += host.dropped.len();
                }
            }
        }
    }
    assert!(displaced > 100, "{displaced} packets were displaced");
}

/// Flows are spread over the queues, the same way each time, and another way with another seed.
#[test]
fn flows_are_spread_over_the_queues() {
    let mut counts = [0u32; 64];
    for flow in 0..64_000 {
        counts[hash(flow, 7, 64) as usize] += 1;
    }
    // Chi-square with 63 degrees of freedom exceeds 120 once in 10^5.
    let chi: f64 = counts.iter().map(|n| (f64::from(*n) - 1000.0) * (f64::from(*n) - 1000.0) / 1000.0).sum();
    assert!((20.0..120.0).contains(&chi), "{chi}");
    let same = (0..1000).filter(|flow| hash(*flow, 7, 64) == hash(*flow, 8, 64)).count();
    assert!(same < 50, "{same}");
}

/// A packet each half millisecond is twice the line; one in four is green, half the line. By the queue of the moment, red
/// ones get what green ones leave, and green ones always get in; coupled, a green packet counts green ones only.
#[test]
fn a_law_goes_by_colours() {
    let entry = law::find(aqm::AQMS, "wred").unwrap();
    let refused = |settings: &[(&str, f64)]| {
        let mut values = Values::defaults(entry.parameters);
        for (name, value) in settings {
            values.set(entry.parameters.iter().find(|p| p.name == *name).unwrap(), *value).unwrap();
        }
        let site = aqm::Context { rate: Rate(8_000_000), delay: Time::ZERO, packet: Bytes(1000), classes: Vec::new() };
        let mut served = Served::new(config(8_000_000, (entry.real)(&values, &site).unwrap()));
        let mut refused = [0; 3];
        for number in 0..2000u64 {
            let now = Time(number * 500_000_000);
            while !served.is_empty() && served.free_at() <= now {
                served.next(served.free_at(), |_: &u64| 0.5, |_| ());
            }
            let colour = if number % 4 == 0 { Colour::Green } else { Colour::Red };
            let (packet, bytes, queue_key, book_key) = (number, 1000, 0, 0);
            let arrival = Arrival { packet, bytes, markable: false, low_latency: false, colour, queue_key, book_key };
            if served.offer(now, arrival, || 0.5, |_| ()) != Offered::Queued {
                refused[colour as usize] += 1;
            } else if served.free_at() <= now {
                served.next(now, |_| 0.5, |_| ());
            }
        }
        assert_eq!(served.unaccounted(Time(1_000_000_000_000)), 0);
        refused
    };
    let instantaneous = ("average", 0.0);
    let [green, _, red] = refused(&[instantaneous]);
    assert!(green == 0 && (980..1000).contains(&red), "half the line is left for three quarters: {green}, {red}");
    let thresholds = [instantaneous, ("green_min", 8.0), ("green_max", 8.0)];
    let [green, ..] = refused(&thresholds);
    assert!(green > 0, "red ones fill the queue that green ones meet");
    let coupled: Vec<_> = thresholds.into_iter().chain([("coupled", 1.0)]).collect();
    assert_eq!(refused(&coupled)[0], 0, "green ones alone do not");
}

/// Classes share one queue, first in, first out; each class's instance of the law gets its own arrivals and
/// departures, of those of all, and of the whole queue; it decides about its own packets only.
#[test]
fn each_class_has_an_ear_of_its_own_over_one_queue() {
    let needs = aqm::Requirements {
        tick_s: Some(0.01),
        decides: Decides::OnArrival,
        classes: true,
        ..aqm::Requirements::LEAST
    };
    let law = listener(needs, |event, seen| {
        // Whoever finds four packets waiting, of whatever class, is refused.
        f64::from(u8::from(matches!(event, Event::Arrival { .. }) && seen.queue >= 4.0))
    });
    let mut host = Host::new(ServedConfig { classes: 3, ..config(8 * MBIT, law) });
    for key in [0, 2, 0, 2, 0] {
        host.offer(0, key, 1000);
    }
    assert_eq!(host.offer(MS / 2, 2, 500), Offered::Refused(Reason::Early));
    host.run(3 * MS - 1);
    host.served.tick(Time(3 * MS - 1));
    assert_eq!(host.departed.iter().map(|(p, ..)| p.key).collect::<Vec<_>>(), [0, 2, 0], "in the order of arrival");
    assert_eq!(host.served.classes(), 3);
    let heard = |host: &mut Host, class: u32, name: &str| {
        host.served.class_observables(class).into_iter().find(|(n, ..)| *n == name).unwrap().2
    };
    for (class, arrived, departed, hits) in [(0, 3.0, 2.0, 0.0), (1, 0.0, 0.0, 0.0), (2, 2.5, 1.0, 1.0)] {
        let at = |host: &mut Host, name: &str| heard(host, class, name);
        assert_eq!((at(&mut host, "arrived"), at(&mut host, "departed")), (arrived, departed), "class {class}");
        assert_eq!((at(&mut host, "all_arrived"), at(&mut host, "all_departed")), (5.5, 3.0), "class {class}");
        assert_eq!(at(&mut host, "all_let_in"), 3.0, "class 2 was said to be refused when the tick came");
        assert_eq!((at(&mut host, "queue"), at(&mut host, "hits")), (2.0, hits), "class {class}");
    }
    host.run(10 * MS);
    host.served.tick(Time(10 * MS));
    assert_eq!((heard(&mut host, 0, "arrived"), heard(&mut host, 0, "departed")), (0.0, 1.0), "since the last tick");
    host.check(10 * MS);
}
