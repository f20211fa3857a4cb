//! The protocol of Paganini, Wang, Low and Doyle: exponential in the price, fast at high frequency and slow towards the
//! demand of its utility, hence a lead-lag compensator. The price comes by marks (ECN), or is the queueing delay.
//!
//! Source: "A New TCP/AQM for Stable Operation in Fast Networks". With marks: equations (20) and (21), caps of Fig. 3.
//! With queueing delay: (27) and (28). `form = "linearised"`: (22) in its discrete form, the one with theta. With `eta` 0:
//! the static law (6). Utility `K log x`, or for another `fairness` a the alpha-fair family of Mo and Walrand ("Fair
//! End-to-End Window-Based Congestion Control", 2000): `U'(x) = (K / r) (r / x)^a`, whose price at the rate r is K/r.
//! The `w` of (20) and (21) is `expWnd` of Fig. 3; `CWnd`, which the caps hold back, is in Fig. 3 alone and drives nothing.
//! Differs: the denominator of `K / expWnd` is floored at one packet; `expWnd` is kept within `1e-6 ..= 1e7` packets, since an estimate at
//! its cap would otherwise underflow the exponential for good; theta is kept within `1/2 ..= 2`, since a first mark under a short round
//! trip would make it negative; after loss the window is halved by `xi -= ln 2` (the paper has no losses). Marks are read by the register
//! of the last N ([`MarkEstimate`]), the round trip is the smallest sample, as the paper prefers for that protocol; the queueing delay is
//! the latest round trip less the smallest.
//! Corrected: the printed (28) has the exponent `alpha/M` for the window, which gives the *rate* of (25) `alpha/M + 1`;
//! `exponent = "of the rate"` has the `alpha/M - 1` that (25) implies. Their equilibrium is the same.
//! Kernel implementation: `bpf/law/leadlag.h` (both signals, both forms, utility K log x), held equal bit for bit by `vectors/leadlag.txt`.

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use super::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use crate::estimate::MarkEstimate;
use crate::law::{Entry, Instances, Law, Linearisation, Observables, build};
use crate::number::{Dual, Fix, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};
use crate::quantity::Rate;

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "leadlag",
    title: "Lead-lag protocol: stable for every delay and capacity, any utility at equilibrium",
    source: "Paganini, Wang, Low, Doyle, A New TCP/AQM for Stable Operation in Fast Networks, equations (20) to (28), Fig. 3",
    colour: "#3b7d23",
    parameters: &[
        Parameter::number("alpha", Unit::One, 0.37, [1e-6, 1.57], "stability gain, below pi/2", "section V"),
        Parameter::number(
            "eta",
            Unit::One,
            0.64,
            [0.0, 10.0],
            "zero of the compensator, as a multiple of 1/taubar; 0 gives the static law (6), which needs max_rate",
            "section V; Proposition 3: below cot 1 = 0.642",
        ),
        Parameter::number(
            "taubar",
            Unit::Seconds,
            1.0,
            [1e-6, 1e3],
            "bound on all round-trip times; beta = alpha eta / (M taubar)",
            "not in the paper; its Fig. 6 goes to 1 s",
        ),
        Parameter::number("M", Unit::One, 1.0, [1.0, 1e3], "bound on the bottlenecks of a path", "section V"),
        Parameter::number("K", Unit::Packets, 50.0, [1e-6, 1e6], "weight of the utility K log x", "section V"),
        Parameter::number("N", Unit::Packets, 31.0, [1.0, 64.0], "number of marks in the estimate", "section V"),
        Parameter::number("phi", Unit::One, 1000.0, [1.001, 1e9], "base of the marking law", "section V"),
        Parameter::number("period", Unit::Seconds, 0.010, [1e-4, 10.0], "update period T_s", "section V, Fig. 3"),
        Parameter::number(
            "cap",
            Unit::Packets,
            1.0,
            [1e-3, 1e6],
            "largest change of the window per acknowledged packet, up or down",
            "Fig. 3 (maxIncrement, maxDecrement) has no values; above 10, flows with short round trips collapse",
        ),
        Parameter::choice(
            "signal",
            &["ecn", "delay"],
            "source of the price: marks, or the time in queues",
            "sections IV-A and VI",
        ),
        Parameter::choice(
            "form",
            &["exponential", "linearised"],
            "window law: (21) and (28), or without exponentials, biased by the noise of the estimate",
            "section IV-B, equation (22)",
        ),
        Parameter::choice(
            "exponent",
            &["printed", "of the rate"],
            "with signal delay: exponent of the window, alpha/M as in (28), or alpha/M - 1, as in (25) for the rate",
            "equations (25) and (28)",
        ),
        Parameter::number(
            "fairness",
            Unit::One,
            1.0,
            [0.05, 20.0],
            "exponent a of alpha-fair utility; 1 is K log x, larger values equalise rates on paths of different price",
            "Mo and Walrand 2000; section II-A.3 of the paper leaves the utility open",
        ),
        Parameter::automatic(
            "reference_rate",
            Unit::BitPerSecond,
            "1000 packets a second",
            [1.0, 1e15],
            "with fairness other than 1: the rate r whose price is K/r",
            "a choice of units: the paper has K log x",
        ),
        Parameter::automatic(
            "max_rate",
            Unit::BitPerSecond,
            "one packet a round trip",
            [1.0, 1e15],
            "x_m: rate at xi = 0 and zero price; with eta 0 the maximum rate",
            "equations (6) and (16); Fig. 3 (W_m) has no value",
        ),
    ],
    observables: Observables::of::<LeadLag<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &build::<f64, LeadLag<f64>>,
    dual: Some(&build::<Dual, LeadLag<Dual>>),
    fixed: Some(&in_kernel_arithmetic),
    kernel: None,
};

