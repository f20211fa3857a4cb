//! A law of these tests that requires deliveries, as an entry that brings a program.

use std::fs;

use penstock_law::cc::{self, Controller, Delivery, DeliveryEvent, Event, Spared, Timing};
use penstock_law::estimate::Clocked;
use penstock_law::law::{Linearisation, build};
use penstock_law::parameter::{Parameter, Unit};
use penstock_law::quantity::Time;
use penstock_law::{Entry, Fix, KernelProgram, Law, Observables, Registry, Values, numbers};

use super::brisk::like;

/// What the path holds at the delivery rate, and `alpha` packets. Other parts of its window are there by their parameters: what was
/// delivered or lost and came with no acknowledgement, and everything else of a delivery. By [`super::LIKE`] it uses something that
/// cc/controller.h does not provide.
#[derive(Debug)]
struct Brook<N> {
    alpha: N,
    track: N,
    missed: N,
    rest: N,
    start: N,
}

numbers! {
    /// Its state.
    struct State {
        /// Congestion window.
        window: "packets" as "Congestion window",
        /// The latest delivery rate.
        rate: "packets/s" as "Delivery rate",
        /// Packets of all acknowledgements.
        heard: "packets" as "Packets acknowledged",
        /// Losses of all acknowledgements.
        heard_lost: "packets" as "Packets lost",
    }
}

impl<N: Clocked> Law<N> for Brook<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &cc::Context) -> Result<Self, String> {
        let [alpha, track, missed, rest] = ["alpha", "track", "missed", "rest"].map(|name| N::of(values.number(name)));
        Ok(Self { alpha, track, missed, rest, start: N::of(context.initial_window) })
    }
    fn initial_state(&self) -> State<N> {
        let zero = N::of(0.0);
        State { window: self.start, rate: zero, heard: zero, heard_lost: zero }
    }
    fn on_event(&self, s: &mut State<N>, event: Event, _: &cc::Observation<N>) {
        if event == Event::Timeout {
            s.rate = N::of(0.0);
        }
    }
    fn on_detail(&self, s: &mut State<N>, delivery: &Delivery, seen: &cc::Observation<N>) {
        let count = |packets: u64| N::count(packets as u32);
        let DeliveryEvent::Ack(ack) = &delivery.event else {
            if like("recovery") && delivery.event == DeliveryEvent::RecoveryEntered {
                s.rate *= N::of(0.5);
            }
            return;
        };
        s.heard += N::count(ack.packets);
        s.heard_lost += N::count(ack.lost);
        let missed = (count(delivery.delivered) - s.heard) + (count(delivery.lost) - s.heard_lost);
        let mut rest = count(ack.in_flight_before) - count(delivery.in_flight) + N::count(ack.marked);
        if delivery.app_limited {
            rest += N::of(1.0);
        }
        rest += ack.rtt.map_or(N::of(0.0), N::span);
        if let Some(sample) = &ack.rate {
            if !sample.then.app_limited {
                s.rate = count(sample.delivered) / N::span(sample.interval);
            }
            rest += N::span(delivery.now) - N::span(sample.then.sent);
            rest += count(delivery.delivered) - count(sample.then.delivered);
            if like("then-lost") {
                s.rate += count(sample.then.lost);
            }
            if like("then-in-flight") {
                s.rate += count(sample.then.in_flight);
            }
        }
        if like("limited") && delivery.window_limited {
            s.rate += N::of(1.0);
        }
        if like("random") {
            s.rate += N::of(delivery.uniform);
        }
        let window = self.alpha + self.missed * missed + self.track * (s.rate * seen.base_rtt_s);
        s.window = (window + self.rest * rest).max(N::of(2.0));
    }
    fn output(&self, s: &State<N>, _: &cc::Observation<N>) -> cc::Output<N> {
        cc::Output { window: s.window, gap_s: N::of(0.0) }
    }
    fn timing(&self, _: &State<N>, _: &cc::Observation<N>) -> Timing {
        Timing { timer: like("timed").then_some(Time(1)), ..Timing::default() }
    }
    fn requirements(&self) -> cc::Requirements {
        cc::Requirements { delivery: !like("deaf"), spared: Spared::NOTHING, ..cc::Requirements::LEAST }
    }
}

const PARAMETERS: &[Parameter] = &[
    Parameter::number("alpha", Unit::Packets, 20.0, [1.0, 1e6], "packets besides", "a test"),
    Parameter::number("track", Unit::One, 1.0, [0.0, 1.0], "share of what the path holds", "a test"),
    Parameter::number("missed", Unit::One, 0.0, [0.0, 1.0], "share of what no acknowledgement had", "a test"),
    Parameter::number("rest", Unit::One, 0.0, [0.0, 1.0], "share of everything else", "a test"),
];

/// The registry of the command that this is.
pub(super) fn registry(asked: &str) -> Registry {
    let (name, object) = asked.split_once(' ').expect("a name and a file");
    let program: KernelProgram<Controller> = KernelProgram {
        object: fs::read(object).unwrap().leak(),
        words: |values, context| {
            let Brook::<Fix<32>> { alpha, track, missed, rest, .. } = Brook::compile(values, context)?;
            Ok([alpha, track, missed, rest].map(|word| word.0).to_vec())
        },
    };
    let entry = Entry {
        name: name.to_owned().leak(),
        title: "a controller with a kernel program that hears of deliveries",
        source: "a test",
        colour: "#000000",
        parameters: PARAMETERS,
        observables: Observables::of::<Brook<f64>>(),
        linearisation: Linearisation::Unsupported("a test"),
        real: &build::<f64, Brook<f64>>,
        dual: None,
        fixed: Some(&build::<Fix<32>, Brook<Fix<32>>>),
        kernel: Some(Box::leak(Box::new(program))),
    };
    Registry::standard().with(Box::leak(Box::new(entry))).expect("an entry that a registry takes")
}
