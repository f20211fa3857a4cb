//! Format 1 of scenario files as data: every table and each of its keys, with what it takes, what holds without it and
//! what it is.
//!
//! The reader refuses a key that is not here, and [`schema`] and [`reference`] print what is here, so that file format,
//! JSON Schema and reference page cannot drift apart.

mod page;
mod schema;
mod shape;

pub use page::reference;
pub use schema::schema;
pub(crate) use shape::{Discipline, Key, Range, Shape, Silent, Table, Word};

use Silent::{Is, Means, Required};
use shape::words;

use crate::model::{Arithmetic, By, EcnEcho, LossSpacing, Pacing, Recovery, Remember, Rto, StopRule};
use crate::quantity::{PER_SECOND, RATE, SIZE, TIME};

/// What stands for a value that the law works out from where it runs.
pub(crate) const AUTOMATIC: &str = "automatic";

/// The key of how much the gaps of a law that answers nothing vary.
pub(crate) const SPACING_JITTER: &str = "spacing_jitter";

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
    &RTT_NOISE,
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
        key("warmup", DURATION, Is("\"0 s\""), "the start of the run, which summaries leave out"),
        key("seed", Shape::Whole(0, i64::MAX as u64), Is("1"), "the number that all random streams derive from"),
        key(
            "packet",
            Shape::Either(&[BYTES, Shape::Table(&PACKET)]),
            Is("{ wire = \"1500 B\", payload = \"1460 B\" }"),
            "size of a full data packet on the wire; without `payload`, 40 B of it are header; an acknowledgement \
             has 40 B",
        ),
        key("sample", DURATION, Is("\"100 ms\""), "period of the recorded series"),
        key("links", Shape::Tables(&LINK), Required, "lines with the queues in front of them"),
        key(
            "flows",
            Shape::Tables(&FLOWS),
            Required,
            "groups of flows that share every setting except the \
             round-trip time and the start",
        ),
        key("defaults", Shape::Table(&DEFAULTS), Means("none"), "values for links and groups that do not set a key"),
        key(
            "windows",
            Shape::Names(&Shape::Pair(&DURATION)),
            Means("none"),
            "further spans with a summary of their own, as in `late = [\"20 s\", \"40 s\"]`",
        ),
        key("classes", Shape::Tables(&CLASS), Means("none"), "guarantees and reference shares of traffic classes"),
        key("customers", Shape::Tables(&CUSTOMER), Means("none"), "aggregates of groups, measured at their ingress"),
        key("stop", Shape::Table(&STOP), Means("at the end of the duration"), "a condition that ends the run early"),
        key(
            "sweep",
            Shape::Sweep,
            Means("a single cell"),
            "keys with several values, one cell for each combination; \
             see below",
        ),
    ],
};

pub(crate) static PACKET: Table = Table {
    path: "packet",
    what: "The size of a full data packet, in two parts.",
    keys: &[
        key("wire", BYTES, Required, "its size on the wire, headers included; at most 65535 B, as IP allows"),
        key("payload", BYTES, Required, "the user's data in it"),
    ],
};

pub(crate) static DEFAULTS: Table = Table {
    path: "defaults",
    what: "Defaults for the keys of links and groups. Options of a `sender` apply one by one, every other table as a \
           whole. A group ignores an option that its law does not use.",
    keys: &[
        key("links", Shape::Table(&LINK), Means("none"), "keys of links"),
        key("flows", Shape::Table(&FLOWS), Means("none"), "keys of groups"),
    ],
};

