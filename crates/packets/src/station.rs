//! A link of the scenario: what holds its queue and its coins, and what is lost on its line.

use penstock_law::aqm::Decides;
use penstock_law::quantity::Time;
use penstock_link::{Arrival, Counters, Histogram, Offered, Port, Served};
use penstock_scenario::seed::Coins;

use crate::engine::Engine;
use crate::flow::Flow;
use crate::loss::Losses;
use crate::packet::{ACK, CE, ECT, LOW, Packet};

/// A link.
pub(crate) struct Link {
    pub(crate) station: Station,
    pub(crate) coins: Coins,
    pub(crate) losses: Losses,
    pub(crate) apart: Apart,
    /// Whether the end of a transmission is on the agenda.
    pub(crate) scheduled: bool,
}

/// What has a queue of its own where there are several.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Apart {
    Flows,
    Classes,
    /// Flows, but those whose hashes are equal share one.
    Hashes,
}

/// What holds a link's queue: where the moment a packet departs is known when it arrives, nothing has to happen then.
#[expect(clippy::large_enum_variant, reason = "one a link; the port is on the path of every packet")]
pub(crate) enum Station {
    Port(Port),
    Served(Box<Served<Packet>>),
}

macro_rules! either {
    ($self:ident, $station:ident => $what:expr) => {
        match $self {
            Station::Port($station) => $what,
            Station::Served($station) => $what,
        }
    };
}

impl Station {
    /// Whether marks are drawn at the far end of the line, from what the law said when the packet left.
    pub(crate) fn marks_at_departure(&self) -> bool {
        matches!(self, Self::Port(port) if port.needs().decides == Decides::OnDeparture)
    }
    pub(crate) fn period(&self) -> Time {
        either!(self, station => station.period())
    }
    pub(crate) fn tick(&mut self, now: Time) {
        either!(self, station => station.tick(now));
    }
    pub(crate) fn read(&mut self, now: Time) -> Counters {
        either!(self, station => station.read(now))
    }
    pub(crate) fn waiting(&mut self, now: Time) -> u64 {
        match self {
            Self::Port(port) => port.waiting(now),
            Self::Served(served) => served.waiting(),
        }
    }
    pub(crate) fn histograms(&self) -> (&Histogram, &Histogram) {
        either!(self, station => station.histograms())
    }
    pub(crate) fn most_waiting(&mut self) -> u64 {
        either!(self, station => station.most_waiting())
    }
    pub(crate) fn observables(&mut self) -> Vec<(&'static str, &'static str, f64)> {
        either!(self, station => station.observables())
    }
    /// How many classes the law keeps apart; zero where it does not.
    pub(crate) fn classes(&self) -> u32 {
        match self {
            Self::Port(_) => 0,
            Self::Served(served) => served.classes(),
        }
    }
    pub(crate) fn class_observables(&mut self, class: u32) -> Vec<(&'static str, &'static str, f64)> {
        match self {
            Self::Port(_) => Vec::new(),
            Self::Served(served) => served.class_observables(class),
        }
    }
    pub(crate) fn has_price(&self) -> bool {
        either!(self, station => station.has_price())
    }
    pub(crate) fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        either!(self, station => station.capacity_bits(from, to))
    }
    pub(crate) fn unaccounted(&mut self, now: Time) -> i64 {
        either!(self, station => station.unaccounted(now))
    }
    /// Packets held here and not on a line.
    pub(crate) fn held(&self) -> u64 {
        match self {
            Self::Port(_) => 0,
            Self::Served(served) => served.iter().filter(|packet| !packet.is(ACK)).count() as u64,
        }
    }
}

/// A packet is lost on its way.
fn lose(flows: &mut [Flow], packet: &Packet) {
    if !packet.is(ACK) {
        flows[packet.flow as usize].sent.lost += 1;
    }
}

impl Engine {
    /// Offers a packet to a link that holds its packets.
    #[inline(never)]
    pub(crate) fn hand(&mut self, packet: Packet, at: usize) {
        let Self { now, flows, links, groups, keys, .. } = self;
        let Link { station, coins, apart, scheduled, .. } = &mut links[at];
        let Station::Served(served) = station else { return };
        let arrival = Arrival {
            packet,
            bytes: u32::from(packet.size),
            markable: packet.is(ECT),
            low_latency: packet.is(LOW | CE),
            colour: packet.colour(),
            queue_key: match apart {
                Apart::Flows => packet.flow,
                Apart::Classes => groups[flows[packet.flow as usize].group as usize].class,
                Apart::Hashes => (keys[packet.flow as usize] >> 32) as u32,
            },
        };
        let now = Time(*now);
        match served.offer(now, arrival, || coins.of(packet.identity(keys)), |displaced| lose(flows, &displaced)) {
            Offered::Refused(_) => lose(flows, &packet),
            Offered::Queued if *scheduled => {}
            Offered::Queued if served.free_at() <= now => self.serve(at),
            Offered::Queued => {
                *scheduled = true;
                let free = served.free_at().0;
                self.schedule(self.numbering.serve + at as u32, free);
            }
        }
    }

    /// A line is free for the next packet.
    pub(crate) fn serve(&mut self, at: usize) {
        let Self { now, flows, links, lines, hops, agenda, keys, .. } = self;
        let Link { station, coins, losses, scheduled, .. } = &mut links[at];
        *scheduled = false;
        let Station::Served(served) = station else { return };
        let coin = |packet: &Packet| coins.of(packet.identity(keys));
        let Some(leaving) = served.next(Time(*now), coin, |dropped| lose(flows, &dropped)) else { return };
        let mut packet = leaving.packet;
        if losses.take(&packet, keys) {
            served.lose();
            lose(flows, &packet);
        } else {
            packet.flags |= if leaving.marked { CE } else { 0 };
            let (first, _) = flows[packet.flow as usize].route[usize::from(packet.flags & ACK)];
            let line = hops[first as usize + packet.hop as usize].line;
            let behind = &mut lines[line as usize];
            packet.at = leaving.departure.0.saturating_add(behind.delay);
            crate::engine::push(packet, line, behind, agenda);
        }
        if !served.is_empty() {
            *scheduled = true;
            let free = served.free_at().0;
            self.schedule(self.numbering.serve + at as u32, free);
        }
    }
}
