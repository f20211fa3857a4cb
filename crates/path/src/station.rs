//! A link of the emulated path: its queue, the losses of its line, and their coins.

use std::collections::BTreeMap;

use penstock_law::aqm::Decides;
use penstock_law::quantity::Time;
use penstock_link::{Apart, Arrival, Bursts, Delays, Offer, Offered, Station};
use penstock_scenario::model::{EcnOnLine, LossSpacing, Scenario};
use penstock_scenario::seed::Stream;

use super::Refused;
use super::packet::{Direction, Key, Packet};

/// A link.
pub(super) struct Link {
    pub(super) station: Station<Packet>,
    pub(super) coins: Stream,
    losses: Losses,
    /// The share of packets that come late, and their coins.
    late: Option<(f64, Stream)>,
    /// Where its delay changes.
    pub(super) delays: Option<Delays>,
    /// Treatment of the ECN field by its line.
    pub(super) ecn: EcnOnLine,
    apart: Apart,
    /// Whether the end of a transmission is on the agenda.
    pub(super) scheduled: bool,
}

/// Losses on a line, whatever its queue does.
struct Losses {
    share: f64,
    spacing: LossSpacing,
    coins: Stream,
    bursts: Option<Bursts>,
    /// Where losses are even: how much of the next one each flow has, each way apart.
    shares: BTreeMap<(u32, bool), f64>,
}

impl Losses {
    /// Whether the line loses a packet. Even losses begin at an offset that is drawn for the flow; each packet of it brings its
    /// share of a loss, and the one that completes a loss is lost.
    fn take(&mut self, packet: &Packet) -> bool {
        if self.share <= 0.0 {
            return false;
        }
        let Self { share, spacing, coins, bursts, shares } = self;
        if let Some(bursts) = bursts {
            return bursts.take(coins.unit());
        }
        match spacing {
            LossSpacing::Random => coins.lands(*share),
            LossSpacing::Even => {
                let so_far =
                    shares.entry((packet.flow, packet.direction == Direction::Reverse)).or_insert_with(|| coins.unit());
                *so_far += *share;
                let whole = *so_far >= 1.0;
                *so_far -= f64::from(u8::from(whole));
                whole
            }
        }
    }
}

/// Whether a packet comes late.
fn lands(late: &mut Option<(f64, Stream)>) -> bool {
    late.as_mut().is_some_and(|(share, coins)| coins.lands(*share))
}

/// The fate of a packet that reaches a link.
pub(super) enum Fate {
    /// It is gone.
    Dropped,
    /// It leaves for its line.
    Leaves(Leaving),
    /// It waits for its turn.
    Waits,
}

/// State of a packet that leaves a link for its line.
pub(super) struct Leaving {
    /// When.
    pub(super) departure: Time,
    /// Whether the link's law has marked it.
    pub(super) marked: bool,
    /// Whether it comes later than those behind it.
    pub(super) late: bool,
}

impl Link {
    /// The link of that name, at time zero.
    ///
    /// # Errors
    /// Names the features that this path lacks.
    pub(super) fn of(scenario: &Scenario, name: &str, memory: Time) -> Result<Self, Refused> {
        let link = &scenario.links[name];
        if link.lose_transmission.is_some() {
            let what = format!("links.{name}.lose_transmission: the kernel does not number its transmissions");
            return Err(Refused::new(what, "leave it out"));
        }
        if link.aggregation.is_some() {
            let what = format!("links.{name}.aggregation: the emulated path lets every packet go by itself");
            return Err(Refused::new(what, "leave it out"));
        }
        if link.duplicate > 0.0 {
            let what = format!("links.{name}.duplicate: the emulated path delivers no packet twice");
            return Err(Refused::new(what, "leave it out"));
        }
        let (station, apart) =
            Station::of(scenario, name, memory).map_err(|what| Refused::new(what, "choose other parameters"))?;
        let stream = |what| scenario.seed.stream(&format!("links.{name}/{what}"));
        let losses = Losses {
            share: link.loss,
            spacing: link.loss_spacing,
            coins: stream("loss"),
            bursts: link.loss_burst.map(|mean| Bursts::new(link.loss, mean)),
            shares: BTreeMap::new(),
        };
        let late = link.reorder.map(|reorder| (reorder.share, stream("late")));
        let delays = Delays::of(link);
        Ok(Self { station, apart, scheduled: false, coins: stream("aqm"), losses, late, delays, ecn: link.ecn })
    }

    /// A packet reaches it. `dropped` is given packets that make space for it.
    pub(super) fn offer(&mut self, now: Time, packet: Packet, key: Key, dropped: impl FnMut(Packet)) -> Fate {
        let coins = &mut self.coins;
        match &mut self.station {
            Station::Port(port) => match port.offer(now, packet.bytes, packet.markable, || coins.unit()) {
                Offer::Refused(_) => Fate::Dropped,
                Offer::Accepted { departure, marked } => {
                    if self.losses.take(&packet) {
                        port.lose();
                        return Fate::Dropped;
                    }
                    Fate::Leaves(Leaving { departure, marked, late: lands(&mut self.late) })
                }
            },
            station => {
                if let Station::Policed(policed) = station
                    && !policed.admits(now, packet.bytes)
                {
                    return Fate::Dropped;
                }
                let Some(served) = station.served() else { return Fate::Dropped };
                let queue_key = match self.apart {
                    Apart::Flows => packet.flow,
                    Apart::Classes => key.class,
                    Apart::Hashes => key.hash,
                };
                let Packet { bytes, markable, low_latency, .. } = packet;
                let colour = packet.colour.unwrap_or_default();
                let book_key = if self.apart == Apart::Classes { key.class } else { packet.flow };
                let arrival = Arrival { packet, bytes, markable, low_latency, colour, queue_key, book_key };
                match served.offer(now, arrival, || coins.unit(), dropped) {
                    Offered::Refused(_) => Fate::Dropped,
                    Offered::Queued => Fate::Waits,
                }
            }
        }
    }

    /// When the line is free for the next packet, where packets wait for that.
    pub(super) fn free_at(&self) -> Option<Time> {
        match &self.station {
            Station::Served(served) if !served.is_empty() => Some(served.free_at()),
            Station::Policed(policed) if !policed.is_empty() => Some(policed.free_at()),
            Station::Port(_) | Station::Served(_) | Station::Policed(_) => None,
        }
    }

    /// The line is free: the packet that starts, and how it leaves; none where all were dropped
    /// or it is lost.
    pub(super) fn serve(&mut self, now: Time, mut dropped: impl FnMut(Packet)) -> Option<(Packet, Leaving)> {
        let Self { station, coins, losses, late, .. } = self;
        let served = station.served()?;
        let leaving = served.next(now, |_| coins.unit(), &mut dropped)?;
        if losses.take(&leaving.packet) {
            served.lose();
            dropped(leaving.packet);
            return None;
        }
        let penstock_link::Departing { packet, departure, marked, .. } = leaving;
        Some((packet, Leaving { departure, marked, late: lands(late) }))
    }

    /// Whether a packet that left a port at `departure` was marked then, where the law decides at departure.
    pub(super) fn marks(&mut self, departure: Time) -> bool {
        let coins = &mut self.coins;
        match &mut self.station {
            Station::Port(port) if port.requirements().decides == Decides::OnDeparture => {
                port.marks(departure, || coins.unit())
            }
            Station::Port(_) | Station::Served(_) | Station::Policed(_) => false,
        }
    }
}
