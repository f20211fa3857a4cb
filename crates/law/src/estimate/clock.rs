//! Measured spans of time as numbers: the one place where a host's clock becomes an observation.

use crate::number::{Dual, Fix, Number};
use crate::quantity::Time;

/// An arithmetic that can take a reading of a clock.
pub trait Clocked: Number {
    /// A measured span [s].
    fn span(measured: Time) -> Self;

    /// The time between two packets of a burst [s], which a finer clock measures where there is one.
    fn dispersion(measured: Time) -> Self {
        Self::span(measured)
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

/// A kernel's clock counts microseconds, and nanoseconds where a packet's arrival is stamped; its arithmetic sees no more,
/// in whatever world it runs.
impl Clocked for Fix<32> {
    fn span(measured: Time) -> Self {
        // 2^31 s of microseconds times 2^32 would overflow; a span that long saturates instead.
        let us = measured.microseconds().min(u64::from(u32::MAX));
        Self((((us << 32) + 500_000) / 1_000_000) as i64)
    }

    /// As `fx_seconds` of `bpf/law/fx.h`, for which [`Time`] is too short to saturate.
    fn dispersion(measured: Time) -> Self {
        let ns = measured.0 / 1000;
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

    /// Packets of a burst come 123 ns apart at 100 Gbit/s: 528 units of 2^-32 s.
    #[test]
    fn fixed_point_sees_whole_nanoseconds_between_packets() {
        assert_eq!(Fix::<32>::dispersion(Time(123_999)), Fix::<32>(528));
        assert_eq!(Fix::<32>::dispersion(Time::from_seconds(0.5)), Fix::<32>(1 << 31));
        assert_eq!(Fix::<32>::dispersion(Time::from_seconds(100.0)), Fix::<32>(100 << 32));
        assert!(Fix::<32>::dispersion(Time::NEVER).0 > 0);
    }
}
