//! HighSpeed TCP: additive increase and multiplicative decrease whose steps depend on the window, so that large windows
//! need fewer losses to stay where they are.
//!
//! Source: RFC 3649, section 5: `w <- w + a(w)/w`, `w <- (1 - b(w)) w`, with
//! `b(w) = (High_Decrease - 0.5) (ln w - ln W) / (ln W1 - ln W) + 0.5` and `a(w) = w^2 p(w) 2 b(w) / (2 - b(w))`, where
//! `ln p(w)` runs linearly in `ln w` from `Low_P` at `W = Low_Window` to `High_P` at `W1 = High_Window`; RFC 3742, section
//! 2, for limited slow start.
//! Differs: `a(w)` is computed and not looked up, is at least 1, as the RFC's table has it just above `Low_Window`, and
//! keeps its fraction; above `High_Window` `b` stays at `High_Decrease`; timeouts, echoes and the floor of two packets are
//! [`newreno`](super::newreno)'s.

use alloc::format;
use alloc::string::String;

use super::newreno::{ECN, PER_ACK};
use super::search::{SEARCH, SlowStart, real};
use super::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "highspeed",
    title: "HighSpeed TCP: increase and decrease depend on the window, W = 0.12 / p^0.835",
    source: "RFC 3649; RFC 3742",
    colour: "#b38600",
    parameters: &[
        Parameter::number(
            "low_window",
            Unit::Packets,
            38.0,
            [2.0, 1e9],
            "up to this window the law equals NewReno",
            "RFC 3649, section 5",
        ),
        Parameter::number(
            "low_p",
            Unit::One,
            1e-3,
            [1e-15, 0.5],
            "loss rate at low_window; NewReno's is 1.5 / low_window^2",
            "RFC 3649, section 5",
        ),
        Parameter::number(
            "high_window",
            Unit::Packets,
            83_000.0,
            [2.0, 1e12],
            "window at a loss rate of high_p",
            "RFC 3649, section 5",
        ),
        Parameter::number("high_p", Unit::One, 1e-7, [1e-15, 0.5], "loss rate at high_window", "RFC 3649, section 5"),
        Parameter::number(
            "high_decrease",
            Unit::One,
            0.1,
            [1e-3, 0.5],
            "share of the window that a congestion event removes at high_window",
            "RFC 3649, section 5",
        ),
        Parameter::automatic(
            "max_ssthresh",
            Unit::Packets,
            "no limit",
            [2.0, 1e9],
            "limited slow start: above this window slow start adds about half of this value per round trip",
            "RFC 3742, section 2, which recommends 100",
        ),
        PER_ACK,
        ECN,
        SEARCH,
    ],
    observables: Observables::of::<HighSpeed<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &real::<HighSpeed<f64>>,
    dual: Some(&build::<Dual, HighSpeed<Dual>>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct HighSpeed<N> {
    ecn: bool,
    per_ack: u32,
    initial_window: N,
    initial_ssthresh: N,
    max_ssthresh: Option<N>,
    low_window: N,
    ln_low_window: N,
    high_decrease: N,
    /// d b / d ln w
    b_slope: N,
    /// ln(w^2 p(w)) at `low_window`
    ln_low: N,
    /// d ln(w^2 p(w)) / d ln w
    ln_slope: N,
    one: N,
    two: N,
    half: N,
}

numbers! {
    /// The state of HighSpeed TCP.
    struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Slow-start threshold: while the window is below it, the window doubles each round trip.
        ssthresh: "packets" as "Slow-start threshold",
    }
}

impl<N: Number> HighSpeed<N> {
    /// b(w): the share that a congestion event takes.
    fn decrease(&self, window: N) -> N {
        if window > self.low_window { self.decrease_at(window.ln() - self.ln_low_window) } else { self.half }
    }

    /// b at `octaves = ln(w / W)`, above zero.
    fn decrease_at(&self, octaves: N) -> N {
        (self.half + self.b_slope * octaves).max(self.high_decrease)
    }

    /// a(w): packets a round trip.
    fn increase(&self, window: N) -> N {
        if window > self.low_window {
            let octaves = window.ln() - self.ln_low_window;
            let b = self.decrease_at(octaves);
            // w^2 p(w) by its logarithm: p alone is too small for an arithmetic with a fixed point.
            let squared = (self.ln_low + self.ln_slope * octaves).exp();
            (squared * self.two * b / (self.two - b)).max(self.one)
        } else {
            self.one
        }
    }

    /// Packets that slow start adds for each acknowledged one.
    fn slow_start(&self, window: N) -> N {
        match self.max_ssthresh {
            // RFC 3742: cwnd += MSS / K with K = int(cwnd / (0.5 max_ssthresh)).
            Some(limit) if window > limit => self.one / N::of(libm::floor((window / (self.half * limit)).value())),
            _ => self.one,
        }
    }

    fn after_congestion(&self, window: N) -> N {
        ((self.one - self.decrease(window)) * window).max(self.two)
    }
}

