//! Measured spans of time as numbers: the one place where a host's clock becomes an observation.

use crate::number::{Dual, Fix, Number};
use crate::quantity::Time;

/// An arithmetic that can take a reading of a clock.
pub trait Clocked: Number {
    /// A measured span [s].
    fn span(measured: Time) -> Self;
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

/// A kernel's clock counts microseconds; its arithmetic sees no more, in whatever world it runs.
impl Clocked for Fix<32> {
    fn span(measured: Time) -> Self {
        // 2^31 s of microseconds times 2^32 would overflow; a span that long saturates instead.
        let us = measured.microseconds().min(u64::from(u32::MAX));
        Self((((us << 32) + 500_000) / 1_000_000) as i64)
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
}
