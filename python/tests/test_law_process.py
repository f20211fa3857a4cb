"""Laws in Python among signals, threads, forks and processes, and the memory that they take."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pyarrow
import pytest
from conftest import Interrupt
from test_law import lab

import penstock
from penstock.examples import fast, newreno


def test_ctrl_c_stops_a_law(breaks: Any) -> None:
    breaks(lambda law: time.sleep(60))
    for scenario in (lab({"law": "breaks", "when": "on_round"}), lab({"law": "breaks"}).set("duration", "10 h")):
        interrupted = Interrupt(0.3)
        with pytest.raises(KeyboardInterrupt):
            penstock.run(scenario)
        assert interrupted.was_obeyed_in(0.2)


def test_ctrl_c_stops_an_event_that_sends_millions() -> None:
    class Huge(penstock.Controller):
        """Has the largest window that a run takes."""

        name = "huge"
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window = 2.0

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            self.window = 4e6

    penstock.register(Huge)
    scenario = lab({"law": "huge"}).set("duration", "10 h").set("links.bottleneck.rate", "1 Gbit/s")
    swept = scenario.copy().set("sweep", {"seed": {"count": 2}})
    try:
        # Moments in the first burst and later. On a busy machine one of them may take longer: memory that is given back
        # is time of the processor too.
        obeyed = []
        for after_s in (0.4, 0.7, 1.1):
            for interruptible in (lambda: penstock.run(scenario), lambda: penstock.sweep(swept, jobs=1)):
                interrupted = Interrupt(after_s)
                with pytest.raises(KeyboardInterrupt):
                    interruptible()
                obeyed.append(interrupted.was_obeyed_in(0.2))
        assert sum(obeyed) >= 5, obeyed
    finally:
        penstock.unregister("huge")


def test_threads_of_a_command_keep_their_state_of_python() -> None:
    # What a thread-local object holds is gone with Python's state of the thread, which a stranger has for one call.
    known, calls = threading.local(), [0, 0]

    class Counts(newreno.NewReno):
        """Counts calls, and threads that Python had not met."""

        name = "counts"

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            calls[0] += 1
            if not hasattr(known, "since"):
                known.since = calls[0]
                calls[1] += 1
            super().on_ack(observation, packets, marked)

    penstock.register(Counts)
    try:
        penstock.find_failures("counts", objective="underuse", budget=2, jobs=2)
    finally:
        penstock.unregister("counts")
    acknowledgements, threads = calls
    assert acknowledgements > 1_000
    assert 0 < threads < 50


def test_ctrl_c_stops_a_command(breaks: Any) -> None:
    breaks(lambda law: None)
    scenario = lab({"law": "breaks"}).set("duration", "10 h")
    interrupted = Interrupt(0.5)
    with pytest.raises(KeyboardInterrupt):
        penstock.compare(scenario, worlds=["packets", "fluid"])
    assert interrupted.was_obeyed_in(4.5)
    assert len(penstock.compare(lab({"law": "fast-python", "alpha": "9 packets"}))) > 0


@pytest.mark.filterwarnings("ignore:This process")
def test_a_law_runs_on_both_sides_of_a_fork() -> None:
    scenario = lab({"law": "fast-python"}).set("duration", "2 s")
    before = penstock.run(scenario).summary
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if penstock.run(scenario).summary == before else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert penstock.run(scenario).summary == before


def test_threads_share_nothing_but_the_lock() -> None:
    scenario = lab({"law": "newreno-python"}).set("links.bottleneck.loss", 0.01).set("duration", "3 s")
    alone = [penstock.run(scenario, seed=seed).summary for seed in range(1, 5)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: penstock.run(scenario, seed=seed).summary, range(1, 5)))
    assert alone == together


def test_a_sweep_has_the_same_bits_wherever_it_runs() -> None:
    scenario = lab({"law": "fast-python"}).set("duration", "2 s")
    scenario.set("sweep", {"flows.ours.cc.alpha": ["10 packets", "20 packets"], "seed": {"count": 2}})
    here = pyarrow.table(penstock.sweep(scenario, jobs=2))
    with ProcessPoolExecutor(1) as executor:
        assert pyarrow.table(penstock.sweep(scenario, executor=executor)).equals(here)


def test_a_law_that_cannot_travel_says_so() -> None:
    class Local(fast.Fast):
        """Is known nowhere else."""

        name = "local"

    penstock.register(Local)
    try:
        scenario = lab({"law": "local"}).set("duration", "1 s").set("warmup", "0 s")
        with ProcessPoolExecutor(1) as executor, pytest.raises(TypeError, match="cannot travel to the executor"):
            penstock.sweep(scenario, executor=executor)
    finally:
        penstock.unregister(Local)


def resident() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def test_memory_stays_after_many_runs_of_a_law() -> None:
    scenario = lab({"law": "fast-python"}, {"law": "pi-python"}).set("duration", "1 s").set("warmup", "0 s")

    def some(count: int) -> None:
        for _ in range(count):
            penstock.run(scenario)
            penstock.register(fast.Fast)

    some(20)
    before = resident()
    some(60)
    assert resident() - before < 4_000


@pytest.mark.slow
def test_ten_thousand_runs_keep_their_memory() -> None:
    scenario = lab({"law": "fast-python"}, {"law": "pi"}).set("duration", "200 ms").set("warmup", "0 s")
    seen = []
    for count in range(10_000):
        record = penstock.run(scenario, seed=count)
        assert len(record.links) > 0
        assert record.summary.links
        if count % 1_000 == 999:
            seen.append(resident())
    print("resident [kB]:", seen)
    assert seen[-1] - seen[1] < 4_000


@pytest.mark.slow
def test_a_law_takes_three_hundred_thousand_acknowledgements_a_second() -> None:
    for law in ("newreno-python", "fast-python"):
        scenario = lab({"law": law}).set("links.bottleneck.rate", "100 Mbit/s").set("duration", "20 s")
        began = time.process_time()
        summary = penstock.run(scenario, series=False).summary
        rate = summary.groups["ours"].throughput_packets_per_s * 20 / (time.process_time() - began)
        print(f"{law}: {rate:.0f} acknowledgements a CPU-second")
        assert rate > 300_000


def test_memory_that_is_no_state_is_refused_where_no_model_follows_it() -> None:
    class Smoothed(penstock.Controller):
        """Holds five packets in the queue, by a smoothed measurement."""

        name = "smoothed"
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window, self.smooth, self.hits = 10.0, 0.0, 0

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            queued = self.window * (1.0 - observation.base_rtt_s / observation.rtt_s)
            self.smooth += 0.1 * (queued - self.smooth)
            self.hits += 1
            self.window = max(self.window + packets * 0.5 * (5.0 - self.smooth) / self.window, 2.0)

    class Declared(Smoothed):
        """The same with its state declared."""

        name = "smoothed-declared"
        smooth = penstock.state("packets")

    for law in (Smoothed, Declared):
        penstock.register(law)
    scenario, declared = lab({"law": "smoothed"}), lab({"law": "smoothed-declared"})
    for refused in (lambda: penstock.analyze(scenario), lambda: penstock.run(scenario, world="fluid")):
        with pytest.raises(penstock.UnsupportedError, match=r"changes its attribute `smooth`, .*penstock\.state"):
            refused()
    penstock.analyze(declared)
    penstock.run(declared, world="fluid")
    # Packets call each object in turn: nothing is lost there, and the two laws are one.
    first, second = (penstock.run(each).summary.groups["ours"] for each in (scenario, declared))
    assert first.goodput_bit_per_s == second.goodput_bit_per_s
    for law in (Smoothed, Declared):
        penstock.unregister(law.name)


def test_a_window_that_no_memory_holds_ends_the_run() -> None:
    class Large(penstock.Controller):
        """Has one window."""

        name = "large"
        size = penstock.parameter(1e8)
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window = 2.0

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            self.window = self.size

    penstock.register(Large)
    for size in (4_194_305.0, 1e308):
        with pytest.raises(penstock.LawError, match=r"window is .*: a run takes 4194304 at most"):
            penstock.run(lab({"law": "large", "size": size}))
    penstock.run(lab({"law": "large", "size": 1e5}))
    penstock.unregister("large")
