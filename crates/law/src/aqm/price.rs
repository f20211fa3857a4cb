//! Price marking: integrate the relative excess load over a virtual capacity, mark exponentially in the integral.
//!
//! Source: Paganini, Wang, Low, Doyle, "A New TCP/AQM for Stable Operation in Fast Networks", equation (5) and Fig. 4.
//! Corrected: the price is kept at or above zero and a packet is marked when the random draw is *below* the probability (the
//! print has neither); load counts bytes, not packets, so that acknowledgements weigh their bytes.
//! Kernel implementation: `bpf/law/price.h`, held equal bit for bit by `vectors/price.txt`.

use alloc::string::String;

use super::{Aqm, Context, Decides, Event, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Dual, Fix, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "price",
    title: "Price marking: the price is the integral of load minus virtual capacity; the mark probability is `1 - phi^-price`",
    source: "Paganini, Wang, Low, Doyle, A New TCP/AQM for Stable Operation in Fast Networks, equation (5), Fig. 4",
    colour: "#7b3fa0",
    parameters: &[
        Parameter::number(
            "target",
            Unit::One,
            0.95,
            [1e-3, 1.0],
            "virtual capacity, as a fraction of the real one",
            "section V",
        ),
        Parameter::number(
            "phi",
            Unit::One,
            1000.0,
            [1.001, 1e9],
            "base of the marking law 1 - phi^-price",
            "section V",
        ),
        Parameter::number(
            "period",
            Unit::Seconds,
            0.005,
            [1e-4, 10.0],
            "update period",
            "section V, Fig. 4 (updInterval)",
        ),
    ],
    observables: Observables::of::<Price<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Price<f64>>,
    dual: Some(&build::<Dual, Price<Dual>>),
    fixed: Some(&build::<Fix<32>, Price<Fix<32>>>),
    kernel: None,
};

/// The law's compiled parameters.
#[derive(Debug)]
pub struct Price<N> {
    /// Virtual capacity, as a fraction of the real one
    pub target: N,
    /// Update period [s]
    pub period: N,
    /// ln phi
    pub ln_phi: N,
    zero: N,
    one: N,
    period_s: f64,
}

numbers! {
    /// The state of the law.
    pub struct State {
        /// The link's price: the integral of how far arrivals exceed the target rate.
        price: "s" as "Price",
        /// Marking probability that encodes the price.
        probability: "1" as "Marking probability",
    }
}

impl<N: Number> Law<N> for Price<N> {
    type Role = Aqm;
    type State = State<N>;

    fn compile(values: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self {
            target: N::of(values.number("target")),
            period: N::of(values.number("period")),
            ln_phi: N::of(libm::log(values.number("phi"))),
            zero: N::of(0.0),
            one: N::of(1.0),
            period_s: values.number("period"),
        })
    }

    fn initial_state(&self) -> State<N> {
        State { price: self.zero, probability: self.zero }
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        if event == Event::Tick {
            // (5) over one period: what arrived in units of what would have fitted, less one, times the period.
            let fitted = self.target * (observation.capacity * self.period);
            s.price = (s.price + (observation.arrived / fitted - self.one) * self.period).max(self.zero);
            s.probability = self.one - (-(self.ln_phi * s.price)).exp();
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { probability: s.probability, price_s: s.price }
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            tick_s: Some(self.period_s),
            decides: Decides::OnDeparture,
            marks: true,
            bytes: true,
            ..Requirements::LEAST
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law() -> Price<f64> {
        let context = Context {
            rate: crate::quantity::Rate(2_000_000_000),
            delay: crate::quantity::Time::ZERO,
            packet: crate::quantity::Bytes(1000),
            classes: alloc::vec::Vec::new(),
        };
        Price::compile(&Values::defaults(ENTRY.parameters), &context).unwrap()
    }
    const SEEN: Observation<f64> = Observation { capacity: 250_000.0, ..Observation::ZERO };

    /// Equation (5): a load of twice the virtual capacity raises the price by one second a second.
    #[test]
    fn the_price_is_the_integral_of_relative_excess() {
        let law = law();
        let mut s = law.initial_state();
        for _ in 0..200 {
            law.on_event(&mut s, Event::Tick, &Observation { arrived: 2.0 * 237_500.0 * 0.005, ..SEEN });
        }
        assert!((s.price - 1.0).abs() < 1e-9, "{}", s.price);
    }

    /// Idle time leaves no debt: the price rises at once with the next overload.
    #[test]
    fn the_price_stays_at_zero_when_idle() {
        let law = law();
        let mut s = law.initial_state();
        for _ in 0..1000 {
            law.on_event(&mut s, Event::Tick, &SEEN);
        }
        assert_eq!(s.price, 0.0);
        law.on_event(&mut s, Event::Tick, &Observation { arrived: 2.0 * 237_500.0 * 0.005, ..SEEN });
        assert!((s.price - 0.005).abs() < 1e-12);
    }

    /// Reference: prices 0.007 s and 0.43 s are marking probabilities 0.0472 and 0.9487, and the marks of successive
    /// links combine to the sum of their prices: 0.01 s and 0.02 s give 0.187169.
    #[test]
    fn marking_is_exponential_in_the_price_and_prices_add() {
        let law = law();
        let marks = |price: f64| {
            let load = (price / 0.005 + 1.0) * 237_500.0 * 0.005;
            let mut s = law.initial_state();
            law.on_event(&mut s, Event::Tick, &Observation { arrived: load, ..SEEN });
            law.output(&s, &SEEN).probability
        };
        assert!((marks(0.007) - 0.0472).abs() < 5e-5 && (marks(0.43) - 0.9487).abs() < 5e-5);
        let path = 1.0 - (1.0 - marks(0.01)) * (1.0 - marks(0.02));
        assert!((path - 0.187_169).abs() < 5e-7 && (path - marks(0.03)).abs() < 1e-12);
    }
}
