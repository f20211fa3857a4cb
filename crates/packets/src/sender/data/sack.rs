//! Recovery by selective acknowledgements, in order of transmission.
//!
//! Source: RFC 6675 for the segments that may be sent (the pipe), RFC 9002, section 6.1.1, for losses: a packet is lost when one
//! sent three or more transmissions later was delivered. Transmissions, not segments, are numbered, so a lost
//! retransmission is found like any other and thousands of holes cost O(1) each.

use std::collections::VecDeque;

use super::records::{Fate, Record, Records};
use super::{Heard, Ledger, Segment};
use crate::packet::expand;

/// Later deliveries that prove a loss (RFC 5681's three duplicates).
const THRESHOLD: u64 = 3;

#[derive(Debug, Default)]
pub(crate) struct Sack {
    /// Transmissions neither delivered nor lost.
    pub(super) in_flight: u32,
    /// The latest transmission known to be delivered, plus one.
    delivered: u64,
    /// Transmissions below this one were examined for loss.
    examined: u64,
    /// Segments to send again.
    lost: VecDeque<u64>,
    /// Each of them is larger than the one before.
    rising: bool,
    /// So many of them go out whatever the window is: one as a congestion event begins (RFC 6675, section 5, step 4.3), and
    /// those that duplicates allow.
    pub(super) urgent: u32,
    /// Packets that the last acknowledgement reported, beyond those its number covers.
    pub(super) told: u32,
    /// Packets that its older blocks reported.
    pub(super) early: u32,
    /// Transmissions below this one were sent before the last timeout. Everything is sent again then, whatever arrives.
    since: u64,
    /// Segments that arrived after they were taken for lost and before they were sent again, for the ledger.
    late: u32,
}

