//! `run`, `sweep`, `check`, `analyze`, `report`: what goes in, what comes out, and with which status.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::bench::{Bench, SMALL, SWEEP, names};
use penstock_record::read_table;
use serde_json::Value;

fn small() -> Bench {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench
}

fn swept() -> Bench {
    let bench = Bench::new();
    bench.write("swept.toml", &format!("{SMALL}{SWEEP}"));
    bench
}

#[test]
fn a_run_leaves_a_record_and_says_where() {
    let bench = small();
    let out = bench.well(&["run", "small.toml"]);
    assert!(out.contains("bottleneck") && out.contains("Jain") && out.contains("a CPU second"), "{out}");
    assert!(out.contains("out/small-seed1/report.html"), "{out}");
    let files = bench.names("out/small-seed1");
    for file in ["record.toml", "summary.json", "flows.parquet", "links.parquet", "report.html"] {
        assert!(files.iter().any(|f| f == file), "{file} is not in {files:?}");
    }
    assert_eq!(bench.names("out"), ["small-seed1"], "nothing beside it");
}

#[test]
fn nothing_is_overwritten() {
    let bench = small();
    bench.well(&["run", "small.toml"]);
    let first = fs::read(bench.path("out/small-seed1/record.toml")).unwrap();
    bench.well(&["run", "small.toml"]);
    assert_eq!(bench.names("out"), ["small-seed1", "small-seed1-2"]);
    assert_eq!(fs::read(bench.path("out/small-seed1/record.toml")).unwrap(), first);
}

/// A program that reads it finds the record without looking at the table for people.
#[test]
fn json_has_the_summary_and_says_where_the_record_is() {
    let bench = small();
    let json = bench.json(&["run", "small.toml", "--json", "--seed", "7"]);
    let run = &json["runs"][0];
    assert_eq!((&json["format"], &run["kind"], &run["file"]), (&1.into(), &"run".into(), &"small.toml".into()));
    assert_eq!((&run["record"], &run["report"]), (&"out/small-seed7".into(), &"out/small-seed7/report.html".into()));
    assert_eq!((&run["summary"]["seed"], &run["summary"]["format"]), (&7.into(), &2.into()));
    assert!(run["summary"]["links"]["bottleneck"]["utilization"].as_f64().unwrap() > 0.5);
    assert!(run["cost"]["cpu_s"].as_f64().unwrap() > 0.0);
    assert!(run["cost"]["peak_memory_bytes"].as_u64().unwrap() > 1_000_000);
    let record = bench.path(run["record"].as_str().unwrap());
    for (file, value) in [("summary.json", &run["summary"]), ("cost.json", &run["cost"])] {
        let file: Value = serde_json::from_slice(&fs::read(record.join(file)).unwrap()).unwrap();
        assert_eq!(file, *value);
    }
}

#[test]
fn several_files_and_a_sweep_have_the_shape_of_one() {
    let bench = small();
    bench.write("swept.toml", &format!("{SMALL}{SWEEP}"));
    let json = bench.json(&["run", "small.toml", "swept.toml", "--json"]);
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert!(runs[0]["record"] == "out/small-seed1" && runs[0]["summary"].is_object(), "{json}");
    assert!(runs[1]["kind"] == "sweep" && runs[1]["record"] == "out/swept", "{json}");
    assert_eq!((&runs[1]["finished"], &runs[1]["cells"]), (&6.into(), &6.into()));
    // Each cell says where its record is.
    for cell in runs[1]["sweep"]["cells"].as_array().unwrap() {
        let path = bench.path("out/swept").join(cell["path"].as_str().unwrap()).join("summary.json");
        let summary: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        assert_eq!(summary["links"], cell["summary"]["links"]);
    }
    assert_eq!(bench.names("out"), ["small-seed1", "swept"]);
}

