from __future__ import annotations

import copy
import pickle
import threading
from fractions import Fraction
from pathlib import Path

import numpy
import pytest
from conftest import TEXT

import penstock
from penstock import Scenario, ScenarioError

KEYS = {
    "format": 1,
    "title": "two flows",
    "duration": "4 s",
    "warmup": "1 s",
    "links": {
        "bottleneck": {
            "from": "left",
            "to": "right",
            "rate": "10 Mbit/s",
            "delay": "10 ms",
            "buffer": "1 bdp",
        }
    },
    "flows": {
        "cubic": {
            "count": 2,
            "from": "left",
            "to": "right",
            "rtt": "40 ms",
            "series": True,
            "cc": {"law": "cubic"},
        }
    },
}


def test_a_dict_a_text_and_a_file_are_one_scenario(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(TEXT)
    made = [Scenario.read(file), Scenario.read(str(file)), Scenario.parse(TEXT), Scenario.from_dict(KEYS)]
    assert len({scenario.id for scenario in made}) == 1
    assert len({scenario.resolved() for scenario in made}) == 1
    # Another key is another scenario.
    assert Scenario.from_dict({**KEYS, "duration": "5 s"}).id != made[0].id


def test_a_dict_keeps_its_order() -> None:
    groups = {name: KEYS["flows"]["cubic"] for name in ("zeta", "alpha", "mid")}  # type: ignore[index]
    scenario = Scenario.from_dict({**KEYS, "flows": groups})
    assert list(penstock.run(scenario).summary.groups) == ["zeta", "alpha", "mid"]


def test_what_is_resolved_is_a_scenario_file_with_every_default(scenario: Scenario) -> None:
    text = scenario.resolved()
    assert "hystart" in text
    assert "hystart" not in TEXT
    assert Scenario.parse(text).id == scenario.id


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("links.bottleneck.rate", "20 Mbit/s", 'rate = "20 Mbit/s"'),
        ("flows.cubic.count", 7, "count = 7"),
        ("flows.cubic.cc", {"law": "newreno"}, 'law = "newreno"'),
        ("flows.cubic.series", False, "series = false"),
        ("links.bottleneck.loss", 0.25, "loss = 0.25"),
        ("flows.cubic.rtt", ["40 ms", "50 ms"], 'rtt = ["40 ms", "50 ms"]'),
    ],
)
def test_a_key_is_set_by_text_number_list_and_dict(scenario: Scenario, key: str, value: object, text: str) -> None:
    assert text not in scenario.resolved()
    assert scenario.set(key, value) is scenario
    assert text in scenario.resolved().replace('"', '"')


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("flows.cubic.count", numpy.int64(7), "count = 7"),
        ("flows.cubic.count", numpy.uint8(7), "count = 7"),
        ("flows.cubic.count", numpy.array(7), "count = 7"),
        ("links.bottleneck.loss", numpy.float64(0.25), "loss = 0.25"),
        ("links.bottleneck.loss", numpy.float32(0.25), "loss = 0.25"),
        ("links.bottleneck.loss", numpy.longdouble(0.25), "loss = 0.25"),
        ("links.bottleneck.loss", Fraction(1, 4), "loss = 0.25"),
        ("flows.cubic.series", numpy.bool_(False), "series = false"),
        ("duration", numpy.str_("9 s"), 'duration = "9 s"'),
        ("flows.cubic.rtt", numpy.array(["40 ms", "50 ms"]), 'rtt = ["40 ms", "50 ms"]'),
    ],
)
def test_a_key_is_set_by_a_number_of_numpy(scenario: Scenario, key: str, value: object, text: str) -> None:
    assert text not in scenario.resolved()
    assert text in scenario.set(key, value).resolved()


def test_numbers_of_numpy_make_a_sweep_and_a_seed(scenario: Scenario) -> None:
    counts = scenario.copy().set("sweep", {"flows.cubic.count": numpy.arange(1, 4)})
    assert [cell.labels["flows.cubic.count"] for cell in counts.cells()] == ["1", "2", "3"]
    keys = {**KEYS, "flows": {"cubic": {**KEYS["flows"]["cubic"], "count": numpy.int32(2)}}}  # type: ignore[index]
    assert Scenario.from_dict(keys).id == Scenario.from_dict(KEYS).id
    assert penstock.run(scenario, seed=numpy.int64(3)).seed == 3


@pytest.mark.parametrize(
    "value",
    [numpy.timedelta64(5, "s"), numpy.complex128(1j), 1j, numpy.datetime64("2026-01-01"), penstock.Dual(1.0)],
)
def test_what_is_no_number_of_toml_is_refused(scenario: Scenario, value: object) -> None:
    with pytest.raises(TypeError):
        scenario.set("duration", value)


def test_a_copy_has_its_own_keys(scenario: Scenario) -> None:
    other = scenario.copy().set("duration", "9 s")
    assert (scenario.id == other.id, 'duration = "4 s"' in scenario.resolved()) == (False, True)


def test_a_refused_key_leaves_the_scenario_as_it_was(scenario: Scenario) -> None:
    before = scenario.id
    with pytest.raises(ScenarioError, match="no link is named"):
        scenario.set("links.botleneck.rate", "1 Mbit/s")
    assert scenario.id == before


def test_cells_are_the_scenarios_of_a_sweep(scenario: Scenario) -> None:
    scenario.set("sweep", {"flows.cubic.count": [1, 2, 3], "seed": {"count": 2}})
    cells = scenario.cells()
    assert [cell.labels for cell in cells] == [
        {"flows.cubic.count": str(count), "seed": str(seed)} for count in (1, 2, 3) for seed in (1, 2)
    ]
    assert len({cell.id for cell in cells}) == 6
    with pytest.raises(ScenarioError, match="sweep of 6 cells"):
        scenario.resolved()


def test_an_error_has_its_place_and_its_remedy() -> None:
    text = TEXT.replace('"10 Mbit/s"', '"10 Mbit"').replace("count  = 2", "count  = -2")
    with pytest.raises(ScenarioError) as raised:
        Scenario.parse(text, "lab.toml").resolved()
    error = raised.value
    assert isinstance(error, ValueError)
    assert (error.file, error.line, error.column, error.key) == ("lab.toml", 10, 10, "links.bottleneck.rate")
    assert error.found is not None
    assert error.remedy is not None
    assert "Mbit" in error.found
    assert [one.line for one in error.errors] == [10, 15]
    assert str(error).splitlines() == [str(one) for one in error.errors]


def test_the_schema_has_every_law() -> None:
    schema = Scenario.schema()
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert '"newreno"' in str(schema).replace("'", '"')


def test_a_scenario_travels_between_processes(scenario: Scenario) -> None:
    scenario.set("flows.cubic.count", 5)
    assert pickle.loads(pickle.dumps(scenario)).id == scenario.id
    assert copy.deepcopy(scenario).id == scenario.id


def test_threads_may_share_a_scenario(scenario: Scenario) -> None:
    digests: list[penstock.summary.Summary] = []
    threads = [threading.Thread(target=lambda: digests.append(penstock.run(scenario).summary)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert digests == [penstock.run(scenario).summary] * 4
