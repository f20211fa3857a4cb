//! The tables of flow groups: number, start, size, the way to the first link, and the behaviour of senders.

use super::limits::{
    CHANCE, LOSS, MOST_AT_ONCE, MOST_BLOCKS, MOST_BURST, MOST_CONNECTIONS_OF_A_BROWSER, MOST_FLOWS, MOST_OBJECTS,
    MOST_QUICK, MOST_WINDOW, MULTIPLE, TAIL,
};
use super::shape::Silent::{Is, Means, Required};
use super::shape::{BIT_RATE, BYTES, DURATION, Shape, Table, UNLIMITED, key, words};
use crate::model::Profile;
use crate::model::{Arithmetic, EcnEcho, Full, Limit, Pacing, ReceiverEcn, Recovery, Remember, Rto};
use crate::quantity::PER_SECOND;

const SPAN: Shape = Shape::Either(&[DURATION, Shape::OneOf(&SPAN_TABLE)]);

/// A group of flows.
pub(crate) static FLOWS: Table = Table {
    path: "flows.NAME",
    what: "Flows that share every setting except the round-trip time and the start.",
    keys: &[
        key(
            "count",
            Shape::Whole(1, MOST_FLOWS),
            Means(
                "1; with `arrivals`, one for each of the transfers that may arrive (rate times duration, and six standard \
                 deviations), at most 10,000, or one for each `rtt` of a list",
            ),
            "number of flows; with `arrivals` that of the connections, each of which carries one transfer at a time",
        ),
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
        key(
            "packet",
            Shape::Either(&[BYTES, Shape::Table(&super::PACKET)]),
            Means("that of the scenario"),
            "size of the group's full data packets, as `packet` of the scenario and no larger; in the packets world, and of \
             `cbr` in the Linux world",
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
        key(
            "page",
            Shape::Table(&PAGE),
            Means("none"),
            "browsers load web pages whose objects have `size`; with `idle` each pauses after a page and loads it again; \
             excludes `arrivals`; in the packets world",
        ),
        key(
            "video",
            Shape::Table(&VIDEO),
            Means("none"),
            "players stream video in chunks at a rate that follows their buffer; excludes `size`, `arrivals` and `idle`; in the \
             packets world",
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
        key(
            "loss",
            Shape::Number(LOSS),
            Is("0"),
            "share of the packets to the group's receivers lost behind their last link, as in a radio network of its own: each \
             packet independently, after it has had its place in every queue",
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
    what: "The size of each transfer, drawn at random from a distribution.",
    keys: &[
        key("pareto", Shape::Table(&PARETO_SIZE), Means(""), "the Pareto distribution, heavy-tailed"),
        key(
            "distribution",
            Shape::Either(&[Shape::Text, Shape::Table(&SIZES)]),
            Means(""),
            "measured sizes: `web-search` (DCTCP, mean 1.7 MB) and `data-mining` (VL2, mean 7.5 MB); of our own `video-chunks` \
             (4 s at rates from 235 kbit/s to 5.8 Mbit/s, mean 1 MB); or the name of a file",
        ),
    ],
};

pub(crate) static SIZES: Table = Table {
    path: "flows.NAME.size.distribution",
    what: "A file with the distribution of transfer sizes. Each line has a size in bytes, a comma, and the share of \
           transfers that are no larger, as in `1460,0.5`. Sizes and shares must not decrease, and the last share is \
           1. Between the sizes of two lines, the cumulative distribution is a straight line. Lines that begin with \
           `#` are comments. The name of the file is relative to the folder of the scenario.",
    keys: &[
        key("file", Shape::Text, Required, "the file's name"),
        key(
            "sha256",
            Shape::Text,
            Means("any content"),
            "SHA-256 of the file, 64 hexadecimal digits; refused if it differs",
        ),
    ],
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
    what: "The shortest span of time that can be drawn is mean * (shape - 1) / shape.",
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

pub(crate) static PAGE: Table = Table {
    path: "flows.NAME.page",
    what: "A web page whose objects a browser loads in rounds. A round begins when all objects of the round before \
           have come, as scripts and style sheets name what comes next. A request takes no bytes, and arrives with the \
           last acknowledgement. The connections of a browser stay open within a page; `sender.remember` says what a \
           connection keeps for the next page.",
    keys: &[
        key(
            "rounds",
            Shape::List(&Shape::Whole(1, MOST_OBJECTS)),
            Required,
            "the number of objects in each round, as in `[1, 20, 29]`",
        ),
        key(
            "connections",
            Shape::Whole(1, MOST_CONNECTIONS_OF_A_BROWSER),
            Means("6, as browsers have; 1 with `multiplexed`"),
            "flows of one browser, of which each carries one object at a time (HTTP/1.1); `count` is a multiple of it",
        ),
        key(
            "multiplexed",
            Shape::Switch,
            Is("false"),
            "one connection carries all objects of a round together (HTTP/2)",
        ),
    ],
};

pub(crate) static VIDEO: Table = Table {
    path: "flows.NAME.video",
    what: "Chunked video with BBA-0 (Huang et al., SIGCOMM 2014). The rate of the next chunk rises with the player's \
           buffer on a straight line. The rate is the lowest up to a buffer of `reservoir`, and the highest from \
           `reservoir` plus `cushion` on. The player changes its rate only where this straight line reaches the next \
           higher or lower rate of the list `rates`. Playback begins with the first chunk, and after a stall with the \
           next chunk. The connection stays open between chunks.",
    keys: &[
        key(
            "rates",
            Shape::List(&BIT_RATE),
            Is(crate::sizes::LADDER),
            "the rates that each chunk has, in rising order; the default are those of Netflix until 2015",
        ),
        key("chunk", DURATION, Is("\"4 s\""), "playing time of a chunk"),
        key(
            "buffer",
            DURATION,
            Is("\"240 s\""),
            "the most playing time that a player holds; it waits for a free place",
        ),
        key("reservoir", DURATION, Is("\"90 s\""), "playing time up to which the lowest rate is chosen"),
        key(
            "cushion",
            DURATION,
            Is("\"126 s\""),
            "playing time above the reservoir from which on the highest is chosen",
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
            "space for waiting packets; a time counts at `rate`",
        ),
        key(
            "full",
            Shape::Word(words::<Full>),
            Is("\"drop\""),
            "a full queue drops the next packet (`drop`), or holds the sender back until there is room (`wait`), as the \
             device queue of a host may; only the packets world has `wait`",
        ),
    ],
};

pub(crate) static JITTER: Table = Table {
    path: "flows.NAME.jitter",
    what: "Random delay of each data packet in the sender.",
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
    what: "Errors in the sender's samples of the round-trip time, as on a host that reads its clock late. The law and \
           the retransmission timer observe samples with these errors. Round-trip times in the results do not have \
           these errors. The gaps of packet pairs do not have these errors either. Only the packets world supports \
           `rtt_noise`.",
    keys: &[
        key("probability", Shape::Number(CHANCE), Required, "probability that a sample is too long"),
        key("upto", DURATION, Required, "its error is drawn between zero and this"),
    ],
};

pub(crate) static KNOWN_BOTTLENECK: Table = Table {
    path: "flows.NAME.sender.bottleneck",
    what: "Capacity and buffer of the slowest link on the way, for a law that otherwise estimates both (`ccp`, \
           `ccpd`). The law observes the true capacity and the true buffer, each multiplied by its number in this \
           table. With the value 1, the law runs without the errors of its estimators. A value other than 1 tests the \
           effect of an error of an estimate. The law still computes the queue from its round-trip times. The packets \
           world and the analysis support `bottleneck`.",
    keys: &[
        key("capacity", Shape::Number(MULTIPLE), Required, "the observed capacity over the true capacity"),
        key("buffer", Shape::Number(MULTIPLE), Required, "the observed buffer size over the true buffer size"),
    ],
};

/// Behaviour of senders and receivers besides the law.
pub(crate) static SENDER: Table = Table {
    path: "flows.NAME.sender",
    what: "Behaviour of senders and receivers apart from the law. A law without acknowledgements accepts only \
           `burst` and `arithmetic`.",
    keys: &[
        key(
            "profile",
            Shape::Word(words::<Profile>),
            Is("\"ns-2\""),
            "the kind of host, which sets the defaults of the other keys and some parameters of laws; see Hosts below",
        ),
        key("initial_window", Shape::Packets(1, MOST_AT_ONCE), Is("2"), "initial window [packets]"),
        key(
            "ssthresh",
            Shape::Either(&[UNLIMITED, Shape::Packets(1, MOST_WINDOW)]),
            Is("\"unlimited\""),
            "initial slow-start threshold [packets]; in the fluid world, `unlimited` leaves slow start out",
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
             added to the smoothed RTT; with `rfc9002`, which needs `recovery = \"rack\"`, it is the kGranularity of QUIC's probe \
             timeout: the smoothed RTT, four variations and `max_ack_delay`, after which two packets go out and nothing counts as \
             lost (RFC 9002, section 6.2)",
        ),
        key(
            "tick",
            DURATION,
            Means("exact"),
            "clock of the retransmission timer, as coarse as in BSD (500 ms) and in ns-2 until 2002 (100 ms), at most 20 s: one \
             round trip of each window is counted, in whole ticks, and so is the timeout, three ticks at the least after the \
             first sample; it starts with its segment, as in ns-2, while BSD waits for the next tick; only the packets \
             world has it",
        ),
        key(
            "recovery",
            Shape::Word(words::<Recovery>),
            Is("\"sack\""),
            "loss recovery: selective acknowledgements (RFC 6675, RFC 9002), RACK-TLP (RFC 8985), NewReno (RFC 6582) or \
             Reno (RFC 2581)",
        ),
        key(
            "prr",
            Shape::Switch,
            Means("on with `rack`"),
            "of `rack`: proportional rate reduction, which spreads a reduction of the window over a round trip (RFC 9937)",
        ),
        key(
            "tail_loss_probe",
            Shape::Switch,
            Means("on with `rack`"),
            "of `rack`: a probe two round trips after the last packet, so that a lost tail needs no timeout (RFC 8985, \
             section 7)",
        ),
        key(
            "dsack",
            Shape::Switch,
            Means("on with `rack`"),
            "of `rack`: duplicate SACKs widen the reordering window (RFC 8985, section 6.2)",
        ),
        key(
            "undo",
            Shape::Switch,
            Means("on with `rack`"),
            "of `rack`: a reduction is undone if time stamps or duplicate SACKs show that nothing was lost (RFC 3522)",
        ),
        key(
            "sack_blocks",
            Shape::Whole(1, MOST_BLOCKS),
            Is("1"),
            "of `sack` and `rack`: blocks in an acknowledgement at the most, the newest first (RFC 2018); beside timestamps \
             3 have a place",
        ),
        key("delayed_ack", Shape::Whole(1, 2), Is("1"), "packets that one acknowledgement covers"),
        key(
            "quick_acks",
            Shape::Whole(0, MOST_QUICK),
            Is("0"),
            "with `delayed_ack = 2`: packets of a connection that are acknowledged one by one, before acknowledgements wait \
             (Linux: 16)",
        ),
        key(
            "max_ack_delay",
            DURATION,
            Is("\"40 ms\""),
            "with `delayed_ack = 2`: the longest delay of an acknowledgement for a second packet, at most 16 s (RFC 9000, \
             section 18.2; RFC 5681, section 4.2, allows 500 ms); with `rto = \"rfc9002\"` it is a part of the probe timeout, and other \
             timers of the sender go by `min_rto`",
        ),
        key(
            "ack_gap_once",
            Shape::Switch,
            Is("false"),
            "with `delayed_ack = 2`: acknowledged at once is the packet after a gap in the numbers of packets, or one that is \
             late, as in QUIC (RFC 9000, section 13.2.1); without it each packet is while a segment is missing (RFC 5681, \
             section 4.2)",
        ),
        key(
            "ecn_echo",
            Shape::Word(words::<EcnEcho>),
            Is("\"per-packet\""),
            "echo of marks by the receiver: for each packet, latched (RFC 3168), or `accurate`: a counter of marked packets, \
             modulo 8, in each acknowledgement (AccECN, RFC 9768)",
        ),
        key(
            "accecn_option",
            Shape::Switch,
            Means("on with `accurate`"),
            "of `accurate`: acknowledgements have the AccECN Option, counters of bytes, where 40 B of options leave it a \
             place; without it the sender assumes the most marks that are likely after many lost acknowledgements (RFC \
             9768, section 3.2.2.5.2)",
        ),
        key(
            "receiver_ecn",
            Shape::Word(words::<ReceiverEcn>),
            Means("`\"accurate\"`"),
            "of `accurate`: with `classic` the receiver knows RFC 3168 only, and the connection falls back to it",
        ),
        key(
            "handshake",
            Shape::Switch,
            Is("false"),
            "a connection opens with a SYN and its answer, a round trip before the first data (RFC 9293), and the end of a \
             transfer is acknowledged at once, because the receiver closes; the Linux world always has both, and captures \
             of simulated packets do not show them",
        ),
        key(
            "pacing",
            Shape::Word(words::<Pacing>),
            Is("\"law\""),
            "`law` spaces packets by the law's gap, if it sets one; `off` sends them as acknowledgements arrive; `window` spaces \
             them by 1.25 windows a smoothed round-trip time, as quinn and RFC 9002, section 7.7: see Pacing by the window below; \
             the fluid world and the kernel's TCP refuse `window`",
        ),
        key(
            "limit",
            Shape::Word(words::<Limit>),
            Is("\"window\""),
            "limit on a paced sender: its window too, or with `pace` the law's gap alone, for laws that set one; until the \
             first round-trip sample sets it, the window counts; only the packets world has `pace`",
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
            "bottleneck",
            Shape::Table(&KNOWN_BOTTLENECK),
            Means("estimates"),
            "capacity and buffer that the law observes in the place of estimates",
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
    what: "A numeric parameter of a law that does not respond to congestion can change over time. Such a parameter \
           takes a list such as `[[\"0 s\", \"50 Mbit/s\"], [\"5 s\", \"120 Mbit/s\"]]`; times count from the start of \
           the run, and the first is `0 s`. Or the parameter takes steps of equal length, which repeat until the run \
           ends. A law that does not respond to congestion also has `spacing_jitter`, a number j from 0 to below 1: \
           each gap between two packets is drawn uniformly from 1-j to 1+j times the gap.",
    keys: &[
        key("every", DURATION, Required, "length of each step"),
        key("steps", Shape::List(&Shape::Parameter), Required, "two or more values, in order"),
    ],
};
