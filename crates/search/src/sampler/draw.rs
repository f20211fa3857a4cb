//! Draws of other distributions from a stream of uniform ones.

use penstock_scenario::seed::Stream;

/// Uniform in 0 .. `n`, and 0 if `n` is 0.
pub(super) fn below(stream: &mut Stream, n: usize) -> usize {
    ((u128::from(stream.bits()) * n as u128) >> 64) as usize
}

/// One of a list, each as likely; none of an empty one.
pub(super) fn one_of<'a, T>(stream: &mut Stream, list: &'a [T]) -> Option<&'a T> {
    list.get(below(stream, list.len()))
}

/// The numbers 0 .. `n` in an order that is as likely as any other (Fisher and Yates).
pub(super) fn shuffled(stream: &mut Stream, n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        order.swap(last, below(stream, last + 1));
    }
    order
}

/// Geometric: 1 or more, with this mean.
pub(super) fn geometric(stream: &mut Stream, mean: f64) -> usize {
    if mean <= 1.0 {
        return 1;
    }
    // By inversion. 1 - unit() is in (0, 1], so that its logarithm is finite.
    let draw = libm::log(1.0 - stream.unit()) / libm::log1p(-1.0 / mean);
    1 + draw as usize
}

/// Normal, with mean 0 and standard deviation 1 (Box and Muller 1958; of each pair, one number is used).
pub(super) fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.unit()));
    radius * libm::cos(core::f64::consts::TAU * stream.unit())
}

#[cfg(test)]
mod tests {
    use penstock_scenario::seed::Seed;

    use super::*;

    const DRAWS: usize = 100_000;

    /// The mean of 100,000 draws is within five standard errors of what it should be.
    #[test]
    fn draws_have_the_mean_and_the_variance_of_their_distribution() {
        let mut stream = Seed(1).stream("draw");
        let mut moments = |draw: &mut dyn FnMut(&mut Stream) -> f64| {
            let draws: Vec<f64> = (0..DRAWS).map(|_| draw(&mut stream)).collect();
            let mean = draws.iter().sum::<f64>() / DRAWS as f64;
            (mean, draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / DRAWS as f64)
        };
        // Normal: the variance of a square is 2.
        let (mean, variance) = moments(&mut |stream| normal(stream));
        assert!(mean.abs() < 0.016 && (variance - 1.0).abs() < 0.023, "{mean} {variance}");
        // Geometric of mean 4: the variance is (1 - p) / p^2 = 12.
        let (mean, variance) = moments(&mut |stream| geometric(stream, 4.0) as f64);
        assert!((mean - 4.0).abs() < 0.055 && (variance - 12.0).abs() < 0.6, "{mean} {variance}");
        // Uniform in 0 .. 7: mean 3, variance 4.
        let (mean, variance) = moments(&mut |stream| below(stream, 7) as f64);
        assert!((mean - 3.0).abs() < 0.032 && (variance - 4.0).abs() < 0.06, "{mean} {variance}");
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut stream = Seed(2).stream("draw");
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..DRAWS {
            *seen.entry(shuffled(&mut stream, 4)).or_insert(0_usize) += 1;
        }
        // 24 orders; five standard deviations are 5 sqrt(100000 / 24) = 323.
        assert_eq!(seen.len(), 24);
        assert!(seen.values().all(|count| count.abs_diff(DRAWS / 24) < 323), "{seen:?}");
    }

    #[test]
    fn what_has_one_outcome_has_it() {
        let mut stream = Seed(3).stream("draw");
        assert_eq!((below(&mut stream, 0), below(&mut stream, 1), geometric(&mut stream, 1.0)), (0, 0, 1));
        assert_eq!(one_of(&mut stream, &[] as &[usize]), None);
        assert_eq!(shuffled(&mut stream, 0), [] as [usize; 0]);
    }
}
