//! Which cells the criteria need: each scenario once, for the law under test and each baseline.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use penstock_evaluation::{Battery, Criterion, Extent, HALVES, Known, Part, Runs, Scope, Subject};
use penstock_law::aqm::Aqm;
use penstock_law::cc::Controller;
use penstock_law::quantity::Time;
use penstock_papers::{Cell, analyze_scenario, line};
use penstock_record::summary_lacks;
use penstock_scenario::model::Scenario;
use penstock_scenario::quantity::print_time;
use penstock_scenario::read::{self, Document, ReadError, ReadErrors};
use penstock_scenario::world::World;

use super::library::Library;
use crate::arguments::Shard;
use crate::batch::Batch;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::named::Shown as _;
use crate::together::{self, Ran};
use crate::{interrupt, memory, registry, scenario, terminal};

/// Labels that distinguish the cells of a sweep.
pub(super) type Labels = Vec<(String, String)>;

/// The way in which a scenario is run: its file, whether its lengths follow the extent, whether laws use ECN, whether it is analysed and
/// does not run, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    scenario: String,
    lengths: bool,
    ecn: bool,
    analysis: bool,
    /// Whether it runs in the Linux world, which samples no rounds.
    linux: bool,
}

impl Setting {
    fn of(part: &Part, scope: Scope) -> Self {
        let Part { lengths, ecn, analysis, .. } = *part;
        Self { scenario: part.scenario.get_ref().clone(), lengths, ecn, analysis, linux: scope.linux }
    }

    /// The name of its directory.
    fn stem(&self) -> String {
        let ecn = if self.ecn { "-ecn" } else { "" };
        let lengths = if self.lengths { "" } else { "-as-written" };
        let linux = if self.linux { "-linux" } else { "" };
        format!("{}{ecn}{lengths}{linux}", self.scenario)
    }

    /// Its cells with the law under test and with each of `others` that `wanted`, parts of criteria, need; and why the
    /// law under test can run none of them, in words for a draft.
    fn batch(
        &self,
        library: &Library,
        wanted: &[(&Criterion, &Part)],
        subject: &Subject,
        others: &[Subject],
        scopes: &[Scope],
        world: &(dyn World + Sync),
    ) -> Result<(Batch, Option<String>), Failure> {
        let scope = scopes[0];
        let written = self.read(library, scope)?;
        let mut batch = Batch {
            file: PathBuf::from(&written.file),
            stem: self.stem(),
            title: self.stem(),
            text: written.text.clone(),
            swept: true,
            ..Batch::default()
        };
        let (mut refused, mut checked) = (None, false);
        for law in [subject].into_iter().chain(others) {
            let under_test = std::ptr::eq(law, subject);
            let cells = match self.cells(&written, law, scope.seeds()) {
                Ok(Some(cells)) => cells,
                Ok(None) => return Err(Failure::Stopped),
                Err(errors) if under_test => {
                    refused = errors.all().first().map(|error| self.plainly(error, law));
                    continue;
                }
                // A baseline runs everywhere.
                Err(errors) => return Err(Failure::Input(self.explained(&errors, law, scope))),
            };
            if !checked {
                self.check(library, wanted, &cells)?;
                checked = true;
            }
            let is_wanted = |cell: &read::Cell| {
                wanted.iter().any(|(_, part)| scopes.iter().any(|scope| scope.has(part, &cell.labels)))
            };
            for cell in cells.into_iter().filter(is_wanted) {
                match world.refusals(&cell.scenario).into_iter().next().filter(|_| !self.analysis) {
                    Some(why) if under_test => refused = Some(why),
                    Some(_) => {}
                    None => batch.cells.push(cell),
                }
            }
            if under_test && !batch.cells.is_empty() {
                refused = None;
            }
        }
        Ok((batch, refused))
    }

