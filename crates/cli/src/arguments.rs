//! The command line.

#[path = "arguments/evaluate.rs"]
mod evaluate;
#[path = "arguments/laws.rs"]
mod laws;
#[path = "arguments/path.rs"]
mod path;
#[path = "arguments/scenarios.rs"]
mod scenarios;
#[path = "arguments/search.rs"]
mod search;
#[path = "arguments/tune.rs"]
mod tune;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use evaluate::Evaluate;
pub(crate) use path::{LinkOptions, PathOptions};
pub(crate) use scenarios::{Changes, Output, Scenarios};
pub(crate) use search::Break;
pub(crate) use tune::{GainRule, Tune, TuneClcc, TuneEarlyMarking};

/// A laboratory for congestion control: analyze, simulate and run one implementation of a law.
#[derive(Debug, Parser)]
#[command(name = "penstock", version = crate::VERSION, max_term_width = 100)]
#[command(
    after_help = "Exit status: 0 done; 1 done, but the verdict of a claim differs from the recorded one, a bound is not kept, or a search found a failure; 2 invalid \
                  input; 3 not supported by this machine, version or world; 4 done, but a run on Linux exceeded its \
                  error bounds; 70 a bug; 130 interrupted."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) terminal: Terminal,
}

/// Options for the output of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Terminal")]
pub(crate) struct Terminal {
    /// Output for programs: tab-separated columns, ASCII digits and signs, `#` before lines outside a table
    #[arg(long, global = true)]
    pub(crate) plain: bool,
    /// Use colours: `auto` uses colours on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto", alias = "colour")]
    pub(crate) color: When,
    /// Print only errors on standard error
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Also print the files read and written, and the time taken
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// When there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Everywhere, also in a pipe
    Always,
    /// Nowhere
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run scenario files, and every combination of values (cell) of a sweep, in parallel
    Run(Run),
    /// Run the sweeps of scenario files, or a part of each (--shard). Cells with results in the directory of --out do not run again
    Sweep(Sweep),
    /// Read a scenario, and print it with every default, and the worlds that can run it
    Check(Check),
    /// Compute equilibrium, loop gain with exact delays, and stability margins
    Analyze(Analyze),
    /// Run a scenario in several worlds or with several laws, or run two scenarios; print and plot the differences
    Compare(Compare),
    /// Compute parameters of a law by the rule of its paper, and the resulting stability margin
    #[command(subcommand)]
    Tune(Tune),
    /// List the laws (controllers, AQMs and conditioners), or describe one: source, parameters, units, ranges and defaults
    Laws(Laws),
    /// Run the scenarios of a paper's figures, test the paper's claims on the results, and compare each verdict with the recorded verdict
    Paper(Paper),
    /// Measure a law and baseline laws by the criteria of RFC 9743, RFC 9331 and RFC 7928, and write a page of verdicts
    Evaluate(Evaluate),
    /// Search for scenarios in which a law fails, and shrink each to the smallest scenario file that still shows the failure
    Break(Break),
    /// Build report.html again from the files of a record, or print the record's numbers as CSV
    Report(Report),
    /// List the example scenarios that this command contains, or print one of them
    Examples(Examples),
    /// Write the scenarios, papers, criteria and search files that this command contains into a new directory
    Init(Init),
    /// Plot records, sweeps or papers over each other on one page, and print their differences with confidence intervals
    Show(Show),
    /// Serve the playground, a web page to edit, run and analyze scenarios, to a browser on this machine
    Play(Play),
    /// List the records in a directory: when they were written, which keys differ, and their main numbers
    List(List),
    /// Emulate a path, check this kernel, and run laws in the kernel
    #[command(subcommand)]
    Linux(Linux),
    /// Print the completion script for a shell
    Completions {
        /// The shell that the script is for
        shell: Shell,
    },
    /// Print the manual page of this command, or write the manual pages of all subcommands
    Man {
        /// The directory for the manual pages, such as `man1` below a directory of MANPATH; created if missing
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

/// Where a scenario runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorldName {
    /// Packet by packet
    Packets,
    /// Differential equations of rates and queues
    Fluid,
    /// The kernel's TCP over an emulated path
    Linux,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) scenarios: Scenarios,
    /// Add packets.pcapng to the record: all packet headers at each flow's sender, or with `--pcap=receivers` at its receiver; not for
    /// sweeps
    #[arg(long, value_enum, value_name = "END", num_args = 0..=1, require_equals = true, default_missing_value = "senders")]
    pub(crate) pcap: Option<CaptureEnd>,
    /// With `--world linux`: the sender of the flows that respond to losses, by TCP (own, iperf3) or QUIC (quic); not for sweeps
    #[arg(long, value_enum, default_value = "own")]
    pub(crate) generator: Generator,
    /// With `--generator quic`: add flow-N.sqlog to the record, the log of each flow's connections at the sender (qlog); it slows the
    /// sender down
    #[arg(long)]
    pub(crate) qlog: bool,
    /// Simulate one run on N threads, with the same results. With packets it takes two links or more with a propagation delay between
    /// them, and with `--world fluid` two groups of flows or more. It pays where packets or groups are many and processors idle; a run
    /// that cannot be divided stays on one thread, and says why
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
    #[command(flatten)]
    pub(crate) processors: Processors,
}

