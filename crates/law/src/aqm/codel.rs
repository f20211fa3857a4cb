//! CoDel: drop at the head of the queue while packets have waited too long for too long.
//!
//! Source: Nichols, Jacobson, McGregor, Iyengar, "Controlled Delay Active Queue Management", RFC 8289, sections 4 and 5.
//! Differs: with `ecn` a packet that can be marked is marked instead of dropped, as RFC 8290, section 5.2 lets it; the
//! RFC's loop over drops in one dequeue is here one [`Event::Departure`] a packet.

use alloc::string::String;

use super::{Aqm, Context, Decides, Event, Observation, Output, Requirements, Serve};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "codel",
    title: "CoDel: drops at the head, at a growing rate, while the minimum delay of an interval exceeds a target",
    source: "RFC 8289, Controlled Delay Active Queue Management",
    colour: "#b8860b",
    parameters: &[
        Parameter::switch(
            "ecn",
            false,
            "use ECN: mark ECN-capable packets, drop only the others",
            "RFC 8290, section 5.2",
        ),
        TARGET,
        INTERVAL,
    ],
    observables: Observables::of::<CoDel>(),
    linearisation: Linearisation::Unsupported(NOT_LINEAR),
    real: &build::<f64, CoDel>,
    dual: None,
    fixed: None,
    kernel: None,
};

pub(super) const NOT_LINEAR: &str = "its drop times depend on its past drops, not smoothly on the delay";

pub(super) const TARGET: Parameter = Parameter::number(
    "target",
    Unit::Seconds,
    0.005,
    [1e-6, 10.0],
    "acceptable queueing delay",
    "RFC 8289, section 4.3: 5 % of the interval",
);
pub(super) const INTERVAL: Parameter = Parameter::number(
    "interval",
    Unit::Seconds,
    0.1,
    [1e-5, 100.0],
    "time above target before the first drop; initial spacing of drops",
    "RFC 8289, section 4.2",
);

/// The law's compiled parameters.
#[derive(Debug)]
pub(super) struct CoDel {
    ecn: bool,
    target_s: f64,
    interval_s: f64,
}

numbers! {
    /// The state of CoDel.
    pub(super) struct State {
        /// One interval after the delay rose above the target; zero while it is below the target.
        first_above: "s" as "Time at which dropping begins",
        /// Time of the next drop while CoDel drops; afterwards, the time of the last drop.
        drop_next: "s" as "Time of the next drop",
    }
    frozen {
        /// Drops since dropping began, or the count taken over from the time before.
        count: u32,
        /// The initial value of `count`.
        count_before: u32,
        /// True in the dropping state.
        dropping: bool,
        /// True if `drop_next` is still to be moved for the last drop. It is moved if the packet after that one has to
        /// go or wait too, which is known when that packet is at the head.
        owed: bool,
        /// True if the packet at the head is to be dropped.
        hit: bool,
    }
}

impl CoDel {
    /// Dropping that begins within this many intervals after the last drop was due begins at the rate it had reached
    /// (RFC 8289, section 5.5).
    const MEMORY: f64 = 16.0;

    /// The moment of the next drop: spacing falls with the square root of the count, so that the rate of a TCP, which
    /// goes with one over the square root of its loss, falls in a straight line (RFC 8289, section 3.3).
    fn control_law(&self, t: f64, count: u32) -> f64 {
        t + self.interval_s / libm::sqrt(f64::from(count))
    }

    /// True if the wait has been above target for an interval.
    fn stands(&self, s: &mut State<f64>, observation: &Observation<f64>) -> bool {
        // A queue of at most one packet behind this one is not to blame, whatever the wait (section 4.1).
        if observation.sojourn_s < self.target_s || observation.queue <= 1.0 {
            s.first_above = 0.0;
        } else if s.first_above == 0.0 {
            s.first_above = observation.now_s + self.interval_s;
        } else {
            return observation.now_s >= s.first_above;
        }
        false
    }

