//! TCP Illinois: losses decide when the window shrinks; delay decides by how much, and how fast it grows back.
//!
//! Source: Liu, Basar and Srikant, "TCP-Illinois: A Loss- and Delay-Based Congestion Control Algorithm for High-Speed Networks"
//! (Performance Evaluation 65, 2008), section 3, and Linux, `net/ipv4/tcp_illinois.c`, for every constant. Symbols: `mean` is
//! d_a, the mean queueing delay of the last round trip, and `most` d_m, the largest one; d_i is `eta_i` d_m.
//! Differs: the window, alpha and beta are real numbers, not integers times powers of two; samples of loss recovery do not
//! count, nor does a sample above 3.3 s count as that much; echoes are [`newreno`](super::newreno)'s.

mod mean;

use alloc::format;
use alloc::string::String;

use super::newreno::{ECN, PER_ACK};
use super::search::{SEARCH, SlowStart, real};
use super::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

use mean::Mean;

const LINUX: &str = "Linux, tcp_illinois.c; section 3 of the paper";

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "illinois",
    title: "TCP Illinois: steps of the window that depend on the queueing delay",
    source: "Liu, Basar, Srikant, TCP-Illinois, 2008; Linux, net/ipv4/tcp_illinois.c",
    colour: "#4f7f2f",
    parameters: &[
        Parameter::number(
            "alpha_max",
            Unit::Packets,
            10.0,
            [1.0, 1e3],
            "growth per round trip while the queue is short",
            LINUX,
        ),
        Parameter::number(
            "alpha_min",
            Unit::Packets,
            0.3,
            [1e-3, 1.0],
            "growth of the window per round trip at the largest queueing delay measured so far",
            LINUX,
        ),
        Parameter::number(
            "beta_min",
            Unit::One,
            0.125,
            [1e-3, 0.5],
            "share of the window that a congestion event removes while the queue is short",
            LINUX,
        ),
        Parameter::number(
            "beta_max",
            Unit::One,
            0.5,
            [1e-3, 0.9],
            "share of the window that a congestion event removes while the queue is long",
            LINUX,
        ),
        Parameter::number(
            "eta1",
            Unit::One,
            0.01,
            [0.0, 0.5],
            "growth is alpha_max up to this share of the largest queueing delay",
            LINUX,
        ),
        Parameter::number(
            "eta2",
            Unit::One,
            0.1,
            [0.0, 1.0],
            "the decrease is beta_min up to this share of the largest queueing delay",
            LINUX,
        ),
        Parameter::number(
            "eta3",
            Unit::One,
            0.8,
            [0.0, 1.0],
            "the decrease is beta_max from this share of the largest queueing delay on",
            LINUX,
        ),
        Parameter::number(
            "theta",
            Unit::One,
            5.0,
            [1.0, 1e6],
            "round trips with a short queue, since the last time that growth was alpha_max, after which it is again",
            LINUX,
        ),
        Parameter::number(
            "win_thresh",
            Unit::Packets,
            15.0,
            [2.0, 1e9],
            "below this window the law equals NewReno",
            LINUX,
        ),
        PER_ACK,
        ECN,
        SEARCH,
    ],
    observables: Observables::of::<Illinois>(),
    linearisation: Linearisation::Mean(
        "a full buffer for the largest delay of the past, and one round trip for what brings alpha_max back",
    ),
    real: &real::<Illinois>,
    dual: Some(&build::<Dual, Mean<Dual>>),
    fixed: None,
    kernel: None,
};

/// The growth of a window below `win_thresh` in a round trip [packets], and its decrease in a congestion event (Linux: ALPHA_BASE,
/// BETA_BASE).
const BASE: (f64, f64) = (1.0, 0.5);

#[derive(Debug)]
struct Illinois {
    ecn: bool,
    per_ack: u32,
    initial_window: f64,
    initial_ssthresh: f64,
    alpha_max: f64,
    alpha_min: f64,
    beta_min: f64,
    beta_max: f64,
    eta1: f64,
    eta2: f64,
    eta3: f64,
    theta: u32,
    win_thresh: f64,
}

numbers! {
    /// The state of Illinois.
    struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Slow-start threshold: while the window is below it, the window doubles each round trip.
        ssthresh: "packets" as "Slow-start threshold",
        /// Growth of the window each round trip in congestion avoidance.
        alpha: "packets" as "Growth per round trip, alpha",
        /// Share of the window that the next congestion event removes.
        beta: "1" as "Decrease, beta",
        /// The largest round-trip time so far; zero before the first sample.
        most_rtt: "s" as "Largest round-trip time",
        /// Sum of the round-trip times of this round.
        sum: "s" as "Sum of round-trip times",
        /// Round-trip times in that sum.
        samples: "1" as "Round-trip times of this round",
    }
    frozen {
        /// The queue was long since growth was last `alpha_max`.
        above: bool,
        /// Rounds with a short queue since.
        low: u32,
    }
}

