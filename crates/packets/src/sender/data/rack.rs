//! Recovery by time: RACK-TLP, with proportional rate reduction and the undoing of spurious recoveries.
//!
//! Source: RFC 8985 (RACK-TLP); RFC 2883 and section 7.2 of RFC 8985 for duplicate SACKs; RFC 3522 (Eifel) for the
//! detection of spurious retransmissions by time stamps, with the response of Linux, which restores window and threshold at
//! once and without RFC 4015's conditions; RFC 9937 for the window, see [`prr`](super::prr).
//! Differs: an acknowledgement names the transmission that caused it, as a time stamp of any resolution would, so which of two
//! transmissions arrived is never in doubt. The smallest round trip is that of the connection. The timer of reordering, once
//! set, is not brought forward. Where more acknowledgements in a row are lost than one has blocks, segments that none reported
//! pass for reordering. After a timeout, segments sent less than a round trip and the
//! reordering window ago are not marked lost.

mod order;
mod probe;
mod send;
mod spurious;

use std::collections::{BTreeMap, VecDeque};

use super::prr::Prr;
use super::records::{Fate, Record, Records};
use super::{Heard, Ledger};
use crate::packet::expand;
use penstock_scenario::model::RackOptions;
use probe::Probe;
pub(super) use send::Pick;
use spurious::Episode;

/// DupThresh of RFC 8985: with so many delivered beyond a hole, nothing is waited for unless there was reordering.
const THRESHOLD: u64 = 3;
/// A wider reordering window lasts for so many recoveries without a duplicate SACK.
const PERSISTS: u32 = 16;
/// State of the sender about its segments.
///
/// In the order of memory: fields of every packet come first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Rack {
    /// Transmissions neither delivered nor lost; never two of one segment.
    pub(super) in_flight: u32,
    options: RackOptions,
    /// Something below is not as it is while segments arrive in order: one that came beyond a hole, that was lost or was sent
    /// again; a probe, a recovery, or a reduction. Then each acknowledgement and each segment is looked at for all of this.
    trouble: bool,
    /// Segments that go out whatever the window is: probes that are due, or the first one after a timeout.
    probes: u8,
    urgent: bool,
    /// The probes are those of RFC 9002.
    by_timeout: bool,
    /// RACK.reordering_seen.
    reordering: bool,
    /// One past the segment with the highest number that was delivered: RACK.fack.
    highest: u64,
    /// The latest transmission that was delivered, plus one, and its round trip: RACK.xmit_ts, RACK.rtt.
    latest: u64,
    rtt: u64,
    least_rtt: u64,
    srtt: u64,
    /// Transmissions below this one are delivered or lost.
    examined: u64,
    /// When the next probe goes out [ps].
    pub(super) probe_at: Option<u64>,
    /// When the other overtaken segments count as lost [ps].
    pub(super) due: Option<u64>,
    /// Added to the probe's time while one segment is out: the receiver may delay its acknowledgement [ps].
    max_ack_delay: u64,
    /// The highest before the acknowledgement under way.
    fack: u64,
    /// RACK.segs_sacked: segments delivered beyond the cumulative number.
    sacked: u64,
    /// Segments to send again, and the transmission of each that is lost.
    lost: VecDeque<(u64, u64)>,
    /// Segments that older blocks of the acknowledgement reported.
    early: u64,
    /// Segments that were sent again, and the last transmission of each.
    again: BTreeMap<u64, u64>,
    /// RACK.reo_wnd_mult, RACK.reo_wnd_persist, RACK.dsack_round.
    multiplier: u32,
    persists: u32,
    dsack_round: Option<u64>,
    /// The probe that is out.
    probe: Option<Probe>,
    last_probe: Option<u64>,
    /// Segments for the probes of RFC 9002, the oldest last.
    oldest: Vec<u64>,
    /// Transmissions below this one have been counted as persistent congestion.
    persisted: u64,
    /// With the probe timeout of RFC 9002: transmissions whose acknowledgements the receiver delayed, the low half of each.
    delayed: VecDeque<u32>,
    /// The reduction under way, and the window that the law allows since it began [packets].
    prr: Option<Prr>,
    law: Option<f64>,
    /// After a timeout: until this segment is acknowledged.
    timeout_until: u64,
    /// Retransmissions of the last congestion event, while it can be undone.
    episode: Option<Episode>,
}

