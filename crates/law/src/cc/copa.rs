//! Copa: a rate in proportion to the inverse of the queueing delay, and a window that swings around it.
//!
//! Source: Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet" (NSDI 2018), section 2, and the
//! authors' `markoviancc` in genericCC where the paper is silent: the bound of the velocity and the window of the smallest round
//! trip. Symbols: `velocity` is v, `standing` RTTstanding, `queue` d_q.
//! Differs: packets for bytes; a round trip of the velocity is a smoothed round-trip time, and fast changes turn at once, as in
//! mvfst; the smallest round trip of a window is exact but for a fifteenth of it; a window does not grow while the application is
//! short of data; after a timeout, which the paper leaves out, two packets start again.

use alloc::string::String;

use super::{
    AckSample, Context, Controller, Delivery, DeliveryEvent, Event, Observation, Output, Requirements, RttAverage,
};
use crate::estimate::RecentMin;
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::Number;
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
    observables: Observables::of::<Copa>(),
    linearisation: Linearisation::Unsupported(
        "it never settles: each step has the same size, up or down, whatever the distance to its target, and so it has no derivative",
    ),
    real: &build::<f64, Copa>,
    dual: None,
    fixed: None,
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

#[derive(Debug)]
struct Copa {
    delta: f64,
    competitive: bool,
    min_rtt_window: f64,
    mode_window: f64,
    nearly_empty: f64,
    initial_window: f64,
}

numbers! {
    /// The state of Copa.
    struct State {
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
        slow_start: bool,
        competes: bool,
        up: bool,
        /// Round trips in that direction.
        steady: u32,
        /// The start of the round trip, and the window then.
        since_s: f64,
        before: f64,
        /// A loss in this round trip.
        lost: bool,
        app_limited: bool,
        least: RecentMin<KEPT>,
        half: RecentMin<KEPT>,
        /// Smallest and largest round trip of the time that the mode goes by; the largest with the other sign.
        low: RecentMin<KEPT>,
        high: RecentMin<KEPT>,
    }
}

impl Copa {
    /// Measures the queue once a round trip.
    fn measure(&self, s: &mut State<f64>, now_s: f64, rtt_s: f64, average_s: f64) {
        let long_s = Number::max(self.min_rtt_window, ROUNDS * s.min_rtt);
        s.min_rtt = s.least.take(now_s, rtt_s, long_s);
        s.standing = Number::max(s.half.take(now_s, rtt_s, average_s / 2.0), s.min_rtt);
        if !self.competitive {
            return;
        }
        let low = s.low.take(now_s, rtt_s, self.mode_window * average_s);
        let high = -s.high.take(now_s, -rtt_s, self.mode_window * average_s);
        let competes = low > s.min_rtt + self.nearly_empty * (high - s.min_rtt);
        if s.competes && !competes {
            s.delta = self.delta;
        }
        s.competes = competes;
    }

    /// An acknowledgement moves the window towards the target rate 1 / (delta d_q).
    fn step(s: &mut State<f64>, now_s: f64, packets: f64) {
        let queue = s.standing - s.min_rtt;
        // W / RTTstanding <= 1 / (delta d_q), without a division by nothing.
        let up = s.window * s.delta * queue <= s.standing;
        if s.slow_start {
            if up {
                s.window += if s.app_limited { 0.0 } else { packets };
                return;
            }
            s.slow_start = false;
            (s.since_s, s.before) = (now_s, s.window);
        }
        // What is fast in one direction turns at once, and another round trip begins.
        if up != s.up && s.velocity > 1.0 {
            (s.up, s.velocity, s.steady) = (up, 1.0, 0);
            (s.since_s, s.before) = (now_s, s.window);
        }
        let by = s.velocity * packets / (s.delta * s.window);
        if !up {
            s.window = Number::max(s.window - by, LEAST);
        } else if !s.app_limited {
            s.window += by;
        }
    }

