//! Draws a [`Figure`] as SVG text, the same text for the same figure.

mod canvas;
mod heat;
mod layout;
mod words;

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::figure::{Figure, Line, Mark, Scale, Style};
use crate::number::quantity;
use crate::palette;
use crate::scale::{Fit, Place, Ruler};
use crate::trace::{self, Envelope};
use canvas::Anchor::{End, Start};
use canvas::{Anchor, Canvas, INK, Ink, Inks, Shape};
pub use heat::heat_map;
pub(crate) use heat::ramp_on_dark;
use layout::{Area, Legend};
use words::{fitted, text_width, wrap};

/// Width of a figure in pixels; the height follows from its content.
pub const WIDTH: u32 = 640;
/// Width of the same figure for a narrow screen, on which words of the other one would be half as large.
const NARROW: u32 = 320;

const TITLE_SIZE: u32 = 15;
const LABEL_SIZE: u32 = 13;
const TICK_SIZE: u32 = 12;
const NOTE_SIZE: u32 = 11;
/// Lines with at most so many points get a marker at each.
const SPARSE: usize = 24;
/// About how many points a figure may have; ten bytes each keep it below 200 kB.
const BUDGET: usize = 12_000;

/// The figure as an `<svg>` element that stands alone or within a page.
pub fn draw(figure: &Figure) -> String {
    draw_in(figure, WIDTH)
}

/// The figure as an `<svg>` element for a screen of about 360 pixels, where its words have the size that they have elsewhere.
pub(crate) fn draw_narrow(figure: &Figure) -> String {
    draw_in(figure, NARROW)
}

fn draw_in(figure: &Figure, width: u32) -> String {
    let plan = Plan::new(figure, width);
    let mut canvas = Canvas::new(width, plan.height);
    plan.heading(&mut canvas, figure);
    plan.warm_up(&mut canvas, figure);
    plan.frame(&mut canvas);
    if figure.is_empty() {
        let (x, y) = plan.area.middle();
        canvas.text("No data", (x, y), LABEL_SIZE, INK.faint, Anchor::Middle);
    } else {
        plan.data(&mut canvas, figure);
        plan.marks(&mut canvas, figure);
    }
    canvas.finish(&figure.title, &describe(figure))
}

/// Counterpart of each colour of these figures on a dark page: as the drawing writes it, and its replacement there.
pub(crate) fn on_dark<'a>(figures: impl Iterator<Item = &'a Figure>) -> BTreeMap<String, String> {
    let lines =
        figures.flat_map(|f| &f.lines).map(|l| Ink::of(palette::parse(&l.colour).unwrap_or(palette::GREY)).hex());
    let lines = lines.map(|colour| (colour.clone(), palette::on_dark(&colour)));
    lines.chain(Inks::ON_DARK.iter().map(|(ink, dark)| (ink.hex(), (*dark).to_owned()))).collect()
}

/// Where everything goes.
struct Plan {
    height: u32,
    title: Vec<String>,
    legend: Legend,
    area: Area,
    x: Ruler,
    y: Ruler,
    /// Its title in lines.
    y_title: Vec<String>,
    x_labels: Vec<Label>,
    /// Where the title of the horizontal axis is, from the top.
    x_title: f64,
    /// Names of the ticks, by their numbers, where names find no room along the axis.
    key: Vec<(String, Vec<String>)>,
    colours: Vec<Ink>,
    /// Notes about the axes, in lines.
    notes: Vec<String>,
    /// For each line, its envelope if it turns too often to be drawn.
    envelopes: Vec<Option<Envelope>>,
}

