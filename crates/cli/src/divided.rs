//! One run on several threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
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
                    embedded::on_thread(&mut || parts.work(number));
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
        let said = match Fluid::parts(scenario, self.threads) {
            Err(why) => Some(format!("the run stays on one thread: {why}")),
            Ok(parts) if parts < self.threads => {
                Some(format!("at most {parts} threads run: the scenario has no more groups"))
            }
            Ok(_) => None,
        };
        // Of a run that is refused nothing else is worth a word.
        if let Some(said) = said.filter(|_| self.refusals(scenario).is_empty()) {
            note(&said);
        }
        let mut others = Duration::ZERO;
        let crew = &mut |parts: &mut [Part<'_>]| others += advance_side_by_side(parts);
        let run = Fluid::default().run_in_parts(scenario, watcher, self.threads, crew);
        meter::lend(others);
        run
    }

    fn refusals(&self, scenario: &Scenario) -> Vec<String> {
        Fluid::default().refusals(scenario)
    }
}

/// Advances parts, as many threads as there are, this one among them: the processor time of the others. Where the system has no more
/// threads, those that there are do the work.
fn advance_side_by_side(parts: &mut [Part<'_>]) -> Duration {
    let next = AtomicUsize::new(0);
    let parts: Vec<Mutex<&mut Part<'_>>> = parts.iter_mut().map(Mutex::new).collect();
    let work = || {
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            part.lock().unwrap_or_else(PoisonError::into_inner).advance();
        }
    };
    let on_thread = || {
        embedded::on_thread(&mut || work());
        meter::thread_time()
    };
    thread::scope(|scope| {
        let begin = |_| thread::Builder::new().spawn_scoped(scope, on_thread).ok();
        let others: Vec<_> = (1..parts.len()).filter_map(begin).collect();
        work();
        others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic))).sum()
    })
}

fn note(text: &str) {
    terminal::note(format!("{}: --threads: {text}", program::name()));
}
