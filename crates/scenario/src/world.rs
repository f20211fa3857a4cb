//! What every world has in common: a scenario goes in, a run comes out.

use crate::model::Scenario;
use crate::summary::{FlowSummary, Summary};

/// A place where scenarios run.
pub trait World {
    /// Its name on the command line and in records.
    fn name(&self) -> &'static str;
    /// Runs `scenario` to its end. `progress` is told the share done, 0 to 1, now and then; answering `false` stops the
    /// run.
    ///
    /// # Errors
    /// Says what stood in the way; see [`RunError`].
    fn run(&self, scenario: &Scenario, progress: &mut dyn FnMut(f64) -> bool) -> Result<Run, RunError>;
}

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario asks for something that this world cannot do.
    #[error("{what} (in the {world} world)")]
    Refused {
        /// The world.
        world: &'static str,
        /// What cannot be done, and what would do.
        what: String,
    },
    /// Whoever started the run stopped it.
    #[error("stopped")]
    Stopped,
    /// The engine broke one of its own laws: a bug.
    #[error("bug: {0}")]
    Broken(String),
}

/// What a run leaves: numbers, one row a flow, and series.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The numbers.
    pub summary: Summary,
    /// One row a flow, whatever their number.
    pub flows: Vec<FlowSummary>,
    /// What was recorded over time, one table an entity kind: `links`, `groups`, `flows`.
    pub series: Vec<Table>,
}

/// A table of equally long columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What its rows are about.
    pub name: String,
    /// The columns.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, with the unit at its end.
    pub name: String,
    /// What a value stands for.
    pub kind: Kind,
    /// The values.
    pub values: Cells,
}

/// What a value of a column stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It says which row this is.
    Key,
    /// An average over the sampling period that ends at the row's time.
    Average,
    /// The value at the row's time.
    Instant,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Numbers; NaN where there is nothing to say.
    Number(Vec<f64>),
    /// Whole numbers.
    Count(Vec<u64>),
    /// Names, as an index into a list.
    Name {
        /// The list.
        names: Vec<String>,
        /// One index a row.
        rows: Vec<u32>,
    },
}

impl Table {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| match &c.values {
            Cells::Number(v) => v.len(),
            Cells::Count(v) => v.len(),
            Cells::Name { rows, .. } => rows.len(),
        })
    }

    /// The numbers of the column `name`, if there is such a column of numbers.
    pub fn number(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|c| c.name == name).and_then(|c| match &c.values {
            Cells::Number(v) => Some(v.as_slice()),
            _ => None,
        })
    }
}
