"""The summary of a run, typed.

``python/generate.py`` writes this file, in one piece: it is as long as the summary has numbers. A name ends in the unit
of its number; a number without a unit is a plain one.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping


class _Named(dict[str, typing.Any]):
    """Parts of a summary by name. A name that is missing gives those that there are."""

    def __missing__(self, name: object) -> typing.NoReturn:
        known = f": there are {', '.join(self)}" if self else ", nor any"
        raise KeyError(f"there is no {name!r}{known}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class LinkSummary:
    """One link over one span."""

    utilization: float
    """Bits that left the link over bits that it could send, acknowledgements included. A packet counts when it
    leaves. The value can exceed 1 by one packet, whose transmission began before the span.
    """

    throughput_bit_per_s: float
    """Bits that left the link, per second."""

    queue_mean_packets: float
    """Packets waiting, averaged over time; the packet in transmission does not wait."""

    queue_sd_packets: float
    """Standard deviation of the packets waiting, over time."""

    queue_p99_packets: float
    """99th percentile of the packets waiting, over time."""

    queue_max_packets: float
    """Largest number of packets waiting."""

    queueing_delay_mean_s: float | None = None
    """Time from arrival to the start of transmission, averaged over packets; absent if none passed."""

    queueing_delay_p99_s: float | None = None
    """99th percentile of that time."""

    arrivals: int
    """Packets that arrived, including those refused."""

    departures: int
    """Packets that left."""

    drops: int
    """Packets refused by a full buffer or the AQM, or lost on the line."""

    duplicates: int | None = None
    """Packets that arrived twice, if there were any."""

    marks: int
    """Packets marked here."""

    price_mean: float | None = None
    """Average of the link's price over time, if its law has one."""

    classes: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=_Named)
    """State of the law for each class at the end of the span, if it separates classes."""

    queues: Mapping[str, QueueSummary] = dataclasses.field(default_factory=_Named)
    """Single queues: `classic` and `low-latency` of `dualpi2`, each class of the scheduler `drr` by class. With
    `drr` by flow and with `fq-codel` the queues of a group count together. Where flows of two groups share a
    queue of `fq-codel`, each packet counts for its own group. A queue without packets is absent. Absent for
    other links, and in the fluid world.
    """

    dynamics: LinkDynamics | None = None
    """The link over time; absent without `[dynamics]`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class QueueSummary:
    """One queue of a link over one span, or the packets of a group in its queues."""

    throughput_bit_per_s: float
    """Bits whose transmission began, per second, acknowledgements included."""

    queueing_delay_mean_s: float | None = None
    """Time from arrival to the start of transmission, averaged over packets; absent if none passed."""

    queueing_delay_p99_s: float | None = None
    """99th percentile of that time."""

    arrivals: int
    """Packets that arrived, including those refused."""

    departures: int
    """Packets whose transmission began."""

    drops: int
    """Packets refused by a full buffer or the AQM, or dropped there after a wait. Losses on the line count for
    the link only.
    """

    marks: int
    """Packets marked here."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class LinkDynamics:
    """One link over time."""

    queueing_delay_p50_s: float | None = None
    """Median time from arrival to the start of transmission, over packets; absent if none passed."""

    queueing_delay_p95_s: float | None = None
    """95th percentile of that time."""

    loss_ratio: float | None = None
    """`drops` over `arrivals`; absent if nothing arrived."""

    standing_queue_s: float | None = None
    """Standing queue: the least queueing delay in each window of 10 R, averaged over successive windows. Absent
    in spans of fewer than 10 R.
    """

    standing_queue_rounds: float | None = None
    """The same in units of R."""

    loss_gap_mean_packets: float | None = None
    """Packets that arrived between a drop and the one before, averaged over drops (RFC 7928, section 2.3). Drops
    count at the moment of the drop, packets that have waited too. Absent if there was no drop that had one
    before it.
    """

    adjacent_losses: float | None = None
    """Share of the drops for which that number is zero."""

    synchronization: float | None = None
    """Share of the flows across the link, data or acknowledgements, that lose in a loss event, averaged over
    events (RFC 7928, section 2.4). An event has the drops within R of its first. Flows count from their start
    until they stop or finish their only transfer. Absent without drops.
    """

    useful: float | None = None
    """Share of the user data sent by the link that was new to its receiver: not sent again needlessly, and not
    lost on a link behind this one. Packets count as full ones, when they arrive or are lost; those of the
    flows whose data cross the link. Absent if there were none.
    """

    useful_utilization: float | None = None
    """Share of the bits that the link could send which new user data took, with the headers of full packets:
    what arrives of the flows whose data cross the link, in any order, over the link's rate without headers.
    In `utilization`, acknowledgements count too, and data that are sent again needlessly or lost behind the
    link. Absent if no flow's data cross the link, and if it could send nothing.
    """

    settling_60_s: float | None = None
    """Time from the start of the span until the bits that leave are at least 60 % of those that could, in every
    window of 10 R from then to the end of the span; in steps of R. Absent if the last window is below, and in
    spans of fewer than 10 R.
    """

    settling_80_s: float | None = None
    """The same with 80 %."""

    settling_90_s: float | None = None
    """The same with 90 %."""

    queue_overshoot_s: float | None = None
    """Largest queueing delay of a packet, minus the mean over packets in the second half of the span. Absent if
    none passed then.
    """

    drops_in_100_s: int
    """Packets dropped in the first 100 s of the span, or in all of it if it is shorter."""

    lossy_intervals: int | None = None
    """The most successive intervals of 10 s, rounded to whole R, in which more than 10 % of the arrivals were
    dropped; absent in spans without a whole interval.
    """


