//! The bottleneck of a path from a sender's measurements: its capacity from packet pairs, its buffer and its
//! queue from round-trip times.
//!
//! Source: Cavendish, Kuwahara, Kumazoe, Tsuru, Oie, "TCP Congestion Avoidance using Proportional plus Derivative Control",
//! section IV, equations (4) to (6); Kapoor, Chen, Lao, Gerla, Sanadidi, "CapProbe" (SIGCOMM 2004), section 3, for which
//! pair to believe: the one whose two packets together were delayed least.
//! Differs: capacity counts packets a second, where (4) counts bytes of payload; the least delayed is looked for among the
//! latest pairs only, so that another path is noticed; of pairs delayed alike the latest counts.

use alloc::collections::VecDeque;

use crate::number::Number;

/// The required measurements of the bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BottleneckEstimate {
    /// The number of the latest packet pairs that the least delayed is taken from, 1 at least.
    pub pairs: u32,
    /// Which moment [`Observation::earlier`](crate::cc::Observation) refers to.
    pub lookback: Option<Lookback>,
    /// The value that it reports for that moment besides the level.
    pub committed: Committed,
}

/// The count of a flow's own packets, besides those in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// The packets in flight, or those allowed if that was more: the law takes its window for the coming flight.
    Allowed,
    /// The packets in flight once everything had been sent in response: a law of the flight allows much that is not sent.
    Sent,
}

/// Which moment a law looks back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookback {
    /// About one average round trip ago, half of one at the least.
    RoundTrip,
    /// The acknowledgement before.
    Acknowledgement,
}

/// Capacity of the bottleneck from packet pairs, (4): two packets sent back to back leave the slowest line one
/// transmission apart, and if nothing came between them, neither before nor behind it, so do their acknowledgements. Two
/// packets of a longer burst will do as well, with the time between them divided by their distance.
#[derive(Debug, Clone)]
pub struct PacketPairs<N> {
    /// Both round trips added, and the time between the acknowledgements [s], the latest last.
    kept: VecDeque<(N, N)>,
    most: usize,
    least_dispersion_s: N,
}

impl<N: Number> PacketPairs<N> {
    /// No pair yet; the latest `most` will count. Acknowledgements closer than `least_dispersion_s` [s], the time of a
    /// packet on the sender's own line, indicate a queue on the way back: no path is faster than its first line.
    pub fn new(most: u32, least_dispersion_s: N) -> Self {
        Self { kept: VecDeque::new(), most: most.max(1) as usize, least_dispersion_s }
    }

    /// Takes in a pair, by the sum of its round trips [s] and the time between its acknowledgements [s].
    pub fn take(&mut self, delays_s: N, dispersion_s: N) {
        if dispersion_s > N::of(0.0) && dispersion_s >= self.least_dispersion_s {
            if self.kept.len() == self.most {
                self.kept.pop_front();
            }
            self.kept.push_back((delays_s, dispersion_s));
        }
    }

    /// The capacity [packets/s]; none before the first pair.
    pub fn capacity(&self) -> Option<N> {
        let mut kept = self.kept.iter();
        let first = *kept.next()?;
        let (_, dispersion_s) = kept.fold(first, |best, pair| if pair.0 <= best.0 { *pair } else { best });
        Some(N::of(1.0) / dispersion_s)
    }
}

/// Size of the buffer [packets] on a line of `capacity` [packets/s], (5): the excess of the longest round trip over
/// the shortest. True once a packet has found the last free slot, too small until then.
pub fn buffer_size<N: Number>(capacity: N, most_rtt_s: N, least_rtt_s: N) -> N {
    capacity * (most_rtt_s - least_rtt_s)
}

/// Packets in the buffer of a line of `capacity` [packets/s], (6). An average may be below the least by rounding.
pub fn buffer_level<N: Number>(capacity: N, average_rtt_s: N, least_rtt_s: N) -> N {
    (capacity * (average_rtt_s - least_rtt_s)).max(N::of(0.0))
}

/// A number as it was about a round trip ago.
#[derive(Debug, Clone, Default)]
pub struct History<N> {
    /// Times [s] and values, the oldest first.
    past: VecDeque<(N, N)>,
}

impl<N: Number> History<N> {
    /// Nothing is known.
    pub const fn new() -> Self {
        Self { past: VecDeque::new() }
    }

    /// At `now_s` it was `value`; moments do not run backwards.
    pub fn push(&mut self, now_s: N, value: N) {
        self.past.push_back((now_s, value));
    }

    /// Age [s] and value of the latest entry at least `span_s` ago; if there is none, of the oldest known, unless its
    /// age is less than half of `span_s`. Earlier values are forgotten.
    pub fn earlier(&mut self, now_s: N, span_s: N) -> Option<(N, N)> {
        while let Some((second, _)) = self.past.get(1)
            && *second <= now_s - span_s
        {
            self.past.pop_front();
        }
        let (then_s, value) = *self.past.front()?;
        let age_s = now_s - then_s;
        (age_s > N::of(0.0) && age_s >= span_s * N::of(0.5)).then_some((age_s, value))
    }

