from __future__ import annotations

import time
from pathlib import Path

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import penstock
from penstock import Record, Scenario


@pytest.fixture
def record(scenario: Scenario, tmp_path: Path) -> Record:
    return penstock.run(scenario, out=tmp_path)


def test_a_table_in_memory_is_the_one_on_disk(record: Record) -> None:
    assert record.path is not None
    opened = Record.open(record.path)
    for name, table in record.tables.items():
        file = pyarrow.parquet.read_table(record.path / f"{name}.parquet")
        ours = pyarrow.table(table)
        assert ours.equals(file), name
        assert ours.schema.equals(file.schema), name
        assert [field.metadata for field in ours.schema] == [field.metadata for field in file.schema], name
        assert pyarrow.table(opened.table(name)).equals(file, check_metadata=False), name
        assert len(table) == len(file) > 0
        assert table.columns == file.column_names


def test_readers_of_arrow_take_a_table(record: Record) -> None:
    links = record.links
    ours = pyarrow.table(links)
    assert polars.DataFrame(links).to_arrow().column("queue_packets").to_pylist() == ours["queue_packets"].to_pylist()
    frame = pandas.DataFrame.from_arrow(links)
    numpy.testing.assert_array_equal(frame["queue_packets"].to_numpy(), ours["queue_packets"].to_numpy())
    counted = duckdb.sql("select count(*), sum(queue_packets) from links")
    assert counted is not None
    (rows,) = counted.fetchall()
    assert rows == (len(links), pytest.approx(sum(ours["queue_packets"].to_pylist())))
    assert pyarrow.schema(links) == ours.schema


def test_numbers_are_not_copied(record: Record) -> None:
    def place() -> int:
        return int(pyarrow.table(record.links)["queue_packets"].chunk(0).buffers()[1].address)

    assert place() == place()
    series = polars.DataFrame(record.links)["queue_packets"]
    assert series.to_numpy(allow_copy=False).__array_interface__["data"][0] == place()


def test_a_table_outlives_its_record(scenario: Scenario) -> None:
    array = pyarrow.table(penstock.run(scenario).links)["time_s"].chunk(0)
    for _ in range(3):
        penstock.run(scenario)
    assert array[0].as_py() == pytest.approx(0.1)


def test_what_does_not_apply_is_null(scenario: Scenario) -> None:
    flows = pyarrow.table(penstock.run(scenario).flows)
    assert flows["completion_s"].null_count == 2
    assert flows["goodput_bit_per_s"].null_count == 0


def test_columns_have_units(record: Record) -> None:
    about = record.links.about("queue_packets")
    assert (about["unit"], about["kind"]) == ("packets", "instant")
    assert about["description"].endswith(".")
    assert pyarrow.table(record.links).schema.field("queue_packets").metadata[b"unit"] == b"packets"


def test_a_million_rows_reach_polars_in_50_ms(scenario: Scenario) -> None:
    scenario.set("sample", "1 us").set("duration", "1 s").set("warmup", "0 s").set("flows.cubic.series", False)
    links = penstock.run(scenario).links
    assert len(links) >= 1_000_000
    best = min(taken(links) for _ in range(5))
    assert best < 0.05


def taken(table: penstock.Table) -> float:
    # By the time of the processor: on a busy machine this process waits for it.
    start = time.process_time()
    frame = polars.DataFrame(table)
    elapsed = time.process_time() - start
    assert len(frame) == len(table)
    return elapsed
