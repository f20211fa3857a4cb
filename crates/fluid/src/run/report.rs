//! From a fluid run to its numbers: the observables of a simulation by packets.

use indexmap::IndexMap;
use penstock_law::quantity::Time;
use penstock_scenario::fairness::{jain, takes_part};
use penstock_scenario::finding;
use penstock_scenario::model::{Group, Scenario};
use penstock_scenario::summary::{
    ClassSummary, CustomerSummary, Engine, Fairness, FlowSummary, GroupSummary, LinkSummary, Measured, Summary,
};
use penstock_scenario::world::{Kind, Row, Rows, Run};

use super::{Network, cohort, conditioner, queue};

/// More flows than this and the summary leaves them to their table.
const FLOWS_IN_SUMMARY: usize = 100;

/// Counters up to one end of a span.
struct Reading {
    step: u64,
    queues: Vec<queue::Counted>,
    conditioners: Vec<conditioner::Counted>,
    cohorts: Vec<cohort::Counted>,
}

/// The data that a run has recorded.
pub(super) struct Report<'a> {
    scenario: &'a Scenario,
    step: f64,
    /// Steps at which spans begin or end, and steps a sample.
    edges: Vec<u64>,
    every: u64,
    readings: Vec<Reading>,
    last: Option<Reading>,
    links: Rows,
    groups: Rows,
    flows: Rows,
    customers: Rows,
}

fn put(row: Row<'_>, own: &[(&str, Kind, f64)], names: &[(&'static str, &'static str)], state: &[f64]) {
    let row = own.iter().fold(row, |row, (name, kind, value)| row.named(name, *kind, *value));
    row.shown(names.iter().zip(state).map(|((name, unit), value)| (*name, *unit, *value)));
}

impl<'a> Report<'a> {
    pub(super) fn new(scenario: &'a Scenario, step: f64) -> Self {
        let at = |t: Time| libm::round(t.seconds() / step) as u64;
        let mut edges: Vec<u64> = scenario.windows.values().flat_map(|(a, b)| [at(*a), at(*b)]).collect();
        edges.extend([at(scenario.warmup), at(scenario.duration)]);
        edges.sort_unstable();
        edges.dedup();
        Self {
            scenario,
            step,
            edges,
            every: at(scenario.sample).max(1),
            readings: Vec::new(),
            last: None,
            links: Rows::default(),
            groups: Rows::default(),
            flows: Rows::default(),
            customers: Rows::default(),
        }
    }

    fn reading(step: u64, network: &Network) -> Reading {
        Reading {
            step,
            queues: network.queues.iter().map(|q| q.total).collect(),
            conditioners: network.conditioners.iter().map(|e| e.total).collect(),
            cohorts: network.cohorts.iter().map(|c| c.total).collect(),
        }
    }

    /// The next step after which there is something to read.
    pub(super) fn next(&self, after: u64) -> u64 {
        let edge = self.edges.partition_point(|edge| *edge <= after);
        let sample = (after / self.every + 1) * self.every;
        self.edges.get(edge).map_or(sample, |edge| sample.min(*edge))
    }

    /// Takes the samples due after a step.
    pub(super) fn take(&mut self, step: u64, network: &mut Network) {
        if step == 0 {
            self.last = Some(Self::reading(0, network));
        }
        if self.edges.binary_search(&step).is_ok() {
            self.readings.push(Self::reading(step, network));
        }
        if step > 0 && step.is_multiple_of(self.every) {
            self.sample(step, network);
        }
    }

