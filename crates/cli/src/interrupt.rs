//! Ctrl-C: what runs is told to stop, and tidies up.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

static STOPPED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C, a hang-up or a polite kill sets [`stopped`] instead of ending the process; the second time it
/// ends it.
pub(crate) fn watch() -> Result<(), Failure> {
    let stop = || {
        if STOPPED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(Failure::Stopped.status()));
        }
    };
    ctrlc::set_handler(stop).map_err(|e| Failure::Machine(format!("cannot watch for Ctrl-C: {e}")))
}

/// Whether whoever started the command wants it to end.
pub(crate) fn stopped() -> bool {
    STOPPED.load(Ordering::Relaxed)
}
