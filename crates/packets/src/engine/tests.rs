//! Errors that end a run without a result: outputs of laws that are no valid numbers, and counts that do not add up.

use std::fmt::Debug;

use penstock_law::aqm::{self, Decides};
use penstock_law::cc::{self, Controller};
use penstock_law::law::{Dense, Law};
use penstock_law::quantity::{Bytes, Rate};
use penstock_law::{Values, numbers};
use penstock_link::{Config, Service};
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Document;

use super::*;
use crate::plan::build;
use crate::sender::window::{Typed, Windows};

/// Two flows over a link that loses a share of what it carries.
fn scenario(duration_s: u32, loss: f64) -> Scenario {
    let loss = if loss > 0.0 { format!(", loss = {loss:?}") } else { String::new() };
    let text = format!(
        r#"
format = 1
duration = "{duration_s} s"
links.b = {{ from = "l", to = "r", rate = "10 Mbit/s", delay = "5 ms", duplex = true, buffer = "20 packets"{loss} }}
flows.f = {{ count = 2, from = "l", to = "r", rtt = "20 ms", start = "0 s", cc = {{ law = "newreno" }} }}
"#
    );
    let cells = Document::parse(&text, "test.toml").and_then(|document| document.cells()).unwrap();
    cells.into_iter().next().unwrap().scenario
}

/// Ten packets and a millisecond between two, until the event for which it `says` something else.
#[derive(Debug)]
struct Odd {
    at: Event,
    says: [f64; 2],
    tick_s: Option<f64>,
}

numbers! {
    struct Said {
        window: "packets",
        gap_s: "s",
    }
}

impl Law<f64> for Odd {
    type Role = Controller;
    type State = Said<f64>;

    fn compile(_: &Values, _: &cc::Context) -> Result<Self, String> {
        Err("it has no parameters to compile".into())
    }
    fn initial_state(&self) -> Said<f64> {
        Said { window: 10.0, gap_s: 0.001 }
    }
    fn on_event(&self, s: &mut Said<f64>, event: Event, seen: &cc::Observation<f64>) {
        if !matches!(event, Event::Ack { .. } | Event::Congestion | Event::Timeout) {
            assert!(seen.rtt_s > 0.0 && seen.base_rtt_s > 0.0, "{event:?} before a round trip was measured");
        }
        if event == self.at {
            [s.window, s.gap_s] = self.says;
        }
    }
    fn output(&self, s: &Said<f64>, _: &cc::Observation<f64>) -> cc::Output<f64> {
        cc::Output { window: s.window, gap_s: s.gap_s }
    }
    fn requirements(&self) -> cc::Requirements {
        cc::Requirements { tick_s: self.tick_s, ..cc::Requirements::LEAST }
    }
}

/// Its run in the place of the scenario's law.
fn run_with(law: Odd, loss: f64) -> Result<Taken, RunError> {
    let scenario = scenario(2, loss);
    let mut engine = build(&scenario).unwrap();
    let group = &mut engine.groups[0];
    let period = law.tick_s.map_or(0, |s| Time::from_seconds(s).0);
    (group.period, group.paced) = (period, true);
    group.windows = Windows::Real(Typed::new(Box::new(Dense::new(law)), 2, Time::ZERO, None));
    if period > 0 {
        engine.rare.push(Now::Tick(0));
        engine.agenda = Agenda::new(engine.numbering.rare as usize + 1, 1, 1_000_000);
        engine.agenda.schedule_last(engine.numbering.send, 0);
        engine.flows[0].burst.scheduled = true;
        engine.agenda.schedule_last(engine.numbering.rare, period);
    }
    engine.run(&mut |_| true)
}

/// A window or a gap that is not a number, without end or negative ends the run at that event, whichever it is. Without the
/// refusal a window of NaN is never full, and the sender sends until there is no memory.
#[test]
fn a_law_that_says_no_number_ends_the_run() {
    let ack = Event::Ack { packets: 1, marked: 0 };
    for (event, tick_s, loss) in [
        (ack, None, 0.0),
        (Event::Round, None, 0.0),
        (Event::Tick, Some(0.05), 0.0),
        (Event::Congestion, None, 0.05),
        (Event::Timeout, None, 0.9),
    ] {
        for says in [[f64::NAN, 0.0], [f64::INFINITY, 0.0], [-1.0, 0.0], [10.0, f64::NAN], [10.0, f64::INFINITY]] {
            let error = run_with(Odd { at: event, says, tick_s }, loss).err().expect("it has no result");
            let RunError::Law { whose, law, at, output } = &error else { panic!("{event:?} {says:?}: {error}") };
            assert!(whose.starts_with("flows.f, flow ") && *law == "newreno", "{error}");
            assert!(*at > Time::ZERO && *at < Time(2 * Time::PER_SECOND), "{event:?}: at {at}");
            assert_eq!(*output, format!("a window of {} packets and a gap of {} s", says[0], says[1]));
            assert!(error.to_string().contains("the output of `newreno` was a window of"), "{error}");
        }
    }
}

