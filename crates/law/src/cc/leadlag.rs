//! The ECN protocol of Paganini, Wang, Low and Doyle: exponential in the price, fast at high frequency and slow towards
//! the demand of its utility, hence a lead-lag compensator.
//!
//! Source: "A New TCP/AQM for Stable Operation in Fast Networks", equations (20) and (21), caps of Fig. 3; utility
//! `K log x`.
//! Differs: `K / expWnd` as in Fig. 3 (equation (20) has `K / w`), its denominator floored at one packet; `expWnd` is kept
//! within `1e-6 ..= 1e7` packets, since an estimate at its cap would otherwise underflow the exponential for good; after
//! loss the window is halved by `xi -= ln 2` (the paper has no losses). The price comes from the register of the last
//! marks ([`MarkEstimate`]), the round trip is the smallest seen, as the paper prefers for this protocol.
//! Twin: `bpf/law/leadlag.h`, held equal bit for bit by `vectors/leadlag.txt`.

use alloc::string::String;

use super::{Allowance, Event, Marks, Needs, Path, Sender, Site};
use crate::estimate::MarkEstimate;
use crate::law::{Entry, Law, Linearises, build};
use crate::number::{Dual, Fix, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Sender> = Entry {
    name: "leadlag",
    title: "Lead-lag ECN protocol: stable for every delay and capacity, any utility at equilibrium",
    source: "Paganini, Wang, Low, Doyle, A New TCP/AQM for Stable Operation in Fast Networks, equations (20), (21), Fig. 3",
    colour: "#3b7d23",
    parameters: &[
        Parameter::number("alpha", Unit::One, 0.37, [1e-6, 1.57], "stability gain, below pi/2", "section V"),
        Parameter::number(
            "eta",
            Unit::One,
            0.64,
            [0.0, 10.0],
            "zero of the compensator, as a multiple of 1/taubar",
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
        Parameter::number("N", Unit::Packets, 31.0, [1.0, 64.0], "marks the estimate is made of", "section V"),
        Parameter::number("phi", Unit::One, 1000.0, [1.001, 1e9], "base of the marking law", "section V"),
        Parameter::number("period", Unit::Seconds, 0.010, [1e-4, 10.0], "update period T_s", "section V, Fig. 3"),
        Parameter::number(
            "cap",
            Unit::Packets,
            1.0,
            [1e-3, 1e6],
            "largest change of the window an acknowledged packet, both ways",
            "Fig. 3 (maxIncrement, maxDecrement) has no values; above 10 short round trips collapse",
        ),
    ],
    linearises: Linearises::ByItself,
    real: build::<f64, LeadLag<f64>>,
    dual: Some(build::<Dual, LeadLag<Dual>>),
    fixed: Some(build::<Fix<32>, LeadLag<Fix<32>>>),
};

/// The protocol's compiled parameters.
#[derive(Debug)]
pub struct LeadLag<N> {
    /// beta T_s: the slow gain times the period
    pub step: N,
    /// K [packets]
    pub weight: N,
    /// alpha / M
    pub gain: N,
    /// caps of Fig. 3 [packets]
    pub cap: N,
    /// w_m: the window at xi = 0 and no price [packets]
    pub scale: N,
    /// least expWnd [packets]
    pub least: N,
    /// largest expWnd [packets]
    pub most: N,
    /// ln 2: what a congestion event takes from xi
    pub ln2: N,
    one: N,
    half: N,
    period_s: f64,
    estimate: MarkEstimate,
}

numbers! {
    /// What the protocol remembers.
    pub struct State {
        /// Congestion window.
        window: "packets",
        /// The window the equations ask for: expWnd of Fig. 3.
        target: "packets",
        /// The slow state.
        xi: "1",
    }
}

impl<N: Number> Law<N> for LeadLag<N> {
    type Role = Sender;
    type State = State<N>;

    fn compile(values: &Values, _: &Site) -> Result<Self, String> {
        let (alpha, m, period_s) = (values.number("alpha"), values.number("M"), values.number("period"));
        let beta = alpha * values.number("eta") / (m * values.number("taubar"));
        let packets = values.number("N");
        if libm::floor(packets) != packets {
            return Err(alloc::format!("`N` counts marks and is a whole number, not {packets}"));
        }
        Ok(Self {
            step: N::of(beta * period_s),
            weight: N::of(values.number("K")),
            gain: N::of(alpha / m),
            cap: N::of(values.number("cap")),
            scale: N::of(1.0),
            least: N::of(1e-6),
            most: N::of(1e7),
            ln2: N::of(core::f64::consts::LN_2),
            one: N::of(1.0),
            half: N::of(0.5),
            period_s,
            estimate: MarkEstimate { packets: packets as u32, phi: values.number("phi") },
        })
    }

    fn start(&self) -> State<N> {
        State { window: self.one, target: self.one, xi: N::of(0.0) }
    }

    #[inline]
    fn on(&self, s: &mut State<N>, event: Event, seen: &Path<N>) {
        match event {
            Event::Tick => {
                let load = seen.price_s / seen.base_rtt_s;
                s.xi = s.xi + self.step * (self.weight / s.target.max(self.one) - load); // (20)
                s.target = (self.scale * (s.xi - self.gain * load).exp()).clamp(self.least, self.most); // (21)
            }
            Event::Ack { packets, .. } => {
                let reach = self.cap * N::count(packets);
                s.window = (s.window + (s.target - s.window).clamp(-reach, reach)).max(self.one);
            }
            Event::Cut | Event::Timeout => {
                s.xi = s.xi - self.ln2;
                s.target = (s.target * self.half).max(self.least);
                s.window = (s.window * self.half).max(self.one);
            }
            Event::Round => {}
        }
    }

    #[inline]
    fn says(&self, s: &State<N>, seen: &Path<N>) -> Allowance<N> {
        Allowance { window: s.window, gap_s: seen.base_rtt_s / s.window }
    }

    fn needs(&self) -> Needs {
        Needs { tick_s: Some(self.period_s), marks: Marks::Price(self.estimate), ..Needs::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law() -> LeadLag<f64> {
        let site = Site { packet: crate::quantity::Bytes(1000), initial_window: 2.0, initial_ssthresh: 1e9 };
        LeadLag::compile(&Values::defaults(ENTRY.parameters), &site).unwrap()
    }

    /// Reference 9.3: without a price the window grows by beta K = 11.84 packets a second (taubar = 1 s).
    #[test]
    fn without_marks_the_window_grows_by_beta_k() {
        let law = law();
        let mut s = State { window: 100.0, target: 100.0, xi: libm::log(100.0) };
        let seen = Path { rtt_s: 0.04, base_rtt_s: 0.04, ..Path::unknown() };
        for _ in 0..100 {
            law.on(&mut s, Event::Tick, &seen);
            for _ in 0..50 {
                law.on(&mut s, Event::Ack { packets: 1, marked: 0 }, &seen);
            }
        }
        assert!((s.window - 111.84).abs() < 0.02, "{}", s.window);
    }

    /// At a constant price the rate settles at K / q whatever the round trip: stage 3 of Fig. 8.
    #[test]
    fn the_rate_settles_at_the_demand_of_the_utility() {
        for base_rtt_s in [0.04, 0.12, 0.2] {
            let law = law();
            let mut s = law.start();
            let seen = Path { rtt_s: base_rtt_s, base_rtt_s, price_s: 0.026_947_4, ..Path::unknown() };
            for _ in 0..200_000 {
                law.on(&mut s, Event::Tick, &seen);
                law.on(&mut s, Event::Ack { packets: 20, marked: 0 }, &seen);
            }
            assert!((s.window / base_rtt_s - 1855.46).abs() < 0.1, "{}", s.window / base_rtt_s);
        }
    }

    /// The cap: at most one packet an acknowledged packet, whatever the target.
    #[test]
    fn the_window_moves_by_at_most_the_cap() {
        let law = law();
        let mut s = State { window: 100.0, target: 1e6, xi: 0.0 };
        let seen = Path { rtt_s: 0.1, base_rtt_s: 0.1, ..Path::unknown() };
        law.on(&mut s, Event::Ack { packets: 2, marked: 0 }, &seen);
        assert_eq!(s.window, 102.0);
        s.target = 1e-6;
        law.on(&mut s, Event::Ack { packets: 1000, marked: 0 }, &seen);
        assert_eq!(s.window, 1.0, "never below one packet");
    }
}
