//! Fixed point: what the kernel computes, bit for bit.
//!
//! Twin: `bpf/law/fx.h`. Every operation rounds to nearest, half away from zero, and saturates.

use core::ops::{Add, Div, Mul, Neg, Sub};

use super::Number;

/// A signed number with `F` binary digits behind the point, in 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Fix<const F: u32>(pub i64);

impl<const F: u32> Neg for Fix<F> {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}
impl<const F: u32> Add for Fix<F> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self(self.0.saturating_add(o.0))
    }
}
impl<const F: u32> Sub for Fix<F> {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self(self.0.saturating_sub(o.0))
    }
}
impl<const F: u32> Mul for Fix<F> {
    type Output = Self;
    fn mul(self, _o: Self) -> Self {
        todo!()
    }
}
impl<const F: u32> Div for Fix<F> {
    type Output = Self;
    fn div(self, _o: Self) -> Self {
        todo!()
    }
}
impl<const F: u32> Number for Fix<F> {
    fn of(x: f64) -> Self {
        Self(libm::round(x * (1u64 << F) as f64) as i64)
    }
    fn value(self) -> f64 {
        self.0 as f64 / (1u64 << F) as f64
    }
    fn exp(self) -> Self {
        todo!()
    }
    fn ln(self) -> Self {
        todo!()
    }
    fn min(self, o: Self) -> Self {
        Ord::min(self, o)
    }
    fn max(self, o: Self) -> Self {
        Ord::max(self, o)
    }
}
