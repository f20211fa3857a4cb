//! Error of the path against its schedule.

use penstock_law::quantity::Time;
use penstock_link::Histogram;

/// Bounds of the error of a run that still counts. Lateness is when a packet was handed over less when it should have been; a gap
/// is a time in which the path did not look, though it was not waiting for anything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// 99 % of the packets are not later than this.
    pub lateness_p99: Time,
    /// No gap is longer than this.
    pub longest_gap: Time,
}

impl Bound {
    /// Least and relative bounds: a hundredth of the shortest round trip for packets, a tenth for gaps.
    const LEAST_LATENESS: Time = Time(100_000_000);
    const LEAST_GAP: Time = Time(5_000_000_000);

    /// Of a path whose shortest round trip, without queues, is this.
    pub fn of(shortest: Time) -> Self {
        Self {
            lateness_p99: Time(shortest.0 / 100).max(Self::LEAST_LATENESS),
            longest_gap: Time(shortest.0 / 10).max(Self::LEAST_GAP),
        }
    }
}

/// Lateness of a path.
#[derive(Debug, Clone, Default)]
pub struct Lateness {
    /// Packets by lateness [ns].
    packets: Histogram,
    handed: u64,
    latest: Time,
    short_gaps: u64,
    gaps: u64,
    longest_gap: Time,
    /// Packets that a device could not take or give: the endpoints' queues to the path, and refused writes.
    pub device_drops: u64,
}

/// Gaps longer than these are counted.
const SHORT_GAP: Time = Time(500_000_000);
const GAP: Time = Time(5_000_000_000);

impl Lateness {
    /// A packet is handed over now that was wanted then.
    #[inline]
    pub fn handed(&mut self, wanted: Time, now: Time) {
        let late = now.since(wanted);
        self.packets.add(late.0 / 1000, 1);
        self.handed += 1;
        self.latest = self.latest.max(late);
    }

    /// The path did not look for so long.
    #[inline]
    pub(crate) fn looked_away(&mut self, span: Time) {
        self.short_gaps += u64::from(span > SHORT_GAP);
        self.gaps += u64::from(span > GAP);
        self.longest_gap = self.longest_gap.max(span);
    }

    /// Summary of all of it.
    pub fn sum_up(&self, bound: Bound) -> Error {
        let at = |share| self.packets.quantile(share).map(|ns| Time::from_seconds(ns * 1e-9).min(self.latest));
        let mut error = Error {
            bound,
            packets: self.handed,
            lateness_p50: at(0.5),
            lateness_p99: at(0.99),
            lateness_p999: at(0.999),
            latest: self.latest,
            short_gaps: self.short_gaps,
            gaps: self.gaps,
            longest_gap: self.longest_gap,
            device_drops: self.device_drops,
            beyond: Vec::new(),
        };
        if let Some(late) = error.lateness_p99.filter(|late| *late > bound.lateness_p99) {
            error
                .beyond
                .push(format!("99 % of the packets were up to {late} late; the bound is {}", bound.lateness_p99));
        }
        if error.longest_gap > bound.longest_gap {
            error
                .beyond
                .push(format!("the emulator paused for {}; the bound is {}", error.longest_gap, bound.longest_gap));
        }
        if error.device_drops > 0 {
            error
                .beyond
                .push(format!("{} packets were lost between a network device and the emulator", error.device_drops));
        }
        error
    }
}

/// The errors of a run, and their excess over its bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// The bound.
    pub bound: Bound,
    /// Packets handed over.
    pub packets: u64,
    /// Half of them were not later.
    pub lateness_p50: Option<Time>,
    /// 99 % of them.
    pub lateness_p99: Option<Time>,
    /// 99.9 % of them.
    pub lateness_p999: Option<Time>,
    /// The latest.
    pub latest: Time,
    /// Gaps above 0.5 ms: what came meanwhile goes on at once.
    pub short_gaps: u64,
    /// Gaps above 5 ms.
    pub gaps: u64,
    /// The longest gap.
    pub longest_gap: Time,
    /// Packets lost between a device and the path.
    pub device_drops: u64,
    /// A sentence for each part of the bound that was not kept; empty where the run counts.
    pub beyond: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    #[test]
    fn bounds_grow_with_the_round_trip() {
        let near = Bound::of(Time(1000 * US));
        assert_eq!((near.lateness_p99, near.longest_gap), (Time(100 * US), Time(5000 * US)));
        let far = Bound::of(Time(180_000 * US));
        assert_eq!((far.lateness_p99, far.longest_gap), (Time(1800 * US), Time(18_000 * US)));
    }

    #[test]
    fn a_run_is_beyond_its_bound_by_packets_gaps_or_devices() {
        let bound = Bound::of(Time(40_000 * US));
        let mut lateness = Lateness::default();
        for n in 0..1000 {
            // One in a hundred is a millisecond late: 99 % are not.
            lateness.handed(Time(n), Time(n + if n % 100 == 0 { 1000 * US } else { 10 * US }));
        }
        lateness.looked_away(Time(4000 * US));
        let error = lateness.sum_up(bound);
        assert_eq!((error.packets, error.gaps, error.beyond.len()), (1000, 0, 0), "{error:?}");
        let p50 = error.lateness_p50.unwrap();
        assert!(p50 > Time(9 * US) && p50 < Time(11 * US) && error.latest == Time(1000 * US), "{error:?}");
        let mut late = lateness.clone();
        (0..10).for_each(|_| late.handed(Time(0), Time(500 * US)));
        let beyond = late.sum_up(bound).beyond;
        assert!(beyond.len() == 1 && beyond[0].contains("the bound is 400 us"), "{beyond:?}");
        let mut away = lateness.clone();
        away.looked_away(Time(6000 * US));
        assert_eq!((away.sum_up(bound).gaps, away.sum_up(bound).beyond.len()), (1, 1));
        away.looked_away(Time(600 * US));
        away.looked_away(Time(400 * US));
        assert_eq!((away.sum_up(bound).gaps, away.sum_up(bound).short_gaps), (1, 3));
        lateness.device_drops = 1;
        assert_eq!(lateness.sum_up(bound).beyond, ["1 packets were lost between a network device and the emulator"]);
    }
}
