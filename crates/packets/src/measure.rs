//! Measuring: counters are read at every edge of a span, series at every sample, and both become a [`Run`].

use indexmap::IndexMap;
use penstock_law::quantity::Time;
use penstock_link::{Counters, Histogram};
use penstock_scenario::model::{Scenario, Size};
use penstock_scenario::summary::{
    Engine as Cost, Fairness, FlowSummary, GroupSummary, LinkSummary, Measured, Summary, Transfers, jain,
};
use penstock_scenario::world::{Cells, Column, Kind, Run, Table};

use crate::engine::{Engine, Sent};
use crate::receiver::Received;

/// More flows than this and the summary leaves them to their table.
const FLOWS_IN_SUMMARY: usize = 100;

/// What was read at one edge of a span.
struct Reading {
    at: Time,
    ports: Vec<(Counters, Histogram, Histogram)>,
    flows: Vec<(Sent, Received)>,
    /// Since the reading before: most packets that waited in each port, smallest round trip of each flow [ps].
    most_waiting: Vec<u64>,
    least_rtt: Vec<u64>,
}

/// What a run has taken down.
pub(crate) struct Taken {
    readings: Vec<Reading>,
    links: Rows,
    groups: Rows,
    flows: Rows,
}

/// Rows of a table while they are written.
struct Rows {
    time_s: Vec<f64>,
    who: Vec<u32>,
    columns: Vec<(String, Kind, Vec<f64>)>,
}

impl Rows {
    fn new(columns: &[(&str, Kind)]) -> Self {
        let columns = columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind, Vec::new())).collect();
        Self { time_s: Vec::new(), who: Vec::new(), columns }
    }

    fn row(&mut self, time: u64, who: u32) -> Row<'_> {
        self.time_s.push(Time(time).seconds());
        self.who.push(who);
        Row { rows: self, at: 0 }
    }

    fn column(&mut self, name: &str, kind: Kind) -> usize {
        if let Some(at) = self.columns.iter().position(|(n, _, _)| n == name) {
            return at;
        }
        // A column that some rows lack: those say nothing there.
        self.columns.push((name.to_owned(), kind, vec![f64::NAN; self.time_s.len()]));
        self.columns.len() - 1
    }

    fn table(self, name: &str, key: &str, names: Vec<String>) -> Table {
        let rows = self.time_s.len();
        let mut columns = vec![
            Column { name: "time_s".to_owned(), kind: Kind::Key, values: Cells::Number(self.time_s) },
            Column { name: key.to_owned(), kind: Kind::Key, values: Cells::Name { names, rows: self.who } },
        ];
        columns.extend(self.columns.into_iter().map(|(name, kind, mut values)| {
            values.resize(rows, f64::NAN);
            Column { name, kind, values: Cells::Number(values) }
        }));
        Table { name: name.to_owned(), columns }
    }
}

/// One row while it is written: the declared columns in order, then others by name.
struct Row<'a> {
    rows: &'a mut Rows,
    at: usize,
}

impl Row<'_> {
    fn put(mut self, value: f64) -> Self {
        self.rows.columns[self.at].2.push(value);
        self.at += 1;
        self
    }

    fn named(self, name: &str, value: f64) -> Self {
        let column = self.rows.column(name, Kind::Instant);
        let row = self.rows.time_s.len() - 1;
        let values = &mut self.rows.columns[column].2;
        values.resize(row, f64::NAN);
        values.push(value);
        self
    }
}

