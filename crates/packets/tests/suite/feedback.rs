//! Options of acknowledgements: accurate ECN (RFC 9768), and more than one SACK block (RFC 2018).

use crate::laboratory::{Dumbbell, assert_near, group, link, refusal, run};
use penstock_scenario::world::{Content, End, Run};

/// A queue that marks from 30 packets on, with probability one from 31 on, as RFC 8257 requires.
const STEP: &str = "aqm = { law = \"red\", ecn = true, min_threshold = \"30 packets\", max_threshold = \"31 packets\", \
                    max_p = 1, weight = 1, gentle = false }";

fn over_the_step(flows: &str) -> Run {
    let top = "duration = \"60 s\"\nwarmup = \"10 s\"";
    Dumbbell { top, rate: "\"50 Mbit/s\"", buffer: "\"300 packets\"", link: STEP, flows }.run()
}

/// DCTCP counts marks. With acknowledgements for two packets the accurate echo of RFC 9768 leaves it the window that the
/// echo of RFC 8257 does, which sends one more acknowledgement for each change: within 2 %.
#[test]
fn dctcp_has_its_window_with_an_accurate_echo() {
    let of = |echo: &str, count: u32| {
        let flows = format!(
            "count = {count}\ncc = {{ law = \"dctcp\" }}\nsender = {{ delayed_ack = 2, ecn_echo = \"{echo}\" }}"
        );
        let run = over_the_step(&flows);
        let group = group(&run, "f");
        assert!(group.mark_rate > 0.001, "{}", group.mark_rate);
        assert_eq!(link(&run, "b").drops, 0);
        (group.window_mean_packets.unwrap(), group.mark_rate, group.window_sd_packets.unwrap())
    };
    for count in [1, 2, 5] {
        let (each, accurate) = (of("per-packet", count), of("accurate", count));
        eprintln!("{count} flows: {each:?} {accurate:?}");
        assert_near(accurate.0, each.0, 0.02, "the mean window");
    }
}

/// A receiver that knows RFC 3168 only makes a connection that asks for accurate feedback what it would be without.
#[test]
fn a_classic_receiver_has_a_classic_connection() {
    let of = |sender: &str| {
        let run = over_the_step(&format!("cc = {{ law = \"newreno\", ecn = true }}\nsender = {{ {sender} }}"));
        assert!(group(&run, "f").mark_rate > 0.0);
        (run.summary.engine.events, run.flows)
    };
    let fallen = of("ecn_echo = \"accurate\", receiver_ecn = \"classic\"");
    assert_eq!(fallen, of("ecn_echo = \"classic\""));
    assert_ne!(fallen, of("ecn_echo = \"accurate\""));
    let text = Dumbbell {
        flows: "cc = { law = \"dctcp\" }\nsender = { ecn_echo = \"accurate\", receiver_ecn = \"classic\" }",
        ..Dumbbell::PLAIN
    };
    let refused = refusal(&text.text());
    assert!(refused.contains("receiver_ecn: a `classic` ECN echo does not suit the law `dctcp`"), "{refused}");
}

/// A price is read from the share of marked packets, and is the same by either echo.
#[test]
fn a_price_is_read_from_an_accurate_echo() {
    let of = |echo: &str| {
        let top = "duration = \"60 s\"\nwarmup = \"20 s\"";
        let link = "aqm = { law = \"price\" }";
        let flows =
            format!("count = 3\ncc = {{ law = \"leadlag\" }}\nsender = {{ delayed_ack = 2, ecn_echo = \"{echo}\" }}");
        let run = Dumbbell { top, link, flows: &flows, ..Dumbbell::PLAIN }.run();
        assert!(group(&run, "f").mark_rate > 0.01, "{}", group(&run, "f").mark_rate);
        (group(&run, "f").window_mean_packets.unwrap(), run.summary.engine.events)
    };
    let (each, accurate) = (of("per-packet"), of("accurate"));
    eprintln!("{each:?} {accurate:?}");
    assert_near(accurate.0, each.0, 0.02, "the mean window");
    assert_ne!(accurate.1, each.1, "another number of acknowledgements");
}

