//! Pages from data: of a run, a sweep, an analysis, a paper.

mod analysis;
mod cases;
mod difference;
mod measures;
mod overview;
mod paper;
mod path;
mod rows;
mod run;
mod series;
mod show;
mod sweep;
mod theory;
mod transfers;

pub use analysis::{
    AnalysisSource, AnalysisView, CurveView, EquilibriumRow, MarginRow, NyquistView, nyquist, of_analysis, phases,
    within_three_turns,
};
pub use cases::{Case, Cases, Ran, cases};
pub use difference::{Compared, Estimate, differences};
pub use measures::{customer_table, flow_table, group_table, link_table};
pub use paper::{PaperFigure, PaperView, of_paper};
pub use run::{RunView, of_run};
pub use series::{SeriesLook, figures as series_figures};
pub use show::{ShowView, of_show};
pub use sweep::{CellView, SweepView, of_sweep};
pub use theory::{tables as theory_tables, view as theory_view};

use penstock_law::Registry;
use penstock_law::cc::Controller;

use crate::page::Code;

/// The colour of the law of that name in every figure.
pub fn law_colour(registry: &Registry, law: &str) -> Option<&'static str> {
    registry.shown().find(|shown| shown.name == law).map(|shown| shown.colour)
}

/// The controller that a name such as `NewReno/RED` starts with, if the registry has one of that name.
fn law_in(registry: &Registry, name: &str) -> Option<&'static str> {
    let first = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').find(|w| !w.is_empty())?;
    let entry = registry.laws::<Controller>().iter().find(|e| e.name.eq_ignore_ascii_case(first))?;
    Some(entry.name)
}

fn scenario_code(text: &str) -> Vec<Code> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    vec![Code { label: "Scenario with every default".to_owned(), text: text.to_owned(), folded: true }]
}

fn command_code(command: &str) -> Vec<Code> {
    if command.trim().is_empty() {
        return Vec::new();
    }
    vec![Code { label: "To run this again".to_owned(), text: command.to_owned(), folded: false }]
}
