//! Tests that lack something of the machine count as not run, and as failed where it is required.

#[path = "../optional/mod.rs"]
mod optional;

use optional::{Lack, Late, Outcome, judge, timed};

fn passes() {}

fn fails() {
    panic!("as planned");
}

/// A figure that is off, over a path that is late each time.
fn is_late() {
    timed(|late: &Late| {
        late.replace(Some("10 ms late".to_owned()));
        panic!("as planned");
    });
}

fn outcome(tests: &[(&str, fn())], missing: Option<&Lack>, required: &[&str]) -> Outcome {
    judge(tests.iter().map(|(name, test)| (*name, test, missing)), required)
}

#[test]
fn what_is_missing_is_not_run_and_has_failed_where_it_is_required() {
    let lack: Lack = ("kernel", "no root here".to_owned());
    let tests: [(&str, fn()); 2] = [("passes", passes), ("fails", fails)];
    let counts = |outcome: &Outcome| [outcome.passed, outcome.failed, outcome.not_run];
    assert_eq!(counts(&outcome(&tests, None, &["kernel"])), [1, 1, 0]);
    let without = outcome(&tests, Some(&lack), &["tshark"]);
    assert_eq!((counts(&without), without.reasons), ([0, 0, 2], vec!["no root here".to_owned()]));
    assert_eq!(counts(&outcome(&tests, Some(&lack), &["tshark", "kernel"])), [0, 2, 0]);
}

#[test]
fn a_machine_without_time_is_not_measured() {
    let late: [(&str, fn()); 1] = [("is_late", is_late)];
    let counts = |outcome: Outcome| [outcome.passed, outcome.failed, outcome.not_run];
    assert_eq!(counts(outcome(&late, None, &[])), [0, 0, 1]);
    assert_eq!(counts(outcome(&late, None, &["time"])), [0, 1, 0]);
}
