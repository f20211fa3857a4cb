//! Sweeps without records: a row for each cell, in the partitions of a Parquet dataset.
//!
//! A sweep of a million cells must not be in memory as a whole, neither its scenarios nor its results. So the scenario file is
//! read once for what is wrong with it, and its cells once more, partition by partition, when they run.

use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};
use penstock_record::{Axes, CellRow, DATASET_FORMAT, Dataset, Identity, Measures, partition};
use penstock_scenario::read::{Cell, Document};
use penstock_scenario::summary::{Cost, Summary};
use penstock_scenario::world::World;

use crate::arguments::{Generator, Scenarios};
use crate::batch::Batch;
use crate::dataset::Stored;
use crate::failure::{Done, Failure};
use crate::folder::Folder;
use crate::jobs::{self, Job};
use crate::named::Shown as _;
use crate::outcome::Outcome;
use crate::pages::Spent;
use crate::progress::Others;
use crate::record;
use crate::run::{self, Findings, Outcomes, Own};
use crate::{interrupt, machine, scenario, terminal};

/// A scenario file with a sweep, read for what is wrong with it.
struct Plan {
    /// Without its cells.
    batch: Batch,
    document: Document,
    axes: Axes,
    /// As it will be; none of its partitions is finished.
    dataset: Dataset,
    /// The identity of the cells of each partition.
    parts: Vec<String>,
    /// Settings of its cells that the world does not run.
    refusals: IndexSet<String>,
}

/// Runs the sweeps of these files, one after the other; each partition has `size` cells.
pub(crate) fn run(arguments: &Scenarios, own: Own, size: usize) -> Result<Done, Failure> {
    let world = scenario::world_with(arguments.world, own.generator, own.awake)?;
    let world = world.as_ref();
    refuse(own)?;
    let plan = |file: &PathBuf| plan(file, arguments, world, size);
    let plans: Vec<Plan> = arguments.files.iter().map(plan).collect::<Result<_, _>>()?;
    for (at, Plan { batch, .. }) in plans.iter().enumerate() {
        if plans[..at].iter().any(|other| other.batch.stem == batch.stem) {
            return Err(run::of_one_name(&batch.stem));
        }
    }
    let refusals = plans
        .iter()
        .flat_map(|Plan { batch, refusals, .. }| refusals.iter().map(|why| run::refusal(&batch.file, why, world)));
    run::refused(&refusals.collect::<Vec<_>>())?;
    let out = Folder::open(&arguments.output.out)?;
    interrupt::watch()?;
    let threads = jobs::threads(arguments.output.jobs.map(usize::from));
    let (mut outcomes, mut beyond) = (Outcomes::default(), false);
    for plan in plans {
        let mut stored = Stored::open(&out, &plan.batch, plan.dataset.clone())?;
        let ran = run_missing(&plan, &mut stored, world, threads);
        let Ran { findings, spent, beyond: exceeded } = ran.inspect_err(|_| stored.give_up())?;
        beyond |= exceeded;
        outcomes.runs.push(finish(&plan, &mut stored, &spent, arguments.output.json)?);
        findings.notes().into_iter().for_each(terminal::note);
    }
    if arguments.output.json {
        terminal::say_json(&outcomes)?;
    }
    Ok(if beyond { Done::Beyond } else { Done::Well })
}

/// Refuses options that have no meaning for a row, with the remedy.
fn refuse(own: Own) -> Result<(), Failure> {
    let wrong = |option: &str, why: &str| {
        Err(Failure::Input(format!("--dataset with {option}: {why}; leave out --dataset, or leave out {option}")))
    };
    match own {
        Own { pcap: Some(_), .. } => wrong("--pcap", "a capture is a file of a record, and a dataset has no records"),
        Own { qlog: true, .. } => wrong("--qlog", "a log is a file of a record, and a dataset has no records"),
        Own { shard: Some(_), .. } => wrong("--shard", "the shards of a sweep share records, and a dataset has none"),
        Own { threads: Some(_), .. } => wrong("--threads", "cells of a dataset run side by side already"),
        Own { generator, .. } if generator != Generator::Own => {
            wrong("--generator", "a dataset is of a sweep, and sweeps use the own generator")
        }
        Own { .. } => Ok(()),
    }
}

