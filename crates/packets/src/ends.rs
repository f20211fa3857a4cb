//! The sending end of a flow: the response of its sender to an acknowledgement, to timers, and to space in its window.

mod fast;

use penstock_law::cc::{Event, Marks};
use penstock_law::quantity::Time;
use penstock_scenario::model::EcnEcho;
use penstock_scenario::world::End;

use fast::stops;

use crate::engine::{BETWEEN_LOOKS, Engine, cross, push};
use crate::flow::{NONE, Opening};
use crate::kind::{Detailed, Kind, OfKind, Other, Today, TodayOtherwise};
use crate::packet::{CWR, FIN, Packet, SYN_ACK};
use crate::receiver::Reply;
use crate::sender::bottleneck::Probe;
use crate::sender::data::{Outcome, Segment, since};
use crate::sender::window::Ack;
use crate::sight::data_seen;
use crate::station::Station;

impl Engine {
    /// An acknowledgement reaches its sender.
    #[inline]
    pub(crate) fn acknowledged(&mut self, at: usize, reply: Reply) {
        match self.groups[self.flows[at].group as usize].kind {
            Kind::Plain => self.acknowledged_plainly(at, reply),
            Kind::Detailed => self.hear_in_detail::<Detailed>(at, reply),
            Kind::Today | Kind::TodayOtherwise | Kind::Other => self.acknowledged_to_others(at, reply),
        }
    }

    /// The sender is one of a plain group.
    #[inline(never)]
    fn acknowledged_plainly(&mut self, at: usize, reply: Reply) {
        self.hear_plainly(at, reply);
    }

    /// The sender is one of today, and this is no SYN-ACK.
    #[inline(never)]
    pub(crate) fn acknowledged_today(&mut self, at: usize, reply: Reply) {
        self.hear::<Today>(at, reply);
    }

    /// The same, of a sender whose data leave otherwise.
    #[inline(never)]
    pub(crate) fn acknowledged_otherwise(&mut self, at: usize, reply: Reply) {
        self.hear::<TodayOtherwise>(at, reply);
    }

    #[inline(never)]
    fn acknowledged_to_others(&mut self, at: usize, reply: Reply) {
        if reply.flags & SYN_ACK != 0 {
            return self.opened(at, reply.tx);
        }
        match self.groups[self.flows[at].group as usize].kind {
            Kind::Today => return self.acknowledged_today(at, reply),
            Kind::TodayOtherwise => return self.acknowledged_otherwise(at, reply),
            Kind::Plain | Kind::Detailed | Kind::Other => {}
        }
        if self.seen.is_some() {
            self.see_ack(at, reply, End::Sender);
        }
        if self.flows[at].sampler.is_some() {
            return self.hear_in_detail::<Other>(at, reply);
        }
        self.hear::<Other>(at, reply);
    }

