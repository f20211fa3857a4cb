//! COBALT: CoDel, and BLUE for unresponsive traffic.
//!
//! Source: Linux, `net/sched/sch_cake.c`, `cobalt_queue_full`, `cobalt_queue_empty` and `cobalt_should_drop`, for the algorithm and
//! every constant; Palmei et al., "Design and Evaluation of COBALT Queue Discipline" (LANMAN 2019). CAKE's shaping, host fairness
//! and DiffServ are not here: with `scheduler = "drr"` each flow has a queue with a COBALT, as in CAKE.
//! Differs: real numbers for 32 bits behind the point; a queue counts as empty as its last packet leaves, where CAKE looks once
//! more; that packet is neither marked nor dropped, where CAKE marks it; other flows of a link do not raise the target.

use alloc::string::String;

use super::codel::{INTERVAL, NOT_LINEAR, TARGET};
use super::{Aqm, Context, Decides, Event, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::Number;
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

const CAKE: &str = "sch_cake.c, cake_set_rate";

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "cobalt",
    title: "COBALT: CoDel, with drops by BLUE where the buffer overflows",
    source: "Linux, net/sched/sch_cake.c; Palmei et al., COBALT, LANMAN 2019",
    colour: "#9c5b2e",
    parameters: &[
        Parameter::switch(
            "ecn",
            true,
            "use ECN: CoDel marks ECN-capable packets; BLUE drops them",
            "sch_cake.c, cobalt_should_drop",
        ),
        TARGET,
        INTERVAL,
        Parameter::number(
            "increment",
            Unit::One,
            1.0 / 256.0,
            [0.0, 1.0],
            "increase of BLUE's drop probability when the buffer is full",
            CAKE,
        ),
        Parameter::number(
            "decrement",
            Unit::One,
            1.0 / 4096.0,
            [0.0, 1.0],
            "decrease of BLUE's drop probability when the queue is empty",
            CAKE,
        ),
        Parameter::number(
            "least_target",
            Unit::Packets,
            1.5,
            [0.0, 1e3],
            "the target is at least what so many packets take on the line; a wait below four is no standing queue",
            CAKE,
        ),
    ],
    observables: Observables::of::<Cobalt>(),
    linearisation: Linearisation::Unsupported(NOT_LINEAR),
    real: &build::<f64, Cobalt>,
    dual: None,
    fixed: None,
    kernel: None,
};

/// Packets on the line below which a wait is no standing queue (sch_cake.c: mtu_time * 4).
const SHORT: f64 = 4.0;

#[derive(Debug)]
struct Cobalt {
    ecn: bool,
    target_s: f64,
    interval_s: f64,
    increment: f64,
    decrement: f64,
    least_target: f64,
}

numbers! {
    /// The state of COBALT.
    struct State {
        /// Drops or marks since CoDel began; they count down once the delay is below the target.
        count: "1" as "CoDel's count",
        /// Time of CoDel's next drop, while there is a count.
        drop_next: "s" as "Time of the next drop",
        /// Drop probability of BLUE.
        p_drop: "1" as "BLUE's drop probability",
    }
    frozen {
        dropping: bool,
        /// The time of the last change of BLUE's probability [s].
        blue_s: f64,
        /// The chance for the packet at the head, and after a mark that of a drop all the same.
        chance: f64,
        overrule: f64,
    }
}

impl Cobalt {
    /// The target on this line [s].
    fn target_s(&self, seen: &Observation<f64>) -> f64 {
        Number::max(self.target_s, self.least_target / seen.capacity)
    }

    /// The interval, longer where the target is.
    fn interval_s(&self, seen: &Observation<f64>) -> f64 {
        let target_s = self.target_s(seen);
        Number::max(self.interval_s + target_s - self.target_s, 2.0 * target_s)
    }

    fn control_law(&self, t: f64, count: f64, seen: &Observation<f64>) -> f64 {
        t + self.interval_s(seen) / libm::sqrt(Number::max(count, 1.0))
    }

