//! The files: which sequences each has.

use super::driver::Stack;
use super::format::{Bound, File, Kind, Sequence, Tolerance};
use super::law::OfLaw;
use super::sequences::{DATAGRAM, INITIAL, Line, Writer};

/// Round trips of the sequences [us].
pub(crate) const SHORT_US: u64 = 10_000;
pub(crate) const MIDDLE_US: u64 = 40_000;
pub(crate) const LONG_US: u64 = 100_000;

/// A sequence before its outputs: name, section, purpose, round trip, and events.
type Draft = (&'static str, &'static str, &'static str, u64, fn(&mut Writer<'_>));

/// Of windows that grow by whole datagrams: one of them, or two where the curve is followed by such steps, and what rounding makes of it.
const WHOLE: [(f64, u64); 2] = [(0.001, 1), (0.01, 2)];

fn file(algorithm: &str, source: &str, choices: &[&str], whole: (f64, u64), sequences: Vec<Sequence>) -> File {
    File {
        format: 1,
        algorithm: algorithm.to_owned(),
        source: source.to_owned(),
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        datagram_bytes: DATAGRAM,
        initial_window_bytes: INITIAL,
        tolerance: Tolerance {
            real: Bound { relative: 1e-9, bytes: 1.0 },
            whole_datagrams: Bound { relative: whole.0, bytes: (whole.1 * DATAGRAM) as f64 },
        },
        sequences,
    }
}

fn written(drafts: &[Draft], make: &dyn Fn() -> Box<dyn Stack>) -> Vec<Sequence> {
    let sequence =
        |&(name, section, about, rtt_us, write): &Draft| Writer::sequence(name, section, about, rtt_us, make(), write);
    drafts.iter().map(sequence).collect()
}

/// Slow start to 80 datagrams, and a loss.
fn cut_at_80(w: &mut Writer<'_>) {
    (0..3).for_each(|_| w.round());
    w.round_with_loss();
}

fn minimum(w: &mut Writer<'_>) {
    (0..6).for_each(|_| w.round_with_loss());
}

fn echo(w: &mut Writer<'_>) {
    w.round();
    w.round_with_echo();
    w.round();
    w.round_with_loss();
    w.round();
}

/// So many datagrams are under way and lost, and a probe after a timeout too. The first of two more probes reveals it. They may bring an
/// echo.
fn go_dark(w: &mut Writer<'_>, under_way: u64, echo: bool) {
    w.wait(w.darkness_us());
    let (lost, _) = w.send(1);
    w.wait(w.darkness_us());
    let probe = w.send(2);
    if echo {
        w.event(Kind::Echo, (probe, 0), probe.0, 1);
    }
    w.event(Kind::Persistent, (probe, 0), lost, under_way + 1);
    w.ack(probe, 0, 2, 1, Kind::Acked, 0);
}

fn persistent(w: &mut Writer<'_>) {
    (0..2).for_each(|_| w.round());
    let window = w.window();
    w.send(window);
    go_dark(w, window, false);
    (0..8).for_each(|_| w.round());
}

/// An echo in the frame that reveals persistent congestion: RFC 9002 processes it first, and recovery begins by it.
fn persistent_after_an_echo(w: &mut Writer<'_>) {
    (0..2).for_each(|_| w.round());
    let window = w.window();
    w.send(window);
    go_dark(w, window, true);
    (0..6).for_each(|_| w.round());
}

/// A loss, and persistent congestion by datagrams that left after it.
fn persistent_after_a_loss(w: &mut Writer<'_>) {
    (0..2).for_each(|_| w.round());
    w.round_with_loss();
    let window = w.window();
    w.send(window);
    go_dark(w, window, false);
    (0..6).for_each(|_| w.round());
}

fn one_cut_a_round_trip(w: &mut Writer<'_>) {
    (0..2).for_each(|_| w.round());
    let window = w.window();
    let flight = w.send(window);
    let (start, every) = flight;
    w.ack(flight, 1, 3, 1, Kind::Acked, 0);
    w.event(Kind::Lost, (flight, 3), start, 1);
    w.ack(flight, 3, 4, 1, Kind::Acked, 0);
    w.ack(flight, 5, 7, 1, Kind::Acked, 0);
    w.event(Kind::Lost, (flight, 7), start + 4 * every, 1);
    w.ack(flight, 7, 8, 1, Kind::Acked, 0);
    w.event(Kind::Echo, (flight, 8), start + 8 * every, 1);
    w.ack(flight, 8, window, 1, Kind::Acked, 0);
    w.round();
}