/// What the engine measures with.
pub(crate) struct Measure {
    /// Edges of spans, latest first.
    edges: Vec<u64>,
    sample: u64,
    next_sample: u64,
    before: Vec<Counters>,
    flows_before: Vec<(Sent, Received)>,
    last_sample: u64,
    payload_bits: f64,
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
            last_sample: 0,
            payload_bits: scenario.packet.payload.bits(),
            own_series: scenario.groups.values().map(|g| g.series).collect(),
            taken: Taken {
                readings: Vec::new(),
                links: Rows::new(&[
                    ("utilization", Kind::Average),
                    ("throughput_bit_per_s", Kind::Average),
                    ("queue_packets", Kind::Instant),
                    ("queue_mean_packets", Kind::Average),
                    ("drops_per_s", Kind::Average),
                    ("marks_per_s", Kind::Average),
                ]),
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
            },
        }
    }

    /// When to read next; never if there is nothing left to read.
    pub(crate) fn next(&self) -> u64 {
        self.edges.last().copied().unwrap_or(u64::MAX).min(self.next_sample)
    }

    /// Reads at `now`, which [`Measure::next`] gave.
    #[cold]
    pub(crate) fn read(&mut self, engine: &mut Engine, now: u64) {
        if self.next_sample == now {
            self.next_sample = now + self.sample;
            self.sample(engine, now);
        }
        if self.edges.last() == Some(&now) {
            self.edges.pop();
            self.edge(engine, now);
        }
    }

    fn edge(&mut self, engine: &mut Engine, now: u64) {
        let at = Time(now);
        for flow in &mut engine.flows {
            flow.integrate_window(now.max(flow.start));
        }
        let ports = engine.links.iter_mut().map(|link| {
            let port = &mut link.port;
            let counters = port.read(at);
            let (by_waiting, by_wait) = port.histograms();
            (counters, by_waiting.clone(), by_wait.clone())
        });
        let ports = ports.collect();
        let most_waiting = engine.links.iter_mut().map(|link| link.port.most_waiting()).collect();
        let flows = engine.flows.iter().zip(&engine.receivers).map(|(f, r)| (f.sent, r.received)).collect();
        let least_rtt = engine.flows.iter_mut().map(|f| std::mem::replace(&mut f.sent.least_rtt, u64::MAX)).collect();
        self.taken.readings.push(Reading { at, ports, flows, most_waiting, least_rtt });
    }

    fn sample(&mut self, engine: &mut Engine, now: u64) {
        let seconds = Time(now - self.last_sample).seconds();
        self.last_sample = now;
        self.before.resize(engine.links.len(), Counters::default());
        for (at, link) in engine.links.iter_mut().enumerate() {
            let port = &mut link.port;
            let c = port.read(Time(now));
            let b = std::mem::replace(&mut self.before[at], c);
            let bits = (c.departed_bytes - b.departed_bytes) as f64 * 8.0;
            let mut row = self
                .taken
                .links
                .row(now, at as u32)
                .put(bits / seconds / port.rate().bit_per_s())
                .put(bits / seconds)
                .put(port.waiting(Time(now)) as f64)
                .put((c.waiting - b.waiting) as f64 * 1e-12 / seconds)
                .put((c.drops + c.lost - b.drops - b.lost) as f64 / seconds)
                .put((c.marks - b.marks) as f64 / seconds);
            for (name, unit, value) in port.observables() {
                row = row.named(&column_name(name, unit), value);
            }
        }
        self.flows_before.resize(engine.flows.len(), (Sent::default(), Received::default()));
        let mut sums = vec![[0.0; 6]; engine.groups.len()];
        for (at, flow) in engine.flows.iter().enumerate() {
            let (sent, got) = (flow.sent, engine.receivers[at].received);
            let (sent_before, got_before) = std::mem::replace(&mut self.flows_before[at], (sent, got));
            let group = flow.group as usize;
            let goodput = (got.in_order - got_before.in_order) as f64 * self.payload_bits / seconds;
            let throughput = (got.packets - got_before.packets) as f64 / seconds;
            let (rtt, rtts) = ((sent.rtt - sent_before.rtt) as f64 * 1e-12, (sent.rtts - sent_before.rtts) as f64);
            let sum = &mut sums[group];
            for (sum, x) in sum.iter_mut().zip([goodput, throughput, flow.window, rtt, rtts]) {
                *sum += x;
            }
            sum[5] += (sent.lost - sent_before.lost) as f64 / seconds;
            if self.own_series[group] {
                let windows = &mut engine.groups[group].windows;
                let mut row = self
                    .taken
                    .flows
                    .row(now, at as u32)
                    .put(goodput)
                    .put(throughput)
                    .put(flow.data.in_flight() as f64)
                    .put(rtt / rtts);
                for ((name, unit), value) in windows.names().into_iter().zip(windows.observables(flow.index as usize)) {
                    // What the law was told stands beside the simulator's truth, under a name of its own.
                    let estimate = matches!(name, "rtt" | "base_rtt" | "price");
                    let name = column_name(name, unit);
                    row = row.named(&if estimate { format!("estimated_{name}") } else { name }, value);
                }
            }
        }
        for (at, [goodput, throughput, window, rtt, rtts, lost]) in sums.into_iter().enumerate() {
            let flows = engine.flows.iter().filter(|f| f.group as usize == at).count() as f64;
            self.taken
                .groups
                .row(now, at as u32)
                .put(goodput)
                .put(throughput)
                .put(if engine.groups[at].reliable { window / flows } else { f64::NAN })
                .put(rtt / rtts)
                .put(lost);
        }
    }
}

fn column_name(name: &str, unit: &str) -> String {
    match unit {
        "1" => name.to_owned(),
        _ => format!("{name}_{}", unit.replace('/', "_per_")),
    }
}

