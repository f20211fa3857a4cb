//! Tail loss probes (RFC 8985, section 7): the time of a probe, and the outcome of its acknowledgement. And the probes of QUIC (RFC
//! 9002, section 6.2.4), whose time is that of the retransmission timer.

use super::Rack;
use crate::packet::expand;
use crate::sender::data::Heard;
use crate::sender::data::records::{Fate, Records};

/// PTO before there is a round trip [ps].
const FIRST_PROBE: u64 = 1_000_000_000_000;

/// Packets of a probe timeout (RFC 9002, section 6.2.4: one or two).
const PROBES: u8 = 2;

/// A tail loss probe.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probe {
    pub(super) tx: u64,
    /// One past the highest segment when it was sent: TLP.end_seq.
    pub(super) end: u64,
    /// It was a retransmission.
    pub(super) again: bool,
}

impl Rack {
    /// Section 7.4.2: whether the probe that is out has repaired a loss, which is a congestion event.
    pub(super) fn end_of_probe(&mut self, heard: &Heard, una: u64) -> bool {
        let Some(probe) = self.probe else { return false };
        if una >= probe.end {
            self.probe = None;
            return probe.again && heard.tx >= probe.tx && !heard.duplicate;
        }
        false
    }

    /// Section 7.2: new data were sent, or the cumulative number moved.
    #[inline]
    pub(in crate::sender::data) fn arm_probe(&mut self, una: u64, fresh: u64, now: u64, in_recovery: bool) {
        let may =
            self.options.tail_loss_probe && una < fresh && !in_recovery && self.sacked == 0 && self.probe.is_none();
        self.probe_at = may.then(|| {
            let wait = if self.srtt == 0 { FIRST_PROBE } else { 2 * self.srtt };
            now.saturating_add(wait).saturating_add(if fresh - una == 1 { self.max_ack_delay } else { 0 })
        });
    }

    /// The retransmission timer expired: whether a probe that is still to come goes out instead.
    pub(crate) fn probes_instead(&mut self) -> bool {
        let instead = self.probe_at.is_some();
        if instead {
            self.probe();
        }
        instead
    }

    /// A probe is due.
    pub(in crate::sender::data) fn probe(&mut self) {
        (self.probes, self.probe_at, self.trouble) = (1, None, true);
    }

    /// A probe timeout of RFC 9002 expired: two packets are due. They carry what was lost, or new data, or else the oldest data in
    /// flight (section 6.2.4).
    pub(in crate::sender::data) fn probe_by_timeout(&mut self, records: &mut Records, una: u64) {
        (self.probes, self.trouble) = (PROBES, true);
        self.oldest.clear();
        for tx in records.base..records.next {
            let record = *records.at(tx);
            let seq = expand(una, record.seq);
            if record.fate == Fate::InFlight && seq >= una {
                self.oldest.insert(0, seq);
                if self.oldest.len() == usize::from(PROBES) {
                    break;
                }
            }
        }
    }

    /// RFC 9002, section 7.6.2: two transmissions are lost that left more than `span` ps apart, and none between them arrived. True
    /// once for such losses.
    pub(in crate::sender::data) fn is_persistent(&mut self, records: &mut Records, span: u64) -> bool {
        let mut first = None;
        for tx in records.base.max(self.persisted)..self.latest.min(records.next) {
            let record = *records.at(tx);
            match (record.fate, first) {
                (Fate::Lost, Some(first)) if record.sent - first > span => {
                    self.persisted = self.latest;
                    return true;
                }
                (Fate::Lost, _) => first = first.or(Some(record.sent)),
                (Fate::Delivered | Fate::InFlight, _) => first = None,
            }
        }
        false
    }

    /// A segment was sent again as `tx` without being lost: its earlier transmission is out of mind.
    pub(super) fn replace(&mut self, records: &mut Records, seq: u64, tx: u64, una: u64) {
        for earlier in (records.base..tx).rev() {
            let record = records.at(earlier);
            if expand(una, record.seq) == seq {
                if record.fate == Fate::InFlight {
                    record.fate = Fate::Lost;
                    self.in_flight -= 1;
                }
                return;
            }
        }
    }
}
