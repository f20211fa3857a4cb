#!/usr/bin/env python3
"""Runs the same scenario in ns-2, ns-3 and Penstock, in turn, and sets measures and speeds side by side.

    make build && bench/validation.py OUT_DIR [--markdown] [--seeds N] [--only NAME]... [--skip ns-2|ns-3]...

Needs python3 alone; ns-2 and ns-3.37 as Debian has them, and g++, where they are to be compared. What is missing is
said to be not installed. Writes nothing outside OUT_DIR. Speed is millions of packets through the bottleneck for each
second of processor time of the whole process, its start included.
"""

import argparse
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
NS3_MODULES = "applications point-to-point internet traffic-control bridge network stats core".split()
NS3_VERSION = "37"

# The measures of a row: name in the results, heading, decimals.
MEASURES = [
    ("utilization", "utilization", 4),
    ("queue_packets", "mean queue [packets]", 1),
    ("drops_all", "drops from 0 s", 0),
    ("goodput_mbit_s", "[Mbit/s]", 2),
    ("speed", "10^6 packets / CPU s", 2),
]


def single(rate, buffer):
    """One NewReno flow over drop-tail: ns-2 and ns-3 let one packet fewer and as many wait as their limits say."""
    return {
        "title": f"one flow, drop-tail, {rate} Mbit/s",
        "penstock": ("validation-single", [f'links.bottleneck.rate="{rate} Mbit/s"',
                                           f'links.bottleneck.buffer="{buffer - 1} packets"']),
        "ns-2": dict(rate=rate, delay=0.02, flows=1, queue="DropTail", limit=buffer, ecn=0, stop=120, warmup=60,
                     start=1e-6),
        "ns-3": dict(rate=rate, delay=0.02, flows=1, queue="DropTail", limit=buffer, stop=120, warmup=60, start=0),
        "seeds": 1,
    }


def loss():
    return {
        "title": "one flow, one packet in 1000 lost",
        "penstock": ("validation-loss", []),
        "ns-2": dict(rate=1000, flows=1, queue="DropTail", ecn=0, loss=0.001, stop=500, warmup=0, start=1e-6),
        "seeds": 5,
    }


def red(rate, ns3=False, arrivals_first=True, jitter=0, certain="mark"):
    case = {
        "title": f"100 flows, RED, {rate} Mbit/s",
        "penstock": ("validation-red", [f'links.bottleneck.rate="{rate} Mbit/s"',
                                        f"links.bottleneck.aqm.arrivals_first={str(arrivals_first).lower()}"]),
        "ns-2": dict(rate=rate, jitter=jitter, certain=certain),
    }
    if ns3:
        case["ns-3"] = dict(rate=rate)
    if not arrivals_first:
        case["title"] += ", departures first"
    if certain == "drop":
        case["title"] += ", ns-2 drops what is certain to be marked"
    return case


CASES = {
    "single-10": single(10, 50),
    "single-100": single(100, 500),
    "loss": loss(),
    "red-155": red(155, ns3=True),
    "red-155-departures-first": red(155, arrivals_first=False, jitter=1e-8),
    "red-622": red(622),
    "red-622-departures-first": red(622, arrivals_first=False, jitter=1e-8),
    "red-622-certain-drops": red(622, certain="drop"),
    "red-2400": red(2400),
}

# One rule flipped at a time: scenario, heading, settings. The first of a scenario is what the others are compared with.
RULES = [
    ("red", "as in ns-2", []),
    ("red", "arrivals after departures", ["links.bottleneck.aqm.arrivals_first=false"]),
    ("red", "marks while the queue is empty", ["links.bottleneck.aqm.spare_empty_queue=false"]),
    ("red", "echoes grow the window", ["flows.ftp.cc.grow_on_echo=true"]),
    ("red", "an echo a mark, not latched", ['flows.ftp.sender.ecn_echo="per-packet"']),
    ("red", "marks 1 to 1/p apart", ["links.bottleneck.aqm.wait=false"]),
    ("red", "the queue in packets", ["links.bottleneck.aqm.bytes=false"]),
    ("red", "an ACK for two packets", ["flows.ftp.sender.delayed_ack=2"]),
    ("red", "20 ms of the 50 on the link", ['links.bottleneck.delay="20 ms"']),
    ("single", "as in ns-2", []),
    ("single", "one more packet may wait", ['links.bottleneck.buffer="50 packets"']),
    ("single", "1040 bytes a packet", ['packet="1040 B"']),
    ("single", "an ACK for two packets", ["flows.ftp.sender.delayed_ack=2"]),
    ("single", "SACK", ['flows.ftp.sender.recovery="sack"']),
]


