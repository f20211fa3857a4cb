//! `sweep.json`: one row a cell, and statistics over the seeds of equal cells.

use indexmap::IndexMap;
use penstock_scenario::interval::half_width;
use penstock_scenario::quantity::quantity;
use penstock_scenario::read::is_named_axis;
use penstock_scenario::summary::Summary;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::dataset::FOLDER;
use crate::error::RecordError;
use crate::header::Origin;
use crate::summary::summary_value;

/// One finished cell of a sweep.
#[derive(Debug, Clone, Copy)]
pub struct SweepCell<'a> {
    /// Where its record is, from the sweep's directory.
    pub path: &'a str,
    /// Labels that distinguish it, as in [`Cell::labels`](penstock_scenario::read::Cell::labels).
    pub labels: &'a [(String, String)],
    /// Its identity.
    pub id: &'a str,
    /// Its measurements.
    pub summary: &'a Summary,
}

/// Title, changes and origin of a sweep.
#[derive(Debug, Clone, Copy)]
pub struct SweepHeader<'a> {
    /// The scenario's title.
    pub title: &'a str,
    /// Changes to the scenario's file, `KEY=VALUE`.
    pub changes: &'a [String],
    /// The code and world that computed it.
    pub origin: &'a Origin,
}

/// `sweep.json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SweepFile<'a> {
    /// The version of the file's format: 2.
    format: u32,
    /// The scenario's title.
    title: &'a str,
    /// Changes to the scenario file for this run, as given to `--set`: `KEY=VALUE`.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    changes: &'a [String],
    #[serde(flatten)]
    origin: &'a Origin,
    /// The varied keys, the fastest last: keys of the scenario in the order of the file, named axes, seeds.
    axes: Vec<Axis<'a>>,
    /// The dataset that has the cells, with `run --dataset`: `cells`, `groups` and `differences` are empty then.
    #[serde(skip_serializing_if = "Option::is_none")]
    dataset: Option<DatasetOf>,
    /// Each cell, in the order of the axes.
    cells: Vec<CellOf<'a>>,
    /// Each group of the sweep's cells that differ only in their seed, combined.
    groups: Vec<Group<'a>>,
    /// Differences between groups that differ only in their place on a named axis, such as `case`: every later place
    /// minus every earlier one, seed by seed, over the seeds of both, if they are two or more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differences: Vec<Difference<'a>>,
}

impl<'a> SweepFile<'a> {
    /// Of a sweep with these axes, without its cells.
    fn of(axes: &'a Axes, header: &SweepHeader<'a>) -> Self {
        Self {
            format: 2,
            title: header.title,
            changes: header.changes,
            origin: header.origin,
            axes: axes.listed(),
            dataset: None,
            cells: Vec::new(),
            groups: Vec::new(),
            differences: Vec::new(),
        }
    }
}

/// The dataset of a sweep without records.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DatasetOf {
    /// Its folder, from the directory of the sweep.
    folder: &'static str,
    /// The number of its cells.
    cells: usize,
    /// The number of its partitions.
    partitions: usize,
}

/// An axis of the sweep.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Axis<'a> {
    /// The key of the scenario, the name of a named axis, or `seed`.
    key: &'a str,
    /// Its places, in order.
    places: Vec<Labelled<'a>>,
}

/// One value or case of an axis of the sweep.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Labelled<'a> {
    /// As the scenario's file has it: `10 ms`.
    label: &'a str,
    #[serde(flatten)]
    place: Option<Place>,
}

/// A place on an axis as a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Place {
    /// The number in units of the SI: 0.01 for `10 ms`. Absent for names, tables and other text.
    pub value: f64,
    /// Its unit: `s`, `bit/s`, `B`, `packets`, `1/s`, or `1` for a plain number.
    pub unit: &'static str,
}

/// A cell.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CellOf<'a> {
    /// Where its record is, from the directory of the sweep.
    path: &'a str,
    /// The identity of its scenario, a hash.
    id: &'a str,
    /// Its place on each axis, as the scenario's file has it.
    labels: Map<String, Value>,
    /// The same as numbers in SI units, for axes with numbers; `axes` has the units.
    values: Map<String, Value>,
    /// Its measurements, as in its own `summary.json`.
    summary: Value,
}

