"""Fixtures of several tests."""

from __future__ import annotations

import importlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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


def bench_script(name: str) -> Any:
    """A script of bench/, which is no package; it imports its neighbours."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).resolve().parents[2] / "bench")
        return importlib.import_module(name)


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


class Breaks(penstock.Controller):
    """Does what it is told to, when it is told to."""

    name = "breaks"
    when = penstock.parameter(words=["never", "start", "on_ack", "on_congestion", "on_round", "on_timeout", "output"])
    window = penstock.state("packets")
    wrong: Callable[[Any], object] = staticmethod(lambda law: 1 / 0)

    def start(self, context: penstock.SenderContext) -> None:
        self.window = 20.0
        self.maybe("start")

    def maybe(self, what: str) -> None:
        if self.when == what:
            self.wrong(self)

    def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
        self.window += 1 / self.window
        self.maybe("on_ack")

    def on_congestion(self, observation: penstock.Observation) -> None:
        self.window /= 2
        self.maybe("on_congestion")

    def on_round(self, observation: penstock.Observation) -> None:
        self.maybe("on_round")

    def output(self, observation: penstock.Observation) -> Any:
        self.maybe("output")
        return self.window


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Any], object]], None]:
    def told(wrong: Callable[[Any], object]) -> None:
        monkeypatch.setattr(Breaks, "wrong", staticmethod(wrong))
        penstock.register(Breaks)

    return told