    fn sample(&mut self, step: u64, network: &mut Network) {
        let now = Self::reading(step, network);
        let Some(before) = self.last.replace(Self::reading(step, network)) else { return };
        let time = step as f64 * self.step;
        let seconds = (now.step - before.step) as f64 * self.step;
        let bits = self.scenario.packet.wire.bits();
        for (l, queue) in network.queues.iter_mut().enumerate() {
            let (a, b) = (&before.queues[l], &now.queues[l]);
            let history = &queue.waiting[before.step as usize..=now.step as usize];
            let served = b.served - a.served;
            let row = [
                ("utilization", Kind::Average, served / (queue.capacity * seconds)),
                ("throughput_bit_per_s", Kind::Average, served * bits / seconds),
                ("queue_packets", Kind::Instant, history[history.len() - 1]),
                ("queue_mean_packets", Kind::Average, mean(history)),
                ("drops_per_s", Kind::Average, (b.dropped - a.dropped) / seconds),
                ("marks_per_s", Kind::Average, (b.marked - a.marked) / seconds),
            ];
            put(self.links.row(time, l as u32), &row, queue.names, &queue.state());
        }
        self.sample_flows(time, seconds, &before, network);
        self.sample_customers(time, seconds, &before, &now, network);
        for g in 0..self.scenario.groups.len() {
            let mut sum = [0.0; 5];
            let mut flows = 0.0;
            let mut reliable = true;
            for c in network.of_group(g) {
                let (a, b, n) = (&before.cohorts[c], &now.cohorts[c], network.cohorts[c].flows());
                flows += n;
                reliable &= network.is_reliable(c);
                sum[0] += n * (b.acked - a.acked);
                sum[1] += n * network.window(c);
                sum[2] += n * (b.rtt - a.rtt);
                sum[3] += n * (b.acked + b.lost - a.acked - a.lost);
                sum[4] += n * (b.lost - a.lost);
            }
            let payload = self.scenario.packet.payload.bits();
            let row = [
                ("goodput_bit_per_s", Kind::Average, sum[0] * payload / seconds),
                ("throughput_packets_per_s", Kind::Average, sum[0] / seconds),
                ("window_packets", Kind::Instant, if reliable { sum[1] / flows } else { f64::NAN }),
                ("rtt_s", Kind::Average, sum[2] / sum[3]),
                ("losses_per_s", Kind::Average, sum[4] / seconds),
            ];
            put(self.groups.row(time, g as u32), &row, &[], &[]);
        }
    }

    /// The flows of the groups with series of their own.
    fn sample_flows(&mut self, time: f64, seconds: f64, before: &Reading, network: &mut Network) {
        let payload = self.scenario.packet.payload.bits();
        let mut first = 0;
        for (g, group) in self.scenario.groups.values().enumerate() {
            let own = if group.series { network.of_group(g) } else { 0..0 };
            for c in own {
                let cohort = &network.cohorts[c];
                let (acked, rtt) = (cohort.total.acked - before.cohorts[c].acked, cohort.rtt_s());
                let in_flight = cohort.total.sent - cohort.total.acked - cohort.total.lost;
                let (state, names) = network.hosts[cohort.group].state(cohort.instance);
                for member in &cohort.members {
                    let row = [
                        ("goodput_bit_per_s", Kind::Average, acked * payload / seconds),
                        ("throughput_packets_per_s", Kind::Average, acked / seconds),
                        ("in_flight_packets", Kind::Instant, in_flight),
                        ("rtt_s", Kind::Average, rtt),
                    ];
                    put(self.flows.row(time, first + *member), &row, names, &state);
                }
            }
            first += group.count;
        }
    }

    /// One row a customer with a conditioner.
    fn sample_customers(&mut self, time: f64, seconds: f64, before: &Reading, now: &Reading, network: &mut Network) {
        let bits = self.scenario.packet.wire.bits();
        for (e, conditioner) in network.conditioners.iter_mut().enumerate() {
            let acked = |cohorts: &[cohort::Counted]| -> f64 {
                let own = network.cohorts.iter().enumerate().filter(|(_, cohort)| cohort.way.conditioner == Some(e));
                own.map(|(c, cohort)| cohort.flows() * cohorts[c].acked).sum()
            };
            let (a, b) = (&before.conditioners[e], &now.conditioners[e]);
            let arrived = b.arrived - a.arrived;
            let in_profile = if arrived > 0.0 { (b.green - a.green) / arrived } else { f64::NAN };
            let row = [
                (
                    "throughput_bit_per_s",
                    Kind::Average,
                    (acked(&now.cohorts) - acked(&before.cohorts)) * bits / seconds,
                ),
                ("in_profile_fraction", Kind::Average, in_profile),
                ("bucket_bytes", Kind::Instant, conditioner.level_bytes()),
                ("bucket_mean_bytes", Kind::Average, (b.level - a.level) / seconds),
            ];
            put(self.customers.row(time, conditioner.customer as u32), &row, conditioner.names, &conditioner.state());
        }
    }