/// Changes are in the record's name, its files, its page and the list.
#[test]
fn runs_of_a_changed_scenario_are_told_apart() {
    let bench = small();
    let changed = ["--set", "flows.ftp.count = 3", "--set", "links.bottleneck.rate=20 Mbit/s"];
    bench.well(&["run", "small.toml"]);
    let out = bench.well(&[&["run", "small.toml"][..], &changed].concat());
    let both = "flows.ftp.count=3; links.bottleneck.rate=20 Mbit/s";
    assert!(out.contains(&format!("Two flows ({both})")), "{out}");
    let name = "small-count-3-rate-20-mbit-s-seed1";
    assert_eq!(bench.names("out"), [name, "small-seed1"]);
    let record = bench.path("out").join(name);
    let summary: Value = serde_json::from_slice(&fs::read(record.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["changes"], serde_json::json!(["flows.ftp.count=3", "links.bottleneck.rate=20 Mbit/s"]));
    assert_eq!(summary["title"], "Two flows");
    let page = || fs::read_to_string(record.join("report.html")).unwrap();
    let before = page();
    assert!(before.contains("flows.ftp.count=3"), "the page");
    bench.well(&["report", &format!("out/{name}")]);
    assert!(page() == before, "the same page");

    // The record of a changed run, changed once more, differs from the file by both.
    let again = format!("out/{name}/record.toml");
    bench.well(&["run", &again, "--set", "seed=5", "--set", "flows.ftp.rtt=60 ms"]);
    let third = "small-count-3-rate-20-mbit-s-rtt-60-ms-seed5";
    assert!(bench.names("out").contains(&third.to_owned()), "{:?}", bench.names("out"));

    let list = bench.json(&["list", "--json"]);
    let all = list["records"].as_array().unwrap();
    assert_eq!(all.len(), 3);
    assert_eq!(all[0]["changes"].as_array().unwrap().len(), 4);
    assert_eq!((&all[1]["record"], &all[1]["title"]), (&format!("out/{name}").into(), &"Two flows".into()));
    assert_eq!((&all[2]["changes"], &all[2]["seed"]), (&serde_json::json!([]), &1.into()));
    let table = bench.well(&["list", "out"]);
    assert!(table.contains("flows.ftp.rtt=60 ms") && table.contains("packets"), "{table}");
}

#[test]
fn a_list_has_sweeps_and_passes_over_what_is_no_record() {
    let bench = swept();
    assert_eq!(bench.run(&["list"]).status, 2);
    bench.well(&["sweep", "swept.toml", "--set", "flows.ftp.count=3"]);
    bench.write("out/broken/record.toml", "format = 1");
    bench.write("out/notes/nothing.txt", "");
    bench.write("out/.hidden/record.toml", "");
    let ended = bench.run(&["list", "--json"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.err.contains("out/broken/record.toml"), "{}", ended.err);
    let list: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(list["records"].as_array().unwrap().len(), 1, "{list}");
    let sweep = &list["records"][0];
    assert_eq!((&sweep["kind"], &sweep["cells"]), (&"sweep".into(), &6.into()));
    assert_eq!((&sweep["title"], &sweep["changes"]), (&"Two flows".into(), &serde_json::json!(["flows.ftp.count=3"])));
    // Of a sweep that is named, the cells.
    assert_eq!(bench.json(&["list", "out/swept", "--json"])["records"].as_array().unwrap().len(), 6);
    assert!(bench.well(&["list", "out/notes"]).contains("no records in out/notes"));
    // Numbers that somebody changed are not shown, and the file is named that has them.
    let cell = bench.names("out/swept").into_iter().find(|name| bench.path("out/swept").join(name).is_dir()).unwrap();
    let summary = bench.path("out/swept").join(&cell).join("summary.json");
    let text = fs::read_to_string(&summary).unwrap();
    fs::write(&summary, text.replacen("\"count\": 3", "\"count\": 4", 1)).unwrap();
    let ended = bench.run(&["list", "out/swept", "--json"]);
    let list: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(list["records"].as_array().unwrap().len(), 5, "{list}");
    let words = format!("out/swept/{cell}/summary.json: it has changed since it was written");
    assert!(ended.err.contains(&words), "{}", ended.err);
}

/// A notebook reads one table, and numbers are numbers in it.
#[test]
fn a_sweep_is_a_table_as_parquet_and_as_csv() {
    let bench = swept();
    bench.well(&["sweep", "swept.toml"]);
    let table = read_table(&fs::read(bench.path("out/swept/cells.parquet")).unwrap()).unwrap();
    assert_eq!(table.rows(), 6);
    assert_eq!(table.number("links.bottleneck.rate_bit_per_s").unwrap(), [5e6, 5e6, 10e6, 10e6, 20e6, 20e6]);
    let csv = bench.well(&["report", "--csv", "out/swept"]);
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 7);
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(lines[0], names);
    let at = names.iter().position(|name| *name == "groups.ftp.goodput_bit_per_s").unwrap();
    for (row, value) in lines[1..].iter().zip(table.number("groups.ftp.goodput_bit_per_s").unwrap()) {
        assert_eq!(row[at].parse::<f64>().unwrap(), *value, "to the last bit");
        assert!(bench.path("out/swept").join(row[0]).join("summary.json").is_file(), "{}", row[0]);
    }
    let sweep: Value = serde_json::from_slice(&fs::read(bench.path("out/swept/sweep.json")).unwrap()).unwrap();
    assert_eq!(
        sweep["axes"][0]["places"][1],
        serde_json::json!({ "label": "10 Mbit/s", "value": 10e6, "unit": "bit/s" })
    );
}

/// A record is a row; several directories are one table, and what one of them lacks is empty there.
#[test]
fn records_of_several_directories_are_one_table() {
    let bench = swept();
    bench.write("small.toml", SMALL);
    bench.well(&["run", "small.toml", "swept.toml", "--set", "title=\"a, \\\"b\\\"\""]);
    let one = bench.well(&["report", "--csv", "out/small-title-a-b-seed1"]);
    assert_eq!(one.lines().count(), 2);
    assert!(one.contains("\"a, \"\"b\"\"\""), "{one}");
    let both = bench.well(&["report", "--csv", "out/small-title-a-b-seed1", "out/swept"]);
    assert_eq!(both.lines().count(), 8);
    assert!(both.lines().nth(2).unwrap().starts_with("out/swept/"), "{both}");
    assert!(both.lines().next().unwrap().contains("links.bottleneck.rate_bit_per_s"));
    let before = bench.names("out/swept");
    assert_eq!(bench.run(&["report", "--csv"]).status, 2);
    assert_eq!(bench.run(&["report", "--csv", "."]).status, 2);
    assert_eq!(bench.names("out/swept"), before, "nothing is written");
}

#[test]
fn set_changes_the_scenario() {
    let bench = small();
    let set = ["--set", "links.bottleneck.rate=20 Mbit/s", "--set", "flows.ftp.count=4"];
    let summary = bench.result(&[&["run", "small.toml", "--json"], &set[..]].concat());
    assert_eq!(summary["groups"]["ftp"]["count"], 4);
    assert!(summary["links"]["bottleneck"]["throughput_bit_per_s"].as_f64().unwrap() > 11e6);
}

#[test]
fn bad_input_is_one_clear_message_and_leaves_no_file() {
    let bench = small();
    bench.write("typo.toml", &SMALL.replace("rate = ", "rte = "));
    for (arguments, says) in [
        (&["run", "typo.toml"][..], "typo.toml:10:1: links.bottleneck.rte"),
        (&["sweep", "typo.toml"], "did you mean `rate`"),
        (&["check", "typo.toml"], "typo.toml:10"),
        (&["run", "missing.toml"], "cannot read missing.toml"),
        (&["run", "."], "it is a directory"),
        (&["run", "small.toml", "--set", "flows.ftp"], "no `=`"),
        (&["run", "small.toml", "--set", "flows.udp.count=3"], "no group of flows is named `udp`"),
        (&["run", "small.toml", "--jobs", "0"], "--jobs"),
        (&["run", "small.toml", "--pcap=routers"], "senders, receivers"),
        (&["run", "small.toml", "--shard", "1/2"], "--shard"),
        (&["sweep", "small.toml", "--pcap"], "--pcap"),
        (&["sweep", "small.toml", "--shard", "1/2"], "small.toml has no [sweep]"),
        (&["sweep", "small.toml", "--shard", "3/2"], "write I/N, as in 1/4: part I of N parts, with I from 1 to N"),
        (&["run", "small.toml", "--pcap", "--set", "sweep.seed={ count = 2 }"], "is a sweep of 2 cells"),
        (&["run"], "FILE"),
        (&["laws", "cubism"], "no law is named `cubism`"),
        (&["analyze", "small.toml", "--at", "soon"], "--at"),
        (&["report", "."], "neither record.toml nor sweep.json"),
    ] {
        let ended = bench.run(arguments);
        assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.err);
        assert!(ended.err.contains(says), "{arguments:?}: {}", ended.err);
        assert_eq!(ended.out, "", "{arguments:?}");
        assert_eq!(names(&bench.path(".")), ["small.toml", "typo.toml"], "{arguments:?}");
    }
}

