//! Simulations in steps, for `penstock.gym`: many at a time, on threads, with the interpreter's lock free.

mod agent;
mod external;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use penstock_law::quantity::{Rate, Time};
use penstock_packets::Simulation;
use penstock_record::summary_file;
use penstock_scenario::model::{Chosen, Scenario as Model};
use penstock_scenario::quantity;
use penstock_scenario::read::{Document, ReadErrors};
use penstock_scenario::seed::Seed;
use penstock_scenario::world::RunError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::looks::{LOOKS, Looks};
use crate::scenario::Scenario;
use crate::{error, plain};
use agent::{Agent, MEASURED, OBSERVED, Path, Turns};

/// How an episode stands after a step.
const GOES_ON: u8 = 0;
/// The scenario's time is over.
const OUT_OF_TIME: u8 = 1;
/// All transfers are complete, and the scenario stops there.
const COMPLETE: u8 = 2;

/// The most numbers that the observations of all agents have: 320 MB.
const MOST_OBSERVED: usize = 80_000_000;

/// So many simulations of a few microseconds each take a step between two looks.
const BETWEEN_LOOKS: usize = 64;

thread_local! {
    /// Whether Python waits on this thread: it alone can look at the signals of the process.
    static IS_CALLER: Cell<bool> = const { Cell::new(false) };
}

/// Ends steps that take long when Python has a signal.
struct Signals {
    looks: Looks,
    stopped: AtomicBool,
}

impl Signals {
    fn goes_on(&self) -> bool {
        if IS_CALLER.get() && !self.looks.look(|_| Ok(())) {
            self.stopped.store(true, Ordering::Relaxed);
        }
        !self.stopped.load(Ordering::Relaxed)
    }

    /// Does on this thread, with the interpreter's lock free, what asks whether it goes on. An exception of a signal comes first.
    fn watch<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
        self.stopped.store(false, Ordering::Relaxed);
        let done = py.detach(|| {
            IS_CALLER.set(true);
            let done = work();
            IS_CALLER.set(false);
            done
        });
        self.looks.raised().map_or(Ok(done), Err)
    }
}

/// A new episode: its place, its seed, and keys of the scenario with their values.
type Reset = (usize, u64, Vec<(String, String)>);

/// Observations as `f32`, measurements as `f64`, and how each episode stands.
type Step<'py> = (Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>);

/// Why a place has no next step.
enum Failure {
    Scenario(ReadErrors),
    Input(String),
    Run(RunError),
    /// Nothing runs there.
    Reset,
    Bug(String),
}

impl Failure {
    fn raise(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Scenario(errors) => error::scenario(py, errors),
            Self::Input(what) => error::input(py, what),
            Self::Run(run) => error::of_run(py, run),
            Self::Reset => PyRuntimeError::new_err("no episode runs: call reset"),
            Self::Bug(what) => error::of_class(py, "BugError", what),
        }
    }
}

/// The settings that all environments of a vector share.
struct Plan {
    document: Document,
    /// The scenario without changes, which most episodes are.
    base: Model,
    /// Places of the groups under agents.
    groups: Vec<usize>,
    /// None is by round.
    span: Option<Time>,
    turns: Turns,
    ecn: bool,
    /// Agents steer. Otherwise the scenario's laws do.
    steered: bool,
    history: usize,
    agents: usize,
}

/// One simulation.
#[derive(Default)]
struct Place {
    run: Option<Simulation>,
    agents: Vec<Agent>,
    duration: Time,
    ended: u8,
    measured: Vec<[f64; MEASURED.len()]>,
}

impl Plan {
    /// The scenario of an episode.
    fn scenario(&self, seed: u64, changes: &[(String, String)]) -> Result<Model, Failure> {
        let mut scenario = if changes.is_empty() {
            self.base.clone()
        } else {
            let mut document = self.document.clone();
            changes.iter().try_for_each(|(key, value)| document.set(key, value)).map_err(Failure::Scenario)?;
            let mut cells = document.cells().map_err(Failure::Scenario)?;
            if cells.len() != 1 {
                return Err(Failure::Input(format!("a change makes a sweep of {} cells of it", cells.len())));
            }
            cells.remove(0).scenario
        };
        scenario.seed = Seed(seed);
        Ok(scenario)
    }

