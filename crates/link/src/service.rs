//! Capacity of a line: a constant rate, a schedule of rates, or a trace of opportunities.
//!
//! When a packet's last bit leaves follows from the cumulative curve, so a change of rate in the middle of a packet, or
//! an outage, counts from its picosecond on.

use std::sync::Arc;

use penstock_law::quantity::{Bytes, Rate, Time};

/// Capacity of a line over time.
#[derive(Debug, Clone, PartialEq)]
pub enum Service {
    /// Always this rate, above zero.
    Constant(Rate),
    /// From each time on this rate; zero is an outage. Times grow, the first is zero, and some rate is above zero.
    Schedule(Vec<(Time, Rate)>),
    /// Opportunities to send, as mahimahi's `mm-link` records and serves them.
    ///
    /// Each carries up to 1500 bytes at one instant: the remainder of a packet begun at an earlier one, then packets that
    /// wait, several if they are small. The last of them may be carried in part; its remainder goes with the next
    /// opportunity. Bytes that no packet uses are lost, and so are all of them to a packet that arrives at that instant or
    /// later.
    Trace {
        /// When each comes, from the start of a period; they do not decrease, and none is beyond the period's end.
        opportunities: Arc<[Time]>,
        /// Time until it begins again, above zero.
        period: Time,
    },
}

impl From<Rate> for Service {
    fn from(rate: Rate) -> Self {
        Self::Constant(rate)
    }
}

/// Bytes of an opportunity of a trace.
const OPPORTUNITY: Bytes = Bytes(1500);
/// Over how long before a moment a trace's rate at the moment is taken.
const TRACE_WINDOW: Time = Time(Time::PER_SECOND / 10);

/// A service with a position on it: where the last transmission ended.
#[derive(Debug)]
pub(crate) struct Curve {
    // Rate as picoseconds a byte with 20 binary digits, so that no drift builds up over 10^9 packets.
    ps_per_byte_q20: u64,
    /// Remainder of the rounding of the last end. Constant: [ps / 2^20]; schedule: [1e-12 bit] still to send at the
    /// end as it was rounded; trace: [B] that the opportunity in use has left.
    remainder: u64,
    /// At the start; the mean of a trace.
    rate: Rate,
    varying: Option<Box<Varying>>,
}

#[derive(Debug)]
enum Varying {
    Schedule(Schedule),
    Trace(Trace),
}

impl Curve {
    pub(crate) fn new(service: Service) -> Self {
        let (rate, varying) = match service {
            Service::Constant(rate) => (rate, None),
            Service::Schedule(changes) => {
                // Two equal rates in a row are one.
                let mut rates = changes;
                rates.dedup_by_key(|(_, rate)| *rate);
                let schedule = Schedule::new(&rates);
                let one = rates.len() == 1;
                (rates[0].1, (!one).then(|| Box::new(Varying::Schedule(schedule))))
            }
            Service::Trace { opportunities, period } => {
                let trace = Trace::new(opportunities, period);
                (trace.mean(), Some(Box::new(Varying::Trace(trace))))
            }
        };
        assert!(varying.is_some() || rate.0 > 0, "a line that never carries anything");
        let ps_per_byte_q20 = ((u128::from(8 * Time::PER_SECOND) << 20) / u128::from(rate.0.max(1))) as u64;
        Self { ps_per_byte_q20, remainder: 0, rate, varying }
    }

    /// When the last of `bytes` leaves, if the first may leave at `start`; never, where the line stays out.
    ///
    /// `start` is the end of the transmission before, or the moment of the last [`Curve::restart`].
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn finish(&mut self, start: Time, bytes: u32) -> Time {
        if self.varying.is_some() {
            return self.finish_varying(start, bytes);
        }
        let service = u128::from(self.ps_per_byte_q20) * u128::from(bytes) + u128::from(self.remainder);
        self.remainder = (service & 0xf_ffff) as u64;
        start + Time((service >> 20) as u64)
    }

    #[cold]
    fn finish_varying(&mut self, start: Time, bytes: u32) -> Time {
        match self.varying.as_deref_mut() {
            Some(Varying::Schedule(schedule)) => schedule.finish(&mut self.remainder, start, bytes),
            Some(Varying::Trace(trace)) => trace.finish(&mut self.remainder, bytes),
            None => unreachable!("asked only where the rate varies"),
        }
    }

    /// The line is idle and takes up a packet at `now`: nothing is left over from before.
    #[inline]
    pub(crate) fn restart(&mut self, now: Time) {
        self.remainder = 0;
        if let Some(Varying::Trace(trace)) = self.varying.as_deref_mut() {
            trace.next = trace.next.max(trace.count(now));
        }
    }

