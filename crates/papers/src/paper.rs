//! `paper.toml`: every figure and table of a paper, and its claims.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::axis::position;
use crate::extent::Extent;

/// A paper: the content of `paper.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Version of the file format: 1.
    pub format: u32,
    /// The paper's title.
    pub title: String,
    /// Its authors.
    pub authors: Vec<String>,
    /// When it appeared.
    pub published: String,
    /// Every figure and table, and sections whose text has numbers.
    #[serde(rename = "item")]
    pub items: Vec<Item>,
    /// Statements of the paper, with bounds.
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
    /// Why claims that are on record as `fails` fail.
    #[serde(default, rename = "reason")]
    pub reasons: Vec<Reason>,
}

/// Why claims fail, in a few sentences.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The claims it is about, by their ids.
    pub claims: Vec<Spanned<String>>,
    /// The reason. It begins with "Not explained yet" where nobody knows one.
    pub text: Spanned<String>,
}

/// A figure or a table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// Its name on the command line, such as `fig1`.
    pub id: Spanned<String>,
    /// Its title.
    pub title: String,
    /// Where it stands in the paper.
    pub place: String,
    /// The world that runs its scenario.
    pub world: Option<String>,
    /// Its scenario, a path relative to `paper.toml`. Items that share one share its runs.
    pub scenario: Option<String>,
    /// A scenario, a path relative to `paper.toml`, whose cells are analysed instead of run: equilibria, margins.
    pub analysis: Option<String>,
    /// The times whose active flows are analysed, as in `20 s`: a cell each, with the key `at`. None takes all flows.
    #[serde(default)]
    pub at: Vec<String>,
    /// A formula of the theory that is computed instead of a run, by its name.
    pub formula: Option<String>,
    /// Arguments of the formula: keys and their values, a cell for each combination.
    #[serde(default)]
    pub over: IndexMap<String, Values>,
    /// Plots of the loops of an analysis or a formula, a line a cell.
    #[serde(default)]
    pub loops: Vec<LoopPlot>,
    /// Which model of an analysed loop is drawn, as `penstock analyze` names it: the laws alone, unless given.
    pub model: Option<String>,
    /// Which cells of the sweep it shows and judges: for each key, the value they have, or the values; all unless given.
    #[serde(default)]
    pub cells: IndexMap<String, Values>,
    /// The horizontal axis.
    pub x: Option<Axis>,
    /// The number that is plotted.
    pub y: Option<Path>,
    /// Other numbers plotted along the same axis, one figure each.
    #[serde(default)]
    pub also: Vec<Path>,
    /// Plots over time, for each cell of the first seed: a column of a series, as in `links.queue_packets`.
    #[serde(default)]
    pub traces: Vec<String>,
    /// The key whose values are the lines, or several keys: a line for each combination of their values.
    #[serde(default = "lines_are_cases")]
    pub lines: Values,
    /// Additional columns of the printed table.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// Lines that others measured.
    #[serde(default)]
    pub reference: Vec<Reference>,
    /// The cells of a cheap check: for each key, the values kept.
    #[serde(default)]
    pub short: IndexMap<String, Vec<String>>,
    /// True for runs that take too long for the whole paper: it runs where it is named, and its verdicts stay on record.
    #[serde(default)]
    pub apart: bool,
    /// Why it cannot be run here.
    pub not_run: Option<String>,
}

/// A plot of the gain of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoopPlot {
    /// In the complex plane.
    Nyquist,
    /// Its modulus against frequency.
    Gain,
    /// Its phase against frequency.
    Phase,
}

fn lines_are_cases() -> Values {
    Values::One("case".into())
}

/// An axis.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// A key of the sweep.
    pub key: String,
    /// The label of the axis, without the unit, which the key's values have.
    pub label: String,
    /// Spacing of positions.
    #[serde(default)]
    pub scale: Scale,
}

/// Spacing of positions along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By ratio.
    Log,
}

/// A number of a summary, to be plotted.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Names from the top of the summary, such as `links.bottleneck.utilization`.
    pub path: Spanned<String>,
    /// The label of the axis, without the unit.
    pub label: String,
    /// The unit of the number; empty for plain numbers.
    #[serde(default)]
    pub unit: String,
    /// Range that the axis shows at least.
    pub range: Option<[f64; 2]>,
    /// The cells that this figure shows, of those of the item: for each key, the value they have, or the values.
    #[serde(default)]
    pub cells: IndexMap<String, Values>,
}

/// A number of a summary, to be printed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Names from the top of the summary.
    pub path: Spanned<String>,
    /// The head of the column.
    pub label: String,
}

/// A line that others measured, drawn beside ours.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Its name in the legend.
    pub label: String,
    /// Where the numbers come from.
    pub source: String,
    /// The line of ours that shows the same; unless given, the one whose name the label begins with, as in `Reno, paper`.
    pub of: Option<String>,
    /// Values of the swept key, and the numbers there.
    pub points: Vec<(Spanned<String>, f64)>,
}

