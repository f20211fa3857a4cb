//! Laws that only these tests know: the analysis meets them as it will meet the next law of the registry.
#![allow(dead_code, reason = "each test uses some of these")]

use penstock_law::aqm::{self, Chance, Decides, Port, Queue};
use penstock_law::cc::{self, Allowance, Marks, Path, Sender};
use penstock_law::estimate::MarkEstimate;
use penstock_law::law::{Linearises, build};
use penstock_law::parameter::{Parameter, Unit, Values};
use penstock_law::{Dual, Entry, Law, Number, Observables, numbers};

const COLOUR: &str = "#000000";

/// The static source law (6) of fast-aqm, paced or not: `x = x_max exp(-alpha q / tau)`.
pub(crate) static STATIC: Entry<Sender> = Entry {
    name: "static",
    title: "x = x_max exp(-alpha q / tau)",
    source: "fast-aqm (6)",
    colour: COLOUR,
    parameters: &[
        Parameter::number("alpha", Unit::One, 1.0, [0.0, 100.0], "gain", "(6)"),
        Parameter::switch("paced", true, "whether it says a gap", "a test"),
    ],
    observables: Observables::NONE,
    linearises: Linearises::ByItself,
    real: build::<f64, Static<f64>>,
    dual: Some(build::<Dual, Static<Dual>>),
    fixed: None,
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
    type Role = Sender;
    type State = Nothing<N>;

    fn compile(values: &Values, _: &cc::Site) -> Result<Self, String> {
        Ok(Self { alpha: N::of(values.number("alpha")), paced: values.switch("paced") })
    }
    fn start(&self) -> Nothing<N> {
        Nothing { arithmetic: core::marker::PhantomData }
    }
    fn on(&self, _: &mut Nothing<N>, _: cc::Event, _: &Path<N>) {}
    fn says(&self, _: &Nothing<N>, seen: &Path<N>) -> Allowance<N> {
        let window = N::of(1500.0) * (-(self.alpha * seen.price_s / seen.base_rtt_s)).exp();
        Allowance { window, gap_s: if self.paced { seen.base_rtt_s / window } else { N::of(0.0) } }
    }
    fn needs(&self) -> cc::Needs {
        let marks = Marks::Price(MarkEstimate { packets: 31, phi: 1000.0 });
        cc::Needs { marks, ..cc::Needs::LEAST }
    }
}

/// The dynamic source law (15), (16) of fast-aqm without a range for its gain, its window said at once.
pub(crate) static DYNAMIC: Entry<Sender> = Entry {
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
    linearises: Linearises::ByItself,
    real: build::<f64, Dynamic<f64>>,
    dual: Some(build::<Dual, Dynamic<Dual>>),
    fixed: None,
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
    fn window(&self, s: &Slow<N>, seen: &Path<N>) -> N {
        (s.xi - self.alpha * seen.price_s / seen.base_rtt_s).exp()
    }
}

impl<N: Number> Law<N> for Dynamic<N> {
    type Role = Sender;
    type State = Slow<N>;

    fn compile(values: &Values, _: &cc::Site) -> Result<Self, String> {
        let alpha = values.number("alpha");
        let step = N::of(alpha * values.number("eta") * PERIOD_S);
        Ok(Self { alpha: N::of(alpha), weight: N::of(values.number("K")), step })
    }
    fn start(&self) -> Slow<N> {
        Slow { xi: N::of(0.0) }
    }
    fn on(&self, s: &mut Slow<N>, event: cc::Event, seen: &Path<N>) {
        if event == cc::Event::Tick {
            let load = seen.price_s / seen.base_rtt_s;
            s.xi = s.xi + self.step * (self.weight / self.window(s, seen) - load);
        }
    }
    fn says(&self, s: &Slow<N>, seen: &Path<N>) -> Allowance<N> {
        let window = self.window(s, seen);
        Allowance { window, gap_s: seen.base_rtt_s / window }
    }
    fn needs(&self) -> cc::Needs {
        let marks = Marks::Price(MarkEstimate { packets: 31, phi: 1000.0 });
        cc::Needs { tick_s: Some(PERIOD_S), marks, ..cc::Needs::LEAST }
    }
}

/// The PI queue law of the baselines of fast-aqm, section 7.
pub(crate) static PI: Entry<Queue> = Entry {
    name: "pi",
    title: "p += a (q - q_ref) - b (q_old - q_ref)",
    source: "fast-aqm, section V",
    colour: COLOUR,
    parameters: &[],
    observables: Observables::NONE,
    linearises: Linearises::ByItself,
    real: build::<f64, Pi>,
    dual: Some(build::<Dual, Pi>),
    fixed: None,
};

#[derive(Debug)]
pub(crate) struct Pi;

numbers! {
    /// What PI remembers.
    pub(crate) struct Memory {
        /// Marking probability.
        probability: "1",
        /// The queue a period ago.
        old: "packets",
    }
}

impl<N: Number> Law<N> for Pi {
    type Role = Queue;
    type State = Memory<N>;

