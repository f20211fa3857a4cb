#!/usr/bin/env python3
"""Measures what each sender's law costs: packets a CPU second and instructions a packet, beside NewReno's.

    python3 bench/laws.py PENSTOCK OUT [LAW ...] [--rounds N] [--no-instructions]

Each law runs in scenarios/newreno-red-622.toml in NewReno's place. Processor time is of the whole process. In each round a run of
NewReno comes right before the run of each law, so that both have the same machine; the table has the median of the ratios. Valgrind
counts the instructions of a run, where it is installed (Debian: valgrind). Prints the table of docs/validation/speed.md. OUT/laws.json
has every number. Status 1: a law is slower than its bar.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import sys

from validation import run

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "scenarios" / "newreno-red-622.toml"
FIRST = "newreno"
# The least share of NewReno's packets a CPU second.
BAR = 0.7
BARS = {"bbr3": 0.5}
COUNTED = 'flows.ftp.sender.ecn_echo="per-packet"'
WHOLE_BUFFER = ['links.bottleneck.aqm={law="droptail"}', 'links.bottleneck.buffer="7775 packets"']
# What a law needs beside its name: echoes that can be counted, the AQM of its paper, a rate. The buffer is one bandwidth-delay product.
NEEDS = {
    "dctcp": [COUNTED],
    "prague": [COUNTED],
    "nada": [COUNTED, 'flows.ftp.cc.max_rate="6 Mbit/s"'],
    "leadlag": [COUNTED, 'links.bottleneck.aqm={law="price"}'],
    "ccp": WHOLE_BUFFER,
    "ccpd": WHOLE_BUFFER,
    "cbr": ['flows.ftp.cc.rate="6 Mbit/s"', "flows.ftp.sender={}"],
}
FOREIGN = ("quinn-", "s2n-")


def controllers(penstock, out):
    listed = json.loads(run([penstock, "laws", "--json"], out)[0])
    # Laws of other programs are only names here.
    return [law for law in listed if law["role"] == "controller" and not law["name"].startswith(FOREIGN)]


def command(penstock, law, out):
    """One run of a law: with ECN, where that is a choice of the law."""
    ecn = ", ecn = true" if "ecn" in [parameter["name"] for parameter in law["parameters"]] else ""
    settings = [f'flows.ftp.cc={{ law = "{law["name"]}"{ecn} }}', *NEEDS.get(law["name"], []), 'windows.all=["0 s","60 s"]']
    words = [penstock, "run", SCENARIO, "--json", "--quiet", "--out", out / "penstock"]
    return words + [word for setting in settings for word in ("--set", setting)]


def measured(penstock, law, out):
    text, cpu_s = run(command(penstock, law, out), out)
    [only] = json.loads(text)["runs"]
    whole = only["summary"]["windows"]["all"]
    link, group = whole["links"]["bottleneck"], whole["groups"]["ftp"]
    shutil.rmtree(only["record"])
    return {
        "cpu_s": cpu_s,
        # The receiver acknowledges each packet.
        "packets": link["departures"],
        "drops": link["drops"],
        "marks": link.get("marks", 0),
        "again": group["retransmits"],
        "timeouts": group["timeouts"],
        "utilization": link["utilization"],
    }


def instructions(penstock, law, out):
    valgrind = ["valgrind", "--log-fd=1", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    said, _ = run(valgrind + command(penstock, law, out), out)
    return int(re.search(r"I\s+refs:\s+([\d,]+)", said)[1].replace(",", ""))


def row(cells):
    print(f"| {' | '.join(cells)} |", flush=True)


def main():
    plain = argparse.RawDescriptionHelpFormatter
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    arguments.add_argument("penstock", type=pathlib.Path, help="the command, with optimisation")
    arguments.add_argument("out", type=pathlib.Path, help="directory for everything that is written")
    arguments.add_argument("laws", nargs="*", help="these laws (default: all)")
    arguments.add_argument("--rounds", type=int, default=9, help="runs of each law (default 9)")
    arguments.add_argument("--no-instructions", action="store_true", help="do not count instructions")
    asked = arguments.parse_args()
    penstock, out = asked.penstock.resolve(), asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    known = {law["name"]: law for law in controllers(penstock, out)}
    if unknown := [name for name in asked.laws if name not in known]:
        arguments.error(f"no law `{unknown[0]}`; there are {', '.join(known)}")
    names = [FIRST, *(name for name in asked.laws or known if name != FIRST)]
    counting = not asked.no_instructions and shutil.which("valgrind")

    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", file=sys.stderr)
    found = {name: {"runs": [], "first": []} for name in names}
    for _ in range(asked.rounds):
        for name in names:
            found[name]["first"].append(measured(penstock, known[FIRST], out))
            found[name]["runs"].append(measured(penstock, known[name], out))
    for name in names:
        found[name]["instructions"] = instructions(penstock, known[name], out) if counting else None

    heads = ["law", "packets = ACKs [10^6]", "drops [10^3]", "sent again [10^3]", "10^6 packets / CPU s", "of NewReno's", "quartiles"]
    heads += ["instructions a packet", "of NewReno's", "target"]
    row(heads)
    row(["---"] * len(heads))
    slow = []
    for name in names:
        law, last = found[name], found[name]["runs"][-1]
        speeds = [one["packets"] / one["cpu_s"] for one in law["runs"]]
        ratios = [speed / (one["packets"] / one["cpu_s"]) for speed, one in zip(speeds, law["first"])]
        law["ratio"], bar = statistics.median(ratios), BARS.get(name, BAR)
        low, _, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [ratios[0]] * 3
        cells = [f"`{name}`", f"{last['packets'] / 1e6:.2f}", f"{last['drops'] / 1e3:.1f}", f"{last['again'] / 1e3:.1f}"]
        cells += [f"{statistics.median(speeds) / 1e6:.2f}", f"{law['ratio']:.0%}", f"{low:.0%}, {high:.0%}"]
        if counting:
            each, first = law["instructions"] / last["packets"], found[FIRST]["instructions"] / found[FIRST]["runs"][-1]["packets"]
            cells += [f"{each:.0f}", f"{each / first:.2f}"]
        else:
            cells += ["", ""]
        met = law["ratio"] >= bar
        row([*cells, "" if name == FIRST else f"{bar:.0%}: {'met' if met else 'missed'}"])
        if name != FIRST and not met:
            slow.append(f"{name}: {law['ratio']:.0%} of NewReno's speed, below {bar:.0%}")
    (out / "laws.json").write_text(json.dumps(found, indent=1) + "\n")
    for text in slow:
        print(text, file=sys.stderr)
    return bool(slow)


if __name__ == "__main__":
    sys.exit(main())