/// A law that responds to a mark as to a loss does so once a window, by either echo (RFC 3168, section 6.1.2).
#[test]
fn one_reduction_a_window_by_any_echo() {
    let window = |echo: &str| {
        let run =
            over_the_step(&format!("cc = {{ law = \"newreno\", ecn = true }}\nsender = {{ ecn_echo = \"{echo}\" }}"));
        group(&run, "f").window_mean_packets.unwrap()
    };
    assert_near(window("accurate"), window("per-packet"), 0.02, "the mean window");
}

/// Captures show acknowledgements as they are: the field counts from 5, and the option gives way to a third block.
#[test]
fn feedback_is_seen_in_captures() {
    let flows = "start = \"0 s\"\ncc = { law = \"dctcp\" }\nsender = { ecn_echo = \"accurate\", sack_blocks = 3, \
                 initial_window = 60 }";
    let text = Dumbbell {
        top: "duration = \"2 s\"",
        buffer: "\"40 packets\"",
        link: "loss = 0.05",
        flows,
        ..Dumbbell::PLAIN
    }
    .text()
    .replace(
        "loss",
        "aqm = { law = \"red\", ecn = true, min_threshold = \"9 packets\", max_threshold = \"20 packets\" }\nloss",
    );
    let (_, seen) = crate::laboratory::watch(&text);
    let mut arrived = 0u8;
    let (mut with, mut without) = (0, 0);
    for sighting in seen.iter().filter(|s| s.end == End::Receiver) {
        match sighting.content {
            Content::Data { cwr, .. } => {
                arrived += u8::from(sighting.ecn == penstock_scenario::world::Ecn::Ce);
                arrived %= 8;
                assert!(!cwr, "that flag is a part of the counter");
            }
            Content::Ack { blocks, accurate, echo, .. } => {
                let accurate = accurate.expect("both ends know it");
                assert_eq!((accurate.ace, echo), ((5 + arrived) % 8, false));
                let count = blocks.iter().flatten().count();
                assert!(count <= 3);
                // A duplicate SACK takes the place of a block, and has none here.
                assert!(accurate.option.is_some() || count >= 2, "{blocks:?}");
                assert!(accurate.option.is_none() || count < 3, "{blocks:?}");
                *if accurate.option.is_some() { &mut with } else { &mut without } += 1;
            }
            Content::Datagram { .. } => panic!("there are none"),
        }
    }
    assert!(with > 200 && without > 5, "{with} with, {without} without");
}

/// Three in ten acknowledgements are lost on the way back, and one in a hundred packets on the way there. With three blocks
/// less of what arrived has to be sent again than with one, and holes are not taken for reordering.
#[test]
fn more_blocks_lose_less_with_lost_acknowledgements() {
    let of = |recovery: &str, blocks: u32| {
        let text = format!(
            r#"
format = 1
packet = "1000 B"
duration = "60 s"
[links.b]
from = "l"
to = "r"
rate = "20 Mbit/s"
delay = "5 ms"
duplex = true
buffer = "100 packets"
loss = 0.01
[links."b/back"]
loss = 0.3
[flows.f]
count = 4
from = "l"
to = "r"
rtt = "60 ms"
cc = {{ law = "cubic" }}
sender = {{ recovery = "{recovery}", sack_blocks = {blocks}, initial_window = 10 }}
"#
        );
        let run = run(&text);
        let (group, link) = (group(&run, "f"), link(&run, "b"));
        let spurious = group.spurious_retransmits.unwrap();
        eprintln!("{recovery} {blocks}: {} again, {spurious} of them needless, {} lost", group.retransmits, link.drops);
        spurious as f64 / group.retransmits as f64
    };
    for recovery in ["sack", "rack"] {
        let (one, three) = (of(recovery, 1), of(recovery, 3));
        assert!(one > 0.1 && three < one / 5.0, "{recovery}: {three:?} {one:?}");
    }
}
