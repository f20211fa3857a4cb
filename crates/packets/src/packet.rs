//! A packet: 32 bytes by value.

use penstock_law::conditioner::Colour;

/// A packet under way. Sequence and transmission numbers are the low 32 bits of a flow's 64-bit ones.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Packet {
    /// When it reaches the end of the line it is on [ps].
    pub(crate) at: u64,
    /// Given when scheduled; the earlier one goes first where times are equal.
    pub(crate) stamp: u32,
    /// The flow it belongs to.
    pub(crate) flow: u32,
    /// Data: its segment. Acknowledgement: the first segment the receiver lacks.
    pub(crate) seq: u32,
    /// Data: which transmission of the flow this is. Acknowledgement: that of the packet that caused it.
    pub(crate) tx: u32,
    /// Acknowledgement with [`SACK`]: the first segment of the block that the causing packet belongs to. Data: in the lowest
    /// two bits one more than the drop precedence that a conditioner gave it, zero where there was none; above them when it
    /// was sent, where the group has stamps.
    pub(crate) from: u32,
    /// Bytes on the wire.
    pub(crate) size: u16,
    pub(crate) flags: u8,
    /// Links crossed.
    pub(crate) hop: u8,
}

// With its record of 16 bytes at the sender, and 16 in a queue while it waits, a packet in flight takes 64 at the most.
const _: () = assert!(size_of::<Packet>() == 32);

/// It is an acknowledgement.
pub(crate) const ACK: u8 = 1;
/// It may be marked.
pub(crate) const ECT: u8 = 2;
/// Congestion experienced.
pub(crate) const CE: u8 = 4;
/// Echo of a mark.
pub(crate) const ECE: u8 = 8;
/// Congestion window reduced.
pub(crate) const CWR: u8 = 16;
/// It reports a block of segments beyond the first one lacking.
pub(crate) const SACK: u8 = 32;
/// Of data: a copy that a link has made.
pub(crate) const COPY: u8 = SACK;
/// Of an acknowledgement: the receiver had the segment before (RFC 2883).
pub(crate) const DUPLICATE: u8 = 128;
/// Of a packet without data: SYN. And SYN-ACK, which acknowledges no data. Captures show neither.
pub(crate) const SYN: u8 = 128;
pub(crate) const SYN_ACK: u8 = CWR;
/// Of data: the last segment of a connection that is closed after it.
pub(crate) const FIN: u8 = ECE;
/// It requests the low-latency queue: ECT(1) (RFC 9331).
pub(crate) const LOW: u8 = 64;

impl Packet {
    pub(crate) fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The colour set by a conditioner; none before one, and none of acknowledgements, which are under no contract.
    pub(crate) fn painted(&self) -> Option<Colour> {
        if self.is(ACK) { None } else { Colour::ALL.get((self.from as usize & 3).wrapping_sub(1)).copied() }
    }

    /// Its colour for a queue.
    pub(crate) fn colour(&self) -> Colour {
        self.painted().unwrap_or_default()
    }

    /// A conditioner has coloured it. It is data.
    pub(crate) fn paint(&mut self, colour: Colour) {
        self.from = (self.from & !3) | (u32::from(colour.precedence()) + 1);
    }

    /// It is data, and carries its time of sending, in 30 bits.
    pub(crate) fn stamp(&mut self, stamp: u32) {
        self.from = (self.from & 3) | (stamp << 2);
    }

    /// Its time of sending, as it carries it; it is data.
    pub(crate) fn stamped(&self) -> u32 {
        self.from >> 2
    }

    /// A key unique to the packet on a link: its flow, by the keys of flows, which transmission (4 10^9 later
    /// they repeat), and whether it is the data or the acknowledgement.
    #[inline]
    pub(crate) fn identity(&self, keys: &[u64]) -> u64 {
        keys[self.flow as usize].wrapping_add(u64::from(self.tx)) ^ (u64::from(self.flags & ACK) << 63)
    }
}

/// The 64-bit number whose low half is `low` and that lies nearest to `near`.
#[inline]
pub(crate) fn expand(near: u64, low: u32) -> u64 {
    near.wrapping_add_signed(i64::from(low.wrapping_sub(near as u32) as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conditioner's colour is that of data only: an acknowledgement has a segment's number in the same field.
    #[test]
    fn data_are_painted() {
        let mut packet = Packet::default();
        assert_eq!((packet.painted(), packet.colour()), (None, Colour::Green));
        for colour in Colour::ALL {
            packet.paint(colour);
            assert_eq!((packet.painted(), packet.colour()), (Some(colour), colour));
            packet.stamp((1 << 30) - 1 - u32::from(colour.precedence()));
            assert_eq!(
                (packet.painted(), packet.stamped() ^ ((1 << 30) - 1)),
                (Some(colour), colour.precedence().into())
            );
            assert_eq!(Packet { flags: ACK | SACK, ..packet }.painted(), None);
        }
    }

    #[test]
    fn numbers_survive_the_wrap_of_their_low_half() {
        for near in [0u64, 5, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 40) + 7] {
            for off in [0i64, 1, -1, 1000, -1000, 1 << 30, -(1 << 30)] {
                if let Some(x) = near.checked_add_signed(off) {
                    assert_eq!(expand(near, x as u32), x);
                }
            }
        }
    }
}