/// The same law, as long as it says numbers, is run to the end.
#[test]
fn a_law_that_says_numbers_is_run() {
    let law = Odd { at: Event::Round, says: [12.0, 0.0], tick_s: None };
    run_with(law, 0.0).unwrap();
}

/// A probability of NaN from a tick on, or as a packet arrives.
#[derive(Debug)]
struct OddQueue(Decides);

numbers! {
    struct Nothing {
        chance: "1",
    }
}

impl Law<f64> for OddQueue {
    type Role = aqm::Aqm;
    type State = Nothing<f64>;

    fn compile(_: &Values, _: &aqm::Context) -> Result<Self, String> {
        Err("it has no parameters to compile".into())
    }
    fn initial_state(&self) -> Nothing<f64> {
        Nothing { chance: 0.0 }
    }
    fn on_event(&self, s: &mut Nothing<f64>, _: aqm::Event, _: &aqm::Observation<f64>) {
        s.chance = f64::NAN;
    }
    fn output(&self, s: &Nothing<f64>, _: &aqm::Observation<f64>) -> aqm::Output<f64> {
        aqm::Output { probability: s.chance, price_s: 0.0 }
    }
    fn requirements(&self) -> aqm::Requirements {
        let tick_s = (self.0 == Decides::OnDeparture).then_some(0.01);
        aqm::Requirements { tick_s, decides: self.0, marks: true, ..aqm::Requirements::LEAST }
    }
}

#[test]
fn a_probability_that_is_no_number_ends_the_run() {
    for decides in [Decides::OnArrival, Decides::OnDeparture] {
        let scenario = scenario(1, 0.0);
        let mut engine = build(&scenario).unwrap();
        let law = Box::new(Dense::new(OddQueue(decides)));
        let (service, packet, memory) = (Service::from(Rate(10_000_000)), Bytes(1500), Time(1_000_000_000_000));
        let port = Port::new(Config { service, most_packets: 20, most_bytes: u64::MAX, packet, law, memory });
        engine.links[0].station = Station::Port(port);
        let ticks = engine.links[0].station.period();
        if ticks != Time::NEVER {
            engine.agenda.schedule_last(engine.numbering.ports, ticks.0);
        }
        let error = engine.run(&mut |_| true).err().expect("it has no result");
        let RunError::Law { whose, law: "droptail", .. } = &error else { panic!("{error}") };
        assert_eq!(whose, "links.b.aqm");
        assert!(error.to_string().contains("a probability or a price of NaN"), "{error}");
    }
}

/// The engine's own check: a packet more or less in any of the counts is refused, and what is right is not.
#[test]
fn a_planted_miscount_is_refused() {
    let check = |plant: fn(&mut Engine)| {
        let mut engine = build(&scenario(1, 0.0)).unwrap();
        engine.run(&mut |_| true).unwrap();
        // The run lets go of what was under way once it has been counted.
        let on_lines: u64 = engine.flows.iter().map(|flow| flow.sent.packets - flow.sent.lost).sum::<u64>()
            - engine.receivers.iter().map(|receiver| receiver.received.packets).sum::<u64>();
        engine.flows[0].sent.packets -= on_lines;
        plant(&mut engine);
        engine.check()
    };
    check(|_| ()).unwrap();
    let plants: [fn(&mut Engine); 5] = [
        |engine| engine.flows[0].sent.packets += 1,
        |engine| engine.flows[1].sent.packets -= 1,
        |engine| engine.flows[0].sent.lost += 1,
        |engine| engine.receivers[1].received.packets += 1,
        |engine| {
            engine.lines[0].packets.push(Packet::default());
        },
    ];
    for (at, plant) in plants.into_iter().enumerate() {
        let refused = check(plant);
        assert!(matches!(refused, Err(RunError::Broken(_))), "plant {at}: {refused:?}");
    }
}

/// A run whose counts do not add up has no result: the check is part of it.
#[test]
fn a_run_that_miscounts_has_no_result() {
    let mut engine = build(&scenario(1, 0.0)).unwrap();
    engine.flows[1].sent.lost += 1;
    let error = engine.run(&mut |_| true).err().expect("a packet is lost that was not sent");
    assert!(matches!(&error, RunError::Broken(what) if what.contains("data packets were sent")), "{error}");
}
