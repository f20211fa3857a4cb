//! Which processor the path has for itself.
//!
//! While much is under way its thread does not sleep, and other threads of its processor do not run, or keep the path from
//! looking: at 1 Gbit/s a millisecond is 83 packets. So it moves to one, and programs at the ends keep to the others. A slower
//! path mostly sleeps, and is looked after sooner by whichever processor is free.

use std::io;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use penstock_law::quantity::Rate;

/// The processors that this process may use, shared out.
#[derive(Debug, Clone)]
pub(super) struct Processors {
    all: CpuSet,
    path: CpuSet,
    ends: CpuSet,
}

const THIS_THREAD: Pid = Pid::from_raw(0);
/// From this rate of the fastest link on. On two processors, turn by turn with FAST, 99 % of the packets were less late without
/// one of its own at 100 Mbit/s (165 us to 1.2 ms for 314 us to 7.8 ms), there was no telling at 200 and 400, and at 1 Gbit/s a
/// deadline is gaps (`super::attention`).
const FAST: Rate = Rate(300_000_000);

impl Processors {
    /// None for a slow path, and where there is only one processor, or more than a set has space for.
    pub(super) fn shared_out(rate: Rate) -> Option<Self> {
        if rate < FAST {
            return None;
        }
        Self::of(sched_getaffinity(THIS_THREAD).ok()?).ok()?
    }

    fn of(all: CpuSet) -> nix::Result<Option<Self>> {
        let among = |number: &usize| all.is_set(*number).unwrap_or(false);
        let mut numbers = (0..CpuSet::count()).rev().filter(among);
        // The first ones have most of the interrupts.
        let (Some(last), Some(_)) = (numbers.next(), numbers.next()) else { return Ok(None) };
        let (mut path, mut ends) = (CpuSet::new(), all);
        path.set(last)?;
        ends.unset(last)?;
        Ok(Some(Self { all, path, ends }))
    }

    /// Keeps this thread on the path's.
    pub(super) fn keep_to_path(&self) -> io::Result<()> {
        Ok(sched_setaffinity(THIS_THREAD, &self.path)?)
    }

    /// Lets this thread run on all of them.
    pub(super) fn keep_to_none(&self) -> io::Result<()> {
        Ok(sched_setaffinity(THIS_THREAD, &self.all)?)
    }

    /// Keeps this thread, and its children, off the path's.
    pub(super) fn keep_to_ends(&self) -> io::Result<()> {
        Ok(sched_setaffinity(THIS_THREAD, &self.ends)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_has_one_processor_and_the_ends_the_others() {
        let mut all = CpuSet::new();
        assert!(Processors::of(all).unwrap().is_none());
        all.set(3).unwrap();
        assert!(Processors::of(all).unwrap().is_none(), "one is shared");
        all.set(5).unwrap();
        all.set(1).unwrap();
        let shared = Processors::of(all).unwrap().unwrap();
        let numbers = |set: &CpuSet| (0..8).filter(|n| set.is_set(*n).unwrap()).collect::<Vec<_>>();
        assert_eq!((numbers(&shared.path), numbers(&shared.ends)), (vec![5], vec![1, 3]));
    }

    #[test]
    fn threads_move() {
        assert!(Processors::shared_out(Rate(FAST.0 - 1)).is_none());
        let Some(shared) = Processors::shared_out(FAST) else { return };
        std::thread::spawn(move || {
            shared.keep_to_ends().unwrap();
            assert_eq!(sched_getaffinity(THIS_THREAD).unwrap(), shared.ends);
            shared.keep_to_path().unwrap();
            assert_eq!(sched_getaffinity(THIS_THREAD).unwrap(), shared.path);
            shared.keep_to_none().unwrap();
            assert_eq!(sched_getaffinity(THIS_THREAD).unwrap(), shared.all);
        })
        .join()
        .unwrap();
    }
}
