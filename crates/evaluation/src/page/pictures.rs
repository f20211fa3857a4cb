//! The figures of an evaluation.

use penstock_report::figure::{Axis, Figure, Line, Style, Tick};
use penstock_report::number::parse;
use penstock_report::palette;

use crate::outcome::{CellOutcome, Evaluation, Measured, Numbers, Outcome, cell_words};

/// The most lines that fit into a figure.
const MOST_LINES: usize = 8;
/// Points of an ellipse.
const POINTS: u32 = 64;
/// The part of the space between two words of an axis that the points at a word take.
const SPREAD: f64 = 0.6;
/// The axis of which the laws themselves are the values.
const LAW: &str = "law";

/// A point of a line: its position, and the mean over seeds with its interval.
type Point = (f64, f64, Option<(f64, f64)>);

/// A line before it has a colour.
struct Drawing {
    label: String,
    style: Style,
    points: Vec<Point>,
}

/// The three pictures that reviewers look for first: delay against goodput, the share beside CUBIC against the buffer, loss against
/// the buffer.
pub(super) fn first(evaluation: &Evaluation) -> Vec<Figure> {
    let of = |id: &str| evaluation.criteria.iter().find(|outcome| outcome.id == id);
    let delay = of("EV-04").and_then(|outcome| ellipses(evaluation, outcome));
    let share = of("EV-12").and_then(|outcome| share(evaluation, outcome));
    let loss = of("EV-05").and_then(|outcome| loss(evaluation, outcome));
    [delay, share, loss].into_iter().flatten().collect()
}

/// The figure of a criterion: its measure along an axis, a line for each law in each combination of the other axes. Where that is
/// more than fits, it has some of the combinations, each with all laws.
pub(super) fn of_criterion(evaluation: &Evaluation, outcome: &Outcome) -> Option<Figure> {
    let (axis, name) = outcome.figure.as_ref()?;
    let measured = outcome.measures.iter().find(|measured| measured.name == *name)?;
    let cells: Vec<&CellOutcome> = measured.cells.iter().collect();
    figure(evaluation, format!("{}: {}", outcome.id, measured.title), (axis, measured), &cells)
}

/// The rate of a flow over that of a flow of CUBIC, one of each, against the buffer.
fn share(evaluation: &Evaluation, outcome: &Outcome) -> Option<Figure> {
    const CELLS: [(&str, &str); 4] = [("path", "P-bb"), ("mix", "1:1"), ("other", "cubic"), ("setting", "together")];
    let measured = outcome.measures.iter().find(|measured| measured.name == "share")?;
    let cells: Vec<&CellOutcome> = measured.cells.iter().filter(|cell| has(cell, &CELLS)).collect();
    figure(evaluation, "Share beside CUBIC".to_owned(), ("links.bottleneck.buffer", measured), &cells)
}

/// The loss ratio against the buffer, a line for each number of flows; of the baselines that of the most flows.
fn loss(evaluation: &Evaluation, outcome: &Outcome) -> Option<Figure> {
    const COUNT: &str = "flows.test.count";
    let measured = outcome.measures.iter().find(|measured| measured.name == "loss")?;
    let cells: Vec<&CellOutcome> = measured.cells.iter().filter(|cell| has(cell, &[("path", "P-bb")])).collect();
    let counts = values(COUNT, &cells);
    let most = *counts.last()?;
    let along = Along::of("links.bottleneck.buffer", &cells, &[]);
    let mut drawings: Vec<Drawing> = Vec::new();
    let in_words = |who: &str, count: &str| format!("{who}, {count} {}", if count == "1" { "flow" } else { "flows" });
    let own = MOST_LINES.saturating_sub(evaluation.baselines.len()).max(1);
    for count in spread(&counts, own) {
        let mut line = Drawing::of(in_words(&evaluation.law, count), Style::Solid);
        for cell in cells.iter().filter(|cell| label(cell, COUNT) == Some(count)) {
            line.add(along.place(cell, &evaluation.law), &cell.law);
        }
        drawings.push(line);
    }
    for who in &evaluation.baselines {
        let mut line = Drawing::of(in_words(who, most), Style::Dashed);
        for cell in cells.iter().filter(|cell| label(cell, COUNT) == Some(most)) {
            if let Some(numbers) = cell.baselines.get(who) {
                line.add(along.place(cell, who), numbers);
            }
        }
        drawings.push(line);
    }
    let title = "Loss against the buffer, by number of flows".to_owned();
    finished(title, &along, measured, drawings, caption(&cells, &[along.key, COUNT], 0))
}

