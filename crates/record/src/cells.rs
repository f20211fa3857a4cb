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
use crate::sweep::{Axes, Places};

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
    partition(rows, measures, &Axes::of(rows.iter().map(|row| row.labels)))
}

/// The same for some rows of a sweep with these axes: a partition of its dataset. All partitions have the columns of all axes.
///
/// # Panics
/// As [`cells`].
pub fn partition(rows: &[CellRow<'_>], measures: &Measures, axes: &Axes) -> Table {
    assert_eq!(rows.len(), measures.len(), "each record has a row of measurements");
    let mut columns = vec![text("path", rows.iter().map(|row| row.path)), text("id", rows.iter().map(|row| row.id))];
    let mut measured = measures.table().columns.into_iter();
    columns.extend(measured.by_ref().take(Measures::FIRST.len()));
    if rows.iter().any(|row| !row.changes.is_empty()) {
        columns.push(text("changes", rows.iter().map(|row| row.changes.join("; "))));
    }
    for (key, places) in axes.iter().filter(|(key, _)| *key != "seed") {
        columns.push(text(&format!("label.{key}"), rows.iter().map(|row| label(row, key).unwrap_or_default())));
        if let Some(unit) = unit(places) {
            let place = |row: &CellRow<'_>| *label(row, key).and_then(|label| places.get(label))?;
            let values = rows.iter().map(|row| place(row).map_or(f64::NAN, |place| place.value)).collect();
            columns.push(Column { name: column_name(key, unit), kind: Kind::Key, values: Cells::Number(values) });
        }
    }
    let known: IndexSet<String> = columns.iter().map(|column| column.name.clone()).collect();
    columns.extend(measured.filter(|column| !known.contains(&column.name)));
    Table { name: "cells".to_owned(), columns }
}

/// The label of a row on an axis.
fn label<'a>(row: &CellRow<'a>, key: &str) -> Option<&'a str> {
    row.labels.iter().find(|(known, _)| known == key).map(|(_, label)| &label[..])
}

/// The unit of an axis. Of places in several units, `50 packets` and `30 kB`, no column could hold the numbers.
fn unit(places: &Places) -> Option<&'static str> {
    let mut units = places.values().flatten().map(|place| place.unit);
    let first = units.next()?;
    units.all(|unit| unit == first).then_some(first)
}

/// The table of [`cells`] as a Parquet file.
///
/// # Errors
/// Names the columns that do not fit together.
///
/// # Panics
/// As [`cells`].
pub fn write_cells(rows: &[CellRow<'_>], measures: &Measures) -> Result<Vec<u8>, RecordError> {
    let axes = Axes::of(rows.iter().map(|row| row.labels));
    write_partition(&partition(rows, measures, &axes), &axes)
}

/// A table of [`partition`] as a Parquet file.
///
/// # Errors
/// Names the columns that do not fit together.
pub fn write_partition(partition: &Table, axes: &Axes) -> Result<Vec<u8>, RecordError> {
    write_table(partition, &meaning(axes))
}

/// The names of the columns of a partition that hold something, in order: those of numbers that no row has were added by
/// [`with_columns`].
pub fn columns_held(partition: &Table) -> Vec<String> {
    let empty = |column: &Column| match &column.values {
        Cells::Number(values) => column.kind != Kind::Key && values.iter().all(|value| value.is_nan()),
        Cells::Count(_) | Cells::Name { .. } => false,
    };
    partition.columns.iter().filter(|column| !empty(column)).map(|column| column.name.clone()).collect()
}

/// A partition with these columns in this order: all partitions of a dataset have the same ones. Numbers that it lacks are NaN.
#[must_use]
pub fn with_columns(partition: Table, names: &IndexSet<String>) -> Table {
    let rows = partition.rows();
    let mut held: IndexMap<String, Column> =
        partition.columns.into_iter().map(|column| (column.name.clone(), column)).collect();
    let column = |name: &String| {
        let empty = || Column { name: name.clone(), kind: Kind::Average, values: Cells::Number(vec![f64::NAN; rows]) };
        held.swap_remove(name).unwrap_or_else(empty)
    };
    Table { name: partition.name, columns: names.iter().map(column).collect() }
}

/// Meanings of the columns of the table of [`cells`].
pub(crate) fn meaning(axes: &Axes) -> impl Fn(&str) -> Meaning + use<> {
    let summary = Documented::of::<Summary>();
    let numbers = axes.iter().filter_map(|(key, places)| Some((key, unit(places)?)));
    let numbers: IndexMap<String, (String, &'static str)> =
        numbers.map(|(key, unit)| (column_name(key, unit), (key.to_owned(), unit))).collect();
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
        if let Some((key, unit)) = numbers.get(column) {
            return Meaning { unit: (*unit).to_owned(), ..plain(&format!("`{key}` of the scenario, as a number.")) };
        }
        // Names of links and groups may have dots themselves; the last word names the number.
        let path: Vec<&str> = column.split('.').collect();
        plain(&summary.field(&path).unwrap_or_default())
    }
}

/// The columns that every such table has, or may have.
pub(crate) const OWN: [(&str, &str); 6] = [
    (
        "path",
        "Where the record is: in a sweep, from the sweep's directory. Empty in a dataset, whose cells have no records.",
    ),
    ("id", "The identity of the scenario, a hash."),
    ("title", "The scenario's title."),
    ("world", "The world of the run."),
    ("seed", "The seed."),
    ("changes", "Changes to the scenario file, as given to `--set`, separated by semicolons."),
];
