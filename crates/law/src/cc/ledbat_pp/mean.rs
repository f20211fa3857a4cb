//! LEDBAT++ between its slowdowns as a model of its means, for the analysis.
//!
//! Source: draft-irtf-iccrg-ledbat-plus-plus-06, section 4.
//! Differs from the law: no slow start and no slowdowns; the base delay is that of the empty path, and the current delay has no
//! filter; the flight does not bound the window.

use alloc::string::String;

use crate::cc::{Context, Controller, Event, Observation, Output, Requirements};
use crate::law::Law;
use crate::number::Number;
use crate::numbers;
use crate::parameter::Values;

#[derive(Debug)]
pub(in crate::cc) struct Mean<N> {
    target: N,
    most_divisor: f64,
    constant: N,
    initial_window: N,
}

numbers! {
    /// The state of the model.
    pub(in crate::cc) struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
    }
}

impl<N: Number> Mean<N> {
    /// GAIN. It has steps, and none of them depends on the queue.
    fn gain(&self, seen: &Observation<N>) -> N {
        let divisor = libm::ceil(2.0 * self.target.value() / seen.base_rtt_s.value());
        N::of(1.0 / divisor.clamp(1.0, self.most_divisor))
    }
}

impl<N: Number> Law<N> for Mean<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            target: N::of(values.number("target")),
            most_divisor: values.number("most_divisor"),
            constant: N::of(values.number("constant")),
            initial_window: N::of(context.initial_window),
        })
    }

    fn initial_state(&self) -> State<N> {
        State { window: self.initial_window }
    }

    fn on_event(&self, s: &mut State<N>, event: Event, seen: &Observation<N>) {
        let (zero, half, least) = (N::of(0.0), N::of(0.5), N::of(2.0));
        let excess = (seen.rtt_s - seen.base_rtt_s) / self.target - N::of(1.0);
        match event {
            // Each acknowledgement of a round trip has its part of what the draft does at its end.
            Event::Ack { packets, .. } => {
                let down = (s.window * self.constant * excess.max(zero)).min(s.window * half + self.gain(seen));
                s.window = (s.window + (self.gain(seen) - down) * N::count(packets) / s.window).max(least);
            }
            Event::Congestion | Event::Timeout => s.window = (s.window * half).max(least),
            Event::Round | Event::Tick => {}
        }
    }

    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { window: s.window, gap_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        Requirements::LEAST
    }
}
