#!/usr/bin/env python3
"""Evaluates the laws that are on record with `penstock evaluate LAW --quick`, keeps their verdicts in evaluation/recorded, and
writes the table of all laws by all criteria, docs/validation/evaluation.md.

    python3 bench/evaluation.py PENSTOCK OUT [LAW ...]

Without laws it evaluates all of them; with `--table` it only writes the table from what is on record.
"""

import json
import subprocess
import sys
from pathlib import Path

SENDERS = ["newreno", "cubic", "bbr", "bbr3", "prague", "dctcp", "copa", "fast", "leadlag", "ccpd", "vegas", "quinn-newreno", "quinn-cubic"]
QUEUES = ["red", "pi", "price", "codel", "fq-codel", "pie", "dualpi2"]
ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "evaluation" / "recorded"
PAGE = ROOT / "docs" / "validation" / "evaluation.md"
SIGNS = {"meets": "✓", "fails": "✗", "undecided": "?", "not-evaluated": "not evaluated", "not-applicable": "–"}

HEAD = """# All laws by all criteria

    make evaluation

`penstock evaluate LAW --quick` made the tables on this page. Each cell (combination of parameter values) of a criterion ran
with 3 seeds. Each run had half the duration in the scenario file, except where a criterion is about durations. ✓ means that the law meets the criterion's bound. ✗ means
that the law fails the bound. "?" means that the verdict is undecided. A number without ✓, ✗ or "?" is not judged. The
criterion has no bound, or its bounds are for other laws. Some bounds come from the documents of a few laws, and only these laws
are judged by them. A dash means that the criterion does not apply to the law. Each number is the mean over the seeds of the first
measure that has the verdict of the criterion. The number comes from the worst of the cells that decide this verdict. A letter
behind a number means another measure than the first one in the row. The first column names both. ∞ means that the number is
infinite in some run. "none" means that some run lacks the number. The page [How a law is evaluated](../evaluation.md)
explains verdicts and bounds. `evaluation/recorded` has the verdicts of these tables as JSON. CI compares some of the verdicts.

Each verdict is about a law with its default parameters. With its defaults, FAST keeps 100 packets queued for each flow,
whatever the size of the buffer. The default parameters of `leadlag` and `ccpd` come from their papers. The papers are about
faster paths than the criteria.
"""

TAIL = """## In the Linux world

    penstock evaluate cubic --quick --only EV-12,EV-20 --world packets,linux
    penstock evaluate fast --quick --only EV-12,EV-20 --world packets,linux

The table compares the simulator with the kernel's TCP in two cells. One cell is of the criterion EV-12, and the other of EV-20.
On the kernel, `cubic`, `newreno` and `fast` each ran three times in each cell. A run on the kernel lasted 60 s. The 18 runs on
the kernel were made one at a time, on kernel 6.18. Other programs ran on the machine's two processors during these 18 runs. So
17 of the 18 kernel runs were outside the [error bounds](../linux.md#the-error-of-a-run). The emulated path's longest gap
(pause) was 31 ms. The bound on the path's gaps is 5 ms. So this table is only a first look at the differences between simulator
and kernel. Each difference in the table is that of the kernel from the simulator, with its 95 % confidence interval.

| cell | measure | law | packets | linux | difference |
| --- | --- | --- | ---: | ---: | ---: |
| EV-12, 10 Mbit/s, 2 BDP of buffer, beside one CUBIC flow | rate over CUBIC's | `cubic` | 1.02 | 0.825 | -19.0 % (-44.5 to +18.1) |
| | | `newreno` | 0.744 | 0.860 | +15.6 % (+10.7 to +20.7) |
| | | `fast` | 21.4 | 8.57 | -60.0 % (-61.7 to -58.3) |
| | goodput of CUBIC | `cubic` | 4.80 Mbit/s | 5.31 Mbit/s | +10.6 % (-8.5 to +33.7) |
| | | `newreno` | 5.54 Mbit/s | 5.20 Mbit/s | -6.2 % (-7.9 to -4.5) |
| | | `fast` | 0.43 Mbit/s | 1.01 Mbit/s | +133.8 % (+125.1 to +142.8) |
| | loss of CUBIC | `cubic` | 0.00098 | 0.00091 | -5.0 % (-35.4 to +39.6) |
| | | `newreno` | 0.00106 | 0.00121 | +13.3 % (-53.2 to +174.3) |
| | | `fast` | 0.0921 | 0.0295 | -67.9 % (-68.5 to -67.3) |
| | queueing delay, 99 % | all three | | | 0.0 % |
| EV-20, 10 Mbit/s, 1 % of the packets lost | utilization | `cubic` | 0.324 | 0.315 | -2.8 % (-24.9 to +25.7) |
| | | `newreno` | 0.329 | 0.342 | +4.2 % (-11.4 to +22.5) |
| | | `fast` | 0.980 | 0.910 | -7.1 % (-8.4 to -5.8) |

FAST aims at 100 queued packets in a buffer of 67 packets. So FAST always overflows this buffer of 67 packets. Beside FAST,
CUBIC loses three times as large a share of its packets in the packets world as on the kernel. Beside FAST, CUBIC's goodput in
the packets world is less than half of that on the kernel. The confidence intervals of CUBIC's loss and goodput beside FAST
exclude zero. Some confidence intervals in the rows of `newreno` exclude zero as well. But other programs disturbed the runs in
the Linux world. The cause of the differences between simulator and kernel is not known.
"""


