//! A law as quinn's controller: its observations, events and window. The reports of quinn come in by [`reports`].

mod reports;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use penstock_law::cc::{
    Controller, Delivery, DeliveryEvent, Event, NO_WINDOW, Observation, Output, Requirements, Timing, Transmission,
};
use penstock_law::estimate::{AverageRtt, BaseRtt};
use penstock_law::law::Instances;
use penstock_law::quantity::Time;

use crate::draws::Draws;
use crate::flights::Flights;

/// The minimum window [packets] (RFC 9002, section 7.2).
const LEAST_WINDOW: f64 = 2.0;
/// No window is larger [packets]: a law without a bound grows for years on a path without losses.
const MOST_WINDOW: f64 = 1e9;
/// Periods of a law that are made up for at one moment. After more of them without a packet, the law is called no more.
const MOST_TICKS: u32 = 64;
/// Laws have time in 64 bits of picoseconds, which are 213 days. A path that lasts longer begins afresh before.
const LONGEST: Duration = Duration::from_hours(200 * 24);

/// The events collected until an acknowledgement is complete.
#[derive(Debug, Clone, Copy, Default)]
struct Heard {
    /// Bytes acknowledged.
    bytes: u64,
    /// Those of them outside recovery: sent after the last congestion event.
    outside: u64,
    /// Those of these that may raise the window: not of a path short of data.
    grows: u64,
    /// Bytes under way before.
    in_flight_before: u64,
}

/// A law that is the controller of one path of quinn.
#[derive(Debug)]
pub struct Hosted {
    law: Arc<Mutex<Law>>,
    /// Its instance. A copy of the controller, as quinn makes for a path with another address, has another.
    at: usize,
    wanted: Requirements,
    /// The size of the packets that the law counts in: the MTU at the start, for which it was compiled [bytes]. A larger MTU so leaves
    /// the window in bytes (RFC 8899, section 3).
    packet: f64,
    /// The size of a datagram now [bytes].
    mtu: f64,
    initial_window: f64,
    epoch: Instant,
    /// Time at which its first packet left. Earlier packets are of another path (RFC 9000, section 9.4).
    began: Option<Instant>,
    now: Time,
    observation: Observation<f64>,
    base: BaseRtt<f64>,
    average: AverageRtt<f64>,
    output: Output<f64>,
    timing: Timing,
    unsound: u64,
    flights: Flights,
    heard: Heard,
    /// Bytes outside recovery that are no whole packet yet.
    rest: f64,
    /// Bytes acknowledged and bytes lost that no packet of the law has counted, or that one has counted too early [packets].
    part: f64,
    lost_part: f64,
    /// Packets lost that no acknowledgement has reported.
    lost: u32,
    /// When the newest packet that was acknowledged left, and the largest packet number.
    newest: Option<(Instant, Option<u64>)>,
    recovery: Option<Instant>,
    recovering: bool,
    round: Option<Instant>,
    tick: Option<Time>,
    window_limited: bool,
    /// The newest acknowledgement came while the path was short of data.
    limited: bool,
    idle: bool,
    /// quinn has asked for the window since the last transmission.
    asked: AtomicBool,
    /// No window is larger [packets]: after persistent congestion that of slow start, infinite before.
    ceiling: f64,
    /// quinn's smoothed round-trip time with the newest sample [s]; none before the first acknowledgement.
    smoothed_s: Option<f64>,
    draws: Draws,
}

/// The law with the states of its instances.
struct Law(Box<dyn Instances<f64, Controller>>);

impl std::fmt::Debug for Law {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Law").finish_non_exhaustive()
    }
}

impl Hosted {
    pub(crate) fn new(
        law: Box<dyn Instances<f64, Controller>>,
        epoch: Instant,
        mtu: u16,
        initial_window: f64,
        seed: u64,
    ) -> Self {
        let packet = f64::from(mtu.max(1));
        Self::begin(Arc::new(Mutex::new(Law(law))), epoch, packet, initial_window, Draws(seed))
    }

