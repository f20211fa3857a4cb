//! The lines of a figure, and the rows of the table beside it.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use penstock_scenario::interval::half_width_95;
use serde::Serialize;

use crate::axis::position;
use crate::cell::{self, Cell};
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

/// Draws `item` from its cells. Nothing for an item that is not run.
///
/// # Errors
/// Names the cell that lacks the plotted number.
pub fn figure(item: &Item, cells: &[Cell]) -> Result<Option<Figure>, String> {
    let (Some(x), Some(y)) = (&item.x, &item.y) else { return Ok(None) };
    along(item, x, y, &item.reference, cells).map(Some)
}

/// Draws the other numbers along the axis of `item`, one figure each.
///
/// # Errors
/// As [`figure`].
pub fn also(item: &Item, cells: &[Cell]) -> Result<Vec<Figure>, String> {
    let Some(x) = &item.x else { return Ok(Vec::new()) };
    if cells.is_empty() {
        return Ok(Vec::new());
    }
    let titled =
        |y: &Path| along(item, x, y, &[], cells).map(|f| Figure { title: format!("{}: {}", f.title, y.label), ..f });
    item.also.iter().map(titled).collect()
}

fn along(item: &Item, x: &Axis, y: &Path, references: &[Reference], cells: &[Cell]) -> Result<Figure, String> {
    let mut lines: IndexMap<String, IndexMap<String, Vec<f64>>> = IndexMap::new();
    // What else tells the cells of a point apart, the seed left out: their spread is then no error of a mean.
    let mut others: IndexMap<(String, String), BTreeSet<String>> = IndexMap::new();
    for cell in cells {
        let value =
            cell.number(y.path.get_ref()).map_err(|what| format!("{}: {}: {what}", item.title, cell.words(&[])))?;
        let at = cell.label(&x.key).ok_or_else(|| no_key(&x.key, cell))?;
        let line = cell.label(&item.lines).unwrap_or_default();
        lines.entry(line.into()).or_default().entry(at.into()).or_default().push(value);
        let other = cell.words(&[x.key.as_str(), item.lines.as_str(), "seed"]);
        others.entry((line.into(), at.into())).or_default().insert(other);
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
        let by_seed = |at: &String| others.get(&(label.clone(), at.clone())).is_some_and(|words| words.len() == 1);
        let point = |(at, values): (&String, &Vec<f64>)| Point {
            at: at.clone(),
            x: place(at),
            mean: cell::mean(values),
            min: cell::least(values),
            max: cell::largest(values),
            ci95: half_width_95(values).filter(|_| by_seed(at)),
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
    Ok(Figure {
        title: item.title.clone(),
        x_label: x.label.clone(),
        x_unit: unit.unwrap_or_default().to_owned(),
        x_scale: x.scale,
        y_label: y.label.clone(),
        y_unit: y.unit.clone(),
        y_range: y.range,
        lines: drawn,
    })
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
