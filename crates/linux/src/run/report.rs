//! From what was taken down to the run's result, under the names of the other worlds.

use std::ops::Range;

use indexmap::IndexMap;
use penstock_law::quantity::Time;
use penstock_scenario::fairness::jain;
use penstock_scenario::model::Scenario;
use penstock_scenario::summary::{
    Engine, Fairness, FlowSummary, GroupSummary, LinkSummary, Measured as Span, Summary, Transfers,
};
use penstock_scenario::world::{Run, RunError};

use super::Measured;
use super::plan::Source;
use super::sender::{Reading, Told};
use crate::path::emulation::Passed;
use crate::path::router::Edge;

mod check;
mod series;

/// More flows than this and the summary leaves them to their table.
const FLOWS_IN_SUMMARY: usize = 100;

/// Turns what was taken down into the run's result.
pub(super) fn report(scenario: &Scenario, run: &Measured) -> Result<Run, RunError> {
    let broken = run.outcome.unaccounted;
    if broken != 0 {
        return Err(RunError::Broken(format!("{broken} packets at links are neither departed, dropped nor there")));
    }
    let at = |moment: Time| {
        let edges = &run.outcome.edges;
        edges.iter().position(|edge| edge.at >= moment).unwrap_or(edges.len().saturating_sub(1))
    };
    let last = run.outcome.edges.len().min(run.sent.edges.len());
    let between = |from: Time, to: Time| {
        let (first, second) = (at(from), at(to).min(last.saturating_sub(1)));
        (first < second).then(|| Between {
            scenario,
            run,
            path: (&run.outcome.edges[first], &run.outcome.edges[second]),
            most: &run.outcome.edges[first + 1..=second],
            ends: (&run.sent.edges[first], &run.sent.edges[second]),
        })
    };
    let Some(whole) = between(scenario.warmup, scenario.duration) else {
        let what = "every transfer was complete before the warm-up ended; a shorter warm-up would do".to_owned();
        return Err(RunError::Input(what));
    };
    let windows = scenario.windows.iter().filter_map(|(name, (from, to))| {
        let span = between(*from, *to)?;
        Some((name.clone(), span.measured()))
    });
    let flows = whole.flows();
    let measured = whole.measured();
    let path = check::check(scenario, run, &measured);
    let packets = run.outcome.emulation.crossed();
    let summary = Summary {
        title: scenario.title.clone(),
        world: "linux".to_owned(),
        seed: scenario.seed.0,
        whole: measured,
        windows: windows.collect(),
        engine: Engine { packets, ..Engine::default() },
        path: Some(path),
    };
    Ok(Run { summary, flows, series: series::series(scenario, run) })
}

/// What was read at two moments.
struct Between<'a> {
    scenario: &'a Scenario,
    run: &'a Measured,
    path: (&'a Edge, &'a Edge),
    /// Readings after the first.
    most: &'a [Edge],
    ends: (&'a Reading, &'a Reading),
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

