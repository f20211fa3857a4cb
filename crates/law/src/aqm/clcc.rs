//! CLCC: a slow integral controller that turns the decrease of a non-responsive class until the ratio of its service to
//! that of the others follows a reference.
//!
//! Source: Pletka, Kind, Waldvogel, Mannel, "Closed-Loop Congestion Control for Mixed Responsive and Non-Responsive
//! Traffic", section IV: equations (3) to (7) and figure 5, of which only the text is left.
//! Differs, where the paper is silent, contradicts itself or its print cannot be meant:
//! - (6) is printed with `r_ref - r_k - 1`; the last is an index, `r_{k-1}`: a constant would leave a lasting error.
//! - The lower bound of (7) is zero, which the law could never leave. It is a share of the decrease at the start here.
//! - For preemption the text keeps the decrease, twice, and lets it fall by a tenth a step, once. `preemption` has
//!   both, neither, and zero, which section IV-B discusses and rejects. After zero the loop goes on from the last
//!   decrease above it: (6) could not leave zero.
//! - Values and bounds of the three zones of beta were in figure 5.
//! - The ratio is that of the sums over a second. `ratio = "mean"` is the paper's average of the ratios of 100 ms.
//! - It is at most [`MOST_RATIO`] times the reference, and the others count with at least [`LEAST_OTHERS`], so that one
//!   second without them is one large step, not an infinite one.
//! - Any class with a `share` is steered, each by a controller of its own, to `share / (1 - share)`; at least one class
//!   must be left to give way.
//!
//! Kernel implementation: `bpf/law/clcc.h` (around BAT), held equal bit for bit by `vectors/clcc.txt`.
//!
//! Symbols of the paper: D `decrease`, r `ratio`, r_ref `reference`, x_d `error`, beta and b_0, b_1, b_2.

mod steering;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

pub use steering::{LEAST_OTHERS, MOST_RATIO, Outer, Pid, Preemption, Samples, Steered, Steering, Sums};

use steering::{Held, Seen};

use super::aimd::Plain;
use super::bat::{
    self, Aimd, Bat, COARSE, CORRECTION, DECREASE, EXCESS, GAIN, HIGH, INCREASE, INTERVAL, LOW, THRESHOLD,
};
use super::{Aqm, Context, Event, Observation, Output, Requirements};
use crate::law::{Entry, Fields, Instances, Law, Linearisation, Observables, build};
use crate::number::{Dual, Fix, Number};
use crate::numbers;
use crate::parameter::{Default, Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "clcc",
    title: "CLCC: an integral controller that sets the decrease constant of unresponsive classes, on top of BAT or \
            another AIMD",
    source: "Pletka, Kind, Waldvogel, Mannel, Closed-Loop Congestion Control for Mixed Responsive and Non-Responsive Traffic",
    colour: "#c4442f",
    parameters: &[
        Parameter {
            name: "inner",
            unit: Unit::Choice(&["bat", "aimd"]),
            default: Default::Is(0.0),
            least: 0.0,
            most: 1.0,
            description: "the inner AQM, whose decrease it controls",
            source: "section I: BAT, or another AQM with increase and decrease",
        },
        INTERVAL,
        INCREASE,
        DECREASE,
        CORRECTION,
        COARSE,
        LOW,
        HIGH,
        GAIN,
        EXCESS,
        THRESHOLD,
        Parameter::number("period", Unit::Seconds, 1.0, [1e-3, 1e3], "time between two steps", "section IV"),
        RATIO,
        SAMPLE,
        Parameter::number(
            "beta_near",
            Unit::One,
            -0.1,
            BETA,
            "gain for a small error, over the decrease",
            "our choice: stable up to a plant of the tenth power; the paper requires a negative value",
        ),
        Parameter::number(
            "beta_between",
            Unit::One,
            -0.25,
            BETA,
            "the same for a medium error",
            "our choice; the paper recommends larger gains for larger errors",
        ),
        Parameter::number(
            "beta_far",
            Unit::One,
            -0.5,
            BETA,
            "the same for a large error",
            "our choice: at most 17 steps to within 5 %, from a tenth and from ten times the target decrease",
        ),
        Parameter::number("edge_near", Unit::One, 0.1, [0.0, 1e3], "an error below this is small", "our choice"),
        Parameter::number("edge_far", Unit::One, 0.5, [0.0, 1e3], "an error of this or more is large", "our choice"),
        Parameter::number(
            "b1",
            Unit::One,
            0.0,
            [-10.0, 10.0],
            "weight of the previous error, over the decrease",
            "(4); zero is a pure integral controller",
        ),
        Parameter::number(
            "b2",
            Unit::One,
            0.0,
            [-10.0, 10.0],
            "weight of the second last error, over the decrease",
            "(4); zero is no derivative part",
        ),
        Parameter::switch(
            "bound",
            true,
            "keep the decrease below the bound that follows from the offered \
             load",
            "(7), figure 6",
        ),
        Parameter::number(
            "least",
            Unit::One,
            1e-3,
            [1e-12, 1.0],
            "minimum decrease, as a share of the initial decrease",
            "our choice: (7) has zero, which the law could never leave",
        ),
        Parameter {
            name: "preemption",
            unit: Unit::Choice(&["hold", "decay", "none", "zero"]),
            default: Default::Is(0.0),
            least: 0.0,
            most: 3.0,
            description: "action on the decrease while the class offers too little for its share",
            source: "section IV-B: hold, or a tenth less per step; zero is argued against",
        },
        DECAY,
    ],
    observables: Observables::of::<Clcc<f64, Bat<f64>>>(),
    linearisation: Linearisation::Outer(
        "the step map of its outer loop, once per period; the plant is the response of the class ratio to the \
         decrease; the inner law switches",
    ),
    real: &either,
    dual: Some(&turns),
    fixed: Some(&in_kernel_arithmetic),
    kernel: None,
};

