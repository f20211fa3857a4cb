#!/usr/bin/env python3
"""Measures the Python package: its wheel, fresh environments, cost, laws, environments, Dask. Writes docs/validation/python.md.

    make wheel-test                                   all, with the optimised wheel; an hour
    bench/python.py OUT --only cost                   one part
    bench/python.py OUT --only ppo --torch PYTHON     the example that trains by PPO, with a Python that has torch

Needs the environment of `make python-tools`, and a wheel in target/wheels (--wheel). The command that runs are compared with is
target/release/penstock (--command). Status 1: a bar is missed.
"""

import argparse
import datetime
import glob
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
PAGE = ROOT / "docs/validation/python.md"

# The bars, which were written before the figures.
WHEEL_MB = 15
MORE_THAN_COMMAND = 0.05
MILLION_ROWS_S = 0.05
ACKNOWLEDGEMENTS_PER_S = 300_000
STEPS_PER_S = 20_000
SOAK_KB = 4_000
KILLS = 10
CELLS = 2_000
MANY_CELLS = 100_000
# Of 10^5 cells, scenarios and results are more than 500 MB.
SCHEDULER_GROWS_MB = 32
REPEATS = 5

LAB = """
format   = 1
title    = "a lab of the measurements"
duration = "1500 ms"
warmup   = "500 ms"

[links.bottleneck]
from   = "left"
to     = "right"
rate   = "10 Mbit/s"
delay  = "10 ms"
buffer = "1 bdp"

[flows.ours]
count  = 2
from   = "left"
to     = "right"
rtt    = "40 ms"
cc     = { law = "newreno" }
"""


# --- Parts that run in the environment of the tools, with the wheel -----------------------------------------------------


def resident_mb(pid="self"):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1e3


def cost(options):
    """Processor time of whole processes, the command and Python in turn, the best of each. Both write their record."""
    scenario = str(ROOT / "scenarios/newreno-red-622.toml")
    script = (
        "import sys, penstock\n"
        "scenario = penstock.Scenario.read(sys.argv[1]).set('duration', '600 s').set('warmup', '5 s')\n"
        "penstock.run(scenario, out=sys.argv[2])\n"
    )
    settings = ["--set", "duration=600 s", "--set", "warmup=5 s", "--quiet"]
    with tempfile.TemporaryDirectory() as out:
        commands = {
            "command": [options.command, "run", scenario, *settings, "--out", out],
            "Python": [sys.executable, "-c", script, scenario, out],
            "import alone": [sys.executable, "-c", "import penstock"],
        }
        seconds = {name: [] for name in commands}
        for _ in range(REPEATS):
            for name, command in commands.items():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                seconds[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    best = {name: min(values) for name, values in seconds.items()}
    more = best["Python"] / best["command"] - 1
    said = f"{100 * more:+.1f} %: {best['Python']:.2f} s and {best['command']:.2f} s; `import penstock` takes {best['import alone']:.2f} s of it"
    yield (
        "a run of 600 s of `newreno-red-622`, whole processes, CPU time against the command",
        "at most 5 % more",
        said,
        more <= MORE_THAN_COMMAND,
    )


def arrow(_):
    import penstock
    import polars

    scenario = penstock.Scenario.parse(LAB).set("sample", "1 us").set("duration", "1 s").set("warmup", "0 s")
    links = penstock.run(scenario).links
    wall, cpu = [], []
    for _ in range(4 * REPEATS):
        began, of_cpu = time.perf_counter(), time.process_time()
        frame = polars.DataFrame(links)
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - of_cpu)
        assert len(frame) == len(links) >= 1_000_000
    said = f"{1e3 * min(wall):.1f} ms, of CPU {1e3 * min(cpu):.1f} ms"
    yield f"{len(links):,} rows of a series to polars", "less than 50 ms", said, min(wall) < MILLION_ROWS_S


