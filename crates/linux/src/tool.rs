//! The path as a tool: any program's traffic over it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use penstock_law::quantity::Time;
use penstock_scenario::model::Scenario;

use crate::clock::Clock;
use crate::path::emulation::Way;
use crate::path::ends::{End, FlowHabits, Habits};
use crate::path::error;
use crate::path::{Error, Laid, Refused, Schedule, address, while_trying};
use crate::syscall::{Bounded, ignore_interrupts};

/// Programs that run on a path.
#[derive(Debug, Clone)]
pub struct Programs<'a> {
    /// Runs at the sending end; the path lasts as long as it does.
    pub command: &'a [OsString],
    /// Runs at the receiving end, by a shell, as long as the path lasts.
    pub server: Option<&'a OsStr>,
}

/// How it ended.
#[derive(Debug)]
pub struct Ended {
    /// The command's exit status; 128 and the signal's number where a signal ended it.
    pub status: u8,
    /// What the path was off by.
    pub error: error::Error,
    /// Packets that the path did not carry: for an address that is no flow's, or flawed.
    pub not_carried: u64,
    /// The server's exit status, where it ended by itself before the command did: nobody listened any more.
    pub server: Option<u8>,
}

/// Why nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    /// There is no such program, or it is not one.
    #[error("cannot run `{program}`: {source}")]
    Program {
        /// As it was named.
        program: String,
        /// What the kernel says.
        source: io::Error,
    },
    /// There is no path.
    #[error(transparent)]
    Path(#[from] Error),
}

/// The variables that programs find the other end by.
pub const VARIABLES: [&str; 2] = ["PENSTOCK_SENDER", "PENSTOCK_RECEIVER"];

/// Runs programs at the ends of a scenario's links, whose flows' round trips are those of their addresses. Ctrl-C is left
/// to the command. Whatever the programs have started ends with them, and with this process.
///
/// # Errors
/// A command that is none, what the machine lacks, what the path does not carry, and what the kernel says.
pub fn run(scenario: &Scenario, programs: &Programs<'_>) -> Result<Ended, NotRun> {
    let [program, arguments @ ..] = programs.command else {
        return Err(Error::from(Refused::new("no command", "name one after `--`")).into());
    };
    let mtu = u16::try_from(scenario.packet.wire.0)
        .map_err(|_| Refused::new(format!("packet: {} on the wire", scenario.packet.wire), "65535 B are the most"))
        .map_err(Error::from)?;
    let flows = scenario.groups.values().map(|group| group.count as usize).sum();
    let flows = vec![FlowHabits::default(); flows];
    let habits = Habits { mtu, timestamps: true, burst: None, keep_window: false, flows };
    let clock = Clock::start();
    let schedule = Schedule { edges: Vec::new(), sample: Time::NEVER, end: Time::NEVER };
    let path = Laid::new(scenario, &habits)?.start(clock, schedule)?;
    let mut command = Command::new(program);
    command.args(arguments);
    let server = programs.server.map(|line| {
        let mut server = Command::new("sh");
        server.arg("-c").arg(line);
        server
    });
    let over = AtomicBool::new(false);
    let (status, server) = thread::scope(|scope| {
        let server = server.map(|server| scope.spawn(|| until(&path.receiver, server, Some(&over))));
        let status = scope.spawn(|| until(&path.sender, command, None)).join();
        over.store(true, Ordering::Relaxed);
        let server = server.map(ScopedJoinHandle::join).map(unless_panicked);
        (unless_panicked(status), server)
    });
    let server = server.transpose().map_err(while_trying("run the server"))?.flatten();
    let status =
        status.map_err(|source| NotRun::Program { program: program.to_string_lossy().into_owned(), source })?;
    let bound = path.bound;
    let outcome = path.end()?;
    Ok(Ended {
        status: status.unwrap_or_default(),
        server,
        error: outcome.lateness.sum_up(bound),
        not_carried: outcome.strangers + outcome.flawed + outcome.refused,
    })
}

fn unless_panicked<T>(done: thread::Result<T>) -> T {
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Runs a program at an end, on this thread, to its end, or a server until it is `over`; its exit status, if it ended by
/// itself.
fn until(end: &End, mut command: Command, over: Option<&AtomicBool>) -> io::Result<Option<u8>> {
    end.enter()?;
    for (variable, way) in VARIABLES.iter().zip([Way::Back, Way::There]) {
        command.env(variable, address::v4(way, 0).to_string());
    }
    let mut program = Bounded::spawn(&mut command)?;
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

/// How often a program is asked whether it has ended.
const WATCH: Duration = Duration::from_millis(10);
