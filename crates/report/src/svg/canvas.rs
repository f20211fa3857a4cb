//! Strokes, shapes and words on plotters' SVG backend.
//!
//! The backend knows whole numbers only, no dashes, no title and no role. So it draws ten times as large into a view box
//! that is scaled down; dashed strokes are given an odd width; and [`Canvas::finish`] puts the others in afterwards.

use std::fmt::Write as _;

use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, FontTransform, RGBAColor, RGBColor, TextStyle};

use super::words::text_width;
use crate::html::escape;
use crate::palette;
use crate::straight::straightened;

/// Units of the backend to the pixel.
const FINE: f64 = 10.0;
/// The backend divides font sizes by this.
const FONT_FACTOR: f64 = 1.24;

/// A colour with its opacity.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ink(RGBAColor);

impl Ink {
    pub(super) const fn of((r, g, b): (u8, u8, u8)) -> Self {
        Self(RGBAColor(r, g, b, 1.0))
    }

    /// `#RRGGBB`, as the backend writes it.
    pub(super) fn hex(self) -> String {
        palette::hex((self.0.0, self.0.1, self.0.2)).to_uppercase()
    }

    pub(super) fn alpha(self, alpha: f64) -> Self {
        Self(RGBColor(self.0.0, self.0.1, self.0.2).mix(alpha))
    }
}

/// The colours of everything but the data.
pub(super) struct Inks {
    pub(super) black: Ink,
    pub(super) text: Ink,
    pub(super) mark: Ink,
    pub(super) faint: Ink,
    pub(super) spine: Ink,
    pub(super) grid: Ink,
    pub(super) pale: Ink,
    pub(super) white: Ink,
}

pub(super) const INK: Inks = Inks {
    black: Ink::of((0x1a, 0x1a, 0x1a)),
    text: Ink::of((0x33, 0x33, 0x33)),
    mark: Ink::of((0x55, 0x55, 0x55)),
    faint: Ink::of((0x77, 0x77, 0x77)),
    spine: Ink::of((0x8c, 0x8c, 0x8c)),
    grid: Ink::of((0xe3, 0xe6, 0xe8)),
    pale: Ink::of((0xf2, 0xf4, 0xf5)),
    white: Ink::of((0xff, 0xff, 0xff)),
};

impl Inks {
    /// Each with its counterpart on a dark page.
    pub(super) const ON_DARK: [(Ink, &'static str); 8] = [
        (INK.black, "#f0f3f5"),
        (INK.text, "#d5dce1"),
        (INK.mark, "#b6c1c9"),
        (INK.faint, "#98a4ac"),
        (INK.spine, "#75828b"),
        (INK.grid, "#2c353b"),
        (INK.pale, "#22292e"),
        (INK.white, palette::DARK_GROUND),
    ];
}

/// Which side of a text is at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Shapes that distinguish lines without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Up,
    Diamond,
    Down,
}

impl Shape {
    /// The shape of a line by its index.
    pub(super) fn number(i: usize) -> Self {
        [Self::Circle, Self::Square, Self::Up, Self::Diamond, Self::Down][i % 5]
    }
}

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// A drawing in the making.
pub(super) struct Canvas {
    size: (u32, u32),
    body: String,
}

impl Canvas {
    pub(super) fn new(width: u32, height: u32) -> Self {
        Self { size: (width, height), body: String::new() }
    }

