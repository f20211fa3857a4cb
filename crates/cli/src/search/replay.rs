//! `penstock break --replay`: scenarios with bounds beside them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use penstock_evaluation::statistics::median;
use penstock_evaluation::{Subject, SubjectRole};
use penstock_papers::Cell;
use penstock_report::number::short;
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Document;
use penstock_scenario::world::World;
use penstock_search::{Band, Bench, Bounds, Contender, Draft, Kind, Of};
use serde::Serialize;

use super::baselines::Beside;
use crate::arguments::WorldName;
use crate::failure::{Done, Failure};
use crate::jobs::{self, Job};
use crate::named::Shown as _;
use crate::progress::Others;
use crate::{pages, registry, scenario, terminal};

/// The ending of the files with bounds.
const ENDING: &str = ".bounds.toml";

/// A bound and its outcome.
#[derive(Debug, Clone, Serialize)]
struct Row {
    file: String,
    what: String,
    measured: Option<f64>,
    bound: String,
    outcome: Outcome,
    /// Of the law under an objective: from this score on it has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    /// Its score beside the references that have bounds; none for a relative objective without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    why: String,
}

/// The outcome of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    /// It is kept.
    Kept,
    /// It is not kept, as is on record.
    KnownToFail,
    /// It is not kept.
    Broken,
    /// It is kept, and on record as one that is not.
    Mended,
}

impl Outcome {
    const fn of(keeps: bool, holds: bool) -> Self {
        match (keeps, holds) {
            (true, true) => Self::Kept,
            (true, false) => Self::Mended,
            (false, true) => Self::Broken,
            (false, false) => Self::KnownToFail,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::KnownToFail => "known to fail",
            Self::Broken => "broken",
            Self::Mended => "mended",
        }
    }
}

/// A file with its bounds.
struct Replayed {
    shown: String,
    bounds: Bounds,
    text: String,
}

/// Runs the scenarios of a directory, and compares.
pub(super) fn replay(
    folder: &Path,
    long: bool,
    (world, of): (&(dyn World + Sync), WorldName),
    threads: usize,
    json: bool,
) -> Result<Done, Failure> {
    let mut rows = Vec::new();
    let mut left_out = Vec::new();
    let mut replayed = Vec::new();
    for path in files(folder)? {
        let file = read(&path)?;
        let elsewhere = file.bounds.world.as_deref().is_some_and(|wanted| wanted != world.name());
        if elsewhere || (file.bounds.long && !long) {
            left_out.push(file.shown);
            continue;
        }
        replayed.push(file);
    }
    let mut wanted: Vec<Wanted> = Vec::new();
    for (at, file) in replayed.iter().enumerate() {
        wanted.extend(file.wanted(at, world.name(), of)?);
    }
    let numbers = run(&wanted, &replayed, world, threads)?;
    for (at, file) in replayed.iter().enumerate() {
        let of: Vec<(&Wanted, &Measured)> =
            wanted.iter().zip(&numbers).filter(|(wanted, _)| wanted.file == at).collect();
        rows.extend(file.judge(&of, world.name()));
    }
    let count = |outcome: Outcome| rows.iter().filter(|row| row.outcome == outcome).count();
    let (broken, mended) = (count(Outcome::Broken), count(Outcome::Mended));
    if json {
        terminal::say_json(&rows)?;
    } else {
        let cells = rows.iter().map(|row| {
            let number = row.measured.map_or_else(|| "none".to_owned(), |number| short(number, 3));
            vec![row.file.clone(), row.what.clone(), number, row.bound.clone(), row.outcome.word().to_owned()]
        });
        let columns = [("file", false), ("measure", false), ("is", true), ("bound", false), ("outcome", false)];
        terminal::say(pages::table("", &columns, cells.collect()))?;
        let known = count(Outcome::KnownToFail);
        terminal::say(format!(
            "{} kept, {known} known to fail, {broken} broken, {mended} mended",
            count(Outcome::Kept)
        ))?;
    }
    if !left_out.is_empty() {
        terminal::note(format!(
            "not run: {} (they have `long = true`, or bounds for another world)",
            left_out.join(", ")
        ));
    }
    for row in &rows {
        let what = format!("{}: {}: {}", row.file, row.what, row.bound);
        match row.outcome {
            Outcome::Broken => terminal::fail(format!("{what}: the bound is broken")),
            Outcome::Mended => {
                terminal::fail(format!(
                    "{what}: the bound is now kept, but is on record as one that fails; write `holds = true` or a new bound"
                ));
            }
            Outcome::Kept | Outcome::KnownToFail => {}
        }
    }
    Ok(if broken + mended > 0 { Done::Differs } else { Done::Well })
}

