//! Complex numbers over `libm`, so that a margin has the same digits on every machine.

use core::ops::{Add, Div, Mul, Neg, Sub};

use serde::Serialize;

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// Zero.
    pub const ZERO: Self = Self { re: 0.0, im: 0.0 };
    /// One.
    pub const ONE: Self = Self { re: 1.0, im: 0.0 };

    /// `re + j im`.
    pub const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    /// A real number.
    pub const fn real(re: f64) -> Self {
        Self { re, im: 0.0 }
    }

    /// `j w`: a point of the imaginary axis [rad/s].
    pub const fn axis(w: f64) -> Self {
        Self { re: 0.0, im: w }
    }

    /// e to the power of `self`.
    #[must_use]
    pub fn exp(self) -> Self {
        let (sin, cos) = libm::sincos(self.im);
        Self::new(cos, sin) * libm::exp(self.re)
    }

    /// Modulus.
    pub fn abs(self) -> f64 {
        libm::hypot(self.re, self.im)
    }

    /// Angle in (-pi, pi].
    pub fn arg(self) -> f64 {
        libm::atan2(self.im, self.re)
    }

    /// Whether both parts are finite.
    pub fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }

    /// Whether a quotient below would lose digits: with a modulus below 0.05.
    fn is_small(self) -> bool {
        self.re * self.re + self.im * self.im < 0.0025
    }

    /// `(1 - exp(-self)) / self`: the transfer function of a hold or an average over a unit of time. One at zero.
    #[must_use]
    pub fn hold(self) -> Self {
        if self.is_small() {
            // Terms (-z)^k / (k + 1)!; the twelfth is below 1e-24.
            let mut sum = Self::ONE;
            let mut term = Self::ONE;
            for k in 1..10 {
                term = term * -self * (1.0 / f64::from(k + 1));
                sum = sum + term;
            }
            sum
        } else {
            (Self::ONE - (-self).exp()) / self
        }
    }

    /// `(1 - exp(-self) (1 + self)) / self^2`: the same of a ramp. One half at zero.
    #[must_use]
    pub fn ramp(self) -> Self {
        if self.is_small() {
            // Terms (-z)^k / (k! (k + 2)).
            let mut sum = Self::real(0.5);
            let mut power = Self::ONE;
            for k in 1..10 {
                power = power * -self * (1.0 / f64::from(k));
                sum = sum + power * (1.0 / f64::from(k + 2));
            }
            sum
        } else {
            (Self::ONE - (-self).exp() * (Self::ONE + self)) / (self * self)
        }
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::new(self.re + o.re, self.im + o.im)
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::new(self.re - o.re, self.im - o.im)
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }
}

impl Mul<f64> for Complex {
    type Output = Self;
    fn mul(self, o: f64) -> Self {
        Self::new(self.re * o, self.im * o)
    }
}

impl Div for Complex {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        // Smith's division: the squares of a modulus may overflow, the quotient of the parts does not.
        if o.re.abs() >= o.im.abs() {
            let r = o.im / o.re;
            let d = o.re + o.im * r;
            Self::new((self.re + self.im * r) / d, (self.im - self.re * r) / d)
        } else {
            let r = o.re / o.im;
            let d = o.re * r + o.im;
            Self::new((self.re * r + self.im) / d, (self.im * r - self.re) / d)
        }
    }
}

impl Neg for Complex {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.re, -self.im)
    }
}

impl core::iter::Sum for Complex {
    fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
        numbers.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `hold` and `ramp` are integrals over one unit of time; the series and the closed form must join.
    #[test]
    fn hold_and_ramp_are_the_integrals_they_claim_to_be() {
        for z in [Complex::new(0.0, 0.049), Complex::new(0.0, 0.051), Complex::new(0.01, -0.02), Complex::new(1.0, 3.0)]
        {
            let n = 20_000;
            let (mut hold, mut ramp) = (Complex::ZERO, Complex::ZERO);
            for i in 0..n {
                let t = (f64::from(i) + 0.5) / f64::from(n);
                let e = (-z * t).exp() * (1.0 / f64::from(n));
                hold = hold + e;
                ramp = ramp + e * t;
            }
            assert!((z.hold() - hold).abs() < 1e-8, "{z:?}: {:?} {hold:?}", z.hold());
            assert!((z.ramp() - ramp).abs() < 1e-8, "{z:?}: {:?} {ramp:?}", z.ramp());
        }
    }

    #[test]
    fn division_undoes_multiplication() {
        let (a, b) = (Complex::new(3.0, -4.0), Complex::new(1e-3, 2.0));
        assert!((a * b / b - a).abs() < 1e-14 && (a / b * b - a).abs() < 1e-14);
        assert_eq!(a.abs(), 5.0);
    }
}
