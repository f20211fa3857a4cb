//! The run's result, from its recorded data.

mod dynamics;

use std::ops::Range;

use indexmap::IndexMap;
use penstock_law::cc::NO_WINDOW;
use penstock_law::quantity::Time;
use penstock_scenario::classes;
use penstock_scenario::fairness::{jain, takes_part};
use penstock_scenario::finding;
use penstock_scenario::model::{Application, Group, Recovery, Repeats, Scenario};
use penstock_scenario::page;
use penstock_scenario::summary::{
    BottleneckSummary, CustomerSummary, Engine as Cost, Fairness, FlowSummary, GroupSummary, LinkSummary, Measured,
    Pages, Summary, Transfers, Videos,
};
use penstock_scenario::transfer::{self, Alone};
use penstock_scenario::video;
use penstock_scenario::world::{Rows, Run, RunError};

use crate::dynamics::Rounds;
use crate::engine::Engine;
use crate::flow::Flow;
use crate::measure::{Reading, Taken, Told};
use crate::sender::bottleneck::Estimated;
use crate::station::Link;

/// More flows than this and the summary leaves them to their table.
const FLOWS_IN_SUMMARY: usize = 100;

/// Turns the recorded data into the run's result.
pub(crate) fn report(scenario: &Scenario, engine: &Engine, taken: Taken) -> Result<Run, RunError> {
    let end = Time(engine.end);
    if scenario.warmup >= end {
        let what = format!(
            "every transfer was complete after {} s, before the warm-up ended: use a shorter warm-up",
            end.seconds()
        );
        return Err(RunError::Input(what));
    }
    let alone = if engine.transfers.is_empty() { Vec::new() } else { Alone::of(scenario) };
    let find = |t: Time| taken.readings.iter().position(|r| r.at == t.min(end)).expect("every edge was read");
    let span = |a: Time, b: Time, since: Time| Span {
        scenario,
        engine,
        rounds: taken.rounds.as_ref(),
        since,
        readings: &taken.readings[find(a)..=find(b)],
        samples: &taken.classes,
        alone: &alone,
    };
    let whole = span(scenario.warmup, scenario.duration, Time::ZERO);
    let flows = whole.flows();
    let windows: IndexMap<String, Measured> = scenario
        .windows
        .iter()
        .filter(|(_, (a, _))| *a < end)
        .map(|(name, (a, b))| {
            let window = span(*a, *b, *a);
            (name.clone(), window.measured(&window.flows()))
        })
        .collect();
    let measured = whole.measured(&flows);
    let groups: Vec<String> = scenario.groups.keys().cloned().collect();
    let flow_names = || -> Vec<String> {
        let name = |flow: &Flow| format!("{}/{}", scenario.groups.keys()[flow.group as usize], flow.index);
        engine.flows.iter().map(name).collect()
    };
    let mut series = vec![
        taken.links.table("links", "link", scenario.links.keys().cloned().collect()),
        taken.groups.table("groups", "group", groups),
    ];
    if scenario.groups.values().any(Group::transfers) {
        series.push(transfer::table(&engine.transfers, &alone, flow_names()));
    }
    let applications = || scenario.groups.values().filter_map(|group| group.application.as_ref());
    if applications().any(|application| matches!(application, Application::Page(_))) {
        series.push(page::table(&engine.pages, flow_names()));
    }
    if applications().any(|application| matches!(application, Application::Video(_))) {
        series.push(video::table(&engine.chunks, flow_names()));
    }
    if !taken.customers.is_empty() {
        series.push(taken.customers.table("customers", "customer", scenario.customers.keys().cloned().collect()));
    }
    if !taken.classes.is_empty() {
        let names = scenario.class_names().into_iter().map(str::to_owned).collect();
        series.push(taken.classes.table("classes", "class", names));
    }
    if !taken.link_classes.is_empty() {
        let link = |(name, link): (&String, &Link)| {
            let names = scenario.queue_names().into_iter().take(link.station.classes() as usize);
            names.map(|class| format!("{name}/{class}")).collect::<Vec<String>>()
        };
        let names = scenario.links.keys().zip(&engine.links).flat_map(link).collect();
        series.push(taken.link_classes.table("link_classes", "link_class", names));
    }
    if !taken.queues.is_empty() {
        let of_link = |(name, link): (&String, &Link)| {
            link.station.queue_names().iter().map(|queue| format!("{name}/{queue}")).collect::<Vec<String>>()
        };
        let names = scenario.links.keys().zip(&engine.links).flat_map(of_link).collect();
        series.push(taken.queues.table("queues", "queue", names));
    }
    if !taken.flows.is_empty() {
        series.push(taken.flows.table("flows", "flow", flow_names()));
    }
    let summary = Summary {
        title: scenario.title.clone(),
        world: "packets".to_owned(),
        seed: scenario.seed.0,
        findings: finding::of_run(scenario, "packets", &measured, &series),
        whole: measured,
        windows,
        engine: Cost { events: engine.events, packets: engine.crossed },
        path: None,
    };
    Ok(Run { summary, flows, series })
}

