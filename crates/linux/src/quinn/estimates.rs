//! quinn's estimates of round-trip times. Its controllers take no other type, and only its connections make them: so a connection
//! is opened, in simulated time, on a path with the round-trip time that is wanted.

#![allow(clippy::disallowed_types, reason = "quinn takes the time as it is in std; here it is simulated")]

use std::any::Any;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use quinn_proto::congestion::{Controller, ControllerFactory};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, RttEstimator, ServerConfig,
    TransportConfig,
};

use super::keys::{Keys, NAME};

/// Estimates are apart by this share: no controller of quinn's is more exact than a round trip.
const STEP: f64 = 0.01;
/// The times that there are estimates of [s].
const LEAST_S: f64 = 1e-6;
const MOST_S: f64 = 20.0;

/// The estimate of a path with this round trip [s], to half a step. The first takes a handshake or two, so a command that runs none of
/// quinn's controllers shall ask for none.
///
/// # Panics
/// If quinn opens no connection to itself. A test tries times from the least to the most.
pub(super) fn estimate(rtt_s: f64) -> RttEstimator {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    static KNOWN: Mutex<BTreeMap<i32, RttEstimator>> = Mutex::new(BTreeMap::new());
    let step = (libm::log(rtt_s.clamp(LEAST_S, MOST_S)) / STEP).round();
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(&(step as i32)) {
        return *found;
    }
    let keys = KEYS.get_or_init(|| Keys::new().expect("rustls takes a certificate that was just made"));
    let made = measured(keys, Duration::from_secs_f64(libm::exp(step * STEP)));
    *known.entry(step as i32).or_insert(made.expect("quinn opens a connection to itself"))
}

/// A controller that keeps what it hears of the round trip.
#[derive(Debug, Clone, Default)]
struct Keeper(Arc<Mutex<Option<Kept>>>);

#[derive(Clone, Copy)]
struct Kept(RttEstimator);

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Kept").field(&self.0.get()).finish()
    }
}

impl ControllerFactory for Keeper {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new((*self).clone())
    }
}

impl Controller for Keeper {
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: bool, rtt: &RttEstimator) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Kept(*rtt));
    }
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}
    fn on_mtu_update(&mut self, _: u16) {}
    fn window(&self) -> u64 {
        1 << 20
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
    fn initial_window(&self) -> u64 {
        self.window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
}

/// A datagram on its way: when it arrives, at which end, and its bytes.
type Way = (Instant, usize, Vec<u8>);

/// The estimate of a client that has opened a connection.
fn measured(keys: &Keys, rtt: Duration) -> Option<RttEstimator> {
    let begin = Instant::now();
    let kept = Keeper::default();
    let mut transport = TransportConfig::default();
    transport.mtu_discovery_config(None).congestion_controller_factory(Arc::new(kept.clone()));
    let mut client = ClientConfig::new(Arc::clone(&keys.client) as _);
    client.transport_config(Arc::new(transport));
    let config = Arc::new(EndpointConfig::default());
    let server = Arc::new(ServerConfig::with_crypto(Arc::clone(&keys.server) as _));
    let mut ends = [None, Some(server)]
        .map(|server| End { endpoint: Endpoint::new(Arc::clone(&config), server, false, None), connection: None });
    ends[0].connection = Some(ends[0].endpoint.connect(begin, client, address(1), NAME).ok()?);
    let mut under_way: Vec<Way> = Vec::new();
    // There and back, to the nanosecond.
    let ways = [rtt / 2, rtt.saturating_sub(rtt / 2)];
    drive(&mut ends[0], 0, begin, ways[0], &mut under_way);
    // A handshake takes three flights; what is acknowledged after the first of them knows the round trip.
    for _ in 0..100 {
        let heard = kept.0.lock().unwrap_or_else(PoisonError::into_inner).map(|kept| kept.0);
        if let Some(found) = heard.filter(|found| found.get().abs_diff(rtt) <= rtt / 1000) {
            return Some(found);
        }
        let timers = ends.iter_mut().filter_map(|end| end.connection.as_mut()?.1.poll_timeout());
        let now = under_way.iter().map(|(at, ..)| *at).chain(timers).min()?;
        while let Some(at) = under_way.iter().position(|(at, ..)| *at <= now) {
            let (_, to, bytes) = under_way.remove(at);
            arrive(&mut ends[to], to, now, &bytes, ways[to], &mut under_way);
        }
        for (number, end) in ends.iter_mut().enumerate() {
            if let Some((_, connection)) = &mut end.connection
                && connection.poll_timeout().is_some_and(|due| due <= now)
            {
                connection.handle_timeout(now);
            }
            drive(end, number, now, ways[number], &mut under_way);
        }
    }
    None
}

fn address(end: usize) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 1000 + end as u16).into()
}

fn arrive(end: &mut End, number: usize, now: Instant, bytes: &[u8], way: Duration, under_way: &mut Vec<Way>) {
    let mut out = Vec::new();
    match end.endpoint.handle(now, address(1 - number), None, None, bytes.into(), &mut out) {
        Some(DatagramEvent::ConnectionEvent(_, event)) => {
            if let Some((_, connection)) = &mut end.connection {
                connection.handle_event(event);
            }
        }
        Some(DatagramEvent::NewConnection(incoming)) => {
            end.connection = end.endpoint.accept(incoming, now, &mut out, None).ok();
        }
        Some(DatagramEvent::Response(transmit)) => {
            under_way.push((now + way, 1 - number, out[..transmit.size].to_vec()));
        }
        None => {}
    }
}

fn drive(end: &mut End, number: usize, now: Instant, way: Duration, under_way: &mut Vec<Way>) {
    let Some((handle, connection)) = &mut end.connection else { return };
    while connection.poll().is_some() {}
    while let Some(event) = connection.poll_endpoint_events() {
        if let Some(answer) = end.endpoint.handle_event(*handle, event) {
            connection.handle_event(answer);
        }
    }
    loop {
        let mut bytes = Vec::new();
        let Some(transmit) = connection.poll_transmit(now, 1, &mut bytes) else { break };
        bytes.truncate(transmit.size);
        under_way.push((now + way, 1 - number, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_of_the_path_that_was_asked_for() {
        for rtt_s in [1e-4, 0.01, 0.04, 0.333, 2.0, MOST_S] {
            let found = estimate(rtt_s);
            for of in [found.get(), found.min()] {
                assert!((of.as_secs_f64() / rtt_s - 1.0).abs() < 0.006, "{of:?} for {rtt_s} s");
            }
        }
    }

    /// Times around a microsecond are few nanoseconds, and half of them has a half. None is without an estimate, which a scenario could
    /// ask for.
    #[test]
    fn there_is_an_estimate_from_the_least_to_the_most() {
        let [least, most] = [LEAST_S, MOST_S].map(|end| (libm::log(end) / STEP).round() as i32);
        for step in (least..least + 80).chain((least..=most).step_by(29)) {
            estimate(libm::exp(f64::from(step) * STEP));
        }
    }
}
