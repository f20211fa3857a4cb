//! Times and sizes that a scenario leaves to chance.

use penstock_law::quantity::{Bytes, Time};

use crate::model::{Distribution, Size, Span};
use crate::seed::Stream;

impl Span {
    /// A time from the stream; nothing is drawn of a fixed one.
    pub fn draw(&self, stream: &mut Stream) -> Time {
        Time(match *self {
            Self::Fixed(t) => t.0,
            Self::Uniform(a, b) => a.0 + (stream.unit() * (b.0 - a.0) as f64) as u64,
            // 1 - u is above zero, so both are finite.
            Self::Exponential(mean) => (-libm::log(1.0 - stream.unit()) * mean.0 as f64) as u64,
            Self::Pareto { mean, shape } => pareto(mean.0 as f64, shape, stream) as u64,
        })
    }
}

impl Size {
    /// A transfer's size from the stream, at least a byte; nothing is drawn of a fixed one.
    pub fn draw(&self, stream: &mut Stream) -> Bytes {
        match self {
            Self::Each(bytes) => *bytes,
            Self::Pareto { mean, shape } => Bytes((pareto(mean.0 as f64, *shape, stream) as u64).max(1)),
            Self::Measured(distribution) => Bytes((distribution.quantile(stream.unit()) as u64).max(1)),
        }
    }
}

impl Distribution {
    /// The size that this share of the transfers, 0 to below 1, does not exceed [B].
    fn quantile(&self, share: f64) -> f64 {
        // The last share is 1, so there is a point above.
        let above = self.points.partition_point(|(_, of)| *of <= share);
        let Some((size, of)) = self.points.get(above).copied() else { return 1.0 };
        match above.checked_sub(1).map(|below| self.points[below]) {
            Some((least, from)) => least + (size - least) * ((share - from) / (of - from)),
            // All transfers up to the share of the first point have its size.
            None => size,
        }
    }
}

/// Pareto with mean `m` and shape `a`: `m (a - 1)/a u^(-1/a)`.
fn pareto(mean: f64, shape: f64, stream: &mut Stream) -> f64 {
    mean * (shape - 1.0) / shape * libm::pow(1.0 - stream.unit(), -1.0 / shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Draws from points have the shares of the points, and lie on the line between them.
    #[test]
    fn draws_from_points_lie_on_the_lines_between_them() {
        let points = vec![(100.0, 0.25), (200.0, 0.5), (200.0, 0.75), (1000.0, 1.0)];
        let origin = crate::model::Origin::Known("x".into());
        let size = Size::Measured(Distribution { origin, points: points.into() });
        let mut stream = Seed(5).stream("x");
        let draws: Vec<u64> = (0..400_000).map(|_| size.draw(&mut stream).0).collect();
        let upto = |most: u64| draws.iter().filter(|x| **x <= most).count() as f64 / 4e5;
        for (most, share) in [(99, 0.0), (100, 0.25), (150, 0.375), (199, 0.5), (200, 0.75), (600, 0.875), (1000, 1.0)]
        {
            assert!((upto(most) - share).abs() < 4e-3, "{most}: {}", upto(most));
        }
    }

    /// Means and tails of draws: a Pareto of shape 3 exceeds twice its mean with chance (2/3 / 2)^3.
    #[test]
    fn draws_have_the_means_and_tails_they_should() {
        let mut stream = Seed(5).stream("x");
        let mean = Time(1_000_000);
        let mut draws = |span: Span| -> Vec<u64> { (0..1_000_000).map(|_| span.draw(&mut stream).0).collect() };
        for span in
            [Span::Exponential(mean), Span::Pareto { mean, shape: 3.0 }, Span::Uniform(Time(0), Time(2_000_000))]
        {
            let draws = draws(span);
            let average = draws.iter().sum::<u64>() as f64 / 1e12;
            assert!((average - 1.0).abs() < 0.01, "{span:?}: {average}");
        }
        let over = draws(Span::Pareto { mean, shape: 3.0 }).iter().filter(|x| **x > 2_000_000).count() as f64 / 1e6;
        assert!((over - 1.0 / 27.0).abs() < 1e-3, "{over}");
        let over = draws(Span::Exponential(mean)).iter().filter(|x| **x > 2_000_000).count() as f64 / 1e6;
        assert!((over - libm::exp(-2.0)).abs() < 2e-3, "{over}");
        assert_eq!(Size::Each(Bytes(7)).draw(&mut stream), Bytes(7));
    }
}
