//! Series of links, groups and flows, in the columns of the packets world.

use penstock_law::quantity::Time;
use penstock_link::{Counters, LINK_COLUMNS};
use penstock_scenario::model::Scenario;
use penstock_scenario::world::{Kind, Row, Rows, Table};

use super::super::Measured;
use super::super::plan::Source;
use super::super::sender::{Reading, Told};
use crate::path::emulation::Passed;
use crate::path::router::Sample;

fn put<'a>(row: Row<'a>, own: &[(&str, Kind, f64)]) -> Row<'a> {
    own.iter().fold(row, |row, (name, kind, value)| row.named(name, *kind, *value))
}

const AVERAGE: Kind = Kind::Average;
const INSTANT: Kind = Kind::Instant;

/// Every table of a run.
pub(super) fn series(scenario: &Scenario, run: &Measured) -> Vec<Table> {
    let mut tables = vec![links(scenario, run), groups(scenario, run)];
    if scenario.groups.values().any(|group| group.series) {
        tables.push(flows(scenario, run));
    }
    tables
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

/// What one flow did in a sampling period.
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
    let payload = scenario.packet.payload.bits();
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
            let tcp = matches!(run.plan.flows[at].source, Source::Tcp { .. });
            let delivered = (q.delivered - p.delivered) as f64 / seconds;
            Step {
                goodput: if tcp { (b.received - a.received) as f64 * 8.0 / at_ends } else { delivered * payload },
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

/// Series of the flows of the groups that ask for them.
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
    let names = groups.iter().flat_map(|(name, group)| (0..group.count).map(move |index| format!("{name}/{index}")));
    rows.table("flows", "flow", names.collect())
}
