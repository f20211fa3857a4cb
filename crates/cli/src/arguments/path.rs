//! The command line of `penstock linux path`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{CaptureEnd, Changes};

#[derive(Debug, Args)]
#[command(
    after_help = "COMMAND runs where data come from, and finds the other end in PENSTOCK_RECEIVER, 10.78.0.1: the \
                        first flow's. The next flow, with its round trip, is 10.78.0.2. The exit status is that of COMMAND; 2 \
                        if there is no such program; 3 if COMMAND ended with 0 but the server failed, or if this machine \
                        cannot do it. Whether the path kept its stated error is in the record, and told on standard error."
)]
pub(crate) struct PathOptions {
    /// The scenario file, for its links and the round trips of its flows; or describe one link each way by --rate and the
    /// other options
    #[arg(value_name = "FILE", required_unless_present = "rate", conflicts_with_all = ["rate", "downlink_rate", "delay", "queue", "aqm", "loss"])]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) link: LinkOptions,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// A shell command to run at the receiving end as long as COMMAND runs, as in "iperf3 -s"
    #[arg(long, value_name = "LINE")]
    pub(crate) server: Option<OsString>,
    /// The account that COMMAND and the server run as; who called sudo unless given, otherwise the own one, or `nobody` for root. Only
    /// `root`, if given here, has capabilities
    #[arg(long, value_name = "NAME|UID")]
    pub(crate) user: Option<String>,
    /// Let COMMAND reach other networks, behind the links: IPv4, if this machine forwards packets (net.ipv4.ip_forward)
    #[arg(long)]
    pub(crate) nat: bool,
    /// Add packets.pcapng to the record, with the headers of the packets at one end
    #[arg(long, value_enum, value_name = "END", num_args = 0..=1, require_equals = true, default_missing_value = "senders")]
    pub(crate) pcap: Option<CaptureEnd>,
    /// The directory that the record goes to, under a fresh name
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(crate) out: PathBuf,
    /// What to run
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// A link each way, in the place of a file.
#[derive(Debug, Args)]
pub(crate) struct LinkOptions {
    /// The rate of the link each way, as in "10 Mbit/s"
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<String>,
    /// The rate of the link towards COMMAND, where it is another one
    #[arg(long, value_name = "RATE", requires = "rate")]
    pub(crate) downlink_rate: Option<String>,
    /// The propagation delay each way, as in "20 ms": the round trip takes twice as long; 0 unless given
    #[arg(long, value_name = "TIME", requires = "rate")]
    pub(crate) delay: Option<String>,
    /// What may wait in front of each link, as in "50 packets", "64 kB", "2 bdp" or "unlimited"; 1000 packets unless given
    #[arg(long, value_name = "SIZE", requires = "rate")]
    pub(crate) queue: Option<String>,
    /// The law of each queue, as `penstock laws` lists them; `droptail` unless given. `--set aqm.KEY=VALUE` sets a parameter of it
    #[arg(long, value_name = "LAW", requires = "rate")]
    pub(crate) aqm: Option<String>,
    /// The share of the packets that each link loses at random, as in 0.01; none unless given
    #[arg(long, value_name = "SHARE", requires = "rate")]
    pub(crate) loss: Option<String>,
}
