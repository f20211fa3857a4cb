//! `penstock compare`: one scenario in several worlds, overlaid, with the differences as numbers.

use std::path::Path;

use penstock_fluid::{Clocking, Fluid, Method};
use penstock_law::quantity::Time;
use penstock_report::figure::{Axis, Figure, Line, Style};
use penstock_report::page::{Column, Page, Section, TableView};
use penstock_report::palette;
use penstock_scenario::quantity;
use penstock_scenario::read::Cell;
use penstock_scenario::summary::Measured;
use penstock_scenario::world::{Cells, Run, Table, World};
use penstock_scenario::write::print;
use serde::Serialize;

use crate::arguments::{ClockingName, Compare, WorldName};
use crate::compare_cases as against;
use crate::failure::{Done, Failure};
use crate::named::Shown as _;
use crate::program;
use crate::run::is_beyond;
use crate::study::Study;
use crate::{interrupt, machine, of_quic, scenario};

/// A scenario in several worlds.
#[derive(Debug, Serialize)]
struct Compared {
    title: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<(String, String)>,
    worlds: Vec<&'static str>,
    rows: Vec<Row>,
}

/// One measure, in each world.
#[derive(Debug, Serialize)]
struct Row {
    /// The whole run after warm-up, or the name of a window.
    span: String,
    /// A link or a group.
    entity: String,
    measure: &'static str,
    unit: &'static str,
    values: Vec<f64>,
    /// Of the second and later worlds, relative to the first; absent where that is zero.
    differences: Vec<Option<f64>>,
}

/// Runs the command.
pub(crate) fn compare(arguments: &Compare) -> Result<Done, Failure> {
    let fluid = Fluid { method: method(arguments)? };
    let awake = arguments.processors.awake;
    scenario::refuse_awake(awake, arguments.worlds.contains(&WorldName::Linux), "linux to --worlds")?;
    let [file] = arguments.files.as_slice() else { return against::compare(arguments, &fluid) };
    if !arguments.laws().is_empty() {
        return against::compare(arguments, &fluid);
    }
    let worlds = match arguments.worlds.as_slice() {
        [] => &[WorldName::Packets, WorldName::Fluid],
        [_] => return Err(Failure::Input("--worlds: name two or more, as in `packets,fluid`".into())),
        several => several,
    };
    let document = scenario::document(file, arguments.seed, &arguments.changes)?;
    let cells = scenario::cells(&document)?;
    of_quic::refuse_cells(&cells, worlds)?;
    let mut study = Study::open(file, "comparison", arguments.out.as_deref(), arguments.json)?;
    interrupt::watch()?;
    let mut beyond = false;
    for cell in &cells {
        let mut runs = Vec::new();
        for name in worlds {
            let other;
            let world: &dyn World = if *name == WorldName::Fluid {
                &fluid
            } else {
                other = scenario::one_world(*name, awake)?;
                other.as_ref()
            };
            let run = world.run(&cell.scenario, &mut |_| !interrupt::stopped());
            let run = run?;
            // Differences from a run that was not what it should have been say nothing.
            beyond |= is_beyond(&run.summary);
            runs.push((world.name(), run));
        }
        let compared = compared(cell, &runs);
        let page = page(cell, &compared, &runs, file);
        study.found(cell, &compared, &page)?;
    }
    study.end()?;
    Ok(if beyond { Done::Beyond } else { Done::Well })
}

/// Method of integration of the fluid.
fn method(arguments: &Compare) -> Result<Method, Failure> {
    let step = arguments.step.as_deref().map(quantity::time).transpose();
    let step_s = step.map_err(|e| Failure::Input(format!("--step: {e}")))?.map(Time::seconds);
    if step_s == Some(0.0) {
        return Err(Failure::Input("--step: a step takes time".into()));
    }
    Ok(Method {
        step_s,
        frozen_delays: arguments.frozen_delays,
        estimators: !arguments.true_signals,
        clocking: arguments.clocking.map(Into::into),
        ..Method::default()
    })
}

impl From<ClockingName> for Clocking {
    fn from(name: ClockingName) -> Self {
        match name {
            ClockingName::Paced => Self::Paced,
            ClockingName::Ack => Self::Ack,
        }
    }
}

