//! The fast path of a sender (header prediction): an acknowledgement of the next segment, and new data. Most acknowledgements bring
//! nothing else.

use penstock_law::cc::{Event, Marks};
use penstock_law::quantity::Time;
use penstock_link::Port;
use penstock_scenario::seed::Coins;
use penstock_scenario::world::{GoesOn, RunError};

use crate::agenda::Agenda;
use crate::engine::{BETWEEN_LOOKS, Engine, Hop, Numbering, cross};
use crate::flow::{Flow, Group, Opening};
use crate::kind::{OfKind, Plain};
use crate::line::Line;
use crate::loss::Losses;
use crate::packet::{CWR, ECE, FIN, Packet};
use crate::receiver::Reply;
use crate::sender::window::{Ack, Allowed};
use crate::station::{Link, Station};

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
        let now = self.now;
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        // An echo that begins no congestion event is of a packet sent before the last one.
        let marked = reply.flags & ECE != 0;
        let is_plain = reply.is_plain() && !group.probes;
        if is_plain
            && (!marked || group.marks != Marks::Congestion || flow.data.is_before_event(reply.tx))
            && let Some((tx, sent)) = flow.data.hear_next(reply.seq, reply.tx)
        {
            let allowed = heard_next(flow, group, (tx, sent), marked, now);
            if let Some(allowed) = allowed
                && !flow.allow(allowed, group.paced, now)
            {
                return self.refuse(at, allowed);
            }
            let most = if now < flow.until { group.receive_segments } else { 0 };
            let Some(count) = flow.data.may_begin::<Plain>(flow.window, most) else {
                return self.send_in_turn::<Plain>(at);
            };
            let mut outlet = outlet(
                (&mut self.links, &mut self.lines, &mut self.agenda),
                (flow.out, self.numbering, &self.keys),
                (self.goes_on.as_ref(), &mut self.fault, &mut self.end),
            );
            begin::<Plain>(flow, group, at, now, count, &mut outlet);
        } else {
            self.hear_of_more(at, reply);
        }
    }

    /// The same, of an acknowledgement that tells of more.
    #[inline(never)]
    pub(crate) fn hear_of_more(&mut self, at: usize, reply: Reply) {
        self.hear::<Plain>(at, reply);
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
        let now = self.now;
        let flow = &mut self.flows[at];
        let group = &self.groups[flow.group as usize];
        let most = if now < flow.until { group.receive_segments } else { 0 };
        let count = flow.data.may_begin::<K>(flow.window, most);
        let is_open = K::PLAIN || flow.opening == Opening::Done;
        let Some(count) = count.filter(|_| is_open) else { return self.send_in_turn::<K>(at) };
        let mut outlet = outlet(
            (&mut self.links, &mut self.lines, &mut self.agenda),
            (flow.out, self.numbering, &self.keys),
            (self.goes_on.as_ref(), &mut self.fault, &mut self.end),
        );
        begin::<K>(flow, group, at, now, count, &mut outlet);
    }
}

/// Where a sender's packets go.
struct Outlet<'a> {
    hop: Hop,
    port: &'a mut Port,
    coins: Coins,
    losses: &'a mut Losses,
    lines: &'a mut [Line],
    agenda: &'a mut Agenda,
    numbering: Numbering,
    keys: &'a [u64],
    goes_on: Option<&'a GoesOn>,
    fault: &'a mut Option<RunError>,
    end: &'a mut u64,
}

#[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
#[inline(always)]
fn outlet<'a>(
    (links, lines, agenda): (&'a mut [Link], &'a mut [Line], &'a mut Agenda),
    (hop, numbering, keys): (Hop, Numbering, &'a [u64]),
    (goes_on, fault, end): (Option<&'a GoesOn>, &'a mut Option<RunError>, &'a mut u64),
) -> Outlet<'a> {
    let Link { station, coins, losses, .. } = &mut links[hop.port as usize];
    let Station::Port(port) = station else { unreachable!("the kind of a group goes by its first link") };
    Outlet { hop, port, coins: *coins, losses, lines, agenda, numbering, keys, goes_on, fault, end }
}

/// The same as [`Engine::hear`], after an acknowledgement of the next segment, outside of recovery, that begins no congestion event:
/// most are such. Transmission `tx`, the oldest one, caused it, and was sent at `sent`. The group is a plain one. This is the fast path
/// (header prediction) of TCP since 4.3BSD-Reno.
#[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
#[inline(always)]
fn heard_next(flow: &mut Flow, group: &mut Group, (tx, sent): (u64, u64), marked: bool, now: u64) -> Option<Allowed> {
    let index = flow.index as usize;
    let rtt = flow.round_trip::<Plain>(group, tx, Some(sent), now);
    let grows = flow.window < group.receive_window;
    let ack = Ack { rtt, packets: 1, marked: u32::from(marked), grows, window: flow.window, probe: None };
    let mut allowed = group.windows.ack(index, Time(now), ack);
    if tx >= flow.round {
        flow.round = flow.data.next_tx();
        if grows && group.windows.known(index) {
            allowed = Some(group.windows.on(index, Time(now), Event::Round));
        }
    }
    if flow.data.idle() {
        flow.timer.stop();
    } else {
        flow.timer.restart(now);
    }
    allowed
}

/// Sends so many new packets, or as many as pacing lets go.
#[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
#[inline(always)]
fn begin<K: OfKind>(flow: &mut Flow, group: &Group, at: usize, now: u64, count: u64, outlet: &mut Outlet<'_>) {
    let (paces, before) = (flow.burst.paces(), flow.sent.packets);
    for sent in 0..count {
        if paces && let Some(due) = flow.burst.wait(now) {
            if !flow.burst.scheduled {
                flow.burst.scheduled = true;
                outlet.agenda.schedule_last(outlet.numbering.send + at as u32, due.min(group.next_step));
            }
            break;
        }
        flow.burst.sent::<true>(now);
        let (seq, tx) = flow.data.begin::<K>(now);
        if sent == 0
            && let Some(look) = flow.timer.sent(now)
        {
            outlet.agenda.schedule_last(outlet.numbering.timeout + at as u32, look);
        }
        flow.sent.packets += 1;
        if flow.sent.packets & BETWEEN_LOOKS == 0 && stops(outlet.goes_on, outlet.fault, outlet.end, now) {
            break;
        }
        let last = seq + 1 == flow.data.limit;
        let size = if last { flow.last_size } else { flow.size };
        let flags = flow.flags | if K::TODAY && last && group.handshake { FIN } else { 0 };
        flow.flags &= !CWR;
        let packet = Packet { flow: at as u32, seq: seq as u32, tx: tx as u32, size, flags, ..Packet::default() };
        let Outlet { hop, port, coins, losses, lines, agenda, keys, .. } = outlet;
        if !cross(packet, now, hop.line, port, (*coins, losses, keys), lines, agenda) {
            flow.sent.lost += 1;
        }
    }
    if K::TODAY && flow.sent.packets > before {
        flow.data.begun(now);
    }
}
