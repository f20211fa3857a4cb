//! A resolved scenario: every default filled in, every unit converted, every name looked up.

mod application;
mod dynamics;
mod sender;

use std::sync::Arc;

use indexmap::IndexMap;
use penstock_law::aqm::Aqm;
use penstock_law::cc::{self, Controller};
use penstock_law::conditioner::Conditioner;
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Entry, Role, Values};

use crate::seed::Seed;

pub use application::{Application, Page, Video};
pub use dynamics::Dynamics;
pub use sender::{
    Arithmetic, EcnEcho, KnownBottleneck, Limit, Pacing, Profile, RackOptions, ReceiverEcn, Recovery, Rto,
    SenderOptions,
};

/// A scenario, ready to run in any world.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// One line for people.
    pub title: String,
    /// Simulated time.
    pub duration: Time,
    /// Time at the start that the summary leaves out.
    pub warmup: Time,
    /// Where every random stream comes from.
    pub seed: Seed,
    /// Sizes of a data packet.
    pub packet: Packet,
    /// Period of the recorded series.
    pub sample: Time,
    /// Links by name, reverse links (`NAME/back`) included, in the order of the file.
    pub links: IndexMap<String, Link>,
    /// Groups of flows by name, in the order of the file.
    pub groups: IndexMap<String, Group>,
    /// Named spans for which the summary is repeated: start and end.
    pub windows: IndexMap<String, (Time, Time)>,
    /// Classes of traffic by name, in the order of the file.
    pub classes: IndexMap<String, Class>,
    /// Customers by name, in the order of the file.
    pub customers: IndexMap<String, Customer>,
    /// Condition that ends the run early.
    pub stop: Option<StopRule>,
    /// Sampling of behaviour over time, where the summary has numbers of it.
    pub dynamics: Option<Dynamics>,
}

/// A class of traffic, which laws and schedulers treat apart from the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// Guaranteed rate.
    pub floor: Rate,
    /// Largest rate; none is no bound.
    pub ceiling: Option<Rate>,
    /// Its share of the whole, the reference for ratio and fairness index.
    pub share: Option<f64>,
}

/// An aggregate of flows, measured and conditioned where it enters.
#[derive(Debug, Clone)]
pub struct Customer {
    /// Names of its groups of flows; no group belongs to two customers.
    pub flows: Vec<String>,
    /// The law that holds its packets against its contract; none where there is no contract.
    pub conditioner: Option<Chosen<Conditioner>>,
}

/// Condition that ends a run before its duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopRule {
    /// Every flow that has a size, no arrivals or idle times, and someone who acknowledges, has been acknowledged to the
    /// last segment.
    TransfersComplete,
}

/// Sizes of packets on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// A full data packet, headers included.
    pub wire: Bytes,
    /// User data in a packet.
    pub payload: Bytes,
    /// An acknowledgement.
    pub ack: Bytes,
}

/// A line with a queue in front of it.
#[derive(Debug, Clone)]
pub struct Link {
    /// The node it leaves.
    pub from: String,
    /// The node it reaches.
    pub to: String,
    /// Its rate at the start; the mean of a trace.
    pub rate: Rate,
    /// The rate from then on.
    pub service: Service,
    /// Propagation delay, one way, at the start.
    pub delay: Time,
    /// From each of these times on, which grow, another one; each differs from the one before.
    pub delays: Vec<(Time, Time)>,
    /// Limit of the queue.
    pub buffer: Buffer,
    /// Policer in front of its queue.
    pub policer: Option<Policer>,
    /// The law of its queue.
    pub aqm: Chosen<Aqm>,
    /// Which of the packets waiting goes next.
    pub scheduler: Scheduler,
    /// Share of the packets that is lost on the line.
    pub loss: f64,
    /// Spacing of those losses.
    pub loss_spacing: LossSpacing,
    /// Of each flow's data one transmission is lost too, drawn between these two, the first being 1.
    pub lose_transmission: Option<(u32, u32)>,
    /// Mean length of a burst of losses [packets], where they come in bursts.
    pub loss_burst: Option<f64>,
    /// Which of its packets come late, so that others overtake them.
    pub reorder: Option<Reorder>,
    /// Aggregation of packets, which then go together.
    pub aggregation: Option<Aggregation>,
    /// The share of its packets that arrive twice.
    pub duplicate: f64,
    /// Treatment of the ECN field of packets.
    pub ecn: EcnOnLine,
    /// The numbers its AQM computes with.
    pub arithmetic: Arithmetic,
}

