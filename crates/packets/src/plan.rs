//! From a scenario to an engine at time zero.

mod first;
mod routes;

use std::collections::VecDeque;

use penstock_law::quantity::{Bytes, Time};
use penstock_law::{Values, cc};
use penstock_scenario::model::{
    self, Arithmetic, EcnEcho, EcnOnLine, Limit, Pacing, Recovery, Repeats, Rto, Scenario, Span, StopRule,
};
use penstock_scenario::seed::Stream;
use penstock_scenario::world::RunError;

use crate::agenda::Agenda;
use crate::clients::Client;
use crate::conditioners::{conditioner_of, conditioners};
use crate::dynamics::Counted;
use crate::elements::Elements;
use crate::engine::{Account, Engine, Numbering};
use crate::entry::Entry;
use crate::feedback::Feedback;
use crate::flow::{Flow, Group, NONE, Noise, Opening, Sent};
use crate::kind::Kind;
use crate::line::{APART, ECN, Line, MARKS};
use crate::loss::Losses;
use crate::measure::Measure;
use crate::packet::{ECT, LOW};
use crate::partition::Partition;
use crate::receiver::{Habits, Receiver};
use crate::sender::bottleneck::Known;
use crate::sender::burst::Burst;
use crate::sender::data::Data;
use crate::sender::pacer::Pacer;
use crate::sender::sampler::Sampler;
use crate::sender::timer::Timer;
use crate::sender::window::{Typed, Windows};
use crate::station::{Link, Station};
use crate::traffic::{Now, Source, Supply};
pub(crate) use first::Part;
use first::schedule_first;
use routes::Routes;

/// Builds the engine that will run `scenario`.
pub(crate) fn build(scenario: &Scenario) -> Result<Engine, RunError> {
    build_part(scenario, None).map(|(engine, _)| engine)
}