impl Plan {
    fn new(figure: &Figure, width: u32) -> Self {
        let full = f64::from(width);
        let narrow = width < WIDTH;
        let wanted = if narrow { (4, 5) } else { (7, 5) };
        let (mut x, mut y) = rulers(figure, wanted);
        for (ruler, axis) in [(&mut x, &figure.x), (&mut y, &figure.y)] {
            // Numbers on an axis without data would be made up.
            if figure.is_empty() && axis.range.is_none() && axis.ticks.is_empty() {
                ruler.forget(axis);
            }
        }
        let title = wrap(&figure.title, full - 24.0, TITLE_SIZE as f64 * 1.16);
        let empty = figure.is_empty();
        let named = figure.lines.iter().enumerate().filter(|(_, l)| !l.name.is_empty() && !empty);
        let legend = Legend::new(named.map(|(i, l)| (i, l.name.as_str())), full - 24.0, TICK_SIZE as f64);
        let envelopes: Vec<Option<Envelope>> = figure.lines.iter().map(|l| envelope(l, &x, &y)).collect();
        let notes = if empty { String::new() } else { notes(figure, &x, &y, &envelopes, full - ASIDE) };
        let notes = wrap(&notes, full - 40.0, NOTE_SIZE as f64);
        let top = 12.0 + title.len() as f64 * 20.0 + legend.rows as f64 * 19.0 + notes.len() as f64 * NOTE_LINE + 10.0;

        let height = match (figure.equal_aspect, narrow) {
            (true, false) => 400.0,
            (true, true) => 240.0,
            (false, false) => 246.0,
            (false, true) => 190.0,
        };
        let y_title = wrap(&y.title, height + 40.0, LABEL_SIZE as f64);
        let aside = y_title.len().saturating_sub(1) as f64 * TITLE_LINE;
        let widest = y.ticks.iter().map(|t| text_width(&t.label, TICK_SIZE as f64)).fold(0.0, f64::max);
        let left = (12.0 + 22.0 + aside + widest.min(150.0).min(full / 4.0) + 10.0).max(56.0);
        let ends = x.ticks.last().filter(|t| t.at > 0.9).map_or(0.0, |t| text_width(&t.label, TICK_SIZE as f64) / 2.0);
        let right = full - 14.0 - ends.min(30.0);
        let area = Area { left, right, top, bottom: top + height };

        let (x, y) = if figure.equal_aspect && !x.is_log() && !y.is_log() {
            squared(figure, &area, x, y, wanted)
        } else {
            (x, y)
        };
        let (x_labels, names) = fitting(&x.ticks, &area);
        let rows = x_labels.iter().map(|(_, lines)| lines.len()).max().unwrap_or(1).max(1);
        let x_title = area.bottom + 20.0 + rows as f64 * 15.0;
        let mut bottom = x_title + if x.title.is_empty() { -8.0 } else { 14.0 };
        let room = full - KEY - 12.0;
        let key: Vec<(String, Vec<String>)> =
            names.into_iter().map(|(number, name)| (number, wrap(&name, room, TICK_SIZE as f64))).collect();
        if !key.is_empty() {
            bottom += key.iter().map(|(_, lines)| lines.len().max(1)).sum::<usize>() as f64 * KEY_LINE + 6.0;
        }
        let colours =
            figure.lines.iter().map(|l| Ink::of(palette::parse(&l.colour).unwrap_or(palette::GREY))).collect();
        let height = bottom as u32;
        Self { height, title, legend, area, x, y, y_title, x_labels, x_title, key, colours, notes, envelopes }
    }

    fn heading(&self, canvas: &mut Canvas, figure: &Figure) {
        for (i, line) in self.title.iter().enumerate() {
            canvas.bold(line, (12.0, 18.0 + i as f64 * 20.0), TITLE_SIZE, INK.black);
        }
        let top = 12.0 + self.title.len() as f64 * 20.0 + 9.0;
        for entry in &self.legend.entries {
            let (line, ink) = (&figure.lines[entry.line], self.colours[entry.line]);
            let (x, y) = (12.0 + entry.x, top + entry.row as f64 * 19.0);
            let shape = shape(figure, entry.line);
            match line.style {
                Style::Points => dot(canvas, line, shape, (x + 11.0, y), 3.4, ink),
                Style::Solid | Style::Dashed | Style::Steps => {
                    let alone = line.points.is_empty() && line.band.is_some();
                    if line.band.is_some() {
                        let ink = ink.alpha(opacity(figure, line));
                        canvas.rectangle((x, y - 5.0), (x + 22.0, y + 5.0), ink);
                    }
                    if !alone {
                        canvas.line(&[(x, y), (x + 22.0, y)], 2.0, ink, line.style == Style::Dashed);
                    }
                    if sparse(line) && !alone {
                        dot(canvas, line, shape, (x + 11.0, y), 3.4, ink);
                    }
                }
            }
            for (i, part) in entry.name.iter().enumerate() {
                canvas.text(part, (x + 28.0, y + i as f64 * 19.0), TICK_SIZE, INK.text, Anchor::Start);
            }
        }
        for (i, line) in self.notes.iter().rev().enumerate() {
            let y = self.area.top - 11.0 - i as f64 * NOTE_LINE;
            canvas.text(line, (self.area.left, y), NOTE_SIZE, INK.mark, Anchor::Start);
        }
    }

