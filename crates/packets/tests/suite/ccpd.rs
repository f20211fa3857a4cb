//! CCP and CCPD in packets: the estimates against the simulator's truth, the reference's tables, and stability.

use crate::laboratory::run;
use penstock_scenario::summary::{BottleneckSummary, GroupSummary, LinkSummary};
use penstock_scenario::world::{Cells, Content, End, Run, Sighting};

/// One bottleneck `b` with flows `f`; 1538 bytes on the wire carry 1448.
fn path(rate: &str, rtt: &str, buffer: &str, duration: &str, flows: &str) -> String {
    format!(
        "format = 1\nduration = \"{duration}\"\nsample = \"100 ms\"\npacket = {{ wire = \"1538 B\", payload = \"1448 B\" }}\n\
         [links.b]\nfrom = \"l\"\nto = \"r\"\nrate = \"{rate}\"\ndelay = \"1 us\"\nbuffer = \"{buffer}\"\nduplex = true\n\
         [flows.f]\nfrom = \"l\"\nto = \"r\"\nrtt = \"{rtt}\"\nstart = \"0 s\"\nsender = {{ initial_window = 3 }}\n{flows}\n"
    )
}

fn group(run: &Run) -> &GroupSummary {
    &run.summary.whole.groups["f"]
}

fn estimates(run: &Run) -> &BottleneckSummary {
    group(run).bottleneck.as_ref().expect("the law asks for it")
}

fn link(run: &Run) -> &LinkSummary {
    &run.summary.whole.links["b"]
}

#[track_caller]
fn assert_near(is: f64, should: f64, within: f64, what: &str) {
    assert!((is / should - 1.0).abs() <= within, "{what}: {is}, not {should}");
}

/// A law that knows its bottleneck: where the queue of one flow stands by (3) if capacity and buffer are observed with an
/// error, and that it swings beyond the border of the analysis, 1.5 times the capacity for Kp = 2.
#[test]
fn errors_of_the_estimates_act_as_in_theory() {
    let queued = |c: f64, b: f64| {
        let text = path("100 Mbit/s", "24.608 ms", "400 packets", "20 s", "cc = { law = \"ccp\", kp = 2 }");
        let known = format!("initial_window = 3, bottleneck = {{ capacity = {c}, buffer = {b} }}");
        let run = run(&text.replace("initial_window = 3", &known).replace("sample", "warmup = \"5 s\"\nsample"));
        let estimates = estimates(&run);
        assert_near(estimates.capacity_packets_per_s, c * 1e8 / 12_304.0, 1e-9, "the capacity is known");
        assert_near(estimates.buffer_packets, b * 400.0, 1e-9, "the buffer is known");
        (link(&run).queue_mean_packets, link(&run).queue_sd_packets)
    };
    // 200 packets of path: x = (Kp b B - (1 + Kp) BDP) / (1 + Kp + Kp c).
    for (c, b) in [(1.0, 1.0), (1.0, 1.2), (1.2, 1.2), (0.5, 1.0)] {
        let x = (2.0 * b * 400.0 - 600.0) / (3.0 + 2.0 * c);
        let (mean, std) = queued(c, b);
        assert!((mean - x).abs() < 1.5 && std < 2.0, "{c}, {b}: {mean} +- {std} packets, not {x}");
    }
    let (_, swings) = queued(1.8, 1.2);
    assert!(swings > 10.0, "beyond the border: {swings}");
}

/// Capacity without cross traffic: within 2 %, from 10 Mbit/s to 100 Gbit/s, whatever round trip and gains. (Section
/// IV-A: it "does not depend on the rtt nor the set of parameters used"; section V: "in excess of 100 Gbps".)
#[test]
fn capacity_is_known_at_every_rate() {
    for (rate, packets_per_s) in
        [("10 Mbit/s", 10e6 / 12_304.0), ("1 Gbit/s", 1e9 / 12_304.0), ("100 Gbit/s", 1e11 / 12_304.0)]
    {
        for rtt in ["20 ms", "190 ms"] {
            for cc in ["{ law = \"ccp\", kp = 2 }", "{ law = \"ccp\", kp = 4 }", "{ law = \"ccpd\" }"] {
                let run = run(&path(rate, rtt, "150 packets", "2 s", &format!("cc = {cc}")));
                assert_near(estimates(&run).capacity_packets_per_s, packets_per_s, 0.02, &format!("{rate} {rtt} {cc}"));
            }
            // In the kernel's arithmetic, by whole nanoseconds, and where every second packet is acknowledged.
            for habit in ["arithmetic = \"fixed\"", "delayed_ack = 2"] {
                let text = path(rate, rtt, "150 packets", "2 s", "cc = { law = \"ccpd\" }");
                let run = run(&text.replace("initial_window = 3", &format!("initial_window = 3, {habit}")));
                assert_near(
                    estimates(&run).capacity_packets_per_s,
                    packets_per_s,
                    0.02,
                    &format!("{rate} {rtt} {habit}"),
                );
            }
        }
    }
}

