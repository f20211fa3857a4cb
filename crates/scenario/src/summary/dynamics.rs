//! Numbers of behaviour over time, with `[dynamics]`. R is the round.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One link over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkDynamics {
    /// Median time from arrival to the start of transmission, over packets; absent if none passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queueing_delay_p50_s: Option<f64>,
    /// 95th percentile of that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queueing_delay_p95_s: Option<f64>,
    /// `drops` over `arrivals`; absent if nothing arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_ratio: Option<f64>,
    /// Standing queue: the least queueing delay in each window of 10 R, averaged over successive windows. Absent in spans of
    /// fewer than 10 R.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing_queue_s: Option<f64>,
    /// The same in units of R.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing_queue_rounds: Option<f64>,
    /// Packets that arrived between a drop and the one before, averaged over drops (RFC 7928, section 2.3). Drops count at the
    /// moment of the drop, packets that have waited too. Absent if there was no drop that had one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_gap_mean_packets: Option<f64>,
    /// Share of the drops for which that number is zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjacent_losses: Option<f64>,
    /// Share of the flows across the link, data or acknowledgements, that lose in a loss event, averaged over events (RFC 7928,
    /// section 2.4). An event has the drops within R of its first. Flows count from their start until they stop or finish
    /// their only transfer. Absent without drops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synchronization: Option<f64>,
    /// Share of the user data sent by the link that was new to its receiver: not sent again needlessly, and not lost on a link
    /// behind this one. Packets count as full ones, when they arrive or are lost; those of the flows whose data cross the link.
    /// Absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub useful: Option<f64>,
    /// Share of the bits that the link could send which new user data took, with the headers of full packets: what arrives of
    /// the flows whose data cross the link, in any order, over the link's rate without headers. In `utilization`, acknowledgements count too,
    /// and data that are sent again needlessly or lost behind the link. Absent if no flow's data cross the link, and if it
    /// could send nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub useful_utilization: Option<f64>,
    /// Time from the start of the span until the bits that leave are at least 60 % of those that could, in every window of 10 R
    /// from then to the end of the span; in steps of R. Absent if the last window is below, and in spans of fewer than 10 R.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settling_60_s: Option<f64>,
    /// The same with 80 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settling_80_s: Option<f64>,
    /// The same with 90 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settling_90_s: Option<f64>,
    /// Largest queueing delay of a packet, minus the mean over packets in the second half of the span. Absent if none passed
    /// then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_overshoot_s: Option<f64>,
    /// Packets dropped in the first 100 s of the span, or in all of it if it is shorter.
    pub drops_in_100_s: u64,
    /// The most successive intervals of 10 s, rounded to whole R, in which more than 10 % of the arrivals were dropped; absent
    /// in spans without a whole interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lossy_intervals: Option<u64>,
}

/// One group of flows over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupDynamics {
    /// Largest goodput of a flow over the smallest, each over the part of the span in which the flow was there, of flows that
    /// were there for at least half of it. A flow without goodput counts as one that delivered a packet. Absent if flows have a
    /// `size`, a `page`, a `video` or `on_off`, and with fewer than two flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starvation: Option<f64>,
    /// Largest share of the data packets of a flow that was lost in a round of R: those lost in it over those sent in it, at
    /// most 1. Rounds in which the flow sent fewer than 10 packets are left out; absent if all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_round_loss: Option<f64>,
    /// Coefficient of variation of a flow's goodput over successive windows of R, averaged over flows. Here and below goodput
    /// counts user data when it first arrives, in order or not. Flows that were there for fewer than two windows, or without
    /// goodput, are left out; absent if all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oscillation_1: Option<f64>,
    /// The same over windows of 10 R.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oscillation_10: Option<f64>,
    /// The same over windows of 100 R.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oscillation_100: Option<f64>,
    /// Time from a flow's start to the end of the first round of R with 0.8 of its final goodput, averaged over flows. The final
    /// goodput is the mean over the second half of the flow's time until the span ends. Flows count that start in the span, or
    /// during the warm-up of the whole span. Absent if none was there for 10 R.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_s: Option<f64>,
    /// Longest time in which no new data of a flow arrived, in whole rounds of R, of all flows. Absent if flows have a `size`, a
    /// `page`, a `video` or `on_off`, which may have nothing to send, and if no flow was there for a round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_silence_s: Option<f64>,
    /// 99th percentile of the one-way delay of the data packets that arrived, minus the smallest; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_variation_s: Option<f64>,
    /// Queueing delay against goodput; absent in spans of fewer than 20 R.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ellipse: Option<Ellipse>,
}

/// Queueing delay and goodput of a group, sampled in successive windows of 10 R (RFC 7928, section 2.7): the mean delay of the
/// packets at each link that the group's data cross, summed over links, and the goodput of all its flows together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ellipse {
    /// Median of the queueing delay.
    pub queueing_delay_p50_s: f64,
    /// Median of the goodput.
    pub goodput_p50_bit_per_s: f64,
    /// Standard deviation of the queueing delay.
    pub queueing_delay_sd_s: f64,
    /// Standard deviation of the goodput.
    pub goodput_sd_bit_per_s: f64,
    /// Correlation of the two; absent if one of them is constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<f64>,
}

/// The behaviour over time of all flows together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dynamics {
    /// The round R: the time that the definitions go by.
    pub round_s: f64,
    /// Time from the last start of a long flow in the span, or from the span's start if none starts in it, until each long flow
    /// gets what they get on average, within 10 %, in ten successive windows of 10 R. Long flows are those of groups without
    /// `size`, `page`, `video` and `on_off` that respond to congestion and do not stop before the span ends. Absent if they never
    /// do, and with fewer than two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair_time_s: Option<f64>,
    /// The same in units of R.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair_rounds: Option<f64>,
}
