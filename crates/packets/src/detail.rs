//! The sending end of a flow whose law requires deliveries: it processes each packet and recoveries, and its window holds
//! in them too. Every other flow is in `ends`.

use penstock_law::cc::{Delivery, DeliveryEvent, Event, Timing};
use penstock_law::quantity::Time;

use crate::engine::Engine;
use crate::flow::{Flow, Group};
use crate::kind::OfKind;
use crate::receiver::Reply;
use crate::sender::data::Outcome;
use crate::sender::sampler::Sampler;
use crate::sender::window::{Ack, Allowed};
use crate::traffic::Now;

/// One flow, while its law is called.
struct Teller<'a> {
    group: &'a mut Group,
    sampler: &'a mut Sampler,
    index: usize,
    now: Time,
    in_flight: u64,
    /// The last output of the law, if it was called, and the timing output that came with it.
    said: Option<Allowed>,
    timing: Option<Timing>,
}

impl Teller<'_> {
    #[inline(never)]
    fn tell(&mut self, event: DeliveryEvent) {
        self.tell_here(event);
    }

    /// The same, without a copy of the event on the way of every acknowledgement.
    #[expect(clippy::inline_always, reason = "measured: on the way of every acknowledgement")]
    #[inline(always)]
    fn tell_here(&mut self, event: DeliveryEvent) {
        let Self { sampler, in_flight, now, .. } = self;
        let spared = self.group.spared;
        debug_assert_eq!(sampler.in_flight(), *in_flight, "{event:?}");
        let delivery = Delivery {
            event,
            now: *now,
            sent: sampler.sent,
            delivered: sampler.delivered,
            lost: sampler.lost,
            in_flight: *in_flight,
            app_limited: sampler.app_limited(),
            window_limited: sampler.window_limited,
            uniform: if spared.uniform { 0.0 } else { sampler.draws.unit() },
        };
        if spared.timing {
            self.said = Some(self.group.windows.on_detail(self.index, &delivery));
        } else {
            let (said, timing) = self.group.windows.on_detail_timed(self.index, &delivery);
            (self.said, self.timing) = (Some(said), Some(timing));
        }
    }

    /// An event that comes to every law.
    fn tell_all(&mut self, event: Event) -> Allowed {
        let said = self.group.windows.on(self.index, self.now, event);
        (self.said, self.timing) = (Some(said), None);
        said
    }

    /// The law was called with all there was: its output, if there is one. Its timing output holds from now on.
    #[expect(clippy::inline_always, reason = "measured: on the way of every acknowledgement")]
    #[inline(always)]
    fn end(self) -> Option<Allowed> {
        if self.said.is_some() && !self.group.spared.timing {
            let timing = self.timing.unwrap_or_else(|| self.group.windows.timing(self.index));
            self.sampler.time(timing, self.now.0);
        }
        self.said
    }

    /// Each packet that is lost.
    #[cold]
    fn losses(&mut self) {
        let mut at = 0;
        while let Some(lost) = self.sampler.loss(at) {
            self.tell(DeliveryEvent::Lost(lost));
            at += 1;
        }
    }
}

/// The parts of an engine that telling a law of flow `at` takes.
fn teller<'a>(flow: &Flow, group: &'a mut Group, sampler: &'a mut Sampler, now: u64) -> Teller<'a> {
    let in_flight = sampler.in_flight();
    debug_assert_eq!(in_flight, flow.data.in_flight());
    Teller { group, sampler, index: flow.index as usize, now: Time(now), in_flight, said: None, timing: None }
}

impl Engine {
    /// A sender processes an acknowledgement. Its group is of kind `K`.
    #[inline(never)]
    pub(crate) fn hear_in_detail<K: OfKind>(&mut self, at: usize, reply: Reply) {
        self.hear_here::<K>(at, reply);
    }

