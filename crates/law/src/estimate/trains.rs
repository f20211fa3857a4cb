//! The acknowledgements of packets that left back to back: the input of [`PacketPairs`](super::PacketPairs).
//!
//! Source: Cavendish, Kuwahara, Kumazoe, Tsuru, Oie, "TCP Congestion Avoidance using Proportional plus Derivative Control",
//! section V: a sample every round trip, of two packets that one acknowledgement lets go. If one acknowledgement is for two of
//! them, two acknowledgements make the pair.
//! Kernel implementation: `bpf/cc/train.h`, held equal by a test of `crates/kernel/src/native.rs`. There a train has 255 packets
//! at the most: of a longer one the first 255 count.

use crate::quantity::Time;

/// Two or more packets that left together.
#[derive(Debug, Clone, Copy)]
struct Train<N> {
    /// The first transmission, and one past the last.
    first: u64,
    end: u64,
    /// One of them that was acknowledged: which, when, and its round trip [s].
    heard: Option<(u64, Time, N)>,
}

/// Two acknowledgements of one train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<N> {
    /// The time of the first.
    pub from: Time,
    /// Its round trip [s].
    pub rtt_s: N,
    /// The packets between the two acknowledgements.
    pub packets: u64,
}

/// The train that is under way, and when the next may leave: one a round trip, or at once if the last measured nothing.
#[derive(Debug, Clone)]
pub struct Trains<N> {
    train: Option<Train<N>>,
    next: Time,
}

impl<N: Copy> Trains<N> {
    /// None has left.
    pub const fn new() -> Self {
        Self { train: None, next: Time::ZERO }
    }

    /// The transmissions `first..end`, all of them new, left together; by `now` there is an acknowledgement of transmission
    /// `tx`. A round trip takes `rtt`.
    pub fn left(&mut self, now: Time, tx: u64, first: u64, end: u64, rtt: Time) {
        // A train that is being acknowledged is not given up for the next: an average in whole microseconds may be shorter
        // than the round trip.
        let heard = self.train.is_none_or(|train| tx >= train.end);
        if end - first >= 2 && heard && now >= self.next {
            self.train = Some(Train { first, end, heard: None });
            self.next = now + rtt;
        }
    }

    /// An acknowledgement that covers `covered` packets and was caused by transmission `tx`, whose round trip is beyond doubt:
    /// two after each other make a pair, if the second covers what left since the first, and nothing else.
    pub fn acknowledged(&mut self, now: Time, tx: u64, covered: u32, rtt_s: N) -> Option<Pair<N>> {
        let train = self.train.as_mut().filter(|train| tx >= train.first)?;
        let within = tx < train.end;
        let Some((before, from, rtt_before_s)) = train.heard else {
            train.heard = Some((tx, now, rtt_s));
            if tx + 1 >= train.end {
                (self.train, self.next) = (None, now);
            }
            return None;
        };
        self.train = None;
        let packets = tx.saturating_sub(before);
        if !within || packets == 0 || packets != u64::from(covered) {
            self.next = now;
            return None;
        }
        Some(Pair { from, rtt_s: rtt_before_s, packets })
    }
}

impl<N: Copy> Default for Trains<N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;
    const RTT: Time = Time(1000 * US);

    /// A train whose first acknowledgement is for all of it, and one whose second comes from beyond: the next may leave at once.
    /// After a pair it waits for the round trip to end.
    #[test]
    fn a_train_that_tells_nothing_is_followed_at_once() {
        for (acks, at_once) in [
            (&[(11, 2)][..], true),
            (&[(10, 1), (12, 2)], true),
            (&[(10, 1), (11, 3)], true),
            (&[(10, 1), (11, 1)], false),
        ] {
            let mut trains = Trains::new();
            trains.left(Time(100 * US), 0, 10, 12, RTT);
            let mut pairs = 0;
            for (at, (tx, covered)) in acks.iter().enumerate() {
                let now = Time((500 + at as u64) * US);
                pairs += u32::from(trains.acknowledged(now, *tx, *covered, 0.0).is_some());
            }
            assert_eq!(pairs == 0, at_once, "{acks:?}");
            trains.left(Time(600 * US), 13, 20, 22, RTT);
            assert_eq!(trains.train.is_some(), at_once, "{acks:?}");
            trains.left(Time(1100 * US), 22, 30, 32, RTT);
            assert!(trains.train.is_some(), "a round trip is over");
        }
    }
}
