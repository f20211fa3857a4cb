"""Laws in Python: the same bits as in Rust, the same margins, and exceptions that come out."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow
import pytest

import penstock
from penstock import Scenario
from penstock.examples import fast, newreno, pi

LAB = """
format   = 1
title    = "a law"
duration = "6 s"
warmup   = "1 s"

[links.bottleneck]
from   = "left"
to     = "right"
rate   = "20 Mbit/s"
delay  = "10 ms"
buffer = "100 packets"
aqm    = { law = "droptail" }

[flows.ours]
count  = 3
from   = "left"
to     = "right"
rtt    = "40 ms"
series = true
cc     = { law = "newreno" }
"""

PAIRS = [
    ("newreno", {}, "droptail", {}),
    ("newreno", {"ecn": True, "per_ack": "2 packets"}, "pi", {"ecn": True, "bytes": False}),
    ("newreno", {"ecn": True, "grow_on_echo": True}, "pi", {"ecn": True, "qref": "20 packets"}),
    ("fast", {"alpha": "20 packets"}, "droptail", {}),
    ("fast", {"alpha": "9 packets", "gamma": 0.3, "rtt_most": 0.1}, "pi", {}),
]


def lab(cc: dict[str, Any], aqm: dict[str, Any] | None = None) -> Scenario:
    scenario = Scenario.parse(LAB, "lab.toml").set("flows.ours.cc", cc)
    return scenario if aqm is None else scenario.set("links.bottleneck.aqm", aqm)


def pairs(cc: str, of_cc: dict[str, Any], aqm: str, of_aqm: dict[str, Any]) -> tuple[Scenario, Scenario]:
    theirs = "droptail" if aqm == "droptail" else f"{aqm}-python"
    return lab({"law": cc, **of_cc}, {"law": aqm, **of_aqm}), lab(
        {"law": f"{cc}-python", **of_cc}, {"law": theirs, **of_aqm}
    )


def tables(record: penstock.Record) -> dict[str, pyarrow.Table]:
    return {name: pyarrow.table(table) for name, table in record.tables.items()}


@pytest.mark.parametrize("case", PAIRS, ids=str)
def test_a_law_in_python_has_the_bits_of_the_one_in_rust(case: tuple[str, Any, str, Any]) -> None:
    for loss, seed in [(0.0, 1), (0.004, 7)]:
        rust, python = (penstock.run(one.set("links.bottleneck.loss", loss), seed=seed) for one in pairs(*case))
        assert rust.summary.links == python.summary.links
        assert rust.summary.groups == python.summary.groups
        for name, table in tables(rust).items():
            assert table.equals(tables(python)[name]), name
        assert rust.summary.links["bottleneck"].utilization > 0.3


def test_the_fluid_world_takes_a_law_in_python() -> None:
    rust, python = (
        penstock.run(one.set("duration", "2 s"), world="fluid")
        for one in pairs("fast", {"alpha": "20 packets"}, "droptail", {})
    )
    assert tables(rust)["links"].equals(tables(python)["links"])


@pytest.mark.parametrize("case", [*PAIRS[1:4], ("newreno", {}, "pi", {"frequency": 500})], ids=str)
def test_a_law_in_python_has_the_margins_of_the_one_in_rust(case: tuple[str, Any, str, Any]) -> None:
    rust, python = (penstock.analyze(one) for one in pairs(*case))
    assert rust.verdict == python.verdict
    assert len(rust.models) == 3
    for name, model in rust.models.items():
        ours, theirs = vars(model.margins), vars(python.models[name].margins)
        for what, value in ours.items():
            same = value == theirs[what] if value is None or isinstance(value, str) else None
            assert same is True or theirs[what] == pytest.approx(value, rel=1e-9, abs=1e-12), (name, what)
        assert python.models[name].poles == pytest.approx(model.poles, rel=1e-9)
    for place in ("links", "classes"):
        kinks = [[one.nearest_kink for one in getattr(of, place).values()] for of in (rust, python)]
        assert kinks[0] == kinks[1]


def test_a_law_that_was_just_typed_has_margins() -> None:
    @penstock.register
    class Typed(penstock.Controller):
        """Keeps some packets queued."""

        alpha = penstock.parameter(10.0, unit="packets", range=(1, 100))
        gain = penstock.parameter(0.5, range=(0, 10))
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window = context.initial_window

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            if observation.rtt_s > 0:
                queued = self.window * (1 - observation.base_rtt_s / observation.rtt_s)
                self.window += packets * self.gain * (self.alpha - queued) / self.window

        def on_congestion(self, observation: penstock.Observation) -> None:
            self.window = penstock.math.max(self.window / 2, 2)

        on_timeout = on_congestion

    try:
        analysis = penstock.analyze(lab({"law": "typed"}))
        # Three flows with ten packets each in the queue.
        assert analysis.links["bottleneck"].queue_packets == pytest.approx(30, rel=1e-6)
        assert analysis.stable
        assert analysis.margins.gain_margin is not None
        # The gain of the loop is proportional to the gain of the law.
        doubled = penstock.analyze(lab({"law": "typed", "gain": 1.0})).models["laws"].margins.gain_margin
        once = analysis.models["laws"].margins.gain_margin
        assert once is not None
        assert doubled is not None
        assert doubled < once
        # One flow knows its base round-trip time, and keeps ten packets in the packets world too.
        alone = lab({"law": "typed"}).set("flows.ours.count", 1).set("duration", "20 s").set("warmup", "10 s")
        queue = penstock.run(alone).summary.links["bottleneck"].queue_mean_packets
        assert queue == pytest.approx(10, rel=0.1)
        assert "typed" in penstock.run(lab({"law": "typed"})).html()
    finally:
        penstock.unregister("typed")


def test_a_law_with_the_old_name_of_on_congestion_runs_the_same() -> None:
    class Halves(penstock.Controller):
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window = context.initial_window

        def requirements(self) -> penstock.Requirements:
            return penstock.Requirements(marks="congestion")

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            self.window += packets / self.window

        def on_congestion(self, observation: penstock.Observation) -> None:
            self.window = max(self.window / 2, 2.0)

    class Old(Halves):
        def requirements(self) -> penstock.Requirements:
            return penstock.Requirements(marks="loss")  # type: ignore[arg-type]

        def on_loss(self, observation: penstock.Observation) -> None:
            self.window = max(self.window / 2, 2.0)

    class Deaf(Halves):
        def on_loss(self, observation: penstock.Observation) -> None:
            pass

    rates = []
    for law in (Halves, Old, Deaf):
        penstock.register(law)
        try:
            summary = penstock.run(lab({"law": law.__name__.lower()}, {"law": "pi", "ecn": True})).summary
            rates.append((summary.links["bottleneck"].queue_mean_packets, summary.links["bottleneck"].marks))
        finally:
            penstock.unregister(law)
    assert rates[0] == rates[1]
    assert rates[0] != rates[2]


def attribute(name: str, value: object) -> Callable[[Any], object]:
    return lambda law: setattr(law, name, value)


@pytest.mark.parametrize("when", ["start", "on_ack", "on_congestion", "on_round", "output"])
def test_an_exception_of_a_law_ends_the_run_with_its_traceback(breaks: Any, when: str) -> None:
    breaks(lambda law: law.__dict__["missing"])
    with pytest.raises(KeyError, match="missing") as raised:
        penstock.run(lab({"law": "breaks", "when": when}))
    assert "in maybe" in "".join(traceback.format_exception(raised.value))
    assert penstock.run(lab({"law": "breaks"})).summary.links["bottleneck"].utilization > 0.5


def everywhere(scenario: Scenario) -> dict[str, Callable[[], object]]:
    swept = scenario.copy().set("sweep", {"seed": {"count": 3}})
    return {
        "run": lambda: penstock.run(scenario),
        "fluid": lambda: penstock.run(scenario, world="fluid"),
        "sweep": lambda: penstock.sweep(swept, jobs=2),
        "executor": lambda: penstock.sweep(swept, executor=ThreadPoolExecutor(1)),
        "analyze": lambda: penstock.analyze(scenario),
        "compare": lambda: penstock.compare(scenario),
    }


@pytest.mark.parametrize("where", list(everywhere(Scenario.parse(LAB))))
def test_an_exception_comes_out_of_every_function(breaks: Any, where: str) -> None:
    class OwnError(Exception):
        pass

    def wrong(law: Any) -> None:
        raise OwnError("of the law")

    breaks(wrong)
    with pytest.raises(OwnError, match="of the law"):
        everywhere(lab({"law": "breaks", "when": "output"}))[where]()


WRONG: list[tuple[str, Callable[[Any], object], type[BaseException], str]] = [
    ("a window that is no number", attribute("window", float("nan")), penstock.LawError, "breaks.*NaN packets"),
    ("a negative window", attribute("window", -1.0), penstock.LawError, "breaks.*-1 packets"),
    ("an infinite window", attribute("window", float("inf")), penstock.LawError, "breaks.*inf packets"),
    ("a window that is a text", attribute("window", "10"), TypeError, "`breaks`: .*class str: make it a float"),
    ("a window that is None", attribute("window", None), TypeError, "class NoneType: make it a float"),
    ("a window that is a list", attribute("window", [1.0]), TypeError, "class list"),
    ("a window that is a generator", attribute("window", (x for x in [1.0])), TypeError, "class generator"),
    ("a complex window", attribute("window", 1j), TypeError, "class complex"),
    ("a window that was deleted", lambda law: delattr(law, "window"), AttributeError, "window"),
    ("a run within a law", lambda law: penstock.run(Scenario.parse(LAB)), RuntimeError, "a law runs no scenario"),
    ("an analysis within a law", lambda law: penstock.analyze(Scenario.parse(LAB)), RuntimeError, "a law runs no"),
    ("a law within a law", lambda law: penstock.register(fast.Fast), RuntimeError, "registers no law"),
    ("sys.exit", lambda law: sys.exit(3), SystemExit, "3"),
]


@pytest.mark.parametrize(("wrong", "kind", "says"), [one[1:] for one in WRONG], ids=[one[0] for one in WRONG])
def test_what_a_law_says_wrongly_is_one_exception(
    breaks: Any, wrong: Any, kind: type[BaseException], says: str
) -> None:
    breaks(wrong)
    with pytest.raises(kind, match=says):
        penstock.run(lab({"law": "breaks", "when": "on_round"}))
    assert penstock.run(lab({"law": "breaks"})).summary.groups["ours"].count == 3


def test_the_analysis_refuses_a_law_that_loses_the_derivative() -> None:
    import math

    class Rounded(newreno.NewReno):
        """Takes the square root with the wrong module."""

        name = "rounded"

        def on_congestion(self, observation: penstock.Observation) -> None:
            self.window = math.sqrt(self.window)

    penstock.register(Rounded)
    try:
        with pytest.raises(TypeError, match=r"penstock\.math"):
            penstock.analyze(lab({"law": "rounded", "ecn": True}, {"law": "pi", "ecn": True}))
        assert penstock.run(lab({"law": "rounded"})).summary.groups
    finally:
        penstock.unregister(Rounded)


def test_a_law_takes_the_place_of_the_one_before() -> None:
    scenario = lab({"law": "again"})

    def law(size: float) -> Any:
        class Again(penstock.Controller):
            """Has a fixed window."""

            window = penstock.state("packets")

            def start(self, context: penstock.SenderContext) -> None:
                self.window = size

        return Again

    windows = []
    for size in (4.0, 8.0):
        penstock.register(law(size))
        windows.append(penstock.run(scenario).summary.groups["ours"].window_mean_packets)
    penstock.unregister("again")
    assert windows == [4.0, 8.0]


def test_what_a_law_computes_has_a_name() -> None:
    from penstock._law import code_of

    def law(step: float) -> Any:
        class Same(penstock.Controller):
            def on_round(self, observation: penstock.Observation) -> None:
                self.window = step

        return Same

    assert code_of(law(1.0)) == code_of(law(1.0)) != code_of(law(2.0))
    assert len({code_of(one) for one in (fast.Fast, newreno.NewReno, pi.Pi)}) == 3


class Holds:
    """Holds a number, as a model holds its weights."""

    def __init__(self, size: float) -> None:
        self.size = size

    def get(self, law: object) -> float:
        return self.size


def sized(law: object, size: float) -> float:
    return size


def remembering(form: str, size: float) -> type[penstock.Controller]:
    """Return a law with one window, whose size is in a place of this form."""
    table, several, held = {"size": size}, [size], Holds(size)
    sizes: dict[str, Callable[..., float]] = {
        "a closure": lambda law: size,
        "a dict": lambda law: table["size"],
        "a list": lambda law: several[0],
        "an object": lambda law: held.size,
        "a method of an object": held.get,
        "a method of a dict": lambda law, get=table.get: get("size", 0.0),
        "a partial function": functools.partial(sized, size=size),
        "a default": lambda law, *, size=size: size,
        "a cache": functools.lru_cache(lambda law: size),
        "a dict of the class": lambda law: law.sizes["size"],
        "its constructor": lambda law: law.size,
    }

    chosen = sizes[form]

    def start(law: Any, context: penstock.SenderContext) -> None:
        law.window = chosen(law)

    class Remembers(penstock.Controller):
        """Has one window."""

        name = "remembers"
        window = penstock.state("packets")

    Remembers.start = start  # type: ignore[assignment, method-assign]
    if form == "a dict of the class":
        Remembers.sizes = table  # type: ignore[attr-defined]
    if form == "its constructor":
        Remembers.__init__ = lambda law: setattr(law, "size", size)  # type: ignore[assignment, method-assign]
    return Remembers


FORMS = [
    "a closure",
    "a dict",
    "a list",
    "an object",
    "a method of an object",
    "a method of a dict",
    "a partial function",
    "a default",
    "a cache",
    "a dict of the class",
    "its constructor",
]


@pytest.mark.parametrize("form", FORMS)
def test_the_name_of_a_law_has_all_that_it_holds(form: str) -> None:
    from penstock._law import code_of

    assert code_of(remembering(form, 2.0)) == code_of(remembering(form, 2.0)) != code_of(remembering(form, 8.0))


NAMED = """
import enum, functools
import numpy
import penstock
from penstock._law import code_of, program_of

