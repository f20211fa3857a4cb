//! A link: its queue as an integrator, and the law of its queue, at equilibrium and near it.

use penstock_law::aqm::{self, Aqm, Decides, Event};
use penstock_law::law::Linearisation;
use penstock_law::{Dual, Number};
use penstock_scenario::model::Chosen;

use crate::complex::Complex;
use crate::error::AnalysisError;
use crate::linear::{Jacobians, Linear};
use crate::loop_model::LoopModel;
use crate::machine::{Kink, Machine};
use crate::matrix::solve;
use crate::settle::{Outcome, centred, jacobian, root, settle};

/// A link with its queue's law, ready to be evaluated.
pub struct Bottleneck {
    /// Its name.
    pub name: String,
    /// Capacity [packets/s].
    pub capacity: f64,
    law: &'static str,
    linearisation: Linearisation,
    machine: Machine<Aqm>,
    needs: aqm::Requirements,
    packet_bytes: u32,
    /// Where the law was last at equilibrium; the next search starts there.
    last: Vec<f64>,
    /// Load up to which its signal is zero [packets/s].
    wanted: f64,
}

/// A link at equilibrium.
#[derive(Debug, Clone, PartialEq)]
pub struct BottleneckEquilibrium {
    /// The law's state, in the order of its names.
    pub state: Vec<f64>,
    /// Packets waiting.
    pub queue: f64,
    /// Arrivals [packets/s].
    pub load: f64,
    /// Mark or drop probability.
    pub probability: f64,
    /// The link's price, where its law has one [s].
    pub price_s: f64,
}

/// A link near its equilibrium, as a frequency response.
#[derive(Debug, Clone)]
pub struct BottleneckResponse {
    linear: Linear,
    tick_s: Option<f64>,
    /// Whether packets wait, so that the queue integrates.
    queues: bool,
    capacity: f64,
    /// Time in the queue that a mark does not wait for, because it is set as the packet leaves [s].
    pub mark_skips_s: f64,
    /// Distance to the nearest kink of the law, in the units of that comparison; none where it has none.
    pub nearest_kink: Option<f64>,
    /// Whether the law alone, at a constant load and queue, would run away.
    pub runs_away: bool,
}

/// Which of load and queue is given and which the law decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Free {
    /// The queue is empty; the load is free.
    Load,
    /// The load is the capacity; the queue is free.
    Queue,
}

impl Bottleneck {
    /// Compiles the queue's law of a link.
    ///
    /// # Errors
    /// The law cannot be linearised or refuses its parameters.
    pub fn new(name: &str, aqm: &Chosen<Aqm>, site: &aqm::Context) -> Result<Self, AnalysisError> {
        let machine = Machine::new(aqm, site)?;
        Ok(Self {
            name: name.to_owned(),
            capacity: site.packets_per_s(),
            law: aqm.law.name,
            linearisation: aqm.law.linearisation,
            needs: machine.requirements(),
            last: machine.start().to_vec(),
            machine,
            wanted: site.packets_per_s(),
            packet_bytes: u32::try_from(site.packet.0).unwrap_or(u32::MAX),
        })
    }

