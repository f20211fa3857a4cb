//! Prague as a model of its means, for the analysis: DCTCP's, once a virtual round trip.
//!
//! Source: as [`prague`](super); the chance that a virtual round trip with `M` marks on average has one at least is
//! `1 - exp(-M)`, where a queue marks by chance.
//! Differs from the law: no slow start, and alpha begins at zero and no transition; alpha moves with each packet; a round trip has the share of a virtual
//! one that it lasts; a smoothed round-trip time is the round-trip time.

use alloc::string::String;

use crate::cc::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use crate::law::Law;
use crate::number::Number;
use crate::numbers;
use crate::parameter::Values;

#[derive(Debug)]
pub(in crate::cc) struct Mean<N> {
    weight: N,
    virtual_rtt: N,
    least_window: N,
    initial_window: N,
}

numbers! {
    /// The state of the model.
    pub(in crate::cc) struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Estimated share of packets that are marked.
        alpha: "1" as "Estimated share of marked packets, alpha",
        /// Packets acknowledged with a mark in about a virtual round trip.
        marked: "packets" as "Marked in this round",
    }
}

impl<N: Number> Mean<N> {
    /// The share of a virtual round trip in a round trip.
    fn share(&self, seen: &Observation<N>) -> N {
        (seen.rtt_s / self.virtual_rtt).min(N::of(1.0))
    }
}

impl<N: Number> Law<N> for Mean<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        if values.switch("fallback") {
            return Err(
                "the analysis leaves out `fallback`, which depends on the past: write `fallback = false`".into()
            );
        }
        if values.number("rounds") != 0.0 {
            return Err("the analysis counts reductions by rounds of alpha: write `rounds = \"of-alpha\"`".into());
        }
        Ok(Self {
            weight: N::of(values.number("g")),
            virtual_rtt: N::of(values.number("virtual_rtt")),
            least_window: N::of(values.number("least_window")),
            initial_window: N::of(context.initial_window),
        })
    }

    fn initial_state(&self) -> State<N> {
        State { window: self.initial_window, alpha: N::of(0.0), marked: N::of(0.0) }
    }

    fn on_event(&self, s: &mut State<N>, event: Event, seen: &Observation<N>) {
        let (one, half) = (N::of(1.0), N::of(0.5));
        match event {
            Event::Ack { packets, marked } => {
                let (all, hit, share) = (N::count(packets), N::count(marked), self.share(seen));
                s.alpha += self.weight * share * (hit - all * s.alpha) / s.window;
                s.marked += hit;
                s.window += (all - hit) * share * share / s.window;
            }
            Event::Round => {
                let (share, met) = (self.share(seen), one - (-s.marked).exp());
                s.window = (s.window * (one - share * met * s.alpha * half)).max(self.least_window);
                s.marked -= share * s.marked;
            }
            Event::Congestion | Event::Timeout => s.window = (s.window * half).max(self.least_window),
            Event::Tick => {}
        }
    }

    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { window: s.window, gap_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        Requirements { marks: Marks::Counted, low_latency: true, ..Requirements::LEAST }
    }
}
