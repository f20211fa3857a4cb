//! Hosts of today: recovery by time, tail loss probes, quick acknowledgements, handshakes.

use crate::laboratory::{Dumbbell, acks_at, assert_near, data_at, group, link, run};
use penstock_scenario::world::End;

const RACK: &str = "start = \"0 s\"\ncc = { law = \"newreno\" }\nsender = { recovery = \"rack\", ssthresh = 30 }";

/// One packet in a hundred comes late by up to a quarter of the round trip: once that was seen, nothing is sent again and the
/// window is kept. Later than that, packets are sent again.
#[test]
fn reordering_up_to_a_quarter_of_a_round_trip_costs_nothing() {
    let of = |by: &str, sender: &str| {
        let keys = format!("reorder = {{ share = 0.01, by = \"{by}\" }}");
        let flows = RACK.replace("rack\"", sender);
        let run = Dumbbell { buffer: "\"500 packets\"", link: &keys, flows: &flows, ..Dumbbell::PLAIN }.run();
        assert_eq!(link(&run, "b").drops, 0);
        // Nothing is lost, so that all of it is needless.
        let f = group(&run, "f");
        assert!(f.spurious_retransmits.unwrap().abs_diff(f.retransmits) <= 1, "{f:?}");
        assert_eq!(f.undone_recoveries.is_some(), sender.contains("rack") && !sender.contains("undo"));
        assert!(f.undone_recoveries.is_none_or(|undone| undone <= 1), "{f:?}");
        (f.retransmits, link(&run, "b").utilization)
    };
    let (late, utilization) = of("9.9 ms", "rack\"");
    assert!(late <= 1, "{late} sent again");
    assert!(utilization > 0.97, "{utilization}");
    let (much_later, _) = of("35 ms", "rack\", dsack = false, undo = false");
    assert!(much_later > 20, "{much_later} sent again");
    let (by_three, _) = of("9.9 ms", "sack\"");
    assert!(by_three > 20, "three later packets pass for a loss: {by_three}");
}

/// Copies by a link are not spurious retransmissions, and a reduction because of reordering is undone and counted.
#[test]
fn copies_are_not_spurious_and_undone_recoveries_count() {
    let of = |link: &str, sender: &str| {
        let run = Dumbbell { link, flows: &RACK.replace("rack\"", sender), ..Dumbbell::PLAIN }.run();
        let f = group(&run, "f");
        (f.retransmits, f.spurious_retransmits, f.undone_recoveries)
    };
    let copied = of("duplicate = 0.02", "rack\", dsack = false");
    assert_eq!(copied, (0, Some(0), Some(0)));
    let (retransmits, spurious, undone) = of("reorder = { share = 0.005, by = \"35 ms\" }", "rack\", dsack = false");
    assert!(undone.unwrap() > 10 && spurious.unwrap() + 1 >= retransmits, "{retransmits} {spurious:?} {undone:?}");
    // Later than their retransmissions.
    let (.., undone) = of("reorder = { share = 0.005, by = \"80 ms\" }", "rack\", dsack = false");
    assert!(undone.unwrap() > 10, "{undone:?}");
    let lost = of("loss = 0.01", "sack\"");
    assert!(lost.0 > 20 && lost.1.unwrap() <= lost.0 / 20 && lost.2.is_none(), "{lost:?}");
}

/// A transfer whose last one to three packets are lost: a probe goes out two round trips after the last acknowledgement, and
/// a round trip later the rest. Without the probe the timer of 500 ms does it.
#[test]
fn a_lost_tail_is_repaired_without_a_timeout() {
    for lost in 1..=3 {
        let of = |probe: bool| {
            let flows = format!(
                "start = \"0 s\"\nsize = \"9480 B\"\ncc = {{ law = \"newreno\" }}\n\
                 sender = {{ recovery = \"rack\", initial_window = 10, min_rto = \"500 ms\", tail_loss_probe = {probe} }}"
            );
            // Ten packets leave at once. One is on the wire, the queue has place for the others but so many.
            let buffer = format!("\"{} packets\"", 9 - lost);
            let run = Dumbbell { buffer: &buffer, flows: &flows, ..Dumbbell::PLAIN }.run();
            let group = group(&run, "f");
            assert_eq!(link(&run, "b").drops, lost);
            (group.transfers.as_ref().unwrap().completion_mean_s.unwrap(), group.timeouts)
        };
        let (with, without) = (of(true), of(false));
        assert_eq!((with.1, without.1), (0, 1), "{lost}");
        // The last acknowledgement of the first flight comes after 40 ms and 0.8 ms a packet. The smoothed round trip is between
        // that and 40 ms. With one packet out the receiver might delay its acknowledgement, so the probe waits as long as the timeout, and takes
        // its place.
        let last = 0.04 + 0.0008 * (10 - lost) as f64;
        let waits = if lost == 1 { (0.5, 0.5) } else { (0.08, 2.0 * last) };
        let (least, most) = (last + waits.0 + 0.04, last + waits.1 + 0.042);
        // The others are sent again one a round trip: proportional rate reduction sends one for each that is delivered.
        let rest = 0.04 * (lost - 1) as f64;
        assert!((least + rest..most + rest + 0.003).contains(&with.0), "{lost}: {} in {least}..{most}", with.0);
        assert!(without.0 > 0.54, "{lost}: {without:?}");
    }
}

