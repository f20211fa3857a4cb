//! The sender's four parts, exchanged one at a time: each changes what it should, and nothing else.

use crate::laboratory::{Dumbbell, acks_at, assert_near, data_at, group, link, refusal};
use penstock_scenario::world::{Content, End, Sighting};

/// One flow over 10 Mbit/s and 40 ms, which sends 50 packets a round trip, with the given law and options.
fn alone(cc: &str, sender: &str, buffer: &str) -> (penstock_scenario::world::Run, Vec<Sighting>) {
    let flows = format!("start = \"0 s\"\ncc = {{ {cc} }}\nsender = {{ {sender} }}");
    Dumbbell { top: "duration = \"30 s\"", buffer, flows: &flows, ..Dumbbell::PLAIN }.watch()
}

/// Common to every run, whatever the parts: the end of the path is reached once by each segment in order.
fn distinct_segments(seen: &[Sighting]) -> usize {
    let segment = |s: &Sighting| match s.content {
        Content::Data { segment, .. } if s.end == End::Receiver => Some(segment),
        _ => None,
    };
    let mut segments: Vec<u64> = seen.iter().filter_map(segment).collect();
    segments.sort_unstable();
    segments.dedup();
    segments.len()
}

/// Estimation: what the path is measured to be. Where nothing is delayed but by propagation and transmission, the mean
/// and the least round trip are these; acknowledgements that wait for a second packet measure longer ones, and what is
/// sent, recovered and paced is as before.
#[test]
fn estimation_measures_the_path() {
    let sender = "receive_window = \"10 packets\"";
    let (run, _) = alone("law = \"newreno\"", sender, "\"unlimited\"");
    let flow = &run.flows[0];
    // 0.8 ms for the packet, 0.032 ms for the acknowledgement.
    assert!((flow.rtt_min_s.unwrap() - 0.040_832).abs() < 1e-9, "{:?}", flow.rtt_min_s);
    // The first window of two and its doublings queue behind themselves; from then on 10 packets do.
    assert!((0.040_832..0.0410).contains(&flow.rtt_mean_s.unwrap()), "{:?}", flow.rtt_mean_s);
    let (delayed, _) = alone("law = \"newreno\"", &format!("{sender}, delayed_ack = 2"), "\"unlimited\"");
    assert!((0.040_832..0.0425).contains(&delayed.flows[0].rtt_mean_s.unwrap()), "{:?}", delayed.flows[0].rtt_mean_s);
    assert_eq!((delayed.flows[0].retransmits, delayed.flows[0].timeouts), (0, 0));
    // What a law is told stands beside the truth: FAST's base is the path's.
    let flows = "start = \"0 s\"\nseries = true\ncc = { law = \"fast\", alpha = \"20 packets\" }";
    let run = Dumbbell { flows, ..Dumbbell::PLAIN }.run();
    let base = crate::laboratory::numbers(&run, "flows", "estimated_base_rtt_s");
    assert!((base.last().unwrap() - 0.040_832).abs() < 1e-9, "{:?}", base.last());
    let (told, truth) = (
        crate::laboratory::numbers(&run, "flows", "estimated_rtt_s"),
        crate::laboratory::numbers(&run, "flows", "rtt_s"),
    );
    assert_near(*told.last().unwrap(), *truth.last().unwrap(), 0.01, "estimate and truth");
    // 20 packets of 0.8 ms, one of them on the line.
    assert_near(*truth.last().unwrap(), 0.040_832 + 19.0 * 0.0008, 0.02, "base and queue");
}

/// Window control: another law sends at another rate over the same loss, by the same recovery.
#[test]
fn window_control_is_the_law() {
    let rate = |cc: &str| {
        let flows = format!("count = 20\ncc = {{ {cc} }}");
        let (top, link) = ("duration = \"60 s\"\nwarmup = \"10 s\"", "loss = 1e-3");
        let run = Dumbbell { top, rate: "\"10 Gbit/s\"", link, flows: &flows, ..Dumbbell::PLAIN }.run();
        assert_near(group(&run, "f").loss_rate, 1e-3, 0.05, "the same losses");
        let again = group(&run, "f").retransmits as f64 / 50.0 / group(&run, "f").throughput_packets_per_s;
        assert_near(again, 1e-3, 0.05, "each mended once");
        group(&run, "f").throughput_packets_per_s
    };
    let newreno = rate("law = \"newreno\"");
    // 2.1 times where a loss takes an eighth and each acknowledgement adds a hundredth (0.08 / p against 1.31 / sqrt p).
    assert_near(
        rate("law = \"scalable\"") / newreno,
        0.01 / -libm::log1p(-0.125) / 1e-3 / (1.31 / libm::sqrt(1e-3)),
        0.15,
        "scalable",
    );
    // Two packets a round trip instead of one: sqrt 2 of the rate.
    assert!(rate("law = \"highspeed\"") / newreno > 1.0);
}

