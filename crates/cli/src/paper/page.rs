//! The page of a paper, and one of several papers.

use std::fmt::Write;

use indexmap::IndexMap;
use penstock_papers::Extent;
use penstock_report::assemble::{self, PaperFigure, PaperView};
use penstock_report::figure::{Axis, Figure, Line, Style, Tick};
use penstock_report::number::{Prefix, digits, parse, quantity, short, significant};
use penstock_report::page::{ClaimView, Column, Page, TableView, Verdict};
use penstock_report::palette;

use super::outcome::{Judged, Outcome};
use crate::pages;

/// The page of a paper.
pub(super) fn of_paper(authors: &[String], published: &str, outcome: &Outcome, header: &[(String, String)]) -> Page {
    let figures = outcome.items.iter().map(|item| {
        let claims = outcome.claims.iter().filter(|c| c.claim.item == item.id).map(claim).collect();
        PaperFigure {
            id: item.place.clone(),
            title: item.title.clone(),
            prose: String::new(),
            figures: item
                .figure
                .iter()
                .chain(&item.also)
                .map(|f| drawn(f, &item.colours))
                .chain(item.traces.iter().cloned())
                .collect(),
            tables: if item.rows.is_empty() { Vec::new() } else { vec![rows(&item.rows)] },
            claims,
            scenario_text: item.scenario_text.clone(),
            command: if item.rows.is_empty() { String::new() } else { outcome.command(&item.id) },
            not_run: item.not_run.clone(),
        }
    });
    assemble::of_paper(&PaperView {
        title: outcome.title.clone(),
        citation: format!("{}. {published}.", authors.join(", ")),
        results: String::new(),
        explained_in: format!("papers/{}/README.md", outcome.key),
        short: outcome.extent == Extent::Short,
        header: header.to_vec(),
        figures: figures.collect(),
    })
}

/// One page of several papers, of short runs or of whole ones; each paper is a part.
pub(super) fn atlas(papers: Vec<Page>, short: bool, header: &[(String, String)]) -> Page {
    let runs = if short { "Short runs: some cells and seeds of each figure." } else { "" };
    let mut atlas = Page {
        title: if short { "Atlas: short runs" } else { "Atlas" }.to_owned(),
        subtitle: format!("Figures and claims of every paper, as reproduced here. {runs}").trim_end().to_owned(),
        facts: header.to_vec(),
        sections: Vec::new(),
    };
    for paper in papers {
        for mut section in paper.sections {
            section.part.clone_from(&paper.title);
            atlas.sections.push(section);
        }
    }
    atlas
}

/// The meaning of hollow markers, and the confidence of means.
fn caption(figure: &penstock_papers::Figure) -> String {
    let mut sentences = Vec::new();
    let mut sources: Vec<&str> = figure.lines.iter().filter_map(|l| l.source.as_deref()).collect();
    sources.dedup();
    match sources.as_slice() {
        [] => {}
        [one] => sentences.push(format!("Hollow markers: {one}.")),
        _ => {
            let said = |l: &penstock_papers::Line| l.source.as_ref().map(|source| format!("{} ({source})", l.label));
            let said: Vec<String> = figure.lines.iter().filter_map(said).collect();
            sentences.push(format!("Hollow markers: {}.", said.join("; ")));
        }
    }
    if figure.lines.iter().flat_map(|l| &l.points).any(|p| p.ci95.is_some()) {
        sentences.push("Means over seeds; bands are 95 % confidence intervals for them.".to_owned());
    }
    sentences.join(" ")
}

/// Ours in order, each followed by those of others for the same, then those that only others have.
fn in_pairs(figure: &penstock_papers::Figure) -> Vec<&penstock_papers::Line> {
    let mut lines = Vec::with_capacity(figure.lines.len());
    for ours in figure.lines.iter().filter(|l| l.source.is_none()) {
        lines.push(ours);
        lines.extend(figure.lines.iter().filter(|l| l.of.as_ref() == Some(&ours.label)));
    }
    lines.extend(figure.lines.iter().filter(|l| l.source.is_some() && l.of.is_none()));
    lines
}

/// The names of the places along x, where they are names; none where they are numbers in one unit.
fn cases(figure: &penstock_papers::Figure) -> Option<Vec<Tick>> {
    let mut ticks: Vec<Tick> = Vec::new();
    for point in figure.lines.iter().flat_map(|line| &line.points) {
        if ticks.iter().all(|tick| tick.at != point.x) {
            ticks.push(Tick { at: point.x, label: Some(point.at.clone()) });
        }
    }
    ticks.sort_by(|a, b| a.at.total_cmp(&b.at));
    let is_number = |tick: &Tick| {
        let value = tick.label.as_deref().and_then(parse).map(|(value, _)| value);
        value.is_some_and(|value| (value - tick.at).abs() <= 1e-9 * value.abs())
    };
    (!ticks.is_empty() && !ticks.iter().all(is_number)).then_some(ticks)
}

