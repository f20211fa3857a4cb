//! The packets of a run as a table, for a user who would run tcpdump at both ends of every flow.

use std::sync::Arc;

use penstock_record::Described;
use penstock_scenario::model::Scenario;
use penstock_scenario::world::{Cells, Column, Content, Ecn, End, GoesOn, Kind, Sighting, Table, Watcher};
use pyo3::prelude::*;

use crate::looks::Looks;

const ENDS: [&str; 2] = ["sender", "receiver"];
const KINDS: [&str; 3] = ["data", "ack", "datagram"];
const FIELDS: [&str; 4] = ["not-ect", "ect0", "ect1", "ce"];

/// The kind of each column, its name, its unit, its meaning.
const COLUMNS: [(Kind, &str, &str, &str); 10] = [
    (Kind::Key, "time_s", "s", "Time since the start of the run."),
    (Kind::Key, "end", "", "The end of the flow that the packet passed: sender or receiver."),
    (Kind::Key, "flow", "", "The flow: its group and its number in the group."),
    (Kind::Key, "connection", "1", "The connection of the flow, from zero: later transfers may have new ones."),
    (Kind::Key, "kind", "", "Whether it is data, an acknowledgement (ack) or a datagram that nobody acknowledges."),
    (
        Kind::Instant,
        "number",
        "1",
        "Of data the segment, from zero; of an acknowledgement the first segment that the receiver lacks; of a datagram its number.",
    ),
    (Kind::Instant, "bytes", "B", "Size on the wire."),
    (Kind::Instant, "ecn", "", "The ECN field of the IP header: not-ect, ect0, ect1 or ce."),
    (
        Kind::Instant,
        "echo",
        "1",
        "Whether an acknowledgement has the ECE flag, which echoes a mark: 1 or 0; null for other packets.",
    ),
    (
        Kind::Instant,
        "ace",
        "1",
        "Marked packets modulo 8, counted from 5, of an acknowledgement with Accurate ECN; null without.",
    ),
];

/// Packets at the ends of flows, column by column.
#[derive(Default)]
pub(crate) struct Packets {
    time_s: Vec<f64>,
    end: Vec<u32>,
    flow: Vec<u32>,
    connection: Vec<u64>,
    kind: Vec<u32>,
    number: Vec<u64>,
    bytes: Vec<u64>,
    ecn: Vec<u32>,
    echo: Vec<f64>,
    ace: Vec<f64>,
}

impl Packets {
    fn see(&mut self, seen: &Sighting) {
        let (kind, number, echo, ace) = match seen.content {
            Content::Data { segment, .. } => (0, segment, f64::NAN, f64::NAN),
            Content::Ack { next, echo, accurate, .. } => {
                (1, next, f64::from(u8::from(echo)), accurate.map_or(f64::NAN, |accurate| f64::from(accurate.ace)))
            }
            Content::Datagram { number } => (2, number, f64::NAN, f64::NAN),
        };
        self.time_s.push(seen.at.seconds());
        self.end.push(match seen.end {
            End::Sender => 0,
            End::Receiver => 1,
        });
        self.flow.push(seen.flow);
        self.connection.push(u64::from(seen.connection));
        self.kind.push(kind);
        self.number.push(number);
        self.bytes.push(u64::from(seen.size));
        self.ecn.push(match seen.ecn {
            Ecn::NotEct => 0,
            Ecn::Ect0 => 1,
            Ecn::Ect1 => 2,
            Ecn::Ce => 3,
        });
        self.echo.push(echo);
        self.ace.push(ace);
    }

    /// The table of a run of `scenario`.
    pub(crate) fn table(self, scenario: &Scenario) -> Described {
        let names = |names: &[&str], rows| Cells::Name { names: names.iter().map(|n| (*n).to_owned()).collect(), rows };
        let flows =
            scenario.groups.iter().flat_map(|(name, group)| (0..group.count).map(move |at| format!("{name}/{at}")));
        let values = [
            Cells::Number(self.time_s),
            names(&ENDS, self.end),
            Cells::Name { names: flows.collect(), rows: self.flow },
            Cells::Count(self.connection),
            names(&KINDS, self.kind),
            Cells::Count(self.number),
            Cells::Count(self.bytes),
            names(&FIELDS, self.ecn),
            Cells::Number(self.echo),
            Cells::Number(self.ace),
        ];
        let column = |((kind, name, ..), values): (&(Kind, &str, _, _), Cells)| Column {
            name: (*name).to_owned(),
            kind: *kind,
            values,
        };
        let about = |(kind, _, unit, what): &(Kind, &str, &str, &str)| {
            let kind = if *kind == Kind::Key { "key" } else { "instant" };
            // Text has no unit.
            let said = [("kind", kind), ("unit", unit), ("description", what)]
                .into_iter()
                .filter(|(_, text)| !text.is_empty());
            said.map(|(key, text)| (key, text.to_owned())).collect()
        };
        Described {
            table: Table { name: "packets".to_owned(), columns: COLUMNS.iter().zip(values).map(column).collect() },
            columns: COLUMNS.iter().map(about).collect(),
        }
    }
}

/// Hears how far a run is, and keeps its packets if somebody wants them.
pub(crate) struct Watch {
    pub(crate) looks: Arc<Looks>,
    /// A function of Python.
    pub(crate) progress: Option<Py<PyAny>>,
    pub(crate) packets: Option<Packets>,
}

impl Watcher for Watch {
    fn progress(&mut self, done: f64) -> bool {
        let tell = |py: Python<'_>| self.progress.as_ref().map_or(Ok(()), |tell| tell.call1(py, (done,)).map(drop));
        self.looks.look(tell)
    }

    fn goes_on(&self) -> Option<GoesOn> {
        let looks = Arc::clone(&self.looks);
        Some(Arc::new(move || looks.look(|_| Ok(()))))
    }

    fn wants_packets(&self) -> bool {
        self.packets.is_some()
    }

    fn packet(&mut self, seen: &Sighting) {
        if let Some(packets) = &mut self.packets {
            packets.see(seen);
        }
    }
}
