//! Weighted RED: one queue, thresholds by drop precedence, so that red packets go first and green ones last.
//!
//! Source: RFC 2597, section 2 (a node must drop by precedence) and section 4 (by active queue management); Clark and
//! Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", 1998, for RIO; Tartarelli and Banchs, "Random
//! Early Marking", section V, for the defaults: red packets never wait behind ten others, green ones are dropped by a full
//! buffer only. The average is Floyd and Jacobson's (1993), idle time included.
//! Differs: RIO spaces its drops by the drops before; here each draw is independent, as the tables of routers and the
//! paper's description have it. Coupled (RIO-C), a packet meets the average of the packets of its own colour and better
//! ones, not that of all. With `ecn`, packets beyond the upper threshold are dropped all the same (RFC 3168, section 7).

use alloc::format;
use alloc::string::String;

use super::{Aqm, Context, Decides, Event, Observation, Output, Requirements};
use crate::conditioner::Colour;
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::Number;
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

const PAPER: &str = "Random Early Marking, section V";
const OURS: &str =
    "our choice: Random Early Marking leaves it open; totals of its tables change by 1 % for 2 to 10 packets";

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "wred",
    title: "Weighted RED: one queue, with thresholds for each drop precedence",
    source: "RFC 2597, sections 2 and 4; RIO, Clark and Fang 1998",
    colour: "#7d4f9e",
    parameters: &[
        Parameter::switch("ecn", false, "use ECN: mark ECN-capable packets, drop only the others", "RFC 3168"),
        Parameter::switch(
            "average",
            true,
            "use an exponential average of the queue, not the instantaneous queue",
            "Floyd and Jacobson 1993; Random Early Marking uses the average without its marker, and the instantaneous queue with it",
        ),
        Parameter::number(
            "weight",
            Unit::One,
            0.002,
            [1e-12, 1.0],
            "weight of a new sample in the average, with `average`",
            "Floyd and Jacobson 1993, the usual default",
        ),
        Parameter::switch(
            "coupled",
            false,
            "RIO-C: the queue of a packet counts its own colour and better ones only",
            "Clark and Fang 1998, where in-profile packets have an average of their own",
        ),
        Parameter::number(
            "red_min",
            Unit::Packets,
            5.0,
            [0.0, 1e9],
            "queue from which red packets may be dropped",
            OURS,
        ),
        Parameter::number(
            "red_max",
            Unit::Packets,
            10.0,
            [0.0, 1e9],
            "queue from which every red packet is \
             dropped",
            PAPER,
        ),
        Parameter::number("red_max_p", Unit::One, 0.1, [0.0, 1.0], "their drop probability just below `red_max`", OURS),
        Parameter::automatic(
            "yellow_min",
            Unit::Packets,
            "as `red_min`",
            [0.0, 1e9],
            "queue from which yellow packets may be dropped",
            "by default two precedences, as RFC 2597, section 2, allows",
        ),
        Parameter::automatic(
            "yellow_max",
            Unit::Packets,
            "as `red_max`",
            [0.0, 1e9],
            "queue from which every yellow packet is dropped",
            "by default two precedences, as RFC 2597, section 2, allows",
        ),
        Parameter::automatic(
            "yellow_max_p",
            Unit::One,
            "as `red_max_p`",
            [0.0, 1.0],
            "their drop probability just below `yellow_max`",
            "by default two precedences, as RFC 2597, section 2, allows",
        ),
        Parameter::automatic(
            "green_min",
            Unit::Packets,
            "never",
            [0.0, 1e9],
            "queue from which green packets may be dropped, including packets without a contract",
            PAPER,
        ),
        Parameter::automatic(
            "green_max",
            Unit::Packets,
            "never; three times `green_min` where that is given",
            [0.0, 1e9],
            "queue from which every green packet is dropped",
            PAPER,
        ),
        Parameter::number(
            "green_max_p",
            Unit::One,
            0.02,
            [0.0, 1.0],
            "their drop probability just below `green_max`",
            "Clark and Fang 1998, the in-profile setting of their simulations",
        ),
    ],
    observables: Observables::of::<Wred<f64>>(),
    linearisation: Linearisation::Unsupported("its drops depend on colours, which the analysis does not support"),
    real: &build::<f64, Wred<f64>>,
    dual: None,
    fixed: None,
    kernel: None,
};

