//! Format 1 of scenario files as data: every table and each of its keys, with what it takes, what holds without it and
//! what it is.
//!
//! The reader refuses a key that is not here, and [`schema`] and [`reference`] print what is here, so that file format,
//! JSON Schema and reference page cannot drift apart.

mod page;
mod schema;

pub use page::reference;
pub use schema::schema;

use Silent::{Is, Means, Required};

use crate::model::{Arithmetic, By, EcnEcho, LossSpacing, Pacing, Recovery, Remember, Rto, StopRule};
use crate::quantity::{Kind, PER_SECOND, RATE, SIZE, TIME};

/// A table of the format.
#[derive(Debug)]
pub(crate) struct Table {
    /// Where it stands, as in `links.NAME`; empty for the file itself.
    pub(crate) path: &'static str,
    /// What it is about: a sentence or two for the reference page.
    pub(crate) what: &'static str,
    /// Its keys, in the order of the reference page.
    pub(crate) keys: &'static [Key],
}

/// A key of a table.
#[derive(Debug)]
pub(crate) struct Key {
    /// How it is spelled.
    pub(crate) name: &'static str,
    /// What it takes.
    pub(crate) shape: Shape,
    /// What holds without it.
    pub(crate) silent: Silent,
    /// What it is.
    pub(crate) what: &'static str,
}

/// What holds where a key is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silent {
    /// Nothing: the key must be there.
    Required,
    /// This value, as TOML spells it.
    Is(&'static str),
    /// What these words say.
    Means(&'static str),
}

/// What a key takes.
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
    /// Packets, bytes or `unlimited`; bandwidth-delay products too where `bdp`.
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
    least: f64,
    /// Whether the least itself is outside.
    above: bool,
    most: f64,
    /// Whether the most itself is outside.
    below: bool,
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
    /// Each word and what it stands for, the default first.
    const WORDS: &'static [(&'static str, Self)];

    /// Its word.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, it)| *it == self).map_or("", |(word, _)| word)
    }
}

fn words<W: Word>() -> Vec<&'static str> {
    W::WORDS.iter().map(|(word, _)| *word).collect()
}

impl Word for Recovery {
    const WORDS: &'static [(&'static str, Self)] =
        &[("sack", Self::Sack), ("newreno", Self::NewReno), ("reno", Self::Reno)];
}

impl Word for Rto {
    const WORDS: &'static [(&'static str, Self)] = &[("rfc6298", Self::Rfc6298), ("linux", Self::Linux)];
}

impl Word for EcnEcho {
    const WORDS: &'static [(&'static str, Self)] = &[("per-packet", Self::PerPacket), ("classic", Self::Classic)];
}

impl Word for Pacing {
    const WORDS: &'static [(&'static str, Self)] = &[("law", Self::Law), ("off", Self::Off)];
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

impl Word for StopRule {
    const WORDS: &'static [(&'static str, Self)] = &[("transfers complete", Self::TransfersComplete)];
}

/// The kinds of scheduler: a law like those of queues, but none of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Discipline {
    Fifo,
    Drr,
}

impl Word for Discipline {
    const WORDS: &'static [(&'static str, Self)] = &[("fifo", Self::Fifo), ("drr", Self::Drr)];
}

/// The most flows a group may have.
pub(crate) const MOST_FLOWS: u64 = 10_000_000;
/// The most packets a flow may start with: they are sent, and held in memory, at once.
pub(crate) const MOST_AT_ONCE: u64 = 1_000_000;
/// 2^31 - 1 packets are the most that every arithmetic can say.
pub(crate) const MOST_WINDOW: u64 = 2_147_483_647;
/// Segmentation offload sends 64 KiB at most: 43 packets of 1500 B, 64 of 1 KiB.
pub(crate) const MOST_BURST: u64 = 64;
/// The largest quantum of a scheduler: more in one turn than any buffer of a router holds.
pub(crate) const MOST_QUANTUM: u64 = 1_000_000_000;

/// The most seeds of a sweep.
pub(crate) const MOST_SEEDS: u64 = 10_000;