    /// True if the packet at the head is to be dropped (RFC 8289, section 5.5, one packet at a time).
    fn drops(&self, s: &mut State<f64>, observation: &Observation<f64>) -> bool {
        let stands = self.stands(s, observation);
        if !stands {
            (s.dropping, s.owed) = (false, false);
            return false;
        }
        if s.dropping {
            if s.owed {
                s.drop_next = self.control_law(s.drop_next, s.count);
                s.owed = false;
            }
            if observation.now_s < s.drop_next {
                return false;
            }
            s.count = s.count.saturating_add(1);
            s.owed = true;
            return true;
        }
        let grown = s.count.saturating_sub(s.count_before);
        let lately = observation.now_s - s.drop_next < Self::MEMORY * self.interval_s;
        s.count = if grown > 1 && lately { grown } else { 1 };
        s.count_before = s.count;
        s.drop_next = self.control_law(observation.now_s, s.count);
        s.dropping = true;
        true
    }

    /// The law's requirements, with the scheduler of its queue.
    pub(super) fn needs_with(&self, serve: Serve) -> Requirements {
        Requirements { decides: Decides::AtHead, marks: self.ecn, bytes: true, serve, ..Requirements::LEAST }
    }
}

impl Law<f64> for CoDel {
    type Role = Aqm;
    type State = State<f64>;

