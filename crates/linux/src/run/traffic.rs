//! Traffic of flows of TCP: transfers one after the other, pauses, and arrivals, drawn from the very streams of the
//! packets world. Time is an argument.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use penstock_law::quantity::{Bytes, Time};
use penstock_scenario::model::{Group, Repeats, Scenario, Size, Span};
use penstock_scenario::seed::Stream;

use super::plan::FlowPlan;

/// A transfer that a flow begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Begin {
    pub(super) flow: u32,
    /// Transfers of the flow before it.
    pub(super) number: u32,
    /// Time of its request.
    pub(super) arrived: Time,
    /// Its size; without end where the flow has no size.
    pub(super) bytes: Option<Bytes>,
}

/// An event of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Happening {
    Begin(Begin),
    /// It sends no new data until it speaks again.
    Silent(u32),
    Speaks(u32),
    /// It sends no new data any more.
    Stop(u32),
}

/// The next events, in the order of those of one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Stop(u32),
    Turn(u32),
    Begin(u32),
    Arrival(u32),
}

/// One flow.
#[derive(Debug)]
struct Own {
    group: usize,
    /// Transfers begun.
    number: u32,
    stop: Time,
    size: Option<Size>,
    sizes: Stream,
    idle: Option<Span>,
    idles: Stream,
    on_off: Option<(Span, Span)>,
    turns: Stream,
    silent: bool,
}

/// Transfers that arrive at a group, whatever became of those before.
#[derive(Debug)]
struct Supply {
    gap: Span,
    gaps: Stream,
    size: Size,
    sizes: Stream,
    stop: Time,
    /// Arrivals that found no flow free.
    waiting: VecDeque<(Time, Bytes)>,
    /// Flows without a transfer, the longest free first.
    free: VecDeque<u32>,
}

/// The traffic of every flow of TCP.
#[derive(Debug)]
pub(super) struct Traffic {
    flows: Vec<Own>,
    supplies: Vec<Option<Supply>>,
    agenda: BinaryHeap<Reverse<(Time, Due)>>,
    /// Events that are past and not yet taken.
    ready: VecDeque<Happening>,
}

impl Traffic {
    /// As a scenario has it, for the flows of its plan.
    pub(super) fn of(scenario: &Scenario, plans: &[FlowPlan]) -> Self {
        let mut traffic =
            Self { flows: Vec::new(), supplies: Vec::new(), agenda: BinaryHeap::new(), ready: VecDeque::new() };
        let mut numbered = (0..).zip(plans).peekable();
        for (group_number, (name, group)) in scenario.groups.iter().enumerate() {
            let stream = |what: &str| scenario.seed.stream(&format!("flows.{name}/{what}"));
            let mut of_group = Vec::new();
            while let Some((number, plan)) = numbered.next_if(|(_, plan)| plan.group == group_number) {
                let own = |what: &str| stream(&format!("{what}/{}", of_group.len()));
                let mut flow = Own::of(group, plan, own);
                of_group.push(number);
                if plan.source.is_reliable() {
                    traffic.first(group, plan, number, &mut flow);
                }
                traffic.flows.push(flow);
            }
            let supply = supply(group, plans, &of_group, &stream);
            if let Some((supply, first)) = supply {
                traffic.agenda.push(Reverse((first, Due::Arrival(group_number as u32))));
                traffic.supplies.push(Some(supply));
            } else {
                traffic.supplies.push(None);
            }
        }
        traffic
    }

    /// Puts the first event of a flow on the agenda.
    fn first(&mut self, group: &Group, plan: &FlowPlan, number: u32, flow: &mut Own) {
        if !matches!(group.repeats, Some(Repeats::Poisson(_))) {
            self.agenda.push(Reverse((plan.start, Due::Begin(number))));
        }
        if let Some((on, _)) = group.on_off {
            let until = plan.start + on.draw(&mut flow.turns).max(LEAST);
            self.agenda.push(Reverse((until, Due::Turn(number))));
        }
        if plan.stop != Time::NEVER {
            self.agenda.push(Reverse((plan.stop, Due::Stop(number))));
        }
    }

    /// Time of the next event; never if there is none until a transfer is complete.
    pub(super) fn next(&self) -> Time {
        if self.ready.is_empty() {
            self.agenda.peek().map_or(Time::NEVER, |Reverse((time, _))| *time)
        } else {
            Time::ZERO
        }
    }

