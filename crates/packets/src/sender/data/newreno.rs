//! NewReno and Reno recovery: cumulative acknowledgements and duplicates only.
//!
//! Source: RFC 6582 (without the heuristics of section 4: a new recovery starts only when the cumulative number has
//! passed what was sent before the last one, or before a timeout), RFC 5681, section 3.2, for the inflation of the
//! window, and with RFC 2581 for Reno, whose fast recovery ends with the first acknowledgement of new data, so that every
//! hole of a window is an event of its own; RFC 3042 for the segments that the first two duplicates may send; after a timeout it goes back to the first segment not acknowledged and sends on from there, as ns-2 does.

use super::records::Records;
use super::{Heard, Segment};

#[derive(Debug, Default)]
pub(crate) struct NewReno {
    duplicates: u32,
    /// Duplicates came, something is to be sent again, or fast recovery goes on.
    trouble: bool,
    /// Packets the window is widened by, because duplicates report that they have left the network.
    inflation: u64,
    /// In fast recovery.
    fast: bool,
    /// A segment to send again whatever the window is.
    urgent: Option<u64>,
    /// After a timeout: the next segment to send again, below `back_to`.
    back: u64,
    back_to: u64,
    /// Fast recovery ends with the first acknowledgement of new data.
    reno: bool,
    /// The first two duplicates each send a new segment.
    limited_transmit: bool,
}

/// The segment that may be sent.
pub(super) enum Pick {
    Again(u64),
    Fresh,
    Nothing,
}

impl NewReno {
    pub(super) fn new(reno: bool, limited_transmit: bool) -> Self {
        Self { reno, limited_transmit, ..Self::default() }
    }

    pub(super) fn restart(&mut self) {
        *self = Self::new(self.reno, self.limited_transmit);
    }

    /// Reno that is not in fast recovery: it does not know of further losses.
    #[inline]
    pub(super) fn gave_up(&self) -> bool {
        self.reno && !self.fast
    }

    /// Whether something is to be sent again.
    pub(super) fn mends(&self) -> bool {
        self.urgent.is_some() || self.back < self.back_to
    }