    /// A sender processes an acknowledgement. Its group is of kind `K`.
    #[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
    #[inline(always)]
    pub(crate) fn hear<K: OfKind>(&mut self, at: usize, mut reply: Reply) {
        let options = K::TODAY || K::OTHER && self.groups[self.flows[at].group as usize].options;
        let carried = options.then(|| self.options_heard(at, &mut reply)).filter(|_| !K::TODAY);
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let heard = flow.heard(&reply);
        let was_recovering = flow.data.recovering();
        // Section V of CCPD's paper: its window is kept until what was sent before the loss is acknowledged.
        let whole = !K::TODAY && group.mends && !group.by_time::<K>();
        let until = flow.data.recover;
        let oldest = if group.probes::<K>() { flow.data.oldest_sent() } else { None };
        let outcome = flow.data.hear_within::<K, ()>(&heard, self.now, whole, &mut ());
        let rtt = flow.round_trip::<K>(group, heard.tx, outcome.sent, self.now);
        let mut marked = flow.marked(group, reply.flags, carried.as_ref(), outcome.covered);
        // RFC 9002 lets persistent congestion alone do what a timeout does.
        let persistent = K::OTHER && outcome.losses && flow.is_persistent();
        let event = if persistent { Event::Timeout } else { Event::Congestion };
        let cut = outcome.lost | flow.cut_by::<K>(group, &heard, marked) | persistent;
        if cut {
            flow.reduced();
        }
        let index = flow.index as usize;
        let now = Time(self.now);
        let mut back = None;
        if group.by_time::<K>() {
            if outcome.spurious {
                flow.sent.undone += 1;
                let before = group.windows.bring_back(index);
                if !flow.allow(before, group.paced, self.now) {
                    return self.refuse(at, before);
                }
                back = Some(before);
            }
            if outcome.lost {
                group.windows.keep(index);
            }
        }
        let flight = if outcome.lost { flow.data.flight_size() } else { 0 };
        if whole && outcome.lost && was_recovering && flow.data.una >= until {
            // The recovery before is over: the law is called for its end before it is called for the next.
            let end = Ack { rtt: None, packets: 1, marked: 0, grows: true, window: flow.window, probe: None };
            let _ = group.windows.ack(index, now, end);
        }
        let mut allowed = cut.then(|| group.windows.cut(index, now, event, flight));
        if let Some(after) = &allowed {
            flow.sent.cuts += 1;
            flow.sent.left += after.window / flow.window;
        }
        if group.by_time::<K>() {
            if let Some(after) = allowed.as_ref().filter(|_| outcome.lost || !persistent) {
                flow.data.reduce(after.window, &outcome, marked > 0);
            }
            allowed = allowed.or(back);
        }
        // During recovery an acknowledgement tells of one packet, whatever its number covers: the others were told of.
        // Nor does it after a timeout, until what was sent before it is behind (RFC 3465, section 2.3). Of laws that do not ask
        // about the bottleneck each says itself what an acknowledgement counts for.
        let packets = if group.by_time::<K>() {
            // As in Linux: what was delivered, by whatever number or block.
            outcome.delivered.max(1)
        } else if was_recovering || (group.probes::<K>() && !outcome.sure) {
            1
        } else {
            outcome.covered.max(u32::from(rtt.is_some()))
        };
        // A window beyond what the receiver takes is not used, so it does not grow (RFC 7661, section 4.1).
        // A law that requires the bottleneck follows its estimates, not its own last window.
        let used = flow.window < group.receive_window || group.probes::<K>();
        let settled = !flow.data.recovering() && used;
        let probe = group.probes::<K>().then(|| Probe {
            tx: heard.tx,
            sure: outcome.sure,
            covered: outcome.covered,
            first: oldest.filter(|_| outcome.covered > 1).map(|sent| since(self.now, sent)),
            next_tx: flow.data.next_tx(),
            fresh: flow.data.fresh,
            in_flight: flow.data.in_flight(),
        });
        if K::OTHER
            && group.habits.echo == EcnEcho::Accurate
            && group.marks == Marks::Counted
            && let Some(feedback) = &mut flow.feedback
        {
            marked = feedback.count(marked, packets, outcome.covered > 0, settled);
        }
        let ack = Ack {
            rtt,
            packets,
            marked: marked.min(packets),
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
        }
        if whole && flow.data.recovering() {
            flow.data.mend();
        }
        if group.by_time::<K>() {
            allowed = flow.by_time(allowed);
        }
        if let Some(allowed) = allowed
            && !flow.allow(allowed, group.paced, self.now)
        {
            return self.refuse(at, allowed);
        }
        if complete {
            self.completed(at);
        } else if K::OTHERWISE {
            self.send_as::<Other>(at);
        } else if K::TODAY {
            self.send_new::<Today>(at);
        } else {
            self.send_as::<K>(at);
        }
        if !K::PLAIN {
            self.set_clock(at);
        }
    }

    /// Sends the packets allowed now.
    pub(crate) fn send(&mut self, at: usize) {
        match self.groups[self.flows[at].group as usize].kind {
            Kind::Plain => self.send_plainly(at),
            Kind::Detailed => self.send_in_detail(at),
            Kind::Today | Kind::TodayOtherwise | Kind::Other => self.send_any(at),
        }
    }

    #[inline(never)]
    pub(crate) fn send_in_detail(&mut self, at: usize) {
        self.send_as::<Detailed>(at);
    }

    #[inline(never)]
    fn send_any(&mut self, at: usize) {
        self.send_as::<Other>(at);
        self.set_clock(at);
    }

