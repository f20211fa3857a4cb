//! CLCC: a slow integral controller that turns the decrease of a non-responsive class until what it is served over what
//! the others are follows a reference.
//!
//! Source: Pletka, Kind, Waldvogel, Mannel, "Closed-Loop Congestion Control for Mixed Responsive and Non-Responsive
//! Traffic", section IV: equations (3) to (7) and figure 5, of which only the text is left.
//! Differs, where the paper is silent, contradicts itself or cannot mean what it prints:
//! - (6) is printed with `r_ref - r_k - 1`; the last is an index, `r_{k-1}`: a constant would leave a lasting error.
//! - The lower bound of (7) is zero, which the law could never leave. It is a share of the decrease at the start here.
//! - In preemption the decrease is said to be kept, twice, and to fall by a tenth a step, once. `preemption` has both, and
//!   neither.
//! - Values and edges of the three zones of beta were in figure 5.
//! - The ratio is that of the sums over a second, which ten samples of 100 ms add up to.
//! - It is at most [`MOST_RATIO`] times the reference, and the others count with at least [`LEAST_OTHERS`], so that one
//!   second without them is one large step, not an infinite one.
//! - Any class with a `share` is steered, each by a controller of its own, to `share / (1 - share)`; at least one class
//!   must be left to give way.
//!
//! Symbols of the paper: D `decrease`, r `ratio`, r_ref `reference`, x_d `error`, beta and b_0, b_1, b_2.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::aimd::Plain;
use super::bat::{self, Aimd, Bat, COARSE, CORRECTION, DECREASE, GAIN, HIGH, INCREASE, INTERVAL, LOW};
use super::{Chance, Event, Needs, Port, Queue, Site};
use crate::law::{Entry, Fields, Instances, Law, Linearises, build};
use crate::number::Number;
use crate::parameter::{Default, Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Queue> = Entry {
    name: "clcc",
    title: "CLCC: an integral controller of the decrease of classes that do not respond, on BAT or another AIMD",
    source: "Pletka, Kind, Waldvogel, Mannel, Closed-Loop Congestion Control for Mixed Responsive and Non-Responsive Traffic",
    colour: "#c4442f",
    parameters: &[
        Parameter {
            name: "inner",
            unit: Unit::Choice(&["bat", "aimd"]),
            default: Default::Is(0.0),
            least: 0.0,
            most: 1.0,
            what: "the AQM whose decrease it turns",
            source: "section I: BAT, and any other of increase and decrease",
        },
        INTERVAL,
        INCREASE,
        DECREASE,
        CORRECTION,
        COARSE,
        LOW,
        HIGH,
        GAIN,
        Parameter::number("period", Unit::Seconds, 1.0, [1e-3, 1e3], "time between two of its steps", "section IV"),
        Parameter::number(
            "beta_near",
            Unit::One,
            -0.1,
            BETA,
            "gain over the decrease where the error is small",
            "our choice: stable up to a plant of the tenth power; the paper says negative",
        ),
        Parameter::number(
            "beta_between",
            Unit::One,
            -0.25,
            BETA,
            "the same between the two edges",
            "our choice; the paper says larger for larger errors",
        ),
        Parameter::number(
            "beta_far",
            Unit::One,
            -0.5,
            BETA,
            "the same where the error is large",
            "our choice: 17 steps or less to within 5 % from a tenth and from ten times the decrease wanted",
        ),
        Parameter::number("edge_near", Unit::One, 0.1, [0.0, 1e3], "an error below this is small", "our choice"),
        Parameter::number("edge_far", Unit::One, 0.5, [0.0, 1e3], "an error of this or more is large", "our choice"),
        Parameter::number(
            "b1",
            Unit::One,
            0.0,
            [-10.0, 10.0],
            "weight of the error before, over the decrease",
            "(4); zero is a pure integral controller",
        ),
        Parameter::number(
            "b2",
            Unit::One,
            0.0,
            [-10.0, 10.0],
            "weight of the error before that, over the decrease",
            "(4); zero is no derivative part",
        ),
        Parameter::switch("bound", true, "keep the decrease below the bound of what is offered", "(7), figure 6"),
        Parameter::number(
            "least",
            Unit::One,
            1e-3,
            [1e-12, 1.0],
            "least decrease, as a share of the one at the start",
            "our choice: (7) says zero, where the law would stay",
        ),
        Parameter {
            name: "preemption",
            unit: Unit::Choice(&["hold", "decay", "none"]),
            default: Default::Is(0.0),
            least: 0.0,
            most: 2.0,
            what: "what becomes of the decrease while the class offers too little to have its share",
            source: "section IV-B: kept, or a tenth less each step",
        },
        Parameter::number("decay", Unit::One, 0.1, [0.0, 1.0], "what `decay` takes a step", "section IV-B"),
    ],
    linearises: Linearises::No(
        "the analysis is of one loop through the senders; this loop is a step map once a second around a law that switches",
    ),
    real: either,
    dual: None,
    fixed: None,
};

/// At -1 the factor of (6) could be zero.
const BETA: [f64; 2] = [-0.999, 0.0];

/// The measured ratio is at most so many times the reference.
pub const MOST_RATIO: f64 = 100.0;

/// What the other classes count with at least [bit/s].
pub const LEAST_OTHERS: f64 = 1e4;

/// Where a decrease without a bound ends, far beyond any meaning, so that it stays a number.
const MOST_DECREASE: f64 = 1e12;

fn either(values: &Values, site: &Site) -> Result<Box<dyn Instances<f64, Queue>>, String> {
    if values.number("inner") == 0.0 {
        return build::<f64, Clcc<Bat>>(values, site);
    }
    for unused in [COARSE, HIGH, GAIN] {
        if Default::Is(values.number(unused.name)) != unused.default {
            return Err(format!("`{}` belongs to `bat`; `aimd` does not read it", unused.name));
        }
    }
    build::<f64, Clcc<Plain>>(values, site)
}

/// A PID controller in increments: (4), `y_k = y_{k-1} + b_0 x_k + b_1 x_{k-1} + b_2 x_{k-2}`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pid<N> {
    /// Weight of the newest error.
    pub b0: N,
    /// Weight of the one before.
    pub b1: N,
    /// Weight of the one before that.
    pub b2: N,
}

