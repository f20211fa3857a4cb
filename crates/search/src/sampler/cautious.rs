//! The promise of a candidate by the scores of a few seeds: by a bound below their mean, so that luck with few seeds does not count
//! as a failure of the law.

/// The mean less two standard errors, `mean - 2 SD / sqrt(n)`. A single score counts as it is. [`f64::NEG_INFINITY`] if there is
/// none, or if any is not finite.
pub(crate) fn cautious(scores: &[f64]) -> f64 {
    if scores.is_empty() || scores.iter().any(|score| !score.is_finite()) {
        return f64::NEG_INFINITY;
    }
    let n = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / n;
    if scores.len() == 1 {
        return mean;
    }
    let variance = scores.iter().map(|score| (score - mean) * (score - mean)).sum::<f64>() / (n - 1.0);
    mean - 2.0 * libm::sqrt(variance / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_two_standard_errors_below_the_mean() {
        // Mean 0.5, SD 0.1 sqrt(8/3) over four scores: 2 SD / 2 = 0.1633.
        let scores = [0.3, 0.5, 0.5, 0.7];
        assert!((cautious(&scores) - (0.5 - libm::sqrt(0.08 / 3.0))).abs() < 1e-15);
        assert_eq!(cautious(&[0.7]), 0.7);
        assert_eq!(cautious(&[0.7; 2]), 0.7);
        for not_admissible in [&[][..], &[f64::NEG_INFINITY], &[0.5, f64::NEG_INFINITY], &[f64::NAN], &[f64::INFINITY]]
        {
            assert_eq!(cautious(not_admissible), f64::NEG_INFINITY);
        }
    }
}
