//! DualPI2: one controller for two queues, so that low-latency flows and others share a line without waiting alike.
//!
//! Source: De Schepper, Briscoe, White, "Dual-Queue Coupled Active Queue Management (AQM) for Low Latency, Low Loss, and
//! Scalable Throughput (L4S)", RFC 9332, appendix A. The two queues are the host's, see [`Serve::Coupled`].
//! Differs: the delay controlled is that of the older of both queues' heads, as in Linux, so that neither can grow unseen;
//! a random draw replaces the RFC's accumulator. The least marking threshold (`Th_len`) is a test of the queue, as in the RFC: a
//! packet that is alone in the low-latency queue may have waited long for a classic one in front of it.

use alloc::string::String;

use super::pi2::{ALPHA, BETA, T_UPDATE, TARGET};
use super::{Aqm, Context, Decides, Event, Observation, Output, Requirements, Serve};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::Number;
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "dualpi2",
    title: "DualPI2: two queues with one base probability, squared for classic packets and times k for \
            low-latency packets",
    source: "RFC 9332, Dual-Queue Coupled Active Queue Management for L4S, appendix A",
    colour: "#00868b",
    parameters: &[
        TARGET,
        T_UPDATE,
        ALPHA,
        BETA,
        Parameter::number(
            "k",
            Unit::One,
            2.0,
            [1e-3, 1e3],
            "coupling factor: the marking probability of low-latency packets is at least k times the base probability",
            "section 2.1",
        ),
        Parameter::number(
            "ramp_start",
            Unit::Seconds,
            0.000_8,
            [0.0, 10.0],
            "delay of the low-latency queue above which its packets are marked",
            "appendix A: minTh",
        ),
        Parameter::number(
            "ramp",
            Unit::Seconds,
            0.000_4,
            [0.0, 10.0],
            "further delay until every packet is marked; zero is a step",
            "appendix A: range",
        ),
        Parameter::number(
            "ramp_queue",
            Unit::Packets,
            1.0,
            [0.0, 1e6],
            "packets that wait behind one in the low-latency queue, at the least, where its delay marks it; zero is Linux's \
             default",
            "appendix A: Th_len",
        ),
        Parameter::automatic(
            "most_classic",
            Unit::One,
            "1/k^2, at most 1",
            [1e-6, 1.0],
            "overload: classic probability at which ECN-capable packets are dropped too",
            "appendix A.2: p_Cmax",
        ),
        Parameter::number(
            "classic_share",
            Unit::One,
            0.0625,
            [1e-3, 0.999],
            "minimum share of the line for the classic queue",
            "appendix A: a weight of 1/16",
        ),
    ],
    observables: Observables::of::<DualPi2>(),
    linearisation: Linearisation::Unsupported(
        "it has two queues and two probabilities; the analysis supports one of each",
    ),
    real: &build::<f64, DualPi2>,
    dual: None,
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct DualPi2 {
    target_s: f64,
    t_update_s: f64,
    alpha: f64,
    beta: f64,
    k: f64,
    ramp_start_s: f64,
    ramp_s: f64,
    ramp_queue: f64,
    most_classic: f64,
    classic_share: f64,
}

numbers! {
    /// The state of DualPI2.
    struct State {
        /// p' of RFC 9332: the output of the PI controller, from which the two other probabilities follow.
        base: "1" as "Base probability, p'",
        /// p_C = p'^2: probability that a classic packet is dropped or marked.
        classic: "1" as "Classic drop probability, p_C",
        /// p_CL = k p', at most 1: probability that a low-latency packet is marked because of the classic queue.
        coupled: "1" as "Coupled marking probability, p_CL",
        /// Queueing delay at the last update of the probabilities: the larger one of the two queues.
        delay: "s" as "Queueing delay at the last update",
    }
    frozen {
        /// The probability for the packet at the head, and after a hit that of a drop instead of its mark.
        chance: N,
        /// That probability after a hit.
        overrule: N,
    }
}

impl DualPi2 {
    /// p'_L: the low-latency queue's own AQM, a ramp over the wait of a packet with so many behind it.
    fn own(&self, wait_s: f64, behind: f64) -> f64 {
        let above = wait_s - self.ramp_start_s;
        if above <= 0.0 || behind < self.ramp_queue {
            0.0
        } else if above < self.ramp_s {
            above / self.ramp_s
        } else {
            1.0
        }
    }
}

