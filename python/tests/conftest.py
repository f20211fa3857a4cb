"""Fixtures of several tests."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

import penstock

TEXT = """
format   = 1
title    = "two flows"
duration = "4 s"
warmup   = "1 s"

[links.bottleneck]
from   = "left"
to     = "right"
rate   = "10 Mbit/s"
delay  = "10 ms"
buffer = "1 bdp"

[flows.cubic]
count  = 2
from   = "left"
to     = "right"
rtt    = "40 ms"
series = true
cc     = { law = "cubic" }
"""


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> None:
    """What a shell starts in the background ignores SIGINT, and Python then does not raise KeyboardInterrupt."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Interrupt:
    """Ctrl-C after a while, and how soon it was obeyed.

    By the time of the processor: on a busy machine this process waits for one, maybe for seconds. A run that goes on
    does so for at least a minute.
    """

    def __init__(self, after_s: float) -> None:
        self.cpu_s = self.wall_s = float("nan")
        self.timer = threading.Timer(after_s, self.interrupt)
        self.timer.start()

    def interrupt(self) -> None:
        self.cpu_s, self.wall_s = time.process_time(), time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    def was_obeyed_in(self, cpu_s: float) -> bool:
        spent = time.process_time() - self.cpu_s
        waited = time.monotonic() - self.wall_s
        self.timer.join()
        return spent < cpu_s and waited < 30


@pytest.fixture
def scenario() -> penstock.Scenario:
    return penstock.Scenario.parse(TEXT, "two.toml")


@pytest.fixture
def long_scenario() -> penstock.Scenario:
    """Takes minutes, if nobody stops it."""
    return penstock.Scenario.parse(TEXT, "long.toml").set("duration", "10 h").set("links.bottleneck.rate", "1 Gbit/s")


@pytest.fixture
def standard_laws() -> Iterator[None]:
    """No law of Python, as in the command: other tests have registered some, and records name the code of all."""
    laws = penstock.registered()
    for name in laws:
        penstock.unregister(name)
    yield
    for law in laws.values():
        penstock.register(law)
