//! Events of packets between the two ends: queues, lines, losses and marks, with time as an argument.
//!
//! Every event occurs at its exact moment, however late the caller comes: a packet reaches its next link, a line
//! becomes free and a law's period goes by in the order of their own times, so that lateness does not add up along a way.
//! Only arrivals are as late as the caller was in reading them: see [`Packet::unseen`].

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use penstock_law::quantity::Time;
use penstock_link::{Conditioner, Counters, Delays, Entry, Ring, Station};
use penstock_scenario::model::{EcnOnLine, Full, Group, Scenario};
use penstock_scenario::seed::Stream;
use penstock_scenario::world::RunError;

use super::Refused;
use super::packet::{Direction, Key, Packet};
use super::station::{Fate, Leaving, Link};

/// A packet that comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit {
    /// When it should.
    pub(crate) wanted: Time,
    /// The packet.
    pub(crate) packet: Packet,
}

/// Data packets of one flow, from the start of the run to a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Passed {
    /// That entered the path.
    pub sent: u64,
    /// That were dropped or lost on it.
    pub lost: u64,
    /// That came out.
    pub delivered: u64,
    /// Of those, with a mark that they got on the path.
    pub marked: u64,
    /// Bytes that entered, on the wire [B].
    pub sent_bytes: u64,
    /// Bytes that came out, on the wire [B].
    pub delivered_bytes: u64,
}

/// Where a flow's packets go, each way: the hops, and the end behind the last.
#[derive(Debug, Clone)]
struct Flow {
    key: Key,
    /// Its own ways to the first links, and the conditioner that its data pass after them.
    entrances: [Option<u32>; 2],
    contract: Option<u32>,
    routes: [(u32, u8); 2],
    /// The share of packets to its receiver that is lost behind the last link, and the coins.
    loss: Option<(f64, Stream)>,
    passed: Passed,
}

/// A flow's own way to its first link, with the packets on it. Only its head is on the agenda.
#[derive(Debug)]
struct Entrance {
    way: Entry,
    packets: Ring<(Time, Packet)>,
    /// When the last one on it comes out.
    last: Time,
}

/// Where a customer's data enter, under a contract.
struct Contract {
    conditioner: Conditioner,
    /// Its index among the customers.
    customer: usize,
    coins: Stream,
}

/// A link, and the line behind it.
#[derive(Debug, Clone, Copy)]
struct Hop {
    link: u32,
    line: u32,
}

/// The longest gap after which a packet is still marked by the law's output when it left the link.
const UNSEEN: Time = Time(Time::PER_SECOND);

/// A delay line: first in, first out. Only its head is on the agenda.
#[derive(Debug)]
struct Line {
    link: u32,
    delay: Time,
    /// Time at which the last packet leaves.
    last: Time,
    /// When each comes out, and when it left the link.
    packets: Ring<(Time, Time, Packet)>,
}

/// The events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The head of a flow's own way comes out.
    Enter(u32),
    /// The head of a line comes out.
    Out(u32),
    /// A link's line is free.
    Serve(u32),
    /// The period of a link's law went by.
    Tick(u32),
}

/// The links of a scenario and all that is on them.
pub struct Emulation {
    links: Vec<Link>,
    lines: Vec<Line>,
    hops: Vec<Hop>,
    flows: Vec<Flow>,
    entrances: Vec<Entrance>,
    contracts: Vec<Contract>,
    agenda: BinaryHeap<Reverse<(Time, u64, Event)>>,
    stamp: u64,
    now: Time,
    exits: Vec<Exit>,
    dropped: Vec<Packet>,
    crossed: u64,
}

impl std::fmt::Debug for Emulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emulation").field("now", &self.now).field("links", &self.links.len()).finish_non_exhaustive()
    }
}