/// The drop probability of one colour over the level it meets.
#[derive(Debug, Clone, Copy)]
struct Curve<N> {
    min: N,
    max: N,
    /// From `min` to `max` [1/packet].
    slope: N,
}

#[derive(Debug)]
struct Wred<N> {
    ecn: bool,
    average: bool,
    coupled: bool,
    /// By colour; none is never.
    curves: [Option<Curve<N>>; 3],
    weight: N,
    ln_keep: N,
    zero: N,
    one: N,
}

numbers! {
    /// The state of WRED. Without `average`, the last observation; without `coupled`, the first two stay at zero.
    struct State {
        /// Exponentially weighted average of the green packets waiting, updated at each arrival; zero without
        /// `coupled`.
        green_average: "packets" as "Average of green packets",
        /// Exponentially weighted average of the green and yellow packets waiting together, updated at each arrival; zero
        /// without `coupled`.
        yellow_average: "packets" as "Average of green and yellow packets",
        /// Exponentially weighted average of all packets waiting, updated at each arrival.
        average: "packets" as "Average queue",
        /// Drop probability of the packet that arrived last.
        probability: "1" as "Drop probability",
    }
    frozen {
        /// True if it met more than its upper threshold.
        beyond: bool,
        /// True if that packet is the one in question: a hit has followed.
        hit: bool,
    }
}

impl<N: Number> Wred<N> {
    /// A new sample of a level, after an idle time in which `idle` packets would have found none.
    fn follow(&self, average: N, idle: u32, level: N) -> N {
        if !self.average {
            return level;
        }
        let kept =
            if idle > 0 && average > self.zero { average * (self.ln_keep * N::count(idle)).exp() } else { average };
        kept + self.weight * (level - kept)
    }
}

impl<N: Number> Law<N> for Wred<N> {
    type Role = Aqm;
    type State = State<N>;

    fn compile(values: &Values, _: &Context) -> Result<Self, String> {
        let curve = |colour: &str, [min, max, max_p]: [f64; 3]| {
            if max < min {
                return Err(format!("`{colour}_max` ({max} packets) must be at least `{colour}_min` ({min} packets)"));
            }
            let slope = if max > min { max_p / (max - min) } else { 0.0 };
            Ok(Some(Curve { min: N::of(min), max: N::of(max), slope: N::of(slope) }))
        };
        let red = ["red_min", "red_max", "red_max_p"].map(|name| values.number(name));
        let red_curve = curve("red", red)?;
        let mut yellow = ["yellow_min", "yellow_max", "yellow_max_p"].map(|name| values.optional(name)).into_iter();
        let yellow = red.map(|red| yellow.next().flatten().unwrap_or(red));
        let (green_min, green_max) = (values.optional("green_min"), values.optional("green_max"));
        let green = match (green_min, green_max) {
            (None, None) => None,
            (Some(min), max) => curve("green", [min, max.unwrap_or(3.0 * min), values.number("green_max_p")])?,
            (None, Some(_)) => return Err("`green_max` needs `green_min`".into()),
        };
        let weight = values.number("weight");
        Ok(Self {
            ecn: values.switch("ecn"),
            average: values.switch("average"),
            coupled: values.switch("coupled"),
            curves: [green, curve("yellow", yellow)?, red_curve],
            weight: N::of(weight),
            ln_keep: N::of(libm::log1p(-weight)),
            zero: N::of(0.0),
            one: N::of(1.0),
        })
    }

