//! Losses on a line, whatever its queue does, late packets, and the other elements of the line.

use penstock_link::Bursts;
use penstock_scenario::model::{Link, LossSpacing};
use penstock_scenario::seed::{Coins, Stream};

use crate::elements::Elements;
use crate::packet::{ACK, Packet};

/// The fate of a packet on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Lost,
    Comes,
    /// It comes later than those behind it.
    Late,
    /// It takes the way of its link's [`Elements`], late or not.
    Apart(bool),
}

/// Losses in bursts, and the draws that they go by.
#[derive(Debug, Clone)]
struct InBursts {
    bursts: Bursts,
    draws: Stream,
}

/// The losses of a line, and the packets that come late.
#[derive(Debug, Clone)]
pub(crate) struct Losses {
    share: f64,
    spacing: LossSpacing,
    /// Of each flow's data one transmission too, drawn between these, the first being zero.
    transmission: Option<(u32, u32)>,
    in_bursts: Option<Box<InBursts>>,
    /// The share of packets that come late, and their coins.
    late: Option<(f64, Coins)>,
    /// Other elements of the line.
    pub(crate) elements: Option<Box<Elements>>,
    /// There is anything of this at all.
    any: bool,
    coins: Coins,
    /// Where that transmission is, of each flow: draws of its own, so that whether there are other losses changes nothing.
    places: Coins,
}

impl Losses {
    /// Those of `link`, whose coins are `loss`, `places`, `late` and `twice`; bursts draw from `draws`.
    pub(crate) fn of(link: &Link, [loss, places, late, twice]: [Coins; 4], draws: Stream) -> Self {
        let transmission = link.lose_transmission.map(|(least, most)| (least - 1, most - 1));
        let bursts = link.loss_burst.map(|mean| Bursts::new(link.loss, mean));
        let in_bursts = bursts.map(|bursts| Box::new(InBursts { bursts, draws }));
        let late = link.reorder.map(|reorder| (reorder.share, late));
        let elements = Elements::of(link, twice).map(Box::new);
        let any = link.loss > 0.0 || transmission.is_some() || late.is_some() || elements.is_some();
        let (share, spacing) = (link.loss, link.loss_spacing);
        Self { share, spacing, transmission, in_bursts, late, elements, any, coins: loss, places }
    }

    /// The fate of a packet on the line.
    #[inline]
    pub(crate) fn take(&mut self, packet: &Packet, keys: &[u64]) -> Fate {
        if self.any { self.draw(packet, keys) } else { Fate::Comes }
    }

    #[inline]
    fn draw(&mut self, packet: &Packet, keys: &[u64]) -> Fate {
        if self.loses(packet, keys) {
            return Fate::Lost;
        }
        let late = matches!(&self.late, Some((share, coins)) if coins.of(packet.identity(keys)) < *share);
        match (&self.elements, late) {
            (Some(_), late) => Fate::Apart(late),
            (None, true) => Fate::Late,
            (None, false) => Fate::Comes,
        }
    }

    #[inline]
    fn loses(&mut self, packet: &Packet, keys: &[u64]) -> bool {
        if self.transmission.is_some_and(|between| self.is_drawn(between, packet, keys)) {
            return true;
        }
        if let Some(InBursts { bursts, draws }) = self.in_bursts.as_deref_mut() {
            return bursts.take(draws.unit());
        }
        match self.spacing {
            LossSpacing::Random => self.coins.of(packet.identity(keys)) < self.share,
            LossSpacing::Even => self.turn(*packet, keys),
        }
    }

    /// Whether a packet is the one that was drawn for its flow.
    #[cold]
    fn is_drawn(&self, (least, most): (u32, u32), packet: &Packet, keys: &[u64]) -> bool {
        let within = least <= packet.tx && packet.tx <= most && !packet.is(ACK);
        let coin = || self.places.of(Packet { tx: 0, ..*packet }.identity(keys));
        within && packet.tx - least == (coin() * f64::from(most - least + 1)) as u32
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

    /// One transmission of each flow's data, counted from 1, and no acknowledgement; where it is drawn, flows differ.
    #[test]
    fn one_transmission_of_each_flow_is_lost() {
        let keys: Vec<u64> = (0..20).map(|flow| flow << 32).collect();
        let lost = |between, others| {
            let [coins, places] = [others, "lose_transmission"].map(|what| Seed(1).coins(&format!("links.b/{what}")));
            let mut losses = Losses {
                share: 0.0,
                spacing: LossSpacing::Random,
                transmission: Some(between),
                in_bursts: None,
                late: None,
                elements: None,
                any: true,
                coins,
                places,
            };
            let mut found = Vec::new();
            for (flow, tx) in (0..20).flat_map(|flow| (0..1000).map(move |tx| (flow, tx))) {
                let packet = Packet { flow, tx, ..Packet::default() };
                assert_eq!(losses.take(&Packet { flags: ACK, ..packet }, &keys), Fate::Comes);
                if losses.take(&packet, &keys) == Fate::Lost {
                    found.push((flow, tx));
                }
            }
            assert!(found.iter().map(|(flow, _)| *flow).eq(0..20), "{found:?}");
            found.into_iter().map(|(_, tx)| tx).collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(lost((2, 2), "loss"), [2].into());
        let drawn = lost((149, 899), "loss");
        assert_eq!(drawn, lost((149, 899), "other losses"), "draws of their own");
        assert!(drawn.len() > 15 && drawn.iter().all(|tx| (149..=899).contains(tx)), "{drawn:?}");
    }

    /// Of each flow, data and acknowledgements apart, one transmission in 1/p is lost: as many as p gives, to one, and never
    /// nearer or further apart than the two whole numbers around 1/p.
    #[test]
    fn even_losses_are_one_in_so_many() {
        let keys = [7, 1 << 40, 12345];
        let mut firsts = Vec::new();
        for share in [0.001, 0.0007, 0.3, 1.0 / 64.0] {
            let coins = Seed(1).coins("links.b/loss");
            let mut losses = Losses {
                share,
                spacing: LossSpacing::Even,
                transmission: None,
                in_bursts: None,
                late: None,
                elements: None,
                any: true,
                coins,
                places: coins,
            };
            for flags in [0, ACK] {
                for flow in 0..3 {
                    let packets = 1_000_000;
                    let of = |tx| Packet { flow, tx, flags, ..Packet::default() };
                    let lost: Vec<u32> = (0..packets).filter(|tx| losses.take(&of(*tx), &keys) == Fate::Lost).collect();
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
