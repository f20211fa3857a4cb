//! `summary.json`, and JSON as every file of a record has it.

use penstock_scenario::summary::Summary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::RecordError;
use crate::format::SUMMARY_FORMAT;

/// `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct SummaryFile {
    /// The version of the file's format: 2. Files of version 1 lack this number.
    pub(crate) format: u32,
    /// Changes to the scenario file for this run, as given to `--set`: `KEY=VALUE`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<String>,
    /// The numbers.
    #[serde(flatten)]
    pub(crate) summary: Summary,
}

/// The content of `summary.json`, as JSON.
///
/// # Errors
/// Names the first number that is infinite or NaN.
pub fn summary_file(summary: &Summary, changes: &[String]) -> Result<Value, RecordError> {
    let file = SummaryFile { format: SUMMARY_FORMAT, changes: changes.to_vec(), summary: summary.clone() };
    finite(serde_json::to_value(&file)?)
}

/// A summary as JSON, keys in declared order.
///
/// # Errors
/// Names the first number that is infinite or NaN, for JSON has no word for it.
pub(crate) fn summary_value(summary: &Summary) -> Result<Value, RecordError> {
    finite(serde_json::to_value(summary)?)
}

fn finite(value: Value) -> Result<Value, RecordError> {
    match hole(&value) {
        None => Ok(value),
        Some(path) => Err(RecordError::NotANumber { path }),
    }
}

/// Where a value has a null, innermost key last.
fn hole(value: &Value) -> Option<String> {
    let below = |key: &str, value: &Value| {
        hole(value).map(|path| if path.is_empty() { key.to_owned() } else { format!("{key}.{path}") })
    };
    match value {
        Value::Null => Some(String::new()),
        Value::Object(map) => map.iter().find_map(|(key, value)| below(key, value)),
        Value::Array(list) => list.iter().enumerate().find_map(|(at, value)| below(&at.to_string(), value)),
        _ => None,
    }
}

/// JSON as files of a record hold it: indented, with a newline at the end.
///
/// # Errors
/// None that a value can cause.
pub fn json(value: &Value) -> Result<Vec<u8>, RecordError> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads `summary.json`.
///
/// # Errors
/// Names the fault of the summary.
pub fn read_summary(bytes: &[u8]) -> Result<Summary, RecordError> {
    /// Files of the first format have no such number.
    #[derive(Deserialize)]
    struct Numbered {
        format: Option<u32>,
    }
    // By itself, so that an error has its line.
    match serde_json::from_slice(bytes)? {
        Numbered { format: Some(format) } if format > SUMMARY_FORMAT => Err(RecordError::SummaryFormat(format)),
        Numbered { .. } => Ok(serde_json::from_slice(bytes)?),
    }
}