    fn initial_state(&self) -> State<N> {
        State {
            green_average: self.zero,
            yellow_average: self.zero,
            average: self.zero,
            probability: self.zero,
            beyond: false,
            hit: false,
        }
    }

    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        match event {
            Event::Arrival { idle, .. } => {
                s.average = self.follow(s.average, idle, observation.queue);
                if self.coupled {
                    // Clark and Fang: an arrival is a sample of every average that it counts in. A red packet leaves the
                    // better ones as they are; an idle time empties them all.
                    let idle_only = |average| if idle > 0 { self.follow(average, idle, self.zero) } else { average };
                    let yellow = observation.green + observation.yellow;
                    s.green_average = match observation.colour {
                        Colour::Green => self.follow(s.green_average, idle, observation.green),
                        Colour::Yellow | Colour::Red => idle_only(s.green_average),
                    };
                    s.yellow_average = match observation.colour {
                        Colour::Green | Colour::Yellow => self.follow(s.yellow_average, idle, yellow),
                        Colour::Red => idle_only(s.yellow_average),
                    };
                }
                let level = match (self.coupled, observation.colour) {
                    (false, _) | (true, Colour::Red) => s.average,
                    (true, Colour::Yellow) => s.yellow_average,
                    (true, Colour::Green) => s.green_average,
                };
                (s.probability, s.beyond) = match &self.curves[observation.colour as usize] {
                    None => (self.zero, false),
                    Some(curve) if level >= curve.max => (self.one, true),
                    Some(curve) => ((level - curve.min).max(self.zero) * curve.slope, false),
                };
                s.hit = false;
            }
            Event::Hit => s.hit = true,
            Event::Tick | Event::Departure { .. } | Event::Full => {}
        }
    }

    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        let overruled = if s.beyond { self.one } else { self.zero };
        Output { probability: if s.hit { overruled } else { s.probability }, price_s: self.zero }
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            decides: Decides::OnArrival,
            marks: self.ecn,
            overrules_marks: self.ecn,
            colours: true,
            ..Requirements::LEAST
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Bytes, Rate, Time};

    fn wred(settings: &[(&str, f64)]) -> Result<Wred<f64>, String> {
        let values = Values::of(ENTRY.parameters, settings);
        Wred::compile(
            &values,
            &Context {
                rate: Rate(10_000_000),
                delay: Time::ZERO,
                packet: Bytes(1000),
                classes: alloc::vec::Vec::new(),
            },
        )
    }

    fn meets(law: &Wred<f64>, s: &mut State<f64>, colour: Colour, [green, yellow, red]: [f64; 3]) -> f64 {
        let observation = Observation { queue: green + yellow + red, green, yellow, colour, ..Observation::ZERO };
        law.on_event(s, Event::Arrival { bytes: 1000, idle: 0 }, &observation);
        law.output(s, &observation).probability
    }

    /// The paper's core, by the queue of the moment: 5, 10 and 0.1 for what is out of profile, nothing for the rest.
    #[test]
    fn red_goes_first_and_green_never() {
        let law = wred(&[("average", 0.0)]).unwrap();
        let mut s = law.initial_state();
        for (queue, expected) in [(0.0, 0.0), (5.0, 0.0), (6.0, 0.02), (9.5, 0.09), (10.0, 1.0), (900.0, 1.0)] {
            for (colour, expected) in [(Colour::Red, expected), (Colour::Yellow, expected), (Colour::Green, 0.0)] {
                let p = meets(&law, &mut s, colour, [queue, 0.0, 0.0]);
                assert!((p - expected).abs() < 1e-12, "{colour:?} meets {queue}: {p}");
            }
        }
    }

    /// A step of the queue is followed as 1 - (1 - w)^n, whatever the colour; idle time counts as packets that found none.
    #[test]
    fn the_average_is_exponential() {
        let law = wred(&[("weight", 0.01)]).unwrap();
        let mut s = law.initial_state();
        for n in 1..=300 {
            let colour = Colour::ALL[n as usize % 3];
            meets(&law, &mut s, colour, [4.0, 3.0, 13.0]);
            assert!((s.average - 20.0 * (1.0 - libm::pow(0.99, f64::from(n)))).abs() < 1e-9, "{n}: {}", s.average);
        }
        let before = s.average;
        law.on_event(&mut s, Event::Arrival { bytes: 1000, idle: 99 }, &Observation::zero());
        assert!((s.average - before * libm::pow(0.99, 100.0)).abs() < 1e-9, "{}", s.average);
    }

    /// Coupled, green meets green, yellow meets green and yellow, red meets all.
    #[test]
    fn coupled_a_packet_does_not_meet_worse_ones() {
        let settings =
            [("average", 0.0), ("coupled", 1.0), ("green_min", 5.0), ("green_max", 10.0), ("green_max_p", 0.1)];
        let law = wred(&settings).unwrap();
        let mut s = law.initial_state();
        for (colour, expected) in [(Colour::Green, 0.02), (Colour::Yellow, 0.06), (Colour::Red, 1.0)] {
            let p = meets(&law, &mut s, colour, [6.0, 2.0, 50.0]);
            assert!((p - expected).abs() < 1e-12, "{colour:?}: {p}");
        }
        let apart = wred(&settings[..1]).unwrap();
        assert_eq!(
            meets(&apart, &mut apart.initial_state(), Colour::Yellow, [6.0, 2.0, 50.0]),
            1.0,
            "uncoupled, it meets all"
        );
    }

    /// Coupled averages: those of better colours stand still while worse packets arrive (Clark and Fang 1998).
    #[test]
    fn a_red_arrival_is_no_sample_of_the_green_average() {
        let law = wred(&[("weight", 0.5), ("coupled", 1.0)]).unwrap();
        let mut s = law.initial_state();
        let averages = |s: &State<f64>| [s.green_average, s.yellow_average, s.average];
        meets(&law, &mut s, Colour::Green, [4.0, 2.0, 10.0]);
        assert_eq!(averages(&s), [2.0, 3.0, 8.0]);
        meets(&law, &mut s, Colour::Red, [8.0, 8.0, 16.0]);
        assert_eq!(averages(&s), [2.0, 3.0, 20.0]);
        meets(&law, &mut s, Colour::Yellow, [8.0, 9.0, 3.0]);
        assert_eq!(averages(&s), [2.0, 10.0, 20.0]);
        law.on_event(
            &mut s,
            Event::Arrival { bytes: 1000, idle: 3 },
            &Observation { colour: Colour::Red, ..Observation::ZERO },
        );
        assert!(averages(&s).into_iter().zip([2.0, 10.0, 20.0]).all(|(x, before)| (x - before / 16.0).abs() < 1e-9));
    }

    /// RFC 3168, section 7: marks between the thresholds, drops beyond the upper one.
    #[test]
    fn with_ecn_only_what_is_beyond_the_upper_threshold_is_dropped() {
        let law = wred(&[("ecn", 1.0), ("average", 0.0)]).unwrap();
        let mut s = law.initial_state();
        for (queue, dropped) in [(9.0, 0.0), (10.0, 1.0)] {
            assert!(meets(&law, &mut s, Colour::Red, [queue, 0.0, 0.0]) > 0.0);
            law.on_event(&mut s, Event::Hit, &Observation::zero());
            assert_eq!(law.output(&s, &Observation::zero()).probability, dropped, "{queue}");
        }
        assert!(Law::<f64>::requirements(&law).overrules_marks);
        assert!(!Law::<f64>::requirements(&wred(&[]).unwrap()).overrules_marks);
    }

    #[test]
    fn thresholds_that_contradict_each_other_are_refused() {
        assert!(wred(&[("red_max", 4.0)]).unwrap_err().contains("`red_max`"));
        assert!(wred(&[("yellow_min", 40.0)]).unwrap_err().contains("`yellow_max`"));
        assert!(wred(&[("green_max", 40.0)]).unwrap_err().contains("`green_min`"));
        assert!(wred(&[("green_min", 40.0)]).is_ok() && wred(&[("red_max", 5.0)]).is_ok());
    }
}
