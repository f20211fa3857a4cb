//! The confirmation of a candidate on fresh seeds.

use penstock_evaluation::statistics::median;
use serde::Serialize;

use crate::trial::Outcome;

/// The number of fresh seeds that a candidate is confirmed on.
pub const FRESH_SEEDS: usize = 20;

/// The result of a candidate on fresh seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confirmation {
    /// At least 90 % of the seeds show it, and so does the median with a confidence of 95 %.
    Found,
    /// At least half of the seeds show it.
    Fragile,
    /// It goes away when starts differ by up to a packet time and packets by 10 us: a resonance of a simulator without noise.
    PhaseEffect,
    /// Fewer than half of the seeds show it.
    Dropped,
    /// Fresh seeds confirm it, but not what shrinking left of it.
    NotAfterShrinking,
}

/// The scores of a candidate's seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confirmed {
    /// The conclusion.
    pub confirmation: Confirmation,
    /// The median of the scores.
    pub score: f64,
    /// The lower end of the one-sided 95 % confidence interval of that median.
    pub score_at_least: f64,
    /// The median of the measure.
    pub measured: f64,
    /// The smallest and the largest measure.
    pub range: [f64; 2],
    /// The median measure of each reference that was run.
    pub references: Vec<f64>,
    /// The number of the seeds that show it.
    pub seeds: [usize; 2],
}

/// Concludes from fresh seeds; none if the candidate was not run.
pub fn conclude(outcome: &Outcome, threshold: f64) -> Option<Confirmed> {
    let Outcome::Run(judged) = outcome else { return None };
    let mut scores: Vec<f64> = judged.iter().map(|one| one.fitness).collect();
    scores.sort_unstable_by(f64::total_cmp);
    let shown = scores.iter().filter(|score| **score >= threshold).count();
    let least = *scores.get(order_of_the_lower_end(scores.len()))?;
    let confirmation = if 10 * shown >= 9 * scores.len() && least >= threshold {
        Confirmation::Found
    } else if 2 * shown >= scores.len() {
        Confirmation::Fragile
    } else {
        Confirmation::Dropped
    };
    let measured: Vec<f64> = judged.iter().map(|one| one.measured).collect();
    let many = judged.iter().map(|one| one.references.len()).max().unwrap_or(0);
    let reference = |at: usize| {
        let known = judged.iter().filter_map(|one| one.references.get(at).copied());
        median(&known.filter(|x| x.is_finite()).collect::<Vec<_>>()).unwrap_or(f64::NAN)
    };
    Some(Confirmed {
        confirmation,
        score: median(&scores)?,
        score_at_least: least,
        measured: median(&measured)?,
        range: [measured.iter().copied().min_by(f64::total_cmp)?, measured.iter().copied().max_by(f64::total_cmp)?],
        references: (0..many).map(reference).collect(),
        seeds: [shown, scores.len()],
    })
}

/// The index, in rising order, of the value that is below the median with a probability of 95 % or more: the sign test.
fn order_of_the_lower_end(count: usize) -> usize {
    // The probability that at most k of so many values are below the median, which each is with probability 1/2.
    let mut at_most = 0.0;
    let mut term = libm::pow(0.5, count as f64);
    for k in 0..count {
        at_most += term;
        if at_most > 0.05 {
            // With k below, the value at place k would be too high.
            return k.saturating_sub(1);
        }
        term *= (count - k) as f64 / (k + 1) as f64;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Judged;

    fn outcome(scores: &[f64]) -> Outcome {
        let one = |score: &f64| Judged { measured: 10.0 * score, references: vec![1.0, 3.0], fitness: *score };
        Outcome::Run(scores.iter().map(one).collect())
    }

    /// Conover, Practical Nonparametric Statistics, table of the binomial distribution: of 20 values the sixth smallest is below
    /// the median with a probability of 0.9793, the seventh with 0.9423.
    #[test]
    fn the_lower_end_is_that_of_the_sign_test() {
        assert_eq!(order_of_the_lower_end(20), 5);
        assert_eq!((order_of_the_lower_end(5), order_of_the_lower_end(4), order_of_the_lower_end(0)), (0, 0, 0));
    }

    #[test]
    fn a_conclusion_needs_most_seeds() {
        let of = |good: usize| {
            let scores: Vec<f64> = (0..20).map(|n| if n < good { 0.95 } else { 0.2 }).collect();
            conclude(&outcome(&scores), 0.9).unwrap().confirmation
        };
        assert_eq!((of(20), of(18)), (Confirmation::Found, Confirmation::Found));
        assert_eq!((of(17), of(10)), (Confirmation::Fragile, Confirmation::Fragile));
        assert_eq!((of(9), of(0)), (Confirmation::Dropped, Confirmation::Dropped));
        let confirmed = conclude(&outcome(&[0.9; 20]), 0.9).unwrap();
        assert_eq!((confirmed.measured, confirmed.references, confirmed.seeds), (9.0, vec![1.0, 3.0], [20, 20]));
        assert_eq!(conclude(&Outcome::Not("no".into()), 0.9), None);
    }
}
