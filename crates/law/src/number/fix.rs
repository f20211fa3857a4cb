//! Fixed point: the kernel's arithmetic, bit for bit.
//!
//! Kernel implementation: `bpf/law/fx.h`, which has the same steps in 64-bit unsigned arithmetic, the only one BPF can divide in.
//!
//! Every operation rounds to nearest, half away from zero, and saturates at both ends of the range: nothing wraps and
//! nothing panics. A division by zero saturates by the sign of the numerator, and 0/0 is 0.

use core::ops::{Add, Div, Mul, Neg, Sub};

use super::Number;

/// A signed number with `F` binary digits behind the point, in 64 bits: the integer over 2^F.
///
/// `Fix<32>` reaches from -2^31 to 2^31 in steps of 2.3e-10; `Fix<48>`, for the integral gains of PI laws, from -2^15
/// to 2^15 in steps of 3.6e-15. Any `F` from 16 to 62 works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Fix<const F: u32>(pub i64);

/// The sign put back on a magnitude.
#[inline]
fn signed(negative: bool, magnitude: u128) -> i64 {
    match (negative, i64::try_from(magnitude)) {
        (false, x) => x.unwrap_or(i64::MAX),
        (true, x) => x.map_or(i64::MIN, |x| -x),
    }
}

/// The upper half of a product: both factors, and the result, are fractions of 2^64.
#[inline]
fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

impl<const F: u32> Neg for Fix<F> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}
impl<const F: u32> Add for Fix<F> {
    type Output = Self;
    #[inline]
    fn add(self, o: Self) -> Self {
        Self(self.0.saturating_add(o.0))
    }
}
impl<const F: u32> Sub for Fix<F> {
    type Output = Self;
    #[inline]
    fn sub(self, o: Self) -> Self {
        Self(self.0.saturating_sub(o.0))
    }
}
impl<const F: u32> Mul for Fix<F> {
    type Output = Self;
    #[inline]
    fn mul(self, o: Self) -> Self {
        let product = u128::from(self.0.unsigned_abs()) * u128::from(o.0.unsigned_abs());
        Self(signed((self.0 < 0) != (o.0 < 0), (product + (1 << (F - 1))) >> F))
    }
}
impl<const F: u32> Div for Fix<F> {
    type Output = Self;
    #[inline]
    fn div(self, o: Self) -> Self {
        if o.0 == 0 {
            return Self(if self.0 == 0 { 0 } else { signed(self.0 < 0, u128::MAX) });
        }
        let (numerator, divisor) = (u128::from(self.0.unsigned_abs()) << F, u128::from(o.0.unsigned_abs()));
        let (quotient, rest) = (numerator / divisor, numerator % divisor);
        Self(signed((self.0 < 0) != (o.0 < 0), quotient + u128::from(rest >= divisor - rest)))
    }
}

// exp(x) = 2^(n/16) exp(r), with n = floor(16 x / ln 2) and 0 <= r < ln 2 / 16.

/// ln 2 / 16 as a fraction of 2^64, and its next 32 bits.
const STEP: u64 = 0x0b17_217f_7d1c_f79a;
const STEP_BELOW: u64 = 0xbc9e_3b39;
/// 16 / ln 2 in 32.32 bits.
const STEPS_PER_ONE: u64 = 0x17_1547_652b;
/// 2^(j/16) in 1.63 bits, rounded to nearest.
const POWERS: [u64; 16] = [
    0x8000_0000_0000_0000,
    0x85aa_c367_cc48_7b15,
    0x8b95_c1e3_ea8b_d6e7,
    0x91c3_d373_ab11_c336,
    0x9837_f051_8db8_a96f,
    0x9ef5_3260_91a1_11ae,
    0xa5fe_d6a9_b151_38ea,
    0xad58_3eea_42a1_4ac6,
    0xb504_f333_f9de_6484,
    0xbd08_a39f_580c_36bf,
    0xc567_2a11_5506_dadd,
    0xce24_8c15_1f84_80e4,
    0xd744_fcca_d69d_6af4,
    0xe0cc_deec_2a94_e111,
    0xeac0_c6e7_dd24_392f,
    0xf525_7d15_2486_cc2c,
];
/// 1/9!, 1/8!, ... 1/2! as fractions of 2^64; the tenth term is below 2^-67.
const SERIES: [u64; 8] = [
    0x0000_2e3b_c74a_ad8e,
    0x0001_a01a_01a0_1a01,
    0x000d_00d0_0d00_d00d,
    0x005b_05b0_5b05_b05b,
    0x0222_2222_2222_2222,
    0x0aaa_aaaa_aaaa_aaaa,
    0x2aaa_aaaa_aaaa_aaaa,
    0x8000_0000_0000_0000,
];
// ln(2^e m) = e ln 2 + ln c + ln(1 + r), with c = 1 + j/16 below m and 0 <= r < 1/16.

