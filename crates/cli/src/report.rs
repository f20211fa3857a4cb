//! `penstock report`: report.html again, from the files of a record, or its numbers as CSV.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use penstock_record::{
    CellRow, Described, Header, Measures, Origin, RecordError, cells, read_header, read_summary, read_table, reference,
};
use penstock_report::{Page, html};
use penstock_scenario::summary::Summary;
use penstock_scenario::visible;
use penstock_scenario::world::{Cells, Table};
use serde::Deserialize;

use crate::arguments::Report;
use crate::failure::{Done, Failure, causes};
use crate::finished::{Finished, Found};
use crate::folder::Folder;
use crate::named::Shown as _;
use crate::record::{self, Kept};
use crate::{content, dataset, pages, program, terminal};

/// The most characters of a field of CSV: texts of records of other authors have any length, and a terminal may show them.
const MOST_FIELD: usize = 1000;
/// Tables of events, in the order of the page.
const SERIES: [&str; 10] = [
    "links.parquet",
    "groups.parquet",
    "customers.parquet",
    "flows-series.parquet",
    "classes.parquet",
    "link_classes.parquet",
    "queues.parquet",
    "transfers.parquet",
    "pages.parquet",
    "chunks.parquet",
];

/// The required part of `sweep.json`.
#[derive(Debug, Deserialize)]
struct Sweep {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    changes: Vec<String>,
    #[serde(flatten)]
    origin: Origin,
    cells: Vec<Place>,
}

#[derive(Debug, Deserialize)]
struct Place {
    id: String,
    labels: IndexMap<String, String>,
}

/// Runs the command.
pub(crate) fn report(arguments: &Report) -> Result<Done, Failure> {
    if arguments.reference {
        terminal::say(reference().trim_end())?;
    }
    if arguments.csv {
        return csv(&arguments.records);
    }
    for directory in &arguments.records {
        if dataset::is_at(directory) {
            return Err(dataset::refusal(directory));
        }
        let page = if is_record(directory)? { of_record(directory)? } else { of_sweep(directory)? };
        let path = Folder::open(directory)?.put_file("report.html", html::write(&page).as_bytes())?;
        terminal::say(path.shown())?;
    }
    Ok(Done::Well)
}

/// Whether a directory is the record of a run; if not, it is that of a sweep.
fn is_record(directory: &Path) -> Result<bool, Failure> {
    // A link or a pipe of that name is refused by its reader, with the reason.
    let has = |name: &str| directory.join(name).symlink_metadata().is_ok();
    if has("record.toml") || has("sweep.json") {
        return Ok(has("record.toml"));
    }
    if !directory.exists() {
        return Err(Failure::Input(format!(
            "there is no directory {}; `{} list` lists records",
            directory.shown(),
            program::name()
        )));
    }
    Err(Failure::Input(format!("{} is not a record: it has neither record.toml nor sweep.json", directory.shown())))
}

/// The header of a record, and its summary, where its files are as they were written.
fn numbers(directory: &Path) -> Result<(Header, Summary), Failure> {
    let path = directory.join("record.toml");
    let again = |e: &RecordError, options: &str| {
        let (record, header, program) = (directory.shown(), path.shown(), program::name());
        Failure::Input(format!("{record}: {}; `{program} run {header}{options}` makes a new record of it", causes(e)))
    };
    let header = read_header(&bytes(&path, content::HEADER)?).map_err(|e| match e {
        RecordError::Format(1) => again(&e, ""),
        _ => wrong(&path, &e),
    })?;
    let world = &header.provenance.origin.world;
    let options = if world == "packets" { String::new() } else { format!(" --world {world}") };
    header.intact(|name| content::listed(directory, name)).map_err(|e| again(&e, &options))?;
    let path = directory.join("summary.json");
    let summary = read_summary(&bytes(&path, content::SUMMARY)?).map_err(|e| wrong(&path, &e))?;
    Ok((header, summary))
}