    /// Whether the rate is always the same.
    #[inline]
    pub(crate) fn constant(&self) -> bool {
        self.varying.is_none()
    }

    /// The rate at the start; the mean of a trace.
    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    /// The rate at a moment; of a trace, over the 100 ms before, as if it had begun earlier.
    pub(crate) fn rate_at(&self, time: Time) -> Rate {
        match self.varying.as_deref() {
            None => self.rate,
            Some(Varying::Schedule(schedule)) => schedule.changes[schedule.at(time)].rate,
            Some(Varying::Trace(trace)) => trace.recent(time),
        }
    }

    /// The rate that a law observes: never zero, at which no law is defined. During an outage it is the rate before.
    pub(crate) fn rate_for_laws(&self, time: Time) -> Rate {
        match self.varying.as_deref() {
            None => self.rate,
            Some(Varying::Schedule(schedule)) => schedule.above_zero(time),
            Some(Varying::Trace(trace)) => Rate(trace.recent(time).0.max(bits_over(1, TRACE_WINDOW).0)),
        }
    }

    /// Mean packets, whole ones only, that would have fitted between; `service` is how long one takes where the rate is
    /// always the same.
    pub(crate) fn fits(&self, from: Time, to: Time, service: Time, packet: Bytes) -> u32 {
        if self.constant() {
            if from + service > to {
                return 0;
            }
            u32::try_from((to - from).0 / service.0.max(1)).unwrap_or(u32::MAX)
        } else if from < to {
            (self.capacity_bits(from, to) / packet.bits()) as u32
        } else {
            0
        }
    }

    /// Capacity after `from` and up to `to` [bit].
    pub(crate) fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        match self.varying.as_deref() {
            None => self.rate.bit_per_s() * to.since(from).seconds(),
            Some(Varying::Schedule(schedule)) => {
                schedule.carried(to).saturating_sub(schedule.carried(from)) as f64 / Time::PER_SECOND as f64
            }
            Some(Varying::Trace(trace)) => {
                Bytes(trace.count(to).saturating_sub(trace.count(from)) * OPPORTUNITY.0).bits()
            }
        }
    }
}

/// So many opportunities in a span, as a rate.
fn bits_over(opportunities: u64, span: Time) -> Rate {
    let bits = u128::from(opportunities) * u128::from(OPPORTUNITY.0) * 8;
    Rate(u64::try_from(bits * u128::from(Time::PER_SECOND) / u128::from(span.0)).unwrap_or(u64::MAX))
}

#[derive(Debug, Clone, Copy)]
struct Change {
    at: Time,
    rate: Rate,
    /// Capacity before [1e-12 bit].
    carried: u128,
}

#[derive(Debug)]
struct Schedule {
    changes: Vec<Change>,
    /// The change in force where the last transmission ended.
    cursor: usize,
}

impl Schedule {
    fn new(rates: &[(Time, Rate)]) -> Self {
        assert!(rates.first().is_some_and(|(at, _)| *at == Time::ZERO), "a schedule begins at time zero");
        assert!(rates.is_sorted_by(|a, b| a.0 < b.0), "times of a schedule grow");
        assert!(rates.iter().any(|(_, rate)| rate.0 > 0), "a line that never carries anything");
        let mut changes: Vec<Change> = Vec::with_capacity(rates.len());
        for &(at, rate) in rates {
            let carried = changes.last().map_or(0, |last| last.carried + work(last.rate, at - last.at));
            changes.push(Change { at, rate, carried });
        }
        Self { changes, cursor: 0 }
    }

    /// Which change is in force at `time`.
    fn at(&self, time: Time) -> usize {
        self.changes.partition_point(|change| change.at <= time) - 1
    }

    fn above_zero(&self, time: Time) -> Rate {
        let (before, after) = self.changes.split_at(self.at(time) + 1);
        let mut nearest = before.iter().rev().chain(after).map(|change| change.rate);
        nearest.find(|rate| rate.0 > 0).expect("some rate is above zero")
    }

    /// Capacity before `time` [1e-12 bit].
    fn carried(&self, time: Time) -> u128 {
        let change = self.changes[self.at(time)];
        change.carried + work(change.rate, time - change.at)
    }

    fn finish(&mut self, remainder: &mut u64, mut start: Time, bytes: u32) -> Time {
        let mut left = u128::from(bytes) * 8 * u128::from(Time::PER_SECOND) + u128::from(*remainder);
        *remainder = 0;
        if start == Time::NEVER {
            return start;
        }
        loop {
            let next = self.changes.get(self.cursor + 1).map_or(Time::NEVER, |change| change.at);
            if next <= start {
                self.cursor += 1;
                continue;
            }
            let rate = self.changes[self.cursor].rate;
            let room = work(rate, next - start);
            if left < room {
                // Rounded down, as the constant is; what is left then is less than one picosecond's.
                *remainder = (left % u128::from(rate.0)) as u64;
                return start + Time((left / u128::from(rate.0)) as u64);
            }
            left -= room;
            start = next;
            if left == 0 || start == Time::NEVER {
                return start;
            }
        }
    }
}