    /// Another instance of a law begins.
    fn begin(law: Arc<Mutex<Law>>, epoch: Instant, packet: f64, initial_window: f64, draws: Draws) -> Self {
        let (at, wanted) = {
            let mut law = law.lock().unwrap_or_else(PoisonError::into_inner);
            (law.0.add(), law.0.requirements())
        };
        let start = Output { window: initial_window, gap_s: 0.0 };
        let mut hosted = Self {
            law,
            at,
            wanted,
            packet,
            mtu: packet,
            initial_window,
            epoch,
            began: None,
            now: Time::ZERO,
            observation: Observation::zero(),
            base: BaseRtt::UNKNOWN,
            average: AverageRtt::UNKNOWN,
            output: start,
            timing: Timing::default(),
            unsound: 0,
            flights: Flights::new(),
            heard: Heard::default(),
            rest: 0.0,
            part: 0.0,
            lost_part: 0.0,
            lost: 0,
            newest: None,
            recovery: None,
            recovering: false,
            round: None,
            tick: None,
            window_limited: false,
            limited: false,
            idle: false,
            asked: AtomicBool::new(true),
            ceiling: f64::INFINITY,
            smoothed_s: None,
            draws,
        };
        let first = hosted.law().0.output(at, &hosted.observation);
        hosted.answer(first);
        hosted
    }

    /// The same path, as a new one.
    fn begin_afresh(&mut self, now: Instant) {
        let (mtu, unsound) = (self.mtu, self.unsound);
        *self = Self::begin(Arc::clone(&self.law), now, self.packet, self.initial_window, self.draws);
        (self.mtu, self.unsound) = (mtu, unsound);
    }

    /// Outputs of the law that were no window or gap: negative, infinite or not a number. The one before stays in effect.
    pub fn unsound(&self) -> u64 {
        self.unsound
    }

    /// The law's window [packets], before the bounds of QUIC.
    pub fn law_window(&self) -> f64 {
        self.output.window
    }

    /// The window that QUIC allows after persistent congestion [packets]; it grows as in slow start, and is infinite elsewhere
    /// (RFC 9002, section 7.6.2).
    pub fn window_limit(&self) -> f64 {
        self.ceiling
    }

    /// The law's least time between two packets [s]; zero if it leaves the spacing to quinn.
    pub fn gap_s(&self) -> f64 {
        self.output.gap_s
    }

    /// Names, units and numbers of the law's state, as series of a record have them.
    pub fn state(&self) -> Vec<(&'static str, &'static str, f64)> {
        let mut law = self.law();
        let mut numbers = Vec::new();
        law.0.each(self.at, &mut |x| numbers.push(*x));
        let names = law.0.names();
        names.iter().zip(numbers).map(|(&(name, unit), number)| (name, unit, number)).collect()
    }

    fn law(&self) -> MutexGuard<'_, Law> {
        // A law that panicked left a state that is sound or refused by its answer.
        self.law.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies the law's output, if it is sound.
    fn answer(&mut self, output: Output<f64>) {
        if output.is_sound() {
            self.output = output;
        } else {
            self.unsound += 1;
        }
        if self.wanted.delivery {
            let timing = self.law().0.timing(self.at, &self.observation);
            self.timing = timing;
        }
    }

    fn event(&mut self, event: Event) {
        if event == Event::Timeout {
            self.average.forget();
        }
        if self.wanted.now {
            self.observation.now_s = self.now.seconds();
        }
        let output = self.law().0.on_event(self.at, event, &self.observation);
        self.answer(output);
    }

    /// An event that on a path short of data may reduce the law's window and rate, but not raise them (RFC 9002, section 7.8): one
    /// that would is none.
    fn event_unraised(&mut self, event: Event, limited: bool) {
        if !limited {
            return self.event(event);
        }
        let (at, before) = (self.at, self.output);
        self.law().0.keep(at);
        self.event(event);
        // The law's own numbers: of a window that its rate bounds too, the one that does not act now would act later.
        let rate = |output: Output<f64>| if output.gap_s > 0.0 { output.gap_s.recip() } else { f64::INFINITY };
        if self.output.window > before.window || rate(self.output) > rate(before) {
            self.law().0.bring_back(at);
            self.answer(before);
        }
    }

