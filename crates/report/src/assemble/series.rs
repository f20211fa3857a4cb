//! Figures of what was recorded over time: one a column, one line an entity.

use penstock_scenario::world::{Cells, Column, Kind, Table};

use crate::figure::{Axis, Figure, Line};
use crate::number::{unit_of, words};
use crate::palette;

/// With more entities than this a figure shows their mean and their range.
const MANY: usize = 12;

/// What became of a table's columns.
pub struct Drawn {
    /// One figure a column that has something to show.
    pub figures: Vec<Figure>,
    /// Names of columns that are zero throughout.
    pub zero: Vec<String>,
}

/// Figures of a table with a key column `time_s`, other key columns that name an entity, and columns of numbers whose
/// names end in their unit. `colour` knows the colours that some entities have of their own. `titles` comes before the
/// column's name in the title if it is not empty.
pub fn figures(table: &Table, titles: &str, colour: &dyn Fn(&str) -> Option<String>) -> Drawn {
    let mut drawn = Drawn { figures: Vec::new(), zero: Vec::new() };
    let Some(time) = table.columns.iter().find(|c| c.kind == Kind::Key && c.name == "time_s") else {
        return drawn;
    };
    let time = numbers(&time.values);
    let entities = entities(table, time.len());
    let wanted: Vec<Option<String>> = entities.iter().map(|(name, _)| colour(name)).collect();
    for column in table.columns.iter().filter(|c| c.kind != Kind::Key) {
        let values = numbers(&column.values);
        if !values.iter().any(|v| v.is_finite()) {
            continue;
        }
        let (stem, unit) = unit_of(&column.name);
        if values.iter().all(|v| !v.is_finite() || *v == 0.0) {
            drawn.zero.push(words(stem).to_lowercase());
            continue;
        }
        let title = if titles.is_empty() { words(stem) } else { format!("{titles}: {}", words(stem).to_lowercase()) };
        let title = title.replace("rtt", "RTT");
        let mut figure = Figure::new(title, Axis::new("Time", "s"), Axis::new(words(stem), unit));
        let traces: Vec<(usize, Vec<(f64, f64)>)> = entities
            .iter()
            .enumerate()
            .map(|(i, (_, rows))| (i, trace(rows, &time, &values)))
            .filter(|(_, t)| t.iter().any(|p| p.1.is_finite()))
            .collect();
        if traces.len() > MANY {
            figure.lines.push(summarised(&traces, &table.name));
        } else {
            let some: Vec<Option<&str>> = traces.iter().map(|(i, _)| wanted[*i].as_deref()).collect();
            let colours = palette::assign(&some);
            for ((i, points), colour) in traces.into_iter().zip(colours) {
                figure.lines.push(Line::new(entities[i].0.clone(), points).coloured(colour));
            }
        }
        figure.caption = caption(column);
        drawn.figures.push(figure);
    }
    drawn
}

fn caption(column: &Column) -> String {
    match column.kind {
        Kind::Average => "Each value is the average over the sampling period that ends there.".to_owned(),
        Kind::Instant => "Each value is the one at that instant.".to_owned(),
        Kind::Key => String::new(),
    }
}

/// Each entity's name and rows, in order of appearance.
fn entities(table: &Table, rows: usize) -> Vec<(String, Vec<usize>)> {
    let keys: Vec<&Column> = table.columns.iter().filter(|c| c.kind == Kind::Key && c.name != "time_s").collect();
    let mut found: indexmap::IndexMap<String, Vec<usize>> = indexmap::IndexMap::new();
    for row in 0..rows {
        let name = keys.iter().filter_map(|k| printed(&k.values, row)).collect::<Vec<_>>().join(" ");
        match found.get_mut(&name) {
            Some(rows) => rows.push(row),
            None => {
                found.insert(name, vec![row]);
            }
        }
    }
    found.into_iter().collect()
}

fn printed(cells: &Cells, row: usize) -> Option<String> {
    match cells {
        Cells::Number(v) => v.get(row).map(ToString::to_string),
        Cells::Count(v) => v.get(row).map(ToString::to_string),
        Cells::Name { names, rows } => rows.get(row).and_then(|i| names.get(*i as usize)).cloned(),
    }
}

