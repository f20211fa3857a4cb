//! The way of a cohort's packets: the time of sending, of arrival at each queue, and of acknowledgement.

use std::collections::VecDeque;

use super::conditioner::{Conditioner, GREEN, Shares};
use super::queue::{Queue, index, number};

/// A link on the way.
#[derive(Debug, Clone, Copy)]
struct Hop {
    link: usize,
    /// Propagation over it [s].
    delay_s: f64,
    /// Propagation from the sender to its queue [s].
    offset_s: f64,
    /// When the packet that was followed last arrived at its queue [s].
    entered_s: f64,
    /// When the packet left the sender that arrives at its queue now [s], and how many have arrived [packets].
    left_s: f64,
    arrived: f64,
}

/// A way and the packets on it. Counts are of one flow [packets].
pub(super) struct Way {
    hops: Vec<Hop>,
    /// Without any wait, there and back, and back from the last queue [s].
    pub(super) base_rtt_s: f64,
    back_s: f64,
    flows: f64,
    /// Whether the flows take marks.
    pub(super) marked: bool,
    /// Where its customer enters, in the network's order; none without a contract.
    pub(super) conditioner: Option<usize>,
    /// Whether delays are those of propagation alone.
    pub(super) frozen: bool,
    /// Packets sent by each of the last steps; the newest at the end.
    sent: VecDeque<f64>,
    /// So many are kept in any case.
    keep: usize,
    /// The step that `sent` ends with.
    last: usize,
    /// A step [s], and its reciprocal.
    step: f64,
    steps_a_second: f64,
}

impl Way {
    /// A way over links, each with its propagation delay [s].
    pub(super) fn new(links: impl Iterator<Item = (usize, f64)>, base_rtt_s: f64, flows: f64) -> Self {
        let mut there_s = 0.0;
        let mut hops = Vec::new();
        for (link, delay_s) in links {
            let hop = Hop { link, delay_s, offset_s: there_s, entered_s: 0.0, left_s: f64::NEG_INFINITY, arrived: 0.0 };
            hops.push(hop);
            there_s += delay_s;
        }
        Self {
            hops,
            base_rtt_s,
            back_s: base_rtt_s - there_s,
            flows,
            marked: false,
            conditioner: None,
            frozen: false,
            sent: VecDeque::new(),
            keep: 0,
            last: 0,
            step: 0.0,
            steps_a_second: 0.0,
        }
    }

    pub(super) fn begin(&mut self, step: f64) {
        self.step = step;
        self.steps_a_second = 1.0 / step;
        self.keep = (self.base_rtt_s / step) as usize + 4;
        self.sent.push_back(0.0);
    }

    /// Propagation from the last link's queue back to the sender [s].
    pub(super) fn shortest_way_back_s(&self) -> f64 {
        self.base_rtt_s - self.hops.last().map_or(0.0, |hop| hop.offset_s)
    }

    /// Packets sent by one flow.
    pub(super) fn sent(&self) -> f64 {
        self.sent.back().copied().unwrap_or(0.0)
    }

    /// Packets sent by one flow until `t`.
    pub(super) fn sent_at(&self, t: f64) -> f64 {
        let x = t * self.steps_a_second;
        let oldest = self.last + 1 - self.sent.len();
        if x <= number(oldest) {
            return if x < 0.0 { 0.0 } else { self.sent[0] };
        }
        let k = index(x).min(self.last);
        let a = self.sent[k - oldest];
        let b = self.sent[(k + 1).min(self.last) - oldest];
        a + (x - number(k)).min(1.0) * (b - a)
    }

    /// One step more, by whose end so much has been sent. Packets that left from `left_s` on may still be looked up.
    pub(super) fn send(&mut self, sent: f64, left_s: f64) {
        self.sent.push_back(sent);
        self.last += 1;
        // Waits make the way longer than it was: keep what is not acknowledged yet.
        let oldest_needed = f64::max(left_s, 0.0) * self.steps_a_second;
        while self.sent.len() > self.keep && number(self.last + 2 - self.sent.len()) < oldest_needed - 1.0 {
            self.sent.pop_front();
        }
    }

    /// When the packet left that is acknowledged at `t`, not before `since`; and when it arrived at each queue.
    pub(super) fn acknowledged(&mut self, t: f64, since: f64, queues: &[Queue]) -> f64 {
        self.follow(t - self.back_s, self.hops.len(), since, queues)
    }

    /// Follows the packet that is past the first links, `until` of them, at `t`, back to where it left, not before `since`.
    fn follow(&mut self, t: f64, until: usize, since: f64, queues: &[Queue]) -> f64 {
        let there_s = self.hops[..until].last().map_or(0.0, |hop| hop.offset_s + hop.delay_s);
        let latest = t - there_s;
        if self.frozen {
            for hop in &mut self.hops[..until] {
                hop.entered_s = latest + hop.offset_s;
            }
            return latest;
        }
        if latest <= 0.0 {
            // Nothing was sent then. What would have been finds the queues of those who send already.
            let mut at = latest;
            for hop in &mut self.hops[..until] {
                hop.entered_s = at;
                at += queues[hop.link].wait_s(at) + hop.delay_s;
            }
            return latest;
        }
        let mut at = t;
        for hop in self.hops[..until].iter_mut().rev() {
            at = queues[hop.link].entered(at - hop.delay_s);
            hop.entered_s = at;
        }
        f64::max(at, since.max(0.0)).min(latest)
    }