#[test]
fn a_good_file_beside_a_bad_one_is_not_run() {
    let bench = small();
    bench.write("bad.toml", "format = 1\n");
    assert_eq!(bench.run(&["run", "small.toml", "bad.toml"]).status, 2);
    assert!(bench.names("out").is_empty());
}

#[test]
fn a_place_that_cannot_be_written_to_is_found_before_the_run() {
    let bench = small();
    bench.write("file", "");
    // A run this long would not end.
    let ended = bench.run(&["run", "small.toml", "--out", "file", "--set", "duration=4000 h", "--set", "sample=1 min"]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("cannot write to file") && ended.err.contains("--out DIR"), "{}", ended.err);
}

#[test]
fn what_a_world_does_not_carry_is_refused() {
    let bench = small();
    let ended = bench.run(&["run", "small.toml", "--world", "linux", "--set", "flows.ftp.cc={ law = \"ccp\" }"]);
    assert_eq!(ended.status, 3);
    assert!(ended.err.contains("no kernel has a controller for the law `ccp`"), "{}", ended.err);
    assert_eq!(names(&bench.path(".")), ["small.toml"]);
}

/// Completion times of transfers are on the terminal, with their median and their tail.
#[test]
fn transfers_are_printed_with_their_quantiles() {
    let bench = small();
    let out = bench.well(&["run", "small.toml", "--set", "flows.ftp.size=20 kB", "--set", "warmup=0 s"]);
    for row in ["Transfers done", "Mean completion", "Median completion", "Completion p99"] {
        assert!(out.contains(row), "{row}: {out}");
    }
    assert!(!bench.well(&["run", "small.toml"]).contains("Completion"), "where there are none, nothing is said");
}

