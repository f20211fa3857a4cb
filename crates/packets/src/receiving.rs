//! The receiving end of a flow: the response of its receiver to a data packet.

use penstock_law::quantity::Time;
use penstock_scenario::world::End;

use crate::engine::{Engine, push};
use crate::flow::NONE;
use crate::kind::{Detailed, Kind};
use crate::packet::{Packet, SYN};
use crate::receiver::{Answer, Reply};
use crate::sight::delivery_seen;

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
            if flow.timer.probes()
                && let Some(rack) = flow.data.rack()
            {
                rack.delays(reply.tx);
            }
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
        if group.kind != Kind::Plain {
            if group.kind == Kind::Detailed {
                return self.delivered_in_detail(packet);
            }
            return self.delivered_otherwise(packet);
        }
        let Some(reply) = self.receivers[at].take_in_order(packet, group.habits.echo) else {
            return self.delivered_out_of_turn(*packet);
        };
        let (first, hops) = flow.route[1];
        if hops == 0 {
            self.hear_plainly(at, reply);
        } else {
            self.forward(reply.packet(at, self.ack_size), first);
        }
    }

    /// The same, of a plain group, while the receiver lacks a packet, or has this one.
    #[inline(never)]
    fn delivered_out_of_turn(&mut self, packet: Packet) {
        let at = packet.flow as usize;
        let flow = &self.flows[at];
        let reply = self.receivers[at].take(&packet, self.groups[flow.group as usize].habits.echo);
        let (first, hops) = flow.route[1];
        if hops == 0 {
            self.hear_of_more(at, reply);
        } else {
            self.forward(reply.packet(at, self.ack_size), first);
        }
    }

    /// A data packet reaches a receiver of today, or another.
    #[inline(never)]
    fn delivered_otherwise(&mut self, packet: &Packet) {
        let at = packet.flow as usize;
        match self.groups[self.flows[at].group as usize].kind {
            Kind::Other => return self.delivered_to_others(packet),
            Kind::Plain | Kind::Detailed | Kind::Today | Kind::TodayOtherwise => {}
        }
        if packet.is(SYN) {
            return self.syn_arrived(packet);
        }
        // Watched flows are of the kind `Other`.
        if self.looks {
            self.counted.arrived(self.flows[at].group as usize, packet.stamped(), self.now);
        }
        let receiver = &mut self.receivers[at];
        let habits = &self.groups[self.flows[at].group as usize].habits;
        if !receiver.follows(packet, habits) {
            return self.delivered_out_of_order(packet);
        }
        let reply = receiver.take_next(packet, habits);
        match receiver.delay(packet, reply, habits) {
            Answer::Now(reply) => self.answer(at, reply),
            Answer::Wait => self.hold(at),
            Answer::Both(before, now) => self.answer_both(at, before, now),
        }
    }

    /// A data packet reaches the receiver of a plain host whose sender's law requires deliveries.
    #[inline(never)]
    fn delivered_in_detail(&mut self, packet: &Packet) {
        let at = packet.flow as usize;
        let flow = &self.flows[at];
        let reply = self.receivers[at].take(packet, self.groups[flow.group as usize].habits.echo);
        let (first, hops) = flow.route[1];
        if hops == 0 {
            self.hear_here::<Detailed>(at, reply);
        } else {
            self.forward(reply.packet(at, self.ack_size), first);
        }
    }

    /// A receiver of today lacks a segment, or has this one.
    #[inline(never)]
    fn delivered_out_of_order(&mut self, packet: &Packet) {
        let at = packet.flow as usize;
        let (flow, receiver) = (&self.flows[at], &mut self.receivers[at]);
        let group = &self.groups[flow.group as usize];
        let payload = group.payload as u32 - u32::from(flow.size - packet.size);
        let reply = receiver.take_with_options(packet, &group.habits, payload);
        match receiver.delay(packet, reply, &group.habits) {
            Answer::Now(reply) => self.answer(at, reply),
            Answer::Wait => self.hold(at),
            Answer::Both(before, now) => self.answer_both(at, before, now),
        }
    }

    /// A receiver of today sends an acknowledgement.
    #[inline]
    fn answer(&mut self, at: usize, reply: Reply) {
        let (first, hops) = self.flows[at].route[1];
        if hops == 0 {
            match self.groups[self.flows[at].group as usize].kind {
                Kind::TodayOtherwise => self.acknowledged_otherwise(at, reply),
                _ => self.acknowledged_today(at, reply),
            }
        } else {
            self.forward(reply.packet(at, self.ack_size), first);
        }
    }

    /// Packets before and from the one that has arrived are acknowledged apart.
    #[cold]
    fn answer_both(&mut self, at: usize, before: Reply, now: Option<Reply>) {
        self.reply(at, before);
        match now {
            Some(reply) => self.reply(at, reply),
            None => self.hold(at),
        }
    }

    /// A data packet reaches a receiver that is counted, watched, or does not acknowledge each.
    #[inline(never)]
    fn delivered_to_others(&mut self, packet: &Packet) {
        let at = packet.flow as usize;
        let group = &self.groups[self.flows[at].group as usize];
        if let Some((share, coins)) = &group.loss
            && coins.of(packet.identity(&self.keys)) < *share
        {
            self.flows[at].sent.lost += 1;
            return;
        }
        if group.accounts[0] & group.accounts[1] != NONE {
            for account in group.accounts.into_iter().filter(|account| *account != NONE) {
                self.accounts[account as usize].delivered += u64::from(packet.size);
            }
        }
        if packet.is(SYN) {
            return self.syn_arrived(packet);
        }
        if self.looks {
            if let Some(seen) = &mut self.seen {
                seen.extend(delivery_seen(packet, Time(self.now), &self.flows[at], group.reliable));
            }
            if self.counted.any() {
                self.counted.arrived(self.flows[at].group as usize, packet.stamped(), self.now);
            }
        }
        if !group.reliable {
            self.receivers[at].count(packet);
            return;
        }
        let reply = if group.options {
            let payload = group.payload as u32 - u32::from(self.flows[at].size - packet.size);
            self.receivers[at].take_with_options(packet, &group.habits, payload)
        } else {
            self.receivers[at].take(packet, group.habits.echo)
        };
        if group.habits.delayed_ack < 2 {
            return self.reply(at, reply);
        }
        match self.receivers[at].delay(packet, reply, &group.habits) {
            Answer::Now(reply) => self.reply(at, reply),
            Answer::Wait => self.hold(at),
            Answer::Both(before, now) => self.answer_both(at, before, now),
        }
    }

    /// A packet waits that no acknowledgement was sent for: its timer starts (RFC 1122, section 4.2.3.2). An event that is on
    /// the agenda already is not taken off; it will find that nothing is due yet.
    #[inline]
    fn hold(&mut self, at: usize) {
        let flow = &mut self.flows[at];
        flow.ack_due = self.now + self.groups[flow.group as usize].habits.max_ack_delay.0;
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
    pub(crate) fn late(&mut self, mut packet: Packet) {
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
}
