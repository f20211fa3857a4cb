//! `--generator quic`: endpoints of quinn in the place of our own senders of TCP. Needs what `--world linux` needs.

mod bench;
mod optional;

use bench::Bench;
use serde_json::Value;

/// A law through the adapter, and a controller of quinn's own that begins later and stops; then a transfer.
const LINE: &str = r#"
format = 1
title = "QUIC"
duration = "4 s"
warmup = "1 s"
packet = { wire = "1500 B", payload = "1440 B" }
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
sender = { profile = "quic" }
[flows.second]
from = "left"
to = "right"
rtt = "20 ms"
start = "2 s"
stop = "3 s"
cc = { law = "quinn-cubic" }
sender = { profile = "quic" }
[flows.file]
from = "left"
to = "right"
rtt = "20 ms"
start = "2500 ms"
size = "100 kB"
cc = { law = "bbr3" }
sender = { profile = "quic" }
[windows]
before = ["1 s", "2 s"]
both = ["2200 ms", "3 s"]
after = ["3200 ms", "4 s"]
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("line.toml", LINE);
    bench
}

const RUN: [&str; 6] = ["run", "line.toml", "--world", "linux", "--generator", "quic"];

/// quinn sends what the scenario says, when it says so and by the controllers it names; the record is as of our own senders.
fn it_sends_as_the_scenario_says() {
    optional::timed(sends_as_the_scenario_says);
}

fn sends_as_the_scenario_says(late: &optional::Late) {
    let bench = bench();
    let ended = bench.run(&[&RUN[..], &["--json"]].concat());
    // A machine that is very busy may disturb the path: then it says so.
    assert!([0, 4].contains(&ended.status), "{}", ended.err);
    late.replace(ended.late());
    let summary = ended.result();
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{summary}"));
    let sockets = &summary["path"]["sockets"];
    assert_eq!(sockets["first"], "newreno through penstock-quinn, QUIC, 1472 B a datagram");
    assert_eq!(sockets["second"], "cubic of quinn, QUIC, ECN, 1472 B a datagram");
    assert_eq!(sockets["file"], "bbr3 through penstock-quinn, QUIC, 1472 B a datagram");
    let goodput =
        |window: &str, group: &str| number(&summary["windows"][window]["groups"][group]["goodput_bit_per_s"]) / 1e6;
    // Of 1500 B, headers of IP and UDP take 28, and those of QUIC some more.
    assert!(
        (16.0..20.0 * 1472.0 / 1500.0).contains(&goodput("before", "first")),
        "alone: {}",
        goodput("before", "first")
    );
    assert_eq!(goodput("before", "second"), 0.0);
    assert!(goodput("both", "second") > 1.0 && goodput("both", "first") > 1.0, "{summary}");
    assert_eq!(goodput("after", "second"), 0.0, "it was to stop");
    let transfers = &summary["groups"]["file"]["transfers"];
    assert_eq!(transfers["completed"], 1, "{summary}");
    // Two round trips at the least: a handshake, and slow start from ten packets.
    assert!((0.04..1.4).contains(&number(&summary["flows"][2]["completion_s"])), "{summary}");
    let window = number(&summary["groups"]["first"]["window_mean_packets"]);
    assert!(window > 8.0 && window < 75.0, "33 packets on the path and 33 in its buffer: {window}");
    assert!(number(&summary["groups"]["first"]["rtt_mean_s"]) > 0.02, "{summary}");
}

/// A flow that sends for a second and is silent for a second, and the log of its connection.
const TURNS: &str = r#"
format = 1
title = "Turns"
duration = "3 s"
packet = { wire = "1500 B", payload = "1440 B" }
[links.bottleneck]
from = "left"
to = "right"
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "1 bdp"
duplex = true
[flows.turns]
from = "left"
to = "right"
rtt = "20 ms"
start = "0 s"
on_off = { on = "1 s", off = "1 s" }
cc = { law = "newreno" }
sender = { profile = "quic" }
[windows]
silent = ["1200 ms", "1900 ms"]
again = ["2100 ms", "3 s"]
"#;

/// A pause drops what quinn has taken and not sent, and the connection goes on after it; its log has every packet.
fn a_flow_pauses_and_its_log_has_every_packet() {
    optional::timed(pauses_with_a_log);
}

