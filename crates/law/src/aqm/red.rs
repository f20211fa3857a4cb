//! Random early detection, gentle, with the automatic settings of ns-2; adaptive by a switch.
//!
//! Source: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", 1993; Floyd, "Recommendation
//! on using the gentle variant of RED", 2000; Floyd, Gummadi, Shenker, "Adaptive RED", 2001, for the automatic settings
//! and for `adaptive`; where those are silent, as in ns-2.
//! Four rules that the descriptions leave out decide the utilization of a fast link, and each is a switch:
//! `spare_empty_queue` (mark only if a packet is waiting), `arrivals_first` (the packets that wait at the moment of a
//! departure) and `idle_from_start` (the start of an idle time) here, and `grow_on_echo` of the controller.
//! Differs: with `ecn`, packets are marked at every probability (ns-2 by default drops above 0.1); with `adaptive`,
//! max_p moves at multiples of the interval (in ns-2, with the first arrival after an interval).

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use super::{Aqm, Context, Decides, Event, Observation, Output, Requirements};
use crate::law::{Entry, Fields, Instances, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "red",
    title: "RED: early marks, with a probability that grows with the average queue",
    source: "Floyd and Jacobson 1993; gentle variant, Floyd 2000; automatic settings, Floyd, Gummadi and Shenker 2001",
    colour: "#c1440e",
    parameters: &[
        Parameter::switch("ecn", false, "use ECN: mark ECN-capable packets, drop only the others", "RFC 3168"),
        Parameter::switch(
            "gentle",
            true,
            "raise the probability from max_p to 1 between max_threshold and twice that, instead of a jump",
            "Floyd 2000",
        ),
        Parameter::automatic(
            "min_threshold",
            Unit::Packets,
            "the larger of 5 packets and half of the packets that the line sends in 5 ms",
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
            "marking probability at max_threshold; with `adaptive`, at the start",
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
        Parameter::switch(
            "bytes",
            true,
            "count the queue in bytes, and mark in proportion to packet \
             size",
            "ns-2's default",
        ),
        Parameter::switch(
            "spare_empty_queue",
            true,
            "mark only while a packet is waiting (two, if packets are counted), regardless of the average",
            "ns-2; not in the papers. Off, NewReno at 155 Mbit/s and 100 ms loses 20 points of utilization",
        ),
        Parameter::switch(
            "arrivals_first",
            false,
            "count a packet that starts transmission at the time of an arrival as still waiting",
            "ns-2: simultaneous events run in the order in which they were scheduled. docs/validation shows the effect",
        ),
        Parameter::switch(
            "idle_from_start",
            false,
            "count the transmission of the last packet as idle time too: the average falls by one more sample in \
             each idle period",
            "ns-3, where a queue is empty while its last packet is on the line. docs/validation shows the effect",
        ),
        Parameter::switch(
            "adaptive",
            false,
            "Adaptive RED: adapt max_p until the average is midway between the thresholds",
            "Adaptive RED, the algorithm",
        ),
        Parameter::number(
            "interval",
            Unit::Seconds,
            0.5,
            [1e-3, 1e3],
            "interval between updates of max_p, with `adaptive`",
            "Adaptive RED, the algorithm",
        ),
    ],
    observables: Observables::of::<Adaptive>(),
    linearisation: Linearisation::Declared(
        "its mean mark spacing: 1.5/p with `wait`, (1 + 1/p)/2 without; with `adaptive`, max_p as it is given",
    ),
    real: &real,
    dual: Some(&build::<Dual, Red<Dual>>),
    fixed: None,
    kernel: None,
};

fn real(values: &Values, context: &Context) -> Result<Box<dyn Instances<f64, Aqm>>, String> {
    if values.switch("adaptive") {
        build::<f64, Adaptive>(values, context)
    } else {
        build::<f64, Red<f64>>(values, context)
    }
}

/// The probability over the average queue, between the thresholds and above.
#[derive(Debug, Clone, Copy)]
struct Curve<N> {
    max_p: N,
    /// Slope of the probability between the thresholds, and beyond the upper one [1/packet].
    slope: N,
    gentle_slope: N,
}

impl<N: Number> Curve<N> {
    fn new(max_p: f64, min: f64, max: f64) -> Self {
        Self { max_p: N::of(max_p), slope: N::of(max_p / (max - min)), gentle_slope: N::of((1.0 - max_p) / max) }
    }
}

#[derive(Debug)]
struct Red<N> {
    ecn: bool,
    wait: bool,
    bytes: bool,
    spare_empty_queue: bool,
    arrivals_first: bool,
    idle_from_start: bool,
    /// A queue of which packets are spared: ns-2 compares its length with one, be it of bytes or of packets.
    empty: N,
    mean_packet: u32,
    min_threshold: N,
    max_threshold: N,
    full_threshold: N,
    curve: Curve<N>,
    weight: N,
    ln_keep: N,
    zero: N,
    one: N,
    two: N,
}

numbers! {
    /// The state of RED.
    struct State {
        /// Exponentially weighted average of the queue, updated at each arrival.
        average: "packets" as "Average queue",
        /// p_b: marking probability by the average queue, before marks are spaced evenly.
        initial_probability: "1" as "Initial marking probability, p_b",
        /// p_a: marking probability of the packet that arrived last, with the packets since the last mark counted in.
        probability: "1" as "Marking probability, p_a",
    }
    frozen {
        /// Arrivals since the last mark [packets].
        count: u32,
        /// Bytes that arrived since the last mark [B].
        count_bytes: u64,
        /// True if the average was above the lower threshold at the last arrival.
        above: bool,
    }
}

impl<N: Number> Red<N> {
    /// p_b as a function of the average queue.
    fn initial_probability(&self, curve: &Curve<N>, average: N) -> N {
        if average >= self.full_threshold {
            self.one
        } else if average >= self.max_threshold {
            curve.max_p + (average - self.max_threshold) * curve.gentle_slope
        } else {
            (average - self.min_threshold) * curve.slope
        }
    }

    /// A packet arrives at a queue.
    #[expect(clippy::inline_always, reason = "every packet comes here; the call cost a tenth of the law")]
    #[inline(always)]
    fn arrival(&self, curve: &Curve<N>, s: &mut State<N>, bytes: u32, idle: u32, queue: N) {
        if idle > 0 && s.average > self.zero {
            self.decay(s, idle);
        }
        s.average = s.average + self.weight * (queue - s.average);
        s.count = s.count.saturating_add(1);
        s.count_bytes += u64::from(bytes);
        if s.average < self.min_threshold || (self.spare_empty_queue && queue <= self.empty) {
            (s.initial_probability, s.probability, s.above) = (self.zero, self.zero, false);
        } else if !s.above {
            (s.count, s.count_bytes, s.above) = (1, u64::from(bytes), true);
            (s.initial_probability, s.probability) = (self.initial_probability(curve, s.average), self.zero);
        } else {
            s.initial_probability = self.initial_probability(curve, s.average);
            let p = if self.bytes {
                let count = N::of((s.count_bytes / u64::from(self.mean_packet)) as f64);
                let p = self.spaced(s.initial_probability, count);
                let share = N::count(bytes) / N::count(self.mean_packet);
                if p < self.one { p * share } else { p }
            } else {
                self.spaced(s.initial_probability, N::count(s.count))
            };
            // The last packet before a mark is due, or a large one, may be due more than once.
            s.probability = if p > self.one { self.one } else { p };
        }
    }

    /// As if as many packets as would have fitted into the idle time had found the queue empty.
    #[cold]
    fn decay(&self, s: &mut State<N>, idle: u32) {
        s.average *= (self.ln_keep * N::count(idle)).exp();
    }

    /// p_a: p_b spaced by the packets since the last mark.
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
    type Role = Aqm;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let c = context.packets_per_s();
        let min = values.optional("min_threshold").unwrap_or_else(|| Number::max(5.0, 0.005 * c / 2.0));
        let max = values.optional("max_threshold").unwrap_or(3.0 * min);
        if max <= min {
            return Err(format!("`max_threshold` ({max} packets) must be above `min_threshold` ({min} packets)"));
        }
        let averaging_s = Number::max(0.1, 3.0 * (context.delay.seconds() + 1.0 / c));
        let weight = values.optional("weight").unwrap_or_else(|| -libm::expm1(-1.0 / (10.0 * averaging_s * c)));
        let (max_p, gentle) = (values.number("max_p"), values.switch("gentle"));
        Ok(Self {
            ecn: values.switch("ecn"),
            wait: values.switch("wait"),
            bytes: values.switch("bytes"),
            spare_empty_queue: values.switch("spare_empty_queue"),
            arrivals_first: values.switch("arrivals_first"),
            idle_from_start: values.switch("idle_from_start"),
            empty: N::of(if values.switch("bytes") { 0.0 } else { 1.0 }),
            mean_packet: context.packet.0 as u32,
            min_threshold: N::of(min),
            max_threshold: N::of(max),
            full_threshold: N::of(if gentle { 2.0 * max } else { max }),
            curve: Curve::new(max_p, min, max),
            weight: N::of(weight),
            ln_keep: N::of(libm::log1p(-weight)),
            zero: N::of(0.0),
            one: N::of(1.0),
            two: N::of(2.0),
        })
    }

    fn initial_state(&self) -> State<N> {
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
    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        match event {
            Event::Arrival { bytes, idle } => self.arrival(&self.curve, s, bytes, idle, observation.queue),
            Event::Hit => (s.count, s.count_bytes) = (0, 0),
            Event::Tick | Event::Departure { .. } | Event::Full => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { probability: s.probability, price_s: self.zero }
    }

    fn mean_output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        let p = self.initial_probability(&self.curve, s.average).max(self.zero);
        let probability = if self.wait { p * N::of(2.0 / 3.0) } else { self.two * p / (self.one + p) };
        Output { probability, price_s: self.zero }
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            decides: Decides::OnArrival,
            marks: self.ecn,
            bytes: self.bytes,
            arrivals_first: self.arrivals_first,
            idle_from_start: self.idle_from_start,
            ..Requirements::LEAST
        }
    }
}

