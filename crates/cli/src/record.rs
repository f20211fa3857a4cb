//! Results of the command on disk: each cell's record, and the files of a sweep as a whole.

use std::path::{Path, PathBuf};

use penstock_record::{
    CellRow, Meaning, Measures, Origin, Record, RecordError, SweepCell, SweepHeader, hexadecimal, json, summary_file,
    sweep, write_cells, write_table,
};
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Cell;
use penstock_scenario::summary::{Cost, Summary};
use penstock_scenario::world::{Run, Table};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::batch::Batch;
use crate::failure::{Failure, causes};
use crate::folder::{File, Folder, slug, slug_with_hash};
use crate::jobs::Made;
use crate::machine::provenance;

/// A run that is on disk.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// Where.
    pub(crate) path: PathBuf,
    /// Its measurements.
    pub(crate) summary: Summary,
    /// Its cost, where it ran now.
    pub(crate) cost: Option<Cost>,
}

impl Kept {
    /// Where it is, from the directory of its sweep.
    pub(crate) fn within(&self, folder: &Path) -> String {
        self.path.strip_prefix(folder).unwrap_or(&self.path).display().to_string()
    }
}

/// The name of the record of a cell within a sweep.
pub(crate) fn name(cell: &Cell) -> String {
    let words: Vec<&str> = cell.labels.iter().map(|(_, value)| value.as_str()).collect();
    let id = cell.id.get(..8).unwrap_or(&cell.id);
    match slug(&words.join(" ")) {
        words if words.is_empty() => id.to_owned(),
        words => format!("{words}-{id}"),
    }
}

/// The name of the record of a single run: by its file, its changes now, and its seed.
pub(crate) fn single_name(batch: &Batch, cell: &Cell) -> String {
    let changed = batch.changed_now.iter().filter_map(|change| change.split_once('='));
    let words = changed.filter(|(key, _)| *key != "seed").map(|(key, value)| {
        let name = key.rsplit('.').next().unwrap_or(key);
        format!("{name} {value}")
    });
    let changed = slug_with_hash(&words.collect::<Vec<_>>().join(" "));
    let dash = if changed.is_empty() { "" } else { "-" };
    format!("{}{dash}{changed}-seed{}", batch.stem, cell.scenario.seed.0)
}

/// The subject of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) scenario: &'a Scenario,
    /// Differences from the scenario's file, `KEY=VALUE`.
    pub(crate) changes: &'a [String],
    /// Labels that distinguish a cell of a sweep from the others.
    pub(crate) labels: &'a [(String, String)],
}

impl<'a> Subject<'a> {
    /// A cell of a file.
    pub(crate) fn cell(batch: &'a Batch, cell: &'a Cell) -> Self {
        Self { scenario: &cell.scenario, changes: &batch.changes, labels: &cell.labels }
    }
}

/// Writes the record of a run, into a draft where one was begun; `with` adds files made from it.
pub(crate) fn keep(
    folder: &Folder,
    name: &str,
    of: Subject<'_>,
    made: Made,
    with: impl FnOnce(&Run) -> Vec<File>,
) -> Result<Kept, Failure> {
    let Made { run, cost, draft } = made;
    let provenance = provenance(&run.summary, of.changes, of.labels)?;
    let mut record = Record::of(of.scenario, &run, &provenance).map_err(|e| bug(&e))?;
    let value = serde_json::to_value(&cost).map_err(|e| Failure::Bug(e.to_string()))?;
    record.files.push(("cost.json".to_owned(), bytes(&value)?));
    record.files.extend(with(&run));
    let draft = draft.map_or_else(|| folder.draft(name), Ok)?;
    let path = folder.complete(&draft, name, &record.files)?;
    Ok(Kept { path, summary: run.summary, cost: Some(cost) })
}

/// The content of `summary.json` of a record.
pub(crate) fn of_run(batch: &Batch, kept: &Kept) -> Result<Value, Failure> {
    summary_file(&kept.summary, &batch.changes).map_err(|e| bug(&e))
}

/// `sweep.json` as a value, of runs of that origin whose records are in `folder`.
pub(crate) fn of_sweep(origin: &Origin, folder: &Path, batch: &Batch, kept: &[Kept]) -> Result<Value, Failure> {
    let paths: Vec<String> = kept.iter().map(|kept| kept.within(folder)).collect();
    let rows: Vec<SweepCell<'_>> = batch
        .cells
        .iter()
        .zip(kept)
        .zip(&paths)
        .map(|((cell, kept), path)| SweepCell { path, labels: &cell.labels, id: &cell.id, summary: &kept.summary })
        .collect();
    let header = SweepHeader { title: &batch.title, changes: &batch.changes, origin };
    sweep(&rows, &header).map_err(|e| bug(&e))
}

/// `cells.parquet` of the same.
pub(crate) fn cells_of(folder: &Path, batch: &Batch, kept: &[Kept]) -> Result<Vec<u8>, Failure> {
    let paths: Vec<String> = kept.iter().map(|kept| kept.within(folder)).collect();
    let rows: Vec<CellRow<'_>> = batch
        .cells
        .iter()
        .zip(&paths)
        .map(|(cell, path)| CellRow { path, id: &cell.id, changes: &batch.changes, labels: &cell.labels })
        .collect();
    let measures = Measures::of(kept.iter().map(|kept| &kept.summary)).map_err(|e| bug(&e))?;
    write_cells(&rows, &measures).map_err(|e| bug(&e))
}

/// A table as Parquet, whose columns have their units in another column.
pub(crate) fn table(table: &Table) -> Result<Vec<u8>, Failure> {
    write_table(table, &|_| Meaning::default()).map_err(|e| bug(&e))
}

/// JSON as files hold it.
pub(crate) fn bytes(value: &Value) -> Result<Vec<u8>, Failure> {
    json(value).map_err(|e| bug(&e))
}

/// A file's path for people.
pub(crate) fn shown(path: &Path, file: &str) -> String {
    path.join(file).display().to_string()
}

/// The SHA-256 of a file, in hexadecimal digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// A world's numbers and a record's files are ours alike.
pub(crate) fn bug(error: &RecordError) -> Failure {
    Failure::Bug(causes(error))
}
