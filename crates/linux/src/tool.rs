//! The path as a tool: any program's traffic over it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use penstock_law::quantity::Time;
use penstock_machine::capability::keep_capabilities;
use penstock_machine::clock::Clock;
use penstock_machine::{program, while_trying};
use penstock_path::capture::{Capture, Captured};
use penstock_path::ends::{End, FlowHabits, Habits};
use penstock_path::packet::Direction;
use penstock_path::{Error, Laid, Refused, Schedule, address};
use penstock_scenario::model::Scenario;
use penstock_scenario::world::{Run, RunError};

use crate::account::Account;
use crate::run::of_programs;
use crate::syscall::{Bounded, MAY_WRITE, ignore_interrupts};

/// Programs that run on a path.
#[derive(Debug, Clone)]
pub struct Programs<'a> {
    /// Runs at the sending end; the path lasts as long as it does.
    pub command: &'a [OsString],
    /// Runs at the receiving end, by a shell, as long as the path lasts.
    pub server: Option<&'a OsStr>,
    /// As whom both run.
    pub account: &'a Account,
}

/// Further options of a path.
#[derive(Debug, Default)]
pub struct Wishes {
    /// The headers of the packets of an end go there: of that where data leave, or of that which they reach.
    pub capture: Option<(Direction, File)>,
    /// Whether the sending end has a way out, behind the links.
    pub nat: bool,
    /// Whether processors are kept from halting: see [`Laid::keep_awake`].
    pub awake: bool,
}

/// The end of a program.
#[derive(Debug)]
pub struct Ended {
    /// The command's exit status; 128 and the signal's number where a signal ended it.
    pub status: u8,
    /// The server's exit status, where it ended by itself before the command did: nobody listened any more.
    pub server: Option<u8>,
    /// Measurements of the path, and its error.
    pub run: Run,
    /// Counts of the capture.
    pub captured: Option<Captured>,
}

/// The reason why nothing ran, or why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    /// There is no such program, or it is not one.
    #[error("cannot run `{program}`: {source}")]
    Program {
        /// As it was named.
        program: String,
        /// The error of the kernel.
        source: io::Error,
    },
    /// There is no path.
    #[error(transparent)]
    Path(#[from] Error),
    /// The capture cannot be written.
    #[error("the capture cannot be written: {0}")]
    Capture(io::Error),
    /// The measurements contradict themselves.
    #[error(transparent)]
    Report(#[from] RunError),
}

/// The variables that programs find the other end by.
const VARIABLES: [&str; 2] = ["PENSTOCK_SENDER", "PENSTOCK_RECEIVER"];

/// Runs programs at the ends of a scenario's links, whose flows' round trips are those of their addresses. Ctrl-C is left
/// to the command. Whatever the programs have started ends with them, and with this process.
///
/// When they have started, the calling thread gives up its capabilities, but for writing in others' directories: who called may want
/// its results there.
///
/// # Errors
/// An invalid command, a feature that the machine or the path lacks, or an error of the kernel.
pub fn run(scenario: &Scenario, programs: &Programs<'_>, wishes: Wishes) -> Result<Ended, NotRun> {
    let [named, arguments @ ..] = programs.command else {
        return Err(Error::from(Refused::new("no command", "name one after `--`")).into());
    };
    let not_run = |source| NotRun::Program { program: named.to_string_lossy().into_owned(), source };
    program::find(Path::new(named)).map_err(not_run)?;
    let mtu = u16::try_from(scenario.packet.wire.0)
        .map_err(|_| Refused::new(format!("packet: {} on the wire", scenario.packet.wire), "65535 B are the most"))
        .map_err(Error::from)?;
    let flows = scenario.groups.values().map(|group| group.count as usize).sum();
    let flows = vec![FlowHabits::default(); flows];
    let habits = Habits { mtu, timestamps: true, burst: None, keep_window: false, accurate_ecn: None, flows };
    let clock = Clock::start();
    // It is read when it begins and when it ends, whenever that is.
    let schedule = Schedule { boundaries: vec![Time::ZERO, Time::NEVER], sample: scenario.sample, end: Time::NEVER };
    let mut laid = Laid::new(scenario, &habits)?;
    if wishes.nat {
        laid.open()?;
    }
    if wishes.awake {
        laid.keep_awake()?;
    }
    let capture = wishes
        .capture
        .map(|(way, file)| Capture::begin(if way == Direction::Forward { &laid.sender } else { &laid.receiver }, file));
    let capture = capture.transpose().map_err(NotRun::Capture)?;
    let path = laid.start(clock, schedule)?;
    let mut command = Command::new(named);
    command.args(arguments);
    let server = programs.server.map(|line| {
        let mut server = Command::new("/bin/sh");
        server.arg("-c").arg(line);
        server
    });
    let over = AtomicBool::new(false);
    let (status, server, limited) = thread::scope(|scope| {
        let server = server.map(|server| scope.spawn(|| until(&path.receiver, server, programs.account, Some(&over))));
        let command = scope.spawn(|| until(&path.sender, command, programs.account, None));
        let limited = keep_capabilities(MAY_WRITE);
        let status = command.join();
        over.store(true, Ordering::Relaxed);
        let server = server.map(ScopedJoinHandle::join).map(unless_panicked);
        (unless_panicked(status), server, limited)
    });
    limited.map_err(while_trying("give up rights")).map_err(Error::from)?;
    let server = server.transpose().map_err(while_trying("run the server")).map_err(Error::from)?.flatten();
    let status = status.map_err(not_run)?.unwrap_or_default();
    let captured = capture.map(Capture::end).transpose().map_err(NotRun::Capture)?;
    let bound = path.bound;
    let outcome = path.end()?;
    let name = &programs.account.name;
    let findings = vec![format!("the command ran as {name}, and ended with status {status}")];
    Ok(Ended { status, server, run: of_programs(scenario, habits, outcome, bound, findings)?, captured })
}

fn unless_panicked<T>(done: thread::Result<T>) -> T {
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Runs a program at an end, on this thread, to its end, or a server until it is `over`; its exit status, if it ended by
/// itself.
fn until(end: &End, mut command: Command, account: &Account, over: Option<&AtomicBool>) -> io::Result<Option<u8>> {
    end.enter()?;
    for (variable, way) in VARIABLES.iter().zip([Direction::Reverse, Direction::Forward]) {
        command.env(variable, address::v4(way, 0).to_string());
    }
    account.tell(&mut command);
    let mut program = Bounded::spawn(&mut command, account.rights(), 0)?;
    keep_capabilities(0)?;
    if over.is_none() {
        // The command has its own habits with Ctrl-C. It has started: what it would ignore now, it would ignore too.
        ignore_interrupts()?;
    }
    loop {
        if let Some(status) = program.ended()? {
            return Ok(Some(status));
        }
        if over.is_some_and(|over| over.load(Ordering::Relaxed)) {
            return Ok(None);
        }
        thread::sleep(WATCH);
    }
}

/// Interval of checking whether a program has ended.
const WATCH: Duration = Duration::from_millis(10);