/// Turns what was taken down into the run's result.
pub(crate) fn report(scenario: &Scenario, engine: &Engine, taken: Taken) -> Run {
    let find = |t: Time| taken.readings.iter().position(|r| r.at == t).expect("every edge was read");
    let span = |a: Time, b: Time| Span { scenario, engine, readings: &taken.readings[find(a)..=find(b)] };
    let whole = span(scenario.warmup, scenario.duration);
    let flows = whole.flows();
    let windows: IndexMap<String, Measured> =
        scenario.windows.iter().map(|(name, (a, b))| (name.clone(), span(*a, *b).measured())).collect();
    let summary = Summary {
        title: scenario.title.clone(),
        world: "packets".to_owned(),
        seed: scenario.seed.0,
        whole: whole.measured(),
        windows,
        engine: Cost { events: engine.events, packets: engine.crossed, ..Cost::default() },
    };
    let groups: Vec<String> = scenario.groups.keys().cloned().collect();
    let flow_names = engine.flows.iter().map(|f| format!("{}/{}", groups[f.group as usize], f.index)).collect();
    let mut series = vec![
        taken.links.table("links", "link", scenario.links.keys().cloned().collect()),
        taken.groups.table("groups", "group", groups),
    ];
    if !taken.flows.time_s.is_empty() {
        series.push(taken.flows.table("flows", "flow", flow_names));
    }
    Run { summary, flows, series }
}

/// A span between two readings, with those between.
struct Span<'a> {
    scenario: &'a Scenario,
    engine: &'a Engine,
    readings: &'a [Reading],
}