/// The first packets of a connection are acknowledged one by one, later every second one.
#[test]
fn quick_acknowledgements_end() {
    let acks = |quick: u32| {
        let flows = format!(
            "start = \"0 s\"\nsize = \"57 kB\"\ncc = {{ law = \"newreno\", per_ack = \"2 packets\" }}\n\
             sender = {{ delayed_ack = 2, quick_acks = {quick}, initial_window = 10 }}"
        );
        let (_, seen) = Dumbbell { flows: &flows, ..Dumbbell::PLAIN }.watch();
        acks_at(&seen, End::Receiver, 0).len()
    };
    assert_eq!((acks(0), acks(16)), (30, 16 + 22));
}

/// A window of one packet: each has no second one, and its acknowledgement waits for the timer; that of the end does not.
#[test]
fn the_acknowledgement_of_a_lone_packet_waits_for_its_timer() {
    for (delay, ms) in [("", 40.0), (", max_ack_delay = \"25 ms\"", 25.0), (", max_ack_delay = \"90 ms\"", 90.0)] {
        let flows = format!(
            "start = \"0 s\"\nsize = \"2 kB\"\ncc = {{ law = \"newreno\" }}\n\
             sender = {{ delayed_ack = 2, initial_window = 1{delay} }}"
        );
        let (_, seen) = Dumbbell { flows: &flows, ..Dumbbell::PLAIN }.watch();
        let (data, acks) = (data_at(&seen, End::Receiver, 0), acks_at(&seen, End::Receiver, 0));
        let waited_ms = 1e3 * (acks[0] - data[0]);
        assert!((waited_ms - ms).abs() < 1e-6, "{delay}: {waited_ms} ms, {data:?}, {acks:?}");
    }
}

/// One packet of about 200 is lost, with some 20 under way. Every second packet is acknowledged, and while a segment is missing each of
/// them. A host of QUIC acknowledges only that after the gap at once: it sends half as many of the latter, and repairs no less.
#[test]
fn a_gap_is_acknowledged_once_or_each_packet_beyond_it() {
    for recovery in ["sack", "rack"] {
        let acks = |once: bool| {
            let flows = format!(
                "start = \"0 s\"\nsize = \"190 kB\"\ncc = {{ law = \"newreno\", per_ack = \"2 packets\" }}\n\
                 sender = {{ recovery = \"{recovery}\", delayed_ack = 2, ack_gap_once = {once}, initial_window = 20, ssthresh = 20 }}"
            );
            let (run, seen) = Dumbbell { link: "lose_transmission = 100", flows: &flows, ..Dumbbell::PLAIN }.watch();
            let f = group(&run, "f");
            assert_eq!((f.retransmits, f.spurious_retransmits, f.timeouts), (1, Some(0), 0), "{recovery}, {once}");
            acks_at(&seen, End::Receiver, 0).len()
        };
        let (each, once) = (acks(false), acks(true));
        println!("{recovery}: {each} acknowledgements, and {once}");
        assert!((5..=20).contains(&(each - once)), "{recovery}: {each}, {once}");
    }
}

/// A connection opens a round trip before its first data; each transfer has its own, and a SYN that is lost goes out again
/// after a second. Nothing is unaccounted for: the engine checks that.
#[test]
fn a_handshake_takes_a_round_trip() {
    let of = |more: &str, link: &str, shakes: bool| {
        let flows = format!(
            "start = \"0 s\"\nsize = \"10 kB\"\ncc = {{ law = \"newreno\" }}\n{more}\n\
             sender = {{ initial_window = 10, handshake = {shakes} }}"
        );
        let dumbbell = Dumbbell { link, flows: &flows, ..Dumbbell::PLAIN };
        let (run, seen) = dumbbell.watch();
        (group(&run, "f").transfers.clone().unwrap(), data_at(&seen, End::Sender, 0)[0], group(&run, "f").timeouts)
    };
    let (plain, first, _) = of("", "", false);
    let (opened, later, _) = of("", "", true);
    assert_eq!(first, 0.0);
    // A SYN of 40 B takes 32 us on the wire, and its answer as long.
    assert!((later - 0.040_064).abs() < 1e-6, "{later}");
    let gain = opened.completion_mean_s.unwrap() - plain.completion_mean_s.unwrap();
    assert!((gain - 0.040_064).abs() < 1e-6, "{gain}");
    let (many, ..) = of("idle = \"100 ms\"", "", true);
    assert!((many.completion_p99_s.unwrap() - opened.completion_mean_s.unwrap()).abs() < 1e-3, "each of {many:?}");
    assert!(many.completed > 50);
    // A third of what is sent is lost: some SYN among it.
    let (_, _, timeouts) = of("idle = \"10 ms\"", "loss = 0.3", true);
    assert!(timeouts > 0);
}

