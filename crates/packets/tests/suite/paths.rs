//! Paths: what a line carries, what waits in front of it, what is lost and delayed on the way.

use std::fmt::Write;

use crate::laboratory::{Dumbbell, acks_at, assert_near, data_at, group, link, numbers, run, run_scenario, with_files};
use penstock_scenario::world::{Content, End};

/// A link follows its schedule of rates to the packet, through an outage, and its utilization is of what there was.
#[test]
fn a_link_follows_its_schedule() {
    let rate = "[[\"0 s\", \"8 Mbit/s\"], [\"5 s\", \"2 Mbit/s\"], [\"8 s\", \"0 bit/s\"], [\"10 s\", \"4 Mbit/s\"]]";
    let flows = "start = \"0 s\"\ncc = { law = \"cbr\", rate = \"20 Mbit/s\" }";
    let (run, seen) = Dumbbell { rate, buffer: "\"100 packets\"", flows, ..Dumbbell::PLAIN }.watch();
    let got = data_at(&seen, End::Receiver, 0);
    let propagation = 0.040 - 0.005; // Nobody acknowledges, yet the way back has its 5 ms.
    let between = |from: f64, to: f64| {
        got.iter().filter(|t| (from + propagation + 1e-9..to + propagation + 1e-9).contains(*t)).count()
    };
    // A packet that a change finds half sent is finished at the new rate.
    assert_eq!((between(0.0, 5.0), between(5.0, 8.0), between(8.0, 10.0)), (5000, 750, 0));
    assert_near(between(10.0, 20.0) as f64, (10.0 - propagation) * 500.0, 0.001, "what has arrived by the end");
    assert!(link(&run, "b").utilization > 0.9999, "{}", link(&run, "b").utilization);
}

/// mahimahi's format: as many packets of 1500 B leave as the trace has opportunities, period after period.
#[test]
fn a_trace_gives_its_opportunities() {
    // 3 in the first millisecond, then a gap, 9 in each 50 ms.
    let trace = |_: &str| Ok("0\n0\n1\n1\n10\n10\n20\n49\n50\n".to_owned());
    let text = "format = 1\nduration = \"10 s\"\npacket = \"1500 B\"\n[links.b]\nfrom = \"l\"\nto = \"r\"\nrate = { trace = \"t\" }\ndelay = \"5 ms\"\nbuffer = \"50 packets\"\n\
                [flows.f]\nfrom = \"l\"\nto = \"r\"\nrtt = \"10 ms\"\nstart = \"0 s\"\ncc = { law = \"cbr\", rate = \"20 Mbit/s\" }\n";
    let run = run_scenario(&with_files(text, trace));
    let departures = link(&run, "b").departures as i64;
    assert!((departures - 200 * 9).abs() <= 3, "{departures}");
    assert_near(link(&run, "b").throughput_bit_per_s, 9.0 * 12_000.0 / 0.05, 0.005, "rate");
    // Half of the packets' size leaves twice as many.
    let halves = text.replace("packet = \"1500 B\"", "packet = \"750 B\"");
    let run = run_scenario(&with_files(&halves, trace));
    assert!((link(&run, "b").departures as i64 - 400 * 9).abs() <= 6, "{}", link(&run, "b").departures);
}

/// Recorded rates are the schedule of them.
#[test]
fn a_file_of_rates_is_a_schedule() {
    let rates = |_: &str| Ok("time,rate\n0,8e6\n5,2e6\n8,0\n10,4e6\n".to_owned());
    let of = |rate: &str| {
        let text = Dumbbell { rate, buffer: "\"100 packets\"", ..Dumbbell::PLAIN }.text();
        run_scenario(&with_files(&text, rates)).summary
    };
    let schedule =
        of("[[\"0 s\", \"8 Mbit/s\"], [\"5 s\", \"2 Mbit/s\"], [\"8 s\", \"0 bit/s\"], [\"10 s\", \"4 Mbit/s\"]]");
    assert_eq!(of("{ trace = \"rates.csv\", format = \"csv\" }"), schedule);
    assert_ne!(of("\"8 Mbit/s\""), schedule);
}

