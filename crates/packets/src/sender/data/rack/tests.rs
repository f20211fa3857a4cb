use std::collections::BTreeSet;

use super::super::{Data, Heard, Outcome, options};
use penstock_law::quantity::Time;
use penstock_scenario::model::{RackOptions, Recovery, Rto, SenderOptions};

mod undo;

const MS: u64 = 1_000_000_000;

/// A sender and a receiver, whose packets and acknowledgements take what a test says.
struct Ends {
    data: Data,
    window: f64,
    /// The window after a congestion event, and before it.
    ssthresh: f64,
    before: f64,
    /// Of each transmission: its segment, and when it was sent.
    sent: Vec<u64>,
    times: Vec<u64>,
    had: BTreeSet<u64>,
    cumulative: u64,
    undone: u32,
    cuts: u32,
    /// Acknowledgements echo a mark.
    marked: bool,
}

impl Ends {
    fn new(rack: RackOptions, window: f64) -> Self {
        let options = SenderOptions { rack, ..options(Recovery::Rack, false) };
        let data = Data::new(&options, u64::MAX);
        let (sent, times, had) = (Vec::new(), Vec::new(), BTreeSet::new());
        let (ssthresh, before) = (window / 2.0, window);
        Self { data, window, ssthresh, before, sent, times, had, cumulative: 0, undone: 0, cuts: 0, marked: false }
    }

    /// One with the recovery of QUIC.
    fn of_quic(window: f64) -> Self {
        let mut ends = Self::new(RackOptions::ALL, window);
        let rack = RackOptions { prr: false, tail_loss_probe: false, dsack: false, undo: false };
        let options = SenderOptions { rack, rto: Rto::Rfc9002, ..options(Recovery::Rack, false) };
        ends.data = Data::new(&options, u64::MAX);
        ends
    }

    /// Sends what may be sent; the segments.
    fn send(&mut self, now: u64) -> Vec<u64> {
        let first = self.sent.len();
        while let Some(segment) = self.data.pick(self.window, true, u64::MAX) {
            self.data.sent(segment, now);
            self.sent.push(segment.seq);
            self.times.push(now);
        }
        self.sent[first..].to_vec()
    }

    /// A transmission arrives, and its acknowledgement.
    fn arrive(&mut self, tx: usize, now: u64) -> Outcome {
        let seq = self.sent[tx];
        let duplicate = !self.had.insert(seq);
        while self.had.contains(&self.cumulative) {
            self.cumulative += 1;
        }
        let from = (seq > self.cumulative).then(|| {
            let mut from = seq;
            while self.had.contains(&(from - 1)) {
                from -= 1;
            }
            from
        });
        let heard = Heard { cumulative: self.cumulative, tx: tx as u64, from, duplicate };
        let outcome = self.data.hear(&heard, now);
        self.after(&outcome);
        outcome
    }

    fn after(&mut self, outcome: &Outcome) {
        let mut law = None;
        if outcome.lost {
            self.cuts += 1;
            self.before = self.window;
            self.data.reduce(self.ssthresh, outcome, self.marked);
            law = Some(self.ssthresh);
        } else if outcome.spurious {
            self.undone += 1;
            law = Some(self.before);
        }
        let rack = self.data.rack().unwrap();
        self.window = rack.shape(law).or(law).unwrap_or(self.window);
    }

    /// The effect of its timer at `now`.
    fn clock(&mut self, now: u64) {
        let what = self.data.overdue(now, &mut ());
        if what.event {
            self.after(&Outcome { lost: true, delivered: 1, ..Outcome::default() });
        }
    }
}