    /// Looks for errors in what criteria name of this setting; `cells` has all of them.
    fn check(&self, library: &Library, wanted: &[(&Criterion, &Part)], cells: &[read::Cell]) -> Result<(), Failure> {
        let labels: Vec<&[(String, String)]> = cells.iter().map(|cell| cell.labels.as_slice()).collect();
        let registry = registry::laws();
        let lacks = |path: &str| {
            // An analysis has other numbers than a run.
            if self.analysis {
                return None;
            }
            summary_lacks(path).or_else(|| self.unnamed(path, cells))
        };
        for (criterion, part) in wanted {
            let laws: Vec<&str> = match criterion.battery {
                Battery::Sender | Battery::L4s => registry.laws::<Controller>().iter().map(|law| law.name).collect(),
                Battery::Queue => registry.laws::<Aqm>().iter().map(|law| law.name).collect(),
            };
            let known = Known { cells: &labels, laws: &laws, lacks: &lacks };
            let name = format!("{}.toml", criterion.id.get_ref());
            criterion.fits(part, &known, &library.text(&name)?, &library.shown(&name)).map_err(Failure::input)?;
        }
        Ok(())
    }

    /// The reason why a path of a summary leads to nothing in any of these cells: a link, a group or a window that none has, or the
    /// dynamics of a scenario without them.
    fn unnamed(&self, path: &str, cells: &[read::Cell]) -> Option<String> {
        fn named(scenario: &Scenario, kind: &str) -> Option<Vec<String>> {
            Some(match kind {
                "links" => scenario.links.keys().cloned().collect(),
                "groups" => scenario.groups.keys().cloned().collect(),
                "windows" => scenario.windows.keys().cloned().collect(),
                _ => return None,
            })
        }
        let words: Vec<&str> = path.split('.').collect();
        for pair in words.windows(2) {
            let all: BTreeSet<String> =
                cells.iter().filter_map(|cell| named(&cell.scenario, pair[0])).flatten().collect();
            if named(&cells.first()?.scenario, pair[0]).is_some() && !all.contains(pair[1]) {
                let known: Vec<String> = all.into_iter().filter(|name| !HALVES.contains(&name.as_str())).collect();
                let known =
                    if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
                return Some(format!("`{}` has no `{}` among its {}; {known}", self.scenario, pair[1], pair[0]));
            }
        }
        // The Linux world samples no rounds, whatever the scenario says.
        let sampled = self.linux || cells.iter().any(|cell| cell.scenario.dynamics.is_some());
        let wanted = words.contains(&"dynamics") && !sampled;
        wanted.then(|| format!("`{}` has no table `[dynamics]`; add one to the scenario", self.scenario))
    }

    /// Errors of a scenario with a law in it. Nobody typed the settings that an evaluation makes.
    fn explained(&self, errors: &ReadErrors, law: &Subject, scope: Scope) -> String {
        const SET: &str = "from `--set ";
        let one = |error: &ReadError| {
            let mut error = error.clone();
            if let Some(context) = error.context.as_deref().filter(|context| context.starts_with(SET)) {
                let cell = context.rsplit_once("`; ").map_or_else(String::new, |(_, cell)| format!("; {cell}"));
                error.context = Some(format!("with `{}`{cell}", law.setting(self.ecn)));
            }
            error.to_string()
        };
        let (shown, more) = errors.shown();
        let mut lines: Vec<String> = shown.iter().map(one).collect();
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        if self.lengths && scope.extent != Extent::Standard {
            lines.push(lengths(scope.extent));
        }
        lines.join("\n")
    }

    /// The error of a scenario with the law under test in it, for a page: readers of that have neither the file nor a use for the remedy.
    fn plainly(&self, error: &ReadError, law: &Subject) -> String {
        let ReadError { key, found, .. } = error;
        let key = if key.is_empty() { String::new() } else { format!("{key}: ") };
        format!("`{}` cannot run the scenario `{}`: {key}{found}", law.name, self.scenario)
    }

    /// The error of a window that the lengths of the extent cut off.
    fn cut_off(scenario: &Scenario, (text, file): (&str, &str), scope: Scope) -> Option<String> {
        let duration = scope.extent.length(scenario.duration);
        let (name, (_, end)) = scenario.windows.iter().find(|(_, (_, end))| *end > duration)?;
        let from = text.find("[windows]").unwrap_or_default();
        let at = from + text[from..].find(name.as_str()).unwrap_or_default();
        Some(format!(
            "{file}:{}: windows.{name}: the window ends at {}, and the run at {}: {}",
            line(text, at),
            print_time(*end),
            print_time(duration),
            lengths(scope.extent)
        ))
    }

