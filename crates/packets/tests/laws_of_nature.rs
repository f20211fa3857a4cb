//! What must hold in every run, whatever the laws: conservation, Little's law, determinism, independence of streams.

mod laboratory;

use laboratory::{run, scenario};
use penstock_scenario::summary::Engine;
use penstock_scenario::world::{Run, World};

/// Traffic of every kind over two bottlenecks: loss, marks, delayed acknowledgements, both recoveries, UDP, transfers.
const MIXTURE: &str = r#"
format = 1
duration = "30 s"
warmup = "5 s"
seed = 3
packet = { wire = "1000 B", payload = "960 B" }
[windows]
early = ["5 s", "15 s"]
late = ["15 s", "30 s"]
[defaults.links]
duplex = true
delay = "7 ms"
[links.first]
from = "a"
to = "b"
rate = "20 Mbit/s"
buffer = "60 packets"
loss = 0.001
[links.second]
from = "b"
to = "c"
rate = "15 Mbit/s"
buffer = "90 kB"
aqm = { law = "red", ecn = true }
[flows.long]
count = 4
from = "a"
to = "c"
rtt = { spread = ["40 ms", "90 ms"] }
cc = { law = "newreno", ecn = true }
sender = { delayed_ack = 2, ecn_echo = "classic" }
[flows.against]
count = 2
from = "c"
to = "a"
rtt = "60 ms"
cc = { law = "newreno" }
sender = { recovery = "newreno" }
[flows.fast]
count = 2
from = "b"
to = "c"
rtt = "30 ms"
cc = { law = "fast", alpha = "10 packets" }
series = true
[flows.udp]
from = "a"
to = "b"
rtt = "20 ms"
cc = { law = "cbr", rate = "3 Mbit/s" }
[flows.transfer]
count = 3
from = "b"
to = "c"
rtt = "30 ms"
size = "100 kB"
start = { every = "2 s", from = "6 s" }
cc = { law = "newreno" }
"#;

fn without_cost(mut run: Run) -> Run {
    run.summary.engine = Engine::default();
    run
}

/// The engine checks at its end that what was sent was delivered, dropped or is under way, link by link too; here the
/// same from the outside, over the summary.
#[test]
fn nothing_is_lost_or_made_up() {
    let run = run(MIXTURE);
    let whole = &run.summary.whole;
    for (name, link) in &whole.links {
        let late = link.arrivals as i64 - link.departures as i64 - link.drops as i64;
        assert!(late.abs() <= 92, "{name}: {late}: more than a buffer and the line hold");
    }
    assert!(whole.links["first"].drops > 0 && whole.links["second"].marks > 0, "the mixture lacks something");
    assert_eq!(whole.groups["transfer"].transfers.as_ref().unwrap().completed, 3);
    assert_eq!(run.flows.len(), 12);
    let windows = &run.summary.windows;
    let parts = windows["early"].links["first"].departures + windows["late"].links["first"].departures;
    assert_eq!(parts, whole.links["first"].departures, "windows that tile the span add up to it");
}

/// Little's law: the mean queue, integrated over time, is the arrival rate times the mean wait, measured packet by packet.
#[test]
fn the_mean_queue_is_the_rate_times_the_mean_wait() {
    let run = run(MIXTURE);
    let whole = &run.summary.whole;
    for (name, link) in &whole.links {
        let Some(wait) = link.queueing_delay_mean_s else { continue };
        let little = wait * link.departures as f64 / whole.measured_s;
        let off = (little - link.queue_mean_packets).abs();
        assert!(off <= 0.01 * link.queue_mean_packets.max(0.1), "{name}: {little} {}", link.queue_mean_packets);
    }
}

/// Same seed, same bits, and another seed another run.
#[test]
fn a_seed_is_a_run() {
    let first = without_cost(run(MIXTURE));
    // Two at once, on threads of their own: nothing is shared.
    let others: Vec<Run> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..2).map(|_| scope.spawn(|| without_cost(run(MIXTURE)))).collect();
        handles.into_iter().map(|h| h.join().unwrap()).collect()
    });
    // NaN in a series is not equal to itself; its bits are.
    for other in &others {
        assert_eq!(format!("{first:?}"), format!("{other:?}"));
    }
    let reseeded = without_cost(run(&MIXTURE.replace("seed = 3", "seed = 4")));
    assert_ne!(first.summary.whole, reseeded.summary.whole);
}

/// A flow changes no draw elsewhere: until it sends, what the others do stays the same to the last bit.
#[test]
fn a_flow_that_has_not_started_changes_nothing() {
    let more = format!(
        "{MIXTURE}\n[flows.more]\nfrom = \"a\"\nto = \"c\"\nrtt = \"50 ms\"\nstart = \"20 s\"\ncc = {{ law = \"newreno\" }}\n"
    );
    let (without, with) = (run(MIXTURE).summary, run(&more).summary);
    let (without_early, with_early) = (&without.windows["early"], &with.windows["early"]);
    assert_eq!(without_early.links, with_early.links);
    for (name, group) in &without_early.groups {
        assert_eq!(group, &with_early.groups[name], "{name}");
    }
    assert_ne!(without.windows["late"].links, with.windows["late"].links);
    let more = &with_early.groups["more"];
    assert_eq!((more.goodput_bit_per_s, more.window_mean_packets), (0.0, None), "it had no window yet");
}

/// Sampling more often looks closer and changes nothing.
#[test]
fn a_probe_changes_nothing() {
    let often = MIXTURE.replace("seed = 3", "seed = 3\nsample = \"1 ms\"");
    assert_eq!(without_cost(run(MIXTURE)).summary, without_cost(run(&often)).summary);
}

/// A span that starts at zero has what happens at zero: 20 packets sent at once into a buffer of 5 behind one on the line.
#[test]
fn what_happens_at_time_zero_counts() {
    let text = r#"
format = 1
duration = "1 s"
packet = "1000 B"
sample = "10 ms"
[links.b]
from = "l"
to = "r"
rate = "1 Mbit/s"
delay = "1 ms"
buffer = "5 packets"
[flows.f]
from = "l"
to = "r"
rtt = "10 ms"
start = "0 s"
size = "19200 B"
cc = { law = "newreno" }
sender = { initial_window = 20 }
"#;
    let run = run(text);
    let (link, group) = (&run.summary.whole.links["b"], &run.summary.whole.groups["f"]);
    assert_eq!((link.arrivals, link.drops), (20 + group.retransmits, 14));
    // Nothing is recorded beyond the end, however late the next event would be.
    let last = run.series[0].number("time_s").unwrap().last().copied().unwrap();
    assert!((last - 1.0).abs() < 1e-9, "{last}");
}

/// A run that is told to stop stops.
#[test]
fn a_run_can_be_stopped() {
    let scenario = scenario(MIXTURE);
    let mut shares = Vec::new();
    let stopped = penstock_packets::Packets.run(&scenario, &mut |share| {
        shares.push(share);
        share < 0.5
    });
    assert!(matches!(stopped, Err(penstock_scenario::world::RunError::Stopped)));
    assert!(shares.windows(2).all(|w| w[0] <= w[1]) && *shares.last().unwrap() < 0.6);
}
