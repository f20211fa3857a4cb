//! The command line.

#[path = "arguments/path.rs"]
mod path;
#[path = "arguments/tune.rs"]
mod tune;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use path::{LinkOptions, PathOptions};
pub(crate) use tune::{GainRule, Tune, TuneClcc, TuneEarlyMarking};

/// A laboratory for congestion control: one law, written once, proved, simulated and run.
#[derive(Debug, Parser)]
#[command(name = "penstock", version = crate::VERSION, max_term_width = 100)]
#[command(
    after_help = "Exit status: 0 done; 1 done, but a claim's verdict differs from the recorded one; 2 bad input; \
                        3 this machine, version or world cannot do that; 4 done, but a run on Linux is outside its own stated \
                        error; 70 a bug; 130 stopped."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) terminal: Terminal,
}

/// How all commands say what they say.
#[derive(Debug, Args)]
#[command(next_help_heading = "Terminal")]
pub(crate) struct Terminal {
    /// For programs: columns apart by tabs, ASCII digits and signs, `#` before what is no table
    #[arg(long, global = true)]
    pub(crate) plain: bool,
    /// Colours; `auto` has them on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto", alias = "colour")]
    pub(crate) color: When,
    /// Nothing on standard error but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Also what is read, where it is written, and how long that takes
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// When there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Also in a pipe
    Always,
    /// Nowhere
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run scenarios; of a sweep, all its cells in parallel
    Run(Run),
    /// The same for files with a sweep, also a part of it. What is finished in DIR is kept
    Sweep(Sweep),
    /// Read and resolve a scenario, and print it with every default and the worlds that run it
    Check(Check),
    /// Equilibrium, loop gain with exact delays, and margins
    Analyze(Analyze),
    /// The same scenario in several worlds: differences as numbers, and an overlay
    Compare(Compare),
    /// Parameters of a law by the rule of its paper, with the margin that they give
    #[command(subcommand)]
    Tune(Tune),
    /// What the registry knows: each law, its source, parameters with units, ranges and defaults
    Laws(Laws),
    /// Run a paper's figures, measure its claims and compare the verdicts with the recorded ones
    Paper(Paper),
    /// Build report.html again from the files of a record, or print its numbers as CSV
    Report(Report),
    /// The scenarios that come with this command: list them, or print one
    Examples(Examples),
    /// List the records in a directory, with what was changed in the scenario of each
    List(List),
    /// The emulated path as a tool, what this kernel can do, and its side of the laws
    #[command(subcommand)]
    Linux(Linux),
    /// Print what a shell completes this command by
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print this command's manual page, or write those of all its commands
    Man {
        /// The directory to write them to, as in `man1` below a directory of MANPATH; made if it does not exist
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

/// Where a scenario runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorldName {
    /// Packet by packet
    Packets,
    /// Differential equations
    Fluid,
    /// Real TCP
    Linux,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) scenarios: Scenarios,
    /// Add packets.pcapng to the record, with the packets at one end of every flow; not for sweeps
    #[arg(long, value_enum, value_name = "END", num_args = 0..=1, require_equals = true, default_missing_value = "senders")]
    pub(crate) pcap: Option<CaptureEnd>,
    /// What sends the flows of TCP with `--world linux`; not for sweeps
    #[arg(long, value_enum, default_value = "own")]
    pub(crate) generator: Generator,
}

#[derive(Debug, Args)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) scenarios: Scenarios,
    /// Run every N-th cell only, from the I-th: a sweep on N machines has I from 1 to N
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub(crate) shard: Option<Shard>,
}

/// What sends flows of TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Generator {
    /// Sockets of this process
    #[default]
    Own,
    /// A client and a server of iperf3 for each flow, which have no size and no pauses
    Iperf3,
}

/// Where packets are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CaptureEnd {
    /// Where data come from
    Senders,
    /// Where data go
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
            _ => Err("write I/N, as in 1/4, with I from 1 to N".to_owned()),
        }
    }

    /// Whether the cell at that place, counted from zero, belongs to it.
    pub(crate) const fn has(self, at: usize) -> bool {
        at % self.of == self.number - 1
    }
}

