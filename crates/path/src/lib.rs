//! The emulated path: real packets between two ends on this machine, and between them the links of a scenario.
//!
//! Each end is a network namespace without a name, held by this process alone, so that nothing is left of it however the
//! process ends. All that an end sends goes into a TUN device, whose other side a [`router`] reads: it takes
//! super-packets apart ([`burst`]), passes each packet through the queues, lines, losses and marks of the scenario
//! ([`emulation`], over the queues of `penstock-link` that the packets world has), and hands over due packets. It keeps
//! books of how late it was ([`error`]).

pub mod address;
mod arrivals;
mod attention;
mod awake;
pub mod burst;
pub mod capture;
mod device;
pub mod emulation;
pub mod ends;
pub mod error;
mod masquerade;
mod nat;
pub mod packet;
mod processors;
pub mod router;
mod station;
mod syscall;
pub mod wire;

use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use penstock_law::quantity::{Rate, Time};
use penstock_machine::capability::{CAP_NET_ADMIN, CAP_SYS_ADMIN, Capabilities};
use penstock_machine::clock::Clock;
use penstock_machine::{Failed, Missing, program, while_trying};
use penstock_scenario::model::Scenario;

use awake::Awake;
use emulation::Emulation;
use ends::{End, Habits};
use error::Bound;
use nat::Nat;
use packet::Direction;
use processors::Processors;
use router::{Outcome, Router};

/// A feature that this path lacks, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {instead}")]
pub struct Refused {
    /// The feature.
    pub what: String,
    /// The remedy.
    pub instead: String,
}

impl Refused {
    /// Of a feature that it lacks, and the remedy.
    pub fn new(what: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { what: what.into(), instead: instead.into() }
    }
}

/// Why there is no path.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine lacks something.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The scenario requires a feature that this path lacks.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The kernel was expected to do it, and did not.
    #[error(transparent)]
    System(#[from] Failed),
}

/// Everything that keeps this machine from having an emulated path; empty if nothing is known to.
pub fn missing() -> Vec<Missing> {
    let mut missing = Vec::new();
    let held = Capabilities::of_this_process();
    if !held.has(CAP_SYS_ADMIN) || !held.has(CAP_NET_ADMIN) {
        missing.push(Missing::new(
            "this process may not make network namespaces and devices",
            "run it as root, or behind `unshare --user --map-root-user` (without real-time priority the path is later)",
        ));
    }
    if let Err(error) = fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun") {
        missing.push(Missing::new(
            format!("cannot open /dev/net/tun ({error})"),
            "load the module `tun`; in a container, give it the device (docker: --device /dev/net/tun)",
        ));
    }
    let asked = program::of_system("ip")
        .and_then(|ip| Command::new(ip).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status());
    if let Err(error) = asked {
        missing.push(Missing::new(format!("cannot run `ip` ({error})"), "install iproute2"));
    }
    missing
}

/// Two ends with a path between them, on which nothing moves yet.
#[derive(Debug)]
pub struct Laid {
    /// Where data come from.
    pub sender: End,
    /// Where they go.
    pub receiver: End,
    /// Bound of this path's error.
    pub bound: Bound,
    emulation: Emulation,
    low_latency: Vec<bool>,
    devices: [device::Device; 2],
    rate: Rate,
    processors: Option<Processors>,
    nat: Option<Nat>,
    awake: Option<Awake>,
}

/// A path that carries.
#[derive(Debug)]
pub struct Running {
    /// Where data come from.
    pub sender: End,
    /// Where they go.
    pub receiver: End,
    /// Bound of this path's error.
    pub bound: Bound,
    _nat: Option<Nat>,
    stop: Arc<AtomicBool>,
    router: JoinHandle<io::Result<(Outcome, [device::Device; 2])>>,
}

/// When a path is read, and when it ends.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// The boundaries of the intervals of measurement, in order: when everything is read.
    pub boundaries: Vec<Time>,
    /// Sampling period of counters. A path without an end keeps some tens of thousands of samples: when there are more, every other one.
    pub sample: Time,
    /// Its end; never until it is stopped.
    pub end: Time,
}

/// The rate of the fastest link, at its fastest; of a trace, the mean.
fn fastest(scenario: &Scenario) -> Rate {
    let rates = scenario
        .links
        .values()
        .flat_map(|link| link.service.changes().iter().map(|(_, rate)| *rate).chain([link.rate]));
    rates.max().unwrap_or_default()
}

