//! Monitor intervals: the fates of the packets that were sent at one rate.
//!
//! Source: Dong et al., "PCC Vivace: Online-Learning Congestion Control" (NSDI 2018), section 4: sending rate, loss rate, and the
//! slope of the round-trip time over time, by linear regression. The monitor interval of PCC Allegro (NSDI 2015) has no slope.

use super::{Delivery, DeliveryEvent};
use crate::quantity::Time;

/// Round trips after the end of an interval, by which a packet without acknowledgement or loss is given up.
const PATIENCE: f64 = 4.0;

/// The interval that a packet was sent in learns of its delivery or loss.
pub(super) fn hear(intervals: &mut [Option<Interval>], d: &Delivery) {
    let sent = match &d.event {
        DeliveryEvent::Ack(ack) => ack.rtt.map(|rtt| d.now - rtt).or(ack.rate.map(|rate| rate.then.sent)),
        DeliveryEvent::Lost(lost) => Some(lost.sent),
        _ => None,
    };
    let Some(sent) = sent else { return };
    let Some(interval) = intervals.iter_mut().flatten().find(|interval| interval.has(sent)) else { return };
    match &d.event {
        DeliveryEvent::Ack(ack) => interval.acked(sent, ack.packets, ack.rtt),
        _ => interval.lost(),
    }
}

/// Time passes: whether an interval ends.
pub(super) fn pass(intervals: &mut [Option<Interval>], d: &Delivery) -> bool {
    let mut ends = false;
    for interval in intervals.iter_mut().flatten() {
        if d.app_limited {
            interval.limit();
        }
        if interval.end.is_none() && d.now >= interval.due {
            interval.end(d.now, d.sent);
            ends = true;
        }
    }
    ends
}

/// When an interval is to be looked at next. A result that was waited for in vain is looked at with whatever comes next.
pub(super) fn next(intervals: &[Option<Interval>], now: Time, rtt_s: f64) -> Option<Time> {
    let times = intervals.iter().flatten().map(|interval| match interval.end {
        None => interval.due,
        Some(end) => Time(end.0.saturating_add(Time::from_seconds(1.01 * PATIENCE * rtt_s).0)),
    });
    times.filter(|time| *time > now).min_by_key(|time| time.0)
}

/// One interval, under way or over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    /// Rate of its packets [packets/s].
    pub(super) rate: f64,
    start: Time,
    /// The latest sending time of its last packet.
    pub(super) due: Time,
    /// Its end.
    pub(super) end: Option<Time>,
    /// Packets sent by its start, and in it once it is over.
    sent_before: u64,
    sent: u64,
    acked: u64,
    lost: u64,
    /// The flow was short of data in it.
    limited: bool,
    /// Sums over samples of the round-trip time: their number, of time since the start, of the sample above the first, of their
    /// product, of the square of the time [s].
    sums: [f64; 5],
    first_s: f64,
}

impl Interval {
    /// It begins now; `sent` packets were sent before.
    pub(super) fn begin(now: Time, lasts: Time, rate: f64, sent: u64) -> Self {
        Self {
            rate,
            start: now,
            due: Time(now.0.saturating_add(lasts.0)),
            end: None,
            sent_before: sent,
            sent: 0,
            acked: 0,
            lost: 0,
            limited: false,
            sums: [0.0; 5],
            first_s: 0.0,
        }
    }

    /// It is over.
    pub(super) fn end(&mut self, now: Time, sent: u64) {
        self.end = Some(now);
        self.sent = sent.saturating_sub(self.sent_before);
    }

    /// True if a packet that was sent then is one of its own.
    pub(super) fn has(&self, sent: Time) -> bool {
        sent >= self.start && self.end.is_none_or(|end| sent < end)
    }

    /// Packets of its own were delivered, the last of them after such a round trip.
    pub(super) fn acked(&mut self, sent: Time, packets: u32, rtt: Option<Time>) {
        self.acked += u64::from(packets);
        let Some(rtt) = rtt else { return };
        let (t, rtt_s) = (sent.since(self.start).seconds(), rtt.seconds());
        if self.sums[0] == 0.0 {
            self.first_s = rtt_s;
        }
        // Above the first sample: differences are small against what they are differences of.
        let r = rtt_s - self.first_s;
        for (sum, x) in self.sums.iter_mut().zip([1.0, t, r, t * r, t * t]) {
            *sum += x;
        }
    }

    /// A packet of its own was lost.
    pub(super) fn lost(&mut self) {
        self.lost += 1;
    }

    /// True if it has all of its results, or waits in vain.
    pub(super) fn is_over(&self, rtt_s: f64, now: Time) -> bool {
        self.is_known() || self.end.is_some_and(|end| now.since(end).seconds() > PATIENCE * rtt_s)
    }

    /// The flow is short of data.
    pub(super) fn limit(&mut self) {
        self.limited |= self.end.is_none();
    }

    /// True if it is valid: the flow had data all the time, and sent some.
    pub(super) fn is_useful(&self) -> bool {
        !self.limited && self.acked + self.lost > 0
    }

    /// True if all of its packets are accounted for.
    pub(super) fn is_known(&self) -> bool {
        self.end.is_some() && self.acked + self.lost >= self.sent
    }

    /// The largest rate that its packets admit [packets/s], once it is over. At its own rate, one packet is less than due by the count of
    /// whole packets, and up to one by the gap before its first, which the rate before it made.
    pub(super) fn possible(&self) -> f64 {
        let lasted_s = self.end.map_or(0.0, |end| end.since(self.start).seconds());
        if lasted_s > 0.0 { (self.sent + 2) as f64 / lasted_s } else { self.rate }
    }

    /// Share of its packets that were lost.
    pub(super) fn loss(&self) -> f64 {
        self.lost as f64 / (self.acked + self.lost).max(1) as f64
    }

    /// Slope of the round-trip time over the time of sending.
    pub(super) fn slope(&self) -> f64 {
        let [n, t, r, tr, tt] = self.sums;
        let spread = n * tt - t * t;
        if spread > 0.0 { (n * tr - t * r) / spread } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(at: u64) -> Time {
        Time(at * 1_000_000_000)
    }

    /// A round trip that grows by 0.3 ms each ms, with samples off by up to as much to both sides.
    #[test]
    fn the_slope_is_that_of_the_line() {
        let mut interval = Interval::begin(ms(100), ms(40), 1000.0, 7);
        for at in 0..40u64 {
            let off_us = if at % 2 == 0 { 250 } else { -250i64 };
            let rtt_us = 50_000 + 300 * at as i64 + off_us;
            interval.acked(ms(100 + at), 1, Some(Time(rtt_us as u64 * 1_000_000)));
        }
        assert!((interval.slope() - 0.3).abs() < 0.001, "{}", interval.slope());
    }

    /// Packets belong to the interval in which they were sent, and it is known once each was delivered or lost.
    #[test]
    fn an_interval_is_known_when_its_packets_are() {
        let mut interval = Interval::begin(ms(100), ms(40), 1000.0, 7);
        interval.end(ms(140), 11);
        assert!(interval.has(ms(100)) && interval.has(ms(139)) && !interval.has(ms(99)) && !interval.has(ms(140)));
        interval.acked(ms(101), 2, None);
        interval.lost();
        assert!(!interval.is_known());
        interval.acked(ms(103), 1, Some(ms(40)));
        assert!(interval.is_known() && interval.is_useful());
        assert_eq!((interval.loss(), interval.slope()), (0.25, 0.0));
    }
}
