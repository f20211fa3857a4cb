//! The lines of a figure, and the rows of the table beside it.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use penstock_scenario::interval::half_width_95;
use serde::Serialize;

use crate::axis::position;
use crate::cell::{self, Cell};
use crate::extent::Extent;
use crate::paper::{Axis, Item, Path, Reference, Scale};

/// A figure as data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Its title.
    pub title: String,
    /// The horizontal axis.
    pub x_label: String,
    /// The unit of positions along it; empty for plain numbers and words.
    pub x_unit: String,
    /// Spacing of positions along it.
    pub x_scale: Scale,
    /// The vertical axis.
    pub y_label: String,
    /// The unit along it; empty for plain numbers.
    pub y_unit: String,
    /// Range that the vertical axis shows at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y_range: Option<[f64; 2]>,
    /// One line a case, then the lines of others.
    pub lines: Vec<Line>,
}

/// A line of a figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Its name in the legend.
    pub label: String,
    /// Where its numbers come from, if they are not ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The line of ours that shows the same, if it is not ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Its points, from left to right.
    pub points: Vec<Point>,
}

/// A point of a line: the mean over seeds, how well it is known, and the range of the seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The value of the swept key.
    pub at: String,
    /// Where that is on the axis; the point's number from 0 where the value is not a number.
    pub x: f64,
    /// Mean over seeds.
    pub mean: f64,
    /// Least over seeds.
    pub min: f64,
    /// Largest over seeds.
    pub max: f64,
    /// Half the width of the 95 % confidence interval for the mean; none where there are fewer than two seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95: Option<f64>,
}

/// A row of the printed table: a cell, and a number for each of the item's columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Keys and values that distinguish the cell.
    pub labels: IndexMap<String, String>,
    /// Head of the column, and the number; absent where the summary has none.
    pub values: IndexMap<String, f64>,
}

/// Draws `item` from its cells. Nothing for an item that is not run, or whose figure has none of these cells.
///
/// # Errors
/// Names the cell that lacks the plotted number, or the keys over which a point would be a mean.
pub fn figure(item: &Item, cells: &[Cell]) -> Result<Option<Figure>, String> {
    let (Some(x), Some(y)) = (&item.x, &item.y) else { return Ok(None) };
    along(item, x, y, &item.reference, cells)
}

/// Draws the other numbers along the axis of `item`, one figure each.
///
/// # Errors
/// As [`figure`].
pub fn also(item: &Item, cells: &[Cell]) -> Result<Vec<Figure>, String> {
    let Some(x) = &item.x else { return Ok(Vec::new()) };
    let titled = |y: &Path| {
        let drawn = along(item, x, y, &[], cells).transpose()?;
        Some(drawn.map(|f| Figure { title: format!("{}: {}", f.title, y.label), ..f }))
    };
    item.also.iter().filter_map(titled).collect()
}

/// A figure whose points would be means over more than seeds, or that has no cells.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Undrawable {
    /// Where the path that is plotted stands in the text of `paper.toml` [B].
    pub offset: usize,
    /// The keys, and the remedy.
    pub what: String,
}

/// Checks the figures of `item` by the labels of all cells of its sweep, before any of them runs.
///
/// # Errors
/// For a point that would be the mean of cells that differ by more than their seed.
pub fn drawable(item: &Item, sweep: &[Vec<(String, String)>]) -> Result<(), Undrawable> {
    let Some(x) = &item.x else { return Ok(()) };
    let timed = |labels: &Vec<(String, String)>| -> Vec<Vec<(String, String)>> {
        let at = |time: &String| labels.iter().cloned().chain([("at".to_owned(), time.clone())]).collect();
        if item.at.is_empty() { vec![labels.clone()] } else { item.at.iter().map(at).collect() }
    };
    let all: Vec<Vec<(String, String)>> = sweep.iter().flat_map(timed).collect();
    let shown: Vec<Labels<'_>> =
        all.iter().map(Vec::as_slice).filter(|labels| item.shows(labels, Extent::Full)).collect();
    for y in item.y.iter().chain(&item.also) {
        let drawn: Vec<_> = shown.iter().copied().filter(|labels| cell::matches(labels, &y.cells)).collect();
        let wrong = |what| Undrawable { offset: y.path.span().start, what };
        if drawn.is_empty() && !shown.is_empty() {
            return Err(wrong(format!("`cells` of `{}` selects no cell", y.label)));
        }
        told_apart(item, x, &drawn).map_err(wrong)?;
    }
    Ok(())
}

/// Keys and values of a cell.
type Labels<'a> = &'a [(String, String)];

