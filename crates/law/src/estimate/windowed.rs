//! The smallest and the largest of recent samples.

use crate::number::Number;

/// The smallest sample of a window of time, which starts over when the smallest has not been met for so long: the
/// filter of draft-ietf-ccwg-bbr for the round-trip time.
///
/// It keeps one sample and its time, so it does not know the second smallest. After a restart it has the sample that restarted
/// it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowedMin<N> {
    least: Option<N>,
    at: N,
}

impl<N: Number> WindowedMin<N> {
    /// Takes in a sample at `now` [s]; true if it is the smallest now, or the window is over and it starts the next. One that is
    /// as small does not count as new.
    #[inline]
    pub fn take(&mut self, now: N, sample: N, window: N) -> bool {
        let news = self.least.is_none_or(|least| sample < least) || self.is_over(now, window);
        if news {
            (self.least, self.at) = (Some(sample), now);
        }
        news
    }

    /// True if the smallest sample is older than the window [s].
    #[inline]
    pub fn is_over(&self, now: N, window: N) -> bool {
        self.least.is_some() && now - self.at > window
    }

    /// The smallest sample; none before the first.
    #[inline]
    pub fn get(&self) -> Option<N> {
        self.least
    }

    /// As if the smallest had just been met again.
    pub fn renew(&mut self, now: N) {
        self.at = now;
    }
}

impl<N: Number> Default for WindowedMin<N> {
    fn default() -> Self {
        Self { least: None, at: N::of(0.0) }
    }
}

/// The largest sample of the last turns, such as round trips, which are numbered. Exact while a window has at most `K` turns:
/// of each turn at most one sample can still become the largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowedMax<N, const K: usize> {
    /// Turns and samples, from the largest and oldest to the newest.
    kept: [(u64, N); K],
    len: usize,
}

impl<N: Number, const K: usize> WindowedMax<N, K> {
    /// Takes in a sample of a turn that is not before the last one, and forgets turns that are `window` or more behind.
    #[inline]
    pub fn take(&mut self, turn: u64, sample: N, window: u64) {
        if self.len > 0 && turn - self.kept[0].0 >= window {
            self.forget(turn, window);
        }
        while self.len > 0 && self.kept[self.len - 1].1 <= sample {
            self.len -= 1;
        }
        let same_turn = self.len > 0 && self.kept[self.len - 1].0 == turn;
        // What is smaller and no newer is never the largest.
        if !same_turn && self.len < K {
            self.kept[self.len] = (turn, sample);
            self.len += 1;
        }
    }

    /// Forgets turns that are `window` or more behind.
    pub fn forget(&mut self, turn: u64, window: u64) {
        let over = self.kept[..self.len].iter().take_while(|(at, _)| turn - at >= window).count();
        if over > 0 {
            self.kept.copy_within(over..self.len, 0);
            self.len -= over;
        }
    }

    /// The largest; zero where there is none.
    #[inline]
    pub fn get(&self) -> N {
        if self.len == 0 { N::of(0.0) } else { self.kept[0].1 }
    }

    /// Nothing is known.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}

impl<N: Number, const K: usize> Default for WindowedMax<N, K> {
    fn default() -> Self {
        Self { kept: [(0, N::of(0.0)); K], len: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// The smallest stays for the window, as small a sample renews it, and then the next one replaces it, whatever it is.
    #[test]
    fn the_smallest_starts_over_when_it_is_old() {
        let mut least = WindowedMin::default();
        let samples = [(0.0, 5.0), (1.0, 3.0), (9.0, 4.0), (10.0, 3.0), (11.0, 8.0), (11.5, 7.0), (12.0, 9.0)];
        let seen: Vec<_> = samples.map(|(now, x): (f64, f64)| (least.take(now, x, 10.0), least.get())).into();
        assert_eq!(
            seen,
            [
                (true, Some(5.0)),
                (true, Some(3.0)),
                (false, Some(3.0)),
                (false, Some(3.0)),
                (false, Some(3.0)),
                (true, Some(7.0)),
                (false, Some(7.0))
            ]
        );
        assert!(least.is_over(22.0, 10.0) && !least.is_over(21.5, 10.0));
        least.renew(31.0);
        assert!(!least.is_over(31.0, 10.0));
        assert!(!WindowedMin::<f64>::default().is_over(100.0, 10.0), "nothing is not old");
    }

    /// Against the definition: the largest of all samples of the last ten turns, over samples without a pattern.
    #[test]
    fn the_largest_is_that_of_the_last_turns() {
        let mut largest = WindowedMax::<f64, 10>::default();
        let (mut all, mut draw) = (Vec::new(), 7u64);
        for at in 0..5000u64 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (turn, x) = (at / 3 + if draw >> 60 == 0 { 4 } else { 0 }, (draw >> 40) as f64);
            let turn = all.last().map_or(turn, |(last, _): &(u64, f64)| turn.max(*last));
            all.push((turn, x));
            largest.take(turn, x, 10);
            let should = all.iter().filter(|(t, _)| turn - t < 10).map(|(_, x)| *x).fold(0.0, f64::max);
            assert_eq!(largest.get(), should, "{at}");
        }
        largest.forget(10_000, 10);
        assert_eq!(largest.get(), 0.0);
    }
}