impl<N: Number> Law<N> for HighSpeed<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let (low_window, high_window) = (values.number("low_window"), values.number("high_window"));
        let (low_p, high_p) = (values.number("low_p"), values.number("high_p"));
        if high_window <= low_window {
            return Err(format!("`high_window` = {high_window} packets must exceed `low_window` = {low_window}"));
        }
        if high_p >= low_p {
            return Err(format!("`high_p` = {high_p} must be below `low_p` = {low_p}"));
        }
        let high_decrease = values.number("high_decrease");
        let span = libm::log(high_window / low_window);
        Ok(Self {
            ecn: values.switch("ecn"),
            per_ack: values.number("per_ack") as u32,
            initial_window: N::of(context.initial_window),
            initial_ssthresh: N::of(context.initial_ssthresh),
            max_ssthresh: values.optional("max_ssthresh").map(N::of),
            low_window: N::of(low_window),
            ln_low_window: N::of(libm::log(low_window)),
            high_decrease: N::of(high_decrease),
            b_slope: N::of((high_decrease - 0.5) / span),
            ln_low: N::of(2.0 * libm::log(low_window) + libm::log(low_p)),
            ln_slope: N::of(2.0 + libm::log(high_p / low_p) / span),
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
                let each =
                    if s.window < s.ssthresh { self.slow_start(s.window) } else { self.increase(s.window) / s.window };
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

impl SlowStart for HighSpeed<f64> {
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

    fn compiled(set: &[(&str, f64)]) -> Result<HighSpeed<f64>, String> {
        let values = Values::of(ENTRY.parameters, set);
        let context = Context { packet: crate::quantity::Bytes(1500), initial_window: 2.0, initial_ssthresh: 1e9 };
        HighSpeed::compile(&values, &context)
    }

    /// RFC 3649, appendix B: the windows at which a(w) reaches a whole number, and b(w) there to two digits. The RFC's
    /// program rounds p(w) to 0.078 / w^1.2, hence the two per cent.
    #[test]
    fn steps_are_those_of_the_table_of_the_rfc() {
        let law = compiled(&[]).unwrap();
        let table = [
            (38.0, 1.0, 0.50),
            (118.0, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (347.0, 4.0, 0.38),
            (495.0, 5.0, 0.37),
            (663.0, 6.0, 0.35),
            (851.0, 7.0, 0.34),
            (1058.0, 8.0, 0.33),
            (1284.0, 9.0, 0.32),
            (1529.0, 10.0, 0.31),
            (5036.0, 20.0, 0.25),
        ];
        for (w, a, b) in table {
            assert!((law.increase(w) / a - 1.0).abs() < 0.02, "a({w}) = {}, not {a}", law.increase(w));
            assert!((law.decrease(w) - b).abs() <= 0.0051, "b({w}) = {}, not {b}", law.decrease(w));
        }
        // Section 5 itself: at High_Window a is 72 packets and b is 0.1.
        assert!((law.increase(83_000.0) / 72.0 - 1.0).abs() < 0.01, "{}", law.increase(83_000.0));
        assert!((law.decrease(83_000.0) - 0.1).abs() < 1e-12);
        assert_eq!(law.decrease(1e6), 0.1);
    }

    #[test]
    fn small_windows_are_newrenos() {
        let law = compiled(&[]).unwrap();
        let mut s = State { window: 30.0, ssthresh: 2.0 };
        law.on_event(&mut s, Event::Ack { packets: 1, marked: 0 }, &Observation::zero());
        assert_eq!(s.window, 30.0 + 1.0 / 30.0);
        law.on_event(&mut s, Event::Ack { packets: 1, marked: 1 }, &Observation::zero());
        assert_eq!(s.window, 30.0 + 1.0 / 30.0, "an echo grows nothing");
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        assert!((s.window - 15.0).abs() < 0.02);
        s.window = 83_000.0;
        law.on_event(&mut s, Event::Timeout, &Observation::zero());
        assert_eq!(s.window, 1.0);
        assert!((s.ssthresh - 74_700.0).abs() < 1e-6);
    }

    /// RFC 3742, section 2: beyond max_ssthresh an acknowledgement adds a half, a third, a quarter of a packet, one step
    /// each half of max_ssthresh; a round trip then adds hardly more than half of max_ssthresh.
    #[test]
    fn limited_slow_start_adds_about_half_of_max_ssthresh_a_round() {
        let law = compiled(&[("max_ssthresh", 100.0)]).unwrap();
        for (window, added) in [(99.0, 1.0), (100.0, 1.0), (149.0, 1.0 / 2.0), (151.0, 1.0 / 3.0), (249.0, 1.0 / 4.0)] {
            assert_eq!(law.slow_start(window), added, "at {window}");
        }
        let mut s = State { window: 5_000.0, ssthresh: 1e9 };
        for _ in 0..5_000 {
            law.on_event(&mut s, Event::Ack { packets: 1, marked: 0 }, &Observation::zero());
        }
        assert!((s.window - 5_050.0).abs() < 0.5, "{}", s.window);
    }

    #[test]
    fn contradictory_ends_of_the_response_are_refused() {
        assert!(compiled(&[("high_window", 30.0)]).unwrap_err().contains("high_window"));
        assert!(compiled(&[("high_p", 0.01)]).unwrap_err().contains("high_p"));
    }
}
