//! The page of a sweep: one chart a measure over the swept keys, one line a case, with the interval that seeds give.

use std::fmt::Write;

use indexmap::IndexMap;
use penstock_law::Registry;
use penstock_scenario::interval::half_width_95;
use penstock_scenario::summary::Summary;

use crate::assemble::measures::{self, Measure};
use crate::assemble::series::inside;
use crate::assemble::{command_code, law_colour, law_in, scenario_code};
use crate::figure::{Axis, Figure, Line, Scale, Style, Tick};
use crate::number::{parse, unit_of, words};
use crate::page::{Column, Page, Section, TableView};
use crate::palette;

/// A sweep, as a page shows it.
#[derive(Debug, Clone, Copy)]
pub struct SweepView<'a> {
    /// The scenario's title.
    pub title: &'a str,
    /// Its cells.
    pub cells: &'a [CellView<'a>],
    /// The scenario as it was written, sweep included.
    pub scenario_text: &'a str,
    /// The command that runs it again.
    pub command: &'a str,
    /// Where it comes from: version, machine.
    pub header: &'a [(String, String)],
    /// The laws that it may name.
    pub registry: &'a Registry,
}

/// One cell of a sweep.
#[derive(Debug, Clone)]
pub struct CellView<'a> {
    /// Swept keys and their values here, as printed: `links.bottleneck.rate` is `622 Mbit/s`, `case` is `FAST`, `seed` is
    /// `1`.
    pub labels: IndexMap<String, String>,
    /// The law whose colour its line has; if none, the one that `case` starts with.
    pub law: Option<String>,
    /// Its numbers.
    pub summary: &'a Summary,
}

/// Charts of the headline measures of each link and group, then tables of all cells.
pub fn of_sweep(view: &SweepView<'_>) -> Page {
    let plan = Plan::new(view.cells, view.registry);
    let mut page = Page {
        title: view.title.to_owned(),
        subtitle: plan.subtitle(view.cells.len()),
        facts: view.header.to_vec(),
        sections: Vec::new(),
    };
    let links = names(view.cells, |s| s.whole.links.keys());
    let groups = names(view.cells, |s| s.whole.groups.keys());
    for link in links.iter().filter(|n| n.strip_suffix("/back").is_none_or(|forth| !links.iter().any(|l| l == forth))) {
        let of = |s: &Summary, m: &Measure<_>| s.whole.links.get(link).and_then(m.of);
        page.sections.extend(plan.section(&format!("Link {link}"), view.cells, measures::LINK, of));
    }
    for group in &groups {
        let of = |s: &Summary, m: &Measure<_>| s.whole.groups.get(group).and_then(m.of);
        page.sections.extend(plan.section(&format!("Flows {group}"), view.cells, measures::GROUP, of));
    }
    let fairness = Measure::fairness();
    let of = |s: &Summary, m: &Measure<Summary>| (m.of)(s);
    if groups.len() > 1 {
        let flows = measures::flows_compared(view.cells.iter().map(|cell| cell.summary));
        page.sections.extend(plan.section(&capital(&flows), view.cells, std::slice::from_ref(&fairness), of));
    }

    let mut all = Section::new("Numbers");
    let mut every = Vec::new();
    for link in links.iter().filter(|l| !l.ends_with("/back")) {
        let find = |s: &Summary| s.whole.links.get(link).cloned();
        all.tables.push(plan.means(&format!("Link {link}"), view.cells, measures::LINK, find));
        every.push(plan.every(&format!("Link {link}"), view.cells, measures::LINK, find));
    }
    for group in &groups {
        let find = |s: &Summary| s.whole.groups.get(group).cloned();
        all.tables.push(plan.means(&format!("Flows {group}"), view.cells, measures::GROUP, find));
        every.push(plan.every(&format!("Flows {group}"), view.cells, measures::GROUP, find));
    }
    all.tables.extend(every);
    page.sections.push(all);

    let mut source = Section::new("Scenario");
    source.code = command_code(view.command);
    source.code.extend(scenario_code(view.scenario_text));
    if let Some(code) = source.code.last_mut().filter(|c| c.folded) {
        "Scenario, with its sweep".clone_into(&mut code.label);
    }
    if !source.code.is_empty() {
        page.sections.push(source);
    }
    page
}

/// The keys of the axis, the lines, and the bands.
struct Plan {
    across: Across,
    seeds: usize,
    keys: Vec<String>,
    cases: IndexMap<String, String>,
}