#[derive(Debug, Args)]
pub(crate) struct Scenarios {
    /// Scenario files, `-` for standard input; the record.toml of a record is one too
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Where to run them
    #[arg(long, value_enum, default_value = "packets")]
    pub(crate) world: WorldName,
    /// The seed, in the place of the file's
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) changes: Changes,
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
    /// The directory that records go to, each under a fresh name; sweeps and papers go on where they stopped
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(crate) out: PathBuf,
    /// Print JSON, and nothing else, on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Threads at most; as many as there are processors unless given. Changes no result
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The scenario file, `-` for standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["schema", "reference"])]
    pub(crate) file: Option<PathBuf>,
    /// Print the JSON Schema of scenario files, for editors
    #[arg(long, conflicts_with_all = ["file", "set"])]
    pub(crate) schema: bool,
    /// Print the reference of scenario files, Markdown
    #[arg(long, conflicts_with_all = ["file", "set", "schema"])]
    pub(crate) reference: bool,
    /// Whether these worlds run it, without running it: status 3 if none of them does. All of them unless given
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WORLD", requires = "file")]
    pub(crate) world: Vec<WorldName>,
    /// Print JSON, and nothing else, on standard output: errors, worlds, cells and the scenario
    #[arg(long, requires = "file")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// What times a sender's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClockingName {
    /// The gap that the law says, or its window over a round trip; its window is no limit
    Paced,
    /// Acknowledgements
    Ack,
}

#[derive(Debug, Args)]
pub(crate) struct Analyze {
    /// The scenario file, `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The moment whose flows are analyzed, as in `--at "150 s"`; the end of the run unless given
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// What times the packets of a group; as its law's gap and window have it unless given
    #[arg(long, value_name = "GROUP=paced|ack", value_parser = clocking)]
    pub(crate) clocking: Vec<(String, ClockingName)>,
    /// Which values of two keys keep the loop stable, as a map; each as in `KEY=10..300 ms` (evenly spaced logarithms)
    /// or `KEY=["10 ms", "50 ms"]`
    #[arg(long, num_args = 2, value_names = ["X", "Y"])]
    pub(crate) stability_map: Option<Vec<String>>,
    /// Values of each range of a stability map
    #[arg(
        long,
        value_name = "N",
        default_value_t = 11,
        requires = "stability_map",
        value_parser = clap::value_parser!(u16).range(2..=200)
    )]
    pub(crate) map_points: u16,
    /// Also write analysis.json and report.html below this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON, and nothing else, on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// A group and what times its packets.
