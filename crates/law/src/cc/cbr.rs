//! Constant bit rate: a source that responds to nothing.
//!
//! Source: the non-responsive traffic of every comparison; no paper. Packets leave one gap apart, without a window. When
//! it starts, stops and pauses is the scenario's to say, not the law's.

use alloc::string::String;

use super::{Allowance, Event, Needs, Path, Sender, Site};
use crate::law::{Entry, Fields, Law, Linearises, Observables, build};
use crate::number::{Dual, Number};
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Sender> = Entry {
    name: "cbr",
    title: "Constant bit rate, answering nothing",
    source: "no paper: the usual stand-in for UDP",
    colour: "#7a7a7a",
    parameters: &[Parameter::required(
        "rate",
        Unit::BitPerSecond,
        [1.0, 1e12],
        "bits a second on the wire",
        "the scenario's choice",
    )],
    observables: Observables::of::<Cbr<f64>>(),
    linearises: Linearises::ByItself,
    real: build::<f64, Cbr<f64>>,
    dual: Some(build::<Dual, Cbr<Dual>>),
    fixed: None,
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
    type Role = Sender;
    type State = State;

    fn compile(values: &Values, site: &Site) -> Result<Self, String> {
        // 2^31 - 1 packets are more than any path holds, and the largest window fixed point can say.
        Ok(Self { gap_s: N::of(site.packet.bits() / values.number("rate")), window: N::of(2_147_483_647.0) })
    }
    fn start(&self) -> State {
        State
    }
    fn on(&self, _: &mut State, _: Event, _: &Path<N>) {}
    fn says(&self, _: &State, _: &Path<N>) -> Allowance<N> {
        Allowance { window: self.window, gap_s: self.gap_s }
    }
    fn needs(&self) -> Needs {
        Needs { reliable: false, ..Needs::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_is_the_packet_over_the_rate() {
        let mut values = Values::defaults(ENTRY.parameters);
        values.set(&ENTRY.parameters[0], 8e6).unwrap();
        let site = Site { packet: crate::quantity::Bytes(1000), initial_window: 2.0, initial_ssthresh: 1e9 };
        let law = Cbr::<f64>::compile(&values, &site).unwrap();
        let seen = Path::unknown();
        assert_eq!(law.says(&State, &seen).gap_s, 1e-3);
    }
}
