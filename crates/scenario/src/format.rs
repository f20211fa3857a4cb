//! Format 1 of scenario files as data: every table and each of its keys, with its values, its default and
//! its description.
//!
//! The reader refuses a key that is not here, and [`schema`] and [`reference`] print these tables, so that file format,
//! JSON Schema and reference page cannot drift apart.

mod flows;
mod limits;
mod page;
mod schema;
mod shape;

pub(crate) use flows::*;
pub(crate) use limits::*;
pub use page::reference;
pub use schema::schema;
pub(crate) use shape::{Discipline, Key, Range, Shape, Silent, Table, TraceFormat, Word};

use Silent::{Is, Means, Required};
use shape::{BIT_RATE, BYTES, DURATION, UNLIMITED, key, words};

use crate::model::{Arithmetic, By, EcnOnLine, LossSpacing, StopRule};

/// Stands for a value that the law works out from where it runs.
pub(crate) const AUTOMATIC: &str = "automatic";

/// The key of the jitter of the gaps of an unresponsive law.
pub(crate) const SPACING_JITTER: &str = "spacing_jitter";

/// Every table, in the order of the reference page.
pub(crate) static TABLES: &[&Table] = &[
    &SCENARIO,
    &PACKET,
    &LINK,
    &DELAY,
    &POLICER,
    &REORDER,
    &AGGREGATION,
    &TRACE,
    &SCHEDULER,
    &FLOWS,
    &RTT,
    &START,
    &STEPS,
    &DRAWN_SIZE,
    &PARETO_SIZE,
    &SIZES,
    &ARRIVALS,
    &SPAN_TABLE,
    &PARETO_SPAN,
    &PAGE,
    &VIDEO,
    &ON_OFF,
    &ACCESS,
    &JITTER,
    &ACK_JITTER,
    &KNOWN_BOTTLENECK,
    &RTT_NOISE,
    &SENDER,
    &CLASS,
    &CUSTOMER,
    &STOP,
    &DYNAMICS,
    &DEFAULTS,
    &SEEDS,
];

/// The whole file.
pub(crate) static SCENARIO: Table = Table {
    path: "",
    what: "The keys at the top level of a scenario file.",
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
            "dynamics",
            Shape::Table(&DYNAMICS),
            Means("no such numbers"),
            "behaviour over time in the summary: standing queues, oscillation, settling, synchronization and more",
        ),
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
    what: "The size of a full data packet on the wire, and of the data in it.",
    keys: &[
        key("wire", BYTES, Required, "its size on the wire, headers included; at most 65535 B, as IP allows"),
        key("payload", BYTES, Required, "the user's data in it"),
    ],
};

pub(crate) static DEFAULTS: Table = Table {
    path: "defaults",
    what: "Defaults for the keys of links and groups. Each option of a `sender` in the defaults applies by itself. \
           Every other table in the defaults applies as a whole. A group ignores an option that its law does not use.",
    keys: &[
        key("links", Shape::Table(&LINK), Means("none"), "keys of links"),
        key("flows", Shape::Table(&FLOWS), Means("none"), "keys of groups"),
    ],
};