/// A sentence of the paper with a bound.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The sentence's id in `targets.toml`, a slash, and a word of its own.
    pub id: Spanned<String>,
    /// The figure or table whose runs it is measured in.
    pub item: Spanned<String>,
    /// Where it stands in the paper.
    pub place: String,
    /// The paper's wording.
    pub quote: Option<String>,
    /// The paper's statement, in our words.
    pub statement: Option<String>,
    /// Whether the test is ours, for a sentence without a number.
    #[serde(default)]
    pub ours: bool,
    /// Whether the statement itself is ours: a result that the paper does not state. It is counted apart.
    #[serde(default, alias = "finding")]
    pub unstated: bool,
    /// Whether short runs can decide it.
    #[serde(default = "yes")]
    pub short: bool,
    /// The number it is about: a path in a summary. With [`Test::Table`], the common beginning of its paths.
    pub measure: Option<Spanned<String>>,
    /// A path whose number is taken from the measure's.
    pub minus: Option<Spanned<String>>,
    /// A path by whose number the measure, or its difference from `minus`, is divided.
    pub over: Option<Spanned<String>>,
    /// Which cells it is about: for each key, the value they have, or the values.
    #[serde(default)]
    pub cells: IndexMap<String, Values>,
    /// Its divisor, seeds joined: the same number in the cells where these keys have these values instead.
    #[serde(default)]
    pub per: IndexMap<String, String>,
    /// Joining of cells that differ in their seed only.
    #[serde(default)]
    pub seeds: Seeds,
    /// Reduction of the remaining numbers to one; absent, each is tested.
    pub reduce: Option<Reduce>,
    /// The bound.
    pub test: Option<Spanned<Test>>,
    /// Where the bound comes from.
    pub source: Option<String>,
    /// Why it cannot be judged here.
    pub not_run: Option<String>,
}

fn yes() -> bool {
    true
}

/// A value of a key, or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Values {
    /// One.
    One(String),
    /// Any of these.
    Any(Vec<String>),
}

impl Values {
    /// Whether `value` is among them.
    pub fn has(&self, value: &str) -> bool {
        match self {
            Self::One(one) => one == value,
            Self::Any(any) => any.iter().any(|v| v == value),
        }
    }

    /// Whether there is one only.
    pub const fn is_one(&self) -> bool {
        matches!(self, Self::One(_))
    }

    /// All of them.
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(one) => core::slice::from_ref(one),
            Self::Any(any) => any,
        }
    }

    pub(crate) fn words(&self) -> String {
        match self {
            Self::One(one) => format!("{one:?}"),
            Self::Any(any) => any.iter().map(|v| format!("{v:?}")).collect::<Vec<_>>().join(" or "),
        }
    }
}

/// Joining of the seeds of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Seeds {
    /// Their mean.
    #[default]
    Mean,
    /// Their least.
    Min,
    /// Their largest.
    Max,
    /// Their standard deviation, of a sample.
    Sd,
    /// Not at all: each is tested.
    Each,
}

/// Reduction of several numbers to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reduce {
    /// Their mean.
    Mean,
    /// Their least.
    Min,
    /// Their largest.
    Max,
    /// Their largest over their least.
    Ratio,
}

/// The bound on each number.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Test {
    /// It is this or more.
    AtLeast(f64),
    /// It is this or less.
    AtMost(f64),
    /// It is about this.
    Within(Bounds),
    /// It falls along a key of the sweep.
    Falls(Falls),
    /// It is larger than in the cells where these keys have these values instead, by `by` at least.
    Above(Other),
    /// It is smaller than in the cells where these keys have these values instead, by `by` at least.
    Below(Other),
    /// Each of several numbers is about its own value.
    Table(Table),
    /// It is so many times its value in other cells.
    Times(Times),
    /// It rises strictly along these values of a key, in this order.
    Order(Order),
    /// This number, of a single trial, is one that the runs' own scatter admits: it lies in the interval in which a
    /// further trial is with a probability of 95 % (Student's prediction interval over the seeds).
    Trial(f64),
}

/// A value and how far from it is near enough; exactly one of the two is given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The value.
    pub value: f64,
    /// As a share of the value.
    pub relative: Option<f64>,
    /// In the measure's own unit.
    pub absolute: Option<f64>,
}

/// The cells to compare with, and the least difference.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Other {
    /// Distance of the two at least, in the measure's own unit.
    #[serde(default)]
    pub by: f64,
    /// For each key, the value that the other cells have.
    #[serde(flatten)]
    pub cells: IndexMap<String, String>,
}

impl Other {
    /// Other cells, however little they differ.
    pub(crate) fn of(cells: &IndexMap<String, String>) -> Self {
        Self { by: 0.0, cells: cells.clone() }
    }
}

/// Numbers below one path, and how far each may be from its value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// As a share of the value.
    pub relative: Option<f64>,
    /// In the numbers' own unit.
    pub absolute: Option<f64>,
    /// The remainder of each path, and its value.
    pub values: IndexMap<String, f64>,
}

