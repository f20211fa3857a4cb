"""The memory of a law beside its declared state: the fluid world and the analysis refuse what they would not follow."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Generator
from typing import Any

import pytest
from test_law import lab

import penstock


class Average:
    """Weighs a sample with a tenth."""

    def __init__(self) -> None:
        self.value = 0.0

    def take(self, sample: Any) -> Any:
        self.value = 0.9 * self.value + 0.1 * sample
        return self.value


class Slotted:
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: Any = 0.0

    def take(self, sample: Any) -> Any:
        self.value = 0.9 * self.value + 0.1 * sample
        return self.value


KEPT: dict[str, Any] = {"value": 0.0}
LATEST: Any = 0.0
SHARED = Average()


def averaged(kept: Any, at: Any, sample: Any) -> Any:
    kept[at] = 0.9 * kept[at] + 0.1 * sample
    return kept[at]


def in_global(law: Any, sample: Any) -> Any:
    global LATEST
    LATEST = 0.9 * LATEST + 0.1 * sample
    return LATEST


def in_dict_of_module(law: Any, sample: Any) -> Any:
    return averaged(KEPT, "value", sample)


def in_object_of_module(law: Any, sample: Any) -> Any:
    return SHARED.take(sample)


def in_default(law: Any, sample: Any, kept: list[Any] = [0.0]) -> Any:  # noqa: B006
    return averaged(kept, 0, sample)


def in_class(law: Any, sample: Any) -> Any:
    kind: Any = type(law)
    kind.kept = 0.9 * getattr(kind, "kept", 0.0) + 0.1 * sample
    return kind.kept


def in_function(law: Any, sample: Any) -> Any:
    function: Any = in_function
    function.kept = 0.9 * getattr(function, "kept", 0.0) + 0.1 * sample
    return function.kept


def in_closure() -> Callable[[Any, Any], Any]:
    kept: Any = 0.0

    def take(law: Any, sample: Any) -> Any:
        nonlocal kept
        kept = 0.9 * kept + 0.1 * sample
        return kept

    return take


def smoothed() -> Generator[Any, Any, None]:
    value: Any = 0.0
    while True:
        value = 0.9 * value + 0.1 * (yield value)


def begun() -> Generator[Any, Any, None]:
    generator = smoothed()
    next(generator)
    return generator


def in_tuple(law: Any, sample: Any) -> Any:
    law.kept = (0.9 * law.kept[0] + 0.1 * sample,)
    return law.kept[0]


def in_deque(law: Any, sample: Any) -> Any:
    law.kept.append(0.9 * law.kept[0] + 0.1 * sample)
    return law.kept[0]


def in_slot(law: Any, sample: Any) -> Any:
    law.own = 0.9 * law.own + 0.1 * sample
    return law.own


# How a law starts, how it averages, and which number the exception names.
PLACES: dict[str, tuple[Callable[[], object], Callable[[Any, Any], Any], str]] = {
    "an object": (Average, lambda law, x: law.kept.take(x), "kept.value"),
    "an object with slots": (Slotted, lambda law, x: law.kept.take(x), "kept.value"),
    "an object in a list": (lambda: [Average()], lambda law, x: law.kept[0].take(x), "kept[0].value"),
    "a bound method": (lambda: Average().take, lambda law, x: law.kept(x), "kept.__self__.value"),
    "a partial": (
        lambda: functools.partial(averaged, [0.0], 0),
        lambda law, x: law.kept(x),
        "kept.args[0][0]",
    ),
    "a generator": (begun, lambda law, x: law.kept.send(x), "kept: value"),
    "a list": (lambda: [0.0], lambda law, x: averaged(law.kept, 0, x), "kept[0]"),
    "a dict": (lambda: {"a": 0.0}, lambda law, x: averaged(law.kept, "a", x), "kept['a']"),
    "a tuple": (lambda: (0.0,), in_tuple, "kept[0]"),
    "a deque": (lambda: deque([0.0], 1), in_deque, "kept[0]"),
    "a slot of the law": (lambda: None, in_slot, "own"),
    "a global": (lambda: None, in_global, "LATEST of test_law_memory"),
    "a dict of the module": (lambda: None, in_dict_of_module, "KEPT of test_law_memory['value']"),
    "an object of the module": (lambda: None, in_object_of_module, "SHARED of test_law_memory.value"),
    "a default of an argument": (lambda: None, in_default, "default 0 of in_default[0]"),
    "an attribute of the class": (lambda: None, in_class, "Remembers.kept"),
    "an attribute of a function": (lambda: None, in_function, "in_function.kept"),
    "a closure": (lambda: None, in_closure(), "kept of in_closure.<locals>.take"),
}


def forget() -> None:
    """What all laws share keeps dual numbers of an analysis."""
    global LATEST
    LATEST = KEPT["value"] = SHARED.value = 0.0
    function: Any = in_function
    function.kept = 0.0
    in_default.__defaults__ = ([0.0],)
    PLACES["a closure"] = (lambda: None, in_closure(), "kept of in_closure.<locals>.take")


def delay_law(start: Callable[[], object], average: Callable[[Any, Any], Any]) -> None:
    class Remembers(penstock.Controller):
        __slots__ = ("own",)
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window, self.own = 10.0, 0.0
            self.kept: Any = start()

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            rtt_s = penstock.math.max(average(self, observation.rtt_s), 1e-9)
            queued = self.window * (1 - observation.base_rtt_s / rtt_s)
            self.window += packets * (10 - queued) / self.window

    penstock.register(Remembers)


def scenario() -> penstock.Scenario:
    return lab({"law": "remembers"}).set("links.bottleneck.buffer", "500 packets")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("by", ["analysis", "fluid"])
def test_a_number_that_is_no_declared_state_is_refused(place: str, by: str) -> None:
    forget()
    start, average, name = PLACES[place]
    delay_law(start, average)
    with pytest.raises(penstock.UnsupportedError) as raised:
        penstock.analyze(scenario()) if by == "analysis" else penstock.run(scenario(), world="fluid")
    assert f"an event changes `{name}`" in str(raised.value)
    assert "penstock.state" in str(raised.value)


def test_the_packets_world_follows_a_number_wherever_it_is() -> None:
    queues = []
    for place in ("an object", "a list", "a dict"):
        start, average, _ = PLACES[place]
        delay_law(start, average)
        queues.append(penstock.run(scenario()).summary.links["bottleneck"].queue_mean_packets)
    assert queues[0] == queues[1] == queues[2]


class Weights:
    """Constants, in an object, and counters beside them."""

    def __init__(self) -> None:
        self.target, self.table = 10.0, ([1.0, 2.0], {"gain": 1.0})
        self.count, self.mode, self.seen = 0, "start", {"ack": 0}

    @functools.cached_property
    def words(self) -> str:
        return "computed once"


def test_constants_counters_and_switches_are_no_memory() -> None:
    class Counts(penstock.Controller):
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window, self.weights = 10.0, Weights()

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            weights = self.weights
            weights.count += packets
            weights.seen["ack"] += 1
            weights.seen["mark"] = marked
            weights.mode = weights.words
            if observation.rtt_s > 0:
                queued = self.window * (1 - observation.base_rtt_s / observation.rtt_s)
                self.window += packets * weights.table[1]["gain"] * (weights.target - queued) / self.window

    penstock.register(Counts)
    counts = lab({"law": "counts"}).set("links.bottleneck.buffer", "500 packets")
    assert penstock.analyze(counts).stable
    penstock.run(counts, world="fluid")