const RATIO: Parameter = Parameter::choice(
    "ratio",
    &["sums", "mean"],
    "the measured ratio: of the sums over a period, or the mean of the ratios of its samples",
    "section IV: measured every 100 ms and averaged over 1 s",
);
const SAMPLE: Parameter = Parameter::number(
    "sample",
    Unit::Seconds,
    0.1,
    [1e-6, 1e3],
    "time between two samples with `ratio = \"mean\"`",
    "section IV",
);

const DECAY: Parameter = Parameter::number(
    "decay",
    Unit::One,
    0.1,
    [0.0, 1.0],
    "relative decrease per step with \
     `decay`",
    "section IV-B",
);

/// At -1 the factor of (6) could be zero.
const BETA: [f64; 2] = [-0.999, 0.0];

fn either(values: &Values, context: &Context) -> Result<Box<dyn Instances<f64, Aqm>>, String> {
    if is_around_bat(values)? {
        build::<f64, Clcc<f64, Bat<f64>>>(values, context)
    } else {
        build::<f64, Clcc<f64, Plain<f64>>>(values, context)
    }
}

/// In the kernel's arithmetic: only the part with a kernel implementation.
fn in_kernel_arithmetic(values: &Values, context: &Context) -> Result<Box<dyn Instances<Fix<32>, Aqm>>, String> {
    kernel_has(values)?;
    build::<Fix<32>, Clcc<Fix<32>, Bat<Fix<32>>>>(values, context)
}

/// Checks that the kernel implementation, `bpf/law/clcc.h`, supports these values.
///
/// # Errors
/// Names the missing part.
pub fn kernel_has(values: &Values) -> Result<(), String> {
    bat::kernel_has(values)?;
    if values.number("inner") != 0.0 {
        return Err("`inner`: the kernel implementation is around `bat` only".into());
    }
    if values.number("preemption") == 3.0 {
        return Err("`preemption`: the kernel implementation has `hold`, `decay` and `none` only".into());
    }
    if values.number(RATIO.name) != 0.0 {
        return Err("`ratio`: the kernel implementation has `sums` only".into());
    }
    Ok(())
}

/// The outer loop alone, for the stability analysis.
fn turns(values: &Values, context: &Context) -> Result<Box<dyn Instances<Dual, Aqm>>, String> {
    if is_around_bat(values)? {
        build::<Dual, Turns<Dual, Bat<Dual>>>(values, context)
    } else {
        build::<Dual, Turns<Dual, Plain<Dual>>>(values, context)
    }
}

