//! Runs on several threads. Runs share nothing, so their number and order change no bit of any.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use penstock_scenario::model::Scenario;
use penstock_scenario::world::{Run, RunError, World};

use crate::failure::Failure;
use crate::interrupt;
use crate::meter::Meter;
use crate::terminal::Progress;

/// A scenario to run.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// What to call it.
    pub(crate) name: String,
    /// The scenario.
    pub(crate) scenario: &'a Scenario,
}

/// As many threads as there are processors, unless told otherwise.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)).max(1)
}

/// Runs every job in `world`, the longest first, and hands each run to `take` on the thread that made it. Gives what
/// `take` made of them, in the order of `jobs`. The first failure stops everything.
pub(crate) fn run<T: Send>(
    jobs: &[Job<'_>],
    world: &(dyn World + Sync),
    threads: usize,
    take: &(dyn Fn(usize, Run) -> Result<T, Failure> + Sync),
) -> Result<Vec<T>, Failure> {
    let costs: Vec<f64> = jobs.iter().map(|job| cost(job.scenario)).collect();
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|a, b| costs[*b].total_cmp(&costs[*a]).then(a.cmp(b)));
    let progress = Progress::of(&costs);
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Vec<Mutex<Option<Result<T, Failure>>>> = jobs.iter().map(|_| Mutex::new(None)).collect();

    let work = || {
        while let Some(at) = order.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
            if failed.load(Ordering::Relaxed) || interrupt::stopped() {
                return;
            }
            let meter = Meter::start();
            let mut reached = |share| {
                progress.reached(at, share);
                !failed.load(Ordering::Relaxed) && !interrupt::stopped()
            };
            let result = world.run(jobs[at].scenario, &mut reached).map_err(|e| failure(&e)).and_then(|mut run| {
                meter.read(&mut run.summary.engine);
                take(at, run)
            });
            match &result {
                Ok(_) => progress.finished(at, &jobs[at].name, meter.wall_s()),
                Err(_) => failed.store(true, Ordering::Relaxed),
            }
            if let Ok(mut place) = results[at].lock() {
                *place = Some(result);
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(jobs.len())).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            // A panic of a run is a panic of the command: the door says that it is a bug.
            if let Err(panic) = worker.join() {
                failed.store(true, Ordering::Relaxed);
                std::panic::resume_unwind(panic);
            }
        }
    });
    progress.clear();

    let mut done = Vec::with_capacity(jobs.len());
    let mut missing = None;
    for result in results {
        match result.into_inner().ok().flatten() {
            Some(Ok(value)) => done.push(value),
            // What made the others stop comes before the stopped ones.
            Some(Err(e)) if e != Failure::Stopped => return Err(e),
            Some(Err(_)) | None => missing = Some(Failure::Stopped),
        }
    }
    missing.map_or(Ok(done), Err)
}

/// About how many packets there will be: rate by duration, over all links that data cross.
fn cost(scenario: &Scenario) -> f64 {
    let bits: f64 = scenario.links.values().map(|link| link.rate.bit_per_s()).sum();
    bits * scenario.duration.seconds() / scenario.packet.wire.bits()
}

fn failure(error: &RunError) -> Failure {
    match error {
        RunError::Refused { .. } => Failure::input(error),
        RunError::Stopped => Failure::Stopped,
        RunError::Broken(what) => Failure::Bug(what.clone()),
    }
}
