//! The page of runs laid over each other: their differences, their numbers, and one curve over the other.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use penstock_law::Registry;
use penstock_scenario::text;
use penstock_scenario::world::{Kind, Table};

use crate::assemble::cases::{Case, Cases, Ran};
use crate::assemble::difference::{Compared, Estimate};
use crate::assemble::rows::{entities, numbers};
use crate::assemble::series::Words;
use crate::assemble::sweep::{CellView, SweepView, of_sweep};
use crate::assemble::{law_colour, measures, overview, series};
use crate::figure::{Axis, Figure, Line, Style};
use crate::number::unit_of;
use crate::page::{Column, Page, Section, TableView};
use crate::palette;

/// Runs, as a page shows them.
#[derive(Debug, Clone, Copy)]
pub struct ShowView<'a> {
    /// The title of the page.
    pub title: &'a str,
    /// The runs.
    pub runs: &'a [Ran<'a>],
    /// The same, sorted.
    pub cases: &'a Cases,
    /// Their numbers.
    pub differences: &'a [Compared],
    /// Where the page comes from.
    pub header: &'a [(String, String)],
    /// The laws that may be named.
    pub registry: &'a Registry,
}

/// With more cases than this a table has a row for each.
const WIDE: usize = 4;
/// More curves than this in one figure cannot be distinguished.
const MOST: usize = 24;
/// More links or groups than this have no figures of their own.
const ENTITIES: usize = 8;
/// Tables over time, and the key of their entities.
const KINDS: [&str; 4] = ["links", "groups", "classes", "customers"];

/// The differences, their sizes, and the curves over each other.
pub fn of_show(view: &ShowView<'_>) -> Page {
    let ShowView { runs, cases, .. } = *view;
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let copies: usize = cases.cases.iter().map(|case| case.copies.len()).sum();
    let mut page = Page {
        title: view.title.to_owned(),
        subtitle: format!("{} in {}", count(runs.len() - copies, "run"), count(cases.cases.len(), "case")),
        facts: view.header.to_vec(),
        sections: Vec::new(),
    };
    let mut differs = Section::new("Differences of the scenarios");
    differs.tables.push(keys_table(cases));
    let differ = match (cases.cases.len(), cases.keys.len()) {
        (1, _) => "All runs are of one scenario, but for their seeds.".to_owned(),
        (_, 0) => String::new(),
        (_, n) => {
            let differ = if n == 1 { "differs" } else { "differ" };
            format!("{} {differ} between the scenarios; all others are equal, or at their defaults.", count(n, "key"))
        }
    };
    let again = match copies {
        0 => String::new(),
        1 => "One run has the seed and the measurements of another one, and counts once with it.".to_owned(),
        n => format!("{n} runs have the seed and the measurements of another one, and count once with it."),
    };
    differs.prose = [differ, again].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    page.sections.push(differs);
    let mut numbers = Section::new("Differences of the measurements");
    let flows = measures::flows_compared(runs.iter().map(|run| run.summary));
    numbers.tables.push(differences_table(cases, view.differences, &flows));
    "With several seeds, \u{b1} is half of the 95 % confidence interval for the mean (Student\u{2019}s t). A number without \u{b1} \
                     is of one run, or the same in all. A difference is taken seed by seed where both cases have the same seeds, else \
                     by Welch\u{2019}s approximation."
        .clone_into(&mut numbers.prose);
    page.sections.push(numbers);
    page.sections.extend(overlays(view));
    page.sections.extend(charts(view));
    page
}

/// Only the differences: a row a key, or with many cases a row a case.
fn keys_table(cases: &Cases) -> TableView {
    let Cases { keys, cases, .. } = cases;
    let seeds = |case: &Case| case.runs.len().to_string();
    if cases.len() <= WIDE {
        let mut table = TableView::new("Keys that differ", vec![Column::words("Key")]);
        table.columns.extend(cases.iter().map(|case| Column::words(case.name.as_str())));
        for key in keys {
            table.rows.push(
                std::iter::once(key.as_str()).chain(cases.iter().map(|c| c.value(key))).map(str::to_owned).collect(),
            );
        }
        table.rows.push(std::iter::once("runs".to_owned()).chain(cases.iter().map(seeds)).collect());
        return table;
    }
    let mut table = TableView::new("Keys that differ", vec![Column::words("Case")]);
    table.columns.extend(keys.iter().map(|key| Column::words(key.as_str())));
    table.columns.push(Column::numbers("runs", ""));
    for case in cases {
        let values = keys.iter().map(|key| case.value(key).to_owned());
        table.rows.push(std::iter::once(case.name.clone()).chain(values).chain([seeds(case)]).collect());
    }
    table
}