/// Loss on a line; at one nothing would ever arrive.
pub(crate) const LOSS: Range = Range { least: 0.0, above: false, most: 1.0, below: true };
/// How far a gap between two packets may be from the law's, as a share of it; at one the gap could vanish.
pub(crate) const SPACING: Range = LOSS;
/// The probability of something that happens now and then; at zero it never would.
pub(crate) const CHANCE: Range = Range { least: 0.0, above: true, most: 1.0, below: false };
/// The exponent of a Pareto distribution: at 1 and below its mean is infinite, far above it has no tail left.
pub(crate) const TAIL: Range = Range { least: 1.0, above: true, most: 1000.0, below: false };

const fn key(name: &'static str, shape: Shape, silent: Silent, what: &'static str) -> Key {
    Key { name, shape, silent, what }
}

const DURATION: Shape = Shape::Quantity(&TIME);
const BIT_RATE: Shape = Shape::Quantity(&RATE);
const BYTES: Shape = Shape::Quantity(&SIZE);
const SPAN: Shape = Shape::Either(&[DURATION, Shape::OneOf(&SPAN_TABLE)]);
const UNLIMITED: Shape = Shape::Exactly("unlimited");

/// Every table, in the order of the reference page.
pub(crate) static TABLES: &[&Table] = &[
    &SCENARIO,
    &PACKET,
    &LINK,
    &TRACE,
    &SCHEDULER,
    &FLOWS,
    &RTT,
    &START,
    &STEPS,
    &DRAWN_SIZE,
    &PARETO_SIZE,
    &ARRIVALS,
    &SPAN_TABLE,
    &PARETO_SPAN,
    &ON_OFF,
    &ACCESS,
    &JITTER,
    &ACK_JITTER,
    &SENDER,
    &CLASS,
    &CUSTOMER,
    &STOP,
    &DEFAULTS,
    &SEEDS,
];

/// The whole file.
pub(crate) static SCENARIO: Table = Table {
    path: "",
    what: "The top of the file.",
    keys: &[
        key("format", Shape::Whole(1, 1), Required, "the version of the format"),
        key("title", Shape::Text, Means("the file's name"), "one line for people"),
        key("duration", DURATION, Required, "how long the run takes, at most"),
        key("warmup", DURATION, Is("\"0 s\""), "what summaries leave out at the start"),
        key("seed", Shape::Whole(0, i64::MAX as u64), Is("1"), "where every random stream comes from"),
        key(
            "packet",
            Shape::Either(&[BYTES, Shape::Table(&PACKET)]),
            Is("{ wire = \"1500 B\", payload = \"1460 B\" }"),
            "a full data packet on the wire, 40 B of it header unless `payload` says otherwise; an acknowledgement has 40 B",
        ),
        key("sample", DURATION, Is("\"100 ms\""), "period of the recorded series"),
        key("links", Shape::Tables(&LINK), Required, "lines with the queues in front of them"),
        key("flows", Shape::Tables(&FLOWS), Required, "groups of flows that share everything but round trip and start"),
        key("defaults", Shape::Table(&DEFAULTS), Means("none"), "what holds where a link or a group says nothing else"),
        key(
            "windows",
            Shape::Names(&Shape::Pair(&DURATION)),
            Means("none"),
            "spans for which the summary is repeated, as in `late = [\"20 s\", \"40 s\"]`",
        ),
        key("classes", Shape::Tables(&CLASS), Means("none"), "contracts and references of classes of traffic"),
        key("customers", Shape::Tables(&CUSTOMER), Means("none"), "aggregates of groups, measured where they enter"),
        key("stop", Shape::Table(&STOP), Means("at the end of the duration"), "what ends the run early"),
        key("sweep", Shape::Sweep, Means("a single cell"), "what varies from cell to cell; see below"),
    ],
};

pub(crate) static PACKET: Table = Table {
    path: "packet",
    what: "The size of a full data packet, in two parts.",
    keys: &[
        key("wire", BYTES, Required, "its size on the wire, headers included; at most 65535 B, as IP allows"),
        key("payload", BYTES, Required, "what of it is the user's data"),
    ],
};

pub(crate) static DEFAULTS: Table = Table {
    path: "defaults",
    what: "Keys of every link and of every group that does not say otherwise. Options of a `sender` are taken one by one, \
           all other tables as a whole. An option that a group's law has no use for is left out.",
    keys: &[
        key("links", Shape::Table(&LINK), Means("none"), "keys of links"),
        key("flows", Shape::Table(&FLOWS), Means("none"), "keys of groups"),
    ],
};