    /// Shades the part before the end of the warm-up.
    fn warm_up(&self, canvas: &mut Canvas, figure: &Figure) {
        let Some(end) = figure.warm_up.map(|end| self.x.place(end)).filter(|end| *end > 0.0) else { return };
        if figure.is_empty() {
            return;
        }
        let (from, to) = (self.area.at((0.0, 1.0)), self.area.at((end.min(1.0), 0.0)));
        canvas.rectangle(from, to, INK.faint.alpha(0.14));
    }

    fn frame(&self, canvas: &mut Canvas) {
        let a = &self.area;
        for at in &self.x.minor {
            canvas.line(&[a.at((*at, 0.0)), a.at((*at, 1.0))], 1.0, INK.pale, false);
        }
        for at in &self.y.minor {
            canvas.line(&[a.at((0.0, *at)), a.at((1.0, *at))], 1.0, INK.pale, false);
        }
        for tick in &self.x.ticks {
            canvas.line(&[a.at((tick.at, 0.0)), a.at((tick.at, 1.0))], 1.0, INK.grid, false);
        }
        for tick in &self.y.ticks {
            canvas.line(&[a.at((0.0, tick.at)), a.at((1.0, tick.at))], 1.0, INK.grid, false);
        }
        canvas.line(&[a.at((0.0, 1.0)), a.at((0.0, 0.0)), a.at((1.0, 0.0))], 1.0, INK.spine, false);
        for tick in &self.x.ticks {
            let (x, y) = a.at((tick.at, 0.0));
            canvas.line(&[(x, y), (x, y + 4.0)], 1.0, INK.spine, false);
        }
        for (tick, lines) in &self.x_labels {
            let (x, _) = a.at((tick.at, 0.0));
            for (i, line) in lines.iter().enumerate() {
                canvas.text(line, (x, a.bottom + 14.0 + i as f64 * 15.0), TICK_SIZE, INK.text, Anchor::Middle);
            }
        }
        for tick in &self.y.ticks {
            let (x, y) = a.at((0.0, tick.at));
            canvas.text(&tick.label, (x - 7.0, y), TICK_SIZE, INK.text, Anchor::End);
        }
        let (x, y) = a.middle();
        if !self.x.title.is_empty() {
            canvas.text(&self.x.title, (x, self.x_title), LABEL_SIZE, INK.text, Anchor::Middle);
        }
        for (i, line) in self.y_title.iter().enumerate() {
            canvas.upwards(line, (18.0 + i as f64 * TITLE_LINE, y), LABEL_SIZE, INK.text);
        }
        let mut y = self.x_title + if self.x.title.is_empty() { -2.0 } else { 24.0 };
        for (number, lines) in &self.key {
            canvas.text(number, (KEY - 8.0, y), TICK_SIZE, INK.mark, Anchor::End);
            for line in lines {
                canvas.text(line, (KEY, y), TICK_SIZE, INK.text, Anchor::Start);
                y += KEY_LINE;
            }
        }
    }

