# %% [markdown]
# # Is it stable?
#
# NewReno under PI, once with gains that are sixty times too large. The analysis computes the loop from the code of
# both laws, with exact delays. No run is needed.

# %%
import matplotlib.pyplot as plt
import numpy as np
import polars

import penstock

plt.style.use("penstock.mplstyle")
FILES = {"stable": "../../scenarios/newreno-pi-stable.toml", "unstable": "../../scenarios/newreno-pi-unstable.toml"}
COLOURS = {"stable": "#0072b2", "unstable": "#d55e00"}
analyses = {name: penstock.analyze(path) for name, path in FILES.items()}
for name, analysis in analyses.items():
    margins = analysis.margins
    print(f"{name}: gain margin {margins.gain_margin:.3g}, rightmost root {analysis.poles.real.max():.3g} per second")

# %% [markdown]
# ## Nyquist
#
# The gain is that of the open loop, `L(i omega)`. The loop is unstable if the curve goes around -1. The flows are
# taken as paced here. Acknowledgements that clock packets add resonances, and the curve then leaves the picture at
# each.

# %%
omega = np.geomspace(0.02, 80, 8000)
figure, panel = plt.subplots(figsize=(5.5, 5))
for name, path in FILES.items():
    analysis = penstock.analyze(path, clocking={"ftp": "paced"})
    print(f"{name}, paced: {analysis.verdict}")
    gain = analysis.loop.frequency_response(omega, "laws")[0, 0]
    panel.plot(gain.real, gain.imag, color=COLOURS[name], label=name)
panel.plot([-1], [0], "k+", markersize=12)
panel.set(xlim=(-4, 1.5), ylim=(-3, 3), xlabel="real part", ylabel="imaginary part", aspect="equal")
panel.legend()
plt.show()

# %% [markdown]
# ## The roots say the same
#
# The rightmost roots of the characteristic equation. A root on the right grows.

# %%
for name, analysis in analyses.items():
    plt.plot(analysis.poles.real, analysis.poles.imag, "o", color=COLOURS[name], label=name)
plt.axvline(0, color="#444444", linewidth=0.8)
plt.xlabel("real part [1/s]")
plt.ylabel("imaginary part [rad/s]")
plt.legend()
plt.show()

# %% [markdown]
# ## So does the queue
#
# Packets, twenty seconds of each.

# %%
for name, path in FILES.items():
    scenario = penstock.Scenario.read(path).set("duration", "40 s").set("warmup", "20 s")
    links = polars.DataFrame(penstock.run(scenario).links)
    plt.plot(links["time_s"], links["queue_packets"], color=COLOURS[name], label=name, linewidth=1)
plt.xlabel("time [s]")
plt.ylabel("queue [packets]")
plt.legend()
plt.show()

# %%
assert analyses["stable"].stable
assert not analyses["unstable"].stable
assert analyses["stable"].poles.real.max() < 0 < analyses["unstable"].poles.real.max()
