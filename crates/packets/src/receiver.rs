//! The receiver: cumulative acknowledgements with SACK blocks, delayed by up to one packet, and echoes of marks.
//!
//! An acknowledgement names the transmission that caused it, as a timestamp echo does, and the block that one belongs
//! to: RFC 2018's first block. The older ones, which matter where several acknowledgements in a row are lost, and accurate
//! ECN are [`Options`].

use std::collections::VecDeque;

use penstock_law::quantity::Time;
use penstock_scenario::model::EcnEcho;

use crate::accecn::Counted;
use crate::options::{BLOCKS, Options, UnderWay, has_place};
use crate::packet::{ACK, CE, COPY, CWR, DUPLICATE, ECE, FIN, Packet, SACK, expand};

/// A receiver's handling of acknowledgements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Habits {
    pub(crate) echo: EcnEcho,
    /// Packets an acknowledgement waits for.
    pub(crate) delayed_ack: u32,
    /// Packets of a connection that are acknowledged one by one before that.
    pub(crate) quick_acks: u32,
    /// Longest delay of an acknowledgement for a second packet.
    pub(crate) max_ack_delay: Time,
    /// Whether only the packet after a gap in the numbers of transmissions is acknowledged at once, and one that is late.
    pub(crate) gap_once: bool,
    /// SACK blocks at the most; none where acknowledgements are not selective.
    pub(crate) sack_blocks: u32,
    /// Whether accurate ECN has its option.
    pub(crate) accecn_option: bool,
}

impl Habits {
    /// Whether acknowledgements carry options beyond a packet's own fields.
    pub(crate) fn options(&self) -> bool {
        self.sack_blocks > 1 || self.echo == EcnEcho::Accurate
    }
}

/// Counters of a receiver since the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Received {
    /// Data packets that arrived.
    pub(crate) packets: u64,
    /// Those among them that were marked.
    pub(crate) marked: u64,
    /// Those that it had, other than copies that links have made: one of the two was sent needlessly.
    pub(crate) again: u64,
    /// Segments in order; all that arrived, where nobody acknowledges.
    pub(crate) in_order: u64,
}

/// The receiving end of a flow.
#[derive(Debug, Default)]
pub(crate) struct Receiver {
    /// The first segment lacking.
    next: u64,
    /// Runs of segments beyond it: first and one past the last, in order, with gaps between.
    beyond: VecDeque<(u64, u64)>,
    /// RFC 3168: echo until CWR arrives.
    latched: bool,
    /// Packets since the last acknowledgement, and whether they were marked.
    waiting: u32,
    /// Packets of this connection that were acknowledged at once because it is new.
    quick: u32,
    waiting_marked: bool,
    /// The largest number of a transmission of this connection that came: of use with [`Habits::gap_once`].
    largest: Option<u32>,
    /// The acknowledgement that the timer would send.
    held: Reply,
    pub(crate) received: Received,
    /// Where acknowledgements carry options beyond a packet's own fields.
    pub(crate) told: Option<Box<Told>>,
}

/// Current and past content of acknowledgements with options.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Told {
    pub(crate) under_way: UnderWay,
    pub(crate) counted: Counted,
    /// A segment of each block that was reported last, the newest first.
    recent: [u64; BLOCKS],
}

impl Told {
    #[cold]
    fn new() -> Self {
        Self { under_way: UnderWay::default(), counted: Counted::START, recent: [0; BLOCKS] }
    }
}

/// The response of the receiver to a data packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Wait for another packet or the timer.
    Wait,
    /// Send one acknowledgement.
    Now(Reply),
    /// Send the one held back for earlier packets, then this one: marked and unmarked packets are kept apart.
    Both(Reply, Option<Reply>),
}

/// The contents of an acknowledgement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) seq: u32,
    pub(crate) tx: u32,
    pub(crate) from: u32,
    pub(crate) flags: u8,
}

/// Of a reply: it does not wait for another packet (RFC 5681, section 4.2). It is no flag of a packet.
const AT_ONCE: u8 = ACK;

impl Reply {
    /// The fields of an acknowledgement.
    #[inline]
    pub(crate) fn of(packet: &Packet) -> Self {
        let &Packet { seq, tx, from, flags, .. } = packet;
        Self { seq, tx, from, flags }
    }