/// A measure in some cells along an axis.
fn figure(
    evaluation: &Evaluation,
    title: String,
    (axis, measured): (&str, &Measured),
    cells: &[&CellOutcome],
) -> Option<Figure> {
    let mut who: Vec<&str> = Vec::new();
    for name in cells.iter().flat_map(|cell| laws(evaluation, cell).map(|(name, _)| name)) {
        if !who.contains(&name) {
            who.push(name);
        }
    }
    let along = Along::of(axis, cells, &who);
    // Keys with one value say nothing in a legend: the caption has them.
    let keys = varied(cells, axis);
    let mut combinations: Vec<String> = Vec::new();
    for cell in cells {
        let words = others(cell, &keys);
        if !combinations.contains(&words) {
            combinations.push(words);
        }
    }
    let each = if axis == LAW { 1 } else { who.len().max(1) };
    let all: Vec<&str> = combinations.iter().map(String::as_str).collect();
    let shown = spread(&all, (MOST_LINES / each).max(1));
    let left = (all.len() - shown.len()) * each;
    let mut drawings: Vec<Drawing> = Vec::new();
    for words in shown {
        let here = || cells.iter().filter(|cell| others(cell, &keys) == words);
        if axis == LAW {
            let mut line = Drawing::of(words.to_owned(), Style::Solid);
            for cell in here() {
                for (name, numbers) in laws(evaluation, cell) {
                    line.add(along.place(cell, name), numbers);
                }
            }
            drawings.push(line);
            continue;
        }
        for name in &who {
            let label = if words.is_empty() { (*name).to_owned() } else { format!("{name}, {words}") };
            let mut line = Drawing::of(label, Style::Solid);
            for cell in here() {
                for (_, numbers) in laws(evaluation, cell).filter(|(other, _)| other == name) {
                    line.add(along.place(cell, name), numbers);
                }
            }
            drawings.push(line);
        }
    }
    let known: Vec<&str> = keys.iter().copied().chain([axis]).collect();
    finished(title, &along, measured, drawings, caption(cells, &known, left))
}

/// The figure of these lines; none if no line has anything to show.
fn finished(
    title: String,
    along: &Along<'_>,
    measured: &Measured,
    mut drawings: Vec<Drawing>,
    caption: String,
) -> Option<Figure> {
    let least = if along.words { 1 } else { 2 };
    drawings.retain(|line| line.points.len() >= least);
    if drawings.is_empty() {
        return None;
    }
    let several = drawings.len();
    if along.words {
        // Points of several lines at a word stand beside each other.
        for (n, line) in drawings.iter_mut().enumerate() {
            line.style = Style::Points;
            let aside = (n as f64 - (several - 1) as f64 / 2.0) * SPREAD / several as f64;
            for point in &mut line.points {
                point.0 += aside;
            }
        }
    }
    // The title has the measure in full; the axis has no room for it.
    let y = Axis::new(measured.name.replace('-', " "), &measured.unit);
    Some(coloured(Figure::new(title, along.axis(), y), drawings).captioned(caption))
}

/// The cells of a figure in words: the values that all of them have.
fn caption(cells: &[&CellOutcome], but: &[&str], left: usize) -> String {
    let labels: Vec<(String, String)> = cells
        .first()
        .map(|cell| cell.labels.iter().filter(|(key, _)| !but.contains(&key.as_str())).cloned().collect())
        .unwrap_or_default();
    let words = cell_words(&labels);
    let more = if left == 0 { String::new() } else { format!("{left} more lines are in the table.") };
    let cells = if words.is_empty() { String::new() } else { format!("Cells: {words}.") };
    [cells, more].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
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
    let mut drawings = Vec::new();
    for (who, numbers) in laws(evaluation, cell) {
        let [goodput, delay_sd, goodput_sd] = others.map(|measured| of(measured, who).unwrap_or(f64::NAN));
        let correlation = named("ellipse-correlation").and_then(|measured| of(measured, who)).unwrap_or(0.0);
        let around = |n: u32| {
            let angle = 2.0 * core::f64::consts::PI * f64::from(n) / f64::from(POINTS);
            let (sin, cos) = libm::sincos(angle);
            let up = correlation * cos + libm::sqrt((1.0 - correlation * correlation).max(0.0)) * sin;
            (numbers.mean + delay_sd * cos, goodput + goodput_sd * up, None)
        };
        let points = (0..=POINTS).map(around).collect();
        drawings.push(Drawing { label: who.to_owned(), style: Style::Solid, points });
    }
    drawings.truncate(MOST_LINES);
    let title = format!("Delay against goodput: {}", cell.words());
    let figure = Figure::new(title, Axis::new("queueing delay", "s"), Axis::new("goodput", "bit/s"));
    let caption = "One standard deviation around the medians of windows of ten round trips, the mean over seeds.";
    Some(coloured(figure, drawings).captioned(caption))
}