/// The largest report of a minute that there is: transfers behind FQ-CoDel, each figure drawn for narrow screens too.
#[test]
fn the_report_of_a_minute_has_less_than_400_kb() {
    let bench = Bench::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/web.toml");
    let text = fs::read_to_string(file).unwrap();
    bench.write("web.toml", text.split_once("[sweep]").expect("web.toml is a sweep").0);
    let json = bench.json(&["run", "web.toml", "--json", "--set", "links.access.aqm={ law = \"fq-codel\" }"]);
    let page = fs::read_to_string(bench.path(json["runs"][0]["report"].as_str().unwrap())).unwrap();
    assert!(page.contains("plot narrow"), "words of the broad drawings are too small at 360 pixels");
    assert!(page.len() < 400_000, "{} bytes", page.len());
}

#[test]
fn a_sweep_has_a_record_a_cell_and_a_summary() {
    let bench = swept();
    let out = bench.well(&["sweep", "swept.toml"]);
    assert!(out.contains("20 Mbit/s"), "{out}");
    let entries = bench.names("out/swept");
    // sweep.json, cells.parquet, source.json and report.html.
    assert_eq!(entries.len(), 6 + 4, "{entries:?}");
    let sweep: Value = serde_json::from_slice(&fs::read(bench.path("out/swept/sweep.json")).unwrap()).unwrap();
    assert_eq!(sweep["cells"].as_array().unwrap().len(), 6);
    assert_eq!(sweep["groups"].as_array().unwrap().len(), 3);
    let json = bench.result(&["run", "swept.toml", "--json"]);
    assert_eq!(json["cells"].as_array().unwrap().len(), 6);
    assert_eq!(bench.names("out"), ["swept"]);
}