/// Each number with its interval, and its difference from that of the first case. `flows` says which flows those of several
/// groups are.
fn differences_table(cases: &Cases, rows: &[Compared], flows: &str) -> TableView {
    let first = cases.cases.first().map_or("", |case| case.name.as_str());
    let mut table = TableView::new("", vec![Column::words("Where"), Column::words("What")]);
    let wide = cases.cases.len() <= WIDE;
    if wide {
        table.columns.extend(cases.cases.iter().map(|case| Column::numbers(case.name.as_str(), "")));
        let less = |case: &Case| Column::numbers(format!("{} \u{2212} {first}", case.name), "");
        table.columns.extend(cases.cases.iter().skip(1).map(less));
    } else {
        table.columns.extend([
            Column::words("Case"),
            Column::numbers("Value", ""),
            Column::numbers(format!("Less {first}"), ""),
            Column::numbers("Relative", "%"),
        ]);
    }
    for row in rows {
        let values = printed(row, &row.values);
        let differences = printed(row, &row.differences);
        let head = [if row.of.is_empty() { flows.to_owned() } else { row.of.clone() }, named(row)];
        if wide {
            let mut line = head.to_vec();
            line.extend(values);
            line.extend(differences.into_iter().skip(1));
            table.rows.push(line);
            continue;
        }
        for (at, case) in cases.cases.iter().enumerate().filter(|(at, _)| row.values[*at].is_some()) {
            let mut line = head.to_vec();
            line.extend([case.name.clone(), values[at].clone(), differences[at].clone(), relative(row, at)]);
            table.rows.push(line);
        }
    }
    table
}

fn named(row: &Compared) -> String {
    let (column, _) = measures::interval_column(row.measure, row.unit, &means(&row.values), &[]);
    if column.unit.is_empty() { column.name } else { format!("{} [{}]", column.name, column.unit) }
}

fn means(estimates: &[Option<Estimate>]) -> Vec<Option<f64>> {
    estimates.iter().map(|estimate| estimate.map(|e| e.mean)).collect()
}

/// Estimates with one prefix, that of the values of the row.
fn printed(row: &Compared, estimates: &[Option<Estimate>]) -> Vec<String> {
    let halves: Vec<Option<f64>> = estimates.iter().map(|estimate| estimate.and_then(|e| e.half_width_95)).collect();
    measures::in_unit_of(row.unit, &means(&row.values), &means(estimates), &halves)
}

fn relative(row: &Compared, at: usize) -> String {
    let first = row.values[0].map(|e| e.mean).filter(|mean| *mean != 0.0);
    match (first, row.differences[at]) {
        (Some(first), Some(difference)) => {
            format!("{:+.1}", 100.0 * difference.mean / first.abs()).replace('-', "\u{2212}")
        }
        _ => String::new(),
    }
}

/// A mean of each case with its interval, as a sweep over cases has it, or over a number that was swept. A single case has
/// nothing beside it.
fn charts(view: &ShowView<'_>) -> Vec<Section> {
    let cells: Vec<CellView<'_>> = view
        .cases
        .cases
        .iter()
        .flat_map(|case| case.runs.iter().map(move |at| (case, &view.runs[*at])))
        .map(|(case, run)| {
            let mut labels = IndexMap::from([("seed".to_owned(), run.summary.seed.to_string())]);
            let name = if let Some((key, line)) = view.cases.along.as_ref().zip(case.line.as_ref()) {
                labels.insert(key.clone(), case.value(key).to_owned());
                line
            } else {
                &case.name
            };
            if !name.is_empty() {
                labels.insert("case".to_owned(), name.clone());
            }
            CellView { labels, law: law_of(run), summary: run.summary }
        })
        .collect();
    if view.cases.cases.len() < 2 {
        return Vec::new();
    }
    let page = of_sweep(&SweepView {
        title: "",
        cells: &cells,
        scenario_text: "",
        command: "",
        header: &[],
        registry: view.registry,
    });
    page.sections.into_iter().filter(|section| !section.figures.is_empty()).collect()
}

