//! Measuring: counters are read at every end of a span, series at every sample. [`crate::report`] makes a run of them.

use penstock_law::quantity::Time;
use penstock_link::{CUSTOMER_COLUMNS, Counters, Counts as Books, LINK_COLUMNS, Passed, QUEUE_COLUMNS, QueueCounters};
use penstock_scenario::classes::CLASS_COLUMNS;
use penstock_scenario::model::Scenario;
use penstock_scenario::world::{Kind, Row, Rows, column_name};

use crate::dynamics::{Done, Edge, Rounds};
use crate::engine::{Account, Engine};
use crate::flow::Sent;
use crate::receiver::Received;
use crate::sender::bottleneck::Estimated;

/// Counters read at one end of a span.
pub(crate) struct Reading {
    pub(crate) at: Time,
    pub(crate) ports: Vec<Books>,
    pub(crate) flows: Vec<Told>,
    pub(crate) accounts: Vec<Account>,
    /// Of each conditioner.
    pub(crate) passed: Vec<Passed>,
    /// Measurements of each class by the law of each port that keeps classes apart.
    pub(crate) port_classes: Vec<Vec<Vec<(String, f64)>>>,
    /// Smallest round trip of each flow since the snapshot before [ps].
    pub(crate) least_rtt: Vec<u64>,
    /// Where the scenario requests numbers of behaviour over time.
    pub(crate) edge: Edge,
}

/// Counters of both ends of a flow.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Told {
    pub(crate) sent: Sent,
    pub(crate) got: Received,
    /// User data in order [B].
    pub(crate) delivered: u64,
    /// The law's observation of the bottleneck, where it requires one.
    pub(crate) estimated: Option<Estimated>,
}

/// Values of the sample before that the rows of a sample depend on.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    delivered: u64,
    got: u64,
    lost: u64,
    rtt: u128,
    rtts: u64,
}

/// The data that a run has recorded.
pub(crate) struct Taken {
    pub(crate) readings: Vec<Reading>,
    pub(crate) links: Rows,
    pub(crate) groups: Rows,
    pub(crate) flows: Rows,
    pub(crate) customers: Rows,
    pub(crate) classes: Rows,
    pub(crate) link_classes: Rows,
    pub(crate) queues: Rows,
    /// Where the scenario requests numbers of behaviour over time.
    pub(crate) rounds: Option<Rounds>,
}

/// State of the engine's measurements.
pub(crate) struct Measure {
    /// Edges of spans, latest first.
    edges: Vec<u64>,
    sample: u64,
    next_sample: u64,
    before: Vec<Counters>,
    flows_before: Vec<Before>,
    /// Of customers with a conditioner.
    passed_before: Vec<(Account, Passed)>,
    /// Of single queues, link by link.
    queues_before: Vec<QueueCounters>,
    /// Number of the accounts that are those of classes, and their content at the sample before.
    classes: usize,
    accounts_before: Vec<Account>,
    last_sample: u64,
    /// Which groups have series of their own for each flow.
    own_series: Vec<bool>,
    pub(crate) taken: Taken,
}

