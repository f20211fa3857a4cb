"""Laws in Python: the same bits as in Rust, the same margins, and exceptions that come out."""

from __future__ import annotations

import dataclasses
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, Literal

import pyarrow
import pytest
from conftest import Interrupt

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


def declared(**members: Any) -> Callable[[], object]:
    whole = {"window": penstock.state("packets"), "start": lambda law, context: setattr(law, "window", 2.0), **members}
    return lambda: penstock.register(type("Wrong", (penstock.Controller,), whole))


def lacking(parameter: float) -> Callable[[], object]:
    """Runs a law without its parameter."""

    def run() -> None:
        declared(name="lacks", a=parameter)()
        penstock.run(lab({"law": "lacks"}))

    return run


def generator(law: object, observation: object) -> Any:
    yield 1.0


async def coroutine(law: object, observation: object) -> None: ...


REFUSED: list[tuple[str, Callable[[], object], type[Exception], str]] = [
    ("no class", lambda: penstock.register(7), TypeError, "class int is no law"),  # type: ignore[type-var]
    ("another class", lambda: penstock.register(dict), TypeError, "dict is no law"),  # type: ignore[type-var]
    ("the base class", lambda: penstock.register(penstock.Controller), TypeError, "Controller is no law"),
    ("a name of Penstock's", declared(name="cubic"), ValueError, "there is a controller of this name already"),
    ("a name with a blank", declared(name="my law"), ValueError, "is not a name"),
    ("a colour that is none", declared(colour="green"), ValueError, "is not a colour"),
    ("no window", declared(window=None), ValueError, "declare `window = penstock.state"),
    ("a state that is not set", declared(other=penstock.state()), AttributeError, "start does not set other"),
    ("a default out of range", declared(a=penstock.parameter(2.0, range=(0, 1))), ValueError, "default of `a`"),
    ("a range that is empty", declared(a=penstock.parameter(2.0, range=(3, 1))), ValueError, "no number is within"),
    ("an unknown unit", lambda: penstock.parameter(1.0, unit="ms"), ValueError, "unit is 'ms'"),  # type: ignore[call-overload]
    ("a choice with a default", lambda: penstock.parameter(1.0, words=["a"]), ValueError, "first of words"),  # type: ignore[call-overload]
    (
        "a method that yields",
        lambda: type("G", (penstock.Controller,), {"on_round": generator}),
        TypeError,
        "a generator",
    ),
    ("a coroutine", lambda: type("C", (penstock.Controller,), {"on_round": coroutine}), TypeError, "a coroutine"),
    ("start without context", declared(start=lambda law: None), TypeError, "argument"),
    (
        "requirements of another class",
        declared(requirements=lambda law: {}),
        TypeError,
        r"return penstock\.Requirements",
    ),
    (
        "a period of zero",
        declared(requirements=lambda law: penstock.Requirements(tick_s=0.0)),
        ValueError,
        "tick_s is 0",
    ),
    (
        "marks that are none",
        declared(requirements=lambda law: penstock.Requirements(marks="drop")),  # type: ignore[arg-type]
        ValueError,
        "marks is",
    ),
    (
        "defaults that contradict",
        declared(start=lambda law, context: int("x")),
        ValueError,
        "refuses the defaults of its own parameters",
    ),
    (
        "a parameter without a default",
        lacking(penstock.parameter(unit="packets")),
        penstock.ScenarioError,
        "the law `lacks` needs `a`, which has no default: add it: any number, such as `1 packets`",
    ),
    (
        "a parameter without a default above zero",
        lacking(penstock.parameter(range=(0, float("inf")))),
        penstock.ScenarioError,
        "add it: `0` or more",
    ),
    ("a default that is a text", lambda: penstock.parameter("5 ms"), ValueError, "write a number in SI units"),  # type: ignore[call-overload]
    (
        "a period that nobody asks for",
        declared(on_tick=lambda law, observation: None),
        TypeError,
        r"has the method on_tick, which nothing would call: add `tick_s=\.\.\.`",
    ),
    (
        "a period under the name of a parameter alone",
        declared(on_tick=lambda law, observation: None, tick_s=penstock.parameter(0.1, unit="s")),
        TypeError,
        "on_tick, which nothing would call",
    ),
    (
        "a handler without its last letter",
        declared(on_acks=lambda law: None),
        TypeError,
        r"Wrong\.on_acks .*: write on_ack;",
    ),
    (
        "a handler with its old name, cut",
        declared(on_los=lambda law: None),
        TypeError,
        "write on_congestion; there are on_ack",
    ),
    ("a handler of a class method", declared(on_rounds=classmethod(lambda law: None)), TypeError, "write on_round"),
    ("a handler like no other", declared(on_xyzzy=lambda law: None), TypeError, "begin its name with something else"),
    (
        "the handler of a controller in a queue",
        lambda: type("Q", (penstock.Queue,), {"on_ack": lambda law, observation, packets, marked: None}),
        TypeError,
        r"Q\.on_ack is the handler of no event of Aqm: .*there are on_arrival, on_departure, on_full, on_hit, on_tick",
    ),
    (
        "the handler of a controller that a mixin has",
        lambda: type("M", (type("Mixin", (), {"on_acks": lambda law: None}), penstock.Controller), {}),
        TypeError,
        r"Mixin\.on_acks",
    ),
    ("nothing to forget", lambda: penstock.unregister("nobody"), ValueError, "no law of Python"),
    ("a law that was not registered", lambda: penstock.run(lab({"law": "nobody"})), penstock.ScenarioError, "nobody"),
    (
        "a parameter out of range",
        lambda: penstock.run(lab({"law": "fast-python", "gamma": 2})),
        penstock.ScenarioError,
        "gamma",
    ),
    (
        "an arithmetic that Python has not",
        lambda: penstock.run(lab({"law": "fast-python"}).set("flows.ours.sender", {"arithmetic": "fixed"})),
        penstock.ScenarioError,
        "fast-python",
    ),
]


