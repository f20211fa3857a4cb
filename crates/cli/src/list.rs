//! `penstock list`: the records below a directory, and the labels that distinguish them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use chrono::DateTime;
use penstock_record::{Origin, hexadecimal, read_header_of_any, read_summary};
use penstock_report::assemble::{self, Ran};
use penstock_report::number::{short, significant};
use penstock_scenario::summary::Summary;
use penstock_search::Draft;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::arguments::List;
use crate::failure::{Done, Failure, causes};
use crate::folder::is_set_aside;
use crate::gathered::Gathered;
use crate::named::Shown as _;
use crate::{content, dataset, pages, registry, terminal};

/// Depth below the directory at which records are looked for: those of a paper are in the directory of a sweep in its own.
const DEPTH: usize = 3;

/// A record, or a sweep, whose cells are not listed one by one.
#[derive(Debug, Serialize)]
struct Listed {
    /// Where it is.
    record: String,
    /// `run` or `sweep`.
    kind: &'static str,
    title: String,
    world: String,
    /// The seed of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// Number of cells of a sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<usize>,
    /// The keys that a sweep varies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    axes: Vec<Varied>,
    /// Changes to the scenario's file, `KEY=VALUE`.
    changes: Vec<String>,
    /// When its file was written, in UTC: a copy has the time of the copy.
    #[serde(rename = "made", skip_serializing_if = "Option::is_none")]
    written: Option<String>,
    /// Labels that distinguish a run or a sweep from the others of its title.
    #[serde(skip_serializing_if = "String::is_empty")]
    differs: String,
    /// The fullest link: its utilization, and how long packets waited there.
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<Headline>,
    /// For its differences.
    #[serde(skip)]
    content: Option<Box<Gathered>>,
}

/// A key that a sweep varies.
#[derive(Debug, Serialize)]
struct Varied {
    key: String,
    /// How many values or cases it has.
    places: usize,
}

/// The numbers one looks at first.
#[derive(Debug, Serialize)]
struct Headline {
    link: String,
    utilization: Figure,
    #[serde(skip_serializing_if = "Option::is_none")]
    queueing_delay_mean_s: Option<Figure>,
}

/// A number of a run, or the least and the greatest over the cells of a sweep.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
enum Figure {
    One(f64),
    Range([f64; 2]),
}

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct Listing {
    format: u32,
    records: Vec<Listed>,
}

/// The required part of `sweep.json`.
#[derive(Debug, Deserialize)]
struct Sweep {
    #[serde(default)]
    title: String,
    #[serde(default)]
    changes: Vec<String>,
    #[serde(flatten)]
    origin: Origin,
    #[serde(default)]
    axes: Vec<AxisOf>,
    /// Where it has its cells, if not in records.
    dataset: Option<DatasetOf>,
    cells: Vec<CellOf>,
}

#[derive(Debug, Deserialize)]
struct DatasetOf {
    cells: usize,
}

#[derive(Debug, Deserialize)]
struct AxisOf {
    key: String,
    places: Vec<Labelled>,
}

#[derive(Debug, Deserialize)]
struct Labelled {
    label: String,
}

#[derive(Debug, Deserialize)]
struct CellOf {
    #[serde(default)]
    path: String,
    #[serde(default)]
    summary: Value,
}

/// Runs the command.
pub(crate) fn list(arguments: &List) -> Result<Done, Failure> {
    let mut records = Vec::new();
    // Of a sweep that is named, the cells.
    let cells = arguments.directory.join("sweep.json").is_file() && !dataset::is_at(&arguments.directory);
    let all = if cells { below } else { look };
    all(&arguments.directory, DEPTH, &mut records)
        .map_err(|e| Failure::Input(format!("cannot read {}: {e}", arguments.directory.shown())))?;
    differ(&mut records);
    if arguments.json {
        terminal::say_json(&Listing { format: 1, records })?;
    } else if records.is_empty() {
        terminal::say(format!("no records in {}", arguments.directory.shown()))?;
    } else {
        terminal::say(printed(&records))?;
    }
    Ok(Done::Well)
}

/// Adds the record or sweep that a directory is, or else those below it. Unreadable ones are reported, and passed over.
fn look(directory: &Path, depth: usize, found: &mut Vec<Listed>) -> std::io::Result<()> {
    let has = |name: &str| directory.join(name).is_file();
    let read = if has("record.toml") {
        of_run(directory)
    } else if has("sweep.json") {
        of_sweep(directory)
    } else {
        return below(directory, depth, found);
    };
    match read {
        Ok(listed) => found.push(listed),
        Err((name, why)) => terminal::note(format!("{}: {why}", directory.join(name).shown())),
    }
    Ok(())
}

