//! Series while they are written, row by row: the source of the tables of every world.

use super::{Cells, Column, Kind, Table};

/// Rows of a table: a time, whom it is about, and named columns.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    time_s: Vec<f64>,
    who: Vec<u32>,
    columns: Vec<(String, Kind, Vec<f64>)>,
}

impl Rows {
    /// No rows yet, with columns that every row has, in this order.
    pub fn new(columns: &[(&str, Kind)]) -> Self {
        let columns = columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind, Vec::new())).collect();
        Self { time_s: Vec::new(), who: Vec::new(), columns }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.time_s.is_empty()
    }

    /// The time of each row [s].
    pub fn times_s(&self) -> &[f64] {
        &self.time_s
    }

    /// The values of a declared column, one a row.
    pub fn values(&self, name: &str) -> &[f64] {
        self.columns.iter().find(|(n, _, _)| n == name).map_or(&[], |(_, _, values)| values)
    }

    /// Begins a row: `who` is an index into the names of the table.
    pub fn row(&mut self, time_s: f64, who: u32) -> Row<'_> {
        self.time_s.push(time_s);
        self.who.push(who);
        Row { rows: self, at: 0 }
    }

    fn column(&mut self, name: &str, kind: Kind) -> usize {
        if let Some(at) = self.columns.iter().position(|(n, _, _)| n == name) {
            return at;
        }
        self.columns.push((name.to_owned(), kind, Vec::new()));
        self.columns.len() - 1
    }

    /// The table. Columns that a row lacks are NaN.
    pub fn table(self, name: &str, key: &str, names: Vec<String>) -> Table {
        let rows = self.time_s.len();
        let mut columns = vec![
            Column { name: "time_s".to_owned(), kind: Kind::Key, values: Cells::Number(self.time_s) },
            Column { name: key.to_owned(), kind: Kind::Key, values: Cells::Name { names, rows: self.who } },
        ];
        columns.extend(self.columns.into_iter().map(|(name, kind, mut values)| {
            values.resize(rows, f64::NAN);
            Column { name, kind, values: Cells::Number(values) }
        }));
        Table { name: name.to_owned(), columns }
    }
}

/// One row while it is written: the declared columns in order, then others by name.
#[derive(Debug)]
pub struct Row<'a> {
    rows: &'a mut Rows,
    at: usize,
}

#[expect(clippy::return_self_not_must_use, reason = "each writes at once; what comes back is for the next")]
impl Row<'_> {
    /// The next of the declared columns.
    ///
    /// # Panics
    /// If there are no more of them.
    pub fn put(mut self, value: f64) -> Self {
        self.rows.columns[self.at].2.push(value);
        self.at += 1;
        self
    }

    /// A column by its name, made if there is none.
    pub fn named(self, name: &str, kind: Kind, value: f64) -> Self {
        let column = self.rows.column(name, kind);
        let row = self.rows.time_s.len() - 1;
        let values = &mut self.rows.columns[column].2;
        values.resize(row, f64::NAN);
        values.push(value);
        self
    }

    /// Observables of a law: name, unit and value of each.
    pub fn shown<'b>(self, observables: impl IntoIterator<Item = (&'b str, &'b str, f64)>) -> Self {
        let put = |row: Self, (name, unit, value)| row.named(&column_name(name, unit), Kind::Instant, value);
        observables.into_iter().fold(self, put)
    }
}

/// The name of a column with its unit at the end.
pub fn column_name(name: &str, unit: &str) -> String {
    match unit {
        "1" => name.to_owned(),
        _ => format!("{name}_{}", unit.replace('/', "_per_")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_lack_a_column_say_nothing_there() {
        let mut rows = Rows::new(&[("own", Kind::Average)]);
        rows.row(1.0, 0).put(0.5);
        rows.row(1.0, 1).put(0.6).shown([("price", "1/s", 7.0)]);
        rows.row(2.0, 0).put(0.7);
        assert_eq!(rows.values("own"), [0.5, 0.6, 0.7]);
        let table = rows.table("links", "link", vec!["a".into(), "b".into()]);
        let price = table.number("price_1_per_s").unwrap();
        assert!(price[0].is_nan() && price[1] == 7.0 && price[2].is_nan() && price.len() == 3, "{price:?}");
        assert_eq!(
            table.columns.iter().map(|c| &c.name[..]).collect::<Vec<_>>(),
            ["time_s", "link", "own", "price_1_per_s"]
        );
    }
}