    /// The same, as a part of the caller.
    #[expect(clippy::inline_always, reason = "measured, see `Engine::forward`")]
    #[inline(always)]
    pub(crate) fn hear_here<K: OfKind>(&mut self, at: usize, mut reply: Reply) {
        if let Some(sampler) = &mut self.flows[at].sampler {
            sampler.begin(self.now);
        }
        let options = K::OTHER && self.groups[self.flows[at].group as usize].options;
        let carried = options.then(|| self.options_heard(at, &mut reply));
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let Some(mut sampler) = flow.sampler.take() else { return };
        let heard = flow.heard(&reply);
        let outcome = flow.data.hear_as::<K, _>(&heard, self.now, &mut *sampler);
        let rtt = flow.round_trip::<K>(group, heard.tx, outcome.sent, self.now);
        let marked = flow.marked(group, reply.flags, carried.as_ref(), outcome.covered);
        let persistent = K::OTHER && outcome.losses && flow.is_persistent();
        let cut = outcome.lost | flow.cut_by::<K>(group, &heard, marked) | persistent;
        if cut {
            flow.reduced();
        }
        let (delivered, echoed) = (sampler.news(), marked > 0);
        let marked = marked.min(delivered);
        let ack = Ack { rtt, packets: delivered, marked, grows: false, window: flow.window, probe: None };
        group.windows.ack(flow.index as usize, Time(self.now), ack);
        let settled = !flow.data.recovering();
        let mut teller = teller(flow, group, &mut sampler, self.now);
        if K::OTHER && outcome.spurious {
            flow.sent.undone += 1;
            let undone =
                if teller.sampler.undo() { DeliveryEvent::TimeoutUndone } else { DeliveryEvent::RecoveryUndone };
            teller.tell(undone);
        }
        if teller.sampler.has_losses() {
            teller.losses();
        }
        if persistent {
            teller.sampler.time_out(flow.data.recover);
            teller.tell(DeliveryEvent::Timeout);
        }
        if outcome.lost && teller.sampler.renews(flow.data.una) {
            teller.tell(DeliveryEvent::RecoveryRenewed);
        }
        if cut {
            let after = teller.tell_all(if persistent { Event::Timeout } else { Event::Congestion });
            flow.sent.cuts += 1;
            flow.sent.left += after.window / flow.window;
            if K::OTHER && teller.group.by_time && (outcome.lost || !persistent) {
                flow.data.reduce(after.window, &outcome, echoed);
            }
        }
        if outcome.lost && teller.sampler.enter(flow.data.una, flow.data.recover) {
            teller.tell(DeliveryEvent::RecoveryEntered);
        }
        if teller.sampler.leave(flow.data.una) {
            teller.tell(DeliveryEvent::RecoveryLeft);
        }
        let sample = teller.sampler.finish(marked, rtt);
        teller.tell_here(DeliveryEvent::Ack(sample));
        teller.sampler.window_limited = false;
        if delivered > 0 && outcome.covered > 0 && settled && !teller.group.spared.acks {
            teller.tell_all(Event::Ack { packets: delivered, marked });
        }
        if heard.tx >= flow.round {
            flow.round = flow.data.next_tx();
            if teller.group.windows.known(teller.index) {
                teller.tell_all(Event::Round);
            }
        }
        let said = teller.end();
        let (alarms, limited) = (sampler.wake < sampler.alarm, sampler.app_limited());
        flow.sampler = Some(sampler);
        let mut complete = false;
        if outcome.covered > 0 {
            complete = flow.data.una >= flow.data.limit;
            if flow.data.idle() {
                flow.timer.stop();
            } else {
                flow.timer.restart(self.now);
            }
        }
        if let Some(said) = said
            && !flow.allow(said, group.paced, self.now)
        {
            return self.refuse(at, said);
        }
        if alarms {
            self.set_alarm(at);
        }
        let flow = &mut self.flows[at];
        if complete {
            self.completed(at);
        } else if K::DETAILED && flow.burst.scheduled && flow.burst.wait(self.now).is_some() && !limited {
            // Its next packet is due later. All there is to tell is whether there is one.
            let (fresh, most) = (self.now < flow.until, self.groups[flow.group as usize].receive_segments);
            if flow.data.pick_as::<K>(flow.window, fresh, most).is_none()
                && let Some(sampler) = &mut flow.sampler
            {
                sampler.stopped_at(flow.window);
            }
        } else if K::DETAILED {
            self.send_as::<K>(at);
        } else {
            self.send(at);
        }
    }

    /// The output of a law holds from now on; false where it is no valid number, and the run is over.
    fn obey(&mut self, at: usize, said: Option<Allowed>) -> bool {
        let Some(said) = said else { return true };
        let flow = &mut self.flows[at];
        let group = &self.groups[flow.group as usize];
        if !flow.allow(said, group.paced, self.now) {
            self.refuse(at, said);
            return false;
        }
        self.set_alarm(at);
        true
    }

    /// The timing output of the law of a flow as it begins. A flow of another part than this engine's is stamped only.
    pub(crate) fn first_timing(&mut self, at: usize, is_own: bool) {
        let flow = &mut self.flows[at];
        let Some(sampler) = &mut flow.sampler else { return };
        let timing = self.groups[flow.group as usize].windows.timing(flow.index as usize);
        sampler.time(timing, self.now.max(flow.start));
        if is_own {
            self.set_alarm(at);
        } else if sampler.wake < sampler.alarm {
            self.agenda.stamp();
        }
    }

