//! FAST TCP's window control: settle where alpha packets of this flow are queued.
//!
//! Source: Jin et al., "FAST TCP: From Theory to Experiments" (2003), section 4, the unnumbered equation
//! `w <- min(2 w, (1 - gamma) w + gamma (baseRTT / RTT w + alpha))`.
//! Differs: the paper leaves open the update period (here once a round trip), the averaging of RTT (see
//! [`AverageRtt`](crate::estimate::AverageRtt)), the reaction to loss (half the window, at most once a round trip) and
//! the floor (two packets).
//!
//! On an empty path this adds gamma alpha packets a round trip. The option `start_growth` multiplies there.
//! Source: Jin, Wei, Low, "FAST TCP: Motivation, Architecture, Algorithms, Performance" (INFOCOM 2004), whose window
//! control has `alpha(w, qdelay)` instead of alpha: `a w` where the queueing delay is zero, alpha elsewhere. A round then
//! brings `1 + gamma a`, the value of `start_growth`.
//! Differs, in four things that the paper leaves open:
//! - No measured delay is zero. `a w` fades to nothing as the delay rises to `start_qdelay`, so that the law has no step;
//!   at its equilibrium, where n alpha packets are queued, the delay has to be above that.
//! - It is the larger of `a w` and alpha: small windows grow as without it.
//! - The growth of a round trip takes effect a round trip later, so that a window is overrun by up to `start_growth^2 - 1`
//!   of itself. By the delay alone it would do so for ever: a buffer that holds less loses, half a window later the queue is
//!   empty, and the window runs into the same loss; behind one that holds more, the queue drains below the threshold and all
//!   begins anew. So the law remembers the window that fitted the path when it was last full, by a loss or by a delay above
//!   the threshold. Below that the window multiplies, up to exactly that; above, the distance from there multiplies, and not
//!   the window. Before the path was full the distance is the window.
//! - So it does multiply after a loss, whatever the cause: a lost window is regained in a few round trips, where alpha
//!   alone takes hundreds on a long path. On a buffer of less than n alpha packets, where every law of this kind loses for
//!   ever, it regains more quickly what others lose more slowly: share such a line without it.
//!
//! Kernel implementation: `bpf/law/fast.h`, held equal bit for bit by `vectors/fast.txt`.

use alloc::string::{String, ToString};

use super::{Context, Controller, Event, Observation, Output, Requirements, RttAverage};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Dual, Fix, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "fast",
    title: "FAST TCP: an equation-based window, driven by queueing delay",
    source: "Jin et al., FAST TCP: From Theory to Experiments, 2003, section 4",
    colour: "#0b6e99",
    parameters: &[
        Parameter::number(
            "alpha",
            Unit::Packets,
            100.0,
            [0.0, 1e6],
            "packets that a flow keeps queued; also its weight in the shares",
            "section 4 has no value; 100 for flows of 1 Gbit/s, 50 in figure 1",
        ),
        Parameter::number(
            "gamma",
            Unit::One,
            0.5,
            [1e-6, 1.0],
            "step size",
            "section 4: in (0, 1]; with 1 it oscillates, because feedback takes a round trip",
        ),
        Parameter::number(
            "rtt_most",
            Unit::One,
            0.25,
            [1e-6, 1.0],
            "maximum weight of a sample in the average round-trip time",
            "section 4 requires an average; min(3/w, 1/4) as the authors described later",
        ),
        Parameter::automatic(
            "start_growth",
            Unit::One,
            "1, no factor: gamma alpha packets more per round trip",
            [1.0, 2.0],
            "growth factor per round trip on an empty path; once the path was full, it applies up to the window that \
             fitted, and beyond to the distance from it",
            "1 + gamma a of Jin, Wei, Low, INFOCOM 2004. A buffer below (start_growth^2 - 1) windows overflows at \
             least once",
        ),
        Parameter::automatic(
            "start_qdelay",
            Unit::Seconds,
            "500 us",
            [1e-6, 10.0],
            "queueing delay at which the effect of start_growth ends; linear below",
            "below the delay at equilibrium, n alpha over the line's rate: 1.2 ms for 100 packets at 1 Gbit/s",
        ),
    ],
    observables: Observables::of::<Fast<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Fast<f64>>,
    dual: Some(&build::<Dual, Fast<Dual>>),
    fixed: Some(&build::<Fix<32>, Fast<Fix<32>>>),
    kernel: None,
};