/// A multiple of another number; at least one of the two bounds is given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// The other cells: where these keys have these values instead.
    pub of: IndexMap<String, String>,
    /// The least factor.
    pub at_least: Option<f64>,
    /// The largest factor.
    pub at_most: Option<f64>,
}

/// The fall of a number; at least one of the two bounds is given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Falls {
    /// The key.
    pub along: String,
    /// From one point to the next it rises by this at most.
    pub rise_at_most: Option<f64>,
    /// The last is below the first by this at least.
    pub drop_at_least: Option<f64>,
}

/// Values of a key, from the smallest number to the largest.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The key.
    pub of: String,
    /// Its values.
    pub rising: Vec<String>,
}

/// An error of `paper.toml`, its position, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct PaperError {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The text found and the remedy.
    pub what: String,
}

impl Paper {
    /// The item of that id.
    pub fn item(&self, id: &str) -> Option<&Item> {
        self.items.iter().find(|i| i.id.get_ref() == id)
    }

    /// Why the claim of that id fails, where a reason is known.
    pub fn reason(&self, claim: &str) -> Option<&str> {
        let about = |reason: &&Reason| reason.claims.iter().any(|id| id.get_ref() == claim);
        self.reasons.iter().find(about).map(|reason| reason.text.get_ref().as_str())
    }

    /// The claims that are measured in `item`.
    pub fn claims_of<'a>(&'a self, item: &'a str) -> impl Iterator<Item = &'a Claim> {
        self.claims.iter().filter(move |c| c.item.get_ref() == item)
    }
}

impl Item {
    /// The source of its numbers: a world, `analysis` or `formula`; none where it has none.
    pub fn runs(&self) -> Option<&str> {
        let computed = [(&self.analysis, "analysis"), (&self.formula, "formula")];
        let named = computed.into_iter().find(|(source, _)| source.is_some()).map(|(_, name)| name);
        self.world.as_deref().or(named)
    }

    /// The cells of its formula: each combination of the values it is computed for, the first key slowest.
    pub fn combinations(&self) -> Vec<Vec<(String, String)>> {
        let mut all = vec![Vec::new()];
        for (key, values) in &self.over {
            let with = |before: &Vec<(String, String)>| {
                let grown = |value: &String| {
                    let mut labels = before.clone();
                    labels.push((key.clone(), value.clone()));
                    labels
                };
                values.all().iter().map(grown).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with).collect();
        }
        all
    }

    /// The line of a cell: its value of the key whose values are lines. Of several keys a plain number has its key's name.
    pub fn line_of(&self, labels: &[(String, String)]) -> String {
        let value = |key: &String| labels.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
        let Values::Any(keys) = &self.lines else {
            return self.lines.all().first().and_then(value).unwrap_or_default().to_owned();
        };
        let named = |key: &String| {
            let (value, name) = (value(key)?, key.rsplit('.').next().unwrap_or(key));
            Some(if position(value).is_some() { format!("{name} {value}") } else { value.to_owned() })
        };
        keys.iter().filter_map(named).collect::<Vec<_>>().join(", ")
    }

    /// Whether a cell of the sweep belongs to it: in whole runs, or in the cheap check.
    pub fn shows(&self, labels: &[(String, String)], extent: Extent) -> bool {
        let value = |key: &str| labels.iter().find(|(k, _)| k == key).map(|(_, v)| v);
        self.cells.iter().all(|(key, values)| value(key).is_some_and(|v| values.has(v)))
            && (extent == Extent::Full
                || self.short.iter().all(|(key, kept)| value(key).is_some_and(|v| kept.contains(v))))
    }
}

impl Claim {
    /// The unit of the measure, by the names of its paths; empty for plain numbers. `unit_of` gives the unit that a
    /// name ends in.
    pub fn unit(&self, unit_of: impl Fn(&str) -> &'static str) -> String {
        let last = |path: &str| unit_of(path.rsplit('.').next().unwrap_or_default());
        if !self.per.is_empty() || self.reduce == Some(Reduce::Ratio) {
            return String::new();
        }
        if let Some(Test::Table(table)) = self.test.as_ref().map(Spanned::get_ref) {
            let mut units = table.values.keys().map(|rest| last(rest));
            let first = units.next().unwrap_or_default();
            return if units.all(|unit| unit == first) { first.to_owned() } else { String::new() };
        }
        let of = |path: &Option<Spanned<String>>| path.as_ref().map_or("", |path| last(path.get_ref()));
        match (of(&self.measure), of(&self.over)) {
            (one, other) if one == other => String::new(),
            (one, "") => one.to_owned(),
            ("", other) => format!("1/{other}"),
            (one, other) => format!("{one}/({other})"),
        }
    }

    /// Why this claim is not judged: its own reason, or its item's.
    pub fn why_not(&self, item: &Item) -> Option<String> {
        self.not_run.clone().or_else(|| item.not_run.clone())
    }

    /// The paper's statement, quoted or in our words.
    pub fn statement(&self) -> &str {
        self.quote.as_deref().or(self.statement.as_deref()).unwrap_or_default()
    }
}
