//! Scenario files, format 1: from text to resolved scenarios, one a cell of the sweep.
//!
//! Every key is known or refused, and every default is filled in. All errors of a file are reported together, but for
//! those that only follow from another; each is one sentence that names file, line, column, key, what was found and what
//! would do, and has the line it is about.
//!
//! ```
//! let text = r#"
//! format = 1
//! duration = "10 s"
//! packet = "1000 B"
//! [links.bottleneck]
//! from = "left"
//! to = "right"
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! buffer = "1 bdp"
//! duplex = true
//! [flows.ftp]
//! from = "left"
//! to = "right"
//! rtt = "100 ms"
//! cc = { law = "newreno" }
//! [sweep]
//! seed = { count = 3 }
//! "#;
//! let mut document = penstock_scenario::read::Document::parse(text, "lab.toml")?;
//! document.set("flows.ftp.count", "5")?;
//! let cells = document.cells()?;
//! assert_eq!(cells.len(), 3);
//! assert_eq!(cells[2].labels, [("seed".to_string(), "3".to_string())]);
//! assert_eq!(cells[0].scenario.groups["ftp"].count, 5);
//! # Ok::<(), penstock_scenario::read::ReadErrors>(())
//! ```

mod contracts;
mod crossing;
mod distribution;
mod dynamics;
mod error;
mod flows;
mod law;
mod line;
mod links;
mod memory;
mod needs;
mod origin;
mod packet;
mod resolve;
mod route;
mod schedule;
mod sweep;
mod table;
#[cfg(test)]
mod tests;
mod trace;
mod tree;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexMap;
use penstock_law::Registry;
use sha2::{Digest, Sha256};

use error::{Errors, Reported, offer};
pub use error::{Excerpt, ReadError, ReadErrors, nearest};
use memory::Memory;
use origin::Origin;
pub use sweep::is_named_axis;
use table::Item;
use trace::{Loader, Traces};
use tree::{Node, Value};

use crate::key::{dotted, parts};
use crate::model::Scenario;
use crate::visible::cut;
use crate::write::print;

/// The most characters of a setting that an error shows.
const MOST_VALUE: usize = 120;
/// The most values that all cells of a sweep may have together.
const MOST_VALUES: usize = 50_000_000;
/// The most cells that are read for their errors where the sweep itself has one.
const MOST_TRIED: usize = 200;

/// A scenario file that is TOML; its meaning is checked when its cells are requested.
#[derive(Clone)]
pub struct Document {
    file: Arc<str>,
    text: Arc<str>,
    root: Node,
    settings: Vec<Setting>,
    load: Option<Arc<Loader>>,
    memory: Memory,
    registry: Arc<Registry>,
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("file", &self.file).field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// `--set KEY=VALUE`.
#[derive(Debug, Clone)]
struct Setting {
    path: Vec<String>,
    node: Node,
}

/// One scenario of a sweep; a file without one is a single cell.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Labels that distinguish this cell: swept keys in the order of the file, named axes (`case` is the usual one)
    /// with the name of the step on them, and `seed`, each with its value as written. Empty where there is no sweep.
    pub labels: Vec<(String, String)>,
    /// The hash of the resolved scenario, 16 hexadecimal digits.
    pub id: String,
    /// The scenario.
    pub scenario: Scenario,
}

impl Cell {
    /// The labels on one line; empty where there is no sweep.
    pub fn name(&self) -> String {
        name(&self.labels)
    }
}