impl Span<'_> {
    fn ends(&self) -> (&Reading, &Reading) {
        (&self.readings[0], &self.readings[self.readings.len() - 1])
    }

    fn seconds(&self) -> f64 {
        let (a, b) = self.ends();
        (b.at - a.at).seconds()
    }

    /// How much of the span came after a flow's start [s].
    fn active(&self, flow: usize) -> f64 {
        let (a, b) = self.ends();
        b.at.since(a.at.max(Time(self.engine.flows[flow].start))).seconds()
    }

    fn measured(&self) -> Measured {
        let flows = self.flows();
        let shares = flows.iter().map(|f| f.goodput_bit_per_s);
        let fairness = jain(shares).map(|jain| Fairness { jain });
        Measured {
            measured_s: self.seconds(),
            links: (0..self.engine.links.len())
                .map(|at| (self.scenario.links.get_index(at).expect("a port a link").0.clone(), self.link(at)))
                .collect(),
            groups: self.groups(&flows),
            flows: if flows.len() <= FLOWS_IN_SUMMARY { flows } else { Vec::new() },
            fairness,
        }
    }

    fn link(&self, at: usize) -> LinkSummary {
        let (a, b) = self.ends();
        let ((a, a_waiting, a_wait), (b, b_waiting, b_wait)) = (&a.ports[at], &b.ports[at]);
        let seconds = self.seconds();
        let bits = (b.departed_bytes - a.departed_bytes) as f64 * 8.0;
        let mean = (b.waiting - a.waiting) as f64 * 1e-12 / seconds;
        let square = (b.waiting_squared - a.waiting_squared) as f64 * 1e-12 / seconds;
        let (waiting, wait) = (b_waiting.since(a_waiting), b_wait.since(a_wait));
        let accepted = (b.arrivals - b.drops) - (a.arrivals - a.drops);
        let port = &self.engine.links[at].port;
        let most = self.readings[1..].iter().map(|r| r.most_waiting[at]).max().unwrap_or(0) as f64;
        LinkSummary {
            utilization: bits / seconds / port.rate().bit_per_s(),
            throughput_bit_per_s: bits / seconds,
            queue_mean_packets: mean,
            queue_sd_packets: (square - mean * mean).max(0.0).sqrt(),
            // A bucket's middle may lie above the largest value in it.
            queue_p99_packets: waiting.quantile(0.99).unwrap_or(0.0).min(most),
            queue_max_packets: most,
            queueing_delay_mean_s: (accepted > 0).then(|| (b.waits - a.waits) as f64 * 1e-12 / accepted as f64),
            queueing_delay_p99_s: wait.quantile(0.99).map(|ns| ns * 1e-9),
            arrivals: b.arrivals - a.arrivals,
            departures: b.departures - a.departures,
            drops: b.drops + b.lost - a.drops - a.lost,
            marks: b.marks - a.marks,
            price_mean: port.has_price().then(|| (b.price - a.price) / seconds),
        }
    }

    fn flows(&self) -> Vec<FlowSummary> {
        let (a, b) = self.ends();
        let seconds = self.seconds();
        let rtts: Vec<Time> =
            self.scenario.groups.iter().flat_map(|(name, g)| g.rtts(name, self.scenario.seed)).collect();
        let flow = |at: usize| {
            let flow = &self.engine.flows[at];
            let (name, group) = self.scenario.groups.get_index(flow.group as usize).expect("a group a group");
            let ((sent_a, got_a), (sent_b, got_b)) = (&a.flows[at], &b.flows[at]);
            let payload = self.scenario.packet.payload.0;
            let bytes = |segments: u64| {
                (segments * payload).min(
                    group.size.map_or(u64::MAX, |size| if let Size::Each(size) = size { size.0 } else { u64::MAX }),
                )
            };
            let (sent, got) = (sent_b.packets - sent_a.packets, got_b.packets - got_a.packets);
            let rtts_taken = sent_b.rtts - sent_a.rtts;
            let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
            let least = self.readings[1..].iter().map(|r| r.least_rtt[at]).min().unwrap_or(u64::MAX);
            let completed = (self.readings[0].at.0..=b.at.0).contains(&sent_b.completed) && sent_b.completed > 0;
            let reliable = self.engine.groups[flow.group as usize].reliable;
            FlowSummary {
                group: name.clone(),
                index: flow.index,
                rtt_s: rtts[at].seconds(),
                goodput_bit_per_s: (bytes(got_b.in_order) - bytes(got_a.in_order)) as f64 * 8.0 / seconds,
                throughput_packets_per_s: got as f64 / seconds,
                window_mean_packets: (reliable && self.active(at) > 0.0)
                    .then(|| (sent_b.window - sent_a.window) / self.active(at)),
                rtt_mean_s: (rtts_taken > 0).then(|| (sent_b.rtt - sent_a.rtt) as f64 * 1e-12 / rtts_taken as f64),
                rtt_min_s: (least < u64::MAX).then(|| Time(least).seconds()),
                loss_rate: share(sent_b.lost - sent_a.lost, sent),
                mark_rate: share(got_b.marked - got_a.marked, got),
                retransmits: sent_b.again - sent_a.again,
                timeouts: sent_b.timeouts - sent_a.timeouts,
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
            let total = |f: &dyn Fn(&(Sent, Received)) -> u64| {
                range.clone().map(|at| f(&b.flows[at]) - f(&a.flows[at])).sum::<u64>()
            };
            let (sent, got) = (total(&|f| f.0.packets), total(&|f| f.1.packets));
            let rtts = total(&|f| f.0.rtts);
            let rtt: u128 = range.clone().map(|at| b.flows[at].0.rtt - a.flows[at].0.rtt).sum();
            let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
            let sd = |at: usize| {
                let mean = (b.flows[at].0.window - a.flows[at].0.window) / self.active(at);
                let square = (b.flows[at].0.window_squared - a.flows[at].0.window_squared) / self.active(at);
                (square - mean * mean).max(0.0).sqrt()
            };
            // Flows that have a window and had begun by the end of the span.
            let windows: Vec<f64> = rows.iter().filter_map(|f| f.window_mean_packets).collect();
            let begun = || range.clone().filter(|at| rows[at - range.start].window_mean_packets.is_some());
            let n = windows.len() as f64;
            let any = !windows.is_empty();
            let acknowledged = rows.is_empty() || self.engine.groups[groups.len()].reliable;
            let summary = GroupSummary {
                count: group.count,
                goodput_bit_per_s: rows.iter().map(|f| f.goodput_bit_per_s).sum(),
                throughput_packets_per_s: got as f64 / seconds,
                rtt_mean_s: (rtts > 0).then(|| rtt as f64 * 1e-12 / rtts as f64),
                jain: jain(rows.iter().map(|f| f.goodput_bit_per_s)),
                window_mean_packets: any.then(|| windows.iter().sum::<f64>() / n),
                window_sd_packets: any.then(|| begun().map(sd).sum::<f64>() / n),
                loss_rate: share(total(&|f| f.0.lost), sent),
                mark_rate: share(total(&|f| f.1.marked), got),
                retransmits: total(&|f| f.0.again),
                timeouts: total(&|f| f.0.timeouts),
                transfers: group.size.filter(|_| acknowledged).map(|_| transfers(rows)),
            };
            groups.insert(name.clone(), summary);
        }
        groups
    }
}

fn transfers(flows: &[FlowSummary]) -> Transfers {
    let mut times: Vec<f64> = flows.iter().filter_map(|f| f.completion_s).collect();
    times.sort_by(f64::total_cmp);
    // The smallest time that the share of transfers does not exceed.
    let quantile = |share: f64| {
        let rank = (share * times.len() as f64).ceil() as usize;
        times.get(rank.max(1) - 1).copied()
    };
    Transfers {
        completed: times.len() as u64,
        completion_mean_s: (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64),
        completion_p50_s: quantile(0.50),
        completion_p99_s: quantile(0.99),
    }
}