    #[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
    #[inline(always)]
    pub(crate) fn send_as<K: OfKind>(&mut self, at: usize) {
        if !K::PLAIN && self.flows[at].opening != Opening::Done {
            return self.open(at);
        }
        if (K::OTHER || K::DETAILED) && self.flows[at].sampler.as_ref().is_some_and(|sampler| sampler.app_limited()) {
            self.before_sending(at);
        }
        let Self { now, flows, groups, agenda, numbering, .. } = self;
        let now = *now;
        let flow = &mut flows[at];
        let group = &groups[flow.group as usize];
        let hop = flow.out;
        let (link, lines) = (&mut self.links[hop.port as usize], &mut self.lines);
        let fresh = now < flow.until;
        let mut window = if !K::OTHER {
            flow.window
        } else if group.unlimited && flow.burst.paces() {
            f64::INFINITY
        } else {
            flow.limit()
        };
        if K::OTHER && group.fractions && window < 2.0 {
            // The gap is what makes it less than this.
            window = if window > 1.0 { 2.0 } else { 1.0 };
        }
        loop {
            let segment = if !K::OTHER || group.reliable {
                let Some(segment) = flow.data.pick_as::<K>(window, fresh, group.receive_segments) else {
                    if (K::OTHER || K::DETAILED)
                        && let Some(sampler) = &mut flow.sampler
                    {
                        debug_assert_eq!(sampler.in_flight(), flow.data.in_flight());
                        sampler.stopped_at(window);
                    }
                    break;
                };
                segment
            } else if fresh && flow.data.fresh < flow.data.limit {
                Segment { seq: flow.data.fresh, again: false }
            } else {
                break;
            };
            if let Some(due) = if K::OTHER { flow.wait(window, now) } else { flow.burst.wait(now) } {
                if !flow.burst.scheduled {
                    flow.burst.scheduled = true;
                    agenda.schedule_last(numbering.send + at as u32, due.min(group.next_step));
                }
                break;
            }
            let size = if segment.seq + 1 == flow.data.limit { flow.last_size } else { flow.size };
            if K::OTHER
                && flow.entry != NONE
                && let Some(room) = self.entries[flow.entry as usize].held_until(now, u32::from(size))
            {
                if !flow.burst.scheduled {
                    flow.burst.scheduled = true;
                    agenda.schedule_last(numbering.send + at as u32, room.min(group.next_step));
                }
                break;
            }
            let begins = flow.burst.left == 0;
            if K::OTHER && group.burst > 1 && !flow.burst.gathered(group.burst, flow.data.room(window, group.burst)) {
                break;
            }
            if (K::OTHER || K::DETAILED)
                && let Some(sampler) = &mut flow.sampler
                && begins
            {
                flow.burst.left = flow.burst.left.max(sampler.quantum);
            }
            if K::OTHER || K::DETAILED {
                flow.burst.sent::<false>(now);
                if K::OTHER
                    && let Some(pacer) = &mut flow.pacer
                {
                    pacer.sent();
                }
            } else {
                flow.burst.sent::<true>(now);
            }
            // Where nobody acknowledges nothing is sent again, and a segment is its own transmission.
            let tx = if !K::OTHER || group.reliable { flow.data.next_tx() } else { segment.seq };
            if !K::OTHER || group.reliable {
                if (K::OTHER || K::DETAILED)
                    && let Some(sampler) = &mut flow.sampler
                {
                    if K::DETAILED {
                        flow.data.sent_here::<K>(segment, now);
                    } else {
                        let in_flight = flow.data.in_flight();
                        flow.data.sent_as::<K>(segment, now);
                        // Only a tail loss probe leaves that as it was.
                        if flow.data.in_flight() == in_flight {
                            sampler.replace();
                        }
                    }
                    sampler.send(tx, flow.data.oldest_tx(), now);
                } else {
                    flow.data.sent_as::<K>(segment, now);
                }
                flow.sent.again += u64::from(segment.again);
                if let Some(look) = flow.timer.sent(now) {
                    agenda.schedule_last(numbering.timeout + at as u32, look);
                }
            } else {
                flow.data.fresh += 1;
                if let Some(source) = self.sources.get_mut(flow.source as usize) {
                    flow.burst.stray(source.spacing_jitter, || source.spacings.unit());
                }
            }
            flow.sent.packets += 1;
            if flow.sent.packets & BETWEEN_LOOKS == 0
                && stops(self.goes_on.as_ref(), &mut self.fault, &mut self.end, now)
            {
                break;
            }
            // RFC 3168, sections 6.1.5 and 6.1.2: what is sent again is not marked, and does not tell of a reduction.
            let mut flags = if segment.again { 0 } else { flow.flags };
            if !K::PLAIN && group.handshake && segment.seq + 1 == flow.data.limit {
                flags |= FIN;
            }
            flow.flags &= if segment.again { u8::MAX } else { !CWR };
            let mut packet =
                Packet { flow: at as u32, seq: segment.seq as u32, tx: tx as u32, size, flags, ..Packet::default() };
            if K::OTHER && group.accounts[0] & group.accounts[1] != NONE {
                for account in group.accounts.into_iter().filter(|account| *account != NONE) {
                    self.accounts[account as usize].sent += u64::from(size);
                }
            }
            if K::OTHER && self.looks {
                if let Some(seen) = &mut self.seen {
                    seen.push(data_seen(&packet, Time(now), flow, group.reliable, End::Sender));
                }
                if self.counted.any() {
                    packet.stamp(self.counted.stamp(now));
                }
            }
            let sent = if !K::OTHER || flow.entry == NONE {
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
                if K::OTHER && self.looks && flow.entry == NONE {
                    self.counted.at_link(hop.port as usize, Time(now), link.station.arrivals());
                    self.counted.dropped(at as u32, true);
                }
            }
        }
        if K::OTHER || K::DETAILED {
            flow.burst.left = 0;
        }
        if K::OTHER && !self.outbox.is_empty() {
            self.post();
        }
    }