/// Adds the records below a directory, in the order of their names.
fn below(directory: &Path, depth: usize, found: &mut Vec<Listed>) -> std::io::Result<()> {
    let mut directories: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // A link may lead in a circle; what was set aside is no record.
        if entry.file_type()?.is_dir() && !name.starts_with('.') && !is_set_aside(&name) {
            directories.push(entry.path());
        }
    }
    directories.sort_unstable();
    for path in directories.iter().filter(|_| depth > 0) {
        if let Err(e) = look(path, depth - 1, found) {
            terminal::note(format!("cannot read {}: {e}", path.shown()));
        }
    }
    Ok(())
}

/// The name of a file, and what is wrong with it.
type Wrong = (&'static str, String);

fn of_run(directory: &Path) -> Result<Listed, Wrong> {
    const HEADER: &str = "record.toml";
    const SUMMARY: &str = "summary.json";
    let bytes = content::read(&directory.join(HEADER), content::HEADER).map_err(|e| (HEADER, e.to_string()))?;
    let header = read_header_of_any(&bytes).map_err(|e| (HEADER, causes(&e)))?;
    let summary = content::read(&directory.join(SUMMARY), content::SUMMARY).map_err(|e| (SUMMARY, e.to_string()))?;
    // A record of an old version has no hashes.
    let written = header.files.get(SUMMARY);
    if written.is_some_and(|written| *written != hexadecimal(&Sha256::digest(&summary))) {
        return Err((SUMMARY, "it has changed since it was written".to_owned()));
    }
    let summary = read_summary(&summary).map_err(|e| (SUMMARY, causes(&e)))?;
    let laws = header.laws().map_err(|e| (HEADER, causes(&e)))?;
    let version = header.provenance.origin.version.clone();
    Ok(Listed {
        record: directory.display().to_string(),
        kind: "run",
        title: header.title().map_err(|e| (HEADER, causes(&e)))?,
        world: header.provenance.origin.world,
        seed: Some(header.seed),
        cells: None,
        axes: Vec::new(),
        changes: header.provenance.changes,
        written: written_at(&directory.join("record.toml")),
        differs: String::new(),
        headline: headline(&summary),
        content: Some(Box::new(Gathered {
            place: directory.display().to_string(),
            name: String::new(),
            version,
            scenario: header.scenario,
            swept: Vec::new(),
            laws,
            summary,
            series: Vec::new(),
        })),
    })
}

/// When a file was written.
fn written_at(path: &Path) -> Option<String> {
    let seconds = fs::metadata(path).ok()?.mtime();
    Some(DateTime::from_timestamp(seconds, 0)?.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}

impl Headline {
    fn words(&self) -> String {
        let used = self.utilization.words(100.0, "", |percent| significant(percent, 3));
        let delay = self.queueing_delay_mean_s.map(|delay| delay.words(1.0, "s", |number| short(number, 3)));
        let delay = delay.map(|delay| format!(", {delay} of delay")).unwrap_or_default();
        format!("{}: {used} % used{delay}", self.link)
    }
}

impl Figure {
    /// The number, or both ends, times `factor`.
    fn words(self, factor: f64, unit: &str, number: impl Fn(f64) -> String) -> String {
        let ends = match self {
            Self::One(value) => [value; 2],
            Self::Range(ends) => ends,
        };
        pages::span(ends.map(|end| factor * end), unit, number)
    }
}

fn headline(summary: &Summary) -> Option<Headline> {
    let (link, of) = summary.whole.links.iter().max_by(|a, b| a.1.utilization.total_cmp(&b.1.utilization))?;
    Some(Headline {
        link: link.clone(),
        utilization: Figure::One(of.utilization),
        queueing_delay_mean_s: of.queueing_delay_mean_s.map(Figure::One),
    })
}

/// The range of the numbers of the link that is fullest in any cell.
fn headline_of(cells: &[CellOf]) -> Option<Headline> {
    let links = cells.iter().filter_map(|cell| cell.summary["links"].as_object()).flatten();
    let full = |of: &Value| of["utilization"].as_f64();
    let (link, _) = links
        .filter_map(|(link, of)| Some((link, full(of)?)))
        .reduce(|most, this| if this.1 > most.1 { this } else { most })?;
    let range = |what: &str| {
        let values = cells.iter().filter_map(|cell| cell.summary["links"][link][what].as_f64());
        let ends = values.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(v), b.max(v)]);
        (ends[0] <= ends[1]).then_some(Figure::Range(ends))
    };
    Some(Headline {
        link: link.clone(),
        utilization: range("utilization")?,
        queueing_delay_mean_s: range("queueing_delay_mean_s"),
    })
}

