//! Logs of a run's connections (qlog) on their way into a record that is not complete yet.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use penstock_scenario::world::Log;

use crate::draft::Draft;
use crate::failure::Failure;
use crate::folder::{Folder, unwritable};
use crate::named::Shown as _;

/// A log takes no more [B]: the files of a record are read up to a size.
const MOST: u64 = 900_000_000;

/// The name of the log of a flow, counted over all groups in the order of the file.
fn file_name(flow: u32) -> String {
    format!("flow-{flow}.sqlog")
}

/// A draft of a record with logs that are being written.
#[derive(Debug)]
pub(crate) struct Logging {
    draft: Draft,
    /// Its final path, for messages.
    place: PathBuf,
    files: Vec<(String, Arc<Mutex<Written>>)>,
}

/// A file, and why it cannot go on.
#[derive(Debug)]
struct Written {
    file: BufWriter<File>,
    bytes: u64,
    failed: Option<io::Error>,
}

/// Writes to one of them. Who writes hears of no failure, and stops with the run.
struct Pen(Arc<Mutex<Written>>);

impl Write for Pen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if written.failed.is_some() {
            return Ok(bytes.len());
        }
        written.bytes += bytes.len() as u64;
        let done = if written.bytes > MOST {
            let what = format!("a log of more than {} MB; run for a shorter duration", MOST / 1_000_000);
            Err(io::Error::new(ErrorKind::FileTooLarge, what))
        } else {
            written.file.write_all(bytes)
        };
        written.failed = done.err();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Logging {
    /// Begins a record with logs.
    pub(crate) fn begin(folder: &Folder, name: &str) -> Result<Self, Failure> {
        Ok(Self { draft: folder.draft(name)?, place: folder.path().join(name), files: Vec::new() })
    }

    /// The log of a flow; [`Logging::failed`] reports errors.
    pub(crate) fn log(&mut self, flow: u32) -> Option<Log> {
        let name = file_name(flow);
        let file = File::create_new(self.draft.path().join(&name));
        let (file, failed) = match file {
            Ok(file) => (file, None),
            // Somewhere it has to go; nothing reaches it.
            Err(error) => (File::open(self.draft.path()).ok()?, Some(error)),
        };
        let written = Arc::new(Mutex::new(Written { file: BufWriter::with_capacity(1 << 20, file), bytes: 0, failed }));
        self.files.push((name, Arc::clone(&written)));
        Some(Box::new(Pen(written)))
    }

    /// Whether one has failed, so that going on is useless.
    pub(crate) fn failed(&self) -> bool {
        let failed = |written: &Mutex<Written>| written.lock().is_ok_and(|written| written.failed.is_some());
        self.files.iter().any(|(_, written)| failed(written))
    }

    /// Ends the logs and gives the draft that they are in; or the error.
    pub(crate) fn finish(self) -> Result<Draft, Failure> {
        for (name, written) in &self.files {
            let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
            let ended = written.failed.take().map_or_else(|| written.file.flush(), Err);
            ended.map_err(|e| unwritable(&self.place.join(name), &e))?;
        }
        Ok(self.draft)
    }
}

/// The names of the logs in a record.
pub(crate) fn names(record: &Path) -> Result<Vec<String>, Failure> {
    let entries = fs::read_dir(record).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|e| Failure::Machine(format!("cannot read {}: {e}", record.shown())))?;
    let names = entries.iter().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "sqlog")).collect();
    names.sort_by_key(|name| (name.len(), name.clone()));
    Ok(names)
}
