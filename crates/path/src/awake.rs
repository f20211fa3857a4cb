//! Processors that do not halt while a path carries.
//!
//! An idle processor halts. A virtual one then goes back to its host, and returns when the host has time: up to milliseconds
//! after a packet or the end of a sleep. A processor that runs anything at all stays. So a thread of the kernel's idle class
//! runs on each: it has the time that nobody else wants, and any other thread takes its place at once.

use std::hint::spin_loop;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use penstock_machine::scheduling::Scheduling;

const THIS_THREAD: Pid = Pid::from_raw(0);
/// Passes between two calls of the scheduler. Without these calls, others of the idle class would share the processor equally.
const PASSES: u32 = 256;

/// Keeps processors from halting, until it is dropped.
#[derive(Debug)]
pub(super) struct Awake {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Awake {
    /// Every processor that this process may use.
    ///
    /// # Errors
    /// Where there is no thread to be had, or the kernel does not name the processors.
    pub(super) fn keep() -> io::Result<Self> {
        let all = sched_getaffinity(THIS_THREAD)?;
        let mut awake = Self { stop: Arc::new(AtomicBool::new(false)), threads: Vec::new() };
        for number in (0..CpuSet::count()).filter(|number| all.is_set(*number).unwrap_or(false)) {
            let stop = Arc::clone(&awake.stop);
            let thread = thread::Builder::new().name("penstock-awake".to_owned());
            awake.threads.push(thread.spawn(move || stay(number, &stop))?);
        }
        Ok(awake)
    }

    /// Processors that it keeps from halting.
    pub(super) fn processors(&self) -> u64 {
        self.threads.iter().filter(|thread| !thread.is_finished()).count() as u64
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // One that panicked has let its processor halt, which is all that it can break.
            drop(thread.join());
        }
    }
}

/// Runs on this processor until told to stop. A thread that is not of the idle class would keep others from it, so it ends.
fn stay(number: usize, stop: &AtomicBool) {
    let mut this = CpuSet::new();
    let set = this.set(number).and_then(|()| sched_setaffinity(THIS_THREAD, &this));
    if set.is_err() || Scheduling::Idle.take().is_err() {
        return;
    }
    while !stop.load(Ordering::Relaxed) {
        (0..PASSES).for_each(|_| spin_loop());
        thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use penstock_machine::clock::{Clock, duration};

    use super::*;

    /// The scheduling class of each thread with that name: field 41 of proc_pid_stat(5).
    fn classes() -> Vec<String> {
        let threads = fs::read_dir("/proc/self/task")
            .unwrap()
            .filter_map(|task| fs::read_to_string(task.ok()?.path().join("stat")).ok());
        let of = |stat: String| {
            let (name, rest) = stat.rsplit_once(')')?;
            name.ends_with("(penstock-awake").then(|| rest.split_whitespace().nth(38).map(str::to_owned)).flatten()
        };
        threads.filter_map(of).collect()
    }

    /// Waits for these classes. The kernel tells of a thread's end before it takes the thread from /proc.
    fn until(expected: &[&str]) {
        let clock = Clock::start();
        while classes() != expected {
            assert!(duration(clock.now()) < Duration::from_secs(10), "{:?}, not {expected:?}", classes());
            thread::yield_now();
        }
    }

    #[test]
    fn every_processor_has_a_thread_of_the_idle_class_until_it_ends() {
        const SCHED_IDLE: &str = "5";
        let processors = thread::available_parallelism().unwrap().get();
        let awake = Awake::keep().unwrap();
        until(&vec![SCHED_IDLE; processors]);
        assert_eq!(awake.processors(), processors as u64);
        drop(awake);
        until(&[]);
    }
}