fn drawn(figure: &penstock_papers::Figure, colours: &IndexMap<String, &'static str>) -> Figure {
    let cases = cases(figure);
    let x = if let Some(cases) = &cases {
        let ends = cases.iter().map(|tick| tick.at);
        let (first, last) = (ends.clone().fold(f64::INFINITY, f64::min), ends.fold(f64::NEG_INFINITY, f64::max));
        let mut x = Axis::new(&figure.x_label, "").between(first - 0.5, last + 0.5);
        x.ticks.clone_from(cases);
        x
    } else {
        let mut ticks: Vec<f64> = figure.lines.iter().flat_map(|l| l.points.iter().map(|p| p.x)).collect();
        ticks.sort_unstable_by(f64::total_cmp);
        ticks.dedup();
        let x = Axis::new(&figure.x_label, &figure.x_unit).ticks_at(ticks);
        if figure.x_scale == penstock_papers::Scale::Log { x.log() } else { x }
    };
    let mut y = Axis::new(&figure.y_label, &figure.y_unit);
    if let Some([least, most]) = figure.y_range {
        // Data outside of the paper's range are shown all the same.
        let values = || figure.lines.iter().flat_map(|l| &l.points);
        y = y.between(values().map(|p| p.min).fold(least, f64::min), values().map(|p| p.max).fold(most, f64::max));
    }
    let mut drawn = Figure::new(&figure.title, x, y).captioned(caption(figure));
    let lines = in_pairs(figure);
    // What belongs to a line of ours has its colour; the others have one each.
    let leading: Vec<&str> = lines.iter().filter(|l| l.of.is_none()).map(|l| l.label.as_str()).collect();
    let wanted: Vec<Option<&str>> = leading.iter().map(|label| colours.get(*label).copied()).collect();
    let colours: IndexMap<&str, String> = leading.into_iter().zip(palette::assign(&wanted)).collect();
    for line in lines {
        let points = line.points.iter().map(|p| (p.x, p.mean)).collect();
        // Beside those of others a line of ours needs a name.
        let unnamed = line.label.is_empty() && figure.lines.iter().any(|l| l.source.is_some());
        let mut shown = Line::new(if unnamed { "Penstock" } else { line.label.as_str() }, points);
        shown.colour.clone_from(&colours[line.of.as_ref().unwrap_or(&line.label).as_str()]);
        if line.source.is_some() {
            shown = shown.styled(Style::Dashed).hollow();
        }
        // Between two cases there is nothing.
        if cases.is_some() {
            shown = shown.styled(Style::Points);
        }
        let interval = |p: &penstock_papers::Point| {
            let half = p.ci95.unwrap_or(f64::NAN);
            (p.x, p.mean - half, p.mean + half)
        };
        if line.points.iter().any(|p| p.ci95.is_some_and(|half| half > 0.0)) {
            shown = shown.banded(line.points.iter().map(interval).collect());
        }
        drawn.lines.push(shown);
    }
    drawn
}

fn rows(rows: &[penstock_papers::Row]) -> TableView {
    let labels: Vec<&String> = rows.first().map(|r| r.labels.keys().collect()).unwrap_or_default();
    let mut heads: Vec<&String> = Vec::new();
    for head in rows.iter().flat_map(|r| r.values.keys()) {
        if !heads.contains(&head) {
            heads.push(head);
        }
    }
    let words = labels.iter().map(|l| Column::words(l.as_str()));
    let mut table = TableView::new("", words.collect());
    for row in rows {
        table.rows.push(labels.iter().map(|l| row.labels.get(*l).cloned().unwrap_or_default()).collect());
    }
    for head in heads {
        let values: Vec<Option<f64>> = rows.iter().map(|row| row.values.get(head).copied()).collect();
        let (column, cells) = column(head, &values);
        table.columns.push(column);
        table.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }
    table
}

