//! `--world linux` and `penstock linux path`: real TCP over the emulated path. Needs root, or a user namespace, and TUN.

mod bench;
mod optional;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use bench::Bench;
use serde_json::Value;

/// 2 s of Reno over a link of 20 Mbit/s.
const LINE: &str = r#"
format = 1
title = "Reno"
duration = "3 s"
warmup = "1 s"
[links.bottleneck]
from = "left"
to = "right"
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "1 bdp"
duplex = true
[flows.reno]
from = "left"
to = "right"
rtt = "20 ms"
start = "0 s"
cc = { law = "newreno" }
sender = { initial_window = 10 }
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("line.toml", LINE);
    bench
}

/// The record has the names of the other worlds, and says what the path was off by; the link is full, nothing is lost
/// between sockets and link, and what the kernel was asked for is what it did.
fn a_run_fills_its_link_and_states_its_error() {
    optional::timed(fills_its_link_and_states_its_error);
}

fn fills_its_link_and_states_its_error(late: &optional::Late) {
    let bench = bench();
    let ended = bench.run(&["run", "line.toml", "--world", "linux", "--json"]);
    // A machine that is very busy may disturb the path: then it says so.
    assert!([0, 4].contains(&ended.status), "{}", ended.err);
    late.replace(ended.late());
    let summary = ended.result();
    let path = &summary["path"];
    assert_eq!(path["within_bound"], ended.status == 0, "{path}");
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{summary}"));
    let (link, group) = (&summary["links"]["bottleneck"], &summary["groups"]["reno"]);
    assert!(number(&link["utilization"]) > 0.9 && number(&link["utilization"]) <= 1.0001, "{link}");
    let goodput = number(&group["goodput_bit_per_s"]) / 20e6;
    assert!(goodput > 0.85 && goodput < 0.98, "a header of 40 B in 1500 B leaves 97 %: {goodput}");
    assert_eq!(path["sockets"]["reno"], "reno, SACK, 1460 B a segment");
    assert_eq!((&path["bottleneck"], &path["device_drops"]), (&"bottleneck".into(), &0.into()));
    // Where the window is above the path's 33 packets, the rest of it waits; the buffer of 34 bounds both.
    let (window, queue) = (number(&group["window_mean_packets"]), number(&link["queue_mean_packets"]));
    assert!(queue <= 34.0 && window > 30.0 && window < 75.0, "{window} {queue}");
    let record = bench.path("out/line-seed1");
    for file in ["record.toml", "links.parquet", "groups.parquet", "report.html"] {
        assert!(record.join(file).is_file(), "{file}");
    }
}

/// A cell that ran with processors kept awake does not stand for one without, nor the reverse: both stay in the directory.
fn a_sweep_with_processors_awake_is_another() {
    let bench = Bench::new();
    let short = LINE.replace("3 s", "600 ms").replace("1 s", "200 ms");
    bench.write("line.toml", &(short + "[sweep]\n\"flows.reno.sender.initial_window\" = [10]\n"));
    let swept = |awake: &[&str]| {
        let ended = bench.run(&[&["sweep", "line.toml", "--world", "linux"], awake].concat());
        assert!([0, 4].contains(&ended.status), "{}", ended.err);
        let file: Value = serde_json::from_slice(&fs::read(bench.path("out/line/sweep.json")).unwrap()).unwrap();
        let header = bench.path("out/line").join(file["cells"][0]["path"].as_str().unwrap()).join("record.toml");
        let header: toml::Table = fs::read_to_string(header).unwrap().parse().unwrap();
        let named = header.get("awake").and_then(toml::Value::as_bool);
        assert_eq!(named, file.get("awake").and_then(Value::as_bool), "{file}");
        (named, ended.err.contains("1 of 1 cells are finished"), ended.err)
    };
    let (named, reused, _) = swept(&[]);
    assert_eq!((named, reused), (None, false));
    let (named, reused, said) = swept(&["--awake"]);
    assert_eq!((named, reused), (Some(true), false), "{said}");
    let words = "are those of the scenario as it stands in its file without `--awake`, and will be those of the scenario as it \
                 stands in its file with `--awake`";
    assert!(said.contains(words), "{said}");
    for (option, named) in [(&["--awake"][..], Some(true)), (&[], None)] {
        let (found, reused, said) = swept(option);
        assert_eq!((found, reused), (named, true), "{option:?}: {said}");
    }
}

