//! Student's t distribution.

use special::Beta;

/// The probability that Student's t with `degrees` of freedom exceeds `t`, from 0 to 1.
///
/// None where `degrees` is not a finite number above zero or `t` is not a number.
///
/// Source: Abramowitz and Stegun, 26.7.1 with 26.5.27, the incomplete beta function of the crate `special`. Beyond 100,000
/// degrees of freedom it is the normal distribution, less than 2e-6 away.
pub fn student_tail(t: f64, degrees: f64) -> Option<f64> {
    if t.is_nan() || !degrees.is_finite() || degrees <= 0.0 {
        return None;
    }
    // The series of the incomplete beta function has a number of terms in proportion to the degrees.
    if degrees > 1e5 {
        return Some(0.5 * libm::erfc(t * std::f64::consts::FRAC_1_SQRT_2));
    }
    let (p, q) = (0.5 * degrees, 0.5);
    let x = degrees / (degrees + t * t);
    let both = x.inc_beta(p, q, p.ln_beta(q)).clamp(0.0, 1.0);
    Some(if t >= 0.0 { 0.5 * both } else { 1.0 - 0.5 * both })
}

/// The number that Student's t with `degrees` of freedom exceeds, up or down, with the probability 1 - `level`.
///
/// `student_quantile(0.95, 9.0)` is 2.262, half the width of a 95 % interval over ten runs in standard errors.
/// None where `level` is not between 0 and 1, or `degrees` is not a finite number above zero.
pub fn student_quantile(level: f64, degrees: f64) -> Option<f64> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    let outside = 0.5 * (1.0 - level);
    let beyond = |t: f64| student_tail(t, degrees);
    let (mut low, mut high) = (0.0, 1.0);
    while beyond(high)? > outside {
        (low, high) = (high, 2.0 * high);
    }
    // Halving ends where no number lies between: in 60 steps, as the ends differ by a factor of two, or start at zero.
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if beyond(middle)? > outside {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Abramowitz and Stegun, table 26.10, and the closed forms for one and two degrees of freedom.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (level, degrees, t) in [
            (0.95, 2.0, 4.303),
            (0.95, 9.0, 2.262),
            (0.95, 29.0, 2.045),
            (0.95, 99.0, 1.984),
            (0.90, 9.0, 1.833),
            (0.99, 9.0, 3.250),
            (0.999, 9.0, 4.781),
            (0.999, 29.0, 3.659),
            (0.999, 120.0, 3.373),
            (0.5, 9.0, 0.703),
        ] {
            let found = student_quantile(level, degrees).unwrap();
            assert!((found - t).abs() < 6e-4, "{level} {degrees}: {found}, the table has {t}");
        }
        for level in [0.01, 0.5, 0.95, 0.999, 0.999_999] {
            let one = libm::tan(0.5 * std::f64::consts::PI * level);
            let two = level * (2.0 / ((1.0 - level) * (1.0 + level))).sqrt();
            for (degrees, t) in [(1.0, one), (2.0, two)] {
                let found = student_quantile(level, degrees).unwrap();
                assert!((found / t - 1.0).abs() < 1e-8, "{level} {degrees}: {found}, {t}");
            }
        }
    }

    /// For many degrees of freedom v the quantile is z + (z^3 + z) / (4 v), z = 1.959964 (Abramowitz and Stegun, 26.7.5).
    #[test]
    fn many_degrees_of_freedom_are_normal() {
        for (degrees, t) in [(1e4, 1.960_201), (1e7, 1.959_964), (1e300, 1.959_964)] {
            let found = student_quantile(0.95, degrees).unwrap();
            assert!((found - t).abs() < 2e-6, "{degrees}: {found}, {t}");
        }
        let (series, normal) = (student_tail(2.0, 1e5).unwrap(), student_tail(2.0, 1e5 + 1.0).unwrap());
        assert!(series != normal && (series - normal).abs() < 2e-6, "{series} {normal}");
    }

    #[test]
    fn the_tail_is_a_probability() {
        for degrees in [0.001, 1.0, 9.0, 99.0, 1e6] {
            let mut before = 1.0;
            for t in [f64::NEG_INFINITY, -1e200, -40.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 40.0, 1e200, f64::INFINITY] {
                let tail = student_tail(t, degrees).unwrap();
                assert!((0.0..=1.0).contains(&tail) && tail <= before, "{t} {degrees}: {tail} after {before}");
                let mirrored = student_tail(-t, degrees).unwrap();
                assert!((tail + mirrored - 1.0).abs() < 1e-12);
                before = tail;
            }
        }
        // pt(2, 4) of R is 0.9419417.
        assert!((student_tail(2.0, 4.0).unwrap() - 0.058_058_3).abs() < 1e-7);
    }

    #[test]
    fn what_is_no_number_has_no_answer() {
        assert_eq!(student_tail(f64::NAN, 1.0), None);
        for degrees in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!((student_tail(1.0, degrees), student_quantile(0.95, degrees)), (None, None));
        }
        for level in [0.0, 1.0, -0.5, 95.0, f64::NAN] {
            assert_eq!(student_quantile(level, 9.0), None);
        }
    }
}