/// A column of numbers with one prefix, that of the largest. The head ends in the unit: `total [bit/s]`.
fn column(head: &str, values: &[Option<f64>]) -> (Column, Vec<String>) {
    let (name, unit) = match head.strip_suffix(']').and_then(|head| head.rsplit_once('[')) {
        Some((name, unit)) => (name.trim_end(), unit),
        None => (head, ""),
    };
    let most = values.iter().flatten().filter(|x| x.is_finite()).fold(0.0_f64, |most, x| most.max(x.abs()));
    let prefix = Prefix::for_value(most, unit);
    let scaled = |x: &f64| *x / prefix.factor;
    // Whole numbers among others are printed like those.
    let whole = values.iter().flatten().map(scaled).all(|x| x == x.trunc());
    let number = |x: f64| if whole { significant(x, 4) } else { digits(x, 4) };
    let cell = |x: &Option<f64>| x.as_ref().map(|x| number(scaled(x))).unwrap_or_default();
    (Column::numbers(name, format!("{}{unit}", prefix.symbol)), values.iter().map(cell).collect())
}

/// A claim as a page shows it.
fn claim(judged: &Judged) -> ClaimView {
    let claim = &judged.claim;
    ClaimView {
        id: claim.id.clone(),
        quotation: claim.statement.clone(),
        place: claim.place.clone(),
        bound: judged.bound.clone(),
        measured: measured(claim, &judged.unit),
        verdict: verdict(claim.verdict),
        recorded: judged.recorded.map(verdict),
        ours: claim.ours,
        unstated: claim.unstated,
        certainty: certainty(claim),
        reason: judged.reason.clone().unwrap_or_default(),
        note: claim.why.clone().or_else(|| claim.source.clone()).unwrap_or_default(),
    }
}

fn verdict(verdict: penstock_papers::Verdict) -> Verdict {
    match verdict {
        penstock_papers::Verdict::Holds => Verdict::Holds,
        penstock_papers::Verdict::Fails => Verdict::Fails,
        penstock_papers::Verdict::Undecided => Verdict::Undecided,
        penstock_papers::Verdict::NotRunHere => Verdict::NotRunHere,
    }
}

