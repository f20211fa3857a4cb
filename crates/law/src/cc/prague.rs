//! TCP Prague: the window follows the share of marked packets, as in DCTCP, and flows on short paths grow as if theirs were longer.
//!
//! Source: draft-briscoe-iccrg-prague-congestion-control-04 (2024), RFC 9331, section 4, and the Linux of the L4S team,
//! `net/ipv4/tcp_prague.c`, for every constant. Each virtual round trip `alpha <- alpha + g (F - alpha)`, with `F` the share of
//! packets that were marked, and at most once a virtual round trip, on a mark, `W <- W (1 - alpha / 2)`.
//! Differs: real numbers for 20 bits behind the point; a round of alpha lasts a virtual round trip, where Linux rounds that up to whole
//! round trips; a reduction comes with the first mark of such a round, where in Linux a round begins with a reduction (`rounds`), which
//! leaves more marks; packets leave one by one, which no burst of 250 us exceeds; packets acknowledged in loss
//! recovery do not count; the fallback has weights of real numbers.
//!
//! Kernel implementation: `bpf/law/prague.h`, held equal bit for bit by `vectors/prague.txt`, without the fallback and with windows
//! of two packets at the least.

mod mean;

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use super::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use crate::law::{Entry, Instances, Law, Linearisation, Observables, build};
use crate::number::{Dual, Fix, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

use mean::Mean;

const LINUX: &str = "L4STeam/linux, tcp_prague.c";

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "prague",
    title: "TCP Prague: reduces the window in proportion to the share of marked packets, with a virtual round trip",
    source: "draft-briscoe-iccrg-prague-congestion-control-04; L4STeam/linux, net/ipv4/tcp_prague.c",
    colour: "#d62f5f",
    parameters: &[
        Parameter::number(
            "g",
            Unit::One,
            0.0625,
            [1e-6, 1.0],
            "weight of the last virtual round trip in the estimate alpha",
            LINUX,
        ),
        Parameter::number("alpha", Unit::One, 1.0, [0.0, 1.0], "estimate until the first mark", LINUX),
        Parameter::number(
            "virtual_rtt",
            Unit::Seconds,
            0.025,
            [1e-6, 0.1],
            "least round trip that a flow behaves as if it had",
            LINUX,
        ),
        Parameter::number(
            "transition",
            Unit::One,
            500.0,
            [0.0, 1e9],
            "round trips after slow start until the virtual round trip holds",
            LINUX,
        ),
        Parameter::choice(
            "rounds",
            &["of-alpha", "of-reductions"],
            "period with at most one reduction: a round of alpha, or the round trip after a reduction",
            "RFC 8257, section 3.3, once per window of data; Linux, tcp_enter_cwr",
        ),
        Parameter::number(
            "least_window",
            Unit::Packets,
            2.0,
            [0.01, 2.0],
            "smallest window; below two packets it is a rate",
            "Linux, MIN_CWND; RFC 9331, section 4.3, item 6, requires less",
        ),
        Parameter::switch(
            "fallback",
            false,
            "reduces the window as for a loss if the round-trip time shows a classic queue",
            "RFC 9331, section 4.3, item 3; off in Linux",
        ),
    ],
    observables: Observables::of::<Prague<f64>>(),
    linearisation: Linearisation::Mean(
        "random marks: if a virtual round trip has M marks on average, the window is reduced in it with probability \
         1 - exp(-M)",
    ),
    real: &build::<f64, Prague<f64>>,
    dual: Some(&build::<Dual, Mean<Dual>>),
    fixed: Some(&in_kernel),
    kernel: None,
};

/// A round trip longer than that is not scaled [s] (Linux: MAX_SCALED_RTT).
const LONGEST_S: f64 = 0.1;
/// Weight of a sample in the smoothed round-trip time (RFC 6298).
const SMOOTHED: f64 = 0.125;

/// Prague in the kernel's arithmetic, with what its kernel program has.
fn in_kernel(values: &Values, context: &Context) -> Result<Box<dyn Instances<Fix<32>, Controller>>, String> {
    if values.switch("fallback") {
        return Err("`fallback` takes square roots, which the kernel implementation has not: write `fallback = false`"
            .to_string());
    }
    if values.number("least_window") < 2.0 {
        return Err(
            "the kernel counts whole packets, and a window below two packets is a rate: write `least_window = 2`"
                .to_string(),
        );
    }
    build::<Fix<32>, Prague<Fix<32>>>(values, context)
}

