//! How well a mean over seeds is known.

/// Half the width of Student's 95 % confidence interval for the mean of `numbers`; none for fewer than two.
///
/// ```
/// use penstock_scenario::interval::half_width_95;
/// assert!((half_width_95(&[1.0, 2.0, 3.0, 4.0]).unwrap() - 2.054_260).abs() < 1e-5);
/// assert_eq!(half_width_95(&[1.0]), None);
/// ```
pub fn half_width_95(numbers: &[f64]) -> Option<f64> {
    if numbers.len() < 2 {
        return None;
    }
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
    Some(half_width(numbers.len(), (squares / (n - 1.0)).sqrt()))
}

/// The same for `count` numbers, two at least, whose standard deviation is `sd`.
pub fn half_width(count: usize, sd: f64) -> f64 {
    student_975(count - 1) * sd / (count as f64).sqrt()
}

/// The 97.5 % quantile of Student's t distribution.
///
/// Source: the usual table up to ten degrees of freedom; beyond, Abramowitz and Stegun, 26.7.5, which is within 1e-5 there.
fn student_975(degrees: usize) -> f64 {
    const TABLE: [f64; 10] = [
        12.706_204_74,
        4.302_652_73,
        3.182_446_31,
        2.776_445_11,
        2.570_581_84,
        2.446_911_85,
        2.364_624_25,
        2.306_004_14,
        2.262_157_16,
        2.228_138_85,
    ];
    const Z: f64 = 1.959_963_984_540_054;
    if let Some(t) = degrees.checked_sub(1).and_then(|at| TABLE.get(at)) {
        return *t;
    }
    let (v, z2) = (degrees as f64, Z * Z);
    let g1 = (z2 + 1.0) / 4.0;
    let g2 = ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let g3 = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    let g4 = ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92_160.0;
    Z * (1.0 + (((g4 / v + g3) / v + g2) / v + g1) / v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_quantiles_are_those_of_the_tables() {
        for (degrees, t) in [
            (1, 12.7062),
            (4, 2.776_445),
            (9, 2.262_157),
            (11, 2.200_985),
            (19, 2.093_024),
            (29, 2.045_230),
            (99, 1.984_217),
        ] {
            assert!((student_975(degrees) - t).abs() < 1e-4, "{degrees}: {}", student_975(degrees));
        }
    }
}
