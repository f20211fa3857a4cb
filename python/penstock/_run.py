"""Runs."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Literal

from penstock import _native
from penstock._arguments import seed_of, switch, text
from penstock._errors import ScenarioError
from penstock._native import Scenario
from penstock._record import Record


def run(
    scenario: Scenario | str | os.PathLike[str],
    world: Literal["packets", "fluid", "linux"] = "packets",
    seed: int | None = None,
    series: bool = True,
    out: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[float], object] | None = None,
    packets: bool = False,
) -> Record:
    """Run a scenario and return its record.

    Other threads of Python run meanwhile. Ctrl-C stops the run with ``KeyboardInterrupt``.

    Args:
        scenario: A scenario of one cell, or the path of its file.
        world: ``packets`` simulates packets. ``fluid`` solves delay differential equations. ``linux`` sends real
            packets.
        seed: The seed, from 0 to 2**63 - 1. None is the scenario's own, which is 1 by default.
        series: Whether the record has series over time. Without them it has one row a flow and the summary.
        out: A directory. The record is written there under a fresh name, as the command ``penstock run`` writes it.
        progress: A function of the share done, 0 to 1. The last call of a run that ends well has 1.0. True shows a bar,
            which the package tqdm draws. None does so in a terminal where tqdm is installed. False shows nothing.
        packets: Whether the record has the table ``packets``: one row for each packet at either end of its flow. It
            stays in memory. Only the packets world has it.

    Raises:
        ScenarioError: The scenario is wrong, is a sweep, or contradicts itself.
        UnsupportedError: The world or the machine cannot run it.
        LawError: A law gave an output that is not a number.
    """
    scenario = scenario_of(scenario)
    seed, series, packets = seed_of(seed), switch("series", series), switch("packets", packets)
    world_of(world)
    if out is not None and "penstock._law" in sys.modules:
        # The record on disk names the code of the laws.
        importlib.import_module("penstock._law").refresh()
    show, close = progress_of(progress)
    try:
        record = Record(_native.run(scenario, world, seed, series, packets, out, show))
        if show is not None:
            # The run itself looks now and then, the last time before its end.
            show(1.0)
        return record
    finally:
        close()


def scenario_of(scenario: Scenario | str | os.PathLike[str]) -> Scenario:
    """Return a scenario, read from its file if it is a path."""
    if isinstance(scenario, Scenario):
        return scenario
    if not isinstance(scenario, (str, os.PathLike)):
        raise TypeError(f"scenario is of class {type(scenario).__name__}: give a penstock.Scenario or a path")
    return Scenario.read(scenario)


def world_of(world: object) -> str:
    """Return the name of a world, if it is one."""
    name = text("world", world, "packets, fluid or linux")
    if name not in ("packets", "fluid", "linux"):
        raise ScenarioError(f"no world is named `{name}`: write packets, fluid or linux")
    return name


def progress_of(
    progress: bool | Callable[[float], object] | None,
) -> tuple[Callable[[float], object] | None, Callable[[], None]]:
    """Return the function that hears how far a run is, and the one that ends it."""
    if callable(progress):
        return progress, lambda: None
    if not (progress is None or isinstance(progress, bool)):
        raise TypeError(f"progress is of class {type(progress).__name__}: write a bool or a function of the share done")
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return None, lambda: None
    try:
        tqdm = importlib.import_module("tqdm.auto").tqdm
    except ImportError:
        if progress:
            raise ImportError("progress=True draws a bar with tqdm: install it with `pip install tqdm`") from None
        return None, lambda: None
    bar = tqdm(total=1.0, bar_format="{l_bar}{bar}| {elapsed}<{remaining}", leave=False)

    def show(done: float) -> None:
        bar.update(done - bar.n)
        if done == 1:
            # An update just after another one draws nothing.
            bar.refresh()

    return show, bar.close
