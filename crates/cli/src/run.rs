//! `penstock run` and `penstock sweep`.

use std::fmt::Write;
use std::path::Path;

use indexmap::IndexSet;
use penstock_record::capture::CAPTURE_FILE;
use penstock_report::html;
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Cell;
use penstock_scenario::summary::{Finding, Summary};
use penstock_scenario::world::{End, World};
use penstock_scenario::write::print;
use serde::Serialize;

use crate::arguments::{CaptureEnd, Generator, Scenarios, Shard, WorldName};
use crate::batch::Batch;
use crate::capturing::Capturing;
use crate::divided::{Divided, DividedFluid};
use crate::failure::{Done, Failure};
use crate::folder::Folder;
use crate::jobs::{self, Begin, Beside, Job};
use crate::logging::{self, Logging};
use crate::named::Shown as _;
use crate::outcome::Outcome;
use crate::program;
use crate::progress::Others;
use crate::record::{self, Kept, Subject};
use crate::registry::missing;
use crate::sweep::Swept;
use crate::{interrupt, machine, of_quic, pages, scenario, terminal};

/// Options of only one of the two commands.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Own {
    pub(crate) pcap: Option<CaptureEnd>,
    pub(crate) generator: Generator,
    pub(crate) qlog: bool,
    pub(crate) awake: bool,
    pub(crate) shard: Option<Shard>,
    pub(crate) threads: Option<u16>,
}

/// The output of `--json`: the same for one file as for several.
#[derive(Debug, Serialize)]
pub(crate) struct Outcomes {
    format: u32,
    /// One a file, in the order of the command line.
    pub(crate) runs: Vec<Outcome>,
}

impl Default for Outcomes {
    fn default() -> Self {
        Self { format: 1, runs: Vec::new() }
    }
}

/// Runs either command.
pub(crate) fn run(arguments: &Scenarios, own: Own) -> Result<Done, Failure> {
    let Own { pcap, qlog, shard, .. } = own;
    let world = world(arguments, own)?;
    let world = world.as_ref();
    let batches: Vec<Batch> = arguments.files.iter().map(|file| batch(file, arguments)).collect::<Result<_, _>>()?;
    refuse(&batches, arguments, own)?;
    if batches.len() > 1 {
        refuse_in_world(&batches, arguments, world)?;
    }
    let out = Folder::open(&arguments.output.out)?;
    interrupt::watch()?;
    // What there is of each sweep; a single run has nothing.
    let swept: Vec<Option<Swept<'_>>> = batches
        .iter()
        .map(|batch| batch.swept.then(|| Swept::open(&out, batch, world, shard)).transpose())
        .collect::<Result<_, _>>()?;

    let mut todo: Vec<(usize, &Cell)> = Vec::new();
    for (at, (batch, swept)) in batches.iter().zip(&swept).enumerate() {
        match swept {
            Some(swept) => todo.extend(swept.missing().map(|cell| (at, cell))),
            None => todo.extend(batch.cells.iter().map(|cell| (at, cell))),
        }
    }
    let before = swept.iter().flatten().map(Swept::finished).sum();
    let jobs: Vec<Job<'_>> = todo
        .iter()
        .map(|(at, cell)| Job {
            name: if cell.labels.is_empty() { batches[*at].title.clone() } else { cell.name() },
            group: *at,
            scenario: &cell.scenario,
            beside: (pcap.is_some() || qlog).then(|| -> Begin<'_> {
                let (out, name) = (&out, record::single_name(&batches[*at], cell));
                Box::new(move || match pcap {
                    Some(end) => Capturing::begin(out, &name, &cell.scenario, end.into()).map(Beside::Packets),
                    None => Logging::begin(out, &name).map(Beside::Logs),
                })
            }),
        })
        .collect();
    let threads = jobs::threads(arguments.output.jobs.map(usize::from));
    let kept = jobs::run(&jobs, Others::before(before), world, threads, &|at, made| {
        let (which, cell) = todo[at];
        let batch = &batches[which];
        if let Some(swept) = &swept[which] {
            return record::keep(swept.folder(), &record::name(cell), Subject::cell(batch, cell), made, |_| Vec::new());
        }
        record::keep(&out, &record::single_name(batch, cell), Subject::cell(batch, cell), made, |run| {
            let (text, laws) = (print(&cell.scenario), pages::laws(&cell.scenario));
            let mut page = pages::of_run(&text, &laws, &run.summary, &run.series, &machine::facts());
            page.title = pages::titled(&page.title, &batch.changes);
            vec![("report.html".to_owned(), html::write(&page).into_bytes())]
        })
    });
    let kept = kept.inspect_err(|_| swept.iter().flatten().for_each(Swept::give_up))?;

    let mut outcomes = Outcomes::default();
    let mut beyond = false;
    let mut kept: Vec<((usize, &Cell), Kept)> = todo.iter().copied().zip(kept).collect();
    for (at, (batch, swept)) in batches.iter().zip(swept).enumerate() {
        let of_batch = kept.extract_if(.., |((batch, _), _)| *batch == at);
        let of_batch: Vec<(&Cell, Kept)> = of_batch.map(|((_, cell), kept)| (cell, kept)).collect();
        let mut findings = Findings::default();
        for (_, kept) in &of_batch {
            beyond |= is_beyond(&kept.summary);
            findings.add(&kept.summary);
        }
        outcomes.runs.push(match swept {
            Some(swept) => swept.finish(of_batch, arguments.output.json)?,
            None => finish(batch, &of_batch, own, arguments.output.json)?,
        });
        findings.notes().into_iter().for_each(terminal::note);
    }
    if arguments.output.json {
        terminal::say_json(&outcomes)?;
    }
    Ok(if beyond { Done::Beyond } else { Done::Well })
}

