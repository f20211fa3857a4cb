//! Every number of a law's state is explained: words for a heading, a unit, and a sentence.

use std::collections::BTreeSet;

use penstock_law::aqm::{self, AQMS};
use penstock_law::cc::{self, CONTROLLERS};
use penstock_law::conditioner::{self, CONDITIONERS};
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Entry, Fields, Observable, Role, Values, numbers};

/// The units that a number of a law may have.
const UNITS: [&str; 6] = ["1", "packets", "packets/s", "bit/s", "s", "B"];

/// The missing parts of a number's explanation.
fn faults(of: &Observable) -> Vec<&'static str> {
    let mut faults = Vec::new();
    if of.words.is_empty() || of.words.ends_with('.') {
        faults.push("words for a heading");
    }
    if of.description.len() < 20 || !of.description.ends_with('.') {
        faults.push("a sentence");
    }
    if of.description.contains("[`") || of.description.contains("  ") {
        faults.push("plain text");
    }
    if !UNITS.contains(&of.unit) {
        faults.push("a unit");
    }
    faults
}

fn explained<R: Role>(registry: &[Entry<R>], site: &R::Context, set: &[(&str, f64)]) -> usize {
    let mut numbers = 0;
    for entry in registry {
        let all: Vec<Observable> = entry.observables.iter().collect();
        for of in &all {
            assert!(faults(of).is_empty(), "{}: `{}` lacks {:?}", entry.name, of.name, faults(of));
        }
        let names: BTreeSet<&str> = all.iter().map(|of| of.name).collect();
        assert_eq!(names.len(), all.len(), "{}: a name stands there twice", entry.name);
        // What a run of the law writes is what is explained.
        let mut values = Values::defaults(entry.parameters);
        for parameter in entry.parameters {
            if let Some((_, value)) = set.iter().find(|(name, _)| *name == parameter.name) {
                values.set(parameter, *value).unwrap();
            }
        }
        let built = (entry.real)(&values, site).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        for (at, name) in built.names().iter().enumerate() {
            assert_eq!(*name, (all[at].name, all[at].unit), "{}", entry.name);
        }
        numbers += all.len();
    }
    numbers
}

#[test]
fn every_state_of_every_law_has_words_a_unit_and_a_sentence() {
    let sender = cc::Context { packet: Bytes(1500), initial_window: 2.0, initial_ssthresh: 1e9 };
    let class = |share| aqm::Class { share, ..aqm::Class::FREE };
    let queue = aqm::Context {
        rate: Rate(10_000_000),
        delay: Time::ZERO,
        packet: Bytes(1500),
        classes: vec![class(Some(0.3)), class(None)],
    };
    let edge = conditioner::Context { packet: Bytes(1000) };
    assert!(explained(CONTROLLERS, &sender, &[("rate", 1e6)]) >= 20);
    assert!(explained(AQMS, &queue, &[]) >= 20);
    assert!(explained(CONDITIONERS, &edge, &[("committed_rate", 1e7)]) >= 5);
}

numbers! {
    /// A law without explanations.
    struct Bare {
        /// Queue
        queue: "parcels",
        /// The link's [`price`], in words that are long enough.
        price: "s" as "Price",
    }
}

#[test]
fn a_number_without_an_explanation_is_noticed() {
    let bare: Vec<Observable> = <Bare<f64> as Fields<f64>>::NAMES
        .iter()
        .zip(<Bare<f64> as Fields<f64>>::WORDS)
        .map(|(&(name, unit), &(words, description))| Observable { name, words, unit, description })
        .collect();
    assert_eq!(faults(&bare[0]), ["words for a heading", "a sentence", "a unit"]);
    assert_eq!(faults(&bare[1]), ["plain text"]);
}
