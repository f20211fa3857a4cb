"""Sweeps: many runs, on the processors of this machine or on others."""

from __future__ import annotations

import importlib
import os
import pickle
import queue
import sys
import threading
import time
import uuid
import warnings
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from penstock import _native
from penstock._arguments import jobs_of, whole
from penstock._law import AnyClass, described, program_of, registered
from penstock._native import Scenario, Table
from penstock._run import progress_of, scenario_of, world_of

_MOST_ATTEMPTS = 10
_AHEAD = 4
_KEPT = 16
_SILENCE_S = 1.0
"""After so long without a result, the executor is asked whether it still takes calls; then after twice as long."""


class Submits(Protocol):
    """An executor: any ``concurrent.futures.Executor``, or a ``dask.distributed.Client``."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Begin a call elsewhere, and return its future."""
        ...


class Sweep:
    """The cells of a sweep as one tidy data frame: one row a cell.

    Readers of Arrow take a sweep as it is: ``polars.DataFrame(sweep)``. ``label.KEY`` is the value of an axis as
    written. An axis of numbers has a second column in SI units, such as ``links.bottleneck.rate_bit_per_s``. A measure
    has the name of its place in the summary, such as ``links.bottleneck.utilization``.
    """

    def __init__(self, cells: _native.Cells) -> None:
        self._cells = cells
        self._table = cells.frame()

    @property
    def cells(self) -> Table:
        """One row a cell, in the order of the sweep [cells rows]."""
        return self._table

    def aggregate(self) -> Table:
        """Return means over seeds: one row for the cells that differ in the seed alone.

        ``cells`` counts them. ``NAME.ci95`` is half the width of Student's 95 % interval for the mean
        ``NAME``, in its unit. It is null for a single cell.
        """
        return self._cells.aggregate()

    def compare(self, key: str, against: object = None) -> Table:
        """Return paired differences: each value of the axis less ``against``, over cells with the same seed.

        Args:
            key: An axis of the sweep, such as ``flows.ftp.cc.law``, or the end of the name of one axis alone, such as
                ``cc.law``.
            against: A value of the axis: a text as it is written, a number or a bool. None is the first.

        Raises:
            ScenarioError: There is no such axis or value. The message lists those that the sweep has.
        """
        return self._cells.compare(key, against)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self._table)

    def __reduce__(self) -> tuple[type[Sweep], tuple[_native.Cells]]:
        """Pickle the cells as a stream of Arrow."""
        return Sweep, (self._cells,)

    def __repr__(self) -> str:
        """Count cells and columns."""
        return f"<penstock.Sweep of {len(self)} cells with {len(self._table.columns)} columns>"

    def __arrow_c_schema__(self) -> object:
        """Return the schema, as Arrow's C data interface has it."""
        return self._table.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the cells, as Arrow's C stream interface has them."""
        return self._table.__arrow_c_stream__(requested_schema)


def sweep(
    scenario: Scenario | str | os.PathLike[str],
    jobs: int | None = None,
    executor: Submits | None = None,
    *,
    world: Literal["packets", "fluid", "linux"] = "packets",
    batch: int | None = None,
    progress: bool | Callable[[float], object] | None = None,
) -> Sweep:
    """Run all cells of a scenario, and return them as one data frame.

    The frame has the same bits wherever and in whatever order the cells run.

    Args:
        scenario: A scenario with a sweep, or the path of its file.
        jobs: Threads of this process, one a processor by default. With ``executor``, the threads of one
            batch, one by default.
        executor: Where the cells run: a ``concurrent.futures.Executor`` or a ``dask.distributed.Client``. Its workers
            have this package. The batches of a worker that dies run again. Laws of Python travel as classes: Dask
            sends any class, and an executor of processes those that its workers can import.
        world: The world, as in ``penstock.run``.
        batch: Cells that travel together to the executor, 16 by default. Few batches are under way at a time, so that
            a scheduler holds little.
        progress: As in ``penstock.run``.

    Raises:
        ScenarioError: The scenario is wrong, or a cell contradicts itself.
        UnsupportedError: The world or the machine cannot run a cell.
    """
    jobs = jobs_of(jobs)
    batch = None if batch is None else whole("batch", batch, 1)
    world_of(world)
    if executor is None and batch is not None:
        raise ValueError("batch has an effect with an executor alone: leave it out")
    if isinstance(executor, type):
        raise TypeError(f"executor is the class {executor.__name__}: give an object of it, {executor.__name__}(...)")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor is of class {type(executor).__name__}: give an executor or a dask Client")
    if getattr(executor, "asynchronous", False) is True:
        raise ValueError("executor is an asynchronous client: give one that was made without asynchronous=True")
    if getattr(executor, "status", None) in ("closed", "closing"):
        raise ValueError("executor is a client that was closed: connect to its cluster again, Client(address)")
    # The laws of now: what another thread registers meanwhile is for later sweeps.
    classes, laws = registered(), _native.Laws([])
    parts, path, changes = scenario_of(scenario).parts()
    texts = [text for text, _, _ in parts]
    show, close = progress_of(progress)

    shown = 0.0

    def done(count: int) -> None:
        nonlocal shown
        shown = count / len(texts)
        if show is not None:
            show(shown)

    try:
        if executor is None:
            threads = jobs or processors()
            measured = [_native.run_cells(texts, os.fspath(path), world, threads, done, laws)]
        else:
            # Names the sweep: no other has this text.
            name = uuid.uuid4().hex
            travelling = _travelling(name, texts, classes, _is_dask(executor))
            measured = _elsewhere(
                executor, texts, os.fspath(path), world, jobs or 1, batch or 16, done, travelling, name
            )
        if shown < 1:
            # Batches of a broken pool ran here, and no other batch ended after them.
            done(len(texts))
    finally:
        close()
    return Sweep(_native.Cells([(cell, labels) for _, cell, labels in parts], measured, changes))