/// In the kernel's arithmetic: only the part with a kernel implementation.
fn in_kernel_arithmetic(values: &Values, context: &Context) -> Result<Box<dyn Instances<Fix<32>, Controller>>, String> {
    let beyond = values.optional("max_rate").map(|_| "max_rate");
    let beyond = beyond.or((values.number("fairness") != 1.0).then_some("fairness"));
    match beyond {
        Some(name) => Err(alloc::format!(
            "`{name}`: the kernel implementation starts at one packet and has the utility K log x only"
        )),
        None => build::<Fix<32>, LeadLag<Fix<32>>>(values, context),
    }
}

/// The protocol's compiled parameters.
#[derive(Debug)]
pub struct LeadLag<N> {
    /// beta T_s: the slow gain times the period
    pub step: N,
    /// K [packets]
    pub weight: N,
    /// alpha / M; the window's exponent where the signal is delay
    pub gain: N,
    /// caps of Fig. 3 [packets]
    pub cap: N,
    /// w_m: the window at xi = 0 and no price [packets]
    pub scale: N,
    /// least expWnd [packets]
    pub least: N,
    /// largest expWnd [packets]
    pub most: N,
    /// ln 2: the decrease of xi in a congestion event
    pub ln2: N,
    /// x_m [packets/s], where it is given
    max_rate: Option<N>,
    /// a - 1 and r [packets/s], of a utility other than K log x
    fairness: Option<(N, N)>,
    signal: Signal,
    linearised: bool,
    one: N,
    half: N,
    two: N,
    period_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Signal {
    Ecn(MarkEstimate),
    Delay,
}

numbers! {
    /// The state of the protocol.
    pub struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// expWnd of the paper's Fig. 3: the window of the equations.
        target: "packets" as "Target window, expWnd",
        /// xi of the paper: the slow part of ln expWnd, without the immediate response to the price.
        xi: "1" as "Slow state, xi",
    }
}

impl<N: Number> LeadLag<N> {
    /// The input of the period: the price in units of the round trip, and the part of ln expWnd that follows it at once.
    #[inline]
    fn load(&self, observation: &Observation<N>) -> (N, N) {
        match self.signal {
            Signal::Ecn(_) => {
                let load = observation.price_s / observation.base_rtt_s;
                (load, self.gain * load)
            }
            Signal::Delay => {
                let empty = observation.base_rtt_s / observation.rtt_s;
                (self.one - empty, -(self.gain * empty.ln()))
            }
        }
    }

