//! Estimation of the bottleneck, for laws that require it: which packets left as a pair, when they were acknowledged, and
//! the law's observation of a round trip ago.

use penstock_law::cc;
use penstock_law::estimate::{
    BottleneckEstimate, Clocked, Committed, History, Lookback, MostRtt, PacketPairs, Trains, buffer_level, buffer_size,
};
use penstock_law::quantity::Time;

/// Fields of an acknowledgement that only the estimates of the bottleneck require.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe {
    /// The transmission that caused it.
    pub(crate) tx: u64,
    /// It covers new data, all of it sent once (Karn).
    pub(crate) sure: bool,
    /// Segments that it covers.
    pub(crate) covered: u32,
    /// The round trip of the first of several: it waited for the others at a receiver that delays acknowledgements.
    pub(crate) first: Option<Time>,
    /// The next transmission, and the first segment never sent, before the response to it.
    pub(crate) next_tx: u64,
    pub(crate) fresh: u64,
    /// Packets in flight then.
    pub(crate) in_flight: u64,
}

/// Knowledge of one flow about its bottleneck.
#[derive(Debug, Clone)]
pub(crate) struct Bottleneck<N> {
    pairs: PacketPairs<N>,
    most: MostRtt<N>,
    history: History<N>,
    /// Packets committed at the last output of the law, and its time, before the response was sent.
    unsent: Option<(Time, N)>,
    trains: Trains<N>,
    /// Next transmission and first segment never sent, after the acknowledgement before was processed and before the
    /// response to it.
    before: Option<(u64, u64)>,
    /// The latest estimates of capacity [packets/s] and buffer [packets].
    capacity: Option<N>,
    /// Known values that the law observes instead of estimates.
    known: Option<Known>,
    pub(crate) estimated: Estimated,
}

/// Capacity and buffer that a law observes instead of estimates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Known {
    /// Rate of the slowest line [packets/s].
    pub(crate) capacity: f64,
    /// Size of its buffer [packets].
    pub(crate) buffer: f64,
}

/// The estimates for a summary.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Estimated {
    /// Capacity [packets/s], zero before it is known.
    pub(crate) capacity: f64,
    /// Size of the buffer [packets].
    pub(crate) buffer: f64,
    /// Packets in it, summed over samples, and how many samples.
    pub(crate) level: f64,
    pub(crate) samples: u64,
}

impl<N: Clocked> Bottleneck<N> {
    /// Nothing is known; `interface` is how long a packet takes on the sender's own line.
    pub(crate) fn new(by: BottleneckEstimate, interface: Time, known: Option<Known>) -> Self {
        // A thousandth is left for a path as fast as the interface, whose times are rounded.
        let least = Time(interface.0 - interface.0 / 1000);
        Self {
            pairs: PacketPairs::new(by.pairs, N::dispersion(Time::ZERO, least, 1)),
            most: MostRtt::UNKNOWN,
            history: History::new(),
            unsent: None,
            trains: Trains::new(),
            before: None,
            capacity: known.map(|known| N::of(known.capacity)),
            known,
            estimated: Estimated::default(),
        }
    }

    /// An acknowledgement came; its round trip is given where it counts. `path` has the average and the least of them
    /// already.
    pub(crate) fn hear(&mut self, now: Time, probe: &Probe, sample: Option<N>, path: &mut cc::Observation<N>) {
        self.released(now, probe, path.rtt_s);
        path.in_flight = N::of(probe.in_flight as f64);
        let Some(rtt_s) = sample else { return };
        // (5) takes the largest round trip "experienced by segments of a given session": by each segment.
        if let Some(first) = probe.first {
            self.most.take(N::span(first));
        }
        let most_rtt_s = self.most.take(rtt_s);
        if self.known.is_none() {
            self.paired(now, probe, rtt_s);
        }
        let Some(capacity) = self.capacity else { return };
        path.buffer = match self.known {
            Some(known) => N::of(known.buffer),
            None => buffer_size(capacity, most_rtt_s, path.base_rtt_s),
        };
        path.level = buffer_level(capacity, path.rtt_s, path.base_rtt_s);
        self.estimated.capacity = capacity.value();
        self.estimated.buffer = path.buffer.value();
        self.estimated.level += path.level.value();
        self.estimated.samples += 1;
    }

    /// Packets released by the acknowledgement before: two or more, all of them new, left together.
    fn released(&mut self, now: Time, probe: &Probe, rtt_s: N) {
        let after = (probe.next_tx, probe.fresh);
        let Some(before) = self.before.replace(after) else { return };
        let (sent, fresh) = (after.0 - before.0, after.1.saturating_sub(before.1));
        if let Some((then, committed)) = self.unsent.take() {
            self.history.push(N::span(then), committed + N::of(sent as f64));
        }
        if sent == fresh {
            self.trains.left(now, probe.tx, before.0, after.0, Time::from_seconds(rtt_s.value()));
        }
    }

