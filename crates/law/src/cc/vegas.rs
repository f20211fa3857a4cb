//! TCP Vegas: keep between alpha and beta packets of this flow queued, by the round-trip time.
//!
//! Source: Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet" (JSAC 13(8), 1995),
//! sections III-B and III-C: once a round trip, `Diff = Expected - Actual` with `Expected = w / BaseRTT` and
//! `Actual = w / RTT`, compared with alpha, beta and gamma.
//! Differs: `Diff` is multiplied by `BaseRTT`, so that the thresholds count packets in the queue; `RTT` is the smallest of
//! the round, which delayed acknowledgements and bursts do not inflate; the retransmission of section III-A is the
//! host's, and a congestion event halves the window, as in Reno; the floor is two packets.

use alloc::format;
use alloc::string::String;

use super::newreno::{ECN, PER_ACK};
use super::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::Number;
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "vegas",
    title: "TCP Vegas: one packet more or less per round trip, depending on how many packets the flow has in the queue",
    source: "Brakmo, Peterson, TCP Vegas: End to End Congestion Avoidance on a Global Internet, 1995, section III",
    colour: "#0f8f7f",
    parameters: &[
        Parameter::number(
            "alpha",
            Unit::Packets,
            2.0,
            [0.0, 1e6],
            "the window grows with fewer packets queued than this",
            "section III-B; 1 and 2 in the paper's Vegas-1,3 and Vegas-2,4",
        ),
        Parameter::number(
            "beta",
            Unit::Packets,
            4.0,
            [0.0, 1e6],
            "the window shrinks with more packets queued than this",
            "section III-B; 3 and 4 in the paper's Vegas-1,3 and Vegas-2,4",
        ),
        Parameter::number(
            "gamma",
            Unit::Packets,
            1.0,
            [0.0, 1e6],
            "slow start ends with more packets queued than this",
            "section III-C; one buffer",
        ),
        PER_ACK,
        ECN,
    ],
    observables: Observables::of::<Vegas<f64>>(),
    linearisation: Linearisation::Unsupported(
        "it switches between one packet more, no change and one packet less, and has a range of equilibria",
    ),
    real: &build::<f64, Vegas<f64>>,
    dual: None,
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct Vegas<N> {
    ecn: bool,
    per_ack: u32,
    initial_window: N,
    initial_ssthresh: N,
    alpha: N,
    beta: N,
    gamma: N,
    one: N,
    two: N,
    half: N,
}

numbers! {
    /// The state of Vegas.
    struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Slow-start threshold: while the window is below it, the window doubles every second round trip.
        ssthresh: "packets" as "Slow-start threshold",
        /// The smallest round-trip time in the current round; zero before its first sample.
        least_rtt: "s" as "Smallest round-trip time of the round",
        /// Packets of this flow in the queue, as estimated at the end of the last round.
        queued: "packets" as "Estimated packets in the queue",
    }
    frozen {
        /// Slow start grows in this round; in every other it waits, so that the comparison is valid.
        grows: bool,
    }
}

