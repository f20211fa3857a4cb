//! CLCC's outer loop: the measurements of a period, and the decrease that follows from them. [`super`] has the source and the deviations.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::aqm::bat::{self, Aimd};
use crate::aqm::{Class, Context, Observation};
use crate::number::Number;
use crate::parameter::Values;

/// The measured ratio is at most so many times the reference.
pub const MOST_RATIO: f64 = 100.0;

/// The least rate that the other classes count with [bit/s].
pub const LEAST_OTHERS: f64 = 1e4;

/// The end of a decrease without a bound, far beyond any meaning, so that it stays a number.
const MOST_DECREASE: f64 = 1e12;

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

    /// The change of the output, for the errors now and before.
    #[must_use]
    pub fn change(&self, error: N, before: N, before_that: N) -> N {
        self.b0 * error + self.b1 * before + self.b2 * before_that
    }
}

/// The outer loop: the decrease as a function of the measured ratio.
#[derive(Debug, Clone, Copy)]
pub struct Outer<N> {
    /// Gains for a small error, for one between the bounds, and for a large one.
    pub beta: [N; 3],
    /// The upper bound of a small error, and the lower bound of a large one.
    pub thresholds: [N; 2],
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
        let zone = usize::from(size >= self.thresholds[0]) + usize::from(size >= self.thresholds[1]);
        let pid = Pid { b0: self.beta[zone], b1: self.before[0], b2: self.before[1] };
        decrease + decrease * pid.change(errors[0], errors[1], errors[2])
    }
}

/// The treatment of the decrease while a class offers too little.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preemption {
    /// It is kept.
    Hold,
    /// It shrinks.
    Decay,
    /// As in (6).
    None,
    /// It is zero, so that nothing more of the class is dropped, and its value before is kept for the time after.
    Zero,
}

/// The settings that steer every class.
#[derive(Debug)]
pub struct Steering<N> {
    /// The step
    pub outer: Outer<N>,
    pub(super) period_s: f64,
    /// Time between two steps [s]
    pub period: N,
    /// True if the decrease is kept below the bound of the offered load, (7)
    pub bound: bool,
    /// The treatment of the decrease while a class offers too little
    pub preemption: Preemption,
    /// The share of the decrease that [`Preemption::Decay`] leaves
    pub left: N,
    /// The least rate that the other classes count with [packets/s]
    pub least_others: N,
    /// By class; none is left to the inner law
    pub steered: Vec<Option<Steered<N>>>,
}

/// The reference of a class.
#[derive(Debug, Clone, Copy)]
pub struct Steered<N> {
    /// Of the line
    pub share: N,
    /// The ratio of its service to that of the others
    pub reference: N,
    /// The ratio counts as this at most
    pub most_ratio: N,
    /// Its decrease at least
    pub least: N,
    /// f_min; zero where there is none [packets/s]
    pub floor: N,
}

/// The state of a class from one step to the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held<N> {
    /// In force.
    pub(super) decrease: N,
    /// The value that the loop continues from.
    pub(super) kept: N,
    pub(super) ratio: N,
    /// The last two errors, the newer first.
    pub(super) errors: [N; 2],
}

/// The sums of a period [packets]: of a class, of all.
#[derive(Debug, Clone, Copy)]
pub struct Sums<N> {
    /// Arrivals of the class
    pub arrived: N,
    /// Arrivals of all classes
    pub all_arrived: N,
    /// Departures of the class
    pub departed: N,
    /// Departures of all classes
    pub all_departed: N,
}

impl<N: Number> Sums<N> {
    pub(super) fn nothing() -> Self {
        let zero = N::of(0.0);
        Self { arrived: zero, all_arrived: zero, departed: zero, all_departed: zero }
    }

    pub(super) fn add(&mut self, observation: &Observation<N>) {
        self.arrived += observation.arrived;
        self.all_arrived += observation.all_arrived;
        self.departed += observation.departed;
        self.all_departed += observation.all_departed;
    }
}

/// The input of a step.
pub(super) struct Seen<N> {
    pub(super) sums: Sums<N>,
    /// Mean of the ratios of samples, where they were taken.
    pub(super) mean: Option<N>,
    /// Of the line [packets/s]
    pub(super) capacity: N,
}

/// Ratios of samples, and the sums of the present sample.
#[derive(Debug, Clone, Copy)]
pub struct Samples<N> {
    sums: Sums<N>,
    /// Intervals in the sample at hand.
    since: u32,
    /// Sum of the ratios, and how many.
    ratios: N,
    count: u32,
}

impl<N: Number> Samples<N> {
    /// None taken.
    #[must_use]
    pub fn nothing() -> Self {
        Self { sums: Sums::nothing(), since: 0, ratios: N::of(0.0), count: 0 }
    }

