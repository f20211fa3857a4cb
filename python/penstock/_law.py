"""Laws that are classes of Python."""

from __future__ import annotations

import colorsys
import difflib
import inspect
import types
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeVar, overload

from penstock import _identity, _native
from penstock._arguments import text
from penstock._native import AqmObservation, Observation

_UNITS = ("1", "packets", "s", "bit/s", "B")
_INFINITY = float("inf")


@dataclass(frozen=True)
class Parameter:
    """A parameter as a law declares it. ``parameter`` makes one."""

    name: str
    description: str
    unit: str
    default: float | None
    automatic: str | None
    range: tuple[float, float]
    words: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class StateNumber:
    """A number of a law's state as the law declares it. ``state`` makes one."""

    name: str
    unit: str
    words: str
    description: str


@dataclass(frozen=True)
class RttAverage:
    """An exponential average of the round-trip time, a step a sample: weight ``min(over_window / window, most)``."""

    over_window: float = _INFINITY
    """The average is over this part of a window [packets]. Infinite weighs each sample with ``most``."""
    most: float = 0.125
    """The largest weight, above 0 and up to 1."""


@dataclass(frozen=True)
class Price:
    """The price of the path from the marks of the last packets: marking is ``1 - phi ** -price``."""

    packets: int = 31
    """How many of the latest packets count, 1 to 64."""
    phi: float = 2.0
    """The base, above 1."""


@dataclass(frozen=True)
class Requirements:
    """The requirements of a controller. The host measures nothing else."""

    tick_s: float | None = None
    """The period of ``on_tick`` [s]. None calls it never."""
    marks: Literal["ignored", "congestion", "counted"] | Price = "ignored"
    """The meaning of a congestion echo.

    Nothing, a congestion event (RFC 3168), a count in ``on_ack``, or a sample of a price. With ``ignored``, packets are
    not ECN-capable.
    """
    average_rtt: RttAverage | None = None
    """The average that ``observation.rtt_s`` is. None has the latest sample there."""
    now: bool = False
    """Whether ``observation.now_s`` is measured."""
    pairs: int | None = None
    """How many packet pairs estimate the capacity.

    Then ``observation`` has ``buffer``, ``level``, ``in_flight`` and ``earlier``.
    """
    reliable: bool = True
    """Whether data are acknowledged and sent again. Without, nothing comes back (UDP)."""
    low_latency: bool = False
    """Whether packets carry ECT(1), for the low-latency queue (RFC 9331)."""
    retransmit_on_duplicates: bool = False
    """Whether an acknowledgement of a recovery lets lost segments be sent again, as many as it reports.

    The window does not limit them. The recovery then ends once the data sent before the loss are acknowledged,
    whatever is lost meanwhile.
    """
    fractions: bool = False
    """Whether a window below two packets is a rate, as many packets a round trip."""


@dataclass(frozen=True)
class AqmRequirements:
    """The requirements of an AQM."""

    decides: Literal["arrival", "departure", "head", "never"] = "arrival"
    """When ``probability`` counts: after ``on_arrival``; when a packet leaves; after ``on_departure`` at the head."""
    tick_s: float | None = None
    """The period of ``on_tick`` [s]. None calls it never."""
    marks: bool = False
    """Whether ECN-capable packets are marked. If not, they are dropped."""
    overrules_marks: bool = False
    """Whether a packet to be marked is dropped instead, with the probability that the law returns after ``on_hit``."""
    bytes: bool = False
    """Whether ``observation.queue`` counts bytes over the mean packet. If not, every packet counts one."""
    arrivals_first: bool = False
    """Whether a packet that arrives as another starts transmission finds that one still waiting."""
    idle_from_start: bool = False
    """Whether the line counts as idle from the start of the last transmission, not from its end."""
    full: bool = False
    """Whether ``on_full`` is called for a packet that a full buffer dropped, where ``decides`` is ``head``."""


@dataclass(frozen=True)
class SenderContext:
    """The context of a controller: what is known when a flow starts."""

    packet_bytes: int
    """A data packet on the wire [B]."""
    initial_window: float
    """The window that a flow starts with [packets]."""
    initial_ssthresh: float
    """Where slow start ends before the first congestion event [packets]."""


