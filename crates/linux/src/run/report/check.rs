//! Whether the thing measured was the thing configured.

use indexmap::IndexMap;
use penstock_law::quantity::Time;
use penstock_scenario::model::Scenario;
use penstock_scenario::summary::{Measured as Span, PathSummary};

use super::super::measured::Measured;
use super::super::plan::Source;
use super::super::sender::Told;

/// A link that uses less of its capacity is no bottleneck.
const BUSY: f64 = 0.9;
/// A sender that something else held for more of its time than this is reported.
const HELD: f64 = 0.01;
/// Sources of datagrams may be so much of the run behind at its end, and senders of this process wait so much of it.
const BEHIND: f64 = 0.01;

/// The error of the path, and the self-check of its ends.
pub(super) fn check(scenario: &Scenario, run: &Measured, span: &Span) -> PathSummary {
    let outcome = &run.outcome;
    let error = outcome.lateness.sum_up(run.bound);
    let mut beyond = error.beyond;
    let mut findings = run.plan.findings.clone();
    findings.extend(run.costs.iter().cloned());
    let last = run.sent.boundaries.last().map(|reading| reading.flows.as_slice()).unwrap_or_default();
    let mut sockets = IndexMap::new();
    for (number, name) in scenario.groups.keys().enumerate() {
        let of_group = || (0..).zip(&run.plan.flows).filter(move |(_, plan)| plan.group == number);
        let mut kinds: Vec<String> = Vec::new();
        for (at, plan) in of_group() {
            if !plan.source.is_reliable() {
                continue;
            }
            let in_effect: Option<&str> = run.sent.controllers.get(at).and_then(|name| name.as_deref());
            let (Some(in_effect), Some(told)) = (in_effect, last.get(at)) else {
                // A flow that waits for arrivals may have got none.
                if plan.start < outcome.end && scenario.groups[number].repeats.is_none() {
                    beyond.push(format!("{name}/{at}: never connected"));
                }
                continue;
            };
            let Source::Tcp { controller, sack } = &plan.source else {
                kinds.push(in_effect.to_owned());
                continue;
            };
            if in_effect != controller.name() {
                beyond.push(format!("{name}: the controller is {in_effect}, not {}", controller.name()));
            }
            // One that was still connecting has agreed on nothing yet.
            kinds.extend(told.info.established.then(|| kind(controller.shown(in_effect), told)));
            beyond.extend(disagreements(name, run, at, *sack, told));
        }
        kinds.sort_unstable();
        kinds.dedup();
        if !kinds.is_empty() {
            sockets.insert(name.clone(), kinds.join("; "));
        }
        let sum =
            |f: fn(&Told) -> Time| of_group().filter_map(|(at, _)| last.get(at)).map(|t| f(t).seconds()).sum::<f64>();
        let busy = sum(|told| told.busy);
        for (held, by) in [
            (sum(|told| told.held_by_receiver), "the receiver's window"),
            (sum(|told| told.held_by_buffer), "the sender's buffer"),
        ] {
            if held > HELD * busy {
                findings.push(format!(
                    "{name}: {by} limited its flows for {:.0} % of their busy time",
                    100.0 * held / busy
                ));
            }
        }
    }
    beyond.dedup();
    if run.behind.seconds() > BEHIND * outcome.end.seconds() {
        beyond.push(format!("the `cbr` sources were {} behind their schedule at the end", run.behind));
    }
    for (end, late) in [("sending", run.sent.late), ("receiving", run.receiver_late)] {
        if late.seconds() > BEHIND * outcome.end.seconds() {
            beyond.push(format!("the program at the {end} end waited {late} for a processor"));
        }
    }
    if let Some(burst) = run.plan.habits.burst {
        findings.push(format!(
            "segmentation offload hands over {burst} packets at once at most; every packet is treated alone"
        ));
    }
    let busiest = span.links.iter().max_by(|a, b| a.1.utilization.total_cmp(&b.1.utilization));
    if let Some((name, link)) = busiest.filter(|(_, link)| link.utilization < BUSY) {
        let percent = 100.0 * link.utilization;
        findings.push(format!("no link was a bottleneck: the busiest, {name}, carried {percent:.0} % of its capacity"));
    }
    for (name, link) in &span.links {
        if link.drops + link.marks > 0 {
            findings.push(format!("{name}: {} drops, {} marks", link.drops, link.marks));
        }
    }
    if outcome.refused > 0 {
        findings.push(format!("an end refused {} packets because of their content", outcome.refused));
    }
    PathSummary {
        within_bound: beyond.is_empty(),
        lateness_bound_s: error.bound.lateness_p99.seconds(),
        lateness_p50_s: error.lateness_p50.map(Time::seconds),
        lateness_p99_s: error.lateness_p99.map(Time::seconds),
        lateness_p999_s: error.lateness_p999.map(Time::seconds),
        lateness_max_s: error.latest.seconds(),
        gap_bound_s: error.bound.longest_gap.seconds(),
        gap_max_s: error.longest_gap.seconds(),
        gaps_above_500_us: Some(error.short_gaps),
        gaps_above_5_ms: error.gaps,
        stolen_s: outcome.stolen.map(|stolen| stolen.as_secs_f64()),
        processors_awake: (outcome.awake > 0).then_some(outcome.awake),
        device_drops: error.device_drops,
        not_carried: outcome.strangers + outcome.flawed + outcome.refused,
        packets: error.packets,
        scheduling: outcome.scheduling.clone(),
        bottleneck: busiest.filter(|(_, link)| link.utilization >= BUSY).map(|(name, _)| name.clone()),
        sockets,
        beyond,
        findings,
    }
}

/// A socket, in a few words.
fn kind(controller: &str, told: &Told) -> String {
    let mut words = vec![controller];
    let info = &told.info;
    words.extend(info.ecn.then_some("ECN"));
    words.extend(info.sack.then_some("SACK"));
    words.extend(info.timestamps.then_some("timestamps"));
    let segment = info.segment;
    format!("{}, {segment} B a segment", words.join(", "))
}

/// Features of a socket negotiated without a request, or not negotiated despite one.
fn disagreements(name: &str, run: &Measured, at: usize, sack: bool, told: &Told) -> Vec<String> {
    let habits = &run.plan.habits;
    let info = &told.info;
    if !info.established && told.completed.is_none() {
        return Vec::new();
    }
    let pairs = [
        ("ECN", habits.flows[at].ecn, info.ecn),
        ("SACK", sack, info.sack),
        ("timestamps", habits.timestamps, info.timestamps),
    ];
    let wrong = pairs.iter().filter(|(_, asked, agreed)| asked != agreed);
    wrong
        .map(|(what, asked, agreed)| {
            format!("{name}: {what} is {asked} in the scenario, but {agreed} in the connection")
        })
        .collect()
}