/// The files with bounds in a directory, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |e: std::io::Error| Failure::Input(format!("cannot read {}: {e}", folder.shown()));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ENDING)) {
            files.push(path);
        }
    }
    files.sort_unstable();
    if files.is_empty() {
        let folder = folder.shown();
        return Err(Failure::Input(format!("{folder} has no file of bounds, such as NAME{ENDING} beside NAME.toml")));
    }
    Ok(files)
}

fn read(path: &Path) -> Result<Replayed, Failure> {
    let shown = path.shown();
    let bounds = Bounds::parse(&scenario::text(path)?, &shown).map_err(Failure::input)?;
    let file = PathBuf::from(shown.replace(ENDING, ".toml"));
    let text = scenario::text(&file)?;
    Ok(Replayed { shown: file.shown(), bounds, text })
}

/// A run that a replay needs.
struct Wanted {
    /// Which file.
    file: usize,
    /// The law or reference, in runs for an objective.
    who: Option<String>,
    labels: Vec<(String, String)>,
    scenario: Scenario,
}

/// The result of a run of a replay.
enum Measured {
    /// The measure of the objective.
    Number(Option<f64>),
    Cell(Cell),
}

impl Replayed {
    /// The runs that its bounds need.
    fn wanted(&self, file: usize, world: &str, of: WorldName) -> Result<Vec<Wanted>, Failure> {
        let mut wanted = Vec::new();
        let folder = Path::new(&self.shown).parent().map(Path::to_path_buf).unwrap_or_default();
        let load = move |name: &str| scenario::text(&folder.join(name)).map_err(|e| e.to_string());
        let document = Document::parse_with(&self.text, &self.shown, load)?.with_laws(Arc::clone(registry::laws()));
        if !self.bounds.bound.is_empty() {
            for cell in document.cells()? {
                wanted.push(Wanted { file, who: None, labels: cell.labels, scenario: cell.scenario });
            }
        }
        if let Some(kind) = self.bounds.objective {
            let draft = Draft::parse(&self.text).map_err(|why| Failure::Input(format!("{}: {why}", self.shown)))?;
            let bench = self.bench(kind, &draft, world, of)?;
            let references = bench.references(&draft);
            let mut drafts = vec![(self.bounds.law.clone(), draft.clone())];
            for law in references.iter().filter(|law| self.bounds.references.contains_key(&law.name)) {
                drafts.push((law.name.clone(), bench.with(&draft, law)));
            }
            for (who, draft) in drafts {
                for seed in 1..=self.bounds.seeds() as u64 {
                    let scenario = bench.scenario(&draft, seed);
                    let scenario = scenario.map_err(|why| Failure::Input(format!("{}: {why}", self.shown)))?;
                    wanted.push(Wanted { file, who: Some(who.clone()), labels: Vec::new(), scenario });
                }
            }
        }
        Ok(wanted)
    }

    /// Makes the scenarios of its objective. References that the objective does not have by itself are those of a search with
    /// `--baseline`: a name is the law, as a search wrote it.
    fn bench(&self, kind: Kind, draft: &Draft, world: &str, of: WorldName) -> Result<Bench, Failure> {
        let tested = Subject::parse(&self.bounds.law, registry::laws()).ok();
        let role = tested.as_ref().map_or(SubjectRole::Controller, |subject| subject.role);
        let tested = tested.map(|subject| (subject.name.clone(), Bench::contender(&subject)));
        let beside = Beside {
            role,
            tested: tested.as_ref().map(|(name, law)| (name.as_str(), law)),
            kinds: &[kind],
            whose: kind.word(),
            world: of,
        };
        let bench = super::bench(kind, role, world);
        let place = |name: &str| format!("{}: references.{name}", self.shown.replace(".toml", ENDING));
        let wrong = |name: &str, what: &str| Failure::Input(format!("{}: {what}", place(name)));
        let standard = bench.references(draft);
        let mut more = Vec::new();
        for name in self.bounds.references.keys().filter(|name| standard.iter().all(|law| law.name != **name)) {
            if kind.goes_by_incumbents() {
                let law = standard.first().map_or_else(|| "none".to_owned(), |law| format!("`{}`", law.name));
                let what = format!("{} has one reference, the law of the incumbents: {law}", kind.word());
                return Err(wrong(name, &what));
            }
            let reference = beside.read(name, &more, &place(name))?;
            more.push(Contender { name: name.clone(), ..reference });
        }
        Ok(bench.beside(more))
    }