/// With 30 % of the line taken by others, within 10 %: by packets of the same size and by small ones, evenly spaced, in
/// bursts, and from an interface of 10 Gbit/s. The least delayed pair is the one that nothing came between.
#[test]
fn capacity_is_known_beside_cross_traffic() {
    let even = "[flows.cross]\ncount = 3\nfrom = \"l\"\nto = \"r\"\nrtt = \"5 ms\"\n\
                cc = { law = \"cbr\", rate = \"10 Mbit/s\", spacing_jitter = 0.99 }";
    let bursts = "[flows.cross]\ncount = 6\nfrom = \"l\"\nto = \"r\"\nrtt = \"5 ms\"\ncc = { law = \"cbr\", rate = \"10 Mbit/s\" }\n\
                  on_off = { on = { exponential = \"50 ms\" }, off = { exponential = \"50 ms\" } }";
    for cross in [even, bursts] {
        for rtt in ["20 ms", "190 ms"] {
            for seed in 1..=3 {
                let cc = "cc = { law = \"ccpd\" }\naccess = { rate = \"10 Gbit/s\", queue = \"1000 packets\" }\n";
                let text = path("100 Mbit/s", rtt, "100 packets", "20 s", &format!("{cc}{cross}"));
                let run = run(&format!("seed = {seed}\n{text}"));
                assert_near(
                    link(&run).arrivals as f64 / 20.0,
                    0.3 * 1e8 / 12_304.0 + group(&run).throughput_packets_per_s,
                    0.1,
                    "cross traffic is 30 % of the line",
                );
                let what = format!("{rtt}, seed {seed}: {cross}");
                assert_near(estimates(&run).capacity_packets_per_s, 1e8 / 12_304.0, 0.10, &what);
            }
        }
    }
}

/// The size of the buffer is never above the truth, the packet in service included, and no more than two packets below
/// it once it has overflowed: slow start did that. (Section IV-B.)
#[test]
fn the_buffer_is_not_taken_for_larger_than_it_is() {
    for (rate, rtt) in [("50 Mbit/s", "40 ms"), ("1 Gbit/s", "20 ms"), ("100 Gbit/s", "1 ms")] {
        for buffer in [5.0, 85.0, 200.0] {
            for cc in ["{ law = \"ccp\" }", "{ law = \"ccp\", kp = 4 }", "{ law = \"ccpd\" }"] {
                let run = run(&path(rate, rtt, &format!("{buffer} packets"), "3 s", &format!("cc = {cc}")));
                assert!(link(&run).drops > 0, "slow start did not fill the buffer");
                let is = estimates(&run).buffer_packets;
                assert!((buffer - 1.0..=buffer + 1.0).contains(&is), "{rate} {rtt} {buffer} {cc}: {is}");
            }
        }
    }
}

/// The level within one packet of the packets that wait, where the average round trip stands still. (Section IV-C.)
#[test]
fn the_level_is_the_queue() {
    for (rtt, buffer, kp, kd) in [("20 ms", 400, 2, 0), ("20 ms", 400, 4, 100), ("40 ms", 1000, 2, 100)] {
        let cc = format!("cc = {{ law = \"ccpd\", kp = {kp}, kd = {kd} }}");
        let text = path("123.04 Mbit/s", rtt, &format!("{buffer} packets"), "20 s", &cc);
        let run = run(&format!("warmup = \"10 s\"\n{text}"));
        assert!(link(&run).queue_sd_packets < 1.5, "it does not stand still");
        let (level, truth) = (estimates(&run).level_mean_packets.unwrap(), link(&run).queue_mean_packets);
        assert!((level - truth).abs() <= 1.0, "{rtt} {buffer} {kp} {kd}: {level}, not {truth}");
    }
}