    /// An event that comes to every law, and not from an acknowledgement.
    pub(crate) fn tell_in_detail(&mut self, at: usize, event: Event) {
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let said = group.windows.on(flow.index as usize, Time(self.now), event);
        if let Some(sampler) = &mut flow.sampler
            && !group.spared.timing
        {
            sampler.time(group.windows.timing(flow.index as usize), self.now);
        }
        self.obey(at, Some(said));
    }

    /// The retransmission timer of a flow expired.
    #[cold]
    pub(crate) fn timeout_in_detail(&mut self, at: usize) {
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let Some(mut sampler) = flow.sampler.take() else { return };
        sampler.begin(self.now);
        flow.data.timeout(self.now, &mut *sampler);
        flow.reduced();
        sampler.time_out(flow.data.fresh);
        let mut teller = teller(flow, group, &mut sampler, self.now);
        teller.losses();
        teller.tell(DeliveryEvent::Timeout);
        teller.tell_all(Event::Timeout);
        let said = teller.end();
        flow.sampler = Some(sampler);
        self.obey(at, said);
    }

    /// Deadlines of a flow's recovery by time may be over: whether something is lost, or a probe goes out.
    #[cold]
    pub(crate) fn clock_in_detail(&mut self, at: usize) -> [bool; 2] {
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let Some(mut sampler) = flow.sampler.take() else { return [false; 2] };
        sampler.begin(self.now);
        let what = flow.data.overdue(self.now, &mut *sampler);
        if what.event {
            flow.reduced();
        }
        let mut teller = teller(flow, group, &mut sampler, self.now);
        teller.losses();
        if what.event {
            let after = teller.tell_all(Event::Congestion);
            flow.sent.cuts += 1;
            flow.sent.left += after.window / flow.window;
            flow.data.reduce(after.window, &Outcome { lost: true, ..Outcome::default() }, false);
            if teller.sampler.enter(flow.data.una, flow.data.recover) {
                teller.tell(DeliveryEvent::RecoveryEntered);
            }
        }
        let said = teller.end();
        flow.sampler = Some(sampler);
        self.obey(at, said);
        [what.losses, what.probe]
    }

    /// Data may be about to be sent with nothing in flight, after the flow was short of them.
    #[inline(never)]
    pub(crate) fn before_sending(&mut self, at: usize) {
        let flow = &mut self.flows[at];
        let Some(sampler) = &mut flow.sampler else { return };
        let fresh = self.now < flow.until && flow.data.fresh < flow.data.limit;
        if fresh && sampler.restarts_from_idle() {
            self.tell_alone(at, DeliveryEvent::IdleRestart);
        }
    }

    fn tell_alone(&mut self, at: usize, event: DeliveryEvent) {
        let flow = &mut self.flows[at];
        let group = &mut self.groups[flow.group as usize];
        let Some(mut sampler) = flow.sampler.take() else { return };
        let mut teller = teller(flow, group, &mut sampler, self.now);
        teller.tell(event);
        let said = teller.end();
        flow.sampler = Some(sampler);
        self.obey(at, said);
    }

    /// Puts the time that the law named on the agenda. Where an event is there already that comes no later, that one looks
    /// again; a later one comes for nothing.
    fn set_alarm(&mut self, at: usize) {
        let Some(sampler) = &mut self.flows[at].sampler else { return };
        if sampler.wake >= sampler.alarm {
            return;
        }
        sampler.alarm = sampler.wake;
        let due = sampler.wake;
        let place = self.free_alarms.pop().unwrap_or_else(|| {
            self.rare.push(Now::Alarm(0));
            self.agenda.extend();
            self.numbering.rare + self.rare.len() as u32 - 1
        });
        self.rare[(place - self.numbering.rare) as usize] = Now::Alarm(at as u32);
        self.schedule(place, due);
    }

    /// A time that a law named may have come.
    pub(crate) fn alarm(&mut self, at: usize, place: u32) {
        self.free_alarms.push(place);
        let now = self.now;
        let Some(sampler) = &mut self.flows[at].sampler else { return };
        if sampler.alarm <= now {
            sampler.alarm = u64::MAX;
        }
        if sampler.wake > now {
            return self.set_alarm(at);
        }
        // A law that does not name another time wants no more.
        sampler.wake = u64::MAX;
        self.tell_alone(at, DeliveryEvent::Timer);
        self.send(at);
    }
}
