"""Environments for learning agents, by the API of Gymnasium.

>>> import gymnasium
>>> import penstock.gym
>>> env = gymnasium.make("penstock/CongestionControl-v0", reward="power", step="20 ms")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

``gymnasium.make`` gives one flow. ``gymnasium.make_vec`` gives many simulations on threads, each of one flow or
of many.
"""

from __future__ import annotations

try:
    import gymnasium as _gymnasium
except ImportError:
    raise ImportError("penstock.gym needs gymnasium and numpy: install them with `pip install gymnasium`") from None

from penstock.gym._env import CongestionControl
from penstock.gym._measure import ACTION, OBSERVATION, REWARDS, Measurement, Quantity, aurora, power, remy
from penstock.gym._policy import controller
from penstock.gym._random import Choice, Integers, LogUniform, Uniform
from penstock.gym._score import Score, score
from penstock.gym._setup import PATH
from penstock.gym._vector import CongestionControlVector

__all__ = [
    "ACTION",
    "ENVIRONMENT",
    "OBSERVATION",
    "PATH",
    "REWARDS",
    "Choice",
    "CongestionControl",
    "CongestionControlVector",
    "Integers",
    "LogUniform",
    "Measurement",
    "Quantity",
    "Score",
    "Uniform",
    "aurora",
    "controller",
    "power",
    "remy",
    "score",
]

ENVIRONMENT = "penstock/CongestionControl-v0"
"""The name of the environment."""

if ENVIRONMENT not in _gymnasium.registry:
    _gymnasium.register(
        ENVIRONMENT,
        entry_point="penstock.gym:CongestionControl",
        vector_entry_point="penstock.gym:CongestionControlVector",
    )
