//! `cells.parquet`: a sweep, or any records, as a table with one row each.
//!
//! Columns: `path`, `id`, `title`, `world`, `seed`; `changes`, where a file was changed; `label.KEY` of each axis, as the
//! scenario's file has it; each axis of numbers once more as `KEY` with its unit at the end, in units of the SI; then what was
//! measured, under its path in the summary, such as `links.bottleneck.utilization`.

use indexmap::{IndexMap, IndexSet};
use penstock_scenario::summary::Summary;
use penstock_scenario::world::{Cells, Column, Kind, Table, column_name};
use serde_json::Value;

use crate::columns::{Documented, Meaning, unit_of};
use crate::error::RecordError;
use crate::parquet::write_table;
use crate::summary::summary_value;
use crate::sweep::{Place, place_of};

/// A record that becomes a row.
#[derive(Debug, Clone, Copy)]
pub struct CellRow<'a> {
    /// Where it is.
    pub path: &'a str,
    /// The identity of its scenario.
    pub id: &'a str,
    /// Changes to the scenario's file, `KEY=VALUE`.
    pub changes: &'a [String],
    /// Labels that distinguish it from other cells of its sweep.
    pub labels: &'a [(String, String)],
    /// Its measurements.
    pub summary: &'a Summary,
}

/// The rows as a table. Cells that a row lacks are empty text, or no number.
///
/// # Errors
/// Names a number of a summary that is infinite or NaN.
pub fn cells(rows: &[CellRow<'_>]) -> Result<Table, RecordError> {
    let text = |name: &str, of: &dyn Fn(&CellRow<'_>) -> String| {
        let mut names: IndexSet<String> = IndexSet::new();
        let at = rows.iter().map(|row| names.insert_full(of(row)).0 as u32).collect();
        Column {
            name: name.to_owned(),
            kind: Kind::Key,
            values: Cells::Name { names: names.into_iter().collect(), rows: at },
        }
    };
    let mut columns = vec![
        text("path", &|row| row.path.to_owned()),
        text("id", &|row| row.id.to_owned()),
        text("title", &|row| row.summary.title.clone()),
        text("world", &|row| row.summary.world.clone()),
        Column {
            name: "seed".to_owned(),
            kind: Kind::Key,
            values: Cells::Count(rows.iter().map(|row| row.summary.seed).collect()),
        },
    ];
    if rows.iter().any(|row| !row.changes.is_empty()) {
        columns.push(text("changes", &|row| row.changes.join("; ")));
    }
    let keys: IndexSet<&String> = rows.iter().flat_map(|row| row.labels).map(|(key, _)| key).collect();
    let label = |row: &CellRow<'_>, key: &str| {
        row.labels.iter().find(|(known, _)| known == key).map(|(_, label)| label.clone()).unwrap_or_default()
    };
    for key in keys.into_iter().filter(|key| *key != "seed") {
        columns.push(text(&format!("label.{key}"), &|row| label(row, key)));
        let places: Vec<Option<Place>> = rows.iter().map(|row| place_of(key, &label(row, key))).collect();
        // Of places in several units, `50 packets` and `30 kB`, no column could hold the numbers.
        let units: IndexSet<&str> = places.iter().flatten().map(|place| place.unit).collect();
        if let (Some(unit), 1) = (units.first(), units.len()) {
            let values = places.iter().map(|place| place.map_or(f64::NAN, |place| place.value)).collect();
            columns.push(Column { name: column_name(key, unit), kind: Kind::Key, values: Cells::Number(values) });
        }
    }
    let mut measures: IndexMap<String, Vec<f64>> = IndexMap::new();
    for (at, row) in rows.iter().enumerate() {
        flatten("", &summary_value(row.summary)?, &mut |name, value| {
            let values = measures.entry(name.to_owned()).or_default();
            values.resize(at, f64::NAN);
            values.push(value);
        });
    }
    for (name, mut values) in measures.into_iter().filter(|(name, _)| name != "seed") {
        values.resize(rows.len(), f64::NAN);
        if columns.iter().all(|column| column.name != name) {
            columns.push(Column { name, kind: Kind::Average, values: Cells::Number(values) });
        }
    }
    Ok(Table { name: "cells".to_owned(), columns })
}

/// The table of [`cells`] as a Parquet file.
///
/// # Errors
/// As [`cells`].
pub fn write_cells(rows: &[CellRow<'_>]) -> Result<Vec<u8>, RecordError> {
    write_table(&cells(rows)?, &meaning(rows))
}

/// Meanings of the columns of the table of [`cells`].
pub(crate) fn meaning(rows: &[CellRow<'_>]) -> impl Fn(&str) -> Meaning {
    let summary = Documented::of::<Summary>();
    let mut axes: IndexMap<String, (String, &'static str)> = IndexMap::new();
    for (key, label) in rows.iter().flat_map(|row| row.labels) {
        if let Some(place) = place_of(key, label) {
            axes.entry(column_name(key, place.unit)).or_insert((key.clone(), place.unit));
        }
    }
    move |column: &str| {
        let plain = |description: &str| Meaning {
            unit: unit_of(column).to_owned(),
            description: description.to_owned(),
            ..Meaning::default()
        };
        if let Some((_, what)) = OWN.iter().find(|(name, _)| *name == column) {
            return plain(what);
        }
        if let Some(key) = column.strip_prefix("label.") {
            return plain(&format!("`{key}`, as the scenario's file has it."));
        }
        if let Some((key, unit)) = axes.get(column) {
            return Meaning { unit: (*unit).to_owned(), ..plain(&format!("`{key}` of the scenario, as a number.")) };
        }
        // Names of links and groups may have dots themselves; the last word names the number.
        let path: Vec<&str> = column.split('.').collect();
        plain(&summary.field(&path).unwrap_or_default())
    }
}

/// The columns that every such table has, or may have.
pub(crate) const OWN: [(&str, &str); 6] = [
    ("path", "Where the record is: in a sweep, from the sweep's directory."),
    ("id", "The identity of the scenario, a hash."),
    ("title", "The scenario's title."),
    ("world", "The world of the run."),
    ("seed", "The seed."),
    ("changes", "Changes to the scenario file, as given to `--set`, separated by semicolons."),
];

/// Every number below a value by its path, and what is true or false as 1 or 0. Lists, which hold single flows, are left out:
/// `flows.parquet` of each record has them.
fn flatten(path: &str, value: &Value, f: &mut dyn FnMut(&str, f64)) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                flatten(&if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, value, f);
            }
        }
        Value::Number(number) => number.as_f64().into_iter().for_each(|x| f(path, x)),
        Value::Bool(is) => f(path, f64::from(u8::from(*is))),
        Value::Null | Value::String(_) | Value::Array(_) => {}
    }
}
