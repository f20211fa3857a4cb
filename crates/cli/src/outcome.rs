//! The output of `--json` for a scenario file that was run.

use std::path::Path;

use penstock_record::FOLDER;
use penstock_record::capture::CAPTURE_FILE;
use penstock_scenario::summary::Cost;
use serde::Serialize;
use serde_json::Value;

use crate::batch::Batch;
use crate::failure::Failure;
use crate::record::{self, Kept};

/// The same for a run and for a sweep.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Outcome {
    /// `run` or `sweep`.
    kind: &'static str,
    /// The scenario file.
    file: String,
    /// The directory of the record, or of the records of a sweep.
    record: String,
    /// The page about it; absent while cells of a sweep are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
    /// Packets, where they were captured.
    #[serde(skip_serializing_if = "Option::is_none")]
    capture: Option<String>,
    /// Logs of its connections, where they were kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    qlog: Vec<String>,
    /// The folder with the cells of a sweep as a dataset.
    #[serde(skip_serializing_if = "Option::is_none")]
    dataset: Option<String>,
    /// Number of finished cells of a sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    finished: Option<usize>,
    /// Number of cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<usize>,
    /// `summary.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Value>,
    /// `cost.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Cost>,
    /// `sweep.json`; absent while cells are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep: Option<Value>,
}

impl Outcome {
    fn new(kind: &'static str, file: &Path, record: &Path) -> Self {
        Self { kind, file: file.display().to_string(), record: record.display().to_string(), ..Self::default() }
    }

    /// Of a single run, with its packets if they were captured, and the logs of its connections.
    pub(crate) fn of_run(batch: &Batch, kept: &Kept, captured: bool, logs: &[String]) -> Result<Self, Failure> {
        Ok(Self {
            report: Some(record::shown(&kept.path, "report.html")),
            capture: captured.then(|| record::shown(&kept.path, CAPTURE_FILE)),
            qlog: logs.iter().map(|log| record::shown(&kept.path, log)).collect(),
            summary: Some(record::of_run(batch, kept)?),
            cost: kept.cost.clone(),
            ..Self::new("run", &batch.file, &kept.path)
        })
    }

    /// Of a sweep of so many cells that is a dataset below `folder`, with its `sweep.json`.
    pub(crate) fn of_dataset(file: &Path, folder: &Path, cells: usize, sweep: Value) -> Self {
        let dataset = Some(record::shown(folder, FOLDER));
        Self {
            dataset,
            finished: Some(cells),
            cells: Some(cells),
            sweep: Some(sweep),
            ..Self::new("sweep", file, folder)
        }
    }

    /// Of a sweep whose records are in `folder`: how many cells are finished, of how many, and with all of them `sweep.json`.
    pub(crate) fn of_sweep(file: &Path, folder: &Path, [finished, cells]: [usize; 2], sweep: Option<Value>) -> Self {
        let report = sweep.as_ref().map(|_| record::shown(folder, "report.html"));
        let new = Self::new("sweep", file, folder);
        Self { report, finished: Some(finished), cells: Some(cells), sweep, ..new }
    }
}