/// Gives each run the labels that distinguish it from the other runs of its title, and each sweep from the other sweeps.
fn differ(records: &mut [Listed]) {
    let mut kinds: Vec<(String, &'static str)> =
        records.iter().map(|listed| (listed.title.clone(), listed.kind)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for (title, kind) in kinds {
        let same = |listed: &Listed| listed.title == title && listed.kind == kind && listed.content.is_some();
        let alike: Vec<usize> = (0..records.len()).filter(|at| same(&records[*at])).collect();
        let contents = alike.iter().filter_map(|at| records[*at].content.as_deref());
        let runs: Vec<Ran<'_>> = contents.map(Gathered::ran).collect();
        let found = assemble::cases(&runs, registry::laws());
        if found.cases.len() < 2 {
            continue;
        }
        let named: Vec<(usize, String)> = found
            .cases
            .iter()
            .flat_map(|c| c.runs.iter().chain(&c.copies).map(|run| (alike[*run], c.name.clone())))
            .collect();
        for (at, name) in named {
            records[at].differs = name;
        }
    }
}

fn of_sweep(directory: &Path) -> Result<Listed, Wrong> {
    const NAME: &str = "sweep.json";
    let bytes = content::read(&directory.join(NAME), content::SUMMARY).map_err(|e| (NAME, e.to_string()))?;
    let sweep: Sweep = serde_json::from_slice(&bytes).map_err(|e| (NAME, e.to_string()))?;
    Ok(Listed {
        record: directory.display().to_string(),
        kind: "sweep",
        world: sweep.origin.world.clone(),
        seed: None,
        cells: Some(sweep.dataset.as_ref().map_or(sweep.cells.len(), |dataset| dataset.cells)),
        axes: sweep.axes.iter().map(|axis| Varied { key: axis.key.clone(), places: axis.places.len() }).collect(),
        written: written_at(&directory.join("sweep.json")),
        differs: String::new(),
        headline: headline_of(&sweep.cells),
        content: unvaried(directory, &sweep).map(Box::new),
        title: sweep.title,
        changes: sweep.changes,
    })
}

/// The common part of all cells of a sweep, with its axes: the scenario of the first one without the keys that vary. None where
/// the record of that cell cannot be read.
fn unvaried(directory: &Path, sweep: &Sweep) -> Option<Gathered> {
    let first = sweep.cells.first()?;
    let bytes = content::read(&directory.join(&first.path).join("record.toml"), content::HEADER).ok()?;
    let header = read_header_of_any(&bytes).ok()?;
    let mut scenario = Draft::parse(&header.scenario).ok()?;
    let mut axes = toml::Table::new();
    for AxisOf { key, places } in &sweep.axes {
        scenario.remove(key);
        let labels: Vec<&str> = places.iter().map(|place| place.label.as_str()).collect();
        axes.insert(key.clone(), values(&labels).into());
    }
    scenario.set("sweep", axes.into());
    let place = directory.display().to_string();
    Some(Gathered {
        name: directory.file_name().map_or_else(|| place.clone(), |name| name.to_string_lossy().into()),
        place,
        version: sweep.origin.version.clone(),
        scenario: toml::to_string(scenario.table()).ok()?,
        swept: Vec::new(),
        laws: Vec::new(),
        summary: serde_json::from_value(first.summary.clone()).ok()?,
        series: Vec::new(),
    })
}

/// More values than these are not listed one by one.
const FEW: usize = 4;

/// The values of an axis in a few words.
fn values(labels: &[&str]) -> String {
    match labels {
        [first, .., last] if labels.len() > FEW => format!("{first} to {last} ({} values)", labels.len()),
        _ => labels.join(", "),
    }
}

fn printed(records: &[Listed]) -> String {
    let rows = records.iter().map(|listed| {
        let seed = listed.seed.map(|seed| seed.to_string());
        let cells = listed.cells.map(|cells| format!("sweep of {cells}"));
        // What somebody changed on purpose tells more than a name.
        let differs = if listed.changes.is_empty() { listed.differs.clone() } else { listed.changes.join("; ") };
        let axes: Vec<String> = listed.axes.iter().map(|axis| format!("{} ({})", axis.key, axis.places)).collect();
        let over = if axes.is_empty() { String::new() } else { format!("over {}", axes.join(", ")) };
        let differs = [differs, over].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        let seed = seed.or(cells).unwrap_or_default();
        let written = listed.written.as_ref().map(|at| at.replace('T', " ").replace('Z', "")).unwrap_or_default();
        let numbers = listed.headline.as_ref().map(Headline::words).unwrap_or_default();
        let (record, title, world) = (listed.record.clone(), listed.title.clone(), listed.world.clone());
        vec![record, title, world, seed, written, differs, numbers]
    });
    let heads = ["record", "title", "world", "seed", "written (UTC)", "differs", "numbers"].map(|head| (head, false));
    pages::table("", &heads, rows.collect())
}
