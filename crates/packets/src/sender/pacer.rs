//! Pacing by the window: a bucket that fills a quarter faster than a window a smoothed round trip.
//!
//! Source: RFC 9002, section 7.7, with N = 1.25; the size of the bucket, and that the next burst waits until the bucket is full,
//! from the QUIC stack quinn 0.11 (`quinn-proto/src/connection/pacing.rs`).
//! Differs: packets are counted instead of bytes.

use penstock_law::quantity::Time;

/// N of RFC 9002, section 7.7.
const AHEAD: f64 = 1.25;
/// A burst has the packets of this time of a window [ps], and so many at the least and at the most (quinn).
const INTERVAL: f64 = 2e9;
const LEAST: f64 = 10.0;
const MOST: f64 = 256.0;
/// kMinimumWindow of RFC 9002, section 7.2 [packets].
const LEAST_WINDOW: f64 = 2.0;
/// kInitialRtt of RFC 9002, section 6.2.2: the round trip before the first sample [ps].
const INITIAL_RTT: u64 = 333 * Time::PER_SECOND / 1000;

/// The bucket of a flow.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pacer {
    /// Packets that may leave now, and at once.
    tokens: f64,
    capacity: f64,
    /// The window of which that is the capacity.
    window: f64,
    /// When it was filled last [ps].
    filled: u64,
    /// When it is full, if a packet waits for it [ps].
    due: u64,
}

/// The window that a law with a gap leaves, of a round trip [packets]: at most the packets of the gap (Little's law).
pub(crate) fn limit(window: f64, gap_s: f64, rtt: u64) -> f64 {
    let by_gap = if gap_s > 0.0 && rtt > 0 { Time(rtt).seconds() / gap_s } else { f64::INFINITY };
    window.min(by_gap).max(LEAST_WINDOW)
}

impl Pacer {
    /// A full bucket of a flow that starts then.
    pub(crate) fn new(now: u64) -> Self {
        Self { tokens: MOST, capacity: MOST, window: 0.0, filled: now, due: 0 }
    }

    /// When the next packet may leave, if not now. With the smoothed round trip [ps]; zero before the first.
    pub(crate) fn wait(&mut self, window: f64, rtt: u64, now: u64) -> Option<u64> {
        let rtt = if rtt == 0 { INITIAL_RTT } else { rtt } as f64;
        if window != self.window {
            self.window = window;
            self.capacity = (window * INTERVAL / rtt).clamp(LEAST, MOST);
            self.tokens = self.tokens.min(self.capacity);
        }
        self.due = 0;
        if self.tokens >= 1.0 {
            return None;
        }
        let fills = AHEAD * window / rtt;
        self.tokens = (self.tokens + fills * (now - self.filled) as f64).min(self.capacity);
        self.filled = now;
        if self.tokens >= 1.0 {
            return None;
        }
        // A picosecond at the least, so that time goes on.
        self.due = now.saturating_add((((self.capacity - self.tokens) / fills) as u64).max(1));
        Some(self.due)
    }

    /// A packet left.
    pub(crate) fn sent(&mut self) {
        self.tokens = (self.tokens - 1.0).max(0.0);
    }

    /// When to ask again, if the time for which a packet waited was put off.
    pub(crate) fn put_off(&self, now: u64) -> Option<u64> {
        (self.due > now).then_some(self.due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const MS: u64 = 1_000_000_000;

    /// Packets that leave at these moments.
    fn leave(pacer: &mut Pacer, window: f64, rtt: u64, now: u64) -> (u32, Option<u64>) {
        let mut sent = 0;
        loop {
            if let Some(due) = pacer.wait(window, rtt, now) {
                return (sent, Some(due));
            }
            pacer.sent();
            sent += 1;
            if sent == 1000 {
                return (sent, None);
            }
        }
    }

    /// By hand: 100 packets in 40 ms are 10 in a burst, the least, and 1.25 of it are 3.125 a millisecond: the bucket is full
    /// after 3.2 ms. Who asks after 1 ms gets three, and then the bucket, with an eighth in it, is full 3.16 ms later.
    #[test]
    fn a_burst_is_of_two_milliseconds_and_the_rate_a_quarter_more_than_the_window() {
        let mut pacer = Pacer::new(0);
        assert_eq!(leave(&mut pacer, 100.0, 40 * MS, 0), (10, Some(3_200_000_000)));
        assert_eq!(pacer.put_off(MS), Some(3_200_000_000));
        assert_eq!(leave(&mut pacer, 100.0, 40 * MS, MS), (3, Some(MS + 3_160_000_000)));
        assert_eq!(leave(&mut pacer, 100.0, 40 * MS, MS + 3_160_000_000).0, 10);
        // 1000 packets in 40 ms: 50 in 2 ms. And never more than 256, nor what a silence would add.
        let mut pacer = Pacer::new(0);
        assert_eq!(leave(&mut pacer, 1000.0, 40 * MS, 0).0, 50);
        assert_eq!(leave(&mut pacer, 1000.0, 40 * MS, 4000 * MS).0, 50);
        assert_eq!(leave(&mut Pacer::new(0), 1e5, 40 * MS, 0).0, 256);
        // Before a sample the round trip is a third of a second: the initial window, and then a burst of ten after 8/10 of it.
        assert_eq!(leave(&mut Pacer::new(0), 10.0, 0, 0), (10, Some(266_400_000_000)));
    }

    /// A flow that starts late has one full bucket, as one that starts at once.
    #[test]
    fn a_late_start_changes_nothing() {
        for start in [0, 5000 * MS] {
            assert_eq!(leave(&mut Pacer::new(start), 100.0, 40 * MS, start), (10, Some(start + 3_200_000_000)));
        }
    }

    #[test]
    fn a_gap_makes_the_window_less() {
        assert_eq!(limit(100.0, 0.0, 40 * MS), 100.0);
        assert_eq!(limit(100.0, 1e-3, 40 * MS), 40.0);
        assert_eq!(limit(100.0, 1e-3, 0), 100.0);
        assert_eq!(limit(1.0, 0.0, 40 * MS), 2.0);
    }
}