class Mode(enum.Enum):
    FAST = 1

class Model:
    def __init__(self):
        self.weights = {"a": numpy.arange(3.0), "b": {"x", "y", "z", 1, 2.5}, "c": [Mode.FAST, None]}
        self.itself = self

model = Model()

@penstock.register
class Law(penstock.Controller):
    name = "named"
    gain = penstock.parameter(0.5)
    window = penstock.state("packets")
    seen = functools.cached_property(lambda law: model)

    def start(self, context):
        self.window = 2.0 if "a" in {"a", "b", "c"} else len(model.weights)

print(code_of(Law), program_of(Law))
"""


def test_the_name_of_a_law_is_the_same_in_each_process() -> None:
    names = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", NAMED], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        names.add(done.stdout)
    (name,) = names
    assert "unknown" not in name


def test_a_law_that_nobody_can_compare_is_new_each_time() -> None:
    from penstock._law import code_of

    class Locks(newreno.NewReno):
        """Holds a lock."""

        lock = threading.Lock()

    assert code_of(Locks) != code_of(Locks)


def test_a_class_that_another_replaced_is_not_taken_for_it() -> None:
    first, second = remembering("a closure", 2.0), remembering("a closure", 8.0)
    scenario = lab({"law": "cubic"})
    try:
        penstock.register(first)
        penstock.register(second)
        for replaced in (
            lambda: penstock.compare(scenario, laws=["cubic", first]),
            lambda: penstock.evaluate(first),
            lambda: penstock.find_failures(first),
            lambda: penstock.unregister(first),
        ):
            with pytest.raises(ValueError, match="another class was registered under its name since"):
                replaced()
        assert len(penstock.compare(scenario, laws=["cubic", second])) > 0
    finally:
        penstock.unregister("remembers")
    with pytest.raises(ValueError, match="it is not registered"):
        penstock.compare(scenario, laws=["cubic", second])


def test_math_has_the_derivatives() -> None:
    from penstock.math import clamp, exp, log, max, min, pow, sqrt

    def curve(x: Any) -> Any:
        whole = exp(x / 3) * log(x + 1) - sqrt(x) + pow(x, 1.5) / (2 + abs(x)) - 1 / x + 2 * x
        return max(min(whole + -x, 99.0), clamp(x, -5, 1.0))

    for x in (0.3, 1.1, 2.5):
        h = 1e-6
        dual: Any = curve(penstock.Dual(x, 1.0))
        assert dual.value == curve(x)
        assert dual.slope == pytest.approx((curve(x + h) - curve(x - h)) / (2 * h), rel=1e-7)
    with pytest.raises(TypeError, match=r"penstock\.math"):
        float(penstock.Dual(1.0))
    with pytest.raises(TypeError, match=r"\*\*"):
        _ = penstock.Dual(1.0) ** "2"  # type: ignore[operator]
    with pytest.raises(TypeError, match="class str"):
        exp("1")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "curve",
    [
        lambda x: x**2,
        lambda x: x**-1.5,
        lambda x: 0.5**x,
        lambda x: x**x,
        lambda x: penstock.math.pow(2.0, -x),
        lambda x: penstock.math.pow(x + 1, 3),
    ],
)
def test_powers_have_their_derivative(curve: Callable[[Any], Any]) -> None:
    for x in (0.3, 1.0, 2.5):
        h = 1e-6
        dual = curve(penstock.Dual(x, 1.0))
        assert dual.value == pytest.approx(curve(x), rel=1e-15)
        assert dual.slope == pytest.approx((curve(x + h) - curve(x - h)) / (2 * h), rel=1e-7)
    assert (penstock.Dual(0.0, 1.0) ** 2).slope == 0.0
    assert (penstock.Dual(0.0, 1.0) ** 1).slope == 1.0
    # A constant has no derivative, whatever that of its power is at zero.
    assert (penstock.Dual(0.0) ** 0.5).slope == 0.0
    two: Any = penstock.Dual(2.0, 1.0)
    near: Any = penstock.math.max(two, 1.5)
    assert (near**2).kink == 0.5
