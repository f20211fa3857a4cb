//! `summary.json`: what a run measured, in numbers. A name that does not apply is absent, never null or a made-up zero.
//!
//! Times are in seconds, sizes in bits, bytes or packets as named, all over the measured span (warm-up left out).

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The summary of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The scenario's title.
    pub title: String,
    /// Where it ran.
    pub world: String,
    /// The scenario's seed.
    pub seed: u64,
    /// What was measured over the whole span after warm-up.
    #[serde(flatten)]
    pub whole: Measured,
    /// The same for each named window.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub windows: IndexMap<String, Measured>,
    /// How much was computed.
    pub engine: Engine,
    /// How far an emulated path was from what it should have been; absent where nothing is emulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathSummary>,
    /// What a reader should know before trusting the numbers; absent where nothing was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// A setting or an outcome that misleads whoever takes the numbers as they stand.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its kind.
    pub id: String,
    /// The key of the scenario that it is about, such as `flows.web.count`.
    pub subject: String,
    /// What was found, and what would do.
    pub text: String,
}

/// An emulated path over the whole run, warm-up included: its error, and what was found at its ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathSummary {
    /// Whether the run is as exact as the two bounds say, and was what the scenario says; where not, `beyond` says why.
    pub within_bound: bool,
    /// What the lateness of 99 % of the packets may be: a hundredth of the shortest round trip, and 100 us at least.
    pub lateness_bound_s: f64,
    /// When a packet was handed over less when it should have been, median; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_p50_s: Option<f64>,
    /// What that stayed at or below for 99 % of the packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_p99_s: Option<f64>,
    /// What it stayed at or below for 99.9 % of the packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_p999_s: Option<f64>,
    /// The latest packet's.
    pub lateness_max_s: f64,
    /// What the longest gap may be: a tenth of the shortest round trip, and 5 ms at least.
    pub gap_bound_s: f64,
    /// The longest time for which the path did not look, though it was not waiting for anything.
    pub gap_max_s: f64,
    /// Such gaps above 5 ms.
    pub gaps_above_5_ms: u64,
    /// Packets lost between an end and the path, by an overflow of a device.
    pub device_drops: u64,
    /// Packets that the path does not carry: for an address that is no flow's, not IP, or with impossible lengths.
    pub not_carried: u64,
    /// Packets handed over.
    pub packets: u64,
    /// How the path's thread was scheduled: `deadline`, `fifo`, or `normal` where the kernel allows no better.
    pub scheduling: String,
    /// The link that was busiest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<String>,
    /// What the kernel said of each group's sockets: the controller in effect, ECN, SACK, timestamps.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub sockets: IndexMap<String, String>,
    /// Why the run is not within its bound, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<String>,
    /// What else is to be known of this run, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// What was measured over one span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Length of the span.
    pub measured_s: f64,
    /// Each link.
    pub links: IndexMap<String, LinkSummary>,
    /// Each group of flows.
    pub groups: IndexMap<String, GroupSummary>,
    /// Each flow, where there are at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowSummary>,
    /// Fairness over all flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Fairness>,
    /// Each class of traffic.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub classes: IndexMap<String, ClassSummary>,
    /// Each customer.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub customers: IndexMap<String, CustomerSummary>,
}

/// One class of traffic over one span; bytes on the wire, acknowledgements left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassSummary {
    /// What its senders sent.
    pub offered_bit_per_s: f64,
    /// What its receivers got.
    pub served_bit_per_s: f64,
    /// What it was served over what the other classes were; absent where they got nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// What that should be by its share, `share / (1 - share)`, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<f64>,
    /// How far its part of what all classes were served is from its share, over the share; where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Standard deviation of the ratio of each sample of the series in the span; absent with fewer than two samples, or
    /// where others got nothing in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_sd: Option<f64>,
    /// Its weighted max-min share of the narrowest link that data of all classes cross: floors and ceilings as declared,
    /// weights by `share` (classes without one divide the rest equally), demand as offered, and without end for flows that
    /// answer congestion, since what they send is not what they want. Absent where there is no such link, where flows
    /// without a class cross it, or where a weight is zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_min_bit_per_s: Option<f64>,
}

/// One customer over one span.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CustomerSummary {
    /// What receivers got of it, bits on the wire, acknowledgements left out.
    pub throughput_bit_per_s: f64,
    /// What its contract commits, where it has a conditioner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed_bit_per_s: Option<f64>,
    /// Throughput over what is committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub achieved_fraction: Option<f64>,
    /// Share of the bytes that entered green; absent where none did, as all that follows where there is no conditioner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_profile_fraction: Option<f64>,
    /// Level of the bucket of the committed rate, averaged over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket_mean_bytes: Option<f64>,
    /// Standard deviation of that level over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket_sd_bytes: Option<f64>,
    /// Share of the time in which the tokens of one packet more would not have fitted into the bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_full: Option<f64>,
    /// Share of the time in which the bucket had no tokens for a packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_empty: Option<f64>,
}