impl Emulation {
    /// The links of a scenario, empty, at time zero.
    ///
    /// # Errors
    /// Names the features that this path lacks.
    pub fn of(scenario: &Scenario) -> Result<Self, Refused> {
        let mut plan = Plan::default();
        let classes = scenario.class_names();
        let contracts = contracts(scenario)?;
        for (name, group) in &scenario.groups {
            let contract = contracts.iter().position(|contract| {
                let customer = scenario.customers.get_index(contract.customer);
                customer.is_some_and(|(_, customer)| customer.flows.iter().any(|flow| flow == name))
            });
            let contract = contract.map(|at| at as u32);
            let class = group.class.as_ref().and_then(|class| classes.iter().position(|name| name == class));
            let hashes = scenario.seed.stream(&format!("flows.{name}/packets")).bits();
            for (index, rtt) in group.rtts(name, scenario.seed).into_iter().enumerate() {
                let routes = plan.routes(scenario, name, group, rtt)?;
                let hash = (hashes.wrapping_add((index as u64) << 32) >> 32) as u32;
                let key = Key { class: class.unwrap_or(classes.len()) as u32, hash };
                let own = |what: &str| scenario.seed.stream(&format!("flows.{name}/{what}/{index}"));
                if group.access.is_some_and(|access| access.full == Full::Wait) {
                    let what = format!(
                        "flows.{name}.access.full: the emulated path cannot hold back the senders of a program"
                    );
                    return Err(Refused::new(what, "choose `drop`"));
                }
                let data = (group.access.is_some() || group.jitter.is_some())
                    .then(|| Entry::of_data(group.access, group.jitter, own("jitter")));
                let acks = group.ack_jitter.as_ref().map(|jitter| Entry::of_acks(jitter, own("ack_jitter")));
                let entrances = [plan.entrance(data), plan.entrance(acks)];
                let loss = (group.loss > 0.0).then(|| (group.loss, own("loss")));
                plan.flows.push(Flow { key, entrances, contract, routes, loss, passed: Passed::default() });
            }
        }
        let longest = |link: usize| plan.lines.iter().filter(move |l| l.link == link as u32).map(|l| l.delay).max();
        let links = scenario.links.keys().enumerate();
        let links = links.map(|(at, name)| {
            let longer = Delays::longer(&scenario.links[name]);
            Link::of(scenario, name, longest(at).unwrap_or_default() + longer + UNSEEN)
        });
        let links: Vec<_> = links.collect::<Result<_, _>>()?;
        let mut emulation = Self {
            links,
            lines: plan.lines,
            hops: plan.hops,
            flows: plan.flows,
            entrances: plan.entrances,
            contracts,
            agenda: BinaryHeap::new(),
            stamp: 0,
            now: Time::ZERO,
            exits: Vec::new(),
            dropped: Vec::new(),
            crossed: 0,
        };
        for at in 0..emulation.links.len() {
            let period = emulation.links[at].station.period();
            if period != Time::NEVER {
                emulation.schedule(period, Event::Tick(at as u32));
            }
        }
        Ok(emulation)
    }

    /// Flows, over all groups.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// Data packets that left links.
    pub fn crossed(&self) -> u64 {
        self.crossed
    }

    /// A packet enters at `now`. All events before were processed: see [`Emulation::advance`].
    pub fn offer(&mut self, now: Time, packet: Packet) {
        let now = now.max(self.now);
        self.now = now;
        let flow = &mut self.flows[packet.flow as usize];
        if packet.of_customer() {
            flow.passed.sent += 1;
            flow.passed.sent_bytes += u64::from(packet.bytes);
        }
        let mut packet = Packet { hops: 0, marked: false, colour: None, ..packet };
        let Some(at) = flow.entrances[packet.direction as usize] else { return self.enter(now, packet) };
        // Without links this is all of its way.
        let whole = flow.routes[packet.direction as usize].1 == 0;
        let Entrance { way, packets, last } = &mut self.entrances[at as usize];
        let Some(mut out) = way.pass(now, packet.bytes) else {
            return lose(&mut self.flows, &mut self.dropped, packet);
        };
        if whole {
            out = (out + std::mem::take(&mut packet.unseen)).max(*last);
        }
        *last = out;
        packets.push((out, packet));
        if packets.len() == 1 {
            self.schedule(out, Event::Enter(at));
        }
    }

