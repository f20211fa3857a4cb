//! PCC Vivace: tries a little more and a little less, and goes where its utility grows.
//!
//! Source: Dong, Meng, Zarchy, Arslan, Gilad, Godfrey and Schapira, "PCC Vivace: Online-Learning Congestion Control" (NSDI 2018),
//! section 4 (utility, gradient, confidence amplifier, change boundary), and the authors' PCC-Uspace for the length of an interval.
//! Symbols: x is the rate in Mbit/s (10^6 bits), `L` the loss rate, u = x^t - b x max(0, dRTT/dt) - c x L.
//! Differs: a slope of the round trip that is not small counts at once, where the paper looks twice; a negative one counts as none;
//! between the end of a pair and its result the flow sends at its rate; a pair in which the flow was short of data is left out; the
//! window is two products of rate and round trip, so that a flow without acknowledgements stops; a timeout, which the paper leaves
//! out, halves the rate.

use alloc::string::String;

use super::interval::{self, Interval};
use super::{
    Context, Controller, Delivery, DeliveryEvent, Event, Observation, Output, Requirements, RttAverage, Spared, Timing,
};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::Number;
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};
use crate::quantity::Time;

const UTILITY: &str = "NSDI 2018, section 4.1, equation (1)";
const LEARNING: &str = "NSDI 2018, section 4.3";

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "vivace",
    title: "PCC Vivace: moves the rate where its utility of throughput, delay and loss grows",
    source: "Dong et al., PCC Vivace: Online-Learning Congestion Control, NSDI 2018; PCCproject/PCC-Uspace",
    colour: "#7d5ba6",
    parameters: &[
        Parameter::number("t", Unit::One, 0.9, [0.01, 0.99], "exponent of the rate in the utility", UTILITY),
        Parameter::number(
            "b",
            Unit::One,
            900.0,
            [0.0, 1e6],
            "weight of the slope of the round-trip time in the utility",
            UTILITY,
        ),
        Parameter::number("c", Unit::One, 11.35, [0.0, 1e6], "weight of the loss rate in the utility", UTILITY),
        Parameter::number(
            "epsilon",
            Unit::One,
            0.05,
            [1e-3, 0.5],
            "share of the rate by which a pair of intervals is above and below it",
            LEARNING,
        ),
        Parameter::number(
            "theta",
            Unit::One,
            1.0,
            [1e-6, 1e3],
            "step of the rate for a gradient of one [Mbit/s], before it is amplified",
            LEARNING,
        ),
        Parameter::number(
            "omega",
            Unit::One,
            0.05,
            [1e-4, 1.0],
            "largest step, as a share of the rate, at first",
            LEARNING,
        ),
        Parameter::number(
            "delta",
            Unit::One,
            0.1,
            [0.0, 1.0],
            "increase of the largest step for each step that exceeds it, as a share of the rate",
            LEARNING,
        ),
        Parameter::number(
            "filter",
            Unit::One,
            0.01,
            [0.0, 1.0],
            "smaller slopes of the round-trip time count as none",
            "NSDI 2018, section 4.4; 0.02 in PCC-Uspace",
        ),
        Parameter::number(
            "interval",
            Unit::One,
            1.0,
            [0.1, 1e4],
            "round trips that a monitor interval lasts",
            "NSDI 2018, section 4.1; PCC-Uspace",
        ),
        Parameter::number(
            "least_packets",
            Unit::Packets,
            10.0,
            [2.0, 1e9],
            "packets that a monitor interval has at the least",
            "our choice: a loss rate of fewer says little; 5 in PCC-Uspace",
        ),
        Parameter::number(
            "least_rate",
            Unit::BitPerSecond,
            5e5,
            [1.0, 1e12],
            "smallest rate",
            "PCC-Uspace, kMinSendingRate",
        ),
    ],
    observables: Observables::of::<Vivace>(),
    linearisation: Linearisation::Unsupported(
        "its gradient is a difference of two intervals in an order that is drawn, and its steps depend on past steps",
    ),
    real: &build::<f64, Vivace>,
    dual: None,
    fixed: None,
    kernel: None,
};

/// The window, in products of rate and round trip.
const WINDOW: f64 = 2.0;
/// Bits of a Mbit.
const MEGA: f64 = 1e6;