@pytest.mark.parametrize(("call", "kind", "says"), [one[1:] for one in REFUSED], ids=[one[0] for one in REFUSED])
def test_a_wrong_law_is_refused_with_one_exception(
    call: Callable[[], object], kind: type[Exception], says: str
) -> None:
    before = penstock.registered()
    with pytest.raises(kind, match=says):
        call()
    if "lacks" in penstock.registered():
        # The law itself is right.
        penstock.unregister("lacks")
    assert penstock.registered() == before


QUEUE_HANDLERS: list[tuple[str, dict[str, Any], str]] = [
    ("on_tick", {}, r"`tick_s=\.\.\.`"),
    ("on_arrival", {"decides": "head"}, '`decides="arrival"`'),
    ("on_departure", {}, '`decides="head"`'),
    ("on_full", {"decides": "head"}, '`decides="head", full=True`'),
]


@pytest.mark.parametrize(("handler", "required", "says"), QUEUE_HANDLERS, ids=[one[0] for one in QUEUE_HANDLERS])
def test_a_queue_has_no_handler_that_nothing_calls(handler: str, required: dict[str, Any], says: str) -> None:
    def law(**more: Any) -> Any:
        members: dict[str, Any] = {
            "name": "deaf",
            "probability": penstock.state(),
            "start": lambda law, context: setattr(law, "probability", 0.0),
            "requirements": lambda law: penstock.AqmRequirements(**required, **more),
            handler: lambda law, *arguments: None,
        }
        return type("Deaf", (penstock.Aqm,), members)

    with pytest.raises(TypeError, match=says):
        penstock.register(law())
    names: dict[str, dict[str, Any]] = {"on_tick": {"tick_s": 0.1}, "on_full": {"full": True}}
    if more := names.get(handler):
        penstock.register(law(**more))
        penstock.unregister("deaf")


