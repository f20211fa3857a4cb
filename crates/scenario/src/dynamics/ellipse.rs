//! The ellipse of queueing delay and goodput.

/// Two numbers that vary together: medians for the centre, and the second moments of a normal distribution, whose contour at
/// one standard deviation is the ellipse. (RFC 7928, section 2.7.)
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ellipse {
    /// Medians of the first and of the second.
    pub medians: (f64, f64),
    /// Their standard deviations.
    pub sds: (f64, f64),
    /// Their correlation, from -1 to 1; none where one of them is constant.
    pub correlation: Option<f64>,
}

impl Ellipse {
    /// Of samples of both; none of fewer than two.
    pub fn of(samples: &[(f64, f64)]) -> Option<Self> {
        let count = samples.len() as f64;
        if samples.len() < 2 {
            return None;
        }
        let mean = |f: &dyn Fn(&(f64, f64)) -> f64| samples.iter().map(f).sum::<f64>() / count;
        let (x, y) = (mean(&|s| s.0), mean(&|s| s.1));
        let product = |f: &dyn Fn(f64, f64) -> f64| mean(&|s| f(s.0 - x, s.1 - y));
        let sds = (product(&|x, _| x * x).sqrt(), product(&|_, y| y * y).sqrt());
        let varies = sds.0 > 0.0 && sds.1 > 0.0;
        Some(Self {
            medians: (median(samples.iter().map(|s| s.0)), median(samples.iter().map(|s| s.1))),
            sds,
            correlation: varies.then(|| (product(&|x, y| x * y) / (sds.0 * sds.1)).clamp(-1.0, 1.0)),
        })
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means of 2.5 and 5, medians of 2 and 5; deviations -1.5, -0.5, -0.5, 2.5 and 1, -1, 1, -1: variances 2.25 and 1, a
    /// covariance of -1.
    #[test]
    fn moments_of_four_points() {
        let ellipse = Ellipse::of(&[(1.0, 6.0), (2.0, 4.0), (2.0, 6.0), (5.0, 4.0)]).unwrap();
        assert_eq!((ellipse.medians, ellipse.sds), ((2.0, 5.0), (1.5, 1.0)));
        assert!(ellipse.correlation.is_some_and(|r| (r + 2.0 / 3.0).abs() < 1e-12), "{ellipse:?}");
        let constant = Ellipse::of(&[(1.0, 2.0), (3.0, 2.0), (1.0, 2.0)]).unwrap();
        assert_eq!((constant.medians.0, constant.sds.1, constant.correlation), (1.0, 0.0, None));
        assert_eq!(Ellipse::of(&[(1.0, 2.0)]), None);
    }
}
