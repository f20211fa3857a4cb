//! Parts of a criterion that the law under test does not run.

use std::fs;

use serde_json::{Value, json};

use super::{CRITERION, SCENARIO, battery};
use crate::bench::Bench;

/// The battery's criterion in two parts, of which the second uses ECN.
fn with_ecn() -> Bench {
    let part = |name: &str, more: &str| format!("[[part]]\nname = \"{name}\"\nscenario = \"flows\"\n{more}\n");
    let parts = format!("{}{}", part("drops", ""), part("marks", "ecn = true\n"));
    let text = CRITERION.replace("scenario = \"flows\"\n", &parts);
    let text = text.replacen("name  = \"standing-queue\"", "name  = \"standing-queue\"\npart = \"drops\"", 1);
    battery(&text.replacen("name  = \"used\"", "name  = \"used\"\npart = \"marks\"", 1))
}

/// A law without ECN does not run a part with ECN, and neither do its baselines; both pages and the JSON file have the reason. A gate on
/// its measure is an error.
#[test]
fn a_part_with_ecn_is_left_out_for_a_law_without() {
    let bench = with_ecn();
    let evaluate =
        |law: &str, more: &[&str]| bench.run(&[&["evaluate", law, "--quick", "--battery", "battery"], more].concat());
    let ended = evaluate("fast", &["--json"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let evaluation: Value = serde_json::from_str(&ended.out).unwrap();
    // Two buffers, three seeds, three laws.
    assert_eq!(evaluation["runs"], 18);
    let criterion = &evaluation["criteria"][0];
    assert_eq!(criterion["not_run"], json!([{ "part": "marks", "why": "`fast` does not use ECN" }]));
    assert_eq!((criterion["verdict"].as_str(), criterion["measures"].as_array().unwrap().len()), (Some("meets"), 1));
    assert!(bench.path("out/evaluation-runs/flows").exists() && !bench.path("out/evaluation-runs/flows-ecn").exists());
    for (file, words) in [
        ("evaluation.md", "The part `marks` did not run: `fast` does not use ECN."),
        ("evaluation.html", "does not use ECN"),
    ] {
        let page = fs::read_to_string(bench.path("out/evaluation-fast-quick").join(file)).unwrap();
        assert!(page.contains(words), "{file}");
    }
    bench.write("gate.toml", "[gate]\n\"EV-04.used\" = [0.1, 1.1]\n");
    let gated = evaluate("fast", &["--gate", "gate.toml"]);
    let words = "gate.toml:2: EV-04.used: it is not measured here: `fast` does not use ECN; remove this bound";
    assert!(gated.status == 2 && gated.err.contains(words), "{} {}", gated.status, gated.err);
    let ended = evaluate("vegas", &["--json"]);
    let evaluation: Value = serde_json::from_str(&ended.out).unwrap_or_else(|e| panic!("{e}: {}", ended.err));
    assert_eq!((&evaluation["runs"], &evaluation["criteria"][0]["not_run"]), (&36.into(), &Value::Null));
}

/// A part that the scenario refuses with the law in it has its reason, without a file or a line. The baselines use ECN here, and the law
/// has it switched off.
#[test]
fn a_part_that_a_law_cannot_run_has_a_reason_for_readers() {
    let part = |name: &str, more: &str| format!("[[part]]\nname = \"{name}\"\nscenario = \"{name}\"\n{more}\n");
    let parts = format!("{}{}", part("flows", ""), part("erased", "ecn = true\n"));
    let text = CRITERION.replace("scenario = \"flows\"\n", &parts);
    let text = text.replacen("name  = \"standing-queue\"", "name  = \"standing-queue\"\npart = \"flows\"", 1);
    let bench = battery(&text.replacen("name  = \"used\"", "name  = \"used\"\npart = \"erased\"", 1));
    let erased = SCENARIO.replace("duplex = true", "duplex = true\necn = \"erase-ce\"");
    let erased = erased.replace("{ law = \"newreno\" }", "{ law = \"newreno\", ecn = true }");
    bench.write("battery/scenarios/erased.toml", &erased);
    let law = "{ law = \"vegas\", ecn = false }";
    let ended = bench.run(&["evaluate", law, "--quick", "--battery", "battery", "--json"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let evaluation: Value = serde_json::from_str(&ended.out).unwrap();
    let why = "`vegas` cannot run the scenario `erased`: links.bottleneck.ecn: no flow that sends data across `bottleneck` uses \
               ECN, so `ecn` has no effect";
    assert_eq!(evaluation["criteria"][0]["not_run"], json!([{ "part": "erased", "why": why }]));
}
