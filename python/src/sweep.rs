//! Many runs on several threads, and their table.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use penstock_cli::library::{self, Error};
use penstock_record::{CellRow, Described, RecordError, mean_over_seeds, paired, read_summary, summary_file};
use penstock_scenario::world::{RunError, Table as Rows};
use pyo3::prelude::*;

use crate::arrow::Table;
use crate::error;
use crate::law::raised;

/// How long the thread of Python waits before it looks at its signals.
const LOOKS: Duration = Duration::from_millis(20);

/// Why a cell has no result.
enum Failure {
    Input(Error),
    Run(RunError),
    Record(RecordError),
    Law(PyErr),
}

/// The end of a run: its summary as JSON, why there is none, or a panic.
type Ended = thread::Result<Result<String, Failure>>;

/// Runs a cell, and gives its summary as JSON.
fn one(text: &str, name: &Path, world: &str, stop: &AtomicBool) -> Result<String, Failure> {
    let document = library::parse(text, name, library::laws()).map_err(Failure::Input)?;
    let cells = document.cells().map_err(|e| Failure::Input(Error::Scenario(e)))?;
    let [cell] = &cells[..] else {
        return Err(Failure::Input(Error::Input(format!("{} is a sweep of {} cells", name.display(), cells.len()))));
    };
    let world = library::world(world).map_err(Failure::Input)?;
    let ran = library::run(world.as_ref(), cell, &mut |_: f64| !stop.load(Ordering::Relaxed));
    let (run, _) = ran.map_err(Failure::Run)?;
    let value = summary_file(&run.summary, &[]).map_err(Failure::Record)?;
    Ok(value.to_string())
}

/// Runs resolved scenarios on `jobs` threads, and returns the summary of each as JSON, in their order. `done` hears how many
/// are done. The first failure stops all.
#[pyfunction]
#[pyo3(signature = (texts, name, world, jobs, done))]
pub(crate) fn run_cells(
    py: Python<'_>,
    texts: Vec<String>,
    name: &str,
    world: &str,
    jobs: usize,
    done: Option<Py<PyAny>>,
) -> PyResult<Vec<String>> {
    raised::refuse_in_law()?;
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Vec<Mutex<Option<Ended>>> = texts.iter().map(|_| Mutex::new(None)).collect();
    let work = |sender: mpsc::Sender<()>| {
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < texts.len()) {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let run = || catch_unwind(AssertUnwindSafe(|| one(&texts[at], Path::new(name), world, &stop)));
            let (result, raised) = raised::here(run);
            let result = raised.map_or(result, |raised| Ok(Err(Failure::Law(raised))));
            if !matches!(result, Ok(Ok(_))) {
                stop.store(true, Ordering::Relaxed);
            }
            *results[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            let _ = sender.send(());
        }
    };
    py.detach(|| {
        let (sender, receiver) = mpsc::channel::<()>();
        let watch = || -> PyResult<()> {
            let mut count = 0usize;
            loop {
                match receiver.recv_timeout(LOOKS) {
                    Ok(()) => count += 1,
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
                }
                count += receiver.try_iter().count();
                Python::attach(|py| {
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
    let results: Vec<_> = results.into_iter().map(|r| r.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
    let mut summaries = Vec::with_capacity(results.len());
    let mut stopped = false;
    for result in results {
        match result {
            Some(Ok(Ok(summary))) => summaries.push(summary),
            Some(Ok(Err(Failure::Run(RunError::Stopped)))) | None => stopped = true,
            Some(Ok(Err(Failure::Run(e)))) => return Err(error::of_run(py, &e)),
            Some(Ok(Err(Failure::Input(e)))) => return Err(error::of(py, &e)),
            Some(Ok(Err(Failure::Law(e)))) => return Err(e),
            Some(Ok(Err(Failure::Record(e)))) => return Err(error::of_class(py, "BugError", &e.to_string())),
            Some(Err(panic)) => match panic.downcast::<String>() {
                Ok(what) => return Err(error::of_class(py, "BugError", &what)),
                Err(_) => return Err(error::of_class(py, "BugError", "panic")),
            },
        }
    }
    if stopped {
        return Err(error::of_class(py, "BugError", "a cell was stopped, and no other failed"));
    }
    Ok(summaries)
}

/// The cells of a sweep as a table.
#[pyclass(frozen, module = "penstock._native")]
pub(crate) struct Cells {
    rows: Rows,
    described: Described,
}

/// Identity, labels and summary of a cell.
type Row = (String, Vec<(String, String)>, String);

#[pymethods]
impl Cells {
    /// The table of these cells, each with its identity, its labels and its summary as JSON.
    #[new]
    fn new(py: Python<'_>, rows: Vec<Row>, changes: Vec<String>) -> PyResult<Self> {
        let made = || -> Result<Described, RecordError> {
            let read = rows.iter().map(|(_, _, summary)| read_summary(summary.as_bytes()));
            let summaries = read.collect::<Result<Vec<_>, _>>()?;
            let rows = rows.iter().zip(&summaries);
            let rows =
                rows.map(|((id, labels, _), summary)| CellRow { path: "", id, changes: &changes, labels, summary });
            Described::of_cells(&rows.collect::<Vec<_>>())
        };
        let described = py.detach(made).map_err(|e| error::of_class(py, "BugError", &e.to_string()))?;
        Ok(Self { rows: described.table.clone(), described })
    }

    /// One row a cell.
    fn frame(&self, py: Python<'_>) -> PyResult<Table> {
        table(py, self.described.clone())
    }

    /// One row for the cells that differ in the seed alone.
    fn aggregate(&self, py: Python<'_>) -> PyResult<Table> {
        table(py, self.described.like(mean_over_seeds(&self.rows)))
    }

    /// Differences between the values of an axis, over pairs of cells.
    fn compare(&self, py: Python<'_>, key: &str, against: Option<&str>) -> PyResult<Table> {
        let differences = paired(&self.rows, &self.axis(key), against).map_err(|e| error::input(py, &e.to_string()))?;
        table(py, self.described.like(differences))
    }
}

impl Cells {
    /// The one axis of that name, or whose name ends so: `cc.law` is `flows.ftp.cc.law` where no other axis ends in it.
    fn axis(&self, key: &str) -> String {
        let axes = || self.rows.columns.iter().filter_map(|column| column.name.strip_prefix("label."));
        let end = format!(".{key}");
        let mut ending = axes().filter(|axis| axis.ends_with(&end));
        match (axes().any(|axis| axis == key), ending.next(), ending.next()) {
            (false, Some(axis), None) => axis.to_owned(),
            _ => key.to_owned(),
        }
    }
}

fn table(py: Python<'_>, described: Described) -> PyResult<Table> {
    let name = described.table.name.clone();
    Table::of(&name, described).map_err(|e| error::of_class(py, "BugError", &e.to_string()))
}
