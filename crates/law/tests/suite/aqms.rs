//! The properties of every AQM of the registry, under any events.

use std::cell::RefCell;
use std::collections::BTreeSet;

use penstock_law::aqm::{self, AQMS, Aqm, Decides, Event, Serve};
use penstock_law::conditioner::Colour;
use penstock_law::law::Linearisation;
use penstock_law::parameter::{Default, Unit};
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Entry, Instances, Values};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const SITE: aqm::Context =
    aqm::Context { rate: Rate(80_000_000), delay: Time(10_000_000_000), packet: Bytes(1000), classes: Vec::new() };

/// The law with its defaults, and with each parameter in turn at either end of its range, as far as it accepts them.
fn settings(entry: &'static Entry<Aqm>) -> Vec<(String, Box<dyn Instances<f64, Aqm>>)> {
    let defaults = Values::defaults(entry.parameters);
    let mut all = vec![(entry.name.to_owned(), (entry.real)(&defaults, &SITE).unwrap())];
    for parameter in entry.parameters {
        for end in [parameter.least, parameter.most] {
            let mut values = defaults.clone();
            values.set(parameter, end).unwrap();
            if let Ok(law) = (entry.real)(&values, &SITE) {
                all.push((format!("{} with {} = {end}", entry.name, parameter.name), law));
            }
        }
    }
    all
}

/// An event with its observation.
#[derive(Debug, Clone)]
struct Moment {
    after_s: f64,
    tick: bool,
    bytes: u32,
    idle: u32,
    low_latency: bool,
    queue: f64,
    arrived: f64,
    capacity: f64,
    sojourn_s: f64,
    /// Of green and of yellow packets in the queue.
    shares: [f64; 2],
    colour: Colour,
    coin: f64,
}

/// Nothing, or anything from a millionth to a million of `unit`.
fn any_size(unit: f64) -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 4 => (-6.0..6.0).prop_map(move |x| unit * libm::pow(10.0, x))]
}

fn moment() -> impl Strategy<Value = Moment> {
    let packet = (prop::sample::select(vec![1, 40, 1000, 1500, 65_535]), 0..100_000u32, any::<bool>());
    let queue = prop_oneof![3 => 0.0..200.0, 1 => any_size(1.0)];
    let seen = (queue, any_size(1.0), 1.0..1e7, any_size(0.01));
    let colours = (0.0..1.0, 0.0..1.0, prop::sample::select(Colour::ALL.to_vec()));
    let all = (any_size(1e-3), any::<bool>(), packet, seen, colours, 0.0..1.0);
    all.prop_map(|(after_s, tick, packet, seen, colours, coin)| Moment {
        after_s,
        tick,
        bytes: packet.0,
        idle: if after_s > 0.0 { packet.1 } else { 0 },
        low_latency: packet.2,
        queue: seen.0,
        arrived: seen.1,
        capacity: seen.2,
        sojourn_s: seen.3,
        shares: [colours.0 * colours.1, colours.0 * (1.0 - colours.1)],
        colour: colours.2,
        coin,
    })
}

fn checked(name: &str, law: &mut dyn Instances<f64, Aqm>, says: aqm::Output<f64>) -> Result<f64, TestCaseError> {
    prop_assert!((0.0..=1.0).contains(&says.probability), "{} says {:?}", name, says);
    prop_assert!(says.price_s >= 0.0 && says.price_s.is_finite(), "{} says {:?}", name, says);
    let mut state = Vec::new();
    law.each(0, &mut |x| state.push(*x));
    prop_assert!(state.iter().all(|x| x.is_finite()), "{} is at {:?}", name, state);
    Ok(says.probability)
}

/// A host that keeps the contract with each moment.
fn live(name: &str, law: &mut dyn Instances<f64, Aqm>, moments: &[Moment]) -> Result<(), TestCaseError> {
    let needs = law.requirements();
    law.restart(0);
    let mut now_s = 0.0;
    for m in moments {
        now_s += m.after_s;
        let Moment { queue, capacity, sojourn_s, .. } = *m;
        let [green, yellow] = m.shares.map(|share| share * queue);
        let seen = aqm::Observation {
            queue,
            capacity,
            sojourn_s,
            now_s,
            green,
            yellow,
            colour: m.colour,
            ..aqm::Observation::ZERO
        };
        if m.tick && needs.tick_s.is_some() {
            let seen = aqm::Observation { arrived: m.arrived, ..seen };
            let says = law.on_event(0, Event::Tick, &seen);
            checked(name, law, says)?;
        }
        if needs.full && m.coin > 0.8 {
            law.on_event(0, Event::Full, &seen);
        }
        let event = match needs.decides {
            Decides::OnArrival => Event::Arrival { bytes: m.bytes, idle: m.idle },
            Decides::AtHead => Event::Departure { low_latency: m.low_latency },
            Decides::Never | Decides::OnDeparture => continue,
        };
        let says = law.on_event(0, event, &seen);
        prop_assert_eq!(law.output(0, &seen), says, "{} says one thing and another", name);
        if m.coin < checked(name, law, says)? {
            let says = law.on_event(0, Event::Hit, &seen);
            checked(name, law, says)?;
        }
    }
    Ok(())
}