    fn on(&mut self, draw: impl FnOnce(&DrawingArea<SVGBackend<'_>, Shift>) -> Drawn) {
        let mut text = String::new();
        {
            let size = (self.size.0 * FINE as u32, self.size.1 * FINE as u32);
            let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
            draw(&area).and_then(|()| area.present()).expect("a String takes all text");
        }
        // One backend a stroke: what it wraps around each is cut off here and written once in the end.
        let inner = text.split_once('\n').map_or("", |(_, rest)| rest);
        self.body.push_str(inner.trim_end().strip_suffix("</svg>").unwrap_or(inner));
    }

    /// A stroke through points.
    pub(super) fn line(&mut self, points: &[(f64, f64)], width: f64, ink: Ink, dashed: bool) {
        let even = (width * FINE / 2.0).round() as u32 * 2;
        let width = even + u32::from(dashed);
        let path = straightened(&points.iter().map(|p| fine(*p)).collect::<Vec<_>>());
        self.on(|area| area.draw(&PathElement::new(path, ink.0.stroke_width(width))));
    }

    /// A filled polygon.
    pub(super) fn polygon(&mut self, points: &[(f64, f64)], ink: Ink) {
        let path = straightened(&points.iter().map(|p| fine(*p)).collect::<Vec<_>>());
        self.on(|area| area.draw(&Polygon::new(path, ink.0.filled())));
    }

    /// A filled rectangle.
    pub(super) fn rectangle(&mut self, a: (f64, f64), b: (f64, f64), ink: Ink) {
        self.on(|area| area.draw(&Rectangle::new([fine(a), fine(b)], ink.0.filled())));
    }

    /// A filled shape around a point.
    pub(super) fn marker(&mut self, shape: Shape, (x, y): (f64, f64), r: f64, ink: Ink) {
        let around = |ring: &[(f64, f64)]| ring.iter().map(|d| (x + d.0 * r, y + d.1 * r)).collect::<Vec<_>>();
        match shape {
            Shape::Circle => {
                let radius = (r * FINE).round() as i32;
                self.on(|area| area.draw(&Circle::new(fine((x, y)), radius, ink.0.filled())));
            }
            Shape::Square => self.rectangle((x - 0.88 * r, y - 0.88 * r), (x + 0.88 * r, y + 0.88 * r), ink),
            Shape::Up => self.polygon(&around(&[(0.0, -1.25), (1.15, 0.8), (-1.15, 0.8)]), ink),
            Shape::Down => self.polygon(&around(&[(0.0, 1.25), (1.15, -0.8), (-1.15, -0.8)]), ink),
            Shape::Diamond => self.polygon(&around(&[(0.0, -1.35), (1.2, 0.0), (0.0, 1.35), (-1.2, 0.0)]), ink),
        }
    }

    /// The rim of a shape around a point.
    pub(super) fn hollow(&mut self, shape: Shape, at: (f64, f64), r: f64, ink: Ink) {
        self.marker(shape, at, r + 0.4, ink);
        self.marker(shape, at, r - 1.1, INK.white);
    }

    /// Words, vertically centred on their point.
    pub(super) fn text(&mut self, text: &str, at: (f64, f64), size: u32, ink: Ink, anchor: Anchor) {
        let h = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        self.words(text, at, font(size, FontStyle::Normal), ink, h);
    }

    /// Bold words that start at their point.
    pub(super) fn bold(&mut self, text: &str, at: (f64, f64), size: u32, ink: Ink) {
        self.words(text, at, font(size, FontStyle::Bold), ink, HPos::Left);
    }

    /// Words that run upwards, centred on their point.
    pub(super) fn upwards(&mut self, text: &str, at: (f64, f64), size: u32, ink: Ink) {
        let font = font(size, FontStyle::Normal).transform(FontTransform::Rotate270);
        self.words(text, at, font, ink, HPos::Center);
    }

    /// Small words on a white plate, readable over lines.
    pub(super) fn note(&mut self, text: &str, at: (f64, f64), size: u32, anchor: Anchor) {
        if text.is_empty() {
            return;
        }
        let width = text_width(text, size as f64);
        let left = match anchor {
            Anchor::Start => at.0,
            Anchor::Middle => at.0 - width / 2.0,
            Anchor::End => at.0 - width,
        };
        let plate = INK.white.alpha(0.8);
        self.rectangle((left - 2.0, at.1 - 7.0), (left + width + 2.0, at.1 + 7.0), plate);
        self.text(text, at, size, INK.mark, anchor);
    }

    fn words(&mut self, text: &str, at: (f64, f64), font: FontDesc<'_>, ink: Ink, h: HPos) {
        if text.is_empty() {
            return;
        }
        let style = TextStyle::from(font).color(&ink.0).pos(Pos::new(h, VPos::Center));
        let text = crate::html::printable(text);
        self.on(|area| area.draw_text(&text, &style, fine(at)));
    }

    /// The whole element.
    pub(super) fn finish(self, title: &str, description: &str) -> String {
        let (w, h) = self.size;
        let (fw, fh) = (w * FINE as u32, h * FINE as u32);
        let body = polished(&self.body);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {fw} {fh}\" role=\"img\" \
             stroke-linejoin=\"round\"{SANS}>\n<title>{}</title>\n<desc>{}</desc>\n\
             <rect width=\"{fw}\" height=\"{fh}\" fill=\"#FFFFFF\"/>\n{body}</svg>\n",
            escape(title),
            escape(description)
        )
    }
}

fn font(size: u32, style: FontStyle) -> FontDesc<'static> {
    FontDesc::new(FontFamily::SansSerif, size as f64 * FINE * FONT_FACTOR, style)
}

fn fine((x, y): (f64, f64)) -> (i32, i32) {
    ((x * FINE).round() as i32, (y * FINE).round() as i32)
}

/// The font of all words, once an element.
const SANS: &str = " font-family=\"sans-serif\"";

