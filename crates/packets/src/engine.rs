//! The loop: one event after the other, until the run is over.

use penstock_law::cc::Event;
use penstock_law::quantity::Time;
use penstock_link::{Offer, Port, Ring};
use penstock_scenario::model::EcnOnLine;
use penstock_scenario::page::Load;
use penstock_scenario::seed::Coins;
use penstock_scenario::transfer::Transfer;
use penstock_scenario::video::Chunk;
use penstock_scenario::world::{GoesOn, RunError, Sighting, Watcher};

use crate::agenda::Agenda;
use crate::clients::Client;
use crate::conditioners::CustomerConditioner;
use crate::dynamics::Counted;
use crate::elements::Leaving;
use crate::entry::Entry;
use crate::flow::{Flow, Group};
use crate::kind::Kind;
pub(crate) use crate::line::push;
use crate::line::{APART, LATE, Line, MARKS};
use crate::loss::{Fate, Losses};
use crate::measure::{Measure, Taken};
use crate::packet::{ACK, CE, ECT, LOW, Packet};
use crate::receiver::{Receiver, Reply};
use crate::sender::window::Allowed;
use crate::station::{Link, Station, held};
use crate::traffic::{Now, Source, Supply};

/// Bytes on the wire that a class or a customer has sent and that were delivered, since the start of the run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Account {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
}

/// One link of a route and the line behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hop {
    pub(crate) port: u32,
    pub(crate) line: u32,
}

/// The meaning of entity numbers on the agenda, in this order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbering {
    pub(crate) ports: u32,
    pub(crate) serve: u32,
    pub(crate) send: u32,
    pub(crate) timeout: u32,
    pub(crate) entries: u32,
    pub(crate) rare: u32,
}

/// The watcher is called after so many events, which take a millisecond or two. So is [`Engine::goes_on`] after so many packets of
/// a flow: with a huge window an event may send millions.
pub(crate) const BETWEEN_LOOKS: u64 = (1 << 14) - 1;

/// With so many flows and more, the data of a packet are seldom in the processor's nearest caches. A flow has a kibibyte of
/// it, with the slots in rings that come next: of 512 flows it stays in a megabyte, and looking ahead costs a twelfth.
pub(crate) const CROWD: usize = 1024;

/// A run.
pub(crate) struct Engine {
    pub(crate) now: u64,
    pub(crate) end: u64,
    pub(crate) agenda: Agenda,
    pub(crate) numbering: Numbering,
    pub(crate) lines: Vec<Line>,
    pub(crate) links: Vec<Link>,
    pub(crate) hops: Vec<Hop>,
    pub(crate) groups: Vec<Group>,
    pub(crate) flows: Vec<Flow>,
    /// The keys of flows for coins: the group's name and the index there, not the flow's number, which depends on the groups
    /// before.
    pub(crate) keys: Vec<u64>,
    pub(crate) receivers: Vec<Receiver>,
    pub(crate) entries: Vec<Entry>,
    /// Conditioners, which data pass as they come out of an entry.
    pub(crate) conditioners: Vec<CustomerConditioner>,
    pub(crate) sources: Vec<Source>,
    /// By group.
    pub(crate) supplies: Vec<Option<Supply>>,
    pub(crate) rare: Vec<Now>,
    /// Places on the agenda for times that laws name, which are free now.
    pub(crate) free_alarms: Vec<u32>,
    pub(crate) accounts: Vec<Account>,
    /// Accounts of classes come before those of customers.
    pub(crate) first_customer: usize,
    pub(crate) transfers: Vec<Transfer>,
    /// Browsers and players, the pages that have come, and the chunks.
    pub(crate) clients: Vec<Client>,
    pub(crate) pages: Vec<Load>,
    pub(crate) chunks: Vec<Chunk>,
    /// Flows that have a size, do not repeat, and are not done; of browsers each is one.
    pub(crate) unfinished: u64,
    pub(crate) stop_when_complete: bool,
    /// An acknowledgement [B].
    pub(crate) ack_size: u16,
    /// Sent and not yet handed to the first link.
    pub(crate) outbox: Vec<Packet>,
    /// A pause has come, which a run in steps has requested.
    pub(crate) paused: bool,
    /// The output of a sender's law that is no valid number: the run ends there, and has no result.
    pub(crate) fault: Option<RunError>,
    /// Whether the run shall go on, for bursts that take longer than the time between two calls of the watcher.
    pub(crate) goes_on: Option<GoesOn>,
    /// Packets at ends of flows since the last call of the watcher.
    pub(crate) seen: Option<Vec<Sighting>>,
    /// Counters for numbers of behaviour over time, where the scenario requests such.
    pub(crate) counted: Counted,
    /// One of these is requested.
    pub(crate) looks: bool,
    pub(crate) events: u64,
    /// Data packets that reached the far end of a line.
    pub(crate) crossed: u64,
    pub(crate) measure: Option<Box<Measure>>,
}

