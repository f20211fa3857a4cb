//! Acknowledged packets as a mean over their outcomes: marked or not, lost or not.

use super::{Controller, Event, Observation};
use crate::law::Outcomes;
use crate::number::Number;

/// Packets acknowledged in a row. Signals go straight from their values at the first packet to those at the last.
#[derive(Debug, Clone, Copy)]
pub struct Acknowledged {
    /// The observations at the first packet and at the last. Between them round trip, price and level go straight; of the others
    /// the last holds.
    pub observations: [Observation<f64>; 2],
    /// The probability that a packet is marked, in [0, 1]; zero for a law without marks.
    pub marked: [f64; 2],
    /// The probability that a packet is lost, in [0, 1].
    pub lost: [f64; 2],
    /// The number of packets that one acknowledgement covers [packets].
    pub packets_per_ack: u32,
    /// True if a mark is a congestion event.
    pub marks_are_congestion: bool,
    /// The number of packets after a congestion event that bring no other one [packets]; zero if each may.
    pub deaf: f64,
}

/// The value after a share of the way.
#[inline]
fn line([from, to]: [f64; 2], share: f64) -> f64 {
    from + share * (to - from)
}

impl Outcomes<Controller> for Acknowledged {
    #[inline]
    fn observation<N: Number>(&self, share: f64) -> Observation<N> {
        let [from, to] = &self.observations;
        let between = |number: fn(&Observation<f64>) -> f64| N::of(line([number(from), number(to)], share));
        Observation {
            rtt_s: between(|seen| seen.rtt_s),
            base_rtt_s: N::of(to.base_rtt_s),
            price_s: between(|seen| seen.price_s),
            now_s: N::of(to.now_s),
            buffer: N::of(to.buffer),
            level: between(|seen| seen.level),
            in_flight: N::of(to.in_flight),
            earlier: N::of(to.earlier),
            earlier_s: N::of(to.earlier_s),
        }
    }

    #[inline]
    fn each(&self, share: f64, mut f: impl FnMut(f64, Event)) {
        let mut add = |chance: f64, event: Event| {
            if chance != 0.0 {
                f(chance, event);
            }
        };
        let (p, lost) = (line(self.marked, share), line(self.lost, share));
        let (kept, packets) = (1.0 - lost, self.packets_per_ack);
        if packets == 1 {
            add(kept * (1.0 - p), Event::Ack { packets: 1, marked: 0 });
            add(kept * p, Event::Ack { packets: 1, marked: 1 });
        } else {
            let mut ways = 1.0;
            for marked in 0..=packets {
                let mut chance = kept / f64::from(packets) * ways;
                for k in 0..packets {
                    chance *= if k < marked { p } else { 1.0 - p };
                }
                add(chance, Event::Ack { packets, marked });
                ways *= f64::from(packets - marked) / f64::from(marked + 1);
            }
        }
        let cut = if self.marks_are_congestion { p } else { 0.0 } + lost;
        add(if self.deaf > 0.0 { cut / (1.0 + self.deaf * cut) } else { cut }, Event::Congestion);
    }

    #[inline]
    fn are_plain(&self) -> bool {
        let cuts = self.marks_are_congestion && self.marked != [0.0; 2];
        self.packets_per_ack == 1 && self.lost == [0.0; 2] && !cuts
    }

    /// Each packet brings an acknowledgement, with a mark or without: the numbers are those of [`Outcomes::each`] to the bit.
    #[inline]
    fn each_plain(&self, share: f64, mut f: impl FnMut(f64, Event)) {
        let p = line(self.marked, share);
        if p != 1.0 {
            f(1.0 - p, Event::Ack { packets: 1, marked: 0 });
        }
        if p != 0.0 {
            f(p, Event::Ack { packets: 1, marked: 1 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two packets an acknowledgement, one in four marked: 9/16 have no mark, 6/16 one and 1/16 two, per acknowledgement,
    /// each of two packets. A tenth is lost, and each loss and mark is a congestion event.
    #[test]
    fn outcomes_have_their_binomial_chances() {
        let seen = Observation { rtt_s: 0.1, ..Observation::zero() };
        let acknowledged = Acknowledged {
            observations: [seen, Observation { rtt_s: 0.3, ..seen }],
            marked: [0.0, 0.5],
            lost: [0.1, 0.1],
            packets_per_ack: 2,
            marks_are_congestion: true,
            deaf: 0.0,
        };
        let mut chances = alloc::vec::Vec::new();
        acknowledged.each(0.5, |chance, event| chances.push((event, chance)));
        let expected = [
            (Event::Ack { packets: 2, marked: 0 }, 0.9 / 2.0 * 9.0 / 16.0),
            (Event::Ack { packets: 2, marked: 1 }, 0.9 / 2.0 * 6.0 / 16.0),
            (Event::Ack { packets: 2, marked: 2 }, 0.9 / 2.0 * 1.0 / 16.0),
            (Event::Congestion, 0.35),
        ];
        assert_eq!(chances.len(), expected.len());
        for (is, should) in chances.iter().zip(expected) {
            assert!(is.0 == should.0 && (is.1 - should.1).abs() < 1e-15, "{is:?}, not {should:?}");
        }
        assert!((acknowledged.observation::<f64>(0.5).rtt_s - 0.2).abs() < 1e-15);
        let mut first = alloc::vec::Vec::new();
        acknowledged.each(0.0, |chance, event| first.push((event, chance)));
        assert_eq!(first.len(), 2, "without marks there is no outcome with one: {first:?}");
    }

    /// Without losses, delayed acknowledgements and cuts by marks, the short way has the same outcomes to the bit. With any of
    /// them it is not taken.
    #[test]
    fn plain_outcomes_are_those_of_any() {
        let plain = Acknowledged {
            observations: [Observation::zero(); 2],
            marked: [0.0, 1.0],
            lost: [0.0; 2],
            packets_per_ack: 1,
            marks_are_congestion: false,
            deaf: 3.0,
        };
        assert!(
            plain.are_plain() && Acknowledged { marked: [0.0; 2], marks_are_congestion: true, ..plain }.are_plain()
        );
        for marked in [[0.0, 1.0], [0.0, 0.0], [0.3, 0.7]] {
            for share in [0.0, 0.1, 0.5, 0.77, 1.0] {
                let (mut any, mut short) = (alloc::vec::Vec::new(), alloc::vec::Vec::new());
                let one = Acknowledged { marked, ..plain };
                one.each(share, |chance, event| any.push((chance, event)));
                one.each_plain(share, |chance, event| short.push((chance, event)));
                assert_eq!(any, short, "{marked:?} {share}");
            }
        }
        for not in [
            Acknowledged { packets_per_ack: 2, ..plain },
            Acknowledged { lost: [0.0, 0.1], ..plain },
            Acknowledged { marks_are_congestion: true, ..plain },
        ] {
            assert!(!not.are_plain(), "{not:?}");
        }
    }
}
