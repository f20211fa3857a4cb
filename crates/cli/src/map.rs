//! Stability maps: the verdict of the analysis over a grid of two keys of a scenario.

use std::sync::atomic::AtomicBool;

use penstock_fluid::{Answer, Options, Verdict};
use penstock_report::figure::{Axis, Figure, Line, Style};
use penstock_report::page::{Column, TableView};
use serde::Serialize;

use crate::arguments::{Analyze, Changes};
use crate::failure::Failure;
use crate::{interrupt, jobs, scenario};

/// A verdict over a grid.
#[derive(Debug, Serialize)]
pub(crate) struct Map {
    x: Along,
    y: Along,
    cells: Vec<Point>,
}

/// A key and its values.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Along {
    key: String,
    unit: String,
    values: Vec<f64>,
    #[serde(skip)]
    range: bool,
}

/// A cell.
#[derive(Debug, Serialize)]
struct Point {
    x: f64,
    y: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gain_margin: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase_margin_deg: Option<f64>,
    /// Why there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl Along {
    fn parse(text: &str, points: u16) -> Result<Self, Failure> {
        let wrong = |why: &str| {
            Failure::Input(format!(
                "--stability-map {text}: {why}; write a key and its values, as in `flows.ftp.rtt=10..300 ms`"
            ))
        };
        let (key, values) = text.split_once('=').ok_or_else(|| wrong("no `=`"))?;
        let (key, values) = (key.trim().to_owned(), values.trim());
        let number = |text: &str| -> Option<(f64, String)> {
            let text = text.trim().trim_matches('"');
            // The longest beginning that is a number: an `e` may belong to it, as in `2e-5`.
            let mut ends = (1..=text.len()).rev().filter(|end| text.is_char_boundary(*end));
            let (value, end) =
                ends.find_map(|end| Some((text[..end].trim().parse::<f64>().ok().filter(|x| x.is_finite())?, end)))?;
            Some((value, text[end..].trim().to_owned()))
        };
        let mut along = Self { key, unit: String::new(), values: Vec::new(), range: false };
        if let Some(list) = values.strip_prefix('[').and_then(|v| v.strip_suffix(']')) {
            for one in list.split(',') {
                let (value, unit) = number(one).ok_or_else(|| wrong("a value is not a number with a unit"))?;
                if !along.values.is_empty() && unit != along.unit {
                    return Err(wrong("the values have different units"));
                }
                along.unit = unit;
                along.values.push(value);
            }
        } else {
            let (from, to) = values.split_once("..").ok_or_else(|| wrong("no range and no list"))?;
            let (to, unit) = number(to).ok_or_else(|| wrong("the range ends with no number"))?;
            let (from, own) = number(from).ok_or_else(|| wrong("the range begins with no number"))?;
            if from <= 0.0 || to <= from || !(own.is_empty() || own == unit) {
                return Err(wrong("a range starts above zero, ends higher, and has one unit"));
            }
            (along.unit, along.range) = (unit, true);
            let ratio = to / from;
            let share = |k: u16| f64::from(k) / f64::from(points - 1);
            along.values = (0..points).map(|k| rounded(from * libm::exp(libm::log(ratio) * share(k)))).collect();
        }
        along.values.dedup();
        if along.key == "seed" {
            return Err(wrong("the analysis does not depend on the seed"));
        }
        Ok(along)
    }

    /// A value as `--set` takes it.
    fn set(&self, value: f64) -> String {
        if self.unit.is_empty() {
            format!("{}={value}", self.key)
        } else {
            format!("{}=\"{value} {}\"", self.key, self.unit)
        }
    }

    /// Rounds the values of a range where the key takes whole numbers only, as the reader decides.
    fn whole_where_asked(mut self, arguments: &Analyze) -> Self {
        let takes = |value: f64| {
            let set = arguments.changes.set.iter().cloned().chain([self.set(value)]).collect();
            let document = scenario::document(&arguments.file, None, &Changes { set });
            document.is_ok_and(|document| scenario::cells(&document).is_ok())
        };
        let broken = self.values.iter().copied().find(|v| v.fract() != 0.0);
        if self.range && broken.is_some_and(|v| !takes(v) && takes(libm::round(v))) {
            self.values.iter_mut().for_each(|v| *v = libm::round(*v));
            self.values.dedup();
        }
        self
    }

    fn axis(&self) -> Axis {
        let label = if self.unit.is_empty() { self.key.clone() } else { format!("{} [{}]", self.key, self.unit) };
        Axis::new(label, "").log()
    }
}