/// A line that lets some packets come late.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reorder {
    /// The share of packets that do.
    pub share: f64,
    /// By how much.
    pub by: Time,
}

/// A token bucket before a queue: a packet for which there are not enough tokens is dropped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policer {
    /// Rate that fills the bucket.
    pub rate: Rate,
    /// Size of the bucket; it is full at the start.
    pub burst: Bytes,
}

/// A line that gathers packets and lets them go together, as access networks do that take turns (802.11, DOCSIS, LTE).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aggregation {
    /// Longest wait of the first of them.
    pub time: Time,
    /// Largest number of packets in one aggregate; none is no bound.
    pub packets: Option<u64>,
    /// Rate of an aggregate; none is all at once.
    pub rate: Option<Rate>,
}

/// Treatment of the ECN field by a line, as observed of middleboxes (RFC 9331, section 5; RFC 9768, section 3.2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnOnLine {
    /// Nothing.
    Keep,
    /// Every packet leaves as Not-ECT.
    Bleach,
    /// CE becomes ECT(0): congestion is hidden.
    EraseCe,
    /// ECT(1) becomes ECT(0): the low-latency queue behind it does not take the packet.
    Ect0,
}

/// Spacing of the losses of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossSpacing {
    /// Each packet is lost with the same probability, independent of all others.
    Random,
    /// Of each flow every n-th transmission is lost, n being the inverse of the share, from an offset drawn for the flow:
    /// the loss model of the response functions of RFC 3649 and RFC 9438.
    Even,
}

/// The rate of a line after its start.
#[derive(Debug, Clone, PartialEq)]
pub enum Service {
    /// As it began.
    Constant,
    /// At each time after the start, which grow, the rate becomes another; a rate of zero is an outage.
    Schedule(Vec<(Time, Rate)>),
    /// Opportunities to send 1500 bytes, as mahimahi records them; repeated for ever.
    Trace(Trace),
    /// As a schedule that a file has.
    Rates(Rates),
}

impl Service {
    /// The rate at each time after the start, where the service is a list of such.
    pub fn changes(&self) -> &[(Time, Rate)] {
        match self {
            Self::Schedule(changes) => changes,
            Self::Rates(rates) => &rates.changes,
            Self::Constant | Self::Trace(_) => &[],
        }
    }
}

/// Recorded rates.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// The file's name as it stands in the scenario.
    pub file: String,
    /// SHA-256 of the file, 64 hexadecimal digits.
    pub sha256: String,
    /// The rate at each time after the start; a rate of zero is an outage.
    pub changes: Arc<[(Time, Rate)]>,
}

/// A trace of opportunities to send.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The file's name as it stands in the scenario.
    pub file: String,
    /// SHA-256 of the file, 64 hexadecimal digits: it stands for the content in a scenario's identity.
    pub sha256: String,
    /// When each opportunity comes, from the start of a period; they do not decrease.
    pub opportunities: Arc<[Time]>,
    /// Time until it begins again, above zero.
    pub period: Time,
}

/// Which of the packets waiting goes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduler {
    /// The one that came first.
    Fifo,
    /// Deficit round robin (Shreedhar and Varghese, 1995), each queue with an instance of the AQM of its own.
    Drr {
        /// Classification into queues.
        by: By,
        /// Bytes that a queue may send a turn.
        quantum: Bytes,
    },
}

/// Key by which a scheduler separates packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Each flow.
    Flow,
    /// Each class; flows without one are one class more.
    Class,
}

/// Limit of the packets that wait for a line. The packet in transmission has left the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// As much as there is.
    Unlimited,
    /// So many packets of any size.
    Packets(u64),
    /// So many bytes.
    Bytes(Bytes),
}

impl Buffer {
    /// Most packets and most bytes that may wait.
    pub fn limits(self) -> (u64, u64) {
        match self {
            Self::Unlimited => (u64::MAX, u64::MAX),
            Self::Packets(n) => (n, u64::MAX),
            Self::Bytes(bytes) => (u64::MAX, bytes.0),
        }
    }
}

/// A law from the registry with its parameters.
#[derive(Debug)]
pub struct Chosen<R: Role> {
    /// Its entry.
    pub law: &'static Entry<R>,
    /// Its parameters.
    pub values: Values,
}

impl<R: Role> Clone for Chosen<R> {
    fn clone(&self) -> Self {
        Self { law: self.law, values: self.values.clone() }
    }
}