#[derive(Debug, Args)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) scenarios: Scenarios,
    /// Run only the cells I, I+N, I+2N and so on. To share a sweep between N machines, give each a different I from 1 to N
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub(crate) shard: Option<Shard>,
    #[command(flatten)]
    pub(crate) processors: Processors,
}

/// The processors of this machine while real packets are under way.
#[derive(Debug, Args)]
pub(crate) struct Processors {
    /// Keep the processors from halting while real packets are under way (the Linux world, `linux path`). A virtual processor that halts
    /// may come back milliseconds late; on a host that is short of processors the opposite may hold
    #[arg(long)]
    pub(crate) awake: bool,
}

/// The sender of flows that respond to losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Generator {
    /// Sockets of this process
    #[default]
    Own,
    /// An iperf3 client and server for each flow; sizes and pauses are not supported
    Iperf3,
    /// A QUIC client and server (quinn, s2n-quic) for each flow; pauses of flows with a size are not supported
    Quic,
}

/// The end at which packets are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CaptureEnd {
    /// The end that sends the data
    Senders,
    /// The end that receives the data
    Receivers,
}

/// A part of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    /// Which one, from 1.
    pub(crate) number: usize,
    /// Of how many.
    pub(crate) of: usize,
}

impl Shard {
    fn parse(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((number, of)) if 1 <= number && number <= of => Ok(Self { number, of }),
            _ => Err("write I/N, as in 1/4: part I of N parts, with I from 1 to N".to_owned()),
        }
    }

    /// Whether the cell at that place, counted from zero, belongs to it.
    pub(crate) const fn has(self, at: usize) -> bool {
        at % self.of == self.number - 1
    }
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The scenario file, or `-` for standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["schema", "reference"])]
    pub(crate) file: Option<PathBuf>,
    /// Print the JSON Schema of scenario files, for editors
    #[arg(long, conflicts_with_all = ["file", "set"])]
    pub(crate) schema: bool,
    /// Print the reference of scenario files as Markdown
    #[arg(long, conflicts_with_all = ["file", "set", "schema"])]
    pub(crate) reference: bool,
    /// Check whether these worlds support the scenario; exit status 3 if none of them does [default: all worlds]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WORLD", requires = "file")]
    pub(crate) world: Vec<WorldName>,
    /// Print only JSON on standard output: errors, worlds, cells and the scenario
    #[arg(long, requires = "file")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// The clock of a sender's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClockingName {
    /// Send packets at the law's gap, or at window over round-trip time; the window does not limit the packets in flight
    Paced,
    /// Send packets when acknowledgements arrive
    Ack,
}

#[derive(Debug, Args)]
pub(crate) struct Analyze {
    /// The scenario file, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Analyze the flows active at this time, as in `--at "150 s"` [default: the end of the run]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// The timing of a group's packets, by a pacing gap or by acknowledgements [default: whichever of gap and window of the group's law
    /// allows the lower rate]
    #[arg(long, value_name = "GROUP=paced|ack", value_parser = clocking)]
    pub(crate) clocking: Vec<(String, ClockingName)>,
    /// Also compute how the queueing delay and the rate of the flows respond to cross traffic at each bottleneck
    #[arg(long)]
    pub(crate) disturbance: bool,
    /// Draw a map of the values of two keys for which the loop is stable. Write each key as `KEY=10..300 ms` (logarithmic
    /// steps) or `KEY=["10 ms", "50 ms"]`
    #[arg(long, num_args = 2, value_names = ["X", "Y"])]
    pub(crate) stability_map: Option<Vec<String>>,
    /// The number of values in each range of a stability map
    #[arg(
        long,
        value_name = "N",
        default_value_t = 11,
        requires = "stability_map",
        value_parser = clap::value_parser!(u16).range(2..=200)
    )]
    pub(crate) map_points: u16,
    /// Also write analysis.json and report.html in a new directory below DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print only JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// A group and the clocking of its packets.
