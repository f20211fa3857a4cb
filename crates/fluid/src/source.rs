//! A class of flows: where its law settles at a constant signal, and its response to a small change of it.
//!
//! The behaviour of the law comes from its code. That of its host is written here: how often acknowledgements, cuts, periods
//! and rounds come, what marks mean, and how a window or a gap becomes a rate.

mod response;

use penstock_law::cc::{self, Controller, Event, Marks};
use penstock_law::estimate::{self, AverageRtt, Lookback};
use penstock_law::law::Linearisation;
use penstock_law::{Dual, Number};
use penstock_scenario::model::Chosen;
use serde::Serialize;

use crate::error::AnalysisError;
use crate::linear::{Jacobians, Linear};
use crate::machine::{Kink, Machine};
use crate::matrix::solve;
use crate::settle::{Outcome, jacobian, settle};
pub use response::{Parts, SourceResponse};

/// Clocking of a sender's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clocking {
    /// By the gap of the law: `x = 1/gap`, or `x = w/tau` for a law without one. A law with a gap gets,
    /// unless its window is the tighter limit, or as tight while a queue stands.
    Paced,
    /// By acknowledgements: the packets in flight are the window, `x = s w / (1 - exp(-s tau))`. Such a sender leads a paced
    /// one by `w tau / 2`; the static law of fast-aqm (6) is then stable for `alpha < 2` instead of `pi/2`.
    Ack,
}

/// Periods of the first step from an equilibrium to the next.
const LONG: f64 = 1e6;

/// Packets a round trip below which a source sends nothing.
const MUTE: f64 = 1e-6;

/// The signals of a path, as a source observes them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signal {
    /// Time in the queue [s].
    pub queueing_delay_s: f64,
    /// Probability that a packet is marked, or dropped where it cannot be.
    pub probability: f64,
}

impl Signal {
    /// An empty path that marks nothing.
    pub const NONE: Self = Self { queueing_delay_s: 0.0, probability: 0.0 };
}

/// Description of a class of flows.
#[derive(Debug, Clone)]
pub struct Flows<'a> {
    /// The name of the class.
    pub name: String,
    /// Number of flows.
    pub count: u32,
    /// Two-way propagation delay [s].
    pub base_rtt_s: f64,
    /// The law.
    pub cc: &'a Chosen<Controller>,
    /// The context of the law.
    pub site: cc::Context,
    /// Packets an acknowledgement covers.
    pub packets_per_ack: u32,
    /// Whether the queue marks the packets of a sender that can take marks; if not it drops them.
    pub queue_marks: bool,
    /// Probability that a packet is lost on the line.
    pub loss: f64,
    /// Clocking of packets; none is by the law's own gap and window.
    pub clocking: Option<Clocking>,
    /// The queue on their way, where its buffer has a limit.
    pub queue: Option<Queue>,
}

/// A queue as a law that estimates its bottleneck knows it at equilibrium: as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Queue {
    /// Rate of its line [packets/s].
    pub capacity: f64,
    /// Size of its buffer [packets].
    pub buffer: f64,
}

/// A class of flows, ready to be evaluated.
pub struct Source {
    /// The name of the class.
    pub name: String,
    /// Number of flows.
    pub count: u32,
    /// Two-way propagation delay [s].
    pub base_rtt_s: f64,
    law: &'static str,
    machine: Machine<Controller>,
    needs: cc::Requirements,
    packets_per_ack: u32,
    marked: bool,
    loss: f64,
    clocking: Option<Clocking>,
    /// Where the law estimates its bottleneck.
    queue: Option<Queue>,
    /// Where the law was last at equilibrium; the next search starts there.
    last: Vec<f64>,
    /// Whether it has had an equilibrium yet.
    settled: bool,
}

/// A class of flows at equilibrium.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceEquilibrium {
    /// The law's state, in the order of its names.
    pub state: Vec<f64>,
    /// Rate of one flow [packets/s].
    pub rate: f64,
    /// Window of one flow [packets].
    pub window: f64,
    /// The price in the law's observation [s].
    pub price_s: f64,
    /// Round-trip time [s].
    pub rtt_s: f64,
    /// Clocking of packets.
    pub clocking: Clocking,
    /// Whether the law's gap and its window allow the same rate, so that neither alone times the packets.
    pub both_bind: bool,
}

