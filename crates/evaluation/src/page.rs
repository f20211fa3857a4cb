//! The page of an evaluation for people.

mod beside;
mod pictures;

use std::fmt::Write as _;

use penstock_report::number::{quantity, short};
use penstock_report::page::{Callout, Code, Column, Page, Section, TableView, Tone};

use crate::criterion::Battery;
use crate::markdown::in_cell;
use crate::outcome::{CellOutcome, Evaluation, Measured, Outcome};
use crate::statistics::Verdict;

/// The limits of the runs, so that nobody takes silence for a pass.
const NOT_SIMULATED: &str = "Radio channels and their medium access; signals across layers; receive offload; limits of \
    processors; real applications. Receivers do not cheat.";

/// The label of the section that has a second world.
pub const BESIDE: &str = "worlds";

/// The page, with the command that makes it and the facts of the machine.
pub fn of(evaluation: &Evaluation, command: &str, facts: &[(String, String)]) -> Page {
    let mut sections = vec![overview(evaluation)];
    sections.extend(evaluation.beside.as_ref().map(|beside| beside::section(&evaluation.world, beside)));
    sections.extend(evaluation.criteria.iter().map(|outcome| section(evaluation, outcome)));
    sections.push(Section { prose: NOT_SIMULATED.into(), ..Section::new("Not simulated") });
    let code = Code { label: "Command".into(), text: command.into(), folded: false };
    sections.push(Section { code: vec![code], ..Section::new("Reproduce") });
    Page {
        title: format!("Evaluation of {}", evaluation.law),
        subtitle: format!(
            "{} runs in the {} world, {} seeds a cell. Beside it: {}.",
            evaluation.runs,
            evaluation.world,
            evaluation.scope().seeds(),
            evaluation.baselines.join(", ")
        ),
        facts: facts.to_vec(),
        sections,
    }
}

/// The tables of all criteria, and the pictures that reviewers look for first.
fn overview(evaluation: &Evaluation) -> Section {
    let batteries = [Battery::Sender, Battery::L4s, Battery::Queue];
    let tables = batteries.map(|battery| of_battery(evaluation, battery));
    let tables: Vec<TableView> = tables.into_iter().filter(|table| !table.rows.is_empty()).collect();
    let counts = evaluation.counted();
    let musts: Vec<&str> = evaluation.failed_musts().map(|outcome| outcome.id.as_str()).collect();
    let callout = if musts.is_empty() {
        Callout { tone: Tone::Neutral, text: format!("{counts}.") }
    } else {
        let text = format!("{counts}. Requirements of a document that the law fails: {}.", musts.join(", "));
        Callout { tone: Tone::Bad, text }
    };
    Section {
        prose: format!(
            "`{}`, from {}. `meets` and `fails`: the whole 95 % confidence interval keeps the bound, or misses it and survives \
             Holm's correction over the cells. `undecided`: neither. `reported`: the document has no bound.",
            evaluation.setting, evaluation.source
        ),
        callout: Some(callout),
        tables,
        figures: pictures::first(evaluation),
        ..Section::new("Criteria")
    }
}

/// The criteria of one battery.
fn of_battery(evaluation: &Evaluation, battery: Battery) -> TableView {
    let mut columns = vec![
        Column::words(""),
        Column::words("Criterion"),
        Column::words("Document"),
        Column::words("Level"),
        Column::verdicts("Verdict"),
        Column::words("Measure"),
        Column::words(evaluation.law.clone()),
    ];
    columns.extend(evaluation.baselines.iter().map(|name| Column::words(name.clone())));
    columns.push(Column::words("In the worst cell"));
    let mut table = TableView::new(battery.words(), columns);
    for outcome in evaluation.criteria.iter().filter(|outcome| outcome.battery == battery) {
        let mut row = vec![
            outcome.id.clone(),
            outcome.title.clone(),
            outcome.place(),
            outcome.level.clone(),
            outcome.verdict.to_string(),
        ];
        let main = outcome.measures.first();
        row.push(main.map(|measured| measured.title.clone()).unwrap_or_default());
        let worst = main.and_then(|measured| Some((measured, measured.cells.get(measured.worst_cell)?)));
        row.push(worst.map(|(measured, cell)| in_cell(cell, &measured.unit)).unwrap_or_default());
        for name in &evaluation.baselines {
            let theirs =
                worst.and_then(|(measured, cell)| Some(quantity(cell.baselines.get(name)?.mean, &measured.unit, 3)));
            row.push(theirs.unwrap_or_default());
        }
        row.push(match (&outcome.why, worst) {
            (Some(why), _) => why.clone(),
            (None, Some((_, cell))) => cell.words(),
            (None, None) => String::new(),
        });
        table.rows.push(row);
    }
    table
}

