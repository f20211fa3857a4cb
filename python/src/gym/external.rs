//! The law of a sender that is steered from outside: it remembers a window and a gap, which its host sets, and counts what
//! happened meanwhile.
//!
//! It counts the events of any law. So an agent that learned from it can be written as a law.

use penstock_law::cc::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use penstock_law::law::{Entry, Instances, Linearisation, Observables};
use penstock_law::parameter::{Parameter, Values};

const ECN: Parameter =
    Parameter::switch("ecn", false, "use ECN: acknowledgements count the packets that were marked", "RFC 3168");
/// A law decides before its host sends what the same acknowledgement lets go. A decision from outside comes after that, unless the
/// sender waits.
const WAITS: Parameter = Parameter::switch(
    "waits",
    false,
    "send at the end of a round, or after a timeout, what one packet's window allows",
    "",
);

pub(super) static ENTRY: Entry<Controller> = Entry {
    name: "external",
    title: "A window and a gap that are set from outside",
    source: "no paper: the agent decides",
    colour: "#5b5b8c",
    parameters: &[ECN, WAITS],
    observables: Observables::NONE,
    linearisation: Linearisation::Unsupported("it has no law of its own"),
    real: &|values, context| Ok(Box::new(External::new(values, context))),
    dual: None,
    fixed: None,
    kernel: None,
};

/// The entry's parameters as a scenario has them.
pub(super) fn values(ecn: bool, waits: bool) -> Values {
    let mut values = Values::defaults(ENTRY.parameters);
    for (parameter, on) in [(&ECN, ecn), (&WAITS, waits)] {
        values.set(parameter, f64::from(u8::from(on))).expect("a switch is on or off");
    }
    values
}

/// The numbers of its state.
const NAMES: [(&str, &str); 8] = [
    ("window", "packets"),
    ("gap", "s"),
    ("acknowledged", "packets"),
    ("marked", "packets"),
    ("congestion_events", "1"),
    ("timeouts", "1"),
    ("rtt_sum", "s"),
    ("rtts", "1"),
];

/// Its state and counters. Hosts visit the numbers in this order.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    /// Packets in flight at most.
    pub(super) window: f64,
    /// Least time between two packets; zero leaves the spacing to the acknowledgements [s].
    pub(super) gap_s: f64,
    /// Packets acknowledged outside recovery.
    pub(super) acknowledged: f64,
    /// Those of them with an echo of a mark.
    pub(super) marked: f64,
    /// Congestion events.
    pub(super) congestion_events: f64,
    /// Timeouts.
    pub(super) timeouts: f64,
    /// The latest round trip at each of those acknowledgements, summed [s].
    pub(super) rtt_sum_s: f64,
    /// How many those are.
    pub(super) rtts: f64,
}

impl State {
    /// Visits each number.
    pub(super) fn each(&mut self, f: &mut dyn FnMut(&mut f64)) {
        let Self { window, gap_s, acknowledged, marked, congestion_events, timeouts, rtt_sum_s, rtts } = self;
        [window, gap_s, acknowledged, marked, congestion_events, timeouts, rtt_sum_s, rtts].into_iter().for_each(f);
    }

    /// The state of these numbers, and those that follow them.
    pub(super) fn of(numbers: &[f64]) -> (Self, &[f64]) {
        let mut state = Self::default();
        let (own, rest) = numbers.split_at(NAMES.len());
        let mut own = own.iter();
        state.each(&mut |x| own.next().into_iter().for_each(|number| *x = *number));
        (state, rest)
    }

    /// The same window and gap, and nothing counted.
    pub(super) fn anew(self) -> Self {
        Self { window: self.window, gap_s: self.gap_s, ..Self::default() }
    }
}

/// Its instances. The state of this law is outside the host, which therefore keeps and restores none.
#[derive(Debug)]
struct External {
    ecn: bool,
    waits: bool,
    initial: State,
    states: Vec<State>,
}

impl External {
    fn new(values: &Values, context: &Context) -> Self {
        let initial = State { window: context.initial_window, ..State::default() };
        Self { ecn: values.switch("ecn"), waits: values.switch("waits"), initial, states: Vec::new() }
    }
}

impl Instances<f64, Controller> for External {
    fn add(&mut self) -> usize {
        self.states.push(self.initial);
        self.states.len() - 1
    }
    fn restart(&mut self, at: usize) {
        self.states[at].window = self.initial.window;
    }
    fn keep(&mut self, _: usize) {}
    fn bring_back(&mut self, _: usize) {}
    fn copy(&mut self, at: usize) -> usize {
        self.states.push(self.states[at]);
        self.states.len() - 1
    }
    fn on_event(&mut self, at: usize, event: Event, observation: &Observation<f64>) -> Output<f64> {
        let state = &mut self.states[at];
        match event {
            Event::Ack { packets, marked } => {
                state.acknowledged += f64::from(packets);
                state.marked += f64::from(marked);
                if observation.rtt_s > 0.0 {
                    state.rtt_sum_s += observation.rtt_s;
                    state.rtts += 1.0;
                }
            }
            Event::Congestion => state.congestion_events += 1.0,
            Event::Timeout => state.timeouts += 1.0,
            Event::Tick | Event::Round => {}
        }
        let waits = self.waits && matches!(event, Event::Round | Event::Timeout);
        Output { window: if waits { 1.0 } else { state.window }, gap_s: state.gap_s }
    }
    fn output(&self, at: usize, _: &Observation<f64>) -> Output<f64> {
        Output { window: self.states[at].window, gap_s: self.states[at].gap_s }
    }
    fn mean_output(&self, at: usize, observation: &Observation<f64>) -> Output<f64> {
        self.output(at, observation)
    }
    fn names(&self) -> &'static [(&'static str, &'static str)] {
        &NAMES
    }
    fn each(&mut self, at: usize, f: &mut dyn FnMut(&mut f64)) {
        self.states[at].each(f);
    }
    fn requirements(&self) -> Requirements {
        Requirements { marks: if self.ecn { Marks::Counted } else { Marks::Ignored }, ..Requirements::LEAST }
    }
}