/// Flows that share every setting except the round-trip time and the start.
#[derive(Debug, Clone)]
pub struct Group {
    /// Number of flows.
    pub count: u32,
    /// Node of the senders.
    pub from: String,
    /// Node of the receivers.
    pub to: String,
    /// Names of the links that data cross, in order.
    pub forward: Vec<String>,
    /// Names of the links that acknowledgements cross, in order; a pair of nodes without a way back has an ideal one.
    pub backward: Vec<String>,
    /// Two-way propagation delay of each flow; the part beyond that of the links is private to the flow, behind its
    /// last link.
    pub rtt: Rtt,
    /// Sizes of its data packets, where they are not the scenario's.
    pub packet: Option<Packet>,
    /// The law of its senders.
    pub cc: Chosen<Controller>,
    /// When its flows start.
    pub start: Start,
    /// Of an unresponsive law: other parameters from a time after the start of the run on, in the order of time,
    /// each different from those before.
    pub steps: Vec<(Time, Values)>,
    /// Of an unresponsive law that paces: each gap is drawn within this share of it, up or down.
    pub spacing_jitter: f64,
    /// When its flows stop sending new data; none is the end of the run.
    pub stop: Option<Time>,
    /// Size of each transfer; none is without end.
    pub size: Option<Size>,
    /// When transfers after the first begin; none where each flow is one transfer.
    pub repeats: Option<Repeats>,
    /// Application that requests transfers, where these depend on earlier ones.
    pub application: Option<Application>,
    /// Times of sending and of silence, one after the other, beginning with sending.
    pub on_off: Option<(Span, Span)>,
    /// Its class.
    pub class: Option<String>,
    /// Each flow's own interface; none is without a limit.
    pub access: Option<Access>,
    /// Time that each data packet spends in the sender before its first link, between these; order is kept.
    pub jitter: Option<(Time, Time)>,
    /// Acknowledgements that come late.
    pub ack_jitter: Option<AckJitter>,
    /// Share of the packets to its receivers that is lost behind their last link.
    pub loss: f64,
    /// Whether each flow has series of its own.
    pub series: bool,
    /// Behaviour of senders and receivers besides the law.
    pub sender: SenderOptions,
}

/// Size of a transfer.
#[derive(Debug, Clone, PartialEq)]
pub enum Size {
    /// Always so much.
    Each(Bytes),
    /// Drawn for each transfer: Pareto, with this mean, shape above 1.
    Pareto {
        /// [B]
        mean: Bytes,
        /// The exponent of the tail.
        shape: f64,
    },
    /// Drawn for each transfer from measured sizes.
    Measured(Distribution),
}

/// A distribution of sizes by its points, with straight lines between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// Where the points come from.
    pub origin: Origin,
    /// Sizes [B], each with the share of transfers that are no larger. Neither decreases, and the last share is 1.
    pub points: Arc<[(f64, f64)]>,
}

/// Where a distribution comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It is known by this name.
    Known(String),
    /// A file.
    File {
        /// Its name as it stands in the scenario.
        file: String,
        /// SHA-256 of the file, 64 hexadecimal digits: it stands for the content in a scenario's identity.
        sha256: String,
    },
}

/// When a group's transfers after the first begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Repeats {
    /// Open loop: transfers arrive at the group as a Poisson process of so many a second, each is taken by a flow that
    /// is free, and waits where none is.
    Poisson(f64),
    /// Closed loop: each flow is silent for such a time after a transfer, and begins the next.
    Idle(Span),
}

/// A time, perhaps drawn anew each time it is needed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Span {
    /// Always this.
    Fixed(Time),
    /// Between these.
    Uniform(Time, Time),
    /// Exponential, with this mean.
    Exponential(Time),
    /// Pareto, with this mean, shape above 1.
    Pareto {
        /// [ps]
        mean: Time,
        /// The exponent of the tail.
        shape: f64,
    },
}

/// A flow's own interface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Access {
    /// Its rate.
    pub rate: Rate,
    /// Limit of its queue.
    pub queue: Buffer,
    /// Behaviour of a full queue.
    pub full: Full,
}

/// Treatment of the next packet by a full queue of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// It drops the packet.
    Drop,
    /// It holds the sender back until there is space.
    Wait,
}

/// Acknowledgements that come late: with this probability, by a time between these; those behind wait for them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AckJitter {
    /// Of each acknowledgement.
    pub probability: f64,
    /// The least and the largest delay.
    pub between: (Time, Time),
}

/// Round-trip samples that are too long, as by a host that reads its clock late; no packet is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RttNoise {
    /// Of each sample.
    pub probability: f64,
    /// The largest error; the least is zero.
    pub upto: Time,
}

