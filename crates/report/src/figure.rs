//! A figure: a small spec plus data, a pure value.

use serde::{Deserialize, Serialize};

/// A plot of lines over two axes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Its title.
    pub title: String,
    /// Explanation for a reader; stands below the figure.
    #[serde(default)]
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The data.
    pub lines: Vec<Line>,
    /// Reference lines and points.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// Whether a unit is equally long on both axes, as in the complex plane. Linear axes only.
    #[serde(default)]
    pub equal_aspect: bool,
    /// Where along x the warm-up ends. The part before is shaded, and does not set the scale of y alone: points far beyond
    /// the others are cut off and marked.
    #[serde(default)]
    pub warm_up: Option<f64>,
    /// Whether the bands of the lines lie on each other, so that each is as high as its value.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stacked: bool,
}

// The signature is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// One axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Name of the quantity, without its unit.
    pub label: String,
    /// The unit of the data, without prefix: `bit/s`, `s`, `packets`; empty for pure numbers. The drawing chooses a prefix.
    #[serde(default)]
    pub unit: String,
    /// Scale from values to lengths.
    #[serde(default)]
    pub scale: Scale,
    /// First and last value shown; none shows all data.
    #[serde(default)]
    pub range: Option<(f64, f64)>,
    /// Where ticks stand; empty lets the drawing choose.
    #[serde(default)]
    pub ticks: Vec<Tick>,
}

/// Scale from values to lengths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// In proportion.
    #[default]
    Linear,
    /// By their logarithm; zero and less have no position.
    Log,
}

/// A tick of an axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tick {
    /// Where.
    pub at: f64,
    /// Its label; none prints the value.
    #[serde(default)]
    pub label: Option<String>,
}

/// One line of a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name in the legend; empty keeps it out of the legend.
    pub name: String,
    /// `#rrggbb`; [`crate::palette::assign`] keeps lines apart.
    pub colour: String,
    /// Its style.
    #[serde(default)]
    pub style: Style,
    /// Whether its markers are hollow: data of others. After a line of the same colour it shows the same thing, and has
    /// that line's shape.
    #[serde(default)]
    pub hollow: bool,
    /// The data; a point with a number that is not finite breaks the line. (JSON writes such a number as null.)
    #[serde(with = "gaps")]
    pub points: Vec<(f64, f64)>,
    /// For each x a lowest and a highest value: an interval, or a range.
    #[serde(default, with = "gaps_in_band", skip_serializing_if = "Option::is_none")]
    pub band: Option<Vec<(f64, f64, f64)>>,
    /// For each x the smallest and the largest value, which the viewer shows on demand; the drawing leaves it out.
    #[serde(default, with = "gaps_in_band", skip_serializing_if = "Option::is_none")]
    pub range: Option<Vec<(f64, f64, f64)>>,
    /// Of a line that is the ellipse of one standard deviation around a mean, the numbers that it is made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

/// Mean and standard deviation of samples along both axes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The means of x and y, where the drawing has a point.
    pub mean: (f64, f64),
    /// Their standard deviations.
    pub deviation: (f64, f64),
    /// Their correlation, over the samples that have both.
    pub correlation: f64,
    /// How many samples x and y have.
    pub samples: (usize, usize),
}

/// Style of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// From point to point.
    #[default]
    Solid,
    /// From point to point, dashed.
    Dashed,
    /// Points only.
    Points,
    /// Each value holds until the next point.
    Steps,
}

/// A reference in a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// A line across, at a value of y.
    Horizontal {
        /// Where.
        at: f64,
        /// Its name.
        label: String,
    },
    /// A line up, at a value of x.
    Vertical {
        /// Where.
        at: f64,
        /// Its name.
        label: String,
    },
    /// A point.
    Point {
        /// Where, across.
        x: f64,
        /// Where, up.
        y: f64,
        /// Its name.
        label: String,
    },
}

impl Figure {
    /// A figure without data.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            caption: String::new(),
            x,
            y,
            lines: Vec::new(),
            marks: Vec::new(),
            equal_aspect: false,
            warm_up: None,
            stacked: false,
        }
    }

    /// The same with a caption.
    #[must_use]
    pub fn captioned(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        !self.lines.iter().any(|l| {
            l.points.iter().any(|p| p.0.is_finite() && p.1.is_finite())
                || l.band.iter().flatten().any(|b| b.0.is_finite() && b.1.is_finite() && b.2.is_finite())
        })
    }
}

