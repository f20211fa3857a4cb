//! Quantities as types. Conversions live here and nowhere else.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// True if a host can act on a law's window, gap or rate: finite, and not negative.
#[inline]
pub fn is_amount(x: f64) -> bool {
    // By its bits, in one comparison: those of a negative number or a NaN are larger. Hosts ask twice for each acknowledgement.
    x.to_bits() < f64::INFINITY.to_bits() || x == 0.0
}

/// Simulated time, or a span of it: whole picoseconds since the start of the run. 2^64 ps are 213 days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than any event.
    pub const NEVER: Self = Self(u64::MAX);
    /// Picoseconds in a second.
    pub const PER_SECOND: u64 = 1_000_000_000_000;

    /// Whole picoseconds nearest to `seconds`; negative or NaN becomes zero, too large becomes [`Time::NEVER`].
    pub fn from_seconds(seconds: f64) -> Self {
        Self(libm::round(seconds * 1e12) as u64)
    }

    /// Seconds.
    #[inline]
    pub fn seconds(self) -> f64 {
        // Processors convert signed numbers in one step, unsigned ones in five.
        let signed = self.0 as i64;
        if signed >= 0 { signed as f64 * 1e-12 } else { self.many_seconds() }
    }

    /// The same of 2^63 ps and more, out of the way: a compiler that sees both makes one unsigned conversion of them.
    #[cold]
    #[inline(never)]
    fn many_seconds(self) -> f64 {
        self.0 as f64 * 1e-12
    }

    /// Whole microseconds, rounded down, as of a kernel's clock.
    pub const fn microseconds(self) -> u64 {
        self.0 / 1_000_000
    }

    /// The span since `earlier`, zero if that is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, span: Self) {
        *self = *self + span;
    }
}

impl Sub for Time {
    type Output = Self;
    #[inline]
    fn sub(self, span: Self) -> Self {
        debug_assert!(self >= span, "time runs forward");
        Self(self.0 - span.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.seconds();
        if *self == Self::NEVER {
            write!(f, "never")
        } else if self.0 != 0 && s < 1e-6 {
            write!(f, "{} ns", s * 1e9)
        } else if self.0 != 0 && s < 1e-3 {
            write!(f, "{} us", round9(s * 1e6))
        } else if self.0 != 0 && s < 1.0 {
            write!(f, "{} ms", round9(s * 1e3))
        } else {
            write!(f, "{} s", round9(s))
        }
    }
}

// Nine decimals hide the last bits of a product, so that 50 ms prints as `50 ms`.
fn round9(x: f64) -> f64 {
    libm::round(x * 1e9) / 1e9
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Bits: eight to the byte, here and nowhere else.
    pub fn bits(self) -> f64 {
        self.0 as f64 * 8.0
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n >= 1_000_000 && n.is_multiple_of(100_000) => write!(f, "{} MB", n as f64 / 1e6),
            n if n >= 10_000 && n.is_multiple_of(100) => write!(f, "{} kB", n as f64 / 1e3),
            n => write!(f, "{n} B"),
        }
    }
}

/// A rate in bits per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(pub u64);

impl Rate {
    /// Bits per second.
    pub fn bit_per_s(self) -> f64 {
        self.0 as f64
    }

    /// Packets of `size` per second.
    pub fn packets_per_s(self, size: Bytes) -> f64 {
        self.bit_per_s() / size.bits()
    }

    /// The time to transmit `size`, rounded to whole picoseconds; [`Time::NEVER`] at rate zero.
    pub fn time_for(self, size: Bytes) -> Time {
        if self.0 == 0 {
            return Time::NEVER;
        }
        let ps = (u128::from(size.0) * 8 * u128::from(Time::PER_SECOND) + u128::from(self.0) / 2) / u128::from(self.0);
        Time(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// The bytes carried in `span`, rounded down.
    pub fn bytes_in(self, span: Time) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(span.0) / (8 * u128::from(Time::PER_SECOND));
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 as f64 {
            r if r >= 1e9 => write!(f, "{} Gbit/s", r / 1e9),
            r if r >= 1e6 => write!(f, "{} Mbit/s", r / 1e6),
            r if r >= 1e3 => write!(f, "{} kbit/s", r / 1e3),
            r => write!(f, "{r} bit/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_size_give_time() {
        assert_eq!(Rate(1_000_000_000).time_for(Bytes(1000)), Time(8_000_000));
        assert_eq!(Rate(100_000_000).bytes_in(Time::from_seconds(0.04)), Bytes(500_000));
        assert_eq!(Rate(0).time_for(Bytes(1)), Time::NEVER);
    }

    /// On either side of what a signed number holds.
    #[test]
    fn any_time_has_seconds() {
        for ps in [0, 1, 999_999_999_999, (1 << 63) - 1, 1 << 63, (1 << 63) + 4096, u64::MAX] {
            assert_eq!(Time(ps).seconds(), ps as f64 * 1e-12, "{ps}");
        }
    }

    #[test]
    fn quantities_print_as_a_person_would_write_them() {
        extern crate alloc;
        use alloc::string::ToString;
        assert_eq!(Time::from_seconds(0.05).to_string(), "50 ms");
        assert_eq!(Time::from_seconds(60.0).to_string(), "60 s");
        assert_eq!(Rate(622_000_000).to_string(), "622 Mbit/s");
        assert_eq!(Rate(2_488_000_000).to_string(), "2.488 Gbit/s");
        assert_eq!(Bytes(1000).to_string(), "1000 B");
        assert_eq!(Bytes(8_000_000).to_string(), "8 MB");
    }
}
