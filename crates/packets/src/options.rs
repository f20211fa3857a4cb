//! Options of acknowledgements beyond the 32 bytes of a packet: blocks of selective acknowledgements (RFC 2018)
//! and accurate ECN (RFC 9768). An acknowledgement carries a number, and its options wait here until it arrives.
//!
//! A receiver keeps those under way, and a little more, since acknowledgements may overtake one another. One that
//! [`KEPT`] others have overtaken has no more than its cumulative number.

use crate::packet::expand;

/// The most blocks (RFC 2018, section 3).
pub(crate) const BLOCKS: usize = 4;
/// Acknowledgements that may overtake another before its options are forgotten.
const KEPT: u64 = 64;
/// Options of a TCP header, and the part that timestamps take of them [B] (RFC 9293, section 3.1; RFC 7323, appendix A).
const OPTIONS: u32 = 40;
const STAMPS: u32 = 12;

/// Bytes that arrived with each codepoint, modulo 2^24: r.e0b, r.ceb and r.e1b of RFC 9768.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) ect0: u32,
    pub(crate) ce: u32,
    pub(crate) ect1: u32,
}

/// The options of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    /// The low half of its number.
    number: u32,
    /// Blocks beyond the first segment lacking, the newest first: the first segment of each, and one past the last.
    blocks: [(u32, u32); BLOCKS],
    pub(crate) count: u8,
    /// The ACE field, of accurate ECN.
    pub(crate) ace: u8,
    /// The AccECN Option, where there is one.
    pub(crate) counters: Option<Counters>,
}

impl Options {
    /// None.
    pub(crate) const NONE: Self = Self { number: u32::MAX, blocks: [(0, 0); BLOCKS], count: 0, ace: 0, counters: None };

    /// One more block, if it fits.
    pub(crate) fn push(&mut self, (from, end): (u64, u64)) {
        if let Some(place) = self.blocks.get_mut(usize::from(self.count)) {
            *place = (from as u32, end as u32);
            self.count += 1;
        }
    }

    /// The blocks of an acknowledgement below `next`.
    pub(crate) fn blocks(&self, next: u64) -> impl Iterator<Item = (u64, u64)> {
        let Self { blocks, count, .. } = *self;
        blocks.into_iter().take(usize::from(count)).map(move |(from, end)| (expand(next, from), expand(next, end)))
    }
}

/// Whether an AccECN Option with the counter of marked bytes fits beside so many blocks. `most` is the most
/// blocks that an acknowledgement may have: four fit where there are no timestamps. The option takes eight bytes
/// with two of its counters, the second of which is that of marked bytes (RFC 9768, section 3.2.3).
pub(crate) fn has_place(blocks: u32, most: u32) -> bool {
    let stamps = if most < BLOCKS as u32 { STAMPS } else { 0 };
    let selective = if blocks > 0 { 4 + 8 * blocks } else { 0 };
    stamps + selective + 8 <= OPTIONS
}

/// The options of a flow's acknowledgements under way.
#[derive(Debug, Default)]
pub(crate) struct UnderWay {
    ring: Vec<Options>,
    /// The number of the next.
    next: u64,
    /// One past the latest that the sender has processed.
    heard: u64,
    /// The first of this connection.
    first: u64,
}

impl UnderWay {
    /// An acknowledgement will carry this; returns its number.
    pub(crate) fn push(&mut self, options: &Options) -> u32 {
        if self.next - self.kept() == self.ring.len() as u64 {
            self.grow();
        }
        let (number, at) = (self.next as u32, self.slot(self.next));
        let place = &mut self.ring[at];
        // Most acknowledgements have no blocks, and those of an older one are not looked at then.
        if options.count > 0 {
            place.blocks = options.blocks;
        }
        (place.number, place.count, place.ace, place.counters) = (number, options.count, options.ace, options.counters);
        self.next += 1;
        number
    }

    /// The acknowledgement with that number reaches its sender: its options, unless they are forgotten or of another
    /// connection, and whether it is newer than all before.
    #[inline]
    pub(crate) fn hear(&mut self, number: u32) -> Option<(&Options, bool)> {
        let which = self.under_way(number)?;
        let newer = which >= self.heard;
        self.heard = self.heard.max(which + 1);
        Some((&self.ring[self.slot(which)], newer))
    }

    /// The options of the acknowledgement with that number.
    pub(crate) fn look(&self, number: u32) -> Option<&Options> {
        self.under_way(number).map(|which| &self.ring[self.slot(which)])
    }

    /// The number in full, unless that acknowledgement is forgotten or of another connection.
    #[inline]
    fn under_way(&self, number: u32) -> Option<u64> {
        let which = expand(self.next, number);
        let there = which >= self.first && which < self.next && self.next - which <= self.ring.len() as u64;
        (there && self.ring[self.slot(which)].number == number).then_some(which)
    }

    /// Another connection begins: acknowledgements under way belong to none.
    pub(crate) fn restart(&mut self) {
        (self.first, self.heard) = (self.next, self.next);
    }

    /// The oldest that is still needed.
    fn kept(&self) -> u64 {
        self.heard.saturating_sub(KEPT).max(self.first)
    }

    fn slot(&self, which: u64) -> usize {
        which as usize & (self.ring.len() - 1)
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = vec![Options::NONE; (self.ring.len() * 2).max(4)];
        let mask = ring.len() - 1;
        for which in self.kept()..self.next {
            ring[which as usize & mask] = self.ring[self.slot(which)];
        }
        self.ring = ring;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(ace: u8) -> Options {
        Options { ace, ..Options::NONE }
    }

    /// Options under way are found, in any order; those that 64 others have overtaken are not, and nothing grows without bound.
    #[test]
    fn what_is_under_way_is_kept() {
        let mut under_way = UnderWay::default();
        let numbers: Vec<u32> = (0..200).map(|n| under_way.push(&with(n as u8 & 7))).collect();
        assert_eq!(under_way.hear(numbers[10]).map(|(o, newer)| (o.ace, newer)), Some((2, true)));
        assert_eq!(under_way.hear(numbers[9]).map(|(o, newer)| (o.ace, newer)), Some((1, false)));
        for n in 200..10_000u32 {
            let number = under_way.push(&with(n as u8 & 7));
            assert_eq!(under_way.hear(number).map(|(o, newer)| (o.ace, newer)), Some((n as u8 & 7, true)));
        }
        assert_eq!(under_way.hear(numbers[20]), None);
        assert_eq!(under_way.ring.len(), 256);
    }

    /// Acknowledgements of a connection that is over have no options.
    #[test]
    fn a_connection_ends_what_is_under_way() {
        let mut under_way = UnderWay::default();
        let old = under_way.push(&with(1));
        under_way.restart();
        let new = under_way.push(&with(2));
        assert_eq!(under_way.hear(old), None);
        assert_eq!(under_way.hear(new).map(|(o, _)| o.ace), Some(2));
    }

    /// RFC 9768, section 3.2.3, and RFC 2018, section 3: 40 B hold timestamps, two blocks and two counters, or three blocks.
    #[test]
    fn the_option_gives_way_to_a_third_block() {
        assert_eq!([0, 1, 2, 3].map(|blocks| has_place(blocks, 3)), [true, true, true, false]);
        assert_eq!([2, 3, 4].map(|blocks| has_place(blocks, 4)), [true, true, false]);
    }
}
