//! `penstock paper`: runs a paper's figures, measures its claims, and compares the verdicts with those on record.

mod library;
mod traces;

use clap::ValueEnum;
use indexmap::IndexMap;
use penstock_papers::{Cell, Comparison, Extent, Figure, Finding, Item, Paper, Recorded, Row, Verdict};
use penstock_report::page::Page;
use penstock_report::{html, text};
use penstock_scenario::read;
use penstock_scenario::world::World;
use serde::Serialize;

use crate::arguments::{self, Changes, WorldName};
use crate::failure::{Done, Failure};
use crate::folder::{Folder, Others};
use crate::jobs::{self, Job};
use crate::record::{self, Kept};
use crate::run::Batch;
use crate::sweep::Swept;
use crate::{interrupt, machine, pages, scenario, terminal};
use library::Source;

/// What a paper gave.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    /// The paper's key.
    pub(crate) key: String,
    /// Its title.
    pub(crate) title: String,
    /// Whole or short runs.
    pub(crate) extent: Extent,
    /// Its figures and tables.
    pub(crate) items: Vec<ItemOutcome>,
    /// Its claims.
    pub(crate) claims: Vec<Judged>,
    /// How many claims have another verdict than the one on record.
    pub(crate) differing: usize,
}

/// A figure or table of a paper, and what its runs gave.
#[derive(Debug, Serialize)]
pub(crate) struct ItemOutcome {
    /// Its id.
    pub(crate) id: String,
    /// What it shows.
    pub(crate) title: String,
    /// Where it stands in the paper.
    pub(crate) place: String,
    /// Why it was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_run: Option<String>,
    /// Its lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) figure: Option<Figure>,
    /// Lines of what else is plotted along the same axis.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) also: Vec<Figure>,
    /// What is plotted over time; the numbers are in the records.
    #[serde(skip)]
    pub(crate) traces: Vec<penstock_report::figure::Figure>,
    /// One row a cell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rows: Vec<Row>,
    /// The colour of each line's law.
    #[serde(skip)]
    pub(crate) colours: IndexMap<String, &'static str>,
    /// Its scenario file.
    #[serde(skip)]
    pub(crate) scenario_text: String,
}

impl Outcome {
    /// What runs an item again.
    pub(crate) fn command(&self, item: &str) -> String {
        command(&self.key, item, self.extent)
    }
}

fn command(key: &str, item: &str, extent: Extent) -> String {
    let short = if extent == Extent::Short { " --short" } else { "" };
    format!("penstock paper {key}/{item}{short}")
}

/// A claim, its verdict, and how that compares with the record.
#[derive(Debug, Serialize)]
pub(crate) struct Judged {
    /// The claim and its verdict.
    #[serde(flatten)]
    pub(crate) finding: Finding,
    /// What is on record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recorded: Option<Verdict>,
    /// Whether it is the same.
    pub(crate) compared: Comparison,
}

/// An item whose scenario was read; without cells where it does not run.
struct Ready<'a> {
    source: &'a Source,
    item: &'a Item,
    world: Option<Box<dyn World + Sync>>,
    batch: Batch,
}

