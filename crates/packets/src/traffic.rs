//! Traffic: transfers one after the other, pauses, and sources that change by the scenario's schedule.

use std::collections::VecDeque;

use penstock_law::quantity::{Bytes, Time};
use penstock_scenario::model::{Remember, Size, Span};
use penstock_scenario::seed::Stream;
use penstock_scenario::transfer::Transfer;

use crate::engine::Engine;
use crate::flow::{NONE, Opening};
use crate::sender::pacer::Pacer;

/// An event of a flow or a group outside of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Now {
    /// The period of a flow's law went by.
    Tick(u32),
    /// A delayed acknowledgement of a flow is due.
    Ack(u32),
    /// A deadline of a flow's recovery by time may be over.
    Clock(u32),
    /// A flow has been idle long enough.
    Begin(u32),
    /// A flow falls silent, or speaks again.
    Turn(u32),
    /// A transfer arrives at a group.
    Arrival(u32),
    /// A group's sources change.
    Step(u32),
    /// A client makes a request.
    Client(u32),
    /// The time that a flow's law named has come.
    Alarm(u32),
    /// Packets that wait on the line of a link may go.
    Line(u32),
    /// A run in steps stands still.
    Pause,
}

/// When a flow's transfers and pauses come, and how irregular it is.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its index on the agenda for transfers, and for pauses.
    pub(crate) begin: u32,
    pub(crate) turn: u32,
    /// Sending and silence, and which of them it is.
    pub(crate) on_off: Option<(Span, Span)>,
    pub(crate) silent: bool,
    pub(crate) turns: Stream,
    /// Size of each transfer, and the idle time after it.
    pub(crate) size: Option<Size>,
    pub(crate) sizes: Stream,
    pub(crate) idle: Option<Span>,
    pub(crate) idles: Stream,
    /// Gaps are drawn within this share of the law's gap.
    pub(crate) spacing_jitter: f64,
    pub(crate) spacings: Stream,
    /// Transfers begun before this one, and when this one arrived and began [ps].
    pub(crate) number: u32,
    pub(crate) arrived: u64,
    pub(crate) began: u64,
    /// The first segment of this one.
    pub(crate) first: u64,
    /// The client that requests its transfers, where there is one.
    pub(crate) client: u32,
}

/// Transfers that arrive at a group, whatever became of those before: an open loop.
#[derive(Debug)]
pub(crate) struct Supply {
    /// The group's index on the agenda.
    pub(crate) entity: u32,
    /// Mean time between arrivals.
    pub(crate) gap: Span,
    pub(crate) gaps: Stream,
    pub(crate) size: Size,
    pub(crate) sizes: Stream,
    /// Arrivals that found no flow free: when, and how many bytes.
    pub(crate) waiting: VecDeque<(u64, u64)>,
    /// Flows without a transfer, the longest free first.
    pub(crate) free: VecDeque<u32>,
}

impl Engine {
    /// An event of [`Now`].
    #[cold]
    pub(crate) fn happen_now(&mut self, entity: u32) {
        match self.rare[(entity - self.numbering.rare) as usize] {
            Now::Tick(flow) => self.flow_tick(flow as usize, entity),
            Now::Ack(flow) => self.overdue(flow as usize),
            Now::Clock(flow) => self.clock(flow as usize),
            Now::Alarm(flow) => self.alarm(flow as usize, entity),
            Now::Begin(flow) => {
                let source = &mut self.sources[self.flows[flow as usize].source as usize];
                let size = source.size.as_ref().expect("a flow that repeats has a size");
                let bytes = size.draw(&mut source.sizes).0;
                self.begin(flow as usize, self.now, bytes, true);
            }
            Now::Turn(flow) => self.turn(flow as usize, entity),
            Now::Arrival(group) => self.arrival(group as usize),
            Now::Client(client) => self.client(client as usize),
            Now::Step(group) => self.step(group as usize, entity),
            Now::Line(link) => self.wake_line(link as usize),
            Now::Pause => {
                // It is no event of the run.
                self.events -= 1;
                self.paused = true;
            }
        }
    }

    /// A flow begins a transfer that arrived at `arrived`; `anew` with its knowledge of the transfer before.
    pub(crate) fn begin(&mut self, at: usize, arrived: u64, bytes: u64, anew: bool) {
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let source = &mut self.sources[flow.source as usize];
        (source.arrived, source.began) = (arrived, self.now);
        let segments = bytes.div_ceil(group.payload);
        flow.data.limit = flow.data.fresh + segments;
        flow.last_size = flow.size - (segments * group.payload - bytes) as u16;
        if anew && source.number > 0 && group.remember != Remember::Everything {
            let index = flow.index as usize;
            let allowed = group.windows.restart(index, group.remember == Remember::BaseRtt);
            flow.connection += 1;
            flow.first = flow.data.fresh;
            flow.data.restart();
            flow.timer.restart_connection();
            if let Some(pacer) = &mut flow.pacer {
                **pacer = Pacer::new(self.now);
            }
            if let Some(sampler) = &mut flow.sampler {
                sampler.restart();
            }
            flow.round = flow.data.next_tx();
            if !allowed.is_sound() || !flow.allow(allowed, group.paced, self.now) {
                return self.refuse(at, allowed);
            }
            flow.burst.space(allowed.gap_s);
            self.first_timing(at, true);
            let flow = &mut self.flows[at];
            let group = &self.groups[flow.group as usize];
            if group.handshake {
                flow.opening = Opening::Needed;
            }
            self.receivers[at].restart();
            if let Some(feedback) = &mut self.flows[at].feedback {
                feedback.restart();
            }
        }
        self.sources[self.flows[at].source as usize].number += 1;
        self.send(at);
    }

