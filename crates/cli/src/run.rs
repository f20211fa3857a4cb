//! `penstock run` and `penstock sweep`.

use std::fmt::Write;
use std::path::Path;

use penstock_report::{html, text};
use penstock_scenario::read::Cell;
use penstock_scenario::summary::Summary;
use serde_json::Value;

use crate::arguments::Run;
use crate::failure::{Done, Failure};
use crate::folder::Folder;
use crate::jobs::{self, Job};
use crate::record::{self, Kept};
use crate::{interrupt, machine, pages, scenario, terminal};

/// A scenario file, read.
struct Batch {
    stem: String,
    title: String,
    /// The file's text, and the command that runs it again.
    text: String,
    command: String,
    cells: Vec<Cell>,
    /// Whether its records go into a directory of their own, with a summary of the sweep.
    swept: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &Run) -> Result<Done, Failure> {
    let world = scenario::world(arguments.world)?;
    let batches: Vec<Batch> = arguments.files.iter().map(|file| batch(file, arguments)).collect::<Result<_, _>>()?;
    let out = Folder::open(&arguments.output.out)?;
    interrupt::watch()?;
    let folders: Vec<Option<Folder>> = batches
        .iter()
        .map(|batch| batch.swept.then(|| out.inside(&batch.stem)).transpose())
        .collect::<Result<_, _>>()?;

    let all: Vec<(usize, &Cell)> =
        batches.iter().enumerate().flat_map(|(at, batch)| batch.cells.iter().map(move |cell| (at, cell))).collect();
    let name = |(at, cell): &(usize, &Cell)| match cell.name() {
        labels if labels.is_empty() => batches[*at].title.clone(),
        labels => labels,
    };
    let jobs: Vec<Job<'_>> = all.iter().map(|one| Job { name: name(one), scenario: &one.1.scenario }).collect();
    let threads = jobs::threads(arguments.output.jobs.map(usize::from));
    let kept = jobs::run(&jobs, world.as_ref(), threads, &|at, run| {
        let (batch, cell) = all[at];
        if let Some(folder) = &folders[batch] {
            return record::keep(folder, &record::name(cell), &cell.labels, &cell.scenario, run, |_| Vec::new());
        }
        let name = format!("{}-seed{}", batches[batch].stem, cell.scenario.seed.0);
        record::keep(&out, &name, &cell.labels, &cell.scenario, run, |run| {
            let page = pages::of_run(&cell.scenario, &run.summary, &run.series, &machine::facts());
            vec![("report.html".to_owned(), html::write(&page).into_bytes())]
        })
    });
    let kept = kept.inspect_err(|_| {
        for folder in folders.iter().flatten() {
            folder.remove_if_empty();
        }
    })?;

    let mut kept = kept.into_iter();
    let mut values = Vec::new();
    for (batch, folder) in batches.iter().zip(&folders) {
        let kept: Vec<Kept> = kept.by_ref().take(batch.cells.len()).collect();
        values.push(finish(batch, folder.as_ref(), &kept, arguments.output.json)?);
    }
    if arguments.output.json {
        match values.as_slice() {
            [one] => terminal::say_json(one)?,
            several => terminal::say_json(&several)?,
        }
    }
    Ok(Done::Well)
}

fn batch(file: &Path, arguments: &Run) -> Result<Batch, Failure> {
    let text = scenario::text(file)?;
    let document = scenario::document(file, arguments.seed, &arguments.changes)?;
    let cells = scenario::cells(&document)?;
    let Some(first) = cells.first() else {
        return Err(Failure::Bug("a document without cells".into()));
    };
    let title = first.scenario.title.clone();
    let swept = cells.len() > 1 || !first.labels.is_empty();
    Ok(Batch { stem: scenario::stem(file), title, text, command: again(file, arguments), cells, swept })
}

/// The command that runs a file again.
fn again(file: &Path, arguments: &Run) -> String {
    let seed = arguments.seed.map(|seed| format!(" --seed {seed}")).unwrap_or_default();
    let mut command = format!("penstock run {}{seed}", file.display());
    for change in &arguments.changes.set {
        let _ = write!(command, " --set '{change}'");
    }
    command
}

/// Writes what is said of a file as a whole, and says it; gives it as JSON.
fn finish(batch: &Batch, folder: Option<&Folder>, kept: &[Kept], json: bool) -> Result<Value, Failure> {
    let Some(folder) = folder else {
        let [kept] = kept else { return Err(Failure::Bug("one cell, not one record".into())) };
        if !json {
            terminal::say(pages::printed_run(&batch.cells[0].scenario, &kept.summary))?;
            terminal::say(format!("record  {}", kept.path.display()))?;
            terminal::say(format!("report  {}", record::shown(&kept.path, "report.html")))?;
        }
        return serde_json::to_value(&kept.summary).map_err(|e| Failure::Bug(e.to_string()));
    };
    let value = record::of_sweep(&batch.cells, kept)?;
    folder.put_file("sweep.json", &record::bytes(&value)?)?;
    let page = pages::of_sweep(&batch.title, &batch.cells, kept, &batch.text, &batch.command, &machine::facts());
    folder.put_file("report.html", html::write(&page).as_bytes())?;
    if !json {
        let summaries: Vec<Summary> = kept.iter().map(|k| k.summary.clone()).collect();
        terminal::say(format!("{}\n{}", text::page(&page), pages::cost(&summaries)))?;
        terminal::say(format!("records {}", folder.path().display()))?;
        terminal::say(format!("report  {}", record::shown(folder.path(), "report.html")))?;
    }
    Ok(value)
}
