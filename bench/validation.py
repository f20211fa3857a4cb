#!/usr/bin/env python3
"""Runs the same scenarios in Penstock, ns-2 and ns-3, in turn, and sets what they measure side by side.

    make validation                       everything below, one after the other
    bench/validation.py compare OUT       measures of each simulator, and the bars that Penstock is to keep
    bench/validation.py rules OUT         Penstock alone, one rule flipped at a time
    bench/validation.py speed OUT         processor time and memory of each simulator
    bench/validation.py against OUT --other PATH
                                          speed over that of another version of the command, runs of each in turn

Needs python3 alone, and target/release/penstock. ns-2 and ns-3.37 are compared where they are installed, as Debian has
them (packages ns2; libns3-dev and g++). Writes nothing outside OUT. Status 1: Penstock is outside a bar.
"""

import argparse
import functools
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
PENSTOCK = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "release/penstock"
NS3_MODULES = "applications point-to-point internet traffic-control bridge network stats core".split()
NS3_VERSION = "37"
REPEATS = 3

# Name in the results, heading, decimals.
MEASURES = [
    ("utilization", "utilization", 4),
    ("queue_packets", "mean queue [packets]", 1),
    ("throughput_mbit_s", "throughput [Mbit/s]", 2),
    ("drops_all", "losses", 0),
    ("speed", "10^6 packets / CPU s", 2),
]


# --- Cases -----------------------------------------------------------------------------------------------------------
# `penstock` is a scenario and what is set in it; `ns-2` and `ns-3` are the keys of ns2.tcl and ns3.cc; `bars` bound a
# measure of Penstock (its mean over seeds) and were written before it was first measured: from ns-2 and ns-3 on this
# scenario, and where the bar was one number, 5 % of it either way.


def single(rate, buffer, queue, losses):
    """One flow over a buffer of one bandwidth-delay product. ns-2 lets one packet fewer wait than its limit says."""
    return {
        "title": f"one flow, drop-tail, {rate} Mbit/s",
        "penstock": ("validation-single", [f'links.bottleneck.rate="{rate} Mbit/s"',
                                f'links.bottleneck.buffer="{buffer - 1} packets"']),
        "ns-2": dict(rate=rate, delay=0.02, flows=1, queue="DropTail", limit=buffer, ecn=0, stop=120, warmup=60,
                     start=1e-6),
        "ns-3": dict(rate=rate, delay=0.02, flows=1, queue="DropTail", limit=buffer, stop=120, warmup=60, start=0),
        "bars": {"utilization": (0.997, 1.0), "queue_packets": queue, "drops_all": losses},
        "seeds": 1,
    }


def red(rate, utilization, queue, ns3=False):
    case = {
        "title": f"100 flows, RED, {rate} Mbit/s",
        "penstock": ("validation-red", [f'links.bottleneck.rate="{rate} Mbit/s"']),
        "ns-2": dict(rate=rate),
        "bars": {"utilization": utilization, "queue_packets": queue},
    }
    if ns3:
        case["ns-3"] = dict(rate=rate)
    return case


def around(value, share=0.05):
    return (value * (1 - share), value * (1 + share))


CASES = {
    "single-10": single(10, 50, around(27.5), around(138)),
    "single-100": single(100, 500, (276 * 0.95, 280 * 1.05), (1004 * 0.95, 1009 * 1.05)),
    "loss": {
        "title": "one flow, one packet in 1000 lost",
        "penstock": ("validation-loss", []),
        "ns-2": dict(rate=1000, flows=1, queue="DropTail", ecn=0, loss=0.001, stop=500, warmup=0, start=1e-6),
        "bars": {"throughput_mbit_s": (3.05, 3.40)},
    },
    "red-155": red(155, (0.955 * 0.95, 0.960 * 1.05), around(59), ns3=True),
    "red-155-jitter": {
        "title": "the same, sent up to 1 us late",
        "penstock": ("validation-red", ['links.bottleneck.rate="155 Mbit/s"', "links.bottleneck.aqm.arrivals_first=false",
                             'flows.ftp.jitter={uniform=["0 s","1 us"]}']),
        "ns-2": dict(rate=155, jitter=1e-6),
    },
    "red-622": red(622, around(0.858), around(115)),
    "red-2400": red(2400, around(0.783), around(103)),
}

