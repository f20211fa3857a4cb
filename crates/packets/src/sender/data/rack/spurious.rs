//! Losses that were none: their detection (RFC 3522, RFC 2883) and their undoing.

use std::collections::BTreeSet;

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
    /// Once recovery is over: acknowledgements of transmissions from this one on are no evidence about it.
    pub(super) until: Option<u64>,
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
            // A copy by the path of another packet says nothing of a retransmission. Unlike in Linux, neither does a late original.
            return episode.outstanding.remove(&heard.tx) && episode.outstanding.is_empty();
        }
        let Some(first) = episode.first else { return false };
        was_recovering && covered > 0 && heard.tx < episode.earlier.map_or(first, |earlier| earlier.min(first))
    }

    /// The retransmissions that the recovery that begins now may have to undo. As in Linux, those in flight as it begins are among
    /// them: where all that passed for lost came late, duplicate SACKs of those undo its cut.
    pub(super) fn new_episode(&self, records: &mut Records) -> Episode {
        let earlier = self.again.values().copied();
        let in_flight =
            |tx: &u64| records.keeps(*tx) && records.at(*tx).fate == Fate::InFlight && self.last_probe != Some(*tx);
        let outstanding = earlier.clone().filter(in_flight).collect();
        Episode { first: None, earlier: earlier.min(), outstanding, until: None }
    }

    /// Segments taken for lost are in flight again, and recovery is over.
    pub(super) fn undo<L: Ledger>(&mut self, records: &mut Records, una: u64, ledger: &mut L) {
        let mut lost: BTreeSet<u64> = std::mem::take(&mut self.lost).into_iter().collect();
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
