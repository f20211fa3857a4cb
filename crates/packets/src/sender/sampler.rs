//! Rate samples and the fate of each packet, for laws that require deliveries.
//!
//! Source: draft-ietf-ccwg-bbr, section "Delivery Rate Samples" (C.delivered, C.delivered_time, C.first_send_time, RS), with
//! packets for bytes. The in-flight count of the draft follows from the others here: packets neither delivered nor lost.
//! Differs: the newest packet of an acknowledgement is the one with the highest number of transmission.

use penstock_law::cc::{AckSample, RateSample, Timing, Transmission};
use penstock_law::quantity::Time;
use penstock_scenario::seed::Stream;
use prefetch_index::prefetch_index;

use super::data::Ledger;

/// Where the flow stood when it sent a packet: 48 bytes, in a ring beside the records of transmissions.
#[derive(Debug, Clone, Copy)]
struct Snapshot {
    sent: u64,
    delivered: u64,
    lost: u64,
    /// P.delivered_time and P.first_send_time [ps].
    delivered_time: u64,
    first_sent: u64,
    in_flight: u32,
    app_limited: bool,
}

const EMPTY: Snapshot =
    Snapshot { sent: 0, delivered: 0, lost: 0, delivered_time: 0, first_sent: 0, in_flight: 0, app_limited: false };

impl Snapshot {
    fn transmission(&self) -> Transmission {
        Transmission {
            sent: Time(self.sent),
            delivered: self.delivered,
            lost: self.lost,
            in_flight: u64::from(self.in_flight),
            app_limited: self.app_limited,
        }
    }
}

/// A loss recovery.
#[derive(Debug, Clone, Copy)]
struct Recovery {
    /// It ends when this segment is acknowledged.
    until: u64,
}

/// Detailed observation of one flow's law, and its timing output.
#[derive(Debug)]
pub(crate) struct Sampler {
    ring: Vec<Snapshot>,
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    delivered_time: u64,
    first_sent: u64,
    least_rtt: Time,
    /// The flow was short of data until so much is delivered; zero if it was not.
    limited_until: u64,
    /// The law knows that data are sent again after that.
    restarted: bool,
    /// The window held a packet back since the acknowledgement before.
    pub(crate) window_limited: bool,
    /// Of the acknowledgement under way: time, delivered and in flight before, and one past the newest packet; zero without one.
    now: u64,
    before: [u64; 2],
    newest: u64,
    /// Packets lost and not yet reported to the law, and how many were since the last acknowledgement.
    losses: Vec<Transmission>,
    pub(crate) told: u32,
    recovery: Option<Recovery>,
    /// The last recovery was that after a timeout.
    timed_out: bool,
    /// The law's send quantum [packets].
    pub(crate) quantum: u32,
    /// The law does without the state of the flow when it sent a packet: none is kept.
    bare: bool,
    /// When the law wants to be woken, and the first event on the agenda for it [ps].
    pub(crate) wake: u64,
    pub(crate) alarm: u64,
    pub(crate) draws: Stream,
}

impl Sampler {
    pub(crate) fn new(draws: Stream, bare: bool) -> Self {
        Self {
            ring: Vec::new(),
            sent: 0,
            delivered: 0,
            lost: 0,
            delivered_time: 0,
            first_sent: 0,
            least_rtt: Time::NEVER,
            limited_until: 0,
            restarted: false,
            window_limited: false,
            now: 0,
            before: [0; 2],
            newest: 0,
            losses: Vec::new(),
            told: 0,
            recovery: None,
            timed_out: false,
            quantum: 1,
            bare,
            wake: u64::MAX,
            alarm: u64::MAX,
            draws,
        }
    }

    /// Another connection begins: packets still under way belong to none. Draws and the agenda go on.
    pub(crate) fn restart(&mut self) {
        let draws = self.draws.clone();
        *self = Self { ring: std::mem::take(&mut self.ring), alarm: self.alarm, ..Self::new(draws, self.bare) };
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.sent - self.delivered - self.lost
    }

