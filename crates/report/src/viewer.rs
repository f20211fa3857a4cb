//! Interactive figures of a page: the viewer, a script of `web/`, and the data of the figures.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::figure::{Axis, Figure, Line, Mark, Spread, Style};
use crate::palette;

/// The script and the style sheet of `web/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewer {
    /// The script.
    pub script: &'static str,
    /// Its style sheet.
    pub style: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/viewer.rs"));

impl Viewer {
    /// The viewer that this library was built with; none if it was built without node.
    pub fn built_in() -> Option<Self> {
        static UNPACKED: OnceLock<Option<Viewer>> = OnceLock::new();
        *UNPACKED.get_or_init(|| {
            let text = |packed| String::from_utf8(decompress_to_vec_zlib(packed).ok()?).ok();
            let [script, style] = BUILT?;
            // For the rest of the process, as any text of a program.
            Some(Self { script: text(script)?.leak(), style: text(style)?.leak() })
        })
    }
}

/// The hash by which a content security policy allows one inline element.
pub(crate) fn hash(content: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(content)))
}

/// The format of the data; the viewer refuses another one.
const FORMAT: u32 = 2;

/// The figures as JSON that may stand in an HTML element.
pub(crate) fn data(figures: &[&Figure]) -> String {
    written(figures, Columns::default())
}

/// As [`data`], in about a third of the bytes: a browser unpacks them in some milliseconds.
pub(crate) fn packed(figures: &[&Figure]) -> String {
    written(figures, Columns { packed: Some(Vec::new()), ..Columns::default() })
}

fn written(figures: &[&Figure], mut columns: Columns) -> String {
    let figures = figures.iter().map(|figure| of_figure(figure, &mut columns)).collect();
    let packed = columns.packed.map(|bytes| STANDARD.encode(compress_to_vec_zlib(&bytes, LEVEL)));
    let data = Data { format: FORMAT, figures, columns: columns.written, packed };
    // Numbers that are not finite are null. Nothing here can fail: every key is a string.
    let text = serde_json::to_string(&data).unwrap_or_default();
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[derive(Serialize)]
struct Data<'a> {
    format: u32,
    figures: Vec<Drawn<'a>>,
    /// Each column once, however many lines have it.
    columns: Vec<String>,
    /// The bytes of packed columns, compressed by zlib (RFC 1950), in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    packed: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Drawn<'a> {
    title: &'a str,
    x: &'a Axis,
    y: &'a Axis,
    lines: Vec<Curve<'a>>,
    marks: &'a [Mark],
    equal_aspect: bool,
    stacked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    warm_up: Option<f64>,
}

/// A line, its numbers as indices of the list of columns.
#[derive(Serialize)]
struct Curve<'a> {
    name: &'a str,
    colour: String,
    dark: String,
    style: Style,
    hollow: bool,
    x: usize,
    y: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    band: Option<[usize; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[usize; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spread: Option<Spread>,
}

fn of_figure<'a>(figure: &'a Figure, columns: &mut Columns) -> Drawn<'a> {
    Drawn {
        title: &figure.title,
        x: &figure.x,
        y: &figure.y,
        lines: figure.lines.iter().map(|line| of_line(line, columns)).collect(),
        marks: &figure.marks,
        equal_aspect: figure.equal_aspect,
        stacked: figure.stacked,
        warm_up: figure.warm_up,
    }
}

fn of_line<'a>(line: &'a Line, columns: &mut Columns) -> Curve<'a> {
    // A colour that is none is grey, as in the drawing.
    let colour = palette::hex(palette::parse(&line.colour).unwrap_or(palette::GREY));
    Curve {
        name: &line.name,
        dark: palette::on_dark(&colour),
        colour,
        style: line.style,
        hollow: line.hollow,
        x: columns.add(line.points.iter().map(|p| p.0)),
        y: columns.add(line.points.iter().map(|p| p.1)),
        band: line.band.as_deref().map(|band| columns.three(band)),
        range: line.range.as_deref().map(|range| columns.three(range)),
        spread: line.spread,
    }
}

/// Columns of numbers, each once.
#[derive(Default)]
struct Columns {
    written: Vec<String>,
    /// The place of each column by its text when it is not packed.
    places: BTreeMap<String, usize>,
    /// The bytes of packed columns; none where they are not packed.
    packed: Option<Vec<u8>>,
}

impl Columns {
    fn add(&mut self, values: impl Iterator<Item = f64>) -> usize {
        let numbers = column(&values.collect::<Vec<f64>>());
        let text = numbers.text();
        if let Some(place) = self.places.get(&text) {
            return *place;
        }
        let written = match (&mut self.packed, &numbers) {
            (Some(bytes), Numbers::Four(values)) => {
                let from = bytes.len();
                bytes.extend(planes(values));
                format!("p:{from},{}", values.len())
            }
            _ => text.clone(),
        };
        self.written.push(written);
        self.places.insert(text, self.written.len() - 1);
        self.written.len() - 1
    }