    fn detail(&mut self, event: DeliveryEvent) {
        if !self.wanted.delivery {
            return;
        }
        if self.wanted.now {
            self.observation.now_s = self.now.seconds();
        }
        let (delivered, lost) = (self.flights.delivered(), self.flights.lost());
        let in_flight = self.packets(self.flights.under_way());
        let delivery = Delivery {
            event,
            now: self.now,
            sent: delivered + lost + in_flight,
            delivered,
            lost,
            in_flight,
            app_limited: self.flights.app_limited(),
            window_limited: self.window_limited,
            uniform: self.draws.uniform(),
        };
        let output = self.law().0.on_detail(self.at, &delivery, &self.observation);
        self.answer(output);
    }

    /// Whole packets that so many bytes fill.
    fn packets(&self, bytes: u64) -> u64 {
        (bytes as f64 / self.packet).ceil() as u64
    }

    /// True for a packet that left at `sent` by this controller, or by one that it is a copy of. Packets of a path before MUST NOT
    /// contribute (RFC 9000, section 9.4).
    fn is_own(&self, sent: Instant) -> bool {
        self.began.is_some_and(|began| sent >= began)
    }

    /// The time as laws have it; it never goes back.
    fn look(&mut self, now: Instant) {
        let span = now.saturating_duration_since(self.epoch);
        let span = u64::try_from(span.as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX);
        // No period and no timer that never comes is over.
        self.now = self.now.max(Time(span.min(Time::NEVER.0 - 1)));
    }

    /// Time goes on: the law's periods and its timer.
    fn advance(&mut self, now: Instant) {
        self.look(now);
        self.ticks();
        if self.wanted.delivery && self.timing.timer.is_some_and(|timer| timer <= self.now) {
            self.detail(DeliveryEvent::Timer);
        }
    }

    /// Periods that went by, since the first round-trip time.
    fn ticks(&mut self) {
        let (Some(period_s), Some(mut next)) = (self.wanted.tick_s, self.tick) else { return };
        let period = Time::from_seconds(period_s);
        let mut made_up = 0;
        while next <= self.now {
            if made_up == MOST_TICKS {
                next = Time(self.now.0.saturating_add(period.0));
                break;
            }
            self.event_unraised(Event::Tick, self.limited);
            next = Time(next.0.saturating_add(period.0.max(1)));
            made_up += 1;
        }
        self.tick = Some(next);
    }

    fn round_trip(&mut self, rtt: Time) {
        let rtt_s = rtt.seconds();
        self.observation.base_rtt_s = self.base.take(rtt_s);
        self.observation.rtt_s = match &self.wanted.average_rtt {
            Some(by) => self.average.take(by, rtt_s, self.output.window.max(1.0)),
            None => rtt_s,
        };
        if self.tick.is_none() {
            self.tick =
                self.wanted.tick_s.map(|period_s| Time(self.now.0.saturating_add(Time::from_seconds(period_s).0)));
        }
    }

    /// RFC 9002 smooths the round-trip time before the controller hears of an acknowledgement (appendix A.7), and quinn does so
    /// after. So the newest sample is added here. quinn's estimate, without the receiver's delay, takes its place with the next
    /// acknowledgement.
    fn smooth(&mut self, rtt_s: f64) {
        let before_s = self.smoothed_s.filter(|_| self.newest.is_some());
        self.smoothed_s = Some(before_s.map_or(rtt_s, |before_s| before_s + (rtt_s - before_s) / 8.0));
    }

    /// A congestion event about packets the newest of which was sent at `sent`: at most one a round trip counts (RFC 9002,
    /// section 7.3.2).
    fn cut(&mut self, now: Instant, sent: Instant) -> bool {
        let first = self.recovery.is_none_or(|start| sent > start);
        if first {
            self.recovery = Some(now);
            self.event(Event::Congestion);
        }
        first
    }

    /// The same, with the recovery that begins by it.
    fn reduce(&mut self, now: Instant, sent: Instant) {
        if self.cut(now, sent) && !std::mem::replace(&mut self.recovering, true) {
            self.detail(DeliveryEvent::RecoveryEntered);
        }
    }