/// The world that is asked for.
fn world(arguments: &Scenarios, own: Own) -> Result<Box<dyn World + Sync>, Failure> {
    let world = scenario::world_with(arguments.world, own.generator, own.awake)?;
    let Some(threads) = own.threads.map(usize::from) else { return Ok(world) };
    match arguments.world {
        WorldName::Packets if threads > 1 => Ok(Box::new(Divided { threads })),
        WorldName::Fluid if threads > 1 => Ok(Box::new(DividedFluid { threads })),
        WorldName::Packets | WorldName::Fluid => Ok(world),
        WorldName::Linux => Err(Failure::Input(format!(
            "--threads: the {} world has no runs on several threads; leave out --world, or leave out --threads",
            world.name()
        ))),
    }
}

/// Whether a run exceeded its error bounds; prints which.
pub(crate) fn is_beyond(summary: &Summary) -> bool {
    let beyond = summary.path.as_ref().map_or(&[][..], |path| &path.beyond);
    for what in beyond {
        terminal::fail(format!("{}: the run exceeded its error bounds: {what}", program::name()));
    }
    !beyond.is_empty()
}

/// Findings for a reader of the numbers, each once, however many cells have it.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    found: Vec<(Finding, usize)>,
    cells: usize,
}

impl Findings {
    /// Adds those of a cell.
    pub(crate) fn add(&mut self, summary: &Summary) {
        self.cells += 1;
        for finding in &summary.findings {
            let same = |known: &Finding| (&known.id, &known.subject) == (&finding.id, &finding.subject);
            match self.found.iter_mut().find(|(known, _)| same(known)) {
                Some((_, cells)) => *cells += 1,
                None => self.found.push((finding.clone(), 1)),
            }
        }
    }

    /// A note of each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let note = |(Finding { id, subject, text }, cells): &(Finding, usize)| match self.cells {
            1 => format!("{}: note: {subject}: {text} (see docs/findings.md#{id})", program::name()),
            all => {
                format!(
                    "{}: note: {subject}: {text} (in {cells} of {all} cells of the sweep; see docs/findings.md#{id})",
                    program::name()
                )
            }
        };
        self.found.iter().map(note).collect()
    }
}

/// Refuses controllers of QUIC stacks that this program lacks, and those of a stack for other generators.
fn refuse_names_of_stacks(batches: &[Batch], arguments: &Scenarios, generator: Generator) -> Result<(), Failure> {
    for (batch, file) in batches.iter().zip(&arguments.files) {
        batch
            .cells
            .iter()
            .try_for_each(|cell| refuse_name_of_stack(&cell.scenario, file, arguments.world, generator))?;
    }
    Ok(())
}

/// The same for a cell of a file.
pub(crate) fn refuse_name_of_stack(
    scenario: &Scenario,
    file: &Path,
    world: WorldName,
    generator: Generator,
) -> Result<(), Failure> {
    let groups = || of_quic::groups(scenario);
    if let Some((name, law, remedy)) = groups().find_map(|(name, law)| Some((name, law, missing(law)?))) {
        return Err(Failure::Input(format!(
            "{}: flows.{name}.cc: {}, and this program was built without it; {remedy}",
            file.shown(),
            of_quic::whose(law)
        )));
    }
    if generator == Generator::Quic {
        return Ok(());
    }
    if let Some((name, law)) = groups().find(|(_, law)| of_quic::leaves(world, law)) {
        return Err(Failure::Machine(format!(
            "{}: flows.{name}.cc: {}; add --world linux --generator quic",
            file.shown(),
            of_quic::whose(law)
        )));
    }
    Ok(())
}