def processors() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Laws:
    """The laws of Python of a sweep, as they travel."""

    classes: tuple[AnyClass, ...] | bytes
    """As cloudpickle writes them, for Dask: its scheduler may be in this process and load what it is given, which would
    give these very classes copies of what their functions hold."""
    programs: tuple[str, ...]
    """The identity of the program of each, where the sweep was called."""


_ARRIVED: OrderedDict[str, _native.Laws] = OrderedDict()
"""The laws of the latest sweeps that have had a batch here, by the sweep."""
_ARRIVING = threading.Lock()
_WRITING = threading.Lock()
_HERE: dict[str, tuple[AnyClass, ...]] = {}
"""The laws of the sweeps that this process called."""
_GIVEN_UP: set[str] = set()
"""The sweeps of this process that ended before their batches: those that run in its threads end too."""


def run_batch(texts: list[str], name: str, world: str, jobs: int, laws: Laws | None, sweep: str) -> _native.Measured:
    """Run resolved scenarios of a sweep, where an executor wants it, with these laws of Python.

    A class arrives as another object with each batch. All batches of a sweep run with the class of the first. Nothing
    is registered: another sweep may have another law of the same name, and so may this process.
    """

    def goes_on(_: int) -> None:
        if sweep in _GIVEN_UP:
            raise CancelledError("the sweep of this batch has ended")

    goes_on(0)
    return _native.run_cells(texts, name, world, jobs, goes_on, None if laws is None else _arrived(laws, sweep))


def _arrived(laws: Laws, sweep: str) -> _native.Laws:
    with _ARRIVING:
        known = _ARRIVED.get(sweep)
        if known is None:
            classes = _HERE.get(sweep)
            if classes is None:
                classes = pickle.loads(laws.classes) if isinstance(laws.classes, bytes) else laws.classes
                for law, program in zip(classes, laws.programs, strict=True):
                    _refuse_another(law, program)
            known = _ARRIVED[sweep] = _native.Laws([described(law) for law in classes])
            while len(_ARRIVED) > _KEPT:
                _ARRIVED.popitem(last=False)
        return known


def _refuse_another(law: AnyClass, program: str) -> None:
    """Refuse a class that this worker imported, where the caller of the sweep has it with another program."""
    found: object = sys.modules.get(law.__module__)
    for part in law.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is law and program and program_of(law) not in ("", program):
        raise TypeError(
            f"the worker imported another version of {law.__module__}.{law.__qualname__} than this process has: "
            "restart the workers, so that they import it again"
        )


def _travelling(sweep: str, texts: list[str], classes: dict[str, AnyClass], dask: bool) -> Laws | None:
    """Return those of these laws that scenarios of a sweep name."""
    named = tuple(law for name, law in classes.items() if any(f'law = "{name}"' in text for text in texts))
    if not named:
        return None
    laws = Laws(_written(named) if dask else named, tuple(map(program_of, named)))
    _HERE[sweep] = named
    return laws


def _written(classes: tuple[AnyClass, ...]) -> bytes:
    """Write classes as bytes."""
    # Dask brings it.
    cloudpickle = importlib.import_module("cloudpickle.cloudpickle")
    # By a number that cloudpickle gave a class it knows the class again, and a worker would have the functions of that
    # class replaced, while another sweep goes on with it. Without its number the worker makes another class.
    numbers = getattr(cloudpickle, "_DYNAMIC_CLASS_TRACKER_BY_CLASS", {})
    try:
        with _WRITING:
            for law in classes:
                numbers.pop(law, None)
            return bytes(cloudpickle.dumps(classes))
    except Exception as error:
        raise _unsent(classes) from error


