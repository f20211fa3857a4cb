//! Records over each other: `penstock show`, `penstock list`, and `penstock compare` of files and laws.

use std::collections::BTreeSet;
use std::fs;

use crate::bench::{Bench, SMALL};

/// Two buffers with three seeds each, and a record of the fluid world.
fn records() -> Bench {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    for buffer in ["10 packets", "40 packets"] {
        for seed in ["1", "2", "3"] {
            let set = format!("links.bottleneck.buffer=\"{buffer}\"");
            bench.well(&["run", "small.toml", "--set", &set, "--seed", seed]);
        }
    }
    bench
}

#[test]
fn cases_have_names_and_differences_with_intervals() {
    let bench = records();
    let shown = bench.json(&["show", "out", "--json", "--out", "pages"]);
    assert_eq!(shown["keys"], serde_json::json!(["links.bottleneck.buffer"]));
    let names: Vec<&str> = shown["cases"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["10 packets", "40 packets"]);
    assert_eq!(shown["cases"][0]["seeds"], serde_json::json!([1, 2, 3]));
    let row = shown["rows"].as_array().unwrap().iter().find(|row| row["measure"] == "Mean queue").unwrap();
    let (first, second) = (&row["values"][0]["mean"], &row["values"][1]["mean"]);
    let difference = &row["differences"][1];
    let exact = second.as_f64().unwrap() - first.as_f64().unwrap();
    assert!((difference["mean"].as_f64().unwrap() - exact).abs() < 1e-9 && exact > 0.0, "{row}");
    assert!(difference["half_width_95"].as_f64().unwrap() >= 0.0 && row["differences"][0].is_null());
    let page = fs::read_to_string(bench.path(shown["report"].as_str().unwrap())).unwrap();
    assert!(page.contains("40 packets \u{2212} 10 packets") && page.contains("Queueing delay of bottleneck"));
    assert!(!page.contains("<td>duration</td>") && !page.contains(">links.bottleneck.rate<"), "only what differs");
    // A page is never overwritten.
    bench.well(&["show", "out", "--out", "pages"]);
    assert!(bench.path("pages/show-2/show.json").is_file());
}

/// A copy of a record is no second sample: the interval of a mean takes it for none.
#[test]
fn a_copy_of_a_record_counts_once() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.well(&["run", "small.toml", "--seed", "1"]);
    bench.well(&["run", "small.toml", "--seed", "1", "--out", "again"]);
    let shown = bench.json(&["show", "out", "again", "--json", "--out", "pages"]);
    let case = &shown["cases"][0];
    assert_eq!(case["seeds"], serde_json::json!([1]));
    assert_eq!((case["records"].as_array().unwrap().len(), case["copies"].as_array().unwrap().len()), (1, 1));
    for row in shown["rows"].as_array().unwrap() {
        assert!(row["values"][0]["half_width_95"].is_null(), "{row}");
    }
    let page = fs::read_to_string(bench.path(shown["report"].as_str().unwrap())).unwrap();
    assert!(
        page.contains("1 run in 1 case") && page.contains("One run has the seed and the measurements of another one")
    );
}

/// A law that takes the place of the one that a sweep varies makes its cells alike.
#[test]
fn cells_that_a_law_makes_alike_run_once() {
    let bench = Bench::new();
    let sweep =
        "[[sweep.aqm]]\nname = \"a\"\n[[sweep.aqm]]\nname = \"b\"\n\"links.bottleneck.aqm\" = { law = \"red\" }\n";
    bench.write("small.toml", &format!("{SMALL}[sweep]\nseed = {{ count = 2 }}\n{sweep}"));
    let ended = bench.run(&["compare", "small.toml", "--laws", "codel,pie", "--json"]);
    assert!(
        ended.status == 0 && ended.err.contains("small codel: 2 runs are of a scenario that runs already"),
        "{}",
        ended.err
    );
    let compared: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    for case in compared["cases"].as_array().unwrap() {
        assert_eq!(case["seeds"], serde_json::json!([1, 2]));
    }
}

