//! Transmissions that are under way, with where the path stood when each left: for round-trip times and rate samples.
//!
//! quinn reports a transmission, which may be several packets, as one number of bytes, and names packets by the time at
//! which they were sent. So a record is a transmission. Packets of ACK frames alone have no bytes here. Where the adapter takes
//! such a packet for another, quinn's count in flight decides.

use std::collections::VecDeque;
use std::time::Instant;

use penstock_law::cc::{RateSample, Transmission};
use penstock_law::quantity::Time;

/// More transmissions are not remembered: the oldest of them go without a sample.
const MOST: usize = 1 << 16;
/// No transmission has more bytes: with [`MOST`] of them no sum overflows.
const LARGEST: u64 = u32::MAX as u64;

/// A transmission.
#[derive(Debug, Clone, Copy)]
struct Flight {
    left: Instant,
    /// Bytes that are neither acknowledged nor lost.
    under_way: u64,
    /// The state of the path then.
    then: Transmission,
    /// P.delivered_time and P.first_send_time of the BBR draft.
    delivered_time: Time,
    first_sent: Time,
}

/// The flights of one path, in packets of the size that the law counts in.
#[derive(Debug, Clone)]
pub(crate) struct Flights {
    list: VecDeque<Flight>,
    /// Bytes under way.
    under_way: u64,
    delivered: f64,
    lost: f64,
    delivered_time: Time,
    first_sent: Time,
    least_rtt: Time,
    /// The path was short of data until so much is delivered; zero if it was not [packets].
    limited_until: f64,
    newest: Option<Flight>,
    /// The newest that was ever acknowledged.
    heard: Option<Flight>,
}

impl Flights {
    pub(crate) fn new() -> Self {
        Self {
            list: VecDeque::new(),
            under_way: 0,
            delivered: 0.0,
            lost: 0.0,
            delivered_time: Time::ZERO,
            first_sent: Time::ZERO,
            least_rtt: Time::NEVER,
            limited_until: 0.0,
            newest: None,
            heard: None,
        }
    }

    /// Bytes under way.
    pub(crate) fn under_way(&self) -> u64 {
        self.under_way
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.delivered as u64
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost as u64
    }

    pub(crate) fn app_limited(&self) -> bool {
        self.limited_until > 0.0
    }

    /// `bytes` leave.
    pub(crate) fn send(&mut self, left: Instant, now: Time, bytes: u64, mtu: f64) {
        if self.under_way == 0 {
            (self.first_sent, self.delivered_time) = (now, now);
        }
        self.push(left, now, bytes.min(LARGEST), mtu);
    }

    /// A packet leaves that does not count as in flight, as it seems. A loss probe may seem so, and leaves after packets that are in
    /// flight: its acknowledgement then finds it.
    pub(crate) fn send_beside(&mut self, left: Instant, now: Time, mtu: f64) {
        if !self.list.is_empty() {
            self.push(left, now, 0, mtu);
        }
    }

    fn push(&mut self, left: Instant, now: Time, bytes: u64, mtu: f64) {
        if self.list.len() == MOST {
            self.forget();
        }
        self.under_way += bytes;
        let then = Transmission {
            sent: now,
            delivered: self.delivered(),
            lost: self.lost(),
            in_flight: (self.under_way as f64 / mtu).ceil() as u64,
            app_limited: self.app_limited(),
        };
        let (delivered_time, first_sent) = (self.delivered_time, self.first_sent);
        self.list.push_back(Flight { left, under_way: bytes, then, delivered_time, first_sent });
    }

    fn forget(&mut self) {
        if let Some(oldest) = self.list.pop_front() {
            self.under_way -= oldest.under_way;
        }
    }

    /// A packet that was sent at `left` is acknowledged.
    pub(crate) fn acknowledge(&mut self, left: Instant, now: Time, bytes: u64, mtu: f64) {
        self.delivered += bytes as f64 / mtu;
        self.delivered_time = now;
        let from = self.list.partition_point(|flight| flight.left < left);
        let same = self.list.range_mut(from..).take_while(|flight| flight.left == left);
        let mut rest = bytes;
        for flight in same {
            let taken = rest.min(flight.under_way);
            flight.under_way -= taken;
            self.under_way -= taken;
            rest -= taken;
            if self.newest.is_none_or(|newest| flight.left > newest.left) {
                self.newest = Some(*flight);
                self.first_sent = flight.then.sent;
            }
            if self.heard.is_none_or(|heard| flight.left >= heard.left) {
                self.heard = Some(*flight);
            }
            if rest == 0 {
                break;
            }
        }
    }

    /// A packet that was sent at `left` is acknowledged with a mark, and counts as lost.
    pub(crate) fn echo(&mut self, left: Instant) -> Option<Transmission> {
        let flight = self.heard.filter(|heard| heard.left == left)?;
        self.lost += 1.0;
        Some(flight.then)
    }

    /// Packets with so many bytes are lost, the newest of which was sent at `left`; each transmission that had some, with
    /// its bytes.
    pub(crate) fn lose(&mut self, left: Instant, bytes: u64, mtu: f64) -> Vec<(Transmission, u64)> {
        let mut rest = bytes;
        let mut lost = Vec::new();
        for flight in self.list.iter_mut().take_while(|flight| flight.left <= left) {
            let taken = rest.min(flight.under_way);
            if taken > 0 {
                flight.under_way -= taken;
                self.under_way -= taken;
                rest -= taken;
                lost.push((flight.then, taken));
            }
        }
        // What is not among them is of a path before, or was counted.
        self.lost += (bytes - rest) as f64 / mtu;
        self.drop_finished();
        lost
    }

    /// An acknowledgement is complete: quinn has so many bytes in flight. Those beyond them are packets without an acknowledgement.
    pub(crate) fn settle(&mut self, in_flight: u64) {
        let mut beyond = self.under_way.saturating_sub(in_flight);
        for flight in &mut self.list {
            if beyond == 0 {
                break;
            }
            let taken = beyond.min(flight.under_way);
            flight.under_way -= taken;
            self.under_way -= taken;
            beyond -= taken;
        }
        self.drop_finished();
    }

    fn drop_finished(&mut self) {
        while self.list.front().is_some_and(|flight| flight.under_way == 0) {
            self.list.pop_front();
        }
    }

    /// Nothing more could be sent for want of data.
    pub(crate) fn short_of_data(&mut self, mtu: f64) {
        self.limited_until = (self.delivered + self.under_way as f64 / mtu).max(1.0);
    }

    /// The time of sending of the acknowledgement's newest packet, if there is one.
    pub(crate) fn newest(&self) -> Option<(Instant, Time)> {
        self.newest.map(|newest| (newest.left, newest.then.sent))
    }

    /// The rate sample of the acknowledgement that is complete, by the draft of BBR, section "Delivery Rate Samples".
    pub(crate) fn sample(&mut self, rtt: Option<Time>) -> Option<RateSample> {
        if let Some(rtt) = rtt {
            self.least_rtt = self.least_rtt.min(rtt);
        }
        if self.limited_until > 0.0 && self.delivered > self.limited_until {
            self.limited_until = 0.0;
        }
        let newest = self.newest.take()?;
        let sending = newest.then.sent.0.saturating_sub(newest.first_sent.0);
        let acknowledging = self.delivered_time.0.saturating_sub(newest.delivered_time.0);
        let interval = Time(sending.max(acknowledging));
        let delivered = self.delivered().saturating_sub(newest.then.delivered);
        let sound = interval > Time::ZERO && interval >= self.least_rtt && delivered > 0;
        sound.then_some(RateSample { delivered, interval, then: newest.then })
    }
}
