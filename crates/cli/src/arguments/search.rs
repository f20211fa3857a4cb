//! `penstock break`.

use std::path::PathBuf;

use clap::Args;

use super::laws::laws;
use super::{Output, Processors, WorldName};

/// Arguments of `penstock break`.
#[derive(Debug, Args)]
pub(crate) struct Break {
    /// The law under test, a controller or an AQM: its name, or a table such as `{ law = "fast", alpha = "20 packets" }`
    #[arg(value_name = "LAW", required_unless_present_any = ["list", "replay"])]
    pub(crate) law: Option<String>,
    /// The objective, which is the kind of failure to search for; several with commas [default: all objectives, which share the budget]
    #[arg(long, value_name = "OBJECTIVE", value_delimiter = ',')]
    pub(crate) objective: Vec<String>,
    /// Laws to compare with, besides the baselines of the objective, as in `copa,vegas`: a failure counts only where at least one baseline does well.
    /// With parameters as in `{ law = "copa", competitive = false }`
    #[arg(long, value_name = "LAW,LAW")]
    baseline: Vec<String>,
    /// The space, which is the set of scenarios to search: `fixed`, `wired`, `wifi`, `cell`, `leo`, `hostile`, or a file
    #[arg(long, value_name = "SPACE|FILE", default_value = "wifi")]
    pub(crate) space: String,
    /// The largest jitter, which is the delay that a path may add besides propagation and queueing, as in `"10 ms"` [default: from the file of the space]
    #[arg(long, value_name = "DELAY")]
    pub(crate) jitter: Option<String>,
    /// The largest share of packets that a link may lose at random, as in 0.01 [default: from the file of the space]
    #[arg(long, value_name = "SHARE")]
    pub(crate) loss: Option<f64>,
    /// The largest factor by which the rate of a link may change at once [default: from the file of the space]
    #[arg(long, value_name = "FACTOR")]
    pub(crate) swing: Option<f64>,
    /// The score, from 0 to 1, at or above which the law has failed [default: the threshold of the objective]
    #[arg(long, value_name = "SCORE")]
    pub(crate) threshold: Option<f64>,
    /// The number of evaluations, each of which is a run with one seed and 20 s of measured time
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget: u32,
    /// The seed of all random draws of the search
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The largest number of failures for each objective
    #[arg(long, alias = "findings", value_name = "N", default_value_t = 3)]
    pub(crate) failures: usize,
    /// Sample the space by a Latin hypercube only, without the guided phases of the search, for comparison
    #[arg(long)]
    pub(crate) plain_sampler: bool,
    /// End the search of each objective with the first candidate that reaches the threshold on five seeds of 180 s
    #[arg(long)]
    pub(crate) first: bool,
    /// The world that runs the scenarios: a packet simulator, a fluid model or the kernel's TCP
    #[arg(long, value_enum, default_value = "packets")]
    pub(crate) world: WorldName,
    /// Run at most three failures on the kernel's TCP too
    #[arg(long, value_name = "WORLD", value_parser = ["linux"])]
    pub(crate) confirm: Option<String>,
    /// Run the scenarios of a directory and check the bounds in the files beside them; exit status 1 if a bound is not kept
    #[arg(long, value_name = "DIR", conflicts_with_all = ["law", "objective", "baseline", "list"])]
    pub(crate) replay: Option<PathBuf>,
    /// With --replay: also run the scenarios whose bounds file has `long = true`
    #[arg(long, requires = "replay")]
    pub(crate) long: bool,
    /// List the objectives and spaces, and run nothing
    #[arg(long, conflicts_with_all = ["law", "objective", "baseline", "awake"])]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) processors: Processors,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl Break {
    /// The laws of `--baseline`.
    pub(crate) fn baselines(&self) -> Vec<&str> {
        laws(&self.baseline)
    }
}