fn short_of_data(w: &mut Writer<'_>) {
    let flight = w.send(5);
    w.ack(flight, 0, 5, 1, Kind::Limited, 0);
    w.round();
    w.round_with_loss();
    let flight = w.send(5);
    w.ack(flight, 0, 5, 1, Kind::Limited, 0);
    w.round();
}

fn late_acknowledgements(w: &mut Writer<'_>) {
    let flight = w.send(10);
    w.ack(flight, 0, 10, 2, Kind::Acked, 0);
    let flight = w.send(20);
    w.ack(flight, 0, 20, 10, Kind::Acked, 0);
    w.round_with_loss();
    for _ in 0..3 {
        let flight = w.send(20);
        w.ack(flight, 0, 20, 2, Kind::Acked, 0);
    }
}

pub(crate) fn newreno(make: &dyn Fn() -> Box<dyn Stack>) -> File {
    let drafts: &[Draft] = &[
        ("slow start", "RFC 9002, section 7.3.1", "every acknowledged byte adds one", MIDDLE_US, |w| {
            (0..4).for_each(|_| w.round());
        }),
        (
            "a loss",
            "RFC 9002, sections 7.3.2 and 7.3.3",
            "half the window, and then a datagram a round trip",
            MIDDLE_US,
            |w| {
                cut_at_80(w);
                (0..10).for_each(|_| w.round());
            },
        ),
        (
            "one reduction a round trip",
            "RFC 9002, section 7.3.2",
            "later losses and marks of what was sent before count as one",
            MIDDLE_US,
            one_cut_a_round_trip,
        ),
        ("an echo", "RFC 9002, section 7.1", "a mark is a loss", MIDDLE_US, echo),
        (
            "the minimum window",
            "RFC 9002, section 7.2 and appendix B.6",
            "two datagrams remain; the threshold is half the window all the same",
            MIDDLE_US,
            minimum,
        ),
        (
            "persistent congestion",
            "RFC 9002, section 7.6.2",
            "two datagrams remain, and slow start goes to half of what was",
            MIDDLE_US,
            persistent,
        ),
        (
            "persistent congestion after a loss",
            "RFC 9002, appendix B.8",
            "what was lost left after the recovery began: the threshold is halved again",
            MIDDLE_US,
            persistent_after_a_loss,
        ),
        (
            "persistent congestion after an echo",
            "RFC 9002, appendices A.7 and B.8",
            "the echo of the same frame begins a recovery: the threshold is halved once",
            MIDDLE_US,
            persistent_after_an_echo,
        ),
        ("short of data", "RFC 9002, section 7.8", "a window that is not used does not grow", MIDDLE_US, short_of_data),
        ("idleness", "RFC 9002, section 7.8", "a minute without data changes nothing", MIDDLE_US, |w| {
            cut_at_80(w);
            w.round();
            w.wait(60_000_000);
            (0..3).for_each(|_| w.round());
        }),
        (
            "late acknowledgements",
            "RFC 9002, appendix B.5",
            "bytes count, not frames",
            MIDDLE_US,
            late_acknowledgements,
        ),
    ];
    let choices = [
        "the threshold is half the window without a minimum, and the window has one, as in appendix B.6",
        "an event reduces the window at once, and not what is in flight, where section 7.3.2 allows other ways",
        "in congestion avoidance each acknowledged datagram adds its part, as in appendix B.5; section 7.3.3 has a bound only",
    ];
    file("newreno", "RFC 9002, section 7 and appendix B", &choices, WHOLE[0], written(drafts, make))
}