/// Every law of a cell, the one under test first.
fn laws<'a>(evaluation: &'a Evaluation, cell: &'a CellOutcome) -> impl Iterator<Item = (&'a str, &'a Numbers)> {
    let own = [(evaluation.law.as_str(), &cell.law)].into_iter();
    own.chain(cell.baselines.iter().map(|(name, numbers)| (name.as_str(), numbers)))
}

/// A figure with lines in colours of their own.
fn coloured(mut figure: Figure, drawings: Vec<Drawing>) -> Figure {
    let colours = palette::assign(&vec![None; drawings.len()]);
    for (Drawing { label, style, points }, colour) in drawings.into_iter().zip(colours) {
        let mut line = Line::new(label, points.iter().map(|(x, y, _)| (*x, *y)).collect()).styled(style);
        line.colour = colour;
        // Bands of several lines would hide each other; bars do not.
        if style == Style::Points && points.iter().any(|(_, _, interval)| interval.is_some()) {
            let ends = |interval: Option<(f64, f64)>| interval.unwrap_or((f64::NAN, f64::NAN));
            line =
                line.banded(points.iter().map(|(x, _, interval)| (*x, ends(*interval).0, ends(*interval).1)).collect());
        }
        figure.lines.push(line);
    }
    figure
}

impl Drawing {
    const fn of(label: String, style: Style) -> Self {
        Self { label, style, points: Vec::new() }
    }

    /// Adds a point; a cell without a position or without a finite mean has none.
    fn add(&mut self, place: Option<f64>, numbers: &Numbers) {
        if let Some(x) = place.filter(|_| numbers.mean.is_finite()) {
            self.points.push((x, numbers.mean, numbers.interval));
        }
    }
}

/// An axis of the sweep: numbers of one unit, or words in the order of the sweep.
struct Along<'a> {
    key: &'a str,
    places: Vec<(&'a str, f64)>,
    unit: &'static str,
    words: bool,
}

impl<'a> Along<'a> {
    /// The axis `key` of these cells; `who` has the laws.
    fn of(key: &'a str, cells: &[&'a CellOutcome], who: &[&'a str]) -> Self {
        let found = if key == LAW { who.to_vec() } else { values(key, cells) };
        let numbers: Option<Vec<(f64, &'static str)>> = found.iter().map(|value| parse(value)).collect();
        // Buffers in packets beside buffers in bandwidth-delay products have no common scale, and one number has none.
        let one_unit =
            |numbers: &Vec<(f64, &str)>| numbers.len() > 1 && numbers.iter().all(|(_, u)| *u == numbers[0].1);
        match numbers.filter(one_unit) {
            Some(numbers) => Self {
                key,
                unit: numbers[0].1,
                places: found.into_iter().zip(numbers.iter().map(|(x, _)| *x)).collect(),
                words: false,
            },
            None => Self {
                key,
                unit: "",
                places: found.into_iter().enumerate().map(|(n, value)| (value, n as f64)).collect(),
                words: true,
            },
        }
    }

    /// The position of a cell, or of a law.
    fn place(&self, cell: &CellOutcome, who: &str) -> Option<f64> {
        let value = if self.key == LAW { who } else { label(cell, self.key)? };
        self.places.iter().find(|(known, _)| *known == value).map(|(_, x)| *x)
    }

    fn axis(&self) -> Axis {
        let axis = Axis::new(self.key.rsplit('.').next().unwrap_or(self.key), self.unit);
        if self.words {
            let mut axis = axis.between(-0.5, self.places.len() as f64 - 0.5);
            axis.ticks =
                self.places.iter().map(|(value, at)| Tick { at: *at, label: Some((*value).to_owned()) }).collect();
            return axis;
        }
        let (low, high) =
            self.places.iter().fold((f64::MAX, f64::MIN), |(low, high), (_, x)| (low.min(*x), high.max(*x)));
        let axis = if self.places.len() <= 12 { axis.ticks_at(self.places.iter().map(|(_, x)| *x)) } else { axis };
        if low > 0.0 && high / low >= 8.0 && self.places.len() > 2 { axis.log() } else { axis }
    }
}

/// The value of a cell on an axis.
pub(super) fn label<'a>(cell: &'a CellOutcome, key: &str) -> Option<&'a str> {
    cell.labels.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
}