fn is_around_bat(values: &Values) -> Result<bool, String> {
    if values.number("inner") == 0.0 {
        return Ok(true);
    }
    for unused in [COARSE, HIGH, GAIN, EXCESS, THRESHOLD] {
        if Default::Is(values.number(unused.name)) != unused.default {
            return Err(format!(
                "`{}` has an effect with `inner = \"bat\"` only, not with `aimd`; leave it out",
                unused.name
            ));
        }
    }
    Ok(false)
}

/// The law: the outer loop around an inner one.
#[derive(Debug)]
pub struct Clcc<N, A> {
    /// The inner law
    pub inner: A,
    /// The outer loop
    pub steering: Steering<N>,
    /// Intervals of the inner law in a period
    pub intervals: u32,
    /// Those in a sample, where the ratio is a mean of samples
    pub sample: Option<u32>,
}

/// The state of a class.
#[derive(Debug, Clone, Copy)]
pub struct State<N> {
    /// By the inner law
    pub inner: bat::State<N>,
    /// The decrease in force
    pub decrease: N,
    /// The decrease that the loop goes on from: the one in force, but where preemption makes that zero
    pub kept: N,
    /// The last ratio
    pub ratio: N,
    /// The last two errors, the newer first
    pub errors: [N; 2],
    /// Intervals since the last step
    pub since: u32,
    /// Their sums
    pub sums: Sums<N>,
    /// Ratios of samples since the last step
    pub samples: Samples<N>,
}

impl<N> Fields<N> for State<N> {
    const NAMES: &'static [(&'static str, &'static str)] =
        &[("transmit", "1"), ("offered", "packets/s"), ("excess", "1"), ("decrease", "1"), ("ratio", "1")];
    const WORDS: &'static [(&'static str, &'static str)] = {
        let [transmit, offered, excess] = *bat::State::<f64>::WORDS.first_chunk::<3>().expect("BAT has three numbers");
        let decrease = (
            "Decrease constant",
            "Decrease of the class's transmit probability in the inner law, set by the outer loop.",
        );
        let ratio = (
            "Ratio of classes",
            "Service of the class over the service of the other classes, in the last \
             period.",
        );
        &[transmit, offered, excess, decrease, ratio]
    };
    fn each(&mut self, f: &mut dyn FnMut(&mut N)) {
        self.inner.each(f);
        f(&mut self.decrease);
        f(&mut self.ratio);
    }
}

/// The ratio of one parameter's time to that of another.
fn times(long: (&str, f64), short: (&str, f64)) -> Result<u32, String> {
    let times = libm::round(long.1 / short.1);
    if times < 1.0 || (times * short.1 / long.1 - 1.0).abs() > 1e-9 || times > f64::from(u32::MAX) {
        return Err(format!("`{}`, {} s, is not a whole multiple of `{}`, {} s", long.0, long.1, short.0, short.1));
    }
    Ok(times as u32)
}

/// The number of the inner law's intervals in a period.
fn intervals_of(interval: f64, period_s: f64) -> Result<u32, String> {
    times(("period", period_s), ("interval", interval))
}

/// The number of the inner law's intervals in a sample of the ratio, if the ratio is a mean of samples.
fn sample_of(values: &Values, interval: f64, period_s: f64) -> Result<Option<u32>, String> {
    let sample = values.number(SAMPLE.name);
    if values.number(RATIO.name) == 0.0 {
        return if Default::Is(sample) == SAMPLE.default {
            Ok(None)
        } else {
            Err("`sample` has an effect with `ratio = \"mean\"` only".into())
        };
    }
    times(("period", period_s), (SAMPLE.name, sample))?;
    times((SAMPLE.name, sample), ("interval", interval)).map(Some)
}