@dataclasses.dataclass(frozen=True, kw_only=True)
class GroupSummary:
    """One group of flows over one span."""

    count: int
    """Number of flows."""

    goodput_bit_per_s: float
    """User data delivered in order, all flows together, per second."""

    throughput_packets_per_s: float
    """Data packets delivered, all flows together, per second."""

    rtt_mean_s: float | None = None
    """Average over all round-trip samples; absent if there was none."""

    jain: float | None = None
    """Jain's index of the goodput of the flows that take part in the span. Flows that begin after it do not, nor
    flows that stopped or finished their only transfer before it. Absent if the goodput is zero, and with
    `arrivals` or `page`, where few connections are busy at a time.
    """

    window_mean_packets: float | None = None
    """Congestion window, averaged over flows and, for each, over time since its start; absent if none has
    started, and with `arrivals` or `page`.
    """

    window_sd_packets: float | None = None
    """Standard deviation of a flow's window over time, averaged over flows."""

    window_left_by_cuts: float | None = None
    """Window after a congestion event over the window before it, averaged over events; absent if there was none.
    It exceeds 1 if a law sets a larger window than before: the minimum of two packets, or the window from
    CCP's estimates.
    """

    bottleneck: BottleneckSummary | None = None
    """Estimates of the bottleneck, for laws that require them; absent until every flow has one."""

    loss_rate: float
    """Share of the data packets that were lost, among those lost or delivered in the span; 0 where there were
    none.
    """

    mark_rate: float
    """Share of the data packets delivered that arrived marked."""

    retransmits: int
    """Data packets sent again."""

    spurious_retransmits: int | None = None
    """Data packets that arrived although the receiver had them, without the copies that links make: one of the
    two was sent needlessly. Of the packets world.
    """

    timeouts: int
    """Retransmission timeouts."""

    undone_recoveries: int | None = None
    """Recoveries that were undone, since nothing had been lost; absent where recovery cannot be undone. Of the
    packets world.
    """

    transfers: Transfers | None = None
    """Transfers, if flows have a size."""

    pages: Pages | None = None
    """Web pages, if flows load such."""

    video: Videos | None = None
    """Video, if flows stream it."""

    dynamics: GroupDynamics | None = None
    """The group over time; absent without `[dynamics]`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class BottleneckSummary:
    """The estimates that flows have of their bottleneck, averaged over flows."""

    capacity_packets_per_s: float
    """Its capacity, at the end of the span."""

    buffer_packets: float
    """Size of its buffer, at the end of the span."""

    level_mean_packets: float | None = None
    """Packets in that buffer, averaged over the span's samples; absent where there was none."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Transfers:
    """Finished transfers of a group."""

    completed: int
    """Transfers that finished in the span."""

    completion_mean_s: float | None = None
    """Mean time from start to the last acknowledgement; absent if none finished."""

    completion_p50_s: float | None = None
    """Median of that time."""

    completion_p95_s: float | None = None
    """95th percentile of that time."""

    completion_p99_s: float | None = None
    """99th percentile of that time."""

    slowdown: Slowdown | None = None
    """Slowdown of the finished transfers; absent if none finished."""

    by_size: Mapping[str, SizeClass] = dataclasses.field(default_factory=_Named)
    """Finished transfers by class of size: `up_to_10_kB`, `up_to_100_kB`, `up_to_1_MB`, `up_to_10_MB` and
    `above_10_MB` of user data. A transfer is in the first class that it does not exceed. A class without
    transfers is absent.
    """

    waited: int | None = None
    """Finished transfers that had waited for a connection; absent without random arrivals."""

    wait_mean_s: float | None = None
    """Mean wait of the finished transfers, zero for those that did not wait. It is part of the mean completion
    time. Absent without random arrivals, or if none finished.
    """

    waiting: int | None = None
    """Transfers still waiting for a connection at the end of the span; absent without random arrivals, and in
    the Linux world.
    """

    under_way_mean: float | None = None
    """Transfers under way or waiting for a connection, averaged over time; absent without random arrivals, and
    in the Linux world.
    """