/// The same, or the engine of one part of a cut, and the part that each line leads to. An engine of a part has all there is,
/// under the numbers that all parts use, but only what is of the part happens there.
pub(crate) fn build_part(scenario: &Scenario, cut: Option<Part<'_>>) -> Result<(Engine, Vec<u32>), RunError> {
    let mut routes = Routes::default();
    let classes = scenario.class_names().len();
    let mut parts = Parts::default();
    // To the last place: a list that doubles would keep room for as many flows again.
    let flows = scenario.groups.values().map(|group| group.count as usize).sum();
    parts.flows.reserve_exact(flows);
    parts.keys.reserve_exact(flows);
    let ack_size = size_on_wire(scenario.packet.ack)?;
    let mut refusals = Vec::new();
    for (name, group) in &scenario.groups {
        match parts.group(scenario, (&mut routes, cut.map(|part| part.cut)), name, group) {
            Ok(()) => {}
            // The world can run the scenario: the law is wrong.
            Err(error @ RunError::Law { .. }) => return Err(error),
            Err(error) => refusals.extend(error.reasons()),
        }
    }
    if !refusals.is_empty() {
        return Err(RunError::Refused { world: "packets", what: refusals });
    }
    let mut links = links(scenario, &routes)?;
    let lines: Vec<Line> = routes
        .lines
        .iter()
        .map(|(port, delay)| {
            let link = &links[*port as usize];
            let marks = if link.station.marks_at_departure() { MARKS } else { 0 };
            let ecn = if link.ecn == EcnOnLine::Keep { 0 } else { ECN };
            let apart = if marks != 0 && link.losses.elements.is_some() { APART } else { 0 };
            Line::new(*port, delay.0, marks | ecn | apart)
        })
        .collect();
    for group in &mut parts.groups {
        let first = parts.flows.get(group.flows.0 as usize).map(|flow| routes.hops[flow.route[0].0 as usize].port);
        if !first.is_some_and(|port| matches!(links[port as usize].station, Station::Port(_))) {
            group.kind = group.kind.otherwise();
        }
    }
    let Parts { groups, mut flows, keys, entries, mut sources, mut supplies, mut clients, mut rare, unfinished } =
        parts;
    let (l, p, n, e) = (lines.len() as u32, links.len() as u32, flows.len() as u32, entries.len() as u32);
    let numbering = Numbering {
        ports: l,
        serve: l + p,
        send: l + 2 * p,
        timeout: l + 2 * p + n,
        entries: l + 2 * p + 2 * n,
        rare: l + 2 * p + 2 * n + e,
    };
    for (at, link) in links.iter_mut().enumerate() {
        let Some(elements) = &mut link.losses.elements else { continue };
        elements.wakes(|| {
            rare.push(Now::Line(at as u32));
            numbering.rare + rare.len() as u32 - 1
        });
    }
    for at in flows
        .iter_mut()
        .flat_map(|f| [&mut f.ack, &mut f.clock])
        .chain(sources.iter_mut().flat_map(|s| [&mut s.begin, &mut s.turn]))
    {
        *at = at.saturating_add(numbering.rare);
    }
    for supply in supplies.iter_mut().flatten() {
        supply.entity += numbering.rare;
    }
    for client in &mut clients {
        client.entity += numbering.rare;
    }
    // A bucket about as wide as two events are apart when every line is busy.
    let own = scenario.links.values().zip(0..).filter(|(_, at)| cut.is_none_or(|part| part.has_link(*at)));
    let busiest: f64 = own.map(|(link, _)| link.rate.packets_per_s(scenario.packet.wire)).sum();
    let busy = cut.map_or(lines.len(), |part| routes.lead_to.iter().filter(|to| **to == part.number).count());
    let agenda = Agenda::new(numbering.rare as usize + rare.len(), busy, (1e12 / busiest).clamp(1.0, 1e12) as u64);
    let mut engine = Engine {
        now: 0,
        end: scenario.duration.0,
        agenda,
        numbering,
        lines,
        links,
        hops: routes.hops,
        groups,
        receivers: flows.iter().map(|_| Receiver::default()).collect(),
        flows,
        keys,
        entries,
        conditioners: conditioners(scenario)?,
        sources,
        supplies,
        rare,
        free_alarms: Vec::new(),
        accounts: vec![Account::default(); classes + scenario.customers.len()],
        first_customer: classes,
        transfers: Vec::new(),
        clients,
        pages: Vec::new(),
        chunks: Vec::new(),
        unfinished,
        stop_when_complete: scenario.stop == Some(StopRule::TransfersComplete),
        ack_size,
        outbox: Vec::new(),
        paused: false,
        fault: None,
        seen: None,
        goes_on: None,
        counted: Counted::of(scenario),
        looks: false,
        events: 0,
        crossed: 0,
        measure: Some(Box::new(Measure::new(scenario))),
    };
    schedule_first(scenario, &mut engine, cut);
    for at in 0..engine.flows.len() {
        let is_own = cut.is_none_or(|part| part.has_sender(engine.flows[at].group));
        engine.first_timing(at, is_own);
    }
    Ok((engine, routes.lead_to))
}

/// Parts that are built group by group. Agenda indices count from the first rare one.
#[derive(Default)]
struct Parts {
    groups: Vec<Group>,
    flows: Vec<Flow>,
    keys: Vec<u64>,
    entries: Vec<Entry>,
    sources: Vec<Source>,
    supplies: Vec<Option<Supply>>,
    clients: Vec<Client>,
    rare: Vec<Now>,
    unfinished: u64,
}

