//! quinn's own controllers as laws: the packets world runs them, as it runs any other.
//!
//! Reports come in packets, where quinn has bytes, and the round trip of an acknowledgement is that of its newest packet. quinn
//! reports what is acknowledged before what is lost; here losses come first, and what a reduction ignores is the same.

#![allow(clippy::disallowed_types, reason = "quinn takes the time as it is in std; here it is simulated")]

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use penstock_law::cc::{Context, Controller, Delivery, DeliveryEvent, Event, Marks, Observation, Output, Requirements};
use penstock_law::law::{Fields, Law};
use penstock_law::parameter::Values;
use penstock_law::quantity::Time;
use quinn::congestion::{self, ControllerFactory, CubicConfig, NewRenoConfig};

use super::estimates::estimate;

/// One of quinn's controllers.
pub(super) trait Own: fmt::Debug + Send + Sync + 'static {
    fn controller(window: u64, begin: Instant, mtu: u16) -> Box<dyn congestion::Controller>;
}

#[derive(Debug)]
pub(super) struct NewReno;

impl Own for NewReno {
    fn controller(window: u64, begin: Instant, mtu: u16) -> Box<dyn congestion::Controller> {
        let mut config = NewRenoConfig::default();
        config.initial_window(window);
        Arc::new(config).build(begin, mtu)
    }
}

#[derive(Debug)]
pub(super) struct Cubic;

impl Own for Cubic {
    fn controller(window: u64, begin: Instant, mtu: u16) -> Box<dyn congestion::Controller> {
        let mut config = CubicConfig::default();
        config.initial_window(window);
        Arc::new(config).build(begin, mtu)
    }
}

/// Such a controller as a law.
#[derive(Debug)]
pub(super) struct OfQuinn<O> {
    ecn: bool,
    mtu: u16,
    initial_window: u64,
    begin: Instant,
    own: PhantomData<O>,
}

/// The state of a flow.
pub(super) struct State {
    window: f64,
    controller: Box<dyn congestion::Controller>,
    /// The smoothed round trip of RFC 6298 [s]; zero before the first sample.
    smoothed_s: f64,
    /// The last sample [s].
    rtt_s: f64,
    /// When the newest of the packets left that are lost, and of which the controller has not heard.
    lost: Option<Time>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self { controller: self.controller.clone_box(), ..*self }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("window", &self.window).finish_non_exhaustive()
    }
}

impl Fields<f64> for State {
    const NAMES: &'static [(&'static str, &'static str)] = &[("window", "packets")];
    const WORDS: &'static [(&'static str, &'static str)] =
        &[("Congestion window", "Congestion window: how many packets may be in flight.")];
    fn each(&mut self, f: &mut dyn FnMut(&mut f64)) {
        f(&mut self.window);
    }
}

impl<O: Own> OfQuinn<O> {
    /// A moment of the run. A controller is made a little before the first, as that of a connection is made before its data.
    fn at(&self, now: Time) -> Instant {
        self.begin + Duration::from_millis(1) + Duration::from_nanos(now.0 / 1000)
    }

    fn congestion(&self, state: &mut State, now: Time, sent: Time, persistent: bool, bytes: u64) {
        state.controller.on_congestion_event(self.at(now), self.at(sent), persistent, bytes);
    }

    /// Losses of which the controller has not heard.
    fn losses(&self, state: &mut State, now: Time, persistent: bool) {
        if let Some(sent) = state.lost.take() {
            self.congestion(state, now, sent, persistent, u64::from(self.mtu));
        }
    }

    fn look(&self, state: &mut State) {
        // quinn sends while what is in flight stays below the window.
        state.window = state.controller.window().saturating_sub(1) as f64 / f64::from(self.mtu);
    }
}

impl<O: Own> Law<f64> for OfQuinn<O> {
    type Role = Controller;
    type State = State;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let mtu = u16::try_from(context.packet.0).map_err(|_| "a packet of QUIC has at most 65535 B".to_owned())?;
        let initial_window = (context.initial_window * f64::from(mtu)) as u64;
        Ok(Self { ecn: values.switch("ecn"), mtu, initial_window, begin: Instant::now(), own: PhantomData })
    }

    fn initial_state(&self) -> State {
        let controller = O::controller(self.initial_window, self.begin, self.mtu);
        let mut state = State { window: 0.0, controller, smoothed_s: 0.0, rtt_s: 0.0, lost: None };
        self.look(&mut state);
        state
    }

    fn on_event(&self, state: &mut State, event: Event, observation: &Observation<f64>) {
        if event == Event::Congestion {
            // Of a mark: that of a loss comes after the loss itself, and quinn's controllers count one of both.
            let now = Time::from_seconds(observation.now_s);
            self.losses(state, now, false);
            self.congestion(state, now, now.minus(state.rtt_s), false, 0);
            self.look(state);
        }
    }

    fn on_detail(&self, state: &mut State, delivery: &Delivery, _: &Observation<f64>) {
        let now = delivery.now;
        if let DeliveryEvent::Lost(lost) = delivery.event {
            state.lost = Some(state.lost.map_or(lost.sent, |before| before.max(lost.sent)));
            return;
        }
        self.losses(state, now, delivery.event == DeliveryEvent::Timeout);
        if let DeliveryEvent::Ack(ack) = delivery.event {
            // quinn's controllers hear of the packets before the estimate does.
            let known_s = if state.smoothed_s > 0.0 { state.smoothed_s } else { ack.rtt.map_or(0.333, Time::seconds) };
            if let Some(rtt) = ack.rtt {
                state.rtt_s = rtt.seconds();
                state.smoothed_s =
                    if state.smoothed_s > 0.0 { 0.875 * state.smoothed_s + 0.125 * state.rtt_s } else { state.rtt_s };
            }
            let limited = delivery.app_limited && !delivery.window_limited;
            let (rtt, sent) = (estimate(known_s), self.at(now.minus(state.rtt_s)));
            for _ in 0..ack.packets {
                state.controller.on_ack(self.at(now), sent, self.mtu.into(), limited, &rtt);
            }
            state.controller.on_end_acks(self.at(now), delivery.in_flight * u64::from(self.mtu), limited, None);
        }
        self.look(state);
    }

    fn output(&self, state: &State, _: &Observation<f64>) -> Output<f64> {
        Output { window: state.window, gap_s: 0.0 }
    }

    fn requirements(&self) -> Requirements {
        let marks = if self.ecn { Marks::Congestion } else { Marks::Ignored };
        Requirements { marks, now: true, delivery: true, ..Requirements::LEAST }
    }
}

/// Some seconds before a moment, and not before the start of the run.
trait Minus {
    fn minus(self, seconds: f64) -> Self;
}

impl Minus for Time {
    fn minus(self, seconds: f64) -> Self {
        self.since(Time::from_seconds(seconds))
    }
}
