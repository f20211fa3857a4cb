//! The events of a controller: flights of datagrams, and their fates.
//!
//! A flight is sent within half a round trip, and its acknowledgements come a round trip later. So no two lines overlap, and the whole
//! window was in flight. A loss or an echo comes before the acknowledgement that tells it (RFC 9002, appendix A.7).

use std::collections::VecDeque;

use super::format::{Event, Kind, Sequence};
use crate::vectors::driver::Stack;

/// A datagram [bytes], and the initial window: ten of them (RFC 9002, section 7.2).
pub(crate) const DATAGRAM: u64 = 1200;
pub(crate) const INITIAL: u64 = 10 * DATAGRAM;

/// A sequence that is being written, with the outputs of a controller.
pub(crate) struct Writer<'a> {
    stack: &'a mut dyn Stack,
    events: Vec<Event>,
    now_us: u64,
    rtt_us: u64,
}

impl Writer<'_> {
    /// A sequence on a path with that round trip.
    pub(crate) fn sequence(
        name: &'static str,
        section: &'static str,
        about: &'static str,
        rtt_us: u64,
        mut stack: Box<dyn Stack>,
        write: impl Fn(&mut Writer<'_>),
    ) -> Sequence {
        let mut writer = Writer { stack: &mut *stack, events: Vec::new(), now_us: 0, rtt_us };
        write(&mut writer);
        Sequence { name, section, about, events: writer.events }
    }

    /// The window in whole datagrams.
    pub(crate) fn window(&self) -> u64 {
        let [window, ..] = self.stack.outputs();
        (window.expect("a window") / DATAGRAM as f64 + 1e-9) as u64
    }

    fn happen(
        &mut self,
        kind: Kind,
        at_us: u64,
        sent_us: u64,
        [datagrams, marked, repeat, every_us, sent_every_us]: [u64; 5],
    ) {
        let mut event = Event {
            at_us,
            event: kind,
            sent_us,
            datagrams,
            marked,
            repeat,
            every_us,
            sent_every_us,
            cwnd_bytes: 0.0,
            ssthresh_bytes: None,
            pacing_bit_per_s: None,
        };
        for step in 0..repeat {
            let (at, sent) = (at_us + step * every_us, sent_us + step * sent_every_us);
            let bytes = DATAGRAM * datagrams;
            match kind {
                Kind::Sent => (0..datagrams).for_each(|_| self.stack.sent(at, DATAGRAM)),
                Kind::Acked => self.stack.acked(at, sent, bytes, datagrams, marked, false),
                Kind::Limited => self.stack.acked(at, sent, bytes, datagrams, marked, true),
                Kind::Lost => self.stack.lost(at, sent, bytes, false),
                Kind::Persistent => self.stack.lost(at, sent, bytes, true),
                Kind::Echo => self.stack.echo(at, sent),
            }
            self.now_us = at;
        }
        let [window, ssthresh, pacing] = self.stack.outputs();
        event.cwnd_bytes = window.expect("a window");
        (event.ssthresh_bytes, event.pacing_bit_per_s) = (ssthresh, pacing);
        self.events.push(event);
    }

    /// A flight of so many datagrams; when it began, and the time between two.
    pub(crate) fn send(&mut self, datagrams: u64) -> (u64, u64) {
        let (start, every) = (self.now_us + 1000, self.rtt_us / 2 / datagrams.max(1));
        self.happen(Kind::Sent, start, 0, [1, 0, datagrams, every, 0]);
        (start, every)
    }

    /// Its datagrams `from..to` are acknowledged, so many by an ACK frame, after a round trip that is longer by `more_us`.
    pub(crate) fn ack(&mut self, (start, every): (u64, u64), from: u64, to: u64, each: u64, kind: Kind, more_us: u64) {
        let sent = start + (from + each - 1) * every;
        let times = (to - from) / each;
        assert_eq!(times * each, to - from, "whole frames");
        if times > 0 {
            self.happen(kind, sent + self.rtt_us + more_us, sent, [each, 0, times, each * every, each * every]);
        }
    }

    /// A round trip: a window of datagrams, acknowledged one by one.
    pub(crate) fn round(&mut self) {
        self.round_later(0);
    }

    /// The same, on a path that is longer by so much for a round trip.
    pub(crate) fn round_later(&mut self, more_us: u64) {
        let window = self.window();
        let flight = self.send(window);
        self.ack(flight, 0, window, 1, Kind::Acked, more_us);
    }

    /// A flight of a window that loses its first datagram: the third datagram after it tells the loss, and everything else is acknowledged.
    pub(crate) fn round_with_loss(&mut self) {
        let window = self.window();
        let flight = self.send(window);
        self.lose_first(flight, window);
    }

    /// The same, for a flight that was sent.
    pub(crate) fn lose_first(&mut self, flight: (u64, u64), window: u64) {
        let tells = 3.min(window - 1);
        self.ack(flight, 1, tells, 1, Kind::Acked, 0);
        self.event(Kind::Lost, (flight, tells), flight.0, 1);
        self.ack(flight, tells, window, 1, Kind::Acked, 0);
    }

    /// A flight of a window, the fourth datagram of which was marked.
    pub(crate) fn round_with_echo(&mut self) {
        let window = self.window();
        let flight = self.send(window);
        let marked = 3.min(window - 1);
        self.ack(flight, 0, marked, 1, Kind::Acked, 0);
        self.event(Kind::Echo, (flight, marked), flight.0 + marked * flight.1, 1);
        self.ack(flight, marked, window, 1, Kind::Acked, 0);
    }

    /// An event about datagrams the newest of which was sent at `sent_us`. It comes with the acknowledgement of that datagram of a flight.
    pub(crate) fn event(
        &mut self,
        kind: Kind,
        ((start, every), number): ((u64, u64), u64),
        sent_us: u64,
        datagrams: u64,
    ) {
        self.happen(kind, start + number * every + self.rtt_us, sent_us, [datagrams, 0, 1, 0, 0]);
    }

    /// The time without acknowledgements after which losses are persistent congestion, and a quarter more (RFC 9002, section 7.6.1):
    /// three times the round-trip time that does not vary, kGranularity and max_ack_delay.
    pub(crate) fn darkness_us(&self) -> u64 {
        3 * (self.rtt_us + 1_000 + 25_000) * 5 / 4
    }

    /// A round trip in which of every so many datagrams one is marked, in pairs of acknowledged datagrams.
    pub(crate) fn round_marked(&mut self, marked: impl Fn(u64) -> bool) {
        let window = self.window();
        let (start, every) = self.send(window);
        for number in 0..window {
            let sent = start + number * every;
            self.happen(Kind::Acked, sent + self.rtt_us, sent, [1, u64::from(marked(number)), 1, 0, 0]);
        }
    }

    /// A span without events.
    pub(crate) fn wait(&mut self, span_us: u64) {
        self.now_us += span_us;
    }
}