fn numbers(cells: &Cells) -> Vec<f64> {
    match cells {
        Cells::Number(v) => v.clone(),
        Cells::Count(v) => v.iter().map(|c| *c as f64).collect(),
        Cells::Name { .. } => Vec::new(),
    }
}

fn trace(rows: &[usize], time: &[f64], values: &[f64]) -> Vec<(f64, f64)> {
    rows.iter().filter_map(|r| Some((*time.get(*r)?, *values.get(*r)?))).collect()
}

/// Mean of all entities that have a value at a time, and the range they span.
fn summarised(traces: &[(usize, Vec<(f64, f64)>)], what: &str) -> Line {
    let mut all: Vec<(f64, f64)> = traces.iter().flat_map(|(_, t)| t.iter().copied()).collect();
    all.retain(|p| p.0.is_finite() && p.1.is_finite());
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut mean, mut band) = (Vec::new(), Vec::new());
    for at in all.chunk_by(|a, b| a.0 == b.0) {
        let (low, high) = at.iter().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(p.1), h.max(p.1)));
        mean.push((at[0].0, at.iter().map(|p| p.1).sum::<f64>() / at.len() as f64));
        band.push((at[0].0, low, high));
    }
    Line::new(format!("mean and range of {} {what}", traces.len()), mean).banded(band)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(entities: u32, times: u32) -> Table {
        let rows = || (0..times).flat_map(move |t| (0..entities).map(move |e| (t, e)));
        Table {
            name: "links".into(),
            columns: vec![
                Column {
                    name: "time_s".into(),
                    kind: Kind::Key,
                    values: Cells::Number(rows().map(|(t, _)| t as f64).collect()),
                },
                Column {
                    name: "link".into(),
                    kind: Kind::Key,
                    values: Cells::Name {
                        names: (0..entities).map(|e| format!("l{e}")).collect(),
                        rows: rows().map(|(_, e)| e).collect(),
                    },
                },
                Column {
                    name: "queue_packets".into(),
                    kind: Kind::Average,
                    values: Cells::Number(rows().map(|(t, e)| (t * 10 + e) as f64).collect()),
                },
                Column { name: "drops".into(), kind: Kind::Instant, values: Cells::Count(vec![0; rows().count()]) },
                Column {
                    name: "price_s".into(),
                    kind: Kind::Instant,
                    values: Cells::Number(vec![f64::NAN; rows().count()]),
                },
            ],
        }
    }

    #[test]
    fn one_figure_a_column_and_one_line_an_entity() {
        let drawn = figures(&table(2, 3), "", &|name| (name == "l1").then(|| "#0b6e99".to_owned()));
        assert_eq!(drawn.figures.len(), 1);
        assert_eq!(drawn.zero, ["drops"]);
        let figure = &drawn.figures[0];
        assert_eq!((figure.title.as_str(), figure.y.unit.as_str()), ("Queue", "packets"));
        assert_eq!(figure.lines[1].points, [(0.0, 1.0), (1.0, 11.0), (2.0, 21.0)]);
        assert_eq!(figure.lines[1].colour, "#0b6e99");
    }

    #[test]
    fn many_entities_become_a_mean_and_a_range() {
        let drawn = figures(&table(100, 3), "", &|_| None);
        let line = &drawn.figures[0].lines[0];
        assert_eq!(drawn.figures[0].lines.len(), 1);
        assert_eq!(line.points[1], (1.0, 59.5));
        assert_eq!(line.band.as_ref().unwrap()[1], (1.0, 10.0, 109.0));
    }

    #[test]
    fn a_table_that_is_none_gives_no_figure() {
        let mut ragged = table(2, 3);
        if let Cells::Number(v) = &mut ragged.columns[2].values {
            v.truncate(2);
        }
        assert_eq!(figures(&ragged, "", &|_| None).figures.len(), 1);
        ragged.columns.remove(0);
        assert!(figures(&ragged, "", &|_| None).figures.is_empty());
        assert!(figures(&Table { name: "x".into(), columns: vec![] }, "", &|_| None).figures.is_empty());
    }
}