impl<N: Number> Law<N> for Vegas<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let (alpha, beta) = (values.number("alpha"), values.number("beta"));
        if alpha > beta {
            return Err(format!("`alpha` = {alpha} packets must not exceed `beta` = {beta}"));
        }
        Ok(Self {
            ecn: values.switch("ecn"),
            per_ack: values.number("per_ack") as u32,
            initial_window: N::of(context.initial_window),
            initial_ssthresh: N::of(context.initial_ssthresh),
            alpha: N::of(alpha),
            beta: N::of(beta),
            gamma: N::of(values.number("gamma")),
            one: N::of(1.0),
            two: N::of(2.0),
            half: N::of(0.5),
        })
    }

    fn initial_state(&self) -> State<N> {
        let zero = N::of(0.0);
        State {
            window: self.initial_window,
            ssthresh: self.initial_ssthresh,
            least_rtt: zero,
            queued: zero,
            grows: true,
        }
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        let zero = N::of(0.0);
        match event {
            Event::Ack { packets, marked } => {
                s.least_rtt = if s.least_rtt > zero { s.least_rtt.min(observation.rtt_s) } else { observation.rtt_s };
                if s.window < s.ssthresh && s.grows {
                    s.window += N::count((packets - marked).min(self.per_ack));
                }
            }
            Event::Round => {
                if s.least_rtt > zero {
                    // Diff BaseRTT = w (1 - BaseRTT / RTT)
                    s.queued = s.window * (s.least_rtt - observation.base_rtt_s) / s.least_rtt;
                    s.least_rtt = zero;
                    self.after_round(s);
                }
            }
            Event::Congestion => {
                s.ssthresh = (s.window * self.half).max(self.two);
                s.window = s.ssthresh;
            }
            Event::Timeout => {
                s.ssthresh = (s.window * self.half).max(self.two);
                s.window = self.one;
                s.grows = true;
            }
            Event::Tick => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { window: s.window, gap_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        Requirements { marks: if self.ecn { Marks::Congestion } else { Marks::Ignored }, ..Requirements::LEAST }
    }
}

impl<N: Number> Vegas<N> {
    fn after_round(&self, s: &mut State<N>) {
        if s.window < s.ssthresh {
            if !s.grows && s.queued > self.gamma {
                s.ssthresh = s.window;
            }
            s.grows = !s.grows;
        } else if s.queued < self.alpha {
            s.window += self.one;
        } else if s.queued > self.beta {
            s.window = (s.window - self.one).max(self.two);
            // Else the next round would be slow start again.
            s.ssthresh = s.ssthresh.min(s.window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const BASE_S: f64 = 0.1;

    fn compiled(set: &[(&str, f64)]) -> Result<Vegas<f64>, String> {
        let values = Values::of(ENTRY.parameters, set);
        let context = Context { packet: crate::quantity::Bytes(1000), initial_window: 2.0, initial_ssthresh: 1e9 };
        Vegas::compile(&values, &context)
    }

    /// A window's worth of acknowledgements, alone on a path that holds `pipe` packets without a queue, and the end of
    /// the round.
    fn round(law: &Vegas<f64>, s: &mut State<f64>, pipe: f64) {
        let rtt_s = BASE_S * Number::max(1.0, s.window / pipe);
        let observation = Observation { rtt_s, base_rtt_s: BASE_S, ..Observation::zero() };
        for at in 0..s.window as u32 {
            // The first packets of a round find the shortest queue; the others must not count.
            let rtt_s = if at == 0 { rtt_s } else { rtt_s + 0.05 };
            law.on_event(s, Event::Ack { packets: 1, marked: 0 }, &Observation { rtt_s, ..observation });
        }
        law.on_event(s, Event::Round, &observation);
    }

    /// Section III-C: slow start doubles every other round, and ends once a whole buffer is filled.
    #[test]
    fn slow_start_doubles_every_other_round() {
        let law = compiled(&[]).unwrap();
        let mut s = law.initial_state();
        let mut windows = Vec::new();
        for _ in 0..12 {
            round(&law, &mut s, 40.0);
            windows.push(s.window);
        }
        assert_eq!(windows[..10], [4.0, 4.0, 8.0, 8.0, 16.0, 16.0, 32.0, 32.0, 64.0, 64.0]);
        assert_eq!(windows[10..], [63.0, 62.0], "24 packets are queued: linear from here on");
    }

    /// Section III-B: the packets queued settle between alpha and beta, from below at alpha and from above at beta.
    #[test]
    fn the_queue_settles_between_alpha_and_beta() {
        for (alpha, beta) in [(1.0, 3.0), (2.0, 4.0)] {
            let law = compiled(&[("alpha", alpha), ("beta", beta)]).unwrap();
            for (from, queued) in [(60.0, alpha), (200.0, beta)] {
                let mut s = State { window: from, ssthresh: 2.0, ..law.initial_state() };
                for _ in 0..200 {
                    round(&law, &mut s, 100.0);
                }
                assert!((s.window - 100.0 - queued).abs() <= 1.0, "{from}: {}", s.window);
                let rests = s.window;
                round(&law, &mut s, 100.0);
                assert_eq!(s.window, rests);
            }
        }
    }

    /// Slow start grows every other round, and a timeout begins it anew: with a round that grows, whichever of the two it
    /// came in.
    #[test]
    fn a_timeout_begins_with_a_round_that_grows() {
        let law = compiled(&[]).unwrap();
        for rounds in [5, 6] {
            let mut s = law.initial_state();
            for _ in 0..rounds {
                round(&law, &mut s, 40.0);
            }
            law.on_event(&mut s, Event::Timeout, &Observation::zero());
            round(&law, &mut s, 40.0);
            assert_eq!(s.window, 2.0, "after {rounds} rounds");
        }
    }

    #[test]
    fn losses_are_renos() {
        let law = compiled(&[]).unwrap();
        let mut s = State { window: 100.0, ssthresh: 2.0, ..law.initial_state() };
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        assert_eq!((s.window, s.ssthresh), (50.0, 50.0));
        law.on_event(&mut s, Event::Timeout, &Observation::zero());
        assert_eq!((s.window, s.ssthresh), (1.0, 25.0));
    }

    #[test]
    fn a_band_without_an_inside_is_refused() {
        assert!(compiled(&[("alpha", 5.0)]).unwrap_err().contains("beta"));
    }
}