    /// Time of the next event; never where nothing is under way and no law has a period.
    pub fn next(&self) -> Time {
        self.agenda.peek().map_or(Time::NEVER, |Reverse((time, ..))| *time)
    }

    /// Processes all events up to `now`.
    pub fn advance(&mut self, now: Time) {
        while let Some(Reverse((time, _, event))) = self.agenda.peek().copied()
            && time <= now
        {
            self.agenda.pop();
            match event {
                Event::Enter(entrance) => self.come_in(entrance),
                Event::Out(line) => self.out(line),
                Event::Serve(link) => self.serve(time, link),
                Event::Tick(link) => {
                    let station = &mut self.links[link as usize].station;
                    station.tick(time);
                    let next = time + station.period();
                    self.schedule(next, event);
                }
            }
        }
        self.now = self.now.max(now);
    }

    /// Packets that have come out since the last call, in the order of time.
    pub(crate) fn exits(&mut self) -> std::vec::Drain<'_, Exit> {
        self.exits.drain(..)
    }

    /// Packets dropped or lost since the last call.
    pub fn dropped(&mut self) -> std::vec::Drain<'_, Packet> {
        self.dropped.drain(..)
    }

    /// Counters of each flow.
    pub fn passed(&self) -> Vec<Passed> {
        self.flows.iter().map(|flow| flow.passed).collect()
    }

    /// Counters of a link up to `now`, and packets waiting then.
    pub fn counters(&mut self, link: usize, now: Time) -> (Counters, u64) {
        let station = &mut self.links[link].station;
        (station.read(now), station.waiting(now))
    }

    /// Conditioners, with the indices of their customers among all.
    pub fn contracts(&self) -> impl Iterator<Item = (usize, &Conditioner)> {
        self.contracts.iter().map(|contract| (contract.customer, &contract.conditioner))
    }

    /// The same, to be read.
    pub(super) fn conditioners(&mut self) -> impl Iterator<Item = &mut Conditioner> {
        self.contracts.iter_mut().map(|contract| &mut contract.conditioner)
    }

    /// The queues of links, to be read.
    pub(super) fn stations(&mut self) -> impl Iterator<Item = &mut Station<Packet>> {
        self.links.iter_mut().map(|link| &mut link.station)
    }

    /// The queue of a link.
    pub fn station(&self, link: usize) -> &Station<Packet> {
        &self.links[link].station
    }

    /// Arrivals at links that are neither departed, dropped nor there: zero, or this is broken.
    pub fn unaccounted(&mut self, now: Time) -> i64 {
        self.links.iter_mut().map(|link| link.station.unaccounted(now).abs()).sum()
    }

    /// The output of an AQM or a conditioner that is no number, if there is one: such a run has no result.
    pub fn fault(&self, scenario: &Scenario) -> Option<RunError> {
        let links = self.links.iter().zip(&scenario.links).find_map(|(link, (name, of))| {
            let (at, output) = link.station.unsound()?;
            Some(RunError::Law {
                whose: format!("links.{name}.aqm"),
                law: of.aqm.law.name,
                at,
                output: output.to_owned(),
            })
        });
        let conditioners = || {
            self.contracts.iter().find_map(|contract| {
                let (at, output) = contract.conditioner.unsound()?;
                let (name, customer) = scenario.customers.get_index(contract.customer)?;
                let whose = format!("customers.{name}.conditioner");
                Some(RunError::Law {
                    whose,
                    law: customer.conditioner.as_ref()?.law.name,
                    at,
                    output: output.to_owned(),
                })
            })
        };
        links.or_else(conditioners)
    }

    fn schedule(&mut self, time: Time, event: Event) {
        if time != Time::NEVER {
            self.stamp += 1;
            self.agenda.push(Reverse((time, self.stamp, event)));
        }
    }

    /// The head of a flow's own way comes out.
    fn come_in(&mut self, at: u32) {
        let packets = &mut self.entrances[at as usize].packets;
        let Some((time, packet)) = packets.front().copied() else { return };
        packets.pop();
        if let Some((next, _)) = packets.front().copied() {
            self.schedule(next, Event::Enter(at));
        }
        self.enter(time, packet);
    }

    /// A packet enters the network: data are held against their customer's contract.
    fn enter(&mut self, now: Time, mut packet: Packet) {
        if packet.of_customer()
            && let Some(at) = self.flows[packet.flow as usize].contract
        {
            let Contract { conditioner, coins, .. } = &mut self.contracts[at as usize];
            packet.colour = Some(conditioner.colour(now, packet.bytes, || coins.unit()));
        }
        self.reach(now, packet);
    }

    /// A packet stands before its next link, or at the end of its way.
    fn reach(&mut self, now: Time, packet: Packet) {
        let flow = &mut self.flows[packet.flow as usize];
        let (first, count) = flow.routes[packet.direction as usize];
        if packet.hops == count {
            if let Some((share, coins)) = &mut flow.loss
                && packet.direction == Direction::Forward
                && coins.lands(*share)
            {
                return lose(&mut self.flows, &mut self.dropped, packet);
            }
            if packet.of_customer() {
                flow.passed.delivered += 1;
                flow.passed.delivered_bytes += u64::from(packet.bytes);
                flow.passed.marked += u64::from(packet.marked);
            }
            let wanted = if count == 0 { now + packet.unseen } else { now };
            self.exits.push(Exit { wanted, packet });
            return;
        }
        let (key, hop) = (flow.key, self.hops[first as usize + usize::from(packet.hops)]);
        let Self { links, flows, dropped, .. } = self;
        let link = &mut links[hop.link as usize];
        match link.offer(now, packet, key, |displaced| lose(flows, dropped, displaced)) {
            Fate::Dropped => lose(flows, dropped, packet),
            Fate::Leaves(leaving) => self.leave(hop.line, packet, leaving),
            Fate::Waits if link.scheduled => {}
            Fate::Waits => self.serve_or_wait(now, hop.link),
        }
    }

    fn serve_or_wait(&mut self, now: Time, link: u32) {
        match self.links[link as usize].free_at() {
            Some(free) if free <= now => self.serve(now, link),
            Some(free) => {
                self.links[link as usize].scheduled = true;
                self.schedule(free, Event::Serve(link));
            }
            None => {}
        }
    }

    fn serve(&mut self, now: Time, at: u32) {
        let Self { links, flows, dropped, .. } = self;
        let link = &mut links[at as usize];
        link.scheduled = false;
        let leaving = link.serve(now, |packet| lose(flows, dropped, packet));
        if let Some((packet, leaving)) = leaving {
            let (first, _) = self.flows[packet.flow as usize].routes[packet.direction as usize];
            let hop = self.hops[first as usize + usize::from(packet.hops)];
            self.leave(hop.line, packet, leaving);
        }
        if let Some(free) = self.links[at as usize].free_at() {
            self.links[at as usize].scheduled = true;
            self.schedule(free.max(now), Event::Serve(at));
        }
    }

    /// A packet leaves a link for the line behind it.
    fn leave(&mut self, at: u32, mut packet: Packet, Leaving { departure, marked, late }: Leaving) {
        // The line of those that come late is the next.
        let at = at + u32::from(late);
        if marked {
            packet.mark();
        }
        packet.hops += 1;
        self.crossed += u64::from(packet.data);
        let (_, count) = self.flows[packet.flow as usize].routes[packet.direction as usize];
        let unseen = if packet.hops == count { packet.unseen } else { Time::ZERO };
        let line = &mut self.lines[at as usize];
        let out = match &mut self.links[line.link as usize].delays {
            // What is private to the flow comes after the link's own delay.
            Some(delays) => delays.pass(departure) + (line.delay - delays.first()),
            None => departure + line.delay,
        };
        let time = (out + unseen).max(line.last);
        line.last = time;
        line.packets.push((time, departure, packet));
        if line.packets.len() == 1 {
            self.schedule(time, Event::Out(at));
        }
    }

    /// The head of a line comes out.
    fn out(&mut self, at: u32) {
        let line = &mut self.lines[at as usize];
        let Some((time, departure, mut packet)) = line.packets.front().copied() else { return };
        line.packets.pop();
        let link = &mut self.links[line.link as usize];
        if packet.markable && link.marks(departure) {
            packet.mark();
        }
        if link.ecn != EcnOnLine::Keep {
            packet.cross(link.ecn);
        }
        if let Some((next, ..)) = line.packets.front().copied() {
            self.schedule(next, Event::Out(at));
        }
        self.reach(time, packet);
    }
}