/// `start_qdelay` where it is not given.
const START_QDELAY_S: f64 = 500e-6;

/// FAST's compiled parameters.
#[derive(Debug)]
pub struct Fast<N> {
    /// alpha [packets]
    pub alpha: N,
    /// gamma
    pub gamma: N,
    /// 1 - gamma, rounded once
    pub keep: N,
    /// The start that multiplies, if it is selected.
    pub start: Option<Start<N>>,
    initial_window: N,
    rtt_most: f64,
    two: N,
    half: N,
}

/// The start's compiled parameters.
#[derive(Debug)]
pub struct Start<N> {
    /// gamma alpha, rounded once: the growth of a round without it [packets]
    pub step: N,
    /// The growth of a window in a round on an empty path, over the window: `start_growth - 1`
    pub surge: N,
    /// Queueing delay from which on it does nothing [s]
    pub qdelay_s: N,
    one: N,
    zero: N,
}

numbers! {
    /// The state of FAST.
    pub struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
    }
    frozen {
        /// The window of the round before, which this round's acknowledgements measure; zero after a congestion event, since
        /// packets sent about that time had several [packets].
        before: N,
        /// The part of that which fitted the path without a queue; zero until it is measured [packets].
        fits: N,
        /// The part that fitted when the path was last full: packets were lost, or the delay was above the threshold;
        /// zero before that [packets].
        known: N,
    }
}

impl<N: Number> State<N> {
    /// A window, and nothing known of the path.
    pub fn new(window: N) -> Self {
        let zero = N::of(0.0);
        Self { window, before: zero, fits: zero, known: zero }
    }

    /// Another window after a congestion event.
    fn lose(&mut self, window: N) {
        *self = Self { window, before: N::of(0.0), known: self.fits, ..*self };
    }
}

impl<N: Number> Start<N> {
    /// The growth in a round beyond the law's own step [packets]. `empty` is the part of the round trip that is no queue.
    fn beyond(&self, s: &mut State<N>, observation: &Observation<N>, empty: N) -> N {
        let room = (self.one - (observation.rtt_s - observation.base_rtt_s) / self.qdelay_s).max(self.zero);
        if s.before > self.zero {
            s.fits = s.before * empty;
            if room <= self.zero {
                s.known = s.fits;
            }
        }
        s.before = s.window;
        let distance = s.window - s.known;
        let gain = (self.surge * s.window).min(-distance).max(self.surge * distance);
        (gain * room - self.step).max(self.zero)
    }
}

