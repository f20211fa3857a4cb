//! Data control: the next segment to send, and the segments that an acknowledgement reports as delivered or lost.

mod newreno;
mod prr;
mod rack;
mod records;
mod sack;

use penstock_law::quantity::Time;
use penstock_scenario::model::{Recovery, Rto, SenderOptions};

pub(crate) use newreno::NewReno;
pub(crate) use rack::Rack;
pub(crate) use sack::Sack;

use rack::Place;

use crate::kind::OfKind;
#[cfg(test)]
use crate::kind::Other;

use records::Records;

/// An acknowledgement, its numbers restored to 64 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heard {
    /// The first segment the receiver lacks.
    pub(crate) cumulative: u64,
    /// The transmission that caused it.
    pub(crate) tx: u64,
    /// The first segment of the block that one belongs to, if that lies beyond a hole.
    pub(crate) from: Option<u64>,
    /// The receiver had the segment before: a duplicate SACK (RFC 2883).
    pub(crate) duplicate: bool,
}

/// The outcome of an acknowledgement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Segments newly covered by the cumulative number.
    pub(crate) covered: u32,
    /// When the transmission that caused it was sent, if that is still known [ps].
    pub(crate) sent: Option<u64>,
    /// Something sent after the last congestion event was lost: a new one.
    pub(crate) lost: bool,
    /// It covers new data, all of it sent once, so that its round trip is beyond doubt (RFC 6298, section 3).
    pub(crate) sure: bool,
    /// Of recovery by time: segments delivered.
    pub(crate) delivered: u32,
    /// Of recovery by time: the last congestion event was none.
    pub(crate) spurious: bool,
    /// Of recovery by time: something was lost, in a congestion event or in a recovery.
    pub(crate) losses: bool,
}

/// Is called with the fate of each transmission. Most flows have no such ledger, and then this costs nothing.
pub(crate) trait Ledger {
    /// Whether it keeps anything.
    const KEEPS: bool = true;
    /// A transmission that was in flight was delivered.
    fn delivered(&mut self, tx: u64);
    /// One that was in flight is lost.
    fn lost(&mut self, tx: u64);
    /// So many that were lost were delivered after all, and were not sent again.
    fn late(&mut self, packets: u64);
    /// One that was lost is in flight after all.
    fn not_lost(&mut self);
}

impl Ledger for () {
    const KEEPS: bool = false;
    fn delivered(&mut self, _: u64) {}
    fn lost(&mut self, _: u64) {}
    fn late(&mut self, _: u64) {}
    fn not_lost(&mut self) {}
}

/// A segment to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) seq: u64,
    /// It was sent before.
    pub(crate) again: bool,
}

/// Segments of a flow: acknowledged ones, those in flight, and the next.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Data {
    /// The first segment not acknowledged.
    pub(crate) una: u64,
    /// The first segment never sent.
    pub(crate) fresh: u64,
    /// Segments there are to send.
    pub(crate) limit: u64,
    /// Recovery lasts until this segment is acknowledged.
    pub(crate) recover: u64,
    /// Transmissions from this one on were sent after the last congestion event.
    pub(crate) event: u64,
    /// Segments from this one on were first sent after it.
    new: u64,
    /// Segments from this one on were sent once at the most.
    once: u64,
    records: Records,
    pub(crate) rule: Rule,
}

#[derive(Debug)]
pub(crate) enum Rule {
    Sack(Sack),
    NewReno(NewReno),
    // Large, and not for papers of the past.
    Rack(Box<Rack>),
}

impl Data {
    pub(crate) fn new(options: &SenderOptions, limit: u64) -> Self {
        let rule = match options.recovery {
            Recovery::Sack => Rule::Sack(Sack::default()),
            Recovery::NewReno => Rule::NewReno(NewReno::new(false, options.limited_transmit)),
            Recovery::Reno => Rule::NewReno(NewReno::new(true, options.limited_transmit)),
            Recovery::Rack => {
                Rule::Rack(Box::new(Rack::new(options.rack, options.rto == Rto::Rfc9002, options.min_rto.0)))
            }
        };
        Self { una: 0, fresh: 0, limit, recover: 0, event: 0, new: 0, once: 0, records: Records::new(), rule }
    }

    /// Sends for the records that the next acknowledgement and the next segment need.
    #[inline]
    pub(crate) fn fetch(&self) {
        self.records.fetch();
    }

    /// The number of the next transmission.
    #[inline]
    pub(crate) fn next_tx(&self) -> u64 {
        self.records.next
    }

