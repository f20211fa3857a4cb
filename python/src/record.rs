//! Records in Python, in memory or on disk.

use std::path::PathBuf;

use indexmap::IndexMap;
use penstock_cli::library::{self, Opened};
use penstock_record::{Described, read_summary, summary_file, table_file};
use penstock_scenario::model::Group;
use penstock_scenario::read::Cell;
use penstock_scenario::summary::{Cost, Summary};
use penstock_scenario::world::{Run, Table as Rows};
use penstock_scenario::write::print;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

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
    /// From the record itself, and the name of each group's law.
    Content(Vec<(String, String)>),
    /// From the directory of the record.
    Directory(PathBuf),
}

/// The series that the figures of the report show, by the names of their tables.
const SHOWN: [&str; 4] = ["links", "groups", "customers", "flows"];

/// The content of a record in memory, as pickling writes it: summary, scenario, identity, seed, world, changes, tables, cost, and
/// the law of each group.
type Content =
    (Vec<u8>, String, String, u64, String, Vec<String>, Vec<Py<Table>>, Option<String>, Vec<(String, String)>);

/// A record on disk, as pickling writes it: directory, identity, seed, tables that the directory lacks, cost.
type Place = (PathBuf, String, u64, Vec<Py<Table>>, Option<String>);

/// The table that stays in memory.
const PACKETS: &str = "packets";

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
        tables.extend(packets.map(|packets| (PACKETS.to_owned(), packets.table(&cell.scenario))));
        let law = |(name, group): (&String, &Group)| (name.clone(), group.cc.law.name.to_owned());
        let laws = cell.scenario.groups.iter().map(law).collect();
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
        let (tables, page) = (arrow(py, tables)?, Page::Content(laws));
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

    /// A record of the content that pickling wrote.
    #[staticmethod]
    fn of_content(content: Content) -> PyResult<Self> {
        let (summary, scenario, id, seed, world, changes, tables, cost, laws) = content;
        let summary = read_summary(&summary).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let named = |table: Py<Table>| (table.get().name().to_owned(), table);
        let tables = tables.into_iter().map(named).collect();
        let (cost, page) = (read_cost(cost)?, Page::Content(laws));
        Ok(Self { summary, scenario, id, seed, world, changes, tables, cost, path: None, page })
    }

    /// The record in a directory, if it is the one that was pickled.
    #[staticmethod]
    fn of_place(py: Python<'_>, place: Place) -> PyResult<Self> {
        let (directory, id, seed, tables, cost) = place;
        let mut record = Self::open(py, directory)?;
        if (&record.id, record.seed) != (&id, seed) {
            let message = format!(
                "{} has the record of another scenario or seed by now: run the scenario again",
                record.path.unwrap_or_default().display()
            );
            return Err(error::input(py, &message));
        }
        record.tables.extend(tables.into_iter().map(|table| (table.get().name().to_owned(), table)));
        record.cost = read_cost(cost)?;
        Ok(record)
    }

    /// Pickles a record on disk by its directory, and another one by its content.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let class = py.get_type::<Self>();
        let bug = |e: &dyn std::fmt::Display| error::of_class(py, "BugError", &e.to_string());
        let cost = self.cost.as_ref().map(serde_json::to_string).transpose().map_err(|e| bug(&e))?;
        if let Some(path) = &self.path {
            // Another process may have another working directory.
            let path = std::path::absolute(path).map_err(|e| error::input(py, &format!("{}: {e}", path.display())))?;
            let packets = self.tables.get(PACKETS).map(|table| table.clone_ref(py)).into_iter().collect();
            let place: Place = (path, self.id.clone(), self.seed, packets, cost);
            return Ok((class.getattr("of_place")?, (place,).into_pyobject(py)?));
        }
        let laws = match &self.page {
            Page::Content(laws) => laws.clone(),
            Page::Directory(_) => Vec::new(),
        };
        let value = summary_file(&self.summary, &self.changes).map_err(|e| bug(&e))?;
        let summary = serde_json::to_vec(&value).map_err(|e| bug(&e))?;
        let tables: Vec<Py<Table>> = self.tables.values().map(|table| table.clone_ref(py)).collect();
        let (scenario, id, world) = (self.scenario.clone(), self.id.clone(), self.world.clone());
        let content: Content = (summary, scenario, id, self.seed, world, self.changes.clone(), tables, cost, laws);
        Ok((class.getattr("of_content")?, (content,).into_pyobject(py)?))
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
            Page::Content(laws) => {
                Ok(py.detach(|| library::page(&self.scenario, laws, &self.changes, &self.summary, &self.shown())))
            }
            Page::Directory(path) => py.detach(|| library::page_of(path)).map_err(|e| error::of(py, &e)),
        }
    }
}

impl Record {
    /// The series for the figures of the report, by its tables.
    fn shown(&self) -> Vec<Rows> {
        let of = |name: &str| {
            let mut rows = self.tables.get(&name_of(name))?.get().described()?.table;
            name.clone_into(&mut rows.name);
            Some(rows)
        };
        SHOWN.into_iter().filter_map(of).collect()
    }
}

fn read_cost(cost: Option<String>) -> PyResult<Option<Cost>> {
    let cost = cost.map(|text| serde_json::from_str(&text)).transpose();
    cost.map_err(|e| PyValueError::new_err(e.to_string()))
}
