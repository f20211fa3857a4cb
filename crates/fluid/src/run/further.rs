//! Arrivals at the queues behind the first ones.
//!
//! They follow the queues before every few steps, for all cohorts. So what they need lies next to each other, apart from the rest
//! of a cohort, which is used once in a block of steps.

use core::array;

use super::arithmetic::larger;
use super::conditioner::{Conditioner, Shares};
use super::incoming::Sink;
use super::queue::Queue;
use super::way::{Way, Ways};

/// So many arrivals before its own, the packets of one are prefetched: an arrival takes a fifth of the time of memory.
const AHEAD: usize = 8;

/// A cohort's arrivals at a queue behind its first one.
#[derive(Debug)]
struct Arrivals {
    cohort: usize,
    link: usize,
    /// Where the links before it are among those of all ways.
    first: usize,
    end: usize,
    /// When the packet left the sender that arrives now [s], and how many of one flow have arrived [packets].
    left_s: f64,
    arrived: f64,
    flows: f64,
    marked: bool,
    conditioner: Option<usize>,
}

/// All of them, in the order of cohorts and of links on a way.
#[derive(Debug, Default)]
pub(super) struct Further {
    arrivals: Vec<Arrivals>,
    /// Links before others, with their delay [s].
    feeding: Vec<(usize, f64)>,
    /// Of these, when the packets came to their queue that are behind them at the ends of some steps [s]: by link, then by step.
    entered_s: Vec<f64>,
    /// The next of the arrivals.
    next: usize,
}

impl Further {
    /// Those of ways.
    pub(super) fn of<'a>(ways: &Ways, all: impl Iterator<Item = &'a Way>, links: usize) -> Self {
        let mut feeding = vec![None; links];
        let mut arrivals = Vec::new();
        for way in all {
            let hops = way.hops(ways);
            for (at, pair) in hops.windows(2).enumerate() {
                let first = way.places().start;
                feeding[pair[0].link] = Some((pair[0].link, pair[0].delay_s));
                arrivals.push(Arrivals {
                    cohort: way.cohort,
                    link: pair[1].link,
                    first,
                    end: first + at + 1,
                    left_s: f64::NEG_INFINITY,
                    arrived: 0.0,
                    flows: way.flows,
                    marked: way.marked,
                    conditioner: way.conditioner,
                });
            }
        }
        Self { arrivals, feeding: feeding.into_iter().flatten().collect(), ..Self::default() }
    }

    /// Number of arrivals in a step.
    pub(super) fn len(&self) -> usize {
        self.arrivals.len()
    }

    /// Begins with the steps that end at these times.
    pub(super) fn begin(&mut self, ends: &[f64], queues: &[Queue]) {
        self.next = 0;
        // The same of all cohorts that come from that link.
        self.entered_s.resize(queues.len() * ends.len(), 0.0);
        for (link, delay_s) in &self.feeding {
            let row = &mut self.entered_s[link * ends.len()..][..ends.len()];
            for (entered_s, to) in row.iter_mut().zip(ends) {
                *entered_s = queues[*link].entered(to - delay_s);
            }
        }
    }

    /// Adds arrivals of all cohorts in these steps; the first one's index in the block.
    pub(super) fn arrive(
        &mut self,
        (ends, slot): (&[f64], usize),
        ways: &Ways,
        queues: &[Queue],
        conditioners: &[Conditioner],
        sink: &mut impl Sink,
    ) {
        while let Some(next) = self.arrivals.get(self.next) {
            self.arrive_of(next.cohort, (ends, slot), ways, queues, conditioners, sink);
        }
    }

    /// The same of one cohort, the next one that has any.
    pub(super) fn arrive_of(
        &mut self,
        cohort: usize,
        (ends, slot): (&[f64], usize),
        ways: &Ways,
        queues: &[Queue],
        conditioners: &[Conditioner],
        sink: &mut impl Sink,
    ) {
        let count = self.arrivals[self.next..].iter().take_while(|one| one.cohort == cohort).count();
        for next in self.next + AHEAD..self.next + AHEAD + count {
            if let Some(next) = self.arrivals.get(next) {
                ways.sent.fetch(next.cohort, next.left_s * ways.steps_a_second);
            }
        }
        let arrivals = &mut self.arrivals[self.next..self.next + count];
        for (k, to) in ends.iter().enumerate() {
            let mut through = [1.0; 3];
            for one in &mut *arrivals {
                let hops = &ways.hops[one.first..one.end];
                let before = hops[hops.len() - 1].link;
                one.lose(&queues[before], to - ways.step, &mut through);
                let entered_s = self.entered_s[before * ends.len() + k];
                let packets = one.come(ways.left(*to, hops, entered_s, one.left_s, queues), ways);
                let droppable = !one.marked || !queues[one.link].marks();
                match one.conditioner {
                    None => sink.add_green(one.link, slot + k, packets * through[0], droppable),
                    Some(conditioner) => {
                        let coloured = conditioners[conditioner].shares_at(one.left_s);
                        sink.add(one.link, slot + k, array::from_fn(|c| packets * coloured[c] * through[c]), droppable);
                    }
                }
            }
        }
        self.next += count;
    }
}

impl Arrivals {
    /// Packets that arrive now, the last of which left the sender at `left_s`.
    fn come(&mut self, left_s: f64, ways: &Ways) -> f64 {
        let arrived = larger(ways.sent.at(self.cohort, left_s * ways.steps_a_second), self.arrived);
        let packets = self.flows * (arrived - self.arrived);
        (self.left_s, self.arrived) = (left_s, arrived);
        packets
    }

    /// Takes away from `through` the shares of each colour that the queue before drops or loses of packets that come `before`.
    fn lose(&self, queue: &Queue, before: f64, through: &mut Shares) {
        if queue.takes(self.marked) {
            let (_, kept) = queue.keeps(before, self.marked);
            through.iter_mut().zip(kept).for_each(|(through, kept)| *through *= kept);
        }
    }
}
