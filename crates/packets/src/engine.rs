//! The loop: one event after the other, until the run is over.

use penstock_law::cc::{Event, Marks};
use penstock_law::quantity::Time;
use penstock_link::{Offer, Port, Ring};
use penstock_scenario::seed::Coins;
use penstock_scenario::world::{End, RunError, Sighting, Watcher};

use crate::agenda::Agenda;
use crate::edge::Edge;
use crate::entry::Entry;
use crate::flow::{Flow, Group, NONE};
use crate::line::Line;
use crate::loss::Losses;
use crate::measure::{Measure, Taken};
use crate::packet::{self, ACK, CE, CWR, ECE, ECT, Packet, SACK};
use crate::receiver::{Answer, DELAYED_ACK, Receiver, Reply};
use crate::sender::bottleneck::Probe;
use crate::sender::data::{Heard, Segment, since};
use crate::sender::window::Ack;
use crate::sight::{data_seen, delivery_seen};
use crate::station::{Link, Station};
use crate::traffic::{Now, Source, Supply, Transfer};

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

/// What entity numbers on the agenda mean, in this order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbering {
    pub(crate) ports: u32,
    pub(crate) serve: u32,
    pub(crate) send: u32,
    pub(crate) timeout: u32,
    pub(crate) entries: u32,
    pub(crate) rare: u32,
}

/// The watcher is asked after so many events, which take a millisecond or two.
const BETWEEN_LOOKS: u64 = (1 << 14) - 1;

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
    /// What coins know a flow by: its group's name and its place there, not its number, which depends on the groups
    /// before.
    pub(crate) keys: Vec<u64>,
    pub(crate) receivers: Vec<Receiver>,
    pub(crate) entries: Vec<Entry>,
    /// Conditioners, which data pass as they come out of an entry.
    pub(crate) edges: Vec<Edge>,
    pub(crate) sources: Vec<Source>,
    /// By group.
    pub(crate) supplies: Vec<Option<Supply>>,
    pub(crate) rare: Vec<Now>,
    pub(crate) accounts: Vec<Account>,
    /// Accounts of classes come before those of customers.
    pub(crate) first_customer: usize,
    pub(crate) transfers: Vec<Transfer>,
    /// Flows that have a size, do not repeat, and are not done.
    pub(crate) unfinished: u64,
    pub(crate) stop_when_complete: bool,
    /// A full data packet on the wire, its payload, and an acknowledgement [B].
    pub(crate) size: u16,
    pub(crate) payload: u64,
    pub(crate) ack_size: u16,
    /// Sent and not yet handed to the first link.
    pub(crate) outbox: Vec<Packet>,
    /// What was seen at ends of flows since the watcher was last told.
    pub(crate) seen: Option<Vec<Sighting>>,
    pub(crate) events: u64,
    /// Data packets that reached the far end of a line.
    pub(crate) crossed: u64,
    pub(crate) measure: Option<Box<Measure>>,
}

impl Engine {
    /// Runs to the end.
    pub(crate) fn run(&mut self, watcher: &mut dyn Watcher) -> Result<Taken, RunError> {
        let mut measure = self.measure.take().expect("an engine runs once");
        if watcher.wants_packets() {
            self.seen = Some(Vec::new());
            self.groups.iter_mut().for_each(|group| group.plain = false);
        }
        let mut next_reading = measure.next();
        if next_reading == 0 {
            // What happens at time zero belongs to a span that starts there.
            measure.read(self, 0);
            next_reading = measure.next();
        }
        while let Some((time, entity)) = self.agenda.next() {
            while next_reading < time && next_reading <= self.end {
                measure.read(self, next_reading);
                next_reading = measure.next();
            }
            if time > self.end {
                break;
            }
            self.now = time;
            self.events += 1;
            self.happen(entity);
            if self.events & BETWEEN_LOOKS == 0 && !watcher.progress(time as f64 / self.end as f64) {
                return Err(RunError::Stopped);
            }
            if let Some(seen) = &mut self.seen {
                seen.drain(..).for_each(|sighting| watcher.packet(&sighting));
            }
        }
        while next_reading <= self.end {
            measure.read(self, next_reading);
            next_reading = measure.next();
        }
        measure.close(self);
        self.now = self.end;
        self.check()?;
        // What is under way has been counted; tables of many flows may need its memory.
        self.lines.iter_mut().for_each(|line| line.packets = Ring::new());
        self.flows.iter_mut().for_each(|flow| flow.data.release());
        Ok(measure.taken)
    }

