"""Policies as laws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock
from penstock._arguments import switch, text, whole
from penstock.gym._measure import ACTION, OBSERVATION
from penstock.gym._setup import MOST_STEPS, Floats
from penstock.math import exp, log

_LN_2 = 0.6931471805599453
_LEAST = [quantity.least for quantity in OBSERVATION]
_MOST = [quantity.most for quantity in OBSERVATION]


def controller(
    policy: Callable[[Floats], Any], name: str, *, history: int = 1, ecn: bool = False, source: str = "a learned policy"
) -> type[penstock.Controller]:
    """Make a law of a policy and register it: runs, sweeps, ``penstock.evaluate`` and reports then know its name.

    The law observes what an environment with ``step="round"`` and ``action="window"`` does, and acts when it does: at
    the start, at the end of each round, and after a timeout. So a run of the law is an episode of the policy.

    Args:
        policy: A function of an observation, float32 of shape [8 history], that returns the action. It has no state.
        name: The name in scenarios.
        history: How many steps an observation has.
        ecn: Whether packets can be marked.
        source: Where the policy comes from.

    Raises:
        ScenarioError: The name is taken, or is not a name.
    """
    if not callable(policy):
        raise TypeError(f"policy is of class {type(policy).__name__}: write a function of an observation")
    text("name", name, "a text, the name in scenarios")
    text("source", source, "a text")
    history = whole("history", history, 1, MOST_STEPS)
    ecn = switch("ecn", ecn)
    title, paper = f"a policy over {history} steps" if history > 1 else "a policy", source

    class Policy(penstock.Controller):
        window = penstock.state("packets", words="Congestion window", description="How many packets may be in flight.")
        not_linear = "it is a learned policy"

        def start(self, context: penstock.SenderContext) -> None:
            self.window = context.initial_window
            self.began_s = self.heard_rtt_s = self.best_rate = 0.0
            first = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, max(log(self.window) / _LN_2, 0.0), 0.0]
            self.observation = np.tile(np.array(first, np.float32), history)
            self.act()

        def requirements(self) -> penstock.Requirements:
            return penstock.Requirements(now=True, marks="counted" if ecn else "ignored")

        def act(self) -> None:
            action = float(np.asarray(policy(self.observation)).ravel()[0])
            action = min(max(action, ACTION.least), ACTION.most)
            self.window = min(max(self.window * exp(action * _LN_2), 1.0), 2.0**20)
            self.acknowledged = self.marked = self.congestion_events = self.timeouts = 0
            self.rtt_sum_s, self.rtts = 0.0, 0

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            self.acknowledged += packets
            self.marked += marked
            rtt_s = observation.rtt_s
            if rtt_s > 0:
                self.rtt_sum_s += rtt_s
                self.rtts += 1

        def on_congestion(self, observation: penstock.Observation) -> None:
            self.congestion_events += 1

        def on_timeout(self, observation: penstock.Observation) -> None:
            self.timeouts += 1
            self.observe(observation)
            self.act()

        def on_round(self, observation: penstock.Observation) -> None:
            self.observe(observation)
            self.act()

        def observe(self, observation: penstock.Observation) -> None:
            now_s, base_rtt_s, before_s = observation.now_s, observation.base_rtt_s, self.heard_rtt_s
            span_s, self.began_s = now_s - self.began_s, now_s
            rtt_s = self.rtt_sum_s / self.rtts if self.rtts else before_s
            rate = self.acknowledged / span_s if span_s > 0 else 0.0
            self.heard_rtt_s, self.best_rate = rtt_s, max(self.best_rate, rate)
            values = [
                rtt_s / base_rtt_s if base_rtt_s > 0 and rtt_s > 0 else 1.0,
                (rtt_s - before_s) / span_s if before_s > 0 and span_s > 0 else 0.0,
                rate * rtt_s / self.window,
                self.marked / self.acknowledged if self.acknowledged else 0.0,
                float(self.congestion_events),
                float(self.timeouts),
                log(self.window) / _LN_2,
                rate / self.best_rate if self.best_rate > 0 else 0.0,
            ]
            self.observation = np.append(
                self.observation[len(values) :], np.clip(values, _LEAST, _MOST).astype(np.float32)
            )

    Policy.name, Policy.source, Policy.__doc__ = name, paper, f"Window of {title}."
    Policy.__name__ = Policy.__qualname__ = name
    return penstock.register(Policy)