@dataclasses.dataclass(frozen=True, kw_only=True)
class Slowdown:
    """Completion time over that of the same transfer alone."""

    mean: float
    """Mean."""

    p50: float
    """Median."""

    p95: float
    """95th percentile."""

    p99: float
    """99th percentile."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SizeClass:
    """Finished transfers of a group in one class of size."""

    completed: int
    """Transfers that finished in the span."""

    completion_mean_s: float
    """Mean time from start to the last acknowledgement."""

    completion_p50_s: float
    """Median of that time."""

    completion_p95_s: float
    """95th percentile of that time."""

    completion_p99_s: float
    """99th percentile of that time."""

    slowdown: Slowdown
    """Slowdown of the finished transfers."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pages:
    """Web pages of a group."""

    completed: int
    """Pages that were complete in the span."""

    load_mean_s: float | None = None
    """Mean time from the request of the first object to the last acknowledgement of the last; absent if none was
    complete.
    """

    load_p50_s: float | None = None
    """Median of that time."""

    load_p95_s: float | None = None
    """95th percentile of that time."""

    load_p99_s: float | None = None
    """99th percentile of that time."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Videos:
    """Video sessions of a group."""

    sessions: int
    """Sessions that began before the end of the span."""

    chunks: int
    """Chunks that came in the span."""

    rate_mean_bit_per_s: float | None = None
    """Mean rate of those chunks; absent if there was none."""

    switches: int
    """Chunks with another rate than the chunk before, all sessions together."""

    rebuffers: int
    """Stalls in the span: times at which playback had begun and the player held nothing."""

    rebuffer_s: float
    """Their length in the span, all sessions together."""

    startup_mean_s: float | None = None
    """Mean time from the start of a session to its first chunk, of the sessions where that came in the span."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class GroupDynamics:
    """One group of flows over time."""

    starvation: float | None = None
    """Largest goodput of a flow over the smallest, each over the part of the span in which the flow was there,
    of flows that were there for at least half of it. A flow without goodput counts as one that delivered a
    packet. Absent if flows have a `size`, a `page`, a `video` or `on_off`, and with fewer than two flows.
    """

    worst_round_loss: float | None = None
    """Largest share of the data packets of a flow that was lost in a round of R: those lost in it over those
    sent in it, at most 1. Rounds in which the flow sent fewer than 10 packets are left out; absent if all
    are.
    """

    oscillation_1: float | None = None
    """Coefficient of variation of a flow's goodput over successive windows of R, averaged over flows. Here and
    below goodput counts user data when it first arrives, in order or not. Flows that were there for fewer
    than two windows, or without goodput, are left out; absent if all are.
    """

    oscillation_10: float | None = None
    """The same over windows of 10 R."""

    oscillation_100: float | None = None
    """The same over windows of 100 R."""

    startup_s: float | None = None
    """Time from a flow's start to the end of the first round of R with 0.8 of its final goodput, averaged over
    flows. The final goodput is the mean over the second half of the flow's time until the span ends. Flows
    count that start in the span, or during the warm-up of the whole span. Absent if none was there for 10 R.
    """

    longest_silence_s: float | None = None
    """Longest time in which no new data of a flow arrived, in whole rounds of R, of all flows. Absent if flows
    have a `size`, a `page`, a `video` or `on_off`, which may have nothing to send, and if no flow was there
    for a round.
    """

    delay_variation_s: float | None = None
    """99th percentile of the one-way delay of the data packets that arrived, minus the smallest; absent if there
    were none.
    """

    ellipse: Ellipse | None = None
    """Queueing delay against goodput; absent in spans of fewer than 20 R."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ellipse:
    """Queueing delay and goodput of a group, sampled in successive windows of 10 R."""

    queueing_delay_p50_s: float
    """Median of the queueing delay."""

    goodput_p50_bit_per_s: float
    """Median of the goodput."""

    queueing_delay_sd_s: float
    """Standard deviation of the queueing delay."""

    goodput_sd_bit_per_s: float
    """Standard deviation of the goodput."""

    correlation: float | None = None
    """Correlation of the two; absent if one of them is constant."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class FlowSummary:
    """One flow over one span."""

    group: str
    """The group of the flow."""

    index: int
    """The number of the flow in its group, from zero."""

    rtt_s: float
    """Two-way propagation delay."""

    goodput_bit_per_s: float
    """User data delivered in order, per second."""

    throughput_packets_per_s: float
    """Data packets delivered, per second."""

    window_mean_packets: float | None = None
    """Congestion window, averaged over time since the flow's start; absent if it has not started."""

    rtt_mean_s: float | None = None
    """Average round-trip sample."""

    rtt_min_s: float | None = None
    """Smallest round-trip sample."""

    loss_rate: float
    """Share of its data packets that were lost, among those lost or delivered in the span; 0 where there were
    none.
    """

    mark_rate: float
    """Share of its delivered data packets that arrived marked."""

    retransmits: int
    """Data packets sent again."""

    timeouts: int
    """Retransmission timeouts."""

    completion_s: float | None = None
    """Time from start to the last acknowledgement, if it has a size and finished."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fairness:
    """Fairness over all flows of the scenario that take part in the span."""

    jain: float | None = None
    """Jain's index of the goodput of the flows that take part in the span, as in `groups.NAME`; absent where
    none do.
    """

    contracts_jain: float | None = None
    """Jain's index of the customers' `achieved_fraction`; absent if none has a contract."""

    classes: float | None = None
    """Weighted fairness index, `(sum x/w)^2 / (n sum (x/w)^2)`, where x is the served rate of a class and w its
    max-min share, over the span. Classes without demand are left out.
    """

    classes_mean: float | None = None
    """The same index for each sample of the series, averaged over the samples of the span."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassSummary:
    """One class of traffic over one span."""

    offered_bit_per_s: float
    """Rate sent by its senders."""

    served_bit_per_s: float
    """Rate received by its receivers."""

    ratio: float | None = None
    """Served rate over the served rate of the other classes; absent if that is zero."""

    reference: float | None = None
    """Reference for the ratio, `share / (1 - share)`, if it has a share."""

    deviation: float | None = None
    """Its part of the rate served to all classes, minus its share, over its share; absent without a share."""

    ratio_sd: float | None = None
    """Standard deviation of the ratio over the samples of the series in the span; absent with fewer than two
    samples, or if the other classes received nothing in a sample.
    """

    max_min_bit_per_s: float | None = None
    """Its weighted max-min share of the narrowest link that data of all classes cross. Floors and ceilings are
    as declared. Weights follow `share`; classes without one divide the remainder equally. The demand is the
    offered rate, and unlimited for flows that respond to congestion. Absent if there is no such link, if
    flows without a class cross it, or if a weight is zero.
    """


