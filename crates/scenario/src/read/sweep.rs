//! `[sweep]`: the settings of each cell.

use std::collections::BTreeSet;

use super::error::{Reported, offer};
use super::table::Item;
use super::tree::{Node, Value};
use crate::format::{MOST_SEEDS, SCENARIO, SEEDS};
use crate::key::{bare, dotted, parts};

/// The most cells a sweep may have.
const MOST: usize = 100_000;

/// One value of a swept key.
pub(super) struct Change<'a> {
    pub(super) path: Vec<String>,
    pub(super) item: Item<'a>,
}

/// One step along an axis: its label, and the keys that it changes.
pub(super) struct Step<'a> {
    pub(super) label: String,
    pub(super) changes: Vec<Change<'a>>,
    /// The seed, on the axis of seeds.
    pub(super) seed: Option<u64>,
}

/// A dimension of the sweep, independent of the others.
pub(super) struct Axis<'a> {
    pub(super) key: String,
    pub(super) steps: Vec<Step<'a>>,
}

/// The axes of a sweep, the innermost last: keys in the order of the file, named axes (`case` is one), seeds. Keys at
/// or below one of `pinned` are left out. Where something is wrong, the error has those axes that can be read.
pub(super) fn axes<'a>(
    sweep: &Item<'a>,
    first_seed: u64,
    pinned: &dyn Fn(&[String]) -> bool,
) -> Result<Vec<Axis<'a>>, (Vec<Axis<'a>>, Reported)> {
    let remedy = "write lists of values, as in `\"links.bottleneck.rate\" = [\"10 Mbit/s\", \"20 Mbit/s\"]`";
    let (mut values, mut cases, mut seeds) = (Vec::new(), Vec::new(), None);
    let mut paths: Vec<Vec<String>> = Vec::new();
    let before = sweep.errors.count();
    for (key, item) in sweep.settings(remedy).map_err(|reported| (Vec::new(), reported))? {
        match key {
            "seed" => {
                seeds = Some(seed_axis(&item, first_seed));
                paths.push(vec!["seed".to_owned()]);
            }
            "case" => cases.push(case_axis(key, &item, pinned)),
            // `[[sweep.NAME]]`: one more axis of keys that change together. A key of the scenario itself is not a name.
            _ if is_named_axis(key) && item.is_tables() => {
                cases.push(case_axis(key, &item, pinned));
            }
            _ if is_named_axis(key) && item.node.table().is_none() => {
                values.push(Err(unknown(key, &item)));
            }
            _ => {
                let mut leaves = Vec::new();
                if let Err(reported) = descend(vec![], key, item, &|node, _| node.table().is_none(), &mut leaves) {
                    values.push(Err(reported));
                }
                for change in leaves {
                    if let Err(reported) = apart(&paths, &change) {
                        values.push(Err(reported));
                    }
                    paths.push(change.path.clone());
                    if !pinned(&change.path) {
                        values.push(value_axis(&change, remedy));
                    }
                }
            }
        }
    }
    for axis in cases.iter().flatten() {
        let mut own: Vec<Vec<String>> = Vec::new();
        for change in axis.steps.iter().flat_map(|step: &Step<'_>| &step.changes) {
            // An error that is reported is enough.
            let _ = apart(&paths, change);
            own.push(change.path.clone());
        }
        paths.extend(own);
    }
    let seeds = seeds.filter(|_| !pinned(&["seed".to_owned()]));
    let (mut axes, mut wrong) = (Vec::new(), None);
    for axis in values.into_iter().chain(cases).chain(seeds) {
        match axis {
            Ok(axis) => axes.push(axis),
            Err(reported) => wrong = Some(reported),
        }
    }
    if wrong.is_some() || sweep.errors.count() > before {
        return Err((axes, wrong.unwrap_or_else(|| sweep.errors.already())));
    }
    let cells = axes.iter().try_fold(1usize, |cells, axis| cells.checked_mul(axis.steps.len()));
    if cells.is_none_or(|cells| cells > MOST) {
        let sizes: Vec<_> = axes.iter().map(|axis| axis.steps.len().to_string()).collect();
        let reported = sweep.wrong(
            format!("{} cells are too many", sizes.join(" x ")),
            format!("write a sweep of at most {MOST} cells"),
        );
        return Err((axes, reported));
    }
    Ok(axes)
}

/// Reports a key that is neither the scenario's nor, as it is no list of tables, an axis of keys that change together.
fn unknown(key: &str, item: &Item<'_>) -> Reported {
    let known: Vec<_> = SCENARIO.keys.iter().map(|key| key.name).filter(|key| sweepable(key)).chain(["case"]).collect();
    item.at_key(format!("the key `{key}` is unknown here"), offer(key, &known, "key"))
}

/// Whether a key of the scenario, or one below it, can be swept.
fn sweepable(key: &str) -> bool {
    !matches!(key, "sweep" | "format")
}

/// Whether an axis of that name is one of keys that change together, such as `case`, rather than a key of the scenario or
/// the seeds.
pub fn is_named_axis(key: &str) -> bool {
    parts(key).is_some_and(|parts| parts.len() == 1) && !SCENARIO.keys.iter().any(|known| known.name == key)
}

