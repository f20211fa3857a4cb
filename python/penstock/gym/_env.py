"""One flow."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Mapping
from typing import Any, Literal

import gymnasium
import numpy as np

from penstock._native import Scenario
from penstock.gym._measure import Measurement
from penstock.gym._random import Distribution
from penstock.gym._setup import Floats, Setup
from penstock.summary import Summary, summary_of

_NUMBERS = struct.Struct(f"<{len(Measurement._fields)}d")


class CongestionControl(gymnasium.Env[Floats, Floats]):
    """A sender that an agent steers, in a scenario of the packets world.

    An action multiplies the window, or the pacing rate (``penstock.gym.ACTION``). The observation is what a sender
    knows (``penstock.gym.OBSERVATION``), as float32 of shape [8 history], the latest step last. ``info`` has the fields
    of ``penstock.gym.Measurement``. Loss recovery and retransmission timers are the simulator's.

    An episode is truncated at the scenario's ``duration``. It terminates where ``stop`` ends the scenario before. The
    seed of ``reset`` decides everything: same seed, same actions, same bits.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str] | None = None,
        flows: str | None = None,
        reward: str | Callable[[Measurement], Any] = "power",
        step: str = "round",
        action: Literal["window", "rate"] = "window",
        ecn: bool = False,
        randomize: Mapping[str, Distribution] | None = None,
        history: int = 1,
    ) -> None:
        """Make an environment.

        Args:
            scenario: A scenario of one cell, or its file. None is ``penstock.gym.PATH``: one flow on 10 Mbit/s.
            flows: The group of flows that the agent steers, in place of its law. It has one flow. None is the only
                group.
            reward: A function of a ``Measurement``, or a name of ``penstock.gym.REWARDS``.
            step: ``round`` or a time such as ``20 ms``. A round ends when a packet that was sent after it began is
                acknowledged outside recovery, or when the retransmission timer expires.
            action: ``window`` steers the window. ``rate`` steers the pacing rate, under a window of twice rate times
                smallest round-trip time.
            ecn: Whether the flow's packets can be marked.
            randomize: Keys of the scenario with a distribution each, drawn at each reset.
            history: How many steps an observation has.

        Raises:
            ScenarioError: The scenario is wrong, or has no such group.
            UnsupportedError: The packets world cannot run it.
        """
        self._setup = Setup(scenario, flows, reward, step, action, ecn, randomize, history, 1, 1)
        agents = self._setup.simulations.agents
        if agents != 1:
            raise ValueError(
                f"an agent steers one flow, and these are {agents}: choose a group of one with `flows`, "
                f"or use gymnasium.make_vec"
            )
        self.observation_space, self.action_space = self._setup.observation_space, self._setup.action_space
        self._reward = self._setup.reward

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Where this and later episodes draw their seeds and keys from. None goes on drawing.
            options: ``seed`` is the scenario's seed of this episode, and ``set`` a dict of keys of the scenario.

        Raises:
            ScenarioError: A key that was drawn or set is wrong.
        """
        super().reset(seed=seed)
        begun, changes = self._setup.episode(self.np_random, options)
        raw, measured, _ = self._setup.simulations.reset([(0, begun, changes)])
        return np.frombuffer(raw, "<f4"), Measurement._make(_NUMBERS.unpack(measured))._asdict()

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Take an action for a round, or for the time of a step.

        Args:
            action: One number from -1 to 1, of shape [1]. A number beyond counts as the end of the range.

        Raises:
            RuntimeError: No episode runs.
            ValueError: The action is not one finite number, or the reward is not.
        """
        raw, measured, ended = self._setup.simulations.step(action_of(action, 1), [], False)
        m = Measurement._make(_NUMBERS.unpack(measured))
        over = ended[0]
        reward = float(self._reward(m))
        if not math.isfinite(reward):
            raise ValueError(f"the reward is {reward}: return a finite number")
        return np.frombuffer(raw, "<f4"), reward, over == 2, over == 1, m._asdict()

    def summary(self) -> Summary:
        """Run the episode to its end, as it is, and return its summary. Call ``reset`` afterwards."""
        return summary_of(self._setup.simulations.summary(0))


def action_of(action: Any, rows: int) -> list[float]:
    """Return the actions of all rows as numbers from -1 to 1."""
    if rows == 1 and type(action) is np.ndarray and action.size == 1:
        numbers = [action.item()]
    else:
        array = np.asarray(action)
        if array.size != rows or array.dtype.kind not in "fiu":
            raise ValueError(
                f"an action is of shape {array.shape} and {array.dtype}: give {rows} of shape [1], float32"
            )
        numbers = array.ravel().tolist()
    if not all(map(math.isfinite, numbers)):
        raise ValueError("an action is infinite or not a number: write -1 to 1")
    return [-1.0 if number < -1.0 else 1.0 if number > 1.0 else float(number) for number in numbers]