    #[inline]
    fn happen(&mut self, entity: u32) {
        let n = self.numbering;
        if entity < n.ports {
            self.arrive(entity);
        } else if entity < n.serve {
            self.port_tick(entity);
        } else if entity < n.send {
            self.serve((entity - n.serve) as usize);
        } else if entity < n.timeout {
            let flow = (entity - n.send) as usize;
            self.flows[flow].burst.scheduled = false;
            self.send(flow);
        } else if entity < n.entries {
            self.timeout((entity - n.timeout) as usize);
        } else if entity < n.rare {
            self.enter((entity - n.entries) as usize);
        } else {
            self.happen_now(entity);
        }
    }

    /// A delayed acknowledgement is due.
    pub(crate) fn overdue(&mut self, flow: usize) {
        self.flows[flow].ack_timer = false;
        if let Some(reply) = self.receivers[flow].overdue() {
            self.reply(flow, reply);
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
        let (port, marks, delay) = (line.port as usize, line.marks, line.delay);
        if let Some(head) = line.packets.front() {
            self.agenda.put(at, head.at, head.stamp);
        }
        if marks
            && packet.is(ECT)
            && let Link { station: Station::Port(port), coins, .. } = &mut self.links[port]
            && port.marks(Time(packet.at - delay), || coins.of(packet.identity(&self.keys)))
        {
            packet.flags |= CE;
        }
        packet.hop += 1;
        self.crossed += u64::from(packet.flags & ACK ^ ACK);
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
            if let Some(edge) = self.edges.get_mut(self.groups[flow.group as usize].edge as usize) {
                edge.colour(&mut packet, self.now, &self.keys);
            }
            self.forward(packet, flow.route[0].0);
        }
    }

    /// Offers a packet to the next link of its route.
    // Always inlined, as `cross` is: a packet that stays in registers until it is stored in a ring is never copied through
    // memory in other widths than it was written, which stalls the store buffer and cost a quarter of the whole run.
    #[expect(clippy::inline_always, reason = "measured, see above")]
    #[inline(always)]
    fn forward(&mut self, packet: Packet, first: u32) {
        let hop = self.hops[first as usize + packet.hop as usize];
        let Link { station, coins, losses, .. } = &mut self.links[hop.port as usize];
        let Station::Port(port) = station else { return self.hand(packet, hop.port as usize) };
        let line = &mut self.lines[hop.line as usize];
        if !cross(packet, self.now, hop.line, port, (*coins, losses, &self.keys), line, &mut self.agenda) {
            self.lost(&packet);
        }
    }

    #[cold]
    fn lost(&mut self, packet: &Packet) {
        if !packet.is(ACK) {
            self.flows[packet.flow as usize].sent.lost += 1;
        }
    }

    /// A data packet reaches its receiver.
    #[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
    #[inline(always)]
    fn delivered(&mut self, packet: &Packet) {
        let at = packet.flow as usize;
        let group = &self.groups[self.flows[at].group as usize];
        if group.plain {
            let reply = self.receivers[at].take(packet, group.habits.echo);
            return self.back(at, reply);
        }
        self.delivered_to_others(packet);
    }

    /// A data packet reaches a receiver that is counted, seen, or does not acknowledge each.
    fn delivered_to_others(&mut self, packet: &Packet) {
        let at = packet.flow as usize;
        let group = &self.groups[self.flows[at].group as usize];
        if group.accounts[0] & group.accounts[1] != NONE {
            for account in group.accounts.into_iter().filter(|account| *account != NONE) {
                self.accounts[account as usize].delivered += u64::from(packet.size);
            }
        }
        if let Some(seen) = &mut self.seen {
            seen.extend(delivery_seen(packet, Time(self.now), &self.flows[at], group.reliable));
        }
        if !group.reliable {
            self.receivers[at].count(packet);
            return;
        }
        let reply = self.receivers[at].take(packet, group.habits.echo);
        if group.habits.delayed_ack < 2 {
            return self.reply(at, reply);
        }
        match self.receivers[at].delay(reply) {
            Answer::Now(reply) => self.reply(at, reply),
            Answer::Wait => self.hold(at),
            Answer::Both(before, now) => {
                self.reply(at, before);
                match now {
                    Some(reply) => self.reply(at, reply),
                    None => self.hold(at),
                }
            }
        }
    }

