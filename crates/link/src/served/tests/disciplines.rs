//! Orders of service of RFC 8290 and RFC 9332: a queue a flow, and two coupled queues.

use super::*;

/// A flow that sends now and then goes before those that fill the line: it waits for the packet in transmission only
/// (RFC 8290, section 4.2).
#[test]
fn a_sparse_flow_goes_first() {
    let mut host = Host::new(listening(10 * MBIT, PER_FLOW, |_, _| 0.0));
    let sparse = 1000;
    for n in 0..2000u64 {
        for bulk in 0..20 {
            if host.served.waiting() < 200 {
                host.offer(n * MS, bulk, 1500);
            }
        }
        if n % 50 == 7 {
            host.offer(n * MS + 1, sparse, 200);
        }
    }
    host.check(2000 * MS);
    let transmission = 1500 * 8 * 100_000;
    let waits: Vec<u64> =
        host.departed.iter().filter(|(p, ..)| p.key == sparse).map(|(p, start, _)| start - p.at).collect();
    // At first the others are new, too: a quantum of 1514 B is two packets of each.
    let (first, later) = waits.split_at(2);
    assert!(first.iter().all(|w| *w <= 20 * 2 * transmission), "{waits:?}");
    assert!(later.len() == 38 && later.iter().all(|w| *w <= transmission), "{waits:?}");
    let bulk = host.departed.iter().filter(|(p, ..)| p.key == 3).map(|(p, start, _)| start - p.at).max().unwrap();
    assert!(bulk > 100 * transmission, "the others queue");
}

/// A flow cannot be new again and again: one that sends its next packet as soon as the last has left gets no more than
/// its share, and waits for at most a quantum of each of the others.
#[test]
fn a_flow_that_is_always_new_gets_no_more_than_its_share() {
    let mut host = Host::new(listening(8 * MBIT, PER_FLOW, |_, _| 0.0));
    for _ in 0..500 {
        for bulk in 0..4 {
            host.offer(0, bulk, 1000);
        }
    }
    let eager = 99;
    host.offer(0, eager, 1000);
    let mut seen = 0;
    for now in 0..1000 {
        host.run(now * MS);
        for at in seen..host.departed.len() {
            let (packet, start, departing) = host.departed[at];
            if packet.key == eager {
                assert!(start - packet.at <= 4 * 2 * MS, "two packets end a quantum of 1514 B");
                host.offer(departing.departure.0, eager, 1000);
            }
        }
        seen = host.departed.len();
    }
    let (eager, bulk) = (host.sent(eager), host.sent(2));
    assert!(eager <= bulk + 2000 && eager > bulk / 2, "{eager} {bulk}");
}

/// On a full buffer the longest queue, by bytes, loses its oldest packet, and that is a drop; the packet that found the
/// buffer full stays unless its own queue is the longest (RFC 8290, section 4.1).
#[test]
fn a_full_buffer_takes_from_the_longest_queue() {
    for needs in [PER_FLOW, aqm::Requirements::LEAST] {
        let mut host = Host::new(ServedConfig {
            scheduler: Scheduler::Drr { quantum: Bytes(1500) },
            most_packets: 10,
            most_bytes: 20_000,
            ..listening(8 * MBIT, needs, |_, _| 0.0)
        });
        // Number 0 is in transmission. Many small packets of one flow, then few large ones of another.
        for _ in 0..8 {
            host.offer(0, 0, 100);
        }
        for _ in 0..3 {
            host.offer(0, 1, 1500);
        }
        assert!(host.dropped.is_empty() && host.served.waiting() == 10);
        assert_eq!(host.offer(0, 0, 100), Offered::Queued);
        assert_eq!(host.dropped.iter().map(|p| p.number).collect::<Vec<_>>(), [8], "the oldest of the large ones");
        assert_eq!(host.offer(0, 2, 1500), Offered::Queued);
        assert_eq!(host.dropped.last().unwrap().number, 9);
        assert_eq!(host.offer(0, 3, 5000), Offered::Refused(Reason::Full), "it would itself be the longest queue");
        assert_eq!(host.served.read(Time(0)).drops, 3);
        host.check(100 * MS);
        // Room in bytes for a large packet costs a long queue several small ones.
        for _ in 0..11 {
            host.offer(200 * MS, 4, 1990);
        }
        let before = host.dropped.len();
        assert_eq!(host.offer(200 * MS, 5, 4100), Offered::Queued);
        assert_eq!(host.dropped.len() - before, 3, "19900 B of 20000 B were taken");
        host.check(300 * MS);
    }
}