impl Parts {
    fn group(
        &mut self,
        scenario: &Scenario,
        (routes, cut): (&mut Routes, Option<&Partition>),
        name: &str,
        group: &model::Group,
    ) -> Result<(), RunError> {
        let packet = group.packet(scenario.packet);
        let size = size_on_wire(packet.wire)?;
        let mut windows = windows(scenario, name, group, &group.cc.values)?;
        let needs = windows.requirements();
        if needs.kernel {
            let law = group.cc.law.name;
            return Err(refused(format!("flows.{name}.cc: only the kernel has `{law}`; use `--world linux`")));
        }
        if needs.delivery && !matches!(group.sender.recovery, Recovery::Sack | Recovery::Rack) {
            let law = group.cc.law.name;
            return Err(refused(format!(
                "flows.{name}.sender.recovery: `{law}` requires the fate of each packet, which duplicates do not report; \
                 choose `sack` or `rack`"
            )));
        }
        windows.keep_gaps(group.sender.pacing != Pacing::Off);
        let windowed = needs.reliable && group.sender.pacing == Pacing::Window;
        let mut starts = group.starts(name, scenario.seed);
        let at = self.groups.len() as u32;
        let first = self.flows.len() as u32;
        let stream = |what: &str| scenario.seed.stream(&format!("flows.{name}/{what}"));
        let stop = group.stop.map_or(u64::MAX, |t| t.0);
        let open = matches!(group.repeats, Some(Repeats::Poisson(_)));
        if open {
            // Transfers arrive at the group, from its first start on, and any of its flows may take one.
            let first = starts.iter().copied().min().unwrap_or_default();
            starts.fill(first);
        }
        let edge = conditioner_of(scenario, name);
        let mut single = stream("size");
        // Such a law has a window of its own in recovery.
        let mut sender = group.sender.clone();
        sender.rack.prr &= !needs.delivery;
        let packets = stream("packets").bits();
        // A receiver that acknowledges each packet at once tells a sender that it delays none.
        let ack_delay = if group.sender.delayed_ack > 1 { group.sender.max_ack_delay } else { Time::ZERO };
        let habits = Habits {
            // Where no flow responds to marks there is nothing to tell of.
            echo: if needs.marks == cc::Marks::Ignored { EcnEcho::PerPacket } else { group.sender.echo() },
            delayed_ack: group.sender.delayed_ack,
            quick_acks: group.sender.quick_acks,
            max_ack_delay: group.sender.max_ack_delay,
            gap_once: group.sender.ack_gap_once,
            sack_blocks: if group.sender.selective() { group.sender.sack_blocks } else { 0 },
            accecn_option: group.sender.accecn_option,
        };
        let options = needs.reliable && habits.options();
        let by_time = needs.reliable && group.sender.recovery == Recovery::Rack;
        let mut flags = if needs.marks == cc::Marks::Ignored { 0 } else { ECT };
        flags |= if needs.low_latency { LOW } else { 0 };
        for (index, (rtt, start)) in group.rtts(name, scenario.seed).into_iter().zip(starts).enumerate() {
            let number = self.flows.len() as u32;
            let route = routes.of(scenario, name, group, rtt, cut)?;
            let allowed = windows.start(index);
            if !allowed.is_sound() {
                let (whose, law) = (format!("flows.{name}, flow {index}"), group.cc.law.name);
                return Err(RunError::Law { whose, law, at: Time::ZERO, output: allowed.to_string() });
            }
            let own = |what: &str| scenario.seed.stream(&format!("flows.{name}/{what}/{index}"));
            let entry = self.entry(
                (group.access.is_some() || group.jitter.is_some() || edge.is_some())
                    .then(|| penstock_link::Entry::of_data(group.access, group.jitter, own("jitter"))),
            );
            let ack_entry = self.entry(
                group.ack_jitter.as_ref().map(|jitter| penstock_link::Entry::of_acks(jitter, own("ack_jitter"))),
            );
            let mut source = self.source(group, number, start.0, &own);
            self.client(scenario, (name, group), (index, number), source.as_mut());
            let bytes = match (&group.size, &mut source) {
                _ if group.application.is_some() => Some(0),
                (None, _) => None,
                (Some(_), _) if open => Some(0),
                (Some(size), Some(source)) if group.repeats.is_some() => {
                    source.number = 1;
                    Some(size.draw(&mut source.sizes).0)
                }
                (Some(size), _) => Some(size.draw(&mut single).0),
            };
            let (limit, last_size) = transfer(packet.payload.0, bytes, size);
            self.unfinished += u64::from(needs.reliable && group.ends() && group.application.is_none());
            let source = source.map_or(NONE, |source| {
                self.sources.push(source);
                self.sources.len() as u32 - 1
            });
            let ack = if group.sender.delayed_ack > 1 { self.rare(Now::Ack(number)) } else { NONE };
            let clock = if by_time { self.rare(Now::Clock(number)) } else { NONE };
            let shakes = needs.reliable && group.sender.handshake;
            let opening = if shakes { Opening::Needed } else { Opening::Done };
            self.keys.push(packets.wrapping_add((index as u64) << 32));
            self.flows.push(Flow {
                group: at,
                index: index as u32,
                out: routes.hops[route[0].0 as usize],
                route,
                flags,
                ack_timer: false,
                last_size,
                size,
                connection: 0,
                first: 0,
                entry,
                ack_entry,
                source,
                ack,
                ack_due: 0,
                clock,
                clock_set: false,
                blocks_known: false,
                syn_sent: 0,
                syn: (0, 0),
                opening_again: false,
                opening,
                pacer: windowed.then(|| Box::new(Pacer::new(start.0))),
                sampler: needs.delivery.then(|| Box::new(Sampler::new(own("law"), needs.spared.transmissions))),
                feedback: options.then(|| Box::new(Feedback::new(habits.echo == EcnEcho::Accurate))),
                data: Data::new(&sender, limit),
                burst: Burst::new(allowed.gap_s, start.0),
                timer: Timer::new(group.sender.rto, group.sender.min_rto, group.sender.tick, ack_delay),
                window: allowed.window,
                window_since: start.0,
                round: 0,
                start: start.0,
                until: stop,
                sent: Sent { least_rtt: u64::MAX, ..Sent::default() },
            });
            if needs.tick_s.is_some() {
                self.rare(Now::Tick(number));
            }
        }
        let mut steps = Vec::new();
        for (time, values) in group.steps.iter().rev() {
            steps.push((time.0, self::windows(scenario, name, group, values)?));
        }
        let next_step = steps.last().map_or(u64::MAX, |(time, _)| *time);
        if next_step != u64::MAX {
            self.rare(Now::Step(at));
        }
        let flows = (first, self.flows.len() as u32);
        let supply = match (group.repeats, group.size.clone()) {
            (Some(Repeats::Poisson(per_s)), Some(size)) => Some(Supply {
                entity: self.rare(Now::Arrival(at)),
                gap: Span::Exponential(Time::from_seconds(1.0 / per_s)),
                gaps: stream("arrivals"),
                size,
                sizes: stream("size"),
                waiting: VecDeque::new(),
                free: (flows.0..flows.1).collect(),
            }),
            _ => None,
        };
        self.supplies.push(supply);
        let classes = scenario.class_names();
        let class = group.class.as_ref().and_then(|class| classes.iter().position(|name| name == class));
        let customer = scenario.customers.values().position(|customer| customer.flows.iter().any(|f| f == name));
        let accounts = [class.map_or(NONE, |at| at as u32), customer.map_or(NONE, |at| (classes.len() + at) as u32)];
        let sender = &group.sender;
        let noise = sender.rtt_noise.map(|noise| {
            let of = |index| scenario.seed.stream(&format!("flows.{name}/rtt_noise/{index}"));
            Noise { noise, streams: (0..group.count).map(of).collect() }
        });
        let loss = (group.loss > 0.0).then(|| (group.loss, scenario.seed.coins(&format!("flows.{name}/loss"))));
        let one_by_one = needs.reliable
            && sender.burst < 2
            && !needs.fractions
            && noise.is_none()
            && !windowed
            && sender.rto != Rto::Rfc9002
            && sender.limit == Limit::Window;
        let at_once = group.access.is_none() && group.jitter.is_none();
        let kind = if !one_by_one || group.ack_jitter.is_some() || accounts != [NONE; 2] || loss.is_some() {
            Kind::Other
        } else if at_once && sender.delayed_ack < 2 && !by_time && !sender.handshake && !options {
            if needs.delivery { Kind::Detailed } else { Kind::Plain }
        } else if sender.delayed_ack > 1
            && by_time
            && options
            && habits.echo != EcnEcho::Accurate
            && !habits.gap_once
            && !needs.delivery
            && needs.bottleneck.is_none()
        {
            if at_once { Kind::Today } else { Kind::TodayOtherwise }
        } else {
            Kind::Other
        };
        self.groups.push(Group {
            name: name.to_owned(),
            law: group.cc.law.name,
            kind,
            flows,
            windows,
            habits,
            options,
            latched: habits.echo == EcnEcho::Classic && (options || needs.delivery),
            selective: group.sender.selective(),
            marks: needs.marks,
            reliable: needs.reliable,
            paced: group.sender.pacing != Pacing::Off || needs.fractions,
            unlimited: group.sender.limit == Limit::Pace,
            loss,
            noise,
            handshake: needs.reliable && sender.handshake,
            by_time,
            probes: needs.bottleneck.is_some(),
            delivery: needs.delivery,
            spared: needs.spared,
            fractions: needs.fractions,
            mends: needs.retransmit_on_duplicates,
            receive_window: group.sender.receive_window,
            receive_segments: group.sender.receive_window as u64,
            payload: packet.payload.0,
            burst: group.sender.burst,
            stop,
            period: needs.tick_s.map_or(0, |s| Time::from_seconds(s).0),
            remember: group.sender.remember,
            class: class.unwrap_or(classes.len()) as u32,
            accounts,
            conditioner: edge.map_or(NONE, |at| at as u32),
            steps,
            next_step,
        });
        Ok(())
    }

