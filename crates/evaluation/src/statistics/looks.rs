//! The number of seeds: looks at growing numbers of runs.

use super::verdict::Verdict;

/// The numbers of seeds at which results are looked at. A cell that is still undecided gets the next number.
///
/// Intervals of all looks but the last have a level of 99.9 %, the last one of 95 %, so that the early looks cost next to
/// nothing. Source: Haybittle, British Journal of Radiology 44 (1971); Peto et al., British Journal of Cancer 34 (1976).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looks(Vec<usize>);

impl Default for Looks {
    /// At 10, 30 and 100 seeds.
    fn default() -> Self {
        Self(vec![10, 30, 100])
    }
}

impl Looks {
    /// One look, at so many seeds.
    pub fn once(seeds: usize) -> Self {
        Self(vec![seeds])
    }

    /// Looks at so many seeds each; none unless there are some and they grow.
    pub fn at(seeds: &[usize]) -> Option<Self> {
        let grow = seeds.windows(2).all(|pair| pair[0] < pair[1]);
        (grow && !seeds.is_empty()).then(|| Self(seeds.to_vec()))
    }

    /// The numbers of seeds.
    pub fn seeds(&self) -> &[usize] {
        &self.0
    }

    /// The level of intervals over so many seeds: 0.95 at the last look and beyond, 0.999 before.
    pub fn level(&self, seeds: usize) -> f64 {
        if self.0.last().is_none_or(|last| seeds >= *last) { 0.95 } else { 0.999 }
    }

    /// The number of seeds that a cell gets after so many gave this verdict; none where no more are due.
    pub fn next(&self, seeds: usize, verdict: Verdict) -> Option<usize> {
        let due = self.0.iter().copied().find(|look| *look > seeds);
        due.filter(|_| verdict == Verdict::Undecided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{Limit, decide, interval};
    use penstock_scenario::seed::Seed;

    #[test]
    fn early_looks_are_strict() {
        let looks = Looks::default();
        assert_eq!([3, 10, 30, 99, 100, 101].map(|n| looks.level(n)), [0.999, 0.999, 0.999, 0.999, 0.95, 0.95]);
        assert_eq!(
            [0, 9, 10, 30, 100].map(|n| looks.next(n, Verdict::Undecided)),
            [Some(10), Some(10), Some(30), Some(100), None]
        );
        assert_eq!(looks.next(10, Verdict::Meets), None);
        assert_eq!((Looks::once(3).level(3), Looks::once(3).next(3, Verdict::Undecided)), (0.95, None));
        assert_eq!((Looks::at(&[]), Looks::at(&[10, 10]), Looks::at(&[30, 10])), (None, None, None));
        assert_eq!(Looks::at(&[5, 6]).unwrap().seeds(), [5, 6]);
    }

    /// If the bound is the true mean, one of the two wrong verdicts comes in 5 % of trials, with three looks too; an
    /// interval of 95 % at each look would give 10 %.
    #[test]
    fn early_looks_cost_next_to_nothing() {
        let looks = Looks::default();
        let mut stream = Seed(11).stream("looks");
        let trials = 4000;
        let decided = (0..trials).filter(|_| {
            let mut values = Vec::new();
            let mut seeds = 0;
            let mut verdict = Verdict::Undecided;
            while let Some(next) = looks.next(seeds, verdict) {
                seeds = next;
                // A sum of twelve uniform draws is nearly normal, with mean 6.
                values.resize_with(seeds, || (0..12).map(|_| stream.unit()).sum::<f64>());
                verdict = decide(interval(&values, looks.level(seeds)).as_ref(), Limit::AtMost(6.0));
            }
            verdict != Verdict::Undecided
        });
        let share = decided.count() as f64 / f64::from(trials);
        assert!((0.04..0.062).contains(&share), "{share}");
    }
}
