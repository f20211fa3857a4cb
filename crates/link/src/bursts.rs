//! Losses that come in bursts.

/// A line that loses every packet while it is bad and none while it is good: the two-state chain of E. N. Gilbert,
/// "Capacity of a Burst-Noise Channel", 1960, stepped by packets. In the long run a given share of packets is lost, in bursts
/// whose length is geometric.
///
/// ```
/// let mut bursts = penstock_link::Bursts::new(0.01, 5.0);
/// assert!(!bursts.take(0.5), "a line begins good");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Bursts {
    /// The probability that a good line becomes bad, and a bad one good, from one packet to the next.
    begins: f64,
    ends: f64,
    bad: bool,
}

impl Bursts {
    /// A good line that loses `share` of the packets, from 0 to below 1, in bursts of `mean` packets on average, 1 or more.
    ///
    /// Between two bursts one packet at least arrives, so `share` is at most `mean / (mean + 1)`.
    #[must_use]
    pub fn new(share: f64, mean: f64) -> Self {
        Self { begins: share / (mean * (1.0 - share)), ends: 1.0 / mean, bad: false }
    }

    /// Whether the next packet is lost; `coin` is uniform in [0, 1).
    #[inline]
    pub fn take(&mut self, coin: f64) -> bool {
        let turns = if self.bad { self.ends } else { self.begins };
        self.bad ^= coin < turns;
        self.bad
    }
}

#[cfg(test)]
mod tests {
    use penstock_scenario::seed::Seed;

    use super::*;

    /// The share of losses and the mean length of a burst are the configured ones, within four standard errors of a
    /// million packets: bursts are independent, and their length is geometric, of variance m (m - 1).
    #[test]
    fn share_and_mean_length_are_as_asked() {
        for (share, mean) in [(0.01, 5.0), (0.1, 1.5), (0.3, 20.0), (0.5, 1.0)] {
            let (mut bursts, mut coins) = (Bursts::new(share, mean), Seed(1).stream("bursts"));
            let n = 1_000_000;
            let (mut lost, mut begun, mut before) = (0u32, 0u32, false);
            for _ in 0..n {
                let now = bursts.take(coins.unit());
                lost += u32::from(now);
                begun += u32::from(now && !before);
                before = now;
            }
            let (lost, begun, n) = (f64::from(lost), f64::from(begun), f64::from(n));
            let error = 4.0 * (mean * (mean - 1.0) / begun).sqrt();
            assert!((lost / begun - mean).abs() <= error.max(1e-9), "{share}, {mean}: {}", lost / begun);
            // The count of bursts has about the variance of a renewal process, at most that of Poisson's.
            let error = 4.0 * (2.0 * mean / (share * n)).sqrt();
            assert!((lost / n / share - 1.0).abs() <= error, "{share}, {mean}: {}", lost / n);
        }
    }
}