    fn rare(&mut self, what: Now) -> u32 {
        self.rare.push(what);
        self.rare.len() as u32 - 1
    }

    /// A flow belongs to a client, or is the first of one.
    fn client(
        &mut self,
        scenario: &Scenario,
        group: (&str, &model::Group),
        flow: (usize, u32),
        source: Option<&mut Source>,
    ) {
        let Some(source) = source.filter(|_| group.1.application.is_some()) else { return };
        if let Some(mut client) = Client::of(scenario, group, flow) {
            client.entity = self.rare(Now::Client(self.clients.len() as u32));
            self.unfinished += u64::from(client.ends());
            self.clients.push(client);
        }
        source.client = self.clients.len() as u32 - 1;
    }

    fn entry(&mut self, way: Option<penstock_link::Entry>) -> u32 {
        way.map_or(NONE, |way| {
            self.entries.push(Entry::new(way));
            self.entries.len() as u32 - 1
        })
    }

    /// The source of a flow's transfers and pauses, if it has such.
    fn source(&mut self, group: &model::Group, flow: u32, start: u64, own: &dyn Fn(&str) -> Stream) -> Option<Source> {
        let idle = if let Some(Repeats::Idle(span)) = group.repeats { Some(span) } else { None };
        let asked = group.application.is_some();
        if !asked && group.repeats.is_none() && group.on_off.is_none() && group.spacing_jitter == 0.0 {
            return None;
        }
        Some(Source {
            client: NONE,
            begin: if idle.is_some() && !asked { self.rare(Now::Begin(flow)) } else { NONE },
            turn: if group.on_off.is_some() { self.rare(Now::Turn(flow)) } else { NONE },
            on_off: group.on_off,
            silent: false,
            turns: own("on_off"),
            size: group.size.clone(),
            sizes: own("size"),
            idle: idle.filter(|_| !asked),
            idles: own("idle"),
            spacing_jitter: group.spacing_jitter,
            spacings: own("spacing"),
            number: 0,
            arrived: start,
            began: start,
            first: 0,
        })
    }
}

