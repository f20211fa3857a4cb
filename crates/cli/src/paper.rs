//! `penstock paper`: runs a paper's figures, measures its claims, and compares the verdicts with those on record.

mod library;
mod loops;
mod outcome;
mod page;
mod traces;

use clap::ValueEnum;
use indexmap::IndexMap;
use penstock_papers::{
    Cell, Comparison, Computed, Extent, Item, JudgedClaim, Recorded, Undrawable, UnknownColumn, Verdict,
};
use penstock_report::html;
use penstock_report::number::{quantity, unit_of};
use penstock_report::page::Page;
use penstock_scenario::read;
use penstock_scenario::world::World;
use serde::Serialize;

use crate::arguments::{self, WorldName};
use crate::batch::Batch;
use crate::failure::{Done, Failure};
use crate::folder::{Folder, Others};
use crate::named::Shown as _;
use crate::program;
use crate::record::{self, Kept};
use crate::together::{self, Part};
use crate::{interrupt, machine, pages, scenario, terminal};
use library::Source;
use outcome::{ItemOutcome, Judged, Outcome, command};

/// A scenario file, read, with the cells that any item needs.
struct Shared<'a> {
    source: &'a Source,
    world: Box<dyn World + Sync>,
    batch: Batch,
}

/// An item whose scenario was read, or that was computed.
struct Ready<'a> {
    source: &'a Source,
    item: &'a Item,
    /// Its index among the scenarios, and its cells; none where it does not run.
    shared: Option<(usize, Vec<read::Cell>)>,
    /// Its analysis or computation instead of runs.
    computed: Option<Drawn>,
}

/// The result of an analysis or a formula.
struct Drawn {
    cells: Vec<Cell>,
    figures: Vec<penstock_report::figure::Figure>,
    /// The text of the scenario that was analysed.
    text: String,
}

/// Runs the command.
pub(crate) fn paper(arguments: &arguments::Paper) -> Result<Done, Failure> {
    // Long runs have a few cells for a short check, and are listed with the others.
    let apart = arguments.short || arguments.list;
    let sources = library::find(arguments.papers.as_deref(), arguments.what.as_deref(), arguments.world, apart)?;
    if arguments.list {
        return list(&sources, arguments.output.json);
    }
    let extent = if arguments.short { Extent::Short } else { Extent::Full };
    // A mistake in one is found before any run.
    let (mut shared, mut ready): (Vec<Shared<'_>>, Vec<Ready<'_>>) = (Vec::new(), Vec::new());
    for source in &sources {
        for item in source.items() {
            // A cheap check computes nothing that it cannot judge.
            let told = source.paper.claims_of(item.id.get_ref()).any(|c| c.short && c.why_not(item).is_none());
            let wanted = item.not_run.is_none() && (extent == Extent::Full || told);
            let (mut at, mut computed) = (None, None);
            if wanted {
                at = prepare(source, item, extent, arguments, &mut shared)?;
                computed = compute(source, item, extent)?;
            }
            ready.push(Ready { source, item, shared: at, computed });
        }
    }
    let linux = shared.iter().any(|shared| shared.world.name() == "linux");
    scenario::refuse_awake(arguments.processors.awake, linux, "--world linux")?;
    let out = Folder::open(&arguments.output.out)?;
    interrupt::watch()?;
    let mut homes: IndexMap<&str, Folder> = IndexMap::new();
    for Ready { source, .. } in ready.iter().filter(|r| r.shared.is_some() || r.computed.is_some()) {
        if !homes.contains_key(source.key.as_str()) {
            homes.insert(&source.key, out.resume(&source.key, Others::Wait)?);
        }
    }
    let kept = run(&shared, &homes, arguments.output.jobs.map(usize::from))
        .inspect_err(|_| homes.values().for_each(Folder::remove_if_empty))?;

    for kept in kept.iter().flatten() {
        for what in kept.summary.path.iter().flat_map(|path| &path.beyond) {
            terminal::fail(format!(
                "{}: {}: the run exceeded its error bounds: {what}",
                program::name(),
                kept.path.shown()
            ));
        }
    }
    let (mut outcomes, mut pages) = (Vec::new(), Vec::new());
    for source in &sources {
        let items: Vec<&Ready<'_>> = ready.iter().filter(|ready| std::ptr::eq(ready.source, source)).collect();
        let outcome = judge(source, extent, &items, &shared, &kept)?;
        let page = page::of_paper(&source.paper.authors, &source.paper.published, &outcome, &machine::facts());
        say(source, &outcome, &page, homes.get(source.key.as_str()), arguments)?;
        outcomes.push(outcome);
        pages.push(page);
    }
    if arguments.what.is_none() && !homes.is_empty() {
        let path = out
            .put_file("atlas.html", html::write(&page::atlas(pages, arguments.short, &machine::facts())).as_bytes())?;
        if !arguments.output.json {
            terminal::place("atlas", path.shown())?;
        }
    }
    if arguments.output.json {
        terminal::say_all(&outcomes)?;
    }
    let beyond = kept.iter().flatten().filter_map(|k| k.summary.path.as_ref()).any(|path| !path.beyond.is_empty());
    let differs = !arguments.record && outcomes.iter().any(|o| o.differing > 0);
    Ok(match (differs, beyond) {
        (true, _) => Done::Differs,
        (false, true) => Done::Beyond,
        (false, false) => Done::Well,
    })
}

