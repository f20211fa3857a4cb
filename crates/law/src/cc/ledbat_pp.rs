//! LEDBAT++: LEDBAT that gives way to others sooner, and looks for the empty path from time to time.
//!
//! Source: draft-irtf-iccrg-ledbat-plus-plus-06 (January 2026), section 4: a gain that depends on the base delay, a slow start
//! that ends at three quarters of the target, a multiplicative decrease above the target, and slowdowns.
//! Differs: packets for bytes; growth is spread over the acknowledgements of a round trip, and a decrease comes once a round
//! trip; a window that is not used does not grow; the ramp after a slowdown ends at the old window or at a loss; the pause
//! until the next slowdown begins with the end of the ramp; a timeout is that of RFC 5681.

mod mean;

use alloc::string::String;

use super::delays::Delays;
use super::{
    AckSample, Context, Controller, Delivery, DeliveryEvent, Event, Observation, Output, Requirements, RttAverage,
    Spared,
};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

use mean::Mean;

const DRAFT: &str = "draft-irtf-iccrg-ledbat-plus-plus-06, section 4";

pub(super) const ENTRY: Entry<Controller> = Entry {
    // Names have no plus signs.
    name: "ledbat-pp",
    title: "LEDBAT++: background transfers that give way, and slow down from time to time to measure the RTT without their own queue",
    source: "draft-irtf-iccrg-ledbat-plus-plus-06",
    colour: "#3f3f8a",
    parameters: &[
        Parameter::number("target", Unit::Seconds, 0.06, [1e-4, 10.0], "TARGET, queueing delay to hold", DRAFT),
        Parameter::number(
            "most_divisor",
            Unit::One,
            16.0,
            [1.0, 1e3],
            "the gain is 1/min(this, 2 target/base delay rounded up)",
            DRAFT,
        ),
        Parameter::number(
            "constant",
            Unit::One,
            1.0,
            [1e-3, 1e3],
            "share of the window that a round trip at twice the target removes, at most half of it",
            DRAFT,
        ),
        Parameter::number(
            "leave",
            Unit::One,
            0.75,
            [1e-3, 10.0],
            "the first slow start ends at this share of the target",
            DRAFT,
        ),
        Parameter::number(
            "pause",
            Unit::One,
            9.0,
            [0.0, 1e6],
            "time until the next slowdown, in lengths of the last one",
            DRAFT,
        ),
        Parameter::switch("slowdowns", true, "slow down from time to time", DRAFT),
    ],
    observables: Observables::of::<LedbatPp>(),
    linearisation: Linearisation::Mean("the empty path for the base delay, no filter of delays, and no slowdowns"),
    real: &build::<f64, LedbatPp>,
    dual: Some(&build::<Dual, Mean<Dual>>),
    fixed: None,
    kernel: None,
};

/// The window of a slowdown, and the least one [packets].
const LEAST: f64 = 2.0;
/// Round trips from the first slow start to the first slowdown, and in a slowdown before the ramp.
const ROUNDS: f64 = 2.0;

#[derive(Debug)]
struct LedbatPp {
    target: f64,
    most_divisor: f64,
    constant: f64,
    leave: f64,
    pause: f64,
    slowdowns: bool,
    initial_window: f64,
    initial_ssthresh: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// The first slow start.
    Start,
    /// Congestion avoidance until a slowdown is due.
    Avoid { until_s: f64 },
    /// A slowdown that began then; two packets until the other time.
    Slow { since_s: f64, until_s: f64 },
    /// Back to the window before it.
    Ramp { since_s: f64 },
}

numbers! {
    /// The state of LEDBAT++.
    struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Slow-start threshold: the window that a ramp ends at.
        ssthresh: "packets" as "Slow-start threshold",
        /// GAIN: packets per round trip that the window grows by below the target.
        gain: "packets" as "Gain",
        /// Smallest delay of the last ten minutes; zero before the first sample.
        base: "s" as "Base delay",
        /// Smallest of the last samples, above the base delay.
        queue: "s" as "Queueing delay",
    }
    frozen {
        phase: Phase,
        delays: Delays,
    }
}

impl LedbatPp {
    /// GAIN at a base delay [s].
    fn gain(&self, base_s: f64) -> f64 {
        1.0 / Number::clamp(libm::ceil(2.0 * self.target / base_s), 1.0, self.most_divisor)
    }

    /// Congestion avoidance begins, the pause before the next slowdown with it.
    fn avoid(&self, s: &mut State<f64>, now_s: f64, pause_s: f64) {
        let until_s = if self.slowdowns { now_s + pause_s } else { f64::INFINITY };
        s.phase = Phase::Avoid { until_s };
    }

    /// Slow start ends, for whatever reason.
    fn leave_start(&self, s: &mut State<f64>, now_s: f64, rtt_s: f64) {
        match s.phase {
            Phase::Start => {
                s.ssthresh = s.window;
                self.avoid(s, now_s, ROUNDS * rtt_s);
            }
            Phase::Ramp { since_s } => self.avoid(s, now_s, self.pause * (now_s - since_s)),
            Phase::Avoid { .. } | Phase::Slow { .. } => {}
        }
    }

