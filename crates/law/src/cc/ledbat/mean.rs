//! LEDBAT as a model of its means, for the analysis.
//!
//! Source: RFC 6817, section 2.4.2.
//! Differs from the law: the base delay is that of the empty path, and the current delay has no filter; what is in flight does not
//! bound the window.

use alloc::string::String;

use crate::cc::{Context, Controller, Event, Observation, Output, Requirements};
use crate::law::Law;
use crate::number::Number;
use crate::numbers;
use crate::parameter::Values;

#[derive(Debug)]
pub(in crate::cc) struct Mean<N> {
    target: N,
    gain: N,
    initial_window: N,
}

numbers! {
    /// What the model remembers.
    pub(in crate::cc) struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
    }
}

impl<N: Number> Law<N> for Mean<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            target: N::of(values.number("target")),
            gain: N::of(values.number("gain")),
            initial_window: N::of(context.initial_window),
        })
    }

    fn initial_state(&self) -> State<N> {
        State { window: self.initial_window }
    }

    fn on_event(&self, s: &mut State<N>, event: Event, seen: &Observation<N>) {
        let least = N::of(2.0);
        match event {
            Event::Ack { packets, .. } => {
                let off_target = (self.target - (seen.rtt_s - seen.base_rtt_s)) / self.target;
                s.window = (s.window + self.gain * off_target * N::count(packets) / s.window).max(least);
            }
            Event::Cut | Event::Timeout => s.window = (s.window * N::of(0.5)).max(least),
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
