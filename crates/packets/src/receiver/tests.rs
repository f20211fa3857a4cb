//! Acknowledgements of packets that come in order, late, twice or not at all.

use super::*;
use crate::options::Counters;
use crate::packet::ECT;

const EACH: EcnEcho = EcnEcho::PerPacket;
const DELAYED: Habits = Habits {
    echo: EACH,
    delayed_ack: 2,
    quick_acks: 0,
    max_ack_delay: Time(40_000_000_000),
    gap_once: false,
    sack_blocks: 1,
    accecn_option: false,
};
fn data(seq: u32, flags: u8) -> Packet {
    Packet { seq, tx: seq, flags, size: 1000, ..Packet::default() }
}
fn at_once(answer: Answer) -> Reply {
    if let Answer::Now(reply) = answer { reply } else { panic!("{answer:?}") }
}

#[test]
fn holes_are_filled_in_any_order() {
    let mut r = Receiver::default();
    let mut acked = Vec::new();
    for seq in [0, 2, 4, 3, 6, 1, 5] {
        acked.push(r.take(&data(seq, 0), EACH).seq);
    }
    assert_eq!(acked, [1, 1, 1, 1, 1, 5, 7]);
    assert_eq!(r.received.in_order, 7);
    assert!(r.beyond.is_empty());
}

/// A packet that follows is taken as any other, whatever was taken before.
#[test]
fn the_next_in_order_is_taken_as_any_other() {
    let mut draw = crate::agenda::tests::draws(3);
    let mut followed = 0;
    for echo in [EACH, EcnEcho::Classic] {
        let habits = habits(echo, 3, false);
        let (mut short, mut long) = (Receiver::default(), Receiver::default());
        for tx in 0..10_000u32 {
            let ahead = if draw(20) == 0 { draw(4) as u32 } else { 0 };
            let flags = [0, 0, CE, CWR][draw(4) as usize];
            let packet = Packet { tx, ..data(short.next as u32 + ahead, flags) };
            let reply = if short.follows(&packet, &habits) {
                followed += 1;
                short.take_next(&packet, &habits)
            } else {
                short.take_with_options(&packet, &habits, 1000)
            };
            assert_eq!(reply, long.take_with_options(&packet, &habits, 1000), "{tx}");
            assert_eq!((short.next, short.received), (long.next, long.received), "{tx}");
        }
    }
    assert!((2000..18_000).contains(&followed), "{followed}");
}

#[test]
fn the_block_is_the_run_of_the_packet_that_caused_it() {
    let mut r = Receiver::default();
    for (seq, from) in [(5, 5), (6, 5), (9, 9), (8, 8), (7, 5), (9, 5)] {
        let reply = r.take(&data(seq, 0), EACH);
        assert_eq!((reply.from, reply.flags & SACK), (from, SACK), "{seq}");
    }
}

#[test]
fn a_classic_echo_lasts_until_the_window_was_reduced() {
    let mut r = Receiver::default();
    let echoes: Vec<bool> = [0, CE, 0, 0, CWR, 0, CE | CWR, 0]
        .iter()
        .enumerate()
        .map(|(i, f)| r.take(&data(i as u32, *f), EcnEcho::Classic).flags & ECE != 0)
        .collect();
    assert_eq!(echoes, [false, true, true, true, false, false, true, true]);
}

/// An echo without a response, and an acknowledgement that waits, end with their connection: the next one knows of
/// neither.
#[test]
fn an_echo_ends_with_its_connection() {
    let mut r = Receiver::default();
    let reply = r.take(&data(0, CE), EcnEcho::Classic);
    assert_ne!(reply.flags & ECE, 0);
    assert_eq!(r.delay(&data(0, CE), reply, &DELAYED), Answer::Wait);
    r.restart();
    assert_eq!(r.overdue(), None);
    assert_eq!(r.take(&data(1, 0), EcnEcho::Classic).flags & ECE, 0);
}

/// A new connection's first packets are acknowledged one by one, then every second, and a next connection starts over.
#[test]
fn quick_acknowledgements_come_first() {
    let mut r = Receiver::default();
    let now = |r: &mut Receiver, seq| {
        let reply = r.take(&data(seq, 0), EACH);
        r.delay(&data(seq, 0), reply, &Habits { quick_acks: 3, ..DELAYED }) != Answer::Wait
    };
    assert_eq!([0, 1, 2, 3, 4, 5].map(|seq| now(&mut r, seq)), [true, true, true, false, true, false]);
    r.restart();
    assert!(now(&mut r, 6));
}

/// Segment 2 is lost, and sent again as transmission 6; transmission 8 comes after 9. TCP acknowledges each packet while a segment is
/// missing, and that which fills the hole (RFC 5681, section 4.2). QUIC acknowledges what comes after a gap and what is late
/// (RFC 9000, section 13.2.1), and of all others every second one.
#[test]
fn a_gap_is_told_once_or_of_each_packet_beyond_it() {
    let arrivals = [(0, 0), (1, 1), (3, 3), (4, 4), (5, 5), (6, 2), (7, 6), (9, 8), (8, 7), (10, 9)];
    let at_once = |gap_once: bool| {
        let mut r = Receiver::default();
        let now = arrivals.map(|(tx, seq)| {
            let packet = Packet { tx, ..data(seq, 0) };
            let reply = r.take(&packet, EACH);
            r.delay(&packet, reply, &Habits { gap_once, ..DELAYED }) != Answer::Wait
        });
        arrivals.into_iter().zip(now).filter(|(_, now)| *now).map(|((tx, _), _)| tx).collect::<Vec<_>>()
    };
    assert_eq!(at_once(false), [1, 3, 4, 5, 6, 9, 8]);
    assert_eq!(at_once(true), [1, 3, 5, 7, 9, 8]);
}

