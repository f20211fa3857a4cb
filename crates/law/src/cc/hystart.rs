//! HyStart++: the end of the first slow start, by a rising round-trip time instead of by losses.
//!
//! Source: RFC 9406, section 4.2, with the constants of section 4.3.
//! Differs: L is 8 packets for a sender that paces as well, since a law does not know; a larger `per_ack` lifts it.
//!
//! Not a law: [`cubic`](super::cubic) uses it while its first slow start lasts.

mod classic;

use crate::number::Number;

pub(super) use classic::Classic;

/// MIN_RTT_THRESH and MAX_RTT_THRESH: bounds on the rise that ends slow start [s].
const THRESHOLD_S: [f64; 2] = [0.004, 0.016];
/// MIN_RTT_DIVISOR: the rise within those bounds, as a part of the last round's smallest round-trip time.
const DIVISOR: f64 = 8.0;
/// N_RTT_SAMPLE: samples that make a round's smallest round-trip time count.
const SAMPLES: u32 = 8;
/// CSS_GROWTH_DIVISOR: how much slower Conservative Slow Start grows.
const CONSERVATIVE_DIVISOR: f64 = 4.0;
/// CSS_ROUNDS: rounds that Conservative Slow Start lasts.
const CONSERVATIVE_ROUNDS: u32 = 5;
/// L: the largest growth of the window for one acknowledgement [packets].
pub(super) const PER_ACK: u32 = 8;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// Slow start as always.
    Standard,
    /// Conservative Slow Start: grows slower, and looks whether the rise was real.
    Conservative { baseline_s: f64, rounds: u32 },
    /// Slow start has ended, and later ones are standard.
    Over,
}

/// One flow's first slow start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct HyStart {
    phase: Phase,
    /// lastRoundMinRTT and currentRoundMinRTT; infinite without a sample [s].
    last_s: f64,
    current_s: f64,
    /// rttSampleCount
    samples: u32,
}

impl HyStart {
    /// Nothing measured yet.
    pub(super) const START: Self =
        Self { phase: Phase::Standard, last_s: f64::INFINITY, current_s: f64::INFINITY, samples: 0 };

    /// For a sender that does without.
    pub(super) const OVER: Self = Self { phase: Phase::Over, ..Self::START };

    /// True while it still watches.
    pub(super) fn watches(&self) -> bool {
        self.phase != Phase::Over
    }

    /// The present divisor of slow start's growth.
    pub(super) fn divisor(&self) -> f64 {
        if let Phase::Conservative { .. } = self.phase { CONSERVATIVE_DIVISOR } else { 1.0 }
    }

    /// An acknowledgement in slow start brought a sample of the round-trip time [s].
    pub(super) fn sample(&mut self, rtt_s: f64) {
        self.current_s = Number::min(self.current_s, rtt_s);
        self.samples += 1;
        if self.samples < SAMPLES {
            return;
        }
        match self.phase {
            Phase::Standard if self.last_s < f64::INFINITY => {
                let rise_s = Number::clamp(self.last_s / DIVISOR, THRESHOLD_S[0], THRESHOLD_S[1]);
                if self.current_s >= self.last_s + rise_s {
                    self.phase = Phase::Conservative { baseline_s: self.current_s, rounds: 0 };
                }
            }
            // The rise was a passing one.
            Phase::Conservative { baseline_s, .. } if self.current_s < baseline_s => self.phase = Phase::Standard,
            _ => {}
        }
    }

    /// A round ended in slow start; true where slow start ends with it.
    pub(super) fn round(&mut self) -> bool {
        self.last_s = self.current_s;
        self.current_s = f64::INFINITY;
        self.samples = 0;
        // The round in which the rise was seen counts, though only a part of it was conservative.
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1;
            if *rounds == CONSERVATIVE_ROUNDS {
                self.phase = Phase::Over;
                return true;
            }
        }
        false
    }

    /// Slow start ended by a congestion event or a timeout.
    pub(super) fn stop(&mut self) {
        self.phase = Phase::Over;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round of `samples` samples of `rtt_s`; what slow start's growth was divided by at its end, and whether it ended.
    fn round(hystart: &mut HyStart, samples: u32, rtt_s: f64) -> (f64, bool) {
        for _ in 0..samples {
            hystart.sample(rtt_s);
        }
        (hystart.divisor(), hystart.round())
    }

    /// The rise that counts is an eighth of the round trip, between 4 and 16 ms.
    #[test]
    fn the_threshold_is_an_eighth_within_its_bounds() {
        for (rtt_s, threshold_s) in [(0.008, 0.004), (0.08, 0.01), (1.0, 0.016)] {
            for (rise_s, divisor) in [(threshold_s - 1e-6, 1.0), (threshold_s + 1e-6, 4.0)] {
                let mut hystart = HyStart::START;
                round(&mut hystart, 10, rtt_s);
                assert_eq!(round(&mut hystart, 10, rtt_s + rise_s).0, divisor, "{rtt_s} + {rise_s}");
            }
        }
    }

    /// Fewer than eight samples are no round.
    #[test]
    fn eight_samples_make_a_round() {
        for (samples, divisor) in [(7, 1.0), (8, 4.0)] {
            let mut hystart = HyStart::START;
            round(&mut hystart, 4, 0.04);
            assert_eq!(round(&mut hystart, samples, 0.2).0, divisor);
        }
    }

    /// Conservative Slow Start lasts five rounds, the one of the rise included, if the delay stays.
    #[test]
    fn a_rise_that_stays_ends_slow_start_after_five_rounds() {
        let mut hystart = HyStart::START;
        round(&mut hystart, 10, 0.04);
        let ends = [0.05, 0.06, 0.07, 0.08, 0.09].map(|rtt_s| round(&mut hystart, 10, rtt_s).1);
        assert_eq!(ends, [false, false, false, false, true]);
        assert!(!hystart.watches());
    }

    /// A round trip below the baseline of the rise shows that it was spurious: slow start resumes, and may end again.
    #[test]
    fn a_rise_that_passes_lets_slow_start_resume() {
        let mut hystart = HyStart::START;
        round(&mut hystart, 10, 0.04);
        assert_eq!(round(&mut hystart, 10, 0.05), (4.0, false));
        assert_eq!(round(&mut hystart, 10, 0.041), (1.0, false));
        for _ in 0..20 {
            assert_eq!(round(&mut hystart, 10, 0.041), (1.0, false));
        }
        assert_eq!(round(&mut hystart, 10, 0.05).0, 4.0);
    }
}
