//! From a request to its response.

use std::collections::BTreeMap;
use std::sync::Arc;

use penstock_fluid::sessions::most_stable;
use penstock_fluid::{Answer as Theory, Fluid, Options, Verdict};
use penstock_law::Registry;
use penstock_packets::Packets;
use penstock_record::{Provenance, Record, read_header, read_header_of_any};
use penstock_report::assemble::{AnalysisSource, RunView, of_analysis, of_run, theory_tables, theory_view};
use penstock_report::html::fragment;
use penstock_report::page::Page;
use penstock_scenario::format::schema;
use penstock_scenario::read::{Cell, Document, ReadError, ReadErrors};
use penstock_scenario::summary::Summary;
use penstock_scenario::world::{Run, RunError, World};
use penstock_scenario::write::print;
use serde::Serialize;
use serde_json::Value;

use crate::keys::{Key, keys};
use crate::request::{Chosen, Ran, Request, Text, WorldName};

/// Memory of a page that a cell may take [B].
const MEMORY: u64 = 1_000_000_000;
/// The most cells whose names are listed.
const MOST_CELLS: usize = 1000;

/// Progress of long work, 0 to 1; answering `false` stops it.
pub type Progress<'a> = &'a mut dyn FnMut(f64) -> bool;

/// The response to a request.
pub fn answer(request: &[u8], progress: Progress<'_>) -> Vec<u8> {
    let said = match serde_json::from_slice(request) {
        Ok(request) => done(request, progress),
        Err(wrong) => Said::Refused(vec![format!("the module does not know this request of the page: {wrong}")]),
    };
    // Nothing here can fail: every key is a string.
    serde_json::to_vec(&said).unwrap_or_default()
}