impl Sack {
    /// An acknowledgement: when the transmission that caused it was sent, and whether something was lost in a new
    /// congestion event.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(super) fn hear<L: Ledger>(
        &mut self,
        records: &mut Records,
        heard: &Heard,
        una: u64,
        event: u64,
        ledger: &mut L,
    ) -> (Option<u64>, bool) {
        let mut sent = None;
        if records.keeps(heard.tx) {
            let record = records.at(heard.tx);
            sent = Some(record.sent);
            let mut news = u32::from(deliver(record));
            if news > 0 {
                ledger.delivered(heard.tx);
            }
            if let Some(from) = heard.from {
                let run = deliver_run(records, heard.tx, from);
                if L::KEEPS {
                    (1..=u64::from(run)).for_each(|before| ledger.delivered(heard.tx - before));
                }
                news += run;
            }
            self.in_flight -= news;
            self.told = news;
        } else {
            self.told = 0;
            self.arrived(records, heard.tx, una);
        }
        self.delivered = self.delivered.max(heard.tx + 1);
        let in_flight = &mut self.in_flight;
        records.settle(heard.cumulative, |tx| {
            *in_flight -= 1;
            ledger.delivered(tx);
        });
        if L::KEEPS {
            ledger.late(u64::from(std::mem::take(&mut self.late)));
        }
        let overtaken = records.base + THRESHOLD < self.delivered;
        (sent, overtaken && self.examine(records, una.max(heard.cumulative), event, ledger))
    }

    /// An acknowledgement up to segment `next`, caused by the oldest transmission: when that was sent, if all there is to it is that
    /// it arrived before all others.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(super) fn hear_next(&mut self, records: &mut Records, next: u64) -> Option<u64> {
        let tx = records.base;
        if self.delivered > tx || !self.lost.is_empty() {
            return None;
        }
        let record = records.take_oldest()?;
        record.fate = Fate::Delivered;
        let sent = record.sent;
        self.in_flight -= 1;
        self.told = 1;
        self.delivered = tx + 1;
        let in_flight = &mut self.in_flight;
        records.settle(next, |_| *in_flight -= 1);
        Some(sent)
    }

    /// Packets in flight, where nothing is to be sent again.
    #[inline]
    pub(super) fn calm(&self) -> Option<u64> {
        (self.lost.is_empty() && self.urgent == 0).then_some(u64::from(self.in_flight))
    }

    /// Segments of older blocks have arrived. Of one that was sent again it is unknown which of the two came, so that is no
    /// evidence of overtaken packets.
    pub(super) fn blocks<L: Ledger>(&mut self, records: &mut Records, ranges: &[(u64, u64)], tx: u64, ledger: &mut L) {
        self.early = 0;
        for &(from, end) in ranges {
            for (tx, seq) in records.of(from, end, tx) {
                let record = records.at(tx);
                match record.fate {
                    Fate::InFlight => {
                        self.in_flight -= 1;
                        self.early += 1;
                        ledger.delivered(tx);
                        if !record.again {
                            self.delivered = self.delivered.max(tx + 1);
                        }
                    }
                    Fate::Lost => {
                        let before = self.lost.len();
                        self.lost.retain(|lost| *lost != seq);
                        ledger.late((before - self.lost.len()) as u64);
                    }
                    Fate::Delivered => {}
                }
                record.fate = Fate::Delivered;
            }
        }
    }

    /// Segments in flight or to be sent again.
    pub(super) fn outstanding(&self) -> u64 {
        u64::from(self.in_flight) + self.lost.len() as u64
    }

    /// Declares overtaken packets lost; true if that is a new congestion event.
    #[cold]
    fn examine<L: Ledger>(&mut self, records: &mut Records, una: u64, event: u64, ledger: &mut L) -> bool {
        let mut news = false;
        for tx in self.examined.max(records.base)..self.delivered - THRESHOLD {
            let record = records.at(tx);
            let seq = expand(una, record.seq);
            if record.fate == Fate::InFlight {
                record.fate = Fate::Lost;
                self.in_flight -= 1;
                if seq >= una {
                    self.rising = self.lost.back().is_none_or(|last| self.rising && *last < seq);
                    self.lost.push_back(seq);
                    news |= tx >= event;
                    ledger.lost(tx);
                } else {
                    ledger.delivered(tx);
                }
            }
        }
        self.examined = self.delivered - THRESHOLD;
        self.urgent = self.urgent.max(u32::from(news));
        news
    }

    /// A transmission arrived that is settled. If it was taken for lost and came late, its segment need not be sent again.
    #[cold]
    fn arrived(&mut self, records: &Records, tx: u64, una: u64) {
        if let Some(seq) = records.forgotten(tx).filter(|_| tx >= self.since && !self.lost.is_empty()) {
            let seq = expand(una, seq);
            if self.rising && self.lost.binary_search(&seq).is_err() {
                return;
            }
            let before = self.lost.len();
            self.lost.retain(|lost| *lost != seq);
            self.late += (before - self.lost.len()) as u32;
        }
    }

    /// Whether something may have to be sent again.
    pub(super) fn mends(&self) -> bool {
        !self.lost.is_empty()
    }

    /// The first segment to send again.
    #[inline]
    pub(super) fn again(&mut self, una: u64) -> Option<u64> {
        while let Some(seq) = self.lost.front() {
            if *seq >= una {
                return Some(*seq);
            }
            self.lost.pop_front();
            self.late += 1;
        }
        None
    }

    #[inline]
    pub(super) fn sent(&mut self, segment: Segment) {
        self.in_flight += 1;
        if segment.again {
            self.lost.pop_front();
            self.urgent = self.urgent.saturating_sub(1);
        }
    }

    #[expect(clippy::stable_sort_primitive, reason = "measured: that sort merges rows, the other one looks for none")]
    pub(super) fn timeout<L: Ledger>(&mut self, records: &mut Records, una: u64, ledger: &mut L) {
        let mut lost: Vec<u64> = self.lost.drain(..).collect();
        self.late += lost.iter().filter(|seq| **seq < una).count() as u32;
        ledger.late(u64::from(std::mem::take(&mut self.late)));
        for tx in records.base..records.next {
            let record = records.at(tx);
            if record.fate == Fate::InFlight {
                record.fate = Fate::Lost;
                let seq = expand(una, record.seq);
                lost.push(seq);
                if seq >= una { ledger.lost(tx) } else { ledger.delivered(tx) }
            }
        }
        lost.retain(|seq| *seq >= una);
        // A few rows of rising numbers.
        lost.sort();
        lost.dedup();
        self.lost = lost.into();
        self.rising = true;
        self.urgent = 0;
        self.in_flight = 0;
        self.examined = records.next;
        self.since = records.next;
        records.settle(una, |_| {});
    }
}

/// A transmission arrived; whether that is news.
#[inline]
fn deliver(record: &mut Record) -> bool {
    let news = record.fate == Fate::InFlight;
    record.fate = Fate::Delivered;
    news
}

/// The block reports earlier packets whose acknowledgements were lost: those sent just before this one. Their number
/// is counted here and subtracted from the packets in flight by the caller: where this function did that itself, the optimised
/// build (rustc 1.95, one codegen unit, fat LTO) left the subtraction out.
#[cold]
fn deliver_run(records: &mut Records, tx: u64, from: u64) -> u32 {
    let (mut seq, mut tx, mut news) = (expand(from, records.at(tx).seq), tx, 0);
    while tx > records.base && seq > from {
        tx -= 1;
        let earlier = records.at(tx).seq;
        if expand(from, earlier) != seq - 1 || !deliver(records.at(tx)) {
            break;
        }
        (seq, news) = (seq - 1, news + 1);
    }
    news
}

