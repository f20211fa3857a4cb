//! Many runs on several threads, and their table.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use penstock_cli::library::{self, Error};
use penstock_law::Registry;
use penstock_record::{CellRow, Described, Measures, RecordError, mean_over_seeds, paired, place_of};
use penstock_scenario::summary::Summary;
use penstock_scenario::world::{Cells as Values, GoesOn, RunError, Watcher};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyString};

use crate::arrow::{self, Pickled, Table};
use crate::law::{Laws, raised};
use crate::looks::LOOKS;
use crate::{error, plain};

/// Why a cell has no result.
enum Failure {
    Input(Error),
    Run(RunError),
    Law(PyErr),
}

/// The end of a run: its summary, why there is none, or a panic.
type Ended = thread::Result<Result<Box<Summary>, Failure>>;

/// The measurements of several cells, one row each. They travel between processes as a stream of Arrow.
#[pyclass(frozen, module = "penstock._native")]
pub(crate) struct Measured(Measures);

#[pymethods]
impl Measured {
    /// The rows of a stream of Arrow, as `bytes` has them.
    #[staticmethod]
    fn read(bytes: &[u8]) -> PyResult<Self> {
        // The reader panics on an offset behind the end of a damaged stream.
        let read = catch_unwind(|| arrow::read("measures", bytes));
        let read = read.map_err(|_| PyValueError::new_err("the stream of Arrow is damaged"))?;
        let table = read.map_err(|e| PyValueError::new_err(e.to_string()))?;
        let measures = Measures::of_table(table);
        measures
            .map(Self)
            .ok_or_else(|| PyValueError::new_err("the stream of Arrow has other columns than measurements"))
    }

    /// The rows as a stream of Arrow.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let written = arrow::write(self.0.table()).map_err(|e| error::of_class(py, "BugError", &e.to_string()))?;
        Ok(PyBytes::new(py, &written))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("read")?, (self.bytes(py)?,)))
    }

    /// The number of cells.
    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// Lets a cell run until somebody stops all.
struct Until(Arc<AtomicBool>);

impl Watcher for Until {
    fn progress(&mut self, _: f64) -> bool {
        !self.0.load(Ordering::Relaxed)
    }

    fn goes_on(&self) -> Option<GoesOn> {
        let stop = Arc::clone(&self.0);
        Some(Arc::new(move || !stop.load(Ordering::Relaxed)))
    }
}

/// Runs a cell.
fn one(
    text: &str,
    name: &Path,
    world: &str,
    laws: &Arc<Registry>,
    stop: &Arc<AtomicBool>,
) -> Result<Box<Summary>, Failure> {
    let document = library::parse(text, name, Arc::clone(laws)).map_err(Failure::Input)?;
    let cells = document.cells().map_err(|e| Failure::Input(Error::Scenario(e)))?;
    let [cell] = &cells[..] else {
        return Err(Failure::Input(Error::Input(format!("{} is a sweep of {} cells", name.display(), cells.len()))));
    };
    let world = library::world(world).map_err(Failure::Input)?;
    let ran = library::run(world.as_ref(), cell, &mut Until(Arc::clone(stop)));
    let (run, _) = ran.map_err(Failure::Run)?;
    Ok(Box::new(run.summary))
}

