//! Errors of a record.

use crate::format::{DATASET_FORMAT, FORMAT, SUMMARY_FORMAT};

/// Why a record cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A table's columns do not fit together: a bug of the world that made it.
    #[error("the table `{table}` cannot be written: its column `{column}` {why}")]
    Misshapen {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The fault.
        why: &'static str,
    },
    /// A number of the summary is infinite or NaN: a bug of the world that made it.
    #[error("the summary cannot be written: its value `{path}` is infinite or NaN")]
    NotANumber {
        /// Where it stands in the summary.
        path: String,
    },
    /// The Parquet library cannot write a table.
    #[error("the table `{table}` cannot be written")]
    Parquet {
        /// The table.
        table: String,
        /// Why.
        source: parquet::errors::ParquetError,
    },
    /// The Parquet library cannot read a file.
    #[error("not a Parquet file that can be read")]
    Unreadable(#[source] parquet::errors::ParquetError),
    /// A sweep has no such axis, or an axis no such value.
    #[error("the sweep has no axis or value `{name}`: write one of {known}")]
    NoAxis {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A Parquet file is not one of a record.
    #[error("not a table of a record: {0}")]
    NotATable(String),
    /// `summary.json` is not a summary.
    #[error("not a summary")]
    Json(#[from] serde_json::Error),
    /// `record.toml` cannot be read.
    #[error("not the header of a record")]
    Toml(#[from] toml::de::Error),
    /// `record.toml` cannot be written.
    #[error("the header cannot be written")]
    WriteToml(#[from] toml::ser::Error),
    /// `record.toml` is not UTF-8.
    #[error("not text")]
    Text(#[from] std::str::Utf8Error),
    /// The last line of `record.toml` is not there, or is not the hash of the others.
    #[error("changed since it was written: the last line is not the SHA-256 of the lines above it")]
    Unsealed,
    /// A header does not list a file that every record has.
    #[error("the header of the record is incomplete: its `files` lacks {0}")]
    Unlisted(String),
    /// A header lists a file that is not in the record.
    #[error("the header of the record lists `{0}` under `files`, and that is not a plain file name")]
    Name(String),
    /// A file of the record is not as it was written.
    #[error("{file} is damaged: {why}")]
    Damaged {
        /// The file.
        file: String,
        /// The fault.
        why: String,
    },
    /// The record is of another format.
    #[error("a record of format {0}, and this version of Penstock reads format {FORMAT}")]
    Format(u32),
    /// The dataset is of another format.
    #[error("a dataset of format {0}, and this version of Penstock reads format {DATASET_FORMAT}")]
    DatasetFormat(u32),
    /// A dataset lists a file that is none of its partitions.
    #[error("`{0}` is listed under `partitions`, and the dataset has no partition of that name")]
    Partition(String),
    /// The summary is of a later format.
    #[error(
        "a summary of format {0}, and this version of Penstock reads format {SUMMARY_FORMAT}; a newer version reads format {0}"
    )]
    SummaryFormat(u32),
}