/// Cells that differ in nothing but their seed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Group<'a> {
    /// Their place on each axis except seeds.
    labels: Map<String, Value>,
    /// The same as numbers in units of the SI.
    values: Map<String, Value>,
    /// Their seeds, where the sweep has an axis of seeds.
    seeds: &'a [u64],
    /// Statistics of each number over the seeds that have it, in the structure of a summary.
    measures: Value,
}

/// One group less another.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Difference<'a> {
    /// The named axis.
    axis: &'a str,
    /// The place of the group that is subtracted from.
    minuend: &'a str,
    /// The place of the group that is subtracted.
    subtrahend: &'a str,
    /// The places of both on the other axes.
    labels: Map<String, Value>,
    /// The same as numbers in units of the SI.
    values: Map<String, Value>,
    /// The seeds that both have.
    seeds: Vec<u64>,
    /// As in `groups`, for the differences; without single flows.
    measures: Value,
}

/// Statistics in the place of a number in `measures`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Statistics {
    /// How many values there are.
    n: usize,
    /// Their mean.
    mean: f64,
    /// Their standard deviation; absent where there is one value only.
    #[serde(skip_serializing_if = "Option::is_none")]
    sd: Option<f64>,
    /// The least.
    min: f64,
    /// The largest.
    max: f64,
    /// Student's 95 % confidence interval for the mean, low and high end; absent where there is one value only.
    #[serde(skip_serializing_if = "Option::is_none")]
    ci95: Option<[f64; 2]>,
}

/// The number that a label stands for on the axis of that key, if it stands for one. Named axes have names.
pub fn place_of(key: &str, label: &str) -> Option<Place> {
    if is_named_axis(key) {
        return None;
    }
    let (value, unit) = quantity(label)?;
    Some(Place { value, unit })
}

/// The axes of a sweep: varied keys in the order of the scenario's file, each with its places in theirs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Axes(IndexMap<String, Places>);

/// Places on an axis, by their labels: as numbers, where they are such.
pub(crate) type Places = IndexMap<String, Option<Place>>;

impl Axes {
    /// The axes of cells with these labels.
    pub fn of<'a>(cells: impl IntoIterator<Item = &'a [(String, String)]>) -> Self {
        let mut axes = Self::default();
        cells.into_iter().for_each(|labels| axes.add(labels));
        axes
    }

    /// Adds the places of a cell with these labels.
    pub fn add(&mut self, labels: &[(String, String)]) {
        for (key, label) in labels {
            if !self.0.contains_key(key) {
                self.0.insert(key.clone(), Places::new());
            }
            let places = &mut self.0[key];
            if !places.contains_key(label) {
                places.insert(label.clone(), place_of(key, label));
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Places)> {
        self.0.iter().map(|(key, places)| (&key[..], places))
    }

    /// As `sweep.json` lists them.
    fn listed(&self) -> Vec<Axis<'_>> {
        let axis = |(key, places)| {
            let places: &Places = places;
            Axis { key, places: places.iter().map(|(label, place)| Labelled { label, place: *place }).collect() }
        };
        self.iter().map(axis).collect()
    }
}