fn refused(what: String) -> RunError {
    RunError::Refused { world: "packets", what: vec![what] }
}

fn size_on_wire(size: Bytes) -> Result<u16, RunError> {
    u16::try_from(size.0).map_err(|_| refused(format!("a packet of {size} is too large; 65535 B are the most")))
}

/// The law of a group in the arithmetic of the scenario.
fn windows(scenario: &Scenario, name: &str, group: &model::Group, values: &Values) -> Result<Windows, RunError> {
    let packet = group.packet(scenario.packet).wire;
    let site = cc::Context {
        packet,
        initial_window: group.sender.initial_window,
        initial_ssthresh: group.sender.initial_ssthresh,
    };
    let (law, n) = (group.cc.law, group.count as usize);
    let whose = |e: String| refused(format!("flows.{name}.cc: {e}"));
    let interface = group.access.map_or(Time::ZERO, |access| access.rate.time_for(packet));
    let known = group.sender.bottleneck.map(|known| bottleneck(scenario, name, group, known)).transpose()?;
    Ok(match group.sender.arithmetic {
        Arithmetic::Real => Windows::Real(Typed::new((law.real)(values, &site).map_err(whose)?, n, interface, known)),
        Arithmetic::Fixed => {
            let build = law.fixed.ok_or_else(|| whose(format!("`{}` has no fixed-point form", law.name)))?;
            Windows::Fixed(Typed::new(build(values, &site).map_err(whose)?, n, interface, known))
        }
    })
}