    fn start(
        &self,
        place: &mut Place,
        (seed, changes): (u64, &[(String, String)]),
        signals: Option<&Arc<Signals>>,
    ) -> Result<(), Failure> {
        let mut scenario = self.scenario(seed, changes)?;
        // Nobody reads series.
        scenario.sample = scenario.duration;
        let mut agents = Vec::with_capacity(self.agents);
        let mut first = 0;
        for at in 0..scenario.groups.len() {
            let (name, group) = scenario.groups.get_index(at).expect("it counts them");
            let flows = first..first + group.count as usize;
            first = flows.end;
            if !self.groups.contains(&at) {
                continue;
            }
            let own = group.access.map(|access| access.rate);
            let links = group.forward.iter().map(|link| scenario.links[link].rate);
            let capacity = links.chain(own).min().unwrap_or(Rate(u64::MAX));
            for (flow, rtt) in flows.zip(group.rtts(name, scenario.seed)) {
                let path = Path {
                    capacity_bit_per_s: capacity.bit_per_s(),
                    // A path without a delay has a rate all the same.
                    base_rtt_s: rtt.seconds().max(1e-6),
                    initial_window: group.sender.initial_window,
                };
                agents.push(Agent::new(flow, path, self.history));
            }
        }
        if agents.len() != self.agents {
            let (now, before) = (agents.len(), self.agents);
            return Err(Failure::Input(format!(
                "a change makes {now} flows of {before} under agents: leave `count` of their groups as it is"
            )));
        }
        if self.steered {
            // Several flows do not come to the ends of their rounds together.
            let waits = self.span.is_none() && self.agents == 1;
            for at in &self.groups {
                let (name, group) = scenario.groups.get_index_mut(*at).expect("it was there");
                if !group.steps.is_empty() {
                    return Err(Failure::Input(format!(
                        "flows.{name}.steps: an agent steers this group: leave it out, or choose other `flows`"
                    )));
                }
                group.cc = Chosen { law: &external::ENTRY, values: external::values(self.ecn, waits) };
            }
        }
        place.duration = scenario.duration;
        let mut run = Simulation::new(scenario).map_err(Failure::Run)?;
        if let Some(signals) = signals {
            let signals = Arc::clone(signals);
            run.stop_unless(Arc::new(move || signals.goes_on()));
        }
        place.run = Some(run);
        place.agents = agents;
        place.ended = GOES_ON;
        place.measured = vec![[0.0; MEASURED.len()]; self.agents];
        for (measured, agent) in place.measured.iter_mut().zip(&mut place.agents) {
            *measured = agent.measure(place.run.as_ref().expect("it was made"), 0.0);
        }
        Ok(())
    }

    fn step(&self, place: &mut Place, actions: &[f64]) -> Result<(), Failure> {
        let Some(run) = place.run.as_mut().filter(|_| place.ended == GOES_ON) else { return Err(Failure::Reset) };
        if self.steered {
            for (agent, action) in place.agents.iter_mut().zip(actions) {
                agent.act(run, self.turns, *action);
            }
        }
        let done = match self.span {
            Some(span) => run.run_until(run.now() + span),
            None if place.agents.len() == 1 => run.run_round(&[place.agents[0].flow]),
            None => run.run_round(&place.agents.iter().map(|agent| agent.flow).collect::<Vec<_>>()),
        };
        done.map_err(Failure::Run)?;
        // The end by time is a step's end too, though events may lie behind it.
        if !run.is_over() && run.now() >= run.end() {
            run.run_until(Time::NEVER).map_err(Failure::Run)?;
        }
        let now = if run.is_over() { run.end() } else { run.now() };
        for (agent, measured) in place.agents.iter_mut().zip(&mut place.measured) {
            if self.steered {
                agent.observe(run, now.seconds());
            }
            *measured = agent.measure(run, now.seconds());
        }
        if run.is_over() {
            place.ended = if now < place.duration { COMPLETE } else { OUT_OF_TIME };
        }
        Ok(())
    }
}