/// A buffer in packets, in bytes, in bandwidth-delay products and in time holds just that, beside the packet on the line.
#[test]
fn a_buffer_holds_what_it_says() {
    let flows = "start = \"0 s\"\ncc = { law = \"cbr\", rate = \"11 Mbit/s\" }";
    // 1 bdp is 10 Mbit/s times 40 ms: 50 packets of 1000 B.
    for (buffer, packets) in
        [("7 packets", 7.0), ("7999 B", 7.0), ("8 kB", 8.0), ("1 bdp", 50.0), ("0.5 bdp", 25.0), ("8 ms", 10.0)]
    {
        let buffer = format!("\"{buffer}\"");
        let run = Dumbbell { buffer: &buffer, flows, ..Dumbbell::PLAIN }.run();
        let b = link(&run, "b");
        assert_eq!(b.queue_max_packets, packets, "{buffer}");
        // A buffer that is always full and one packet on the line: the wait of the last place.
        assert_near(b.queueing_delay_p99_s.unwrap(), packets * 0.0008, 0.03, &buffer);
        assert_near(group(&run, "f").loss_rate, 1.0 / 11.0, 0.06, &buffer);
    }
}

/// Random loss has its rate, is independent from packet to packet, and is not the queue's doing.
#[test]
fn random_loss_is_random() {
    let flows = "start = \"0 s\"\ncc = { law = \"cbr\", rate = \"8 Mbit/s\" }";
    let (run, seen) = Dumbbell { top: "duration = \"100 s\"", link: "loss = 0.02", flows, ..Dumbbell::PLAIN }.watch();
    let (sent, got) = (data_at(&seen, End::Sender, 0).len() as f64, data_at(&seen, End::Receiver, 0));
    assert_near(1.0 - got.len() as f64 / sent, 0.02, 0.06, "2000 of 100,000, three standard deviations");
    // Gaps of one packet lost follow each other as often as independence says: 2 % of losses are followed by another.
    let long = got.windows(2).filter(|w| w[1] - w[0] > 0.0025).count() as f64;
    let losses = sent - got.len() as f64;
    assert_near(long / losses, 0.02 * 0.98, 0.5, "runs of two and more");
    assert_eq!(link(&run, "b").queue_max_packets, 0.0);
    assert!(((link(&run, "b").drops as f64) - losses).abs() <= 40.0);
}

/// A route of four links: delays add up, each line takes its time, each queue is its own; `via` takes another way.
#[test]
fn a_route_adds_up() {
    let mut text = "format = 1\nduration = \"10 s\"\npacket = \"1000 B\"\n[defaults.links]\nbuffer = \"unlimited\"\nduplex = true\n".to_owned();
    for (name, from, to, rate, delay) in [
        ("ab", "a", "b", 10, 1),
        ("bc", "b", "c", 20, 2),
        ("cd", "c", "d", 40, 4),
        ("de", "d", "e", 80, 8),
        ("ae", "a", "e", 10, 500),
    ] {
        write!(
            text,
            "[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\n"
        )
        .expect("a text takes it");
    }
    let flow = |name: &str, more: &str| {
        format!(
            "[flows.{name}]\nfrom = \"a\"\nto = \"e\"\nstart = \"0 s\"\nsize = \"960 B\"\ncc = {{ law = \"newreno\" }}\n{more}\n"
        )
    };
    text += &flow("short", "");
    text += &flow("long", "start = \"2 s\"\nvia = [\"ab\", \"bc\", \"cd\", \"de\"]").replace("start = \"0 s\"\n", "");
    let run = run(&text);
    // The fewest links: there and back over `ae`.
    let line = |mbit: f64| (8000.0 + 320.0) / (mbit * 1e6);
    let took = |name: &str| crate::laboratory::flows(&run, name)[0].completion_s.unwrap();
    assert!((took("short") - (1.0 + line(10.0))).abs() < 1e-9, "{}", took("short"));
    // There over four, back over one, the shortest.
    let there: f64 = [10.0, 20.0, 40.0, 80.0].iter().map(|rate| 8000.0 / (rate * 1e6)).sum();
    let long = 0.015 + there + 0.5 + 320.0 / 10e6;
    assert!((took("long") - long).abs() < 1e-9, "{} {long}", took("long"));
    for name in ["ab", "bc", "cd", "de"] {
        assert_eq!((link(&run, name).departures, link(&run, &format!("{name}/back")).departures), (1, 0), "{name}");
    }
}

