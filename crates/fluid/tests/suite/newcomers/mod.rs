//! Laws that only these tests know: the analysis meets them as it will meet the next law of the registry.
#![allow(dead_code, reason = "each test uses some of these")]

use penstock_law::aqm::{self, Aqm, Decides};
use penstock_law::cc::{self, Controller, Marks};
use penstock_law::estimate::MarkEstimate;
use penstock_law::law::{Linearisation, build};
use penstock_law::parameter::{Parameter, Unit, Values};
use penstock_law::{Dual, Entry, Law, Number, Observables, numbers};

const COLOUR: &str = "#000000";

/// The static source law (6) of fast-aqm, paced or not: `x = x_max exp(-alpha q / tau)`.
pub(crate) static STATIC: Entry<Controller> = Entry {
    name: "static",
    title: "x = x_max exp(-alpha q / tau)",
    source: "fast-aqm (6)",
    colour: COLOUR,
    parameters: &[
        Parameter::number("alpha", Unit::One, 1.0, [0.0, 100.0], "gain", "(6)"),
        Parameter::switch("paced", true, "whether it says a gap", "a test"),
    ],
    observables: Observables::NONE,
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Static<f64>>,
    dual: Some(&build::<Dual, Static<Dual>>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
pub(crate) struct Static<N> {
    alpha: N,
    paced: bool,
}

numbers! {
    /// Nothing.
    pub(crate) struct Nothing {}
    frozen {
        /// Makes the struct generic.
        arithmetic: core::marker::PhantomData<N>,
    }
}

impl<N: Number> Law<N> for Static<N> {
    type Role = Controller;
    type State = Nothing<N>;

    fn compile(values: &Values, _: &cc::Context) -> Result<Self, String> {
        Ok(Self { alpha: N::of(values.number("alpha")), paced: values.switch("paced") })
    }
    fn initial_state(&self) -> Nothing<N> {
        Nothing { arithmetic: core::marker::PhantomData }
    }
    fn on_event(&self, _: &mut Nothing<N>, _: cc::Event, _: &cc::Observation<N>) {}
    fn output(&self, _: &Nothing<N>, seen: &cc::Observation<N>) -> cc::Output<N> {
        let window = N::of(1500.0) * (-(self.alpha * seen.price_s / seen.base_rtt_s)).exp();
        cc::Output { window, gap_s: if self.paced { seen.base_rtt_s / window } else { N::of(0.0) } }
    }
    fn requirements(&self) -> cc::Requirements {
        let marks = Marks::Price(MarkEstimate { packets: 31, phi: 1000.0 });
        cc::Requirements { marks, ..cc::Requirements::LEAST }
    }
}

/// The dynamic source law (15), (16) of fast-aqm without a range for its gain, its window said at once.
pub(crate) static DYNAMIC: Entry<Controller> = Entry {
    name: "dynamic",
    title: "tau dxi/dt = beta (K/x - q), x = exp(xi - alpha q / tau)",
    source: "fast-aqm (15), (16)",
    colour: COLOUR,
    parameters: &[
        Parameter::number("alpha", Unit::One, 0.37, [0.0, 100.0], "gain", "(16)"),
        Parameter::number("eta", Unit::One, 0.64, [0.0, 100.0], "zero, times the round trip", "(15)"),
        Parameter::number("K", Unit::Packets, 50.0, [0.0, 1e6], "weight", "(15)"),
    ],
    observables: Observables::NONE,
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Dynamic<f64>>,
    dual: Some(&build::<Dual, Dynamic<Dual>>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
pub(crate) struct Dynamic<N> {
    alpha: N,
    weight: N,
    step: N,
}

numbers! {
    /// The slow state.
    pub(crate) struct Slow {
        /// xi.
        xi: "1",
    }
}

const PERIOD_S: f64 = 1e-4;

impl<N: Number> Dynamic<N> {
    fn window(&self, s: &Slow<N>, seen: &cc::Observation<N>) -> N {
        (s.xi - self.alpha * seen.price_s / seen.base_rtt_s).exp()
    }
}

impl<N: Number> Law<N> for Dynamic<N> {
    type Role = Controller;
    type State = Slow<N>;

    fn compile(values: &Values, _: &cc::Context) -> Result<Self, String> {
        let alpha = values.number("alpha");
        let step = N::of(alpha * values.number("eta") * PERIOD_S);
        Ok(Self { alpha: N::of(alpha), weight: N::of(values.number("K")), step })
    }
    fn initial_state(&self) -> Slow<N> {
        Slow { xi: N::of(0.0) }
    }
    fn on_event(&self, s: &mut Slow<N>, event: cc::Event, seen: &cc::Observation<N>) {
        if event == cc::Event::Tick {
            let load = seen.price_s / seen.base_rtt_s;
            s.xi += self.step * (self.weight / self.window(s, seen) - load);
        }
    }
    fn output(&self, s: &Slow<N>, seen: &cc::Observation<N>) -> cc::Output<N> {
        let window = self.window(s, seen);
        cc::Output { window, gap_s: seen.base_rtt_s / window }
    }
    fn requirements(&self) -> cc::Requirements {
        let marks = Marks::Price(MarkEstimate { packets: 31, phi: 1000.0 });
        cc::Requirements { tick_s: Some(PERIOD_S), marks, ..cc::Requirements::LEAST }
    }
}

/// The PI queue law of the baselines of fast-aqm, section 7.
pub(crate) static PI: Entry<Aqm> = Entry {
    name: "pi",
    title: "p += a (q - q_ref) - b (q_old - q_ref)",
    source: "fast-aqm, section V",
    colour: COLOUR,
    parameters: &[],
    observables: Observables::NONE,
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Pi>,
    dual: Some(&build::<Dual, Pi>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
pub(crate) struct Pi;

numbers! {
    /// The memory of PI.
    pub(crate) struct Memory {
        /// Marking probability.
        probability: "1",
        /// The queue a period ago.
        old: "packets",
    }
}

impl<N: Number> Law<N> for Pi {
    type Role = Aqm;
    type State = Memory<N>;

    fn compile(_: &Values, _: &aqm::Context) -> Result<Self, String> {
        Ok(Self)
    }
    fn initial_state(&self) -> Memory<N> {
        Memory { probability: N::of(0.0), old: N::of(0.0) }
    }
    fn on_event(&self, s: &mut Memory<N>, event: aqm::Event, seen: &aqm::Observation<N>) {
        if event == aqm::Event::Tick {
            let want = N::of(50.0);
            let change = N::of(1.822e-5) * (seen.queue - want) - N::of(1.816e-5) * (s.old - want);
            s.probability = (s.probability + change).clamp(N::of(0.0), N::of(1.0));
            s.old = seen.queue;
        }
    }
    fn output(&self, s: &Memory<N>, _: &aqm::Observation<N>) -> aqm::Output<N> {
        aqm::Output { probability: s.probability, price_s: N::of(0.0) }
    }
    fn requirements(&self) -> aqm::Requirements {
        aqm::Requirements {
            tick_s: Some(1.0 / 170.0),
            decides: Decides::OnArrival,
            marks: true,
            bytes: true,
            ..aqm::Requirements::LEAST
        }
    }
}

/// A window that is a cubic of the queueing delay: a link of 1250 packets/s is full at 10, 20 and 30 ms.
pub(crate) static CUBIC: Entry<Controller> = Entry {
    name: "three-delays",
    title: "x = c (1 - (q - a)(q - 2a)(q - 3a) / 2 a^3), a = 10 ms",
    source: "a test",
    colour: COLOUR,
    parameters: &[],
    observables: Observables::NONE,
    linearisation: Linearisation::Automatic,
    real: &build::<f64, ThreeDelays>,
    dual: Some(&build::<Dual, ThreeDelays>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
pub(crate) struct ThreeDelays;

impl<N: Number> Law<N> for ThreeDelays {
    type Role = Controller;
    type State = Nothing<N>;

    fn compile(_: &Values, _: &cc::Context) -> Result<Self, String> {
        Ok(Self)
    }
    fn initial_state(&self) -> Nothing<N> {
        Nothing { arithmetic: core::marker::PhantomData }
    }
    fn on_event(&self, _: &mut Nothing<N>, _: cc::Event, _: &cc::Observation<N>) {}
    fn output(&self, _: &Nothing<N>, seen: &cc::Observation<N>) -> cc::Output<N> {
        let delay = (seen.rtt_s - seen.base_rtt_s) / N::of(0.01);
        let cubic = (delay - N::of(1.0)) * (delay - N::of(2.0)) * (delay - N::of(3.0));
        let rate = N::of(1250.0) * (N::of(1.0) - N::of(0.1) * cubic).max(N::of(0.01));
        cc::Output { window: rate * seen.rtt_s, gap_s: N::of(0.0) }
    }
    fn requirements(&self) -> cc::Requirements {
        cc::Requirements::LEAST
    }
}

/// 2000 packets a second below 10 ms in the queue, 500 above: a link of 1250 is full at no delay.
pub(crate) static JUMPING: Entry<Controller> = Entry {
    name: "jumping",
    title: "x = 2000 packets/s below 10 ms in the queue, 500 above",
    source: "a test",
    colour: COLOUR,
    parameters: &[],
    observables: Observables::NONE,
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Jumping>,
    dual: Some(&build::<Dual, Jumping>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
pub(crate) struct Jumping;

impl<N: Number> Law<N> for Jumping {
    type Role = Controller;
    type State = Nothing<N>;

    fn compile(_: &Values, _: &cc::Context) -> Result<Self, String> {
        Ok(Self)
    }
    fn initial_state(&self) -> Nothing<N> {
        Nothing { arithmetic: core::marker::PhantomData }
    }
    fn on_event(&self, _: &mut Nothing<N>, _: cc::Event, _: &cc::Observation<N>) {}
    fn output(&self, _: &Nothing<N>, seen: &cc::Observation<N>) -> cc::Output<N> {
        let rate = if seen.rtt_s - seen.base_rtt_s < N::of(0.01) { 2000.0 } else { 500.0 };
        cc::Output { window: N::of(rate) * seen.rtt_s, gap_s: N::of(0.0) }
    }
    fn requirements(&self) -> cc::Requirements {
        cc::Requirements::LEAST
    }
}

/// A window that settles at 100 and at 300 packets, whatever the path says.
pub(crate) static TWO_RESTS: Entry<Controller> = Entry {
    name: "two-rests",
    title: "w <- w - (w - 100)(w - 200)(w - 300) / 10^7 an acknowledgement",
    source: "a test",
    colour: COLOUR,
    parameters: &[],
    observables: Observables::NONE,
    linearisation: Linearisation::Automatic,
    real: &build::<f64, TwoRests>,
    dual: Some(&build::<Dual, TwoRests>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
pub(crate) struct TwoRests;

numbers! {
    /// A window.
    pub(crate) struct Window {
        /// The window.
        window: "packets",
    }
}

impl<N: Number> Law<N> for TwoRests {
    type Role = Controller;
    type State = Window<N>;

    fn compile(_: &Values, _: &cc::Context) -> Result<Self, String> {
        Ok(Self)
    }
    fn initial_state(&self) -> Window<N> {
        Window { window: N::of(120.0) }
    }
    fn on_event(&self, s: &mut Window<N>, event: cc::Event, _: &cc::Observation<N>) {
        if let cc::Event::Ack { .. } = event {
            let w = s.window;
            let push = (w - N::of(100.0)) * (w - N::of(200.0)) * (w - N::of(300.0)) * N::of(1e-7);
            s.window = w - push.clamp(N::of(-1.0), N::of(1.0));
        }
    }
    fn output(&self, s: &Window<N>, _: &cc::Observation<N>) -> cc::Output<N> {
        cc::Output { window: s.window, gap_s: N::of(0.0) }
    }
    fn requirements(&self) -> cc::Requirements {
        cc::Requirements::LEAST
    }
}
