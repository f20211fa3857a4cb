//! Ctrl-C: running work stops, and tidies up.

use std::fs;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::embedded;
use crate::failure::Failure;

static STOPPED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C, a hang-up or a polite kill sets [`stopped`] instead of ending the process; the second time it
/// ends it. A signal that was ignored when the command began stays ignored: `nohup` does that to hang-ups, and a shell
/// to the Ctrl-C of its programs in the background.
pub(crate) fn watch() -> Result<(), Failure> {
    static WATCHED: OnceLock<Result<(), String>> = OnceLock::new();
    // The other program has its own ways with signals.
    if embedded::is_running() {
        return Ok(());
    }
    let watched = WATCHED.get_or_init(|| start().map_err(|e| e.to_string()));
    watched.clone().map_err(|e| Failure::Machine(format!("cannot watch for Ctrl-C: {e}")))
}

fn start() -> io::Result<()> {
    let ignored = fs::read_to_string("/proc/self/status").map_or(0, |status| ignored(&status));
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| ignored >> (s - 1) & 1 == 0))?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for _ in signals.forever() {
            if STOPPED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(Failure::Stopped.status()));
            }
        }
    })?;
    Ok(())
}

/// The signals that a process ignores, by its status as Linux has it: bit 0 is signal 1. Elsewhere they are unknown without
/// a call that this program does not make, and none is.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Whether the user wants the command to end.
pub(crate) fn stopped() -> bool {
    STOPPED.load(Ordering::Relaxed) || embedded::stopped()
}

/// Unwinds out of a computation that nothing else ends, where the user wants the command to end. [`unless_left`] is around it.
pub(crate) fn leave_if_stopped() {
    if stopped() {
        panic::resume_unwind(Box::new(Left));
    }
}

/// The result of `work`, or that it was left.
pub(crate) fn unless_left<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        if payload.is::<Left>() { Err(Failure::Stopped) } else { panic::resume_unwind(payload) }
    })
}

/// Unwinds: the user wants the command to end.
struct Left;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_read_bit_by_bit() {
        assert_eq!(ignored("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000003\nSigCgt:\tff\n"), 0b11);
        assert_eq!(ignored("Name:\tpenstock\n"), 0);
    }
}