def test_a_law_may_have_ticks_for_some_parameters_alone() -> None:
    def period(law: Any) -> float | None:
        return None if law.every == 0 else float(law.every)

    class Sometimes(penstock.Controller):
        """Counts periods, where a scenario has one."""

        name = "sometimes"
        every = penstock.parameter(0.0, unit="s")
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window = 10.0

        def requirements(self) -> penstock.Requirements:
            return penstock.Requirements(tick_s=period(self))

        def on_tick(self, observation: penstock.Observation) -> None:
            self.window += 1.0

    class Below(Sometimes):
        """The same with the requirements of the class above."""

        name = "sometimes-below"

        def requirements(self) -> penstock.Requirements:
            return dataclasses.replace(super().requirements(), marks="counted")

    for law in (Sometimes, Below):
        penstock.register(law)
        windows = [
            penstock.run(lab({"law": law.name, **more})).summary.groups["ours"] for more in ({}, {"every": "1 s"})
        ]
        assert windows[0].window_mean_packets == 10.0
        assert (windows[1].window_mean_packets or 0) > 11.0
        penstock.unregister(law)


MEASUREMENTS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("price_s", {}, r"`marks=penstock\.Price\(\.\.\.\)`", {"marks": penstock.Price()}),
    ("now_s", {}, "`now=True`", {"now": True}),
    *((name, {}, r"`pairs=\.\.\.`", {"pairs": 8}) for name in ("buffer", "level", "in_flight", "earlier", "earlier_s")),
]


@pytest.mark.parametrize(("name", "without", "says", "with_it"), MEASUREMENTS, ids=[one[0] for one in MEASUREMENTS])
def test_a_measurement_that_is_not_required_is_no_zero(
    name: str, without: dict[str, Any], says: str, with_it: dict[str, Any]
) -> None:
    def law(required: dict[str, Any]) -> Any:
        class Reads(penstock.Controller):
            """Reads one measurement."""

            window = penstock.state("packets")

            def start(self, context: penstock.SenderContext) -> None:
                self.window = 20.0

            def requirements(self) -> penstock.Requirements:
                return penstock.Requirements(**required)

            def on_round(self, observation: penstock.Observation) -> None:
                self.window = 20.0 + 0 * getattr(observation, name)

        Reads.name = "reads"
        return penstock.register(Reads)

    try:
        law(without)
        worlds: list[Literal["packets", "fluid"]] = ["packets", "fluid"]
        for world in worlds:
            with pytest.raises(AttributeError, match=rf"has no `{name}`, .*add {says} to what its requirements"):
                penstock.run(lab({"law": "reads"}), world=world)
        law(with_it)
        assert penstock.run(lab({"law": "reads"})).summary.groups["ours"].window_mean_packets == 20.0
    finally:
        penstock.unregister("reads")


QUEUE_MEASUREMENTS: list[tuple[str, str]] = [
    ("arrived", r"`tick_s=\.\.\.`"),
    ("sojourn_s", r'`decides="head"` or `tick_s'),
]


@pytest.mark.parametrize(("name", "says"), QUEUE_MEASUREMENTS, ids=[one[0] for one in QUEUE_MEASUREMENTS])
def test_a_measurement_of_a_queue_that_is_not_required_is_no_zero(name: str, says: str) -> None:
    def law(tick_s: float | None) -> Any:
        class Reads(penstock.Aqm):
            """Reads one measurement."""

            probability = penstock.state()

            def start(self, context: penstock.AqmContext) -> None:
                self.probability = 0.0

            def requirements(self) -> penstock.AqmRequirements:
                return penstock.AqmRequirements(tick_s=tick_s)

            def on_arrival(self, observation: penstock.AqmObservation, bytes: int, idle: int) -> None:
                self.probability = 0 * getattr(observation, name)
                assert observation.capacity > 0

        Reads.name = "reads"
        return penstock.register(Reads)

    try:
        law(None)
        with pytest.raises(AttributeError, match=rf"the observation has no `{name}`, .*add {says}"):
            penstock.run(lab({"law": "newreno"}, {"law": "reads"}))
        law(0.1)
        penstock.run(lab({"law": "newreno"}, {"law": "reads"}))
    finally:
        penstock.unregister("reads")


