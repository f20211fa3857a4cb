"""Many simulations, and many flows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from penstock._arguments import seed_of, whole
from penstock._native import Scenario
from penstock._sweep import processors
from penstock.gym._env import action_of
from penstock.gym._measure import Measurement
from penstock.gym._random import Distribution
from penstock.gym._setup import Floats, Setup, finite, measurement_of

Numbers = npt.NDArray[Any]


class CongestionControlVector(gymnasium.vector.VectorEnv[Floats, Floats, Numbers]):
    """Simulations side by side on threads of this process, each with one flow or more under agents.

    A row is a flow: those of the first simulation, then those of the second. ``num_envs`` of the environment is the
    number of rows, simulations times flows. The flows of one simulation share links and the end of the episode, so an
    agent for each learns against the others. The interpreter's lock is free during a step.

    The seed of ``reset`` decides everything, whatever the number of threads. Simulation k draws from seed + k, so that
    its episodes are those of ``CongestionControl`` with that seed.
    """

    def __init__(
        self,
        num_envs: int = 1,
        scenario: Scenario | str | os.PathLike[str] | None = None,
        flows: str | Sequence[str] | None = None,
        reward: str | Callable[[Measurement], Any] = "power",
        step: str = "round",
        action: Literal["window", "rate"] = "window",
        ecn: bool = False,
        randomize: Mapping[str, Distribution] | None = None,
        history: int = 1,
        jobs: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        """Make an environment.

        Args:
            num_envs: How many simulations.
            scenario: As of ``CongestionControl``.
            flows: The groups of flows under agents. None is all.
            reward: A function of a ``Measurement`` whose fields are arrays of shape [rows], or a name.
            step: As of ``CongestionControl``. With several flows a round ends when each that has data has ended one.
            action: As of ``CongestionControl``.
            ecn: As of ``CongestionControl``.
            randomize: As of ``CongestionControl``. Each simulation draws for itself.
            history: As of ``CongestionControl``.
            jobs: Threads, one a processor by default.
            autoreset_mode: When the next episode begins: at the ``NextStep`` after the end, at the ``SameStep``, or
                when ``reset`` says so (``Disabled``).

        Raises:
            ScenarioError: The scenario is wrong, or has no such group.
            UnsupportedError: The packets world cannot run it.
        """
        threads = processors() if jobs is None else jobs
        self._setup = Setup(scenario, flows, reward, step, action, ecn, randomize, history, num_envs, threads)
        self._count, self._agents = num_envs, self._setup.simulations.agents
        self.num_envs = num_envs * self._agents
        self.single_observation_space = self._setup.observation_space
        self.single_action_space = self._setup.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self._mode, "render_modes": []}
        self._draws: list[np.random.Generator] = []
        self._ended, self._begun = np.zeros(num_envs, bool), np.zeros(num_envs, bool)
        self._true = np.ones(self.num_envs, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin an episode in each simulation, or in those of ``options["reset_mask"]``, bools of shape [rows].

        Args:
            seed: A seed for all, of which simulation k has seed + k, or a list of one for each. None goes on drawing.
            options: As of ``CongestionControl``, for all alike.
        """
        seeds = self._seeds(seed)
        if not self._draws:
            self._draws = [seeding.np_random(None)[0] for _ in range(self._count)]
        for k, one in enumerate(seeds):
            if one is not None:
                self._draws[k] = seeding.np_random(one)[0]
        mask = None if options is None else options.get("reset_mask")
        which = np.ones(self._count, bool) if mask is None else self._simulations(mask)
        if not (self._begun | which).all():
            raise ValueError("reset_mask leaves simulations out that never began: reset all first")
        raw, measured, _ = self._setup.simulations.reset(self._episodes(which, options))
        self._begun |= which
        self._ended = np.where(which, False, self._ended)
        return self._observation(raw), self._info(self._measured(measured))

    def _seeds(self, seed: Any) -> list[int | None]:
        """Return the seed of each simulation; None goes on drawing."""
        if seed is None:
            return [None] * self._count
        if not hasattr(seed, "__len__") or getattr(seed, "ndim", 1) == 0:
            first = whole("seed", seed, 0, 2**63 - self._count)
            return [first + k for k in range(self._count)]
        if len(seed) != self._count:
            raise ValueError(f"seed has {len(seed)} numbers: give one, or one for each of {self._count} simulations")
        return [seed_of(one) for one in seed]

    def step(self, actions: Floats, hold: bool = False) -> tuple[Floats, Numbers, Numbers, Numbers, dict[str, Any]]:
        """Take an action for each row.

        Args:
            actions: Numbers from -1 to 1, of shape [rows, 1].
            hold: Whether simulations whose episode is over stand still. If not, they are an error.

        Raises:
            RuntimeError: No episode runs.
            ValueError: The actions are not one finite number a row, or the rewards are not.
        """
        numbers = action_of(actions, self.num_envs)
        begin = self._episodes(self._ended) if self._mode is AutoresetMode.NEXT_STEP and self._ended.any() else []
        raw, measured, ended = self._setup.simulations.step(numbers, begin, hold)
        m = self._measured(measured)
        over = np.frombuffer(ended, np.uint8)
        rewards = finite(self._setup.reward(m))
        if rewards.shape != (self.num_envs,):
            raise ValueError(f"the reward is of shape {rewards.shape}: return one number a row, [{self.num_envs}]")
        if begin:
            # The first observation of an episode has no reward.
            rewards = np.where(np.repeat(self._ended, self._agents), 0.0, rewards)
        self._ended = over[:: self._agents] > 0
        observation, info = self._observation(raw), self._info(m)
        if self._mode is AutoresetMode.SAME_STEP and self._ended.any():
            rows = over > 0
            last = np.full(self.num_envs, None, object)
            for at in np.flatnonzero(rows):
                last[at] = observation[at]
            info |= {"final_obs": last, "_final_obs": rows, "final_info": dict(info), "_final_info": rows}
            raw, measured, _ = self._setup.simulations.reset(self._episodes(self._ended))
            observation = self._observation(raw)
            info |= self._info(self._measured(measured))
            self._ended = np.zeros(self._count, bool)
        return observation, rewards, over == 2, over == 1, info

    def _simulations(self, mask: Any) -> npt.NDArray[np.bool_]:
        rows = np.asarray(mask)
        if rows.shape != (self.num_envs,) or rows.dtype != np.bool_:
            raise ValueError(f"reset_mask is of shape {rows.shape} and {rows.dtype}: give bools of [{self.num_envs}]")
        flows = rows.reshape(self._count, self._agents)
        if (flows.any(axis=1) != flows.all(axis=1)).any():
            raise ValueError("reset_mask divides the flows of a simulation: they begin together")
        return np.asarray(flows.all(axis=1))

    def _episodes(
        self, which: npt.NDArray[np.bool_], options: Mapping[str, Any] | None = None
    ) -> list[tuple[int, int, list[tuple[str, str]]]]:
        chosen = map(int, np.flatnonzero(which))
        return [(k, *self._setup.episode(self._draws[k], options)) for k in chosen]

    def _observation(self, raw: bytearray) -> Floats:
        return np.frombuffer(raw, "<f4").reshape(self.num_envs, -1)

    def _measured(self, measured: bytearray) -> Measurement:
        return measurement_of(np.frombuffer(measured, "<f8").reshape(self.num_envs, -1))

    def _info(self, m: Measurement) -> dict[str, Any]:
        info: dict[str, Any] = dict(zip(Measurement._fields, m, strict=True))
        return info | {f"_{name}": self._true for name in Measurement._fields}
