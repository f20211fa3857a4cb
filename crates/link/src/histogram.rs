//! Weights by value, in buckets whose width grows with the value: exact below 256, within 1/128 above.
//!
//! A queue's histogram is updated twice a packet. This one is an index and an addition; a general library's costs ten
//! times that.

const LINEAR: u64 = 256;
const STEPS: u64 = 128;

/// Weights by value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Empty where it is watched: then every value takes the way of those beyond the end, without another test.
    buckets: Vec<u64>,
    watched: Option<Box<Watched>>,
}

/// The buckets of a histogram that is watched, and the values added since the last call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Watched {
    buckets: Vec<u64>,
    extent: Extent,
}

/// Values added to a histogram in a while, to the last digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The least value; the largest there is where nothing was added.
    pub least: u64,
    /// The largest value.
    pub largest: u64,
    /// The sum of values, each times its weight.
    pub sum: u128,
    /// The weight.
    pub weight: u64,
}

impl Default for Extent {
    fn default() -> Self {
        Self { least: u64::MAX, largest: 0, sum: 0, weight: 0 }
    }
}

impl Extent {
    fn add(&mut self, value: u64, weight: u64) {
        self.least = self.least.min(value);
        self.largest = self.largest.max(value);
        self.sum += u128::from(value) * u128::from(weight);
        self.weight += weight;
    }
}

impl Histogram {
    /// Adds `weight` at `value`.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub fn add(&mut self, value: u64, weight: u64) {
        let at = bucket(value);
        match self.buckets.get_mut(at) {
            Some(bucket) => *bucket += weight,
            None => self.add_beyond(value, weight),
        }
    }

    #[cold]
    fn add_beyond(&mut self, value: u64, weight: u64) {
        let buckets = match &mut self.watched {
            Some(watched) => {
                watched.extent.add(value, weight);
                &mut watched.buckets
            }
            None => &mut self.buckets,
        };
        let at = bucket(value);
        if at >= buckets.len() {
            buckets.resize((at + 1).next_power_of_two(), 0);
        }
        buckets[at] += weight;
    }

    /// From now on [`Histogram::extent`] returns added values. It has nothing yet.
    pub(crate) fn watch(&mut self) {
        let buckets = std::mem::take(&mut self.buckets);
        self.watched.get_or_insert_with(|| Box::new(Watched { buckets, extent: Extent::default() }));
    }

    /// Values added since the last call; nothing where it is not watched.
    pub(crate) fn extent(&mut self) -> Extent {
        self.watched.as_mut().map(|watched| std::mem::take(&mut watched.extent)).unwrap_or_default()
    }

    fn buckets(&self) -> &[u64] {
        self.watched.as_ref().map_or(&self.buckets, |watched| &watched.buckets)
    }

    /// Values added since `earlier` was a copy of this.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |at: usize| earlier.buckets().get(at).copied().unwrap_or(0);
        let buckets = self.buckets().iter().enumerate().map(|(at, w)| w - before(at)).collect();
        Self { buckets, watched: None }
    }

    /// The value that `share` (0 to 1) of the weight does not exceed; none without weight.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let total: u128 = self.buckets().iter().map(|w| u128::from(*w)).sum();
        if total == 0 {
            return None;
        }
        let wanted = share * total as f64;
        let mut sum = 0u128;
        for (at, weight) in self.buckets().iter().enumerate() {
            sum += u128::from(*weight);
            if *weight > 0 && sum as f64 >= wanted {
                return Some(middle(at));
            }
        }
        self.buckets().iter().rposition(|w| *w > 0).map(middle)
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

    /// A histogram that is watched has the same weights, and the added values to the last digit.
    #[test]
    fn watching_changes_no_weight() {
        let (mut plain, mut watched) = (Histogram::default(), Histogram::default());
        watched.watch();
        assert_eq!(watched.extent(), Extent::default());
        for value in [3, 70_001, 0, 1 << 33, 4711] {
            plain.add(value, 2);
            watched.add(value, 2);
        }
        let sum = 2 * (3 + 70_001 + (1 << 33) + 4711);
        assert_eq!(watched.extent(), Extent { least: 0, largest: 1 << 33, sum, weight: 10 });
        let (early_plain, early_watched) = (plain.clone(), watched.clone());
        for value in [70_002, 5000] {
            plain.add(value, 1);
            watched.add(value, 1);
        }
        assert_eq!(watched.extent(), Extent { least: 5000, largest: 70_002, sum: 75_002, weight: 2 });
        assert_eq!(watched.since(&early_watched), plain.since(&early_plain));
        for share in [0.0, 0.2, 0.5, 0.9, 1.0] {
            assert_eq!(watched.quantile(share), plain.quantile(share), "{share}");
        }
        assert_eq!(plain.extent(), Extent::default());
    }
}