    fn judge(&self, runs: &[(&Wanted, &Measured)], world: &str) -> Vec<Row> {
        let mut rows = Vec::new();
        let row = |what: String, measured: Option<f64>, limits: Band, holds: bool, why: &str| Row {
            file: self.shown.clone(),
            what,
            measured,
            bound: limits.words(),
            outcome: Outcome::of(measured.is_some_and(|number| limits.keeps(number)), holds),
            threshold: None,
            score: None,
            why: why.to_owned(),
        };
        for bound in &self.bounds.bound {
            let of_cell = |labels: &[(String, String)]| {
                bound.cell.iter().all(|(key, value)| labels.iter().any(|(k, v)| k == key && v == value))
            };
            if bound.world.as_deref().unwrap_or("packets") != world {
                continue;
            }
            let cells = runs.iter().filter_map(|(wanted, measured)| match measured {
                Measured::Cell(cell) if of_cell(&wanted.labels) => {
                    let over = bound.over.as_ref().map_or(Ok(1.0), |path| cell.number(path));
                    Some(cell.number(&bound.path).and_then(|number| Ok((number, over?))))
                }
                _ => None,
            });
            let cells: Result<Vec<(f64, f64)>, String> = cells.collect();
            let numbers: Vec<f64> = match (&cells, bound.of) {
                (Ok(cells), Some(Of::Mean)) => {
                    let (number, over) = cells.iter().fold((0.0, 0.0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1));
                    vec![number / over]
                }
                (Ok(cells), None) => cells.iter().map(|(number, over)| number / over).collect(),
                (Err(_), _) => Vec::new(),
            };
            let words: Vec<String> = bound.cell.iter().map(|(key, value)| format!("{key} {value}")).collect();
            let over = bound.over.as_ref().map(|over| format!(" over {over}")).unwrap_or_default();
            let what = format!("{}{over} {}", bound.path, words.join(", ")).trim_end().to_owned();
            let worst = bound.limits().worst(&numbers).filter(|number| number.is_finite());
            let why = cells.err().unwrap_or_else(|| bound.why.clone());
            rows.push(row(what, worst, bound.limits(), bound.holds, &why));
        }
        let Some((kind, limits)) = self.bounds.objective.zip(self.bounds.measure) else { return rows };
        // The law, and then the references in the order of the objective, which may have the law among them.
        let scored = runs.iter().filter_map(|(wanted, measured)| match (&wanted.who, measured) {
            (Some(who), Measured::Number(number)) => Some((who.as_str(), *number)),
            _ => None,
        });
        let scored: Vec<(&str, Option<f64>)> = scored.collect();
        let of = scored.chunks(self.bounds.seeds()).map(|runs| {
            let numbers: Vec<f64> = runs.iter().filter_map(|(_, number)| *number).collect();
            (runs[0].0, median(&numbers))
        });
        let of: Vec<(&str, Option<f64>)> = of.collect();
        // What a score goes by may be the law itself.
        let goes_by = of.iter().take(1).filter(|(who, _)| kind.goes_by().contains(who));
        let references = of.iter().skip(1).chain(goes_by);
        let references: Vec<(&str, f64)> = references.filter_map(|(who, number)| Some((*who, (*number)?))).collect();
        for (at, (who, number)) in of.into_iter().enumerate() {
            let limits = if at == 0 { limits } else { self.bounds.references[who] };
            let mut row = row(format!("{}: {who}", kind.word()), number, limits, true, "");
            if at == 0 {
                row.threshold = Some(self.bounds.threshold.unwrap_or(kind.threshold()));
                row.score = number.and_then(|number| kind.score(number, &references));
            }
            rows.push(row);
        }
        rows
    }
}

/// Runs the wanted scenarios, in the order of cost, and returns the measurements of each.
fn run(
    wanted: &[Wanted],
    files: &[Replayed],
    world: &(dyn World + Sync),
    threads: usize,
) -> Result<Vec<Measured>, Failure> {
    let jobs: Vec<Job<'_>> = wanted
        .iter()
        .map(|wanted| Job {
            name: files[wanted.file].shown.clone(),
            group: wanted.file,
            scenario: &wanted.scenario,
            beside: None,
        })
        .collect();
    jobs::run(&jobs, Others::default(), world, threads, &|at, made| {
        let wanted = &wanted[at];
        let summary = &made.run.summary;
        Ok(match files[wanted.file].bounds.objective {
            Some(kind) if wanted.who.is_some() => Measured::Number(kind.measured(&wanted.scenario, summary).ok()),
            _ => Measured::Cell(Cell::new(wanted.labels.clone(), summary)),
        })
    })
}
