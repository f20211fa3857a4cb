use penstock_scenario::read::Document;
use penstock_scenario::world::RunError;

use super::*;
use crate::accecn::Counted;
use crate::plan::build;

/// Only segments that no block reported before are news, but for the segment that caused the acknowledgement.
#[test]
fn a_block_that_was_told_of_is_no_news() {
    let mut feedback = Feedback::new(false);
    let mut news = |cause: u64, blocks: &[(u64, u64)]| {
        let (news, count) = feedback.news(blocks.iter().copied(), Some(cause));
        news[..count].to_vec()
    };
    assert_eq!(news(2, &[(2, 3)]), []);
    assert_eq!(news(4, &[(4, 5), (2, 3)]), []);
    assert_eq!(news(10, &[(10, 11), (7, 8), (4, 5)]), [(7, 8)], "its own acknowledgement was lost");
    assert_eq!(news(14, &[(14, 15), (10, 13), (7, 8)]), [(11, 13)], "two of it were");
    assert_eq!(news(20, &[(20, 21), (9, 13), (14, 15)]), [(9, 10)]);
    assert_eq!(news(13, &[(9, 15), (20, 21)]), [], "it joins two");
    assert_eq!(news(1, &[(20, 24), (9, 15)]), [(21, 24)], "it fills a hole");
}

/// Marks of what came out of order count with the acknowledgement that covers it, and those of a recovery not at all.
#[test]
fn marks_count_with_what_covers_them() {
    let mut feedback = Feedback::new(true);
    assert_eq!(feedback.count(1, 1, false, true), 1);
    assert_eq!(feedback.count(1, 3, true, true), 2);
    assert_eq!(feedback.count(0, 2, true, true), 0);
    feedback.count(4, 1, false, false);
    assert_eq!(feedback.count(0, 2, true, true), 0);
}

/// A run over a queue that marks, which nothing is sent in the last two seconds of; acknowledgements are lost on the way back.
fn run(group: &str, link: &str, acks_lost: f64) -> Engine {
    let text = format!(
        r#"
format = 1
packet = "1000 B"
duration = "42 s"
[links.b]
from = "l"
to = "r"
rate = "20 Mbit/s"
delay = "5 ms"
duplex = true
buffer = "200 packets"
aqm = {{ law = "red", ecn = true, min_threshold = "10 packets", max_threshold = "60 packets", max_p = 0.5, weight = 1 }}
{link}
[links."b/back"]
aqm = {{ law = "droptail" }}
loss = {acks_lost:?}
[flows.f]
from = "l"
to = "r"
rtt = "20 ms"
stop = "40 s"
{group}
"#
    );
    let cells = Document::parse(&text, "test.toml").and_then(|document| document.cells());
    let scenario = cells.unwrap_or_else(|e| panic!("{e}")).into_iter().next().unwrap().scenario;
    let mut engine = build(&scenario).unwrap();
    let taken: Result<_, RunError> = engine.run(&mut |_| true);
    taken.unwrap();
    engine
}

/// Counters of both ends of each flow: marked packets.
fn counts(engine: &Engine) -> Vec<(u64, u64)> {
    let sender = |flow: &Flow| flow.feedback.as_ref().unwrap().marks.unwrap().packets - Marks::START.packets;
    let receiver = |at: usize| engine.receivers[at].told.as_ref().unwrap().counted.packets - Counted::START.packets;
    engine.flows.iter().enumerate().map(|(at, flow)| (sender(flow), receiver(at))).collect()
}

/// RFC 9768, section 3.2: the sender knows each of 10,000 marks, though acknowledgements are lost, delayed, or both, with the
/// option and without, whatever recovery does with the losses of data there are besides.
#[test]
fn no_mark_is_lost_with_an_acknowledgement() {
    for (recovery, blocks, delayed) in [("sack", 1, 2), ("rack", 3, 2), ("sack", 3, 1), ("newreno", 1, 2)] {
        for option in [true, false] {
            for loss in ["", "loss = 0.001"] {
                let blocks = if recovery == "newreno" { String::new() } else { format!(", sack_blocks = {blocks}") };
                let group = format!(
                    "count = 10\ncc = {{ law = \"dctcp\" }}\nsender = {{ ecn_echo = \"accurate\", accecn_option = {option}, \
                     recovery = \"{recovery}\", delayed_ack = {delayed}{blocks} }}"
                );
                let engine = run(&group, loss, 0.01);
                let counts = counts(&engine);
                eprintln!("{recovery} {delayed} option {option} {loss}: {counts:?}");
                let all: u64 = counts.iter().map(|(_, receiver)| receiver).sum();
                assert!(all > 10_000, "{all}");
                assert!(counts.iter().all(|(sender, receiver)| sender == receiver), "{recovery} {option}: {counts:?}");
                let marked: u64 = engine.receivers.iter().map(|receiver| receiver.received.marked).sum();
                assert_eq!(all, marked);
            }
        }
    }
}

/// Twenty packets leave at once, the third is lost, and those behind ten others are marked: the loss and the marks are of one
/// window, and reduce it once (RFC 3168, section 6.1.2). The retransmission's acknowledgement has the latched echo still, since
/// the first new segment, which says that the window was reduced, is behind it. Hosts with one block still answer it.
#[test]
fn a_latched_echo_does_not_reduce_twice() {
    let cuts = |echo: &str| {
        let text = format!(
            r#"
format = 1
packet = "1000 B"
duration = "2 s"
links.b = {{ from = "l", to = "r", rate = "20 Mbit/s", delay = "5 ms", duplex = true, buffer = "200 packets", lose_transmission = 3, aqm = {{ law = "red", ecn = true, min_threshold = "10 packets", max_threshold = "11 packets", max_p = 1, weight = 1, gentle = false }} }}
links."b/back".aqm.law = "droptail"
[flows.f]
from = "l"
to = "r"
rtt = "20 ms"
start = "0 s"
size = "40 kB"
cc = {{ law = "newreno", ecn = true }}
sender = {{ initial_window = 20, ssthresh = 20, sack_blocks = 2, ecn_echo = "{echo}" }}
"#
        );
        let cells = Document::parse(&text, "test.toml").and_then(|document| document.cells());
        let mut engine = build(&cells.unwrap_or_else(|e| panic!("{e}"))[0].scenario).unwrap();
        engine.run(&mut |_| true).unwrap();
        assert!(engine.receivers[0].received.marked > 5);
        (engine.flows[0].sent.cuts, engine.flows[0].sent.again)
    };
    assert_eq!(["classic", "per-packet", "accurate"].map(cuts), [(1, 1); 3]);
}

/// Three in ten acknowledgements are lost, so that the field of three bits wraps between two of them now and then. With the
/// option nothing is lost. Without it the sender assumes the most that is likely, so it counts too many and never too few.
#[test]
fn the_option_tells_what_the_field_cannot() {
    let of = |option: bool| {
        let group = format!(
            "cc = {{ law = \"dctcp\" }}\nsender = {{ ecn_echo = \"accurate\", accecn_option = {option}, delayed_ack = 2 }}"
        );
        counts(&run(&group, "", 0.3))
    };
    let (with, without) = (of(true), of(false));
    eprintln!("{with:?} {without:?}");
    assert!(with.iter().all(|(sender, receiver)| sender == receiver), "{with:?}");
    assert!(without.iter().all(|(sender, receiver)| sender > receiver), "{without:?}");
}