#[cfg(test)]
mod tests {
    use super::super::{Data, Heard, Outcome, Segment, options, send};
    use crate::kind::Other;
    use penstock_scenario::model::Recovery;

    fn hear(data: &mut Data, cumulative: u64, tx: u64, from: Option<u64>) -> Outcome {
        data.hear(&Heard { cumulative, tx, from, duplicate: false }, 0)
    }

    #[test]
    fn three_later_deliveries_prove_a_loss_once_a_round() {
        let mut data = Data::new(&options(Recovery::Sack, false), u64::MAX);
        assert_eq!(send(&mut data, 10.0).len(), 10);
        // 0 and 4 are lost.
        assert!(!hear(&mut data, 0, 1, Some(1)).lost);
        assert!(!hear(&mut data, 0, 2, Some(1)).lost);
        assert!(hear(&mut data, 0, 3, Some(1)).lost);
        assert!(data.recovering());
        assert_eq!(data.pick(7.0, true, u64::MAX), Some(Segment { seq: 0, again: true }));
        assert_eq!(send(&mut data, 7.0), [0], "the pipe is full again");
        for tx in 5..10 {
            assert!(!hear(&mut data, 0, tx, Some(5)).lost, "the same event");
        }
        assert_eq!(send(&mut data, 3.0), [4, 10]);
        assert_eq!(hear(&mut data, 4, 10, None).covered, 4);
        assert_eq!(hear(&mut data, 10, 11, None).covered, 6);
        assert!(!data.recovering());
        assert_eq!(data.in_flight(), 1);
    }

    /// Eight of twelve are lost under a window kept at two: each duplicate mends one, and nothing new exceeds the window.
    #[test]
    fn a_duplicate_that_mends_sends_one_lost_segment() {
        let mut data = Data::new(&options(Recovery::Sack, false), u64::MAX);
        send(&mut data, 12.0);
        assert!(hear(&mut data, 0, 8, Some(8)).lost);
        assert_eq!(send(&mut data, 2.0), [0], "one is sent whatever the window");
        hear(&mut data, 0, 9, Some(8));
        assert!(send(&mut data, 2.0).is_empty(), "10, 11 and the one sent again fill it");
        for tx in [10, 11] {
            data.mend();
            assert_eq!(send(&mut data, 2.0).len(), 1);
            hear(&mut data, 0, tx, Some(8));
        }
        // A packet that came twice makes room for nothing: it left long ago.
        let mut late = Data::new(&options(Recovery::Sack, false), u64::MAX);
        send(&mut late, 12.0);
        hear(&mut late, 0, 8, Some(8));
        assert_eq!(send(&mut late, 2.0), [0]);
        hear(&mut late, 0, 8, Some(8));
        late.mend();
        assert!(send(&mut late, 2.0).is_empty());
        // One that tells of three packets makes room for three.
        hear(&mut late, 0, 11, Some(8));
        late.mend();
        assert_eq!(send(&mut late, 1.0), [1, 2, 3]);
        hear(&mut data, 12, 12, None);
        data.mend();
        assert!(send(&mut data, 1.0).iter().all(|seq| *seq >= 12), "nothing is missing");
        // Duplicates make room for what is lost, and for nothing else: with a full window and nothing lost, nothing goes out.
        let mut full = Data::new(&options(Recovery::Sack, false), u64::MAX);
        send(&mut full, 12.0);
        hear(&mut full, 0, 4, Some(4));
        assert_eq!(send(&mut full, 2.0), [0], "the one that begins recovery");
        hear(&mut full, 0, 11, Some(8));
        full.mend();
        assert_eq!(send(&mut full, 2.0), [1, 2, 3, 5]);
        full.mend();
        assert!(full.in_flight() > 0);
        assert_eq!(send(&mut full, 2.0), [6, 7], "new data wait for the window");
    }

    /// A recovery of ten segments: one sent after its begin is lost, and so is the retransmission. Neither is an event nor does
    /// it last longer; what is lost once it is over is an event again.
    #[test]
    fn a_whole_recovery_ends_where_it_began() {
        fn whole(data: &mut Data, cumulative: u64, tx: u64, from: Option<u64>) -> bool {
            data.hear_within::<Other, ()>(&Heard { cumulative, tx, from, duplicate: false }, 0, true, &mut ()).lost
        }
        let mut data = Data::new(&options(Recovery::Sack, false), u64::MAX);
        send(&mut data, 10.0);
        assert!(whole(&mut data, 0, 3, Some(1)));
        assert_eq!(send(&mut data, 12.0), [0, 10, 11, 12, 13, 14], "transmissions 10 to 15");
        assert!(!whole(&mut data, 0, 9, Some(4)), "the same event");
        assert_eq!(data.recover, 10);
        assert!(!whole(&mut data, 0, 15, Some(12)), "0 again and 10 are lost");
        assert_eq!(data.recover, 10);
        assert_eq!(send(&mut data, 4.0)[..2], [0, 10], "transmissions 16 and 17");
        assert!(!whole(&mut data, 10, 16, None));
        assert!(!data.recovering());
        let mut moving = Data::new(&options(Recovery::Sack, false), u64::MAX);
        send(&mut moving, 10.0);
        hear(&mut moving, 0, 3, Some(1));
        send(&mut moving, 12.0);
        hear(&mut moving, 0, 9, Some(4));
        assert!(hear(&mut moving, 0, 15, Some(12)).lost, "for every other law it is a new event");
        assert_eq!(moving.recover, 15);
    }

