//! Parts of tables, keys and values of the format: shapes, ranges, and the words that stand for settings.

use crate::model::Profile;
use crate::model::{
    Arithmetic, By, EcnEcho, EcnOnLine, Full, Limit, LossSpacing, Pacing, ReceiverEcn, Recovery, Remember, Rto,
    StopRule,
};
use crate::quantity::{Kind, RATE, SIZE, TIME};

/// A table of the format.
#[derive(Debug)]
pub(crate) struct Table {
    /// Where it stands, as in `links.NAME`; empty for the file itself.
    pub(crate) path: &'static str,
    /// Its subject: a sentence or two for the reference page.
    pub(crate) what: &'static str,
    /// Its keys, in the order of the reference page.
    pub(crate) keys: &'static [Key],
}

/// A key of a table.
#[derive(Debug)]
pub(crate) struct Key {
    /// Spelling of the key.
    pub(crate) name: &'static str,
    /// Shape of its value.
    pub(crate) shape: Shape,
    /// The default, where the key is missing.
    pub(crate) silent: Silent,
    /// Description for the reference page.
    pub(crate) what: &'static str,
}

/// The default of a missing key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silent {
    /// Nothing: the key must be there.
    Required,
    /// This value, as TOML spells it.
    Is(&'static str),
    /// A default in these words.
    Means(&'static str),
}

/// The values that a key takes.
#[derive(Debug)]
pub(crate) enum Shape {
    /// One line of text.
    Text,
    /// A name.
    Name,
    /// `true` or `false`.
    Switch,
    /// A whole number in this range.
    Whole(u64, u64),
    /// A number in this range.
    Number(Range),
    /// Text with a number and a unit.
    Quantity(&'static Kind),
    /// Packets, bare or with the unit, in this range.
    Packets(u64, u64),
    /// Packets, bytes, a time or `unlimited`; bandwidth-delay products too where `bdp`.
    Buffer {
        /// Whether `1 bdp` will do.
        bdp: bool,
    },
    /// This text.
    Exactly(&'static str),
    /// One of these words.
    Word(fn() -> Vec<&'static str>),
    /// A list of these.
    List(&'static Shape),
    /// A list of two: the smaller first.
    Pair(&'static Shape),
    /// A list of pairs of a time and one of these, in the order of time.
    Schedule(&'static Shape),
    /// A table with these keys.
    Table(&'static Table),
    /// A table with exactly one of these keys.
    OneOf(&'static Table),
    /// A table of tables, each under a name.
    Tables(&'static Table),
    /// A table of values, each under a name.
    Names(&'static Shape),
    /// A law of senders with its parameters.
    Controller,
    /// A law of queues with its parameters.
    Aqm,
    /// A value of a law's parameter.
    Parameter,
    /// A law of customers' entries with its parameters.
    Conditioner,
    /// Lists of values of other keys.
    Sweep,
    /// Any of these.
    Either(&'static [Shape]),
}

/// A range of plain numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(super) least: f64,
    /// Whether the minimum itself is outside.
    pub(super) above: bool,
    pub(super) most: f64,
    /// Whether the maximum itself is outside.
    pub(super) below: bool,
}

impl Range {
    /// The ends, and whether each is itself outside.
    pub(crate) fn ends(self) -> [(f64, bool); 2] {
        [(self.least, self.above), (self.most, self.below)]
    }

    pub(crate) fn contains(self, x: f64) -> bool {
        let least = if self.above { x > self.least } else { x >= self.least };
        least && if self.below { x < self.most } else { x <= self.most }
    }

    /// As in `a number from 0 to below 1`.
    pub(crate) fn words(self) -> String {
        let from = if self.above { "above" } else { "from" };
        let to = match (self.above, self.below) {
            (false, false) => "to",
            (false, true) => "to below",
            (true, false) => "and at most",
            (true, true) => "and below",
        };
        format!("a number {from} {} {to} {}", self.least, self.most)
    }
}

/// A choice that the format spells as a word.
pub(crate) trait Word: Copy + PartialEq + 'static {
    /// Each word and its value, the default first.
    const WORDS: &'static [(&'static str, Self)];

    /// Its word.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, it)| *it == self).map_or("", |(word, _)| word)
    }
}

pub(super) fn words<W: Word>() -> Vec<&'static str> {
    W::WORDS.iter().map(|(word, _)| *word).collect()
}

impl Word for Recovery {
    const WORDS: &'static [(&'static str, Self)] =
        &[("sack", Self::Sack), ("rack", Self::Rack), ("newreno", Self::NewReno), ("reno", Self::Reno)];
}

impl Word for Profile {
    const WORDS: &'static [(&'static str, Self)] =
        &[("ns-2", Self::Ns2), ("rfc", Self::Rfc), ("linux", Self::Linux), ("quic", Self::Quic)];
}

impl Word for Rto {
    const WORDS: &'static [(&'static str, Self)] =
        &[("rfc6298", Self::Rfc6298), ("linux", Self::Linux), ("rfc9002", Self::Rfc9002)];
}

