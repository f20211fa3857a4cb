from __future__ import annotations

import contextlib
import json
import os
import pickle
import random
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import Any

import numpy
import pyarrow
import pytest
from conftest import TEXT, Interrupt
from test_law import FORMS, remembering

import penstock
from penstock import Scenario, ScenarioError, _native
from penstock.examples import newreno


def swept(seeds: int = 4, duration: str = "2 s") -> Scenario:
    """Two rates by two laws by seeds."""
    scenario = Scenario.parse(TEXT, "sweep.toml").set("duration", duration).set("flows.cubic.series", False)
    scenario.set("links.bottleneck.loss", 0.01)
    axes = {"links.bottleneck.rate": ["5 Mbit/s", "10 Mbit/s"], "flows.cubic.cc.law": ["cubic", "newreno"]}
    return scenario.set("sweep", {**axes, "seed": {"count": seeds}})


@pytest.fixture(scope="module")
def serial() -> pyarrow.Table:
    return pyarrow.table(penstock.sweep(swept(), jobs=1))


def test_a_sweep_has_a_row_for_each_cell(serial: pyarrow.Table) -> None:
    assert len(serial) == 16
    rows = serial.to_pylist()
    assert [row["seed"] for row in rows[:5]] == [1, 2, 3, 4, 1]
    assert {row["links.bottleneck.rate_bit_per_s"] for row in rows} == {5e6, 10e6}
    assert {row["label.links.bottleneck.rate"] for row in rows} == {"5 Mbit/s", "10 Mbit/s"}
    for row, cell in zip(rows, swept().cells(), strict=True):
        assert row["id"] == cell.id
    alone = penstock.run(swept().cells()[5]).summary
    assert rows[5]["links.bottleneck.utilization"] == alone.links["bottleneck"].utilization
    about = penstock.sweep(swept(1)).cells.about("links.bottleneck.rate_bit_per_s")
    assert (about["unit"], about["kind"]) == ("bit/s", "key")


def test_threads_and_processes_change_no_bit(serial: pyarrow.Table) -> None:
    assert pyarrow.table(penstock.sweep(swept(), jobs=4)).equals(serial)
    with ThreadPoolExecutor(2) as threads:
        assert pyarrow.table(penstock.sweep(swept(), executor=threads, batch=3)).equals(serial)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        assert pyarrow.table(penstock.sweep(swept(), executor=processes, batch=5, jobs=2)).equals(serial)
    assert not pyarrow.table(penstock.sweep(swept().set("duration", "3 s"))).equals(serial)


def test_measurements_travel_as_arrow(serial: pyarrow.Table) -> None:
    texts = [text for text, _, _ in swept().parts()[0]]
    batch = _native.run_cells(texts, "sweep.toml", "packets", 1, None)
    frame = pyarrow.ipc.open_stream(batch.bytes).read_all()
    assert len(batch) == len(frame) == 16
    assert frame.column_names[:3] == ["title", "world", "seed"]
    for name in frame.column_names:
        assert frame[name].to_pylist() == serial[name].to_pylist(), name
    # A batch arrives as it left, and half as large as JSON.
    again = pickle.loads(pickle.dumps(batch))
    assert pyarrow.ipc.open_stream(again.bytes).read_all().equals(frame)
    summaries = [json.dumps(penstock.run(cell)._native.summary_dict()) for cell in swept().cells()]
    assert 2 * len(batch.bytes) < sum(map(len, summaries))


def test_other_streams_are_no_measurements(serial: pyarrow.Table) -> None:
    def stream(table: pyarrow.Table) -> bytes:
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue())

    texts = [text for text, _, _ in swept(1).parts()[0]]
    whole = _native.run_cells(texts[:1], "sweep.toml", "packets", 1, None).bytes
    frame = pyarrow.ipc.open_stream(whole).read_all()
    assert _native.Measured.read(stream(frame)).bytes == whole
    others = [b"", b"no arrow", whole[:200], stream(serial), stream(frame.drop_columns("seed"))]
    others.append(stream(frame.set_column(3, "engine.events", [["many"]])))
    for other in others:
        with pytest.raises(ValueError, match=r"."):
            _native.Measured.read(other)
    # Bytes that were changed on the way give another table or one error.
    generator = random.Random(1)
    for _ in range(2000):
        changed = bytearray(whole)
        changed[generator.randrange(len(changed))] = generator.randrange(256)
        with contextlib.suppress(ValueError):
            len(_native.Measured.read(bytes(changed)))


