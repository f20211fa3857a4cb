//! Errors as exceptions: the classes are those of `python/penstock/_errors.py`.

use penstock_cli::library::Error;
use penstock_scenario::read::{ReadError, ReadErrors};
use penstock_scenario::world::RunError;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The most errors whose places an exception has.
const MOST: usize = 100;

/// An exception of the class of that name with this message.
pub(crate) fn of_class(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let made = || py.import("penstock._errors")?.getattr(class)?.call1((message,));
    made().map_or_else(|e| e, PyErr::from_value)
}

/// A `ScenarioError` without a place.
pub(crate) fn input(py: Python<'_>, message: &str) -> PyErr {
    of_class(py, "ScenarioError", message)
}

/// A `ScenarioError` with the place of the first error, and those of all in `errors`.
pub(crate) fn scenario(py: Python<'_>, errors: &ReadErrors) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let class = py.import("penstock._errors")?.getattr("ScenarioError")?;
        let all = errors.all().iter().take(MOST).map(|error| {
            let one = class.call1((error.to_string(),))?;
            place(&one, error)?;
            Ok(one)
        });
        let all = PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)?;
        let whole = class.call1((errors.to_string(),))?;
        if let Some(first) = errors.all().first() {
            place(&whole, first)?;
        }
        whole.setattr("errors", all.to_tuple())?;
        Ok(PyErr::from_value(whole))
    };
    made().unwrap_or_else(|e| e)
}

fn place(exception: &Bound<'_, PyAny>, error: &ReadError) -> PyResult<()> {
    let about = PyDict::new(exception.py());
    about.set_item("file", &*error.file)?;
    about.set_item("line", error.line)?;
    about.set_item("column", error.column)?;
    about.set_item("key", &error.key)?;
    about.set_item("found", &error.found)?;
    about.set_item("remedy", &error.remedy)?;
    exception.getattr("__dict__")?.cast::<PyDict>()?.update(about.as_mapping())
}

/// Errors of the command's files and records.
pub(crate) fn of(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Scenario(errors) => scenario(py, errors),
        Error::Input(what) => input(py, what),
        Error::Machine(what) => of_class(py, "UnsupportedError", what),
        Error::Law(what) => of_class(py, "LawError", what),
        Error::Bug(what) => of_class(py, "BugError", what),
    }
}

/// Why a run has no result.
pub(crate) fn of_run(py: Python<'_>, error: &RunError) -> PyErr {
    let text = error.to_string();
    match error {
        RunError::Input(_) => input(py, &text),
        RunError::Refused { .. } => of_class(py, "UnsupportedError", &text),
        RunError::Stopped => PyKeyboardInterrupt::new_err(()),
        RunError::Law { .. } => of_class(py, "LawError", &text),
        RunError::Broken(_) => of_class(py, "BugError", &text),
    }
}
