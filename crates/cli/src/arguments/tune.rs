//! `penstock tune`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Tune {
    /// PI, by Hollot, Misra, Towsley and Gong (2001): from the fewest flows, the longest round trip and the capacity
    Pi {
        /// The link's rate, as in "15 Mbit/s"
        #[arg(long, value_name = "RATE")]
        capacity: String,
        /// The fewest flows there will be
        #[arg(long, value_name = "N")]
        flows: f64,
        /// The longest round trip there will be, the queue included, as in "246 ms"
        #[arg(long, value_name = "TIME")]
        rtt: String,
        /// A data packet on the wire
        #[arg(long, value_name = "SIZE", default_value = "500 B")]
        packet: String,
        /// Updates a second
        #[arg(long, value_name = "HZ", default_value_t = 170.0)]
        frequency: f64,
        /// Print JSON, and nothing else, on standard output
        #[arg(long)]
        json: bool,
    },
    /// The lead-lag ECN protocol, by Proposition 3 of Paganini, Wang, Low and Doyle: eta and beta
    Leadlag {
        /// The stability gain, below pi/2
        #[arg(long, value_name = "ALPHA", default_value_t = 0.37)]
        alpha: f64,
        /// The bound on all round trips, as in "1 s"
        #[arg(long, value_name = "TIME")]
        taubar: String,
        /// The bound on the bottlenecks of a path
        #[arg(long, value_name = "M", default_value_t = 1.0)]
        bottlenecks: f64,
        /// The share of the largest eta that is taken
        #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
        share: f64,
        /// Print JSON, and nothing else, on standard output
        #[arg(long)]
        json: bool,
    },
    /// The early marker of a token bucket, by Tartarelli and Banchs, (9) to (12): k1 and k2 for a customer
    EarlyMarking(TuneEarlyMarking),
    /// CLCC, by the step map of Pletka, Kind, Waldvogel and Mannel, (6): beta for small and for large errors
    Clcc(TuneClcc),
}

/// What of an aggregate's gain a rule takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GainRule {
    /// The true loop crosses one at min(a/2, 0.25/R)
    Loop,
    /// Equation (10) as printed
    Paper,
    /// Equation (10) with its dimension mended
    PaperDimension,
}

#[derive(Debug, Args)]
pub(crate) struct TuneEarlyMarking {
    /// A scenario file: flows, round trip, rate and packet are those of its customer, unless given
    #[arg(value_name = "FILE", required_unless_present_all = ["rate", "flows", "rtt"])]
    pub(crate) file: Option<PathBuf>,
    /// The customer; may be left out where there is one only
    #[arg(long, value_name = "NAME", requires = "file")]
    pub(crate) customer: Option<String>,
    /// What the contract commits, as in "10 Mbit/s"
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<String>,
    /// The fewest flows there will be, N-
    #[arg(long, value_name = "N")]
    pub(crate) flows: Option<f64>,
    /// The longest round trip there will be, R+, as in "100 ms"
    #[arg(long, value_name = "TIME")]
    pub(crate) rtt: Option<String>,
    /// A data packet on the wire; 1000 B unless given, or the scenario's
    #[arg(long, value_name = "SIZE")]
    pub(crate) packet: Option<String>,
    /// Where the gain comes from
    #[arg(long, value_enum, default_value = "loop")]
    pub(crate) rule: GainRule,
    /// Print JSON, and nothing else, on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuneClcc {
    /// The share of the line that the class shall have, above 0 and below 1
    #[arg(long, value_name = "SHARE")]
    pub(crate) share: f64,
    /// The exponent by which the ratio of classes answers the decrease; 1/(1 - share), the largest there is, unless given
    #[arg(long, value_name = "GAMMA")]
    pub(crate) gamma: Option<f64>,
    /// By what the gain of small errors may grow where the ratio answers a period late; 4 keeps even that from swinging
    #[arg(long, value_name = "FACTOR", default_value_t = 4.0)]
    pub(crate) margin: f64,
    /// Print JSON, and nothing else, on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
