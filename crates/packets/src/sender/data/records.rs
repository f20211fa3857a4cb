//! What was sent, in order of transmission: 16 bytes a packet in flight. As in a [`Ring`](penstock_link::Ring), the next
//! place is sent for when one is used.

use prefetch_index::prefetch_index;

use crate::ahead::fetch;
use crate::packet::expand;

/// A transmission.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Record {
    /// When [ps].
    pub(super) sent: u64,
    /// Which segment, its low half.
    pub(super) seq: u32,
    pub(super) fate: Fate,
}

const _: () = assert!(size_of::<Record>() == 16);

/// What is known of a transmission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Fate {
    #[default]
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
    pub(super) fn push(&mut self, seq: u64, now: u64) {
        if self.next - self.base == self.ring.len() as u64 {
            self.grow();
        }
        let at = self.slot(self.next);
        self.ring[at] = Record { sent: now, seq: seq as u32, fate: Fate::InFlight };
        self.next += 1;
        prefetch_index(&self.ring, at + 1);
    }

    /// Sends for the oldest, and for the place of the next.
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

    /// The low half of a transmission's segment, if it is still kept.
    pub(super) fn segment(&self, tx: u64) -> Option<u32> {
        self.keeps(tx).then(|| self.ring[self.slot(tx)].seq)
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

    /// Forgets the oldest ones that are settled: below `cumulative`, delivered, or lost. Calls `covered` for each that
    /// was in flight until now.
    #[inline]
    pub(super) fn settle(&mut self, cumulative: u64, mut covered: impl FnMut()) {
        while self.base < self.next {
            let at = self.slot(self.base);
            let record = self.ring[at];
            prefetch_index(&self.ring, at + 1);
            if record.fate == Fate::InFlight {
                if expand(cumulative, record.seq) >= cumulative {
                    break;
                }
                covered();
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
        let mut ring = vec![Record::default(); (self.ring.len() * 2).max(4)];
        let mask = ring.len() - 1;
        for tx in self.base..self.next {
            ring[tx as usize & mask] = self.ring[self.slot(tx)];
        }
        self.ring = ring;
    }
}
