//! The table of cells over seeds: means with intervals, and paired differences.

use indexmap::IndexMap;
use penstock_scenario::interval::half_width_95;
use penstock_scenario::world::{Cells, Column, Kind, Table};

use crate::error::RecordError;

/// Columns of neither an axis nor a measure.
const APART: [&str; 5] = ["path", "id", "title", "seed", "changes"];
/// Suffix of the name of a measure where a column holds half the width of its interval.
const INTERVAL: &str = ".ci95";

/// The mean of each measure of [`cells`](crate::cells()) over the cells that differ in nothing but the seed, a row for each
/// group of them in the order of the first. `cells` counts them. `NAME.ci95` is half the width of Student's 95 % interval for the
/// mean of `NAME`, and not a number where fewer than two cells have that measure.
pub fn mean_over_seeds(table: &Table) -> Table {
    let axes: Vec<&Column> = table.columns.iter().filter(|column| is_axis(column)).collect();
    let mut groups: IndexMap<Vec<Mark>, Vec<usize>> = IndexMap::new();
    for row in 0..table.rows() {
        groups.entry(marks(&axes, row)).or_default().push(row);
    }
    let groups: Vec<Vec<usize>> = groups.into_values().collect();
    let first: Vec<usize> = groups.iter().map(|rows| rows[0]).collect();
    let mut columns: Vec<Column> = axes.iter().map(|axis| picked(axis, &first)).collect();
    columns.push(counts("cells", groups.iter().map(Vec::len)));
    for (name, values) in measures(table) {
        let of = |rows: &Vec<usize>| rows.iter().map(|row| values[*row]).collect();
        columns.extend(statistics(name, groups.iter().map(of)));
    }
    Table { name: "means".to_owned(), columns }
}

/// For each value of the axis `key` but `against`, the difference of each measure from that of `against`, over pairs of cells that
/// differ in that axis alone: the seed is the same, so that what both have in common cancels. `pairs` counts them. Means and
/// intervals are as in [`mean_over_seeds`]. Without `against` it is the first value.
///
/// # Errors
/// Lists the axes, or the values of the axis, where there is none of that name.
pub fn paired(table: &Table, key: &str, against: Option<&str>) -> Result<Table, RecordError> {
    let name = format!("label.{key}");
    let labels = |column: &Column| column.name.strip_prefix("label.").map(str::to_owned);
    let Some((names, rows)) = table.columns.iter().find(|column| column.name == name).and_then(texts) else {
        let known: Vec<String> = table.columns.iter().filter_map(labels).collect();
        return Err(RecordError::NoAxis { name: key.to_owned(), known: known.join(", ") });
    };
    let base = match against {
        None => rows.first().copied(),
        Some(against) => names.iter().position(|name| name == against).map(|at| at as u32),
    };
    let Some(base) = base else {
        return Err(RecordError::NoAxis { name: against.unwrap_or(key).to_owned(), known: names.join(", ") });
    };
    // The number of the axis goes with its value.
    let of_axis =
        |column: &Column| column.name == name || column.name.starts_with(&format!("{key}_")) || column.name == key;
    let others: Vec<&Column> = table.columns.iter().filter(|column| is_axis(column) && !of_axis(column)).collect();
    let seed: Vec<&Column> = table.columns.iter().filter(|column| column.name == "seed").collect();
    let whole: Vec<&Column> = others.iter().chain(&seed).copied().collect();
    let based: IndexMap<Vec<Mark>, usize> =
        (0..table.rows()).filter(|row| rows[*row] == base).map(|row| (marks(&whole, row), row)).collect();
    let mut groups: IndexMap<(u32, Vec<Mark>), Vec<Pair>> = IndexMap::new();
    for row in (0..table.rows()).filter(|row| rows[*row] != base) {
        if let Some(other) = based.get(&marks(&whole, row)) {
            groups.entry((rows[row], marks(&others, row))).or_default().push((row, *other));
        }
    }
    let groups: Vec<Vec<Pair>> = groups.into_values().collect();
    let first: Vec<usize> = groups.iter().map(|pairs| pairs[0].0).collect();
    let axis = table.columns.iter().filter(|column| of_axis(column));
    let mut columns: Vec<Column> = others.iter().copied().chain(axis).map(|column| picked(column, &first)).collect();
    columns.push(Column {
        name: "against".to_owned(),
        kind: Kind::Key,
        values: Cells::Name { names: vec![names[base as usize].clone()], rows: vec![0; groups.len()] },
    });
    columns.push(counts("pairs", groups.iter().map(Vec::len)));
    for (name, values) in measures(table) {
        let of = |pairs: &Vec<Pair>| pairs.iter().map(|(one, other)| values[*one] - values[*other]).collect();
        columns.extend(statistics(name, groups.iter().map(of)));
    }
    Ok(Table { name: "differences".to_owned(), columns })
}

/// The row of a cell, and that of the one it is compared with.
type Pair = (usize, usize);

/// A key as something that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Mark {
    Name(u32),
    Whole(u64),
    Bits(u64),
}

