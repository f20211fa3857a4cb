//! The commands of the fluid world: compare, tune, stability maps, and what is said where there is no answer.

use std::fs;

use crate::bench::{Bench, SMALL};

/// A link and its flows, with one line of each left to choose.
fn dumbbell(aqm: &str, cc: &str) -> String {
    format!(
        r#"
format = 1
title = "A dumbbell"
duration = "20 s"
warmup = "10 s"
packet = "1000 B"
[links.bottleneck]
from = "left"
to = "right"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "unlimited"
aqm = {{ {aqm} }}
[flows.ftp]
count = 10
from = "left"
to = "right"
rtt = "50 ms"
cc = {{ {cc} }}
"#
    )
}

const FAST: (&str, &str) = (r#"law = "droptail""#, r#"law = "fast", alpha = "10 packets""#);

#[test]
fn compare_prints_the_differences_of_each_measure() {
    let bench = Bench::new();
    bench.write("f.toml", &dumbbell(FAST.0, FAST.1));
    let found = bench.json(&["compare", "f.toml", "--json"]);
    assert_eq!(found["worlds"], serde_json::json!(["packets", "fluid"]));
    let rows = found["rows"].as_array().unwrap();
    let row = |measure: &str| rows.iter().find(|r| r["measure"] == measure && r["span"] == "").unwrap();
    for measure in ["throughput_packets_per_s", "queue_mean_packets", "utilization"] {
        let row = row(measure);
        let (packets, fluid) = (row["values"][0].as_f64().unwrap(), row["values"][1].as_f64().unwrap());
        let said = row["differences"][0].as_f64().unwrap();
        assert!((fluid / packets - 1.0 - said).abs() < 1e-12, "{row}");
        assert!(said.abs() < 0.05, "ten flows of FAST keep a hundred packets in either world: {row}");
    }
    let out = bench.well(&["compare", "f.toml", "--out", "out"]);
    assert!(out.contains("fluid - packets"), "{out}");
    assert!(bench.names("out").iter().any(|name| name.contains("comparison")));
}

#[test]
fn compare_takes_the_method_of_the_fluid() {
    let bench = Bench::new();
    let file = dumbbell(FAST.0, r#"law = "fast", alpha = "50 packets", gamma = 1.0"#);
    bench.write("f.toml", &file.replace("10 Mbit/s", "240 Mbit/s").replace("50 ms", "100 ms"));
    let queue = |extra: &[&str]| {
        let mut all = vec!["compare", "f.toml", "--json", "--worlds", "fluid,fluid"];
        all.extend(extra);
        let found = bench.json(&all);
        let rows = found["rows"].as_array().unwrap();
        rows.iter().find(|r| r["measure"] == "queue_sd_packets").map_or(0.0, |r| r["values"][0].as_f64().unwrap())
    };
    // By its window alone FAST rests at gamma 1; as a host does it, paced by an average, it swings.
    assert!(queue(&["--clocking", "ack"]) < 1.0 && queue(&[]) > 10.0);
    assert!(queue(&["--true-signals"]) != queue(&[]) && queue(&["--step", "1 ms"]) != queue(&[]));
    assert!(queue(&["--frozen-delays", "--clocking", "paced"]) != queue(&["--clocking", "paced"]));
    let wrong = bench.run(&["compare", "f.toml", "--step", "0 s"]);
    assert!(wrong.status == 2 && wrong.err.contains("--step"), "{}", wrong.err);
}

/// Flows of FAST that find `A` packets queued measure a base RTT that is too high by their delay, and want `A` packets of
/// their own. Rates `A/q` and `A/(q - A/c)` fill the line where the queue is `A (3 + sqrt 5)/2`; of true base RTTs it is `2 A`,
/// as of the analysis.
#[test]
fn flows_that_start_over_a_queue_overestimate_the_base_rtt() {
    let bench = Bench::new();
    let file = dumbbell(FAST.0, FAST.1).replace("count = 10", "count = 4\nstart = \"0 s\"");
    let file = file.replace("20 s", "30 s").replace("warmup = \"10 s\"", "warmup = \"20 s\"");
    let (_, flows) = file.split_once("[flows.ftp]").unwrap();
    let late = format!("{file}[flows.late]{}", flows.replace("\"0 s\"", "\"5 s\""));
    bench.write("late.toml", &late);
    bench.write("together.toml", &late.replace("\"5 s\"", "\"0 s\""));
    let queues = |file: &str, extra: &[&str]| {
        let found = bench.json(&[&["compare", file, "--json"], extra].concat());
        let rows = found["rows"].as_array().unwrap();
        let row = rows.iter().find(|r| r["measure"] == "queue_mean_packets").unwrap();
        [row["values"][0].as_f64().unwrap(), row["values"][1].as_f64().unwrap()]
    };
    let golden = 40.0 * (3.0 + 5.0_f64.sqrt()) / 2.0;
    let near = |queue: f64, expected: f64| assert!((queue / expected - 1.0).abs() < 0.05, "{queue} of {expected}");
    for (file, expected) in [("late.toml", golden), ("together.toml", 80.0)] {
        for queue in queues(file, &[]) {
            near(queue, expected);
        }
    }
    let [packets, fluid] = queues("late.toml", &["--true-signals"]);
    near(packets, golden);
    near(fluid, 80.0);
    let analysed = |file: &str| {
        let found = bench.json(&["analyze", file, "--json"]);
        near(found["links"][0]["queue_packets"].as_f64().unwrap(), 80.0);
        found["warnings"].to_string()
    };
    assert!(analysed("late.toml").contains("flows of `late` start while others send"));
    assert!(!analysed("together.toml").contains("base round-trip time"));
}

#[test]
fn analyze_takes_the_clocking_of_a_group() {
    let bench = Bench::new();
    bench.write("f.toml", &dumbbell(FAST.0, r#"law = "fast", alpha = "10 packets", gamma = 1.0"#));
    let clocking = |name: &str| {
        let found = bench.json(&["analyze", "f.toml", "--json", "--clocking", &format!("ftp={name}")]);
        (found["classes"][0]["clocking"].clone(), found["verdict"].clone())
    };
    assert_eq!(clocking("ack"), ("ack".into(), "stable".into()));
    assert_eq!(clocking("paced").0, "paced");
    for wrong in ["nobody=ack", "ftp=never", "ftp"] {
        assert_eq!(bench.run(&["analyze", "f.toml", "--clocking", wrong]).status, 2, "{wrong}");
    }
    let mixed = dumbbell(FAST.0, r#"law = "fast", alpha = "10 packets""#);
    let beside = "[flows.steady]\ncount = 1\nfrom = \"left\"\nto = \"right\"\nrtt = \"50 ms\"\ncc = { law = \"cbr\", rate = \"1 Mbit/s\" }\n";
    bench.write("m.toml", &format!("{mixed}{beside}"));
    let ended = bench.run(&["analyze", "m.toml", "--clocking", "steady=ack"]);
    assert!(ended.status == 2 && ended.err.contains("no window"), "{} {}", ended.status, ended.err);
    assert_eq!(bench.run(&["analyze", "m.toml", "--clocking", "ftp=ack"]).status, 0);
}

#[test]
fn a_stability_map_has_a_verdict_for_each_cell() {
    let bench = Bench::new();
    bench.write(
        "pi.toml",
        &dumbbell(r#"law = "pi", ecn = true, qref = "50 packets""#, r#"law = "newreno", ecn = true"#),
    );
    let x = "flows.ftp.rtt=[\"20 ms\", \"200 ms\"]";
    let found = bench.json(&[
        "analyze",
        "pi.toml",
        "--json",
        "--map-points",
        "4",
        "--stability-map",
        x,
        "links.bottleneck.aqm.a=1.82e-5..2e-3",
    ]);
    let cells = found["stability_map"]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 8);
    let verdict = |rtt: f64, a: f64| {
        let cell = cells.iter().find(|c| c["x"] == rtt && c["y"] == a).unwrap();
        cell["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!((verdict(20.0, 1.82e-5), verdict(200.0, 2e-3)), ("stable".to_owned(), "unstable".to_owned()));
    let out = bench.well(&[
        "analyze",
        "pi.toml",
        "--map-points",
        "2",
        "--stability-map",
        x,
        "links.bottleneck.aqm.a=1.82e-5..2e-3",
        "--out",
        "out",
    ]);
    assert!(out.contains("links.bottleneck.aqm.a \\ flows.ftp.rtt") && out.contains("200 ms"), "{out}");
    // The page has table and figure of the map in one place.
    let page = fs::read_to_string(bench.path("out/pi-analysis/report.html")).unwrap();
    let (_, rest) = page.split_once("<h2>Stability map</h2>").unwrap();
    let (section, _) = rest.split_once("<h2>").unwrap();
    assert!(section.contains("<svg") && section.contains("<table"), "{section}");
    for wrong in ["rtt", "flows.ftp.rtt=5", "flows.ftp.rtt=9..3 ms"] {
        let ended = bench.run(&["analyze", "pi.toml", "--stability-map", wrong, x]);
        assert!(ended.status == 2 && ended.err.contains("--stability-map"), "{}", ended.err);
    }
}

/// A range over a key of whole numbers has whole numbers, and one over any other key has not.
#[test]
fn a_stability_map_ranges_over_whole_numbers_too() {
    let bench = Bench::new();
    bench.write(
        "pi.toml",
        &dumbbell(r#"law = "pi", ecn = true, qref = "50 packets""#, r#"law = "newreno", ecn = true"#),
    );
    let axes = ["flows.ftp.count=5..50", "flows.ftp.rtt=50..200 ms"];
    let found =
        bench.json(&[&["analyze", "pi.toml", "--json", "--map-points", "4", "--stability-map"][..], &axes].concat());
    let values = |axis: &str| -> Vec<f64> {
        found["stability_map"][axis]["values"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    };
    assert_eq!(values("x"), [5.0, 11.0, 23.0, 50.0]);
    assert_eq!(values("y"), [50.0, 79.37, 126.0, 200.0]);
    let cells = found["stability_map"]["cells"].as_array().unwrap();
    assert!(cells.len() == 16 && cells.iter().all(|cell| cell["verdict"].is_string()), "{cells:?}");
}

/// A step map of an outer loop has a verdict and no gain margin, and its table does not promise one.
#[test]
fn a_map_without_margins_does_not_promise_any() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/clcc-step.toml");
    let out = Bench::new().well(&[
        "analyze",
        file.to_str().unwrap(),
        "--stability-map",
        "links.bottleneck.aqm.beta_near=[-0.1, -0.4]",
        "links.bottleneck.aqm.beta_far=[-0.5, -0.9]",
    ]);
    assert!(out.contains("Verdict on the loop") && !out.contains("Gain margin of the loop"), "{out}");
}

/// The margins of `tune` are those that `analyze` finds of a scenario with those numbers.
#[test]
fn what_tune_says_holds_when_it_is_put_to_use() {
    let bench = Bench::new();
    let tuned = bench.json(&["tune", "pi", "--capacity", "15 Mbit/s", "--flows", "60", "--rtt", "246 ms", "--json"]);
    let number = |name: &str| {
        let all = tuned["parameters"].as_array().unwrap();
        all.iter().find(|p| p[0] == name).unwrap()[1].as_f64().unwrap()
    };
    // Hollot and others (2001), section IV-A: a = 1.822e-5, b = 1.816e-5 at 160 Hz.
    assert!((number("a") / 1.822e-5 - 1.0).abs() < 0.02 && (number("b") / 1.816e-5 - 1.0).abs() < 0.02, "{tuned}");
    assert_eq!(tuned["margins"]["verdict"], "stable");
    let lead = bench.json(&["tune", "leadlag", "--taubar", "1 s", "--json"]);
    let margin = lead["guaranteed_gain_margin"].as_f64().unwrap();
    assert!(margin > 1.0, "{lead}");
    let file = dumbbell(r#"law = "price""#, r#"law = "leadlag", taubar = "1 s""#);
    bench.write("l.toml", &file.replace("10 Mbit/s", "100 Mbit/s"));
    let found = bench.json(&["analyze", "l.toml", "--json"]);
    assert_eq!(found["verdict"], "stable");
    assert!(found["models"][0]["gain_margin"].as_f64().unwrap() >= margin, "Theorem 4 holds of any network");
    for wrong in [["--taubar", "0 s"], ["--taubar", "1"]] {
        assert_eq!(bench.run(&[["tune", "leadlag"], wrong].concat()).status, 2, "{wrong:?}");
    }
}

/// Two links in a row of one rate, and one group that crosses both.
fn in_a_row() -> String {
    dumbbell(r#"law = "price""#, r#"law = "leadlag""#).replace("to = \"right\"\nrate", "to = \"middle\"\nrate")
        + r#"
[links.second]
from = "middle"
to = "right"
rate = "10 Mbit/s"
delay = "1 ms"
buffer = "unlimited"
aqm = { law = "price" }
"#
}

/// A statement, not a number: each says what is the matter; a law that the method does not cover ends with status 3.
#[test]
fn what_has_no_answer_is_said() {
    let bench = Bench::new();
    let newreno = r#"law = "newreno""#;
    for (name, file, words) in [
        ("in a row", in_a_row(), ["rank 1", "second"]),
        ("drop-tail under NewReno", dumbbell(r#"law = "droptail""#, newreno), ["no equilibrium", "droptail"]),
        (
            "a law without a smooth update",
            dumbbell(r#"law = "red""#, r#"law = "cubic""#),
            ["cubic", "analysis does not support"],
        ),
        ("a small buffer", dumbbell(FAST.0, FAST.1).replace("unlimited", "20 packets"), ["needs a queue", "holds 20"]),
        (
            "a link that nobody fills",
            dumbbell(r#"law = "red""#, r#"law = "cbr", rate = "10 kbit/s""#),
            ["not a bottleneck", "fill"],
        ),
    ] {
        bench.write("no.toml", &file);
        let ended = bench.run(&["analyze", "no.toml"]);
        let status = if name == "a law without a smooth update" { 3 } else { 2 };
        assert_eq!(ended.status, status, "{name}: {}{}", ended.out, ended.err);
        for word in words {
            assert!(ended.err.contains(word), "{name}: `{word}` is not in: {}", ended.err);
        }
    }
    let swings = dumbbell(r#"law = "red", ecn = true"#, r#"law = "newreno", ecn = true"#);
    bench.write("swings.toml", &swings.replace("10 Mbit/s", "100 Mbit/s").replace("50 ms", "300 ms"));
    let out = bench.well(&["analyze", "swings.toml"]);
    assert!(out.contains("The equilibrium is unstable"), "{out}");
    bench.write("small.toml", SMALL);
    let refused = bench.run(&["compare", "small.toml", "--set", "flows.ftp.cc={law=\"cubic\"}"]);
    assert!(refused.status == 3 && refused.err.contains("cubic"), "{}", refused.err);
}
