//! Series of links, groups, flows, classes and customers, in the columns of the packets world.

use penstock_law::quantity::Time;
use penstock_link::{CUSTOMER_COLUMNS, Counters, LINK_COLUMNS, Passed as InProfile, QUEUE_COLUMNS, QueueCounters};
use penstock_path::emulation::Passed;
use penstock_path::router::Sample;
use penstock_scenario::classes::CLASS_COLUMNS;
use penstock_scenario::model::{Group, Scenario};
use penstock_scenario::transfer::{self, Alone};
use penstock_scenario::world::{Kind, Row, Rows, Table};

use super::super::measured::{Measured, is_of_class, picked};
use super::super::plan::Source;
use super::super::sender::{Reading, Told};

fn put<'a>(row: Row<'a>, own: &[(&str, Kind, f64)]) -> Row<'a> {
    own.iter().fold(row, |row, (name, kind, value)| row.named(name, *kind, *value))
}

const AVERAGE: Kind = Kind::Average;
const INSTANT: Kind = Kind::Instant;

/// Series that are made before the summary, which requires the served traffic of classes.
pub(super) struct Series {
    pub(super) classes: Rows,
}

impl Series {
    pub(super) fn of(scenario: &Scenario, run: &Measured) -> Self {
        Self { classes: classes(scenario, run) }
    }

    /// Every table of a run.
    pub(super) fn tables(self, scenario: &Scenario, run: &Measured) -> Vec<Table> {
        let mut tables = vec![links(scenario, run), groups(scenario, run)];
        if scenario.groups.values().any(|group| group.size.is_some()) {
            tables.push(transfer::table(&run.sent.transfers, &Alone::of(scenario), flow_names(scenario)));
        }
        let customers = customers(scenario, run);
        if !customers.is_empty() {
            tables.push(customers.table("customers", "customer", scenario.customers.keys().cloned().collect()));
        }
        if !self.classes.is_empty() {
            let names = scenario.class_names().into_iter().map(str::to_owned).collect();
            tables.push(self.classes.table("classes", "class", names));
        }
        tables.extend(link_classes(scenario, run));
        tables.extend(queues(scenario, run));
        if scenario.groups.values().any(|group| group.series) {
            tables.push(flows(scenario, run));
        }
        tables
    }
}

fn flow_names(scenario: &Scenario) -> Vec<String> {
    let of_group = |(name, group): (&String, &Group)| {
        let name = name.clone();
        (0..group.count).map(move |index| format!("{name}/{index}"))
    };
    scenario.groups.iter().flat_map(of_group).collect()
}

/// Samples, each with its length [s] and each flow's counters at the one before.
fn in_turn(run: &Measured) -> impl Iterator<Item = (&Sample, f64, Vec<Passed>)> {
    let mut before = (Time::ZERO, vec![Passed::default(); run.plan.flows.len()]);
    run.outcome.samples.iter().map(move |sample| {
        let (at, passed) = std::mem::replace(&mut before, (sample.at, sample.passed.clone()));
        (sample, sample.at.since(at).seconds(), passed)
    })
}

/// Offered and served traffic of classes.
fn classes(scenario: &Scenario, run: &Measured) -> Rows {
    let mut rows = Rows::new(&CLASS_COLUMNS);
    let names = scenario.class_names();
    let members = names.iter().map(|name| picked(scenario, run, |_, group| is_of_class(group, name)).collect());
    let members: Vec<Vec<usize>> = members.collect();
    for (sample, seconds, before) in in_turn(run) {
        for (class, flows) in members.iter().enumerate() {
            let rate = |bytes: fn(&Passed) -> u64| {
                let sum: u64 = flows.iter().map(|flow| bytes(&sample.passed[*flow]) - bytes(&before[*flow])).sum();
                sum as f64 * 8.0 / seconds
            };
            rows.row(sample.at.seconds(), class as u32).put(rate(|p| p.sent_bytes)).put(rate(|p| p.delivered_bytes));
        }
    }
    rows
}

