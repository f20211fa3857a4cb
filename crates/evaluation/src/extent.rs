//! How much is run.

use indexmap::IndexMap;
use penstock_law::quantity::Time;
use penstock_papers::Values;
use serde::{Deserialize, Serialize};

use crate::criterion::Part;
use crate::statistics::Looks;

/// How much of a battery is run: cells, seeds and lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// Two paths, 3 seeds, half the lengths of the scenario files.
    Quick,
    /// Nearly all cells, 10 seeds, the lengths of the scenario files.
    Standard,
    /// All cells, 30 seeds, 5/2 of the lengths.
    Full,
}

impl Extent {
    /// How many seeds each cell has at first, and how many those have that are then undecided.
    pub fn looks(self) -> Looks {
        match self {
            Self::Quick => Looks::once(3),
            Self::Standard => Looks::default(),
            Self::Full => Looks::at(&[30, 100]).unwrap_or_default(),
        }
    }

    /// How many seeds each cell has at first.
    pub fn seeds(self) -> usize {
        self.looks().seeds().first().copied().unwrap_or(1)
    }

    /// A duration of a scenario file in a run of this extent.
    pub const fn length(self, standard: Time) -> Time {
        match self {
            Self::Quick => Time(standard.0 / 2),
            Self::Standard => standard,
            Self::Full => Time(standard.0.saturating_mul(5) / 2),
        }
    }

    /// Its option of the command, without dashes.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }

    /// The values of axes that a part runs.
    pub(crate) const fn of(self, part: &Part) -> &IndexMap<String, Values> {
        match self {
            Self::Quick => &part.cells.quick,
            Self::Standard => &part.cells.standard,
            Self::Full => &part.cells.full,
        }
    }
}

impl Part {
    /// Whether a cell with these labels belongs to it.
    pub fn has(&self, labels: &[(String, String)], extent: Extent) -> bool {
        has(extent.of(self), labels)
    }

    /// An axis or a value that the part names and no cell of its scenario has, in words.
    pub fn astray(&self, cells: &[&[(String, String)]]) -> Option<String> {
        let named = [&self.cells.quick, &self.cells.standard, &self.cells.full].into_iter().flatten();
        for (axis, values) in named {
            for value in values.all() {
                if !cells.iter().any(|labels| labels.iter().any(|(key, label)| key == axis && label == value)) {
                    let scenario = self.scenario.get_ref();
                    return Some(format!("no cell of `{scenario}` has `{axis}` = `{value}`"));
                }
            }
        }
        None
    }
}

/// Whether labels have one of the values of each axis.
pub(crate) fn has(wanted: &IndexMap<String, Values>, labels: &[(String, String)]) -> bool {
    wanted.iter().all(|(axis, values)| labels.iter().any(|(key, label)| key == axis && values.has(label)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Criterion;
    use crate::criterion::tests::GOOD;

    #[test]
    fn an_extent_selects_cells() {
        let part = &Criterion::parse(GOOD, "EV-04.toml").unwrap().parts[0];
        let cell = |path: &str, buffer: &str| {
            vec![("path".to_owned(), path.to_owned()), ("links.bottleneck.buffer".to_owned(), buffer.to_owned())]
        };
        assert!(part.has(&cell("P-dsl", "8 bdp"), Extent::Quick));
        assert!(!part.has(&cell("P-bb", "8 bdp"), Extent::Quick) && part.has(&cell("P-bb", "8 bdp"), Extent::Full));
        let cells = [cell("P-dsl", "1 bdp"), cell("P-dsl", "2 bdp")];
        let astray = part.astray(&cells.each_ref().map(Vec::as_slice)).unwrap();
        assert!(astray.contains("`links.bottleneck.buffer` = `8 bdp`"), "{astray}");
    }
}