/// Prague's compiled parameters.
#[derive(Debug)]
pub struct Prague<N> {
    /// g
    pub g: N,
    /// The virtual round trip [s].
    pub virtual_rtt_s: N,
    /// Round trips until it holds.
    pub transition: N,
    /// True if a round trip begins with a reduction.
    pub of_reductions: bool,
    /// The smallest window [packets].
    pub least_window: N,
    /// alpha until the first mark.
    alpha: N,
    fallback: bool,
    fractions: bool,
    initial_window: N,
    initial_ssthresh: N,
    longest_s: N,
    smoothed: N,
    half: N,
    zero: N,
    one: N,
    two: N,
}

numbers! {
    /// The state of Prague.
    pub struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Slow-start threshold: while the window is below it, the window doubles each round trip.
        ssthresh: "packets" as "Slow-start threshold",
        /// Estimated share of packets that are marked.
        alpha: "1" as "Estimated share of marked packets, alpha",
        /// Smoothed round-trip time; zero before the first sample.
        smoothed_rtt: "s" as "Smoothed round-trip time",
        /// Packets acknowledged in the current virtual round trip.
        acked: "packets" as "Acknowledged in this round",
        /// Packets acknowledged with a mark in the current virtual round trip.
        marked: "packets" as "Marked in this round",
        /// How sure the flow is that the queue is a classic one: not up to 8, and wholly from 9 on.
        classic: "1" as "Signs of a classic queue",
    }
    frozen {
        /// There was a mark.
        met: bool,
        /// There was a reduction in this round.
        reduced: bool,
        /// Round trips since slow start.
        rounds: N,
        /// The start of `alpha`'s round [s].
        since_s: N,
        /// The time of the last reduction [s].
        reduced_s: N,
        /// The signs of a classic queue.
        signs: Signs,
    }
}

/// The signs of the queue in the round trip: slow averages of it and of its deviation [s].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signs {
    mean: f64,
    deviation: f64,
}

impl Signs {
    /// Nothing measured yet.
    pub const START: Self = Self { mean: 0.0, deviation: 0.0 };
    /// Weights of deviation and depth, V and D of Linux, and their references, V0 and D0 [s].
    const WEIGHT: f64 = 0.5;
    const DEVIATION_S: f64 = 750e-6;
    const DEPTH_S: f64 = 2e-3;
    /// The score that stays with L4S, and the largest one (L_STICKY, C_STICKY).
    const L4S: f64 = 8.0;
    const MOST: f64 = 17.0;
    /// The alpha of a wholly classic queue: 1/2 + 1/8.
    const ALPHA: f64 = 0.625;

    /// A sample, with weights that a larger window makes smaller (prague_update_rtt_scaling).
    fn sample(&mut self, rtt_s: f64, window: f64) {
        if self.mean == 0.0 {
            self.mean = rtt_s;
            return;
        }
        let weight = Number::min(0.5 / (window * libm::sqrt(window)), 0.5);
        let off = rtt_s - self.mean;
        self.mean += weight * off;
        self.deviation += 0.5 * weight * (off.abs() - self.deviation);
    }

    /// The score after another round.
    fn judge(&self, score: f64, base_s: f64) -> f64 {
        let log2 = |x: f64| libm::log2(x);
        let deviation = Number::max(self.deviation, 1e-6);
        let depth = Number::max((self.mean - base_s) / Self::DEPTH_S, 1.0);
        Number::clamp(score + Self::WEIGHT * (log2(deviation / Self::DEVIATION_S) + log2(depth)), 0.0, Self::MOST)
    }
}

impl<N: Number> Prague<N> {
    /// True if the flow behaves as if its round trip were a longer one.
    fn is_virtual(&self, s: &State<N>) -> bool {
        s.window >= s.ssthresh && s.rounds >= self.transition
    }