def test_a_pool_whose_worker_dies_loses_nothing(serial: pyarrow.Table) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        victim = processes.submit(os.getpid).result()
        os.kill(victim, signal.SIGKILL)
        with pytest.warns(UserWarning, match="a worker died"):
            frame = pyarrow.table(penstock.sweep(swept(), executor=processes, batch=2))
        # A pool that broke while it started a worker leaves it (CPython 3.11), and would wait for it here for ever.
        for left in active_children():
            left.kill()
    assert frame.equals(serial)


class Forgetful(Executor):
    """A pool that breaks in the middle of a call: it takes two, does one, and forgets the other."""

    def __init__(self, told: bool) -> None:
        self.calls = 0
        self.told = told

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls += 1
        future: Future[Any] = Future()
        if self.calls == 1 and not self.told:
            future.set_result(fn(*args, **kwargs))
        elif self.calls == 1:
            future.set_exception(BrokenProcessPool("a worker died"))
        elif self.calls > 4:
            raise BrokenProcessPool("a worker died")
        return future


@pytest.mark.parametrize("told", [False, True])
def test_calls_that_a_pool_forgot_are_not_waited_for(serial: pyarrow.Table, told: bool) -> None:
    # A pool of processes of CPython 3.11 did this in 11 of 247 attempts to break it.
    with pytest.warns(UserWarning, match="a worker died"):
        frame = pyarrow.table(penstock.sweep(swept(), executor=Forgetful(told), batch=5))
    assert frame.equals(serial)


