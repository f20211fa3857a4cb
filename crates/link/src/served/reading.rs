//! Reading of the queues: counters, histograms, books, and the observables of the law.

use indexmap::IndexMap;
use penstock_law::quantity::Time;
use penstock_scenario::summary::QueueSummary;

use super::Served;
use super::books::{QueueBook, QueueCounters};
use crate::account::{Counters, Glance};
use crate::histogram::{Extent, Histogram};

impl<P: Copy> Served<P> {
    /// From now on [`Served::glance`] returns waiting times.
    pub(crate) fn watch(&mut self) {
        self.account.by_wait.watch();
    }

    /// Counters up to `now`, and the waiting times since the last call.
    pub(crate) fn glance(&mut self, now: Time) -> (Glance, Extent) {
        let in_service = if self.free > now { u64::from(self.in_service) } else { 0 };
        let oldest = self.queues.iter().filter_map(|queue| self.store.head(&queue.list)).map(|held| held.arrival).min();
        let glance = Glance {
            arrivals: self.account.counters.arrivals,
            drops: self.account.counters.drops + self.account.counters.lost,
            departed_bytes: self.started_bytes - in_service,
            delay: match oldest {
                Some(arrival) => Some(now.since(arrival)),
                None if self.free == Time::NEVER => None,
                None => Some(self.free.since(now)),
            },
        };
        (glance, self.account.by_wait.extent())
    }

    /// Packets that arrived, including those refused.
    pub fn arrivals(&self) -> u64 {
        self.account.counters.arrivals
    }

    /// Time of the law's first probability or price that is no number, if there was one: such a run has no result.
    pub fn unsound(&self) -> Option<Time> {
        self.account.unsound_at()
    }

    /// Names and units of the law's observables, and their values now. Where each queue has an instance: the mean over
    /// the queues in which packets wait; the first one's where none waits.
    /// Where each class has an instance, see [`Served::class_observables`].
    pub fn observables(&mut self) -> Vec<(&'static str, &'static str, f64)> {
        if self.by_class {
            return Vec::new();
        }
        let names = self.law.names();
        let mut sums = vec![0.0; names.len()];
        let mut count = 0.0;
        for instance in 0..self.ears.len() {
            let speaks =
                if self.waiting == 0 || self.shared { instance == 0 } else { !self.queues[instance].list.is_empty() };
            if speaks {
                let mut sum = sums.iter_mut();
                self.law.each(instance, &mut |x| *sum.next().expect("a sum a name") += *x);
                count += 1.0;
            }
        }
        names.iter().zip(sums).map(|((name, unit), sum)| (*name, *unit, sum / count)).collect()
    }

    /// Number of classes with an instance of the law; zero where it does not treat classes apart.
    pub fn classes(&self) -> u32 {
        if self.by_class { self.ears.len() as u32 } else { 0 }
    }

    /// Names and units of the law's observables, and their values now, of a class below [`Served::classes`].
    pub fn class_observables(&mut self, class: u32) -> Vec<(&'static str, &'static str, f64)> {
        let mut values = Vec::new();
        self.law.each(class as usize, &mut |x| values.push(*x));
        self.law.names().iter().zip(values).map(|((name, unit), value)| (*name, *unit, value)).collect()
    }

    /// Packets waiting.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Counters up to `now`.
    pub fn read(&mut self, now: Time) -> Counters {
        self.account.integrate(now, self.waiting);
        let in_service = self.free > now;
        let mut c = self.account.counters;
        c.at = now;
        c.departures = c.started - u64::from(in_service);
        c.departed_bytes = self.started_bytes - if in_service { u64::from(self.in_service) } else { 0 };
        if self.needs.tick_s.is_some() {
            // The price in force since the last tick has not been added yet.
            c.price += self.output().price_s * Time(now.0 % self.period.0).seconds();
        }
        c
    }

    /// Time by packets waiting [ps], and packets by waiting time [ns], from the start of the run to the last snapshot.
    pub fn histograms(&self) -> (&Histogram, &Histogram) {
        (&self.account.by_waiting, &self.account.by_wait)
    }

    /// The books of single queues, from the start of the run.
    pub fn books(&self) -> Vec<QueueBook> {
        self.books.read()
    }

    /// The names of those books.
    pub fn book_names(&self) -> &[String] {
        self.books.names()
    }

    /// The counters of those books, which cost less to read.
    pub fn book_counters(&self) -> impl Iterator<Item = QueueCounters> {
        self.books.counters()
    }

    /// Differences of single queues between two snapshots of [`Served::books`], which are so far apart, by name.
    pub fn of_queues(&self, from: &[QueueBook], to: &[QueueBook], seconds: f64) -> IndexMap<String, QueueSummary> {
        self.books.between(from, to, seconds)
    }

    /// Most packets that waited since the last call.
    pub fn most_waiting(&mut self) -> u64 {
        self.account.most_waiting(self.waiting)
    }

    /// Arrivals not accounted for by departures, drops, the queues and the line: zero, or this is broken.
    pub fn unaccounted(&mut self, now: Time) -> i64 {
        let c = self.read(now);
        let in_service = i64::from(self.free > now);
        let held: i64 = self.queues.iter().map(|queue| i64::from(queue.list.packets)).sum();
        c.arrivals as i64 - c.departures as i64 - c.drops as i64 - held - in_service
    }
}