/// Half a million small packets a second are more than one thread hands over: the run is kept, and flagged.
fn an_overload_is_flagged() {
    let bench = bench();
    let flood = LINE
        .split("[flows.reno]")
        .next()
        .unwrap()
        .replace("20 Mbit/s", "100 Gbit/s")
        .replace("1 bdp", "unlimited")
        + "[flows.flood]\nfrom = \"left\"\nto = \"right\"\nrtt = \"20 ms\"\nstart = \"0 s\"\ncount = 2\ncc = { law = \"cbr\", rate = \"40 Gbit/s\" }\n";
    bench.write("flood.toml", &flood.replace("title", "packet = { wire = \"576 B\", payload = \"536 B\" }\ntitle"));
    let ended = bench.run(&["run", "flood.toml", "--world", "linux", "--json"]);
    assert_eq!(ended.status, 4, "{}", ended.err);
    let path = &ended.result()["path"];
    assert_eq!(path["within_bound"], false);
    assert!(!path["beyond"].as_array().unwrap().is_empty(), "{path}");
    assert!(bench.path("out/flood-seed1/summary.json").is_file(), "the record is kept");
}

/// A command finds the other end, its own network and nothing else; its status is the tool's.
fn a_program_runs_at_the_sending_end() {
    let bench = bench();
    let inside =
        "cut -d: -f1 /proc/net/dev | tr -d ' ' | grep -v face | sort | tr '\n' ' '; echo $PENSTOCK_RECEIVER; exit 7";
    let ended = bench.run(&["linux", "path", "line.toml", "--", "sh", "-c", inside]);
    assert_eq!(ended.status, 7, "{}", ended.err);
    let words: Vec<&str> = ended.out.split_whitespace().filter(|word| !word.starts_with("Inter")).collect();
    assert_eq!(words, ["lo", "penstock0", "10.78.0.1"], "{}", ended.out);
    let ended = bench.run(&["linux", "path", "line.toml", "--", "no-such-program"]);
    assert!(ended.status == 2 && ended.err.contains("cannot run `no-such-program`"), "{}", ended.err);
}

/// A server that fails is no silence: its status is reported, and a command that did not notice does not end well.
fn a_server_that_fails_is_told_of() {
    let bench = bench();
    let with = |server: &str, command: &str| {
        bench.run(&["linux", "path", "line.toml", "--server", server, "--", "sh", "-c", command])
    };
    let ended = with("exit 5", "sleep 0.5");
    assert!(ended.status == 3 && ended.err.contains("with status 5"), "{} {}", ended.status, ended.err);
    let ended = with("exit 5", "sleep 0.5; exit 9");
    assert!(ended.status == 9 && ended.err.contains("with status 5"), "{} {}", ended.status, ended.err);
    let ended = with("sleep 60", "sleep 0.2");
    assert!([0, 4].contains(&ended.status) && !ended.err.contains("server"), "{} {}", ended.status, ended.err);
}

/// Both worlds give the same tables and the same names: what is under a contract is held against it, classes get what the
/// queue gives them. Datagrams make it exact: what is offered does not depend on who carries it.
fn customers_and_classes_are_measured_as_in_packets() {
    optional::timed(customers_and_classes_are_as_in_packets);
}

