//! Packets sent by the ends of the last steps.

use super::arithmetic::{index, number, smaller};

/// The packets that one flow has sent from the start to the end of each of the last steps [packets]. It is a ring whose length is
/// a power of two: the place of a step takes one instruction.
#[derive(Debug)]
pub(super) struct Sent {
    ring: Vec<f64>,
    /// So many steps are kept, the last of them this one.
    len: usize,
    last: usize,
}

impl Sent {
    /// Nothing by the end of step zero.
    pub(super) fn new() -> Self {
        Self { ring: vec![0.0], len: 1, last: 0 }
    }

    fn place(&self, step: usize) -> usize {
        step & (self.ring.len() - 1)
    }

    fn by(&self, step: usize) -> f64 {
        self.ring[self.place(step)]
    }

    /// By the end of the step before the last one by so many.
    pub(super) fn before(&self, steps: usize) -> f64 {
        self.by(self.last - steps)
    }

    /// By `x` steps after the start, straight within each; by the last one at most.
    pub(super) fn at(&self, x: f64) -> f64 {
        let oldest = self.last + 1 - self.len;
        if x <= number(oldest) {
            return if x < 0.0 { 0.0 } else { self.by(oldest) };
        }
        let k = index(x).min(self.last);
        let (a, b) = (self.by(k), self.by((k + 1).min(self.last)));
        a + smaller(x - number(k), 1.0) * (b - a)
    }

    /// One step more. Of the steps kept, at least `keep`, those are forgotten that ended before the last one that ended before
    /// `needed`, counted in steps from the start.
    pub(super) fn push(&mut self, sent: f64, keep: usize, needed: f64) {
        if self.len == self.ring.len() {
            let mut longer = vec![0.0; 2 * self.ring.len()];
            for step in self.last + 1 - self.len..=self.last {
                longer[step & (2 * self.ring.len() - 1)] = self.by(step);
            }
            self.ring = longer;
        }
        self.last += 1;
        self.len += 1;
        let place = self.place(self.last);
        self.ring[place] = sent;
        while self.len > keep && number(self.last + 2 - self.len) < needed - 1.0 {
            self.len -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two packets a step. Three steps are needed for a while, and the ring goes over its own end; then forty, and it grows. What is
    /// kept is what was sent, and before the oldest step that is kept nothing is known but that.
    #[test]
    fn what_is_kept_is_what_was_sent() {
        let mut sent = Sent::new();
        for step in 1..=200_u32 {
            let reach = if step <= 100 { step.min(3) } else { (step - 97).min(40) };
            sent.push(2.0 * f64::from(step), 4, f64::from(step) - if step <= 100 { 3.0 } else { 40.0 });
            for back in 0..reach {
                let x = f64::from(step) - 0.5 - f64::from(back);
                assert_eq!(sent.at(x), 2.0 * x, "{step}, {back} before");
            }
            assert_eq!(sent.before(1), 2.0 * f64::from(step - 1));
            assert_eq!((sent.at(-1.0), sent.at(f64::from(step) + 3.0)), (0.0, 2.0 * f64::from(step)));
        }
        assert_eq!(sent.ring.len(), 64);
        assert_eq!(sent.at(50.0), 2.0 * 158.0, "the oldest");
    }
}