    /// A packet was dropped because the buffer was full.
    fn full(&self, s: &mut State<f64>, seen: &Observation<f64>) {
        if seen.now_s - s.blue_s > self.target_s(seen) {
            s.p_drop = Number::min(s.p_drop + self.increment, 1.0);
            s.blue_s = seen.now_s;
        }
        s.dropping = true;
        s.drop_next = seen.now_s;
        s.count = Number::max(s.count, 1.0);
    }

    /// The queue is empty.
    fn empty(&self, s: &mut State<f64>, seen: &Observation<f64>) {
        if s.p_drop > 0.0 && seen.now_s - s.blue_s > self.target_s(seen) {
            s.p_drop = Number::max(s.p_drop - self.decrement, 0.0);
            s.blue_s = seen.now_s;
        }
        s.dropping = false;
        if s.count > 0.0 && seen.now_s >= s.drop_next {
            self.count_down(s, seen);
        }
    }

    fn count_down(&self, s: &mut State<f64>, seen: &Observation<f64>) {
        s.count -= 1.0;
        s.drop_next = self.control_law(s.drop_next, s.count, seen);
    }

    /// True if CoDel marks or drops the packet at the head.
    fn codel(&self, s: &mut State<f64>, seen: &Observation<f64>) -> bool {
        let over_target = seen.sojourn_s > self.target_s(seen) && seen.sojourn_s > SHORT / seen.capacity;
        let mut due = s.count > 0.0 && seen.now_s >= s.drop_next;
        if over_target {
            if !s.dropping {
                s.dropping = true;
                s.drop_next = self.control_law(seen.now_s, s.count, seen);
            }
            s.count = Number::max(s.count, 1.0);
        } else {
            s.dropping = false;
        }
        if due && s.dropping {
            s.count += 1.0;
            s.drop_next = self.control_law(s.drop_next, s.count, seen);
            return true;
        }
        while due {
            self.count_down(s, seen);
            due = s.count > 0.0 && seen.now_s >= s.drop_next;
        }
        false
    }

    /// Decides on the packet at the head.
    fn judge(&self, s: &mut State<f64>, seen: &Observation<f64>) {
        let codel = self.codel(s, seen);
        // A count that nothing is left of waits an interval; a time that is over and was no drop's is now.
        if s.count == 0.0 {
            s.drop_next = seen.now_s + self.interval_s(seen);
        } else if seen.now_s > s.drop_next && !codel {
            s.drop_next = seen.now_s;
        }
        (s.chance, s.overrule) = match codel {
            // The last packet of a queue is spared.
            _ if seen.queue <= 0.0 => (0.0, 0.0),
            // CoDel marks what can be marked, and BLUE drops some of it.
            true => (1.0, s.p_drop),
            false => (s.p_drop, 1.0),
        };
        if seen.queue <= 0.0 {
            self.empty(s, seen);
        }
    }
}

impl Law<f64> for Cobalt {
    type Role = Aqm;
    type State = State<f64>;

