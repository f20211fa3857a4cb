//! PCC Allegro: tries a little more and a little less, and goes where its utility of throughput and losses is larger.
//!
//! Source: Dong, Li, Zarchy, Godfrey and Schapira, "PCC: Re-architecting Congestion Control for Consistent High Performance" (NSDI
//! 2015): section 2.2 (utility), section 3.1 (monitor interval) and section 3.2 (starting, decision making, rate adjusting). Symbols:
//! x is the rate, `L` the loss rate, T = x (1 - L), u = T / (1 + exp(alpha (L - threshold))) - x L.
//! Differs: the first rate adjusted to is compared with the mean of the two trials of the decision, which the paper leaves open.
//! While results of trials or of an adjusted rate are awaited, the flow sends at its rate, in no interval, as the authors' module for
//! Linux does; starting does not wait, but four results at most are open. A rate whose utility only stays ends starting and
//! adjusting too, and a utility that does not differ decides nothing. x is the rate of the interval, or what the flow sent where that
//! is less by two packets. An interval in which the flow was short of data is left out. The rate has a least, that of the start. The
//! window, which the paper does not have, is two products of rate and round trip, as in that module, so that a flow without
//! acknowledgements stops. A timeout, which the paper leaves out, halves the rate and ends starting.

use alloc::format;
use alloc::string::String;

use super::interval::{self, Interval};
use super::{
    Context, Controller, Delivery, DeliveryEvent, Event, NO_WINDOW, Observation, Output, Requirements, RttAverage,
    Spared, Timing,
};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::Number;
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};
use crate::quantity::Time;

const UTILITY: &str = "NSDI 2015, section 2.2";
const MONITOR: &str = "NSDI 2015, section 3.1";
const CONTROL: &str = "NSDI 2015, section 3.2";

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "allegro",
    title: "PCC Allegro: moves the rate where its utility of throughput and loss is larger",
    source: "Dong et al., PCC: Re-architecting Congestion Control for Consistent High Performance, NSDI 2015",
    colour: "#a6477d",
    parameters: &[
        Parameter::number(
            "alpha",
            Unit::One,
            100.0,
            [0.0, 1e6],
            "steepness of the utility at `threshold`; fair for n flows from 2.2 (n - 1) on",
            UTILITY,
        ),
        Parameter::number(
            "threshold",
            Unit::One,
            0.05,
            [0.0, 1.0],
            "loss rate at which throughput counts half in the utility",
            UTILITY,
        ),
        Parameter::number(
            "epsilon_min",
            Unit::One,
            0.01,
            [1e-4, 0.5],
            "share of the rate by which trials are above and below it at first, and step of the growth of steps",
            CONTROL,
        ),
        Parameter::number(
            "epsilon_max",
            Unit::One,
            0.05,
            [1e-4, 0.5],
            "largest share of the rate by which trials are above and below it",
            CONTROL,
        ),
        Parameter::number(
            "interval_min",
            Unit::One,
            1.7,
            [0.1, 1e4],
            "round trips that a monitor interval lasts at the least",
            MONITOR,
        ),
        Parameter::number(
            "interval_max",
            Unit::One,
            2.2,
            [0.1, 1e4],
            "round trips that a monitor interval lasts at the most; the number is drawn",
            MONITOR,
        ),
        Parameter::number(
            "least_packets",
            Unit::Packets,
            10.0,
            [2.0, 1e9],
            "packets that a monitor interval has at the least",
            MONITOR,
        ),
        Parameter::number(
            "start",
            Unit::Packets,
            2.0,
            [0.1, 1e6],
            "first and smallest rate, in packets a round trip",
            "NSDI 2015, section 3.2; that it is the smallest is our choice",
        ),
    ],
    observables: Observables::of::<Allegro>(),
    linearisation: Linearisation::Unsupported(
        "its direction is a comparison of intervals in an order that is drawn, and its steps depend on past steps",
    ),
    real: &build::<f64, Allegro>,
    dual: None,
    fixed: None,
    kernel: None,
};

/// The window, in products of rate and round trip.
const WINDOW: f64 = 2.0;
/// No line is faster [packets/s].
const MOST: f64 = NO_WINDOW;

#[derive(Debug)]
struct Allegro {
    alpha: f64,
    threshold: f64,
    epsilon_min: f64,
    epsilon_max: f64,
    /// Round trips of an interval, least and most.
    lasts: [f64; 2],
    least_packets: f64,
    start: f64,
    initial_window: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// The rate doubles with each interval while utility grows; the utility of the interval before those under way, if any.
    Start(Option<f64>),
    /// Two pairs of intervals; in each, the larger rate first where so.
    Trials([bool; 2]),
    /// The n-th step in a direction, the rate before it [packets/s] and the utility of that.
    Adjust { n: u32, up: bool, from: f64, before: f64 },
}