fn clocking(text: &str) -> Result<(String, ClockingName), String> {
    let (group, name) = text.split_once('=').ok_or("write GROUP=paced or GROUP=ack")?;
    Ok((group.trim().to_owned(), ClockingName::from_str(name.trim(), true)?))
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The scenario file, or `-` for standard input; or two scenario files, which are compared with each other
    #[arg(value_name = "FILE", required = true, num_args = 1..=2)]
    pub(crate) files: Vec<PathBuf>,
    /// The worlds to run; each later world is compared with the first [default: packets,fluid; with two files or `--laws`: packets]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) worlds: Vec<WorldName>,
    /// Run the scenario with each of these laws in turn, and compare: a controller is that of every group of flows, an AQM that of every
    /// link that has one, or of every link if none has. With parameters as in `{ law = "fast", alpha = "20 packets" }`
    #[arg(long, value_name = "LAW,LAW")]
    laws: Vec<String>,
    /// The seed of all random draws, instead of the seed in the scenario file
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Fluid world: the maximum time step [default: a twentieth of the shortest round-trip time]
    #[arg(long, value_name = "TIME")]
    pub(crate) step: Option<String>,
    /// Fluid world: use propagation delays only, without queueing delay
    #[arg(long)]
    pub(crate) frozen_delays: bool,
    /// Fluid world: laws observe true prices, round-trip times and base RTTs, not the estimates of senders
    #[arg(long)]
    pub(crate) true_signals: bool,
    /// Fluid world: the timing of packets, by a pacing gap or by acknowledgements [default: by the law's gap, if it has one, within its window]
    #[arg(long, value_enum)]
    pub(crate) clocking: Option<ClockingName>,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Also write comparison.json and report.html in a new directory below DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print only JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) processors: Processors,
}

impl Compare {
    /// The laws of `--laws`.
    pub(crate) fn laws(&self) -> Vec<&str> {
        laws::laws(&self.laws)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Examples {
    /// The scenario to print
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print only JSON on standard output
    #[arg(long, conflicts_with = "name")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The new directory; it may exist, if it is empty
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Also write the test vectors of the kernel implementations (35 MB)
    #[arg(long)]
    pub(crate) vectors: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Laws {
    /// The law to describe [default: list all laws]
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print only JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Paper {
    /// A paper, or one of its figures [default: every paper]
    #[arg(value_name = "KEY[/FIGURE]")]
    pub(crate) what: Option<String>,
    /// Run only the figures and tables of this world [default: all worlds except `linux`, which needs root and runs in real time]
    #[arg(long, value_enum, value_name = "WORLD")]
    pub(crate) world: Option<WorldName>,
    /// List the figures and tables of the papers with their claims, also those that Penstock cannot reproduce, and run nothing
    #[arg(long, conflicts_with_all = ["world", "record", "short", "seeds", "awake", "out", "jobs"])]
    pub(crate) list: bool,
    /// Record the verdicts in the paper's verdicts.toml
    #[arg(long)]
    pub(crate) record: bool,
    /// Run only the few cells that `short` names in `paper.toml`; exit status 1 if a verdict differs from the recorded verdict
    #[arg(long)]
    pub(crate) short: bool,
    /// Run each cell with N seeds, which count up from the scenario's seed; each claim defines how seeds are combined
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000), conflicts_with = "record")]
    pub(crate) seeds: Option<u16>,
    /// The directory of papers [default: `papers` in this directory or in the nearest parent directory that has it]
    #[arg(long, value_name = "DIR")]
    pub(crate) papers: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) processors: Processors,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// The directories of records or sweeps
    #[arg(value_name = "DIR", required_unless_present = "reference")]
    pub(crate) records: Vec<PathBuf>,
    /// Print one table as CSV, with one row for each record or cell of a sweep, and write no files
    #[arg(long, requires = "records")]
    pub(crate) csv: bool,
    /// Print the meaning of each number of a record as Markdown
    #[arg(long, conflicts_with = "records")]
    pub(crate) reference: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Directories of records, or directories that contain records, such as that of a sweep or a paper
    #[arg(required = true, value_name = "RECORD")]
    pub(crate) records: Vec<PathBuf>,
    /// The directory below which the page is written, in a new directory `show`
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(crate) out: PathBuf,
    /// Print only JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Play {
    /// The port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 8622)]
    pub(crate) port: u16,
    /// Serve the playground of this directory, as `make web` builds it, instead of the one in the command
    #[arg(long, value_name = "DIR")]
    pub(crate) files: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// A directory that contains records, also in subdirectories
    #[arg(value_name = "DIR", default_value = "out")]
    pub(crate) directory: PathBuf,
    /// Print only JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Linux {
    /// Print the features that this kernel supports, and for each missing feature the reason
    Check,
    /// Run the traffic of any program over emulated links: the links of a scenario, or one link in each direction
    Path(Box<PathOptions>),
    /// Run the test vectors of laws in Rust, in C on this processor, and in C inside the kernel, and compare the results
    Replay {
        /// The directory of test vectors [default: `vectors` in this directory or in the nearest parent directory that has it]
        #[arg(long, value_name = "DIR")]
        vectors: Option<PathBuf>,
    },
    /// Attach a law to this kernel until it is detached, or change the parameters of an attached law
    Attach(Attach),
    /// Print the attached laws: parameters, counters, and the processing time of a packet or an acknowledgement
    Status {
        /// Print only JSON on standard output
        #[arg(long, conflicts_with = "prometheus")]
        json: bool,
        /// Print only the Prometheus text format on standard output
        #[arg(long)]
        prometheus: bool,
        #[command(flatten)]
        pins: Pinned,
    },
    /// Print the output of an attached controller for each acknowledgement, as CSV; requires `attach --trace`
    Trace {
        /// The controller whose output is printed
        #[arg(value_name = "NAME")]
        name: String,
        /// How long to trace, as in "10 s" [default: until Ctrl-C]
        #[arg(long, value_name = "TIME")]
        time: Option<String>,
        #[command(flatten)]
        pins: Pinned,
    },
    /// Detach laws from this kernel; open connections keep their law until the connections end
    Detach {
        /// The law to detach [default: all attached laws]
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Detach only the laws at this network device, AQMs and conditioners [default: laws at all devices, and controllers]
        #[arg(long, value_name = "DEV")]
        device: Option<String>,
        #[command(flatten)]
        pins: Pinned,
    },
}