    /// An acknowledgement that may be for packets of the train.
    fn paired(&mut self, now: Time, probe: &Probe, rtt_s: N) {
        let Some(pair) = self.trains.acknowledged(now, probe.tx, probe.covered, rtt_s) else { return };
        self.pairs.take(pair.rtt_s + rtt_s, N::dispersion(pair.from, now, pair.packets));
        self.capacity = self.pairs.capacity();
    }

    /// Before the law is called: the packets committed earlier.
    pub(crate) fn look_back(&mut self, lookback: Lookback, now: Time, path: &mut cc::Observation<N>) {
        let now_s = N::span(now);
        let found = match lookback {
            Lookback::RoundTrip => self.history.earlier(now_s, path.rtt_s),
            Lookback::Acknowledgement => self.history.latest(now_s),
        };
        (path.earlier_s, path.earlier) = found.unwrap_or((N::of(0.0), N::of(0.0)));
    }

    /// After the law allowed `window`: the packets committed now, or once they are sent.
    pub(crate) fn commit(&mut self, by: Committed, now: Time, window: N, path: &cc::Observation<N>) {
        match by {
            Committed::Allowed => self.history.push(N::span(now), path.level + path.in_flight.max(window)),
            Committed::Sent => self.unsent = Some((now, path.level + path.in_flight)),
        }
    }