# One rule flipped at a time: scenario, what is flipped, settings. The first of a scenario is what the others go by.
RULES = [
    ("red", "nothing: all as in ns-2", []),
    ("red", "marks while the queue is empty", ["links.bottleneck.aqm.spare_empty_queue=false"]),
    ("red", "marks 1 to 1/p apart, not 1/p to 2/p", ["links.bottleneck.aqm.wait=false"]),
    ("red", "echoes grow the window", ["flows.ftp.cc.grow_on_echo=true"]),
    ("red", "an echo a mark, not latched", ['flows.ftp.sender.ecn_echo="per-packet"']),
    ("red", "departures before arrivals", ["links.bottleneck.aqm.arrivals_first=false"]),
    ("red", "sent up to 1 us late", ['flows.ftp.jitter={uniform=["0 s","1 us"]}']),
    ("red", "the queue in packets", ["links.bottleneck.aqm.bytes=false"]),
    ("red", "no gentle slope", ["links.bottleneck.aqm.gentle=false"]),
    ("red", "20 ms of the 50 on the link", ['links.bottleneck.delay="20 ms"']),
    ("red", "round trips of 100 to 120 ms", ['flows.ftp.rtt={spread=["100 ms","120 ms"]}']),
    ("red", "an ACK for two packets", ["flows.ftp.sender.delayed_ack=2"]),
    ("red", "an initial window of 10", ["flows.ftp.sender.initial_window=10"]),
    ("red", "a minimum RTO of 1 s", ['flows.ftp.sender.min_rto="1 s"']),
    ("red", "the minimum RTO is added to the round trip", ['flows.ftp.sender.rto="linux"']),
    ("red", "idle from the start of the last transmission, in packets, departures first",
     ["links.bottleneck.aqm.idle_from_start=true", "links.bottleneck.aqm.bytes=false",
      "links.bottleneck.aqm.arrivals_first=false"]),
    ("red", "SACK", ['flows.ftp.sender.recovery="sack"']),
    ("single", "nothing: all as in ns-2", []),
    ("single", "50 packets wait, not 49", ['links.bottleneck.buffer="50 packets"']),
    ("single", "an ACK for two packets", ["flows.ftp.sender.delayed_ack=2"]),
    ("single", "SACK", ['flows.ftp.sender.recovery="sack"']),
    ("single", "Reno", ['flows.ftp.sender.recovery="reno"']),
    ("single", "an initial window of 10", ["flows.ftp.sender.initial_window=10"]),
    ("single", "sent up to 1 us late", ['flows.ftp.jitter={uniform=["0 s","1 us"]}']),
    ("loss", "nothing: all as in ns-2", []),
    ("loss", "an ACK for two packets", ["flows.ftp.sender.delayed_ack=2"]),
    ("loss", "SACK", ['flows.ftp.sender.recovery="sack"']),
    ("loss", "Reno", ['flows.ftp.sender.recovery="reno"']),
    ("loss", "a minimum RTO of 1 s", ['flows.ftp.sender.min_rto="1 s"']),
]

# Name, what crosses links, scenario, settings, bar [10^6 a CPU second].
SPEEDS = [
    ("100 flows, RED, 622 Mbit/s", "data packets", "validation-red", [], 15.0),
    ("512 paced flows both ways", "data packets and ACKs", "two-way-512", ['windows.all=["0 s","20 s"]'], 10.0),
    ("10,000 flows", "data packets", "10000-flows", ['windows.all=["0 s","20 s"]'], 3.0),
    ("100,000 flows", "data packets", "100000-flows", ['windows.all=["0 s","10 s"]'], None),
]
NS2_RATIO = 8.0
MEMORY_BYTES = 300e6


# --- Simulators ------------------------------------------------------------------------------------------------------


