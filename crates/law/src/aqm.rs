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
use core::convert::Infallible;

pub use fixed::InFixed;

use crate::conditioner::Colour;
use crate::law::{Entry, Role};
use crate::number::Number;
use crate::numbers;
use crate::quantity::{Bytes, Rate, Time};

/// Every AQM, in the order the docs show them.
// No constant: a crate that names one compiles every law again.
pub static AQMS: &[Entry<Aqm>] = &[
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
    type Packets = Infallible;
    const NOUN: &'static str = "AQM";
}

/// The events of a queue.
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
        /// True for ECT(1) or CE, which select the low-latency queue (RFC 9331).
        low_latency: bool,
    },
    /// The packet that arrived (or reached the head) last was marked, or dropped: by a random draw in place of a mark, or by a full
    /// buffer. With [`Requirements::overrules_marks`], the output then holds the probability that a packet due for a mark is
    /// dropped instead.
    Hit,
    /// A packet of the queue was dropped because the buffer was full. Only where [`Requirements::full`].
    Full,
    /// The law's period went by.
    Tick,
}

numbers! {
    /// The measurements of a queue's host.
    pub struct Observation {
        /// Packets waiting, without the one in transmission, in units of the mean packet where the law counts bytes. At
        /// [`Event::Departure`]: those behind the packet at the head, in its queue.
        queue: "packets",
        /// Arrivals since the last [`Event::Tick`], in units of the mean packet.
        arrived: "packets",
        /// The present capacity of the line.
        capacity: "packets/s",
        /// At [`Event::Departure`]: waiting time of the packet at the head. At [`Event::Tick`]: waiting time of the oldest
        /// waiting packet; zero if none waits.
        sojourn_s: "s",
        /// Time since the start of the run.
        now_s: "s",
        /// Green packets among those that wait. Only with [`Requirements::colours`].
        green: "packets",
        /// Yellow packets among those that wait. Only with [`Requirements::colours`].
        yellow: "packets",
        /// With [`Requirements::classes`], at [`Event::Tick`]: transmissions of this class begun since the last one, in units of
        /// the mean packet. Zero elsewhere.
        departed: "packets",
        /// As [`Observation::arrived`], of all classes together. Only with [`Requirements::classes`].
        all_arrived: "packets",
        /// As [`Observation::departed`], of all classes together.
        all_departed: "packets",
        /// Of [`Observation::all_arrived`], the part that the law's probabilities let in on average: `T O` summed over the classes.
        all_let_in: "packets",
    }
    frozen {
        /// The colour of the packet that arrived, or that is at the head. Only with [`Requirements::colours`].
        colour: Colour,
    }
}

impl<N: Number> Observation<N> {
    /// The observation before the first measurement: zero everywhere.
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
    /// The observation before the first measurement, as a constant.
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
    /// The output of a queue's law.
    pub struct Output {
        /// Probability that this packet is marked (or dropped, where it cannot be marked).
        probability: "1",
        /// The link's price, where the law has one.
        price_s: "s",
    }
}

impl Output<f64> {
    /// True if a host can act on it: both are numbers.
    pub fn is_sound(&self) -> bool {
        !self.probability.is_nan() && !self.price_s.is_nan()
    }
}

/// The facts about a queue when its law is compiled.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// The line's rate at the start of the run.
    pub rate: Rate,
    /// The line's own propagation delay.
    pub delay: Time,
    /// The mean packet: a data packet on the wire.
    pub packet: Bytes,
    /// The contract of each class of traffic on this line, for laws that treat classes apart ([`Requirements::classes`]);
    /// an instance's number is its index here. Empty where nothing is known of classes yet: such a law then compiles as if
    /// there were one without a contract.
    pub classes: Vec<Class>,
}

/// The contract of a class of traffic on a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Class {
    /// Its guaranteed rate; zero is no guarantee.
    pub floor: Rate,
    /// Its maximum rate; none is no bound.
    pub ceiling: Option<Rate>,
    /// The share of the whole that it is held to, in (0, 1), where it has one.
    pub share: Option<f64>,
}

impl Class {
    /// A class without guarantee, bound and share.
    pub const FREE: Self = Self { floor: Rate(0), ceiling: None, share: None };
}

impl Context {
    /// The capacity of the line [packets/s].
    pub fn packets_per_s(&self) -> f64 {
        self.rate.packets_per_s(self.packet)
    }
}

/// The requirements of an AQM: the measurements and services that its host provides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requirements {
    /// The period of [`Event::Tick`] [s].
    pub tick_s: Option<f64>,
    /// The moment of the random draw.
    pub decides: Decides,
    /// True: packets that can be marked are marked; false: they are dropped.
    pub marks: bool,
    /// True if a packet that was chosen for a mark may be dropped all the same: a second random draw decides, by the output
    /// after [`Event::Hit`]. If false, the output after a hit has no meaning for the packet.
    pub overrules_marks: bool,
    /// True: [`Observation::queue`] is in bytes over the mean packet; false: packets of every size count one.
    pub bytes: bool,
    /// True: a packet that arrives as another starts transmission finds that one still waiting; only for laws that
    /// decide on arrival.
    pub arrivals_first: bool,
    /// True: the line is idle from the start of the last packet's transmission, not from its end; only for laws that decide
    /// on arrival.
    pub idle_from_start: bool,
    /// Which of the packets waiting goes next.
    pub serve: Serve,
    /// True if the law treats packets by their colour, the drop precedence that a conditioner gave them.
    pub colours: bool,
    /// True if each class of traffic has an instance of the law, all over one queue.
    pub classes: bool,
    /// True if a full buffer raises [`Event::Full`]; only for laws that decide at the head.
    pub full: bool,
}

impl Requirements {
    /// The requirements of a law that never decides anything.
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
    /// The scenario's scheduler.
    Scheduler,
    /// Deficit round robin over queues that flows are hashed to, a queue that was empty first, each with an instance of
    /// the law (RFC 8290).
    PerFlow {
        /// The number of queues.
        queues: u32,
        /// The bytes that a queue may send a turn.
        quantum: Bytes,
    },
    /// Two queues under one instance of the law, one for low-latency packets (RFC 9332). Weighted round robin, so
    /// that the classic queue gets at least its share where both have packets.
    Coupled {
        /// Share of the line, in (0, 1).
        classic: f64,
    },
}

/// The moment at which an AQM's random draw is made for a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decides {
    /// Never.
    Never,
    /// At the head of its queue, by [`Output::probability`] after [`Event::Departure`]; a drop there frees buffer for
    /// the next packet.
    AtHead,
    /// On arrival, by [`Output::probability`] after [`Event::Arrival`].
    OnArrival,
    /// On departure, by the probability in force then. The law's state changes at ticks only: [`Event::Departure`] is not
    /// raised. A law that requires this event has [`Decides::AtHead`].
    OnDeparture,
}
