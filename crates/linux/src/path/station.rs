//! A link of the emulated path: what holds its queue, the chance of loss on its line, and their coins.

use penstock_law::aqm::{Decides, Serve};
use penstock_law::edge::Colour;
use penstock_law::quantity::Time;
use penstock_link::{
    Arrival, Config, Counters, Histogram, Offer, Offered, Port, Scheduler, Served, ServedConfig, Service,
};
use penstock_scenario::model::{self, Buffer, By, Scenario};
use penstock_scenario::seed::Stream;

use super::Refused;
use super::emulation::{Key, Packet};

/// A link.
pub(super) struct Link {
    pub(super) station: Station,
    pub(super) coins: Stream,
    loss: f64,
    losses: Stream,
    apart: Apart,
    /// Whether the end of a transmission is on the agenda.
    pub(super) scheduled: bool,
}

/// What has a queue of its own where there are several.
#[derive(Debug, Clone, Copy)]
enum Apart {
    Flows,
    Classes,
    /// Flows, but those whose hashes are equal share one.
    Hashes,
}

/// What holds a link's queue: where the moment a packet departs is known when it arrives, nothing has to happen then.
pub(super) enum Station {
    Port(Box<Port>),
    Served(Box<Served<Packet>>),
}

macro_rules! either {
    ($self:expr, $station:ident => $what:expr) => {
        match $self {
            Station::Port($station) => $what,
            Station::Served($station) => $what,
        }
    };
}

/// What becomes of a packet that reaches a link.
pub(super) enum Fate {
    /// It is gone.
    Dropped,
    /// It leaves then, marked or not.
    Leaves(Time, bool),
    /// It waits for its turn.
    Waits,
}

impl Link {
    /// The link of that name, at time zero.
    ///
    /// # Errors
    /// Says what this path does not do.
    pub(super) fn of(scenario: &Scenario, name: &str, memory: Time) -> Result<Self, Refused> {
        let link = &scenario.links[name];
        let site = scenario.site(name);
        let classes = site.classes.len() as u32;
        let law = (link.aqm.law.real)(&link.aqm.values, &site)
            .map_err(|e| Refused::new(format!("links.{name}.aqm: {e}"), "choose other parameters"))?;
        let needs = law.needs();
        let (most_packets, most_bytes) = match link.buffer {
            Buffer::Unlimited => (u64::MAX, u64::MAX),
            Buffer::Packets(n) => (n, u64::MAX),
            Buffer::Bytes(bytes) => (u64::MAX, bytes.0),
        };
        let packet = scenario.packet.wire;
        let service = service(link);
        let apart = match (needs.serve, link.scheduler) {
            (Serve::PerFlow { .. }, _) => Apart::Hashes,
            (_, model::Scheduler::Drr { by: By::Class, .. }) => Apart::Classes,
            _ if needs.classes => Apart::Classes,
            _ => Apart::Flows,
        };
        let scheduler = match link.scheduler {
            model::Scheduler::Fifo => Scheduler::Fifo,
            model::Scheduler::Drr { quantum, .. } => Scheduler::Drr { quantum },
        };
        let station = if link.scheduler == model::Scheduler::Fifo && Port::suits(&needs) {
            Station::Port(Box::new(Port::new(Config { service, most_packets, most_bytes, packet, law, memory })))
        } else {
            let hash_seed = scenario.seed.stream(&format!("links.{name}/queues")).bits();
            let config = ServedConfig { service, most_packets, most_bytes, packet, law, scheduler, classes, hash_seed };
            Station::Served(Box::new(Served::new(config)))
        };
        let stream = |what| scenario.seed.stream(&format!("links.{name}/{what}"));
        Ok(Self { station, apart, scheduled: false, coins: stream("aqm"), loss: link.loss, losses: stream("loss") })
    }

    /// A packet reaches it. `dropped` is given packets that make room for it.
    pub(super) fn offer(&mut self, now: Time, packet: Packet, key: Key, dropped: impl FnMut(Packet)) -> Fate {
        let coins = &mut self.coins;
        match &mut self.station {
            Station::Port(port) => match port.offer(now, packet.bytes, packet.markable, || coins.unit()) {
                Offer::Refused(_) => Fate::Dropped,
                Offer::Accepted { departure, marked } => {
                    if self.loss > 0.0 && self.losses.lands(self.loss) {
                        port.lose();
                        return Fate::Dropped;
                    }
                    Fate::Leaves(departure, marked)
                }
            },
            Station::Served(served) => {
                let queue_key = match self.apart {
                    Apart::Flows => packet.flow,
                    Apart::Classes => key.class,
                    Apart::Hashes => key.hash,
                };
                let Packet { bytes, markable, low_latency, .. } = packet;
                let arrival = Arrival { packet, bytes, markable, low_latency, colour: Colour::Green, queue_key };
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
            Station::Port(_) | Station::Served(_) => None,
        }
    }

    /// The line is free: the packet that starts, and when it leaves and whether it was marked; none where all were dropped
    /// or it is lost.
    pub(super) fn serve(&mut self, now: Time, mut dropped: impl FnMut(Packet)) -> Option<(Packet, Time, bool)> {
        let Self { station, coins, loss, losses, .. } = self;
        let Station::Served(served) = station else { return None };
        let leaving = served.next(now, |_| coins.unit(), &mut dropped)?;
        if *loss > 0.0 && losses.lands(*loss) {
            served.lose();
            dropped(leaving.packet);
            return None;
        }
        Some((leaving.packet, leaving.departure, leaving.marked))
    }

    /// Whether a packet that left a port at `departure` was marked then, where the law decides at departure.
    pub(super) fn marks(&mut self, departure: Time) -> bool {
        let coins = &mut self.coins;
        match &mut self.station {
            Station::Port(port) if port.needs().decides == Decides::OnDeparture => {
                port.marks(departure, || coins.unit())
            }
            Station::Port(_) | Station::Served(_) => false,
        }
    }
}

impl Station {
    pub(super) fn period(&self) -> Time {
        either!(self, station => station.period())
    }
    pub(super) fn tick(&mut self, now: Time) {
        either!(self, station => station.tick(now));
    }
    pub(super) fn read(&mut self, now: Time) -> Counters {
        either!(self, station => station.read(now))
    }
    pub(super) fn waiting(&mut self, now: Time) -> u64 {
        match self {
            Self::Port(port) => port.waiting(now),
            Self::Served(served) => served.waiting(),
        }
    }
    pub(super) fn histograms(&self) -> (&Histogram, &Histogram) {
        either!(self, station => station.histograms())
    }
    pub(super) fn most_waiting(&mut self) -> u64 {
        either!(self, station => station.most_waiting())
    }
    pub(super) fn observables(&mut self) -> Vec<(&'static str, &'static str, f64)> {
        either!(self, station => station.observables())
    }
    pub(super) fn has_price(&self) -> bool {
        either!(self, station => station.has_price())
    }
    pub(super) fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        either!(self, station => station.capacity_bits(from, to))
    }
    pub(super) fn unaccounted(&mut self, now: Time) -> i64 {
        either!(self, station => station.unaccounted(now))
    }
}

/// What a link's line carries.
fn service(link: &model::Link) -> Service {
    match &link.service {
        model::Service::Constant => Service::Constant(link.rate),
        model::Service::Schedule(later) => {
            Service::Schedule(std::iter::once((Time::ZERO, link.rate)).chain(later.iter().copied()).collect())
        }
        model::Service::Trace(trace) => {
            Service::Trace { opportunities: trace.opportunities.clone(), period: trace.period }
        }
    }
}