/// Where attachments have their names.
#[derive(Debug, Args)]
pub(crate) struct Pinned {
    /// The directory on a BPF file system for the pins, which are the files that hold attachments
    #[arg(long, value_name = "DIR", default_value = "/sys/fs/bpf/penstock")]
    pub(crate) pins: PathBuf,
}

/// Whose default controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    /// The default controller of the network namespace of this command
    Namespace,
    /// The default controller of the machine's first network namespace; new namespaces inherit this default
    System,
}

/// Which packets of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DirectionName {
    /// Packets that leave the device
    Egress,
    /// Packets that enter the device
    Ingress,
}

#[derive(Debug, Args)]
pub(crate) struct Attach {
    /// The law to attach: a controller, an AQM or a conditioner
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Make a controller the default of new connections
    #[arg(long, value_enum, value_name = "SCOPE", conflicts_with_all = ["device", "direction"])]
    pub(crate) default: Option<ScopeName>,
    /// Let a controller write an entry for each acknowledgement, for `linux trace`; writing entries costs processing time
    #[arg(long, conflicts_with_all = ["device", "direction"])]
    pub(crate) trace: bool,
    /// The network device, for an AQM or a conditioner
    #[arg(long, value_name = "DEV")]
    pub(crate) device: Option<String>,
    /// The packets that the law handles: packets that leave the device or packets that enter it [default: depends on the law]
    #[arg(long, value_enum, value_name = "DIRECTION", requires = "device")]
    pub(crate) direction: Option<DirectionName>,
    /// Set a parameter, as in `--set law.alpha="50 packets"`. A law at a device has `aqm.KEY`, `conditioner.KEY`,
    /// `link.rate`, `link.packet`, `link.buffer`, `not_ect`, `classes.tcp.KEY` and `classes.other.KEY`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) pins: Pinned,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn shards_have_each_cell_once() {
        let parse = super::Shard::parse;
        for wrong in ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "1.5/2", "a/b"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        let shards = ["1/3", "2/3", "3/3"].map(|text| parse(text).unwrap());
        for at in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.has(at)).count(), 1, "{at}");
        }
        assert!(parse("1/1").unwrap().has(7));
    }

    #[test]
    fn the_command_line_is_well_formed() {
        super::Arguments::command().debug_assert();
    }
}
