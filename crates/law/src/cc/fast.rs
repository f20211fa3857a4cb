//! FAST TCP's window control: settle where alpha packets of this flow are queued.
//!
//! Source: Jin et al., "FAST TCP: From Theory to Experiments" (2003), section 4, the unnumbered equation
//! `w <- min(2 w, (1 - gamma) w + gamma (baseRTT / RTT w + alpha))`.
//! Differs: the paper leaves open the update period (here once a round trip), the averaging of RTT (see
//! [`AverageRtt`](crate::estimate::AverageRtt)), the reaction to loss (half the window, at most once a round trip) and
//! the floor (two packets).
//! Twin: `bpf/law/fast.h`, held equal bit for bit by `vectors/fast.txt`.

use alloc::string::String;

use super::{Allowance, Event, Needs, Path, RttAverage, Sender, Site};
use crate::law::{Entry, Law, Linearises, build};
use crate::number::{Dual, Fix, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Sender> = Entry {
    name: "fast",
    title: "FAST TCP: an equation-based window, driven by queueing delay",
    source: "Jin et al., FAST TCP: From Theory to Experiments, 2003, section 4",
    colour: "#0b6e99",
    parameters: &[
        Parameter::number(
            "alpha",
            Unit::Packets,
            100.0,
            [0.0, 1e6],
            "packets a flow keeps queued; its weight in the shares",
            "section 4 has no value; 100 for flows of 1 Gbit/s, 50 in figure 1",
        ),
        Parameter::number(
            "gamma",
            Unit::One,
            0.5,
            [1e-6, 1.0],
            "step size",
            "section 4: in (0, 1]; with 1 it oscillates under a round trip of delay",
        ),
        Parameter::number(
            "rtt_most",
            Unit::One,
            0.25,
            [1e-6, 1.0],
            "largest weight of a sample in the average round-trip time",
            "section 4 asks for an average; min(3/w, 1/4) as the authors described later",
        ),
    ],
    linearises: Linearises::ByItself,
    real: build::<f64, Fast<f64>>,
    dual: Some(build::<Dual, Fast<Dual>>),
    fixed: Some(build::<Fix<32>, Fast<Fix<32>>>),
};

/// FAST's compiled parameters.
#[derive(Debug)]
pub struct Fast<N> {
    /// alpha [packets]
    pub alpha: N,
    /// gamma
    pub gamma: N,
    /// 1 - gamma, rounded once
    pub keep: N,
    initial_window: N,
    rtt_most: f64,
    two: N,
    half: N,
}

numbers! {
    /// What FAST remembers.
    pub struct State {
        /// Congestion window.
        window: "packets",
    }
}

impl<N: Number> Law<N> for Fast<N> {
    type Role = Sender;
    type State = State<N>;

    fn compile(values: &Values, site: &Site) -> Result<Self, String> {
        let gamma = values.number("gamma");
        Ok(Self {
            alpha: N::of(values.number("alpha")),
            gamma: N::of(gamma),
            keep: N::of(1.0 - gamma),
            initial_window: N::of(site.initial_window),
            rtt_most: values.number("rtt_most"),
            two: N::of(2.0),
            half: N::of(0.5),
        })
    }

    fn start(&self) -> State<N> {
        State { window: self.initial_window.max(self.two) }
    }

    #[inline]
    fn on(&self, s: &mut State<N>, event: Event, seen: &Path<N>) {
        match event {
            Event::Round => {
                let target = s.window * (seen.base_rtt_s / seen.rtt_s) + self.alpha;
                let next = self.keep * s.window + self.gamma * target;
                s.window = next.min(self.two * s.window).max(self.two);
            }
            Event::Cut => s.window = (s.window * self.half).max(self.two),
            Event::Timeout => s.window = self.two,
            Event::Ack { .. } | Event::Tick => {}
        }
    }

    #[inline]
    fn says(&self, s: &State<N>, seen: &Path<N>) -> Allowance<N> {
        Allowance { window: s.window, gap_s: seen.rtt_s / s.window }
    }

    fn needs(&self) -> Needs {
        let average = RttAverage { over_window: 3.0, most: self.rtt_most };
        Needs { average_rtt: Some(average), ..Needs::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn law(alpha: f64) -> Fast<f64> {
        let mut values = Values::defaults(ENTRY.parameters);
        values.set(&ENTRY.parameters[0], alpha).unwrap();
        let site = Site { packet: crate::quantity::Bytes(1500), initial_window: 1.0, initial_ssthresh: 1e9 };
        Fast::compile(&values, &site).unwrap()
    }

    /// Reference, section 3: from one packet with gamma 0.5 and alpha 100 (the floor of two skips the first step).
    #[test]
    fn without_a_queue_it_doubles_then_adds_gamma_alpha() {
        let law = law(100.0);
        let mut s = law.start();
        let seen = Path { rtt_s: 0.1, base_rtt_s: 0.1, ..Path::unknown() };
        let mut windows = Vec::from([s.window]);
        for _ in 0..8 {
            law.on(&mut s, Event::Round, &seen);
            windows.push(s.window);
        }
        assert_eq!(windows, [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 114.0, 164.0, 214.0]);
    }

    /// Fixed point `x q = alpha`: 1 Gbit/s, 1500 B, 180 ms, alpha 100 gives 15100 packets (reference, 7.1 and 7.2),
    /// and the delay-free map reaches 10, 50, 90 and 99 % of 15000 packets after 35, 155, 275 and 302 updates.
    #[test]
    fn the_ramp_and_the_fixed_point_of_one_flow() {
        let law = law(100.0);
        let (base, rate) = (0.18, 1e9 / 12_000.0);
        let mut s = State { window: 1.0 };
        let mut reached = Vec::new();
        for update in 1..2000 {
            let rtt_s = base.max(s.window / rate);
            law.on(&mut s, Event::Round, &Path { rtt_s, base_rtt_s: base, ..Path::unknown() });
            if reached.len() < 4 && s.window >= [0.10, 0.50, 0.90, 0.99][reached.len()] * 15_000.0 {
                reached.push(update);
            }
        }
        assert_eq!(reached, [35, 155, 275, 302]);
        assert!((s.window - 15_100.0).abs() < 0.1, "{}", s.window);
    }

    /// Where the window rests at a round trip of which `seen_s` counts as queueing delay [packets].
    fn rest(law: &Fast<f64>, base_rtt_s: f64, seen_s: f64) -> f64 {
        let mut s = law.start();
        for _ in 0..10_000 {
            law.on(&mut s, Event::Round, &Path { rtt_s: base_rtt_s + seen_s, base_rtt_s, ..Path::unknown() });
        }
        s.window
    }

    /// A round trip that is longer by D than the least one ever seen is D of queue to it: `x = alpha / (q + D)`. A least
    /// one that had a queue `o` in it, as a late comer's has, leaves `x = alpha / (q - o)`.
    #[test]
    fn a_longer_path_is_a_queue_and_a_late_base_hides_one() {
        let law = law(100.0);
        let (d, more, queue, hidden) = (0.04, 0.06, 0.01, 0.004);
        let longer = rest(&law, d, more + queue) / (d + more + queue);
        assert!((longer / (100.0 / (queue + more)) - 1.0).abs() < 1e-9, "{longer}");
        let late = rest(&law, d + hidden, queue - hidden) / (d + queue);
        assert!((late / (100.0 / (queue - hidden)) - 1.0).abs() < 1e-9, "{late}");
    }

    /// Without packets to keep queued nothing is asked for; the floor keeps two, so that round trips go on being seen.
    #[test]
    fn the_window_has_a_floor() {
        let law = law(0.0);
        assert_eq!(rest(&law, 0.1, 0.1), 2.0);
        let mut s = State { window: 3.0 };
        law.on(&mut s, Event::Cut, &Path::unknown());
        assert_eq!(s.window, 2.0);
    }
}
