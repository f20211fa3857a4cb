//! Laws that are no controller of quinn, and their errors.

use penstock_law::Registry;
use penstock_law::cc::{Context, Controller, Event, Observation, Output, Requirements};
use penstock_law::law::{Entry, Law, Linearisation, Observables, build};
use penstock_law::numbers;
use penstock_law::parameter::Values;
use penstock_quinn::{LawConfig, Refused};

fn law(name: &str) -> Result<LawConfig, Refused> {
    LawConfig::new(&Registry::standard(), name)
}

#[test]
fn what_quinn_does_not_report_is_named() {
    for (name, what) in [
        ("dctcp", "the number of marked packets"),
        ("prague", "the number of marked packets"),
        ("ccp", "packet pairs"),
        ("cbr", "datagrams without acknowledgements"),
    ] {
        let mut config = law(name).unwrap();
        if name == "cbr" {
            config = config.set("rate", 1e6).unwrap();
        }
        let error = config.build().unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(what) && error.contains("quinn does not have"), "{error}");
    }
}

/// docs/quinn.md and the README of the crate have these names.
#[test]
fn these_laws_are_refused_and_no_others() {
    let registry = Registry::standard();
    let names = registry.laws::<Controller>().iter().map(|entry| entry.name);
    let mut refused: Vec<&str> = names.filter(|name| law(name).unwrap().build().is_err()).collect();
    refused.sort_unstable();
    assert_eq!(refused, ["cbr", "ccp", "ccpd", "dctcp", "leadlag", "prague"]);
}

#[test]
fn wrong_names_and_values_are_answered_with_what_would_do() {
    let error = law("bbr9").unwrap_err().to_string();
    assert!(error.contains("`bbr9`") && error.contains("bbr3"), "{error}");
    let error = law("fast").unwrap().set("alhpa", 1.0).unwrap_err().to_string();
    assert!(error.contains("`alhpa`") && error.contains("alpha"), "{error}");
    for value in [-1.0, f64::NAN, f64::INFINITY] {
        let error = law("fast").unwrap().set("alpha", value).unwrap_err().to_string();
        assert!(error.contains("`fast`") && error.contains("`alpha` may be"), "{error}");
    }
    let error = law("fast").unwrap().choose("alpha", "many").unwrap_err().to_string();
    assert!(error.contains("is a number"), "{error}");
    let error = law("cbr").unwrap().build().unwrap_err().to_string();
    assert!(error.contains("`rate` has no value"), "{error}");
}

#[test]
fn an_initial_window_is_a_number_of_packets() {
    for packets in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, 0.0, -5.0] {
        let error = law("newreno").unwrap().initial_window(packets).build().unwrap_err().to_string();
        assert!(error.contains("`newreno`") && error.contains("initial window"), "{error}");
    }
    let factory = law("newreno").unwrap().initial_window(1.0).build().unwrap();
    assert_eq!(factory.host(std::time::Instant::now(), 1200).law_window(), 2.0);
}

/// A law that keeps its window in recovery.
#[derive(Debug)]
struct Keeps;

numbers! {
    /// Its state.
    struct Kept {
        /// The window.
        window: "packets" as "Window",
    }
}

impl Law<f64> for Keeps {
    type Role = Controller;
    type State = Kept<f64>;

    fn compile(_: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self)
    }
    fn initial_state(&self) -> Kept<f64> {
        Kept { window: 10.0 }
    }
    fn on_event(&self, _: &mut Kept<f64>, _: Event, _: &Observation<f64>) {}
    fn output(&self, s: &Kept<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: s.window, gap_s: 0.0 }
    }
    fn requirements(&self) -> Requirements {
        Requirements { retransmit_on_duplicates: true, ..Requirements::LEAST }
    }
}

static KEEPS: Entry<Controller> = Entry {
    name: "keeps",
    title: "a law that keeps its window in recovery",
    source: "none",
    colour: "#000000",
    parameters: &[],
    observables: Observables::of::<Keeps>(),
    linearisation: Linearisation::Unsupported("it is of a test"),
    real: &build::<f64, Keeps>,
    dual: None,
    fixed: None,
    kernel: None,
};

/// quinn sends again what is lost as its window allows.
#[test]
fn retransmissions_beyond_the_window_are_not_quinns() {
    let error = LawConfig::with_values(&KEEPS, Values::defaults(&[])).build().unwrap_err().to_string();
    assert!(error.contains("`keeps`") && error.contains("retransmissions beyond the window"), "{error}");
}
