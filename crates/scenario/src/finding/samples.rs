//! Samples of one link or one group from the series.

use crate::world::{Cells, Table};

/// Times [s] and values of a column of numbers for one entity, after `from_s` and up to `to_s`; empty where there is no such
/// column. Rows that say nothing are left out.
pub(super) fn of(
    series: &[Table],
    (table, key): (&str, &str),
    entity: &str,
    column: &str,
    (from_s, to_s): (f64, f64),
) -> Vec<(f64, f64)> {
    let Some(table) = series.iter().find(|each| each.name == table) else { return Vec::new() };
    let whose = table.columns.iter().find(|each| each.name == key).map(|each| &each.values);
    let (Some(times), Some(values), Some(Cells::Name { names, rows })) =
        (table.number("time_s"), table.number(column), whose)
    else {
        return Vec::new();
    };
    let Some(own) = names.iter().position(|name| name == entity) else { return Vec::new() };
    let rows = rows.iter().zip(times.iter().zip(values));
    let own = rows.filter(|(who, _)| **who as usize == own).map(|(_, (time, value))| (*time, *value));
    own.filter(|(time, value)| from_s < *time && *time <= to_s && value.is_finite()).collect()
}