def test_ctrl_c_stops_a_law(breaks: Any) -> None:
    breaks(lambda law: time.sleep(60))
    for scenario in (lab({"law": "breaks", "when": "on_round"}), lab({"law": "breaks"}).set("duration", "10 h")):
        interrupted = Interrupt(0.3)
        with pytest.raises(KeyboardInterrupt):
            penstock.run(scenario)
        assert interrupted.was_obeyed_in(0.2)


def test_ctrl_c_stops_an_event_that_sends_millions() -> None:
    class Huge(penstock.Controller):
        """Has the largest window that a run takes."""

        name = "huge"
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window = 2.0

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            self.window = 4e6

    penstock.register(Huge)
    scenario = lab({"law": "huge"}).set("duration", "10 h").set("links.bottleneck.rate", "1 Gbit/s")
    swept = scenario.copy().set("sweep", {"seed": {"count": 2}})
    try:
        # Moments in the first burst and later.
        for after_s in (0.4, 0.7, 1.1):
            for interruptible in (lambda: penstock.run(scenario), lambda: penstock.sweep(swept, jobs=1)):
                interrupted = Interrupt(after_s)
                with pytest.raises(KeyboardInterrupt):
                    interruptible()
                assert interrupted.was_obeyed_in(0.2)
    finally:
        penstock.unregister("huge")


def test_threads_of_a_command_keep_their_state_of_python() -> None:
    # What a thread-local object holds is gone with Python's state of the thread, which a stranger has for one call.
    known, calls = threading.local(), [0, 0]

    class Counts(newreno.NewReno):
        """Counts calls, and threads that Python had not met."""

        name = "counts"

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            calls[0] += 1
            if not hasattr(known, "since"):
                known.since = calls[0]
                calls[1] += 1
            super().on_ack(observation, packets, marked)

    penstock.register(Counts)
    try:
        penstock.find_failures("counts", objective="underuse", budget=2, jobs=2)
    finally:
        penstock.unregister("counts")
    acknowledgements, threads = calls
    assert acknowledgements > 1_000
    assert 0 < threads < 50


def test_ctrl_c_stops_a_command(breaks: Any) -> None:
    breaks(lambda law: None)
    scenario = lab({"law": "breaks"}).set("duration", "10 h")
    interrupted = Interrupt(0.5)
    with pytest.raises(KeyboardInterrupt):
        penstock.compare(scenario, worlds=["packets", "fluid"])
    assert interrupted.was_obeyed_in(4.5)
    assert len(penstock.compare(lab({"law": "fast-python", "alpha": "9 packets"}))) > 0


@pytest.mark.filterwarnings("ignore:This process")
def test_a_law_runs_on_both_sides_of_a_fork() -> None:
    scenario = lab({"law": "fast-python"}).set("duration", "2 s")
    before = penstock.run(scenario).summary
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if penstock.run(scenario).summary == before else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert penstock.run(scenario).summary == before


def test_threads_share_nothing_but_the_lock() -> None:
    scenario = lab({"law": "newreno-python"}).set("links.bottleneck.loss", 0.01).set("duration", "3 s")
    alone = [penstock.run(scenario, seed=seed).summary for seed in range(1, 5)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: penstock.run(scenario, seed=seed).summary, range(1, 5)))
    assert alone == together


def test_a_sweep_has_the_same_bits_wherever_it_runs() -> None:
    scenario = lab({"law": "fast-python"}).set("duration", "2 s")
    scenario.set("sweep", {"flows.ours.cc.alpha": ["10 packets", "20 packets"], "seed": {"count": 2}})
    here = pyarrow.table(penstock.sweep(scenario, jobs=2))
    with ProcessPoolExecutor(1) as executor:
        assert pyarrow.table(penstock.sweep(scenario, executor=executor)).equals(here)


