//! What a run cost: wall time, processor time of its thread, and memory. The only place that reads a clock; worlds
//! have none, so that nothing in them can depend on it.
#![allow(clippy::disallowed_types, reason = "wall time belongs to the command line, and here it is measured")]

use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};
use penstock_scenario::summary::Engine;

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

    /// What it cost so far, in words.
    pub(crate) fn told(&self) -> String {
        let memory = peak_memory().map(|bytes| format!(", {} MB of memory at most", bytes / 1_000_000));
        format!("took {:.2} s{}", self.wall_s(), memory.unwrap_or_default())
    }

    /// Fills in what the run cost. Processor time is this thread's, so that cells beside it do not count.
    pub(crate) fn read(&self, engine: &mut Engine) {
        engine.wall_s = self.wall_s();
        engine.cpu_s = thread_time().saturating_sub(self.cpu).as_secs_f64();
        engine.packets_per_cpu_s = if engine.cpu_s > 0.0 { engine.packets as f64 / engine.cpu_s } else { 0.0 };
        engine.peak_memory_bytes = peak_memory();
    }
}

fn thread_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
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
        let mut engine = Engine { packets: 1000, ..Engine::default() };
        meter.read(&mut engine);
        assert!(engine.cpu_s >= 0.02 && engine.wall_s >= engine.cpu_s * 0.5, "{engine:?}");
        assert!(engine.packets_per_cpu_s > 0.0 && engine.packets_per_cpu_s <= 1000.0 / 0.02);
        assert!(engine.peak_memory_bytes.is_some_and(|bytes| bytes > 100_000), "{engine:?}");
    }
}
