//! A controller with a planted defect: `penstock evaluate` names it by the criterion that is meant for it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use penstock_law::cc::{self, Controller};
use penstock_law::law::{Linearisation, build};
use penstock_law::parameter::Parameter;
use penstock_law::{Entry, Law, Number, Observables, Values, numbers};
use serde_json::Value;

use super::run;
use crate::bench::{Bench, battery};

/// NewReno's arithmetic, sent by pace, with a defect or with none.
pub(super) static FLAWED: Entry<Controller> = Entry {
    name: "flawed",
    title: "NewReno by pace, with a defect",
    source: "a test",
    colour: "#000000",
    parameters: &[Parameter::choice(
        "defect",
        &["none", "never-halves", "ignores-timeouts", "never-leaves-slow-start", "paces-at-twice-its-rate"],
        "what is wrong with it",
        "a test",
    )],
    observables: Observables::NONE,
    linearisation: Linearisation::Unsupported("a test"),
    real: &build::<f64, Flawed>,
    dual: None,
    fixed: None,
    kernel: None,
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Defect {
    None,
    NeverHalves,
    IgnoresTimeouts,
    NeverLeavesSlowStart,
    PacesAtTwiceItsRate,
}

#[derive(Debug)]
struct Flawed {
    defect: Defect,
    initial_window: f64,
    initial_ssthresh: f64,
}

numbers! {
    /// That of NewReno.
    struct State {
        /// Packets that it sends in a round trip.
        window: "packets",
        /// Slow-start threshold.
        ssthresh: "packets",
    }
}

impl<N: Number> Law<N> for Flawed {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &cc::Context) -> Result<Self, String> {
        let defects = [
            Defect::None,
            Defect::NeverHalves,
            Defect::IgnoresTimeouts,
            Defect::NeverLeavesSlowStart,
            Defect::PacesAtTwiceItsRate,
        ];
        Ok(Self {
            defect: defects[values.number("defect") as usize],
            initial_window: context.initial_window,
            initial_ssthresh: context.initial_ssthresh,
        })
    }
    fn initial_state(&self) -> State<N> {
        State { window: N::of(self.initial_window), ssthresh: N::of(self.initial_ssthresh) }
    }
    fn on_event(&self, state: &mut State<N>, event: cc::Event, _: &cc::Observation<N>) {
        let half = (state.window * N::of(0.5)).max(N::of(2.0));
        match event {
            cc::Event::Ack { packets, .. } => {
                if state.window < state.ssthresh || self.defect == Defect::NeverLeavesSlowStart {
                    state.window += N::count(packets);
                } else {
                    state.window = state.window + N::count(packets) / state.window;
                }
            }
            cc::Event::Congestion if self.defect == Defect::NeverHalves => state.ssthresh = state.window,
            cc::Event::Congestion => {
                state.ssthresh = half;
                state.window = half;
            }
            cc::Event::Timeout if self.defect == Defect::IgnoresTimeouts => {}
            cc::Event::Timeout => {
                state.ssthresh = half;
                state.window = N::of(1.0);
            }
            cc::Event::Tick | cc::Event::Round => {}
        }
    }
    // The gap alone limits what it sends: the window leaves room for twice as much, but of one packet. A sample may be as
    // long as an outage.
    fn output(&self, state: &State<N>, observation: &cc::Observation<N>) -> cc::Output<N> {
        let pace = if self.defect == Defect::PacesAtTwiceItsRate { 2.0 } else { 1.0 };
        let round_s = observation.rtt_s.min(N::of(1.0));
        cc::Output { window: state.window + state.window - N::of(1.0), gap_s: round_s / (state.window * N::of(pace)) }
    }
    fn requirements(&self) -> cc::Requirements {
        cc::Requirements::LEAST
    }
}

/// A criterion of the standard battery, in few cells.
struct Criterion {
    id: &'static str,
    /// As [`battery::write`] has them.
    cells: &'static [&'static str],
}

const BACKOFF: Criterion = Criterion { id: "EV-01", cells: &[] };
const LOSS: Criterion = Criterion {
    id: "EV-05",
    cells: &[r#"path = "P-dsl", "links.bottleneck.buffer" = ["0.25 bdp", "1 bdp"], "flows.test.count" = "1""#],
};
const BESIDE: Criterion = Criterion {
    id: "EV-12",
    cells: &[
        r#"path = "P-dsl", "links.bottleneck.buffer" = "1 bdp", mix = ["1:1", "1:4"], other = "newreno", setting = "together""#,
        r#"path = "P-dsl", "links.bottleneck.buffer" = "1 bdp", mix = "1:1", other = "newreno", setting = "law last""#,
        r#"path = "P-dsl", "links.bottleneck.buffer" = "2 bdp", mix = "1:1", other = "newreno", setting = "together""#,
        r#"path = "P-dsl", "links.bottleneck.buffer" = "2 bdp", mix = "1:1", other = "newreno", setting = ["together", "alone"]"#,
    ],
};

/// Outcomes of the law without a defect, by criterion: two defects that one criterion catches are held against one of them.
static SOUND: Mutex<BTreeMap<&str, Value>> = Mutex::new(BTreeMap::new());

impl Criterion {
    /// Its outcome for the law with `defect`.
    fn outcome(&self, bench: &Bench, defect: &str) -> Value {
        let law = format!("{{ law = \"flawed\", defect = \"{defect}\" }}");
        let ended = run(bench, &["evaluate", &law, "--quick", "--battery", "battery", "--json"]);
        let all: Value = serde_json::from_str(&ended.out).unwrap_or_else(|e| panic!("{e}: {}", ended.err));
        let outcome = all["criteria"][0].clone();
        assert_eq!((outcome["id"].as_str(), all["criteria"].as_array().unwrap().len()), (Some(self.id), 1));
        // All of these are a MUST of their document.
        assert_eq!(ended.status, i32::from(outcome["verdict"] == "fails"), "{}", ended.err);
        outcome
    }

    /// The law fails with the defect, by this measure, and by no measure without it.
    fn catches(&self, defect: &str, measure: &str) {
        let bench = Bench::new();
        battery::write(&bench, self.id, self.cells);
        let failed = |outcome: &Value| {
            let measures = outcome["measures"].as_array().unwrap().iter();
            let failed = measures.filter(|measure| measure["verdict"] == "fails");
            failed.map(|measure| measure["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let mut known = SOUND.lock().unwrap();
        let sound = known.entry(self.id).or_insert_with(|| self.outcome(&bench, "none")).clone();
        drop(known);
        assert_eq!((&sound["verdict"], failed(&sound).len()), (&"meets".into(), 0), "{sound}");
        let flawed = self.outcome(&bench, defect);
        assert_eq!(flawed["verdict"], "fails", "{flawed}");
        assert!(failed(&flawed).iter().any(|name| name == measure), "{flawed}");
    }
}

pub(super) fn a_law_that_does_not_halve_starves_others() {
    BESIDE.catches("never-halves", "share");
}

pub(super) fn a_law_that_ignores_timeouts_does_not_back_off() {
    BACKOFF.catches("ignores-timeouts", "quiet");
}

pub(super) fn a_law_that_never_leaves_slow_start_causes_excessive_loss() {
    LOSS.catches("never-leaves-slow-start", "loss");
}

pub(super) fn a_law_that_paces_at_twice_its_rate_causes_excessive_loss() {
    LOSS.catches("paces-at-twice-its-rate", "loss");
}