/// 1 / (1 + j/16) in 1.63 bits, rounded up.
const RECIPROCALS: [u64; 16] = [
    0x8000_0000_0000_0000,
    0x7878_7878_7878_7879,
    0x71c7_1c71_c71c_71c8,
    0x6bca_1af2_86bc_a1b0,
    0x6666_6666_6666_6667,
    0x6186_1861_8618_6187,
    0x5d17_45d1_745d_1746,
    0x590b_2164_2c85_90b3,
    0x5555_5555_5555_5556,
    0x51eb_851e_b851_eb86,
    0x4ec4_ec4e_c4ec_4ec5,
    0x4bda_12f6_84bd_a130,
    0x4924_9249_2492_4925,
    0x469e_e584_69ee_5847,
    0x4444_4444_4444_4445,
    0x4210_8421_0842_1085,
];
/// Their logarithms with the other sign, as fractions of 2^64.
const LOGARITHMS: [u64; 16] = [
    0x0000_0000_0000_0000,
    0x0f85_1860_08b1_5330,
    0x1e27_076e_2af2_e5e8,
    0x2bfe_60e1_4f27_a78f,
    0x391f_ef8f_3534_4357,
    0x459d_72ae_ae98_380c,
    0x5186_2f08_717b_09f4,
    0x5ce7_5fda_ef40_1a71,
    0x67cc_8fb2_fe61_2fc9,
    0x723f_df1e_6a68_86ae,
    0x7c4a_3d7e_bc1b_b2cd,
    0x85f3_9721_2954_15b3,
    0x8f42_faf3_8206_81ee,
    0x983e_b99a_7885_f0fc,
    0xa0ec_7f42_3395_7320,
    0xa951_6932_de2d_5770,
];
/// 1/15, 1/14, ... 1/2 as fractions of 2^64; the sixteenth term is below 2^-68.
const INVERSES: [u64; 14] = [
    0x1111_1111_1111_1111,
    0x1249_2492_4924_9249,
    0x13b1_3b13_b13b_13b1,
    0x1555_5555_5555_5555,
    0x1745_d174_5d17_45d1,
    0x1999_9999_9999_9999,
    0x1c71_c71c_71c7_1c71,
    0x2000_0000_0000_0000,
    0x2492_4924_9249_2492,
    0x2aaa_aaaa_aaaa_aaaa,
    0x3333_3333_3333_3333,
    0x4000_0000_0000_0000,
    0x5555_5555_5555_5555,
    0x8000_0000_0000_0000,
];
/// ln 2 as a fraction of 2^64.
const LN_2: i128 = 0xb172_17f7_d1cf_79ac;

impl<const F: u32> Number for Fix<F> {
    const SPARE: u32 = 62 - F;

    fn of(x: f64) -> Self {
        Self(libm::round(x * (1u64 << F) as f64) as i64)
    }
    fn value(self) -> f64 {
        self.0 as f64 / (1u64 << F) as f64
    }

    /// e to the power of `self`: monotone, within 0.51 units of the last place, and within 2 where the result exceeds
    /// 1/256 of the range.
    ///
    /// Before its last rounding the result is relatively exact to 2^-61, and the exponentials of neighbours are 2^-F
    /// apart: that is why it is monotone.
    fn exp(self) -> Self {
        const { assert!(16 <= F && F <= 62, "exp needs 16 bits behind the point and one before it") };
        let (negative, x) = (self.0 < 0, self.0.unsigned_abs());
        if x >> F >= 64 {
            return Self(if negative { 0 } else { i64::MAX });
        }
        // At most one step too few. The remainder is below one, so what wraps around in its making does not matter.
        let mut n = ((x >> (F - 16)) * STEPS_PER_ONE) >> 48;
        let reached = |n: u64| n.wrapping_mul(STEP).wrapping_add((n * STEP_BELOW) >> 32);
        let (mut r, places);
        if negative {
            n += 1;
            r = reached(n).wrapping_sub(x << (64 - F));
            if r >> 63 != 0 {
                n += 1;
                r = r.wrapping_add(STEP);
            }
            places = u64::from(63 - F) + n.div_ceil(16);
            n = 0u64.wrapping_sub(n);
        } else {
            r = (x << (64 - F)).wrapping_sub(reached(n));
            if r >= STEP {
                n += 1;
                r -= STEP;
            }
            if n / 16 >= u64::from(63 - F) {
                return Self(i64::MAX);
            }
            places = u64::from(63 - F) - n / 16;
        }
        if places > 64 {
            return Self(0);
        }
        let series = SERIES.iter().fold(0, |sum, term| term + high(r, sum));
        let power = POWERS[(n % 16) as usize];
        // exp(r) = 1 + (r + r^2 series), in 1.63 bits, with one bit kept for rounding.
        let doubled = (power + high(power, r + high(r, high(r, series)))) >> (places - 1);
        Self(signed(false, u128::from(doubled / 2 + doubled % 2)))
    }

