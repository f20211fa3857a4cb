//! `penstock evaluate`.

use std::path::PathBuf;

use clap::Args;
use penstock_evaluation::Extent;

use super::{Output, Processors, Shard, WorldName};

/// Arguments of `penstock evaluate`.
#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// The law to evaluate, a controller, an AQM or a conditioner: its name, or a table such as `{ law = "fast", alpha = "20 packets" }`
    #[arg(value_name = "LAW", required_unless_present = "list")]
    pub(crate) law: Option<String>,
    /// Run a few cells of each criterion with 3 seeds and half of each scenario's length
    #[arg(long, conflicts_with_all = ["standard", "full"])]
    pub(crate) quick: bool,
    /// Run about three fifths of the cells of each criterion with 10 seeds; this extent is the default
    #[arg(long, conflicts_with = "full")]
    pub(crate) standard: bool,
    /// Run all cells of each criterion with 30 seeds and 5/2 of each scenario's length
    #[arg(long)]
    pub(crate) full: bool,
    /// Compare with this law too, or with the verdicts.json of another evaluation; exit status 1 if a verdict differs from that file
    #[arg(long, value_name = "LAW|FILE")]
    pub(crate) against: Option<String>,
    /// Evaluate only these criteria, as in `--only EV-04,EV-12`
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// A file with bounds of your own, as in `[gate]` with `"EV-12.share" = [0.5, 2.0]`; exit status 1 if a bound is not kept
    #[arg(long, value_name = "FILE")]
    pub(crate) gate: Option<PathBuf>,
    /// The world that runs the scenarios; `packets,linux` also runs a few cells in the Linux world and prints the differences
    #[arg(long, value_enum, value_delimiter = ',', default_value = "packets")]
    pub(crate) world: Vec<WorldName>,
    /// Make only the runs I, I+N, I+2N and so on. To share an evaluation between N machines, give each a different I from 1 to N
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub(crate) shard: Option<Shard>,
    /// List the criteria with their documents and scenarios, and run nothing
    #[arg(long, conflicts_with_all = ["law", "quick", "standard", "full", "against", "only", "gate", "shard", "awake"])]
    pub(crate) list: bool,
    /// A directory of criteria and scenarios [default: the criteria that come with the command]
    #[arg(long, value_name = "DIR")]
    pub(crate) battery: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) processors: Processors,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl Evaluate {
    /// The world of the verdicts, and whether the Linux world is compared with it; none where the worlds are others.
    pub(crate) fn worlds(&self) -> Option<(WorldName, bool)> {
        match self.world[..] {
            [world] => Some((world, false)),
            [WorldName::Packets, WorldName::Linux] => Some((WorldName::Packets, true)),
            _ => None,
        }
    }

    /// How much is run.
    pub(crate) const fn extent(&self) -> Extent {
        if self.quick {
            Extent::Quick
        } else if self.full {
            Extent::Full
        } else {
            Extent::Standard
        }
    }
}