/// Inputs by which a law of a sender is differentiated, besides its state.
#[derive(Clone, Copy)]
struct Inputs {
    rtt_s: Dual,
    base_rtt_s: Dual,
    chance: Dual,
    price_s: Dual,
    /// Packets committed a round trip ago, where they are not those committed now.
    earlier: Option<Dual>,
}

/// The host's timing of a law's output.
struct Timed {
    rate: Dual,
    window: Dual,
    clocking: Clocking,
    both_bind: bool,
}

/// The behaviour of a class at a signal.
pub(crate) enum Demand {
    Equilibrium(SourceEquilibrium),
    Unbounded,
}

impl Source {
    /// Compiles the law of `flows`.
    ///
    /// # Errors
    /// The law cannot be linearised or refuses its parameters.
    pub fn new(flows: &Flows<'_>) -> Result<Self, AnalysisError> {
        let law = flows.cc.law.name;
        if let Linearisation::Unsupported(reason) = flows.cc.law.linearisation {
            return Err(AnalysisError::NotLinear { noun: "controller", law, reason: reason.to_owned() });
        }
        let machine = Machine::new(flows.cc, &flows.site)?;
        let needs = machine.requirements();
        if let Some(what) = needs.of_packets() {
            let reason = format!("it requires {what}, which the fluid world does not have");
            return Err(AnalysisError::NotLinear { noun: "controller", law, reason });
        }
        let queue = match needs.bottleneck.map(|by| (by.lookback, flows.queue)) {
            None => None,
            Some((Some(Lookback::Acknowledgement), _)) => {
                let reason = "a derivative over one acknowledgement depends on single packets, which a fluid does \
                              not have";
                return Err(AnalysisError::NotLinear { noun: "controller", law, reason: reason.to_owned() });
            }
            Some((_, None)) => {
                let place = format!("the group `{}`", flows.name);
                let remedy = "give the link's `buffer` in packets or bytes";
                let what = "a law that estimates the buffer, and an unlimited buffer";
                return Err(AnalysisError::NotCounted { place, what, remedy });
            }
            Some((_, queue)) => queue,
        };
        Ok(Self {
            name: flows.name.clone(),
            count: flows.count,
            base_rtt_s: flows.base_rtt_s,
            law,
            marked: flows.queue_marks && needs.marks != Marks::Ignored,
            packets_per_ack: flows.packets_per_ack,
            loss: flows.loss,
            clocking: flows.clocking,
            queue,
            last: machine.start().to_vec(),
            settled: false,
            needs,
            machine,
        })
    }

