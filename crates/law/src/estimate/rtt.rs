//! Round-trip times: the smallest so far, and an exponential average.

use crate::cc::RttAverage;
use crate::number::Number;

/// The smallest round-trip time so far [s]; none before the first sample. It does not age.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BaseRtt<N>(Option<N>);

impl<N: Number> BaseRtt<N> {
    /// No sample yet.
    pub const UNKNOWN: Self = Self(None);

    /// Takes in a sample [s] and returns the smallest so far [s].
    #[inline]
    pub fn take(&mut self, rtt_s: N) -> N {
        let least = self.0.map_or(rtt_s, |least| least.min(rtt_s));
        self.0 = Some(least);
        least
    }
}

/// The largest round-trip time so far [s]; none before the first sample. It does not age.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MostRtt<N>(Option<N>);

impl<N: Number> MostRtt<N> {
    /// No sample yet.
    pub const UNKNOWN: Self = Self(None);

    /// Takes in a sample [s] and returns the largest so far [s].
    #[inline]
    pub fn take(&mut self, rtt_s: N) -> N {
        let most = self.0.map_or(rtt_s, |most| most.max(rtt_s));
        self.0 = Some(most);
        most
    }
}

/// An exponential average of the round-trip time [s]; the first sample starts it.
///
/// Source: Jin et al., "FAST TCP: From Theory to Experiments", section 4, requires an average without giving it; the
/// weight `min(3/w, 1/4)` is the one the authors described later.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AverageRtt<N>(Option<N>);

impl<N: Number> AverageRtt<N> {
    /// No sample yet.
    pub const UNKNOWN: Self = Self(None);

    /// Takes in a sample [s] under a window [packets] and returns the average [s].
    #[inline]
    pub fn take(&mut self, by: &RttAverage, rtt_s: N, window: N) -> N {
        let average = match self.0 {
            None => rtt_s,
            Some(average) => average + (N::of(by.over_window) / window).min(N::of(by.most)) * (rtt_s - average),
        };
        self.0 = Some(average);
        average
    }

    /// Forgets the average, as after a timeout.
    pub fn forget(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_only_falls() {
        let mut base = BaseRtt::UNKNOWN;
        assert_eq!([0.2, 0.1, 0.3].map(|r: f64| base.take(r)), [0.2, 0.1, 0.1]);
    }

    #[test]
    fn the_largest_only_rises() {
        let mut most = MostRtt::UNKNOWN;
        assert_eq!([0.2, 0.1, 0.3, 0.2].map(|r: f64| most.take(r)), [0.2, 0.2, 0.3, 0.3]);
    }

    /// A constant input is a fixed point, and a step is approached with the declared weight.
    #[test]
    fn the_average_steps_by_its_weight() {
        let by = RttAverage { over_window: 3.0, most: 0.25 };
        let mut average = AverageRtt::UNKNOWN;
        assert_eq!(average.take(&by, 0.1, 6.0), 0.1);
        assert_eq!(average.take(&by, 0.1, 6.0), 0.1);
        assert!((average.take(&by, 0.2, 6.0) - 0.125).abs() < 1e-12, "weight 1/4 below 12 packets");
        assert!((average.take(&by, 0.225, 300.0) - 0.126).abs() < 1e-12, "weight 3/300");
        average.forget();
        assert_eq!(average.take(&by, 0.5, 300.0), 0.5);
    }
}
