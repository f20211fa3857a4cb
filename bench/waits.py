#!/usr/bin/env python3
"""The time from a datagram's arrival to its answer, at both ends of a flow over QUIC on the emulated path: docs/quinn.md.

    sudo python3 bench/waits.py CELL... [--penstock target/release/penstock] [--runs 2] [--tries 2] [--from 20]
    sudo python3 bench/waits.py FILE.toml --rate 100

CELL is a cell of bench/quic.py, with * for anything: newreno-100-codel. FILE is a scenario of one flow, and --rate that of its link
in Mbit/s. A library (bench/waits.c, needs cc) stands before the system's and writes down each sleep, each read and each write. A run
beyond the error bounds of the path does not count, and runs again up to --tries times for each run that should.

An answer is the first write after a read, before the next read or sleep. Its time has these parts:

- path: until the kernel has the datagram from the device. At the server it counts from when the datagram was due, while the link is
  busy. At the client it counts from when the server wrote the acknowledgement. It is above its 0.5 % quantile;
- wake-up: from there until the read has returned, of a datagram that came while the end slept;
- work: from there to the write;
- send: until the write has returned, at the client alone. That of the server is in the client's path.

Two times are of no answer:

- reading: from when the client begins to write a datagram for an idle link until the path's program has read it, above the 0.5 %
  quantile. Only a flow that loses nothing tells which datagram is which;
- timer: from when a sleep should end until it has ended, of one that nothing else ended.

A datagram that came while the end was at work, or right behind another, waited for that and not by itself: it is counted and left out.
"""

import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, field
from fnmatch import fnmatch
from itertools import accumulate, groupby
from pathlib import Path

import quic

ROOT = Path(__file__).resolve().parent.parent
# As bench/waits.c has them: a record, its kinds, and how many it keeps.
RECORD, WRITE, READ, SLEEP, KEPT = struct.Struct("<QQIHBB"), 1, 2, 3, 1 << 21
# The length of a sleep without one [ms].
FOR_EVER = (1 << 32) - 1
SHARES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9998, 0.9999, 1.0)
PARTS = ("path", "wake-up", "work", "send")
# Headers of IP and UDP [B].
HEADERS = 28
# A datagram of the next so many microseconds is on time, and tells when the others were due.
SPAN_US = 100_000
# A link that was idle for less in this span was busy [us].
IDLE_US = 10
# Of fewer answers, fewer than ten exceed the quantile of 99.9 %.
LEAST = 10_000


class Unfit(Exception):
    """Records that cannot be what a run left."""


@dataclass
class Turn:
    """A read, of one or more datagrams [us]."""

    first: int  # The number of its first datagram.
    read: float
    asleep: bool  # The end slept when this datagram came.
    wrote: tuple[float, float] | None = None  # When the answer began and had returned, if there is one.


@dataclass
class End:
    """All that an end did, each list in the order of time [us, B]."""

    arrived: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    sent: list[tuple[float, int]] = field(default_factory=list)
    timers: list[tuple[float, float]] = field(default_factory=list)  # When a sleep should have ended, and how late it did.


def segments(size, segment):
    """The sizes of the datagrams of a message that the kernel splits or has joined."""
    if not segment or segment >= size:
        return [size]
    whole, rest = divmod(size, segment)
    return [segment] * whole + [rest] * (rest > 0)


def end_of(records):
    """What an end did, by its records."""
    if len(records) % RECORD.size or len(records) >= KEPT * RECORD.size:
        raise Unfit("a record is cut off or full: the run was too long or was ended")
    end, kind_before, slept_from, open_turn = End(), None, 0.0, None
    for at_ns, before_ns, size, segment, kind, number in RECORD.iter_unpack(records):
        at, before = at_ns / 1e3, before_ns / 1e3
        if kind == SLEEP:
            slept_from, open_turn = before, None
            if number == 0 and size != FOR_EVER:
                should = before + 1e3 * size
                end.timers.append((should, at - should))
        elif kind == WRITE:
            end.sent.extend((before, each) for each in segments(size, segment))
            if open_turn:
                open_turn.wrote, open_turn = (before, at), None
        elif kind == READ:
            # The messages of one call are one read.
            if number == 0:
                open_turn = Turn(len(end.sizes), at, kind_before == SLEEP and before >= slept_from)
                end.turns.append(open_turn)
            sizes = segments(size, segment)
            end.sizes.extend(sizes)
            end.arrived.extend([before or at] * len(sizes))
        else:
            raise Unfit(f"a record of kind {kind}, which bench/waits.c does not write")
        kind_before = kind
    return end


