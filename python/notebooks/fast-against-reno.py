# %% [markdown]
# # FAST against Reno
#
# NewReno fills the buffer until it overflows. FAST keeps `alpha` packets of each flow in it. What happens alone,
# and what happens on one link?

# %%
import matplotlib.pyplot as plt
import polars

import penstock

plt.style.use("penstock.mplstyle")
COLOURS = {"fast": "#0b6e99", "newreno": "#c1440e"}
LAWS = {"fast": {"law": "fast", "alpha": "10 packets"}, "newreno": {"law": "newreno"}}


def lab(*laws: str) -> penstock.Scenario:
    """Make a scenario of one flow of each of these laws."""
    flow = {"from": "left", "to": "right", "rtt": "50 ms", "start": "0 s", "series": True}
    link = {"from": "left", "to": "right", "rate": "20 Mbit/s", "delay": "25 ms", "buffer": "100 packets"}
    flows = {law: {**flow, "cc": LAWS[law]} for law in laws}
    return penstock.Scenario.from_dict(
        {"format": 1, "duration": "40 s", "warmup": "20 s", "links": {"bottleneck": link}, "flows": flows}
    )


# %% [markdown]
# ## Alone

# %%
alone = {law: penstock.run(lab(law)) for law in LAWS}
figure, panels = plt.subplots(1, 2, sharey=True)
for panel, (law, record) in zip(panels, alone.items(), strict=True):
    links = polars.DataFrame(record.links)
    panel.plot(links["time_s"], links["queue_packets"], color=COLOURS[law])
    panel.set(title=law, xlabel="time [s]")
panels[0].set_ylabel("queue [packets]")
plt.show()

# %% [markdown]
# FAST rests at its ten packets. NewReno saws between a full and a half empty pipe.

# %%
queue = {law: record.summary.links["bottleneck"].queue_mean_packets for law, record in alone.items()}
print(queue)

# %% [markdown]
# ## On one link

# %%
record = penstock.run(lab("fast", "newreno"))
groups = polars.DataFrame(record.groups)
for (law,), rows in groups.group_by("group", maintain_order=True):
    plt.plot(rows["time_s"], rows["goodput_bit_per_s"] / 1e6, color=COLOURS[str(law)], label=str(law))
plt.xlabel("time [s]")
plt.ylabel("goodput [Mbit/s]")
plt.legend(loc=(0.8, 0.25))
plt.show()

# %% [markdown]
# The queue that NewReno makes is a price to FAST, which yields. A law that reads delay loses to one that reads loss
# only, where the buffer is large.

# %%
goodput = {name: group.goodput_bit_per_s for name, group in record.summary.groups.items()}
print({law: f"{value / 1e6:.1f} Mbit/s" for law, value in goodput.items()})
assert abs(queue["fast"] - 10) < 2
assert queue["newreno"] > 2 * queue["fast"]
assert goodput["newreno"] > goodput["fast"]
