from __future__ import annotations

import copy
import importlib
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

import polars
import pyarrow
import pytest
from conftest import TEXT, Interrupt

import penstock
from penstock import Record, Scenario

ENDS = ("sender", "receiver")
COMMAND = [sys.executable, "-m", "penstock"]


def contents(record: Path) -> dict[str, bytes]:
    """Everything but what a run cost and the page, which has the machine."""
    return {file.name: file.read_bytes() for file in record.iterdir() if file.name not in ("cost.json", "report.html")}


WORLDS: list[Literal["packets", "fluid"]] = ["packets", "fluid"]


@pytest.mark.usefixtures("standard_laws")
@pytest.mark.parametrize("world", WORLDS)
def test_a_record_is_the_one_of_the_command_to_the_last_byte(
    tmp_path: Path, world: Literal["packets", "fluid"]
) -> None:
    file = tmp_path / "two.toml"
    file.write_text(TEXT.replace("cubic", "newreno"))
    arguments = ["run", str(file), "--world", world, "--seed", "7", "--set", "duration=3 s", "--quiet"]
    subprocess.run([*COMMAND, *arguments, "--out", str(tmp_path / "command")], check=True, capture_output=True)
    scenario = Scenario.read(file).set("duration", "3 s")
    ours = penstock.run(scenario, world=world, seed=7, out=tmp_path / "python")
    other = penstock.run(scenario, world=world, seed=8, out=tmp_path / "python")
    assert ours.path is not None
    assert other.path is not None
    (theirs,) = (tmp_path / "command").iterdir()
    assert contents(ours.path) == contents(theirs)
    assert contents(other.path) != contents(theirs)
    assert ours.path.name == theirs.name


def test_the_seed_decides(scenario: Scenario) -> None:
    scenario.set("links.bottleneck.loss", 0.01)
    first, second, other = (penstock.run(scenario, seed=seed) for seed in (1, 1, 2))
    assert first.summary == second.summary
    assert first.summary.groups != other.summary.groups
    assert (first.seed, other.seed, penstock.run(scenario).seed) == (1, 2, 1)
    assert penstock.run(scenario.copy().set("seed", 3), seed=2).summary == other.summary
    assert other.changes == ["links.bottleneck.loss=0.01"]


def test_a_path_is_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(TEXT)
    assert penstock.run(file).id == penstock.run(str(file)).id == Scenario.parse(TEXT).id


def test_series_are_left_out_where_nobody_wants_them(scenario: Scenario, tmp_path: Path) -> None:
    assert list(penstock.run(scenario).tables) == ["flows", "links", "groups", "flows-series"]
    without = penstock.run(scenario, series=False, out=tmp_path)
    assert list(without.tables) == ["flows"]
    assert without.path is not None
    assert not (without.path / "links.parquet").exists()
    assert without.summary == penstock.run(scenario).summary


def test_packets_are_seen_at_both_ends(scenario: Scenario) -> None:
    scenario.set("flows.cubic.count", 1).set("flows.cubic.sender.initial_window", 2)
    record = penstock.run(scenario, packets=True)
    rows = pyarrow.table(record.packets).to_pylist()
    assert {row["flow"] for row in rows} == {"cubic/0"}
    assert {row["connection"] for row in rows} == {0}

    def those(end: str, kind: str) -> list[dict[str, Any]]:
        return [row for row in rows if (row["end"], row["kind"]) == (end, kind)]

    sent, came = those("sender", "data"), those("receiver", "data")
    answered, heard = those("receiver", "ack"), those("sender", "ack")
    # One packet on the line of 10 Mbit/s, and the way there and back.
    on_the_line_s = sent[0]["bytes"] * 8 / 10e6
    assert heard[0]["time_s"] - sent[0]["time_s"] == pytest.approx(0.04 + on_the_line_s, abs=1e-9)
    assert (sent[0]["number"], heard[0]["number"]) == (0, 1)
    assert [row["time_s"] for row in rows] == sorted(row["time_s"] for row in rows)
    assert len(came) == len(answered)
    measured = sum(1 < row["time_s"] <= 4 for row in came)
    assert measured == pytest.approx(3 * record.summary.groups["cubic"].throughput_packets_per_s, abs=1)
    assert len(sent) > len(came) > 2000
    assert {row["ecn"] for row in rows} == {"not-ect"}
    assert {row["echo"] for row in heard} == {0.0}
    assert sent[0]["echo"] is None
    assert record.packets.about("number")["description"].endswith("its number.")
    # What is recorded changes nothing.
    assert record.summary == penstock.run(scenario).summary