/// Builds `sweep.json`; `docs/record.md` describes its content.
///
/// A group is the cells that differ in nothing but the label `seed`. `ci95` is Student's interval for the mean; it and
/// `sd` are absent where there is only one value. A number that some seeds lack is summarised over the others.
///
/// A difference is between two cells that differ in nothing but their place on a named axis, such as `case`, seed by
/// seed: every later one less every earlier one, over the seeds that both have, where they are two or more. Random
/// streams are named by what they serve, so with one seed both cells draw the same starts, round-trip times, sizes and
/// losses, as far as they draw them at all; what is common cancels, and the interval is narrower than those of the
/// cells by themselves (Law, Simulation Modeling and Analysis, 5th edition, section 11.2: common random numbers).
///
/// The cost of a cell is in its own `cost.json`, so that a sweep gives the same file whatever the number of threads, and
/// whether it was interrupted or not.
///
/// # Errors
/// Names a number of a summary that is infinite or NaN.
pub fn sweep(cells: &[SweepCell<'_>], header: &SweepHeader<'_>) -> Result<Value, RecordError> {
    let mut rows = Vec::with_capacity(cells.len());
    let mut groups: Groups<'_> = IndexMap::new();
    let axes = Axes::of(cells.iter().map(|cell| cell.labels));
    for cell in cells {
        let summary = summary_value(cell.summary)?;
        rows.push(CellOf {
            path: cell.path,
            id: cell.id,
            labels: labels(cell.labels.iter()),
            values: values(cell.labels.iter()),
            summary: summary.clone(),
        });
        let others = cell.labels.iter().filter(|(key, _)| key != "seed").collect();
        let seeded = cell.labels.iter().any(|(key, _)| key == "seed");
        groups.entry(others).or_default().push((seeded.then_some(cell.summary.seed), summary));
    }
    let differences = differences(&groups);
    let seeds: Vec<Vec<u64>> =
        groups.values().map(|cells| cells.iter().filter_map(|(seed, _)| *seed).collect()).collect();
    let groups = groups.iter().zip(&seeds).map(|((key, cells), seeds)| {
        let summaries: Vec<&Value> = cells.iter().map(|(_, summary)| summary).collect();
        let measures = measures(&summaries).unwrap_or_else(|| json!({}));
        Group { labels: labels(key.iter().copied()), values: values(key.iter().copied()), seeds, measures }
    });
    let file = SweepFile { cells: rows, groups: groups.collect(), differences, ..SweepFile::of(&axes, header) };
    Ok(serde_json::to_value(&file)?)
}

/// The same for a sweep whose cells are in so many partitions of a dataset, and have no records.
///
/// # Errors
/// None that a header can cause.
pub fn sweep_of_dataset(
    axes: &Axes,
    [cells, partitions]: [usize; 2],
    header: &SweepHeader<'_>,
) -> Result<Value, RecordError> {
    let dataset = Some(DatasetOf { folder: FOLDER, cells, partitions });
    let file = SweepFile { dataset, ..SweepFile::of(axes, header) };
    Ok(serde_json::to_value(&file)?)
}

/// Cells that differ in their seed only, by their other labels: seeds and summaries.
type Groups<'a> = IndexMap<Labels<'a>, Vec<Seeded>>;
type Labels<'a> = Vec<&'a (String, String)>;
/// Places on one axis and the cells there, by the axis and the labels besides it.
type Alike<'a> = IndexMap<(&'a str, Labels<'a>), Vec<(&'a str, &'a [Seeded])>>;
type Seeded = (Option<u64>, Value);

/// Every two groups that differ in their place on one named axis, the later less the earlier, seed by seed.
fn differences<'a>(groups: &'a Groups<'a>) -> Vec<Difference<'a>> {
    // Groups by axis and by their labels besides it, so that a large sweep without cases costs nothing.
    let mut alike: Alike<'_> = IndexMap::new();
    for (key, cells) in groups.iter().filter(|(_, cells)| cells.len() > 1) {
        for (axis, place) in key.iter().filter(|label| is_named_axis(&label.0)) {
            let others: Vec<_> = key.iter().copied().filter(|label| label.0 != *axis).collect();
            alike.entry((axis, others)).or_default().push((place, cells));
        }
    }
    let mut found = Vec::new();
    for ((axis, others), places) in alike {
        for (at, (minuend, later)) in places.iter().enumerate() {
            for (subtrahend, earlier) in &places[..at] {
                let pairs: Vec<(u64, Value)> = later
                    .iter()
                    .filter_map(|(seed, one)| {
                        let seed = (*seed)?;
                        let (_, other) = earlier.iter().find(|(s, _)| *s == Some(seed))?;
                        Some((seed, less(one, other)?))
                    })
                    .collect();
                if pairs.len() < 2 {
                    continue;
                }
                let (seeds, less): (Vec<u64>, Vec<&Value>) = pairs.iter().map(|(seed, value)| (*seed, value)).unzip();
                found.push(Difference {
                    axis,
                    minuend,
                    subtrahend,
                    labels: labels(others.iter().copied()),
                    values: values(others.iter().copied()),
                    seeds,
                    measures: measures(&less).unwrap_or_else(|| json!({})),
                });
            }
        }
    }
    found
}

/// One summary less another, number by number, as far as both have them; single flows and how much was computed are left
/// out.
fn less(one: &Value, other: &Value) -> Option<Value> {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => Some(json!(a.as_f64()? - b.as_f64()?)),
        (Value::Object(one), Value::Object(other)) => {
            let compared = one.iter().filter(|(key, _)| !matches!(key.as_str(), "seed" | "engine"));
            let below = compared.filter_map(|(key, a)| Some((key.clone(), less(a, other.get(key)?)?)));
            let below: Map<String, Value> = below.collect();
            (!below.is_empty()).then_some(Value::Object(below))
        }
        _ => None,
    }
}

