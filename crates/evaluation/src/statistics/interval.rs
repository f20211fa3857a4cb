//! Confidence intervals of a mean.

use serde::{Deserialize, Serialize};

use penstock_scenario::student::student_quantile;

/// A number with its confidence interval, all in the number's own unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The estimate: the mean, or the result of a bootstrap.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The runs behind it.
    pub n: usize,
    /// Its level, such as 0.95.
    pub level: f64,
}

impl Interval {
    /// The interval of a ratio, from that of its logarithm.
    #[must_use]
    pub fn exp(self) -> Self {
        let Self { estimate, low, high, n, level } = self;
        Self { estimate: libm::exp(estimate), low: libm::exp(low), high: libm::exp(high), n, level }
    }

    /// True if `value` lies in it, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// Student's interval for the mean of `values` on n - 1 degrees of freedom; `level` lies between 0 and 1.
///
/// Equal values give an interval without width: such a cell is deterministic (see [`super::spread`]).
/// None for fewer than two values, for one that is not finite, and for sums beyond the range of numbers.
pub fn interval(values: &[f64], level: f64) -> Option<Interval> {
    let (estimate, sd) = (mean(values)?, standard_deviation(values)?);
    let n = values.len();
    let half = student_quantile(level, n as f64 - 1.0)? * sd / (n as f64).sqrt();
    let (low, high) = (estimate - half, estimate + half);
    (low.is_finite() && high.is_finite()).then_some(Interval { estimate, low, high, n, level })
}

/// The mean; none for no values, and where one or their sum is not finite.
pub fn mean(values: &[f64]) -> Option<f64> {
    let (least, largest) = (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    // Rounding must not put the mean of equal values outside of them.
    mean.is_finite().then(|| mean.clamp(least, largest))
}

/// The standard deviation of a sample, with n - 1 in the denominator; none for fewer than two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    let sd = (squares / (values.len() as f64 - 1.0)).sqrt();
    sd.is_finite().then_some(sd)
}

/// The value below which a `share` of the values lies, from 0 to 1, on a line between neighbours (Hyndman and Fan, type 7).
///
/// None for no values, for one that is not finite, and for another share.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    if values.is_empty() || values.iter().any(|x| !x.is_finite()) || !(0.0..=1.0).contains(&share) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor();
    let (a, b) = (*sorted.get(below as usize)?, *sorted.get(place.ceil() as usize)?);
    // A weighted mean: the difference of two finite values may be beyond the range of numbers.
    let part = place - below;
    Some(if a == b { a } else { (1.0 - part) * a + part * b })
}

/// The median, as [`quantile`] computes it.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's own data (Biometrika 1908, table of Cushny and Peebles): the differences of ten patients.
    /// R: `with(sleep, t.test(extra[group == 2] - extra[group == 1]))` prints 0.7001142 and 2.4598858.
    #[test]
    fn students_sleep_data_have_his_interval() {
        let hours = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let found = interval(&hours, 0.95).unwrap();
        assert!((found.estimate - 1.58).abs() < 1e-12 && found.n == 10);
        assert!((found.low - 0.700_114_2).abs() < 1e-7 && (found.high - 2.459_885_8).abs() < 1e-7, "{found:?}");
        // sd 1.229995, t 4.780913 at 99.9 %: 1.58 - 4.780913 * 0.388959 is -0.279579.
        assert!((interval(&hours, 0.999).unwrap().low + 0.279_579).abs() < 1e-5);
        assert!(found.contains(1.58) && found.contains(found.low) && !found.contains(0.7));
    }

    #[test]
    fn the_interval_of_a_ratio_is_around_the_geometric_mean() {
        let found = interval(&[0.0, libm::log(4.0)], 0.5).unwrap().exp();
        // Quantile 1 for one degree of freedom, standard error of the logarithm ln 2: from 2 / 2 to 2 * 2.
        assert!((found.estimate - 2.0).abs() < 1e-12, "{found:?}");
        assert!((found.low - 1.0).abs() < 1e-9 && (found.high - 4.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn too_little_has_no_interval() {
        for values in
            [&[][..], &[1.0], &[1.0, f64::NAN], &[1.0, f64::INFINITY], &[f64::MAX, f64::MAX], &[-1e300, 1e300]]
        {
            assert_eq!(interval(values, 0.95), None, "{values:?}");
        }
        for level in [0.0, 1.0, f64::NAN] {
            assert_eq!(interval(&[1.0, 2.0], level), None);
        }
        assert_eq!((mean(&[]), standard_deviation(&[3.0]), quantile(&[], 0.5)), (None, None, None));
        assert_eq!((quantile(&[1.0], 1.5), quantile(&[f64::NAN], 0.5)), (None, None));
    }

    #[test]
    fn equal_values_have_no_width() {
        let found = interval(&[0.1; 7], 0.95).unwrap();
        assert_eq!((found.low, found.estimate, found.high), (0.1, 0.1, 0.1));
    }

    #[test]
    fn quantiles_lie_on_lines_between_values() {
        let values = [3.0, 1.0, 2.0, 4.0];
        let found = [0.0, 0.25, 0.5, 1.0].map(|share| quantile(&values, share).unwrap());
        assert_eq!(found, [1.0, 1.75, 2.5, 4.0]);
        assert_eq!(median(&[-f64::MAX, f64::MAX]), Some(0.0));
    }
}