    /// The next event by `now`.
    pub(super) fn happened(&mut self, now: Time) -> Option<Happening> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            let Reverse((time, due)) = self.agenda.peek().copied().filter(|Reverse((time, _))| *time <= now)?;
            self.agenda.pop();
            match due {
                Due::Stop(flow) => return Some(Happening::Stop(flow)),
                Due::Turn(flow) => return Some(self.turn(time, flow)),
                Due::Begin(flow) if time < self.flows[flow as usize].stop => return Some(self.begin(time, flow)),
                Due::Begin(_) => {}
                Due::Arrival(group) => self.arrival(time, group),
            }
        }
    }

    fn begin(&mut self, arrived: Time, flow: u32) -> Happening {
        let own = &mut self.flows[flow as usize];
        let bytes = own.size.as_ref().map(|size| size.draw(&mut own.sizes));
        let number = own.number;
        own.number += 1;
        Happening::Begin(Begin { flow, number, arrived, bytes })
    }

    /// A flow takes up a transfer that arrived at its group.
    fn take(&mut self, flow: u32, arrived: Time, bytes: Bytes) {
        let own = &mut self.flows[flow as usize];
        let number = own.number;
        own.number += 1;
        self.ready.push_back(Happening::Begin(Begin { flow, number, arrived, bytes: Some(bytes) }));
    }

    fn turn(&mut self, now: Time, flow: u32) -> Happening {
        let own = &mut self.flows[flow as usize];
        own.silent = !own.silent;
        let (on, off) = own.on_off.expect("only such flows take turns");
        let span = (if own.silent { off } else { on }).draw(&mut own.turns).max(LEAST);
        let silent = own.silent;
        self.agenda.push(Reverse((now + span, Due::Turn(flow))));
        if silent { Happening::Silent(flow) } else { Happening::Speaks(flow) }
    }

    fn arrival(&mut self, now: Time, group: u32) {
        let supply = self.supplies[group as usize].as_mut().expect("only such groups have arrivals");
        let bytes = supply.size.draw(&mut supply.sizes);
        let next = now + supply.gap.draw(&mut supply.gaps);
        if next < supply.stop {
            self.agenda.push(Reverse((next, Due::Arrival(group))));
        }
        match supply.free.pop_front() {
            Some(flow) => self.take(flow, now, bytes),
            None => supply.waiting.push_back((now, bytes)),
        }
    }

    /// A flow's transfer is complete: its next event.
    pub(super) fn completed(&mut self, flow: u32, now: Time) {
        let own = &mut self.flows[flow as usize];
        if let Some(idle) = own.idle {
            let due = now + idle.draw(&mut own.idles);
            self.agenda.push(Reverse((due, Due::Begin(flow))));
            return;
        }
        let (group, over) = (own.group, now >= own.stop);
        if let Some(supply) = &mut self.supplies[group]
            && !over
        {
            match supply.waiting.pop_front() {
                Some((arrived, bytes)) => self.take(flow, arrived, bytes),
                None => supply.free.push_back(flow),
            }
        }
    }

    /// Whether a flow is between two times of sending.
    pub(super) fn silent(&self, flow: u32) -> bool {
        self.flows[flow as usize].silent
    }
}

/// A span of nothing still takes a moment, or two of them would never end.
const LEAST: Time = Time(1);

impl Own {
    fn of(group: &Group, plan: &FlowPlan, stream: impl Fn(&str) -> Stream) -> Self {
        Self {
            group: plan.group,
            number: 0,
            stop: plan.stop,
            size: if group.repeats.is_some() { group.size.clone() } else { plan.bytes.map(Size::Each) },
            sizes: stream("size"),
            idle: if let Some(Repeats::Idle(span)) = group.repeats { Some(span) } else { None },
            idles: stream("idle"),
            on_off: group.on_off,
            turns: stream("on_off"),
            silent: false,
        }
    }
}

/// The arrivals at a group, and the time of the first.
fn supply(group: &Group, plans: &[FlowPlan], flows: &[u32], stream: &dyn Fn(&str) -> Stream) -> Option<(Supply, Time)> {
    let (Some(Repeats::Poisson(per_s)), Some(size)) = (group.repeats, group.size.clone()) else { return None };
    let start = flows.iter().map(|flow| plans[*flow as usize].start).min()?;
    let gap = Span::Exponential(Time::from_seconds(1.0 / per_s));
    let mut gaps = stream("arrivals");
    let first = start + gap.draw(&mut gaps);
    let stop = group.stop.unwrap_or(Time::NEVER);
    let free = flows.iter().copied().collect();
    Some((Supply { gap, gaps, size, sizes: stream("size"), stop, waiting: VecDeque::new(), free }, first))
}

#[cfg(test)]
mod tests {
    use penstock_scenario::read::Document;

    use super::super::generator::Generator;
    use super::super::plan::Plan;
    use super::*;

    const S: u64 = Time::PER_SECOND;

