//! AQMs: the laws of queues.

mod aimd;
pub mod avq;
pub mod bat;
pub mod clcc;
mod cobalt;
mod codel;
mod droptail;
mod dualpi2;
mod fixed;
mod fq_codel;
mod fq_pie;
mod pi;
mod pi2;
mod pie;
pub mod price;
mod ramp;
pub mod red;
mod rem;
mod wred;

use alloc::vec::Vec;

pub use fixed::InFixed;

use crate::conditioner::Colour;
use crate::law::{Entry, Role};
use crate::number::Number;
use crate::numbers;
use crate::quantity::{Bytes, Rate, Time};

/// Every AQM, in the order the docs show them.
pub const AQMS: &[Entry<Aqm>] = &[
    droptail::ENTRY,
    red::ENTRY,
    pi::ENTRY,
    avq::ENTRY,
    price::ENTRY,
    rem::ENTRY,
    codel::ENTRY,
    fq_codel::ENTRY,
    cobalt::ENTRY,
    pie::ENTRY,
    fq_pie::ENTRY,
    pi2::ENTRY,
    dualpi2::ENTRY,
    ramp::ENTRY,
    wred::ENTRY,
    bat::ENTRY,
    aimd::ENTRY,
    clcc::ENTRY,
];

/// The role of a queue's law: it decides pass, mark or drop.
#[derive(Debug, Clone, Copy)]
pub struct Aqm;

impl Role for Aqm {
    type Observation<N: Number> = Observation<N>;
    type Event = Event;
    type Output<N: Number> = Output<N>;
    type Context = Context;
    type Requirements = Requirements;
    type Detail = ();
    type Timing = ();
    const NOUN: &'static str = "AQM";
}

/// What happened to a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A packet arrived, before it is queued or refused. Only where [`Decides::OnArrival`].
    Arrival {
        /// Its size on the wire [B].
        bytes: u32,
        /// Mean packets that the line could have carried while it stood idle before, whole ones only [packets].
        idle: u32,
    },
    /// A packet has reached the head of its queue and the line is free for it. Only where [`Decides::AtHead`].
    Departure {
        /// Whether it asked for the low-latency queue, ECT(1) or CE (RFC 9331).
        low_latency: bool,
    },
    /// The packet that arrived (or reached the head) last was marked, or dropped: by the coin in place of a mark, or by
    /// a full buffer. Where [`Requirements::overrules_marks`], the law then says with which probability a packet that would be
    /// marked is dropped instead.
    Hit,
    /// A packet of the queue was dropped because the buffer was full. Only where [`Requirements::full`].
    Full,
    /// The law's period went by.
    Tick,
}

numbers! {
    /// What a queue's host has measured.
    pub struct Observation {
        /// Packets waiting, without the one in transmission, in units of the mean packet where the law counts bytes. At
        /// [`Event::Departure`]: those behind the packet at the head, in its queue.
        queue: "packets",
        /// Arrivals since the last [`Event::Tick`], in units of the mean packet.
        arrived: "packets",
        /// What the line can carry now.
        capacity: "packets/s",
        /// At [`Event::Departure`]: how long the packet has waited. At [`Event::Tick`]: how long the oldest one waiting
        /// has, zero where none waits.
        sojourn_s: "s",
        /// Time since the start of the run.
        now_s: "s",
        /// Green packets among those that wait. Where [`Requirements::colours`] only.
        green: "packets",
        /// Yellow ones. Where [`Requirements::colours`] only.
        yellow: "packets",
        /// Where [`Requirements::classes`], at [`Event::Tick`]: transmissions of this class begun since the last one, in units of
        /// the mean packet. Zero elsewhere.
        departed: "packets",
        /// As [`Observation::arrived`], of all classes together. Where [`Requirements::classes`] only.
        all_arrived: "packets",
        /// As [`Observation::departed`], of all classes together.
        all_departed: "packets",
        /// Of [`Observation::all_arrived`], what the law's probabilities let in on average: `T O` summed over the classes.
        all_let_in: "packets",
    }
    frozen {
        /// What the packet is that arrived, or that is at the head. Where [`Requirements::colours`] only.
        colour: Colour,
    }
}

impl<N: Number> Observation<N> {
    /// What is measured before anything is: zero everywhere.
    pub fn zero() -> Self {
        let zero = N::of(0.0);
        Self {
            queue: zero,
            arrived: zero,
            capacity: zero,
            sojourn_s: zero,
            now_s: zero,
            green: zero,
            yellow: zero,
            colour: Colour::Green,
            departed: zero,
            all_arrived: zero,
            all_departed: zero,
            all_let_in: zero,
        }
    }
}

