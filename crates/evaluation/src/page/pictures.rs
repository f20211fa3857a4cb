//! The figures of an evaluation.

use penstock_report::figure::{Axis, Figure, Line};
use penstock_report::number::parse;
use penstock_report::palette;

use crate::outcome::{CellOutcome, Evaluation, Measured, Numbers, Outcome};

/// The most lines that fit into a figure.
const MOST_LINES: usize = 8;
/// Points of an ellipse.
const POINTS: u32 = 64;
/// A point of a line.
type Point = (f64, f64);

/// The three pictures that reviewers look for first: delay against goodput, the share beside others against the buffer,
/// loss against the buffer.
pub(super) fn first(evaluation: &Evaluation) -> Vec<Figure> {
    let of = |id: &str| evaluation.criteria.iter().find(|outcome| outcome.id == id);
    let own = [of("EV-12"), of("EV-05")].into_iter().flatten().filter_map(|outcome| of_criterion(evaluation, outcome));
    of("EV-04").and_then(|outcome| ellipses(evaluation, outcome)).into_iter().chain(own).collect()
}

/// The figure of a criterion: its measure along an axis, a line for each law in each combination of the other axes.
pub(super) fn of_criterion(evaluation: &Evaluation, outcome: &Outcome) -> Option<Figure> {
    let (axis, name) = outcome.figure.as_ref()?;
    let measured = outcome.measures.iter().find(|measured| measured.name == *name)?;
    let mut lines: Vec<(String, Vec<Point>)> = Vec::new();
    let mut unit = "";
    for cell in &measured.cells {
        let place = cell.labels.iter().find(|(key, _)| key == axis).and_then(|(_, value)| parse(value));
        let Some((x, found)) = place else { continue };
        unit = found;
        let others: Vec<&str> =
            cell.labels.iter().filter(|(key, _)| key != axis).map(|(_, value)| value.as_str()).collect();
        for (who, numbers) in laws(evaluation, cell) {
            let words: Vec<&str> = [who].into_iter().chain(others.iter().copied()).collect();
            let (label, point) = (words.join(", "), (x, numbers.mean));
            match lines.iter_mut().find(|(known, _)| *known == label) {
                Some((_, points)) => points.push(point),
                None => lines.push((label, vec![point])),
            }
        }
    }
    lines.retain(|(_, points)| points.len() > 1);
    if lines.is_empty() {
        return None;
    }
    let label = axis.rsplit('.').next().unwrap_or(axis);
    // The title has the measure in full; the axis has no room for it.
    let (x, y) = (Axis::new(label, unit), Axis::new(measured.name.replace('-', " "), &measured.unit));
    let left = lines.len().saturating_sub(MOST_LINES);
    let mut figure = drawn(Figure::new(format!("{}: {}", outcome.id, measured.title), x, y), lines);
    if left > 0 {
        figure = figure.captioned(format!("{left} more lines are in the table."));
    }
    Some(figure)
}

/// Queueing delay against goodput, the contour of one standard deviation around the medians (RFC 7928, section 2.7), in the first
/// cell that has them.
fn ellipses(evaluation: &Evaluation, outcome: &Outcome) -> Option<Figure> {
    let named = |name: &str| outcome.measures.iter().find(|measured| measured.name == name);
    let delay = named("ellipse-delay")?;
    let others = [named("ellipse-goodput")?, named("ellipse-delay-sd")?, named("ellipse-goodput-sd")?];
    let cell = delay.cells.first()?;
    let of = |measured: &Measured, who: &str| -> Option<f64> {
        let cell = measured.cells.iter().find(|other| other.labels == cell.labels)?;
        laws(evaluation, cell).find(|(name, _)| *name == who).map(|(_, numbers)| numbers.mean)
    };
    let mut lines = Vec::new();
    for (who, numbers) in laws(evaluation, cell) {
        let [goodput, delay_sd, goodput_sd] = others.map(|measured| of(measured, who).unwrap_or(f64::NAN));
        let correlation = named("ellipse-correlation").and_then(|measured| of(measured, who)).unwrap_or(0.0);
        let around = |n: u32| {
            let angle = 2.0 * core::f64::consts::PI * f64::from(n) / f64::from(POINTS);
            let (sin, cos) = libm::sincos(angle);
            let up = correlation * cos + libm::sqrt((1.0 - correlation * correlation).max(0.0)) * sin;
            (numbers.mean + delay_sd * cos, goodput + goodput_sd * up)
        };
        lines.push((who.to_owned(), (0..=POINTS).map(around).collect()));
    }
    let title = format!("Delay against goodput: {}", cell.words());
    let figure = Figure::new(title, Axis::new("queueing delay", "s"), Axis::new("goodput", "bit/s"));
    let caption = "One standard deviation around the medians of windows of ten round trips, the mean over seeds.";
    Some(drawn(figure, lines).captioned(caption))
}

/// Every law of a cell, the one under test first.
fn laws<'a>(evaluation: &'a Evaluation, cell: &'a CellOutcome) -> impl Iterator<Item = (&'a str, &'a Numbers)> {
    let own = [(evaluation.law.as_str(), &cell.law)].into_iter();
    own.chain(cell.baselines.iter().map(|(name, numbers)| (name.as_str(), numbers)))
}

/// A figure with lines in colours of their own.
fn drawn(mut figure: Figure, mut lines: Vec<(String, Vec<Point>)>) -> Figure {
    lines.truncate(MOST_LINES);
    let colours = palette::assign(&vec![None; lines.len()]);
    for ((label, points), colour) in lines.into_iter().zip(colours) {
        let mut line = Line::new(label, points);
        line.colour = colour;
        figure.lines.push(line);
    }
    figure
}
