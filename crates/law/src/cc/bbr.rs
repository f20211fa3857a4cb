//! BBR, by name: it sends at the bandwidth that it measures, with as much in flight as the smallest round trip asks for.
//!
//! Source: Cardwell, Cheng, Gunn, Yeganeh and Jacobson, ACM Queue 14(5), 2016; what runs is version 1 as the kernel has it.
//! Differs: it is not written here. The entry lets a scenario ask for it; the Linux world runs the kernel's, the worlds that
//! simulate refuse it.

use alloc::string::String;

use super::{Context, Controller, Event, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::numbers;
use crate::parameter::Values;

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "bbr",
    title: "BBR: sends at the measured bandwidth; the kernel's implementation, in the Linux world only",
    source: "Cardwell et al., ACM Queue 14(5), 2016",
    colour: "#6b4423",
    parameters: &[],
    observables: Observables::of::<Bbr>(),
    linearisation: Linearisation::Unsupported("Penstock does not implement it; `--world linux` runs the kernel's"),
    real: &build::<f64, Bbr>,
    dual: None,
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct Bbr {
    initial_window: f64,
}

numbers! {
    /// What it starts with; the kernel has the rest.
    struct State {
        /// Initial congestion window; the kernel does not expose the remaining state.
        window: "packets" as "Congestion window",
    }
}

impl Law<f64> for Bbr {
    type Role = Controller;
    type State = State<f64>;

    fn compile(_: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self { initial_window: context.initial_window })
    }
    fn initial_state(&self) -> State<f64> {
        State { window: self.initial_window }
    }
    fn on_event(&self, _: &mut State<f64>, _: Event, _: &Observation<f64>) {}
    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: s.window, gap_s: 0.0 }
    }
    fn requirements(&self) -> Requirements {
        Requirements { kernel: true, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody takes the entry for a law that can be simulated.
    #[test]
    fn it_asks_for_the_kernel() {
        let context =
            Context { packet: crate::quantity::Bytes(1500), initial_window: 10.0, initial_ssthresh: f64::INFINITY };
        let law = (ENTRY.real)(&Values::defaults(ENTRY.parameters), &context).unwrap();
        assert!(law.requirements().kernel && ENTRY.dual.is_none() && ENTRY.fixed.is_none());
    }
}
