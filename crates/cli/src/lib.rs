//! `penstock`: the command, with the laws of a program's own.
//!
//! Files, threads, clocks and terminals live here and nowhere else; results are computed by the other crates.
//!
//! A program that has laws of its own is a command with all that `penstock` does:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use penstock_law::Registry;
//!
//! fn main() -> ExitCode {
//!     // Each law of one's own: `.with(&mylaw::ENTRY).expect("a law that can be registered")`.
//!     penstock_cli::run(Registry::standard())
//! }
//! ```

mod analyze;
mod arguments;
mod batch;
mod capturing;
mod check;
mod compare;
mod compare_cases;
mod content;
mod dataset;
mod disk;
mod divided;
mod draft;
mod embedded;
mod evaluate;
mod examples;
mod excerpt;
mod failure;
mod finished;
mod folder;
mod gathered;
mod init;
mod interrupt;
mod jobs;
mod laws;
pub mod library;
mod linux;
mod list;
mod logging;
mod machine;
mod map;
mod memory;
mod meter;
mod named;
mod of_quic;
mod outcome;
mod pages;
mod paper;
mod partitions;
mod play;
mod program;
mod progress;
mod record;
mod registry;
mod report;
mod run;
mod scenario;
mod search;
mod shell;
mod show;
mod source;
mod study;
mod sweep;
mod terminal;
mod together;
mod tune;

use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use arguments::{Command, Scenarios};
use failure::{Done, Failure};
use meter::Meter;
use penstock_law::Registry;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Version and, where there is one, commit.
pub(crate) const VERSION: &str = env!("PENSTOCK_VERSION");

/// The command, by the arguments of this process and with these laws; returns its exit status.
///
/// Records of a registry with more than the standard laws are identified by a hash of the program, so that a law that has
/// changed is never taken for the one before. Messages begin with the name by which the program was called. A process calls this
/// once.
pub fn run(registry: Registry) -> ExitCode {
    ExitCode::from(run_with(registry, std::env::args_os().collect()))
}

/// The same with these arguments, the name of the program first, for a process that has others; returns the exit status. It
/// watches for Ctrl-C itself.
pub fn run_with(registry: Registry, given: Vec<OsString>) -> u8 {
    if let Some(name) = given.first() {
        program::called(name);
    }
    if let Err(refused) = registry::adopt(registry, "") {
        let failure = Failure::input(format!("a law that this program adds is refused: {refused}"));
        terminal::failed(&failure);
        return failure.status();
    }
    let started = Meter::start();
    let arguments = match shell::parse(given) {
        Ok(arguments) => arguments,
        Err(usage) => {
            terminal::usage(&usage);
            return u8::try_from(usage.exit_code()).unwrap_or(2);
        }
    };
    terminal::adopt(&arguments.terminal);
    let status = match guarded(|| command(&arguments.command)) {
        Ok(done) => done.status(),
        Err(failure) => {
            if failure != Failure::Closed {
                terminal::failed(&failure);
            }
            failure.status()
        }
    };
    terminal::detail(started.told());
    status
}

fn command(command: &Command) -> Result<Done, Failure> {
    let run = |scenarios: &Scenarios, own| match scenarios.dataset {
        Some(cells) => partitions::run(scenarios, own, cells as usize),
        None => run::run(scenarios, own),
    };
    match command {
        Command::Run(arguments) => {
            let &arguments::Run { pcap, generator, qlog, threads, .. } = arguments;
            let own = run::Own { pcap, generator, qlog, awake: arguments.processors.awake, shard: None, threads };
            run(&arguments.scenarios, own)
        }
        Command::Sweep(arguments) => run(
            &arguments.scenarios,
            run::Own { shard: arguments.shard, awake: arguments.processors.awake, ..run::Own::default() },
        ),
        Command::Check(arguments) => check::check(arguments),
        Command::Analyze(arguments) => analyze::analyze(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Tune(rule) => tune::tune(rule),
        Command::Laws(arguments) => laws::laws(arguments),
        Command::Paper(arguments) => paper::paper(arguments),
        Command::Evaluate(arguments) => evaluate::evaluate(arguments),
        Command::Break(arguments) => search::search(arguments),
        Command::Report(arguments) => report::report(arguments),
        Command::Examples(arguments) => examples::examples(arguments),
        Command::Init(arguments) => init::init(arguments),
        Command::Show(arguments) => show::show(arguments),
        Command::Play(arguments) => play::play(arguments),
        Command::List(arguments) => list::list(arguments),
        Command::Linux(arguments) => linux::linux(arguments),
        Command::Completions { shell } => shell::completions(*shell),
        Command::Man { folder } => shell::manual(folder.as_deref()),
    }
}

/// Turns a panic, which is always our bug, into a failure with a message.
fn guarded(work: impl FnOnce() -> Result<Done, Failure>) -> Result<Done, Failure> {
    let said = Arc::new(Mutex::new(None));
    let before = panic::take_hook();
    panic::set_hook(Box::new({
        let said = Arc::clone(&said);
        move |info| {
            let what = info.payload_as_str().unwrap_or("panic");
            let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
            let text = format!("{what}{place}");
            if std::env::var_os("RUST_BACKTRACE").is_some() {
                before(info);
            }
            // Nothing unwinds there, and the command ends here.
            if cfg!(panic = "abort") {
                let bug = Failure::Bug(text);
                terminal::failed(&bug);
                std::process::exit(i32::from(bug.status()));
            }
            if let Ok(mut said) = said.lock() {
                said.get_or_insert(text);
            }
        }
    }));
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    let _ = panic::take_hook();
    result.unwrap_or_else(|_| {
        let what = said.lock().ok().and_then(|mut said| said.take());
        Err(Failure::Bug(what.unwrap_or_else(|| "panic".into())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_bug_and_says_where() {
        let failure = guarded(|| panic!("the queue is negative")).unwrap_err();
        assert_eq!(failure.status(), 70);
        let text = failure.to_string();
        assert!(text.contains("this is a bug in penstock") && text.contains("the queue is negative"), "{text}");
        assert!(text.contains("lib.rs:"), "{text}");
    }

    #[test]
    fn good_work_is_left_alone() {
        assert_eq!(guarded(|| Ok(Done::Well)), Ok(Done::Well));
        assert_eq!(guarded(|| Err(Failure::Stopped)), Err(Failure::Stopped));
    }
}
