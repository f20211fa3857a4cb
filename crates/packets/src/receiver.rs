//! The receiver: cumulative acknowledgements with one SACK block, delayed by up to one packet, and echoes of marks.
//!
//! An acknowledgement names the transmission that caused it, as a timestamp echo does, and the block that one belongs
//! to: RFC 2018's first block. The two older blocks are left out; they matter only where several acknowledgements in a
//! row are lost.

use penstock_law::quantity::Time;
use penstock_scenario::model::EcnEcho;

use crate::packet::{ACK, CE, CWR, ECE, Packet, SACK, expand};

/// How long an acknowledgement waits for a second packet: the lower bound systems use (RFC 5681 allows 500 ms).
pub(crate) const DELAYED_ACK: Time = Time(40_000_000_000);

/// What a receiver does with acknowledgements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Habits {
    pub(crate) echo: EcnEcho,
    /// Packets an acknowledgement waits for.
    pub(crate) delayed_ack: u32,
}

/// What a receiver has counted since the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Received {
    /// Data packets that arrived.
    pub(crate) packets: u64,
    /// Those among them that were marked.
    pub(crate) marked: u64,
    /// Segments in order; all that arrived, where nobody acknowledges.
    pub(crate) in_order: u64,
}

/// The receiving end of a flow.
#[derive(Debug, Default)]
pub(crate) struct Receiver {
    /// The first segment lacking.
    next: u64,
    /// Runs of segments beyond it: first and one past the last, in order, with gaps between.
    beyond: Vec<(u64, u64)>,
    /// RFC 3168: echo until told that the window was reduced.
    latched: bool,
    /// Packets since the last acknowledgement, and whether they were marked.
    waiting: u32,
    waiting_marked: bool,
    /// The acknowledgement that the timer would send.
    held: Option<Reply>,
    pub(crate) received: Received,
}

/// What a data packet makes the receiver do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Wait for another packet or the timer.
    Wait,
    /// Send one acknowledgement.
    Now(Reply),
    /// Send the one held back for earlier packets, then this one: marked and unmarked packets are told apart.
    Both(Reply, Option<Reply>),
}

/// The contents of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) seq: u32,
    pub(crate) tx: u32,
    pub(crate) from: u32,
    pub(crate) flags: u8,
}

/// Of a reply: it does not wait for another packet (RFC 5681, section 4.2). It is no flag of a packet.
const AT_ONCE: u8 = ACK;

impl Reply {
    /// What an acknowledgement says.
    #[inline]
    pub(crate) fn of(packet: &Packet) -> Self {
        let &Packet { seq, tx, from, flags, .. } = packet;
        Self { seq, tx, from, flags }
    }

    /// The acknowledgement, of flow `flow` and `size` bytes.
    #[inline]
    pub(crate) fn packet(self, flow: usize, size: u16) -> Packet {
        let Self { seq, tx, from, flags } = self;
        Packet { flow: flow as u32, seq, tx, from, size, flags: flags | ACK, ..Packet::default() }
    }
}

impl Receiver {
    /// Another connection begins.
    pub(crate) fn restart(&mut self) {
        (self.latched, self.waiting) = (false, 0);
    }

    /// A data packet arrived of a source that nobody acknowledges: what is lost is not waited for.
    #[inline]
    pub(crate) fn count(&mut self, packet: &Packet) {
        self.received.packets += 1;
        self.received.marked += u64::from(packet.is(CE));
        self.received.in_order += 1;
    }

    /// A data packet arrived; what an acknowledgement would say now.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn take(&mut self, packet: &Packet, echo: EcnEcho) -> Reply {
        let seq = expand(self.next, packet.seq);
        let marked = packet.is(CE);
        self.received.packets += 1;
        self.received.marked += u64::from(marked);
        let mut from = None;
        let mut flags = 0;
        if seq == self.next {
            self.next += 1;
            if !self.beyond.is_empty() {
                flags = AT_ONCE;
                if self.beyond[0].0 == self.next {
                    self.next = self.beyond.remove(0).1;
                }
            }
            self.received.in_order = self.next;
        } else {
            flags = AT_ONCE;
            if seq > self.next {
                from = Some(self.keep(seq));
            }
        }
        match echo {
            EcnEcho::PerPacket => self.latched = marked,
            EcnEcho::Classic => self.latched = marked || (self.latched && !packet.is(CWR)),
        }
        if self.latched {
            flags |= ECE;
        }
        if from.is_some() {
            flags |= SACK;
        }
        Reply { seq: self.next as u32, tx: packet.tx, from: from.unwrap_or(0) as u32, flags }
    }

    /// What it does with an acknowledgement where those wait for a second packet.
    pub(crate) fn delay(&mut self, reply: Reply) -> Answer {
        let echo = reply.flags & ECE != 0;
        let before = if self.waiting_marked == echo { None } else { self.overdue() };
        self.waiting += 1;
        self.waiting_marked = echo;
        let now = self.waiting >= 2 || reply.flags & AT_ONCE != 0;
        if now {
            self.waiting = 0;
        } else {
            self.held = Some(reply);
        }
        match (before, now) {
            (None, false) => Answer::Wait,
            (None, true) => Answer::Now(reply),
            (Some(before), now) => Answer::Both(before, now.then_some(reply)),
        }
    }

    /// An acknowledgement is held back.
    pub(crate) fn holds(&self) -> bool {
        self.waiting > 0
    }

    /// What is held back is due: the acknowledgement, if there is one.
    pub(crate) fn overdue(&mut self) -> Option<Reply> {
        if self.waiting == 0 {
            return None;
        }
        self.waiting = 0;
        self.held.take()
    }

    /// Keeps a segment beyond the first one lacking; returns the first of its run.
    fn keep(&mut self, seq: u64) -> u64 {
        // Where it belongs: after every run that starts at or before it.
        let at = self.beyond.partition_point(|(first, _)| *first <= seq);
        if at > 0 && self.beyond[at - 1].1 >= seq {
            let (first, end) = self.beyond[at - 1];
            if end == seq {
                self.beyond[at - 1].1 = seq + 1;
                if at < self.beyond.len() && self.beyond[at].0 == seq + 1 {
                    self.beyond[at - 1].1 = self.beyond[at].1;
                    self.beyond.remove(at);
                }
            }
            return first;
        }
        if at < self.beyond.len() && self.beyond[at].0 == seq + 1 {
            self.beyond[at].0 = seq;
        } else {
            self.beyond.insert(at, (seq, seq + 1));
        }
        seq
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: EcnEcho = EcnEcho::PerPacket;
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

    /// An echo that nobody has answered, and an acknowledgement that waits, end with their connection: the next one knows of
    /// neither.
    #[test]
    fn an_echo_ends_with_its_connection() {
        let mut r = Receiver::default();
        let reply = r.take(&data(0, CE), EcnEcho::Classic);
        assert_ne!(reply.flags & ECE, 0);
        assert_eq!(r.delay(reply), Answer::Wait);
        r.restart();
        assert_eq!(r.overdue(), None);
        assert_eq!(r.take(&data(1, 0), EcnEcho::Classic).flags & ECE, 0);
    }

    #[test]
    fn a_delayed_acknowledgement_tells_marked_from_unmarked() {
        let mut r = Receiver::default();
        let take = |r: &mut Receiver, seq, flags| {
            let reply = r.take(&data(seq, flags), EACH);
            r.delay(reply)
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
}
