//! The loop: one event after the other, until the run is over.

use penstock_law::aqm::Decides;
use penstock_law::cc::{Event, Marks};
use penstock_law::quantity::Time;
use penstock_link::{Offer, Port};
use penstock_scenario::seed::Stream;
use penstock_scenario::world::{RunError, Watcher};

use crate::agenda::Agenda;
use crate::line::Line;
use crate::measure::{Measure, Taken};
use crate::packet::{self, ACK, CE, CWR, ECE, ECT, Packet, SACK};
use crate::receiver::{Answer, DELAYED_ACK, Habits, Receiver, Reply};
use crate::sender::burst::Burst;
use crate::sender::data::{Data, Heard, Segment, since};
use crate::sender::timer::Timer;
use crate::sender::window::{Ack, Allowed, Windows};

/// A link: its port, the chance of loss on its line, and the coins of both.
pub(crate) struct Link {
    pub(crate) port: Port,
    pub(crate) coins: Stream,
    pub(crate) loss: f64,
    pub(crate) losses: Stream,
}

/// One link of a route and the line behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hop {
    pub(crate) port: u32,
    pub(crate) line: u32,
}

/// What the flows of a group share.
pub(crate) struct Group {
    pub(crate) windows: Windows,
    pub(crate) habits: Habits,
    pub(crate) marks: Marks,
    pub(crate) reliable: bool,
    pub(crate) paced: bool,
    pub(crate) receive_window: f64,
    /// When flows stop sending new data [ps].
    pub(crate) stop: u64,
    /// The law's period [ps]; zero without one.
    pub(crate) period: u64,
    /// The last segment of a transfer and its size on the wire [B].
    pub(crate) last: Option<(u64, u16)>,
}

/// What a flow has counted since the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sent {
    /// Data packets sent.
    pub(crate) packets: u64,
    /// Those refused or lost on the way.
    pub(crate) lost: u64,
    /// Those sent again.
    pub(crate) again: u64,
    pub(crate) timeouts: u64,
    /// Round trips, summed [ps], and how many.
    pub(crate) rtt: u128,
    pub(crate) rtts: u64,
    /// The smallest since it was last read [ps].
    pub(crate) least_rtt: u64,
    /// The window and its square, integrated over time [packets s].
    pub(crate) window: f64,
    pub(crate) window_squared: f64,
    /// When the last segment of a transfer was acknowledged [ps].
    pub(crate) completed: u64,
}

/// The sending end of a flow.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) group: u32,
    /// Its place in the group.
    pub(crate) index: u32,
    /// Where its hops start in the list of hops, and how many there are; first data, then acknowledgements.
    pub(crate) route: [(u32, u8); 2],
    pub(crate) flags: u8,
    pub(crate) data: Data,
    pub(crate) burst: Burst,
    pub(crate) timer: Timer,
    /// Packets in flight at most.
    pub(crate) window: f64,
    /// Since when the window is what it is [ps].
    pub(crate) window_since: u64,
    /// A round trip ends when a transmission from this one on is acknowledged.
    pub(crate) round: u64,
    pub(crate) start: u64,
    pub(crate) ack_timer: bool,
    pub(crate) sent: Sent,
}

/// What entity numbers on the agenda mean, in this order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbering {
    pub(crate) ports: u32,
    pub(crate) send: u32,
    pub(crate) timeout: u32,
    pub(crate) tick: u32,
    pub(crate) ack: u32,
}

/// A run.
pub(crate) struct Engine {
    pub(crate) now: u64,
    pub(crate) end: u64,
    pub(crate) stamp: u32,
    pub(crate) agenda: Agenda,
    pub(crate) numbering: Numbering,
    pub(crate) lines: Vec<Line>,
    pub(crate) links: Vec<Link>,
    pub(crate) hops: Vec<Hop>,
    pub(crate) groups: Vec<Group>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) receivers: Vec<Receiver>,
    pub(crate) size: u16,
    pub(crate) ack_size: u16,
    pub(crate) events: u64,
    /// Data packets that reached the far end of a line.
    pub(crate) crossed: u64,
    pub(crate) measure: Option<Box<Measure>>,
}