/// Data control: of two losses in a window, SACK and NewReno mend both in one recovery, NewReno in a round trip each;
/// Reno takes the second for an event of its own. None needs a timeout, and all deliver the same segments.
#[test]
fn data_control_decides_how_two_losses_are_mended() {
    // A buffer of 2 packets: slow start from a window of 40 over a line of 20 a round trip... loses in bursts.
    let mut seen_of = Vec::new();
    for recovery in ["sack", "newreno", "reno"] {
        let sender = format!("recovery = \"{recovery}\", initial_window = 20, ssthresh = 20");
        let flows = format!(
            "start = \"0 s\"\nsize = \"960 kB\"\nseries = true\ncc = {{ law = \"newreno\" }}\nsender = {{ {sender} }}"
        );
        let buffer = "\"17 packets\"";
        let text = Dumbbell { top: "duration = \"20 s\"\nsample = \"1 ms\"", buffer, flows: &flows, ..Dumbbell::PLAIN };
        let (run, seen) = text.watch();
        let first = data_at(&seen, End::Sender, 0).into_iter().filter(|t| *t == 0.0).count();
        assert_eq!(first, 20, "at once, of which two find no room: one on the line, 17 behind it");
        // The least window after those two losses, before the line is full again.
        let (time, window) = (
            crate::laboratory::numbers(&run, "flows", "time_s"),
            crate::laboratory::numbers(&run, "flows", "window_packets"),
        );
        let least = time.iter().zip(&window).filter(|(t, _)| **t < 0.3).map(|(_, w)| *w).fold(f64::INFINITY, f64::min);
        assert_eq!(distinct_segments(&seen), 1000);
        seen_of.push((recovery, least, run.flows[0].timeouts, run.flows[0].completion_s.unwrap()));
    }
    let [sack, newreno, reno] = [&seen_of[0], &seen_of[1], &seen_of[2]];
    eprintln!("{seen_of:?}");
    assert!((9.0..11.0).contains(&sack.1) && (9.0..11.0).contains(&newreno.1), "one halving of 20: {seen_of:?}");
    assert!(reno.1 < 6.5, "halved twice: {seen_of:?}");
    assert_eq!((sack.2, newreno.2), (0, 0), "{seen_of:?}");
    assert!(sack.3 <= newreno.3 && newreno.3 < reno.3, "{seen_of:?}");
}

/// Burstiness control: what is paced leaves evenly, what is clocked by acknowledgements leaves as these come, bursts
/// leave together; the rate and the queue's mean at equilibrium stay FAST's.
#[test]
fn burstiness_control_decides_when_packets_leave() {
    let shares = |sender: &str| {
        let flows =
            format!("start = \"0 s\"\ncc = {{ law = \"fast\", alpha = \"20 packets\" }}\nsender = {{ {sender} }}");
        // A faster way in than out, so that what leaves together stays together.
        let (run, seen) =
            Dumbbell { top: "duration = \"30 s\"\nwarmup = \"10 s\"", flows: &flows, ..Dumbbell::PLAIN }.watch();
        assert!(link(&run, "b").utilization > 0.999, "{sender}");
        let sent: Vec<f64> = data_at(&seen, End::Sender, 0).into_iter().filter(|t| *t > 10.0).collect();
        let together = sent.windows(2).filter(|w| w[1] - w[0] < 1e-6).count() as f64 / sent.len() as f64;
        (together, link(&run, "b").queue_mean_packets)
    };
    let (paced, paced_queue) = shares("pacing = \"law\"");
    let (clocked, clocked_queue) = shares("pacing = \"off\"");
    let (bursts, bursts_queue) = shares("pacing = \"off\", burst = \"8 packets\"");
    let (paced_bursts, _) = shares("burst = \"8 packets\"");
    assert!(paced < 0.02, "{paced}");
    assert!(clocked < 0.02, "acknowledgements come evenly here: {clocked}");
    assert!((bursts - 7.0 / 8.0).abs() < 0.03 && (paced_bursts - 7.0 / 8.0).abs() < 0.03, "{bursts} {paced_bursts}");
    assert_near(clocked_queue, paced_queue, 0.1, "the queue is alpha's");
    assert!(bursts_queue < clocked_queue, "a burst is waited for: {bursts_queue} {clocked_queue}");
}

