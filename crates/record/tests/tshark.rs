//! Wireshark's reading of a capture.
//!
//! Without tshark a test here says so and counts as not run. `apt-get install tshark` is enough:
//! `cargo test -p penstock-record --test tshark`.

#[path = "../../cli/tests/optional/mod.rs"]
mod optional;

use std::fs;
use std::path::Path;
use std::process::Command;

use pcap_file::pcapng::{Block, PcapNgReader, PcapNgWriter};
use penstock_law::quantity::Time;
use penstock_record::capture::Capture;
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Document;
use penstock_scenario::world::{AccurateEcn, Content, Ecn, End, Sighting};

const SCENARIO: &str = r#"
format = 1
title = "Three flows"
duration = "1 s"
packet = { wire = "1000 B", payload = "960 B" }
[links.l]
from = "a"
to = "b"
rate = "8 Mbit/s"
delay = "10 ms"
buffer = "10 packets"
[defaults.flows]
from = "a"
to = "b"
[flows.sack]
cc = { law = "newreno", ecn = true }
[flows.blind]
cc = { law = "cbr", rate = "1 Mbit/s" }
[flows.plain]
cc = { law = "newreno" }
sender = { recovery = "newreno" }
"#;

fn scenario() -> Scenario {
    Document::parse(SCENARIO, "t.toml").unwrap().cells().unwrap().remove(0).scenario
}

/// One-way delay [ms].
const DELAY: u64 = 10;

/// The packets of a made-up exchange, in order.
#[derive(Default)]
struct Story(Vec<Sighting>);

impl Story {
    /// From one end to the other, unless it is lost; with a mark it arrives marked.
    fn cross(
        &mut self,
        at_ms: u64,
        from: End,
        (flow, connection): (u32, u32),
        size: u32,
        path: Crossing,
        content: Content,
    ) {
        let ecn = if path.capable { Ecn::Ect0 } else { Ecn::NotEct };
        let to = if from == End::Sender { End::Receiver } else { End::Sender };
        let at = |ms: u64| Time(ms * Time::PER_SECOND / 1000);
        let leaves = Sighting { at: at(at_ms), end: from, flow, connection, size, ecn, colour: None, content };
        self.0.push(leaves);
        if !path.lost {
            let ecn = if path.marked { Ecn::Ce } else { ecn };
            self.0.push(Sighting { at: at(at_ms + DELAY), end: to, ecn, ..leaves });
        }
    }

    fn data(&mut self, at: u64, of: (u32, u32), segment: u64, size: u32, path: Crossing, cwr: bool) {
        self.cross(at, End::Sender, of, size, path, Content::Data { segment, cwr });
    }

    fn ack(&mut self, at: u64, of: (u32, u32), next: u64, block: Option<(u64, u64)>, echo: bool) {
        let blocks = [block, None, None, None];
        self.acks(at, of, Content::Ack { next, blocks, echo, accurate: None });
    }

    fn acks(&mut self, at: u64, of: (u32, u32), content: Content) {
        self.cross(at, End::Receiver, of, 40, Crossing::default(), content);
    }
}

#[derive(Default, Clone, Copy)]
struct Crossing {
    capable: bool,
    lost: bool,
    marked: bool,
}

const LOST: Crossing = Crossing { capable: false, lost: true, marked: false };

/// Flows that ask for accurate ECN: one whose receiver agrees and reports up to three blocks, one that falls back, one whose
/// packets are ECT(1) and have no timestamps.
const ACCURATE: &str = r#"
format = 1
title = "Accurate ECN"
duration = "1 s"
packet = { wire = "1000 B", payload = "960 B" }
[links.l]
from = "a"
to = "b"
rate = "8 Mbit/s"
delay = "10 ms"
buffer = "10 packets"
[defaults.flows]
from = "a"
to = "b"
sender = { ecn_echo = "accurate" }
[flows.three]
cc = { law = "newreno", ecn = true }
sender = { sack_blocks = 3 }
[flows.fallen]
cc = { law = "newreno", ecn = true }
sender = { receiver_ecn = "classic" }
[flows.four]
cc = { law = "dctcp", l4s = true }
sender = { sack_blocks = 4, recovery = "rack" }
"#;