/// A link.
pub(crate) static LINK: Table = Table {
    path: "links.NAME",
    what: "A line with a queue in front of it, from one node to another. Nodes are made by naming them. \
           `links.\"NAME/back\"` changes `rate`, `delay`, `buffer`, `aqm`, `scheduler`, `loss`, `loss_spacing` and `arithmetic` of the \
           way back of a duplex link.",
    keys: &[
        key("from", Shape::Name, Required, "the node it leaves"),
        key("to", Shape::Name, Required, "the node it reaches"),
        key(
            "rate",
            Shape::Either(&[BIT_RATE, Shape::Schedule(&BIT_RATE), Shape::Table(&TRACE)]),
            Required,
            "bits a second: one rate; or rates from times on, the first from `0 s`, where zero is an outage; or a recorded trace",
        ),
        key("delay", DURATION, Required, "propagation, one way"),
        key(
            "buffer",
            Shape::Buffer { bdp: true },
            Required,
            "how much may wait, without the packet in transmission; `1 bdp` is the rate at the start (the mean of a trace) \
             times the largest round trip that crosses the link, in packets, rounded up; `1 bdp of bytes` is as much in bytes, \
             which small packets fill by their size",
        ),
        key("aqm", Shape::Aqm, Is("{ law = \"droptail\" }"), "the law of its queue; see `docs/laws.md`"),
        key(
            "scheduler",
            Shape::Table(&SCHEDULER),
            Is("{ law = \"fifo\" }"),
            "which of the packets waiting goes next; not with an AQM that decides that itself",
        ),
        key("loss", Shape::Number(LOSS), Is("0"), "share of the packets that is lost on the line"),
        key(
            "loss_spacing",
            Shape::Word(words::<LossSpacing>),
            Is("\"random\""),
            "with `loss`: each packet by a probability, independent of all others; or `even`, every n-th transmission of a \
             flow, n being 1/`loss`, from a place drawn for each flow, as RFCs assume that derive response functions",
        ),
        key(
            "arithmetic",
            Shape::Word(words::<Arithmetic>),
            Is("\"f64\""),
            "what the AQM computes with: `fixed` is bit for bit what the kernel does, for laws that have a kernel implementation",
        ),
        key(
            "duplex",
            Shape::Switch,
            Is("false"),
            "also makes the link `NAME/back`: the same rate, delay, buffer, AQM and scheduler, no loss",
        ),
    ],
};

/// What the way back of a duplex link may change.
pub(crate) const WAY_BACK: &[&str] =
    &["rate", "delay", "buffer", "aqm", "scheduler", "loss", "loss_spacing", "arithmetic"];

pub(crate) static TRACE: Table = Table {
    path: "links.NAME.rate",
    what: "A trace as mahimahi records it: each line of the file is the time of an opportunity to send 1500 B, in whole \
           milliseconds that do not decrease; the last is the period after which it begins again. The file's name is \
           relative to the scenario's folder; it has at most 64 MB.",
    keys: &[
        key("trace", Shape::Text, Required, "the file's name"),
        key(
            "sha256",
            Shape::Text,
            Means("any content"),
            "SHA-256 of the file, 64 hexadecimal digits; refused if it differs",
        ),
    ],
};

pub(crate) static SCHEDULER: Table = Table {
    path: "links.NAME.scheduler",
    what: "First in, first out, or deficit round robin (Shreedhar and Varghese, 1995), where each flow or class has a \
           queue and an instance of the AQM of its own.",
    keys: &[
        key("law", Shape::Word(words::<Discipline>), Required, "first in, first out, or deficit round robin"),
        key(
            "by",
            Shape::Word(words::<By>),
            Is("\"flow\""),
            "with `drr`: what has a queue of its own; flows without a class are one class more",
        ),
        key("quantum", BYTES, Means("one packet on the wire"), "with `drr`: what a queue may send a turn"),
    ],
};

