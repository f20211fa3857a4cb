//! `penstock report`: report.html again, from the files of a record.

use std::error::Error;
use std::io;
use std::path::Path;

use indexmap::IndexMap;
use penstock_report::{Page, html};
use penstock_scenario::record::{self, Header, Origin, RecordError, read_header, read_summary, read_table};
use penstock_scenario::world::Table;
use serde::Deserialize;

use crate::arguments::Report;
use crate::failure::{Done, Failure, causes};
use crate::finished::{Finished, Found};
use crate::folder::Folder;
use crate::{content, pages, terminal};

/// What is needed of `sweep.json`.
#[derive(Debug, Deserialize)]
struct Sweep {
    #[serde(flatten)]
    origin: Origin,
    cells: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    id: String,
    labels: IndexMap<String, String>,
}

/// Runs the command.
pub(crate) fn report(arguments: &Report) -> Result<Done, Failure> {
    if arguments.reference {
        terminal::say(record::reference().trim_end())?;
    }
    for directory in &arguments.records {
        let page = if directory.join("record.toml").is_file() {
            of_record(directory)?
        } else if directory.join("sweep.json").is_file() {
            of_sweep(directory)?
        } else {
            return Err(Failure::Input(format!(
                "{} is not a record: it has neither record.toml nor sweep.json",
                directory.display()
            )));
        };
        let path = Folder::open(directory)?.put_file("report.html", html::write(&page).as_bytes())?;
        terminal::say(path.display())?;
    }
    Ok(Done::Well)
}

fn of_record(directory: &Path) -> Result<Page, Failure> {
    let path = directory.join("record.toml");
    let again = |e: &RecordError| {
        let (record, header) = (directory.display(), path.display());
        Failure::Input(format!("{record}: {}; `penstock run {header}` makes the record again", causes(e)))
    };
    let header = read_header(&bytes(&path, content::HEADER)?).map_err(|e| match e {
        RecordError::Format(1) => again(&e),
        _ => wrong(&path, &e),
    })?;
    header.intact(|name| content::open(&directory.join(name), content::HASHED)).map_err(|e| again(&e))?;
    // The scenario is not resolved: it may name files that are elsewhere.
    let laws = header.laws().map_err(|e| wrong(&path, &e))?;
    let path = directory.join("summary.json");
    let summary = read_summary(&bytes(&path, content::SUMMARY)?).map_err(|e| wrong(&path, &e))?;
    let mut series: Vec<Table> = Vec::new();
    for name in ["links.parquet", "groups.parquet", "customers.parquet", "flows-series.parquet"] {
        // What the header does not list is not of this record.
        if header.files.contains_key(name) {
            let path = directory.join(name);
            series.push(read_table(&bytes(&path, content::TABLE)?).map_err(|e| wrong(&path, &e))?);
        }
    }
    Ok(pages::of_run(&header.scenario, &laws, &summary, &series, &known(&header)))
}

fn of_sweep(directory: &Path) -> Result<Page, Failure> {
    let path = directory.join("sweep.json");
    let sweep: Sweep = serde_json::from_slice(&bytes(&path, content::SUMMARY)?).map_err(|e| wrong(&path, &e))?;
    let finished = Finished::scan(directory).map_err(|e| wrong(directory, &e))?;
    let mut found = Vec::new();
    for row in sweep.cells {
        match finished.find(&row.id, &sweep.origin) {
            Found::Whole(whole) => found.push((row.labels, *whole)),
            Found::Damaged(path, why) => return Err(wrong(&path, &io::Error::other(why))),
            // Taken away, or on another machine.
            Found::Nothing => {}
        }
    }
    let Some((_, (header, first))) = found.last() else {
        return Err(Failure::Input(format!("{} has no record of a cell", directory.display())));
    };
    let mut views = Vec::with_capacity(found.len());
    for (labels, (header, kept)) in &found {
        let laws = header.laws().map_err(|e| wrong(&kept.path.join("record.toml"), &e))?;
        views.push(pages::cell_view(labels.clone(), &laws, &kept.summary));
    }
    Ok(pages::of_sweep(&first.summary.title, &views, "", "", &known(header)))
}

/// What is known of where a record was made.
fn known(header: &Header) -> Vec<(String, String)> {
    let origin = &header.provenance.origin;
    let commit = origin.commit.as_ref().map(|c| format!(" ({c})")).unwrap_or_default();
    let version = ("penstock".to_owned(), format!("{}{commit}", origin.version));
    std::iter::once(version).chain(header.provenance.machine.clone()).collect()
}

fn bytes(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    content::read(path, most).map_err(|e| Failure::Input(format!("cannot read {}: {e}", path.display())))
}

fn wrong(path: &Path, error: &dyn Error) -> Failure {
    Failure::Input(format!("{}: {}", path.display(), causes(error)))
}