    /// The natural logarithm, within 0.51 units of the last place; of zero and below it the least number there is.
    fn ln(self) -> Self {
        if self.0 <= 0 {
            return Self(i64::MIN);
        }
        let m = (self.0 as u64) << self.0.leading_zeros();
        let e = 63 - i128::from(self.0.leading_zeros()) - i128::from(F);
        let at = (m >> 59 & 15) as usize;
        // A product of two numbers of 1.63 bits has two before the point, and this one is 1 + r: the shift leaves r.
        let r = high(m, RECIPROCALS[at]) << 2;
        // ln(1 + r) = r - r^2 (1/2 - r (1/3 - ... 1/15)).
        let series = INVERSES.iter().fold(0, |sum, term| term - high(r, sum));
        let part = LOGARITHMS[at] + (r - high(r, high(r, series)));
        let ln = e * LN_2 + i128::from(part);
        Self(signed(ln < 0, (ln.unsigned_abs() + (1 << (63 - F))) >> (64 - F)))
    }

    #[inline]
    fn difference([a, x]: [Self; 2], [b, y]: [Self; 2], places: u32) -> Self {
        // Neither product reaches 2^126 with both signs, so that their difference fits.
        let exact = i128::from(a.0) * i128::from(x.0) - i128::from(b.0) * i128::from(y.0);
        let places = F + places;
        Self(signed(exact < 0, (exact.unsigned_abs() + (1 << (places - 1))) >> places))
    }

    #[inline]
    fn min(self, o: Self) -> Self {
        Ord::min(self, o)
    }
    #[inline]
    fn max(self, o: Self) -> Self {
        Ord::max(self, o)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Q = Fix<32>;
    const ONE: i64 = 1 << 32;

    fn q(raw: i64) -> Q {
        Fix(raw)
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        let half = Q::of(0.5);
        assert_eq!([1, 3, -1, -3].map(|x| (q(x) * half).0), [1, 2, -1, -2]);
        assert_eq!([1, 3, -1, -3].map(|x| (q(x) / Q::of(2.0)).0), [1, 2, -1, -2]);
        assert_eq!([0.5, 1.5, -0.5, -1.5].map(|x| Q::of(x / 4_294_967_296.0).0), [1, 2, -1, -2]);
    }

    #[test]
    fn nothing_wraps() {
        let (most, least) = (q(i64::MAX), q(i64::MIN));
        assert_eq!((most + q(1), least - q(1), -least), (most, least, most));
        assert_eq!((most * most, most * least, least * least), (most, least, most));
        assert_eq!((most / q(1), least / q(1), least / q(-1)), (most, least, most));
        assert_eq!((most * q(ONE), least * q(ONE), least / q(ONE)), (most, least, least));
        assert_eq!((Q::of(1e300), Q::of(-1e300), Q::of(f64::NAN)), (most, least, q(0)));
    }

    #[test]
    fn a_division_by_zero_saturates_by_sign() {
        assert_eq!([1, -1, 0].map(|x| (q(x) / q(0)).0), [i64::MAX, i64::MIN, 0]);
    }

    #[test]
    fn exp_and_ln_at_their_ends() {
        assert_eq!((q(0).exp(), q(ONE).ln()), (q(ONE), q(0)));
        assert_eq!(q(ONE).exp().0, 11_674_931_555, "e, times 2^32");
        // 31 ln 2 = 21.4875626 is where the range ends, and -33 ln 2 = -22.8738570 where half a unit is left.
        assert!(Q::of(21.487_562_5).exp().0 < i64::MAX && Q::of(21.487_562_6).exp().0 == i64::MAX);
        assert_eq!((Q::of(-22.873_8).exp().0, Q::of(-22.873_9).exp().0), (1, 0));
        assert_eq!((q(i64::MAX).exp().0, q(i64::MIN).exp().0), (i64::MAX, 0));
        assert_eq!((q(0).ln().0, q(-1).ln().0, q(1).ln()), (i64::MIN, i64::MIN, Q::of(-22.180_709_777_918_25)));
        assert_eq!((Fix::<48>::of(11.0).exp().0, Fix::<48>::of(-40.0).exp().0), (i64::MAX, 0));
    }
}
