//! Threshold marking: a step or a ramp over the queueing delay as it is.
//!
//! Source: Alizadeh et al., "Data Center TCP" (SIGCOMM 2010), section 3.1, for the step; RFC 9332, appendix A, `laqm()`, for the
//! ramp, its defaults and `Th_len`: none below `minTh`, every packet from `minTh + range` on. The delay is that of an arriving packet: the
//! queue over the line's rate, by Little's law.
//! Differs: a step of K packets is one of K over the line's rate; decided on arrival, as switches do.

use alloc::boxed::Box;
use alloc::string::String;

use super::{Aqm, Context, Decides, Event, Observation, Output, Requirements};
use crate::law::{Entry, Instances, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "ramp",
    title: "Threshold marking: marks by the queueing delay of each arriving packet, as a step or a ramp",
    source: "Alizadeh et al., Data Center TCP, SIGCOMM 2010; RFC 9332, appendix A",
    colour: "#5c8fd6",
    parameters: &[
        Parameter::switch("ecn", true, "use ECN: mark ECN-capable packets, drop only the others", "RFC 3168"),
        Parameter::number(
            "start",
            Unit::Seconds,
            0.000_8,
            [0.0, 10.0],
            "queueing delay above which packets are marked",
            "RFC 9332, appendix A: minTh",
        ),
        Parameter::number(
            "range",
            Unit::Seconds,
            0.000_4,
            [0.0, 10.0],
            "further delay until every packet is marked; zero is a step",
            "RFC 9332, appendix A: range",
        ),
        Parameter::number(
            "least_queue",
            Unit::Packets,
            1.0,
            [0.0, 1e6],
            "packets that wait, at the least, where an arriving one is marked",
            "RFC 9332, appendix A: Th_len",
        ),
    ],
    observables: Observables::of::<Ramp<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Ramp<f64>>,
    dual: Some(&differentiable),
    fixed: None,
    kernel: None,
};

fn differentiable(values: &Values, context: &Context) -> Result<Box<dyn Instances<Dual, Aqm>>, String> {
    if values.number("range") == 0.0 {
        return Err("a step has no derivative: write a `range` above zero for the analysis".into());
    }
    build::<Dual, Ramp<Dual>>(values, context)
}

#[derive(Debug)]
struct Ramp<N> {
    ecn: bool,
    start: N,
    /// None for a step [s].
    range: Option<N>,
    least_queue: f64,
}

numbers! {
    /// The state of the marker.
    struct State {
        /// Probability that the packet that arrived last is marked.
        probability: "1" as "Marking probability",
    }
}

impl<N: Number> Ramp<N> {
    fn probability(&self, seen: &Observation<N>) -> N {
        let (zero, one) = (N::of(0.0), N::of(1.0));
        if seen.queue.value() < self.least_queue {
            return zero;
        }
        let above = seen.queue / seen.capacity - self.start;
        match self.range {
            Some(range) => (above / range).clamp(zero, one),
            None if above > zero => one,
            None => zero,
        }
    }
}

impl<N: Number> Law<N> for Ramp<N> {
    type Role = Aqm;
    type State = State<N>;

    fn compile(values: &Values, _: &Context) -> Result<Self, String> {
        let range = values.number("range");
        Ok(Self {
            ecn: values.switch("ecn"),
            start: N::of(values.number("start")),
            range: (range > 0.0).then(|| N::of(range)),
            least_queue: values.number("least_queue"),
        })
    }

    fn initial_state(&self) -> State<N> {
        State { probability: N::of(0.0) }
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        if let Event::Arrival { .. } = event {
            s.probability = self.probability(observation);
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { probability: s.probability, price_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        Requirements { decides: Decides::OnArrival, marks: self.ecn, bytes: true, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Bytes, Rate, Time};

    /// 10,000 packets/s, so that a packet is 0.1 ms.
    fn marks(set: &[(&str, f64)], queue: f64) -> f64 {
        let values = Values::of(ENTRY.parameters, set);
        let context =
            Context { rate: Rate(80_000_000), delay: Time::ZERO, packet: Bytes(1000), classes: alloc::vec::Vec::new() };
        let law = Ramp::<f64>::compile(&values, &context).unwrap();
        let seen = Observation { queue, capacity: 10_000.0, ..Observation::zero() };
        let mut s = law.initial_state();
        law.on_event(&mut s, Event::Arrival { bytes: 1000, idle: 0 }, &seen);
        law.output(&s, &seen).probability
    }

    /// RFC 9332, appendix A: none at 0.8 ms, half at 1 ms, all at 1.2 ms.
    #[test]
    fn the_ramp_is_that_of_the_appendix() {
        for (queue, expected) in [(0.0, 0.0), (8.0, 0.0), (10.0, 0.5), (12.0, 1.0), (100.0, 1.0)] {
            assert!((marks(&[], queue) - expected).abs() < 1e-9, "{queue}");
        }
    }

    /// A step at K packets marks what finds more than K.
    #[test]
    fn a_step_marks_all_or_nothing() {
        let step = [("start", 0.004), ("range", 0.0)];
        assert_eq!([39.9, 40.0, 40.1].map(|queue| marks(&step, queue)), [0.0, 0.0, 1.0]);
    }

    /// Th_len: however slow the line, a packet that finds less in the queue is not marked.
    #[test]
    fn a_short_queue_is_not_marked() {
        let slow = [("start", 0.0), ("least_queue", 3.0)];
        assert_eq!([2.9, 4.0].map(|queue| marks(&slow, queue)), [0.0, 1.0]);
    }

    #[test]
    fn a_step_has_no_derivative() {
        let values = Values::of(ENTRY.parameters, &[("range", 0.0)]);
        let context =
            Context { rate: Rate(80_000_000), delay: Time::ZERO, packet: Bytes(1000), classes: alloc::vec::Vec::new() };
        assert!(differentiable(&values, &context).is_err_and(|why| why.contains("no derivative")));
    }
}
