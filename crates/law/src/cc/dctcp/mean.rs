//! DCTCP as a model of its means, for the analysis.
//!
//! Source: RFC 8257, sections 3.3 to 3.5, for the effect of a window of data. If a queue marks by chance, a window of data with
//! `M` marks on average has one at least with probability `1 - exp(-M)`, and is then reduced by half of alpha, once. Alizadeh,
//! Javanmard and Prabhakar, "Analysis of DCTCP" (SIGMETRICS 2011), have the equation of alpha: `d alpha / dt = g / R (p - alpha)`.
//! Differs from the law: no slow start, and alpha begins at zero; alpha moves with each packet; a window of data is a round trip, and its reduction comes at
//! its end.

use alloc::string::String;

use crate::cc::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use crate::law::Law;
use crate::number::Number;
use crate::numbers;
use crate::parameter::Values;

#[derive(Debug)]
pub(in crate::cc) struct Mean<N> {
    low_latency: bool,
    weight: N,
    initial_window: N,
}

numbers! {
    /// The state of the model.
    pub(in crate::cc) struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Estimated share of packets that are marked.
        alpha: "1" as "Estimated share of marked packets, alpha",
        /// Packets acknowledged with a congestion echo in the current round trip.
        marked: "packets" as "Marked in this window",
    }
}

impl<N: Number> Law<N> for Mean<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            low_latency: values.switch("l4s"),
            weight: N::of(values.number("g")),
            initial_window: N::of(context.initial_window),
        })
    }

    fn initial_state(&self) -> State<N> {
        State { window: self.initial_window, alpha: N::of(0.0), marked: N::of(0.0) }
    }

    fn on_event(&self, s: &mut State<N>, event: Event, _: &Observation<N>) {
        let (one, half) = (N::of(1.0), N::of(0.5));
        match event {
            Event::Ack { packets, marked } => {
                let (all, hit) = (N::count(packets), N::count(marked));
                s.alpha += self.weight * (hit - all * s.alpha) / s.window;
                s.marked += hit;
                s.window += (all - hit) / s.window;
            }
            Event::Round => {
                let met = one - (-s.marked).exp();
                s.window = (s.window * (one - met * s.alpha * half)).max(N::of(2.0));
                s.marked = N::of(0.0);
            }
            Event::Congestion | Event::Timeout => s.window = (s.window * half).max(N::of(2.0)),
            Event::Tick => {}
        }
    }

    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { window: s.window, gap_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        Requirements { marks: Marks::Counted, low_latency: self.low_latency, ..Requirements::LEAST }
    }
}