/// Runs the command.
pub(crate) fn paper(arguments: &arguments::Paper) -> Result<Done, Failure> {
    let sources = library::find(arguments.papers.as_deref(), arguments.what.as_deref())?;
    if arguments.list {
        return list(&sources, arguments.output.json);
    }
    let extent = if arguments.short { Extent::Short } else { Extent::Full };
    // A mistake in one is found before any run.
    let mut ready: Vec<Ready<'_>> = Vec::new();
    for source in &sources {
        for item in source.items() {
            ready.push(prepare(source, item, extent, arguments.seeds)?);
        }
    }
    let out = Folder::open(&arguments.output.out)?;
    interrupt::watch()?;
    let mut homes: IndexMap<&str, Folder> = IndexMap::new();
    for Ready { source, batch, .. } in &ready {
        if !batch.cells.is_empty() && !homes.contains_key(source.key.as_str()) {
            homes.insert(&source.key, out.resume(&source.key, Others::Wait)?);
        }
    }
    let kept = run(&ready, &homes, arguments.output.jobs.map(usize::from))
        .inspect_err(|_| homes.values().for_each(Folder::remove_if_empty))?;

    let (mut outcomes, mut pages) = (Vec::new(), Vec::new());
    for source in &sources {
        let items = ready.iter().zip(&kept).filter(|(ready, _)| std::ptr::eq(ready.source, source));
        let outcome = judge(source, extent, items)?;
        let page = pages::of_paper(&source.paper.authors, &source.paper.published, &outcome, &machine::facts());
        say(source, &outcome, &page, homes.get(source.key.as_str()), arguments)?;
        outcomes.push(outcome);
        pages.push(page);
    }
    if arguments.what.is_none() && !homes.is_empty() {
        let path = out.put_file("atlas.html", html::write(&pages::atlas(pages, &machine::facts())).as_bytes())?;
        if !arguments.output.json {
            terminal::say(format!("atlas   {}", path.display()))?;
        }
    }
    if arguments.output.json {
        match outcomes.as_slice() {
            [one] => terminal::say_json(one)?,
            several => terminal::say_json(&several)?,
        }
    }
    let differs = !arguments.record && outcomes.iter().any(|o| o.differing > 0);
    Ok(if differs { Done::Differs } else { Done::Well })
}

/// Reads the scenario of an item.
fn prepare<'a>(source: &'a Source, item: &'a Item, extent: Extent, seeds: Option<u16>) -> Result<Ready<'a>, Failure> {
    let id = item.id.get_ref();
    let mut batch = Batch {
        stem: id.clone(),
        title: item.title.clone(),
        text: String::new(),
        command: command(&source.key, id, extent),
        cells: Vec::new(),
        swept: true,
    };
    let (None, Some(file)) = (&item.not_run, &item.scenario) else {
        return Ok(Ready { source, item, world: None, batch });
    };
    let name = item.world.as_deref().unwrap_or_default();
    let known = WorldName::from_str(name, false);
    let world = known.map_err(|_| Failure::Input(format!("{}: {id}: no world is named `{name}`", source.file())))?;
    let file = source.folder.join(file);
    batch.text = scenario::text(&file)?;
    let mut document = scenario::document(&file, None, &Changes { set: Vec::new() })?;
    if let Some(count) = seeds {
        document.set("sweep.seed", &format!("{{ count = {count} }}")).map_err(Failure::input)?;
    }
    batch.cells = scenario::cells(&document)?;
    if extent == Extent::Short {
        let kept = |cell: &read::Cell| {
            item.short.iter().all(|(key, values)| cell.labels.iter().any(|(k, v)| k == key && values.contains(v)))
        };
        batch.cells.retain(kept);
        if batch.cells.is_empty() {
            return Err(Failure::Input(format!("{}/{id}: `short` in paper.toml keeps no cell", source.key)));
        }
    }
    Ok(Ready { source, item, world: Some(scenario::world(world)?), batch })
}

