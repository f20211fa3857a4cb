//! The dataset of a sweep on disk: its partitions, and `cells.toml`, which lists those that are finished.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use indexmap::{IndexMap, IndexSet};
use penstock_record::{
    Axes, Dataset, FOLDER, SweepHeader, columns_held, partition_file, read_dataset, read_table, sweep_of_dataset,
    with_columns, write_partition,
};
use penstock_scenario::world::Table;
use serde_json::Value;

use crate::batch::Batch;
use crate::failure::{Failure, causes};
use crate::finished::Finished;
use crate::folder::{Folder, Others, unwritable};
use crate::named::Shown as _;
use crate::{content, disk, program, record, source, terminal};

/// The file that lists the partitions.
const LIST: &str = "cells.toml";

/// The dataset of a sweep, in its directory, which nobody else writes to.
pub(crate) struct Stored {
    folder: Folder,
    /// As `cells.toml` has it.
    dataset: Dataset,
    /// The columns of each finished partition.
    columns: Vec<Option<Columns>>,
}

/// Names of the columns of a partition, in order.
struct Columns {
    all: Vec<String>,
    /// Without those that no row has.
    held: Vec<String>,
}

impl Columns {
    fn of(table: &Table) -> Self {
        Self { all: table.columns.iter().map(|column| column.name.clone()).collect(), held: columns_held(table) }
    }
}

impl Stored {
    /// Opens the directory of a sweep, and reads its finished partitions, if it is of this dataset or of none yet. A damaged
    /// partition is set aside, and its cells run again.
    pub(crate) fn open(out: &Folder, batch: &Batch, ours: Dataset) -> Result<Self, Failure> {
        let folder = out.resume(&batch.stem, Others::Wait)?;
        let path = folder.path();
        let records = Finished::scan(path).map_err(|e| unwritable(path, &e))?;
        if !records.is_empty() || !is_at(path) && path.join("sweep.json").symlink_metadata().is_ok() {
            return Err(Failure::Input(format!(
                "{} has records of cells; leave out --dataset, or choose another directory with --out DIR",
                path.shown()
            )));
        }
        let theirs = match content::read(&path.join(LIST), content::HEADER) {
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            bytes => {
                Some(bytes.map_err(|e| e.to_string()).and_then(|bytes| read_dataset(&bytes).map_err(|e| causes(&e))))
            }
        };
        if let Some(Ok(theirs)) = &theirs
            && let Some(what) = differs(theirs, &ours)
        {
            return Err(Failure::Input(format!(
                "{} has the dataset of {what}; choose another directory with --out DIR, or remove that one",
                path.shown()
            )));
        }
        source::claim(&folder, batch, &ours.origin.world, &|| matches!(theirs, Some(Ok(_))))?;
        let partitions = match theirs {
            None => IndexMap::new(),
            Some(Ok(theirs)) => theirs.partitions,
            Some(Err(why)) => {
                set_aside(&folder, &folder.path().join(LIST), &why, "all cells run again")?;
                IndexMap::new()
            }
        };
        folder.make(FOLDER)?;
        let columns = (0..ours.all()).map(|_| None).collect();
        let mut stored = Self { folder, dataset: Dataset { partitions, ..ours }, columns };
        stored.check()?;
        let (there, all) = (stored.finished(), stored.dataset.cells);
        if there > 0 {
            terminal::note(format!("{there} of {all} cells are finished in {}", stored.path().shown()));
        }
        Ok(stored)
    }

    /// Reads the partitions that are listed, and sets aside those that are damaged.
    fn check(&mut self) -> Result<(), Failure> {
        for at in 0..self.dataset.all() {
            let name = partition_file(at);
            if !self.dataset.partitions.contains_key(&name) {
                continue;
            }
            match read_partition(self.path(), &self.dataset, at) {
                Ok(table) => self.columns[at] = Some(Columns::of(&table)),
                Err(why) => {
                    self.unlist(at)?;
                    let path = self.path().join(FOLDER).join(&name);
                    if path.symlink_metadata().is_ok() {
                        set_aside(&self.folder, &path, &why, "its cells run again")?;
                    } else {
                        terminal::note(format!("{}: {why}; its cells run again", self.path().shown()));
                    }
                }
            }
        }
        Ok(())
    }

    /// The directory of the sweep.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The number of finished cells.
    pub(crate) fn finished(&self) -> usize {
        self.dataset.finished()
    }

    /// Whether a partition is finished.
    pub(crate) fn has(&self, at: usize) -> bool {
        self.columns[at].is_some()
    }

    /// Writes a partition, which is finished then.
    pub(crate) fn put(&mut self, at: usize, table: &Table, axes: &Axes) -> Result<(), Failure> {
        let bytes = write_partition(table, axes).map_err(|e| record::bug(&e))?;
        // Who is killed between the two leaves a partition that is not listed, and never one with the hash of another.
        if self.has(at) {
            self.unlist(at)?;
        }
        self.folder.put_file_in(FOLDER, &partition_file(at), &bytes)?;
        self.dataset.partitions.insert(partition_file(at), record::hash(&bytes));
        self.columns[at] = Some(Columns::of(table));
        self.write_list()
    }

    fn unlist(&mut self, at: usize) -> Result<(), Failure> {
        self.dataset.partitions.shift_remove(&partition_file(at));
        self.columns[at] = None;
        self.write_list()
    }

    fn write_list(&self) -> Result<(), Failure> {
        let text = self.dataset.text().map_err(|e| record::bug(&e))?;
        self.folder.put_file(LIST, text.as_bytes()).map(drop)
    }

