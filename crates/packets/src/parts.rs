//! One run in parts, each for a thread of its own: what the one engine computes, bit for bit.
//!
//! A [`Partition`] cuts the scenario at lines with a delay, and the least of these is the lookahead. Parts run through the same
//! spans of time, of the lookahead at most, side by side: a packet that one part puts on a line in a span reaches another part
//! in a later one. Between two spans all wait for each other, and packets go over.
//!
//! **Why the bits are the same.** All that happens is an event. An event reads and writes only what is of its part, but for sums of
//! whole numbers (losses, bytes of classes), in which order does not matter. So the bits of a part depend on its own events and
//! their order alone. That order is the one engine's, by induction over its events: let all events before some event be the same,
//! part by part in the same order. Then this one is there too, since the event that scheduled it was, and its part does not miss it:
//! what comes from another part is there before the span of its time begins. (A mark that its queue decides at departure is drawn before
//! it goes over, by the law's output then; it counts when the packet comes out.) Two events of a part are in the order of their times.
//! Of one time, the one engine takes first what was scheduled first, by its stamps. If the part itself has scheduled both, its
//! stamps tell the same, since it was in the same order that it gave them. If not, [`lineage`](crate::lineage) compares the events
//! that scheduled them in the same way, down to the start. Where that is not remembered, the run is undecided, and so it is where
//! a law's output is no number: the caller then lets one engine run. Measurements are taken between two spans, where all parts
//! have come to the same time, from one engine, which has the other parts' links and flows for so long. So sums of fractions
//! are taken in the same order too.
//!
//! Stamps go round after 2^32. One engine takes two events of one time in the order of their scheduling if less than 2^31 stamps were
//! given in between. Where more may have been, the run is undecided ([`Ages`](crate::lineage::Ages)). That a packet is on a line for so
//! long, or that an event waits for 2^32 stamps of its part, is not looked for: these take minutes of work.

mod exchange;
mod side;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use penstock_scenario::model::Scenario;
use penstock_scenario::world::{Run, RunError, Watcher, with_one_flow_each};

use crate::engine::{BETWEEN_LOOKS, Engine};
use crate::gate::{Gate, Shut};
use crate::lineage::{Given, History};
use crate::measure::Measure;
use crate::packet::Packet;
use crate::partition::Partition;
use crate::plan::{self, Part};
use crate::report;
use exchange::Exchange;
use side::Side;

/// A run in parts, which share nothing but packets. Each is for a thread of the caller: the first one leads, the others work.
pub struct Parts {
    cut: Partition,
    exchange: Exchange,
    sides: Vec<Mutex<Side>>,
    histories: Vec<Mutex<History>>,
    /// Packets on their way from one part to another, each with its line: those of even spans, and of odd ones.
    mail: [Vec<Mail>; 2],
    gate: Gate,
    measure: Mutex<Option<Box<Measure>>>,
    /// When to measure next.
    reading: AtomicU64,
    /// Stamps that all parts have given in the spans before.
    stamps: AtomicU64,
    end: u64,
}

/// Packets that wait for another part, each with its line.
type Mail = Mutex<Vec<(u32, Packet)>>;

/// So many spans at the most pass before the watcher is called again. Nothing may happen in them, but all threads meet at their ends.
const SPANS: u64 = 256;

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").field("parts", &self.cut.parts).finish_non_exhaustive()
    }
}

/// The value. After a panic nobody goes on, so that nothing half changed is used.
fn open<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn out_of<T>(of: Mutex<T>) -> T {
    of.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Shuts a gate where its thread panics, so that no other one waits there for ever.
struct Breaks<'a>(&'a Gate);

impl Drop for Breaks<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.shut(Shut::Broken);
        }
    }
}

impl Parts {
    /// Divides a run into `parts`, or fewer where there are no more; or says why it is not divided.
    ///
    /// # Errors
    /// As [`World::run`](penstock_scenario::world::World::run) of a scenario that cannot run.
    pub fn of(scenario: &Scenario, parts: usize, watcher: &dyn Watcher) -> Result<Result<Self, String>, RunError> {
        if watcher.wants_packets() {
            return Ok(Err("its packets are watched, all in one order".to_owned()));
        }
        let cut = match Partition::of(scenario, &plan::build(&with_one_flow_each(scenario))?, parts) {
            Ok(cut) => cut,
            Err(why) => return Ok(Err(why)),
        };
        let mut measure = None;
        let (mut sides, mut exchange) = (Vec::new(), None);
        for number in 0..cut.parts as u32 {
            let (mut engine, lead_to) = plan::build_part(scenario, Some(Part { cut: &cut, number }))?;
            engine.goes_on = watcher.goes_on();
            let first = engine.start(false);
            measure.get_or_insert(first);
            exchange.get_or_insert_with(|| Exchange::of(scenario, &cut, &engine));
            sides.push(Mutex::new(Side::new(number, engine, &cut, &lead_to)));
        }
        let (Some(exchange), Some(measure)) = (exchange, measure) else { return Ok(Err("it has no parts".to_owned())) };
        let mail = || (0..cut.parts * cut.parts).map(|_| Mail::default()).collect();
        Ok(Ok(Self {
            histories: sides.iter().map(|_| Mutex::default()).collect(),
            mail: [mail(), mail()],
            gate: Gate::new(cut.parts),
            reading: AtomicU64::new(measure.next()),
            measure: Mutex::new(Some(measure)),
            stamps: AtomicU64::new(0),
            end: scenario.duration.0,
            cut,
            exchange,
            sides,
        }))
    }

