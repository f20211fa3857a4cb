//! Operations on the disk below a directory, in order: for tests.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// One thing that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    MakeDirectory(PathBuf),
    Create(PathBuf),
    Write(PathBuf, Vec<u8>),
    Sync(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl Step {
    fn at(&self) -> &Path {
        match self {
            Self::MakeDirectory(at)
            | Self::Create(at)
            | Self::Write(at, _)
            | Self::Sync(at)
            | Self::Rename(at, _)
            | Self::Remove(at) => at,
        }
    }
}

/// The directories that are watched, and the operations below each: tests run side by side.
static WATCHED: Mutex<Vec<(PathBuf, Vec<Step>)>> = Mutex::new(Vec::new());

/// Takes note of a step.
pub(super) fn note(step: &Step) {
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    for (_, steps) in watched.iter_mut().filter(|(root, _)| step.at().starts_with(root)) {
        steps.push(step.clone());
    }
}

/// The operations of `work` below `root`.
pub(super) fn of(root: &Path, work: impl FnOnce()) -> Vec<Step> {
    let all = || WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    all().push((root.to_path_buf(), Vec::new()));
    work();
    let mut watched = all();
    let at = watched.iter().position(|(r, _)| r == root).expect("it was put there");
    watched.swap_remove(at).1
}
