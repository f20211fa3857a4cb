"""NewReno (RFC 5681; RFC 6582; RFC 3168)."""

from __future__ import annotations

import penstock
from penstock import Observation, SenderContext
from penstock.math import max


@penstock.register
class NewReno(penstock.Controller):
    """NewReno in Python: one packet more per round trip, half after a congestion event."""

    name = "newreno-python"
    source = "RFC 5681; RFC 6582; RFC 3168"

    ecn = penstock.parameter(False, description="use ECN: an echo is a congestion event", source="RFC 3168")
    grow_on_echo = penstock.parameter(False, description="grow the window on acknowledgements with an echo too")
    per_ack = penstock.parameter(
        1.0,
        unit="packets",
        range=(1.0, 65535.0),
        description="most packets that one acknowledgement counts for when the window grows",
        source="RFC 5681, equations (2) and (3); 2 is the limit L of RFC 3465",
    )

    window = penstock.state("packets", words="Congestion window", description="How many packets may be in flight.")
    ssthresh = penstock.state(
        "packets", words="Slow-start threshold", description="Below it, the window doubles each round trip."
    )

    def start(self, context: SenderContext) -> None:
        """Begin in slow start."""
        self.window = context.initial_window
        self.ssthresh = context.initial_ssthresh

    def requirements(self) -> penstock.Requirements:
        """Return what an echo is."""
        return penstock.Requirements(marks="congestion" if self.ecn else "ignored")

    def on_ack(self, observation: Observation, packets: int, marked: int) -> None:
        """Grow."""
        counted = packets if self.grow_on_echo else packets - marked
        if counted > self.per_ack:
            counted = int(self.per_ack)
        if counted == 0:
            return
        if self.window < self.ssthresh:
            self.window += counted  # (2)
        else:
            self.window += counted / self.window  # (3)

    def on_congestion(self, observation: Observation) -> None:
        """Halve."""
        self.window = self.ssthresh = max(self.window * 0.5, 2.0)  # (4)

    def on_timeout(self, observation: Observation) -> None:
        """Start over."""
        self.ssthresh = max(self.window * 0.5, 2.0)  # (4)
        self.window = 1.0
