//! Accounts of a queue: counts, the queue integrated over time, waiting times.
//!
//! The integral and the waits are measured separately, so that Little's law is a check and not a tautology.

use penstock_law::quantity::Time;

use crate::histogram::Histogram;

/// Counters of a port from the start of the run to a moment. Differences of two are those of the time between.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counters {
    /// The moment.
    pub at: Time,
    /// Packets that arrived.
    pub arrivals: u64,
    /// Packets that left the line's near end.
    pub departures: u64,
    /// Bytes of those.
    pub departed_bytes: u64,
    /// Packets refused, and packets dropped after they had waited.
    pub drops: u64,
    /// Packets lost on the line after they left.
    pub lost: u64,
    /// Packets that the line delivers twice.
    pub duplicated: u64,
    /// Packets marked.
    pub marks: u64,
    /// Packets waiting, integrated over time [packets ps].
    pub waiting: u128,
    /// Their square, integrated over time [packets^2 ps].
    pub waiting_squared: u128,
    /// Waiting times [ps], summed over packets that were accepted ([`Port`](crate::Port)) or that started transmission
    /// ([`Served`](crate::Served)).
    pub waits: u128,
    /// Waiting times, summed over packets that were dropped after they had waited [ps].
    pub waits_in_vain: u128,
    /// Packets that started transmission.
    pub started: u64,
    /// The price, integrated over time [s s].
    pub price: f64,
}

/// Counters of a queue from the start of the run to a moment, and its backlog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Glance {
    /// Packets that arrived.
    pub arrivals: u64,
    /// Packets refused, dropped after they had waited, or lost on the line.
    pub drops: u64,
    /// Bytes that left the line's near end.
    pub departed_bytes: u64,
    /// Waiting time of a packet that came now, where that is known; otherwise the age of the oldest. None where it
    /// would wait for ever.
    pub delay: Option<Time>,
}

/// The books of one port.
#[derive(Debug, Default)]
pub(crate) struct Account {
    pub(crate) counters: Counters,
    pub(crate) by_waiting: Histogram,
    pub(crate) by_wait: Histogram,
    last_change: Time,
    most_waiting: u64,
    /// Time of the law's first output that is no number.
    unsound: Option<Time>,
}

impl Account {
    /// The output of the law is no number, at `now`.
    #[cold]
    pub(crate) fn unsound(&mut self, now: Time) {
        self.unsound.get_or_insert(now);
    }

    /// When it first did.
    pub(crate) fn unsound_at(&self) -> Option<Time> {
        self.unsound
    }

    /// Integrates the queue up to `now`, through which `n` packets waited.
    #[inline]
    pub(crate) fn integrate(&mut self, now: Time, n: u64) {
        let span = (now - self.last_change).0;
        self.last_change = now;
        let c = &mut self.counters;
        // Memory for 2^32 packets is not to be had, so the square fits.
        c.waiting += u128::from(n) * u128::from(span);
        c.waiting_squared += u128::from(n * n) * u128::from(span);
        self.by_waiting.add(n, span);
    }

    /// A packet has waited, or is known to.
    #[inline]
    pub(crate) fn waited(&mut self, wait: Time) {
        self.counters.waits += u128::from(wait.0);
        self.by_wait.add(wait.0 / 1000, 1);
    }

    /// A packet found the line free.
    #[inline]
    pub(crate) fn did_not_wait(&mut self) {
        self.by_wait.add(0, 1);
    }

    /// Now `n` packets wait, one more than before.
    #[inline]
    pub(crate) fn grown_to(&mut self, n: u64) {
        self.most_waiting = self.most_waiting.max(n);
    }

    /// Most packets that waited since the last call, when `n` wait now.
    pub(crate) fn most_waiting(&mut self, n: u64) -> u64 {
        std::mem::replace(&mut self.most_waiting, n)
    }
}