impl<N: Number> Pid<N> {
    /// Of (3) with gain `k_r`, integration time `t_n` [s] and derivative time `t_v` [s], by backward differences over a
    /// step of `t` [s].
    pub fn of(k_r: N, t_n: N, t_v: N, t: N) -> Self {
        let (one, two) = (N::of(1.0), N::of(2.0));
        Self { b0: k_r * (one + t / t_n + t_v / t), b1: -k_r * (one + two * t_v / t), b2: k_r * t_v / t }
    }

    /// What is added to the output, for the errors now and before.
    #[must_use]
    pub fn change(&self, error: N, before: N, before_that: N) -> N {
        self.b0 * error + self.b1 * before + self.b2 * before_that
    }
}

/// The outer loop: what a measured ratio makes of a decrease.
#[derive(Debug, Clone, Copy)]
pub struct Outer<N> {
    /// Gains where the error is small, between the edges, and large.
    pub beta: [N; 3],
    /// Where an error stops being small, and where it begins to be large.
    pub edges: [N; 2],
    /// Weights of the errors before, over the decrease.
    pub before: [N; 2],
}

impl<N: Number> Outer<N> {
    /// The control error (5), in (-inf, 1].
    #[must_use]
    pub fn error(reference: N, ratio: N) -> N {
        (reference - ratio) / reference
    }

    /// One step of (6), `D_k = D_{k-1} (1 + beta x_k)`, with the other terms of (4) where they have weights: `errors` is
    /// the newest first. Not bounded yet.
    #[must_use]
    pub fn step(&self, decrease: N, errors: [N; 3]) -> N {
        let size = errors[0].max(-errors[0]);
        let zone = usize::from(size >= self.edges[0]) + usize::from(size >= self.edges[1]);
        let pid = Pid { b0: self.beta[zone], b1: self.before[0], b2: self.before[1] };
        decrease + decrease * pid.change(errors[0], errors[1], errors[2])
    }
}

/// What becomes of the decrease while a class offers too little.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preemption {
    Hold,
    Decay,
    None,
}

#[derive(Debug)]
struct Clcc<A> {
    inner: A,
    outer: Outer<f64>,
    /// Intervals of the inner law in a period.
    intervals: u32,
    period_s: f64,
    bound: bool,
    least: f64,
    preemption: Preemption,
    decay: f64,
    /// [packets/s]
    least_others: f64,
    /// By class; none is left to the inner law.
    steered: Vec<Option<Steered>>,
}

/// What a class is held to.
#[derive(Debug, Clone, Copy)]
struct Steered {
    share: f64,
    /// [packets/s]
    floor: f64,
}

/// What is remembered of a class.
#[derive(Debug, Clone, Copy)]
struct State<N> {
    inner: bat::State<N>,
    decrease: N,
    ratio: N,
    /// Intervals since the last step.
    since: u32,
    /// Sums since the last step [packets]: of this class, of all.
    arrived: N,
    all_arrived: N,
    departed: N,
    all_departed: N,
    /// The last two errors, the newer first.
    errors: [N; 2],
}

impl<N> Fields<N> for State<N> {
    const NAMES: &'static [(&'static str, &'static str)] =
        &[("transmit", "1"), ("offered", "packets/s"), ("excess", "1"), ("decrease", "1"), ("ratio", "1")];
    fn each(&mut self, f: &mut dyn FnMut(&mut N)) {
        self.inner.each(f);
        f(&mut self.decrease);
        f(&mut self.ratio);
    }
}

