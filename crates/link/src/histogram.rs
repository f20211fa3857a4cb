//! Weights by value, in buckets whose width grows with the value: exact below 256, within 1/128 above.
//!
//! A queue's histogram is updated twice a packet. This one is an index and an addition; a general library's costs ten
//! times that.

const LINEAR: u64 = 256;
const STEPS: u64 = 128;

/// Weights by value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    buckets: Vec<u64>,
}

impl Histogram {
    /// Adds `weight` at `value`.
    #[inline]
    pub fn add(&mut self, value: u64, weight: u64) {
        let at = bucket(value);
        match self.buckets.get_mut(at) {
            Some(bucket) => *bucket += weight,
            None => self.grow(at, weight),
        }
    }

    #[cold]
    fn grow(&mut self, at: usize, weight: u64) {
        self.buckets.resize((at + 1).next_power_of_two(), 0);
        self.buckets[at] = weight;
    }

    /// What was added since `earlier` was a copy of this.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |at: usize| earlier.buckets.get(at).copied().unwrap_or(0);
        Self { buckets: self.buckets.iter().enumerate().map(|(at, w)| w - before(at)).collect() }
    }

    /// The value that `share` (0 to 1) of the weight does not exceed; none without weight.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let total: u128 = self.buckets.iter().map(|w| u128::from(*w)).sum();
        if total == 0 {
            return None;
        }
        let wanted = share * total as f64;
        let mut sum = 0u128;
        for (at, weight) in self.buckets.iter().enumerate() {
            sum += u128::from(*weight);
            if *weight > 0 && sum as f64 >= wanted {
                return Some(middle(at));
            }
        }
        self.buckets.iter().rposition(|w| *w > 0).map(middle)
    }
}

#[inline]
fn bucket(value: u64) -> usize {
    if value < LINEAR {
        return value as usize;
    }
    // The leading eight bits: one set, seven that count.
    let shift = value.ilog2() - 7;
    (LINEAR + u64::from(shift - 1) * STEPS + ((value >> shift) - STEPS)) as usize
}

/// The middle of a bucket.
fn middle(at: usize) -> f64 {
    let at = at as u64;
    if at < LINEAR {
        return at as f64;
    }
    let (shift, step) = ((at - LINEAR) / STEPS + 1, (at - LINEAR) % STEPS);
    ((STEPS + step) as f64 + 0.5) * (1u64 << shift) as f64 - 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_in_its_bucket_within_the_stated_width() {
        for value in (0..100_000).chain([1 << 20, (1 << 40) + 12_345, u64::MAX / 3, u64::MAX]) {
            let middle = middle(bucket(value));
            assert!((middle - value as f64).abs() <= value as f64 / 128.0, "{value} {middle}");
        }
    }

    #[test]
    fn quantiles_of_a_ramp() {
        let mut h = Histogram::default();
        for value in 1..=1000 {
            h.add(value, 2);
        }
        assert_eq!(h.quantile(0.1), Some(100.0));
        assert!((h.quantile(0.99).unwrap() / 990.0 - 1.0).abs() < 0.01);
        let copy = h.clone();
        h.add(5, 7);
        assert_eq!(h.since(&copy).quantile(0.5), Some(5.0));
        assert_eq!(Histogram::default().quantile(0.5), None);
    }
}
