//! State of the two ends of a connection, so that timestamps echo those sent and sequence numbers count bytes.

use std::collections::VecDeque;

/// Connections of a flow that are remembered: transfers follow one another, so packets of no more than two are under
/// way, but for packets that come very late.
const REMEMBERED: usize = 8;

/// A flow's connections.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// In the order of their numbers.
    connections: VecDeque<(u32, Connection)>,
}

/// The timestamps option of a packet (RFC 7323, section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamps {
    /// TSval [ms].
    pub(super) own: u32,
    /// TSecr [ms].
    pub(super) echoed: u32,
}

#[derive(Debug)]
pub(super) struct Connection {
    /// Segments that are not full, and how many bytes they and those before lack.
    short: Vec<(u64, u64)>,
    /// Segments under way, in the order in which they left, and how long the last that arrived took [ms].
    data: VecDeque<(u64, Stamps)>,
    delay: u32,
    /// Acknowledgements under way: the segment that the receiver lacks, and the end of the block beyond it.
    acks: VecDeque<((u64, u64), Stamps)>,
    /// Timestamp that each end echoes, RFC 7323's TS.Recent [ms].
    sender_echoes: u32,
    receiver_echoes: u32,
    /// Last acknowledgement of the receiver, RFC 7323's Last.ACK.sent.
    acknowledged: u64,
}

impl Flow {
    /// The connection of that number, and whether it is new.
    pub(super) fn connection(&mut self, number: u32, now: u32) -> (&mut Connection, bool) {
        let at = self.connections.partition_point(|(n, _)| *n < number);
        let known = self.connections.get(at).is_some_and(|(n, _)| *n == number);
        // A number below those that are remembered is a connection that was forgotten.
        let new = !known && at == self.connections.len();
        while new && self.connections.len() >= REMEMBERED {
            self.connections.pop_front();
        }
        let at = if new { self.connections.len() } else { at };
        if !known {
            self.connections.insert(at, (number, Connection::new(now)));
        }
        (&mut self.connections[at].1, new)
    }
}

impl Connection {
    fn new(now: u32) -> Self {
        Self {
            short: Vec::new(),
            data: VecDeque::new(),
            delay: 0,
            acks: VecDeque::new(),
            sender_echoes: now,
            receiver_echoes: now,
            acknowledged: 0,
        }
    }

    /// The sequence number of a segment's first byte, where a full one has `payload` bytes.
    pub(super) fn sequence(&self, segment: u64, payload: u32) -> u32 {
        let before = self.short.partition_point(|(at, _)| *at < segment);
        let lacking = before.checked_sub(1).map_or(0, |last| self.short[last].1);
        // The SYN has number 0; modulo 2^32 is what the field holds.
        segment.wrapping_mul(u64::from(payload)).wrapping_sub(lacking).wrapping_add(1) as u32
    }

    /// A segment leaves that lacks so many bytes of a full one.
    pub(super) fn data_sent(&mut self, segment: u64, lacks: u32, now: u32) -> Stamps {
        // What is new leaves in order, so a later one is a retransmission.
        if lacks > 0 && self.short.last().is_none_or(|(last, _)| *last < segment) {
            let before = self.short.last().map_or(0, |(_, lacking)| *lacking);
            self.short.push((segment, before + u64::from(lacks)));
        }
        let stamps = Stamps { own: now, echoed: self.sender_echoes };
        self.data.push_back((segment, stamps));
        stamps
    }

    pub(super) fn data_arrived(&mut self, segment: u64, now: u32) -> Stamps {
        // Networks keep a flow's order, so what left before the one that arrives is lost. Of a segment and its
        // retransmissions it is the one that took about as long as the last.
        let unlike = |stamps: &Stamps| now.wrapping_sub(stamps.own).abs_diff(self.delay);
        let same = self.data.iter().enumerate().filter(|(_, (which, _))| *which == segment);
        let place = same.min_by_key(|(_, (_, stamps))| unlike(stamps)).map(|(place, _)| place);
        let stamps = take(&mut self.data, place, Stamps { own: now, echoed: self.sender_echoes });
        self.delay = now.wrapping_sub(stamps.own);
        // RFC 7323, section 4.3, rule (2).
        if segment <= self.acknowledged && newer(stamps.own, self.receiver_echoes) {
            self.receiver_echoes = stamps.own;
        }
        stamps
    }

    /// An acknowledgement leaves, of all before `next` and of a block that ends before `past`.
    pub(super) fn ack_sent(&mut self, next: u64, past: u64, now: u32) -> Stamps {
        self.acknowledged = next;
        let stamps = Stamps { own: now, echoed: self.receiver_echoes };
        self.acks.push_back(((next, past), stamps));
        stamps
    }

    pub(super) fn ack_arrived(&mut self, next: u64, past: u64, now: u32) -> Stamps {
        let place = self.acks.iter().position(|(what, _)| *what == (next, past));
        let stamps = take(&mut self.acks, place, Stamps { own: now, echoed: self.receiver_echoes });
        if newer(stamps.own, self.sender_echoes) {
            self.sender_echoes = stamps.own;
        }
        stamps
    }
}

/// Takes away a packet under way and all that left before it. One that nobody saw leave counts as sent now.
fn take<T>(under_way: &mut VecDeque<(T, Stamps)>, place: Option<usize>, otherwise: Stamps) -> Stamps {
    place.and_then(|place| under_way.drain(..=place).next_back()).map_or(otherwise, |(_, stamps)| stamps)
}

/// Whether `a` is at or after `b` on a clock that wraps.
fn newer(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) < 1 << 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_is_of_the_packet_that_advanced_the_window() {
        let mut c = Connection::new(0);
        for (segment, now) in [(0, 10), (1, 11), (2, 12)] {
            c.data_sent(segment, 0, now);
        }
        assert_eq!(c.data_arrived(0, 20), Stamps { own: 10, echoed: 0 });
        assert_eq!(c.ack_sent(1, 0, 20), Stamps { own: 20, echoed: 10 });
        // Segment 1 is lost, so what comes after it does not change the echo.
        assert_eq!(c.data_arrived(2, 22).own, 12);
        assert_eq!(c.ack_sent(1, 3, 22).echoed, 10);
        assert_eq!(c.ack_arrived(1, 0, 30), Stamps { own: 20, echoed: 10 });
        c.ack_arrived(1, 3, 32);
        assert_eq!(c.data_sent(1, 0, 33), Stamps { own: 33, echoed: 22 });
        assert_eq!(c.data_arrived(1, 43).own, 33);
        assert_eq!(c.ack_sent(3, 0, 43).echoed, 33);
    }

    #[test]
    fn sequence_numbers_count_bytes_and_wrap() {
        let mut c = Connection::new(0);
        c.data_sent(4, 900, 0);
        c.data_sent(4, 900, 1);
        c.data_sent(9, 10, 2);
        let full = |segment| c.sequence(segment, 1000);
        assert_eq!([full(0), full(4), full(5), full(9), full(10)], [1, 4001, 4101, 8101, 9091]);
        assert_eq!(full(5_000_000), (1 + 5_000_000_000u64 - 910) as u32);
    }

    #[test]
    fn connections_are_new_once_and_forgotten_in_order() {
        let mut flow = Flow::default();
        for number in 0..100 {
            assert!(flow.connection(number, 0).1);
            assert!(!flow.connection(number, 0).1);
        }
        assert!(!flow.connection(2, 0).1, "one that comes very late begins nothing");
        assert!(!flow.connection(99, 0).1);
        assert!(flow.connection(100, 0).1);
        assert_eq!(flow.connections.len(), REMEMBERED);
    }
}