/// Counters of the conditioners of customers.
fn customers(scenario: &Scenario, run: &Measured) -> Rows {
    let mut rows = Rows::new(&CUSTOMER_COLUMNS);
    let of_customer = |customer: usize| {
        let groups = &scenario.customers[customer].flows;
        picked(scenario, run, |name, _| groups.iter().any(|group| group == name)).collect()
    };
    let contracts = run.outcome.emulation.contracts().map(|(customer, _)| (customer, of_customer(customer)));
    let contracts: Vec<(usize, Vec<usize>)> = contracts.collect();
    let mut in_profile = vec![InProfile::default(); contracts.len()];
    for (sample, seconds, before) in in_turn(run) {
        for (((customer, flows), was), read) in contracts.iter().zip(&mut in_profile).zip(&sample.conditioners) {
            let (passed, level, observables) = read;
            let bytes = |flow: &usize| sample.passed[*flow].delivered_bytes - before[*flow].delivered_bytes;
            let throughput = flows.iter().map(bytes).sum::<u64>() as f64 * 8.0 / seconds;
            let own = passed.row(&std::mem::replace(was, *passed), *level, throughput);
            let row = own.into_iter().fold(rows.row(sample.at.seconds(), *customer as u32), Row::put);
            row.shown(observables.iter().copied());
        }
    }
    rows
}

/// Observables of laws for classes that they keep apart; none where no law does.
fn link_classes(scenario: &Scenario, run: &Measured) -> Option<Table> {
    let mut rows = Rows::default();
    for sample in &run.outcome.samples {
        // Rows are numbered link by link, a class after the other.
        for (who, observables) in (0..).zip(sample.classes.iter().flatten()) {
            rows.row(sample.at.seconds(), who).shown(observables.iter().copied());
        }
    }
    let names = scenario.links.keys().enumerate().flat_map(|(at, link)| {
        let classes = run.outcome.emulation.station(at).classes() as usize;
        scenario.queue_names().into_iter().take(classes).map(move |class| format!("{link}/{class}"))
    });
    (!rows.is_empty()).then(|| rows.table("link_classes", "link_class", names.collect()))
}

/// Counters of single queues; none where every link has one queue.
fn queues(scenario: &Scenario, run: &Measured) -> Option<Table> {
    let mut rows = Rows::new(&QUEUE_COLUMNS);
    let names = scenario.links.keys().enumerate().flat_map(|(at, link)| {
        run.outcome.emulation.station(at).queue_names().iter().map(move |queue| format!("{link}/{queue}"))
    });
    let names: Vec<String> = names.collect();
    let mut before = vec![QueueCounters::default(); names.len()];
    for (sample, seconds, _) in in_turn(run) {
        // Rows are numbered link by link, a queue after the other.
        for ((who, counters), was) in (0..).zip(sample.queues.iter().flatten()).zip(&mut before) {
            let row = rows.row(sample.at.seconds(), who);
            counters.row(was, seconds).into_iter().fold(row, Row::put);
            *was = *counters;
        }
    }
    (!rows.is_empty()).then(|| rows.table("queues", "queue", names))
}

fn links(scenario: &Scenario, run: &Measured) -> Table {
    let mut rows = Rows::new(&LINK_COLUMNS);
    let mut before = vec![Counters::default(); scenario.links.len()];
    for Sample { at, links, .. } in &run.outcome.samples {
        for (link, (counters, waiting, observables)) in links.iter().enumerate() {
            let was = std::mem::replace(&mut before[link], *counters);
            let own = run.outcome.emulation.station(link).row(&was, counters, *waiting);
            let row = own.into_iter().fold(rows.row(at.seconds(), link as u32), Row::put);
            row.shown(observables.iter().copied());
        }
    }
    rows.table("links", "link", scenario.links.keys().cloned().collect())
}

/// Measurements of one flow in a sampling period.
struct Step {
    goodput: f64,
    throughput: f64,
    losses: f64,
    /// A sum of round trips, and how many.
    rtt: (f64, f64),
    window: f64,
    in_flight: f64,
}