/// Capacity of a rate in a span [1e-12 bit].
fn work(rate: Rate, span: Time) -> u128 {
    u128::from(rate.0) * u128::from(span.0)
}

#[derive(Debug)]
struct Trace {
    opportunities: Arc<[Time]>,
    period: Time,
    /// Number of the first opportunity that nothing has used, counted on over periods.
    next: u64,
}

impl Trace {
    fn new(opportunities: Arc<[Time]>, period: Time) -> Self {
        assert!(opportunities.is_sorted(), "opportunities do not decrease");
        let last = opportunities.last().expect("a trace has opportunities");
        assert!(*last <= period && period > Time::ZERO, "a period is above zero, and none of its opportunities beyond");
        Self { opportunities, period, next: 0 }
    }

    fn per_period(&self) -> u64 {
        self.opportunities.len() as u64
    }

    fn mean(&self) -> Rate {
        bits_over(self.per_period(), self.period)
    }

    /// When the opportunity of this number comes.
    fn moment(&self, number: u64) -> Time {
        let lap = Time((number / self.per_period()).saturating_mul(self.period.0));
        lap + self.opportunities[(number % self.per_period()) as usize]
    }

    /// Opportunities up to `time`.
    fn count(&self, time: Time) -> u64 {
        let within = Time(time.0 % self.period.0);
        (time.0 / self.period.0) * self.per_period() + self.opportunities.partition_point(|at| *at <= within) as u64
    }

    fn recent(&self, time: Time) -> Rate {
        let span = TRACE_WINDOW.min(self.period);
        // One period later is the same place on the trace, and far enough from the start.
        let to = Time(time.0 % self.period.0) + self.period;
        bits_over(self.count(to) - self.count(to - span), span)
    }