    /// Adds an interval to the present sample, which has `intervals` of them and the ratio by `of`, if any.
    pub(super) fn add(&mut self, observation: &Observation<N>, intervals: u32, of: impl FnOnce(&Sums<N>) -> Option<N>) {
        self.sums.add(observation);
        self.since += 1;
        if self.since == intervals {
            if let Some(ratio) = of(&self.sums) {
                self.ratios += ratio;
                self.count += 1;
            }
            (self.sums, self.since) = (Sums::nothing(), 0);
        }
    }

    /// Of the ratios; none where no sample had one.
    pub(super) fn mean(&self) -> Option<N> {
        (self.count > 0).then(|| self.ratios / N::of(f64::from(self.count)))
    }
}

impl<N: Number> Steering<N> {
    pub(super) fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let classes = bat::classes(context);
        let steered = |class: &Class| {
            class.share.map(|share| {
                if share > 0.0 && share < 1.0 {
                    let reference = share / (1.0 - share);
                    Ok(Steered {
                        share: N::of(share),
                        reference: N::of(reference),
                        most_ratio: N::of(MOST_RATIO * reference),
                        least: N::of(values.number("least") * bat::corrected(values, class)),
                        floor: N::of(class.floor.packets_per_s(context.packet)),
                    })
                } else {
                    Err(format!("a class has the `share` {share}; write one above 0 and below 1"))
                }
            })
        };
        let steered = classes
            .iter()
            .map(|class| steered(class).transpose())
            .collect::<Result<Vec<Option<Steered<N>>>, String>>()?;
        if !context.classes.is_empty() && steered.iter().all(Option::is_none) {
            return Err("no class whose flows cross the link has a `share` that it could be held to".into());
        }
        if steered.iter().all(Option::is_some) {
            return Err(
                "every class has a `share`; leave it out for those that respond, which take what is left".into()
            );
        }
        let thresholds = [values.number("edge_near"), values.number("edge_far")];
        if thresholds[0] > thresholds[1] {
            return Err(format!("`edge_near`, {}, is above `edge_far`, {}", thresholds[0], thresholds[1]));
        }
        Ok(Self {
            outer: Outer {
                beta: ["beta_near", "beta_between", "beta_far"].map(|name| N::of(values.number(name))),
                thresholds: thresholds.map(N::of),
                before: ["b1", "b2"].map(|name| N::of(values.number(name))),
            },
            period_s: values.number("period"),
            period: N::of(values.number("period")),
            bound: values.switch("bound"),
            preemption: match values.number("preemption") as u32 {
                0 => Preemption::Hold,
                1 => Preemption::Decay,
                2 => Preemption::None,
                _ => Preemption::Zero,
            },
            left: N::of(1.0 - values.number("decay")),
            least_others: N::of(LEAST_OTHERS / context.packet.bits()),
            steered,
        })
    }

    /// The ratio of a class's service to that of the others, over so long [s]; none if nothing was served.
    pub(super) fn ratio(&self, own: &Steered<N>, sums: &Sums<N>, length: N) -> Option<N> {
        let others = (sums.all_departed - sums.departed) / length;
        let served = sums.departed / length;
        (sums.all_departed > N::of(0.0)).then(|| (served / others.max(self.least_others)).min(own.most_ratio))
    }

    /// The end of a period: the next decrease of a class of the law `inner`.
    pub(super) fn turn<A: Aimd<N>>(&self, inner: &A, class: usize, held: Held<N>, seen: &Seen<N>) -> Held<N> {
        let Some(own) = &self.steered[class] else { return held };
        let Some(of_sums) = self.ratio(own, &seen.sums, self.period) else { return held };
        let ratio = seen.mean.unwrap_or(of_sums);
        let (offered, all_offered) = (seen.sums.arrived / self.period, seen.sums.all_arrived / self.period);
        let error = Outer::error(own.reference, ratio);
        // Where even a probability of one cannot give the share, or the floor lets everything in.
        let preempted =
            self.preemption != Preemption::None && (offered < seen.capacity * own.share || offered < own.floor);
        let kept = match self.preemption {
            Preemption::Hold | Preemption::Zero if preempted => held.kept,
            Preemption::Decay if preempted => held.kept * self.left,
            _ => self.outer.step(held.kept, [error, held.errors[0], held.errors[1]]),
        };
        let most = if self.bound { inner.bound(all_offered) } else { None };
        let kept = kept.max(own.least).min(most.unwrap_or(N::of(MOST_DECREASE)));
        let zero = preempted && self.preemption == Preemption::Zero;
        Held { decrease: if zero { N::of(0.0) } else { kept }, kept, ratio, errors: [error, held.errors[0]] }
    }
}