def _unsent(classes: tuple[AnyClass, ...]) -> TypeError:
    shown = ", ".join(law.__qualname__ for law in classes)
    return TypeError(f"{shown} cannot travel to the executor: define it in a module that its workers can import")


def _is_dask(executor: Submits) -> bool:
    return any(one.__module__.split(".")[0] == "distributed" for one in type(executor).__mro__)


def _is_unsent(error: BaseException) -> bool:
    """Whether what should travel could not be written as bytes."""
    return type(error).__name__ == "PicklingError" or "pickle" in str(error)


def _is_lost(error: BaseException) -> bool:
    """Whether a worker was lost, and not a cell wrong."""
    return type(error).__name__ in (
        "KilledWorker",
        "CancelledError",
        "FutureCancelledError",
        "BrokenProcessPool",
        "CommClosedError",
    )


def _submitted(executor: Submits, *call: Any, **options: Any) -> Any | None:
    """Submit a call, and return its future; None where the pool is broken."""
    try:
        return executor.submit(*call, **options)
    except Exception as error:
        # A pool that is just breaking has closed the pipe to its workers.
        if _is_lost(error) or isinstance(error, OSError):
            return None
        raise


def _elsewhere(
    executor: Submits,
    texts: list[str],
    name: str,
    world: str,
    jobs: int,
    size: int,
    done: Callable[[int], object],
    laws: Laws | None,
    sweep: str,
) -> list[_native.Measured]:
    """Run batches, a few at a time, until each has its result."""
    batches = [texts[at : at + size] for at in range(0, len(texts), size)]
    results: list[_native.Measured | None] = [None] * len(batches)
    attempts = [0] * len(batches)
    waiting = list(range(len(batches)))[::-1]
    under_way: dict[int, Any] = {}
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    # A client of dask takes equal calls for one, and has no other word for it.
    options = {"pure": False} if _is_dask(executor) else {}
    most, counted = _AHEAD * processors() + _workers(executor), time.monotonic()
    broken = False
    silence, heard = _SILENCE_S, time.monotonic()
    try:
        while waiting or under_way:
            # The workers of a cluster come and go.
            if time.monotonic() - counted > _SILENCE_S:
                most, counted = _AHEAD * processors() + _workers(executor), time.monotonic()
            while waiting and len(under_way) < most and not broken:
                at = waiting.pop()
                attempts[at] += 1
                future = _submitted(executor, run_batch, batches[at], name, world, jobs, laws, sweep, **options)
                if future is None:
                    broken = True
                    waiting.append(at)
                    break
                under_way[at] = future
                future.add_done_callback(lambda _, at=at: ended.put(at))
            if broken:
                # A pool of processes that breaks while it is given a call forgets that call, and now and then all its
                # calls (CPython, ``terminate_broken``). A call that is not done then never will be.
                under_way = {at: future for at, future in under_way.items() if future.done()}
                if not under_way:
                    break
            try:
                at = ended.get(timeout=0.05)
            except queue.Empty:
                if not options and time.monotonic() - heard > silence:
                    silence, heard = 2 * silence, time.monotonic()
                    broken = broken or _submitted(executor, int) is None
                continue
            silence, heard = _SILENCE_S, time.monotonic()
            # A batch is under way once at a time, and one that was given up is not.
            finished = under_way.pop(at, None)
            if finished is None:
                continue
            try:
                results[at] = finished.result()
            except BaseException as error:
                if laws and _is_unsent(error):
                    raise _unsent(_HERE[sweep]) from error
                if not _is_lost(error) or attempts[at] >= _MOST_ATTEMPTS:
                    raise
                broken = broken or type(error).__name__ == "BrokenProcessPool"
                waiting.append(at)
            done(sum(len(result) for result in results if result is not None))
    except BaseException:
        _GIVEN_UP.add(sweep)
        raise
    finally:
        for future in under_way.values():
            future.cancel()
        if laws is not None and not broken:
            _HERE.pop(sweep, None)
    if broken:
        left = [at for at, result in enumerate(results) if result is None]
        warnings.warn(
            f"a worker died, and with it its pool: {len(left)} of {len(batches)} batches run in this process",
            stacklevel=3,
        )
        for at in left:
            results[at] = run_batch(batches[at], name, world, jobs, laws, sweep)
    return [result for result in results if result is not None]


def _workers(executor: Submits) -> int:
    """Count the threads of all workers, as far as the executor says."""
    threads = getattr(executor, "nthreads", None)
    if callable(threads):
        return 2 * sum(int(count) for count in threads().values())
    return 2 * int(getattr(executor, "_max_workers", 0))
