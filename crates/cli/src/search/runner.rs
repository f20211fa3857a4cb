//! Runs of a search: on several threads, and none twice.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::sync::atomic::AtomicBool;

use penstock_report::number::short;
use penstock_scenario::model::Scenario;
use penstock_scenario::read::identity;
use penstock_scenario::world::{Run, RunError, World};
use penstock_search::{Kind, Measure, Phase, Runner};

use crate::failure::Failure;
use crate::folder::{Folder, unwritable};
use crate::meter::Meter;
use crate::{content, interrupt, jobs, machine, terminal};

/// The file of measurements: a search that was stopped goes on from there.
const NAME: &str = "runs.txt";
/// The file is written after so much time, if there is a new run [s]: a kill loses what came since.
const WRITTEN_AFTER_S: f64 = 2.0;
/// Between two lines on how far a search has come [s].
const SILENCE_S: f64 = 30.0;
/// Number of scenarios of each thread between two looks at the time: the threads wait for the last of them.
const PIECE: usize = 4;

/// Runs scenarios on several threads, and remembers their measurements.
pub(super) struct Pool<'a> {
    home: &'a Folder,
    world: &'a (dyn World + Sync),
    threads: usize,
    /// Identity of the code that computes the results.
    code: String,
    /// The measure of an objective in a scenario, or why there is none, in the order of the file.
    known: BTreeMap<String, Measure>,
    order: Vec<String>,
    written: usize,
    ran: usize,
    since: Meter,
    said_s: f64,
    written_s: f64,
}

impl<'a> Pool<'a> {
    /// Opens a pool that goes on from the runs in `home`.
    pub(super) fn open(home: &'a Folder, world: &'a (dyn World + Sync), threads: usize) -> Result<Self, Failure> {
        let code = machine::origin_in(world)?.code;
        let awake = if world.awake() { " awake" } else { "" };
        let mut pool = Self {
            home,
            world,
            threads,
            code: format!("{}{awake} {code}", world.name()),
            known: BTreeMap::new(),
            order: Vec::new(),
            written: 0,
            ran: 0,
            since: Meter::start(),
            said_s: 0.0,
            written_s: 0.0,
        };
        let path = home.path().join(NAME);
        let text = match content::read(&path, content::HEADER) {
            Ok(bytes) => String::from_utf8(bytes).unwrap_or_default(),
            Err(e) if e.kind() == ErrorKind::NotFound => String::new(),
            Err(e) => return Err(unwritable(&path, &e)),
        };
        // Results of other code are made again.
        let mut lines = text.lines();
        if lines.next() == Some(pool.header().as_str()) {
            for line in lines {
                if let Some((key, measure)) = parse(line) {
                    pool.put(key, measure);
                }
            }
            pool.written = pool.order.len();
            if pool.written > 0 {
                terminal::note(format!("the results of {} runs of an earlier search are used again", pool.written));
            }
        }
        Ok(pool)
    }

    fn header(&self) -> String {
        format!("# penstock break, runs by {}", self.code)
    }

    fn put(&mut self, key: String, measure: Measure) {
        if self.known.insert(key.clone(), measure).is_none() {
            self.order.push(key);
        }
    }

    /// Writes the measurements.
    fn save(&mut self) -> Result<(), Failure> {
        let mut text = self.header();
        text.push('\n');
        for key in &self.order {
            let _ = match &self.known[key] {
                Ok(number) => writeln!(text, "{key} {number:?}"),
                Err(why) => writeln!(text, "{key} ! {}", why.lines().next().unwrap_or_default()),
            };
        }
        self.home.put_file(NAME, text.as_bytes())?;
        self.written = self.order.len();
        self.written_s = self.since.wall_s();
        Ok(())
    }

    /// Writes the measurements, at the end of a search.
    pub(super) fn close(&mut self) -> Result<(), Failure> {
        terminal::detail(format!("{} runs", self.order.len()));
        if self.written < self.order.len() { self.save() } else { Ok(()) }
    }

    /// The name of the world.
    pub(super) fn world_name(&self) -> &str {
        self.world.name()
    }