impl<N: Number, A: Aimd<N>> Law<N> for Clcc<N, A> {
    type Role = Aqm;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let inner = A::compile(values, context)?;
        if values.number("preemption") != 1.0 && Default::Is(values.number(DECAY.name)) != DECAY.default {
            return Err("`decay` has an effect with `preemption = \"decay\"` only".into());
        }
        let steering = Steering::compile(values, context)?;
        let intervals = intervals_of(inner.interval_s(), steering.period_s)?;
        let sample = sample_of(values, inner.interval_s(), steering.period_s)?;
        Ok(Self { inner, steering, intervals, sample })
    }

    fn initial_state(&self) -> State<N> {
        self.initial_state_of(0)
    }

    fn initial_state_of(&self, instance: usize) -> State<N> {
        State {
            inner: bat::State::of(instance),
            decrease: self.inner.decrease(instance),
            kept: self.inner.decrease(instance),
            ratio: N::of(0.0),
            errors: [N::of(0.0); 2],
            since: 0,
            sums: Sums::nothing(),
            samples: Samples::nothing(),
        }
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        if event != Event::Tick {
            return;
        }
        self.inner.step(&mut s.inner, s.decrease, observation);
        let Some(own) = &self.steering.steered[s.inner.class] else { return };
        s.sums.add(observation);
        if let Some(sample) = self.sample {
            let length = N::of(self.inner.interval_s() * f64::from(sample));
            s.samples.add(observation, sample, |sums| self.steering.ratio(own, sums, length));
        }
        s.since += 1;
        if s.since == self.intervals {
            let held = Held { decrease: s.decrease, kept: s.kept, ratio: s.ratio, errors: s.errors };
            let seen = Seen { sums: s.sums, mean: s.samples.mean(), capacity: observation.capacity };
            let held = self.steering.turn(&self.inner, s.inner.class, held, &seen);
            (s.decrease, s.kept, s.ratio, s.errors) = (held.decrease, held.kept, held.ratio, held.errors);
            (s.since, s.sums, s.samples) = (0, Sums::nothing(), Samples::nothing());
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { probability: N::of(1.0) - s.inner.transmit, price_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        self.inner.requirements()
    }
}

/// The outer loop without the law inside it: a tick is a whole period of its own, and its observation is that of the
/// period.
#[derive(Debug)]
struct Turns<N, A> {
    inner: A,
    steering: Steering<N>,
}

numbers! {
    /// The state of the outer loop for a class.
    struct Turned {
        /// The decrease.
        decrease: "1",
        /// The last ratio.
        ratio: "1",
        /// The last error.
        error: "1",
        /// The one before.
        error_before: "1",
    }
    frozen {
        /// Which class it is.
        class: usize,
    }
}

impl<N: Number, A: Aimd<N>> Law<N> for Turns<N, A> {
    type Role = Aqm;
    type State = Turned<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let inner = A::compile(values, context)?;
        let steering: Steering<N> = Steering::compile(values, context)?;
        intervals_of(inner.interval_s(), steering.period_s)?;
        Ok(Self { inner, steering })
    }

    fn initial_state(&self) -> Turned<N> {
        self.initial_state_of(0)
    }

    fn initial_state_of(&self, instance: usize) -> Turned<N> {
        let zero = N::of(0.0);
        let decrease = self.inner.decrease(instance);
        Turned { decrease, ratio: zero, error: zero, error_before: zero, class: instance }
    }

    fn on_event(&self, s: &mut Turned<N>, event: Event, observation: &Observation<N>) {
        if event != Event::Tick {
            return;
        }
        let mut sums = Sums::nothing();
        sums.add(observation);
        let held = Held { decrease: s.decrease, kept: s.decrease, ratio: s.ratio, errors: [s.error, s.error_before] };
        // A mean of samples is the ratio of the sums where all samples of a period are equal, as at an equilibrium.
        let held =
            self.steering.turn(&self.inner, s.class, held, &Seen { sums, mean: None, capacity: observation.capacity });
        (s.decrease, s.ratio, [s.error, s.error_before]) = (held.kept, held.ratio, held.errors);
    }

    /// Nothing: the inner law decides on packets.
    fn output(&self, _: &Turned<N>, _: &Observation<N>) -> Output<N> {
        Output { probability: N::of(0.0), price_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        Requirements { tick_s: Some(self.steering.period_s), classes: true, bytes: true, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests;
