//! Losses that were none: their detection (RFC 3522, RFC 2883) and their undoing.

use std::collections::{BTreeMap, BTreeSet};

use super::Rack;
use crate::packet::expand;
use crate::sender::data::records::{Fate, Records};
use crate::sender::data::{Heard, Ledger};

/// Retransmissions of a recovery.
#[derive(Debug)]
pub(super) struct Episode {
    /// The first of them; none yet.
    pub(super) first: Option<u64>,
    /// The earliest retransmission that earlier recoveries left under way: arrivals of those are no originals that came late.
    pub(super) earlier: Option<u64>,
    /// Those that no duplicate SACK has reported, and of earlier ones those that were in flight as the recovery began.
    pub(super) outstanding: BTreeSet<u64>,
    /// Transmissions taken for lost that have not arrived, and the retransmission of each.
    late: BTreeMap<u64, u64>,
    /// Once recovery is over: acknowledgements of transmissions from this one on are no evidence about it.
    pub(super) until: Option<u64>,
}

impl Episode {
    /// A retransmission went out for a transmission taken for lost.
    pub(super) fn sent(&mut self, tx: u64, lost: Option<u64>) {
        self.first.get_or_insert(tx);
        self.outstanding.insert(tx);
        self.late.extend(lost.map(|lost| (lost, tx)));
    }

    /// Whether a segment that was there before came again as this transmission, and every retransmission has proved needless.
    fn repeats(&mut self, tx: u64) -> bool {
        // It was sent again, or it was taken for lost and its retransmission overtook it. Linux counts any duplicate SACK of a
        // retransmitted segment; a copy by the path of a packet that has arrived says nothing.
        let again = self.late.remove(&tx).unwrap_or(tx);
        self.outstanding.remove(&again) && self.outstanding.is_empty()
    }
}

impl Rack {
    /// A mark came during recovery: that is no mistake, and is not undone.
    pub(crate) fn marked(&mut self) {
        self.episode = None;
    }

    /// Whether segments taken for lost had only come late: an original arrived after it was sent again (Eifel), or every
    /// retransmission came twice.
    pub(super) fn is_spurious(&mut self, heard: &Heard, covered: u64, was_recovering: bool) -> bool {
        let Some(episode) = &mut self.episode else { return false };
        if heard.duplicate {
            return episode.repeats(heard.tx);
        }
        episode.late.remove(&heard.tx);
        let Some(first) = episode.first else { return false };
        was_recovering && covered > 0 && heard.tx < episode.earlier.map_or(first, |earlier| earlier.min(first))
    }

    /// The retransmissions that the recovery that begins now may have to undo. As in Linux, those in flight as it begins are among
    /// them: where all that passed for lost came late, duplicate SACKs of those undo its cut.
    pub(super) fn new_episode(&self, records: &mut Records) -> Episode {
        let earlier = self.again.values().copied();
        let in_flight =
            |tx: &u64| records.keeps(*tx) && records.at(*tx).fate == Fate::InFlight && self.last_probe != Some(*tx);
        let outstanding: BTreeSet<u64> = earlier.clone().filter(in_flight).collect();
        let before = self.episode.iter().flat_map(|episode| &episode.late);
        let late = before.filter(|(_, again)| outstanding.contains(again)).map(|(tx, again)| (*tx, *again)).collect();
        Episode { first: None, earlier: earlier.min(), outstanding, late, until: None }
    }

    /// Segments taken for lost are in flight again, and recovery is over.
    pub(super) fn undo<L: Ledger>(&mut self, records: &mut Records, una: u64, ledger: &mut L) {
        let mut lost: BTreeSet<u64> = std::mem::take(&mut self.lost).into_iter().map(|(seq, _)| seq).collect();
        for tx in (records.base..records.next).rev() {
            if lost.is_empty() {
                break;
            }
            let record = records.at(tx);
            if record.fate == Fate::Lost && lost.remove(&expand(una, record.seq)) {
                record.fate = Fate::InFlight;
                self.in_flight += 1;
                ledger.not_lost();
            }
        }
        self.examined = records.base;
        self.episode = None;
        (self.prr, self.law) = (None, None);
        self.reordering = true;
        self.timeout_until = 0;
    }
}
