//! Every target on the inputs that are kept, and on some thousand mutations that depend on a seed only.

use std::fs;
use std::panic::catch_unwind;

use penstock_fuzz::mutate::mutate;
use penstock_fuzz::{TARGETS, Target, repository};
use penstock_scenario::seed::Seed;

/// Mutations a target. Coverage finds more, and takes longer: `make fuzz`.
const MUTATIONS: usize = 1000;

fn check(target: &Target, input: &[u8], what: &str) {
    assert!(
        catch_unwind(|| (target.check)(input)).is_ok(),
        "{}: {what}: {:?}",
        target.name,
        String::from_utf8_lossy(input)
    );
}

#[test]
fn inputs_that_once_broke_something_do_not_any_more() {
    for target in TARGETS {
        let folder = repository().join("crates/fuzz/corpus").join(target.name);
        let kept: Vec<_> = fs::read_dir(&folder).into_iter().flatten().flatten().collect();
        assert!(!kept.is_empty(), "{}: nothing is kept in {}", target.name, folder.display());
        for entry in kept {
            check(target, &fs::read(entry.path()).unwrap(), &entry.path().display().to_string());
        }
    }
}

#[test]
fn seeds_and_their_mutations_break_nothing() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{} has nothing to begin with", target.name);
        for seed in &seeds {
            check(target, seed, "a seed");
        }
        for round in 0..MUTATIONS {
            let input = mutate(&seeds, &mut Seed(1).stream(&format!("{}/{round}", target.name)));
            check(target, &input, &format!("mutation {round}"));
        }
    }
}

/// A target that panics is noticed.
#[test]
#[should_panic(expected = "planted")]
fn a_panic_is_noticed() {
    check(&Target { name: "planted", check: |_| panic!("as planned"), seeds: Vec::new }, b"x", "an input");
}