/// Simulations side by side, each of the same number of flows under agents.
#[pyclass(frozen, module = "penstock._native")]
pub(crate) struct Simulations {
    plan: Plan,
    places: Vec<Mutex<Place>>,
    jobs: usize,
    signals: Arc<Signals>,
}

impl Simulations {
    fn place(&self, at: usize) -> MutexGuard<'_, Place> {
        self.places[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something to each place, on `jobs` threads. Of several failures the first one's place counts.
    fn each(&self, act: impl Fn(usize, &mut Place) -> Result<(), Failure> + Sync) -> Result<(), Failure> {
        let one = |at: usize| {
            let looks = at % BETWEEN_LOOKS == BETWEEN_LOOKS - 1;
            if self.signals.stopped.load(Ordering::Relaxed) || (looks && !self.signals.goes_on()) {
                return Err(Failure::Run(RunError::Stopped));
            }
            let mut place = self.place(at);
            let done = catch_unwind(AssertUnwindSafe(|| act(at, &mut place)));
            done.unwrap_or_else(|panic| {
                place.run = None;
                let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
                Err(Failure::Bug(what.unwrap_or("panic").to_owned()))
            })
        };
        let threads = self.jobs.min(self.places.len());
        if threads < 2 {
            return (0..self.places.len()).try_for_each(one);
        }
        let (next, failed) = (AtomicUsize::new(0), Mutex::new(None::<(usize, Failure)>));
        let work = &|| {
            while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < self.places.len()) {
                if let Err(failure) = one(at) {
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    if failed.as_ref().is_none_or(|(before, _)| at < *before) {
                        *failed = Some((at, failure));
                    }
                }
            }
        };
        // Threads of this step alone: a process that forks between two steps has none to lose.
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel::<()>();
            for _ in 1..threads {
                let sender = sender.clone();
                scope.spawn(move || {
                    work();
                    drop(sender);
                });
            }
            drop(sender);
            work();
            while let Err(mpsc::RecvTimeoutError::Timeout) = receiver.recv_timeout(LOOKS) {
                self.signals.goes_on();
            }
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), |(_, failure)| Err(failure))
    }

    /// The step of all environments.
    fn say<'py>(&self, py: Python<'py>) -> Step<'py> {
        let (mut observations, mut measured, mut ended) = (Vec::new(), Vec::new(), Vec::new());
        for at in 0..self.places.len() {
            let place = self.place(at);
            for (agent, numbers) in place.agents.iter().zip(&place.measured) {
                observations.extend(agent.observation.iter().flat_map(|x| x.to_le_bytes()));
                measured.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
                ended.push(place.ended);
            }
        }
        (PyByteArray::new(py, &observations), PyByteArray::new(py, &measured), PyByteArray::new(py, &ended))
    }
}

