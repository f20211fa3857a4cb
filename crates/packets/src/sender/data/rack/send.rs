//! The segment to send next: what is lost, a probe, or new data.

use super::probe::Probe;
use super::{Place, Rack};
use crate::sender::data::Segment;
use crate::sender::data::records::Records;

/// The segment that may be sent.
pub(in crate::sender::data) enum Pick {
    Again(u64),
    Fresh,
    Nothing,
}

impl Rack {
    /// Whether something is to be sent again, or a probe.
    pub(in crate::sender::data) fn mends(&self) -> bool {
        self.probes > 0 || self.urgent || !self.lost.is_empty()
    }

    /// The segment to send, if any may be: one again, or new data (`fresh`).
    #[inline]
    pub(in crate::sender::data) fn pick(
        &mut self,
        una: u64,
        fresh: u64,
        window: f64,
        new_data: impl FnOnce() -> bool,
    ) -> Pick {
        if self.trouble {
            return self.pick_any(una, fresh, window, new_data());
        }
        let full = self.in_flight > 0 && f64::from(self.in_flight) + 1.0 > window;
        if full { Pick::Nothing } else { Pick::Fresh }
    }

    /// Packets in flight; none where something else is to be looked at than new data.
    #[inline]
    pub(in crate::sender::data) fn calm(&self) -> Option<u64> {
        (!self.trouble).then_some(u64::from(self.in_flight))
    }

    #[inline(never)]
    fn pick_any(&mut self, una: u64, fresh: u64, window: f64, new_data: bool) -> Pick {
        if self.probes > 0 && self.by_timeout {
            return self.pick_probe(una, new_data);
        }
        if self.probes > 0 {
            return if new_data {
                Pick::Fresh
            } else if fresh > una {
                Pick::Again(fresh - 1)
            } else {
                Pick::Nothing
            };
        }
        let full = match &self.prr {
            Some(prr) => !prr.allows(self.in_flight),
            None => self.in_flight > 0 && f64::from(self.in_flight) + 1.0 > window,
        };
        if full && !self.urgent {
            return Pick::Nothing;
        }
        while let Some((seq, _)) = self.lost.front() {
            if *seq >= una {
                return Pick::Again(*seq);
            }
            self.lost.pop_front();
        }
        Pick::Fresh
    }

    /// The content of a probe of RFC 9002.
    fn pick_probe(&mut self, una: u64, new_data: bool) -> Pick {
        while self.lost.front().is_some_and(|(seq, _)| *seq < una) {
            self.lost.pop_front();
        }
        while self.oldest.last().is_some_and(|seq| *seq < una) {
            self.oldest.pop();
        }
        match (self.lost.front(), self.oldest.last()) {
            (Some((seq, _)), _) => Pick::Again(*seq),
            _ if new_data => Pick::Fresh,
            (None, Some(seq)) => Pick::Again(*seq),
            (None, None) => {
                self.probes = 0;
                Pick::Nothing
            }
        }
    }

    /// The picked segment was sent, as transmission `tx`.
    #[inline]
    pub(in crate::sender::data) fn sent(&mut self, records: &mut Records, segment: Segment, tx: u64, place: Place) {
        self.in_flight += 1;
        if self.trouble || segment.again {
            return self.sent_any(records, segment, tx, place);
        }
        self.arm_probe(place.una, place.fresh + 1, place.now, false);
    }

    #[inline(never)]
    fn sent_any(&mut self, records: &mut Records, segment: Segment, tx: u64, place: Place) {
        let Place { una, fresh, now, recover } = place;
        self.urgent = false;
        if let Some(prr) = &mut self.prr {
            prr.sent();
        }
        if segment.again {
            self.again.insert(segment.seq, tx);
            self.trouble = true;
        }
        // A probe of RFC 9002 may carry what was lost.
        let mends = segment.again && (self.probes == 0 || (self.by_timeout && !self.lost.is_empty()));
        if mends {
            let lost = self.lost.pop_front();
            if let Some(episode) = &mut self.episode {
                episode.sent(tx, lost.map(|(_, lost)| lost));
            }
        }
        let in_recovery = una < recover.max(self.timeout_until);
        if self.probes > 0 {
            self.probes -= 1;
            if segment.again && !mends {
                self.oldest.pop();
                self.replace(records, segment.seq, tx, una);
            }
            let end = fresh + u64::from(!segment.again);
            // Of several probes each may have repaired a loss.
            let first = self.probe.filter(|probe| self.by_timeout && probe.again);
            let again = segment.again && !mends || first.is_some();
            self.probe = Some(Probe { tx: first.map_or(tx, |first| first.tx), end, again });
            self.last_probe = Some(tx);
        } else if !segment.again {
            self.arm_probe(una, fresh + 1, now, in_recovery);
        }
    }
}