impl<A: Aimd> Clcc<A> {
    /// The period is over.
    fn control(&self, s: &mut State<f64>, seen: &Port<f64>, steered: Steered) {
        let Steered { share, floor } = steered;
        let reference = share / (1.0 - share);
        let others = (s.all_departed - s.departed) / self.period_s;
        let served = s.departed / self.period_s;
        let (offered, all_offered) = (s.arrived / self.period_s, s.all_arrived / self.period_s);
        if s.all_departed <= 0.0 {
            return;
        }
        s.ratio = (served / others.max(self.least_others)).min(MOST_RATIO * reference);
        let error = Outer::error(reference, s.ratio);
        // Where even a probability of one cannot give the share, or the floor lets everything in.
        let preempted = self.preemption != Preemption::None && (offered < seen.capacity * share || offered < floor);
        let decrease = match self.preemption {
            Preemption::Hold if preempted => s.decrease,
            Preemption::Decay if preempted => s.decrease * (1.0 - self.decay),
            _ => self.outer.step(s.decrease, [error, s.errors[0], s.errors[1]]),
        };
        s.errors = [error, s.errors[0]];
        let start = self.inner.decrease(s.inner.class);
        let most = if self.bound { self.inner.bound(all_offered) } else { None };
        s.decrease = decrease.max(self.least * start).min(most.unwrap_or(MOST_DECREASE));
    }
}

impl<A: Aimd> Law<f64> for Clcc<A> {
    type Role = Queue;
    type State = State<f64>;

    fn compile(values: &Values, site: &Site) -> Result<Self, String> {
        let inner = A::compile(values, site)?;
        let classes = bat::classes(site);
        let steered = |class: &super::Class| {
            class.share.map(|share| {
                if share > 0.0 && share < 1.0 {
                    Ok(Steered { share, floor: class.floor.packets_per_s(site.packet) })
                } else {
                    Err(format!("a share of {share} leaves nothing to steer: it must be above 0 and below 1"))
                }
            })
        };
        let steered =
            classes.iter().map(|class| steered(class).transpose()).collect::<Result<Vec<Option<Steered>>, String>>()?;
        if !site.classes.is_empty() && steered.iter().all(Option::is_none) {
            return Err("no class whose flows cross the link has a `share` that it could be held to".into());
        }
        if steered.iter().all(Option::is_some) {
            return Err(
                "every class has a `share`; leave it out for those that respond, which take what is left".into()
            );
        }
        let edges = [values.number("edge_near"), values.number("edge_far")];
        if edges[0] > edges[1] {
            return Err(format!("`edge_near`, {}, is above `edge_far`, {}", edges[0], edges[1]));
        }
        let (interval, period_s) = (inner.interval_s(), values.number("period"));
        let intervals = libm::round(period_s / interval);
        if intervals < 1.0 || (intervals * interval / period_s - 1.0).abs() > 1e-9 || intervals > f64::from(u32::MAX) {
            return Err(format!("`period`, {period_s} s, is not a whole number of intervals of {interval} s"));
        }
        Ok(Self {
            inner,
            outer: Outer {
                beta: ["beta_near", "beta_between", "beta_far"].map(|name| values.number(name)),
                edges,
                before: ["b1", "b2"].map(|name| values.number(name)),
            },
            intervals: intervals as u32,
            period_s,
            bound: values.switch("bound"),
            least: values.number("least"),
            preemption: match values.number("preemption") as u32 {
                0 => Preemption::Hold,
                1 => Preemption::Decay,
                _ => Preemption::None,
            },
            decay: values.number("decay"),
            least_others: LEAST_OTHERS / site.packet.bits(),
            steered,
        })
    }

    fn start(&self) -> State<f64> {
        self.start_at(0)
    }

    fn start_at(&self, instance: usize) -> State<f64> {
        State {
            inner: bat::State::of(instance),
            decrease: self.inner.decrease(instance),
            ratio: 0.0,
            since: 0,
            arrived: 0.0,
            all_arrived: 0.0,
            departed: 0.0,
            all_departed: 0.0,
            errors: [0.0; 2],
        }
    }

    #[inline]
    fn on(&self, s: &mut State<f64>, event: Event, seen: &Port<f64>) {
        if event != Event::Tick {
            return;
        }
        self.inner.step(&mut s.inner, s.decrease, seen);
        let Some(steered) = self.steered[s.inner.class] else { return };
        s.arrived += seen.arrived;
        s.all_arrived += seen.all_arrived;
        s.departed += seen.departed;
        s.all_departed += seen.all_departed;
        s.since += 1;
        if s.since == self.intervals {
            self.control(s, seen, steered);
            (s.since, s.arrived, s.all_arrived, s.departed, s.all_departed) = (0, 0.0, 0.0, 0.0, 0.0);
        }
    }

    #[inline]
    fn says(&self, s: &State<f64>, _: &Port<f64>) -> Chance<f64> {
        Chance { probability: 1.0 - s.inner.transmit, price_s: 0.0 }
    }

    fn needs(&self) -> Needs {
        self.inner.needs()
    }
}

#[cfg(test)]
mod tests;
