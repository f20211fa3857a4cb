//! Looks at the signals of the process while a run goes on.

#![allow(
    clippy::disallowed_types,
    reason = "wall time says when to look for Ctrl-C, and nothing of a run depends on it"
)]

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How long a run goes on, or the thread of Python waits, without a look.
pub(crate) const LOOKS: Duration = Duration::from_millis(20);

/// Looks at the signals of the process, now and then.
pub(crate) struct Looks {
    last: Mutex<Instant>,
    /// The exception that ends the run.
    raised: Mutex<Option<PyErr>>,
}

impl Looks {
    /// The first look comes in a while.
    pub(crate) fn begin() -> Self {
        Self { last: Mutex::new(Instant::now()), raised: Mutex::new(None) }
    }

    /// The exception that ended the run, if one did.
    pub(crate) fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether the run goes on. If it is time, looks at the signals, and then does `besides`.
    pub(crate) fn look(&self, besides: impl FnOnce(Python<'_>) -> PyResult<()>) -> bool {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if raised.is_none() && now.duration_since(*last) >= LOOKS {
            *last = now;
            let looked = Python::attach(|py| py.check_signals().and_then(|()| besides(py)));
            *raised = looked.err();
        }
        raised.is_none()
    }
}

impl Looks {
    /// Unwinds to [`while_wanted`] if a signal ends the work.
    pub(crate) fn leave_unless_wanted(&self) {
        if !self.look(|_| Ok(())) {
            panic::resume_unwind(Box::new(Left));
        }
    }
}

/// Unwinds: a signal ends the work.
struct Left;

/// Does work that nothing else ends, without the lock of the interpreter, until it ends or is left.
pub(crate) fn while_wanted<T: Send>(py: Python<'_>, work: impl FnOnce(&Looks) -> T + Send) -> PyResult<T> {
    let looks = Looks::begin();
    let done = py.detach(|| panic::catch_unwind(AssertUnwindSafe(|| work(&looks))));
    done.map_err(|payload| match looks.raised() {
        Some(raised) if payload.is::<Left>() => raised,
        _ => panic::resume_unwind(payload),
    })
}
