//! BAT: each class of traffic has a transmit probability, moved by increases while bandwidth is spare and by decreases
//! in proportion to the offered load of the class.
//!
//! Source: Pletka, Kind, Waldvogel, Mannel, "Closed-Loop Congestion Control for Mixed Responsive and Non-Responsive
//! Traffic", section III and equation (1); the scheme is that of Bowen, Jeffries, Kencl, Kind, Pletka, "Bandwidth
//! Allocation for Non-Responsive Flows with Active Queue Management", Int. Zurich Seminar 2002. The size of the increase
//! is in the form that the claims of US patent 6,701,389 give: in proportion to `S + f_min - sum f_min`.
//! Differs, where the paper is silent or its print cannot be meant:
//! - The excess bandwidth signal is one where the queue is short (bandwidth is available), or below a second, higher
//!   level and shorter than an interval ago (it soon will be). The paper gives only the words in brackets.
//! - With `excess = "rate"` it is one where the sum of `T O` over all classes is below a threshold: the claims of the
//!   patent compare the flow rate of the queue, transmit fractions times offered rates, with one threshold, and average
//!   that bit. They give no value.
//! - A class without a guarantee skips the first line of (1): as printed, every interval without arrivals would push the
//!   probability of a slow class to one.
//! - `1 - D O` is at least zero.
//! - Rates are in units of the line's: `decrease` is D times the rate of the line, without a unit.
//!
//! Symbols of the paper: T `transmit`, O `offered`, B and its average `excess`, C `increase`, D `decrease`, w `coarse`,
//! f_min and f_max the floor and the ceiling of a class, S the rate of the line.
//!
//! Kernel implementation: `bpf/law/bat.h`, held equal bit for bit by `vectors/bat.txt`.
//!
//! Non-responsive classes settle where `f_i = (C_i / D_i) b^2 / (1 - b)`, with b the share of intervals with B = 1: equal
//! constants give equal rates, and C/D is the weight of a class.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Aqm, Class, Context, Decides, Event, Observation, Output, Requirements};
use crate::law::{Entry, Instances, Law, Linearisation, Observables, build};
use crate::number::{Fix, Number};
use crate::numbers;
use crate::parameter::{Default, Parameter, Unit, Values};
use crate::quantity::Rate;

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "bat",
    title: "BAT: transmit probabilities for each class, adapted to the spare bandwidth and the offered load",
    source: "Pletka, Kind, Waldvogel, Mannel, Closed-Loop Congestion Control for Mixed Responsive and Non-Responsive Traffic",
    colour: "#8c6d1f",
    parameters: &[INTERVAL, INCREASE, DECREASE, CORRECTION, COARSE, LOW, HIGH, GAIN, EXCESS, THRESHOLD],
    observables: Observables::of::<Alone<Bat<f64>>>(),
    linearisation: Linearisation::Unsupported(
        "it switches between increase and decrease in each interval, depending on the queue",
    ),
    real: &build::<f64, Alone<Bat<f64>>>,
    dual: None,
    fixed: Some(&in_kernel_arithmetic),
    kernel: None,
};

pub(super) const INTERVAL: Parameter = Parameter::number(
    "interval",
    Unit::Seconds,
    0.004,
    [1e-6, 1.0],
    "time between two updates of the transmit probabilities",
    "section III-B",
);
pub(super) const INCREASE: Parameter = Parameter::number(
    "increase",
    Unit::One,
    0.0625,
    [1e-9, 1.0],
    "fine increase per interval, C, of a class for which the floors of the others leave the whole line",
    "our choice: a sixteenth",
);
pub(super) const DECREASE: Parameter = Parameter::number(
    "decrease",
    Unit::One,
    0.03125,
    [1e-9, 1.0],
    "fine decrease per interval for a class that offers the line's rate: D times the line's rate",
    "our choice: it keeps a busy line full",
);
pub(super) const CORRECTION: Parameter = Parameter::number(
    "correction",
    Unit::One,
    1.0,
    [1e-6, 1e6],
    "factor on the decrease of the classes that have a `share`",
    "section III-D and figure 4, as a constant",
);
pub(super) const COARSE: Parameter = Parameter::number(
    "coarse",
    Unit::One,
    0.0625,
    [1e-9, 1.0],
    "step towards the guaranteed interval, w",
    "our choice: equal to the largest fine increase",
);
pub(super) const LOW: Parameter = Parameter::number(
    "low",
    Unit::Seconds,
    0.0024,
    [0.0, 1e3],
    "a queue that drains within this time is short: bandwidth is available",
    "our choice: a tenth of a buffer of 24 ms",
);
pub(super) const HIGH: Parameter = Parameter::number(
    "high",
    Unit::Seconds,
    0.012,
    [0.0, 1e3],
    "a shrinking queue below this means that bandwidth is soon available",
    "our choice: half of a buffer of 24 ms",
);
pub(super) const GAIN: Parameter = Parameter::number(
    "gain",
    Unit::One,
    0.125,
    [1e-6, 1.0],
    "weight of the newest bit in the average of the excess bandwidth signal",
    "our choice: it averages over 32 ms; shares are the same for 1/32 to 1",
);

