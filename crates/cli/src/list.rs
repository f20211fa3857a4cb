//! `penstock list`: the records below a directory, and what tells them apart.

use std::fs;
use std::path::{Path, PathBuf};

use penstock_record::{Origin, read_header};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::arguments::List;
use crate::failure::{Done, Failure, causes};
use crate::{content, pages, terminal};

/// How far below the directory records are looked for: those of a paper are in the directory of a sweep in its own.
const DEPTH: usize = 3;

/// A record, or a sweep, whose cells are not listed one by one.
#[derive(Debug, Serialize)]
struct Listed {
    /// Where it is.
    record: String,
    /// `run` or `sweep`.
    kind: &'static str,
    title: String,
    world: String,
    /// The seed of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// How many cells a sweep has.
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<usize>,
    /// What was changed in the scenario's file, `KEY=VALUE`.
    changes: Vec<String>,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Listing {
    format: u32,
    records: Vec<Listed>,
}

/// What is needed of `sweep.json`.
#[derive(Debug, Deserialize)]
struct Sweep {
    #[serde(default)]
    title: String,
    #[serde(default)]
    changes: Vec<String>,
    #[serde(flatten)]
    origin: Origin,
    cells: Vec<Value>,
}

/// Runs the command.
pub(crate) fn list(arguments: &List) -> Result<Done, Failure> {
    let mut records = Vec::new();
    // Of a sweep that is named, the cells.
    let all = if arguments.directory.join("sweep.json").is_file() { below } else { look };
    all(&arguments.directory, DEPTH, &mut records)
        .map_err(|e| Failure::Input(format!("cannot read {}: {e}", arguments.directory.display())))?;
    if arguments.json {
        terminal::say_json(&Listing { format: 1, records })?;
    } else if records.is_empty() {
        terminal::say(format!("no records in {}", arguments.directory.display()))?;
    } else {
        terminal::say(printed(&records))?;
    }
    Ok(Done::Well)
}

/// Adds the record or sweep that a directory is, or else those below it. What cannot be read is told, and passed over.
fn look(directory: &Path, depth: usize, found: &mut Vec<Listed>) -> std::io::Result<()> {
    let has = |name: &str| directory.join(name).is_file();
    let (name, read) = if has("record.toml") {
        ("record.toml", of_run(directory))
    } else if has("sweep.json") {
        ("sweep.json", of_sweep(directory))
    } else {
        return below(directory, depth, found);
    };
    match read {
        Ok(listed) => found.push(listed),
        Err(why) => terminal::note(format!("{}: {why}", directory.join(name).display())),
    }
    Ok(())
}

/// Adds the records below a directory, in the order of their names.
fn below(directory: &Path, depth: usize, found: &mut Vec<Listed>) -> std::io::Result<()> {
    let mut directories: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        // A link may lead in a circle.
        if !hidden && entry.file_type()?.is_dir() {
            directories.push(entry.path());
        }
    }
    directories.sort();
    for path in directories.iter().filter(|_| depth > 0) {
        if let Err(e) = look(path, depth - 1, found) {
            terminal::note(format!("cannot read {}: {e}", path.display()));
        }
    }
    Ok(())
}

fn of_run(directory: &Path) -> Result<Listed, String> {
    let bytes = content::read(&directory.join("record.toml"), content::HEADER).map_err(|e| e.to_string())?;
    let header = read_header(&bytes).map_err(|e| causes(&e))?;
    Ok(Listed {
        record: directory.display().to_string(),
        kind: "run",
        title: header.title().map_err(|e| causes(&e))?,
        world: header.provenance.origin.world,
        seed: Some(header.seed),
        cells: None,
        changes: header.provenance.changes,
    })
}

fn of_sweep(directory: &Path) -> Result<Listed, String> {
    let bytes = content::read(&directory.join("sweep.json"), content::SUMMARY).map_err(|e| e.to_string())?;
    let sweep: Sweep = serde_json::from_slice(&bytes).map_err(|e| e.to_string())?;
    Ok(Listed {
        record: directory.display().to_string(),
        kind: "sweep",
        title: sweep.title,
        world: sweep.origin.world,
        seed: None,
        cells: Some(sweep.cells.len()),
        changes: sweep.changes,
    })
}

fn printed(records: &[Listed]) -> String {
    let rows = records.iter().map(|listed| {
        let seed = listed.seed.map(|seed| seed.to_string());
        let cells = listed.cells.map(|cells| format!("sweep of {cells}"));
        let changes = listed.changes.join("; ");
        let seed = seed.or(cells).unwrap_or_default();
        vec![listed.record.clone(), listed.title.clone(), listed.world.clone(), seed, changes]
    });
    let heads = ["record", "title", "world", "seed", "changed"].map(|head| (head, false));
    pages::table("", &heads, rows.collect())
}
