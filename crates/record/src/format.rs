//! The versions of the files' formats.

/// The version of a record's format that is written and read.
pub const FORMAT: u32 = 2;
/// The version of `summary.json` that is written.
pub(crate) const SUMMARY_FORMAT: u32 = 2;
/// The version of the format of `cells.toml` that is written and read.
pub const DATASET_FORMAT: u32 = 1;