fn lose(flows: &mut [Flow], dropped: &mut Vec<Packet>, packet: Packet) {
    flows[packet.flow as usize].passed.lost += u64::from(packet.of_customer());
    dropped.push(packet);
}

/// The contracts of customers.
fn contracts(scenario: &Scenario) -> Result<Vec<Contract>, Refused> {
    let conditioners =
        Conditioner::of_customers(scenario).map_err(|what| Refused::new(what, "choose other parameters"))?;
    let contract = |(customer, conditioner)| {
        let (name, _) = scenario.customers.get_index(customer).expect("a conditioner is a customer's");
        Contract { conditioner, customer, coins: scenario.seed.stream(&format!("customers.{name}/conditioner")) }
    };
    Ok(conditioners.into_iter().map(contract).collect())
}

/// Routes of flows, which share lines where link and delay are the same.
#[derive(Default)]
struct Plan {
    hops: Vec<Hop>,
    lines: Vec<Line>,
    by_link_and_delay: BTreeMap<(u32, Time), u32>,
    flows: Vec<Flow>,
    entrances: Vec<Entrance>,
}

impl Plan {
    fn entrance(&mut self, way: Option<Entry>) -> Option<u32> {
        way.map(|way| {
            self.entrances.push(Entrance { way, packets: Ring::new(), last: Time::ZERO });
            self.entrances.len() as u32 - 1
        })
    }

