# %% [markdown]
# # A law of your own
#
# A law is a class. The simulator runs it. The analysis takes its derivative, with dual numbers through the same
# code.
#
# This one adds `a` packets a round trip and leaves `b` of the window after a loss: AIMD (Chiu and Jain, 1989).

# %%
import matplotlib.pyplot as plt
import polars

import penstock
from penstock.math import max

plt.style.use("penstock.mplstyle")


@penstock.register
class Aimd(penstock.Controller):
    """Additive increase, multiplicative decrease."""

    name = "my-aimd"
    source = "Chiu and Jain, 1989"

    a = penstock.parameter(
        1.0, unit="packets", range=(0.01, 100.0), description="increase of the window per round trip"
    )
    b = penstock.parameter(0.5, range=(0.01, 0.99), description="what a congestion event leaves of the window")
    window = penstock.state("packets", words="Congestion window", description="How many packets may be in flight.")

    def start(self, context: penstock.SenderContext) -> None:
        """Begin with the initial window."""
        self.window = context.initial_window

    def requirements(self) -> penstock.Requirements:
        """Take an echo for a congestion event, as a loss is."""
        return penstock.Requirements(marks="congestion")

    def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
        """Grow by a packets a round trip."""
        self.window += self.a * packets / self.window

    def on_congestion(self, observation: penstock.Observation) -> None:
        """Leave b of the window."""
        self.window = max(self.window * self.b, 2.0)

    def on_timeout(self, observation: penstock.Observation) -> None:
        """Start over."""
        self.window = 1.0


# %% [markdown]
# ## Run it

# %%
path = "../../scenarios/newreno-pi-stable.toml"


def lab(**values: float | str) -> penstock.Scenario:
    """Make a scenario of this law under PI."""
    return penstock.Scenario.read(path).set("flows.ftp.cc", {"law": "my-aimd", **values})


flow = {"from": "left", "to": "right", "rtt": "40 ms", "start": "0 s", "series": True}
link = {"from": "left", "to": "right", "rate": "10 Mbit/s", "delay": "10 ms", "buffer": "1 bdp"}
alone = penstock.Scenario.from_dict(
    {
        "format": 1,
        "duration": "20 s",
        "links": {"bottleneck": link},
        "flows": {"ftp": {**flow, "cc": {"law": "my-aimd"}}},
    }
)
for b in (0.5, 0.8):
    record = penstock.run(alone.copy().set("flows.ftp.cc.b", b))
    series = polars.DataFrame(record.flow_series)
    plt.plot(series["time_s"], series["window_packets"], label=f"b = {b}")
plt.xlabel("time [s]")
plt.ylabel("window [packets]")
plt.legend()
plt.show()

# %% [markdown]
# ## Analyse it
#
# The margin of a law that was typed a minute ago.

# %%
scale = [0.5, 1.0, 2.0, 4.0, 8.0]
margins = [penstock.analyze(lab(a=f"{a} packets")).margins for a in scale]
plt.plot(scale, [margin.phase_margin_deg for margin in margins], "o-")
plt.xlabel("a [packets per round trip]")
plt.ylabel("phase margin [degrees]")
plt.xscale("log")
plt.xticks(scale, [f"{a:g}" for a in scale])
plt.minorticks_off()
plt.show()

# %% [markdown]
# It stands in the registry like any other law: `penstock.sweep`, `penstock.evaluate("my-aimd")` and
# `penstock.find_failures("my-aimd", ...)` take it too.

# %%
assert "my-aimd" in penstock.registered()
assert record.summary.links["bottleneck"].utilization > 0.9