    /// The run's numbers.
    pub(super) fn finish(self, network: &Network) -> Run {
        let at = |t: Time| libm::round(t.seconds() / self.step) as u64;
        let find = |t: Time| self.readings.iter().find(|r| r.step == at(t)).expect("every edge was read");
        let span = |a: Time, b: Time| Span { report: &self, network, from: find(a), to: find(b) };
        let whole = span(self.scenario.warmup, self.scenario.duration);
        let flows = whole.flows();
        let windows =
            self.scenario.windows.iter().map(|(name, (a, b))| (name.clone(), span(*a, *b).measured())).collect();
        let steps = self.last.as_ref().map_or(0, |r| r.step);
        let served: f64 = network.queues.iter().map(|q| q.total.served).sum();
        let measured = whole.measured();
        let mut series = vec![
            self.links.table("links", "link", self.scenario.links.keys().cloned().collect()),
            self.groups.table("groups", "group", self.scenario.groups.keys().cloned().collect()),
        ];
        if !self.flows.is_empty() {
            let flow = |(name, g): (&String, &Group)| (0..g.count).map(|i| format!("{name}/{i}")).collect::<Vec<_>>();
            series.push(self.flows.table("flows", "flow", self.scenario.groups.iter().flat_map(flow).collect()));
        }
        if !self.customers.is_empty() {
            series.push(self.customers.table(
                "customers",
                "customer",
                self.scenario.customers.keys().cloned().collect(),
            ));
        }
        let summary = Summary {
            title: self.scenario.title.clone(),
            world: "fluid".to_owned(),
            seed: self.scenario.seed.0,
            findings: finding::of_run(self.scenario, "fluid", &measured, &series),
            whole: measured,
            windows,
            path: None,
            engine: Engine {
                events: steps * (network.queues.len() + network.cohorts.len()) as u64,
                packets: served as u64,
            },
        };
        Run { summary, flows, series }
    }
}

fn mean(x: &[f64]) -> f64 {
    // The trapezoidal rule: a queue is straight within a step.
    let ends = 0.5 * (x[0] + x[x.len() - 1]);
    if x.len() == 1 { x[0] } else { (x.iter().sum::<f64>() - ends) / (x.len() - 1) as f64 }
}

/// A span between two snapshots.
struct Span<'a> {
    report: &'a Report<'a>,
    network: &'a Network,
    from: &'a Reading,
    to: &'a Reading,
}

