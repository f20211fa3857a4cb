//! Copa: a rate in proportion to the inverse of the queueing delay, and a window that swings around it.
//!
//! Source: Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet" (NSDI 2018), section 2, and the
//! authors' `markoviancc` in genericCC where the paper is silent: the bound of the velocity and the window of the smallest round
//! trip. Symbols: `velocity` is v, `standing` RTTstanding, `queue` d_q.
//! Differs: packets for bytes; a round trip of the velocity is a smoothed round-trip time, and fast changes turn at once, as in
//! mvfst; the smallest round trip of a window is exact but for a fifteenth of it; a window does not grow while the application is
//! short of data; after a timeout, which the paper leaves out, two packets start again.
//!
//! Kernel implementation: `bpf/law/copa.h`, held equal bit for bit by `vectors/copa.txt`, and over whole connections by a replay.

use alloc::string::String;

use super::{
    AckSample, Context, Controller, Delivery, DeliveryEvent, Event, Observation, Output, Requirements, RttAverage,
    Spared,
};
use crate::estimate::{Clocked, RecentMin};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Fix, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "copa",
    title: "Copa: holds 1/delta packets of each flow in the queue",
    source: "Arun, Balakrishnan, Copa: Practical Delay-Based Congestion Control for the Internet, NSDI 2018",
    colour: "#b5651d",
    parameters: &[
        Parameter::number(
            "delta",
            Unit::One,
            0.5,
            [1e-4, 10.0],
            "a flow keeps 1/delta packets in the queue",
            "section 2.1; Meta's live video had 0.04",
        ),
        Parameter::switch(
            "competitive",
            true,
            "where the queue is never nearly empty, others fill it: delta then changes as Reno's window does",
            "section 2.2",
        ),
        Parameter::number(
            "min_rtt_window",
            Unit::Seconds,
            10.0,
            [0.1, 1e4],
            "time that the smallest round trip is of; 20 round trips at the least",
            "section 2.1; genericCC",
        ),
        Parameter::number(
            "mode_window",
            Unit::One,
            5.0,
            [1.0, 100.0],
            "round trips in which the queue has to be nearly empty once, for the default mode",
            "section 2.2",
        ),
        Parameter::number(
            "nearly_empty",
            Unit::One,
            0.1,
            [1e-3, 1.0],
            "a queue is nearly empty below this share of its largest delay",
            "section 2.2",
        ),
    ],
    observables: Observables::of::<Copa<f64>>(),
    linearisation: Linearisation::Unsupported(
        "it never settles: each step has the same size, up or down, whatever the distance to its target, and so it has no derivative",
    ),
    real: &build::<f64, Copa<f64>>,
    dual: None,
    fixed: Some(&build::<Fix<32>, Copa<Fix<32>>>),
    kernel: None,
};

/// Samples that a smallest round trip is made of.
const KEPT: usize = 16;
/// Round trips that the window of the smallest one has at the least (genericCC).
const ROUNDS: f64 = 20.0;
/// The velocity doubles once the direction has stayed for so many round trips (section 2.1).
const STEADY: u32 = 3;
/// [packets]
const LEAST: f64 = 2.0;

/// Copa's compiled parameters.
#[derive(Debug)]
pub struct Copa<N> {
    /// delta
    pub delta: N,
    /// True if delta changes where others fill the queue.
    pub competitive: bool,
    /// The time that the smallest round trip is of [s].
    pub min_rtt_window_s: N,
    /// Round trips that the mode goes by.
    pub mode_window: N,
    /// The share of the largest queueing delay below which a queue is nearly empty.
    pub nearly_empty: N,
    initial_window: N,
    zero: N,
    half: N,
    one: N,
    two: N,
    rounds: N,
    least: N,
}

/// Round trips of the times that Copa goes by [s].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extremes<N> {
    /// The smallest of `min_rtt_window`.
    pub least: N,
    /// The smallest of the last half of a round trip.
    pub half: N,
    /// The smallest of `mode_window` round trips; read with `competitive` only.
    pub low: N,
    /// The largest of the same time.
    pub high: N,
}

