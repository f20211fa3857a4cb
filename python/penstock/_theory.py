"""The analysis: equilibrium, loop gain with exact delays, margins."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from penstock import _native
from penstock._arguments import switch, whole
from penstock._ask import ask, text_of
from penstock._errors import ScenarioError
from penstock._native import Scenario
from penstock._run import scenario_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Model = Literal["laws", "estimators", "sampled"]
_Made = TypeVar("_Made")
_NO_BOUNDS = {"color", "colour", "help", "json", "plain", "quiet", "verbose", "version"}
"""Options of every command, which are no bounds of a rule."""


@dataclass(frozen=True)
class LinkEquilibrium:
    """A link at equilibrium."""

    name: str
    aqm: str
    """The law of its queue."""
    binding: bool
    """Whether it limits anyone."""
    capacity_bit_per_s: float
    capacity_packets_per_s: float
    load_packets_per_s: float
    """Arrivals [packets/s]."""
    utilization: float
    """Arrivals over capacity."""
    queue_packets: float
    queueing_delay_s: float
    mark_probability: float
    """Probability of a mark, or of a drop where packets are not marked."""
    price_s: float | None
    state: dict[str, float]
    """The numbers of its law's state, by name, in their units."""
    nearest_kink: float | None
    """How near the nearest kink of its law is, in the units of that comparison."""


@dataclass(frozen=True)
class ClassEquilibrium:
    """Flows of a group with the same round trip, at equilibrium."""

    name: str
    group: str
    cc: str
    """Their law."""
    count: int
    base_rtt_s: float
    rtt_s: float
    rate_packets_per_s: float
    """Rate of one flow [packets/s]."""
    rate_bit_per_s: float
    """Rate of one flow [bit/s], headers included."""
    window_packets: float
    share: float | None
    """The share of the load of the first bottleneck that they cross."""
    price_s: float | None
    mark_probability: float
    drop_probability: float
    clocking: str
    """``paced`` or ``ack``: the clock of their packets."""
    state: dict[str, float]
    """The numbers of their law's state, by name, in their units."""
    nearest_kink: float | None
    """How near the nearest kink of their law is, in the units of that comparison."""


@dataclass(frozen=True)
class Margins:
    """Margins of a loop. A margin that does not exist, or that the model does not compute, is None."""

    verdict: str
    """``stable``, ``unstable`` or ``undecided``."""
    unstable_roots: int
    """Roots of the characteristic equation in the right half plane."""
    gain_margin: float | None
    """The factor by which the gain may grow before the loop is unstable."""
    least_gain: float | None
    """The factor below one that destabilises a stable loop, where lowering the gain does so."""
    phase_margin_deg: float | None
    delay_margin_s: float | None
    """The time by which the delay may grow [s].

    None for a loop with a sender that acknowledgements clock: its packets wait for more delay too, so that the loop is
    another one. None does not say that any delay is bearable.
    """
    phase_crossover_rad_per_s: float | None
    gain_crossover_rad_per_s: float | None
    least_distance: float
    """The least distance of the gain from -1."""
    least_distance_rad_per_s: float
    sensitivity_peak: float
    """The largest factor by which the loop amplifies a disturbance of any frequency."""


