//! The way of a cohort's packets: the time of sending, of arrival at each queue, and of acknowledgement.

use super::STEPS_IN_A_ROW;
use super::arithmetic::{larger, smaller};
use super::conditioner::{Conditioner, GREEN};
use super::queue::Queue;
use super::sent::Sent;

/// A value for each of some steps in a row.
type Row = [f64; STEPS_IN_A_ROW];

/// The signals of a path at the ends of some steps in a row, as they arrive at the sender. And the place to compute them.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// When the packets left that are acknowledged then [s].
    pub(super) left_s: Row,
    /// How many packets had been sent then [packets].
    pub(super) acked: Row,
    /// Their round trips [s], and the probabilities that they were marked, and that they did not arrive.
    pub(super) rtt_s: Row,
    pub(super) marked: Row,
    pub(super) lost: Row,
    /// When they came to each queue of the way [s].
    entered_s: Vec<Row>,
    /// The probabilities that packets of each colour arrived.
    arrived: [Row; 3],
}

/// A link on the way.
#[derive(Debug, Clone, Copy)]
struct Hop {
    link: usize,
    /// Propagation over it [s].
    delay_s: f64,
    /// Propagation from the sender to its queue [s].
    offset_s: f64,
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
    sent: Sent,
    /// So many steps of it are kept in any case.
    keep: usize,
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
            let hop = Hop { link, delay_s, offset_s: there_s, left_s: f64::NEG_INFINITY, arrived: 0.0 };
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
            sent: Sent::new(),
            keep: 0,
            step: 0.0,
            steps_a_second: 0.0,
        }
    }

    pub(super) fn begin(&mut self, step: f64) {
        self.step = step;
        self.steps_a_second = 1.0 / step;
        self.keep = (self.base_rtt_s / step) as usize + 4;
    }

    /// Propagation from the last link's queue back to the sender [s].
    pub(super) fn shortest_way_back_s(&self) -> f64 {
        self.base_rtt_s - self.hops.last().map_or(0.0, |hop| hop.offset_s)
    }

    /// Packets sent by one flow.
    pub(super) fn sent(&self) -> f64 {
        self.sent.before(0)
    }

    /// One step more, by whose end so much has been sent. Packets that left from `left_s` on may still be looked up.
    pub(super) fn send(&mut self, sent: f64, left_s: f64) {
        // Waits make the way longer than it was: keep what is not acknowledged yet.
        self.sent.push(sent, self.keep, larger(left_s, 0.0) * self.steps_a_second);
    }

    /// Propagation from the sender to the end of the first links, `until` of them [s].
    fn there_s(&self, until: usize) -> f64 {
        self.hops[..until].last().map_or(0.0, |hop| hop.offset_s + hop.delay_s)
    }

    /// When the packet left that is past the first links, `until` of them, at `t`, not before `since`.
    fn left(&self, t: f64, until: usize, since: f64, queues: &[Queue]) -> f64 {
        let latest = t - self.there_s(until);
        if self.frozen || latest <= 0.0 {
            return latest;
        }
        let mut at = t;
        for hop in self.hops[..until].iter().rev() {
            at = queues[hop.link].entered(at - hop.delay_s);
        }
        smaller(larger(at, larger(since, 0.0)), latest)
    }

    /// The signals that come back at these times, of packets that left not before `since`. Senders have sent nothing yet that
    /// comes back then, and queues are known for all of it: one link after the other, each for all times.
    pub(super) fn tell(
        &self,
        times: &[f64],
        since: f64,
        queues: &[Queue],
        conditioners: &[Conditioner],
        signals: &mut Signals,
    ) {
        let n = times.len().min(STEPS_IN_A_ROW);
        self.trace(&times[..n], since, queues, signals);
        let Signals { left_s, acked, rtt_s, marked: unmarked, lost: missing, entered_s, arrived } = signals;
        let left_s = &left_s[..n];
        for (acked, left_s) in acked.iter_mut().zip(left_s) {
            *acked = self.sent.at(left_s * self.steps_a_second);
        }
        if let Some(conditioner) = self.conditioner {
            for (k, left_s) in left_s.iter().enumerate() {
                for (arrived, share) in arrived.iter_mut().zip(conditioners[conditioner].shares_at(*left_s)) {
                    arrived[k] = share;
                }
            }
        } else {
            arrived[0][..n].fill(GREEN[0]);
        }
        unmarked[..n].fill(1.0);
        rtt_s[..n].fill(0.0);
        let arrived = &mut arrived[..if self.conditioner.is_some() { 3 } else { 1 }];
        for (hop, entered_s) in self.hops.iter().zip(entered_s.iter()) {
            let (queue, entered_s) = (&queues[hop.link], &entered_s[..n]);
            let marks = self.marked && queue.marks();
            if queue.takes(self.marked) {
                for (k, entered_s) in entered_s.iter().enumerate() {
                    let (chance, lost) = queue.chances(*entered_s);
                    let dropped = if marks { [0.0; 3] } else { queue.chances_of_colours(chance, *entered_s) };
                    for (arrived, chance) in arrived.iter_mut().zip(dropped) {
                        arrived[k] *= (1.0 - lost) * (1.0 - chance);
                    }
                    unmarked[k] *= if marks { 1.0 - chance } else { 1.0 };
                }
            } else if marks {
                for (unmarked, entered_s) in unmarked.iter_mut().zip(entered_s) {
                    *unmarked *= 1.0 - queue.chance(*entered_s);
                }
            }
            if self.frozen {
                // How long queues are has no part in the delay.
                for (waits_s, entered_s) in rtt_s.iter_mut().zip(entered_s) {
                    *waits_s += queue.wait_s(*entered_s);
                }
            }
        }
        for (k, (time, left_s)) in times.iter().zip(left_s).enumerate() {
            rtt_s[k] += time - left_s;
            unmarked[k] = 1.0 - unmarked[k];
            missing[k] = 1.0 - arrived.iter().map(|arrived| arrived[k]).sum::<f64>();
        }
    }

    /// When the packets left that are acknowledged at these times, not before `since`, and when they came to each queue.
    fn trace(&self, times: &[f64], since: f64, queues: &[Queue], signals: &mut Signals) {
        let (n, there_s) = (times.len(), self.there_s(self.hops.len()));
        let Signals { left_s, acked: at, entered_s, .. } = signals;
        let (left_s, at) = (&mut left_s[..n], &mut at[..n]);
        if entered_s.len() < self.hops.len() {
            entered_s.resize(self.hops.len(), Row::default());
        }
        for ((at, left_s), time) in at.iter_mut().zip(left_s.iter_mut()).zip(times) {
            *at = time - self.back_s;
            *left_s = *at - there_s;
        }
        // Nothing was sent then. What would have been finds the queues of those who send already.
        let early = if self.frozen { n } else { left_s.partition_point(|left_s| *left_s <= 0.0) };
        for (k, left_s) in left_s[..early].iter().enumerate() {
            let mut there = *left_s;
            for (hop, entered_s) in self.hops.iter().zip(entered_s.iter_mut()) {
                if self.frozen {
                    entered_s[k] = left_s + hop.offset_s;
                } else {
                    entered_s[k] = there;
                    there += queues[hop.link].wait_s(there) + hop.delay_s;
                }
            }
        }
        for (hop, entered_s) in self.hops.iter().zip(entered_s.iter_mut()).rev() {
            let queue = &queues[hop.link];
            for (at, entered_s) in at.iter_mut().zip(&mut entered_s[..n]).skip(early) {
                *at = queue.entered(*at - hop.delay_s);
                *entered_s = *at;
            }
        }
        let mut since = if early > 0 { left_s[early - 1] } else { since };
        for (left_s, at) in left_s.iter_mut().zip(at.iter()).skip(early) {
            since = smaller(larger(*at, larger(since, 0.0)), *left_s);
            *left_s = since;
        }
    }

    /// Adds the packets of the last step to the entry of its customer.
    pub(super) fn enter(&self, conditioners: &mut [Conditioner]) {
        if let Some(conditioner) = self.conditioner {
            conditioners[conditioner].incoming += self.flows * (self.sent.before(0) - self.sent.before(1));
        }
    }

    /// Adds arrivals at the first queue in the steps that end at these times, the ones sent last; the first one's index in the
    /// block.
    pub(super) fn arrive_first(
        &mut self,
        ends: &[f64],
        slot: usize,
        queues: &mut [Queue],
        conditioners: &[Conditioner],
    ) {
        let Some((hop, _)) = self.hops.split_first_mut() else { return };
        let queue = &mut queues[hop.link];
        let droppable = !self.marked || !queue.marks();
        for (k, to) in ends.iter().enumerate() {
            let arrived = larger(self.sent.before(ends.len() - 1 - k), hop.arrived);
            let packets = self.flows * (arrived - hop.arrived);
            hop.arrived = arrived;
            let arriving = queue.arriving(slot + k);
            match self.conditioner {
                None => arriving.add_green(packets, droppable),
                Some(conditioner) => {
                    let coloured = conditioners[conditioner].shares_at(*to);
                    arriving.add(coloured.map(|share| packets * share), droppable);
                }
            }
        }
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
            let left = self.left(to, i, self.hops[i].left_s, queues);
            let arrived = larger(self.sent.at(left * self.steps_a_second), self.hops[i].arrived);
            let packets = self.flows * (arrived - self.hops[i].arrived);
            let hop = &mut self.hops[i];
            (hop.left_s, hop.arrived) = (left, arrived);
            let queue = &mut queues[hop.link];
            let droppable = !self.marked || !queue.marks();
            let arriving = queue.arriving(slot);
            match self.conditioner {
                None => arriving.add_green(packets * through[0], droppable),
                Some(conditioner) => {
                    let coloured = conditioners[conditioner].shares_at(left);
                    arriving.add(core::array::from_fn(|c| packets * coloured[c] * through[c]), droppable);
                }
            }
        }
    }
}