/// An acknowledgement, as Copa reads it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Acknowledged<N> {
    /// Its time [s].
    pub now_s: N,
    /// Packets newly delivered.
    pub packets: u32,
    /// The round trip that it measured [s].
    pub rtt_s: Option<N>,
    /// The average round trip [s].
    pub average_s: N,
    /// See [`Delivery::app_limited`].
    pub app_limited: bool,
}

numbers! {
    /// The state of Copa.
    pub struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// How many steps of 1/delta packets a round trip takes.
        velocity: "1" as "Velocity",
        /// One by the packets that the flow keeps in the queue.
        delta: "1" as "Delta",
        /// Smallest round-trip time of the last seconds; zero before the first sample.
        min_rtt: "s" as "Smallest round-trip time",
        /// Smallest round-trip time of the last half of a round trip.
        standing: "s" as "Standing round-trip time",
    }
    frozen {
        /// The rate was not yet above the target.
        slow_start: bool,
        /// Others fill the queue.
        competes: bool,
        /// The direction of the window.
        up: bool,
        /// Round trips in that direction, three at most.
        steady: u32,
        /// The start of the round trip [s], and the window then [packets].
        since_s: N,
        /// See `since_s`.
        before: N,
        /// A loss in this round trip.
        lost: bool,
        /// Round trips of `min_rtt_window`.
        least: RecentMin<N, KEPT>,
        /// Those of the last half of a round trip.
        half: RecentMin<N, KEPT>,
        /// Those of the time that the mode goes by.
        low: RecentMin<N, KEPT>,
        /// The same with the other sign.
        high: RecentMin<N, KEPT>,
    }
}

impl<N: Number> Copa<N> {
    /// Measures the queue.
    fn measure(&self, s: &mut State<N>, now_s: N, rtt_s: N, average_s: N) {
        let long_s = self.min_rtt_window_s.max(self.rounds * s.min_rtt);
        let least = s.least.take(now_s, rtt_s, long_s);
        let half = s.half.take(now_s, rtt_s, self.half * average_s);
        let (mut low, mut high) = (self.zero, self.zero);
        if self.competitive {
            let mode_s = self.mode_window * average_s;
            low = s.low.take(now_s, rtt_s, mode_s);
            high = -s.high.take(now_s, -rtt_s, mode_s);
        }
        self.see(s, &Extremes { least, half, low, high });
    }

    /// The queue by round trips of several times, and the mode that follows from it.
    pub fn see(&self, s: &mut State<N>, seen: &Extremes<N>) {
        s.min_rtt = seen.least;
        s.standing = seen.half.max(s.min_rtt);
        if !self.competitive {
            return;
        }
        let competes = seen.low > s.min_rtt + self.nearly_empty * (seen.high - s.min_rtt);
        if s.competes && !competes {
            s.delta = self.delta;
        }
        s.competes = competes;
    }

    /// An acknowledgement moves the window towards the target rate 1 / (delta d_q).
    fn step(&self, s: &mut State<N>, ack: &Acknowledged<N>) {
        let packets = N::count(ack.packets);
        let queue = s.standing - s.min_rtt;
        // W / RTTstanding <= 1 / (delta d_q), without a division by nothing.
        let up = s.window * s.delta * queue <= s.standing;
        if s.slow_start {
            if up {
                s.window += if ack.app_limited { self.zero } else { packets };
                return;
            }
            s.slow_start = false;
            (s.since_s, s.before) = (ack.now_s, s.window);
        }
        // What is fast in one direction turns at once, and another round trip begins.
        if up != s.up && s.velocity > self.one {
            (s.up, s.velocity, s.steady) = (up, self.one, 0);
            (s.since_s, s.before) = (ack.now_s, s.window);
        }
        let by = s.velocity * packets / (s.delta * s.window);
        if !up {
            s.window = (s.window - by).max(self.least);
        } else if !ack.app_limited {
            s.window += by;
        }
    }

