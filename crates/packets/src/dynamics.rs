//! Samples of each round, where a scenario requests numbers of behaviour over time. Without them nothing here is called.

use penstock_law::quantity::Time;
use penstock_link::{Extent, Glance, Histogram};
use penstock_scenario::dynamics::loss::{Drops, Gaps};
use penstock_scenario::dynamics::{FlowRound, LinkRound, rounds_within};
use penstock_scenario::model::Scenario;

/// Counters of a flow since the start of the run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    /// User data that has arrived, in order or not, each byte once [B].
    pub(crate) arrived: u64,
    /// Data packets sent, and lost.
    pub(crate) sent: u64,
    pub(crate) lost: u64,
}

/// The samples of a run, and when the next are due.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub(crate) round: Time,
    next: u64,
    /// Of each link, one a round.
    pub(crate) links: Vec<Vec<LinkRound>>,
    /// Of each flow, one a round.
    pub(crate) flows: Vec<Vec<FlowRound>>,
    links_before: Vec<Glance>,
    flows_before: Vec<Done>,
}

impl Rounds {
    /// Those of a scenario, if it requests such.
    pub(crate) fn of(scenario: &Scenario) -> Option<Self> {
        let round = scenario.dynamics?.round;
        let (links, flows) = (scenario.links.len(), flows(scenario));
        // To the last place: a list that doubles would keep room for as many again.
        let rounds = (scenario.duration.0 / round.0) as usize;
        Some(Self {
            round,
            next: round.0,
            links: (0..links).map(|_| Vec::with_capacity(rounds)).collect(),
            flows: (0..flows).map(|_| Vec::with_capacity(rounds)).collect(),
            links_before: vec![Glance::default(); links],
            flows_before: vec![Done::default(); flows],
        })
    }

    /// When the round ends.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// The rounds of a flow that lie wholly between two times, and how long after the first of these they begin.
    pub(crate) fn of_flow(&self, flow: usize, between: (Time, Time)) -> (&[FlowRound], Time) {
        let rows = &self.flows[flow];
        let (range, offset) = rounds_within(self.round, between, rows.len());
        (&rows[range], offset)
    }

    /// The round ends: each link's counts, waiting times and capacity [bit], and each flow's counts.
    pub(crate) fn take(
        &mut self,
        links: impl Iterator<Item = (Glance, Extent, f64)>,
        flows: impl Iterator<Item = Done>,
    ) {
        self.next += self.round.0;
        for ((rows, before), (glance, waits, capacity_bits)) in
            self.links.iter_mut().zip(&mut self.links_before).zip(links)
        {
            rows.push(link_round(before, &glance, &waits, capacity_bits));
            *before = glance;
        }
        for ((rows, before), done) in self.flows.iter_mut().zip(&mut self.flows_before).zip(flows) {
            rows.push(FlowRound {
                arrived_bytes: done.arrived.saturating_sub(before.arrived) as f32,
                sent: (done.sent - before.sent) as u32,
                lost: (done.lost - before.lost) as u32,
            });
            *before = done;
        }
    }
}

fn link_round(before: &Glance, now: &Glance, waits: &Extent, capacity_bits: f64) -> LinkRound {
    let ns = |ns: u64| ns as f64 * 1e-9;
    let at_end = now.delay.map(|delay| ns(delay.0 / 1000));
    let (least, largest, mean) = if waits.weight == 0 {
        // Where nothing will ever leave, as much as can be said is that it waits.
        let delay = at_end.unwrap_or(f64::from(f32::MAX));
        (delay, delay, delay)
    } else {
        let least = ns(waits.least);
        let mean = waits.sum as f64 * 1e-9 / waits.weight as f64;
        (at_end.map_or(least, |delay| least.min(delay)), ns(waits.largest), mean)
    };
    LinkRound {
        least_s: least as f32,
        largest_s: largest as f32,
        mean_s: mean as f32,
        packets: waits.weight as u32,
        arrivals: (now.arrivals - before.arrivals) as u32,
        drops: (now.drops - before.drops) as u32,
        bits: ((now.departed_bytes - before.departed_bytes) * 8) as f32,
        capacity_bits: capacity_bits as f32,
    }
}

/// Additional counters per packet, where a scenario requests numbers of behaviour over time; empty otherwise.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// By link.
    pub(crate) drops: Vec<Drops>,
    /// One-way delays of data packets by group, in units of the clock.
    pub(crate) delays: Vec<Histogram>,
    /// Unit of the stamps [ps].
    unit: u64,
    /// The link at which something is happening, when, and how many packets have arrived there.
    here: (usize, Time, u64),
}

