//! Scenarios on this machine's own TCP, over the emulated path.

mod datagrams;
mod generator;
mod iperf3;
mod laws;
mod measured;
mod plan;
mod programs;
#[cfg(feature = "quic")]
mod quic;
mod receiver;
mod report;
mod sender;
mod socket;
mod traffic;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use penstock_law::quantity::Time;
use penstock_machine::clock::{Clock, duration};
use penstock_path::emulation::Emulation;
use penstock_path::packet::Direction;
use penstock_path::{Laid, Refused, Schedule};
use penstock_scenario::model::Scenario;
use penstock_scenario::world::{Run, RunError, Watcher, World, with_one_flow_each};

pub use generator::Generator;
use measured::Measured;
use plan::{Plan, Source};
pub(crate) use programs::of_programs;
use receiver::Received;
use sender::Sender;

/// The Linux world.
#[derive(Debug, Clone, Copy, Default)]
pub struct Linux {
    /// The sender of the flows of TCP.
    pub generator: Generator,
    /// Whether processors are kept from halting during a run: see [`Laid::keep_awake`].
    pub awake: bool,
}

/// Laws of scenarios that this kernel has a controller for, and its name there.
pub fn controllers() -> Vec<(&'static str, &'static str)> {
    let there = plan::controllers_of_kernel();
    plan::CONTROLLERS.iter().filter(|(_, kernels)| there.iter().any(|name| name == kernels)).copied().collect()
}

/// Two runs at once would disturb each other.
static ONE: Mutex<()> = Mutex::new(());
/// Until every thread is there.
const HEAD_START: Duration = Duration::from_millis(100);
/// Until every server listens.
const HEAD_START_OF_PROGRAMS: Duration = Duration::from_secs(1);
/// After the end, until everyone has noticed.
const AFTER: Time = Time(300_000_000_000);
const WATCH: Duration = Duration::from_millis(50);

fn refused(what: &impl ToString) -> RunError {
    RunError::Refused { world: "linux", what: vec![what.to_string()] }
}

fn refused_all(what: &[Refused]) -> RunError {
    RunError::Refused { world: "linux", what: what.iter().map(ToString::to_string).collect() }
}

impl World for Linux {
    fn name(&self) -> &'static str {
        "linux"
    }

    fn run(&self, scenario: &Scenario, watcher: &mut dyn Watcher) -> Result<Run, RunError> {
        if watcher.wants_packets() {
            return Err(refused(
                &"the Linux world does not capture packets of a run: run the traffic by `linux path FILE --pcap -- COMMAND`",
            ));
        }
        let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut plan = self.plan(scenario)?;
        if self.generator == Generator::Iperf3 {
            plan.findings.push(iperf3::FINDING.to_owned());
        }
        let measured = run(scenario, plan, *self, watcher)?;
        report::report(scenario, &measured)
    }

    fn refusals(&self, scenario: &Scenario) -> Vec<String> {
        self.plan(&with_one_flow_each(scenario)).map_or_else(RunError::reasons, |_| Vec::new())
    }

    fn awake(&self) -> bool {
        self.awake
    }

    fn takes_turns(&self) -> bool {
        true
    }
}

impl Linux {
    /// The plan of a scenario for this kernel, or every feature that it lacks.
    fn plan(self, scenario: &Scenario) -> Result<Plan, RunError> {
        let plan = Plan::of(scenario, self.generator);
        let mut refusals = plan.as_ref().err().cloned().unwrap_or_default();
        if self.generator == Generator::Iperf3 {
            refusals.extend(iperf3::refusals(scenario).err());
        }
        refusals.extend(Emulation::of(&with_one_flow_each(scenario)).err());
        match plan {
            Ok(plan) if refusals.is_empty() => Ok(plan),
            _ => Err(refused_all(&refusals)),
        }
    }
}