/// A link.
pub(crate) static LINK: Table = Table {
    path: "links.NAME",
    what: "A line with a queue in front of it, from one node to another. A node exists once a link names it. \
           `links.\"NAME/back\"` changes `rate`, `delay`, `buffer`, `aqm`, `scheduler`, `loss`, `loss_spacing`, \
           `lose_transmission` and `arithmetic` of the reverse direction of a duplex link.",
    keys: &[
        key("from", Shape::Name, Required, "the node it leaves"),
        key("to", Shape::Name, Required, "the node it reaches"),
        key(
            "rate",
            Shape::Either(&[BIT_RATE, Shape::Schedule(&BIT_RATE), Shape::Table(&TRACE)]),
            Required,
            "bits per second: one rate; a list of times and rates, the first at `0 s`, where zero is an outage; or a \
             recorded trace",
        ),
        key("delay", DURATION, Required, "propagation, one way"),
        key(
            "buffer",
            Shape::Buffer { bdp: true },
            Required,
            "space for waiting packets, without the packet in transmission; `1 bdp` is the initial rate (the mean of \
             a trace) times the largest round-trip time across the link, in packets, rounded up; `1 bdp of bytes` is \
             the same in bytes, so that small packets take less space",
        ),
        key("aqm", Shape::Aqm, Is("{ law = \"droptail\" }"), "the law of its queue; see `docs/laws.md`"),
        key(
            "scheduler",
            Shape::Table(&SCHEDULER),
            Is("{ law = \"fifo\" }"),
            "the rule that picks the next queue; not with an AQM that has its own rule",
        ),
        key("loss", Shape::Number(LOSS), Is("0"), "share of packets lost on the line"),
        key(
            "loss_spacing",
            Shape::Word(words::<LossSpacing>),
            Is("\"random\""),
            "with `loss`: `random` drops each packet independently; `even` drops every n-th transmission of a flow, \
             n = 1/`loss`, with a random offset for each flow, as in RFCs that derive response functions",
        ),
        key(
            "lose_transmission",
            Shape::Either(&[Shape::Whole(1, MOST_WINDOW), Shape::Pair(&Shape::Whole(1, MOST_WINDOW))]),
            Means("none"),
            "one loss more: of each flow's data this transmission, counted from 1, or one drawn between two",
        ),
        key(
            "arithmetic",
            Shape::Word(words::<Arithmetic>),
            Is("\"f64\""),
            "arithmetic of the AQM: `fixed` equals the kernel bit for bit, for laws that have a kernel implementation",
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
    &["rate", "delay", "buffer", "aqm", "scheduler", "loss", "loss_spacing", "lose_transmission", "arithmetic"];

pub(crate) static TRACE: Table = Table {
    path: "links.NAME.rate",
    what: "A trace in mahimahi's format. Each line of the file is a time in whole milliseconds, at which the link \
           can send 1500 B. Times do not decrease. The last time is the period after which the trace repeats. The file \
           name is relative to the scenario's folder. The file has at most 64 MB.",
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
    what: "First in, first out, or deficit round robin (Shreedhar and Varghese, 1995). With deficit round robin each \
           flow or class has its own queue and its own instance of the AQM.",
    keys: &[
        key("law", Shape::Word(words::<Discipline>), Required, "first in, first out, or deficit round robin"),
        key(
            "by",
            Shape::Word(words::<By>),
            Is("\"flow\""),
            "with `drr`: one queue for each flow or for each class; flows without a class form one more class",
        ),
        key("quantum", BYTES, Means("one packet on the wire"), "with `drr`: bytes that a queue may send in its turn"),
    ],
};

/// A group of flows.
pub(crate) static FLOWS: Table = Table {
    path: "flows.NAME",
    what: "Flows that share every setting except the round-trip time and the start.",
    keys: &[
        key("count", Shape::Whole(1, MOST_FLOWS), Is("1"), "number of flows"),
        key("from", Shape::Name, Required, "the senders' node"),
        key("to", Shape::Name, Required, "the receivers' node"),
        key(
            "via",
            Shape::List(&Shape::Name),
            Means("the shortest route: fewest links, then least delay, then the order of the file"),
            "the links that data cross, in order; acknowledgements take the shortest route back, or an ideal one if \
             no links lead back",
        ),
        key(
            "rtt",
            Shape::Either(&[DURATION, Shape::List(&DURATION), Shape::OneOf(&RTT)]),
            Means("the delay of the links in both directions"),
            "total two-way propagation delay; a private delay behind the last link adds the part that the links \
             lack; a list has one value for each flow",
        ),
        key("cc", Shape::Controller, Required, "the law of the senders; see `docs/laws.md` and below"),
        key(
            "start",
            Shape::Either(&[DURATION, Shape::Table(&START)]),
            Is("{ uniform = [\"0 s\", \"1 s\"] }"),
            "start times; the default of a run shorter than a second spreads them over the run",
        ),
        key("stop", DURATION, Means("the end of the run"), "time at which the flows stop sending new data"),
        key(
            "size",
            Shape::Either(&[UNLIMITED, BYTES, Shape::OneOf(&DRAWN_SIZE)]),
            Is("\"unlimited\""),
            "the user's data in each transfer; a source without acknowledgements stops after this amount",
        ),
        key(
            "arrivals",
            Shape::OneOf(&ARRIVALS),
            Means("each flow is one transfer"),
            "open loop: transfers arrive at the group from its first start on; a free flow takes each, or it waits \
             for one; needs `size`",
        ),
        key(
            "idle",
            SPAN,
            Means("each flow is one transfer"),
            "closed loop: each flow pauses this long after a transfer, then begins the next; needs `size`, excludes \
             `arrivals`",
        ),
        key("on_off", Shape::Table(&ON_OFF), Means("always on"), "alternating periods of sending and silence"),
        key(
            "class",
            Shape::Name,
            Means("no class"),
            "the traffic class, for laws and schedulers that separate classes; if `[classes]` exists, one of its names",
        ),
        key("access", Shape::Table(&ACCESS), Means("no limit"), "a separate interface for each flow"),
        key(
            "jitter",
            Shape::OneOf(&JITTER),
            Means("none"),
            "random delay of each data packet in the sender, before the first link; packets stay in order",
        ),
        key(
            "ack_jitter",
            Shape::Table(&ACK_JITTER),
            Means("none"),
            "random delay of some acknowledgements; later ones wait behind them",
        ),
        key("series", Shape::Switch, Is("false"), "record a series for each flow"),
        key(
            "sender",
            Shape::Table(&SENDER),
            Means("the defaults below"),
            "behaviour of senders and receivers apart from the law",
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
        key("every", DURATION, Means(""), "time between one start and the next"),
        key("from", DURATION, Is("\"0 s\""), "with `every`: start of the first flow"),
    ],
};

pub(crate) static DRAWN_SIZE: Table = Table {
    path: "flows.NAME.size",
    what: "A size drawn for each transfer.",
    keys: &[key("pareto", Shape::Table(&PARETO_SIZE), Means(""), "the Pareto distribution, heavy-tailed")],
};

pub(crate) static PARETO_SIZE: Table = Table {
    path: "flows.NAME.size.pareto",
    what: "The smallest size is mean * (shape - 1) / shape.",
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
    what: "The process by which transfers arrive at the group as a whole.",
    keys: &[key(
        "poisson",
        Shape::Quantity(&PER_SECOND),
        Means(""),
        "a Poisson process with this mean rate, as in \
         `20 /s`",
    )],
};

/// A time that is drawn anew each time it is needed.
pub(crate) static SPAN_TABLE: Table = Table {
    path: "SPAN",
    what: "A span of time for `idle`, `on` and `off`, drawn anew for each use.",
    keys: &[
        key("fixed", DURATION, Means(""), "always this span, the same as the bare duration"),
        key("uniform", Shape::Pair(&DURATION), Means(""), "between two times"),
        key("exponential", DURATION, Means(""), "the exponential distribution with this mean"),
        key("pareto", Shape::Table(&PARETO_SPAN), Means(""), "the Pareto distribution, heavy-tailed"),
    ],
};

pub(crate) static PARETO_SPAN: Table = Table {
    path: "SPAN.pareto",
    what: "The shortest span is mean * (shape - 1) / shape.",
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
    what: "A flow alternates between sending and silence, from its start on.",
    keys: &[key("on", SPAN, Required, "length of a sending period"), key("off", SPAN, Required, "length of a silence")],
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
            "space for waiting packets; a packet that does not fit is lost",
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
        key("probability", Shape::Number(CHANCE), Required, "probability that an acknowledgement is delayed"),
        key("uniform", Shape::Pair(&DURATION), Required, "its delay, drawn between two times"),
    ],
};

pub(crate) static RTT_NOISE: Table = Table {
    path: "flows.NAME.sender.rtt_noise",
    what: "Errors of the sender's round-trip samples, as a host makes that reads its clock late. The law and the \
           retransmission timer observe them. The round trips in the results are the true ones, and so are the gaps of \
           packet pairs. Only the packets world has them.",
    keys: &[
        key("probability", Shape::Number(CHANCE), Required, "probability that a sample is too long"),
        key("upto", DURATION, Required, "its error is drawn between zero and this"),
    ],
};

/// What senders and receivers do besides the law.
pub(crate) static SENDER: Table = Table {
    path: "flows.NAME.sender",
    what: "Behaviour of senders and receivers apart from the law. A law without acknowledgements accepts only \
           `burst` and `arithmetic`.",
    keys: &[
        key("initial_window", Shape::Packets(1, MOST_AT_ONCE), Is("2"), "initial window [packets]"),
        key(
            "ssthresh",
            Shape::Either(&[UNLIMITED, Shape::Packets(1, MOST_WINDOW)]),
            Is("\"unlimited\""),
            "initial slow-start threshold [packets]",
        ),
        key(
            "receive_window",
            Shape::Either(&[UNLIMITED, Shape::Packets(1, MOST_WINDOW)]),
            Is("\"unlimited\""),
            "upper limit on packets in flight, regardless of the law",
        ),
        key(
            "min_rto",
            DURATION,
            Is("\"200 ms\""),
            "minimum retransmission timeout (RFC 6298 requires 1 s, operating \
             systems use 0.2 s)",
        ),
        key(
            "rto",
            Shape::Word(words::<Rto>),
            Is("\"rfc6298\""),
            "use of `min_rto`: it bounds the whole timeout (RFC 6298, rule 2.4), or, as in Linux, only the term \
             added to the smoothed RTT",
        ),
        key(
            "recovery",
            Shape::Word(words::<Recovery>),
            Is("\"sack\""),
            "loss recovery: selective acknowledgements (RFC 6675, RFC 9002), NewReno (RFC 6582) or Reno (RFC 2581)",
        ),
        key("delayed_ack", Shape::Whole(1, 2), Is("1"), "packets that one acknowledgement covers"),
        key(
            "ecn_echo",
            Shape::Word(words::<EcnEcho>),
            Is("\"per-packet\""),
            "echo of marks by the receiver: for each packet, or latched (RFC 3168)",
        ),
        key(
            "pacing",
            Shape::Word(words::<Pacing>),
            Is("\"law\""),
            "`law` spaces packets by the law's gap, if it sets one; `off` sends them as acknowledgements arrive",
        ),
        key(
            "burst",
            Shape::Packets(1, MOST_BURST),
            Is("\"1 packet\""),
            "packets that leave back to back, as with segmentation offload: at most 64 KiB, or 64 packets of 1 KiB",
        ),
        key(
            "limited_transmit",
            Shape::Switch,
            Is("false"),
            "each of the first two duplicate acknowledgements releases a new segment (RFC 3042); `sack` recovery \
             includes it",
        ),
        key(
            "rtt_noise",
            Shape::Table(&RTT_NOISE),
            Means("none"),
            "round-trip samples that are too long; no packet is late",
        ),
        key(
            "remember",
            Shape::Word(words::<Remember>),
            Is("\"nothing\""),
            "with `arrivals` or `idle`: state that a flow keeps from one transfer to the next",
        ),
        key(
            "arithmetic",
            Shape::Word(words::<Arithmetic>),
            Is("\"f64\""),
            "arithmetic of the law: `fixed` equals the kernel bit for bit, for laws that have a kernel implementation",
        ),
    ],
};

/// The options that mean something to a sender whose packets nobody acknowledges.
pub(crate) const OF_ANY_LAW: &[&str] = &["burst", "arithmetic"];

/// A parameter that steps through values.
pub(crate) static STEPS: Table = Table {
    path: "flows.NAME.cc.PARAMETER",
    what: "A numeric parameter of a law that does not respond to congestion can change over time. It takes a list \
           such as \
           `[[\"0 s\", \"50 Mbit/s\"], [\"5 s\", \"120 Mbit/s\"]]`; times count from the start of the run, and the \
           first is `0 s`. Or it takes steps of equal length, which repeat until the run ends. Such a law also has \
           `spacing_jitter`, a number j from 0 to below 1: each gap between two packets is drawn uniformly from 1 - \
           j to 1 + j times the gap.",
    keys: &[
        key("every", DURATION, Required, "length of each step"),
        key("steps", Shape::List(&Shape::Parameter), Required, "two or more values, in order"),
    ],
};

/// A class of traffic.
pub(crate) static CLASS: Table = Table {
    path: "classes.NAME",
    what: "A traffic class. At least one group names it.",
    keys: &[
        key("floor", BIT_RATE, Is("\"0 bit/s\""), "guaranteed rate"),
        key("ceiling", Shape::Either(&[UNLIMITED, BIT_RATE]), Is("\"unlimited\""), "maximum rate"),
        key(
            "share",
            Shape::Number(CHANCE),
            Means("no reference"),
            "its share of the total, the reference for the ratio and the fairness index",
        ),
    ],
};

/// A customer.
pub(crate) static CUSTOMER: Table = Table {
    path: "customers.NAME",
    what: "An aggregate of flows, measured at its ingress: after access and jitter, before the first link. With a \
           conditioner it has a contract, and the conditioner colours each data packet. Laws such as `wred` use the \
           colours. Acknowledgements and flows without a customer have no contract and are green.",
    keys: &[
        key(
            "flows",
            Shape::List(&Shape::Name),
            Required,
            "its groups of flows; a group belongs to one customer at \
             most",
        ),
        key("conditioner", Shape::Conditioner, Means("none"), "the law at its ingress; see `docs/laws.md`"),
    ],
};

/// Seeds that count up.
pub(crate) static SEEDS: Table = Table {
    path: "sweep.seed",
    what: "Seeds that count up from the scenario's own seed.",
    keys: &[key("count", Shape::Whole(1, MOST_SEEDS), Required, "number of seeds")],
};

/// What ends a run early.
pub(crate) static STOP: Table = Table {
    path: "stop",
    what: "A condition that ends the run before its duration.",
    keys: &[key(
        "when",
        Shape::Word(words::<StopRule>),
        Required,
        "all data of every flow with a `size`, and without `arrivals` or `idle`, is acknowledged",
    )],
};
