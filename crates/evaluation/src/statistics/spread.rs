//! The spread of the runs of a cell.

use serde::Serialize;

use super::dip::{dip, dip_critical};
use super::interval::{mean, standard_deviation};

/// The spread of the numbers of a cell's runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Spread {
    /// All are equal: the seed plays no part, and an interval would mean nothing.
    Deterministic,
    /// Around several values, or further apart than their mean is large: a mean would mislead.
    Bimodal,
    /// Around one value.
    Single,
}

/// The spread of `values`, each of one run; for quantities that are not below zero, not for differences.
///
/// They are bimodal where their standard deviation exceeds their mean, or, from ten values on, where their dip refuses one
/// mode at 5 %. None for fewer than two values, and for one that is not finite.
pub fn spread(values: &[f64]) -> Option<Spread> {
    let (mean, sd) = (mean(values)?, standard_deviation(values)?);
    Some(if values.windows(2).all(|pair| pair[0] == pair[1]) {
        Spread::Deterministic
    } else if sd > mean.abs() || !one_mode(values) {
        Spread::Bimodal
    } else {
        Spread::Single
    })
}

/// True if the test does not refuse one mode: from ten values on, their dip does not refuse it at 5 %.
pub fn one_mode(values: &[f64]) -> bool {
    dip_critical(values.len()).zip(dip(values)).is_none_or(|(most, dip)| dip <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_lie_in_three_ways() {
        assert_eq!(spread(&[0.1; 10]), Some(Spread::Deterministic));
        assert_eq!(spread(&[1.0, 1.1, 0.9]), Some(Spread::Single));
        // Starved or not: standard deviation 5.0, mean 3.4.
        assert_eq!(spread(&[0.1, 0.2, 0.1, 9.0, 9.0, 0.1, 0.2, 9.1]), Some(Spread::Bimodal));
        let camps: Vec<f64> = (0..10).map(|n| if n < 5 { 5.0 } else { 6.0 } + f64::from(n) * 0.01).collect();
        assert_eq!(spread(&camps), Some(Spread::Bimodal));
        // Two camps of four: too few for the dip to say.
        assert_eq!(spread(&camps[1..9]), Some(Spread::Single));
        let even: Vec<f64> = (0..10).map(|n| 5.0 + f64::from(n) * 0.1).collect();
        assert_eq!(spread(&even), Some(Spread::Single));
    }

    #[test]
    fn too_little_lies_nowhere() {
        for values in [&[][..], &[1.0], &[1.0, f64::NAN], &[f64::INFINITY; 2]] {
            assert_eq!(spread(values), None, "{values:?}");
        }
    }
}