/// One link over one span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkSummary {
    /// Share of the rate used by what left the link, acknowledgements included. A packet counts where it leaves, so that a
    /// full line may have up to one packet more than 1: what began before the span.
    pub utilization: f64,
    /// Bits that left the link, per second.
    pub throughput_bit_per_s: f64,
    /// Packets waiting, averaged over time; the packet in transmission does not wait.
    pub queue_mean_packets: f64,
    /// Standard deviation of the packets waiting, over time.
    pub queue_sd_packets: f64,
    /// What the packets waiting stayed at or below for 99 % of the time.
    pub queue_p99_packets: f64,
    /// Most packets that waited.
    pub queue_max_packets: f64,
    /// Time from arrival to the start of transmission, averaged over packets; absent where none passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queueing_delay_mean_s: Option<f64>,
    /// What that time stayed at or below for 99 % of the packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queueing_delay_p99_s: Option<f64>,
    /// Packets that arrived, those refused included.
    pub arrivals: u64,
    /// Packets that left.
    pub departures: u64,
    /// Packets refused by a full buffer or the AQM, or lost on the line.
    pub drops: u64,
    /// Packets marked here.
    pub marks: u64,
    /// Average of the link's price over time, where its law has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_mean: Option<f64>,
    /// Where the law treats classes apart: its observables of each class at the end of the span.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub classes: IndexMap<String, IndexMap<String, f64>>,
}

/// One group of flows over one span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupSummary {
    /// How many flows.
    pub count: u32,
    /// User data delivered in order, all flows together, per second.
    pub goodput_bit_per_s: f64,
    /// Data packets delivered, all flows together, per second.
    pub throughput_packets_per_s: f64,
    /// Average over all round-trip samples; absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_mean_s: Option<f64>,
    /// Jain's index of the flows' goodput, of those that take part in the span: flows that begin after it, or that stopped
    /// or finished their only transfer before it, do not. Absent where those delivered nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain: Option<f64>,
    /// Congestion window, averaged over flows and, for each, over time since its start; absent where none has started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_mean_packets: Option<f64>,
    /// Standard deviation of a flow's window over time, averaged over flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_sd_packets: Option<f64>,
    /// Window after a congestion event over the window before it, averaged over events; absent where there was none. Above 1
    /// where a law sets more than there was: the two packets that laws leave at the least, or what CCP's estimates allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_left_by_cuts: Option<f64>,
    /// What flows whose law asks estimate of their bottleneck; absent before all of them know something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<BottleneckSummary>,
    /// Share of the data packets that were lost, among those lost or delivered in the span; 0 where there were none.
    pub loss_rate: f64,
    /// Share of the data packets delivered that arrived marked.
    pub mark_rate: f64,
    /// Data packets sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Transfers, where flows have a size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfers: Option<Transfers>,
}

/// What flows estimate of their bottleneck, averaged over flows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BottleneckSummary {
    /// Its capacity, at the end of the span.
    pub capacity_packets_per_s: f64,
    /// Size of its buffer, at the end of the span.
    pub buffer_packets: f64,
    /// Packets in that buffer, averaged over the span's samples; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level_mean_packets: Option<f64>,
}

/// Finished transfers of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transfers {
    /// How many finished in the span.
    pub completed: u64,
    /// Mean time from start to the last acknowledgement; absent where none finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_mean_s: Option<f64>,
    /// Median of that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_p50_s: Option<f64>,
    /// 99th percentile of that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_p99_s: Option<f64>,
    /// How many of those that finished had waited for a connection; absent where transfers do not arrive at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<u64>,
    /// Mean time that those that finished had waited, zero of those that had not: a part of the mean time above. Absent
    /// where transfers do not arrive at random, or none finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_mean_s: Option<f64>,
    /// How many had arrived by the end of the span and no connection had taken up; absent where transfers do not arrive at
    /// random, and in the Linux world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
}

/// One flow over one span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowSummary {
    /// Its group.
    pub group: String,
    /// Its place in the group.
    pub index: u32,
    /// Two-way propagation delay.
    pub rtt_s: f64,
    /// User data delivered in order, per second.
    pub goodput_bit_per_s: f64,
    /// Data packets delivered, per second.
    pub throughput_packets_per_s: f64,
    /// Congestion window, averaged over time since the flow's start; absent where it has not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_mean_packets: Option<f64>,
    /// Average round-trip sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_mean_s: Option<f64>,
    /// Smallest round-trip sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_min_s: Option<f64>,
    /// Share of its data packets that were lost, among those lost or delivered in the span; 0 where there were none.
    pub loss_rate: f64,
    /// Share of its delivered data packets that arrived marked.
    pub mark_rate: f64,
    /// Data packets sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Time from start to the last acknowledgement, where it has a size and finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_s: Option<f64>,
}

/// Fairness over all flows of the scenario that take part in the span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fairness {
    /// Jain's index of goodput, of the flows that take part in the span, as in `groups.NAME`.
    pub jain: f64,
    /// Jain's index of what customers achieve of their contracts; absent where none has a contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contracts_jain: Option<f64>,
    /// Weighted fairness index, `(sum x/w)^2 / (n sum (x/w)^2)`, of what the classes were served against their max-min
    /// shares, over the span. Classes that want nothing are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<f64>,
    /// The same of each sample of the series, averaged over the samples of the span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes_mean: Option<f64>,
}

/// How much was computed: the same in every run of a seed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Engine {
    /// Events processed.
    pub events: u64,
    /// Data packets that left links.
    pub packets: u64,
}

/// `cost.json`: what a run cost on the machine that it ran on. It is the only file of a record that differs between two runs
/// of a scenario by the same program on the same machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// The version of the file's format: 1.
    pub format: u32,
    /// Wall-clock time.
    pub wall_s: f64,
    /// Processor time.
    pub cpu_s: f64,
    /// Data packets that left links, over `cpu_s`.
    pub packets_per_cpu_s: f64,
    /// Most memory the process held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
}