#[pymethods]
impl Simulations {
    /// The names of what is measured, in order.
    #[classattr]
    #[pyo3(name = "MEASURED")]
    fn measured_names() -> Vec<&'static str> {
        MEASURED.to_vec()
    }

    /// So many simulations of a scenario. `span` is the time of a step, none a round.
    #[new]
    #[pyo3(signature = (scenario, flows, span, rate, ecn, steered, history, count, jobs))]
    #[expect(clippy::too_many_arguments, reason = "only `penstock.gym` calls it")]
    fn new(
        py: Python<'_>,
        scenario: &Bound<'_, Scenario>,
        flows: Option<Vec<String>>,
        span: Option<&str>,
        rate: bool,
        ecn: bool,
        steered: bool,
        history: usize,
        count: usize,
        jobs: usize,
    ) -> PyResult<Self> {
        let base = scenario.get().ready(py, None)?.cell.scenario;
        let document = scenario.get().document();
        let span = span.map(quantity::time).transpose();
        let span = span.map_err(|e| error::input(py, &format!("step: {}: {}", e.found, e.remedy)))?;
        if span == Some(Time::ZERO) {
            return Err(error::input(py, "step: no time goes by in `0`: write a longer time"));
        }
        let names = flows.unwrap_or_else(|| base.groups.keys().cloned().collect());
        let known = || base.groups.keys().cloned().collect::<Vec<_>>().join(", ");
        let place = |name: &String| {
            let at = base.groups.get_index_of(name);
            at.ok_or_else(|| error::input(py, &format!("no group of flows is named `{name}`: there are {}", known())))
        };
        let groups = names.iter().map(place).collect::<PyResult<Vec<_>>>()?;
        let agents = groups.iter().map(|at| base.groups[*at].count as usize).sum();
        let numbers = count.saturating_mul(agents).saturating_mul(history).saturating_mul(OBSERVED);
        if numbers > MOST_OBSERVED {
            return Err(PyValueError::new_err(format!(
                "{count} simulations of {agents} flows under agents with a history of {history} steps are too many: their \
                 observations have {numbers} numbers, and {MOST_OBSERVED} is the most"
            )));
        }
        if agents == 0 {
            return Err(PyValueError::new_err("flows is empty: name a group of flows, or leave it out for all"));
        }
        let turns = if rate { Turns::Rate } else { Turns::Window };
        let plan = Plan { document, base, groups, span, turns, ecn, steered, history, agents };
        let places = (0..count).map(|_| Mutex::default()).collect();
        let signals = Arc::new(Signals { looks: Looks::begin(), stopped: AtomicBool::new(false) });
        let new = Self { plan, places, jobs, signals };
        // What cannot run is refused here, not at the first episode.
        let seed = new.plan.base.seed.0;
        new.plan.start(&mut Place::default(), (seed, &[]), None).map_err(|failure| failure.raise(py))?;
        Ok(new)
    }

    /// Flows under agents in each simulation.
    #[getter]
    fn agents(&self) -> usize {
        self.plan.agents
    }

    /// Begins episodes; the others stay as they are.
    fn reset<'py>(&self, py: Python<'py>, resets: Vec<Reset>) -> PyResult<Step<'py>> {
        self.go(py, None, resets)
    }

    /// A step of each simulation, an action a flow, or the beginning of an episode. An episode that has ended is an error,
    /// or with `hold` stands still.
    fn step<'py>(&self, py: Python<'py>, actions: Vec<f64>, resets: Vec<Reset>, hold: bool) -> PyResult<Step<'py>> {
        self.go(py, Some((actions, hold)), resets)
    }

    /// The summary of an episode, which runs on to its end; the next one begins by `reset`.
    fn summary<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyAny>> {
        let run = self.place(at).run.take().ok_or_else(|| Failure::Reset.raise(py))?;
        let run = self.signals.watch(py, || run.finish())?.map_err(|e| error::of_run(py, &e))?;
        let value = summary_file(&run.summary, &[]);
        plain::object(py, &value.map_err(|e| error::of_class(py, "BugError", &e.to_string()))?)
    }
}

impl Simulations {
    fn go<'py>(&self, py: Python<'py>, actions: Option<(Vec<f64>, bool)>, resets: Vec<Reset>) -> PyResult<Step<'py>> {
        let agents = self.plan.agents;
        let done = self.signals.watch(py, || {
            self.each(|at, place| {
                if let Some((_, seed, changes)) = resets.iter().find(|(place, ..)| *place == at) {
                    return self.plan.start(place, (*seed, changes), Some(&self.signals));
                }
                match &actions {
                    Some((actions, hold)) if !(*hold && place.ended != GOES_ON) => {
                        self.plan.step(place, &actions[at * agents..][..agents])
                    }
                    _ => Ok(()),
                }
            })
        });
        if done.is_err() {
            // A step that was interrupted is no step, and none follows it.
            (0..self.places.len()).for_each(|at| self.place(at).run = None);
        }
        done?.map_err(|failure| failure.raise(py))?;
        Ok(self.say(py))
    }
}