pub(crate) fn cubic(make: &dyn Fn() -> Box<dyn Stack>) -> File {
    let drafts: &[Draft] = &[
        (
            "the curve",
            "RFC 9438, sections 4.2, 4.4 and 4.5",
            "0.7 of the window, the curve up to where it was and beyond",
            LONG_US,
            |w| {
                (0..4).for_each(|_| w.round());
                w.round_with_loss();
                (0..90).for_each(|_| w.round());
            },
        ),
        ("Reno's region", "RFC 9438, section 4.3", "on a short path the window is Reno's", SHORT_US, |w| {
            (0..2).for_each(|_| w.round());
            w.round_with_loss();
            (0..50).for_each(|_| w.round());
        }),
        (
            "fast convergence",
            "RFC 9438, section 4.7",
            "a second loss below W_max aims at 0.85 of the window",
            LONG_US,
            |w| {
                cut_at_80(w);
                (0..8).for_each(|_| w.round());
                w.round_with_loss();
                (0..50).for_each(|_| w.round());
            },
        ),
        (
            "persistent congestion",
            "RFC 9438, section 4.8",
            "slow start to 0.7 of the window, and a curve that starts flat",
            LONG_US,
            |w| {
                persistent(w);
                (0..20).for_each(|_| w.round());
            },
        ),
        (
            "one reduction a round trip",
            "RFC 9002, section 7.3.2",
            "later losses and marks of what was sent before count as one",
            LONG_US,
            one_cut_a_round_trip,
        ),
        ("an echo", "RFC 9438, section 4.6", "a mark is a loss", LONG_US, echo),
        ("the minimum window", "RFC 9438, section 4.6", "two datagrams remain", SHORT_US, minimum),
        ("idleness", "RFC 9438, section 5.8", "a minute without data does not move the curve", LONG_US, |w| {
            cut_at_80(w);
            (0..10).for_each(|_| w.round());
            w.wait(60_000_000);
            (0..10).for_each(|_| w.round());
        }),
    ];
    let choices = [
        "a stage of congestion avoidance, and t, begin with the first acknowledgement of a datagram that was sent in it",
        "t goes on by a round trip at most between two acknowledgements",
        "the smoothed round-trip time is that of RFC 9002; it is constant within a sequence",
        "an event reduces the window, not what is in flight",
        "cwnd_prior after persistent congestion is the window before it",
    ];
    file(
        "cubic",
        "RFC 9438, section 4; RFC 9002 for what counts as an event",
        &choices,
        WHOLE[1],
        written(drafts, make),
    )
}

pub(crate) fn hystart(make: &dyn Fn() -> Box<dyn Stack>) -> File {
    let drafts: &[Draft] = &[
        ("a steady path", "RFC 9406, section 4.2", "without a rise the window doubles", MIDDLE_US, |w| {
            (0..5).for_each(|_| w.round());
        }),
        (
            "a rise",
            "RFC 9406, section 4.2",
            "an eighth more ends slow start after five rounds at a quarter of the growth",
            MIDDLE_US,
            |w| {
                (0..3).for_each(|_| w.round());
                (0..8).for_each(|_| w.round_later(6_000));
            },
        ),
        ("a small rise", "RFC 9406, section 4.3", "less than an eighth changes nothing", MIDDLE_US, |w| {
            (0..3).for_each(|_| w.round());
            (0..2).for_each(|_| w.round_later(4_000));
        }),
        (
            "a rise of less than 4 ms",
            "RFC 9406, section 4.3",
            "on a short path the least threshold holds",
            SHORT_US,
            |w| {
                (0..3).for_each(|_| w.round());
                w.round_later(3_900);
                (0..3).for_each(|_| w.round_later(8_000));
            },
        ),
        ("a rise that passes", "RFC 9406, section 4.2", "the window doubles again", MIDDLE_US, |w| {
            (0..3).for_each(|_| w.round());
            w.round_later(10_000);
            (0..3).for_each(|_| w.round());
        }),
        ("a loss", "RFC 9406, section 4.2", "a loss ends slow start at once", MIDDLE_US, |w| {
            (0..3).for_each(|_| w.round());
            w.round_later(10_000);
            w.round_with_loss();
            w.round();
        }),
    ];
    let choices = [
        "a round ends with the first acknowledgement of a datagram that was sent after it began; that sample is the last of the old round",
        "L is 8; all acknowledgements here are of one datagram",
        "the growth of a round of Conservative Slow Start is a quarter of an acknowledged datagram for each",
        "after slow start and after a loss the window is CUBIC's (RFC 9438)",
    ];
    file("hystart++", "RFC 9406, section 4", &choices, WHOLE[1], written(drafts, make))
}