fn run(scenario: &Scenario, plan: Plan, world: Linux, watcher: &mut dyn Watcher) -> Result<Measured, RunError> {
    let Linux { generator, awake } = world;
    // Routes name them, so that they come first; they are gone when this returns, however it does.
    let registered = laws::Registered::new(&plan.laws).map_err(|e| refused(&e))?;
    let mut laid = Laid::new(scenario, &plan.habits).map_err(|e| refused(&e))?;
    if awake {
        laid.keep_awake().map_err(|e| refused(&e))?;
    }
    let system = |what: &'static str| move |e: io::Error| refused(&format!("cannot {what}: {e}"));
    let sockets = || Ok((socket::listening(plan.flows.len())?, socket::datagrams(Direction::Forward, 0)?));
    let (listener, _datagrams) = laid.receiver.namespace.within(sockets).map_err(system("listen"))?;
    let mut boundaries: Vec<Time> = scenario.windows.values().flat_map(|(a, b)| [*a, *b]).collect();
    boundaries.extend([scenario.warmup, scenario.duration]);
    boundaries.sort_unstable();
    boundaries.dedup();
    let clock = Clock::start_in(match generator {
        Generator::Own => HEAD_START,
        Generator::Iperf3 | Generator::Quic => HEAD_START_OF_PROGRAMS,
    });
    let end = scenario.duration;
    // It carries a little longer, so that the last readings find everything as it was.
    let schedule = Schedule { boundaries: boundaries.clone(), sample: scenario.sample, end: end + AFTER };
    let path = laid.start(clock, schedule).map_err(|e| refused(&e))?;
    let received: Arc<Received> = plan.flows.iter().map(|_| AtomicU64::new(0)).collect();
    #[cfg(feature = "quic")]
    let ends = (generator == Generator::Quic)
        .then(|| quic::Ends::new(scenario, &plan.flows, clock, &mut |flow| watcher.log(flow)))
        .transpose()
        .map_err(system("make the ends of QUIC"))?;
    let (stop, complete, sent_all) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let sender = Sender {
        scenario,
        flows: &plan.flows,
        generator,
        clock,
        boundaries: &boundaries,
        received: &received,
        stop: &stop,
        complete: &complete,
    };
    let blind = plan.flows.iter().any(|flow| matches!(flow.source, Source::Datagrams(_)));
    let (senders, receivers) = (&path.sender, &path.receiver);
    let (mut sent, accepted, behind, asked_to_stop) = thread::scope(|scope| -> io::Result<_> {
        let receiver = scope.spawn(|| {
            receivers.enter()?;
            #[cfg(feature = "quic")]
            if let Some(ends) = &ends {
                ends.receive(&received, &sent_all)?;
                return Ok(Vec::new());
            }
            let _servers = (generator == Generator::Iperf3).then(|| iperf3::servers(&plan.flows)).transpose()?;
            receiver::receive(&listener, &received, &sent_all)
        });
        let sender = scope.spawn(|| {
            senders.enter()?;
            #[cfg(feature = "quic")]
            if let Some(ends) = &ends {
                return ends.send(&sender);
            }
            sender.send()
        });
        let emitter = blind.then(|| {
            scope.spawn(|| {
                senders.enter()?;
                datagrams::emit(scenario, &plan.flows, clock, &stop)
            })
        });
        let asked_to_stop = loop {
            let now = clock.now();
            if !watcher.progress((now.seconds() / end.seconds()).min(1.0)) {
                break true;
            }
            let transfers = scenario.stop.is_some() && complete.load(Ordering::Relaxed);
            if now >= end || transfers || path.ended() || sender.is_finished() || receiver.is_finished() {
                break false;
            }
            thread::sleep(WATCH.min(duration(end.since(now)) + Duration::from_millis(1)));
        };
        stop.store(true, Ordering::Relaxed);
        // Receivers are there for as long as somebody sends: a socket without one could not be written to.
        let sent = sender.join();
        sent_all.store(true, Ordering::Relaxed);
        let accepted = joined(receiver.join())?;
        let sent = joined(sent)?;
        let behind = emitter.map(|emitter| joined(emitter.join())).transpose()?.unwrap_or_default();
        Ok((sent, accepted, behind, asked_to_stop))
    })
    .map_err(system("send over the path"))?;
    #[cfg(feature = "quic")]
    let plan = plan.with(ends.as_ref().and_then(quic::Ends::finding));
    #[cfg(feature = "quic")]
    let receiver_late = ends.as_ref().map_or(Time::ZERO, quic::Ends::receiver_late);
    #[cfg(not(feature = "quic"))]
    let receiver_late = Time::ZERO;
    let bound = path.bound;
    let outcome = path.end().map_err(|e| refused(&e))?;
    // Not before: what a path carries of connections that are reset is nothing that the scenario asks for.
    drop((accepted, std::mem::take(&mut sent.open)));
    if asked_to_stop {
        return Err(RunError::Stopped);
    }
    Ok(Measured { plan, outcome, bound, sent, receiver_late, behind, costs: registered.costs() })
}

/// The result of a thread; its panic is ours.
fn joined<T>(done: thread::Result<io::Result<T>>) -> io::Result<T> {
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
