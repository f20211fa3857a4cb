//! Conditioners: the laws of the ingress, where a customer's aggregate enters the network.
//!
//! A conditioner meters the aggregate against its contract and colours each packet (RFC 2475, section 2.3.3): green is
//! in profile, yellow and red are out of it, the three drop precedences of assured forwarding (RFC 2597). It neither
//! delays nor drops.

pub mod bucket;
pub mod early_marking;
pub mod srtcm;
pub mod token_bucket;
pub mod trtcm;

use core::convert::Infallible;

use crate::law::{Entry, Role};
use crate::number::Number;
use crate::numbers;
use crate::quantity::Bytes;

/// Every conditioner, in the order the docs show them.
// No constant: a crate that names one compiles every law again.
pub static CONDITIONERS: &[Entry<Conditioner>] =
    &[token_bucket::ENTRY, srtcm::ENTRY, trtcm::ENTRY, early_marking::ENTRY];

/// The role of a conditioner: it colours the packets of an aggregate by whether they are in profile.
#[derive(Debug, Clone, Copy)]
pub struct Conditioner;

impl Role for Conditioner {
    type Observation<N: Number> = Observation<N>;
    type Event = Event;
    type Output<N: Number> = Output<N>;
    type Context = Context;
    type Requirements = Requirements;
    type Detail = ();
    type Timing = ();
    type Packets = Infallible;
    const NOUN: &'static str = "conditioner";
}

/// The drop precedence of a packet, for a queue that treats precedences apart. A queue of one class drops red first and green last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Colour {
    /// Within the contract, or under none: low drop precedence, AFx1.
    #[default]
    Green,
    /// Beyond it, within the excess that is agreed: medium drop precedence, AFx2.
    Yellow,
    /// Beyond that: high drop precedence, AFx3.
    Red,
}

impl Colour {
    /// Every colour, from the one that is dropped last.
    pub const ALL: [Self; 3] = [Self::Green, Self::Yellow, Self::Red];

    /// The drop precedence: 0 is dropped last.
    pub const fn precedence(self) -> u8 {
        self as u8
    }

    /// The codepoint of the first class of assured forwarding: AF11, AF12, AF13 (RFC 2597, section 6).
    pub const fn dscp(self) -> u8 {
        match self {
            Self::Green => 0b00_1010,
            Self::Yellow => 0b00_1100,
            Self::Red => 0b00_1110,
        }
    }
}

/// The reason of a call to the conditioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A packet of the aggregate arrived; the host then draws at random.
    Arrival {
        /// Its size on the wire [B].
        bytes: u32,
    },
    /// Its result. Tokens are taken now, by green packets at least.
    Coloured {
        /// Its size on the wire [B].
        bytes: u32,
        /// The outcome of the random draw.
        colour: Colour,
    },
}

numbers! {
    /// The measurements of the host.
    pub struct Observation {
        /// Time since the start of the run.
        now_s: "s",
    }
}

numbers! {
    /// The output of a conditioner. The packet that arrived last is green with the remaining probability.
    pub struct Output {
        /// Probability that this packet is yellow.
        yellow: "1",
        /// Probability that this packet is red.
        red: "1",
        /// The present level of the committed rate's bucket.
        level: "B",
    }
}

impl Output<f64> {
    /// True if a host can act on it: all are numbers.
    pub fn is_sound(&self) -> bool {
        !(self.yellow.is_nan() || self.red.is_nan() || self.level.is_nan())
    }
}

impl<N: Number> Output<N> {
    /// The output without a random draw: the packet is `colour`.
    fn certain(colour: Colour, level: N) -> Self {
        let sure = |of| if colour == of { N::of(1.0) } else { N::of(0.0) };
        Self { yellow: sure(Colour::Yellow), red: sure(Colour::Red), level }
    }
}

/// The facts about the ingress when its conditioner is compiled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Context {
    /// The mean packet: a data packet on the wire.
    pub packet: Bytes,
}

/// The requirements of a conditioner: nothing but a call for each packet. The host reports the conditioner by these.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requirements {
    /// The committed rate of the contract [bit/s].
    pub committed_bit_per_s: f64,
    /// The bucket that the committed rate fills [B].
    pub bucket_bytes: f64,
}
