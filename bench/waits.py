#!/usr/bin/env python3
"""The time from a datagram's arrival to its answer, at both ends of a flow over QUIC on the emulated path: docs/quinn.md.

    sudo python3 bench/waits.py scenarios/FILE.toml [--penstock target/release/penstock] [--from 20] [--spacing 120]

The scenario has one flow, whose link is busy for a while. A library (bench/waits.c, needs cc) stands before the system's and writes
down each read and each write. The server's times count from when a datagram was due, while datagrams come at the rate of the link.
The client's count from when the server sent the acknowledgement. Both are above their 0.5 % quantile, and contain the path.
"""

import argparse
import os
import struct
import subprocess
import sys
import tempfile
from bisect import bisect_left
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WRITE, READ = 1, 2
SHARES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 1.0)
# Spans in which the link may be busy [us], and how far from its rate they may be.
SPAN_US, OFF = 100_000, 0.003


def events(file):
    """Writes and reads of a thread: times [us], and the datagrams of each read."""
    writes, reads, data = [], [], 0
    for at_ns, size, kind, datagrams in struct.iter_unpack("<QIHH", file.read_bytes()):
        if kind == WRITE:
            writes.append(at_ns / 1e3)
            data += size
        else:
            reads.append((at_ns / 1e3, datagrams))
    return writes, reads, data


def answered(writes, at, before):
    """The first write from a time on, if it comes before another."""
    index = bisect_left(writes, at)
    return writes[index] if index < len(writes) and writes[index] < before else None


def of_server(writes, reads, spacing):
    """How late the answers of a server are, in spans in which datagrams come at the rate of the link."""
    late = []
    for start in range(int(reads[0][0]), int(reads[-1][0]) - SPAN_US, SPAN_US):
        span = reads[bisect_left(reads, (start, 0)) : bisect_left(reads, (start + SPAN_US, 0))]
        if abs(sum(count for _, count in span) * spacing / SPAN_US - 1) > OFF:
            continue
        due, first = [], 0
        for at, count in span:
            due.append(at - spacing * first)
            first += count
        for (before, _), (at, _), (after, _), when in zip(span, span[1:], span[2:], due[1:], strict=False):
            # One that was read at once with the one before has waited for that, and not by itself.
            answer = answered(writes, at, after)
            if at - before > spacing / 2 and answer:
                late.append(when - min(due) + answer - at)
    return late


def of_client(sent, writes, reads, begin):
    """How long after acknowledgements were sent their answers were."""
    times = list(chain.from_iterable([at] * count for at, count in reads))
    late = []
    for began, before, at, after in zip(sent[1:], times, times[1:], times[2:], strict=False):
        answer = answered(writes, at, after)
        # A pause of the machine is the path's error, which its summary has.
        if answer and at > begin and at - before > 60 and answer - began < 100_000:
            late.append(answer - began)
    return late


def shown(who, late):
    """A line of quantiles."""
    if len(late) < 5_000:
        sys.exit(f"{who}: {len(late)} answers are too few; is the link busy, and is --spacing that of its packets?")
    late.sort()
    least = late[len(late) // 200]
    of_share = [(share, late[min(len(late) - 1, int(share * len(late)))] - least) for share in SHARES]
    print(f"{who}: {len(late)} answers; share of answers that come in time, and this time [us]")
    print("   " + ", ".join(f"({share:g}, {max(0.0, time):.1f})" for share, time in of_share))


def main():
    """Runs the scenario, and prints the times of both ends."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--penstock", default=ROOT / "target/release/penstock")
    parser.add_argument("--from", dest="begin", type=float, default=20, help="seconds that do not count")
    parser.add_argument("--spacing", type=float, default=120, help="time that a packet takes on the link [us]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "waits.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, ROOT / "bench/waits.c", "-ldl"], check=True)
        times = Path(folder) / "times"
        times.mkdir()
        command = [options.penstock, "run", options.file, "--world", "linux", "--generator", "quic", "--awake", "--out", folder]
        run = subprocess.run(command, env=os.environ | {"LD_PRELOAD": str(library), "WAITS": str(times)}, check=False)
        # A run beyond the bounds of the path ends with 4, and says so.
        if run.returncode not in (0, 4):
            sys.exit(run.returncode)
        ends = sorted((events(file) for file in times.iterdir()), key=lambda end: end[2])
    if len(ends) < 2:
        sys.exit("the run has fewer than two ends that read and write")
    (acks, data, _), (packets, arrived, _) = ends[-2:]
    begin = data[0][0] + 1e6 * options.begin
    shown("client", of_client(acks, packets, arrived, begin))
    shown("server", of_server(acks, [read for read in data if read[0] > begin], options.spacing))


if __name__ == "__main__":
    main()