@dataclass(frozen=True)
class AqmContext:
    """The context of an AQM: what is known of its link when a run starts."""

    rate_bit_per_s: int
    """The line's rate at the start of the run [bit/s]."""
    delay_s: float
    """The line's propagation delay [s]."""
    packet_bytes: int
    """The mean packet: a data packet on the wire [B]."""
    packets_per_s: float
    """The rate in mean packets [packets/s]."""


@dataclass
class _Declared:
    """The result of ``parameter`` or ``state``, until the class that it is in has a name for it."""

    made: Callable[[str], Parameter | StateNumber]


@overload
def parameter(default: bool, *, description: str = "", source: str = "") -> bool: ...
@overload
def parameter(
    default: float,
    *,
    unit: Literal["1", "packets", "s", "bit/s", "B"] = "1",
    range: tuple[float, float] = ...,
    description: str = "",
    source: str = "",
) -> float: ...
@overload
def parameter(
    default: None,
    *,
    unit: Literal["1", "packets", "s", "bit/s", "B"] = "1",
    range: tuple[float, float] = ...,
    automatic: str,
    description: str = "",
    source: str = "",
) -> float | None: ...
@overload
def parameter(
    *,
    unit: Literal["1", "packets", "s", "bit/s", "B"] = "1",
    range: tuple[float, float] = ...,
    description: str = "",
    source: str = "",
) -> float: ...
@overload
def parameter(*, words: Sequence[str], description: str = "", source: str = "") -> str: ...


def parameter(
    default: float | bool | None = None,
    *,
    unit: str = "1",
    range: tuple[float, float] = (-_INFINITY, _INFINITY),
    automatic: str | None = None,
    words: Sequence[str] = (),
    description: str = "",
    source: str = "",
) -> Any:
    """Declare a parameter of a law, a key of ``cc`` or ``aqm`` in a scenario.

    Its value is an attribute of the law from before ``start`` on: a float in SI units, a bool for a switch, a str
    for a choice.

    Args:
        default: The value where a scenario has none. A bool makes it a switch. Without one, a scenario
            must have it.
        unit: ``1``, ``packets``, ``s``, ``bit/s`` or ``B``. A scenario writes it as ``"10 ms"``.
        range: The least and the largest value.
        automatic: How the law works the value out if a scenario has none, in words. The attribute is then None.
        words: The words of a choice. The first is the default.
        description: Its meaning, in a sentence.
        source: Where it comes from: a paper and its equation, an RFC and its section.
    """
    if unit not in _UNITS:
        raise ValueError(f"unit is {unit!r}: write one of {', '.join(_UNITS)}")
    for argument, words_of in [("description", description), ("source", source)]:
        text(argument, words_of, "a text")
    if isinstance(default, str):
        raise ValueError(f"default is {default!r}: write a number in SI units, and the unit as unit=")
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise TypeError(f'words is {words!r}: write a list of texts, as in words=["fast", "slow"]')
    choice = tuple(words)
    twice = [word for at, word in enumerate(choice) if word in choice[:at]]
    if twice or "" in choice:
        shown = f"has {twice[0]!r} twice" if twice else "has an empty text"
        raise ValueError(f"words {shown}: each choice needs a word of its own")
    if choice and (default is not None or automatic is not None):
        raise ValueError("the first of words is the default: leave out default and automatic")
    try:
        least, most = (float(end) for end in range)
    except (TypeError, ValueError):
        raise TypeError(f"range is {range!r}: write the least and the largest value, as in range=(0, 1)") from None
    if not (default is None or hasattr(default, "__float__")):
        raise TypeError(f"default is of class {type(default).__name__}: write a number in SI units")
    kind = unit
    number = None if default is None else float(default)
    if isinstance(default, bool):
        kind, least, most = "switch", 0.0, 1.0
    if choice:
        kind, number, least, most = "choice", 0.0, 0.0, float(len(choice) - 1)

    def made(name: str) -> Parameter:
        return Parameter(name, description, kind, number, automatic, (least, most), choice, source)

    return _Declared(made)


def state(unit: str = "1", *, words: str = "", description: str = "") -> float:
    """Declare a number of a law's state, which ``start`` sets.

    Series record it, and the analysis takes derivatives by it. Attributes that are not declared are state too, which
    the analysis and the fluid world keep as ``start`` set it: counters, switches. Where an event changes another number
    that is not declared, they raise ``UnsupportedError``.

    Args:
        unit: Its unit, ``1`` for a plain number.
        words: The same in words, as the heading of a plot.
        description: Its meaning, in a sentence.
    """
    for argument, words_of in [("unit", unit), ("words", words), ("description", description)]:
        text(argument, words_of, "a text")
    declared: Any = _Declared(lambda name: StateNumber(name, unit, words or name, description))
    number: float = declared
    return number