/// RED whose max_p follows the average queue.
#[derive(Debug)]
struct Adaptive {
    red: Red<f64>,
    interval_s: f64,
    /// The middle fifth of the span between the thresholds.
    target: [f64; 2],
}

/// The state of adaptive RED: that of RED, and its curve.
#[derive(Debug, Clone)]
struct AdaptiveState {
    red: State<f64>,
    max_p: f64,
    curve: Curve<f64>,
}

impl Fields<f64> for AdaptiveState {
    const NAMES: &'static [(&'static str, &'static str)] = {
        let [average, initial, probability] = *State::<f64>::NAMES.first_chunk::<3>().expect("RED has three numbers");
        &[average, initial, probability, ("max_p", "1")]
    };
    const WORDS: &'static [(&'static str, &'static str)] = {
        let [average, initial, probability] = *State::<f64>::WORDS.first_chunk::<3>().expect("RED has three numbers");
        let max_p = (
            "Largest initial probability, max_p",
            "Initial marking probability at the upper threshold, which Adaptive RED adapts; only with `adaptive`.",
        );
        &[average, initial, probability, max_p]
    };
    fn each(&mut self, f: &mut dyn FnMut(&mut f64)) {
        self.red.each(f);
        f(&mut self.max_p);
    }
}

impl Adaptive {
    const LEAST: f64 = 0.01;
    const MOST: f64 = 0.5;