impl Measure {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let mut edges: Vec<u64> = scenario.windows.values().flat_map(|(a, b)| [a.0, b.0]).collect();
        edges.extend([scenario.warmup.0, scenario.duration.0]);
        edges.sort_unstable();
        edges.dedup();
        edges.reverse();
        Self {
            edges,
            sample: scenario.sample.0,
            next_sample: scenario.sample.0,
            before: Vec::new(),
            flows_before: Vec::new(),
            passed_before: Vec::new(),
            queues_before: Vec::new(),
            classes: scenario.class_names().len(),
            accounts_before: Vec::new(),
            last_sample: 0,
            own_series: scenario.groups.values().map(|g| g.series).collect(),
            taken: Taken {
                readings: Vec::new(),
                links: Rows::new(&LINK_COLUMNS),
                groups: Rows::new(&[
                    ("goodput_bit_per_s", Kind::Average),
                    ("throughput_packets_per_s", Kind::Average),
                    ("window_packets", Kind::Instant),
                    ("rtt_s", Kind::Average),
                    ("losses_per_s", Kind::Average),
                ]),
                flows: Rows::new(&[
                    ("goodput_bit_per_s", Kind::Average),
                    ("throughput_packets_per_s", Kind::Average),
                    ("in_flight_packets", Kind::Instant),
                    ("rtt_s", Kind::Average),
                ]),
                customers: Rows::new(&CUSTOMER_COLUMNS),
                classes: Rows::new(&CLASS_COLUMNS),
                link_classes: Rows::new(&[]),
                queues: Rows::new(&QUEUE_COLUMNS),
                rounds: Rounds::of(scenario),
            },
        }
    }

    /// When to read next; never if there is nothing left to read.
    pub(crate) fn next(&self) -> u64 {
        let round = self.taken.rounds.as_ref().map_or(u64::MAX, Rounds::next);
        self.edges.last().copied().unwrap_or(u64::MAX).min(self.next_sample).min(round)
    }

    /// Reads at `now`, which [`Measure::next`] gave.
    #[cold]
    pub(crate) fn read(&mut self, engine: &mut Engine, now: u64) {
        if let Some(rounds) = self.taken.rounds.as_mut().filter(|rounds| rounds.next() == now) {
            take_round(rounds, engine, now);
        }
        if self.next_sample == now {
            self.next_sample = now + self.sample;
            self.sample(engine, now);
        }
        if self.edges.last() == Some(&now) {
            self.edges.pop();
            self.edge(engine, now);
        }
    }

    /// Reads a last time where the run ended before its time.
    pub(crate) fn close(&mut self, engine: &mut Engine) {
        if self.taken.readings.last().is_none_or(|reading| reading.at < Time(engine.end)) {
            self.edge(engine, engine.end);
        }
    }

    fn edge(&mut self, engine: &mut Engine, now: u64) {
        let at = Time(now);
        for flow in &mut engine.flows {
            flow.integrate_window(now.max(flow.start));
        }
        let ports = engine.links.iter_mut().map(|link| link.station.counts(at)).collect();
        let flows = (0..engine.flows.len()).map(|at| told(engine, at)).collect();
        let least_rtt = engine.flows.iter_mut().map(|f| std::mem::replace(&mut f.sent.least_rtt, u64::MAX)).collect();
        let accounts = engine.accounts.clone();
        let passed = engine.conditioners.iter_mut().map(|one| one.conditioner.read(at)).collect();
        let port_classes = engine.links.iter_mut().map(|link| link.station.observables_of_classes()).collect();
        let edge = engine.counted.edge();
        self.taken.readings.push(Reading { at, ports, flows, accounts, passed, port_classes, least_rtt, edge });
    }

    /// One row a customer with a conditioner.
    fn sample_customers(&mut self, engine: &mut Engine, now: u64, seconds: f64) {
        self.passed_before.resize(engine.conditioners.len(), (Account::default(), Passed::default()));
        for (at, one) in engine.conditioners.iter_mut().enumerate() {
            let (customer, conditioner) = (one.customer, &mut one.conditioner);
            let (account, passed) = (engine.accounts[engine.first_customer + customer], conditioner.read(Time(now)));
            let (account_before, before) = std::mem::replace(&mut self.passed_before[at], (account, passed));
            let throughput = (account.delivered - account_before.delivered) as f64 * 8.0 / seconds;
            let row = self.taken.customers.row(Time(now).seconds(), customer as u32);
            let level = conditioner.level(Time(now));
            let row = passed.row(&before, level, throughput).into_iter().fold(row, Row::put);
            row.shown(conditioner.observables());
        }
    }

    /// One row a queue, of links with several.
    fn sample_queues(&mut self, engine: &Engine, now: u64, seconds: f64) {
        // Rows are numbered link by link, a queue after the other, as `report` names them.
        let all: Vec<QueueCounters> = engine.links.iter().flat_map(|link| link.station.queue_counters()).collect();
        self.queues_before.resize(all.len(), QueueCounters::default());
        for ((who, counters), before) in (0..).zip(&all).zip(&self.queues_before) {
            let row = self.taken.queues.row(Time(now).seconds(), who);
            counters.row(before, seconds).into_iter().fold(row, Row::put);
        }
        self.queues_before = all;
    }

    /// Sent and served traffic of classes, and the measurements of laws that keep them apart.
    fn sample_classes(&mut self, engine: &mut Engine, now: u64, seconds: f64) {
        self.accounts_before.resize(engine.accounts.len(), Account::default());
        for (at, account) in engine.accounts[..self.classes].iter().enumerate() {
            let before = std::mem::replace(&mut self.accounts_before[at], *account);
            let rate = |bytes: u64| bytes as f64 * 8.0 / seconds;
            self.taken
                .classes
                .row(Time(now).seconds(), at as u32)
                .put(rate(account.sent - before.sent))
                .put(rate(account.delivered - before.delivered));
        }
        // Rows are numbered link by link, a class after the other, as `report` names them.
        let mut who = 0;
        for link in &mut engine.links {
            for class in 0..link.station.classes() {
                self.taken.link_classes.row(Time(now).seconds(), who).shown(link.station.class_observables(class));
                who += 1;
            }
        }
    }

    fn sample(&mut self, engine: &mut Engine, now: u64) {
        let span = now - self.last_sample;
        let seconds = Time(span).seconds();
        self.last_sample = now;
        self.before.resize(engine.links.len(), Counters::default());
        for (at, link) in engine.links.iter_mut().enumerate() {
            let port = &mut link.station;
            let counters = port.read(Time(now));
            let before = std::mem::replace(&mut self.before[at], counters);
            let waiting = port.waiting(Time(now));
            let row = self.taken.links.row(Time(now).seconds(), at as u32);
            let row = port.row(&before, &counters, waiting).into_iter().fold(row, Row::put);
            row.shown(port.observables());
        }
        self.sample_customers(engine, now, seconds);
        self.sample_classes(engine, now, seconds);
        self.sample_queues(engine, now, seconds);
        self.flows_before.resize(engine.flows.len(), Before::default());
        let mut sums = vec![[0.0; 6]; engine.groups.len()];
        for (at, flow) in engine.flows.iter().enumerate() {
            let Told { sent, got, delivered, .. } = told(engine, at);
            let now_told = Before { delivered, got: got.packets, lost: sent.lost, rtt: sent.rtt, rtts: sent.rtts };
            let before = std::mem::replace(&mut self.flows_before[at], now_told);
            let group = flow.group as usize;
            let goodput = (delivered - before.delivered) as f64 * 8.0 / seconds;
            let throughput = (got.packets - before.got) as f64 / seconds;
            let (rtt, rtts) = ((sent.rtt - before.rtt) as f64 * 1e-12, (sent.rtts - before.rtts) as f64);
            let sum = &mut sums[group];
            for (sum, x) in sum.iter_mut().zip([goodput, throughput, flow.window, rtt, rtts]) {
                *sum += x;
            }
            sum[5] += (sent.lost - before.lost) as f64 / seconds;
            if self.own_series[group] {
                let windows = &mut engine.groups[group].windows;
                let mut row = self
                    .taken
                    .flows
                    .row(Time(now).seconds(), at as u32)
                    .put(goodput)
                    .put(throughput)
                    .put(flow.data.in_flight() as f64)
                    .put(rtt / rtts);
                for ((name, unit), value) in windows.names().into_iter().zip(windows.observables(flow.index as usize)) {
                    // What the law observed stands beside the simulator's truth, under a name of its own.
                    let estimate = matches!(name, "rtt" | "base_rtt" | "price" | "capacity" | "buffer" | "level");
                    let name = column_name(name, unit);
                    row = row.named(&if estimate { format!("estimated_{name}") } else { name }, Kind::Instant, value);
                }
            }
        }
        for (at, [goodput, throughput, window, rtt, rtts, lost]) in sums.into_iter().enumerate() {
            let flows = engine.flows.iter().filter(|f| f.group as usize == at).count() as f64;
            self.taken
                .groups
                .row(Time(now).seconds(), at as u32)
                .put(goodput)
                .put(throughput)
                .put(if engine.groups[at].reliable { window / flows } else { f64::NAN })
                .put(rtt / rtts)
                .put(lost);
        }
    }
}

