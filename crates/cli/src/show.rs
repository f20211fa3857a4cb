//! `penstock show`: records over each other on one page, with their differences as numbers.

use std::path::{Path, PathBuf};

use penstock_report::assemble::{self, Cases, Compared, Ran, ShowView};
use penstock_report::{Page, html};
use serde::Serialize;
use serde_json::Value;

use crate::arguments::Show;
use crate::failure::{Done, Failure};
use crate::folder::{File, Folder};
use crate::gathered::{self, Gathered};
use crate::{machine, program, record, registry, terminal};

/// The output of `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    format: u32,
    /// The page; absent where none was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<String>,
    /// The keys that differ.
    keys: Vec<String>,
    cases: Vec<ShownCase>,
    /// Numbers of each case, and their differences from the first.
    rows: Vec<Compared>,
}

/// Runs that differ in nothing but their seed.
#[derive(Debug, Serialize)]
struct ShownCase {
    name: String,
    /// Its value of each key that differs.
    differs: Value,
    seeds: Vec<u64>,
    records: Vec<String>,
    /// Records of the same run again, which no number counts twice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    copies: Vec<String>,
}

/// Runs over each other.
#[derive(Debug)]
pub(crate) struct Overlaid {
    pub(crate) page: Page,
    pub(crate) shown: Shown,
}

/// Runs the command.
pub(crate) fn show(arguments: &Show) -> Result<Done, Failure> {
    let found = gathered::of(&arguments.records)?;
    let overlaid = overlay(&title(&arguments.records, &found), &found)?;
    let out = Folder::open(&arguments.out)?;
    let Overlaid { page, mut shown } = overlaid;
    let value = serde_json::to_value(&shown).map_err(|e| Failure::Bug(e.to_string()))?;
    let files: Vec<File> = vec![
        ("show.json".to_owned(), record::bytes(&value)?),
        ("report.html".to_owned(), html::write(&page).into_bytes()),
    ];
    let path = out.put("show", &files)?;
    let report = record::shown(&path, "report.html");
    if arguments.json {
        shown.report = Some(report);
        terminal::say_json(&shown)?;
    } else {
        terminal::say(terminal::look().page(&page))?;
        terminal::place("report", report)?;
    }
    Ok(Done::Well)
}

/// The title of the page: the one that all runs have, else the names given.
fn title(records: &[PathBuf], found: &[Gathered]) -> String {
    let first = found.first().map_or("", |one| one.summary.title.as_str());
    if found.iter().all(|one| one.summary.title == first) {
        return first.to_owned();
    }
    let names: Vec<String> = records.iter().map(|path| last_name(path)).collect();
    match names.as_slice() {
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        many => format!("{} records", many.len()),
    }
}

fn last_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// The page, and its content for `--json`.
pub(crate) fn overlay(title: &str, found: &[Gathered]) -> Result<Overlaid, Failure> {
    let runs: Vec<Ran<'_>> = found.iter().map(Gathered::ran).collect();
    let cases = assemble::cases(&runs, registry::laws());
    let rows = assemble::differences(&cases.cases, &runs);
    let header = machine::facts();
    let view =
        ShowView { title, runs: &runs, cases: &cases, differences: &rows, header: &header, registry: registry::laws() };
    let page = assemble::of_show(&view);
    Ok(Overlaid { page, shown: shown(&cases, found, rows)? })
}

fn shown(cases: &Cases, found: &[Gathered], rows: Vec<Compared>) -> Result<Shown, Failure> {
    let bug = |e: serde_json::Error| Failure::Bug(format!("{}: {e}", program::name()));
    let mut listed = Vec::new();
    let places = |runs: &[usize]| runs.iter().map(|at| found[*at].place.clone()).collect();
    for case in &cases.cases {
        listed.push(ShownCase {
            name: case.name.clone(),
            differs: serde_json::to_value(&case.differs).map_err(bug)?,
            seeds: case.runs.iter().map(|at| found[*at].summary.seed).collect(),
            records: places(&case.runs),
            copies: places(&case.copies),
        });
    }
    Ok(Shown { format: 1, report: None, keys: cases.keys.clone(), cases: listed, rows })
}
