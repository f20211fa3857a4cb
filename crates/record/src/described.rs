//! Tables in memory with the meanings of their columns, as the files of a record have both.

use penstock_scenario::model::Scenario;
use penstock_scenario::summary::FlowSummary;
use penstock_scenario::world::Table;
use serde_json::Value;

use crate::cells::{CellRow, cells, meaning};
use crate::columns;
use crate::error::RecordError;
use crate::measures::Measures;
use crate::parquet::{about, read_with_metadata};
use crate::record::flow_table;
use crate::sweep::Axes;

/// The metadata of a field in Arrow: `kind` (`key`, `average`, `instant`), `unit`, `title`, `description`.
const KEYS: [&str; 4] = ["kind", "unit", "title", "description"];

/// A table, and the metadata of each of its columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// The table.
    pub table: Table,
    /// Key and value of the metadata of each column, as its Parquet file has them. Keys without text are left out.
    pub columns: Vec<Vec<(&'static str, String)>>,
}

impl Described {
    /// A series that a run of `scenario` left.
    pub fn of_series(table: Table, scenario: &Scenario) -> Self {
        let of = |name: &str| columns::of_series(&table.name, name, scenario);
        let columns = table.columns.iter().map(|column| about(column, &of(&column.name))).collect();
        Self { table, columns }
    }

    /// The table with one row a flow.
    pub fn of_flows(flows: &[FlowSummary]) -> Self {
        let table = flow_table(flows);
        let columns = table.columns.iter().map(|column| about(column, &columns::of_flow(&column.name))).collect();
        Self { table, columns }
    }

    /// The table with one row a record. In memory a record has no path, so that column is left out where all are empty.
    ///
    /// # Panics
    /// As [`cells`](crate::cells()).
    pub fn of_cells(rows: &[CellRow<'_>], measures: &Measures) -> Self {
        let mut table = cells(rows, measures);
        if rows.iter().all(|row| row.path.is_empty()) {
            table.columns.retain(|column| column.name != "path");
        }
        let of = meaning(&Axes::of(rows.iter().map(|row| row.labels)));
        let columns = table.columns.iter().map(|column| about(column, &of(&column.name))).collect();
        Self { table, columns }
    }

    /// A table made from this one: each column has the metadata of its name here. That of an interval, `NAME.ci95`, has the unit of
    /// `NAME`.
    #[must_use]
    pub fn like(&self, table: Table) -> Self {
        let known = |name: &str| self.table.columns.iter().position(|column| column.name == name);
        let of = |name: &str| match (known(name), name.strip_suffix(".ci95").and_then(|of| Some((of, known(of)?)))) {
            (Some(at), _) => self.columns[at].clone(),
            (None, Some((of, at))) => {
                let unit = self.columns[at].iter().filter(|(key, _)| *key == "unit").cloned();
                let what = format!("Half the width of the 95 % interval for the mean of `{of}`.");
                std::iter::once(("kind", "average".to_owned())).chain(unit).chain([("description", what)]).collect()
            }
            (None, None) => vec![("kind", "key".to_owned())],
        };
        let columns = table.columns.iter().map(|column| of(&column.name)).collect();
        Self { table, columns }
    }

    /// A table of a record on disk, by the bytes of its file.
    ///
    /// # Errors
    /// Names the reason why the bytes are not such a table.
    pub fn read(bytes: &[u8]) -> Result<Self, RecordError> {
        let (table, said) = read_with_metadata(bytes)?;
        let of = |column: &Value| {
            let text = |key: &'static str| Some((key, column[key].as_str()?.to_owned()));
            KEYS.into_iter().filter_map(text).collect()
        };
        let columns = table.columns.iter().map(|column| of(&said[&column.name])).collect();
        Ok(Self { table, columns })
    }
}