/// The slowest link on a group's way, as its law observes it.
fn bottleneck(
    scenario: &Scenario,
    name: &str,
    group: &model::Group,
    known: model::KnownBottleneck,
) -> Result<Known, RunError> {
    let no = |what: &str, remedy: &str| {
        refused(format!("flows.{name}.sender.bottleneck: {what}, so the law has no true value to observe: {remedy}"))
    };
    let on_the_way = group.forward.iter().map(|link| &scenario.links[link]);
    let Some(link) = on_the_way.min_by(|a, b| a.rate.bit_per_s().total_cmp(&b.rate.bit_per_s())) else {
        return Err(no("no link is on the way", "leave it out"));
    };
    if link.service != model::Service::Constant {
        return Err(no("the rate of the slowest link changes", "leave it out, or give the link one rate"));
    }
    let wire = group.packet(scenario.packet).wire;
    let size = match link.buffer {
        model::Buffer::Unlimited => return Err(no("the slowest link has an unlimited buffer", "give it a size")),
        model::Buffer::Packets(packets) => packets as f64,
        model::Buffer::Bytes(bytes) => bytes.bits() / wire.bits(),
    };
    Ok(Known { capacity: link.rate.packets_per_s(wire) * known.capacity, buffer: size * known.buffer })
}

/// Segments of a transfer of so many bytes, and the last one's size on the wire; without end if none are given.
fn transfer(payload: u64, bytes: Option<u64>, size: u16) -> (u64, u16) {
    let Some(bytes) = bytes else { return (u64::MAX, size) };
    let segments = bytes.div_ceil(payload);
    (segments, size - (segments * payload - bytes) as u16)
}

/// Links with their laws and random draws.
fn links(scenario: &Scenario, routes: &Routes) -> Result<Vec<Link>, RunError> {
    let build = |(at, (name, link)): (usize, (&String, &model::Link))| {
        let behind = routes.lines.iter().filter(|(port, _)| *port as usize == at).map(|(_, delay)| *delay);
        let memory = behind.max().unwrap_or(link.delay) + Elements::longer(link);
        let (mut station, apart) = Station::of(scenario, name, memory).map_err(refused)?;
        if scenario.dynamics.is_some() {
            station.watch();
        }
        let coins = |what| scenario.seed.coins(&format!("links.{name}/{what}"));
        let bursts = scenario.seed.stream(&format!("links.{name}/bursts"));
        let losses = Losses::of(link, ["loss", "lose_transmission", "late", "duplicate"].map(coins), bursts);
        let (name, law) = (name.clone(), link.aqm.law.name);
        Ok(Link { name, law, station, apart, scheduled: false, coins: coins("aqm"), losses, ecn: link.ecn })
    };
    scenario.links.iter().enumerate().map(build).collect()
}
