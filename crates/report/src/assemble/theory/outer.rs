//! Loops that a law closes around classes of traffic, as a page.

use crate::assemble::analysis::{AnalysisSource, AnalysisView, EquilibriumRow};
use crate::number::significant;
use crate::page::{Column, TableView};
use penstock_fluid::Verdict;
use penstock_fluid::outer::OuterLoops;

pub(super) fn view(of: &OuterLoops, source: &AnalysisSource<'_>) -> AnalysisView {
    let (stable, verdict) = match of.verdict {
        Verdict::Stable => (true, "Every outer loop is stable if shares follow the constants of the classes."),
        _ => (false, "At least one outer loop is unstable, even if shares follow the constants of the classes."),
    };
    let mut equilibrium = Vec::new();
    for l in &of.outer_loops {
        let mut add = |quantity: &str, value, unit: &str| {
            equilibrium.push(EquilibriumRow::new(&l.class, quantity, value, unit));
        };
        add("service over the service of all other classes", l.reference_ratio, "");
        add("period", l.period_s, "s");
        add(&format!("relative change of `{}` over a small error", l.turns), l.gain, "");
        add("largest such change for any error", l.steepest_gain, "");
    }
    AnalysisView {
        title: of.title.clone(),
        header: source.header.to_vec(),
        stable: Some(stable),
        verdict: verdict.to_owned(),
        equilibrium,
        margins: Vec::new(),
        models: String::new(),
        nyquist: Vec::new(),
        figures: Vec::new(),
        notes: of.warnings.iter().chain(&of.assumptions).cloned().collect(),
        scenario_text: source.scenario_text.to_owned(),
        command: source.command.to_owned(),
    }
}

/// Multipliers by exponent of the plant, the exponents that each loop bears, and how it arrives from far.
pub(super) fn tables(of: &OuterLoops) -> Vec<TableView> {
    let mut plants = TableView::new(
        "Multiplier of an error per period, if the ratio is proportional to the controlled number to the power of \
         -gamma",
        vec![
            Column::words("Class"),
            Column::words("Plant"),
            Column::numbers("gamma", ""),
            Column::numbers("Multiplier", ""),
            Column::numbers("Modulus, one period late", ""),
        ],
    );
    let mut bounds = TableView::new(
        "The largest exponent for which the loop is stable",
        vec![Column::words("Class"), Column::numbers("Without delay", ""), Column::numbers("One period late", "")],
    );
    let mut arrivals = TableView::new(
        "Periods until the error stays within 5 %, for gamma = 1",
        vec![Column::words("Class"), Column::numbers("Start, over the target", ""), Column::numbers("Periods", "")],
    );
    let bound = |gamma: Option<f64>| gamma.map_or_else(|| "any".to_owned(), |gamma| significant(gamma, 4));
    for l in &of.outer_loops {
        for plant in &l.plants {
            let numbers = [plant.gamma, plant.multiplier, plant.late_modulus].map(|x| significant(x, 4));
            plants.rows.push([l.class.clone(), plant.what.to_owned()].into_iter().chain(numbers).collect());
        }
        bounds.rows.push(vec![l.class.clone(), bound(l.largest_gamma), bound(l.largest_gamma_late)]);
        for arrival in &l.arrivals {
            let periods = arrival.periods.map_or_else(|| "never".to_owned(), |n| n.to_string());
            arrivals.rows.push(vec![l.class.clone(), significant(arrival.start, 2), periods]);
        }
    }
    vec![plants, bounds, arrivals]
}
