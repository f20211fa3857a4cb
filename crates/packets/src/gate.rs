//! A gate that threads pass together: none goes on before all have come.
//!
//! Who waits looks for a while, and then sleeps. Where each thread has a processor of its own, looking is faster: to be woken takes longer
//! than most waits, and the two may then share one processor. Where threads share processors, looking keeps the others from their work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Looks at the gate before a thread sleeps, where threads share processors, and where each has its own. The many take a
/// millisecond or less.
const FEW_LOOKS: u32 = 1 << 4;
const MANY_LOOKS: u32 = 1 << 15;

/// Why a gate stays shut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shut {
    /// Nobody wants the run any more.
    Stopped,
    /// One engine has to do it.
    Undecided,
    /// A thread has panicked.
    Broken,
}

/// For a number of threads.
#[derive(Debug)]
pub(crate) struct Gate {
    threads: usize,
    looks: u32,
    here: AtomicUsize,
    /// How often it has opened.
    turn: AtomicUsize,
    /// Zero, or one more than the number of a reason.
    shut: AtomicUsize,
    /// Threads that sleep, or are about to.
    asleep: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

impl Gate {
    pub(crate) fn new(threads: usize) -> Self {
        let zero = || AtomicUsize::new(0);
        let (bed, bell) = (Mutex::new(()), Condvar::new());
        Self { threads, looks: FEW_LOOKS, here: zero(), turn: zero(), shut: zero(), asleep: zero(), bed, bell }
    }

    /// Each thread has a processor of its own.
    pub(crate) fn look_longer(&mut self) {
        self.looks = MANY_LOOKS;
    }

    /// Waits for all others; whether the gate opens.
    pub(crate) fn pass(&self) -> bool {
        let turn = self.turn.load(Ordering::SeqCst);
        if self.here.fetch_add(1, Ordering::SeqCst) + 1 == self.threads {
            self.here.store(0, Ordering::SeqCst);
            self.turn.store(turn.wrapping_add(1), Ordering::SeqCst);
            self.wake();
            return self.is_shut().is_none();
        }
        let waits = || self.turn.load(Ordering::SeqCst) == turn && self.is_shut().is_none();
        for _ in 0..self.looks {
            if !waits() {
                return self.is_shut().is_none();
            }
            std::hint::spin_loop();
        }
        // Who opens or shuts the gate does so before it looks for sleepers, and these are counted before they look again.
        let mut bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while waits() {
            bed = self.bell.wait(bed).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
        self.is_shut().is_none()
    }

    fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst) > 0 {
            let _bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
            self.bell.notify_all();
        }
    }

    /// Nobody passes any more; the first reason counts.
    pub(crate) fn shut(&self, why: Shut) {
        let number = match why {
            Shut::Stopped => 1,
            Shut::Undecided => 2,
            Shut::Broken => 3,
        };
        // Whoever came first has said why.
        let _ = self.shut.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst);
        self.wake();
    }

    pub(crate) fn is_shut(&self) -> Option<Shut> {
        match self.shut.load(Ordering::SeqCst) {
            0 => None,
            1 => Some(Shut::Stopped),
            2 => Some(Shut::Undecided),
            _ => Some(Shut::Broken),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Three threads count rounds: none is ever more than one round ahead of another.
    #[test]
    fn nobody_is_ahead() {
        let (mut gate, rounds) = (Gate::new(3), [const { AtomicUsize::new(0) }; 3]);
        nobody_is_ahead_at(&gate, &rounds, 2000);
        // Where there are fewer processors than threads, each round looks in vain for milliseconds.
        gate.look_longer();
        nobody_is_ahead_at(&gate, &rounds, 400);
    }

    fn nobody_is_ahead_at(gate: &Gate, rounds: &[AtomicUsize; 3], last: usize) {
        thread::scope(|scope| {
            for own in rounds {
                scope.spawn(move || {
                    for round in 0..last {
                        own.store(round, Ordering::Release);
                        assert!(gate.pass());
                        assert!(rounds.iter().all(|other| other.load(Ordering::Acquire).abs_diff(round) <= 1));
                        assert!(gate.pass());
                    }
                });
            }
        });
        assert_eq!(gate.is_shut(), None);
    }

    #[test]
    fn a_shut_gate_lets_nobody_wait() {
        let gate = Gate::new(2);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.pass());
            gate.shut(Shut::Undecided);
            gate.shut(Shut::Stopped);
            assert!(!waiting.join().unwrap());
        });
        assert_eq!(gate.is_shut(), Some(Shut::Undecided));
        assert!(!gate.pass());
    }
}
