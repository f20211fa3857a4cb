"""Trains a policy that beats NewReno by its own reward, and hands it over as a law.

    python learn.py [--generations 30] [--evaluate]

The policy is linear: nine numbers. The cross-entropy method finds them (Rubinstein, 1999): draw policies, keep the
best, fit the distribution to them. It needs numpy alone. ``ppo.py`` trains a network by PPO on the same paths.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import penstock
from penstock import Scenario, gym

Array = npt.NDArray[np.float64]

# A rate, a round-trip time and a buffer for each episode.
KEYS: dict[str, Any] = {
    "links.bottleneck.rate": gym.LogUniform(2, 50, "Mbit/s"),
    "flows.agent.rtt": gym.Uniform(20, 100, "ms"),
    "links.bottleneck.buffer": gym.Choice("0.5 bdp", "1 bdp", "2 bdp"),
}
FEATURES = 9


def path(duration: str) -> Scenario:
    """Return one flow on one link."""
    return Scenario.parse(gym.PATH, "path.toml").set("duration", duration)


def actions(weights: Array, observations: npt.NDArray[np.float32]) -> Array:
    """Return the actions of policies of shape [rows, 9], or of one of shape [9]."""
    features = np.concatenate([observations, np.ones((len(observations), 1), np.float32)], axis=1)
    # The window itself is on a scale of its own.
    features = features * np.array([1, 1, 1, 1, 1, 1, 0.1, 1, 1])
    return np.asarray(np.clip((features * weights).sum(axis=1, keepdims=True), -1, 1))


def returns(weights: Array, seed: int, jobs: int | None) -> Array:
    """Return the mean reward over time of each policy, in the same episode."""
    count = len(weights)
    envs = gym.CongestionControlVector(count, path("6 s"), randomize=KEYS, jobs=jobs, autoreset_mode="Disabled")
    observation, _ = envs.reset(seed=[seed] * count)
    total, spent, running = np.zeros(count), np.zeros(count), np.ones(count, bool)
    while running.any():
        observation, reward, _, over, info = envs.step(actions(weights, observation).astype(np.float32), hold=True)
        span = np.where(running, info["duration_s"], 0.0)
        total, spent, running = total + reward * span, spent + span, running & ~over
    return total / spent


def learn(generations: int, members: int = 32, episodes: int = 3, jobs: int | None = None) -> Array:
    """Return the weights of a policy."""
    rng = np.random.default_rng(1)
    mean, spread = np.zeros(FEATURES), np.full(FEATURES, 0.5)
    for generation in range(generations):
        weights = mean + spread * rng.standard_normal((members, FEATURES))
        seeds = rng.integers(2**31, size=episodes)
        values = np.mean([returns(weights, int(seed), jobs) for seed in seeds], axis=0)
        best = weights[np.argsort(values)[-members // 4 :]]
        # Some spread stays, so that an early favourite does not decide.
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.1 * 0.9**generation
        print(f"generation {generation + 1}: best {values.max():.3f}, mean {values.mean():.3f}", flush=True)
    return mean


def judge(policy: Callable[[npt.NDArray[np.float32]], Array], name: str, jobs: int | None, evaluate: bool) -> None:
    """Compare a policy with NewReno by the reward, and run it as a law of that name."""
    # Episodes that training did not have.
    fresh: dict[str, Any] = {
        "scenario": path("20 s"),
        "randomize": KEYS,
        "episodes": 20,
        "seed": 10**6,
        "step": "round",
    }
    learned = gym.score(policy, **fresh).reward
    newreno = gym.score(None, **fresh).reward
    better = (learned > newreno).sum()
    print(f"reward: {name} {learned.mean():.3f}, newreno {newreno.mean():.3f}; better in {better} of 20")

    law = gym.controller(policy, name)
    group = penstock.run(path("20 s").set("flows.agent.cc", {"law": law.name})).summary.groups["agent"]
    goodput, rtt_s = group.goodput_bit_per_s, group.rtt_mean_s or 0.0
    print(f"as a law: goodput {goodput / 1e6:.2f} Mbit/s, mean round trip {rtt_s * 1e3:.1f} ms")
    if evaluate:
        evaluation = penstock.evaluate(law, "quick", jobs=jobs)
        for criterion, verdict in evaluation.verdicts.items():
            print(f"{criterion}: {verdict}")


def main() -> None:
    """Train, compare, and judge."""
    arguments = argparse.ArgumentParser(description="Trains a policy against NewReno.")
    arguments.add_argument("--generations", type=int, default=30)
    arguments.add_argument("--jobs", type=int)
    arguments.add_argument("--evaluate", action="store_true", help="judge the law by the quick criteria of RFC 9743")
    options = arguments.parse_args()
    began = time.process_time()
    weights = learn(options.generations, jobs=options.jobs)
    print(f"trained in {time.process_time() - began:.0f} CPU-seconds: {np.round(weights, 3).tolist()}")
    judge(lambda observation: actions(weights, np.atleast_2d(observation)), "learned", options.jobs, options.evaluate)


if __name__ == "__main__":
    main()
