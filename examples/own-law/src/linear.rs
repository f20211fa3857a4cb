//! An AQM that marks with a probability in proportion to the queue.

use penstock_law::aqm::{Aqm, Context, Decides, Event, Observation, Output, Requirements};
use penstock_law::law::{Linearisation, build};
use penstock_law::parameter::{Parameter, Unit};
use penstock_law::{Dual, Entry, Law, Number, Observables, Values, numbers};

pub static ENTRY: Entry<Aqm> = Entry {
    name: "linear",
    title: "Linear: the mark probability is the queue over a limit",
    source: "an example, no paper",
    colour: "#6a4ca0",
    parameters: &[
        Parameter::number("limit", Unit::Packets, 500.0, [1.0, 1e9], "queue that marks every packet", "a choice"),
        Parameter::switch("ecn", false, "mark ECN-capable packets instead of dropping them", "RFC 3168"),
    ],
    observables: Observables::of::<Linear<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Linear<f64>>,
    dual: Some(&build::<Dual, Linear<Dual>>),
    fixed: None,
    kernel: None,
};

/// The law with its parameters.
#[derive(Debug)]
struct Linear<N> {
    limit: N,
    marks: bool,
}

numbers! {
    /// The state of the law.
    struct State {
        /// Mark probability at the last arrival.
        probability: "1" as "Mark probability",
    }
}

impl<N: Number> Law<N> for Linear<N> {
    type Role = Aqm;
    type State = State<N>;

    fn compile(values: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self { limit: N::of(values.number("limit")), marks: values.switch("ecn") })
    }

    fn initial_state(&self) -> State<N> {
        State { probability: N::of(0.0) }
    }

    fn on_event(&self, state: &mut State<N>, event: Event, observation: &Observation<N>) {
        if matches!(event, Event::Arrival { .. }) {
            state.probability = (observation.queue / self.limit).min(N::of(1.0));
        }
    }

    fn output(&self, state: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { probability: state.probability, price_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        Requirements { decides: Decides::OnArrival, marks: self.marks, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_law::quantity::{Bytes, Rate, Time};

    #[test]
    fn the_probability_is_the_queue_over_the_limit_and_at_most_one() {
        let context = Context { rate: Rate(10_000_000), delay: Time(0), packet: Bytes(1500), classes: Vec::new() };
        let law = Linear::<f64>::compile(&Values::defaults(ENTRY.parameters), &context).unwrap();
        let mut state = law.initial_state();
        for (queue, probability) in [(0.0, 0.0), (125.0, 0.25), (500.0, 1.0), (800.0, 1.0)] {
            let observation = Observation { queue, ..Observation::zero() };
            law.on_event(&mut state, Event::Arrival { bytes: 1500, idle: 0 }, &observation);
            assert_eq!(law.output(&state, &observation).probability, probability, "{queue} packets");
        }
        // Only an arrival changes it.
        law.on_event(&mut state, Event::Full, &Observation::zero());
        assert_eq!(state.probability, 1.0);
    }
}