fn labels<'a>(labels: impl Iterator<Item = &'a (String, String)>) -> Map<String, Value> {
    labels.map(|(key, value)| (key.clone(), json!(value))).collect()
}

/// The numbers that labels stand for.
fn values<'a>(labels: impl Iterator<Item = &'a (String, String)>) -> Map<String, Value> {
    labels.filter_map(|(key, label)| Some((key.clone(), json!(place_of(key, label)?.value)))).collect()
}

/// Values of one shape, each number replaced by its statistics; text is left out, and so are findings and the seed.
fn measures(values: &[&Value]) -> Option<Value> {
    match values.first()? {
        Value::Number(_) => {
            let numbers: Vec<f64> = values.iter().filter_map(|v| v.as_f64()).collect();
            Some(statistics(&numbers))
        }
        Value::Object(_) => {
            let mut keys: IndexMap<&String, Vec<&Value>> = IndexMap::new();
            for (key, value) in values.iter().filter_map(|v| v.as_object()).flatten() {
                keys.entry(key).or_default().push(value);
            }
            for no_number in ["seed", "findings"] {
                keys.shift_remove(&no_number.to_owned());
            }
            let below = keys.into_iter().filter_map(|(key, values)| Some((key.clone(), measures(&values)?)));
            Some(Value::Object(below.collect()))
        }
        Value::Array(_) => {
            let lists: Vec<_> = values.iter().filter_map(|v| v.as_array()).collect();
            let longest = lists.iter().map(|list| list.len()).max().unwrap_or(0);
            let at = |at: usize| lists.iter().filter_map(|list| list.get(at)).collect::<Vec<_>>();
            Some(Value::Array((0..longest).map(|i| measures(&at(i)).unwrap_or_else(|| json!({}))).collect()))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

fn statistics(numbers: &[f64]) -> Value {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let min = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let max = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Rounding must not put the mean of equal numbers outside of them.
    let mean = mean.clamp(min, max);
    let sd = (numbers.len() > 1).then(|| {
        let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
        (squares / (n - 1.0)).sqrt()
    });
    let ci95 = sd.map(|sd| {
        let half = half_width(numbers.len(), sd);
        [mean - half, mean + half]
    });
    json!(Statistics { n: numbers.len(), mean, sd, min, max, ci95 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_known_numbers() {
        let s = statistics(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(
            (s["n"].as_u64(), s["mean"].as_f64(), s["min"].as_f64(), s["max"].as_f64()),
            (Some(4), Some(2.5), Some(1.0), Some(4.0))
        );
        assert!((s["sd"].as_f64().unwrap() - 1.290_994_448_735_805_6).abs() < 1e-15);
        // 2.5 -+ 3.182446 * 1.290994 / 2
        assert!((s["ci95"][1].as_f64().unwrap() - 4.554_260).abs() < 1e-5);
        assert_eq!(statistics(&[7.0]), json!({ "n": 1, "mean": 7.0, "min": 7.0, "max": 7.0 }));
        assert_eq!(statistics(&[0.1, 0.1, 0.1])["mean"], json!(0.1));
    }
}
