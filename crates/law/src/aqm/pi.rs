//! The proportional-integral controller: hold the queue at a reference, whatever the load.
//!
//! Source: Hollot, Misra, Towsley and Gong, "On Designing Improved Controllers for AQM Routers Supporting TCP Flows",
//! 2001; in bytes, and where the paper is silent, as in ns-2.
//! The defaults are the paper's design for 3750 packets/s; they are not scaled with the line, so that the probability
//! moves slowly on a faster one.

use alloc::string::String;

use super::{Aqm, Context, Decides, Event, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "pi",
    title: "PI: a marking probability that drives the queue to its reference",
    source: "Hollot, Misra, Towsley and Gong 2001, On Designing Improved Controllers for AQM Routers",
    colour: "#2b5fc1",
    parameters: &[
        Parameter::switch("ecn", false, "use ECN: mark ECN-capable packets, drop only the others", "RFC 3168"),
        Parameter::number(
            "a",
            Unit::One,
            1.822e-5,
            [0.0, 1.0],
            "gain on the excess of the queue now [1/packet]",
            "the paper's design; ns-2's a_",
        ),
        Parameter::number(
            "b",
            Unit::One,
            1.816e-5,
            [0.0, 1.0],
            "gain on the excess of the queue one update before [1/packet]",
            "the paper's design; ns-2's b_",
        ),
        Parameter::number("qref", Unit::Packets, 50.0, [0.0, 1e9], "queue to hold", "ns-2's qref_"),
        Parameter::number("frequency", Unit::One, 170.0, [0.1, 1e5], "updates a second [1/s]", "ns-2's w_"),
        Parameter::switch(
            "bytes",
            true,
            "count the queue in bytes, and mark in proportion to packet size",
            "ns-2's bytes_ and queue_in_bytes_; the paper counts packets",
        ),
    ],
    observables: Observables::of::<Pi<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Pi<f64>>,
    dual: Some(&build::<Dual, Pi<Dual>>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct Pi<N> {
    ecn: bool,
    bytes: bool,
    a: N,
    b: N,
    qref: N,
    zero: N,
    one: N,
    mean_packet: u32,
    period_s: f64,
}

numbers! {
    /// The state of PI.
    struct State {
        /// Marking probability of a packet of mean size.
        probability: "1" as "Marking probability",
        /// Queue at the last update of the probability.
        queue_before: "packets" as "Queue at the last update",
    }
    frozen {
        /// Size of the packet that arrived last; of a mean one where packets are counted [B].
        bytes: u32,
    }
}

impl<N: Number> Law<N> for Pi<N> {
    type Role = Aqm;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            ecn: values.switch("ecn"),
            bytes: values.switch("bytes"),
            a: N::of(values.number("a")),
            b: N::of(values.number("b")),
            qref: N::of(values.number("qref")),
            zero: N::of(0.0),
            one: N::of(1.0),
            mean_packet: context.packet.0 as u32,
            period_s: 1.0 / values.number("frequency"),
        })
    }

    fn initial_state(&self) -> State<N> {
        State { probability: self.zero, queue_before: self.zero, bytes: self.mean_packet }
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        match event {
            Event::Arrival { bytes, .. } => {
                if self.bytes {
                    s.bytes = bytes;
                }
            }
            Event::Tick => {
                let change = self.a * (observation.queue - self.qref) - self.b * (s.queue_before - self.qref);
                s.probability = (s.probability + change).clamp(self.zero, self.one);
                s.queue_before = observation.queue;
            }
            Event::Hit | Event::Departure { .. } | Event::Full => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        let probability = if s.bytes == self.mean_packet {
            s.probability
        } else {
            (s.probability * (N::count(s.bytes) / N::count(self.mean_packet))).min(self.one)
        };
        Output { probability, price_s: self.zero }
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            tick_s: Some(self.period_s),
            decides: Decides::OnArrival,
            marks: self.ecn,
            bytes: self.bytes,
            ..Requirements::LEAST
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Bytes, Rate, Time};

    fn pi() -> Pi<f64> {
        let context =
            Context { rate: Rate(30_000_000), delay: Time::ZERO, packet: Bytes(1000), classes: alloc::vec::Vec::new() };
        Pi::compile(&Values::defaults(ENTRY.parameters), &context).unwrap()
    }
    fn seeing(queue: f64) -> Observation<f64> {
        Observation { queue, capacity: 3750.0, ..Observation::zero() }
    }

    /// The gains are the paper's compensator `K (s/z + 1)/s` with K = 9.64e-6 and z = 0.53, by the trapezoidal rule at
    /// 170 Hz: `a = K (1/z + T/2)`, `b = K (1/z - T/2)`.
    #[test]
    fn the_gains_are_those_of_the_continuous_design() {
        let (law, k, z) = (pi(), 9.64e-6, 0.53);
        let half = law.period_s / 2.0;
        assert!((law.a - k * (1.0 / z + half)).abs() < 5e-9 && (law.b - k * (1.0 / z - half)).abs() < 5e-9);
    }

    /// 100 packets too many for a second: `100 (K/z + K t)` within the three digits of the gains; and back at the
    /// reference the integral stays.
    #[test]
    fn a_step_of_the_queue_is_answered_at_once_and_then_integrated() {
        let law = pi();
        let mut s = State { queue_before: 50.0, ..law.initial_state() };
        law.on_event(&mut s, Event::Tick, &seeing(150.0));
        assert!((s.probability - 100.0 * 1.822e-5).abs() < 1e-12, "{}", s.probability);
        for _ in 1..170 {
            law.on_event(&mut s, Event::Tick, &seeing(150.0));
        }
        let expected = 100.0 * (9.64e-6 / 0.53 + 9.64e-6);
        assert!((s.probability / expected - 1.0).abs() < 0.025, "{}", s.probability);
        for _ in 0..1000 {
            law.on_event(&mut s, Event::Tick, &seeing(50.0));
        }
        assert!((s.probability - (170.0 * (1.822e-5 - 1.816e-5)) * 100.0).abs() < 1e-9, "{}", s.probability);
    }

    /// In a loop with a load that falls with the probability, the queue settles at the reference and nowhere else.
    #[test]
    fn the_queue_settles_at_its_reference() {
        for demand in [5000.0, 20_000.0] {
            let law = pi();
            let (mut s, mut queue) = (law.initial_state(), 0.0_f64);
            for _ in 0..170 * 200 {
                let load = demand * (1.0 - 10.0 * law.output(&s, &seeing(queue)).probability);
                queue = (queue + (load - 3750.0) * law.period_s).max(0.0);
                law.on_event(&mut s, Event::Tick, &seeing(queue));
            }
            assert!((queue - 50.0).abs() < 0.5, "{demand}: {queue}");
            assert!((demand * (1.0 - 10.0 * s.probability) - 3750.0).abs() < 1.0, "{demand}: {}", s.probability);
        }
    }

    /// An idle line leaves no debt.
    #[test]
    fn the_probability_stays_at_zero_when_idle() {
        let law = pi();
        let mut s = law.initial_state();
        for _ in 0..100_000 {
            law.on_event(&mut s, Event::Tick, &seeing(0.0));
        }
        assert_eq!(s.probability, 0.0);
        law.on_event(&mut s, Event::Tick, &seeing(200.0));
        assert!(s.probability > 0.0);
    }

    /// ns-2's `bytes_`: an acknowledgement is marked as rarely as it is small, and nothing surely but for certain.
    #[test]
    fn in_bytes_the_probability_goes_with_size() {
        let chance = |bytes: bool, size| {
            let law = Pi { bytes, ..pi() };
            let mut s = State { probability: 0.5, ..law.initial_state() };
            law.on_event(&mut s, Event::Arrival { bytes: size, idle: 0 }, &seeing(50.0));
            law.output(&s, &seeing(50.0)).probability
        };
        assert_eq!([40, 1000, 1500, 9000].map(|size| chance(true, size)), [0.02, 0.5, 0.75, 1.0]);
        assert_eq!([40, 1000, 9000].map(|size| chance(false, size)), [0.5; 3]);
    }
}
