//! Fixed point against the truth: exact integers for products and quotients, 120 bits for the exponential.

use penstock_law::{Fix, Number};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Integers of every size, both signs, and the ends of the range.
fn any_size() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => (any::<i64>(), 0u32..64).prop_map(|(x, shift)| x >> shift),
        1 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, 1 << 32, 1 << 48, i64::MAX - 1, i64::MAX]),
    ]
}

fn saturated(x: i128) -> i64 {
    i64::try_from(x).unwrap_or(if x < 0 { i64::MIN } else { i64::MAX })
}

/// `x / by`, half away from zero, `by` positive: the definition, without shifts or magnitudes.
fn rounded(x: i128, by: i128) -> i128 {
    let floor = x.div_euclid(by);
    match (2 * x.rem_euclid(by)).cmp(&by) {
        core::cmp::Ordering::Less => floor,
        core::cmp::Ordering::Equal => floor + i128::from(x > 0),
        core::cmp::Ordering::Greater => floor + 1,
    }
}

fn products_and_quotients_are_nearest<const F: u32>() {
    let mut runner = TestRunner::new_with_rng(
        Config { cases: 50_000, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let check = |(a, b): (i64, i64)| {
        let (wide_a, wide_b) = (i128::from(a), i128::from(b));
        prop_assert_eq!((Fix::<F>(a) + Fix(b)).0, saturated(wide_a + wide_b));
        prop_assert_eq!((Fix::<F>(a) - Fix(b)).0, saturated(wide_a - wide_b));
        prop_assert_eq!((-Fix::<F>(a)).0, saturated(-wide_a));
        prop_assert_eq!((Fix::<F>(a) * Fix(b)).0, saturated(rounded(wide_a * wide_b, 1 << F)));
        if b != 0 {
            let want = rounded((wide_a << F) * wide_b.signum(), wide_b.abs());
            prop_assert_eq!((Fix::<F>(a) / Fix(b)).0, saturated(want));
        }
        Ok(())
    };
    runner.run(&(any_size(), any_size()), check).unwrap();
}

#[test]
fn products_and_quotients_of_32_bits_are_nearest() {
    products_and_quotients_are_nearest::<32>();
}

#[test]
fn products_and_quotients_of_48_bits_are_nearest() {
    products_and_quotients_are_nearest::<48>();
}

// The truth for the exponential, in 120 bits behind the point, by the plain series without a table.

const LN_2: u128 = 0x00b1_7217_f7d1_cf79_abc9_e3b3_9803_f2f6;

fn times(a: u128, b: u128) -> u128 {
    let half = |x: u128| (x >> 64, x & u128::from(u64::MAX));
    let ((a1, a0), (b1, b0)) = (half(a), half(b));
    let (mid, low) = (a1 * b0 + ((a0 * b0) >> 64), a0 * b1);
    let carry = ((mid & u128::from(u64::MAX)) + (low & u128::from(u64::MAX))) >> 64;
    let (upper, next) = (a1 * b1 + (mid >> 64) + (low >> 64) + carry, (mid as u64).wrapping_add(low as u64));
    upper << 8 | u128::from(next >> 56)
}

/// `got`, minus exp(x / 2^F), in units of the last place.
fn error_of_exp<const F: u32>(x: i64, got: i64) -> f64 {
    let size = u128::from(x.unsigned_abs()) << (120 - F);
    let (octaves, r) = if x < 0 {
        let octaves = size.div_ceil(LN_2);
        (-(octaves as i32), octaves * LN_2 - size)
    } else {
        ((size / LN_2) as i32, size % LN_2)
    };
    let (mut term, mut sum) = (1u128 << 120, 0u128);
    for n in 1..40 {
        sum += term;
        term = times(term, r) / n;
    }
    let places = 120 - octaves - F.cast_signed();
    let whole = sum.checked_shr(places as u32).unwrap_or(0);
    let part = sum - whole.checked_shl(places as u32).unwrap_or(0);
    (i128::from(got) - whole.cast_signed()) as f64 - libm::ldexp(part as f64, -places)
}

/// Worst error where the result is below 1/256 of the range, and where it is above. Checks monotony on the way.
fn worst_errors_of_exp<const F: u32>() -> (f64, f64) {
    let unit = libm::ldexp(1.0, F.cast_signed());
    let (first, last) = (-f64::from(F + 2) * core::f64::consts::LN_2, f64::from(63 - F) * core::f64::consts::LN_2);
    let mut places: Vec<i64> = Vec::new();
    // Where the reduction changes its step, and where an octave begins.
    for n in -16 * (i64::from(F) + 2)..=16 * (63 - i64::from(F)) {
        places.push((n as f64 * core::f64::consts::LN_2 / 16.0 * unit) as i64);
    }
    // Everywhere else, evenly, by the golden ratio.
    for i in 0..200_000u64 {
        let share = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) as f64 / 18_446_744_073_709_551_616.0;
        places.push(((first + share * (last - first)) * unit) as i64);
    }
    let (mut small, mut large) = (0.0f64, 0.0f64);
    for place in places {
        let mut before = 0;
        for x in place - 3..=place + 3 {
            let got = Fix::<F>(x).exp().0;
            assert!(got >= before, "not monotone at {x}");
            before = got;
            if got < i64::MAX {
                let error = error_of_exp::<F>(x, got).abs();
                let worst = if got < 1 << 55 { &mut small } else { &mut large };
                *worst = f64::max(*worst, error);
            }
        }
    }
    (small, large)
}

#[test]
fn exp_of_32_bits_is_monotone_and_within_its_stated_error() {
    let (small, large) = worst_errors_of_exp::<32>();
    println!("exp, 32 bits: worst error {small:.4} units below 2^23, {large:.4} above");
    assert!(small < 0.51 && large < 2.0, "{small} {large}");
}

#[test]
fn exp_of_48_bits_is_monotone_and_within_its_stated_error() {
    let (small, large) = worst_errors_of_exp::<48>();
    println!("exp, 48 bits: worst error {small:.4} units below 2^7, {large:.4} above");
    assert!(small < 0.51 && large < 2.0, "{small} {large}");
}

/// The truth itself is right where it is known: e to 30 digits, and its square and inverse.
#[test]
fn the_oracle_knows_e() {
    for (x, e) in [(1, core::f64::consts::E), (2, 7.389_056_098_930_65), (-1, 0.367_879_441_171_442_3)] {
        let error = error_of_exp::<32>(x << 32, (e * 4_294_967_296.0).round() as i64);
        assert!(error.abs() <= 0.5, "{x}: {error}");
    }
}

/// The error of `ln`, in units of the last place: ln x - y = ln(x / exp y), which is nearly x / exp y - 1.
fn worst_error_of_ln<const F: u32>() -> f64 {
    let mut worst = 0.0f64;
    for i in 0..200_000u64 {
        let x = ((i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1) >> (i % 63)).max(1).cast_signed();
        let y = Fix::<F>(x).ln();
        worst = f64::max(worst, libm::ldexp(error_of_exp::<F>(y.0, x) / x as f64, F.cast_signed()).abs());
    }
    worst
}

#[test]
fn ln_is_within_its_stated_error() {
    let (narrow, wide) = (worst_error_of_ln::<32>(), worst_error_of_ln::<48>());
    println!("ln: worst error {narrow:.4} units of 32 bits, {wide:.4} of 48");
    assert!(narrow < 0.51 && wide < 0.51, "{narrow} {wide}");
}

/// exp undoes ln: to the last place of 48 bits where exp does not magnify it.
#[test]
fn exp_undoes_ln() {
    for i in 1..20_000i64 {
        let x = i << 35;
        let back = Fix::<48>(x).ln().exp().0;
        let unit = (x >> 48) + 2;
        assert!((back - x).abs() <= unit, "{x} came back as {back}");
    }
}
