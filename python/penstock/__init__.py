"""Penstock: an open-source laboratory for congestion control.

>>> import penstock
>>> scenario = penstock.Scenario.read("scenarios/two-way.toml")
>>> record = penstock.run(scenario.set("duration", "20 s"))
>>> record.summary.links["bottleneck"].utilization
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from penstock import math
from penstock._errors import BugError, LawError, ScenarioError, UnsupportedError
from penstock._native import AqmObservation, Dual, Observation, Scenario, Table, __version__
from penstock._record import Record
from penstock._run import run

if TYPE_CHECKING:
    from penstock import summary
    from penstock._judged import Evaluation, Failures, compare, evaluate, find_failures, paper
    from penstock._law import (
        Aqm,
        AqmContext,
        AqmRequirements,
        Controller,
        Price,
        Queue,
        Requirements,
        RttAverage,
        SenderContext,
        parameter,
        register,
        registered,
        state,
        unregister,
    )
    from penstock._sweep import Sweep, sweep
    from penstock._theory import (
        Analysis,
        ClassEquilibrium,
        LinkEquilibrium,
        Loop,
        LoopModel,
        Margins,
        StabilityMap,
        Tuned,
        analyze,
        stability_map,
        tune,
    )
else:
    # A program that only runs scenarios does not wait for these: to import all takes four times as long.
    _LATER = ("_law", "_sweep", "_theory", "_judged")

    def __getattr__(name):
        """Import the module of a public name when it is first used."""
        if name == "summary":
            return import_module("penstock.summary")
        modules = (import_module(f"penstock.{module}") for module in _LATER if name in __all__)
        value = next((getattr(module, name) for module in modules if hasattr(module, name)), None)
        if value is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        globals()[name] = value
        return value

    def __dir__():
        """Public names, whether or not their modules are imported."""
        return sorted({*globals(), *__all__})


__all__ = [
    "Analysis",
    "Aqm",
    "AqmContext",
    "AqmObservation",
    "AqmRequirements",
    "BugError",
    "ClassEquilibrium",
    "Controller",
    "Dual",
    "Evaluation",
    "Failures",
    "LawError",
    "LinkEquilibrium",
    "Loop",
    "LoopModel",
    "Margins",
    "Observation",
    "Price",
    "Queue",
    "Record",
    "Requirements",
    "RttAverage",
    "Scenario",
    "ScenarioError",
    "SenderContext",
    "StabilityMap",
    "Sweep",
    "Table",
    "Tuned",
    "UnsupportedError",
    "__version__",
    "analyze",
    "compare",
    "evaluate",
    "find_failures",
    "math",
    "paper",
    "parameter",
    "register",
    "registered",
    "run",
    "stability_map",
    "state",
    "summary",
    "sweep",
    "tune",
    "unregister",
]