/// Their totals at an end of a span.
#[derive(Debug, Default)]
pub(crate) struct Edge {
    /// By link.
    pub(crate) gaps: Vec<Gaps>,
    /// Data packets dropped, by link and flow.
    pub(crate) dropped: Vec<Vec<u64>>,
    /// By group.
    pub(crate) delays: Vec<Histogram>,
}

/// Bits of a stamp, as a data packet has them.
const STAMP: u32 = 30;

/// Stamps divide a round into so many parts, and repeat after 65536 rounds.
const PARTS: u64 = 1 << 14;

impl Counted {
    /// Nothing yet, of a scenario.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let Some(dynamics) = scenario.dynamics else { return Self::default() };
        Self {
            drops: scenario.links.iter().map(|_| Drops::new(dynamics.round, flows(scenario))).collect(),
            delays: vec![Histogram::default(); scenario.groups.len()],
            unit: (dynamics.round.0 / PARTS).max(1),
            here: (0, Time::ZERO, 0),
        }
    }

    /// Whether there is anything to count.
    pub(crate) fn any(&self) -> bool {
        self.unit > 0
    }

    /// Packets may be dropped at a link now, where so many have arrived.
    #[cold]
    pub(crate) fn at_link(&mut self, link: usize, now: Time, arrivals: u64) {
        self.here = (link, now, arrivals);
    }

    /// A packet of a flow is dropped there; `data` is false for an acknowledgement.
    #[cold]
    pub(crate) fn dropped(&mut self, flow: u32, data: bool) {
        let (link, now, arrivals) = self.here;
        if let Some(drops) = self.drops.get_mut(link) {
            drops.add(now, arrivals, flow as usize, data);
        }
    }

    /// The stamp of a data packet that is sent at `now`.
    pub(crate) fn stamp(&self, now: u64) -> u32 {
        ((now / self.unit) & ((1 << STAMP) - 1)) as u32
    }

    /// A data packet of a group with stamps arrives at `now`.
    pub(crate) fn arrived(&mut self, group: usize, stamp: u32, now: u64) {
        let delay = self.stamp(now).wrapping_sub(stamp) & ((1 << STAMP) - 1);
        if let Some(delays) = self.delays.get_mut(group) {
            delays.add(u64::from(delay), 1);
        }
    }

    /// The totals of all of it.
    pub(crate) fn edge(&self) -> Edge {
        Edge {
            gaps: self.drops.iter().map(Drops::gaps).collect(),
            dropped: self.drops.iter().map(|drops| drops.of_flows().to_vec()).collect(),
            delays: self.delays.clone(),
        }
    }

    /// A number of units of the clock [s].
    pub(crate) fn seconds(&self, units: f64) -> f64 {
        units * self.unit as f64 * 1e-12
    }
}

fn flows(scenario: &Scenario) -> usize {
    scenario.groups.values().map(|group| group.count as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits of 2 ms and 5 ms, and 1 ms for one who would come at the end.
    #[test]
    fn a_round_of_a_link() {
        let ms = |ms: u64| Time(ms * 1_000_000_000);
        let before = Glance { arrivals: 10, drops: 1, departed_bytes: 3000, delay: Some(ms(7)) };
        let now = Glance { arrivals: 13, drops: 2, departed_bytes: 6000, delay: Some(ms(1)) };
        let waits = Extent { least: 2_000_000, largest: 5_000_000, sum: 7_000_000, weight: 2 };
        let round = link_round(&before, &now, &waits, 48_000.0);
        let wanted = LinkRound {
            least_s: 1e-3,
            largest_s: 5e-3,
            mean_s: 3.5e-3,
            packets: 2,
            arrivals: 3,
            drops: 1,
            bits: 24_000.0,
            capacity_bits: 48_000.0,
        };
        assert_eq!(round, wanted);
        let nothing = link_round(&now, &now, &Extent::default(), 0.0);
        assert_eq!((nothing.least_s, nothing.largest_s, nothing.packets), (1e-3, 1e-3, 0));
        let later = Glance { delay: Some(ms(3)), ..now };
        assert_eq!(link_round(&before, &later, &waits, 0.0).least_s, 2e-3);
    }

    #[test]
    fn a_stamp_that_has_begun_again_is_no_longer_delay() {
        let mut counted = Counted { unit: 1000, delays: vec![Histogram::default()], ..Counted::default() };
        let last = (1u64 << STAMP) * 1000 - 2000;
        let stamp = counted.stamp(last);
        counted.arrived(0, stamp, last + 7000);
        assert_eq!(counted.delays[0].quantile(1.0), Some(7.0));
        assert!((counted.seconds(7.0) - 7e-9).abs() < 1e-18);
        assert!(!Counted::default().any());
    }
}