fn customers_and_classes_are_as_in_packets(late: &optional::Late) {
    let bench = bench();
    let link = LINE
        .split("[flows.reno]")
        .next()
        .unwrap()
        .replace("duplex = true", "scheduler = { law = \"drr\", by = \"class\" }");
    let flows = r#"
[defaults.flows]
from = "left"
to = "right"
rtt = "20 ms"
start = "0 s"
[flows.gold]
class = "gold"
cc = { law = "cbr", rate = "16 Mbit/s" }
[flows.other]
class = "other"
cc = { law = "cbr", rate = "12 Mbit/s", spacing_jitter = 0.2 }
[classes.gold]
share = 0.5
[classes.other]
[customers.c]
flows = ["gold"]
conditioner = { law = "token-bucket", committed_rate = "8 Mbit/s", bucket = "15 kB" }
"#;
    bench.write("classes.toml", &(link + flows));
    let ended = bench.run(&["compare", "classes.toml", "--worlds", "packets,linux"]);
    assert!([0, 4].contains(&ended.status), "{}", ended.err);
    let summary = |world: &str| {
        let ended = bench.run(&["run", "classes.toml", "--world", world, "--json", "--out", world]);
        assert!([0, 4].contains(&ended.status), "{}", ended.err);
        late.replace(ended.late());
        let record = bench.path(world).join("classes-seed1");
        for table in ["classes.parquet", "customers.parquet"] {
            assert!(record.join(table).is_file(), "{world}: {table}");
        }
        ended.result()
    };
    let [packets, linux] = ["packets", "linux"].map(summary);
    let near = |path: &str, within: f64| {
        let [a, b] = [&packets, &linux]
            .map(|s| s.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {s}")));
        assert!((b / a - 1.0).abs() < within, "{path}: {a} in packets, {b} in linux");
    };
    near("/customers/c/in_profile_fraction", 0.03);
    near("/customers/c/throughput_bit_per_s", 0.03);
    near("/customers/c/committed_bit_per_s", 1e-9);
    for class in ["gold", "other"] {
        near(&format!("/classes/{class}/offered_bit_per_s"), 0.03);
        near(&format!("/classes/{class}/served_bit_per_s"), 0.03);
        near(&format!("/classes/{class}/max_min_bit_per_s"), 0.03);
    }
    near("/classes/gold/ratio", 0.05);
    near("/fairness/classes", 0.03);
}

/// Transfers of the open and of the closed loop come when they do in the packets world, drawn from the same streams, and a
/// flow that pauses sends for its share of the time only.
fn transfers_arrive_rest_and_pause() {
    optional::timed(transfers_do_as_in_packets);
}

fn transfers_do_as_in_packets(late: &optional::Late) {
    let bench = bench();
    let link = LINE.split("[flows.reno]").next().unwrap().replace("20 Mbit/s", "100 Mbit/s");
    let flows = r#"
[defaults.flows]
from = "left"
to = "right"
rtt = "20 ms"
start = "0 s"
cc = { law = "newreno" }
sender = { initial_window = 10 }
[flows.arrive]
count = 20
size = { pareto = { mean = "20 kB", shape = 2.2 } }
arrivals = { poisson = "40 /s" }
[flows.rest]
size = "30 kB"
idle = "100 ms"
access = { rate = "50 Mbit/s", queue = "100 packets" }
jitter = { uniform = ["1 ms", "3 ms"] }
ack_jitter = { probability = 0.1, uniform = ["1 ms", "2 ms"] }
[flows.pause]
cc = { law = "cbr", rate = "4 Mbit/s" }
on_off = { on = "100 ms", off = "300 ms" }
"#;
    bench.write("transfers.toml", &(link + flows));
    let run = |world: &str| {
        let ended = bench.run(&["run", "transfers.toml", "--world", world, "--json", "--out", world]);
        assert!([0, 4].contains(&ended.status), "{}", ended.err);
        late.replace(ended.late());
        assert!(bench.path(world).join("transfers-seed1/transfers.parquet").is_file(), "{world}");
        ended.result()
    };
    let [packets, linux] = ["packets", "linux"].map(run);
    let number = |summary: &Value, path: &str| {
        summary.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {summary}"))
    };
    let both = |path: &str| [number(&packets, path), number(&linux, path)];
    let [a, b] = both("/groups/arrive/transfers/completed");
    assert!(a > 50.0 && (a - b).abs() <= 4.0, "the same arrive: {a}, {b}");
    let [a, b] = both("/groups/rest/transfers/completion_mean_s");
    // The kernel's has a handshake of 20 ms and what delays at the ends add to it.
    assert!(b > a + 0.015 && b < a + 0.06, "{a} {b}");
    let [a, b] = both("/groups/rest/transfers/completed");
    assert!(a >= 8.0 && b >= 6.0 && b <= a, "{a} {b}");
    let [a, b] = both("/groups/pause/goodput_bit_per_s");
    assert!(a > 0.8e6 && (b / a - 1.0).abs() < 0.1, "{a} {b}");
}

/// Directories in `/proc` of the processes with this mark in their environment.
fn marked(mark: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let mine = |path: &PathBuf| {
        fs::read(path.join("environ")).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(mark))
    };
    paths.filter(mine).collect()
}

