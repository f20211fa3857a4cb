//! Confidence intervals of a mean over seeds.

use crate::student::student_quantile;

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
    let degrees = count as f64 - 1.0;
    student_quantile(0.95, degrees).unwrap_or(f64::INFINITY) * sd / (count as f64).sqrt()
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
            let count = degrees + 1;
            let found = half_width(count, (count as f64).sqrt());
            assert!((found - t).abs() < 1e-4, "{degrees}: {found}");
        }
    }
}
