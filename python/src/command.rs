//! The command `penstock`, started by Python, and its commands as functions.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use penstock_cli::library;
use penstock_law::Registry;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::law::raised;
use crate::looks::LOOKS;
use crate::{error, plain};

/// Runs the command with these arguments, the name of the program first, and returns its exit status.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| penstock_cli::run_with(Registry::standard(), arguments))
}

/// Does the work of a thread that Python knows until its end. Such a thread is attached quickly whenever a law of Python is called;
/// for another one Python makes a state of a thread at each call, and deletes it.
pub(crate) fn known(work: &mut (dyn FnMut() + Send + '_)) {
    Python::attach(|py| py.detach(work));
}

/// Writes the files of `penstock init` into a new directory.
#[pyfunction]
pub(crate) fn init(py: Python<'_>, folder: PathBuf) -> PyResult<()> {
    py.detach(|| library::init(&folder)).map_err(|e| error::of(py, &e))
}

/// The result of a command, its notes, and its exit status.
type Answer<'py> = (Bound<'py, PyAny>, Vec<String>, u8);

/// Runs a command within this process, with the laws that are registered. Texts stand for the files of their paths.
#[pyfunction]
pub(crate) fn answer(
    py: Python<'_>,
    arguments: Vec<OsString>,
    texts: BTreeMap<PathBuf, String>,
) -> PyResult<Answer<'_>> {
    raised::refuse_in_law()?;
    library::around_threads(known);
    let work = move || {
        // A panic is a bug, and no reason for the interpreter to end.
        raised::on_threads(|| catch_unwind(AssertUnwindSafe(|| library::command(arguments, texts))))
    };
    let (done, of_law) = py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel::<()>();
            let worker = scope.spawn(move || {
                // As in `known`: laws are called on this thread too.
                let done = Python::attach(|py| py.detach(work));
                drop(sender);
                done
            });
            let mut interrupted = None;
            while let Err(mpsc::RecvTimeoutError::Timeout) = receiver.recv_timeout(LOOKS) {
                if interrupted.is_none() {
                    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is not general enough")]
                    let signals = Python::attach(|py| py.check_signals());
                    interrupted = signals.err();
                }
                // Said again and again: the command may not have begun.
                if interrupted.is_some() {
                    library::stop();
                }
            }
            let (done, raised) = worker.join().unwrap_or_else(|panic| (Err(panic), None));
            (done, interrupted.or(raised))
        })
    });
    if let Some(raised) = of_law {
        return Err(raised);
    }
    let done = done.map_err(|panic| {
        let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        error::of_class(py, "BugError", what.unwrap_or("panic"))
    })?;
    let found = done.map_err(|e| error::of(py, &e))?.ok_or_else(|| PyKeyboardInterrupt::new_err(()))?;
    Ok((plain::object(py, &found.value)?, found.notes, found.status))
}