/// Each table of a record by the name of its file without the ending.
type Tables = Vec<(String, Described)>;

/// All of a record that its header lists: header, summary, and each table by the name of its file without the ending.
pub(crate) fn whole(directory: &Path) -> Result<(Header, Summary, Tables), Failure> {
    if dataset::is_at(directory) {
        return Err(dataset::refusal(directory));
    }
    if !is_record(directory)? {
        return Err(Failure::Input(format!("{} is a sweep; name the record of one of its cells", directory.shown())));
    }
    let (header, summary) = numbers(directory)?;
    let mut tables = Vec::new();
    for name in header.files.keys() {
        if let Some(table) = name.strip_suffix(".parquet") {
            let path = directory.join(name);
            let read = Described::read(&bytes(&path, content::TABLE)?).map_err(|e| wrong(&path, &e))?;
            tables.push((table.to_owned(), read));
        }
    }
    Ok((header, summary, tables))
}

/// The page of a record.
pub(crate) fn of_record(directory: &Path) -> Result<Page, Failure> {
    let (header, summary) = numbers(directory)?;
    // The scenario is not resolved: it may name files that are elsewhere.
    let laws = header.laws().map_err(|e| wrong(&directory.join("record.toml"), &e))?;
    let mut series: Vec<Table> = Vec::new();
    for name in SERIES {
        // What the header does not list is not of this record.
        if header.files.contains_key(name) {
            let path = directory.join(name);
            series.push(read_table(&bytes(&path, content::TABLE)?).map_err(|e| wrong(&path, &e))?);
        }
    }
    let mut page = pages::of_run(&header.scenario, &laws, &summary, &series, &known(&header));
    page.title = pages::titled(&page.title, &header.provenance.changes);
    Ok(page)
}

/// A sweep, and the labels and the record of each cell that is there.
#[derive(Debug)]
struct Swept {
    sweep: Sweep,
    found: Vec<(IndexMap<String, String>, (Header, Kept))>,
}

fn swept(directory: &Path) -> Result<Swept, Failure> {
    let path = directory.join("sweep.json");
    let mut sweep: Sweep = serde_json::from_slice(&bytes(&path, content::SUMMARY)?).map_err(|e| wrong(&path, &e))?;
    let finished = Finished::scan(directory).map_err(|e| wrong(directory, &e))?;
    let mut found = Vec::new();
    for row in std::mem::take(&mut sweep.cells) {
        match finished.find(&row.id, &sweep.origin) {
            Found::Whole(whole) => found.push((row.labels, *whole)),
            Found::Damaged(path, why) => return Err(wrong(&path, &io::Error::other(why))),
            // Taken away, or on another machine.
            Found::Nothing => {}
        }
    }
    if found.is_empty() {
        return Err(Failure::Input(format!("{} has no record of a cell", directory.shown())));
    }
    Ok(Swept { sweep, found })
}

fn of_sweep(directory: &Path) -> Result<Page, Failure> {
    let Swept { sweep, found } = swept(directory)?;
    let (_, (header, first)) = &found[found.len() - 1];
    let mut views = Vec::with_capacity(found.len());
    for (labels, (header, kept)) in &found {
        let laws = header.laws().map_err(|e| wrong(&kept.path.join("record.toml"), &e))?;
        views.push(pages::cell_view(labels.clone(), &laws, &kept.summary));
    }
    let title = sweep.title.as_ref().unwrap_or(&first.summary.title);
    Ok(pages::of_sweep(&pages::titled(title, &sweep.changes), &views, "", "", &known(header)))
}

/// A record or a cell, on its way to a row of the table.
#[derive(Debug)]
struct Row {
    path: String,
    id: String,
    changes: Vec<String>,
    labels: Vec<(String, String)>,
    summary: Summary,
}

