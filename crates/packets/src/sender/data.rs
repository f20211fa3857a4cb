//! Data control: which segment to send next, and what an acknowledgement says was delivered and lost.

mod newreno;
mod records;
mod sack;

use penstock_law::quantity::Time;
use penstock_scenario::model::Recovery;

pub(crate) use newreno::NewReno;
pub(crate) use sack::Sack;

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
}

/// What an acknowledgement says.
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
}

/// A segment to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) seq: u64,
    /// It was sent before.
    pub(crate) again: bool,
}

/// Segments of a flow: what is acknowledged, what is in flight, what comes next.
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
    /// Segments from this one on were sent once at the most.
    once: u64,
    records: Records,
    pub(crate) rule: Rule,
}

#[derive(Debug)]
pub(crate) enum Rule {
    Sack(Sack),
    NewReno(NewReno),
}

impl Data {
    pub(crate) fn new(recovery: Recovery, limited_transmit: bool, limit: u64) -> Self {
        let rule = match recovery {
            Recovery::Sack => Rule::Sack(Sack::default()),
            Recovery::NewReno => Rule::NewReno(NewReno::new(false, limited_transmit)),
            Recovery::Reno => Rule::NewReno(NewReno::new(true, limited_transmit)),
        };
        Self { una: 0, fresh: 0, limit, recover: 0, event: 0, once: 0, records: Records::new(), rule }
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

    /// Lost data are being recovered.
    #[inline]
    pub(crate) fn recovering(&self) -> bool {
        self.una < self.recover
    }

    /// Everything sent was acknowledged.
    pub(crate) fn idle(&self) -> bool {
        self.una == self.fresh
    }

    /// An acknowledgement arrived.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn hear(&mut self, heard: &Heard) -> Outcome {
        let covered = heard.cumulative.saturating_sub(self.una);
        let sure = covered > 0 && self.una >= self.once;
        let (sent, lost) = match &mut self.rule {
            Rule::Sack(sack) => sack.hear(&mut self.records, heard, self.una, self.event),
            Rule::NewReno(newreno) => {
                let sent = self.records.sent(heard.tx);
                (sent, newreno.hear(&mut self.records, heard, self.una, self.fresh, self.recover))
            }
        };
        self.una = self.una.max(heard.cumulative);
        if lost {
            self.cut();
            (self.recover, self.once) = (self.fresh, self.fresh);
        } else if let Rule::NewReno(newreno) = &self.rule
            && newreno.gave_up()
        {
            self.recover = self.recover.min(self.una);
        }
        Outcome { covered: covered as u32, sent, lost, sure }
    }

    /// A duplicate acknowledgement came: of each packet that it told of a segment that is lost may take the place, whatever
    /// the window. Duplicates widen NewReno's window by themselves.
    #[cold]
    pub(crate) fn mend(&mut self) {
        if let Rule::Sack(sack) = &mut self.rule {
            sack.urgent = sack.urgent.max(sack.told);
        }
    }

    /// A congestion event begins: nothing sent so far can cause another.
    pub(crate) fn cut(&mut self) {
        self.event = self.records.next;
    }

    /// The segment to send next if `window` allows one; new data only if `fresh`.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn pick(&mut self, window: f64, fresh: bool, receive_segments: u64) -> Option<Segment> {
        let again = match &mut self.rule {
            Rule::Sack(sack) => {
                // One more would exceed the window.
                if sack.in_flight > 0 && f64::from(sack.in_flight) + 1.0 > window && sack.urgent == 0 {
                    return None;
                }
                let again = sack.again(self.una);
                if again.is_none() {
                    sack.urgent = 0;
                }
                again
            }
            Rule::NewReno(newreno) => match newreno.pick(self.una, self.fresh, window) {
                newreno::Pick::Again(seq) => Some(seq),
                newreno::Pick::Fresh => None,
                newreno::Pick::Nothing => return None,
            },
        };
        if let Some(seq) = again {
            return Some(Segment { seq, again: true });
        }
        let room = self.fresh - self.una < receive_segments;
        (fresh && self.fresh < self.limit && room).then_some(Segment { seq: self.fresh, again: false })
    }

    /// The picked segment was sent.
    #[inline]
    pub(crate) fn sent(&mut self, segment: Segment, now: u64) {
        self.records.push(segment.seq, now);
        match &mut self.rule {
            Rule::Sack(sack) => sack.sent(segment),
            Rule::NewReno(newreno) => newreno.sent(segment),
        }
        if !segment.again {
            self.fresh += 1;
        }
    }

    /// Everything was acknowledged, and another connection begins: what is still under way belongs to none.
    pub(crate) fn restart(&mut self) {
        match &mut self.rule {
            Rule::Sack(sack) => *sack = Sack::default(),
            Rule::NewReno(newreno) => newreno.restart(),
        }
        self.records.base = self.records.next;
        self.recover = self.una;
        self.cut();
    }

    /// Packets that the window has room for, and the window; none where nothing is gained by waiting for more room:
    /// nothing is in flight, something is to be sent again, or fewer than `burst` segments are left.
    pub(crate) fn room(&self, window: f64, burst: u32) -> Option<(u64, f64)> {
        let (in_flight, again) = match &self.rule {
            Rule::Sack(sack) => (u64::from(sack.in_flight), sack.mends()),
            Rule::NewReno(newreno) => (newreno.in_flight(self.una, self.fresh), newreno.mends()),
        };
        let waits = in_flight > 0 && !again && self.limit - self.fresh >= u64::from(burst);
        waits.then(|| ((window - in_flight as f64).max(0.0) as u64, window))
    }

    /// The segment that a transmission carried, if it is still kept.
    pub(crate) fn segment_of(&self, tx: u64) -> Option<u64> {
        self.records.segment(tx).map(|low| crate::packet::expand(self.una, low))
    }

    /// The run is over: nothing more is sent or heard.
    pub(crate) fn release(&mut self) {
        self.records = Records::new();
    }

    /// The retransmission timer expired: everything in flight counts as lost.
    pub(crate) fn timeout(&mut self) {
        match &mut self.rule {
            Rule::Sack(sack) => sack.timeout(&mut self.records, self.una),
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
        }
    }
}

/// A span since `sent`.
pub(crate) fn since(now: u64, sent: u64) -> Time {
    Time(now - sent)
}

/// Sends what the window allows; returns the segments.
#[cfg(test)]
fn send(data: &mut Data, window: f64) -> Vec<u64> {
    let mut sent = Vec::new();
    while let Some(segment) = data.pick(window, true, u64::MAX) {
        data.sent(segment, 0);
        sent.push(segment.seq);
    }
    sent
}