numbers! {
    /// The state of PCC Allegro.
    struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// The rate that trials are around; zero before the first round trip.
        rate: "packets/s" as "Rate",
        /// The rate of the packets that are sent now.
        pace: "packets/s" as "Pacing rate",
        /// Utility of the last interval.
        utility: "packets/s" as "Utility",
        /// Share of the rate by which trials are above and below it.
        epsilon: "1" as "Step of trials",
    }
    frozen {
        phase: Phase,
        /// Intervals that are under way or wait for their results, in their order.
        intervals: [Option<Interval>; 4],
        /// The round trip that intervals go by [s].
        rtt_s: f64,
        timer: Option<Time>,
    }
}

impl Allegro {
    /// The utility of a rate x with a loss rate L.
    fn worth(&self, x: f64, loss: f64) -> f64 {
        let sigmoid = 1.0 / (1.0 + Number::exp(self.alpha * (loss - self.threshold)));
        x * (1.0 - loss) * sigmoid - x * loss
    }

    /// The utility of an interval.
    fn utility(&self, interval: &Interval) -> f64 {
        self.worth(Number::min(interval.rate, interval.possible()), interval.loss())
    }

    /// The rate is another from now on [packets/s].
    fn turn(&self, s: &mut State<f64>, rate: f64) {
        let least = Number::min(self.start / s.rtt_s, MOST);
        s.rate = Number::clamp(rate, least, MOST);
        s.pace = s.rate;
        self.resize(s);
    }

    fn resize(&self, s: &mut State<f64>) {
        let product = Number::min(WINDOW * Number::max(s.pace, s.rate) * s.rtt_s, NO_WINDOW);
        s.window = Number::max(product, Number::max(self.initial_window, 2.0));
    }

    /// Intervals begin anew. Rates of a start whose results are open are none that a utility speaks for.
    fn forget(&self, s: &mut State<f64>) {
        let [first, ..] = core::mem::take(&mut s.intervals);
        s.pace = s.rate;
        if let (Phase::Start(_), Some(first)) = (s.phase, first) {
            self.turn(s, first.rate);
        }
    }

    /// Trials begin, as close to the rate as they get.
    fn decide(&self, s: &mut State<f64>) {
        s.phase = Phase::Trials([true; 2]);
        s.epsilon = self.epsilon_min;
    }

    /// The n-th step in a direction, unless the rate is at its end there.
    fn adjust(&self, s: &mut State<f64>, n: u32, up: bool, before: f64) {
        let share = f64::from(n) * self.epsilon_min;
        let old = s.rate;
        self.turn(s, old * (1.0 + if up { share } else { -share }));
        if s.rate == old {
            self.decide(s);
        } else {
            s.phase = Phase::Adjust { n, up, from: old, before };
        }
    }

    /// The next interval of the phase begins, where one is due.
    fn begin(&self, s: &mut State<f64>, d: &Delivery) {
        let at = s.intervals.iter().take_while(|interval| interval.is_some()).count();
        let most = if matches!(s.phase, Phase::Adjust { .. }) { 1 } else { s.intervals.len() };
        if at >= most || s.intervals.iter().flatten().any(|interval| interval.end.is_none()) {
            return;
        }
        // One draw for both: its first binary digit is the order of a pair, the others are the length of the interval.
        let (low, rest) = if d.uniform < 0.5 { (true, 2.0 * d.uniform) } else { (false, 2.0 * d.uniform - 1.0) };
        match &mut s.phase {
            Phase::Start(_) if at > 0 => self.turn(s, 2.0 * s.rate),
            Phase::Start(_) | Phase::Adjust { .. } => s.pace = s.rate,
            Phase::Trials(up_first) => {
                if at % 2 == 0 {
                    up_first[at / 2] = low;
                }
                let up = up_first[at / 2] == (at % 2 == 0);
                s.pace = s.rate * (1.0 + if up { s.epsilon } else { -s.epsilon });
            }
        }
        let [least, most] = self.lasts;
        let lasts_s = Number::max((least + (most - least) * rest) * s.rtt_s, self.least_packets / s.pace);
        s.intervals[at] = Some(Interval::begin(d.now, Time::from_seconds(lasts_s), s.pace, d.sent));
    }

