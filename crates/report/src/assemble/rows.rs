//! Rows of a series: which belong to one entity, and its curve.

use penstock_scenario::world::{Cells, Column, Kind, Table};

/// Each entity's name and rows, in order of appearance.
pub(super) fn entities(table: &Table, rows: usize) -> Vec<(String, Vec<usize>)> {
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

/// The numbers of a column; none of names.
pub(super) fn numbers(cells: &Cells) -> Vec<f64> {
    match cells {
        Cells::Number(v) => v.clone(),
        Cells::Count(v) => v.iter().map(|c| *c as f64).collect(),
        Cells::Name { .. } => Vec::new(),
    }
}

/// The curve of an entity: time and value.
pub(super) fn trace(rows: &[usize], time: &[f64], values: &[f64]) -> Vec<(f64, f64)> {
    rows.iter().filter_map(|r| Some((*time.get(*r)?, *values.get(*r)?))).collect()
}