def test_marks_are_seen_in_packets(scenario: Scenario) -> None:
    red = {"law": "red", "ecn": True, "min_threshold": "5 packets", "max_threshold": "15 packets"}
    scenario.set("flows.cubic.cc", {"law": "newreno", "ecn": True}).set("links.bottleneck.aqm", red)
    rows = pyarrow.table(penstock.run(scenario, packets=True).packets).to_pylist()
    ecn = {end: [row["ecn"] for row in rows if (row["end"], row["kind"]) == (end, "data")] for end in ENDS}
    assert set(ecn["sender"]) <= {"ect0", "not-ect"}
    assert ecn["receiver"].count("ce") > 0
    assert any(row["echo"] for row in rows)


def test_other_threads_run_meanwhile(long_scenario: Scenario) -> None:
    turns = 0

    def count() -> None:
        nonlocal turns
        while turns < 50:
            turns += 1
            time.sleep(0.001)
        # A count of turns in a time would depend on the machine. Without a turn for other threads nothing ends the run.
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=count)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        penstock.run(long_scenario)
    thread.join()
    assert turns == 50


@pytest.mark.parametrize("world", WORLDS)
def test_ctrl_c_stops_a_run_soon(long_scenario: Scenario, world: Literal["packets", "fluid"]) -> None:
    if world == "fluid":
        long_scenario.set("flows.cubic.cc", {"law": "newreno"})
    interrupted = Interrupt(0.5)
    with pytest.raises(KeyboardInterrupt):
        penstock.run(long_scenario, world=world)
    assert interrupted.was_obeyed_in(0.1)


def test_progress_goes_up_and_its_errors_come_out(long_scenario: Scenario) -> None:
    heard: list[float] = []

    class EnoughError(Exception):
        pass

    def enough(done: float) -> None:
        heard.append(done)
        if len(heard) == 5:
            raise EnoughError

    with pytest.raises(EnoughError):
        penstock.run(long_scenario, progress=enough)
    assert heard == sorted(heard)
    assert 0 < heard[0] < heard[-1] < 1


def test_progress_ends_with_one(scenario: Scenario, tmp_path: Path) -> None:
    scenario.set("flows.cubic.cc", {"law": "newreno"})
    choices: list[dict[str, Any]] = [{}, {"world": "fluid"}, {"out": tmp_path}]
    for options in choices:
        heard: list[float] = []
        penstock.run(scenario, progress=heard.append, **options)
        assert heard == sorted(heard)
        assert heard[-1] == 1.0
        assert heard.count(1.0) == 1

    class FullError(Exception):
        pass

    def full(done: float) -> None:
        if done == 1:
            raise FullError

    with pytest.raises(FullError):
        penstock.run(scenario, progress=full)
    # A run that does not end well has none of it.
    heard = []
    with pytest.raises(penstock.ScenarioError):
        penstock.run(scenario.copy().set("warmup", "9 h"), progress=heard.append)
    assert 1.0 not in heard