/// A queue of others that never empties is taken for distance: extremes of the round trip are those of the session.
/// (Section III argues that this is as it should be.) A flow with a window that nothing moves keeps 60 packets queued.
#[test]
fn a_queue_that_others_keep_is_taken_for_distance() {
    let other = "cc = { law = \"ccpd\" }\nstart = \"10 s\"\n[flows.other]\nfrom = \"l\"\nto = \"r\"\nrtt = \"20 ms\"\nstart = \"0 s\"\n\
                 cc = { law = \"newreno\" }\nsender = { receive_window = \"260 packets\", initial_window = 3 }";
    let text = path("123.04 Mbit/s", "20 ms", "400 packets", "40 s", other)
        .replace("start = \"0 s\"\nsender = { initial_window = 3 }\ncc", "sender = { initial_window = 3 }\ncc");
    let text = text.replace("\n[links", "\nwarmup = \"30 s\"\nwindows = { before = [\"5 s\", \"10 s\"] }\n[links");
    let run = run(&text);
    let before = run.summary.windows["before"].links["b"].queue_mean_packets;
    assert!((before - 60.0).abs() <= 2.0, "{before}");
    let (level, queue) = (estimates(&run).level_mean_packets.unwrap(), link(&run).queue_mean_packets);
    assert!(queue > before + 50.0, "{queue}");
    assert!((level - (queue - before)).abs() <= 3.0, "{level} of {queue}, of which {before} were there before");
}

/// Reference, tables 3a and 3g, in packets: 10000 packets/s, and the buffer as the flow itself has found it.
#[test]
fn a_flow_rests_where_the_law_does() {
    for (rtt_s, buffer) in [(0.02, 100.0), (0.02, 400.0), (0.04, 1000.0), (0.19, 600.0)] {
        for kp in [2.0, 4.0] {
            for kd in [0.0, 100.0, 1000.0] {
                let cc = format!("cc = {{ law = \"ccpd\", kp = {kp}, kd = {kd} }}");
                let rtt = format!("{} ms", rtt_s * 1e3);
                let text = path("123.04 Mbit/s", &rtt, &format!("{buffer} packets"), "60 s", &cc);
                let run = run(&format!("warmup = \"40 s\"\n{text}"));
                let (bdp, b) = (1e4 * rtt_s, estimates(&run).buffer_packets);
                let (window, queue) = if b <= (1.0 + 1.0 / kp) * bdp {
                    (kp * b / (1.0 + kp), 0.0)
                } else {
                    (kp * (b + bdp) / (1.0 + 2.0 * kp), (kp * b - (1.0 + kp) * bdp) / (1.0 + 2.0 * kp))
                };
                let what = format!("{rtt} B {b} Kp {kp} Kd {kd}");
                let is = group(&run).window_mean_packets.unwrap();
                // As in the reference's run, a packet of rounding.
                assert!((is - window).abs() <= 1.5, "{what}: window {is}, not {window}");
                let is = link(&run).queue_mean_packets;
                assert!((is - queue).abs() <= 2.0, "{what}: queue {is}, not {queue}");
            }
        }
    }
}

/// Reference, table 3k: pure slow start of 1e8 bytes at 1 Gbit/s and 20 ms, [s], by initial window, growth a round trip
/// (1.5 with every second packet acknowledged) and receive window.
#[test]
fn slow_start_takes_what_the_reference_says() {
    for (initial, law, delayed, receive, completion_s) in [
        (3, "ccpd", 1, "unlimited", 1.052),
        (3, "ccpd", 1, "1448 packets", 1.153),
        (3, "newreno", 2, "unlimited", 1.161),
        (3, "newreno", 2, "1448 packets", 1.260),
        (3, "ccpd", 2, "unlimited", 1.161),
        (3, "ccpd", 2, "1448 packets", 1.260),
        (10, "ccpd", 1, "unlimited", 1.018),
        (10, "ccpd", 1, "1448 packets", 1.119),
    ] {
        let flows = format!("cc = {{ law = \"{law}\" }}\nsize = \"100 MB\"");
        let text = path("1 Gbit/s", "20 ms", "unlimited", "5 s", &flows).replace(
            "initial_window = 3",
            &format!("initial_window = {initial}, delayed_ack = {delayed}, receive_window = \"{receive}\""),
        );
        let run = run(&text);
        let is = group(&run).transfers.as_ref().unwrap().completion_mean_s.unwrap();
        // The reference counts rounds. The odd packet of a round is acknowledged with the first of the next one.
        let within = if delayed == 2 { 0.03 } else { 0.02 };
        assert_near(is, completion_s, within, &format!("{initial} {law} {delayed} {receive}"));
    }
}