/// A round ends at `now`.
fn take_round(rounds: &mut Rounds, engine: &mut Engine, now: u64) {
    let before = Time(now - rounds.round.0);
    let links = engine.links.iter_mut().map(|link| {
        let (glance, waits) = link.station.glance(Time(now));
        (glance, waits, link.station.capacity_bits(before, Time(now)))
    });
    let links: Vec<_> = links.collect();
    let done = (0..engine.flows.len()).map(|at| {
        let flow = &engine.flows[at];
        let beyond = engine.receivers[at].out_of_order() * engine.groups[flow.group as usize].payload;
        Done { arrived: delivered(engine, at) + beyond, sent: flow.sent.packets, lost: flow.sent.lost }
    });
    rounds.take(links.into_iter(), done);
}

/// Counters of both ends of a flow until now.
pub(crate) fn told(engine: &Engine, at: usize) -> Told {
    let (flow, got) = (&engine.flows[at], engine.receivers[at].received);
    let estimated = engine.groups[flow.group as usize].windows.estimated(flow.index as usize);
    Told { sent: flow.sent, got, delivered: delivered(engine, at), estimated }
}

/// User data of a flow in order until now [B].
fn delivered(engine: &Engine, at: usize) -> u64 {
    user_data(engine, at, 0)
}

/// User data of a flow that have come until now, in order or not [B].
pub(crate) fn received(engine: &Engine, at: usize) -> u64 {
    user_data(engine, at, engine.receivers[at].out_of_order())
}

/// User data in the segments in order and in so many beyond them [B].
fn user_data(engine: &Engine, at: usize, beyond: u64) -> u64 {
    let (flow, got) = (&engine.flows[at], engine.receivers[at].received);
    let full = u64::from(flow.size - flow.last_size);
    // The last segment of the transfer under way is there, but its acknowledgement is not yet.
    let short = if got.in_order >= flow.data.limit && flow.data.una < flow.data.limit { full } else { 0 };
    ((got.in_order + beyond) * engine.groups[flow.group as usize].payload).saturating_sub(flow.sent.short + short)
}
