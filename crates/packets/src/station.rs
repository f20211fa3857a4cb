//! A link of the scenario: its queue and its coins, and the losses on its line.

use penstock_law::quantity::Time;
use penstock_link::{Apart, Arrival, Offered, Served};
use penstock_scenario::model::EcnOnLine;
use penstock_scenario::seed::Coins;
use penstock_scenario::world::RunError;

use crate::dynamics::Counted;
use crate::elements::Leaving;
use crate::engine::Engine;
use crate::flow::Flow;
use crate::line::{LATE, push};
use crate::loss::{Fate, Losses};
use crate::packet::{ACK, CE, ECT, LOW, Packet};

/// The queue of a link.
pub(crate) type Station = penstock_link::Station<Packet>;

/// A link.
pub(crate) struct Link {
    /// Its name, and that of its law.
    pub(crate) name: String,
    pub(crate) law: &'static str,
    pub(crate) station: Station,
    pub(crate) coins: Coins,
    pub(crate) losses: Losses,
    /// Treatment of the ECN field by its line.
    pub(crate) ecn: EcnOnLine,
    pub(crate) apart: Apart,
    /// Whether the end of a transmission is on the agenda.
    pub(crate) scheduled: bool,
}

impl Link {
    /// The output of its law that is no valid number, if there was one.
    pub(crate) fn fault(&self) -> Option<RunError> {
        let whose = format!("links.{}.aqm", self.name);
        self.station.unsound().map(|(at, output)| RunError::Law { whose, law: self.law, at, output: output.to_owned() })
    }
}

/// Packets held at a link and not on its line.
pub(crate) fn held(station: &Station) -> u64 {
    let count = |served: &Served<Packet>| served.iter().filter(|packet| !packet.is(ACK)).count() as u64;
    match station {
        Station::Port(_) => 0,
        Station::Served(served) => count(served),
        Station::Policed(policed) => count(policed),
    }
}

/// A packet is lost on its way.
fn lose((flows, counted): (&mut [Flow], &mut Counted), packet: &Packet) {
    if !packet.is(ACK) {
        flows[packet.flow as usize].sent.lost += 1;
    }
    counted.dropped(packet.flow, !packet.is(ACK));
}

impl Engine {
    /// Offers a packet to a link that holds its packets.
    #[inline(never)]
    pub(crate) fn hand(&mut self, packet: Packet, at: usize) {
        let Self { now, flows, links, groups, keys, counted, .. } = self;
        let Link { station, coins, apart, scheduled, .. } = &mut links[at];
        if counted.any() {
            // This one has not arrived yet.
            counted.at_link(at, Time(*now), station.arrivals() + 1);
        }
        let served = match station {
            Station::Served(served) => &mut **served,
            Station::Policed(policed) => {
                if !policed.admits(Time(*now), u32::from(packet.size)) {
                    return lose((flows, counted), &packet);
                }
                policed
            }
            Station::Port(_) => return,
        };
        let class = || groups[flows[packet.flow as usize].group as usize].class;
        let arrival = Arrival {
            packet,
            bytes: u32::from(packet.size),
            markable: packet.is(ECT),
            low_latency: packet.is(LOW | CE),
            colour: packet.colour(),
            queue_key: match apart {
                Apart::Flows => packet.flow,
                Apart::Classes => class(),
                Apart::Hashes => (keys[packet.flow as usize] >> 32) as u32,
            },
            book_key: if *apart == Apart::Classes { class() } else { packet.flow },
        };
        let now = Time(*now);
        match served.offer(
            now,
            arrival,
            || coins.of(packet.identity(keys)),
            |displaced| lose((flows, counted), &displaced),
        ) {
            Offered::Refused(_) => lose((flows, counted), &packet),
            Offered::Queued if *scheduled => {}
            Offered::Queued if served.free_at() <= now => self.serve(at),
            Offered::Queued => {
                *scheduled = true;
                let free = served.free_at().0;
                self.schedule(self.numbering.serve + at as u32, free);
            }
        }
    }

    /// Packets that wait on the line of a link may go.
    pub(crate) fn wake_line(&mut self, at: usize) {
        let Self { now, links, keys, lines, agenda, .. } = self;
        let Some(elements) = &mut links[at].losses.elements else { return };
        let copies = elements.wake(*now, (keys, lines, agenda));
        links[at].station.duplicate(copies);
    }

    /// A line is free for the next packet.
    pub(crate) fn serve(&mut self, at: usize) {
        let Self { now, flows, links, lines, hops, agenda, keys, counted, .. } = self;
        let Link { station, coins, losses, scheduled, .. } = &mut links[at];
        *scheduled = false;
        let Some(served) = station.served() else { return };
        if counted.any() {
            counted.at_link(at, Time(*now), served.arrivals());
        }
        let coin = |packet: &Packet| coins.of(packet.identity(keys));
        let dropped = |dropped| lose((flows, counted), &dropped);
        let Some(leaving) = served.next(Time(*now), coin, dropped) else { return };
        let mut packet = leaving.packet;
        let fate = losses.take(&packet, keys);
        packet.flags |= if leaving.marked { CE } else { 0 };
        let (first, _) = flows[packet.flow as usize].route[usize::from(packet.flags & ACK)];
        let line = hops[first as usize + packet.hop as usize].line;
        let mut put = |line: u32| {
            let behind = &mut lines[line as usize];
            packet.at = leaving.departure.0.saturating_add(behind.delay);
            push(packet, line, behind, agenda);
        };
        match fate {
            Fate::Lost => {
                served.lose();
                lose((flows, counted), &packet);
            }
            Fate::Comes => put(line),
            Fate::Late => put(line + LATE),
            Fate::Apart(late) => {
                let elements = losses.elements.as_mut().expect("such a fate has them");
                let line = line + if late { LATE } else { 0 };
                let leaving = Leaving { packet, departure: leaving.departure, line };
                served.duplicate(elements.carry(leaving, (keys, lines, agenda)));
            }
        }
        if !served.is_empty() {
            *scheduled = true;
            let free = served.free_at().0;
            self.schedule(self.numbering.serve + at as u32, free);
        }
    }
}
