#!/usr/bin/env python3
"""The host `profile = "linux"` in the simulator beside this machine's kernel: the tables of docs/validation/hosts.md, and with
cells `bbr-*` that of docs/validation/bbr.md.

    sudo python3 bench/hosts.py out/hosts [--penstock target/release/penstock] [--only red-20] [--runs 1] [--seeds 5] [--awake] [--kept] [--tries 1]

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
# Buffer and AQM of each cell of `bbr`.
BUFFERS = {"half": '"0.5 bdp"', "1bdp": '"1 bdp"', "8bdp": '"8 bdp"', "codel": '"8 bdp"'}
# BBR holds this window in ProbeRTT [packets], and the cells have a sample of it as often as this [ms].
PROBE_RTT = 4
SAMPLE_MS = 50


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
    for company in ("alone", "two", "cubic"):
        for buffer, size in BUFFERS.items():
            for rate in RATES[:2]:
                more = [f"links.bottleneck.buffer={size}", f'links.bottleneck.rate="{rate} Mbit/s"']
                if buffer == "codel":
                    more.append(f"links.bottleneck.aqm={QUEUES['codel']}")
                if company == "cubic":
                    yield f"bbr-{company}-{buffer}-{rate}", "bbr-hosts", more
                else:
                    more += [
                        'flows.tcp.cc.law="bbr"',
                        'duration="70 s"',
                        f'sample="{SAMPLE_MS} ms"',
                        f"flows.tcp.count={1 if company == 'alone' else 2}",
                    ]
                    yield f"bbr-{company}-{buffer}-{rate}", "hosts", more
    for size in SIZES:
        yield f"transfer-{size.replace(' ', '')}", "hosts-transfers", [f'flows.transfer.size="{size}"']


def kept(seed, out):
    """The last run of this seed that is on record in a folder, as `penstock run --json` prints it."""
    for summary in sorted(out.glob("*/summary.json"), key=lambda path: path.stat().st_mtime, reverse=True):
        found = json.loads(summary.read_text())
        if found["seed"] == seed:
            return {"summary": found, "record": str(summary.parent)}
    return None


def run(options, world, scenario, settings, seed, out):
    """The run as `penstock run --json` prints it, and whether it kept its error bounds."""
    before = kept(seed, out) if options.kept and world == "linux" else None
    if before and (options.tries == 1 or before["summary"]["path"]["within_bound"]):
        return before, before["summary"]["path"]["within_bound"]
    command = [options.penstock, "run", ROOT / "scenarios" / f"{scenario}.toml", "--world", world, "--json", "--out", out]
    if options.awake and world == "linux":
        command.append("--awake")
    for setting in [*settings, f"seed={seed}"]:
        command += ["--set", setting]
    for _ in range(options.tries if world == "linux" else 1):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 4):
            sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
        if done.returncode == 0:
            break
    return json.loads(done.stdout)["runs"][0], done.returncode == 0


def probes_of_rtt(record):
    """Period and length of the spans in which the only flow's window is that of ProbeRTT, in a record's samples [s]."""
    import polars  # noqa: PLC0415 (only these cells take it)

    rows = polars.read_parquet(Path(record) / "groups.parquet").sort("time_s")
    low = [time for time, window in zip(rows["time_s"], rows["window_packets"]) if window is not None and window <= PROBE_RTT]
    starts = [time for before, time in zip([-1.0, *low], low) if time - before > 1.0]
    found = {"times in ProbeRTT": float(len(starts))}
    if len(starts) > 1:
        found["period of ProbeRTT [s]"] = (starts[-1] - starts[0]) / (len(starts) - 1)
    if starts:
        found["ProbeRTT lasts [ms]"] = SAMPLE_MS * len(low) / len(starts)
    return found


def of_bbr(run):
    """The figures of a run of BBR by name."""
    link = run["summary"]["links"]["bottleneck"]
    groups = run["summary"]["groups"]
    found = {"utilization": link["utilization"], "queue [packets]": link["queue_mean_packets"]}
    if "cubic" in groups:
        total = sum(group["goodput_bit_per_s"] for group in groups.values())
        found["share of BBR [%]"] = 100 * groups["bbr"]["goodput_bit_per_s"] / total
    elif groups["tcp"]["count"] == 1:
        found |= probes_of_rtt(run["record"])
    else:
        found["Jain's index"] = groups["tcp"]["jain"]
    return found


def measured(name, run):
    """The figures of a run by name."""
    if name.startswith("bbr-"):
        return of_bbr(run)
    found = {}
    for name, group in run["summary"]["groups"].items():
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
    parser.add_argument("--awake", action="store_true", help="keep processors awake in runs on the kernel")
    parser.add_argument("--kept", action="store_true", help="take the runs on the kernel that OUT has from before")
    parser.add_argument("--tries", type=int, default=1, help="so often is a run on the kernel made until it keeps its error bounds")
    options = parser.parse_args()
    print("| cell | figure | simulated | kernel | difference |\n| --- | --- | --- | --- | --- |")
    for name, scenario, settings in cells():
        if options.only and not any(fnmatch(name, part) for part in options.only):
            continue
        worlds = []
        for world, count in (("packets", options.seeds), ("linux", options.runs)):
            out = options.out / f"{name}-{world}"
            runs = [run(options, world, scenario, settings, seed, out) for seed in range(1, count + 1)]
            worlds.append([measured(name, done) for done, _ in runs])
        simulated, kernel = worlds
        name += "" if all(within for _, within in runs) else " (outside its error bounds)"
        for figure in (each for each in simulated[0] if all(each in run for run in simulated + kernel)):
            ours, error = mean([each[figure] for each in simulated])
            theirs, other = mean([each[figure] for each in kernel])
            off = f"{100 * (theirs / ours - 1):+.1f} %" if ours else ""
            show = lambda value, error: f"{value:.5g}" + ("" if math.isnan(error) else f" ± {error:.2g}")
            print(f"| {name} | {figure} | {show(ours, error)} | {show(theirs, other)} | {off} |", flush=True)


if __name__ == "__main__":
    main()
