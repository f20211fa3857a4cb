//! Where searches, packets and the analysis of `penstock analyze` meet: the stability boundary of NewReno under PI.

use crate::bench::Bench;
use serde_json::Value;

/// 60 flows at 0.8 of the gains at which the linearised loop is unstable.
const LOOP: &str = r#"
format   = 1
duration = "200 s"
warmup   = "100 s"
packet   = "1000 B"
[links.bottleneck]
from   = "senders"
to     = "receivers"
rate   = "30 Mbit/s"
delay  = "10 ms"
buffer = "unlimited"
aqm    = { law = "pi", ecn = true, a = 0.000258, b = 0.0002571, qref = "200 packets" }
[flows.ftp]
count  = 60
from   = "senders"
to     = "receivers"
rtt    = "150 ms"
start  = { uniform = ["0 s", "10 s"] }
cc     = { law = "newreno", ecn = true }
sender = { min_rto = "1 s" }
"#;

/// The reference of PI [packets].
const REFERENCE: f64 = 200.0;
/// Distance of the mean queue of a stable loop from it: the band of the known answer K7.
const BAND: f64 = 0.1;

/// A key of the scenario, a range of values with the boundary in it, and the value as text.
type Axis = (&'static str, [f64; 2], fn(f64) -> String);

fn margin(bench: &Bench, set: &str) -> f64 {
    let found = bench.json(&["analyze", "loop.toml", "--set", set, "--json"]);
    found["models"][0]["gain_margin"].as_f64().unwrap_or_else(|| panic!("no margin: {found}"))
}

/// Brings the ends of an axis, a stable and an unstable one, to 2 % of each other with the boundary between them.
fn narrowed(key: &str, [mut stable, mut unstable]: [f64; 2], is_stable: impl Fn(f64) -> bool) -> [f64; 2] {
    assert!(is_stable(stable) && !is_stable(unstable), "{key}");
    while (stable / unstable - 1.0).abs() > 0.02 {
        let middle = f64::midpoint(stable, unstable);
        let side = if is_stable(middle) { &mut stable } else { &mut unstable };
        *side = middle;
    }
    [stable, unstable]
}

fn mean_queue(bench: &Bench, set: &str) -> f64 {
    let summary = bench.result(&["run", "loop.toml", "--set", set, "--json"]);
    let queue: &Value = &summary["links"]["bottleneck"]["queue_mean_packets"];
    queue.as_f64().unwrap_or_else(|| panic!("no queue: {summary}"))
}

/// Over the number of flows, the round-trip time and the rate: where the gain margin is 1, packets change sides too, within
/// 20 %. An integrator keeps the mean queue at its reference as long as the loop is stable; a loop that swings spends part of
/// each period at the empty queue, where it is not linear. The variation of the queue does not tell: the noise of 60 flows is
/// as large (`search/known/README.md`, K7).
#[test]
fn packets_leave_the_reference_where_the_margin_is_zero() {
    leave_the_reference(&[("flows.ftp.rtt", [150.0, 400.0], |ms| format!("{ms:.1} ms"))]);
}

#[test]
#[ignore = "many seconds of packets: `make nightly` runs it"]
fn packets_leave_the_reference_over_flows_and_rate_too() {
    leave_the_reference(&[
        ("flows.ftp.count", [60.0, 20.0], |n| format!("{n:.0}")),
        ("links.bottleneck.rate", [30.0, 120.0], |mbit| format!("{mbit:.2} Mbit/s")),
    ]);
}

fn leave_the_reference(axes: &[Axis]) {
    let bench = Bench::new();
    bench.write("loop.toml", LOOP);
    for &(key, ends, text) in axes {
        let set = |value: f64| format!("{key}={}", text(value));
        let [stable, unstable] = narrowed(key, ends, |value| margin(&bench, &set(value)) > 1.0);
        let towards = if unstable > stable { 1.2 } else { 0.8 };
        let (before, behind) = (stable * (2.0 - towards), unstable * towards);
        let off = |value: f64| (mean_queue(&bench, &set(value)) / REFERENCE - 1.0).abs();
        let (kept, left) = (off(before), off(behind));
        assert!(kept <= BAND, "{key} = {}: {kept} off the reference, before the boundary", text(before));
        assert!(left > BAND, "{key} = {}: {left} off the reference, behind the boundary", text(behind));
    }
}

/// Scores of an oscillation that begins in a fluid. Without noise a stable queue does not vary at all, and an unstable one swings by
/// a tenth of its mean soon after the boundary: so it does not matter which of these the threshold is.
const SCORES: [f64; 2] = [0.02, 0.05];

/// The score of the objective `oscillate` at a point of an axis: that of a search which may look at one scenario only.
fn score(bench: &Bench, key: &str, value: &str) -> f64 {
    let number = value.parse::<f64>().map_or_else(|_| format!("\"{value}\""), |_| value.to_owned());
    let scenario = LOOP.replace("[links", "[scenario.links").replace("[flows.ftp]", "[scenario.flows.test]");
    let space = format!(
        "title = \"one scenario\"\n[limits]\n[genes]\n\"{key}\" = {{ one_of = [{number}] }}\n[scenario]{}",
        scenario.replace("{ uniform = [\"0 s\", \"10 s\"] }", "\"0 s\"").replace("sender =", "# sender =")
    );
    bench.write("point.toml", &format!("format = 1\n{space}"));
    let law = "{ law = \"newreno\", ecn = true }";
    let mut words = vec!["break", law, "--objective", "oscillate", "--space", "point.toml", "--world", "fluid"];
    words.extend(["--budget", "1", "--failures", "0", "--threshold", "0.02", "--json"]);
    let found = bench.json(&words);
    found["objectives"][0]["phases"][0]["best"].as_f64().unwrap_or_else(|| panic!("no score: {found}"))
}

/// Over the number of flows, the round-trip time and the rate: the objective `oscillate` changes sides in the fluid world where the
/// gain margin is 1, within 20 %.
#[test]
fn a_search_of_fluids_sees_oscillations_where_the_margin_is_zero() {
    let bench = Bench::new();
    bench.write("loop.toml", LOOP);
    // At twice the rate NewReno alone, the baseline, swings by half of the queue.
    let axes: [Axis; 3] = [
        ("flows.ftp.count", [60.0, 20.0], |n| format!("{n:.0}")),
        ("flows.ftp.rtt", [150.0, 400.0], |ms| format!("{ms:.1} ms")),
        ("links.bottleneck.rate", [30.0, 60.0], |mbit| format!("{mbit:.2} Mbit/s")),
    ];
    for (key, ends, text) in axes {
        let middle = |is_stable: &dyn Fn(f64) -> bool| {
            let [stable, unstable] = narrowed(key, ends, is_stable);
            f64::midpoint(stable, unstable)
        };
        let theory = middle(&|value| margin(&bench, &format!("{key}={}", text(value))) > 1.0);
        for threshold in SCORES {
            let searched = key.replace("ftp", "test");
            let seen = middle(&|value| score(&bench, &searched, &text(value)) < threshold);
            assert!((seen / theory - 1.0).abs() <= 0.2, "{key}: {seen} for {theory}, score {threshold}");
            println!("{key}: the margin is zero at {theory:.1}, a score of {threshold} at {seen:.1}");
        }
    }
}
