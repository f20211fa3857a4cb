//! Numbers of behaviour over time, of one span.

use std::ops::Range;

use penstock_law::quantity::Time;
use penstock_scenario::dynamics::ellipse::Ellipse;
use penstock_scenario::dynamics::{FlowRound, LinkRound, WINDOW, link, loss, rounds_within, share};
use penstock_scenario::model::Group;
use penstock_scenario::summary::{self, Dynamics, FlowSummary, GroupDynamics, LinkDynamics, LinkSummary};

use super::Span;
use crate::dynamics::Rounds;

/// A link is lossy with a larger share of drops among the arrivals of such an interval.
const LOSSY: f64 = 0.1;
const INTERVAL: Time = Time(10 * Time::PER_SECOND);

/// Time after the start of a span in which drops count (draft-irtf-iccrg-tcpeval, section 5.3).
const DROPS: Time = Time(100 * Time::PER_SECOND);

/// Largest distance of a flow from its share where all share fairly.
const TOLERANCE: f64 = 0.1;

impl Span<'_> {
    fn times(&self) -> (Time, Time) {
        let (a, b) = self.ends();
        (a.at, b.at)
    }

    /// The rounds of a flow in the span for which it was there.
    fn rounds_there<'a>(&self, rounds: &'a Rounds, flow: usize) -> &'a [FlowRound] {
        rounds.of_flow(flow, self.there(flow)).0
    }

    /// The part of the span for which a flow was there.
    fn there(&self, flow: usize) -> (Time, Time) {
        let ((from, to), (begun, ended)) = (self.times(), self.life(flow));
        (from.max(begun), to.min(ended))
    }

    pub(super) fn link_dynamics(&self, at: usize, of: &LinkSummary) -> Option<LinkDynamics> {
        let rounds = self.rounds?;
        let (round, (a, b), (from, to)) = (rounds.round, self.ends(), self.times());
        let (range, offset) = rounds_within(round, (from, to), rounds.links[at].len());
        let rows = &rounds.links[at][range];
        let wait = b.ports[at].by_wait.since(&a.ports[at].by_wait);
        let standing = link::standing_queue_s(rows);
        let gaps = b.edge.gaps[at].since(&a.edge.gaps[at]);
        let settles = |level| link::settling_s(rows, level, round, offset);
        Some(LinkDynamics {
            queueing_delay_p50_s: wait.quantile(0.5).map(|ns| ns * 1e-9),
            queueing_delay_p95_s: wait.quantile(0.95).map(|ns| ns * 1e-9),
            loss_ratio: (of.arrivals > 0).then(|| of.drops as f64 / of.arrivals as f64),
            standing_queue_s: standing,
            standing_queue_rounds: standing.map(|standing| standing / round.seconds()),
            loss_gap_mean_packets: gaps.map(|(mean, _)| mean),
            adjacent_losses: gaps.map(|(_, adjacent)| adjacent),
            synchronization: self.synchronization(at),
            useful: self.useful(at),
            useful_utilization: self.useful_utilization(at),
            settling_60_s: settles(0.6),
            settling_80_s: settles(0.8),
            settling_90_s: settles(0.9),
            queue_overshoot_s: link::overshoot_s(rows),
            drops_in_100_s: link::drops_within(rows, DROPS, round),
            lossy_intervals: link::lossy_intervals(rows, LOSSY, INTERVAL, round),
        })
    }

    /// The flows of groups for which `crosses` is true.
    fn flows_of(&self, crosses: impl Fn(&Group) -> bool) -> impl Iterator<Item = (usize, &Group)> {
        let groups = &self.scenario.groups;
        let of = |at: usize| (at, &groups[self.engine.flows[at].group as usize]);
        (0..self.engine.flows.len()).map(of).filter(move |(_, group)| crosses(group))
    }

    fn synchronization(&self, at: usize) -> Option<f64> {
        let ((from, to), (name, _)) = (self.times(), self.scenario.links.get_index(at)?);
        let events = self.engine.counted.drops[at].events();
        let first = events.partition_point(|event| event.at <= from);
        let last = events.partition_point(|event| event.at <= to);
        let crosses = |group: &Group| group.forward.contains(name) || group.backward.contains(name);
        let lives: Vec<(Time, Time)> = self.flows_of(crosses).map(|(flow, _)| self.life(flow)).collect();
        loss::synchronization(&events[first..last], &lives)
    }

    fn useful(&self, at: usize) -> Option<f64> {
        let ((a, b), (name, _)) = (self.ends(), self.scenario.links.get_index(at)?);
        let (mut new, mut carried) = (0, 0);
        for (flow, group) in self.flows_of(|group| group.forward.contains(name)) {
            let payload = group.packet(self.scenario.packet).payload.0;
            let arrived = b.flows[flow].got.packets - a.flows[flow].got.packets;
            let behind = group.forward.iter().skip_while(|link| *link != name).skip(1);
            let dropped = behind.filter_map(|link| {
                let link = self.scenario.links.get_index_of(link)?;
                Some(b.edge.dropped[link][flow] - a.edge.dropped[link][flow])
            });
            new += self.new_packets(flow) * payload;
            carried += (arrived + dropped.sum::<u64>()) * payload;
        }
        (carried > 0).then(|| new as f64 / carried as f64)
    }

    /// Packets of a flow that its receiver did not have.
    fn new_packets(&self, flow: usize) -> u64 {
        let (a, b) = self.ends();
        let (before, now) = (&a.flows[flow].got, &b.flows[flow].got);
        (now.packets - before.packets) - (now.again - before.again)
    }

    fn useful_utilization(&self, at: usize) -> Option<f64> {
        let ((a, b), (name, _)) = (self.ends(), self.scenario.links.get_index(at)?);
        let wire_bits = |(flow, group): (usize, &Group)| {
            self.new_packets(flow) as f64 * group.packet(self.scenario.packet).wire.bits()
        };
        let each: Vec<f64> = self.flows_of(|group| group.forward.contains(name)).map(wire_bits).collect();
        let capacity = self.engine.links[at].station.capacity_bits(a.at, b.at);
        (!each.is_empty() && capacity > 0.0).then(|| each.iter().sum::<f64>() / capacity)
    }

    /// Whether flows of a group have data at all times, by the keys of the group itself.
    fn long(group: &Group) -> bool {
        !group.transfers() && group.on_off.is_none()
    }

    pub(super) fn group_dynamics(
        &self,
        number: usize,
        flows: Range<usize>,
        rows: &[FlowSummary],
    ) -> Option<GroupDynamics> {
        let rounds = self.rounds?;
        let ((a, b), (_, group)) = (self.ends(), self.scenario.groups.get_index(number)?);
        let oscillation =
            |windows| share::oscillation(flows.clone().map(|flow| self.rounds_there(rounds, flow)), windows);
        let delays = b.edge.delays[number].since(&a.edge.delays[number]);
        let spread = |most: f64, least: f64| self.engine.counted.seconds(most - least);
        Some(GroupDynamics {
            starvation: self.starvation(group, flows.clone(), rows),
            worst_round_loss: loss::worst_round(flows.clone().map(|flow| rounds.of_flow(flow, self.times()).0)),
            oscillation_1: oscillation(1),
            oscillation_10: oscillation(10),
            oscillation_100: oscillation(100),
            startup_s: share::mean(flows.clone().filter_map(|flow| self.startup_s(rounds, flow))),
            longest_silence_s: self.longest_silence_s(rounds, group, flows.clone()),
            delay_variation_s: delays.quantile(0.99).zip(delays.quantile(0.0)).map(|(most, least)| spread(most, least)),
            ellipse: self.ellipse(rounds, group, flows),
        })
    }

    fn starvation(&self, group: &Group, flows: Range<usize>, rows: &[FlowSummary]) -> Option<f64> {
        let seconds = self.seconds();
        let packet = group.packet(self.scenario.packet).payload.bits();
        let there = flows.zip(rows).filter_map(|(flow, row)| {
            let (from, to) = self.there(flow);
            let there = to.since(from).seconds();
            (2.0 * there >= seconds).then(|| (row.goodput_bit_per_s * seconds / there, packet / there))
        });
        if Self::long(group) { share::starvation(there) } else { None }
    }

    fn startup_s(&self, rounds: &Rounds, flow: usize) -> Option<f64> {
        let (begun, ended) = self.life(flow);
        let (_, to) = self.times();
        let (rows, offset) = rounds.of_flow(flow, (begun, to.min(ended)));
        (self.since <= begun && begun < to).then(|| share::startup_s(rows, rounds.round, offset)).flatten()
    }

    fn longest_silence_s(&self, rounds: &Rounds, group: &Group, flows: Range<usize>) -> Option<f64> {
        let there = flows.map(|flow| self.rounds_there(rounds, flow)).filter(|rows| !rows.is_empty());
        let longest = there.map(share::longest_silence).max().filter(|_| Self::long(group))?;
        Some(longest as f64 * rounds.round.seconds())
    }

    fn ellipse(&self, rounds: &Rounds, group: &Group, flows: Range<usize>) -> Option<summary::Ellipse> {
        let links: Vec<&[LinkRound]> = group
            .forward
            .iter()
            .filter_map(|name| self.scenario.links.get_index_of(name))
            .map(|at| &rounds.links[at][rounds_within(rounds.round, self.times(), rounds.links[at].len()).0])
            .collect();
        let flows: Vec<&[FlowRound]> = flows.map(|flow| rounds.of_flow(flow, self.times()).0).collect();
        let windows = flows.first()?.len() / WINDOW;
        let seconds = rounds.round.seconds() * WINDOW as f64;
        let sample = |window: usize| {
            let rows = window * WINDOW..(window + 1) * WINDOW;
            let delay = links.iter().map(|link| link::mean_delay_s(&link[rows.clone()])).sum::<f64>();
            let bytes: f64 =
                flows.iter().flat_map(|flow| &flow[rows.clone()]).map(|round| f64::from(round.arrived_bytes)).sum();
            (delay, bytes * 8.0 / seconds)
        };
        let ellipse = Ellipse::of(&(0..windows).map(sample).collect::<Vec<_>>())?;
        Some(summary::Ellipse {
            queueing_delay_p50_s: ellipse.medians.0,
            goodput_p50_bit_per_s: ellipse.medians.1,
            queueing_delay_sd_s: ellipse.sds.0,
            goodput_sd_bit_per_s: ellipse.sds.1,
            correlation: ellipse.correlation,
        })
    }

    pub(super) fn dynamics(&self) -> Option<Dynamics> {
        let rounds = self.rounds?;
        let (from, to) = self.times();
        let responds = |group: &Group| group.requirements(self.scenario.packet).is_ok_and(|needs| needs.reliable);
        let stays = |group: &Group| Self::long(group) && responds(group) && group.stop.is_none_or(|stop| stop >= to);
        let long: Vec<usize> = self
            .flows_of(|_| true)
            .filter(|(flow, group)| self.life(*flow).0 < to && stays(group))
            .map(|(flow, _)| flow)
            .collect();
        // Nobody starts before the span here: what was before it is over.
        let last = long.iter().map(|flow| self.life(*flow).0).max().map_or(from, |start| start.max(from));
        let of_flows: Vec<(&[FlowRound], Time)> = long.iter().map(|flow| rounds.of_flow(*flow, (last, to))).collect();
        let rows: Vec<&[FlowRound]> = of_flows.iter().map(|(rows, _)| *rows).collect();
        let offset = of_flows.first().map_or(Time::ZERO, |(_, offset)| *offset);
        let fair = share::fair_rounds(&rows, TOLERANCE);
        let fair = fair.map(|fair| offset + Time(fair as u64 * rounds.round.0));
        Some(Dynamics {
            round_s: rounds.round.seconds(),
            fair_time_s: fair.map(Time::seconds),
            fair_rounds: fair.map(|fair| fair.0 as f64 / rounds.round.0 as f64),
        })
    }
}