/// A group of flows.
pub(crate) static FLOWS: Table = Table {
    path: "flows.NAME",
    what: "Flows that share everything but their round-trip time and start.",
    keys: &[
        key("count", Shape::Whole(1, MOST_FLOWS), Is("1"), "how many"),
        key("from", Shape::Name, Required, "the senders' node"),
        key("to", Shape::Name, Required, "the receivers' node"),
        key(
            "via",
            Shape::List(&Shape::Name),
            Means("the shortest way: fewest links, then least delay, then the order of the file"),
            "the links that data cross, in order; acknowledgements take the shortest way back, an ideal one where there is none",
        ),
        key(
            "rtt",
            Shape::Either(&[DURATION, Shape::List(&DURATION), Shape::OneOf(&RTT)]),
            Means("what the links there and back take"),
            "total two-way propagation; what the links do not account for is private delay behind the last link; a list has one a flow",
        ),
        key("cc", Shape::Controller, Required, "the law of the senders; see `docs/laws.md` and below"),
        key(
            "start",
            Shape::Either(&[DURATION, Shape::Table(&START)]),
            Is("{ uniform = [\"0 s\", \"1 s\"] }"),
            "when the flows begin; in a run of less than a second, by default, within the run",
        ),
        key("stop", DURATION, Means("the end of the run"), "when the flows stop sending new data"),
        key(
            "size",
            Shape::Either(&[UNLIMITED, BYTES, Shape::OneOf(&DRAWN_SIZE)]),
            Is("\"unlimited\""),
            "the user's data in each transfer; a source that is not acknowledged stops after so much",
        ),
        key(
            "arrivals",
            Shape::OneOf(&ARRIVALS),
            Means("each flow is one transfer"),
            "open loop: transfers arrive at the group from its first start on, each is taken by a free flow, and waits where none is; needs `size`",
        ),
        key(
            "idle",
            SPAN,
            Means("each flow is one transfer"),
            "closed loop: each flow is silent for so long after a transfer, then begins the next; needs `size`, excludes `arrivals`",
        ),
        key("on_off", Shape::Table(&ON_OFF), Means("always on"), "times of sending and of silence"),
        key(
            "class",
            Shape::Name,
            Means("no class"),
            "for laws and schedulers that treat classes apart; where `[classes]` is there, one of them",
        ),
        key("access", Shape::Table(&ACCESS), Means("no limit"), "an interface of its own for each flow"),
        key(
            "jitter",
            Shape::OneOf(&JITTER),
            Means("none"),
            "time that each data packet spends in the sender before its first link; order is kept",
        ),
        key(
            "ack_jitter",
            Shape::Table(&ACK_JITTER),
            Means("none"),
            "acknowledgements that come late; those behind wait for them",
        ),
        key("series", Shape::Switch, Is("false"), "whether each flow has series of its own"),
        key(
            "sender",
            Shape::Table(&SENDER),
            Means("the defaults below"),
            "how senders and receivers behave besides the law",
        ),
    ],
};

pub(crate) static RTT: Table = Table {
    path: "flows.NAME.rtt",
    what: "Round-trip times that differ from flow to flow.",
    keys: &[
        key("spread", Shape::List(&DURATION), Means(""), "two times: evenly spaced from the first flow to the last"),
        key("uniform", Shape::Pair(&DURATION), Means(""), "drawn for each flow between two times"),
    ],
};

pub(crate) static START: Table = Table {
    path: "flows.NAME.start",
    what: "Starts that differ from flow to flow: `uniform`, or `every` with or without `from`.",
    keys: &[
        key("uniform", Shape::Pair(&DURATION), Means(""), "drawn for each flow between two times"),
        key("every", DURATION, Means(""), "one after the other, this far apart"),
        key("from", DURATION, Is("\"0 s\""), "with `every`: when the first starts"),
    ],
};

pub(crate) static DRAWN_SIZE: Table = Table {
    path: "flows.NAME.size",
    what: "A size drawn for each transfer.",
    keys: &[key("pareto", Shape::Table(&PARETO_SIZE), Means(""), "the Pareto distribution, of heavy tail")],
};

pub(crate) static PARETO_SIZE: Table = Table {
    path: "flows.NAME.size.pareto",
    what: "The smallest transfer has mean (shape - 1) / shape.",
    keys: &[
        key("mean", BYTES, Required, "the mean"),
        key(
            "shape",
            Shape::Number(TAIL),
            Required,
            "the exponent of the tail; at 1 and below the mean would be infinite",
        ),
    ],
};

