# %% [markdown]
# # A first run
#
# A scenario is a file. A run gives a record: numbers, tables and figures. This notebook runs two CUBIC flows on one
# link.

# %%
import matplotlib.pyplot as plt
import polars

import penstock

plt.style.use("penstock.mplstyle")

lab = penstock.Scenario.from_dict(
    {
        "format": 1,
        "duration": "20 s",
        "warmup": "5 s",
        "links": {
            "bottleneck": {"from": "left", "to": "right", "rate": "10 Mbit/s", "delay": "10 ms", "buffer": "1 bdp"}
        },
        "flows": {
            "cubic": {"count": 2, "from": "left", "to": "right", "rtt": "40 ms", "cc": {"law": "cubic"}, "series": True}
        },
    }
)
record = penstock.run(lab, seed=1)
record.summary.links["bottleneck"].utilization

# %% [markdown]
# `record.summary` is typed. The unit is at the end of each name.

# %%
link = record.summary.links["bottleneck"]
print(f"utilization {link.utilization:.3f}, queueing delay {link.queueing_delay_mean_s * 1e3:.1f} ms")

# %% [markdown]
# Tables are Arrow tables. Polars takes them without a copy.

# %%
flows = polars.DataFrame(record.flow_series)
links = polars.DataFrame(record.links)
flows.head(3)

# %%
figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7, 5))
for (name,), rows in flows.group_by("flow", maintain_order=True):
    above.plot(rows["time_s"], rows["window_packets"], label=name)
above.set(ylabel="window [packets]", title="Two CUBIC flows, 10 Mbit/s, 40 ms")
above.legend(loc="upper right")
below.plot(links["time_s"], links["queue_packets"], color="#444444")
below.set(xlabel="time [s]", ylabel="queue [packets]")
plt.show()

# %% [markdown]
# The windows rise until the buffer overflows. Then one or both fall, and rise again. A record on the last line of a
# cell shows the whole report.

# %%
assert 0.9 < link.utilization <= 1
assert flows["flow"].n_unique() == 2