class Slurm(Executor):
    """A cluster whose workers come later: a call waits until there are 100, and 20 batches wait."""

    def __init__(self) -> None:
        self.calls: list[tuple[Future[Any], Callable[[], Any]]] = []
        self.began = time.monotonic()

    def nthreads(self) -> dict[str, int]:
        return {"worker": 100} if time.monotonic() - self.began > 0.5 else {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.calls.append((future, lambda: fn(*args, **kwargs)))
        if len(self.calls) >= 20:
            for one, call in self.calls:
                if not one.done():
                    one.set_result(call())
        return future


@pytest.mark.timeout(60)
def test_workers_that_come_later_have_their_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock._sweep.processors", lambda: 1)
    scenario = swept(5)
    frame = pyarrow.table(penstock.sweep(scenario, executor=Slurm(), batch=1))
    assert frame.equals(pyarrow.table(penstock.sweep(scenario)))
    assert len(frame) == 20


def test_means_are_over_seeds(serial: pyarrow.Table) -> None:
    means = pyarrow.table(penstock.sweep(swept()).aggregate())
    assert means["cells"].to_pylist() == [4] * 4
    column = "groups.cubic.goodput_bit_per_s"
    values = serial[column].to_numpy().reshape(4, 4)
    numpy.testing.assert_allclose(means[column].to_numpy(), values.mean(axis=1), rtol=1e-12)
    # Student's t of 3 degrees of freedom.
    widths = 3.182446 * values.std(axis=1, ddof=1) / 2
    numpy.testing.assert_allclose(means[f"{column}.ci95"].to_numpy(), widths, rtol=1e-5)
    assert (widths > 0).all()
    assert means.schema.field(f"{column}.ci95").metadata[b"unit"] == b"bit/s"


def test_differences_are_paired_by_seed(serial: pyarrow.Table) -> None:
    sweep = penstock.sweep(swept())
    differences = pyarrow.table(sweep.compare("flows.cubic.cc.law"))
    column = "groups.cubic.goodput_bit_per_s"
    values = serial[column].to_numpy().reshape(2, 2, 4)
    expected = (values[:, 1] - values[:, 0]).mean(axis=1)
    numpy.testing.assert_allclose(differences[column].to_numpy(), expected, rtol=1e-9)
    assert differences["label.flows.cubic.cc.law"].to_pylist() == ["newreno"] * 2
    assert differences["against"].to_pylist() == ["cubic"] * 2
    assert differences["pairs"].to_pylist() == [4] * 2
    other = pyarrow.table(sweep.compare("flows.cubic.cc.law", against="newreno"))
    numpy.testing.assert_allclose(other[column].to_numpy(), -expected, rtol=1e-9)
    # The end of a name is enough where one axis has it.
    assert pyarrow.table(sweep.compare("cc.law")).equals(differences)
    laws = {"links.bottleneck.aqm.law": ["droptail", "codel"], "flows.cubic.cc.law": ["cubic", "newreno"]}
    two = swept(1).set("sweep", laws)
    both = r"`law` ends the names of several axes: write one of links.bottleneck.aqm.law, flows.cubic.cc.law$"
    with pytest.raises(ScenarioError, match=both):
        penstock.sweep(two).compare("law")
    with pytest.raises(
        ScenarioError, match=r"no axis `flows\.cubic\.law`: write one of links\.bottleneck\.rate, flows\.cubic"
    ):
        sweep.compare("flows.cubic.law")
    with pytest.raises(
        ScenarioError, match=r"axis `flows\.cubic\.cc\.law` has no value `fast`: write one of cubic, newreno$"
    ):
        sweep.compare("cc.law", "fast")
    with pytest.raises(ScenarioError, match=r"no axis `cc\.law`, nor any other but the seed"):
        penstock.sweep(swept().copy().set("sweep", {"seed": {"count": 2}})).compare("cc.law")


def test_a_difference_is_against_a_number_too() -> None:
    axes = {"flows.cubic.count": [1, 2], "flows.cubic.cc.hystart": [True, False], "flows.cubic.loss": [0.01, 0.5]}
    sweep = penstock.sweep(swept().set("sweep", axes).set("duration", "1200 ms"))
    for key, number, text in [("count", 2, "2"), ("hystart", False, "false"), ("loss", 0.5, "0.5")]:
        for value in (number, text, numpy.array(number)[()]):
            compared = pyarrow.table(sweep.compare(key, against=value))
            assert set(compared["against"].to_pylist()) == {text}
    # Numbers of the columns in SI units too.
    for key, number, text in [("count", 2.0, "2"), ("rate", 10e6, "10 Mbit/s"), ("rate", 5_000_000, "5 Mbit/s")]:
        rates = penstock.sweep(swept(2).set("duration", "1200 ms")) if key == "rate" else sweep
        assert set(pyarrow.table(rates.compare(key, against=number))["against"].to_pylist()) == {text}
    with pytest.raises(ScenarioError, match=r"axis `flows\.cubic\.count` has no value `3`: write one of 1, 2$"):
        sweep.compare("count", against=3)
    with pytest.raises(TypeError, match="against is of class object"):
        sweep.compare("count", against=object())


def test_a_sweep_travels_with_its_cells(serial: pyarrow.Table) -> None:
    sweep = penstock.sweep(swept())
    again = pickle.loads(pickle.dumps(sweep))
    assert (len(again), repr(again)) == (len(sweep), repr(sweep))
    for ours, theirs in (
        (again, sweep),
        (again.cells, sweep.cells),
        (again.aggregate(), sweep.aggregate()),
        (again.compare("cc.law", "newreno"), sweep.compare("cc.law", "newreno")),
    ):
        ours, theirs = pyarrow.table(ours), pyarrow.table(theirs)
        assert ours.schema.equals(theirs.schema, check_metadata=True)
        assert ours.equals(theirs)
    assert pyarrow.table(again).equals(serial)
    for other in (b"", pickle.dumps(sweep)[:300]):
        with pytest.raises(ValueError, match=r"."):
            _native.Cells.read("cells", other)


def test_ctrl_c_stops_a_sweep_soon() -> None:
    scenario = swept(duration="10 h").set("links.bottleneck.delay", "1 ms")
    interrupted = Interrupt(0.5)
    with pytest.raises(KeyboardInterrupt):
        penstock.sweep(scenario)
    # Two cells run at a time.
    assert interrupted.was_obeyed_in(0.3)
    interrupted = Interrupt(0.5)
    # The end of a pool waits for its threads.
    with pytest.raises(KeyboardInterrupt), ThreadPoolExecutor(2) as threads:
        penstock.sweep(scenario, executor=threads, batch=2)
    assert interrupted.was_obeyed_in(0.3)


def test_ctrl_c_stops_the_reading_of_a_large_sweep_soon() -> None:
    scenario = lab_of_90_000_cells()
    for work in (lambda: penstock.sweep(scenario), scenario.cells):
        interrupted = Interrupt(0.5)
        with pytest.raises(KeyboardInterrupt):
            work()
        assert interrupted.was_obeyed_in(0.3)


def lab_of_90_000_cells() -> Scenario:
    """Takes many seconds to read."""
    return Scenario.parse(TEXT).set("sweep", {"seed": {"count": 10_000}, "flows.cubic.count": list(range(1, 10))})


def test_a_cell_that_cannot_run_ends_the_sweep() -> None:
    scenario = swept().set("flows.cubic.cc", {"law": "copa"})
    for options in ({}, {"executor": ThreadPoolExecutor(2)}):
        with pytest.raises(penstock.UnsupportedError, match="fluid world"):
            penstock.sweep(scenario, world="fluid", **options)  # type: ignore[arg-type]


def test_progress_ends_with_one() -> None:
    heard: list[float] = []
    penstock.sweep(swept(), progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 1
    for executor in (ThreadPoolExecutor(2), Forgetful(False)):
        heard = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            penstock.sweep(swept(), executor=executor, batch=5, progress=heard.append)
        assert heard == sorted(heard)
        assert heard[-1] == 1


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"jobs": 0}, ValueError, "jobs is 0"),
        ({"jobs": "2"}, TypeError, "jobs is of class str"),
        ({"batch": 4}, ValueError, "with an executor alone"),
        ({"jobs": True}, TypeError, "jobs is of class bool"),
        ({"executor": ThreadPoolExecutor}, TypeError, "executor is the class ThreadPoolExecutor: give an object"),
        ({"executor": "dask"}, TypeError, "give an executor or a dask Client"),
        ({"world": "fliud"}, ScenarioError, "packets, fluid or linux"),
    ],
)
def test_a_wrong_call_gives_one_clear_exception(options: dict[str, object], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        penstock.sweep(swept(1), **options)  # type: ignore[arg-type]


@pytest.fixture
def client() -> Iterator[object]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.filterwarnings("ignore")
def test_a_client_that_was_closed_is_refused(client: object) -> None:
    client.close()  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="executor is a client that was closed"):
        penstock.sweep(swept(1), executor=client)  # type: ignore[arg-type]