    /// After a congestion event only segments sent for the first time are new, though retransmissions leave later. It is
    /// still known once the transmission is forgotten.
    #[test]
    fn what_is_sent_again_is_not_new() {
        let mut data = Data::new(&options(Recovery::Sack, false), u64::MAX);
        send(&mut data, 10.0);
        for tx in 1..5 {
            hear(&mut data, 0, tx, Some(1));
        }
        assert_eq!(send(&mut data, 7.0), [0, 10]);
        assert_eq!(
            [9, 10, 11].map(|tx| (tx >= data.event, data.is_new(tx))),
            [(false, false), (true, false), (true, true)]
        );
        hear(&mut data, 11, 11, None);
        assert!(!data.records.keeps(11) && data.is_new(11) && !data.is_new(10));
    }

    /// A segment that was taken for lost and arrives late is not sent again.
    #[test]
    fn what_arrives_late_is_not_sent_again() {
        let mut data = Data::new(&options(Recovery::Sack, false), u64::MAX);
        send(&mut data, 12.0);
        hear(&mut data, 1, 0, None);
        for tx in 5..10 {
            hear(&mut data, 1, tx, Some(5));
        }
        assert_eq!(data.pick(0.0, true, u64::MAX).map(|segment| segment.seq), Some(1));
        hear(&mut data, 1, 10, Some(5));
        hear(&mut data, 1, 3, Some(3));
        assert_eq!(send(&mut data, 12.0)[..4], [1, 2, 4, 12], "3 is there");
    }

    /// A retransmission that is lost too is found by deliveries after it, as a new congestion event.
    #[test]
    fn a_lost_retransmission_is_found_without_a_timeout() {
        let mut data = Data::new(&options(Recovery::Sack, false), u64::MAX);
        send(&mut data, 5.0);
        for tx in 1..5 {
            hear(&mut data, 0, tx, Some(1));
        }
        assert_eq!(send(&mut data, 5.0), [0, 5, 6, 7, 8]);
        let mut lost = Vec::new();
        for tx in 6..10 {
            lost.push(hear(&mut data, 0, tx, Some(1)).lost);
        }
        assert_eq!(lost, [false, false, true, false]);
        assert_eq!(data.pick(9.0, true, u64::MAX), Some(Segment { seq: 0, again: true }));
    }

    /// Acknowledgements that were lost are made up for by the block of the next one.
    #[test]
    fn the_block_makes_up_for_lost_acknowledgements() {
        let mut data = Data::new(&options(Recovery::Sack, false), u64::MAX);
        send(&mut data, 10.0);
        hear(&mut data, 0, 9, Some(1));
        assert_eq!(data.in_flight(), 0);
        assert_eq!(send(&mut data, 1.0), [0], "nine were delivered, one was lost");
    }

    #[test]
    fn after_a_timeout_everything_is_sent_again_in_order() {
        let mut data = Data::new(&options(Recovery::Sack, false), u64::MAX);
        send(&mut data, 6.0);
        hear(&mut data, 1, 0, None);
        hear(&mut data, 1, 3, Some(3));
        data.timeout(0, &mut ());
        assert_eq!(send(&mut data, 5.0), [1, 2, 4, 5, 6]);
        assert!(!data.recovering(), "slow start grows the window");
    }

    /// Thousands of losses in one window: all are sent again, none twice, without a timeout.
    #[test]
    fn thousands_of_losses_in_one_window() {
        let mut data = Data::new(&options(Recovery::Sack, false), u64::MAX);
        send(&mut data, 10_000.0);
        let mut again = Vec::new();
        let mut delivered = vec![false; 10_000];
        for tx in (1..10_000).step_by(2) {
            delivered[tx as usize] = true;
            hear(&mut data, 0, tx, Some(tx));
            while let Some(segment) = data.pick(5_000.0, false, u64::MAX) {
                data.sent(segment, 0);
                again.push(segment.seq);
            }
        }
        assert!(again.iter().all(|seq| !delivered[*seq as usize]));
        assert!(again.windows(2).all(|w| w[0] < w[1]) && again.len() >= 4998, "{}", again.len());
    }
}