def written(sent, sizes):
    """When the other end wrote each datagram that came: nothing is lost between them, and sizes must be the same."""
    if len(sent) < len(sizes):
        raise Unfit(f"{len(sizes)} datagrams came, and {len(sent)} were written")
    for number, ((_, size), came) in enumerate(zip(sent, sizes, strict=False)):
        if size != came:
            raise Unfit(f"datagram {number} had {size} B when it was written, and {came} B when it came: one was lost before")
    return [at for at, _ in sent[: len(sizes)]]


def least_ahead(values, until):
    """The least of values[i:until[i]] for each i, None where that is empty; `until` does not fall."""
    found, ahead, end = [], deque(), 0
    for start, to in enumerate(until):
        while end < to:
            while ahead and values[ahead[-1]] >= values[end]:
                ahead.pop()
            ahead.append(end)
            end += 1
        while ahead and ahead[0] < start:
            ahead.popleft()
        found.append(values[ahead[0]] if ahead and to > start else None)
    return found


def due(arrived, sizes, rate):
    """When each datagram was due behind a link of this rate [Mbit/s], None where the link was not busy.

    Of datagrams that leave a busy link back to back, arrival less time on the link is the same but for lateness. An idle link shifts it
    for good, and a late datagram for itself. So the least of what comes next is that of a datagram on time: what was idle before does
    not count. Where the least is greater in the second half of the span than in the first, the link was idle in between.
    """
    taken = list(accumulate(8 * (size + HEADERS) / rate for size in sizes))
    offset = [at - on_link for at, on_link in zip(arrived, taken, strict=True)]
    half, whole = ([bisect_left(taken, on_link + span) for on_link in taken] for span in (SPAN_US / 2, SPAN_US))
    first = least_ahead(offset, half)
    found = []
    for number, (on_link, middle, end) in enumerate(zip(taken, half, whole, strict=True)):
        # The second half begins at `middle`, and is the first half of what begins there.
        then = first[middle] if end < len(taken) else None
        busy = then is not None and then - first[number] < IDLE_US
        found.append(on_link + min(first[number], then) if busy else None)
    return found


@dataclass
class Answers:
    """The times of answers, in their parts [us]; and how many were left out, by reason."""

    times: list[tuple[float, ...]] = field(default_factory=list)
    out: dict[str, int] = field(default_factory=dict)

    def leave(self, why):
        """Leaves one out."""
        self.out[why] = self.out.get(why, 0) + 1