/// To four significant digits, as the value is then set.
fn rounded(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

/// The axes of the map that `arguments` request, if they do. They are refused before anything is analysed.
pub(crate) fn axes(arguments: &Analyze) -> Result<Option<[Along; 2]>, Failure> {
    let Some(texts) = &arguments.stability_map else { return Ok(None) };
    let [x, y] = &texts[..] else { return Err(Failure::Input("--stability-map takes two keys".into())) };
    let (x, y) = (Along::parse(x, arguments.map_points)?, Along::parse(y, arguments.map_points)?);
    if x.key == y.key {
        let key = &x.key;
        return Err(Failure::Input(format!("--stability-map: both axes change `{key}`: write two different keys")));
    }
    Ok(Some([x, y].map(|along| along.whole_where_asked(arguments))))
}

/// Threads at the most. An analysis allocates much, and the allocator of musl lets one thread at a time in: two of them took twice as
/// long as one.
const THREADS: Option<usize> = if cfg!(target_env = "musl") { Some(1) } else { None };

/// Computes the map of `arguments`, its points on as many threads as there are processors.
pub(crate) fn map(arguments: &Analyze, [x, y]: [Along; 2], options: &Options) -> Result<Map, Failure> {
    let grid: Vec<(f64, f64)> =
        x.values.iter().flat_map(|at_x| y.values.iter().map(move |at_y| (*at_x, *at_y))).collect();
    let one = |at: usize| {
        let (at_x, at_y) = grid[at];
        let mut set = arguments.changes.set.clone();
        set.extend([x.set(at_x), y.set(at_y)]);
        let document = scenario::document(&arguments.file, None, &Changes { set })?;
        let all = scenario::cells(&document)?;
        let [cell] = all.as_slice() else {
            return Err(Failure::Input("--stability-map: the file is a sweep; a map is of one scenario".into()));
        };
        let mut point = Point { x: at_x, y: at_y, verdict: None, gain_margin: None, phase_margin_deg: None, why: None };
        match Answer::verdict_of(&cell.scenario, options, &|_| interrupt::leave_if_stopped()) {
            Ok((verdict, margins)) => {
                point.verdict = Some(verdict);
                if let Some(margins) = margins {
                    point.gain_margin = margins.gain_margin;
                    point.phase_margin_deg = margins.phase_margin_deg;
                }
            }
            Err(e) => point.why = Some(e.to_string()),
        }
        Ok(point)
    };
    let order: Vec<usize> = (0..grid.len()).collect();
    let cells = jobs::side_by_side(&order, jobs::threads(THREADS), &AtomicBool::new(false), &one)?;
    Ok(Map { x, y, cells })
}

impl Map {
    /// Whether its loops have a gain margin: the step map of an outer loop has a verdict alone.
    fn has_margins(&self) -> bool {
        self.cells.iter().any(|c| c.gain_margin.is_some())
    }

    /// Stable and unstable points, and the boundary between: where the gain margin is one.
    pub(crate) fn figure(&self) -> Figure {
        let mut figure = Figure::new("Stability map", self.x.axis(), self.y.axis());
        if self.has_margins() {
            figure = figure.captioned(
                "The boundary is at gain margin one, interpolated in the logarithm of the gain margin between points \
                 of the grid.",
            );
        }
        for (name, wanted, colour) in [
            ("stable", Verdict::Stable, "#3b7d23"),
            ("unstable", Verdict::Unstable, "#c1440e"),
            ("undecided", Verdict::Undecided, "#8a8f94"),
        ] {
            let points: Vec<(f64, f64)> =
                self.cells.iter().filter(|c| c.verdict == Some(wanted)).map(|c| (c.x, c.y)).collect();
            if !points.is_empty() {
                figure.lines.push(Line::new(name, points).coloured(colour).styled(Style::Points));
            }
        }
        let boundary = self.boundary();
        if !boundary.is_empty() {
            figure.lines.push(Line::new("gain margin 1", boundary).coloured("#1f2933").styled(Style::Dashed));
        }
        figure
    }

    /// For each x, where y crosses the boundary for the first time.
    fn boundary(&self) -> Vec<(f64, f64)> {
        let mut points = Vec::new();
        for x in &self.x.values {
            let column: Vec<&Point> = self.cells.iter().filter(|c| c.x == *x).collect();
            let crossing = column.windows(2).find_map(|pair| {
                let (a, b) = (libm::log(pair[0].gain_margin?), libm::log(pair[1].gain_margin?));
                let share = a / (a - b);
                (a * b < 0.0).then(|| libm::exp(libm::log(pair[0].y) + share * libm::log(pair[1].y / pair[0].y)))
            });
            points.extend(crossing.map(|y| (*x, y)));
        }
        points
    }

    /// The map as a table: a row a value of y, a column a value of x.
    pub(crate) fn table(&self) -> TableView {
        let heading =
            |along: &Along, v: f64| if along.unit.is_empty() { format!("{v}") } else { format!("{v} {}", along.unit) };
        let mut columns = vec![Column::words(format!("{} \\ {}", self.y.key, self.x.key))];
        columns.extend(self.x.values.iter().map(|x| Column::numbers(heading(&self.x, *x), "")));
        let title = if self.has_margins() {
            "Gain margin of the loop; below one it is unstable"
        } else {
            "Verdict on the loop, which has no gain margin"
        };
        let mut view = TableView::new(title, columns);
        for y in self.y.values.iter().rev() {
            let mut row = vec![heading(&self.y, *y)];
            for x in &self.x.values {
                let cell = self.cells.iter().find(|c| c.x == *x && c.y == *y);
                row.push(cell.map_or_else(String::new, |c| match (c.verdict, c.gain_margin) {
                    (Some(_), Some(gain)) => format!("{gain:.2}"),
                    (Some(Verdict::Stable), None) => "stable".to_owned(),
                    (Some(Verdict::Unstable), None) => "unstable".to_owned(),
                    _ => "-".to_owned(),
                }));
            }
            view.rows.push(row);
        }
        view
    }

    /// Why some cells have no verdict, each reason once.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let mut said: Vec<String> = self.cells.iter().filter_map(|c| c.why.clone()).collect();
        said.sort_unstable();
        said.dedup();
        said.truncate(3);
        said
    }
}