def law(_):
    import penstock
    from penstock.examples import fast, newreno  # noqa: F401

    for name in ("newreno-python", "fast-python"):
        scenario = penstock.Scenario.parse(LAB).set("links.bottleneck.rate", "100 Mbit/s").set("duration", "20 s")
        scenario.set("flows.ours.count", 3).set("links.bottleneck.buffer", "100 packets").set(
            "flows.ours.cc", {"law": name}
        )
        rates = []
        for _ in range(REPEATS):
            began = time.process_time()
            summary = penstock.run(scenario.set("warmup", "0 s"), series=False).summary
            rates.append(summary.groups["ours"].throughput_packets_per_s * 20 / (time.process_time() - began))
        said = f"{max(rates):,.0f} (least {min(rates):,.0f})"
        yield f"acknowledgements a CPU-second, `{name}`", "300,000", said, max(rates) >= ACKNOWLEDGEMENTS_PER_S


def gym(_):
    import gymnasium
    import numpy as np
    import penstock.gym

    env = gymnasium.make(penstock.gym.ENVIRONMENT).unwrapped
    rates = []
    for repeat in range(REPEATS):
        observation, _ = env.reset(seed=repeat)
        action, steps, began = np.zeros(1, np.float32), 0, time.process_time()
        while steps < 50_000:
            # A window of about the pipe's 18 packets.
            action[0] = 4.2 - observation[6]
            observation, _, terminated, truncated, _ = env.step(action)
            steps += 1
            if terminated or truncated:
                observation, _ = env.reset()
        rates.append(steps / (time.process_time() - began))
    said = f"{max(rates):,.0f} (least {min(rates):,.0f})"
    yield (
        "steps a CPU-second, `CongestionControl`, one flow, a step by round",
        "20,000",
        said,
        max(rates) >= STEPS_PER_S,
    )
    vector = penstock.gym.CongestionControlVector(64, jobs=1)
    observations, _ = vector.reset(seed=1)
    steps, began = 0, time.process_time()
    while steps < 500_000:
        observations, *_ = vector.step((4.2 - observations[:, 6:7]).astype(np.float32))
        steps += len(observations)
    rate = steps / (time.process_time() - began)
    yield "steps a CPU-second, `CongestionControlVector`, 64 simulations on one thread", "", f"{rate:,.0f}", True


def soak(_):
    import penstock
    from penstock.examples import fast  # noqa: F401

    scenario = penstock.Scenario.parse(LAB).set("duration", "200 ms").set("warmup", "0 s")
    scenario.set("links.bottleneck.aqm", {"law": "pi"}).set("flows.ours.cc", {"law": "fast-python"})
    seen = []
    for count in range(10_000):
        record = penstock.run(scenario, seed=count)
        assert len(record.links) > 0 and record.summary.links
        if count % 1_000 == 999:
            seen.append(resident_mb())
    said = f"{seen[1]:.1f} MB after 2,000, {seen[-1]:.1f} MB after 10,000"
    yield (
        "memory over 10,000 runs of a law in Python",
        "grows by less than 4 MB",
        said,
        1e3 * (seen[-1] - seen[1]) < SOAK_KB,
    )


