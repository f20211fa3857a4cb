"""Observations of an agent, measurements of a step, and rewards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

Numbers = TypeVar("Numbers", float, "np.ndarray[Any, np.dtype[np.float64]]")


class Quantity(NamedTuple):
    """A number of an observation or an action."""

    name: str
    """Its name."""
    unit: str
    """Its unit, ``1`` for a plain number."""
    least: float
    """The least value. A smaller value is observed as this."""
    most: float
    """The largest value. A larger value is observed as this."""
    what: str
    """Its meaning."""


OBSERVATION = (
    Quantity("rtt", "1", 1, 64, "mean round-trip time over the smallest one so far"),
    Quantity("rtt_gradient", "s/s", -8, 8, "change of the mean round-trip time since the step before"),
    Quantity("delivery", "1", 0, 8, "packets acknowledged in a round-trip time, over the window"),
    Quantity("marked", "1", 0, 1, "share of acknowledged packets that were marked, with ecn=True"),
    Quantity("congestion_events", "1", 0, 8, "congestion events in the step"),
    Quantity("timeouts", "1", 0, 8, "retransmission timeouts in the step"),
    Quantity("window", "log2 packets", 0, 20, "binary logarithm of the window"),
    Quantity("rate", "1", 0, 1, "packets acknowledged per second, over the most so far"),
)
"""The observation of the sender at the end of a step, in order. Nothing else is observed.

Before the first sample of the round-trip time, ``rtt`` is 1 and ``rtt_gradient`` is 0. Acknowledgements in loss
recovery do not count, as no law is called for them.
"""

ACTION = Quantity("factor", "log2", -1, 1, "window or rate is multiplied by two to the power of this")
"""The action: one number. A window stays between 1 and 2**20 packets."""


class Measurement(NamedTuple):
    """The measurements of a step. The simulator measures it; a sender does not know all of it.

    Each field is a float, or an array with an element a flow in a vector environment.
    """

    time_s: Any
    """The end of the step, since the start of the episode [s]."""
    duration_s: Any
    """How long the step took [s]."""
    goodput_bit_per_s: Any
    """User data that came to the receiver, in order or not, each byte once [bit/s]."""
    throughput_packets_per_s: Any
    """Data packets that came to the receiver [packets/s]."""
    rtt_mean_s: Any
    """Mean of the round trips that were measured, or of the latest step with one. At first, ``base_rtt_s`` [s]."""
    loss_rate: Any
    """Packets lost, over those that came or were lost [1]."""
    mark_rate: Any
    """Packets marked, over those that came [1]."""
    window_packets: Any
    """The window at the end [packets]."""
    in_flight_packets: Any
    """Packets in flight at the end [packets]."""
    sent_packets: Any
    """Data packets sent [packets]."""
    arrived_packets: Any
    """Data packets that came to the receiver [packets]."""
    lost_packets: Any
    """Data packets lost on the way [packets]."""
    marked_packets: Any
    """Data packets that came with a mark [packets]."""
    congestion_events: Any
    """Congestion events [1]."""
    timeouts: Any
    """Retransmission timeouts [1]."""
    capacity_bit_per_s: Any
    """The slowest link that the data cross [bit/s]. Of a link that varies, the rate at the start or the mean."""
    base_rtt_s: Any
    """The round-trip time of the path without a queue and without time on the line [s]."""


def power(m: Measurement) -> Any:
    """Return normalised power: goodput over capacity, times base over mean round-trip time [1]. It is 0 to 1.

    A packet counts as a whole when it has come. So a step that is not much longer than a packet takes on the line may
    have more than 1, and so may one in which a link is faster than at the start.

    Power is throughput over delay. It is largest where the pipe is full and the queue is empty.

    Source: L. Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in computer
    communications", IEEE ICC 1979. The normalisation is ours.
    """
    return m.goodput_bit_per_s * m.base_rtt_s / (m.capacity_bit_per_s * m.rtt_mean_s)


def aurora(m: Measurement) -> Any:
    """Return 10 throughput - 1000 latency - 2000 loss, with throughput [packets/s], latency [s] and loss [1].

    Source: N. Jay, N. Rotman, B. Godfrey, M. Schapira and A. Tamar, "A deep reinforcement learning perspective on
    Internet congestion control", ICML 2019.
    """
    return 10.0 * m.throughput_packets_per_s - 1000.0 * m.rtt_mean_s - 2000.0 * m.loss_rate


def remy(m: Measurement) -> Any:
    """Return log2 throughput - log2 delay, with throughput [bit/s] and delay [s].

    Less than 1 kbit/s counts as 1 kbit/s.

    Source: K. Winstein and H. Balakrishnan, "TCP ex Machina: computer-generated congestion control", SIGCOMM 2013, the
    objective with alpha = beta = delta = 1.
    """
    return np.log2(np.maximum(m.goodput_bit_per_s, 1e3)) - np.log2(m.rtt_mean_s)


REWARDS: dict[str, Callable[[Measurement], Any]] = {"power": power, "aurora": aurora, "remy": remy}
"""Rewards by name. ``power`` is the default."""


def reward_of(reward: str | Callable[[Measurement], Any]) -> Callable[[Measurement], Any]:
    """Return the reward of that name, or the function itself."""
    if callable(reward):
        return reward
    if not isinstance(reward, str):
        raise TypeError(f"reward is of class {type(reward).__name__}: give a function of a Measurement or a name")
    if reward not in REWARDS:
        raise ValueError(f"no reward is named `{reward}`: write {', '.join(REWARDS)}, or give a function")
    return REWARDS[reward]
