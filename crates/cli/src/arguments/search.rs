//! `penstock break`.

use std::path::PathBuf;

use clap::Args;

use super::{Output, WorldName};

/// Arguments of `penstock break`.
#[derive(Debug, Args)]
pub(crate) struct Break {
    /// A controller or an AQM: its name, or a table such as `{ law = "fast", alpha = "20 packets" }`
    #[arg(value_name = "LAW", required_unless_present_any = ["list", "replay"])]
    pub(crate) law: Option<String>,
    /// What counts as bad; several with commas. Without it all objectives share the budget
    #[arg(long, value_name = "OBJECTIVE", value_delimiter = ',')]
    pub(crate) objective: Vec<String>,
    /// The scenarios to search: `fixed`, `wired`, `wifi`, `cell`, `leo`, `hostile`, or a file
    #[arg(long, value_name = "SPACE|FILE", default_value = "wifi")]
    pub(crate) space: String,
    /// The most delay that a path may add to packets besides queueing, as in `"10 ms"` [default: from the file of the space]
    #[arg(long, value_name = "DELAY")]
    pub(crate) jitter: Option<String>,
    /// The largest share of packets that a link may lose at random, as in 0.01 [default: from the file of the space]
    #[arg(long, value_name = "SHARE")]
    pub(crate) loss: Option<f64>,
    /// The largest factor by which the rate of a link may change at once [default: from the file of the space]
    #[arg(long, value_name = "FACTOR")]
    pub(crate) swing: Option<f64>,
    /// The score from which on the law has failed, 0 to 1 [default: that of the objective]
    #[arg(long, value_name = "SCORE")]
    pub(crate) threshold: Option<f64>,
    /// Evaluations: one is a scenario with one seed and 20 s that count
    #[arg(long, value_name = "N", default_value_t = 3000)]
    pub(crate) budget: usize,
    /// The seed of the search
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The most findings of an objective
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) findings: usize,
    /// Sample the space with a Latin hypercube only, to compare with
    #[arg(long)]
    pub(crate) plain_sampler: bool,
    /// World in which to run the scenarios
    #[arg(long, value_enum, default_value = "packets")]
    pub(crate) world: WorldName,
    /// Run the findings on the kernel's TCP too, at most three
    #[arg(long, value_name = "WORLD", value_parser = ["linux"])]
    pub(crate) confirm: Option<String>,
    /// Run the scenarios of a directory and compare with the bounds beside them; status 1 if one is not kept
    #[arg(long, value_name = "DIR", conflicts_with_all = ["law", "objective", "list"])]
    pub(crate) replay: Option<PathBuf>,
    /// With --replay: also what takes long
    #[arg(long, requires = "replay")]
    pub(crate) long: bool,
    /// List the objectives and spaces, and run nothing
    #[arg(long, conflicts_with_all = ["law", "objective"])]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}