/// The news of an acknowledgement.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct News {
    pub(super) sent: Option<u64>,
    /// Segments delivered.
    pub(super) delivered: u32,
    /// Something was lost; and this begins a congestion event.
    pub(super) losses: bool,
    pub(super) event: bool,
    /// The last congestion event was none.
    pub(super) spurious: bool,
}

/// Where the flow stands when an acknowledgement arrives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) una: u64,
    pub(super) fresh: u64,
    pub(super) recover: u64,
    pub(super) now: u64,
}

impl Rack {
    pub(super) fn new(options: RackOptions, by_timeout: bool, max_ack_delay: u64) -> Self {
        Self {
            in_flight: 0,
            options,
            trouble: false,
            probes: 0,
            urgent: false,
            by_timeout,
            reordering: false,
            highest: 0,
            latest: 0,
            rtt: 0,
            least_rtt: u64::MAX,
            srtt: 0,
            examined: 0,
            probe_at: None,
            due: None,
            max_ack_delay,
            fack: 0,
            sacked: 0,
            lost: VecDeque::new(),
            early: 0,
            again: BTreeMap::new(),
            multiplier: 1,
            persists: 0,
            dsack_round: None,
            probe: None,
            last_probe: None,
            oldest: Vec::new(),
            persisted: 0,
            delayed: VecDeque::new(),
            prr: None,
            law: None,
            timeout_until: 0,
            episode: None,
        }
    }

    /// Another connection begins: nothing of the last one is known, and packets in flight belong to none.
    pub(super) fn restart(&mut self, next_tx: u64) {
        *self =
            Self { latest: next_tx, examined: next_tx, ..Self::new(self.options, self.by_timeout, self.max_ack_delay) };
    }

    /// Any acknowledgement.
    #[inline(never)]
    fn hear_all<L: Ledger>(&mut self, records: &mut Records, heard: &Heard, place: Place, ledger: &mut L) -> News {
        let news = self.hear_any(records, heard, place, ledger);
        let recovers = place.una.max(heard.cumulative) < place.recover.max(self.timeout_until);
        self.trouble = news.event || (recovers && !news.spurious) || !self.is_calm();
        news
    }

    fn hear_any<L: Ledger>(&mut self, records: &mut Records, heard: &Heard, place: Place, ledger: &mut L) -> News {
        let Place { una, fresh, recover, now } = place;
        let after = una.max(heard.cumulative);
        let covered = after - una;
        self.fack = self.highest;
        if self.episode.as_ref().is_some_and(|episode| episode.until.is_some_and(|until| heard.tx >= until)) {
            self.episode = None;
        }
        let mut news = News::default();
        // Of segments below the new cumulative number, and beyond it.
        let (mut below, mut beyond) = (0, std::mem::take(&mut self.early));
        let mut count = |seq: u64| if seq < after { below += 1 } else { beyond += 1 };
        if records.keeps(heard.tx) {
            if let Some(from) = heard.from {
                let end = expand(from, records.at(heard.tx).seq);
                let mut seq = end;
                let mut tx = heard.tx;
                // Those of the block that acknowledgements were lost of, which were sent just before.
                while tx > records.base && seq > from {
                    tx -= 1;
                    let earlier = *records.at(tx);
                    if expand(from, earlier.seq) != seq - 1 || earlier.fate == Fate::Delivered {
                        break;
                    }
                    seq -= 1;
                    self.deliver(records, tx, una, now, false, ledger);
                    count(seq);
                }
            }
            let record = *records.at(heard.tx);
            news.sent = Some(record.sent);
            self.measure(now - record.sent);
            let seq = expand(una, record.seq);
            if record.fate != Fate::Delivered {
                self.deliver(records, heard.tx, una, now, heard.duplicate, ledger);
                if !heard.duplicate {
                    count(seq);
                }
            }
        }
        below += self.settle(records, after, una, now, ledger);
        // Those that were delivered before, and are covered now, are beyond nothing any more.
        self.sacked = (self.sacked + beyond).saturating_sub(covered.saturating_sub(below));
        if after >= self.highest {
            self.sacked = 0;
        }
        if covered > 0 {
            (self.probes, self.urgent) = (0, false);
        }
        news.delivered = (below + beyond) as u32;
        self.duplicate(heard.duplicate, after, fresh);
        let was_recovering = una < recover || una < self.timeout_until;
        let ends = was_recovering && after >= recover.max(self.timeout_until);
        if ends {
            self.exit(records.next);
        }
        news.spurious = self.is_spurious(heard, covered, was_recovering);
        if news.spurious {
            self.undo(records, after, ledger);
        }
        let in_recovery = after < recover.max(self.timeout_until) && !news.spurious;
        news.losses = self.examine(records, after, now, in_recovery, ledger);
        // Losses beyond the end of a recovery begin the next one at once, as in Linux, which waits for no further loss. QUIC goes by
        // when a lost packet was sent.
        let left = ends && !self.by_timeout && self.has_lost(records);
        news.event = (news.losses || left) && !in_recovery;
        news.event |= self.end_of_probe(heard, after) && !in_recovery && !news.event;
        if covered > 0 {
            self.arm_probe(after, fresh, now, in_recovery || news.event);
        }
        if let Some(prr) = &mut self.prr {
            prr.hear(news.delivered, covered > 0 && !news.losses, self.in_flight);
        }
        news
    }