/// Whether a point has one cell a seed: a mean is one over seeds, and over nothing else.
fn told_apart(item: &Item, x: &Axis, cells: &[Labels<'_>]) -> Result<(), String> {
    let mut points: IndexMap<Vec<&str>, Vec<Labels<'_>>> = IndexMap::new();
    let value = |labels: Labels<'_>, key: &str| labels.iter().position(|(k, _)| k == key);
    for labels in cells {
        let keys = item.lines.all().iter().map(String::as_str).chain([x.key.as_str(), "seed"]);
        let point = keys.map(|key| value(labels, key).map_or("", |at| labels[at].1.as_str())).collect();
        points.entry(point).or_default().push(labels);
    }
    let Some(alike) = points.into_values().find(|alike| alike.len() > 1) else { return Ok(()) };
    let values = |key: &str| -> Vec<&str> {
        let all = alike.iter().filter_map(|labels| value(labels, key).map(|at| labels[at].1.as_str()));
        all.fold(Vec::new(), |mut seen, value| {
            if !seen.contains(&value) {
                seen.push(value);
            }
            seen
        })
    };
    let keys: Vec<&str> = alike[0].iter().map(|(key, _)| key.as_str()).filter(|key| values(key).len() > 1).collect();
    let said: Vec<String> = keys.iter().map(|key| format!("`{key}` ({})", values(key).join(", "))).collect();
    let lines: Vec<String> =
        item.lines.all().iter().map(String::as_str).chain(keys.iter().copied()).map(|key| format!("{key:?}")).collect();
    let (first, of_first) = (keys.first().copied().unwrap_or_default(), keys.first().map_or("", |key| values(key)[0]));
    Err(format!(
        "each point would be the mean over {}: draw a line for each with lines = [{}], or choose the cells of the figure, as \
         in y = {{ ..., cells = {{ {first:?} = {of_first:?} }} }}",
        said.join(" and "),
        lines.join(", ")
    ))
}

fn along(item: &Item, x: &Axis, y: &Path, references: &[Reference], cells: &[Cell]) -> Result<Option<Figure>, String> {
    let cells: Vec<&Cell> = cells.iter().filter(|cell| cell::matches(&cell.labels, &y.cells)).collect();
    if cells.is_empty() {
        return Ok(None);
    }
    let labels: Vec<Labels<'_>> = cells.iter().map(|cell| cell.labels.as_slice()).collect();
    told_apart(item, x, &labels).map_err(|what| format!("{}: {what}", item.title))?;
    let mut lines: IndexMap<String, IndexMap<String, Vec<f64>>> = IndexMap::new();
    for cell in cells {
        let value =
            cell.number(y.path.get_ref()).map_err(|what| format!("{}: {}: {what}", item.title, cell.words(&[])))?;
        let at = cell.label(&x.key).ok_or_else(|| no_key(&x.key, cell))?;
        lines.entry(item.line_of(&cell.labels)).or_default().entry(at.into()).or_default().push(value);
    }
    let order: IndexMap<&str, usize> =
        lines.values().flat_map(IndexMap::keys).map(String::as_str).fold(IndexMap::new(), |mut seen, at| {
            let next = seen.len();
            seen.entry(at).or_insert(next);
            seen
        });
    // Words, and values of more than one unit, stand in the order of the sweep.
    let units: BTreeSet<Option<&str>> = order.keys().map(|at| position(at).map(|(_, unit)| unit)).collect();
    let unit = if units.len() == 1 { units.first().copied().flatten() } else { None };
    let place = |at: &str| match (unit, position(at)) {
        (Some(_), Some((x, _))) => x,
        _ => order.get(at).map_or(0.0, |n| *n as f64),
    };
    let mut drawn: Vec<Line> = Vec::new();
    for (label, points) in &lines {
        let point = |(at, values): (&String, &Vec<f64>)| Point {
            at: at.clone(),
            x: place(at),
            mean: cell::mean(values),
            min: cell::least(values),
            max: cell::largest(values),
            ci95: half_width_95(values),
        };
        drawn.push(Line {
            label: label.clone(),
            source: None,
            of: None,
            points: sorted(points.iter().map(point).collect()),
        });
    }
    for reference in references {
        // What others measured where we did not is left out, so that a short run shows a short figure.
        let shown = reference.points.iter().filter(|(at, _)| order.contains_key(at.get_ref().as_str()));
        let point = |(at, value): &(toml::Spanned<String>, f64)| Point {
            at: at.get_ref().clone(),
            x: place(at.get_ref()),
            mean: *value,
            min: *value,
            max: *value,
            ci95: None,
        };
        drawn.push(Line {
            label: reference.label.clone(),
            source: Some(reference.source.clone()),
            of: paired(reference, lines.keys()),
            points: sorted(shown.map(point).collect()),
        });
    }
    Ok(Some(Figure {
        title: item.title.clone(),
        x_label: x.label.clone(),
        x_unit: unit.unwrap_or_default().to_owned(),
        x_scale: x.scale,
        y_label: y.label.clone(),
        y_unit: y.unit.clone(),
        y_range: y.range,
        lines: drawn,
    }))
}

/// Our line for the data of a reference.
fn paired<'a>(reference: &Reference, mut lines: impl Iterator<Item = &'a String>) -> Option<String> {
    let wanted = reference.of.as_deref().or_else(|| reference.label.strip_suffix(", paper")).unwrap_or_default();
    lines.find(|line| line.eq_ignore_ascii_case(wanted)).cloned()
}

/// A column of an item whose path no cell has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` leads to nothing: {why}")]
pub struct UnknownColumn {
    /// Where the path stands in the text of `paper.toml` [B].
    pub offset: usize,
    /// The path.
    pub path: String,
    /// How far it leads in the last cell, and what there is.
    pub why: String,
}

/// The printed table: one row a cell, in the order of the sweep. A cell may lack the number of a column.
///
/// # Errors
/// Names the first column of which all cells lack the number.
pub fn rows(item: &Item, cells: &[Cell]) -> Result<Vec<Row>, UnknownColumn> {
    for column in &item.columns {
        let path = column.path.get_ref();
        let last = cells.iter().map(|cell| cell.reaches(path)).reduce(Result::or);
        if let Some(Err(why)) = last {
            return Err(UnknownColumn { offset: column.path.span().start, path: path.clone(), why });
        }
    }
    let row = |cell: &Cell| Row {
        labels: cell.labels.iter().cloned().collect(),
        values: item
            .columns
            .iter()
            .filter_map(|c| Some((c.label.clone(), cell.number(c.path.get_ref()).ok()?)))
            .collect(),
    };
    Ok(cells.iter().map(row).collect())
}

fn sorted(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

fn no_key(key: &str, cell: &Cell) -> String {
    let known: Vec<&str> = cell.labels.iter().map(|(k, _)| k.as_str()).collect();
    format!("the sweep has no key `{key}`; it has {}", known.join(", "))
}