    fn data(&self, canvas: &mut Canvas, figure: &Figure) {
        let columns = columns(figure, self.area.right - self.area.left);
        for ((line, envelope), ink) in figure.lines.iter().zip(&self.envelopes).zip(&self.colours) {
            let band = envelope.as_ref().map(|e| e.band.as_slice()).or(line.band.as_deref());
            let opacity = opacity(figure, line);
            for piece in trace::bands(band.unwrap_or_default(), &self.x, &self.y, columns, figure.stacked) {
                self.band(canvas, &piece, *ink, opacity);
            }
        }
        let width = if figure.lines.len() > 6 { 1.4 } else { 1.8 };
        for (i, (line, ink)) in figure.lines.iter().zip(&self.colours).enumerate() {
            if line.style != Style::Points {
                let stairs = line.style == Style::Steps;
                let points = self.envelopes[i].as_ref().map_or(line.points.as_slice(), |e| e.mean.as_slice());
                for piece in trace::strokes(points, &self.x, &self.y, stairs, columns) {
                    let piece: Vec<_> = piece.into_iter().map(|p| self.area.at(p)).collect();
                    if piece.len() == 1 {
                        canvas.marker(Shape::Circle, piece[0], width, *ink);
                    } else {
                        canvas.line(&piece, width, *ink, line.style == Style::Dashed);
                    }
                }
            }
            if let Some(mean) = line.spread.map(|spread| (self.x.place(spread.mean.0), self.y.place(spread.mean.1)))
                && trace::inside(mean)
            {
                dot(canvas, line, Shape::Circle, self.area.at(mean), 4.4, *ink);
            }
            if line.style == Style::Points || sparse(line) {
                let size = match line.points.len() {
                    0..=SPARSE if line.style == Style::Points => 4.4,
                    0..=200 => 3.4,
                    _ => 1.6,
                };
                for p in trace::dots(&line.points, &self.x, &self.y, columns) {
                    dot(canvas, line, shape(figure, i), self.area.at(p), size, *ink);
                }
            }
            if let Some((x, _)) = cut_off(figure, line, &self.y) {
                let (x, y) = self.area.at((self.x.place(x).clamp(0.0, 1.0), 1.0));
                canvas.marker(Shape::Up, (x, y + 4.0), 4.0, *ink);
            }
        }
    }

    fn band(&self, canvas: &mut Canvas, piece: &[(f64, f64, f64)], ink: Ink, opacity: f64) {
        if let [(x, low, high)] = piece {
            let (low, high) = (self.area.at((*x, *low)), self.area.at((*x, *high)));
            canvas.line(&[low, high], 1.4, ink.alpha(0.6), false);
            for end in [low, high] {
                canvas.line(&[(end.0 - 4.0, end.1), (end.0 + 4.0, end.1)], 1.4, ink.alpha(0.6), false);
            }
            return;
        }
        let up = piece.iter().map(|b| self.area.at((b.0, b.2)));
        let down = piece.iter().rev().map(|b| self.area.at((b.0, b.1)));
        canvas.polygon(&up.chain(down).collect::<Vec<_>>(), ink.alpha(opacity));
    }

    fn marks(&self, canvas: &mut Canvas, figure: &Figure) {
        let mut drawn = self.drawn(figure);
        let area = self.area;
        for mark in &figure.marks {
            let at = match mark {
                Mark::Horizontal { at, .. } => (0.5, self.y.place(*at)),
                Mark::Vertical { at, .. } => (self.x.place(*at), 0.5),
                Mark::Point { x, y, .. } => (self.x.place(*x), self.y.place(*y)),
            };
            if !trace::inside(at) {
                continue;
            }
            let (x, y) = area.at(at);
            let (label, seats) = match mark {
                Mark::Horizontal { label, .. } => {
                    let thin = label.is_empty();
                    let (width, ink) = if thin { (1.0, INK.spine) } else { (1.2, INK.mark) };
                    canvas.line(&[(area.left, y), (area.right, y)], width, ink, !thin);
                    let (start, end) = (area.left + 6.0, area.right - 6.0);
                    let seats =
                        [(end, y - 9.0, End), (start, y - 9.0, Start), (end, y + 9.0, End), (start, y + 9.0, Start)];
                    (label, seats)
                }
                Mark::Vertical { label, .. } => {
                    let thin = label.is_empty();
                    let (width, ink) = if thin { (1.0, INK.spine) } else { (1.2, INK.mark) };
                    canvas.line(&[(x, area.top), (x, area.bottom)], width, ink, !thin);
                    let (top, bottom) = (area.top + 9.0, area.bottom - 10.0);
                    let seats =
                        [(x + 6.0, top, Start), (x - 6.0, top, End), (x + 6.0, bottom, Start), (x - 6.0, bottom, End)];
                    (label, seats)
                }
                Mark::Point { label, .. } => {
                    canvas.marker(Shape::Circle, (x, y), 5.0, INK.white);
                    canvas.marker(Shape::Circle, (x, y), 3.6, INK.black);
                    let (up, down) = (y - 12.0, y + 12.0);
                    let seats =
                        [(x + 7.0, up, Start), (x - 7.0, up, End), (x - 7.0, down, End), (x + 7.0, down, Start)];
                    (label, seats)
                }
            };
            let width = text_width(label, NOTE_SIZE as f64);
            let (x, y, anchor) = area.best_seat(&seats, width, &drawn);
            // The next label does not cover this one, whatever else it covers.
            let left = if anchor == End { x - width } else { x };
            drawn.extend((0..=width as usize).map(|at| (left + at as f64, y)));
            canvas.note(label, (x, y), NOTE_SIZE, anchor);
        }
    }

