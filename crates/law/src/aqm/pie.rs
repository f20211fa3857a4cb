//! PIE: a proportional-integral controller of the delay, with gains that follow the probability.
//!
//! Source: Pan, Natarajan, Baker, White, "Proportional Integral Controller Enhanced (PIE)", RFC 8033, sections 4 and 5.
//! The delay is the queue over the line's rate, by Little's law (section 4.3); the rate is known here and need not be
//! estimated (section 5.2).
//! Differs: always active (section 5.3 would switch it off below a third of the buffer, which a law does not know);
//! besides, as Linux has it and the RFC has not, the probability rises by two points more an update beyond
//! `high_delay`.

use alloc::string::String;

use super::{Aqm, Context, Decides, Event, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::Number;
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "pie",
    title: "PIE: a drop probability that drives the queueing delay to its target",
    source: "RFC 8033, Proportional Integral Controller Enhanced (PIE)",
    colour: "#8c1d40",
    parameters: &[
        Parameter::switch("ecn", false, "use ECN: mark ECN-capable packets up to mark_ecnth", "section 5.1"),
        TARGET,
        T_UPDATE,
        PIE_ALPHA,
        PIE_BETA,
        MAX_BURST,
        MARK_ECNTH,
        HIGH_DELAY,
        Parameter::switch(
            "derandomize",
            false,
            "space drops evenly: no drop before the sum of probabilities reaches 0.85, a certain drop at 8.5",
            "section 5.4",
        ),
    ],
    observables: Observables::of::<Pie>(),
    linearisation: Linearisation::Unsupported(
        "its gains jump with the probability, and its action below half the target depends on its past",
    ),
    real: &build::<f64, Pie>,
    dual: None,
    fixed: None,
    kernel: None,
};

pub(super) const TARGET: Parameter =
    Parameter::number("target", Unit::Seconds, 0.015, [1e-6, 10.0], "queueing delay to hold", "RFC 8033, section 4.2");
pub(super) const T_UPDATE: Parameter =
    Parameter::number("t_update", Unit::Seconds, 0.015, [1e-4, 10.0], "update period", "RFC 8033, section 4.2");
pub(super) const PIE_ALPHA: Parameter = Parameter::number(
    "alpha",
    Unit::One,
    0.125,
    [0.0, 1e3],
    "gain on the excess of the delay [1/s]",
    "RFC 8033, section 4.2",
);
pub(super) const PIE_BETA: Parameter = Parameter::number(
    "beta",
    Unit::One,
    1.25,
    [0.0, 1e3],
    "gain on the change of the delay [1/s]",
    "RFC 8033, section 4.2",
);
pub(super) const MAX_BURST: Parameter = Parameter::number(
    "max_burst",
    Unit::Seconds,
    0.15,
    [0.0, 10.0],
    "length of a burst into an idle queue that passes without drops",
    "RFC 8033, section 4.4",
);
pub(super) const MARK_ECNTH: Parameter = Parameter::number(
    "mark_ecnth",
    Unit::One,
    0.1,
    [0.0, 1.0],
    "probability above which ECN-capable packets are dropped too",
    "RFC 8033, section 5.1",
);
pub(super) const HIGH_DELAY: Parameter = Parameter::number(
    "high_delay",
    Unit::Seconds,
    0.25,
    [0.0, 1e9],
    "delay above which the probability rises by another 0.02 per update",
    "Linux's sch_pie",
);

/// The law's compiled parameters.
#[derive(Debug)]
pub(super) struct Pie {
    ecn: bool,
    target_s: f64,
    t_update_s: f64,
    alpha: f64,
    beta: f64,
    /// The longest burst that passes untouched [updates].
    max_burst: u32,
    mark_ecnth: f64,
    high_delay_s: f64,
    derandomize: bool,
}

numbers! {
    /// The state of PIE.
    pub(super) struct State {
        /// Probability that an arriving packet is dropped or marked.
        drop_probability: "1" as "Drop probability",
        /// Queueing delay at the last update of the probability.
        delay: "s" as "Queueing delay at the last update",
    }
    frozen {
        /// The updates for which a burst still passes untouched [updates].
        burst_allowance: u32,
        /// Sum of probabilities since the last drop, with `derandomize`.
        accumulated: N,
        /// The probability for the packet that arrived last, and after a hit that of a drop instead of its mark.
        chance: N,
    }
}

impl Pie {
    /// The gains grow with the probability, so that the loop neither swings at a low one nor crawls at a high one
    /// (section 4.2).
    fn scale(drop_probability: f64) -> f64 {
        let divisor = match drop_probability {
            p if p < 1e-6 => 2048.0,
            p if p < 1e-5 => 512.0,
            p if p < 1e-4 => 128.0,
            p if p < 1e-3 => 32.0,
            p if p < 1e-2 => 8.0,
            p if p < 1e-1 => 2.0,
            _ => 1.0,
        };
        1.0 / divisor
    }