    /// With all partitions there: gives them the same columns, and writes `sweep.json`, which it returns as a value.
    pub(crate) fn complete(&mut self, axes: &Axes) -> Result<Value, Failure> {
        let held = self.columns.iter().flatten().flat_map(|columns| &columns.held);
        let names: IndexSet<String> = held.cloned().collect();
        for at in 0..self.columns.len() {
            if self.columns[at].as_ref().is_some_and(|columns| !columns.all.iter().eq(&names)) {
                let table = read_partition(self.path(), &self.dataset, at);
                let table = table.map_err(|why| Failure::Input(format!("{}: {why}", self.path().shown())))?;
                self.put(at, &with_columns(table, &names), axes)?;
            }
        }
        self.set_others_aside()?;
        let Dataset { title, changes, origin, cells, .. } = &self.dataset;
        let header = SweepHeader { title, changes, origin };
        let value = sweep_of_dataset(axes, [*cells, self.columns.len()], &header).map_err(|e| record::bug(&e))?;
        self.folder.put_file("sweep.json", &record::bytes(&value)?)?;
        Ok(value)
    }

    /// Sets aside what stands between the partitions and is none of them: readers would take it for one.
    fn set_others_aside(&self) -> Result<(), Failure> {
        let path = self.path().join(FOLDER);
        for entry in fs::read_dir(&path).map_err(|e| unwritable(&path, &e))? {
            let entry = entry.map_err(|e| unwritable(&path, &e))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') && !self.dataset.partitions.contains_key(&name) {
                let aside = self.folder.set_aside(&entry.path())?;
                terminal::note(format!("{}: no partition; it is renamed to {}", entry.path().shown(), aside.shown()));
            }
        }
        Ok(())
    }

    /// After a failure: prints how to continue.
    pub(crate) fn give_up(&self) {
        let (there, all) = (self.finished(), self.dataset.cells);
        if there > 0 {
            terminal::fail(format!(
                "{there} of {all} cells are kept in {}; run the same command again to continue",
                self.path().shown()
            ));
            return;
        }
        let _ = disk::remove_directory(&self.path().join(FOLDER));
        source::give_up(&self.folder);
        self.folder.remove_if_empty();
    }
}

fn set_aside(folder: &Folder, path: &Path, why: &str, then: &str) -> Result<(), Failure> {
    let aside = folder.set_aside(path)?;
    terminal::note(format!("{}: {why}; {then}, and this file is renamed to {}", path.shown(), aside.shown()));
    Ok(())
}

/// How a dataset differs from that of this sweep, if it does: that of what it is.
fn differs(theirs: &Dataset, ours: &Dataset) -> Option<String> {
    if !theirs.origin.computes_as(&ours.origin) {
        return Some(format!("other code (version {}), another world, or other use of --awake", theirs.origin.version));
    }
    if theirs.id != ours.id || theirs.changes != ours.changes {
        return Some(format!("other cells ({} of them), and a dataset does not grow", theirs.cells));
    }
    (theirs.partition != ours.partition).then(|| format!("partitions of {0} cells (--dataset={0})", theirs.partition))
}

/// A partition, if it is as it was written.
fn read_partition(directory: &Path, dataset: &Dataset, at: usize) -> Result<Table, String> {
    let name = partition_file(at);
    let bytes = content::read(&directory.join(FOLDER).join(&name), content::TABLE);
    dataset
        .intact(&name, bytes.as_deref().map_err(|e| io::Error::new(e.kind(), e.to_string())))
        .map_err(|e| causes(&e))?;
    let bytes = bytes.unwrap_or_default();
    read_table(&bytes).map_err(|e| format!("{FOLDER}/{name}: {}", causes(&e)))
}

/// Whether a directory is that of a dataset.
pub(crate) fn is_at(directory: &Path) -> bool {
    directory.join(LIST).symlink_metadata().is_ok()
}

/// Why a command that reads records does not take the dataset in a directory.
pub(crate) fn refusal(directory: &Path) -> Failure {
    let (program, place) = (program::name(), directory.shown());
    Failure::Input(format!(
        "{place} has its cells as a dataset, without records; `{program} report --csv {place}` prints them, and pandas, polars and \
         DuckDB read {place}/{FOLDER}"
    ))
}

/// Reads the list of a complete dataset.
pub(crate) fn read(directory: &Path) -> Result<Dataset, Failure> {
    let path = directory.join(LIST);
    let bytes = content::read(&path, content::HEADER)
        .map_err(|e| Failure::Input(format!("cannot read {}: {e}", path.shown())))?;
    let dataset = read_dataset(&bytes).map_err(|e| Failure::Input(format!("{}: {}", path.shown(), causes(&e))))?;
    let (there, all) = (dataset.finished(), dataset.cells);
    if there < all {
        return Err(unfinished(directory, &format!("{there} of {all} cells are finished")));
    }
    Ok(dataset)
}

/// Why a dataset is not complete, and how it becomes so.
pub(crate) fn unfinished(directory: &Path, why: &str) -> Failure {
    Failure::Input(format!("{}: {why}; run its sweep again to complete it", directory.shown()))
}

/// Reads a partition of a complete dataset.
pub(crate) fn rows(directory: &Path, dataset: &Dataset, at: usize) -> Result<Table, Failure> {
    read_partition(directory, dataset, at).map_err(|why| unfinished(directory, &why))
}