/// Analyses the scenario that an item of the theory names, or computes its formula.
fn compute(source: &Source, item: &Item, extent: Extent) -> Result<Option<Drawn>, Failure> {
    let wrong = |what: String| Failure::Input(format!("{}: {}: {what}", source.file(), item.id.get_ref()));
    let drawn = |Computed { cells, curves }, text| Drawn { cells, figures: loops::figures(item, &curves), text };
    let Some(file) = &item.analysis else {
        if item.formula.is_some() {
            drawable(source, item, &item.combinations())?;
        }
        let computed = penstock_papers::compute(item, extent).map_err(wrong)?;
        return Ok(computed.map(|computed| drawn(computed, String::new())));
    };
    let file = source.inside(file)?;
    let document = scenario::document_of(&source.folder, &file)?;
    let cells = scenario::cells(&document)?;
    drawable(source, item, &labels(&cells))?;
    let computed = penstock_papers::analyze(item, &cells, extent).map_err(wrong)?;
    Ok(Some(drawn(computed, scenario::text(&file)?)))
}

/// Refuses figures whose points would be means over more than seeds, by all cells of the sweep: a short run may have one only.
fn drawable(source: &Source, item: &Item, cells: &[Vec<(String, String)>]) -> Result<(), Failure> {
    penstock_papers::drawable(item, cells).map_err(|Undrawable { offset, what }| {
        let (file, line) = (source.file(), source.line(offset));
        Failure::Input(format!("{file}:{line}: item `{}`: {what}", item.id.get_ref()))
    })
}

fn labels(cells: &[read::Cell]) -> Vec<Vec<(String, String)>> {
    cells.iter().map(|cell| cell.labels.clone()).collect()
}

/// Reads the scenario of an item, once for all that share it.
fn prepare<'a>(
    source: &'a Source,
    item: &'a Item,
    extent: Extent,
    arguments: &arguments::Paper,
    shared: &mut Vec<Shared<'a>>,
) -> Result<Option<(usize, Vec<read::Cell>)>, Failure> {
    let Some(file) = &item.scenario else { return Ok(None) };
    let id = item.id.get_ref();
    let name = item.world.as_deref().unwrap_or_default();
    let known = WorldName::from_str(name, false);
    let world = known.map_err(|_| Failure::Input(format!("{}: {id}: no world is named `{name}`", source.file())))?;
    let world = scenario::one_world(world, arguments.processors.awake)?;
    let file = source.inside(file)?;
    let mut document = scenario::document_of(&source.folder, &file)?;
    if let Some(count) = arguments.seeds {
        document.set("sweep.seed", &format!("{{ count = {count} }}")).map_err(Failure::input)?;
    }
    let mut cells = scenario::cells(&document)?;
    drawable(source, item, &labels(&cells))?;
    cells.retain(|cell| item.shows(&cell.labels, extent));
    if cells.is_empty() {
        let what = format!("{}/{id}: `cells` and `short` in paper.toml select no run of {}", source.key, file.shown());
        return Err(Failure::Input(what));
    }
    let stem = scenario::stem(&file);
    let there =
        |s: &Shared<'_>| std::ptr::eq(s.source, source) && s.batch.stem == stem && s.world.name() == world.name();
    let at = if let Some(at) = shared.iter().position(there) {
        at
    } else {
        let (title, text) = (item.title.clone(), scenario::text(&file)?);
        let command = command(&source.key, id, extent);
        let batch = Batch { file, stem, title, text, command, swept: true, ..Batch::default() };
        shared.push(Shared { source, world, batch });
        shared.len() - 1
    };
    let all = &mut shared[at].batch.cells;
    for cell in &cells {
        if all.iter().all(|other| other.labels != cell.labels) {
            all.push(cell.clone());
        }
    }
    Ok(Some((at, cells)))
}

