#!/usr/bin/env python3
"""Makes the pictures of docs/gallery.md: a figure out of the report of each scenario, with a title of its own.

    bench/gallery.py PENSTOCK [NAME...]

A figure of a sweep has a point for each cell. Where the picture is of a run over time, the scenario loses its sweep first.
"""

import html
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
SIZES = '["10 kB", "30 kB", "100 kB", "300 kB", "1 MB"]'
FADING = '{ trace = "fading.csv", format = "csv" }'
ONE = "one run"
SWEEP = "sweep"

# The picture, its scenario, what is run of it, changes of keys, the figure in the report and which of that title, and the title here.
PICTURES = [
    ("bufferbloat", "scenarios", ONE, {}, "RTT", 0, "RTT behind drop-tail (bloated) and behind CoDel (managed)"),
    ("aqm-comparison", "scenarios", SWEEP, {}, "Mean queueing delay", 0, "Mean queueing delay"),
    ("web", "scenarios", SWEEP, {}, "Mean completion", 0, "Mean completion time of short transfers"),
    ("household", "scenarios", SWEEP, {}, "Mean page load", 0, "Mean time to load a web page"),
    ("l4s", "scenarios", ONE, {}, "RTT", 0, "RTT under DualPI2"),
    ("newreno-red-622", "scenarios", ONE, {}, "Mean queue", 0, "Mean queue of 100 NewReno flows and RED"),
    ("fast-622", "scenarios", ONE, {}, "Mean queue", 0, "Mean queue of 100 FAST flows"),
    ("rtt-controllers", "scenarios", SWEEP, {}, "Goodput", 1, "Goodput of the four flows of 80 ms"),
    ("rtt-unfairness", "scenarios", "fluid", {}, "Goodput", 0, "Goodput of flows of 20 and 80 ms, fluid model"),
    ("two-bottlenecks", "scenarios", ONE, {}, "Goodput", 0, "Goodput"),
    ("two-way", "scenarios", ONE, {}, "Mean queue", 0, "Mean queue"),
    ("variable-rate", "scenarios", ONE, {}, "RTT", 0, "RTT"),
    ("incast", "scenarios", SWEEP, {}, "Completion p99", 0, "Completion of 40 transfers, 99th percentile"),
    ("fast-start", "scenarios", ONE, {}, "Congestion window", 0, "Congestion window"),
    ("newreno-pi-stable", "scenarios", ONE, {}, "Mean queue", 0, "Mean queue, reference 200 packets"),
    ("newreno-pi-unstable", "scenarios", ONE, {}, "Mean queue", 0, "Mean queue, gains sixty times larger"),
    ("early-marking", "scenarios", ONE, {}, "Mean bucket", 0, "Mean bucket, reference 93.75 kB"),
    ("clcc-step", "scenarios", ONE, {}, "Served", 0, "Served"),
    ("allegro", "scenarios/today", SWEEP, {}, "Goodput", 0, "Goodput of PCC Allegro over random losses"),
    ("bbr-beside-cubic", "scenarios/today", SWEEP, {}, "Goodput", 0, "Goodput of BBR beside one CUBIC flow"),
    ("bbr3-staggered", "scenarios/today", ONE, {"flows.bbr.series": "true"}, "Goodput", -1, "Goodput of four BBRv3 flows"),
    ("copa", "scenarios/today", ONE, {}, "Queueing delay", 0, "Queueing delay of three Copa flows"),
    ("illinois", "scenarios/today", ONE, {}, "Congestion window", 0, "Congestion window of TCP Illinois and NewReno"),
    ("ledbat-latecomer", "scenarios/today", ONE, {}, "Goodput", 0, "Goodput of two LEDBAT++ flows"),
    ("ledbat-pp-beside-newreno", "scenarios/today", ONE, {}, "Goodput", 0, "Goodput of LEDBAT++ (background) and NewReno"),
    ("nada", "scenarios/today", ONE, {}, "Throughput of links", 0, "Throughput of a NADA call, and the capacity"),
    ("prague-beside-cubic", "scenarios/today", ONE, {}, "RTT", 0, "RTT of Prague and CUBIC over DualPI2"),
    ("search", "scenarios/today", SWEEP, {}, "Queueing delay p99", 0, "Queueing delay, 99th percentile"),
    ("vivace", "scenarios/today", ONE, {}, "Goodput", 0, "Goodput of PCC Vivace, 5 % lost"),
    ("westwood", "scenarios/today", ONE, {}, "Congestion window", 0, "Congestion window of TCP Westwood+ and NewReno"),
    ("hosts", "scenarios", ONE, {}, "Congestion window", 0, "Congestion window of CUBIC, as Linux has it"),
    ("hosts-transfers", "scenarios", SWEEP, {"sweep.flows.transfer.size": SIZES}, "Mean completion", 0, "Mean completion time by size"),
    ("policer", "evaluation/scenarios", SWEEP, {}, "Goodput", 0, "Goodput behind a policer of 10 Mbit/s"),
    ("varying-rate", "evaluation/scenarios", ONE, {"links.bottleneck.rate": FADING}, "Throughput of links", 0, "Throughput over a line that fades"),
]


def report(penstock, name, folder, kind, changes, out):
    text = (ROOT / folder / f"{name}.toml").read_text()
    if kind != SWEEP:
        text = re.split(r"^\[+sweep", text, maxsplit=1, flags=re.M)[0]
    words = [penstock, "run", "-", "--quiet", "--out", out]
    words += ["--world", "fluid"] if kind == "fluid" else []
    for key, value in changes.items():
        words += ["--set", f"{key}={value}"]
    # Traces are looked up in the current directory.
    subprocess.run(words, input=text, text=True, check=True, cwd=ROOT / folder, stdout=subprocess.DEVNULL)
    return next(pathlib.Path(out).rglob("report.html")).read_text()


def figure(page, wanted, which, title):
    # A title that several figures of the page have is followed by the section of each.
    named = re.compile(rf"<title>({re.escape(wanted)}(?: \([^<]*)?)</title>")
    found = [(svg, match[1]) for svg in re.findall(r'<div class="plot(?: broad)?">(<svg.*?</svg>)', page, re.S) if (match := named.search(svg))]
    if not found:
        sys.exit(f"no figure `{wanted}`; there are {re.findall('<title>(.*?)</title>', page)}")
    (svg, shown), title = found[which], html.escape(title, quote=False)
    svg = svg.replace(f"<title>{shown}</title>", f"<title>{title}</title>", 1)
    drawn = f'font-weight="bold">{shown}<'
    if drawn not in svg:
        sys.exit(f"the figure `{shown}` does not show its title")
    return svg.replace(drawn, f'font-weight="bold">{title}<', 1)


def main():
    penstock, names = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    for name, folder, kind, changes, wanted, which, title in PICTURES:
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as out:
            page = report(penstock, name, folder, kind, changes, out)
        svg = figure(page, wanted, which, title)
        (IMAGES / f"{name}.svg").write_text(svg.rstrip() + "\n")
        print(f"docs/images/{name}.svg: {len(svg)} B")


if __name__ == "__main__":
    main()
