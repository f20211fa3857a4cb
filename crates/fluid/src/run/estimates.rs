//! Observations of a cohort's law that no single packet shows: the queue that it requires, and the marks of its last packets.

use std::collections::VecDeque;

use penstock_law::estimate::{BottleneckEstimate, History, Lookback};
use penstock_scenario::model::Group;

use super::queue::Queue;

/// The queue that a law estimates, as it is.
#[derive(Debug, Clone)]
pub(super) struct Estimated {
    /// [packets/s]
    pub(super) capacity: f64,
    /// [packets]
    pub(super) buffer: f64,
    /// Packets committed, queued and in flight, by time.
    committed: History<f64>,
    /// The time back to which a law looks [s], and the packets committed then; zero where nothing is known.
    earlier: (f64, f64),
}

impl Estimated {
    /// The queue that a group's law requires, where it does: that of the slowest line on its way.
    pub(super) fn of(
        name: &str,
        group: &Group,
        required: Option<BottleneckEstimate>,
        links: &[(usize, f64)],
        queues: &[Queue],
    ) -> Result<Option<Self>, String> {
        let (entry, Some(by)) = (group.cc.law, required) else { return Ok(None) };
        let slowest = links.iter().map(|(link, _)| &queues[*link]).min_by(|a, b| a.capacity.total_cmp(&b.capacity));
        let refused =
            |what: &str| Err(format!("the group `{name}` has `{}`, {what}, which fluid does not support", entry.name));
        if by.lookback == Some(Lookback::Acknowledgement) {
            return refused("a derivative over single packets");
        }
        match slowest {
            Some(queue) if queue.buffer().is_finite() => Ok(Some(Self {
                capacity: queue.capacity,
                buffer: queue.buffer(),
                committed: History::new(),
                earlier: (0.0, 0.0),
            })),
            _ => refused("a law that estimates the buffer of its slowest link, and that buffer is unlimited"),
        }
    }

    /// The time back to which a law looks [s], and the packets committed then [packets]; zero where nothing is known.
    pub(super) fn earlier(&self) -> (f64, f64) {
        self.earlier
    }

    /// Looks a round trip back from `now` [s], and records the packets committed now, once there is a measurement.
    pub(super) fn look_back(&mut self, now: f64, rtt_s: f64, committed: Option<f64>) {
        self.earlier = self.committed.earlier(now, rtt_s).unwrap_or((0.0, 0.0));
        if let Some(committed) = committed {
            self.committed.push(now, committed);
        }
    }
}

/// Packets acknowledged and marks among them, counted from the start, as far back as a law reads.
#[derive(Debug, Clone)]
pub(super) struct Register(VecDeque<(f64, f64)>);

impl Register {
    pub(super) fn new() -> Self {
        Self(VecDeque::from([(0.0, 0.0)]))
    }

    /// Takes in that `marks` more were among those acknowledged, `acked` by now, of which the last `reach` are read.
    pub(super) fn take(&mut self, acked: f64, marks: f64, reach: f64) {
        let before = self.0.back().map_or(0.0, |r| r.1);
        self.0.push_back((acked, before + marks));
        while self.0.len() > 2 && self.0[1].0 <= acked - reach {
            self.0.pop_front();
        }
    }

    /// Marks among the last `n` packets acknowledged, over `n`; packets before the first are unmarked.
    pub(super) fn share(&self, n: f64) -> f64 {
        let marks = self.0.back().map_or(0.0, |r| r.1);
        (marks - self.before(n)) / n
    }

    /// Marks up to `n` packets before the newest. The stored ones begin just before them, and so does the search.
    fn before(&self, n: f64) -> f64 {
        let register = &self.0;
        let at = register[register.len() - 1].0 - n;
        if at <= register[0].0 {
            // Before the first packet there were no marks.
            return if register[0].0 > 0.0 { register[0].1 } else { 0.0 };
        }
        let mut k = 1;
        while register[k].0 <= at {
            k += 1;
        }
        let (a, b) = (register[k - 1], register[k]);
        a.1 + (at - a.0) / (b.0 - a.0) * (b.1 - a.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three marks in four packets, then none: the share of the last four falls straight to nothing, and before the
    /// register is full what never came counts as unmarked.
    #[test]
    fn a_share_is_of_the_last_packets_wherever_they_end() {
        let mut register = Register::new();
        register.take(2.0, 1.5, 4.0);
        assert_eq!(register.share(4.0), 1.5 / 4.0);
        register.take(4.0, 1.5, 4.0);
        assert_eq!(register.share(4.0), 0.75);
        for k in 1..=4 {
            register.take(4.0 + f64::from(k), 0.0, 4.0);
            assert!((register.share(4.0) - 0.75 * (1.0 - f64::from(k) / 4.0)).abs() < 1e-12, "{k}");
        }
        assert!(register.0.len() <= 6, "what is not read is forgotten");
    }
}
