//! Figures of a paper over time, from the series in records.

use penstock_papers::Item;
use penstock_record::{read_table, table_file};
use penstock_report::assemble::{SeriesLook, series_figures};
use penstock_report::figure::Figure;
use penstock_scenario::read::Cell;
use penstock_scenario::text::{law_names, rates};
use penstock_scenario::world::{Kind, Table};
use penstock_scenario::write::print;

use crate::content;
use crate::failure::{Failure, causes};
use crate::named::Shown as _;
use crate::record::Kept;
use crate::registry;

/// One figure for each trace of `item` in each of its cells; of cells that differ in their seed only, the first.
pub(super) fn of(item: &Item, cells: &[(&Cell, &Kept)]) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    let mut shown: Vec<Vec<&(String, String)>> = Vec::new();
    for (cell, kept) in cells {
        let labels: Vec<&(String, String)> = cell.labels.iter().filter(|(key, _)| key != "seed").collect();
        if shown.contains(&labels) {
            continue;
        }
        let title = labels.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ");
        shown.push(labels);
        for trace in &item.traces {
            let (table, column) = trace.split_once('.').unwrap_or((trace.as_str(), ""));
            let wrong = |what: String| Failure::Input(format!("{}: {trace}: {what}", item.id.get_ref()));
            let file = kept.path.join(table_file(table));
            let bytes = content::read(&file, content::TABLE);
            let bytes = bytes.map_err(|e| wrong(format!("cannot read {}: {e}", file.shown())))?;
            let table = read_table(&bytes).map_err(|e| wrong(format!("{}: {}", file.shown(), causes(&e))))?;
            let scenario = print(&cell.scenario);
            let (laws, rates) = (law_names(&scenario), rates(&scenario).into_iter().collect::<Vec<_>>());
            let look = SeriesLook {
                registry: registry::laws(),
                titles: &title,
                colour: &|_| None,
                warm_up_s: cell.scenario.warmup.seconds(),
                laws: &laws,
                rates: &rates,
            };
            figures.extend(series_figures(&only(table, column).map_err(wrong)?, &look).figures);
        }
    }
    Ok(figures)
}

/// The keys of a table, and one column.
fn only(mut table: Table, column: &str) -> Result<Table, String> {
    if !table.columns.iter().any(|c| c.name == column && c.kind != Kind::Key) {
        let known: Vec<&str> = table.columns.iter().filter(|c| c.kind != Kind::Key).map(|c| c.name.as_str()).collect();
        return Err(format!("no column is named `{column}`; there are {}", known.join(", ")));
    }
    table.columns.retain(|c| c.kind == Kind::Key || c.name == column);
    Ok(table)
}