    fn compile(values: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self {
            ecn: values.switch("ecn"),
            target_s: values.number("target"),
            interval_s: values.number("interval"),
            increment: values.number("increment"),
            decrement: values.number("decrement"),
            least_target: values.number("least_target"),
        })
    }

    fn initial_state(&self) -> State<f64> {
        State {
            count: 0.0,
            drop_next: 0.0,
            p_drop: 0.0,
            dropping: false,
            blue_s: f64::NEG_INFINITY,
            chance: 0.0,
            overrule: 0.0,
        }
    }

    #[inline]
    fn on_event(&self, s: &mut State<f64>, event: Event, seen: &Observation<f64>) {
        match event {
            Event::Departure { .. } => self.judge(s, seen),
            Event::Hit => s.chance = s.overrule,
            Event::Full => self.full(s, seen),
            Event::Arrival { .. } | Event::Tick => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { probability: s.chance, price_s: 0.0 }
    }

    fn requirements(&self) -> Requirements {
        Requirements {
            decides: Decides::AtHead,
            marks: self.ecn,
            overrules_marks: self.ecn,
            bytes: true,
            full: true,
            ..Requirements::LEAST
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Bytes, Rate, Time};
    use alloc::vec::Vec;

    fn law(set: &[(&str, f64)]) -> Cobalt {
        let values = Values::of(ENTRY.parameters, set);
        let context = Context { rate: Rate(12_000_000), delay: Time::ZERO, packet: Bytes(1500), classes: Vec::new() };
        Cobalt::compile(&values, &context).unwrap()
    }

    fn head(now_s: f64, sojourn_s: f64, queue: f64) -> Observation<f64> {
        Observation { queue, capacity: 1000.0, sojourn_s, now_s, ..Observation::zero() }
    }

    fn depart(law: &Cobalt, s: &mut State<f64>, seen: &Observation<f64>) -> f64 {
        law.on_event(s, Event::Departure { low_latency: false }, seen);
        law.output(s, seen).probability
    }

    /// As CoDel: the first drop an interval after the wait rose above the target, then `interval / sqrt(count)` apart.
    #[test]
    fn drops_are_spaced_by_the_square_root_of_their_count() {
        let law = law(&[]);
        let mut s = law.initial_state();
        let mut drops = Vec::new();
        for ms in 1..1000 {
            let seen = head(f64::from(ms) * 1e-3, 0.02, 20.0);
            if depart(&law, &mut s, &seen) == 1.0 {
                drops.push(seen.now_s);
            }
        }
        let mut due = 0.101;
        for (at, drop) in drops.iter().enumerate() {
            assert!((0.0..0.001 + 1e-9).contains(&(drop - due)), "{at}: {drop} {due}");
            due += 0.1 / libm::sqrt((at + 2) as f64);
        }
        assert!((25..45).contains(&drops.len()), "{}", drops.len());
    }

    /// A full buffer adds 1/256 to BLUE's probability, an empty queue takes 1/4096, each once a target at the most. BLUE drops
    /// what it hits, marked or not.
    #[test]
    fn blue_follows_overflow_and_idleness() {
        let law = law(&[]);
        let mut s = law.initial_state();
        for ms in (0..30).step_by(2) {
            law.on_event(&mut s, Event::Full, &head(f64::from(ms) * 1e-3, 0.0, 20.0));
        }
        // At 0, 6, 12, 18 and 24 ms: more than the target of 5 ms apart.
        assert!((s.p_drop - 5.0 / 256.0).abs() < 1e-12, "{}", s.p_drop);
        assert_eq!((s.count, s.dropping), (1.0, true));
        let seen = head(0.0305, 0.001, 20.0);
        assert_eq!(depart(&law, &mut s, &seen), 5.0 / 256.0);
        law.on_event(&mut s, Event::Hit, &seen);
        assert_eq!(law.output(&s, &seen).probability, 1.0);
        for ms in 100..106 {
            depart(&law, &mut s, &head(f64::from(ms) * 1e-3, 0.0, 0.0));
        }
        assert!((s.p_drop - (5.0 / 256.0 - 1.0 / 4096.0)).abs() < 1e-12, "{}", s.p_drop);
    }

    /// On 1000 packets a second four packets take 4 ms, and one and a half 1.5: the target of 5 ms stands. On 100 it is 15 ms, and
    /// no wait below 40 ms is a standing queue.
    #[test]
    fn a_slow_line_has_a_larger_target() {
        let law = law(&[]);
        let slow = |sojourn_s| Observation { capacity: 100.0, ..head(1.0, sojourn_s, 20.0) };
        assert!((law.target_s(&slow(0.0)) - 0.015).abs() < 1e-12 && (law.interval_s(&slow(0.0)) - 0.11).abs() < 1e-12);
        for (sojourn_s, stands) in [(0.039, false), (0.041, true)] {
            let mut s = law.initial_state();
            depart(&law, &mut s, &slow(sojourn_s));
            assert_eq!(s.dropping, stands);
        }
    }

    /// Below the target the count comes down at the rate at which it went up.
    #[test]
    fn the_count_comes_down_again() {
        let law = law(&[]);
        let mut s = State { count: 4.0, drop_next: 1.0, ..law.initial_state() };
        for (now_s, count) in [(0.99, 4.0), (1.0, 3.0), (1.05, 3.0), (1.06, 2.0), (3.0, 0.0)] {
            assert_eq!(depart(&law, &mut s, &head(now_s, 0.001, 5.0)), 0.0);
            assert_eq!(s.count, count, "{now_s}");
        }
    }
}
