"""What several tests use."""

from __future__ import annotations

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


@pytest.fixture
def scenario() -> penstock.Scenario:
    return penstock.Scenario.parse(TEXT, "two.toml")


@pytest.fixture
def long_scenario() -> penstock.Scenario:
    """Takes minutes, if nobody stops it."""
    return penstock.Scenario.parse(TEXT, "long.toml").set("duration", "10 h").set("links.bottleneck.rate", "1 Gbit/s")