def answers(end, origin, begin, sends=False):
    """The answers of an end to what came from `begin` on; `origin` has the time from which each datagram counts, None if unknown.
    The call that writes counts where the end `sends`.
    """
    found = Answers()
    for turn in end.turns:
        number = turn.first
        if number == 0 or end.arrived[number] < begin:
            continue
        at, start, before = end.arrived[number], origin[number], origin[number - 1]
        if start is None or before is None:
            found.leave("the link was not busy")
        elif turn.wrote is None:
            found.leave("no answer by itself")
        elif not turn.asleep:
            found.leave("came while the end was at work")
        elif at - end.arrived[number - 1] < (start - before) / 2:
            found.leave("came right behind another")
        else:
            began, done = turn.wrote
            found.times.append((at - start, turn.read - at, began - turn.read, *([done - began] if sends else [])))
    if found.times:
        # A constant is a longer path.
        path = sorted(time[0] for time in found.times)
        found.times = [(time[0] - path[len(path) // 200], *time[1:]) for time in found.times]
    return found


def reading(wrote, arrived, begin, on_link):
    """How late the path's program reads what is written for an idle link, above the 0.5 % quantile [us]. A datagram takes `on_link`."""
    took = [at - before for before, at in zip(wrote, arrived, strict=False)]
    # The one before has left the link, by the shortest way of all, before this one was written.
    since = min(took) - on_link
    those = zip(took[1:], wrote[1:], arrived, strict=False)
    found = sorted(each for each, before, last in those if before >= begin and last - since < before)
    return [each - found[len(found) // 200] for each in found]


def quantiles(values):
    """Pairs of a share, and the time that this share of the values does not exceed, zero at the least."""
    values = sorted(values)
    return [(share, max(0.0, values[min(len(values) - 1, int(share * len(values)))])) for share in SHARES]


def known(found, count):
    """The times of quantiles of so many values: one that fewer than ten exceed says little, and is the longest that ten exceed."""
    times = []
    for share, time in found:
        times.append(round(time, 1) if count * (1 - share) >= 10 else times[-1])
    return times


def for_test(parts):
    """The parts of an end's answers as the tests of quinn have them, in Rust."""
    fields = [f"{name.replace('-', '_')}: &{known(quantiles(part), len(part))}" for name, part in zip(PARTS, parts, strict=False)]
    return "Answers { " + ", ".join(fields) + (" }" if len(fields) == len(PARTS) else ", ..Answers::NONE }")


def alike(values):
    """Spearman's rank correlation of each value with the one before, from -1 to 1: ties have their mean rank.

    `statistics.correlation` has ranks from Python 3.12 on.
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, at = [0.0] * len(values), 0
    for _, group in groupby(order, key=values.__getitem__):
        group = list(group)
        for each in group:
            ranks[each] = at + (len(group) - 1) / 2
        at += len(group)
    return statistics.correlation(ranks[:-1], ranks[1:])


def pairs(found):
    """Quantiles as they are printed."""
    return ", ".join(f"({share:g}, {time:.1f})" for share, time in found)


def shown(who, found):
    """The quantiles of an end, of the whole and of its parts."""
    times = found.times
    left = ", ".join(f"{count} {why}" for why, count in sorted(found.out.items())) or "none"
    print(f"{who}: {len(times)} answers; left out: {left}")
    if len(times) < LEAST:
        print(f"   fewer than {LEAST} answers: no quantiles")
        return
    whole = sorted(map(sum, times))
    above = [time - whole[len(whole) // 200] for time in whole]
    for name, values in (("all, above the 0.5 % quantile", above), *zip(PARTS, zip(*times, strict=True), strict=False)):
        print(f"   {name} [us]: {pairs(quantiles(values))}")
    print("   for crates/quinn/tests/suite/waits.rs: " + for_test(zip(*times, strict=True)))
    print(f"   rank correlation of each answer's time with that of the answer before: {alike(list(map(sum, times))):.2f}", flush=True)


def printed(who, values):
    """The quantiles of a time that is of no answer, each that ten exceed."""
    found = [(share, time) for share, time in quantiles(values) if len(values) * (1 - share) >= 10] if values else []
    print(f"{who}, {len(values)} [us]: {pairs(found) or 'too few'}", flush=True)


def run(penstock, library, file):
    """Runs a scenario: its summary and the records of its ends; none if the run does not count."""
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder) / "times"
        times.mkdir()
        options = ["--world", "linux", "--generator", "quic", "--awake", "--json", "--out", folder]
        environment = os.environ | {"LD_PRELOAD": str(library), "WAITS": str(times)}
        done = subprocess.run([penstock, "run", file, *options], env=environment, capture_output=True, text=True, check=False)
        if done.returncode == 4:
            print(f"{file.stem}: does not count: {done.stderr.strip()}", flush=True)
            return None
        if done.returncode:
            sys.exit(done.stderr.strip() or f"{penstock}: status {done.returncode}")
        return json.loads(done.stdout)["runs"][0]["summary"], [each.read_bytes() for each in sorted(times.iterdir())]


def measured(records, rate, begin_s):
    """The answers of the client and of the server, by the records of a run; how late the path reads, and timers of the client are."""
    ends = sorted(map(end_of, records), key=lambda end: sum(size for _, size in end.sent))
    if len(ends) != 2:
        raise Unfit(f"{len(ends)} threads read datagrams: a run of one flow has two")
    server, client = ends
    begin = server.arrived[0] + 1e6 * begin_s
    of_client = answers(client, written(server.sent, client.sizes), begin, sends=True)
    of_server = answers(server, due(server.arrived, server.sizes, rate), begin)
    late = [late for should, late in client.timers if should >= begin]
    try:
        on_link = 8 * (max(server.sizes) + HEADERS) / rate
        # What the client wrote before its first read is not on record.
        first = bisect_left(server.arrived, client.sent[0][0])
        arrived, sizes = server.arrived[first:], server.sizes[first:]
        read = reading(written(client.sent, sizes), arrived, begin, on_link)
    except Unfit as why:
        print(f"how late the path reads is not known: {why}")
        read = []
    return of_client, of_server, read, late


def add(to, more):
    """Adds the answers of one more run."""
    to.times.extend(more.times)
    for why, count in more.out.items():
        to.out[why] = to.out.get(why, 0) + count


def chosen(what, options, folder):
    """The scenarios: file, rate of the link [Mbit/s], and seconds that do not count."""
    for each in what:
        if Path(each).is_file():
            if options.rate is None:
                sys.exit(f"{each}: add --rate, that of its link in Mbit/s")
            yield Path(each), options.rate, 20 if options.begin is None else options.begin
            continue
        cells = [fields for name, fields in quic.cells() if fnmatch(name, each) and fields["count"] == 1]
        if not cells:
            sys.exit(f"{each}: no file, and no cell of one flow; there are {', '.join(name for name, _ in quic.cells())}")
        for fields in cells:
            file = folder / f"{fields['name']}.toml"
            file.write_text(quic.SCENARIO.format(**fields))
            yield file, fields["rate"], fields["warmup"] if options.begin is None else options.begin


def main():
    """Runs the scenarios, and prints the times of both ends."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="+", help="cells of bench/quic.py, or files of scenarios")
    parser.add_argument("--penstock", default=ROOT / "target/release/penstock")
    parser.add_argument("--rate", type=float, help="rate of the link of files [Mbit/s]")
    parser.add_argument("--from", dest="begin", type=float, help="seconds that do not count: of a cell its warm-up, of a file 20")
    parser.add_argument("--runs", type=int, default=1, help="runs that count, of each scenario")
    parser.add_argument("--tries", type=int, default=2, help="runs at most, for each one that should count")
    options = parser.parse_args()
    missing = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        library = folder / "waits.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, ROOT / "bench/waits.c", "-ldl"], check=True)
        for file, rate, begin in chosen(options.what, options, folder):
            count, ends, read, timers = 0, (Answers(), Answers()), [], []
            for _ in range(options.tries * options.runs):
                if count == options.runs:
                    break
                done = run(options.penstock, library, file)
                if done is None:
                    continue
                summary, records = done
                try:
                    *found, reads, late = measured(records, rate, begin)
                except Unfit as why:
                    sys.exit(f"{file.stem}: {why}")
                count += 1
                for end, more in zip(ends, found, strict=True):
                    add(end, more)
                read.extend(reads)
                timers.extend(late)
                figures, path = quic.figures(summary), summary["path"]
                print(
                    f"{file.stem}: {figures['goodput']:.2f} Mbit/s, {figures['queue']:.1f} packets; the path: 99 % within "
                    f"{1e6 * (path['lateness_p99_s'] or 0):.0f} us, longest gap {1e3 * path['gap_max_s']:.1f} ms",
                    flush=True,
                )
            missing += options.runs - count
            if count:
                shown(f"{file.stem}, {count} runs, client", ends[0])
                shown(f"{file.stem}, {count} runs, server", ends[1])
                printed(f"{file.stem}, {count} runs, reading", read)
                printed(f"{file.stem}, {count} runs, timers of the client", timers)
    if missing:
        sys.exit(f"{missing} runs are missing: the others were beyond the error bounds of the path")


if __name__ == "__main__":
    main()
