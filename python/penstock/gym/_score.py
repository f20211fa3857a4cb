"""The scores of laws and policies by a reward."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from penstock._native import Scenario
from penstock._sweep import processors
from penstock.gym._env import action_of
from penstock.gym._measure import Measurement
from penstock.gym._random import Distribution
from penstock.gym._setup import Floats, Setup, finite, measurement_of

Policy = Callable[[Floats], Any]
"""A function of observations of shape [rows, 8 history] that returns actions of shape [rows, 1]."""


class Score(NamedTuple):
    """The scores of flows, an element a flow: those of the first episode, then those of the second."""

    reward: npt.NDArray[np.float64]
    """Mean reward over time: each step counts by its duration [flows]."""
    goodput_bit_per_s: npt.NDArray[np.float64]
    """Mean goodput [bit/s], [flows]."""
    rtt_mean_s: npt.NDArray[np.float64]
    """Mean round-trip time over time [s], [flows]."""


def score(
    policy: Policy | None = None,
    scenario: Scenario | str | os.PathLike[str] | None = None,
    flows: str | Sequence[str] | None = None,
    reward: str | Callable[[Measurement], Any] = "power",
    step: str = "20 ms",
    ecn: bool = False,
    randomize: Mapping[str, Distribution] | None = None,
    history: int = 1,
    episodes: int = 8,
    seed: int = 0,
    jobs: int | None = None,
) -> Score:
    """Run episodes and return the score of each flow, by the same reward as in an environment.

    With the same seed, every policy and every law meets the same episodes.

    Args:
        policy: The policy that steers the flows. None leaves them to the laws of the scenario.
        scenario: As of ``CongestionControl``, and so are the arguments after it.
        flows: The groups that are measured, and steered if there is a policy. None is all.
        reward: As of ``CongestionControlVector``.
        step: As of ``CongestionControl``. Means over time hardly depend on it.
        ecn: As of ``CongestionControl``; it has no effect on laws.
        randomize: As of ``CongestionControl``.
        history: As of ``CongestionControl``.
        episodes: How many.
        seed: The seed of the first episode; the k-th after it draws from seed + k.
        jobs: Threads, one a processor by default.
    """
    if policy is not None and not callable(policy):
        raise TypeError(f"policy is of class {type(policy).__name__}: give a function of observations, or None")
    threads = processors() if jobs is None else jobs
    setup = Setup(
        scenario, flows, reward, step, "window", ecn, randomize, history, episodes, threads, policy is not None
    )
    draws = [np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed + k))) for k in range(episodes)]
    simulations, agents = setup.simulations, setup.simulations.agents
    rows = episodes * agents
    raw, _, _ = simulations.reset([(k, *setup.episode(rng)) for k, rng in enumerate(draws)])
    running = np.ones(rows, bool)
    sums, time = np.zeros((3, rows)), np.zeros(rows)
    none = [0.0] * rows
    while running.any():
        observations = np.frombuffer(raw, "<f4").reshape(rows, -1)
        numbers = none if policy is None else action_of(policy(observations), rows)
        raw, measured, ended = simulations.step(numbers, [], True)
        m = measurement_of(np.frombuffer(measured, "<f8").reshape(rows, -1))
        spans = np.where(running, m.duration_s, 0.0)
        for at, values in enumerate((finite(setup.reward(m)), m.goodput_bit_per_s, m.rtt_mean_s)):
            sums[at] += np.asarray(values) * spans
        time += spans
        running = np.frombuffer(ended, np.uint8) == 0
    return Score(*(sums / time))
