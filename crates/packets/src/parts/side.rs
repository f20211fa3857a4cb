//! One part of a run: its engine, with the packets that come from other parts among its own events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::DerefMut;

use penstock_law::quantity::Time;
use penstock_link::Ring;
use penstock_scenario::world::RunError;

use crate::engine::{CROWD, Engine};
use crate::flow::NONE;
use crate::line::{Line, MARKS};
use crate::lineage::{Ages, Given, Happened, History, Parent, among, is_before};
use crate::packet::{ACK, CE, ECT, Packet};
use crate::partition::Partition;
use crate::station::{Link, Station};

/// A part.
pub(super) struct Side {
    number: u32,
    pub(super) engine: Engine,
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    /// The place among those of each line.
    places: Vec<u32>,
    /// When the first packet of each of them comes out, and its place.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    /// Events of this span.
    happened: Vec<Happened>,
    ages: Ages,
    /// The stamp given next when the span before was over.
    stamp: u32,
}

/// A line to another part.
struct Outgoing {
    line: u32,
    to: u32,
    /// Where its marks are drawn as packets come out: when those come out that were marked, which are not counted before.
    marked: Option<Ring<u64>>,
    /// [`FIRST`] is on it.
    guarded: bool,
}

/// A line from another part.
struct Incoming {
    line: u32,
    from: u32,
    packets: Ring<Packet>,
}

/// The order of two events is not known.
#[derive(Debug)]
pub(super) struct Undecided;

/// Stands before all packets of a line to another part, so that none of them is the line's head, which has an event here.
const FIRST: Packet = Packet { at: u64::MAX, stamp: 0, flow: 0, seq: 0, tx: 0, from: 0, size: 0, flags: ACK, hop: 0 };

impl Side {
    /// A part of which nothing has happened yet. `lead_to` has the part that each line leads to.
    pub(super) fn new(number: u32, mut engine: Engine, cut: &Partition, lead_to: &[u32]) -> Self {
        let mut places = vec![NONE; lead_to.len()];
        let (mut incoming, mut outgoing) = (Vec::new(), Vec::new());
        for (line, to) in (0..).zip(lead_to) {
            let from = cut.links[engine.lines[line as usize].port as usize];
            let own = &mut engine.lines[line as usize];
            if from == number && *to != number {
                own.packets.push(FIRST);
                let marked = (own.decides & MARKS != 0).then(Ring::new);
                outgoing.push(Outgoing { line, to: *to, marked, guarded: true });
            } else if from != number && *to == number {
                // They are marked where they come from.
                own.decides &= !MARKS;
                places[line as usize] = incoming.len() as u32;
                incoming.push(Incoming { line, from, packets: Ring::new() });
            }
        }
        Self {
            number,
            engine,
            outgoing,
            incoming,
            places,
            due: BinaryHeap::new(),
            happened: Vec::new(),
            ages: Ages::default(),
            stamp: 0,
        }
    }

    /// Packets come from another part.
    pub(super) fn take(&mut self, mail: &mut Vec<(u32, Packet)>) {
        for (line, packet) in mail.drain(..) {
            let place = self.places[line as usize];
            if self.incoming[place as usize].packets.push(packet) {
                self.due.push(Reverse((packet.at, place)));
            }
        }
    }

    /// All events before `until`, after all parts have given so many `stamps`. `parent` tells what scheduled an event, of all parts
    /// and of all spans before this one.
    pub(super) fn run(&mut self, until: u64, stamps: u64, parent: &dyn Fn(Given) -> Parent) -> Result<(), Undecided> {
        self.ages.count(stamps, self.engine.agenda.next_stamp());
        let crowded = self.engine.flows.len() >= CROWD;
        let last = until - 1;
        loop {
            let due = self.due.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
            let Some((time, entity, stamp)) = self.engine.agenda.take(due.min(last)) else {
                if due > last {
                    return Ok(());
                }
                let place = self.first_due(parent)?;
                self.arrive(place, crowded)?;
                continue;
            };
            let event = Given { part: self.number, stamp };
            if time == due {
                let place = self.first_due(parent)?;
                if self.is_before(self.head(place), event, parent)? {
                    self.engine.agenda.put(entity, time, stamp);
                    self.arrive(place, crowded)?;
                    continue;
                }
                self.due.push(Reverse((due, place)));
            }
            self.happen(time, event, entity, crowded)?;
        }
    }

    fn head(&self, place: u32) -> Given {
        let Incoming { from, packets, .. } = &self.incoming[place as usize];
        Given { part: *from, stamp: packets.front().map_or(0, |packet| packet.stamp) }
    }