def test_a_law_that_cannot_travel_says_so() -> None:
    class Local(fast.Fast):
        """Is known nowhere else."""

        name = "local"

    penstock.register(Local)
    try:
        scenario = lab({"law": "local"}).set("duration", "1 s").set("warmup", "0 s")
        with ProcessPoolExecutor(1) as executor, pytest.raises(TypeError, match="cannot travel to the executor"):
            penstock.sweep(scenario, executor=executor)
    finally:
        penstock.unregister(Local)


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


def resident() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def test_memory_stays_after_many_runs_of_a_law() -> None:
    scenario = lab({"law": "fast-python"}, {"law": "pi-python"}).set("duration", "1 s").set("warmup", "0 s")

    def some(count: int) -> None:
        for _ in range(count):
            penstock.run(scenario)
            penstock.register(fast.Fast)

    some(20)
    before = resident()
    some(60)
    assert resident() - before < 4_000


@pytest.mark.slow
def test_ten_thousand_runs_keep_their_memory() -> None:
    scenario = lab({"law": "fast-python"}, {"law": "pi"}).set("duration", "200 ms").set("warmup", "0 s")
    seen = []
    for count in range(10_000):
        record = penstock.run(scenario, seed=count)
        assert len(record.links) > 0
        assert record.summary.links
        if count % 1_000 == 999:
            seen.append(resident())
    print("resident [kB]:", seen)
    assert seen[-1] - seen[1] < 4_000


@pytest.mark.slow
def test_a_law_takes_three_hundred_thousand_acknowledgements_a_second() -> None:
    for law in ("newreno-python", "fast-python"):
        scenario = lab({"law": law}).set("links.bottleneck.rate", "100 Mbit/s").set("duration", "20 s")
        began = time.process_time()
        summary = penstock.run(scenario, series=False).summary
        rate = summary.groups["ours"].throughput_packets_per_s * 20 / (time.process_time() - began)
        print(f"{law}: {rate:.0f} acknowledgements a CPU-second")
        assert rate > 300_000


def test_memory_that_is_no_state_is_refused_where_no_model_follows_it() -> None:
    class Smoothed(penstock.Controller):
        """Holds five packets in the queue, by a smoothed measurement."""

        name = "smoothed"
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window, self.smooth, self.hits = 10.0, 0.0, 0

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            queued = self.window * (1.0 - observation.base_rtt_s / observation.rtt_s)
            self.smooth += 0.1 * (queued - self.smooth)
            self.hits += 1
            self.window = max(self.window + packets * 0.5 * (5.0 - self.smooth) / self.window, 2.0)

    class Declared(Smoothed):
        """The same with its state declared."""

        name = "smoothed-declared"
        smooth = penstock.state("packets")

    for law in (Smoothed, Declared):
        penstock.register(law)
    scenario, declared = lab({"law": "smoothed"}), lab({"law": "smoothed-declared"})
    for refused in (lambda: penstock.analyze(scenario), lambda: penstock.run(scenario, world="fluid")):
        with pytest.raises(penstock.UnsupportedError, match=r"changes its attribute `smooth`, .*penstock\.state"):
            refused()
    penstock.analyze(declared)
    penstock.run(declared, world="fluid")
    # Packets call each object in turn: nothing is lost there, and the two laws are one.
    first, second = (penstock.run(each).summary.groups["ours"] for each in (scenario, declared))
    assert first.goodput_bit_per_s == second.goodput_bit_per_s
    for law in (Smoothed, Declared):
        penstock.unregister(law.name)


def test_a_window_that_no_memory_holds_ends_the_run() -> None:
    class Large(penstock.Controller):
        """Has one window."""

        name = "large"
        size = penstock.parameter(1e8)
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window = 2.0

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            self.window = self.size

    penstock.register(Large)
    for size in (4_194_305.0, 1e308):
        with pytest.raises(penstock.LawError, match=r"window is .*: a run takes 4194304 at most"):
            penstock.run(lab({"law": "large", "size": size}))
    penstock.run(lab({"law": "large", "size": 1e5}))
    penstock.unregister("large")