pub(super) const EXCESS: Parameter = Parameter::choice(
    "excess",
    &["queue", "rate"],
    "sign that bandwidth is left over: a short queue, or a low rate of the packets let into it",
    "section III-A has neither; claims 1 to 4 of US patent 6,701,389 have the rate",
);
pub(super) const THRESHOLD: Parameter = Parameter::number(
    "threshold",
    Unit::One,
    0.95,
    [1e-3, 10.0],
    "with `excess = \"rate\"`: below this share of the line's rate, bandwidth is available",
    "our choice: the patent has no value; a twentieth of the line keeps the queue short",
);

/// In the kernel's arithmetic: only the part with a kernel implementation.
fn in_kernel_arithmetic(values: &Values, context: &Context) -> Result<Box<dyn Instances<Fix<32>, Aqm>>, String> {
    kernel_has(values)?;
    build::<Fix<32>, Alone<Bat<Fix<32>>>>(values, context)
}

/// Checks that the kernel implementation, `bpf/law/bat.h`, supports these values.
///
/// # Errors
/// Names the missing part.
pub fn kernel_has(values: &Values) -> Result<(), String> {
    if values.number(EXCESS.name) == 0.0 {
        Ok(())
    } else {
        Err("`excess`: the kernel implementation has `queue` only".into())
    }
}

/// Refuses parameters that are given but not read with this choice of `excess`.
fn check_excess(values: &Values) -> Result<(), String> {
    let (unread, read): (&[Parameter], _) =
        if values.number(EXCESS.name) == 0.0 { (&[THRESHOLD], "rate") } else { (&[LOW, HIGH], "queue") };
    match unread.iter().find(|parameter| Default::Is(values.number(parameter.name)) != parameter.default) {
        Some(parameter) => Err(format!("`{}` has an effect with `excess = \"{read}\"` only", parameter.name)),
        None => Ok(()),
    }
}

numbers! {
    /// The state of a class.
    pub struct State {
        /// T of the paper: probability that the queue accepts an arriving packet of the class.
        transmit: "1" as "Transmit probability, T",
        /// O of the paper: the rate at which packets of the class arrived in the last interval.
        offered: "packets/s" as "Offered load, O",
        /// Average of the excess bandwidth signal, 0 to 1.
        excess: "1" as "Excess bandwidth signal",
    }
    frozen {
        /// Which class it is.
        class: usize,
        /// The queue at the end of the last interval [packets].
        queue: N,
    }
}

impl<N: Number> State<N> {
    /// Before the first event of that class.
    pub fn of(class: usize) -> Self {
        let zero = N::of(0.0);
        Self { transmit: N::of(1.0), offered: zero, excess: zero, class, queue: zero }
    }
}

/// A law of transmit probabilities with an increase and a decrease for each class: the inner law of [`Clcc`](super::clcc).
pub trait Aimd<N: Number>: Sized + core::fmt::Debug + Send + Sync + 'static {
    /// Compiles parameters.
    ///
    /// # Errors
    /// Names the parameters that contradict each other, or the contracts of classes that exceed the line.
    fn compile(values: &Values, context: &Context) -> Result<Self, String>;
    /// The interval between updates of the probabilities [s].
    fn interval_s(&self) -> f64;
    /// The decrease of a class at the start.
    fn decrease(&self, class: usize) -> N;
    /// The largest decrease that leaves every probability where it is or above zero, if all classes together offered
    /// `offered` [packets/s] of late: equation (7). None where nothing was offered.
    fn bound(&self, offered: N) -> Option<N>;
    /// An interval went by.
    fn step(&self, s: &mut State<N>, decrease: N, observation: &Observation<N>);
    /// Its requirements.
    fn requirements(&self) -> Requirements {
        Requirements {
            tick_s: Some(self.interval_s()),
            decides: Decides::OnArrival,
            bytes: true,
            classes: true,
            ..Requirements::LEAST
        }
    }
}

/// Such a law with the decreases that it was given.
#[derive(Debug)]
pub struct Alone<A>(pub A);