    fn finish(&mut self, left: &mut u64, bytes: u32) -> Time {
        let more = u64::from(bytes).saturating_sub(*left);
        if more == 0 && self.next > 0 {
            *left -= u64::from(bytes);
        } else {
            let opportunities = more.div_ceil(OPPORTUNITY.0).max(1);
            self.next += opportunities;
            *left = opportunities * OPPORTUNITY.0 - more;
        }
        self.moment(self.next - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    struct Draw(u64);
    impl Draw {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % n
        }
    }

    /// Capacity of a schedule up to `time`, step by step [1e-12 bit].
    fn carried(rates: &[(Time, Rate)], time: u64) -> u128 {
        let ends = rates.iter().skip(1).map(|(at, _)| at.0).chain([u64::MAX]);
        rates
            .iter()
            .zip(ends)
            .map(|((at, rate), end)| u128::from(rate.0) * u128::from(time.min(end).saturating_sub(at.0)))
            .sum()
    }

    /// The end of a packet is where the cumulative curve reaches all that was sent since the line was idle, rounded
    /// down: for any rates, outages and sizes, and without drift however long the line is busy.
    #[test]
    fn a_schedule_ends_packets_where_the_curve_reaches_their_sum() {
        for seed in 0..20 {
            let mut draw = Draw(seed);
            let mut rates = vec![(Time(0), Rate(draw.below(1_000_000_000) + 1))];
            for _ in 0..20 {
                let at = rates.last().unwrap().0 + Time(1 + draw.below(20 * MS));
                rates.push((at, Rate([0, 7, 1_000_003, 155_000_000, 9_999_999_999][draw.below(5) as usize])));
            }
            let end = rates.last().unwrap().0 + Time(1);
            rates.push((end, Rate(333_333_333)));
            let mut curve = Curve::new(Service::Schedule(rates.clone()));
            let (mut free, mut begun, mut sent) = (Time::ZERO, 0, 0u128);
            for _ in 0..2000 {
                if draw.below(10) == 0 {
                    // The line was idle for a while.
                    free += Time(draw.below(MS));
                    curve.restart(free);
                    (begun, sent) = (carried(&rates, free.0), 0);
                }
                let bytes = 40 + draw.below(1461) as u32;
                free = curve.finish(free, bytes);
                sent += u128::from(bytes) * 8 * u128::from(Time::PER_SECOND);
                let target = begun + sent;
                // At the end, or less than a picosecond later, the curve is there.
                assert!(carried(&rates, free.0) <= target, "too late, seed {seed}");
                assert!(
                    carried(&rates, free.0 + 1) > target || carried(&rates, free.0) == target,
                    "early, seed {seed}"
                );
                // And it was not there any earlier.
                assert!(free.0 == 0 || carried(&rates, free.0 - 1) < target, "late by an outage, seed {seed}");
            }
            assert!(free > end, "the whole schedule was used");
        }
    }

    /// A schedule that never changes the rate is the constant, bit for bit.
    #[test]
    fn a_schedule_of_one_rate_is_the_constant() {
        let mut constant = Curve::new(Rate(155_000_000).into());
        let mut same = Curve::new(Service::Schedule(vec![(Time(0), Rate(155_000_000)), (Time(MS), Rate(155_000_000))]));
        let (mut a, mut b) = (Time::ZERO, Time::ZERO);
        for bytes in 40..1500 {
            (a, b) = (constant.finish(a, bytes), same.finish(b, bytes));
            assert_eq!(a, b);
        }
    }

    fn trace(times: &[u64], period: u64) -> Service {
        Service::Trace { opportunities: times.iter().map(|t| Time(t * MS)).collect(), period: Time(period * MS) }
    }

    /// Bytes of each opportunity, byte by byte as mahimahi does it: opportunities in the order of time, each taking
    /// bytes from packets that had arrived before it, the others lost where there are none.
    fn by_bytes(moments: impl Iterator<Item = u64>, packets: &[(u64, u32)]) -> Vec<u64> {
        let mut departures = Vec::new();
        let mut sent = 0;
        for moment in moments {
            let mut bytes = 1500;
            while let Some((arrival, size)) = packets.get(departures.len())
                && bytes > 0
                && *arrival < moment
            {
                let taken = bytes.min(size - sent);
                (bytes, sent) = (bytes - taken, sent + taken);
                if sent == *size {
                    departures.push(moment);
                    sent = 0;
                }
            }
            if departures.len() == packets.len() {
                return departures;
            }
        }
        unreachable!("a trace goes on for ever")
    }

    /// Random packets over a random trace depart as in a plain simulation of bytes and opportunities.
    #[test]
    fn a_trace_carries_what_bytes_and_opportunities_say() {
        for seed in 0..50 {
            let mut draw = Draw(seed);
            // Several at one instant, one at the very start or the very end, gaps.
            let mut times: Vec<u64> = (0..=draw.below(30)).map(|_| draw.below(51)).collect();
            times.sort_unstable();
            let moments = (0..).flat_map(|lap| times.iter().map(move |t| (lap * 50 + t) * MS));
            let mut packets = Vec::new();
            let mut now = 0;
            for _ in 0..1000 {
                // Some arrive at the very instant of an opportunity, some in a burst, some after a long silence.
                now += match draw.below(20) {
                    0 => draw.below(200 * MS),
                    1..8 => draw.below(3) * MS,
                    8..14 => 0,
                    _ => draw.below(2 * MS),
                };
                packets.push((now, [40, 500, 1500, 1501, 9000][draw.below(5) as usize]));
            }
            let expected = by_bytes(moments, &packets);
            let mut curve = Curve::new(trace(&times, 50));
            let mut free = Time::ZERO;
            for ((arrival, bytes), expected) in packets.iter().zip(expected) {
                if free.0 <= *arrival {
                    curve.restart(Time(*arrival));
                    free = Time(*arrival);
                }
                free = curve.finish(free, *bytes);
                assert_eq!(free, Time(expected), "seed {seed}");
            }
        }
    }

    /// Opportunities at 1, 1 and 4 ms of every 5: 7.2 Mbit/s in the mean.
    #[test]
    fn a_trace_has_a_mean_and_a_recent_rate() {
        let curve = Curve::new(trace(&[1, 1, 4], 5));
        assert_eq!(curve.rate(), Rate(7_200_000));
        let second = Time(Time::PER_SECOND);
        assert_eq!(curve.capacity_bits(Time(0), second), 7_200_000.0);
        assert_eq!(curve.capacity_bits(Time(MS), Time(4 * MS)), 12_000.0, "after 1 ms and up to 4 ms: one");
        for at in [Time::ZERO, Time(3 * MS), second] {
            assert_eq!(curve.rate_at(at), Rate(7_200_000), "every 5 ms are alike");
        }
        // Nothing in the first of two seconds: nothing, but to a law the least that can be told from nothing.
        let gaps = Curve::new(trace(&(1000..2000).collect::<Vec<_>>(), 2000));
        assert_eq!(gaps.rate_at(Time(500 * MS)), Rate(0));
        assert_eq!(gaps.rate_for_laws(Time(500 * MS)), Rate(120_000));
        assert_eq!(gaps.rate_at(Time(1500 * MS)), Rate(12_000_000));
        assert_eq!(gaps.rate_at(Time(2500 * MS)), Rate(0), "and so on in every period");
    }
}
