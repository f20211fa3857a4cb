//! A law that requires single packets is refused, by the analysis and by a run, with its requirement: a fluid has none.

use crate::scenarios::{aqm, dumbbell, entry_of, group};
use penstock_fluid::{Fluid, Options, analyze};
use penstock_law::cc::{self, Controller, Event, Observation, Output, Requirements};
use penstock_law::law::{Entry, Law, Linearisation, Observables, build};
use penstock_law::parameter::{Parameter, Values};
use penstock_law::{Dual, Number, numbers};
use penstock_scenario::world::World;

static ASKS: Entry<Controller> = Entry {
    name: "asks",
    title: "A window of ten packets that asks for packets one by one",
    source: "a test",
    colour: "#123456",
    parameters: &[
        Parameter::switch("delivery", false, "whether it asks for deliveries", "a test"),
        Parameter::switch("fractions", false, "whether it asks for small windows as rates", "a test"),
    ],
    observables: Observables::NONE,
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Asks>,
    dual: Some(&build::<Dual, Asks>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct Asks {
    delivery: bool,
    fractions: bool,
}

numbers! {
    struct Window {
        window: "packets",
    }
}

impl<N: Number> Law<N> for Asks {
    type Role = Controller;
    type State = Window<N>;

    fn compile(values: &Values, _: &cc::Context) -> Result<Self, String> {
        Ok(Self { delivery: values.switch("delivery"), fractions: values.switch("fractions") })
    }
    fn initial_state(&self) -> Window<N> {
        Window { window: N::of(10.0) }
    }
    fn on_event(&self, _: &mut Window<N>, _: Event, _: &Observation<N>) {}
    fn output(&self, s: &Window<N>, _: &Observation<N>) -> Output<N> {
        Output { window: s.window, gap_s: N::of(0.0) }
    }
    fn requirements(&self) -> Requirements {
        Requirements { delivery: self.delivery, fractions: self.fractions, ..Requirements::LEAST }
    }
}

#[test]
fn a_fluid_has_no_packets_to_tell_of() {
    for (asked, what) in [("delivery", "rate samples"), ("fractions", "windows below two packets")] {
        let with = |set: &[(&str, f64)]| {
            dumbbell(1e7, 1500, &aqm("droptail", &[]), vec![group(4, 0.05, entry_of(&ASKS, set))])
        };
        let scenario = with(&[(asked, 1.0)]);
        let analysis = analyze(&scenario, &Options::default()).unwrap_err().to_string();
        assert!(analysis.contains("`asks`") && analysis.contains(what), "{analysis}");
        let run = Fluid::default().refusals(&scenario);
        assert!(run.len() == 1 && run[0].contains("`asks`") && run[0].contains(what), "{run:?}");
        assert!(Fluid::default().refusals(&with(&[])).is_empty(), "without it the law is one like any other");
    }
}