impl Law<f64> for DualPi2 {
    type Role = Aqm;
    type State = State<f64>;

    fn compile(values: &Values, _: &Context) -> Result<Self, String> {
        let k = values.number("k");
        Ok(Self {
            target_s: values.number("target"),
            t_update_s: values.number("t_update"),
            alpha: values.number("alpha"),
            beta: values.number("beta"),
            k,
            ramp_start_s: values.number("ramp_start"),
            ramp_s: values.number("ramp"),
            ramp_queue: values.number("ramp_queue"),
            most_classic: values.optional("most_classic").unwrap_or_else(|| Number::min(1.0 / (k * k), 1.0)),
            classic_share: values.number("classic_share"),
        })
    }

    fn initial_state(&self) -> State<f64> {
        State { base: 0.0, classic: 0.0, coupled: 0.0, delay: 0.0, chance: 0.0, overrule: 0.0 }
    }

    #[inline]
    fn on_event(&self, s: &mut State<f64>, event: Event, observation: &Observation<f64>) {
        match event {
            Event::Tick => {
                let delay = observation.sojourn_s;
                let change = self.alpha * (delay - self.target_s) + self.beta * (delay - s.delay);
                s.base = Number::clamp(s.base + change, 0.0, 1.0);
                s.classic = s.base * s.base;
                s.coupled = Number::min(self.k * s.base, 1.0);
                s.delay = delay;
            }
            Event::Departure { low_latency: true } => {
                (s.chance, s.overrule) = if s.coupled < 1.0 {
                    (Number::max(self.own(observation.sojourn_s, observation.queue), s.coupled), 0.0)
                } else {
                    // Appendix A.2: where every packet is marked, marks say nothing more; drops do, as in the other queue.
                    (1.0, s.classic)
                };
            }
            Event::Departure { low_latency: false } => {
                s.chance = s.classic;
                s.overrule = if s.classic >= self.most_classic { 1.0 } else { 0.0 };
            }
            Event::Hit => s.chance = s.overrule,
            Event::Arrival { .. } | Event::Full => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { probability: s.chance, price_s: 0.0 }
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            tick_s: Some(self.t_update_s),
            decides: Decides::AtHead,
            marks: true,
            overrules_marks: true,
            bytes: true,
            arrivals_first: false,
            idle_from_start: false,
            serve: Serve::Coupled { classic: self.classic_share },
            ..Requirements::LEAST
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Bytes, Rate, Time};

    const FAST: Observation<f64> = Observation { queue: 5.0, capacity: 10_000.0, ..Observation::ZERO };

    fn law(settings: &[(&str, f64)]) -> DualPi2 {
        let values = Values::of(ENTRY.parameters, settings);
        let context = Context {
            rate: Rate(120_000_000),
            delay: Time::ZERO,
            packet: Bytes(1500),
            classes: alloc::vec::Vec::new(),
        };
        DualPi2::compile(&values, &context).unwrap()
    }
    fn tick(law: &DualPi2, s: &mut State<f64>, delay_s: f64) {
        law.on_event(s, Event::Tick, &Observation { sojourn_s: delay_s, ..FAST });
    }
    /// The chance of a packet at the head, and of its drop if it is chosen and could be marked.
    fn head(law: &DualPi2, s: &mut State<f64>, low_latency: bool, observation: &Observation<f64>) -> (f64, f64) {
        law.on_event(s, Event::Departure { low_latency }, observation);
        let chance = law.output(s, observation).probability;
        law.on_event(s, Event::Hit, observation);
        (chance, law.output(s, observation).probability)
    }
    /// A law in the middle of its life, at a base probability.
    fn at(law: &DualPi2, base: f64) -> State<f64> {
        let mut s = State { base, delay: law.target_s, ..law.initial_state() };
        tick(law, &mut s, law.target_s);
        s
    }

    /// Appendix A.1: a delay of 25 ms out of nothing is 0.16 * 0.01 + 3.2 * 0.025 = 0.0816; every further update at 25 ms
    /// adds 0.0016, and one at target takes 3.2 * 0.01 away.
    #[test]
    fn the_base_probability_is_a_pi_controller_of_the_delay() {
        let (law, mut s) = (law(&[]), law(&[]).initial_state());
        for (delay, expected) in [(0.025, 0.0816), (0.025, 0.0832), (0.015, 0.0512), (0.015, 0.0512)] {
            tick(&law, &mut s, delay);
            assert!((s.base - expected).abs() < 1e-12, "{delay}: {}", s.base);
        }
    }

    /// Section 2.1: `p_CL = k sqrt(p_C)`, from which a Reno flow (1.22/sqrt(p_C) packets a round) and a scalable one
    /// (2/p_CL) have about the same window at k = 2: 1.22 and 1.
    #[test]
    fn the_probabilities_are_coupled_by_a_square() {
        for k in [1.0, 2.0, 3.0] {
            let law = law(&[("k", k)]);
            for base in [0.0, 0.01, 0.1, 0.3] {
                let mut s = at(&law, base);
                let (classic, low_latency) = (head(&law, &mut s, false, &FAST).0, head(&law, &mut s, true, &FAST).0);
                assert!((classic - base * base).abs() < 1e-15 && (low_latency - k * base).abs() < 1e-15, "{k} {base}");
            }
        }
    }

    /// The ramp of the low-latency queue's own marks: none at 0.8 ms, half at 1 ms, all at 1.2 ms; the larger of it and
    /// the coupled probability holds. As a step at 1 ms, none below and all above.
    #[test]
    fn a_low_latency_queue_marks_by_its_own_wait() {
        let (ramp, step) = (law(&[]), law(&[("ramp_start", 0.001), ("ramp", 0.0)]));
        let marks = |law: &DualPi2, base, wait_s| {
            head(law, &mut at(law, base), true, &Observation { sojourn_s: wait_s, ..FAST })
        };
        for (wait_s, base, expected) in
            [(0.000_8, 0.0, 0.0), (0.001, 0.0, 0.5), (0.001_2, 0.0, 1.0), (0.000_9, 0.2, 0.4), (0.001_1, 0.2, 0.75)]
        {
            let (chance, dropped) = marks(&ramp, base, wait_s);
            assert!((chance - expected).abs() < 1e-9 && dropped == 0.0, "{wait_s} {base}: {chance}");
        }
        assert_eq!((marks(&step, 0.0, 0.000_999).0, marks(&step, 0.0, 0.001_001).0), (0.0, 1.0));
    }

    /// On a line of 1 Mbit/s a packet takes 12 ms: one that is alone in its queue is not marked, whatever it waited for; one
    /// with another behind it is. Without the test every packet is that waited.
    #[test]
    fn a_slow_line_does_not_mark_a_lone_packet() {
        for (least, behind, expected) in
            [(1.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.0, 0.0, 1.0), (3.0, 2.0, 0.0), (3.0, 3.0, 1.0)]
        {
            let law = law(&[("ramp_queue", least)]);
            let slow = Observation { capacity: 83.3, sojourn_s: 0.012, queue: behind, ..FAST };
            assert_eq!(head(&law, &mut law.initial_state(), true, &slow).0, expected, "{least} {behind}");
        }
    }

    /// Appendix A.2: from p_C = 1/4 on (p' = 1/2, all low-latency packets marked) classic packets are dropped though they
    /// could be marked, and low-latency ones with the same probability.
    #[test]
    fn overload_drops_in_both_queues_alike() {
        let law = law(&[]);
        assert_eq!(law.most_classic, 0.25);
        let (mut below, mut above) = (at(&law, 0.499), at(&law, 0.6));
        assert_eq!(head(&law, &mut below, false, &FAST).1, 0.0);
        assert_eq!(head(&law, &mut below, true, &FAST), (0.998, 0.0));
        assert_eq!(above.coupled, 1.0, "what is shown is a probability");
        let ((classic, certain), (all, some)) =
            (head(&law, &mut above, false, &FAST), head(&law, &mut above, true, &FAST));
        assert!((classic - 0.36).abs() < 1e-12 && certain == 1.0);
        assert!(all == 1.0 && (some - classic).abs() < 1e-12);
    }

    /// Its requirements: two queues, coupled.
    #[test]
    fn it_asks_for_two_queues() {
        let needs = law(&[("classic_share", 0.1)]).requirements();
        assert_eq!(
            (needs.serve, needs.tick_s, needs.decides),
            (Serve::Coupled { classic: 0.1 }, Some(0.016), Decides::AtHead)
        );
        assert!(needs.marks && needs.overrules_marks);
    }
}
