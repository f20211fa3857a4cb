//! Tests that need something of the machine. A harness knows passed and failed only, so these have none: where it is
//! missing they say what is missing and count as ignored, never as passed.
#![allow(unreachable_pub, missing_docs)]

use std::{env, panic, process};

pub type Test = (&'static str, fn());

/// Runs the tests that the command line asks for, unless something is `missing`, and ends the process.
pub fn run(tests: &[Test], missing: Option<&str>) -> ! {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let chosen = tests.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|part| name.contains(*part)));
    if arguments.iter().any(|argument| argument == "--list") {
        chosen.for_each(|(name, _)| println!("{name}: test"));
        process::exit(0);
    }
    let (mut passed, mut failed, mut not_run) = (0, 0, 0);
    for (name, test) in chosen {
        if let Some(missing) = missing {
            not_run += 1;
            println!("test {name} ... not run: {missing}");
        } else if panic::catch_unwind(test).is_ok() {
            passed += 1;
            println!("test {name} ... ok");
        } else {
            failed += 1;
            println!("test {name} ... FAILED");
        }
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {result}. {passed} passed; {failed} failed; {not_run} ignored\n");
    process::exit(if failed == 0 { 0 } else { 101 });
}