def run(command, out):
    """Runs a command in OUT; its output and the processor time of the whole process [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], cwd=out, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nended with status {done.returncode}\n{done.stderr}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def line_of(text):
    """The last line of KEY=VALUE that a script printed."""
    return {key: float(value) for key, value in (pair.split("=") for pair in text.strip().splitlines()[-1].split())}


def summary(scenario, settings, seed, out, program=PENSTOCK):
    command = [program, "run", ROOT / f"scenarios/{scenario}.toml", "--json", "--seed", seed,
               "--out", out / "penstock"]
    for setting in settings:
        command += ["--set", setting]
    text, cpu_s = run(command, out)
    [found] = json.loads(text)["runs"]
    return found, cpu_s


def crossings(scenario, settings, out, program=PENSTOCK):
    """A run, and the packets that crossed links [10^6 / CPU s]."""
    measured, cpu_s = summary(scenario, settings, 1, out, program)
    links = measured["summary"]["windows"]["all"]["links"].values()
    return measured, sum(link["departures"] for link in links) / cpu_s / 1e6


def penstock(case, seed, out):
    found, cpu_s = summary(*case["penstock"], seed, out)
    found = found["summary"]
    link, all_link = found["links"]["bottleneck"], found["windows"]["all"]["links"]["bottleneck"]
    group, all_group = found["groups"]["ftp"], found["windows"]["all"]["groups"]["ftp"]
    return {
        "utilization": link["utilization"],
        "queue_packets": link["queue_mean_packets"],
        "throughput_mbit_s": group["throughput_packets_per_s"] * 8e-3,
        "drops_all": all_link["drops"],
        "marks": link.get("marks", 0),
        "timeouts_all": all_group["timeouts"],
        "again_all": all_group["retransmits"],
        "speed": all_link["departures"] / cpu_s / 1e6,
    }


def ns2_line(keys, seed, out):
    command = ["ns", HERE / "ns2.tcl", "seed", seed]
    for key, value in keys.items():
        command += [key, value]
    text, cpu_s = run(command, out)
    return line_of(text), cpu_s


def ns2(case, seed, out):
    measured, cpu_s = ns2_line(case["ns-2"], seed, out)
    return {**measured, "speed": measured["packets_all"] / cpu_s / 1e6}


@functools.cache
def ns3_program(out):
    program = out / "ns3"
    libraries = [f"-l:libns3-{module}.so.{NS3_VERSION}" for module in NS3_MODULES]
    run(["g++", "-std=c++17", "-O2", "-o", program, HERE / "ns3.cc", *libraries], out)
    return program


def ns3(case, seed, out):
    flags = [f"--{key}={value}" for key, value in case["ns-3"].items()]
    text, cpu_s = run([ns3_program(out), f"--seed={seed}", *flags], out)
    measured = line_of(text)
    return {**measured, "speed": measured["packets_all"] / cpu_s / 1e6}


def present(skipped):
    """The other simulators that there are. Says which are not."""
    others = {"ns-2": ns2, "ns-3": ns3}
    absent = {}
    if not shutil.which("ns"):
        absent["ns-2"] = "not installed (Debian: ns2)"
    if not pathlib.Path("/usr/include/ns3/core-module.h").exists() or not shutil.which("g++"):
        absent["ns-3"] = f"not installed (Debian: libns3-dev, version 3.{NS3_VERSION}, and g++)"
    absent |= {name: "left out" for name in skipped}
    for name, why in absent.items():
        print(f"{name}: {why}", file=sys.stderr)
        del others[name]
    return others


# --- Tables ----------------------------------------------------------------------------------------------------------


def row(cells):
    print(f"| {' | '.join(cells)} |", flush=True)


def head(cells):
    row(cells)
    row(["---"] * len(cells))


def shown(values, decimals):
    mean = f"{statistics.mean(values):.{decimals}f}"
    if len(values) < 3:
        return mean
    return f"{mean} ± {statistics.stdev(values) / len(values) ** 0.5:.{decimals}f}"


def compare(asked, out):
    simulators = {"Penstock": penstock, **present(asked.skip)}
    head(["case", "simulator", *(heading for _, heading, _ in MEASURES)])
    results, outside = {}, []
    for name in asked.only or CASES:
        case, results[name] = CASES[name], {}
        for simulator, simulate in simulators.items():
            if simulator.lower() not in case:
                continue
            # ns-3 takes a hundred times as long: one seed.
            seeds = 1 if simulator == "ns-3" else case.get("seeds", asked.seeds)
            rows = [simulate(case, seed, out) for seed in range(1, seeds + 1)]
            results[name][simulator] = rows
            cells = [case["title"], simulator]
            for key, _, decimals in MEASURES[:-1]:
                cells.append(shown([row[key] for row in rows], decimals) if key in rows[0] else "")
            row([*cells, f"{max(row['speed'] for row in rows):.2f}"])
        for key, (least, most) in case.get("bars", {}).items():
            found = statistics.mean(row[key] for row in results[name]["Penstock"])
            if not least <= found <= most:
                outside.append(f"{name}: {key} is {found:.4g}, outside {least:.4g} to {most:.4g}")
    (out / "compare.json").write_text(json.dumps(results, indent=1) + "\n")
    for line in outside:
        print(line, file=sys.stderr)
    if not outside:
        print("Penstock is within every bar", file=sys.stderr)
    return bool(outside)


def rules(asked, out):
    head(["scenario", "flipped", "utilization", "mean queue [packets]", "throughput [Mbit/s]", "losses"])
    for scenario, flipped, settings in RULES:
        rates = {"red": ["155 Mbit/s", "622 Mbit/s"], "single": ["10 Mbit/s"], "loss": [None]}[scenario]
        for rate in rates:
            at = [] if rate is None else [f'links.bottleneck.rate="{rate}"']
            seeds = 1 if scenario == "single" else asked.seeds
            rows = [penstock({"penstock": (f"validation-{scenario}", [*at, *settings])}, seed, out) for seed in range(1, seeds + 1)]
            cells = [f"{scenario}{f', {rate}' if rate else ''}", flipped]
            row(cells + [shown([row[key] for row in rows], decimals) for key, _, decimals in MEASURES[:-1]])
    return False


def speed(asked, out):
    """The best of three: other work on the machine only ever makes a run slower."""
    others, outside = present(asked.skip), []
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", file=sys.stderr)
    head(["case", "simulator", "what crosses links", "10^6 / CPU s", "bar", "memory at most [MB]"])
    for title, crossing, scenario, settings, bar in SPEEDS:
        found, ns2_found = [], []
        for _ in range(REPEATS):
            measured, each = crossings(scenario, settings, out)
            found.append(each)
            if scenario == "validation-red" and "ns-2" in others:
                line, cpu_s = ns2_line({"measure": 0}, 1, out)
                ns2_found.append(line["packets"] / cpu_s / 1e6)
        memory = measured["cost"]["peak_memory_bytes"]
        row([title, "Penstock", crossing, f"{max(found):.2f}", f"{bar:g}" if bar else "", f"{memory / 1e6:.0f}"])
        if bar and max(found) < bar:
            outside.append(f"{title}: {max(found):.2f}, below {bar:g}")
        if ns2_found:
            ratio = max(found) / max(ns2_found)
            row([title, "ns-2", crossing, f"{max(ns2_found):.2f}", "", ""])
            row([title, "Penstock / ns-2", "", f"{ratio:.1f}", f"{NS2_RATIO:g}", ""])
            if ratio < NS2_RATIO:
                outside.append(f"{title}: {ratio:.1f} times as fast as ns-2, below {NS2_RATIO:g}")
        if title.startswith("100,000") and memory > MEMORY_BYTES:
            outside.append(f"{title} take {memory / 1e6:.0f} MB, more than {MEMORY_BYTES / 1e6:g}")
    if "ns-3" in others:
        case = CASES["single-10"]
        best = max(penstock(case, 1, out)["speed"] for _ in range(REPEATS))
        row([case["title"], "Penstock", "data packets", f"{best:.2f}", "", ""])
        row([case["title"], "ns-3", "data packets", f"{ns3(case, 1, out)['speed']:.2f}", "", ""])
    for text in outside:
        print(text, file=sys.stderr)
    return bool(outside)


def against(asked, out):
    """Ratios of single runs in turn: the speed of a machine with other work changes from minute to minute."""
    if not asked.other:
        raise SystemExit("against: name the other command by `--other PATH`")
    if asked.rounds < 1:
        raise SystemExit("against: `--rounds` is one or more")
    commands = [PENSTOCK, asked.other.resolve()]
    if not commands[1].exists():
        raise SystemExit(f"{commands[1]} is not there")
    head(["case", "this, 10^6 / CPU s", "other", "this / other", "least to most"])
    for title, _, scenario, settings, bar in SPEEDS:
        if not bar:
            continue
        found = [[], []]
        for _ in range(asked.rounds):
            for command, speeds in zip(commands, found):
                speeds.append(crossings(scenario, settings, out, command)[1])
        ratios = [this / other for this, other in zip(*found)]
        medians = (f"{statistics.median(each):.2f}" for each in [*found, ratios])
        row([title, *medians, f"{min(ratios):.2f} to {max(ratios):.2f}"])
    return False


def main():
    plain = argparse.RawDescriptionHelpFormatter
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    arguments.add_argument("what", choices=["compare", "rules", "speed", "against"])
    arguments.add_argument("out", type=pathlib.Path, help="directory for everything that is written")
    arguments.add_argument("--seeds", type=int, default=5, help="seeds of a case that draws (default 5)")
    arguments.add_argument("--only", action="append", choices=CASES, help="compare this case; may be repeated")
    arguments.add_argument("--skip", action="append", default=[], choices=["ns-2", "ns-3"], help="not this simulator")
    arguments.add_argument("--other", type=pathlib.Path, help="with `against`: another version of the command")
    arguments.add_argument("--rounds", type=int, default=10, help="with `against`: runs of each (default 10)")
    asked = arguments.parse_args()
    out = asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if not PENSTOCK.exists():
        raise SystemExit(f"{PENSTOCK} is not there: run `make build`")
    return {"compare": compare, "rules": rules, "speed": speed, "against": against}[asked.what](asked, out)


if __name__ == "__main__":
    sys.exit(main())