/// A response as the page reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Said {
    Ok(Box<Answer>),
    Errors(Vec<Wrong>),
    Refused(Vec<String>),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Answer {
    About { version: &'static str, schema: Value },
    Read(Read),
    Run(Shown),
    Theory(Shown),
    Record(BTreeMap<String, String>),
    Open { scenario: String, world: String },
}

#[derive(Debug, Serialize)]
struct Read {
    title: String,
    duration_s: f64,
    /// The names of the cells; one empty name where there is no sweep.
    cells: Vec<String>,
    keys: Vec<Key>,
}

/// A page without its frame.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    title: String,
    subtitle: String,
    html: String,
    figures: String,
    /// The summary of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
    /// The verdict of the theory.
    #[serde(skip_serializing_if = "Option::is_none")]
    margins: Option<Margins>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Margins {
    verdict: Verdict,
    gain: Option<f64>,
    phase_deg: Option<f64>,
    delay_s: Option<f64>,
    crossover_rad_per_s: Option<f64>,
}

/// An error in the text, columns and lengths in characters.
#[derive(Debug, Serialize)]
struct Wrong {
    line: Option<u32>,
    column: Option<u32>,
    length: usize,
    key: String,
    found: String,
    remedy: String,
}

impl From<&ReadError> for Wrong {
    fn from(error: &ReadError) -> Self {
        let marked = error.excerpt.as_ref().and_then(|excerpt| excerpt.text.get(excerpt.span.clone()));
        Self {
            line: error.line,
            column: error.column,
            length: marked.map_or(1, |marked| marked.chars().count()),
            key: error.key.clone(),
            found: error.found.clone(),
            remedy: error.remedy.clone(),
        }
    }
}

impl From<ReadErrors> for Said {
    fn from(errors: ReadErrors) -> Self {
        Self::Errors(errors.shown().0.iter().map(Wrong::from).collect())
    }
}

impl From<RunError> for Said {
    fn from(error: RunError) -> Self {
        Self::Refused(error.reasons())
    }
}

fn done(request: Request, progress: Progress<'_>) -> Said {
    let answer = match request {
        Request::About => {
            Ok(Answer::About { version: env!("CARGO_PKG_VERSION"), schema: schema(&Registry::standard()) })
        }
        Request::Read(text) => read(&text).map(Answer::Read),
        Request::Run(ran) => run(&ran, progress).map(Answer::Run),
        Request::Theory(chosen) => theory(&chosen).map(Answer::Theory),
        Request::Record(ran) => record(&ran, progress).map(Answer::Record),
        Request::Open { text } => open(&text),
    };
    answer.map_or_else(|said| said, |answer| Said::Ok(Box::new(answer)))
}

fn cells(text: &Text, registry: &Arc<Registry>) -> Result<Vec<Cell>, Said> {
    let load = |_: &str| Err("a page in the browser reads no other files: write the values as a list".to_owned());
    let mut document = Document::parse_with(&text.text, &text.name, load)?.with_laws(Arc::clone(registry));
    document.within(MEMORY, "may be taken in a page of a browser");
    Ok(document.cells()?)
}

fn cell(chosen: &Chosen, registry: &Arc<Registry>) -> Result<Cell, Said> {
    let mut cells = cells(&chosen.of, registry)?;
    let at = chosen.cell.min(cells.len().saturating_sub(1));
    if cells.is_empty() {
        Err(Said::Refused(vec!["the scenario has no cell".into()]))
    } else {
        Ok(cells.swap_remove(at))
    }
}

fn read(text: &Text) -> Result<Read, Said> {
    let registry = Arc::new(Registry::standard());
    let cells = cells(text, &registry)?;
    let first = cells.first();
    Ok(Read {
        title: first.map(|cell| cell.scenario.title.clone()).unwrap_or_default(),
        duration_s: first.map_or(0.0, |cell| cell.scenario.duration.seconds()),
        cells: cells.iter().take(MOST_CELLS).map(Cell::name).collect(),
        keys: keys(&text.text, &registry),
    })
}

fn world(name: WorldName) -> Box<dyn World> {
    match name {
        WorldName::Packets => Box::new(Packets),
        WorldName::Fluid => Box::new(Fluid::default()),
    }
}

fn ran(ran: &Ran, registry: &Arc<Registry>, progress: Progress<'_>) -> Result<(Cell, Run), Said> {
    let cell = cell(&ran.chosen, registry)?;
    let mut watch = |done: f64| progress(done);
    let run = world(ran.world).run(&cell.scenario, &mut watch)?;
    Ok((cell, run))
}

fn facts() -> Vec<(String, String)> {
    vec![("Penstock".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]
}

fn run(of: &Ran, progress: Progress<'_>) -> Result<Shown, Said> {
    let registry = Arc::new(Registry::standard());
    let (cell, mut run) = ran(of, &registry, progress)?;
    let laws: Vec<(String, String)> =
        cell.scenario.groups.iter().map(|(name, group)| (name.clone(), group.cc.law.name.to_owned())).collect();
    let page = of_run(&RunView {
        summary: &run.summary,
        series: &run.series,
        scenario_text: &print(&cell.scenario),
        header: &facts(),
        laws: &laws,
        registry: &registry,
    });
    // The page has them as a table; there may be thousands.
    run.summary.whole.flows.clear();
    Ok(Shown { summary: Some(run.summary), ..Shown::of(&page) })
}

fn theory(of: &Chosen) -> Result<Shown, Said> {
    let registry = Arc::new(Registry::standard());
    let cell = cell(of, &registry)?;
    let options = Options::default();
    let refused = |e: &dyn ToString| Said::Refused(vec![e.to_string()]);
    let answer = Theory::of(&cell.scenario, &options, &|_| ()).map_err(|e| refused(&e))?;
    let sessions = match &answer {
        Theory::Network(analysis) => most_stable(&cell.scenario, &options, analysis, &|_| ()),
        _ => None,
    };
    let (header, text) = (facts(), print(&cell.scenario));
    let source = AnalysisSource { header: &header, scenario_text: &text, command: "" };
    let mut page = of_analysis(&theory_view(&answer, sessions.as_ref(), &source));
    if let Some(first) = page.sections.first_mut() {
        first.tables.extend(theory_tables(&answer));
    }
    // The run beside it has the scenario.
    page.sections.retain(|section| section.heading != "Scenario");
    let (verdict, margins) = answer.verdict();
    let margins = Margins {
        verdict,
        gain: margins.and_then(|m| m.gain_margin),
        phase_deg: margins.and_then(|m| m.phase_margin_deg),
        delay_s: margins.and_then(|m| m.delay_margin_s),
        crossover_rad_per_s: margins.and_then(|m| m.gain_crossover_rad_per_s),
    };
    Ok(Shown { margins: Some(margins), ..Shown::of(&page) })
}

impl Shown {
    fn of(page: &Page) -> Self {
        let content = fragment(page);
        Self {
            title: page.title.clone(),
            subtitle: page.subtitle.clone(),
            html: content.html,
            figures: content.figures,
            summary: None,
            margins: None,
        }
    }
}

fn record(of: &Ran, progress: Progress<'_>) -> Result<BTreeMap<String, String>, Said> {
    let (cell, run) = ran(of, &Arc::new(Registry::standard()), progress)?;
    let refused = |e: &dyn ToString| Said::Refused(vec![e.to_string()]);
    let record = Record::of(&cell.scenario, &run, &Provenance::default()).map_err(|e| refused(&e))?;
    let header = read_header(record.file("record.toml").unwrap_or_default()).map_err(|e| refused(&e))?;
    Ok(header.files.into_iter().collect())
}

fn open(text: &str) -> Result<Answer, Said> {
    let header = read_header_of_any(text.as_bytes()).map_err(|e| Said::Refused(vec![e.to_string()]))?;
    Ok(Answer::Open { scenario: header.scenario, world: header.provenance.origin.world })
}
