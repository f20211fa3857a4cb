//! Measured spans of time as numbers: the one conversion from a host's clock to an observation.

use crate::number::{Dual, Fix, Number};
use crate::quantity::Time;

/// An arithmetic that can take the time of a clock.
pub trait Clocked: Number {
    /// A measured span [s].
    fn span(measured: Time) -> Self;

    /// The time that each of `packets` packets of a burst takes [s], by the moments of the first and of the one that so many
    /// packets later came; a finer clock stamps them where there is one.
    fn dispersion(from: Time, to: Time, packets: u64) -> Self {
        Self::span(Time(to.since(from).0 / packets))
    }
}

impl Clocked for f64 {
    #[inline]
    fn span(measured: Time) -> Self {
        measured.seconds()
    }
}

impl Clocked for Dual {
    fn span(measured: Time) -> Self {
        Self::of(measured.seconds())
    }
}

/// A kernel's clock counts microseconds, and nanoseconds for the stamp of a packet's arrival; its arithmetic gets no more,
/// in whatever world it runs.
impl Clocked for Fix<32> {
    fn span(measured: Time) -> Self {
        // 2^64 ps are fewer seconds than 2^31, so that nothing saturates.
        let (whole, rest) = (measured.microseconds() / 1_000_000, measured.microseconds() % 1_000_000);
        Self(((whole << 32) + ((rest << 32) + 500_000) / 1_000_000) as i64)
    }

    /// A clock has whole nanoseconds, not the span between two of its stamps: that is a nanosecond too short or too long.
    /// As `fx_seconds` of `bpf/law/fx.h`, for which [`Time`] is too short to saturate.
    fn dispersion(from: Time, to: Time, packets: u64) -> Self {
        let ns = (to.0 / 1000 - from.0 / 1000) / packets;
        let (whole, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
        Self(((whole << 32) + ((rest << 32) + 500_000_000) / 1_000_000_000) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_point_sees_whole_microseconds() {
        assert_eq!(Fix::<32>::span(Time(1_999_999)), Fix::<32>::span(Time(1_000_000)));
        assert_eq!(Fix::<32>::span(Time::from_seconds(0.5)), Fix::<32>(1 << 31));
        assert_eq!(Fix::<32>::span(Time::from_seconds(100.0)), Fix::<32>(100 << 32));
        assert!(Fix::<32>::span(Time::NEVER).0 > 0);
    }

    /// A clock that reads more than 2^32 us, which are 71 minutes, still runs.
    #[test]
    fn fixed_point_sees_hours() {
        assert_eq!(Fix::<32>::span(Time::from_seconds(10_000.5)), Fix::<32>((10_000 << 32) + (1 << 31)));
    }

    /// Packets of a burst come 123 ns apart at 100 Gbit/s: 528 units of 2^-32 s.
    #[test]
    fn fixed_point_sees_whole_nanoseconds_between_packets() {
        let from_zero = |to| Fix::<32>::dispersion(Time::ZERO, to, 1);
        assert_eq!(from_zero(Time(123_999)), Fix::<32>(528));
        assert_eq!(from_zero(Time::from_seconds(0.5)), Fix::<32>(1 << 31));
        assert_eq!(from_zero(Time::from_seconds(100.0)), Fix::<32>(100 << 32));
        assert!(from_zero(Time::NEVER).0 > 0);
    }

    /// Stamps are rounded down, not the spans between them: at 400 Gbit/s packets are 30.76 ns apart, which are 31 ns in that
    /// proportion, and 30 ns otherwise.
    #[test]
    fn fixed_point_sees_the_difference_of_stamps() {
        let apart = |k: u64| Fix::<32>::dispersion(Time(30_760 * k), Time(30_760 * (k + 1)), 1);
        let long = (0..100).filter(|k| apart(*k) == from_ns(31)).count();
        assert_eq!((long, (0..100).filter(|k| apart(*k) == from_ns(30)).count()), (76, 24));
        assert_eq!(Fix::<32>::dispersion(Time(500), Time(90_700), 3), from_ns(30), "a third of 90 ns");
    }

    fn from_ns(ns: u64) -> Fix<32> {
        Fix::dispersion(Time::ZERO, Time(1000 * ns), 1)
    }
}