/// A timer of whole ticks waits three of them at the least (Jacobson and Karels, 1988, appendix A), where that of RFC 6298
/// waits a round trip and next to nothing more. A window of one packet tells a loss by its timeout only: what the packets
/// that arrive leave of 200 s, one round trip each, are timeouts.
#[test]
fn a_coarse_clock_makes_every_timeout_three_ticks_at_least() {
    let waited = |sender: &str| {
        let flows = format!("cc = {{ law = \"newreno\" }}\nsender = {{ receive_window = 1, {sender} }}");
        let top = "duration = \"200 s\"\nwarmup = \"0 s\"";
        let run =
            Dumbbell { top, link: "loss = 0.02\nloss_spacing = \"even\"", flows: &flows, ..Dumbbell::PLAIN }.run();
        let flow = group(&run, "f");
        assert!(flow.timeouts > 50, "{sender}: {}", flow.timeouts);
        (200.0 - 200.0 * flow.throughput_packets_per_s * flow.rtt_mean_s.unwrap()) / flow.timeouts as f64
    };
    assert_near(waited(""), 0.2, 0.1, "the minimum RTO");
    assert_near(waited("tick = \"100 ms\""), 0.3, 0.1, "three ticks");
    assert_near(waited("tick = \"100 ms\", min_rto = \"1 s\""), 1.0, 0.1, "the minimum RTO, where it is longer");
}

/// The retransmission timer: behind a queue of 0.32 s round trips hardly vary, and the timeout of RFC 6298 with a least of
/// 0.2 s is a round trip and next to nothing more. Recovery takes one, and is cut short by a timeout. Linux adds the 0.2 s.
#[test]
fn what_the_least_timeout_bounds_decides_whether_recovery_is_a_timeout() {
    let timeouts = |sender: &str| {
        let (top, flows) = ("duration = \"60 s\"", format!("cc = {{ law = \"newreno\" }}\nsender = {{ {sender} }}"));
        let run = Dumbbell { top, buffer: "\"400 packets\"", flows: &flows, ..Dumbbell::PLAIN }.run();
        assert!(link(&run, "b").drops > 0, "{sender}");
        group(&run, "f").timeouts
    };
    assert!(timeouts("min_rto = \"200 ms\"") > 0);
    assert_eq!(timeouts("min_rto = \"200 ms\", rto = \"linux\""), 0);
    assert_eq!(timeouts("min_rto = \"1 s\""), 0, "nor where the whole of it is long enough");
}

/// A line that is down for 1.5 s under a window that never queues: timeouts 0.2, 0.4 and 0.8 s long by RFC 6298, each twice
/// the one before; by Linux 0.24 and 0.48 s, and the third comes too late.
#[test]
fn an_outage_is_timeouts_by_either_rule() {
    let timeouts = |rto: &str| {
        let rate = "[[\"0 s\", \"10 Mbit/s\"], [\"5 s\", \"0 bit/s\"], [\"6.5 s\", \"10 Mbit/s\"]]";
        let sender = format!("receive_window = \"10 packets\", rto = \"{rto}\"");
        let flows = format!("start = \"0 s\"\ncc = {{ law = \"newreno\" }}\nsender = {{ {sender} }}");
        let run = Dumbbell { top: "duration = \"6.45 s\"", rate, flows: &flows, ..Dumbbell::PLAIN }.run();
        group(&run, "f").timeouts
    };
    assert_eq!((timeouts("rfc6298"), timeouts("linux")), (3, 2));
}

