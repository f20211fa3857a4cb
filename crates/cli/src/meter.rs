//! Cost of a run: wall time, processor time of its threads, and memory. The only module that reads a clock; worlds
//! have none, so that nothing in them can depend on it.
#![allow(clippy::disallowed_types, reason = "wall time belongs to the command line, and here it is measured")]

use std::cell::Cell;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};
use penstock_scenario::summary::Cost;

/// Started with a run, on the thread that runs it.
#[derive(Debug)]
pub(crate) struct Meter {
    wall: Instant,
    cpu: Duration,
}

impl Meter {
    /// Starts counting.
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu: thread_time() }
    }

    /// Wall time since then [s].
    pub(crate) fn wall_s(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// Its cost so far, in words.
    pub(crate) fn told(&self) -> String {
        let memory = peak_memory().map(|bytes| format!(", {} MB of memory at most", bytes / 1_000_000));
        format!("took {:.2} s{}", self.wall_s(), memory.unwrap_or_default())
    }

    /// The cost of a run of so many packets. Processor time is of the run's threads, so that cells beside it do not count.
    pub(crate) fn cost(&self, packets: u64) -> Cost {
        let cpu_s = thread_time().saturating_sub(self.cpu).as_secs_f64();
        Cost {
            format: 1,
            wall_s: self.wall_s(),
            cpu_s,
            packets_per_cpu_s: if cpu_s > 0.0 { packets as f64 / cpu_s } else { 0.0 },
            peak_memory_bytes: peak_memory(),
        }
    }
}

thread_local! {
    /// Processor time of threads that worked for this one.
    static LENT: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Another thread, which is done, worked for this one.
pub(crate) fn lend(time: Duration) {
    LENT.set(LENT.get() + time);
}

/// Processor time of this thread, and of those that worked for it.
pub(crate) fn thread_time() -> Duration {
    let own = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from);
    own + LENT.get()
}

/// The most memory this process held, with everything that ran in it before [B].
fn peak_memory() -> Option<u64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    // Linux counts in KiB, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    u64::try_from(usage.max_rss()).ok().map(|n| n * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time_and_memory() {
        let meter = Meter::start();
        let mut x = 1u64;
        while thread_time() < meter.cpu + Duration::from_millis(20) {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        let cost = meter.cost(1000);
        assert!(cost.cpu_s >= 0.02 && cost.wall_s >= cost.cpu_s * 0.5, "{cost:?}");
        assert!(cost.packets_per_cpu_s > 0.0 && cost.packets_per_cpu_s <= 1000.0 / 0.02);
        assert!(cost.peak_memory_bytes.is_some_and(|bytes| bytes > 100_000), "{cost:?}");
    }
}