impl Engine {
    /// Runs to the end.
    pub(crate) fn run(&mut self, watcher: &mut dyn Watcher) -> Result<Taken, RunError> {
        self.goes_on = watcher.goes_on();
        let mut measure = self.start(watcher.wants_packets());
        self.advance(&mut measure, watcher, |_| false)?;
        self.conclude(measure)
    }

    /// Before the first event. `sees` is true if packets are watched.
    pub(crate) fn start(&mut self, sees: bool) -> Box<Measure> {
        let mut measure = self.measure.take().expect("an engine runs once");
        if sees {
            self.seen = Some(Vec::new());
        }
        self.looks = self.seen.is_some() || self.counted.any();
        if self.looks {
            let is_watched = self.seen.is_some();
            for group in &mut self.groups {
                group.kind = if is_watched { Kind::Other } else { group.kind.otherwise() };
            }
        }
        if measure.next() == 0 {
            // What happens at time zero belongs to a span that starts there.
            measure.read(self, 0);
        }
        measure
    }

    /// Goes on until `stop`, called after each event, returns true, or to the end; whether that was reached.
    pub(crate) fn advance(
        &mut self,
        measure: &mut Measure,
        watcher: &mut dyn Watcher,
        mut stop: impl FnMut(&mut Self) -> bool,
    ) -> Result<bool, RunError> {
        let crowded = self.flows.len() >= CROWD;
        let mut next_reading = measure.next();
        while let Some((time, entity)) = self.agenda.next() {
            // An event may bring the end nearer.
            if time > next_reading || time > self.end {
                self.read_before(time, measure);
                if time > self.end {
                    break;
                }
                next_reading = measure.next();
            }
            if crowded {
                self.look_ahead(entity);
            }
            self.now = time;
            self.events += 1;
            self.happen(entity);
            if self.events & BETWEEN_LOOKS == 0 {
                self.faults()?;
                if !watcher.progress(time as f64 / self.end as f64) {
                    return Err(RunError::Stopped);
                }
            }
            if let Some(seen) = &mut self.seen {
                seen.drain(..).for_each(|sighting| watcher.packet(&sighting));
            }
            if stop(self) {
                self.faults()?;
                return Ok(false);
            }
        }
        self.faults()?;
        Ok(true)
    }

    /// After the last event: the data of the run.
    pub(crate) fn conclude(&mut self, mut measure: Box<Measure>) -> Result<Taken, RunError> {
        self.read_before(u64::MAX, &mut measure);
        measure.close(self);
        self.now = self.end;
        self.check()?;
        // What is under way has been counted; tables of many flows may need its memory.
        self.lines.iter_mut().for_each(|line| line.packets = Ring::new());
        self.flows.iter_mut().for_each(|flow| flow.data.release());
        Ok(measure.taken)
    }

    /// The output of a flow's law is no valid number. Other events at this moment use its output before, and
    /// there are none after.
    #[cold]
    #[inline(never)]
    pub(crate) fn refuse(&mut self, at: usize, said: Allowed) {
        let flow = &self.flows[at];
        let Group { name, law, .. } = &self.groups[flow.group as usize];
        let whose = format!("flows.{name}, flow {}", flow.index);
        let fault = RunError::Law { whose, law, at: Time(self.now), output: said.to_string() };
        self.fault.get_or_insert(fault);
        self.end = self.now;
    }

    /// The output of a law that is no valid number, if there was one.
    #[cold]
    pub(crate) fn faults(&mut self) -> Result<(), RunError> {
        let links = self.links.iter().find_map(Link::fault);
        let fault =
            self.fault.take().or(links).or_else(|| self.conditioners.iter().find_map(CustomerConditioner::fault));
        fault.map_or(Ok(()), Err)
    }

    /// Takes the samples that are due before `time`, and not after the end.
    #[cold]
    pub(crate) fn read_before(&mut self, time: u64, measure: &mut Measure) {
        while measure.next() < time && measure.next() <= self.end {
            let at = measure.next();
            measure.read(self, at);
        }
    }