/// The certainty of a verdict, in a sentence.
fn certainty(claim: &penstock_papers::JudgedClaim) -> String {
    let mut parts = Vec::new();
    if let (Some(seeds), Some(chance)) = (claim.seeds, claim.chance) {
        parts.push(format!("{seeds} seeds; {} of bootstrap samples of them keep the bound", percent(chance)));
    }
    // Of a verdict, or of what is not there, a share is no change.
    let counted = claim.measured.iter().any(|measured| measured.value != 0.0 && measured.value != 1.0);
    if let Some(flips) = claim.flips.filter(|_| counted) {
        parts.push(format!("a change by {} would turn it", percent(flips)));
    }
    let text = parts.join("; ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

/// A share as people read it.
fn percent(share: f64) -> String {
    format!("{} %", short(100.0 * share, 2))
}

/// The measured numbers, in a few words: the range, or for falling ones the values in order; and where it does not hold.
fn measured(claim: &penstock_papers::JudgedClaim, unit: &str) -> String {
    let number = |x: f64| quantity(x, unit, 4);
    let all = &claim.measured;
    let ordered = claim.bound.as_deref().is_some_and(|b| b.starts_with("falls") || b.contains(" < "));
    let mut text = match all.as_slice() {
        [] => return String::new(),
        [one] => number(one.value),
        _ if ordered => all.iter().map(|m| number(m.value)).collect::<Vec<_>>().join(", "),
        _ => {
            // What is compared with another cell is shown by its lead, what is to be near a value by how far off it is.
            let off = claim.bound.as_deref().is_some_and(|b| b.starts_with("each of") && b.contains('%'));
            let shown = |m: &penstock_papers::Measured| match m.against {
                Some(wanted) if off => 100.0 * (m.value / wanted - 1.0),
                against => m.value - against.unwrap_or(0.0),
            };
            let least = all.iter().map(shown).fold(f64::INFINITY, f64::min);
            let most = all.iter().map(shown).fold(f64::NEG_INFINITY, f64::max);
            let word = if all.iter().any(|m| m.against.is_some()) { "by " } else { "" };
            let span = if off {
                format!("{} to {} %", short(least, 2), short(most, 2))
            } else {
                pages::span([least, most], unit, |end| short(end, 4))
            };
            match number(least) {
                one if !off && one == number(most) => format!("{word}{one} throughout"),
                _ => format!("{word}{span}"),
            }
        }
    };
    let failing: Vec<&str> = all.iter().filter(|m| !m.keeps && !m.at.is_empty()).map(|m| m.at.as_str()).collect();
    // Of a single number the verdict says it.
    if !failing.is_empty() && all.len() > 1 {
        let _ = write!(text, "; fails at {}", failing.join("; "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_prefix_and_its_unit() {
        let (column, cells) = column("total [bit/s]", &[Some(29_981_440.0), None, Some(950_000.0)]);
        assert_eq!((column.name.as_str(), column.unit.as_str()), ("total", "Mbit/s"));
        assert_eq!(cells, ["29.98", "", "0.9500"]);
        let (column, cells) = super::column("C2: time full", &[Some(0.5), Some(1.0)]);
        assert_eq!((column.name.as_str(), column.unit.as_str()), ("C2: time full", ""));
        assert_eq!(cells, ["0.5000", "1.000"]);
    }

    /// A verdict of 0 or 1, and a number that is zero, have no share by which they change.
    #[test]
    fn what_is_no_quantity_changes_by_no_share() {
        let said = |values: &[f64]| {
            let measured = |value: &f64| penstock_papers::Measured {
                at: String::new(),
                value: *value,
                against: None,
                keeps: true,
            };
            certainty(&penstock_papers::JudgedClaim {
                id: String::new(),
                item: String::new(),
                place: String::new(),
                statement: String::new(),
                quoted: false,
                ours: false,
                unstated: false,
                measure: None,
                bound: None,
                source: None,
                verdict: penstock_papers::Verdict::Holds,
                measured: values.iter().map(measured).collect(),
                seeds: None,
                chance: None,
                flips: Some(0.001),
                why: None,
            })
        };
        assert_eq!(said(&[0.95, 1.0]), "A change by 0.1 % would turn it.");
        assert_eq!(said(&[1.0, 0.0]), "");
    }

    /// A line along one axis, whose points are at these words.
    fn along(places: &[(&str, f64)]) -> Figure {
        let point = |(at, x): &(&str, f64)| penstock_papers::Point {
            at: (*at).to_owned(),
            x: *x,
            mean: 1.0,
            min: 1.0,
            max: 1.0,
            ci95: None,
        };
        let line = penstock_papers::Line {
            label: String::new(),
            source: None,
            of: None,
            points: places.iter().map(point).collect(),
        };
        let figure = penstock_papers::Figure {
            title: String::new(),
            x_label: "marker".to_owned(),
            x_unit: "s".to_owned(),
            x_scale: penstock_papers::Scale::Linear,
            y_label: String::new(),
            y_unit: String::new(),
            y_range: None,
            lines: vec![line],
        };
        drawn(&figure, &IndexMap::new())
    }

    /// Words, and values of more than one unit, have the numbers of their points for places.
    #[test]
    fn cases_stand_on_the_axis_by_their_names() {
        let names =
            |figure: &Figure| -> Vec<Option<String>> { figure.x.ticks.iter().map(|t| t.label.clone()).collect() };
        let markers = along(&[("early marker", 0.0), ("token bucket", 1.0)]);
        assert_eq!(names(&markers), [Some("early marker".to_owned()), Some("token bucket".to_owned())]);
        assert_eq!((markers.x.range, markers.lines[0].style), (Some((-0.5, 1.5)), Style::Points));
        assert_eq!(names(&along(&[("50 packets", 0.0), ("1 bdp", 1.0)])).len(), 2);
        let delays = along(&[("10 ms", 0.01), ("20 ms", 0.02)]);
        assert_eq!((names(&delays), delays.lines[0].style), (vec![None, None], Style::Solid));
    }

    /// Of three lines two are of one thing: the paper's follows ours in the same colour, hollow; the third stands alone.
    #[test]
    fn data_of_others_are_drawn_beside_ours() {
        let line = |label: &str, source: Option<&str>, of: Option<&str>| penstock_papers::Line {
            label: label.to_owned(),
            source: source.map(str::to_owned),
            of: of.map(str::to_owned),
            points: Vec::new(),
        };
        let figure = penstock_papers::Figure {
            title: String::new(),
            x_label: String::new(),
            x_unit: String::new(),
            x_scale: penstock_papers::Scale::Linear,
            y_label: String::new(),
            y_unit: String::new(),
            y_range: None,
            lines: vec![
                line("Reno", None, None),
                line("Cubic", None, None),
                line("ns-2", Some("ours"), None),
                line("Reno, paper", Some("table I"), Some("Reno")),
            ],
        };
        let drawn = drawn(&figure, &IndexMap::new());
        let lines: Vec<(&str, bool)> = drawn.lines.iter().map(|l| (l.name.as_str(), l.hollow)).collect();
        assert_eq!(lines, [("Reno", false), ("Reno, paper", true), ("Cubic", false), ("ns-2", true)]);
        assert_eq!(drawn.lines[0].colour, drawn.lines[1].colour);
        let colours: std::collections::BTreeSet<&String> = drawn.lines.iter().map(|l| &l.colour).collect();
        assert_eq!(colours.len(), 3);
        assert_eq!(drawn.caption, "Hollow markers: ns-2 (ours); Reno, paper (table I).");
    }
}