    /// Points along all lines and marks, near enough to each other to detect what a label would cover.
    fn drawn(&self, figure: &Figure) -> Vec<(f64, f64)> {
        let mut out = Vec::new();
        for line in &figure.lines {
            for piece in trace::strokes(&line.points, &self.x, &self.y, line.style == Style::Steps, 100) {
                let piece: Vec<_> = piece.into_iter().map(|p| self.area.at(p)).collect();
                out.extend(piece.first());
                for pair in piece.windows(2) {
                    let (a, b) = (pair[0], pair[1]);
                    let steps = (libm::hypot(b.0 - a.0, b.1 - a.1) / 5.0).ceil().max(1.0) as usize;
                    let part = |i: usize| i as f64 / steps as f64;
                    out.extend((1..=steps).map(|i| (a.0 + part(i) * (b.0 - a.0), a.1 + part(i) * (b.1 - a.1))));
                }
            }
        }
        out
    }
}

/// The height of a line of notes, of a line of the title of the vertical axis, and of a line of the key of names.
const NOTE_LINE: f64 = 15.0;
const TITLE_LINE: f64 = 16.0;
const KEY_LINE: f64 = 16.0;
/// About how much of the width lies beside the axes: notes are written before it is known.
const ASIDE: f64 = 80.0;
/// Where the names of the key begin, from the left.
const KEY: f64 = 36.0;
/// Names along an axis have at most so many lines.
const NAME_LINES: usize = 3;

/// Columns that points are thinned to. A stroke is two pixels wide: more columns are not visible, and a page has every figure twice.
fn columns(figure: &Figure, width: f64) -> usize {
    let visible = (width / 2.0).clamp(16.0, 280.0) as usize;
    (BUDGET / (4 * figure.lines.len().max(1))).clamp(16, visible)
}

/// Notes about the axes, and about replacements of the data in the drawing.
fn notes(figure: &Figure, x: &Ruler, y: &Ruler, envelopes: &[Option<Envelope>], width: f64) -> String {
    let mut notes = Vec::new();
    match (x.is_log(), y.is_log()) {
        (true, true) => notes.push("both axes logarithmic".to_owned()),
        (false, true) => notes.push("y axis logarithmic".to_owned()),
        (true, false) => notes.push("x axis logarithmic".to_owned()),
        (false, false) => {}
    }
    if y.leaves_out_zero() && !figure.equal_aspect {
        notes.push("y axis does not include 0".to_owned());
    }
    if envelopes.iter().any(Option::is_some) {
        notes.push("line: mean of neighbouring samples, shade: their range".to_owned());
    }
    let longest = figure.lines.iter().filter_map(|line| line.band.as_ref()).map(Vec::len).max().unwrap_or(0);
    if figure.stacked && longest > 2 * columns(figure, width) {
        notes.push("means of neighbouring samples".to_owned());
    }
    let most = figure.lines.iter().filter_map(|line| cut_off(figure, line, y)).map(|(_, value)| value);
    if let Some(most) = most.max_by(f64::total_cmp) {
        let most = quantity(most, &figure.y.unit, 3).replace(" 1/s", "/s");
        notes.push(format!("warm-up cut off: it reaches {most}"));
    }
    notes.join("; ")
}

