//! Scenarios in Python.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use penstock_cli::library::{self, laws};
use penstock_scenario::format;
use penstock_scenario::idle::idle;
use penstock_scenario::read::{Cell, Document};
use penstock_scenario::write::print;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};

use crate::law::raised;
use crate::looks::Looks;
use crate::{error, plain};

/// The name of a scenario without a file in errors and records.
const UNNAMED: &str = "scenario";

/// A scenario: a file that describes a run, or a sweep.
///
/// Scenarios are made by `read`, `parse` and `from_dict`. `set` changes a key. Whether the values make sense is seen when the
/// scenario is resolved or run.
#[pyclass(frozen, module = "penstock")]
pub(crate) struct Scenario {
    path: PathBuf,
    state: Mutex<State>,
    labels: Vec<(String, String)>,
}

#[derive(Clone)]
struct State {
    document: Document,
    /// `KEY=VALUE`, in order.
    changes: Vec<String>,
}

/// A scenario that can run.
pub(crate) struct Ready {
    pub(crate) cell: Cell,
    pub(crate) changes: Vec<String>,
    /// The name of its file, for its record.
    pub(crate) stem: String,
}

/// Text, identity and labels of a cell.
type Part = (String, String, Vec<(String, String)>);

/// The cells of a document, by the laws that there are now: they may have been added after it was read.
fn cells(py: Python<'_>, document: Document) -> PyResult<Vec<Cell>> {
    raised::refuse_in_law()?;
    let looks = Looks::begin();
    let read = || document.with_laws(laws()).cells_while(&|| looks.look(|_| Ok(())));
    let (cells, of_law) = raised::here(|| py.detach(read));
    if let Some(raised) = of_law.or_else(|| looks.raised()) {
        return Err(raised);
    }
    let cells = cells.map_err(|e| error::scenario(py, &e))?;
    cells.ok_or_else(|| PyKeyboardInterrupt::new_err(()))
}

impl Scenario {
    fn new(path: &Path, document: Document, labels: Vec<(String, String)>) -> Self {
        let state = Mutex::new(State { document, changes: Vec::new() });
        Self { path: path.to_path_buf(), state, labels }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self, py: Python<'_>) -> PyResult<Vec<Cell>> {
        let document = self.state().document.clone();
        cells(py, document)
    }

    fn one(&self, py: Python<'_>, document: &Document) -> PyResult<Cell> {
        let mut cells = cells(py, document.clone())?;
        match cells.len() {
            1 => Ok(cells.remove(0)),
            many => {
                let message = format!(
                    "{} is a sweep of {many} cells: run each of `cells()`, or fix the swept keys with `set`",
                    self.path.display()
                );
                Err(error::input(py, &message))
            }
        }
    }

    /// The scenario, with its changes.
    pub(crate) fn document(&self) -> Document {
        self.state().document.clone()
    }

    /// The one cell, with this seed.
    pub(crate) fn ready(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<Ready> {
        let State { mut document, mut changes } = self.state().clone();
        if let Some(seed) = seed {
            document.set("seed", &seed.to_string()).map_err(|e| error::scenario(py, &e))?;
            // A record has its seed besides. As of the command's `--seed`, it is no change of the scenario.
            changes.retain(|change| !change.starts_with("seed="));
        }
        let cell = self.one(py, &document)?;
        Ok(Ready { cell, changes, stem: library::stem(&self.path) })
    }
}

#[pymethods]
impl Scenario {
    /// Reads a scenario file, or the scenario of a record by the path of its `record.toml`.
    #[staticmethod]
    pub(crate) fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let document = py.detach(|| library::read(&path, laws())).map_err(|e| error::of(py, &e))?;
        Ok(Self::new(&path, document, Vec::new()))
    }

    /// Reads the text of a scenario file. Errors call it `name`; files that it names are relative to the folder of `name`.
    #[staticmethod]
    #[pyo3(signature = (text, name=None))]
    fn parse(py: Python<'_>, text: &str, name: Option<PathBuf>) -> PyResult<Self> {
        let name = name.unwrap_or_else(|| UNNAMED.into());
        let document = library::parse(text, &name, laws()).map_err(|e| error::of(py, &e))?;
        Ok(Self::new(&name, document, Vec::new()))
    }

