//! Bounds, gates and records that end an evaluation with a status.

use std::fs;

use super::{CRITERION, battery, evaluate, json, on_one_line};

/// A bound that is missed ends with status 1 where the document has a MUST; so do a gate and a verdict that changed.
#[test]
fn bounds_that_are_missed_have_a_status() {
    let bench = battery(&CRITERION.replace("at_most = 10.0", "at_most = 1e-9"));
    let failed = bench.run(&evaluate(&[]));
    assert_eq!(failed.status, 1);
    assert!(failed.err.contains("EV-04 (RFC 9743, 5.1.2, MUST consider) fails"), "{}", failed.err);
    let draft = fs::read_to_string(bench.path("out/evaluation-vegas-quick/evaluation.md")).unwrap();
    let words = on_one_line(&draft);
    let broken =
        "## Bounds that the law breaks 1. EV-04, Bufferbloat (RFC 9743, 5.1.2, MUST consider): standing queue, ";
    assert!(words.contains(broken) && words.contains("; bound: at most 0.000000001; newreno: "), "{draft}");
    let verdicts = fs::read(bench.path("out/evaluation-vegas-quick/verdicts.json")).unwrap();
    fs::write(bench.path("before.json"), &verdicts).unwrap();
    assert_eq!(bench.run(&evaluate(&["--against", "before.json"])).status, 0);
    // What the command writes is no record of what was before.
    let own = bench.run(&evaluate(&["--against", "out/evaluation-vegas-quick/verdicts.json"]));
    assert!(own.status == 2 && own.err.contains("copy the record first"), "{} {}", own.status, own.err);
    // A criterion that is not on record is no pass.
    let mut less = json(&verdicts);
    less["criteria"].as_object_mut().unwrap().remove("EV-04");
    fs::write(bench.path("less.json"), less.to_string()).unwrap();
    let unknown = bench.run(&evaluate(&["--against", "less.json"]));
    let said = "less.json: EV-04 (standing queue [s]): the verdict is `fails`, and none is on record";
    assert!(unknown.status == 1 && unknown.err.contains(said), "{} {}", unknown.status, unknown.err);

    let bench = battery(CRITERION);
    fs::write(bench.path("before.json"), &verdicts).unwrap();
    let differs = bench.run(&evaluate(&["--against", "before.json"]));
    assert_eq!(differs.status, 1);
    assert!(
        differs.err.contains("EV-04 (standing queue [s]): the verdict is `meets`, but `fails` is on record"),
        "{}",
        differs.err
    );
    // A record of another law or extent says nothing about this one.
    for (law, extent, words) in [
        ("fast", "--quick", "before.json is of `vegas`, quick; this evaluation is of `fast`, quick"),
        ("vegas", "--standard", "before.json is of `vegas`, quick; this evaluation is of `vegas`, standard"),
    ] {
        let other = bench.run(&["evaluate", law, extent, "--battery", "battery", "--against", "before.json"]);
        assert!(other.status == 2 && other.err.contains(words), "{} {}", other.status, other.err);
    }
    bench.write("gate.toml", "[gate]\n\"EV-04.used\" = [0.1, 0.2]\n");
    let broken = bench.run(&evaluate(&["--gate", "gate.toml"]));
    assert_eq!(broken.status, 1);
    assert!(broken.err.contains("gate.toml: EV-04.used is"), "{}", broken.err);
    bench.write("gate.toml", "[gate]\n\"EV-04.used\" = [0.5, 1.1]\n");
    let kept = bench.run(&evaluate(&["--gate", "gate.toml"]));
    assert!(kept.status == 0 && kept.err.contains("gate.toml: EV-04.used is kept"), "{}", kept.err);
    let draft = fs::read_to_string(bench.path("out/evaluation-vegas-quick/evaluation.md")).unwrap();
    let words = on_one_line(&draft);
    assert!(words.contains("evaluate vegas --quick --battery battery --gate gate.toml`"), "{draft}");
    assert!(
        words.contains("Scenario: `scenarios/flows.toml`") && words.contains("seeds 1 to 3 in each cell"),
        "{draft}"
    );
    // The hash names a record.
    let id = words.split("Hash of that scenario: ").nth(1).and_then(|rest| rest.get(..8)).unwrap();
    let records = bench.names("out/evaluation-runs/flows");
    assert!(
        records.iter().any(|name| name.starts_with("vegas-") && name.ends_with(&format!("-{id}"))),
        "{id} {records:?}"
    );
}