impl Word for EcnEcho {
    const WORDS: &'static [(&'static str, Self)] =
        &[("per-packet", Self::PerPacket), ("classic", Self::Classic), ("accurate", Self::Accurate)];
}

impl Word for ReceiverEcn {
    const WORDS: &'static [(&'static str, Self)] = &[("accurate", Self::Accurate), ("classic", Self::Classic)];
}

impl Word for Pacing {
    const WORDS: &'static [(&'static str, Self)] = &[("law", Self::Law), ("off", Self::Off), ("window", Self::Window)];
}

impl Word for Limit {
    const WORDS: &'static [(&'static str, Self)] = &[("window", Self::Window), ("pace", Self::Pace)];
}

impl Word for Full {
    const WORDS: &'static [(&'static str, Self)] = &[("drop", Self::Drop), ("wait", Self::Wait)];
}

impl Word for Arithmetic {
    const WORDS: &'static [(&'static str, Self)] = &[("f64", Self::Real), ("fixed", Self::Fixed)];
}

impl Word for Remember {
    const WORDS: &'static [(&'static str, Self)] =
        &[("nothing", Self::Nothing), ("base rtt", Self::BaseRtt), ("everything", Self::Everything)];
}

impl Word for By {
    const WORDS: &'static [(&'static str, Self)] = &[("flow", Self::Flow), ("class", Self::Class)];
}

impl Word for LossSpacing {
    const WORDS: &'static [(&'static str, Self)] = &[("random", Self::Random), ("even", Self::Even)];
}

impl Word for EcnOnLine {
    const WORDS: &'static [(&'static str, Self)] =
        &[("keep", Self::Keep), ("bleach", Self::Bleach), ("erase-ce", Self::EraseCe), ("ect0", Self::Ect0)];
}

impl Word for StopRule {
    const WORDS: &'static [(&'static str, Self)] = &[("transfers complete", Self::TransfersComplete)];
}

/// The kinds of scheduler: a law like those of queues, but none of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Discipline {
    Fifo,
    Drr,
}

/// The formats of traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TraceFormat {
    Mahimahi,
    Csv,
}

impl Word for TraceFormat {
    const WORDS: &'static [(&'static str, Self)] = &[("mahimahi", Self::Mahimahi), ("csv", Self::Csv)];
}

impl Word for Discipline {
    const WORDS: &'static [(&'static str, Self)] = &[("fifo", Self::Fifo), ("drr", Self::Drr)];
}

/// A key of a table in one line.
pub(crate) const fn key(name: &'static str, shape: Shape, silent: Silent, what: &'static str) -> Key {
    Key { name, shape, silent, what }
}

pub(crate) const DURATION: Shape = Shape::Quantity(&TIME);
pub(crate) const BIT_RATE: Shape = Shape::Quantity(&RATE);
pub(crate) const BYTES: Shape = Shape::Quantity(&SIZE);
pub(crate) const UNLIMITED: Shape = Shape::Exactly("unlimited");