/// Means without a cell are others, so its absence is noted.
#[test]
fn a_cell_without_a_record_is_missed() {
    let bench = Bench::new();
    bench.write(
        "small.toml",
        &format!("{SMALL}[sweep]\n\"links.bottleneck.buffer\" = [\"9 packets\", \"40 packets\"]\n"),
    );
    bench.well(&["sweep", "small.toml"]);
    let shown = |bench: &Bench| bench.run(&["show", "out/small", "--json", "--out", "pages"]);
    let whole = shown(&bench);
    assert!(whole.status == 0 && !whole.err.contains("record.toml"), "{}", whole.err);
    let text = fs::read(bench.path("out/small/sweep.json")).unwrap();
    let sweep: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let first = sweep["cells"][0]["path"].as_str().unwrap();
    fs::remove_file(bench.path("out/small").join(first).join("record.toml")).unwrap();
    let less = shown(&bench);
    let note = format!("out/small: 1 of 2 cells have no record.toml, the first of them {first}");
    assert!(less.status == 0 && less.err.contains(&note), "{}", less.err);
}

/// A header of format 1 has no hash of itself, no identity of the code and no hashes of files.
#[test]
fn a_record_of_the_version_before_opens() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    for seed in ["1", "2"] {
        bench.well(&["run", "small.toml", "--seed", seed]);
    }
    let path = bench.path("out/small-seed1/record.toml");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.split("\n[files]").next().unwrap().replace("format = 2", "format = 1");
    let text: Vec<&str> = text.lines().filter(|line| !line.starts_with("code = ")).collect();
    fs::write(&path, text.join("\n") + "\n").unwrap();
    let shown = bench.json(&["show", "out/small-seed1", "out/small-seed2", "--json"]);
    assert_eq!(shown["cases"].as_array().unwrap().len(), 1);
    assert_eq!(shown["cases"][0]["seeds"], serde_json::json!([1, 2]));
    let listed = bench.json(&["list", "--json"]);
    assert_eq!(listed["records"].as_array().unwrap().len(), 2, "the page is no record");
}

#[test]
fn what_is_no_record_or_damaged_is_refused() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.well(&["run", "small.toml"]);
    fs::create_dir(bench.path("empty")).unwrap();
    for (named, what) in [("empty", "no record in it"), ("nowhere", "cannot read nowhere")] {
        let ended = bench.run(&["show", named]);
        assert!(ended.status == 2 && ended.err.contains(what), "{}", ended.err);
    }
    fs::write(bench.path("out/small-seed1/links.parquet"), "else").unwrap();
    let ended = bench.run(&["show", "out"]);
    assert!(ended.status == 2 && ended.err.contains("links.parquet"), "{}", ended.err);
}

#[test]
fn a_list_says_when_and_what_differs() {
    let bench = records();
    let listed = bench.json(&["list", "--json"]);
    let records = listed["records"].as_array().unwrap();
    assert_eq!(records.len(), 6);
    for record in records {
        let buffer =
            if record["record"].as_str().unwrap().contains("10-packets") { "10 packets" } else { "40 packets" };
        assert_eq!(record["differs"], buffer);
        assert_eq!(record["headline"]["link"], "bottleneck");
        let written = record["made"].as_str().unwrap();
        assert!(written.len() == 20 && written.starts_with("20") && written.ends_with('Z'), "{written}");
    }
}

