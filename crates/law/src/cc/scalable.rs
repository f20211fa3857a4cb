//! Scalable TCP: growth and decrease in proportion to the window, so that recovery from a loss takes the same number of
//! round trips at every rate.
//!
//! Source: Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks" (CCR 33(2), 2003), section 3:
//! `cwnd <- cwnd + a` for each acknowledgement, `cwnd <- cwnd - b cwnd` on congestion, legacy behaviour up to `lwnd`.
//! Differs: the window keeps fractions where the paper rounds the decrease up to whole packets; slow start, the floor of
//! two packets, timeouts and echoes are [`newreno`](super::newreno)'s.

use alloc::string::String;

use super::newreno::{ECN, PER_ACK};
use super::search::{SEARCH, SlowStart, real};
use super::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "scalable",
    title: "Scalable TCP: a hundredth of a packet more per acknowledgement, an eighth less after a congestion event",
    source: "Kelly, Scalable TCP: Improving Performance in Highspeed Wide Area Networks, 2003, section 3",
    colour: "#8c1d4f",
    parameters: &[
        Parameter::number(
            "a",
            Unit::Packets,
            0.01,
            [1e-6, 1.0],
            "growth of the window per acknowledged packet",
            "section 3; 0.01",
        ),
        Parameter::number(
            "b",
            Unit::One,
            0.125,
            [1e-6, 0.5],
            "share of the window that a congestion event removes",
            "section 3; 0.125",
        ),
        Parameter::number(
            "lwnd",
            Unit::Packets,
            16.0,
            [0.0, 1e9],
            "legacy window: up to this window the law equals NewReno",
            "section 3; 16 packets",
        ),
        PER_ACK,
        ECN,
        SEARCH,
    ],
    observables: Observables::of::<Scalable<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &real::<Scalable<f64>>,
    dual: Some(&build::<Dual, Scalable<Dual>>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct Scalable<N> {
    ecn: bool,
    per_ack: u32,
    initial_window: N,
    initial_ssthresh: N,
    /// a [packets]
    growth: N,
    /// 1 - b, rounded once
    keep: N,
    /// lwnd [packets]
    legacy: N,
    one: N,
    two: N,
    half: N,
}

numbers! {
    /// The state of Scalable TCP.
    struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Slow-start threshold: while the window is below it, the window doubles each round trip.
        ssthresh: "packets" as "Slow-start threshold",
    }
}

impl<N: Number> Scalable<N> {
    fn after_congestion(&self, window: N) -> N {
        let keep = if window > self.legacy { self.keep } else { self.half };
        (window * keep).max(self.two)
    }
}

impl<N: Number> Law<N> for Scalable<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            ecn: values.switch("ecn"),
            per_ack: values.number("per_ack") as u32,
            initial_window: N::of(context.initial_window),
            initial_ssthresh: N::of(context.initial_ssthresh),
            growth: N::of(values.number("a")),
            keep: N::of(1.0 - values.number("b")),
            legacy: N::of(values.number("lwnd")),
            one: N::of(1.0),
            two: N::of(2.0),
            half: N::of(0.5),
        })
    }

    fn initial_state(&self) -> State<N> {
        State { window: self.initial_window, ssthresh: self.initial_ssthresh }
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, _: &Observation<N>) {
        match event {
            Event::Ack { packets, marked } => {
                let counted = (packets - marked).min(self.per_ack);
                if counted == 0 {
                    return;
                }
                let each = if s.window < s.ssthresh {
                    self.one
                } else if s.window > self.legacy {
                    self.growth
                } else {
                    self.one / s.window
                };
                s.window += N::count(counted) * each;
            }
            Event::Congestion => {
                s.ssthresh = self.after_congestion(s.window);
                s.window = s.ssthresh;
            }
            Event::Timeout => {
                s.ssthresh = self.after_congestion(s.window);
                s.window = self.one;
            }
            Event::Tick | Event::Round => {}
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

impl SlowStart for Scalable<f64> {
    fn is_slow_start(s: &State<f64>) -> bool {
        s.window < s.ssthresh
    }
    fn end_slow_start(s: &mut State<f64>, window: f64) {
        (s.window, s.ssthresh) = (window, window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law() -> Scalable<f64> {
        let context = Context { packet: crate::quantity::Bytes(1500), initial_window: 2.0, initial_ssthresh: 1e9 };
        Scalable::compile(&Values::defaults(ENTRY.parameters), &context).unwrap()
    }

    /// Rounds until the window is what it was before a congestion event, a window of acknowledgements a round.
    fn rounds_to_recover(before: f64) -> f64 {
        let law = law();
        let mut s = State { window: before, ssthresh: 2.0 };
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        let mut rounds = 0.0;
        while s.window < before {
            rounds += 1.0 / s.window;
            law.on_event(&mut s, Event::Ack { packets: 1, marked: 0 }, &Observation::zero());
        }
        rounds
    }

    /// Section 3: recovery takes `log(1 - b) / log(1 + a)` round trips, 13.42, at every window; with acknowledgements one
    /// by one the growth compounds within a round as well, and it is `-ln(1 - b) / a`, 13.35.
    #[test]
    fn recovery_takes_the_same_time_at_every_window() {
        let paper = -libm::log(1.0 - 0.125) / libm::log(1.01);
        assert!((paper - 13.42).abs() < 0.005);
        for window in [200.0, 2_000.0, 20_000.0] {
            let rounds = rounds_to_recover(window);
            assert!((rounds / paper - 1.0).abs() < 0.01, "{window}: {rounds}");
        }
    }

    /// Up to `lwnd` a round adds one packet and congestion halves.
    #[test]
    fn small_windows_are_newrenos() {
        let law = law();
        let mut s = State { window: 10.0, ssthresh: 2.0 };
        for _ in 0..10 {
            law.on_event(&mut s, Event::Ack { packets: 1, marked: 0 }, &Observation::zero());
        }
        assert!((s.window - 11.0).abs() < 0.05, "{}", s.window);
        s.window = 16.0;
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        assert_eq!(s.window, 8.0);
        s.window = 16.1;
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        assert_eq!(s.window, 16.1 * 0.875);
    }

    #[test]
    fn slow_start_counts_whole_packets_and_a_timeout_returns_to_it() {
        let law = law();
        let mut s = law.initial_state();
        law.on_event(&mut s, Event::Ack { packets: 1, marked: 0 }, &Observation::zero());
        law.on_event(&mut s, Event::Ack { packets: 1, marked: 1 }, &Observation::zero());
        assert_eq!(s.window, 3.0, "an echo grows nothing");
        s.window = 800.0;
        law.on_event(&mut s, Event::Timeout, &Observation::zero());
        assert_eq!((s.window, s.ssthresh), (1.0, 700.0));
    }
}
