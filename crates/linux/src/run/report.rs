//! The run's result, from its recorded data, under the names of the other worlds.

use std::ops::Range;

use indexmap::IndexMap;
use penstock_law::quantity::Time;
use penstock_path::emulation::Passed;
use penstock_path::router::Boundary;
use penstock_scenario::classes::{self, Classes};
use penstock_scenario::fairness::{jain, takes_part};
use penstock_scenario::finding;
use penstock_scenario::model::{Customer, Group, Repeats, Scenario};
use penstock_scenario::summary::{
    CustomerSummary, Engine, Fairness, FlowSummary, GroupSummary, LinkSummary, Measured as Span, Summary, Transfers,
};
use penstock_scenario::transfer::{self, Alone, Transfer};
use penstock_scenario::world::{Rows, Run, RunError};

use super::measured::{Measured, is_of_class, picked};
use super::plan::Source;
use super::sender::{Reading, Told};

mod check;
mod series;

use series::Series;

/// More flows than this and the summary leaves them to their table.
const FLOWS_IN_SUMMARY: usize = 100;

/// Turns the recorded data into the run's result.
pub(super) fn report(scenario: &Scenario, run: &Measured) -> Result<Run, RunError> {
    let broken = run.outcome.unaccounted;
    if broken != 0 {
        return Err(RunError::Broken(format!(
            "{broken} packets that arrived at links have neither departed nor been dropped, and are not in the queues"
        )));
    }
    if let Some(fault) = run.outcome.emulation.fault(scenario) {
        return Err(fault);
    }
    let at = |moment: Time| {
        let boundaries = &run.outcome.boundaries;
        boundaries.iter().position(|boundary| boundary.at >= moment).unwrap_or(boundaries.len().saturating_sub(1))
    };
    let series = Series::of(scenario, run);
    let last = run.outcome.boundaries.len().min(run.sent.boundaries.len());
    let between = |from: Time, to: Time| {
        let (first, second) = (at(from), at(to).min(last.saturating_sub(1)));
        (first < second).then(|| Between {
            scenario,
            run,
            path: (&run.outcome.boundaries[first], &run.outcome.boundaries[second]),
            most: &run.outcome.boundaries[first + 1..=second],
            samples: &series.classes,
            ends: (&run.sent.boundaries[first], &run.sent.boundaries[second]),
        })
    };
    let Some(whole) = between(scenario.warmup, scenario.duration) else {
        let what = "every transfer was complete before the warm-up ended: use a shorter warm-up".to_owned();
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
    let windows = windows.collect();
    let series = series.tables(scenario, run);
    let findings = finding::of_run(scenario, "linux", &measured, &series);
    let summary = Summary {
        title: scenario.title.clone(),
        world: "linux".to_owned(),
        seed: scenario.seed.0,
        whole: measured,
        windows,
        engine: Engine { packets, ..Engine::default() },
        path: Some(path),
        findings,
    };
    Ok(Run { summary, flows, series })
}

/// Counters at two moments.
struct Between<'a> {
    scenario: &'a Scenario,
    run: &'a Measured,
    path: (&'a Boundary, &'a Boundary),
    /// Counters at the boundaries after the first.
    most: &'a [Boundary],
    /// Served traffic of classes, sample by sample.
    samples: &'a Rows,
    ends: (&'a Reading, &'a Reading),
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

impl Between<'_> {
    fn seconds(&self) -> f64 {
        (self.path.1.at - self.path.0.at).seconds()
    }

    /// Time between the samples at the ends, which are taken by another thread.
    fn seconds_at_ends(&self) -> f64 {
        self.ends.1.at.since(self.ends.0.at).seconds()
    }

    fn measured(&self) -> Span {
        let flows = self.flows();
        let (classes, customers) = (self.classes(self.samples), self.customers());
        let contracts_jain = jain(customers.values().filter_map(|customer| customer.achieved_fraction));
        let fairness = Fairness {
            jain: self.jain(&flows, 0),
            contracts_jain,
            classes: classes.index,
            classes_mean: classes.index_mean,
        };
        let fairness = fairness.any().then_some(fairness);
        let links = self.scenario.links.keys().enumerate();
        Span {
            measured_s: self.seconds(),
            links: links.map(|(at, name)| (name.clone(), self.link(at))).collect(),
            groups: self.groups(&flows),
            flows: if flows.len() <= FLOWS_IN_SUMMARY { flows } else { Vec::new() },
            fairness,
            classes: classes.each,
            customers,
            dynamics: None,
        }
    }

    fn link(&self, at: usize) -> LinkSummary {
        let (from, to) = self.path;
        let most = self.most.iter().map(|boundary| boundary.links[at].most_waiting).max().unwrap_or(0);
        let link = self.run.outcome.emulation.station(at).summary(&from.links[at], &to.links[at], most);
        let said = to.classes[at].iter().map(|class| class.iter().cloned().collect());
        LinkSummary { classes: self.scenario.queue_names().into_iter().zip(said).collect(), ..link }
    }

    /// Measurements of a flow on the path and at its ends, from the one moment to the other.
    fn flow(&self, at: usize) -> (Passed, &Told, &Told) {
        let (a, b) = (self.path.0.passed[at], self.path.1.passed[at]);
        let passed = Passed {
            sent: b.sent - a.sent,
            lost: b.lost - a.lost,
            delivered: b.delivered - a.delivered,
            marked: b.marked - a.marked,
            sent_bytes: b.sent_bytes - a.sent_bytes,
            delivered_bytes: b.delivered_bytes - a.delivered_bytes,
        };
        (passed, &self.ends.0.flows[at], &self.ends.1.flows[at])
    }

    /// Part of the span after a flow's start [s].
    fn active(&self, flow: usize) -> f64 {
        let start = self.run.plan.flows[flow].start;
        self.ends.1.at.since(self.ends.0.at.max(start)).seconds()
    }

    /// Jain's index of the goodput of successive flows that take part in the span; `first` is the first one's.
    fn jain(&self, rows: &[FlowSummary], first: usize) -> Option<f64> {
        let span = (self.ends.0.at, self.ends.1.at);
        let life = |at: usize| {
            let plan = &self.run.plan.flows[at];
            let done = self.ends.1.flows[at].completed.filter(|_| plan.bytes.is_some());
            (plan.start, plan.stop.min(done.unwrap_or(Time::NEVER)))
        };
        let in_turns = |at: usize| self.scenario.groups[self.run.plan.flows[at].group].takes_turns();
        let there = rows.iter().zip(first..).filter(|(_, at)| !in_turns(*at) && takes_part(life(*at), span));
        jain(there.map(|(row, _)| row.goodput_bit_per_s))
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
        let tcp = plan.source.is_reliable();
        let payload = self.scenario.groups[plan.group].packet(self.scenario.packet).payload.bits();
        let goodput = match plan.source {
            Source::Tcp { .. } | Source::Quic(_) => (to.received - from.received) as f64 * 8.0 / self.seconds_at_ends(),
            Source::Datagrams(_) => passed.delivered as f64 * payload / self.seconds(),
            Source::Programs => passed.delivered_bytes as f64 * 8.0 / self.seconds(),
        };
        let (rtt_sum, rtts) = (to.rtt - from.rtt, to.rtts - from.rtts);
        let completed = to.completed.filter(|_| from.completed.is_none());
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
        let in_turns =
            self.run.plan.flows.get(range.start).is_some_and(|flow| self.scenario.groups[flow.group].takes_turns());
        let any = !windows.is_empty() && !in_turns;
        GroupSummary {
            count: range.len() as u32,
            goodput_bit_per_s: rows.iter().map(|row| row.goodput_bit_per_s).sum(),
            throughput_packets_per_s: passed(&|p| p.delivered) as f64 / seconds,
            rtt_mean_s: (rtts > 0.0).then(|| rtt / rtts),
            jain: self.jain(rows, range.start),
            window_mean_packets: any.then(|| windows.iter().sum::<f64>() / n),
            window_sd_packets: any.then(|| begun.map(sd).sum::<f64>() / n),
            window_left_by_cuts: None,
            bottleneck: None,
            loss_rate: share(passed(&|p| p.lost), passed(&|p| p.sent)),
            mark_rate: share(passed(&|p| p.marked), passed(&|p| p.delivered)),
            retransmits: rows.iter().map(|row| row.retransmits).sum(),
            spurious_retransmits: None,
            timeouts: rows.iter().map(|row| row.timeouts).sum(),
            undone_recoveries: None,
            pages: None,
            video: None,
            dynamics: None,
            transfers: self.transfers(range),
        }
    }

    /// Transfers of a range of flows of one group that ended in the span; none where they have no size.
    fn transfers(&self, flows: Range<usize>) -> Option<Transfers> {
        let first = self.run.plan.flows.get(flows.start)?;
        let group = &self.scenario.groups[first.group];
        let ended =
            |t: &&Transfer| flows.contains(&(t.flow as usize)) && (self.path.0.at..=self.path.1.at).contains(&t.ended);
        (first.source.is_reliable() && group.size.is_some()).then(|| {
            let open = matches!(group.repeats, Some(Repeats::Poisson(_)));
            transfer::sum_up(self.run.sent.transfers.iter().filter(ended), &Alone::of(self.scenario), open)
        })
    }

    /// Sent and delivered rates of the flows that `is` picks by their groups [bit/s].
    fn rates(&self, is: impl Fn(&str, &Group) -> bool) -> (f64, f64) {
        let picked = picked(self.scenario, self.run, is);
        let passed = picked.map(|at| self.flow(at).0);
        let (sent, delivered) = passed.fold((0, 0), |(s, d), p| (s + p.sent_bytes, d + p.delivered_bytes));
        let rate = |bytes: u64| bytes as f64 * 8.0 / self.seconds();
        (rate(sent), rate(delivered))
    }

    fn classes(&self, samples: &Rows) -> Classes {
        let (a, b) = (self.path.0.at, self.path.1.at);
        let names = self.scenario.class_names().into_iter();
        let rates: Vec<(f64, f64)> = names.map(|name| self.rates(|_, group| is_of_class(group, name))).collect();
        let span = classes::Span {
            scenario: self.scenario,
            between: (a, b),
            rates: &rates,
            samples,
            capacity_bits: &|at| self.run.outcome.emulation.station(at).capacity_bits(a, b),
        };
        span.classes()
    }

    fn customers(&self) -> IndexMap<String, CustomerSummary> {
        let customer = |(at, (name, each)): (usize, (&String, &Customer))| {
            let (_, throughput_bit_per_s) = self.rates(|name, _| each.flows.iter().any(|flow| flow == name));
            let mut contracts = self.run.outcome.emulation.contracts().enumerate();
            let conditioner = contracts.find(|(_, (customer, _))| *customer == at);
            let summary = match conditioner {
                Some((number, (_, conditioner))) => {
                    let (from, to) = (&self.path.0.conditioners[number], &self.path.1.conditioners[number]);
                    conditioner.summary(from, to, throughput_bit_per_s)
                }
                None => CustomerSummary { throughput_bit_per_s, ..CustomerSummary::default() },
            };
            (name.clone(), summary)
        };
        self.scenario.customers.iter().enumerate().map(customer).collect()
    }
}
