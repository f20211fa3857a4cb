"""bench/waits.py: how it reads what an end did, on records made up here."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from conftest import bench_script

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture(scope="module")
def waits() -> Any:
    return bench_script("waits")


class Log:
    """The records of an end, with times in microseconds."""

    def __init__(self, waits: Any) -> None:
        self.waits, self.bytes = waits, b""

    def add(self, kind: int, before: float, at: float, size: int = 0, segment: int = 0, number: int = 0) -> Log:
        self.bytes += self.waits.RECORD.pack(round(1e3 * at), round(1e3 * before), size, segment, kind, number)
        return self

    def sleep(self, before: float, at: float, most_ms: int = 1, ended: int = 1) -> Log:
        return self.add(self.waits.SLEEP, before, at, most_ms, number=ended)

    def read(self, arrived: float, at: float, size: int = 1472, segment: int = 0, number: int = 0) -> Log:
        return self.add(self.waits.READ, arrived, at, size, segment, number)

    def write(self, before: float, at: float, size: int = 40, segment: int = 0) -> Log:
        return self.add(self.waits.WRITE, before, at, size, segment)


def turns(end: Any) -> list[tuple[int, bool, Any]]:
    return [(turn.first, turn.asleep, turn.wrote) for turn in end.turns]


def test_the_records_of_c_are_as_python_reads_them(waits: Any) -> None:
    text = (BENCH / "waits.c").read_text()
    for words in ("WRITE = 1, READ = 2, SLEEP = 3", "KEPT = 1 << 21"):
        assert words in text
    assert (waits.WRITE, waits.READ, waits.SLEEP, waits.KEPT, waits.RECORD.size) == (1, 2, 3, 1 << 21, 24)


def test_a_read_of_several_datagrams_is_one_turn_of_the_first(waits: Any) -> None:
    log = Log(waits).sleep(0, 100).read(90, 110).write(120, 125)
    # Three by one call, the last of which the kernel had joined of two; then one by itself.
    log.sleep(130, 200).read(190, 210).read(192, 210, number=1).read(194, 210, 2000, 1472, number=2).write(230, 240)
    log.sleep(250, 300).read(290, 310).write(320, 330)
    end = waits.end_of(log.bytes)
    assert end.sizes == [1472] * 4 + [528, 1472]
    assert end.arrived == [90, 190, 192, 194, 194, 290]
    assert turns(end) == [(0, True, (120, 125)), (1, True, (230, 240)), (5, True, (320, 330))]
    # What the fifth answers counts from its own time.
    found = waits.answers(end, [80, 180, 181, 182, 183, 280], begin=0)
    assert [time[1:] for time in found.times] == [(20, 20), (20, 10)]


def test_an_answer_is_the_first_write_before_the_next_read_or_sleep(waits: Any) -> None:
    log = Log(waits).sleep(0, 100).read(90, 110).write(120, 125).write(126, 130)
    # A timer sends, after a sleep; nothing answers the read.
    log.sleep(140, 200).read(190, 210).sleep(220, 300).write(301, 310)
    # It came while the end was at work, and another came before it was answered.
    log.read(305, 320).read(306, 330).write(340, 350)
    # It was there before the end would sleep.
    log.sleep(360, 361).read(355, 370).write(380, 390)
    end = waits.end_of(log.bytes)
    assert turns(end) == [
        (0, True, (120, 125)),
        (1, True, None),
        (2, False, None),
        (3, False, (340, 350)),
        (4, False, (380, 390)),
    ]
    found = waits.answers(end, [0, 100, 200, 210, 300], begin=0)
    assert found.times == []
    assert found.out == {"no answer by itself": 2, "came while the end was at work": 2}


def test_what_came_right_behind_another_does_not_count(waits: Any) -> None:
    log = Log(waits)
    for start, late in ((1000, 0), (2000, 0), (3000, 600), (4000, 0), (5000, 0)):
        came = start + late
        log.sleep(came - 50, came + 5).read(came, came + 10).write(came + 15, came + 35)
    end = waits.end_of(log.bytes)
    # The fourth came 400 us behind the third, which were sent 1000 us apart. The first has none before it.
    found = waits.answers(end, [900, 1900, 2900, 3900, 4900], begin=0, sends=True)
    assert found.times == [(0, 10, 5, 20), (600, 10, 5, 20), (0, 10, 5, 20)]
    assert found.out == {"came right behind another": 1}
    unknown = waits.answers(end, [900, None, 2900, 3900, 4900], begin=0)
    assert unknown.out == {"the link was not busy": 2, "came right behind another": 1}
    assert len(waits.answers(end, [900, 1900, 2900, 3900, 4900], begin=4500).times) == 1


def test_a_sleep_that_nothing_ends_tells_how_late_a_timer_is(waits: Any) -> None:
    log = Log(waits).sleep(0, 1020, ended=0).sleep(2000, 2500, most_ms=3)
    # One without an end, which a signal may end.
    log.sleep(5000, 9000, most_ms=waits.FOR_EVER, ended=0).sleep(10_000, 12_040, most_ms=2, ended=0)
    assert waits.end_of(log.bytes).timers == [(1000, 20), (12_000, 40)]


def test_the_path_reads_late_what_finds_an_idle_link(waits: Any) -> None:
    # A packet takes 120 us on the link, and then 20 ms. The path's program reads the third and the fifth 30 us late.
    wrote = [0.0, 1000.0, 2000.0, 2010.0, 3000.0, 4000.0]
    read = [0.0, 1000.0, 2030.0, 2040.0, 3030.0, 4000.0]
    left = [120.0, 1120.0, 2150.0, 2270.0, 3150.0, 4120.0]
    arrived = [20_000 + at for at in left]
    assert all(before <= after for before, after in zip(read, left, strict=True))
    # The fourth waits for the third. The first has none before it.
    assert waits.reading(wrote, arrived, 0, 120) == [0, 0, 30, 30]
    assert waits.reading(wrote, arrived, 2500, 120) == [0, 30]


def test_acknowledgements_are_compared_by_size(waits: Any) -> None:
    sent = [(10.0, 40), (20.0, 41), (30.0, 42), (40.0, 43)]
    assert waits.written(sent, [40, 41, 42]) == [10.0, 20.0, 30.0], "the last is under way"
    with pytest.raises(waits.Unfit, match="datagram 1 had 41 B when it was written, and 42 B when it came"):
        waits.written(sent, [40, 42, 43])
    with pytest.raises(waits.Unfit, match="5 datagrams came, and 4 were written"):
        waits.written(sent, [40, 41, 42, 43, 44])


def test_a_record_that_is_cut_off_is_refused(waits: Any) -> None:
    log = Log(waits).sleep(0, 1)
    with pytest.raises(waits.Unfit, match="cut off"):
        waits.end_of(log.bytes[:-1])
    with pytest.raises(waits.Unfit, match="kind 9"):
        waits.end_of(log.add(9, 0, 1).bytes)


def test_the_least_ahead_is_that_of_each_window(waits: Any) -> None:
    draw = random.Random(1)
    values = [draw.random() for _ in range(300)]
    until = sorted(min(300, start + draw.randrange(0, 30)) for start in range(300))
    until = [max(to, start) for start, to in enumerate(until)]
    wanted = [min(values[start:to], default=None) for start, to in enumerate(until)]
    assert waits.least_ahead(values, until) == wanted


def test_a_late_datagram_is_told_from_an_idle_link(waits: Any) -> None:
    """A datagram takes 120 us. The link is idle for 300 us, which is three in a thousand of 0.1 s."""
    draw = random.Random(2)
    left, now = [], 0.0
    for number in range(6000):
        now += 120 + (300 if number == 3000 else 0)
        left.append(now)
    late = [draw.expovariate(1 / 5) if draw.random() < 0.9 else 0.0 for _ in left]
    # A pause of the machine: what came meanwhile is there at its end.
    arrived = [
        max(at + more, 244_000.0 if 240_000 < at < 244_000 else 0.0) for at, more in zip(left, late, strict=True)
    ]
    found = waits.due(arrived, [1472] * 6000, 100)
    counted = [number for number, at in enumerate(found) if at is not None]
    # Half a span has 417 datagrams. Those whose second half comes after the idle link are left out, and those without a
    # whole span.
    assert counted == [*range(3000 - 417), *range(3000, 6000 - 834)]
    off = [found[number] - left[number] for number in counted]
    assert min(off) >= -1e-6
    assert max(off) < 1.0
    in_pause = [number for number in counted if 240_000 < left[number] < 244_000]
    assert len(in_pause) > 30
    assert arrived[in_pause[0]] - found[in_pause[0]] > 3000


def test_a_link_that_is_never_busy_has_no_times(waits: Any) -> None:
    arrived = [600.0 * number for number in range(2000)]
    assert set(waits.due(arrived, [1472] * 2000, 100)) == {None}


def test_quantiles_are_those_of_the_test_in_simulated_time(waits: Any) -> None:
    found = dict(waits.quantiles([float(value) for value in range(10_000)]))
    assert [found[share] for share in (0.5, 0.999, 1.0)] == [5000, 9990, 9999]
    assert list(found) == sorted(found)
    assert dict(waits.quantiles([-5.0, 1.0]))[0.01] == 0


def test_a_time_that_few_answers_exceed_does_not_count(waits: Any) -> None:
    """Of 20,000 values 20 are beyond 99.9 %, and four beyond 99.98 %."""
    found = waits.quantiles([float(value) for value in range(20_000)])
    assert waits.known(found, 20_000)[-4:] == [19_980, 19_980, 19_980, 19_980]
    assert waits.known(found, 200_000)[-4:] == [19_990, 19_996, 19_998, 19_998]


def test_parts_are_printed_as_the_tests_of_quinn_have_them(waits: Any) -> None:
    """The server has no `send`: that is in the path of its acknowledgements."""
    part = [float(value) for value in range(20_000)]
    times = "10000.0, 15000.0, 18000.0, 19000.0, 19800.0, 19900.0, 19980.0, 19980.0, 19980.0, 19980.0, 19980.0]"
    server = waits.for_test([part, part, part])
    assert server.startswith("Answers { path: &[200.0, 2000.0, 5000.0, ")
    assert times in server
    assert "wake_up: &[" in server
    assert server.endswith("..Answers::NONE }")
    client = waits.for_test([part] * 4)
    assert "send: &[" in client
    assert client.endswith("] }")


def test_times_that_follow_one_another_have_a_rank_correlation(waits: Any) -> None:
    """Ranks of a line follow each other, those of a zigzag turn round; of 1, 1, 3, 2 by hand: ranks 0.5, 0.5, 3, 2."""
    assert waits.alike([1.0, 2.0, 4.0, 9.0]) == pytest.approx(1)
    assert waits.alike([1.0, 9.0, 2.0, 8.0, 3.0, 7.0]) < -0.8
    # Pairs (0.5, 0.5), (0.5, 3), (3, 2): covariance 0.2083, deviations 1.4434 and 1.2583.
    assert waits.alike([1.0, 1.0, 3.0, 2.0]) == pytest.approx(0.2083 / 1.4434 / 1.2583, abs=1e-3)


def test_cells_are_those_of_quic(waits: Any, tmp_path: Path) -> None:
    options = type("Options", (), {"rate": None, "begin": None})
    found = list(waits.chosen(["newreno-100-codel", "bbr3-20-*"], options, tmp_path))
    assert [(file.stem, rate, begin) for file, rate, begin in found] == [
        ("newreno-100-codel", 100, 20),
        ("bbr3-20-drop-tail", 20, 8),
        ("bbr3-20-codel", 20, 8),
    ]
    assert 'law = "codel"' in found[0][0].read_text()
    with pytest.raises(SystemExit, match="no file, and no cell"):
        list(waits.chosen(["fast-100-four"], options, tmp_path))
    with pytest.raises(SystemExit, match="add --rate"):
        list(waits.chosen([str(found[0][0])], options, tmp_path))


def test_a_run_beyond_the_bounds_does_not_count(waits: Any, tmp_path: Path) -> None:
    command = tmp_path / "penstock"
    for status, counts in ((4, False), (0, True)):
        command.write_text(f'#!/bin/sh\necho \'{{"runs": [{{"summary": {{}}}}]}}\'\necho why >&2\nexit {status}\n')
        command.chmod(0o755)
        found = waits.run(command, tmp_path / "none.so", tmp_path / "cell.toml")
        assert (found is not None) == counts
    command.write_text("#!/bin/sh\necho no >&2\nexit 3\n")
    with pytest.raises(SystemExit, match="no"):
        waits.run(command, tmp_path / "none.so", tmp_path / "cell.toml")