    /// A round trip is over: where the window went in it.
    fn turn(&self, s: &mut State<N>, now_s: N) {
        let up = s.window > s.before;
        (s.since_s, s.before) = (now_s, s.window);
        if up != s.up {
            (s.up, s.steady, s.velocity) = (up, 0, self.one);
            return;
        }
        if s.steady < STEADY {
            s.steady += 1;
        }
        if s.steady >= STEADY {
            s.velocity = (self.two * s.velocity).min(s.window * s.delta).max(self.one);
        }
    }

    /// An acknowledgement.
    pub fn on_ack(&self, s: &mut State<N>, ack: &Acknowledged<N>) {
        if let Some(rtt_s) = ack.rtt_s {
            self.measure(s, ack.now_s, rtt_s, ack.average_s);
        }
        if s.min_rtt == self.zero {
            return;
        }
        self.step(s, ack);
        if !s.slow_start && ack.now_s - s.since_s >= ack.average_s {
            self.turn(s, ack.now_s);
        }
    }
}

impl<N: Clocked> Law<N> for Copa<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            delta: N::of(values.number("delta")),
            competitive: values.switch("competitive"),
            min_rtt_window_s: N::of(values.number("min_rtt_window")),
            mode_window: N::of(values.number("mode_window")),
            nearly_empty: N::of(values.number("nearly_empty")),
            initial_window: N::of(context.initial_window),
            zero: N::of(0.0),
            half: N::of(0.5),
            one: N::of(1.0),
            two: N::of(2.0),
            rounds: N::of(ROUNDS),
            least: N::of(LEAST),
        })
    }

    fn initial_state(&self) -> State<N> {
        State {
            window: self.initial_window,
            velocity: self.one,
            delta: self.delta,
            min_rtt: self.zero,
            standing: self.zero,
            slow_start: true,
            competes: false,
            up: true,
            steady: 0,
            since_s: self.zero,
            before: self.zero,
            lost: false,
            least: RecentMin::nothing(),
            half: RecentMin::nothing(),
            low: RecentMin::nothing(),
            high: RecentMin::nothing(),
        }
    }

    fn on_event(&self, s: &mut State<N>, event: Event, _: &Observation<N>) {
        match event {
            Event::Round => {
                if s.competes && !s.lost {
                    s.delta = self.one / (self.one / s.delta + self.one);
                }
                s.lost = false;
            }
            Event::Congestion if s.competes => {
                s.lost = true;
                s.delta = (self.two * s.delta).min(self.delta);
            }
            Event::Timeout => {
                (s.window, s.velocity, s.steady, s.slow_start) = (self.least, self.one, 0, true);
            }
            Event::Congestion | Event::Ack { .. } | Event::Tick => {}
        }
    }

    fn on_detail(&self, s: &mut State<N>, delivery: &Delivery, seen: &Observation<N>) {
        if let DeliveryEvent::Ack(AckSample { packets, rtt, .. }) = delivery.event {
            let ack = Acknowledged {
                now_s: N::span(delivery.now),
                packets,
                rtt_s: rtt.map(N::span),
                average_s: seen.rtt_s,
                app_limited: delivery.app_limited,
            };
            self.on_ack(s, &ack);
        }
    }

    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        // Section 2.1: twice the rate, so that the window is what limits.
        Output { window: s.window, gap_s: s.standing / (self.two * s.window) }
    }

    fn requirements(&self) -> Requirements {
        let average_rtt = Some(RttAverage::weighing(0.125));
        let spared = Spared { transmissions: true, uniform: true, acks: true, timing: true };
        Requirements { delivery: true, spared, average_rtt, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Time;

    const BASE_S: f64 = 0.04;

    fn law(set: &[(&str, f64)]) -> Copa<f64> {
        let values = Values::of(ENTRY.parameters, set);
        let context = Context { packet: crate::quantity::Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };
        Copa::compile(&values, &context).unwrap()
    }

    fn ack(law: &Copa<f64>, s: &mut State<f64>, now_s: f64, delay_s: f64) {
        let rtt_s = Some(Time::from_seconds(BASE_S + delay_s).seconds());
        let ack = Acknowledged { now_s, packets: 1, rtt_s, average_s: BASE_S + delay_s, app_limited: false };
        law.on_ack(s, &ack);
    }

    /// Past slow start, with a round trip of the empty path in mind.
    fn past_start(law: &Copa<f64>, window: f64) -> State<f64> {
        let mut s = law.initial_state();
        ack(law, &mut s, 0.0, 0.0);
        State { window, before: window, slow_start: false, ..s }
    }

    /// Section 2.1: the target is one by delta d_q. At d_q = 1 ms and delta = 1/2 it is 2000 packets a second: up with a window
    /// below 82 packets over 41 ms, down above. Each acknowledgement moves the window by v / (delta W).
    #[test]
    fn the_target_is_one_by_delta_queueing_delays() {
        let law = law(&[]);
        for (window, sign) in [(81.9, 1.0), (82.1, -1.0), (300.0, -1.0), (10.0, 1.0)] {
            let mut s = past_start(&law, window);
            s.up = sign > 0.0;
            ack(&law, &mut s, 1.0, 0.001);
            assert!((s.window - window - sign * 2.0 / window).abs() < 1e-9, "{window}: {}", s.window);
        }
        let mut s = past_start(&law, 1e6);
        ack(&law, &mut s, 1.0, 0.0);
        assert!(s.window > 1e6, "without a queue it grows");
    }

    /// The velocity doubles from the third round in a direction on, up to W delta, and is one after a turn.
    #[test]
    fn the_velocity_doubles_after_three_rounds() {
        let law = law(&[]);
        let mut s = past_start(&law, 20.0);
        let mut seen = [0.0; 8];
        for (at, velocity) in (1..).zip(&mut seen) {
            s.window += 0.01;
            law.turn(&mut s, f64::from(at));
            *velocity = s.velocity;
        }
        assert_eq!(seen[..5], [1.0, 1.0, 2.0, 4.0, 8.0]);
        assert!((seen[7] - 10.0).abs() < 0.1, "{seen:?}");
        ack(&law, &mut s, 8.0, 0.1);
        assert!(s.velocity == 1.0 && !s.up);
    }

    /// Slow start doubles each round trip until the rate is above the target.
    #[test]
    fn slow_start_ends_at_the_target() {
        let law = law(&[]);
        let mut s = law.initial_state();
        (0..10).for_each(|_| ack(&law, &mut s, 0.0, 0.0));
        assert_eq!((s.window, s.slow_start), (20.0, true));
        // 20 packets in 50 ms are 400 a second, and 10 ms allow 200.
        ack(&law, &mut s, 1.0, 0.01);
        assert!(!s.slow_start && s.window < 20.0);
    }

    /// A queue that is never nearly empty is somebody else's: one by delta grows by one each round trip without a loss and halves with
    /// one, never below the default, which holds again when the queue was nearly empty.
    #[test]
    fn delta_competes_while_the_queue_stays() {
        let law = law(&[]);
        let mut s = past_start(&law, 20.0);
        (1..100).for_each(|at| ack(&law, &mut s, f64::from(at) * 0.01, 0.05 + 0.01 * f64::from(at % 5)));
        assert!(s.competes);
        for packets in [3.0, 4.0, 5.0] {
            law.on_event(&mut s, Event::Round, &Observation::zero());
            assert!((1.0 / s.delta - packets).abs() < 1e-9);
        }
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        law.on_event(&mut s, Event::Round, &Observation::zero());
        assert!((1.0 / s.delta - 2.5).abs() < 1e-9);
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        assert_eq!(s.delta, 0.5);
        (0..9).for_each(|_| law.on_event(&mut s, Event::Round, &Observation::zero()));
        ack(&law, &mut s, 1.01, 0.004);
        assert_eq!((s.competes, s.delta), (false, 0.5));
        let alone = self::law(&[("competitive", 0.0)]);
        let mut s = past_start(&alone, 20.0);
        (1..100).for_each(|at| ack(&alone, &mut s, f64::from(at) * 0.01, 0.05));
        assert!(!s.competes);
    }

    /// Section 2: losses are no signal in the default mode.
    #[test]
    fn losses_are_no_signal() {
        let law = law(&[]);
        let mut s = past_start(&law, 20.0);
        let before = s;
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        assert_eq!(s, before);
    }
}