pub(crate) static ARRIVALS: Table = Table {
    path: "flows.NAME.arrivals",
    what: "How transfers arrive at the group as a whole.",
    keys: &[key("poisson", Shape::Quantity(&PER_SECOND), Means(""), "a Poisson process of so many, as in `20 /s`")],
};

/// A time that is drawn anew each time it is needed.
pub(crate) static SPAN_TABLE: Table = Table {
    path: "SPAN",
    what: "A span of time that is drawn each time it is needed: of `idle`, `on` and `off`.",
    keys: &[
        key("fixed", DURATION, Means(""), "always this, as if it stood alone"),
        key("uniform", Shape::Pair(&DURATION), Means(""), "between two times"),
        key("exponential", DURATION, Means(""), "the exponential distribution of this mean"),
        key("pareto", Shape::Table(&PARETO_SPAN), Means(""), "the Pareto distribution, of heavy tail"),
    ],
};

pub(crate) static PARETO_SPAN: Table = Table {
    path: "SPAN.pareto",
    what: "The shortest span is mean (shape - 1) / shape.",
    keys: &[
        key("mean", DURATION, Required, "the mean"),
        key(
            "shape",
            Shape::Number(TAIL),
            Required,
            "the exponent of the tail; at 1 and below the mean would be infinite",
        ),
    ],
};

pub(crate) static ON_OFF: Table = Table {
    path: "flows.NAME.on_off",
    what: "A flow sends, is silent, sends again, from its start on.",
    keys: &[key("on", SPAN, Required, "how long it sends"), key("off", SPAN, Required, "how long it is silent")],
};

pub(crate) static ACCESS: Table = Table {
    path: "flows.NAME.access",
    what: "Each flow's own interface, in front of its first link.",
    keys: &[
        key("rate", BIT_RATE, Required, "bits a second"),
        key(
            "queue",
            Shape::Buffer { bdp: false },
            Is("\"unlimited\""),
            "how much may wait for it; what does not fit is lost",
        ),
    ],
};

pub(crate) static JITTER: Table = Table {
    path: "flows.NAME.jitter",
    what: "Delay in the sender.",
    keys: &[key("uniform", Shape::Pair(&DURATION), Means(""), "drawn for each packet between two times")],
};

pub(crate) static ACK_JITTER: Table = Table {
    path: "flows.NAME.ack_jitter",
    what: "Delay of acknowledgements.",
    keys: &[
        key("probability", Shape::Number(CHANCE), Required, "that an acknowledgement comes late"),
        key("uniform", Shape::Pair(&DURATION), Required, "by how much, drawn between two times"),
    ],
};

