//! Laws that say what nobody can act on.

use penstock_law::law::{Dense, Law};
use penstock_law::{Values, numbers};
use penstock_scenario::read::Document;
use penstock_scenario::world::RunError;

use super::*;
use crate::run::{Method, Part, build, through};

/// Ten packets, until a round trip ends: then something else.
#[derive(Debug)]
struct Odd([f64; 2]);

numbers! {
    struct Said {
        window: "packets",
        gap_s: "s",
    }
}

impl Law<f64> for Odd {
    type Role = cc::Controller;
    type State = Said<f64>;

    fn compile(_: &Values, _: &cc::Context) -> Result<Self, String> {
        Err("it has no parameters to compile".into())
    }
    fn initial_state(&self) -> Said<f64> {
        Said { window: 10.0, gap_s: 0.001 }
    }
    fn on_event(&self, s: &mut Said<f64>, event: Event, seen: &cc::Observation<f64>) {
        assert!(seen.rtt_s > 0.0 && seen.base_rtt_s > 0.0, "{event:?} before a round trip was measured");
        if event == Event::Round {
            [s.window, s.gap_s] = self.0;
        }
    }
    fn output(&self, s: &Said<f64>, _: &cc::Observation<f64>) -> cc::Output<f64> {
        cc::Output { window: s.window, gap_s: s.gap_s }
    }
    fn requirements(&self) -> cc::Requirements {
        cc::Requirements::LEAST
    }
}

/// A link and three flows, each of a group of its own.
fn three_flows() -> Scenario {
    let text = r#"
format = 1
duration = "1 s"
links.b = { from = "l", to = "r", rate = "10 Mbit/s", delay = "5 ms", buffer = "20 packets" }
defaults.flows = { from = "l", to = "r", rtt = "20 ms", start = "0 s", cc = { law = "newreno" } }
flows.f = {}
flows.g = {}
flows.h = {}
"#;
    Document::parse(text, "test.toml").and_then(|d| d.cells()).unwrap().remove(0).scenario
}

/// The run ends at an invalid output of the law, with the law's name, and not with numbers that are none.
#[test]
fn a_law_that_says_no_number_ends_the_run() {
    let scenario = three_flows();
    let run = |says: [f64; 2]| {
        let method = Method::default();
        let mut network = build(&scenario, &method, 1).unwrap();
        network.hosts[0].replace(Box::new(Dense::new(Odd(says))));
        through(network, &scenario, &method, &mut |_| true, &mut |_| {})
    };
    for says in [[f64::NAN, 0.0], [f64::INFINITY, 0.0], [-1.0, 0.0], [10.0, f64::NAN]] {
        let error = run(says).expect_err("it has no result");
        let RunError::Law { whose, law: "newreno", at, output } = &error else { panic!("{says:?}: {error}") };
        assert_eq!(whose, "flows.f, flow 0");
        assert!((0.02..0.1).contains(&at.seconds()), "{at}");
        assert_eq!(*output, format!("a window of {} packets and a gap of {} s", says[0], says[1]));
    }
    run([12.0, 0.002]).unwrap();
}

/// It is the same error where the senders are divided, and the law is one of the last of them.
#[test]
fn so_it_does_in_parts() {
    let scenario = three_flows();
    let error = |parts: usize| {
        let method = Method::default();
        let mut network = build(&scenario, &method, parts).unwrap();
        assert_eq!(network.senders.len(), parts);
        network.hosts[2].replace(Box::new(Dense::new(Odd([f64::NAN, 0.0]))));
        let crew = &mut |parts: &mut [Part<'_>]| parts.iter_mut().for_each(Part::advance);
        through(network, &scenario, &method, &mut |_| true, crew).expect_err("it has no result").to_string()
    };
    assert!(error(1).contains("flows.h"), "{}", error(1));
    assert_eq!(error(1), error(3));
}
