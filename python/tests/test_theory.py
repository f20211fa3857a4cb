"""The analysis as numbers and arrays, and what the command judges as frames."""

from __future__ import annotations

import cmath
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import control
import numpy as np
import polars
import pytest
from conftest import TEXT, Interrupt
from test_law import lab

import penstock
from penstock import Failures, Scenario

COMMAND = [sys.executable, "-m", "penstock"]
FAST = {"law": "fast", "alpha": "20 packets"}


def test_an_analysis_is_the_one_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    file.write_text(lab(FAST).resolved())
    done = subprocess.run([*COMMAND, "analyze", str(file), "--json"], check=True, capture_output=True, text=True)
    assert penstock.analyze(file).data == json.loads(done.stdout)


def test_the_equilibrium_of_fast_is_alpha_packets_a_flow() -> None:
    analysis = penstock.analyze(lab(FAST))
    link, flows = analysis.links["bottleneck"], analysis.classes["ours"]
    # n alpha packets wait, and each flow has a third of 20 Mbit/s.
    assert link.queue_packets == pytest.approx(60, rel=1e-9)
    assert link.queueing_delay_s == pytest.approx(60 * 1500 * 8 / 20e6)
    assert flows.rate_bit_per_s == pytest.approx(20e6 / 3)
    assert flows.rtt_s == pytest.approx(flows.base_rtt_s + link.queueing_delay_s)
    assert flows.state == {"window": pytest.approx(flows.window_packets)}
    assert (analysis.verdict, analysis.stable, list(analysis.models)) == (
        "stable",
        True,
        ["laws", "estimators", "sampled"],
    )


def crossing(of: Any) -> complex:
    margins = of.margins
    return complex(of.loop.frequency_response([margins.phase_crossover_rad_per_s])[0, 0, 0])


@pytest.mark.parametrize("alpha", [5, 20])
def test_python_control_finds_the_same_margins(alpha: int) -> None:
    law = {"law": "fast", "alpha": f"{alpha} packets"}
    analysis = penstock.analyze(lab(law), clocking={"ours": "paced"})
    response = analysis.loop.to_control(np.logspace(-1, 2, 20_000))
    assert (response.noutputs, response.ninputs) == (1, 1)
    gain, phase, distance, at_gain, at_phase, _ = control.stability_margins(response)
    ours = analysis.margins
    assert gain == pytest.approx(ours.gain_margin, rel=1e-9)
    assert at_gain == pytest.approx(ours.phase_crossover_rad_per_s, rel=1e-9)
    # Where the loop gain never reaches one there is neither a phase margin nor its frequency.
    if ours.phase_margin_deg is not None:
        assert phase == pytest.approx(ours.phase_margin_deg, rel=1e-9)
        assert at_phase == pytest.approx(ours.gain_crossover_rad_per_s, rel=1e-9)
    assert distance == pytest.approx(ours.least_distance, rel=1e-4)


@pytest.mark.parametrize("clock", ["paced", "ack"])
def test_the_response_is_at_the_margins(clock: Any) -> None:
    analysis = penstock.analyze(lab(FAST), clocking={"ours": clock})
    omega = np.logspace(-1, 2, 200)
    response = analysis.loop.frequency_response(omega)
    assert response.shape == (1, 1, 200)
    assert response.dtype == complex
    assert analysis.loop.links == ["bottleneck"]
    # At the phase crossover it is -1 over the gain margin.
    margins = analysis.margins
    assert margins.gain_margin is not None
    assert crossing(analysis) == pytest.approx(-1 / margins.gain_margin, rel=1e-5)
    at = analysis.loop.frequency_response(margins.gain_crossover_rad_per_s)[0, 0, 0]
    assert abs(at) == pytest.approx(1, rel=1e-5)
    assert margins.phase_margin_deg is not None
    assert 180 - abs(np.degrees(cmath.phase(at))) == pytest.approx(abs(margins.phase_margin_deg), abs=1e-2)
    # The curves of the Nyquist plot are points of the same function.
    ((frequencies, gain),) = analysis.models["sampled"].nyquist()
    assert analysis.loop.frequency_response(frequencies)[0, 0] == pytest.approx(gain, rel=1e-9)
    ((w, modulus, phase),) = analysis.models["sampled"].bode()
    assert np.array_equal(w, frequencies)
    assert modulus == pytest.approx(np.abs(gain))
    assert np.exp(1j * np.radians(phase)) == pytest.approx(gain / np.abs(gain))


