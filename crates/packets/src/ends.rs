//! The ends of a flow: what a data packet makes its receiver do, and an acknowledgement its sender.

use penstock_law::cc::{Event, Marks};
use penstock_law::quantity::Time;
use penstock_scenario::world::End;

use crate::engine::{Engine, cross, push};
use crate::flow::NONE;
use crate::packet::{self, CWR, ECE, Packet, SACK};
use crate::receiver::{Answer, DELAYED_ACK, Reply};
use crate::sender::bottleneck::Probe;
use crate::sender::data::{Heard, Segment, since};
use crate::sender::window::Ack;
use crate::sight::{data_seen, delivery_seen};
use crate::station::Station;

impl Engine {
    /// The timer of delayed acknowledgements goes off, perhaps before one is due: each that is sent meanwhile cancels it, and
    /// the next packet that waits starts it again.
    pub(crate) fn overdue(&mut self, at: usize) {
        let flow = &mut self.flows[at];
        flow.ack_timer = false;
        if !self.receivers[at].holds() {
            return;
        }
        if flow.ack_due > self.now {
            flow.ack_timer = true;
            let (entity, due) = (flow.ack, flow.ack_due);
            return self.schedule(entity, due);
        }
        if let Some(reply) = self.receivers[at].overdue() {
            self.reply(at, reply);
        }
    }