/// A line that carries a datagram in so much time, and a sender that always has data, by window and pacing rate.
#[derive(Default)]
pub(crate) struct Line {
    /// The time of a datagram on it.
    each_us: u64,
    free_us: u64,
    next_us: u64,
    sent: u64,
    /// The number of each datagram, when it was sent, and when its acknowledgement comes.
    under_way: VecDeque<(u64, u64, u64)>,
    /// Datagrams that are lost: numbers, and when they were sent.
    lost: VecDeque<(u64, u64)>,
}

impl Line {
    pub(crate) fn new(each_us: u64) -> Self {
        Self { each_us, ..Self::default() }
    }
}

impl Writer<'_> {
    /// For `span_us` datagrams and their acknowledgements: what waits at the line comes later. Datagrams of these numbers are lost, which
    /// the third after each tells.
    pub(crate) fn line(&mut self, line: &mut Line, span_us: u64, lost: &[u64]) {
        let end = self.now_us + span_us;
        let mut now = self.now_us;
        while now < end {
            let arrival = line.under_way.front().map_or(u64::MAX, |(.., at)| *at);
            if self.may_send(line) && line.next_us.max(now) < arrival {
                now = now.max(line.next_us);
                self.send_over(line, now, lost.contains(&line.sent));
            } else {
                now = arrival;
                let (number, sent, at) = line.under_way.pop_front().expect("a window has room for one");
                while let Some((_, of_lost)) = line.lost.pop_front_if(|(lost, _)| *lost + 3 <= number) {
                    self.happen(Kind::Lost, at, of_lost, [1, 0, 1, 0, 0]);
                }
                self.happen(Kind::Acked, at, sent, [1, 0, 1, 0, 0]);
            }
        }
    }

    fn may_send(&self, line: &Line) -> bool {
        ((line.under_way.len() + line.lost.len()) as u64) < self.window()
    }

    fn send_over(&mut self, line: &mut Line, now: u64, lost: bool) {
        self.happen(Kind::Sent, now, 0, [1, 0, 1, 0, 0]);
        line.free_us = line.free_us.max(now) + line.each_us;
        if lost {
            line.lost.push_back((line.sent, now));
        } else {
            line.under_way.push_back((line.sent, now, line.free_us - line.each_us + self.rtt_us));
        }
        line.sent += 1;
        let [.., pacing] = self.stack.outputs();
        let gap_us = pacing.map_or(0.0, |rate| 8e6 * DATAGRAM as f64 / rate);
        line.next_us = now + gap_us as u64;
    }

    /// There are no data for `span_us` after what is under way has arrived.
    pub(crate) fn rest(&mut self, line: &mut Line, span_us: u64) {
        while let Some((_, sent, at)) = line.under_way.pop_front() {
            self.happen(Kind::Acked, at, sent, [1, 0, 1, 0, 0]);
        }
        line.next_us = self.now_us + span_us;
    }

    /// The line goes dead: the rest of the window leaves, and nothing arrives. Returns how many datagrams are under way.
    pub(crate) fn fill(&mut self, line: &mut Line) -> u64 {
        while self.may_send(line) {
            let now = line.next_us.max(self.now_us);
            self.send_over(line, now, true);
        }
        let under_way = (line.under_way.len() + line.lost.len()) as u64;
        (line.under_way, line.lost) = Default::default();
        under_way
    }
}
