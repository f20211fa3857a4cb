//! `--generator quic`: endpoints of quinn, and of s2n-quic with the feature `s2n`, in the place of our own senders of TCP. Needs
//! what `--world linux` needs.

mod bench;
mod optional;

use bench::Bench;
use serde_json::Value;

/// A law through the adapter, and a controller of quinn's own that begins later and stops; then a transfer with a receive window.
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
sender = { profile = "quic", receive_window = 10 }
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
    // A receive window of ten packets of 69, each round trip: it is this flow's, and the others have none.
    assert!((0.1..1.4).contains(&number(&summary["flows"][2]["completion_s"])), "{summary}");
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
    let ended = bench.run(&[&RUN[..], &["--qlog", "--awake", "--json"]].concat());
    assert!([0, 4].contains(&ended.status), "{}", ended.err);
    late.replace(ended.late());
    let all: Value = serde_json::from_str(&ended.out).unwrap();
    let (outcome, summary) = (&all["runs"][0], &all["runs"][0]["summary"]);
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{summary}"));
    let processors = std::thread::available_parallelism().unwrap().get();
    assert_eq!(number(&summary["path"]["processors_awake"]), processors as f64, "{summary}");
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

/// s2n-quic's two controllers one after the other, beside a law in quinn.
#[cfg(feature = "s2n")]
const OF_S2N: &str = r#"
format = 1
title = "s2n-quic"
duration = "6 s"
packet = { wire = "1500 B", payload = "1440 B" }
[links.bottleneck]
from = "left"
to = "right"
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "1 bdp"
duplex = true
[flows.cubic]
from = "left"
to = "right"
rtt = "20 ms"
start = "0 s"
stop = "3500 ms"
cc = { law = "s2n-cubic" }
sender = { profile = "quic" }
[flows.quinn]
from = "left"
to = "right"
rtt = "20 ms"
start = "2 s"
stop = "3500 ms"
cc = { law = "newreno" }
sender = { profile = "quic" }
[flows.bbr]
from = "left"
to = "right"
rtt = "20 ms"
start = "4 s"
on_off = { on = "1 s", off = "500 ms" }
cc = { law = "s2n-bbr" }
sender = { profile = "quic" }
[flows.file]
from = "left"
to = "right"
rtt = "20 ms"
start = "1500 ms"
size = "100 kB"
cc = { law = "s2n-cubic" }
sender = { profile = "quic", initial_window = 20 }
[windows]
alone = ["500 ms", "1500 ms"]
both = ["2200 ms", "3400 ms"]
stopped = ["3700 ms", "4 s"]
last = ["4200 ms", "5 s"]
silent = ["5150 ms", "5450 ms"]
again = ["5600 ms", "6 s"]
"#;

/// s2n-quic sends as the scenario says beside quinn. Its record has what a record of quinn has.
#[cfg(feature = "s2n")]
fn s2n_sends_as_the_scenario_says() {
    optional::timed(s2n_sends);
}

#[cfg(feature = "s2n")]
fn s2n_sends(late: &optional::Late) {
    let bench = Bench::new();
    bench.write("line.toml", OF_S2N);
    let ended = bench.run(&[&RUN[..], &["--qlog", "--json"]].concat());
    assert!([0, 4].contains(&ended.status), "{}", ended.err);
    late.replace(ended.late());
    let all: Value = serde_json::from_str(&ended.out).unwrap();
    let (outcome, summary) = (&all["runs"][0], &all["runs"][0]["summary"]);
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{summary}"));
    let sockets = &summary["path"]["sockets"];
    assert_eq!(sockets["cubic"], "cubic of s2n-quic, QUIC, ECN, 1472 B a datagram");
    assert_eq!(sockets["bbr"], "bbr of s2n-quic, QUIC, ECN, 1472 B a datagram");
    assert_eq!(sockets["quinn"], "newreno through penstock-quinn, QUIC, 1472 B a datagram");
    let goodput =
        |window: &str, group: &str| number(&summary["windows"][window]["groups"][group]["goodput_bit_per_s"]) / 1e6;
    // Of 1500 B, headers of IP and UDP take 28. What waited for a lost packet arrives with it: 66 packets in 0.8 s are 1 Mbit/s.
    let line = 14.0..20.0 * 1472.0 / 1500.0 + 1.0;
    assert!(line.contains(&goodput("alone", "cubic")), "{}: {summary}", goodput("alone", "cubic"));
    assert!(goodput("both", "cubic") > 1.0 && goodput("both", "quinn") > 1.0, "{summary}");
    assert_eq!(goodput("stopped", "cubic"), 0.0, "it was to stop");
    assert!(line.contains(&goodput("last", "bbr")), "{}: {summary}", goodput("last", "bbr"));
    assert_eq!(goodput("silent", "bbr"), 0.0, "it was to pause");
    assert!(goodput("again", "bbr") > 5.0, "{summary}");
    assert_eq!(summary["groups"]["file"]["transfers"]["completed"], 1, "{summary}");
    // Two round trips at the least: a handshake, and slow start from twenty packets.
    assert!((0.04..1.4).contains(&number(&summary["flows"][3]["completion_s"])), "{summary}");
    let of_cubic = &summary["windows"]["alone"]["groups"]["cubic"];
    let window = number(&of_cubic["window_mean_packets"]);
    assert!((20.0..75.0).contains(&window), "33 packets on the path and 33 in its buffer: {window}");
    let rtt = number(&of_cubic["rtt_mean_s"]);
    assert!((0.02..0.042).contains(&rtt), "20 ms, and at most 20 ms in the buffer: {rtt}");
    assert!(number(&summary["groups"]["cubic"]["retransmits"]) > 0.0, "slow start overflows the buffer: {summary}");

    // A log of quinn's, and of s2n-quic's the same events.
    for (flow, title) in [(0, "cubic of s2n-quic"), (1, "newreno through penstock-quinn")] {
        let log = std::fs::read_to_string(bench.path(outcome["qlog"][flow].as_str().unwrap())).unwrap();
        let parse = |line: &str| serde_json::from_str(line.trim_start_matches('\u{1e}')).unwrap();
        let lines: Vec<Value> = log.lines().map(parse).collect();
        assert_eq!(lines[0]["qlog_format"], "JSON-SEQ");
        assert_eq!(lines[0]["title"], format!("flow {flow}: {title}"));
        let of = |name: &'static str| lines[1..].iter().filter(move |line| line["name"] == name);
        let bytes: f64 = of("transport:packet_sent").map(|event| number(&event["data"]["header"]["length"])).sum();
        assert!(bytes > 1e6, "flow {flow}: {bytes}");
        for (name, key) in [("transport:packet_received", "header"), ("recovery:packet_lost", "header")] {
            assert!(of(name).all(|event| event["data"][key]["packet_number"].is_u64()), "{name}");
            assert!(of(name).next().is_some(), "{name}");
        }
        let windows = || of("recovery:metrics_updated").map(|event| &event["data"]);
        assert!(windows().any(|data| data["congestion_window"].as_f64() > Some(40_000.0)), "flow {flow}");
        let paced = windows().filter_map(|data| data["pacing_rate"].as_f64());
        assert!(flow == 1 || paced.fold(0.0, f64::max) > 20e6, "it fills a line of 20 Mbit/s");
        // quinn logs seconds in the place of milliseconds.
        let ms = if flow == 0 { 20.0..60.0 } else { 0.02..0.06 };
        assert!(
            windows().any(|data| data["smoothed_rtt"].as_f64().is_some_and(|rtt| ms.contains(&rtt))),
            "flow {flow}"
        );
        let times: Vec<f64> = lines[1..].iter().map(|event| number(&event["time"])).collect();
        assert!(times.is_sorted() && times.last() < Some(&6100.0), "{:?}", times.last());
    }
}

