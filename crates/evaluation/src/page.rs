//! The page of an evaluation for people.

mod beside;
mod heat;
mod pictures;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use penstock_report::number::{ABSENT, quantity, short};
use penstock_report::page::{Callout, Code, Column, Page, Section, TableView, Tone};

use crate::criterion::Battery;
use crate::markdown::{
    HOSTS, NOT_SIMULATED, TESTS, TEXTS, amount, asks_for_texts, briefly, deciding, end, in_cell, not_run, of_baseline,
    verdicts, worst_cell,
};
use crate::outcome::{CellOutcome, Evaluation, Measured, Outcome};
use crate::statistics::Verdict;

/// The label of the section that has a second world.
pub const BESIDE: &str = "worlds";

/// The page, with the command that makes it, the facts of the machine, and the scenario of each criterion's worst cell by the
/// criterion's id.
pub fn of(
    evaluation: &Evaluation,
    command: &str,
    facts: &[(String, String)],
    worst: &BTreeMap<String, String>,
) -> Page {
    let mut sections = vec![overview(evaluation)];
    sections.extend(evaluation.beside.as_ref().map(|beside| beside::section(&evaluation.world, beside)));
    sections.extend(evaluation.criteria.iter().map(|outcome| section(evaluation, outcome, worst.get(&outcome.id))));
    if asks_for_texts(evaluation) {
        let mut texts = TableView::new("", ["Section", "Text"].map(Column::words).to_vec());
        texts.rows = TEXTS.iter().map(|(place, what)| vec![(*place).into(), (*what).into()]).collect();
        sections.push(Section { tables: vec![texts], ..Section::new("To be written by the author") });
    }
    sections.push(Section { prose: NOT_SIMULATED.into(), ..Section::new("Not simulated") });
    let code = Code { label: "Command".into(), text: command.into(), folded: false };
    sections.push(Section { code: vec![code], ..Section::new("Reproduce") });
    Page {
        title: format!("Evaluation of {}", evaluation.law),
        subtitle: format!("{}. Beside it: {}.", amount(evaluation), evaluation.baselines.join(", ")),
        facts: facts.to_vec(),
        sections,
    }
}

/// The tables of all criteria, and the pictures that reviewers look for first.
fn overview(evaluation: &Evaluation) -> Section {
    let batteries = [Battery::Sender, Battery::L4s, Battery::Queue];
    let tables = batteries.map(|battery| of_battery(evaluation, battery));
    let tables: Vec<TableView> = tables.into_iter().filter(|table| !table.rows.is_empty()).collect();
    let tone = if evaluation.failed_musts().next().is_none() { Tone::Neutral } else { Tone::Bad };
    Section {
        prose: format!(
            "`{}`, from {}. `meets` and `fails`: the whole 95 % confidence interval keeps the bound, or misses it and survives \
             Holm's correction over the cells of the criterion. `undecided`: neither. `reported`: no bound binds this law. \
             {TESTS} {HOSTS}",
            evaluation.setting, evaluation.source
        ),
        callout: Some(Callout { tone, text: verdicts(evaluation) }),
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
        let worst = outcome.headline();
        row.push(worst.map(|(measured, _)| measured.title.clone()).unwrap_or_default());
        row.push(worst.map(|(measured, cell)| briefly(cell, &shown(measured))).unwrap_or_default());
        for name in &evaluation.baselines {
            row.push(worst.map(|(measured, cell)| of_baseline(cell, name, &shown(measured))).unwrap_or_default());
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

/// A criterion, with the scenario of its worst cell.
fn section(evaluation: &Evaluation, outcome: &Outcome, worst: Option<&String>) -> Section {
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
    if let Some(missing) = not_run(outcome) {
        prose.push_str("\n\n");
        prose.push_str(&missing);
    }
    if let Some(deciding) = deciding(outcome) {
        prose.push_str("\n\n");
        prose.push_str(&deciding);
    }
    Section {
        label: outcome.id.clone(),
        part: outcome.battery.words().to_owned(),
        prose,
        callout: Some(Callout { tone, text }),
        tables: outcome.measures.iter().map(|measured| table(evaluation, measured)).collect(),
        figures: pictures::of_criterion(evaluation, outcome).into_iter().collect(),
        maps: heat::of_criterion(evaluation, outcome),
        code: worst
            .map(|text| Code { label: worst_cell(&outcome.id), text: text.clone(), folded: true })
            .into_iter()
            .collect(),
        ..Section::new(format!("{}: {}", outcome.id, outcome.title))
    }
}

/// A measure in all its cells.
fn table(evaluation: &Evaluation, measured: &Measured) -> TableView {
    let axes: Vec<&String> =
        measured.cells.first().map(|cell| cell.labels.iter().map(|(key, _)| key).collect()).unwrap_or_default();
    let names = &evaluation.baselines;
    let show = shown(measured);
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
    if let Some(why) = &measured.absent {
        let _ = write!(caption, "; runs without it: {why}");
    }
    if measured.cells.iter().any(|cell| cell.drifts) {
        caption += "; * not stationary";
    }
    let mut table = TableView::new(caption, columns);
    table.folded = measured.cells.len() > 24;
    for cell in &measured.cells {
        let value = |axis: &String| cell.labels.iter().find(|(key, _)| key == axis).map(|(_, v)| v.clone());
        let mut row: Vec<String> = axes.iter().map(|axis| value(axis).unwrap_or_default()).collect();
        row.push(format!("{}{}", in_cell(cell, &show), if cell.drifts { " *" } else { "" }));
        row.extend(names.iter().map(|name| of_baseline(cell, name, &show)));
        row.extend(names.iter().map(|name| against(cell, name, measured)));
        if measured.bound.is_some() {
            row.push(match cell.needed {
                _ if cell.control_breaks => "not judged".into(),
                Some(seeds) => format!("{} (about {seeds} seeds)", cell.verdict),
                None if cell.verdict == Verdict::Fails && !cell.survives => "fails (not by Holm's correction)".into(),
                None => cell.verdict.to_string(),
            });
        }
        table.rows.push(row);
    }
    table
}

/// How a number of a measure is shown.
fn shown(measured: &Measured) -> impl Fn(f64) -> String {
    move |x| quantity(x, &measured.unit, 3)
}

/// The law against a baseline, with the interval.
fn against(cell: &CellOutcome, name: &str, measured: &Measured) -> String {
    // Of some seeds alone it would compare the runs that went well.
    let whole =
        cell.runs() == cell.law.seeds.len() && cell.baselines.get(name).is_some_and(|b| b.seeds.len() == cell.runs());
    let Some(against) = cell.against.get(name).filter(|_| whole) else { return ABSENT.to_owned() };
    let ratio = against.scale == crate::Scale::Ratio;
    let one = |x: f64| if ratio { format!("{} times", short(x, 3)) } else { quantity(x, &measured.unit, 3) };
    let equal = if against.equivalent { ", equal within 5 %" } else { "" };
    match against.interval {
        Some((low, high)) if low < high => {
            let mean = against.mean;
            format!("{} ({} to {}){equal}", one(mean), end(low, mean, &one), end(high, mean, &one))
        }
        _ => format!("{}{equal}", one(against.mean)),
    }
}