impl Span<'_> {
    fn seconds(&self) -> f64 {
        (self.to.step - self.from.step) as f64 * self.report.step
    }

    /// Jain's index of the acknowledged packets of the flows of these cohorts, of those that take part in the span.
    fn jain(&self, cohorts: impl Iterator<Item = usize>) -> Option<f64> {
        let at = |reading: &Reading| Time::from_seconds(reading.step as f64 * self.report.step);
        let span = (at(self.from), at(self.to));
        let there = cohorts.filter(|c| takes_part(self.network.cohorts[*c].life(), span));
        jain(there.flat_map(|c| {
            let acked = self.to.cohorts[c].acked - self.from.cohorts[c].acked;
            self.network.cohorts[c].members.iter().map(move |_| acked)
        }))
    }

    fn measured(&self) -> Measured {
        let flows = self.flows();
        let fairness = self.jain(0..self.network.cohorts.len()).map(|jain| Fairness {
            jain: Some(jain),
            contracts_jain: None,
            classes: None,
            classes_mean: None,
        });
        let links = self.report.scenario.links.keys().enumerate().map(|(l, name)| (name.clone(), self.link(l)));
        Measured {
            measured_s: self.seconds(),
            links: links.collect(),
            groups: self.groups(),
            fairness,
            classes: self.classes(),
            customers: self.customers(),
            dynamics: None,
            flows: if flows.len() <= FLOWS_IN_SUMMARY { flows } else { Vec::new() },
        }
    }

    fn link(&self, l: usize) -> LinkSummary {
        let (queue, a, b) = (&self.network.queues[l], &self.from.queues[l], &self.to.queues[l]);
        let seconds = self.seconds();
        let history = &queue.waiting[self.from.step as usize..=self.to.step as usize];
        let average = mean(history);
        let square = mean(&history.iter().map(|q| q * q).collect::<Vec<f64>>());
        let mut sorted = history.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let p99 = sorted[(0.99 * (sorted.len() - 1) as f64) as usize];
        let served = b.served - a.served;
        LinkSummary {
            utilization: served / (queue.capacity * seconds),
            throughput_bit_per_s: served * self.report.scenario.packet.wire.bits() / seconds,
            queue_mean_packets: average,
            queue_sd_packets: (square - average * average).max(0.0).sqrt(),
            queue_p99_packets: p99,
            queue_max_packets: sorted[sorted.len() - 1],
            queueing_delay_mean_s: (served > 0.0).then(|| average / queue.capacity),
            queueing_delay_p99_s: (served > 0.0).then(|| p99 / queue.capacity),
            arrivals: libm::round(b.arrived - a.arrived) as u64,
            departures: libm::round(served) as u64,
            drops: libm::round(b.dropped - a.dropped) as u64,
            duplicates: 0,
            marks: libm::round(b.marked - a.marked) as u64,
            price_mean: queue.has_price().then(|| (b.price - a.price) / seconds),
            classes: IndexMap::new(),
            queues: IndexMap::new(),
            dynamics: None,
        }
    }

    fn flows(&self) -> Vec<FlowSummary> {
        let scenario = self.report.scenario;
        let seconds = self.seconds();
        let mut flows: Vec<(usize, u32, FlowSummary)> = Vec::new();
        for (c, cohort) in self.network.cohorts.iter().enumerate() {
            let (a, b) = (&self.from.cohorts[c], &self.to.cohorts[c]);
            let name = scenario.groups.get_index(cohort.group).map(|(name, _)| name.clone()).unwrap_or_default();
            let (acked, lost) = (b.acked - a.acked, b.lost - a.lost);
            let active = b.active - a.active;
            let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
            for index in &cohort.members {
                flows.push((
                    cohort.group,
                    *index,
                    FlowSummary {
                        group: name.clone(),
                        index: *index,
                        rtt_s: cohort.way.base_rtt_s,
                        goodput_bit_per_s: acked * scenario.packet.payload.bits() / seconds,
                        throughput_packets_per_s: acked / seconds,
                        window_mean_packets: (self.network.is_reliable(c) && active > 0.0)
                            .then(|| (b.window - a.window) / active),
                        rtt_mean_s: (acked + lost > 0.0).then(|| (b.rtt - a.rtt) / (acked + lost)),
                        rtt_min_s: cohort.least_rtt_s(),
                        loss_rate: share(lost, acked + lost),
                        mark_rate: share(b.marked - a.marked, acked),
                        retransmits: libm::round(lost) as u64,
                        timeouts: 0,
                        completion_s: None,
                    },
                ));
            }
        }
        flows.sort_by_key(|(group, index, _)| (*group, *index));
        flows.into_iter().map(|(_, _, flow)| flow).collect()
    }

    fn groups(&self) -> IndexMap<String, GroupSummary> {
        let scenario = self.report.scenario;
        let seconds = self.seconds();
        let mut groups = IndexMap::new();
        let mut of: Vec<Vec<usize>> = vec![Vec::new(); scenario.groups.len()];
        for (c, cohort) in self.network.cohorts.iter().enumerate() {
            of[cohort.group].push(c);
        }
        for ((name, group), cohorts) in scenario.groups.iter().zip(of) {
            let sum = |f: &dyn Fn(&cohort::Counted) -> f64| -> f64 {
                let one = |c: &usize| {
                    self.network.cohorts[*c].flows() * (f(&self.to.cohorts[*c]) - f(&self.from.cohorts[*c]))
                };
                cohorts.iter().map(one).sum()
            };
            let (acked, lost, rtt) = (sum(&|c| c.acked), sum(&|c| c.lost), sum(&|c| c.rtt));
            // Each flow over its own time, then the mean over flows that had begun.
            let begun: Vec<usize> = cohorts
                .iter()
                .copied()
                .filter(|c| {
                    let cohort = &self.network.cohorts[*c];
                    cohort.has_begun()
                        && self.network.is_reliable(*c)
                        && self.to.cohorts[*c].active > self.from.cohorts[*c].active
                })
                .collect();
            let flows: f64 = begun.iter().map(|c| self.network.cohorts[*c].flows()).sum();
            let average = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
                let one = |c: &usize| {
                    let (a, b) = (&self.from.cohorts[*c], &self.to.cohorts[*c]);
                    let active = b.active - a.active;
                    let (mean, square) =
                        ((b.window - a.window) / active, (b.window_squared - a.window_squared) / active);
                    self.network.cohorts[*c].flows() * f(mean, square)
                };
                begun.iter().map(one).sum::<f64>() / flows
            };
            let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
            groups.insert(
                name.clone(),
                GroupSummary {
                    count: group.count,
                    goodput_bit_per_s: acked * scenario.packet.payload.bits() / seconds,
                    throughput_packets_per_s: acked / seconds,
                    rtt_mean_s: (acked + lost > 0.0).then(|| rtt / (acked + lost)),
                    jain: self.jain(cohorts.iter().copied()),
                    window_mean_packets: (flows > 0.0).then(|| average(&|mean, _| mean)),
                    window_sd_packets: (flows > 0.0)
                        .then(|| average(&|mean, square| (square - mean * mean).max(0.0).sqrt())),
                    loss_rate: share(lost, acked + lost),
                    mark_rate: share(sum(&|c| c.marked), acked),
                    retransmits: libm::round(lost) as u64,
                    spurious_retransmits: None,
                    timeouts: 0,
                    undone_recoveries: None,
                    pages: None,
                    video: None,
                    dynamics: None,
                    window_left_by_cuts: None,
                    bottleneck: None,
                    transfers: None,
                },
            );
        }
        groups
    }

    /// Bits sent and delivered a second by the groups that `wanted` names.
    fn rates(&self, wanted: &dyn Fn(usize) -> bool) -> (f64, f64) {
        let bits = self.report.scenario.packet.wire.bits() / self.seconds();
        let sum = |f: &dyn Fn(&cohort::Counted) -> f64| -> f64 {
            let cohorts = self.network.cohorts.iter().enumerate().filter(|(_, c)| wanted(c.group));
            cohorts.map(|(c, cohort)| cohort.flows() * (f(&self.to.cohorts[c]) - f(&self.from.cohorts[c]))).sum()
        };
        (sum(&|c| c.sent) * bits, sum(&|c| c.acked) * bits)
    }

    fn classes(&self) -> IndexMap<String, ClassSummary> {
        let scenario = self.report.scenario;
        let of = |name: &str| {
            self.rates(&|g| scenario.groups.get_index(g).is_some_and(|(_, group)| group.class.as_deref() == Some(name)))
        };
        let names = scenario.class_names();
        let total: f64 = names.iter().map(|name| of(name).1).sum();
        names
            .iter()
            .map(|name| {
                let (offered, served) = of(name);
                let share = scenario.classes.get(*name).and_then(|class| class.share);
                let summary = ClassSummary {
                    offered_bit_per_s: offered,
                    served_bit_per_s: served,
                    ratio: (total > served).then(|| served / (total - served)),
                    reference: share.filter(|share| *share < 1.0).map(|share| share / (1.0 - share)),
                    deviation: share.filter(|_| total > 0.0).map(|share| (served / total / share - 1.0).abs()),
                    ratio_sd: None,
                    max_min_bit_per_s: None,
                };
                ((*name).to_owned(), summary)
            })
            .collect()
    }

    fn customers(&self) -> IndexMap<String, CustomerSummary> {
        let scenario = self.report.scenario;
        let of = |flows: &[String]| {
            self.rates(&|g| scenario.groups.get_index(g).is_some_and(|(name, _)| flows.contains(name)))
        };
        let customers = scenario.customers.iter().enumerate();
        customers
            .map(|(at, (name, c))| {
                let throughput_bit_per_s = of(&c.flows).1;
                let conditioner = self.network.conditioners.iter().position(|conditioner| conditioner.customer == at);
                let plain = CustomerSummary { throughput_bit_per_s, ..CustomerSummary::default() };
                (
                    name.clone(),
                    conditioner.map_or(plain, |conditioner| self.conditioned(conditioner, throughput_bit_per_s)),
                )
            })
            .collect()
    }

    /// A customer with a conditioner.
    fn conditioned(&self, conditioner: usize, throughput_bit_per_s: f64) -> CustomerSummary {
        let (a, b, seconds) =
            (&self.from.conditioners[conditioner], &self.to.conditioners[conditioner], self.seconds());
        let committed = self.network.conditioners[conditioner].contract.committed_bit_per_s;
        let arrived = b.arrived - a.arrived;
        let mean = (b.level - a.level) / seconds;
        let square = (b.level_squared - a.level_squared) / seconds;
        CustomerSummary {
            throughput_bit_per_s,
            committed_bit_per_s: Some(committed),
            achieved_fraction: Some(throughput_bit_per_s / committed),
            in_profile_fraction: (arrived > 0.0).then(|| (b.green - a.green) / arrived),
            bucket_mean_bytes: Some(mean),
            bucket_sd_bytes: Some((square - mean * mean).max(0.0).sqrt()),
            time_full: Some((b.full - a.full) / seconds),
            time_empty: Some((b.empty - a.empty) / seconds),
        }
    }
}