/// Processes that are there because of a tool with this mark in its environment.
fn left(mark: &str) -> Vec<String> {
    let command = |path: &PathBuf| fs::read_to_string(path.join("comm")).unwrap_or_default();
    marked(mark).iter().map(|path| format!("{}: {}", path.display(), command(path))).collect()
}

/// Network namespaces that processes with this mark are in, and this test is not, as `net:[4026532000]`. A machine has others,
/// such as a browser's.
fn namespaces(mark: &str) -> BTreeSet<PathBuf> {
    let of = |path: &Path| fs::read_link(path.join("ns/net")).ok();
    let own = of(Path::new("/proc/self"));
    marked(mark).iter().filter_map(|path| of(path)).filter(|found| Some(found) != own.as_ref()).collect()
}

/// Those of these namespaces that are still held by a process or a mount.
fn held(namespaces: &BTreeSet<PathBuf>) -> String {
    let output = Command::new("lsns").args(["-t", "net", "-n", "-o", "NS"]).output();
    let output = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let held = |namespace: &str| namespaces.contains(Path::new(&format!("net:[{namespace}]")));
    output.split_whitespace().filter(|namespace| held(namespace)).collect::<Vec<_>>().join(" ")
}

/// Killed while it makes its ends, as it begins, and while it runs: no process, no namespace and no device is left.
fn a_kill_leaves_nothing() {
    let bench = bench();
    let mut made = BTreeSet::new();
    for (moment, wait_ms) in [15, 20, 25, 30, 60, 150, 600, 1500].into_iter().enumerate() {
        for tool in [true, false] {
            let mark = format!("PENSTOCK_TEST_MARK={}-{moment}-{tool}", std::process::id());
            let (variable, value) = mark.split_once('=').unwrap();
            let arguments: &[&str] = if tool {
                &["linux", "path", "line.toml", "--server", "sleep 333", "--", "sh", "-c", "sleep 333 & sleep 333"]
            } else {
                &["run", "line.toml", "--world", "linux"]
            };
            let mut child = bench
                .command(arguments)
                .env(variable, value)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            thread::sleep(Duration::from_millis(wait_ms));
            // The last tool is killed while it runs, however long a busy machine takes to get there: itself, two first processes,
            // the server and the command.
            let runs = || namespaces(&mark).len() >= 2 && left(&mark).len() >= 5;
            assert!(!tool || wait_ms < 1500 || optional::eventually(runs), "{:?}", left(&mark));
            made.extend(namespaces(&mark));
            child.kill().unwrap();
            child.wait().unwrap();
            let mut rest = left(&mark);
            for _ in 0..40 {
                if rest.is_empty() {
                    break;
                }
                thread::sleep(Duration::from_millis(25));
                rest = left(&mark);
            }
            assert!(rest.is_empty(), "killed after {wait_ms} ms: {rest:?}");
        }
    }
    // The kernel takes a namespace down some time after the last of it is gone.
    assert!(made.len() >= 2, "two namespaces of the last tool: {made:?}");
    assert!(optional::eventually(|| held(&made).is_empty()), "{}", held(&made));
    let devices = fs::read_to_string("/proc/net/dev").unwrap();
    assert!(!devices.contains("penstock"), "{devices}");
}

/// The battery of a criterion that names one cell for this world.
const CRITERION: &str = r#"
format   = 1
id       = "EV-04"
title    = "Bufferbloat"
battery  = "sender"
document = "RFC 9743"
section  = "5.1.2"
level    = "MUST consider"
requirement = "Queues stay short."
scenario = "flows"
[cells]
linux = { "links.bottleneck.buffer" = "1 bdp" }
[[measure]]
name  = "used"
title = "utilization"
path  = "links.bottleneck.utilization"
worst = "smallest"
bound = { at_least = 0.5, source = "ours" }
[[measure]]
name  = "standing-queue"
title = "standing queue"
path  = "links.bottleneck.dynamics.standing_queue_s"
"#;

/// CUBIC and the baseline fill a link of 10 Mbit/s in both worlds; what samples rounds is named as not measured here.
fn an_evaluation_compares_the_worlds() {
    optional::timed(evaluation_compares_the_worlds);
}