    /// The law's name.
    pub fn law(&self) -> &'static str {
        self.law
    }

    /// The registry's reason about a law that the analysis cannot take beyond its queue.
    pub fn reason(&self) -> Option<&'static str> {
        if let Linearisation::Unsupported(reason) = self.linearisation { Some(reason) } else { None }
    }

    /// Names and units of the law's state.
    pub fn names(&self) -> &'static [(&'static str, &'static str)] {
        self.machine.names()
    }

    /// Whether packets that can be marked are marked.
    pub fn marks(&self) -> bool {
        self.needs.marks
    }

    /// Whether the law never marks or drops anything: the queue alone is the signal.
    pub fn is_silent(&self) -> bool {
        self.needs.decides == Decides::Never
    }

    fn seen(&self, queue: Dual, load: Dual) -> aqm::Observation<Dual> {
        let arrived = load * Dual::of(self.needs.tick_s.unwrap_or(0.0));
        aqm::Observation { queue, arrived, capacity: Dual::of(self.capacity), ..aqm::Observation::zero() }
    }

    fn probability(&mut self, state: &[Dual], seen: &aqm::Observation<Dual>) -> Dual {
        if self.is_silent() {
            return Dual::of(0.0);
        }
        self.machine.output(state, seen).probability
    }

    /// The mean change of the state with each packet that arrives.
    fn packet(&mut self, state: &[Dual], seen: &aqm::Observation<Dual>) -> Vec<Dual> {
        let mut change = vec![Dual::of(0.0); state.len()];
        if self.needs.decides != Decides::OnArrival || state.is_empty() {
            return change;
        }
        let hit = self.probability(state, seen);
        let arrival = Event::Arrival { bytes: self.packet_bytes, idle: 0 };
        for (chance, event) in [(Dual::of(1.0), arrival), (hit, Event::Hit)] {
            for ((c, after), before) in change.iter_mut().zip(self.machine.after(state, event, seen)).zip(state) {
                *c += chance * (after - *before);
            }
        }
        change
    }

    /// The mean drift of the state [1/s].
    fn drift(&mut self, state: &[Dual], queue: Dual, load: Dual) -> Vec<Dual> {
        let seen = self.seen(queue, load);
        let mut drift: Vec<Dual> = self.packet(state, &seen).into_iter().map(|c| load * c).collect();
        if let Some(period) = self.needs.tick_s {
            let after = self.machine.after(state, Event::Tick, &seen);
            for ((d, after), before) in drift.iter_mut().zip(after).zip(state) {
                *d += (after - *before) / Dual::of(period);
            }
        }
        drift
    }

    /// Whether the law integrates: its drift does not determine where in its state it should settle, and so it moves until
    /// load and queue are at its targets. Evaluated away from the state's limits, under an overload; its probability
    /// there is a start for the search.
    pub(crate) fn integrates(&mut self) -> Option<f64> {
        // Events so many that an average has left its start; fewer, and longer queues, for a law that is driven to a limit
        // of its state by then, where it is held and no integral shows.
        let fewer = [20, 3, 1].into_iter().flat_map(|ticks| [0.01, 0.1, 1.0].map(|share| (share, ticks)));
        let tries = if self.needs.tick_s.is_some() { 9 } else { 1 };
        fewer.take(tries).find_map(|(share, events)| self.integrates_after(share * self.capacity, events))
    }

    fn integrates_after(&mut self, queue: f64, events: u32) -> Option<f64> {
        let (queue, load) = (Dual::of(queue), Dual::of(2.0 * self.capacity));
        let seen = self.seen(queue, load);
        let mut state: Vec<Dual> = self.machine.start().iter().map(|x| Dual::of(*x)).collect();
        let arrival = Event::Arrival { bytes: self.packet_bytes, idle: 0 };
        for _ in 0..events {
            if self.needs.decides == Decides::OnArrival {
                state = self.machine.after(&state, arrival, &seen);
            }
            if self.needs.tick_s.is_some() {
                state = self.machine.after(&state, Event::Tick, &seen);
            }
        }
        let point: Vec<f64> = state.iter().map(|x| x.value).collect();
        let (_, slopes) = jacobian(&point, &mut |s| self.drift(s, queue, load));
        if solve(slopes, vec![Vec::<f64>::new(); point.len()]).is_some() {
            return None;
        }
        // At one a law is at a limit of its state, and what it says there begins no search.
        let said = self.probability(&state, &seen).value;
        (said < 1.0).then(|| {
            self.last = point;
            said
        })
    }

    /// The load up to which the law's output is zero [packets/s]: its capacity, or the target of a law that integrates.
    pub(crate) fn wanted(&self) -> f64 {
        self.wanted
    }

    /// The link where it limits nobody, at a load given as a share of its capacity.
    pub(crate) fn silent(&self, utilization: f64) -> BottleneckEquilibrium {
        let state = self.machine.start().to_vec();
        BottleneckEquilibrium { state, queue: 0.0, load: utilization * self.capacity, probability: 0.0, price_s: 0.0 }
    }

    /// The equilibrium of a law that does not integrate, at a given queue and load.
    pub(crate) fn equilibrium(&mut self, queue: f64, load: f64) -> Result<BottleneckEquilibrium, AnalysisError> {
        let (start, fresh) = (self.last.clone(), self.machine.start().to_vec());
        let step_s = self.needs.tick_s.unwrap_or(1.0 / self.capacity);
        let events = load + self.needs.tick_s.map_or(0.0, |period| 1.0 / period);
        let mut grain = |s: &[f64]| s.iter().map(|x| f64::EPSILON * x.abs() * events).collect();
        let mut drift = |s: &[Dual]| self.drift(s, Dual::of(queue), Dual::of(load));
        let mut follow = |from: &[f64]| settle(from, step_s, &mut drift, &mut |_| false, &mut grain);
        let mut outcome = follow(&start);
        if matches!(outcome, Outcome::Lost) {
            outcome = follow(&fresh);
        }
        let Outcome::Still(state) = outcome else {
            return Err(AnalysisError::NotSettled {
                class: self.name.clone(),
                law: self.law,
                queueing_delay_s: queue / self.capacity,
                probability: f64::NAN,
            });
        };
        // What the law says follows the last digits of its average where the average is near a threshold.
        let state = centred(&state, step_s, &mut drift, &mut grain).unwrap_or(state);
        self.last.clone_from(&state);
        Ok(self.said(state, queue, load))
    }

    /// The state in which the output of a law that integrates stays at `probability`, and its target load or queue.
    pub(crate) fn equilibrium_saying(&mut self, probability: f64, free: Free) -> Option<BottleneckEquilibrium> {
        let capacity = self.capacity;
        let split = |x: Dual| match free {
            Free::Load => (Dual::of(0.0), x),
            Free::Queue => (x, Dual::of(capacity)),
        };
        let m = self.last.len();
        let guesses: &[f64] = if free == Free::Load { &[1.0] } else { &[0.01, 0.1, 1.0] };
        let starts = [self.last.clone(), self.machine.start().to_vec()];
        for (start, guess) in starts.iter().flat_map(|start| guesses.iter().map(move |guess| (start, guess))) {
            let mut point = start.clone();
            point.push(guess * capacity);
            let found = root(&point, &mut |v| {
                let (queue, load) = split(v[m]);
                let mut equations = self.drift(&v[..m], queue, load);
                let seen = self.seen(queue, load);
                equations.push(self.probability(&v[..m], &seen) - Dual::of(probability));
                equations
            });
            if let Some(mut state) = found {
                let (queue, load) = split(Dual::of(state.pop()?));
                self.last.clone_from(&state);
                self.wanted = load.value;
                return Some(self.said(state, queue.value, load.value));
            }
        }
        None
    }

    fn said(&mut self, state: Vec<f64>, queue: f64, load: f64) -> BottleneckEquilibrium {
        let duals: Vec<Dual> = state.iter().map(|x| Dual::of(*x)).collect();
        let seen = self.seen(Dual::of(queue), Dual::of(load));
        let price_s = self.machine.output(&duals, &seen).price_s.value;
        let probability = self.probability(&duals, &seen).value;
        BottleneckEquilibrium { state, queue, load, probability, price_s }
    }

    /// The link near its equilibrium, by duals through its law's own update.
    pub fn linearise(&mut self, equilibrium: &BottleneckEquilibrium) -> BottleneckResponse {
        let m = equilibrium.state.len();
        let mut kink = Kink::NONE;
        let tick_s = self.needs.tick_s;
        let mut point = equilibrium.state.clone();
        point.extend([equilibrium.queue, equilibrium.load * tick_s.unwrap_or(0.0)]);
        let mut everything = |v: &[Dual]| {
            let capacity = Dual::of(self.capacity);
            let seen = aqm::Observation { queue: v[m], arrived: v[m + 1], capacity, ..aqm::Observation::zero() };
            let state = &v[..m];
            let mut all = self.packet(state, &seen);
            all.extend(if tick_s.is_some() { self.machine.after(state, Event::Tick, &seen) } else { state.to_vec() });
            all.push(self.probability(state, &seen));
            kink.note(&all);
            all
        };
        let (_, slopes) = jacobian(&point, &mut everything);
        let block = |from: usize, columns: core::ops::Range<usize>| -> Vec<Vec<f64>> {
            slopes[from..from + m].iter().map(|r| r[columns.clone()].to_vec()).collect()
        };
        let says = &slopes[2 * m];
        let linear = Linear::new(Jacobians {
            rate: equilibrium.load,
            change: block(0, 0..m),
            drive: block(0, m..m + 2),
            step: tick_s.map(|period_s| (period_s, block(m, 0..m), block(m, m..m + 2))),
            output: says[..m].to_vec(),
            direct: says[m..].to_vec(),
        });
        let late = matches!(self.needs.decides, Decides::OnDeparture | Decides::AtHead);
        let skips = if late { equilibrium.queue / self.capacity } else { 0.0 };
        BottleneckResponse {
            runs_away: linear.runs_away(),
            linear,
            tick_s,
            queues: equilibrium.queue > 0.0,
            capacity: self.capacity,
            mark_skips_s: skips,
            nearest_kink: kink.nearest(),
        }
    }
}

impl BottleneckResponse {
    /// Whether its law acts on a period.
    pub(crate) fn is_sampled(&self) -> bool {
        self.linear.is_sampled()
    }

    /// Capacity of the line [packets/s].
    pub(crate) fn capacity(&self) -> f64 {
        self.capacity
    }

    /// The response at `s` of the queueing delay [s per packet/s] and of the mark probability [1 per packet/s] to the
    /// load.
    ///
    /// The queue is the integrator `dq/dt = y - c` while it is not empty. Arrivals in a period are an exact average
    /// over it, whatever the model; only holding the law's output is left to [`LoopModel::Sampled`].
    pub fn at(&self, s: Complex, model: LoopModel) -> (Complex, Complex) {
        let h = self.linear.response(s, model.counts_sampling());
        let queue = if self.queues { Complex::ONE / s } else { Complex::ZERO };
        let arrived = self.tick_s.map_or(Complex::ZERO, |t| (s * t).hold() * t);
        (queue * (1.0 / self.capacity), h[0] * queue + h[1] * arrived)
    }
}