    /// Segments of older blocks have arrived, all sent before `tx`.
    pub(super) fn blocks<L: Ledger>(
        &mut self,
        records: &mut Records,
        ranges: &[(u64, u64)],
        tx: u64,
        (una, now): (u64, u64),
        ledger: &mut L,
    ) {
        self.fack = self.highest;
        self.trouble |= !ranges.is_empty();
        for &(from, end) in ranges {
            for (tx, _) in records.of(from, end, tx) {
                if records.at(tx).fate != Fate::Delivered {
                    self.deliver(records, tx, una, now, false, ledger);
                    self.early += 1;
                }
            }
        }
    }

    /// Segments in flight or to be sent again.
    pub(super) fn outstanding(&self) -> u64 {
        u64::from(self.in_flight) + self.lost.len() as u64
    }

    /// A round trip was measured [ps].
    #[inline]
    pub(crate) fn measure(&mut self, rtt: u64) {
        self.least_rtt = self.least_rtt.min(rtt);
        self.srtt = if self.srtt == 0 { rtt } else { self.srtt - self.srtt / 8 + rtt / 8 };
    }

    /// The acknowledgement of this transmission waited at the receiver for its whole time, which QUIC's acknowledgements tell.
    #[cold]
    pub(crate) fn delays(&mut self, tx: u32) {
        self.delayed.push_back(tx);
    }

    /// A sample of the round trip without the delay of its acknowledgement, if that leaves the smallest at the least (RFC 9002, section
    /// 5.3) [ps].
    pub(crate) fn without_delay(&mut self, tx: u64, rtt: u64, max_ack_delay: u64) -> u64 {
        while let Some(delayed) = self.delayed.front() {
            let ahead = delayed.wrapping_sub(tx as u32) as i32;
            if ahead > 0 {
                break;
            }
            self.delayed.pop_front();
            if ahead == 0 {
                return rtt.checked_sub(max_ack_delay).filter(|adjusted| *adjusted >= self.least_rtt).unwrap_or(rtt);
            }
        }
        rtt
    }

    /// A transmission arrived that was not known to.
    fn deliver<L: Ledger>(
        &mut self,
        records: &mut Records,
        tx: u64,
        una: u64,
        now: u64,
        duplicate: bool,
        ledger: &mut L,
    ) {
        let record = records.at(tx);
        let was = *record;
        let seq = expand(una, record.seq);
        record.fate = Fate::Delivered;
        let mut sent_again = was.again;
        match was.fate {
            Fate::InFlight => {
                self.in_flight -= 1;
                ledger.delivered(tx);
            }
            Fate::Lost => {
                // What comes late comes in order, so that the search is short.
                if let Some(at) = self.lost.iter().position(|(lost, _)| *lost == seq) {
                    self.lost.remove(at);
                    ledger.late(1);
                } else {
                    sent_again = true;
                    self.forget_later(records, seq, ledger);
                }
            }
            Fate::Delivered => {}
        }
        self.learn(was, tx, now);
        if !duplicate {
            self.reach(seq, sent_again);
        }
    }

