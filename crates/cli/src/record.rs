//! What the command leaves behind: each cell's record, and what is said of a sweep as a whole.

use std::path::{Path, PathBuf};

use penstock_scenario::model::Scenario;
use penstock_scenario::read::Cell;
use penstock_scenario::record::{Record, RecordError, SweepCell, json, sweep};
use penstock_scenario::summary::Summary;
use penstock_scenario::world::Run;
use serde_json::Value;

use crate::draft::Draft;
use crate::failure::{Failure, causes};
use crate::folder::{Folder, slug};
use crate::machine::{origin, provenance};

/// A run that is on disk.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// Where.
    pub(crate) path: PathBuf,
    /// What it measured.
    pub(crate) summary: Summary,
}

/// What the record of a cell is called within a sweep.
pub(crate) fn name(cell: &Cell) -> String {
    let words: Vec<&str> = cell.labels.iter().map(|(_, value)| value.as_str()).collect();
    let id = cell.id.get(..8).unwrap_or(&cell.id);
    match slug(&words.join(" ")) {
        words if words.is_empty() => id.to_owned(),
        words => format!("{words}-{id}"),
    }
}

/// Writes the record of a run, into a draft where one was begun; `with` adds files made from it.
pub(crate) fn keep(
    folder: &Folder,
    name: &str,
    labels: &[(String, String)],
    scenario: &Scenario,
    run: Run,
    draft: Option<Draft>,
    with: impl FnOnce(&Run) -> Vec<(String, Vec<u8>)>,
) -> Result<Kept, Failure> {
    let mut record = Record::of(scenario, &run, &provenance(&run, labels)?).map_err(|e| bug(&e))?;
    record.files.extend(with(&run));
    let draft = draft.map_or_else(|| folder.draft(name), Ok)?;
    let path = folder.complete(&draft, name, &record.files)?;
    Ok(Kept { path, summary: run.summary })
}

/// `sweep.json` as a value, of runs in the world of that name.
pub(crate) fn of_sweep(world: &str, cells: &[Cell], kept: &[Kept]) -> Result<Value, Failure> {
    let rows: Vec<SweepCell<'_>> = cells
        .iter()
        .zip(kept)
        .map(|(cell, kept)| SweepCell { labels: &cell.labels, id: &cell.id, summary: &kept.summary })
        .collect();
    sweep(&rows, &origin(world)?).map_err(|e| bug(&e))
}

/// JSON as files hold it.
pub(crate) fn bytes(value: &Value) -> Result<Vec<u8>, Failure> {
    json(value).map_err(|e| bug(&e))
}

/// A file's path for people.
pub(crate) fn shown(path: &Path, file: &str) -> String {
    path.join(file).display().to_string()
}

// What a world measured and what a record holds are ours alike.
fn bug(error: &RecordError) -> Failure {
    Failure::Bug(causes(error))
}
