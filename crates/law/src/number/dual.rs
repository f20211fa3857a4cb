//! A number with one derivative, for exact linearisation of the very update that the simulator runs.

use core::cmp::Ordering;
use core::ops::{Add, Div, Mul, Neg, Sub};

use super::Number;

/// A value, its derivative in one direction, and the distance to the nearest branch not taken.
#[derive(Debug, Clone, Copy)]
pub struct Dual {
    /// The value.
    pub value: f64,
    /// The derivative in the seeded direction.
    pub slope: f64,
    /// The distance of the nearest `min` or `max` on the way from its other branch, in the units of that comparison; infinite if there was
    /// none.
    pub kink: f64,
}

impl Dual {
    /// A constant: derivative zero.
    pub const fn constant(value: f64) -> Self {
        Self { value, slope: 0.0, kink: f64::INFINITY }
    }

    /// The variable itself: derivative one.
    pub const fn seed(value: f64) -> Self {
        Self { value, slope: 1.0, kink: f64::INFINITY }
    }

    fn chain(self, value: f64, derivative: f64) -> Self {
        Self { value, slope: self.slope * derivative, kink: self.kink }
    }

    fn join(self, other: Self, value: f64, slope: f64) -> Self {
        Self { value, slope, kink: Number::min(self.kink, other.kink) }
    }

    fn live(self, other: Self, first: bool) -> Self {
        let distance = (self.value - other.value).abs();
        let taken = if first { self } else { other };
        // Two constants never swap: a limit on a compiled parameter is no kink of the dynamics.
        let kink = if self.slope == 0.0 && other.slope == 0.0 { f64::INFINITY } else { distance };
        Self { kink: Number::min(Number::min(self.kink, other.kink), kink), ..taken }
    }
}

impl PartialEq for Dual {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialOrd for Dual {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        Self { value: -self.value, slope: -self.slope, kink: self.kink }
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        self.join(o, self.value + o.value, self.slope + o.slope)
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self.join(o, self.value - o.value, self.slope - o.slope)
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        self.join(o, self.value * o.value, self.slope * o.value + self.value * o.slope)
    }
}

impl Div for Dual {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let value = self.value / o.value;
        self.join(o, value, (self.slope - value * o.slope) / o.value)
    }
}

impl Number for Dual {
    fn of(x: f64) -> Self {
        Self::constant(x)
    }
    fn value(self) -> f64 {
        self.value
    }
    fn exp(self) -> Self {
        let e = libm::exp(self.value);
        self.chain(e, e)
    }
    fn ln(self) -> Self {
        self.chain(libm::log(self.value), 1.0 / self.value)
    }
    fn min(self, other: Self) -> Self {
        self.live(other, self.value <= other.value)
    }
    fn max(self, other: Self) -> Self {
        self.live(other, self.value >= other.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every rule against a central difference of the same expression in f64.
    #[test]
    fn slopes_equal_central_differences() {
        fn f<N: Number>(x: N) -> N {
            let a = (N::of(2.0) * x - N::of(0.3)).exp() / (x + N::of(1.0));
            (a.ln() - x * x).max(N::of(-50.0)) + (-x).min(N::of(9.0))
        }
        for x in [0.1, 0.7, 1.9, 3.2] {
            let h = 1e-6;
            let difference = (f(x + h) - f(x - h)) / (2.0 * h);
            assert!((f(Dual::seed(x)).slope - difference).abs() < 1e-7, "{x}");
        }
    }

    #[test]
    fn the_nearest_kink_is_remembered() {
        let x = Dual::seed(3.0);
        let y = x.max(Dual::of(2.5)).min(Dual::of(10.0)) * Dual::of(4.0);
        assert_eq!((y.value, y.slope, y.kink), (12.0, 4.0, 0.5));
    }
}