    /// A segment arrived although it had been sent again: the later transmission is under way for nothing.
    #[cold]
    fn forget_later<L: Ledger>(&mut self, records: &mut Records, seq: u64, ledger: &mut L) {
        let Some(later) = self.again.remove(&seq).filter(|later| records.keeps(*later)) else { return };
        let record = records.at(later);
        if record.fate == Fate::InFlight {
            record.fate = Fate::Delivered;
            self.in_flight -= 1;
            ledger.delivered(later);
        }
    }

    /// Forgets the oldest transmissions that are below `cumulative` or delivered; returns the segments newly acknowledged.
    fn settle<L: Ledger>(&mut self, records: &mut Records, cumulative: u64, una: u64, now: u64, ledger: &mut L) -> u64 {
        let mut news = 0;
        while records.base < records.next {
            let tx = records.base;
            let Record { seq, fate, .. } = *records.at(tx);
            let covered = expand(cumulative, seq) < cumulative;
            match fate {
                Fate::InFlight if covered => {
                    self.deliver(records, tx, una, now, false, ledger);
                    news += 1;
                }
                Fate::Delivered => {}
                Fate::Lost if covered => {}
                _ => break,
            }
            records.base += 1;
        }
        if cumulative > una {
            if !self.lost.is_empty() {
                let before = self.lost.len();
                self.lost.retain(|(seq, _)| *seq >= cumulative);
                ledger.late((before - self.lost.len()) as u64);
            }
            if self.again.first_key_value().is_some_and(|(seq, _)| *seq < cumulative) {
                self.again = self.again.split_off(&cumulative);
            }
        }
        self.examined = self.examined.max(records.base);
        news
    }

    /// Section 6.2, step 4: the reordering window grows with duplicate SACKs.
    fn duplicate(&mut self, duplicate: bool, una: u64, fresh: u64) {
        if self.dsack_round.is_some_and(|round| una >= round) {
            self.dsack_round = None;
        }
        if duplicate && self.options.dsack && self.dsack_round.is_none() {
            self.dsack_round = Some(fresh);
            self.multiplier += 1;
            self.persists = PERSISTS;
        }
    }

    /// Whether some lost segment has not arrived, sent again or not. A probe takes no segment for lost.
    fn has_lost(&self, records: &mut Records) -> bool {
        let mut missing = |tx: u64| records.keeps(tx) && records.at(tx).fate == Fate::InFlight;
        !self.lost.is_empty() || self.again.values().any(|tx| missing(*tx) && self.last_probe != Some(*tx))
    }

    /// Recovery is over.
    fn exit(&mut self, next_tx: u64) {
        self.prr = None;
        if let Some(episode) = &mut self.episode {
            episode.until.get_or_insert(next_tx);
        }
        if self.persists > 0 {
            self.persists -= 1;
            if self.persists == 0 {
                self.multiplier = 1;
            }
        }
    }

    /// The reordering window now [ps].
    fn window(&self, in_recovery: bool) -> u64 {
        if !self.reordering && (in_recovery || self.sacked >= THRESHOLD) {
            return 0;
        }
        (u64::from(self.multiplier) * (self.least_rtt / 4)).min(self.srtt)
    }

    /// Section 6.2, step 5: declares lost the segments overtaken long enough ago. True if there was any.
    fn examine<L: Ledger>(
        &mut self,
        records: &mut Records,
        una: u64,
        now: u64,
        in_recovery: bool,
        ledger: &mut L,
    ) -> bool {
        while self.examined < self.latest && records.at(self.examined).fate != Fate::InFlight {
            self.examined += 1;
        }
        self.due = None;
        if self.examined + 1 >= self.latest {
            return false;
        }
        let window = self.window(in_recovery);
        let before = self.lost.len();
        for tx in self.examined..self.latest - 1 {
            let record = records.at(tx);
            if record.fate != Fate::InFlight {
                continue;
            }
            let seq = expand(una, record.seq);
            if seq < una {
                record.fate = Fate::Delivered;
                self.in_flight -= 1;
                ledger.delivered(tx);
                continue;
            }
            let due = record.sent.saturating_add(self.rtt).saturating_add(window);
            if due <= now {
                record.fate = Fate::Lost;
                self.in_flight -= 1;
                self.lost.push_back((seq, tx));
                ledger.lost(tx);
            } else {
                self.due = Some(self.due.map_or(due, |latest| latest.max(due)));
            }
        }
        self.lost.len() > before
    }

