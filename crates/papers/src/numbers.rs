//! The numbers that a claim is tested on, with their seeds, so that they can be drawn again.

use indexmap::{IndexMap, IndexSet};
use penstock_scenario::interval::half_width_95;

use crate::cell::{self, Cell, Measure, Sample};
use crate::paper::{Claim, Seeds, Test};

/// The numbers that a claim is tested on: one set, or for a table one for each of its values.
pub(crate) struct Numbers {
    pub(crate) sets: Vec<Set>,
    /// Every seed of the cells.
    seeds: IndexSet<String>,
}

/// One number of every cell.
pub(crate) struct Set {
    /// The end of its path and the value that it should have, in a table.
    pub(crate) wanted: Option<(String, f64)>,
    groups: Vec<Group>,
}

/// A number, and the index of its cell's seed among the seeds, where it has one.
type Seeded = (Option<usize>, f64);

/// Cells that are joined to one number.
struct Group {
    labels: Vec<(String, String)>,
    values: Vec<Seeded>,
}

impl Numbers {
    /// The numbers of `claim` in `cells`; `path` is its measure.
    pub(crate) fn of(claim: &Claim, path: &str, cells: &[Cell]) -> Result<Self, String> {
        let text = |p: &'_ Option<toml::Spanned<String>>| p.as_ref().map(|p| p.get_ref().clone());
        let (minus, over) = (text(&claim.minus), text(&claim.over));
        let mut numbers =
            Self { sets: Vec::new(), seeds: cells.iter().filter_map(|c| c.label("seed")).map(str::to_owned).collect() };
        let set = |measure: Measure<'_>, wanted| Set::of(measure, wanted, claim.seeds, cells, &numbers.seeds);
        numbers.sets = if let Some(Test::Table(table)) = claim.test.as_ref().map(toml::Spanned::get_ref) {
            let one = |(rest, value): (&String, &f64)| {
                set(Measure::of(&format!("{path}.{rest}")), Some((rest.clone(), *value)))
            };
            table.values.iter().map(one).collect::<Result<_, _>>()?
        } else {
            vec![set(Measure { path, minus: minus.as_deref(), over: over.as_deref() }, None)?]
        };
        Ok(numbers)
    }

    /// Number of seeds.
    pub(crate) fn seeds(&self) -> usize {
        self.seeds.len()
    }
}

impl Set {
    fn of(
        measure: Measure<'_>,
        wanted: Option<(String, f64)>,
        seeds: Seeds,
        cells: &[Cell],
        known: &IndexSet<String>,
    ) -> Result<Self, String> {
        let mut joined: IndexMap<Vec<(String, String)>, Vec<Seeded>> = IndexMap::new();
        for cell in cells {
            let value = measure.number(cell).map_err(|what| format!("{}: {what}", cell.words(&[])))?;
            let labels = if seeds == Seeds::Each { cell.labels.clone() } else { cell::without(&cell.labels, "seed") };
            let seed = cell.label("seed").and_then(|seed| known.get_index_of(seed));
            joined.entry(labels).or_default().push((seed, value));
        }
        let groups = joined.into_iter().map(|(labels, values)| Group { labels, values }).collect();
        Ok(Self { wanted, groups })
    }

    /// Its numbers, with seeds joined. `drawn` counts the draws of each seed; none, each once.
    pub(crate) fn samples(&self, seeds: Seeds, drawn: Option<&[u32]>) -> Vec<Sample> {
        let of = |group: &Group| {
            let values = group.drawn(drawn);
            let value = match seeds {
                Seeds::Mean | Seeds::Each => cell::mean(&values),
                Seeds::Min => cell::least(&values),
                Seeds::Max => cell::largest(&values),
                Seeds::Sd => cell::deviation(&values),
            };
            // What is drawn again has no use for it.
            let width = drawn.map_or_else(|| half_width_95(&values), |_| None);
            let spread = width.map(|half| half * ((values.len() + 1) as f64).sqrt());
            Sample { labels: group.labels.clone(), value, spread }
        };
        self.groups.iter().map(of).collect()
    }
}

impl Group {
    /// Its values as often as their seeds were drawn; all of them where none was.
    fn drawn(&self, drawn: Option<&[u32]>) -> Vec<f64> {
        let all = || self.values.iter().map(|(_, value)| *value);
        let Some(drawn) = drawn else { return all().collect() };
        let times = |seed: Option<usize>| seed.map_or(1, |seed| drawn[seed]);
        let again: Vec<f64> = self.values.iter().flat_map(|(seed, value)| (0..times(*seed)).map(|_| *value)).collect();
        if again.is_empty() { all().collect() } else { again }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cells() -> Vec<Cell> {
        let cell = |(seed, value): (&str, f64)| {
            let labels = vec![("case".into(), "FAST".into()), ("seed".into(), seed.into())];
            Cell::of_json(labels, json!({ "u": value, "rtt_s": 0.1 }))
        };
        [("1", 0.8), ("2", 1.0)].map(cell).to_vec()
    }

    fn set(seeds: Seeds, over: Option<&str>) -> Set {
        let known = ["1", "2"].map(str::to_owned).into_iter().collect();
        Set::of(Measure { over, ..Measure::of("u") }, None, seeds, &cells(), &known).unwrap()
    }

    #[test]
    fn seeds_are_joined_as_asked() {
        let joined = |seeds| set(seeds, None).samples(seeds, None);
        assert_eq!(joined(Seeds::Mean)[0].value, 0.9);
        assert_eq!(joined(Seeds::Min)[0].value, 0.8);
        assert_eq!(joined(Seeds::Max)[0].value, 1.0);
        assert_eq!(joined(Seeds::Each).len(), 2);
        assert!((joined(Seeds::Sd)[0].value - 0.02_f64.sqrt()).abs() < 1e-12, "of a sample: over n - 1");
        assert_eq!(set(Seeds::Mean, Some("rtt_s")).samples(Seeds::Mean, None)[0].value, 9.0);
    }

    #[test]
    fn a_seed_counts_as_often_as_it_is_drawn() {
        let drawn = |drawn: &[u32]| set(Seeds::Mean, None).samples(Seeds::Mean, Some(drawn))[0].value;
        assert!((drawn(&[3, 1]) - 0.85).abs() < 1e-12);
        assert_eq!(drawn(&[0, 2]), 1.0);
    }

    /// Student's t for one degree of freedom is 12.706; sd 0.1414; sqrt(1 + 1/2).
    #[test]
    fn a_further_trial_is_predicted_from_two_seeds() {
        let spread = set(Seeds::Mean, None).samples(Seeds::Mean, None)[0].spread.unwrap();
        assert!((spread - 12.706_204_74 * 0.02_f64.sqrt() * 1.5_f64.sqrt()).abs() < 1e-6);
    }
}
