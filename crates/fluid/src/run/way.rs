//! The way of a cohort's packets: the time of sending, of arrival at each queue, and of acknowledgement.

use core::ops::Range;

use super::STEPS_IN_A_ROW;
use super::arithmetic::{larger, smaller};
use super::conditioner::{Conditioner, GREEN};
use super::incoming::Sink;
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

/// A link on a way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hop {
    pub(super) link: usize,
    /// Propagation over it [s].
    pub(super) delay_s: f64,
    /// Propagation from the sender to its queue [s].
    offset_s: f64,
}

/// The links of all ways, and the packets on them.
#[derive(Debug, Default)]
pub(super) struct Ways {
    pub(super) hops: Vec<Hop>,
    pub(super) sent: Sent,
    /// A step [s], and its reciprocal.
    pub(super) step: f64,
    pub(super) steps_a_second: f64,
    /// Whether delays are those of propagation alone.
    pub(super) frozen: bool,
}

impl Ways {
    /// When the packet left that is past the last of the `hops` at `t`, not before `since` [s]; `at`, when it came to the last of
    /// their queues.
    pub(super) fn left(&self, t: f64, hops: &[Hop], at: f64, since: f64, queues: &[Queue]) -> f64 {
        let latest = t - hops.last().map_or(0.0, |hop| hop.offset_s + hop.delay_s);
        if self.frozen || latest <= 0.0 {
            return latest;
        }
        let mut at = at;
        for pair in hops.windows(2).rev() {
            at = queues[pair[0].link].entered(at - pair[0].delay_s);
        }
        smaller(larger(at, larger(since, 0.0)), latest)
    }
}

/// A way and the packets on it. Counts are of one flow [packets].
pub(super) struct Way {
    /// Its links, and its packets.
    hops: Range<usize>,
    pub(super) cohort: usize,
    /// Without any wait, there and back, and back from the last queue [s].
    pub(super) base_rtt_s: f64,
    back_s: f64,
    pub(super) flows: f64,
    /// Packets that have arrived at the first queue.
    arrived: f64,
    /// So many steps of the packets sent are kept in any case.
    keep: usize,
    /// Whether the flows take marks.
    pub(super) marked: bool,
    /// Where its customer enters, in the network's order; none without a contract.
    pub(super) conditioner: Option<usize>,
}

impl Way {
    /// A way over links, each with its propagation delay [s].
    pub(super) fn new(links: &[(usize, f64)], base_rtt_s: f64, flows: f64, ways: &mut Ways) -> Self {
        let (first, mut there_s) = (ways.hops.len(), 0.0);
        for (link, delay_s) in links {
            ways.hops.push(Hop { link: *link, delay_s: *delay_s, offset_s: there_s });
            there_s += delay_s;
        }
        Self {
            hops: first..ways.hops.len(),
            cohort: 0,
            base_rtt_s,
            back_s: base_rtt_s - there_s,
            flows,
            arrived: 0.0,
            keep: 0,
            marked: false,
            conditioner: None,
        }
    }

    /// Makes space for the packets of a round trip without waits.
    pub(super) fn begin(&mut self, ways: &mut Ways) {
        self.keep = (self.base_rtt_s / ways.step) as usize + 4;
        self.cohort = ways.sent.add(self.keep + 1);
    }

