//! Fuzz targets: every parser that reads a file or a packet of somebody else's.
//!
//! Each module has a `check`, which panics where a parser breaks what it promises, and `seeds`, inputs to begin with.
//! `make fuzz` feeds them by coverage, with libFuzzer; `cargo test -p penstock-fuzz` runs the inputs that are kept in
//! `crates/fuzz/corpus/` and some thousand mutations, without it. An input that once broke something is added to the corpus.

pub mod mutate;
pub mod paper;
pub mod path;
pub mod record;
pub mod scenario;
pub mod tc;
pub mod trace;
pub mod vectors;

use std::fs;
use std::path::{Path, PathBuf};

/// A parser under test.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, that of its binary and of its folder in `crates/fuzz/corpus/`.
    pub name: &'static str,
    /// Panics where the parser breaks a promise on this input.
    pub check: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them but [`tc`], which needs the kernel.
pub const TARGETS: &[Target] = &[
    Target { name: "scenario", check: scenario::check, seeds: scenario::seeds },
    Target { name: "record", check: record::check, seeds: record::seeds },
    Target { name: "trace", check: trace::check, seeds: trace::seeds },
    Target { name: "path", check: path::check, seeds: path::seeds },
    Target { name: "vectors", check: vectors::check, seeds: vectors::seeds },
    Target { name: "paper", check: paper::check, seeds: paper::seeds },
];

/// The top of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The contents of the files of a folder of the repository that end so, by their names.
fn files(folder: &str, end: &str) -> Vec<Vec<u8>> {
    let Ok(entries) = fs::read_dir(repository().join(folder)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(end));
    paths.sort();
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}
