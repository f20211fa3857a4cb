//! Scenarios with more than one equilibrium, or none: the report says so, and where the others are.

use crate::newcomers::{CUBIC, JUMPING, TWO_RESTS};
use crate::scenarios::{aqm, cc, dumbbell, entry_of, group};
use penstock_fluid::{Analysis, Options, analyze};

fn analysis(law: &'static penstock_law::Entry<penstock_law::cc::Controller>) -> Analysis {
    let groups = vec![group(1, 0.05, entry_of(law, &[]))];
    analyze(&dumbbell(1e7, 1000, &aqm("droptail", &[]), groups), &Options::default()).unwrap()
}

fn told(analysis: &Analysis) -> usize {
    analysis.warnings.iter().filter(|w| w.contains("more than one equilibrium")).count()
}

/// A demand that rises with the queue between two of three delays at which it is what the line carries.
#[test]
fn a_link_that_is_full_at_three_delays_names_the_other_two() {
    let a = analysis(&CUBIC);
    let mut all = vec![a.bottleneck().queueing_delay_s];
    all.extend(a.others.iter().map(|o| o.queueing_delay_s));
    all.sort_by(f64::total_cmp);
    assert_eq!((all.len(), told(&a)), (3, 2), "{:?}", a.others);
    for (is, should) in all.iter().zip([0.01, 0.02, 0.03]) {
        assert!((is - should).abs() < 1e-9, "{all:?}");
    }
    assert!(a.others.iter().all(|o| o.place == "bottleneck" && o.rate_packets_per_s.is_none()));
}

/// A law with two equilibria at one signal: which it is depends on where it starts.
#[test]
fn a_law_with_two_rests_names_the_other() {
    let a = analysis(&TWO_RESTS);
    assert!((a.classes[0].window_packets - 100.0).abs() < 1e-6, "{:?}", a.classes);
    let [other] = a.others.as_slice() else { panic!("{:?}", a.others) };
    assert_eq!((other.place.as_str(), told(&a)), ("group0", 1));
    assert!((other.rate_packets_per_s.unwrap() / a.classes[0].rate_packets_per_s - 3.0).abs() < 1e-6, "{other:?}");
}

/// And the laws of the registry have one each where they have one.
#[test]
fn what_rests_in_one_place_only_says_nothing() {
    for (law, queue) in [("newreno", "red"), ("newreno", "pi"), ("fast", "droptail"), ("leadlag", "price")] {
        let ecn: &[(&str, f64)] = if law == "newreno" { &[("ecn", 1.0)] } else { &[] };
        let marks: &[(&str, f64)] = if law == "newreno" { &[("ecn", 1.0)] } else { &[] };
        let groups = vec![group(20, 0.05, cc(law, ecn)), group(10, 0.12, cc(law, ecn))];
        let a = analyze(&dumbbell(1e8, 1000, &aqm(queue, marks), groups), &Options::default()).unwrap();
        assert!(a.others.is_empty() && told(&a) == 0, "{law} {queue}: {:?}", a.others);
    }
}

/// A demand that jumps past what the line carries, which it never is: by 750 packets a second, or half of that, at 10 ms.
#[test]
fn a_demand_that_jumps_has_no_rest() {
    let groups = vec![group(1, 0.05, entry_of(&JUMPING, &[]))];
    let error = analyze(&dumbbell(1e7, 1000, &aqm("droptail", &[]), groups), &Options::default()).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("a queue of 12.500 packets the rate of its flows jumps past its capacity"), "{said}");
}