/// A criterion.
fn section(evaluation: &Evaluation, outcome: &Outcome) -> Section {
    let tone = match outcome.verdict {
        Verdict::Meets => Tone::Good,
        Verdict::Fails => Tone::Bad,
        _ => Tone::Neutral,
    };
    let text = match &outcome.why {
        Some(why) => format!("{}: {why}", outcome.verdict),
        None => outcome.verdict.to_string(),
    };
    let mut prose = format!("{}: {}", outcome.weight(), outcome.requirement);
    if !outcome.notes.is_empty() {
        prose.push_str("\n\n");
        prose.push_str(&outcome.notes);
    }
    Section {
        label: outcome.id.clone(),
        part: outcome.battery.words().to_owned(),
        prose,
        callout: Some(Callout { tone, text }),
        tables: outcome.measures.iter().map(table).collect(),
        figures: pictures::of_criterion(evaluation, outcome).into_iter().collect(),
        ..Section::new(format!("{}: {}", outcome.id, outcome.title))
    }
}

/// A measure in all its cells.
fn table(measured: &Measured) -> TableView {
    let axes: Vec<&String> =
        measured.cells.first().map(|cell| cell.labels.iter().map(|(key, _)| key).collect()).unwrap_or_default();
    let names: Vec<&String> = measured.cells.first().map(|cell| cell.baselines.keys().collect()).unwrap_or_default();
    let mut columns: Vec<Column> =
        axes.iter().map(|axis| Column::words(axis.rsplit('.').next().unwrap_or(axis).to_owned())).collect();
    columns.push(Column::words("Law"));
    columns.extend(names.iter().map(|name| Column::words(name.as_str())));
    columns.extend(names.iter().map(|name| Column::words(format!("Law against {name}"))));
    if measured.bound.is_some() {
        columns.push(Column::verdicts("Verdict"));
    }
    let mut caption = measured.title.clone();
    if let (Some(bound), Some(source)) = (&measured.bound, &measured.source) {
        let _ = write!(caption, ": {bound} ({source})");
    }
    if measured.cells.iter().any(|cell| cell.drifts) {
        caption += "; * not stationary";
    }
    let mut table = TableView::new(caption, columns);
    table.folded = measured.cells.len() > 24;
    for cell in &measured.cells {
        let value = |axis: &String| cell.labels.iter().find(|(key, _)| key == axis).map(|(_, v)| v.clone());
        let mut row: Vec<String> = axes.iter().map(|axis| value(axis).unwrap_or_default()).collect();
        row.push(format!("{}{}", shown(cell, measured), if cell.drifts { " *" } else { "" }));
        row.extend(
            names
                .iter()
                .map(|name| cell.baselines.get(*name).map(|n| quantity(n.mean, &measured.unit, 3)).unwrap_or_default()),
        );
        row.extend(names.iter().map(|name| against(cell, name, measured)));
        if measured.bound.is_some() {
            row.push(match cell.needed {
                Some(seeds) => format!("{} (about {seeds} seeds)", cell.verdict),
                None => cell.verdict.to_string(),
            });
        }
        table.rows.push(row);
    }
    table
}

/// The number of the law in a cell; each seed's, if the mean describes none.
fn shown(cell: &CellOutcome, measured: &Measured) -> String {
    if cell.law.bimodal {
        let seeds: Vec<String> = cell.law.seeds.iter().map(|x| quantity(*x, &measured.unit, 3)).collect();
        let mut text = format!("seeds: {}", seeds.join(", "));
        if let Some((low, high)) = cell.law.bootstrap {
            let _ =
                write!(text, "; mean {} to {}", quantity(low, &measured.unit, 3), quantity(high, &measured.unit, 3));
        }
        return text;
    }
    in_cell(cell, &measured.unit)
}

/// The law against a baseline, with the interval.
fn against(cell: &CellOutcome, name: &str, measured: &Measured) -> String {
    let Some(against) = cell.against.get(name) else { return String::new() };
    let ratio = against.scale == crate::Scale::Ratio;
    let one = |x: f64| if ratio { format!("{} times", short(x, 3)) } else { quantity(x, &measured.unit, 3) };
    let equal = if against.equivalent { ", equal within 5 %" } else { "" };
    match against.interval {
        Some((low, high)) if low < high => format!("{} ({} to {}){equal}", one(against.mean), one(low), one(high)),
        _ => format!("{}{equal}", one(against.mean)),
    }
}