impl Laid {
    /// Lays the path of a scenario.
    ///
    /// # Errors
    /// A feature that the machine or this path lacks, or an error of the kernel.
    pub fn new(scenario: &Scenario, habits: &Habits) -> Result<Self, Error> {
        let emulation = Emulation::of(scenario)?;
        if emulation.flows() > address::MOST_FLOWS {
            let what = format!(
                "the scenario has {} flows; the emulated path has addresses for {}",
                emulation.flows(),
                address::MOST_FLOWS
            );
            return Err(Refused::new(what, "run fewer").into());
        }
        if let Some(missing) = missing().into_iter().next() {
            return Err(missing.into());
        }
        let rate = fastest(scenario);
        let processors = Processors::shared_out(rate);
        let end = |direction| End::new(direction, habits, processors.as_ref());
        let (sender, from) = end(Direction::Forward).map_err(while_trying("make the sending end"))?;
        let (receiver, to) = end(Direction::Reverse).map_err(while_trying("make the receiving end"))?;
        let groups = scenario.groups.iter();
        let shortest = groups.flat_map(|(name, group)| group.rtts(name, scenario.seed)).min().unwrap_or_default();
        Ok(Self {
            sender,
            receiver,
            bound: Bound::of(shortest),
            emulation,
            low_latency: habits.flows.iter().map(|flow| flow.low_latency).collect(),
            devices: [from, to],
            rate,
            processors,
            nat: None,
            awake: None,
        })
    }

    /// Gives the sending end a way out: a packet to an address that is no flow's crosses the links as if it were for the first
    /// flow's receiver, and goes on from there into this machine's network.
    ///
    /// # Errors
    /// Where this machine does not forward packets, or an error of the kernel or of `ip`.
    pub fn open(&mut self) -> Result<(), Error> {
        self.nat = Some(Nat::new(&self.sender, &self.receiver)?);
        Ok(())
    }

    /// Keeps the processors of this process from halting until the path ends: all of them are busy then, with threads of the idle
    /// class. A virtual processor that halts may come back milliseconds late.
    ///
    /// # Errors
    /// Where there is no thread to be had.
    pub fn keep_awake(&mut self) -> Result<(), Error> {
        self.awake = Some(Awake::keep().map_err(while_trying("keep the processors awake"))?);
        Ok(())
    }

    /// Begins to carry: `clock` determines time zero.
    ///
    /// # Errors
    /// Where there is no thread to be had.
    pub fn start(self, clock: Clock, schedule: Schedule) -> Result<Running, Error> {
        let Self { sender, receiver, bound, emulation, low_latency, devices, rate, processors, nat, awake } = self;
        let Schedule { boundaries, sample, end } = schedule;
        let open = nat.is_some();
        let router =
            Router { clock, emulation, low_latency, devices, rate, processors, awake, open, boundaries, sample, end };
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = thread::Builder::new().name("penstock-path".to_owned());
        let router = thread.spawn(move || router.run(&told)).map_err(while_trying("start the path's thread"))?;
        Ok(Running { sender, receiver, bound, _nat: nat, stop, router })
    }
}

impl Running {
    /// Whether it has ended by itself: its time is over, or an error occurred.
    pub fn ended(&self) -> bool {
        self.router.is_finished()
    }

    /// Ends it, and returns its outcome.
    ///
    /// # Errors
    /// An error of a device.
    pub fn end(self) -> Result<Outcome, Error> {
        self.stop.store(true, Ordering::Relaxed);
        let (mut outcome, _devices) = match self.router.join() {
            Ok(outcome) => outcome.map_err(while_trying("run the path"))?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        for end in [&self.sender, &self.receiver] {
            outcome.lateness.device_drops += end.dropped().map_err(while_trying("read a device's figures"))?;
        }
        Ok(outcome)
    }
}

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use penstock_scenario::read::Document;

    use super::*;

    #[test]
    fn a_link_that_becomes_faster_counts_with_that() {
        let text = r#"format = 1
            duration = "10 s"
            links.l = { from = "a", to = "b", delay = "1 ms", buffer = "9 packets",
                        rate = [["0 s", "100 Mbit/s"], ["5 s", "1 Gbit/s"], ["6 s", "10 Mbit/s"]] }
            links.m = { from = "b", to = "c", rate = "200 Mbit/s", delay = "1 ms", buffer = "9 packets" }
            flows.f = { from = "a", to = "c", cc = { law = "newreno" } }"#;
        let cells = Document::parse(text, "test.toml").and_then(|document| document.cells()).unwrap();
        assert_eq!(fastest(&cells[0].scenario), Rate(1_000_000_000));
    }
}