    /// Hands sent packets to links that hold their packets.
    #[cold]
    pub(crate) fn post(&mut self) {
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
        // A probe goes out in the place of a timeout that would come before it (RFC 8985, section 7.2).
        if expired && flow.data.probes_instead() {
            flow.timer.restart(self.now);
        } else if expired && flow.timer.probes() && flow.opening != Opening::Waiting {
            // While packets may be overtaken, their time decides (RFC 9002, appendix A.8). Then a loss or an acknowledgement comes.
            if let Some(due) = flow.data.overtaken() {
                flow.timer.scheduled = true;
                return self.schedule(self.numbering.timeout + at as u32, due.max(self.now + 1));
            }
            flow.timer.back_off();
            flow.timer.start(self.now);
            flow.data.probe();
        } else if expired {
            flow.timer.back_off();
            flow.timer.start(self.now);
            flow.sent.timeouts += 1;
            if flow.opening == Opening::Waiting {
                self.send_syn(at);
            } else if self.groups[flow.group as usize].delivery {
                self.timeout_in_detail(at);
            } else {
                // Of several timeouts, or one in recovery, the first state is worth bringing back.
                let first = !flow.data.in_recovery();
                flow.data.timeout(self.now, &mut ());
                flow.reduced();
                let group = &mut self.groups[flow.group as usize];
                if group.by_time && first {
                    group.windows.keep(flow.index as usize);
                }
                let flight = flow.data.flight_size();
                let allowed = group.windows.cut(flow.index as usize, Time(self.now), Event::Timeout, flight);
                if !flow.allow(allowed, group.paced, self.now) {
                    return self.refuse(at, allowed);
                }
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

    /// Puts the deadlines of recovery by time on the agenda. One event is there at a time. It is looked at again within a
    /// quarter of a round trip, since a deadline may have come closer.
    #[inline]
    fn set_clock(&mut self, at: usize) {
        let flow = &mut self.flows[at];
        if flow.clock_set {
            return;
        }
        let Some(rack) = flow.data.rack() else { return };
        let Some(due) = rack.due() else { return };
        let look = due.min(self.now.saturating_add(rack.patience())).max(self.now);
        flow.clock_set = true;
        let entity = flow.clock;
        self.schedule(entity, look);
    }

    /// A deadline of recovery by time may be over: segments count as lost, or a tail loss probe goes out.
    pub(crate) fn clock(&mut self, at: usize) {
        let now = self.now;
        let flow = &mut self.flows[at];
        flow.clock_set = false;
        if flow.sampler.is_some() {
            let [losses, probe] = self.clock_in_detail(at);
            return self.clocked(at, losses, probe);
        }
        let what = flow.data.overdue(now, &mut ());
        if what.event {
            flow.reduced();
            let group = &mut self.groups[flow.group as usize];
            let index = flow.index as usize;
            group.windows.keep(index);
            let after = group.windows.cut(index, Time(now), Event::Congestion, flow.data.flight_size());
            flow.sent.cuts += 1;
            flow.sent.left += after.window / flow.window;
            // As if one packet had been delivered: the fast retransmit goes out, as in Linux.
            flow.data.reduce(after.window, &Outcome { lost: true, delivered: 1, ..Outcome::default() }, false);
            if let Some(allowed) = flow.by_time(Some(after))
                && !flow.allow(allowed, group.paced, now)
            {
                return self.refuse(at, allowed);
            }
        }
        self.clocked(at, what.losses, what.probe);
    }

    /// After the deadlines of recovery by time: something may be sent again.
    fn clocked(&mut self, at: usize, losses: bool, probe: bool) {
        if probe {
            self.flows[at].timer.restart(self.now);
        }
        if losses || probe {
            self.send(at);
        } else {
            self.set_clock(at);
        }
    }
}