    /// Its links.
    pub(super) fn hops<'a>(&self, ways: &'a Ways) -> &'a [Hop] {
        &ways.hops[self.hops.clone()]
    }

    /// The same, as places among those of all ways.
    pub(super) fn places(&self) -> Range<usize> {
        self.hops.clone()
    }

    /// Propagation from the last link's queue back to the sender [s].
    pub(super) fn shortest_way_back_s(&self, ways: &Ways) -> f64 {
        self.base_rtt_s - self.hops(ways).last().map_or(0.0, |hop| hop.offset_s)
    }

    /// One step more, by whose end so much has been sent. Packets that left from `left_s` on may still be looked up.
    pub(super) fn send(&self, sent: f64, left_s: f64, ways: &mut Ways) {
        // Waits make the way longer than it was: keep what is not acknowledged yet.
        ways.sent.push(self.cohort, sent, self.keep, larger(left_s, 0.0) * ways.steps_a_second);
    }

    /// The signals that come back at these times, of packets that left not before `since`. Senders have sent nothing yet that
    /// comes back then, and queues are known for all of it: one link after the other, each for all times.
    pub(super) fn tell(
        &self,
        times: &[f64],
        since: f64,
        ways: &Ways,
        queues: &[Queue],
        conditioners: &[Conditioner],
        signals: &mut Signals,
    ) {
        let n = times.len().min(STEPS_IN_A_ROW);
        let hops = self.hops(ways);
        self.trace(&times[..n], since, ways, queues, signals);
        let Signals { left_s, acked, rtt_s, marked: unmarked, lost: missing, entered_s, arrived } = signals;
        let left_s = &left_s[..n];
        for (acked, left_s) in acked.iter_mut().zip(left_s) {
            *acked = ways.sent.at(self.cohort, left_s * ways.steps_a_second);
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
        for (hop, entered_s) in hops.iter().zip(entered_s.iter()) {
            let (queue, entered_s) = (&queues[hop.link], &entered_s[..n]);
            let marks = self.marked && queue.marks();
            if queue.takes(self.marked) {
                for (k, entered_s) in entered_s.iter().enumerate() {
                    let (chance, kept) = queue.keeps(*entered_s, self.marked);
                    arrived.iter_mut().zip(kept).for_each(|(arrived, kept)| arrived[k] *= kept);
                    unmarked[k] *= if marks { 1.0 - chance } else { 1.0 };
                }
            } else if marks {
                for (unmarked, entered_s) in unmarked.iter_mut().zip(entered_s) {
                    *unmarked *= 1.0 - queue.chance(*entered_s);
                }
            }
            if ways.frozen {
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
    fn trace(&self, times: &[f64], since: f64, ways: &Ways, queues: &[Queue], signals: &mut Signals) {
        let (n, hops) = (times.len(), self.hops(ways));
        let there_s = hops.last().map_or(0.0, |hop| hop.offset_s + hop.delay_s);
        let Signals { left_s, acked: at, entered_s, .. } = signals;
        let (left_s, at) = (&mut left_s[..n], &mut at[..n]);
        if entered_s.len() < hops.len() {
            entered_s.resize(hops.len(), Row::default());
        }
        for ((at, left_s), time) in at.iter_mut().zip(left_s.iter_mut()).zip(times) {
            *at = time - self.back_s;
            *left_s = *at - there_s;
        }
        // Nothing was sent then. What would have been finds the queues of those who send already.
        let early = if ways.frozen { n } else { left_s.partition_point(|left_s| *left_s <= 0.0) };
        for (k, left_s) in left_s[..early].iter().enumerate() {
            let mut there = *left_s;
            for (hop, entered_s) in hops.iter().zip(entered_s.iter_mut()) {
                if ways.frozen {
                    entered_s[k] = left_s + hop.offset_s;
                } else {
                    entered_s[k] = there;
                    there += queues[hop.link].wait_s(there) + hop.delay_s;
                }
            }
        }
        for (hop, entered_s) in hops.iter().zip(entered_s.iter_mut()).rev() {
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
    pub(super) fn enter(&self, ways: &Ways, conditioners: &mut [Conditioner]) {
        if let Some(conditioner) = self.conditioner {
            let sent = |steps| ways.sent.before(self.cohort, steps);
            conditioners[conditioner].incoming += self.flows * (sent(0) - sent(1));
        }
    }

    /// Adds arrivals at the first queue in the steps that end at these times, the ones sent last; the first one's index in the
    /// block.
    pub(super) fn arrive(
        &mut self,
        ends: &[f64],
        slot: usize,
        ways: &Ways,
        queues: &[Queue],
        conditioners: &[Conditioner],
        sink: &mut impl Sink,
    ) {
        let Some(hop) = self.hops(ways).first() else { return };
        let (link, queue) = (hop.link, &queues[hop.link]);
        let droppable = !self.marked || !queue.marks();
        for (k, to) in ends.iter().enumerate() {
            let arrived = larger(ways.sent.before(self.cohort, ends.len() - 1 - k), self.arrived);
            let packets = self.flows * (arrived - self.arrived);
            self.arrived = arrived;
            match self.conditioner {
                None => sink.add_green(link, slot + k, packets, droppable),
                Some(conditioner) => {
                    let coloured = conditioners[conditioner].shares_at(*to);
                    sink.add(link, slot + k, coloured.map(|share| packets * share), droppable);
                }
            }
        }
    }

    /// Number of steps for which arrivals at the further queues can be computed before the queues follow: none of these packets
    /// left its queue before within them, and none is lost there by a chance of that moment.
    pub(super) fn onward(&self, ways: &Ways, queues: &[Queue]) -> u64 {
        let Some((_, before)) = self.hops(ways).split_last() else { return u64::MAX };
        let one = |hop: &Hop| {
            let known = (hop.delay_s * ways.steps_a_second * (1.0 + 1e-9)) as u64;
            if queues[hop.link].takes(self.marked) { 1 } else { known }
        };
        before.iter().map(one).min().unwrap_or(u64::MAX)
    }
}