/// A link.
pub(crate) static LINK: Table = Table {
    path: "links.NAME",
    what: "A line with a queue in front of it, from one node to another. A node exists if a link names it. \
           `links.\"NAME/back\"` changes `rate`, `delay`, `buffer`, `policer`, `aqm`, `scheduler`, `loss`, \
           `loss_spacing`, `lose_transmission`, `loss_burst`, `reorder`, `aggregation`, `duplicate`, `ecn` and \
           `arithmetic` of the reverse direction of a duplex link.",
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
        key(
            "delay",
            Shape::Either(&[DURATION, Shape::Schedule(&DURATION), Shape::Table(&DELAY)]),
            Required,
            "propagation, one way: one time; a list of times and delays, the first at `0 s`; steps that repeat; or a \
             recorded trace. A packet has the delay in force when its last bit leaves, and never overtakes one sent earlier. Round-trip times and \
             AQMs go by the delay at `0 s`",
        ),
        key(
            "buffer",
            Shape::Buffer { bdp: true },
            Required,
            "space for waiting packets, without the packet in transmission; `1 bdp` is the initial rate (the mean of \
             a trace) times the largest round-trip time across the link, in packets, rounded up; `1 bdp of bytes` is \
             the same in bytes, so that small packets take less space; `50 ms` is what comes in that time at the initial \
             rate (the mean of a trace), in bytes, rounded up",
        ),
        key(
            "policer",
            Shape::Table(&POLICER),
            Means("every packet reaches the queue"),
            "a token bucket before the queue, which drops packets that do not conform",
        ),
        key("aqm", Shape::Aqm, Is("{ law = \"droptail\" }"), "the law of its queue; see `docs/laws.md`"),
        key(
            "scheduler",
            Shape::Table(&SCHEDULER),
            Is("{ law = \"fifo\" }"),
            "the rule that picks the next queue; not with an AQM that has its own rule",
        ),
        key(
            "loss",
            Shape::Number(LOSS),
            Is("0"),
            "share of packets lost on the line; a damaged packet is lost too, because its receiver drops what fails a \
             checksum",
        ),
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
            "loss_burst",
            Shape::Number(BURST),
            Means("each loss is independent"),
            "with `loss`: losses come in bursts of this mean length in packets (Gilbert's model), with \
             `loss_spacing = \"random\"`; `loss` stays the share of the packets of a steady stream, at most b/(b + 1) for \
             bursts of b; a sender in timeout sends few packets, so that its bursts last long",
        ),
        key(
            "reorder",
            Shape::Table(&REORDER),
            Means("packets keep their order"),
            "packets that come late, so that others overtake them",
        ),
        key(
            "aggregation",
            Shape::Table(&AGGREGATION),
            Means("each packet goes by itself"),
            "packets that are gathered at the end of the link and go together",
        ),
        key(
            "duplicate",
            Shape::Number(SHARE),
            Is("0"),
            "share of packets that arrive twice, the copy right behind; random draws on later links treat both alike",
        ),
        key(
            "ecn",
            Shape::Word(words::<EcnOnLine>),
            Is("\"keep\""),
            "what the line does to the ECN field: `bleach` makes every packet Not-ECT, `erase-ce` makes CE ECT(0), `ect0` \
             makes ECT(1) ECT(0)",
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
            "also makes the link `NAME/back`: the same rate, delay, buffer, AQM and scheduler, and nothing else of this",
        ),
    ],
};

/// Keys that the way back of a duplex link may change.
pub(crate) const WAY_BACK: &[&str] = &[
    "rate",
    "delay",
    "buffer",
    "policer",
    "aqm",
    "scheduler",
    "loss",
    "loss_spacing",
    "lose_transmission",
    "loss_burst",
    "reorder",
    "aggregation",
    "duplicate",
    "ecn",
    "arithmetic",
];

pub(crate) static DELAY: Table = Table {
    path: "links.NAME.delay",
    what: "With `every` and `steps`, the delay takes steps of equal length, again and again until the run ends. With \
           `trace`, the delay follows a recorded file. Each line of the trace file is a time and a delay, both in \
           seconds, as in `15,0.027`. The first line of the trace file may be the header `time,delay`. The first time \
           in the trace file is 0, and times increase. Each delay holds until the next time, and the last delay until \
           the run ends. The name of the trace file is relative to the folder of the scenario. The trace file has at \
           most 100,000 delays. The record of a run has the delays of the trace file as a list.",
    keys: &[
        key("every", DURATION, Means("no steps"), "length of each step"),
        key("steps", Shape::List(&DURATION), Means("no steps"), "two or more delays, in order"),
        key("trace", Shape::Text, Means("no file"), "the file's name; not with steps"),
        key(
            "sha256",
            Shape::Text,
            Means("any content"),
            "with `trace`: SHA-256 of the file, 64 hexadecimal digits; refused if it differs",
        ),
    ],
};