fn marks(columns: &[&Column], row: usize) -> Vec<Mark> {
    let mark = |column: &&Column| match &column.values {
        Cells::Name { rows, .. } => Mark::Name(rows[row]),
        Cells::Count(values) => Mark::Whole(values[row]),
        Cells::Number(values) => Mark::Bits(values[row].to_bits()),
    };
    columns.iter().map(mark).collect()
}

fn is_axis(column: &Column) -> bool {
    column.kind == Kind::Key && !APART.contains(&&column.name[..])
}

fn texts(column: &Column) -> Option<(&[String], &[u32])> {
    match &column.values {
        Cells::Name { names, rows } => Some((names, rows)),
        _ => None,
    }
}

fn measures(table: &Table) -> impl Iterator<Item = (&str, &[f64])> {
    table.columns.iter().filter(|column| column.kind != Kind::Key).filter_map(|column| match &column.values {
        Cells::Number(values) => Some((&column.name[..], &values[..])),
        _ => None,
    })
}

/// These rows of a column.
fn picked(column: &Column, rows: &[usize]) -> Column {
    let values = match &column.values {
        Cells::Number(values) => Cells::Number(rows.iter().map(|row| values[*row]).collect()),
        Cells::Count(values) => Cells::Count(rows.iter().map(|row| values[*row]).collect()),
        Cells::Name { names, rows: all } => {
            Cells::Name { names: names.clone(), rows: rows.iter().map(|row| all[*row]).collect() }
        }
    };
    Column { name: column.name.clone(), kind: column.kind, values }
}

fn counts(name: &str, values: impl Iterator<Item = usize>) -> Column {
    Column { name: name.to_owned(), kind: Kind::Key, values: Cells::Count(values.map(|n| n as u64).collect()) }
}

/// Mean and half width, of those numbers that are numbers.
fn statistics(name: &str, groups: impl Iterator<Item = Vec<f64>>) -> [Column; 2] {
    let (mut means, mut widths) = (Vec::new(), Vec::new());
    for mut numbers in groups {
        numbers.retain(|x| !x.is_nan());
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        means.push(if numbers.is_empty() { f64::NAN } else { mean });
        widths.push(half_width_95(&numbers).unwrap_or(f64::NAN));
    }
    let column = |name: String, values| Column { name, kind: Kind::Average, values: Cells::Number(values) };
    [column(name.to_owned(), means), column(format!("{name}{INTERVAL}"), widths)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let names = |name: &str, names: &[&str], rows: &[u32]| Column {
            name: name.to_owned(),
            kind: Kind::Key,
            values: Cells::Name { names: names.iter().map(|n| (*n).to_owned()).collect(), rows: rows.to_vec() },
        };
        let columns = vec![
            names("id", &["a", "b", "c", "d", "e", "f"], &[0, 1, 2, 3, 4, 5]),
            Column { name: "seed".into(), kind: Kind::Key, values: Cells::Count(vec![1, 2, 3, 3, 2, 1]) },
            names("label.law", &["reno", "fast"], &[0, 0, 0, 1, 1, 1]),
            Column {
                name: "goodput_bit_per_s".into(),
                kind: Kind::Average,
                values: Cells::Number(vec![1.0, 2.0, 6.0, 7.0, f64::NAN, 4.0]),
            },
        ];
        Table { name: "cells".into(), columns }
    }

    #[test]
    fn cells_that_differ_in_the_seed_have_one_mean() {
        let means = mean_over_seeds(&table());
        assert_eq!(means.number("goodput_bit_per_s").unwrap(), [3.0, 5.5]);
        // Student's t with 2 degrees of freedom is 4.302653, and with one 12.7062.
        let widths = means.number("goodput_bit_per_s.ci95").unwrap();
        assert!((widths[0] - 4.302_653 * (7.0f64 / 3.0).sqrt()).abs() < 1e-4, "{widths:?}");
        assert!((widths[1] - 12.7062 * 1.5).abs() < 1e-3, "{widths:?}");
        let count = means.columns.iter().find(|column| column.name == "cells").unwrap();
        assert_eq!(count.values, Cells::Count(vec![3, 3]));
    }

    /// Seed 1 has 4 - 1, seed 3 has 7 - 6, and of seed 2 one cell has no number.
    #[test]
    fn a_difference_is_between_cells_of_one_seed() {
        let differences = paired(&table(), "law", None).unwrap();
        assert_eq!(differences.number("goodput_bit_per_s").unwrap(), [2.0]);
        assert!((differences.number("goodput_bit_per_s.ci95").unwrap()[0] - 12.7062).abs() < 1e-3);
        assert_eq!(paired(&table(), "law", Some("fast")).unwrap().number("goodput_bit_per_s").unwrap(), [-2.0]);
        let refused = [paired(&table(), "aqm", None), paired(&table(), "law", Some("cubic"))];
        let refused = refused.map(|refused| refused.unwrap_err().to_string());
        assert!(refused[0].contains("`aqm`") && refused[0].ends_with("law"), "{refused:?}");
        assert!(refused[1].contains("`cubic`") && refused[1].ends_with("reno, fast"), "{refused:?}");
    }
}
