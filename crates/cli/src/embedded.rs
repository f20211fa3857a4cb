//! A command within another program: its output is kept and not printed, and files may be given as texts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The output of a command.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// On standard output: its JSON.
    pub(crate) said: Vec<String>,
    /// On standard error, line by line.
    pub(crate) notes: Vec<String>,
}

/// A command that is running within another program.
#[derive(Debug, Default)]
struct Running {
    texts: BTreeMap<PathBuf, String>,
    heard: Heard,
}

/// The work of a thread.
type ThreadWork<'a> = dyn FnMut() + Send + 'a;

/// Surrounds the work of each thread that a command starts.
static AROUND: OnceLock<fn(&mut ThreadWork<'_>)> = OnceLock::new();

static RUNNING: Mutex<Option<Running>> = Mutex::new(None);
static STOPPED: AtomicBool = AtomicBool::new(false);

fn running() -> MutexGuard<'static, Option<Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on `around` surrounds the work of each thread. The first call counts.
pub(crate) fn surround(around: fn(&mut ThreadWork<'_>)) {
    let _ = AROUND.set(around);
}

/// Does the work of a thread that has just begun.
pub(crate) fn on_thread(work: &mut ThreadWork<'_>) {
    match AROUND.get() {
        Some(around) => around(work),
        None => work(),
    }
}

/// A command begins. These texts stand for the files of their paths. A caller repeats its stop until the command has ended: the
/// last stop may come after that end, and is not for this command.
pub(crate) fn begin(texts: BTreeMap<PathBuf, String>) {
    STOPPED.store(false, Ordering::Relaxed);
    *running() = Some(Running { texts, heard: Heard::default() });
}

/// The command has ended: returns its output.
pub(crate) fn end() -> Heard {
    STOPPED.store(false, Ordering::Relaxed);
    running().take().map(|running| running.heard).unwrap_or_default()
}

/// Whether a command runs within another program.
pub(crate) fn is_running() -> bool {
    running().is_some()
}

/// The user wants the command to end.
pub(crate) fn stop() {
    STOPPED.store(true, Ordering::Relaxed);
}

/// Whether a stop was requested.
pub(crate) fn stopped() -> bool {
    STOPPED.load(Ordering::Relaxed)
}

/// The text that stands for a file.
pub(crate) fn text(path: &Path) -> Option<String> {
    running().as_ref()?.texts.get(path).cloned()
}

/// Keeps text for standard output. Gives it back where no command runs here.
pub(crate) fn say(text: &str) -> bool {
    running().as_mut().map(|running| running.heard.said.push(text.to_owned())).is_some()
}

/// The same for standard error.
pub(crate) fn note(text: &str) -> bool {
    running().as_mut().map(|running| running.heard.notes.push(text.to_owned())).is_some()
}

/// Tests that run commands in this process take turns: what one command says is not for another.
#[cfg(test)]
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
