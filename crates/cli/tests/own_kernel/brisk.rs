//! The law of these tests, as an entry that brings a program.

use std::{env, fs};

use penstock_law::cc::{self, Controller, Event, Marks, RttAverage};
use penstock_law::estimate::MarkEstimate;
use penstock_law::law::{Linearisation, build};
use penstock_law::parameter::{Parameter, Unit};
use penstock_law::{Entry, Fix, KernelProgram, Law, Number, Observables, Registry, Values, numbers};

/// The law's response to marks unless it ignores them: `price`, which controller.h does not measure, or `cut`.
pub(super) const MARKS: &str = "PENSTOCK_OWN_KERNEL_MARKS";
/// Its oddity: `priced` (a parameter has it require a price), `endless` (ranges without an end), `wordy` (200 parameters)
/// or `wordless` (its program gets no parameters).
pub(super) const LIKE: &str = "PENSTOCK_OWN_KERNEL_LIKE";

/// `steady` of examples/own-law with an average round trip, a period and a gap, so that all is used that controller.h has.
#[derive(Debug)]
struct Brisk<N> {
    alpha: N,
    gain: N,
    rise: N,
    start: N,
    priced: bool,
}

numbers! {
    /// Its state.
    struct State {
        /// Congestion window.
        window: "packets" as "Congestion window",
    }
    frozen {
        /// Periods so far.
        ticks: u32,
    }
}

impl<N: Number> Law<N> for Brisk<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &cc::Context) -> Result<Self, String> {
        let [alpha, gain, rise] = ["alpha", "gain", "rise"].map(|name| N::of(values.number(name)));
        let priced = like("priced") && values.switch("priced");
        Ok(Self { alpha, gain, rise, start: N::of(context.initial_window), priced })
    }
    fn initial_state(&self) -> State<N> {
        State { window: self.start, ticks: 0 }
    }
    fn on_event(&self, state: &mut State<N>, event: Event, observation: &cc::Observation<N>) {
        match event {
            Event::Ack { packets, .. } if observation.rtt_s > N::of(0.0) => {
                let queued = state.window * (N::of(1.0) - observation.base_rtt_s / observation.rtt_s);
                let step = self.gain * (self.alpha - queued) / state.window;
                state.window += N::count(packets) * step;
            }
            Event::Ack { .. } => {}
            Event::Tick => {
                state.ticks += 1;
                if state.ticks.is_multiple_of(4) {
                    state.window += self.rise;
                }
            }
            Event::Round => state.window -= self.rise,
            Event::Congestion | Event::Timeout => state.window *= N::of(0.5),
        }
        state.window = state.window.max(N::of(2.0));
    }
    fn output(&self, state: &State<N>, observation: &cc::Observation<N>) -> cc::Output<N> {
        cc::Output { window: state.window, gap_s: observation.rtt_s / state.window }
    }
    fn requirements(&self) -> cc::Requirements {
        let estimate = MarkEstimate { packets: 40, phi: 1000.0 };
        cc::Requirements {
            tick_s: Some(0.01),
            average_rtt: Some(RttAverage { over_window: 3.0, most: 0.25 }),
            marks: match env::var(MARKS).as_deref() {
                _ if self.priced => Marks::Price(estimate),
                Ok("price") => Marks::Price(estimate),
                Ok(_) => Marks::Congestion,
                Err(_) => Marks::Ignored,
            },
            ..cc::Requirements::LEAST
        }
    }
}

/// Whether the law is to be like this.
pub(super) fn like(what: &str) -> bool {
    env::var(LIKE).is_ok_and(|like| like.split(' ').any(|word| word == what))
}

fn parameters() -> &'static [Parameter] {
    let endless = |name, range| Parameter::number(name, Unit::One, 0.0, range, "a number", "a test");
    let more = match env::var(LIKE).unwrap_or_default().as_str() {
        "priced" => vec![Parameter::switch("priced", false, "goes by a price", "a test")],
        "endless" => {
            let (most, least) = (f64::INFINITY, f64::NEG_INFINITY);
            vec![endless("any", [least, most]), endless("above", [0.0, most]), endless("below", [least, 0.0])]
        }
        "wordy" => {
            (0..200).map(|at| endless(format!("a_parameter_with_a_long_name_{at}").leak(), [0.0, 1.0])).collect()
        }
        _ => Vec::new(),
    };
    [PARAMETERS, &more].concat().leak()
}

const PARAMETERS: &[Parameter] = &[
    Parameter::number("alpha", Unit::Packets, 10.0, [1.0, 1e6], "packets that it keeps queued", "a test"),
    Parameter::number("gain", Unit::One, 0.5, [0.001, 1.0], "share of the error", "a test"),
    Parameter::number("rise", Unit::Packets, 0.5, [0.0, 10.0], "step of four periods", "a test"),
];

/// The registry of the command that this is.
pub(super) fn registry(asked: &str) -> Registry {
    let (name, object) = asked.split_once(' ').expect("a name and a file");
    let program: KernelProgram<Controller> = KernelProgram {
        object: fs::read(object).unwrap().leak(),
        words: |values, context| {
            let Brisk::<Fix<32>> { alpha, gain, rise, .. } = Brisk::compile(values, context)?;
            if like("wordless") {
                return Ok(Vec::new());
            }
            Ok([alpha, gain, rise].map(|word| word.0).to_vec())
        },
    };
    let entry = Entry {
        name: name.to_owned().leak(),
        title: "a controller with a kernel program",
        source: "a test",
        colour: "#000000",
        parameters: parameters(),
        observables: Observables::of::<Brisk<f64>>(),
        linearisation: Linearisation::Unsupported("a test"),
        real: &build::<f64, Brisk<f64>>,
        dual: None,
        fixed: Some(&build::<Fix<32>, Brisk<Fix<32>>>),
        kernel: Some(Box::leak(Box::new(program))),
    };
    Registry::standard().with(Box::leak(Box::new(entry))).expect("an entry that a registry takes")
}