/// What senders and receivers do besides the law.
pub(crate) static SENDER: Table = Table {
    path: "flows.NAME.sender",
    what: "How senders and receivers behave besides the law. Of a law whose packets nobody acknowledges, only `burst` and \
           `arithmetic` mean anything, and the others are refused.",
    keys: &[
        key("initial_window", Shape::Packets(1, MOST_AT_ONCE), Is("2"), "window at the start [packets]"),
        key(
            "ssthresh",
            Shape::Either(&[UNLIMITED, Shape::Packets(1, MOST_WINDOW)]),
            Is("\"unlimited\""),
            "where slow start ends before the first congestion event [packets]",
        ),
        key(
            "receive_window",
            Shape::Either(&[UNLIMITED, Shape::Packets(1, MOST_WINDOW)]),
            Is("\"unlimited\""),
            "packets in flight at most, whatever the law says",
        ),
        key("min_rto", DURATION, Is("\"200 ms\""), "least retransmission timeout (RFC 6298 says 1 s, systems 0.2 s)"),
        key(
            "rto",
            Shape::Word(words::<Rto>),
            Is("\"rfc6298\""),
            "what `min_rto` bounds: the whole timeout (RFC 6298, rule 2.4), or, as Linux has it, what is added to the smoothed \
             round trip",
        ),
        key(
            "recovery",
            Shape::Word(words::<Recovery>),
            Is("\"sack\""),
            "what is sent again: by selective acknowledgements (RFC 6675, RFC 9002), RFC 6582, or RFC 2581",
        ),
        key("delayed_ack", Shape::Whole(1, 2), Is("1"), "packets an acknowledgement waits for"),
        key(
            "ecn_echo",
            Shape::Word(words::<EcnEcho>),
            Is("\"per-packet\""),
            "how the receiver tells of marks: packet by packet, or latched (RFC 3168)",
        ),
        key(
            "pacing",
            Shape::Word(words::<Pacing>),
            Is("\"law\""),
            "packets leave at the gap the law says, if it says one, or clocked by acknowledgements",
        ),
        key(
            "burst",
            Shape::Packets(1, MOST_BURST),
            Is("\"1 packet\""),
            "packets that leave together, as segmentation offload sends them: at most 64 KiB, or 64 packets of 1 KiB",
        ),
        key(
            "limited_transmit",
            Shape::Switch,
            Is("false"),
            "whether the first two duplicate acknowledgements each send a new segment (RFC 3042); recovery by `sack` includes it",
        ),
        key(
            "remember",
            Shape::Word(words::<Remember>),
            Is("\"nothing\""),
            "with `arrivals` or `idle`: what a flow keeps from one transfer to the next",
        ),
        key(
            "arithmetic",
            Shape::Word(words::<Arithmetic>),
            Is("\"f64\""),
            "what the law computes with: `fixed` is bit for bit what the kernel does, for laws that have a kernel implementation",
        ),
    ],
};

/// The options that mean something to a sender whose packets nobody acknowledges.
pub(crate) const OF_ANY_LAW: &[&str] = &["burst", "arithmetic"];

/// A parameter that steps through values.
pub(crate) static STEPS: Table = Table {
    path: "flows.NAME.cc.PARAMETER",
    what: "Of a law that answers nothing, a number may change over time: by a list such as \
           `[[\"0 s\", \"50 Mbit/s\"], [\"5 s\", \"120 Mbit/s\"]]`, whose times count from the start of the run and whose first \
           is `0 s`; or by steps of equal length, which begin again after the last, until the run ends. Such a law also has \
           `spacing_jitter`, a number from 0 to below 1: each gap between two packets is drawn uniformly within this share \
           of it, up or down.",
    keys: &[
        key("every", DURATION, Required, "how long each value holds"),
        key("steps", Shape::List(&Shape::Parameter), Required, "two values or more, one after the other"),
    ],
};

/// A class of traffic.
pub(crate) static CLASS: Table = Table {
    path: "classes.NAME",
    what: "A class of traffic, which at least one group names.",
    keys: &[
        key("floor", BIT_RATE, Is("\"0 bit/s\""), "what it shall have at least"),
        key("ceiling", Shape::Either(&[UNLIMITED, BIT_RATE]), Is("\"unlimited\""), "what it may have at most"),
        key(
            "share",
            Shape::Number(CHANCE),
            Means("no reference"),
            "its share of the whole: the reference for ratio and fairness index",
        ),
    ],
};

/// A customer.
pub(crate) static CUSTOMER: Table = Table {
    path: "customers.NAME",
    what: "An aggregate of flows, measured where it enters the network: behind access and jitter, in front of the first \
           link. With a conditioner it has a contract, and each data packet is coloured there; laws such as `wred` go by \
           colours. Acknowledgements, and flows of no customer, are under no contract: green.",
    keys: &[
        key("flows", Shape::List(&Shape::Name), Required, "its groups of flows; none belongs to two customers"),
        key("conditioner", Shape::Conditioner, Means("none"), "the law at its entry; see `docs/laws.md`"),
    ],
};

/// Seeds that count up.
pub(crate) static SEEDS: Table = Table {
    path: "sweep.seed",
    what: "Seeds that count up from the scenario's own.",
    keys: &[key("count", Shape::Whole(1, MOST_SEEDS), Required, "how many")],
};

/// What ends a run early.
pub(crate) static STOP: Table = Table {
    path: "stop",
    what: "What ends the run before its duration.",
    keys: &[key(
        "when",
        Shape::Word(words::<StopRule>),
        Required,
        "every flow that has a `size`, and no `arrivals` or `idle`, is acknowledged to the last segment",
    )],
};
