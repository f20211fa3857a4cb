//! HyStart as Linux has it: slow start ends at once when a train of acknowledgements lasts as long as the path, or when the
//! round-trip time rises.
//!
//! Source: S. Ha and I. Rhee, "Taming the elephants: New TCP slow start", Computer Networks 55(9), 2011; its form in Linux's
//! `tcp_cubic` (`hystart_update`): half of the smallest round trip for senders that do not pace, no allowance for the delay
//! of acknowledgements beyond `ALLOWANCE_S`, and a threshold of an eighth of it between 4 and 16 ms.
//! Differs: the allowance is fixed, where Linux has the time of 256 KiB at the pacing rate, and a millisecond at the most.

use crate::number::Number;

/// Acknowledgements so close together are of one train: `hystart_ack_delta_us` [s].
const TOGETHER_S: f64 = 0.002;
/// Added to the smallest round trip before it is halved: `hystart_ack_delay` [s].
const ALLOWANCE_S: f64 = 0.001;
/// Samples of a round from which its smallest counts: `HYSTART_MIN_SAMPLES`.
const SAMPLES: u32 = 8;
/// Bounds of the rise that ends slow start: `HYSTART_DELAY_MIN` and `HYSTART_DELAY_MAX` [s].
const RISE_S: [f64; 2] = [0.004, 0.016];
/// Smaller windows are not watched: `hystart_low_window` [packets].
pub(in crate::cc) const LOW_WINDOW: f64 = 16.0;

/// One slow start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::cc) struct Classic {
    /// The start of the round, and the time of the last acknowledgement of its train [s].
    round_s: f64,
    last_s: f64,
    /// The smallest round trip so far, and of this round [s].
    least_s: f64,
    current_s: f64,
    samples: u32,
}

impl Classic {
    pub(in crate::cc) const START: Self =
        Self { round_s: 0.0, last_s: 0.0, least_s: f64::INFINITY, current_s: f64::INFINITY, samples: 0 };

    /// A round began.
    pub(in crate::cc) fn round(&mut self, now_s: f64) {
        (self.round_s, self.last_s) = (now_s, now_s);
        (self.current_s, self.samples) = (f64::INFINITY, 0);
    }

    /// An acknowledgement came with a sample of the round-trip time, where there is one (zero where not), under `window`. True
    /// where slow start ends.
    pub(in crate::cc) fn sample(&mut self, now_s: f64, rtt_s: f64, window: f64) -> bool {
        if rtt_s <= 0.0 {
            return false;
        }
        self.least_s = Number::min(self.least_s, rtt_s);
        if window < LOW_WINDOW {
            return false;
        }
        let mut found = false;
        if now_s - self.last_s <= TOGETHER_S {
            self.last_s = now_s;
            found = 2.0 * (now_s - self.round_s) > self.least_s + ALLOWANCE_S;
        }
        self.current_s = Number::min(self.current_s, rtt_s);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            found |= self.current_s > self.least_s + Number::clamp(self.least_s / 8.0, RISE_S[0], RISE_S[1]);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of 40 ms: a train that lasts 20.5 ms ends slow start, one that breaks off does not; a window below 16 is not
    /// watched.
    #[test]
    fn a_train_as_long_as_half_the_path_ends_slow_start() {
        let lasts = |spacing_s: f64, window: f64| {
            let mut hystart = Classic::START;
            hystart.round(1.0);
            let mut now_s = 1.0;
            while now_s < 1.03 {
                now_s += spacing_s;
                if hystart.sample(now_s, 0.04, window) {
                    return now_s - 1.0;
                }
            }
            f64::INFINITY
        };
        assert!((0.0205..0.0216).contains(&lasts(0.001, 20.0)));
        assert_eq!(lasts(0.0021, 20.0), f64::INFINITY);
        assert_eq!(lasts(0.001, 15.0), f64::INFINITY);
    }

    /// After eight samples of a round the smallest of them counts: 5 ms of 40 are a rise, less is not; of 10 ms it is 4.
    #[test]
    fn a_rise_of_an_eighth_ends_slow_start() {
        for (least_s, rise_s) in [(0.04, 0.005), (0.01, 0.004), (0.4, 0.016)] {
            for (more_s, ends) in [(1e-6, true), (-1e-6, false)] {
                let mut hystart = Classic::START;
                hystart.sample(0.0, least_s, 10.0);
                hystart.round(1.0);
                let mut found = [false; 9];
                for (at, found) in found.iter_mut().enumerate() {
                    *found = hystart.sample(1.1 + 0.01 * at as f64, least_s + rise_s + more_s, 20.0);
                }
                assert!(!found[..8].contains(&true), "{least_s}: too few samples");
                assert_eq!(found[8], ends, "{least_s}");
            }
        }
    }
}
