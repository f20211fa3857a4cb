//! A file of vectors, as `vectors/quic/schema.json` has it.

use std::fmt::Write as _;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// The events of a controller and the outputs of one that follows its document.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct File {
    /// The version of this format: 1.
    pub(crate) format: u32,
    /// The algorithm.
    pub(crate) algorithm: String,
    /// The documents that it follows, with sections.
    pub(crate) source: String,
    /// Points that the documents leave open, and the choice of these vectors.
    pub(crate) choices: Vec<String>,
    /// User's data and header of a datagram, all of which have this size [bytes].
    pub(crate) datagram_bytes: u64,
    /// The window at the beginning of each sequence [bytes].
    pub(crate) initial_window_bytes: u64,
    /// How far an output may be off.
    pub(crate) tolerance: Tolerance,
    /// Each begins with a new controller.
    pub(crate) sequences: Vec<Sequence>,
}

/// How far an output may be off, by the arithmetic of a stack.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Tolerance {
    /// Of a window that is a real number.
    pub(crate) real: Bound,
    /// Of a window that grows by whole datagrams.
    pub(crate) whole_datagrams: Bound,
}

/// The larger of two bounds counts.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Bound {
    /// A part of the output.
    pub(crate) relative: f64,
    /// [bytes]
    pub(crate) bytes: f64,
}

/// The events of one controller.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Sequence {
    /// Its name in the file.
    pub(crate) name: &'static str,
    /// The document and section that it is about.
    pub(crate) section: &'static str,
    /// The purpose of the sequence.
    pub(crate) about: &'static str,
    /// In the order of time.
    pub(crate) events: Vec<Event>,
}

/// An event, and the output after it. Its keys are in this order.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "its name in the files")]
pub(crate) struct Event {
    /// When, from the beginning of the sequence [us].
    pub(crate) at_us: u64,
    /// The kind of the event.
    pub(crate) event: Kind,
    /// When the datagrams, or the newest of them, were sent [us]; zero where they are sent now.
    pub(crate) sent_us: u64,
    /// How many. Those of `sent` leave at once. Of others `sent_us` is that of the newest.
    pub(crate) datagrams: u64,
    /// Those among them that were marked (CE).
    pub(crate) marked: u64,
    /// How often it happens.
    pub(crate) repeat: u64,
    /// How much later each time [us].
    pub(crate) every_us: u64,
    /// How much later each time the datagrams were sent [us].
    pub(crate) sent_every_us: u64,
    /// The congestion window after the last time [bytes].
    pub(crate) cwnd_bytes: f64,
    /// The slow-start threshold then [bytes], where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ssthresh_bytes: Option<f64>,
    /// The pacing rate then [bit/s], where the algorithm sets one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pacing_bit_per_s: Option<f64>,
}

/// The kind of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Datagrams leave, each with data.
    Sent,
    /// One ACK frame acknowledges datagrams; the round-trip time is `at_us - sent_us`.
    Acked,
    /// The same, on a path that is short of data.
    Limited,
    /// Datagrams are declared lost.
    Lost,
    /// The same, with persistent congestion (RFC 9002, section 7.6).
    Persistent,
    /// The count of ECN-CE has risen.
    Echo,
}

impl File {
    /// The text of a file: an event a line.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{{\n\"format\": {},\n\"algorithm\": {},\n\"source\": {},\n\"choices\": {},\n\"datagram_bytes\": {},\n\
             \"initial_window_bytes\": {},\n\"tolerance\": {},\n\"sequences\": [",
            self.format,
            json(&self.algorithm),
            json(&self.source),
            json(&self.choices),
            self.datagram_bytes,
            self.initial_window_bytes,
            json(&self.tolerance),
        );
        for (number, sequence) in self.sequences.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            write!(
                text,
                "{comma}\n{{\"name\": {}, \"section\": {}, \"about\": {},\n\"events\": [",
                json(&sequence.name),
                json(&sequence.section),
                json(&sequence.about)
            )
            .unwrap();
            for (number, event) in sequence.events.iter().enumerate() {
                let comma = if number == 0 { "" } else { "," };
                write!(text, "{comma}\n {}", json(event)).unwrap();
            }
            text += "\n]}";
        }
        text + "\n]}\n"
    }
}

/// JSON with a space after each colon and comma.
struct Spaced;

impl Formatter for Spaced {
    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }
}

/// A value in one line.
pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> String {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Spaced)).expect("it is written to memory");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}
