//! From a scenario to an engine at time zero.

use penstock_law::quantity::{Bytes, Time};
use penstock_law::{aqm, cc};
use penstock_link::{Config, Port};
use penstock_scenario::model::{self, Arithmetic, Buffer, Pacing, Scenario};
use penstock_scenario::world::RunError;

use crate::agenda::Agenda;
use crate::engine::{Engine, Flow, Group, Hop, Link, Numbering, Sent, marks_at_departure};
use crate::line::Line;
use crate::measure::Measure;
use crate::packet::ECT;
use crate::receiver::{Habits, Receiver};
use crate::sender::burst::Burst;
use crate::sender::data::Data;
use crate::sender::timer::Timer;
use crate::sender::window::{Typed, Windows};

/// Builds the engine that will run `scenario`.
pub(crate) fn build(scenario: &Scenario) -> Result<Engine, RunError> {
    let mut routes = Routes::default();
    let mut groups = Vec::new();
    let mut flows = Vec::new();
    let size = size_on_wire(scenario.packet.wire)?;
    let ack_size = size_on_wire(scenario.packet.ack)?;
    for (at, (name, group)) in scenario.groups.iter().enumerate() {
        let windows = windows(scenario, name, group)?;
        let needs = windows.needs();
        let starts = group.starts(name, scenario.seed);
        let (limit, last) = transfer(scenario, group)?;
        for (index, (rtt, start)) in group.rtts(name, scenario.seed).into_iter().zip(starts).enumerate() {
            let route = routes.of(scenario, name, group, rtt)?;
            let allowed = windows.start(index);
            flows.push(Flow {
                group: at as u32,
                index: index as u32,
                route,
                flags: if needs.marks == cc::Marks::Ignored { 0 } else { ECT },
                data: Data::new(group.sender.recovery, limit),
                burst: Burst::new(allowed.gap),
                timer: Timer::new(group.sender.min_rto),
                window: allowed.window,
                window_since: start.0,
                round: 0,
                start: start.0,
                ack_timer: false,
                sent: Sent { least_rtt: u64::MAX, ..Sent::default() },
            });
        }
        groups.push(Group {
            windows,
            habits: Habits { echo: group.sender.ecn_echo, delayed_ack: group.sender.delayed_ack },
            marks: needs.marks,
            reliable: needs.reliable,
            paced: group.sender.pacing == Pacing::Law,
            receive_window: group.sender.receive_window,
            stop: group.stop.map_or(u64::MAX, |t| t.0),
            period: needs.tick_s.map_or(0, |s| Time::from_seconds(s).0),
            last,
        });
    }
    let links = links(scenario, &routes)?;
    let lines: Vec<Line> = routes
        .lines
        .iter()
        .map(|(port, delay)| Line::new(*port, delay.0, marks_at_departure(&links[*port as usize].port)))
        .collect();
    let (l, p, n) = (lines.len() as u32, links.len() as u32, flows.len() as u32);
    let numbering = Numbering { ports: l, send: l + p, timeout: l + p + n, tick: l + p + 2 * n, ack: l + p + 3 * n };
    // A bucket about as wide as two events are apart when every line is busy.
    let busiest: f64 = scenario.links.values().map(|link| link.rate.packets_per_s(scenario.packet.wire)).sum();
    let agenda = Agenda::new((l + p + 4 * n) as usize, (1e12 / busiest).clamp(1.0, 1e12) as u64);
    let mut engine = Engine {
        now: 0,
        end: scenario.duration.0,
        stamp: 0,
        agenda,
        numbering,
        lines,
        links,
        hops: routes.hops,
        groups,
        receivers: flows.iter().map(|_| Receiver::default()).collect(),
        flows,
        size,
        ack_size,
        events: 0,
        crossed: 0,
        measure: Some(Box::new(Measure::new(scenario))),
    };
    schedule_first(scenario, &mut engine);
    Ok(engine)
}

/// Puts the first event of every port, flow and timer on the agenda.
fn schedule_first(scenario: &Scenario, engine: &mut Engine) {
    let n = engine.numbering;
    let mut stamp = 0;
    let mut schedule = |agenda: &mut Agenda, entity, time| {
        agenda.schedule(entity, time, stamp);
        stamp += 1;
    };
    for (at, link) in engine.links.iter().enumerate() {
        let port = &link.port;
        if port.period() != Time::NEVER {
            schedule(&mut engine.agenda, n.ports + at as u32, port.period().0);
        }
    }
    for (at, flow) in engine.flows.iter_mut().enumerate() {
        flow.burst.scheduled = true;
        schedule(&mut engine.agenda, n.send + at as u32, flow.start);
    }
    let mut first = 0;
    for (group, (name, model)) in engine.groups.iter().zip(&scenario.groups) {
        let mut phase = scenario.seed.stream(&format!("flows.{name}/phase"));
        for at in first..first + model.count {
            if group.period > 0 {
                let start = engine.flows[at as usize].start;
                let time = start + (phase.unit() * group.period as f64) as u64;
                schedule(&mut engine.agenda, n.tick + at, time);
            }
        }
        first += model.count;
    }
    engine.stamp = stamp;
}

fn refused(what: String) -> RunError {
    RunError::Refused { world: "packets", what }
}