    /// The update of the probability, at a delay [s].
    pub(super) fn update(&self, s: &mut State<f64>, delay: f64) {
        let mut change =
            Self::scale(s.drop_probability) * (self.alpha * (delay - self.target_s) + self.beta * (delay - s.delay));
        // Section 5.5: at a high probability a step of more than 0.02 would stall TCP.
        if s.drop_probability >= 0.1 {
            change = Number::min(change, 0.02);
        }
        if delay > self.high_delay_s {
            change += 0.02;
        }
        s.drop_probability += change;
        // Section 4.2: with the queue empty the integral alone would forget too slowly.
        if delay == 0.0 && s.delay == 0.0 {
            s.drop_probability *= 0.98;
        }
        s.drop_probability = Number::clamp(s.drop_probability, 0.0, 1.0);
        // Section 4.4.
        let half = self.target_s / 2.0;
        s.burst_allowance = if s.drop_probability == 0.0 && delay < half && s.delay < half {
            self.max_burst
        } else {
            s.burst_allowance.saturating_sub(1)
        };
        s.delay = delay;
    }

    /// The probability with which a packet that arrives is dropped.
    fn chance(&self, s: &mut State<f64>, queue: f64) -> f64 {
        let p = s.drop_probability;
        // Section 4.1: what keeps the line busy is left alone.
        let light = (s.delay < self.target_s / 2.0 && p < 0.2) || queue <= 2.0;
        if s.burst_allowance > 0 || light {
            return 0.0;
        }
        if !self.derandomize {
            return p;
        }
        s.accumulated = if p == 0.0 { 0.0 } else { s.accumulated + p };
        match s.accumulated {
            sum if sum < 0.85 => 0.0,
            sum if sum >= 8.5 => 1.0,
            _ => p,
        }
    }
}

impl Law<f64> for Pie {
    type Role = Aqm;
    type State = State<f64>;

    fn compile(values: &Values, _: &Context) -> Result<Self, String> {
        let t_update_s = values.number("t_update");
        Ok(Self {
            ecn: values.switch("ecn"),
            target_s: values.number("target"),
            t_update_s,
            alpha: values.number("alpha"),
            beta: values.number("beta"),
            // What is a whole number but for the rounding of the quotient is that number.
            max_burst: libm::ceil(values.number("max_burst") / t_update_s - 1e-9) as u32,
            mark_ecnth: values.number("mark_ecnth"),
            high_delay_s: values.number("high_delay"),
            derandomize: values.switch("derandomize"),
        })
    }

    fn initial_state(&self) -> State<f64> {
        State { drop_probability: 0.0, delay: 0.0, burst_allowance: self.max_burst, accumulated: 0.0, chance: 0.0 }
    }