/// Everything that a run leaves but what it cost: file by file.
fn results(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for name in names(directory) {
        let path = directory.join(&name);
        if path.is_dir() {
            files.extend(results(&path).into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else if name != "cost.json" {
            files.push((name, fs::read(&path).unwrap()));
        }
    }
    files
}

/// Byte by byte, the page included, and what a run cost is in the only file that differs.
#[test]
fn equal_runs_leave_equal_bytes() {
    let bench = small();
    bench.well(&["run", "small.toml", "--out", "one"]);
    bench.well(&["run", "small.toml", "--out", "two"]);
    let (one, two) = (results(&bench.path("one")), results(&bench.path("two")));
    let names: Vec<&str> = one.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"small-seed1/summary.json") && names.contains(&"small-seed1/record.toml"), "{names:?}");
    for ((name, first), second) in one.iter().zip(&two) {
        assert!((name, first) == (&second.0, &second.1), "{name} differs");
    }
    let cost: Value = serde_json::from_slice(&fs::read(bench.path("one/small-seed1/cost.json")).unwrap()).unwrap();
    assert!(cost["wall_s"].as_f64().unwrap() > 0.0 && cost["format"] == 1, "{cost}");
}

#[test]
fn results_are_the_same_bits_whatever_the_number_of_threads() {
    let bench = swept();
    bench.well(&["run", "swept.toml", "--jobs", "1", "--out", "one"]);
    bench.well(&["run", "swept.toml", "--jobs", "2", "--out", "two"]);
    let (one, two) = (results(&bench.path("one")), results(&bench.path("two")));
    assert!(one.len() > 6 * 4, "{}", one.len());
    for ((name, first), second) in one.iter().zip(&two) {
        assert!((name, first) == (&second.0, &second.1), "{name} differs");
    }
    assert_eq!(one.len(), two.len());
    // The comparison would see a difference.
    bench.well(&["run", "swept.toml", "--out", "three", "--set", "flows.ftp.count=3"]);
    assert!(one != results(&bench.path("three")));
}

/// Three links in a row, with a delay between them.
const ROW: &str = r#"
format = 1
duration = "3 s"
warmup = "1 s"
[defaults.links]
rate = "10 Mbit/s"
delay = "4 ms"
buffer = "40 packets"
[defaults.flows]
count = 2
cc = { law = "newreno" }
[links]
a = { from = "n0", to = "n1" }
b = { from = "n1", to = "n2" }
c = { from = "n2", to = "n3" }
[flows]
long = { from = "n0", to = "n3", rtt = "40 ms" }
at_b = { from = "n1", to = "n2", rtt = "30 ms" }
at_c = { from = "n2", to = "n3", rtt = "20 ms" }
"#;