    /// `U'(x)` in units of the round trip: K / w, or for another utility (K / w) (r tau / w)^(a - 1).
    #[inline]
    fn demand(&self, s: &State<N>, observation: &Observation<N>) -> N {
        let window = s.target.max(self.one);
        let demand = self.weight / window;
        match self.fairness {
            None => demand,
            Some((steeper, reference)) => {
                let tau = if self.signal == Signal::Delay { observation.rtt_s } else { observation.base_rtt_s };
                // A steep utility asks for anything while the window is small: no faster than K log x does from one packet.
                (demand * (steeper * (reference * tau / window).ln()).exp()).min(self.weight)
            }
        }
    }

    /// A period: the new expWnd.
    fn tick(&self, s: &mut State<N>, observation: &Observation<N>) {
        let (load, fast) = self.load(observation);
        let demand = self.demand(s, observation);
        if self.linearised {
            // theta(k), with what xi leaves of ln expWnd for its term of the price one period ago.
            let before = s.xi - s.target.ln();
            let theta = (self.one - self.step * load - fast + before).clamp(self.half, self.two);
            // beta K T_s, for the utility K log x.
            let drift = self.step * (demand * s.target);
            s.target = (theta * s.target + drift).clamp(self.one, self.most);
            s.xi = s.target.ln() + fast;
        } else {
            let scale = self.max_rate.map_or(self.scale, |rate| rate * observation.base_rtt_s);
            s.xi += self.step * (demand - load); // (20), (27)
            s.target = (scale * (s.xi - fast).exp()).clamp(self.least, self.most); // (21), (28)
        }
    }
}

