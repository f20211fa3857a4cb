//! Runs on several threads. Runs share nothing, so their number and order change no bit of any.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use penstock_scenario::model::Scenario;
use penstock_scenario::summary::Cost;
use penstock_scenario::world::{GoesOn, Log, Run, Sighting, Watcher, World};

use crate::capturing::Capturing;
use crate::draft::Draft;
use crate::embedded;
use crate::failure::Failure;
use crate::interrupt;
use crate::logging::Logging;
use crate::meter::Meter;
use crate::progress::{Others, Progress, Work};

/// A scenario to run.
pub(crate) struct Job<'a> {
    /// Its name in messages.
    pub(crate) name: String,
    /// Which file it is of, counted from zero: those of one file cost alike.
    pub(crate) group: usize,
    /// The scenario.
    pub(crate) scenario: &'a Scenario,
    /// Begins a record with a capture or with logs, where they are wanted.
    pub(crate) beside: Option<Begin<'a>>,
}

/// A run that was made.
#[derive(Debug)]
pub(crate) struct Made {
    /// Its results.
    pub(crate) run: Run,
    /// Its cost.
    pub(crate) cost: Cost,
    /// The record that its capture is in, or its logs, where there are such.
    pub(crate) draft: Option<Draft>,
}

/// Files of a record that are written while the run goes on.
#[derive(Debug)]
pub(crate) enum Beside {
    Packets(Capturing),
    Logs(Logging),
}

impl Beside {
    /// Whether it has failed, so that going on is useless.
    fn failed(&self) -> bool {
        match self {
            Self::Packets(capturing) => capturing.failed(),
            Self::Logs(logging) => logging.failed(),
        }
    }

    fn finish(self) -> Result<Draft, Failure> {
        match self {
            Self::Packets(capturing) => capturing.finish(),
            Self::Logs(logging) => logging.finish(),
        }
    }
}

/// Begins a record with such files.
pub(crate) type Begin<'a> = Box<dyn Fn() -> Result<Beside, Failure> + Sync + 'a>;

/// Reports the progress of a run, and writes packets of its ends or logs of its connections.
struct Watch<'a> {
    reached: &'a dyn Fn(f64) -> bool,
    beside: Option<Beside>,
}

impl Watcher for Watch<'_> {
    fn progress(&mut self, done: f64) -> bool {
        !self.beside.as_ref().is_some_and(Beside::failed) && (self.reached)(done)
    }

    fn goes_on(&self) -> Option<GoesOn> {
        Some(Arc::new(|| !interrupt::stopped()))
    }

    fn wants_packets(&self) -> bool {
        matches!(self.beside, Some(Beside::Packets(_)))
    }

    fn packet(&mut self, seen: &Sighting) {
        if let Some(Beside::Packets(capturing)) = &mut self.beside {
            capturing.see(seen);
        }
    }

    fn log(&mut self, flow: u32) -> Option<Log> {
        if let Some(Beside::Logs(logging)) = &mut self.beside { logging.log(flow) } else { None }
    }
}

/// As many threads as there are processors by default.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)).max(1)
}

/// Runs every job in `world`, in the order of [`order`], on so many threads, or on one if its runs take turns, and hands each run
/// to `take` on the thread that made it. Gives what `take` made of them, in the order of `jobs`. The first failure stops
/// everything. `others` is for progress.
pub(crate) fn run<T: Send>(
    jobs: &[Job<'_>],
    others: Others,
    world: &(dyn World + Sync),
    threads: usize,
    take: &(dyn Fn(usize, Made) -> Result<T, Failure> + Sync),
) -> Result<Vec<T>, Failure> {
    let work = |job: &Job<'_>| (job.group, cost(job.scenario));
    let costs: Vec<(usize, f64)> = jobs.iter().map(work).collect();
    let order = order(&costs);
    let work = jobs.iter().zip(&costs).map(|(job, (group, cost))| Work { name: &job.name, group: *group, cost: *cost });
    // The record of a run is written before the next begins.
    let threads = if world.takes_turns() { 1 } else { threads.min(jobs.len()) };
    let progress = Progress::of(&work.collect::<Vec<_>>(), &order, threads, others);
    let failed = AtomicBool::new(false);
    let one = |at: usize, meter: &Meter| {
        let job = &jobs[at];
        let reached = |share| {
            progress.reached(at, share);
            !failed.load(Ordering::Relaxed) && !interrupt::stopped()
        };
        let beside = job.beside.as_ref().map(|begin| begin()).transpose()?;
        let mut watch = Watch { reached: &reached, beside };
        let ran = world.run(job.scenario, &mut watch);
        // What went wrong with these files is why the run was stopped.
        let draft = match watch.beside {
            Some(beside) if beside.failed() || ran.is_ok() => Some(beside.finish()?),
            Some(_) | None => None,
        };
        let run = ran?;
        let cost = meter.cost(run.summary.engine.packets);
        take(at, Made { run, cost, draft })
    };
    let done = side_by_side(&order, threads, &failed, &|at| {
        let meter = Meter::start();
        progress.begun(at);
        let result = one(at, &meter);
        if result.is_ok() {
            progress.finished(at, meter.wall_s());
        }
        result
    });
    progress.clear();
    done
}

/// Does the jobs of `order`, in that order, on several threads, until something fails or the user stops the command. Returns
/// the results by number, or the error that stopped the others.
pub(crate) fn side_by_side<T: Send>(
    order: &[usize],
    threads: usize,
    failed: &AtomicBool,
    one: &(dyn Fn(usize) -> Result<T, Failure> + Sync),
) -> Result<Vec<T>, Failure> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<T, Failure>>>> = order.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some(at) = order.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
            if failed.load(Ordering::Relaxed) || interrupt::stopped() {
                return;
            }
            let result = one(at);
            if result.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            if let Ok(mut place) = results[at].lock() {
                *place = Some(result);
            }
        }
    };
    thread::scope(|scope| {
        let thread = || embedded::on_thread(&mut || work());
        let workers: Vec<_> = (0..threads.min(order.len())).map(|_| scope.spawn(thread)).collect();
        for worker in workers {
            // A panic of a run is a panic of the command: the door says that it is a bug.
            if let Err(panic) = worker.join() {
                failed.store(true, Ordering::Relaxed);
                std::panic::resume_unwind(panic);
            }
        }
    });
    let mut done = Vec::with_capacity(order.len());
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

