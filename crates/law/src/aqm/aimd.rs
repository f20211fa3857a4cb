//! Plain AIMD of transmit probabilities by class, on one bit: whether the queue is short.
//!
//! Source: Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in Computer
//! Networks", Computer Networks and ISDN Systems 17, 1989: additive increase and multiplicative decrease on binary
//! feedback, here of probabilities in a queue in place of windows in senders.
//! Differs: here the rule acts in a queue; nothing else is from the paper. It is here beside [`bat`](super::bat) as the
//! other AQM of increase and decrease that "Closed-Loop Congestion Control for Mixed Responsive and Non-Responsive
//! Traffic", section I, expects its outer loop to work with: it knows no rates and keeps no guarantees.
//!
//! Classes settle where `T_i = b c_i / ((1 - b) d_i)`, with b the share of intervals with a short queue: equal constants
//! give equal probabilities, so that served rates are in proportion to offered ones. A larger d takes from its class as
//! BAT's does, by another factor.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::bat::{Aimd, Alone, CORRECTION, DECREASE, INCREASE, INTERVAL, LOW, State, classes, corrected};
use super::{Aqm, Context, Observation};
use crate::law::{Entry, Linearisation, Observables, build};
use crate::number::Number;
use crate::parameter::{Parameter, Values};

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "aimd",
    title: "AIMD: transmit probabilities for each class, which rise while the queue is short and fall otherwise",
    source: "Chiu and Jain 1989, Analysis of the Increase and Decrease Algorithms for Congestion Avoidance; as an AQM for classes as \
             in Pletka et al., Closed-Loop Congestion Control",
    colour: "#b08a3c",
    parameters: &[
        Parameter { source: "Pletka et al., section III-B", ..INTERVAL },
        Parameter { description: "increase per interval while the queue is short", ..INCREASE },
        Parameter { description: "relative decrease per interval while the queue is not short", ..DECREASE },
        Parameter { source: "Pletka et al., section III-D and figure 4, as a constant", ..CORRECTION },
        Parameter { description: "a queue that drains within this time is short", ..LOW },
    ],
    observables: Observables::of::<Alone<Plain<f64>>>(),
    linearisation: Linearisation::Unsupported(
        "it switches between increase and decrease in each interval, depending on the queue",
    ),
    real: &build::<f64, Alone<Plain<f64>>>,
    dual: None,
    fixed: None,
    kernel: None,
};

/// Its constants.
#[derive(Debug)]
pub(super) struct Plain<N> {
    interval_s: f64,
    interval: N,
    /// [packets]
    low: N,
    increase: N,
    /// By class.
    decrease: Vec<N>,
    zero: N,
    one: N,
}

impl<N: Number> Aimd<N> for Plain<N> {
    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let classes = classes(context);
        if let Some(at) = classes.iter().position(|class| class.floor.0 > 0 || class.ceiling.is_some()) {
            return Err(format!(
                "`aimd` does not keep rate floors or ceilings, but class {at} has one; leave it out, or use `bat`"
            ));
        }
        Ok(Self {
            interval_s: values.number("interval"),
            interval: N::of(values.number("interval")),
            low: N::of(values.number("low") * context.packets_per_s()),
            increase: N::of(values.number("increase")),
            decrease: classes.iter().map(|class| N::of(corrected(values, class))).collect(),
            zero: N::of(0.0),
            one: N::of(1.0),
        })
    }

    fn interval_s(&self) -> f64 {
        self.interval_s
    }

    fn decrease(&self, class: usize) -> N {
        self.decrease[class]
    }

    fn bound(&self, _: N) -> Option<N> {
        Some(self.one)
    }

    #[inline]
    fn step(&self, s: &mut State<N>, decrease: N, observation: &Observation<N>) {
        let short = observation.queue <= self.low;
        s.queue = observation.queue;
        s.excess = if short { self.one } else { self.zero };
        s.offered = observation.arrived / self.interval;
        s.transmit = if short {
            (s.transmit + self.increase).min(self.one)
        } else {
            s.transmit * (self.one - decrease).max(self.zero)
        };
    }
}
