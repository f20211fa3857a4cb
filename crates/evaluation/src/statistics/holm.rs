//! Several tests at once.

use serde::Serialize;

use super::ALPHA;

/// A test among others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Holm {
    /// Its probability, adjusted for the number of tests, at most 1.
    pub p: f64,
    /// True if it stands at 5 % among the others.
    pub survives: bool,
}

/// Holm's correction of the probabilities of several tests, in their order: the probability that any true null hypothesis
/// is rejected stays below 5 %, whatever the tests have in common.
///
/// Source: Holm, Scandinavian Journal of Statistics 6 (1979). None where one of them is not from 0 to 1.
pub fn holm(p_values: &[f64]) -> Option<Vec<Holm>> {
    if p_values.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return None;
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![Holm { p: 1.0, survives: false }; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, at) in order.into_iter().enumerate() {
        let p = p_values[at] * (p_values.len() - rank) as f64;
        largest = largest.max(p.min(1.0));
        adjusted[at] = Holm { p: largest, survives: largest <= ALPHA };
    }
    Some(adjusted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")` is 0.03 0.06 0.06 0.02.
    #[test]
    fn the_known_example_is_adjusted() {
        let found = holm(&[0.01, 0.04, 0.03, 0.005]).unwrap();
        for (found, p) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found.p - p).abs() < 1e-12 && found.survives == (p <= 0.05), "{found:?} {p}");
        }
    }

    #[test]
    fn a_probability_stays_one() {
        let found = holm(&[0.5, 0.9, 0.6]).unwrap();
        assert_eq!(found.iter().map(|h| h.p).collect::<Vec<_>>(), [1.0, 1.0, 1.0]);
        assert_eq!(holm(&[]), Some(vec![]));
        assert_eq!(holm(&[0.05]).unwrap()[0], Holm { p: 0.05, survives: true });
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for p in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            assert_eq!(holm(&[0.5, p]), None);
        }
    }
}