/// A loss takes half of NewReno's window, three tenths of CUBIC's, and nothing of CCP's and CCPD's. (Section VI-C,
/// figure 7.)
#[test]
fn a_random_loss_leaves_the_window() {
    for (law, left) in [("newreno", 0.5), ("cubic", 0.7), ("ccp", 1.0), ("ccpd", 1.0)] {
        let text = path("1 Gbit/s", "180 ms", "100 packets", "60 s", &format!("cc = {{ law = \"{law}\" }}"));
        // After slow start, whose overshoot is no random loss.
        let run = run(&format!("warmup = \"20 s\"\n{}", text.replace("duplex", "loss = 1e-3\nduplex")));
        assert!(group(&run).retransmits > 5, "{law}: {}", group(&run).retransmits);
        // A retransmission that is lost too is a cut that leaves what (3) allows: one in a thousand of CCP's cuts.
        assert_near(group(&run).window_left_by_cuts.unwrap(), left, 1e-3, law);
    }
}

/// Section V: recovery keeps the window and no estimate moves, although retransmissions are under way and round trips
/// come back stretched: the longest one that counts is still the buffer's.
#[test]
fn recovery_contaminates_no_estimate() {
    for recovery in ["sack", "newreno"] {
        let text = path("50 Mbit/s", "40 ms", "60 packets", "30 s", "cc = { law = \"ccpd\" }")
            .replace("duplex", "loss = 0.01\nduplex")
            .replace("initial_window = 3", &format!("initial_window = 3, recovery = \"{recovery}\""));
        let run = run(&text);
        assert!(group(&run).retransmits > 100, "{recovery}: {}", group(&run).retransmits);
        let estimates = estimates(&run);
        assert!(estimates.buffer_packets <= 61.0, "{recovery}: {}", estimates.buffer_packets);
        assert_near(estimates.capacity_packets_per_s, 5e7 / 12_304.0, 0.02, recovery);
    }
}

/// The paper's theorem in packets: over gains, round trips and capacities one session settles, which is where its
/// window moves by a few packets at the most.
#[test]
fn one_session_comes_to_rest_whatever_its_gains() {
    for kp in [1.0, 2.0, 4.0, 20.0] {
        for kd in [0.0, 100.0, 1000.0] {
            for (rate, rtt_s, bdp) in
                [("12.304 Mbit/s", 0.1, 100.0), ("123.04 Mbit/s", 0.02, 200.0), ("24.608 Mbit/s", 0.19, 380.0)]
            {
                let buffer = libm::round(2.0 * (1.0 + 1.0 / kp) * bdp);
                let cc = format!("cc = {{ law = \"ccpd\", kp = {kp}, kd = {kd} }}");
                let rtt = format!("{} ms", rtt_s * 1e3);
                let text = path(rate, &rtt, &format!("{buffer} packets"), "60 s", &cc);
                let run = run(&format!("warmup = \"40 s\"\n{text}"));
                let sd = group(&run).window_sd_packets.unwrap();
                assert!(sd < 3.0, "Kp {kp}, Kd {kd}, {rate}, {rtt_s} s: {sd} packets");
                assert_eq!(link(&run).drops, 0);
            }
        }
    }
}

/// The estimates stand in the series beside the simulator's truth.
#[test]
fn estimates_are_recorded() {
    let run = run(&path("50 Mbit/s", "40 ms", "60 packets", "3 s", "cc = { law = \"ccpd\" }\nseries = true"));
    let flows = run.series.iter().find(|table| table.name == "flows").unwrap();
    for name in ["estimated_capacity_packets_per_s", "estimated_buffer_packets", "estimated_level_packets"] {
        let column = flows.columns.iter().find(|column| column.name == name).unwrap_or_else(|| panic!("no {name}"));
        let Cells::Number(values) = &column.values else { panic!("{name} are numbers") };
        assert!(values.iter().any(|x| *x > 10.0), "{name}: {values:?}");
    }
}

