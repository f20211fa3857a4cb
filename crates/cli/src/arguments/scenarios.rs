//! Scenario files that run, and where their results go.

use std::path::PathBuf;

use clap::Args;

use super::WorldName;

#[derive(Debug, Args)]
pub(crate) struct Scenarios {
    /// Scenario files, or `-` for standard input; the record.toml of a record is a scenario file too
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The world that runs the scenarios: a packet simulator, a fluid model or the kernel's TCP
    #[arg(long, value_enum, default_value = "packets")]
    pub(crate) world: WorldName,
    /// The seed of all random draws, instead of the seed in the scenario file
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// For large sweeps: write no record for each cell, only one row of a Parquet dataset, the folder `cells`. Each file of it (a
    /// partition) has CELLS cells [default: 4096]
    #[arg(
        long,
        value_name = "CELLS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "4096",
        value_parser = clap::value_parser!(u32).range(100..=65_536)
    )]
    pub(crate) dataset: Option<u32>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// Set a key of the scenario, as in `--set links.bottleneck.rate="100 Mbit/s"`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Output {
    /// The directory for records, which are directories of results. Each record gets a new name; an interrupted sweep or paper continues
    /// there
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(crate) out: PathBuf,
    /// Print only JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// The maximum number of threads [default: number of processors]. Results do not depend on this number. Runs of the
    /// world `linux` take turns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}