/// One packet each way of each, and acknowledgements with none to four blocks.
fn accurate_story() -> Vec<Sighting> {
    let mut s = Story::default();
    let capable = Crossing { capable: true, ..Crossing::default() };
    for (flow, most) in [(0, 3), (1, 1), (2, 4)] {
        let of = (flow, 0);
        s.data(0, of, 0, 1000, capable, flow == 1);
        for count in 0..=most {
            let mut blocks = [None; 4];
            for (at, place) in blocks.iter_mut().enumerate().take(count) {
                *place = Some((2 + 2 * at as u64, 3 + 2 * at as u64));
            }
            let option = (count < most).then_some([1, 960 * count as u32, 0x00ab_cdef]);
            let accurate = (flow != 1).then_some(AccurateEcn { ace: (5 + count as u8) % 8, option });
            s.acks(20 + count as u64, of, Content::Ack { next: 1, blocks, echo: flow == 1, accurate });
        }
    }
    s.0.sort_by_key(|seen| seen.at);
    s.0
}

/// RFC 9768: the ACE field, the option in both orders, and what the handshake agrees upon.
fn accurate_ecn_is_decoded(home: &Path) {
    let scenario = Document::parse(ACCURATE, "t.toml").unwrap().cells().unwrap().remove(0).scenario;
    let mut capture = Capture::new(Vec::new(), &scenario, End::Sender).unwrap();
    for seen in accurate_story() {
        capture.see(&seen).unwrap();
    }
    let capture = whole(&capture.finish().unwrap());
    let worst = tshark(home, &capture, &["-Y", "_ws.malformed or _ws.expert.severity == \"Error\"", "-V"]);
    assert_eq!(worst, "");
    assert_eq!(count(home, &capture, "tcp.checksum.status == \"Good\""), count(home, &capture, "tcp"));
    let rows = |filter: &str, fields: &[&str]| -> Vec<String> {
        let fields: Vec<&str> = fields.iter().flat_map(|field| ["-e", *field]).collect();
        let text = tshark(home, &capture, &[&["-Y", filter, "-T", "fields"][..], &fields].concat());
        text.lines().map(|line| line.replace('\t', " ").trim_end().to_owned()).collect()
    };
    // Tables 2 and 3: asked by all three flags; agreed to, for a SYN that was not ECT, by CWR; by ECE where RFC 3168 is all.
    let flags = ["tcp.flags.ae", "tcp.flags.cwr", "tcp.flags.ece"];
    assert_eq!(rows("tcp.flags.syn == 1 and tcp.flags.ack == 0", &flags), ["1 1 1"; 3]);
    assert_eq!(rows("tcp.flags.syn == 1 and tcp.flags.ack == 1", &flags), ["0 1 0", "0 0 1", "0 1 0"]);
    // Then the three flags are one field: that of the third packet answers the second, and that of data has counted nothing.
    let third = "tcp.flags.syn == 0 and tcp.len == 0 and ip.dst == 10.128.0.0/9";
    assert_eq!(rows(third, &["tcp.flags.ace", "tcp.flags"]), ["2 0x0090", " 0x0010", "2 0x0090"]);
    assert_eq!(rows("tcp.len > 0", &["tcp.flags.ace", "tcp.flags"]), ["5 0x0150", " 0x0090", "5 0x0150"]);
    let said = ["tcp.flags.ace", "tcp.options.acc_ecn.ee0b", "tcp.options.acc_ecn.eceb", "tcp.options.acc_ecn.ee1b"];
    let acks = |flow: u32| {
        let said = [&said[..], &["tcp.options.sack.count"]].concat();
        rows(&format!("tcp.flags.syn == 0 and ip.src == 10.128.0.{flow}"), &said)
    };
    let bytes = 0x00ab_cdef;
    let all = |ace: u32, marked: u32, blocks: &str| format!("{ace} 1 {marked} {bytes}{blocks}");
    // Beside two blocks two counters have a place, those of ECT(0) and of marks; beside three none.
    let two = "7 1 1920  2".to_owned();
    assert_eq!(acks(1), [all(5, 0, ""), all(6, 960, " 1"), two, "0    3".to_owned()]);
    assert_eq!(acks(2), ["", "    1"]);
    // Without timestamps there is more place.
    let four = [all(5, 0, ""), all(6, 960, " 1"), all(7, 1920, " 2"), all(0, 2880, " 3"), "1    4".to_owned()];
    assert_eq!(acks(3), four);
    assert_eq!(count(home, &capture, "ip.addr == 10.0.0.3 and tcp.options.timestamp.tsval"), 0);
}