/// Round trips that a sender takes for too long are taken for buffer, (5), and nothing is held up by them: packets take
/// what the path takes. 10000 packets/s for up to 20 ms are 200 packets, of which (3) sends two thirds.
#[test]
fn errors_of_samples_are_taken_for_buffer() {
    let noise = "initial_window = 3, rtt_noise = { probability = 0.01, upto = \"20 ms\" }";
    let text = path("123.04 Mbit/s", "40 ms", "50 packets", "40 s", "cc = { law = \"ccp\" }");
    let run = run(&format!("warmup = \"20 s\"\n{}", text.replace("initial_window = 3", noise)));
    let buffer = estimates(&run).buffer_packets;
    assert!((190.0..=251.0).contains(&buffer), "{buffer}");
    assert_near(group(&run).window_mean_packets.unwrap(), buffer * 2.0 / 3.0, 0.03, "the window");
    assert_near(group(&run).rtt_mean_s.unwrap(), 0.04, 0.01, "the round trip");
    assert_eq!(link(&run).drops, 0);
}

/// (3) as printed, by acknowledgements and with Kd in microseconds, comes to rest near where the law does: the reference,
/// table 3h, has 402 packets for B = 600 and Kd = 100. A window that is allowed and cannot be sent is not part of what was
/// committed, or each change is answered by a larger one, until the window is no number. With Kd = 1000 a packet moves the
/// window by as much as is in flight, so that it swings, between bounds.
#[test]
fn the_explicit_form_stays_within_bounds() {
    for (kd, rests) in [(100.0, true), (1000.0, false)] {
        let cc = format!(
            "cc = {{ law = \"ccpd\", kd = {kd}, kd_unit = \"us\", derivative_span = \"ack\", window_form = \"explicit\" }}"
        );
        let text = path("1 Gbit/s", "40 ms", "200 packets", "20 s", &cc);
        let text = text.replace("initial_window = 3", "initial_window = 3, receive_window = \"2896 packets\"");
        let run = run(&format!("warmup = \"10 s\"\n{text}"));
        let in_flight = group(&run).throughput_packets_per_s * 0.04;
        if rests {
            assert_near(in_flight, estimates(&run).buffer_packets * 2.0 / 3.0, 0.05, "what is in flight");
        }
        assert!(group(&run).window_mean_packets.unwrap() < 2896.0, "Kd {kd}");
    }
}

/// After a timeout slow start grows by one for each acknowledgement, whatever it covers (RFC 3465, section 2.3). The first of
/// 100 packets is lost, and so is its retransmission, the 101st; the third fills the hole, and its acknowledgement is for all
/// 100. Two are sent in answer, not half of a hundred.
#[test]
fn a_hole_that_a_timeout_fills_lets_go_two_packets() {
    let text = path("1 Gbit/s", "20 ms", "1000 packets", "2 s", "cc = { law = \"ccp\" }");
    let options = "initial_window = 100, receive_window = \"100 packets\"";
    let second = "lose_transmission = 1\nduplex = true\n[links.c]\nfrom = \"r\"\nto = \"s\"\nrate = \"1 Gbit/s\"\n\
                  delay = \"1 us\"\nbuffer = \"1000 packets\"\nlose_transmission = 101\nduplex = true\n";
    let text = text.replace("initial_window = 3", options).replace("duplex = true\n", second);
    let (run, seen) =
        crate::laboratory::watch(&text.replace("from = \"l\"\nto = \"r\"\nrtt", "from = \"l\"\nto = \"s\"\nrtt"));
    assert_eq!(run.flows[0].timeouts, 1);
    let acked = seen.iter().find(|s| s.end == End::Sender && matches!(s.content, Content::Ack { next: 100, .. }));
    let at = acked.expect("the hole is filled").at;
    let is_next = |s: &&Sighting| s.end == End::Sender && matches!(s.content, Content::Data { .. }) && s.at >= at;
    let within = |s: &&Sighting| s.at.0 < at.0 + 20_000_000_000;
    assert_eq!(seen.iter().filter(is_next).filter(within).count(), 2);
}