/// Makes strokes of odd width dashed, one narrower, rounds font sizes, and leaves out redundant attributes.
fn polished(body: &str) -> String {
    let dash = |width: &str| match width.parse::<u32>() {
        Ok(width) if width % 2 == 1 => format!("{}\" stroke-dasharray=\"60 40", width - 1),
        _ => width.to_owned(),
    };
    let round = |size: &str| size.parse::<f64>().map_or_else(|_| size.to_owned(), |s| s.round().to_string());
    let mut body = attribute(body, " font-size=\"", round);
    for redundant in
        [" opacity=\"1\"", " stroke=\"none\" stroke-width=\"1\"", " stroke=\"none\"", " text-anchor=\"start\"", SANS]
    {
        body = body.replace(redundant, "");
    }
    let body = attribute(&body, " stroke-width=\"", dash);
    alike(&steps(&steps(&together(&body), "polyline", ""), "polygon", "z"))
}

/// Attributes that words have from the element around them, if they do not have their own.
const INHERITED: [&str; 4] = [" text-anchor=\"", " font-size=\"", " fill=\"", " font-weight=\""];

/// One `<text>` element.
struct Words<'a> {
    /// Its own attributes, and those that it would inherit.
    own: String,
    look: String,
    text: &'a str,
}

impl<'a> Words<'a> {
    /// The element at the start of a text, and what is behind it.
    fn first(body: &'a str) -> Option<(Self, &'a str)> {
        let (attributes, rest) = body.strip_prefix("<text")?.split_once('>')?;
        let (text, rest) = rest.split_once("</text>")?;
        let (mut own, mut look) = (String::new(), String::new());
        // Values have no quotes: those of words are escaped.
        let mut rest_of = attributes;
        while let Some(end) = rest_of.match_indices('"').nth(1).map(|(at, _)| at + 1) {
            let (attribute, behind) = rest_of.split_at(end);
            let inherited = INHERITED.iter().any(|name| attribute.starts_with(name));
            (if inherited { &mut look } else { &mut own }).push_str(attribute);
            rest_of = behind;
        }
        Some((Self { own, look, text: text.trim_matches('\n') }, rest.strip_prefix('\n').unwrap_or(rest)))
    }
}

/// Writes the look of neighbouring words of one look once, around them: labels along an axis take two thirds of the bytes.
fn alike(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while !rest.is_empty() {
        let mut words = Vec::new();
        while let Some((first, behind)) = Words::first(rest) {
            words.push(first);
            rest = behind;
        }
        for group in words.chunk_by(|a, b| a.look == b.look) {
            let look = &group[0].look;
            let shared = group.len() > 1;
            let inside = if shared { "" } else { look };
            let elements = group.iter().map(|Words { own, text, .. }| format!("<text{own}{inside}>{text}</text>\n"));
            let elements: String = elements.collect();
            if shared {
                let _ = writeln!(out, "<g{look}>{elements}</g>");
            } else {
                out.push_str(&elements);
            }
        }
        let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        if !line.is_empty() {
            out.extend([line, "\n"]);
        }
        rest = behind;
    }
    out
}

/// Writes neighbouring segments of one style as one path: a grid and its ticks take a tenth of the bytes.
fn together(body: &str) -> String {
    let segment = |line: &str| {
        let (style, points) = line.strip_prefix("<polyline ")?.strip_suffix(" \"/>")?.split_once("points=\"")?;
        (points.split(' ').count() == 2).then(|| (style.to_owned(), format!("M{points}")))
    };
    let style = |line: &str| segment(line).map(|(style, _)| style);
    let mut out = String::with_capacity(body.len());
    for alike in body.lines().collect::<Vec<_>>().chunk_by(|a, b| style(a).is_some() && style(a) == style(b)) {
        match style(alike[0]) {
            Some(style) => {
                let path: String = alike.iter().filter_map(|line| segment(line)).map(|(_, path)| path).collect();
                let _ = writeln!(out, "<path {style}d=\"{path}\"/>");
            }
            None => out.extend([alike[0], "\n"]),
        }
    }
    out
}

/// With fewer points than this there is nothing to gain.
const LONG: usize = 6;

