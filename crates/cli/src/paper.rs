//! `penstock paper`: runs a paper's figures, measures its claims, and compares the verdicts with those on record.

mod library;

use clap::ValueEnum;
use indexmap::IndexMap;
use penstock_papers::{Cell, Comparison, Extent, Figure, Finding, Item, Paper, Recorded, Row, Verdict};
use penstock_report::{html, text};
use penstock_scenario::read;
use serde::Serialize;

use crate::arguments::{self, Changes, WorldName};
use crate::failure::{Done, Failure};
use crate::folder::Folder;
use crate::jobs::{self, Job};
use crate::record::{self, Kept};
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
        let short = if self.extent == Extent::Short { " --short" } else { "" };
        format!("penstock paper {}/{item}{short}", self.key)
    }
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

/// An item whose scenario was read.
struct Ready<'a> {
    item: &'a Item,
    cells: Vec<read::Cell>,
    text: String,
}

/// Runs the command.
pub(crate) fn paper(arguments: &arguments::Paper) -> Result<Done, Failure> {
    let sources = library::find(arguments.papers.as_deref(), arguments.what.as_deref())?;
    if arguments.list {
        return list(&sources, arguments.output.json);
    }
    let extent = if arguments.short { Extent::Short } else { Extent::Full };
    let ready: Vec<Vec<Ready<'_>>> = sources.iter().map(|s| prepare(s, extent)).collect::<Result<_, _>>()?;
    let out = Folder::open(&arguments.output.out)?;
    interrupt::watch()?;
    let mut outcomes = Vec::new();
    for (source, ready) in sources.iter().zip(&ready) {
        outcomes.push(run(source, ready, extent, &out, arguments)?);
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

/// Reads the scenarios of the items that run, so that a mistake in one is found before any run.
fn prepare(source: &Source, extent: Extent) -> Result<Vec<Ready<'_>>, Failure> {
    let mut ready = Vec::new();
    for item in source.items() {
        let (mut cells, mut text) = (Vec::new(), String::new());
        if let (None, Some(file)) = (&item.not_run, &item.scenario) {
            let file = source.folder.join(file);
            text = scenario::text(&file)?;
            let document = scenario::document(&file, None, &Changes { set: Vec::new() })?;
            cells = scenario::cells(&document)?;
            if extent == Extent::Short {
                let kept = |cell: &read::Cell| {
                    item.short
                        .iter()
                        .all(|(key, values)| cell.labels.iter().any(|(k, v)| k == key && values.contains(v)))
                };
                cells.retain(kept);
                if cells.is_empty() {
                    let id = item.id.get_ref();
                    return Err(Failure::Input(format!("{}/{id}: `short` in paper.toml keeps no cell", source.key)));
                }
            }
        }
        ready.push(Ready { item, cells, text });
    }
    Ok(ready)
}

/// Runs the items of one paper, and judges its claims.
fn run(
    source: &Source,
    ready: &[Ready<'_>],
    extent: Extent,
    out: &Folder,
    arguments: &arguments::Paper,
) -> Result<Outcome, Failure> {
    let json = arguments.output.json;
    let runs = ready.iter().any(|r| !r.cells.is_empty());
    let home = if runs { Some(out.inside(&source.key)?) } else { None };
    let mut items = Vec::new();
    let mut findings: Vec<Finding> = Vec::new();
    for Ready { item, cells, text } in ready {
        let mut measured: Vec<Cell> = Vec::new();
        if let (Some(home), false) = (&home, cells.is_empty()) {
            let kept = run_item(source, item, cells, home, arguments).inspect_err(|_| home.remove_if_empty())?;
            measured =
                cells.iter().zip(&kept).map(|(cell, kept)| Cell::new(cell.labels.clone(), &kept.summary)).collect();
        }
        let wrong = |what: String| Failure::Input(format!("{}: {what}", source.file()));
        let figure =
            if measured.is_empty() { None } else { penstock_papers::figure(item, &measured).map_err(wrong)? };
        for claim in source.paper.claims_of(item.id.get_ref()) {
            let finding = penstock_papers::judge(claim, item, &measured, extent);
            findings.push(finding.map_err(|e| wrong(e.to_string()))?);
        }
        items.push(ItemOutcome {
            id: item.id.get_ref().clone(),
            title: item.title.clone(),
            place: item.place.clone(),
            not_run: item.not_run.clone(),
            figure,
            rows: penstock_papers::rows(item, &measured),
            colours: colours(item, cells),
            scenario_text: text.clone(),
        });
    }
    let outcome = outcome(source, extent, items, findings);
    let page = pages::of_paper(&source.paper.authors, &source.paper.published, &outcome, &machine::facts());
    if let Some(home) = &home {
        let value = serde_json::to_value(&outcome).map_err(|e| Failure::Bug(e.to_string()))?;
        home.put_file("verdicts.json", &record::bytes(&value)?)?;
        home.put_file("report.html", html::write(&page).as_bytes())?;
    }
    if !json {
        terminal::say(text::page(&page))?;
        if let Some(home) = &home {
            terminal::say(format!("records {}", home.path().display()))?;
            terminal::say(format!("report  {}", record::shown(home.path(), "report.html")))?;
        }
    }
    if arguments.record {
        put_on_record(source, &outcome, extent)?;
    } else {
        for judged in outcome.claims.iter().filter(|c| c.compared != Comparison::Same) {
            terminal::note(contradiction(source, judged, extent));
        }
    }
    Ok(outcome)
}

fn run_item(
    source: &Source,
    item: &Item,
    cells: &[read::Cell],
    home: &Folder,
    arguments: &arguments::Paper,
) -> Result<Vec<Kept>, Failure> {
    let id = item.id.get_ref();
    let name = item.world.as_deref().unwrap_or_default();
    let known = WorldName::from_str(name, false);
    let world = known.map_err(|_| Failure::Input(format!("{}: {id}: no world is named `{name}`", source.file())))?;
    let world = scenario::world(world)?;
    let folder = home.inside(id)?;
    let jobs: Vec<Job<'_>> = cells
        .iter()
        .map(|cell| Job { name: format!("{id}: {}", cell.name()), scenario: &cell.scenario, capture: None })
        .collect();
    let threads = jobs::threads(arguments.output.jobs.map(usize::from));
    let kept = jobs::run(&jobs, 0, world.as_ref(), threads, &|at, run, draft| {
        let cell = &cells[at];
        record::keep(&folder, &record::name(cell), &cell.labels, &cell.scenario, run, draft, |_| Vec::new())
    });
    let kept = kept.inspect_err(|_| folder.remove_if_empty())?;
    let value = record::of_sweep(world.name(), cells, &kept)?;
    folder.put_file("sweep.json", &record::bytes(&value)?)?;
    Ok(kept)
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