@dataclass(frozen=True)
class _About:
    """The entry of a law in the registry."""

    name: str
    title: str
    source: str
    colour: str
    not_linear: str | None
    parameters: tuple[Parameter, ...] = field(default=())
    state: tuple[StateNumber, ...] = field(default=())
    named: tuple[str, ...] = field(default=())
    """The names in its method ``requirements``: a requirement among them may depend on parameters."""


class _Law:
    """The common part of controllers and AQMs."""

    name: ClassVar[str] = ""
    """The name in scenarios: lower case letters, digits, ``-`` and ``_``. By default it is that of the class."""
    source: ClassVar[str] = "a law in Python"
    """The paper or RFC."""
    colour: ClassVar[str] = ""
    """The colour in figures, ``#rrggbb``. By default it is made of the name."""
    not_linear: ClassVar[str | None] = None
    """Why the analysis cannot take derivatives of this law. None lets it do so."""
    _declares: ClassVar[frozenset[str]] = frozenset()
    """The names that the class itself declares, and not one above it."""
    _parameters: ClassVar[tuple[Parameter, ...]] = ()
    _state: ClassVar[tuple[StateNumber, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        """Collect what the class declares, in the place of values."""
        super().__init_subclass__(**options)
        declared = [(name, thing) for name, thing in vars(cls).items() if isinstance(thing, _Declared)]
        found = [thing.made(name) for name, thing in declared]
        for name, _ in declared:
            delattr(cls, name)
        for name, thing in vars(cls).items():
            wrong = (
                "a generator"
                if inspect.isgeneratorfunction(thing)
                else "a coroutine"
                if inspect.iscoroutinefunction(thing) or inspect.isasyncgenfunction(thing)
                else None
            )
            if wrong:
                raise TypeError(
                    f"{cls.__name__}.{name} is {wrong}, and nobody would go through it: return, do not yield"
                )
        _refuse_misspelt(cls)
        own = {one.name for one in found}
        cls._parameters = tuple(p for p in cls._parameters if p.name not in own) + tuple(
            p for p in found if isinstance(p, Parameter)
        )
        cls._state = tuple(s for s in cls._state if s.name not in own) + tuple(
            s for s in found if isinstance(s, StateNumber)
        )
        cls._declares = frozenset(own)
        _refuse_covered(cls)


def _refuse_covered(law: type[_Law]) -> None:
    """Refuse a plain value in the place of an inherited parameter: runs would set the parameter and never use it."""
    for name in (one.name for one in law._parameters):
        for base in law.__mro__:
            if name in vars(base).get("_declares", ()):
                break
            if name in vars(base) and not isinstance(vars(base)[name], types.MemberDescriptorType):
                raise TypeError(
                    f"{base.__name__}.{name} takes the place of a parameter, whose value runs set: declare it again, "
                    f"as in {name} = penstock.parameter(...)"
                )


def _refuse_misspelt(law: type[_Law]) -> None:
    """Refuse a method that looks like the handler of an event and is none: no host would call it."""
    contract = next(base for base in law.__mro__ if _Law in base.__bases__)
    handlers = {name: name for name in vars(contract) if name.startswith("on_")}
    # The old name of a handler is no misspelling of it.
    if "on_congestion" in handlers:
        handlers["on_loss"] = "on_congestion"
    own = [base for base in law.__mro__ if not issubclass(_Law, base) and base is not contract]
    for of, name, thing in [(base, name, thing) for base in own for name, thing in vars(base).items()]:
        if not name.startswith("on_") or name in handlers or not (callable(thing) or hasattr(thing, "__func__")):
            continue
        near = difflib.get_close_matches(name, list(handlers), n=1)
        remedy = f"write {handlers[near[0]]}" if near else "begin its name with something else"
        known = ", ".join(sorted(set(handlers.values())))
        raise TypeError(
            f"{of.__name__}.{name} is the handler of no event of {contract.__name__}: {remedy}; there are {known}"
        )


class Controller(_Law):
    """The law of a sender: it decides the window.

    A subclass declares parameters by ``parameter`` and state by ``state``. ``window`` is its output after each
    call, and ``gap_s`` the least time between two packets, if declared. ``penstock.register`` makes it known.

    Each flow has an object of the class. The host calls ``start``, then a method for each event.
    Methods that are not overridden cost nothing. A law computes with ``+ - * /`` and ``penstock.math``, and with
    nothing random, no clock and no file.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Collect what the class declares. ``on_congestion`` may have its old name, ``on_loss``."""
        super().__init_subclass__(**options)
        own = vars(cls)
        if "on_loss" in own and "on_congestion" not in own:
            cls.on_congestion = own["on_loss"]  # type: ignore[method-assign]

    def start(self, context: SenderContext) -> None:
        """Set the state before anything happened. Parameters are attributes already.

        Raise ``ValueError`` if parameters contradict each other.
        """

    def requirements(self) -> Requirements:
        """Return the requirements of the law. The host calls this once, after ``start``."""
        return Requirements()

    def on_ack(self, observation: Observation, packets: int, marked: int) -> None:
        """Take an acknowledgement of new data outside loss recovery.

        Args:
            observation: The measurements.
            packets: Packets newly covered, 1 or more.
            marked: Those among them whose acknowledgement carried a congestion echo.
        """

    def on_round(self, observation: Observation) -> None:
        """Take the end of a round trip, never before its first sample."""

    def on_congestion(self, observation: Observation) -> None:
        """Take a congestion event, at most one in a round trip: loss, or an echo where ``marks`` is ``congestion``."""

    def on_timeout(self, observation: Observation) -> None:
        """Take the expiry of the retransmission timer."""

    def on_tick(self, observation: Observation) -> None:
        """Take the end of a period ``tick_s``, never before the first sample of the round-trip time."""

    def output(self, observation: Observation) -> float | tuple[float, float]:
        """Return window [packets], or window and gap [s], where they are not the attributes of these names."""
        raise NotImplementedError


class Aqm(_Law):
    """Active queue management: the law of a queue. It decides with which probability a packet is marked or dropped.

    It is declared as a ``Controller`` is. ``probability`` is its output, and ``price_s`` the link's price [s], if
    declared. The host draws the random number.
    """

    def start(self, context: AqmContext) -> None:
        """Set the state before anything happened. Parameters are attributes already.

        Raise ``ValueError`` if parameters contradict each other.
        """

    def requirements(self) -> AqmRequirements:
        """Return the requirements of the law. The host calls this once, after ``start``."""
        return AqmRequirements()

    def on_arrival(self, observation: AqmObservation, bytes: int, idle: int) -> None:
        """Take the arrival of a packet, where ``decides`` is ``arrival``.

        Args:
            observation: The measurements before the packet is queued or refused.
            bytes: Its size on the wire [B].
            idle: Mean packets that the line could have carried while it stood idle before.
        """

    def on_departure(self, observation: AqmObservation, low_latency: bool) -> None:
        """Take a packet at the head of the queue, where ``decides`` is ``head``. ``low_latency`` is ECT(1) or CE."""

    def on_hit(self, observation: AqmObservation) -> None:
        """Take the mark or drop of the last packet, by the law or by a full buffer."""

    def on_full(self, observation: AqmObservation) -> None:
        """Take the drop of a packet by a full buffer, where ``requirements`` has ``full``."""

    def on_tick(self, observation: AqmObservation) -> None:
        """Take the end of a period ``tick_s``."""

    def output(self, observation: AqmObservation) -> float | tuple[float, float]:
        """Return the probability, or probability and price [s], where they are not the attributes of these names."""
        raise NotImplementedError

    def mean_output(self, observation: AqmObservation) -> float | tuple[float, float]:
        """Return the same on average, where the law spaces its marks by what happened to the packets before."""
        raise NotImplementedError


Queue = Aqm
"""Another name of ``Aqm``."""

AnyClass = type[Controller] | type[Aqm]
_ENDS = (Controller, Aqm, _Law)
_AnyLaw = TypeVar("_AnyLaw", bound=AnyClass)


def register(law: _AnyLaw) -> _AnyLaw:
    """Make a law known to scenarios, runs, the analysis and every other function of this process, and return it.

    It is a decorator too. A law takes the place of one that Python registered before under its name. Laws of
    Penstock keep their names. A registered class lives as long as the process and takes about a kilobyte.

    Raises:
        TypeError: It is no class of ``Controller`` or ``Aqm``, or it handles an event that its requirements leave out:
            ``on_tick`` without ``tick_s``.
        ValueError: Its name is taken, or a declaration contradicts itself.
        Exception: Whatever ``start`` or ``requirements`` raised when they were tried.
    """
    if not (isinstance(law, type) and issubclass(law, (Controller, Aqm)) and law not in (Controller, Aqm)):
        shown = law.__name__ if isinstance(law, type) else f"an object of class {type(law).__name__}"
        raise TypeError(f"{shown} is no law: give a class derived from penstock.Controller or penstock.Aqm")
    for attribute in ("name", "source", "colour"):
        text(f"{law.__name__}.{attribute}", getattr(law, attribute), "a text")
    if not callable(law.requirements):
        raise TypeError(
            f"{law.__name__}.requirements is of class {type(law.requirements).__name__}: define a method "
            "requirements(self) that returns it"
        )
    _native.register(*described(law))
    return law


def described(law: AnyClass) -> tuple[AnyClass, object, str, bool]:
    """Return a law as the native half takes it: its class, its declarations, its identity, whether it is an AQM."""
    name = name_of(law)
    title = (inspect.getdoc(law) or name).strip().splitlines()[0].rstrip(".")
    colour = law.colour or _colour(name)
    named = tuple(sorted(_named_by_requirements(law)))
    about = _About(name, title, law.source, colour, law.not_linear, law._parameters, law._state, named)
    return law, about, code_of(law), issubclass(law, Aqm)


def name_of(law: AnyClass) -> str:
    """Return the name of a law in scenarios."""
    return law.name or law.__name__.lower()


def registered_name(law: type[Any]) -> str:
    """Return the name of a class that is registered.

    Raises:
        ValueError: It is not, or another class took its place.
    """
    name = str(getattr(law, "name", "") or law.__name__.lower())
    here = registered().get(name)
    if here is not law:
        why = "another class was registered under its name since" if here else "it is not registered"
        raise ValueError(f"{law.__qualname__} is no law of this process: {why}; use penstock.register({law.__name__})")
    return name


def unregister(law: str | AnyClass) -> None:
    """Forget a law that was registered, by its class or its name.

    Raises:
        ValueError: No law of Python has this name, or another class than this one has it.
    """
    if isinstance(law, type) and issubclass(law, _Law):
        law = registered_name(law)
    if not isinstance(law, str):
        raise TypeError(f"law is of class {type(law).__name__}: give a class that was registered, or its name")
    _native.unregister(law)


def registered() -> dict[str, AnyClass]:
    """Return the laws that were registered, by name."""
    return dict(_native.registered())


def _colour(name: str) -> str:
    """Make a colour of a name, neither pale nor dark."""
    hue = zlib.crc32(name.encode()) % 360
    return "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue / 360, 0.38, 0.65))


def code_of(law: type[Any]) -> str:
    """Identify what a law computes now: a hash of its methods and declarations, and of all that they name."""
    return _identity.content_of(law, _ENDS)


def program_of(law: type[Any]) -> str:
    """Identify the program of a law, without what runs may change."""
    return _identity.program_of(law, _ENDS)


def refresh() -> None:
    """Register laws again that compute something else since: one may hold a dict or an object that was changed."""
    for law in registered().values():
        register(law)


def _named_by_requirements(law: AnyClass) -> set[str]:
    """Return the names and texts in ``requirements``, of the classes above too, and in the functions that it names."""
    named: set[str] = set()
    waiting: list[object] = [vars(base).get("requirements") for base in law.__mro__ if base not in (Controller, Aqm)]
    visited: set[int] = set()
    while waiting:
        thing = waiting.pop()
        thing = getattr(thing, "__func__", thing)
        if not isinstance(thing, types.FunctionType) or id(thing) in visited:
            continue
        visited.add(id(thing))
        names = set(_identity.names_of(thing.__code__))
        named |= names | set(_texts(thing.__code__.co_consts))
        waiting += [inspect.getattr_static(law, name, None) or thing.__globals__.get(name) for name in names]
    return named


def _texts(constants: tuple[object, ...]) -> Iterator[str]:
    """Yield the texts among constants: keyword arguments of a call are a tuple of them."""
    for constant in constants:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple):
            yield from _texts(constant)
        elif isinstance(constant, types.CodeType):
            yield from _texts(constant.co_consts)
