//! Exceptions of laws, which a host of laws knows nothing of.
//!
//! A law that raised gives an output that is no number, and so its host stops. The caller of the host then finds the exception here.

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Where exceptions of this thread go: the first since [`here`] was called.
enum Place {
    /// To [`ELSEWHERE`].
    Elsewhere,
    /// To this place, which is empty until then.
    Here(Option<PyErr>),
}

thread_local! {
    /// Whether a law of Python is being called.
    static IN_LAW: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Place> = const { RefCell::new(Place::Elsewhere) };
}

/// The first exception on a thread that belongs to a pool of the command's.
static ELSEWHERE: Mutex<Option<PyErr>> = Mutex::new(None);

fn elsewhere() -> MutexGuard<'static, Option<PyErr>> {
    ELSEWHERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A law raised this on this thread.
pub(crate) fn put(error: PyErr) {
    PLACE.with_borrow_mut(|place| match place {
        Place::Here(first) => {
            first.get_or_insert(error);
        }
        Place::Elsewhere => {
            elsewhere().get_or_insert(error);
        }
    });
}

/// Does what may call laws on this thread alone, and returns what they raised besides.
pub(crate) fn here<T>(work: impl FnOnce() -> T) -> (T, Option<PyErr>) {
    let before = PLACE.replace(Place::Here(None));
    let done = work();
    match PLACE.replace(before) {
        Place::Here(raised) => (done, raised),
        Place::Elsewhere => (done, None),
    }
}

/// The same for what calls laws on threads of its own. One at a time.
pub(crate) fn on_threads<T>(work: impl FnOnce() -> T) -> (T, Option<PyErr>) {
    *elsewhere() = None;
    let done = work();
    (done, elsewhere().take())
}

/// Calls a law.
pub(crate) fn in_law<T>(call: impl FnOnce() -> T) -> T {
    let before = IN_LAW.replace(true);
    let done = call();
    IN_LAW.set(before);
    done
}

/// Refuses what a law calls and should not: it would wait for itself, or fill the stack.
pub(crate) fn refuse_in_law() -> PyResult<()> {
    if IN_LAW.get() {
        return Err(PyRuntimeError::new_err(
            "a law runs no scenario and registers no law: do so before or after the run",
        ));
    }
    Ok(())
}
