//! BBR, by name: it sends at the bandwidth that it measures, with as much in flight as the smallest round trip asks for.
//!
//! Source: Cardwell, Cheng, Gunn, Yeganeh and Jacobson, ACM Queue 14(5), 2016; what runs is version 1 as the kernel has it.
//! Differs: it is not written here. The entry lets a scenario ask for it; the Linux world runs the kernel's, the worlds that
//! simulate refuse it.

use alloc::string::String;

use super::{Allowance, Event, Needs, Path, Sender, Site};
use crate::law::{Entry, Law, Linearises, Observables, build};
use crate::numbers;
use crate::parameter::Values;

pub(super) const ENTRY: Entry<Sender> = Entry {
    name: "bbr",
    title: "BBR: as fast as the measured bandwidth; the kernel's own, in the Linux world only",
    source: "Cardwell et al., ACM Queue 14(5), 2016",
    colour: "#6b4423",
    parameters: &[],
    observables: Observables::of::<Bbr>(),
    linearises: Linearises::No("it is the kernel's, and not written here; only `--world linux` runs it"),
    real: build::<f64, Bbr>,
    dual: None,
    fixed: None,
};

#[derive(Debug)]
struct Bbr {
    initial_window: f64,
}

numbers! {
    /// What it starts with; the kernel has the rest.
    struct State {
        /// Initial congestion window; the kernel keeps the rest of BBR's state to itself.
        window: "packets" as "Congestion window",
    }
}

impl Law<f64> for Bbr {
    type Role = Sender;
    type State = State<f64>;

    fn compile(_: &Values, site: &Site) -> Result<Self, String> {
        Ok(Self { initial_window: site.initial_window })
    }
    fn start(&self) -> State<f64> {
        State { window: self.initial_window }
    }
    fn on(&self, _: &mut State<f64>, _: Event, _: &Path<f64>) {}
    fn says(&self, s: &State<f64>, _: &Path<f64>) -> Allowance<f64> {
        Allowance { window: s.window, gap_s: 0.0 }
    }
    fn needs(&self) -> Needs {
        Needs { kernel: true, ..Needs::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody takes the entry for a law that can be simulated.
    #[test]
    fn it_asks_for_the_kernel() {
        let site = Site { packet: crate::quantity::Bytes(1500), initial_window: 10.0, initial_ssthresh: f64::INFINITY };
        let law = (ENTRY.real)(&Values::defaults(ENTRY.parameters), &site).unwrap();
        assert!(law.needs().kernel && ENTRY.dual.is_none() && ENTRY.fixed.is_none());
    }
}