@pytest.mark.parametrize("rtt_ms", [40, 400])
def test_the_phase_of_bode_has_every_turn(rtt_ms: int) -> None:
    analysis = penstock.analyze(lab(FAST).set("flows.ours.rtt", f"{rtt_ms} ms"))
    lowest = 0.0
    for name in ("laws", "estimators", "sampled"):
        ((frequencies, _, phase),) = analysis.models[name].bode()
        known = np.isfinite(phase)
        # Steps of a hundredth of a radian of the round trip, from where it has hardly turned anything.
        step = 0.01 / analysis.classes["ours"].rtt_s
        fine = np.arange(step, frequencies[known][-1] + step, step)
        response = analysis.loop.frequency_response(fine, name)[0, 0]
        turned = np.degrees(np.unwrap(np.angle(response)))
        above = known & (frequencies > step)
        assert above.sum() > 200
        assert phase[above] == pytest.approx(np.interp(frequencies[above], fine, turned), abs=1)
        lowest = min(lowest, phase[above][-1])
    # A hundred turns, at frequencies of which two are more than a turn apart.
    assert lowest < -35_000


def test_two_bottlenecks_have_a_matrix() -> None:
    text = """
format = 1
duration = "1 s"
[links.first]
from = "a"
to = "b"
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "900 packets"
[links.second]
from = "b"
to = "c"
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "900 packets"
[defaults.flows]
cc = { law = "fast", alpha = "10 packets" }
[flows.long]
from = "a"
to = "c"
rtt = "60 ms"
[flows.one]
from = "a"
to = "b"
rtt = "40 ms"
[flows.two]
from = "b"
to = "c"
rtt = "40 ms"
"""
    analysis = penstock.analyze(Scenario.parse(text))
    response = analysis.loop.frequency_response([1.0, 10.0], model="laws")
    assert response.shape == (2, 2, 2)
    assert analysis.loop.links == ["first", "second"]
    assert (np.abs(response) > 0).all()
    assert len(analysis.models["laws"].nyquist()) == 2
    # The two links are alike, so that the loop differs by what the way between them delays alone.
    assert np.abs(response[0, 1]) == pytest.approx(np.abs(response[1, 0]), rel=1e-6)


def test_a_map_has_the_margins_of_single_analyses() -> None:
    scenario = lab(FAST)
    x, y = "flows.ours.rtt=20..200 ms", 'flows.ours.cc.alpha=["10 packets", "20 packets", "90 packets"]'
    found = penstock.stability_map(scenario, x, y, points=2)
    assert found.gain_margin.shape == found.stable.shape == found.verdict.shape == (3, 2)
    assert found.x.tolist() == [20, 200]
    assert found.y.tolist() == [10, 20, 90]
    assert (found.x_key, found.x_unit, found.y_unit) == ("flows.ours.rtt", "ms", "packets")
    one = penstock.analyze(scenario.copy().set("flows.ours.rtt", "200 ms"))
    assert found.gain_margin[1, 1] == one.margins.gain_margin
    # 270 packets do not fit the buffer.
    assert np.isnan(found.gain_margin[2]).all()
    assert (found.verdict[2] == "").all()


def test_ctrl_c_stops_a_map_soon() -> None:
    scenario = lab({"law": "newreno"}).set("links.bottleneck.aqm", {"law": "red"})
    interrupted = Interrupt(0.5)
    with pytest.raises(KeyboardInterrupt):
        penstock.stability_map(scenario, "flows.ours.rtt=20..200 ms", "flows.ours.count=1..40", points=200)
    assert interrupted.was_obeyed_in(0.5)


