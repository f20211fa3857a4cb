//! A link's queue and use over time.

use penstock_law::quantity::Time;

use super::rounds::{LinkRound, WINDOW, windows};

/// Standing queue: the least queueing delay of each [`WINDOW`] successive rounds, averaged [s]. A queue that empties now and
/// then has none.
pub fn standing_queue_s(rounds: &[LinkRound]) -> Option<f64> {
    let least =
        |window: &[LinkRound]| window.iter().map(|round| f64::from(round.least_s)).fold(f64::INFINITY, f64::min);
    let windows = rounds.chunks_exact(WINDOW);
    let count = windows.len() as f64;
    (count > 0.0).then(|| windows.map(least).sum::<f64>() / count)
}

/// Settling time: how long after its start a span has the first round from which on each window of [`WINDOW`] rounds sends
/// `level` (0 to 1) of the link's capacity, until the span ends [s]. None if the last window does not. `offset` is the time
/// from the start of the span to the first round. Capacity lost to an outage counts as sent.
/// (draft-irtf-iccrg-tcpeval, section 5.3, has it for 80 %.)
pub fn settling_s(rounds: &[LinkRound], level: f64, round: Time, offset: Time) -> Option<f64> {
    let bits = windows(rounds, WINDOW, |round| f64::from(round.bits));
    let capacity = windows(rounds, WINDOW, |round| f64::from(round.capacity_bits));
    let below = bits.iter().zip(&capacity).rposition(|(bits, capacity)| *bits < level * capacity);
    let first = below.map_or(0, |at| at + 1);
    (first < bits.len()).then(|| (offset + Time(first as u64 * round.0)).seconds())
}

/// Overshoot: the largest queueing delay of a packet, minus the mean over the packets of the second half [s].
pub fn overshoot_s(rounds: &[LinkRound]) -> Option<f64> {
    let later = &rounds[rounds.len() / 2..];
    let largest = rounds.iter().filter(|round| round.packets > 0).map(|round| f64::from(round.largest_s));
    let any = later.iter().any(|round| round.packets > 0);
    any.then(|| largest.fold(0.0, f64::max) - mean_delay_s(later))
}

/// The mean queueing delay over packets [s]; over rounds where no packet has one.
pub fn mean_delay_s(rounds: &[LinkRound]) -> f64 {
    let any = rounds.iter().any(|round| round.packets > 0);
    let weight = |round: &LinkRound| if any { f64::from(round.packets) } else { 1.0 };
    let sum: f64 = rounds.iter().map(|round| f64::from(round.mean_s) * weight(round)).sum();
    let weights: f64 = rounds.iter().map(weight).sum();
    if weights > 0.0 { sum / weights } else { 0.0 }
}

/// Packets dropped in the rounds that end within `time` of the first one's start.
pub fn drops_within(rounds: &[LinkRound], time: Time, round: Time) -> u64 {
    let count = (time.0 / round.0) as usize;
    rounds.iter().take(count).map(|round| u64::from(round.drops)).sum()
}