pub(crate) fn prague() -> File {
    let make = || Box::new(OfLaw::new("prague", &[])) as Box<dyn Stack>;
    let drafts: &[Draft] = &[
        (
            "the first mark",
            "draft-briscoe-iccrg-prague-congestion-control-04, section 2.4.2",
            "alpha begins at one: the first mark halves",
            MIDDLE_US,
            |w| {
                (0..2).for_each(|_| w.round());
                w.round_marked(|number| number == 5);
                w.round();
            },
        ),
        (
            "a tenth marked",
            "section 2.3.2",
            "alpha goes to the share of marked datagrams, by a sixteenth a round",
            MIDDLE_US,
            |w| {
                (0..2).for_each(|_| w.round());
                (0..25).for_each(|_| w.round_marked(|number| number % 10 == 9));
            },
        ),
        ("all marked", "section 2.4.2", "each round trip halves, down to two datagrams", MIDDLE_US, |w| {
            (0..2).for_each(|_| w.round());
            (0..6).for_each(|_| w.round_marked(|_| true));
        }),
        ("a loss", "section 2.4.1", "a loss halves, whatever alpha is, and does not move alpha", MIDDLE_US, |w| {
            (0..2).for_each(|_| w.round());
            (0..5).for_each(|_| w.round_marked(|number| number == 0));
            w.round_with_loss();
            (0..3).for_each(|_| w.round());
            w.round_marked(|number| number == 0);
        }),
    ];
    let choices = [
        "alpha begins at 1 and does not move before the first mark; g is 1/16",
        "a reduction comes with the first mark of a round of alpha",
        "a round of alpha lasts a smoothed round trip at least, or 25 ms from 500 round trips after slow start on: no sequence is as long",
        "an acknowledgement with a mark does not grow the window, and others grow it in every round",
        "the pacing rate is a window a smoothed round trip, and twice that below half the threshold",
    ];
    let source = "draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331, section 4; constants of L4STeam/linux, tcp_prague.c";
    file("prague", source, &choices, WHOLE[1], written(drafts, &make))
}

/// Startup over a line of a datagram in 1 ms, 40 in a round trip, up to the time of its third round trip.
fn startup_with_losses(w: &mut Writer<'_>, lost: &[u64]) {
    w.line(&mut Line::new(1_000), 200_000, lost);
}

fn persistent_in_startup(w: &mut Writer<'_>) {
    let mut line = Line::new(1_000);
    w.line(&mut line, 100_000, &[]);
    let under_way = w.fill(&mut line);
    go_dark(w, under_way, false);
    w.line(&mut Line::new(1_000), 200_000, &[]);
}

pub(crate) fn bbr3(make: &dyn Fn() -> Box<dyn Stack>) -> File {
    let drafts: &[Draft] = &[
        (
            "startup",
            "draft-ietf-ccwg-bbr, section 5.3.1",
            "the window doubles while the rate grows, and three rounds without a quarter more end it",
            MIDDLE_US,
            |w| {
                // A line of 4.8 Mbit/s carries a datagram in 2 ms; 40 ms of it are 20 datagrams.
                w.line(&mut Line::new(2_000), 1_000_000, &[]);
            },
        ),
        ("a loss in startup", "section 5.3.1.3", "one loss ends nothing", MIDDLE_US, |w| {
            startup_with_losses(w, &[15]);
        }),
        (
            "losses in startup",
            "section 5.3.1.3",
            "six ranges, more than 2 % of a round trip in recovery, end it",
            MIDDLE_US,
            |w| {
                startup_with_losses(w, &[15, 17, 19, 21, 23, 25, 27]);
            },
        ),
        (
            "persistent congestion",
            "section 5.6.4.4; RFC 9002, section 7.6.2",
            "the least window, and as in slow start back to that of the model",
            MIDDLE_US,
            persistent_in_startup,
        ),
    ];
    let choices = [
        "datagrams for bytes: a window has whole datagrams where the draft rounds",
        "the pacing rate is that of InitPacingRate again with the first round-trip time, which the draft has at initialisation alone",
        "cwnd_bytes is the window, and not what the pacing rate sends in a round trip",
        "C.delivered at a loss is without the frame that tells it: from there a round trip in fast recovery is counted",
        "a recovery lasts until the first acknowledgement of a datagram that was sent in it (RFC 9002, section 7.3.2), which belongs to it: the saved window is back after it. No sequence shows whether it is back before",
        "persistent congestion begins no recovery (RFC 9002, section 7.6.2): two datagrams remain, and each acknowledged one adds one, up to the window of the model",
    ];
    file("bbr3", "draft-ietf-ccwg-bbr, after version 06", &choices, WHOLE[1], written(drafts, make))
}