    fn three(&mut self, band: &[(f64, f64, f64)]) -> [usize; 3] {
        let (x, low, high) = (band.iter().map(|b| b.0), band.iter().map(|b| b.1), band.iter().map(|b| b.2));
        [self.add(x), self.add(low), self.add(high)]
    }
}

/// Relative error of a value that is written as a step of a regular column.
const REGULAR: f64 = 1e-12;
/// The first whole number that 32 bits cannot hold.
const MOST_WHOLE: f64 = 16_777_216.0;

/// A column before it is written.
enum Numbers {
    /// As text: `u:START,STEP,COUNT`, or `d:` and little-endian bytes of 64 bits in base64.
    Text(String),
    /// Seven digits of every number, whose text is `f:` and its little-endian bytes in base64.
    Four(Vec<f32>),
}

impl Numbers {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Four(values) => {
                format!("f:{}", STANDARD.encode(values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>()))
            }
        }
    }
}

/// Three numbers if they are regular, else 32 bits each. Larger counts, and numbers beyond the reach of 32 bits, have 64.
fn column(values: &[f64]) -> Numbers {
    if let Some(text) = regular(values) {
        return Numbers::Text(text);
    }
    // Values that are no numbers differ in their sign from machine to machine.
    let values: Vec<f64> = values.iter().map(|v| if v.is_nan() { f64::NAN } else { *v }).collect();
    // A column of counts has whole numbers only. Rates of whole packets are whole numbers too, but for the rounding of some.
    let counts = values.iter().all(|v| !v.is_finite() || *v == v.trunc());
    let fits = |v: &f64| {
        let size = v.abs();
        !v.is_finite() || *v == 0.0 || (1e-30..1e30).contains(&size) && (size < MOST_WHOLE || !counts)
    };
    if values.iter().all(fits) {
        return Numbers::Four(values.iter().map(|v| *v as f32).collect());
    }
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Numbers::Text(format!("d:{}", STANDARD.encode(bytes)))
}

/// How hard zlib tries, of 10: its usual level.
const LEVEL: u8 = 6;

/// The bytes that are compressed: of each number the second difference of its bits, small ones of either sign as small numbers;
/// first the lowest byte of all, then the next one. A smooth curve has upper bytes of nothing but zeros.
fn planes(values: &[f32]) -> Vec<u8> {
    let (mut last, mut step) = (0_u32, 0_u32);
    let mut coded = Vec::with_capacity(values.len());
    for value in values {
        let bits = value.to_bits();
        let difference = bits.wrapping_sub(last);
        let second = difference.wrapping_sub(step).cast_signed();
        (last, step) = (bits, difference);
        coded.push(((second << 1) ^ (second >> 31)).cast_unsigned().to_le_bytes());
    }
    (0..4).flat_map(|plane| coded.iter().map(move |bytes| bytes[plane])).collect()
}

