//! A flow's own way into the network, with the packets on it.

use penstock_law::quantity::Time;

use crate::flow::NONE;
use crate::line::Line;

/// The way of a flow's data, or of its acknowledgements, to its first link; its conditioner stands here too.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Where packets are meanwhile.
    pub(crate) line: Line,
    way: penstock_link::Entry,
}

impl Entry {
    pub(crate) fn new(way: penstock_link::Entry) -> Self {
        Self { line: Line::new(NONE, 0, 0), way }
    }

    /// Until when its sender is to keep a packet of `bytes` [ps]; none if it may go now.
    pub(crate) fn held_until(&self, now: u64, bytes: u32) -> Option<u64> {
        self.way.held_until(Time(now), bytes).map(|time| time.0)
    }

    /// When a packet of `bytes` offered at `now` comes out [ps]; none if there is no space for it.
    pub(crate) fn pass(&mut self, now: u64, bytes: u32) -> Option<u64> {
        self.way.pass(Time(now), bytes).map(|time| time.0)
    }
}