/// Under any events, a probability is one, and no number of a state is lost.
#[test]
fn probabilities_stay_probabilities() {
    let strategy = prop::collection::vec(moment(), 1..120);
    let runner = || {
        let config = Config { failure_persistence: None, ..Config::default() };
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
    };
    // Every law has the same lives: to draw them takes longer than to live them.
    let mut draws = runner();
    let lives: Vec<_> = (0..60).map(|_| strategy.new_tree(&mut draws).unwrap().current()).collect();
    for entry in AQMS {
        for (name, mut law) in settings(entry) {
            law.add();
            let law = RefCell::new(law);
            let lived = |moments: &[Moment]| live(&name, &mut **law.borrow_mut(), moments);
            if let Some(wrong) = lives.iter().position(|moments| lived(moments).is_err()) {
                // Drawn again, to find the least of its moments that are wrong.
                let mut again = runner();
                let tree = (0..=wrong).map(|_| strategy.new_tree(&mut again).unwrap()).last().unwrap();
                panic!("{}", again.run_one(tree, |moments| lived(&moments)).unwrap_err());
            }
        }
    }
}

/// The same events give the same outputs, of a law compiled anew and of one put back to its start.
#[test]
fn a_law_is_what_happened_to_it() {
    let moments = {
        let mut runner = TestRunner::deterministic();
        let tree = prop::collection::vec(moment(), 400).new_tree(&mut runner).unwrap();
        tree.current()
    };
    for entry in AQMS {
        let said = |law: &mut dyn Instances<f64, Aqm>| -> Vec<u64> {
            live(entry.name, law, &moments).unwrap();
            let mut bits = Vec::new();
            law.each(0, &mut |x| bits.push(x.to_bits()));
            bits.push(law.output(0, &aqm::Observation::zero()).probability.to_bits());
            bits
        };
        let build = || {
            let mut law = (entry.real)(&Values::defaults(entry.parameters), &SITE).unwrap();
            law.add();
            law
        };
        let (mut one, mut other) = (build(), build());
        let first = said(&mut *one);
        assert_eq!(first, said(&mut *one), "{}: after a restart", entry.name);
        assert_eq!(first, said(&mut *other), "{}: compiled anew", entry.name);
    }
}

/// The registry's entry for a law is complete, and agrees with the law's requirements.
#[test]
fn entries_are_complete() {
    let (mut names, mut colours) = (BTreeSet::new(), BTreeSet::new());
    for entry in AQMS {
        assert!(names.insert(entry.name), "two laws are named {}", entry.name);
        assert!(colours.insert(entry.colour), "{} has the colour of another", entry.name);
        let hex = entry.colour.strip_prefix('#').unwrap();
        assert!(hex.len() == 6 && u32::from_str_radix(hex, 16).is_ok(), "{}: {}", entry.name, entry.colour);
        assert_eq!(
            matches!(entry.linearisation, Linearisation::Unsupported(_)) && entry.name != "droptail",
            entry.dual.is_none()
        );
        for parameter in entry.parameters {
            let within = |x: f64| (parameter.least..=parameter.most).contains(&x);
            assert!(!matches!(parameter.default, Default::Is(x) if !within(x)), "{}: {}", entry.name, parameter.name);
            assert!(parameter.unit == Unit::Switch || parameter.least < parameter.most);
        }
        let mut law = (entry.real)(&Values::defaults(entry.parameters), &SITE).unwrap();
        law.add();
        let needs = law.requirements();
        let per_flow = matches!(needs.serve, Serve::PerFlow { .. }) && needs.decides == Decides::OnArrival;
        assert!(needs.serve == Serve::Scheduler || per_flow || needs.decides == Decides::AtHead, "{}", entry.name);
        assert!(!needs.full || needs.decides == Decides::AtHead, "{}", entry.name);
        assert!(needs.marks || !needs.overrules_marks, "{}", entry.name);
        let mut numbers = 0;
        law.each(0, &mut |_| numbers += 1);
        assert_eq!(law.names().len(), numbers, "{}", entry.name);
    }
}