    /// An acknowledgement up to segment `next`, of one segment, caused by the oldest transmission: when that was sent, if nothing is in
    /// trouble.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(super) fn hear_next(&mut self, records: &mut Records, next: u64) -> Option<u64> {
        if self.trouble {
            return None;
        }
        let sent = records.take_oldest()?.sent;
        records.settle_in_order(next);
        Some(sent)
    }

    /// Whether nothing is to be sent again, and the window is not widened.
    #[inline]
    pub(super) fn calm(&self) -> bool {
        !self.trouble
    }

    #[inline]
    pub(super) fn hear(&mut self, records: &mut Records, heard: &Heard, una: u64, fresh: u64, recover: u64) -> bool {
        records.settle(heard.cumulative, |_| {});
        if self.trouble || heard.cumulative <= una {
            return self.hear_in_trouble(heard, una, fresh, recover);
        }
        false
    }

    #[cold]
    fn hear_in_trouble(&mut self, heard: &Heard, una: u64, fresh: u64, recover: u64) -> bool {
        if heard.cumulative > una {
            self.back = self.back.max(heard.cumulative);
            self.duplicates = 0;
            if self.fast {
                if self.reno || heard.cumulative >= recover {
                    (self.fast, self.inflation, self.urgent) = (false, 0, None);
                } else {
                    // A partial acknowledgement: the next hole is lost too (RFC 6582, section 3.2, step 3).
                    self.urgent = Some(heard.cumulative);
                    self.inflation = (self.inflation + 1).saturating_sub(heard.cumulative - una);
                }
            }
            self.trouble = self.fast || self.back_to > heard.cumulative;
            return false;
        }
        if heard.cumulative < una || una == fresh {
            return false;
        }
        self.duplicates += 1;
        self.trouble = true;
        if self.fast {
            self.inflation += 1;
        } else if self.duplicates == 3 && (self.reno || una >= recover) && una >= self.back_to {
            (self.fast, self.inflation, self.urgent) = (true, 3, Some(una));
            return true;
        }
        false
    }

    #[inline]
    pub(super) fn pick(&self, una: u64, fresh: u64, window: f64) -> Pick {
        if !self.trouble {
            // New data, while one more does not exceed the window.
            let flight = fresh - una;
            return if flight > 0 && (flight + 1) as i64 as f64 > window { Pick::Nothing } else { Pick::Fresh };
        }
        self.pick_in_recovery(una, fresh, window)
    }

    #[cold]
    fn pick_in_recovery(&self, una: u64, fresh: u64, window: f64) -> Pick {
        if let Some(seq) = self.urgent {
            return Pick::Again(seq);
        }
        let flight = self.in_flight(una, fresh);
        let limited = if self.limited_transmit && !self.fast && self.duplicates < 3 { self.duplicates } else { 0 };
        if flight > 0 && flight as f64 + 1.0 > window + self.inflation as f64 + f64::from(limited) {
            Pick::Nothing
        } else if self.back.max(una) < self.back_to {
            Pick::Again(self.back.max(una))
        } else {
            Pick::Fresh
        }
    }

    pub(super) fn sent(&mut self, segment: Segment) {
        if !self.trouble {
        } else if self.urgent == Some(segment.seq) {
            self.urgent = None;
        } else if segment.again {
            self.back = segment.seq + 1;
        }
    }

    pub(super) fn timeout(&mut self, records: &mut Records, una: u64, fresh: u64) {
        *self = Self { trouble: true, back: una, back_to: fresh, ..Self::new(self.reno, self.limited_transmit) };
        // Transmissions before the timeout say nothing any more.
        records.base = records.next;
    }

    pub(super) fn in_flight(&self, una: u64, fresh: u64) -> u64 {
        let back = self.back.max(una);
        if back < self.back_to { back - una } else { fresh - una }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Data, Heard, Outcome, options, send};
    use penstock_scenario::model::Recovery;

    fn hear(data: &mut Data, cumulative: u64) -> Outcome {
        data.hear(&Heard { cumulative, tx: data.next_tx(), from: None, duplicate: false }, 0)
    }

    /// RFC 6582: two losses in one window are mended in two round trips with one congestion event.
    #[test]
    fn a_partial_acknowledgement_names_the_next_hole() {
        let mut data = Data::new(&options(Recovery::NewReno, false), u64::MAX);
        assert_eq!(send(&mut data, 10.0).len(), 10);
        // 0 and 5 are lost: eight duplicates.
        let lost: Vec<bool> = (0..8).map(|_| hear(&mut data, 0).lost).collect();
        assert_eq!(lost, [false, false, true, false, false, false, false, false]);
        assert_eq!(send(&mut data, 5.0), [0, 10, 11, 12], "window 5, inflated by 8, less 10 in flight");
        assert_eq!(hear(&mut data, 5).covered, 5);
        assert!(data.recovering());
        assert_eq!(send(&mut data, 5.0)[0], 5);
        assert_eq!(hear(&mut data, 13).covered, 8);
        assert!(!data.recovering());
    }

    /// RFC 2581: the second of two losses is an event of its own, reported by three more duplicates.
    #[test]
    fn reno_ends_with_the_first_hole() {
        let mut data = Data::new(&options(Recovery::Reno, false), u64::MAX);
        assert_eq!(send(&mut data, 10.0).len(), 10);
        // 0 and 5 are lost.
        let lost: Vec<bool> = (0..8).map(|_| hear(&mut data, 0).lost).collect();
        assert_eq!(lost.iter().filter(|l| **l).count(), 1);
        send(&mut data, 5.0);
        assert_eq!(hear(&mut data, 5).covered, 5);
        assert!(!data.recovering(), "5 is not known to be lost");
        assert!(!send(&mut data, 5.0).contains(&5));
        let lost: Vec<bool> = (0..3).map(|_| hear(&mut data, 5).lost).collect();
        assert_eq!(lost, [false, false, true], "a second congestion event for the same window");
        assert_eq!(send(&mut data, 2.0)[0], 5);
    }

    /// RFC 3042: a window of three loses its first segment; two duplicates can only make three with two more segments.
    #[test]
    fn limited_transmit_makes_the_third_duplicate() {
        for (limited, sent) in [(false, vec![]), (true, vec![3])] {
            let mut data = Data::new(&options(Recovery::NewReno, limited), u64::MAX);
            assert_eq!(send(&mut data, 3.0), [0, 1, 2]);
            hear(&mut data, 0);
            assert_eq!(send(&mut data, 3.0), sent);
            hear(&mut data, 0);
            assert_eq!(send(&mut data, 3.0).len(), sent.len());
            assert!(hear(&mut data, 0).lost);
        }
    }

    #[test]
    fn after_a_timeout_it_goes_back() {
        let mut data = Data::new(&options(Recovery::NewReno, false), u64::MAX);
        send(&mut data, 6.0);
        hear(&mut data, 2);
        data.timeout(0, &mut ());
        assert_eq!(send(&mut data, 1.0), [2]);
        assert_eq!(hear(&mut data, 5).covered, 3, "the receiver had 3 and 4");
        assert_eq!(send(&mut data, 2.0), [5, 6], "and goes on where the receiver lacks");
    }
}