    /// A round trip is over: where the window went in it.
    fn turn(s: &mut State<f64>, now_s: f64) {
        let up = s.window > s.before;
        (s.since_s, s.before) = (now_s, s.window);
        if up == s.up {
            s.steady += 1;
            if s.steady >= STEADY {
                s.velocity = Number::max(Number::min(2.0 * s.velocity, s.window * s.delta), 1.0);
            }
        } else {
            (s.up, s.steady, s.velocity) = (up, 0, 1.0);
        }
    }

    fn on_ack(&self, s: &mut State<f64>, now_s: f64, ack: &AckSample, average_s: f64) {
        if let Some(rtt) = ack.rtt {
            self.measure(s, now_s, rtt.seconds(), average_s);
        }
        if s.min_rtt == 0.0 {
            return;
        }
        Self::step(s, now_s, f64::from(ack.packets));
        if !s.slow_start && now_s - s.since_s >= average_s {
            Self::turn(s, now_s);
        }
    }
}

impl Law<f64> for Copa {
    type Role = Controller;
    type State = State<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            delta: values.number("delta"),
            competitive: values.switch("competitive"),
            min_rtt_window: values.number("min_rtt_window"),
            mode_window: values.number("mode_window"),
            nearly_empty: values.number("nearly_empty"),
            initial_window: context.initial_window,
        })
    }

    fn initial_state(&self) -> State<f64> {
        State {
            window: self.initial_window,
            velocity: 1.0,
            delta: self.delta,
            min_rtt: 0.0,
            standing: 0.0,
            slow_start: true,
            competes: false,
            up: true,
            steady: 0,
            since_s: 0.0,
            before: 0.0,
            lost: false,
            app_limited: false,
            least: RecentMin::START,
            half: RecentMin::START,
            low: RecentMin::START,
            high: RecentMin::START,
        }
    }

    fn on_event(&self, s: &mut State<f64>, event: Event, _: &Observation<f64>) {
        match event {
            Event::Round => {
                if s.competes && !s.lost {
                    s.delta = 1.0 / (1.0 / s.delta + 1.0);
                }
                s.lost = false;
            }
            Event::Congestion if s.competes => {
                s.lost = true;
                s.delta = Number::min(2.0 * s.delta, self.delta);
            }
            Event::Timeout => {
                (s.window, s.velocity, s.steady, s.slow_start) = (LEAST, 1.0, 0, true);
            }
            Event::Congestion | Event::Ack { .. } | Event::Tick => {}
        }
    }

    fn on_detail(&self, s: &mut State<f64>, delivery: &Delivery, seen: &Observation<f64>) {
        if let DeliveryEvent::Ack(ack) = &delivery.event {
            s.app_limited = delivery.app_limited;
            self.on_ack(s, delivery.now.seconds(), ack, seen.rtt_s);
        }
    }

    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        // Section 2.1: twice the rate, so that the window is what limits.
        Output { window: s.window, gap_s: s.standing / (2.0 * s.window) }
    }

    fn requirements(&self) -> Requirements {
        Requirements { delivery: true, average_rtt: Some(RttAverage::weighing(0.125)), ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Time;

    const BASE_S: f64 = 0.04;

    fn law(set: &[(&str, f64)]) -> Copa {
        let values = Values::of(ENTRY.parameters, set);
        let context = Context { packet: crate::quantity::Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };
        Copa::compile(&values, &context).unwrap()
    }

    fn ack(law: &Copa, s: &mut State<f64>, now_s: f64, delay_s: f64) {
        let rtt = Some(Time::from_seconds(BASE_S + delay_s));
        let sample = AckSample { packets: 1, marked: 0, lost: 0, in_flight_before: 0, rtt, rate: None };
        law.on_ack(s, now_s, &sample, BASE_S + delay_s);
    }

    /// Past slow start, with a round trip of the empty path in mind.
    fn past_start(law: &Copa, window: f64) -> State<f64> {
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
            Copa::turn(&mut s, f64::from(at));
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
