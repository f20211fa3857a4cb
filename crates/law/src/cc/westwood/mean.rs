//! Westwood+ as a model of its means, for the analysis.
//!
//! Source: Grieco and Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP Congestion Control" (CCR
//! 34(2), 2004), section 3: its equilibrium is their `sqrt((1 - p) / p) / sqrt(R (R - R_min))` packets a second.
//! Differs from the law: no slow start and no recovery; the sample of the bandwidth is the rate of the round trip, and moves both
//! filters by as much of a step as the round trip is of a sample's time; the smallest round trip is that of the empty path.

use alloc::string::String;

use crate::cc::{Context, Controller, Event, Observation, Output, Requirements};
use crate::law::Law;
use crate::number::Number;
use crate::numbers;
use crate::parameter::Values;

#[derive(Debug)]
pub(in crate::cc) struct Mean<N> {
    sample_time: N,
    weight: N,
    initial_window: N,
}

numbers! {
    /// The state of the model.
    pub(in crate::cc) struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Bandwidth after one filter.
        once: "packets/s" as "Bandwidth, filtered once",
        /// Bandwidth after both filters: what the window after a loss comes from.
        bandwidth: "packets/s" as "Bandwidth, filtered twice",
    }
}

impl<N: Number> Law<N> for Mean<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            sample_time: N::of(values.number("sample_time")),
            weight: N::of(values.number("weight")),
            initial_window: N::of(context.initial_window),
        })
    }

    fn initial_state(&self) -> State<N> {
        // About a window in a round trip of 100 ms, from where a search finds the rest.
        let bandwidth = self.initial_window * N::of(10.0);
        State { window: self.initial_window, once: bandwidth, bandwidth }
    }

    fn on_event(&self, s: &mut State<N>, event: Event, seen: &Observation<N>) {
        match event {
            Event::Ack { packets, .. } => s.window += N::count(packets) / s.window,
            Event::Round => {
                let step = self.weight * (seen.rtt_s / self.sample_time).min(N::of(1.0));
                let sample = s.window / seen.rtt_s;
                s.once += step * (sample - s.once);
                s.bandwidth += step * (s.once - s.bandwidth);
            }
            Event::Congestion | Event::Timeout => s.window = (s.bandwidth * seen.base_rtt_s).max(N::of(2.0)),
            Event::Tick => {}
        }
    }

    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { window: s.window, gap_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        Requirements::LEAST
    }
}
