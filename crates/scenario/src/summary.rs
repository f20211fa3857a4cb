//! `summary.json`: what a run measured, in numbers. A name that does not apply is absent, never null or a made-up zero.
//!
//! Times are in seconds, sizes in bits, bytes or packets as named, all over the measured span (warm-up left out).

mod dynamics;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use dynamics::{Dynamics, Ellipse, GroupDynamics, LinkDynamics};

/// The summary of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The scenario's title.
    pub title: String,
    /// The world of the run.
    pub world: String,
    /// The scenario's seed.
    pub seed: u64,
    /// Measures over the whole span after warm-up.
    #[serde(flatten)]
    pub whole: Measured,
    /// The same for each named window.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub windows: IndexMap<String, Measured>,
    /// The amount of computation.
    pub engine: Engine,
    /// Error of the emulated path; absent without emulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathSummary>,
    /// Things that can mislead a reader of the numbers; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// A setting or an outcome that can mislead a reader of the numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its kind.
    pub id: String,
    /// The key of the scenario that it is about, such as `flows.web.count`.
    pub subject: String,
    /// The problem and a remedy.
    pub text: String,
}

/// An emulated path over the whole run, warm-up included: its error, and what was found at its ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathSummary {
    /// True if the run is within both bounds and matches the scenario; otherwise `beyond` has the reasons.
    pub within_bound: bool,
    /// Bound on the lateness of 99 % of the packets: a hundredth of the shortest round-trip time, but at least 100 us.
    pub lateness_bound_s: f64,
    /// Median lateness: the time of delivery minus the scheduled time; absent if no packet was delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_p50_s: Option<f64>,
    /// 99th percentile of the lateness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_p99_s: Option<f64>,
    /// 99.9th percentile of the lateness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_p999_s: Option<f64>,
    /// Largest lateness.
    pub lateness_max_s: f64,
    /// Bound on the longest gap: a tenth of the shortest round-trip time, but at least 5 ms.
    pub gap_bound_s: f64,
    /// Longest gap: an interval in which the thread of the path did not run although it was not waiting.
    pub gap_max_s: f64,
    /// Number of such gaps above 0.5 ms; absent in records of versions that did not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps_above_500_us: Option<u64>,
    /// Number of such gaps above 5 ms.
    pub gaps_above_5_ms: u64,
    /// Processor time that a hypervisor took from this machine during the run, a cause of gaps: `steal` of proc(5), all processors
    /// together. Absent if the kernel does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_s: Option<f64>,
    /// Processors that were kept from halting (`--awake`); absent without that option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors_awake: Option<u64>,
    /// Packets lost between an end and the path when a device overflowed.
    pub device_drops: u64,
    /// Packets that the path does not carry: not IP, invalid lengths, or the address of no flow.
    pub not_carried: u64,
    /// Packets delivered by the path.
    pub packets: u64,
    /// Scheduling policy of the path's thread: `deadline`, `fifo`, or `normal` if the kernel allows neither.
    pub scheduling: String,
    /// The busiest link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<String>,
    /// Settings of each group's sockets as reported by the kernel: controller, ECN, SACK, timestamps.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub sockets: IndexMap<String, String>,
    /// Reasons why the run is not within its bounds, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<String>,
    /// Other remarks on this run, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// The measurements of one span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Length of the span.
    pub measured_s: f64,
    /// Each link.
    pub links: IndexMap<String, LinkSummary>,
    /// Each group of flows.
    pub groups: IndexMap<String, GroupSummary>,
    /// Each flow, if there are at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowSummary>,
    /// Fairness over all flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Fairness>,
    /// Each traffic class.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub classes: IndexMap<String, ClassSummary>,
    /// Each customer.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub customers: IndexMap<String, CustomerSummary>,
    /// The behaviour over time of all flows together; absent without `[dynamics]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamics: Option<Dynamics>,
}

/// One class of traffic over one span; bytes on the wire, acknowledgements left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassSummary {
    /// Rate sent by its senders.
    pub offered_bit_per_s: f64,
    /// Rate received by its receivers.
    pub served_bit_per_s: f64,
    /// Served rate over the served rate of the other classes; absent if that is zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Reference for the ratio, `share / (1 - share)`, if it has a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<f64>,
    /// Its part of the rate served to all classes, minus its share, over its share; absent without a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Standard deviation of the ratio over the samples of the series in the span; absent with fewer than two samples,
    /// or if the other classes received nothing in a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_sd: Option<f64>,
    /// Its weighted max-min share of the narrowest link that data of all classes cross. Floors and ceilings are as
    /// declared. Weights follow `share`; classes without one divide the remainder equally. The demand is the offered
    /// rate, and unlimited for flows that respond to congestion. Absent if there is no such link, if flows without a
    /// class cross it, or if a weight is zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_min_bit_per_s: Option<f64>,
}

