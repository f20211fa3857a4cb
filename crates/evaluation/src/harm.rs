//! Harm: what others lose beside the law under test, as a share of what they have alone.

use indexmap::IndexMap;
use serde::Deserialize;

use crate::numbers::{Groups, Labels, Seeded};

/// Harm to those beside whom the law runs, from 0 (none) to 1 (all); below 0 where they gain.
///
/// Source: Ware, Mukerjee, Seshan and Sherry, "Beyond Jain's Fairness Index: Setting the Bar For The Deployment of Congestion
/// Control Algorithms", HotNets 2019, section 3.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Harm {
    /// The cell in which they are alone: the values of the axes that make it.
    pub alone: IndexMap<String, String>,
    /// Which of two numbers is better for them.
    pub better: Better,
}

/// Which of two numbers is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// The larger one, as of goodput.
    More,
    /// The smaller one, as of delay and loss.
    Less,
}

impl Better {
    /// The harm that turns `alone` into `beside`; none without a finite share.
    fn harm(self, alone: f64, beside: f64) -> Option<f64> {
        // Nothing that stays nothing does no harm.
        if alone == beside {
            return Some(0.0);
        }
        let harm = match self {
            Self::More => (alone - beside) / alone,
            Self::Less => (beside - alone) / beside,
        };
        Some(harm).filter(|harm| harm.is_finite())
    }
}

impl Harm {
    /// True if a cell is one in which they are alone.
    pub(crate) fn is_alone(&self, labels: &[(String, String)]) -> bool {
        self.alone.iter().all(|(axis, value)| labels.iter().any(|(key, own)| key == axis && own == value))
    }

    /// The cell in which those of another cell are alone.
    pub(crate) fn alone(&self, labels: &[(String, String)]) -> Labels {
        labels.iter().map(|(key, value)| (key.clone(), self.alone.get(key).unwrap_or(value).clone())).collect()
    }

    /// The harm in each cell, from the numbers there and those of the cells in which they are alone, seed by seed. It leaves out the
    /// latter cells, and seeds that did not run there.
    pub(crate) fn of(&self, numbers: &Groups) -> Groups {
        let mut found = Groups::new();
        for (labels, by_law) in numbers.iter().filter(|(labels, _)| !self.is_alone(labels)) {
            let alone = numbers.get(&self.alone(labels));
            let harms = |(law, beside): (&String, &Seeded)| {
                let of_seed = |(seed, beside): (&u64, &f64)| {
                    let alone = alone?.get(law)?.get(seed)?;
                    Some((*seed, self.better.harm(*alone, *beside)?))
                };
                (law.clone(), beside.iter().filter_map(of_seed).collect::<Seeded>())
            };
            found.insert(labels.clone(), by_law.iter().map(harms).collect());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(buffer: &str, setting: &str) -> Labels {
        [("buffer", buffer), ("setting", setting)].map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec()
    }

    fn of_laws(fast: &[f64], cubic: &[f64]) -> IndexMap<String, Seeded> {
        let seeded = |values: &[f64]| (1..).zip(values.iter().copied()).collect::<Seeded>();
        IndexMap::from([("fast".to_owned(), seeded(fast)), ("cubic".to_owned(), seeded(cubic))])
    }

    fn harm(better: Better) -> Harm {
        Harm { alone: IndexMap::from([("setting".to_owned(), "alone".to_owned())]), better }
    }

    /// A flow that has 8 Mbit/s alone and 2 Mbit/s beside another loses three quarters; of a delay of 40 ms that was 10 ms alone, three
    /// quarters are harm too.
    #[test]
    fn harm_is_a_share_of_the_better_number() {
        assert_eq!(Better::More.harm(8e6, 2e6), Some(0.75));
        assert_eq!(Better::Less.harm(0.010, 0.040), Some(0.75));
        assert_eq!(Better::More.harm(8e6, 0.0), Some(1.0));
        assert_eq!(Better::More.harm(2.0, 3.0), Some(-0.5), "they gain");
        assert_eq!(Better::Less.harm(0.0, 0.0), Some(0.0), "no loss before and after");
        assert_eq!(Better::Less.harm(0.01, 0.0), None);
        assert_eq!(Better::More.harm(0.0, 1.0), None);
    }

    /// Each cell has its own cell without the law, and each seed is compared with the same one there.
    #[test]
    fn harm_is_computed_seed_by_seed() {
        let numbers = Groups::from([
            (labels("1 bdp", "together"), of_laws(&[2.0, 4.0, 5.0], &[5.0, 6.0])),
            (labels("8 bdp", "together"), of_laws(&[1.0], &[1.0])),
            (labels("1 bdp", "alone"), of_laws(&[8.0, 8.0], &[10.0, 12.0])),
        ]);
        let found = harm(Better::More).of(&numbers);
        assert_eq!(found.len(), 2, "cells without the law are no cells of harm: {found:?}");
        // The third seed did not run alone.
        assert_eq!(found[&labels("1 bdp", "together")], of_laws(&[0.75, 0.5], &[0.5, 0.5]));
        assert!(found[&labels("8 bdp", "together")].values().all(IndexMap::is_empty), "{found:?}");
    }
}
