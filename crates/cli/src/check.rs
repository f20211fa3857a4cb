//! `penstock check`: a scenario with every default, or what the format of all of them is.

use std::collections::BTreeSet;
use std::fmt::Write;

use penstock_scenario::summary::Finding;
use penstock_scenario::write::print;
use penstock_scenario::{finding, format};

use crate::arguments::Check;
use crate::failure::{Done, Failure};
use crate::{scenario, terminal};

/// Runs the command. What it prints of a file is a scenario file: of a sweep the first cell, and the others by name.
pub(crate) fn check(arguments: &Check) -> Result<Done, Failure> {
    let Some(file) = &arguments.file else {
        if arguments.schema {
            terminal::say_json(&format::schema())?;
        } else {
            terminal::say(format::reference().trim_end())?;
        }
        return Ok(Done::Well);
    };
    let document = scenario::document(file, None, &arguments.changes)?;
    let cells = scenario::cells(&document)?;
    let Some(first) = cells.first() else {
        return Err(Failure::Bug("a document without cells".into()));
    };
    let mut text = String::new();
    if cells.len() > 1 || !first.labels.is_empty() {
        let _ = writeln!(text, "# A sweep of {} cells; below is the first.", cells.len());
        for cell in &cells {
            let _ = writeln!(text, "#   {}  {}", cell.id, cell.name());
        }
        text.push('\n');
    }
    text += &print(&first.scenario);
    terminal::say(text.trim_end())?;
    // The same text of many cells is said once.
    let findings: BTreeSet<Finding> = cells.iter().flat_map(|cell| finding::of_scenario(&cell.scenario)).collect();
    for Finding { subject, text, .. } in findings {
        terminal::note(format!("penstock: note: {subject}: {text}"));
    }
    Ok(Done::Well)
}