    fn routes(&mut self, scenario: &Scenario, name: &str, group: &Group, rtt: Time) -> Result<[(u32, u8); 2], Refused> {
        let delay = |links: &[String]| Time(links.iter().map(|l| scenario.links[l].delay.0).sum());
        let links = delay(&group.forward) + delay(&group.backward);
        if links > rtt {
            let what = format!(
                "flows.{name}.rtt: {rtt} is less than {links}, the propagation delay of the links there and back"
            );
            return Err(Refused::new(what, "make it longer, or the links shorter"));
        }
        Ok([
            self.hops(scenario, name, &group.forward, rtt - links)?,
            self.hops(scenario, name, &group.backward, Time::ZERO)?,
        ])
    }

    fn hops(&mut self, scenario: &Scenario, name: &str, links: &[String], private: Time) -> Result<(u32, u8), Refused> {
        let first = self.hops.len() as u32;
        for (at, link) in links.iter().enumerate() {
            let number = scenario.links.get_index_of(link).expect("routes name links") as u32;
            let delay = scenario.links[link].delay + if at + 1 == links.len() { private } else { Time::ZERO };
            let lines = &mut self.lines;
            let line = *self.by_link_and_delay.entry((number, delay)).or_insert_with(|| {
                let behind = |delay| Line { link: number, delay, last: Time::ZERO, packets: Ring::new() };
                lines.push(behind(delay));
                let line = lines.len() as u32 - 1;
                // Where packets come late, the line for them is the next.
                lines.extend(scenario.links[link].reorder.map(|reorder| behind(delay + reorder.by)));
                line
            });
            self.hops.push(Hop { link: number, line });
        }
        let count = u8::try_from(links.len()).map_err(|_| {
            Refused::new(format!("flows.{name}: a route of {} links", links.len()), "255 links are the most")
        })?;
        Ok((first, count))
    }
}

#[cfg(test)]
mod tests;