    /// The flow was short of data, and packets of that time are in flight.
    pub(crate) fn app_limited(&self) -> bool {
        self.limited_until > 0
    }

    /// A packet is sent as `tx`; `oldest` is the oldest transmission that the records keep.
    #[inline]
    pub(crate) fn send(&mut self, tx: u64, oldest: u64, now: u64) {
        if self.bare {
            self.restarted = false;
            self.sent += 1;
            return;
        }
        if self.in_flight() == 0 {
            (self.first_sent, self.delivered_time) = (now, now);
        }
        if tx - oldest >= self.ring.len() as u64 {
            self.grow(oldest, tx);
        }
        self.restarted = false;
        self.sent += 1;
        let snapshot = Snapshot {
            sent: now,
            delivered: self.delivered,
            lost: self.lost,
            delivered_time: self.delivered_time,
            first_sent: self.first_sent,
            in_flight: self.in_flight() as u32,
            app_limited: self.app_limited(),
        };
        let at = self.slot(tx);
        self.ring[at] = snapshot;
        self.fetch_after(at);
    }

    /// A tail loss probe is to replace a packet in flight, of which nothing more is known.
    pub(crate) fn replace(&mut self) {
        self.sent -= 1;
    }

    fn slot(&self, tx: u64) -> usize {
        tx as usize & (self.ring.len() - 1)
    }

    /// The slot after the next: there begins the line of memory in which the next one ends.
    #[inline]
    fn fetch_after(&self, at: usize) {
        prefetch_index(&self.ring, at + 2);
    }

    #[cold]
    fn grow(&mut self, oldest: u64, next: u64) {
        let mut ring = vec![EMPTY; (self.ring.len() * 2).max(16)];
        let mask = ring.len() - 1;
        if !self.ring.is_empty() {
            for tx in oldest..next {
                ring[tx as usize & mask] = self.ring[self.slot(tx)];
            }
        }
        self.ring = ring;
    }

    /// Nothing more could be sent: the window was full, or there were no data, or no space at the receiver.
    pub(crate) fn stopped(&mut self, window_full: bool) {
        if window_full {
            self.window_limited = true;
        } else {
            self.limited_until = (self.delivered + self.in_flight()).max(1);
        }
    }

    /// The same under a window.
    #[inline]
    pub(crate) fn stopped_at(&mut self, window: f64) {
        let in_flight = self.in_flight();
        self.stopped(in_flight > 0 && in_flight as f64 + 1.0 > window);
    }

    /// Data are to be sent: whether nothing is in flight and the flow was short of data, for the first time since then.
    pub(crate) fn restarts_from_idle(&mut self) -> bool {
        self.app_limited() && self.in_flight() == 0 && !std::mem::replace(&mut self.restarted, true)
    }

    /// An acknowledgement came, or a timer went off.
    pub(crate) fn begin(&mut self, now: u64) {
        self.now = now;
        self.before = [self.delivered, self.in_flight()];
        self.newest = 0;
    }

    /// Whether the law is to hear of lost packets.
    #[inline]
    pub(crate) fn has_losses(&self) -> bool {
        !self.losses.is_empty()
    }

    /// The timing output of the law.
    #[inline]
    pub(crate) fn time(&mut self, timing: Timing, now: u64) {
        self.quantum = timing.quantum.max(1);
        self.wake = timing.timer.map_or(u64::MAX, |timer| timer.0.max(now));
    }

    /// The next lost packet not yet reported to the law, in the order of transmission; `None` ends the list.
    pub(crate) fn loss(&mut self, at: usize) -> Option<Transmission> {
        let loss = self.losses.get(at).copied();
        match loss {
            Some(_) => self.told += 1,
            None => self.losses.clear(),
        }
        loss
    }