    #[inline]
    pub(crate) fn happen(&mut self, entity: u32) {
        let n = self.numbering;
        if entity < n.ports {
            self.arrive(entity);
        } else if entity < n.serve {
            self.port_tick(entity);
        } else if entity < n.send {
            self.serve((entity - n.serve) as usize);
        } else if entity < n.timeout {
            let flow = (entity - n.send) as usize;
            if let Some(later) = self.flows[flow].put_off(self.now) {
                self.schedule(entity, later);
            } else {
                self.flows[flow].burst.scheduled = false;
                self.send(flow);
            }
        } else if entity < n.entries {
            self.timeout((entity - n.timeout) as usize);
        } else if entity < n.rare {
            self.enter((entity - n.entries) as usize);
        } else {
            self.happen_now(entity);
        }
    }

    #[inline]
    pub(crate) fn schedule(&mut self, entity: u32, time: u64) {
        self.agenda.schedule_last(entity, time);
    }

    /// The head of a line reaches the line's end.
    #[inline]
    fn arrive(&mut self, at: u32) {
        let line = &mut self.lines[at as usize];
        let mut packet = line.packets.pop();
        let (port, decides, delay) = (line.port as usize, line.decides, line.delay);
        if let Some(head) = line.packets.front() {
            line.flow = head.flow;
            self.agenda.put(at, head.at, head.stamp);
        }
        if decides != 0 {
            let Link { station, coins, ecn, losses, .. } = &mut self.links[port];
            let departed = if decides & APART != 0
                && let Some(elements) = &mut losses.elements
            {
                elements.departed(at)
            } else {
                // Without marks nobody asks, and where the delay has fallen this is before the start.
                Time(packet.at.wrapping_sub(delay))
            };
            if packet.is(ECT) {
                if decides & MARKS != 0
                    && let Station::Port(port) = station
                    && port.marks(departed, || coins.of(packet.identity(&self.keys)))
                {
                    packet.flags |= CE;
                }
                packet.flags &= !cleared(*ecn, packet.flags);
            }
        }
        packet.hop += 1;
        self.crossed += u64::from(!packet.is(ACK));
        let flow = &self.flows[packet.flow as usize];
        let (first, hops) = flow.route[usize::from(packet.flags & ACK)];
        if packet.hop < hops {
            self.forward(packet, first);
        } else if packet.is(ACK) {
            self.acknowledged(packet.flow as usize, Reply::of(&packet));
        } else {
            self.delivered(&packet);
        }
    }

    /// A packet comes out of its end system.
    #[cold]
    fn enter(&mut self, at: usize) {
        let entry = &mut self.entries[at];
        let mut packet = entry.line.packets.pop();
        if let Some(head) = entry.line.packets.front() {
            self.agenda.schedule(self.numbering.entries + at as u32, head.at, head.stamp);
        }
        if packet.is(ACK) {
            self.back(packet.flow as usize, Reply::of(&packet));
        } else {
            let flow = &self.flows[packet.flow as usize];
            if let Some(conditioner) = self.conditioners.get_mut(self.groups[flow.group as usize].conditioner as usize)
            {
                conditioner.colour(&mut packet, self.now, &self.keys);
            }
            self.forward(packet, flow.route[0].0);
        }
    }

    /// Offers a packet to the next link of its route.
    // Always inlined, as `cross` is: a packet that stays in registers until it is stored in a ring is never copied through
    // memory in other widths than it was written, which stalls the store buffer and cost a quarter of the whole run.
    #[expect(clippy::inline_always, reason = "measured, see above")]
    #[inline(always)]
    pub(crate) fn forward(&mut self, packet: Packet, first: u32) {
        let hop = self.hops[first as usize + packet.hop as usize];
        let Link { station, coins, losses, .. } = &mut self.links[hop.port as usize];
        let Station::Port(port) = station else { return self.hand(packet, hop.port as usize) };
        let lines = &mut self.lines;
        if !cross(packet, self.now, hop.line, port, (*coins, losses, &self.keys), lines, &mut self.agenda) {
            self.lost(packet.flow, packet.flags, hop.port);
        }
    }

    #[cold]
    fn lost(&mut self, flow: u32, flags: u8, port: u32) {
        self.dropped(flow, flags, port);
        if flags & ACK == 0 {
            self.flows[flow as usize].sent.lost += 1;
        }
    }

    /// A packet is dropped at a link that holds none.
    #[cold]
    pub(crate) fn dropped(&mut self, flow: u32, flags: u8, port: u32) {
        if self.counted.any() {
            let arrivals = self.links[port as usize].station.arrivals();
            self.counted.at_link(port as usize, Time(self.now), arrivals);
            self.counted.dropped(flow, flags & ACK == 0);
        }
    }

