//! Scheduling of threads, in front of others or after them.

use std::io;

use crate::syscall;

/// The scheduling of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduling {
    /// So much of each period, before everything else (`SCHED_DEADLINE`) [ns].
    Deadline {
        /// Runtime in a period [ns].
        runtime: u64,
        /// The period [ns].
        period: u64,
    },
    /// Before every thread of lower and of no priority (`SCHED_FIFO`), 1 to 99.
    Fifo {
        /// More comes first.
        priority: u32,
    },
    /// After every thread of another kind (`SCHED_IDLE`).
    Idle,
}

impl Scheduling {
    /// Most of a processor: where there is but one, sender and receiver need some of it too.
    pub const MOST: Self = Self::Deadline { runtime: 800_000, period: 1_000_000 };
    /// Before all without a deadline.
    pub const FIRST: Self = Self::Fifo { priority: 50 };

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deadline { .. } => "deadline",
            Self::Fifo { .. } => "fifo",
            Self::Idle => "idle",
        }
    }

    /// Has the calling thread scheduled so.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn take(self) -> io::Result<()> {
        match self {
            Self::Deadline { runtime, period } => syscall::schedule_by_deadline(runtime, period),
            Self::Fifo { priority } => syscall::schedule_first(priority),
            Self::Idle => syscall::schedule_last(),
        }
    }
}

/// The scheduling that a thread may have here: `fifo`, `deadline`. Without either, its work at a given time is milliseconds late on
/// a machine that does anything else.
pub fn allowed() -> Vec<&'static str> {
    // Each on a thread of its own, which has it for as long as it lives.
    let allowed = |how: Scheduling| std::thread::spawn(move || how.take().is_ok()).join().unwrap_or(false);
    [Scheduling::FIRST, Scheduling::MOST].into_iter().filter(|how| allowed(*how)).map(Scheduling::name).collect()
}

/// Puts the calling thread in front of those without priority, for as long as it lives; whether the kernel allows that. For
/// who measures the path from outside.
pub fn prefer_this_thread() -> bool {
    Scheduling::Fifo { priority: 40 }.take().is_ok()
}