    /// A congestion event begins with the acknowledgement of segments below `una`: true if that ends a recovery, and not one after a
    /// timeout.
    pub(crate) fn renews(&self, una: u64) -> bool {
        !self.timed_out && self.recovery.is_some_and(|recovery| una >= recovery.until)
    }

    /// A congestion event began a recovery that lasts until segment `until`, when those below `una` are acknowledged; true if none
    /// went on, or one after a timeout that is over.
    pub(crate) fn enter(&mut self, una: u64, until: u64) -> bool {
        let first = self.recovery.is_none_or(|recovery| self.timed_out && una >= recovery.until);
        self.recovery = Some(Recovery { until });
        self.timed_out &= !first;
        first
    }

    /// The retransmission timer expired, with segments below `until` sent.
    pub(crate) fn time_out(&mut self, until: u64) {
        self.recovery = Some(Recovery { until });
        self.timed_out = true;
    }

    /// Segments below `una` are acknowledged: true if that ends a recovery.
    pub(crate) fn leave(&mut self, una: u64) -> bool {
        let over = self.recovery.is_some_and(|recovery| una >= recovery.until);
        if over {
            self.recovery = None;
        }
        over
    }

    /// Packets taken for lost were not. True if a timeout had declared it.
    pub(crate) fn undo(&mut self) -> bool {
        self.recovery = None;
        std::mem::take(&mut self.timed_out)
    }

    /// Packets delivered since the acknowledgement began.
    pub(crate) fn news(&self) -> u32 {
        self.delivered.saturating_sub(self.before[0]) as u32
    }

    /// The observation of the acknowledgement, after its losses were reported; at most so many of its packets were marked.
    pub(crate) fn finish(&mut self, marked: u32, rtt: Option<Time>) -> AckSample {
        if let Some(rtt) = rtt {
            self.least_rtt = self.least_rtt.min(rtt);
        }
        if self.limited_until > 0 && self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let packets = self.news();
        let rate = if self.newest > 0 { self.rate() } else { None };
        AckSample {
            packets,
            marked: marked.min(packets),
            lost: std::mem::take(&mut self.told),
            in_flight_before: self.before[1],
            rtt,
            rate,
        }
    }

    /// The rate sample of the newest packet.
    #[inline]
    fn rate(&self) -> Option<RateSample> {
        let then = &self.ring[self.slot(self.newest - 1)];
        let send = then.sent - then.first_sent;
        let ack = self.now - then.delivered_time;
        let interval = Time(send.max(ack));
        // A shorter one is of the acknowledgement of an original taken for that of a retransmission.
        let sound = interval > Time::ZERO && interval >= self.least_rtt && self.delivered > then.delivered;
        sound.then(|| RateSample { delivered: self.delivered - then.delivered, interval, then: then.transmission() })
    }
}

impl Ledger for Sampler {
    fn delivered(&mut self, tx: u64) {
        self.delivered += 1;
        self.delivered_time = self.now;
        if !self.bare && tx >= self.newest {
            let at = self.slot(tx);
            self.fetch_after(at);
            self.newest = tx + 1;
            self.first_sent = self.ring[at].sent;
        }
    }

    fn lost(&mut self, tx: u64) {
        self.lost += 1;
        let snapshot = if self.bare { &EMPTY } else { &self.ring[self.slot(tx)] };
        self.losses.push(snapshot.transmission());
    }

    fn late(&mut self, packets: u64) {
        if packets > 0 {
            self.lost -= packets;
            self.delivered += packets;
            self.delivered_time = self.now;
        }
    }

