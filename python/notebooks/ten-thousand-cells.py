# %% [markdown]
# # Ten thousand cells on Dask
#
# A sweep is a scenario with several values for some keys. Its cells run on threads of this process, or on a
# cluster. The frame has the same bits wherever they run.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
import polars
from dask.distributed import Client, LocalCluster

import penstock

plt.style.use("penstock.mplstyle")
CELLS = int(os.environ.get("PENSTOCK_CELLS", "10000"))

# Rates and round trips on a grid, and seeds.
side = 4 if CELLS < 1000 else 20
rates = [f"{rate:.4g} Mbit/s" for rate in np.geomspace(2, 20, side)]
rtts = [f"{rtt:.4g} ms" for rtt in np.geomspace(20, 200, side)]
lab = penstock.Scenario.from_dict(
    {
        "format": 1,
        "duration": "12 s",
        "warmup": "4 s",
        "links": {
            "bottleneck": {"from": "left", "to": "right", "rate": "2 Mbit/s", "delay": "5 ms", "buffer": "20 packets"}
        },
        "flows": {"ftp": {"from": "left", "to": "right", "rtt": "20 ms", "cc": {"law": "newreno"}}},
        "sweep": {
            "links.bottleneck.rate": rates,
            "flows.ftp.rtt": rtts,
            "seed": {"count": max(1, CELLS // side**2)},
        },
    }
)
len(lab.cells())

# %% [markdown]
# On Slurm the cluster is a `dask_jobqueue.SLURMCluster`, on Kubernetes a `dask_kubernetes.operator.KubeCluster`.
# Here it is this machine. Workers are processes.

# %%
with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
    sweep = penstock.sweep(lab, executor=client)
means = polars.DataFrame(sweep.aggregate())
means.select("label.links.bottleneck.rate", "label.flows.ftp.rtt", "cells", "links.bottleneck.utilization").head(3)

# %% [markdown]
# A buffer of twenty packets is short for a long fat path. Half of NewReno's window takes long to come back.

# %%
rate = means["links.bottleneck.rate_bit_per_s"].to_numpy() / 1e6
rtt = means["flows.ftp.rtt_s"].to_numpy() * 1e3
utilization = means["links.bottleneck.utilization"].to_numpy()
shape = (side, side)
mesh = plt.pcolormesh(rtt.reshape(shape), rate.reshape(shape), utilization.reshape(shape), cmap="viridis")
plt.colorbar(mesh, label="utilization")
plt.grid(False)
plt.xscale("log")
plt.yscale("log")
plt.xlabel("round-trip time [ms]")
plt.ylabel("rate [Mbit/s]")
plt.show()

# %%
assert len(sweep) == len(lab.cells())
assert utilization.reshape(shape)[0, 0] > utilization.reshape(shape)[-1, -1]