impl Axis {
    /// A linear axis that shows all data.
    pub fn new(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { label: label.into(), unit: unit.into(), scale: Scale::Linear, range: None, ticks: Vec::new() }
    }

    /// The same on a logarithmic scale.
    #[must_use]
    pub fn log(mut self) -> Self {
        self.scale = Scale::Log;
        self
    }

    /// The same between two values.
    #[must_use]
    pub fn between(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// The same with ticks at these values only, as for a sweep.
    #[must_use]
    pub fn ticks_at(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.ticks = values.into_iter().map(|at| Tick { at, label: None }).collect();
        self
    }
}

impl Line {
    /// A solid line in the first colour of the palette.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            colour: crate::palette::PALETTE[0].to_owned(),
            style: Style::Solid,
            hollow: false,
            points,
            band: None,
            range: None,
            spread: None,
        }
    }

    /// The same in a colour.
    #[must_use]
    pub fn coloured(mut self, colour: impl Into<String>) -> Self {
        self.colour = colour.into();
        self
    }

    /// The same in a style.
    #[must_use]
    pub fn styled(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// The same with hollow markers.
    #[must_use]
    pub fn hollow(mut self) -> Self {
        self.hollow = true;
        self
    }

    /// The same with a band: x, low, high.
    #[must_use]
    pub fn banded(mut self, band: Vec<(f64, f64, f64)>) -> Self {
        self.band = Some(band);
        self
    }

    /// The same as the ellipse around a mean.
    #[must_use]
    pub fn around(mut self, spread: Spread) -> Self {
        self.spread = Some(spread);
        self
    }

    /// The same with the smallest and the largest values, which the viewer shows on demand: x, low, high.
    #[must_use]
    pub fn ranged(mut self, range: Vec<(f64, f64, f64)>) -> Self {
        self.range = Some(range);
        self
    }
}

/// JSON has no NaN: values that are not finite are written as null, and null is read as NaN.
mod gaps {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn number(value: Option<f64>) -> f64 {
        value.unwrap_or(f64::NAN)
    }

    pub(super) fn gap(value: f64) -> Option<f64> {
        value.is_finite().then_some(value)
    }

    pub(super) fn serialize<S: Serializer>(points: &[(f64, f64)], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(points.iter().map(|p| (gap(p.0), gap(p.1))))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(f64, f64)>, D::Error> {
        let points = Vec::<(Option<f64>, Option<f64>)>::deserialize(from)?;
        Ok(points.into_iter().map(|p| (number(p.0), number(p.1))).collect())
    }
}

/// As [`gaps`], for bands.
mod gaps_in_band {
    use super::gaps::{gap, number};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type Band<T> = Vec<(T, T, T)>;

    // The signature is serde's.
    #[allow(clippy::ref_option)]
    pub(super) fn serialize<S: Serializer>(band: &Option<Band<f64>>, to: S) -> Result<S::Ok, S::Error> {
        let band: Option<Band<Option<f64>>> =
            band.as_ref().map(|b| b.iter().map(|p| (gap(p.0), gap(p.1), gap(p.2))).collect());
        band.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Band<f64>>, D::Error> {
        let band = Option::<Band<Option<f64>>>::deserialize(from)?;
        Ok(band.map(|b| b.into_iter().map(|p| (number(p.0), number(p.1), number(p.2))).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_survives_json() {
        let mut figure = Figure::new("t", Axis::new("Time", "s"), Axis::new("Queue", "packets").log());
        figure.lines.push(
            Line::new("a", vec![(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0)]).styled(Style::Dashed).banded(vec![(
                0.0,
                1.0,
                f64::INFINITY,
            )]),
        );
        figure.marks.push(Mark::Point { x: -1.0, y: 0.0, label: "critical".into() });
        let text = serde_json::to_string(&figure).unwrap();
        let back: Figure = serde_json::from_str(&text).unwrap();
        assert!(back.lines[0].points[1].1.is_nan());
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }

    #[test]
    fn emptiness_is_about_numbers_that_can_be_drawn() {
        let mut figure = Figure::new("t", Axis::new("x", ""), Axis::new("y", ""));
        assert!(figure.is_empty());
        figure.lines.push(Line::new("a", vec![(0.0, f64::NAN)]));
        assert!(figure.is_empty());
        figure.lines[0].points.push((0.0, 0.0));
        assert!(!figure.is_empty());
    }
}