    fn not_lost(&mut self) {
        self.lost -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::{Data, Heard, options};
    use super::*;
    use penstock_scenario::model::Recovery;
    use penstock_scenario::seed::Seed;

    const MS: u64 = 1_000_000_000;

    /// A sender's data and its sampler.
    struct Ends {
        data: Data,
        sampler: Sampler,
    }

    impl Ends {
        fn new(recovery: Recovery) -> Self {
            Self {
                data: Data::new(&options(recovery, false), u64::MAX),
                sampler: Sampler::new(Seed(1).stream("flows.f/law/0"), false),
            }
        }

        /// Sends one packet; its transmission.
        fn send(&mut self, now_ms: u64) -> u64 {
            let segment = self.data.pick(1e9, true, u64::MAX).expect("there is always more");
            let tx = self.data.next_tx();
            self.data.sent(segment, now_ms * MS);
            self.sampler.send(tx, self.data.oldest_tx(), now_ms * MS);
            tx
        }

        /// An acknowledgement of transmission `tx`; returns the law's observation, and the losses before it.
        fn hear(&mut self, now_ms: u64, cumulative: u64, tx: u64, from: Option<u64>) -> (AckSample, Vec<Transmission>) {
            self.sampler.begin(now_ms * MS);
            let heard = Heard { cumulative, tx, from, duplicate: false };
            let outcome = self.data.hear_as::<crate::kind::Other, _>(&heard, now_ms * MS, &mut self.sampler);
            let losses: Vec<_> = (0..).map_while(|at| self.sampler.loss(at)).collect();
            assert_eq!(self.sampler.in_flight(), self.data.in_flight());
            (self.sampler.finish(0, outcome.sent.map(|sent| Time(now_ms * MS - sent))), losses)
        }
    }

    /// A packet each millisecond, with acknowledgements 40 ms later. Those due from 60 to 100 ms are held up, and come together
    /// at 100 ms. Packet 100 leaves after the first of them, so 80 packets are delivered in the 40 ms that it takes: twice
    /// the rate of the path. They were sent in 80 ms, which is the interval. No sample is above a packet a millisecond.
    #[test]
    fn acknowledgements_that_come_together_do_not_raise_the_rate() {
        let mut ends = Ends::new(Recovery::Sack);
        let mut most: f64 = 0.0;
        let mut last = None;
        let mut acked = 0;
        for now in 0..=140 {
            if now == 100 {
                last = ends.hear(100, 21, 20, None).0.rate;
                acked = 21;
            }
            if now <= 100 {
                ends.send(now);
            }
            let due = if (60..100).contains(&now) { 20 } else { (now + 1).saturating_sub(40) };
            while acked < due {
                last = ends.hear(now, acked + 1, acked, None).0.rate;
                acked += 1;
                if let Some(rate) = last {
                    most = most.max(rate.packets_per_s());
                }
            }
        }
        let last = last.unwrap();
        assert_eq!((last.delivered, last.interval, last.then.sent), (80, Time(80 * MS), Time(100 * MS)));
        // One more than a packet a millisecond is the end of an interval that has packets at both ends.
        assert!((999.9..1000.1).contains(&last.packets_per_s()) && most < 1026.0, "{most}");
    }

    /// Ten packets, of which the first is lost. Each selective acknowledgement delivers one at its time; the third reports the
    /// loss, and where the flow stood when that packet was sent. A retransmission counts as any other.
    #[test]
    fn selective_acknowledgements_and_retransmissions_are_delivered_one_by_one() {
        let mut ends = Ends::new(Recovery::Sack);
        (0..10).for_each(|now| {
            ends.send(now);
        });
        let heard: Vec<_> = (1..10).map(|tx| ends.hear(40 + tx, 0, tx, Some(1))).collect();
        assert!(heard.iter().all(|(ack, _)| ack.packets == 1));
        let losses: Vec<_> = heard.iter().map(|(_, losses)| losses.len()).collect();
        assert_eq!(losses, [0, 0, 1, 0, 0, 0, 0, 0, 0]);
        let lost = heard[2].1[0];
        assert_eq!((lost.sent, lost.in_flight, lost.lost, lost.delivered), (Time::ZERO, 1, 0, 0));
        assert_eq!((heard[2].0.lost, heard[2].0.in_flight_before), (1, 8));
        // Packet 5 left at 5 ms with nothing delivered; at 45 ms it is the fifth.
        let rate = heard[4].0.rate.unwrap();
        assert_eq!((rate.delivered, rate.interval), (5, Time(45 * MS)));
        assert_eq!((ends.sampler.sent, ends.sampler.delivered, ends.sampler.lost), (10, 9, 1));
        let again = ends.send(50);
        let (ack, _) = ends.hear(90, 10, again, None);
        // It left with 9 delivered and nothing in flight, so that the interval begins with it.
        let rate = ack.rate.unwrap();
        assert_eq!((ack.packets, rate.delivered, rate.interval), (1, 1, Time(40 * MS)));
        assert_eq!((rate.then.delivered, rate.then.lost, rate.then.in_flight), (9, 1, 1));
        assert_eq!((ends.sampler.sent, ends.sampler.delivered, ends.sampler.lost), (11, 10, 1));
    }

    /// One acknowledgement of ten packets delivers ten; the sample is that of the newest.
    #[test]
    fn one_acknowledgement_of_many_is_one_sample() {
        let mut ends = Ends::new(Recovery::Sack);
        (0..10).for_each(|now| {
            ends.send(now);
        });
        let (ack, _) = ends.hear(49, 10, 9, None);
        let rate = ack.rate.unwrap();
        assert_eq!((ack.packets, rate.delivered, rate.interval, rate.then.in_flight), (10, 10, Time(49 * MS), 10));
    }

    /// A retransmission that seems to be acknowledged within a millisecond, on a path of 40 ms: the acknowledged one is the
    /// original, and the interval is no measure of a rate.
    #[test]
    fn an_interval_below_the_smallest_round_trip_is_no_sample() {
        let mut ends = Ends::new(Recovery::Sack);
        (0..5).for_each(|_| {
            ends.send(0);
        });
        (1..5).for_each(|tx| {
            ends.hear(40, 0, tx, Some(1));
        });
        let again = ends.send(41);
        let fresh = ends.send(41);
        assert_eq!((again, fresh), (5, 6));
        // The original of segment 0 is acknowledged late, while the retransmission is under way.
        let (ack, _) = ends.hear(42, 5, 0, None);
        assert_eq!((ack.packets, ack.rate), (1, None));
        let (ack, _) = ends.hear(81, 6, 6, None);
        assert!(ack.rate.is_some());
    }

    /// A flow short of data: packets sent until that time's packets are delivered are app-limited, and the first after them is not.
    #[test]
    fn a_bubble_is_marked_until_it_is_gone() {
        let mut ends = Ends::new(Recovery::Sack);
        (0..4).for_each(|now| {
            ends.send(now);
        });
        ends.sampler.stopped(false);
        assert!(ends.sampler.app_limited());
        // Two more are in flight behind the bubble.
        (20..22).for_each(|now| {
            ends.send(now);
        });
        let flags: Vec<_> =
            (0..4).map(|tx| ends.hear(40 + tx, tx + 1, tx, None).0.rate.unwrap().then.app_limited).collect();
        assert_eq!(flags, [false; 4], "they left before");
        assert!(ends.sampler.app_limited(), "none of those behind the bubble is delivered");
        let (ack, _) = ends.hear(60, 5, 4, None);
        assert!(ack.rate.unwrap().then.app_limited && !ends.sampler.app_limited());
        let tx = ends.send(60);
        ends.hear(61, 6, 5, None);
        let (ack, _) = ends.hear(100, 7, tx, None);
        assert!(!ack.rate.unwrap().then.app_limited);
        // A full window is no bubble.
        ends.sampler.stopped(true);
        assert!(!ends.sampler.app_limited() && ends.sampler.window_limited);
    }

    /// Nothing in flight: the next interval begins as the next packet leaves, so that silence is in no sample.
    #[test]
    fn silence_is_in_no_interval() {
        let mut ends = Ends::new(Recovery::Sack);
        ends.send(0);
        ends.hear(40, 1, 0, None);
        ends.sampler.stopped(false);
        assert!(ends.sampler.restarts_from_idle() && !ends.sampler.restarts_from_idle(), "it is told once");
        ends.send(1000);
        ends.send(1000);
        let (ack, _) = ends.hear(1040, 3, 2, None);
        assert_eq!(ack.rate.unwrap().interval, Time(40 * MS));
    }

    /// Lost packets, lost acknowledgements, packets that come late, and timeouts, in any order: every transmission is delivered,
    /// lost or in flight, as data control has it, and each segment is delivered at the most once a transmission.
    #[test]
    fn every_transmission_has_one_fate() {
        for (recovery, seed) in [Recovery::Sack, Recovery::Rack].into_iter().flat_map(|r| (0..40).map(move |s| (r, s)))
        {
            let mut ends = Ends::new(recovery);
            // Half of them keep no snapshots, and count the same.
            ends.sampler.bare = seed % 2 == 0;
            let mut draws = Seed(seed).stream("test");
            let (mut under_way, mut had, mut next) = (Vec::new(), std::collections::BTreeSet::new(), 0u64);
            for now in 0..3000u64 {
                if ends.data.in_flight() < 20 {
                    let segment = ends.data.pick(20.0, true, u64::MAX);
                    if let Some(segment) = segment {
                        let tx = ends.data.next_tx();
                        let in_flight = ends.data.in_flight();
                        ends.data.sent(segment, now * MS);
                        if ends.data.in_flight() == in_flight {
                            ends.sampler.replace();
                        }
                        ends.sampler.send(tx, ends.data.oldest_tx(), now * MS);
                        let late = if draws.lands(0.05) { 30 } else { 0 };
                        if !draws.lands(0.1) {
                            under_way.push((now + 40 + late, tx, segment.seq));
                        }
                    }
                }
                under_way.sort_unstable();
                while under_way.first().is_some_and(|(due, _, _)| *due <= now) {
                    let (_, tx, seq) = under_way.remove(0);
                    let duplicate = seq < next || !had.insert(seq);
                    while had.contains(&next) {
                        next += 1;
                    }
                    let from = (seq > next).then(|| (0..=seq).rev().take_while(|s| had.contains(s)).last().unwrap());
                    if draws.lands(0.1) {
                        continue;
                    }
                    ends.sampler.begin(now * MS);
                    let heard = Heard { cumulative: next, tx, from, duplicate };
                    let outcome = ends.data.hear_as::<crate::kind::Other, _>(&heard, now * MS, &mut ends.sampler);
                    (0..).map_while(|at| ends.sampler.loss(at)).for_each(drop);
                    ends.sampler.finish(0, outcome.sent.map(|sent| Time(now * MS - sent)));
                    assert_eq!(ends.sampler.in_flight(), ends.data.in_flight(), "{recovery:?} {seed} at {now}");
                }
                ends.sampler.begin(now * MS);
                let what = ends.data.overdue(now * MS, &mut ends.sampler);
                if draws.lands(0.002) && !ends.data.idle() {
                    ends.data.timeout(now * MS, &mut ends.sampler);
                }
                (0..).map_while(|at| ends.sampler.loss(at)).for_each(drop);
                assert_eq!(ends.sampler.in_flight(), ends.data.in_flight(), "{recovery:?} {seed} at {now} {what:?}");
            }
            assert!(ends.sampler.lost > 100 && ends.sampler.delivered > 500, "{:?}", ends.sampler.lost);
            // What is known to be delivered has arrived; what arrived and is not known is under way as an acknowledgement.
            let arrived = next + had.range(next..).count() as u64;
            let (delivered, slack) = (ends.sampler.delivered, 40);
            assert!(delivered <= arrived + slack && delivered + slack >= arrived, "{recovery:?} {delivered} {arrived}");
        }
    }
}
