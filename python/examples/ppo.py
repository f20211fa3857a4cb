"""Trains a small network by PPO, compares it with NewReno by its own reward, and hands it over as a law.

    python ppo.py [--steps 400000] [--simulations 16] [--evaluate]

PPO (Schulman et al., 2017) is that of stable-baselines3. PyPI has torch for Linux with the libraries of CUDA alone,
which are gigabytes. docs/python.md says how to install it without them on Debian.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from learn import KEYS, judge, path
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv

from penstock import gym

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]

# The eight numbers of an observation, brought near one.
MIDDLE = np.array([1.5, 0, 1, 0, 0.5, 0.5, 5, 0.5], np.float32)
SPREAD = np.array([0.5, 1, 0.5, 1, 0.5, 0.5, 2, 0.5], np.float32)


def scaled(observations: Floats) -> Floats:
    """Return the inputs of the network."""
    return np.asarray(np.clip((observations - MIDDLE) / SPREAD, -10, 10), np.float32)


class Simulations(VecEnv):
    """The vector environment of Penstock as stable-baselines3 has them."""

    def __init__(self, count: int, jobs: int | None) -> None:
        self.envs = gym.CongestionControlVector(
            count, path("6 s"), randomize=KEYS, jobs=jobs, autoreset_mode="SameStep"
        )
        super().__init__(count, self.envs.single_observation_space, self.envs.single_action_space)
        self.actions: Any = None
        self.first: int | None = 1

    def reset(self) -> Floats:
        """Begin all episodes, the first time with a seed."""
        observations, _ = self.envs.reset(seed=self.first)
        self.first = None
        return scaled(observations)

    def step_async(self, actions: Any) -> None:
        """Keep the actions for ``step_wait``."""
        self.actions = actions

    def step_wait(self) -> tuple[Floats, Floats, npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Take a step in each simulation."""
        observations, rewards, ends, limits, info = self.envs.step(self.actions)
        over = ends | limits
        infos: list[dict[str, Any]] = [{} for _ in over]
        for at in np.flatnonzero(over):
            last = scaled(info["final_obs"][at])
            infos[at] = {"terminal_observation": last, "TimeLimit.truncated": bool(limits[at])}
        return scaled(observations), rewards.astype(np.float32), over, infos

    def close(self) -> None:
        """End."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute for each simulation."""
        return [getattr(self.envs, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse."""
        raise NotImplementedError

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Refuse."""
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False: nothing is wrapped."""
        return [False] * self.num_envs

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Set the seed of the next ``reset``."""
        self.first = seed
        return [seed] * self.num_envs


def learn(steps: int, simulations: int, jobs: int | None) -> Any:
    """Return a model that was trained for so many steps."""
    torch.set_num_threads(1)
    shape = {"net_arch": [16, 16], "log_std_init": -1.0}
    model = PPO(
        "MlpPolicy", Simulations(simulations, jobs), n_steps=256, batch_size=512, n_epochs=5, gamma=0.95,
        learning_rate=1e-3, policy_kwargs=shape, seed=1, device="cpu",
    )  # fmt: skip
    return model.learn(steps)


def policy_of(model: Any) -> Callable[[Floats], Array]:
    """Return the mean action of a model as a function of observations, in numpy: the law then needs no torch."""
    weights = {name: value.double().numpy() for name, value in model.policy.state_dict().items()}
    layers = [f"mlp_extractor.policy_net.{at}" for at in (0, 2)]
    w1, w2, w3 = (weights[f"{name}.weight"].T for name in [*layers, "action_net"])
    b1, b2, b3 = (weights[f"{name}.bias"] for name in [*layers, "action_net"])

    def policy(observations: Floats) -> Array:
        hidden = np.tanh(np.tanh(scaled(observations) @ w1 + b1) @ w2 + b2)
        return np.asarray(np.clip(hidden @ w3 + b3, -1, 1), float)

    return policy


def main() -> None:
    """Train, compare, and judge."""
    arguments = argparse.ArgumentParser(description="Trains a policy by PPO against NewReno.")
    arguments.add_argument("--steps", type=int, default=400_000)
    arguments.add_argument("--simulations", type=int, default=16)
    arguments.add_argument("--jobs", type=int)
    arguments.add_argument("--evaluate", action="store_true", help="judge the law by the quick criteria of RFC 9743")
    options = arguments.parse_args()
    began = time.process_time()
    model = learn(options.steps, options.simulations, options.jobs)
    print(f"trained on {model.num_timesteps} steps in {time.process_time() - began:.0f} CPU-seconds")
    judge(policy_of(model), "ppo", options.jobs, options.evaluate)


if __name__ == "__main__":
    main()
