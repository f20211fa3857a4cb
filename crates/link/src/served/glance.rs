//! What has passed the queues, without the books of a span.

use penstock_law::quantity::Time;

use super::Served;
use crate::account::Glance;
use crate::histogram::Extent;

impl<P: Copy> Served<P> {
    /// From now on [`Served::glance`] tells of waiting times.
    pub(crate) fn watch(&mut self) {
        self.account.by_wait.watch();
    }

    /// What has passed up to `now`, and the waiting times since this was last asked.
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
}