/// A sweep by its axes and the range of its main numbers; two of one title by what they do not have in common.
#[test]
fn a_list_has_the_axes_and_the_numbers_of_sweeps() {
    let bench = Bench::new();
    let sweep = "[sweep]\n\"links.bottleneck.buffer\" = [\"9 packets\", \"40 packets\"]\nseed = [1, 2]\n";
    bench.write("small.toml", &format!("{SMALL}{sweep}"));
    bench.write("other.toml", &format!("{SMALL}{}", sweep.replace("\"40 packets\"", "\"40 packets\", \"80 packets\"")));
    bench.well(&["sweep", "small.toml"]);
    let alone = bench.json(&["list", "--json"]);
    let alone = &alone["records"][0];
    assert_eq!(alone["cells"], 4);
    let axes = serde_json::json!([{ "key": "links.bottleneck.buffer", "places": 2 }, { "key": "seed", "places": 2 }]);
    assert_eq!(alone["axes"], axes);
    assert!(alone["differs"].is_null(), "{alone}");
    // The numbers are those of the cells.
    let text = fs::read(bench.path("out/small/sweep.json")).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&text).unwrap();
    for what in ["utilization", "queueing_delay_mean_s"] {
        let all = file["cells"].as_array().unwrap().iter();
        let all: Vec<f64> = all.map(|cell| cell["summary"]["links"]["bottleneck"][what].as_f64().unwrap()).collect();
        let ends = all.iter().fold([f64::MAX, f64::MIN], |[a, b], v| [a.min(*v), b.max(*v)]);
        assert!(ends[0] < ends[1] && alone["headline"][what] == serde_json::json!(ends), "{alone}");
    }
    bench.well(&["sweep", "other.toml"]);
    let listed = bench.json(&["list", "--json"]);
    let differs: Vec<&str> =
        listed["records"].as_array().unwrap().iter().map(|r| r["differs"].as_str().unwrap()).collect();
    assert_eq!(differs, ["9 packets, 40 packets, 80 packets", "9 packets, 40 packets"]);
    let table = bench.well(&["list"]);
    assert!(table.contains("over links.bottleneck.buffer (2), seed (2)"), "{table}");
    assert!(table.contains("bottleneck: ") && table.contains(" % used, ") && table.contains(" ms of delay"), "{table}");
}

/// Two laws differ by their names, and by the parameters that somebody chose.
#[test]
fn a_key_at_its_default_is_no_difference() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let law = |cc: &str| bench.well(&["run", "small.toml", "--set", &format!("flows.ftp.cc={cc}")]);
    law("{ law = \"newreno\" }");
    law("{ law = \"cubic\" }");
    let shown = bench.json(&["show", "out", "--json", "--out", "pages"]);
    assert_eq!(shown["keys"], serde_json::json!(["flows.ftp.cc.law"]));
    law("{ law = \"cubic\", beta = 0.5 }");
    let shown = bench.json(&["show", "out", "--json", "--out", "pages"]);
    assert_eq!(shown["keys"], serde_json::json!(["flows.ftp.cc.law", "flows.ftp.cc.beta"]));
    let beta = |case: &serde_json::Value| case["differs"]["flows.ftp.cc.beta"].as_str().unwrap_or("none").to_owned();
    let found: BTreeSet<String> = shown["cases"].as_array().unwrap().iter().map(beta).collect();
    assert_eq!(found, ["0.5", "0.7", "none"].map(str::to_owned).into());
}

#[test]
fn laws_and_files_are_compared() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL).write("other.toml", SMALL);
    let compared = bench.json(&["compare", "small.toml", "--laws", "newreno,cubic", "--json"]);
    let names: Vec<&str> = compared["cases"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["newreno", "cubic"]);
    let aqms = bench.json(&["compare", "small.toml", "--laws", "droptail,codel", "--json"]);
    assert_eq!(aqms["cases"][1]["differs"]["links.bottleneck.aqm.law"], "codel");
    let alike = bench.json(&["compare", "small.toml", "other.toml", "--json"]);
    assert_eq!(alike["cases"].as_array().unwrap().len(), 1, "equal scenarios are one case");
    for (arguments, what) in [
        (vec!["compare", "small.toml", "--laws", "newreno"], "name two or more"),
        (vec!["compare", "small.toml", "--laws", "cubic,newreno,cubic"], "`cubic` appears twice"),
        (vec!["compare", "small.toml", "--laws", "newreno,nothing"], "`nothing` is neither a controller nor an AQM"),
        (vec!["compare", "small.toml", "--worlds", "packets"], "name two or more"),
    ] {
        let ended = bench.run(&arguments);
        assert!(ended.status == 2 && ended.err.contains(what), "{}", ended.err);
    }
}