    /// The growth of the window for an acknowledged packet, times the window.
    fn growth(&self, s: &State<N>) -> N {
        let rtt_s = s.smoothed_rtt;
        if s.rounds >= self.transition && rtt_s > self.zero && rtt_s <= self.longest_s && rtt_s < self.virtual_rtt_s {
            let share = rtt_s / self.virtual_rtt_s;
            share * share
        } else {
            self.one
        }
    }

    fn clock(&self, s: &mut State<N>, seen: &Observation<N>) {
        if seen.rtt_s <= self.zero {
            return;
        }
        let first = s.smoothed_rtt == self.zero;
        let step = self.smoothed * (seen.rtt_s - s.smoothed_rtt);
        s.smoothed_rtt = if first { seen.rtt_s } else { s.smoothed_rtt + step };
        if self.fallback {
            s.signs.sample(seen.rtt_s.value(), s.window.value());
        }
    }

    /// The least time of a round trip, beside its own [s].
    fn least_s(&self, s: &State<N>) -> N {
        if self.is_virtual(s) { self.virtual_rtt_s } else { self.zero }
    }

    /// A mark: at most one reduction in a virtual round trip.
    fn reduce(&self, s: &mut State<N>, now_s: N) {
        let over =
            if self.of_reductions { now_s - s.reduced_s >= self.least_s(s).max(s.smoothed_rtt) } else { !s.reduced };
        if !over {
            return;
        }
        (s.reduced, s.reduced_s) = (true, now_s);
        let mut alpha = s.alpha;
        if self.fallback {
            let sure = Number::clamp(s.classic.value() - Signs::L4S, 0.0, 1.0);
            alpha = alpha.max(N::of(Signs::ALPHA * sure));
        }
        s.window = (s.window * (self.one - self.half * alpha)).max(self.least_window);
        s.ssthresh = s.window;
    }

    /// A virtual round trip may be over.
    fn round(&self, s: &mut State<N>, seen: &Observation<N>) {
        if s.smoothed_rtt == self.zero || seen.now_s - s.since_s < self.least_s(s).max(s.smoothed_rtt) {
            return;
        }
        (s.since_s, s.reduced) = (seen.now_s, false);
        if s.window >= s.ssthresh {
            s.rounds += self.one;
        }
        // Without a mark nothing says that there is somebody who marks.
        if s.met && s.acked > self.zero {
            s.alpha += self.g * (s.marked / s.acked - s.alpha);
            if self.fallback {
                s.classic = N::of(s.signs.judge(s.classic.value(), seen.base_rtt_s.value()));
            }
        }
        (s.acked, s.marked) = (self.zero, self.zero);
    }
}