/// Prints all records and cells as one table. The table of one sweep is that of its `cells.parquet`.
fn csv(directories: &[PathBuf]) -> Result<Done, Failure> {
    if let Some(directory) = directories.iter().find(|directory| dataset::is_at(directory)) {
        if directories.len() > 1 {
            return Err(Failure::Input(format!("{} is a dataset; name it alone", directory.shown())));
        }
        return csv_of_dataset(directory);
    }
    let mut rows = Vec::new();
    for directory in directories {
        if is_record(directory)? {
            let (header, summary) = numbers(directory)?;
            rows.push(Row {
                path: directory.display().to_string(),
                id: header.id,
                changes: header.provenance.changes,
                labels: header.provenance.labels.into_iter().collect(),
                summary,
            });
            continue;
        }
        let Swept { sweep, found } = swept(directory)?;
        for (labels, (header, kept)) in found {
            let within = kept.within(directory);
            let path = if directories.len() > 1 { record::shown(directory, &within) } else { within };
            let labels = labels.into_iter().collect();
            rows.push(Row { path, id: header.id, changes: sweep.changes.clone(), labels, summary: kept.summary });
        }
    }
    let measures = Measures::of(rows.iter().map(|row| &row.summary)).map_err(|e| Failure::Bug(e.to_string()))?;
    let rows: Vec<CellRow<'_>> = rows
        .iter()
        .map(|row| CellRow { path: &row.path, id: &row.id, changes: &row.changes, labels: &row.labels })
        .collect();
    let table = cells(&rows, &measures);
    say_csv(&table, true)?;
    Ok(Done::Well)
}

/// Prints a dataset, one partition after the other: it need not fit into memory.
fn csv_of_dataset(directory: &Path) -> Result<Done, Failure> {
    let dataset = dataset::read(directory)?;
    let names = |table: &Table| table.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    let mut first = None;
    for at in 0..dataset.all() {
        let table = dataset::rows(directory, &dataset, at)?;
        let head = first.is_none();
        if *first.get_or_insert_with(|| names(&table)) != names(&table) {
            return Err(dataset::unfinished(directory, "its partitions have different columns"));
        }
        say_csv(&table, head)?;
    }
    Ok(Done::Well)
}

fn say_csv(table: &Table, head: bool) -> Result<(), Failure> {
    let text = as_csv(table, head).map_err(|e| Failure::Bug(e.to_string()))?;
    terminal::say(text.trim_end_matches('\n'))
}

/// A table as CSV (RFC 4180, with the line ends of this system), with or without the names of its columns; no number is an empty
/// field.
fn as_csv(table: &Table, head: bool) -> Result<String, Box<dyn Error>> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    if head {
        writer.write_record(table.columns.iter().map(|column| visible::cut(&column.name, MOST_FIELD).into_owned()))?;
    }
    for row in 0..table.rows() {
        let fields = table.columns.iter().map(|column| match &column.values {
            Cells::Number(values) if values[row].is_nan() => String::new(),
            Cells::Number(values) => values[row].to_string(),
            Cells::Count(values) => values[row].to_string(),
            Cells::Name { names, rows } => visible::cut(&names[rows[row] as usize], MOST_FIELD).into_owned(),
        });
        writer.write_record(fields)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Known facts of the provenance of a record.
fn known(header: &Header) -> Vec<(String, String)> {
    let origin = &header.provenance.origin;
    let commit = origin.commit.as_ref().map(|c| format!(" ({c})")).unwrap_or_default();
    let version = ("penstock".to_owned(), format!("{}{commit}", origin.version));
    std::iter::once(version).chain(header.provenance.machine.clone()).collect()
}

fn bytes(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    content::read(path, most).map_err(|e| Failure::Input(format!("cannot read {}: {e}", path.shown())))
}

fn wrong(path: &Path, error: &dyn Error) -> Failure {
    Failure::Input(format!("{}: {}", path.shown(), causes(error)))
}
