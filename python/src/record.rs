//! Records in Python, in memory or on disk.

use std::path::PathBuf;

use indexmap::IndexMap;
use penstock_cli::library::{self, Opened};
use penstock_record::{Described, summary_file, table_file};
use penstock_scenario::read::Cell;
use penstock_scenario::summary::{Cost, Summary};
use penstock_scenario::world::{Run, Table as Rows};
use penstock_scenario::write::print;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow::Table;
use crate::packets::Packets;
use crate::{error, plain};

/// A record: the scenario, the summary and the tables of one run.
///
/// `Record.open(directory)` reads one from disk; `penstock.run` makes one.
#[pyclass(frozen, module = "penstock._native")]
pub(crate) struct Record {
    summary: Summary,
    scenario: String,
    id: String,
    seed: u64,
    world: String,
    changes: Vec<String>,
    tables: IndexMap<String, Py<Table>>,
    cost: Option<Cost>,
    path: Option<PathBuf>,
    page: Page,
}

/// Where the report comes from.
enum Page {
    /// From what was run.
    Run(Box<Cell>, Vec<Rows>),
    /// From the directory of the record.
    Directory(PathBuf),
}

/// The file of a table without its ending.
fn name_of(table: &str) -> String {
    table_file(table).trim_end_matches(".parquet").to_owned()
}

impl Record {
    /// The record of a run, which is written to `out` if that is given. Its packets stay in memory.
    pub(crate) fn of(
        py: Python<'_>,
        (cell, changes, stem): (Cell, Vec<String>, &str),
        (run, packets): (Run, Option<Packets>),
        cost: Cost,
        out: Option<PathBuf>,
    ) -> PyResult<Self> {
        let mut tables = vec![("flows".to_owned(), Described::of_flows(&run.flows))];
        let series = run.series.iter();
        tables.extend(series.map(|table| (name_of(&table.name), Described::of_series(table.clone(), &cell.scenario))));
        tables.extend(packets.map(|packets| ("packets".to_owned(), packets.table(&cell.scenario))));
        // The figures of the report show these.
        let shown = ["links", "groups", "customers", "flows"];
        let series = run.series.iter().filter(|table| shown.contains(&&table.name[..])).cloned().collect();
        let (scenario, id, seed) = (print(&cell.scenario), cell.id.clone(), cell.scenario.seed.0);
        let (path, summary) = match out {
            None => (None, run.summary),
            Some(out) => {
                let kept = py.detach(|| library::keep(&out, stem, &cell, &changes, run, cost.clone()));
                let (path, summary) = kept.map_err(|e| error::of(py, &e))?;
                (Some(path), summary)
            }
        };
        let world = summary.world.clone();
        let (tables, page) = (arrow(py, tables)?, Page::Run(Box::new(cell), series));
        Ok(Self { summary, scenario, id, seed, world, changes, tables, cost: Some(cost), path, page })
    }
}

fn arrow(py: Python<'_>, tables: Vec<(String, Described)>) -> PyResult<IndexMap<String, Py<Table>>> {
    let made = |(name, described): (String, Described)| {
        let table = Table::of(&name, described).map_err(|e| error::of_class(py, "BugError", &e.to_string()))?;
        Ok((name, Py::new(py, table)?))
    };
    tables.into_iter().map(made).collect()
}

#[pymethods]
impl Record {
    /// Reads the record in a directory, if its files are as they were written.
    #[staticmethod]
    fn open(py: Python<'_>, directory: PathBuf) -> PyResult<Self> {
        let opened = py.detach(|| library::open(&directory)).map_err(|e| error::of(py, &e))?;
        let Opened { header, summary, tables } = opened;
        let tables = arrow(py, tables)?;
        Ok(Self {
            summary,
            scenario: header.scenario,
            id: header.id,
            seed: header.seed,
            world: header.provenance.origin.world,
            changes: header.provenance.changes,
            tables,
            cost: None,
            path: Some(directory.clone()),
            page: Page::Directory(directory),
        })
    }

    /// The summary as `summary.json` has it.
    fn summary_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = summary_file(&self.summary, &self.changes);
        plain::object(py, &value.map_err(|e| error::of_class(py, "BugError", &e.to_string()))?)
    }

    /// The resolved scenario, as the text of a scenario file.
    #[getter]
    fn scenario(&self) -> &str {
        &self.scenario
    }

    /// The identity of the resolved scenario: 16 hexadecimal digits.
    #[getter]
    fn id(&self) -> &str {
        &self.id
    }

    /// The seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// The world that it ran in.
    #[getter]
    fn world(&self) -> &str {
        &self.world
    }

    /// Differences from the scenario's file, `KEY=VALUE`.
    #[getter]
    fn changes(&self) -> Vec<String> {
        self.changes.clone()
    }

    /// The directory on disk, if there is one.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.path.clone()
    }

    /// Wall time and processor time of the run [s], and packets a CPU-second; none of a record that was opened.
    #[getter]
    fn cost<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(cost) = &self.cost else { return Ok(None) };
        let value = serde_json::to_value(cost).map_err(|e| error::of_class(py, "BugError", &e.to_string()))?;
        plain::object(py, &value).map(Some)
    }

    /// Each table by its name.
    #[getter]
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = PyDict::new(py);
        self.tables.iter().try_for_each(|(name, table)| tables.set_item(name, table.bind(py)))?;
        Ok(tables)
    }

    /// The table of that name.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Py<Table>> {
        self.tables.get(name).map(|table| table.clone_ref(py)).ok_or_else(|| {
            let known: Vec<&str> = self.tables.keys().map(String::as_str).collect();
            PyKeyError::new_err(format!("the record has no table `{name}`: it has {}", known.join(", ")))
        })
    }

    /// The report as one HTML page.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        match &self.page {
            Page::Run(cell, series) => Ok(py.detach(|| library::page(cell, &self.changes, &self.summary, series))),
            Page::Directory(path) => py.detach(|| library::page_of(path)).map_err(|e| error::of(py, &e)),
        }
    }
}
