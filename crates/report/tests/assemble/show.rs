//! Pages of runs over each other.

use std::collections::BTreeSet;

use penstock_law::Registry;
use penstock_report::Page;
use penstock_report::assemble::{Ran, ShowView, cases, differences, of_show};
use penstock_scenario::world::{Cells, Column, Kind, Table};

use super::{figure, summary};

fn shown(runs: &[Ran<'_>]) -> Page {
    let registry = Registry::standard();
    let cases = cases(runs, &registry);
    let differences = differences(&cases.cases, runs);
    of_show(&ShowView { title: "t", runs, cases: &cases, differences: &differences, header: &[], registry: &registry })
}

/// The contents of a page of runs over each other name each section once.
#[test]
fn sections_of_runs_over_each_other_have_headings_of_their_own() {
    let summaries = [summary(0.9, 0.0), summary(0.8, 0.0)];
    let runs: Vec<Ran<'_>> = summaries
        .iter()
        .zip(["a = 1", "a = 2"])
        .map(|(summary, scenario_text)| Ran {
            name: "r",
            version: "1",
            scenario_text,
            swept: &[],
            laws: &[],
            summary,
            series: &[],
        })
        .collect();
    let page = shown(&runs);
    let headings: Vec<&str> = page.sections.iter().map(|section| section.heading.as_str()).collect();
    assert_eq!(headings[..2], ["Differences of the scenarios", "Differences of the measurements"]);
    let once: BTreeSet<&&str> = headings.iter().collect();
    assert_eq!(once.len(), headings.len(), "{headings:?}");
}

/// Five records of a sweep over a rate, each with the same capacity or one of its own.
fn over_rates(rates: [f64; 5]) -> Page {
    let summaries = rates.map(|_| summary(0.9, 0.0));
    let series = rates.map(|rate| {
        let number = |name: &str, kind, values: [f64; 2]| Column {
            name: name.to_owned(),
            kind,
            values: Cells::Number(values.to_vec()),
        };
        let link = Cells::Name { names: vec!["up".to_owned()], rows: vec![0, 0] };
        [Table {
            name: "links".to_owned(),
            columns: vec![
                number("time_s", Kind::Key, [1.0, 2.0]),
                Column { name: "link".to_owned(), kind: Kind::Key, values: link },
                number("throughput_bit_per_s", Kind::Average, [0.5 * rate, 0.9 * rate]),
                number("utilization", Kind::Average, [0.5, 0.9]),
            ],
        }]
    });
    let values = [80, 10, 20, 40, 5].map(|n| format!("{n} Mbit/s"));
    let texts = values.clone().map(|value| format!("[links.up]\nrate = '{value}'"));
    let swept = values.map(|value| [("links.up.rate".to_owned(), value)]);
    let runs: Vec<Ran<'_>> = (0..5)
        .map(|at| Ran {
            name: "r",
            version: "1",
            scenario_text: &texts[at],
            swept: &swept[at],
            laws: &[],
            summary: &summaries[at],
            series: &series[at],
        })
        .collect();
    shown(&runs)
}

/// The numbers of runs of a sweep over a number are a curve over it, from small to large.
#[test]
fn runs_of_a_sweep_over_a_number_are_a_curve() {
    let page = over_rates([1e8; 5]);
    let utilization = figure(&page, "Link up", "Utilization");
    assert_eq!((utilization.x.label.as_str(), utilization.x.unit.as_str()), ("Up rate", "bit/s"));
    let at: Vec<f64> = utilization.lines[0].points.iter().map(|point| point.0).collect();
    assert_eq!((at, utilization.lines.len()), (vec![5e6, 10e6, 20e6, 40e6, 80e6], 1));
    let differs = &page.sections[0];
    assert!(differs.prose.starts_with("1 key differs between the scenarios"), "{}", differs.prose);
    let named: Vec<&str> = differs.tables[0].rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(named, ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s", "40 Mbit/s", "80 Mbit/s"]);
}

/// The capacity is behind the throughput of runs over each other where it is the same in all of them.
#[test]
fn a_capacity_that_runs_share_is_drawn() {
    let names = |rates: [f64; 5]| -> Vec<String> {
        let page = over_rates(rates);
        let throughput = figure(&page, "Over time", "Throughput of up");
        throughput.lines.iter().map(|line| line.name.clone()).collect()
    };
    let alike = names([1e8; 5]);
    assert_eq!((alike.len(), alike[5].as_str()), (6, "capacity"));
    assert_eq!(names([1e8, 1e8, 1e8, 1e8, 2e8]).len(), 5, "one has another");
}