impl<N: Number> Law<N> for Prague<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            g: N::of(values.number("g")),
            virtual_rtt_s: N::of(values.number("virtual_rtt")),
            transition: N::of(values.number("transition")),
            of_reductions: values.number("rounds") != 0.0,
            least_window: N::of(values.number("least_window")),
            alpha: N::of(values.number("alpha")),
            fallback: values.switch("fallback"),
            fractions: values.number("least_window") < 2.0,
            initial_window: N::of(context.initial_window),
            initial_ssthresh: N::of(context.initial_ssthresh),
            longest_s: N::of(LONGEST_S),
            smoothed: N::of(SMOOTHED),
            half: N::of(0.5),
            zero: N::of(0.0),
            one: N::of(1.0),
            two: N::of(2.0),
        })
    }

    fn initial_state(&self) -> State<N> {
        State {
            window: self.initial_window,
            ssthresh: self.initial_ssthresh,
            alpha: self.alpha,
            smoothed_rtt: self.zero,
            acked: self.zero,
            marked: self.zero,
            classic: self.zero,
            met: false,
            reduced: false,
            rounds: self.zero,
            since_s: self.zero,
            reduced_s: N::of(f64::NEG_INFINITY),
            signs: Signs::START,
        }
    }

    fn on_event(&self, s: &mut State<N>, event: Event, seen: &Observation<N>) {
        match event {
            Event::Ack { packets, marked } => {
                self.clock(s, seen);
                self.round(s, seen);
                s.acked += N::count(packets);
                s.marked += N::count(marked);
                if marked > 0 {
                    s.met = true;
                    self.reduce(s, seen.now_s);
                }
                // Growth goes on in the round of a reduction.
                let grows = N::count(packets.saturating_sub(marked));
                s.window += if s.window < s.ssthresh { grows } else { grows * self.growth(s) / s.window };
            }
            Event::Congestion => {
                s.window = (self.half * s.window).max(self.least_window);
                s.ssthresh = s.window;
            }
            Event::Timeout => {
                s.ssthresh = (self.half * s.window).max(self.two);
                s.window = self.one;
            }
            Event::Round | Event::Tick => {}
        }
    }

    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        let speed = if s.window < self.half * s.ssthresh { self.two } else { self.one };
        Output { window: s.window, gap_s: s.smoothed_rtt / (speed * s.window) }
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            marks: Marks::Counted,
            now: true,
            low_latency: true,
            fractions: self.fractions,
            ..Requirements::LEAST
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(set: &[(&str, f64)]) -> Prague<f64> {
        let values = Values::of(ENTRY.parameters, set);
        let context = Context { packet: crate::quantity::Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };
        Prague::compile(&values, &context).unwrap()
    }

    fn seen(now_s: f64, rtt_s: f64) -> Observation<f64> {
        Observation { rtt_s, base_rtt_s: rtt_s, now_s, ..Observation::zero() }
    }

    /// Long in congestion avoidance.
    fn avoiding(law: &Prague<f64>, window: f64, rtt_s: f64) -> State<f64> {
        State { window, ssthresh: 2.0, smoothed_rtt: rtt_s, rounds: 1e6, met: true, ..law.initial_state() }
    }

    /// For a second: a window of packets a round trip, and of `every` packets one is marked. The marks of the last half.
    fn run(law: &Prague<f64>, s: &mut State<f64>, rtt_s: f64, span_s: f64, every: u64) -> f64 {
        let (mut now_s, mut packets, mut marks) = (0.0, 0u64, 0.0);
        while now_s < span_s {
            now_s += rtt_s / s.window;
            packets += 1;
            let marked = u32::from(every > 0 && packets % every == 0);
            marks += if now_s > span_s / 2.0 { f64::from(marked) } else { 0.0 };
            law.on_event(s, Event::Ack { packets: 1, marked }, &seen(now_s, rtt_s));
        }
        marks
    }

    /// Without marks the rate grows by a packet per 25 ms each 25 ms, whatever the round trip below that; above, a packet a round
    /// trip.
    #[test]
    fn the_rate_grows_as_if_the_path_were_longer() {
        let law = law(&[]);
        for (rtt_s, growth) in
            [(0.001, 0.001 / 0.025 * 40.0), (0.005, 0.005 / 0.025 * 40.0), (0.025, 40.0), (0.05, 20.0)]
        {
            let mut s = avoiding(&law, 200.0, rtt_s);
            run(&law, &mut s, rtt_s, 1.0, 0);
            let is = s.window - 200.0;
            assert!((is / growth - 1.0).abs() < 0.02, "{rtt_s}: {is} and not {growth}");
        }
        // Before 500 rounds it is a packet each round trip.
        let mut s = State { rounds: 0.0, ..avoiding(&law, 200.0, 0.005) };
        run(&law, &mut s, 0.005, 0.5, 0);
        assert!((s.window - 300.0).abs() < 2.0, "{}", s.window);
    }

    /// Evenly spaced marks of share p rest where the growth of a round trip is what a reduction takes: W = 2/p at a round trip of
    /// 25 ms or more, and of packets in 25 ms below; two marks a virtual round trip.
    #[test]
    fn two_marks_a_virtual_round_trip() {
        let law = law(&[]);
        for (rtt_s, every) in [(0.025, 50), (0.1, 50), (0.005, 50), (0.025, 500), (0.01, 500)] {
            let rest = 2.0 * every as f64 * Number::min(rtt_s / 0.025, 1.0);
            let mut s = State { alpha: 1.0 / every as f64, ..avoiding(&law, rest, rtt_s) };
            let span_s = 2000.0 * Number::max(rtt_s, 0.025);
            let marks = run(&law, &mut s, rtt_s, span_s, every) / 1000.0;
            assert!((marks / 2.0 - 1.0).abs() < 0.2, "{rtt_s} {every}: {marks} marks, window {}", s.window);
            assert!((s.window / rest - 1.0).abs() < 0.3, "{rtt_s} {every}: {} and not {rest}", s.window);
        }
    }

    /// alpha begins at one, does not move before the first mark, and that mark halves the window and ends slow start.
    #[test]
    fn the_first_mark_halves() {
        let law = law(&[]);
        let mut s = law.initial_state();
        for at in 0..30 {
            law.on_event(&mut s, Event::Ack { packets: 1, marked: 0 }, &seen(f64::from(at) * 0.01, 0.1));
        }
        assert_eq!((s.window, s.alpha), (40.0, 1.0));
        law.on_event(&mut s, Event::Ack { packets: 2, marked: 2 }, &seen(0.4, 0.1));
        assert_eq!((s.window, s.ssthresh), (20.0, 20.0));
        law.on_event(&mut s, Event::Ack { packets: 2, marked: 2 }, &seen(0.45, 0.1));
        assert_eq!(s.window, 20.0, "once a round trip");
        law.on_event(&mut s, Event::Ack { packets: 1, marked: 0 }, &seen(0.46, 0.1));
        assert_eq!(s.window, 20.05, "it grows on");
        law.on_event(&mut s, Event::Ack { packets: 1, marked: 0 }, &seen(0.51, 0.1));
        assert!((s.alpha - (1.0 - 0.0625 * 0.2)).abs() < 1e-12, "four of five packets were marked: {}", s.alpha);
    }

    /// The kernel's arithmetic has no square root, and no window that is a rate.
    #[test]
    fn what_the_kernel_has_not_is_refused() {
        let context = Context { packet: crate::quantity::Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };
        let built = |set: &[(&str, f64)]| in_kernel(&Values::of(ENTRY.parameters, set), &context).map(|_| ());
        assert_eq!(built(&[]), Ok(()));
        assert!(built(&[("fallback", 1.0)]).unwrap_err().contains("`fallback = false`"));
        assert!(built(&[("least_window", 1.0)]).unwrap_err().contains("`least_window = 2`"));
    }

    /// A loss halves, whatever alpha is, and leaves alpha alone. The least window is a parameter.
    #[test]
    fn losses_halve() {
        let law = law(&[("least_window", 0.5)]);
        let mut s = State { alpha: 0.01, ..avoiding(&law, 100.0, 0.05) };
        law.on_event(&mut s, Event::Congestion, &seen(1.0, 0.05));
        assert_eq!((s.window, s.ssthresh, s.alpha), (50.0, 50.0, 0.01));
        (0..20).for_each(|_| law.on_event(&mut s, Event::Congestion, &seen(1.0, 0.05)));
        assert_eq!(s.window, 0.5);
        assert!(law.requirements().fractions && !self::law(&[]).requirements().fractions);
    }

    /// A queue of tens of milliseconds that comes and goes is a classic one: marks then take 0.31 of the window, nearly as CUBIC does.
    /// One of less than a millisecond is not.
    #[test]
    fn a_deep_queue_is_a_classic_one() {
        let law = law(&[("fallback", 1.0)]);
        for (swing_s, share) in [(0.02, 1.0 - 0.3125), (0.000_2, 1.0 - 0.005)] {
            let mut s = State { alpha: 0.01, ..avoiding(&law, 20.0, 0.03) };
            for at in 0..40_000 {
                let rtt_s = 0.03 + swing_s * (1.0 + libm::sin(f64::from(at) * 0.01)) / 2.0;
                s.window = 20.0;
                let observation = Observation { base_rtt_s: 0.03, ..seen(f64::from(at) * 0.0015, rtt_s) };
                law.on_event(&mut s, Event::Ack { packets: 1, marked: 0 }, &observation);
                s.alpha = 0.01;
            }
            (s.window, s.alpha) = (20.0, 0.01);
            (s.since_s, s.reduced) = (60.0, false);
            law.on_event(&mut s, Event::Ack { packets: 1, marked: 1 }, &seen(60.0, 0.03));
            assert!((s.window / 20.0 - share).abs() < 1e-9, "{swing_s}: {} by {}", s.window, s.classic);
        }
    }
}