    /// When the oldest transmission that is kept was sent [ps].
    pub(crate) fn oldest_sent(&self) -> Option<u64> {
        self.records.oldest()
    }

    /// The oldest transmission that is kept.
    pub(crate) fn oldest_tx(&self) -> u64 {
        self.records.base
    }

    /// Lost data are being recovered.
    #[inline]
    pub(crate) fn recovering(&self) -> bool {
        self.una < self.recover
    }

    /// FlightSize of RFC 5681: segments sent and not acknowledged, be they delivered or lost.
    pub(crate) fn flight_size(&self) -> u64 {
        self.fresh - self.una
    }

    /// Everything sent was acknowledged.
    pub(crate) fn idle(&self) -> bool {
        self.una == self.fresh
    }

    /// An acknowledgement arrived.
    #[cfg(test)]
    pub(crate) fn hear(&mut self, heard: &Heard, now: u64) -> Outcome {
        self.hear_as::<Other, ()>(heard, now, &mut ())
    }

    /// An acknowledgement arrived. The flow is of kind `K`; each transmission is accounted for.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn hear_as<K: OfKind, L: Ledger>(&mut self, heard: &Heard, now: u64, ledger: &mut L) -> Outcome {
        self.hear_within::<K, L>(heard, now, false, ledger)
    }

    /// The same; where `whole`, a recovery lasts until the segments sent before it are acknowledged, and no longer,
    /// whatever is lost meanwhile (RFC 6582: `recover` is set as a recovery begins).
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn hear_within<K: OfKind, L: Ledger>(
        &mut self,
        heard: &Heard,
        now: u64,
        whole: bool,
        ledger: &mut L,
    ) -> Outcome {
        let covered = heard.cumulative.saturating_sub(self.una);
        let sure = covered > 0 && self.una >= self.once;
        let (mut delivered, mut spurious, mut losses) = (0, false, false);
        let (sent, mut lost) = match &mut self.rule {
            Rule::Sack(sack) if !K::TODAY => sack.hear(&mut self.records, heard, self.una, self.event, ledger),
            Rule::NewReno(newreno) if !K::TODAY => {
                let sent = self.records.sent(heard.tx);
                (sent, newreno.hear(&mut self.records, heard, self.una, self.fresh, self.recover))
            }
            Rule::Rack(rack) if !K::PLAIN => {
                let place = Place { una: self.una, fresh: self.fresh, recover: self.recover, now };
                let news = rack.hear(&mut self.records, heard, place, ledger);
                (delivered, spurious, losses) = (news.delivered, news.spurious, news.losses);
                (news.sent, news.event)
            }
            _ => unreachable!("the kind of a group goes by its recovery"),
        };
        self.una = self.una.max(heard.cumulative);
        if spurious {
            self.recover = self.recover.min(self.una);
        }
        if whole && lost && self.recovering() {
            // Lost in a recovery: it is sent again, and the recovery ends where it would have ended.
            self.once = self.fresh;
            lost = false;
        }
        if lost {
            self.cut();
            (self.recover, self.once) = (self.fresh, self.fresh);
        } else if !K::TODAY
            && let Rule::NewReno(newreno) = &self.rule
            && newreno.gave_up()
        {
            self.recover = self.recover.min(self.una);
        }
        Outcome { covered: covered as u32, sent, lost, sure, delivered, spurious, losses }
    }

    /// The same as [`Data::hear_within`], for an acknowledgement that lacks all but the numbers of the segment that the receiver lacks and
    /// of the transmission that caused it, if that is all there is to it: the next segment, by the oldest transmission, outside of
    /// recovery. The transmission, and when it was sent [ps]. None, and all as before, where there is more to it, as the end of a transfer.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn hear_next(&mut self, lacks: u32, tx: u32) -> Option<(u64, u64)> {
        let (next, oldest) = (self.una + 1, self.records.base);
        if lacks != next as u32 || tx != oldest as u32 || self.recovering() || next >= self.limit {
            return None;
        }
        let sent = match &mut self.rule {
            Rule::Sack(sack) => sack.hear_next(&mut self.records, next)?,
            Rule::NewReno(newreno) => newreno.hear_next(&mut self.records, next)?,
            Rule::Rack(_) => return None,
        };
        self.una = next;
        Some((oldest, sent))
    }

    /// Segments reported by older blocks of an acknowledgement have arrived, all sent before transmission `tx`: those of
    /// `ranges`, of which acknowledgements were lost. It comes before the acknowledgement itself.
    pub(crate) fn blocks<L: Ledger>(&mut self, ranges: &[(u64, u64)], tx: u64, now: u64, ledger: &mut L) {
        match &mut self.rule {
            Rule::Sack(sack) => sack.blocks(&mut self.records, ranges, tx, ledger),
            Rule::Rack(rack) => rack.blocks(&mut self.records, ranges, tx, (self.una, now), ledger),
            Rule::NewReno(_) => {}
        }
    }

    /// Segments sent and not yet acknowledged in any way.
    pub(crate) fn outstanding(&self) -> u64 {
        match &self.rule {
            Rule::Sack(sack) => sack.outstanding(),
            Rule::Rack(rack) => rack.outstanding(),
            Rule::NewReno(_) => self.fresh - self.una,
        }
    }

    /// Its state, where recovery is by time.
    #[inline]
    pub(crate) fn rack(&mut self) -> Option<&mut Rack> {
        if let Rule::Rack(rack) = &mut self.rule { Some(rack) } else { None }
    }

    /// Whether recovery by time goes on, from a loss, a mark or a timeout.
    pub(crate) fn in_recovery(&self) -> bool {
        if let Rule::Rack(rack) = &self.rule { rack.recovers(self.una, self.recover) } else { self.recovering() }
    }

    /// A congestion event began with this acknowledgement, of recovery by time: the window falls to the law's output. A
    /// mark begins a reduction as a loss does, but cannot be undone; nor can a loss, where the acknowledgement is also `marked`.
    pub(crate) fn reduce(&mut self, allowed: f64, outcome: &Outcome, marked: bool) {
        if !outcome.lost {
            self.recover = self.fresh;
        }
        let outstanding = self.fresh - self.una;
        if let Rule::Rack(rack) = &mut self.rule {
            rack.reduce(&mut self.records, allowed, outstanding, outcome.delivered, outcome.lost && !marked);
        }
    }

    /// The retransmission timer expired: whether a tail loss probe that is still to come goes out instead.
    pub(crate) fn probes_instead(&mut self) -> bool {
        self.rack().is_some_and(Rack::probes_instead)
    }

    /// A probe timeout expired: the next packets go out whatever the window is.
    #[cold]
    pub(crate) fn probe(&mut self) {
        let una = self.una;
        if let Rule::Rack(rack) = &mut self.rule {
            rack.probe_by_timeout(&mut self.records, una);
        }
    }

    /// When the packets that were overtaken count as lost, if there are any [ps].
    pub(crate) fn overtaken(&mut self) -> Option<u64> {
        self.rack().and_then(|rack| rack.due)
    }

    /// Losses were reported: whether they are persistent congestion, as nothing was delivered between two of them sent more than
    /// `span` ps apart (RFC 9002, section 7.6.2).
    #[cold]
    pub(crate) fn is_persistent(&mut self, span: u64) -> bool {
        let Rule::Rack(rack) = &mut self.rule else { return false };
        rack.is_persistent(&mut self.records, span)
    }

    /// The timer of recovery by time: the deadlines that `now` has reached. True if that begins a congestion event.
    pub(crate) fn overdue<L: Ledger>(&mut self, now: u64, ledger: &mut L) -> Overdue {
        let place = Place { una: self.una, fresh: self.fresh, recover: self.recover, now };
        let Rule::Rack(rack) = &mut self.rule else { return Overdue::default() };
        let mut what = Overdue::default();
        if rack.due.is_some_and(|due| due <= now) {
            let news = rack.overdue(&mut self.records, place, ledger);
            (what.event, what.losses) = (news.event, news.losses);
        }
        if rack.probe_at.is_some_and(|due| due <= now) {
            rack.probe();
            what.probe = true;
        }
        if what.event {
            self.cut();
            (self.recover, self.once) = (self.fresh, self.fresh);
        }
        what
    }

    /// An acknowledgement of a recovery came: for each packet that it reported a lost segment may be sent again, whatever
    /// the window. With cumulative acknowledgements alone this is what duplicates and partial acknowledgements do
    /// (RFC 6582, section 3.2, steps 3 and 5).
    #[cold]
    pub(crate) fn mend(&mut self) {
        if let Rule::Sack(sack) = &mut self.rule {
            sack.urgent = sack.urgent.max(sack.told + std::mem::take(&mut sack.early));
        }
    }

    /// A congestion event begins: nothing sent so far can cause another.
    pub(crate) fn cut(&mut self) {
        (self.event, self.new) = (self.records.next, self.fresh);
    }

    /// Whether a transmission that is not older than those kept was sent before the last congestion event.
    #[inline]
    pub(crate) fn is_before_event(&self, tx: u32) -> bool {
        crate::packet::expand(self.records.next, tx) < self.event
    }

    /// Whether a transmission that was just acknowledged carried a segment that was first sent after the last congestion event.
    #[cold]
    pub(crate) fn is_new(&self, tx: u64) -> bool {
        let segment = self.records.segment(tx).or_else(|| self.records.forgotten(tx));
        segment.is_some_and(|low| crate::packet::expand(self.una, low) >= self.new)
    }

    /// The segment to send next if `window` allows one; new data only if `fresh`.
    #[cfg(test)]
    pub(crate) fn pick(&mut self, window: f64, fresh: bool, receive_segments: u64) -> Option<Segment> {
        self.pick_as::<Other>(window, fresh, receive_segments)
    }

    /// The same for a flow of kind `K`.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn pick_as<K: OfKind>(&mut self, window: f64, fresh: bool, receive_segments: u64) -> Option<Segment> {
        let again = match &mut self.rule {
            Rule::Sack(sack) if !K::TODAY => {
                // One more would exceed the window.
                let full = sack.in_flight > 0 && f64::from(sack.in_flight) + 1.0 > window;
                if full && sack.urgent == 0 {
                    return None;
                }
                let again = sack.again(self.una);
                if again.is_none() {
                    // Only what was lost may exceed it.
                    sack.urgent = 0;
                    if full {
                        return None;
                    }
                }
                again
            }
            Rule::NewReno(newreno) if !K::TODAY => match newreno.pick(self.una, self.fresh, window) {
                newreno::Pick::Again(seq) => Some(seq),
                newreno::Pick::Fresh => None,
                newreno::Pick::Nothing => return None,
            },
            Rule::Rack(rack) if !K::PLAIN => {
                let new = || fresh && self.fresh < self.limit && self.fresh - self.una < receive_segments;
                match rack.pick(self.una, self.fresh, window, new) {
                    rack::Pick::Again(seq) => Some(seq),
                    rack::Pick::Fresh => None,
                    rack::Pick::Nothing => return None,
                }
            }
            _ => unreachable!("the kind of a group goes by its recovery"),
        };
        if let Some(seq) = again {
            return Some(Segment { seq, again: true });
        }
        let room = self.fresh - self.una < receive_segments;
        (fresh && self.fresh < self.limit && room).then_some(Segment { seq: self.fresh, again: false })
    }

    /// Where nothing is to be sent but new data: how many segments may be, with at most so many that are not acknowledged. The flow is
    /// of kind `K`.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn may_begin<K: OfKind>(&self, window: f64, receive_segments: u64) -> Option<u64> {
        let unacknowledged = self.fresh - self.una;
        let in_flight = match &self.rule {
            Rule::Sack(sack) if K::PLAIN => sack.calm()?,
            Rule::NewReno(newreno) if K::PLAIN => newreno.calm().then_some(unacknowledged)?,
            Rule::Rack(rack) if K::TODAY => rack.calm()?,
            _ => return None,
        };
        let room = receive_segments.saturating_sub(unacknowledged).min(self.limit.saturating_sub(self.fresh));
        // One goes out when nothing is in flight, however small the window is. By way of a signed integer, which the processor
        // converts to in one step.
        let allowed = (window.min(1e15) as i64 as u64).max(u64::from(in_flight == 0));
        Some(allowed.saturating_sub(in_flight).min(room))
    }

    /// One of these was sent: its segment and its transmission.
    #[inline]
    pub(crate) fn begin<K: OfKind>(&mut self, now: u64) -> (u64, u64) {
        let (seq, tx) = (self.fresh, self.records.next);
        self.records.push(seq, now, false);
        self.fresh += 1;
        match &mut self.rule {
            Rule::Sack(sack) if K::PLAIN => sack.in_flight += 1,
            Rule::Rack(rack) if K::TODAY => rack.in_flight += 1,
            _ => {}
        }
        (seq, tx)
    }

    /// All of them were sent.
    #[inline]
    pub(crate) fn begun(&mut self, now: u64) {
        if let Rule::Rack(rack) = &mut self.rule {
            rack.arm_probe(self.una, self.fresh, now, false);
        }
    }

    /// The picked segment was sent.
    #[cfg(test)]
    pub(crate) fn sent(&mut self, segment: Segment, now: u64) {
        self.sent_as::<Other>(segment, now);
    }

    /// The same for a flow of kind `K`.
    #[inline]
    pub(crate) fn sent_as<K: OfKind>(&mut self, segment: Segment, now: u64) {
        self.sent_here::<K>(segment, now);
    }

    /// The same, as a part of the caller.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn sent_here<K: OfKind>(&mut self, segment: Segment, now: u64) {
        let tx = self.records.next;
        self.records.push(segment.seq, now, segment.again);
        match &mut self.rule {
            Rule::Sack(sack) if !K::TODAY => sack.sent(segment),
            Rule::NewReno(newreno) if !K::TODAY => newreno.sent(segment),
            Rule::Rack(rack) if !K::PLAIN => {
                if segment.again {
                    self.once = self.fresh;
                }
                let place = Place { una: self.una, fresh: self.fresh, recover: self.recover, now };
                rack.sent(&mut self.records, segment, tx, place);
            }
            _ => unreachable!("the kind of a group goes by its recovery"),
        }
        if !segment.again {
            self.fresh += 1;
        }
    }

    /// Everything was acknowledged, and another connection begins: packets still under way belong to none.
    pub(crate) fn restart(&mut self) {
        match &mut self.rule {
            Rule::Sack(sack) => *sack = Sack::default(),
            Rule::NewReno(newreno) => newreno.restart(),
            Rule::Rack(rack) => rack.restart(self.records.next),
        }
        self.records.base = self.records.next;
        self.recover = self.una;
        self.cut();
    }

    /// Packets that fit into the window, and the window; none where nothing is gained by waiting for more space:
    /// nothing is in flight, something is to be sent again, or fewer than `burst` segments are left.
    pub(crate) fn room(&self, window: f64, burst: u32) -> Option<(u64, f64)> {
        let (in_flight, again) = match &self.rule {
            Rule::Sack(sack) => (u64::from(sack.in_flight), sack.mends()),
            Rule::NewReno(newreno) => (newreno.in_flight(self.una, self.fresh), newreno.mends()),
            Rule::Rack(rack) => (u64::from(rack.in_flight), rack.mends()),
        };
        let waits = in_flight > 0 && !again && self.limit - self.fresh >= u64::from(burst);
        waits.then(|| ((window - in_flight as f64).max(0.0) as u64, window))
    }

    /// The segment that a transmission carried, if it is still kept.
    pub(crate) fn segment_of(&self, tx: u64) -> Option<u64> {
        self.records.segment(tx).map(|low| crate::packet::expand(self.una, low))
    }

    /// The run is over: nothing more is sent or received.
    pub(crate) fn release(&mut self) {
        self.records = Records::new();
    }

    /// The retransmission timer expired: everything in flight counts as lost, or by time the packets that are old enough.
    pub(crate) fn timeout<L: Ledger>(&mut self, now: u64, ledger: &mut L) {
        match &mut self.rule {
            Rule::Rack(rack) => rack.timeout(&mut self.records, self.una, self.fresh, now, ledger),
            Rule::Sack(sack) => sack.timeout(&mut self.records, self.una, ledger),
            Rule::NewReno(newreno) => newreno.timeout(&mut self.records, self.una, self.fresh),
        }
        (self.recover, self.once) = (self.una, self.fresh);
        self.cut();
    }

    /// Packets thought to be in flight.
    pub(crate) fn in_flight(&self) -> u64 {
        match &self.rule {
            Rule::Sack(sack) => u64::from(sack.in_flight),
            Rule::NewReno(newreno) => newreno.in_flight(self.una, self.fresh),
            Rule::Rack(rack) => u64::from(rack.in_flight),
        }
    }
}

/// The outcome of the timer of recovery by time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Overdue {
    /// Something is lost; and this begins a congestion event.
    pub(crate) losses: bool,
    pub(crate) event: bool,
    /// A probe goes out.
    pub(crate) probe: bool,
}

/// A span since `sent`.
pub(crate) fn since(now: u64, sent: u64) -> Time {
    Time(now - sent)
}

/// The defaults, with this recovery.
#[cfg(test)]
pub(super) fn options(recovery: Recovery, limited_transmit: bool) -> SenderOptions {
    SenderOptions { recovery, limited_transmit, ..SenderOptions::default() }
}

/// Sends the segments that the window allows; returns them.
#[cfg(test)]
fn send(data: &mut Data, window: f64) -> Vec<u64> {
    let mut sent = Vec::new();
    while let Some(segment) = data.pick(window, true, u64::MAX) {
        data.sent(segment, 0);
        sent.push(segment.seq);
    }
    sent
}

#[cfg(test)]
mod tests;
