#!/usr/bin/env python3
"""Laws through quinn, and s2n-quic's own controllers, over the emulated path beside the packets world: tables for docs/quinn.md.

    sudo python3 bench/quic.py out/quic [--penstock target/release/penstock] [--minutes 15] [--only 'fast-100*'] [--runs 1]
                               [--tries 2] [--seeds 10] [--simulator PROGRAM]

Each cell runs over QUIC with the first seeds, and in the packets world with each seed. Means have their standard error. A run
beyond the error bounds of the path runs again where time is left, up to --tries. The tables are printed, and out/quic/cells.json
has each run. Cells named s2n-* run where --only names them, since they need a command with the feature `s2n`.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAWS = ("newreno", "cubic", "fast", "copa", "bbr3")
# What stands in the packets world beside a controller that only its stack has. s2n-quic uses ECN always. It has version 2 of BBR,
# which none of the laws is: version 3 is its successor, and has no ECN.
BESIDE = {"s2n-cubic": '{ law = "cubic", ecn = true }', "s2n-bbr": '{ law = "bbr3" }'}
SCENARIO = """format = 1
title = "{name}"
duration = "{duration} s"
warmup = "{warmup} s"
packet = {{ wire = "1500 B", payload = "1440 B" }}
[links.bottleneck]
from = "left"
to = "right"
rate = "{rate} Mbit/s"
delay = "5 ms"
buffer = "{buffer}"
duplex = true
{aqm}
[flows.quic]
from = "left"
to = "right"
count = {count}
rtt = "40 ms"
start = "0 s"
cc = {cc}
sender = {{ profile = "quic" }}
"""
# A cell that did not run in time is told apart from one that failed.
ROOM_S = 4
# Figures of the path that are kept.
PATH = ("lateness_p99_s", "lateness_max_s", "gap_max_s", "gaps_above_500_us", "stolen_s", "within_bound", "beyond")


def cells():
    """Each cell's name and the fields of its scenario, the bars first."""

    def cell(name, law, rate, duration, warmup, queue="drop-tail", count=1):
        more = ', alpha = "20 packets"' if law == "fast" else ""
        return name, {
            "name": name,
            "rate": rate,
            "duration": duration,
            "warmup": warmup,
            "count": count,
            "buffer": "10 bdp" if queue == "codel" else f"{count} bdp",
            "aqm": 'aqm = { law = "codel" }' if queue == "codel" else "",
            "cc": f'{{ law = "{law}"{more} }}',
        }

    yield cell("fast-100-four", "fast", 100, 40, 15, count=4)
    for rate in (20, 100):
        for queue in ("drop-tail", "codel"):
            for law in LAWS:
                # A window of hundreds of packets that grows by one a round trip takes twenty seconds from one loss to the next.
                slow = rate == 100 and law in ("newreno", "cubic")
                yield cell(f"{law}-{rate}-{queue}", law, rate, *((60, 20) if slow else (25, 8)), queue=queue)
    for law in ("quinn-newreno", "quinn-cubic", "quinn-bbr"):
        yield cell(f"{law}-20-drop-tail", law, 20, 25, 8)
    for rate in (20, 100):
        for queue in ("drop-tail", "codel"):
            for law in BESIDE:
                slow = rate == 100 and law == "s2n-cubic"
                yield cell(f"{law}-{rate}-{queue}", law, rate, *((60, 20) if slow else (25, 8)), queue=queue)


def run(penstock, out, fields, options):
    """The summary of a run; none and what was said where it failed."""
    file = out / f"{fields['name']}.toml"
    file.write_text(SCENARIO.format(**fields))
    command = [penstock, "run", file, "--json", "--out", out / "runs", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 4):
        return None, done.stderr.strip()
    return json.loads(done.stdout)["runs"][0]["summary"], ""


def figures(summary):
    """Goodput [Mbit/s], mean queue [packets] and Jain's index of a run."""
    rates = [flow["goodput_bit_per_s"] / 1e6 for flow in summary["flows"]]
    jain = sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates)) if any(rates) else 0.0
    return {
        "goodput": sum(rates),
        "queue": summary["links"]["bottleneck"]["queue_mean_packets"],
        "jain": jain,
        "drops": summary["links"]["bottleneck"].get("drop_share"),
    }


def simulated(penstock, out, fields, seeds):
    """The runs of the packets world, one for each seed; none where it does not run the law."""
    if "quinn-bbr" in fields["cc"]:
        return []
    fields = fields | {"cc": next((cc for own, cc in BESIDE.items() if f'"{own}"' in fields["cc"]), fields["cc"])}
    found = []
    for seed in range(1, seeds + 1):
        summary, said = run(penstock, out, fields, ["--seed", str(seed)])
        if summary is None:
            sys.exit(f"{fields['name']}: {said}")
        found.append(figures(summary))
    return found


