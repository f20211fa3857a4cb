# %% [markdown]
# # A paper's figure from its records
#
# "FAST TCP: From Theory to Experiments" (IEEE Network 2005), figure 1: TCP/RED leaves a fast link idle, and FAST
# does not. The scenario is in `papers/fast-tcp`. This notebook runs some of its cells, keeps the records and draws
# the figure from them. `penstock paper fast-tcp/fig1` runs all, and judges the paper's claims.

# %%
import os
import re
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import penstock

plt.style.use("penstock.mplstyle")
CAPACITIES = os.environ.get("PENSTOCK_CAPACITIES", "155 Mbit/s,310 Mbit/s,622 Mbit/s").split(",")

scenario = penstock.Scenario.read("../../papers/fast-tcp/fig1.toml")
cells = [cell for cell in scenario.cells() if cell.labels["capacity"] in CAPACITIES]
[cell.labels for cell in cells]

# %%
records = Path(tempfile.mkdtemp())
for cell in cells:
    penstock.run(cell, out=records, series=False)
sorted(path.name for path in records.iterdir())

# %% [markdown]
# A record on disk has the resolved scenario, so it says itself what it is of.

# %%
points: dict[str, list[tuple[float, float]]] = {}
for directory in sorted(records.iterdir()):
    record = penstock.Record.open(directory)
    law = "FAST" if 'law = "fast"' in record.scenario else "TCP/RED"
    capacity = re.search(r'rate += "([\d.]+) Mbit/s"', record.scenario)
    assert capacity is not None
    points.setdefault(law, []).append((float(capacity[1]), record.summary.links["bottleneck"].utilization))

colours = {"FAST": "#0b6e99", "TCP/RED": "#c1440e"}
for law, values in points.items():
    plt.plot(*zip(*sorted(values), strict=True), "o-", color=colours[law], label=law)
plt.xscale("log")
plt.ylim(0.4, 1.02)
plt.xlabel("capacity [Mbit/s]")
plt.ylabel("utilization")
plt.legend()
plt.show()

# %%
assert all(utilization > 0.99 for _, utilization in points["FAST"])
assert all(utilization < 0.99 for _, utilization in points["TCP/RED"])