    /// Age [s] and value of the latest entry, unless that is just now. Earlier values are forgotten.
    pub fn latest(&mut self, now_s: N) -> Option<(N, N)> {
        let (then_s, value) = *self.past.back()?;
        self.past.drain(..self.past.len() - 1);
        let age_s = now_s - then_s;
        (age_s > N::of(0.0)).then_some((age_s, value))
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        self.past.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Fix;

    /// 12.304 us are 1538 bytes at 1 Gbit/s.
    const DISPERSION_S: f64 = 12.304e-6;

    fn near(is: f64, should: f64, digit: f64) {
        assert!((is - should).abs() <= 0.500_001 * digit, "{is}, not {should}");
    }

    /// Reference, table 3j, to the digits printed there.
    #[test]
    fn the_vector_of_the_reference() {
        let mut pairs = PacketPairs::new(50, 0.0);
        pairs.take(0.38, DISPERSION_S);
        let capacity = pairs.capacity().unwrap();
        near(capacity, 81_274.38, 0.01);
        near(capacity * 1448.0 / 1e6, 117.6853, 1e-4);
        near(capacity * 1448.0 * 8.0 / 1e6, 941.482, 1e-3);
        near(capacity * 1538.0 * 8.0 / 1e6, 1000.0, 0.01);
        near(buffer_size(capacity, 0.2035, 0.19), 1097.20, 0.01);
        near(buffer_level(capacity, 0.1924, 0.19), 195.06, 0.01);
    }

    /// The same in fixed point, where the dispersion has ten binary digits at 100 Gbit/s (120 ns): within a thousandth.
    #[test]
    fn fixed_point_resolves_a_hundred_gigabit() {
        for dispersion_s in [DISPERSION_S, 120e-9] {
            let mut pairs = PacketPairs::<Fix<32>>::new(50, Fix::of(0.0));
            pairs.take(Fix::of(0.38), Fix::of(dispersion_s));
            let capacity = pairs.capacity().unwrap().value();
            assert!((capacity * dispersion_s - 1.0).abs() < 1e-3, "{capacity}");
        }
    }

    /// Cross traffic comes between the packets of a pair or before them; either way it delays one. (CapProbe, section 3.)
    #[test]
    fn the_least_delayed_pair_counts_while_it_is_among_the_latest() {
        let mut pairs = PacketPairs::new(3, 0.0);
        assert_eq!(pairs.capacity(), None);
        pairs.take(0.25, 1e-3);
        assert_eq!(pairs.capacity(), Some(1000.0));
        pairs.take(0.20, 2e-3);
        pairs.take(0.30, 1e-4);
        assert_eq!(pairs.capacity(), Some(500.0));
        pairs.take(0.20, 4e-3);
        assert_eq!(pairs.capacity(), Some(250.0), "of pairs delayed alike the latest");
        pairs.take(0.40, 1e-4);
        pairs.take(0.40, 1e-4);
        pairs.take(0.40, 1e-4);
        assert_eq!(pairs.capacity(), Some(1e4), "the others are out of date");
    }

    /// Acknowledgements that queued behind each other arrive together, or at the rate of some faster line.
    #[test]
    fn what_no_path_can_do_is_not_believed() {
        let mut pairs = PacketPairs::new(50, 1e-6);
        pairs.take(0.1, 0.0);
        pairs.take(0.1, 0.9e-6);
        assert_eq!(pairs.capacity(), None);
        pairs.take(0.2, 1e-6);
        assert_eq!(pairs.capacity(), Some(1.0 / 1e-6));
    }

    #[test]
    fn a_level_is_not_negative() {
        assert_eq!(buffer_level(1000.0, 0.099_999, 0.1), 0.0);
        assert_eq!(buffer_size(1000.0, 0.1, 0.1), 0.0);
    }

    /// An entry every 10 ms, looked back to by 35 ms: from 18 ms on there is something, from 40 ms on it is 40 ms old.
    #[test]
    fn history_goes_back_one_span_or_half_of_it() {
        let mut history = History::new();
        let mut ages = alloc::vec::Vec::new();
        for k in 0..7 {
            let now_ms = f64::from(10 * k);
            ages.push(history.earlier(now_ms, 35.0).map(|(age, then)| {
                assert_eq!(age, now_ms - then);
                age
            }));
            history.push(now_ms, now_ms);
        }
        assert_eq!(ages, [None, None, Some(20.0), Some(30.0), Some(40.0), Some(40.0), Some(40.0)]);
        history.forget();
        assert_eq!(history.earlier(100.0, 35.0), None);
    }

    #[test]
    fn history_of_an_acknowledgement_is_the_last_one() {
        let mut history = History::new();
        assert_eq!(history.latest(1.0), None);
        history.push(1.0, 5.0);
        history.push(2.0, 7.0);
        assert_eq!(history.latest(2.5), Some((0.5, 7.0)));
        assert_eq!(history.latest(2.0), None, "no derivative over no time");
    }
}
