//! Delay lines: first in, first out, after a fixed delay. Only the head of a line is scheduled.

use penstock_link::Ring;

use crate::agenda::Agenda;
use crate::packet::Packet;

/// The port decides marks at departure, so that they are drawn at the end of its line.
pub(crate) const MARKS: u8 = 1;
/// The line changes the ECN field.
pub(crate) const ECN: u8 = 2;

/// With [`MARKS`]: the line has [`Elements`](crate::elements::Elements), which know when a packet left the port.
pub(crate) const APART: u8 = 4;

/// Where packets come late, each line has one for them so many numbers after it.
pub(crate) const LATE: u32 = 1;

/// A delay line.
// As long as a line of the processor's cache, and aligned as one, so that all of it comes at once.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Line {
    /// The port whose far end this is.
    pub(crate) port: u32,
    /// From the port's near end to here [ps].
    pub(crate) delay: u64,
    /// Decisions made here about packets that come out: [`MARKS`], [`ECN`], [`APART`].
    pub(crate) decides: u8,
    /// Whose packet the head is, if there is one.
    pub(crate) flow: u32,
    /// Packets under way.
    pub(crate) packets: Ring<Packet>,
}

impl Line {
    pub(crate) fn new(port: u32, delay: u64, decides: u8) -> Self {
        Self { port, delay, decides, flow: 0, packets: Ring::new() }
    }
}

const _: () = assert!(size_of::<Line>() == 64);

/// Puts a packet on a line; schedules it if it is the head.
#[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
#[inline(always)]
pub(crate) fn push(mut packet: Packet, number: u32, line: &mut Line, agenda: &mut Agenda) {
    packet.stamp = agenda.stamp();
    if line.packets.push(packet) {
        line.flow = packet.flow;
        agenda.schedule(number, packet.at, packet.stamp);
    }
}
