//! One run on several threads.

use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

use penstock_fluid::{Fluid, Part};
use penstock_packets::{Packets, Parts};
use penstock_scenario::model::Scenario;
use penstock_scenario::world::{Run, RunError, Watcher, World};

use crate::{embedded, meter, program, terminal};

/// The packets world, whose runs are divided among so many threads. Their results are the same.
#[derive(Debug)]
pub(crate) struct Divided {
    pub(crate) threads: usize,
}

impl World for Divided {
    fn name(&self) -> &'static str {
        Packets.name()
    }

    fn run(&self, scenario: &Scenario, watcher: &mut dyn Watcher) -> Result<Run, RunError> {
        let mut parts = match Parts::of(scenario, self.threads, watcher)? {
            Ok(parts) => parts,
            Err(why) => {
                note(&format!("the run stays on one thread: {why}"));
                return Packets.run(scenario, watcher);
            }
        };
        if parts.count() < self.threads {
            note(&format!("{} threads run: the scenario has no more parts", parts.count()));
        }
        if thread::available_parallelism().is_ok_and(|processors| processors.get() >= parts.count()) {
            parts.look_longer();
        }
        let others: Duration = thread::scope(|scope| {
            let work = |number| {
                let parts = &parts;
                scope.spawn(move || {
                    parts.work(number);
                    meter::thread_time()
                })
            };
            let others: Vec<_> = (1..parts.count()).map(work).collect();
            parts.lead(watcher);
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic))).sum()
        });
        meter::lend(others);
        if let Some(run) = parts.finish(scenario)? {
            return Ok(run);
        }
        note("one thread runs it again: the parts do not remember the order of some events");
        Packets.run(scenario, watcher)
    }

    fn refusals(&self, scenario: &Scenario) -> Vec<String> {
        Packets.refusals(scenario)
    }
}

/// The fluid world, whose senders are divided among so many threads. Their results are the same.
#[derive(Debug)]
pub(crate) struct DividedFluid {
    pub(crate) threads: usize,
}

impl World for DividedFluid {
    fn name(&self) -> &'static str {
        Fluid::default().name()
    }

    fn run(&self, scenario: &Scenario, watcher: &mut dyn Watcher) -> Result<Run, RunError> {
        match Fluid::parts(scenario, self.threads) {
            Err(why) => note(&format!("the run stays on one thread: {why}")),
            Ok(parts) if parts < self.threads => note(&format!("{parts} threads run: the scenario has no more groups")),
            Ok(_) => {}
        }
        let mut others = Duration::ZERO;
        let run = Fluid::default()
            .run_in_parts(scenario, watcher, self.threads, &mut |parts| others += advance_side_by_side(parts));
        meter::lend(others);
        run
    }

    fn refusals(&self, scenario: &Scenario) -> Vec<String> {
        Fluid::default().refusals(scenario)
    }
}

/// Advances each part on a thread of its own, the first one on this thread. The processor time of the others.
fn advance_side_by_side(parts: &mut [Part<'_>]) -> Duration {
    if parts.iter().all(Part::is_short) {
        parts.iter_mut().for_each(Part::advance);
        return Duration::ZERO;
    }
    let Some((first, others)) = parts.split_first_mut() else { return Duration::ZERO };
    thread::scope(|scope| {
        let work = |part: &'_ mut Part<'_>| {
            embedded::on_thread(&mut || part.advance());
            meter::thread_time()
        };
        let others: Vec<_> = others.iter_mut().map(|part| scope.spawn(move || work(part))).collect();
        first.advance();
        others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic))).sum()
    })
}

fn note(text: &str) {
    terminal::note(format!("{}: --threads: {text}", program::name()));
}
