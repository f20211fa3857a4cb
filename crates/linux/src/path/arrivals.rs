//! When what is read from the devices arrived there.
//!
//! A device does not say. What is read in one look came since the last one: a few microseconds ago, unless the path was kept from
//! its processor. A millisecond at 1 Gbit/s is 83 packets, and a link that took all of them for arrivals of the moment it looks
//! again, with nothing departed in between, would drop what a buffer of 100 packets has room for. So they are spread over the
//! time in which they came, by their bytes, as a sender that paces sends them.
//!
//! That is what queues and markers go by. But the sender may have been kept from its processor too, and have sent all of it
//! just now: a packet that came out by a time that was guessed too early would show its sender a round trip shorter than the path's,
//! and laws remember the shortest. So what is read comes out no earlier than it would if it had arrived when it was read
//! ([`super::emulation::Packet::unseen`]).

use std::collections::VecDeque;

use penstock_law::quantity::Time;

use super::emulation::Way;

/// Reads of a device in one look, before what is due has its turn.
const READS: usize = 16;
/// After a gap as long as this all is read, since all of it has to be spread: up to what a link of 1 Gbit/s carries in 8 ms.
/// A faster one may be looked at as late only because it is busy, and is not to wait for more still.
const LONG: Time = Time(100_000_000);
const ALL: u64 = 1_000_000;

/// What was read in one look.
#[derive(Debug)]
pub(super) struct Arrivals<T> {
    ways: [Read<T>; 2],
    since: Time,
    gap: Time,
}

#[derive(Debug)]
struct Read<T> {
    /// In the order of the device, each with the bytes up to its end.
    waiting: VecDeque<(u64, T)>,
    bytes: u64,
}

impl<T> Default for Arrivals<T> {
    fn default() -> Self {
        let read = || Read { waiting: VecDeque::new(), bytes: 0 };
        Self { ways: [read(), read()], since: Time::ZERO, gap: Time::ZERO }
    }
}

impl<T> Arrivals<T> {
    /// Reading begins; all of the last look has been taken.
    pub(super) fn begin(&mut self) {
        debug_assert!(self.is_empty(), "what was read is offered before more is read");
        self.ways.iter_mut().for_each(|read| read.bytes = 0);
    }

    /// Whether to read no more of those that go that way, in a look so long after the last one.
    pub(super) fn enough(&self, way: Way, gap: Time) -> bool {
        let read = &self.ways[way as usize];
        read.waiting.len() >= READS && (gap < LONG || read.bytes >= ALL)
    }

    /// The next of those that go that way, with its size [B].
    pub(super) fn push(&mut self, way: Way, bytes: usize, burst: T) {
        let read = &mut self.ways[way as usize];
        read.bytes += bytes as u64;
        read.waiting.push_back((read.bytes, burst));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ways.iter().all(|read| read.waiting.is_empty())
    }

    /// All of them came after `since` and up to `now`.
    pub(super) fn spread(&mut self, since: Time, now: Time) {
        self.since = since.min(now);
        self.gap = now.since(since);
    }

    /// The next one, and when it arrived; times do not decrease.
    pub(super) fn pop(&mut self) -> Option<(Time, Way, T)> {
        let first = |way: Way| self.ways[way as usize].at(self.since, self.gap).map(|at| (at, way));
        let (at, way) = Way::BOTH.into_iter().filter_map(first).min_by_key(|(at, _)| *at)?;
        self.ways[way as usize].waiting.pop_front().map(|(_, burst)| (at, way, burst))
    }
}

impl<T> Read<T> {
    /// When the first of those that wait arrived.
    fn at(&self, since: Time, gap: Time) -> Option<Time> {
        let (end, _) = self.waiting.front()?;
        let into = u128::from(gap.0) * u128::from(*end) / u128::from(self.bytes.max(1));
        Some(since + Time(into as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(arrivals: &mut Arrivals<u32>) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| arrivals.pop()).map(|(at, _, burst)| (at.0, burst)).collect()
    }

    #[test]
    fn what_came_in_a_gap_is_spread_over_it_by_its_bytes() {
        let mut arrivals = Arrivals::default();
        arrivals.begin();
        arrivals.push(Way::There, 3000, 0);
        arrivals.push(Way::There, 1000, 1);
        arrivals.push(Way::Back, 40, 2);
        arrivals.push(Way::There, 4000, 3);
        arrivals.push(Way::Back, 40, 4);
        arrivals.spread(Time(1000), Time(9000));
        assert_eq!(all(&mut arrivals), [(4000, 0), (5000, 1), (5000, 2), (9000, 3), (9000, 4)]);
        arrivals.begin();
        arrivals.push(Way::Back, 40, 5);
        arrivals.spread(Time(9000), Time(9000));
        assert_eq!(all(&mut arrivals), [(9000, 5)], "what is alone came now");
        assert!(arrivals.is_empty());
    }

    #[test]
    fn more_is_read_after_a_gap_but_no_end_of_it() {
        let read = |bytes: usize, gap: Time| {
            let mut arrivals = Arrivals::default();
            arrivals.begin();
            (0..10_000).find(|n| {
                let enough = arrivals.enough(Way::There, gap);
                arrivals.push(Way::There, bytes, *n);
                enough
            })
        };
        assert_eq!(read(1500, Time(0)), Some(16));
        assert_eq!(read(1500, LONG), Some(667));
        assert_eq!(read(65_535, LONG), Some(16));
    }

    #[test]
    fn a_gap_of_a_day_and_all_that_a_queue_holds() {
        let mut arrivals = Arrivals::default();
        arrivals.begin();
        (0..512).for_each(|n| arrivals.push(Way::There, 65_535, n));
        let day = Time(86_400 * 1_000_000_000_000);
        arrivals.spread(day, day + day);
        let all = all(&mut arrivals);
        assert!(all.is_sorted() && all[0].0 == day.0 + day.0 / 512 && all[511].0 == 2 * day.0);
    }
}
