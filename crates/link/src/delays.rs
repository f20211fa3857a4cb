//! Propagation delays that change.

use penstock_law::quantity::Time;
use penstock_scenario::model::Link;

/// A line whose delay changes at given times. A packet has the delay in force when its last bit leaves the near end, and
/// comes out no earlier than the one before it.
#[derive(Debug, Clone)]
pub struct Delays {
    first: Time,
    /// From each of these times on another delay.
    later: Vec<(Time, Time)>,
    /// Number of these that the last packet had come to.
    passed: usize,
    /// When the last packet comes out.
    last: Time,
}

impl Delays {
    /// Those of a scenario's link; none where the delay never changes.
    pub fn of(link: &Link) -> Option<Self> {
        let of = || Self { first: link.delay, later: link.delays.clone(), passed: 0, last: Time::ZERO };
        (!link.delays.is_empty()).then(of)
    }

    /// The delay at the start.
    pub fn first(&self) -> Time {
        self.first
    }

    /// When a packet that leaves at `departure` comes out. Departures do not decrease.
    pub fn pass(&mut self, departure: Time) -> Time {
        while self.later.get(self.passed).is_some_and(|(from, _)| *from <= departure) {
            self.passed += 1;
        }
        let delay = self.passed.checked_sub(1).map_or(self.first, |at| self.later[at].1);
        self.last = self.last.max(departure + delay);
        self.last
    }

    /// By how much the longest delay is longer than the first.
    pub fn longer(link: &Link) -> Time {
        link.delays.iter().map(|(_, delay)| delay.since(link.delay)).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10, 40 and 5 ms: a packet takes the delay in effect when it leaves, and where that falls by 35 ms, those that leave within
    /// 35 ms after come out together with the last one before.
    #[test]
    fn a_packet_has_the_delay_in_force_and_overtakes_none() {
        let ms = |ms: u64| Time(ms * (Time::PER_SECOND / 1000));
        let later = vec![(ms(100), ms(40)), (ms(200), ms(5))];
        let mut delays = Delays { first: ms(10), later, passed: 0, last: Time::ZERO };
        let out: Vec<Time> = [0, 99, 100, 101, 199, 200, 233, 234, 235, 400].map(|at| delays.pass(ms(at))).into();
        assert_eq!(out, [10, 109, 140, 141, 239, 239, 239, 239, 240, 405].map(ms));
    }
}
