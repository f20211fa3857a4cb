//! Draws a heat map.

use super::canvas::{Anchor, Canvas, INK, Ink};
use super::words::{text_width, wrap};
use super::{LABEL_SIZE, TICK_SIZE, TITLE_SIZE, WIDTH};
use crate::heat::HeatMap;
use crate::number::{ABSENT, Prefix, short};
use crate::palette::{self, RAMP};

/// The height of a row, and the space between two fields.
const ROW: f64 = 32.0;
const GAP: f64 = 2.0;
/// Width and height of a colour of the key.
const KEY: (f64, f64) = (28.0, 12.0);
/// Between the fields and the right edge.
const MARGIN: f64 = 14.0;

/// The map as an `<svg>` element that stands alone or within a page.
pub fn heat_map(map: &HeatMap) -> String {
    let full = f64::from(WIDTH);
    let title = wrap(&map.title, full - 24.0, TITLE_SIZE as f64 * 1.16);
    let widest = map.y.values.iter().map(|name| text_width(name, TICK_SIZE as f64)).fold(0.0, f64::max);
    let left = (12.0 + 22.0 + widest.min(full / 4.0) + 10.0).max(56.0);
    let top = 12.0 + title.len() as f64 * 20.0 + 8.0;
    let width = (full - MARGIN - left) / map.x.values.len().max(1) as f64;
    let bottom = top + map.y.values.len() as f64 * ROW;
    let names: Vec<Vec<String>> = map.x.values.iter().map(|name| wrap(name, width - 6.0, TICK_SIZE as f64)).collect();
    let lines = names.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let below = bottom + 20.0 + lines as f64 * 15.0;
    let key = below + 24.0;

    // One unit for all numbers leaves room for them.
    let largest = map.range.0.abs().max(map.range.1.abs());
    let prefix = Prefix::for_value(largest, &map.unit);
    let show = |number: f64| short(number / prefix.factor, 3);

    let mut canvas = Canvas::new(WIDTH, (key + 20.0) as u32);
    let centre = |column: usize, row: usize| (left + (column as f64 + 0.5) * width, top + (row as f64 + 0.5) * ROW);
    let fields = || {
        let row = |(at, numbers): (usize, &Vec<Option<f64>>)| {
            let numbers = numbers.iter().take(map.x.values.len()).enumerate();
            numbers.map(|(column, number)| (centre(column, at), number.filter(|x| x.is_finite()))).collect::<Vec<_>>()
        };
        map.rows.iter().take(map.y.values.len()).enumerate().flat_map(row)
    };
    for ((x, y), number) in fields() {
        if let Some(number) = number {
            let (across, up) = ((width - GAP) / 2.0, (ROW - GAP) / 2.0);
            canvas.rectangle((x - across, y - up), (x + across, y + up), ink(map.colour(number, RAMP.len())));
        }
    }
    for ((x, y), number) in fields() {
        let words = number.map_or_else(|| ABSENT.to_owned(), show);
        canvas.text(&words, (x, y), TICK_SIZE, INK.black, Anchor::Middle);
    }
    for (at, line) in title.iter().enumerate() {
        canvas.bold(line, (12.0, 18.0 + at as f64 * 20.0), TITLE_SIZE, INK.black);
    }
    for (row, name) in map.y.values.iter().enumerate() {
        canvas.text(name, (left - 7.0, centre(0, row).1), TICK_SIZE, INK.text, Anchor::End);
    }
    for (column, name) in names.iter().enumerate() {
        for (at, line) in name.iter().enumerate() {
            let place = (centre(column, 0).0, bottom + 14.0 + at as f64 * 15.0);
            canvas.text(line, place, TICK_SIZE, INK.text, Anchor::Middle);
        }
    }
    canvas.text(&map.x.label, (f64::midpoint(left, full - MARGIN), below), LABEL_SIZE, INK.text, Anchor::Middle);
    canvas.upwards(&map.y.label, (18.0, f64::midpoint(top, bottom)), LABEL_SIZE, INK.text);
    for colour in 0..RAMP.len() {
        let from = left + colour as f64 * KEY.0;
        canvas.rectangle((from, key - KEY.1 / 2.0), (from + KEY.0, key + KEY.1 / 2.0), ink(colour));
    }
    let unit = format!("{}{}", prefix.symbol, map.unit);
    let range = format!("{} to {} {unit}", show(map.range.0), show(map.range.1));
    let place = (left + RAMP.len() as f64 * KEY.0 + 8.0, key);
    canvas.text(range.trim_end(), place, TICK_SIZE, INK.text, Anchor::Start);
    canvas.finish(&map.title, &describe(map, &show, &unit))
}

