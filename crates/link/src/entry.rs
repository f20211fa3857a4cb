//! A flow's own way into the network: an interface of its own, and time spent in the end system. Order is kept.

use std::collections::VecDeque;

use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_scenario::model::{Access, AckJitter, Full};
use penstock_scenario::seed::Stream;

/// The way of a flow's data, or of its acknowledgements, to its first link. Its caller holds the packets meanwhile.
#[derive(Debug)]
pub struct Entry {
    interface: Option<Interface>,
    delay: Option<Delay>,
    /// When the packet before leaves.
    last: Time,
}

/// Time spent in the end system.
#[derive(Debug)]
struct Delay {
    /// Which share of the packets it befalls.
    share: f64,
    between: (Time, Time),
    stream: Stream,
}

#[derive(Debug)]
struct Interface {
    rate: Rate,
    most_packets: u64,
    most_bytes: u64,
    /// When it has sent everything.
    free: Time,
    /// Starts of the transmissions to come, and their sizes [B].
    waiting: VecDeque<(Time, u32)>,
    waiting_bytes: u64,
    /// A full queue holds its sender back.
    holds_back: bool,
}

impl Entry {
    /// The way of data: an interface of a rate with a queue, and a delay drawn between two times for each packet. Without
    /// either everything passes at once.
    pub fn of_data(access: Option<Access>, jitter: Option<(Time, Time)>, stream: Stream) -> Self {
        let interface = access.map(|Access { rate, queue, full }| {
            let (most_packets, most_bytes) = queue.limits();
            let free = Time::ZERO;
            let holds_back = full == Full::Wait;
            Interface { rate, most_packets, most_bytes, free, waiting: VecDeque::new(), waiting_bytes: 0, holds_back }
        });
        let delay = jitter.map(|between| Delay { share: 1.0, between, stream });
        Self { interface, delay, last: Time::ZERO }
    }

    /// The way of acknowledgements, of which some come late.
    pub fn of_acks(jitter: &AckJitter, stream: Stream) -> Self {
        let delay = Delay { share: jitter.probability, between: jitter.between, stream };
        Self { interface: None, delay: Some(delay), last: Time::ZERO }
    }

    /// Until when its sender is to keep a packet of `bytes`, because a full queue holds it back; none if it may go now.
    pub fn held_until(&self, now: Time, bytes: u32) -> Option<Time> {
        self.interface.as_ref().filter(|interface| interface.holds_back)?.room(bytes).filter(|room| *room > now)
    }

    /// When a packet of `bytes` offered at `now` comes out; none if the queue has no space for it.
    pub fn pass(&mut self, now: Time, bytes: u32) -> Option<Time> {
        let mut at = now;
        if let Some(interface) = &mut self.interface {
            at = interface.pass(now, bytes)?;
        }
        if let Some(Delay { share, between: (least, most), stream }) = &mut self.delay
            && (*share >= 1.0 || stream.lands(*share))
        {
            at += *least + Time((stream.unit() * (most.0 - least.0) as f64) as u64);
        }
        self.last = self.last.max(at);
        Some(self.last)
    }
}

impl Interface {
    /// Time from which there is space for `bytes`; none if there always was.
    fn room(&self, bytes: u32) -> Option<Time> {
        let (mut packets, mut left) = (self.waiting.len() as u64, self.waiting_bytes);
        let mut since = None;
        for (start, size) in &self.waiting {
            if packets < self.most_packets && left + u64::from(bytes) <= self.most_bytes {
                return since;
            }
            (packets, left, since) = (packets - 1, left - u64::from(*size), Some(*start));
        }
        // With nobody waiting the next one waits too, unless it finds the line free.
        if packets < self.most_packets && u64::from(bytes) <= self.most_bytes { since } else { Some(self.free) }
    }

