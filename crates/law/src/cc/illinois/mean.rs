//! Illinois as a model of its means, for the analysis.
//!
//! Source: Liu, Basar and Srikant, "TCP-Illinois" (Performance Evaluation 65, 2008), section 3: at a queueing delay the window is
//! `sqrt(alpha (1 - p) / (beta p))`.
//! Differs from the law: no slow start; the largest delay that the law remembers is that of a full buffer; one round trip with a
//! short queue is enough for `alpha_max`.

use alloc::string::String;

use crate::cc::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use crate::estimate::{BottleneckEstimate, Committed};
use crate::law::Law;
use crate::number::Number;
use crate::numbers;
use crate::parameter::Values;

#[derive(Debug)]
pub(in crate::cc) struct Mean<N> {
    ecn: bool,
    alpha: [N; 2],
    beta: [N; 2],
    eta: [N; 3],
    threshold: f64,
    initial_window: N,
}

numbers! {
    /// The state of the model.
    pub(in crate::cc) struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Mean queueing delay of the last round trip, over the largest one.
        delay: "1" as "Queueing delay over the largest",
    }
}

impl<N: Number> Mean<N> {
    /// Growth per round trip, from `alpha_max` at `eta1` to `alpha_min` at the largest delay.
    fn growth(&self, s: &State<N>) -> N {
        if s.window.value() < self.threshold {
            return N::of(1.0);
        }
        let ([least, most], one) = (self.alpha, N::of(1.0));
        let over = (s.delay - self.eta[0]).max(N::of(0.0)).min(one - self.eta[0]);
        let span = one - self.eta[0];
        most * span / (span + over * (most - least) / least)
    }

    /// The share that a congestion event removes.
    fn decrease(&self, s: &State<N>) -> N {
        if s.window.value() < self.threshold {
            return N::of(0.5);
        }
        let ([least, most], [_, low, high]) = (self.beta, self.eta);
        (least + (most - least) * (s.delay - low) / (high - low)).max(least).min(most)
    }
}

impl<N: Number> Law<N> for Mean<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let pair = |least: &str, most: &str| [least, most].map(|name| N::of(values.number(name)));
        if values.number("eta2") >= values.number("eta3") {
            return Err("the analysis needs a continuous beta: `eta2` has to be below `eta3`".into());
        }
        Ok(Self {
            ecn: values.switch("ecn"),
            alpha: pair("alpha_min", "alpha_max"),
            beta: pair("beta_min", "beta_max"),
            eta: ["eta1", "eta2", "eta3"].map(|name| N::of(values.number(name))),
            threshold: values.number("win_thresh"),
            initial_window: N::of(context.initial_window),
        })
    }

    fn initial_state(&self) -> State<N> {
        State { window: self.initial_window, delay: N::of(0.0) }
    }

    fn on_event(&self, s: &mut State<N>, event: Event, seen: &Observation<N>) {
        match event {
            Event::Ack { packets, marked } => {
                s.window += self.growth(s) * N::count(packets - marked) / s.window;
            }
            Event::Round => s.delay = (seen.level / seen.buffer.max(N::of(1.0))).min(N::of(1.0)),
            Event::Congestion | Event::Timeout => {
                s.window = (s.window - s.window * self.decrease(s)).max(N::of(2.0));
            }
            Event::Tick => {}
        }
    }

    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { window: s.window, gap_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            marks: if self.ecn { Marks::Congestion } else { Marks::Ignored },
            // For the largest delay that the buffer allows.
            bottleneck: Some(BottleneckEstimate { pairs: 1, lookback: None, committed: Committed::Sent }),
            ..Requirements::LEAST
        }
    }
}