def remembered(seeds: int) -> Scenario:
    scenario = Scenario.parse(TEXT, "law.toml").set("duration", "1500 ms").set("flows.cubic.cc", {"law": "remembers"})
    return scenario.set("sweep", {"seed": {"count": seeds}})


def used(sweep: penstock.Sweep) -> list[float]:
    values: list[float] = pyarrow.table(sweep)["links.bottleneck.utilization"].to_pylist()
    return values


@pytest.fixture
def forgotten() -> Iterator[None]:
    yield
    penstock.unregister("remembers")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("forgotten")
def test_dask_runs_a_law_as_it_is_now() -> None:
    distributed = pytest.importorskip("distributed")
    # One worker, which has the law before.
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        # A cache of functools travels by its name alone.
        for form in (form for form in FORMS if form != "a cache"):
            seen = []
            for size in (2.0, 8.0):
                penstock.register(remembering(form, size))
                seen.append(used(penstock.sweep(remembered(2))))
                assert used(penstock.sweep(remembered(2), executor=client)) == seen[-1], form
            assert seen[0] != seen[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("processes", [True, False])
def test_dask_leaves_a_law_of_this_process_as_it_is(processes: bool) -> None:
    distributed = pytest.importorskip("distributed")
    sizes = {"now": 2.0}

    class Sized(penstock.Controller):
        name = "remembers"
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window = sizes["now"]

    penstock.register(Sized)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, processes=processes
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        seen = []
        for size in (2.0, 8.0, 3.0):
            sizes["now"] = size
            seen.append(used(penstock.sweep(remembered(2))))
            assert used(penstock.sweep(remembered(2), executor=client)) == seen[-1]
        # A copy of what its function holds would have the first size for ever.
        assert seen[0] < seen[2] < seen[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("forgotten")
def test_two_sweeps_of_one_class_have_the_values_that_each_began_with() -> None:
    distributed = pytest.importorskip("distributed")
    sizes = {"now": 2.0}

    class Sized(penstock.Controller):
        name = "remembers"
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window = sizes["now"]

    # A subclass of Dask's client is one of Dask.
    client_class = type("Client", (distributed.Client,), {})
    penstock.register(Sized)
    expected = used(penstock.sweep(remembered(300)))
    found: list[float] = []
    begun = threading.Event()
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        client_class(cluster) as client,
    ):

        def first() -> None:
            scenario = remembered(300)
            found.extend(used(penstock.sweep(scenario, executor=client, batch=2, progress=lambda done: begun.set())))

        thread = threading.Thread(target=first)
        thread.start()
        assert begun.wait(60)
        sizes["now"] = 8.0
        other = used(penstock.sweep(remembered(4), executor=client, batch=2))
        thread.join()
        assert other == used(penstock.sweep(remembered(4))) != expected[:4]
    assert found == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("forgotten")
def test_two_sweeps_on_one_worker_mix_no_laws() -> None:
    distributed = pytest.importorskip("distributed")
    expected = {}
    for size in (2.0, 8.0):
        penstock.register(remembering("a closure", size))
        expected[size] = used(penstock.sweep(remembered(300)))
    found: dict[float, list[float]] = {}
    begun = threading.Event()
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):

        def first() -> None:
            scenario = remembered(300)
            found[2.0] = used(penstock.sweep(scenario, executor=client, batch=2, progress=lambda done: begun.set()))

        penstock.register(remembering("a closure", 2.0))
        thread = threading.Thread(target=first)
        thread.start()
        assert begun.wait(60)
        penstock.register(remembering("a closure", 8.0))
        found[8.0] = used(penstock.sweep(remembered(300), executor=client, batch=2))
        thread.join()
    assert found == expected


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("threads", [0, 2])
def test_a_sweep_keeps_the_laws_that_it_began_with(threads: int) -> None:
    first, second = remembering("a closure", 2.0), remembering("a closure", 8.0)
    penstock.register(first)
    expected = used(penstock.sweep(remembered(200)))
    penstock.register(first)
    executor = ThreadPoolExecutor(threads) if threads else None
    swept = penstock.sweep(
        remembered(200),
        jobs=1,
        executor=executor,
        batch=2 if threads else None,
        progress=lambda done: penstock.register(second) and None,
    )
    assert used(swept) == expected
    # What was registered meanwhile stays.
    assert penstock.registered()["remembers"] is second