pub(crate) static REORDER: Table = Table {
    path: "links.NAME.reorder",
    what: "Some packets, each drawn by itself, take longer on the line than the others.",
    keys: &[
        key("share", Shape::Number(CHANCE), Required, "the share of packets that come late"),
        key("by", DURATION, Required, "how much longer they take, above zero"),
    ],
};

pub(crate) static POLICER: Table = Table {
    path: "links.NAME.policer",
    what: "The meter of RFC 2697 with one bucket (the conditioner `token-bucket` in `docs/laws.md`), full at the \
           start. The policer meters all packets, acknowledgements too, and drops packets that RFC 2697 would colour \
           red. Packets that the policer drops count as drops of the link.",
    keys: &[
        key("rate", BIT_RATE, Required, "the rate at which tokens come, at most 1 Tbit/s"),
        key("burst", BYTES, Required, "the size of the bucket, a packet or more, at most 1 TB"),
    ],
};

pub(crate) static AGGREGATION: Table = Table {
    path: "links.NAME.aggregation",
    what: "Packets that have left the queue wait and then go together, as in access networks that take turns (802.11, \
           DOCSIS, LTE). The link's propagation delay follows after the wait for aggregation.",
    keys: &[
        key("time", DURATION, Required, "how long the first of them waits at most, above zero"),
        key("packets", Shape::Whole(2, MOST_WINDOW), Means("any number"), "this many waiting packets go at once"),
        key(
            "rate",
            BIT_RATE,
            Means("all at once"),
            "the rate at which they go one after the other; not below the highest rate of the link, and of a trace not below \
             its mean",
        ),
    ],
};

pub(crate) static TRACE: Table = Table {
    path: "links.NAME.rate",
    what: "The rate follows a recorded trace file. With the format `mahimahi`, each line of the file is a time in \
           whole milliseconds, at which the link can send 1500 B. Times in a `mahimahi` trace must not decrease. The \
           last time of a `mahimahi` trace is the period after which it repeats. With the format `csv`, each line is a \
           time in seconds and a rate in bit/s, as in `2.5,12000000`. The first line of a `csv` trace may be \
           `time,rate`. The first time of a `csv` trace is 0, and times increase. Each rate holds until the next time, \
           and the last rate until the run ends. A rate of zero is an outage. The first rate must be above zero; \
           buffers in BDP and laws use this rate. The name of the trace file is relative to the folder of the \
           scenario. The trace file has at most 64 MB.",
    keys: &[
        key("trace", Shape::Text, Required, "the file's name"),
        key(
            "format",
            Shape::Word(words::<TraceFormat>),
            Is("\"mahimahi\""),
            "`mahimahi` for opportunities to send, `csv` for times and rates",
        ),
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

/// A class of traffic.
pub(crate) static CLASS: Table = Table {
    path: "classes.NAME",
    what: "A traffic class. At least one group must name the class.",
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
    what: "An aggregate of flows, measured at its ingress: after access and jitter, before the first link. A customer \
           with a conditioner has a contract, and the conditioner colours each data packet. Laws such as `wred` use \
           the colours. Acknowledgements and flows without a customer have no contract and are green.",
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

/// Conditions that end a run early.
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

/// Numbers of behaviour over time.
pub(crate) static DYNAMICS: Table = Table {
    path: "dynamics",
    what: "With this table, which may be empty, `summary.json` has `dynamics` of each link, each group and all flows \
           together, for the whole span and each of `windows`; `docs/record.md` defines the numbers. Links and flows \
           are sampled at each multiple of `round`. The numbers for a span of time use only the rounds that lie wholly \
           in the span. Apart from `dynamics` in the summary, `[dynamics]` changes nothing in a run.",
    keys: &[key(
        "round",
        DURATION,
        Means("the longest round-trip time of the groups that respond to congestion"),
        "the time R that the definitions go by, above zero",
    )],
};
