//! BBR, version 1, against what its paper and Linux say of it, packet by packet.

use crate::laboratory::{Dumbbell, assert_near, flows, group, link, numbers};
use penstock_scenario::world::Run;

/// One flow over 10 Mbit/s and 40 ms: 1250 packets a second, 51 in flight.
fn alone(top: &str, more: &str) -> Run {
    let flows =
        format!("start = \"0 s\"\nseries = true\ncc = {{ law = \"bbr\" }}\nsender = {{ initial_window = 10 }}\n{more}");
    Dumbbell { top, flows: &flows, ..Dumbbell::PLAIN }.run()
}

fn column(run: &Run, name: &str) -> Vec<f64> {
    numbers(run, "flows", name)
}

const BDP: f64 = 51.0;

/// Startup doubles the rate each round trip, so it reaches the line within log2(1250 x 0.04 / 10) + 3 = 6 round trips; the
/// bandwidth is then that of the line within 2 %, and Drain leaves no queue beyond a quantum or two.
#[test]
fn startup_reaches_the_line() {
    let run = alone("duration = \"3 s\"\nsample = \"1 ms\"\nwarmup = \"1 s\"", "");
    let (time, bandwidth) = (column(&run, "time_s"), column(&run, "bandwidth_packets_per_s"));
    let at = time.iter().zip(&bandwidth).find(|(_, b)| **b > 0.98 * 1250.0).map(|(t, _)| *t).unwrap();
    eprintln!("the line is reached after {at} s");
    // The queue of Startup makes its last round trips longer.
    assert!(at < 0.4, "{at}");
    assert!(bandwidth.iter().all(|b| *b < 1.02 * 1250.0));
    assert!(link(&run, "b").utilization > 0.97, "{}", link(&run, "b").utilization);
}

/// In Startup ceil(2.885 x 51) packets are in flight, and three quanta of three, which 28 Mbit/s have in a millisecond, in an even
/// number, and perhaps one more: 159, of which 51 are on the path. Afterwards the window bounds the queue by a
/// bandwidth-delay product, and probes by a quarter; what it holds on average is below a fifth.
#[test]
fn the_queue_is_a_bandwidth_delay_product_at_the_most() {
    let run = alone("duration = \"20 s\"\nsample = \"1 ms\"\nwarmup = \"2 s\"", "");
    let found = link(&run, "b");
    let queue = numbers(&run, "links", "queue_packets");
    let first = queue.iter().copied().fold(0.0, f64::max);
    eprintln!("Startup {first} packets; then {} mean, {} most", found.queue_mean_packets, found.queue_max_packets);
    assert!(first <= 159.0 - BDP, "{first}");
    assert!(found.queue_max_packets < BDP, "{}", found.queue_max_packets);
    assert!(found.queue_mean_packets < 0.2 * BDP, "{}", found.queue_mean_packets);
    assert_eq!(found.drops, 0);
}

/// Every ten seconds four packets are in flight for 200 ms and a round trip or two; that costs 2 % of the time.
#[test]
fn probe_rtt_takes_two_percent_of_the_time() {
    let run = alone("duration = \"62 s\"\nsample = \"10 ms\"\nwarmup = \"2 s\"", "");
    let (time, window) = (column(&run, "time_s"), column(&run, "window_packets"));
    let probes: Vec<f64> =
        (1..time.len()).filter(|at| window[*at] <= 4.0 && window[at - 1] > 4.0).map(|at| time[at]).collect();
    let lasts = window.iter().filter(|w| **w <= 4.0).count() as f64 * 0.01 / probes.len() as f64;
    eprintln!("at {probes:?} s, for {lasts} s");
    assert!((5..=6).contains(&probes.len()), "{probes:?}");
    assert!(probes.windows(2).all(|w| (10.0..10.5).contains(&(w[1] - w[0]))), "{probes:?}");
    assert!((0.2..0.32).contains(&lasts), "{lasts}");
    // Four packets a round trip in that time, and 1 % of pacing below the bandwidth, which probes make up for.
    assert!(link(&run, "b").utilization > 0.96, "{}", link(&run, "b").utilization);
}

/// The gain cycle: 1.25 of the bandwidth, then 0.75, then six phases at 1; each as long as the smallest round trip.
#[test]
fn the_gains_follow_the_cycle() {
    let run = alone("duration = \"8 s\"\nsample = \"1 ms\"\nwarmup = \"1 s\"", "");
    let (time, gain) = (column(&run, "time_s"), column(&run, "pacing_gain"));
    let ups: Vec<f64> = (1..time.len())
        .filter(|at| gain[*at] == 1.25 && gain[at - 1] != 1.25 && time[*at] > 1.0)
        .map(|at| time[at])
        .collect();
    let periods: Vec<f64> = ups.windows(2).map(|w| w[1] - w[0]).collect();
    eprintln!("{periods:?}");
    assert!(ups.len() > 15);
    // Six round trips at a gain of one, one that probes and up to one that drains, each an acknowledgement longer.
    assert!(periods.iter().all(|p| (7.0 * 0.04..9.5 * 0.04).contains(p)), "{periods:?}");
    let share =
        |g: f64| gain.iter().zip(&time).filter(|(x, t)| **x == g && **t > 1.0).count() as f64 / gain.len() as f64;
    assert!(share(1.0) > 0.55 && share(1.25) > 0.08, "{} {}", share(1.0), share(1.25));
}