impl Engine {
    /// Runs to the end.
    pub(crate) fn run(&mut self, watcher: &mut dyn Watcher) -> Result<Taken, RunError> {
        let mut measure = self.measure.take().expect("an engine runs once");
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
                if !watcher.progress(time.min(self.end) as f64 / self.end as f64) {
                    return Err(RunError::Stopped);
                }
            }
            if time > self.end {
                break;
            }
            self.now = time;
            self.events += 1;
            self.happen(entity);
        }
        while next_reading <= self.end {
            measure.read(self, next_reading);
            next_reading = measure.next();
        }
        self.now = self.end;
        self.check()?;
        Ok(measure.taken)
    }

    #[inline]
    fn happen(&mut self, entity: u32) {
        let n = self.numbering;
        if entity < n.ports {
            self.arrive(entity);
        } else if entity < n.send {
            self.port_tick(entity);
        } else if entity < n.timeout {
            let flow = (entity - n.send) as usize;
            self.flows[flow].burst.scheduled = false;
            self.send(flow);
        } else if entity < n.tick {
            self.timeout((entity - n.timeout) as usize);
        } else if entity < n.ack {
            self.flow_tick(entity);
        } else {
            let flow = (entity - n.ack) as usize;
            self.flows[flow].ack_timer = false;
            if let Some(reply) = self.receivers[flow].overdue() {
                self.reply(flow, reply);
            }
        }
    }

    #[inline]
    fn schedule(&mut self, entity: u32, time: u64) {
        let stamp = take(&mut self.stamp);
        self.agenda.schedule(entity, time, stamp);
    }

    /// The head of a line reaches the line's end.
    #[inline]
    fn arrive(&mut self, at: u32) {
        let line = &mut self.lines[at as usize];
        let mut packet = line.pop();
        let next = line.head().map(|head| (head.at, head.stamp));
        let (port, marks, delay) = (line.port as usize, line.marks, line.delay);
        if let Some((time, stamp)) = next {
            self.agenda.schedule(at, time, stamp);
        }
        if marks && packet.is(ECT) {
            let Link { port, coins, .. } = &mut self.links[port];
            if port.marks(Time(packet.at - delay), || coins.unit()) {
                packet.flags |= CE;
            }
        }
        packet.hop += 1;
        self.crossed += u64::from(packet.flags & ACK ^ ACK);
        let flow = &self.flows[packet.flow as usize];
        let (first, hops) = flow.route[usize::from(packet.flags & ACK)];
        if packet.hop < hops {
            self.forward(packet, first);
        } else if packet.is(ACK) {
            self.acknowledged(&packet);
        } else {
            self.delivered(&packet);
        }
    }

    /// Offers a packet to the next link of its route.
    // Always inlined, as `cross` is: a packet that stays in registers until it is stored in a ring is never copied through
    // memory in other widths than it was written, which stalls the store buffer and cost a quarter of the whole run.
    #[expect(clippy::inline_always, reason = "measured, see above")]
    #[inline(always)]
    fn forward(&mut self, packet: Packet, first: u32) {
        let hop = self.hops[first as usize + packet.hop as usize];
        let (link, line) = (&mut self.links[hop.port as usize], &mut self.lines[hop.line as usize]);
        if !cross(packet, self.now, hop.line, link, line, &mut self.agenda, &mut self.stamp) {
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
    #[inline]
    fn delivered(&mut self, packet: &Packet) {
        let at = packet.flow as usize;
        let group = &self.groups[self.flows[at].group as usize];
        if !group.reliable {
            self.receivers[at].count(packet);
            return;
        }
        match self.receivers[at].take(packet, group.habits) {
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
            self.schedule(self.numbering.ack + at as u32, self.now + DELAYED_ACK.0);
        }
    }

    /// A receiver sends an acknowledgement.
    #[inline]
    fn reply(&mut self, at: usize, reply: Reply) {
        let packet = Packet {
            flow: at as u32,
            seq: reply.seq,
            tx: reply.tx,
            from: reply.from,
            size: self.ack_size,
            flags: reply.flags | ACK,
            ..Packet::default()
        };
        let (first, hops) = self.flows[at].route[1];
        if hops == 0 {
            self.acknowledged(&packet);
        } else {
            self.forward(packet, first);
        }
    }

    /// An acknowledgement reaches its sender.
    #[inline]
    fn acknowledged(&mut self, packet: &Packet) {
        let at = packet.flow as usize;
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let heard = Heard {
            cumulative: packet::expand(flow.data.una, packet.seq),
            tx: packet::expand(flow.data.next_tx(), packet.tx),
            from: packet.is(SACK).then(|| packet::expand(flow.data.una, packet.from)),
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
        let echo = packet.is(ECE);
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
        let mut allowed = cut.then(|| group.windows.on(index, Event::Cut));
        // During recovery an acknowledgement tells of one packet, whatever its number covers: the others were told of.
        let packets = if was_recovering { 1 } else { outcome.covered.max(u32::from(rtt.is_some())) };
        // A window beyond what the receiver takes is not used, so it does not grow (RFC 7661, section 4.1).
        let used = flow.window < group.receive_window;
        let ack = Ack {
            rtt,
            packets,
            marked: if echo { packets } else { 0 },
            grows: outcome.covered > 0 && !flow.data.recovering() && used,
            window: flow.window,
        };
        allowed = group.windows.ack(index, &ack).or(allowed);
        if heard.tx >= flow.round {
            flow.round = flow.data.next_tx();
            if !flow.data.recovering() && used {
                allowed = Some(group.windows.on(index, Event::Round));
            }
        }
        if outcome.covered > 0 {
            if flow.data.una >= flow.data.limit && flow.sent.completed == 0 {
                flow.sent.completed = self.now;
            }
            if flow.data.idle() {
                flow.timer.stop();
            } else {
                flow.timer.restart(self.now);
            }
        }
        if let Some(allowed) = allowed {
            flow.allow(allowed, group.paced, self.now);
        }
        self.send(at);
    }

    /// Sends what may be sent now.
    #[inline]
    fn send(&mut self, at: usize) {
        let Self { now, flows, groups, agenda, stamp, numbering, .. } = self;
        let now = *now;
        let flow = &mut flows[at];
        let group = &groups[flow.group as usize];
        let hop = self.hops[flow.route[0].0 as usize];
        let (link, line) = (&mut self.links[hop.port as usize], &mut self.lines[hop.line as usize]);
        let fresh = now < group.stop && now >= flow.start;
        loop {
            let segment = if group.reliable {
                let Some(segment) = flow.data.pick(flow.window, fresh, group.receive_window) else { return };
                segment
            } else if fresh && flow.data.fresh < flow.data.limit {
                Segment { seq: flow.data.fresh, again: false }
            } else {
                return;
            };
            if let Some(due) = flow.burst.wait(now) {
                if !flow.burst.scheduled {
                    flow.burst.scheduled = true;
                    agenda.schedule(numbering.send + at as u32, due, take(stamp));
                }
                return;
            }
            flow.burst.sent(now);
            let tx = flow.data.next_tx();
            if group.reliable {
                flow.data.sent(segment, now);
                flow.sent.again += u64::from(segment.again);
                if flow.timer.deadline == u64::MAX {
                    flow.timer.restart(now);
                }
                if !flow.timer.scheduled {
                    flow.timer.scheduled = true;
                    agenda.schedule(numbering.timeout + at as u32, flow.timer.look(now), take(stamp));
                }
            } else {
                flow.data.fresh += 1;
            }
            flow.sent.packets += 1;
            let size = match group.last {
                Some((last, size)) if last == segment.seq => size,
                _ => self.size,
            };
            // RFC 3168, sections 6.1.5 and 6.1.2: what is sent again is not marked, and does not tell of a reduction.
            let flags = if segment.again { 0 } else { flow.flags };
            flow.flags &= if segment.again { u8::MAX } else { !CWR };
            let packet =
                Packet { flow: at as u32, seq: segment.seq as u32, tx: tx as u32, size, flags, ..Packet::default() };
            if !cross(packet, now, hop.line, link, line, agenda, stamp) {
                flow.sent.lost += 1;
            }
        }
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
            let allowed = group.windows.on(flow.index as usize, Event::Timeout);
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

    fn flow_tick(&mut self, entity: u32) {
        let at = (entity - self.numbering.tick) as usize;
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let next = self.now + group.period;
        if group.windows.known(flow.index as usize) {
            let allowed = group.windows.on(flow.index as usize, Event::Tick);
            flow.allow(allowed, group.paced, self.now);
            self.send(at);
        }
        self.schedule(entity, next);
    }

    fn port_tick(&mut self, entity: u32) {
        let port = &mut self.links[(entity - self.numbering.ports) as usize].port;
        port.tick(Time(self.now));
        let next = self.now + port.period().0;
        self.schedule(entity, next);
    }

    /// Conservation: what was sent was delivered, dropped, or is under way.
    fn check(&mut self) -> Result<(), RunError> {
        for (at, link) in self.links.iter_mut().enumerate() {
            let off = link.port.unaccounted(Time(self.end));
            if off != 0 {
                return Err(RunError::Broken(format!("link {at}: {off} packets are unaccounted for")));
            }
        }
        let sent: u64 = self.flows.iter().map(|f| f.sent.packets).sum();
        let lost: u64 = self.flows.iter().map(|f| f.sent.lost).sum();
        let delivered: u64 = self.receivers.iter().map(|r| r.received.packets).sum();
        let under_way: u64 = self.lines.iter().map(|l| l.iter().filter(|p| !p.is(ACK)).count() as u64).sum();
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
    link: &mut Link,
    line: &mut Line,
    agenda: &mut Agenda,
    stamp: &mut u32,
) -> bool {
    let Link { port, coins, loss, losses } = link;
    match port.offer(Time(now), u32::from(packet.size), packet.is(ECT), || coins.unit()) {
        Offer::Refused(_) => false,
        Offer::Accepted { departure, marked } => {
            if *loss > 0.0 && losses.lands(*loss) {
                port.lose();
                return false;
            }
            if marked {
                packet.flags |= CE;
            }
            packet.at = departure.0.saturating_add(line.delay);
            packet.stamp = take(stamp);
            if line.push(packet) {
                agenda.schedule(number, packet.at, packet.stamp);
            }
            true
        }
    }
}

/// The next stamp.
#[inline]
fn take(stamp: &mut u32) -> u32 {
    let given = *stamp;
    *stamp = given.wrapping_add(1);
    given
}

impl Flow {
    /// The law has spoken.
    #[inline]
    fn allow(&mut self, allowed: Allowed, paced: bool, now: u64) {
        if self.window != allowed.window {
            self.integrate_window(now);
            self.window = allowed.window;
        }
        if paced {
            self.burst.gap = allowed.gap;
        }
    }

    /// The window was reduced, for whatever reason: the next new segment tells the receiver (RFC 3168, section 6.1.2).
    fn reduced(&mut self) {
        if self.flags & ECT != 0 {
            self.flags |= CWR;
        }
    }

    /// Integrates the window up to `now`.
    #[inline]
    pub(crate) fn integrate_window(&mut self, now: u64) {
        let span = (now - self.window_since) as f64 * 1e-12;
        self.window_since = now;
        self.sent.window += self.window * span;
        self.sent.window_squared += self.window * self.window * span;
    }
}

/// Whether a law's marks are drawn at the far end of the line.
pub(crate) fn marks_at_departure(port: &Port) -> bool {
    port.needs().decides == Decides::OnDeparture
}