    /// Whether it tells of nothing but the number of the segment that the receiver lacks, and perhaps of a mark.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.flags & !(ACK | ECE) == 0
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
        (self.latched, self.waiting, self.quick, self.largest) = (false, 0, 0, None);
        if let Some(told) = &mut self.told {
            told.counted = Counted::START;
            told.under_way.restart();
        }
    }

    /// Segments that have arrived and wait for others before them.
    pub(crate) fn out_of_order(&self) -> u64 {
        self.beyond.iter().map(|(first, end)| end - first).sum()
    }

    /// A data packet arrived from a source without acknowledgements: lost packets are not waited for.
    #[inline]
    pub(crate) fn count(&mut self, packet: &Packet) {
        self.received.packets += 1;
        self.received.marked += u64::from(packet.is(CE));
        self.received.in_order += 1;
    }

    /// A data packet arrived; returns the content of an acknowledgement sent now.
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
                if let Some((first, end)) = self.beyond.front().copied()
                    && first == self.next
                {
                    self.beyond.pop_front();
                    self.next = end;
                }
            }
            self.received.in_order = self.next;
        } else {
            flags = AT_ONCE;
            if seq > self.next {
                let (first, news) = self.keep(seq);
                from = Some(first);
                flags |= if news { 0 } else { DUPLICATE };
            } else {
                flags |= DUPLICATE;
            }
            self.received.again += u64::from(flags & DUPLICATE != 0 && !packet.is(COPY));
        }
        self.echo(packet, echo);
        if self.latched {
            flags |= ECE;
        }
        if from.is_some() {
            flags |= SACK;
        }
        Reply { seq: self.next as u32, tx: packet.tx, from: from.unwrap_or(0) as u32, flags }
    }

    /// The same as [`Receiver::take`] for the next data packet in order, if nothing is beyond it. None, and all as before, of any other.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn take_in_order(&mut self, packet: &Packet, echo: EcnEcho) -> Option<Reply> {
        if packet.seq != self.next as u32 || !self.beyond.is_empty() {
            return None;
        }
        Some(self.advance(packet, echo))
    }

    /// The next data packet in order arrived, with nothing beyond it.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    fn advance(&mut self, packet: &Packet, echo: EcnEcho) -> Reply {
        let marked = packet.is(CE);
        self.received.packets += 1;
        self.received.marked += u64::from(marked);
        self.next += 1;
        self.received.in_order = self.next;
        if marked || self.latched {
            self.echo(packet, echo);
        }
        Reply { seq: self.next as u32, tx: packet.tx, from: 0, flags: if self.latched { ECE } else { 0 } }
    }

    /// Whether marks are echoed from this packet on.
    #[inline]
    fn echo(&mut self, packet: &Packet, echo: EcnEcho) {
        let marked = packet.is(CE);
        match echo {
            EcnEcho::PerPacket => self.latched = marked,
            EcnEcho::Classic => self.latched = marked || (self.latched && !packet.is(CWR)),
            EcnEcho::Accurate => {}
        }
    }

    /// Whether a data packet is the next in order with nothing beyond it, so that its acknowledgement has no options.
    #[inline]
    pub(crate) fn follows(&self, packet: &Packet, habits: &Habits) -> bool {
        packet.seq == self.next as u32 && self.beyond.is_empty() && habits.echo != EcnEcho::Accurate
    }

    /// The same as [`Receiver::take_with_options`], for a packet that [follows](Receiver::follows). The reply is never in memory
    /// on this way: one that was written field by field and is copied as a whole waits for the processor's store buffer.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn take_next(&mut self, packet: &Packet, habits: &Habits) -> Reply {
        let reply = self.advance(packet, habits.echo);
        let from = self.told.get_or_insert_with(|| Box::new(Told::new())).under_way.pass();
        Reply { from, ..reply }
    }

    /// The same for a packet with `payload` bytes of data, where acknowledgements carry options: the reply names them.
    #[inline]
    pub(crate) fn take_with_options(&mut self, packet: &Packet, habits: &Habits, payload: u32) -> Reply {
        if habits.echo == EcnEcho::Accurate || (habits.sack_blocks > 0 && !self.beyond.is_empty()) {
            return self.take_and_tell(packet, habits, payload);
        }
        let mut reply = self.take(packet, habits.echo);
        if habits.sack_blocks > 0 && !self.beyond.is_empty() {
            return self.tell(packet, habits, payload, reply);
        }
        reply.from = self.told.get_or_insert_with(|| Box::new(Told::new())).under_way.pass();
        reply
    }

    #[inline(never)]
    fn take_and_tell(&mut self, packet: &Packet, habits: &Habits, payload: u32) -> Reply {
        let reply = self.take(packet, habits.echo);
        self.tell(packet, habits, payload, reply)
    }

    /// The same where there are options.
    #[inline(never)]
    fn tell(&mut self, packet: &Packet, habits: &Habits, payload: u32, mut reply: Reply) -> Reply {
        let Self { told, beyond, next, .. } = self;
        let told = told.get_or_insert_with(|| Box::new(Told::new()));
        let mut options = Options::NONE;
        // A duplicate SACK takes the place of a block (RFC 2883, section 4).
        let duplicate = u32::from(reply.flags & DUPLICATE != 0);
        if habits.sack_blocks > 0 && !beyond.is_empty() {
            let most = habits.sack_blocks.saturating_sub(duplicate).max(1);
            blocks(beyond, expand(*next, packet.seq), most, &mut told.recent, &mut options);
        }
        if habits.echo == EcnEcho::Accurate {
            if told.counted.take(packet, payload) {
                reply.flags |= AT_ONCE;
            }
            options.ace = told.counted.ace();
            let duplicate = if habits.sack_blocks > 0 { duplicate } else { 0 };
            let place = has_place(u32::from(options.count) + duplicate, habits.sack_blocks);
            options.counters = (habits.accecn_option && place).then(|| told.counted.counters());
        }
        reply.from = told.under_way.push(&options);
        reply
    }

    /// The handling of an acknowledgement of `packet` where those wait for a second one. The end of a connection does not
    /// wait: the receiver's program reads it and closes, and its FIN acknowledges.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn delay(&mut self, packet: &Packet, reply: Reply, habits: &Habits) -> Answer {
        let echo = reply.flags & ECE != 0;
        let before = if self.waiting_marked == echo { None } else { self.overdue() };
        self.waiting += 1;
        self.waiting_marked = echo;
        let at_once = if habits.gap_once { self.is_beside(packet.tx) } else { reply.flags & AT_ONCE != 0 };
        let mut now = self.waiting >= 2 || at_once || packet.is(FIN);
        if self.quick < habits.quick_acks {
            self.quick += 1;
            now = true;
        }
        if now {
            self.waiting = 0;
        } else {
            self.held = reply;
        }
        match (before, now) {
            (None, false) => Answer::Wait,
            (None, true) => Answer::Now(reply),
            (Some(before), now) => Answer::Both(before, now.then_some(reply)),
        }
    }

    /// Whether transmission `tx` does not follow on the largest one before it: it comes after a gap, or late.
    fn is_beside(&mut self, tx: u32) -> bool {
        // Numbers go round.
        let ahead = self.largest.map_or(1, |largest| tx.wrapping_sub(largest) as i32);
        if ahead > 0 {
            self.largest = Some(tx);
        }
        ahead != 1
    }

    /// An acknowledgement is held back.
    pub(crate) fn holds(&self) -> bool {
        self.waiting > 0
    }

    /// The deadline of a delayed acknowledgement: returns it, if there is one.
    pub(crate) fn overdue(&mut self) -> Option<Reply> {
        if self.waiting == 0 {
            return None;
        }
        self.waiting = 0;
        Some(self.held)
    }

    /// Keeps a segment beyond the first one lacking; the first of its run, and whether it was not there before.
    fn keep(&mut self, seq: u64) -> (u64, bool) {
        // Most segments are the next of the last run.
        if let Some((first, end)) = self.beyond.back_mut()
            && *end == seq
        {
            *end = seq + 1;
            return (*first, true);
        }
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
            return (first, end == seq);
        }
        if at < self.beyond.len() && self.beyond[at].0 == seq + 1 {
            self.beyond[at].0 = seq;
        } else {
            self.beyond.insert(at, (seq, seq + 1));
        }
        (seq, true)
    }
}

/// The blocks of an acknowledgement caused by segment `cause`: that of the packet that caused it, those that were
/// reported last, then any (RFC 2018, section 4). Each is reported several times, so that lost acknowledgements lose less.
fn blocks(beyond: &VecDeque<(u64, u64)>, cause: u64, most: u32, recent: &mut [u64; BLOCKS], options: &mut Options) {
    let run = |segment: u64| {
        let at = beyond.partition_point(|(first, _)| *first <= segment);
        at.checked_sub(1).map(|at| beyond[at]).filter(|(_, end)| segment < *end)
    };
    let mut told = [(0, 0); BLOCKS];
    let mut count = 0;
    let newest = std::iter::once(cause).chain(*recent).filter_map(run);
    for block in newest.chain(beyond.iter().rev().copied()) {
        if count == BLOCKS.min(beyond.len()) {
            break;
        }
        if !told[..count].contains(&block) {
            told[count] = block;
            count += 1;
        }
    }
    for (at, block) in told[..count].iter().enumerate() {
        recent[at] = block.0;
        if (at as u32) < most {
            options.push(*block);
        }
    }
}

#[cfg(test)]
mod tests;
