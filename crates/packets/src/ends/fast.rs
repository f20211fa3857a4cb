//! The fast path of a sender (header prediction): an acknowledgement of the next segment, and new data. Most acknowledgements bring
//! nothing else.

use penstock_law::cc::{Event, Marks};
use penstock_law::quantity::Time;
use penstock_scenario::world::{GoesOn, RunError};

use crate::engine::{BETWEEN_LOOKS, Engine, cross};
use crate::flow::Opening;
use crate::kind::{OfKind, Plain};
use crate::packet::{CWR, ECE, FIN, Packet};
use crate::receiver::Reply;
use crate::sender::window::Ack;
use crate::station::Station;

/// Ends the run, of which nothing comes, if somebody wants that: whether it ends.
#[cold]
#[inline(never)]
pub(super) fn stops(goes_on: Option<&GoesOn>, fault: &mut Option<RunError>, end: &mut u64, now: u64) -> bool {
    let stops = goes_on.is_some_and(|goes_on| !goes_on());
    if stops {
        fault.get_or_insert(RunError::Stopped);
        *end = now;
    }
    stops
}

impl Engine {
    /// An acknowledgement reaches a sender of a plain group. Most acknowledgements tell of the next segment and of nothing else.
    #[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
    #[inline(always)]
    pub(crate) fn hear_plainly(&mut self, at: usize, reply: Reply) {
        let flow = &mut self.flows[at];
        let group = &self.groups[flow.group as usize];
        // An echo that begins no congestion event is of a packet sent before the last one.
        let marked = reply.flags & ECE != 0;
        let is_plain = reply.is_plain() && !group.probes;
        if is_plain
            && (!marked || group.marks != Marks::Congestion || flow.data.is_before_event(reply.tx))
            && let Some((tx, sent)) = flow.data.hear_next(reply.seq, reply.tx)
        {
            self.heard_next(at, tx, sent, marked);
        } else {
            self.hear_of_more(at, reply);
        }
    }

    /// The same, of an acknowledgement that tells of more.
    #[inline(never)]
    pub(crate) fn hear_of_more(&mut self, at: usize, reply: Reply) {
        self.hear::<Plain>(at, reply);
    }

    /// The same as [`Engine::hear`], after an acknowledgement of the next segment, outside of recovery, that begins no congestion event:
    /// most are such. Transmission `tx`, the oldest one, caused it, and was sent at `sent`. The group is a plain one. This is the fast path
    /// (header prediction) of TCP since 4.3BSD-Reno.
    #[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
    #[inline(always)]
    fn heard_next(&mut self, at: usize, tx: u64, sent: u64, marked: bool) {
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let (index, now) = (flow.index as usize, Time(self.now));
        let rtt = flow.round_trip::<Plain>(group, tx, Some(sent), self.now);
        let grows = flow.window < group.receive_window;
        let ack = Ack { rtt, packets: 1, marked: u32::from(marked), grows, window: flow.window, probe: None };
        let mut allowed = group.windows.ack(index, now, ack);
        if tx >= flow.round {
            flow.round = flow.data.next_tx();
            if grows && group.windows.known(index) {
                allowed = Some(group.windows.on(index, now, Event::Round));
            }
        }
        if flow.data.idle() {
            flow.timer.stop();
        } else {
            flow.timer.restart(self.now);
        }
        if let Some(allowed) = allowed
            && !flow.allow(allowed, group.paced, self.now)
        {
            return self.refuse(at, allowed);
        }
        self.send_new::<Plain>(at);
    }

    #[inline(never)]
    pub(super) fn send_plainly(&mut self, at: usize) {
        self.send_new::<Plain>(at);
    }

    #[inline(never)]
    fn send_in_turn<K: OfKind>(&mut self, at: usize) {
        self.send_as::<K>(at);
    }

    /// The same as [`Engine::send_as`], where nothing but new data is to be sent: how many packets may be is computed once. The flow is
    /// a plain one or one of today.
    #[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
    #[inline(always)]
    pub(super) fn send_new<K: OfKind>(&mut self, at: usize) {
        let Self { now, flows, groups, agenda, numbering, .. } = self;
        let now = *now;
        let flow = &mut flows[at];
        let group = &groups[flow.group as usize];
        let most = if now < flow.until { group.receive_segments } else { 0 };
        let count = flow.data.may_begin::<K>(flow.window, most);
        let is_open = K::PLAIN || flow.opening == Opening::Done;
        let Some(count) = count.filter(|_| is_open) else { return self.send_in_turn::<K>(at) };
        let (hop, paces, before) = (flow.out, flow.burst.paces(), flow.sent.packets);
        let (link, lines) = (&mut self.links[hop.port as usize], &mut self.lines);
        let Station::Port(port) = &mut link.station else { unreachable!("the kind of a group goes by its first link") };
        for sent in 0..count {
            if paces && let Some(due) = flow.burst.wait(now) {
                if !flow.burst.scheduled {
                    flow.burst.scheduled = true;
                    agenda.schedule_last(numbering.send + at as u32, due.min(group.next_step));
                }
                break;
            }
            flow.burst.sent::<true>(now);
            let (seq, tx) = flow.data.begin::<K>(now);
            if sent == 0
                && let Some(look) = flow.timer.sent(now)
            {
                agenda.schedule_last(numbering.timeout + at as u32, look);
            }
            flow.sent.packets += 1;
            if flow.sent.packets & BETWEEN_LOOKS == 0
                && stops(self.goes_on.as_ref(), &mut self.fault, &mut self.end, now)
            {
                break;
            }
            let last = seq + 1 == flow.data.limit;
            let size = if last { flow.last_size } else { flow.size };
            let flags = flow.flags | if K::TODAY && last && group.handshake { FIN } else { 0 };
            flow.flags &= !CWR;
            let packet = Packet { flow: at as u32, seq: seq as u32, tx: tx as u32, size, flags, ..Packet::default() };
            if !cross(packet, now, hop.line, port, (link.coins, &mut link.losses, &self.keys), lines, agenda) {
                flow.sent.lost += 1;
            }
        }
        if K::TODAY && flow.sent.packets > before {
            flow.data.begun(now);
        }
    }
}
