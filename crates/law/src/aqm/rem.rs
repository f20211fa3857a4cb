//! Random exponential marking: a price that grows while more arrives than leaves or while more than a reference waits.
//!
//! Source: Athuraliya, Li, Low and Yin, "REM: Active Queue Management", IEEE Network 15(3), 2001, equations (1) and (2):
//! `p <- max(0, p + gamma (alpha (b - b*) + x - c))`, and a mark with probability `1 - phi^-p`. At its equilibrium the line
//! is full and b* packets wait, whatever the number of flows: the price carries that number instead of the queue.
//! Differs: the paper counts time in steps whose length it leaves open; here a step is `period`, and x and c are packets in
//! such a step. The price has no unit there; the output is `p ln phi / ln 1000`, the price in seconds that marks as
//! often under the marking law of "A New TCP/AQM" with its phi of 1000.

use alloc::string::String;

use super::{Aqm, Context, Decides, Event, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "rem",
    title: "REM: the price integrates excess load and excess queue; exponential marking encodes the price",
    source: "Athuraliya, Li, Low and Yin 2001, REM: Active Queue Management, IEEE Network 15(3)",
    colour: "#9c6b1f",
    parameters: &[
        Parameter::switch("ecn", false, "use ECN: mark ECN-capable packets, drop only the others", "RFC 3168"),
        Parameter::number("gamma", Unit::One, 0.001, [1e-9, 1.0], "step size", "the paper's simulations"),
        Parameter::number(
            "alpha",
            Unit::One,
            0.1,
            [1e-6, 10.0],
            "weight of the excess queue beside the excess load",
            "the paper's simulations",
        ),
        Parameter::number("bstar", Unit::Packets, 20.0, [0.0, 1e9], "queue to hold, b*", "the paper's simulations"),
        Parameter::number(
            "phi",
            Unit::One,
            1.001,
            [1.000_001, 1e9],
            "base of the marking law",
            "the paper's simulations",
        ),
        Parameter::number(
            "period",
            Unit::Seconds,
            0.010,
            [1e-5, 10.0],
            "length of a step",
            "not in the paper: our choice",
        ),
        Parameter::switch(
            "bytes",
            true,
            "count in bytes over the mean packet",
            "as price and PI; off, packets count one",
        ),
    ],
    observables: Observables::of::<Rem<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Rem<f64>>,
    dual: Some(&build::<Dual, Rem<Dual>>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct Rem<N> {
    ecn: bool,
    bytes: bool,
    gamma: N,
    alpha: N,
    bstar: N,
    period: N,
    ln_phi: N,
    in_seconds: N,
    zero: N,
    one: N,
    period_s: f64,
}

numbers! {
    /// The state of REM.
    struct State {
        /// The link's price, which grows while more arrives than leaves or the queue is above its target.
        price: "1" as "Price",
        /// Marking probability that encodes the price.
        probability: "1" as "Marking probability",
    }
}

impl<N: Number> Law<N> for Rem<N> {
    type Role = Aqm;
    type State = State<N>;

    fn compile(values: &Values, _: &Context) -> Result<Self, String> {
        let (ln_phi, period_s) = (libm::log(values.number("phi")), values.number("period"));
        Ok(Self {
            ecn: values.switch("ecn"),
            bytes: values.switch("bytes"),
            gamma: N::of(values.number("gamma")),
            alpha: N::of(values.number("alpha")),
            bstar: N::of(values.number("bstar")),
            period: N::of(period_s),
            ln_phi: N::of(ln_phi),
            in_seconds: N::of(ln_phi / libm::log(1000.0)),
            zero: N::of(0.0),
            one: N::of(1.0),
            period_s,
        })
    }

    fn initial_state(&self) -> State<N> {
        State { price: self.zero, probability: self.zero }
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        if event == Event::Tick {
            let excess = self.alpha * (observation.queue - self.bstar)
                + (observation.arrived - observation.capacity * self.period);
            s.price = (s.price + self.gamma * excess).max(self.zero); // (1)
            s.probability = self.one - (-(self.ln_phi * s.price)).exp(); // (2)
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { probability: s.probability, price_s: s.price * self.in_seconds }
    }

    fn requirements(&self) -> Requirements {
        let (marks, bytes) = (self.ecn, self.bytes);
        Requirements { tick_s: Some(self.period_s), decides: Decides::OnArrival, marks, bytes, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law() -> Rem<f64> {
        let context = Context {
            rate: crate::quantity::Rate(8_000_000),
            delay: crate::quantity::Time::ZERO,
            packet: crate::quantity::Bytes(1000),
            classes: alloc::vec::Vec::new(),
        };
        Rem::compile(&Values::defaults(ENTRY.parameters), &context).unwrap()
    }

    /// The paper's point: sources that react to the price leave b* packets waiting and the line full, however many they
    /// are. Sources of `U = K log x` here, x = K / p each, in small steps of the law.
    #[test]
    fn the_queue_settles_at_its_reference_whatever_the_number_of_flows() {
        for flows in [1.0, 10.0, 100.0] {
            let law = law();
            let mut s = State { price: 100.0, probability: 0.0 };
            let (mut queue, mut rate) = (0.0f64, 0.0);
            for _ in 0..2_000_000 {
                rate = flows * 1000.0 / s.price.max(1e-3);
                queue = (queue + (rate - 1000.0) * 0.01).max(0.0);
                let observation = Observation { queue, arrived: rate * 0.01, capacity: 1000.0, ..Observation::zero() };
                law.on_event(&mut s, Event::Tick, &observation);
            }
            assert!((queue - 20.0).abs() < 0.01, "{flows} flows: {queue} packets");
            assert!((rate - 1000.0).abs() < 0.1, "{flows} flows: {rate} packets/s");
        }
    }

    /// With its phi of 1.001 a price of 693 marks half of the packets, and prices of successive links add.
    #[test]
    fn marking_is_exponential_in_the_price() {
        let law = law();
        let marked = |price: f64| {
            let mut s = State { price, probability: 0.0 };
            law.on_event(
                &mut s,
                Event::Tick,
                &Observation { queue: 20.0, arrived: 10.0, capacity: 1000.0, ..Observation::zero() },
            );
            law.output(&s, &Observation::zero())
        };
        assert!((marked(693.49).probability - 0.5).abs() < 1e-5, "{:?}", marked(693.49));
        let path = 1.0 - (1.0 - marked(100.0).probability) * (1.0 - marked(250.0).probability);
        assert!((path - marked(350.0).probability).abs() < 1e-12);
        // The same price in seconds: 1000^-q = phi^-p.
        let says = marked(350.0);
        assert!((1.0 - libm::pow(1000.0, -says.price_s) - says.probability).abs() < 1e-12);
    }

    #[test]
    fn the_price_stays_at_zero_when_idle() {
        let law = law();
        let mut s = law.initial_state();
        for _ in 0..1000 {
            law.on_event(&mut s, Event::Tick, &Observation { capacity: 1000.0, ..Observation::zero() });
        }
        assert_eq!((s.price, s.probability), (0.0, 0.0));
    }
}