def measured(penstock, out, fields, seed):
    """The figures of a run over QUIC, and the path's own."""
    options = ["--world", "linux", "--generator", "quic", "--awake", "--seed", str(seed)]
    summary, said = run(penstock, out, fields, options)
    if summary is None:
        return {"failed": said}
    return figures(summary) | {"path": {key: summary["path"].get(key) for key in PATH}}


def good(one):
    """Whether a run over QUIC counts."""
    return "failed" not in one and one["path"]["within_bound"]


def mean(runs, key):
    """The mean of some runs and its standard error; the latter is none for one run, and where no seed changes anything."""
    values = [one[key] for one in runs]
    error = statistics.stdev(values) / len(values) ** 0.5 if len(set(values)) > 1 else None
    return statistics.mean(values), error


def row(name, found):
    """A row of the table. Runs beyond the bounds of the path are counted, and not in the means."""
    runs, others = [one for one in found["quic"] if good(one)], found["packets"]
    if not runs:
        why = [one["failed"].splitlines()[-1:] or "?" if "failed" in one else one["path"]["beyond"] for one in found["quic"]]
        return f"| {name} | no run counts: {why} |"

    def shown(of, digits):
        value, error = of
        return f"{value:.{digits}f}" + ("" if error is None else f" ± {error:.{digits}f}")

    def pair(key, digits):
        if not others:
            return f"{shown(mean(runs, key), digits)} |  |  |"
        one, other = mean(runs, key), mean(others, key)
        share = f"{100 * (one[0] / other[0] - 1):+.1f} %" if other[0] else ""
        return f"{shown(one, digits)} | {shown(other, digits)} | {share} |"

    paths = [one["path"] for one in runs]
    late = f"{1e3 * max(path['lateness_p99_s'] or 0 for path in paths):.2f} | {1e3 * max(path['gap_max_s'] for path in paths):.1f}"
    pauses = f"{sum(path['gaps_above_500_us'] for path in paths)} | {1e3 * sum(path['stolen_s'] or 0 for path in paths):.0f}"
    jain = f"{mean(runs, 'jain')[0]:.4f}"
    return f"| {name} | {len(runs)} of {len(found['quic'])} | {pair('goodput', 2)} {pair('queue', 1)} {jain} | {late} | {pauses} |"


def main():
    """Runs the cells and prints a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--penstock", default=ROOT / "target/release/penstock")
    parser.add_argument("--simulator", help="another program for the packets world")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--only", action="append", help="cells of this name, with * for anything")
    parser.add_argument("--runs", type=int, default=1, help="runs over QUIC that count, for each cell")
    parser.add_argument("--tries", type=int, default=2, help="runs over QUIC at most, for each one that should count")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * options.minutes
    only = options.only or ["[!s]*"]
    chosen = [cell for cell in cells() if any(fnmatch(cell[0], names) for names in only)]
    if not chosen:
        sys.exit(f"no cell is named {' or '.join(only)}; there are {', '.join(name for name, _ in cells())}")
    said = subprocess.run([options.penstock, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    made = {"version": said, "command": " ".join(map(str, sys.argv[1:]))}
    found = {}
    print("Goodput in Mbit/s, mean queue in packets. Of the path: lateness (99 %) and longest gap in ms, gaps above 0.5 ms, and")
    print("processor time taken by the hypervisor in ms, of all runs that count.\n")
    heads = ["cell", "runs", "goodput, QUIC", "packets", "by", "queue, QUIC", "packets", "by", "Jain", "lateness", "gap", "gaps", "taken"]
    print(f"| {' | '.join(heads)} |")
    print("|" + " --- |" * len(heads), flush=True)
    for name, fields in chosen:
        # Simulated beforehand: nothing else runs while a path does.
        packets = simulated(options.simulator or options.penstock, options.out, fields, options.seeds)
        found[name] = {"packets": packets, "quic": []}
        runs = found[name]["quic"]
        while sum(map(good, runs)) < options.runs and len(runs) < options.tries * options.runs:
            if time.monotonic() + fields["duration"] + ROOM_S > end:
                print(f"| {name} | no time after {len(runs)} runs |", flush=True)
                break
            runs.append(measured(options.penstock, options.out, fields, len(runs) + 1))
        if runs:
            print(row(name, found[name]), flush=True)
        # A partial run adds to what is there, and replaces the cells that it ran.
        kept = json.loads(file.read_text()) if (file := options.out / "cells.json").exists() else {}
        file.write_text(json.dumps(kept | {name: found[name] | made}, indent=1) + "\n")


if __name__ == "__main__":
    main()
