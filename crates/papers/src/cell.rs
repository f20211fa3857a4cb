//! Cells of a sweep with their measurements.

use indexmap::IndexMap;
use penstock_scenario::summary::Summary;
use serde_json::Value;

use crate::paper::Values;

/// One cell of a sweep, run.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Keys and values that distinguish it, in the order of the file: `case`, `seed`, swept keys.
    pub labels: Vec<(String, String)>,
    /// Its measurements.
    summary: Value,
}

impl Cell {
    /// A cell with its summary.
    ///
    /// # Panics
    /// If the summary cannot be written as JSON, which only a bug can cause.
    pub fn new(labels: Vec<(String, String)>, summary: &Summary) -> Self {
        Self { labels, summary: serde_json::to_value(summary).expect("a summary is plain data") }
    }

    /// A cell with a summary that was read back from a record.
    pub fn of_json(labels: Vec<(String, String)>, summary: Value) -> Self {
        Self { labels, summary }
    }

    /// The value of a key.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// The number at `path`, names from the top of the summary joined by dots.
    ///
    /// # Errors
    /// Names the longest valid part of the path, and the value there.
    pub fn number(&self, path: &str) -> Result<f64, String> {
        self.value(path)?.as_f64().ok_or_else(|| format!("`{path}` is not a number"))
    }

    /// Whether `path` leads to a number, or to the place of one that this cell has not.
    pub(crate) fn reaches(&self, path: &str) -> Result<(), String> {
        match self.value(path)? {
            Value::Number(_) | Value::Null => Ok(()),
            _ => Err(format!("`{path}` is not a number")),
        }
    }

    fn value(&self, path: &str) -> Result<&Value, String> {
        let mut here = &self.summary;
        let mut walked = String::from("the summary");
        for name in path.split('.') {
            let next = match here {
                Value::Object(fields) => fields.get(name),
                Value::Array(rows) => name.parse().ok().and_then(|n: usize| rows.get(n)),
                _ => None,
            };
            let Some(next) = next else {
                let known: Vec<&str> = match here {
                    Value::Object(fields) => fields.keys().map(String::as_str).collect(),
                    _ => Vec::new(),
                };
                return Err(format!("{walked} has no `{name}`; it has {}", known.join(", ")));
            };
            here = next;
            walked = format!("`{name}`");
        }
        Ok(here)
    }

    /// Whether its run was outside its error bounds, as a run over an emulated path reports itself.
    pub(crate) fn is_outside(&self) -> bool {
        self.summary["path"]["beyond"].as_array().is_some_and(|reasons| !reasons.is_empty())
    }

    /// Whether the run has a finding of that kind, such as `warmup-short`.
    pub fn found(&self, id: &str) -> bool {
        self.summary["findings"].as_array().is_some_and(|findings| findings.iter().any(|finding| finding["id"] == id))
    }

    /// The cell in words, without the keys in `but`.
    pub fn words(&self, but: &[&str]) -> String {
        words(&self.labels, but)
    }
}

/// Values of labels, without the keys in `but`.
pub(crate) fn words(labels: &[(String, String)], but: &[&str]) -> String {
    let said = |(key, value): &(String, String)| if key == "seed" { format!("seed {value}") } else { value.clone() };
    let kept: Vec<String> = labels.iter().filter(|(k, _)| !but.contains(&k.as_str())).map(said).collect();
    kept.join(", ")
}

/// Whether labels have these values.
pub(crate) fn matches(labels: &[(String, String)], wanted: &IndexMap<String, Values>) -> bool {
    wanted.iter().all(|(key, values)| labels.iter().any(|(k, v)| k == key && values.has(v)))
}

/// Labels without `but`.
pub(crate) fn without(labels: &[(String, String)], but: &str) -> Vec<(String, String)> {
    labels.iter().filter(|(k, _)| k != but).cloned().collect()
}

/// A number and the labels of the cell, or of the cells, it comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) value: f64,
    /// Distance of a further trial from the mean of its seeds with a probability of 5 % (Student's prediction interval).
    pub(crate) spread: Option<f64>,
}

/// The measure of a cell: a number, its subtrahend, and its divisor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure<'a> {
    pub(crate) path: &'a str,
    pub(crate) minus: Option<&'a str>,
    pub(crate) over: Option<&'a str>,
}

impl<'a> Measure<'a> {
    pub(crate) const fn of(path: &'a str) -> Self {
        Self { path, minus: None, over: None }
    }

    pub(crate) fn number(&self, cell: &Cell) -> Result<f64, String> {
        let other = |path: Option<&str>, none: f64| path.map_or(Ok(none), |path| cell.number(path));
        let value = (cell.number(self.path)? - other(self.minus, 0.0)?) / other(self.over, 1.0)?;
        if value.is_finite() { Ok(value) } else { Err(format!("`{}` is divided by zero", self.path)) }
    }
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard deviation of a sample; zero of a single number.
pub(crate) fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (squares / (values.len().max(2) - 1) as f64).sqrt()
}

pub(crate) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cell(seed: &str, value: f64) -> Cell {
        let labels = vec![("case".into(), "FAST".into()), ("seed".into(), seed.into())];
        Cell::of_json(
            labels,
            json!({ "links": { "bottleneck": { "utilization": value } }, "flows": [{ "rtt_s": 0.1 }] }),
        )
    }

    #[test]
    fn a_path_leads_through_tables_and_rows() {
        let cell = cell("1", 0.9);
        assert_eq!(cell.number("links.bottleneck.utilization"), Ok(0.9));
        assert_eq!(cell.number("flows.0.rtt_s"), Ok(0.1));
    }

    #[test]
    fn a_wrong_path_says_what_is_there() {
        let what = cell("1", 0.9).number("links.bottleneck.utilisation").unwrap_err();
        assert_eq!(what, "`bottleneck` has no `utilisation`; it has utilization");
        assert_eq!(cell("1", 0.9).number("links").unwrap_err(), "`links` is not a number");
    }
}
