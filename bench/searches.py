#!/usr/bin/env python3
"""Searches of `penstock break` whose results are in docs/lab-notes/break.md.

    bench/searches.py near [NAME ...]     known failures, searched from neighbourhoods of them: search/near
    bench/searches.py pairs [NAME ...]    the search beside the plain sampler, where failures are rare
    bench/searches.py pairs --unseen      the same with pairs that no change of the search went by

Options: --penstock COMMAND, --out DIR, --jobs N of each search, --together N searches, --seed N of the searches. Each table is in
Markdown. CPU times are those of the whole process.

A neighbourhood has the path of a known failure. Most numbers of it go from a fourth of their value to four times that; the rate goes
so where it is decisive. The search begins at a mild end, and has the default budget. A known failure is found again if the best
score at the last rung is at least the score of the mild end of the band in search/known. A baseline of its own stands beside those of
the objective where only that law shows that the path allows better.

A pair is a law, an objective and a space. PAIRS are tried in their order. A pair counts if 200 points of the plain sampler with
the next seed find no candidate: where failures are common, nothing has to be searched. The first ten that count are compared with
the default budget. The search is better if it has the first candidate after fewer evaluations; where neither has one, if
its best score at the last rung is larger by more than 0.01.

Changes of the search went by the results of some PAIRS. Nobody had searched a pair of UNSEEN when the list was made. The rule of the
list is: pair k has the k-th controller by the alphabet, the k-th objective and the k-th space of `penstock break --list`. Each list
begins anew at its end. A pair whose law and objective were searched before is left out: those of PAIRS, of NEAR, of failures/ and of
docs/lab-notes/break.md. The first 30 stay. Once a change of the search goes by them, they are no longer unseen.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUDGET, SCREEN, WANTED, CLEARLY = 3000, 200, 10, 0.01
# The exit status of a command whose world cannot run what is asked for.
NOT_SEARCHED = 3


@dataclass(frozen=True)
class Near:
    """A known failure: its space, the law, the objective, the measure at the mild end of the band, and a further baseline."""

    space: str
    law: str
    objective: str
    measure: float
    baseline: str | None = None

    def threshold(self):
        """The score of the measure, as in docs/break.md."""
        match self.objective:
            case "underuse":
                return 1 - self.measure
            case "loss":
                return self.measure
            case _:
                return 1 - 1 / self.measure


# Ratios: the smallest that the bounds of search/known admit. Of `underuse`: the largest share. Of `loss`: the objective's own score,
# since what NewReno loses enters it. K1: the fair share over that of the first of four flows. K4 and K11: the mean of the clean pair over
# the other flow. The bounds of K11 have the sum of the pair. K10: the ratio that the packets world has, for the published one is not
# reached. K13: NewReno starves the long flow as CUBIC does. Copa is the law of the paper that shares there, with a ratio of about the
# number of links.
NEAR = [
    Near("K01-fast-latecomers", '{ law = "fast", alpha = "20 packets" }', "latecomer", 1.557),
    Near("K02-pulses-at-the-timeout", "newreno", "underuse", 0.0132),
    Near("K03-one-flow-with-jitter", "vegas", "starve", 8.19),
    Near("K03-one-flow-with-jitter", '{ law = "fast", alpha = "20 packets" }', "starve", 3.06),
    Near("K04-one-flow-with-bunched-acks", "vegas", "starve", 1.605),
    Near("K04-one-flow-with-bunched-acks", '{ law = "fast", alpha = "20 packets" }', "starve", 1.486),
    Near("K05-vegas-beside-loss-based", "vegas", "coexist", 60.4),
    Near("K09-bbr-beside-cubic", "bbr", "coexist", 10.8),
    Near("K10-three-round-trips", "bbr", "starve", 5.0),
    Near("K11-one-flow-with-aggregated-acks", "copa", "starve", 3.1625),
    Near("K12-two-round-trips", "newreno", "starve", 2.0),
    Near("K13-parking-lot", "cubic", "starve", 2.846, baseline="copa"),
    Near("K16-vegas-delay-steps", "vegas", "underuse", 0.3795),
    Near("K18-bbr-jitter-of-a-round-trip", '{ law = "bbr", aggregation_gain = 0 }', "underuse", 0.1),
    Near("K19-copa-jitter-of-a-round-trip", '{ law = "copa", competitive = false }', "underuse", 0.1),
    Near("K21-pulses-of-a-second", "cubic", "underuse", 0.103),
    Near("K22-bbr-losses", "bbr", "loss", 0.8),
    Near("K23-bbr3-latecomer", "bbr3", "latecomer", 2.5),
    Near("K24-prague-beside-cubic", "prague", "coexist", 7.906),
    Near("K26-ledbat-latecomer", "ledbat", "latecomer", 5.5),
    Near("K27-copa-one-early-ack", "copa", "starve", 3.414),
    Near("K28-bbr-two-round-trips", "bbr", "starve", 4.077),
    Near("K29-vivace-aggregated-acks", "vivace", "starve", 3.177),
    Near("K30-allegro-loss-on-one-flow", "allegro", "starve", 3.043, baseline="bbr"),
    Near("F2-vegas-longer-path", "vegas", "underuse", 0.0275),
]

# A law, an objective, a space, and options.
PAIRS = [
    ("newreno", "underuse", "hostile", ["--loss", "0"]),
    ("cubic", "starve", "fixed", []),
    ("newreno", "starve", "fixed", []),
    ("bbr3", "starve", "fixed", []),
    ("fast", "starve", "wired", []),
    ("vegas", "starve", "fixed", []),
    ("copa", "starve", "fixed", []),
    ("bbr", "underuse", "wired", []),
    ("bbr3", "underuse", "wifi", []),
    ("cubic", "stall", "wifi", []),
    ("cubic", "latecomer", "fixed", []),
    ("bbr3", "latecomer", "fixed", []),
    ("ledbat-pp", "starve", "fixed", []),
    ("cubic", "oscillate", "wired", []),
    ("fast", "underuse", "wifi", []),
    ("newreno", "stall", "hostile", ["--loss", "0"]),
    ("cubic", "recover", "fixed", []),
    ("vegas", "underuse", "leo", []),
    ("copa", "underuse", "fixed", []),
    ("westwood", "starve", "fixed", []),
    ("bbr3", "underuse", "cell", []),
    ("cubic", "queue", "fixed", []),
    ("bbr", "starve", "fixed", []),
    ("prague", "underuse", "wired", []),
    ("vivace", "starve", "fixed", []),
    ("ledbat", "underuse", "wifi", []),
    ("illinois", "oscillate", "fixed", []),
    ("copa", "underuse", "leo", []),
    ("bbr", "stall", "hostile", []),
    ("cubic", "coexist", "fixed", []),
]

# Chosen on 29 November 2026 by the rule above, before any of them was searched.
UNSEEN = [
    ("ccp", "coexist", "hostile", []),
    ("ccpd", "queue", "leo", []),
    ("copa", "oscillate", "wifi", []),
    ("cubic", "loss", "wired", []),
    ("dctcp", "latecomer", "cell", []),
    ("fast", "stall", "fixed", []),
    ("highspeed", "recover", "hostile", []),
    ("illinois", "harm", "leo", []),
    ('{ law = "leadlag", signal = "delay" }', "fct", "wifi", []),
    ("ledbat", "timid", "wired", []),
    ("ledbat-pp", "unsafe", "cell", []),
    ('{ law = "nada", max_rate = "200 Mbit/s" }', "underuse", "fixed", []),
    ("scalable", "queue", "wifi", []),
    ("vegas", "oscillate", "wired", []),
    ("westwood", "latecomer", "fixed", []),
    ("bbr3", "recover", "leo", []),
    ("ccp", "harm", "wifi", []),
    ("ccpd", "fct", "wired", []),
    ("copa", "timid", "cell", []),
    ("cubic", "unsafe", "fixed", []),
    ("dctcp", "underuse", "hostile", []),
    ("highspeed", "coexist", "wifi", []),
    ("illinois", "queue", "wired", []),
    ('{ law = "leadlag", signal = "delay" }', "oscillate", "cell", []),
    ("ledbat", "loss", "fixed", []),
    ('{ law = "nada", max_rate = "200 Mbit/s" }', "stall", "leo", []),
    ("prague", "harm", "wired", []),
    ("scalable", "fct", "cell", []),
    ("vegas", "timid", "fixed", []),
    ("vivace", "unsafe", "hostile", []),
]


@dataclass
class Searched:
    """What a search has left."""

    evaluations: int
    first: int | None
    best: float
    cpu_s: float


class NotSearched(RuntimeError):
    """The world lacks a law or a measure of the objective."""


def search(options, law, objective, space, more, seed=None):
    """Runs `penstock break` with a seed, that of the options unless given, or raises what it says."""
    words = [options.penstock, "break", law, "--objective", objective, "--space", space, "--failures", "0", "--first"]
    words += ["--jobs", str(options.jobs), "--out", str(options.out), "--json", "--seed", str(seed or options.seed), *more]
    child = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with child.stdout, child.stderr:
        printed, errors = child.stdout.read(), child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    code = child.returncode = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):
        raise (NotSearched if code == NOT_SEARCHED else RuntimeError)(f"{' '.join(words)}: {errors}")
    row = json.loads(printed)["objectives"][0]
    if "refused" in row:
        raise NotSearched(f"{' '.join(words)}: {row['refused']}")
    best = row["phases"][-1]["best"]
    best = float("-inf") if best is None else best
    return Searched(row["evaluations"], row.get("first_candidate_evaluations"), best, usage.ru_utime + usage.ru_stime)


def table(head):
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head), flush=True)


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def near(options):
    """The table of known failures."""
    chosen = [one for one in NEAR if not options.names or any(one.space.startswith(name) for name in options.names)]

    def found(one):
        more = ["--threshold", f"{one.threshold():.4f}", "--budget", str(BUDGET)]
        more += [] if one.baseline is None else ["--baseline", one.baseline]
        return search(options, one.law, one.objective, f"search/near/{one.space}.toml", more)

    table(["space", "law", "objective", "score of the known failure", "best score", "first candidate", "evaluations", "CPU time", "found"])
    missed = 0
    with ThreadPoolExecutor(options.together) as pool:
        for one, result in zip(chosen, pool.map(found, chosen), strict=True):
            good = result.best >= one.threshold()
            missed += not good
            first = "none" if result.first is None else result.first
            score, best = f"{one.threshold():.3f}", f"{result.best:.3f}"
            row(one.space, f"`{one.law}`", one.objective, score, best, first, result.evaluations, f"{result.cpu_s:.0f} s", "yes" if good else "no")
    return missed


def better(guided, plain):
    """Whether the search is better than the sampler: +1, 0 if neither, -1."""
    if guided.first is None and plain.first is None:
        apart = guided.best - plain.best
        return 0 if abs(apart) <= CLEARLY else 1 if apart > 0 else -1
    ends = [float("inf") if one.first is None else one.first for one in (guided, plain)]
    return (ends[0] < ends[1]) - (ends[0] > ends[1])


def pairs(options):
    """The table of pairs."""
    listed = UNSEEN if options.unseen else PAIRS
    chosen = [one for one in listed if not options.names or one[0] in options.names]

    def compared(one):
        law, objective, space, more = one
        try:
            screen = search(options, law, objective, space, [*more, "--plain-sampler", "--budget", str(SCREEN)], options.seed + 1)
        except NotSearched:
            return None, None, None
        if screen.first is not None:
            return screen, None, None
        guided = search(options, law, objective, space, [*more, "--budget", str(BUDGET)])
        plain = search(options, law, objective, space, [*more, "--plain-sampler", "--budget", str(BUDGET)])
        return screen, guided, plain

    table(["law", "objective", "space", "first candidate", "sampler's", "best score", "sampler's", "CPU time", "sampler's", "better"])
    wins = counted = 0
    with ThreadPoolExecutor(options.together) as pool:
        for one, (screen, guided, plain) in zip(chosen, pool.map(compared, chosen), strict=True):
            law, objective, space, more = one
            space = " ".join([space, *more])
            if guided is None:
                first = "not searched" if screen is None else f"{screen.first} of {SCREEN}"
                row(f"`{law}`", objective, space, first, "", "", "", "", "", "not counted")
                continue
            verdict = better(guided, plain)
            first = ["none" if one.first is None else one.first for one in (guided, plain)]
            best, cpu = ([f"{one.best:.3f}" for one in (guided, plain)], [f"{one.cpu_s:.0f} s" for one in (guided, plain)])
            row(f"`{law}`", objective, space, *first, *best, *cpu, ["neither", "search", "sampler"][verdict])
            counted += 1
            wins += verdict > 0
            if counted == WANTED:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    print(f"\nThe search is better in {wins} of {counted}.")
    return 0


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("which", choices=["near", "pairs"])
    options.add_argument("names", nargs="*")
    options.add_argument("--unseen", action="store_true", help="with `pairs`: the pairs that no change of the search went by")
    options.add_argument("--penstock", default=str(ROOT / "target/release/penstock"))
    options.add_argument("--out", type=pathlib.Path, default=ROOT / "out/searches")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--together", type=int, default=os.cpu_count() or 1)
    options = options.parse_args()
    if options.unseen and options.which != "pairs":
        sys.exit("--unseen goes with `pairs`")
    return {"near": near, "pairs": pairs}[options.which](options)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