    fn is_before(&self, a: Given, b: Given, parent: &dyn Fn(Given) -> Parent) -> Result<bool, Undecided> {
        let next = self.engine.agenda.next_stamp();
        let any = |event: Given| {
            let own = if event.part == self.number { among(&self.happened, next, event.stamp) } else { None };
            own.map_or_else(|| parent(event), Parent::Event)
        };
        is_before(a, b, any).ok_or(Undecided)
    }

    /// Takes the line whose packet is the first to come out, of several at one time that of the packet that was put there first.
    fn first_due(&mut self, parent: &dyn Fn(Given) -> Parent) -> Result<u32, Undecided> {
        let Some(Reverse((time, mut first))) = self.due.pop() else { return Err(Undecided) };
        let mut others = Vec::new();
        while self.due.peek().is_some_and(|Reverse((at, _))| *at == time) {
            let Some(Reverse((_, mut other))) = self.due.pop() else { break };
            if self.is_before(self.head(other), self.head(first), parent)? {
                (first, other) = (other, first);
            }
            others.push(other);
        }
        self.due.extend(others.into_iter().map(|other| Reverse((time, other))));
        Ok(first)
    }

    /// A packet of another part comes out of its line, which is none of [`Side::due`] now.
    fn arrive(&mut self, place: u32, crowded: bool) -> Result<(), Undecided> {
        let Incoming { line, from, packets } = &mut self.incoming[place as usize];
        let packet = packets.pop();
        if let Some(head) = packets.front() {
            self.due.push(Reverse((head.at, place)));
        }
        let (line, event) = (*line, Given { part: *from, stamp: packet.stamp });
        let behind = &mut self.engine.lines[line as usize];
        behind.packets.push(packet);
        behind.flow = packet.flow;
        self.happen(packet.at, event, line, crowded)
    }

    #[inline]
    fn happen(&mut self, time: u64, event: Given, entity: u32, crowded: bool) -> Result<(), Undecided> {
        let engine = &mut self.engine;
        let next = engine.agenda.next_stamp();
        if self.ages.is_in_doubt(time, Some(event.stamp).filter(|_| event.part == self.number), next) {
            return Err(Undecided);
        }
        self.happened.push(Happened::new(time, event, next));
        if crowded {
            engine.look_ahead(entity);
        }
        engine.now = time;
        engine.events += 1;
        engine.happen(entity);
        Ok(())
    }

    /// Number of events in this span.
    pub(super) fn events(&self) -> u64 {
        self.happened.len() as u64
    }

    /// The output of a law that is no valid number, or nobody wants the run any more.
    pub(super) fn fault(&self) -> Option<&RunError> {
        self.engine.fault.as_ref()
    }

    /// The span is over: its events become history, which is kept `since` some time. How many stamps it gave.
    pub(super) fn remember(&mut self, history: &mut History, since: u64) -> u32 {
        let next = self.engine.agenda.next_stamp();
        history.append(&mut self.happened, next, since);
        next.wrapping_sub(std::mem::replace(&mut self.stamp, next))
    }

    /// The span until `until` is over: packets go to other parts, by the mail to each.
    pub(super) fn send<M: DerefMut<Target = Vec<(u32, Packet)>>>(&mut self, until: u64, mail_to: impl Fn(u32) -> M) {
        let Engine { lines, links, keys, .. } = &mut self.engine;
        for Outgoing { line: number, to, marked, guarded } in &mut self.outgoing {
            let Line { port, delay, packets, .. } = &mut lines[*number as usize];
            let Link { station, coins, .. } = &mut links[*port as usize];
            if let (Some(marked), Station::Port(port)) = (&mut *marked, &mut *station) {
                while marked.front().is_some_and(|at| *at < until) {
                    marked.pop();
                    port.count_mark();
                }
            }
            if packets.len() == usize::from(*guarded) {
                continue;
            }
            if std::mem::take(guarded) {
                packets.pop();
            }
            let mut mail = mail_to(*to);
            while let Some(head) = packets.front() {
                let departure = head.at.saturating_sub(*delay);
                // A mark is decided at departure: who has not left yet stays.
                if marked.is_some() && departure >= until {
                    break;
                }
                let mut packet = packets.pop();
                if let (Some(marked), Station::Port(port)) = (&mut *marked, &mut *station)
                    && packet.is(ECT)
                    && port.will_mark(Time(departure), || coins.of(packet.identity(keys)))
                {
                    packet.flags |= CE;
                    marked.push(packet.at);
                }
                mail.push((*number, packet));
            }
            if packets.is_empty() {
                packets.push(FIRST);
                *guarded = true;
            }
        }
    }

    /// The run is over: the engine. Packets from other parts that have not come out are added to those under way.
    pub(super) fn close(mut self, under_way: &mut Vec<(u32, Packet)>) -> Engine {
        for Incoming { line, packets, .. } in &mut self.incoming {
            under_way.extend(packets.iter().map(|packet| (*line, *packet)));
        }
        self.engine
    }
}
