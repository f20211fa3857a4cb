//! Loaded web pages: the table of a run, and the summary of a group's.

use penstock_law::quantity::{Bytes, Time};

use crate::summary::Pages;
use crate::transfer::{mean, quantile};
use crate::world::{Cells, Column, Kind, Table};

/// A page all of whose objects have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// The browser's first flow, counted over all groups in the order of the file.
    pub flow: u32,
    /// Pages of the browser before it.
    pub number: u32,
    /// Time of the request for its first object.
    pub began: Time,
    /// When the last byte of its last object was acknowledged.
    pub ended: Time,
    /// Bytes of its objects.
    pub bytes: Bytes,
}

/// Summary of pages that were complete in a span.
pub fn sum_up<'a>(loads: impl IntoIterator<Item = &'a Load>) -> Pages {
    let mut times: Vec<f64> = loads.into_iter().map(|load| load.ended.since(load.began).seconds()).collect();
    times.sort_unstable_by(f64::total_cmp);
    Pages {
        completed: times.len() as u64,
        load_mean_s: mean(&times),
        load_p50_s: quantile(&times, 0.50),
        load_p95_s: quantile(&times, 0.95),
        load_p99_s: quantile(&times, 0.99),
    }
}

/// One row a page, in the order in which they were complete; `flows` are names.
pub fn table(rows: &[Load], flows: Vec<String>) -> Table {
    let seconds = |f: fn(&Load) -> Time| Cells::Number(rows.iter().map(|load| f(load).seconds()).collect());
    let column = |name: &str, kind, values| Column { name: name.to_owned(), kind, values };
    Table {
        name: "pages".to_owned(),
        columns: vec![
            column("flow", Kind::Key, Cells::Name { names: flows, rows: rows.iter().map(|load| load.flow).collect() }),
            column("number", Kind::Key, Cells::Count(rows.iter().map(|load| u64::from(load.number)).collect())),
            column("began_s", Kind::Instant, seconds(|load| load.began)),
            column("ended_s", Kind::Instant, seconds(|load| load.ended)),
            column(
                "load_s",
                Kind::Instant,
                Cells::Number(rows.iter().map(|load| load.ended.since(load.began).seconds()).collect()),
            ),
            column("bytes", Kind::Instant, Cells::Count(rows.iter().map(|load| load.bytes.0).collect())),
        ],
    }
}
