//! Counters of single queues, where a link has several: two coupled queues, or those of a scheduler.

use indexmap::IndexMap;
use penstock_law::quantity::Time;
use penstock_scenario::summary::QueueSummary;

use crate::histogram::Histogram;

/// Which queues have books of their own. Without names none has, and a packet costs nothing more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueBooks {
    /// Names of the books.
    pub names: Vec<String>,
    /// The index of the book by [`Arrival::book_key`](crate::Arrival::book_key); keys beyond the list, and indices beyond the
    /// names, have none. Without a list the number of the queue counts.
    pub of_key: Option<Vec<u32>>,
}

/// Counters of one queue, or of several that share a book, from the start of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueBook {
    /// Packets that arrived.
    pub(super) arrivals: u64,
    /// Packets that started transmission.
    pub(super) started: u64,
    /// Bytes of those.
    pub(super) bytes: u64,
    /// Packets refused, and packets dropped after they had waited.
    pub(super) drops: u64,
    /// Packets marked.
    pub(super) marks: u64,
    /// Waiting times of those that started [ps].
    waits: u128,
    /// The same by waiting time [ns].
    by_wait: Histogram,
}

/// All books of a link.
#[derive(Debug)]
pub(super) struct Books {
    names: Vec<String>,
    of_key: Option<Vec<u32>>,
    each: Vec<QueueBook>,
}

impl Books {
    pub(super) fn new(QueueBooks { names, of_key }: QueueBooks) -> Self {
        let each = vec![QueueBook::default(); names.len()];
        Self { names, of_key, each }
    }

    /// The book of a packet with that key in that queue.
    #[inline]
    pub(super) fn of(&mut self, queue: u32, key: u32) -> Option<&mut QueueBook> {
        if self.each.is_empty() {
            return None;
        }
        let at = match &self.of_key {
            Some(of_key) => *of_key.get(key as usize)?,
            None => queue,
        };
        self.each.get_mut(at as usize)
    }

    /// The books as they are now.
    pub(super) fn read(&self) -> Vec<QueueBook> {
        self.each.clone()
    }

    /// Differences of two snapshots, by name, of books with any.
    pub(super) fn between(&self, a: &[QueueBook], b: &[QueueBook], seconds: f64) -> IndexMap<String, QueueSummary> {
        let each = self.names.iter().zip(a.iter().zip(b));
        let passed = each.filter(|(_, (a, b))| b.arrivals > a.arrivals || b.started > a.started);
        passed.map(|(name, (a, b))| (name.clone(), b.since(a, seconds))).collect()
    }
}

impl QueueBook {
    /// A packet has waited so long and starts transmission.
    #[inline]
    pub(super) fn waited(&mut self, wait: Time, bytes: u32) {
        self.started += 1;
        self.bytes += u64::from(bytes);
        self.waits += u128::from(wait.0);
        self.by_wait.add(wait.0 / 1000, 1);
    }

    fn since(&self, a: &Self, seconds: f64) -> QueueSummary {
        let started = self.started - a.started;
        QueueSummary {
            throughput_bit_per_s: (self.bytes - a.bytes) as f64 * 8.0 / seconds,
            queueing_delay_mean_s: (started > 0).then(|| (self.waits - a.waits) as f64 * 1e-12 / started as f64),
            queueing_delay_p99_s: self.by_wait.since(&a.by_wait).quantile(0.99).map(|ns| ns * 1e-9),
            arrivals: self.arrivals - a.arrivals,
            departures: started,
            drops: self.drops - a.drops,
            marks: self.marks - a.marks,
        }
    }
}
