//! `run`, `sweep`, `check`, `analyze`, `report`: what goes in, what comes out, and with which status.

mod bench;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use bench::{Bench, SMALL, SWEEP, names};
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
    bench.well(&["run", "small.toml", "--set", "flows.ftp.count=3"]);
    assert_eq!(bench.names("out"), ["small-seed1", "small-seed1-2"]);
    assert_eq!(fs::read(bench.path("out/small-seed1/record.toml")).unwrap(), first);
}

#[test]
fn json_is_the_summary_and_nothing_else() {
    let bench = small();
    let summary = bench.json(&["run", "small.toml", "--json", "--seed", "7"]);
    assert_eq!(summary["seed"], 7);
    assert!(summary["links"]["bottleneck"]["utilization"].as_f64().unwrap() > 0.5);
    assert!(summary["engine"]["cpu_s"].as_f64().unwrap() > 0.0);
    assert!(summary["engine"]["peak_memory_bytes"].as_u64().unwrap() > 1_000_000);
    let file: Value = serde_json::from_slice(&fs::read(bench.path("out/small-seed7/summary.json")).unwrap()).unwrap();
    assert_eq!(file, summary);
}

#[test]
fn several_files_are_a_list() {
    let bench = small();
    bench.write("other.toml", SMALL);
    let list = bench.json(&["run", "small.toml", "other.toml", "--json"]);
    assert_eq!(list.as_array().unwrap().len(), 2);
    assert_eq!(bench.names("out"), ["other-seed1", "small-seed1"]);
}

#[test]
fn set_changes_the_scenario() {
    let bench = small();
    let set = ["--set", "links.bottleneck.rate=20 Mbit/s", "--set", "flows.ftp.count=4"];
    let summary = bench.json(&[&["run", "small.toml", "--json"], &set[..]].concat());
    assert_eq!(summary["groups"]["ftp"]["count"], 4);
    assert!(summary["links"]["bottleneck"]["throughput_bit_per_s"].as_f64().unwrap() > 11e6);
}

#[test]
fn bad_input_is_one_clear_message_and_leaves_no_file() {
    let bench = small();
    bench.write("typo.toml", &SMALL.replace("rate = ", "rte = "));
    for (arguments, says) in [
        (&["run", "typo.toml"][..], "typo.toml:10: links.bottleneck.rte"),
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
        (&["sweep", "small.toml", "--shard", "3/2"], "write I/N, as in 1/4, with I from 1 to N"),
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

/// What transfers took is on the terminal, with its median and its tail.
#[test]
fn transfers_are_printed_with_their_quantiles() {
    let bench = small();
    let out = bench.well(&["run", "small.toml", "--set", "flows.ftp.size=20 kB", "--set", "warmup=0 s"]);
    for row in ["Transfers done", "Mean completion", "Median completion", "Completion p99"] {
        assert!(out.contains(row), "{row}: {out}");
    }
    assert!(!bench.well(&["run", "small.toml"]).contains("Completion"), "where there are none, nothing is said");
}

#[test]
fn a_sweep_has_a_record_a_cell_and_a_summary() {
    let bench = swept();
    let out = bench.well(&["sweep", "swept.toml"]);
    assert!(out.contains("20 Mbit/s"), "{out}");
    let entries = bench.names("out/swept");
    assert_eq!(entries.len(), 6 + 3, "{entries:?}");
    let sweep: Value = serde_json::from_slice(&fs::read(bench.path("out/swept/sweep.json")).unwrap()).unwrap();
    assert_eq!(sweep["cells"].as_array().unwrap().len(), 6);
    assert_eq!(sweep["groups"].as_array().unwrap().len(), 3);
    let json = bench.json(&["run", "swept.toml", "--json"]);
    assert_eq!(json["cells"].as_array().unwrap().len(), 6);
    assert_eq!(bench.names("out"), ["swept"]);
}

/// Everything that a run leaves but what it cost and when: file by file.
fn results(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for name in names(directory) {
        let path = directory.join(&name);
        if path.is_dir() {
            files.extend(results(&path).into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else if name == "summary.json" {
            let mut summary: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let engine = summary.as_object_mut().unwrap().shift_remove("engine").unwrap();
            files.push((name, format!("{summary} {} {}", engine["events"], engine["packets"]).into_bytes()));
        } else if name == "record.toml" {
            let text = fs::read_to_string(&path).unwrap();
            // Wall time, the hash of the summary, which has it too, and that of the header.
            let costs =
                |line: &&str| ["wall_s", "\"summary.json\"", "# SHA-256"].iter().any(|cost| line.starts_with(cost));
            let kept: Vec<&str> = text.lines().filter(|line| !costs(line)).collect();
            files.push((name, kept.join("\n").into_bytes()));
        } else if name.ends_with(".parquet") {
            files.push((name, fs::read(&path).unwrap()));
        }
    }
    files
}

#[test]
fn results_are_the_same_bits_whatever_the_number_of_threads() {
    let bench = swept();
    bench.well(&["run", "swept.toml", "--jobs", "1", "--out", "one"]);
    bench.well(&["run", "swept.toml", "--jobs", "2", "--out", "two"]);
    let (one, two) = (results(&bench.path("one")), results(&bench.path("two")));
    assert!(one.len() > 6 * 4, "{}", one.len());
    assert!(one == two);
    // The comparison would see a difference.
    bench.well(&["run", "swept.toml", "--out", "three", "--set", "flows.ftp.count=3"]);
    assert!(one != results(&bench.path("three")));
}

/// A run that does not end before somebody ends it.
const ENDLESS: &str = "4000 h";

/// Starts the command, waits until `ready`, and sends what Ctrl-C sends.
fn interrupted(bench: &Bench, arguments: &[&str], ready: &dyn Fn() -> bool) -> Option<i32> {
    let mut command = bench.command(arguments);
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
    assert!(printed.starts_with("# A sweep of 6 cells"), "{printed}");
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
            for key in ["column", "words", "what"] {
                assert!(one.contains(state[key].as_str().unwrap()), "{key} of {state}: {one}");
            }
        }
    }
}

/// What `links.parquet` calls `first_above_s` is explained where the law is.
#[test]
fn the_state_of_a_law_is_explained() {
    let codel = Bench::new().well(&["laws", "codel"]);
    for text in ["first_above_s", "Time at which dropping begins [s]", "above target for a whole interval"] {
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