/// Two queues: while both have packets the classic one gets its share at every moment to within a packet; alone each
/// gets everything, and nothing is owed for it.
#[test]
fn coupled_queues_share_by_weight() {
    let mut host = Host::new(listening(8 * MBIT, COUPLED, |_, _| 0.0));
    let send = |host: &mut Host, at: u64, count: u64, low_latency: bool| {
        for _ in 0..count {
            host.send(at, u32::from(low_latency), if low_latency { 700 } else { 1500 }, true, low_latency);
        }
    };
    send(&mut host, 0, 100, true);
    host.run(50 * MS);
    assert_eq!(host.sent(1), (50_000 / 700 + 1) * 700, "alone it has the whole line");
    host.run(1000 * MS);
    let before = host.departed.len();
    send(&mut host, 1000 * MS, 1000, false);
    send(&mut host, 1000 * MS, 2000, true);
    host.run(2000 * MS);
    // The first left when no other waited.
    let mut sent = [0.0, 0.0];
    for (packet, ..) in &host.departed[before + 1..] {
        sent[packet.key as usize] += f64::from(packet.bytes);
        let share = 0.1 * (sent[0] + sent[1]);
        assert!((sent[0] - share).abs() <= 1500.0, "{sent:?}");
    }
    assert!(sent[0] > 90_000.0);
    host.check(2000 * MS);
}

/// The claim ends with the busy period: after the line was idle the low-latency queue goes first, as at the start.
#[test]
fn nothing_is_owed_over_an_idle_line() {
    let mut host = Host::new(listening(8 * MBIT, COUPLED, |_, _| 0.0));
    for period in 0..3u64 {
        let at = period * 100 * MS;
        // The first is in transmission while the others come, and the last that leaves is a classic one.
        host.send(at, 1, 1000, true, true);
        host.send(at, 0, 1000, true, false);
        host.send(at, 1, 1000, true, true);
        host.run(at + 50 * MS);
        let keys: Vec<u32> = host.departed.drain(..).map(|(packet, ..)| packet.key).collect();
        assert_eq!(keys, [1, 1, 0], "busy period {period}");
    }
}

/// One law observes both queues: at a tick the wait of whichever is older, and the whole backlog; at the head of a queue that
/// queue, and which it is.
#[test]
fn coupled_queues_have_one_law() {
    let needs = aqm::Requirements { tick_s: Some(0.01), decides: Decides::AtHead, ..COUPLED };
    let mut host = Host::new(listening(8 * MBIT, needs, |event, _| {
        f64::from(u8::from(event == Event::Departure { low_latency: true }))
    }));
    let heard = |host: &mut Host| host.served.observables().into_iter().map(|(.., x)| x).collect::<Vec<_>>();
    for older in [false, true] {
        let mut host = Host::new(listening(8 * MBIT, needs, |_, _| 0.0));
        host.send(0, 0, 1000, false, false);
        host.send(MS / 4, 0, 1000, false, older);
        host.send(MS / 2, 0, 1000, false, !older);
        host.served.tick(Time(MS));
        assert_eq!(heard(&mut host)[3], 0.75e-3, "the older one, in whichever queue");
    }
    host.send(0, 0, 1000, false, false);
    host.send(0, 0, 1000, false, false);
    host.send(MS / 2, 1, 1000, false, true);
    host.served.tick(Time(MS / 2));
    let first = heard(&mut host);
    assert_eq!((first[0], first[1], first[3]), (2.0, 3.0, 0.5e-3));
    host.run(100 * MS);
    assert_eq!(host.dropped.iter().map(|p| p.number).collect::<Vec<_>>(), [2], "what asked for low latency");
    assert_eq!(host.departed.len(), 2);
    host.check(100 * MS);
}
