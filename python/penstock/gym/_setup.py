"""The common part of single and vector environments: arguments, spaces, episodes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import gymnasium
import numpy as np
import numpy.typing as npt

from penstock import _native
from penstock._arguments import seed_of, switch, whole
from penstock._native import Scenario
from penstock._run import scenario_of
from penstock.gym._measure import ACTION, OBSERVATION, Measurement, reward_of
from penstock.gym._random import Distribution, checked, drawn, text

PATH = """
format   = 1
title    = "one flow on 10 Mbit/s"
duration = "30 s"

[links.bottleneck]
from   = "sender"
to     = "receiver"
rate   = "10 Mbit/s"
delay  = "10 ms"
buffer = "2 bdp"

[flows.agent]
from  = "sender"
to    = "receiver"
rtt   = "20 ms"
start = "0 s"
cc    = { law = "newreno" }
"""
"""The scenario of an environment that is given none: one flow, 10 Mbit/s, 20 ms.

The buffer holds two bandwidth-delay products.
"""

MOST_STEPS, MOST_SIMULATIONS, MOST_JOBS = 1_000, 10_000, 1_024
"""The most steps that an observation has, simulations side by side, and threads."""

Box = gymnasium.spaces.Box
Floats = npt.NDArray[np.float32]
Episode = tuple[int, list[tuple[str, str]]]


class Setup:
    """The arguments of an environment, checked, and the simulations that they make."""

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str] | None,
        flows: str | Sequence[str] | None,
        reward: str | Callable[[Measurement], Any],
        step: str,
        action: Literal["window", "rate"],
        ecn: bool,
        randomize: Mapping[str, Distribution] | None,
        history: int,
        count: int,
        jobs: int,
        steered: bool = True,
    ) -> None:
        self.reward = reward_of(reward)
        self.randomize = checked(randomize)
        history = whole("history", history, 1, MOST_STEPS)
        count = whole("num_envs", count, 1, MOST_SIMULATIONS)
        jobs = whole("jobs", jobs, 1, MOST_JOBS)
        if not isinstance(step, str):
            raise TypeError(f"step is of class {type(step).__name__}: write `round` or a time such as `20 ms`")
        if action not in ("window", "rate"):
            raise ValueError(f"action is {action!r}: write window or rate")
        chosen = Scenario.parse(PATH, "path.toml") if scenario is None else scenario_of(scenario)
        groups = [flows] if isinstance(flows, str) else None if flows is None else list(flows)
        self.simulations = _native.Simulations(
            chosen.copy(),
            groups,
            None if step == "round" else step,
            action == "rate",
            switch("ecn", ecn),
            steered,
            history,
            count,
            jobs,
        )
        least = np.tile(np.array([q.least for q in OBSERVATION], np.float32), history)
        most = np.tile(np.array([q.most for q in OBSERVATION], np.float32), history)
        self.observation_space = Box(least, most, dtype=np.float32)
        self.action_space = Box(np.float32(ACTION.least), np.float32(ACTION.most), (1,), np.float32)

    def episode(self, rng: np.random.Generator, options: Mapping[str, Any] | None = None) -> Episode:
        """Draw the seed and the keys of an episode, where the options do not say them."""
        options = options or {}
        for name in options:
            if name not in ("seed", "set", "reset_mask"):
                raise ValueError(f"reset has no option `{name}`: it has seed and set")
        seed, changes = int(rng.integers(2**63)), drawn(self.randomize, rng)
        given = seed_of(options.get("seed"), "options: seed")
        seed = seed if given is None else given
        changes += [(key, text(key, value)) for key, value in options.get("set", {}).items()]
        if any(key.strip() == "seed" for key, _ in changes):
            raise ValueError("options: set has the key seed: write it as options={'seed': ...}")
        return seed, changes


def finite(rewards: Any) -> npt.NDArray[np.float64]:
    """Return rewards, if each is a finite number."""
    numbers = np.asarray(rewards, np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(f"the reward is {rewards}: return finite numbers")
    return numbers


def measurement_of(measured: npt.NDArray[np.float64]) -> Measurement:
    """Return the rows of native measurements as a measurement of arrays."""
    return Measurement._make(measured.T)