def evaluate(penstock, out, law):
    """Evaluates a law and keeps its verdicts."""
    command = [penstock, "evaluate", law, "--quick", "--quiet", "--out", out]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    # 1: a MUST fails, which is on the page.
    if done.returncode not in (0, 1):
        sys.exit(f"{law}: status {done.returncode}: {done.stderr}")
    verdicts = Path(out) / f"evaluation-{law}-quick" / "verdicts.json"
    RECORDED.mkdir(exist_ok=True)
    (RECORDED / f"{law}.json").write_bytes(verdicts.read_bytes())


def number(value):
    """Three digits."""
    return f"{value:.3g}" if value == 0 or 1e-4 <= abs(value) < 1e5 else f"{value:.2e}"


def shown(outcome, law):
    """The number of a law in the cell on record."""
    mean = outcome.get("means", {}).get(law)
    words = ["none"] * bool(outcome.get("absent")) + ["∞"] * bool(outcome.get("unlimited"))
    return " ".join(([number(mean)] if mean is not None else []) + words)


def table(laws):
    """Criteria in rows, laws in columns."""
    laws = [law for law in laws if (RECORDED / f"{law}.json").exists()]
    recorded = {law: json.loads((RECORDED / f"{law}.json").read_text()) for law in laws}
    ids = list(dict.fromkeys(id for one in recorded.values() for id in one["criteria"]))
    lines = ["| | " + " | ".join(f"`{law}`" for law in laws) + " |", "| --- |" + " ---: |" * len(laws)]
    for id in ids:
        outcomes = [recorded[law]["criteria"].get(id, {}) for law in laws]
        measures = list(dict.fromkeys(o["measure"] for o in outcomes if "measure" in o))
        letters = dict(zip(measures, ["", *"abcdefghijklmnopqrstuvwxyz"]))
        cells = []
        for law, outcome in zip(laws, outcomes):
            sign = SIGNS.get(outcome.get("verdict"), "")
            letter = letters.get(outcome.get("measure"))
            cells.append(" ".join(part for part in (sign, shown(outcome, law), letter) if part))
        title = "; ".join(f"{letters[measure]} {measure}".strip() for measure in measures)
        lines.append(f"| {id} {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    """Evaluates what is asked for, and writes the page."""
    arguments = sys.argv[1:]
    if arguments != ["--table"]:
        if len(arguments) < 2:
            sys.exit(__doc__)
        penstock, out, *laws = arguments
        for law in laws or SENDERS + QUEUES:
            evaluate(penstock, out, law)
            print(law, flush=True)
    page = [HEAD, "## Controllers", "", table(SENDERS), "", "## AQMs", "", table(QUEUES), "", TAIL]
    PAGE.write_text("\n".join(page))


if __name__ == "__main__":
    main()
