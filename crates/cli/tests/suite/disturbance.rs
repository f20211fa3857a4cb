//! `penstock analyze --disturbance`: its output, and its step response against packets.

use std::fmt::Write as _;
use std::path::Path;

use crate::bench::Bench;
use serde_json::Value;

fn scenario(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    path.to_str().unwrap().to_owned()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// Share of the line that the cross traffic takes.
const SHARE: f64 = 0.05;

/// The line of `scenarios/ccpd.toml` [packets/s], and its round trip with the queue [s].
const CAPACITY: f64 = 1e4;
const TRIP_S: f64 = 0.048;

/// When cross traffic starts [s].
const START_S: f64 = 20.0;

/// CCPD as in `scenarios/ccpd.toml`, with the true capacity and buffer in place of estimates, and cross traffic from
/// [`START_S`] on; windows of half a round trip after that, and one of its end.
fn with_cross_traffic() -> String {
    let text = std::fs::read_to_string(scenario("ccpd.toml")).unwrap();
    let text = text.replace("duration = \"20 s\"", "duration = \"30 s\"");
    let sender = "sender = { initial_window = 3, bottleneck = { capacity = 1, buffer = 1 } }";
    let mut text = text.replace("sender = { initial_window = 3 }", sender);
    write!(
        text,
        r#"
[flows.cross]
from  = "sender"
to    = "receiver"
rtt   = "20 ms"
start = "{START_S} s"
cc    = {{ law = "cbr", rate = "6.152 Mbit/s" }}

[windows]
before = ["18 s", "20 s"]
after  = ["25 s", "30 s"]
"#
    )
    .unwrap();
    for half in 0..12 {
        let [from, to] = [half, half + 1].map(|n| START_S + 0.5 * TRIP_S * f64::from(n));
        writeln!(text, "half{half} = [\"{from:.3} s\", \"{to:.3} s\"]").unwrap();
    }
    text
}

/// A step of cross traffic in packets against the step response of the linearised loop, over the first six round trips, by half
/// round trips. The bound is 5 % of the largest change of 24 packets, what the loop is linearised for, and one packet,
/// since a queue has whole packets. The loop is taken with half of the cross traffic there: its error is then of second
/// order in the step.
#[test]
fn packets_respond_to_cross_traffic_as_the_loop_does() {
    let bench = Bench::new();
    bench.write("step.toml", &with_cross_traffic());
    for kd in ["flows.file.cc.kd=0", "flows.file.cc.kd=100"] {
        let half = "flows.cross.cc.rate=3.076 Mbit/s";
        let found = bench.json(&["analyze", "step.toml", "--disturbance", "--json", "--set", kd, "--set", half]);
        let response = &found["disturbance"][0];
        let points: Vec<(f64, f64)> = response["step"]["points"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| (number(&p["time_s"]), number(&p["delay_s"])))
            .collect();
        let delay_at = |t: f64| {
            let after = points.iter().position(|p| p.0 >= t).unwrap().max(1);
            let ((t0, d0), (t1, d1)) = (points[after - 1], points[after]);
            d0 + (t - t0) / (t1 - t0) * (d1 - d0)
        };
        let summary = bench.result(&["run", "step.toml", "--json", "--set", kd]);
        let queue = |window: &str| number(&summary["windows"][window]["links"]["bottleneck"]["queue_mean_packets"]);
        let before = queue("before");
        let packets = |delay_s: f64| delay_s * SHARE * CAPACITY;
        let largest = packets(number(&response["step"]["delay_peak_s"]));
        assert!((largest / 24.0 - 1.0).abs() < 0.05, "a round trip of the cross traffic: {largest}");
        let bound = 0.05 * largest + 1.0;
        for half in 0..12 {
            let mean = (0..100).map(|k| delay_at(0.5 * TRIP_S * (f64::from(half) + (f64::from(k) + 0.5) / 100.0)));
            let expected = packets(mean.sum::<f64>() / 100.0);
            let is = queue(&format!("half{half}")) - before;
            println!("{kd} half {half}: {is:.2} {expected:.2}");
            assert!((is - expected).abs() < bound, "{kd}, half {half}: {is} packets, and {expected} by the loop");
        }
        let last = packets(number(&response["delay_s"]["static_gain"]));
        let is = queue("after") - before;
        println!("{kd} after: {is:.2} {last:.2}");
        assert!((is - last).abs() < 0.05 * last + 0.5, "{kd}: {is} packets more in the end, and {last} by the loop");
    }
}

/// In the terminal, in JSON and on the page; without the option, in none of them.
#[test]
fn the_response_is_printed_where_requested() {
    let bench = Bench::new();
    let file = scenario("ccpd.toml");
    let plain = bench.json(&["analyze", &file, "--json"]);
    assert!(plain.get("disturbance").is_none());
    let found = bench.json(&["analyze", &file, "--json", "--disturbance"]);
    let response = &found["disturbance"][0];
    assert_eq!((&response["link"], &response["model"]), (&"bottleneck".into(), &"sampled".into()));
    // 48 ms over 1 + 2/3: (3) with Kp = 2.
    assert!((number(&response["delay_s"]["static_gain"]) / 0.0288 - 1.0).abs() < 1e-6, "{}", response["delay_s"]);
    assert!((number(&response["rate"]["static_gain"]) + 1.0).abs() < 1e-6, "{}", response["rate"]);
    assert!(number(&response["delay_s"]["peak_gain"]) > 0.0288 && number(&response["delay_s"]["peak_rad_per_s"]) > 0.0);
    let page = bench.well(&["analyze", &file, "--disturbance", "--out", "out"]);
    for words in
        ["Disturbance response", "queueing delay", "28.8 ms", "rate of all flows", "after a step of cross traffic"]
    {
        assert!(page.contains(words), "no `{words}`: {page}");
    }
    let report = std::fs::read_to_string(bench.path("out/ccpd-analysis/report.html")).unwrap();
    for title in ["Gain from cross traffic to queueing delay", "Rate of the flows after a step of cross traffic"] {
        assert!(report.contains(title), "no `{title}`");
    }
    assert!(report.contains("ccpd.toml --disturbance"), "the command that runs it again");
    assert!(!bench.well(&["analyze", &file]).contains("cross traffic"));
}

/// A loop without such a response: one that is unstable has a note, loops beside the queues are refused.
#[test]
fn a_loop_without_the_response_is_named() {
    let bench = Bench::new();
    let two = bench.run(&["analyze", &scenario("ccpd.toml"), "--disturbance", "--set", "flows.file.count=2"]);
    assert!(two.status == 0 && two.err.contains("no response to cross traffic"), "{}: {}", two.status, two.err);
    assert!(!two.out.contains("Disturbance response"), "{}", two.out);
    for name in ["early-marking.toml", "clcc-step.toml"] {
        let ended = bench.run(&["analyze", &scenario(name), "--disturbance"]);
        assert!(ended.status == 3 && ended.err.contains("disturbance response"), "{}: {}", ended.status, ended.err);
    }
}