/// True if a cell has these values on the axes that it has.
fn has(cell: &CellOutcome, wanted: &[(&str, &str)]) -> bool {
    wanted.iter().all(|(key, value)| label(cell, key).is_none_or(|own| own == *value))
}

/// The values of an axis in the order of the cells.
pub(super) fn values<'a>(key: &str, cells: &[&'a CellOutcome]) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for value in cells.iter().filter_map(|cell| label(cell, key)) {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// The keys but `axis` that have several values.
pub(super) fn varied<'a>(cells: &[&'a CellOutcome], axis: &str) -> Vec<&'a str> {
    let keys = cells.first().map(|cell| cell.labels.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>());
    keys.unwrap_or_default().into_iter().filter(|key| *key != axis && values(key, cells).len() > 1).collect()
}

/// The values of a cell on these axes in words, each with its axis.
pub(super) fn others(cell: &CellOutcome, keys: &[&str]) -> String {
    let labels: Vec<(String, String)> =
        cell.labels.iter().filter(|(key, _)| keys.contains(&key.as_str())).cloned().collect();
    cell_words(&labels)
}

/// At most `most` of these, the first and the last among them, at even distances.
fn spread<'a>(all: &[&'a str], most: usize) -> Vec<&'a str> {
    if all.len() <= most {
        return all.to_vec();
    }
    if most < 2 {
        return all.iter().take(most).copied().collect();
    }
    (0..most).map(|n| all[n * (all.len() - 1) / (most - 1)]).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use indexmap::IndexMap;

    use super::*;
    use crate::criterion::{Battery, Scale, Worst};
    use crate::extent::Extent;
    use crate::statistics::Verdict;

    pub(in crate::page) fn cell(labels: &[(&str, &str)], mean: f64) -> CellOutcome {
        let numbers = |mean: f64| Numbers { mean, interval: Some((0.9 * mean, 1.1 * mean)), ..Numbers::default() };
        CellOutcome {
            control_breaks: false,
            labels: labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            law: numbers(mean),
            baselines: IndexMap::from([("newreno".to_owned(), numbers(2.0)), ("cubic".to_owned(), numbers(3.0))]),
            against: IndexMap::new(),
            verdict: Verdict::Reported,
            p: None,
            survives: false,
            run: None,
            needed: None,
            absent: 0,
            unlimited: 0,
            drifts: false,
        }
    }

    pub(in crate::page) fn outcome(id: &str, measure: &str, axis: &str, cells: Vec<CellOutcome>) -> Evaluation {
        let measured = Measured {
            name: measure.into(),
            title: "a measure".into(),
            part: String::new(),
            scenario: String::new(),
            unit: "s".into(),
            scale: Scale::Difference,
            bound: None,
            source: None,
            absent: None,
            verdict: Verdict::Reported,
            worst: Worst::Largest,
            worst_cell: 0,
            cells,
        };
        let outcome = Outcome {
            id: id.into(),
            title: String::new(),
            battery: Battery::Sender,
            document: String::new(),
            section: String::new(),
            level: String::new(),
            requirement: String::new(),
            notes: String::new(),
            verdict: Verdict::Reported,
            why: None,
            scenarios: Vec::new(),
            measures: vec![measured],
            not_run: Vec::new(),
            figure: Some((axis.into(), measure.into())),
            heat_maps: None,
        };
        Evaluation {
            law: "fast".into(),
            baselines: vec!["newreno".into(), "cubic".into()],
            extent: Extent::Quick,
            criteria: vec![outcome],
            ..Evaluation::default()
        }
    }

    fn of(evaluation: &Evaluation) -> Option<Figure> {
        of_criterion(evaluation, &evaluation.criteria[0])
    }

    fn names(figure: &Figure) -> Vec<&str> {
        figure.lines.iter().map(|line| line.name.as_str()).collect()
    }

    #[test]
    fn words_stand_on_an_axis_in_their_order() {
        let queues = ["codel", "pie", "red"].map(|aqm| cell(&[("aqm", aqm), ("path", "P-dsl")], 1.0));
        let figure = of(&outcome("EV-21", "delay", "aqm", queues.to_vec())).unwrap();
        let ticks: Vec<&str> = figure.x.ticks.iter().filter_map(|tick| tick.label.as_deref()).collect();
        assert_eq!((ticks, names(&figure)), (vec!["codel", "pie", "red"], vec!["fast", "newreno", "cubic"]));
        assert_eq!(figure.caption, "Cells: path P-dsl.");
        // Points at one word do not cover each other, and stay nearer to it than to the next.
        let at: Vec<f64> = figure.lines.iter().map(|line| line.points[1].0).collect();
        assert!(at[0] < at[1] && at[1] < at[2] && at.iter().all(|x| (x - 1.0).abs() < 0.5), "{at:?}");
        // So do values of several units, and a single one.
        let mixed = ["1 bdp", "50 packets"].map(|buffer| cell(&[("buffer", buffer)], 1.0));
        assert!(of(&outcome("EV-21", "delay", "buffer", mixed.to_vec())).unwrap().x.ticks[1].label.is_some());
        assert!(of(&outcome("EV-21", "delay", "buffer", vec![mixed[0].clone()])).is_some());
    }

    #[test]
    fn laws_are_an_axis_where_nothing_is_swept() {
        let figure = of(&outcome("EV-02", "delay", "law", vec![cell(&[], 1.0)])).unwrap();
        assert_eq!((figure.x.ticks.len(), figure.lines.len(), figure.lines[0].points.len()), (3, 1, 3));
    }

    /// Each line says which axis a value is of, and the lines that fit are spread over the cells, each with all laws.
    #[test]
    fn a_legend_names_axes() {
        let mut cells = Vec::new();
        for path in ["P-dsl", "P-bb"] {
            for count in ["1", "4", "16"] {
                for buffer in ["1 bdp", "2 bdp", "8 bdp"] {
                    cells.push(cell(&[("path", path), ("flows.test.count", count), ("buffer", buffer)], 1.0));
                }
            }
        }
        let figure = of(&outcome("EV-04", "delay", "buffer", cells)).unwrap();
        let fast: Vec<&str> = names(&figure).into_iter().filter(|name| name.starts_with("fast")).collect();
        assert_eq!(fast, ["fast, path P-dsl, count 1", "fast, path P-bb, count 16"]);
        assert_eq!((figure.lines.len(), figure.caption.as_str()), (6, "12 more lines are in the table."));
    }

    #[test]
    fn the_first_pictures_are_those_that_reviewers_ask_for() {
        let mut cells = Vec::new();
        for path in ["P-dsl", "P-bb"] {
            for mix in ["1:1", "8:8"] {
                for other in ["newreno", "cubic"] {
                    for buffer in ["0.5 bdp", "2 bdp"] {
                        let labels = [
                            ("links.bottleneck.buffer", buffer),
                            ("path", path),
                            ("mix", mix),
                            ("other", other),
                            ("setting", "together"),
                        ];
                        let wanted = (path, mix, other) == ("P-bb", "1:1", "cubic");
                        cells.push(cell(&labels, if wanted { 7.0 } else { 1.0 }));
                    }
                }
            }
        }
        let share = first(&outcome("EV-12", "share", "links.bottleneck.buffer", cells));
        assert_eq!(names(&share[0]), ["fast", "newreno", "cubic"]);
        assert!(share[0].lines[0].points.iter().all(|(_, y)| *y == 7.0), "{:?}", share[0].lines[0]);
        assert_eq!(share[0].caption, "Cells: path P-bb, mix 1:1, other cubic, setting together.");

        let mut cells = Vec::new();
        for path in ["P-dsl", "P-bb"] {
            for buffer in ["0.25 bdp", "1 bdp"] {
                for count in ["1", "2", "4", "8", "16"] {
                    let labels = [("path", path), ("links.bottleneck.buffer", buffer), ("flows.test.count", count)];
                    cells.push(cell(&labels, 1.0));
                }
            }
        }
        let loss = first(&outcome("EV-05", "loss", "links.bottleneck.buffer", cells));
        let found = names(&loss[0]);
        assert!(found.contains(&"fast, 1 flow") && found.contains(&"fast, 16 flows"), "{found:?}");
        assert!(found.contains(&"newreno, 16 flows") && found.len() == 7, "{found:?}");
    }
}
