//! PI2: a proportional-integral controller of the delay, whose output is squared for classic senders.
//!
//! Source: De Schepper, Bondarenko, Tsang and Briscoe, "PI2: A Linearized AQM for both Classic and Scalable TCP" (CoNEXT 2016),
//! section 4: one queue, with p' for scalable packets and its square for the others; RFC 9332, appendix A, for the constants: with
//! RTT_max = 100 ms the gains are `0.1 Tupdate / RTT_max^2` and `0.3 / RTT_max`, rounded there to 0.16 and 3.2 at 16 ms.
//! The delay is the queue over the line's rate, by Little's law.
//! Differs: packets are judged at the head of the queue, as in RFC 9332, where the paper judges arrivals; a random draw replaces the
//! comparison with two random numbers.

use alloc::string::String;

use super::{Aqm, Context, Decides, Event, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const TARGET: Parameter = Parameter::number(
    "target",
    Unit::Seconds,
    0.015,
    [1e-6, 10.0],
    "classic queueing delay to hold",
    "RFC 9332, appendix A.1",
);
pub(super) const T_UPDATE: Parameter =
    Parameter::number("t_update", Unit::Seconds, 0.016, [1e-4, 10.0], "update period", "RFC 9332, appendix A.1");
pub(super) const ALPHA: Parameter = Parameter::number(
    "alpha",
    Unit::One,
    0.16,
    [0.0, 1e3],
    "gain on the excess of the delay [1/s]",
    "RFC 9332, appendix A.1",
);
pub(super) const BETA: Parameter = Parameter::number(
    "beta",
    Unit::One,
    3.2,
    [0.0, 1e3],
    "gain on the change of the delay [1/s]",
    "RFC 9332, appendix A.1",
);

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "pi2",
    title: "PI2: a probability that drives the queueing delay to its target, squared for classic packets",
    source: "De Schepper et al., PI2, CoNEXT 2016; RFC 9332, appendix A",
    colour: "#3d8b7d",
    parameters: &[
        Parameter::switch("ecn", false, "use ECN: mark ECN-capable packets, drop only the others", "RFC 3168"),
        TARGET,
        T_UPDATE,
        ALPHA,
        BETA,
        Parameter::number(
            "k",
            Unit::One,
            2.0,
            [1e-3, 1e3],
            "coupling factor: low-latency packets are marked with k times the root of the classic probability",
            "CoNEXT 2016, section 4; RFC 9332, section 2.1",
        ),
        Parameter::number(
            "most_classic",
            Unit::One,
            0.25,
            [1e-6, 1.0],
            "largest classic probability",
            "CoNEXT 2016, section 5: 25 %; RFC 9332, appendix A: p_Cmax",
        ),
    ],
    observables: Observables::of::<Pi2<f64>>(),
    linearisation: Linearisation::Declared("the classic probability for all packets"),
    real: &build::<f64, Pi2<f64>>,
    dual: Some(&build::<Dual, Pi2<Dual>>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct Pi2<N> {
    ecn: bool,
    period_s: f64,
    target: N,
    alpha: N,
    beta: N,
    k: N,
    /// The largest p'.
    most: N,
}

numbers! {
    /// The state of PI2.
    struct State {
        /// p': the output of the PI controller, whose square is the classic probability.
        base: "1" as "Base probability, p'",
        /// Queueing delay at the last update of the probability.
        delay: "s" as "Queueing delay at the last update",
    }
    frozen {
        /// True if the packet at the head is a low-latency packet.
        low_latency: bool,
    }
}

impl<N: Number> Law<N> for Pi2<N> {
    type Role = Aqm;
    type State = State<N>;

    fn compile(values: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self {
            ecn: values.switch("ecn"),
            period_s: values.number("t_update"),
            target: N::of(values.number("target")),
            alpha: N::of(values.number("alpha")),
            beta: N::of(values.number("beta")),
            k: N::of(values.number("k")),
            most: N::of(libm::sqrt(values.number("most_classic"))),
        })
    }

    fn initial_state(&self) -> State<N> {
        State { base: N::of(0.0), delay: N::of(0.0), low_latency: false }
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        match event {
            Event::Departure { low_latency } => s.low_latency = low_latency,
            Event::Tick => {
                let delay = observation.queue / observation.capacity;
                let change = self.alpha * (delay - self.target) + self.beta * (delay - s.delay);
                s.base = (s.base + change).clamp(N::of(0.0), self.most);
                s.delay = delay;
            }
            Event::Arrival { .. } | Event::Hit | Event::Full => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        let probability = if s.low_latency { (self.k * s.base).min(N::of(1.0)) } else { s.base * s.base };
        Output { probability, price_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            tick_s: Some(self.period_s),
            decides: Decides::AtHead,
            marks: self.ecn,
            bytes: true,
            ..Requirements::LEAST
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Bytes, Rate, Time};

    /// 1000 packets/s, so that a packet is a millisecond.
    fn law(set: &[(&str, f64)]) -> Pi2<f64> {
        let values = Values::of(ENTRY.parameters, set);
        let context =
            Context { rate: Rate(8_000_000), delay: Time::ZERO, packet: Bytes(1000), classes: alloc::vec::Vec::new() };
        Pi2::compile(&values, &context).unwrap()
    }

    fn seeing(delay_ms: f64) -> Observation<f64> {
        Observation { queue: delay_ms, capacity: 1000.0, ..Observation::zero() }
    }

    /// RFC 9332, appendix A: with RTT_max of 100 ms and an update each 16 ms the gains are 0.16 and 3 per second, of which the
    /// second is given as 3.2.
    #[test]
    fn the_gains_are_those_of_the_appendix() {
        let defaults = Values::defaults(ENTRY.parameters);
        let [alpha, beta, period] = ["alpha", "beta", "t_update"].map(|name| defaults.number(name));
        assert!((alpha / (0.1 * period / 0.01) - 1.0).abs() < 1e-12);
        assert!((beta / (0.3 / 0.1) - 1.0).abs() < 0.07);
    }

    /// Of a delay that rises by 10 ms to 40 ms: 0.16 * 0.025 + 3.2 * 0.01 = 0.036, whatever the probability was.
    #[test]
    fn a_step_does_not_depend_on_the_probability() {
        let law = law(&[]);
        for base in [0.0, 0.1, 0.4] {
            let mut s = State { base, delay: 0.03, low_latency: false };
            law.on_event(&mut s, Event::Tick, &seeing(40.0));
            assert!((s.base - base - 0.036).abs() < 1e-12, "{base}: {}", s.base);
        }
        let mut s = State { base: 0.49, delay: 0.03, low_latency: false };
        law.on_event(&mut s, Event::Tick, &seeing(40.0));
        assert_eq!(s.base, 0.5, "p_Cmax is a quarter");
    }

    /// Section 4: p'^2 for classic packets, k p' for scalable ones.
    #[test]
    fn classic_packets_have_the_square() {
        let law = law(&[]);
        for (low_latency, expected) in [(false, 0.04), (true, 0.4)] {
            let mut s = State { base: 0.2, delay: 0.03, low_latency: false };
            law.on_event(&mut s, Event::Departure { low_latency }, &seeing(15.0));
            assert!((law.output(&s, &seeing(15.0)).probability - expected).abs() < 1e-12);
        }
    }
}