    /// Its scenario, in the lengths of the extent.
    fn read(&self, library: &Library, scope: Scope) -> Result<Written, Failure> {
        let name = format!("scenarios/{}.toml", self.scenario);
        let (text, file) = (library.text(&name)?, library.shown(&name));
        let mut document =
            Document::parse_with(&text, &file, library.loader())?.with_laws(Arc::clone(registry::laws()));
        if let Some((bytes, why)) = memory::available() {
            document.within(bytes, why);
        }
        let cells = scenario::until_stopped(&document)?;
        let Some(first) = cells.first().map(|cell| &cell.scenario) else {
            return Err(Failure::Input(format!("{file}: its sweep has no cell")));
        };
        if self.lengths {
            if let Some(what) = Self::cut_off(first, (text.as_str(), file.as_str()), scope) {
                return Err(Failure::Input(what));
            }
            let [duration, warmup] = [first.duration, first.warmup].map(|time| scope.extent.length(time));
            let middle = Time(warmup.0 + (duration.0 - warmup.0) / 2);
            let written = |time: Time| format!("\"{} ps\"", time.0);
            document.set("duration", &written(duration))?;
            document.set("warmup", &written(warmup))?;
            if !self.analysis && !self.linux {
                for (half, (from, to)) in HALVES.iter().zip([(warmup, middle), (middle, duration)]) {
                    document.set(&format!("windows.{half}"), &format!("[{}, {}]", written(from), written(to)))?;
                }
            }
        }
        let groups = first.groups.keys().cloned().collect();
        Ok(Written { document, text, file, groups })
    }

    /// The cells of its scenario with one law. None where the user has stopped the command.
    fn cells(
        &self,
        written: &Written,
        law: &Subject,
        seeds: usize,
    ) -> Result<Option<Vec<read::Cell>>, read::ReadErrors> {
        let mut document = written.document.clone();
        for key in law.keys(written.groups.iter().map(String::as_str)) {
            document.set(&key, &law.setting(self.ecn))?;
        }
        let seeds = if self.analysis { 1 } else { seeds };
        document.set("sweep.seed", &format!("{{ count = {seeds} }}"))?;
        let Some(mut cells) = document.cells_while(&|| !interrupt::stopped())? else { return Ok(None) };
        for cell in &mut cells {
            cell.labels.insert(0, ("law".to_owned(), law.label.clone()));
            if self.linux {
                cell.scenario.dynamics = None;
                cell.id = read::identity(&cell.scenario);
            }
        }
        Ok(Some(cells))
    }
}

/// The lengths of runs of an extent, and how a criterion keeps those of its scenario.
fn lengths(extent: Extent) -> String {
    let part = match extent {
        Extent::Quick => "half",
        Extent::Standard => "all",
        Extent::Full => "5/2",
    };
    format!(
        "the {} extent runs {part} of the scenario's `duration` and `warmup`; `lengths = false` in the criterion keeps them as written",
        extent.word()
    )
}

/// A scenario of the battery, before a law is set.
struct Written {
    document: Document,
    text: String,
    /// The name of its file.
    file: String,
    groups: Vec<String>,
}

/// Everything that is to be run.
pub(super) struct Plan<'a> {
    settings: Vec<Setting>,
    /// The cells of each setting, with the label `law`.
    pub(super) batches: Vec<Batch>,
    /// Why the law under test can run no cell of a setting.
    pub(super) refused: Vec<Option<String>>,
    /// Settings that are not among these, as the law under test sits them out, with the reasons.
    sat_out: Vec<(Setting, String)>,
    analysed: Vec<Analysed>,
    /// Which cells these are.
    pub(super) scope: Scope,
    pub(super) world: &'a (dyn World + Sync),
}

/// The number of a measure that is taken from an analysis.
struct Analysed {
    /// The index of its setting.
    setting: usize,
    path: String,
    /// Where the file of the criterion names it.
    place: String,
}

impl Analysed {
    /// Numbers that an analysis may lack: a margin that does not exist is absent, and a loop may be neither stable nor unstable.
    const OPTIONAL: [&str; 7] = [
        "stable",
        "gain_margin",
        "least_gain",
        "phase_margin_deg",
        "delay_margin_s",
        "phase_crossover_rad_per_s",
        "gain_crossover_rad_per_s",
    ];