/// Ten segments with the fourth lost and the sixth marked; the end of the transfer lost until the timer runs out; a
/// second connection; datagrams with one lost; a flow without selective acknowledgements that loses its second segment.
fn story() -> Vec<Sighting> {
    let mut s = Story::default();
    let capable = Crossing { capable: true, ..Crossing::default() };
    let sack = (0, 0);
    for k in 0..10 {
        s.data(k, sack, k, 1000, Crossing { lost: k == 3, marked: k == 5, ..capable }, false);
        match k {
            0..3 => s.ack(k + DELAY, sack, k + 1, None, false),
            3 => {}
            _ => s.ack(k + DELAY, sack, 3, Some((4, k + 1)), k == 5),
        }
    }
    // The third duplicate is there 26 ms after the beginning.
    s.data(26, sack, 3, 1000, Crossing::default(), false);
    s.ack(36, sack, 10, None, false);
    for k in 10..14 {
        let size = if k == 13 { 340 } else { 1000 };
        s.data(k + 36, sack, k, size, Crossing { lost: k == 13, ..capable }, k == 10);
        if k < 13 {
            s.ack(k + 36 + DELAY, sack, k + 1, None, false);
        }
    }
    s.data(300, sack, 13, 340, Crossing::default(), false);
    s.ack(310, sack, 14, None, false);
    for k in 0..3 {
        s.data(400 + k, (0, 1), k, 1000, capable, false);
        s.ack(410 + k, (0, 1), k + 1, None, false);
    }
    for number in 0..5 {
        let path = if number == 2 { LOST } else { Crossing::default() };
        s.cross(number * 8, End::Sender, (1, 0), 1000, path, Content::Datagram { number });
    }
    let plain = (2, 0);
    for k in 0..6 {
        s.data(500 + k, plain, k, 1000, Crossing { lost: k == 1, ..Crossing::default() }, false);
        if k != 1 {
            s.ack(510 + k, plain, 1, (k > 1).then_some((2, k + 1)), false);
        }
    }
    s.data(524, plain, 1, 1000, Crossing::default(), false);
    s.ack(534, plain, 6, None, false);
    s.0.sort_by_key(|seen| seen.at);
    s.0
}

fn captured(end: End) -> Vec<u8> {
    let mut capture = Capture::new(Vec::new(), &scenario(), end).unwrap();
    for seen in story() {
        capture.see(&seen).unwrap();
    }
    capture.finish().unwrap()
}

/// The same capture with the zeros that are not stored, so that every checksum can be checked.
fn whole(capture: &[u8]) -> Vec<u8> {
    let mut reader = PcapNgReader::new(capture).unwrap();
    let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
    while let Some(block) = reader.next_block() {
        let mut block = block.unwrap().into_owned();
        if let Block::EnhancedPacket(packet) = &mut block {
            packet.data.to_mut().resize(packet.original_len as usize, 0);
        }
        if let Block::InterfaceDescription(interface) = &mut block {
            interface.snaplen = 0;
        }
        writer.write_block(&block).unwrap();
    }
    writer.into_inner()
}