/// s2n-quic's packets may be marked, and its CUBIC reduces the window for a mark.
#[cfg(feature = "s2n")]
fn s2n_answers_marks() {
    optional::timed(s2n_is_marked);
}

#[cfg(feature = "s2n")]
fn s2n_is_marked(late: &optional::Late) {
    let bench = Bench::new();
    bench.write("line.toml", TURNS);
    let line =
        ["--set", "links.bottleneck.aqm={ law = \"codel\", ecn = true }", "--set", "links.bottleneck.buffer=10 bdp"];
    let flow = [
        "--set",
        "flows.turns.on_off={ on = \"1 h\", off = \"1 s\" }",
        "--set",
        "flows.turns.cc={ law = \"s2n-cubic\" }",
    ];
    let ended = bench.run(&[&RUN[..], &["--json"], &line, &flow].concat());
    assert!([0, 4].contains(&ended.status), "{}", ended.err);
    late.replace(ended.late());
    let summary = ended.result();
    let link = &summary["links"]["bottleneck"];
    assert!(link["marks"].as_u64() > Some(0) && link["drops"] == 0, "{summary}");
    let window = summary["windows"]["again"]["groups"]["turns"]["window_mean_packets"].as_f64();
    // Slow start brings 170 packets in flight before the buffer of ten bandwidth-delay products is full.
    assert!(window.is_some_and(|window| (10.0..60.0).contains(&window)), "16 packets on the path: {window:?}");
}

/// A program without s2n-quic says so before it runs anything, and what to build.
#[cfg(not(feature = "s2n"))]
fn a_program_without_s2n_says_what_to_build() {
    let bench = bench();
    let cc = ["--set", "flows.second.cc={ law = \"s2n-cubic\" }"];
    let said = "line.toml: flows.second.cc: only the QUIC library s2n-quic has the law `s2n-cubic`, and this program was \
                built without it; build the program with `cargo build --release -p penstock-cli --features s2n`";
    for arguments in [&RUN[..], &RUN[..2], &RUN[..4]] {
        let ended = bench.run(&[arguments, &cc].concat());
        assert!(ended.status == 2 && ended.err.contains(said), "{arguments:?}: {} {}", ended.status, ended.err);
        assert_eq!(ended.err.trim().lines().count(), 1, "{}", ended.err);
        assert!(!bench.path("out").exists());
    }
    let checked = bench.run(&[&["check", "line.toml", "--world", "linux"], &cc[..]].concat());
    assert!(checked.status == 3, "{} {}", checked.status, checked.err);
    let why = "flows.second.cc: this program was built without s2n-quic, which has the law `s2n-cubic`: build the program with";
    assert!(checked.out.contains(why), "{}", checked.out);
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
        (&["--awake"], &[], 2, "--awake: only the Linux world waits for real packets; add --world linux"),
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
            #[cfg(feature = "s2n")]
            ("s2n_sends_as_the_scenario_says", s2n_sends_as_the_scenario_says),
            #[cfg(feature = "s2n")]
            ("s2n_answers_marks", s2n_answers_marks),
            #[cfg(not(feature = "s2n"))]
            ("a_program_without_s2n_says_what_to_build", a_program_without_s2n_says_what_to_build),
            ("what_it_does_not_do_is_refused", what_it_does_not_do_is_refused),
        ],
        missing,
    );
}