/// RFC 2883: a segment that was there before is reported as a duplicate, below the cumulative number and beyond it.
#[test]
fn duplicates_are_told() {
    let mut r = Receiver::default();
    let twice: Vec<bool> = [0, 0, 2, 2, 3, 2, 1, 1, 3, 4]
        .into_iter()
        .map(|seq| r.take(&data(seq, 0), EACH).flags & DUPLICATE != 0)
        .collect();
    assert_eq!(twice, [false, true, false, true, false, true, false, true, true, false]);
}

#[test]
fn a_delayed_acknowledgement_tells_marked_from_unmarked() {
    let mut r = Receiver::default();
    let take = |r: &mut Receiver, seq, flags| {
        let packet = data(seq, flags);
        let reply = r.take(&packet, EACH);
        r.delay(&packet, reply, &DELAYED)
    };
    assert_eq!(take(&mut r, 0, 0), Answer::Wait);
    assert_eq!(at_once(take(&mut r, 1, 0)).seq, 2);
    assert_eq!(take(&mut r, 2, 0), Answer::Wait);
    let Answer::Both(before, None) = take(&mut r, 3, CE) else { panic!() };
    assert_eq!((before.seq, before.flags), (3, 0));
    assert_eq!(r.overdue().map(|r| (r.seq, r.flags)), Some((4, ECE)));
    assert_eq!(r.overdue(), None);
    assert_eq!(at_once(take(&mut r, 5, 0)).seq, 4, "a hole is told at once");
}

#[test]
fn the_end_of_a_connection_is_acknowledged_at_once() {
    let mut r = Receiver::default();
    for (seq, flags, waits) in [(0, 0, true), (1, 0, false), (2, FIN, false), (3, 0, true)] {
        let packet = data(seq, flags);
        let reply = r.take(&packet, EACH);
        assert_eq!(reply.flags & ECE, 0, "no echo");
        assert_eq!(r.delay(&packet, reply, &DELAYED) == Answer::Wait, waits, "{seq}");
    }
}

fn habits(echo: EcnEcho, sack_blocks: u32, accecn_option: bool) -> Habits {
    Habits { echo, sack_blocks, accecn_option, ..DELAYED }
}

/// RFC 2018, section 4: the block of the segment that caused the acknowledgement comes first, then those reported last.
#[test]
fn blocks_are_told_of_newest_first() {
    let mut r = Receiver::default();
    let habits = habits(EACH, 3, true);
    let mut blocks = |seq: u32| -> Vec<(u64, u64)> {
        let reply = r.take_with_options(&data(seq, 0), &habits, 1000);
        let options = r.told.as_mut().unwrap().under_way.hear(reply.from).unwrap().0;
        options.map_or_else(Vec::new, |options| options.blocks(r.next).collect())
    };
    assert_eq!(blocks(0), []);
    assert_eq!(blocks(2), [(2, 3)]);
    assert_eq!(blocks(4), [(4, 5), (2, 3)]);
    assert_eq!(blocks(6), [(6, 7), (4, 5), (2, 3)]);
    assert_eq!(blocks(8), [(8, 9), (6, 7), (4, 5)], "three at the most");
    assert_eq!(blocks(3), [(2, 5), (8, 9), (6, 7)], "two have become one");
    assert_eq!(blocks(6), [(6, 7), (2, 5)], "a duplicate SACK takes the place of a block");
    assert_eq!(blocks(1), [(6, 7), (8, 9)], "what the number covers is no block");
    assert_eq!(blocks(5), [(8, 9)]);
    assert_eq!(blocks(7), []);
}

/// A third block leaves no space for the AccECN Option beside timestamps; the field in the header is always there.
#[test]
fn accurate_ecn_is_in_every_acknowledgement() {
    let mut r = Receiver::default();
    let all = habits(EcnEcho::Accurate, 3, true);
    let mut take = |seq: u32, flags: u8, habits: &Habits| {
        let reply = r.take_with_options(&data(seq, flags), habits, 1000);
        assert_eq!(reply.flags & ECE, 0);
        let options = r.told.as_mut().unwrap().under_way.hear(reply.from).unwrap().0.unwrap();
        (options.ace, options.counters, reply.flags & AT_ONCE != 0)
    };
    let counters = |ect0, ce| Some(Counters { ect0, ce, ect1: 1 });
    assert_eq!(take(0, ECT, &all), (5, counters(1001, 0), false));
    assert_eq!(take(1, ECT | CE, &all), (6, counters(1001, 1000), true), "a change is told at once");
    assert_eq!(take(2, ECT | CE, &all), (7, counters(1001, 2000), false));
    assert_eq!(take(4, ECT | CE, &all), (0, counters(1001, 3000), true));
    assert_eq!(take(6, ECT, &all), (0, counters(2001, 3000), true));
    assert_eq!(take(8, ECT, &all), (0, None, true));
    assert_eq!(take(9, ECT, &habits(EcnEcho::Accurate, 3, false)).1, None);
    assert_eq!(take(10, ECT | CE, &habits(EcnEcho::Accurate, 0, true)).1, counters(4001, 4000));
    r.restart();
    let reply = r.take_with_options(&data(3, ECT | CE), &all, 1000);
    let told = r.told.as_ref().unwrap();
    assert_eq!(told.under_way.look(reply.from).map(|options| options.ace), Some(6), "a connection counts anew");
}
