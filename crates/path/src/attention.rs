//! Scheduling of the path's thread on its processor, and the share that it leaves to others.

use std::io;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use penstock_law::quantity::{Rate, Time};
use penstock_machine::scheduling::Scheduling;

use super::processors::Processors;

/// Puts this thread in front of others; returns its scheduling, and the limits it has to keep to.
///
/// `SCHED_DEADLINE` takes away time that a thread has used beyond its share, but looks only at its ticks, every 4 ms or so: a share
/// of nine tenths is gaps of 0.3 to 2 ms, each 80 packets at 1 Gbit/s and more. And it does not let a thread keep to one processor. So
/// where a fast path has one of its own the thread is under `SCHED_FIFO` there, and pauses by itself before it is made to.
pub(super) fn take_turn(processors: Option<&Processors>) -> io::Result<(&'static str, Option<Ration>)> {
    let first = || Scheduling::FIRST.take().is_ok().then(|| (Scheduling::FIRST.name(), Some(Ration::default())));
    let most = || Scheduling::MOST.take().is_ok().then(|| (Scheduling::MOST.name(), None));
    let taken = match processors {
        Some(processors) => {
            processors.keep_to_path()?;
            let taken = first();
            if taken.is_none() {
                // The kernel gives a deadline to no thread that keeps to one, and one without priority is better off on any.
                processors.keep_to_none()?;
            }
            taken.or_else(most)
        }
        None => most().or_else(first),
    };
    Ok(taken.unwrap_or(("normal", None)))
}

/// Limits of a thread under `SCHED_FIFO` on its processor.
///
/// The kernel stops all of them until the end of a second of which they have used 95 % (`sched_rt_runtime_us`), and its own work
/// on that processor waits as long. Pauses of some 70 us in each millisecond, where it comes to that, are less than that
/// at once.
#[derive(Debug, Default)]
pub(super) struct Ration {
    asked: Time,
    used: Time,
    /// Time that may be used before it pauses; negative: time used too much [ps].
    saved: i64,
}

impl Ration {
    /// Interval of reading its used time from the kernel.
    const EVERY: Time = Time(1_000_000_000);
    /// Unused time is saved up to here: a second has no more than 930 + 10 ms [ps].
    const MOST: i64 = 10_000_000_000;
    const PERCENT: u64 = 93;

    /// Whether to pause now, and how long.
    pub(super) fn rest(&mut self, now: Time) -> Option<Time> {
        if now.since(self.asked) < Self::EVERY {
            return None;
        }
        let used = Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok()?);
        self.rest_after(now, Time(used.as_nanos() as u64 * 1000))
    }

    /// The same, where the thread has used so much since it began.
    fn rest_after(&mut self, now: Time, used: Time) -> Option<Time> {
        let gained = now.since(self.asked).0 / 100 * Self::PERCENT;
        let saved = self.saved + gained as i64 - used.since(self.used).0 as i64;
        (self.asked, self.used, self.saved) = (now, used, saved.min(Self::MOST));
        (saved < 0).then(|| Time(saved.unsigned_abs() / Self::PERCENT * 100))
    }
}

/// From this rate on, with a packet there and one back every 80 us, the thread is hardly ever idle.
const BUSY: Rate = Rate(150_000_000);

/// The time before a deadline from which the thread does not sleep.
///
/// A sleep ends late by the time that the kernel and the processor take to wake: some 20 us after a short one, and several times that
/// where a processor that was idle for milliseconds went to sleep too. Looking in vain uses up the time of the scheduler, so
/// short sleeps have a fixed lead, and long ones, of which few fit into a second, the one that nearly all of the last ones needed.
#[derive(Debug)]
pub(super) struct Lead {
    short: Time,
    long: Time,
}

impl Lead {
    /// From here on a sleep is a long one.
    const LONG: Time = Time(1_000_000_000);
    const LEAST: Time = Time(25_000_000);
    const MOST: Time = Time(400_000_000);
    /// Steps up over steps down, 20, is the number of sleeps of which one ends too late.
    const UP: Time = Time(10_000_000);
    const DOWN: Time = Time(500_000);

    pub(super) fn at(rate: Rate) -> Self {
        Self { short: if rate < BUSY { Self::LEAST } else { Time(5_000_000) }, long: Self::LEAST }
    }

    /// Time before an event due in `wait` from which it is polled for.
    pub(super) fn before(&self, wait: Time) -> Time {
        if wait < Self::LONG { self.short } else { self.long }
    }

    /// The sleep before an event due in `wait` ended so late; zero if a packet ended it.
    pub(super) fn slept(&mut self, wait: Time, late: Time) {
        if wait < Self::LONG || late == Time::ZERO {
            return;
        }
        let long = if late > self.long { self.long + Self::UP } else { self.long.since(Self::DOWN) };
        self.long = long.clamp(Self::LEAST, Self::MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Time {
        Time(us * 1_000_000)
    }

    #[test]
    fn long_sleeps_end_as_early_as_they_have_to() {
        let mut lead = Lead::at(Rate(100_000_000));
        let (short, long) = (us(500), us(10_000));
        assert_eq!((lead.before(short), lead.before(long)), (us(25), us(25)));
        for _ in 0..100 {
            lead.slept(short, us(200));
            lead.slept(long, us(110));
        }
        assert_eq!(lead.before(short), us(25), "of short ones there are many");
        assert!((us(100)..us(120)).contains(&lead.before(long)), "{lead:?}");
        for _ in 0..100 {
            lead.slept(long, Time::ZERO);
        }
        assert!(lead.before(long) > us(100), "a packet that ends a sleep says nothing of the kernel");
        for _ in 0..1000 {
            lead.slept(long, us(1));
        }
        assert_eq!(lead.before(long), us(25));
        for _ in 0..1000 {
            lead.slept(long, us(1_000_000));
        }
        assert_eq!(lead.before(long), us(400), "one who is kept from the processor does not spin for it");
    }

    #[test]
    fn a_thread_that_never_sleeps_rests_before_it_is_made_to() {
        let mut ration = Ration::default();
        // It uses all of the time that it does not rest.
        let (mut now, mut used, mut longest) = (Time::ZERO, Time::ZERO, Time::ZERO);
        while now < us(1_000_000) {
            (now, used) = (now + us(1000), used + us(1000));
            if let Some(rest) = ration.rest_after(now, used) {
                now += rest;
                longest = longest.max(rest);
            }
        }
        assert!((us(930_000)..us(941_000)).contains(&used), "{used}");
        assert!(longest < us(80), "{longest}");
        // One who sleeps for long has no more to use after that.
        ration.rest_after(now + us(500_000), used);
        assert_eq!(ration.saved, Ration::MOST);
        assert_eq!(ration.rest_after(now + us(600_000), used + us(100_000)), None);
    }

    #[test]
    fn the_kernel_says_what_a_thread_has_used() {
        let mut ration = Ration::default();
        assert_eq!(ration.rest(us(10_000)), None);
        assert!(ration.used > Time::ZERO);
        assert_eq!((ration.rest(us(10_500)), ration.asked), (None, us(10_000)), "it is asked once a millisecond");
    }
}
