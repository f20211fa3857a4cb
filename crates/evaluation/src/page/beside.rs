//! A second world beside the first.

use penstock_report::number::quantity;
use penstock_report::page::{Callout, Column, Section, TableView, Tone};

use super::BESIDE;
use crate::markdown::per_cent;
use crate::outcome::{Beside, BesideRow, cell_words};

/// The differences of the second world from the first, and the parts that did not run there.
pub(super) fn section(first: &str, beside: &Beside) -> Section {
    let Beside { world, runs, beyond, rows, not_run } = beside;
    let heads = ["Criterion", "Measure", "Cell", "Law", first, world.as_str()].map(Column::words);
    let difference = Column::words(format!("{world} - {first}"));
    let mut table = TableView::new("Means over the same seeds", heads.into_iter().chain([difference]).collect());
    table.rows = rows.iter().map(row).collect();
    let mut missing = TableView::new(
        format!("Not run in the {world} world"),
        ["Criterion", "Measures", "Reason"].map(Column::words).to_vec(),
    );
    missing.rows = not_run.iter().map(|one| vec![one.id.clone(), one.measures.join(", "), one.why.clone()]).collect();
    missing.folded = missing.rows.len() > 8;
    let tables = [table, missing].into_iter().filter(|table| !table.rows.is_empty()).collect();
    let callout = (!beyond.is_empty()).then(|| {
        let text = format!("{} of {runs} runs were outside the error bounds of their path.", beyond.len());
        Callout { tone: Tone::Bad, text }
    });
    Section {
        label: BESIDE.into(),
        prose: format!(
            "{runs} runs in the {world} world, one at a time. A difference is that of the {world} world from the {first} world, in per \
             cent of the latter: by the ratios of runs with the same seed, with a 95 % confidence interval."
        ),
        callout,
        tables,
        ..Section::new(format!("The {world} world beside the {first} world"))
    }
}

fn row(row: &BesideRow) -> Vec<String> {
    let number = |mean: f64| quantity(mean, &row.unit, 3);
    vec![
        row.id.clone(),
        row.title.clone(),
        cell_words(&row.labels),
        row.law.clone(),
        number(row.first.mean),
        number(row.second.mean),
        per_cent(row),
    ]
}