    /// The timer of reordering goes off at `now`: whether something is lost, and whether that begins a congestion event.
    pub(super) fn overdue<L: Ledger>(&mut self, records: &mut Records, place: Place, ledger: &mut L) -> News {
        let Place { una, recover, now, .. } = place;
        let in_recovery = una < recover.max(self.timeout_until);
        let losses = self.examine(records, una, now, in_recovery, ledger);
        if losses {
            self.probe_at = None;
            self.trouble = true;
        }
        News { losses, event: losses && !in_recovery, ..News::default() }
    }

    /// A congestion event begins, after which the law allows `ssthresh` packets; `undo` means that it can be undone.
    pub(super) fn reduce(
        &mut self,
        records: &mut Records,
        ssthresh: f64,
        outstanding: u64,
        delivered: u32,
        undo: bool,
    ) {
        self.episode = (undo && self.options.undo).then(|| self.new_episode(records));
        self.probe_at = None;
        // The probe that is out has told of its loss (Linux: tlp_high_seq = 0): its end is no second congestion event.
        if !self.by_timeout {
            self.probe = None;
        }
        self.trouble = true;
        if outstanding == 0 {
            // There is no recovery whose end would end the reduction.
            (self.prr, self.law, self.episode) = (None, None, None);
            return;
        }
        if !self.options.prr {
            return;
        }
        // RecoverFS: what was out before this acknowledgement, without what was delivered before.
        let flight = (outstanding + u64::from(delivered)).saturating_sub(self.sacked) as u32;
        let mut prr = Prr::new(ssthresh as u32, flight);
        prr.hear(delivered, false, self.in_flight);
        (self.prr, self.law) = (Some(prr), Some(ssthresh));
    }

    /// Whether recovery goes on, from a loss or from a timeout.
    pub(super) fn recovers(&self, una: u64, recover: u64) -> bool {
        una < recover.max(self.timeout_until)
    }

    /// The window, where it is not the law's output now: that of the reduction under way, or the law's output when
    /// that came to an end [packets]. `law` is its output, if it was called.
    pub(crate) fn shape(&mut self, law: Option<f64>) -> Option<f64> {
        if !self.trouble {
            return None;
        }
        match &mut self.prr {
            Some(prr) => {
                if let Some(window) = law {
                    prr.aim(window as u32);
                    self.law = Some(window);
                }
                Some(prr.window())
            }
            None => self.law.take().filter(|_| law.is_none()),
        }
    }

    /// Time of the next deadline [ps].
    pub(crate) fn due(&self) -> Option<u64> {
        match (self.due, self.probe_at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The time for which a timer may be left alone, since a deadline may come closer [ps].
    pub(crate) fn patience(&self) -> u64 {
        const MOST: u64 = 1_000_000_000;
        if self.srtt == 0 { MOST } else { (self.srtt / 4).max(1) }
    }

    /// The retransmission timer expired (section 6.3): the first segment is lost, and all that were sent long enough ago.
    pub(super) fn timeout<L: Ledger>(&mut self, records: &mut Records, una: u64, fresh: u64, now: u64, ledger: &mut L) {
        let window = self.window(true);
        for tx in records.base..records.next {
            let record = records.at(tx);
            let seq = expand(una, record.seq);
            let old = record.sent.saturating_add(self.rtt).saturating_add(window) <= now;
            if record.fate == Fate::InFlight && (old || seq == una) {
                record.fate = Fate::Lost;
                self.in_flight -= 1;
                if seq >= una {
                    self.lost.push_back((seq, tx));
                    ledger.lost(tx);
                } else {
                    ledger.delivered(tx);
                }
            }
        }
        self.lost.make_contiguous().sort_unstable();
        self.probe = None;
        (self.probes, self.probe_at, self.due) = (0, None, None);
        (self.prr, self.law, self.urgent) = (None, None, true);
        self.timeout_until = fresh;
        self.trouble = true;
        self.episode = self.options.undo.then(|| self.new_episode(records));
    }
}

#[cfg(test)]
mod tests;