/// Runs the cells of all items together, so that no processor waits for the last one of an item, and gives the records
/// of each item.
fn run(ready: &[Ready<'_>], homes: &IndexMap<&str, Folder>, threads: Option<usize>) -> Result<Vec<Vec<Kept>>, Failure> {
    let mut swept: Vec<Option<Swept<'_>>> = Vec::new();
    for Ready { source, world, batch, .. } in ready {
        swept.push(match (world, homes.get(source.key.as_str())) {
            (Some(world), Some(home)) => Some(Swept::open(home, batch, world.name(), None)?),
            _ => None,
        });
    }
    let mut made: Vec<Vec<(&read::Cell, Kept)>> = ready.iter().map(|_| Vec::new()).collect();
    let mut worlds: Vec<&(dyn World + Sync)> = Vec::new();
    for world in ready.iter().filter_map(|r| r.world.as_deref()) {
        if worlds.iter().all(|w| w.name() != world.name()) {
            worlds.push(world);
        }
    }
    for world in worlds {
        let here: Vec<(usize, &Swept<'_>)> = swept
            .iter()
            .enumerate()
            .filter(|(at, _)| ready[*at].world.as_ref().is_some_and(|w| w.name() == world.name()))
            .filter_map(|(at, swept)| Some((at, swept.as_ref()?)))
            .collect();
        let todo: Vec<(usize, &Swept<'_>, &read::Cell)> =
            here.iter().flat_map(|(at, swept)| swept.missing().map(|cell| (*at, *swept, cell))).collect();
        let name = |at: usize, cell: &read::Cell| format!("{}: {}", ready[at].batch.stem, cell.name());
        let jobs: Vec<Job<'_>> = todo
            .iter()
            .map(|(at, _, cell)| Job { name: name(*at, cell), scenario: &cell.scenario, capture: None })
            .collect();
        let before = here.iter().map(|(_, swept)| swept.finished()).sum();
        let kept = jobs::run(&jobs, before, world, jobs::threads(threads), &|at, run, draft| {
            let (_, swept, cell) = todo[at];
            record::keep(swept.folder(), &record::name(cell), &cell.labels, &cell.scenario, run, draft, |_| Vec::new())
        });
        let kept = kept.inspect_err(|_| here.iter().for_each(|(_, swept)| swept.give_up()))?;
        for ((at, _, cell), kept) in todo.iter().zip(kept) {
            made[*at].push((*cell, kept));
        }
    }
    swept.into_iter().zip(made).map(|(swept, made)| swept.map_or(Ok(Vec::new()), |swept| swept.gather(made))).collect()
}

/// Judges the claims of one paper by the records of its items.
fn judge<'a>(
    source: &Source,
    extent: Extent,
    items: impl Iterator<Item = (&'a Ready<'a>, &'a Vec<Kept>)>,
) -> Result<Outcome, Failure> {
    let wrong = |what: String| Failure::Input(format!("{}: {what}", source.file()));
    let (mut outcomes, mut findings) = (Vec::new(), Vec::new());
    for (Ready { item, batch, .. }, kept) in items {
        let cells = batch.cells.iter().zip(kept);
        let measured: Vec<Cell> = cells.map(|(cell, kept)| Cell::new(cell.labels.clone(), &kept.summary)).collect();
        let figure =
            if measured.is_empty() { None } else { penstock_papers::figure(item, &measured).map_err(wrong)? };
        let also = penstock_papers::also(item, &measured).map_err(wrong)?;
        for claim in source.paper.claims_of(item.id.get_ref()) {
            let finding = penstock_papers::judge(claim, item, &measured, extent);
            findings.push(finding.map_err(|e| wrong(e.to_string()))?);
        }
        outcomes.push(ItemOutcome {
            id: item.id.get_ref().clone(),
            title: item.title.clone(),
            place: item.place.clone(),
            not_run: item.not_run.clone(),
            figure,
            also,
            traces: traces::of(item, &batch.cells, kept)?,
            rows: penstock_papers::rows(item, &measured),
            colours: colours(item, &batch.cells),
            scenario_text: batch.text.clone(),
        });
    }
    Ok(outcome(source, extent, outcomes, findings))
}

/// Writes what became of a paper, and says it.
fn say(
    source: &Source,
    outcome: &Outcome,
    page: &Page,
    home: Option<&Folder>,
    arguments: &arguments::Paper,
) -> Result<(), Failure> {
    if let Some(home) = home {
        let value = serde_json::to_value(outcome).map_err(|e| Failure::Bug(e.to_string()))?;
        home.put_file("verdicts.json", &record::bytes(&value)?)?;
        home.put_file("report.html", html::write(page).as_bytes())?;
    }
    if !arguments.output.json {
        terminal::say(text::page(page))?;
        if let Some(home) = home {
            terminal::say(format!("records {}", home.path().display()))?;
            terminal::say(format!("report  {}", record::shown(home.path(), "report.html")))?;
        }
    }
    if arguments.record {
        return put_on_record(source, outcome, outcome.extent);
    }
    for judged in outcome.claims.iter().filter(|c| c.compared != Comparison::Same) {
        terminal::note(contradiction(source, judged, outcome.extent));
    }
    Ok(())
}

fn outcome(source: &Source, extent: Extent, items: Vec<ItemOutcome>, findings: Vec<Finding>) -> Outcome {
    let judged = |finding: Finding| Judged {
        recorded: source.verdicts.of(&finding.id, extent).map(|r: &Recorded| r.verdict),
        compared: source.verdicts.compare(&finding, extent),
        finding,
    };
    let claims: Vec<Judged> = findings.into_iter().map(judged).collect();
    let differing = claims.iter().filter(|c| c.compared != Comparison::Same).count();
    Outcome { key: source.key.clone(), title: source.paper.title.clone(), extent, items, claims, differing }
}

/// The colour of each line: that of the controller in its cells.
fn colours(item: &Item, cells: &[read::Cell]) -> IndexMap<String, &'static str> {
    let line = |cell: &read::Cell| cell.labels.iter().find(|(k, _)| *k == item.lines).map(|(_, v)| v.clone());
    let colour = |cell: &read::Cell| cell.scenario.groups.values().next().map(|group| group.cc.law.colour);
    cells.iter().filter_map(|cell| Some((line(cell).unwrap_or_default(), colour(cell)?))).collect()
}

/// Writes `verdicts.toml`: the claims judged now, the others as they were.
fn put_on_record(source: &Source, outcome: &Outcome, extent: Extent) -> Result<(), Failure> {
    let findings: Vec<Finding> = outcome.claims.iter().map(|c| c.finding.clone()).collect();
    let mut verdicts = source.verdicts.clone();
    verdicts.record(&findings, extent);
    let known: Vec<&str> = source.paper.claims.iter().map(|c| c.id.get_ref().as_str()).collect();
    verdicts.keep(&known);
    let folder = Folder::open(&source.folder)?;
    let path = folder.put_file("verdicts.toml", verdicts.text(&source.key).as_bytes())?;
    terminal::note(format!("{} verdicts on record in {}", findings.len(), path.display()));
    Ok(())
}

fn contradiction(source: &Source, judged: &Judged, extent: Extent) -> String {
    let short = if extent == Extent::Short { " --short" } else { "" };
    let command = format!("penstock paper {} --record{short}", source.key);
    let (id, verdict) = (&judged.finding.id, judged.finding.verdict);
    match judged.recorded {
        Some(recorded) => {
            format!("{id}: {verdict}, but `{recorded}` is on record; if that is as it should be: {command}")
        }
        None => format!("{id}: {verdict}, and nothing is on record; to put it there: {command}"),
    }
}

/// A line of `--list`.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    paper: &'a str,
    id: &'a str,
    place: &'a str,
    title: &'a str,
    claims: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    world: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_run: Option<&'a str>,
}

fn list(sources: &[Source], json: bool) -> Result<Done, Failure> {
    let mut listed = Vec::new();
    for source in sources {
        for item in source.items() {
            listed.push(Listed {
                paper: &source.key,
                id: item.id.get_ref(),
                place: &item.place,
                title: &item.title,
                claims: source.paper.claims_of(item.id.get_ref()).count(),
                world: item.world.as_deref(),
                not_run: item.not_run.as_deref(),
            });
        }
    }
    if json {
        terminal::say_json(&listed)?;
        return Ok(Done::Well);
    }
    let rows = listed.iter().map(|l| {
        let runs = l.not_run.map_or_else(|| l.world.unwrap_or_default().to_owned(), |why| format!("not here: {why}"));
        vec![format!("{}/{}", l.paper, l.id), l.place.into(), l.title.into(), l.claims.to_string(), runs]
    });
    let columns = [("item", false), ("place", false), ("what it shows", false), ("claims", true), ("runs", false)];
    terminal::say(pages::table("", &columns, rows.collect()))?;
    Ok(Done::Well)
}

impl Source {
    /// The items asked for.
    fn items(&self) -> impl Iterator<Item = &Item> {
        let Paper { items, .. } = &self.paper;
        items.iter().filter(|i| self.only.as_ref().is_none_or(|only| only == i.id.get_ref()))
    }
}