impl<N: Number> Law<N> for Fast<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let (alpha, gamma) = (values.number("alpha"), values.number("gamma"));
        let (growth, qdelay_s) = (values.optional("start_growth"), values.optional("start_qdelay"));
        if growth.is_none() && qdelay_s.is_some() {
            return Err("`start_qdelay` has an effect with `start_growth` only".to_string());
        }
        let start = growth.filter(|growth| *growth > 1.0).map(|growth| Start {
            step: N::of(gamma * alpha),
            surge: N::of(growth - 1.0),
            qdelay_s: N::of(qdelay_s.unwrap_or(START_QDELAY_S)),
            one: N::of(1.0),
            zero: N::of(0.0),
        });
        Ok(Self {
            alpha: N::of(alpha),
            gamma: N::of(gamma),
            keep: N::of(1.0 - gamma),
            start,
            initial_window: N::of(context.initial_window),
            rtt_most: values.number("rtt_most"),
            two: N::of(2.0),
            half: N::of(0.5),
        })
    }

    fn initial_state(&self) -> State<N> {
        State::new(self.initial_window.max(self.two))
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        match event {
            Event::Round => {
                let empty = observation.base_rtt_s / observation.rtt_s;
                let target = s.window * empty + self.alpha;
                let mut next = self.keep * s.window + self.gamma * target;
                if let Some(start) = &self.start {
                    next += start.beyond(s, observation, empty);
                }
                s.window = next.min(self.two * s.window).max(self.two);
            }
            Event::Congestion => s.lose((s.window * self.half).max(self.two)),
            Event::Timeout => s.lose(self.two),
            Event::Ack { .. } | Event::Tick => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, observation: &Observation<N>) -> Output<N> {
        Output { window: s.window, gap_s: observation.rtt_s / s.window }
    }

    fn requirements(&self) -> Requirements {
        let average = RttAverage { over_window: 3.0, most: self.rtt_most };
        Requirements { average_rtt: Some(average), ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const SITE: Context = Context { packet: crate::quantity::Bytes(1500), initial_window: 1.0, initial_ssthresh: 1e9 };

    fn compile<N: Number>(set: &[(&str, f64)]) -> Result<Fast<N>, String> {
        let values = Values::of(ENTRY.parameters, set);
        Fast::compile(&values, &SITE)
    }

    fn law(alpha: f64) -> Fast<f64> {
        compile(&[("alpha", alpha)]).unwrap()
    }

    /// One whose start multiplies by `growth` a round.
    fn starting(alpha: f64, growth: f64) -> Fast<f64> {
        compile(&[("alpha", alpha), ("start_growth", growth)]).unwrap()
    }

    /// Reference, section 3: from one packet with gamma 0.5 and alpha 100 (the floor of two skips the first step).
    #[test]
    fn without_a_queue_it_doubles_then_adds_gamma_alpha() {
        let law = law(100.0);
        let mut s = law.initial_state();
        let observation = Observation { rtt_s: 0.1, base_rtt_s: 0.1, ..Observation::zero() };
        let mut windows = Vec::from([s.window]);
        for _ in 0..8 {
            law.on_event(&mut s, Event::Round, &observation);
            windows.push(s.window);
        }
        assert_eq!(windows, [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 114.0, 164.0, 214.0]);
    }

    /// Fixed point `x q = alpha`: 1 Gbit/s, 1500 B, 180 ms, alpha 100 gives 15100 packets (reference, 7.1 and 7.2),
    /// and the delay-free map reaches 10, 50, 90 and 99 % of 15000 packets after 35, 155, 275 and 302 updates.
    #[test]
    fn the_ramp_and_the_fixed_point_of_one_flow() {
        let law = law(100.0);
        let (base, rate) = (0.18, 1e9 / 12_000.0);
        let mut s = State::new(1.0);
        let mut reached = Vec::new();
        for update in 1..2000 {
            let rtt_s = base.max(s.window / rate);
            law.on_event(&mut s, Event::Round, &Observation { rtt_s, base_rtt_s: base, ..Observation::zero() });
            if reached.len() < 4 && s.window >= [0.10, 0.50, 0.90, 0.99][reached.len()] * 15_000.0 {
                reached.push(update);
            }
        }
        assert_eq!(reached, [35, 155, 275, 302]);
        assert!((s.window - 15_100.0).abs() < 0.1, "{}", s.window);
    }

    /// The equilibrium window at a round trip of which `seen_s` counts as queueing delay [packets].
    fn rest(law: &Fast<f64>, base_rtt_s: f64, seen_s: f64) -> f64 {
        let mut s = law.initial_state();
        for _ in 0..10_000 {
            law.on_event(
                &mut s,
                Event::Round,
                &Observation { rtt_s: base_rtt_s + seen_s, base_rtt_s, ..Observation::zero() },
            );
        }
        s.window
    }

    /// A round trip that is longer by D than its least sample is D of queue to it: `x = alpha / (q + D)`. A least one
    /// that had a queue `o` in it, as a late comer's has, leaves `x = alpha / (q - o)`.
    #[test]
    fn a_longer_path_is_a_queue_and_a_late_base_hides_one() {
        let law = law(100.0);
        let (d, more, queue, hidden) = (0.04, 0.06, 0.01, 0.004);
        let longer = rest(&law, d, more + queue) / (d + more + queue);
        assert!((longer / (100.0 / (queue + more)) - 1.0).abs() < 1e-9, "{longer}");
        let late = rest(&law, d + hidden, queue - hidden) / (d + queue);
        assert!((late / (100.0 / (queue - hidden)) - 1.0).abs() < 1e-9, "{late}");
    }

    /// Without packets to keep queued the window falls to the floor of two, so that round trips are still measured.
    #[test]
    fn the_window_has_a_floor() {
        let law = law(0.0);
        assert_eq!(rest(&law, 0.1, 0.1), 2.0);
        let mut s = State::new(3.0);
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        assert_eq!(s.window, 2.0);
    }

    /// `alpha(w, qdelay) = a w` on an empty path: `1 + gamma a` a round, where that is more than alpha and less than the
    /// doubling of `min(2 w, ...)`; half of it at half of the threshold, and the law alone from the threshold on.
    #[test]
    fn the_start_multiplies_and_fades_with_the_queueing_delay() {
        let (law, plain) = (starting(100.0, 1.5), law(100.0));
        let empty = Observation { rtt_s: 0.1, base_rtt_s: 0.1, ..Observation::zero() };
        let mut s = law.initial_state();
        let mut windows = Vec::from([s.window]);
        for _ in 0..8 {
            law.on_event(&mut s, Event::Round, &empty);
            windows.push(s.window);
        }
        assert_eq!(windows, [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 114.0, 171.0, 256.5]);
        let after = |law: &Fast<f64>, queueing_s: f64| {
            let mut s = State::new(1000.0);
            law.on_event(&mut s, Event::Round, &Observation { rtt_s: 0.1 + queueing_s, ..empty });
            s.window
        };
        assert!((after(&law, 250e-6) - (1250.0 - 0.5 * 1000.0 * (1.0 - 0.1 / 0.100_25))).abs() < 1e-9);
        for queueing_s in [501e-6, 1e-3, 0.1] {
            assert_eq!(after(&law, queueing_s), after(&plain, queueing_s), "{queueing_s}");
        }
    }

    /// A congestion event: the window is halved, and grows back to what fitted in the last round that was acknowledged
    /// before it. The law measures that two rounds after it was sent, when the window has grown twice.
    #[test]
    fn after_a_loss_it_multiplies_up_to_what_fitted() {
        let law = starting(8.0, 1.5);
        let empty = Observation { rtt_s: 0.1, base_rtt_s: 0.1, ..Observation::zero() };
        let mut s = State::new(1000.0);
        for _ in 0..3 {
            law.on_event(&mut s, Event::Round, &empty);
        }
        // The third round told of packets sent under 1500.
        assert_eq!((s.window, s.fits, s.known), (3375.0, 1500.0, 0.0));
        law.on_event(&mut s, Event::Congestion, &empty);
        assert_eq!((s.window, s.known), (1687.5, 1500.0));
        // Already above it: what multiplies is the distance. The first round tells of what was sent before the event.
        law.on_event(&mut s, Event::Round, &empty);
        assert_eq!((s.window, s.fits), (1781.25, 1500.0));
        law.on_event(&mut s, Event::Round, &empty);
        assert_eq!((s.window, s.fits), (1921.875, 1687.5));
        law.on_event(&mut s, Event::Congestion, &empty);
        law.on_event(&mut s, Event::Congestion, &empty);
        assert_eq!(s.known, 1687.5);
        let mut windows = Vec::from([s.window]);
        for _ in 0..8 {
            law.on_event(&mut s, Event::Round, &empty);
            windows.push(s.window);
        }
        // Then gamma alpha = 4, until half of the distance is more.
        let back = [480.468_75, 720.703_125, 1_081.054_687_5, 1_621.582_031_25, 1687.5];
        assert_eq!((&windows[..5], &windows[5..]), (&back[..], &[1691.5, 1695.5, 1699.5, 1705.5][..]));
        law.on_event(&mut s, Event::Timeout, &empty);
        assert_eq!((s.window, s.before, s.known), (2.0, 0.0, s.fits));
    }

    /// Packets over one line, a round trip at a time: a round's acknowledgements measure the round before, whose loss is
    /// known in this one. Rounds until 90 % of 15000 packets and until the window stays within a packet of `x q = alpha`,
    /// and how often packets were lost.
    fn flight(law: &Fast<f64>, buffer: f64, remembers: bool) -> (u32, u32, u32) {
        let (base, rate) = (0.18, 1e9 / 12_000.0);
        let mut s = State::new(10.0);
        let (mut sent, mut line, mut rest, mut losses) = (s.window, 0, 0, 0);
        for round in 1..3000 {
            let queue = (sent - rate * base).max(0.0);
            let observation =
                Observation { rtt_s: base + queue.min(buffer) / rate, base_rtt_s: base, ..Observation::zero() };
            sent = s.window;
            if queue > buffer {
                losses += 1;
                law.on_event(&mut s, Event::Congestion, &observation);
                sent = s.window;
            } else {
                law.on_event(&mut s, Event::Round, &observation);
            }
            if !remembers {
                s.known = 0.0;
            }
            if line == 0 && s.window >= 0.9 * 15_000.0 {
                line = round;
            }
            if (s.window - 15_000.0 - law.alpha).abs() > 1.0 {
                rest = round + 1;
            }
        }
        (line, rest, losses)
    }

    /// 1 Gbit/s, 180 ms, alpha 50: the law alone takes 541 rounds to 90 % of the line. A start that multiplies by 1.25 takes
    /// one and a half times the logarithm at the most, settles at the same window, and loses nothing where the buffer holds
    /// what it overshoots by. Behind 100 packets each loss leaves 1 - 1/1.25^2 of the distance for the next: five at the
    /// most until that overshoots by no more than alpha.
    #[test]
    fn the_start_reaches_the_same_rest_behind_any_buffer() {
        let (alone, law) = (law(50.0), starting(50.0, 1.25));
        let logarithm = libm::log(0.9 * 15_000.0 / 10.0) / libm::log(1.25);
        for (buffer, most_losses) in [(f64::INFINITY, 0), (100.0, 5)] {
            let (line, rest, losses) = flight(&alone, buffer, true);
            assert!((line, losses) == (541, 0) && rest < 1000, "{line} {rest} {losses}");
            let (line, rest, losses) = flight(&law, buffer, true);
            assert!(f64::from(line) < 1.5 * logarithm, "{line}");
            assert!(losses <= most_losses && rest < 150, "behind {buffer}: at rest after {rest}, {losses} losses");
        }
    }

    /// The reason for its memory: by the queueing delay alone it loses every few round trips behind a short buffer, and never settles.
    #[test]
    fn without_its_memory_the_start_would_never_rest_behind_a_short_buffer() {
        let (_, rest, losses) = flight(&starting(50.0, 1.25), 100.0, false);
        assert!(rest == 3000 && losses > 300, "{rest} {losses}");
    }

    /// At the equilibrium nothing of it is left but its kink: as far off as the delay is above the threshold.
    #[test]
    fn its_kink_is_seen_from_the_rest() {
        let law: Fast<Dual> = compile(&[("start_growth", 2.0), ("start_qdelay", 1e-3)]).unwrap();
        let plain: Fast<Dual> = compile(&[]).unwrap();
        let observation = Observation { rtt_s: Dual::seed(0.1812), base_rtt_s: Dual::of(0.18), ..Observation::zero() };
        let after = |law: &Fast<Dual>| {
            let mut s = State::new(Dual::of(15_100.0));
            law.on_event(&mut s, Event::Round, &observation);
            s.window
        };
        let (with, without) = (after(&law), after(&plain));
        assert_eq!((with.value, with.slope), (without.value, without.slope));
        assert!((with.kink - 0.2).abs() < 1e-9 && without.kink > 1000.0, "{with:?} {without:?}");
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        assert!(compile::<f64>(&[("start_qdelay", 1e-3)]).unwrap_err().contains("with `start_growth` only"));
        assert!(compile::<f64>(&[("start_growth", 1.0), ("start_qdelay", 1e-3)]).unwrap().start.is_none());
    }
}