/// A span between two snapshots, with those between.
struct Span<'a> {
    scenario: &'a Scenario,
    engine: &'a Engine,
    /// Where the scenario requests numbers of behaviour over time.
    rounds: Option<&'a Rounds>,
    /// From when on a start counts as one in the span: the warm-up belongs to the whole.
    since: Time,
    readings: &'a [Reading],
    /// Served traffic of classes, sample by sample.
    samples: &'a Rows,
    /// Each flow's conditions for transfers alone; nothing where there were none.
    alone: &'a [Alone],
}

impl Span<'_> {
    fn ends(&self) -> (&Reading, &Reading) {
        (&self.readings[0], &self.readings[self.readings.len() - 1])
    }

    fn seconds(&self) -> f64 {
        let (a, b) = self.ends();
        (b.at - a.at).seconds()
    }

    /// Part of the span after a flow's start [s].
    fn active(&self, flow: usize) -> f64 {
        let (a, b) = self.ends();
        b.at.since(a.at.max(Time(self.engine.flows[flow].start))).seconds()
    }

    /// When a flow starts, and when it stops or its only transfer is complete.
    fn life(&self, at: usize) -> (Time, Time) {
        let (_, b) = self.ends();
        let flow = &self.engine.flows[at];
        let group = &self.scenario.groups[flow.group as usize];
        let done = Some(Time(b.flows[at].sent.completed))
            .filter(|at| group.ends() && group.application.is_none() && *at > Time::ZERO);
        (Time(flow.start), group.stop.unwrap_or(Time::NEVER).min(done.unwrap_or(Time::NEVER)))
    }

    /// Jain's index of the goodput of successive flows that take part in the span; `first` is the first one's. Connections that
    /// take turns do not: few of them are busy at a time.
    fn jain(&self, rows: &[FlowSummary], first: usize) -> Option<f64> {
        let (a, b) = self.ends();
        let in_turns = |at: usize| self.scenario.groups[self.engine.flows[at].group as usize].takes_turns();
        let there = rows.iter().zip(first..).filter(|(_, at)| !in_turns(*at));
        let there = there.filter(|(_, at)| takes_part(self.life(*at), (a.at, b.at)));
        jain(there.map(|(row, _)| row.goodput_bit_per_s))
    }

    fn measured(&self, flows: &[FlowSummary]) -> Measured {
        let customers = self.customers();
        let contracts_jain = jain(customers.values().filter_map(|customer| customer.achieved_fraction));
        let (a, b) = self.ends();
        let rates: Vec<(f64, f64)> = (0..self.scenario.class_names().len()).map(|at| self.rates(at)).collect();
        let of_classes = classes::Span {
            scenario: self.scenario,
            between: (a.at, b.at),
            rates: &rates,
            samples: self.samples,
            capacity_bits: &|at| self.engine.links[at].station.capacity_bits(a.at, b.at),
        };
        let classes = of_classes.classes();
        let fairness = Fairness {
            jain: self.jain(flows, 0),
            contracts_jain,
            classes: classes.index,
            classes_mean: classes.index_mean,
        };
        let fairness = fairness.any().then_some(fairness);
        Measured {
            measured_s: self.seconds(),
            links: (0..self.engine.links.len())
                .map(|at| (self.scenario.links.get_index(at).expect("a port a link").0.clone(), self.link(at)))
                .collect(),
            groups: self.groups(flows),
            flows: if flows.len() <= FLOWS_IN_SUMMARY { flows.to_vec() } else { Vec::new() },
            fairness,
            classes: classes.each,
            customers,
            dynamics: self.dynamics(),
        }
    }

    fn link(&self, at: usize) -> LinkSummary {
        let (a, b) = self.ends();
        let most = self.readings[1..].iter().map(|r| r.ports[at].most_waiting).max().unwrap_or(0);
        let link = self.engine.links[at].station.summary(&a.ports[at], &b.ports[at], most);
        let dynamics = self.link_dynamics(at, &link);
        LinkSummary { classes: self.port_classes(at), dynamics, ..link }
    }

    /// Measurements of each class by the law of a link that keeps classes apart, at the end of the span.
    fn port_classes(&self, at: usize) -> IndexMap<String, IndexMap<String, f64>> {
        let classes = &self.ends().1.port_classes[at];
        self.scenario
            .queue_names()
            .into_iter()
            .zip(classes.iter().map(|class| class.iter().cloned().collect()))
            .collect()
    }

    fn flows(&self) -> Vec<FlowSummary> {
        let (a, b) = self.ends();
        let seconds = self.seconds();
        let rtts: Vec<Time> =
            self.scenario.groups.iter().flat_map(|(name, g)| g.rtts(name, self.scenario.seed)).collect();
        let flow = |at: usize| {
            let flow = &self.engine.flows[at];
            let (name, _) = self.scenario.groups.get_index(flow.group as usize).expect("a group a group");
            let (from, to) = (&a.flows[at], &b.flows[at]);
            let (sent_a, got_a, sent_b, got_b) = (&from.sent, &from.got, &to.sent, &to.got);
            let (lost, got) = (sent_b.lost - sent_a.lost, got_b.packets - got_a.packets);
            let rtts_taken = sent_b.rtts - sent_a.rtts;
            let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
            let least = self.readings[1..].iter().map(|r| r.least_rtt[at]).min().unwrap_or(u64::MAX);
            let completed = (self.readings[0].at.0..=b.at.0).contains(&sent_b.completed) && sent_b.completed > 0;
            let reliable = self.engine.groups[flow.group as usize].reliable;
            FlowSummary {
                group: name.clone(),
                index: flow.index,
                rtt_s: rtts[at].seconds(),
                goodput_bit_per_s: (to.delivered - from.delivered) as f64 * 8.0 / seconds,
                throughput_packets_per_s: got as f64 / seconds,
                window_mean_packets: (reliable && self.active(at) > 0.0)
                    .then(|| (sent_b.window - sent_a.window) / self.active(at))
                    .filter(|mean| *mean < NO_WINDOW),
                rtt_mean_s: (rtts_taken > 0).then(|| (sent_b.rtt - sent_a.rtt) as f64 * 1e-12 / rtts_taken as f64),
                rtt_min_s: (least < u64::MAX).then(|| Time(least).seconds()),
                loss_rate: share(lost, lost + got),
                mark_rate: share(got_b.marked - got_a.marked, got),
                retransmits: sent_b.again - sent_a.again,
                timeouts: u64::from(sent_b.timeouts - sent_a.timeouts),
                completion_s: completed.then(|| Time(sent_b.completed - flow.start).seconds()),
            }
        };
        (0..self.engine.flows.len()).map(flow).collect()
    }

    fn groups(&self, flows: &[FlowSummary]) -> IndexMap<String, GroupSummary> {
        let (a, b) = self.ends();
        let seconds = self.seconds();
        let mut first = 0;
        let mut groups = IndexMap::new();
        for (name, group) in &self.scenario.groups {
            let range = first..first + group.count as usize;
            first = range.end;
            let rows = &flows[range.clone()];
            let total =
                |f: &dyn Fn(&Told) -> u64| range.clone().map(|at| f(&b.flows[at]) - f(&a.flows[at])).sum::<u64>();
            let (lost, got) = (total(&|f| f.sent.lost), total(&|f| f.got.packets));
            let cuts = total(&|f| f.sent.cuts);
            let left: f64 = range.clone().map(|at| b.flows[at].sent.left - a.flows[at].sent.left).sum();
            let rtts = total(&|f| f.sent.rtts);
            let rtt: u128 = range.clone().map(|at| b.flows[at].sent.rtt - a.flows[at].sent.rtt).sum();
            let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
            let sd = |at: usize| {
                let mean = (b.flows[at].sent.window - a.flows[at].sent.window) / self.active(at);
                let square = (b.flows[at].sent.window_squared - a.flows[at].sent.window_squared) / self.active(at);
                (square - mean * mean).max(0.0).sqrt()
            };
            // Flows that have a window and had begun by the end of the span.
            let windows: Vec<f64> = rows.iter().filter_map(|f| f.window_mean_packets).collect();
            let begun = || range.clone().filter(|at| rows[at - range.start].window_mean_packets.is_some());
            let n = windows.len() as f64;
            let any = !windows.is_empty() && !group.takes_turns();
            let acknowledged = rows.is_empty() || self.engine.groups[groups.len()].reliable;
            let summary = GroupSummary {
                count: group.count,
                goodput_bit_per_s: rows.iter().map(|f| f.goodput_bit_per_s).sum(),
                throughput_packets_per_s: got as f64 / seconds,
                rtt_mean_s: (rtts > 0).then(|| rtt as f64 * 1e-12 / rtts as f64),
                jain: self.jain(rows, range.start),
                window_mean_packets: any.then(|| windows.iter().sum::<f64>() / n),
                window_sd_packets: any.then(|| begun().map(sd).sum::<f64>() / n),
                window_left_by_cuts: (cuts > 0).then(|| left / cuts as f64),
                bottleneck: self.bottleneck(range.clone()),
                loss_rate: share(lost, lost + got),
                mark_rate: share(total(&|f| f.got.marked), got),
                retransmits: total(&|f| f.sent.again),
                spurious_retransmits: acknowledged.then(|| total(&|f| f.got.again)),
                timeouts: total(&|f| u64::from(f.sent.timeouts)),
                undone_recoveries: (acknowledged && group.sender.recovery == Recovery::Rack && group.sender.rack.undo)
                    .then(|| total(&|f| u64::from(f.sent.undone))),
                transfers: (acknowledged && group.transfers())
                    .then(|| self.transfers(range.clone(), matches!(group.repeats, Some(Repeats::Poisson(_))))),
                pages: self.pages(group, range.clone()),
                video: self.video(group, range.clone()),
                dynamics: self.group_dynamics(groups.len(), range.clone(), rows),
            };
            groups.insert(name.clone(), summary);
        }
        groups
    }

    /// Estimates of the bottleneck by a range of flows.
    fn bottleneck(&self, flows: Range<usize>) -> Option<BottleneckSummary> {
        let (a, b) = self.ends();
        let n = flows.len() as f64;
        let known = |at: usize| b.flows[at].estimated.filter(|e| e.capacity > 0.0);
        let now: Vec<Estimated> = flows.clone().map(known).collect::<Option<_>>()?;
        // A connection that began in the span starts from nothing.
        let before = |at: usize, e: &Estimated| {
            a.flows[at].estimated.filter(|before| before.samples <= e.samples).unwrap_or_default()
        };
        let samples: u64 = flows.clone().zip(&now).map(|(at, e)| e.samples - before(at, e).samples).sum();
        let level: f64 = flows.zip(&now).map(|(at, e)| e.level - before(at, e).level).sum();
        (!now.is_empty()).then(|| BottleneckSummary {
            capacity_packets_per_s: now.iter().map(|e| e.capacity).sum::<f64>() / n,
            buffer_packets: now.iter().map(|e| e.buffer).sum::<f64>() / n,
            level_mean_packets: (samples > 0).then(|| level / samples as f64),
        })
    }

    /// Transfers of the flows of a group that ended in the span. `open` means that they arrive at the group, and wait where
    /// no flow is free.
    fn transfers(&self, flows: Range<usize>, open: bool) -> Transfers {
        let (a, b) = self.ends();
        let own = self.engine.transfers.iter().filter(|t| flows.contains(&(t.flow as usize)));
        let sum = transfer::sum_up(own.filter(|t| (a.at..=b.at).contains(&t.ended)), self.alone, open);
        if !open {
            return sum;
        }
        let waits = self.lives(flows.clone()).filter(|(arrived, began, _)| *arrived <= b.at && b.at < *began);
        let under_way = |(arrived, _, ended): (Time, Time, Time)| ended.min(b.at).since(arrived.max(a.at)).seconds();
        Transfers {
            waiting: Some(waits.count() as u64),
            under_way_mean: Some(self.lives(flows).map(under_way).sum::<f64>() / self.seconds()),
            ..sum
        }
    }

    /// Pages that browsers of a group had loaded in the span.
    fn pages(&self, group: &Group, flows: Range<usize>) -> Option<Pages> {
        let Some(Application::Page(_)) = group.application else { return None };
        let (a, b) = self.ends();
        let own = self.engine.pages.iter().filter(|page| flows.contains(&(page.flow as usize)));
        Some(page::sum_up(own.filter(|page| (a.at..=b.at).contains(&page.ended))))
    }

    /// Summary of the video sessions of a group in the span.
    fn video(&self, group: &Group, flows: Range<usize>) -> Option<Videos> {
        let Some(Application::Video(_)) = group.application else { return None };
        let (a, b) = self.ends();
        let own = self.engine.chunks.iter().filter(|chunk| flows.contains(&(chunk.flow as usize)));
        let sessions: Vec<(u32, Time)> =
            flows.clone().map(|at| (at as u32, Time(self.engine.flows[at].start))).collect();
        let stop = group.stop.unwrap_or(Time::NEVER);
        Some(video::sum_up(&own.copied().collect::<Vec<_>>(), &sessions, (a.at, b.at), stop))
    }

    /// When each transfer of the flows of a group arrived, was taken up by a flow, and was complete; never where it was not until
    /// the end of the run.
    fn lives(&self, flows: Range<usize>) -> impl Iterator<Item = (Time, Time, Time)> {
        let group = self.engine.flows[flows.start].group as usize;
        let own = self.engine.transfers.iter().filter({
            let flows = flows.clone();
            move |t| flows.contains(&(t.flow as usize))
        });
        let under_way = self.engine.flows[flows].iter().filter(|flow| flow.data.una < flow.data.limit).map(|flow| {
            let source = &self.engine.sources[flow.source as usize];
            (Time(source.arrived), Time(source.began), Time::NEVER)
        });
        let waiting = self.engine.supplies[group].iter().flat_map(|supply| &supply.waiting);
        own.map(|t| (t.arrived, t.began, t.ended))
            .chain(under_way)
            .chain(waiting.map(|(arrived, _)| (Time(*arrived), Time::NEVER, Time::NEVER)))
    }

    /// Bit rates that an account was sent and had delivered.
    fn rates(&self, account: usize) -> (f64, f64) {
        let (a, b) = self.ends();
        let (from, to) = (a.accounts[account], b.accounts[account]);
        let rate = |bytes: u64| bytes as f64 * 8.0 / self.seconds();
        (rate(to.sent - from.sent), rate(to.delivered - from.delivered))
    }

    fn customers(&self) -> IndexMap<String, CustomerSummary> {
        let customer = |(at, name): (usize, &String)| {
            let throughput_bit_per_s = self.rates(self.engine.first_customer + at).1;
            let edge = self.engine.conditioners.iter().position(|edge| edge.customer == at);
            let summary = match edge {
                Some(edge) => self.conditioned(edge, throughput_bit_per_s),
                None => CustomerSummary { throughput_bit_per_s, ..CustomerSummary::default() },
            };
            (name.clone(), summary)
        };
        self.scenario.customers.keys().enumerate().map(customer).collect()
    }

    /// A customer with a conditioner.
    fn conditioned(&self, edge: usize, throughput_bit_per_s: f64) -> CustomerSummary {
        let (a, b) = self.ends();
        self.engine.conditioners[edge].conditioner.summary(&a.passed[edge], &b.passed[edge], throughput_bit_per_s)
    }
}