    /// A data packet reaches its receiver.
    #[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
    #[inline(always)]
    pub(crate) fn delivered(&mut self, packet: &Packet) {
        let at = packet.flow as usize;
        let flow = &self.flows[at];
        let group = &self.groups[flow.group as usize];
        if !group.plain {
            return self.delivered_to_others(packet);
        }
        let reply = self.receivers[at].take(packet, group.habits.echo);
        let (first, hops) = flow.route[1];
        if hops == 0 {
            self.hear::<true>(at, reply);
        } else {
            self.forward(reply.packet(at, self.ack_size), first);
        }
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

    /// A packet waits that no acknowledgement was sent for: its timer starts (RFC 1122, section 4.2.3.2). An event that is on
    /// the agenda already is not taken off; it will find that nothing is due yet.
    #[cold]
    fn hold(&mut self, at: usize) {
        let flow = &mut self.flows[at];
        flow.ack_due = self.now + DELAYED_ACK.0;
        if !flow.ack_timer {
            flow.ack_timer = true;
            let (entity, due) = (flow.ack, flow.ack_due);
            self.schedule(entity, due);
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
    pub(crate) fn back(&mut self, at: usize, reply: Reply) {
        let (first, hops) = self.flows[at].route[1];
        if hops == 0 {
            self.acknowledged(at, reply);
        } else {
            self.forward(reply.packet(at, self.ack_size), first);
        }
    }

    /// An acknowledgement reaches its sender.
    #[inline]
    pub(crate) fn acknowledged(&mut self, at: usize, reply: Reply) {
        if self.groups[self.flows[at].group as usize].plain {
            self.acknowledged_plainly(at, reply);
        } else {
            self.acknowledged_to_others(at, reply);
        }
    }

    /// The sender is one of a plain group.
    #[inline(never)]
    fn acknowledged_plainly(&mut self, at: usize, reply: Reply) {
        self.hear::<true>(at, reply);
    }

    #[inline(never)]
    fn acknowledged_to_others(&mut self, at: usize, reply: Reply) {
        if self.seen.is_some() {
            self.see_ack(at, reply, End::Sender);
        }
        self.hear::<false>(at, reply);
    }

    /// A sender hears an acknowledgement. `PLAIN` says that its group is.
    #[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
    #[inline(always)]
    fn hear<const PLAIN: bool>(&mut self, at: usize, reply: Reply) {
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let heard = Heard {
            cumulative: packet::expand(flow.data.una, reply.seq),
            tx: packet::expand(flow.data.next_tx(), reply.tx),
            from: (reply.flags & SACK != 0).then(|| packet::expand(flow.data.una, reply.from)),
        };
        let was_recovering = flow.data.recovering();
        let outcome = flow.data.hear(&heard);
        let mut rtt = outcome.sent.map(|sent| since(self.now, sent));
        if let Some(rtt) = &mut rtt {
            flow.sent.rtt += u128::from(rtt.0);
            flow.sent.rtts += 1;
            flow.sent.least_rtt = flow.sent.least_rtt.min(rtt.0);
            // What is recorded is true; the timer and the law have the sender's reading of it.
            if !PLAIN && let Some(noise) = &mut group.noise {
                *rtt = noise.heard(flow.index as usize, *rtt);
            }
            flow.timer.sample(self.now, rtt.0, heard.tx >= flow.round);
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
        // Nor does it after a timeout, until what was sent before it is behind (RFC 3465, section 2.3). Of laws that do not ask
        // about the bottleneck each says itself what an acknowledgement counts for.
        let packets = if was_recovering || (group.probes && !outcome.sure) {
            1
        } else {
            outcome.covered.max(u32::from(rtt.is_some()))
        };
        // A window beyond what the receiver takes is not used, so it does not grow (RFC 7661, section 4.1).
        // A law that asks about the bottleneck follows its estimates, not its own last window.
        let used = flow.window < group.receive_window || group.probes;
        let settled = !flow.data.recovering() && used;
        let probe = group.probes.then(|| Probe {
            tx: heard.tx,
            sure: outcome.sure,
            covered: outcome.covered,
            next_tx: flow.data.next_tx(),
            fresh: flow.data.fresh,
            in_flight: flow.data.in_flight(),
        });
        let ack = Ack {
            rtt,
            packets,
            marked: if echo { packets } else { 0 },
            grows: outcome.covered > 0 && settled,
            window: flow.window,
            probe: probe.as_ref(),
        };
        allowed = group.windows.ack(index, now, ack).or(allowed);
        if heard.tx >= flow.round {
            flow.round = flow.data.next_tx();
            // Of a path longer than the first timeout all that was sent may have been sent again: no sample yet.
            if settled && group.windows.known(index) {
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
        } else if group.mends && flow.data.recovering() {
            flow.data.mend();
        }
        if let Some(allowed) = allowed
            && !flow.allow(allowed, group.paced, self.now)
        {
            return self.refuse(at, allowed);
        }
        if complete {
            self.completed(at);
        } else {
            self.send_as::<PLAIN>(at);
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
        let hop = flow.out;
        let (link, lines) = (&mut self.links[hop.port as usize], &mut self.lines);
        let fresh = now < flow.until;
        let window = if !PLAIN && group.unlimited && flow.burst.paces() { f64::INFINITY } else { flow.window };
        loop {
            let segment = if PLAIN || group.reliable {
                let Some(segment) = flow.data.pick(window, fresh, group.receive_segments) else { break };
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
            let size = if segment.seq + 1 == flow.data.limit { flow.last_size } else { self.size };
            if !PLAIN
                && flow.entry != NONE
                && let Some(room) = self.entries[flow.entry as usize].held_until(now, u32::from(size))
            {
                if !flow.burst.scheduled {
                    flow.burst.scheduled = true;
                    agenda.schedule_last(numbering.send + at as u32, room.min(group.next_step));
                }
                break;
            }
            if !PLAIN && group.burst > 1 && !flow.burst.gathered(group.burst, flow.data.room(window, group.burst)) {
                break;
            }
            flow.burst.sent::<PLAIN>(now);
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
                    cross(packet, now, hop.line, port, (link.coins, &mut link.losses, &self.keys), lines, agenda)
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
        if !PLAIN {
            flow.burst.left = 0;
            if !self.outbox.is_empty() {
                self.post();
            }
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
    pub(crate) fn timeout(&mut self, at: usize) {
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
            if !flow.allow(allowed, group.paced, self.now) {
                return self.refuse(at, allowed);
            }
        }
        let flow = &mut self.flows[at];
        flow.timer.scheduled = true;
        let look = flow.timer.look(self.now);
        self.schedule(self.numbering.timeout + at as u32, look);
        if expired {
            self.send(at);
        }
    }
}
