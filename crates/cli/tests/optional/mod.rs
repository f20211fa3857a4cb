//! Tests that need something of the machine. A harness knows passed and failed only, so these have none: where it is
//! missing they say what is missing and count as ignored, never as passed. Where `PENSTOCK_REQUIRE` names it
//! (`kernel,tshark,iperf3`), they have failed.
#![allow(unreachable_pub, missing_docs, dead_code)]

use std::{env, panic, process};

/// What tests need: as `PENSTOCK_REQUIRE` names it.
pub const NEEDS: [&str; 5] = ["kernel", "tshark", "iperf3", "mounts", "strace"];

/// What of [`NEEDS`] is missing, and why.
pub type Lack = (&'static str, String);

/// Tests that need the same.
pub struct Group<'a, N, F> {
    pub tests: &'a [(N, F)],
    pub missing: Option<Lack>,
}

/// Runs the tests that the command line asks for, unless something is `missing`, and ends the process.
pub fn run(tests: &[(&str, fn())], missing: Option<Lack>) -> ! {
    run_groups(&[Group { tests, missing }])
}

/// The same of several groups.
pub fn run_groups<N: AsRef<str>, F: Fn()>(groups: &[Group<'_, N, F>]) -> ! {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let chosen = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(*part));
    let tests =
        groups.iter().flat_map(|group| group.tests.iter().map(move |(name, test)| (name, test, &group.missing)));
    let tests = tests.filter(|(name, ..)| chosen(name.as_ref()));
    if arguments.iter().any(|argument| argument == "--list") {
        tests.for_each(|(name, ..)| println!("{}: test", name.as_ref()));
        process::exit(0);
    }
    let required = env::var("PENSTOCK_REQUIRE").unwrap_or_default();
    let required: Vec<&str> = required.split(',').map(str::trim).filter(|need| !need.is_empty()).collect();
    if let Some(unknown) = required.iter().find(|need| !NEEDS.contains(need)) {
        println!("PENSTOCK_REQUIRE: `{unknown}` is not one of {}", NEEDS.join(", "));
        process::exit(101);
    }
    let (mut passed, mut failed, mut not_run) = (0, 0, 0);
    let mut reasons: Vec<&str> = Vec::new();
    for (name, test, missing) in tests {
        let name = name.as_ref();
        match missing {
            Some((need, why)) if required.contains(need) => {
                failed += 1;
                println!("test {name} ... FAILED: not run, and PENSTOCK_REQUIRE has `{need}`: {why}");
            }
            Some((_, why)) => {
                not_run += 1;
                if !reasons.contains(&why.as_str()) {
                    reasons.push(why);
                }
                println!("test {name} ... not run: {why}");
            }
            None if panic::catch_unwind(panic::AssertUnwindSafe(test)).is_ok() => {
                passed += 1;
                println!("test {name} ... ok");
            }
            None => {
                failed += 1;
                println!("test {name} ... FAILED");
            }
        }
    }
    let result = match (failed, passed, not_run) {
        (0, 0, 1..) => "NOT RUN",
        (0, ..) => "ok",
        _ => "FAILED",
    };
    println!("\ntest result: {result}. {passed} passed; {failed} failed; {not_run} ignored\n");
    for reason in reasons {
        println!("not run: {reason}\n");
    }
    process::exit(if failed == 0 { 0 } else { 101 });
}

/// Everything that is missing of the kernel, as the library says it.
pub fn kernel(missing: impl IntoIterator<Item: ToString>) -> Option<Lack> {
    missing.into_iter().next().map(|missing| ("kernel", missing.to_string()))
}