fn size_on_wire(size: Bytes) -> Result<u16, RunError> {
    u16::try_from(size.0).map_err(|_| refused(format!("a packet of {size} is too large; 65535 B are the most")))
}

/// The law of a group in the arithmetic it asks for.
fn windows(scenario: &Scenario, name: &str, group: &model::Group) -> Result<Windows, RunError> {
    let site = cc::Site {
        packet: scenario.packet.wire,
        initial_window: group.sender.initial_window,
        initial_ssthresh: group.sender.initial_ssthresh,
    };
    let (law, values, n) = (group.cc.law, &group.cc.values, group.count as usize);
    let whose = |e: String| refused(format!("flows.{name}.cc: {e}"));
    Ok(match group.sender.arithmetic {
        Arithmetic::Real => Windows::Real(Typed::new((law.real)(values, &site).map_err(whose)?, n)),
        Arithmetic::Fixed => {
            let build = law.fixed.ok_or_else(|| whose(format!("`{}` has no fixed-point form", law.name)))?;
            Windows::Fixed(Typed::new(build(values, &site).map_err(whose)?, n))
        }
    })
}

/// Segments of a transfer; the last one and its size on the wire.
fn transfer(scenario: &Scenario, group: &model::Group) -> Result<(u64, Option<(u64, u16)>), RunError> {
    let Some(model::Size::Each(size)) = group.size else { return Ok((u64::MAX, None)) };
    let (payload, wire) = (scenario.packet.payload.0, scenario.packet.wire.0);
    let segments = size.0.div_ceil(payload);
    let last = size.0 - (segments - 1) * payload + (wire - payload);
    Ok((segments, Some((segments - 1, size_on_wire(Bytes(last))?))))
}

/// Links with their laws and coins.
fn links(scenario: &Scenario, routes: &Routes) -> Result<Vec<Link>, RunError> {
    let build = |(at, (name, link)): (usize, (&String, &model::Link))| {
        let site = aqm::Site { rate: link.rate, delay: link.delay, packet: scenario.packet.wire };
        let law =
            (link.aqm.law.real)(&link.aqm.values, &site).map_err(|e| refused(format!("links.{name}.aqm: {e}")))?;
        let (most_packets, most_bytes) = match link.buffer {
            Buffer::Unlimited => (u64::MAX, u64::MAX),
            Buffer::Packets(n) => (n, u64::MAX),
            Buffer::Bytes(b) => (u64::MAX, b.0),
        };
        let behind = routes.lines.iter().filter(|(port, _)| *port as usize == at).map(|(_, delay)| *delay);
        let memory = behind.max().unwrap_or(link.delay);
        let packet = scenario.packet.wire;
        let stream = |what| scenario.seed.stream(&format!("links.{name}/{what}"));
        Ok(Link {
            port: Port::new(Config { service: link.rate.into(), most_packets, most_bytes, packet, law, memory }),
            coins: stream("aqm"),
            loss: link.loss,
            losses: stream("loss"),
        })
    };
    scenario.links.iter().enumerate().map(build).collect()
}

/// Routes of flows, sharing lines where port and delay are the same.
#[derive(Default)]
struct Routes {
    hops: Vec<Hop>,
    /// Port and delay of each line.
    lines: Vec<(u32, Time)>,
    by_port_and_delay: std::collections::BTreeMap<(u32, Time), u32>,
    known: std::collections::BTreeMap<(usize, Time), [(u32, u8); 2]>,
}

impl Routes {
    /// Where the hops of a flow's data and acknowledgements start, and how many there are.
    fn of(
        &mut self,
        scenario: &Scenario,
        name: &str,
        group: &model::Group,
        rtt: Time,
    ) -> Result<[(u32, u8); 2], RunError> {
        let key = (scenario.groups.get_index_of(name).unwrap_or(0), rtt);
        if let Some(route) = self.known.get(&key) {
            return Ok(*route);
        }
        let delay = |links: &[String]| Time(links.iter().map(|l| scenario.links[l].delay.0).sum());
        let links = delay(&group.forward) + delay(&group.backward);
        if links > rtt {
            return Err(refused(format!("flows.{name}.rtt: {rtt} is less than the {links} of its links")));
        }
        let route = [
            self.hops(scenario, name, &group.forward, rtt - links)?,
            self.hops(scenario, name, &group.backward, Time::ZERO)?,
        ];
        self.known.insert(key, route);
        Ok(route)
    }

    fn hops(
        &mut self,
        scenario: &Scenario,
        name: &str,
        links: &[String],
        private: Time,
    ) -> Result<(u32, u8), RunError> {
        let first = self.hops.len() as u32;
        for (at, link) in links.iter().enumerate() {
            let port = scenario.links.get_index_of(link).expect("routes name links") as u32;
            let last = at + 1 == links.len();
            let delay = scenario.links[link].delay + if last { private } else { Time::ZERO };
            let lines = &mut self.lines;
            let line = *self.by_port_and_delay.entry((port, delay)).or_insert_with(|| {
                lines.push((port, delay));
                lines.len() as u32 - 1
            });
            self.hops.push(Hop { port, line });
        }
        let hops = u8::try_from(links.len())
            .map_err(|_| refused(format!("flows.{name}: a route of {} links; 255 are the most", links.len())))?;
        Ok((first, hops))
    }
}
