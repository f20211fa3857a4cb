//! Which candidates are worth more runs: successive halving, as a plan that runs nothing itself.
//!
//! Source: Karnin, Koren and Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", ICML 2013; Jamieson and Talwalkar,
//! "Non-stochastic Best Arm Identification and Hyperparameter Optimization", AISTATS 2016. Differs: the share that goes on is
//! free, and candidates are ranked by a bound below their mean, so that luck with few seeds does not count as a failure of
//! the law.

use crate::gene::Genome;

/// A rung: each candidate is run with some seeds, and a share of the candidates goes on to the next rung.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rung {
    /// How many seeds each candidate is run with, at least one.
    pub seeds: usize,
    /// One candidate in so many goes on, rounded up. It is at least one.
    pub one_in: usize,
}

/// A candidate and its scores, one of each seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What was run.
    pub genome: Genome,
    /// Its scores: higher is worse for the law. [`f64::NEG_INFINITY`] is the score of what is not admissible.
    pub scores: Vec<f64>,
}

impl Rung {
    /// How many of so many candidates go on.
    pub const fn keeps(self, candidates: usize) -> usize {
        candidates.div_ceil(if self.one_in == 0 { 1 } else { self.one_in })
    }

    /// The candidates that go on, the most promising first: those with the highest [`cautious`] score, of equal ones the
    /// first in the order of genomes. What is not admissible with some seed never goes on.
    pub fn thin(self, candidates: &[Candidate]) -> Vec<Genome> {
        let mut ranked: Vec<(f64, &Genome)> =
            candidates.iter().map(|candidate| (cautious(&candidate.scores), &candidate.genome)).collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1)));
        ranked.truncate(self.keeps(candidates.len()));
        ranked.into_iter().filter(|(score, _)| *score > f64::NEG_INFINITY).map(|(_, genome)| genome.clone()).collect()
    }
}

/// How many runs the rungs take at most from so many candidates on: one for each candidate and seed.
pub fn runs(rungs: &[Rung], candidates: usize) -> usize {
    let add =
        |(runs, candidates): (usize, usize), rung: &Rung| (runs + candidates * rung.seeds, rung.keeps(candidates));
    rungs.iter().fold((0, candidates), add).0
}

/// The mean less two standard errors, `mean - 2 SD / sqrt(n)`. A single score counts as it is. [`f64::NEG_INFINITY`] if there is
/// none, or if any is not finite.
pub fn cautious(scores: &[f64]) -> f64 {
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
    use crate::gene::Allele;

    fn candidate(at: usize, scores: &[f64]) -> Candidate {
        Candidate { genome: genome(at), scores: scores.to_vec() }
    }

    fn genome(at: usize) -> Genome {
        Genome(vec![Allele::At(at)])
    }

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

    #[test]
    fn the_steady_go_on_before_the_lucky() {
        let third = Rung { seeds: 3, one_in: 3 };
        let candidates = [
            candidate(5, &[0.6, 0.6, 0.6]),
            candidate(4, &[1.0, 1.0, 0.0]),
            candidate(3, &[0.6, 0.6, 0.6]),
            candidate(2, &[0.9, f64::NEG_INFINITY, 0.9]),
            candidate(1, &[0.5, 0.5, 0.5]),
            candidate(0, &[0.1, 0.1, 0.1]),
        ];
        assert_eq!(third.thin(&candidates), [genome(3), genome(5)], "ties are in the order of genomes");
        let mut turned = candidates.to_vec();
        turned.reverse();
        assert_eq!(third.thin(&turned), [genome(3), genome(5)], "in whatever order they come");
        let all = Rung { seeds: 3, one_in: 1 };
        assert_eq!(all.thin(&candidates), [genome(3), genome(5), genome(1), genome(0), genome(4)]);
        assert_eq!(all.thin(&candidates[3..4]), [] as [Genome; 0]);
        assert_eq!(all.thin(&[]), [] as [Genome; 0]);
    }

    /// A third, and a third of these: 90 runs of one seed, 30 of three, 10 of five.
    #[test]
    fn the_cost_of_rungs_is_known_before() {
        let rungs = [Rung { seeds: 1, one_in: 3 }, Rung { seeds: 3, one_in: 3 }, Rung { seeds: 5, one_in: 1 }];
        assert_eq!(runs(&rungs, 90), 90 + 30 * 3 + 10 * 5);
        assert_eq!(runs(&rungs, 1), 1 + 3 + 5);
        assert_eq!((runs(&rungs, 0), runs(&[], 9)), (0, 0));
        assert_eq!((rungs[0].keeps(10), Rung { seeds: 1, one_in: 0 }.keeps(10)), (4, 10));
    }
}
