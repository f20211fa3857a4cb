//! `sweep.json`: one row a cell, and what the seeds of equal cells say together.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::{Origin, RecordError, summary_value};
use crate::read::is_named_axis;
use crate::summary::Summary;

/// One finished cell of a sweep.
#[derive(Debug, Clone, Copy)]
pub struct SweepCell<'a> {
    /// What tells it from the others, as in [`Cell::labels`](crate::read::Cell::labels).
    pub labels: &'a [(String, String)],
    /// Its identity.
    pub id: &'a str,
    /// What it measured.
    pub summary: &'a Summary,
}

/// Builds `sweep.json`:
///
/// ```text
/// { "format": 1, "world", "code", "version", "commit",
///   "cells":  [ { "labels": { KEY: VALUE }, "id", "summary" } ],
///   "groups": [ { "labels": { KEY: VALUE }, "seeds": ["1", "2"],
///                 "measures": the shape of a summary, each number replaced by
///                             { "n", "mean", "sd", "min", "max", "ci95": [low, high] } } ],
///   "differences": [ { "axis": "case", "minuend", "subtrahend", "labels": { KEY: VALUE }, "seeds",
///                      "measures": the same of the differences, without single flows } ] }
/// ```
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
/// What a cell cost is in its own `summary.json`: here `engine` has only what is the same in every run of it, so that a
/// sweep gives the same file whatever the number of threads, and whether it was interrupted or not.
///
/// # Errors
/// Names a number of a summary that is infinite or NaN.
pub fn sweep(cells: &[SweepCell<'_>], origin: &Origin) -> Result<Value, RecordError> {
    let mut rows = Vec::with_capacity(cells.len());
    let mut groups: Groups<'_> = IndexMap::new();
    for cell in cells {
        let mut summary = summary_value(cell.summary)?;
        if let Some(engine) = summary.get_mut("engine").and_then(Value::as_object_mut) {
            engine.retain(|name, _| matches!(name.as_str(), "events" | "packets"));
        }
        rows.push(json!({ "labels": labels(cell.labels.iter()), "id": cell.id, "summary": summary }));
        let others = cell.labels.iter().filter(|(key, _)| key != "seed").collect();
        let seed = cell.labels.iter().find(|(key, _)| key == "seed").map(|(_, value)| value.as_str());
        groups.entry(others).or_default().push((seed, summary));
    }
    let differences = differences(&groups);
    let groups = groups.iter().map(|(key, cells)| {
        let seeds: Vec<&str> = cells.iter().filter_map(|(seed, _)| *seed).collect();
        let summaries: Vec<&Value> = cells.iter().map(|(_, summary)| summary).collect();
        let measures = measures(&summaries).unwrap_or_else(|| json!({}));
        json!({ "labels": labels(key.iter().copied()), "seeds": seeds, "measures": measures })
    });
    let mut sweep = json!({ "format": 1, "world": origin.world, "code": origin.code, "version": origin.version });
    if let Some(commit) = &origin.commit {
        sweep["commit"] = json!(commit);
    }
    sweep["cells"] = json!(rows);
    sweep["groups"] = groups.collect();
    if !differences.is_empty() {
        sweep["differences"] = json!(differences);
    }
    Ok(sweep)
}

/// Cells that differ in their seed only, by their other labels: seeds and summaries.
type Groups<'a> = IndexMap<Labels<'a>, Vec<Seeded<'a>>>;
type Labels<'a> = Vec<&'a (String, String)>;
/// Places on one axis and the cells there, by the axis and the labels besides it.
type Alike<'a> = IndexMap<(&'a str, Labels<'a>), Vec<(&'a str, &'a [Seeded<'a>])>>;
type Seeded<'a> = (Option<&'a str>, Value);

