#!/usr/bin/env python3
"""Laws through quinn over the emulated path beside the packets world: tables for docs/quinn.md.

    sudo python3 bench/quic.py out/quic [--penstock target/release/penstock] [--minutes 15] [--only 'fast-100*'] [--seeds 3]
                               [--simulator PROGRAM]

Each cell runs once over QUIC, and in the packets world with each seed. A run beyond the error bounds of the path runs again
where time is left. The tables are printed, and out/quic/cells.json has the same numbers.
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
    """The means of the packets world over some seeds; none where it does not run the law."""
    if "quinn-bbr" in fields["cc"]:
        return None
    found = []
    for seed in range(1, seeds + 1):
        summary, said = run(penstock, out, fields, ["--seed", str(seed)])
        if summary is None:
            sys.exit(f"{fields['name']}: {said}")
        found.append(figures(summary))
    return {key: statistics.mean(one[key] for one in found) for key in ("goodput", "queue", "jain")}


def measured(penstock, out, fields):
    """The figures of a run over QUIC, and the path's own."""
    summary, said = run(penstock, out, fields, ["--world", "linux", "--generator", "quic"])
    if summary is None:
        return {"failed": said}
    path = summary["path"]
    errors = {key: path.get(key) for key in ("lateness_p99_s", "lateness_max_s", "gap_max_s", "gaps_above_500_us", "within_bound", "beyond")}
    return figures(summary) | {"path": errors}


def row(name, found):
    """A row of the table."""
    one, other = found["quic"], found.get("packets")
    if "failed" in one:
        return f"| {name} | failed: {one['failed'].splitlines()[-1] if one['failed'] else '?'} |"

    def of(key, digits):
        if other is None:
            return f"{one[key]:.{digits}f} |  |  |"
        share = f"{100 * (one[key] / other[key] - 1):+.1f} %" if other[key] else ""
        return f"{one[key]:.{digits}f} | {other[key]:.{digits}f} | {share} |"

    path = one["path"]
    late = f"{1e3 * (path['lateness_p99_s'] or 0):.2f} | {1e3 * path['gap_max_s']:.1f} | {path['gaps_above_500_us']}"
    within = "yes" if path["within_bound"] else "no: " + "; ".join(path["beyond"] or [])
    return f"| {name} | {of('goodput', 2)} {of('queue', 1)} {one['jain']:.4f} | {late} | {within} |"


def main():
    """Runs the cells and prints a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--penstock", default=ROOT / "target/release/penstock")
    parser.add_argument("--simulator", help="another program for the packets world")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--only", action="append", help="cells of this name, with * for anything")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * options.minutes
    chosen = [cell for cell in cells() if not options.only or any(fnmatch(cell[0], only) for only in options.only)]
    found = {}

    def keep():
        (options.out / "cells.json").write_text(json.dumps(found, indent=1) + "\n")

    def takes(fields):
        return fields["duration"] + ROOM_S

    print("Goodput in Mbit/s, mean queue in packets, lateness (99 %) and longest gap of the path in ms, gaps above 0.5 ms.\n")
    heads = ("cell", "goodput, QUIC", "packets", "by", "queue, QUIC", "packets", "by", "Jain", "lateness", "gap", "gaps", "within bounds")
    print(f"| {' | '.join(heads)} |")
    print(f"|{' --- |' * 12}", flush=True)
    for name, fields in chosen:
        # Simulated beforehand: nothing else runs while a path does.
        packets = simulated(options.simulator or options.penstock, options.out, fields, options.seeds)
        if time.monotonic() + takes(fields) > end:
            print(f"| {name} | not run: no time |", flush=True)
            continue
        found[name] = {"packets": packets, "quic": measured(options.penstock, options.out, fields)}
        print(row(name, found[name]), flush=True)
        keep()
    for name, fields in chosen:
        one = found.get(name, {}).get("quic", {})
        bad = "failed" in one or not one.get("path", {}).get("within_bound", True)
        if bad and time.monotonic() + takes(fields) < end:
            found[name]["quic"] = measured(options.penstock, options.out, fields)
            print(row(f"{name}, again", found[name]), flush=True)
            keep()


if __name__ == "__main__":
    main()