fn compared(cell: &Cell, runs: &[(&'static str, Run)]) -> Compared {
    let mut rows = Vec::new();
    span("", &runs.iter().map(|(_, run)| &run.summary.whole).collect::<Vec<_>>(), &mut rows);
    for name in cell.scenario.windows.keys() {
        let of_each: Vec<&Measured> = runs.iter().filter_map(|(_, run)| run.summary.windows.get(name)).collect();
        if of_each.len() == runs.len() {
            span(name, &of_each, &mut rows);
        }
    }
    Compared {
        title: cell.scenario.title.clone(),
        labels: cell.labels.clone(),
        worlds: runs.iter().map(|(name, _)| *name).collect(),
        rows,
    }
}

/// The rows of one span.
fn span(name: &str, worlds: &[&Measured], rows: &mut Vec<Row>) {
    let mut add = |entity: &str, measure: &'static str, unit: &'static str, values: Vec<Option<f64>>| {
        let Some(values) = values.into_iter().collect::<Option<Vec<f64>>>() else { return };
        if values.iter().all(|v| *v == 0.0) {
            return;
        }
        let differences = values[1..].iter().map(|v| (values[0] != 0.0).then(|| v / values[0] - 1.0)).collect();
        rows.push(Row { span: name.to_owned(), entity: entity.to_owned(), measure, unit, values, differences });
    };
    for link in worlds[0].links.keys() {
        let of = |f: &dyn Fn(&penstock_scenario::summary::LinkSummary) -> Option<f64>| {
            worlds.iter().map(|w| w.links.get(link).and_then(f)).collect()
        };
        add(link, "utilization", "", of(&|l| Some(l.utilization)));
        add(link, "queue_mean_packets", "packets", of(&|l| Some(l.queue_mean_packets)));
        add(link, "queue_sd_packets", "packets", of(&|l| Some(l.queue_sd_packets)));
        add(link, "price_mean", "s", of(&|l| l.price_mean));
        add(link, "mark_rate", "", of(&|l| (l.arrivals > 0).then(|| l.marks as f64 / l.arrivals as f64)));
        add(link, "drop_rate", "", of(&|l| (l.arrivals > 0).then(|| l.drops as f64 / l.arrivals as f64)));
    }
    for group in worlds[0].groups.keys() {
        let of = |f: &dyn Fn(&penstock_scenario::summary::GroupSummary) -> Option<f64>| {
            worlds.iter().map(|w| w.groups.get(group).and_then(f)).collect()
        };
        add(group, "throughput_packets_per_s", "packets/s", of(&|g| Some(g.throughput_packets_per_s)));
        add(group, "window_mean_packets", "packets", of(&|g| g.window_mean_packets));
        add(group, "rtt_mean_s", "s", of(&|g| g.rtt_mean_s));
        add(group, "jain", "", of(&|g| g.jain));
        let completion = |g: &penstock_scenario::summary::GroupSummary| g.transfers.as_ref()?.completion_mean_s;
        add(group, "completion_mean_s", "s", of(&completion));
    }
    for class in worlds[0].classes.keys() {
        let of = |f: &dyn Fn(&penstock_scenario::summary::ClassSummary) -> Option<f64>| {
            worlds.iter().map(|w| w.classes.get(class).and_then(f)).collect()
        };
        add(class, "offered_bit_per_s", "bit/s", of(&|c| Some(c.offered_bit_per_s)));
        add(class, "served_bit_per_s", "bit/s", of(&|c| Some(c.served_bit_per_s)));
        add(class, "ratio", "", of(&|c| c.ratio));
    }
    for customer in worlds[0].customers.keys() {
        let of = |f: &dyn Fn(&penstock_scenario::summary::CustomerSummary) -> Option<f64>| {
            worlds.iter().map(|w| w.customers.get(customer).and_then(f)).collect()
        };
        add(customer, "throughput_bit_per_s", "bit/s", of(&|c| Some(c.throughput_bit_per_s)));
        add(customer, "in_profile_fraction", "", of(&|c| c.in_profile_fraction));
        add(customer, "bucket_mean_bytes", "B", of(&|c| c.bucket_mean_bytes));
        add(customer, "bucket_sd_bytes", "B", of(&|c| c.bucket_sd_bytes));
        add(customer, "time_full", "", of(&|c| c.time_full));
        add(customer, "time_empty", "", of(&|c| c.time_empty));
    }
}

fn page(cell: &Cell, compared: &Compared, runs: &[(&'static str, Run)], file: &Path) -> Page {
    let mut columns = vec![Column::words("Span"), Column::words("Where"), Column::words("What"), Column::words("Unit")];
    columns.extend(compared.worlds.iter().map(|world| Column::numbers(*world, "")));
    columns.extend(
        compared.worlds[1..].iter().map(|world| Column::numbers(format!("{world} - {}", compared.worlds[0]), "%")),
    );
    let mut table = TableView::new("Each world, and its difference from the first", columns);
    for row in &compared.rows {
        let mut line = vec![row.span.clone(), row.entity.clone(), row.measure.to_owned(), row.unit.to_owned()];
        line.extend(row.values.iter().map(|v| penstock_report::number::significant(*v, 5)));
        line.extend(row.differences.iter().map(|d| d.map_or_else(String::new, |d| format!("{:+.2}", 100.0 * d))));
        table.rows.push(line);
    }
    table.drop_empty_columns();
    let mut differences = Section::new("Differences");
    differences.tables.push(table);
    let mut overlay = Section::new("Overlay");
    for (kind, key, column, what, unit) in [
        ("links", "link", "utilization", "Utilization", ""),
        ("links", "link", "queue_mean_packets", "Queue", "packets"),
        ("links", "link", "price_s", "Price", "s"),
        ("links", "link", "probability", "Mark probability", ""),
        ("groups", "group", "throughput_packets_per_s", "Throughput", "packets/s"),
        ("groups", "group", "window_packets", "Window of a flow", "packets"),
        ("groups", "group", "rtt_s", "Round-trip time", "s"),
        ("classes", "class", "served_bit_per_s", "Served", "bit/s"),
        ("customers", "customer", "bucket_mean_bytes", "Bucket", "B"),
        ("customers", "customer", "probability", "Probability of marking out", ""),
    ] {
        overlay.figures.extend(figures(runs, kind, key, column, what, unit));
    }
    let mut source = Section::new("Scenario");
    source.code.push(penstock_report::page::Code {
        label: "Scenario, with every default".to_owned(),
        text: print(&cell.scenario),
        folded: true,
    });
    Page {
        title: compared.title.clone(),
        subtitle: format!(
            "One scenario in {} worlds: {} compare {}",
            compared.worlds.len(),
            program::name(),
            file.shown()
        ),
        facts: machine::facts(),
        sections: vec![differences, overlay, source],
    }
}

/// One figure an entity: the first world's line as it is, the others dashed over it.
fn figures(runs: &[(&str, Run)], kind: &str, key: &str, column: &str, what: &str, unit: &str) -> Vec<Figure> {
    let Some(first) = runs[0].1.series.iter().find(|t| t.name == kind) else { return Vec::new() };
    names(first, key)
        .into_iter()
        .filter_map(|entity| {
            let mut figure = Figure::new(format!("{what} of {entity}"), Axis::new("Time", "s"), Axis::new(what, unit));
            let colours = palette::assign(&vec![None; runs.len()]);
            for (at, ((world, run), colour)) in runs.iter().zip(colours).enumerate() {
                let points = points(run, kind, key, &entity, column);
                if points.iter().all(|p| p.1 == 0.0) {
                    continue;
                }
                let style = if at == 0 { Style::Solid } else { Style::Dashed };
                figure.lines.push(Line::new(*world, points).coloured(colour).styled(style));
            }
            (figure.lines.len() > 1).then_some(figure)
        })
        .collect()
}

fn names(table: &Table, key: &str) -> Vec<String> {
    table.columns.iter().find(|c| c.name == key).map_or_else(Vec::new, |c| match &c.values {
        Cells::Name { names, .. } => names.clone(),
        _ => Vec::new(),
    })
}

fn points(run: &Run, kind: &str, key: &str, entity: &str, column: &str) -> Vec<(f64, f64)> {
    let Some(table) = run.series.iter().find(|t| t.name == kind) else { return Vec::new() };
    let (Some(time), Some(values)) = (table.number("time_s"), table.number(column)) else { return Vec::new() };
    let Some(Cells::Name { names, rows }) = table.columns.iter().find(|c| c.name == key).map(|c| &c.values) else {
        return Vec::new();
    };
    let wanted = names.iter().position(|n| n == entity);
    rows.iter()
        .zip(time.iter().zip(values))
        .filter(|(row, (_, value))| Some(**row as usize) == wanted && value.is_finite())
        .map(|(_, (t, v))| (*t, *v))
        .collect()
}