class LoopModel:
    """One model of the loop: its margins, its poles, its plots."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.name: str = data["model"]
        """``laws``, ``estimators`` or ``sampled``. Each counts more than the one before."""
        self.margins: Margins = _made(Margins, data)
        """Its margins."""
        self.limiting_class: str | None = data.get("limiting_class")
        """The class whose own loop is nearest to -1."""
        self._data = data

    @cached_property
    def poles(self) -> NDArray[np.complex128]:
        """The rightmost roots of the characteristic equation, one of each pair, the rightmost first [1/s]."""
        roots = self._data["roots"]
        values: NDArray[np.complex128] = _numpy().array(
            [complex(root["re_per_s"], root["im_rad_per_s"]) for root in roots], dtype=complex
        )
        return values

    def nyquist(self) -> list[tuple[NDArray[np.float64], NDArray[np.complex128]]]:
        """Return frequencies [rad/s] and loop gain, of one bottleneck; of several those of each eigenlocus."""
        numpy = _numpy()
        return [
            (
                numpy.array([point["frequency_rad_per_s"] for point in locus], dtype=float),
                numpy.array([complex(point["re"], point["im"]) for point in locus], dtype=complex),
            )
            for locus in self._data["nyquist"]
        ]

    def bode(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]:
        """Return frequencies [rad/s], modulus and phase [degrees] of each curve of ``nyquist``.

        The phase has no jumps by a whole turn, however far apart the frequencies are: the analysis follows it between
        them. It is NaN where it does not: where the gain is zero, below a hundred turns, and where hundreds of round
        trips would take too long.
        """
        numpy = _numpy()
        nan = float("nan")
        loci = self._data["nyquist"]
        phases = (numpy.array([point.get("phase_deg", nan) for point in locus], dtype=float) for locus in loci)
        return [(w, numpy.abs(gain), phase) for (w, gain), phase in zip(self.nyquist(), phases, strict=True)]

    def __repr__(self) -> str:
        """Show name and margins."""
        return f"<penstock.LoopModel {self.name}: {self.margins}>"


class Loop:
    """The loop of a scenario at equilibrium, opened at the arrivals of the links that limit anyone.

    Feedback is negative and the critical point is -1.
    """

    def __init__(self, native: _native.Loop) -> None:
        self._native = native

    @property
    def links(self) -> list[str]:
        """The links that limit anyone: outputs and inputs, in this order."""
        return self._native.links

    def frequency_response(self, omega: Sequence[float] | Any, model: Model = "sampled") -> NDArray[np.complex128]:
        """Return the loop gain with exact delays, as the margins have it.

        Of one bottleneck with ACK-clocked senders, the clock of acknowledgements is closed inside.

        Args:
            omega: Frequencies [rad/s], of length n.
            model: The loop model.

        Returns:
            Complex numbers of shape (outputs, inputs, n), in the order of ``links``.
        """
        numpy = _numpy()
        frequencies = numpy.atleast_1d(numpy.asarray(omega, dtype=float))
        if frequencies.ndim != 1:
            raise ValueError(f"omega has {frequencies.ndim} dimensions: give a list of frequencies [rad/s]")
        if not numpy.isfinite(frequencies).all() or (frequencies <= 0).any():
            raise ValueError("omega has a frequency that is not above zero: give frequencies [rad/s]")
        n = len(self.links)
        values = numpy.frombuffer(self._native.response(frequencies.tolist(), model), dtype="<c16")
        response: NDArray[np.complex128] = values.astype(complex).reshape(n, n, frequencies.size)
        return response

    def to_control(self, omega: Sequence[float] | Any, model: Model = "sampled") -> Any:
        """Return the response as a ``control.FrequencyResponseData`` of the package python-control."""
        numpy = _numpy()
        try:
            control = importlib.import_module("control")
        except ImportError:
            raise ImportError("to_control needs python-control: install it with `pip install control`") from None
        frequencies = numpy.atleast_1d(numpy.asarray(omega, dtype=float))
        return control.frd(self.frequency_response(frequencies, model), frequencies)


class Analysis:
    """The results of the theory for a scenario."""

    def __init__(self, data: dict[str, Any], scenario: Scenario, at: str | None, clocking: Mapping[str, str]) -> None:
        self.data = data
        """All of it, as ``penstock analyze --json`` prints it."""
        self._of = (scenario, at, dict(clocking))

    @property
    def verdict(self) -> str:
        """The verdict of the model that counts most: ``stable``, ``unstable`` or ``undecided``."""
        return str(self.data["verdict"])

    @property
    def stable(self) -> bool:
        """Whether that is ``stable``."""
        return self.verdict == "stable"

    @cached_property
    def links(self) -> dict[str, LinkEquilibrium]:
        """The links that carry data, at equilibrium, by name."""
        return {one["name"]: _made(LinkEquilibrium, one) for one in self.data.get("links", [])}

    @cached_property
    def classes(self) -> dict[str, ClassEquilibrium]:
        """The classes of flows at equilibrium, by name: a group, or ``GROUP[0]`` and so on for its round-trip times."""
        return {one["name"]: _made(ClassEquilibrium, one) for one in self.data.get("classes", [])}

    @cached_property
    def models(self) -> dict[str, LoopModel]:
        """The models of the loop, by name. The last counts most."""
        return {one["model"]: LoopModel(one) for one in self.data.get("models", [])}

    @property
    def margins(self) -> Margins:
        """The margins of the model that counts most.

        Raises:
            ValueError: The loop is one around classes or contracts, which ``data`` has.
        """
        return self._decisive().margins

    @property
    def poles(self) -> NDArray[np.complex128]:
        """The poles of the model that counts most [1/s]."""
        return self._decisive().poles

    @property
    def limiting_class(self) -> str | None:
        """The class that limits stability."""
        return self.data.get("limiting_class")

    @property
    def warnings(self) -> list[str]:
        """Warnings for the reader."""
        return list(self.data.get("warnings", []))

    @property
    def assumptions(self) -> list[str]:
        """The assumptions of the analysis."""
        return list(self.data.get("assumptions", []))

    @cached_property
    def loop(self) -> Loop:
        """The loop, for its response at any frequency."""
        return Loop(_native.Loop(*self._of))

    def _decisive(self) -> LoopModel:
        if not self.models:
            raise ValueError("this analysis has no models of one loop: data has what there is")
        return list(self.models.values())[-1]

    def __repr__(self) -> str:
        """Show title and verdict."""
        return f"<penstock.Analysis {self.data.get('title', '')!r}: {self.verdict}>"


def analyze(
    scenario: Scenario | str | os.PathLike[str],
    *,
    at: str | None = None,
    clocking: Mapping[str, Literal["paced", "ack"]] | None = None,
    disturbance: bool = False,
) -> Analysis:
    """Analyse a scenario: equilibrium, loop gain with exact delays, margins, verdict.

    Args:
        scenario: A scenario of one cell, or the path of its file.
        at: Takes the flows that are active then, as in ``"150 s"``. None takes all.
        clocking: The clock of the packets of a group, by its name. Others go by the gap and window of their law.
        disturbance: Also computes the response to cross traffic, as ``data["disturbance"]``.

    Raises:
        ScenarioError: The scenario is wrong, or has no equilibrium.
        UnsupportedError: The analysis does not cover it, or a law cannot be linearised.
        Exception: An exception of a law of Python.
    """
    scenario = scenario_of(scenario).copy()
    path, text = text_of(scenario)
    if not (clocking is None or isinstance(clocking, Mapping)):
        raise TypeError(f'clocking is of class {type(clocking).__name__}: write a dict, as in {{"ftp": "paced"}}')
    clocks = dict(clocking or {})
    for group, clock in clocks.items():
        if clock not in ("paced", "ack"):
            raise ScenarioError(f"clocking of {group!r} is {clock!r}: write paced or ack")
    options: dict[str, object] = {"at": at, "clocking": clocks, "disturbance": switch("disturbance", disturbance)}
    return Analysis(ask(["analyze"], options, {path: text}, [path]), scenario, at, clocks)


class StabilityMap:
    """The verdict of the analysis over a grid of two keys. Arrays have the shape (values of y, values of x)."""

    def __init__(self, data: dict[str, Any]) -> None:
        numpy = _numpy()
        self.data = data
        """All of it, as ``penstock analyze --json`` prints it."""
        x, y, cells = data["x"], data["y"], data["cells"]
        self.x: NDArray[np.float64] = numpy.array(x["values"], dtype=float)
        """The values of the first key, in ``x_unit``."""
        self.y: NDArray[np.float64] = numpy.array(y["values"], dtype=float)
        """The values of the second key, in ``y_unit``."""
        self.x_key, self.x_unit = str(x["key"]), str(x["unit"])
        self.y_key, self.y_unit = str(y["key"]), str(y["unit"])
        shape = (len(self.x), len(self.y))

        def numbers(name: str) -> NDArray[np.float64]:
            values = [numpy.nan if cell.get(name) is None else cell[name] for cell in cells]
            array: NDArray[np.float64] = numpy.array(values, dtype=float).reshape(shape).T
            return array

        self.gain_margin = numbers("gain_margin")
        """Gain margins. NaN where there is none."""
        self.phase_margin_deg = numbers("phase_margin_deg")
        """Phase margins [degrees]. NaN where there is none."""
        verdicts = [cell.get("verdict") or "" for cell in cells]
        self.verdict: NDArray[np.str_] = numpy.array(verdicts, dtype=str).reshape(shape).T
        """``stable``, ``unstable``, ``undecided``, or nothing where the cell has no equilibrium."""
        self.stable: NDArray[np.bool_] = self.verdict == "stable"
        """Whether it is stable."""

    def __repr__(self) -> str:
        """Show keys and shape."""
        return (
            f"<penstock.StabilityMap of {self.y_key} by {self.x_key}: {self.stable.sum()} of {self.stable.size} stable>"
        )


def stability_map(
    scenario: Scenario | str | os.PathLike[str],
    x: str,
    y: str,
    *,
    points: int = 11,
    at: str | None = None,
) -> StabilityMap:
    """Analyse a scenario for a grid of the values of two keys.

    Args:
        scenario: A scenario of one cell, or the path of its file.
        x: The first key with its values: ``flows.ftp.rtt=10..300 ms`` (logarithmic steps) or
            ``flows.ftp.rtt=["10 ms", "50 ms"]``.
        y: The second key, likewise.
        points: The number of values in each range, 2 to 200.
        at: As in ``analyze``.

    Raises:
        ScenarioError: The scenario, a key or a range is wrong.
    """
    points = whole("points", points, 2, 200)
    for name, axis in [("x", x), ("y", y)]:
        if not (isinstance(axis, str) and "=" in axis):
            shown = repr(axis) if isinstance(axis, str) else f"of class {type(axis).__name__}"
            raise ScenarioError(f"{name} is {shown}: write a key with its values, as in flows.ftp.rtt=10..300 ms")
    path, text = text_of(scenario)
    options = {"stability_map": (x, y), "map_points": points, "at": at}
    return StabilityMap(ask(["analyze"], options, {path: text}, [path])["stability_map"])


@dataclass(frozen=True)
class Tuned:
    """Parameters by the rule of a paper, and what they are good for."""

    law: str
    rule: str
    """The paper and its rule."""
    parameters: dict[str, Any]
    """As a scenario has them."""
    margins: Margins | None
    """The margins of the loop that the rule is made for."""
    guaranteed_gain_margin: float | None
    """The factor by which the gain of any network within the rule may grow."""
    remarks: list[str]
    """Remarks on the rule and its margins."""

    @property
    def setting(self) -> dict[str, Any]:
        """The value for ``cc``, ``aqm`` or ``conditioner`` of a scenario."""
        return {"law": self.law, **self.parameters}


def tune(
    law: Literal["pi", "leadlag", "early-marking", "clcc"],
    scenario: Scenario | str | os.PathLike[str] | None = None,
    **bounds: object,
) -> Tuned:
    """Return parameters by the rule of a law's paper.

    Args:
        law: ``pi`` takes ``capacity``, ``flows``, ``rtt``, ``packet``, ``frequency``; ``leadlag`` takes ``taubar``,
            ``alpha``, ``bottlenecks``, ``share``; ``early-marking`` takes a scenario or ``rate``, ``flows``,
            ``rtt``, ``packet``, and ``customer``, ``rule``; ``clcc`` takes ``share``, ``gamma``, ``margin``.
        scenario: The scenario whose customer ``early-marking`` is tuned for.
        bounds: The bounds that the rule takes: quantities as in a scenario, ``rtt="246 ms"``.

    Raises:
        ScenarioError: No rule tunes this law, or a bound is missing, wrong, or one that the rule does not know.
    """
    if law not in ("pi", "leadlag", "early-marking", "clcc"):
        shown = law if isinstance(law, str) else type(law).__name__
        raise ScenarioError(f"no rule tunes `{shown}`: there are rules for pi, leadlag, early-marking and clcc")
    for name, bound in bounds.items():
        if name in _NO_BOUNDS:
            raise ScenarioError(f"the rule of `{law}` has no bound `{name}`")
        if not (bound is None or (isinstance(bound, (str, int, float)) and not isinstance(bound, bool))):
            raise TypeError(f"{name} is of class {type(bound).__name__}: write a number, or a text as in a scenario")
    given, texts = [], {}
    if scenario is not None:
        path, text = text_of(scenario)
        given.append(path)
        texts[path] = text
    data = ask(["tune", law], bounds, texts, given)
    margins = data.get("margins")
    return Tuned(
        data["law"],
        data["rule"],
        dict(data["parameters"]),
        None if margins is None else _made(Margins, margins),
        data.get("guaranteed_gain_margin"),
        data["remarks"],
    )


def _made(of: type[_Made], data: Mapping[str, Any]) -> _Made:
    """Make an object of the members of the same names; what is absent is None."""
    known = {one.name: data.get(one.name) for one in fields(of)}  # type: ignore[arg-type]
    if isinstance(known.get("state"), list):
        known["state"] = {one["name"]: one["value"] for one in data["state"]}
    return of(**known)


def _numpy() -> Any:
    """Return numpy, which arrays need and the import of this package does not."""
    try:
        return importlib.import_module("numpy")
    except ImportError:
        raise ImportError("arrays need numpy: install it with `pip install numpy`") from None