def test_ctrl_c_stops_an_evaluation_that_has_not_begun_to_run() -> None:
    interrupted = Interrupt(0.2)
    with pytest.raises(KeyboardInterrupt):
        penstock.evaluate("newreno", jobs=1)
    assert interrupted.was_obeyed_in(0.5)


def test_a_rule_gives_a_setting_that_a_scenario_takes() -> None:
    tuned = penstock.tune("pi", capacity="20 Mbit/s", flows=3, rtt="60 ms", packet="1500 B")
    assert tuned.margins is not None
    assert tuned.margins.verdict == "stable"
    assert set(tuned.setting) == {"law", "a", "b", "frequency"}
    assert penstock.analyze(lab({"law": "newreno"}, tuned.setting)).links["bottleneck"].aqm == "pi"


def test_ctrl_c_stops_an_analysis_soon() -> None:
    # Four links, one after the other: seconds of work.
    links, flows = {}, {"long": {"count": 2, "from": "n0", "to": "n4", "rtt": "100 ms", "cc": FAST}}
    for at in range(4):
        ends = {"from": f"n{at}", "to": f"n{at + 1}"}
        links[f"l{at}"] = {**ends, "rate": f"{10 + at} Mbit/s", "delay": "10 ms", "buffer": "800 packets"}
        flows[f"x{at}"] = {**ends, "count": 1 + at, "rtt": f"{60 + 10 * at} ms", "cc": FAST}
    scenario = Scenario.from_dict({"format": 1, "duration": "30 s", "links": links, "flows": flows})
    interrupted = Interrupt(0.5)
    with pytest.raises(KeyboardInterrupt):
        penstock.analyze(scenario)
    assert interrupted.was_obeyed_in(0.2)
    loop = penstock.analyze(lab(FAST)).loop
    frequencies = np.logspace(-2, 3, 1_000_000)
    interrupted = Interrupt(0.5)
    with pytest.raises(KeyboardInterrupt):
        loop.frequency_response(frequencies)
    assert interrupted.was_obeyed_in(0.2)


def test_worlds_and_laws_are_laid_beside_each_other() -> None:
    worlds = polars.DataFrame(penstock.compare(lab(FAST)))
    assert worlds.columns == ["span", "where", "measure", "unit", "packets", "fluid", "fluid.relative"]
    row = worlds.row(by_predicate=polars.col("measure") == "queue_mean_packets", named=True)
    assert row["fluid.relative"] == pytest.approx(row["fluid"] / row["packets"] - 1)
    from penstock.examples.newreno import NewReno

    laws = polars.DataFrame(penstock.compare(lab(FAST), laws=["newreno", NewReno, "cubic"], seed=3))
    assert laws["newreno"].equals(laws["newreno-python"])
    assert set(laws["newreno-python.difference"].drop_nulls()) == {0.0}
    assert set(laws["cubic.difference"].drop_nulls()) != {0.0}

    # An AQM is laid beside a controller under its own name, although its flows have another law.
    kinds = polars.DataFrame(penstock.compare(lab(FAST), laws=["cubic", "codel"]))
    assert kinds.columns[3:] == ["cubic", "codel", "codel.difference"]


def test_a_law_in_python_is_judged_as_the_one_in_rust() -> None:
    from penstock.examples.newreno import NewReno

    rust, python = (penstock.evaluate(law, only=ONLY, jobs=2) for law in ("newreno", NewReno))
    assert rust.verdicts == python.verdicts
    assert list(rust.verdicts) == [ONLY]
    frame = polars.DataFrame(python.criteria)
    assert frame.columns == ["id", "title", "document", "section", "level", "verdict"]
    assert python.law == "newreno-python"


ONLY = "EV-02"


