//! Delay lines: what enters first leaves first, after a fixed delay. Only the head of a line is scheduled.

use penstock_link::Ring;

use crate::packet::Packet;

/// A delay line.
// As long as a line of the processor's cache, and aligned as one, so that all of it comes at once.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Line {
    /// The port whose far end this is.
    pub(crate) port: u32,
    /// From the port's near end to here [ps].
    pub(crate) delay: u64,
    /// Whether the port decides marks at departure, so that they are drawn here.
    pub(crate) marks: bool,
    /// Whose packet the head is, if there is one.
    pub(crate) flow: u32,
    /// What is under way.
    pub(crate) packets: Ring<Packet>,
}

impl Line {
    pub(crate) fn new(port: u32, delay: u64, marks: bool) -> Self {
        Self { port, delay, marks, flow: 0, packets: Ring::new() }
    }
}

const _: () = assert!(size_of::<Line>() == 64);
