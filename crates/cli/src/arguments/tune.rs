//! `penstock tune`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Tune {
    /// Parameters of the AQM PI, after Hollot, Misra, Towsley and Gong (2001), from the link's rate and bounds on flows and round-trip time
    Pi {
        /// The link's rate, as in "15 Mbit/s"
        #[arg(long, value_name = "RATE")]
        capacity: String,
        /// The lower bound on the number of flows
        #[arg(long, value_name = "N")]
        flows: f64,
        /// The upper bound on the round-trip time, queueing included, as in "246 ms"
        #[arg(long, value_name = "TIME")]
        rtt: String,
        /// The size of a data packet on the wire
        #[arg(long, value_name = "SIZE", default_value = "500 B")]
        packet: String,
        /// How often PI updates its probability, per second
        #[arg(long, value_name = "HZ", default_value_t = 170.0)]
        frequency: f64,
        /// Print only JSON on standard output
        #[arg(long)]
        json: bool,
    },
    /// Parameters eta and beta of the lead-lag protocol, by Proposition 3 of Paganini, Wang, Low and Doyle
    Leadlag {
        /// The stability gain alpha of the protocol, below pi/2
        #[arg(long, value_name = "ALPHA", default_value_t = 0.37)]
        alpha: f64,
        /// The bound on all round-trip times, as in "1 s"
        #[arg(long, value_name = "TIME")]
        taubar: String,
        /// The bound on the number of bottlenecks on a path
        #[arg(long, value_name = "M", default_value_t = 1.0)]
        bottlenecks: f64,
        /// The fraction of the largest stable eta to use
        #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
        share: f64,
        /// Print only JSON on standard output
        #[arg(long)]
        json: bool,
    },
    /// Parameters k1 and k2 of the early marker of a customer's token bucket, by equations (9) to (12) of Tartarelli and Banchs
    EarlyMarking(TuneEarlyMarking),
    /// Gains beta of the AQM CLCC for small, medium and large errors, by equation (6) of Pletka, Kind, Waldvogel and Mannel
    Clcc(TuneClcc),
}

/// The source of the gain of an aggregate's marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GainRule {
    /// The gain of the exact loop crosses 1 at min(a/2, 0.25/R)
    Loop,
    /// Equation (10) of the paper as printed
    Paper,
    /// Equation (10) of the paper with corrected dimension
    PaperDimension,
}

#[derive(Debug, Args)]
pub(crate) struct TuneEarlyMarking {
    /// A scenario file, which gives the flows, round-trip time, rate and packet size of its customer
    #[arg(value_name = "FILE", required_unless_present_all = ["rate", "flows", "rtt"])]
    pub(crate) file: Option<PathBuf>,
    /// The customer in the scenario file; optional if the file has only one customer
    #[arg(long, value_name = "NAME", requires = "file")]
    pub(crate) customer: Option<String>,
    /// The committed rate of the contract, as in "10 Mbit/s"
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<String>,
    /// The lower bound on the number of flows, N-
    #[arg(long, value_name = "N")]
    pub(crate) flows: Option<f64>,
    /// The upper bound on the round-trip time, R+, as in "100 ms"
    #[arg(long, value_name = "TIME")]
    pub(crate) rtt: Option<String>,
    /// The size of a data packet on the wire [default: the scenario's, or 1000 B]
    #[arg(long, value_name = "SIZE")]
    pub(crate) packet: Option<String>,
    /// The rule for the gain of the marker
    #[arg(long, value_enum, default_value = "loop")]
    pub(crate) rule: GainRule,
    /// Print only JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuneClcc {
    /// The target share of the link for the class, above 0 and below 1
    #[arg(long, value_name = "SHARE")]
    pub(crate) share: f64,
    /// The exponent gamma: the service of the class over that of the others varies as its decrease to the power of -gamma
    /// [default: 1/(1 - share), the largest value]
    #[arg(long, value_name = "GAMMA")]
    pub(crate) gamma: Option<f64>,
    /// The gain margin for small errors, if the ratio of service responds one period late; with 4 or more that loop does
    /// not oscillate
    #[arg(long, value_name = "FACTOR", default_value_t = 4.0)]
    pub(crate) margin: f64,
    /// Print only JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
