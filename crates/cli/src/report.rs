//! `penstock report`: report.html again, from the files of a record.

use std::fs;
use std::path::Path;

use indexmap::IndexMap;
use penstock_report::html;
use penstock_scenario::read::{Cell, Document};
use penstock_scenario::record::{Header, Origin, read_header, read_summary, read_table};
use penstock_scenario::world::Table;
use serde::Deserialize;

use crate::arguments::Report;
use crate::failure::{Done, Failure};
use crate::finished::{Finished, Found};
use crate::folder::Folder;
use crate::record::Kept;
use crate::{pages, terminal};

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

fn of_record(directory: &Path) -> Result<penstock_report::Page, Failure> {
    let (cell, kept, facts) = load(directory)?;
    let mut series: Vec<Table> = Vec::new();
    for name in ["links.parquet", "groups.parquet", "flows-series.parquet"] {
        let path = directory.join(name);
        if path.is_file() {
            series.push(read_table(&bytes(&path)?).map_err(|e| wrong(&path, &e))?);
        }
    }
    Ok(pages::of_run(&cell.scenario, &kept.summary, &series, &facts))
}

fn of_sweep(directory: &Path) -> Result<penstock_report::Page, Failure> {
    let path = directory.join("sweep.json");
    let sweep: Sweep = serde_json::from_slice(&bytes(&path)?).map_err(|e| wrong(&path, &e))?;
    let finished = Finished::scan(directory).map_err(|e| wrong(directory, &e))?;
    let (mut cells, mut kept, mut facts) = (Vec::new(), Vec::new(), Facts::new());
    for row in sweep.cells {
        match finished.find(&row.id, &sweep.origin) {
            Found::Whole(found) => {
                let (header, summary) = *found;
                let mut cell = cell(&summary.path, &header)?;
                // The sweep may have been written anew with other labels.
                cell.labels = row.labels.into_iter().collect();
                cells.push(cell);
                kept.push(summary);
                facts = known(header);
            }
            Found::Damaged(path, why) => return Err(wrong(&path, &why)),
            // Taken away, or on another machine.
            Found::Nothing => {}
        }
    }
    let Some(first) = cells.first() else {
        return Err(Failure::Input(format!("{} has no record of a cell", directory.display())));
    };
    let title = first.scenario.title.clone();
    Ok(pages::of_sweep(&title, &cells, &kept, "", "", &facts))
}

/// What is known of where a record was made.
type Facts = Vec<(String, String)>;

/// A cell and its summary, and where it ran.
fn load(directory: &Path) -> Result<(Cell, Kept, Facts), Failure> {
    let path = directory.join("record.toml");
    let header = read_header(&bytes(&path)?).map_err(|e| wrong(&path, &e))?;
    let cell = cell(directory, &header)?;
    let path = directory.join("summary.json");
    let summary = read_summary(&bytes(&path)?).map_err(|e| wrong(&path, &e))?;
    Ok((cell, Kept { path: directory.to_path_buf(), summary }, known(header)))
}

/// The cell of a record.
fn cell(directory: &Path, header: &Header) -> Result<Cell, Failure> {
    let path = directory.join("record.toml");
    let document = Document::parse(&header.scenario, &path.display().to_string()).map_err(Failure::input)?;
    let mut cells = document.cells().map_err(Failure::input)?;
    let Some(mut cell) = cells.pop() else {
        return Err(wrong(&path, &"its scenario has no cell"));
    };
    cell.id.clone_from(&header.id);
    Ok(cell)
}

fn known(header: Header) -> Facts {
    let origin = header.provenance.origin;
    let commit = origin.commit.map(|c| format!(" ({c})")).unwrap_or_default();
    let version = ("penstock".to_owned(), format!("{}{commit}", origin.version));
    std::iter::once(version).chain(header.provenance.machine).collect()
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|e| Failure::Input(format!("cannot read {}: {e}", path.display())))
}

fn wrong(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::Input(format!("{}: {error}", path.display()))
}