fn clocking(text: &str) -> Result<(String, ClockingName), String> {
    let (group, name) = text.split_once('=').ok_or("write GROUP=paced or GROUP=ack")?;
    Ok((group.trim().to_owned(), ClockingName::from_str(name.trim(), true)?))
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The scenario file, `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The worlds; differences are those of the second and later ones from the first
    #[arg(long, value_enum, value_delimiter = ',', default_value = "packets,fluid")]
    pub(crate) worlds: Vec<WorldName>,
    /// The seed, in the place of the file's
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Fluid: the step at most; a twentieth of the shortest round trip unless given
    #[arg(long, value_name = "TIME")]
    pub(crate) step: Option<String>,
    /// Fluid: delays of propagation alone, without the time that packets wait
    #[arg(long)]
    pub(crate) frozen_delays: bool,
    /// Fluid: laws are told prices and round trips as they are, not as their senders estimate them
    #[arg(long)]
    pub(crate) true_signals: bool,
    /// Fluid: what times packets; as the hosts do it unless given
    #[arg(long, value_enum)]
    pub(crate) clocking: Option<ClockingName>,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Also write comparison.json and report.html below this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON, and nothing else, on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Examples {
    /// One of them, which is printed as the file that it is
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print JSON, and nothing else, on standard output
    #[arg(long, conflicts_with = "name")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Laws {
    /// One law
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print JSON, and nothing else, on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Paper {
    /// A paper, or one of its figures; every paper unless given
    #[arg(value_name = "KEY[/FIGURE]")]
    pub(crate) what: Option<String>,
    /// Only what runs in this world; all but `linux`, which takes root and real time, unless given
    #[arg(long, value_enum, value_name = "WORLD")]
    pub(crate) world: Option<WorldName>,
    /// List figures, tables and claims, also those that do not run here; run nothing
    #[arg(long, conflicts_with_all = ["world", "record", "short", "seeds", "out", "jobs"])]
    pub(crate) list: bool,
    /// Put the verdicts on record in the paper's verdicts.toml
    #[arg(long)]
    pub(crate) record: bool,
    /// A cheap check: some cells only, against verdicts recorded for them
    #[arg(long)]
    pub(crate) short: bool,
    /// Run each cell so often, with seeds that count up from the scenario's; claims join them as they say
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000), conflicts_with = "record")]
    pub(crate) seeds: Option<u16>,
    /// The directory of papers; found in this directory or above it unless given
    #[arg(long, value_name = "DIR")]
    pub(crate) papers: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Directories of records or sweeps
    #[arg(value_name = "DIR", required_unless_present = "reference")]
    pub(crate) records: Vec<PathBuf>,
    /// Print one table as CSV, a row a record or a cell of a sweep, and write nothing
    #[arg(long, requires = "records")]
    pub(crate) csv: bool,
    /// Print what each number of a record means, Markdown
    #[arg(long, conflicts_with = "records")]
    pub(crate) reference: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// The directory that records are in, or below
    #[arg(value_name = "DIR", default_value = "out")]
    pub(crate) directory: PathBuf,
    /// Print JSON, and nothing else, on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Linux {
    /// What this kernel can do, and why not
    Check,
    /// Run any program's traffic over emulated links: those of a scenario, or one each way
    Path(Box<PathOptions>),
    /// Run the vectors of the laws' kernel implementations in Rust, in C on this processor, and in C inside the kernel
    Replay {
        /// The directory of vectors; found in this directory or above it unless given
        #[arg(long, value_name = "DIR")]
        vectors: Option<PathBuf>,
    },
    /// Put a law into this kernel, where it stays until it is detached; what is attached gets other parameters
    Attach(Attach),
    /// What is attached: parameters, counters, and what a packet or an acknowledgement costs
    Status {
        /// Print JSON, and nothing else, on standard output
        #[arg(long, conflicts_with = "prometheus")]
        json: bool,
        /// Print the text that Prometheus reads, and nothing else, on standard output
        #[arg(long)]
        prometheus: bool,
        #[command(flatten)]
        pins: Pinned,
    },
    /// Print what an attached controller answers to each acknowledgement, as CSV; it must be attached with --trace
    Trace {
        /// The controller
        #[arg(value_name = "NAME")]
        name: String,
        /// For how long, as in "10 s"; until Ctrl-C unless given
        #[arg(long, value_name = "TIME")]
        time: Option<String>,
        #[command(flatten)]
        pins: Pinned,
    },
    /// Take laws out of this kernel again; connections that have one keep it until they end
    Detach {
        /// The law; all of them unless given
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Only at this device
        #[arg(long, value_name = "DEV")]
        device: Option<String>,
        #[command(flatten)]
        pins: Pinned,
    },
}

/// Where attachments have their names.
#[derive(Debug, Args)]
pub(crate) struct Pinned {
    /// The directory of pins, on a BPF file system
    #[arg(long, value_name = "DIR", default_value = "/sys/fs/bpf/penstock")]
    pub(crate) pins: PathBuf,
}

/// Whose default controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    /// That of the network namespace that the command runs in
    Namespace,
    /// That of the machine's first namespace, which those made later begin with
    System,
}

/// Which packets of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DirectionName {
    /// Those that leave
    Egress,
    /// Those that come in
    Ingress,
}

#[derive(Debug, Args)]
pub(crate) struct Attach {
    /// A controller, or a law of a queue or an edge
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Make a controller the default of connections that begin from now on
    #[arg(long, value_enum, value_name = "SCOPE", conflicts_with_all = ["device", "direction"])]
    pub(crate) default: Option<ScopeName>,
    /// Have a controller write a record an acknowledgement, for `penstock linux trace`; costs time
    #[arg(long, conflicts_with_all = ["device", "direction"])]
    pub(crate) trace: bool,
    /// The device, for a law of a queue or an edge
    #[arg(long, value_name = "DEV")]
    pub(crate) device: Option<String>,
    /// Its packets that leave, or that come in; as the law has it unless given
    #[arg(long, value_enum, value_name = "DIRECTION", requires = "device")]
    pub(crate) direction: Option<DirectionName>,
    /// Set a parameter, as in `--set law.alpha="50 packets"`; of a law at a device `aqm.KEY`, `conditioner.KEY`, `link.rate`, `link.packet`,
    /// `link.buffer`, `not_ect`, `classes.tcp.KEY` and `classes.other.KEY`
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