#[derive(Debug)]
struct Vivace {
    t: f64,
    b: f64,
    c: f64,
    epsilon: f64,
    theta: f64,
    omega: f64,
    delta: f64,
    filter: f64,
    interval: f64,
    least_packets: f64,
    /// [packets/s]
    least_rate: f64,
    /// Mbit of a packet.
    mbit: f64,
    initial_window: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// The rate doubles while utility grows; that of the interval before, if there was one.
    Start(Option<f64>),
    /// Pairs of intervals, the larger rate first where so.
    Pairs { up_first: bool },
}

numbers! {
    /// The state of Vivace.
    struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// The rate that pairs of intervals are around; zero before the first round trip.
        rate: "packets/s" as "Rate",
        /// The rate of the packets that are sent now.
        pace: "packets/s" as "Pacing rate",
        /// Utility of the last interval.
        utility: "1" as "Utility",
        /// Gradient of the utility, by the last pair of intervals.
        gradient: "1" as "Gradient of the utility",
        /// Last step of the rate, as a share of it.
        step: "1" as "Step",
    }
    frozen {
        phase: Phase,
        /// Intervals of the pair that are under way or wait for their results.
        pair: [Option<Interval>; 2],
        /// Steps in one direction, and whether that is up.
        steps: u32,
        up: bool,
        /// By how many times `delta` the largest step is larger.
        beyond: f64,
        /// The round trip that intervals go by [s].
        rtt_s: f64,
        timer: Option<Time>,
    }
}

impl Vivace {
    /// The utility of an interval.
    fn utility(&self, interval: &Interval) -> f64 {
        let x = interval.rate * self.mbit;
        let slope = interval.slope();
        let slope = if slope < self.filter { 0.0 } else { slope };
        libm::pow(x, self.t) - self.b * x * slope - self.c * x * interval.loss()
    }

    /// Confidence amplifier m: how much a step counts that is the n-th in its direction.
    fn amplifier(steps: u32) -> f64 {
        if steps <= 3 { f64::from(steps) } else { 2.0 * f64::from(steps) - 3.0 }
    }

    /// The step of a rate [Mbit/s] for a gradient.
    fn step(&self, s: &mut State<f64>, x: f64, gradient: f64) -> f64 {
        let up = gradient > 0.0;
        if s.steps == 0 || up != s.up {
            (s.steps, s.up, s.beyond) = (0, up, 0.0);
        }
        s.steps = s.steps.saturating_add(1);
        let step = self.theta * Self::amplifier(s.steps) * gradient;
        let most = x * (self.omega + s.beyond * self.delta);
        if step.abs() > most {
            s.beyond += 1.0;
            return if up { most } else { -most };
        }
        // The boundary follows back to the smallest that allows the step.
        if self.delta > 0.0 {
            let needed = libm::ceil((step.abs() / x - self.omega) / self.delta);
            s.beyond = Number::clamp(needed, 0.0, s.beyond);
        }
        step
    }

    /// The rate is another from now on [packets/s].
    fn turn(&self, s: &mut State<f64>, rate: f64) {
        s.rate = Number::max(rate, self.least_rate);
        s.pace = s.rate;
        self.resize(s);
    }

    fn resize(&self, s: &mut State<f64>) {
        let product = WINDOW * Number::max(s.pace, s.rate) * s.rtt_s;
        s.window = Number::max(product, Number::max(self.initial_window, 2.0));
    }

    /// The next interval of the phase begins, where one is due.
    fn begin(&self, s: &mut State<f64>, d: &Delivery) {
        let (at, rate) = match (s.phase, &s.pair) {
            (Phase::Start(_), [None, _]) => (0, s.rate),
            (Phase::Pairs { .. }, [None, _]) => {
                let up_first = d.uniform < 0.5;
                s.phase = Phase::Pairs { up_first };
                (0, s.rate * (1.0 + if up_first { self.epsilon } else { -self.epsilon }))
            }
            (Phase::Pairs { up_first }, [Some(first), None]) if first.end.is_some() => {
                (1, s.rate * (1.0 - if up_first { self.epsilon } else { -self.epsilon }))
            }
            _ => return,
        };
        let lasts_s = Number::max(self.interval * s.rtt_s, self.least_packets / rate);
        s.pair[at] = Some(Interval::begin(d.now, Time::from_seconds(lasts_s), rate, d.sent));
        s.pace = rate;
    }