    /// A congestion event or a timeout: packets committed before it do not describe the path after it.
    pub(crate) fn forget(&mut self, path: &mut cc::Observation<N>) {
        self.history.forget();
        self.unsent = None;
        (path.earlier_s, path.earlier) = (N::of(0.0), N::of(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;
    const BY: BottleneckEstimate =
        BottleneckEstimate { pairs: 50, lookback: Some(Lookback::RoundTrip), committed: Committed::Allowed };

    fn probe(tx: u64, next_tx: u64, fresh: u64) -> Probe {
        Probe { tx, sure: true, covered: 1, first: None, next_tx, fresh, in_flight: 10 }
    }

    /// Processes acknowledgements `(now [us], probe, round trip [us])`; the capacity after the last, in packets a second.
    fn hear(acks: &[(u64, Probe, Option<f64>)]) -> f64 {
        let mut bottleneck = Bottleneck::<f64>::new(BY, Time::ZERO, None);
        let mut path = cc::Observation { rtt_s: 1e-3, base_rtt_s: 1e-3, ..cc::Observation::zero() };
        for (now, probe, rtt) in acks {
            bottleneck.hear(Time(now * US), probe, rtt.map(|us| us * 1e-6), &mut path);
        }
        bottleneck.estimated.capacity
    }

    /// The acknowledgement at 100 us lets go transmissions 10 and 11, those at 200 us two more, which are no pair yet:
    /// one a round trip. Theirs come 12 us apart.
    #[test]
    fn two_packets_let_go_by_one_acknowledgement_are_a_pair() {
        let acks = [
            (100, probe(0, 10, 10), Some(1000.0)),
            (200, probe(1, 12, 12), Some(1000.0)),
            (300, probe(2, 14, 14), Some(1000.0)),
            (1100, probe(10, 15, 15), Some(1000.0)),
            (1112, probe(11, 16, 16), Some(1012.0)),
            (1200, probe(12, 17, 17), Some(900.0)),
            (1205, probe(13, 18, 18), Some(905.0)),
        ];
        assert!((hear(&acks) * 12e-6 - 1.0).abs() < 1e-9);
        assert_eq!(hear(&acks[..4]), 0.0);
    }

    /// Acknowledgements of the train come when the next may leave: it is received to its end first.
    #[test]
    fn a_train_is_heard_out() {
        let acks = [
            (100, probe(0, 10, 10), Some(1000.0)),
            (200, probe(1, 12, 12), Some(1000.0)),
            (1200, probe(10, 14, 14), Some(1000.0)),
            (1212, probe(11, 16, 16), Some(1012.0)),
        ];
        assert!((hear(&acks) * 12e-6 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn no_pair_is_made_of_one_packet_or_of_one_sent_again() {
        for (next_tx, fresh) in [(11, 11), (12, 11)] {
            let acks = [
                (100, probe(0, 10, 10), Some(1000.0)),
                (200, probe(1, next_tx, fresh), Some(1000.0)),
                (1100, probe(10, 15, 15), Some(1000.0)),
                (1112, probe(11, 16, 16), Some(1012.0)),
            ];
            assert_eq!(hear(&acks), 0.0);
        }
    }

    /// A receiver that acknowledges every second packet: four leave together, and whichever of them are acknowledged, two
    /// acknowledgements are two packets, 24 us, apart.
    #[test]
    fn of_a_train_two_acknowledgements_are_a_pair() {
        for odd in [0, 1] {
            let both = |tx, next| Probe { covered: 2, ..probe(tx, next, next) };
            let acks = [
                (100, both(1, 10), Some(1000.0)),
                (200, both(3, 14), Some(1000.0)),
                (1112, both(10 + odd, 17), Some(1012.0)),
                (1136, both(12 + odd, 20), Some(1036.0)),
            ];
            assert!((hear(&acks) * 12e-6 - 1.0).abs() < 1e-9, "{odd}");
        }
    }

    /// (5): the first of two segments waited for the second for 500 us, and that is the longest round trip of a segment.
    #[test]
    fn each_segment_counts_for_the_longest_round_trip() {
        let acks = |first| {
            [
                (100, probe(0, 10, 10), Some(1000.0)),
                (200, probe(1, 12, 12), Some(1000.0)),
                (1100, probe(10, 15, 15), Some(1000.0)),
                (1112, Probe { first, ..probe(11, 16, 16) }, Some(1012.0)),
            ]
        };
        let buffer = |first| {
            let mut bottleneck = Bottleneck::<f64>::new(BY, Time::ZERO, None);
            let mut path = cc::Observation { rtt_s: 1e-3, base_rtt_s: 1e-3, ..cc::Observation::zero() };
            for (now, probe, rtt) in acks(first) {
                bottleneck.hear(Time(now * US), &probe, rtt.map(|us| us * 1e-6), &mut path);
            }
            path.buffer
        };
        assert!((buffer(None) - 1.0).abs() < 1e-9);
        assert!((buffer(Some(Time(1512 * US))) - 512.0 / 12.0).abs() < 1e-9);
    }

    /// Karn: no round trip is believed (none is handed in), and so no pair; nor where the second acknowledgement covers
    /// other packets than those between, comes from beyond the train, or ends it alone.
    #[test]
    fn both_packets_must_be_acknowledged_beyond_doubt() {
        let both = Probe { covered: 2, ..probe(11, 16, 16) };
        for (first, second) in [
            ((1100, probe(10, 15, 15), None), (1112, probe(11, 16, 16), Some(1012.0))),
            ((1100, probe(10, 15, 15), Some(1000.0)), (1112, probe(11, 16, 16), None)),
            ((1100, probe(10, 15, 15), Some(1000.0)), (1112, both, Some(1012.0))),
            ((1100, probe(9, 15, 15), Some(1000.0)), (1112, both, Some(1012.0))),
            ((1100, probe(10, 15, 15), Some(1000.0)), (1112, probe(12, 16, 16), Some(1012.0))),
        ] {
            let acks = [
                (100, probe(0, 10, 10), Some(1000.0)),
                (200, probe(1, 12, 12), Some(1000.0)),
                first,
                second,
                (1130, probe(13, 17, 17), Some(1000.0)),
            ];
            assert_eq!(hear(&acks), 0.0);
        }
    }

    /// A law of packets in flight allowed 1000 packets, of which three were sent: those count, with the 10 in flight.
    #[test]
    fn what_was_allowed_and_not_sent_is_not_committed() {
        let mut bottleneck = Bottleneck::<f64>::new(BY, Time::ZERO, None);
        let mut path = cc::Observation { rtt_s: 1e-3, base_rtt_s: 1e-3, ..cc::Observation::zero() };
        bottleneck.hear(Time(100 * US), &probe(0, 20, 20), Some(1e-3), &mut path);
        bottleneck.commit(Committed::Sent, Time(100 * US), 1000.0, &path);
        bottleneck.hear(Time(1200 * US), &probe(1, 23, 23), Some(1e-3), &mut path);
        bottleneck.look_back(Lookback::RoundTrip, Time(1200 * US), &mut path);
        assert!((path.earlier_s - 1100e-6).abs() < 1e-12 && path.earlier == 13.0, "{path:?}");
    }

    /// After a congestion event the law observes no moment before it.
    #[test]
    fn an_event_cuts_history_off() {
        let mut bottleneck = Bottleneck::<f64>::new(BY, Time::ZERO, None);
        let mut path = cc::Observation { rtt_s: 1e-3, level: 5.0, in_flight: 20.0, ..cc::Observation::zero() };
        bottleneck.commit(Committed::Allowed, Time(1000 * US), 30.0, &path);
        bottleneck.look_back(Lookback::RoundTrip, Time(1800 * US), &mut path);
        assert!((path.earlier_s - 800e-6).abs() < 1e-12 && path.earlier == 35.0, "{path:?}");
        bottleneck.forget(&mut path);
        assert_eq!((path.earlier_s, path.earlier), (0.0, 0.0));
        bottleneck.look_back(Lookback::RoundTrip, Time(1900 * US), &mut path);
        assert_eq!(path.earlier_s, 0.0);
    }
}
