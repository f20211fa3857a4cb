//! Arrival times of packets read from the devices.
//!
//! A device has no times. Packets read in one look came since the last one: a few microseconds ago, and count as having come now,
//! unless the path was kept from its processor. A millisecond at 1 Gbit/s is 83 packets, and a link that took all of them for
//! arrivals of the moment it looks again, with nothing departed in between, would drop what a buffer of 100 packets has room
//! for. So after a gap they are spread over the time in which they came, by their bytes, as a sender that paces sends them.
//!
//! Queues and markers use these times. But the sender may have been kept from its processor too, and have sent all of it
//! just now: a packet that came out by a time that was guessed too early would show its sender a round trip shorter than the path's,
//! and laws remember the shortest. So each packet takes as long from when it was read as it would have from when it arrived
//! ([`super::packet::Packet::unseen`]): packets spread over a gap come out together, faster than the link.

use std::collections::VecDeque;

use penstock_law::quantity::{Rate, Time};

use super::packet::Direction;

/// Reads of a device in one look, before due packets have their turn.
const READS: usize = 16;
/// After a gap as long as this all is read that the fastest link could carry in it, since all of it has to be spread. Two
/// packets of a pair are 12 us apart at 1 Gbit/s, and shorter looks are to leave them so.
const LONG: Time = Time(100_000_000);
/// But no more than this, 32 ms of 1 Gbit/s: a thread that is late because it is busy is not to be made later still [B]. The
/// remainder counts as having come in the next look.
const MOST: u64 = 4_000_000;
/// Nor more bursts of the smallest packets, of which those bytes hold 80,000.
const BURSTS: usize = 4000;

/// The packets read in one look.
#[derive(Debug)]
pub(super) struct Arrivals<T> {
    rate: Rate,
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

impl<T> Arrivals<T> {
    /// For links of which the fastest has this rate.
    pub(super) fn at(rate: Rate) -> Self {
        let read = || Read { waiting: VecDeque::new(), bytes: 0 };
        Self { rate, ways: [read(), read()], since: Time::ZERO, gap: Time::ZERO }
    }

    /// Reading begins; all of the last look has been taken.
    pub(super) fn begin(&mut self) {
        debug_assert!(self.is_empty(), "what was read is offered before more is read");
        self.ways.iter_mut().for_each(|read| read.bytes = 0);
    }

    /// Whether to read no more of those that go that way, in a look so long after the last one.
    pub(super) fn enough(&self, direction: Direction, gap: Time) -> bool {
        let read = &self.ways[direction as usize];
        let carried = (self.rate.0 as f64 / 8.0 * gap.seconds()) as u64;
        let long = gap >= LONG && read.bytes < carried.min(MOST) && read.waiting.len() < BURSTS;
        read.waiting.len() >= READS && !long
    }

    /// The next of those that go that way, with its size [B].
    pub(super) fn push(&mut self, direction: Direction, bytes: usize, burst: T) {
        let read = &mut self.ways[direction as usize];
        read.bytes += bytes as u64;
        read.waiting.push_back((read.bytes, burst));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ways.iter().all(|read| read.waiting.is_empty())
    }

    /// All of them came after `since` and up to `now`: just now, unless that is long.
    pub(super) fn spread(&mut self, since: Time, now: Time) {
        let gap = now.since(since);
        (self.since, self.gap) = if gap < LONG { (now, Time::ZERO) } else { (since, gap) };
    }

    /// The next one, and when it arrived; times do not decrease.
    pub(super) fn pop(&mut self) -> Option<(Time, Direction, T)> {
        let first =
            |direction: Direction| self.ways[direction as usize].at(self.since, self.gap).map(|at| (at, direction));
        let (at, direction) = Direction::BOTH.into_iter().filter_map(first).min_by_key(|(at, _)| *at)?;
        self.ways[direction as usize].waiting.pop_front().map(|(_, burst)| (at, direction, burst))
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

    const GIGABIT: Rate = Rate(1_000_000_000);
    const US: u64 = 1_000_000;

    fn all(arrivals: &mut Arrivals<u32>) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| arrivals.pop()).map(|(at, _, burst)| (at.0, burst)).collect()
    }

    #[test]
    fn what_came_in_a_gap_is_spread_over_it_by_its_bytes() {
        let mut arrivals = Arrivals::at(GIGABIT);
        arrivals.begin();
        arrivals.push(Direction::Forward, 3000, 0);
        arrivals.push(Direction::Forward, 1000, 1);
        arrivals.push(Direction::Reverse, 40, 2);
        arrivals.push(Direction::Forward, 4000, 3);
        arrivals.push(Direction::Reverse, 40, 4);
        arrivals.spread(Time(US), Time(801 * US));
        let expected = [(301, 0), (401, 1), (401, 2), (801, 3), (801, 4)];
        assert_eq!(all(&mut arrivals), expected.map(|(us, n)| (us * US, n)));
        arrivals.begin();
        arrivals.push(Direction::Reverse, 40, 5);
        arrivals.spread(Time(801 * US), Time(901 * US));
        assert_eq!(all(&mut arrivals), [(901 * US, 5)], "what is alone came now");
        assert!(arrivals.is_empty());
    }

    #[test]
    fn what_came_since_a_moment_ago_came_now() {
        let mut arrivals = Arrivals::at(GIGABIT);
        arrivals.begin();
        (0..3).for_each(|n| arrivals.push(Direction::Forward, 1500, n));
        arrivals.spread(Time(US), Time(100 * US));
        assert_eq!(all(&mut arrivals), [0, 1, 2].map(|n| (100 * US, n)));
    }

    #[test]
    fn more_is_read_after_a_gap_but_no_end_of_it() {
        let read = |bytes: usize, gap: u64| {
            let gap = Time(gap * US);
            let mut arrivals = Arrivals::at(GIGABIT);
            arrivals.begin();
            (0..10_000).find(|n| {
                let enough = arrivals.enough(Direction::Forward, gap);
                arrivals.push(Direction::Forward, bytes, *n);
                enough
            })
        };
        assert_eq!(read(1500, 0), Some(16));
        assert_eq!(read(1500, 99), Some(16));
        assert_eq!(read(1500, 12_000), Some(1000), "1.5 MB in 12 ms");
        assert_eq!(read(1500, 1_000_000), Some(2667), "4 MB");
        assert_eq!(read(65_535, 1000), Some(16));
        assert_eq!(read(52, 1_000_000), Some(4000), "the smallest");
    }

    #[test]
    fn a_gap_of_a_day_and_all_that_a_queue_holds() {
        let mut arrivals = Arrivals::at(GIGABIT);
        arrivals.begin();
        (0..512).for_each(|n| arrivals.push(Direction::Forward, 65_535, n));
        let day = Time(86_400 * 1_000_000_000_000);
        arrivals.spread(day, day + day);
        let all = all(&mut arrivals);
        assert!(all.is_sorted() && all[0].0 == day.0 + day.0 / 512 && all[511].0 == 2 * day.0);
    }
}