    /// A packet is lost.
    fn lose(&mut self, transmission: Transmission) {
        self.lost = self.lost.saturating_add(1);
        self.detail(DeliveryEvent::Lost(transmission));
    }

    /// Transmissions with so many bytes each are lost: as many packets as these fill, to the nearest. One at the least, so that a law
    /// hears of each congestion event.
    fn lose_all(&mut self, lost: Vec<(Transmission, u64)>) {
        let (mut heard, newest) = (false, lost.last().map(|(transmission, _)| *transmission));
        for (transmission, bytes) in lost {
            let exact = self.lost_part + bytes as f64 / self.packet;
            let packets = exact.round();
            self.lost_part = exact - packets;
            for _ in 0..packets as u32 {
                heard = true;
                self.lose(transmission);
            }
        }
        if let Some(newest) = newest.filter(|_| !heard) {
            self.lost_part = (self.lost_part - 1.0).max(-0.5);
            self.lose(newest);
        }
    }

    /// An echo of congestion by a frame whose newest packet was sent at `sent`. quinn always sends ECT(0), so there is a
    /// response whatever the law: that to a lost packet, once a round trip (RFC 9000, section 13.4; RFC 9002, section 7.1).
    fn echo(&mut self, now: Instant, sent: Instant) {
        if self.recovery.is_none_or(|start| sent > start) {
            if let Some(transmission) = self.flights.echo(sent) {
                self.lose(transmission);
            }
            self.reduce(now, sent);
        }
    }

    /// A timeout of the law, as QUIC has it: the minimum window remains, where TCP's laws have one segment (RFC 9002, section 7.6.2),
    /// and the threshold falls at most once a round trip (appendix B.8).
    fn persistent_congestion(&mut self, sent: Instant) {
        let counted = self.recovery.is_some_and(|start| sent <= start);
        let kept = if counted { self.number("ssthresh") } else { None };
        self.event(Event::Timeout);
        let at = self.at;
        let mut law = self.law();
        let mut names = law.0.names().iter();
        law.0.each(at, &mut |x| match (names.next().map_or("", |(name, _)| name), kept) {
            ("window", _) => *x = x.max(LEAST_WINDOW),
            ("ssthresh", Some(kept)) => *x = kept,
            _ => {}
        });
        let output = law.0.output(at, &self.observation);
        drop(law);
        self.answer(output);
    }

    /// A number of the law's state by its name.
    fn number(&self, wanted: &str) -> Option<f64> {
        let mut law = self.law();
        let (mut names, mut found) = (law.0.names().iter(), None);
        law.0.each(self.at, &mut |x| {
            if names.next().is_some_and(|(name, _)| *name == wanted) {
                found = Some(*x);
            }
        });
        found
    }

    /// The window by the law's output [packets]: its own, or the packets of its rate in a round trip. Before there is a round-trip time,
    /// a rate allows the initial window (RFC 9002, section 7.2).
    fn by_law(&self) -> f64 {
        let gap_s = self.output.gap_s;
        let by_rate = match self.smoothed_s {
            _ if gap_s <= 0.0 => f64::INFINITY,
            Some(rtt_s) => rtt_s / gap_s,
            None => self.initial_window,
        };
        self.output.window.min(by_rate).clamp(LEAST_WINDOW, MOST_WINDOW)
    }

    /// After persistent congestion: so many acknowledged packets let the window grow as in slow start, up to the law's.
    fn lift_ceiling(&mut self, packets: f64) {
        self.ceiling += packets;
        // Of a law without a window, that by its rate.
        let own = if self.output.window < NO_WINDOW { self.output.window } else { self.by_law() };
        if self.ceiling >= own {
            self.ceiling = f64::INFINITY;
        }
    }

    /// The window that QUIC has [packets].
    fn window_packets(&self) -> f64 {
        self.by_law().min(self.ceiling)
    }

    /// The same in bytes: two datagrams at the least.
    fn window_bytes(&self) -> f64 {
        (self.window_packets() * self.packet).max(LEAST_WINDOW * self.mtu)
    }
}

/// quinn copies a controller where the port of an IPv4 address changes, and drops one of the two.
impl Drop for Hosted {
    fn drop(&mut self) {
        self.law().0.end(self.at);
    }
}
