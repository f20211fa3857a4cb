//! The reports of quinn, which become events of the law.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use penstock_law::cc::{AckSample, DeliveryEvent, Event};
use penstock_law::quantity::Time;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, ControllerMetrics};

use super::{Hosted, LEAST_WINDOW, LONGEST};

impl congestion::Controller for Hosted {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        if now.saturating_duration_since(self.epoch) > LONGEST {
            self.begin_afresh(now);
        }
        self.advance(now);
        self.began.get_or_insert(now);
        // quinn does not say that a packet holds ACK frames alone, which is not in flight (RFC 9002, section 2). But it asks for the window
        // before each other packet except loss probes. These, if they have data, are as large as a datagram may be.
        if !std::mem::take(self.asked.get_mut()) && (bytes as f64) < self.mtu / 2.0 {
            self.flights.send_beside(now, self.now, self.packet);
            return;
        }
        if std::mem::take(&mut self.idle) && self.flights.under_way() == 0 {
            self.detail(DeliveryEvent::IdleRestart);
        }
        self.flights.send(now, self.now, bytes, self.packet);
        if self.round.is_none() {
            self.round = Some(now);
        }
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        if !self.is_own(sent) {
            return;
        }
        self.smoothed_s = Some(rtt.get().as_secs_f64());
        self.look(now);
        if self.heard.bytes == 0 {
            self.heard.in_flight_before = self.flights.under_way();
            self.window_limited = self.heard.in_flight_before as f64 + self.mtu >= self.window_bytes();
        }
        self.flights.acknowledge(sent, self.now, bytes, self.packet);
        self.heard.bytes = self.heard.bytes.saturating_add(bytes);
        if self.recovery.is_none_or(|start| sent > start) {
            self.heard.outside = self.heard.outside.saturating_add(bytes);
            self.heard.grows = self.heard.grows.saturating_add(if app_limited { 0 } else { bytes });
        }
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.advance(now);
        let heard = std::mem::take(&mut self.heard);
        self.flights.settle(in_flight);
        if heard.bytes == 0 {
            return;
        }
        let (newest, first) = (self.flights.newest(), self.newest.is_none());
        // The newest packet alone, and only once: those before it were acknowledged late (RFC 9002, section 5.1). Packets of a burst
        // leave at one time, and differ by their numbers.
        let fresh = newest.filter(|(left, _)| self.newest.is_none_or(|before| (*left, largest) > before));
        let rtt = fresh.map(|(_, sent)| Time(self.now.0.saturating_sub(sent.0))).filter(|rtt| *rtt > Time::ZERO);
        if let Some(rtt) = rtt {
            self.smooth(rtt.seconds());
            self.round_trip(rtt);
        }
        self.newest = fresh.map(|(left, _)| (left, largest)).or(self.newest);
        let rate = self.flights.sample(rtt);
        // The law hears with this acknowledgement that the path is short of data. The first acknowledgement of a connection is that of
        // the handshake's first packet, when there are no data to be short of yet.
        self.limited = app_limited && !first;
        self.idle |= app_limited;
        if self.limited {
            self.flights.short_of_data(self.packet);
        }
        // To the nearest packet: a datagram of some bytes less than the MTU is one.
        let exact = self.part + heard.bytes as f64 / self.packet;
        let packets = exact.round();
        self.part = exact - packets;
        let packets = packets as u32;
        let lost = std::mem::take(&mut self.lost);
        let in_flight_before = self.packets(heard.in_flight_before);
        // The acknowledgement that ends a recovery completes its round trip, and a law looks at whole ones. Persistent congestion begins
        // no recovery (RFC 9002, section 7.6.2): it is over before the first one.
        let left = self.recovering && fresh.is_some_and(|(left, _)| self.recovery.is_none_or(|start| left > start));
        self.recovering &= !left;
        if left && self.recovery.is_none() {
            self.detail(DeliveryEvent::RecoveryLeft);
        }
        self.detail(DeliveryEvent::Ack(AckSample { packets, marked: 0, lost, in_flight_before, rtt, rate }));
        if left && self.recovery.is_some() {
            self.detail(DeliveryEvent::RecoveryLeft);
        }
        self.rest += heard.outside as f64 / self.packet;
        let whole = self.rest.floor().min(f64::from(u32::MAX));
        self.rest -= whole;
        if whole >= 1.0 {
            self.event_unraised(Event::Ack { packets: whole as u32, marked: 0 }, heard.grows < heard.outside);
        }
        if let Some((left, _)) = fresh
            && self.round.is_some_and(|round| left >= round)
            && self.observation.rtt_s > 0.0
        {
            self.round = Some(now);
            self.event_unraised(Event::Round, self.limited);
        }
        if app_limited && first {
            self.flights.short_of_data(self.packet);
        }
        self.lift_ceiling(heard.grows as f64 / self.packet);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        self.advance(now);
        if !self.is_own(sent) {
            return;
        }
        if lost_bytes == 0 {
            self.echo(now, sent);
            return;
        }
        let lost = self.flights.lose(sent, lost_bytes, self.packet);
        self.lose_all(lost);
        if is_persistent_congestion {
            self.persistent_congestion(sent);
            self.detail(DeliveryEvent::Timeout);
            // The window is the minimum window (RFC 9002, section 7.6.2), of a law that keeps a larger one, or has it back when its
            // recovery ends. It then grows as in slow start, up to that of the law.
            self.ceiling = LEAST_WINDOW;
            self.recovery = None;
            self.recovering = true;
        } else {
            self.reduce(now, sent);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = f64::from(new_mtu.max(1));
    }

    fn window(&self) -> u64 {
        self.asked.store(true, Ordering::Relaxed);
        // quinn sends while what is in flight stays below the window, and a law's window may be filled.
        self.window_bytes() as u64 + 1
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window_bytes() as u64;
        let ssthresh = self.number("ssthresh").filter(|ssthresh| ssthresh.is_finite());
        metrics.ssthresh = ssthresh.map(|ssthresh| (ssthresh * self.packet) as u64);
        metrics.pacing_rate = (self.output.gap_s > 0.0).then(|| (8.0 * self.packet / self.output.gap_s) as u64);
        metrics
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        let at = self.law().0.copy(self.at);
        Box::new(Self {
            law: Arc::clone(&self.law),
            at,
            flights: self.flights.clone(),
            asked: AtomicBool::new(true),
            ..*self
        })
    }

    fn initial_window(&self) -> u64 {
        (self.initial_window * self.packet) as u64
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