/// The largest value of the warm-up that is above the range of the vertical axis, and its position.
fn cut_off(figure: &Figure, line: &Line, y: &Ruler) -> Option<(f64, f64)> {
    let end = figure.warm_up?;
    let above = line.points.iter().filter(|p| p.0 <= end && p.1.is_finite() && y.place(p.1) > 1.0 + 1e-9);
    above.copied().max_by(|a, b| a.1.total_cmp(&b.1))
}

fn envelope(line: &Line, x: &Ruler, y: &Ruler) -> Option<Envelope> {
    (line.style == Style::Solid && line.band.is_none()).then(|| trace::envelope(&line.points, x, y)).flatten()
}

/// A marker of a line.
fn dot(canvas: &mut Canvas, line: &Line, shape: Shape, at: (f64, f64), size: f64, ink: Ink) {
    if line.hollow {
        canvas.hollow(shape, at, size, ink);
    } else {
        canvas.marker(shape, at, size, ink);
    }
}

/// The shape of a line's markers; a line that belongs to the one before it has that line's.
fn shape(figure: &Figure, line: usize) -> Shape {
    let paired = |i: usize| i > 0 && figure.lines[i].hollow && figure.lines[i].colour == figure.lines[i - 1].colour;
    let own = (0..=line).filter(|i| !paired(*i)).count();
    Shape::number(own.saturating_sub(1))
}

/// Opacity of a band, and of one in a stack, which is all that there is of its line.
const BAND: f64 = 0.18;
const STACKED: f64 = 0.75;

fn opacity(figure: &Figure, line: &Line) -> f64 {
    if figure.stacked && line.points.is_empty() { STACKED } else { BAND }
}

fn sparse(line: &Line) -> bool {
    line.style != Style::Steps && !line.points.is_empty() && line.points.len() <= SPARSE
}

/// Both axes over all data and marks, with about so many ticks; the vertical one over the range of the horizontal one.
fn rulers(figure: &Figure, wanted: (usize, usize)) -> (Ruler, Ruler) {
    let drawn = |p: &(f64, f64)| p.0.is_finite() && p.1.is_finite();
    let points = || figure.lines.iter().flat_map(|l| l.points.iter()).copied().filter(drawn);
    let bands = || figure.lines.iter().flat_map(|l| l.band.iter().flatten()).filter(|b| drawn(&(b.0, b.1)));
    let mark_x = figure.marks.iter().filter_map(|m| match m {
        Mark::Vertical { at, .. } => Some(*at),
        Mark::Point { x, .. } => Some(*x),
        Mark::Horizontal { .. } => None,
    });
    let mark_y = figure.marks.iter().filter_map(|m| match m {
        Mark::Horizontal { at, .. } => Some(*at),
        Mark::Point { y, .. } => Some(*y),
        Mark::Vertical { .. } => None,
    });
    let count = |l: &Line| if l.points.is_empty() { l.band.as_ref().map_or(0, Vec::len) } else { l.points.len() };
    let few = figure.lines.iter().all(|l| count(l) <= SPARSE && l.style != Style::Steps);
    let (fit_x, fit_y) = match (figure.equal_aspect, few) {
        (true, _) => (Fit::Airy, Fit::Airy),
        (false, true) => (Fit::Airy, Fit::FromZero),
        (false, false) => (Fit::Tight, Fit::FromZero),
    };
    let x_values = points().map(|p| p.0).chain(bands().map(|b| b.0)).chain(mark_x);
    let x = Ruler::new(&figure.x, x_values, fit_x, wanted.0);
    let shown = |v: f64| (-1e-9..=1.0 + 1e-9).contains(&x.place(v));
    let y_points = points().filter(|p| shown(p.0));
    let y_bands = bands().filter(|b| shown(b.0)).flat_map(|b| [(b.0, b.1), (b.0, b.2)]);
    let values: Vec<(f64, f64)> = y_points.chain(y_bands).collect();
    let fits = after_warm_up(figure, &values);
    let y_values = values.iter().filter(|p| fits(**p)).map(|p| p.1);
    let y = Ruler::new(&figure.y, y_values.chain(mark_y), fit_y, wanted.1);
    (x, y)
}

