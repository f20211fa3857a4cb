//! `--pcap`: what tshark makes of the packets of a run, against what the run's own summary says. Needs tshark.

mod bench;
mod optional;

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use bench::{Bench, SMALL};
use serde_json::Value;

/// Losses, marks, datagrams, transfers with connections of their own, and acknowledgements two by two.
const MIXED: &str = r#"
format = 1
title = "Mixed"
duration = "8 s"
packet = { wire = "1000 B", payload = "960 B" }
[links.bottleneck]
from = "left"
to = "right"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "20 packets"
duplex = true
[defaults.flows]
from = "left"
to = "right"
rtt = "40 ms"
[flows.sack]
count = 2
cc = { law = "newreno", ecn = true }
[flows.plain]
cc = { law = "newreno" }
sender = { recovery = "newreno", delayed_ack = 2, receive_window = 64 }
[flows.blind]
cc = { law = "cbr", rate = "1 Mbit/s" }
[flows.web]
count = 2
cc = { law = "newreno" }
size = { pareto = { mean = "20 kB", shape = 1.5 } }
arrivals = { poisson = "8 /s" }
"#;

/// Packets that a display filter lets through.
fn count(bench: &Bench, capture: &str, filter: &str) -> u64 {
    rows(bench, capture, filter).len() as u64
}

fn rows(bench: &Bench, capture: &str, filter: &str) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.args(["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]);
    let output = command.arg("-r").arg(bench.path(capture)).args(["-Y", filter]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn group(summary: &Value, name: &str, measure: &str) -> u64 {
    summary["groups"][name][measure].as_u64().unwrap()
}

fn the_senders_capture_agrees_with_the_summary() {
    let bench = Bench::new();
    bench.write("mixed.toml", MIXED);
    let summary = bench.result(&["run", "mixed.toml", "--json", "--pcap"]);
    let capture = "out/mixed-seed1/packets.pcapng";
    let count = |filter: &str| count(&bench, capture, filter);
    // Nothing is wrong with it: at the senders there are no holes either.
    for wrong in [
        "_ws.malformed",
        "_ws.expert.severity >= \"Warning\" and not tcp.analysis.window_full",
        "ip.checksum.status == \"Bad\" or tcp.checksum.status == \"Bad\" or udp.checksum.status == \"Bad\"",
        "tcp.analysis.lost_segment or tcp.analysis.ack_lost_segment",
    ] {
        let found = rows(&bench, capture, wrong);
        assert!(found.is_empty(), "{wrong}: {} of them, such as {:?}", found.len(), found.first());
    }
    // The one flow whose window the receiver limits is seen to fill it.
    assert!(count("tcp.analysis.window_full") > 0);
    assert_eq!(count("tcp.analysis.window_full and not ip.src == 10.0.0.3"), 0);
    // What the simulator sent again is what tshark takes for a retransmission, and nothing is out of order.
    let again: u64 = ["sack", "plain", "web"].iter().map(|name| group(&summary, name, "retransmits")).sum();
    assert!(again > 20, "{again}");
    assert_eq!(count("tcp.analysis.retransmission"), again);
    assert_eq!(count("tcp.analysis.out_of_order"), 0);
    assert!(count("tcp.analysis.duplicate_ack") > again);
    assert!(count("tcp.options.sack_le and ip.dst == 10.0.0.1") > 0);
    assert_eq!(count("tcp.options.sack_le and ip.dst == 10.0.0.3"), 0, "this flow did not agree to them");
    assert_eq!(count("udp"), count("ip.src == 10.0.0.4"));
    // Transfers of a group have connections of their own.
    let transfers = summary["groups"]["web"]["transfers"]["completed"].as_u64().unwrap();
    let connections = count("tcp.flags.syn == 1 and tcp.flags.ack == 0 and ip.src >= 10.0.0.5");
    assert!(transfers > 20 && (transfers..transfers + 3).contains(&connections), "{connections}, {transfers}");
}

fn the_receivers_capture_has_holes_and_marks() {
    let bench = Bench::new();
    let red = MIXED.replace("duplex = true", "duplex = true\naqm = { law = \"red\", ecn = true }");
    bench.write("mixed.toml", &red.replace("buffer = \"20 packets\"", "buffer = \"40 packets\""));
    let out = bench.well(&["run", "mixed.toml", "--pcap=receivers"]);
    let capture = "out/mixed-seed1/packets.pcapng";
    assert!(out.contains(&format!("packets {capture}")), "{out}");
    let summary: Value =
        serde_json::from_slice(&std::fs::read(bench.path("out/mixed-seed1/summary.json")).unwrap()).unwrap();
    let count = |filter: &str| count(&bench, capture, filter);
    assert_eq!(count("_ws.malformed or _ws.expert.severity == \"Error\""), 0);
    assert!(count("tcp.analysis.lost_segment") > 0);
    let marks = summary["links"]["bottleneck"]["marks"].as_u64().unwrap();
    let marked = count("ip.dsfield.ecn == 3");
    // A packet that was marked may be lost or under way.
    assert!(marks > 20 && marked <= marks && marked + 5 > marks, "{marked} of {marks}");
    assert!(count("tcp.flags.ece == 1 and tcp.flags.syn == 0") >= marked);
}

fn a_run_that_is_stopped_leaves_no_capture() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let mut command =
        bench.interruptible(&["run", "small.toml", "--pcap", "--set", "duration=4000 h", "--set", "sample=1 min"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    for _ in 0..400 {
        // Its draft, with the capture in it.
        if bench.names("out").iter().any(|name| name.starts_with(".small-") && name.contains("-seed1.partial-")) {
            break;
        }
        thread::sleep(Duration::from_millis(25));
    }
    assert!(!bench.names("out").is_empty());
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(bench.names("out").is_empty(), "{:?}", bench.names("out"));
}

fn main() {
    let there = Command::new("tshark").arg("--version").output().is_ok_and(|output| output.status.success());
    optional::run(
        &[
            ("the_senders_capture_agrees_with_the_summary", the_senders_capture_agrees_with_the_summary),
            ("the_receivers_capture_has_holes_and_marks", the_receivers_capture_has_holes_and_marks),
            ("a_run_that_is_stopped_leaves_no_capture", a_run_that_is_stopped_leaves_no_capture),
        ],
        (!there).then(|| ("tshark", "no tshark here; install it, on Debian by `apt-get install tshark`".to_owned())),
    );
}