def swept(penstock, cells):
    """Two rates by ten round trips by seeds."""
    scenario = penstock.Scenario.parse(LAB, "lab.toml").set("links.bottleneck.loss", 0.01)
    rtts = [f"{rtt} ms" for rtt in range(20, 120, 10)]
    return scenario.set(
        "sweep",
        {"links.bottleneck.rate": ["5 Mbit/s", "10 Mbit/s"], "flows.ours.rtt": rtts, "seed": {"count": cells // 20}},
    )


def kills(_):
    """Worker processes are killed at random moments of a sweep: the frame is that of one machine, bit for bit."""
    import distributed
    import penstock
    import pyarrow

    scenario = swept(penstock, CELLS)
    expected = pyarrow.table(penstock.sweep(scenario, jobs=2))
    assert len(expected) == CELLS
    same, in_time, moments = 0, 0, []
    for attempt in range(KILLS):
        with (
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            victim = random.choice(list(client.run(os.getpid).values()))
            share, later_s, killed = random.uniform(0.02, 0.9), random.uniform(0, 0.1), []

            def kill(victim=victim, killed=killed):
                os.kill(victim, signal.SIGKILL)
                killed.append(time.monotonic())

            def heard(done, share=share, later_s=later_s, kill=kill, armed=[]):
                if done >= share and not armed:
                    armed.append(threading.Timer(later_s, kill))
                    armed[0].start()

            frame = pyarrow.table(penstock.sweep(scenario, executor=client, batch=8, progress=heard))
            ended = time.monotonic()
        same += frame.equals(expected)
        in_time += bool(killed) and killed[0] < ended
        moments.append(share)
        print(f"kill {attempt + 1} at {share:.2f} of the sweep and {1e3 * later_s:.0f} ms: {frame.equals(expected)}", file=sys.stderr, flush=True)
    said = f"{same} of {KILLS} identical; kills at {100 * min(moments):.0f} to {100 * max(moments):.0f} % of the sweep, {in_time} before its end"
    yield f"Dask, two processes, {CELLS:,} cells, a worker killed at a random moment", f"{KILLS} of {KILLS} frames identical", said, same == in_time == KILLS


def flat(options):
    """A scheduler in a process of its own, whose memory is looked at while 10^5 cells pass."""
    import distributed
    import penstock

    scenario = swept(penstock, options.cells)
    with tempfile.TemporaryDirectory() as home:
        file = str(pathlib.Path(home) / "scheduler.json")
        log = open(pathlib.Path(home) / "log", "w")
        begun = {"stdout": log, "stderr": log, "cwd": home, "start_new_session": True}
        scheduler = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "distributed.cli.dask_scheduler",
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                "--no-dashboard",
                "--scheduler-file",
                file,
            ],
            **begun,
        )
        worker = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "distributed.cli.dask_worker",
                "--scheduler-file",
                file,
                "--nworkers",
                "2",
                "--nthreads",
                "1",
                "--no-dashboard",
            ],
            **begun,
        )
        try:
            deadline = time.monotonic() + 60
            while not os.path.exists(file) and time.monotonic() < deadline:
                time.sleep(0.1)
            with distributed.Client(scheduler_file=file) as client:
                client.wait_for_workers(2, timeout=60)
                seen = []

                def heard(share):
                    if not seen or time.monotonic() - seen[-1][0] > 1:
                        seen.append((time.monotonic(), share, resident_mb(scheduler.pid), resident_mb()))

                before = client.run(time.process_time)
                began, own = time.monotonic(), time.process_time()
                frame = penstock.sweep(scenario, executor=client, progress=heard)
                took, own = time.monotonic() - began, time.process_time() - own
                workers_s = sum(after - before[name] for name, after in client.run(time.process_time).items())
                scheduler_s = sum(
                    float(x) for x in pathlib.Path(f"/proc/{scheduler.pid}/stat").read_text().split()[13:15]
                ) / os.sysconf("SC_CLK_TCK")
        finally:
            for process in (worker, scheduler):
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(30)
    cells = len(frame)
    assert cells == options.cells
    tenth = next(mb for _, share, mb, _ in seen if share >= 0.1)
    last = seen[-1][2]
    most_client = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps(seen[:: max(1, len(seen) // 20)]), file=sys.stderr, flush=True)
    said = f"{tenth:.0f} MB after a tenth, {last:.0f} MB at the end, most {max(mb for *_, mb, _ in seen):.0f} MB"
    yield (
        f"Dask, memory of the scheduler over {cells:,} cells",
        "grows by less than 32 MB",
        said,
        last - tenth < SCHEDULER_GROWS_MB,
    )
    per = 1e3 / cells
    said = f"{took:.0f} s: {per * workers_s:.2f} ms of CPU a cell in workers, {per * own:.2f} ms in the client, {per * scheduler_s:.2f} ms in the scheduler"
    yield f"Dask, time of {cells:,} cells of 1.5 s simulated, two workers", "", said, True
    yield f"Dask, largest memory of the client over {cells:,} cells", "", f"{most_client:.0f} MB", True


# --- Parts that have their own environments ------------------------------------------------------------------------------


def wheel(options):
    size = options.wheel.stat().st_size / 1e6
    with zipfile.ZipFile(options.wheel) as packed:
        largest = max(packed.infolist(), key=lambda one: one.compress_size)
    said = f"{size:.1f} MB; {largest.filename.split('/')[-1]} has {largest.file_size / 1e6:.1f} MB unpacked"
    yield "the wheel", "less than 15 MB", said, size < WHEEL_MB


def pythons():
    """Every Python from 3.10 on of this machine, each version once."""
    found = {}
    places = [*os.environ.get("PATH", "").split(":"), *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin")))]
    for place in places:
        for path in sorted(glob.glob(f"{place}/python3.*")):
            if re.fullmatch(r"python3\.\d+", os.path.basename(path)):
                said = subprocess.run(
                    [
                        path,
                        "-c",
                        "import sys, venv, ensurepip; print(*sys.version_info[:2], sys._is_gil_enabled() if hasattr(sys, '_is_gil_enabled') else True)",
                    ],
                    capture_output=True,
                    text=True,
                )
                words = said.stdout.split()
                if said.returncode == 0 and words[2:] == ["True"] and int(words[1]) >= 10:
                    found.setdefault((int(words[0]), int(words[1])), path)
    return sorted(found.items())


NOTEBOOK = """
import runpy, sys
import nbclient
convert = runpy.run_path(sys.argv[1])
book = convert["notebook"]("first-run")
nbclient.NotebookClient(book, timeout=600, resources={"metadata": {"path": sys.argv[2]}}).execute()
outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
assert not [output for output in outputs if output.get("name") == "stderr"], outputs
assert [output for output in outputs if "image/png" in output.get("data", {})]
"""


def versions(options):
    notebooks = ROOT / "python/notebooks"
    for (major, minor), path in pythons():
        print(f"python {major}.{minor}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as home:
            python = f"{home}/env/bin/python"
            subprocess.run([path, "-m", "venv", f"{home}/env"], check=True)
            pip = [python, "-m", "pip", "install", "-q", "--no-compile"]
            subprocess.run([*pip, "--no-index", "--no-deps", options.wheel], check=True)
            steps = {
                "import without a warning": [python, "-W", "error", "-c", "import penstock"],
                "the command": [f"{home}/env/bin/penstock", "laws", "newreno"],
                "packages of the notebook": [*pip, "matplotlib", "polars", "nbclient", "nbformat", "ipykernel"],
                "notebook one": [python, "-c", NOTEBOOK, notebooks / "convert.py", notebooks],
            }
            wrong = None
            for name, step in steps.items():
                done = subprocess.run(step, cwd=home, capture_output=True, text=True)
                quiet = name != "import without a warning" or not done.stderr
                if done.returncode or not quiet:
                    wrong = name
                    print(done.stdout + done.stderr, file=sys.stderr, flush=True)
                    break
        said = "all of it" if wrong is None else f"failed: {wrong}"
        yield (
            f"Python {major}.{minor}, a fresh environment",
            "install, import without a warning, command, notebook one",
            said,
            wrong is None,
        )


def ppo(options):
    if options.torch is None:
        print("python: ppo not run: --torch names a Python with torch and stable-baselines3", file=sys.stderr)
        return
    done = subprocess.run(
        [options.torch, ROOT / "python/examples/ppo.py", "--evaluate"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": f"{options.site}:{os.environ.get('PYTHONPATH', '')}"},
    )
    print(done.stdout, done.stderr[-2000:], file=sys.stderr, flush=True)
    found = re.search(r"reward: ppo ([\d.]+), newreno ([\d.]+); better in (\d+) of 20", done.stdout)
    trained = re.search(r"trained on .*", done.stdout)
    verdicts = re.findall(r"^([A-Z0-9]+-\d+): ([a-z][a-z -]*)$", done.stdout, re.M)
    if done.returncode or not found or not verdicts:
        yield "`python/examples/ppo.py`", "a larger reward than NewReno", "failed", False
        return
    learned, newreno, better = float(found[1]), float(found[2]), int(found[3])
    said = f"{learned:.3f} against {newreno:.3f}, larger in {better} of 20 new episodes; {trained[0]}"
    yield "`python/examples/ppo.py`", "a larger reward than NewReno", said, learned > newreno
    counts = {}
    for _, verdict in verdicts:
        counts[verdict] = counts.get(verdict, 0) + 1
    said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    yield 'the policy of `ppo.py` by `penstock.evaluate(law, "quick")`, criteria', "", said, True


INSIDE = {"cost": cost, "arrow": arrow, "law": law, "gym": gym, "soak": soak, "kills": kills, "flat": flat}
PARTS = {"wheel": wheel, "versions": versions, **INSIDE, "ppo": ppo}


# --- The page -------------------------------------------------------------------------------------------------------------

HEAD = """# The Python package, measured

    make wheel-test

`make wheel-test` builds the optimised wheel, measures it, and writes this page. `bench/python.py OUT --only cost` writes the
rows of one part. CPU times are the best of five. The last column has the day of a row and the commit that ran. Rows with
`wheel of the tests` come from the wheel of `make test-python`. In this wheel, only the simulator is optimised.

Times of a shared machine vary by some per cent. On 27 November 2026 the last row but one was measured three times. A run from
Python took 8.4 % and 5.7 % more than the command, and 2.8 % less. Instructions do not vary so (callgrind). A run from Python has
3.4 % more of them for each simulated second. It has 0.12 billion more once. For a run of 600 s both are 3.6 %.

| what | bar | measured | result | run |
| --- | --- | --- | --- | --- |
"""


def on_record():
    lines = PAGE.read_text().splitlines() if PAGE.exists() else []
    rows = [line for line in lines if line.startswith("| ") and not line.startswith(("| what", "| ---"))]
    return {subject(row): row for row in rows}


def subject(row):
    """The subject of a row. The number of rows of a series belongs to the measurement."""
    return re.sub(r"^\| [\d,]+ rows", "| rows", row.split(" | ")[0])


def inside(part, options):
    """The rows of a part, measured by the Python of the tools with the wheel."""
    environment = os.environ | {"PYTHONPATH": str(options.site), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        options.python,
        __file__,
        options.out,
        "--inside",
        part,
        "--command",
        options.command,
        "--cells",
        str(options.cells),
    ]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, env=environment)
    yield from (json.loads(line) for line in done.stdout.splitlines())
    if done.returncode:
        yield f"the part `{part}`", "", "failed", False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", choices=PARTS, nargs="+")
    parser.add_argument("--inside", choices=INSIDE, help=argparse.SUPPRESS)
    parser.add_argument("--wheel", type=pathlib.Path)
    parser.add_argument("--command", type=pathlib.Path, default=BUILT / "release/penstock")
    parser.add_argument("--python", type=pathlib.Path, default=BUILT / "python-env/bin/python")
    parser.add_argument("--torch", type=pathlib.Path)
    parser.add_argument("--cells", type=int, default=MANY_CELLS)
    options = parser.parse_args()
    if options.inside:
        for row in INSIDE[options.inside](options):
            print(json.dumps(row), flush=True)
        return 0
    wheels = sorted((BUILT / "wheels").glob("penstock-*.whl"), key=lambda one: one.stat().st_mtime)
    if options.wheel is None and not wheels:
        sys.exit("python: no wheel: `make wheel` builds it")
    options.wheel = (options.wheel or wheels[-1]).resolve()
    options.out = options.out.resolve()
    options.site = options.out / "site"
    shutil.rmtree(options.site, ignore_errors=True)
    subprocess.run(
        [
            options.python,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-compile",
            "--no-deps",
            "--no-index",
            "--target",
            options.site,
            options.wheel,
        ],
        check=True,
    )
    commit = subprocess.run(
        ["git", "rev-parse", "--short=9", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    tests = ", wheel of the tests" if options.wheel.parent.name == "wheels-debug" else ""
    run_of = f"{datetime.date.today()}, {commit or 'unknown'}, {os.cpu_count()} processors{tests}"
    worst = 0
    for part in options.only or PARTS:
        for what, bar, measured, met in inside(part, options) if part in INSIDE else PARTS[part](options):
            result = "MISSED" if not met else "met" if bar else ""
            row = f"| {what} | {bar} | {measured} | {result} | {run_of} |"
            print(row, flush=True)
            worst |= not met
            rows = on_record()
            rows[subject(row)] = row
            PAGE.write_text(HEAD + "\n".join(rows.values()) + "\n")
    return int(worst)


if __name__ == "__main__":
    sys.exit(main())