/// Writes long shapes of that name as paths of steps from point to point, which take half the bytes. `end` ends a path.
fn steps(body: &str, shape: &str, end: &str) -> String {
    let (head, name) = (format!("<{shape} "), " points=\"");
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some((before, element)) = rest.split_once(&head) {
        let (element, tail) = element.split_once("/>").unwrap_or((element, ""));
        out.push_str(before);
        match element.split_once(name).and_then(|(attributes, points)| {
            let (points, more) = points.split_once('"')?;
            Some(format!("<path {attributes}{more} d=\"{}{end}\"/>", path(points)?))
        }) {
            Some(path) => out.push_str(&path),
            None => out.extend([head.as_str(), element, "/>"]),
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// Points as steps; none where they are few.
fn path(points: &str) -> Option<String> {
    let number = |text: &str| text.parse::<i64>().ok();
    let point = |text: &str| text.split_once(',').and_then(|(x, y)| Some((number(x)?, number(y)?)));
    let points: Vec<(i64, i64)> = points.split_whitespace().map(point).collect::<Option<_>>()?;
    if points.len() < LONG {
        return None;
    }
    let mut out = String::from("m");
    let mut at = (0, 0);
    for (i, (x, y)) in points.into_iter().enumerate() {
        let (dx, dy) = (x - at.0, y - at.1);
        // A sign parts numbers as well as a space does.
        let parted = i == 0 || dx < 0;
        let _ = write!(out, "{}{dx}{}{dy}", if parted { "" } else { " " }, if dy < 0 { "" } else { "," });
        at = (x, y);
    }
    Some(out)
}

/// Rewrites every value of an attribute. Words cannot be mistaken for one: their quotes are escaped.
fn attribute(body: &str, name: &str, rewrite: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find(name) {
        let (before, after) = rest.split_at(at + name.len());
        let (value, tail) = after.split_at(after.find('"').unwrap_or(after.len()));
        out.push_str(before);
        out.push_str(&rewrite(value));
        rest = tail;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels along an axis have their look once, and every word stays in its order, at its place and with its look.
    #[test]
    fn words_of_one_look_have_it_once() {
        let body = "<text x=\"1\" y=\"2\" dy=\"0.5ex\" text-anchor=\"end\" font-size=\"120\" fill=\"#333333\">\n0 a\n</text>\n\
                    <text x=\"1\" y=\"3\" dy=\"0.5ex\" text-anchor=\"end\" font-size=\"120\" fill=\"#333333\">\n&quot;5\n</text>\n\
                    <text x=\"4\" y=\"3\" font-size=\"120\" fill=\"#333333\" transform=\"rotate(270, 4, 3)\">\nup\n</text>\n<rect a/>\n\
                    <text x=\"1\" y=\"9\" font-size=\"120\" fill=\"#333333\">\nalone\n</text>\n";
        let expected = "<g text-anchor=\"end\" font-size=\"120\" fill=\"#333333\"><text x=\"1\" y=\"2\" dy=\"0.5ex\">0 a</text>\n\
                        <text x=\"1\" y=\"3\" dy=\"0.5ex\">&quot;5</text>\n</g>\n\
                        <text x=\"4\" y=\"3\" transform=\"rotate(270, 4, 3)\" font-size=\"120\" fill=\"#333333\">up</text>\n<rect a/>\n\
                        <text x=\"1\" y=\"9\" font-size=\"120\" fill=\"#333333\">alone</text>\n";
        assert_eq!(alike(body), expected);
    }

    /// A grid is one path of its style, and words between two styles stay where they were.
    #[test]
    fn segments_of_one_style_are_one_path() {
        let body = "<polyline a points=\"1,2 3,4 \"/>\n<polyline a points=\"5,6 7,8 \"/>\n<polyline b points=\"1,1 2,2 \"/>\n<text>\n\
                    12\n</text>\n<polyline b points=\"3,3 4,4 \"/>\n<polyline b points=\"3,3 4,4 5,5 \"/>\n";
        let expected = "<path a d=\"M1,2 3,4M5,6 7,8\"/>\n<path b d=\"M1,1 2,2\"/>\n<text>\n12\n</text>\n\
                        <path b d=\"M3,3 4,4\"/>\n<polyline b points=\"3,3 4,4 5,5 \"/>\n";
        assert_eq!(together(body), expected);
    }

    /// The steps lead through the same points, and short lines or other shapes stay as they were.
    #[test]
    fn steps_lead_through_the_same_points() {
        let points: Vec<(i64, i64)> = (0..40).map(|i| (10 * i, 100 - 7 * (i % 5) + i)).collect();
        let list: String = points.iter().fold(String::new(), |list, (x, y)| list + &format!("{x},{y} "));
        let body = format!(
            "<polyline fill=\"none\" points=\"{list}\"/>\n<polyline points=\"1,2 3,4 \"/>\n<text>polyline points</text>"
        );
        let written = polished(&body);
        let (_, d) = written.split_once("<path fill=\"none\" d=\"m").unwrap();
        let (d, rest) = d.split_once("\"/>").unwrap();
        let apart = d.replace('-', " -").replace(',', " ");
        let numbers: Vec<i64> = apart.split_whitespace().map(|n| n.parse().unwrap()).collect();
        let mut at = (0, 0);
        let reached: Vec<(i64, i64)> = numbers
            .chunks(2)
            .map(|s| {
                at = (at.0 + s[0], at.1 + s[1]);
                at
            })
            .collect();
        assert_eq!(reached, points);
        assert_eq!(rest, "\n<path d=\"M1,2 3,4\"/>\n<text>polyline points</text>\n");
        assert!(4 * d.len() < 3 * list.len(), "{} of {}", d.len(), list.len());
    }
}