    /// Applies the passing of time.
    fn clock(s: &mut State<f64>, now_s: f64, rtt_s: f64) {
        match s.phase {
            Phase::Avoid { until_s } if now_s >= until_s => {
                s.ssthresh = Number::max(s.window, LEAST);
                s.window = LEAST;
                s.phase = Phase::Slow { since_s: now_s, until_s: now_s + ROUNDS * rtt_s };
            }
            Phase::Slow { since_s, until_s } if now_s >= until_s => s.phase = Phase::Ramp { since_s },
            _ => {}
        }
    }

    fn on_ack(&self, s: &mut State<f64>, now_s: f64, ack: &AckSample, rtt_s: f64) {
        if let Some(rtt) = ack.rtt {
            s.delays.take(now_s, rtt.seconds());
            (s.base, s.queue) = (s.delays.base_s(), s.delays.queue_s());
            s.gain = self.gain(s.base);
        }
        Self::clock(s, now_s, rtt_s);
        let growth = s.gain * f64::from(ack.packets);
        let most = Number::max(s.window, ack.in_flight_before as f64 + 1.0);
        match s.phase {
            Phase::Start if s.queue > self.leave * self.target => self.leave_start(s, now_s, rtt_s),
            Phase::Start | Phase::Ramp { .. } => {
                s.window = Number::min(s.window + growth, most);
                if s.window >= s.ssthresh {
                    s.window = s.ssthresh;
                    self.leave_start(s, now_s, rtt_s);
                }
            }
            Phase::Avoid { .. } if s.queue <= self.target => {
                s.window = Number::min(s.window + growth / s.window, most);
            }
            Phase::Avoid { .. } | Phase::Slow { .. } => {}
        }
    }

    /// A round trip is over: above the target W += max(GAIN - Constant W (queue / TARGET - 1), -W/2).
    fn on_round(&self, s: &mut State<f64>) {
        if let Phase::Avoid { .. } = s.phase
            && s.queue > self.target
        {
            let change = s.gain - self.constant * s.window * (s.queue / self.target - 1.0);
            s.window = Number::max(s.window + Number::max(change, -s.window / 2.0), LEAST);
        }
    }
}

