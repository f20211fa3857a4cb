//! Findings: what misleads is said under the table, in the summary and on the report, and by `check` where the scenario
//! alone tells.

use std::fs;

use crate::bench::Bench;
use serde_json::Value;

const LINK: &str = r#"
format = 1
duration = "10 s"
packet = "1500 B"
links.b = { from = "l", to = "r", rate = "20 Mbit/s", delay = "5 ms", buffer = "100 packets" }
"#;

const WEB: &str = r#"
flows.web = { from = "l", to = "r", rtt = "100 ms", cc = { law = "cubic" }, size = "100 kB", arrivals = { poisson = "10 /s" } }
"#;

/// The output of `run`, and its files: standard output, standard error, the summary and the report.
fn run(bench: &Bench, name: &str, set: &[&str]) -> (String, String, Value, String) {
    let mut arguments = vec!["run", name];
    arguments.extend(set.iter().flat_map(|change| ["--set", *change]));
    let ended = bench.run(&arguments);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let record = ended.out.lines().find_map(|line| line.strip_prefix("record")).expect("a record").trim().to_owned();
    let read = |file: &str| fs::read_to_string(bench.path(&record).join(file)).unwrap();
    (ended.out.clone(), ended.err, serde_json::from_str(&read("summary.json")).unwrap(), read("report.html"))
}

/// Ten transfers a second behind one connection wait for each other; with as many as there are by default nobody does, and
/// nothing is said.
#[test]
fn transfers_that_wait_for_a_connection_are_counted() {
    let bench = Bench::new();
    bench.write("web.toml", &format!("{LINK}{WEB}"));
    let (out, err, summary, report) = run(&bench, "web.toml", &["flows.web.count=1"]);
    let transfers = &summary["groups"]["web"]["transfers"];
    let number = |name: &str| transfers[name].as_f64().unwrap_or_else(|| panic!("{name}: {transfers}"));
    assert!(number("waited") + number("waiting") > 50.0, "{transfers}");
    assert!(number("wait_mean_s") > 1.0 && number("wait_mean_s") < number("completion_mean_s"), "{transfers}");
    let finding = &summary["findings"][0];
    assert_eq!((&finding["id"], &finding["subject"]), (&"transfers-wait".into(), &"flows.web.count".into()));
    let text = finding["text"].as_str().unwrap();
    assert!(text.contains("transfers waited for a connection") && text.contains("`count = 1`"), "{text}");
    assert!(err.contains(&format!("note: flows.web.count: {text}")), "{err}");
    assert!(err.contains("(see docs/findings.md#transfers-wait)"), "{err}");
    assert!(out.contains("Transfers that waited") && report.contains("docs/findings.md#transfers-wait"), "{out}");

    let (_, err, summary, report) = run(&bench, "web.toml", &[]);
    let transfers = &summary["groups"]["web"]["transfers"];
    assert_eq!((&transfers["waited"], &transfers["waiting"]), (&0.into(), &0.into()));
    assert!(summary.get("findings").is_none() && !err.contains("note:") && !report.contains("Findings"), "{err}");
}

/// DCTCP without `l4s` over DualPI2, and FAST that wants more queued than the buffer holds: `check` says so before a run.
#[test]
fn what_the_scenario_tells_is_said_by_check_and_by_run() {
    let bench = Bench::new();
    let flows = r#"
flows.d = { from = "l", to = "r", rtt = "20 ms", cc = { law = "dctcp" } }
flows.f = { count = 2, from = "l", to = "r", rtt = "20 ms", cc = { law = "fast" } }
"#;
    let link = LINK.replace("buffer = \"100 packets\"", "buffer = \"100 packets\", aqm = { law = \"dualpi2\" }");
    bench.write("both.toml", &format!("{link}{flows}"));
    let checked = bench.run(&["check", "both.toml"]);
    let (_, err, summary, report) = run(&bench, "both.toml", &[]);
    for (subject, word) in [("flows.d.cc", "`l4s = true`"), ("links.b.buffer", "200 packets")] {
        for said in [&checked.err, &err] {
            let line = said.lines().find(|line| line.contains(&format!("note: {subject}: "))).expect(said);
            assert!(line.contains(word), "{line}");
        }
        assert!(summary["findings"].as_array().unwrap().iter().any(|finding| finding["subject"] == subject));
        assert!(report.contains(subject));
    }
    let mended = ["flows.d.cc.l4s=true", "flows.f.cc.alpha=40 packets"];
    let checked = bench.run(&["check", "both.toml", "--set", mended[0], "--set", mended[1]]);
    assert!(checked.status == 0 && checked.err.is_empty(), "{}", checked.err);
}

/// Of a sweep each finding is said once, with how many cells have it.
#[test]
fn a_sweep_says_each_finding_once() {
    let bench = Bench::new();
    let flows =
        "flows.f = { from = \"l\", to = \"r\", rtt = \"20 ms\", cc = { law = \"fast\", alpha = \"60 packets\" } }\n";
    let sweep = "[sweep]\n\"flows.f.count\" = [1, 2, 3]\n";
    bench.write("fast.toml", &format!("{LINK}{flows}{sweep}"));
    let ended = bench.run(&["sweep", "fast.toml"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let notes: Vec<&str> = ended.err.lines().filter(|line| line.contains("note:")).collect();
    assert_eq!(notes.len(), 1, "{}", ended.err);
    assert!(
        notes[0].contains("note: links.b.buffer: ") && notes[0].contains("(in 2 of 3 cells of the sweep; see docs/"),
        "{}",
        notes[0]
    );
}

/// Each kind has a heading on its page, in the order of the alphabet, and a command to see it.
#[test]
fn each_kind_has_a_heading_on_the_page() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/findings.md")).unwrap();
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let ids: Vec<&str> = penstock_scenario::finding::KINDS.iter().map(|kind| kind.id).collect();
    assert_eq!(headings, ids);
    for section in page.split("\n## ").skip(1) {
        for part in ["**Meaning.**", "**Why it misleads.**", "**Remedy.**", "**Example.**"] {
            assert!(section.contains(part), "{part} in {section}");
        }
    }
}
