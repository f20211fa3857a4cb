//! What is lost on a line, whatever its queue does.

use penstock_scenario::model::LossSpacing;
use penstock_scenario::seed::Coins;

use crate::packet::Packet;

/// The losses of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Losses {
    share: f64,
    spacing: LossSpacing,
    coins: Coins,
}

impl Losses {
    pub(crate) const fn new(share: f64, spacing: LossSpacing, coins: Coins) -> Self {
        Self { share, spacing, coins }
    }

    /// Whether the line loses a packet.
    #[inline]
    pub(crate) fn take(&self, packet: &Packet, keys: &[u64]) -> bool {
        self.share > 0.0
            && match self.spacing {
                LossSpacing::Random => self.coins.of(packet.identity(keys)) < self.share,
                LossSpacing::Even => self.turn(*packet, keys),
            }
    }

    /// Whether it is the turn of a packet, of which each flow's transmissions have one in `1 / share`: a transmission brings
    /// its share of a loss, and the one that completes a loss is lost. Where a flow begins is drawn, so that flows do not
    /// lose in step. Its acknowledgements have turns of their own.
    #[cold]
    fn turn(&self, packet: Packet, keys: &[u64]) -> bool {
        let first = self.coins.of(Packet { tx: 0, ..packet }.identity(keys));
        // Whole losses before the n-th transmission.
        let whole = |n: f64| (first + n * self.share) as u64;
        let n = f64::from(packet.tx);
        whole(n + 1.0) > whole(n)
    }
}

#[cfg(test)]
mod tests {
    use penstock_scenario::seed::Seed;

    use super::*;
    use crate::packet::ACK;

    /// Of each flow, data and acknowledgements apart, one transmission in 1/p is lost: as many as p says, to one, and never
    /// nearer or further apart than the two whole numbers around 1/p.
    #[test]
    fn even_losses_are_one_in_so_many() {
        let keys = [7, 1 << 40, 12345];
        let mut firsts = Vec::new();
        for share in [0.001, 0.0007, 0.3, 1.0 / 64.0] {
            let losses = Losses::new(share, LossSpacing::Even, Seed(1).coins("links.b/loss"));
            for flags in [0, ACK] {
                for flow in 0..3 {
                    let packets = 1_000_000;
                    let is_lost = |tx: &u32| losses.take(&Packet { flow, tx: *tx, flags, ..Packet::default() }, &keys);
                    let lost: Vec<u32> = (0..packets).filter(is_lost).collect();
                    assert!((lost.len() as f64 - f64::from(packets) * share).abs() <= 1.0, "{share}: {}", lost.len());
                    let (least, most) = ((1.0 / share).floor(), (1.0 / share).ceil());
                    for gap in lost.windows(2).map(|pair| f64::from(pair[1] - pair[0])) {
                        assert!((least..=most).contains(&gap), "{share}: {gap}");
                    }
                    firsts.push((share, lost[0]));
                }
            }
        }
        let apart = firsts.iter().filter(|(share, _)| *share < 0.01).map(|(_, first)| first);
        assert_eq!(apart.collect::<std::collections::BTreeSet<_>>().len(), 12, "flows do not lose in step");
    }
}