    #[inline]
    fn on_event(&self, s: &mut State<f64>, event: Event, observation: &Observation<f64>) {
        match event {
            Event::Arrival { .. } => s.chance = self.chance(s, observation.queue),
            Event::Hit => {
                s.accumulated = 0.0;
                s.chance = if s.drop_probability > self.mark_ecnth { 1.0 } else { 0.0 };
            }
            Event::Tick => self.update(s, observation.queue / observation.capacity),
            Event::Departure { .. } | Event::Full => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { probability: s.chance, price_s: 0.0 }
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            tick_s: Some(self.t_update_s),
            decides: Decides::OnArrival,
            marks: self.ecn,
            overrules_marks: self.ecn,
            bytes: true,
            ..Requirements::LEAST
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Bytes, Rate, Time};

    /// 1000 packets/s, so that a packet is a millisecond.
    fn pie(settings: &[(&str, f64)]) -> Pie {
        let values = Values::of(ENTRY.parameters, settings);
        let context =
            Context { rate: Rate(8_000_000), delay: Time::ZERO, packet: Bytes(1000), classes: alloc::vec::Vec::new() };
        Pie::compile(&values, &context).unwrap()
    }
    fn seeing(delay_ms: f64) -> Observation<f64> {
        Observation { queue: delay_ms, capacity: 1000.0, ..Observation::zero() }
    }
    fn steady(law: &Pie, drop_probability: f64, delay_ms: f64) -> State<f64> {
        State { drop_probability, delay: delay_ms * 1e-3, burst_allowance: 0, ..law.initial_state() }
    }
    fn arrive(law: &Pie, s: &mut State<f64>, delay_ms: f64) -> f64 {
        law.on_event(s, Event::Arrival { bytes: 1000, idle: 0 }, &seeing(delay_ms));
        law.output(s, &seeing(delay_ms)).probability
    }

    /// Section 4.2: 15 ms above target are a step of 0.125 * 0.015 = 0.001875 at a probability of 0.1 and more, and
    /// 1/2, 1/8, 1/32, 1/128, 1/512, 1/2048 of it in the decades below.
    #[test]
    fn the_step_is_scaled_by_the_decade_of_the_probability() {
        let law = pie(&[]);
        let table = [
            (0.0, 2048.0),
            (9.9e-7, 2048.0),
            (1e-6, 512.0),
            (1e-5, 128.0),
            (1e-4, 32.0),
            (1e-3, 8.0),
            (0.01, 2.0),
            (0.1, 1.0),
            (0.5, 1.0),
        ];
        for (p, divisor) in table {
            let mut s = steady(&law, p, 30.0);
            law.on_event(&mut s, Event::Tick, &seeing(30.0));
            assert!((s.drop_probability - p - 0.001_875 / divisor).abs() < 1e-12, "{p}: {}", s.drop_probability);
        }
    }

    /// A delay that rises by 10 ms to 40 ms: 0.125 * 0.025 + 1.25 * 0.01 = 0.015625; by 100 ms: 0.02, for section 5.5;
    /// beyond 250 ms: 0.04.
    #[test]
    fn the_change_of_the_delay_counts_and_steps_are_capped() {
        let law = pie(&[]);
        for (before, now, step) in
            [(30.0, 40.0, 0.015_625), (30.0, 130.0, 0.02), (30.0, 251.0, 0.04), (40.0, 30.0, -0.010_625)]
        {
            let mut s = steady(&law, 0.3, before);
            law.on_event(&mut s, Event::Tick, &seeing(now));
            assert!((s.drop_probability - 0.3 - step).abs() < 1e-12, "{before} {now}: {}", s.drop_probability);
        }
    }

    /// Section 4.2: an empty queue halves the probability in ln 2 / 0.02 updates and some, on top of the integral.
    #[test]
    fn the_probability_decays_when_idle() {
        let law = pie(&[("alpha", 0.0)]);
        let mut s = steady(&law, 0.4, 0.0);
        for _ in 0..35 {
            law.on_event(&mut s, Event::Tick, &seeing(0.0));
        }
        assert!((s.drop_probability / (0.4 * libm::pow(0.98, 35.0)) - 1.0).abs() < 1e-12, "{}", s.drop_probability);
    }

    /// Section 4.4: what comes within 150 ms after an idle queue passes; ten updates later it does not.
    #[test]
    fn a_burst_into_an_idle_queue_passes() {
        let law = pie(&[]);
        let mut s = law.initial_state();
        for update in 1..=10 {
            assert_eq!(arrive(&law, &mut s, 100.0), 0.0, "{update}");
            law.on_event(&mut s, Event::Tick, &seeing(100.0));
        }
        assert!(s.drop_probability > 0.0 && arrive(&law, &mut s, 100.0) == s.drop_probability);
        while s.drop_probability > 0.0 {
            law.on_event(&mut s, Event::Tick, &seeing(0.0));
        }
        law.on_event(&mut s, Event::Tick, &seeing(0.0));
        assert_eq!(s.burst_allowance, 10);
    }

    /// Section 4.1: nothing is dropped while the delay was below half the target and the probability below 0.2, nor
    /// with at most two packets waiting.
    #[test]
    fn what_keeps_the_line_busy_is_left_alone() {
        let law = pie(&[]);
        for (p, delay_before, queue, expected) in [
            (0.19, 7.4, 30.0, 0.0),
            (0.19, 7.6, 30.0, 0.19),
            (0.2, 7.4, 30.0, 0.2),
            (0.9, 30.0, 2.0, 0.0),
            (0.9, 30.0, 2.1, 0.9),
        ] {
            assert_eq!(arrive(&law, &mut steady(&law, p, delay_before), queue), expected, "{p} {delay_before} {queue}");
        }
    }

    /// Section 5.1: up to a probability of 0.1 a mark is a mark, above it becomes a drop.
    #[test]
    fn above_the_threshold_what_would_be_marked_is_dropped() {
        let law = pie(&[("ecn", 1.0)]);
        assert!(law.requirements().marks && law.requirements().overrules_marks && !pie(&[]).requirements().marks);
        for (p, drops) in [(0.1, 0.0), (0.100_1, 1.0)] {
            let mut s = steady(&law, p, 30.0);
            assert_eq!(arrive(&law, &mut s, 30.0), p);
            law.on_event(&mut s, Event::Hit, &seeing(30.0));
            assert_eq!(law.output(&s, &seeing(30.0)).probability, drops);
            assert_eq!(arrive(&law, &mut s, 30.0), p, "the next packet has its own coin");
        }
    }

    /// Section 5.4: at a probability of 0.1 no drop within 8 packets of the last, and one for certain at the 85th.
    #[test]
    fn derandomized_drops_keep_their_distance() {
        let law = pie(&[("derandomize", 1.0)]);
        let mut s = steady(&law, 0.1, 30.0);
        for _ in 0..2 {
            assert!((1..9).all(|_| arrive(&law, &mut s, 30.0) == 0.0));
            assert!((9..85).all(|_| arrive(&law, &mut s, 30.0) == 0.1));
            // 85 times 0.1 rounds to either side of 8.5.
            assert!(arrive(&law, &mut s, 30.0) == 1.0 || arrive(&law, &mut s, 30.0) == 1.0);
            law.on_event(&mut s, Event::Hit, &seeing(30.0));
        }
    }
}