fn regular(values: &[f64]) -> Option<String> {
    let [first, .., last] = values else { return None };
    let steps = (values.len() - 1) as f64;
    let step = (last - first) / steps;
    let room = REGULAR * first.abs().max(last.abs());
    let on_step = |(i, v): (usize, &f64)| (first + step * i as f64 - v).abs() <= room;
    let all = step.is_finite() && values.iter().enumerate().all(on_step);
    all.then(|| format!("u:{first},{step},{}", values.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_samples_are_three_numbers() {
        let times: Vec<f64> = (1..=600).map(|i| f64::from(i) * 0.1).collect();
        let text = column(&times).text();
        let parts: Vec<f64> = text.strip_prefix("u:").unwrap().split(',').map(|part| part.parse().unwrap()).collect();
        let [start, step, count] = parts[..] else { panic!("{text}") };
        assert_eq!(count, 600.0);
        assert!(times.iter().enumerate().all(|(i, at)| (start + step * i as f64 - at).abs() < 1e-10), "{text}");
        let mut late = times.clone();
        late[300] += 1e-6;
        assert!(column(&late).text().starts_with("f:"));
    }

    /// The viewer's value differs from the true one by less than half of the seventh digit.
    #[test]
    fn numbers_have_seven_digits() {
        let values = [std::f64::consts::PI, -1.25e-9, 9.99e8 + 0.5, 123_456_789.5, f64::NAN, f64::INFINITY, 0.0];
        let bytes = STANDARD.decode(column(&values).text().strip_prefix("f:").unwrap()).unwrap();
        for (four, value) in bytes.chunks(4).zip(values) {
            let read = f64::from(f32::from_le_bytes(four.try_into().unwrap()));
            assert!(read == value || (read - value).abs() <= 6e-8 * value.abs() || value.is_nan() && read.is_nan());
        }
        let counts = [16_777_217.0, 5.0, 1e12 + 1.0];
        let bytes = STANDARD.decode(column(&counts).text().strip_prefix("d:").unwrap()).unwrap();
        assert_eq!(bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect::<Vec<_>>(), counts);
    }

    /// Goodputs of whole packets in a tenth of a second are whole numbers but for the rounding of some.
    #[test]
    fn rates_have_seven_digits_though_some_are_whole() {
        let rates = [3_504_000.000_000_000_5, 19_622_400.0, 20_040_000.0, 24_060_800.000_000_004, f64::NAN];
        assert!(column(&rates).text().starts_with("f:"));
        assert!(column(&[19_622_400.0, 20_040_000.0, 5.0, f64::NAN]).text().starts_with("d:"), "these may be counts");
        assert!(column(&[19_622_400.0, 0.5, 1e31]).text().starts_with("d:"), "32 bits do not reach so far");
    }

    #[test]
    fn what_is_no_number_has_the_same_bytes() {
        assert_eq!(column(&[1.0, -f64::NAN, 5.0]).text(), column(&[1.0, f64::NAN, 5.0]).text());
    }

    #[test]
    fn lines_share_their_times() {
        let mut figure = Figure::new("t", Axis::new("Time", "s"), Axis::new("Queue", "packets"));
        figure.lines = vec![Line::new("a", vec![(0.0, 1.0), (1.0, 7.0), (2.0, 3.0)]); 2];
        figure.lines[1].points[0].1 = 9.0;
        let data: serde_json::Value = serde_json::from_str(&data(&[&figure, &figure])).unwrap();
        assert_eq!(data["columns"].as_array().unwrap().len(), 3);
        assert_eq!(data["figures"][1]["lines"][1]["x"], data["figures"][0]["lines"][0]["x"]);
    }

    /// What is packed is what is written otherwise, in fewer bytes.
    #[test]
    fn a_packed_column_is_the_same_numbers() {
        let wave = |i: i32| (f64::from(i) * 0.1, libm::sin(f64::from(i) * 0.01) + if i % 7 == 0 { -3.0 } else { 0.0 });
        let mut points: Vec<(f64, f64)> = (0..2000).map(wave).collect();
        for (at, value) in [(5, f64::NAN), (6, -0.0), (7, f64::INFINITY), (8, -1e-29), (9, 9e6)] {
            points[at].1 = value;
        }
        let mut figure = Figure::new("t", Axis::new("Time", "s"), Axis::new("Queue", "packets"));
        figure.lines = vec![Line::new("a", points), Line::new("b", vec![(0.5, 2.0), (0.6, 3.0), (0.9, 5.0)])];
        let read = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap();
        let (plain, packed) = (data(&[&figure, &figure]), packed(&[&figure, &figure]));
        assert!(3 * packed.len() < 2 * plain.len(), "{} of {}", packed.len(), plain.len());
        let (plain, packed) = (read(plain), read(packed));
        assert_eq!(packed["figures"], plain["figures"]);
        let bytes = STANDARD.decode(packed["packed"].as_str().unwrap()).unwrap();
        let bytes = decompress_to_vec_zlib(&bytes).unwrap();
        let columns =
            |of: &serde_json::Value| -> Vec<String> { serde_json::from_value(of["columns"].clone()).unwrap() };
        let mut unpacked = 0;
        for (packed, plain) in columns(&packed).iter().zip(columns(&plain)) {
            let Some(place) = packed.strip_prefix("p:") else {
                assert_eq!(*packed, plain);
                continue;
            };
            let (from, count) = place.split_once(',').unwrap();
            let (from, count): (usize, usize) = (from.parse().unwrap(), count.parse().unwrap());
            let (mut last, mut step) = (0_u32, 0_u32);
            let values = (0..count).map(|i| {
                let four = [0, 1, 2, 3].map(|plane| bytes[from + plane * count + i]);
                let coded = u32::from_le_bytes(four);
                step = step.wrapping_add((coded >> 1) ^ (coded & 1).wrapping_neg());
                last = last.wrapping_add(step);
                f32::from_bits(last)
            });
            assert_eq!(Numbers::Four(values.collect()).text(), plain);
            unpacked += 1;
        }
        assert_eq!(unpacked, 3);
    }

    #[test]
    fn a_name_cannot_end_the_element() {
        let mut figure = Figure::new("</script><script>", Axis::new("", ""), Axis::new("", ""));
        figure.lines.push(Line::new("<!--", vec![]).coloured("url(x)"));
        let text = data(&[&figure]);
        assert!(!text.contains('<') && !text.contains("url("), "{text}");
        let data: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(data["figures"][0]["title"], "</script><script>");
    }
}