    /// Why the world cannot run a scenario.
    pub(super) fn refusal(&self, scenario: &Scenario) -> Option<String> {
        self.world.refusals(scenario).into_iter().next()
    }

    fn progress(&mut self) {
        let now_s = self.since.wall_s();
        if now_s - self.said_s >= SILENCE_S {
            self.said_s = now_s;
            terminal::note(format!("{} runs in {} s", self.ran, short(now_s, 3)));
        }
    }
}

/// Runs one scenario: a law that cannot run there is a result, and an error that stops the search is a failure.
fn run(world: &(dyn World + Sync), scenario: &Scenario) -> Result<Result<Run, String>, Failure> {
    let mut reached = |_: f64| !interrupt::stopped();
    match world.run(scenario, &mut reached) {
        Ok(run) => Ok(Ok(run)),
        Err(RunError::Stopped) => Err(Failure::Stopped),
        Err(error @ RunError::Broken(_)) => Err(error.into()),
        Err(error) => Ok(Err(error.to_string())),
    }
}

impl Runner for Pool<'_> {
    type Error = Failure;

    fn measure(&mut self, kind: Kind, scenarios: &[Scenario]) -> Result<Vec<Measure>, Failure> {
        let keys: Vec<String> =
            scenarios.iter().map(|scenario| format!("{} {}", kind.word(), identity(scenario))).collect();
        let mut missing: Vec<(&String, &Scenario)> = Vec::new();
        for (key, scenario) in keys.iter().zip(scenarios) {
            if !self.known.contains_key(key) && missing.iter().all(|(known, _)| *known != key) {
                missing.push((key, scenario));
            }
        }
        for piece in missing.chunks(PIECE * self.threads.max(1)) {
            let order: Vec<usize> = (0..piece.len()).collect();
            let found = jobs::side_by_side(&order, self.threads, &AtomicBool::new(false), &|at| {
                let scenario = piece[at].1;
                Ok(run(self.world, scenario)?.and_then(|run| kind.measured(scenario, &run.summary)))
            });
            let found = match found {
                Ok(found) => found,
                Err(why) => {
                    // What came before the stop is not lost.
                    self.close()?;
                    return Err(why);
                }
            };
            for ((key, _), measure) in piece.iter().zip(found) {
                self.put((*key).clone(), measure);
                self.ran += 1;
            }
            if self.written < self.order.len() && self.since.wall_s() - self.written_s >= WRITTEN_AFTER_S {
                self.save()?;
            }
            self.progress();
        }
        Ok(keys.iter().map(|key| self.known[key].clone()).collect())
    }

    fn observe(&mut self, scenario: &Scenario) -> Result<Result<Run, String>, Failure> {
        run(self.world, scenario)
    }
}

/// A line of the file: objective, identity, and a number or why there is none.
fn parse(line: &str) -> Option<(String, Measure)> {
    let mut words = line.splitn(3, ' ');
    let (kind, id, measure) = (words.next()?, words.next()?, words.next()?);
    let measure = match measure.strip_prefix("! ") {
        Some(why) => Err(why.to_owned()),
        None => Ok(measure.parse().ok()?),
    };
    Some((format!("{kind} {id}"), measure))
}

/// Reports the work of a phase of a search.
pub(super) fn note_phase(kind: Kind, phase: &Phase) {
    let best = if phase.best.is_finite() { short(phase.best, 3) } else { "none".to_owned() };
    let seeds = match phase.best_seeds {
        Some(1) => " with 1 seed".to_owned(),
        Some(seeds) => format!(" with {seeds} seeds"),
        None => String::new(),
    };
    let (kind, name, evaluations) = (kind.word(), &phase.name, phase.evaluations);
    terminal::note(format!("{kind}: {name}: {evaluations} evaluations, best score {best}{seeds}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let key = "starve 0123".to_owned();
        assert_eq!(parse("starve 0123 0.1"), Some((key.clone(), Ok(0.1))));
        assert_eq!(parse("starve 0123 ! it says nothing"), Some((key, Err("it says nothing".to_owned()))));
        for broken in ["", "starve", "starve 0123", "starve 0123 0.1x"] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }
}