/// Each sample of the path with that of the ends that was taken for the same moment; steps of all flows.
fn steps<'a>(run: &'a Measured, scenario: &'a Scenario) -> impl Iterator<Item = (Time, Vec<Step>)> + 'a {
    let start = Reading { at: Time::ZERO, flows: vec![Told::default(); run.plan.flows.len()] };
    let mut before = (Time::ZERO, vec![Passed::default(); run.plan.flows.len()], start);
    let mut ends = run.sent.samples.iter().peekable();
    run.outcome.samples.iter().filter_map(move |sample| {
        // The ends look when they can; a sample of theirs that came too late for this moment is the next one's.
        while ends.next_if(|reading| reading.at < sample.at).is_some() {}
        let reading = (*ends.peek()?).clone();
        let seconds = sample.at.since(before.0).seconds();
        let at_ends = reading.at.since(before.2.at).seconds();
        if at_ends <= 0.0 {
            return None;
        }
        let step = |at: usize| {
            let (a, b) = (&before.2.flows[at], &reading.flows[at]);
            let (p, q) = (before.1[at], sample.passed[at]);
            let source = &run.plan.flows[at].source;
            let tcp = source.is_reliable();
            let delivered = (q.delivered - p.delivered) as f64 / seconds;
            Step {
                goodput: match source {
                    Source::Tcp { .. } | Source::Quic(_) => (b.received - a.received) as f64 * 8.0 / at_ends,
                    Source::Datagrams(_) => {
                        let group = &scenario.groups[run.plan.flows[at].group];
                        delivered * group.packet(scenario.packet).payload.bits()
                    }
                    Source::Programs => (q.delivered_bytes - p.delivered_bytes) as f64 * 8.0 / seconds,
                },
                throughput: delivered,
                losses: (q.lost - p.lost) as f64 / seconds,
                rtt: (b.rtt - a.rtt, b.rtts - a.rtts),
                window: if tcp { b.window_now } else { f64::NAN },
                in_flight: f64::from(b.in_flight),
            }
        };
        let steps = (0..run.plan.flows.len()).map(step).collect();
        before = (sample.at, sample.passed.clone(), reading);
        Some((sample.at, steps))
    })
}

fn groups(scenario: &Scenario, run: &Measured) -> Table {
    let mut rows = Rows::default();
    for (at, steps) in steps(run, scenario) {
        let mut first = 0;
        for (number, group) in scenario.groups.values().enumerate() {
            let own = &steps[first..first + group.count as usize];
            first += own.len();
            let sum = |f: fn(&Step) -> f64| own.iter().map(f).sum::<f64>();
            let columns = [
                ("goodput_bit_per_s", AVERAGE, sum(|s| s.goodput)),
                ("throughput_packets_per_s", AVERAGE, sum(|s| s.throughput)),
                ("window_packets", INSTANT, sum(|s| s.window) / own.len() as f64),
                ("rtt_s", AVERAGE, sum(|s| s.rtt.0) / sum(|s| s.rtt.1)),
                ("losses_per_s", AVERAGE, sum(|s| s.losses)),
            ];
            put(rows.row(at.seconds(), number as u32), &columns);
        }
    }
    rows.table("groups", "group", scenario.groups.keys().cloned().collect())
}

/// Series of the flows of the groups with `series`.
fn flows(scenario: &Scenario, run: &Measured) -> Table {
    let groups: Vec<_> = scenario.groups.iter().collect();
    let mut rows = Rows::default();
    for (at, steps) in steps(run, scenario) {
        for (flow, (step, plan)) in steps.iter().zip(&run.plan.flows).enumerate() {
            if !groups[plan.group].1.series {
                continue;
            }
            let columns = [
                ("goodput_bit_per_s", AVERAGE, step.goodput),
                ("throughput_packets_per_s", AVERAGE, step.throughput),
                ("in_flight_packets", INSTANT, step.in_flight),
                ("rtt_s", AVERAGE, step.rtt.0 / step.rtt.1),
                ("window_packets", INSTANT, step.window),
            ];
            put(rows.row(at.seconds(), flow as u32), &columns);
        }
    }
    rows.table("flows", "flow", flow_names(scenario))
}