/// One customer over one span.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CustomerSummary {
    /// Rate that its receivers received, bits on the wire, without acknowledgements.
    pub throughput_bit_per_s: f64,
    /// Committed rate of its contract, if it has a conditioner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed_bit_per_s: Option<f64>,
    /// Throughput over the committed rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub achieved_fraction: Option<f64>,
    /// Share of the entering bytes that were green; absent if no bytes entered. This and all that follows are absent
    /// without a conditioner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_profile_fraction: Option<f64>,
    /// Level of the bucket of the committed rate, averaged over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket_mean_bytes: Option<f64>,
    /// Standard deviation of that level over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket_sd_bytes: Option<f64>,
    /// Share of the time in which the tokens of one more packet would not have fitted into the bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_full: Option<f64>,
    /// Share of the time in which the bucket had no tokens for a packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_empty: Option<f64>,
}

/// One link over one span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkSummary {
    /// Bits that left the link over bits that it could send, acknowledgements included. A packet counts when it leaves.
    /// The value can exceed 1 by one packet, whose transmission began before the span.
    pub utilization: f64,
    /// Bits that left the link, per second.
    pub throughput_bit_per_s: f64,
    /// Packets waiting, averaged over time; the packet in transmission does not wait.
    pub queue_mean_packets: f64,
    /// Standard deviation of the packets waiting, over time.
    pub queue_sd_packets: f64,
    /// 99th percentile of the packets waiting, over time.
    pub queue_p99_packets: f64,
    /// Largest number of packets waiting.
    pub queue_max_packets: f64,
    /// Time from arrival to the start of transmission, averaged over packets; absent if none passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queueing_delay_mean_s: Option<f64>,
    /// 99th percentile of that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queueing_delay_p99_s: Option<f64>,
    /// Packets that arrived, including those refused.
    pub arrivals: u64,
    /// Packets that left.
    pub departures: u64,
    /// Packets refused by a full buffer or the AQM, or lost on the line.
    pub drops: u64,
    /// Packets that arrived twice, if there were any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicates: u64,
    /// Packets marked here.
    pub marks: u64,
    /// Average of the link's price over time, if its law has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_mean: Option<f64>,
    /// State of the law for each class at the end of the span, if it separates classes.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub classes: IndexMap<String, IndexMap<String, f64>>,
    /// Single queues: `classic` and `low-latency` of `dualpi2`, each class of the scheduler `drr` by class. With `drr` by flow
    /// and with `fq-codel` the queues of a group count together. Where flows of two groups share a queue of `fq-codel`, each
    /// packet counts for its own group. A queue without packets is absent. Absent for other links, and in the fluid world.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub queues: IndexMap<String, QueueSummary>,
    /// The link over time; absent without `[dynamics]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamics: Option<LinkDynamics>,
}

/// One queue of a link over one span, or the packets of a group in its queues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueSummary {
    /// Bits whose transmission began, per second, acknowledgements included.
    pub throughput_bit_per_s: f64,
    /// Time from arrival to the start of transmission, averaged over packets; absent if none passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queueing_delay_mean_s: Option<f64>,
    /// 99th percentile of that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queueing_delay_p99_s: Option<f64>,
    /// Packets that arrived, including those refused.
    pub arrivals: u64,
    /// Packets whose transmission began.
    pub departures: u64,
    /// Packets refused by a full buffer or the AQM, or dropped there after a wait. Losses on the line count for the link only.
    pub drops: u64,
    /// Packets marked here.
    pub marks: u64,
}

/// Whether a count is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// One group of flows over one span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupSummary {
    /// Number of flows.
    pub count: u32,
    /// User data delivered in order, all flows together, per second.
    pub goodput_bit_per_s: f64,
    /// Data packets delivered, all flows together, per second.
    pub throughput_packets_per_s: f64,
    /// Average over all round-trip samples; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_mean_s: Option<f64>,
    /// Jain's index of the goodput of the flows that take part in the span. Flows that begin after it do not, nor flows
    /// that stopped or finished their only transfer before it. Absent if the goodput is zero, and with `arrivals` or `page`, where
    /// few connections are busy at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain: Option<f64>,
    /// Congestion window, averaged over flows and, for each, over time since its start; absent if none has started, and with
    /// `arrivals` or `page`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_mean_packets: Option<f64>,
    /// Standard deviation of a flow's window over time, averaged over flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_sd_packets: Option<f64>,
    /// Window after a congestion event over the window before it, averaged over events; absent if there was none. It
    /// exceeds 1 if a law sets a larger window than before: the minimum of two packets, or the window from CCP's
    /// estimates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_left_by_cuts: Option<f64>,
    /// Estimates of the bottleneck, for laws that require them; absent until every flow has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<BottleneckSummary>,
    /// Share of the data packets that were lost, among those lost or delivered in the span; 0 where there were none.
    pub loss_rate: f64,
    /// Share of the data packets delivered that arrived marked.
    pub mark_rate: f64,
    /// Data packets sent again.
    pub retransmits: u64,
    /// Data packets that arrived although the receiver had them, without the copies that links make: one of the two was
    /// sent needlessly. Of the packets world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spurious_retransmits: Option<u64>,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Recoveries that were undone, since nothing had been lost; absent where recovery cannot be undone. Of the packets
    /// world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_recoveries: Option<u64>,
    /// Transfers, if flows have a size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfers: Option<Transfers>,
    /// Web pages, if flows load such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<Pages>,
    /// Video, if flows stream it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub video: Option<Videos>,
    /// The group over time; absent without `[dynamics]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamics: Option<GroupDynamics>,
}