/// The law of a run whose flows all have one.
fn law_of(run: &Ran<'_>) -> Option<String> {
    let (_, first) = run.laws.first()?;
    run.laws.iter().all(|(_, law)| law == first).then(|| first.clone())
}

/// A curve of one case.
struct Curve {
    case: usize,
    points: Vec<(f64, f64)>,
}

/// A figure for each number of each link and group over time, with a curve a case: the run of its first seed.
fn overlays(view: &ShowView<'_>) -> Option<Section> {
    let cases = &view.cases.cases;
    let firsts: Vec<(usize, &Ran<'_>)> =
        cases.iter().enumerate().filter_map(|(at, case)| Some((at, &view.runs[*case.runs.first()?]))).collect();
    let mut section = Section::new("Over time");
    if firsts.len() > MOST {
        section.prose = format!("Not drawn: there are {} cases, and at most {MOST} are drawn.", firsts.len());
        return Some(section);
    }
    let wanted: Vec<Option<String>> = firsts.iter().map(|(_, run)| law_of(run)).collect();
    let wanted: Vec<Option<&str>> =
        wanted.iter().map(|law| law.as_ref().and_then(|law| law_colour(view.registry, law))).collect();
    let ends: Vec<f64> = firsts.iter().map(|(_, run)| text::warm_up_s(run.scenario_text)).collect();
    let warm_up_s = ends.first().copied().filter(|end| *end > 0.0 && ends.iter().all(|other| other == end));
    let look = Look { view, colours: palette::assign(&wanted), warm_up_s };
    section.figures.extend(look.delays(&firsts));
    for kind in KINDS {
        section.figures.extend(look.columns(kind, &firsts));
    }
    if cases.iter().any(|case| case.runs.len() > 1) {
        "Of each case the run of its first seed.".clone_into(&mut section.prose);
    }
    (!section.figures.is_empty()).then_some(section)
}

struct Look<'a> {
    view: &'a ShowView<'a>,
    colours: Vec<String>,
    /// The end of the warm-up, if all cases have the same.
    warm_up_s: Option<f64>,
}

/// Curves of one number, and the laws of the runs that have it.
#[derive(Default)]
struct Overlay {
    laws: BTreeSet<String>,
    curves: Vec<Curve>,
}