impl Illinois {
    /// Growth per round trip at a mean queueing delay, and whether the queue is long; [s].
    fn growth(&self, mean: f64, most: f64) -> (f64, bool) {
        let d1 = self.eta1 * most;
        if mean <= d1 {
            return (self.alpha_max, false);
        }
        // k1 / (k2 + d_a), from alpha_max at d_1 to alpha_min at d_m.
        let (span, over) = (most - d1, mean - d1);
        let steep = (self.alpha_max - self.alpha_min) / self.alpha_min;
        (self.alpha_max * span / (span + over * steep), true)
    }

    /// The share that a congestion event removes at a mean queueing delay; [s].
    fn decrease(&self, mean: f64, most: f64) -> f64 {
        let (d2, d3) = (self.eta2 * most, self.eta3 * most);
        if mean <= d2 {
            self.beta_min
        } else if mean >= d3 || d3 <= d2 {
            self.beta_max
        } else {
            self.beta_min + (self.beta_max - self.beta_min) * (mean - d2) / (d3 - d2)
        }
    }

    /// The end of a round trip.
    fn update(&self, s: &mut State<f64>, base_rtt_s: f64) {
        if s.window < self.win_thresh {
            (s.alpha, s.beta) = BASE;
        } else if s.samples > 0.0 {
            let (mean, most) = (s.sum / s.samples - base_rtt_s, s.most_rtt - base_rtt_s);
            let (growth, long) = self.growth(mean, most);
            if long {
                s.above = true;
                s.alpha = growth;
            } else if !s.above {
                s.alpha = growth;
            } else {
                // One round of luck is no empty queue.
                s.low += 1;
                if s.low >= self.theta {
                    (s.above, s.low, s.alpha) = (false, 0, growth);
                }
            }
            s.beta = self.decrease(mean, most);
        }
        (s.sum, s.samples) = (0.0, 0.0);
    }

    fn after_congestion(s: &State<f64>) -> f64 {
        Number::max(s.window * (1.0 - s.beta), 2.0)
    }
}

impl Law<f64> for Illinois {
    type Role = Controller;
    type State = State<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let (beta_min, beta_max) = (values.number("beta_min"), values.number("beta_max"));
        if beta_min > beta_max {
            return Err(format!("`beta_min` = {beta_min} must not exceed `beta_max` = {beta_max}"));
        }
        Ok(Self {
            ecn: values.switch("ecn"),
            per_ack: values.number("per_ack") as u32,
            initial_window: context.initial_window,
            initial_ssthresh: context.initial_ssthresh,
            alpha_max: values.number("alpha_max"),
            alpha_min: values.number("alpha_min"),
            beta_min,
            beta_max,
            eta1: values.number("eta1"),
            eta2: values.number("eta2"),
            eta3: values.number("eta3"),
            theta: values.number("theta") as u32,
            win_thresh: values.number("win_thresh"),
        })
    }

    fn initial_state(&self) -> State<f64> {
        State {
            window: self.initial_window,
            ssthresh: self.initial_ssthresh,
            alpha: self.alpha_max,
            beta: BASE.1,
            most_rtt: 0.0,
            sum: 0.0,
            samples: 0.0,
            above: false,
            low: 0,
        }
    }

    #[inline]
    fn on_event(&self, s: &mut State<f64>, event: Event, observation: &Observation<f64>) {
        match event {
            Event::Ack { packets, marked } => {
                if observation.rtt_s > 0.0 {
                    s.most_rtt = Number::max(s.most_rtt, observation.rtt_s);
                    s.sum += observation.rtt_s;
                    s.samples += 1.0;
                }
                let counted = f64::from((packets - marked).min(self.per_ack));
                s.window += if s.window < s.ssthresh { counted } else { counted * s.alpha / s.window };
            }
            Event::Round => self.update(s, observation.base_rtt_s),
            Event::Congestion => {
                s.ssthresh = Self::after_congestion(s);
                s.window = s.ssthresh;
            }
            Event::Timeout => {
                s.ssthresh = Self::after_congestion(s);
                s.window = 1.0;
                (s.alpha, s.beta) = BASE;
                (s.above, s.low, s.sum, s.samples) = (false, 0, 0.0, 0.0);
            }
            Event::Tick => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: s.window, gap_s: 0.0 }
    }

    fn requirements(&self) -> Requirements {
        Requirements { marks: if self.ecn { Marks::Congestion } else { Marks::Ignored }, ..Requirements::LEAST }
    }
}

impl SlowStart for Illinois {
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

    const BASE_S: f64 = 0.05;

    fn compiled(set: &[(&str, f64)]) -> Result<Illinois, String> {
        let values = Values::of(ENTRY.parameters, set);
        let context = Context { packet: crate::quantity::Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };
        Illinois::compile(&values, &context)
    }