/// Runs resolved scenarios on `jobs` threads, and returns their measurements in their order. `done` hears how many are done.
/// The first failure stops all. All run with `laws`, or with those that are registered now.
#[pyfunction]
#[pyo3(signature = (texts, name, world, jobs, done, laws=None))]
pub(crate) fn run_cells(
    py: Python<'_>,
    texts: Vec<String>,
    name: &str,
    world: &str,
    jobs: usize,
    done: Option<Py<PyAny>>,
    laws: Option<Bound<'_, Laws>>,
) -> PyResult<Measured> {
    raised::refuse_in_law()?;
    let laws = laws.map_or_else(library::laws, |laws| Arc::clone(&laws.get().0));
    let (next, stop) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
    let results: Vec<Mutex<Option<Ended>>> = texts.iter().map(|_| Mutex::new(None)).collect();
    let work = |sender: mpsc::Sender<()>| {
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < texts.len()) {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let run = || catch_unwind(AssertUnwindSafe(|| one(&texts[at], Path::new(name), world, &laws, &stop)));
            let (result, raised) = raised::here(run);
            let result = raised.map_or(result, |raised| Ok(Err(Failure::Law(raised))));
            if !matches!(result, Ok(Ok(_))) {
                stop.store(true, Ordering::Relaxed);
            }
            *results[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            let _ = sender.send(());
        }
    };
    let mut measures = Measures::default();
    // Summaries become rows in the order of the cells, as soon as those before them have: a sweep holds few of them.
    let mut take = || -> Result<(), RecordError> {
        while let Some(result) = results.get(measures.len()) {
            let mut ended = result.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(summary) = ended.take_if(|ended| matches!(ended, Ok(Ok(_)))) else { break };
            if let Ok(Ok(summary)) = summary {
                measures.push(&summary)?;
            }
        }
        Ok(())
    };
    py.detach(|| {
        let (sender, receiver) = mpsc::channel::<()>();
        let mut watch = || -> PyResult<()> {
            let mut count = 0usize;
            loop {
                match receiver.recv_timeout(LOOKS) {
                    Ok(()) => count += 1,
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
                }
                count += receiver.try_iter().count();
                let taken = take();
                Python::attach(|py| {
                    taken.map_err(|e| error::of_class(py, "BugError", &e.to_string()))?;
                    py.check_signals()?;
                    done.as_ref().map_or(Ok(()), |done| done.call1(py, (count,)).map(drop))
                })?;
            }
        };
        thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, texts.len().max(1)) {
                let sender = sender.clone();
                // A thread that Python knows is attached quickly, whenever a law of Python is called.
                scope.spawn(|| Python::attach(|py| py.detach(|| work(sender))));
            }
            drop(sender);
            watch().inspect_err(|_| stop.store(true, Ordering::Relaxed))
        })
    })?;
    take().map_err(|e| error::of_class(py, "BugError", &e.to_string()))?;
    // Those left are a failure, cells behind it, and cells that it stopped.
    let left = results.into_iter().skip(measures.len()).map(|r| r.into_inner().unwrap_or_else(PoisonError::into_inner));
    let mut stopped = false;
    for result in left {
        match result {
            Some(Ok(Ok(_))) => {}
            Some(Ok(Err(Failure::Run(RunError::Stopped)))) | None => stopped = true,
            Some(Ok(Err(Failure::Run(e)))) => return Err(error::of_run(py, &e)),
            Some(Ok(Err(Failure::Input(e)))) => return Err(error::of(py, &e)),
            Some(Ok(Err(Failure::Law(e)))) => return Err(e),
            Some(Err(panic)) => match panic.downcast::<String>() {
                Ok(what) => return Err(error::of_class(py, "BugError", &what)),
                Err(_) => return Err(error::of_class(py, "BugError", "panic")),
            },
        }
    }
    if stopped {
        return Err(error::of_class(py, "BugError", "a cell was stopped, and no other failed"));
    }
    Ok(Measured(measures))
}

/// The cells of a sweep as a table.
#[pyclass(frozen, module = "penstock._native")]
pub(crate) struct Cells(Described);

/// Identity and labels of a cell.
type Row = (String, Vec<(String, String)>);

#[pymethods]
impl Cells {
    /// The table of these cells, each with its identity and its labels, and of their measurements, in batches in their order.
    #[new]
    fn new(py: Python<'_>, rows: Vec<Row>, measured: Vec<Bound<'_, Measured>>, changes: Vec<String>) -> PyResult<Self> {
        let mut measures = Measures::default();
        for batch in &measured {
            measures.append(batch.get().0.clone());
        }
        if rows.len() != measures.len() {
            let what = format!("{} cells have {} rows of measurements", rows.len(), measures.len());
            return Err(error::of_class(py, "BugError", &what));
        }
        let described = py.detach(|| {
            let rows = rows.iter().map(|(id, labels)| CellRow { path: "", id, changes: &changes, labels });
            Described::of_cells(&rows.collect::<Vec<_>>(), &measures)
        });
        Ok(Self(described))
    }