/// An interface of its own for each flow: its rate bounds the flow, its queue loses what does not fit, and packets come
/// to the link spaced by it.
#[test]
fn an_interface_bounds_its_flow() {
    let flows = "count = 3\nstart = \"0 s\"\naccess = { rate = \"2 Mbit/s\", queue = \"20 packets\" }\ncc = { law = \"newreno\" }";
    let top = "duration = \"40 s\"\nwarmup = \"10 s\"";
    let (run, seen) = Dumbbell { top, rate: "\"100 Mbit/s\"", flows, ..Dumbbell::PLAIN }.watch();
    for flow in crate::laboratory::flows(&run, "f") {
        assert_near(flow.throughput_packets_per_s, 250.0, 0.005, "2 Mbit/s");
        assert!(flow.loss_rate > 0.0 && flow.retransmits > 0);
        // 40 ms, and up to 21 packets of 4 ms.
        let rtt = flow.rtt_mean_s.unwrap();
        assert!((0.060..0.125).contains(&rtt), "{rtt}");
    }
    assert_eq!(link(&run, "b").drops, 0, "lost before it");
    let got = data_at(&seen, End::Receiver, 1);
    assert!(got.windows(2).all(|w| w[1] - w[0] > 0.004 - 1e-9), "one after the other");
}

/// A queue that holds back instead: the same rate and the same room, and nothing is lost. What the window would allow waits
/// in the sender, so that no round trip is longer than the queue makes it.
#[test]
fn an_interface_that_holds_back_loses_nothing() {
    let flows = "count = 3\nstart = \"0 s\"\naccess = { rate = \"2 Mbit/s\", queue = \"20 packets\", full = \"wait\" }\ncc = { law = \"newreno\" }";
    let top = "duration = \"40 s\"\nwarmup = \"10 s\"";
    let run = Dumbbell { top, rate: "\"100 Mbit/s\"", flows, ..Dumbbell::PLAIN }.run();
    for flow in crate::laboratory::flows(&run, "f") {
        assert_near(flow.throughput_packets_per_s, 250.0, 0.001, "2 Mbit/s");
        assert_eq!((flow.loss_rate, flow.retransmits, flow.timeouts), (0.0, 0, 0));
        // A full queue of 20 packets of 4 ms before each, and its own 4 ms.
        assert_near(flow.rtt_mean_s.unwrap(), 0.040 + 21.0 * 0.004, 0.01, "round trip");
        assert!(flow.window_mean_packets.unwrap() > 1000.0, "it grows unanswered: {:?}", flow.window_mean_packets);
    }
}

