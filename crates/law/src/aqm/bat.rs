//! BAT: each class of traffic has a transmit probability, moved by increases while bandwidth is spare and by decreases
//! in proportion to what the class offers.
//!
//! Source: Pletka, Kind, Waldvogel, Mannel, "Closed-Loop Congestion Control for Mixed Responsive and Non-Responsive
//! Traffic", section III and equation (1); the scheme is that of Bowen, Jeffries, Kencl, Kind, Pletka, "Bandwidth
//! Allocation for Non-Responsive Flows with Active Queue Management", Int. Zurich Seminar 2002. The size of the increase
//! is in the form that the claims of US patent 6,701,389 give: in proportion to `S + f_min - sum f_min`.
//! Differs, where the paper is silent or cannot mean what it prints:
//! - The excess bandwidth signal is one where the queue is short (bandwidth is available), or below a second, higher
//!   level and shorter than an interval ago (it soon will be). The paper says no more than the words in brackets.
//! - A class without a guarantee skips the first line of (1): as printed, every interval without arrivals would push the
//!   probability of a slow class to one.
//! - `1 - D O` is at least zero.
//! - Rates are in units of the line's: `decrease` is D times the rate of the line, without a unit.
//!
//! Symbols of the paper: T `transmit`, O `offered`, B and its average `excess`, C `increase`, D `decrease`, w `coarse`,
//! f_min and f_max the floor and the ceiling of a class, S the rate of the line.
//!
//! Non-responsive classes settle where `f_i = (C_i / D_i) b^2 / (1 - b)`, with b the share of intervals with B = 1: equal
//! constants give equal rates, and C/D is the weight of a class.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Chance, Class, Decides, Event, Needs, Port, Queue, Site};
use crate::law::{Entry, Law, Linearises, build};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Queue> = Entry {
    name: "bat",
    title: "BAT: transmit probabilities by class, moved by what is spare and what is offered",
    source: "Pletka, Kind, Waldvogel, Mannel, Closed-Loop Congestion Control for Mixed Responsive and Non-Responsive Traffic",
    colour: "#8c6d1f",
    parameters: &[INTERVAL, INCREASE, DECREASE, CORRECTION, COARSE, LOW, HIGH, GAIN],
    linearises: Linearises::No("it switches between increase and decrease at each interval, by where the queue is"),
    real: build::<f64, Alone<Bat>>,
    dual: None,
    fixed: None,
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
    "fine increase an interval, C, of a class whose floors leave it the whole line",
    "our choice: with the decrease, the least power of two at which the wind-up of figure 6 exists",
);
pub(super) const DECREASE: Parameter = Parameter::number(
    "decrease",
    Unit::One,
    0.03125,
    [1e-9, 1.0],
    "fine decrease an interval of a class that offers what the line carries, D times the line's rate",
    "our choice: it leaves a busy line full",
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
    "a queue that the line empties in this time, or less, is short: bandwidth is available",
    "our choice: a tenth of a buffer of 24 ms",
);
pub(super) const HIGH: Parameter = Parameter::number(
    "high",
    Unit::Seconds,
    0.012,
    [0.0, 1e3],
    "below this a queue that shrinks counts as bandwidth soon available",
    "our choice: half of a buffer of 24 ms",
);
pub(super) const GAIN: Parameter = Parameter::number(
    "gain",
    Unit::One,
    0.125,
    [1e-6, 1.0],
    "weight of the newest bit in the average of the excess bandwidth signal",
    "our choice: it averages over 32 ms; 1/32 to 1 leave shares as they are",
);

numbers! {
    /// What is remembered of a class.
    pub(super) struct State {
        /// Probability that an arriving packet is let in, T.
        transmit: "1",
        /// What arrived in the last interval, O.
        offered: "packets/s",
        /// Average of the excess bandwidth signal.
        excess: "1",
    }
    frozen {
        /// Which class it is.
        class: usize,
        /// The queue at the end of the last interval [packets].
        queue: f64,
    }
}

impl State<f64> {
    pub(super) const fn of(class: usize) -> Self {
        Self { transmit: 1.0, offered: 0.0, excess: 0.0, class, queue: 0.0 }
    }
}

/// A law of transmit probabilities with an increase and a decrease for each class: what [`Clcc`](super::clcc) can steer.
pub(super) trait Aimd: Sized + core::fmt::Debug + Send + Sync + 'static {
    /// Compiles parameters; `Err` says which contradict each other or what the classes ask too much.
    fn compile(values: &Values, site: &Site) -> Result<Self, String>;
    /// How often the probabilities move.
    fn interval_s(&self) -> f64;
    /// The decrease of a class at the start.
    fn decrease(&self, class: usize) -> f64;
    /// The largest decrease that leaves every probability where it is or above zero, if all classes together offered
    /// `offered` [packets/s] of late: equation (7). None where nothing was offered.
    fn bound(&self, offered: f64) -> Option<f64>;
    /// An interval went by.
    fn step(&self, s: &mut State<f64>, decrease: f64, seen: &Port<f64>);
    /// What it asks of its host.
    fn needs(&self) -> Needs {
        Needs {
            tick_s: Some(self.interval_s()),
            decides: Decides::OnArrival,
            bytes: true,
            classes: true,
            ..Needs::LEAST
        }
    }
}