    /// Makes a scenario of a dict with the keys of a scenario file.
    #[staticmethod]
    #[pyo3(signature = (keys, name=None))]
    fn from_dict(py: Python<'_>, keys: &Bound<'_, PyAny>, name: Option<PathBuf>) -> PyResult<Self> {
        let text = toml::to_string(&plain::table(keys)?).map_err(|e| error::input(py, &e.to_string()))?;
        Self::parse(py, &text, name)
    }

    /// Sets a key, a dotted path, and returns this scenario. The value wins over the file and over the sweep.
    fn set<'py>(this: Bound<'py, Self>, key: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let text = match value.cast::<PyString>() {
            Ok(text) => text.to_str()?.to_owned(),
            Err(_) => plain::toml(value, key, 0)?.line().map_err(|e| error::input(this.py(), &e.to_string()))?,
        };
        let mut state = this.get().state();
        // A failed change leaves the scenario as it was.
        let mut document = state.document.clone();
        document.set(key, &text).map_err(|e| error::scenario(this.py(), &e))?;
        state.document = document;
        state.changes.push(format!("{}={}", key.trim(), text.trim()));
        drop(state);
        Ok(this)
    }

    /// A scenario of its own with the same keys.
    fn copy(&self) -> Self {
        Self { path: self.path.clone(), state: Mutex::new(self.state().clone()), labels: self.labels.clone() }
    }

    /// The scenario with every default, as the text of a scenario file.
    fn resolved(&self, py: Python<'_>) -> PyResult<String> {
        let document = self.state().document.clone();
        Ok(print(&self.one(py, &document)?.scenario))
    }

    /// Each cell of the sweep as a scenario of its own, in order. A scenario without a sweep is its one cell.
    fn cells(&self, py: Python<'_>) -> PyResult<Vec<Self>> {
        let made = |cell: Cell| {
            // There may be thousands.
            py.check_signals()?;
            let document = library::parse(&print(&cell.scenario), &self.path, laws()).map_err(|e| error::of(py, &e))?;
            Ok(Self::new(&self.path, document, cell.labels))
        };
        self.all(py)?.into_iter().map(made).collect()
    }

    /// Resolved text, identity and labels of each cell, the name of the file, and what was changed.
    fn parts(&self, py: Python<'_>) -> PyResult<(Vec<Part>, PathBuf, Vec<String>)> {
        let cells = self.all(py)?;
        let part = |cell: Cell| {
            py.check_signals()?;
            Ok((print(&cell.scenario), cell.id, cell.labels))
        };
        let parts = cells.into_iter().map(part).collect::<PyResult<_>>()?;
        Ok((parts, self.path.clone(), self.state().changes.clone()))
    }

    /// The swept keys of this cell and their values, as written.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let labels = PyDict::new(py);
        self.labels.iter().try_for_each(|(key, value)| labels.set_item(key, value))?;
        Ok(labels)
    }

    /// The identity of the resolved scenario: 16 hexadecimal digits.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<String> {
        let document = self.state().document.clone();
        Ok(self.one(py, &document)?.id)
    }

    /// Keys that are set without an effect, each with the reason.
    #[getter]
    fn idle(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let document = self.state().document.clone();
        let found = idle(&self.one(py, &document)?.scenario);
        Ok(found.into_iter().map(|(key, why)| (key, why.to_string())).collect())
    }

    /// The JSON Schema of scenario files, as a dict.
    #[staticmethod]
    fn schema(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let schema = plain::object(py, &format::schema(&laws()))?;
        Ok(schema.cast_into::<PyDict>()?)
    }

    /// Pickles the resolved text, and with it the changes.
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String, String))> {
        let (py, path) = (this.py(), this.get().path.to_string_lossy().into_owned());
        let text = this.get().resolved(py)?;
        Ok((PyType::new::<Self>(py).getattr("parse")?, (text, path)))
    }

    fn __repr__(&self) -> String {
        let state = self.state();
        let changed =
            if state.changes.is_empty() { String::new() } else { format!(" with {}", state.changes.join("; ")) };
        format!("<penstock.Scenario {}{changed}>", self.path.display())
    }
}
