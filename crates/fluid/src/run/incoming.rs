//! Arrivals at all queues in the steps of a block.

use super::conditioner::Shares;

/// Arrivals at a queue in a step [packets].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Arriving {
    pub(super) packets: f64,
    /// Those that the law drops where it drops anything.
    pub(super) droppable: f64,
    pub(super) by_colour: Shares,
}

impl Arriving {
    /// Adds the arrivals of a cohort without a conditioner.
    #[inline]
    fn add_green(&mut self, packets: f64, droppable: bool) {
        self.packets += packets;
        self.by_colour[0] += packets;
        if droppable {
            self.droppable += packets;
        }
    }

    /// Adds the arrivals of a cohort.
    pub(super) fn add(&mut self, by_colour: Shares, droppable: bool) {
        let packets: f64 = by_colour.iter().sum();
        self.packets += packets;
        for (sum, packets) in self.by_colour.iter_mut().zip(by_colour) {
            *sum += packets;
        }
        if droppable {
            self.droppable += packets;
        }
    }
}

/// Takes the arrivals of cohorts, in their order: sums of numbers depend on it.
pub(super) trait Sink {
    /// Arrivals of a cohort without a conditioner at a link, in that step of the block [packets].
    fn add_green(&mut self, link: usize, slot: usize, packets: f64, droppable: bool);
    /// The same of each colour.
    fn add(&mut self, link: usize, slot: usize, by_colour: Shares, droppable: bool);
}

/// Their sums: by link, then by step of the block.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    steps: usize,
    sums: Vec<Arriving>,
}

impl Incoming {
    /// For so many links, and blocks of so many steps at most.
    pub(super) fn new(links: usize, steps: usize) -> Self {
        Self { steps, sums: vec![Arriving::default(); links * steps] }
    }

    /// Those of a link in a step of the block, and none from then on.
    pub(super) fn take(&mut self, link: usize, slot: usize) -> Arriving {
        core::mem::take(&mut self.sums[link * self.steps + slot])
    }

    /// Adds what was kept, in the order in which it came.
    pub(super) fn add_all(&mut self, kept: &mut Kept) {
        for one in kept.0.drain(..) {
            self.add_green(one.link as usize, one.slot as usize, one.packets, one.droppable);
        }
    }
}

impl Sink for Incoming {
    #[inline]
    fn add_green(&mut self, link: usize, slot: usize, packets: f64, droppable: bool) {
        self.sums[link * self.steps + slot].add_green(packets, droppable);
    }

    fn add(&mut self, link: usize, slot: usize, by_colour: Shares, droppable: bool) {
        self.sums[link * self.steps + slot].add(by_colour, droppable);
    }
}

/// Arrivals that are added later, after those of the cohorts before. None has passed a conditioner.
#[derive(Debug, Default)]
pub(super) struct Kept(Vec<One>);

#[derive(Debug)]
struct One {
    packets: f64,
    link: u32,
    slot: u16,
    droppable: bool,
}

impl Sink for Kept {
    #[inline]
    fn add_green(&mut self, link: usize, slot: usize, packets: f64, droppable: bool) {
        self.0.push(One { packets, link: link as u32, slot: slot as u16, droppable });
    }

    fn add(&mut self, _: usize, _: usize, _: Shares, _: bool) {
        unreachable!("senders behind conditioners are not divided");
    }
}