/// The most successive intervals of `interval`, to whole rounds, in which more than `share` of the arrivals were dropped. None
/// without one whole interval. (RFC 8084 trips a circuit breaker after several.)
pub fn lossy_intervals(rounds: &[LinkRound], share: f64, interval: Time, round: Time) -> Option<u64> {
    let length = ((interval.0 + round.0 / 2) / round.0).max(1) as usize;
    let lossy = |interval: &[LinkRound]| {
        let sum = |f: fn(&LinkRound) -> u32| interval.iter().map(|round| f64::from(f(round))).sum::<f64>();
        sum(|round| round.drops) > share * sum(|round| round.arrivals)
    };
    let intervals = rounds.chunks_exact(length);
    if intervals.len() == 0 {
        return None;
    }
    let (mut most, mut row) = (0, 0);
    for interval in intervals {
        row = if lossy(interval) { row + 1 } else { 0 };
        most = most.max(row);
    }
    Some(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Time = Time(100_000_000_000);

    fn delays(least_ms: &[f32]) -> Vec<LinkRound> {
        let round = |least: &f32| LinkRound {
            least_s: least * 1e-3,
            largest_s: 1.0,
            mean_s: 0.5,
            packets: 7,
            ..LinkRound::default()
        };
        least_ms.iter().map(round).collect()
    }

    fn near(found: Option<f64>, wanted: f64) {
        assert!(found.is_some_and(|found| (found - wanted).abs() < 1e-6), "{found:?}, not {wanted}");
    }

    /// Two windows with least delays of 2 ms and 6 ms, and a part of a third that does not count.
    #[test]
    fn the_standing_queue_is_the_mean_of_the_least() {
        let mut least = [9.0; 25];
        (least[3], least[19], least[24]) = (2.0, 6.0, 0.0);
        near(standing_queue_s(&delays(&least)), 4e-3);
        assert_eq!(standing_queue_s(&delays(&least[..9])), None);
    }

    fn used(shares: &[f32]) -> Vec<LinkRound> {
        let round = |share: &f32| LinkRound { bits: share * 1000.0, capacity_bits: 1000.0, ..LinkRound::default() };
        shares.iter().map(round).collect()
    }

    /// Nothing for 20 rounds, then everything: the first window with 8 full rounds begins after 18 of them, that with 6 after 16.
    #[test]
    fn settling_begins_with_the_last_window_below() {
        let mut shares = [1.0; 60];
        shares[..20].fill(0.0);
        let settles = |level, offset| settling_s(&used(&shares), level, ROUND, offset);
        near(settles(0.8, Time::ZERO), 1.8);
        near(settles(0.6, Time::ZERO), 1.6);
        near(settles(0.8, Time(50_000_000_000)), 1.85);
        near(settling_s(&used(&[1.0; 30]), 0.9, ROUND, Time::ZERO), 0.0);
    }

    #[test]
    fn a_late_dip_delays_settling_or_undoes_it() {
        let mut shares = [1.0; 60];
        shares[30..33].fill(0.0);
        // Windows that begin in 23..=30 have all three of the empty rounds, and 7 of 10; those at 22 and 31 have two.
        near(settling_s(&used(&shares), 0.8, ROUND, Time::ZERO), 3.1);
        near(settling_s(&used(&shares), 0.7, ROUND, Time::ZERO), 0.0);
        shares[57..].fill(0.0);
        assert_eq!(settling_s(&used(&shares), 0.8, ROUND, Time::ZERO), None);
        assert_eq!(settling_s(&used(&shares[..9]), 0.8, ROUND, Time::ZERO), None, "not one window");
    }

    #[test]
    fn an_outage_is_nobodys_fault() {
        let mut rounds = used(&[1.0; 40]);
        rounds[5..25].fill(LinkRound::default());
        near(settling_s(&rounds, 0.9, ROUND, Time::ZERO), 0.0);
    }

    /// 10 packets at 30 ms and 30 at 10 ms in the second half: a mean of 15 ms, below a largest of 80 ms.
    #[test]
    fn overshoot_is_above_the_later_mean() {
        let round =
            |largest, mean, packets| LinkRound { largest_s: largest, mean_s: mean, packets, ..LinkRound::default() };
        let rounds = [round(0.08, 0.07, 50), round(0.05, 0.04, 50), round(0.04, 0.03, 10), round(0.02, 0.01, 30)];
        near(overshoot_s(&rounds), 0.065);
        assert_eq!(overshoot_s(&[round(0.0, 0.0, 0)]), None);
        assert_eq!(overshoot_s(&[]), None);
    }

    #[test]
    fn the_mean_delay_is_that_of_packets() {
        let round = |mean, packets| LinkRound { mean_s: mean, packets, ..LinkRound::default() };
        near(Some(mean_delay_s(&[round(0.03, 10), round(0.01, 30), round(0.5, 0)])), 0.015);
        near(Some(mean_delay_s(&[round(0.5, 0), round(0.25, 0)])), 0.375);
        near(Some(mean_delay_s(&[])), 0.0);
    }

    fn drops(of_100: &[u32]) -> Vec<LinkRound> {
        of_100.iter().map(|drops| LinkRound { arrivals: 100, drops: *drops, ..LinkRound::default() }).collect()
    }

    #[test]
    fn drops_count_until_a_time() {
        let rounds = drops(&[1, 2, 4, 8]);
        assert_eq!(drops_within(&rounds, Time(250_000_000_000), ROUND), 3);
        assert_eq!(drops_within(&rounds, Time(100 * Time::PER_SECOND), ROUND), 15);
    }

    /// Intervals of two rounds lose 10, 15, 11, 50, 5, 20 %: 10 % is not above 10 %.
    #[test]
    fn lossy_intervals_in_a_row() {
        let rounds = drops(&[20, 0, 15, 15, 12, 10, 0, 100, 5, 5, 20, 20, 99]);
        let two = Time(2 * ROUND.0);
        assert_eq!(lossy_intervals(&rounds, 0.1, two, ROUND), Some(3));
        assert_eq!(lossy_intervals(&rounds, 0.5, two, ROUND), Some(0));
        assert_eq!(lossy_intervals(&rounds[..1], 0.1, two, ROUND), None);
        assert_eq!(lossy_intervals(&rounds, 0.1, Time(1), ROUND), Some(3), "of one round each at least");
    }
}