/// Runs the cells of all scenarios, and gives the record of each.
fn run(
    shared: &[Shared<'_>],
    homes: &IndexMap<&str, Folder>,
    threads: Option<usize>,
) -> Result<Vec<Vec<Kept>>, Failure> {
    let parts: Vec<Part<'_>> = shared
        .iter()
        .map(|each| Part { home: &homes[each.source.key.as_str()], batch: &each.batch, world: each.world.as_ref() })
        .collect();
    together::run(&parts, None, threads)?.into_iter().map(|ran| ran.swept.gather(ran.made)).collect()
}

/// Judges the claims of one paper by the records of its items.
fn judge(
    source: &Source,
    extent: Extent,
    items: &[&Ready<'_>],
    shared: &[Shared<'_>],
    kept: &[Vec<Kept>],
) -> Result<Outcome, Failure> {
    let wrong = |what: String| Failure::Input(format!("{}: {what}", source.file()));
    let (mut outcomes, mut claims) = (Vec::new(), Vec::new());
    for Ready { item, shared: at, computed, .. } in items {
        let (mut measured, mut own, mut traces) = (Vec::new(), Vec::new(), Vec::new());
        if let Some((at, cells)) = at {
            let all = &shared[*at].batch.cells;
            for (cell, kept) in all.iter().zip(&kept[*at]).filter(|(c, _)| cells.iter().any(|o| o.labels == c.labels)) {
                measured.push(Cell::new(cell.labels.clone(), &kept.summary));
                own.push((cell, kept));
            }
            traces = traces::of(item, &own)?;
        }
        let mut scenario_text = at.as_ref().map(|(at, _)| shared[*at].batch.text.clone()).unwrap_or_default();
        if let Some(computed) = computed {
            measured.clone_from(&computed.cells);
            traces.clone_from(&computed.figures);
            scenario_text.clone_from(&computed.text);
        }
        let figure =
            if measured.is_empty() { None } else { penstock_papers::figure(item, &measured).map_err(wrong)? };
        let also = penstock_papers::also(item, &measured).map_err(wrong)?;
        for claim in source.paper.claims_of(item.id.get_ref()) {
            let judged = penstock_papers::judge(claim, item, &measured, extent);
            claims.push(judged.map_err(|e| wrong(e.to_string()))?);
        }
        let rows = penstock_papers::rows(item, &measured).map_err(|UnknownColumn { offset, path, why }| {
            let (file, line) = (source.file(), source.line(offset));
            Failure::Input(format!("{file}:{line}: columns: `{path}` is not a number of the results: {why}"))
        })?;
        outcomes.push(ItemOutcome {
            id: item.id.get_ref().clone(),
            title: item.title.clone(),
            place: item.place.clone(),
            not_run: item.not_run.clone(),
            figure,
            also,
            traces,
            rows,
            colours: colours(item, own.iter().map(|(cell, _)| *cell)),
            scenario_text,
        });
    }
    Ok(outcome(source, extent, outcomes, claims))
}

/// Writes the outcome of a paper, and reports it.
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
        terminal::say(terminal::look().page(page))?;
        if let Some(home) = home {
            terminal::place("records", home.path().shown())?;
            terminal::place("report", record::shown(home.path(), "report.html"))?;
        }
    }
    if arguments.record {
        return put_on_record(source, outcome, outcome.extent);
    }
    for judged in outcome.claims.iter().filter(|c| c.compared != Comparison::Same) {
        terminal::fail(contradiction(source, judged, outcome.extent));
    }
    Ok(())
}

fn outcome(source: &Source, extent: Extent, items: Vec<ItemOutcome>, claims: Vec<JudgedClaim>) -> Outcome {
    let judged = |claim: JudgedClaim| {
        let written = source.paper.claims.iter().find(|written| *written.id.get_ref() == claim.id);
        let unit = written.map(|written| written.unit(|name| unit_of(name).1)).unwrap_or_default();
        let test = written.and_then(|written| written.test.as_ref());
        let bound = test.map(|test| penstock_papers::bound(test.get_ref(), &|x| quantity(x, &unit, 6)));
        let fails = claim.verdict == Verdict::Fails;
        Judged {
            recorded: source.verdicts.of(&claim.id, extent).map(|r: &Recorded| r.verdict),
            compared: source.verdicts.compare(&claim, extent),
            reason: source.paper.reason(&claim.id).filter(|_| fails).map(str::to_owned),
            bound: bound.unwrap_or_default(),
            unit,
            claim,
        }
    };
    let claims: Vec<Judged> = claims.into_iter().map(judged).collect();
    let differing = claims.iter().filter(|c| c.compared != Comparison::Same).count();
    Outcome { key: source.key.clone(), title: source.paper.title.clone(), extent, items, claims, differing }
}

/// The colour of each line: that of the controller in its cells.
fn colours<'a>(item: &Item, cells: impl Iterator<Item = &'a read::Cell>) -> IndexMap<String, &'static str> {
    let colour = |cell: &read::Cell| cell.scenario.groups.values().next().map(|group| group.cc.law.colour);
    cells.filter_map(|cell| Some((item.line_of(&cell.labels), colour(cell)?))).collect()
}

