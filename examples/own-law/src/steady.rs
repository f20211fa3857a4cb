//! A delay-based controller that keeps `alpha` packets of its flow in the queue.
//!
//! With window `w`, round-trip time `r` and base round-trip time `d`, the flow has `w (1 - d/r)` packets queued. Each
//! acknowledged packet moves the window by `gain (alpha - w (1 - d/r)) / w`. A congestion event halves it.

use penstock_law::cc::{Context, Controller, Event, Observation, Output, Requirements};
use penstock_law::law::{Linearisation, build};
use penstock_law::parameter::{Parameter, Unit};
use penstock_law::{Dual, Entry, Fix, KernelProgram, Law, Number, Observables, Values, numbers};

pub static ENTRY: Entry<Controller> = Entry {
    name: "steady",
    title: "Steady: alpha packets of each flow stay in the queue",
    source: "an example, no paper",
    colour: "#8a5a00",
    parameters: &[
        Parameter::number("alpha", Unit::Packets, 10.0, [1.0, 1e6], "packets that the flow keeps queued", "a choice"),
        Parameter::number("gain", Unit::One, 0.5, [0.001, 1.0], "share of the error that a window removes", "a choice"),
    ],
    observables: Observables::of::<Steady<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Steady<f64>>,
    dual: Some(&build::<Dual, Steady<Dual>>),
    fixed: Some(&build::<Fix<32>, Steady<Fix<32>>>),
    kernel: Some(&KERNEL),
};

/// bpf/steady.bpf.c, which build.rs compiles.
static KERNEL: KernelProgram<Controller> = KernelProgram {
    object: include_bytes!(concat!(env!("OUT_DIR"), "/steady.bpf.o")),
    words: |values, context| {
        let Steady::<Fix<32>> { alpha, gain, .. } = Steady::compile(values, context)?;
        Ok(vec![alpha.0, gain.0])
    },
};

/// The law with its parameters.
#[derive(Debug)]
struct Steady<N> {
    alpha: N,
    gain: N,
    start: N,
}

numbers! {
    /// The state of the law.
    struct State {
        /// Congestion window: the most packets in flight.
        window: "packets" as "Congestion window",
    }
}

impl<N: Number> Law<N> for Steady<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            alpha: N::of(values.number("alpha")),
            gain: N::of(values.number("gain")),
            start: N::of(context.initial_window),
        })
    }

    fn initial_state(&self) -> State<N> {
        State { window: self.start }
    }

    fn on_event(&self, state: &mut State<N>, event: Event, observation: &Observation<N>) {
        match event {
            // Before the first sample of the round-trip time there is nothing to go by.
            Event::Ack { packets, .. } if observation.rtt_s > N::of(0.0) => {
                let queued = state.window * (N::of(1.0) - observation.base_rtt_s / observation.rtt_s);
                let step = self.gain * (self.alpha - queued) / state.window;
                state.window += N::count(packets) * step;
            }
            Event::Congestion | Event::Timeout => state.window *= N::of(0.5),
            Event::Ack { .. } | Event::Round | Event::Tick => {}
        }
        state.window = state.window.max(N::of(1.0));
    }

    fn output(&self, state: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { window: state.window, gap_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        Requirements::LEAST
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_law::quantity::Bytes;

    #[test]
    fn the_window_moves_until_alpha_packets_are_queued() {
        let context = Context { packet: Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };
        let law = Steady::<f64>::compile(&Values::defaults(ENTRY.parameters), &context).unwrap();
        let mut state = law.initial_state();
        // A path of 100 packets in flight: what is above them is queued, and adds to the round-trip time.
        for _ in 0..10_000 {
            let rtt_s = 0.1 * (state.window / 100.0).max(1.0);
            let observation = Observation { rtt_s, base_rtt_s: 0.1, ..Observation::zero() };
            law.on_event(&mut state, Event::Ack { packets: 1, marked: 0 }, &observation);
        }
        assert!((state.window - 110.0).abs() < 1e-6, "{}", state.window);
    }
}