/// Runs tshark over a capture, with every check switched on.
fn tshark(home: &Path, capture: &[u8], arguments: &[&str]) -> String {
    let file = home.join("packets.pcapng");
    fs::write(&file, capture).unwrap();
    let mut command = Command::new("tshark");
    for check in ["ip.check_checksum", "tcp.check_checksum", "udp.check_checksum"] {
        command.args(["-o", &format!("{check}:TRUE")]);
    }
    let output = command.arg("-r").arg(&file).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    // As root it says once that it is root.
    assert!(output.status.success() && !errors.contains("cut short"), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Number of packets that a display filter lets through.
fn count(home: &Path, capture: &[u8], filter: &str) -> usize {
    tshark(home, capture, &["-Y", filter]).lines().count()
}

fn nothing_is_malformed(home: &Path) {
    for end in [End::Sender, End::Receiver] {
        for capture in [captured(end), whole(&captured(end))] {
            // Only the receivers see holes.
            let worst = if end == End::Sender {
                "_ws.expert.severity >= \"Warning\""
            } else {
                "_ws.expert.severity == \"Error\""
            };
            let lines = tshark(home, &capture, &["-Y", &format!("_ws.malformed or {worst}"), "-V"]);
            assert_eq!(lines, "", "{end:?}");
        }
    }
    // A file in which something is wrong is seen to be.
    let mut broken = whole(&captured(End::Sender));
    let at = broken.windows(8).position(|w| w == [10, 0, 0, 1, 10, 128, 0, 1]).unwrap();
    broken[at + 3] = 7;
    assert!(count(home, &broken, "ip.checksum.status == \"Bad\"") > 0);
}

fn every_checksum_is_good(home: &Path) {
    let capture = whole(&captured(End::Receiver));
    let packets = count(home, &capture, "frame");
    assert_eq!(count(home, &capture, "ip.checksum.status == \"Good\""), packets);
    let tcp = count(home, &capture, "tcp");
    assert!(tcp > 30 && tcp < packets);
    assert_eq!(count(home, &capture, "tcp.checksum.status == \"Good\""), tcp);
    assert_eq!(count(home, &capture, "udp.checksum.status == \"Good\""), packets - tcp);
    assert_eq!(packets - tcp, 4, "a datagram is lost");
}

fn retransmissions_and_duplicates_are_recognised(home: &Path) {
    let capture = captured(End::Sender);
    let fields = ["-T", "fields", "-e", "ip.src", "-e", "tcp.seq"];
    let rows = |filter: &str| {
        let text = tshark(home, &capture, &[&["-Y", filter][..], &fields].concat());
        text.lines().map(|line| line.replace('\t', " ")).collect::<Vec<_>>()
    };
    assert_eq!(rows("tcp.analysis.fast_retransmission"), ["10.0.0.1 2881", "10.0.0.3 961"]);
    assert_eq!(rows("tcp.analysis.rto"), ["10.0.0.1 12481"]);
    assert_eq!(count(home, &capture, "tcp.analysis.retransmission"), 3);
    assert_eq!(count(home, &capture, "tcp.analysis.duplicate_ack"), 6 + 4);
    for none in ["tcp.analysis.out_of_order", "tcp.analysis.lost_segment", "tcp.analysis.ack_lost_segment"] {
        assert_eq!(count(home, &capture, none), 0, "{none}");
    }
    // Where the receivers are, what was lost is a hole, and what fills it comes late.
    let capture = captured(End::Receiver);
    assert_eq!(count(home, &capture, "tcp.analysis.lost_segment"), 2);
}

fn every_field_is_filled_in(home: &Path) {
    let capture = captured(End::Sender);
    let all = |filter: &str| count(home, &capture, filter);
    assert_eq!(all("tcp.flags.syn == 1"), 6, "three connections");
    assert_eq!(all("tcp.options.sack_perm"), 4);
    assert_eq!(all("tcp.options.timestamp.tsval"), all("tcp"));
    assert_eq!(all("tcp.options.sack_le"), 6, "blocks of the flow that agreed to them");
    assert_eq!(all("tcp.options.mss_val == 972 and tcp.options.wscale.shift == 14"), 6);
    // A window without a limit is the largest that can be said.
    assert_eq!(all("tcp.window_size == 1073725440"), all("tcp.flags.syn == 0"));
    assert_eq!(all("ip.dsfield.ecn == 2"), 10 + 4 + 3);
    // RFC 3168, section 6.1.1: ECN is asked for by both flags and granted by ECE alone, where packets can be marked.
    assert_eq!(all("tcp.flags.syn == 1 and tcp.flags.ack == 0 and tcp.flags.ece == 1 and tcp.flags.cwr == 1"), 2);
    assert_eq!(all("tcp.flags.syn == 1 and tcp.flags.ack == 1 and tcp.flags.ece == 1 and tcp.flags.cwr == 0"), 2);
    assert_eq!(all("tcp.flags.syn == 1 and (tcp.flags.ece == 1 or tcp.flags.cwr == 1)"), 4);
    assert_eq!(all("tcp.flags.syn == 0 and tcp.flags.ece == 1"), 1);
    assert_eq!(all("tcp.flags.syn == 0 and tcp.flags.cwr == 1"), 1);
    assert_eq!(all("udp.length == 980 and ip.len == 1000"), 5);
    assert_eq!(all("tcp.len == 300"), 2, "the end of the transfer, twice");
    assert_eq!(all("frame.len == 1026 and frame.cap_len == 66"), 10 + 1 + 3 + 3 + 6 + 1);
    let block = tshark(home, &capture, &["-Y", "tcp.options.sack_le", "-T", "fields", "-e", "tcp.options.sack_re"]);
    assert_eq!(block.lines().last(), Some("9601"));
    // Nanoseconds, and what the third packet of the second connection echoes: it left 402 ms after the beginning.
    let filter = "tcp.srcport == 49153 and tcp.seq > 1900";
    let row = tshark(
        home,
        &capture,
        &["-Y", filter, "-T", "fields", "-e", "frame.time_epoch", "-e", "tcp.options.timestamp.tsval"],
    );
    assert_eq!(row.trim(), "0.402000000\t402");
    let echoes = [
        "-Y",
        "ip.src == 10.128.0.1 and tcp.ack == 12781",
        "-T",
        "fields",
        "-e",
        "tcp.options.timestamp.tsval",
        "-e",
        "tcp.options.timestamp.tsecr",
    ];
    assert_eq!(tshark(home, &capture, &echoes).trim(), "310\t300");
    let about = Command::new("capinfos").arg(home.join("packets.pcapng")).output();
    if let Ok(about) = about {
        let about = String::from_utf8_lossy(&about.stdout).into_owned();
        assert!(about.contains("nanoseconds (9)") && about.contains("handshake"), "{about}");
    }
}

fn main() {
    // Each test has a directory of its own.
    macro_rules! tests {
        ($($name:ident),*) => {
            [$((stringify!($name), || $name(tempfile::tempdir().unwrap().path()))),*]
        };
    }
    let tests: [(&str, fn()); 5] = tests![
        nothing_is_malformed,
        every_checksum_is_good,
        retransmissions_and_duplicates_are_recognised,
        every_field_is_filled_in,
        accurate_ecn_is_decoded
    ];
    let there = Command::new("tshark").arg("--version").output().is_ok_and(|o| o.status.success());
    let missing = "no tshark here; install it, on Debian by `apt-get install tshark`";
    optional::run(&tests, (!there).then(|| ("tshark", missing.to_owned())));
}