/// Jitter delays each packet by a draw, and none overtakes another: no duplicate, no retransmission.
#[test]
fn jitter_keeps_the_order() {
    let flows = "start = \"0 s\"\njitter = { uniform = [\"1 ms\", \"5 ms\"] }\ncc = { law = \"newreno\" }\nsender = { receive_window = \"30 packets\" }";
    let (run, seen) = Dumbbell { rate: "\"1 Gbit/s\"", flows, ..Dumbbell::PLAIN }.watch();
    let flow = &run.flows[0];
    assert_eq!((flow.retransmits, flow.timeouts), (0, 0));
    assert!(flow.rtt_min_s.unwrap() >= 0.041 && flow.rtt_mean_s.unwrap() < 0.0455, "{:?}", flow.rtt_mean_s);
    // Order makes a packet wait for those before it: above the mean draw of 3 ms, below the largest.
    assert!((0.043..0.0451).contains(&flow.rtt_mean_s.unwrap()), "{:?}", flow.rtt_mean_s);
    let heard = seen.iter().filter(|s| s.end == End::Sender);
    let next: Vec<u64> =
        heard.filter_map(|s| if let Content::Ack { next, .. } = s.content { Some(next) } else { None }).collect();
    assert!(next.is_sorted(), "acknowledgements grow, and none is a duplicate");
    // Alone, a packet waits for its own draw only: uniform between the two.
    let flows = "count = 2000\nstart = { uniform = [\"0 s\", \"19 s\"] }\nsize = \"960 B\"\njitter = { uniform = [\"1 ms\", \"5 ms\"] }\ncc = { law = \"newreno\" }";
    let run = Dumbbell { rate: "\"1 Gbit/s\"", flows, ..Dumbbell::PLAIN }.run();
    let took = numbers(&run, "transfers", "completion_s");
    let mean = took.iter().sum::<f64>() / took.len() as f64;
    assert!((mean - 0.040_008_3 - 0.003).abs() < 0.0001, "{mean}");
    let least = took.iter().copied().fold(1.0, f64::min);
    let most = took.iter().copied().fold(0.0, f64::max);
    assert!((least - 0.041).abs() < 0.0001 && (most - 0.045).abs() < 0.0001, "{least} {most}");
}

/// Of acknowledgements a share comes late, those behind wait, and data are not delayed.
#[test]
fn acknowledgements_come_late() {
    let flows = "start = \"0 s\"\nack_jitter = { probability = 0.01, uniform = [\"10 ms\", \"20 ms\"] }\ncc = { law = \"newreno\" }\nsender = { receive_window = \"30 packets\" }";
    let top = "duration = \"100 s\"";
    let (run, seen) = Dumbbell { top, rate: "\"1 Gbit/s\"", flows, ..Dumbbell::PLAIN }.watch();
    let (out, back) = (acks_at(&seen, End::Receiver, 0), acks_at(&seen, End::Sender, 0));
    let late: Vec<f64> = back.iter().zip(&out).map(|(b, o)| b - o - 0.005 - 32e-8).collect();
    assert!(late.iter().all(|t| (-1e-6..0.0201).contains(t)), "none is lost, none overtakes");
    // A late one begins where the one before was in time.
    let begins = late.windows(2).filter(|w| w[0] < 1e-6 && w[1] > 1e-3).count() as f64;
    let in_time = late.iter().filter(|t| **t < 1e-6).count() as f64;
    assert_near(begins / in_time, 0.01, 0.15, "one in a hundred");
    assert_eq!((run.flows[0].retransmits, run.flows[0].timeouts), (0, 0));
    let (sent, got) = (data_at(&seen, End::Sender, 0), data_at(&seen, End::Receiver, 0));
    assert!(got.iter().zip(&sent).all(|(g, s)| g - s < 0.0355), "data take what they took");
}

/// Segments that leave together reach the line together, and the line spaces them.
#[test]
fn bursts_leave_together() {
    for burst in [1, 4, 16] {
        let flows = format!(
            "start = \"0 s\"\ncc = {{ law = \"newreno\" }}\nsender = {{ burst = \"{burst} packets\", receive_window = \"64 packets\" }}"
        );
        let (run, seen) = Dumbbell { rate: "\"100 Mbit/s\"", flows: &flows, ..Dumbbell::PLAIN }.watch();
        let sent: Vec<f64> = data_at(&seen, End::Sender, 0).into_iter().filter(|t| *t > 5.0).collect();
        let mut runs = vec![1usize];
        for gap in sent.windows(2) {
            if gap[1] - gap[0] < 1e-9 { *runs.last_mut().unwrap() += 1 } else { runs.push(1) }
        }
        runs.pop();
        let common = runs.iter().filter(|n| **n == burst).count() as f64 / runs.len() as f64;
        assert!(common > 0.9, "{burst}: {common}");
        assert_near(
            group(&run, "f").throughput_packets_per_s,
            64.0 / 0.0401,
            0.25,
            "the rate is the window's, less waiting",
        );
    }
}
