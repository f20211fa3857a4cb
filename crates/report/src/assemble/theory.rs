//! The analysis of a scenario, as a page, whichever loop the scenario has.

mod contracts;
mod disturbance;
mod margins;
mod network;
mod outer;

use penstock_fluid::Answer;
use penstock_fluid::sessions::Sessions;

use crate::assemble::analysis::{AnalysisSource, AnalysisView};
use crate::page::TableView;

/// An analysis as a page shows it; `sessions` are how many would be stable together, where the scenario's are not.
pub fn view(answer: &Answer, sessions: Option<&Sessions>, source: &AnalysisSource<'_>) -> AnalysisView {
    match answer {
        Answer::Network(analysis) => network::view(analysis, sessions, source),
        Answer::Contracts(answer) => contracts::view(answer, source),
        Answer::Outer(answer) => outer::view(answer, source),
    }
}

/// Tables that only some loops have, for the section of the verdict.
pub fn tables(answer: &Answer) -> Vec<TableView> {
    match answer {
        Answer::Network(analysis) => disturbance::tables(&analysis.disturbance),
        Answer::Contracts(answer) => contracts::tables(answer),
        Answer::Outer(answer) => outer::tables(answer),
    }
}
