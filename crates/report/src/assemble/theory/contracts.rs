//! Customers and their conditioners, as a page.

use crate::assemble::analysis::{AnalysisSource, AnalysisView, CurveView, EquilibriumRow, MarginRow, NyquistView};
use crate::number::significant;
use crate::page::{Column, TableView};
use penstock_fluid::contracts::{ContractEquilibrium, Contracts, CustomerLoop};
use penstock_fluid::{LoopModel, Verdict};

use super::margins::{caption, row};

pub(super) fn view(of: &Contracts, source: &AnalysisSource<'_>) -> AnalysisView {
    let limit = format!("; `{}` has the smallest margin", of.limiting_customer);
    let (stable, verdict) = match of.verdict {
        Verdict::Stable => (Some(true), format!("The loops of all conditioners are locally stable{limit}.")),
        Verdict::Unstable => (Some(false), format!("The loop of at least one conditioner is unstable{limit}.")),
        Verdict::Undecided => (None, "The Nyquist criterion gives no verdict.".to_owned()),
    };
    let without = of.customers.iter().filter_map(|customer| customer.why.clone());
    AnalysisView {
        title: of.title.clone(),
        header: source.header.to_vec(),
        stable,
        verdict,
        equilibrium: loops(of).flat_map(|(customer, at)| equilibrium(customer, at)).collect(),
        margins: loops(of).flat_map(|(customer, at)| margins(&customer.name, at)).collect(),
        models: caption(),
        nyquist: vec![NyquistView {
            title: "Loop gain of each customer".into(),
            caption: "The last loop model. The loop is stable if its curve passes with -1 on its left.".into(),
            curves: loops(of).filter_map(|(customer, at)| curve(&customer.name, at)).collect(),
        }],
        figures: Vec::new(),
        notes: of.warnings.iter().cloned().chain(without).chain(of.assumptions.iter().cloned()).collect(),
        scenario_text: source.scenario_text.to_owned(),
        command: source.command.to_owned(),
    }
}

fn loops(of: &Contracts) -> impl Iterator<Item = (&CustomerLoop, &ContractEquilibrium)> {
    of.customers.iter().filter_map(|customer| Some((customer, customer.equilibrium.as_ref()?)))
}

fn margins(name: &str, at: &ContractEquilibrium) -> Vec<MarginRow> {
    let mut rows: Vec<MarginRow> = at
        .models
        .iter()
        .map(|r| row(format!("{name}: {}", r.model.name()), r.model == LoopModel::DECISIVE, &r.margins))
        .collect();
    rows.extend(at.paper.as_ref().map(|paper| row(format!("{name}: (8) with the bucket"), false, &paper.margins)));
    rows
}

fn curve(name: &str, at: &ContractEquilibrium) -> Option<CurveView> {
    let points = at.models.last()?.nyquist.first()?;
    Some(CurveView {
        name: name.to_owned(),
        colour: None,
        comparison: false,
        points: points.iter().map(|p| (p.re, p.im)).collect(),
    })
}

fn equilibrium(customer: &CustomerLoop, at: &ContractEquilibrium) -> Vec<EquilibriumRow> {
    let mut rows = Vec::new();
    let mut add = |entity: &str, quantity: &str, value, unit: &str| {
        rows.push(EquilibriumRow::new(entity, quantity, value, unit));
    };
    add(&customer.name, "rate", at.rate_packets_per_s, "packets/s");
    add(&customer.name, "rate in profile", at.in_profile_packets_per_s, "packets/s");
    add(&customer.name, "probability of being out of profile", at.out_probability, "");
    add(&customer.name, "level of the bucket", at.level_packets, "packets");
    for sender in &at.classes {
        add(&sender.name, "rate of a flow", sender.rate_packets_per_s, "packets/s");
        if let Some(window) = sender.window_packets {
            add(&sender.name, "window of a flow", window, "packets");
        }
        add(&sender.name, "round-trip time", sender.rtt_s, "s");
    }
    rows
}

/// The controller that each conditioner is, and the paper's loop at its zero.
pub(super) fn tables(of: &Contracts) -> Vec<TableView> {
    let mut table = TableView::new(
        "The controller of each conditioner, from the code of its law; the paper's loop for its flows",
        vec![
            Column::words("Customer"),
            Column::numbers("K", "1/(packet s)"),
            Column::numbers("z", "rad/s"),
            Column::numbers("k1", "1/packet"),
            Column::numbers("k2", "1/packet"),
            Column::numbers("W0", "packets"),
            Column::numbers("p0", ""),
            Column::numbers("a", "rad/s"),
            Column::numbers("(8) as printed, at z", ""),
            Column::numbers("with the bucket", ""),
            Column::numbers("Phase there", "\u{b0}"),
        ],
    );
    for (customer, at) in loops(of) {
        let Some(controller) = at.controller else { continue };
        let mut cells = vec![customer.name.clone()];
        cells.extend([controller.gain, controller.zero].map(|x| significant(x, 5)));
        cells.extend([controller.k1, controller.k2].map(|x| significant(x, 7)));
        match &at.paper {
            Some(paper) => {
                let four = [paper.window_packets, paper.probability, paper.pole_rad_per_s, paper.printed_gain_at_zero];
                cells.extend(four.map(|x| significant(x, 4)));
                cells.push(significant(paper.gain_at_zero, 4));
                cells.push(format!("{:.2}", paper.phase_at_zero_deg));
            }
            None => cells.extend((0..6).map(|_| String::new())),
        }
        table.rows.push(cells);
    }
    table.drop_empty_columns();
    if table.rows.is_empty() { Vec::new() } else { vec![table] }
}
