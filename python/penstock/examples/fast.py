"""FAST TCP (Jin et al., "FAST TCP: From Theory to Experiments", 2003, section 4)."""

from __future__ import annotations

import penstock
from penstock import Observation, SenderContext
from penstock.math import max, min


@penstock.register
class Fast(penstock.Controller):
    """FAST TCP in Python: an equation-based window, driven by queueing delay."""

    name = "fast-python"
    source = "Jin et al., FAST TCP: From Theory to Experiments, 2003, section 4"

    alpha = penstock.parameter(100.0, unit="packets", range=(0.0, 1e6), description="packets that a flow keeps queued")
    gamma = penstock.parameter(0.5, range=(1e-6, 1.0), description="step size")
    rtt_most = penstock.parameter(0.25, range=(1e-6, 1.0), description="maximum weight of a sample in the average")

    window = penstock.state("packets", words="Congestion window", description="How many packets may be in flight.")

    def start(self, context: SenderContext) -> None:
        """Begin with the initial window, two packets at least."""
        self.keep = 1.0 - self.gamma
        self.window = max(context.initial_window, 2.0)

    def requirements(self) -> penstock.Requirements:
        """Require the average of section 4."""
        return penstock.Requirements(average_rtt=penstock.RttAverage(over_window=3.0, most=self.rtt_most))

    def on_round(self, observation: Observation) -> None:
        """Take the step of section 4, at most to twice the window."""
        window = self.window
        target = window * (observation.base_rtt_s / observation.rtt_s) + self.alpha
        self.window = max(min(self.keep * window + self.gamma * target, 2.0 * window), 2.0)

    def on_congestion(self, observation: Observation) -> None:
        """Halve."""
        self.window = max(self.window * 0.5, 2.0)

    def on_timeout(self, observation: Observation) -> None:
        """Start over."""
        self.window = 2.0

    def output(self, observation: Observation) -> tuple[float, float]:
        """Spread the window over the round trip."""
        return self.window, observation.rtt_s / self.window