enum Across {
    /// A number with its unit.
    Number { key: String, unit: &'static str, values: Vec<f64> },
    /// Nothing was swept but cases: each has a position of its own.
    Cases,
}

impl Plan {
    fn new(cells: &[CellView<'_>], registry: &Registry) -> Self {
        let mut keys: Vec<String> = Vec::new();
        for key in cells.iter().flat_map(|c| c.labels.keys()) {
            if !keys.contains(key) {
                keys.push(key.clone());
            }
        }
        let across = keys
            .iter()
            .filter(|k| *k != "seed" && *k != "case")
            .filter_map(|k| number_axis(cells, k))
            .fold(None::<(String, &'static str, Vec<f64>)>, |best, this| match best {
                Some(best) if best.2.len() >= this.2.len() => Some(best),
                _ => Some(this),
            })
            .map_or(Across::Cases, |(key, unit, values)| Across::Number { key, unit, values });
        let mut seeds: Vec<&String> = cells.iter().filter_map(|c| c.labels.get("seed")).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let mut plan = Self { across, seeds: seeds.len(), keys, cases: IndexMap::new() };
        let mut laws: IndexMap<String, Option<&str>> = IndexMap::new();
        for cell in cells {
            let law = cell.law.as_deref().or_else(|| cell.labels.get("case").and_then(|c| law_in(registry, c)));
            laws.entry(plan.case(cell)).or_insert(law.and_then(|law| law_colour(registry, law)));
        }
        let wanted: Vec<Option<&str>> = laws.values().copied().collect();
        plan.cases = laws.into_keys().zip(palette::assign(&wanted)).collect();
        plan
    }

    /// The line a cell belongs to: every swept key but that of the axis and the seed.
    fn case(&self, cell: &CellView<'_>) -> String {
        let across = match &self.across {
            Across::Number { key, .. } => Some(key.as_str()),
            Across::Cases => None,
        };
        let others = cell.labels.iter().filter(|(k, _)| Some(k.as_str()) != across && *k != "seed");
        let part = |(k, v): (&String, &String)| {
            if k == "case" || parse(v).is_none_or(|(_, unit)| !unit.is_empty()) {
                v.clone()
            } else {
                format!("{} {v}", short_key(k))
            }
        };
        others.map(part).collect::<Vec<_>>().join(", ")
    }

    fn subtitle(&self, cells: usize) -> String {
        let swept: Vec<String> =
            self.keys.iter().filter(|k| *k != "seed" && *k != "case").map(|k| inside(&key_words(k))).collect();
        let mut text = format!("A sweep of {cells} {}", if cells == 1 { "run" } else { "runs" });
        if !swept.is_empty() {
            let _ = write!(text, " over {}", swept.join(", "));
        }
        if self.cases.len() > 1 {
            let _ = write!(text, ", {} cases", self.cases.len());
        }
        if self.seeds > 1 {
            let _ = write!(text, ", {} seeds each", self.seeds);
        }
        text
    }

    fn section<T>(
        &self,
        heading: &str,
        cells: &[CellView<'_>],
        measures: &[Measure<T>],
        of: impl Fn(&Summary, &Measure<T>) -> Option<f64>,
    ) -> Option<Section> {
        let mut section = Section::new(heading);
        let mut zero = Vec::new();
        for measure in measures.iter().filter(|m| m.headline) {
            let values: Vec<Option<f64>> = cells.iter().map(|c| of(c.summary, measure)).collect();
            if values.iter().flatten().all(|v| !v.is_finite()) {
                continue;
            }
            if values.iter().flatten().all(|v| *v == 0.0) {
                zero.push(measure.name.to_lowercase());
                continue;
            }
            section.figures.push(self.figure(measure.name, measure.unit, cells, &values));
        }
        if !zero.is_empty() {
            section.prose = format!("Not drawn, because zero everywhere: {}.", zero.join(", "));
        }
        (!section.figures.is_empty() || !section.prose.is_empty()).then_some(section)
    }

    fn figure(&self, name: &str, unit: &str, cells: &[CellView<'_>], values: &[Option<f64>]) -> Figure {
        let x = self.axis();
        let mut y = Axis::new(name, unit);
        // What grows with a swept capacity would hide its beginning.
        let most = values.iter().flatten().fold(0.0_f64, |m, v| m.max(*v));
        if x.scale == Scale::Log
            && values.iter().flatten().all(|v| *v > 0.0 && most / *v < 1e6)
            && values.iter().flatten().any(|v| most / *v > 20.0)
        {
            y = y.log();
        }
        let mut figure = Figure::new(name, x, y);
        if self.seeds > 1 {
            figure.caption = format!(
                "Mean over {} seeds; the {} is the 95 % confidence interval for the mean (Student\u{2019}s t).",
                self.seeds,
                if matches!(self.across, Across::Cases) { "bar" } else { "band" }
            );
        }
        for (i, (case, colour)) in self.cases.iter().enumerate() {
            let mut points: Vec<(f64, f64)> = cells
                .iter()
                .zip(values)
                .filter(|(c, _)| self.case(c) == *case)
                .filter_map(|(c, v)| Some((self.place(c, i)?, (*v)?)))
                .filter(|p| p.1.is_finite())
                .collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (mut mean, mut band, mut range) = (Vec::new(), Vec::new(), Vec::new());
            for at in points.chunk_by(|a, b| a.0 == b.0) {
                let values: Vec<f64> = at.iter().map(|p| p.1).collect();
                let middle = self::mean(&values);
                mean.push((at[0].0, middle));
                // A point of one seed has no interval, and breaks the band.
                let half = half_width_95(&values).unwrap_or(f64::NAN);
                band.push((at[0].0, middle - half, middle + half));
                let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
                range.push((at[0].0, low, high));
            }
            let style = if matches!(self.across, Across::Cases) { Style::Points } else { Style::Solid };
            // Cases that stand on the axis need no legend.
            let name = if style == Style::Points { "" } else { case.as_str() };
            let mut line = Line::new(name, mean).coloured(colour.clone()).styled(style);
            if band.iter().any(|b| b.1.is_finite()) {
                line = line.banded(band).ranged(range);
            }
            figure.lines.push(line);
        }
        figure
    }

    fn axis(&self) -> Axis {
        match &self.across {
            Across::Number { key, unit, values } => {
                let axis = Axis::new(key_words(key), *unit);
                let axis = if values.len() <= 12 { axis.ticks_at(values.iter().copied()) } else { axis };
                let (low, high) = (values[0], values[values.len() - 1]);
                if low > 0.0 && high / low >= 8.0 && values.len() >= 3 { axis.log() } else { axis }
            }
            Across::Cases => {
                let mut axis = Axis::new("", "").between(-0.5, self.cases.len() as f64 - 0.5);
                let tick = |(i, name): (usize, &String)| Tick {
                    at: i as f64,
                    label: Some(if name.is_empty() { "all".to_owned() } else { name.clone() }),
                };
                axis.ticks = self.cases.keys().enumerate().map(tick).collect();
                axis
            }
        }
    }

    fn place(&self, cell: &CellView<'_>, case: usize) -> Option<f64> {
        match &self.across {
            Across::Number { key, .. } => cell.labels.get(key).and_then(|v| parse(v)).map(|(v, _)| v),
            Across::Cases => Some(case as f64),
        }
    }

    /// Every number of every cell.
    fn every<T>(
        &self,
        caption: &str,
        cells: &[CellView<'_>],
        measures: &[Measure<T>],
        find: impl Fn(&Summary) -> Option<T>,
    ) -> TableView {
        let found: Vec<(&CellView<'_>, T)> = cells.iter().filter_map(|c| Some((c, find(c.summary)?))).collect();
        let things: Vec<&T> = found.iter().map(|(_, t)| t).collect();
        let (columns, rows) = measures::cells(measures, &things);
        let labelled = found.iter().map(|(c, _)| *c).zip(rows);
        let mut view = table(format!("{caption}: all values of all runs"), &self.keys, columns, labelled);
        view.folded = true;
        view
    }

    /// The headline measures, averaged over seeds, with how well each mean is known.
    fn means<T>(
        &self,
        caption: &str,
        cells: &[CellView<'_>],
        measures: &[Measure<T>],
        find: impl Fn(&Summary) -> Option<T>,
    ) -> TableView {
        let keys: Vec<String> = self.keys.iter().filter(|k| *k != "seed").cloned().collect();
        let mut alike: IndexMap<Vec<Option<&String>>, (&CellView<'_>, Vec<T>)> = IndexMap::new();
        for cell in cells {
            if let Some(thing) = find(cell.summary) {
                let labels = keys.iter().map(|k| cell.labels.get(k)).collect();
                alike.entry(labels).or_insert_with(|| (cell, Vec::new())).1.push(thing);
            }
        }
        let (mut columns, mut rows) = (Vec::new(), vec![Vec::new(); alike.len()]);
        for measure in measures.iter().filter(|m| m.headline) {
            let finite = |things: &Vec<T>| -> Vec<f64> {
                things.iter().filter_map(|t| (measure.of)(t)).filter(|v| v.is_finite()).collect()
            };
            let values: Vec<Vec<f64>> = alike.values().map(|(_, things)| finite(things)).collect();
            let means: Vec<Option<f64>> = values.iter().map(|v| (!v.is_empty()).then(|| mean(v))).collect();
            let halves: Vec<Option<f64>> = values.iter().map(|v| half_width_95(v)).collect();
            let (column, printed) = measures::interval_column(measure.name, measure.unit, &means, &halves);
            columns.push(column);
            rows.iter_mut().zip(printed).for_each(|(row, text)| row.push(text));
        }
        let caption = match self.seeds {
            0 | 1 => caption.to_owned(),
            n => format!("{caption}, mean over {n} seeds \u{b1} half of its 95 % confidence interval"),
        };
        table(caption, &keys, columns, alike.values().map(|(c, _)| *c).zip(rows))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A row a cell: the swept keys, then its numbers.
fn table<'a>(
    caption: String,
    keys: &[String],
    columns: Vec<Column>,
    rows: impl Iterator<Item = (&'a CellView<'a>, Vec<String>)>,
) -> TableView {
    let rows: Vec<(&CellView<'_>, Vec<String>)> = rows.collect();
    let key_column = |k: &String| {
        if rows.iter().all(|(c, _)| c.labels.get(k).is_none_or(|v| parse(v).is_some())) {
            Column::numbers(key_words(k), "")
        } else {
            Column::words(key_words(k))
        }
    };
    let mut view = TableView::new(caption, keys.iter().map(key_column).collect());
    view.columns.extend(columns);
    for (cell, row) in rows {
        let labels = keys.iter().map(|k| cell.labels.get(k).cloned().unwrap_or_default());
        view.rows.push(labels.chain(row).collect());
    }
    view.drop_empty_columns();
    view
}

/// The values of `key` from small to large, if every cell that has it has a number in one unit, and they differ.
fn number_axis(cells: &[CellView<'_>], key: &str) -> Option<(String, &'static str, Vec<f64>)> {
    let parsed: Option<Vec<_>> = cells.iter().map(|c| c.labels.get(key).and_then(|v| parse(v))).collect();
    let parsed = parsed.filter(|p| !p.is_empty())?;
    let unit = parsed[0].1;
    if parsed.iter().any(|(_, u)| *u != unit) {
        return None;
    }
    let mut values: Vec<f64> = parsed.into_iter().map(|(v, _)| v).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    (values.len() > 1).then(|| (key.to_owned(), unit, values))
}

/// `links.bottleneck.rate` as `Bottleneck rate`.
fn key_words(key: &str) -> String {
    // `flows.ftp.cc.law` is which law the group has, and `law` alone says nothing.
    if let Some((owner, what)) = key.strip_suffix(".law").and_then(|k| k.rsplit_once('.')) {
        let owner = owner.rsplit('.').next().unwrap_or(owner);
        match what {
            "cc" => return format!("Controller of {owner}"),
            "aqm" => return format!("AQM of {owner}"),
            _ => {}
        }
    }
    let parts: Vec<&str> =
        key.split('.').filter(|p| !matches!(*p, "links" | "flows" | "cc" | "aqm" | "sender")).collect();
    // An axis of cases may have such a name of its own.
    let parts = if parts.is_empty() { vec![key] } else { parts };
    words(&parts.iter().map(|p| unit_of(p).0).collect::<Vec<_>>().join(" "))
}

/// Words at the beginning of a heading.
fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `flows.ftp.count` as `count`.
fn short_key(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

fn names<'a, I: Iterator<Item = &'a String>>(cells: &[CellView<'a>], of: impl Fn(&'a Summary) -> I) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for cell in cells {
        for name in of(cell.summary) {
            if !out.contains(name) {
                out.push(name.clone());
            }
        }
    }
    out
}
