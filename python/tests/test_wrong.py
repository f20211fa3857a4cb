"""Wrong calls: each gives one exception that says what would do, and the interpreter goes on."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import TEXT

import penstock
from penstock import Record, Scenario, ScenarioError, UnsupportedError


def parsed(old: str, new: str) -> Callable[[], object]:
    assert old in TEXT
    return lambda: penstock.run(Scenario.parse(TEXT.replace(old, new)))


def keys(**changed: Any) -> Callable[[], object]:
    return lambda: penstock.run(Scenario.from_dict({"format": 1, "duration": "1 s", **changed}))


def ran(**arguments: Any) -> Callable[[], object]:
    return lambda: penstock.run(Scenario.parse(TEXT), **arguments)


def changed(key: Any, value: Any) -> Callable[[], object]:
    return lambda: penstock.run(Scenario.parse(TEXT).set(key, value))


def record() -> Record:
    return penstock.run(Scenario.parse(TEXT))


def fluid() -> object:
    return penstock.run(Scenario.parse(TEXT.replace('law = "cubic"', 'law = "copa"')), world="fluid")


def gone() -> Record:
    """A record whose directory was removed after it had been opened."""
    with tempfile.TemporaryDirectory() as home:
        made = penstock.run(Scenario.parse(TEXT), out=home)
        assert made.path is not None
        opened = Record.open(made.path)
    assert len(opened.links) > 0
    return opened


circle: dict[str, Any] = {}
circle["links"] = circle

CALLS: list[tuple[str, Callable[[], object], type[Exception], str]] = [
    ("a unit that is none", parsed('"10 Mbit/s"', '"10 Mbit"'), ScenarioError, "is not a rate"),
    ("a unit of another quantity", parsed('"40 ms"', '"40 Mbit/s"'), ScenarioError, "is not a duration"),
    ("a number without a unit", parsed('"10 Mbit/s"', "10"), ScenarioError, "links.bottleneck.rate"),
    ("an unknown key", parsed("count  = 2", "cuont  = 2"), ScenarioError, "cuont"),
    ("an unknown law", parsed('"cubic" }', '"cubik" }'), ScenarioError, "`cubic`"),
    (
        "an unknown node",
        changed("flows.cubic.from", "lfet"),
        ScenarioError,
        "lfet",
    ),
    ("text that is not TOML", parsed("count  = 2", "count  = = 2"), ScenarioError, "TOML"),
    ("another format", parsed("format   = 1", "format   = 9"), ScenarioError, "format"),
    ("no links", keys(flows={}), ScenarioError, "links"),
    ("a warm-up beyond the end", parsed('"1 s"', '"9 s"'), ScenarioError, "warm-up"),
    ("a negative count", changed("flows.cubic.count", -1), ScenarioError, "flows.cubic.count"),
    ("a count that is no whole number", changed("flows.cubic.count", 1.5), ScenarioError, "flows.cubic.count"),
    ("a probability above one", changed("links.bottleneck.loss", 1.5), ScenarioError, "links.bottleneck.loss"),
    ("a number that is none", changed("links.bottleneck.loss", float("nan")), ScenarioError, "links.bottleneck.loss"),
    (
        "a window that is negative",
        changed("flows.cubic.cc", {"law": "cbr", "rate": "-1 Mbit/s"}),
        ScenarioError,
        "rate",
    ),
    ("a link that is not there", changed("links.back.rate", "1 Mbit/s"), ScenarioError, "no link is named"),
    ("a key that is none", changed("links..rate", "1 Mbit/s"), ScenarioError, "dotted key"),
    ("a key of another class", changed(7, "1 Mbit/s"), TypeError, "'int'"),
    ("a value of another class", changed("duration", object()), TypeError, "duration is of class object"),
    ("a value that is None", changed("duration", None), TypeError, "NoneType"),
    ("a whole number of 70 bits", changed("seed", 2**70), ValueError, "64 bits"),
    ("a dict with a number as a key", keys(links={1: {}}), TypeError, "a key of links is of class int"),
    ("a dict that contains itself", lambda: Scenario.from_dict(circle), ValueError, "contain itself"),
    ("a list for a dict", lambda: Scenario.from_dict([]), TypeError, "not of class list"),  # type: ignore[arg-type]
    ("a text with half a character", lambda: Scenario.parse("\ud800"), UnicodeEncodeError, "surrogates"),
    ("a file that is not there", lambda: Scenario.read("none.toml"), ScenarioError, "cannot read none.toml"),
    ("a directory for a file", lambda: Scenario.read("."), ScenarioError, "directory"),
    ("a record that is not there", lambda: Record.open("none"), ScenarioError, "there is no directory none"),
    ("a scenario of another class", lambda: penstock.run(7), TypeError, "give a penstock.Scenario or a path"),  # type: ignore[arg-type]
    ("a generator for a scenario", lambda: penstock.run(x for x in ""), TypeError, "generator"),  # type: ignore[arg-type]
    ("an unknown world", ran(world="fliud"), ScenarioError, "packets, fluid or linux"),
    ("a world of another class", ran(world=7), TypeError, "world is of class int"),
    ("a negative seed", ran(seed=-1), ValueError, "from 0 to"),
    ("a seed of 64 bits", ran(seed=2**63), ValueError, "from 0 to"),
    ("a seed that is a text", ran(seed="7"), TypeError, "seed is of class str"),
    ("a seed that is a bool", ran(seed=True), TypeError, "seed is of class bool"),
    ("series that are a text", ran(series="no"), TypeError, "series is of class str: write True or False"),
    ("packets that are a text", ran(packets="no"), TypeError, "packets is of class str: write True or False"),
    ("progress that is no function", ran(progress=7), TypeError, "progress is of class int"),
    ("a file for a directory", ran(out=__file__), ScenarioError, "cannot write to"),
    ("a sweep for a run", changed("sweep", {"seed": {"count": 2}}), ScenarioError, "sweep of 2 cells"),
    (
        "what a world cannot do",
        lambda: penstock.run(Scenario.parse(TEXT.replace('"cubic" }', '"copa" }')), world="fluid"),
        UnsupportedError,
        "fluid world",
    ),
    (
        "a table that is not there",
        lambda: record().table("lnks"),
        KeyError,
        "it has flows, links",
    ),
    (
        "transfers of flows that have one",
        lambda: record().transfers,
        KeyError,
        "no table `transfers`",
    ),
    (
        "a column that is not there",
        lambda: record().links.about("rate"),
        KeyError,
        "it has time_s",
    ),
    (
        "a link that the summary lacks",
        lambda: record().summary.links["botleneck"],
        KeyError,
        "there is no 'botleneck': there are bottleneck",
    ),
    (
        "a customer of a scenario without",
        lambda: record().summary.customers["x"],
        KeyError,
        "there is no 'x', nor any",
    ),
    ("packets of a world without", ran(world="fluid", packets=True), UnsupportedError, "no packets to record"),
    ("packets that nobody recorded", lambda: record().packets, KeyError, "no table `packets`: it has flows, links"),
    ("the report of a record that is gone", lambda: gone().html(), ScenarioError, "cannot read"),
    ("a record of nothing", lambda: Record(None), TypeError, "penstock.run"),  # type: ignore[arg-type]
    ("a scenario of nothing", lambda: Scenario(), TypeError, "Scenario"),
]


@pytest.mark.parametrize(("call", "kind", "says"), [call[1:] for call in CALLS], ids=[call[0] for call in CALLS])
def test_a_wrong_call_gives_one_clear_exception(call: Callable[[], object], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind) as raised:
        call()
    assert type(raised.value) is kind
    assert says in str(raised.value)
    # The interpreter runs on.
    assert penstock.run(Scenario.parse(TEXT)).summary.links["bottleneck"].utilization > 0.5


def test_there_are_thirty_of_them() -> None:
    assert len({name for name, *_ in CALLS}) == len(CALLS) >= 30


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_fork_in_the_middle_runs_on_both_sides(tmp_path: Path) -> None:
    scenario = Scenario.parse(TEXT)
    before = penstock.run(scenario).summary
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if penstock.run(scenario).summary == before else 2
        finally:
            sys.stdout.flush()
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert penstock.run(scenario).summary == before


def test_a_scenario_of_another_thread_is_a_scenario() -> None:
    made: list[Scenario] = []
    maker = threading.Thread(target=lambda: made.append(Scenario.parse(TEXT)))
    maker.start()
    maker.join()
    (scenario,) = made
    expected = penstock.run(Scenario.parse(TEXT).set("flows.cubic.count", 3)).summary
    seen: list[object] = []

    def change() -> None:
        for _ in range(50):
            scenario.set("flows.cubic.count", 3)
            seen.append(scenario.resolved() and scenario.id)

    # Threads that set, resolve and run one scenario at a time wait for each other, and see whole scenarios.
    scenario.set("flows.cubic.count", 3)
    threads = [threading.Thread(target=change) for _ in range(3)]
    for thread in threads:
        thread.start()
    summaries = [penstock.run(scenario).summary for _ in range(5)]
    for thread in threads:
        thread.join()
    assert summaries == [expected] * 5
    assert (len(seen), len(set(seen))) == (150, 1)