impl Look<'_> {
    /// A figure of one number of one link or group; none if only one case has it.
    fn figure(&self, title: &str, [x, y]: [Axis; 2], style: Style, curves: Vec<Curve>) -> Option<Figure> {
        let drawn = |curve: &Curve| curve.points.iter().any(|p| p.1.is_finite());
        if curves.iter().all(|curve| curve.points.iter().all(|p| p.1 == 0.0 || !p.1.is_finite())) {
            return None;
        }
        let mut figure = Figure::new(title, x, y);
        for Curve { case, points } in curves.into_iter().filter(drawn) {
            // After the colours of the palette, dashes.
            let style = if case >= palette::PALETTE.len() && style == Style::Solid { Style::Dashed } else { style };
            let name = self.view.cases.cases[case].name.as_str();
            figure.lines.push(Line::new(name, points).coloured(self.colours[case].as_str()).styled(style));
        }
        if figure.x.unit == "s" && figure.x.label == "Time" {
            figure.warm_up = self.warm_up_s;
        }
        (!figure.is_empty()).then_some(figure)
    }

    /// Queueing delay of each link, over time and as a distribution.
    fn delays(&self, firsts: &[(usize, &Ran<'_>)]) -> Vec<Figure> {
        let mut links: IndexMap<String, [Vec<Curve>; 2]> = IndexMap::new();
        for (case, run) in firsts {
            let Some(table) = run.series.iter().find(|table| table.name == "links") else { continue };
            for (link, [delay, share]) in overview::waiting(run.summary, table, text::warm_up_s(run.scenario_text)) {
                let [over_time, shares] = links.entry(link).or_default();
                over_time.push(Curve { case: *case, points: delay });
                shares.push(Curve { case: *case, points: share });
            }
        }
        let delay = || Axis::new("Queueing delay", "s");
        let both = |(link, [over_time, shares]): (String, [Vec<Curve>; 2])| {
            let time = [Axis::new("Time", "s"), delay()];
            let over_time = self.figure(&format!("Queueing delay of {link}"), time, Style::Solid, over_time);
            let share = [delay(), Axis::new("Share", "").between(0.0, 1.0)];
            let title = format!("Distribution of the queueing delay of {link}");
            over_time.into_iter().chain(self.figure(&title, share, Style::Steps, shares))
        };
        links.into_iter().take(ENTITIES).flat_map(both).collect()
    }

    /// Every other number of the tables of one kind.
    fn columns(&self, kind: &str, firsts: &[(usize, &Ran<'_>)]) -> Vec<Figure> {
        let mut found: IndexMap<(String, String), Overlay> = IndexMap::new();
        for (case, run) in firsts {
            let Some(table) = run.series.iter().find(|table| table.name == kind) else { continue };
            let laws = text::law_names(run.scenario_text);
            for column in
                table.columns.iter().filter(|column| column.kind != Kind::Key && is_shown(table, &column.name))
            {
                if numbers(&column.values).is_empty() {
                    continue;
                }
                for (entity, points) in overview::curves(table, &column.name) {
                    let overlay = found.entry((entity, column.name.clone())).or_default();
                    overlay.laws.extend(laws.iter().cloned());
                    overlay.curves.push(Curve { case: *case, points });
                }
            }
        }
        let mut entities: Vec<String> = Vec::new();
        for (entity, _) in found.keys().filter(|(entity, _)| !entity.ends_with("/back")) {
            if !entities.contains(entity) {
                entities.push(entity.clone());
            }
        }
        entities.truncate(ENTITIES);
        let figure = |((entity, column), Overlay { laws, curves }): ((String, String), Overlay)| {
            let laws: Vec<String> = laws.into_iter().collect();
            let words = Words::of(&column, kind, &laws, self.view.registry);
            let axes = [Axis::new("Time", "s"), Axis::new(words.axis(&column), unit_of(&column).1)];
            let mut figure = self.figure(&format!("{} of {entity}", words.title), axes, Style::Solid, curves)?;
            if column == series::SHARED {
                figure.lines.extend(common_capacity(&entity, kind, firsts));
            }
            Some(figure.captioned(words.sentence.trim_end()))
        };
        found.into_iter().filter(|((entity, _), _)| entities.contains(entity)).filter_map(figure).collect()
    }
}

/// The capacity of a link, if all runs have the same.
fn common_capacity(link: &str, kind: &str, firsts: &[(usize, &Ran<'_>)]) -> Option<Line> {
    let capacity = |(_, run): &(usize, &Ran<'_>)| {
        let table = run.series.iter().find(|table| table.name == kind)?;
        let time = table.number("time_s")?;
        let rows: Vec<_> = entities(table, time.len()).into_iter().filter(|(name, _)| name == link).collect();
        let rates: Vec<_> = text::rates(run.scenario_text).into_iter().collect();
        series::capacities(table, &rows, time, &rates).pop()
    };
    let mut lines = firsts.iter().map(capacity);
    let first = lines.next()??;
    let near = |a: f64, b: f64| (a - b).abs() <= 0.01 * a.abs().max(b.abs());
    let alike = |other: &Line| {
        let pairs = || first.points.iter().zip(&other.points);
        first.points.len() == other.points.len() && pairs().all(|(a, b)| near(a.1, b.1) && near(a.0, b.0))
    };
    lines.all(|other| other.as_ref().is_some_and(alike)).then_some(first)
}

/// Whether a column is not shown by another one.
fn is_shown(table: &Table, name: &str) -> bool {
    let share = name == "utilization" && table.number("throughput_bit_per_s").is_some();
    !share && !series::is_average_shown(table, name) && !series::is_rate_again(table, name)
}