def test_a_bar_ends_full(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("tqdm.auto")
    drawn: list[float] = []

    class Bar(module.tqdm):  # type: ignore[name-defined,misc]
        def display(self, *arguments: Any, **options: Any) -> None:
            drawn.append(self.n)

    monkeypatch.setattr(module, "tqdm", Bar)
    penstock.run(scenario, progress=True)
    assert 1.0 in drawn


def test_a_bar_is_drawn_where_it_is_wanted(scenario: Scenario, capfd: pytest.CaptureFixture[str]) -> None:
    scenario.set("duration", "20 s").set("links.bottleneck.rate", "1 Gbit/s")
    penstock.run(scenario, progress=False)
    assert capfd.readouterr().err == ""
    penstock.run(scenario, progress=True)
    assert "%" in capfd.readouterr().err


def test_a_record_is_opened_as_it_was_written(scenario: Scenario, tmp_path: Path) -> None:
    made = penstock.run(scenario.set("flows.cubic.count", 3), out=tmp_path)
    assert made.path is not None
    opened = Record.open(made.path)
    for of in ("summary", "scenario", "id", "seed", "world", "changes", "path"):
        assert getattr(opened, of) == getattr(made, of), of
    assert opened.changes == ["flows.cubic.count=3"]
    assert made.cost is not None
    assert made.cost["wall_s"] > 0
    assert Scenario.read(made.path / "record.toml").id == made.id


def test_a_closed_record_says_so(scenario: Scenario, tmp_path: Path) -> None:
    with penstock.run(scenario, out=tmp_path) as record:
        assert not record.closed
        links, rows = record.links, len(record.links)
        goodput = record.summary.groups["cubic"].goodput_bit_per_s
        directory = record.path
    assert record.closed
    assert repr(record) == "<penstock.Record, closed>"
    public = [name for name in dir(Record) if not name.startswith("_") and name not in ("open", "close", "closed")]
    for name in public:
        arguments = ["links"] if name == "table" else []
        with pytest.raises(ValueError, match="the record is closed"):
            getattr(record, name)(*arguments)
    with pytest.raises(ValueError, match="the record is closed"):
        record._repr_html_()
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(ValueError, match="the record is closed"):
            copied(record)
    assert len(links) == polars.DataFrame(links).height == rows
    record.close()
    assert directory is not None
    with Record.open(directory) as again:
        assert again.summary.groups["cubic"].goodput_bit_per_s == goodput
    with pytest.raises(RuntimeError, match="out of the block"), penstock.run(scenario) as record:
        raise RuntimeError("out of the block")
    assert record.closed


def test_a_record_in_memory_travels_with_its_content(scenario: Scenario) -> None:
    record = penstock.run(scenario.set("flows.cubic.count", 3), packets=True)
    again = pickle.loads(pickle.dumps(record))
    assert again.path is None
    same(again, record)
    assert list(again.tables) == ["flows", "links", "groups", "flows-series", "packets"]
    # What travelled may travel on.
    same(pickle.loads(pickle.dumps(again)), record)
    same(copy.deepcopy(record), record)
    without = penstock.run(scenario, series=False)
    same(pickle.loads(pickle.dumps(without)), without)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        made = pool.submit(penstock.run, Scenario.parse(scenario.resolved()), packets=True).result()
        same(made, penstock.run(Scenario.parse(scenario.resolved()), packets=True), cost=False)


def test_a_record_on_disk_travels_by_its_directory(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    record = penstock.run(scenario, out="here", packets=True)
    bytes_of = pickle.dumps(record)
    assert len(bytes_of) < len(pickle.dumps(penstock.run(scenario, packets=True)))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = pickle.loads(bytes_of)
    assert again.path == tmp_path / "here" / "two-seed1"
    same(again, record)
    opened = Record.open(again.path)
    same(pickle.loads(pickle.dumps(opened)), opened)
    shutil.rmtree(again.path)
    with pytest.raises(penstock.ScenarioError, match="two-seed1"):
        pickle.loads(bytes_of)
    other = penstock.run(scenario, out=tmp_path, seed=2)
    assert other.path is not None
    other.path.rename(again.path)
    with pytest.raises(penstock.ScenarioError, match="another scenario or seed"):
        pickle.loads(bytes_of)


def same(one: Record, other: Record, cost: bool = True) -> None:
    for of in ("summary", "scenario", "id", "seed", "world", "changes"):
        assert getattr(one, of) == getattr(other, of), of
    assert (one.cost == other.cost) is cost
    assert set(one.tables) == set(other.tables)
    for name, table in one.tables.items():
        ours, theirs = pyarrow.table(table), pyarrow.table(other.tables[name])
        assert ours.schema.equals(theirs.schema, check_metadata=True), name
        assert [bits(column) for column in ours.columns] == [bits(column) for column in theirs.columns], name
    assert one.html() == other.html()


def bits(column: pyarrow.ChunkedArray) -> list[object]:
    """Where a column is null, and the bytes of all else."""
    (chunk,) = column.chunks
    whole = chunk.fill_null(0) if chunk.null_count else chunk
    return [chunk.is_null().to_pylist(), *(buffer.to_pybytes() for buffer in whole.buffers()[1:])]


def test_a_table_travels_as_a_stream_of_arrow(scenario: Scenario) -> None:
    record = penstock.run(scenario.set("flows.cubic.count", 3))
    for table in [*record.tables.values(), penstock.compare(scenario, laws=["cubic", "newreno"])]:
        again = pickle.loads(pickle.dumps(table))
        ours, theirs = pyarrow.table(again), pyarrow.table(table)
        assert ours.schema.equals(theirs.schema, check_metadata=True)
        assert [bits(column) for column in ours.columns] == [bits(column) for column in theirs.columns]
        assert (again.name, repr(again), again.about(again.columns[0])) == (
            table.name,
            repr(table),
            table.about(table.columns[0]),
        )
    with pytest.raises(ValueError, match=r"."):
        penstock.Table.of_stream("links", b"no stream")


def test_a_damaged_record_is_refused(scenario: Scenario, tmp_path: Path) -> None:
    made = penstock.run(scenario, out=tmp_path)
    assert made.path is not None
    (made.path / "links.parquet").write_bytes(b"PAR1")
    with pytest.raises(penstock.ScenarioError, match=r"links\.parquet is damaged"):
        Record.open(made.path)


def test_a_notebook_shows_the_figures(scenario: Scenario, tmp_path: Path) -> None:
    made = penstock.run(scenario, out=tmp_path)
    assert made.path is not None
    for record in (made, Record.open(made.path)):
        shown = record._repr_html_()
        assert shown.startswith("<iframe")
        assert "&lt;svg" in shown
    assert made.html().count("<svg") == (made.path / "report.html").read_text().count("<svg")


def test_the_summary_has_its_numbers(scenario: Scenario) -> None:
    summary = penstock.run(scenario).summary
    link = summary.links["bottleneck"]
    assert 0.5 < link.utilization <= 1.001
    assert link.throughput_bit_per_s == pytest.approx(10e6 * link.utilization)
    assert summary.groups["cubic"].count == 2
    assert summary.measured_s == 3.0
    assert summary.title == "two flows"


def test_the_command_is_there() -> None:
    done = subprocess.run([*COMMAND, "laws", "newreno"], capture_output=True, text=True)
    assert (done.returncode, "newreno" in done.stdout) == (0, True)
    wrong = subprocess.run([*COMMAND, "run", "none.toml"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("penstock: cannot read none.toml")


def test_memory_stays_after_many_runs(scenario: Scenario) -> None:
    def resident() -> int:
        status = Path("/proc/self/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))

    scenario.set("duration", "2 s")

    def some(count: int) -> None:
        for _ in range(count):
            record = penstock.run(scenario)
            assert len(record.links) > 0
            assert record.summary.links
            assert record.html()

    some(30)
    before = resident()
    some(80)
    assert resident() - before < 3_200
