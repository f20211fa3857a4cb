#!/usr/bin/env python3
"""The host `profile = "linux"` in the simulator beside this machine's kernel: the tables of docs/validation/hosts.md.

    sudo python3 bench/hosts.py out/hosts [--penstock target/release/penstock] [--only red-20] [--runs 1] [--seeds 5]

Every cell runs in both worlds. The figure of the simulator is the mean of its seeds, that of the kernel the mean of its
runs. Standard errors stand beside them, where there are several.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUEUES = {
    "droptail": '{ law = "droptail" }',
    "red": '{ law = "red" }',
    "codel": '{ law = "codel" }',
    "dualpi2": '{ law = "dualpi2" }',
}
RATES = (20, 100, 200)
SIZES = ("10 kB", "30 kB", "100 kB", "300 kB", "1 MB")
LONG = ("goodput_bit_per_s", "window_mean_packets", "retransmits")


def cells():
    """Name, scenario and settings of each cell."""
    for law in ("newreno", "cubic"):
        chosen = [f'flows.tcp.cc.law="{law}"']
        for queue, aqm in QUEUES.items():
            for rate in RATES:
                more = [f'links.bottleneck.aqm={aqm}', f'links.bottleneck.rate="{rate} Mbit/s"']
                yield f"{law}-{queue}-{rate}", "hosts", chosen + more
        yield f"{law}-loss", "hosts", [*chosen, "links.bottleneck.loss=0.001"]
        yield f"{law}-reorder", "hosts", [*chosen, 'links.bottleneck.reorder={ share = 0.01, by = "5 ms" }']
    for size in SIZES:
        yield f"transfer-{size.replace(' ', '')}", "hosts-transfers", [f'flows.transfer.size="{size}"']


def run(penstock, world, scenario, settings, seed, out):
    """The groups of a run's summary, and whether it kept its error bounds."""
    command = [penstock, "run", ROOT / "scenarios" / f"{scenario}.toml", "--world", world, "--json", "--out", out]
    for setting in [*settings, f"seed={seed}"]:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4):
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    groups = json.loads(done.stdout)["runs"][0]["summary"]["groups"]
    return groups, done.returncode == 0


def measured(groups):
    """The figures of a run by name."""
    found = {}
    for name, group in groups.items():
        transfers = group.get("transfers")
        if transfers:
            found[f"{name}: mean completion [ms]"] = 1000 * transfers["completion_mean_s"]
        else:
            found |= {key: group[key] for key in LONG}
    return found


def mean(values):
    """Mean and standard error."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return statistics.mean(values), error


def main():
    """Prints a row for each cell and figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--penstock", default=ROOT / "target/release/penstock")
    parser.add_argument("--only", action="append", help="cells of this name, with * for anything")
    parser.add_argument("--runs", type=int, default=1, help="runs on the kernel")
    parser.add_argument("--seeds", type=int, default=5, help="seeds of the simulator")
    options = parser.parse_args()
    print("| cell | figure | simulated | kernel | difference |\n| --- | --- | --- | --- | --- |")
    for name, scenario, settings in cells():
        if options.only and not any(fnmatch(name, part) for part in options.only):
            continue
        worlds = []
        for world, count in (("packets", options.seeds), ("linux", options.runs)):
            out = options.out / f"{name}-{world}"
            runs = [run(options.penstock, world, scenario, settings, seed, out) for seed in range(1, count + 1)]
            worlds.append([measured(groups) for groups, _ in runs])
        simulated, kernel = worlds
        name += "" if all(kept for _, kept in runs) else " (outside its error bounds)"
        for figure in simulated[0]:
            ours, error = mean([each[figure] for each in simulated])
            theirs, other = mean([each[figure] for each in kernel])
            off = f"{100 * (theirs / ours - 1):+.1f} %" if ours else ""
            show = lambda value, error: f"{value:.5g}" + ("" if math.isnan(error) else f" ± {error:.2g}")
            print(f"| {name} | {figure} | {show(ours, error)} | {show(theirs, other)} | {off} |", flush=True)


if __name__ == "__main__":
    main()