/// Two flows, of which one starts 10 s later, have about the same in the end: the later one takes until both have probed the
/// round trip together. Jain's index of the rates is above 0.95.
#[test]
fn two_flows_come_together() {
    let flows_of = "count = 2\nstart = { every = \"10 s\" }\ncc = { law = \"bbr\" }\nsender = { initial_window = 10 }";
    let run = Dumbbell {
        top: "duration = \"120 s\"\nwarmup = \"60 s\"",
        flows: flows_of,
        buffer: "\"500 packets\"",
        ..Dumbbell::PLAIN
    }
    .run();
    let rates: Vec<f64> = flows(&run, "f").iter().map(|f| f.goodput_bit_per_s).collect();
    let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|r| r * r).sum::<f64>());
    let jain = sum * sum / (2.0 * squares);
    eprintln!("{rates:?}, {jain}");
    assert!(jain > 0.95, "{rates:?}");
    assert!(link(&run, "b").utilization > 0.95);
}

/// Random losses of 1 % take little from BBR, where a law that halves its window has 12 packets in flight and so a quarter of
/// the line (sqrt(1.5/p)).
#[test]
fn random_losses_take_little() {
    let rate = |law: &str, recovery: &str| {
        let flows = format!("start = \"0 s\"\ncc = {{ law = \"{law}\" }}\nsender = {{ recovery = \"{recovery}\" }}");
        let top = "duration = \"32 s\"\nwarmup = \"2 s\"";
        group(&Dumbbell { top, link: "loss = 0.01", flows: &flows, ..Dumbbell::PLAIN }.run(), "f")
            .throughput_packets_per_s
    };
    for recovery in ["sack", "rack"] {
        let (bbr, newreno) = (rate("bbr", recovery), rate("newreno", recovery));
        eprintln!("{recovery}: {bbr} and {newreno} packets a second");
        assert!(bbr > 0.9 * 1250.0 && newreno < 0.4 * 1250.0, "{recovery}: {bbr} {newreno}");
    }
}

/// The bandwidth is forgotten within ten round trips, and more is found by probes of a quarter: after a fall to a third and a
/// rise back the rate is that of the line.
#[test]
fn the_rate_follows_the_line() {
    let rate = "[[\"0 s\", \"10 Mbit/s\"], [\"10 s\", \"3 Mbit/s\"], [\"25 s\", \"10 Mbit/s\"]]";
    let flows = "start = \"0 s\"\nseries = true\ncc = { law = \"bbr\" }";
    let top = "duration = \"40 s\"\nsample = \"100 ms\"\nwarmup = \"0 s\"";
    let run = Dumbbell { top, rate, flows, ..Dumbbell::PLAIN }.run();
    let (time, bandwidth) = (column(&run, "time_s"), column(&run, "bandwidth_packets_per_s"));
    let at = |t: f64| time.iter().zip(&bandwidth).find(|(x, _)| **x >= t).map(|(_, b)| *b).unwrap();
    eprintln!("{} {} {}", at(9.0), at(20.0), at(38.0));
    assert_near(at(9.0), 1250.0, 0.03, "the line");
    assert_near(at(20.0), 375.0, 0.05, "a third of it");
    assert_near(at(38.0), 1250.0, 0.03, "the line again");
}

/// An application that pauses a fifth of the time, for more than ten round trips: the bandwidth is no less for it.
#[test]
fn what_is_short_of_data_does_not_lower_the_bandwidth() {
    let more = "on_off = { on = \"2 s\", off = \"500 ms\" }";
    let run = alone("duration = \"30 s\"\nsample = \"10 ms\"\nwarmup = \"1 s\"", more);
    let (time, bandwidth) = (column(&run, "time_s"), column(&run, "bandwidth_packets_per_s"));
    let least = time.iter().zip(&bandwidth).filter(|(t, _)| **t > 1.0).map(|(_, b)| *b).fold(f64::INFINITY, f64::min);
    assert!(least > 0.95 * 1250.0, "{least}");
    assert!(group(&run, "f").timeouts == 0);
}

/// Beside CUBIC in a buffer of half a bandwidth-delay product BBR has more than two thirds of the line (Hock, Bless and Zitterbart,
/// ICNP 2017), over hosts as Linux has them. The kernel's own had 93 % (`docs/lab-notes/kernel-tcp.md`).
#[test]
fn a_shallow_buffer_is_bbrs() {
    let sender = "sender = { profile = \"linux\" }\nstart = \"0 s\"";
    let flows = format!(
        "cc = {{ law = \"bbr\" }}\n{sender}\n[flows.g]\nfrom = \"l\"\nto = \"r\"\nrtt = \"40 ms\"\n\
         cc = {{ law = \"cubic\", hystart = true }}\n{sender}"
    );
    let top = "duration = \"60 s\"\nwarmup = \"20 s\"";
    let run = Dumbbell { top, rate: "\"20 Mbit/s\"", buffer: "\"50 packets\"", flows: &flows, ..Dumbbell::PLAIN }.run();
    let [bbr, cubic] = ["f", "g"].map(|name| group(&run, name).throughput_packets_per_s);
    eprintln!("{bbr} and {cubic} packets a second");
    assert!(bbr > 2.0 * cubic, "{bbr} {cubic}");
    assert!(link(&run, "b").utilization > 0.95);
}