    /// The results that the phase waits for are in, and it goes on. False if they are not.
    fn conclude(&self, s: &mut State<f64>, now: Time) -> bool {
        let rtt_s = s.rtt_s;
        let over = |interval: &Option<Interval>| interval.is_some_and(|one| one.is_over(rtt_s, now));
        let wanted = if matches!(s.phase, Phase::Trials(_)) { s.intervals.len() } else { 1 };
        if !s.intervals[..wanted].iter().all(over) {
            return false;
        }
        // Short of data: once more.
        if !s.intervals[..wanted].iter().flatten().all(Interval::is_useful) {
            self.forget(s);
            return true;
        }
        let Some(first) = s.intervals[0] else { return false };
        match s.phase {
            Phase::Start(before) => {
                s.utility = self.utility(&first);
                if before.is_none_or(|before| s.utility > before) {
                    s.phase = Phase::Start(Some(s.utility));
                    s.intervals.rotate_left(1);
                    s.intervals[3] = None;
                    // The next one has begun, unless four were open.
                    if s.intervals[0].is_none() {
                        self.turn(s, 2.0 * first.rate);
                    }
                } else {
                    s.intervals = [None; 4];
                    self.turn(s, first.rate / 2.0);
                    self.decide(s);
                }
            }
            Phase::Trials(up_first) => {
                let utilities = core::mem::take(&mut s.intervals).map(|one| one.map_or(0.0, |one| self.utility(&one)));
                self.choose(s, up_first, utilities);
            }
            Phase::Adjust { n, up, from, before } => {
                s.utility = self.utility(&first);
                s.intervals = [None; 4];
                if s.utility > before {
                    self.adjust(s, n.saturating_add(1), up, s.utility);
                } else {
                    self.turn(s, from);
                    self.decide(s);
                }
            }
        }
        true
    }

    /// The decision after two pairs of trials, of these utilities.
    fn choose(&self, s: &mut State<f64>, up_first: [bool; 2], utilities: [f64; 4]) {
        s.utility = utilities[3];
        let [a, b, c, d] = utilities;
        let [one, two] = [(a, b, up_first[0]), (c, d, up_first[1])].map(|(x, y, up)| if up { [x, y] } else { [y, x] });
        let up = one[0] > one[1] && two[0] > two[1];
        let down = one[0] < one[1] && two[0] < two[1];
        if up || down {
            let (side, share) = if up { (0, s.epsilon) } else { (1, -s.epsilon) };
            self.turn(s, s.rate * (1.0 + share));
            s.epsilon = self.epsilon_min;
            self.adjust(s, 1, up, 0.5 * (one[side] + two[side]));
        } else {
            s.epsilon = Number::min(s.epsilon + self.epsilon_min, self.epsilon_max);
        }
    }

    /// Applies the passing of time.
    fn advance(&self, s: &mut State<f64>, d: &Delivery) {
        if s.rate == 0.0 {
            return;
        }
        if interval::pass(&mut s.intervals, d) {
            s.pace = s.rate;
        }
        while self.conclude(s, d.now) {}
        self.begin(s, d);
        s.timer = interval::next(&s.intervals, d.now, s.rtt_s);
    }
}

impl Law<f64> for Allegro {
    type Role = Controller;
    type State = State<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        for [least, most] in [["epsilon_min", "epsilon_max"], ["interval_min", "interval_max"]] {
            let [a, b] = [least, most].map(|name| values.number(name));
            if a > b {
                return Err(format!("`{least}` = {a} must not exceed `{most}` = {b}"));
            }
        }
        Ok(Self {
            alpha: values.number("alpha"),
            threshold: values.number("threshold"),
            epsilon_min: values.number("epsilon_min"),
            epsilon_max: values.number("epsilon_max"),
            lasts: ["interval_min", "interval_max"].map(|name| values.number(name)),
            least_packets: values.number("least_packets"),
            start: values.number("start"),
            initial_window: context.initial_window,
        })
    }

    fn initial_state(&self) -> State<f64> {
        State {
            window: Number::max(self.initial_window, 2.0),
            rate: 0.0,
            pace: 0.0,
            utility: 0.0,
            epsilon: self.epsilon_min,
            phase: Phase::Start(None),
            intervals: [None; 4],
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
                    self.turn(s, 0.0);
                }
                self.resize(s);
            }
            DeliveryEvent::Timeout if s.rate > 0.0 => {
                s.intervals = [None; 4];
                self.turn(s, s.rate / 2.0);
                self.decide(s);
            }
            DeliveryEvent::IdleRestart if s.rate > 0.0 => self.forget(s),
            _ => {}
        }
        interval::hear(&mut s.intervals, d);
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