/// Reads a file and each of its cells, of which none is kept.
fn plan(file: &Path, arguments: &Scenarios, world: &dyn World, size: usize) -> Result<Plan, Failure> {
    let text = scenario::text(file)?;
    let document = scenario::document(file, arguments.seed, &arguments.changes)?;
    let (mut axes, mut whole, mut parts) = (Axes::default(), Identity::default(), Vec::new());
    let (mut title, mut cells, mut part) = (None, 0, Identity::default());
    let (mut idle, mut refusals, mut wrong) = (scenario::Idle::default(), IndexSet::new(), Ok(()));
    let all = document.each_cell(&|| !interrupt::stopped(), &mut |cell: Cell| {
        title.get_or_insert_with(|| cell.scenario.title.clone());
        axes.add(&cell.labels);
        for identity in [&mut whole, &mut part] {
            identity.add(&cell.id, &cell.labels);
        }
        cells += 1;
        if cells % size == 0 {
            parts.push(std::mem::take(&mut part).text());
        }
        idle.add(&cell);
        refusals.extend(world.refusals(&cell.scenario));
        if wrong.is_ok() {
            wrong = run::refuse_name_of_stack(&cell.scenario, file, arguments.world, Generator::Own);
        }
    })?;
    if !all {
        return Err(Failure::Stopped);
    }
    wrong?;
    if cells % size != 0 {
        parts.push(part.text());
    }
    idle.note();
    if axes == Axes::default() {
        return Err(Failure::Input(format!(
            "--dataset: {} has no [sweep], so it has no cells for a table",
            file.shown()
        )));
    }
    let Some(title) = title else { return Err(Failure::Bug("a document without cells".into())) };
    let batch = Batch { title, swept: true, ..run::batch_of(file, text, arguments)? };
    let dataset = Dataset {
        format: DATASET_FORMAT,
        title: batch.title.clone(),
        id: whole.text(),
        cells,
        partition: size,
        scenario: batch.text.clone(),
        changes: batch.changes.clone(),
        origin: machine::origin_in(world)?,
        machine: machine::facts().into_iter().filter(|(name, _)| name != "penstock").collect(),
        partitions: IndexMap::new(),
    };
    Ok(Plan { batch, document, axes, dataset, parts, refusals })
}

/// Results of the cells that ran now, besides their rows.
#[derive(Debug, Default)]
struct Ran {
    findings: Findings,
    spent: Spent,
    /// Whether one of them exceeded its error bounds.
    beyond: bool,
}

/// Runs the partitions that are not finished.
fn run_missing(plan: &Plan, stored: &mut Stored, world: &(dyn World + Sync), threads: usize) -> Result<Ran, Failure> {
    let (mut ran, before) = (Ran::default(), stored.finished());
    for at in 0..plan.parts.len() {
        if stored.has(at) {
            continue;
        }
        let cells = cells_of(plan, at)?;
        let since = stored.finished() - before;
        let after = plan.dataset.cells - before - since - cells.len();
        let made = run_cells(&cells, Others { before, since, after }, world, threads)?;
        for (summary, cost) in &made {
            ran.findings.add(summary);
            ran.spent.add(summary, cost);
            ran.beyond |= run::is_beyond(summary);
        }
        let measures = Measures::of(made.iter().map(|(summary, _)| summary)).map_err(|e| record::bug(&e))?;
        let rows = cells.iter().map(|cell| CellRow {
            path: "",
            id: &cell.id,
            changes: &plan.batch.changes,
            labels: &cell.labels,
        });
        let rows: Vec<CellRow<'_>> = rows.collect();
        stored.put(at, &partition(&rows, &measures, &plan.axes), &plan.axes)?;
    }
    Ok(ran)
}

/// The cells of a partition.
fn cells_of(plan: &Plan, at: usize) -> Result<Vec<Cell>, Failure> {
    let from = at * plan.dataset.partition;
    let cells = plan.document.cells_in(from..from + plan.dataset.partition)?;
    let mut identity = Identity::default();
    for cell in &cells {
        identity.add(&cell.id, &cell.labels);
    }
    if identity.text() == plan.parts[at] {
        return Ok(cells);
    }
    Err(Failure::Input(format!(
        "{}: a file that it names, such as a trace, has changed since the command began; run the same command again with another \
         --out DIR",
        plan.batch.file.shown()
    )))
}

/// Runs cells, and returns what is measured of each, in their order. Its series are gone once it has ended.
fn run_cells(
    cells: &[Cell],
    others: Others,
    world: &(dyn World + Sync),
    threads: usize,
) -> Result<Vec<(Summary, Cost)>, Failure> {
    let jobs = cells.iter().map(|cell| Job { name: cell.name(), group: 0, scenario: &cell.scenario, beside: None });
    let jobs: Vec<Job<'_>> = jobs.collect();
    jobs::run(&jobs, others, world, threads, &|_, made| Ok((made.run.summary, made.cost)))
}

/// Completes the dataset of a sweep whose partitions are all there: writes `sweep.json`, and prints where all is.
fn finish(plan: &Plan, stored: &mut Stored, spent: &Spent, json: bool) -> Result<Outcome, Failure> {
    let sweep = stored.complete(&plan.axes)?;
    if !json {
        let Dataset { cells, .. } = plan.dataset;
        terminal::say(format!("{cells} cells in {} partitions", plan.parts.len()))?;
        let cost = spent.text();
        if !cost.is_empty() {
            terminal::say(terminal::look().paragraph(&cost))?;
        }
        terminal::place("dataset", record::shown(stored.path(), penstock_record::FOLDER))?;
    }
    Ok(Outcome::of_dataset(&plan.batch.file, stored.path(), plan.dataset.cells, sweep))
}