    #[cold]
    fn hold(&mut self, at: usize) {
        if !self.flows[at].ack_timer {
            self.flows[at].ack_timer = true;
            self.schedule(self.flows[at].ack, self.now + DELAYED_ACK.0);
        }
    }

    /// A receiver sends an acknowledgement.
    fn reply(&mut self, at: usize, reply: Reply) {
        if self.seen.is_some() {
            self.see_ack(at, reply, End::Receiver);
        }
        if self.flows[at].ack_entry != NONE {
            return self.late(reply.packet(at, self.ack_size));
        }
        self.back(at, reply);
    }

    /// An acknowledgement may come late.
    #[cold]
    fn late(&mut self, mut packet: Packet) {
        let Self { now, flows, entries, agenda, numbering, .. } = self;
        let at = flows[packet.flow as usize].ack_entry;
        let entry = &mut entries[at as usize];
        if let Some(out) = entry.pass(*now, u32::from(packet.size)) {
            packet.at = out;
            push(packet, numbering.entries + at, &mut entry.line, agenda);
        }
    }

    /// An acknowledgement sets out.
    #[inline]
    fn back(&mut self, at: usize, reply: Reply) {
        let (first, hops) = self.flows[at].route[1];
        if hops == 0 {
            self.acknowledged(at, reply);
        } else {
            self.forward(reply.packet(at, self.ack_size), first);
        }
    }

    /// An acknowledgement reaches its sender.
    fn acknowledged(&mut self, at: usize, reply: Reply) {
        if self.seen.is_some() {
            self.see_ack(at, reply, End::Sender);
        }
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let heard = Heard {
            cumulative: packet::expand(flow.data.una, reply.seq),
            tx: packet::expand(flow.data.next_tx(), reply.tx),
            from: (reply.flags & SACK != 0).then(|| packet::expand(flow.data.una, reply.from)),
        };
        let was_recovering = flow.data.recovering();
        let outcome = flow.data.hear(&heard);
        let rtt = outcome.sent.map(|sent| since(self.now, sent));
        if let Some(rtt) = rtt {
            flow.timer.sample(rtt.0);
            flow.sent.rtt += u128::from(rtt.0);
            flow.sent.rtts += 1;
            flow.sent.least_rtt = flow.sent.least_rtt.min(rtt.0);
        }
        let echo = reply.flags & ECE != 0;
        // A congestion event by loss, or by an echo of something sent after the last one (RFC 3168: once a window).
        let mut cut = outcome.lost;
        if echo && group.marks == Marks::Cut && heard.tx >= flow.data.event {
            flow.data.cut();
            cut = true;
        }
        if cut {
            flow.reduced();
        }
        let index = flow.index as usize;
        let now = Time(self.now);
        let mut allowed = cut.then(|| group.windows.on(index, now, Event::Cut));
        if let Some(after) = &allowed {
            flow.sent.cuts += 1;
            flow.sent.left += after.window / flow.window;
        }
        // During recovery an acknowledgement tells of one packet, whatever its number covers: the others were told of.
        let packets = if was_recovering { 1 } else { outcome.covered.max(u32::from(rtt.is_some())) };
        // A window beyond what the receiver takes is not used, so it does not grow (RFC 7661, section 4.1).
        // A law that asks about the bottleneck follows its estimates, not its own last window.
        let used = flow.window < group.receive_window || group.probes;
        let ack = Ack {
            rtt,
            packets,
            marked: if echo { packets } else { 0 },
            grows: outcome.covered > 0 && !flow.data.recovering() && used,
            window: flow.window,
            probe: group.probes.then(|| Probe {
                tx: heard.tx,
                sure: outcome.sure,
                single: outcome.covered == 1,
                next_tx: flow.data.next_tx(),
                fresh: flow.data.fresh,
                in_flight: flow.data.in_flight(),
            }),
        };
        allowed = group.windows.ack(index, now, &ack).or(allowed);
        if heard.tx >= flow.round {
            flow.round = flow.data.next_tx();
            if !flow.data.recovering() && used {
                allowed = Some(group.windows.on(index, now, Event::Round));
            }
        }
        let mut complete = false;
        if outcome.covered > 0 {
            complete = flow.data.una >= flow.data.limit;
            if flow.data.idle() {
                flow.timer.stop();
            } else {
                flow.timer.restart(self.now);
            }
        }
        if let Some(allowed) = allowed {
            flow.allow(allowed, group.paced, self.now);
        }
        let plain = group.plain;
        if complete {
            self.completed(at);
        } else if plain {
            self.send_as::<true>(at);
        } else {
            self.send_any(at);
        }
    }

