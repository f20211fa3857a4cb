//! Tests that need something of the machine. A harness knows passed and failed only, so these have none: where it is
//! missing they say what is missing and count as ignored, never as passed. Where `PENSTOCK_REQUIRE` names it
//! (`kernel,tshark,iperf3`), they have failed. `time` is a machine with time for the path: see [`timed`].
#![allow(unreachable_pub, missing_docs, dead_code)]

use std::any::Any;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, panic, process, thread};

/// Requirements of tests: as `PENSTOCK_REQUIRE` names them.
pub const NEEDS: [&str; 6] = ["kernel", "tshark", "iperf3", "mounts", "strace", "time"];

/// A missing one of [`NEEDS`], and the reason.
pub type Lack = (&'static str, String);

/// Tests that need the same.
pub struct Group<'a, N, F> {
    pub tests: &'a [(N, F)],
    pub missing: Option<Lack>,
}

/// A test panics with it where it ran and could not measure.
struct NotMeasured(Lack);

/// Where a path over real packets was late: in words, or `None`.
pub type Late = RefCell<Option<String>>;

/// Number of tries of a measurement.
const TRIES: u64 = 4;

/// A test that measures over an emulated path. The path says when it was late or did not look; what is measured then is the
/// machine. So a figure that is off beside such a path is measured again, and where the path is late each time the test counts as not
/// run. One that is off although the path was on time has failed.
pub fn timed(measure: impl Fn(&Late)) {
    for attempt in 1..=TRIES {
        let late = Late::default();
        let Err(failure) = panic::catch_unwind(panic::AssertUnwindSafe(|| measure(&late))) else { return };
        let Some(late) = late.into_inner() else { panic::resume_unwind(failure) };
        println!("attempt {attempt} of {TRIES}: {late}");
        if attempt == TRIES {
            let why = format!("the machine has no time for the path, {TRIES} times; the last: {late}");
            panic::resume_unwind(Box::new(NotMeasured(("time", why))));
        }
        thread::sleep(Duration::from_secs(attempt));
    }
}

/// Whether it holds within a minute. The kernel frees an object after a grace period, which ends when every task has left the
/// processor once: on a busy machine after many seconds.
#[must_use]
pub fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    (0..2400).any(|_| {
        holds() || {
            thread::sleep(Duration::from_millis(25));
            false
        }
    })
}

/// A directory of pins for this process alone: one that a test `of` this name makes. What tests that were killed left pinned goes
/// first, since it would stay registered for ever, and its name is taken.
pub fn pins(of: &str) -> PathBuf {
    unpin_what_is_left();
    Path::new(PINS).join(format!("{OURS}{of}-{}", process::id()))
}

const PINS: &str = "/sys/fs/bpf";
const OURS: &str = "penstock-";

/// Removes the directories of [`pins`] whose process is gone, and waits until the kernel has forgotten their controllers.
fn unpin_what_is_left() {
    let of_a_test = |name: &str| {
        let (_, id) = name.strip_prefix(OURS)?.rsplit_once('-')?;
        id.parse::<u32>().ok()
    };
    for entry in fs::read_dir(PINS).into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(of_a_test) else { continue };
        if Path::new(&format!("/proc/{id}")).exists() {
            continue;
        }
        let pinned = fs::read_dir(entry.path()).into_iter().flatten().flatten();
        let pinned: Vec<String> = pinned.filter_map(|pin| pin.file_name().into_string().ok()).collect();
        if fs::remove_dir_all(entry.path()).is_ok() {
            println!("{}: its test was killed; removed with {pinned:?}", entry.path().display());
            let gone: Vec<&str> = pinned.iter().filter_map(|pin| pin.strip_prefix("cc-")).collect();
            let _forgotten = eventually(|| !available().iter().any(|name| gone.contains(&name.as_str())));
        }
    }
}

/// The controllers that the kernel has now.
pub fn available() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Runs the tests of the command line, unless something is `missing`, and ends the process.
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
    let Outcome { passed, failed, not_run, reasons } =
        judge(tests.map(|(name, test, missing)| (name.as_ref(), test, missing.as_ref())), &required);
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

/// The end of some tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub passed: usize,
    pub failed: usize,
    pub not_run: usize,
    /// Why tests were not run, each once.
    pub reasons: Vec<String>,
}

/// Runs tests, and says how each ended. One that lacks something that is `required` has failed.
pub fn judge<'a, F: Fn() + 'a>(
    tests: impl Iterator<Item = (&'a str, &'a F, Option<&'a Lack>)>,
    required: &[&str],
) -> Outcome {
    let mut outcome = Outcome::default();
    for (name, test, missing) in tests {
        let ended = match missing {
            Some(missing) => Err(Some(missing.clone())),
            None => panic::catch_unwind(panic::AssertUnwindSafe(test)).map_err(|failure| lack(&*failure)),
        };
        match ended {
            Ok(()) => {
                outcome.passed += 1;
                println!("test {name} ... ok");
            }
            Err(None) => {
                outcome.failed += 1;
                println!("test {name} ... FAILED");
            }
            Err(Some((need, why))) if required.contains(&need) => {
                outcome.failed += 1;
                println!("test {name} ... FAILED: not run, and PENSTOCK_REQUIRE has `{need}`: {why}");
            }
            Err(Some((_, why))) => {
                outcome.not_run += 1;
                println!("test {name} ... not run: {why}");
                if !outcome.reasons.contains(&why) {
                    outcome.reasons.push(why);
                }
            }
        }
    }
    outcome
}

/// The requirement that a test lacked that panicked so.
fn lack(failure: &(dyn Any + Send)) -> Option<Lack> {
    failure.downcast_ref().map(|NotMeasured(lack)| lack.clone())
}

/// Everything that is missing of the kernel, as the library says it.
pub fn kernel(missing: impl IntoIterator<Item: ToString>) -> Option<Lack> {
    missing.into_iter().next().map(|missing| ("kernel", missing.to_string()))
}