    /// Additive increase, multiplicative decrease (Adaptive RED, the algorithm and its defaults for alpha and beta).
    fn adapted(&self, max_p: f64, average: f64) -> f64 {
        if average > self.target[1] && max_p < Self::MOST {
            Number::min(max_p + Number::min(0.01, max_p / 4.0), Self::MOST)
        } else if average < self.target[0] && max_p > Self::LEAST {
            Number::max(max_p * 0.9, Self::LEAST)
        } else {
            max_p
        }
    }
}

impl Law<f64> for Adaptive {
    type Role = Aqm;
    type State = AdaptiveState;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let red = Red::compile(values, context)?;
        let range = red.max_threshold - red.min_threshold;
        let target = [0.4, 0.6].map(|share| red.min_threshold + share * range);
        Ok(Self { red, interval_s: values.number("interval"), target })
    }

    fn initial_state(&self) -> AdaptiveState {
        AdaptiveState { red: self.red.initial_state(), max_p: self.red.curve.max_p, curve: self.red.curve }
    }

    #[inline]
    fn on_event(&self, s: &mut AdaptiveState, event: Event, observation: &Observation<f64>) {
        match event {
            Event::Arrival { bytes, idle } => self.red.arrival(&s.curve, &mut s.red, bytes, idle, observation.queue),
            // Without an arrival the average is that of another time.
            Event::Tick if observation.arrived > 0.0 => {
                s.max_p = self.adapted(s.max_p, s.red.average);
                s.curve = Curve::new(s.max_p, self.red.min_threshold, self.red.max_threshold);
            }
            _ => self.red.on_event(&mut s.red, event, observation),
        }
    }

    #[inline]
    fn output(&self, s: &AdaptiveState, observation: &Observation<f64>) -> Output<f64> {
        self.red.output(&s.red, observation)
    }

    fn requirements(&self) -> Requirements {
        Requirements { tick_s: Some(self.interval_s), ..Law::<f64>::requirements(&self.red) }
    }
}

#[cfg(test)]
mod tests;