fn evaluation_compares_the_worlds(late: &optional::Late) {
    let bench = Bench::new();
    let scenario = LINE.replace("\"3 s\"", "\"8 s\"").replace("\"1 s\"", "\"2 s\"").replace("flows.reno", "flows.test");
    let scenario = scenario.replace("sender = { initial_window = 10 }", "sender = { profile = \"linux\" }");
    let swept = "[dynamics]\n[sweep]\n\"links.bottleneck.buffer\" = [\"1 bdp\", \"4 bdp\"]\n";
    bench.write("battery/scenarios/flows.toml", &(scenario + swept)).write("battery/EV-04.toml", CRITERION);
    let asked = ["evaluate", "cubic", "--quick", "--battery", "battery", "--world", "packets,linux"];
    let ended = bench.run(&[&asked[..], &["--json"]].concat());
    assert!([0, 4].contains(&ended.status), "{}", ended.err);
    let evaluation: Value = serde_json::from_str(&ended.out).unwrap();
    let beside = &evaluation["beside"];
    let beyond = beside["beyond"].as_array().and_then(|beyond| beyond.first());
    late.replace(beyond.map(ToString::to_string));
    assert_eq!(beyond.is_some(), ended.status == 4, "{beside}");
    // Two laws, three seeds; the packets world has both buffers.
    assert_eq!((&evaluation["world"], &evaluation["runs"]), (&"packets".into(), &12.into()));
    assert_eq!((&beside["world"], &beside["runs"]), (&"linux".into(), &6.into()));
    let rows = beside["rows"].as_array().unwrap();
    let of = |row: &Value| [&row["measure"], &row["law"]].map(|word| word.as_str().unwrap_or_default().to_owned());
    let wanted = [["used", "cubic"], ["used", "newreno"]];
    assert_eq!(rows.iter().map(of).collect::<Vec<_>>(), wanted.map(|row| row.map(str::to_owned)));
    for row in rows {
        let difference = row["difference"].as_f64().unwrap();
        assert!(difference.abs() < 0.1, "{row}");
    }
    let not_run = &beside["not_run"][0];
    assert_eq!((&not_run["measures"][0], &not_run["id"]), (&"standing-queue".into(), &"EV-04".into()));
    assert!(not_run["why"].as_str().unwrap().contains("does not sample each round"), "{not_run}");
    let home = bench.path("out/evaluation-cubic-quick-packets-linux");
    for (file, words) in
        [("evaluation.html", "The linux world beside the packets world"), ("evaluation.md", "linux / packets")]
    {
        let page = fs::read_to_string(home.join(file)).unwrap();
        assert!(page.contains(words) && page.contains("does not sample"), "{file}");
    }
    // Runs in real time are kept as the others are; a law that no kernel has is named.
    let again = bench.run(&[&asked[..], &["--plain"]].concat());
    assert!(again.err.contains("6 of 6 cells are finished") && again.out.contains("linux - packets"), "{}", again.err);
    let other = bench.run(&["evaluate", "vivace", "--quick", "--battery", "battery", "--world", "linux", "--json"]);
    let other: Value = serde_json::from_str(&other.out).unwrap_or_else(|e| panic!("{e}: {}", other.err));
    let why = other["criteria"][0]["why"].as_str().unwrap();
    assert!(other["criteria"][0]["verdict"] == "not-evaluated" && why.contains("no kernel has a controller"), "{why}");
}

fn main() {
    optional::run(
        &[
            ("a_run_fills_its_link_and_states_its_error", a_run_fills_its_link_and_states_its_error),
            ("an_overload_is_flagged", an_overload_is_flagged),
            ("a_sweep_with_processors_awake_is_another", a_sweep_with_processors_awake_is_another),
            ("an_evaluation_compares_the_worlds", an_evaluation_compares_the_worlds),
            ("a_program_runs_at_the_sending_end", a_program_runs_at_the_sending_end),
            ("a_server_that_fails_is_told_of", a_server_that_fails_is_told_of),
            ("customers_and_classes_are_measured_as_in_packets", customers_and_classes_are_measured_as_in_packets),
            ("transfers_arrive_rest_and_pause", transfers_arrive_rest_and_pause),
            ("a_kill_leaves_nothing", a_kill_leaves_nothing),
        ],
        optional::kernel(penstock_path::missing()),
    );
}