fn pauses_with_a_log(late: &optional::Late) {
    let bench = Bench::new();
    bench.write("line.toml", TURNS);
    let ended = bench.run(&[&RUN[..], &["--qlog", "--json"]].concat());
    assert!([0, 4].contains(&ended.status), "{}", ended.err);
    late.replace(ended.late());
    let all: Value = serde_json::from_str(&ended.out).unwrap();
    let (outcome, summary) = (&all["runs"][0], &all["runs"][0]["summary"]);
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{summary}"));
    let goodput = |window: &str| number(&summary["windows"][window]["groups"]["turns"]["goodput_bit_per_s"]) / 1e6;
    assert_eq!(goodput("silent"), 0.0, "{summary}");
    assert!((7.0..10.0).contains(&goodput("again")), "{summary}");

    let log = std::fs::read_to_string(bench.path(outcome["qlog"][0].as_str().unwrap())).unwrap();
    // A record separator begins each (RFC 7464).
    let parse = |line: &str| serde_json::from_str(line.trim_start_matches('\u{1e}')).unwrap();
    let lines: Vec<Value> = log.lines().map(parse).collect();
    assert_eq!(lines[0]["qlog_format"], "JSON-SEQ");
    assert_eq!(lines[0]["title"], "flow 0: newreno through penstock-quinn");
    let of = |name: &str| lines[1..].iter().filter(|line| line["name"] == name).collect::<Vec<_>>();
    let sent = of("transport:packet_sent");
    let bytes: f64 = sent.iter().map(|event| number(&event["data"]["header"]["length"])).sum();
    let received = number(&summary["groups"]["turns"]["goodput_bit_per_s"]) * 3.0 / 8.0;
    // Headers, and what was lost or under way at the end.
    assert!((1.0..1.2).contains(&(bytes / received)), "{bytes} for {received}");
    let times: Vec<f64> = sent.iter().map(|event| number(&event["time"])).collect();
    assert!(times.is_sorted() && times[0] < 100.0 && (2900.0..3100.0).contains(times.last().unwrap()), "{times:?}");
    assert!(!times.iter().any(|ms| (1200.0..1900.0).contains(ms)), "{times:?}");
    let windows = of("recovery:metrics_updated");
    assert!(windows.iter().any(|event| event["data"]["congestion_window"].as_f64() > Some(20_000.0)), "{windows:?}");
}

/// Features that quinn lacks are refused before anything runs, and its controllers run nowhere else.
fn what_it_does_not_do_is_refused() {
    let bench = bench();
    let quic = &RUN[2..];
    for (arguments, more, status, said) in [
        (quic, &["--set", "flows.file.on_off={ on = \"1 s\", off = \"1 s\" }"][..], 3, "flows.file.on_off: quinn"),
        (quic, &["--set", "flows.first.sender.ssthresh=30"], 3, "flows.first.sender.ssthresh: quinn goes by"),
        (quic, &["--set", "flows.first.cc={ law = \"dctcp\" }"], 3, "`dctcp` requires the number of marked packets"),
        (&["--generator", "quic"], &[], 2, "quic sends real packets; add --world linux"),
        (&["--world", "linux", "--qlog"], &[], 2, "--qlog: only connections of QUIC have one"),
        (
            &["--world", "linux"],
            &[],
            3,
            "flows.second.cc: only the packets world and the QUIC library quinn have the law `quinn-cubic`; add --world linux --generator quic",
        ),
        (&["--world", "fluid"], &[], 3, "only the packets world and the QUIC library quinn have the law `quinn-cubic`"),
    ] {
        let ended = bench.run(&[&RUN[..2], arguments, more].concat());
        assert!(
            ended.status == status && ended.err.contains(said),
            "{arguments:?} {more:?}: {} {}",
            ended.status,
            ended.err
        );
        assert!(!bench.path("out").exists(), "{more:?}");
    }
}

fn main() {
    let missing = optional::kernel(penstock_path::missing());
    optional::run(
        &[
            ("it_sends_as_the_scenario_says", it_sends_as_the_scenario_says),
            ("a_flow_pauses_and_its_log_has_every_packet", a_flow_pauses_and_its_log_has_every_packet),
            ("what_it_does_not_do_is_refused", what_it_does_not_do_is_refused),
        ],
        missing,
    );
}