impl<N: Number> Law<N> for LeadLag<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let (alpha, m, period_s) = (values.number("alpha"), values.number("M"), values.number("period"));
        let (eta, fairness) = (values.number("eta"), values.number("fairness"));
        let (delay, linearised) = (values.switch("signal"), values.switch("form"));
        let packets = values.number("N");
        if libm::floor(packets) != packets {
            return Err(alloc::format!(
                "`N` is the number of marks in the price estimate: write a whole number, not {packets}"
            ));
        }
        let per_s = |bit_per_s: f64| Rate(bit_per_s as u64).packets_per_s(context.packet);
        let max_rate = values.optional("max_rate").map(per_s);
        let reference = values.optional("reference_rate").map(per_s);
        if eta == 0.0 && max_rate.is_none() {
            return Err("`eta` 0 leaves the static law (6), which needs `max_rate`".to_string());
        }
        if linearised && max_rate.is_some() {
            return Err("`max_rate` is a factor of the exponential form; the linearised one has none".to_string());
        }
        if reference.is_some() && fairness == 1.0 {
            return Err("`reference_rate` has no effect where `fairness` is 1".to_string());
        }
        if values.switch("exponent") && !delay {
            return Err("`exponent` is of equation (28), where `signal` is \"delay\"".to_string());
        }
        let own = if values.switch("exponent") { 1.0 } else { 0.0 };
        let estimate = MarkEstimate { packets: packets as u32, phi: values.number("phi") };
        Ok(Self {
            step: N::of(alpha * eta / (m * values.number("taubar")) * period_s),
            weight: N::of(values.number("K")),
            gain: N::of(alpha / m - own),
            cap: N::of(values.number("cap")),
            scale: N::of(1.0),
            least: N::of(1e-6),
            most: N::of(1e7),
            ln2: N::of(core::f64::consts::LN_2),
            max_rate: max_rate.map(N::of),
            fairness: (fairness != 1.0).then(|| (N::of(fairness - 1.0), N::of(reference.unwrap_or(1000.0)))),
            signal: if delay { Signal::Delay } else { Signal::Ecn(estimate) },
            linearised,
            one: N::of(1.0),
            half: N::of(0.5),
            two: N::of(2.0),
            period_s,
        })
    }

    fn initial_state(&self) -> State<N> {
        State { window: self.one, target: self.one, xi: N::of(0.0) }
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        match event {
            Event::Tick => self.tick(s, observation),
            Event::Ack { packets, .. } => {
                let reach = self.cap * N::count(packets);
                s.window = (s.window + (s.target - s.window).clamp(-reach, reach)).max(self.one);
            }
            Event::Congestion | Event::Timeout => {
                s.xi -= self.ln2;
                s.target = (s.target * self.half).max(self.least);
                s.window = (s.window * self.half).max(self.one);
            }
            Event::Round => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, observation: &Observation<N>) -> Output<N> {
        // Uniformly over a round trip; with marks queues are empty, and the paper's round trip is the smallest.
        let tau = if self.signal == Signal::Delay { observation.rtt_s } else { observation.base_rtt_s };
        Output { window: s.window, gap_s: tau / s.window }
    }

    fn requirements(&self) -> Requirements {
        let marks = match self.signal {
            Signal::Ecn(estimate) => Marks::Price(estimate),
            Signal::Delay => Marks::Ignored,
        };
        Requirements { tick_s: Some(self.period_s), marks, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: Context = Context { packet: crate::quantity::Bytes(1000), initial_window: 2.0, initial_ssthresh: 1e9 };

    fn values(set: &[(&str, f64)]) -> Values {
        Values::of(ENTRY.parameters, set)
    }

    fn with(set: &[(&str, f64)]) -> LeadLag<f64> {
        LeadLag::compile(&values(set), &SITE).unwrap()
    }

    fn law() -> LeadLag<f64> {
        with(&[])
    }

    /// The equilibrium window at a constant price and queueing delay [packets].
    fn rest(law: &LeadLag<f64>, base_rtt_s: f64, price_s: f64, queueing_s: f64) -> f64 {
        let mut s = law.initial_state();
        let observation = Observation { rtt_s: base_rtt_s + queueing_s, base_rtt_s, price_s, ..Observation::zero() };
        for _ in 0..400_000 {
            law.on_event(&mut s, Event::Tick, &observation);
            law.on_event(&mut s, Event::Ack { packets: 20, marked: 0 }, &observation);
        }
        s.window
    }

    /// Reference 9.3: without a price the window grows by beta K = 11.84 packets a second (taubar = 1 s).
    #[test]
    fn without_marks_the_window_grows_by_beta_k() {
        let law = law();
        let mut s = State { window: 100.0, target: 100.0, xi: libm::log(100.0) };
        let observation = Observation { rtt_s: 0.04, base_rtt_s: 0.04, ..Observation::zero() };
        for _ in 0..100 {
            law.on_event(&mut s, Event::Tick, &observation);
            for _ in 0..50 {
                law.on_event(&mut s, Event::Ack { packets: 1, marked: 0 }, &observation);
            }
        }
        assert!((s.window - 111.84).abs() < 0.02, "{}", s.window);
    }

    /// At a constant price the rate settles at K / q whatever the round trip: stage 3 of Fig. 8.
    #[test]
    fn the_rate_settles_at_the_demand_of_the_utility() {
        for base_rtt_s in [0.04, 0.12, 0.2] {
            let law = law();
            let mut s = law.initial_state();
            let observation =
                Observation { rtt_s: base_rtt_s, base_rtt_s, price_s: 0.026_947_4, ..Observation::zero() };
            for _ in 0..200_000 {
                law.on_event(&mut s, Event::Tick, &observation);
                law.on_event(&mut s, Event::Ack { packets: 20, marked: 0 }, &observation);
            }
            assert!((s.window / base_rtt_s - 1855.46).abs() < 0.1, "{}", s.window / base_rtt_s);
        }
    }

    /// The cap: at most one packet an acknowledged packet, whatever the target.
    #[test]
    fn the_window_moves_by_at_most_the_cap() {
        let law = law();
        let mut s = State { window: 100.0, target: 1e6, xi: 0.0 };
        let observation = Observation { rtt_s: 0.1, base_rtt_s: 0.1, ..Observation::zero() };
        law.on_event(&mut s, Event::Ack { packets: 2, marked: 0 }, &observation);
        assert_eq!(s.window, 102.0);
        s.target = 1e-6;
        law.on_event(&mut s, Event::Ack { packets: 1000, marked: 0 }, &observation);
        assert_eq!(s.window, 1.0, "never below one packet");
    }

    /// Equation (6): without a slow part the window is `x_m d exp(-alpha q / (M d))` and no more.
    #[test]
    fn without_eta_it_is_the_static_law() {
        let law = with(&[("eta", 0.0), ("max_rate", 80e6), ("M", 2.0)]);
        for (base_rtt_s, price_s) in [(0.04, 0.0), (0.04, 0.1), (0.2, 0.5)] {
            let window = 10_000.0 * base_rtt_s * libm::exp(-0.37 * price_s / (2.0 * base_rtt_s));
            assert!((rest(&law, base_rtt_s, price_s, 0.0) / window - 1.0).abs() < 1e-9, "{base_rtt_s} {price_s}");
        }
    }

    /// The discrete form of (22), as the paper prints it:
    /// `theta(k) = 1 - (beta T_s + alpha/M) q(k)/tau + (alpha/M) q(k-1)/tau`, `w(k+1) = theta(k) w(k) + beta K T_s`.
    #[test]
    fn the_linearised_form_is_the_theta_of_the_paper() {
        let law = with(&[("form", 1.0), ("taubar", 0.5), ("M", 2.0)]);
        let (alpha, tau, weight) = (0.37 / 2.0, 0.08, 50.0);
        let beta = 0.37 * 0.64 / (2.0 * 0.5);
        let mut s = State { window: 100.0, target: 100.0, xi: libm::log(100.0) };
        let (mut w, mut before) = (100.0, 0.0);
        for k in 0..1000 {
            let price_s = 0.01 * f64::from(k % 7);
            law.on_event(
                &mut s,
                Event::Tick,
                &Observation { rtt_s: tau, base_rtt_s: tau, price_s, ..Observation::zero() },
            );
            let theta = 1.0 - (beta * 0.01 + alpha) * price_s / tau + alpha * before / tau;
            w = f64::max(1.0, theta * w + beta * weight * 0.01);
            before = price_s;
            assert!((s.target / w - 1.0).abs() < 1e-9, "{k}: {} {w}", s.target);
        }
    }

    /// One mark more under a round trip of 20 ms makes theta -10 or so; it is kept at a half.
    #[test]
    fn theta_is_kept_positive() {
        let law = with(&[("form", 1.0)]);
        let mut s = State { window: 100.0, target: 100.0, xi: libm::log(100.0) };
        law.on_event(
            &mut s,
            Event::Tick,
            &Observation { rtt_s: 0.02, base_rtt_s: 0.02, price_s: 0.597, ..Observation::zero() },
        );
        assert!((s.target - 50.0).abs() < 0.5, "{}", s.target);
    }

    /// (27) and (28) settle at `x q = K` with either exponent and in either form: `w = K (d + q) / q`.
    #[test]
    fn with_delay_the_rate_settles_at_the_demand_too() {
        for (exponent, form) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
            let law = with(&[("signal", 1.0), ("exponent", exponent), ("form", form)]);
            for (base_rtt_s, queueing_s) in [(0.04, 0.0064), (0.2, 0.1024)] {
                let window = 50.0 * (base_rtt_s + queueing_s) / queueing_s;
                let got = rest(&law, base_rtt_s, 0.0, queueing_s);
                assert!((got / window - 1.0).abs() < 1e-6, "{exponent} {form}: {got} {window}");
            }
        }
    }

    /// At once: the window of (28) is multiplied by `(d / (d + q))^(alpha/M)`; that of (25) grows by `alpha/M - 1`.
    #[test]
    fn the_exponent_of_the_delay_form_is_as_asked() {
        for (exponent, power) in [(0.0, 0.37), (1.0, 0.37 - 1.0)] {
            let law = with(&[("signal", 1.0), ("exponent", exponent), ("taubar", 1000.0)]);
            let mut s = State { window: 100.0, target: 100.0, xi: libm::log(100.0) };
            law.on_event(
                &mut s,
                Event::Tick,
                &Observation { rtt_s: 0.15, base_rtt_s: 0.1, price_s: 0.0, ..Observation::zero() },
            );
            let wanted = 100.0 * libm::pow(0.1 / 0.15, power);
            assert!((s.target / wanted - 1.0).abs() < 1e-4, "{exponent}: {} {wanted}", s.target);
        }
    }

    /// The alpha-fair family: it settles where `(K/r) (r/x)^a = q`, whatever the round trip.
    #[test]
    fn other_utilities_rest_at_their_own_demand() {
        let (weight, reference, price) = (50.0, 2000.0, 0.03);
        for a in [0.5, 2.0, 5.0] {
            for form in [0.0, 1.0] {
                let law = with(&[("fairness", a), ("reference_rate", 16e6), ("form", form)]);
                let demand = reference * libm::pow(weight / (reference * price), 1.0 / a);
                for base_rtt_s in [0.04, 0.2] {
                    let rate = rest(&law, base_rtt_s, price, 0.0) / base_rtt_s;
                    assert!((rate / demand - 1.0).abs() < 1e-6, "{a} {form} {base_rtt_s}: {rate} {demand}");
                }
            }
        }
    }

    /// Every mark of 31 set, under a round trip of 20 ms: one step takes the target below a packet, yet nothing is lost
    /// for good. It settles at the demand for the largest price, and grows again when the marks are gone.
    #[test]
    fn all_marks_and_tiny_windows_are_survived() {
        let law = law();
        let marked = Observation { rtt_s: 0.02, base_rtt_s: 0.02, price_s: 0.597_464, ..Observation::zero() };
        let mut s = State { window: 100.0, target: 100.0, xi: libm::log(100.0) };
        law.on_event(&mut s, Event::Tick, &marked);
        assert!(s.target < 0.01, "{}", s.target);
        for _ in 0..100_000 {
            law.on_event(&mut s, Event::Tick, &marked);
            law.on_event(&mut s, Event::Ack { packets: 1, marked: 1 }, &marked);
        }
        assert!((s.window - 50.0 * 0.02 / 0.597_464).abs() < 1e-6, "{}", s.window);
        for _ in 0..1000 {
            law.on_event(&mut s, Event::Tick, &Observation { price_s: 0.0, ..marked });
        }
        assert!(s.target > 100.0 && s.target <= law.most, "{}", s.target);
    }

    /// A round trip that grows after its smallest sample: with marks the window stays and the rate falls by d / (d + D);
    /// with delay the growth D is taken for a queue, and the rate falls to K / (D + q).
    #[test]
    fn a_longer_path_is_a_smaller_rate() {
        let (d, more, price) = (0.04, 0.06, 0.03);
        let marks = rest(&law(), d, price, more) / (d + more);
        assert!((marks / (50.0 / price * d / (d + more)) - 1.0).abs() < 1e-6, "{marks}");
        let delay = rest(&with(&[("signal", 1.0)]), d, 0.0, more + price) / (d + more + price);
        assert!((delay / (50.0 / (more + price)) - 1.0).abs() < 1e-6, "{delay}");
    }

    /// `w` of (20) is `expWnd`: what the caps hold back does not drive the slow state, or it would wind up meanwhile.
    #[test]
    fn the_slow_state_drifts_by_the_target() {
        let observation = Observation { rtt_s: 0.1, base_rtt_s: 0.1, price_s: 0.0, ..Observation::zero() };
        for window in [1.0, 100.0, 400.0] {
            let mut s = State { window, target: 400.0, xi: 6.0 };
            law().on_event(&mut s, Event::Tick, &observation);
            assert!((s.xi - 6.0 - 0.002_368 * 50.0 / 400.0).abs() < 1e-12, "{}", s.xi);
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let refused = |set: &[(&str, f64)]| LeadLag::<f64>::compile(&values(set), &SITE).unwrap_err();
        assert!(refused(&[("eta", 0.0)]).contains("needs `max_rate`"));
        assert!(refused(&[("form", 1.0), ("max_rate", 1e6)]).contains("has none"));
        assert!(refused(&[("reference_rate", 1e6)]).contains("`fairness` is 1"));
        assert!(refused(&[("exponent", 1.0)]).contains("(28)"));
        assert!(refused(&[("N", 1.5)]).contains("whole number"));
        for set in [("fairness", 2.0), ("max_rate", 1e6)] {
            assert!(in_kernel_arithmetic(&values(&[set]), &SITE).err().unwrap().contains(set.0));
        }
        for set in [&[][..], &[("signal", 1.0)], &[("form", 1.0)], &[("signal", 1.0), ("form", 1.0)]] {
            assert!(in_kernel_arithmetic(&values(set), &SITE).is_ok(), "{set:?}");
        }
    }
}