    fn compile(_: &Values, _: &aqm::Site) -> Result<Self, String> {
        Ok(Self)
    }
    fn start(&self) -> Memory<N> {
        Memory { probability: N::of(0.0), old: N::of(0.0) }
    }
    fn on(&self, s: &mut Memory<N>, event: aqm::Event, seen: &Port<N>) {
        if event == aqm::Event::Tick {
            let want = N::of(50.0);
            let change = N::of(1.822e-5) * (seen.queue - want) - N::of(1.816e-5) * (s.old - want);
            s.probability = (s.probability + change).clamp(N::of(0.0), N::of(1.0));
            s.old = seen.queue;
        }
    }
    fn says(&self, s: &Memory<N>, _: &Port<N>) -> Chance<N> {
        Chance { probability: s.probability, price_s: N::of(0.0) }
    }
    fn needs(&self) -> aqm::Needs {
        aqm::Needs {
            tick_s: Some(1.0 / 170.0),
            decides: Decides::OnArrival,
            marks: true,
            bytes: true,
            ..aqm::Needs::LEAST
        }
    }
}

/// A window that is a cubic of the queueing delay: a link of 1250 packets/s is full at 10, 20 and 30 ms.
pub(crate) static CUBIC: Entry<Sender> = Entry {
    name: "three-delays",
    title: "x = c (1 - (q - a)(q - 2a)(q - 3a) / 2 a^3), a = 10 ms",
    source: "a test",
    colour: COLOUR,
    parameters: &[],
    observables: Observables::NONE,
    linearises: Linearises::ByItself,
    real: build::<f64, ThreeDelays>,
    dual: Some(build::<Dual, ThreeDelays>),
    fixed: None,
};

#[derive(Debug)]
pub(crate) struct ThreeDelays;

impl<N: Number> Law<N> for ThreeDelays {
    type Role = Sender;
    type State = Nothing<N>;

    fn compile(_: &Values, _: &cc::Site) -> Result<Self, String> {
        Ok(Self)
    }
    fn start(&self) -> Nothing<N> {
        Nothing { arithmetic: core::marker::PhantomData }
    }
    fn on(&self, _: &mut Nothing<N>, _: cc::Event, _: &Path<N>) {}
    fn says(&self, _: &Nothing<N>, seen: &Path<N>) -> Allowance<N> {
        let delay = (seen.rtt_s - seen.base_rtt_s) / N::of(0.01);
        let cubic = (delay - N::of(1.0)) * (delay - N::of(2.0)) * (delay - N::of(3.0));
        let rate = N::of(1250.0) * (N::of(1.0) - N::of(0.1) * cubic).max(N::of(0.01));
        Allowance { window: rate * seen.rtt_s, gap_s: N::of(0.0) }
    }
    fn needs(&self) -> cc::Needs {
        cc::Needs::LEAST
    }
}

/// 2000 packets a second below 10 ms in the queue, 500 above: a link of 1250 is full at no delay.
pub(crate) static JUMPING: Entry<Sender> = Entry {
    name: "jumping",
    title: "x = 2000 packets/s below 10 ms in the queue, 500 above",
    source: "a test",
    colour: COLOUR,
    parameters: &[],
    observables: Observables::NONE,
    linearises: Linearises::ByItself,
    real: build::<f64, Jumping>,
    dual: Some(build::<Dual, Jumping>),
    fixed: None,
};

#[derive(Debug)]
pub(crate) struct Jumping;

impl<N: Number> Law<N> for Jumping {
    type Role = Sender;
    type State = Nothing<N>;

    fn compile(_: &Values, _: &cc::Site) -> Result<Self, String> {
        Ok(Self)
    }
    fn start(&self) -> Nothing<N> {
        Nothing { arithmetic: core::marker::PhantomData }
    }
    fn on(&self, _: &mut Nothing<N>, _: cc::Event, _: &Path<N>) {}
    fn says(&self, _: &Nothing<N>, seen: &Path<N>) -> Allowance<N> {
        let rate = if seen.rtt_s - seen.base_rtt_s < N::of(0.01) { 2000.0 } else { 500.0 };
        Allowance { window: N::of(rate) * seen.rtt_s, gap_s: N::of(0.0) }
    }
    fn needs(&self) -> cc::Needs {
        cc::Needs::LEAST
    }
}

/// A window that rests at 100 and at 300 packets, whatever the path says.
pub(crate) static TWO_RESTS: Entry<Sender> = Entry {
    name: "two-rests",
    title: "w <- w - (w - 100)(w - 200)(w - 300) / 10^7 an acknowledgement",
    source: "a test",
    colour: COLOUR,
    parameters: &[],
    observables: Observables::NONE,
    linearises: Linearises::ByItself,
    real: build::<f64, TwoRests>,
    dual: Some(build::<Dual, TwoRests>),
    fixed: None,
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
    type Role = Sender;
    type State = Window<N>;

    fn compile(_: &Values, _: &cc::Site) -> Result<Self, String> {
        Ok(Self)
    }
    fn start(&self) -> Window<N> {
        Window { window: N::of(120.0) }
    }
    fn on(&self, s: &mut Window<N>, event: cc::Event, _: &Path<N>) {
        if let cc::Event::Ack { .. } = event {
            let w = s.window;
            let push = (w - N::of(100.0)) * (w - N::of(200.0)) * (w - N::of(300.0)) * N::of(1e-7);
            s.window = w - push.clamp(N::of(-1.0), N::of(1.0));
        }
    }
    fn says(&self, s: &Window<N>, _: &Path<N>) -> Allowance<N> {
        Allowance { window: s.window, gap_s: N::of(0.0) }
    }
    fn needs(&self) -> cc::Needs {
        cc::Needs::LEAST
    }
}
