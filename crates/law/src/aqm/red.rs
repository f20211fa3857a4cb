//! Random early detection, gentle, with the automatic settings of ns-2.
//!
//! Source: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", 1993; Floyd, "Recommendation
//! on using the gentle variant of RED", 2000; Floyd, Gummadi, Shenker, "Adaptive RED", 2001, for the automatic settings;
//! where those are silent, what ns-2 does.
//! Two rules that the descriptions leave out decide the utilization of a fast link, and each is a switch:
//! `spare_empty_queue` (mark only if a packet is waiting) here, and `grow_on_echo` of the controller.
//! Differs: with `ecn`, packets are marked at every probability (ns-2 by default drops above 0.1).

use alloc::format;
use alloc::string::String;

use super::{Chance, Decides, Event, Needs, Port, Queue, Site};
use crate::law::{Entry, Law, Linearises, build};
use crate::number::{Dual, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Queue> = Entry {
    name: "red",
    title: "RED: early marks, ever likelier as the average queue grows",
    source: "Floyd and Jacobson 1993; gentle variant, Floyd 2000; automatic settings, Floyd, Gummadi and Shenker 2001",
    colour: "#c1440e",
    parameters: &[
        Parameter::switch("ecn", false, "mark packets that can be marked, drop only the others", "RFC 3168"),
        Parameter::switch(
            "gentle",
            true,
            "rise to 1 between max_threshold and twice that, instead of jumping",
            "Floyd 2000",
        ),
        Parameter::automatic(
            "min_threshold",
            Unit::Packets,
            "the larger of 5 packets and half of what 5 ms of the line carry",
            [0.0, 1e9],
            "average queue below which nothing is marked",
            "Adaptive RED, section 3; ns-2's automatic setting",
        ),
        Parameter::automatic(
            "max_threshold",
            Unit::Packets,
            "three times min_threshold",
            [0.0, 1e9],
            "average queue at which the probability is max_p",
            "Adaptive RED, section 3; ns-2's automatic setting",
        ),
        Parameter::number(
            "max_p",
            Unit::One,
            0.1,
            [1e-9, 1.0],
            "marking probability at max_threshold",
            "ns-2's linterm 10",
        ),
        Parameter::automatic(
            "weight",
            Unit::One,
            "1 - exp(-1/(10 R c)), with R the larger of 100 ms and 3 (delay + 1/c)",
            [1e-12, 1.0],
            "weight of a new sample in the average queue",
            "ns-2's automatic setting (q_weight -1)",
        ),
        Parameter::switch("wait", true, "space marks 1/p to 2/p apart, not 1 to 1/p", "ns-2's default"),
        Parameter::switch("bytes", true, "count the queue in bytes, and mark in proportion to size", "ns-2's default"),
        Parameter::switch(
            "spare_empty_queue",
            true,
            "mark only while a packet is waiting, whatever the average says",
            "ns-2; not in the papers. Off, NewReno at 155 Mbit/s and 100 ms loses 21 points of utilization",
        ),
    ],
    linearises: Linearises::Declared("its mean mark spacing: 1.5/p with `wait`, (1 + 1/p)/2 without"),
    real: build::<f64, Red<f64>>,
    dual: Some(build::<Dual, Red<Dual>>),
    fixed: None,
};

#[derive(Debug)]
struct Red<N> {
    ecn: bool,
    wait: bool,
    bytes: bool,
    spare_empty_queue: bool,
    mean_packet: u32,
    min_threshold: N,
    max_threshold: N,
    full_threshold: N,
    max_p: N,
    /// Slope of the probability between the thresholds, and beyond the upper one [1/packet].
    slope: N,
    gentle_slope: N,
    weight: N,
    ln_keep: N,
    zero: N,
    one: N,
    two: N,
}

numbers! {
    /// What RED remembers.
    struct State {
        /// Exponential average of the queue, one step an arrival.
        average: "packets",
        /// Marking probability before it is spaced.
        initial_probability: "1",
        /// Marking probability of the packet that arrived last.
        probability: "1",
    }
    frozen {
        /// Arrivals since the last mark [packets].
        count: u32,
        /// Bytes that arrived since the last mark [B].
        count_bytes: u64,
        /// Whether the average was above the lower threshold at the last arrival.
        above: bool,
    }
}

impl<N: Number> Red<N> {
    /// p_b as a function of the average queue.
    fn initial_probability(&self, average: N) -> N {
        if average >= self.full_threshold {
            self.one
        } else if average >= self.max_threshold {
            self.max_p + (average - self.max_threshold) * self.gentle_slope
        } else {
            (average - self.min_threshold) * self.slope
        }
    }

    /// p_a: p_b spaced by what has passed since the last mark.
    fn spaced(&self, p: N, count: N) -> N {
        let expected = count * p;
        if self.wait {
            if expected < self.one {
                self.zero
            } else if expected < self.two {
                p / (self.two - expected)
            } else {
                self.one
            }
        } else if expected < self.one {
            p / (self.one - expected)
        } else {
            self.one
        }
    }
}

impl<N: Number> Law<N> for Red<N> {
    type Role = Queue;
    type State = State<N>;

    fn compile(values: &Values, site: &Site) -> Result<Self, String> {
        let c = site.packets_per_s();
        let min = values.optional("min_threshold").unwrap_or_else(|| Number::max(5.0, 0.005 * c / 2.0));
        let max = values.optional("max_threshold").unwrap_or(3.0 * min);
        if max <= min {
            return Err(format!("`max_threshold` ({max} packets) must be above `min_threshold` ({min} packets)"));
        }
        let averaging_s = Number::max(0.1, 3.0 * (site.delay.seconds() + 1.0 / c));
        let weight = values.optional("weight").unwrap_or_else(|| -libm::expm1(-1.0 / (10.0 * averaging_s * c)));
        let (max_p, gentle) = (values.number("max_p"), values.switch("gentle"));
        Ok(Self {
            ecn: values.switch("ecn"),
            wait: values.switch("wait"),
            bytes: values.switch("bytes"),
            spare_empty_queue: values.switch("spare_empty_queue"),
            mean_packet: site.packet.0 as u32,
            min_threshold: N::of(min),
            max_threshold: N::of(max),
            full_threshold: N::of(if gentle { 2.0 * max } else { max }),
            max_p: N::of(max_p),
            slope: N::of(max_p / (max - min)),
            gentle_slope: N::of((1.0 - max_p) / max),
            weight: N::of(weight),
            ln_keep: N::of(libm::log1p(-weight)),
            zero: N::of(0.0),
            one: N::of(1.0),
            two: N::of(2.0),
        })
    }

    fn start(&self) -> State<N> {
        State {
            average: self.zero,
            initial_probability: self.zero,
            probability: self.zero,
            count: 0,
            count_bytes: 0,
            above: false,
        }
    }

    #[inline]
    fn on(&self, s: &mut State<N>, event: Event, seen: &Port<N>) {
        match event {
            Event::Arrival { bytes, idle } => {
                if idle > 0 && s.average > self.zero {
                    // As if as many packets as would have fitted had found the queue empty.
                    s.average = s.average * (self.ln_keep * N::count(idle)).exp();
                }
                s.average = s.average + self.weight * (seen.queue - s.average);
                s.count = s.count.saturating_add(1);
                s.count_bytes += u64::from(bytes);
                if s.average < self.min_threshold || (self.spare_empty_queue && seen.queue <= self.zero) {
                    (s.initial_probability, s.probability, s.above) = (self.zero, self.zero, false);
                } else if !s.above {
                    (s.count, s.count_bytes, s.above) = (1, u64::from(bytes), true);
                    (s.initial_probability, s.probability) = (self.initial_probability(s.average), self.zero);
                } else {
                    s.initial_probability = self.initial_probability(s.average);
                    s.probability = if self.bytes {
                        let count = N::of((s.count_bytes / u64::from(self.mean_packet)) as f64);
                        let p = self.spaced(s.initial_probability, count);
                        let share = N::count(bytes) / N::count(self.mean_packet);
                        if p < self.one { p * share } else { p }
                    } else {
                        self.spaced(s.initial_probability, N::count(s.count))
                    };
                }
            }
            Event::Hit => (s.count, s.count_bytes) = (0, 0),
            Event::Tick | Event::Departure { .. } => {}
        }
    }

    #[inline]
    fn says(&self, s: &State<N>, _: &Port<N>) -> Chance<N> {
        Chance { probability: s.probability, price_s: self.zero }
    }

    fn says_on_average(&self, s: &State<N>, _: &Port<N>) -> Chance<N> {
        let p = self.initial_probability(s.average).max(self.zero);
        let probability = if self.wait { p * N::of(2.0 / 3.0) } else { self.two * p / (self.one + p) };
        Chance { probability, price_s: self.zero }
    }

    fn needs(&self) -> Needs {
        Needs { decides: Decides::OnArrival, marks: self.ecn, bytes: self.bytes, ..Needs::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Bytes, Rate, Time};

    fn red(rate: u64, delay_s: f64) -> Red<f64> {
        let site = Site { rate: Rate(rate), delay: Time::from_seconds(delay_s), packet: Bytes(1000) };
        Red::compile(&Values::defaults(ENTRY.parameters), &site).unwrap()
    }

    /// Reference of the TCP/AQM paper, section 7: thresholds and weights of ns-2 at four rates.
    #[test]
    fn automatic_settings_are_those_of_ns2() {
        for (rate, min, max, weight) in [
            (100_000_000, 31.25, 93.75, 8.000e-5),
            (1_000_000_000, 312.5, 937.5, 8.000e-6),
            (2_000_000_000, 625.0, 1875.0, 4.000e-6),
            (8_000_000_000, 2500.0, 7500.0, 1.000e-6),
            (1_000_000, 5.0, 15.0, 7.968e-3),
        ] {
            let red = red(rate, 0.01);
            assert_eq!((red.min_threshold, red.max_threshold), (min, max));
            assert!((red.weight / weight - 1.0).abs() < 1e-4, "{rate}: {}", red.weight);
        }
        assert!((red(100_000_000, 0.5).weight / 5.333e-6 - 1.0).abs() < 1e-3, "a long line averages over 15 s");
    }

    /// Gentle: 0 at min, max_p at max, 1 at twice max, and a straight line between.
    #[test]
    fn the_probability_is_piecewise_linear() {
        let red = red(1_000_000_000, 0.01);
        for (average, p) in [(312.5, 0.0), (625.0, 0.05), (937.5, 0.1), (1406.25, 0.55), (1875.0, 1.0), (1e5, 1.0)] {
            assert!((red.initial_probability(average) - p).abs() < 1e-12, "{average}");
        }
    }

    /// With `wait`, the spacing of marks at constant p_b is uniform over 1/p .. 2/p: mean 1.5/p, never below 1/p.
    #[test]
    fn marks_are_spaced_as_declared() {
        for (wait, mean, least) in [(1.0, 150.0, 100), (0.0, 50.5, 1)] {
            let mut values = Values::defaults(ENTRY.parameters);
            values.set(ENTRY.parameters.iter().find(|p| p.name == "wait").unwrap(), wait).unwrap();
            let site = Site { rate: Rate(1_000_000_000), delay: Time::ZERO, packet: Bytes(1000) };
            let red = Red::<f64>::compile(&values, &site).unwrap();
            // An average at which p_b = 0.01, held there by a queue equal to it.
            let queue = 312.5 + 62.5;
            let mut s = State { average: queue, above: true, ..red.start() };
            let seen = Port { queue, capacity: 125_000.0, ..Port::nothing() };
            assert!((red.initial_probability(queue) - 0.01).abs() < 1e-12);
            // A plain multiplicative generator is coin enough for a mean.
            let mut x = 1u64;
            let (mut marks, mut since, mut shortest) = (0u32, 0u32, u32::MAX);
            for _ in 0..1_000_000 {
                red.on(&mut s, Event::Arrival { bytes: 1000, idle: 0 }, &seen);
                since += 1;
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if ((x >> 11) as f64) < red.says(&s, &seen).probability * (1u64 << 53) as f64 {
                    red.on(&mut s, Event::Hit, &seen);
                    shortest = shortest.min(since);
                    (marks, since) = (marks + 1, 0);
                }
            }
            let spacing = 1e6 / f64::from(marks);
            assert!((spacing / mean - 1.0).abs() < 0.02, "wait {wait}: {spacing}");
            assert!(shortest >= least, "wait {wait}: {shortest}");
            assert!((1.0 / red.says_on_average(&s, &seen).probability / mean - 1.0).abs() < 0.01);
        }
    }

    /// The rule that the descriptions leave out.
    #[test]
    fn an_empty_queue_is_spared_unless_told_otherwise() {
        let red = red(1_000_000_000, 0.01);
        let mut s = State { average: 900.0, above: true, count_bytes: 1_000_000, ..red.start() };
        let seen = Port { capacity: 125_000.0, ..Port::nothing() };
        red.on(&mut s, Event::Arrival { bytes: 1000, idle: 0 }, &seen);
        assert_eq!(red.says(&s, &seen).probability, 0.0);
        red.on(&mut s, Event::Arrival { bytes: 1000, idle: 0 }, &Port { queue: 1.0, ..seen });
        assert_eq!(red.says(&s, &seen).probability, 0.0, "the first above the threshold starts the count");
        s.count_bytes = 1_000_000;
        red.on(&mut s, Event::Arrival { bytes: 1000, idle: 0 }, &Port { queue: 1.0, ..seen });
        assert_eq!(red.says(&s, &seen).probability, 1.0);
    }

    /// Idle time ages the average as if packets had passed through an empty queue.
    #[test]
    fn idle_time_ages_the_average() {
        let red = red(100_000_000, 0.01);
        let mut s = State { average: 50.0, ..red.start() };
        let seen = Port { capacity: 12_500.0, ..Port::nothing() };
        red.on(&mut s, Event::Arrival { bytes: 1000, idle: 12_500 }, &seen);
        assert!((s.average - 50.0 * libm::exp(-1.0)).abs() < 0.01, "{}", s.average);
    }
}
