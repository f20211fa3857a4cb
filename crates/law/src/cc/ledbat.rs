//! LEDBAT: fills the capacity that others leave, and keeps the queueing delay at a target.
//!
//! Source: RFC 6817, sections 2.4 and 2.5: `off_target = (TARGET - queuing_delay) / TARGET`, each acknowledgement
//! `cwnd += GAIN off_target acked / cwnd`, at most ALLOWED_INCREASE above the flight.
//! Differs: packets for bytes; the delay is that of the round trip, where the RFC has one way; the initial window is the
//! host's, and there is no slow start; the congestion timeout is the host's retransmission timeout. `target` and `gain` may
//! exceed the RFC's bounds, for the tests of RFC 7928, section 5.4.

use alloc::string::String;

use super::delays::Delays;
use super::{
    AckSample, Context, Controller, Delivery, DeliveryEvent, Event, Observation, Output, Requirements, Spared,
};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::Number;
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "ledbat",
    title: "LEDBAT: background transfers that hold the queueing delay at a target",
    source: "RFC 6817",
    colour: "#6f6fa8",
    parameters: &[
        Parameter::number(
            "target",
            Unit::Seconds,
            0.1,
            [1e-4, 10.0],
            "TARGET, queueing delay to hold",
            "RFC 6817, section 2.5: at most 100 ms; RFC 7928, section 5.4: 5 ms",
        ),
        Parameter::number(
            "gain",
            Unit::One,
            1.0,
            [1e-3, 1e3],
            "GAIN, packets per round trip that the window grows by without a queue",
            "RFC 6817, section 2.5: at most 1; RFC 7928, section 5.4: 10",
        ),
        Parameter::number(
            "allowed_increase",
            Unit::Packets,
            1.0,
            [1e-3, 1e6],
            "ALLOWED_INCREASE, by how much the window may exceed the packets in flight",
            "RFC 6817, section 2.5",
        ),
    ],
    observables: Observables::of::<Ledbat>(),
    linearisation: Linearisation::Unsupported(
        "every window is an equilibrium at the target delay, so the shares of its flows depend on their history",
    ),
    real: &build::<f64, Ledbat>,
    dual: None,
    fixed: None,
    kernel: None,
};

/// MIN_CWND [packets].
const LEAST: f64 = 2.0;

#[derive(Debug)]
struct Ledbat {
    target: f64,
    gain: f64,
    allowed_increase: f64,
    initial_window: f64,
}

numbers! {
    /// The state of LEDBAT.
    struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Smallest delay of the last ten minutes; zero before the first sample.
        base: "s" as "Base delay",
        /// Smallest of the last samples, above the base delay.
        queue: "s" as "Queueing delay",
    }
    frozen {
        delays: Delays,
    }
}

impl Ledbat {
    fn on_ack(&self, s: &mut State<f64>, now_s: f64, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            s.delays.take(now_s, rtt.seconds());
            (s.base, s.queue) = (s.delays.base_s(), s.delays.queue_s());
        }
        if ack.packets == 0 {
            return;
        }
        let off_target = (self.target - s.queue) / self.target;
        s.window += self.gain * off_target * f64::from(ack.packets) / s.window;
        let most = ack.in_flight_before as f64 + self.allowed_increase;
        s.window = Number::clamp(s.window, LEAST, Number::max(most, LEAST));
    }
}

impl Law<f64> for Ledbat {
    type Role = Controller;
    type State = State<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            target: values.number("target"),
            gain: values.number("gain"),
            allowed_increase: values.number("allowed_increase"),
            initial_window: context.initial_window,
        })
    }

    fn initial_state(&self) -> State<f64> {
        State { window: self.initial_window, base: 0.0, queue: 0.0, delays: Delays::START }
    }

    fn on_event(&self, s: &mut State<f64>, event: Event, _: &Observation<f64>) {
        match event {
            Event::Congestion => s.window = Number::min(s.window, Number::max(s.window / 2.0, LEAST)),
            Event::Timeout => s.window = 1.0,
            Event::Ack { .. } | Event::Round | Event::Tick => {}
        }
    }

    fn on_detail(&self, s: &mut State<f64>, delivery: &Delivery, _: &Observation<f64>) {
        if let DeliveryEvent::Ack(ack) = &delivery.event {
            self.on_ack(s, delivery.now.seconds(), ack);
        }
    }

    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: s.window, gap_s: 0.0 }
    }

    fn requirements(&self) -> Requirements {
        let spared = Spared { transmissions: true, uniform: true, acks: true, timing: true };
        Requirements { delivery: true, spared, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Time;

    const BASE_S: f64 = 0.04;

    fn law(set: &[(&str, f64)]) -> Ledbat {
        let values = Values::of(ENTRY.parameters, set);
        let context = Context { packet: crate::quantity::Bytes(1500), initial_window: 2.0, initial_ssthresh: 1e9 };
        Ledbat::compile(&values, &context).unwrap()
    }

    /// Acknowledgements of a window's worth of packets at a queueing delay, one by one, with this many in flight.
    fn round(law: &Ledbat, s: &mut State<f64>, delay_s: f64, in_flight: f64) {
        for _ in 0..s.window as u32 {
            let rtt = Some(Time::from_seconds(BASE_S + delay_s));
            let (in_flight_before, rate) = (in_flight as u64, None);
            law.on_ack(s, 1.0, &AckSample { packets: 1, marked: 0, lost: 0, in_flight_before, rtt, rate });
        }
    }

    /// Growth a round trip is GAIN times the share of TARGET that is left: 1 without a queue, a half at half of it, none at
    /// TARGET, and as much less beyond.
    #[test]
    fn growth_is_the_share_of_the_target_that_is_left() {
        for (gain, target, delay_s, growth) in [
            (1.0, 0.1, 0.0, 1.0),
            (1.0, 0.1, 0.05, 0.5),
            (1.0, 0.1, 0.1, 0.0),
            (1.0, 0.1, 0.2, -1.0),
            (0.5, 0.06, 0.0, 0.5),
            (10.0, 0.005, 0.0025, 5.0),
        ] {
            let law = law(&[("gain", gain), ("target", target)]);
            let mut s = State { window: 100.0, ..law.initial_state() };
            s.delays.take(0.0, BASE_S);
            // The filter of the current delay has four samples.
            (0..4).for_each(|_| s.delays.take(0.0, BASE_S + delay_s));
            round(&law, &mut s, delay_s, 200.0);
            let is = s.window - 100.0;
            assert!((is - growth).abs() < 0.06 * growth.abs() + 1e-9, "{gain} {target} {delay_s}: {is}");
        }
    }

    /// A window is not above what was in flight and ALLOWED_INCREASE, nor below two packets.
    #[test]
    fn the_window_stays_with_what_is_in_flight() {
        let law = law(&[]);
        let mut s = State { window: 100.0, ..law.initial_state() };
        round(&law, &mut s, 0.0, 60.0);
        assert_eq!(s.window, 61.0);
        let mut s = State { window: 3.0, ..law.initial_state() };
        s.delays.take(0.0, BASE_S);
        (0..10).for_each(|_| round(&law, &mut s, 1.0, 3.0));
        assert_eq!(s.window, 2.0);
    }

    #[test]
    fn losses_halve_and_a_timeout_leaves_one_packet() {
        let law = law(&[]);
        let mut s = State { window: 100.0, ..law.initial_state() };
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        assert_eq!(s.window, 50.0);
        law.on_event(&mut s, Event::Timeout, &Observation::zero());
        assert_eq!(s.window, 1.0);
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        assert_eq!(s.window, 1.0, "a loss never makes the window larger");
    }
}