    fn pass(&mut self, now: Time, bytes: u32) -> Option<Time> {
        while let Some((start, size)) = self.waiting.front().copied()
            && start <= now
        {
            self.waiting_bytes -= u64::from(size);
            self.waiting.pop_front();
        }
        if self.free > now {
            if self.waiting.len() as u64 >= self.most_packets || self.waiting_bytes + u64::from(bytes) > self.most_bytes
            {
                return None;
            }
            self.waiting.push_back((self.free, bytes));
            self.waiting_bytes += u64::from(bytes);
        }
        self.free = self.free.max(now) + self.rate.time_for(Bytes(u64::from(bytes)));
        Some(self.free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_scenario::model::Buffer;
    use penstock_scenario::seed::Seed;

    const MS: u64 = 1_000_000_000;

    /// 1000 B at 8 Mbit/s take 1 ms each; two may wait besides the one on the wire.
    #[test]
    fn an_interface_sends_one_after_the_other_and_refuses_beyond_its_queue() {
        let access = Some(Access { rate: Rate(8_000_000), queue: Buffer::Packets(2), full: Full::Drop });
        let mut entry = Entry::of_data(access, None, Seed(1).stream("x"));
        let out: Vec<_> = (0..4).map(|_| entry.pass(Time::ZERO, 1000)).collect();
        assert_eq!(out, [Some(Time(MS)), Some(Time(2 * MS)), Some(Time(3 * MS)), None]);
        assert_eq!(entry.pass(Time(MS), 1000), Some(Time(4 * MS)), "one has begun, so there is room");
    }

    /// The same with a queue that holds back: a third may wait when the first of two begins, 2 ms later than one on the
    /// wire; in bytes the same, and a packet that no queue holds finds space when the line is free.
    #[test]
    fn a_full_queue_holds_its_sender_back_until_there_is_room() {
        for (queue, bytes, until) in [
            (Buffer::Packets(2), 1000, MS),
            (Buffer::Bytes(Bytes(2999)), 1000, MS),
            (Buffer::Bytes(Bytes(2999)), 2000, 2 * MS),
            (Buffer::Bytes(Bytes(2999)), 3000, 3 * MS),
        ] {
            let access = Access { rate: Rate(8_000_000), queue, full: Full::Wait };
            let mut entry = Entry::of_data(Some(access), None, Seed(1).stream("x"));
            for _ in 0..3 {
                assert_eq!(entry.held_until(Time::ZERO, 1000), None);
                assert!(entry.pass(Time::ZERO, 1000).is_some());
            }
            assert_eq!(entry.held_until(Time::ZERO, bytes), Some(Time(until)), "{queue:?} {bytes}");
            assert_eq!(entry.held_until(Time(until), bytes), None, "there is room");
            let out = Time(3 * MS + u64::from(bytes) * MS / 1000);
            assert_eq!(entry.pass(Time(until), bytes), Some(out), "{queue:?} {bytes}");
        }
    }

    /// Delays are drawn between the bounds, and nobody overtakes.
    #[test]
    fn jitter_keeps_the_order() {
        let mut entry = Entry::of_data(None, Some((Time(MS), Time(5 * MS))), Seed(1).stream("x"));
        let out: Vec<u64> = (0..1000).map(|i| entry.pass(Time(i * MS / 10), 1000).unwrap().0 - i * MS / 10).collect();
        assert!(out.iter().all(|d| (MS..=5 * MS).contains(d)));
        assert!(out.windows(2).all(|w| w[1] + MS / 10 >= w[0]), "in order");
        assert!(out.iter().any(|d| *d > 4 * MS));
    }

    #[test]
    fn few_acknowledgements_come_late() {
        let jitter = AckJitter { probability: 0.01, between: (Time(MS), Time(2 * MS)) };
        let mut entry = Entry::of_acks(&jitter, Seed(1).stream("x"));
        let late = (0..10_000u64).filter(|i| entry.pass(Time(i * 10 * MS), 40).unwrap() > Time(i * 10 * MS)).count();
        assert!((60..140).contains(&late), "{late}");
    }
}