    fn compile(values: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self { ecn: values.switch("ecn"), target_s: values.number("target"), interval_s: values.number("interval") })
    }

    fn initial_state(&self) -> State<f64> {
        State { first_above: 0.0, drop_next: 0.0, count: 0, count_before: 0, dropping: false, owed: false, hit: false }
    }

    #[inline]
    fn on_event(&self, s: &mut State<f64>, event: Event, observation: &Observation<f64>) {
        if let Event::Departure { .. } = event {
            s.hit = self.drops(s, observation);
        }
    }

    #[inline]
    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { probability: if s.hit { 1.0 } else { 0.0 }, price_s: 0.0 }
    }

    fn requirements(&self) -> Requirements {
        self.needs_with(Serve::Scheduler)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Bytes, Rate, Time};
    use alloc::vec::Vec;

    fn codel() -> CoDel {
        let context =
            Context { rate: Rate(12_000_000), delay: Time::ZERO, packet: Bytes(1500), classes: alloc::vec::Vec::new() };
        CoDel::compile(&Values::defaults(ENTRY.parameters), &context).unwrap()
    }
    fn head(now_s: f64, sojourn_s: f64, queue: f64) -> Observation<f64> {
        Observation { queue, capacity: 1000.0, sojourn_s, now_s, ..Observation::zero() }
    }
    fn dropped(law: &CoDel, s: &mut State<f64>, observation: &Observation<f64>) -> bool {
        law.on_event(s, Event::Departure { low_latency: false }, observation);
        law.output(s, observation).probability == 1.0
    }

    /// One packet a millisecond, every one having waited 20 ms. A drop frees buffer for the next packet in the same
    /// instant.
    fn drops_until(law: &CoDel, s: &mut State<f64>, from_ms: u32, to_ms: u32) -> Vec<f64> {
        let mut drops = Vec::new();
        for ms in from_ms..to_ms {
            let observation = head(f64::from(ms) * 1e-3, 0.02, 20.0);
            while dropped(law, s, &observation) {
                drops.push(observation.now_s);
            }
        }
        drops
    }

    /// RFC 8289, section 3.3: the first drop an interval after the wait rose above target, then `interval/sqrt(count)`
    /// apart: 100, 70.7, 57.7, 50 ms and so on. A drop comes at the first dequeue that is not too early for it.
    #[test]
    fn drops_are_spaced_by_the_square_root_of_their_count() {
        let (law, mut s) = (codel(), codel().initial_state());
        let drops = drops_until(&law, &mut s, 1, 2000);
        let mut due = 0.101;
        assert!((drops[0] - due).abs() < 1e-9, "{drops:?}");
        for (at, drop) in drops.iter().enumerate().skip(1) {
            due += 0.1 / libm::sqrt(at as f64);
            assert!((0.0..0.001 + 1e-9).contains(&(drop - due)), "{at}: {drop} {due}");
        }
        // 0.2 s times sqrt(n) passes 1.9 s between the 90th and the 100th drop.
        assert!((90..110).contains(&drops.len()), "{}", drops.len());
    }

    /// A dequeue that comes late makes up for all that was due: at 100 ms + 100, 170.7, 228.4 and 278.4 ms, so that of
    /// the packets at the head at 385 ms four go and the fifth is sent.
    #[test]
    fn drops_that_are_overdue_happen_at_once() {
        let (law, mut s) = (codel(), codel().initial_state());
        assert!(!dropped(&law, &mut s, &head(0.0, 0.02, 20.0)));
        assert!(dropped(&law, &mut s, &head(0.1, 0.02, 20.0)));
        assert!(!dropped(&law, &mut s, &head(0.1, 0.02, 19.0)), "one drop begins it");
        let late: Vec<bool> = (0..6).map(|i| dropped(&law, &mut s, &head(0.385, 0.3, 18.0 - f64::from(i)))).collect();
        assert_eq!(late, [true, true, true, true, false, false]);
        assert!(
            (s.drop_next - (0.1 + 0.1 + 0.1 / libm::sqrt(2.0) + 0.1 / libm::sqrt(3.0) + 0.05 + 0.1 / libm::sqrt(5.0)))
                .abs()
                < 1e-12
        );
    }

    /// One wait below target ends the dropping, and the interval begins anew; the drop that was due last stays due last.
    #[test]
    fn a_short_wait_ends_the_dropping() {
        let (law, mut s) = (codel(), codel().initial_state());
        dropped(&law, &mut s, &head(0.0, 0.02, 20.0));
        assert!(dropped(&law, &mut s, &head(0.1, 0.02, 20.0)));
        assert!(dropped(&law, &mut s, &head(0.2, 0.02, 20.0)));
        assert!(!dropped(&law, &mut s, &head(0.2, 0.004_9, 20.0)));
        assert_eq!((s.dropping, s.drop_next), (false, 0.2), "the drop at 200 ms was due then, and none after it");
        assert!(!dropped(&law, &mut s, &head(0.3, 0.02, 20.0)));
        assert!(!dropped(&law, &mut s, &head(0.399, 0.02, 20.0)));
        assert!(dropped(&law, &mut s, &head(0.4, 0.02, 20.0)));
    }

    /// Section 4.1: a single packet behind the head, however late, is no standing queue.
    #[test]
    fn a_last_packet_is_spared() {
        let (law, mut s) = (codel(), codel().initial_state());
        assert!((0..5000).all(|ms| !dropped(&law, &mut s, &head(f64::from(ms) * 1e-3, 1.0, 1.0))));
        assert!((5000..9000).any(|ms| dropped(&law, &mut s, &head(f64::from(ms) * 1e-3, 1.0, 1.1))));
    }

    /// Section 5.5: dropping that begins again within 16 intervals begins at the rate it had reached, later
    /// at the slowest.
    #[test]
    fn dropping_resumes_where_it_ended() {
        for (pause_ms, resumes) in [(200, true), (1400, true), (1700, false)] {
            let (law, mut s) = (codel(), codel().initial_state());
            let before = drops_until(&law, &mut s, 1, 1000).len() as u32;
            dropped(&law, &mut s, &head(1.0, 0.0, 0.0));
            let after = drops_until(&law, &mut s, 1000 + pause_ms, 1102 + pause_ms);
            assert_eq!(after.len(), 1, "{pause_ms}");
            assert_eq!(s.count, if resumes { before - 1 } else { 1 }, "{pause_ms}");
        }
    }
}
