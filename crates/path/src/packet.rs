//! A packet in flight, and its direction.

use penstock_law::conditioner::Colour;
use penstock_law::quantity::Time;
use penstock_scenario::model::EcnOnLine;

/// The direction of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// From senders to receivers.
    #[default]
    Forward,
    /// From receivers to senders.
    Reverse,
}

impl Direction {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Reverse];
}

/// A packet in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packet {
    /// The number of its burst, whatever the caller means by that.
    pub burst: u32,
    /// Its index in the burst.
    pub segment: u16,
    /// Links that it has crossed: counted here, whatever the value on entry.
    pub hops: u8,
    /// Its direction.
    pub direction: Direction,
    /// The flow, counted over all groups in the order of the file.
    pub flow: u32,
    /// Size on the wire [B].
    pub bytes: u32,
    /// Time from its assumed arrival until it was read: by so much it comes out later than by its links alone,
    /// since it was perhaps not there before, and no round trip is to be shorter than the path's.
    pub unseen: Time,
    /// Its ECN field as it is now: 0 is Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// Whether it may be marked.
    pub markable: bool,
    /// Whether it requests low latency: ECT(1) or CE (RFC 9331).
    pub low_latency: bool,
    /// Whether it carries user's data.
    pub data: bool,
    /// Whether it was marked on the way.
    pub marked: bool,
    /// Colour set by a conditioner; none before one.
    pub colour: Option<Colour>,
}

impl Packet {
    /// It is marked.
    pub(super) fn mark(&mut self) {
        (self.marked, self.ecn) = (true, 3);
    }

    /// A line treats its ECN field.
    pub(super) fn cross(&mut self, ecn: EcnOnLine) {
        self.ecn = match (ecn, self.ecn) {
            (EcnOnLine::Bleach, _) => 0,
            (EcnOnLine::EraseCe, 3) | (EcnOnLine::Ect0, 1) => 2,
            (_, field) => field,
        };
        self.marked &= self.ecn == 3;
        (self.markable, self.low_latency) = (self.ecn != 0, self.ecn & 1 == 1);
    }

    /// Whether flows, classes and customers count it, and contracts cover it: user's data in the forward direction.
    pub(super) fn of_customer(&self) -> bool {
        self.data && self.direction == Direction::Forward
    }
}

/// Keys of queues that treat packets apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) class: u32,
    pub(super) hash: u32,
}
