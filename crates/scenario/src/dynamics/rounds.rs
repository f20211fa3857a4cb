//! Samples, and which of them belong to a span.

use std::ops::Range;

use penstock_law::quantity::Time;

/// The rounds of a window of means: the K of RFC 7928, section 2.7.
pub const WINDOW: usize = 10;

/// Traffic of a link in one round. Single precision, since a run keeps all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LinkRound {
    /// The least queueing delay in the round: of a packet, or of one that would have come at its end [s].
    pub least_s: f32,
    /// The largest one of a packet, or the same where no packet has one [s].
    pub largest_s: f32,
    /// The mean over packets [s].
    pub mean_s: f32,
    /// The same in packets.
    pub packets: u32,
    /// Packets that arrived, those refused too.
    pub arrivals: u32,
    /// Packets refused by a full buffer or the AQM, or lost on the line.
    pub drops: u32,
    /// Bits that left.
    pub bits: f32,
    /// Bits that could have left.
    pub capacity_bits: f32,
}

/// Behaviour of a flow in one round.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FlowRound {
    /// User data that the receiver did not have yet, in order or not [B].
    pub arrived_bytes: f32,
    /// Data packets sent.
    pub sent: u32,
    /// Data packets lost.
    pub lost: u32,
}

/// The rounds that lie wholly between two times, of `count` from time zero on, and how long after `from` the first begins.
pub fn rounds_within(round: Time, (from, to): (Time, Time), count: usize) -> (Range<usize>, Time) {
    let first = (from.0.div_ceil(round.0) as usize).min(count);
    let last = ((to.0 / round.0) as usize).min(count);
    (first..last.max(first), Time(first as u64 * round.0).since(from))
}

/// Sums of `value` over each `length` successive rows; the first sum begins with the first row, the second with the second.
pub fn windows<T>(rows: &[T], length: usize, value: impl Fn(&T) -> f64) -> Vec<f64> {
    let sum = |window: &[T]| window.iter().map(&value).sum();
    rows.windows(length.max(1)).map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_the_rounds_that_lie_wholly_in_it() {
        let ms = |ms: u64| Time(ms * 1_000_000_000);
        let within = |from, to, count| rounds_within(ms(40), (ms(from), ms(to)), count);
        assert_eq!(within(0, 400, 10), (0..10, ms(0)));
        assert_eq!(within(50, 210, 10), (2..5, ms(30)));
        assert_eq!(within(50, 210, 4), (2..4, ms(30)));
        assert_eq!(within(50, 79, 10), (2..2, ms(30)), "none");
        assert_eq!(within(900, 990, 10).0, 10..10, "after the last");
    }

    #[test]
    fn windows_slide_by_a_row() {
        assert_eq!(windows(&[1.0, 2.0, 4.0, 8.0], 3, |x| *x), [7.0, 14.0]);
        assert!(windows(&[1.0], 3, |x| *x).is_empty());
    }
}