/// RFC 9937, the first example: a window of 20, ssthresh 10, limited transmit, and the first packet lost. After each of 22
/// acknowledgements: the window, and what is in flight before anything is sent.
#[test]
fn prr_sends_one_for_two_where_one_packet_is_lost() {
    let mut ends = Ends::new(RackOptions::ALL, 20.0);
    assert_eq!(ends.send(0).len(), 20);
    let (mut windows, mut flights, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    for tx in 1..=22 {
        let now = 100 * MS + tx as u64;
        ends.arrive(tx, now);
        windows.push(ends.window);
        flights.push(ends.data.in_flight());
        sent.push(ends.send(now));
    }
    let printed = [20, 20, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11];
    assert_eq!(windows[..18], printed.map(f64::from));
    assert_eq!(flights[..18], [19, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 11]);
    // Here as many are in flight as ssthresh. The figure of the RFC goes on with its first rule for one more packet (11, 10,
    // 10, 10); the text, and Linux, have that rule above ssthresh only, and send that packet with the next acknowledgement.
    assert_eq!((&windows[18..], &flights[18..]), (&[10.0; 4][..], &[10, 9, 9, 9][..]));
    assert_eq!(sent.iter().map(Vec::len).sum::<usize>(), 2 + 1 + 10, "as many as in the figure");
    assert_eq!(sent[..5], [vec![20], vec![21], vec![0], vec![], vec![22]]);
}

/// RFC 9937, the second example: 15 of 20 packets are lost. Each acknowledgement that comes sends one retransmission.
#[test]
fn prr_sends_one_for_one_where_most_are_lost() {
    let mut ends = Ends::new(RackOptions::ALL, 20.0);
    ends.send(0);
    let (mut windows, mut flights, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    for tx in 15..20 {
        ends.arrive(tx, 100 * MS + tx as u64);
        windows.push(ends.window);
        flights.push(ends.data.in_flight());
        sent.push(ends.send(100 * MS + tx as u64));
    }
    assert_eq!(windows, [20.0, 20.0, 5.0, 5.0, 5.0]);
    assert_eq!(flights, [19, 19, 4, 4, 4]);
    assert_eq!(sent, [vec![20], vec![21], vec![0], vec![1], vec![2]]);
    // Without the reduction six go out at once, as by RFC 6675.
    let mut plain = Ends::new(RackOptions { prr: false, ..RackOptions::ALL }, 20.0);
    plain.send(0);
    for tx in 15..17 {
        plain.arrive(tx, 100 * MS + tx as u64);
        plain.send(100 * MS + tx as u64);
    }
    plain.arrive(17, 101 * MS);
    assert_eq!(plain.send(101 * MS), [0, 1, 2, 3, 4, 5]);
}

/// An acknowledgement for two packets is no reordering: a loss after it is found by the third later packet, at once.
#[test]
fn a_delayed_acknowledgement_is_no_reordering() {
    let mut ends = Ends::new(RackOptions::ALL, 10.0);
    ends.send(0);
    ends.had.insert(0);
    ends.arrive(1, 100 * MS);
    // 2 is lost.
    for (tx, lost) in [(3, false), (4, false), (5, true)] {
        assert_eq!(ends.arrive(tx, 100 * MS).lost, lost, "{tx}");
    }
}

/// The law's event is the acknowledgement that ends recovery. Later ones that grow nothing leave its window alone.
#[test]
fn the_window_after_recovery_is_the_laws() {
    let mut ends = Ends::new(RackOptions::ALL, 10.0);
    ends.send(0);
    for tx in 1..10 {
        ends.arrive(tx, 100 * MS);
        ends.send(100 * MS);
    }
    let rack = ends.data.rack().unwrap();
    assert!(rack.shape(None).is_some(), "the reduction goes on");
    for tx in 10..ends.sent.len() {
        ends.arrive(tx, 200 * MS);
    }
    assert!(!ends.data.recovering());
    let rack = ends.data.rack().unwrap();
    assert_eq!((rack.shape(Some(5.2)), rack.shape(None)), (None, None));
}

/// A packet overtaken by fewer than three, and by less than a quarter of the round trip, is waited for: the timer finds
/// it lost.
#[test]
fn what_is_late_is_waited_for_a_quarter_of_a_round_trip() {
    let mut ends = Ends::new(RackOptions::ALL, 4.0);
    assert_eq!(ends.send(0), [0, 1, 2, 3]);
    // 2 is lost, 3 overtakes it.
    for tx in [0, 1, 3] {
        assert!(!ends.arrive(tx, 100 * MS).lost);
    }
    let due = ends.data.rack().unwrap().due.unwrap();
    assert_eq!(due, 125 * MS, "sent at 0, a round trip of 100 ms and a quarter of it");
    ends.clock(due - 1);
    assert_eq!(ends.cuts, 0);
    ends.clock(due);
    assert_eq!(ends.cuts, 1);
    assert_eq!(ends.send(due)[0], 2);
}

/// The first time, reordering looks like a loss and is undone; later it costs nothing, up to a quarter of a round trip.
#[test]
fn reordering_that_was_seen_costs_no_retransmission() {
    let mut ends = Ends::new(RackOptions::ALL, 10.0);
    ends.send(0);
    // 0 comes after 1 to 9.
    for tx in 1..10 {
        ends.arrive(tx, 100 * MS);
        ends.send(100 * MS);
    }
    assert_eq!(ends.cuts, 1);
    assert_eq!(ends.sent.iter().filter(|seq| **seq == 0).count(), 2, "sent again once");
    assert!(ends.arrive(0, 110 * MS).spurious, "the original came");
    assert_eq!((ends.undone, ends.window), (1, 10.0), "and the window is what it was");
    ends.send(110 * MS);
    // Each packet takes 100 ms there and back, and every fifth 24 ms more.
    let mut arrived: BTreeSet<usize> = (0..10).collect();
    for _ in 0..200 {
        let due = |tx: usize, sent: u64| sent + 100 * MS + if tx.is_multiple_of(5) { 24 * MS } else { 0 };
        let under_way = (0..ends.sent.len()).filter(|tx| !arrived.contains(tx)).map(|tx| (due(tx, ends.times[tx]), tx));
        let (now, tx) = under_way.min().unwrap();
        arrived.insert(tx);
        ends.clock(now);
        assert!(!ends.arrive(tx, now).lost, "{tx}");
        ends.send(now);
    }
    assert_eq!(ends.cuts, 1);
}

/// Each duplicate SACK of a round widens the window by a quarter of the smallest round trip, up to a smoothed one.
#[test]
fn duplicates_widen_the_reordering_window() {
    let wait = |duplicates: usize| {
        let mut ends = Ends::new(RackOptions { undo: false, ..RackOptions::ALL }, 4.0);
        ends.send(0);
        for tx in 0..4 {
            ends.arrive(tx, 100 * MS);
            ends.send(100 * MS);
        }
        // An old transmission comes again, once a round.
        let mut now = 200 * MS;
        for _ in 0..duplicates {
            let flight = ends.sent.len() - 4..ends.sent.len();
            assert!(!ends.arrive(0, now).lost);
            for tx in flight {
                ends.arrive(tx, now);
                ends.send(now);
            }
            now += 100 * MS;
        }
        // The first of a window is late.
        let late = ends.sent.len() - 4;
        ends.arrive(late + 1, now);
        ends.data.rack().unwrap().due.unwrap() - now
    };
    assert_eq!([0, 1, 2, 3, 9].map(wait), [25, 50, 75, 100, 100].map(|ms| ms * MS));
}

/// A lost tail of one to three packets is found by a probe two round trips after the last packet, and repaired. The repair of
/// one packet by the probe itself is a congestion event, too.
#[test]
fn a_lost_tail_is_probed_after_two_round_trips() {
    for lost in 1..=3 {
        let mut ends = Ends::new(RackOptions::ALL, 10.0);
        ends.data.limit = 10;
        ends.send(0);
        for tx in 0..10 - lost {
            ends.arrive(tx, 100 * MS);
            ends.send(100 * MS);
        }
        let due = ends.data.rack().unwrap().due().unwrap();
        let delay = if lost == 1 { 200 } else { 0 };
        assert_eq!(
            due,
            (300 + delay) * MS,
            "{lost}: two smoothed round trips, and an acknowledgement's delay for one packet"
        );
        let what = ends.data.overdue(due, &mut ());
        assert!(what.probe);
        assert_eq!(ends.send(due), [9], "the last segment");
        let outcome = ends.arrive(ends.sent.len() - 1, due + 100 * MS);
        if lost == 1 {
            assert!(outcome.lost, "the probe repaired a loss");
            assert!(ends.data.idle());
            continue;
        }
        // The probe was delivered a round trip after the others were sent at the least, so they are lost.
        assert!(outcome.lost);
        assert_eq!(ends.send(due + 100 * MS).len(), 1, "{lost}");
        let mut now = due + 200 * MS;
        while !ends.data.idle() {
            ends.arrive(ends.sent.len() - 1, now);
            ends.send(now);
            now += 100 * MS;
        }
        assert_eq!(ends.sent.len(), 10 + lost, "each was sent again once");
        assert_eq!(ends.cuts, 1, "the probe told of the same event");
    }
}

/// A probe whose original had arrived, and only its acknowledgement was lost, is no congestion event.
#[test]
fn a_probe_that_was_not_needed_costs_nothing() {
    let mut ends = Ends::new(RackOptions::ALL, 10.0);
    ends.data.limit = 2;
    ends.send(0);
    ends.arrive(0, 100 * MS);
    ends.had.insert(1);
    ends.data.overdue(500 * MS, &mut ());
    assert_eq!(ends.send(500 * MS), [1]);
    let outcome = ends.arrive(2, 600 * MS);
    assert_eq!((outcome.lost, outcome.covered), (false, 1));
}

/// RFC 9002, section 6.2.4: a probe timeout sends two packets beyond the window and declares nothing lost. They carry new data, or
/// else the oldest in flight, and what was not acknowledged when they are is lost, once.
#[test]
fn a_probe_timeout_sends_two_packets_and_declares_nothing_lost() {
    let mut ends = Ends::of_quic(10.0);
    ends.data.limit = 30;
    ends.send(0);
    assert_eq!(ends.data.rack().unwrap().due(), None, "no probe but by the timer");
    ends.data.probe();
    assert_eq!(ends.send(200 * MS), [10, 11], "new data");
    assert_eq!((ends.data.in_flight(), ends.cuts), (12, 0));
    for lost in 1..=4 {
        let mut ends = Ends::of_quic(10.0);
        ends.data.limit = 10;
        ends.send(0);
        for tx in 0..10 - lost {
            ends.arrive(tx, 100 * MS);
        }
        ends.data.probe();
        let first = 10 - lost as u64;
        let again: Vec<u64> = (first..10).take(2).collect();
        assert_eq!(ends.send(300 * MS), again, "{lost}: the oldest");
        assert_eq!(ends.data.in_flight(), lost as u64);
        for tx in 10..10 + again.len() {
            ends.arrive(tx, 400 * MS);
        }
        assert_eq!(ends.cuts, 1, "{lost}: one congestion event");
        assert_eq!(ends.send(400 * MS), (first + again.len() as u64..10).collect::<Vec<_>>(), "{lost}: the rest");
    }
}

/// A second probe timeout sends the same data again, if nothing new came meanwhile. An original that was late all the time is no
/// congestion event.
#[test]
fn probes_go_on_until_an_acknowledgement_comes() {
    let mut ends = Ends::of_quic(10.0);
    ends.data.limit = 1;
    ends.send(0);
    for count in 1..=3 {
        ends.data.probe();
        assert_eq!(ends.send(count * 500 * MS), [0]);
    }
    let outcome = ends.arrive(0, 1600 * MS);
    assert!(!outcome.lost && outcome.covered == 1 && ends.data.idle() && ends.cuts == 0);
}

/// RFC 9002, section 7.6.2: two losses further apart than the span, with nothing delivered between them, are persistent congestion,
/// and are it once. With a delivery between them they are not.
#[test]
fn losses_far_apart_are_persistent_congestion() {
    for arrives in [false, true] {
        let mut ends = Ends::of_quic(2.0);
        ends.send(0);
        ends.arrive(0, 100 * MS);
        ends.send(100 * MS);
        assert_eq!(ends.sent, [0, 1, 2]);
        for count in 1..=3 {
            ends.data.probe();
            assert_eq!(ends.send(count * 1000 * MS).len(), 2);
        }
        if arrives {
            ends.arrive(5, 2100 * MS);
        }
        assert!(!ends.data.is_persistent(1900 * MS), "{arrives}");
        let outcome = ends.arrive(8, 3100 * MS);
        assert!(outcome.losses);
        assert!(!ends.data.is_persistent(3000 * MS), "{arrives}: 3 s apart at the most");
        assert_eq!(ends.data.is_persistent(1900 * MS), !arrives);
        assert_eq!(ends.data.is_persistent(900 * MS), arrives, "told once");
    }
}

/// RFC 9002, section 5.3: the time for which an acknowledgement waited at the receiver is no part of a round trip, unless that would
/// make it less than the smallest.
#[test]
fn the_delay_of_an_acknowledgement_is_no_part_of_a_round_trip() {
    let mut ends = Ends::of_quic(10.0);
    let rack = ends.data.rack().unwrap();
    rack.measure(40 * MS);
    rack.delays(7);
    rack.delays(9);
    assert_eq!(rack.without_delay(5, 70 * MS, 25 * MS), 70 * MS);
    assert_eq!(rack.without_delay(7, 70 * MS, 25 * MS), 45 * MS);
    assert_eq!(rack.without_delay(8, 70 * MS, 25 * MS), 70 * MS);
    assert_eq!(rack.without_delay(9, 60 * MS, 25 * MS), 60 * MS);
}

/// A retransmission that is lost is found by what was sent after it, one round trip later and without a timeout.
#[test]
fn a_lost_retransmission_is_found_in_one_more_round() {
    let mut ends = Ends::new(RackOptions::ALL, 10.0);
    ends.send(0);
    for tx in 1..10 {
        ends.arrive(tx, 100 * MS);
        ends.send(100 * MS);
    }
    let again = ends.sent.iter().rposition(|seq| *seq == 0).unwrap();
    assert!(again >= 10 && again + 1 < ends.sent.len(), "new data follow it");
    ends.arrive(again + 1, 200 * MS);
    assert_eq!(ends.cuts, 1, "the same congestion event");
    assert!(ends.send(200 * MS).contains(&0));
}

/// RFC 8985, section 6.3: a timeout marks the first packet and those that are old enough; what was sent just now is not. If
/// it was spurious, the window comes back with the first acknowledgement of an original.
#[test]
fn a_timeout_marks_what_is_old_and_can_be_undone() {
    let mut ends = Ends::new(RackOptions { tail_loss_probe: false, ..RackOptions::ALL }, 4.0);
    ends.send(0);
    ends.arrive(0, 100 * MS);
    ends.send(100 * MS);
    assert_eq!(ends.sent, [0, 1, 2, 3, 4]);
    ends.before = ends.window;
    ends.data.timeout(150 * MS, &mut ());
    ends.window = 1.0;
    assert_eq!(ends.data.in_flight(), 1, "4 was sent 50 ms ago");
    assert_eq!(ends.send(150 * MS), [1], "one goes out whatever is in flight");
    assert!(ends.arrive(1, 160 * MS).spurious);
    assert_eq!(ends.window, 4.0);
    assert_eq!(ends.data.in_flight(), 3, "2, 3 and 4 are on their way; the second 1 is for nothing");
}

/// So is one of a large window, in one pass over what was sent: with a search for each segment this would be a billion steps.
#[test]
fn a_large_window_is_brought_back_at_once() {
    const WINDOW: usize = 60_000;
    let mut ends = Ends::new(RackOptions { tail_loss_probe: false, ..RackOptions::ALL }, WINDOW as f64);
    ends.send(0);
    ends.data.timeout(1500 * MS, &mut ());
    ends.window = 100.0;
    let again = ends.send(1500 * MS).len();
    assert!(again >= 100, "{again}");
    assert_eq!(ends.data.in_flight(), again as u64);
    assert!(ends.arrive(0, 1510 * MS).spurious);
    // Segment 0 has arrived, and its second transmission is for nothing. Of the others that were sent again one counts.
    assert_eq!(ends.data.in_flight() as usize, WINDOW - 1);
    (1..again).for_each(|tx| _ = ends.arrive(tx, 1520 * MS));
    assert_eq!(ends.data.in_flight() as usize, WINDOW - again);
}

/// The timeout of a connection's least length, as the probe's delay, is that of the options.
#[test]
fn what_a_receiver_may_wait_is_the_least_timeout() {
    let options = SenderOptions { min_rto: Time(30 * MS), ..options(Recovery::Rack, false) };
    let mut data = Data::new(&options, 1);
    let segment = data.pick(1.0, true, u64::MAX).unwrap();
    data.sent(segment, 0);
    assert_eq!(data.rack().unwrap().due(), Some(1030 * MS), "a second before there is a round trip");
}

/// Segment 0 is lost twice, and segment 12, which was sent after the first loss was known: it lies beyond the end of that
/// recovery. The acknowledgement that ends that recovery begins the next one, whether segment 12 waits or was sent again: Linux
/// does so, and QUIC does not.
#[test]
fn a_loss_beyond_a_recovery_begins_the_next_one_when_that_ends() {
    for (waits, quic) in [(false, false), (true, false), (false, true)] {
        let tcp = Ends::new(RackOptions { prr: false, undo: false, ..RackOptions::ALL }, 10.0);
        let mut ends = if quic { Ends::of_quic(10.0) } else { tcp };
        ends.send(0);
        for tx in 1..12 {
            ends.arrive(tx, 100 * MS + tx as u64);
            ends.send(100 * MS + tx as u64);
        }
        assert_eq!((ends.cuts, ends.data.recover), (1, 12));
        assert_eq!(ends.sent[12..15], [0, 12, 13]);
        ends.arrive(14, 200 * MS + 20);
        if waits {
            ends.window = (ends.data.in_flight() + 1) as f64;
        }
        let mended = ends.send(200 * MS + 20);
        assert_eq!(mended.contains(&12), !waits, "{mended:?}");
        for tx in 15..17 {
            assert!(!ends.arrive(tx, 200 * MS + 21).lost, "in the recovery");
        }
        let again = ends.sent.iter().rposition(|seq| *seq == 0).unwrap();
        let outcome = ends.arrive(again, 300 * MS + 30);
        assert_eq!((ends.cumulative, ends.data.una), (12, 12));
        assert!(outcome.lost != quic && !outcome.losses, "{outcome:?}");
        let cuts = if quic { 1 } else { 2 };
        assert_eq!((ends.cuts, ends.data.recover), (cuts, if quic { 12 } else { ends.data.fresh }));
        // That one ends as usual.
        ends.send(300 * MS + 30);
        for tx in 18..ends.sent.len() {
            ends.arrive(tx, 400 * MS + 40 + tx as u64);
        }
        assert_eq!(ends.cuts, cuts);
    }
}
