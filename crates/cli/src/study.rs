//! Results of a command for each cell of a file: a page in the terminal, JSON, and a directory with both.

use std::path::Path;

use penstock_report::html;
use penstock_report::page::Page;
use penstock_scenario::read::Cell;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::folder::{File, Folder};
use crate::{record, scenario, terminal};

/// A file under study.
#[derive(Debug)]
pub(crate) struct Study<'a> {
    file: &'a Path,
    /// The name of the result: `analysis`.
    noun: &'static str,
    out: Option<Folder>,
    json: bool,
    values: Vec<Value>,
}

impl<'a> Study<'a> {
    /// Tries at once whether `out` can be written to.
    pub(crate) fn open(file: &'a Path, noun: &'static str, out: Option<&Path>, json: bool) -> Result<Self, Failure> {
        Ok(Self { file, noun, out: out.map(Folder::open).transpose()?, json, values: Vec::new() })
    }

    /// Shows and keeps the result for a cell: the value itself, and the page that shows it.
    pub(crate) fn found(&mut self, cell: &Cell, found: &impl Serialize, page: &Page) -> Result<(), Failure> {
        let value = serde_json::to_value(found).map_err(|e| Failure::Bug(e.to_string()))?;
        if !self.json {
            if !cell.labels.is_empty() {
                terminal::say(cell.name())?;
            }
            terminal::say(terminal::look().page(page))?;
        }
        if let Some(out) = &self.out {
            let files: Vec<File> = vec![
                (format!("{}.json", self.noun), record::bytes(&value)?),
                ("report.html".into(), html::write(page).into_bytes()),
            ];
            let path = out.put(&format!("{}-{}", scenario::stem(self.file), self.noun), &files)?;
            if !self.json {
                terminal::place("report", record::shown(&path, "report.html"))?;
            }
        }
        self.values.push(value);
        Ok(())
    }

    /// Writes the JSON of all cells, where requested.
    pub(crate) fn end(self) -> Result<(), Failure> {
        if self.json { terminal::say_all(&self.values) } else { Ok(()) }
    }
}