fn name(labels: &[(String, String)]) -> String {
    labels.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

/// The identity of a resolved scenario: the first 16 hexadecimal digits of its text's SHA-256.
pub fn identity(scenario: &Scenario) -> String {
    let hash = Sha256::digest(print(scenario));
    format!("{:016x}", hash.iter().take(8).fold(0u64, |bits, byte| bits << 8 | u64::from(*byte)))
}

impl Document {
    /// Reads TOML. `file` is the name of the text in errors.
    ///
    /// # Errors
    /// Names the line that is not TOML.
    pub fn parse(text: &str, file: &str) -> Result<Self, ReadErrors> {
        let (file, text) = (Arc::from(file), Arc::from(text));
        let errors = Errors::of(&file, &text);
        match tree::parse(&text, &errors) {
            Ok(root) => {
                let registry = Arc::new(Registry::standard());
                Ok(Self { file, text, root, settings: Vec::new(), load: None, memory: Memory::default(), registry })
            }
            Err(reported) => Err(errors.because(reported)),
        }
    }

    /// The same for a scenario that may name other files: traces of a link's rate. `load` has the text of a file by its
    /// name as it stands in the scenario, relative to the scenario's folder, or the reason of its failure. Each file is loaded
    /// when [`Document::cells`] is called, once.
    ///
    /// # Errors
    /// Names the line that is not TOML.
    pub fn parse_with(
        text: &str,
        file: &str,
        load: impl Fn(&str) -> Result<String, String> + Send + Sync + 'static,
    ) -> Result<Self, ReadErrors> {
        Ok(Self { load: Some(Arc::new(load)), ..Self::parse(text, file)? })
    }

    /// The laws that the scenario may name; [`Registry::standard`] by default.
    #[must_use]
    pub fn with_laws(self, registry: Arc<Registry>) -> Self {
        Self { registry, ..self }
    }

    /// Limits the memory of a cell [B]; `why` gives the reason as the end of a sentence: `are free on this
    /// machine`. The default is 16 GB.
    pub fn within(&mut self, bytes: u64, why: &str) {
        self.memory = Memory::of(bytes, why);
    }

    /// Sets `key`, a dotted path, to `value`: TOML, or else a text that needs no quotation marks.
    ///
    /// It wins over the file and over the sweep: a swept key that is set is swept no longer.
    ///
    /// # Errors
    /// Names the reason why the key cannot be set.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ReadErrors> {
        let errors = Errors::of(&self.file, &self.text);
        self.setting(key, value, &errors).map_err(|reported| errors.because(reported))
    }

    fn setting(&mut self, key: &str, value: &str, errors: &Errors) -> Result<(), Reported> {
        let origin = Origin::Setting(format!("--set {key}={value}").into());
        let wrong = |found: String, remedy: &str| errors.report(&origin, key, &found, remedy);
        let path = parts(key).ok_or_else(|| {
            wrong(format!("`{}` is not a dotted key", cut(key, MOST_VALUE)), "write it as in `links.bottleneck.rate`")
        })?;
        let node = tree::parse_setting(value, &origin)
            .map_err(|why| wrong(format!("`{}` is not TOML", cut(value, MOST_VALUE)), &why))?;
        if path[0] == "sweep" {
            return put(&mut self.root, &path, node, errors);
        }
        // Each cell is set anew, after its defaults and its place in the sweep; here it is seen whether that can be.
        put(&mut self.root.clone(), &path, node.clone(), errors)?;
        self.settings.push(Setting { path, node });
        Ok(())
    }

    /// Every scenario of the sweep, in declared order: keys, then named axes such as cases, and seeds innermost.
    ///
    /// # Errors
    /// Lists every error except those that only follow from another.
    pub fn cells(&self) -> Result<Vec<Cell>, ReadErrors> {
        let all = self.cells_while(&|| true)?;
        Ok(all.expect("nobody stopped"))
    }

    /// The same, until `goes_on` is false: it is asked before each cell. None where it was false.
    ///
    /// # Errors
    /// As [`Document::cells`].
    pub fn cells_while(&self, goes_on: &dyn Fn() -> bool) -> Result<Option<Vec<Cell>>, ReadErrors> {
        let mut cells = Vec::new();
        let mut see = |cell| cells.push(cell);
        Ok(self.visit(0..usize::MAX, goes_on, &mut see)?.then_some(cells))
    }

    /// The cells with these numbers, counted from zero in the order of [`Document::cells`]; fewer where the sweep ends before.
    /// A part of a sweep needs no memory for the others.
    ///
    /// # Errors
    /// As [`Document::cells`], of these cells.
    pub fn cells_in(&self, numbers: Range<usize>) -> Result<Vec<Cell>, ReadErrors> {
        let mut cells = Vec::new();
        self.visit(numbers, &|| true, &mut |cell| cells.push(cell))?;
        Ok(cells)
    }

    /// Gives each cell to `see`, in the order of [`Document::cells`], and keeps none. `goes_on` is asked before each cell; false
    /// where it was false. Cells count only where there is no error.
    ///
    /// # Errors
    /// As [`Document::cells`].
    pub fn each_cell(&self, goes_on: &dyn Fn() -> bool, see: &mut dyn FnMut(Cell)) -> Result<bool, ReadErrors> {
        self.visit(0..usize::MAX, goes_on, see)
    }

    fn visit(
        &self,
        numbers: Range<usize>,
        goes_on: &dyn Fn() -> bool,
        see: &mut dyn FnMut(Cell),
    ) -> Result<bool, ReadErrors> {
        let errors = Errors::of(&self.file, &self.text);
        let stopped = std::cell::Cell::new(false);
        let goes_on = || {
            let goes_on = goes_on();
            stopped.set(!goes_on);
            goes_on
        };
        let read = self.read(&errors, numbers, &goes_on, see);
        if stopped.get() {
            return Ok(false);
        }
        match (read, errors.all()) {
            (Ok(()), None) => Ok(true),
            (_, Some(errors)) => Err(errors),
            (Err(_), None) => unreachable!("an error was reported"),
        }
    }

    fn read(
        &self,
        errors: &Errors,
        numbers: Range<usize>,
        goes_on: &dyn Fn() -> bool,
        see: &mut dyn FnMut(Cell),
    ) -> Result<(), Reported> {
        let root = Item { errors, registry: &self.registry, path: String::new(), node: &self.root };
        let table = root.node.table();
        let mut plain = self.root.clone();
        if let Some(table) = plain.table_mut() {
            table.shift_remove("sweep");
        }
        let traces = Traces::by(self.load.as_deref(), self.memory.clone());
        let Some(sweep) = table.and_then(|t| t.get("sweep")) else {
            let cell = self.swept(&plain, &[], 0, (&traces, errors))?;
            if numbers.contains(&0) {
                see(cell);
            }
            return Ok(());
        };
        let first_seed =
            table.and_then(|t| t.get("seed")).map(|node| root.below("seed", node).whole(0, i64::MAX as u64));
        let first_seed = first_seed.and_then(Result::ok).unwrap_or(1);
        let pinned = |path: &[String]| self.settings.iter().any(|s| path.starts_with(&s.path));
        let axes = match sweep::axes(&root.below("sweep", sweep), first_seed, &pinned) {
            Ok(axes) => axes,
            Err((mut axes, reported)) => {
                // No seed is wrong once it is read.
                axes.retain(|axis| axis.key != "seed");
                // The file itself is read nevertheless, as if nothing were swept. What it lacks the sweep may have.
                errors.let_keys_be_missing();
                let _ = self.swept(&plain, &[], 0, (&traces, errors));
                self.try_each(&plain, &axes, (&traces, errors));
                return Err(reported);
            }
        };
        let cells: usize = axes.iter().map(|axis| axis.steps.len()).product();
        let too_large = |values: usize| {
            let what = format!("{cells} cells of {values} values each are too many");
            root.below("sweep", sweep).wrong(what, "write a smaller sweep, or shorter lists")
        };
        let values = plain.size();
        if cells.saturating_mul(values) > MOST_VALUES {
            return Err(too_large(values));
        }
        let mut large = false;
        let read = (numbers.start..cells.min(numbers.end)).map_while(|at| {
            // Errors that are only counted need no further cells.
            if large || errors.is_full() || !goes_on() {
                return None;
            }
            let cell = match self.swept(&plain, &axes, at, (&traces, errors)) {
                Ok(cell) => cell,
                Err(reported) => return Some(Err(reported)),
            };
            // Steps of equal length are few in the file and many in the cell.
            let steps: usize = cell.scenario.groups.values().map(|group| group.steps.len()).sum();
            large = cells.saturating_mul(steps) > MOST_VALUES;
            if large {
                return Some(Err(too_large(steps)));
            }
            see(cell);
            Some(Ok(()))
        });
        errors.each(errors.count(), read).map(drop)
    }

    /// Reads cells in which each value of these axes is once, for the errors in them.
    fn try_each(&self, plain: &Node, axes: &[sweep::Axis<'_>], (traces, errors): (&Traces<'_>, &Errors)) {
        let longest = axes.iter().map(|axis| axis.steps.len()).max().unwrap_or(0);
        for step in (0..longest.min(MOST_TRIED)).take_while(|_| !errors.is_full()) {
            let at = axes.iter().fold(0usize, |at, axis| {
                let steps = axis.steps.len();
                at.saturating_mul(steps).saturating_add(step % steps.max(1))
            });
            let _ = self.swept(plain, axes, at, (traces, errors));
        }
    }

    /// The cell of that number, counted with the last axis innermost.
    fn swept(
        &self,
        plain: &Node,
        axes: &[sweep::Axis<'_>],
        at: usize,
        (traces, errors): (&Traces<'_>, &Errors),
    ) -> Result<Cell, Reported> {
        let mut rest = at;
        let mut steps: Vec<_> = axes
            .iter()
            .rev()
            .map(|axis| {
                let step = &axis.steps[rest % axis.steps.len()];
                rest /= axis.steps.len();
                (axis.key.clone(), step)
            })
            .collect();
        steps.reverse();
        let labels: Vec<_> = steps.iter().map(|(key, step)| (key.clone(), step.label.clone())).collect();
        let mut changes: Vec<(Vec<String>, Node)> = Vec::new();
        for (_, step) in &steps {
            for change in &step.changes {
                // The key is named where its value stands, for each value may have a line of its own.
                let node = Node { named: change.item.node.origin.clone(), ..change.item.node.clone() };
                changes.push((change.path.clone(), node));
            }
            if let Some(seed) = step.seed {
                let (value, origin) = (Value::Integer(i128::from(seed)), plain.origin.clone());
                changes
                    .push((vec!["seed".to_owned()], Node { value, named: origin.clone(), origin, inherited: false }));
            }
        }
        changes.extend(self.settings.iter().map(|s| (s.path.clone(), s.node.clone())));
        let known = errors.kept();
        let scenario = resolved(plain, changes, &self.registry, (traces, errors));
        if !labels.is_empty() {
            errors.happened(known, &name(&labels));
        }
        let scenario = scenario?;
        Ok(Cell { id: identity(&scenario), labels, scenario })
    }
}

/// The scenario with these changes.
fn resolved(
    plain: &Node,
    changes: Vec<(Vec<String>, Node)>,
    registry: &Registry,
    (traces, errors): (&Traces<'_>, &Errors),
) -> Result<Scenario, Reported> {
    let mut root = plain.clone();
    // Defaults are settled before anything is set below what they provide.
    let (defaults, others): (Vec<_>, Vec<_>) = changes.into_iter().partition(|(path, _)| path[0] == "defaults");
    for (path, node) in defaults {
        // What cannot be put there is reported, and the rest is read without it.
        let _ = put(&mut root, &path, node, errors);
    }
    resolve::apply_defaults(&mut root);
    for (path, node) in others {
        let _ = put(&mut root, &path, node, errors);
    }
    // Once more, for what was replaced as a whole.
    resolve::apply_defaults(&mut root);
    resolve::scenario(&Item { errors, registry, path: String::new(), node: &root }, traces)
}

/// Puts a value at a path. Links and groups must exist, for a misspelt one would be a new one.
fn put(root: &mut Node, path: &[String], node: Node, errors: &Errors) -> Result<(), Reported> {
    let wrong = |found: String, remedy: String| errors.report(&node.origin, &dotted(path), &found, &remedy);
    let Some((last, above)) = path.split_last() else { return Ok(()) };
    let known = |table: &IndexMap<String, Node>, section: &str, name: &str| {
        let names: Vec<_> = table.keys().map(String::as_str).collect();
        let way_back = name.strip_suffix("/back").filter(|_| section == "links");
        if names.contains(&name) || way_back.is_some_and(|base| names.contains(&base)) {
            return Ok(());
        }
        let noun = if section == "links" { "link" } else { "group of flows" };
        Err(wrong(format!("no {noun} is named `{name}`"), offer(name, &names, noun)))
    };
    let mut at = root;
    for (depth, part) in above.iter().chain([last]).enumerate() {
        let section = depth.checked_sub(1).map_or("", |_| path[0].as_str());
        let Some(table) = at.table_mut() else {
            return Err(wrong(
                format!("`{}` is not a table, so `{part}` cannot be set in it", dotted(&path[..depth])),
                format!("set `{}` as a whole", dotted(&path[..depth])),
            ));
        };
        if depth == 1 && matches!(section, "links" | "flows") {
            known(table, section, part)?;
        }
        if depth == above.len() {
            table.insert(part.clone(), node);
            return Ok(());
        }
        let empty = || Node {
            value: Value::Table(IndexMap::new()),
            origin: node.origin.clone(),
            named: node.named.clone(),
            inherited: false,
        };
        at = table.entry(part.clone()).or_insert_with(empty);
    }
    Ok(())
}