    /// The law's name.
    pub fn law(&self) -> &'static str {
        self.law
    }

    /// Names and units of the law's state.
    pub fn names(&self) -> &'static [(&'static str, &'static str)] {
        self.machine.names()
    }

    /// Whether the queue marks this class's packets; if not, it drops them.
    pub fn is_marked(&self) -> bool {
        self.marked
    }

    /// Whether the law has a window, which acknowledgements move on.
    pub fn has_window(&self) -> bool {
        self.needs.reliable
    }

    /// Whether an echo is a congestion event to this law, so that a round may see one cut at most.
    pub fn is_cut(&self) -> bool {
        self.needs.reliable && (!self.marked || self.needs.marks == Marks::Congestion)
    }

    /// The price this class makes of a mark probability [s].
    fn price(&self, chance: Dual) -> Dual {
        match self.needs.marks {
            Marks::Price(by) if self.marked => {
                let n = f64::from(by.packets);
                let share = chance.min(Dual::of(1.0 - 0.5 / n));
                -(Dual::of(1.0) - share).ln() / Dual::of(libm::log(by.phi))
            }
            _ => Dual::of(0.0),
        }
    }

    fn inputs(&self, signal: Signal) -> Inputs {
        let chance = Dual::of(signal.probability);
        Inputs {
            rtt_s: Dual::of(self.base_rtt_s + signal.queueing_delay_s),
            base_rtt_s: Dual::of(self.base_rtt_s),
            chance,
            price_s: self.price(chance),
            earlier: None,
        }
    }

    fn seen(&mut self, state: &[Dual], u: &Inputs) -> cc::Observation<Dual> {
        let base_rtt_s = u.base_rtt_s;
        let path = cc::Observation { rtt_s: u.rtt_s, base_rtt_s, price_s: u.price_s, ..cc::Observation::zero() };
        let Some(Queue { capacity, buffer }) = self.queue else { return path };
        let level = estimate::buffer_level(Dual::of(capacity), u.rtt_s, base_rtt_s);
        let in_flight = self.machine.output(state, &path).window;
        cc::Observation {
            buffer: Dual::of(buffer),
            level,
            in_flight,
            earlier: u.earlier.unwrap_or(level + in_flight),
            earlier_s: Dual::of(u.rtt_s.value),
            ..path
        }
    }

    /// The mean change of the state with each packet sent: the sum over outcomes of chance times (after - before).
    ///
    /// Every mark or loss is a cut of its own. A host lets one cut through in a round; at the small probabilities where
    /// such laws live that is the same, and it is the rate of the fluid literature: cuts of `x p`.
    fn packet(&mut self, state: &[Dual], u: &Inputs) -> Vec<Dual> {
        let zero = Dual::of(0.0);
        let mut change = vec![zero; state.len()];
        if !self.needs.reliable || state.is_empty() {
            return change;
        }
        let (one, p, kept) = (Dual::of(1.0), u.chance, Dual::of(1.0 - self.loss));
        let packets = self.packets_per_ack;
        let mut outcomes: Vec<(Dual, Event)> = Vec::new();
        if self.marked {
            let each = kept / Dual::count(packets);
            // Binomial: so many of an acknowledgement's packets are marked.
            let mut ways = 1.0;
            for marked in 0..=packets {
                let mut chance = each * Dual::of(ways);
                for k in 0..packets {
                    chance *= if k < marked { p } else { one - p };
                }
                outcomes.push((chance, Event::Ack { packets, marked }));
                ways *= f64::from(packets - marked) / f64::from(marked + 1);
            }
            let cut = if self.needs.marks == Marks::Congestion { p } else { zero };
            outcomes.push((cut + Dual::of(self.loss), Event::Congestion));
        } else {
            outcomes.push(((one - p) * kept / Dual::count(packets), Event::Ack { packets, marked: 0 }));
            outcomes.push((p + Dual::of(self.loss), Event::Congestion));
        }
        let seen = self.seen(state, u);
        for (chance, event) in outcomes {
            if chance.value == 0.0 && chance.slope == 0.0 {
                continue;
            }
            for ((c, after), before) in change.iter_mut().zip(self.machine.after(state, event, &seen)).zip(state) {
                *c += chance * (after - *before);
            }
        }
        change
    }

    /// The state after the law's period, and after a round trip.
    fn steps(&mut self, state: &[Dual], u: &Inputs) -> (Option<(f64, Vec<Dual>)>, Vec<Dual>) {
        let seen = self.seen(state, u);
        let tick = self.needs.tick_s.map(|period| (period, self.machine.after(state, Event::Tick, &seen)));
        let round = if self.needs.reliable { self.machine.after(state, Event::Round, &seen) } else { state.to_vec() };
        (tick, round)
    }

    /// Rate [packets/s], window [packets] and timing at a state.
    fn rate(&mut self, state: &[Dual], u: &Inputs) -> Timed {
        let seen = self.seen(state, u);
        let cc::Output { window, gap_s } = self.machine.output(state, &seen);
        let by_window = window / u.rtt_s;
        let has_gap = gap_s.value > 0.0;
        let by_gap = if has_gap { Dual::of(1.0) / gap_s } else { by_window };
        // Where both bind, a gap of rtt / window under a queue that stands only spreads the window: what is in flight
        // cannot pass it, however late the pace follows. With an empty queue the gap alone decides.
        let queued = u.rtt_s.value > self.base_rtt_s;
        let slack = if queued { -1e-9 } else { 1e-9 };
        let natural = has_gap && by_gap.value <= by_window.value * (1.0 + slack);
        let both_bind = has_gap && (by_gap.value - by_window.value).abs() <= 1e-9 * by_window.value;
        let clocking = match self.clocking {
            Some(chosen) => chosen,
            None if natural => Clocking::Paced,
            None => Clocking::Ack,
        };
        let rate = if clocking == Clocking::Paced { by_gap } else { by_window };
        Timed { rate, window, clocking, both_bind }
    }

    /// The mean drift of the state [1/s].
    fn drift(&mut self, state: &[Dual], u: &Inputs) -> Vec<Dual> {
        let rate = self.rate(state, u).rate;
        let mut drift: Vec<Dual> = self.packet(state, u).into_iter().map(|c| rate * c).collect();
        let (tick, round) = self.steps(state, u);
        let mut add = |after: &[Dual], period: Dual| {
            for ((d, after), before) in drift.iter_mut().zip(after).zip(state) {
                *d += (*after - *before) / period;
            }
        };
        if let Some((period, after)) = &tick {
            add(after, Dual::of(*period));
        }
        add(&round, u.rtt_s);
        drift
    }

    /// Whether another base RTT, at the same round-trip time, would move the law away from this equilibrium.
    pub(crate) fn depends_on_base_rtt(&mut self, at: &SourceEquilibrium, signal: Signal) -> bool {
        let u = Inputs { base_rtt_s: Dual::seed(self.base_rtt_s), ..self.inputs(signal) };
        let state: Vec<Dual> = at.state.iter().map(|x| Dual::of(*x)).collect();
        self.rate(&state, &u).rate.slope != 0.0 || self.drift(&state, &u).iter().any(|drift| drift.slope != 0.0)
    }

    /// The rounding error of [`Self::drift`] [1/s]: `after - before` keeps of a state the digits of a double, whatever an
    /// event adds to it.
    fn grain(&mut self, state: &[f64], u: &Inputs) -> Vec<f64> {
        let duals: Vec<Dual> = state.iter().map(|x| Dual::of(*x)).collect();
        let rate = self.rate(&duals, u).rate.value;
        let events = rate + self.needs.tick_s.map_or(0.0, |period| 1.0 / period) + 1.0 / u.rtt_s.value;
        state.iter().map(|x| f64::EPSILON * x.abs() * events).collect()
    }

    /// The uncertainty by rounding of its equilibrium at a signal, as a share of the state: how far the drift can be led by no more
    /// than the last digits.
    pub(crate) fn open(&mut self, signal: Signal) -> Result<f64, AnalysisError> {
        let (equilibrium, u) = (self.equilibrium(signal)?, self.inputs(signal));
        let (_, slopes) = jacobian(&equilibrium.state, &mut |state| self.drift(state, &u));
        let grain = self.grain(&equilibrium.state, &u).into_iter().map(|g| vec![g]).collect();
        let Some(moved) = solve(slopes, grain) else { return Ok(0.0) };
        Ok(moved.iter().zip(&equilibrium.state).map(|(d, s)| d[0].abs() / (s.abs() + 1e-6)).fold(0.0, f64::max))
    }

    /// A law that sets its window anew with every acknowledgement is followed some way to where it sets it: its mean drift,
    /// a rate times a difference, vanishes without a rate as well, and a search from far below would end there.
    fn approach(&mut self, state: &mut [f64], u: &Inputs) {
        if self.queue.is_none() {
            return;
        }
        for _ in 0..300 {
            let duals: Vec<Dual> = state.iter().map(|x| Dual::of(*x)).collect();
            let seen = self.seen(&duals, u);
            let event = Event::Ack { packets: self.packets_per_ack, marked: 0 };
            for (x, after) in state.iter_mut().zip(self.machine.after(&duals, event, &seen)) {
                *x += 0.1 * (after.value - *x);
            }
        }
    }

    /// Where the law settles at a constant signal, or that its rate is more than `most` [packets/s] a flow.
    pub(crate) fn demand(&mut self, signal: Signal, most: f64) -> Result<Demand, AnalysisError> {
        let u = self.inputs(signal);
        let period = self.needs.tick_s.unwrap_or(self.base_rtt_s);
        let mut start = self.last.clone();
        self.approach(&mut start, &u);
        let this = core::cell::RefCell::new(&mut *self);
        // Who sends nothing hears nothing, so that a window of no packets stands still whatever its law wants: a step that
        // leads there was too long.
        let mut drift = |state: &[Dual]| {
            let drift = this.borrow_mut().drift(state, &u);
            let mute = this.borrow_mut().rate(state, &u).rate.value * u.rtt_s.value < MUTE;
            if mute { vec![Dual::of(f64::NAN); drift.len()] } else { drift }
        };
        let mut escaped = |state: &[f64]| {
            let state: Vec<Dual> = state.iter().map(|x| Dual::of(*x)).collect();
            this.borrow_mut().rate(&state, &u).rate.value > most
        };
        let mut grain = |state: &[f64]| this.borrow_mut().grain(state, &u);
        let mut follow = |start: &[f64], first: f64| settle(start, first, &mut drift, &mut escaped, &mut grain);
        // Near where its equilibrium was before, a long first step is a good one; a bad one is taken back.
        let first = if this.borrow().settled { LONG * period } else { period };
        let mut outcome = follow(&start, first);
        if outcome == Outcome::Lost && first > period {
            outcome = follow(&start, period);
        }
        if outcome == Outcome::Lost {
            let mut fresh = this.borrow().machine.start().to_vec();
            this.borrow_mut().approach(&mut fresh, &u);
            outcome = follow(&fresh, period);
        }
        match outcome {
            Outcome::Still(state) => {
                let duals: Vec<Dual> = state.iter().map(|x| Dual::of(*x)).collect();
                let timed = self.rate(&duals, &u);
                self.last.clone_from(&state);
                self.settled = true;
                Ok(Demand::Equilibrium(SourceEquilibrium {
                    state,
                    rate: timed.rate.value,
                    window: timed.window.value,
                    price_s: u.price_s.value,
                    rtt_s: u.rtt_s.value,
                    clocking: timed.clocking,
                    both_bind: timed.both_bind,
                }))
            }
            Outcome::Escaped => Ok(Demand::Unbounded),
            Outcome::Lost => Err(AnalysisError::NotSettled {
                class: self.name.clone(),
                law: self.law,
                queueing_delay_s: signal.queueing_delay_s,
                probability: signal.probability,
            }),
        }
    }

    /// The rate at which the law settles at the same signal when it starts from `away` times the numbers of its
    /// equilibrium, where that is another rate [packets/s].
    pub(crate) fn elsewhere(&mut self, equilibrium: &SourceEquilibrium, signal: Signal, away: f64) -> Option<f64> {
        let was = (core::mem::replace(&mut self.settled, false), self.last.clone());
        self.last = equilibrium.state.iter().map(|x| x * away).collect();
        let found = self.demand(signal, 1e15);
        (self.settled, self.last) = was;
        match found {
            Ok(Demand::Equilibrium(other)) if (other.rate - equilibrium.rate).abs() > 1e-3 * equilibrium.rate => {
                Some(other.rate)
            }
            _ => None,
        }
    }

    /// Where the law settles at a constant signal: the state at which its mean drift is zero.
    ///
    /// # Errors
    /// There is no such state, or the search did not find it.
    pub fn equilibrium(&mut self, signal: Signal) -> Result<SourceEquilibrium, AnalysisError> {
        match self.demand(signal, 1e15)? {
            Demand::Equilibrium(equilibrium) => Ok(equilibrium),
            Demand::Unbounded => Err(AnalysisError::NotSettled {
                class: self.name.clone(),
                law: self.law,
                queueing_delay_s: signal.queueing_delay_s,
                probability: signal.probability,
            }),
        }
    }

    /// The law near its equilibrium, by duals through its own update.
    ///
    /// # Errors
    /// The law acts on a period and at every round trip as well.
    pub fn linearise(
        &mut self,
        equilibrium: &SourceEquilibrium,
        signal: Signal,
    ) -> Result<SourceResponse, AnalysisError> {
        let m = equilibrium.state.len();
        let at = self.inputs(signal);
        let mut point = equilibrium.state.clone();
        point.extend([at.rtt_s.value, at.chance.value, at.price_s.value]);
        let looks_back = self.queue.filter(|_| self.needs.bottleneck.is_some_and(|by| by.lookback.is_some()));
        if let Some(Queue { capacity, .. }) = looks_back {
            point.push(capacity * signal.queueing_delay_s + equilibrium.window);
        }
        let signals = point.len() - m;
        let mut kink = Kink::NONE;
        // One pass for each direction gives every event's column: packet, period, round, rate, window.
        let mut everything = |v: &[Dual]| {
            let (rtt_s, chance, price_s, earlier) = (v[m], v[m + 1], v[m + 2], v.get(m + 3).copied());
            let u = Inputs { rtt_s, chance, price_s, earlier, ..at };
            let state = &v[..m];
            let mut all = self.packet(state, &u);
            let (tick, round) = self.steps(state, &u);
            all.extend(tick.map_or_else(|| state.to_vec(), |(_, after)| after));
            all.extend(round);
            let timed = self.rate(state, &u);
            all.extend([timed.rate, timed.window]);
            kink.note(&all);
            all
        };
        let (_, slopes) = jacobian(&point, &mut everything);
        let block = |from: usize, columns: core::ops::Range<usize>| -> Vec<Vec<f64>> {
            slopes[from..from + m].iter().map(|r| r[columns.clone()].to_vec()).collect()
        };
        let unmoved = |from: usize| {
            slopes[from..from + m]
                .iter()
                .enumerate()
                .all(|(i, r)| r.iter().enumerate().all(|(j, x)| *x == if i == j { 1.0 } else { 0.0 }))
        };
        let period = match (self.needs.tick_s.filter(|_| !unmoved(m)), !unmoved(2 * m)) {
            (Some(_), true) => return Err(AnalysisError::TwoClocks { law: self.law }),
            (Some(tick_s), false) => Some((tick_s, m)),
            (None, true) => Some((equilibrium.rtt_s, 2 * m)),
            (None, false) => None,
        };
        let says = &slopes[3 * m + usize::from(equilibrium.clocking == Clocking::Ack)];
        let mut drive = block(0, m..m + signals);
        if signal.probability == 0.0 {
            // A queue that says nothing here will say nothing a little further: no law need be followed in that direction.
            for row in &mut drive {
                row[1] = 0.0;
            }
        }
        let linear = Linear::new(Jacobians {
            rate: equilibrium.rate,
            change: block(0, 0..m),
            drive,
            step: period.map(|(period_s, from)| (period_s, block(from, 0..m), block(from, m..m + signals))),
            output: says[..m].to_vec(),
            direct: says[m..].to_vec(),
        });
        let register = match self.needs.marks {
            Marks::Price(by) if self.marked => Some(by),
            _ => None,
        };
        let rtt_weight = self.needs.average_rtt.map(|by| {
            let (rtt, window) = (equilibrium.rtt_s, Dual::of(equilibrium.window));
            let mut average = AverageRtt::UNKNOWN;
            average.take(&by, Dual::of(rtt), window);
            average.take(&by, Dual::seed(rtt), window).slope
        });
        Ok(SourceResponse {
            runs_away: linear.runs_away(),
            linear,
            clocking: equilibrium.clocking,
            rate: equilibrium.rate,
            rtt_s: equilibrium.rtt_s,
            price_slope: self.price(Dual::seed(signal.probability)).slope,
            register,
            rtt_weight,
            looks_back: looks_back.map(|queue| queue.capacity),
            acks_per_s: equilibrium.rate / f64::from(self.packets_per_ack),
            nearest_kink: kink.nearest(),
        })
    }
}
