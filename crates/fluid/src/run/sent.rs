//! Packets sent by the ends of the last steps.

use prefetch_index::prefetch_index;

use super::arithmetic::{index, number, smaller};

/// The packets that one flow of each cohort has sent from the start to the end of each of the last steps [packets].
///
/// A cohort has a ring whose length is a power of two: the place of a step takes one instruction. The rings of all cohorts are one
/// list, so that a value is one load from memory, and may be prefetched before its cohort is.
#[derive(Debug, Default)]
pub(super) struct Sent {
    rings: Vec<Ring>,
    values: Vec<f64>,
}

/// The last steps of one cohort.
#[derive(Debug, Clone, Copy)]
struct Ring {
    /// Where it begins among the values, and its length less one.
    first: usize,
    mask: usize,
    /// So many steps are kept, the last of them this one.
    len: usize,
    last: usize,
}

impl Ring {
    fn place(&self, step: usize) -> usize {
        self.first + (step & self.mask)
    }

    fn oldest(&self) -> usize {
        self.last + 1 - self.len
    }
}

impl Sent {
    /// One cohort more, with room for so many steps, and nothing sent by the end of step zero. Its number.
    pub(super) fn add(&mut self, steps: usize) -> usize {
        let length = steps.max(1).next_power_of_two();
        let ring = Ring { first: self.values.len(), mask: length - 1, len: 1, last: 0 };
        self.values.resize(ring.first + length, 0.0);
        self.rings.push(ring);
        self.rings.len() - 1
    }

    /// By the end of the step before the last one by so many.
    pub(super) fn before(&self, cohort: usize, steps: usize) -> f64 {
        let ring = &self.rings[cohort];
        self.values[ring.place(ring.last - steps)]
    }

    /// By `x` steps after the start, straight within each; by the last one at most.
    pub(super) fn at(&self, cohort: usize, x: f64) -> f64 {
        let ring = &self.rings[cohort];
        let oldest = ring.oldest();
        if x <= number(oldest) {
            return if x < 0.0 { 0.0 } else { self.values[ring.place(oldest)] };
        }
        let k = index(x).min(ring.last);
        let (a, b) = (self.values[ring.place(k)], self.values[ring.place((k + 1).min(ring.last))]);
        a + smaller(x - number(k), 1.0) * (b - a)
    }

    /// Prefetches the values about `x` steps after the start, if there is such a cohort.
    pub(super) fn fetch(&self, cohort: usize, x: f64) {
        if let Some(ring) = self.rings.get(cohort) {
            prefetch_index(&self.values, ring.place(index(x)));
        }
    }

    /// One step more. Of the steps kept, at least `keep`, those are forgotten that ended before the last one that ended before
    /// `needed`, counted in steps from the start.
    pub(super) fn push(&mut self, cohort: usize, sent: f64, keep: usize, needed: f64) {
        let ring = &mut self.rings[cohort];
        if ring.len > ring.mask {
            *ring = longer(*ring, &mut self.values);
        }
        ring.last += 1;
        ring.len += 1;
        self.values[ring.place(ring.last)] = sent;
        while ring.len > keep && number(ring.last + 2 - ring.len) < needed - 1.0 {
            ring.len -= 1;
        }
    }
}

/// The same steps in a ring of twice the length. The place of the other is not used again.
#[cold]
fn longer(ring: Ring, values: &mut Vec<f64>) -> Ring {
    let longer = Ring { first: values.len(), mask: 2 * ring.mask + 1, ..ring };
    values.resize(longer.first + longer.mask + 1, 0.0);
    for step in ring.oldest()..=ring.last {
        values[longer.place(step)] = values[ring.place(step)];
    }
    longer
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two packets a step. Three steps are needed for a while, and the ring goes over its own end; then forty, and it grows. What is
    /// kept is what was sent, and before the oldest step that is kept nothing is known but that. A cohort beside it sends nothing.
    #[test]
    fn what_is_kept_is_what_was_sent() {
        let mut sent = Sent::default();
        let cohorts = [sent.add(1), sent.add(1)];
        for step in 1..=200_u32 {
            let reach = if step <= 100 { step.min(3) } else { (step - 97).min(40) };
            let needed = f64::from(step) - if step <= 100 { 3.0 } else { 40.0 };
            sent.push(cohorts[0], 2.0 * f64::from(step), 4, needed);
            sent.push(cohorts[1], 0.0, 4, needed);
            for back in 0..reach {
                let x = f64::from(step) - 0.5 - f64::from(back);
                assert_eq!(sent.at(cohorts[0], x), 2.0 * x, "{step}, {back} before");
                assert_eq!(sent.at(cohorts[1], x), 0.0);
            }
            assert_eq!(sent.before(cohorts[0], 1), 2.0 * f64::from(step - 1));
            let ends = (sent.at(cohorts[0], -1.0), sent.at(cohorts[0], f64::from(step) + 3.0));
            assert_eq!(ends, (0.0, 2.0 * f64::from(step)));
        }
        assert_eq!(sent.rings[0].mask + 1, 64);
        assert_eq!(sent.at(cohorts[0], 50.0), 2.0 * 158.0, "the oldest");
    }
}