impl Between<'_> {
    fn seconds(&self) -> f64 {
        (self.path.1.at - self.path.0.at).seconds()
    }

    /// How far the readings at the ends are apart, which are taken by another thread.
    fn seconds_at_ends(&self) -> f64 {
        self.ends.1.at.since(self.ends.0.at).seconds()
    }

    fn measured(&self) -> Span {
        let flows = self.flows();
        let goodput = flows.iter().map(|flow| flow.goodput_bit_per_s);
        let fairness =
            jain(goodput).map(|jain| Fairness { jain, contracts_jain: None, classes: None, classes_mean: None });
        let links = self.scenario.links.keys().enumerate();
        Span {
            measured_s: self.seconds(),
            links: links.map(|(at, name)| (name.clone(), self.link(at))).collect(),
            groups: self.groups(&flows),
            flows: if flows.len() <= FLOWS_IN_SUMMARY { flows } else { Vec::new() },
            fairness,
            classes: IndexMap::new(),
            customers: IndexMap::new(),
        }
    }

    fn link(&self, at: usize) -> LinkSummary {
        let (from, to) = self.path;
        let most = self.most.iter().map(|edge| edge.links[at].most_waiting).max().unwrap_or(0);
        self.run.outcome.emulation.station(at).summary(&from.links[at], &to.links[at], most)
    }

    /// What a flow did on the path and at its ends, from the one moment to the other.
    fn flow(&self, at: usize) -> (Passed, &Told, &Told) {
        let (a, b) = (self.path.0.passed[at], self.path.1.passed[at]);
        let passed = Passed {
            sent: b.sent - a.sent,
            lost: b.lost - a.lost,
            delivered: b.delivered - a.delivered,
            marked: b.marked - a.marked,
        };
        (passed, &self.ends.0.flows[at], &self.ends.1.flows[at])
    }

    /// How much of the span came after a flow's start [s].
    fn active(&self, flow: usize) -> f64 {
        let start = self.run.plan.flows[flow].start;
        self.ends.1.at.since(self.ends.0.at.max(start)).seconds()
    }

    fn flows(&self) -> Vec<FlowSummary> {
        let groups = self.scenario.groups.iter();
        let rtts = groups.flat_map(|(name, group)| {
            let rtts = group.rtts(name, self.scenario.seed).into_iter();
            (0..).zip(rtts).map(move |(index, rtt)| (name, index, rtt))
        });
        rtts.enumerate().map(|(at, (name, index, rtt))| self.flow_summary(at, name, index, rtt)).collect()
    }

    fn flow_summary(&self, at: usize, name: &str, index: u32, rtt: Time) -> FlowSummary {
        let (passed, from, to) = self.flow(at);
        let plan = &self.run.plan.flows[at];
        let tcp = matches!(plan.source, Source::Tcp { .. });
        let payload = self.scenario.packet.payload.bits();
        let goodput = if tcp {
            (to.received - from.received) as f64 * 8.0 / self.seconds_at_ends()
        } else {
            passed.delivered as f64 * payload / self.seconds()
        };
        let (rtt_sum, rtts) = (to.rtt - from.rtt, to.rtts - from.rtts);
        let completed = to.completed.filter(|_| from.completed.is_none() && plan.size.is_some());
        FlowSummary {
            group: name.to_owned(),
            index,
            rtt_s: rtt.seconds(),
            goodput_bit_per_s: goodput,
            throughput_packets_per_s: passed.delivered as f64 / self.seconds(),
            window_mean_packets: (tcp && self.active(at) > 0.0).then(|| (to.window - from.window) / self.active(at)),
            rtt_mean_s: (rtts > 0.0).then(|| rtt_sum / rtts),
            rtt_min_s: to.least_rtt.map(Time::seconds),
            loss_rate: share(passed.lost, passed.sent),
            mark_rate: share(passed.marked, passed.delivered),
            retransmits: to.again - from.again,
            timeouts: to.timeouts - from.timeouts,
            completion_s: completed.map(|moment| moment.since(plan.start).seconds()),
        }
    }

    fn groups(&self, flows: &[FlowSummary]) -> IndexMap<String, GroupSummary> {
        let mut first = 0;
        let groups = self.scenario.groups.iter().map(|(name, group)| {
            let range = first..first + group.count as usize;
            first = range.end;
            (name.clone(), self.group(range.clone(), &flows[range]))
        });
        groups.collect()
    }

    fn group(&self, range: Range<usize>, rows: &[FlowSummary]) -> GroupSummary {
        let seconds = self.seconds();
        let told: Vec<(Passed, &Told, &Told)> = range.clone().map(|at| self.flow(at)).collect();
        let passed = |f: &dyn Fn(&Passed) -> u64| told.iter().map(|(passed, ..)| f(passed)).sum::<u64>();
        let (rtt, rtts) = told.iter().fold((0.0, 0.0), |(x, n), (_, a, b)| (x + b.rtt - a.rtt, n + b.rtts - a.rtts));
        let windows: Vec<f64> = rows.iter().filter_map(|row| row.window_mean_packets).collect();
        let sd = |at: usize| {
            let (_, a, b) = told[at - range.start];
            let mean = (b.window - a.window) / self.active(at);
            let square = (b.window_squared - a.window_squared) / self.active(at);
            (square - mean * mean).max(0.0).sqrt()
        };
        let begun = range.clone().filter(|at| rows[at - range.start].window_mean_packets.is_some());
        let n = windows.len() as f64;
        let any = !windows.is_empty();
        let sized = range.clone().any(|at| {
            let plan = &self.run.plan.flows[at];
            plan.size.is_some() && matches!(plan.source, Source::Tcp { .. })
        });
        GroupSummary {
            count: range.len() as u32,
            goodput_bit_per_s: rows.iter().map(|row| row.goodput_bit_per_s).sum(),
            throughput_packets_per_s: passed(&|p| p.delivered) as f64 / seconds,
            rtt_mean_s: (rtts > 0.0).then(|| rtt / rtts),
            jain: jain(rows.iter().map(|row| row.goodput_bit_per_s)),
            window_mean_packets: any.then(|| windows.iter().sum::<f64>() / n),
            window_sd_packets: any.then(|| begun.map(sd).sum::<f64>() / n),
            window_left_by_cuts: None,
            bottleneck: None,
            loss_rate: share(passed(&|p| p.lost), passed(&|p| p.sent)),
            mark_rate: share(passed(&|p| p.marked), passed(&|p| p.delivered)),
            retransmits: rows.iter().map(|row| row.retransmits).sum(),
            timeouts: rows.iter().map(|row| row.timeouts).sum(),
            transfers: sized.then(|| transfers(rows)),
        }
    }
}

/// Transfers of a group that were complete in the span.
fn transfers(rows: &[FlowSummary]) -> Transfers {
    let mut times: Vec<f64> = rows.iter().filter_map(|row| row.completion_s).collect();
    times.sort_by(f64::total_cmp);
    // The smallest time that the share of transfers does not exceed.
    let quantile = |share: f64| times.get((share * times.len() as f64).ceil().max(1.0) as usize - 1).copied();
    Transfers {
        completed: times.len() as u64,
        completion_mean_s: (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64),
        completion_p50_s: quantile(0.50),
        completion_p99_s: quantile(0.99),
    }
}