fn value_axis<'a>(change: &Change<'a>, remedy: &str) -> Result<Axis<'a>, Reported> {
    let (mut steps, mut labels) = (Vec::new(), BTreeSet::new());
    for item in change.item.list(remedy)? {
        let label = item.node.shown();
        if !labels.insert(label.clone()) {
            item.wrong(format!("`{}` appears twice", item.shown()), "write each value once");
        }
        steps.push(Step { label, changes: vec![Change { path: change.path.clone(), item }], seed: None });
    }
    if steps.is_empty() {
        return Err(change.item.wrong("a list without values", "write at least one value"));
    }
    Ok(Axis { key: dotted(&change.path), steps })
}

fn case_axis<'a>(key: &str, item: &Item<'a>, pinned: &dyn Fn(&[String]) -> bool) -> Result<Axis<'a>, Reported> {
    let remedy = &format!("write each case as a table `[[sweep.{key}]]` with a `name` and the keys that it sets");
    let mut steps: Vec<Step<'a>> = Vec::new();
    let known = item.errors.count();
    for (at, case) in item.list(remedy)?.into_iter().enumerate() {
        let (mut label, mut changes) = (None, Vec::new());
        // A case that cannot be read leaves the others, whose values have errors of their own.
        let Ok(settings) = case.settings(remedy) else { continue };
        for (key, item) in settings {
            if key == "name" {
                let name = item.name("write the case's name in quotation marks").map(str::to_owned);
                label = Some((name.unwrap_or_else(|_| format!("{}", at + 1)), item));
            } else {
                // Written without quotation marks, a dotted key is a table in tables; a setting's own tables lie deeper.
                let whole = |node: &Node, path: &[String]| {
                    let depth = match path[0].as_str() {
                        "links" | "flows" | "defaults" | "classes" | "customers" => 3,
                        "windows" => 2,
                        _ => 1,
                    };
                    path.len() >= depth || node.table().is_none()
                };
                // An error that is reported is enough.
                let _ = descend(vec![], key, item, &whole, &mut changes);
            }
        }
        let label = if let Some((label, named)) = label {
            if steps.iter().any(|step| step.label == label) {
                named.wrong(format!("the name `{label}` appears twice in `[[sweep.{key}]]`"), "give each its own name");
            }
            label
        } else {
            case.wrong(format!("a {key} without a name"), "add `name`, as in `name = \"FAST\"`");
            format!("{}", at + 1)
        };
        for (at, change) in changes.iter().enumerate() {
            let before: Vec<_> = changes[..at].iter().map(|c| c.path.clone()).collect();
            let _ = apart(&before, change);
        }
        changes.retain(|change| !pinned(&change.path));
        steps.push(Step { label, changes, seed: None });
    }
    if steps.is_empty() {
        let empty = || item.wrong(format!("a list without a {key}"), remedy);
        return Err(if item.errors.count() > known { item.errors.already() } else { empty() });
    }
    // The caller sees that errors were reported, and reads the cells of this axis for more of them.
    Ok(Axis { key: key.to_owned(), steps })
}

fn seed_axis<'a>(item: &Item<'a>, first: u64) -> Result<Axis<'a>, Reported> {
    let remedy = "write `{ count = 10 }`, or a list of seeds";
    let mut seeds = BTreeSet::new();
    let mut steps = Vec::new();
    let mut add = |seed: u64| {
        steps.push(Step { label: seed.to_string(), changes: Vec::new(), seed: Some(seed) });
        seeds.insert(seed)
    };
    if item.node.table().is_some() {
        let fields = item.clone().fields(&SEEDS, remedy)?;
        let count = fields.need("count", remedy)?.whole(1, MOST_SEEDS)?;
        for seed in first..first.saturating_add(count) {
            add(seed);
        }
    } else {
        for each in item.list(remedy)? {
            if !add(each.whole(0, i64::MAX as u64)?) {
                each.wrong(format!("`{}` appears twice", each.shown()), "write each seed once");
            }
        }
    }
    if steps.is_empty() {
        return Err(item.wrong("a list without seeds", remedy));
    }
    Ok(Axis { key: "seed".into(), steps })
}

/// Follows a key into tables until `whole` is true of a value.
fn descend<'a>(
    mut path: Vec<String>,
    key: &str,
    item: Item<'a>,
    whole: &dyn Fn(&Node, &[String]) -> bool,
    leaves: &mut Vec<Change<'a>>,
) -> Result<(), Reported> {
    let Some(more) = parts(key) else {
        return Err(item.wrong(format!("`{key}` is not a dotted key"), "write it as in `\"flows.ftp.count\"`"));
    };
    path.extend(more);
    if path.len() > 16 {
        return Err(item.wrong(format!("`{}` is too deep", dotted(&path)), "name a key of the scenario"));
    }
    if !sweepable(&path[0]) {
        return Err(item.wrong(format!("`{}` cannot be swept", dotted(&path)), "name another key of the scenario"));
    }
    match &item.node.value {
        Value::Table(table) if !whole(item.node, &path) => {
            for (key, node) in table {
                descend(path.clone(), &bare(key), item.below(key, node), whole, leaves)?;
            }
        }
        _ => leaves.push(Change { path, item }),
    }
    Ok(())
}

/// Refuses a key that is set elsewhere, wholly or in part: which setting would win?
fn apart(paths: &[Vec<String>], change: &Change<'_>) -> Result<(), Reported> {
    let overlaps = |path: &&Vec<String>| path.iter().zip(&change.path).all(|(a, b)| a == b);
    match paths.iter().find(overlaps) {
        None => Ok(()),
        Some(other) => Err(change.item.wrong(
            format!("`{}` and `{}` set the same key, or a part of it", dotted(&change.path), dotted(other)),
            "sweep it in one place",
        )),
    }
}
