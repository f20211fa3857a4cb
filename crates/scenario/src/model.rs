//! A resolved scenario: every default filled in, every unit converted, every name looked up.

use indexmap::IndexMap;
use penstock_law::aqm::Queue;
use penstock_law::cc::Sender;
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Entry, Role, Values};

use crate::seed::Seed;

/// A scenario, ready to run in any world.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// One line for people.
    pub title: String,
    /// How long it runs.
    pub duration: Time,
    /// What the summary leaves out at the start.
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
}

/// Sizes of packets on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// A full data packet, headers included.
    pub wire: Bytes,
    /// What of it is the user's data.
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
    /// Its rate.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Time,
    /// How much may wait.
    pub buffer: Buffer,
    /// The law of its queue.
    pub aqm: Chosen<Queue>,
    /// Probability that a packet is lost on the line, independent of all others.
    pub loss: f64,
}

/// How much may wait for a line. The packet in transmission has left the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// As much as there is.
    Unlimited,
    /// So many packets of any size.
    Packets(u64),
    /// So many bytes.
    Bytes(Bytes),
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

/// Flows that share everything but their round-trip time and start.
#[derive(Debug, Clone)]
pub struct Group {
    /// How many.
    pub count: u32,
    /// Node of the senders.
    pub from: String,
    /// Node of the receivers.
    pub to: String,
    /// Names of the links that data cross, in order.
    pub forward: Vec<String>,
    /// Names of the links that acknowledgements cross, in order; a pair of nodes without a way back has an ideal one.
    pub backward: Vec<String>,
    /// Two-way propagation delay of each flow; what the links do not account for is private to the flow, behind its
    /// last link.
    pub rtt: Rtt,
    /// The law of its senders.
    pub cc: Chosen<Sender>,
    /// When its flows start.
    pub start: Start,
    /// When its flows stop sending new data; none is the end of the run.
    pub stop: Option<Time>,
    /// How much each flow sends; none is without end.
    pub size: Option<Bytes>,
    /// Whether each flow has series of its own.
    pub series: bool,
    /// How senders and receivers behave besides the law.
    pub sender: SenderOptions,
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

/// Which segments are sent again, and when recovery ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// Selective acknowledgements (RFC 6675), by order of transmission as in RFC 9002.
    Sack,
    /// RFC 6582.
    NewReno,
}

/// How the receiver tells of congestion marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnEcho {
    /// Each acknowledgement says which of its packets were marked.
    PerPacket,
    /// Every acknowledgement echoes from a mark until the sender says it has reduced its window (RFC 3168).
    Classic,
}

/// When packets leave within the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// At the gap the law says; a law that says none is clocked by acknowledgements.
    Law,
    /// Clocked by acknowledgements whatever the law says.
    Off,
}

/// The numbers a law computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `f64`.
    Real,
    /// 64-bit fixed point with 32 binary digits: exactly what the kernel computes.
    Fixed,
}

/// How senders and receivers behave besides the law.
#[derive(Debug, Clone, PartialEq)]
pub struct SenderOptions {
    /// Window at the start [packets].
    pub initial_window: f64,
    /// Where slow start ends before the first congestion event [packets]; infinite if it does not.
    pub initial_ssthresh: f64,
    /// Packets in flight at most, whatever the law says [packets]; infinite if the receiver takes all.
    pub receive_window: f64,
    /// Least retransmission timeout (RFC 6298 says 1 s, systems 0.2 s).
    pub min_rto: Time,
    /// Which segments are sent again.
    pub recovery: Recovery,
    /// Packets an acknowledgement waits for: 1 or 2.
    pub delayed_ack: u32,
    /// How marks are told.
    pub ecn_echo: EcnEcho,
    /// When packets leave within the window.
    pub pacing: Pacing,
    /// The numbers the law computes with.
    pub arithmetic: Arithmetic,
}

impl Group {
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

    /// When each flow starts. Drawn times come from the stream `flows.NAME/start`.
    pub fn starts(&self, name: &str, seed: Seed) -> Vec<Time> {
        let n = self.count as usize;
        match self.start {
            Start::At(t) => vec![t; n],
            Start::Every(first, gap) => (0..n as u64).map(|i| Time(first.0 + gap.0 * i)).collect(),
            Start::Uniform(a, b) => draw(seed, &format!("flows.{name}/start"), n, a, b),
        }
    }
}

fn draw(seed: Seed, stream: &str, n: usize, from: Time, to: Time) -> Vec<Time> {
    let mut stream = seed.stream(stream);
    (0..n).map(|_| Time(from.0 + (stream.unit() * (to.0 - from.0) as f64) as u64)).collect()
}
