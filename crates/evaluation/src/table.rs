//! The numbers of an evaluation as a table.

use indexmap::IndexSet;
use penstock_scenario::world::{Cells, Column, Kind, Table};

use crate::outcome::{Evaluation, Numbers};

/// A row for each criterion, measure, cell, law and seed: `criterion`, `measure`, `unit`, `cell` (`KEY=VALUE`, with semicolons
/// between), `law`, `seed` (that of the run) and `value`, in the unit of the measure.
pub fn table(evaluation: &Evaluation) -> Table {
    let mut words: [Vec<String>; 5] = Default::default();
    let (mut seeds, mut values) = (Vec::new(), Vec::new());
    for outcome in &evaluation.criteria {
        for measured in &outcome.measures {
            for cell in &measured.cells {
                let labels: Vec<String> = cell.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
                let mut put = |law: &str, numbers: &Numbers| {
                    for (seed, value) in numbers.seed_numbers.iter().zip(&numbers.seeds) {
                        let row = [&outcome.id, &measured.name, &measured.unit, &labels.join("; "), law];
                        for (column, word) in words.iter_mut().zip(row) {
                            column.push(word.to_owned());
                        }
                        seeds.push(*seed);
                        values.push(*value);
                    }
                };
                put(&evaluation.law, &cell.law);
                for (name, numbers) in &cell.baselines {
                    put(name, numbers);
                }
            }
        }
    }
    let names = ["criterion", "measure", "unit", "cell", "law"];
    let mut columns: Vec<Column> = names.into_iter().zip(words).map(|(name, words)| text(name, words)).collect();
    columns.push(Column { name: "seed".into(), kind: Kind::Key, values: Cells::Count(seeds) });
    columns.push(Column { name: "value".into(), kind: Kind::Average, values: Cells::Number(values) });
    Table { name: "cells".into(), columns }
}

fn text(name: &str, words: Vec<String>) -> Column {
    let mut names: IndexSet<String> = IndexSet::new();
    let rows = words.into_iter().map(|word| names.insert_full(word).0 as u32).collect();
    Column { name: name.into(), kind: Kind::Key, values: Cells::Name { names: names.into_iter().collect(), rows } }
}