/// Every two groups that differ in their place on one named axis, the later less the earlier, seed by seed.
fn differences(groups: &Groups<'_>) -> Vec<Value> {
    // Groups by axis and by their labels besides it, so that a large sweep without cases costs nothing.
    let mut alike: Alike<'_> = IndexMap::new();
    for (key, cells) in groups.iter().filter(|(_, cells)| cells.len() > 1) {
        for (axis, place) in key.iter().filter(|label| is_named_axis(&label.0)) {
            let others: Vec<_> = key.iter().copied().filter(|label| label.0 != *axis).collect();
            alike.entry((axis, others)).or_default().push((place, cells));
        }
    }
    let mut found = Vec::new();
    for ((axis, others), places) in &alike {
        for (at, (minuend, later)) in places.iter().enumerate() {
            for (subtrahend, earlier) in &places[..at] {
                let pairs: Vec<(&str, Value)> = later
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
                let (seeds, values): (Vec<&str>, Vec<&Value>) =
                    pairs.iter().map(|(seed, value)| (*seed, value)).unzip();
                found.push(json!({
                    "axis": axis,
                    "minuend": minuend,
                    "subtrahend": subtrahend,
                    "labels": labels(others.iter().copied()),
                    "seeds": seeds,
                    "measures": measures(&values).unwrap_or_else(|| json!({})),
                }));
            }
        }
    }
    found
}

/// One summary less another, number by number, as far as both have them; single flows and costs are left out.
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
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Rounding must not put the mean of equal numbers outside of them.
    let mean = mean.clamp(least, most);
    let mut out = json!({ "n": numbers.len(), "mean": mean });
    let spread = (numbers.len() > 1).then(|| {
        let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
        (squares / (n - 1.0)).sqrt()
    });
    if let Some(sd) = spread {
        out["sd"] = json!(sd);
    }
    out["min"] = json!(least);
    out["max"] = json!(most);
    if let Some(sd) = spread {
        let half = half_width(numbers.len(), sd);
        out["ci95"] = json!([mean - half, mean + half]);
    }
    out
}

/// Half the width of Student's 95 % confidence interval for the mean of `numbers`; none for fewer than two.
///
/// ```
/// use penstock_scenario::record::half_width_95;
/// assert!((half_width_95(&[1.0, 2.0, 3.0, 4.0]).unwrap() - 2.054_260).abs() < 1e-5);
/// assert_eq!(half_width_95(&[1.0]), None);
/// ```
pub fn half_width_95(numbers: &[f64]) -> Option<f64> {
    if numbers.len() < 2 {
        return None;
    }
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
    Some(half_width(numbers.len(), (squares / (n - 1.0)).sqrt()))
}

fn half_width(count: usize, sd: f64) -> f64 {
    student_975(count - 1) * sd / (count as f64).sqrt()
}

/// The 97.5 % quantile of Student's t distribution.
///
/// Source: the usual table up to ten degrees of freedom; beyond, Abramowitz and Stegun, 26.7.5, which is within 1e-5 there.
fn student_975(degrees: usize) -> f64 {
    const TABLE: [f64; 10] = [
        12.706_204_74,
        4.302_652_73,
        3.182_446_31,
        2.776_445_11,
        2.570_581_84,
        2.446_911_85,
        2.364_624_25,
        2.306_004_14,
        2.262_157_16,
        2.228_138_85,
    ];
    const Z: f64 = 1.959_963_984_540_054;
    if let Some(t) = degrees.checked_sub(1).and_then(|at| TABLE.get(at)) {
        return *t;
    }
    let (v, z2) = (degrees as f64, Z * Z);
    let g1 = (z2 + 1.0) / 4.0;
    let g2 = ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let g3 = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    let g4 = ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92_160.0;
    Z * (1.0 + (((g4 / v + g3) / v + g2) / v + g1) / v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_quantiles_are_those_of_the_tables() {
        for (degrees, t) in [
            (1, 12.7062),
            (4, 2.776_445),
            (9, 2.262_157),
            (11, 2.200_985),
            (19, 2.093_024),
            (29, 2.045_230),
            (99, 1.984_217),
        ] {
            assert!((student_975(degrees) - t).abs() < 1e-4, "{degrees}: {}", student_975(degrees));
        }
    }

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
