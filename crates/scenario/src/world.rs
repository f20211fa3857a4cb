//! The interface of every world: a scenario goes in, a run comes out.

mod rows;

use std::io::Write;
use std::sync::Arc;

use penstock_law::conditioner::Colour;
use penstock_law::quantity::Time;

use crate::model::{Rtt, Scenario};
use crate::summary::{FlowSummary, Summary};

pub use rows::{Row, Rows, column_name};

/// A world: a way to run a scenario.
pub trait World {
    /// Its name on the command line and in records.
    fn name(&self) -> &'static str;
    /// Runs `scenario` to its end.
    ///
    /// # Errors
    /// The obstacle to the run; see [`RunError`].
    fn run(&self, scenario: &Scenario, watcher: &mut dyn Watcher) -> Result<Run, RunError>;
    /// Every requirement of `scenario` that this world cannot meet, a sentence each; nothing is run.
    fn refusals(&self, scenario: &Scenario) -> Vec<String>;
    /// Whether it keeps processors from halting during a run (`--awake`). A world in simulated time has no reason to.
    fn awake(&self) -> bool {
        false
    }
    /// Whether its runs take turns, since they are in real time: a run beside another, or beside the writing of another's record,
    /// would measure that too.
    fn takes_turns(&self) -> bool {
        false
    }
}

/// A scenario with one flow a group, of the shortest round trip: requirements do not depend on the number of flows.
pub fn with_one_flow_each(scenario: &Scenario) -> Scenario {
    let mut one = scenario.clone();
    for group in one.groups.values_mut() {
        group.count = 1;
        if let Rtt::List(list) = &group.rtt {
            group.rtt = Rtt::Each(list.iter().copied().min().unwrap_or_default());
        }
    }
    one
}

/// An observer of a run: a function of the share done, or more.
pub trait Watcher {
    /// The share done, 0 to 1, now and then and at least every few tenths of a second; `false` stops the run.
    fn progress(&mut self, done: f64) -> bool;
    /// A question for a world in the midst of one event that takes long, as a burst of a million packets does: whether the run
    /// shall go on. It is asked besides [`Watcher::progress`].
    fn goes_on(&self) -> Option<GoesOn> {
        None
    }
    /// Whether [`Watcher::packet`] shall be called, which costs time.
    fn wants_packets(&self) -> bool {
        false
    }
    /// A packet passed an end of its flow. Calls come in the order of time.
    fn packet(&mut self, _: &Sighting) {}
    /// Where a flow's connection writes its log, if it has one and somebody wants it. The flow is counted over all groups in the
    /// order of the file.
    fn log(&mut self, _flow: u32) -> Option<Log> {
        None
    }
}

/// Whether a run shall go on; once `false`, always.
pub type GoesOn = Arc<dyn Fn() -> bool + Send + Sync>;

/// Takes the log of a connection.
pub type Log = Box<dyn Write + Send + Sync>;

impl<F: FnMut(f64) -> bool> Watcher for F {
    fn progress(&mut self, done: f64) -> bool {
        self(done)
    }
}

/// A packet at an end of its flow, where one would run tcpdump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sighting {
    /// When.
    pub at: Time,
    /// At the sending or at the receiving end.
    pub end: End,
    /// The flow, counted over all groups in the order of the file.
    pub flow: u32,
    /// Which connection of the flow: transfers after the first may have a new one each.
    pub connection: u32,
    /// Bytes on the wire.
    pub size: u32,
    /// The field of the IP header.
    pub ecn: Ecn,
    /// Codepoint set by a conditioner (RFC 2597); none before one and where there is none.
    pub colour: Option<Colour>,
    /// Content of the packet.
    pub content: Content,
}

/// An end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Where its data come from.
    Sender,
    /// Where they go.
    Receiver,
}

/// The two bits of the IP header (RFC 3168, RFC 9331).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecn {
    /// Cannot be marked.
    NotEct,
    /// Can be marked.
    Ect0,
    /// Can be marked, and requests low latency.
    Ect1,
    /// Was marked.
    Ce,
}