    /// The last segment of a flow's transfer was acknowledged.
    #[cold]
    pub(crate) fn completed(&mut self, at: usize) {
        let now = self.now;
        let flow = &mut self.flows[at];
        let payload = self.groups[flow.group as usize].payload;
        let short = u64::from(flow.size - flow.last_size);
        flow.sent.short += short;
        if flow.sent.completed == 0 {
            flow.sent.completed = now;
        }
        let mut transfer = Transfer {
            flow: at as u32,
            number: 0,
            arrived: Time(flow.start),
            began: Time(flow.start),
            ended: Time(now),
            bytes: Bytes((flow.data.limit - flow.first) * payload - short),
        };
        let Some(source) = self.sources.get_mut(flow.source as usize) else {
            self.transfers.push(transfer);
            self.finished();
            return;
        };
        if source.number > 0 {
            (transfer.number, transfer.arrived, transfer.began) =
                (source.number - 1, Time(source.arrived), Time(source.began));
        }
        transfer.bytes = Bytes((flow.data.limit - source.first) * payload - short);
        source.first = flow.data.limit;
        self.transfers.push(transfer);
        if source.client != NONE {
            let (client, bytes) = (source.client as usize, transfer.bytes);
            return self.served(client, at as u32, bytes);
        }
        if let Some(idle) = source.idle {
            let entity = source.begin;
            let due = now.saturating_add(idle.draw(&mut source.idles).0);
            self.schedule(entity, due);
        } else if let Some(supply) = &mut self.supplies[flow.group as usize] {
            match supply.waiting.pop_front() {
                Some((arrived, bytes)) => self.begin(at, arrived, bytes, true),
                None => supply.free.push_back(at as u32),
            }
        } else {
            self.finished();
        }
    }

    /// A flow or a browser that does not repeat is done.
    pub(crate) fn finished(&mut self) {
        self.unfinished -= 1;
        if self.unfinished == 0 && self.stop_when_complete {
            self.end = self.now;
        }
    }

    /// A transfer arrives at a group.
    fn arrival(&mut self, group: usize) {
        let now = self.now;
        let supply = self.supplies[group].as_mut().expect("only such groups have arrivals");
        let bytes = supply.size.draw(&mut supply.sizes).0;
        let next = now.saturating_add(supply.gap.draw(&mut supply.gaps).0);
        let entity = supply.entity;
        match supply.free.pop_front() {
            Some(flow) => self.begin(flow as usize, now, bytes, true),
            None => supply.waiting.push_back((now, bytes)),
        }
        if next < self.groups[group].stop {
            self.schedule(entity, next);
        }
    }

    /// A flow falls silent, or speaks again.
    fn turn(&mut self, at: usize, entity: u32) {
        let flow = &mut self.flows[at];
        let source = &mut self.sources[flow.source as usize];
        let (on, off) = source.on_off.expect("only such flows take turns");
        source.silent = !source.silent;
        let next = (if source.silent { off } else { on }).draw(&mut source.turns).0;
        flow.until = if source.silent { 0 } else { self.groups[flow.group as usize].stop };
        flow.burst.resume(self.now);
        // A span of nothing still takes a moment, or two of them would never end.
        self.schedule(entity, self.now.saturating_add(next.max(1)));
        self.send(at);
    }

    /// A group's sources change to the scenario's next settings.
    fn step(&mut self, at: usize, entity: u32) {
        let group = &mut self.groups[at];
        let Some((_, windows)) = group.steps.pop() else { return };
        group.windows = windows;
        group.next_step = group.steps.last().map_or(u64::MAX, |(time, _)| *time);
        let (next, flows) = (group.next_step, group.flows);
        if next != u64::MAX {
            self.schedule(entity, next);
        }
        for at in flows.0..flows.1 {
            let flow = &mut self.flows[at as usize];
            let group = &self.groups[flow.group as usize];
            let allowed = group.windows.start(flow.index as usize);
            if !flow.burst.change(allowed.gap_s, self.now.max(flow.start)) {
                return self.refuse(at as usize, allowed);
            }
            if flow.start <= self.now {
                self.send(at as usize);
            }
        }
    }
}