    /// The error, if none of these analyses can have the number.
    fn astray(&self, cells: &[Cell]) -> Option<String> {
        let optional = self.path.rsplit_once('.').filter(|(_, name)| Self::OPTIONAL.contains(name));
        let leads = |cell: &Cell| match cell.number(&self.path) {
            Ok(_) => None,
            // The table above it is there.
            Err(_)
                if optional
                    .is_some_and(|(table, _)| cell.number(table).is_err_and(|e| e.ends_with("not a number"))) =>
            {
                None
            }
            Err(what) => Some(what),
        };
        let errors: Vec<String> = cells.iter().map_while(leads).collect();
        let all = !cells.is_empty() && errors.len() == cells.len();
        errors.into_iter().next().filter(|_| all).map(|what| format!("{}: {what}", self.place))
    }
}

/// Results of the runs: the cells of each setting, and the runs that were outside the error bounds of their path.
pub(super) struct Measured {
    pub(super) cells: Vec<Vec<Cell>>,
    pub(super) beyond: Vec<String>,
}

impl<'a> Plan<'a> {
    /// The cells that the criteria of `library` need: those of the first of `scopes`, and with its seeds those of the others.
    pub(super) fn of(
        library: &Library,
        subject: &Subject,
        others: &[Subject],
        scopes: &[Scope],
        world: &'a (dyn World + Sync),
    ) -> Result<Self, Failure> {
        let scope = scopes[0];
        let mut plan = Self {
            settings: Vec::new(),
            batches: Vec::new(),
            refused: Vec::new(),
            sat_out: Vec::new(),
            analysed: Vec::new(),
            scope,
            world,
        };
        let measured = library.criteria.iter().filter(|criterion| subject.excused(criterion).is_none());
        let of_all = measured.flat_map(|criterion| criterion.parts.iter().map(move |part| (criterion, part)));
        let mut parts: Vec<(&Criterion, &Part)> = Vec::new();
        for (criterion, part) in of_all.filter(|(_, part)| scope.runs(part)) {
            match subject.sits_out(criterion, part) {
                Some(why) => plan.sat_out.push((Setting::of(part, scope), why)),
                None => parts.push((criterion, part)),
            }
        }
        for (_, part) in &parts {
            let setting = Setting::of(part, scope);
            if !plan.settings.contains(&setting) {
                plan.settings.push(setting);
            }
        }
        for setting in &plan.settings {
            let wanted: Vec<(&Criterion, &Part)> =
                parts.iter().filter(|(_, part)| Setting::of(part, scope) == *setting).copied().collect();
            let (batch, refused) = setting.batch(library, &wanted, subject, others, scopes, world)?;
            plan.batches.push(batch);
            plan.refused.push(refused);
        }
        for (criterion, part) in parts.iter().filter(|(_, part)| part.analysis) {
            let Some(setting) = plan.place_of(part) else { continue };
            let name = format!("{}.toml", criterion.id.get_ref());
            let text = library.text(&name)?;
            for measure in &criterion.measures {
                if !criterion.part_of(measure).is_some_and(|own| std::ptr::eq(own, *part)) {
                    continue;
                }
                for (_, path) in measure.paths() {
                    let at = line(&text, text.find(&format!("{path:?}")).unwrap_or_default());
                    let place = format!("{}, line {at}: measure `{}`", library.shown(&name), measure.name.get_ref());
                    plan.analysed.push(Analysed { setting, path: path.clone(), place });
                }
            }
        }
        Ok(plan)
    }