    /// A round of acknowledgements of these queueing delays.
    fn round(law: &Illinois, s: &mut State<f64>, delays_s: &[f64]) {
        let seen = |delay_s| Observation { rtt_s: BASE_S + delay_s, base_rtt_s: BASE_S, ..Observation::zero() };
        for delay_s in delays_s {
            law.on_event(s, Event::Ack { packets: 1, marked: 0 }, &seen(*delay_s));
        }
        law.on_event(s, Event::Round, &seen(0.0));
    }

    /// In congestion avoidance with a window of 100 packets, having met a queueing delay of 100 ms.
    fn met(law: &Illinois) -> State<f64> {
        State { window: 100.0, ssthresh: 2.0, most_rtt: BASE_S + 0.1, ..law.initial_state() }
    }

    /// Both curves at d_m = 100 ms, as Linux's formulas have them.
    #[test]
    fn steps_follow_the_delay() {
        let law = compiled(&[]).unwrap();
        for (delay_s, alpha, beta) in [
            (0.000_999, 10.0, 0.125),
            (0.0109, 2.362, 0.125 + 0.375 * 0.9 / 70.0),
            (0.020, 1.388, 0.125 + 0.375 / 7.0),
            (0.045, 0.651, 0.3125),
            (0.050, 0.588, 0.125 + 0.375 * 4.0 / 7.0),
            (0.080, 0.373, 0.5),
            (0.100, 0.300, 0.5),
        ] {
            let mut s = met(&law);
            round(&law, &mut s, &[delay_s; 10]);
            assert!((s.alpha - alpha).abs() < 6e-4, "alpha({delay_s}) = {}, not {alpha}", s.alpha);
            assert!((s.beta - beta).abs() < 1e-9, "beta({delay_s}) = {}, not {beta}", s.beta);
        }
    }

    /// The delay is the mean of a round, and the next round begins anew.
    #[test]
    fn the_delay_is_the_mean_of_a_round() {
        let law = compiled(&[]).unwrap();
        let (mut a, mut b) = (met(&law), met(&law));
        round(&law, &mut a, &[0.01, 0.03]);
        round(&law, &mut b, &[0.09; 7]);
        round(&law, &mut b, &[0.02; 2]);
        assert!((a.alpha - 1.388).abs() < 6e-4 && (b.alpha - a.alpha).abs() < 1e-9, "{} {}", a.alpha, b.alpha);
    }

    /// After a long queue it takes five rounds with a short one; a round with a long one between does not count back.
    #[test]
    fn growth_is_fast_again_after_five_short_queues() {
        let law = compiled(&[]).unwrap();
        let mut s = met(&law);
        round(&law, &mut s, &[0.02; 10]);
        let slow = s.alpha;
        for at in 1..=5 {
            round(&law, &mut s, &[0.0; 10]);
            assert_eq!(s.alpha == 10.0, at == 5, "round {at}");
            assert!(at == 5 || s.alpha == slow);
        }
        round(&law, &mut s, &[0.02; 10]);
        (0..4).for_each(|_| round(&law, &mut s, &[0.0; 10]));
        round(&law, &mut s, &[0.02; 10]);
        round(&law, &mut s, &[0.0; 10]);
        assert_eq!(s.alpha, 10.0, "the fifth, as in Linux");
        let mut s = met(&law);
        round(&law, &mut s, &[0.0; 10]);
        assert_eq!(s.alpha, 10.0, "at once where the queue was never long");
    }

    /// A congestion event takes beta, a timeout too; and what follows a timeout is NewReno.
    #[test]
    fn congestion_takes_what_the_delay_said() {
        let law = compiled(&[]).unwrap();
        let mut s = met(&law);
        round(&law, &mut s, &[0.045; 10]);
        s.window = 100.0;
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        assert!((s.window - 68.75).abs() < 1e-9 && s.ssthresh == s.window, "{}", s.window);
        s.window = 100.0;
        law.on_event(&mut s, Event::Timeout, &Observation::zero());
        assert!((s.ssthresh - 68.75).abs() < 1e-9 && s.window == 1.0);
        assert_eq!((s.alpha, s.beta), (1.0, 0.5));
        s.window = 2.5;
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        assert_eq!(s.window, 2.0);
    }

    #[test]
    fn small_windows_are_newrenos() {
        let law = compiled(&[]).unwrap();
        for (window, alpha) in [(13.9, 1.0), (15.1, 10.0)] {
            let mut s = State { window, ..met(&law) };
            round(&law, &mut s, &[0.0]);
            assert_eq!(s.alpha, alpha, "{window}");
        }
    }

    #[test]
    fn decreases_in_the_wrong_order_are_refused() {
        assert!(compiled(&[("beta_min", 0.4), ("beta_max", 0.3)]).unwrap_err().contains("beta_max"));
    }
}