/// One run on several threads leaves the same bytes, the record's among them, and says where it does not use them all.
#[test]
fn a_run_is_the_same_bytes_on_any_number_of_threads() {
    let bench = small();
    bench.write("row.toml", ROW);
    bench.well(&["run", "row.toml", "--out", "one"]);
    let one = results(&bench.path("one"));
    assert!(one.len() > 4, "{}", one.len());
    for (threads, said) in [("1", ""), ("2", ""), ("3", ""), ("8", "3 threads run: the scenario has no more parts")] {
        let ended = bench.run(&["run", "row.toml", "--out", threads, "--threads", threads]);
        assert_eq!(ended.status, 0, "{threads}: {}", ended.err);
        assert!(
            ended.err.contains(said) && ended.err.contains("--threads") != said.is_empty(),
            "{threads}: {}",
            ended.err
        );
        assert!(results(&bench.path(threads)) == one, "{threads}");
    }
    let ended = bench.run(&["run", "small.toml", "--threads", "2"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.err.contains("--threads: the run stays on one thread: it has one link"), "{}", ended.err);
    // Packets are captured in one order.
    let ended = bench.run(&["run", "row.toml", "--out", "captured", "--threads", "2", "--pcap"]);
    assert!(ended.status == 0 && ended.err.contains("its packets are watched"), "{}", ended.err);
}

/// So does a run of the fluid model, whose senders are divided by their groups. Flows of fifty round trips are work for a thread.
#[test]
fn a_fluid_run_is_the_same_bytes_on_any_number_of_threads() {
    let bench = small();
    let many = ROW.replace("count = 2", "count = 50").replace("ms\" }", "ms\", \"90 ms\"] } }");
    bench.write("row.toml", &many.replace("rtt = ", "rtt = { spread = ["));
    bench.well(&["run", "row.toml", "--world", "fluid", "--out", "one"]);
    let one = results(&bench.path("one"));
    assert!(one.len() > 4, "{}", one.len());
    let fewer = "at most 3 threads run: the scenario has no more groups";
    for (threads, said) in [("1", ""), ("2", ""), ("3", ""), ("8", fewer)] {
        let ended = bench.run(&["run", "row.toml", "--world", "fluid", "--out", threads, "--threads", threads]);
        assert_eq!(ended.status, 0, "{threads}: {}", ended.err);
        assert_eq!(ended.err.contains("--threads"), !said.is_empty(), "{threads}: {}", ended.err);
        assert!(ended.err.contains(said), "{threads}: {}", ended.err);
        assert!(results(&bench.path(threads)) == one, "{threads}");
    }
    let ended = bench.run(&["run", "small.toml", "--world", "fluid", "--threads", "2"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.err.contains("--threads: the run stays on one thread: its flows are one group"), "{}", ended.err);
}

/// A run that does not end before somebody ends it.
const ENDLESS: &str = "4000 h";

/// Starts the command, waits until `ready`, and sends what Ctrl-C sends.
fn interrupted(bench: &Bench, arguments: &[&str], ready: &dyn Fn() -> bool) -> Option<i32> {
    let mut command = bench.interruptible(arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    for _ in 0..1200 {
        if ready() || child.try_wait().unwrap().is_some() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    child.wait().unwrap().code()
}

#[test]
fn ctrl_c_keeps_complete_records_and_removes_the_rest() {
    let bench = Bench::new();
    let sweep = format!("sample = \"1 min\"\n{SMALL}\n[sweep]\nduration = [\"3 s\", \"{ENDLESS}\"]\n");
    bench.write("long.toml", &sweep);
    let is_record = |name: &String| !name.starts_with('.') && name != "source.json";
    let one_done = || names(&bench.path("out/long")).iter().any(is_record);
    assert_eq!(interrupted(&bench, &["sweep", "long.toml", "--jobs", "2"], &one_done), Some(130));
    let mut entries = bench.names("out/long");
    entries.retain(is_record);
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert!(bench.path("out/long").join(&entries[0]).join("summary.json").is_file());
    assert_eq!(bench.names("out"), ["long"]);
}

#[test]
fn ctrl_c_before_anything_is_complete_leaves_nothing() {
    let bench = Bench::new();
    bench.write("long.toml", &format!("sample = \"1 min\"\n{SMALL}{SWEEP}"));
    let duration = format!("duration={ENDLESS}");
    // The directory of the sweep is made after Ctrl-C is watched for.
    let started = || bench.path("out/long").is_dir();
    assert_eq!(interrupted(&bench, &["run", "long.toml", "--set", &duration], &started), Some(130));
    assert!(bench.names("out").is_empty(), "{:?}", bench.names("out"));
}

#[test]
fn what_check_prints_is_a_scenario_that_says_the_same() {
    let bench = small();
    let printed = bench.well(&["check", "small.toml", "--set", "flows.ftp.count=5"]);
    assert!(printed.contains("count = 5") && printed.contains("min_rto"), "{printed}");
    bench.write("printed.toml", &printed);
    assert_eq!(bench.well(&["check", "printed.toml"]), printed);
    let swept = swept();
    let printed = swept.well(&["check", "swept.toml"]);
    assert!(printed.contains("\n# A sweep of 6 cells"), "{printed}");
}

#[test]
fn a_report_is_built_again_from_the_record() {
    let bench = swept();
    bench.write("small.toml", SMALL);
    bench.well(&["run", "small.toml", "swept.toml"]);
    let report = bench.path("out/small-seed1/report.html");
    let before = fs::read(&report).unwrap();
    fs::remove_file(&report).unwrap();
    bench.well(&["report", "out/small-seed1"]);
    assert!(fs::read(&report).unwrap() == before, "the same page");
    fs::remove_file(bench.path("out/swept/report.html")).unwrap();
    bench.well(&["report", "out/swept"]);
    assert!(fs::read_to_string(bench.path("out/swept/report.html")).unwrap().contains("20"));
}

/// The record is all that a report needs: not the files that the scenario names.
#[test]
fn a_report_is_built_again_without_the_trace() {
    let bench = Bench::new();
    bench.write("traced.toml", &SMALL.replace("rate = \"10 Mbit/s\"", "rate = { trace = \"cell.trace\" }"));
    bench.write("cell.trace", "0\n1\n3\n");
    bench.well(&["run", "traced.toml"]);
    let report = bench.path("out/traced-seed1/report.html");
    let before = fs::read(&report).unwrap();
    fs::remove_file(bench.path("cell.trace")).unwrap();
    fs::remove_file(&report).unwrap();
    bench.well(&["report", "out/traced-seed1"]);
    assert!(fs::read(&report).unwrap() == before, "the same page");
}

#[test]
fn an_analysis_is_printed_and_is_json() {
    let bench = Bench::new();
    let fast =
        SMALL.replace("50 packets", "unlimited").replace("law = \"newreno\"", "law = \"fast\", alpha = \"5 packets\"");
    bench.write("fast.toml", &fast);
    let analysis = bench.json(&["analyze", "fast.toml", "--json"]);
    // Two flows of alpha 5 keep ten packets queued.
    assert!((analysis["links"][0]["queue_packets"].as_f64().unwrap() - 10.0).abs() < 0.01, "{analysis}");
    assert!(bench.well(&["analyze", "fast.toml", "--out", "out"]).contains("Margins"));
    assert_eq!(bench.names("out"), ["fast-analysis"]);
    assert_eq!(bench.names("out/fast-analysis"), ["analysis.json", "report.html"]);
}

#[test]
fn the_registry_is_printed_and_is_json() {
    let bench = Bench::new();
    let laws = bench.json(&["laws", "--json"]);
    let names: Vec<&str> = laws.as_array().unwrap().iter().map(|l| l["name"].as_str().unwrap()).collect();
    let table = bench.well(&["laws"]);
    for name in names {
        assert!(table.contains(name), "{name}");
        let one = bench.well(&["laws", name]);
        let json = bench.json(&["laws", name, "--json"]);
        for parameter in json["parameters"].as_array().unwrap() {
            assert!(one.contains(parameter["name"].as_str().unwrap()), "{one}");
        }
        for state in json["state"].as_array().unwrap() {
            for key in ["column", "words", "description"] {
                assert!(one.contains(state[key].as_str().unwrap()), "{key} of {state}: {one}");
            }
        }
    }
}

/// The column `first_above_s` of `links.parquet` is explained where the law is.
#[test]
fn the_state_of_a_law_is_explained() {
    let codel = Bench::new().well(&["laws", "codel"]);
    for text in
        ["first_above_s", "Time at which dropping begins [s]", "One interval after the delay rose above the target"]
    {
        assert!(codel.contains(text), "{text}: {codel}");
    }
}

#[test]
fn a_reader_who_leaves_is_no_failure() {
    let bench = Bench::new();
    let mut child = bench.command(&["laws"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
