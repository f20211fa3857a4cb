//! The measurements of several runs, a row each: what a summary's numbers become in a table, and how such rows travel.

use indexmap::{IndexMap, IndexSet};
use penstock_scenario::summary::Summary;
use penstock_scenario::world::{Cells, Column, Kind, Table};
use serde_json::Value;

use crate::error::RecordError;
use crate::summary::summary_value;

/// The measurements of several runs, one row each: title, world, seed, and each number of the summary under its path, such as
/// `links.bottleneck.utilization`, in SI units.
///
/// Rows of several batches that are joined in order by [`append`](Self::append) are those of one batch, to the order of the
/// columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measures {
    titles: Vec<String>,
    worlds: Vec<String>,
    seeds: Vec<u64>,
    /// NaN where a row lacks the number. A column is as long as the rows to the last that has it.
    numbers: IndexMap<String, Vec<f64>>,
}

impl Measures {
    /// The columns of [`table`](Self::table) before the numbers.
    pub(crate) const FIRST: [&str; 3] = ["title", "world", "seed"];

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.seeds.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.seeds.is_empty()
    }

    /// The rows of these runs.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn of<'a>(summaries: impl IntoIterator<Item = &'a Summary>) -> Result<Self, RecordError> {
        let mut measures = Self::default();
        summaries.into_iter().try_for_each(|summary| measures.push(summary))?;
        Ok(measures)
    }

    /// Adds the row of a run.
    ///
    /// # Errors
    /// Names a number of the summary that is infinite or NaN. No row is added then.
    pub fn push(&mut self, summary: &Summary) -> Result<(), RecordError> {
        let (value, at) = (summary_value(summary)?, self.len());
        flatten(&mut String::new(), &value, &mut |path, number| {
            if let Some(values) = self.numbers.get_mut(path) {
                values.resize(at, f64::NAN);
                values.push(number);
            } else {
                let mut values = vec![f64::NAN; at];
                values.push(number);
                self.numbers.insert(path.to_owned(), values);
            }
        });
        self.titles.push(summary.title.clone());
        self.worlds.push(summary.world.clone());
        self.seeds.push(summary.seed);
        Ok(())
    }

    /// Adds the rows of a later batch.
    pub fn append(&mut self, later: Self) {
        let rows = self.len();
        for (name, numbers) in later.numbers {
            let values = self.numbers.entry(name).or_default();
            values.resize(rows, f64::NAN);
            values.extend(numbers);
        }
        self.titles.extend(later.titles);
        self.worlds.extend(later.worlds);
        self.seeds.extend(later.seeds);
    }

    /// The rows as a table: `title`, `world`, `seed`, then the numbers in the order in which rows first have them.
    pub fn table(&self) -> Table {
        let rows = self.len();
        let mut columns = vec![text("title", self.titles.iter()), text("world", self.worlds.iter())];
        columns.push(Column { name: "seed".to_owned(), kind: Kind::Key, values: Cells::Count(self.seeds.clone()) });
        columns.extend(self.numbers.iter().map(|(name, values)| {
            let mut values = values.clone();
            values.resize(rows, f64::NAN);
            Column { name: name.clone(), kind: Kind::Average, values: Cells::Number(values) }
        }));
        Table { name: "measures".to_owned(), columns }
    }

    /// The rows of a table of [`table`](Self::table); `None` where it is another table.
    pub fn of_table(table: Table) -> Option<Self> {
        let mut columns = table.columns.into_iter();
        let mut first = || columns.next().map(|column| (column.name, column.values));
        let [titles, worlds, seeds] = [first()?, first()?, first()?];
        if [&titles.0, &worlds.0, &seeds.0] != Self::FIRST {
            return None;
        }
        let seeds = match seeds.1 {
            Cells::Count(seeds) => seeds,
            Cells::Number(_) | Cells::Name { .. } => return None,
        };
        let mut numbers = IndexMap::new();
        for Column { name, values, .. } in columns {
            match values {
                Cells::Number(values) if values.len() == seeds.len() => numbers.insert(name, values),
                Cells::Number(_) | Cells::Count(_) | Cells::Name { .. } => return None,
            };
        }
        let (titles, worlds) = (texts(titles.1)?, texts(worlds.1)?);
        (titles.len() == seeds.len() && worlds.len() == seeds.len()).then_some(Self { titles, worlds, seeds, numbers })
    }
}

/// A column of texts.
pub(crate) fn text<T: AsRef<str>>(name: &str, rows: impl Iterator<Item = T>) -> Column {
    let mut names: IndexSet<String> = IndexSet::new();
    let at = rows.map(|row| match names.get_index_of(row.as_ref()) {
        Some(at) => at as u32,
        None => names.insert_full(row.as_ref().to_owned()).0 as u32,
    });
    let rows = at.collect();
    Column { name: name.to_owned(), kind: Kind::Key, values: Cells::Name { names: names.into_iter().collect(), rows } }
}

fn texts(values: Cells) -> Option<Vec<String>> {
    match values {
        Cells::Name { names, rows } => rows.iter().map(|row| names.get(*row as usize).cloned()).collect(),
        Cells::Number(_) | Cells::Count(_) => None,
    }
}

/// Every number below a value by its path, and what is true or false as 1 or 0. Lists, which hold single flows, are left out:
/// `flows.parquet` of each record has them. So is the seed, which has a column of its own.
fn flatten(path: &mut String, value: &Value, f: &mut dyn FnMut(&str, f64)) {
    match value {
        Value::Object(map) => {
            let above = path.len();
            for (key, value) in map {
                if above > 0 {
                    path.push('.');
                }
                path.push_str(key);
                flatten(path, value, f);
                path.truncate(above);
            }
        }
        _ if path == "seed" => {}
        Value::Number(number) => number.as_f64().into_iter().for_each(|x| f(path, x)),
        Value::Bool(is) => f(path, f64::from(u8::from(*is))),
        Value::Null | Value::String(_) | Value::Array(_) => {}
    }
}