    /// Sends what may be sent now.
    pub(crate) fn send(&mut self, at: usize) {
        if self.groups[self.flows[at].group as usize].plain {
            self.send_as::<true>(at);
        } else {
            self.send_any(at);
        }
    }

    #[inline(never)]
    fn send_any(&mut self, at: usize) {
        self.send_as::<false>(at);
    }

    #[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
    #[inline(always)]
    fn send_as<const PLAIN: bool>(&mut self, at: usize) {
        let Self { now, flows, groups, agenda, numbering, .. } = self;
        let now = *now;
        let flow = &mut flows[at];
        let group = &groups[flow.group as usize];
        let hop = self.hops[flow.route[0].0 as usize];
        let (link, line) = (&mut self.links[hop.port as usize], &mut self.lines[hop.line as usize]);
        let fresh = now < flow.until;
        loop {
            let segment = if PLAIN || group.reliable {
                let Some(segment) = flow.data.pick(flow.window, fresh, group.receive_segments) else { break };
                segment
            } else if fresh && flow.data.fresh < flow.data.limit {
                Segment { seq: flow.data.fresh, again: false }
            } else {
                break;
            };
            if let Some(due) = flow.burst.wait(now) {
                if !flow.burst.scheduled {
                    flow.burst.scheduled = true;
                    agenda.schedule_last(numbering.send + at as u32, due.min(group.next_step));
                }
                break;
            }
            if !PLAIN && group.burst > 1 && !flow.burst.gathered(group.burst, flow.data.room(flow.window, group.burst))
            {
                break;
            }
            flow.burst.sent(now);
            // Where nobody acknowledges nothing is sent again, and a segment is its own transmission.
            let tx = if PLAIN || group.reliable { flow.data.next_tx() } else { segment.seq };
            if PLAIN || group.reliable {
                flow.data.sent(segment, now);
                flow.sent.again += u64::from(segment.again);
                if flow.timer.deadline == u64::MAX {
                    flow.timer.restart(now);
                }
                if !flow.timer.scheduled {
                    flow.timer.scheduled = true;
                    agenda.schedule_last(numbering.timeout + at as u32, flow.timer.look(now));
                }
            } else {
                flow.data.fresh += 1;
                if let Some(source) = self.sources.get_mut(flow.source as usize) {
                    flow.burst.stray(source.spacing_jitter, || source.spacings.unit());
                }
            }
            flow.sent.packets += 1;
            let size = if segment.seq + 1 == flow.data.limit { flow.last_size } else { self.size };
            // RFC 3168, sections 6.1.5 and 6.1.2: what is sent again is not marked, and does not tell of a reduction.
            let flags = if segment.again { 0 } else { flow.flags };
            flow.flags &= if segment.again { u8::MAX } else { !CWR };
            let packet =
                Packet { flow: at as u32, seq: segment.seq as u32, tx: tx as u32, size, flags, ..Packet::default() };
            if !PLAIN && group.accounts[0] & group.accounts[1] != NONE {
                for account in group.accounts.into_iter().filter(|account| *account != NONE) {
                    self.accounts[account as usize].sent += u64::from(size);
                }
            }
            if !PLAIN && let Some(seen) = &mut self.seen {
                seen.push(data_seen(&packet, Time(now), flow, group.reliable, End::Sender));
            }
            let sent = if PLAIN || flow.entry == NONE {
                if let Station::Port(port) = &mut link.station {
                    cross(packet, now, hop.line, port, (link.coins, &link.losses, &self.keys), line, agenda)
                } else {
                    self.outbox.push(packet);
                    true
                }
            } else {
                let entry = &mut self.entries[flow.entry as usize];
                entry.pass(now, u32::from(size)).is_some_and(|at| {
                    push(Packet { at, ..packet }, numbering.entries + flow.entry, &mut entry.line, agenda);
                    true
                })
            };
            if !sent {
                flow.sent.lost += 1;
            }
        }
        flow.burst.left = 0;
        if !PLAIN && !self.outbox.is_empty() {
            self.post();
        }
    }