/// The estimates that flows have of their bottleneck, averaged over flows.
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
    /// Transfers that finished in the span.
    pub completed: u64,
    /// Mean time from start to the last acknowledgement; absent if none finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_mean_s: Option<f64>,
    /// Median of that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_p50_s: Option<f64>,
    /// 95th percentile of that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_p95_s: Option<f64>,
    /// 99th percentile of that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_p99_s: Option<f64>,
    /// Slowdown of the finished transfers; absent if none finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<Slowdown>,
    /// Finished transfers by class of size: `up_to_10_kB`, `up_to_100_kB`, `up_to_1_MB`, `up_to_10_MB` and `above_10_MB` of user
    /// data. A transfer is in the first class that it does not exceed. A class without transfers is absent.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub by_size: IndexMap<String, SizeClass>,
    /// Finished transfers that had waited for a connection; absent without random arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<u64>,
    /// Mean wait of the finished transfers, zero for those that did not wait. It is part of the mean completion time.
    /// Absent without random arrivals, or if none finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_mean_s: Option<f64>,
    /// Transfers still waiting for a connection at the end of the span; absent without random arrivals, and in the
    /// Linux world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
    /// Transfers under way or waiting for a connection, averaged over time; absent without random arrivals, and in the Linux
    /// world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_way_mean: Option<f64>,
}

/// Web pages of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pages {
    /// Pages that were complete in the span.
    pub completed: u64,
    /// Mean time from the request of the first object to the last acknowledgement of the last; absent if none was complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_mean_s: Option<f64>,
    /// Median of that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_p50_s: Option<f64>,
    /// 95th percentile of that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_p95_s: Option<f64>,
    /// 99th percentile of that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_p99_s: Option<f64>,
}

/// Video sessions of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Videos {
    /// Sessions that began before the end of the span.
    pub sessions: u64,
    /// Chunks that came in the span.
    pub chunks: u64,
    /// Mean rate of those chunks; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_mean_bit_per_s: Option<f64>,
    /// Chunks with another rate than the chunk before, all sessions together.
    pub switches: u64,
    /// Stalls in the span: times at which playback had begun and the player held nothing.
    pub rebuffers: u64,
    /// Their length in the span, all sessions together.
    pub rebuffer_s: f64,
    /// Mean time from the start of a session to its first chunk, of the sessions where that came in the span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_mean_s: Option<f64>,
}

/// Finished transfers of a group in one class of size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizeClass {
    /// Transfers that finished in the span.
    pub completed: u64,
    /// Mean time from start to the last acknowledgement.
    pub completion_mean_s: f64,
    /// Median of that time.
    pub completion_p50_s: f64,
    /// 95th percentile of that time.
    pub completion_p95_s: f64,
    /// 99th percentile of that time.
    pub completion_p99_s: f64,
    /// Slowdown of the finished transfers.
    pub slowdown: Slowdown,
}

/// Completion time over that of the same transfer alone: its size with headers over the rate of the slowest link, and a round
/// trip without queues.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slowdown {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// One flow over one span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowSummary {
    /// The group of the flow.
    pub group: String,
    /// The number of the flow in its group, from zero.
    pub index: u32,
    /// Two-way propagation delay.
    pub rtt_s: f64,
    /// User data delivered in order, per second.
    pub goodput_bit_per_s: f64,
    /// Data packets delivered, per second.
    pub throughput_packets_per_s: f64,
    /// Congestion window, averaged over time since the flow's start; absent if it has not started.
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
    /// Time from start to the last acknowledgement, if it has a size and finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_s: Option<f64>,
}

/// Fairness over all flows of the scenario that take part in the span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fairness {
    /// Jain's index of the goodput of the flows that take part in the span, as in `groups.NAME`; absent where none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jain: Option<f64>,
    /// Jain's index of the customers' `achieved_fraction`; absent if none has a contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contracts_jain: Option<f64>,
    /// Weighted fairness index, `(sum x/w)^2 / (n sum (x/w)^2)`, where x is the served rate of a class and w its
    /// max-min share, over the span. Classes without demand are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<f64>,
    /// The same index for each sample of the series, averaged over the samples of the span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes_mean: Option<f64>,
}

impl Fairness {
    /// Whether there is any of it.
    pub fn any(&self) -> bool {
        let Self { jain, contracts_jain, classes, classes_mean } = self;
        [jain, contracts_jain, classes, classes_mean].iter().any(|index| index.is_some())
    }
}

/// The amount of computation: the same in every run of a seed.
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
    /// Peak memory of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
}
