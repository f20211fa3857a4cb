"""The PI controller (Hollot, Misra, Towsley and Gong, "On Designing Improved Controllers for AQM Routers", 2001)."""

from __future__ import annotations

import penstock
from penstock import AqmContext, AqmObservation
from penstock.math import clamp, min


@penstock.register
class Pi(penstock.Aqm):
    """PI in Python: a marking probability that drives the queue to its reference."""

    name = "pi-python"
    source = "Hollot, Misra, Towsley and Gong 2001, On Designing Improved Controllers for AQM Routers"

    ecn = penstock.parameter(False, description="mark ECN-capable packets, drop only the others", source="RFC 3168")
    a = penstock.parameter(1.822e-5, range=(0.0, 1.0), description="gain on the excess of the queue now [1/packet]")
    b = penstock.parameter(1.816e-5, range=(0.0, 1.0), description="gain on the excess one update before [1/packet]")
    qref = penstock.parameter(50.0, unit="packets", range=(0.0, 1e9), description="queue to hold")
    frequency = penstock.parameter(170.0, range=(0.1, 1e5), description="updates a second [1/s]")
    bytes = penstock.parameter(True, description="count the queue in bytes, and mark in proportion to packet size")

    probability = penstock.state(
        "1", words="Marking probability", description="Marking probability of a packet of mean size."
    )
    queue_before = penstock.state("packets", words="Queue at the last update", description="Queue at the last update.")

    def start(self, context: AqmContext) -> None:
        """Begin with an empty queue."""
        self.mean_packet = self.size = context.packet_bytes
        self.probability = self.queue_before = 0.0

    def requirements(self) -> penstock.AqmRequirements:
        """Require the updates."""
        return penstock.AqmRequirements(
            decides="arrival", tick_s=1.0 / self.frequency, marks=self.ecn, bytes=self.bytes
        )

    def on_arrival(self, observation: AqmObservation, bytes: int, idle: int) -> None:
        """Keep the size, which counts where the queue is in bytes."""
        if self.bytes:
            self.size = bytes

    def on_tick(self, observation: AqmObservation) -> None:
        """Take the step of the trapezoidal rule."""
        queue = observation.queue
        change = self.a * (queue - self.qref) - self.b * (self.queue_before - self.qref)
        self.probability = clamp(self.probability + change, 0.0, 1.0)
        self.queue_before = queue

    def output(self, observation: AqmObservation) -> float:
        """Mark in proportion to the size of the packet."""
        if self.size == self.mean_packet:
            return self.probability
        return min(self.probability * (self.size / self.mean_packet), 1.0)
