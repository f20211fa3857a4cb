//! The arithmetic a law may use.

mod dual;
mod fix;

use core::fmt::Debug;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

pub use dual::Dual;
pub use fix::Fix;

/// The arithmetic of a law. No clock, random draw, I/O or integer cast can reach it.
///
/// `min`, `max` and `clamp` are the only branches on numbers that leave a trace: a [`Dual`] takes the live branch and
/// notes how near the other was. A plain comparison is for conditions that an equilibrium is never close to, such as
/// the end of slow start.
pub trait Number:
    Copy
    + Debug
    + PartialOrd
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Send
    + Sync
    + 'static
{
    /// A number that never exceeds one can be kept times 2^`SPARE`, and has so many binary digits more behind the point.
    /// None in an arithmetic whose point floats, where that would change nothing.
    const SPARE: u32 = 0;

    /// A constant or a compiled parameter, rounded once.
    fn of(x: f64) -> Self;
    /// The nearest `f64`, for reports and for hosts that compute in `f64`.
    fn value(self) -> f64;
    /// e to the power of `self`; the same bits on every machine.
    #[must_use]
    fn exp(self) -> Self;
    /// The natural logarithm; the same bits on every machine.
    #[must_use]
    fn ln(self) -> Self;
    /// The smaller of two.
    #[must_use]
    fn min(self, other: Self) -> Self;
    /// The larger of two.
    #[must_use]
    fn max(self, other: Self) -> Self;
    /// `self` kept within `least..=most`.
    #[must_use]
    fn clamp(self, least: Self, most: Self) -> Self {
        self.max(least).min(most)
    }
    /// `(a x - b y) / 2^places`, rounded once in fixed point, at the end: the remainder of two products that nearly
    /// cancel. `places` from 0 to 95.
    #[must_use]
    fn difference([a, x]: [Self; 2], [b, y]: [Self; 2], places: u32) -> Self {
        debug_assert!(places <= 95);
        // The power of two by its bits: this is on the way of every packet of a customer.
        (a * x - b * y) * Self::of(f64::from_bits(u64::from(1023 - places) << 52))
    }
    /// A count. Exact below 2^24 in every arithmetic.
    fn count(n: u32) -> Self {
        Self::of(f64::from(n))
    }
}

/// The arithmetic of simulation. Only there hosts integrate a law's mean change.
pub trait Real: Number {}

impl Real for f64 {}

/// `x += y` is `x = x + y`, bit for bit, and so on.
macro_rules! assigning {
    ($($trait:ident $method:ident $op:tt)*) => {
        $(
            impl $trait for Dual {
                #[inline]
                fn $method(&mut self, other: Self) {
                    *self = *self $op other;
                }
            }
            impl<const F: u32> $trait for Fix<F> {
                #[inline]
                fn $method(&mut self, other: Self) {
                    *self = *self $op other;
                }
            }
        )*
    };
}
assigning!(AddAssign add_assign + SubAssign sub_assign - MulAssign mul_assign * DivAssign div_assign /);

impl Number for f64 {
    #[inline]
    fn of(x: f64) -> Self {
        x
    }
    #[inline]
    fn value(self) -> f64 {
        self
    }
    fn exp(self) -> Self {
        libm::exp(self)
    }
    fn ln(self) -> Self {
        libm::log(self)
    }
    // Comparisons instead of f64::min: one instruction, and no special case for NaN, which a law never sees.
    #[inline]
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
    #[inline]
    fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}
