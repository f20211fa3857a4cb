//! The hints in a run at the mechanism of a failure.

use penstock_law::quantity::Time;
use penstock_scenario::model::Scenario;
use penstock_scenario::summary::{FlowSummary, Summary};
use serde::{Deserialize, Serialize};

use crate::objective::{Role, role};

/// A mechanism that a run points to. Rules find it, which read the run and not the law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hint {
    /// The smallest round-trip sample of a flow is more than 10 % above its round-trip time without queues: it takes a queue for
    /// part of the path.
    BaseTooLong,
    /// The delay of the path changed by more than 10 % of a flow's smallest sample: that sample may be of a path that is gone.
    PoisonedMinimum,
    /// A flow that gets less than half of the mean has round trips more than 10 % above its smallest sample, and the packets of
    /// others do not wait that long.
    JitterReadAsQueue,
    /// More than three timeouts of a flow.
    TimeoutBound,
    /// The mean window of a flow is at most 2.5 packets.
    Floor,
    /// Cross traffic has a period within 10 % of a multiple of the minimum retransmission timeout.
    Resonance,
    /// More than 5 % of a flow's packets are lost.
    LossBound,
}

impl Hint {
    /// The hint in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::BaseTooLong => "a standing queue is taken for part of the path",
            Self::PoisonedMinimum => "the smallest round trip is of a path that is gone",
            Self::JitterReadAsQueue => "jitter is read as a queue",
            Self::TimeoutBound => "timeouts bound the rate",
            Self::Floor => "the window is at its floor",
            Self::Resonance => "cross traffic has the period of the retransmission timer",
            Self::LossBound => "losses bound the rate",
        }
    }
}

/// The hints that a run with the law under test gives, in the order of [`Hint`].
pub fn hints(scenario: &Scenario, summary: &Summary) -> Vec<Hint> {
    let tested: Vec<&FlowSummary> = summary.whole.flows.iter().filter(|flow| role(&flow.group) == Role::Test).collect();
    let any = |rule: &dyn Fn(&FlowSummary) -> bool| tested.iter().any(|flow| rule(flow));
    let mean = tested.iter().map(|flow| flow.goodput_bit_per_s).sum::<f64>() / tested.len().max(1) as f64;
    let least = tested.iter().filter_map(|flow| flow.rtt_mean_s).min_by(f64::total_cmp).unwrap_or(0.0);
    let ranges = scenario.links.values().map(|link| {
        let delays = || link.delays.iter().map(|(_, delay)| *delay).chain([link.delay]);
        delays().max().unwrap_or_default().seconds() - delays().min().unwrap_or_default().seconds()
    });
    let range = ranges.fold(0.0, f64::max);
    let late = |flow: &FlowSummary| {
        let smallest = flow.rtt_min_s.unwrap_or(f64::INFINITY);
        flow.goodput_bit_per_s < 0.5 * mean
            && flow.rtt_mean_s.is_some_and(|rtt| rtt > 1.1 * smallest && rtt > 1.05 * least)
    };
    let rules = [
        (
            Hint::BaseTooLong,
            any(&|flow| flow.rtt_min_s.is_some_and(|smallest| smallest > 1.1 * flow.rtt_s + serialization(scenario))),
        ),
        (
            Hint::PoisonedMinimum,
            range > 0.0 && any(&|flow| flow.rtt_min_s.is_some_and(|smallest| range > 0.1 * smallest)),
        ),
        (Hint::JitterReadAsQueue, any(&late)),
        (Hint::TimeoutBound, any(&|flow| flow.timeouts > 3)),
        (Hint::Floor, any(&|flow| flow.window_mean_packets.is_some_and(|window| window <= 2.5))),
        (Hint::Resonance, resonates(scenario)),
        (Hint::LossBound, any(&|flow| flow.loss_rate > 0.05)),
    ];
    rules.into_iter().filter(|(_, holds)| *holds).map(|(hint, _)| hint).collect()
}

/// The time of a packet to leave all links [s].
fn serialization(scenario: &Scenario) -> f64 {
    scenario.links.values().map(|link| scenario.packet.wire.bits() / link.rate.bit_per_s().max(1.0)).sum()
}

fn resonates(scenario: &Scenario) -> bool {
    let timeouts = scenario.groups.iter().filter(|(name, _)| role(name) == Role::Test);
    let timeout = timeouts.map(|(_, group)| group.sender.min_rto).min().unwrap_or(Time(0)).seconds();
    let crossing = scenario.groups.iter().filter(|(name, _)| role(name) == Role::Cross);
    let periods = crossing.filter_map(|(_, group)| {
        use penstock_scenario::model::Span::Fixed;
        match group.on_off {
            Some((Fixed(on), Fixed(off))) => Some((on + off).seconds()),
            _ => None,
        }
    });
    timeout > 0.0
        && periods.into_iter().any(|period| {
            let multiple = libm::round(period / timeout).max(1.0);
            (period / timeout - multiple).abs() <= 0.1 * multiple
        })
}