/// The colours of heat maps on a dark page, by those of the drawing.
pub(crate) fn ramp_on_dark() -> impl Iterator<Item = (String, String)> {
    (0..RAMP.len()).map(|at| (ink(at).hex(), palette::RAMP_ON_DARK[at].to_owned()))
}

fn ink(colour: usize) -> Ink {
    Ink::of(palette::parse(RAMP[colour]).unwrap_or(palette::GREY))
}

/// The map in a sentence for each row, for readers who listen to it.
fn describe(map: &HeatMap, show: &dyn Fn(f64) -> String, unit: &str) -> String {
    let row = |(name, numbers): (&String, &Vec<Option<f64>>)| {
        let words = map.x.values.iter().zip(numbers).map(|(column, number)| {
            let number = number.map_or_else(|| ABSENT.to_owned(), show);
            format!("{} {column}: {number} {unit}", map.x.label).trim_end().to_owned()
        });
        format!("{} {name}: {}.", map.y.label, words.collect::<Vec<_>>().join("; "))
    };
    map.y.values.iter().zip(&map.rows).map(row).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Scale;
    use crate::heat::HeatAxis;
    use crate::palette::{RAMP_ON_DARK, contrast};

    fn map() -> HeatMap {
        let axis = |label: &str, values: &[&str]| HeatAxis {
            label: label.into(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        HeatMap {
            title: "Standing queue".into(),
            x: axis("buffer", &["1 bdp", "8 bdp"]),
            y: axis("count", &["1", "16"]),
            unit: "s".into(),
            rows: vec![vec![Some(0.01), Some(0.025)], vec![None, Some(0.05)]],
            range: (0.01, 0.05),
            scale: Scale::Linear,
        }
    }

    /// Each number has its colour, and stands in its field; a field without a number has a dash.
    #[test]
    fn each_number_has_a_field() {
        let svg = heat_map(&map());
        let fields = |colour: usize| svg.matches(&format!("fill=\"{}\"", RAMP[colour].to_uppercase())).count();
        // One of each is that of the key. A quarter and a bit of six colours is the third.
        let found: Vec<usize> = (0..RAMP.len()).map(fields).collect();
        assert_eq!(found, [2, 1, 2, 1, 1, 2], "{svg}");
        let words: Vec<&str> =
            svg.split("<text").skip(1).filter_map(|text| text.split(['>', '<']).nth(1)).map(str::trim).collect();
        for word in ["10", "25", "50", ABSENT, "1 bdp", "8 bdp", "16", "buffer", "count", "10 to 50 ms"] {
            assert!(words.contains(&word), "{word}: {words:?}");
        }
        assert!(svg.contains("count 16: buffer 1 bdp: \u{2013} ms; buffer 8 bdp: 50 ms."), "{svg}");
        assert_eq!(svg, heat_map(&map()), "the same text for the same map");
    }

    /// Numbers are read on every colour: WCAG 2.2 requires a contrast of 4.5 of words (1.4.3).
    #[test]
    fn numbers_are_legible_on_every_colour() {
        for (light, dark) in RAMP.iter().zip(RAMP_ON_DARK) {
            assert!(contrast(light, &INK.black.hex()) >= 4.5, "{light}");
            assert!(contrast(dark, "#f0f3f5") >= 4.5, "{dark}");
        }
        // Its counterpart there is the one that words have.
        assert!(
            super::super::Inks::ON_DARK.iter().any(|(ink, dark)| ink.hex() == INK.black.hex() && *dark == "#f0f3f5")
        );
    }
}
