//! A packet under way, and the two ways.

use penstock_law::conditioner::Colour;
use penstock_law::quantity::Time;
use penstock_scenario::model::EcnOnLine;

/// The way a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// From senders to receivers.
    #[default]
    There,
    /// From receivers to senders.
    Back,
}

impl Way {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::There, Self::Back];
}

/// A packet under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packet {
    /// The number of its burst, whatever the caller means by that.
    pub burst: u32,
    /// Its place in the burst.
    pub segment: u16,
    /// Links that it has crossed: counted here, whatever is said on entry.
    pub hops: u8,
    /// Its way.
    pub way: Way,
    /// The flow, counted over all groups in the order of the file.
    pub flow: u32,
    /// Size on the wire [B].
    pub bytes: u32,
    /// How long after it is taken to have arrived it was seen: by so much it comes out later than its links alone would have it,
    /// since it was perhaps not there before, and no round trip is to be shorter than the path's.
    pub unseen: Time,
    /// Its ECN field as it is now: 0 is Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// Whether it may be marked.
    pub markable: bool,
    /// Whether it asks for low latency: ECT(1) or CE (RFC 9331).
    pub low_latency: bool,
    /// Whether it carries user's data.
    pub data: bool,
    /// Whether it was marked on the way.
    pub marked: bool,
    /// What a conditioner made of it; none before one.
    pub colour: Option<Colour>,
}

impl Packet {
    /// It is marked.
    pub(super) fn mark(&mut self) {
        (self.marked, self.ecn) = (true, 3);
    }

    /// A line does to the ECN field what it does.
    pub(super) fn cross(&mut self, ecn: EcnOnLine) {
        self.ecn = match (ecn, self.ecn) {
            (EcnOnLine::Bleach, _) => 0,
            (EcnOnLine::EraseCe, 3) | (EcnOnLine::Ect0, 1) => 2,
            (_, field) => field,
        };
        self.marked &= self.ecn == 3;
        (self.markable, self.low_latency) = (self.ecn != 0, self.ecn & 1 == 1);
    }

    /// Whether it is what flows, classes and customers are counted by, and contracts are about: user's data on its way there.
    pub(super) fn of_customer(&self) -> bool {
        self.data && self.way == Way::There
    }
}

/// What queues go by that treat packets apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) class: u32,
    pub(super) hash: u32,
}
