//! A run in steps: the bits of a run at one go, rounds as laws hear of them, and laws whose state is set from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use penstock_law::quantity::Time;
use penstock_packets::Simulation;
use penstock_scenario::world::RunError;

use crate::laboratory::{run_scenario, scenario};

/// Losses, a short buffer, flows that pause and start late, timers of recovery and of laws.
fn lossy(recovery: &str, law: &str) -> String {
    format!(
        r#"
format = 1
duration = "4 s"
warmup = "1 s"
sample = "100 ms"
[links.b]
from = "l"
to = "r"
rate = "10 Mbit/s"
delay = "5 ms"
duplex = true
buffer = "20 packets"
loss = 0.01
[flows.there]
count = 2
from = "l"
to = "r"
rtt = {{ spread = ["30 ms", "90 ms"] }}
start = {{ uniform = ["0 s", "1 s"] }}
cc = {{ law = "{law}" }}
sender = {{ recovery = "{recovery}" }}
series = true
[flows.back]
from = "r"
to = "l"
rtt = "40 ms"
size = "30 kB"
idle = "300 ms"
cc = {{ law = "newreno" }}
sender = {{ delayed_ack = 2 }}
"#
    )
}

/// Where it stands still leaves no trace, whatever the steps: spans of time, also of no time, and rounds.
#[test]
fn steps_change_no_bit() {
    for (recovery, law) in [("sack", "newreno"), ("newreno", "fast"), ("rack", "cubic"), ("sack", "bbr")] {
        let law = if law == "fast" { "fast\", alpha = \"10 packets" } else { law };
        let scenario = scenario(&lossy(recovery, law));
        let whole = run_scenario(&scenario);
        for steps in 0..3 {
            let mut run = Simulation::new(scenario.clone()).unwrap();
            let mut count = 0_u64;
            while !run.is_over() {
                match steps {
                    0 => run.run_until(run.now() + Time::from_seconds(0.007)).unwrap(),
                    1 => run.run_round(&[0, 1]).unwrap(),
                    // Sample times, and times that are over.
                    _ => run.run_until(Time::from_seconds(0.05 * count.saturating_sub(1) as f64)).unwrap(),
                }
                count += 1;
                assert!(count < 2000, "it comes to its end");
            }
            // BBR asks for deliveries and hears of no rounds; of its flows timeouts alone end one.
            assert!(count > if law == "bbr" { 2 } else { 20 }, "{law}: {count} steps");
            // Numbers that nothing applies to differ from themselves.
            let (run, whole) = (format!("{:?}", run.finish().unwrap()), format!("{whole:?}"));
            assert!(run == whole, "{recovery}, {law}: steps {steps}");
        }
    }
}

fn path(more: &str) -> String {
    format!(
        r#"
format = 1
duration = "5 s"
warmup = "1 s"
[links.b]
from = "l"
to = "r"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "1000 packets"
[flows.f]
from = "l"
to = "r"
rtt = "20 ms"
cc = {{ law = "newreno" }}
{more}
"#
    )
}

/// A round ends when what was sent after the one before is acknowledged: on a path without a queue after the path's round
/// trip and the packet's time on the line, with a few packets before it there.
#[test]
fn a_round_takes_a_round_trip() {
    let mut run = Simulation::new(scenario(&path("sender = { initial_window = 4, ssthresh = 4 }"))).unwrap();
    assert_eq!((run.now(), run.flows(), run.flows_of(0)), (Time::ZERO, 1, 0..1));
    let mut ends = Vec::new();
    for _ in 0..10 {
        run.run_round(&[0]).unwrap();
        ends.push(run.now());
    }
    for pair in ends.windows(2) {
        // One packet of 1500 B takes 1.2 ms.
        let round_s = (pair[1] - pair[0]).seconds();
        assert!((0.0211..0.0213 + 0.0024).contains(&round_s), "{round_s}");
    }
    let counters = run.counters(0);
    assert_eq!(counters.lost_packets + counters.timeouts + counters.congestion_events, 0);
    // Equation (3) of RFC 5681 adds a packet a round, less what its whole acknowledgements miss of a window's fraction.
    assert!((4.0 + 9.0 * 0.8..=14.0).contains(&counters.window_packets), "{}", counters.window_packets);
    assert_eq!(counters.sent_packets, counters.acknowledged_packets + counters.in_flight_packets);
    let mean_s = counters.rtt_sum_s / counters.rtts as f64;
    assert!((0.0212..0.0212 + 0.012).contains(&mean_s), "{mean_s}");
}

/// Data count as they come, in order or not. So in no step more comes than the line carries, though a packet that was sent again
/// lets all behind it go at once.
#[test]
fn data_are_received_as_fast_as_the_line_carries_them() {
    let mut run = Simulation::new(scenario(&lossy("sack", "newreno"))).unwrap();
    let (mut before, mut most_in_order, mut again) = ([[0; 2]; 2], 0, 0);
    while !run.is_over() {
        run.run_until(run.now() + Time::from_seconds(0.02)).unwrap();
        let all = [run.counters(0), run.counters(1)];
        let now = all.map(|flow| [flow.received.0, flow.delivered.0]);
        for (now, before) in now.iter().zip(before) {
            let [received, in_order] = [now[0] - before[0], now[1] - before[1]];
            // 20 ms of 10 Mbit/s, and the packet that was under way.
            assert!(received <= 25_000 + 1_500 && now[0] >= now[1], "{received}");
            most_in_order = u64::max(most_in_order, in_order);
        }
        before = now;
        again = all.iter().map(|flow| flow.resent_packets).sum();
    }
    assert!(again > 10 && most_in_order > 26_500, "{again} {most_in_order}");
}

