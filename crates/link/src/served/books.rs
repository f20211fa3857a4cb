//! Counters of single queues, where a link has several: two coupled queues, or those of a scheduler.

use indexmap::IndexMap;
use penstock_law::quantity::Time;
use penstock_scenario::summary::QueueSummary;
use penstock_scenario::world::Kind;

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueCounters {
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
}

/// Counters of a book, with the distribution of waiting times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueBook {
    pub(super) counters: QueueCounters,
    /// Packets that started transmission by waiting time [ns].
    by_wait: Histogram,
}

/// Columns of the series of queues, in this order: [`QueueCounters::row`].
pub const QUEUE_COLUMNS: [(&str, Kind); 6] = [
    ("throughput_bit_per_s", Kind::Average),
    ("throughput_packets_per_s", Kind::Average),
    ("queue_packets", Kind::Instant),
    ("queueing_delay_s", Kind::Average),
    ("drops_per_s", Kind::Average),
    ("marks_per_s", Kind::Average),
];

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

    /// Their names.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Their counters as they are now.
    pub(super) fn counters(&self) -> impl Iterator<Item = QueueCounters> {
        self.each.iter().map(|book| book.counters)
    }

    /// Differences of two snapshots, by name, of books with any.
    pub(super) fn between(&self, a: &[QueueBook], b: &[QueueBook], seconds: f64) -> IndexMap<String, QueueSummary> {
        let each = self.names.iter().zip(a.iter().zip(b));
        let passed = each.filter(|(_, (a, b))| {
            let (a, b) = (&a.counters, &b.counters);
            b.arrivals > a.arrivals || b.started > a.started
        });
        passed.map(|(name, (a, b))| (name.clone(), b.since(a, seconds))).collect()
    }
}

impl QueueBook {
    /// A packet has waited so long and starts transmission.
    #[inline]
    pub(super) fn waited(&mut self, wait: Time, bytes: u32) {
        self.counters.started += 1;
        self.counters.bytes += u64::from(bytes);
        self.counters.waits += u128::from(wait.0);
        self.by_wait.add(wait.0 / 1000, 1);
    }

    fn since(&self, a: &Self, seconds: f64) -> QueueSummary {
        let (from, to) = (&a.counters, &self.counters);
        let started = to.started - from.started;
        QueueSummary {
            throughput_bit_per_s: (to.bytes - from.bytes) as f64 * 8.0 / seconds,
            queueing_delay_mean_s: (started > 0).then(|| (to.waits - from.waits) as f64 * 1e-12 / started as f64),
            queueing_delay_p99_s: self.by_wait.since(&a.by_wait).quantile(0.99).map(|ns| ns * 1e-9),
            arrivals: to.arrivals - from.arrivals,
            departures: started,
            drops: to.drops - from.drops,
            marks: to.marks - from.marks,
        }
    }
}

impl QueueCounters {
    /// A row of the series of queues, as [`QUEUE_COLUMNS`] names it: packets between two snapshots, so far apart, and those that
    /// wait at the later one. The delay is NaN where none started transmission.
    pub fn row(&self, before: &Self, seconds: f64) -> [f64; 6] {
        let started = (self.started - before.started) as f64;
        [
            (self.bytes - before.bytes) as f64 * 8.0 / seconds,
            started / seconds,
            (self.arrivals - self.started - self.drops) as f64,
            (self.waits - before.waits) as f64 * 1e-12 / started,
            (self.drops - before.drops) as f64 / seconds,
            (self.marks - before.marks) as f64 / seconds,
        ]
    }
}