/// Writes `verdicts.toml`: the claims judged now, the others as they were.
fn put_on_record(source: &Source, outcome: &Outcome, extent: Extent) -> Result<(), Failure> {
    let claims: Vec<JudgedClaim> = outcome.claims.iter().map(|c| c.claim.clone()).collect();
    let mut verdicts = source.verdicts.clone();
    verdicts.record(&claims, extent);
    let known: Vec<&str> = source.paper.claims.iter().map(|c| c.id.get_ref().as_str()).collect();
    verdicts.keep(&known);
    let folder = Folder::open(&source.folder)?;
    let path = folder.put_file("verdicts.toml", verdicts.text(&source.key).as_bytes())?;
    terminal::note(format!("{} verdicts on record in {}", claims.len(), path.shown()));
    Ok(())
}

fn contradiction(source: &Source, judged: &Judged, extent: Extent) -> String {
    let short = if extent == Extent::Short { " --short" } else { "" };
    let linux = source.paper.item(&judged.claim.item).and_then(Item::runs) == Some("linux");
    let world = if linux { " --world linux" } else { "" };
    let command = format!("{} paper {}{world} --record{short}", program::name(), source.key);
    let (id, verdict) = (&judged.claim.id, judged.claim.verdict);
    match judged.recorded {
        Some(recorded) => {
            format!(
                "{id}: the verdict is `{verdict}`, but `{recorded}` is on record; to record the new verdict: {command}"
            )
        }
        None => format!("{id}: the verdict is `{verdict}`, and none is on record; to record it: {command}"),
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
    /// Whether it runs only where it is named.
    apart: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_run: Option<&'a str>,
}

fn list(sources: &[Source], json: bool) -> Result<Done, Failure> {
    let mut listed = Vec::new();
    for source in sources {
        let named = |item: &&Item| source.asked.only.as_ref().is_none_or(|only| only == item.id.get_ref());
        for item in source.paper.items.iter().filter(named) {
            listed.push(Listed {
                paper: &source.key,
                id: item.id.get_ref(),
                place: &item.place,
                title: &item.title,
                claims: source.paper.claims_of(item.id.get_ref()).count(),
                world: item.runs(),
                apart: item.apart,
                not_run: item.not_run.as_deref(),
            });
        }
    }
    if json {
        terminal::say_json(&listed)?;
        return Ok(Done::Well);
    }
    let rows = listed.iter().map(|l| {
        let world = l.world.unwrap_or_default();
        let runs = match l.not_run {
            Some(why) => format!("not here: {why}"),
            None if l.apart => format!("{world}, only where named"),
            None => world.to_owned(),
        };
        vec![format!("{}/{}", l.paper, l.id), l.place.into(), l.title.into(), l.claims.to_string(), runs]
    });
    let columns = [("item", false), ("place", false), ("content", false), ("claims", true), ("world", false)];
    terminal::say(pages::table("", &columns, rows.collect()))?;
    Ok(Done::Well)
}
