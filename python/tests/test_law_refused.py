"""Laws in Python that the contract refuses, with one exception each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Literal

import pytest
from test_law import lab

import penstock


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


class Mixin:
    """Its methods are not looked at when a class is made."""

    def on_ack(self, observation: object, packets: int, marked: int) -> Any:
        yield 1.0


def returning(thing: Any) -> Callable[[], object]:
    """Runs a law whose handler returns something."""

    def run() -> None:
        declared(name="returns", on_ack=lambda *arguments: thing)()
        penstock.run(lab({"law": "returns"}))

    return run


def inherited() -> None:
    members = {"name": "mixed", "window": penstock.state("packets")}
    members["start"] = lambda law, context: setattr(law, "window", 2.0)
    penstock.register(type("Mixed", (Mixin, penstock.Controller), members))
    penstock.run(lab({"law": "mixed"}))


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
    ("an inherited method that yields", inherited, penstock.LawError, "on_ack returned a value of class generator"),
    (
        "a partial of a method that yields",
        lambda: returning(generator(None, None))(),
        penstock.LawError,
        "nobody would go through",
    ),
    ("a handler that returns", returning(2.0), penstock.LawError, "on_ack returned a value of class float"),
    ("start that returns", declared(start=lambda law, context: 7), penstock.LawError, "start returned"),
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
    (
        "a value over an inherited parameter",
        lambda: type(
            "Half", (type("Whole", (penstock.Controller,), {"gain": penstock.parameter(1.0)}),), {"gain": 4.0}
        ),
        TypeError,
        r"Half\.gain takes the place of a parameter.*gain = penstock\.parameter",
    ),
    ("a text for words", lambda: penstock.parameter(words="abc"), TypeError, r"words is 'abc': write a list"),
    ("a word twice", lambda: penstock.parameter(words=["a", "b", "a"]), ValueError, "words has 'a' twice"),
    ("a word that is empty", lambda: penstock.parameter(words=["a", ""]), ValueError, "words has an empty text"),
    ("a range of one end", lambda: penstock.parameter(1.0, range=(5,)), TypeError, r"range is \(5,\): write the least"),  # type: ignore[arg-type]
    ("a range that is none", lambda: penstock.parameter(1.0, range=5), TypeError, "range is 5: write the least"),  # type: ignore[call-overload]
    ("a source that is no text", declared(source=5), TypeError, r"Wrong\.source is of class int: write a text"),
    ("a source of a parameter", lambda: penstock.parameter(1.0, source=5), TypeError, "source is of class int"),  # type: ignore[call-overload]
    ("words of a state", lambda: penstock.state("packets", words=5), TypeError, "words is of class int"),  # type: ignore[arg-type]
    ("a name that is no text", declared(name=5), TypeError, r"Wrong\.name is of class int: write a text"),
    (
        "requirements that are no method",
        declared(requirements=penstock.Requirements()),
        TypeError,
        r"Wrong\.requirements is of class Requirements: define a method",
    ),
    (
        "a period with its unit",
        declared(requirements=lambda law: penstock.Requirements(tick_s="20 ms")),  # type: ignore[arg-type]
        TypeError,
        "tick_s is '20 ms': write a period in seconds",
    ),
    (
        "a period that no run ends with",
        declared(requirements=lambda law: penstock.Requirements(tick_s=1e-12)),
        ValueError,
        "tick_s is 0.000000000001: write a period of 1e-7 s or more",
    ),
    (
        "fewer pairs than none",
        declared(requirements=lambda law: penstock.Requirements(pairs=-1)),
        TypeError,
        "pairs is -1: write a whole number of 1 or more",
    ),
    (
        "an average that is none",
        declared(requirements=lambda law: penstock.Requirements(average_rtt=True)),  # type: ignore[arg-type]
        TypeError,
        r"average_rtt is True: write penstock\.RttAverage",
    ),
    (
        "a switch of requirements that is a text",
        declared(requirements=lambda law: penstock.Requirements(now="no")),  # type: ignore[arg-type]
        TypeError,
        "now is 'no': write True or False",
    ),
    ("a law to forget that is none", lambda: penstock.unregister(5), TypeError, "law is of class int"),  # type: ignore[arg-type]
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
    # Laws that are found wrong as they run.
    for name in {"lacks", "returns", "mixed"} & set(penstock.registered()):
        penstock.unregister(name)
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


def aqm(probability: float) -> type[penstock.Aqm]:
    class Constant(penstock.Aqm):
        """Drops with one probability."""

        name = "constant"
        probability = penstock.state()

        def start(self, context: penstock.AqmContext) -> None:
            self.probability = probability

    return Constant


@pytest.mark.parametrize("probability", [2.0, -1.0, float("inf"), 1e300])
def test_a_probability_beyond_its_range_ends_the_run(probability: float) -> None:
    scenario = lab({"law": "newreno"}, {"law": "constant"})
    try:
        for fits in (0.0, 0.01, 1.0):
            penstock.register(aqm(fits))
            penstock.run(scenario)
        penstock.register(aqm(probability))
        for world in ("packets", "fluid"):
            with pytest.raises(penstock.LawError, match=r"law `constant`: probability is .*: a run takes 0 to 1"):
                penstock.run(scenario, world=world)
    finally:
        penstock.unregister("constant")


def test_a_window_that_is_no_number_from_the_start_is_an_error_of_the_law() -> None:
    declared(name="nan", start=lambda law, context: setattr(law, "window", float("nan")))()
    try:
        for world in ("packets", "fluid"):
            with pytest.raises(penstock.LawError, match="`nan` was a window of NaN packets"):
                penstock.run(lab({"law": "nan"}), world=world)
    finally:
        penstock.unregister("nan")
