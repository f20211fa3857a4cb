//! The first events of a run, or of one part of it.

use penstock_law::quantity::Time;
use penstock_scenario::model::Scenario;
use penstock_scenario::seed::Stream;

use crate::agenda::Agenda;
use crate::engine::Engine;
use crate::partition::Partition;
use crate::traffic::Now;

/// A part of a cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) cut: &'a Partition,
    pub(crate) number: u32,
}

impl Part<'_> {
    pub(super) fn has_link(self, link: usize) -> bool {
        self.cut.links[link] == self.number
    }

    pub(super) fn has_sender(self, group: u32) -> bool {
        self.cut.senders[group as usize] == self.number
    }
}

/// Puts the first event of every port, flow and timer on the agenda. Those of another part only take
/// their stamp, so that a stamp means the same in all parts.
pub(super) fn schedule_first(scenario: &Scenario, engine: &mut Engine, cut: Option<Part<'_>>) {
    let n = engine.numbering;
    let schedule = |agenda: &mut Agenda, is_own: bool, entity: u32, time: u64| {
        if is_own {
            agenda.schedule_last(entity, time);
        } else {
            agenda.stamp();
        }
    };
    for (at, link) in engine.links.iter().enumerate() {
        let period = link.station.period();
        if period != Time::NEVER {
            let is_own = cut.is_none_or(|part| part.has_link(at));
            schedule(&mut engine.agenda, is_own, n.ports + at as u32, period.0);
        }
    }
    for (at, flow) in engine.flows.iter_mut().enumerate() {
        flow.burst.scheduled = true;
        let is_own = cut.is_none_or(|part| part.has_sender(flow.group));
        schedule(&mut engine.agenda, is_own, n.send + at as u32, flow.start);
    }
    let mut phases: Vec<Stream> =
        scenario.groups.keys().map(|name| scenario.seed.stream(&format!("flows.{name}/phase"))).collect();
    for (at, what) in engine.rare.iter().enumerate() {
        let (time, whose) = match *what {
            Now::Tick(flow) => {
                let flow = &engine.flows[flow as usize];
                let period = engine.groups[flow.group as usize].period;
                (flow.start + (phases[flow.group as usize].unit() * period as f64) as u64, flow.group)
            }
            Now::Turn(flow) => {
                let flow = &engine.flows[flow as usize];
                let source = &mut engine.sources[flow.source as usize];
                let (on, _) = source.on_off.expect("only such flows take turns");
                (flow.start.saturating_add(on.draw(&mut source.turns).0.max(1)), flow.group)
            }
            Now::Arrival(group) => {
                let (first, last) = engine.groups[group as usize].flows;
                let starts = engine.flows[first as usize..last as usize].iter().map(|flow| flow.start);
                let supply = engine.supplies[group as usize].as_mut().expect("only such groups have arrivals");
                (starts.min().unwrap_or(0).saturating_add(supply.gap.draw(&mut supply.gaps).0), group)
            }
            Now::Client(client) => {
                let flow = &engine.flows[engine.clients[client as usize].first as usize];
                (flow.start, flow.group)
            }
            Now::Step(group) => (engine.groups[group as usize].next_step, group),
            Now::Ack(_) | Now::Clock(_) | Now::Alarm(_) | Now::Begin(_) | Now::Line(_) | Now::Pause => continue,
        };
        schedule(&mut engine.agenda, cut.is_none_or(|part| part.has_sender(whose)), n.rare + at as u32, time);
    }
}
