//! `--generator iperf3`: another program's traffic in the place of our own. Needs what `--world linux` needs, and iperf3.

mod bench;
mod optional;

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use bench::Bench;
use serde_json::Value;

/// Two flows of Reno over 20 Mbit/s; the second begins later and stops.
const LINE: &str = r#"
format = 1
title = "Reno"
duration = "6 s"
warmup = "1 s"
[links.bottleneck]
from = "left"
to = "right"
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "1 bdp"
duplex = true
[flows.first]
from = "left"
to = "right"
rtt = "20 ms"
start = "0 s"
cc = { law = "newreno" }
sender = { initial_window = 10 }
[flows.second]
from = "left"
to = "right"
rtt = "20 ms"
start = "2 s"
stop = "4 s"
cc = { law = "cubic", hystart = true }
sender = { initial_window = 10 }
[windows]
before = ["1 s", "2 s"]
both = ["3 s", "4 s"]
after = ["5 s", "6 s"]
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("line.toml", LINE);
    bench
}

/// iperf3 sends what the scenario says, when it says so and by the controllers it names; the record is as of our own senders.
fn it_sends_as_the_scenario_says() {
    optional::timed(sends_as_the_scenario_says);
}

fn sends_as_the_scenario_says(late: &optional::Late) {
    let bench = bench();
    let ended = bench.run(&["run", "line.toml", "--world", "linux", "--generator", "iperf3", "--json"]);
    // A machine that is very busy may disturb the path: then it says so.
    assert!([0, 4].contains(&ended.status), "{}", ended.err);
    late.replace(ended.late());
    let summary = ended.result();
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{summary}"));
    assert!(number(&summary["links"]["bottleneck"]["utilization"]) > 0.9, "{summary}");
    let sockets = &summary["path"]["sockets"];
    assert_eq!(sockets["first"], "reno, SACK, 1460 B a segment");
    assert_eq!(sockets["second"], "cubic, SACK, 1460 B a segment");
    let goodput =
        |window: &str, group: &str| number(&summary["windows"][window]["groups"][group]["goodput_bit_per_s"]) / 1e6;
    // In a second the link brings 19.1 Mbit of it. A processor that was busy as the window began may confirm in it what was under
    // way before: at most the path's 33 packets and the buffer's 34.
    let most = 20.0 * 1448.0 / 1514.0 + 67.0 * 1448.0 * 8e-6;
    assert!((17.0..most).contains(&goodput("before", "first")), "alone: {}", goodput("before", "first"));
    assert_eq!(goodput("before", "second"), 0.0);
    assert!(goodput("both", "second") > 1.0 && goodput("both", "first") > 1.0);
    // Two windows of 34 packets share a buffer of 34: where a busy processor keeps iperf3 waiting, both may be small.
    let both = ["first", "second"].map(|group| goodput("both", group));
    assert!((15.0..most).contains(&both.iter().sum()), "together: {both:?}");
    assert_eq!(goodput("after", "second"), 0.0, "it was to stop");
    let window = number(&summary["groups"]["first"]["window_mean_packets"]);
    assert!(window > 10.0 && window < 75.0, "33 packets on the path and 34 in its buffer: {window}");
}

/// Features that it lacks are refused before anything runs, and other worlds have no use for it.
fn what_it_does_not_send_is_refused() {
    let bench = bench();
    for (more, status, said) in [
        (&["--world", "linux", "--set", "flows.first.size=1 MB"][..], 3, "flows.first.size: iperf3 sends without end"),
        (&["--world", "linux", "--set", "flows.first.on_off={ on = \"1 s\", off = \"1 s\" }"], 3, "on_off"),
        (&["--world", "packets"], 2, "add --world linux"),
        (&["--world", "linux", "--set", "sweep.seed=[1, 2]"], 2, "is a sweep of 2 cells"),
    ] {
        let ended = bench.run(&[&["run", "line.toml", "--generator", "iperf3"], more].concat());
        assert!(ended.status == status && ended.err.contains(said), "{more:?}: {} {}", ended.status, ended.err);
        assert!(!bench.path("out").exists(), "{more:?}");
    }
}

/// The processes of iperf3, and the capabilities of each, of all that run here.
fn who_runs() -> BTreeMap<String, [String; 3]> {
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let seen = entries.filter_map(|process| {
        let is_it = fs::read_to_string(process.join("comm")).is_ok_and(|name| name.trim() == "iperf3");
        let status = fs::read_to_string(process.join("status")).ok().filter(|_| is_it)?;
        let figure = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            line.split_whitespace().next().unwrap_or_default().to_owned()
        };
        Some((process.display().to_string(), ["Uid:", "CapEff:", "CapBnd:"].map(figure)))
    });
    seen.collect()
}

/// It is nobody, and may choose controllers (`CAP_NET_ADMIN`, the twelfth capability) and nothing else.
fn it_has_no_rights_but_one() {
    let bench = bench();
    let before = who_runs();
    let mut child = bench
        .command(&["run", "line.toml", "--world", "linux", "--generator", "iperf3"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_secs(5));
    let mut now = who_runs();
    child.wait().unwrap();
    now.retain(|process, _| !before.contains_key(process));
    assert!(now.len() >= 3, "two servers, and the clients that still send: {now:?}");
    let map = fs::read_to_string("/proc/self/uid_map").unwrap();
    let in_user_namespace = map.split_whitespace().nth(2) != Some("4294967295");
    for [user, effective, bounding] in now.values() {
        assert!(in_user_namespace || user == "65534", "{now:?}");
        assert_eq!([effective.as_str(), bounding.as_str()], ["0000000000001000"; 2], "{now:?}");
    }
}

fn main() {
    let missing = optional::kernel(penstock_path::missing()).or_else(|| {
        let version = Command::new("iperf3").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.err().map(|error| ("iperf3", format!("cannot run `iperf3` ({error})")))
    });
    optional::run(
        &[
            ("it_sends_as_the_scenario_says", it_sends_as_the_scenario_says),
            ("it_has_no_rights_but_one", it_has_no_rights_but_one),
            ("what_it_does_not_send_is_refused", what_it_does_not_send_is_refused),
        ],
        missing,
    );
}
