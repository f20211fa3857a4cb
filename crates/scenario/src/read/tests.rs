use proptest::prelude::*;

use penstock_law::aqm::AQMS;
use penstock_law::cc::CONTROLLERS;
use penstock_law::parameter::Default as Silent;
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Entry, Role};

use super::*;
use crate::model::{Buffer, EcnEcho, Recovery, Rtt, Start};

/// Line numbers in the tests below count from here.
const LAB: &str = r#"format = 1
title = "a lab"
duration = "60 s"
warmup = "20 s"
packet = "1000 B"

[links.bottleneck]
from = "left"
to = "right"
rate = "622 Mbit/s"
delay = "10 ms"
buffer = "1 bdp"
duplex = true

[flows.ftp]
count = 100
from = "left"
to = "right"
rtt = "100 ms"
cc = { law = "newreno", ecn = true }
"#;

const PARKING_LOT: &str = r#"format = 1
duration = "10 s"
[defaults.links]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "100 packets"
duplex = true
[links.first]
from = "a"
to = "b"
[links."first/back"]
rate = "1 Mbit/s"
loss = 0.01
[links.second]
from = "b"
to = "c"
aqm = { law = "red", ecn = true, max_p = 0.2 }
[links.detour]
from = "a"
to = "d"
delay = "1 ms"
[links.detour2]
from = "d"
to = "c"
delay = "1 ms"
[defaults.flows]
cc = { law = "fast", alpha = "50 packets" }
sender = { initial_window = 4, min_rto = "1 s" }
[flows.long]
count = 3
from = "a"
to = "c"
via = ["first", "second"]
rtt = ["40 ms", "50 ms", "60.5 ms"]
start = { every = "1 s", from = "500 ms" }
stop = "8 s"
series = true
sender = { recovery = "newreno", ssthresh = 64 }
[flows.short]
from = "b"
to = "c"
size = "1 MB"
start = "0 s"
[flows.other]
from = "a"
to = "c"
[windows]
early = ["0 s", "2 s"]
"late, rest" = ["2 s", "10 s"]
"#;

fn cells(text: &str) -> Result<Vec<Cell>, ReadError> {
    Document::parse(text, "lab.toml")?.cells()
}

fn scenario(text: &str) -> Scenario {
    cells(text).unwrap_or_else(|e| panic!("{e}")).remove(0).scenario
}

fn refusal(text: &str) -> String {
    match cells(text) {
        Ok(_) => panic!("read without complaint:\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// `LAB` with one piece of text replaced.
fn with(old: &str, new: &str) -> String {
    assert!(LAB.contains(old), "{old}");
    LAB.replacen(old, new, 1)
}

#[test]
fn every_default_is_filled_in() {
    let s = scenario(LAB);
    assert_eq!((s.title.as_str(), s.seed.0, s.sample), ("a lab", 1, Time(100_000_000_000)));
    assert_eq!((s.packet.wire, s.packet.payload, s.packet.ack), (Bytes(1000), Bytes(960), Bytes(40)));
    assert_eq!(s.links.keys().collect::<Vec<_>>(), ["bottleneck", "bottleneck/back"]);
    let link = &s.links["bottleneck"];
    assert_eq!((link.rate, link.delay, link.loss), (Rate(622_000_000), Time(10_000_000_000), 0.0));
    assert_eq!(link.aqm.law.name, "droptail");
    let group = &s.groups["ftp"];
    assert_eq!(group.rtt, Rtt::Each(Time(100_000_000_000)));
    assert_eq!(
        (&group.forward[..], &group.backward[..]),
        (&["bottleneck".into()][..], &["bottleneck/back".into()][..])
    );
    assert_eq!(group.start, Start::Uniform(Time::ZERO, Time(Time::PER_SECOND)));
    assert_eq!((group.stop, group.size, group.series), (None, None, false));
    assert_eq!((group.sender.initial_window, group.sender.initial_ssthresh), (2.0, f64::INFINITY));
    assert_eq!((group.sender.recovery, group.sender.delayed_ack), (Recovery::Sack, 1));
    assert_eq!((group.sender.ecn_echo, group.sender.min_rto), (EcnEcho::PerPacket, Time(200_000_000_000)));
}

/// 622 Mbit/s times 100 ms are 7775 packets of 1000 B; half a packet more is a packet more.
#[test]
fn a_bandwidth_delay_product_is_packets_rounded_up() {
    assert_eq!(scenario(LAB).links["bottleneck"].buffer, Buffer::Packets(7775));
    assert_eq!(scenario(LAB).links["bottleneck/back"].buffer, Buffer::Packets(7775));
    assert_eq!(scenario(&with("1 bdp", "0.5 bdp")).links["bottleneck"].buffer, Buffer::Packets(3888));
    assert_eq!(scenario(&with("1 bdp", "8 MB")).links["bottleneck"].buffer, Buffer::Bytes(Bytes(8_000_000)));
    let spread = with("\"100 ms\"", "{ uniform = [\"40 ms\", \"200 ms\"] }");
    assert_eq!(scenario(&spread).links["bottleneck"].buffer, Buffer::Packets(15550));
}

#[test]
fn routes_ways_back_and_defaults() {
    let s = scenario(PARKING_LOT);
    assert_eq!(s.links["first/back"].rate, Rate(1_000_000));
    assert_eq!(s.links["first/back"].loss, 0.01);
    assert_eq!((&s.links["first/back"].from[..], &s.links["first/back"].to[..]), ("b", "a"));
    assert_eq!(s.links["second/back"].aqm.values.number("max_p"), 0.2);
    let long = &s.groups["long"];
    assert_eq!(long.forward, ["first", "second"]);
    // Two links either way, of which the detour is the quicker.
    assert_eq!(long.backward, ["detour2/back", "detour/back"]);
    assert_eq!(s.groups["other"].forward, ["detour", "detour2"]);
    assert_eq!(s.groups["other"].rtt, Rtt::Each(Time(4_000_000_000)));
    assert_eq!(long.start, Start::Every(Time(500_000_000_000), Time(Time::PER_SECOND)));
    assert_eq!(long.cc.values.number("alpha"), 50.0);
    assert_eq!((long.sender.initial_window, long.sender.min_rto), (4.0, Time(Time::PER_SECOND)));
    assert_eq!((long.sender.initial_ssthresh, long.sender.recovery), (64.0, Recovery::NewReno));
    assert_eq!(s.groups["short"].size, Some(Bytes(1_000_000)));
    assert_eq!(s.windows["late, rest"], (Time(2 * Time::PER_SECOND), Time(10 * Time::PER_SECOND)));
    assert_eq!(s.title, "lab");
}

#[test]
fn a_pair_of_nodes_without_a_way_back_has_an_ideal_one() {
    let s = scenario(&with("duplex = true", ""));
    assert!(s.groups["ftp"].backward.is_empty());
}
