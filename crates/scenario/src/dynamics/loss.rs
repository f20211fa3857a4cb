//! The pattern of losses: in rounds, on flows, one after the other.

use penstock_law::quantity::Time;

use super::rounds::FlowRound;

/// Rounds of fewer packets have too little weight.
const LEAST_SENT: u32 = 10;

/// Worst round: the largest share of the packets of a flow that were lost in a round, those lost over those sent, at most 1.
/// Rounds in which the flow sent fewer than 10 packets are left out; none if that leaves nothing.
pub fn worst_round<'a>(flows: impl IntoIterator<Item = &'a [FlowRound]>) -> Option<f64> {
    let rounds = flows.into_iter().flatten().filter(|round| round.sent >= LEAST_SENT);
    rounds.map(|round| (f64::from(round.lost) / f64::from(round.sent)).min(1.0)).reduce(f64::max)
}

/// A loss event of a link: the drops within one round of its first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossEvent {
    /// When the first packet was dropped.
    pub at: Time,
    /// Flows that lost.
    pub flows: u32,
}

/// The drops of a link, as they come.
#[derive(Debug, Clone, PartialEq)]
pub struct Drops {
    round: Time,
    counted: Gaps,
    /// Arrivals until the drop before.
    before: Option<u64>,
    /// Which event each flow has lost in last, counted from 1.
    lost_in: Vec<u32>,
    /// Data packets dropped, of each flow.
    of_flows: Vec<u64>,
    events: Vec<LossEvent>,
}

/// The gaps between drops, from the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Drops that had one before them.
    pub drops: u64,
    /// Packets that arrived between a drop and the one before, summed.
    pub between: u64,
    /// Drops between which none did.
    pub adjacent: u64,
}

impl Drops {
    /// None yet, of so many flows.
    pub fn new(round: Time, flows: usize) -> Self {
        let (lost_in, of_flows) = (vec![0; flows], vec![0; flows]);
        Self { round, counted: Gaps::default(), before: None, lost_in, of_flows, events: Vec::new() }
    }

    /// A packet of a flow was dropped at `now`, when so many had arrived; `data` is false for an acknowledgement.
    pub fn add(&mut self, now: Time, arrivals: u64, flow: usize, data: bool) {
        if let Some(before) = self.before.replace(arrivals) {
            let between = arrivals.saturating_sub(before + 1);
            self.counted.drops += 1;
            self.counted.between += between;
            self.counted.adjacent += u64::from(between == 0);
        }
        if self.events.last().is_none_or(|event| now.since(event.at) > self.round) {
            self.events.push(LossEvent { at: now, flows: 0 });
        }
        let number = self.events.len() as u32;
        if let (Some(lost_in), Some(event)) = (self.lost_in.get_mut(flow), self.events.last_mut())
            && *lost_in != number
        {
            *lost_in = number;
            event.flows += 1;
        }
        if let Some(of_flow) = self.of_flows.get_mut(flow).filter(|_| data) {
            *of_flow += 1;
        }
    }

    /// The gaps between drops until now.
    pub fn gaps(&self) -> Gaps {
        self.counted
    }

    /// Data packets dropped until now, of each flow.
    pub fn of_flows(&self) -> &[u64] {
        &self.of_flows
    }

    /// Loss events, in the order of time.
    pub fn events(&self) -> &[LossEvent] {
        &self.events
    }
}

impl Gaps {
    /// The gaps between two snapshots: the mean number of packets between a drop and the one before, and the share of drops
    /// with none. None without drops. (RFC 7928, section 2.3.)
    pub fn since(&self, earlier: &Self) -> Option<(f64, f64)> {
        let drops = (self.drops - earlier.drops) as f64;
        let mean = |count: u64| count as f64 / drops;
        (drops > 0.0).then(|| (mean(self.between - earlier.between), mean(self.adjacent - earlier.adjacent)))
    }
}

/// Synchronization: the share of flows that lose in a loss event, averaged over events. `lives` are the times between which the
/// flows that cross the link are there. None without events. (RFC 7928, section 2.4.)
pub fn synchronization(events: &[LossEvent], lives: &[(Time, Time)]) -> Option<f64> {
    let share = |event: &LossEvent| {
        let there = lives.iter().filter(|(begun, ended)| *begun <= event.at && event.at < *ended).count();
        // What is under way when a flow ends may be lost after it.
        f64::from(event.flows) / (there as f64).max(f64::from(event.flows))
    };
    (!events.is_empty()).then(|| events.iter().map(share).sum::<f64>() / events.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000_000)
    }

    #[test]
    fn the_worst_round_of_any_flow() {
        let round = |sent, lost| FlowRound { arrived_bytes: 0.0, sent, lost };
        let (one, other) = ([round(100, 1), round(9, 9)], [round(10, 3), round(50, 2)]);
        assert_eq!(worst_round([&one[..], &other[..]]), Some(0.3));
        assert_eq!(worst_round([&one[..1]]), Some(0.01));
        assert_eq!(worst_round([&one[1..]]), None, "of 9 packets");
        // What was sent in the round before.
        assert_eq!(worst_round([&[round(20, 30)][..]]), Some(1.0));
    }

    /// The 10th, 11th, 15th and 40th packet: 0, 3 and 24 between them.
    #[test]
    fn gaps_between_drops() {
        let mut drops = Drops::new(ms(40), 2);
        let mut readings = vec![drops.gaps()];
        for (at, arrivals) in [10, 11, 15, 40].into_iter().enumerate() {
            drops.add(ms(at as u64), arrivals, 0, at != 1);
            readings.push(drops.gaps());
        }
        assert_eq!(readings[4].since(&readings[0]), Some((9.0, 1.0 / 3.0)));
        assert_eq!(readings[4].since(&readings[2]), Some((13.5, 0.0)));
        assert_eq!(readings[1].since(&readings[0]), None, "no gap yet");
        assert_eq!(drops.of_flows(), [3, 0]);
    }

    /// Three of four flows lose within 40 ms, then one of the two that are left.
    #[test]
    fn an_event_lasts_a_round() {
        let mut drops = Drops::new(ms(40), 4);
        for (at, flow) in [(100, 0), (101, 1), (102, 0), (140, 2), (141, 3), (150, 3)] {
            drops.add(ms(at), at, flow, true);
        }
        let events = drops.events();
        assert_eq!(events, [LossEvent { at: ms(100), flows: 3 }, LossEvent { at: ms(141), flows: 1 }]);
        let lives = [(ms(0), Time::NEVER), (ms(0), ms(141)), (ms(50), Time::NEVER), (ms(50), ms(120))];
        assert_eq!(synchronization(events, &lives), Some(0.625));
        assert_eq!(synchronization(&events[..1], &lives), Some(0.75));
        assert_eq!(synchronization(&events[..1], &[]), Some(1.0));
        assert_eq!(synchronization(&[], &lives), None);
    }
}