/// RFC 5681, equation (4): an application that sends ten packets at a time leaves most of its window unused. The window has grown
/// by a packet for each of 50 and of 4 more, from 2 to 56, when the 55th is lost. It and the 5 after it are in flight, and three
/// of these tell of the loss. So ssthresh is 3, and 28 where the window is halved. A flow that fills its window has half of it left
/// with and without, to a packet of a window of 10 and more.
#[test]
fn a_loss_halves_what_is_in_flight() {
    for recovery in ["sack", "newreno", "rack"] {
        let left = |flight_size: bool, of: &str| {
            let flows = format!(
                "start = \"0 s\"\n{of}\ncc = {{ law = \"newreno\", flight_size = {flight_size} }}\n\
                 sender = {{ recovery = \"{recovery}\", remember = \"everything\" }}"
            );
            let flows = if of.is_empty() { flows.replace(", remember = \"everything\"", "") } else { flows };
            let lost = if of.is_empty() { "loss = 0.001" } else { "lose_transmission = 55" };
            let run = Dumbbell { link: lost, flows: &flows, ..Dumbbell::PLAIN }.run();
            group(&run, "f").window_left_by_cuts.unwrap()
        };
        let limited = "size = \"9600 B\"\nidle = \"200 ms\"";
        assert_near(left(true, limited), 3.0 / 56.0, 1e-9, recovery);
        assert_near(left(false, limited), 0.5, 1e-9, recovery);
        let (with, without) = (left(true, ""), left(false, ""));
        assert!((0.45..=0.55).contains(&with) && (with - without).abs() < 0.05, "{recovery}: {with} {without}");
    }
}

/// The last segment of a transfer has nothing after it to be acknowledged with. Its connection is closed, which is
/// acknowledged at once; without connections it waits for the timer of 40 ms.
#[test]
fn the_end_of_a_transfer_does_not_wait_for_the_timer() {
    let takes = |delayed: u32, shakes: bool| {
        let flows = format!(
            "start = \"0 s\"\nsize = \"2.5 kB\"\ncc = {{ law = \"newreno\" }}\n\
             sender = {{ initial_window = 10, delayed_ack = {delayed}, handshake = {shakes} }}"
        );
        let (run, _) = Dumbbell { flows: &flows, ..Dumbbell::PLAIN }.watch();
        group(&run, "f").transfers.clone().unwrap().completion_mean_s.unwrap()
    };
    assert_eq!(takes(2, true), takes(1, true));
    let late = takes(2, false) - takes(1, false);
    assert!((late - 0.040).abs() < 1e-6, "{late}");
}

/// A host by one word, with losses of data and acknowledgements both ways: everything arrives in the end, conservation holds
/// (the engine checks it), and the same seed gives the same run.
#[test]
fn a_lossy_path_with_every_part_of_recovery() {
    for off in
        ["", ", prr = false", ", tail_loss_probe = false", ", dsack = false", ", undo = false", ", handshake = false"]
    {
        let text = format!(
            r#"
format = 1
packet = "1000 B"
duration = "20 s"
[links.b]
from = "l"
to = "r"
rate = "20 Mbit/s"
delay = "5 ms"
duplex = true
buffer = "30 packets"
loss = 0.01
reorder = {{ share = 0.02, by = "3 ms" }}
[flows.there]
count = 4
from = "l"
to = "r"
rtt = {{ spread = ["30 ms", "90 ms"] }}
size = "300 kB"
idle = "50 ms"
cc = {{ law = "cubic", ecn = true }}
sender = {{ profile = "linux"{off} }}
[flows.back]
count = 4
from = "r"
to = "l"
rtt = {{ spread = ["30 ms", "90 ms"] }}
cc = {{ law = "newreno" }}
sender = {{ profile = "linux" }}
"#
        );
        let (one, two) = (run(&text), run(&text));
        let group = group(&one, "there");
        assert!(group.transfers.as_ref().unwrap().completed > 20, "{off}: {group:?}");
        assert!(group.retransmits > 20, "{off}");
        assert_eq!(one.summary.engine.events, two.summary.engine.events, "{off}");
    }
}

/// Slow start fills a deep buffer and loses a window. Of its retransmissions some are still under way when the next recovery begins,
/// and these are no originals that came late: nothing is undone, and the window stays halved.
#[test]
fn retransmissions_of_an_earlier_recovery_undo_nothing() {
    let of = |undo: bool| {
        let flows =
            format!("start = \"0 s\"\ncc = {{ law = \"cubic\" }}\nsender = {{ recovery = \"rack\", undo = {undo} }}");
        let text = Dumbbell { buffer: "\"3 bdp\"", flows: &flows, ..Dumbbell::PLAIN }.text();
        let run = run(&text.replace("\"1000 B\"", "\"1500 B\"").replace("\"40 ms\"", "\"200 ms\""));
        group(&run, "f").clone()
    };
    let [undone, kept] = [true, false].map(of);
    assert!(undone.undone_recoveries.is_some_and(|n| n <= 1), "{undone:?}");
    assert!(kept.retransmits > 0 && undone.retransmits < 2 * kept.retransmits, "{undone:?}\n{kept:?}");
}
