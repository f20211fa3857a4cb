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

/// Features that quinn lacks are refused before anything runs, and its controllers run nowhere else.
fn what_it_does_not_do_is_refused() {
    let bench = bench();
    let quic = &RUN[2..];
    for (arguments, more, status, said) in [
        (quic, &["--set", "flows.first.on_off={ on = \"1 s\", off = \"1 s\" }"][..], 3, "flows.first.on_off: quinn"),
        (quic, &["--set", "flows.first.sender.ssthresh=30"], 3, "flows.first.sender.ssthresh: quinn goes by"),
        (quic, &["--set", "flows.first.cc={ law = \"dctcp\" }"], 3, "`dctcp` requires the number of marked packets"),
        (&["--generator", "quic"], &[], 2, "quic sends real packets; add --world linux"),
        (
            &["--world", "linux"],
            &[],
            3,
            "flows.second.cc: only the QUIC library quinn has the law `quinn-cubic`; add --world linux --generator quic",
        ),
        (&[], &[], 3, "only the QUIC library quinn has the law `quinn-cubic`"),
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
            ("what_it_does_not_do_is_refused", what_it_does_not_do_is_refused),
        ],
        missing,
    );
}
