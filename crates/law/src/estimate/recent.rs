//! The smallest sample of a time that goes along.
//!
//! Kernel implementation: `bpf/law/recent.h`.

use crate::number::Number;

/// The smallest sample of the last seconds, of a window that may change. It keeps at most `K` samples: one that is larger than the
/// one before, and comes less than a `K - 1`-th of the window after it, lives no longer than that one. So the window is exact but
/// for such a part. The largest sample is the smallest with the other sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecentMin<N, const K: usize> {
    /// Times and samples, from the smallest and oldest to the newest [s].
    kept: [(N, N); K],
    len: usize,
    latest: N,
}

impl<N: Number, const K: usize> RecentMin<N, K> {
    /// Nothing measured yet.
    pub fn nothing() -> Self {
        let zero = N::of(0.0);
        Self { kept: [(zero, zero); K], len: 0, latest: zero }
    }

    /// Takes in a sample at `now_s` [s], and returns the smallest of the last `window_s` [s].
    #[inline]
    pub fn take(&mut self, now_s: N, sample: N, window_s: N) -> N {
        if self.len > 0 && now_s - self.kept[0].0 > window_s {
            self.forget(now_s, window_s);
        }
        while self.len > 0 && self.kept[self.len - 1].1 >= sample {
            self.len -= 1;
        }
        let apart_s = window_s / N::of(Number::max(K as f64 - 1.0, 1.0));
        // A shorter window than before may leave more samples than it has parts.
        if self.len == 0 || (self.len < K && now_s - self.kept[self.len - 1].0 >= apart_s) {
            self.kept[self.len] = (now_s, sample);
            self.len += 1;
        }
        self.latest = sample;
        self.get()
    }

    /// Forgets the samples that are older than the window.
    #[cold]
    fn forget(&mut self, now_s: N, window_s: N) {
        let over = self.kept[..self.len].iter().take_while(|(at, _)| now_s - *at > window_s).count();
        self.kept.copy_within(over..self.len, 0);
        self.len -= over;
    }

    /// The smallest sample, or the latest where none is kept.
    pub fn get(&self) -> N {
        if self.len == 0 { self.latest } else { self.kept[0].1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Against the definition, over samples without a pattern: between the smallest of the whole window and of all but a part
    /// of it.
    #[test]
    fn the_smallest_is_that_of_the_window() {
        const K: usize = 16;
        let (mut least, mut all, mut draw) = (RecentMin::<f64, K>::nothing(), Vec::new(), 7u64);
        for at in 0..5000 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let now_s = f64::from(at) * 0.01;
            // Slow waves, so that long rows rise.
            let sample = 100.0 * libm::sin(now_s * 3.0) + (draw >> 60) as f64;
            let window_s = if at < 2500 { 1.0 } else { 0.37 };
            all.push((now_s, sample));
            let is = least.take(now_s, sample, window_s);
            let of = |span_s: f64| {
                all.iter().filter(|(t, _)| now_s - t <= span_s).map(|(_, x)| *x).fold(f64::INFINITY, f64::min)
            };
            let shorter = window_s * (1.0 - 1.0 / (K as f64 - 1.0)) - 0.01;
            // Samples of the longer window were further apart.
            if (2500..2540).contains(&at) {
                continue;
            }
            assert!(is >= of(window_s) && is <= of(shorter), "{at}: {is}, {} {}", of(window_s), of(shorter));
        }
    }
}