    /// Adds seeds to cells: to each the number of seeds that it shall have, by its setting and its labels without law and seed.
    /// Gives the number of runs that this adds: none where a number is missing in some runs, however many there are.
    pub(super) fn grow(
        &mut self,
        library: &Library,
        laws: &[&Subject],
        wanted: &BTreeMap<(usize, Labels), usize>,
    ) -> Result<usize, Failure> {
        let before = self.runs();
        for (at, (setting, batch)) in self.settings.iter().zip(&mut self.batches).enumerate() {
            let here = || wanted.iter().filter(|((setting, _), _)| *setting == at);
            let Some(most) = here().map(|(_, seeds)| *seeds).max() else { continue };
            let written = setting.read(library, self.scope)?;
            let known: BTreeSet<Labels> = batch.cells.iter().map(|cell| cell.labels.clone()).collect();
            for law in laws {
                for cell in setting.cells(&written, law, most)?.ok_or(Failure::Stopped)? {
                    let place = cell.labels.iter().filter(|(key, _)| key != "law" && key != "seed").cloned().collect();
                    if wanted.contains_key(&(at, place)) && !known.contains(&cell.labels) {
                        batch.cells.push(cell);
                    }
                }
            }
        }
        Ok(self.runs() - before)
    }

    /// Number of runs.
    pub(super) fn runs(&self) -> usize {
        self.batches.iter().map(|batch| batch.cells.len()).sum()
    }

    /// The directory of a part's runs.
    pub(super) fn place_of(&self, part: &Part) -> Option<usize> {
        self.settings.iter().position(|setting| *setting == Setting::of(part, self.scope))
    }

    /// The runs of a part.
    pub(super) fn runs_of<'r>(&'r self, measured: &'r Measured, part: &Part) -> Runs<'r> {
        match self.place_of(part) {
            Some(at) => Runs { cells: &measured.cells[at], refused: self.refused[at].as_deref() },
            None if !self.scope.runs(part) => Runs { cells: &[], refused: Some(Scope::NO_CELLS) },
            None => {
                let setting = Setting::of(part, self.scope);
                let why = self.sat_out.iter().find(|(own, _)| *own == setting).map(|(_, why)| why.as_str());
                Runs { cells: &[], refused: why }
            }
        }
    }

    /// Runs the unfinished cells, and returns the measurements of each cell of each setting; none while other shards have cells left.
    pub(super) fn run(
        &self,
        home: &Folder,
        shard: Option<Shard>,
        threads: Option<usize>,
    ) -> Result<Option<Measured>, Failure> {
        // Real packets need the machine for themselves.
        let threads = if self.scope.linux { Some(1) } else { threads };
        let mut beyond = Vec::new();
        let parts: Vec<together::Part<'_>> = self
            .settings
            .iter()
            .zip(&self.batches)
            .filter(|(setting, batch)| !batch.cells.is_empty() && !setting.analysis)
            .map(|(_, batch)| together::Part { home, batch, world: self.world })
            .collect();
        let mut all: Vec<Vec<Cell>> = Vec::new();
        let (mut there, mut wanted) = (0, 0);
        let mut ran = together::run(&parts, shard, threads)?.into_iter();
        for (setting, batch) in self.settings.iter().zip(&self.batches) {
            let cells = || batch.cells.iter();
            if setting.analysis {
                // What has no analysis has no numbers.
                let mut analysed = Vec::new();
                for cell in cells() {
                    if interrupt::stopped() {
                        return Err(Failure::Stopped);
                    }
                    analysed.extend(analyze_scenario(&cell.scenario, cell.labels.clone()).ok());
                }
                let at = all.len();
                let mut own = self.analysed.iter().filter(|number| number.setting == at);
                if let Some(what) = own.find_map(|number| number.astray(&analysed)) {
                    return Err(Failure::Input(what));
                }
                all.push(analysed);
                continue;
            }
            let mut measured = Vec::new();
            if !batch.cells.is_empty()
                && let Some(Ran { mut swept, made }) = ran.next()
            {
                let kept = cells().zip(swept.collect(made)?);
                for (cell, kept) in kept.filter_map(|(cell, kept)| Some((cell, kept?))) {
                    let late = kept.summary.path.iter().flat_map(|path| &path.beyond);
                    beyond.extend(late.map(|what| format!("{}: {}: {what}", setting.scenario, cell.name())));
                    measured.push(Cell::new(cell.labels.clone(), &kept.summary));
                }
            }
            there += measured.len();
            wanted += batch.cells.len();
            all.push(measured);
        }
        if there < wanted {
            terminal::say(format!(
                "{there} of {wanted} runs are finished in {}; the shard that completes them writes the page",
                home.path().shown()
            ))?;
            return Ok(None);
        }
        Ok(Some(Measured { cells: all, beyond }))
    }
}
