"""Penstock: an open-source laboratory for congestion control.

>>> import penstock
>>> scenario = penstock.Scenario.read("scenarios/two-way.toml")
>>> record = penstock.run(scenario.set("duration", "20 s"))
>>> record.summary.links["bottleneck"].utilization
"""

from __future__ import annotations

from penstock import summary
from penstock._errors import BugError, LawError, ScenarioError, UnsupportedError
from penstock._native import Scenario, Table, __version__
from penstock._record import Record
from penstock._run import run
from penstock._sweep import Sweep, sweep

__all__ = [
    "BugError",
    "LawError",
    "Record",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "Table",
    "UnsupportedError",
    "__version__",
    "run",
    "summary",
    "sweep",
]
