//! Sent packets, in order of transmission: 16 bytes a packet in flight. As in a [`Ring`](penstock_link::Ring), the next
//! slot is prefetched when one is used.

use std::collections::BTreeSet;

use prefetch_index::prefetch_index;

use crate::ahead::fetch;
use crate::packet::expand;

/// A transmission.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    /// When [ps].
    pub(super) sent: u64,
    /// Which segment, its low half.
    pub(super) seq: u32,
    pub(super) fate: Fate,
    /// It was a retransmission.
    pub(super) again: bool,
}

const _: () = assert!(size_of::<Record>() == 16);

/// A slot that no transmission has had.
const EMPTY: Record = Record { sent: u64::MAX, seq: 0, fate: Fate::Lost, again: false };

/// The known fate of a transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    InFlight,
    Delivered,
    Lost,
}

/// Transmissions `base..next`, in a ring.
#[derive(Debug)]
pub(super) struct Records {
    ring: Vec<Record>,
    /// The oldest transmission kept.
    pub(super) base: u64,
    /// The number the next transmission gets.
    pub(super) next: u64,
}

impl Records {
    /// None yet, and no memory for any.
    pub(super) fn new() -> Self {
        Self { ring: Vec::new(), base: 0, next: 0 }
    }

    #[inline]
    pub(super) fn push(&mut self, seq: u64, now: u64, again: bool) {
        if self.next - self.base == self.ring.len() as u64 {
            self.grow();
        }
        let at = self.slot(self.next);
        self.ring[at] = Record { sent: now, seq: seq as u32, fate: Fate::InFlight, again };
        self.next += 1;
        prefetch_index(&self.ring, at + 1);
    }

    /// Prefetches the oldest, and the slot of the next.
    #[inline]
    pub(super) fn fetch(&self) {
        if !self.ring.is_empty() {
            fetch(&self.ring[self.slot(self.base)]);
            fetch(&self.ring[self.slot(self.next)]);
        }
    }

    /// When a transmission was sent, if it is still kept.
    #[inline]
    pub(super) fn sent(&self, tx: u64) -> Option<u64> {
        self.keeps(tx).then(|| self.ring[self.slot(tx)].sent)
    }

    /// Forgets the oldest transmission, which was delivered, if it is in flight: its record.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(super) fn take_oldest(&mut self) -> Option<&mut Record> {
        if self.base == self.next {
            return None;
        }
        let at = self.slot(self.base);
        let record = &mut self.ring[at];
        if record.fate != Fate::InFlight {
            return None;
        }
        self.base += 1;
        Some(record)
    }

    /// When the oldest transmission that is kept was sent.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.sent(self.base)
    }

    /// The low half of a transmission's segment, if it is still kept.
    pub(super) fn segment(&self, tx: u64) -> Option<u32> {
        self.keeps(tx).then(|| self.ring[self.slot(tx)].seq)
    }

    /// The low half of the segment of a transmission that was forgotten, while its slot is not used again.
    pub(super) fn forgotten(&self, tx: u64) -> Option<u32> {
        let there = tx < self.base && tx + self.ring.len() as u64 >= self.next;
        let record = there.then(|| self.ring[self.slot(tx)])?;
        (record.sent != EMPTY.sent).then_some(record.seq)
    }

    #[inline]
    pub(super) fn keeps(&self, tx: u64) -> bool {
        tx >= self.base && tx < self.next
    }

    /// A transmission that is kept.
    #[inline]
    pub(super) fn at(&mut self, tx: u64) -> &mut Record {
        debug_assert!(self.keeps(tx));
        let at = self.slot(tx);
        &mut self.ring[at]
    }

    /// The last transmissions before `tx` of segments `from..end`, each with its segment, the latest first. Such segments
    /// were sent lately, so the search is short.
    #[cold]
    pub(super) fn of(&self, from: u64, end: u64, tx: u64) -> Vec<(u64, u64)> {
        let (mut found, mut segments) = (Vec::new(), BTreeSet::new());
        for tx in (self.base..tx.min(self.next)).rev() {
            if found.len() as u64 == end - from {
                break;
            }
            let seq = expand(from, self.ring[self.slot(tx)].seq);
            if (from..end).contains(&seq) && segments.insert(seq) {
                found.push((tx, seq));
            }
        }
        found
    }

    /// The same as [`Records::settle`], where the oldest that is kept is most often of segment `cumulative`.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(super) fn settle_in_order(&mut self, cumulative: u64) {
        if self.base == self.next {
            return;
        }
        let at = self.slot(self.base);
        let Record { seq, fate, .. } = self.ring[at];
        prefetch_index(&self.ring, at + 1);
        if seq != cumulative as u32 || fate != Fate::InFlight {
            self.settle_out_of_order(cumulative);
        }
    }

    /// Segments that were sent again are among others.
    #[cold]
    #[inline(never)]
    fn settle_out_of_order(&mut self, cumulative: u64) {
        self.settle(cumulative, |_| {});
    }

    /// Forgets the oldest ones that are settled: below `cumulative`, delivered, or lost. Calls `covered` for each that
    /// was in flight until now.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(super) fn settle(&mut self, cumulative: u64, mut covered: impl FnMut(u64)) {
        while self.base < self.next {
            let at = self.slot(self.base);
            let record = self.ring[at];
            prefetch_index(&self.ring, at + 1);
            if record.fate == Fate::InFlight {
                if expand(cumulative, record.seq) >= cumulative {
                    break;
                }
                covered(self.base);
            }
            self.base += 1;
        }
    }

    #[inline]
    fn slot(&self, tx: u64) -> usize {
        tx as usize & (self.ring.len() - 1)
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = vec![EMPTY; (self.ring.len() * 2).max(4)];
        let mask = ring.len() - 1;
        for tx in self.base..self.next {
            ring[tx as usize & mask] = self.ring[self.slot(tx)];
        }
        self.ring = ring;
    }
}
