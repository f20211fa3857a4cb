//! Segments that arrive in order: most acknowledgements tell of nothing else, and then no more is looked at.

use super::{News, Place, Rack};
use crate::packet::expand;
use crate::sender::data::records::{Fate, Record, Records};
use crate::sender::data::{Heard, Ledger};

impl Rack {
    /// An acknowledgement.
    #[expect(clippy::inline_always, reason = "measured: on the way of every acknowledgement")]
    #[inline(always)]
    pub(in crate::sender::data) fn hear<L: Ledger>(
        &mut self,
        records: &mut Records,
        heard: &Heard,
        place: Place,
        ledger: &mut L,
    ) -> News {
        match self.in_order(records, heard, &place) {
            Some(record) => self.hear_in_order(records, heard, record, place, ledger),
            None => self.hear_all(records, heard, place, ledger),
        }
    }

    /// Whether nothing is but segments that arrive in order.
    pub(super) fn is_calm(&self) -> bool {
        self.sacked == 0
            && self.early == 0
            && self.lost.is_empty()
            && self.again.is_empty()
            && self.probes == 0
            && !self.urgent
            && self.probe.is_none()
            && self.prr.is_none()
            && self.law.is_none()
            && self.episode.is_none()
            && self.dsack_round.is_none()
    }

    /// Whether anything is.
    #[inline]
    pub(crate) fn is_in_trouble(&self) -> bool {
        self.trouble
    }

    /// The transmission that caused an acknowledgement, if that covers it and nothing else is to be learned from it: then
    /// [`Rack::hear_in_order`] comes to the same as [`Rack::hear_any`].
    #[inline]
    fn in_order(&self, records: &mut Records, heard: &Heard, place: &Place) -> Option<Record> {
        if self.trouble || heard.from.is_some() || heard.duplicate || !records.keeps(heard.tx) {
            return None;
        }
        debug_assert!(self.is_calm() && place.una >= place.recover.max(self.timeout_until), "{self:?}");
        let record = *records.at(heard.tx);
        let covered = (place.una..heard.cumulative).contains(&expand(place.una, record.seq));
        (covered && record.fate == Fate::InFlight && !record.again).then_some(record)
    }

    /// An acknowledgement [`Rack::in_order`], of this transmission.
    #[expect(clippy::inline_always, reason = "measured: on the way of every acknowledgement")]
    #[inline(always)]
    fn hear_in_order<L: Ledger>(
        &mut self,
        records: &mut Records,
        heard: &Heard,
        record: Record,
        place: Place,
        ledger: &mut L,
    ) -> News {
        let Place { una, fresh, now, .. } = place;
        let after = heard.cumulative;
        self.fack = self.highest;
        self.measure(now - record.sent);
        records.at(heard.tx).fate = Fate::Delivered;
        self.arrive(record, heard.tx, una, now, ledger);
        let mut delivered = 1;
        while records.base < records.next {
            let tx = records.base;
            let earlier = *records.at(tx);
            let covered = expand(after, earlier.seq) < after;
            match earlier.fate {
                Fate::InFlight if covered => {
                    self.arrive(earlier, tx, una, now, ledger);
                    delivered += 1;
                }
                Fate::Delivered => {}
                Fate::Lost if covered => {}
                _ => break,
            }
            records.base += 1;
        }
        self.examined = self.examined.max(records.base);
        self.due = None;
        let losses = self.examined < self.latest && self.examine(records, after, now, false, ledger);
        self.trouble = losses;
        self.arm_probe(after, fresh, now, losses);
        News { sent: Some(record.sent), delivered, losses, event: losses, spurious: false }
    }

    /// A transmission that was in flight has arrived, no duplicate.
    #[inline]
    fn arrive<L: Ledger>(&mut self, record: Record, tx: u64, una: u64, now: u64, ledger: &mut L) {
        self.in_flight -= 1;
        ledger.delivered(tx);
        self.learn(record, tx, now);
        self.reach(expand(una, record.seq), record.again);
    }

    /// A retransmission that seems faster than any round trip was not what arrived (RFC 8985, section 6.2, step 2).
    #[inline]
    pub(super) fn learn(&mut self, record: Record, tx: u64, now: u64) {
        let rtt = now - record.sent;
        if tx >= self.latest && !(record.again && rtt < self.least_rtt) {
            (self.latest, self.rtt) = (tx + 1, rtt);
        }
    }

    /// A segment has arrived: the highest so far, or one after others that it was sent before.
    #[inline]
    pub(super) fn reach(&mut self, seq: u64, again: bool) {
        if seq >= self.highest {
            self.highest = seq + 1;
        } else if !again && seq + 1 < self.fack {
            self.reordering = true;
        }
    }
}