def test_a_law_with_parameters_is_a_dict_or_a_table() -> None:
    fast = {"law": "fast", "alpha": "9 packets"}
    table = '{ law = "fast", alpha = "9 packets" }'
    laws: list[Any] = ["newreno", {"law": "fast", "alpha": "20 packets"}, fast]
    both = polars.DataFrame(penstock.compare(lab(FAST), laws=laws))
    assert both.columns[3:6] == ["newreno", "fast alpha=20 packets", "fast alpha=9 packets"]
    queues = both.filter(polars.col("measure") == "Mean queue").row(0)[4:6]
    expected = [
        penstock.run(lab({"law": "fast", "alpha": f"{alpha} packets"})).summary.links["bottleneck"].queue_mean_packets
        for alpha in (20, 9)
    ]
    assert list(queues) == pytest.approx(expected)
    as_text = polars.DataFrame(penstock.compare(lab(FAST), laws=["newreno", table]))
    assert as_text[table].to_list() == both["fast alpha=9 packets"].to_list()
    for law in (fast, table):
        setting = penstock.find_failures(law, **{**SEARCH, "budget": 2}).data["setting"]
        assert sorted(setting.strip("{} ").split(", ")) == sorted(table.strip("{} ").split(", "))


def test_an_evaluation_continues_with_the_same_law_alone(tmp_path: Path) -> None:
    table = {"size": 2.0}

    class Holds(penstock.Controller):
        """Has one window."""

        name = "holds"
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window = table["size"]

    penstock.register(Holds)
    try:
        found = []
        for size in (2.0, 2.0, 3.0):
            table["size"] = size
            notes = penstock.evaluate("holds", only=ONLY, out=tmp_path, jobs=2).notes
            found.append(any("are finished" in note for note in notes))
    finally:
        penstock.unregister("holds")
    assert found == [False, True, False]


def test_the_papers_of_the_package_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(penstock.ScenarioError, match=r"no paper has the key `nobody`; .*papers has .*fast-tcp"):
        penstock.paper("nobody")
    assert not list(tmp_path.iterdir())


SEARCH: dict[str, Any] = {"objective": "underuse", "budget": 6, "failures": 0, "jobs": 2}


def test_a_search_runs(tmp_path: Path) -> None:
    found = penstock.find_failures("newreno", out=tmp_path, **SEARCH)
    assert found.data["objectives"][0]["evaluations"] > 0
    assert (len(found), found.scenarios, len(found.failures)) == (0, {}, 0)
    assert list(tmp_path.glob("*/break.json"))


@pytest.mark.parametrize(
    ("baseline", "names"),
    [
        ("copa", ["copa"]),
        ({"law": "copa", "competitive": False}, ['{ law = "copa", competitive = false }']),
        (["copa", {"law": "fast", "alpha": "9 packets"}], ["copa", '{ law = "fast", alpha = "9 packets" }']),
    ],
)
def test_a_search_has_other_baselines(baseline: Any, names: list[str]) -> None:
    search = {**SEARCH, "budget": 1}
    found = penstock.find_failures("vegas", baseline=baseline, **search).data["baselines"]
    # The keys of a table have no order.
    assert [sorted(one["law"].strip("{} ").split(", ")) for one in found] == [
        sorted(name.strip("{} ").split(", ")) for name in names
    ]
    assert "baselines" not in penstock.find_failures("vegas", **search).data


@pytest.mark.slow
def test_a_law_in_python_is_searched_as_the_one_in_rust() -> None:
    from penstock.examples.newreno import NewReno

    rust, python = (
        penstock.find_failures(law, **SEARCH).data["objectives"][0]["phases"] for law in ("newreno", NewReno)
    )
    assert rust == python


def test_failures_are_scenarios() -> None:
    failure = {"file": "failure-loss-1.toml", "headline": "lost", "confirmed": {"score": 0.5, "score_at_least": 0.4}}
    failures = Failures(
        {"law": "fast", "objectives": [{"objective": "loss", "failures": [failure]}]}, {"a.toml": TEXT}, []
    )
    assert polars.DataFrame(failures.failures).rows() == [("loss", "failure-loss-1.toml", "lost", 0.5, 0.4)]
    assert penstock.run(failures.scenarios["a.toml"]).summary.links