/// Accurate feedback of marks (RFC 9768).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccurateEcn {
    /// Marked packets, modulo 8, counted from 5.
    pub ace: u8,
    /// The AccECN Option, where there is one: bytes that arrived as ECT(0), marked, and as ECT(1), modulo 2^24.
    pub option: Option<[u32; 3]>,
}

/// Content of a packet. Segments are counted from zero in each connection; all but a transfer's last are full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A segment, of a source that is acknowledged.
    Data {
        /// Which.
        segment: u64,
        /// The CWR flag: the sender has reduced its window.
        cwr: bool,
    },
    /// An acknowledgement.
    Ack {
        /// The first segment that the receiver lacks.
        next: u64,
        /// Runs of segments beyond that one, the newest first: the first of each, and one past the last.
        blocks: [Option<(u64, u64)>; 4],
        /// The ECE flag: it echoes a mark.
        echo: bool,
        /// Accurate feedback of marks, where both ends have agreed on it.
        accurate: Option<AccurateEcn>,
    },
    /// A datagram of a source that nobody acknowledges.
    Datagram {
        /// Which.
        number: u64,
    },
}

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario contradicts itself, found only by its run: the contradiction and the remedy.
    #[error("{0}")]
    Input(String),
    /// The scenario requires a feature that this world lacks.
    #[error("{}", what.iter().map(|what| format!("{what} (in the {world} world)")).collect::<Vec<_>>().join("\n"))]
    Refused {
        /// The world.
        world: &'static str,
        /// Missing features, each with the remedy.
        what: Vec<String>,
    },
    /// The user stopped the run.
    #[error("stopped")]
    Stopped,
    /// A law returned an output that no host can act on, such as a window that is not a number: a bug of the law.
    #[error("{whose}: {} s into the run the output of `{law}` was {output}, which is not a number that a host can act on", at.seconds())]
    Law {
        /// Where it acts, as a key of the scenario.
        whose: String,
        /// Its name in the registry.
        law: &'static str,
        /// When it returned the output.
        at: Time,
        /// The output.
        output: String,
    },
    /// The engine broke one of its own laws: a bug.
    #[error("bug: {0}")]
    Broken(String),
}

impl RunError {
    /// Obstacles to a run, a sentence each.
    pub fn reasons(self) -> Vec<String> {
        match self {
            Self::Refused { what, .. } => what,
            other => vec![other.to_string()],
        }
    }
}

/// Results of a run: numbers, one row a flow, and series.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The numbers.
    pub summary: Summary,
    /// One row a flow, whatever their number.
    pub flows: Vec<FlowSummary>,
    /// Series over time, one table an entity kind: `links`, `groups`, `flows`.
    pub series: Vec<Table>,
}

/// A table of equally long columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The entities of its rows.
    pub name: String,
    /// The columns.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, with the unit at its end.
    pub name: String,
    /// Meaning of a value.
    pub kind: Kind,
    /// The values.
    pub values: Cells,
}

/// Meaning of a value of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It identifies the row.
    Key,
    /// An average over the sampling period that ends at the row's time.
    Average,
    /// The value at the row's time.
    Instant,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Numbers; NaN where there is no value.
    Number(Vec<f64>),
    /// Whole numbers.
    Count(Vec<u64>),
    /// Names, as an index into a list.
    Name {
        /// The list.
        names: Vec<String>,
        /// One index a row.
        rows: Vec<u32>,
    },
}

impl Table {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| match &c.values {
            Cells::Number(v) => v.len(),
            Cells::Count(v) => v.len(),
            Cells::Name { rows, .. } => rows.len(),
        })
    }

    /// The numbers of the column `name`, if there is such a column of numbers.
    pub fn number(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|c| c.name == name).and_then(|c| match &c.values {
            Cells::Number(v) => Some(v.as_slice()),
            _ => None,
        })
    }
}
