//! The retransmission timer (RFC 6298), in integers.

use penstock_law::quantity::Time;

/// No timeout is longer (RFC 6298, section 2.5, allows a bound of at least 60 s).
const MOST: u64 = 60 * Time::PER_SECOND;
/// Before the first sample (RFC 6298, section 2.1).
const FIRST: u64 = Time::PER_SECOND;

/// It is looked at again after this long at the latest, however short a timeout is allowed.
const LEAST_LOOK: u64 = 1_000_000_000;

/// The retransmission timer of a flow. An acknowledgement moves the deadline and leaves the event on the agenda alone,
/// which looks at the deadline when it comes. A deadline may move closer too, when a sample ends backing off; so the
/// event is never further away than the least timeout, and comes in time for any deadline set after it.
#[derive(Debug)]
pub(crate) struct Timer {
    smoothed: u64,
    variation: u64,
    rto: u64,
    least: u64,
    doublings: u32,
    /// When it expires [ps]; never while nothing is in flight.
    pub(crate) deadline: u64,
    /// Whether an event is on the agenda.
    pub(crate) scheduled: bool,
}

impl Timer {
    pub(crate) fn new(least: Time) -> Self {
        Self {
            smoothed: 0,
            variation: 0,
            rto: FIRST.max(least.0),
            least: least.0,
            doublings: 0,
            deadline: u64::MAX,
            scheduled: false,
        }
    }

    /// A round trip was measured (2.2, 2.3), which ends any backing off.
    #[inline]
    pub(crate) fn sample(&mut self, rtt: u64) {
        if self.smoothed == 0 {
            (self.smoothed, self.variation) = (rtt, rtt / 2);
        } else {
            let off = rtt.abs_diff(self.smoothed);
            self.variation = self.variation - self.variation / 4 + off / 4;
            self.smoothed = self.smoothed - self.smoothed / 8 + rtt / 8;
        }
        self.doublings = 0;
        self.rto = (self.smoothed + 4 * self.variation).min(MOST).max(self.least);
    }

    /// Restarts it at `now` (5.1, 5.3).
    #[inline]
    pub(crate) fn restart(&mut self, now: u64) {
        self.deadline = now.saturating_add((self.rto << self.doublings).min(MOST));
    }

    /// When to look at the deadline next.
    pub(crate) fn look(&self, now: u64) -> u64 {
        self.deadline.min(now.saturating_add(self.least.max(LEAST_LOOK)))
    }

    /// Nothing is in flight (5.2).
    pub(crate) fn stop(&mut self) {
        self.deadline = u64::MAX;
    }

    /// Another connection begins: nothing is known of its path.
    pub(crate) fn restart_connection(&mut self) {
        *self = Self { scheduled: self.scheduled, ..Self::new(Time(self.least)) };
    }

    /// It expired: wait twice as long next time (5.5).
    pub(crate) fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(12);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const MS: u64 = 1_000_000_000;

    /// RFC 6298: the first sample R gives RTO = R + 4 R/2, a steady one lets it fall to the round trip, never below
    /// the least; a timeout doubles it up to 60 s, a sample ends that.
    #[test]
    fn the_timeout_follows_rfc_6298() {
        let mut timer = Timer::new(Time(200 * MS));
        timer.restart(0);
        assert_eq!(timer.deadline, Time::PER_SECOND);
        timer.sample(100 * MS);
        timer.restart(0);
        assert_eq!(timer.deadline, 300 * MS);
        for _ in 0..100 {
            timer.sample(100 * MS);
        }
        timer.restart(0);
        assert_eq!(timer.deadline, 200 * MS);
        timer.back_off();
        timer.restart(0);
        assert_eq!(timer.deadline, 400 * MS);
        for _ in 0..20 {
            timer.back_off();
        }
        timer.restart(0);
        assert_eq!(timer.deadline, MOST);
        assert_eq!(timer.look(0), 200 * MS, "a sample may bring the deadline back to 200 ms");
        timer.sample(100 * MS);
        timer.restart(0);
        assert_eq!(timer.deadline, 200 * MS);
    }
}