impl<N: Number, A: Aimd<N>> Law<N> for Alone<A> {
    type Role = Aqm;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        A::compile(values, context).map(Self)
    }

    fn initial_state(&self) -> State<N> {
        self.initial_state_of(0)
    }

    fn initial_state_of(&self, instance: usize) -> State<N> {
        State::of(instance)
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        if event == Event::Tick {
            self.0.step(s, self.0.decrease(s.class), observation);
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { probability: N::of(1.0) - s.transmit, price_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        self.0.requirements()
    }
}

/// The classes of a line; where nothing is known of them yet, one without a contract.
pub(super) fn classes(context: &Context) -> Vec<Class> {
    if context.classes.is_empty() { alloc::vec![Class::FREE] } else { context.classes.clone() }
}

/// BAT's constants.
#[derive(Debug)]
pub struct Bat<N> {
    interval_s: f64,
    /// Time between two updates [s]
    pub interval: N,
    /// w
    pub coarse: N,
    /// Bound of a short queue, and of one that shrinks soon [packets]
    pub low: N,
    /// The same for the second level [packets]
    pub high: N,
    /// Weight of the newest bit in the average of the excess bandwidth signal
    pub gain: N,
    /// With `excess = "rate"`: an interval that lets in less than this leaves bandwidth [packets]
    pub threshold: Option<N>,
    /// Capacity of the line at the start, S [packets/s]
    pub rate: N,
    /// By class
    pub classes: Vec<Constants<N>>,
    zero: N,
    one: N,
}

/// The constants of one class.
#[derive(Debug)]
pub struct Constants<N> {
    /// f_min; where there is none below zero, which nothing served is [packets/s]
    pub floor: N,
    /// f_max; where there is none beyond every rate [packets/s]
    pub ceiling: N,
    /// C
    pub increase: N,
    /// D times the rate of the line
    pub decrease: N,
}

impl<N: Number> Aimd<N> for Bat<N> {
    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let classes = classes(context);
        let floors: u64 = classes.iter().map(|class| class.floor.0).sum();
        if floors > context.rate.0 {
            return Err(format!(
                "the floors of its classes add up to {floors} bit/s, which is more than the line's {} bit/s",
                context.rate.0
            ));
        }
        check_excess(values)?;
        let rate = context.packets_per_s();
        let (low, high) = (values.number("low"), values.number("high"));
        if low > high {
            return Err(format!(
                "the queueing delays between which excess falls to zero: `low`, {low} s, is above `high`, {high} s"
            ));
        }
        let packets_per_s = |rate: Rate| N::of(rate.packets_per_s(context.packet));
        let constants = |class: &Class| Constants {
            floor: if class.floor.0 > 0 { packets_per_s(class.floor) } else { N::of(-1.0) },
            ceiling: class.ceiling.map_or(N::of(f64::INFINITY), packets_per_s),
            // The patent's form; exact in integers, so that floors of the whole line leave exactly the own one.
            increase: N::of(
                values.number("increase") * (context.rate.0 + class.floor.0 - floors) as f64 / context.rate.0 as f64,
            ),
            decrease: N::of(corrected(values, class)),
        };
        Ok(Self {
            interval_s: values.number("interval"),
            interval: N::of(values.number("interval")),
            coarse: N::of(values.number("coarse")),
            low: N::of(low * rate),
            high: N::of(high * rate),
            gain: N::of(values.number("gain")),
            threshold: (values.number("excess") == 1.0)
                .then(|| N::of(values.number("threshold") * rate * values.number("interval"))),
            rate: N::of(rate),
            classes: classes.iter().map(constants).collect(),
            zero: N::of(0.0),
            one: N::of(1.0),
        })
    }

    fn interval_s(&self) -> f64 {
        self.interval_s
    }

    fn decrease(&self, class: usize) -> N {
        self.classes[class].decrease
    }

    fn bound(&self, offered: N) -> Option<N> {
        (offered > self.zero).then(|| self.rate / offered)
    }

    #[inline]
    fn step(&self, s: &mut State<N>, decrease: N, observation: &Observation<N>) {
        let own = &self.classes[s.class];
        let excess = match self.threshold {
            None => observation.queue <= self.low || (observation.queue < self.high && observation.queue < s.queue),
            Some(threshold) => observation.all_let_in < threshold,
        };
        s.queue = observation.queue;
        s.excess = s.excess + self.gain * (if excess { self.one } else { self.zero } - s.excess);
        s.offered = observation.arrived / self.interval;
        let served = s.transmit * s.offered;
        // (1), in the printed order: the bit decides, its average is the size of the step.
        s.transmit = if served <= own.floor {
            (s.transmit + self.coarse).min(self.one)
        } else if served > own.ceiling {
            s.transmit * (self.one - self.coarse)
        } else if excess {
            (s.transmit + own.increase * s.excess).min(self.one)
        } else {
            s.transmit * (self.one - decrease * s.offered / self.rate).max(self.zero)
        };
    }
}

/// The decrease of a class, with the correction of those that have a share.
pub(super) fn corrected(values: &Values, class: &Class) -> f64 {
    let correction = if class.share.is_some() { values.number("correction") } else { 1.0 };
    values.number("decrease") * correction
}

#[cfg(test)]
pub(in crate::aqm) mod tests;