impl Observation<f64> {
    /// What is measured before anything is, where a constant is needed.
    pub const ZERO: Self = Self {
        queue: 0.0,
        arrived: 0.0,
        capacity: 0.0,
        sojourn_s: 0.0,
        now_s: 0.0,
        green: 0.0,
        yellow: 0.0,
        colour: Colour::Green,
        departed: 0.0,
        all_arrived: 0.0,
        all_departed: 0.0,
        all_let_in: 0.0,
    };
}

numbers! {
    /// What a queue's law says.
    pub struct Output {
        /// Probability that this packet is marked (or dropped, where it cannot be marked).
        probability: "1",
        /// The link's price, where the law has one.
        price_s: "s",
    }
}

impl Output<f64> {
    /// Whether a host can act on it: both are numbers.
    pub fn is_sound(&self) -> bool {
        !self.probability.is_nan() && !self.price_s.is_nan()
    }
}

/// What is known of a queue when its law is compiled.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// The line's rate at the start of the run.
    pub rate: Rate,
    /// The line's own propagation delay.
    pub delay: Time,
    /// The mean packet: a data packet on the wire.
    pub packet: Bytes,
    /// What each class of traffic may ask of this line, for laws that treat classes apart ([`Requirements::classes`]); the
    /// number of an instance is its place here. Empty where nothing is known of classes yet: such a law then compiles
    /// as if there were one without a contract.
    pub classes: Vec<Class>,
}

/// What a class of traffic may ask of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Class {
    /// What it shall have at least; zero is no guarantee.
    pub floor: Rate,
    /// What it may have at most; none is no bound.
    pub ceiling: Option<Rate>,
    /// The share of the whole that it is held to, in (0, 1), where it has one.
    pub share: Option<f64>,
}

impl Class {
    /// A class without guarantee, bound and share.
    pub const FREE: Self = Self { floor: Rate(0), ceiling: None, share: None };
}

impl Context {
    /// What the line carries [packets/s].
    pub fn packets_per_s(&self) -> f64 {
        self.rate.packets_per_s(self.packet)
    }
}

/// What an AQM asks of its host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requirements {
    /// The period of [`Event::Tick`] [s].
    pub tick_s: Option<f64>,
    /// When the coin is tossed.
    pub decides: Decides,
    /// Whether packets that can be marked are marked; if not, they are dropped.
    pub marks: bool,
    /// Whether what the coin chose for a mark may have to be dropped all the same: with the probability that the law says
    /// after [`Event::Hit`], by a second coin. Where not, what a law says after a hit has no meaning for the packet.
    pub overrules_marks: bool,
    /// Whether [`Observation::queue`] is measured in bytes over the mean packet; if not, packets of every size count one.
    pub bytes: bool,
    /// Whether a packet that arrives as another starts transmission finds that one still waiting; only where the law
    /// decides on arrival.
    pub arrivals_first: bool,
    /// Whether the line counts as idle from when the last packet began its transmission, not from its end; only where the law
    /// decides on arrival.
    pub idle_from_start: bool,
    /// Which of the packets waiting goes next.
    pub serve: Serve,
    /// Whether the law treats packets by their colour, the drop precedence that a conditioner gave them.
    pub colours: bool,
    /// Whether each class of traffic has an instance of the law, all over one queue.
    pub classes: bool,
    /// Whether it hears of a full buffer, by [`Event::Full`]; only where the law decides at the head.
    pub full: bool,
}

impl Requirements {
    /// What a law asks for that never decides anything.
    pub const LEAST: Self = Self {
        tick_s: None,
        decides: Decides::Never,
        marks: false,
        overrules_marks: false,
        bytes: false,
        arrivals_first: false,
        idle_from_start: false,
        serve: Serve::Scheduler,
        colours: false,
        classes: false,
        full: false,
    };
}

/// Which of the packets waiting goes next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Serve {
    /// What the scenario's scheduler says.
    Scheduler,
    /// Deficit round robin over queues that flows are hashed to, a queue that was empty first, each with an instance of
    /// the law (RFC 8290).
    PerFlow {
        /// How many queues.
        queues: u32,
        /// What a queue may send a turn.
        quantum: Bytes,
    },
    /// Two queues under one instance of the law, one for packets that ask for low latency (RFC 9332). Weighted round
    /// robin, so that the classic queue gets at least its share where both have packets.
    Coupled {
        /// Share of the line, in (0, 1).
        classic: f64,
    },
}

/// When an AQM's coin is tossed for a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decides {
    /// Never.
    Never,
    /// When it reaches the head of its queue, by [`Output::probability`] after [`Event::Departure`]; a packet dropped
    /// there makes room for the next.
    AtHead,
    /// When it arrives, by [`Output::probability`] after [`Event::Arrival`].
    OnArrival,
    /// When it leaves, by the probability in force then. The law's state changes at ticks only.
    OnDeparture,
}