    /// The cells of a stream of Arrow, as pickling writes it.
    #[staticmethod]
    fn read(name: &str, bytes: &[u8]) -> PyResult<Self> {
        let described = Table::of_stream(name, bytes)?.described();
        described.map(Self).ok_or_else(|| PyValueError::new_err("the stream of Arrow has other columns than cells"))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let table = self.frame(py)?;
        let bytes = table.stream(py)?;
        Ok((py.get_type::<Self>().getattr("read")?, (table.name().to_owned(), bytes)))
    }

    /// One row a cell.
    fn frame(&self, py: Python<'_>) -> PyResult<Table> {
        table(py, self.0.clone())
    }

    /// One row for the cells that differ in the seed alone.
    fn aggregate(&self, py: Python<'_>) -> PyResult<Table> {
        let means = py.detach(|| mean_over_seeds(&self.0.table));
        table(py, self.0.like(means))
    }

    /// Differences between the values of an axis, over pairs of cells.
    fn compare(&self, py: Python<'_>, key: &str, against: Option<&Bound<'_, PyAny>>) -> PyResult<Table> {
        let axis = self.axis(key).map_err(|message| error::input(py, &message))?;
        let known = self.values(&axis);
        let of_axis = |value: &Bound<'_, PyAny>| {
            let text = label(value)?;
            // A number may also be that of the column in SI units.
            let number = value.extract::<f64>().ok().filter(|_| !value.is_instance_of::<PyBool>());
            let is = |name: &&&str| number.is_some() && place_of(&axis, name).map(|place| place.value) == number;
            let found = known.iter().find(|name| **name == text).or_else(|| known.iter().find(is));
            found.copied().ok_or_else(|| {
                let message = format!("the axis `{axis}` has no value `{text}`: write one of {}", known.join(", "));
                error::input(py, &message)
            })
        };
        let against = against.map(of_axis).transpose()?;
        let differences = py.detach(|| paired(&self.0.table, &axis, against));
        table(py, self.0.like(differences.map_err(|e| error::input(py, &e.to_string()))?))
    }
}

/// A value of an axis as a sweep writes it.
fn label(value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(text.to_str()?.to_owned()),
        Err(_) => plain::toml(value, "against", 0)?.line().map_err(|e| error::input(value.py(), &e.to_string())),
    }
}

impl Cells {
    /// The one axis of that name, or whose name ends so: `cc.law` is `flows.ftp.cc.law` where no other axis ends in it.
    fn axis(&self, key: &str) -> Result<String, String> {
        let axes = || self.0.table.columns.iter().filter_map(|column| column.name.strip_prefix("label."));
        if axes().any(|axis| axis == key) {
            return Ok(key.to_owned());
        }
        let end = format!(".{key}");
        let ending: Vec<&str> = axes().filter(|axis| axis.ends_with(&end)).collect();
        match ending[..] {
            [axis] => Ok(axis.to_owned()),
            [] if axes().next().is_none() => Err(format!("the sweep has no axis `{key}`, nor any other but the seed")),
            [] => Err(format!("the sweep has no axis `{key}`: write one of {}", axes().collect::<Vec<_>>().join(", "))),
            _ => Err(format!("`{key}` ends the names of several axes: write one of {}", ending.join(", "))),
        }
    }

    /// The values of an axis as written, in the order of the cells.
    fn values(&self, axis: &str) -> Vec<&str> {
        let name = format!("label.{axis}");
        let column = self.0.table.columns.iter().find(|column| column.name == name);
        match column.map(|column| &column.values) {
            Some(Values::Name { names, .. }) => names.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }
}

fn table(py: Python<'_>, described: Described) -> PyResult<Table> {
    let name = described.table.name.clone();
    Table::of(&name, described).map_err(|e| error::of_class(py, "BugError", &e.to_string()))
}
