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
    let site = aqm::Context { rate: Rate(rate), delay: Time::ZERO, packet, classes: Vec::new() };
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
        assert_eq!((c.waiting, c.waits), (u128::from(5 * MS), u128::from(5 * MS)), "2, 2 and 1 waited; 1, 2 and 2 ms");
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

fn hosting(service: Service, needs: aqm::Requirements) -> Port {
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
    let mut port = hosting(outage, aqm::Requirements::LEAST);
    let half = MS / 2;
    assert_eq!(departure(port.offer(Time(3 * half), 1000, false, || 0.0)), Time(5 * MS + half));
    assert_eq!(departure(port.offer(Time(3 * MS), 1000, false, || 0.0)), Time(6 * MS + half));
    let c = port.read(Time(5 * MS));
    assert_eq!((c.departures, c.started, port.waiting(Time(5 * MS))), (0, 1, 1));
    assert_eq!(port.capacity_bits(Time(MS), Time(6 * MS)), 16_000.0, "two of five milliseconds");
    assert_eq!((port.rate(), port.rate_at(Time(3 * MS)), port.rate_at(Time(5 * MS))), (fast, Rate(0), fast));
}

/// A packet behind an outage without end never departs; it waits, and is no part of the mean wait.
#[test]
fn a_line_that_stays_out_keeps_its_packets() {
    let mut port =
        hosting(Service::Schedule(vec![(Time(0), Rate(8_000_000)), (Time(MS / 2), Rate(0))]), aqm::Requirements::LEAST);
    for _ in 0..3 {
        assert_eq!(departure(port.offer(Time(0), 1000, false, || 0.0)), Time::NEVER);
    }
    let c = port.read(Time(100 * MS));
    assert_eq!((c.started, c.departures, c.waits), (1, 0, 0));
    assert_eq!((port.waiting(Time(100 * MS)), port.unaccounted(Time(100 * MS))), (2, 0));
}

/// At a tick a law observes the age of the oldest packet waiting, the rate of the moment, and the time.
#[test]
fn a_law_hears_the_wait_of_the_oldest_and_the_rate_of_the_moment() {
    let rates = vec![(Time(0), Rate(8_000_000)), (Time(10 * MS), Rate(4_000_000)), (Time(20 * MS), Rate(0))];
    let needs = aqm::Requirements { tick_s: Some(1e-3), decides: Decides::OnArrival, ..aqm::Requirements::LEAST };
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

/// Packets that cannot be marked are dropped instead, and only then.
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

/// The books are checked by what is in them: a packet too many in any of them is seen, whichever way.
#[test]
fn a_planted_miscount_is_seen() {
    let off = |plant: fn(&mut Port)| {
        let mut port = port("droptail", &[], 8_000_000, 3, u64::MAX);
        for at in 0..10 {
            port.offer(Time(at * MS / 2), 1000, false, || 0.0);
        }
        plant(&mut port);
        port.unaccounted(Time(6 * MS))
    };
    assert_eq!(off(|_| ()), 0);
    assert_eq!(off(|port| port.account.counters.arrivals += 1), 1);
    assert_eq!(off(|port| port.account.counters.started += 1), -1);
    assert_eq!(off(|port| port.account.counters.drops += 1), -1);
}

/// A law that says a probability of NaN on arrival, or at a tick, is remembered with the moment.
#[test]
fn what_is_no_number_is_remembered() {
    for decides in [Decides::OnArrival, Decides::OnDeparture] {
        let needs = aqm::Requirements { tick_s: Some(0.001), decides, marks: true, ..aqm::Requirements::LEAST };
        let law = listener(needs, |_, seen| if seen.now_s > 0.0025 { f64::NAN } else { 0.0 });
        let mut port = Port::new(Config {
            service: Service::Constant(Rate(8_000_000)),
            most_packets: u64::MAX,
            most_bytes: u64::MAX,
            packet: Bytes(1000),
            law,
            memory: Time(100 * MS),
        });
        for k in 1..6 {
            assert_eq!(port.unsound(), (k > 3).then_some(Time(3 * MS)));
            if decides == Decides::OnArrival {
                assert!(matches!(port.offer(Time(k * MS), 1000, true, || 0.0), Offer::Accepted { marked: false, .. }));
            } else {
                port.tick(Time(k * MS));
            }
        }
    }
}
