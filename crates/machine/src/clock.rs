//! The clock of a run: the machine's, from the start of the run on.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use penstock_law::quantity::Time;

/// Counts from its making on.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start_ns: u64,
}

fn monotonic_ns() -> u64 {
    // Such a clock is there on every Linux, and 584 years fit.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |time| Duration::from(time).as_nanos() as u64)
}

impl Clock {
    /// From now on.
    pub fn start() -> Self {
        Self { start_ns: monotonic_ns() }
    }

    /// From a little later on; until then it stands at zero.
    pub fn start_in(delay: Duration) -> Self {
        Self { start_ns: monotonic_ns() + delay.as_nanos() as u64 }
    }

    /// Time since then.
    #[inline]
    pub fn now(&self) -> Time {
        Time(monotonic_ns().saturating_sub(self.start_ns).saturating_mul(1000))
    }

    /// Time zero as the standard library has it.
    #[expect(clippy::disallowed_types, reason = "this is the machine's clock")]
    pub fn start_instant(&self) -> std::time::Instant {
        let (now, at_ns) = (std::time::Instant::now(), monotonic_ns());
        let ahead = Duration::from_nanos(self.start_ns.saturating_sub(at_ns));
        let behind = Duration::from_nanos(at_ns.saturating_sub(self.start_ns));
        now.checked_sub(behind).unwrap_or(now) + ahead
    }

    /// Sleeps until time zero, if that is still to come.
    pub fn sleep_until_start(&self) {
        std::thread::sleep(Duration::from_nanos(self.start_ns.saturating_sub(monotonic_ns())));
    }

    /// Sleeps until a moment, if that is still to come.
    pub fn sleep_until(&self, moment: Time) {
        let wait = moment.since(self.now());
        if wait > Time::ZERO {
            std::thread::sleep(duration(wait));
        }
    }
}

/// A span as the standard library has it.
pub fn duration(span: Time) -> Duration {
    Duration::from_nanos(span.0 / 1000)
}