impl Law<f64> for LedbatPp {
    type Role = Controller;
    type State = State<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            target: values.number("target"),
            most_divisor: values.number("most_divisor"),
            constant: values.number("constant"),
            leave: values.number("leave"),
            pause: values.number("pause"),
            slowdowns: values.switch("slowdowns"),
            initial_window: context.initial_window,
            initial_ssthresh: context.initial_ssthresh,
        })
    }

    fn initial_state(&self) -> State<f64> {
        State {
            window: self.initial_window,
            ssthresh: self.initial_ssthresh,
            gain: 1.0,
            base: 0.0,
            queue: 0.0,
            phase: Phase::Start,
            delays: Delays::START,
        }
    }

    fn on_event(&self, s: &mut State<f64>, event: Event, seen: &Observation<f64>) {
        match event {
            Event::Round => self.on_round(s),
            // Of packets that were sent before a slowdown.
            Event::Congestion if matches!(s.phase, Phase::Slow { .. }) => {
                s.ssthresh = Number::max(s.ssthresh / 2.0, LEAST);
            }
            Event::Congestion => {
                s.window = Number::min(s.window, Number::max(s.window / 2.0, LEAST));
                self.leave_start(s, seen.now_s, seen.rtt_s);
                s.ssthresh = Number::max(s.window, LEAST);
            }
            Event::Timeout => {
                s.ssthresh = Number::max(s.window / 2.0, LEAST);
                s.window = 1.0;
                s.phase = Phase::Ramp { since_s: seen.now_s };
            }
            Event::Ack { .. } | Event::Tick => {}
        }
    }

    fn on_detail(&self, s: &mut State<f64>, delivery: &Delivery, seen: &Observation<f64>) {
        if let DeliveryEvent::Ack(ack) = &delivery.event {
            self.on_ack(s, delivery.now.seconds(), ack, seen.rtt_s);
        }
    }

    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: s.window, gap_s: 0.0 }
    }

    fn requirements(&self) -> Requirements {
        let average_rtt = Some(RttAverage::weighing(0.125));
        let spared = Spared { transmissions: true, uniform: true, acks: true, timing: true };
        Requirements { delivery: true, spared, now: true, average_rtt, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Time;

    fn law(set: &[(&str, f64)]) -> LedbatPp {
        let values = Values::of(ENTRY.parameters, set);
        let context = Context { packet: crate::quantity::Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };
        LedbatPp::compile(&values, &context).unwrap()
    }

    /// An acknowledgement of a packet after a round trip of 60 ms and a queueing delay, with as much in flight as may be.
    fn ack(law: &LedbatPp, s: &mut State<f64>, now_s: f64, delay_s: f64) {
        let (rtt_s, in_flight_before) = (0.06 + delay_s, libm::ceil(s.window) as u64);
        let rtt = Some(Time::from_seconds(rtt_s));
        let sample = AckSample { packets: 1, marked: 0, lost: 0, in_flight_before, rtt, rate: None };
        law.on_ack(s, now_s, &sample, rtt_s);
    }

    /// GAIN is 1/2 at a base of 60 ms, 1/16 at 7 ms, 1/3 at 40 ms, and 1 where the base is two targets or more.
    #[test]
    fn the_gain_depends_on_the_base() {
        let law = law(&[]);
        for (base_s, divisor) in [(0.06, 2.0), (0.007, 16.0), (0.008, 15.0), (0.04, 3.0), (0.12, 1.0), (0.5, 1.0)] {
            assert_eq!(law.gain(base_s), 1.0 / divisor, "{base_s}");
        }
    }

    /// The first slow start grows by GAIN for each packet, ends above 45 ms, and 2 round trips later two packets are in
    /// flight for 2 round trips; then comes a ramp, and nine times the length of all that until the next slowdown.
    #[test]
    fn slowdowns_take_a_tenth_of_the_time() {
        let law = law(&[]);
        let mut s = law.initial_state();
        for _ in 0..10 {
            ack(&law, &mut s, 0.1, 0.044);
        }
        // The first sample is the base itself, the others have a queue.
        s.delays.take(0.1, 0.06);
        (0..4).for_each(|_| ack(&law, &mut s, 0.1, 0.044));
        assert!((s.window - 17.0).abs() < 0.6 && s.phase == Phase::Start, "{}", s.window);
        (0..4).for_each(|_| ack(&law, &mut s, 1.0, 0.046));
        let first = 1.0 + 2.0 * 0.106;
        assert!(matches!(s.phase, Phase::Avoid { until_s } if (until_s - first).abs() < 1e-9), "{:?}", s.phase);
        let before = s.window;
        ack(&law, &mut s, first + 0.01, 0.0);
        assert_eq!((s.window, s.phase), (2.0, Phase::Slow { since_s: first + 0.01, until_s: first + 0.01 + 0.12 }));
        ack(&law, &mut s, first + 0.1, 0.0);
        assert_eq!(s.window, 2.0);
        let mut now_s = first + 0.14;
        while s.window < before {
            ack(&law, &mut s, now_s, 0.0);
            now_s += 0.01;
            assert!(now_s < 10.0, "{s:?}");
        }
        let length = now_s - 0.01 - (first + 0.01);
        let next = now_s - 0.01 + 9.0 * length;
        assert!(matches!(s.phase, Phase::Avoid { until_s } if (until_s - next).abs() < 1e-9), "{:?} {next}", s.phase);
    }

    /// Above the target: at 1.25 TARGET a quarter of the window goes, but for GAIN; from 1.5 on half of it; at the least
    /// two packets stay. At TARGET and below a round trip adds GAIN.
    #[test]
    fn the_decrease_is_in_proportion_to_the_window() {
        let law = law(&[("slowdowns", 0.0)]);
        for (delay_s, window, after) in [
            (0.075, 100.0, 75.5),
            (0.09, 100.0, 50.5),
            (0.12, 100.0, 50.0),
            (0.5, 100.0, 50.0),
            (0.5, 3.0, 2.0),
            (0.06, 100.0, 100.0),
        ] {
            let phase = Phase::Avoid { until_s: f64::INFINITY };
            let mut s = State { window, gain: 0.5, queue: delay_s, phase, ..law.initial_state() };
            law.on_event(&mut s, Event::Round, &Observation::zero());
            assert!((s.window - after).abs() < 1e-9, "{delay_s}: {}", s.window);
        }
        let phase = Phase::Avoid { until_s: f64::INFINITY };
        let mut s = State { window: 100.0, phase, ..law.initial_state() };
        s.delays.take(0.0, 0.06);
        (0..100).for_each(|_| ack(&law, &mut s, 1.0, 0.05));
        assert!((s.window - 100.5).abs() < 0.01, "{}", s.window);
    }

    /// A loss ends slow start and halves the window.
    #[test]
    fn a_loss_halves_and_ends_slow_start() {
        let law = law(&[]);
        let mut s = State { window: 100.0, ..law.initial_state() };
        let seen = Observation { rtt_s: 0.1, base_rtt_s: 0.06, now_s: 3.0, ..Observation::zero() };
        law.on_event(&mut s, Event::Congestion, &seen);
        assert_eq!((s.window, s.ssthresh, s.phase), (50.0, 50.0, Phase::Avoid { until_s: 3.2 }));
        law.on_event(&mut s, Event::Timeout, &seen);
        assert_eq!((s.window, s.ssthresh, s.phase), (1.0, 25.0, Phase::Ramp { since_s: 3.0 }));
    }
}
