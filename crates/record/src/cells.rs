//! `cells.parquet`: a sweep, or any records, as a table with one row each.
//!
//! Columns: `path`, `id`, `title`, `world`, `seed`; `changes`, where a file was changed; `label.KEY` of each axis, as the
//! scenario's file has it; each axis of numbers once more as `KEY` with its unit at the end, in units of the SI; then what was
//! measured, under its path in the summary, such as `links.bottleneck.utilization`.

use indexmap::{IndexMap, IndexSet};
use penstock_scenario::summary::Summary;
use penstock_scenario::world::{Cells, Column, Kind, Table, column_name};

use crate::columns::{Documented, Meaning, unit_of};
use crate::error::RecordError;
use crate::measures::{Measures, text};
use crate::parquet::write_table;
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
}

/// The rows as a table, each with its measurements. Cells that a row lacks are empty text, or no number.
///
/// # Panics
/// Panics where `rows` and `measures` differ in length.
pub fn cells(rows: &[CellRow<'_>], measures: &Measures) -> Table {
    assert_eq!(rows.len(), measures.len(), "each record has a row of measurements");
    let mut columns = vec![text("path", rows.iter().map(|row| row.path)), text("id", rows.iter().map(|row| row.id))];
    let mut measured = measures.table().columns.into_iter();
    columns.extend(measured.by_ref().take(Measures::FIRST.len()));
    if rows.iter().any(|row| !row.changes.is_empty()) {
        columns.push(text("changes", rows.iter().map(|row| row.changes.join("; "))));
    }
    let keys: IndexSet<&String> = rows.iter().flat_map(|row| row.labels).map(|(key, _)| key).collect();
    for key in keys.into_iter().filter(|key| *key != "seed") {
        let label = |row: &CellRow<'_>| {
            row.labels.iter().find(|(known, _)| known == key).map(|(_, label)| label.clone()).unwrap_or_default()
        };
        columns.push(text(&format!("label.{key}"), rows.iter().map(label)));
        let places: Vec<Option<Place>> = rows.iter().map(|row| place_of(key, &label(row))).collect();
        // Of places in several units, `50 packets` and `30 kB`, no column could hold the numbers.
        let units: IndexSet<&str> = places.iter().flatten().map(|place| place.unit).collect();
        if let (Some(unit), 1) = (units.first(), units.len()) {
            let values = places.iter().map(|place| place.map_or(f64::NAN, |place| place.value)).collect();
            columns.push(Column { name: column_name(key, unit), kind: Kind::Key, values: Cells::Number(values) });
        }
    }
    let known: IndexSet<String> = columns.iter().map(|column| column.name.clone()).collect();
    columns.extend(measured.filter(|column| !known.contains(&column.name)));
    Table { name: "cells".to_owned(), columns }
}

/// The table of [`cells`] as a Parquet file.
///
/// # Errors
/// Names the columns that do not fit together.
///
/// # Panics
/// As [`cells`].
pub fn write_cells(rows: &[CellRow<'_>], measures: &Measures) -> Result<Vec<u8>, RecordError> {
    write_table(&cells(rows, measures), &meaning(rows))
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
