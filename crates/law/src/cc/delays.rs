//! The queueing delay of LEDBAT: current delay above the smallest of the last minutes.
//!
//! Source: RFC 6817, section 2.4.2 and 2.5: BASE_HISTORY minima, each of a minute, and the least of the last CURRENT_FILTER
//! samples.
//!
//! Not a law: [`ledbat`](super::ledbat) and [`ledbat_pp`](super::ledbat_pp) use it.

use crate::number::Number;

/// BASE_HISTORY: minutes that the base delay is the smallest of.
const MINUTES: usize = 10;
const MINUTE_S: f64 = 60.0;
/// CURRENT_FILTER: samples that the current delay is the smallest of.
const SAMPLES: usize = 4;

/// The measured delays of a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Delays {
    /// Smallest delay of each minute, in a ring; infinite where there is none [s].
    minutes: [f64; MINUTES],
    minute: u64,
    /// The last samples, in a ring [s].
    samples: [f64; SAMPLES],
    next: usize,
    /// The smallest of `minutes` [s].
    base_s: f64,
}

impl Delays {
    /// Nothing measured yet.
    pub(super) const START: Self = Self {
        minutes: [f64::INFINITY; MINUTES],
        minute: 0,
        samples: [f64::INFINITY; SAMPLES],
        next: 0,
        base_s: f64::INFINITY,
    };

    /// A delay was measured [s].
    pub(super) fn take(&mut self, now_s: f64, delay_s: f64) {
        let minute = (now_s / MINUTE_S) as u64;
        if minute > self.minute {
            self.begin(minute);
        }
        let least = &mut self.minutes[minute as usize % MINUTES];
        *least = Number::min(*least, delay_s);
        self.base_s = Number::min(self.base_s, delay_s);
        self.samples[self.next] = delay_s;
        self.next = (self.next + 1) % SAMPLES;
    }

    /// A minute begins, and forgets the one that had its place.
    #[cold]
    fn begin(&mut self, minute: u64) {
        // Minutes in which nothing was heard have no smallest delay.
        for at in self.minute + 1..=minute.min(self.minute + MINUTES as u64) {
            self.minutes[at as usize % MINUTES] = f64::INFINITY;
        }
        self.minute = minute;
        self.base_s = self.minutes.into_iter().fold(f64::INFINITY, Number::min);
    }

    /// The base delay; infinite before the first sample [s].
    pub(super) fn base_s(&self) -> f64 {
        self.base_s
    }

    /// The queueing delay; zero before the first sample [s].
    pub(super) fn queue_s(&self) -> f64 {
        let current = self.samples.into_iter().fold(f64::INFINITY, Number::min);
        if current < f64::INFINITY { current - self.base_s() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A smallest delay counts in its minute and the nine after it.
    #[test]
    fn the_base_is_the_least_of_ten_minutes() {
        let mut delays = Delays::START;
        delays.take(30.0, 0.04);
        for minute in 1..=9 {
            delays.take(f64::from(minute) * 60.0 + 1.0, 0.1);
            assert_eq!(delays.base_s(), 0.04, "{minute}");
        }
        delays.take(601.0, 0.1);
        assert_eq!(delays.base_s(), 0.1);
        delays.take(602.0, 0.07);
        // Twenty minutes of silence.
        delays.take(1900.0, 0.09);
        assert_eq!(delays.base_s(), 0.09);
    }

    /// One short sample of the last four is the current delay.
    #[test]
    fn the_current_delay_is_the_least_of_four() {
        let mut delays = Delays::START;
        assert_eq!(delays.queue_s(), 0.0);
        delays.take(0.0, 0.04);
        for expected in [0.0, 0.0, 0.0, 0.06, 0.06] {
            delays.take(0.0, 0.1);
            assert!((delays.queue_s() - expected).abs() < 1e-12);
        }
    }
}