def test_a_worker_with_another_version_of_a_module_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def on_round(law: object, observation: object) -> None: ...

    scenario = remembered(2).set("flows.cubic.cc", {"law": "newreno-python"})
    penstock.register(newreno.NewReno)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        assert used(penstock.sweep(scenario, executor=processes)) == used(penstock.sweep(scenario))
        # As if the file had been edited and this process had read it again.
        monkeypatch.setattr(newreno.NewReno, "on_round", on_round)
        with pytest.raises(TypeError, match=r"another version of penstock\.examples\.newreno\.NewReno .*restart"):
            penstock.sweep(scenario, executor=processes)


@pytest.mark.filterwarnings("ignore")
def test_dask_gives_the_same_frame_although_a_worker_is_killed(client: object) -> None:
    scenario = swept(100, "1500 ms")
    expected = pyarrow.table(penstock.sweep(scenario))
    pids = list(client.run(os.getpid).values())  # type: ignore[attr-defined]
    killer = threading.Timer(random.Random().uniform(0.1, 1.0), os.kill, (pids[0], signal.SIGKILL))
    killer.start()
    frame = pyarrow.table(penstock.sweep(scenario, executor=client, batch=8))  # type: ignore[arg-type]
    killer.join()
    assert len(frame) == 400
    assert frame.equals(expected)
