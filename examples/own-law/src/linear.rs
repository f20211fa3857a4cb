//! An AQM that marks with a probability in proportion to a virtual queue.
//!
//! The virtual queue gets every packet and is served at `target` of the line's capacity, so that the real queue stays empty.

use penstock_law::aqm::{Aqm, Context, Decides, Event, Observation, Output, Requirements};
use penstock_law::law::{Linearisation, build};
use penstock_law::parameter::{Parameter, Unit};
use penstock_law::{Dual, Entry, Fix, KernelProgram, Law, Number, Observables, Values, numbers};

pub static ENTRY: Entry<Aqm> = Entry {
    name: "linear",
    title: "Linear: the mark probability is a virtual queue over a limit",
    source: "an example, no paper",
    colour: "#6a4ca0",
    parameters: &[
        Parameter::number(
            "target",
            Unit::One,
            0.95,
            [0.01, 1.0],
            "service of the virtual queue over the capacity",
            "a choice",
        ),
        Parameter::number("period", Unit::Seconds, 0.01, [1e-4, 10.0], "update period", "a choice"),
        Parameter::number(
            "limit",
            Unit::Packets,
            5000.0,
            [1.0, 1e9],
            "virtual queue at which every packet is marked",
            "a choice",
        ),
        Parameter::switch("ecn", false, "mark ECN-capable packets instead of dropping them", "RFC 3168"),
    ],
    observables: Observables::of::<Linear<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Linear<f64>>,
    dual: Some(&build::<Dual, Linear<Dual>>),
    fixed: Some(&build::<Fix<32>, Linear<Fix<32>>>),
    kernel: Some(&KERNEL),
};

/// bpf/linear.bpf.c, which build.rs compiles.
static KERNEL: KernelProgram<Aqm> = KernelProgram {
    object: include_bytes!(concat!(env!("OUT_DIR"), "/linear.bpf.o")),
    words: |values, context| {
        let Linear::<Fix<32>> { target, period, limit, .. } = Linear::compile(values, context)?;
        Ok(vec![target.0, period.0, limit.0])
    },
};

/// The law with its parameters.
#[derive(Debug)]
struct Linear<N> {
    target: N,
    period: N,
    limit: N,
    period_s: f64,
    marks: bool,
}

numbers! {
    /// The state of the law.
    struct State {
        /// The virtual queue at the end of the last period.
        virtual_queue: "packets" as "Virtual queue",
        /// Mark probability until the end of the next period.
        probability: "1" as "Mark probability",
    }
}

impl<N: Number> Law<N> for Linear<N> {
    type Role = Aqm;
    type State = State<N>;

    fn compile(values: &Values, _: &Context) -> Result<Self, String> {
        let [target, period, limit] = ["target", "period", "limit"].map(|name| N::of(values.number(name)));
        Ok(Self { target, period, limit, period_s: values.number("period"), marks: values.switch("ecn") })
    }

    fn initial_state(&self) -> State<N> {
        State { virtual_queue: N::of(0.0), probability: N::of(0.0) }
    }

    fn on_event(&self, state: &mut State<N>, event: Event, observation: &Observation<N>) {
        if event == Event::Tick {
            let served = self.target * (observation.capacity * self.period);
            state.virtual_queue = (state.virtual_queue + (observation.arrived - served)).max(N::of(0.0));
            state.probability = (state.virtual_queue / self.limit).min(N::of(1.0));
        }
    }

    fn output(&self, state: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { probability: state.probability, price_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            tick_s: Some(self.period_s),
            decides: Decides::OnArrival,
            marks: self.marks,
            bytes: true,
            ..Requirements::LEAST
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_law::quantity::{Bytes, Rate, Time};

    #[test]
    fn the_probability_is_the_virtual_queue_over_the_limit_and_at_most_one() {
        let context = Context { rate: Rate(12_000_000), delay: Time(0), packet: Bytes(1500), classes: Vec::new() };
        let law = Linear::<f64>::compile(&Values::defaults(ENTRY.parameters), &context).unwrap();
        let mut state = law.initial_state();
        // 9.5 of 10 packets are served in a period; an empty virtual queue stays empty.
        for (arrived, queue, probability) in
            [(9.0, 0.0, 0.0), (1259.5, 1250.0, 0.25), (9.5, 1250.0, 0.25), (1e4, 11240.5, 1.0)]
        {
            let observation = Observation { arrived, capacity: 1000.0, ..Observation::zero() };
            law.on_event(&mut state, Event::Tick, &observation);
            let error = (law.output(&state, &observation).probability - probability).abs();
            assert!((state.virtual_queue - queue).abs() < 1e-9 && error < 1e-12, "{arrived} packets: {state:?}");
        }
        // Nothing else changes it.
        law.on_event(&mut state, Event::Full, &Observation::zero());
        assert_eq!(state.probability, 1.0);
    }
}