    /// The signals of the queues of the way to the packet that was followed last, and left at `left_s`: the probabilities that it
    /// is marked, and that it does not arrive. And how long they are, where that has no part in its delay [s].
    pub(super) fn told(&self, left_s: f64, queues: &[Queue], conditioners: &[Conditioner]) -> (f64, f64, f64) {
        let (mut passed, mut unmarked, mut waits_s) = (self.shares_at(left_s, conditioners), 1.0, 0.0);
        for hop in &self.hops {
            let queue = &queues[hop.link];
            let (chance, lost) = queue.chances(hop.entered_s);
            let marks = self.marked && queue.marks();
            if marks {
                unmarked *= 1.0 - chance;
            }
            let dropped = if marks { [0.0; 3] } else { queue.chances_of_colours(chance, hop.entered_s) };
            for (passed, chance) in passed.iter_mut().zip(dropped) {
                *passed *= (1.0 - lost) * (1.0 - chance);
            }
            if self.frozen {
                waits_s += queue.wait_s(hop.entered_s);
            }
        }
        (1.0 - unmarked, 1.0 - passed.iter().sum::<f64>(), waits_s)
    }

    /// The shares of the packets that left at `t`.
    fn shares_at(&self, t: f64, conditioners: &[Conditioner]) -> Shares {
        self.conditioner.map_or(GREEN, |conditioner| conditioners[conditioner].shares_at(t))
    }

    /// Adds the packets of the last step to the entry of its customer.
    pub(super) fn enter(&self, conditioners: &mut [Conditioner]) {
        if let (Some(conditioner), Some(last)) = (self.conditioner, self.sent.len().checked_sub(2)) {
            conditioners[conditioner].incoming += self.flows * (self.sent[last + 1] - self.sent[last]);
        }
    }

    /// Adds arrivals at the first queue in the step that ends at `to`, the one sent last; its index in the block.
    pub(super) fn arrive_first(&mut self, to: f64, slot: usize, queues: &mut [Queue], conditioners: &[Conditioner]) {
        if self.hops.is_empty() {
            return;
        }
        let coloured = self.shares_at(to, conditioners);
        let sent = self.sent();
        let hop = &mut self.hops[0];
        let arrived = f64::max(sent, hop.arrived);
        let packets = self.flows * (arrived - hop.arrived);
        hop.arrived = arrived;
        let queue = &mut queues[hop.link];
        let droppable = !self.marked || !queue.marks();
        queue.arriving(slot).add(coloured.map(|share| packets * share), droppable);
    }

    /// Number of steps for which arrivals at the further queues can be computed before the queues follow: none of these packets
    /// left its queue before within them, and none is lost there by a chance of that moment.
    pub(super) fn onward(&self, queues: &[Queue]) -> u64 {
        let Some((_, before)) = self.hops.split_last() else { return u64::MAX };
        let one = |hop: &Hop| {
            let known = (hop.delay_s * self.steps_a_second * (1.0 + 1e-9)) as u64;
            if queues[hop.link].takes(self.marked) { 1 } else { known }
        };
        before.iter().map(one).min().unwrap_or(u64::MAX)
    }

    /// Adds arrivals at each further queue in the step that ends at `to`; its index in the block.
    pub(super) fn arrive(&mut self, to: f64, slot: usize, queues: &mut [Queue], conditioners: &[Conditioner]) {
        let mut through = [1.0; 3];
        for i in 1..self.hops.len() {
            let queue = &queues[self.hops[i - 1].link];
            if queue.takes(self.marked) {
                // What is dropped or lost at the one before does not arrive.
                let before = to - self.step;
                let (chance, lost) = queue.chances(before);
                let marks = self.marked && queue.marks();
                let dropped = if marks { [0.0; 3] } else { queue.chances_of_colours(chance, before) };
                for (through, chance) in through.iter_mut().zip(dropped) {
                    *through *= (1.0 - lost) * (1.0 - chance);
                }
            }
            let left = self.follow(to, i, self.hops[i].left_s, queues);
            let arrived = self.sent_at(left).max(self.hops[i].arrived);
            let packets = self.flows * (arrived - self.hops[i].arrived);
            let coloured = self.shares_at(left, conditioners);
            let hop = &mut self.hops[i];
            (hop.left_s, hop.arrived) = (left, arrived);
            let queue = &mut queues[hop.link];
            let droppable = !self.marked || !queue.marks();
            queue.arriving(slot).add(core::array::from_fn(|c| packets * coloured[c] * through[c]), droppable);
        }
    }
}
