//! Records: the results of one run, as the files of a directory. Nothing here touches a disk.
//!
//! | file | content |
//! | --- | --- |
//! | `record.toml` | a [`Header`]: the scenario with every default filled in, and where it ran |
//! | `summary.json` | the [`Summary`], behind the version of the file, see [`summary_file`] |
//! | `cost.json` | the [`Cost`](penstock_scenario::summary::Cost) of the run, which its caller adds |
//! | `flows.parquet` | one row a flow, over the measured span; a value that does not apply is null |
//! | `links.parquet`, `groups.parquet` | series of links and of groups |
//! | `flows-series.parquet` | series of the flows of the groups with `series` |
//! | `transfers.parquet` | one row a transfer, where flows have more than one |
//! | `packets.pcapng` | the packets at one end of every flow, where requested: see [`capture`] |
//!
//! Any other table that a world leaves is a file of the table's name. A sweep adds `sweep.json` and
//! `cells.parquet`, see [`sweep()`] and [`cells()`], or without records `cells.toml` and the partitions of a dataset, see
//! [`Dataset`].

pub mod capture;
mod cells;
mod columns;
mod dataset;
mod described;
mod error;
mod format;
mod header;
mod measures;
mod over_seeds;
mod page;
mod parquet;
mod record;
mod seal;
mod summary;
mod sweep;

pub use self::cells::{CellRow, cells, columns_held, partition, with_columns, write_cells, write_partition};
pub use self::columns::{Meaning, summary_lacks, unit_of};
pub use self::dataset::{Dataset, FOLDER, Identity, partition_file, read_dataset};
pub use self::described::Described;
pub use self::error::RecordError;
pub use self::format::{DATASET_FORMAT, FORMAT};
pub use self::header::{Header, Origin, Provenance, read_header, read_header_of_any, read_scenario};
pub use self::measures::Measures;
pub use self::over_seeds::{mean_over_seeds, paired};
pub use self::page::reference;
pub use self::parquet::{read_table, write_table};
pub use self::record::{Record, flow_table, table_file};
pub use self::seal::{hexadecimal, sealed};
pub use self::summary::{json, read_summary, summary_file};
pub use self::sweep::{Axes, Place, SweepCell, SweepHeader, place_of, sweep, sweep_of_dataset};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests;