/// Refuses options that exclude each other, with the remedy.
fn refuse(
    batches: &[Batch],
    arguments: &Scenarios,
    Own { pcap, generator, qlog, shard, threads, .. }: Own,
) -> Result<(), Failure> {
    if threads.is_some() && (batches.len() > 1 || batches.iter().any(|batch| batch.swept)) {
        let what = "--threads: it divides a single run; leave it out, and several runs go side by side (--jobs)";
        return Err(Failure::Input(what.to_owned()));
    }
    if qlog && generator != Generator::Quic {
        let what = "--qlog: only connections of QUIC have one; add --world linux --generator quic, or leave --qlog out";
        return Err(Failure::Input(what.to_owned()));
    }
    refuse_names_of_stacks(batches, arguments, generator)?;
    if pcap.is_some() && arguments.world != WorldName::Packets {
        let world = if arguments.world == WorldName::Fluid { "fluid" } else { "linux" };
        return Err(Failure::Machine(format!(
            "--pcap: the {world} world does not support it, only the packets world; leave out --world"
        )));
    }
    for (at, batch) in batches.iter().enumerate() {
        let file = arguments.files[at].shown();
        if batch.swept && pcap.is_some() {
            return Err(Failure::Input(format!(
                "--pcap: {file} is a sweep of {} cells, and a capture is of one run; `{} check {file}` prints its \
                 first cell as a file, and --set KEY=VALUE fixes a swept key",
                batch.cells.len(),
                program::name()
            )));
        }
        if batch.swept && generator != Generator::Own {
            return Err(Failure::Input(format!(
                "--generator: {file} is a sweep of {} cells, and sweeps use the own generator; --set KEY=VALUE fixes \
                 a swept key",
                batch.cells.len()
            )));
        }
        if !batch.swept && shard.is_some() {
            return Err(Failure::Input(format!("--shard: {file} has no [sweep], so it has no cells to split")));
        }
        if batch.swept && batches[..at].iter().any(|other| other.swept && other.stem == batch.stem) {
            return Err(of_one_name(&batch.stem));
        }
    }
    Ok(())
}

/// Why two sweeps of one name are refused.
pub(crate) fn of_one_name(stem: &str) -> Failure {
    Failure::Input(format!(
        "two sweeps are called `{stem}` and would go to one directory; run them one after the other with different --out DIR"
    ))
}

/// Refuses files that the world does not run, each by its name: a world knows scenarios, and not their files.
fn refuse_in_world(batches: &[Batch], arguments: &Scenarios, world: &dyn World) -> Result<(), Failure> {
    let mut refusals = Vec::new();
    for (batch, file) in batches.iter().zip(&arguments.files) {
        let of_file: IndexSet<String> = batch.cells.iter().flat_map(|cell| world.refusals(&cell.scenario)).collect();
        refusals.extend(of_file.iter().map(|why| refusal(file, why, world)));
    }
    refused(&refusals)
}

/// Why a world does not run a file, in a sentence.
pub(crate) fn refusal(file: &Path, why: &str, world: &dyn World) -> String {
    format!("{}: {why} (in the {} world)", file.shown(), world.name())
}

/// Fails if there is a reason.
pub(crate) fn refused(refusals: &[String]) -> Result<(), Failure> {
    if refusals.is_empty() {
        return Ok(());
    }
    Err(Failure::Machine(refusals.join(&format!("\n{}: ", program::name()))))
}

fn batch(file: &Path, arguments: &Scenarios) -> Result<Batch, Failure> {
    let text = scenario::text(file)?;
    let document = scenario::document(file, arguments.seed, &arguments.changes)?;
    let cells = scenario::cells(&document)?;
    let Some(first) = cells.first() else {
        return Err(Failure::Bug("a document without cells".into()));
    };
    let title = first.scenario.title.clone();
    let swept = cells.len() > 1 || !first.labels.is_empty();
    Ok(Batch { title, cells, swept, ..batch_of(file, text, arguments)? })
}

/// A file without its cells.
pub(crate) fn batch_of(file: &Path, text: String, arguments: &Scenarios) -> Result<Batch, Failure> {
    let changed_now = scenario::changed_now(&arguments.changes);
    Ok(Batch {
        file: file.to_path_buf(),
        stem: scenario::stem(file),
        changes: scenario::changes(file, &changed_now)?,
        changed_now,
        text,
        command: again(file, arguments),
        ..Batch::default()
    })
}

/// The command that runs a file again.
fn again(file: &Path, arguments: &Scenarios) -> String {
    let seed = arguments.seed.map(|seed| format!(" --seed {seed}")).unwrap_or_default();
    let mut command = format!("{} run {}{seed}", program::name(), file.display());
    for change in &arguments.changes.set {
        let _ = write!(command, " --set '{change}'");
    }
    command
}

/// Prints the results of a single run, and returns them as the outcome.
fn finish(batch: &Batch, kept: &[(&Cell, Kept)], own: Own, json: bool) -> Result<Outcome, Failure> {
    let [(_, kept)] = kept else {
        return Err(Failure::Bug(format!("{}: one cell, not one record", batch.stem)));
    };
    let captured = own.pcap.is_some();
    let logs = if own.qlog { logging::names(&kept.path)? } else { Vec::new() };
    if !json {
        terminal::say(pages::printed_run(kept, &batch.changes))?;
        terminal::place("record", kept.path.shown())?;
        terminal::place("report", record::shown(&kept.path, "report.html"))?;
        if captured {
            terminal::place("packets", record::shown(&kept.path, CAPTURE_FILE))?;
        }
        for log in &logs {
            terminal::place("qlog", record::shown(&kept.path, log))?;
        }
    }
    Outcome::of_run(batch, kept, captured, &logs)
}

impl From<CaptureEnd> for End {
    fn from(end: CaptureEnd) -> Self {
        match end {
            CaptureEnd::Senders => Self::Sender,
            CaptureEnd::Receivers => Self::Receiver,
        }
    }
}
