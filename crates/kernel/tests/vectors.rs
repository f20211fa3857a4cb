//! The committed vectors, against Rust and against C on this processor.
//!
//! `PENSTOCK_BLESS=1 cargo test -p penstock-kernel --test vectors` writes `vectors/*.txt` anew, from
//! `penstock_kernel::generators`; do it when a law changed on purpose, and look at the difference.

use std::path::PathBuf;
use std::sync::Once;
use std::{env, fs};

use penstock_kernel::generators;
use penstock_kernel::kernel_laws::{Call, KERNEL_LAWS, KernelLaw, MOST, copa, kernel_law};
use penstock_kernel::replay::{self, Build};
use penstock_kernel::vectors::{Vectors, is_number};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn path(kernel_law: &KernelLaw) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(format!("{}.txt", kernel_law.name))
}

/// The contents of `vectors/`; blessed before the first look, if that is set.
fn committed(kernel_law: &'static KernelLaw) -> (String, Vectors) {
    static BLESSED: Once = Once::new();
    BLESSED.call_once(|| {
        if env::var_os("PENSTOCK_BLESS").is_some() {
            assert!(env::var_os("CI").is_none(), "PENSTOCK_BLESS accepts what there is: not where CI is set");
            for kernel_law in KERNEL_LAWS {
                fs::write(path(kernel_law), generators::text(kernel_law)).unwrap();
            }
        }
    });
    let text = fs::read_to_string(path(kernel_law)).unwrap();
    let vectors = Vectors::parse(kernel_law, &format!("vectors/{}.txt", kernel_law.name), &text).unwrap();
    (text, vectors)
}

#[test]
fn the_committed_vectors_are_what_rust_computes() {
    for kernel_law in KERNEL_LAWS {
        let (committed, vectors) = committed(kernel_law);
        assert!(vectors.len() >= 20_000, "{}: {} vectors", kernel_law.name, vectors.len());
        let report = replay::in_rust(&vectors);
        assert!(report.holds(), "{report}");
        let generated = generators::text(kernel_law);
        let same = generated.lines().zip(committed.lines()).take_while(|(a, b)| a == b).count();
        assert!(generated == committed, "{}: line {} is not what its generator writes", vectors.file, same + 1);
    }
}

#[test]
fn nothing_is_accepted_where_ci_is_set() {
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "the_native_implementations_compute_the_vectors"]).env("CI", "1").env("PENSTOCK_BLESS", "1");
    let ended = test.output().unwrap();
    assert!(!ended.status.success() && String::from_utf8_lossy(&ended.stdout).contains("not where CI is set"));
}

#[test]
fn the_native_implementations_compute_the_vectors() {
    for kernel_law in KERNEL_LAWS {
        let report = replay::natively(Build::Faithful, &committed(kernel_law).1);
        assert!(report.holds(), "{report}");
        println!("{report}");
    }
}

#[test]
fn a_slip_in_a_kernel_implementation_is_noticed_by_the_vectors_of_every_law() {
    for kernel_law in KERNEL_LAWS {
        let report = replay::natively(Build::PlantedSlip, &committed(kernel_law).1);
        assert!(report.mismatches.len() > 1000, "{report}");
    }
}

#[test]
fn a_wrong_digit_in_a_vector_is_noticed_and_named() {
    let params = "params 429496729600 2147483648 2147483648 0 0 0\n";
    let right = format!("{params}round 8589934592 0 0 0 429496730 429496730 -> 17179869184 0 0 0\n");
    let wrong = right.replace("17179869184", "17179869185");
    let replay = |text: &str| {
        let vectors = Vectors::parse(kernel_law("fast").unwrap(), "fast.txt", text).unwrap();
        [replay::in_rust(&vectors), replay::natively(Build::Faithful, &vectors)].map(|report| report.to_string())
    };
    assert_eq!(replay(&right), ["fast.txt: 1 vectors, all as they must be"; 2]);
    let named =
        "fast.txt: 1 vectors, 1 words wrong; the first at line 2: window_q32: got 17179869184, want 17179869185";
    assert_eq!(replay(&wrong), [named; 2]);
}

/// Connections of Copa, with the round trips that it remembers: every direction, both modes and each end of slow start is in them.
#[test]
fn connections_in_c_are_those_of_rust() {
    let calls = generators::connections();
    let states = copa::connections(&calls);
    let native = replay::connections_natively(Build::Faithful, &calls);
    for (at, (got, want)) in native.iter().zip(&states).enumerate() {
        assert_eq!(got, want, "step {at}: {:?}", calls[at]);
    }
    let column = |name| kernel_law("copa").unwrap().words.state.iter().position(|word| *word == name).unwrap();
    for name in ["slow_start", "competes", "up", "delta_q32", "min_rtt_q32", "standing_q32", "velocity_q32"] {
        let word = column(name);
        let changes = states.windows(2).filter(|pair| pair[0][word] != pair[1][word]).count();
        assert!(changes >= 100, "{name} changed {changes} times");
    }
    let slip = replay::connections_natively(Build::PlantedSlip, &calls);
    let other = slip.iter().zip(&states).filter(|(got, want)| got != want).count();
    assert!(other > 1000, "a slip changes {other} of {} states", states.len());
}

/// Any words at all, far outside the ranges of the vectors.
#[test]
fn the_native_implementations_compute_what_rust_does_on_anything() {
    let word = || (any::<i64>(), 0u32..64).prop_map(|(x, shift)| x >> shift);
    let fitting = |name: Option<&&str>, word: i64, most: u32| match name {
        Some(name) if is_number(name) => word,
        Some(_) => word & i64::from(most),
        None => 0,
    };
    let words = prop::collection::vec(word(), MOST.params + MOST.state + MOST.observation);
    for kernel_law in KERNEL_LAWS {
        let config = Config { cases: 20_000, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let check = |(event, words): (usize, Vec<i64>)| {
            let mut words = words.into_iter();
            let mut next = || words.next().unwrap_or_default();
            let call = Call {
                event,
                params: std::array::from_fn(|at| fitting(kernel_law.words.params.get(at), next(), 3)),
                state: std::array::from_fn(|at| fitting(kernel_law.words.state.get(at), next(), 1)),
                observation: std::array::from_fn(|at| fitting(kernel_law.words.observation.get(at), next(), u32::MAX)),
            };
            let got = replay::call_natively(Build::Faithful, kernel_law, &[call]);
            prop_assert_eq!(got, [kernel_law.in_rust(&call)], "{}: {:?}", kernel_law.name, call);
            Ok(())
        };
        runner.run(&(0..kernel_law.events.len(), words.clone()), check).unwrap();
    }
}
