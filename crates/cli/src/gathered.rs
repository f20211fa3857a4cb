//! Records that the user named, whatever their world and version: their numbers and their series.

use std::fs;
use std::path::{Path, PathBuf};

use penstock_record::{Header, RecordError, read_header_of_any, read_summary, read_table};
use penstock_report::assemble::Ran;
use penstock_scenario::summary::Summary;
use penstock_scenario::world::Table;
use serde::Deserialize;

use crate::failure::{Failure, causes};
use crate::folder::is_set_aside;
use crate::named::Shown as _;
use crate::{content, dataset, terminal};

/// Depth below a directory at which records are looked for: those of a paper are in the directory of a sweep in its own.
const DEPTH: usize = 4;
/// More records are not a page.
const MOST: usize = 2000;
/// Series of more records than these are not read: their curves would not be drawn.
const DRAWN: usize = 200;
/// Tables over time.
const SERIES: [&str; 4] = ["links", "groups", "classes", "customers"];

/// A record, or a run that has none.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// Its path, or its kind.
    pub(crate) place: String,
    /// The last part of its path.
    pub(crate) name: String,
    /// The version that computed it.
    pub(crate) version: String,
    pub(crate) scenario: String,
    /// The values of the keys that its sweep has.
    pub(crate) swept: Vec<(String, String)>,
    /// The law of each group's senders.
    pub(crate) laws: Vec<(String, String)>,
    pub(crate) summary: Summary,
    pub(crate) series: Vec<Table>,
}

impl Gathered {
    /// As pages have it.
    pub(crate) fn ran(&self) -> Ran<'_> {
        Ran {
            name: &self.name,
            version: &self.version,
            scenario_text: &self.scenario,
            swept: &self.swept,
            laws: &self.laws,
            summary: &self.summary,
            series: &self.series,
        }
    }
}

/// The records at and below the named directories, each once.
pub(crate) fn of(named: &[PathBuf]) -> Result<Vec<Gathered>, Failure> {
    let mut places: Vec<PathBuf> = Vec::new();
    for path in named {
        // `record.toml` stands for its directory.
        let directory = if path.ends_with("record.toml") { path.parent().unwrap_or(path) } else { path };
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        if dataset::is_at(directory) {
            return Err(dataset::refusal(directory));
        }
        let before = places.len();
        look(directory, DEPTH, &mut places)
            .map_err(|e| Failure::Input(format!("cannot read {}: {e}", directory.shown())))?;
        if places.len() == before {
            return Err(Failure::Input(format!(
                "{}: no record in it: name a directory that has record.toml, or one above such directories",
                directory.shown()
            )));
        }
        if places.len() > MOST {
            return Err(Failure::Input(format!(
                "{}: {} records, more than {MOST}: name fewer directories",
                directory.shown(),
                places.len()
            )));
        }
    }
    let mut taken: Vec<PathBuf> = Vec::new();
    for place in places {
        if !taken.contains(&place) {
            taken.push(place);
        }
    }
    taken.iter().map(|place| read(place, taken.len() <= DRAWN)).collect()
}

/// The cells of a sweep, as far as their records are looked for.
#[derive(Deserialize)]
struct Cells {
    cells: Vec<CellAt>,
}

#[derive(Deserialize)]
struct CellAt {
    path: String,
}

/// A note of the cells of a sweep that have no record, if the directory is of a sweep: means without them are others.
fn note_missing(directory: &Path) {
    let Ok(bytes) = content::read(&directory.join("sweep.json"), content::SUMMARY) else { return };
    let Ok(Cells { cells }) = serde_json::from_slice(&bytes) else { return };
    let all = cells.len();
    let mut missing = cells.into_iter().filter(|cell| !directory.join(&cell.path).join("record.toml").is_file());
    if let Some(first) = missing.next() {
        let (place, first) = (directory.shown(), Path::new(&first.path).shown());
        terminal::note(format!(
            "{place}: {} of {all} cells have no record.toml, the first of them {first}; the numbers are of the others",
            1 + missing.count()
        ));
    }
}

/// Adds the records at or below a directory, in the order of their names.
fn look(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if directory.join("record.toml").is_file() {
        found.push(directory.to_path_buf());
        return Ok(());
    }
    if dataset::is_at(directory) {
        terminal::note(format!("{}: its cells are a dataset, without records; they are left out", directory.shown()));
        return Ok(());
    }
    note_missing(directory);
    let mut below: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // A link may lead in a circle; what was set aside is no record.
        if entry.file_type()?.is_dir() && !name.starts_with('.') && !is_set_aside(&name) {
            below.push(entry.path());
        }
    }
    below.sort_unstable();
    for path in below.iter().filter(|_| depth > 0) {
        look(path, depth - 1, found)?;
    }
    Ok(())
}

/// Reads a record. One of the version before has no hashes, and is taken as it is.
fn read(directory: &Path, with_series: bool) -> Result<Gathered, Failure> {
    let wrong = |file: &str, why: String| Failure::Input(format!("{}: {why}", directory.join(file).shown()));
    let bytes = |file: &str, most: u64| {
        content::read(&directory.join(file), most)
            .map_err(|e| Failure::Input(format!("cannot read {}: {e}", directory.join(file).shown())))
    };
    let header =
        read_header_of_any(&bytes("record.toml", content::HEADER)?).map_err(|e| wrong("record.toml", causes(&e)))?;
    header
        .intact(|name| content::listed(directory, name))
        .map_err(|e| Failure::Input(format!("{}: {}", directory.shown(), causes(&e))))?;
    let summary =
        read_summary(&bytes("summary.json", content::SUMMARY)?).map_err(|e| wrong("summary.json", causes(&e)))?;
    let laws = header.laws().map_err(|e| wrong("record.toml", causes(&e)))?;
    let mut series = Vec::new();
    for name in SERIES.iter().filter(|_| with_series) {
        let file = format!("{name}.parquet");
        let listed = header.files.contains_key(&file) || header.format == 1 && directory.join(&file).is_file();
        if !listed {
            continue;
        }
        match read_table(&bytes(&file, content::TABLE)?) {
            Ok(table) => series.push(table),
            // A table of the version before may have another form; its numbers are in the summary.
            Err(e) if header.format == 1 => older(directory, &file, &e),
            Err(e) => return Err(wrong(&file, causes(&e))),
        }
    }
    let name = directory.file_name().map_or_else(|| directory.display().to_string(), |n| n.to_string_lossy().into());
    Ok(Gathered {
        place: directory.display().to_string(),
        name,
        version: version(&header),
        scenario: header.scenario,
        swept: header.provenance.labels.into_iter().collect(),
        laws,
        summary,
        series,
    })
}

fn older(directory: &Path, file: &str, error: &RecordError) {
    terminal::note(format!("{}: not drawn: {}", directory.join(file).shown(), causes(error)));
}

/// The version that computed a record, for people.
fn version(header: &Header) -> String {
    let origin = &header.provenance.origin;
    let commit = origin.commit.as_ref().map(|commit| format!(" ({commit})")).unwrap_or_default();
    format!("{}{commit}", origin.version)
}