    /// Hands what was sent to links that hold their packets.
    #[cold]
    fn post(&mut self) {
        let mut outbox = std::mem::take(&mut self.outbox);
        for packet in outbox.drain(..) {
            let (first, _) = self.flows[packet.flow as usize].route[0];
            self.hand(packet, self.hops[first as usize].port as usize);
        }
        self.outbox = outbox;
    }

    /// A retransmission timer goes off, perhaps before its deadline, which moves with every acknowledgement.
    fn timeout(&mut self, at: usize) {
        let flow = &mut self.flows[at];
        flow.timer.scheduled = false;
        if flow.timer.deadline == u64::MAX {
            return;
        }
        let expired = flow.timer.deadline <= self.now;
        if expired {
            flow.timer.back_off();
            flow.timer.restart(self.now);
            flow.sent.timeouts += 1;
            flow.data.timeout();
            flow.reduced();
            let group = &mut self.groups[flow.group as usize];
            let allowed = group.windows.on(flow.index as usize, Time(self.now), Event::Timeout);
            flow.allow(allowed, group.paced, self.now);
        }
        let flow = &mut self.flows[at];
        flow.timer.scheduled = true;
        let look = flow.timer.look(self.now);
        self.schedule(self.numbering.timeout + at as u32, look);
        if expired {
            self.send(at);
        }
    }

    pub(crate) fn flow_tick(&mut self, at: usize, entity: u32) {
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let next = self.now + group.period;
        if group.windows.known(flow.index as usize) {
            let allowed = group.windows.on(flow.index as usize, Time(self.now), Event::Tick);
            flow.allow(allowed, group.paced, self.now);
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

    /// Conservation: what was sent was delivered, dropped, or is under way.
    fn check(&mut self) -> Result<(), RunError> {
        for (at, link) in self.links.iter_mut().enumerate() {
            let off = link.station.unaccounted(Time(self.end));
            if off != 0 {
                return Err(RunError::Broken(format!("link {at}: {off} packets are unaccounted for")));
            }
        }
        let sent: u64 = self.flows.iter().map(|f| f.sent.packets).sum();
        let lost: u64 = self.flows.iter().map(|f| f.sent.lost).sum();
        let delivered: u64 = self.receivers.iter().map(|r| r.received.packets).sum();
        let lines = self.lines.iter().chain(self.entries.iter().map(|entry| &entry.line));
        let held: u64 = self.links.iter().map(|link| link.station.held()).sum();
        let under_way = held + lines.map(|l| l.packets.iter().filter(|p| !p.is(ACK)).count() as u64).sum::<u64>();
        if sent != lost + delivered + under_way {
            return Err(RunError::Broken(format!(
                "{sent} data packets were sent, but {delivered} delivered, {lost} lost and {under_way} are under way"
            )));
        }
        Ok(())
    }
}

/// Offers a packet to a link; false if it was refused or lost there.
#[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
#[inline(always)]
fn cross(
    mut packet: Packet,
    now: u64,
    number: u32,
    port: &mut Port,
    (coins, losses, keys): (Coins, &Losses, &[u64]),
    line: &mut Line,
    agenda: &mut Agenda,
) -> bool {
    match port.offer(Time(now), u32::from(packet.size), packet.is(ECT), || coins.of(packet.identity(keys))) {
        Offer::Refused(_) => false,
        Offer::Accepted { departure, marked } => {
            if losses.take(&packet, keys) {
                port.lose();
                return false;
            }
            if marked {
                packet.flags |= CE;
            }
            packet.at = departure.0.saturating_add(line.delay);
            push(packet, number, line, agenda);
            true
        }
    }
}

/// Puts a packet on a line; schedules it if it is the head.
#[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
#[inline(always)]
pub(crate) fn push(mut packet: Packet, number: u32, line: &mut Line, agenda: &mut Agenda) {
    packet.stamp = agenda.stamp();
    if line.packets.push(packet) {
        agenda.schedule(number, packet.at, packet.stamp);
    }
}