/// In which order jobs begin, of which each has a group and a cost: the cheapest of each group, so that it is soon known
/// the cost of a group, then the others, the longest first.
pub(crate) fn order(jobs: &[(usize, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|a, b| jobs[*b].1.total_cmp(&jobs[*a].1).then(a.cmp(b)));
    let mut seen = BTreeSet::new();
    let probes: Vec<usize> = order.iter().rev().copied().filter(|at| seen.insert(jobs[*at].0)).collect();
    let others = order.into_iter().filter(|at| !probes.contains(at));
    probes.iter().copied().chain(others).collect()
}

/// About how many packets there will be: rate by duration, over all links that data cross.
fn cost(scenario: &Scenario) -> f64 {
    let bits: f64 = scenario.links.values().map(|link| link.rate.bit_per_s()).sum();
    bits * scenario.duration.seconds() / scenario.packet.wire.bits()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use penstock_scenario::read::{Cell, Document};
    use penstock_scenario::world::RunError;

    use super::*;

    /// A world in which nothing ends well.
    struct Broken(AtomicUsize);

    impl World for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }
        fn run(&self, _: &Scenario, _: &mut dyn Watcher) -> Result<Run, RunError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(RunError::Broken("nothing adds up".to_owned()))
        }
        fn refusals(&self, _: &Scenario) -> Vec<String> {
            Vec::new()
        }
    }

    fn cells() -> Vec<Cell> {
        let text = "format = 1\nduration = \"1 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
                    delay = \"1 ms\"\nbuffer = \"9 packets\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n\
                    rtt = \"9 ms\"\ncc = { law = \"newreno\" }";
        Document::parse(text, "test.toml").and_then(|document| document.cells()).unwrap()
    }

    fn jobs_of(scenario: &Scenario) -> Vec<Job<'_>> {
        let job = |at: usize| Job { name: at.to_string(), group: 0, scenario, beside: None };
        (0..5).map(job).collect()
    }

    /// The first failure is reported, and no further job begins after it.
    #[test]
    fn a_failure_stops_what_has_not_begun() {
        let (cells, world) = (cells(), Broken(AtomicUsize::new(0)));
        let ended = run(&jobs_of(&cells[0].scenario), Others::default(), &world, 1, &|_, made| Ok(made));
        assert_eq!(ended.unwrap_err(), Failure::Bug("nothing adds up".to_owned()));
        assert_eq!(world.0.into_inner(), 1);
    }

    /// A world that counts its runs under way, which may take turns.
    struct Counting {
        takes_turns: bool,
        under_way: AtomicUsize,
    }

    impl World for Counting {
        fn name(&self) -> &'static str {
            "counting"
        }
        fn run(&self, scenario: &Scenario, watcher: &mut dyn Watcher) -> Result<Run, RunError> {
            self.under_way.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(20));
            let run = penstock_packets::Packets.run(scenario, watcher);
            self.under_way.fetch_sub(1, Ordering::SeqCst);
            run
        }
        fn refusals(&self, _: &Scenario) -> Vec<String> {
            Vec::new()
        }
        fn takes_turns(&self) -> bool {
            self.takes_turns
        }
    }

    /// Where runs take turns, none is under way while the record of another is written.
    #[test]
    fn a_record_is_written_between_runs_that_take_turns() {
        let cells = cells();
        for takes_turns in [true, false] {
            let world = Counting { takes_turns, under_way: AtomicUsize::new(0) };
            let beside = run(&jobs_of(&cells[0].scenario), Others::default(), &world, 2, &|_, _| {
                thread::sleep(Duration::from_millis(20));
                Ok(world.under_way.load(Ordering::SeqCst))
            });
            assert_eq!(beside.unwrap().iter().all(|count| *count == 0), takes_turns);
        }
    }

    #[test]
    fn one_of_each_file_begins_and_then_the_longest() {
        assert_eq!(order(&[(0, 3.0), (1, 9.0), (0, 5.0), (1, 2.0), (0, 4.0)]), [3, 0, 1, 2, 4]);
        assert_eq!(order(&[]), [0; 0]);
    }
}