    fn traffic(flow: &str) -> (Traffic, usize) {
        let text = format!(
            r#"format = 1
            duration = "1000 s"
            links.l = {{ from = "a", to = "b", rate = "8 Mbit/s", delay = "5 ms", buffer = "90 packets" }}
            flows.f = {{ from = "a", to = "b", cc = {{ law = "newreno" }}, {flow} }}"#
        );
        let cells = Document::parse(&text, "test.toml").and_then(|document| document.cells()).unwrap();
        let plan = Plan::of(&cells[0].scenario, Generator::Own).unwrap();
        (Traffic::of(&cells[0].scenario, &plan.flows), plan.flows.len())
    }

    /// Everything up to the end, where each transfer takes a second.
    fn lived(traffic: &mut Traffic) -> Vec<(Time, Happening)> {
        let (mut seen, mut busy, mut clock) = (Vec::new(), Vec::<(Time, u32)>::new(), Time::ZERO);
        loop {
            busy.sort_unstable();
            let done = busy.first().copied().unwrap_or((Time::NEVER, 0));
            let now = traffic.next().min(done.0).max(clock);
            clock = now;
            if now > Time(1000 * S) {
                return seen;
            }
            if done.0 <= now {
                busy.remove(0);
                traffic.completed(done.1, now);
                continue;
            }
            while let Some(happening) = traffic.happened(now) {
                if let Happening::Begin(begin) = happening
                    && begin.bytes.is_some()
                {
                    busy.push((now + Time(S), begin.flow));
                }
                seen.push((now, happening));
            }
        }
    }

    fn begins(seen: &[(Time, Happening)]) -> Vec<(Time, Begin)> {
        seen.iter()
            .filter_map(|(at, what)| if let Happening::Begin(begin) = what { Some((*at, *begin)) } else { None })
            .collect()
    }

    #[test]
    fn a_flow_without_size_begins_once_and_stops() {
        let (mut traffic, _) = traffic(r#"start = "3 s", stop = "9 s""#);
        let begin = Begin { flow: 0, number: 0, arrived: Time(3 * S), bytes: None };
        assert_eq!(lived(&mut traffic), [(Time(3 * S), Happening::Begin(begin)), (Time(9 * S), Happening::Stop(0))]);
    }

    /// Closed loop: a transfer of a second, two of silence, and so on; none begins after the stop.
    #[test]
    fn an_idle_flow_rests_after_each_transfer() {
        let (mut traffic, _) = traffic(r#"start = "0 s", size = "1 kB", idle = "2 s", stop = "100 s""#);
        let seen = begins(&lived(&mut traffic));
        assert_eq!(seen.len(), 34, "one every three seconds: {seen:?}");
        for (number, (at, begin)) in seen.iter().enumerate() {
            assert_eq!((*at, begin.arrived, begin.number), (Time(3 * S * number as u64), *at, number as u32));
            assert_eq!(begin.bytes, Some(Bytes(1000)));
        }
    }

    /// Open loop: as many arrive as the rate gives, whatever becomes of them; one that finds no flow free waits, and none is
    /// passed over.
    #[test]
    fn arrivals_come_at_their_rate_and_wait_for_a_flow() {
        let (mut traffic, flows) = traffic(
            r#"count = 3, start = "0 s", size = { pareto = { mean = "10 kB", shape = 2.5 } }, arrivals = { poisson = "2 /s" }"#,
        );
        let seen = begins(&lived(&mut traffic));
        assert!((1850..2150).contains(&seen.len()), "{}", seen.len());
        assert!(seen.is_sorted_by_key(|(_, begin)| begin.arrived), "first come, first served");
        let mean = seen.iter().map(|(_, b)| b.bytes.unwrap().0).sum::<u64>() as f64 / seen.len() as f64;
        assert!((mean / 10e3 - 1.0).abs() < 0.15, "{mean}");
        let waited = seen.iter().filter(|(at, begin)| *at > begin.arrived).count();
        assert!(waited > 100 && waited < seen.len() - 100, "two of three flows are busy on average: {waited}");
        for flow in 0..flows as u32 {
            let own: Vec<_> = seen.iter().filter(|(_, b)| b.flow == flow).collect();
            assert!(own.windows(2).all(|w| w[1].0 >= w[0].0 + Time(S) && w[1].1.number == w[0].1.number + 1));
        }
    }

    #[test]
    fn a_flow_takes_turns() {
        let (mut traffic, _) = traffic(r#"start = "1 s", on_off = { on = "2 s", off = "3 s" }"#);
        let seen = lived(&mut traffic);
        assert_eq!(
            seen[1..4],
            [
                (Time(3 * S), Happening::Silent(0)),
                (Time(6 * S), Happening::Speaks(0)),
                (Time(8 * S), Happening::Silent(0))
            ]
        );
        assert_eq!(seen.len(), 1 + 200 + 199, "silent from 3 s to 998 s every five, and speaking from 6 s to 996 s");
    }
}