/// Knowledge of its path with which a flow begins a transfer after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remember {
    /// Nothing: a new connection.
    Nothing,
    /// The smallest round-trip time: a new connection on a host that caches it.
    BaseRtt,
    /// Everything: the connection stays.
    Everything,
}

/// Two-way propagation delays of a group.
#[derive(Debug, Clone, PartialEq)]
pub enum Rtt {
    /// The same for all.
    Each(Time),
    /// Evenly spaced from the first to the last flow.
    Spread(Time, Time),
    /// Drawn for each flow.
    Uniform(Time, Time),
    /// One for each flow.
    List(Vec<Time>),
}

/// When the flows of a group start.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// All at this time.
    At(Time),
    /// Drawn for each flow.
    Uniform(Time, Time),
    /// One after the other, this far apart; the first at the first time.
    Every(Time, Time),
}

impl Scenario {
    /// Every class that is declared or that a group names.
    pub fn class_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.classes.keys().map(String::as_str).collect();
        for class in self.groups.values().filter_map(|group| group.class.as_deref()) {
            if !names.contains(&class) {
                names.push(class);
            }
        }
        names
    }
}

impl Group {
    /// Sizes of its data packets; `packet` is the scenario's.
    pub fn packet(&self, packet: Packet) -> Packet {
        self.packet.unwrap_or(packet)
    }

    /// The requirements of the law of its senders; `packet` is the scenario's.
    ///
    /// # Errors
    /// The reason why the law cannot run with these parameters; the reader has refused such a scenario.
    pub fn requirements(&self, packet: Packet) -> Result<cc::Requirements, String> {
        let (initial_window, initial_ssthresh) = (self.sender.initial_window, self.sender.initial_ssthresh);
        let site = cc::Context { packet: self.packet(packet).wire, initial_window, initial_ssthresh };
        Ok((self.cc.law.real)(&self.cc.values, &site)?.requirements())
    }

    /// The two-way propagation delay of each flow. Drawn delays come from the stream `flows.NAME/rtt`.
    pub fn rtts(&self, name: &str, seed: Seed) -> Vec<Time> {
        let n = self.count as usize;
        match &self.rtt {
            Rtt::Each(rtt) => vec![*rtt; n],
            Rtt::List(list) => list.clone(),
            Rtt::Spread(a, b) => {
                let step = if n > 1 { (b.0 as f64 - a.0 as f64) / (n - 1) as f64 } else { 0.0 };
                (0..n).map(|i| Time((a.0 as f64 + step * i as f64) as u64)).collect()
            }
            Rtt::Uniform(a, b) => draw(seed, &format!("flows.{name}/rtt"), n, *a, *b),
        }
    }

    /// Flows with which one browser loads pages; one where there are no pages.
    pub fn connections(&self) -> u32 {
        if let Some(Application::Page(page)) = &self.application { page.connections } else { 1 }
    }

    /// Whether its flows are connections that carry transfers in turns: few are busy at a time, so that shares and windows of
    /// single ones do not describe the group.
    pub fn takes_turns(&self) -> bool {
        matches!(self.repeats, Some(Repeats::Poisson(_))) || matches!(self.application, Some(Application::Page(_)))
    }

    /// Whether its data come in transfers.
    pub fn transfers(&self) -> bool {
        self.size.is_some() || self.application.is_some()
    }

    /// Whether all of it may be complete before the run is over.
    pub fn ends(&self) -> bool {
        self.size.is_some() && self.repeats.is_none()
    }

    /// When each flow starts; the connections of one browser start together. Drawn times come from the stream
    /// `flows.NAME/start`.
    pub fn starts(&self, name: &str, seed: Seed) -> Vec<Time> {
        let each = self.connections() as usize;
        let n = self.count as usize / each;
        let starts = match self.start {
            Start::At(t) => vec![t; n],
            Start::Every(first, gap) => (0..n as u64).map(|i| Time(first.0 + gap.0 * i)).collect(),
            Start::Uniform(a, b) => draw(seed, &format!("flows.{name}/start"), n, a, b),
        };
        if each == 1 { starts } else { starts.into_iter().flat_map(|start| vec![start; each]).collect() }
    }
}

fn draw(seed: Seed, stream: &str, n: usize, from: Time, to: Time) -> Vec<Time> {
    let mut stream = seed.stream(stream);
    (0..n).map(|_| Time(from.0 + (stream.unit() * (to.0 - from.0) as f64) as u64)).collect()
}