    /// True if the phase has all the results that it waits for, or waits in vain.
    fn is_over(s: &State<f64>, now: Time) -> bool {
        let wanted = if matches!(s.phase, Phase::Start(_)) { 1 } else { 2 };
        let over = |interval: &Option<Interval>| interval.is_some_and(|one| one.is_over(s.rtt_s, now));
        s.pair[..wanted].iter().all(over)
    }

    /// The results are in.
    fn conclude(&self, s: &mut State<f64>) {
        let [first, second] = core::mem::take(&mut s.pair);
        let Some(first) = first else { return };
        match (s.phase, second) {
            (Phase::Start(before), _) if first.is_useful() => {
                s.utility = self.utility(&first);
                if before.is_none_or(|before| s.utility > before) {
                    s.phase = Phase::Start(Some(s.utility));
                    self.turn(s, 2.0 * first.rate);
                } else {
                    s.phase = Phase::Pairs { up_first: true };
                    self.turn(s, first.rate / 2.0);
                }
            }
            (Phase::Pairs { .. }, Some(second)) if first.is_useful() && second.is_useful() => {
                let x = s.rate * self.mbit;
                let utilities = [first, second].map(|interval| self.utility(&interval));
                s.utility = utilities[1];
                s.gradient = (utilities[0] - utilities[1]) / ((first.rate - second.rate) * self.mbit);
                let step = self.step(s, x, s.gradient);
                s.step = step / x;
                self.turn(s, s.rate * (1.0 + s.step));
            }
            // The flow was short of data: once more.
            _ => {}
        }
    }

    /// Applies the passing of time.
    fn advance(&self, s: &mut State<f64>, d: &Delivery) {
        if s.rate == 0.0 {
            return;
        }
        if interval::pass(&mut s.pair, d) {
            s.pace = s.rate;
        }
        if Self::is_over(s, d.now) {
            self.conclude(s);
        }
        self.begin(s, d);
        s.timer = interval::next(&s.pair, d.now, s.rtt_s);
    }

    /// Intervals begin anew.
    fn forget(s: &mut State<f64>) {
        s.pair = [None; 2];
        s.pace = s.rate;
    }
}

impl Law<f64> for Vivace {
    type Role = Controller;
    type State = State<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let bits = 8.0 * context.packet.0 as f64;
        Ok(Self {
            t: values.number("t"),
            b: values.number("b"),
            c: values.number("c"),
            epsilon: values.number("epsilon"),
            theta: values.number("theta"),
            omega: values.number("omega"),
            delta: values.number("delta"),
            filter: values.number("filter"),
            interval: values.number("interval"),
            least_packets: values.number("least_packets"),
            least_rate: values.number("least_rate") / bits,
            mbit: bits / MEGA,
            initial_window: context.initial_window,
        })
    }

    fn initial_state(&self) -> State<f64> {
        State {
            window: Number::max(self.initial_window, 2.0),
            rate: 0.0,
            pace: 0.0,
            utility: 0.0,
            gradient: 0.0,
            step: 0.0,
            phase: Phase::Start(None),
            pair: [None; 2],
            steps: 0,
            up: true,
            beyond: 0.0,
            rtt_s: 0.0,
            timer: None,
        }
    }

    fn on_event(&self, _: &mut State<f64>, _: Event, _: &Observation<f64>) {}

    fn on_detail(&self, s: &mut State<f64>, d: &Delivery, seen: &Observation<f64>) {
        match &d.event {
            DeliveryEvent::Ack(_) if seen.rtt_s > 0.0 => {
                s.rtt_s = seen.rtt_s;
                if s.rate == 0.0 {
                    self.turn(s, self.initial_window / s.rtt_s);
                }
                self.resize(s);
            }
            DeliveryEvent::Timeout if s.rate > 0.0 => {
                self.turn(s, s.rate / 2.0);
                Self::forget(s);
            }
            DeliveryEvent::IdleRestart => Self::forget(s),
            _ => {}
        }
        interval::hear(&mut s.pair, d);
        self.advance(s, d);
    }

    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        let gap_s = if s.pace > 0.0 { 1.0 / s.pace } else { 0.0 };
        Output { window: s.window, gap_s }
    }

    fn timing(&self, s: &State<f64>, _: &Observation<f64>) -> Timing {
        Timing { quantum: 1, timer: s.timer }
    }

    fn requirements(&self) -> Requirements {
        let average_rtt = Some(RttAverage::weighing(0.125));
        let spared = Spared { acks: true, ..Spared::NOTHING };
        Requirements { delivery: true, spared, average_rtt, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests;