/// Such a law with the decreases that it was given.
#[derive(Debug)]
pub(super) struct Alone<A>(A);

impl<A: Aimd> Law<f64> for Alone<A> {
    type Role = Queue;
    type State = State<f64>;

    fn compile(values: &Values, site: &Site) -> Result<Self, String> {
        A::compile(values, site).map(Self)
    }

    fn start(&self) -> State<f64> {
        self.start_at(0)
    }

    fn start_at(&self, instance: usize) -> State<f64> {
        State::of(instance)
    }

    #[inline]
    fn on(&self, s: &mut State<f64>, event: Event, seen: &Port<f64>) {
        if event == Event::Tick {
            self.0.step(s, self.0.decrease(s.class), seen);
        }
    }

    #[inline]
    fn says(&self, s: &State<f64>, _: &Port<f64>) -> Chance<f64> {
        Chance { probability: 1.0 - s.transmit, price_s: 0.0 }
    }

    fn needs(&self) -> Needs {
        self.0.needs()
    }
}

/// The classes of a line; where nothing is known of them yet, one without a contract.
pub(super) fn classes(site: &Site) -> Vec<Class> {
    if site.classes.is_empty() { alloc::vec![Class::FREE] } else { site.classes.clone() }
}

/// BAT's constants.
#[derive(Debug)]
pub(super) struct Bat {
    interval_s: f64,
    coarse: f64,
    /// [packets]
    low: f64,
    high: f64,
    gain: f64,
    /// What the line carried at the start, S [packets/s].
    rate: f64,
    classes: Vec<Constants>,
}

/// What a class has of its own.
#[derive(Debug)]
struct Constants {
    /// [packets/s]; no floor is none, not zero.
    floor: Option<f64>,
    ceiling: Option<f64>,
    increase: f64,
    decrease: f64,
}

impl Aimd for Bat {
    fn compile(values: &Values, site: &Site) -> Result<Self, String> {
        let classes = classes(site);
        let floors: u64 = classes.iter().map(|class| class.floor.0).sum();
        if floors > site.rate.0 {
            return Err(format!(
                "the floors of its classes add up to {floors} bit/s, which is more than the line's {} bit/s",
                site.rate.0
            ));
        }
        let rate = site.packets_per_s();
        let (low, high) = (values.number("low"), values.number("high"));
        if low > high {
            return Err(format!("`low`, {low} s, is above `high`, {high} s"));
        }
        let constants = |class: &Class| Constants {
            floor: (class.floor.0 > 0).then(|| class.floor.packets_per_s(site.packet)),
            ceiling: class.ceiling.map(|ceiling| ceiling.packets_per_s(site.packet)),
            // The patent's form; exact in integers, so that floors of the whole line leave exactly the own one.
            increase: values.number("increase") * (site.rate.0 + class.floor.0 - floors) as f64 / site.rate.0 as f64,
            decrease: corrected(values, class),
        };
        Ok(Self {
            interval_s: values.number("interval"),
            coarse: values.number("coarse"),
            low: low * rate,
            high: high * rate,
            gain: values.number("gain"),
            rate,
            classes: classes.iter().map(constants).collect(),
        })
    }

    fn interval_s(&self) -> f64 {
        self.interval_s
    }

    fn decrease(&self, class: usize) -> f64 {
        self.classes[class].decrease
    }

    fn bound(&self, offered: f64) -> Option<f64> {
        (offered > 0.0).then(|| self.rate / offered)
    }

    #[inline]
    fn step(&self, s: &mut State<f64>, decrease: f64, seen: &Port<f64>) {
        let own = &self.classes[s.class];
        let excess = seen.queue <= self.low || (seen.queue < self.high && seen.queue < s.queue);
        s.queue = seen.queue;
        s.excess += self.gain * (f64::from(u8::from(excess)) - s.excess);
        s.offered = seen.arrived / self.interval_s;
        let served = s.transmit * s.offered;
        // (1), in the printed order: the bit decides, its average is the size of the step.
        s.transmit = if own.floor.is_some_and(|floor| served <= floor) {
            (s.transmit + self.coarse).min(1.0)
        } else if own.ceiling.is_some_and(|ceiling| served > ceiling) {
            s.transmit * (1.0 - self.coarse)
        } else if excess {
            (s.transmit + own.increase * s.excess).min(1.0)
        } else {
            s.transmit * (1.0 - decrease * s.offered / self.rate).max(0.0)
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
