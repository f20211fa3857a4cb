//! Constant bit rate: a source that responds to nothing.
//!
//! Source: the non-responsive traffic of every comparison; no paper. Packets leave one gap apart, without a window. The
//! scenario, not the law, sets its start, stop and pauses.

use alloc::string::String;

use super::{Context, Controller, Event, NO_WINDOW, Observation, Output, Requirements};
use crate::law::{Entry, Fields, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "cbr",
    title: "Constant bit rate, without congestion control",
    source: "no paper: the usual stand-in for UDP",
    colour: "#7a7a7a",
    parameters: &[Parameter::required(
        "rate",
        Unit::BitPerSecond,
        [1.0, 1e12],
        "bits per second on the wire",
        "the scenario's choice",
    )],
    observables: Observables::of::<Cbr<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Cbr<f64>>,
    dual: Some(&build::<Dual, Cbr<Dual>>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct Cbr<N> {
    gap_s: N,
    window: N,
}

/// A constant source remembers nothing.
#[derive(Debug, Clone, Copy)]
struct State;

impl<N> Fields<N> for State {
    const NAMES: &'static [(&'static str, &'static str)] = &[];
    fn each(&mut self, _: &mut dyn FnMut(&mut N)) {}
}

impl<N: Number> Law<N> for Cbr<N> {
    type Role = Controller;
    type State = State;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self { gap_s: N::of(context.packet.bits() / values.number("rate")), window: N::of(NO_WINDOW) })
    }
    fn initial_state(&self) -> State {
        State
    }
    fn on_event(&self, _: &mut State, _: Event, _: &Observation<N>) {}
    fn output(&self, _: &State, _: &Observation<N>) -> Output<N> {
        Output { window: self.window, gap_s: self.gap_s }
    }
    fn requirements(&self) -> Requirements {
        Requirements { reliable: false, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_is_the_packet_over_the_rate() {
        let mut values = Values::defaults(ENTRY.parameters);
        values.set(&ENTRY.parameters[0], 8e6).unwrap();
        let context = Context { packet: crate::quantity::Bytes(1000), initial_window: 2.0, initial_ssthresh: 1e9 };
        let law = Cbr::<f64>::compile(&values, &context).unwrap();
        let observation = Observation::zero();
        assert_eq!(law.output(&State, &observation).gap_s, 1e-3);
    }
}