@dataclasses.dataclass(frozen=True, kw_only=True)
class CustomerSummary:
    """One customer over one span."""

    throughput_bit_per_s: float
    """Rate that its receivers received, bits on the wire, without acknowledgements."""

    committed_bit_per_s: float | None = None
    """Committed rate of its contract, if it has a conditioner."""

    achieved_fraction: float | None = None
    """Throughput over the committed rate."""

    in_profile_fraction: float | None = None
    """Share of the entering bytes that were green; absent if no bytes entered. This and all that follows are
    absent without a conditioner.
    """

    bucket_mean_bytes: float | None = None
    """Level of the bucket of the committed rate, averaged over time."""

    bucket_sd_bytes: float | None = None
    """Standard deviation of that level over time."""

    time_full: float | None = None
    """Share of the time in which the tokens of one more packet would not have fitted into the bucket."""

    time_empty: float | None = None
    """Share of the time in which the bucket had no tokens for a packet."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Dynamics:
    """The behaviour over time of all flows together."""

    round_s: float
    """The round R: the time that the definitions go by."""

    fair_time_s: float | None = None
    """Time from the last start of a long flow in the span, or from the span's start if none starts in it, until
    each long flow gets what they get on average, within 10 %, in ten successive windows of 10 R. Long flows
    are those of groups without `size`, `page`, `video` and `on_off` that respond to congestion and do not
    stop before the span ends. Absent if they never do, and with fewer than two.
    """

    fair_rounds: float | None = None
    """The same in units of R."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measured:
    """The measurements of one span."""

    measured_s: float
    """Length of the span."""

    links: Mapping[str, LinkSummary]
    """Each link."""

    groups: Mapping[str, GroupSummary]
    """Each group of flows."""

    flows: tuple[FlowSummary, ...] = ()
    """Each flow, if there are at most 100."""

    fairness: Fairness | None = None
    """Fairness over all flows."""

    classes: Mapping[str, ClassSummary] = dataclasses.field(default_factory=_Named)
    """Each traffic class."""

    customers: Mapping[str, CustomerSummary] = dataclasses.field(default_factory=_Named)
    """Each customer."""

    dynamics: Dynamics | None = None
    """The behaviour over time of all flows together; absent without `[dynamics]`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Engine:
    """The amount of computation."""

    events: int
    """Events processed."""

    packets: int
    """Data packets that left links."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PathSummary:
    """An emulated path over the whole run, warm-up included."""

    within_bound: bool
    """True if the run is within both bounds and matches the scenario; otherwise `beyond` has the reasons."""

    lateness_bound_s: float
    """Bound on the lateness of 99 % of the packets: a hundredth of the shortest round-trip time, but at least
    100 us.
    """

    lateness_p50_s: float | None = None
    """Median lateness: the time of delivery minus the scheduled time; absent if no packet was delivered."""

    lateness_p99_s: float | None = None
    """99th percentile of the lateness."""

    lateness_p999_s: float | None = None
    """99.9th percentile of the lateness."""

    lateness_max_s: float
    """Largest lateness."""

    gap_bound_s: float
    """Bound on the longest gap: a tenth of the shortest round-trip time, but at least 5 ms."""

    gap_max_s: float
    """Longest gap: an interval in which the thread of the path did not run although it was not waiting."""

    gaps_above_500_us: int | None = None
    """Number of such gaps above 0.5 ms; absent in records of versions that did not count them."""

    gaps_above_5_ms: int
    """Number of such gaps above 5 ms."""

    stolen_s: float | None = None
    """Processor time that a hypervisor took from this machine during the run, a cause of gaps: `steal` of
    proc(5), all processors together. Absent if the kernel does not count it.
    """

    processors_awake: int | None = None
    """Processors that were kept from halting (`--awake`); absent without that option."""

    device_drops: int
    """Packets lost between an end and the path when a device overflowed."""

    not_carried: int
    """Packets that the path does not carry: not IP, invalid lengths, or the address of no flow."""

    packets: int
    """Packets delivered by the path."""

    scheduling: str
    """Scheduling policy of the path's thread: `deadline`, `fifo`, or `normal` if the kernel allows neither."""

    bottleneck: str | None = None
    """The busiest link."""

    sockets: Mapping[str, str] = dataclasses.field(default_factory=_Named)
    """Settings of each group's sockets as reported by the kernel: controller, ECN, SACK, timestamps."""

    beyond: tuple[str, ...] = ()
    """Reasons why the run is not within its bounds, one sentence each."""

    findings: tuple[str, ...] = ()
    """Other remarks on this run, one sentence each."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Finding:
    """A setting or an outcome that can mislead a reader of the numbers."""

    id: str
    """Its kind."""

    subject: str
    """The key of the scenario that it is about, such as `flows.web.count`."""

    text: str
    """The problem and a remedy."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Summary:
    """The summary of one run."""

    title: str
    """The scenario's title."""

    world: str
    """The world of the run."""

    seed: int
    """The scenario's seed."""

    measured_s: float
    """Length of the span."""

    links: Mapping[str, LinkSummary]
    """Each link."""

    groups: Mapping[str, GroupSummary]
    """Each group of flows."""

    flows: tuple[FlowSummary, ...] = ()
    """Each flow, if there are at most 100."""

    fairness: Fairness | None = None
    """Fairness over all flows."""

    classes: Mapping[str, ClassSummary] = dataclasses.field(default_factory=_Named)
    """Each traffic class."""

    customers: Mapping[str, CustomerSummary] = dataclasses.field(default_factory=_Named)
    """Each customer."""

    dynamics: Dynamics | None = None
    """The behaviour over time of all flows together; absent without `[dynamics]`."""

    windows: Mapping[str, Measured] = dataclasses.field(default_factory=_Named)
    """The same for each named window."""

    engine: Engine
    """The amount of computation."""

    path: PathSummary | None = None
    """Error of the emulated path; absent without emulation."""

    findings: tuple[Finding, ...] = ()
    """Things that can mislead a reader of the numbers; absent if there are none."""


def summary_of(values: Mapping[str, typing.Any]) -> Summary:
    """Make a summary of the values of ``summary.json``."""
    return typing.cast(Summary, _made(Summary, values))


@functools.cache
def _fields(kind: type) -> dict[str, typing.Any]:
    return typing.get_type_hints(kind)


def _made(kind: typing.Any, value: typing.Any) -> typing.Any:
    if dataclasses.is_dataclass(kind):
        known = _fields(typing.cast(type, kind))
        return typing.cast(type, kind)(**{name: _made(known[name], of) for name, of in value.items() if name in known})
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return None if value is None else _made(inner[0], value)
    if origin is tuple:
        return tuple(_made(inner[0], one) for one in value)
    if origin is Mapping:
        return _Named((name, _made(inner[1], one)) for name, one in value.items())
    return float(value) if kind is float else value
