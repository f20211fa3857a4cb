//! Want of data forbids growth alone (RFC 9002, section 7.8): of the window and of the rate.

use std::time::{Duration, Instant};

use penstock_law::cc::{Context, Controller as Role, Event, NO_WINDOW, Observation, Output, Requirements};
use penstock_law::law::{Entry, Law, Linearisation, Observables, build};
use penstock_law::numbers;
use penstock_law::parameter::Values;
use penstock_quinn::{Hosted, LawConfig};
use quinn_proto::congestion::Controller;

use crate::sequences::estimate;

const MTU: u64 = 1200;

numbers! {
    /// What both laws have.
    struct State {
        /// The window.
        window: "packets" as "Window",
        /// Time between packets.
        gap: "s" as "Gap",
    }
}

/// Half the packets of an acknowledgement are added on a short path, and taken away on a path of more than 50 ms.
#[derive(Debug)]
struct ByDelay;

impl Law<f64> for ByDelay {
    type Role = Role;
    type State = State<f64>;

    fn compile(_: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self)
    }
    fn initial_state(&self) -> State<f64> {
        State { window: 100.0, gap: 0.0 }
    }
    fn on_event(&self, s: &mut State<f64>, event: Event, seen: &Observation<f64>) {
        if let Event::Ack { packets, .. } = event {
            let by = f64::from(packets) / 2.0;
            s.window = if seen.rtt_s > 0.05 { (s.window - by).max(2.0) } else { s.window + by };
        }
    }
    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: s.window, gap_s: s.gap }
    }
    fn requirements(&self) -> Requirements {
        Requirements::LEAST
    }
}

/// A law without a window, whose rate rises by a tenth each period on a short path, and falls by a tenth on a path of more than 50 ms.
#[derive(Debug)]
struct OfRate;

impl Law<f64> for OfRate {
    type Role = Role;
    type State = State<f64>;

    fn compile(_: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self)
    }
    fn initial_state(&self) -> State<f64> {
        State { window: NO_WINDOW, gap: 0.004 }
    }
    fn on_event(&self, s: &mut State<f64>, event: Event, seen: &Observation<f64>) {
        if event == Event::Tick {
            s.gap *= if seen.rtt_s > 0.05 { 1.1 } else { 1.0 / 1.1 };
        }
    }
    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: s.window, gap_s: s.gap }
    }
    fn requirements(&self) -> Requirements {
        Requirements { tick_s: Some(0.1), ..Requirements::LEAST }
    }
}

macro_rules! entry {
    ($name:ident, $law:ty, $text:literal) => {
        static $name: Entry<Role> = Entry {
            name: $text,
            title: "a law of a test",
            source: "none",
            colour: "#000000",
            parameters: &[],
            observables: Observables::of::<$law>(),
            linearisation: Linearisation::Unsupported("it is of a test"),
            real: &build::<f64, $law>,
            dual: None,
            fixed: None,
            kernel: None,
        };
    };
}
entry!(BY_DELAY, ByDelay, "by-delay");
entry!(OF_RATE, OfRate, "of-rate");

/// A packet each 0.1 s, which is acknowledged after `rtt`.
fn packets(entry: &'static Entry<Role>, rtt: Duration, count: u64, bytes: u64, app_limited: bool) -> Hosted {
    let estimate = estimate(rtt);
    let mut now = Instant::now();
    let mut hosted = LawConfig::with_values(entry, Values::defaults(&[])).build().unwrap().host(now, MTU as u16);
    for number in 0..count {
        hosted.window();
        hosted.on_sent(now, bytes, number);
        hosted.on_ack(now + rtt, now, bytes, app_limited, &estimate);
        hosted.on_end_acks(now + rtt, 0, app_limited, Some(number));
        now += Duration::from_millis(100);
    }
    hosted
}

#[test]
fn a_window_falls_without_data_and_does_not_rise() {
    let [short, long] = [40, 80].map(Duration::from_millis);
    for (rtt, app_limited, window) in
        [(short, false, 125.0), (short, true, 100.0), (long, false, 75.0), (long, true, 75.0)]
    {
        let hosted = packets(&BY_DELAY, rtt, 50, MTU, app_limited);
        assert_eq!(hosted.law_window(), window, "{rtt:?}, short of data: {app_limited}");
    }
}

#[test]
fn a_rate_falls_without_data_and_does_not_rise() {
    let [short, long] = [40, 80].map(Duration::from_millis);
    for (rtt, app_limited) in [(short, false), (short, true), (long, false), (long, true)] {
        let hosted = packets(&OF_RATE, rtt, 100, 200, app_limited);
        let gap_s = hosted.gap_s();
        println!("{rtt:?}, short of data {app_limited}: {gap_s} s, {} B", hosted.window());
        let sound = match (rtt == long, app_limited) {
            (true, _) => gap_s > 1.0,
            // The first acknowledgement is that of the handshake, and the period after it counts.
            (false, true) => gap_s == 0.004 / 1.1 && hosted.window() <= 11 * MTU + 1,
            (false, false) => gap_s < 1e-5,
        };
        assert!(sound, "{rtt:?}, short of data {app_limited}: {gap_s} s, {} B", hosted.window());
    }
}