WRONG: list[tuple[str, Any, type[Exception], str]] = [
    ("a law without dual numbers", lambda: penstock.analyze(lab({"law": "copa"})), penstock.UnsupportedError, "copa"),
    ("a buffer that is too small", lambda: penstock.analyze(lab({"law": "fast"})), penstock.ScenarioError, "buffer"),
    (
        "a time beyond the end",
        lambda: penstock.analyze(lab(FAST), at="9 s"),
        penstock.ScenarioError,
        "at: .* ends at 6 s",
    ),
    (
        "a clock that is none",
        lambda: penstock.analyze(lab(FAST), clocking={"ours": "sun"}),  # type: ignore[dict-item]
        penstock.ScenarioError,
        "sun",
    ),
    (
        "a group that is none",
        lambda: penstock.analyze(lab(FAST), clocking={"me": "ack"}),
        penstock.ScenarioError,
        "`me`",
    ),
    (
        "an unknown model",
        lambda: penstock.analyze(lab(FAST)).loop.frequency_response([1.0], model="all"),  # type: ignore[arg-type]
        penstock.ScenarioError,
        "laws, estimators or sampled",
    ),
    (
        "a frequency of zero",
        lambda: penstock.analyze(lab(FAST)).loop.frequency_response([0.0]),
        ValueError,
        "not above zero",
    ),
    (
        "a sweep",
        lambda: penstock.analyze(lab(FAST).set("sweep", {"seed": {"count": 2}})),
        penstock.ScenarioError,
        "sweep",
    ),
    (
        "a map of nothing",
        lambda: penstock.stability_map(lab(FAST), "flows", "links"),
        penstock.ScenarioError,
        "x is 'flows': write a key with its values",
    ),
    ("a bound without its unit", lambda: penstock.tune("leadlag", taubar=1), penstock.ScenarioError, "taubar: .*unit"),
    ("a bound that is missing", lambda: penstock.tune("pi", rtt="1 s"), penstock.ScenarioError, "capacity"),
    ("no scenario for a rule", lambda: penstock.tune("early-marking"), penstock.ScenarioError, "provided:\n  scenario"),
    (
        "an unknown rule",
        lambda: penstock.tune("cubic"),  # type: ignore[arg-type]
        penstock.ScenarioError,
        "no rule tunes `cubic`: .* pi, leadlag",
    ),
    (
        "one law to compare",
        lambda: penstock.compare(lab(FAST), laws=["cubic"]),
        penstock.ScenarioError,
        "laws has `cubic` alone: name two",
    ),
    (
        "a text for laws",
        lambda: penstock.compare(lab(FAST), laws="cubic"),
        penstock.ScenarioError,
        r'laws has `cubic` alone: name two .*laws=\["cubic", "newreno"\]',
    ),
    (
        "a class for laws",
        lambda: penstock.compare(lab(FAST), laws=penstock.registered()["newreno-python"]),  # type: ignore[arg-type]
        penstock.ScenarioError,
        "laws has `newreno-python` alone",
    ),
    (
        "a text for worlds",
        lambda: penstock.compare(lab(FAST), worlds="fluid"),
        penstock.ScenarioError,
        "worlds has `fluid` alone",
    ),
    (
        "an unknown law to compare",
        lambda: penstock.compare(lab(FAST), laws=["a", "b"]),
        penstock.ScenarioError,
        "laws: `a`",
    ),
    (
        "an unknown criterion",
        lambda: penstock.evaluate("cubic", only="beauty"),
        penstock.ScenarioError,
        "only: .*beauty",
    ),
    ("an unknown extent", lambda: penstock.evaluate("cubic", "fast"), ValueError, "quick, standard or full"),  # type: ignore[arg-type]
    ("a law that is a number", lambda: penstock.evaluate(7), TypeError, "class int"),  # type: ignore[arg-type]
    (
        "an unknown objective",
        lambda: penstock.find_failures("cubic", objective="all"),
        penstock.ScenarioError,
        "objective: ",
    ),
    (
        "a baseline that is one already",
        lambda: penstock.find_failures("vegas", baseline="newreno"),
        penstock.ScenarioError,
        "^baseline: `newreno` is a baseline of .* already",
    ),
    ("a baseline that is a number", lambda: penstock.find_failures("vegas", baseline=3), TypeError, "class int: write"),  # type: ignore[arg-type]
    ("a loss that is a text", lambda: penstock.find_failures("cubic", loss="x"), TypeError, "loss is of class str"),  # type: ignore[arg-type]
    ("no budget", lambda: penstock.find_failures("cubic", budget=0), ValueError, "budget is 0: write 1 or more"),
    ("no threads", lambda: penstock.evaluate("cubic", jobs=0), ValueError, "jobs is 0: write 1 or more"),
    ("an option for a law", lambda: penstock.evaluate("-help"), penstock.ScenarioError, "no law has the name `-help`"),
    ("an option for a bound", lambda: penstock.tune("pi", json=True), penstock.ScenarioError, "no bound `json`"),
    ("a bound that is a bool", lambda: penstock.tune("pi", flows=True), TypeError, "flows is of class bool"),
    ("a law twice", lambda: penstock.compare(lab(FAST), laws=["cubic"] * 2), penstock.ScenarioError, "`cubic` twice"),
    (
        "a law twice in other words",
        lambda: penstock.compare(lab(FAST), laws=["cubic", {"law": "cubic"}]),
        penstock.ScenarioError,
        "two of laws make the same scenario",
    ),
    (
        "a world twice",
        lambda: penstock.compare(lab(FAST), worlds=["packets", "packets"]),
        penstock.ScenarioError,
        "worlds has `packets` twice",
    ),
    (
        "settings without braces",
        lambda: penstock.evaluate("fast alpha=50"),
        penstock.ScenarioError,
        r'write parameters as in \{"law": "fast", "alpha": "20 packets"\}',
    ),
    (
        "a dict without its law",
        lambda: penstock.evaluate({"alpha": 5}),
        ValueError,
        "a dict without the key `law`",
    ),
    (
        "a parameter that the law lacks",
        lambda: penstock.compare(lab(FAST), laws=["cubic", {"law": "fast", "alhpa": 3}]),
        penstock.ScenarioError,
        "no parameter `alhpa`",
    ),
    ("too few points", lambda: penstock.stability_map(lab(FAST), "a=1", "b=1", points=1), ValueError, "points is 1"),
    (
        "a list for clocks",
        lambda: penstock.analyze(lab(FAST), clocking=["ack"]),  # type: ignore[arg-type]
        TypeError,
        "clocking is of class list: write a dict",
    ),
    (
        "a disturbance that is a text",
        lambda: penstock.analyze(lab(FAST), disturbance="no"),  # type: ignore[arg-type]
        TypeError,
        "disturbance is of class str: write True or False",
    ),
    ("a loss above one", lambda: penstock.find_failures("cubic", loss=2), penstock.ScenarioError, "loss: 2"),
    ("an unknown paper", lambda: penstock.paper("nobody"), penstock.ScenarioError, "nobody"),
]


@pytest.mark.parametrize(("call", "kind", "says"), [one[1:] for one in WRONG], ids=[one[0] for one in WRONG])
def test_a_wrong_question_gives_one_clear_exception(call: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says) as raised:
        call()
    assert "--" not in str(raised.value).replace("`--set", "")
    assert penstock.analyze(lab(FAST)).stable


def test_arrays_alone_need_numpy() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None; import penstock as p; from test_law import lab; print(p.analyze(lab"
    )
    program = f"{code}({FAST!r})).margins.gain_margin)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=Path(__file__).parent)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 1