/// A step ends where the question is answered with no, and that is soon.
#[test]
fn a_step_ends_where_nobody_waits_for_it() {
    let scenario = scenario(&path("").replace("duration = \"5 s\"", "duration = \"10000 s\""));
    let asked = Arc::new(AtomicU64::new(0));
    let mut run = Simulation::new(scenario).unwrap();
    let counts = Arc::clone(&asked);
    run.stop_unless(Arc::new(move || counts.fetch_add(1, Ordering::Relaxed) < 3));
    assert!(matches!(run.run_until(Time::NEVER), Err(RunError::Stopped)));
    assert_eq!(asked.load(Ordering::Relaxed), 4);
    assert!(!run.is_over() && run.now() < Time::from_seconds(1000.0), "{:?}", run.now());
}

/// A flow that nobody lets send does not hold up the others' rounds, and alone it ends with the run.
#[test]
fn a_flow_without_data_ends_no_round() {
    let text = path(
        "start = \"0 s\"\nsize = \"15 kB\"\n[flows.g]\nstart = \"0 s\"\nfrom = \"l\"\nto = \"r\"\nrtt = \"20 ms\"\ncc = { law = \"newreno\" }\n\
                     sender = { receive_window = \"30 packets\" }",
    );
    let mut run = Simulation::new(scenario(&text)).unwrap();
    // From here the first round is one that has begun.
    run.run_until(Time::from_seconds(1.0)).unwrap();
    run.run_round(&[0, 1]).unwrap();
    for _ in 0..5 {
        let before = run.now();
        run.run_round(&[0, 1]).unwrap();
        assert!((run.now() - before).seconds() > 0.02);
    }
    run.run_round(&[0]).unwrap();
    assert!(run.is_over());
    let at = run.now();
    run.run_round(&[0]).unwrap();
    run.run_until(Time::NEVER).unwrap();
    assert_eq!(run.now(), at);
}

/// A flow that has not begun holds up nobody's rounds, and its own when it has.
#[test]
fn a_flow_that_begins_late_ends_no_round_before() {
    let text = path(
        "start = \"0 s\"\nsender = { receive_window = \"10 packets\" }\n[flows.g]\nstart = \"2 s\"\nfrom = \"l\"\nto = \"r\"\n\
                     rtt = \"100 ms\"\ncc = { law = \"newreno\" }\nsender = { receive_window = \"10 packets\" }",
    );
    let mut run = Simulation::new(scenario(&text)).unwrap();
    run.run_round(&[0, 1]).unwrap();
    assert!(run.now() < Time::from_seconds(0.5), "{:?}", run.now());
    while run.now() < Time::from_seconds(2.5) {
        run.run_round(&[0, 1]).unwrap();
    }
    // Now the rounds of both are waited for: in five steps the later flow ends five rounds.
    let before = run.now();
    for _ in 0..5 {
        run.run_round(&[0, 1]).unwrap();
    }
    assert!((run.now() - before).seconds() > 4.0 * 0.1);
    // It waits for the one that begins where that is alone.
    let mut run = Simulation::new(scenario(&text)).unwrap();
    run.run_round(&[1]).unwrap();
    assert!(run.now() > Time::from_seconds(2.0), "{:?}", run.now());
}

/// Little's law: a window above the bandwidth-delay product fills the line, and what is above it waits. The window is set before
/// the start, while packets are under way, and again.
#[test]
fn a_window_from_outside_is_the_window() {
    let mut run = Simulation::new(scenario(&path("start = \"500 ms\"\nstop = \"4500 ms\""))).unwrap();
    let numbers = |run: &mut Simulation| {
        let mut numbers = Vec::new();
        run.steer(0, |number| numbers.push(*number));
        numbers
    };
    let window = |run: &mut Simulation, packets: f64| {
        // Above ssthresh newreno grows by little; each step sets it back.
        let mut at = 0;
        run.steer(0, |number| {
            *number = if at == 0 { packets } else { 2.0 };
            at += 1;
        });
    };
    window(&mut run, 50.0);
    run.run_until(Time::from_seconds(0.5001)).unwrap();
    assert_eq!(run.counters(0).sent_packets, 50, "they leave at once");
    for packets in [50.0, 100.0, 30.0] {
        for step in 0..100 {
            window(&mut run, packets);
            if step == 50 {
                assert_eq!(run.counters(0).window_packets, packets);
            }
            run.run_until(run.now() + Time::from_seconds(0.01)).unwrap();
        }
        let before = run.counters(0);
        window(&mut run, packets);
        run.run_until(run.now() + Time::from_seconds(0.02)).unwrap();
        let after = run.counters(0);
        // 1.2 ms a packet: the round trip is the window times that.
        let mean = (after.rtt_sum_s - before.rtt_sum_s) / (after.rtts - before.rtts) as f64;
        assert!((mean - packets * 0.0012).abs() < 0.003, "{packets}: {mean}");
    }
    assert_eq!(numbers(&mut run).len(), 2, "the window and ssthresh");
    let run = run.finish().unwrap();
    assert!(run.summary.whole.links["b"].utilization > 0.8);
}

/// An output that is no valid number ends the run, as if the law had produced it.
#[test]
fn a_window_that_is_no_number_is_an_error() {
    for wrong in [f64::NAN, f64::INFINITY, -1.0] {
        for start in ["0 s", "2 s"] {
            let mut run = Simulation::new(scenario(&path(&format!("start = \"{start}\"")))).unwrap();
            run.run_until(Time::from_seconds(1.0)).unwrap();
            run.steer(0, |number| *number = wrong);
            let error = run.run_until(Time::from_seconds(2.0)).unwrap_err();
            assert!(matches!(error, RunError::Law { law: "newreno", .. }), "{error}");
        }
    }
}
