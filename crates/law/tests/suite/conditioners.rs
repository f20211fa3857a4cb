//! The properties of every conditioner of the registry, under any events.

use std::cell::RefCell;
use std::collections::BTreeSet;

use penstock_law::conditioner::{self, CONDITIONERS, Colour, Conditioner, Event};
use penstock_law::law::Linearisation;
use penstock_law::parameter::{Default, Unit};
use penstock_law::quantity::Bytes;
use penstock_law::{Entry, Instances, Values};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const SITE: conditioner::Context = conditioner::Context { packet: Bytes(1000) };

fn defaults(entry: &'static Entry<Conditioner>) -> Values {
    let mut values = Values::defaults(entry.parameters);
    for parameter in entry.parameters.iter().filter(|p| p.default == Default::Required) {
        values.set(parameter, 10e6).unwrap();
    }
    values
}

/// The law with its defaults, and with each parameter in turn at either end of its range, as far as it accepts them.
fn settings(entry: &'static Entry<Conditioner>) -> Vec<(String, Box<dyn Instances<f64, Conditioner>>)> {
    let mut all = vec![(entry.name.to_owned(), (entry.real)(&defaults(entry), &SITE).unwrap())];
    for parameter in entry.parameters {
        for end in [parameter.least, parameter.most] {
            let mut values = defaults(entry);
            values.set(parameter, end).unwrap();
            if let Ok(law) = (entry.real)(&values, &SITE) {
                all.push((format!("{} with {} = {end}", entry.name, parameter.name), law));
            }
        }
    }
    all
}

/// A packet that arrives some time after the one before, and its coin.
fn packet() -> impl Strategy<Value = (f64, u32, f64)> {
    let after_s = prop_oneof![1 => Just(0.0), 4 => (-6.0..2.0).prop_map(|x| libm::pow(10.0, x))];
    (after_s, prop::sample::select(vec![1, 40, 1000, 1500, 65_535]), 0.0..1.0)
}

/// A host that keeps the contract with each packet; returns the colours.
fn live(
    name: &str,
    law: &mut dyn Instances<f64, Conditioner>,
    packets: &[(f64, u32, f64)],
) -> Result<Vec<Colour>, TestCaseError> {
    law.restart(0);
    let contract = law.requirements();
    let mut colours = Vec::new();
    let mut seen = conditioner::Observation { now_s: 0.0 };
    // What has been green since each moment is within what the contract allows for that time, the worst over moments.
    let mut debt = 0.0_f64;
    for (after_s, bytes, coin) in packets {
        seen.now_s += after_s;
        let says = law.on_event(0, Event::Arrival { bytes: *bytes }, &seen);
        prop_assert_eq!(law.output(0, &seen), says, "{} says one thing and another", name);
        prop_assert!(says.yellow >= 0.0 && says.red >= 0.0 && says.yellow + says.red <= 1.0, "{}: {:?}", name, says);
        prop_assert!((0.0..=contract.bucket_bytes).contains(&says.level), "{}: {:?}", name, says);
        let colour = if *coin < says.red {
            Colour::Red
        } else if *coin < says.red + says.yellow {
            Colour::Yellow
        } else {
            Colour::Green
        };
        let after = law.on_event(0, Event::Coloured { bytes: *bytes, colour }, &seen);
        debt = (debt - contract.committed_bit_per_s / 8.0 * after_s).max(0.0);
        if colour == Colour::Green {
            debt += f64::from(*bytes);
            // A thousandth of a byte a packet is what the buckets forgive.
            let room = contract.bucket_bytes + 2e-3 * packets.len() as f64;
            prop_assert!(debt <= room, "{}: {} B in profile at once, {} B agreed", name, debt, contract.bucket_bytes);
        } else {
            prop_assert_eq!(after.level, says.level, "{}: what is out of profile takes committed tokens", name);
        }
        let mut state = Vec::new();
        law.each(0, &mut |x| state.push(*x));
        prop_assert!(state.iter().all(|x| x.is_finite()), "{} is at {:?}", name, state);
        colours.push(colour);
    }
    Ok(colours)
}

/// Whatever arrives and however coins fall: what is in profile never exceeds rate times time plus bucket (the token
/// bucket's theorem), probabilities are probabilities, and red and yellow take no committed tokens.
#[test]
fn what_is_in_profile_keeps_the_contract() {
    for entry in CONDITIONERS {
        for (name, mut law) in settings(entry) {
            law.add();
            let law = RefCell::new(law);
            let config = Config { cases: 60, failure_persistence: None, ..Config::default() };
            let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
            let strategy = prop::collection::vec(packet(), 1..200);
            let run = |packets: Vec<_>| live(&name, &mut **law.borrow_mut(), &packets).map(|_| ());
            if let Err(wrong) = runner.run(&strategy, run) {
                panic!("{wrong}");
            }
        }
    }
}

/// The same packets get the same colours, of a law compiled anew and of one put back to its start.
#[test]
fn a_law_is_what_happened_to_it() {
    let mut runner = TestRunner::deterministic();
    let tree = prop::collection::vec(packet(), 400).new_tree(&mut runner).unwrap();
    let packets = proptest::strategy::ValueTree::current(&tree);
    for entry in CONDITIONERS {
        let build = || {
            let mut law = (entry.real)(&defaults(entry), &SITE).unwrap();
            law.add();
            law
        };
        let (mut one, mut other) = (build(), build());
        let first = live(entry.name, &mut *one, &packets).unwrap();
        assert_eq!(first, live(entry.name, &mut *one, &packets).unwrap(), "{}: after a restart", entry.name);
        assert_eq!(first, live(entry.name, &mut *other, &packets).unwrap(), "{}: compiled anew", entry.name);
        assert!(first.contains(&Colour::Green) && first.contains(&Colour::Red), "{}", entry.name);
    }
}

/// The registry's entry for a law is complete.
#[test]
fn entries_are_complete() {
    let (mut names, mut colours) = (BTreeSet::new(), BTreeSet::new());
    for entry in CONDITIONERS {
        assert!(names.insert(entry.name), "two laws are named {}", entry.name);
        assert!(colours.insert(entry.colour), "{} has the colour of another", entry.name);
        let hex = entry.colour.strip_prefix('#').unwrap();
        assert!(hex.len() == 6 && u32::from_str_radix(hex, 16).is_ok(), "{}: {}", entry.name, entry.colour);
        assert_eq!(
            matches!(entry.linearisation, Linearisation::Unsupported(_)),
            entry.dual.is_none(),
            "{}",
            entry.name
        );
        for parameter in entry.parameters {
            let within = |x: f64| (parameter.least..=parameter.most).contains(&x);
            assert!(!matches!(parameter.default, Default::Is(x) if !within(x)), "{}: {}", entry.name, parameter.name);
            assert!(parameter.unit == Unit::Switch || parameter.least < parameter.most);
        }
        let mut law = (entry.real)(&defaults(entry), &SITE).unwrap();
        law.add();
        let mut numbers = 0;
        law.each(0, &mut |_| numbers += 1);
        assert_eq!(law.names().len(), numbers, "{}", entry.name);
        let contract = law.requirements();
        assert_eq!((contract.committed_bit_per_s, contract.bucket_bytes), (10e6, 125_000.0), "{}", entry.name);
    }
}

/// The codepoints of RFC 2597, section 6, for the first class.
#[test]
fn colours_have_their_codepoints() {
    assert_eq!(Colour::ALL.map(Colour::dscp), [10, 12, 14]);
    assert_eq!(Colour::ALL.map(Colour::precedence), [0, 1, 2]);
}
