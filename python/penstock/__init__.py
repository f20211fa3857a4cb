"""Penstock: an open-source laboratory for congestion control.

>>> import penstock
>>> scenario = penstock.Scenario.read("scenarios/two-way.toml")
>>> record = penstock.run(scenario.set("duration", "20 s"))
>>> record.summary.links["bottleneck"].utilization
"""

from __future__ import annotations

from penstock import math, summary
from penstock._errors import BugError, LawError, ScenarioError, UnsupportedError
from penstock._judged import Evaluation, Failures, compare, evaluate, find_failures, paper
from penstock._law import (
    Aqm,
    AqmContext,
    AqmRequirements,
    Controller,
    Price,
    Requirements,
    RttAverage,
    SenderContext,
    parameter,
    register,
    registered,
    state,
    unregister,
)
from penstock._native import AqmObservation, Dual, Observation, Scenario, Table, __version__
from penstock._record import Record
from penstock._run import run
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