    /// Number of parts, two at least.
    pub fn count(&self) -> usize {
        self.cut.parts
    }

    /// Each part has a processor of its own: who waits for others looks longer before it sleeps. The results are the same.
    pub fn look_longer(&mut self) {
        self.gate.look_longer();
    }

    /// Runs part `number`, one after the first, to the end, on the thread of its caller.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn work(&self, number: usize) {
        assert!(number > 0, "the first part leads");
        self.go(number, None);
    }

    /// Runs the first part to the end, on the thread of its caller, while other threads [work](Self::work).
    pub fn lead(&self, watcher: &mut dyn Watcher) {
        self.go(0, Some(watcher));
    }

    /// The results of the run, after all parts came to their end. None where the order of some events is not known: then one
    /// engine has to run.
    ///
    /// # Errors
    /// As [`World::run`](penstock_scenario::world::World::run).
    pub fn finish(self, scenario: &Scenario) -> Result<Option<Run>, RunError> {
        match self.gate.is_shut() {
            Some(Shut::Stopped) => return Err(RunError::Stopped),
            Some(Shut::Undecided) => return Ok(None),
            Some(Shut::Broken) => return Err(RunError::Broken("a thread of the run has panicked".to_owned())),
            None => {}
        }
        let mut under_way: Vec<(u32, Packet)> = self.mail.into_iter().flatten().flat_map(out_of).collect();
        let engines = self.sides.into_iter().map(|side| out_of(side).close(&mut under_way)).collect();
        let (Some(mut engine), Some(measure)) = (self.exchange.join(engines, under_way), out_of(self.measure)) else {
            return Ok(None);
        };
        if engine.faults().is_err() {
            // One engine tells which came first.
            return Ok(None);
        }
        let taken = engine.conclude(measure)?;
        report::report(scenario, &engine, taken).map(Some)
    }

    fn go(&self, number: usize, mut watcher: Option<&mut dyn Watcher>) {
        let _breaks = Breaks(&self.gate);
        let (mut from, mut span) = (0, 0);
        // Events and spans since the watcher was called.
        let mut since = (0, 0);
        while from <= self.end {
            let reading = self.reading.load(Ordering::Acquire);
            let until = from.saturating_add(self.cut.lookahead).min(reading.saturating_add(1)).min(self.end + 1);
            if let Some(watcher) = &mut watcher
                && (since.0 > BETWEEN_LOOKS || since.1 == SPANS)
            {
                since = (0, 0);
                if !watcher.progress(from as f64 / self.end as f64) {
                    self.gate.shut(Shut::Stopped);
                }
            }
            since = (since.0 + self.span(number, span % 2, until), since.1 + 1);
            if !self.gate.pass() {
                return;
            }
            if until > reading {
                if number == 0 {
                    self.read(until);
                }
                if !self.gate.pass() {
                    return;
                }
            }
            (from, span) = (until, span + 1);
        }
    }

    /// A part's events before `until`, and how many they were. `turn` says which mail it reads; it writes the other one.
    fn span(&self, number: usize, turn: usize, until: u64) -> u64 {
        let mut side = open(&self.sides[number]);
        let parts = self.cut.parts;
        for from in (0..parts).filter(|from| *from != number) {
            side.take(&mut open(&self.mail[turn][from * parts + number]));
        }
        let parent = |event: Given| open(&self.histories[event.part as usize]).parent(event.stamp);
        if side.run(until, self.stamps.load(Ordering::Relaxed), &parent).is_err() {
            self.gate.shut(Shut::Undecided);
            return 0;
        }
        match side.fault() {
            Some(RunError::Stopped) => self.gate.shut(Shut::Stopped),
            Some(_) => self.gate.shut(Shut::Undecided),
            None => {}
        }
        let events = side.events();
        let stamps = side.remember(&mut open(&self.histories[number]), until.saturating_sub(self.cut.memory));
        self.stamps.fetch_add(stamps.into(), Ordering::Relaxed);
        side.send(until, |to| open(&self.mail[1 - turn][number * parts + to as usize]));
        events
    }

    /// Takes the measurements that are due before `until`, which all parts have come to.
    fn read(&self, until: u64) {
        let mut sides: Vec<_> = self.sides.iter().map(open).collect();
        let mut engines: Vec<&mut Engine> = sides.iter_mut().map(|side| &mut side.engine).collect();
        self.exchange.gather(&mut engines);
        if let (Some(measure), Some(all)) = (&mut *open(&self.measure), engines.first_mut()) {
            all.read_before(until, measure);
            self.reading.store(measure.next(), Ordering::Release);
        }
        self.exchange.scatter(&mut engines);
    }
}