/// Whether a value sets the scale of y: all but those of the warm-up that are far beyond the others.
fn after_warm_up(figure: &Figure, values: &[(f64, f64)]) -> impl Fn((f64, f64)) -> bool + use<> {
    let end = figure.warm_up.filter(|_| figure.y.scale == Scale::Linear).unwrap_or(f64::NEG_INFINITY);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (_, y) in values.iter().filter(|p| p.0 > end) {
        (low, high) = (low.min(*y), high.max(*y));
    }
    let room = 0.5 * (high.max(0.0) - low.min(0.0));
    // Without values after the warm-up, or with nothing but zeros there, the warm-up is all there is.
    let all = room.is_nan() || room <= 0.0 || !room.is_finite();
    move |(x, y)| all || x > end || (y <= high + room && y >= low - room)
}

/// Both axes with a unit of the same length: the one that has too much space shows more.
fn squared(figure: &Figure, area: &Area, x: Ruler, y: Ruler, wanted: (usize, usize)) -> (Ruler, Ruler) {
    let across = x.span() / (area.right - area.left);
    let up = y.span() / (area.bottom - area.top);
    if across < up {
        let x = x.widened(&figure.x, up * (area.right - area.left), wanted.0);
        (x, y)
    } else {
        let y = y.widened(&figure.y, across * (area.bottom - area.top), wanted.1 + 1);
        (x, y)
    }
}

/// A tick of the horizontal axis, and its label in lines.
type Label = (Place, Vec<String>);

/// Labels of the horizontal axis that do not touch each other, and names behind their numbers. Names are broken into lines; where
/// one of them finds no room so, all have numbers, and stand below. Of other labels those that find no space are left out.
fn fitting(ticks: &[Place], area: &Area) -> (Vec<Label>, Vec<(String, String)>) {
    let width = area.right - area.left;
    if !ticks.iter().any(|t| t.given) {
        return (apart(ticks.iter().map(|tick| (tick.clone(), tick.label.clone())), width), Vec::new());
    }
    let slot = ticks.windows(2).map(|t| (t[1].at - t[0].at) * width).fold(width, f64::min) - 8.0;
    let broken = |t: &Place| Some((t.clone(), fitted(&t.label, slot, TICK_SIZE as f64, NAME_LINES)?));
    if let Some(labels) = ticks.iter().map(broken).collect::<Option<Vec<_>>>() {
        return (labels, Vec::new());
    }
    let numbered = |(i, tick): (usize, &Place)| (tick.clone(), (i + 1).to_string());
    let names = ticks.iter().enumerate().map(|(i, tick)| ((i + 1).to_string(), tick.label.clone()));
    (apart(ticks.iter().enumerate().map(numbered), width), names.collect())
}

/// The labels that keep apart from those before them, along an axis of that length.
fn apart(labels: impl Iterator<Item = (Place, String)>, width: f64) -> Vec<Label> {
    let mut taken = f64::NEG_INFINITY;
    let mut kept = Vec::new();
    for (tick, label) in labels {
        let half = text_width(&label, TICK_SIZE as f64) / 2.0;
        let middle = tick.at * width;
        if middle - half > taken + 7.0 {
            taken = middle + half;
            kept.push((tick, vec![label]));
        }
    }
    kept
}

/// The figure in a sentence or two, for readers who listen to it.
fn describe(figure: &Figure) -> String {
    let mut text = figure.caption.clone();
    if !text.is_empty() && !text.ends_with('.') {
        text.push('.');
    }
    if !text.is_empty() {
        text.push(' ');
    }
    let _ = write!(text, "{} over {}.", figure.y.label, figure.x.label);
    let names: Vec<&str> = figure.lines.iter().map(|l| l.name.as_str()).filter(|n| !n.is_empty()).collect();
    if !names.is_empty() {
        let _ = write!(text, " Lines: {}.", names.join(", "));
    }
    if figure.is_empty() {
        text.push_str(" There are no data.");
    }
    text
}

#[cfg(test)]
mod tests;
