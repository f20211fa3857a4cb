//! The amount of runs.

use indexmap::IndexMap;
use penstock_law::quantity::Time;
use penstock_papers::Values;
use serde::{Deserialize, Serialize};

use crate::criterion::Part;
use crate::statistics::Looks;

/// The amount of a battery that runs: cells, seeds and lengths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// Two paths, 3 seeds, half the lengths of the scenario files.
    Quick,
    /// About three fifths of the cells, 10 seeds, the lengths of the scenario files.
    #[default]
    Standard,
    /// All cells, 30 seeds, 5/2 of the lengths.
    Full,
}

impl Extent {
    /// The number of seeds that each cell has at first, and the number for cells that are then undecided.
    pub fn looks(self) -> Looks {
        match self {
            Self::Quick => Looks::once(3),
            Self::Standard => Looks::default(),
            Self::Full => Looks::at(&[30, 100]).unwrap_or_default(),
        }
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

/// Which cells run, and how often: those of an extent, or the few that the Linux world runs of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// The amount of runs.
    pub extent: Extent,
    /// True for the runs of the Linux world, which take as long as the scenario lasts.
    pub linux: bool,
}

impl Scope {
    /// The number of runs of each cell in the Linux world.
    pub const REPETITIONS: usize = 3;

    /// The reason why a part does not run in the Linux world.
    pub const NO_CELLS: &str =
        "the criterion names no cells for the Linux world, where a run takes as long as the scenario lasts";

    /// The number of seeds that each cell has at first, and the number for cells that are then undecided.
    pub fn looks(self) -> Looks {
        if self.linux { Looks::once(Self::REPETITIONS) } else { self.extent.looks() }
    }

    /// The number of seeds that each cell has at first.
    pub fn seeds(self) -> usize {
        self.looks().seeds().first().copied().unwrap_or(1)
    }

    /// True if any cell of a part runs.
    pub const fn runs(self, part: &Part) -> bool {
        !self.linux || part.cells.linux.is_some()
    }

    /// True if a cell of a part with these labels runs.
    pub fn has(self, part: &Part, labels: &[(String, String)]) -> bool {
        if self.linux {
            part.cells.linux.as_ref().is_some_and(|wanted| has(wanted, labels))
        } else {
            has(self.extent.of(part), labels)
        }
    }
}

/// True if labels have one of the values of each axis.
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
        let scope = |extent, linux| Scope { extent, linux };
        let quick = scope(Extent::Quick, false);
        assert!(quick.has(part, &cell("P-dsl", "8 bdp")) && !quick.has(part, &cell("P-bb", "8 bdp")));
        assert!(scope(Extent::Full, false).has(part, &cell("P-bb", "8 bdp")));
        // What names no cells of the Linux world has none there.
        let real = scope(Extent::Full, true);
        assert!(!real.runs(part) && !real.has(part, &cell("P-dsl", "8 bdp")) && real.seeds() == Scope::REPETITIONS);
        let text = GOOD.replace("[cells]", "[cells]\nlinux = { path = \"P-bb\" }");
        let part = &Criterion::parse(&text, "EV-04.toml").unwrap().parts[0];
        assert!(real.has(part, &cell("P-bb", "8 bdp")) && !real.has(part, &cell("P-dsl", "8 bdp")));
    }
}
