#!/usr/bin/env python3
"""The corrections of fig4.toml: `penstock run correction.toml --json | ./correction.py`.

For each line of table I and each share, the correction that gives the share, between two corrections that were run, by
logarithms of both correction and ratio. Figure 4 then interpolates linearly over all lines: at the five shares themselves
the least-squares fit of one curve of straight pieces is the mean over the lines.
"""

import json
import math
import sys

SHARES = [0.90, 0.60, 0.45, 0.30, 0.25]


def wanted(points: list[tuple[float, float]], ratio: float) -> float:
    """The correction [1] at which the ratio of UDP to TCP is `ratio`; `points` are corrections and ratios, rising."""
    for (c0, r0), (c1, r1) in zip(points, points[1:]):
        if r0 >= ratio >= r1:
            part = math.log(r0 / ratio) / math.log(r0 / r1)
            return c0 * (c1 / c0) ** part
    raise SystemExit(f"a ratio of {ratio} is outside of what was run: {points}")


lines: dict[str, list[tuple[float, float]]] = {}
[run] = json.load(sys.stdin)["runs"]
for cell in run["sweep"]["cells"]:
    correction = cell["values"]["links.bottleneck.aqm.correction"]
    ratio = cell["summary"]["classes"]["udp"]["ratio"]
    lines.setdefault(cell["labels"]["line"], []).append((correction, ratio))

print("line     ", *(f"{share:8.0%}" for share in SHARES))
table = []
for line, points in lines.items():
    table.append([wanted(sorted(points), share / (1 - share)) for share in SHARES])
    print(f"{line:9}", *(f"{x:8.4f}" for x in table[-1]))
print("all lines", *(f"{sum(column) / len(column):8.4f}" for column in zip(*table)))
