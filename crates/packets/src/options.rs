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
///
/// Most acknowledgements have none. Those have a number too, but no slot in the ring, which has memory only once there are
/// options.
#[derive(Debug, Default)]
pub(crate) struct UnderWay {
    /// The number of the next.
    next: u64,
    /// One past the latest that the sender has processed.
    heard: u64,
    /// The first of this connection.
    first: u64,
    /// One past the latest with options.
    told: u64,
    /// Acknowledgements that are kept: the slots that the ring has, or will have once there are options. Those before
    /// `floor` were forgotten when it grew.
    capacity: u64,
    floor: u64,
    ring: Vec<Options>,
}

impl UnderWay {
    /// An acknowledgement will carry this; returns its number.
    pub(crate) fn push(&mut self, options: &Options) -> u32 {
        let number = self.pass();
        self.told = self.next;
        if self.ring.len() as u64 != self.capacity {
            self.grow();
        }
        let at = self.slot(self.told - 1);
        let place = &mut self.ring[at];
        // Without blocks those of an older one are not looked at.
        if options.count > 0 {
            place.blocks = options.blocks;
        }
        (place.number, place.count, place.ace, place.counters) = (number, options.count, options.ace, options.counters);
        number
    }

    /// An acknowledgement will have none; returns its number.
    #[inline]
    pub(crate) fn pass(&mut self) -> u32 {
        if self.next - self.kept() == self.capacity {
            (self.floor, self.capacity) = (self.kept(), (self.capacity * 2).max(4));
        }
        let number = self.next as u32;
        self.next += 1;
        number
    }

    /// The acknowledgement with that number reaches its sender. True if it is known, by its number, to have no options.
    #[inline]
    pub(crate) fn hear_none(&mut self, number: u32) -> bool {
        let which = expand(self.next, number);
        let none = which >= self.told.max(self.first) && which < self.next;
        if none {
            self.heard = self.heard.max(which + 1);
        }
        none
    }

    /// The acknowledgement with that number reaches its sender: its options, unless it has none or they are forgotten, and
    /// whether it is newer than all before. Nothing if it is of another connection.
    pub(crate) fn hear(&mut self, number: u32) -> Option<(Option<&Options>, bool)> {
        let which = expand(self.next, number);
        if which < self.first || which >= self.next {
            return None;
        }
        let newer = which >= self.heard;
        self.heard = self.heard.max(which + 1);
        Some((self.look(number), newer))
    }

    /// The options of the acknowledgement with that number, unless it has none, or they are forgotten or of another connection.
    pub(crate) fn look(&self, number: u32) -> Option<&Options> {
        let which = expand(self.next, number);
        let there = which >= self.first.max(self.floor) && which < self.told && self.next - which <= self.capacity;
        let options = self.ring.get(self.slot(there.then_some(which)?))?;
        (options.number == number).then_some(options)
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
        let mut ring = vec![Options::NONE; self.capacity as usize];
        let mask = ring.len() - 1;
        if !self.ring.is_empty() {
            for which in self.kept()..self.next {
                if let Some(options) = self.look(which as u32) {
                    ring[which as usize & mask] = *options;
                }
            }
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
        let hear = |under_way: &mut UnderWay, number: u32| {
            under_way.hear(number).map(|(options, newer)| (options.map(|options| options.ace), newer))
        };
        assert_eq!(hear(&mut under_way, numbers[10]), Some((Some(2), true)));
        assert_eq!(hear(&mut under_way, numbers[9]), Some((Some(1), false)));
        for n in 200..10_000u32 {
            let number = under_way.push(&with(n as u8 & 7));
            assert_eq!(hear(&mut under_way, number), Some((Some(n as u8 & 7), true)));
        }
        assert_eq!(hear(&mut under_way, numbers[20]), Some((None, false)));
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
        assert_eq!(under_way.hear(new).and_then(|(o, _)| o).map(|o| o.ace), Some(2));
    }

    /// Acknowledgements without options count as they pass, and those with options are found among them. Nothing has
    /// memory before there are options.
    #[test]
    fn most_acknowledgements_have_no_options() {
        let mut under_way = UnderWay::default();
        let numbers: Vec<u32> = (0..300).map(|_| under_way.pass()).collect();
        assert!(numbers[..100].iter().all(|number| under_way.hear_none(*number)));
        assert_eq!(under_way.ring.len(), 0);
        let told = under_way.push(&with(3));
        let later = under_way.pass();
        assert!(!under_way.hear_none(numbers[200]) && !under_way.hear_none(told), "their numbers do not say so");
        assert_eq!(under_way.hear(numbers[200]), Some((None, true)));
        assert_eq!(under_way.hear(numbers[150]), Some((None, false)));
        assert!(under_way.hear_none(later), "it comes before the one with options");
        assert_eq!(under_way.hear(told).map(|(o, newer)| (o.unwrap().ace, newer)), Some((3, false)));
        for _ in 0..1000 {
            let number = under_way.pass();
            assert!(under_way.hear_none(number));
        }
        assert_eq!(under_way.look(told), None, "forgotten, though nothing has taken its place");
    }

    /// RFC 9768, section 3.2.3, and RFC 2018, section 3: 40 B hold timestamps, two blocks and two counters, or three blocks.
    #[test]
    fn the_option_gives_way_to_a_third_block() {
        assert_eq!([0, 1, 2, 3].map(|blocks| has_place(blocks, 3)), [true, true, true, false]);
        assert_eq!([2, 3, 4].map(|blocks| has_place(blocks, 4)), [true, true, false]);
    }
}
