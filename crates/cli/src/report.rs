//! `penstock report`: report.html again, from the files of a record.

use std::fs;
use std::path::Path;

use indexmap::IndexMap;
use penstock_report::html;
use penstock_scenario::read::{Cell, Document};
use penstock_scenario::record::{read_header, read_summary, read_table};
use penstock_scenario::world::Table;
use serde::Deserialize;

use crate::arguments::Report;
use crate::failure::{Done, Failure};
use crate::folder::Folder;
use crate::record::Kept;
use crate::{pages, terminal};

/// What is needed of `sweep.json`.
#[derive(Debug, Deserialize)]
struct Sweep {
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
    let mut found = Vec::new();
    let mut facts = Facts::new();
    for entry in fs::read_dir(directory).map_err(|e| wrong(directory, &e))? {
        let record = entry.map_err(|e| wrong(directory, &e))?.path();
        let hidden = record.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && record.join("record.toml").is_file() {
            let (cell, kept, known) = load(&record)?;
            facts = known;
            found.push((cell, kept));
        }
    }
    // The order of the sweep and of its keys, not that of the disk.
    let place = |id: &str| sweep.cells.iter().position(|row| row.id == id);
    found.retain(|(cell, _)| place(&cell.id).is_some());
    found.sort_by_key(|(cell, _)| place(&cell.id));
    for (cell, _) in &mut found {
        if let Some(row) = place(&cell.id).and_then(|at| sweep.cells.get(at)) {
            cell.labels = row.labels.clone().into_iter().collect();
        }
    }
    let (cells, kept): (Vec<Cell>, Vec<Kept>) = found.into_iter().unzip();
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
    let document = Document::parse(&header.scenario, &path.display().to_string()).map_err(Failure::input)?;
    let mut cells = document.cells().map_err(Failure::input)?;
    let Some(mut cell) = cells.pop() else {
        return Err(wrong(&path, &"its scenario has no cell"));
    };
    cell.id.clone_from(&header.id);
    let path = directory.join("summary.json");
    let summary = read_summary(&bytes(&path)?).map_err(|e| wrong(&path, &e))?;
    let commit = header.provenance.commit.map(|c| format!(" ({c})")).unwrap_or_default();
    let version = ("penstock".to_owned(), format!("{}{commit}", header.provenance.version));
    let facts = std::iter::once(version).chain(header.provenance.machine).collect();
    Ok((cell, Kept { path: directory.to_path_buf(), summary }, facts))
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|e| Failure::Input(format!("cannot read {}: {e}", path.display())))
}

fn wrong(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::Input(format!("{}: {error}", path.display()))
}
