//! The command line of `penstock linux path`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{CaptureEnd, Changes, Processors};

#[derive(Debug, Args)]
#[command(
    after_help = "COMMAND runs at the sending end. Its environment variable PENSTOCK_RECEIVER is the address of the \
                  receiving end, 10.78.0.1, over the path of the first flow. The address over the path of the next \
                  flow, with its own round-trip time, is 10.78.0.2. The exit status is that of COMMAND; 2 if the \
                  program does not exist; 3 if COMMAND succeeded but the server failed, or if this machine does not \
                  support emulation. The record and standard error tell whether the path stayed within its error \
                  bounds."
)]
pub(crate) struct PathOptions {
    /// The scenario file, which gives the links and the round-trip times of flows. Without a file, --rate and the other
    /// options describe one link in each direction
    #[arg(value_name = "FILE", required_unless_present = "rate", conflicts_with_all = ["rate", "downlink_rate", "delay", "queue", "aqm", "loss"])]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) link: LinkOptions,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// A shell command that runs at the receiving end while COMMAND runs, as in "iperf3 -s"
    #[arg(long, value_name = "LINE")]
    pub(crate) server: Option<OsString>,
    /// The account under which COMMAND and the server run [default: the caller of sudo, or your own, or `nobody` for root]. Only an
    /// explicit `root` has capabilities
    #[arg(long, value_name = "NAME|UID")]
    pub(crate) user: Option<String>,
    /// Let COMMAND reach other networks through the links: IPv4 only, and this machine must forward packets
    /// (net.ipv4.ip_forward)
    #[arg(long)]
    pub(crate) nat: bool,
    #[command(flatten)]
    pub(crate) processors: Processors,
    /// Add packets.pcapng to the record: all packet headers at COMMAND's end of the path, or with `--pcap=receivers` at the other end
    #[arg(long, value_enum, value_name = "END", num_args = 0..=1, require_equals = true, default_missing_value = "senders")]
    pub(crate) pcap: Option<CaptureEnd>,
    /// The directory below which the record is written, under a new name
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(crate) out: PathBuf,
    /// The program to run behind the emulated links, with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// A link in each direction, instead of a file.
#[derive(Debug, Args)]
pub(crate) struct LinkOptions {
    /// The rate of the links, as in "10 Mbit/s"
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<String>,
    /// The rate of the link towards COMMAND [default: RATE of --rate]
    #[arg(long, value_name = "RATE", requires = "rate")]
    pub(crate) downlink_rate: Option<String>,
    /// The propagation delay of each link, as in "20 ms"; the round trip takes twice as long [default: 0]
    #[arg(long, value_name = "TIME", requires = "rate")]
    pub(crate) delay: Option<String>,
    /// The buffer of each link, as in "50 packets", "64 kB", "2 bdp" or "unlimited" [default: 1000 packets]
    #[arg(long, value_name = "SIZE", requires = "rate")]
    pub(crate) queue: Option<String>,
    /// The AQM of each link, from `penstock laws` [default: droptail]. `--set aqm.KEY=VALUE` sets parameters of the AQM
    #[arg(long, value_name = "LAW", requires = "rate")]
    pub(crate) aqm: Option<String>,
    /// The share of packets that each link loses at random, as in 0.01 [default: 0]
    #[arg(long, value_name = "SHARE", requires = "rate")]
    pub(crate) loss: Option<String>,
}