    pub(crate) fn flow_tick(&mut self, at: usize, entity: u32) {
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let next = self.now + group.period;
        if group.delivery {
            if group.windows.known(flow.index as usize) {
                self.tell_in_detail(at, Event::Tick);
                self.send(at);
            }
        } else if group.windows.known(flow.index as usize) {
            let mut allowed = group.windows.on(flow.index as usize, Time(self.now), Event::Tick);
            if group.by_time {
                allowed = flow.by_time(Some(allowed)).unwrap_or(allowed);
            }
            if !flow.allow(allowed, group.paced, self.now) {
                return self.refuse(at, allowed);
            }
            self.send(at);
        }
        self.schedule(entity, next);
    }

    fn port_tick(&mut self, entity: u32) {
        let station = &mut self.links[(entity - self.numbering.ports) as usize].station;
        station.tick(Time(self.now));
        let next = self.now + station.period().0;
        self.schedule(entity, next);
    }

    /// Conservation: every packet sent was delivered, dropped, or is under way.
    fn check(&mut self) -> Result<(), RunError> {
        for (at, link) in self.links.iter_mut().enumerate() {
            let off = link.station.unaccounted(Time(self.end));
            if off != 0 {
                return Err(RunError::Broken(format!("link {at}: {off} packets are unaccounted for")));
            }
        }
        let elements = || self.links.iter().filter_map(|link| link.losses.elements.as_ref());
        let copies = elements().map(|elements| elements.copies());
        let sent = self.flows.iter().map(|f| f.sent.packets).sum::<u64>() + copies.sum::<u64>();
        let lost: u64 = self.flows.iter().map(|f| f.sent.lost).sum();
        let delivered: u64 = self.receivers.iter().map(|r| r.received.packets).sum();
        let lines = self.lines.iter().chain(self.entries.iter().map(|entry| &entry.line));
        let held = self.links.iter().map(|link| held(&link.station)).sum::<u64>()
            + elements().map(|elements| elements.held()).sum::<u64>();
        let under_way = held + lines.map(|l| l.packets.iter().filter(|p| !p.is(ACK)).count() as u64).sum::<u64>();
        if sent != lost + delivered + under_way {
            return Err(RunError::Broken(format!(
                "{sent} data packets were sent or copied, but {delivered} delivered, {lost} lost and {under_way} are under way"
            )));
        }
        Ok(())
    }
}

/// Offers a packet to a link; false if it was refused or lost there.
#[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
#[inline(always)]
pub(crate) fn cross(
    mut packet: Packet,
    now: u64,
    number: u32,
    port: &mut Port,
    (coins, losses, keys): (Coins, &mut Losses, &[u64]),
    lines: &mut [Line],
    agenda: &mut Agenda,
) -> bool {
    match port.offer(Time(now), u32::from(packet.size), packet.is(ECT), || coins.of(packet.identity(keys))) {
        Offer::Refused(_) => false,
        Offer::Accepted { departure, marked } => {
            let fate = losses.take(&packet, keys);
            if marked {
                packet.flags |= CE;
            }
            let number = match fate {
                Fate::Comes => number,
                Fate::Late => number + LATE,
                Fate::Lost => {
                    port.lose();
                    return false;
                }
                Fate::Apart(late) => {
                    let elements = losses.elements.as_mut().expect("such a fate has them");
                    let line = number + if late { LATE } else { 0 };
                    port.duplicate(elements.carry(Leaving { packet, departure, line }, (keys, lines, agenda)));
                    return true;
                }
            };
            let line = &mut lines[number as usize];
            packet.at = departure.0.saturating_add(line.delay);
            push(packet, number, line, agenda);
            true
        }
    }
}

/// The flags that a line clears of a packet that may be marked.
#[cold]
fn cleared(ecn: EcnOnLine, flags: u8) -> u8 {
    match ecn {
        EcnOnLine::Bleach => ECT | CE | LOW,
        // What was ECT(1) before it was marked comes out as ECT(0), as all do.
        EcnOnLine::EraseCe if flags & CE != 0 => CE | LOW,
        // A mark has taken the place of ECT(1).
        EcnOnLine::Ect0 if flags & CE == 0 => LOW,
        EcnOnLine::Keep | EcnOnLine::EraseCe | EcnOnLine::Ect0 => 0,
    }
}

#[cfg(test)]
mod tests;