/// Limited transmit (RFC 3042): with a window of three a lost segment is mended without a timeout, since duplicates
/// send what makes the third. Selective acknowledgements include it (RFC 6675, section 5, step 3), so asking for both
/// asks for nothing, and is refused.
#[test]
fn limited_transmit_saves_timeouts_of_small_windows() {
    let timeouts = |recovery: &str, limited: &str| {
        let sender = format!("recovery = \"{recovery}\", receive_window = \"4 packets\"{limited}");
        let flows = format!("count = 10\ncc = {{ law = \"newreno\" }}\nsender = {{ {sender} }}");
        let top = "duration = \"60 s\"";
        let run = Dumbbell { top, rate: "\"1 Gbit/s\"", link: "loss = 0.01", flows: &flows, ..Dumbbell::PLAIN }.run();
        group(&run, "f").timeouts as f64
    };
    for recovery in ["newreno", "reno"] {
        let (without, with) = (timeouts(recovery, ""), timeouts(recovery, ", limited_transmit = true"));
        assert!(with < without, "{recovery}: {with} {without}");
    }
    let text =
        Dumbbell { flows: "cc = { law = \"newreno\" }\nsender = { limited_transmit = true }", ..Dumbbell::PLAIN }
            .text();
    let refused = refusal(&text);
    assert!(refused.contains("limited_transmit") && refused.contains("sack"), "{refused}");
}

/// A delayed acknowledgement stands for two packets, or for one after 40 ms; growth by acknowledgements halves.
#[test]
fn a_delayed_acknowledgement_stands_for_two() {
    let count = |delayed: u32| {
        let (_, seen) = alone(
            "law = \"newreno\"",
            &format!("receive_window = \"20 packets\", delayed_ack = {delayed}"),
            "\"unlimited\"",
        );
        (data_at(&seen, End::Receiver, 0).len() as f64, acks_at(&seen, End::Receiver, 0).len() as f64)
    };
    let ((all, each), (halved, every_second)) = (count(1), count(2));
    assert_eq!(all, each);
    assert_near(every_second, halved / 2.0, 0.01, "one for two");
    // One segment alone waits for the timer.
    let flows = "start = \"0 s\"\nsize = \"960 B\"\ncc = { law = \"newreno\" }\nsender = { delayed_ack = 2 }";
    let run = Dumbbell { flows, ..Dumbbell::PLAIN }.run();
    assert!((run.flows[0].completion_s.unwrap() - (0.040_832 + 0.040)).abs() < 1e-9, "{:?}", run.flows[0].completion_s);
}

/// The timer of a delayed acknowledgement starts with the packet that waits, and an acknowledgement that goes out cancels it
/// (RFC 1122, section 4.2.3.2; RFC 5681, section 4.2). Of three segments, 0.8 ms apart, the second is acknowledged with the
/// first, and the third waits 40 ms of its own.
#[test]
fn a_delayed_acknowledgement_waits_by_a_timer_of_its_own() {
    let flows = "start = \"0 s\"\nsize = \"2880 B\"\ncc = { law = \"newreno\" }\n\
                 sender = { delayed_ack = 2, initial_window = 3 }";
    let (run, seen) = Dumbbell { flows, ..Dumbbell::PLAIN }.watch();
    assert_eq!(acks_at(&seen, End::Receiver, 0).len(), 2);
    let completion_s = run.flows[0].completion_s.unwrap();
    assert!((completion_s - (0.040_832 + 0.0016 + 0.040)).abs() < 1e-9, "{completion_s}");
}

/// A receiver's window bounds what is in flight, and so the rate, whatever the law.
#[test]
fn a_receive_window_bounds_the_rate() {
    for cc in ["newreno", "cubic", "highspeed", "scalable", "vegas", "dctcp"] {
        let flows =
            format!("start = \"0 s\"\ncc = {{ law = \"{cc}\" }}\nsender = {{ receive_window = \"20 packets\" }}");
        let top = "duration = \"20 s\"\nwarmup = \"10 s\"";
        let run = Dumbbell { top, rate: "\"1 Gbit/s\"", flows: &flows, ..Dumbbell::PLAIN }.run();
        let rate = group(&run, "f").throughput_packets_per_s;
        assert_near(rate, 20.0 / 0.040_008_3, 0.005, cc);
    }
}