def run(command, out):
    """Runs a command in OUT; its output and the processor time it took [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], cwd=out, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nended with status {done.returncode}\n{done.stderr}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def line_of(text):
    """The last line of KEY=VALUE that a script printed."""
    return {key: float(value) for key, value in (pair.split("=") for pair in text.strip().splitlines()[-1].split())}


def penstock(case, seed, out):
    name, settings = case["penstock"]
    command = [ROOT / "target/release/penstock", "run", ROOT / "scenarios" / f"{name}.toml", "--json", "--seed", seed,
               "--out", out / "penstock"]
    for setting in settings:
        command += ["--set", setting]
    text, cpu_s = run(command, out)
    summary = json.loads(text)
    link, everything = summary["links"]["bottleneck"], summary["windows"]["all"]["links"]["bottleneck"]
    # `goodput` is of payload; throughput on the wire is what ns-2's script prints.
    per_s = summary["groups"]["ftp"]["throughput_packets_per_s"]
    return {
        "utilization": link["utilization"],
        "queue_packets": link["queue_mean_packets"],
        "drops_all": everything["drops"],
        "goodput_mbit_s": per_s * 8e-3,
        "speed": everything["departures"] / cpu_s / 1e6,
    }


def ns2(case, seed, out):
    command = ["ns", HERE / "ns2.tcl", "seed", seed]
    for key, value in case["ns-2"].items():
        command += [key, value]
    text, cpu_s = run(command, out)
    measured = line_of(text)
    measured["speed"] = measured["packets"] / cpu_s / 1e6
    return measured


def ns3_program(out):
    program = out / "ns3"
    libraries = [f"-l:libns3-{module}.so.{NS3_VERSION}" for module in NS3_MODULES]
    run(["g++", "-std=c++17", "-O2", "-o", program, HERE / "ns3.cc", *libraries], out)
    return program


def ns3(program):
    def simulate(case, seed, out):
        text, cpu_s = run([program, f"--seed={seed}", *(f"--{k}={v}" for k, v in case["ns-3"].items())], out)
        measured = line_of(text)
        measured["speed"] = measured["packets"] / cpu_s / 1e6
        return measured

    return simulate


def missing(name):
    if name == "ns-2":
        return None if shutil.which("ns") else "not installed (Debian: ns2)"
    if not pathlib.Path("/usr/include/ns3/core-module.h").exists() or not shutil.which("g++"):
        return f"not installed (Debian: libns3-dev 3.{NS3_VERSION}, g++)"
    return None


def rules(asked, out):
    """Prints what each rule is worth."""
    head = ["scenario", "rule", "utilization", "mean queue [packets]", "drops from 0 s"]
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}" if asked.markdown else "\t".join(head), flush=True)
    for scenario, rule, settings in RULES:
        rates = ["155 Mbit/s", "622 Mbit/s"] if scenario == "red" else ["10 Mbit/s"]
        for rate in rates:
            case = {"penstock": (f"validation-{scenario}", [f'links.bottleneck.rate="{rate}"', *settings])}
            rows = [penstock(case, seed, out) for seed in range(1, (asked.seeds if scenario == "red" else 1) + 1)]
            cells = [f"{scenario}, {rate}", rule]
            for key, decimals in [("utilization", 4), ("queue_packets", 1), ("drops_all", 0)]:
                cells.append(shown([row[key] for row in rows], decimals))
            print(f"| {' | '.join(cells)} |" if asked.markdown else "\t".join(cells), flush=True)


def shown(values, decimals):
    mean = f"{statistics.mean(values):.{decimals}f}"
    if len(values) < 3:
        return mean
    return f"{mean} +- {statistics.stdev(values) / len(values) ** 0.5:.{decimals}f}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("out", type=pathlib.Path, help="directory for everything that is written")
    arguments.add_argument("--markdown", action="store_true", help="print a table for docs/validation")
    arguments.add_argument("--rules", action="store_true", help="Penstock alone, one rule flipped at a time")
    arguments.add_argument("--seeds", type=int, default=5, help="seeds of a case that draws (default 5)")
    arguments.add_argument("--only", action="append", choices=CASES, help="this case; may be repeated")
    arguments.add_argument("--skip", action="append", default=[], choices=["ns-2", "ns-3"], help="not this simulator")
    asked = arguments.parse_args()
    out = asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if not (ROOT / "target/release/penstock").exists():
        raise SystemExit("target/release/penstock is not there: run `make build`")

    simulators = {}
    for name in [] if asked.rules else ["ns-2", "ns-3"]:
        why = "left out" if name in asked.skip else missing(name)
        if why:
            print(f"{name}: {why}", file=sys.stderr)
        else:
            simulators[name] = ns2 if name == "ns-2" else ns3(ns3_program(out))
    simulators["penstock"] = penstock

    if asked.rules:
        return rules(asked, out)
    head = ["case", "simulator", *(heading for _, heading, _ in MEASURES)]
    rule = " | ".join(["---"] * len(head))
    print(f"| {' | '.join(head)} |\n| {rule} |" if asked.markdown else "\t".join(head), flush=True)
    results = {}
    for name in asked.only or CASES:
        case = CASES[name]
        results[name] = {}
        for simulator, simulate in simulators.items():
            if simulator not in case:
                continue
            # ns-3 takes a hundred times as long: one seed.
            seeds = 1 if simulator == "ns-3" else case.get("seeds", asked.seeds)
            rows = [simulate(case, seed, out) for seed in range(1, seeds + 1)]
            results[name][simulator] = rows
            cells = [case["title"], simulator]
            for key, _, decimals in MEASURES:
                cells.append(shown([row[key] for row in rows], decimals) if key in rows[0] else "")
            print(f"| {' | '.join(cells)} |" if asked.markdown else "\t".join(cells), flush=True)
        mine = statistics.mean(row["speed"] for row in results[name]["penstock"])
        for simulator in list(results[name])[:-1]:
            theirs = statistics.mean(row["speed"] for row in results[name][simulator])
            print(f"{name}: Penstock is {mine / theirs:.1f} times as fast as {simulator}", file=sys.stderr)
    (out / "validation.json").write_text(json.dumps(results, indent=1) + os.linesep)


if __name__ == "__main__":
    main()
