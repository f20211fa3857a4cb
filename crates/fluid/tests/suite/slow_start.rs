//! A law of one's own with a slow-start threshold in its state: the fluid comes to the equilibrium of the analysis.

use crate::scenarios::{aqm, dumbbell, entry_of, group, off};
use penstock_fluid::{Fluid, Method};
use penstock_law::cc::{self, Controller, Event, Observation, Output, Requirements};
use penstock_law::law::{Entry, Law, Linearisation, Observables, build};
use penstock_law::parameter::{Parameter, Values};
use penstock_law::quantity::Time;
use penstock_law::{Dual, Number, numbers};
use penstock_scenario::model::Scenario;
use penstock_scenario::world::{RunError, World};

static ROOTED: Entry<Controller> = Entry {
    name: "rooted",
    title: "Additive increase, and a decrease in proportion to the queueing delay",
    source: "a test",
    colour: "#123456",
    parameters: &[Parameter::switch("forgets", false, "whether it keeps a number that is infinite at first", "a test")],
    observables: Observables::NONE,
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Rooted<f64>>,
    dual: Some(&build::<Dual, Rooted<Dual>>),
    fixed: None,
    kernel: None,
};

/// Queueing delay that takes one packet for each acknowledged one [s].
const PATIENCE_S: f64 = 0.2;

#[derive(Debug)]
struct Rooted<N> {
    start: N,
    threshold: N,
    least: N,
}

numbers! {
    struct State {
        window: "packets",
        threshold: "packets",
        least: "s",
    }
}

impl<N: Number> Law<N> for Rooted<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &cc::Context) -> Result<Self, String> {
        Ok(Self {
            start: N::of(context.initial_window),
            threshold: N::of(context.initial_ssthresh),
            least: N::of(if values.switch("forgets") { f64::INFINITY } else { 0.0 }),
        })
    }
    fn initial_state(&self) -> State<N> {
        State { window: self.start, threshold: self.threshold, least: self.least }
    }
    fn on_event(&self, s: &mut State<N>, event: Event, o: &Observation<N>) {
        if let Event::Ack { packets, .. } = event {
            s.least = s.least.min(o.rtt_s);
            let drift = N::of(1.0) / s.window - (o.rtt_s - o.base_rtt_s) / N::of(PATIENCE_S);
            if s.window >= s.threshold {
                s.window += N::count(packets) * drift.max(N::of(-0.5));
            } else if drift > N::of(0.0) {
                s.window += N::count(packets);
            } else {
                s.threshold = s.window;
            }
        }
    }
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { window: s.window, gap_s: N::of(0.0) }
    }
    fn requirements(&self) -> Requirements {
        Requirements::LEAST
    }
}

/// `count` flows over 100 Mbit/s and 40 ms, in packets of 1500 bytes.
fn scenario(count: u32, set: &[(&str, f64)], ssthresh: f64) -> Scenario {
    let mut scenario = dumbbell(1e8, 1500, &aqm("droptail", &[]), vec![group(count, 0.04, entry_of(&ROOTED, set))]);
    scenario.duration = Time::from_seconds(60.0);
    scenario.warmup = Time::from_seconds(30.0);
    scenario.groups[0].sender.initial_ssthresh = ssthresh;
    scenario
}

/// With window `w`, queueing delay `q` and `N` flows: `w q` is the patience, and `N w = C (d + q)`.
fn queue(count: u32) -> f64 {
    let (capacity, base_s) = (1e8 / 12_000.0, 0.04);
    let q = 0.5 * (libm::sqrt(base_s * base_s + 4.0 * f64::from(count) * PATIENCE_S / capacity) - base_s);
    capacity * q
}

/// An unlimited threshold, one above every window that the law reaches, and one that a window reaches.
#[test]
fn the_threshold_is_left_behind() {
    let method = Method { estimators: false, ..Method::default() };
    for count in [1, 10] {
        for ssthresh in [f64::INFINITY, 1e6, 20.0] {
            let run = Fluid { method: method.clone() }.run(&scenario(count, &[], ssthresh), &mut |_| true).unwrap();
            let is = run.summary.whole.links["bottleneck"].queue_mean_packets;
            println!("{count} flows, ssthresh {ssthresh}: queue {is:.3}, by hand {:.3}", queue(count));
            assert!(off(is, queue(count)) < 1e-3, "{count} flows, ssthresh {ssthresh}: {is}");
        }
    }
}

/// The mean of an infinite number and a finite one is no number: the run ends, and does not go on with comparisons that
/// are all false.
#[test]
fn a_state_that_is_no_number_ends_the_run() {
    let ended = Fluid::default().run(&scenario(1, &[("forgets", 1.0)], 20.0), &mut |_| true).map(|_| ());
    let Err(RunError::Law { whose, law, output, .. }) = &ended else { panic!("{ended:?}") };
    assert_eq!((&whose[..], *law, &output[..]), ("flows.group0, flow 0", "rooted", "a state with `least` = NaN"));
}
